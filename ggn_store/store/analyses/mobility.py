"""What pieces can do on a board where they stand alone, and where an enemy stands on the destination.

A possibility holds on an empty board if, with its piece alone on its source, every condition comes out as it should:
off the source `must empty` does and no other `must` does, `deny empty` does not and every other `deny` does; on the
source the piece itself is seen. It captures if the same is so with some enemy on its destination and all else empty:
there `must empty`, `must` with a piece of the own side and `deny enemy` fail. No square is a destination of itself,
and nothing is captured by moving into the hand.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, literal, or_, select

from ggn_store.model.documents.contents import Leap
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.teams.revision import Revision
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.schema import tables as t


def leaps(asker: Asker, revision: Revision, *, piece: str | None = None, destination: int | None = None) -> list[Leap]:
    """The leaps of a revision in document order; all of them, or of one piece or to one square."""
    query = _tried(revision)
    if piece is not None:
        query = query.where(t.piece.c.identifier == piece)
    if destination is not None:
        query = query.where(t.destination.c.square == destination)
    tried = query.cte("tried")
    per_leap = (
        select(
            tried.c.piece,
            tried.c.source,
            tried.c.destination,
            func.max(1 - tried.c.not_quiet).label("quiet"),
            func.max(1 - tried.c.not_capture).label("capture"),
            func.count().label("possibilities"),
        )
        .group_by(tried.c.at_piece, tried.c.piece, tried.c.at_source, tried.c.source, tried.c.at_destination,
                  tried.c.destination)
        .order_by(tried.c.at_piece, tried.c.at_source, tried.c.at_destination)
    )  # fmt: skip
    return [
        Leap(row.piece, row.source, row.destination, bool(row.quiet), bool(row.capture), row.possibilities)
        for row in asker.rows(per_leap)
    ]


def _tried(revision: Revision) -> Select[Any]:
    """A row for each possibility that leads to another square, with what keeps it from being quiet, and a capture."""
    of_variant = and_(t.condition.c.piece_id == t.variant.c.piece_id, t.condition.c.variant == t.variant.c.number)
    state, polarity, square = t.condition.c.state, t.condition.c.polarity, t.condition.c.square
    on_source = and_(t.source.c.square.is_not(None), square == t.source.c.square)
    # On the source, `must` with the piece itself is refused when a document is read.
    fails_on_source = or_(
        and_(polarity == "must", state != t.piece.c.identifier), and_(polarity == "deny", state == t.piece.c.identifier)
    )
    fails_on_empty = or_(and_(polarity == "must", state != EMPTY), and_(polarity == "deny", state == EMPTY))
    fails_on_enemy = or_(
        and_(polarity == "must", state == EMPTY),
        and_(polarity == "must", _is_own(state)),
        and_(polarity == "deny", state == ENEMY),
    )

    def some(fails: ColumnElement[bool]) -> ColumnElement[int]:
        return func.max(case((t.condition.c.state.is_(None), 0), (fails, 1), else_=0))

    off_source = case((on_source, fails_on_source), else_=fails_on_empty)
    at_enemy = case(
        (on_source, fails_on_source), (square == t.destination.c.square, fails_on_enemy), else_=fails_on_empty
    )
    rule, source, destination = t.piece.c.identifier, t.source.c, t.destination.c
    places = t.revision_piece.c.ordinal, rule, source.ordinal, source.square, destination.ordinal, destination.square
    names = ("at_piece", "piece", "at_source", "source", "at_destination", "destination")
    return (
        select(
            *(column.label(name) for column, name in zip(places, names, strict=True)),
            some(off_source == literal(True)).label("not_quiet"),
            some(at_enemy == literal(True)).label("not_capture"),
        )
        .select_from(
            t.SOURCES_OF_REVISIONS.join(t.destination, t.DESTINATION_OF_SOURCE)
            .join(t.variant, t.VARIANT_OF_DESTINATION)
            .outerjoin(t.condition, of_variant)
        )
        .where(
            t.revision_piece.c.revision_id == revision.id,
            t.destination.c.square.is_not(None),
            or_(t.source.c.square.is_(None), t.source.c.square != t.destination.c.square),
        )
        .group_by(*places, t.variant.c.number)
    )


def _is_own(state: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a state is a piece of the side that moves: upper case is the first one's."""
    side = t.piece.c.side
    is_first = and_(side == "first", func.upper(state) == state)
    return and_(state.not_in((EMPTY, ENEMY)), or_(is_first, and_(side == "second", func.lower(state) == state)))
