"""`ruleset.spark(session)`: the moves of DataFrames of positions, found by the executors of Spark."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypedDict, Unpack

from ggn_store.api.handle import AnyPosition, Handle
from ggn_store.api.moves.columns import Columns
from ggn_store.api.moves.perft import is_beyond_plies, require_depth, unknown_to
from ggn_store.api.positions.json_text import read_text_line
from ggn_store.columnar import spark_files
from ggn_store.columnar.spark import Frames, count_paths, parts_of, processors
from ggn_store.columnar.spark_worker import Paths
from ggn_store.errors import InputError, offer, printable
from ggn_store.model.moves.move import Count, check_count
from ggn_store.model.moves.perft import Perft
from ggn_store.model.moves.position import Position
from ggn_store.store.moves.lead import Lead
from ggn_store.store.moves.planes import PlyRules, compile_rules
from ggn_store.store.moves.royals import NotJudgedError

# Positions for each processor that paths are counted from, once they are so many.
_POSITIONS: Final = 50
_ENDINGS: Final = offer([f".{each}" for each in spark_files.FORMATS])


class Beside(TypedDict, total=False):
    """DataFrames beside one of pieces: (position, side), (position, piece, count), (position, variable, value)."""

    sides: Any
    hands: Any
    states: Any


class SparkMoves:
    """`ruleset.spark(session)`: a DataFrame of positions in, a lazy DataFrame of answers out.

    Positions are FEEN texts in a column `feen`, a row each, or rows of pieces, with columns `position` (of any type),
    `square` and `piece`, which Spark gathers by position. Beside these there may be `sides`, `hands` and `states`, as
    for `Columns.moves`: without them the first side moves, nothing is known of hands, and state variables are what
    they begin as.

    All columns of the positions come back beside each answer, of rows of pieces a value for each position. What is not
    a position is a row with an `error` in a column of this name, which is null in all others. Nothing happens on the
    driver: executors, which need this package as well, are given the rules, and read, answer and write.
    """

    def __init__(self, handle: Handle, columns: Columns, session: Any) -> None:
        self._handle, self._columns, self._session = handle, columns, session
        self._frames = functools.cache(lambda legal: Frames(columns.rules(legal)))

    def moves(self, positions: Any, **beside: Unpack[Beside]) -> Any:
        """A row for each move: piece, source, destination and ordinal; none for a position without.

        The moves of a position are in document order as long as Spark does not shuffle them. Raises PositionError for
        columns that are not there, or that the answer has, too.
        """
        return self._frames(False).moves(positions, _given(beside))

    def legal_moves(self, positions: Any, **beside: Unpack[Beside]) -> Any:
        """The same of the moves that the duties let pass; raises StoreError where columns cannot judge all duties."""
        return self._frames(True).moves(positions, _given(beside))

    def counts(self, positions: Any, by: Count = "position", *, legal: bool = False, **beside: Unpack[Beside]) -> Any:
        """How many moves each position has, in a column `count`; with `legal`, legal ones.

        By `piece` or `destination` a row for each of these with the moves of all positions, and one for each error.
        """
        return self._counts(positions, by, legal, _given(beside))

    def _counts(self, positions: Any, by: Count, legal: bool, beside: Any, reader: Any = None) -> Any:
        check_count(by)
        return self._frames(legal).counts(positions, by, beside, reader)

    def of_lines(
        self, lines: Any, reader: Callable[[str], Position | str], by: Count | None = None, legal: bool = False
    ) -> Any:
        """Moves, or counts, of positions in a column `line`, which a reader reads on the executors."""
        if by is None:
            return self._frames(legal).moves(lines, {}, reader)
        return self._counts(lines, by, legal, {}, reader)

    def perft(self, position: AnyPosition, depth: int, *, legal: bool = False) -> Perft:
        """How many paths of `depth` moves lead on from a position, as `Ruleset.perft` counts them.

        The first plies are made here, until there are some dozens of positions for each processor of the cluster.
        Raises StoreError where there are state variables, or duties that only the store judges.
        """
        began = time.perf_counter()
        handle, session = self._handle, self._session
        require_depth(depth, least=0)
        if is_beyond_plies(handle) or (legal and handle.revision.dialect == "gdl"):
            raise unknown_to(handle, "spark")
        way = PlyRules(play=handle.play, is_legal=legal)
        try:
            with handle.opened() as opened:
                compiled = compile_rules(opened, [handle.ready(position)], depth, way)
        except NotJudgedError:
            raise unknown_to(handle, "spark") from None
        if not depth:
            return Perft(0, 1, None, "spark", time.perf_counter() - began, 0.0)
        ply, found = Lead(compiled).play(depth - 1, True, _POSITIONS * processors(session))
        parts = parts_of(session, [(state, weight) for _, state, weight in found])
        compiling = time.perf_counter() - began
        count = count_paths(session, Paths(compiled, depth - ply, parts)) if parts else 0
        return Perft(depth, count, None, "spark", compiling, time.perf_counter() - began - compiling)


@dataclass(frozen=True, slots=True)
class FileAnswers:
    """What is answered about the positions of files, which Spark has not read yet."""

    _frame: Any

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._frame.columns)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows, which come to the driver one part after the other: for answers that are small."""
        return spark_files.records(self._frame)

    def write(self, place: str) -> tuple[int, int]:
        """Have executors write them as a new directory of files; how many there are, and how many with an error."""
        return spark_files.write(self._frame, place)


def require_format(place: str) -> None:
    """Raise InputError for a name that does not say in which format Spark is to write."""
    if spark_files.format_of(place) is None:
        raise InputError(f"{printable(place)}: which format is meant? The name has to end with {_ENDINGS}")


@contextmanager
def answered(
    handle: Handle, columns: Columns, file: str, by: Count | None, legal: bool, master: str | None
) -> Iterator[FileAnswers]:
    """Moves, or counts, of the positions of a file, or a directory of files, that executors can reach.

    Raises GgnStoreError, in the block as well, where Spark cannot do it.
    """
    columns.rules(legal)  # which are made first, since they may be refused
    with spark_files.session(master) as session:
        spark = SparkMoves(handle, columns, session)
        frame, is_lines = spark_files.read(session, file)
        if is_lines:
            found = spark.of_lines(frame, read_text_line, by, legal)
        elif by is None:
            found = (spark.legal_moves if legal else spark.moves)(frame)
        else:
            found = spark.counts(frame, by, legal=legal)
        yield FileAnswers(found.orderBy(by) if by in ("piece", "destination") else found)


def _given(beside: Beside) -> dict[str, Any]:
    return {name: frame for name, frame in beside.items() if frame is not None}
