"""The possibilities of a revision as one relation, and the conditions that none of them can meet."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, Select, and_, func, or_, select

from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.revision import Revision
from ggn_store.store import tables as t

# In document order by these; a source or a destination without a square is the hand.
ORDER: Final = (t.revision_piece.c.ordinal, t.variant.c.number)

RULES: Final[FromClause] = (
    t.revision_piece.join(t.piece, t.piece.c.id == t.revision_piece.c.piece_id)
    .join(t.source, t.source.c.piece_id == t.piece.c.id)
    .join(
        t.destination,
        and_(t.destination.c.piece_id == t.source.c.piece_id, t.destination.c.source == t.source.c.ordinal),
    )
    .join(
        t.variant,
        and_(
            t.variant.c.piece_id == t.destination.c.piece_id,
            t.variant.c.source == t.destination.c.source,
            t.variant.c.destination == t.destination.c.ordinal,
        ),
    )
)


def is_of(revision: Revision) -> ColumnElement[bool]:
    """Whether a row of `RULES` belongs to a revision."""
    return t.revision_piece.c.revision_id == revision.id


def of_variant(table: Any, variant: Any = t.variant.c) -> ColumnElement[bool]:
    """Whether a row of conditions or effects belongs to a variant."""
    return and_(table.c.piece_id == variant.piece_id, table.c.variant == variant.number)


def is_own(state: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a state is a piece of the side that moves: upper case is the first one's."""
    return and_(state.not_in((EMPTY, ENEMY)), _has_case(state, "first", "second"))


def is_foreign(state: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a state is a piece of the other side."""
    return and_(state.not_in((EMPTY, ENEMY)), _has_case(state, "second", "first"))


def _has_case(state: ColumnElement[str], upper: str, lower: str) -> ColumnElement[bool]:
    side = t.piece.c.side
    return or_(and_(side == upper, func.upper(state) == state), and_(side == lower, func.lower(state) == state))


def impossible() -> Select[Any]:
    """The conditions of a row of `RULES` that no position meets, for the side that moves.

    On the source: every `must` (the piece itself is refused there when a document is read), and `deny` with the piece.
    Elsewhere: `must` with a piece of the other side, where `deny enemy` is asked for as well. Two `must` of one square,
    or `must` and `deny` of the same, are refused when a document is read.
    """
    one, other = t.condition, t.condition.alias("other")
    on_source = and_(t.source.c.square.is_not(None), one.c.square == t.source.c.square)
    denied = (
        select(1)
        .where(
            other.c.piece_id == one.c.piece_id,
            other.c.variant == one.c.variant,
            other.c.square == one.c.square,
            other.c.polarity == "deny",
            other.c.state == ENEMY,
        )
        .correlate(one)
    )
    return (
        select(one.c.polarity, one.c.square, one.c.state)
        .where(
            of_variant(one),
            or_(
                and_(on_source, one.c.polarity == "must", one.c.state != t.piece.c.identifier),
                and_(on_source, one.c.polarity == "deny", one.c.state == t.piece.c.identifier),
                and_(one.c.polarity == "must", is_foreign(one.c.state), denied.exists()),
            ),
        )
        .correlate(t.revision_piece, t.piece, t.source, t.destination, t.variant)
    )
