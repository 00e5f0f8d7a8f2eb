"""The possibilities of a revision as one relation."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, and_, func, or_

from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.teams.revision import Revision
from ggn_store.store.schema import tables as t

# A source or a destination without a square is the hand.
RULES: Final[FromClause] = t.SOURCES_OF_REVISIONS.join(t.destination, t.DESTINATION_OF_SOURCE).join(
    t.variant, t.VARIANT_OF_DESTINATION
)


def is_of(revision: Revision) -> ColumnElement[bool]:
    """Whether a row of `RULES` belongs to a revision."""
    return t.revision_piece.c.revision_id == revision.id


def of_variant(table: Any) -> ColumnElement[bool]:
    """Whether a row of conditions or effects belongs to a variant."""
    return and_(table.c.piece_id == t.variant.c.piece_id, table.c.variant == t.variant.c.number)


def is_own(state: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a state is a piece of the side that moves: upper case is the first one's."""
    side = t.piece.c.side
    is_first = and_(side == "first", func.upper(state) == state)
    return and_(state.not_in((EMPTY, ENEMY)), or_(is_first, and_(side == "second", func.lower(state) == state)))
