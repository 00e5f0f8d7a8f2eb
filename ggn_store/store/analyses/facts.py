"""What is derived of pieces as they are stored."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Select, bindparam, select

from ggn_store.model.teams.revision import Revision
from ggn_store.movement.facts import Mobility, NamedMovement, Spread
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.schema import tables as t


def movements(asker: Asker, revisions: Iterable[Revision], *, whole: bool = False) -> dict[int, NamedMovement]:
    """How the pieces of revisions move, by key; with `whole`, with what their moves change."""
    columns = [t.piece_facts.c[f"{'rules' if whole else 'moves'}{part}"] for part in ("", "_forms", "_words")]

    def stored(keys: list[int]) -> Select[Any]:
        listed = select(t.revision_piece.c.piece_id).where(t.revision_piece.c.revision_id.in_(keys))
        return select(t.piece_facts.c.piece_id, *columns).where(t.piece_facts.c.piece_id.in_(listed))

    keys = (revision.id for revision in revisions)
    return {piece_id: NamedMovement(*told) for piece_id, *told in asker.rows_of(keys, stored)}


@functools.cache
def _mobility(of_one: bool) -> Select[Any]:
    facts = t.piece_facts.c
    spreads = [facts[f"{kind}{number}"] for kind in ("total", "quiet", "capture") for number in ("", "_min", "_max")]
    query = (
        select(t.piece.c.identifier, facts.squares, *spreads, facts.reach, facts.colours)
        .select_from(t.PIECES_OF_REVISIONS.join(t.piece_facts, facts.piece_id == t.piece.c.id))
        .where(t.revision_piece.c.revision_id == bindparam("revision"), facts.squares.is_not(None))
        .order_by(t.revision_piece.c.ordinal)
    )
    return query.where(t.piece.c.identifier == bindparam("piece")) if of_one else query


def mobility(asker: Asker, revision: Revision, piece: str | None = None) -> list[tuple[str, Mobility]]:
    """The mobility of the pieces of a revision, or of one, in document order; not of those that lead to no square."""
    asked = {"revision": revision.id} | ({} if piece is None else {"piece": piece})
    found = []
    for name, squares, *numbers, reach, colours in asker.rows(_mobility(piece is not None), asked):
        every, quiet, capture = (Spread(*numbers[at : at + 3]) for at in (0, 3, 6))
        found.append((name, Mobility(squares, every, quiet, capture, reach, colours)))
    return found
