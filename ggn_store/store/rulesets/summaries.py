"""A piece's rows -> its summary: how much is in it, counted once, when it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, Table, bindparam, false, func, insert, select

from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t


def _count(table: Table, *also: Any) -> Any:
    return select(func.count()).select_from(table).where(table.c.piece_id == t.piece.c.id, *also).scalar_subquery()


_FROM_HAND = (
    select(func.count())
    .select_from(t.source.join(t.variant, t.VARIANT_OF_SOURCE))
    .where(t.source.c.piece_id == t.piece.c.id, t.source.c.square.is_(None))
    .scalar_subquery()
)
_COUNTED = {
    "sources": _count(t.source),
    "destinations": _count(t.destination),
    "possibilities": _count(t.variant),
    "drops": _FROM_HAND,
    "conditions": _count(t.condition),
    "effects": _count(t.effect),
    "hand_effects": _count(t.hand_effect),
    "keeps_turn": _count(t.variant, t.variant.c.toggle == false()),
}
# The summaries that the rows of all pieces give.
DERIVED: Final[Select[Any]] = select(t.piece.c.id.label("piece_id"), *(_COUNTED[name].label(name) for name in t.COUNTS))
_OF_PIECES = DERIVED.where(t.piece.c.id.in_(bindparam("pieces", expanding=True)))
_FILL = insert(t.piece_summary).from_select(["piece_id", *t.COUNTS], _OF_PIECES)


def fill(connection: Connection, piece_ids: Sequence[int]) -> None:
    """Store the summaries of pieces that have none, whose rows are there."""
    for some in catalog.batches(piece_ids):
        connection.execute(_FILL, {"pieces": some})
