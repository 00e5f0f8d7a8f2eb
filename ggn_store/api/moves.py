"""Moves: questions that a ruleset asks its database, of one position or of many."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, get_args

from ggn_store.api import batches
from ggn_store.api.placing import Placing, as_position
from ggn_store.errors import MoveError, quote
from ggn_store.model import variables
from ggn_store.model.move import DISPLACEMENT, Assumption, Move, check_assumption
from ggn_store.model.position import Position
from ggn_store.store.moves import fast, reading
from ggn_store.store.moves.batch import Count
from ggn_store.store.moves.reading import Question
from ggn_store.store.rulesets import masks

Query = Literal["fast", "reading"]
QUERIES: Final[tuple[Query, ...]] = get_args(Query)


class Moves(Placing):
    """The moves of positions, and how many there are."""

    @functools.cached_property
    def _fast(self) -> fast.FastQuery | None:
        """The fast query over this revision; None where only the reading query can answer."""
        board = self.board
        with self._database.reading() as connection:
            return fast.read(self._database, connection, self.revision, board)

    def moves(
        self,
        position: Position | Mapping[str, str | None],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        assume: Assumption | None = None,
        query: Query = "fast",
    ) -> list[Move]:
        """The moves of the side to move, in document order; all of them, or of one piece, source, destination.

        `assume="displacement"` fills in the effects that a `must-deny` document leaves open. `query="reading"` asks
        with the reading query, whose answer is the same. Raises UnknownNameError for a piece without rules or a square
        that is not on the board.
        """
        question = self._question(piece, source, destination)
        return self._ask_one(position, question, assume, query)

    def moves_batch(
        self,
        positions: Iterable[Position | Mapping[str, str | None]],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        assume: Assumption | None = None,
        query: Query = "fast",
    ) -> list[list[Move]]:
        """The moves of each of many positions; otherwise like `moves`."""
        question = self._question(piece, source, destination)
        if not _is_fast(query) or self._fast is None:
            return self._ask(positions, question, assume)
        if question is fast.EVERYTHING and assume is None:
            return list(batches.moves(self, self._fast, positions))
        return [self._ask_one(position, question, assume, query) for position in positions]

    def count_moves(
        self, positions: Iterable[Position | Mapping[str, str | None]], by: Count = "position"
    ) -> dict[int | str, int]:
        """How many moves many positions have; only the counts leave the database.

        The result's keys are the numbers of the positions from 0, the pieces that move (by="piece"), or the squares
        that are reached (by="destination"). Raises MoveError for another `by`.
        """
        return batches.counts(self, self._fast, positions, by)

    def explain(
        self,
        positions: Sequence[Position],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        query: Query = "fast",
    ) -> tuple[str, list[str]]:
        """The SQL that answers `moves`, and the database's plan for it, line by line.

        The fast query is of one position; for several, and where it cannot answer, this is the reading query.
        """
        question = self._question(piece, source, destination)
        asked = [self._on_board(position) for position in positions]
        board = self.board
        if _is_fast(query) and self._fast is not None and len(asked) == 1:
            position = self.placed(asked[0])
            statement = self._fast.statement(position.board, position.hands, position.side, question)
            with self._database.reading() as connection:
                text, plan = reading.explained(self._database, connection, statement)
            if destination is not None:
                plan = [*plan, f"of what it finds, only moves to {destination}"]
            if self.variables:
                plan = [*plan, "of what it finds, only moves whose guards let the state pass"]
            return text, plan
        with self._database.reading() as connection:
            text, plan = reading.explain(self._database, connection, self.revision, board, asked, question)
        if _is_fast(query) and self._fast is None:
            plan.append(f"the reading query, since {masks.why_none(board)}")
        return text, plan

    # --- inside ---

    def _question(self, piece: str | None, source: str | None, destination: str | None) -> Question:
        if piece is source is destination is None:
            return fast.EVERYTHING
        if piece is not None:
            self._require_piece(piece)
        for square in (source, destination):
            self.require_square(square)
        return Question(piece, source, destination)

    def _ask_one(
        self,
        position: Position | Mapping[str, str | None],
        question: Question,
        assume: Assumption | None,
        query: Query,
    ) -> list[Move]:
        found = self._fast if _is_fast(query) else None
        if found is None or not fast.can_answer(question):
            return self._ask([position], question, assume)[0]
        if assume not in (None, DISPLACEMENT):
            raise MoveError(f"{quote(assume)} is not an assumption; there is {DISPLACEMENT!r} only")
        if isinstance(position, Position):
            board, hands, side = position.board, position.hands, question.side or position.side
            state = position.state
        else:
            board, hands, side = position, None, question.side or "first"
            state = None
        if state is not None or self.variables:
            position = self.stated(as_position(position))
            state = position.state
        try:
            answer = found.moves(board, hands, side, question, assume)
            return answer if state is None else self.guarded(answer, state)
        except fast.NotEncodableError:
            # Either it is wrong, which is said here, or it has squares that are not the board's and do not matter.
            position = self.placed(position)
        try:
            return self.guarded(found.moves(position.board, hands, side, question, assume), state)
        except fast.NotEncodableError:
            return self._ask([position], question, assume)[0]

    def guarded(self, found: list[Move], state: Mapping[str, str] | None) -> list[Move]:
        """Those of some moves whose guards let a state pass that names every variable."""
        return found if state is None else [move for move in found if variables.passes(move.guards, state)]

    def _ask(
        self,
        positions: Iterable[Position | Mapping[str, str | None]],
        question: Question,
        assume: Assumption | None,
    ) -> list[list[Move]]:
        check_assumption(assume)
        asked = [self._on_board(as_position(position)) for position in positions]
        board = self.board
        with self._database.reading() as connection:
            return reading.moves(self._database, connection, self.revision, board, asked, question, assume)


def _is_fast(query: Query) -> bool:
    if query not in QUERIES:
        raise MoveError(f"{quote(query)} is not a query; there are {' and '.join(map(repr, QUERIES))}")
    return query == "fast"
