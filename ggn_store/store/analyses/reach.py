"""Which squares pieces can ever stand on, whatever else is on the board.

From what stands somewhere at first, possibilities are followed whose piece stands on their source, or is held where
they start in the hand; then stands, or is held, whatever their effects say (of a `must-deny` document, the piece on the
destination). Conditions count only where none could ever meet them all (`rules.impossible`), and captures and numbers
of pieces do not count at all. So nothing is missed that play can reach, but play need not be able to reach all of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import CompoundSelect, Select, and_, func, literal_column, select, union

from ggn_store.model.revision import Revision
from ggn_store.store import tables as t
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.rules import RULES, impossible, is_of, of_variant

# Beside the numbers of squares; NULL would be no key to join by.
IN_HAND: Final = -1

Standing = tuple[str, int]


def reached(asker: Asker, revision: Revision, seeds: Iterable[Standing] | None) -> set[Standing]:
    """All that can come to stand: piece and number of the square, or IN_HAND.

    `seeds` are what stands at first; without them every piece stands wherever it has rules from.
    """
    if seeds is None:
        seeds = [(row.piece, row.square) for row in asker.rows(_sources(revision))]
    ahead = [*set(seeds)]
    if not ahead:
        return set()
    # A recursive query would read all changes again for each step, where the database has no index to make of them.
    changes: dict[Standing, list[Standing]] = {}
    for piece, source, made, place in asker.rows(_changes(revision)):
        changes.setdefault((piece, source), []).append((made, place))
    found = set(ahead)
    while ahead:
        for standing in changes.get(ahead.pop(), ()):
            if standing not in found:
                found.add(standing)
                ahead.append(standing)
    return found


def _sources(revision: Revision) -> Select[Any]:
    return (
        select(t.piece.c.identifier.label("piece"), func.coalesce(t.source.c.square, IN_HAND).label("square"))
        .select_from(
            t.revision_piece.join(t.piece, t.piece.c.id == t.revision_piece.c.piece_id).join(
                t.source, t.source.c.piece_id == t.piece.c.id
            )
        )
        .where(is_of(revision))
    )


def _changes(revision: Revision) -> CompoundSelect[Any]:
    """Which piece on which source can make which piece stand where."""
    source = func.coalesce(t.source.c.square, literal_column("-1")).label("source")
    destination = func.coalesce(t.destination.c.square, literal_column("-1"))
    possible = and_(is_of(revision), ~impossible().exists())
    placed = (
        select(
            t.piece.c.identifier.label("piece"),
            source,
            t.effect.c.becomes.label("made"),
            t.effect.c.square.label("place"),
        )
        .select_from(RULES.join(t.effect, of_variant(t.effect)))
        .where(possible, t.effect.c.becomes.is_not(None))
    )
    taken = (
        select(t.piece.c.identifier, source, t.hand_effect.c.piece, literal_column("-1"))
        .select_from(RULES.join(t.hand_effect, of_variant(t.hand_effect)))
        .where(possible, t.hand_effect.c.delta > 0)
    )
    displaced = (
        select(t.piece.c.identifier, source, t.piece.c.identifier, destination)
        .select_from(RULES)
        .where(possible, t.variant.c.toggle.is_(None))
    )
    return union(placed, taken, displaced)
