"""Spark: DataFrames of positions in, lazy DataFrames of their moves out.

Nothing is collected: executors read the positions and ask DuckDB about them (see `spark_worker`), with rules that
travel in the plan.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ggn_store.columnar.extras import need
from ggn_store.columnar.spark_worker import (
    BOARD,
    HANDS,
    MOVE,
    MOVES,
    SIDES,
    STATES,
    Paths,
    ShippedRules,
    SparkQuestion,
    pack,
)
from ggn_store.errors import MoveError, PositionError, offer, quote
from ggn_store.model.moves.position import Position

EXTRA: Final = "spark"
# What a position is as rows, and the tables beside these, each with what Spark gathers of it for a position.
ROWS: Final = ("position", "square", "piece")
_BESIDE: Final = {
    "sides": (SIDES, ("side",)),
    "hands": (HANDS, ("piece", "count")),
    "states": (STATES, ("variable", "value")),
}
# Parts of a count of paths for each processor, so that one which is done early helps the others.
_PARTS: Final = 2


class Frames:
    """Answers about DataFrames of positions, by rules that are sent to the executors once they are asked."""

    def __init__(self, rules: ShippedRules) -> None:
        self._functions: Any = need("pyspark.sql.functions", EXTRA)
        self._packed = pack(rules)

    def moves(
        self, frame: Any, beside: Mapping[str, Any], reader: Callable[[str], Position | str] | None = None
    ) -> Any:
        """The frame with a row for each move: piece, source, destination, ordinal; or with an `error`."""
        sf = self._functions
        move = "array<struct<piece:string,source:string,destination:string,ordinal:int>>"
        frame, kept = self._ready(frame, beside, (*MOVE, "error"), reader)
        found = self._asked(frame, SparkQuestion("moves", kept, reader), f"`{MOVES}` {move}")
        found = found.where(sf.col("error").isNotNull() | (sf.size(MOVES) > 0))
        return found.select(*map(column, kept), sf.inline_outer(MOVES), "error")

    def counts(
        self, frame: Any, by: str, beside: Mapping[str, Any], reader: Callable[[str], Position | str] | None = None
    ) -> Any:
        """The frame with `count` and `error`; by `piece` or `destination` a row for each, and for each error."""
        frame, kept = self._ready(frame, beside, ("count", "error"), reader)
        if by == "position":
            return self._asked(frame, SparkQuestion(by, kept, reader), "count bigint")
        found = self._asked(frame, SparkQuestion(by, (), reader), f"{by} string, count bigint")
        return found.groupBy(by, "error").agg(self._functions.sum("count").alias("count")).select(by, "count", "error")

    def _asked(self, frame: Any, question: SparkQuestion, answer: str) -> Any:
        types = need("pyspark.sql.types", EXTRA)
        kept = [frame.schema[name] for name in question.kept]
        answered = types.StructType.fromDDL(f"{answer}, error string")
        return frame.mapInArrow(_sent("answers", self._packed, pack(question)), types.StructType([*kept, *answered]))

    def _ready(
        self, frame: Any, beside: Mapping[str, Any], answered: Sequence[str], reader: object
    ) -> tuple[Any, tuple[str, ...]]:
        """A frame with a row for each position, and the columns of it that come back."""
        for what, each in {"the positions": frame, **beside}.items():
            if not hasattr(each, "mapInArrow"):
                raise PositionError(
                    f"{what} have to be a DataFrame of Spark, found {quote(type(each).__name__)}: make one, as "
                    "session.createDataFrame([(feen,)], 'feen string'), or call moves_batch of the ruleset"
                )
        is_rows = reader is None and "feen" not in frame.columns
        if is_rows:
            frame = self._gathered(frame, beside)
        elif beside:
            raise PositionError(f"{offer([*beside])}: go with rows of pieces; FEEN texts bring their own")
        elif (kind := frame.schema["feen" if reader is None else "line"].dataType.simpleString()) != "string":
            raise PositionError(f"the column feen has to hold texts, not {kind}")
        made = {BOARD, *(name for name, _ in _BESIDE.values())} if is_rows else {"line"} if reader else ()
        kept = tuple(name for name in frame.columns if name not in made)
        # Spark makes no difference between cases.
        twice = Counter(name.lower() for name in (*kept, *answered))
        if wrong := [name for name in kept if twice[name.lower()] > 1]:
            raise PositionError(
                f"the positions have a column {offer(wrong)} twice, or beside the answer's own of that name: rename it"
            )
        return frame, kept

    def _gathered(self, pieces: Any, beside: Mapping[str, Any]) -> Any:
        """Rows of pieces, with those of the tables beside them, as a row for each position.

        Of the other columns the first value of each position that is not null is kept.
        """
        sf = self._functions
        _require(pieces, "the positions", ROWS)
        others = [name for name in pieces.columns if name not in ROWS]
        frames = [pieces.select("position", sf.struct("square", "piece").alias(BOARD), *map(column, others))]
        lists = [BOARD]
        for name, table in beside.items():
            made, fields = _BESIDE[name]
            _require(table, f"the {name}", ("position", *fields))
            # A number as a text, as CSV has it, is one.
            values = [
                sf.col(each).try_cast("bigint").alias(each) if each == "count" else sf.col(each) for each in fields
            ]
            value = sf.struct(*values) if len(values) > 1 else values[0]
            frames.append(table.select("position", value.alias(made)))
            lists.append(made)
        rows = functools.reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
        return rows.groupBy("position").agg(
            *(sf.first(column(name), ignorenulls=True).alias(name) for name in others),
            *(sf.collect_list(column(name)).alias(name) for name in lists),
        )


def count_paths(session: Any, paths: Paths) -> int:
    """How many paths lead on from all parts; raises MoveError for a move that takes what a hand does not hold."""
    parts = len(paths.parts)
    asked = session.range(0, parts, 1, parts).mapInArrow(_sent("paths", pack(paths)), "paths string, error string")
    rows = asked.collect()
    for row in rows:
        if row.error is not None:
            raise MoveError(row.error)
    return sum(int(row.paths) for row in rows)


def parts_of(session: Any, positions: Sequence[Any]) -> list[Sequence[Any]]:
    """Positions in parts for the processors of a cluster, as many and as alike as can be."""
    most = min(len(positions), _PARTS * processors(session))
    return [positions[number::most] for number in range(most)]


def processors(session: Any) -> int:
    """How many processors the cluster has, as far as Spark knows."""
    return int(session.sparkContext.defaultParallelism)


class _Sent:
    """A function that Spark sends as how it is made, which is done where it arrives: before Arrow is needed there."""

    def __init__(self, made: Callable[[], Callable[[Iterable[Any]], Iterator[Any]]]) -> None:
        self._made = made

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return self._made, ()

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        return self._made()(batches)


def _sent(name: str, packed: bytes, *question: bytes) -> _Sent:
    """A function of `spark_worker` with what it is asked, which says what an executor lacks.

    Spark sends a function that is made here by its code, so that it runs where this package is not.
    """
    key = hashlib.sha256(packed).hexdigest()
    # The package imports this room, and not the other way round.
    version = importlib.import_module("ggn_store").__version__
    python = ".".join(platform.python_version_tuple()[:2])

    def made() -> Callable[[Iterable[Any]], Iterator[Any]]:
        import functools
        import importlib
        import platform

        cure = (
            f"every executor of Spark needs Python {python}, as the driver has it (PYSPARK_PYTHON names it), with "
            f"pip install 'ggn-store[spark]=={version}'"
        )
        try:
            for package in ("duckdb", "numpy", "pyarrow"):
                importlib.import_module(package)
            if (found := importlib.import_module("ggn_store").__version__) != version:
                raise ImportError(f"ggn_store {found} is another version")
            worker = importlib.import_module("ggn_store.columnar.spark_worker")
        except ImportError as error:
            raise ImportError(f"{error} on {platform.node()}: {cure}") from None
        return functools.partial(getattr(worker, name), key, packed, *question)

    return _Sent(made)


def column(name: str) -> str:
    """A name of a column as Spark wants it, whatever is in it."""
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def _require(frame: Any, what: str, names: Sequence[str]) -> None:
    if missing := [name for name in names if name not in frame.columns]:
        needed = f"a column feen, or {', '.join(names)}" if names is ROWS else ", ".join(names)
        raise PositionError(
            f"{what} have no column {', '.join(missing)}: they need {needed}; found {offer(frame.columns) or 'none'}"
        )
