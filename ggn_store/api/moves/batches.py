"""Many positions: asked by the store's own statement, or on columns where these are installed and pay."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from ggn_store.api.handle import AnyPosition, as_position, each_position
from ggn_store.api.moves.legal import Legal
from ggn_store.api.moves.moves import Query
from ggn_store.errors import MoveError, quote
from ggn_store.model.moves.move import Assumption, Count, Move, check_assumption, check_count, displaced
from ggn_store.model.moves.position import Position
from ggn_store.store.moves.fast import EVERYTHING
from ggn_store.store.moves.reading import Question

if TYPE_CHECKING:
    from ggn_store.api.moves.columns import Columns

BatchQuery = Literal["auto", "fast", "columns", "reading"]
BATCH_QUERIES: Final[tuple[BatchQuery, ...]] = get_args(BatchQuery)
_PACKAGES: Final = ("duckdb", "pyarrow", "numpy")
# A question to DuckDB takes some milliseconds, however few positions it is about.
_FEW: Final = 200
# To make columns of so many possibilities takes the store's time for one position.
_A_POSITION: Final = 3
# The moves of larger rulesets would fill the memory.
_MOST: Final = 100_000
_CHUNK: Final = 20_000


@dataclass(frozen=True, slots=True)
class _Choice:
    """What answers, and why it is not the engine on columns if that was not asked for by name."""

    query: BatchQuery
    why: str = ""


class Batches:
    """The moves of many positions, and how many they are: what `Ruleset` says of them."""

    def __init__(self, legal: Legal, columns: Callable[[], Columns]) -> None:
        self._legal = legal
        self._moves = legal.chains_of.moves
        self._columns = columns
        self._asked = 0

    def many(
        self,
        positions: Iterable[AnyPosition],
        question: Question,
        assume: Assumption | None,
        query: BatchQuery,
        legal: bool,
    ) -> list[list[Move]]:
        check_assumption(assume)
        choice, given = self._choose(positions, question, query, legal)
        if choice.query != "columns":
            asked = self._legal if legal else self._moves
            return asked.many(given, question, assume, cast(Query, choice.query))
        found = [moves for chunk in _chunks(given) for moves in self._columns().lists(chunk, legal)]
        if question is not EVERYTHING:
            found = [[move for move in moves if question.means(move)] for moves in found]
        return found if assume is None else [list(map(displaced, moves)) for moves in found]

    def counts(
        self, positions: Iterable[AnyPosition], by: Count, query: BatchQuery, legal: bool
    ) -> dict[int | str, int]:
        """How many moves there are: by number of the position from 0, or by piece or destination that has any."""
        check_count(by)
        choice, given = self._choose(positions, EVERYTHING, query, legal)
        if choice.query != "columns":
            asked = self._legal if legal else self._moves
            return asked.counts(given, by, cast(Query, choice.query))
        total: Counter[int | str] = Counter()
        first = 0
        for chunk in _chunks(given):
            keys, counts = (column.to_pylist() for column in self._columns().count(chunk, by, legal=legal).columns)
            if by == "position":
                keys = range(first, first + len(chunk))
            for key, count in zip(keys, counts, strict=True):
                total[key] += count
            first += len(chunk)
        return self._moves.ordered(total, by)

    def explain(
        self, positions: Sequence[Position], question: Question, query: BatchQuery, legal: bool
    ) -> tuple[str, list[str]]:
        """The statement and its plan; of several positions also what answers them, and why."""
        choice, _ = self._choose(positions, question, query, legal, is_asked=False)
        if choice.query == "columns":
            text, plan = self._columns().explain(positions, legal)
            narrowed = [] if question is EVERYTHING else ["of what it finds, only the moves that are asked for"]
            return text, [*plan, *narrowed, f"asked of DuckDB, on columns: {len(positions):,} positions"]
        if legal:
            text, plan = self._legal.explain(positions, question)
        else:
            text, plan = self._moves.explain(positions, question, cast(Query, choice.query))
        return text, [*plan, f"asked of the store, not on columns: {choice.why}"] if choice.why else plan

    def _choose(
        self,
        positions: Iterable[AnyPosition],
        question: Question,
        query: BatchQuery,
        legal: bool,
        is_asked: bool = True,
    ) -> tuple[_Choice, Iterator[AnyPosition]]:
        """What is to answer, and the positions, of which some have been looked at."""
        choice, given = self._choose_any(positions, question, query, is_asked)
        if legal and choice.query == "columns" and not self._columns().judges:
            return _Choice("fast", "its duties ask for more than columns can judge"), given
        return choice, given

    def _choose_any(
        self, positions: Iterable[AnyPosition], question: Question, query: BatchQuery, is_asked: bool
    ) -> tuple[_Choice, Iterator[AnyPosition]]:
        if query not in BATCH_QUERIES:
            raise MoveError(f"{quote(query)} is not a query; there are {', '.join(map(repr, BATCH_QUERIES))}")
        given = each_position(positions)
        if query != "auto":
            return _Choice(query), given
        if question is not EVERYTHING:
            return _Choice("fast", "not all moves are asked for"), given
        ahead = list(islice(given, _FEW))
        if len(ahead) < _FEW:
            return _Choice("fast", f"there are fewer than {_FEW} positions" if len(ahead) > 1 else ""), iter(ahead)
        if missing := [name for name in _PACKAGES if importlib.util.find_spec(name) is None]:
            return _Choice("fast", f"{', '.join(missing)} cannot be imported"), chain(ahead, given)
        if not self._columns().is_made:
            possibilities = sum(row["possibilities"] for row in self._moves.handle.piece_summaries())
            if possibilities > _MOST:
                why = f"the ruleset has more than {_MOST:,} possibilities"
                return _Choice("fast", why), chain(ahead, given)
            needed = possibilities // _A_POSITION - self._asked
            ahead += islice(given, max(0, needed - len(ahead)))
            if len(ahead) < needed:
                self._asked += len(ahead) if is_asked else 0
                return _Choice("fast", f"to make columns pays from {needed:,} positions on"), iter(ahead)
        return _Choice("columns"), chain(ahead, given)


def _chunks(given: Iterator[AnyPosition]) -> Iterator[list[Position]]:
    while chunk := [as_position(position) for position in islice(given, _CHUNK)]:
        yield chunk
