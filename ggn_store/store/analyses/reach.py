"""Which squares pieces can ever stand on, whatever else is on the board.

From what stands somewhere at first, possibilities are followed whose piece stands on their source, or is held where
they start in the hand; then stands, or is held, whatever their effects say (of a `must-deny` document, the piece on the
destination). Conditions count only where none could ever meet them all (`rules.impossible`), and captures and numbers
of pieces do not count at all. So nothing is missed that play can reach, but play need not be able to reach all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, Select, and_, func, literal_column, select, union_all

from ggn_store.model.revision import Revision
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.possibility_rows import (
    Impossible,
    impossible,
    impossible_conditions,
    is_of,
    of_each_variant,
    of_variant,
)
from ggn_store.store.schema import tables as t

# Beside the numbers of squares; NULL would be no key to join by.
IN_HAND: Final = -1

Standing = tuple[str, int]


def reached(
    asker: Asker, revision: Revision, seeds: Iterable[Standing] | None, never: Sequence[Impossible] | None = None
) -> set[Standing]:
    """All that can come to stand: piece and number of the square, or IN_HAND.

    `seeds` are what stands at first; without them every piece stands wherever it has rules from. `never` are the rows
    of `rules.impossible`, if they have been asked for.
    """
    if seeds is None:
        seeds = [(row.piece, row.square) for row in asker.rows(_sources(revision))]
    ahead = [*set(seeds)]
    if not ahead:
        return set()
    if never is None:
        never = impossible_conditions(asker, revision)
    # A recursive query would read all changes again for each step, where the database has no index to make of them.
    changes: dict[Standing, list[Standing]] = {}
    for piece, source, made, place in asker.rows(_changes(revision, has_impossible=bool(never))):
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
        .select_from(t.SOURCES_OF_REVISIONS)
        .where(is_of(revision))
    )


def _changes(revision: Revision, *, has_impossible: bool) -> Select[Any]:
    """Which piece on which source can make which piece stand where."""
    variant = t.variant.c
    possible: FromClause = t.revision_piece.join(t.variant, variant.piece_id == t.revision_piece.c.piece_id)
    passed = is_of(revision)
    if has_impossible:
        never = impossible(revision).cte("impossible")
        possible = possible.outerjoin(never, of_variant(never))
        passed = and_(passed, never.c.variant.is_(None))
    in_hand: ColumnElement[int] = literal_column(str(IN_HAND))

    def made(table: FromClause, on: ColumnElement[bool], piece: Any, square: Any) -> Select[Any]:
        columns = variant.piece_id, variant.source, piece.label("made"), square.label("place")
        return select(*columns).select_from(possible.join(table, on)).where(passed).distinct()

    placed = made(t.effect, of_each_variant(t.effect), t.effect.c.becomes, t.effect.c.square)
    taken = made(t.hand_effect, of_each_variant(t.hand_effect), t.hand_effect.c.piece, in_hand)
    displaced = made(
        t.destination.join(t.piece, t.piece.c.id == t.destination.c.piece_id),
        t.VARIANT_OF_DESTINATION,
        t.piece.c.identifier,
        func.coalesce(t.destination.c.square, in_hand),
    )
    changes = union_all(
        placed.where(t.effect.c.becomes.is_not(None)),
        taken.where(t.hand_effect.c.delta > 0),
        displaced.where(variant.toggle.is_(None)),
    ).subquery()
    # The names of what is left: there are far fewer changes than possibilities.
    return (
        select(t.piece.c.identifier, func.coalesce(t.source.c.square, in_hand), changes.c.made, changes.c.place)
        .join(t.piece, t.piece.c.id == changes.c.piece_id)
        .join(t.source, and_(t.source.c.piece_id == changes.c.piece_id, t.source.c.ordinal == changes.c.source))
    )
