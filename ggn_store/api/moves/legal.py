"""The moves that the duties of a game let pass: what `Ruleset` says of `legal_moves`, `in_check` and `attackers`."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from ggn_store.api.handle import AnyPosition
from ggn_store.api.moves.chains import Chains
from ggn_store.api.moves.moves import Query, counted
from ggn_store.model.documents.document import Source
from ggn_store.model.moves import legality, threats
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.legality import Attacker, Legality, StartMoves
from ggn_store.model.moves.move import Assumption, Count, Move
from ggn_store.model.moves.position import Position, side_named
from ggn_store.model.moves.threats import Item, Reach
from ggn_store.notation.qpi import Side, is_royal, other_side, side_of
from ggn_store.store.moves import fast
from ggn_store.store.moves.reading import Question

_ALL: Final = fast.EVERYTHING
# The duties that the statement judges; marks are cleared before it is asked.
_SQL: Final = ("royal-safety", "clear-marks")
# Positions that are asked together.
_CHUNK: Final = 1_000


class Legal:
    """Duties, asked of positions by the rules of a handle."""

    def __init__(self, chains: Chains) -> None:
        self.chains_of = chains
        self._moves = chains.moves
        self.handle = chains.handle
        self._read: dict[str, Mapping[str, Reach]] = {}

    @functools.cached_property
    def duties(self) -> Legality:
        """The duties of the revision."""
        handle = self.handle
        asked = legality.MoveRules(
            self._reaches,
            self._code,
            self._parts,
            lambda position: self.chains_of.of(position, self.chains_of.asked({})),
            handle.pieces,
            handle.board,
            handle.start,
        )
        return Legality(handle.play, asked)

    def moves(
        self, position: AnyPosition, question: Question, assume: Assumption | None, query: Query = "fast"
    ) -> list[Move]:
        """The legal moves; with the reading query, it is the database that says after which royal pieces are safe."""
        duties, position = self.duties, self._ready(position)
        if query != "fast":
            asked = _ALL if duties.is_of_all else question
            found = self._moves.one(position, self.asked(asked), assume, query)
            found += [move for move in duties.passes(position) if asked.means(move)]
            return [move for move in duties.among(position, found) if question.means(move)]
        if question is _ALL and assume is None:
            return duties.legal(position)
        found = self._moves.one(position, question, assume, "fast")
        if duties.is_of_all:
            wanted = {_key(move) for move in duties.legal(position)}
            return [move for move in found if _key(move) in wanted]
        found += [move for move in duties.passes(position) if question.means(move)]
        return duties.among(position, found)

    def asked(self, question: Question) -> Question:
        """What the database is asked for the moves: only for safe ones, where it can say what they are."""
        return question._replace(safe=self.handle.play) if self._is_in_statement else question

    @property
    def _is_in_statement(self) -> bool:
        """Whether the database can say which royal pieces are safe: it has to know what moves change."""
        return self.duties.is_safe_for_all and self.handle.revision.dialect != "must-deny"

    def explain(self, positions: Iterable[AnyPosition], question: Question) -> tuple[str, list[str]]:
        """The statement for the moves that are safe, its plan, and which duties are judged of what it finds."""
        text, plan = self._moves.explain([*map(self._ready, positions)], self.asked(question), "reading")
        of_statement = _SQL if self._is_in_statement else ()
        later = [duty.name for duty in self.handle.play.duties if duty.name not in of_statement]
        return text, [*plan, f"of what it finds, what these duties let pass: {', '.join(later)}"] if later else plan

    def many(
        self, positions: Iterable[AnyPosition], question: Question, assume: Assumption | None, query: Query
    ) -> list[list[Move]]:
        """For each position its legal moves; what is not known yet of many is asked in one statement."""
        found: list[list[Move]] = []
        given = iter(positions)
        asks_all = query == "fast" and question is _ALL and assume is None
        while chunk := [self._ready(position) for position in islice(given, _CHUNK)]:
            parts = self._parts_of_many(chunk) if asks_all else None
            if parts is None:
                found += [self.moves(position, question, assume, query) for position in chunk]
            else:
                found += map(self.duties.legal, chunk, parts)
        return found

    def counts(self, positions: Iterable[AnyPosition], by: Count, query: Query) -> dict[int | str, int]:
        """How many legal moves there are, as `Ruleset.count_moves` counts them."""
        return self._moves.ordered(counted(self.many(positions, _ALL, None, query), by), by)

    def chains(self, position: AnyPosition) -> tuple[Chain, ...]:
        return tuple(self.duties.chains(self._ready(position)))

    def allows(self, position: AnyPosition, move: Move | Chain) -> bool:
        if isinstance(move, Chain):
            steps = [*map(_key, move.steps)]
            return any([*map(_key, each.steps)] == steps for each in self.chains(position))
        question = self._moves.question(move.piece, move.source, move.destination)
        return any(_key(each) == _key(move) for each in self.moves(position, question, None))

    def in_check(self, position: AnyPosition, side: Side | None) -> bool:
        position = self._ready(position)
        return self.duties.in_check(position, side_named(side or position.side))

    def attackers(self, position: AnyPosition, square: str, side: Side | None) -> list[Attacker]:
        position = self._ready(position)
        self.handle.require_square(square, or_hand=False)
        if side is None:
            piece = position.board.get(square)
            side = other_side(position.side if piece is None else side_of(piece))
        return self.duties.attackers(position, square, side_named(side))

    def checked(self, position: AnyPosition) -> tuple[str, ...]:
        """The squares of the royal pieces in check of the side to move."""
        if not self.handle.play.duties or not self.in_check(position, None):
            return ()
        position = self._ready(position)
        royals = [
            square
            for square, piece in position.board.items()
            if piece is not None and is_royal(piece) and side_of(piece) == position.side
        ]
        # Of several, those that could be taken; a single one may also be attacked as no piece takes, by facing another.
        return tuple(square for square in royals if len(royals) == 1 or self.attackers(position, square, None))

    def _ready(self, position: AnyPosition) -> Position:
        return self.handle.play.unmarked(self.handle.placed(position))

    def _parts(self, position: Position) -> Iterable[StartMoves]:
        query = self._moves.fast
        if query is not None:
            try:
                return query.parts(position)
            except fast.NotEncodableError:
                pass
        return [(None, self._moves.one(position, _ALL, None, "fast"))]

    def _parts_of_many(self, positions: Sequence[Position]) -> Sequence[Sequence[StartMoves]] | None:
        """The same of many positions, asked at once; None where they have to be asked one by one."""
        query = self._moves.fast
        with suppress(fast.NotEncodableError):
            return None if query is None else query.parts_of_many(positions)
        return None

    def _reaches(self, side: Side, items: Iterable[Item]) -> Iterable[Reach]:
        query = self._moves.fast
        if query is None:
            return self._read_reaches(side, items)
        return query.reaches(side, items)

    def _code(self, side: Side, items: Iterable[Item]) -> int:
        query = self._moves.fast
        return 0 if query is None else query.code(side, items)

    def _read_reaches(self, side: Side, items: Iterable[Item]) -> Iterator[Reach]:
        """From the documented tables, where lanes are missing."""
        for square, piece in items:
            if piece is not None and piece in self.handle.pieces and side_of(piece) == side:
                if piece not in self._read:
                    sources = self.handle.read_piece(piece).sources
                    blasts = self.duties.blasts
                    self._read[piece] = {each.square: threats.reach(_moves_of(piece, each), blasts) for each in sources}
                if square in self._read[piece]:
                    yield self._read[piece][square]


def _moves_of(piece: str, source: Source) -> Iterator[Move]:
    for destination in source.destinations:
        for number, each in enumerate(destination.possibilities):
            rest = each.must, each.deny, each.effects
            yield Move(piece, source.square, destination.square, number, *rest, guards=each.guards)


def _key(move: Move) -> tuple[str, str, str, int]:
    return move.piece, move.source, move.destination, move.ordinal
