"""The fast query over many positions in one statement, and counts that never leave the database.

    asked (a start for every piece of every position that is asked) + position_mask (the words of each position)
       -> the masks of the start, where none of them meets the position's
       -> where a row is exact, no condition on a piece by name fails

The positions are temporary rows or values, as for the reading query.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from sqlalchemy import ColumnElement, Connection, FromClause, Integer, Select, Subquery, Text, and_, func, or_, select

from ggn_store.model.position import Position
from ggn_store.store.moves import fast, mask_query
from ggn_store.store.moves import positions as state
from ggn_store.store.rulesets import masks
from ggn_store.store.schema import tables as t
from ggn_store.store.schema.tables import Id

Count = Literal["position", "piece", "destination"]
COUNTS: Final[tuple[Count, ...]] = get_args(Count)

asked = state.temporary("asked", {"position": Integer, "place": Integer, "start": Id}, "position", "place")

position_mask = state.temporary(
    "position_mask",
    {"position": Integer, "pieces": Text}
    | {f"{plane}_{word}": Id for word in range(t.MASK_WORDS) for plane in mask_query.PLANES},
    "position",
)


@dataclass(frozen=True, slots=True)
class Given:
    """What is asked, and of which positions, as relations."""

    asked: FromClause
    position_mask: FromClause


TABLES: Final = Given(asked, position_mask)


def ask(
    connection: Connection, query: fast.FastQuery, positions: Sequence[Position], looked_up: fast.LookedUp
) -> list[tuple[int, int, int]]:
    """What holds of what was not known: position, start and number, in any order."""
    starts, words = [], []
    for number, unknown in looked_up.asked().items():
        starts += [(number, place, start.key) for place, start in enumerate(unknown)]
        words.append(_words(query, number, positions[number], any(start.exact for start in unknown)))
    given = _give(connection, query, starts, words)
    if query.database.sender is None:
        return query.database.rows(connection, _found_in_tables(query.words))
    return [tuple(row) for row in connection.execute(_found(given, query.words))]


def counts(connection: Connection, query: fast.FastQuery, positions: Sequence[Position], by: Count) -> dict[Any, int]:
    """How many moves there are: by number of the position (all of them), or by piece or destination that has any."""
    held = _held(_describe(connection, query, positions), query.words)
    if by == "position":
        key: ColumnElement[Any] = held.c.position
        counted = select(key, func.count()).group_by(key)
    elif by == "piece":
        key = t.piece.c.identifier
        counted = select(key, func.count()).join_from(held, t.piece, t.piece.c.id == held.c.piece_id).group_by(key)
    else:
        key = t.destination.c.square
        counted = (
            select(key, func.count())
            .select_from(held)
            .join(t.variant, and_(t.variant.c.piece_id == held.c.piece_id, t.variant.c.number == held.c.number))
            .join(t.destination, t.VARIANT_OF_DESTINATION)
            .group_by(key)
        )
    found = {row[0]: int(row[1]) for row in connection.execute(counted)}
    if by == "position":
        return {number: found.get(number, 0) for number in range(len(positions))}
    if by == "piece":
        return found
    return {query.board.label(square): count for square, count in found.items()}


@functools.cache
def _found_in_tables(words: int) -> Select[Any]:
    return _found(TABLES, words)


def _found(given: Given, words: int) -> Select[Any]:
    held = _held(given, words)
    return select(held.c.position, held.c.start, held.c.number)


def _held(given: Given, words: int) -> Subquery:
    """position, place, start, piece and number of each possibility that holds, on boards of so many words."""
    asked, position = given.asked, given.position_mask
    number, conditions = mask_query.mask_test(words, lambda plane, word: position.c[f"{plane}_{word}"])
    failing = mask_query.failing_piece(mask_query.piece_at(position.c.pieces, t.condition.c.square))
    return (
        select(
            asked.c.position,
            asked.c.place,
            asked.c.start,
            masks.piece_of(asked.c.start).label("piece_id"),
            number.label("number"),
        )
        .select_from(asked)
        .join(position, position.c.position == asked.c.position)
        .join(t.mask, t.mask.c.start == asked.c.start)
        .where(*conditions, or_(~t.mask.c.exact, ~failing.correlate(position, t.mask).exists()))
        .subquery("held")
    )


def _describe(connection: Connection, query: fast.FastQuery, positions: Sequence[Position]) -> Given:
    """The relations for all that the positions ask."""
    starts, words = [], []
    for number, position in enumerate(positions):
        starts += [(number, place, key) for place, key in enumerate(query.starts(position))]
        words.append(_words(query, number, position, True))
    return _give(connection, query, starts, words)


def _words(query: fast.FastQuery, number: int, position: Position, with_pieces: bool) -> tuple[Any, ...]:
    pieces = query.pieces(position.board) if with_pieces else ""
    return number, pieces, *query.planes(position)


def _give(
    connection: Connection,
    query: fast.FastQuery,
    starts: Sequence[tuple[int, int, int]],
    words: Sequence[tuple[Any, ...]],
) -> Given:
    columns = [position_mask.c[name] for name in ("position", "pieces", *mask_query.plane_names(query.words))]
    return Given(
        state.given(query.database, connection, asked, starts),
        state.given(query.database, connection, position_mask, words, columns),
    )
