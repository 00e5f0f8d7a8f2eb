"""Royal safety as a part of the reading query: the moves after which no royal piece (`^`) of the mover can be taken.

    a possibility that holds, and no possibility of an enemy that stands there after the move
       -> which changes a square where a royal piece of the mover stands after the move, or that castling crosses
          and of which no condition fails on the board after the move, and no guard on the state after it

What stands on a square after the move is what an effect of the move says, else what stands there before; the same is
true of the state's values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, Select, and_, case, false, func, or_, select

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.moves.play import Crossing
from ggn_store.store.moves.positions import Described
from ggn_store.store.schema import tables as t

_ROYAL: Final = "^"


class RoyalCapture:
    """A possibility of an enemy (`by`) that takes a royal piece after the move that the reading query has found."""

    def __init__(
        self, revision_id: int, standing: FromClause, described: Described, board: Board, crossings: Iterable[Crossing]
    ) -> None:
        self._revision_id = revision_id
        self._move = standing
        self._described = described
        self._enemy = described.board.alias("enemy")
        self._piece, self._listed = t.piece.alias("by_piece"), t.revision_piece.alias("by_listed")
        self._source, self._destination = t.source.alias("by_source"), t.destination.alias("by_destination")
        self._variant, self._effect = t.variant.alias("by_variant"), t.effect.alias("by_effect")
        crossings = list(crossings)
        self._crosses = or_(false(), *self._crossings(board, crossings))
        self._begins = self._crossings(board, [each for each in crossings if each.is_step])

    def statement(self) -> Select[Any]:
        """A row for each threat that holds."""
        enemy, piece, listed, source = self._enemy.c, self._piece.c, self._listed.c, self._source.c
        destination, variant, effect = self._destination.c, self._variant.c, self._effect.c
        is_own_royal = and_(self._after(effect.square).contains(_ROYAL), self._side(effect.square) == self._move.c.side)
        found = (
            select(1)
            .select_from(self._enemy)
            .join(self._piece, piece.identifier == enemy.piece)
            .join(self._listed, and_(listed.piece_id == piece.id, listed.revision_id == self._revision_id))
            .join(self._source, and_(source.piece_id == piece.id, source.square == enemy.square))
            .join(
                self._destination, and_(destination.piece_id == source.piece_id, destination.source == source.ordinal)
            )
            .join(
                self._variant,
                and_(
                    variant.piece_id == destination.piece_id,
                    variant.source == destination.source,
                    variant.destination == destination.ordinal,
                ),
            )
            .join(
                self._effect,
                and_(
                    effect.piece_id == variant.piece_id,
                    effect.variant == variant.number,
                    effect.square != enemy.square,
                ),
            )
            .where(
                enemy.position == self._move.c.position,
                enemy.side != self._move.c.side,
                ~self._touched(enemy.square).exists(),
                or_(is_own_royal, self._crosses),
                ~self._failing().exists(),
            )
            .correlate(self._move, t.variant, t.destination)
        )
        stated = self._described.state
        return found if stated is None else found.where(~self._failing_guard(stated).exists())

    def _crossings(self, board: Board, crossings: Iterable[Crossing]) -> list[ColumnElement[bool]]:
        """Whether the move crosses the square that is changed, one for each crossing of the game."""
        numbers, move, moved = board.numbers, self._move.c, t.effect.alias("moved")
        others = (
            select(1)
            .where(
                moved.c.piece_id == t.variant.c.piece_id,
                moved.c.variant == t.variant.c.number,
                moved.c.square != t.destination.c.square,
                moved.c.becomes.is_not(None),
            )
            .correlate_except(moved)
        )
        return [
            and_(
                move.piece == each.piece,
                move.square == numbers[each.source],
                t.destination.c.square == numbers[each.destination],
                self._effect.c.square.in_([numbers[square] for square in each.through]),
                others.exists(),
            )
            for each in crossings
        ]

    def _failing(self) -> Select[Any]:
        """A condition of the threat that fails after the move; what is crossed stands where it could be taken."""
        condition, effect = t.condition.alias("by_condition"), self._effect.c
        here = self._after(condition.c.square)
        if self._begins:
            # Where it was attacked its rook may have come between.
            was_there = and_(or_(*self._begins), self._effect.c.square == self._move.c.square)
            here = case((was_there, self._before(condition.c.square)), else_=here)
        holds = case(
            (condition.c.state == EMPTY, here.is_(None)),
            (condition.c.state == ENEMY, func.coalesce(self._side(condition.c.square) == self._move.c.side, false())),
            else_=func.coalesce(here == condition.c.state, false()),
        )
        is_must = condition.c.polarity == "must"
        asks_for_nothing = and_(is_must, condition.c.state == EMPTY)
        is_crossed = and_(self._crosses, condition.c.square == effect.square)
        return (
            select(1)
            .select_from(condition)
            .where(
                condition.c.piece_id == effect.piece_id,
                condition.c.variant == effect.variant,
                case((is_crossed, asks_for_nothing), else_=holds != is_must),
            )
            .correlate(self._move, t.variant, t.destination, self._effect)
        )

    def _failing_guard(self, stated: FromClause) -> Select[Any]:
        """A state variable that the threat asks for and that has none of the values that it may have after the move."""
        guard, allowed, set_to = t.guard.alias("by_guard"), t.guard.alias("by_allowed"), t.state_effect.alias("set_to")
        value, variant, effect = stated.alias("by_value"), t.variant.c, self._effect.c
        before = select(value.c.value).where(
            value.c.position == self._move.c.position, value.c.variable == guard.c.variable
        )
        changed = select(set_to.c.value).where(
            set_to.c.piece_id == variant.piece_id,
            set_to.c.variant == variant.number,
            set_to.c.variable == guard.c.variable,
        )
        after = func.coalesce(
            changed.correlate_except(set_to).scalar_subquery(), before.correlate_except(value).scalar_subquery()
        )
        is_allowed = select(1).where(
            allowed.c.piece_id == guard.c.piece_id,
            allowed.c.variant == guard.c.variant,
            allowed.c.variable == guard.c.variable,
            allowed.c.value == after,
        )
        return (
            select(1)
            .select_from(guard)
            .where(
                guard.c.piece_id == effect.piece_id,
                guard.c.variant == effect.variant,
                ~is_allowed.correlate_except(allowed).exists(),
            )
            .correlate(self._move, t.variant, t.destination, self._effect)
        )

    def _touched(self, square: ColumnElement[int]) -> Select[Any]:
        """What the move leaves on a square that it changes."""
        touched = t.effect.alias("touched")
        return (
            select(touched.c.becomes)
            .where(
                touched.c.piece_id == t.variant.c.piece_id,
                touched.c.variant == t.variant.c.number,
                touched.c.square == square,
            )
            .correlate_except(touched)
        )

    def _after(self, square: ColumnElement[int]) -> ColumnElement[Any]:
        """What stands on a square after the move."""
        touched = self._touched(square)
        return case((touched.exists(), touched.scalar_subquery()), else_=self._before(square))

    def _before(self, square: ColumnElement[int]) -> ColumnElement[Any]:
        here, is_there = self._described.standing(self._move.c.position, square)
        return select(here.c.piece).where(is_there).correlate_except(here).scalar_subquery()

    def _side(self, square: ColumnElement[int]) -> ColumnElement[str]:
        """Whose piece stands on a square after the move: the case of its identifier says it."""
        after = self._after(square)
        return case((after.is_(None), None), (func.upper(after) == after, "first"), else_="second")
