"""Moves: questions that a ruleset asks its database, of one position or of many."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Literal, TypedDict, get_args

from ggn_store.api.handle import AnyPosition, Handle, as_position
from ggn_store.collector import held_off
from ggn_store.errors import MoveError, did_you_mean, quote
from ggn_store.model.moves.move import Assumption, Count, Move, check_assumption
from ggn_store.model.moves.position import Position
from ggn_store.notation.hand import HAND
from ggn_store.store.moves import fast, reading
from ggn_store.store.moves.fast import FastQuery
from ggn_store.store.moves.reading import Question

Query = Literal["fast", "reading"]
QUERIES: Final[tuple[Query, ...]] = get_args(Query)
# Positions in one statement; their temporary rows are a few kilobytes each.
_CHUNK: Final = 1_000


class Narrowed(TypedDict, total=False):
    """The keywords that ask only for moves of one piece, from one square, to one (`*` is the hand)."""

    piece: str | None
    source: str | None
    destination: str | None


class Moves:
    """The moves of positions by the rules of a handle, and how many there are: what `Ruleset` says of them."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    @functools.cached_property
    def fast(self) -> FastQuery | None:
        """The fast query over this revision; None where only the reading query can answer."""
        with self.handle.opened() as opened:
            return fast.read(opened)

    def asked(self, narrowed: Narrowed, others: Sequence[object] = ()) -> Question:
        """The question that keywords ask; raises TypeError for unknown ones, and for values without a keyword."""
        if not narrowed and not others:
            return fast.EVERYTHING
        known = Narrowed.__annotations__
        if others:
            raise TypeError(f"{quote(others[0])}: give it a keyword: {', '.join(known)}")
        for name in narrowed.keys() - known.keys():
            hint = did_you_mean(name, known) or f": there are {', '.join(known)}"
            raise TypeError(f"{quote(name)} is not a keyword that asks for moves{hint}")
        return self.question(**narrowed)

    def question(self, piece: str | None = None, source: str | None = None, destination: str | None = None) -> Question:
        """What is asked: all moves, or those of one piece, source, destination, which must be there."""
        if piece is source is destination is None:
            return fast.EVERYTHING
        self.handle.require_place(piece, source, destination)
        return Question(piece, source, destination)

    def many(
        self, positions: Iterable[AnyPosition], question: Question, assume: Assumption | None, query: Query
    ) -> list[list[Move]]:
        if not _is_fast(query) or self.fast is None:
            return self._ask(positions, question, assume)
        if question is fast.EVERYTHING and assume is None:
            return list(_batches(self, self.fast, positions))
        return [self.one(position, question, assume, query) for position in positions]

    def counts(self, positions: Iterable[AnyPosition], by: Count, query: Query) -> dict[int | str, int]:
        """How many moves there are: by number of the position from 0, or by piece or destination that has any."""
        answering = self.fast if _is_fast(query) else None
        total: Counter[int | str] = Counter()
        first = 0
        for chunk in _chunks(self, positions):
            found: Mapping[int | str, int]
            try:
                if answering is None:
                    raise fast.NotEncodableError
                found = answering.counts(chunk, by)
            except fast.NotEncodableError:
                found = counted(self.many(chunk, fast.EVERYTHING, None, query), by)
            if by == "position":
                found = {first + int(number): count for number, count in found.items()}
            for key, count in found.items():
                total[key] += count
            first += len(chunk)
        return self.ordered(total, by)

    def ordered(self, total: Mapping[int | str, int], by: Count) -> dict[int | str, int]:
        """Counts in the order of positions, pieces or squares."""
        if by == "position":
            return dict(total)
        handle = self.handle
        order = handle.pieces if by == "piece" else (*handle.board.squares, HAND)
        return {key: total[key] for key in order if total.get(key)}

    def explain(self, positions: Sequence[Position], question: Question, query: Query) -> tuple[str, list[str]]:
        handle, database = self.handle, self.handle.session.database
        asked = [handle.on_board(position) for position in positions]
        if _is_fast(query) and self.fast is not None and len(asked) == 1:
            statement = self.fast.statement(handle.placed(asked[0]), question)
            with handle.session.reading() as connection:
                text, plan = reading.explained(database, connection, statement)
            if question.destination is not None:
                plan = [*plan, f"of what it finds, only moves to {question.destination}"]
            return text, plan
        with handle.opened() as opened:
            text, plan = reading.explain(opened, asked, question)
        if _is_fast(query) and self.fast is None:
            plan.append("the reading query, since lanes are missing: run `ggn-store db rebuild`")
        return text, plan

    def one(
        self,
        position: AnyPosition,
        question: Question,
        assume: Assumption | None,
        query: Query,
    ) -> list[Move]:
        found = self.fast if _is_fast(query) else None
        if found is None or not fast.can_answer(question):
            return self._ask([position], question, assume)[0]
        check_assumption(assume)
        asked: Position | fast.Bare
        if isinstance(position, Position) or not isinstance(position, Mapping) or self.handle.variables:
            asked = self.handle.stated(as_position(position))
        else:
            asked = fast.Bare(position)
        try:
            return found.moves(asked, question, assume)
        except fast.NotEncodableError:
            # Either it is wrong, which is said here, or it has squares that are not the board's and do not matter.
            position = self.handle.placed(position)
        try:
            return found.moves(position, question, assume)
        except fast.NotEncodableError:
            return self._ask([position], question, assume)[0]

    def _ask(
        self,
        positions: Iterable[AnyPosition],
        question: Question,
        assume: Assumption | None,
    ) -> list[list[Move]]:
        check_assumption(assume)
        asked = [self.handle.on_board(as_position(position)) for position in positions]
        with self.handle.opened() as opened:
            return reading.moves(opened, asked, question, assume)


def _is_fast(query: Query) -> bool:
    if query not in QUERIES:
        raise MoveError(f"{quote(query)} is not a query; there are {' and '.join(map(repr, QUERIES))}")
    return query == "fast"


# --- many positions, asked together ---


def _batches(asked: Moves, query: FastQuery, positions: Iterable[AnyPosition]) -> Iterator[list[Move]]:
    """For each position its moves; what is not known yet of a thousand positions is asked in one statement."""
    for chunk in _chunks(asked, positions):
        try:
            with held_off():
                found = query.many(chunk)
        except fast.NotEncodableError:
            found = [asked.one(position, fast.EVERYTHING, None, "fast") for position in chunk]
        yield from found


def counted(answers: Sequence[list[Move]], by: Count) -> dict[int | str, int]:
    """How many moves there are, by number of the position, piece or destination."""
    if by == "position":
        return {number: len(found) for number, found in enumerate(answers)}
    return dict(Counter(move.piece if by == "piece" else move.destination for found in answers for move in found))


def _chunks(asked: Moves, positions: Iterable[AnyPosition]) -> Iterator[list[Position]]:
    """The positions in parts, without squares that are not the board's."""
    given = iter(positions)
    while chunk := [asked.handle.placed(position) for position in islice(given, _CHUNK)]:
        yield chunk
