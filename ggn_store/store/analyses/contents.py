"""All rows of pieces, for what is computed of whole pieces: a statement a table, however many pieces there are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Table, Text, and_, cast, func, select

from ggn_store.model.contents import Contents
from ggn_store.model.revision import Revision
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.schema import tables as t


class Member(NamedTuple):
    """A piece of a revision, in document order."""

    revision_id: int
    piece_id: int
    piece: str
    digest: str
    board_id: int


def members(asker: Asker, revisions: Iterable[Revision]) -> list[Member]:
    """The pieces of revisions, those of one together; the order of the revisions is that of their ids."""
    query = (
        select(
            t.revision_piece.c.revision_id, t.piece.c.id, t.piece.c.identifier, t.piece.c.digest, t.revision.c.board_id
        )
        .join(t.piece, t.piece.c.id == t.revision_piece.c.piece_id)
        .join(t.revision, t.revision.c.id == t.revision_piece.c.revision_id)
        .where(t.revision_piece.c.revision_id.in_([revision.id for revision in revisions]))
        .order_by(t.revision_piece.c.revision_id, t.revision_piece.c.ordinal)
    )
    return [Member(*row) for row in asker.rows(query)]


def contents(asker: Asker, revisions: Sequence[Revision], *, with_effects: bool = True) -> Iterator[Contents]:
    """The rows of each piece of revisions, once, by id; one piece in memory at a time.

    Without effects there are no guards and origins either.
    """
    keys = [revision.id for revision in revisions]
    queries = [_possibilities(keys), _lines(t.condition, keys, "polarity", "square", "state")]
    if with_effects:
        queries += [_lines(t.effect, keys, "square", "becomes"), _lines(t.hand_effect, keys, "piece", "delta")]
    if with_effects and any(revision.dialect == "gdl" for revision in revisions):
        queries += [
            _rows(t.guard, keys, "variable", "value"),
            _rows(t.state_effect, keys, "variable", "value"),
            _rows(t.variant_origin, keys, "action", "chainable"),
        ]
    parts = [_by_piece(asker.stream(query)) for query in queries]
    ahead = [next(part, None) for part in parts]
    while ahead[0] is not None:
        piece_id = ahead[0][0]
        found: list[Any] = []
        for number, part in enumerate(parts):
            each = ahead[number]
            if each is None or each[0] != piece_id:
                found.append([])
            else:
                found.append(each[1])
                ahead[number] = next(part, None)
        yield Contents(piece_id, *found, *([[]] * (len(Contents._fields) - 1 - len(found))))


def _by_piece(parts: Iterable[Sequence[Any]]) -> Iterator[tuple[int, list[Any]]]:
    """The rows of each piece; as `groupby` would, but without looking at every row."""
    of_row = itemgetter(0)
    piece_id: int | None = None
    rows: list[Any] = []
    for part in parts:
        begin = 0
        while begin < len(part):
            key = of_row(part[begin])
            end = len(part) if of_row(part[-1]) == key else bisect_right(part, key, begin, key=of_row)
            if key != piece_id:
                if piece_id is not None:
                    yield piece_id, rows
                piece_id, rows = key, []
            rows += part[begin:end]
            begin = end
    if piece_id is not None:
        yield piece_id, rows


def _possibilities(keys: list[int]) -> Select[Any]:
    variant = t.variant.c
    return (
        select(
            variant.piece_id, t.source.c.square, t.destination.c.square, variant.ordinal, variant.number, variant.toggle
        )
        .join(t.source, and_(t.source.c.piece_id == variant.piece_id, t.source.c.ordinal == variant.source))
        .join(
            t.destination,
            and_(
                t.destination.c.piece_id == variant.piece_id,
                t.destination.c.source == variant.source,
                t.destination.c.ordinal == variant.destination,
            ),
        )
        .where(variant.piece_id.in_(_pieces(keys)))
        .order_by(variant.piece_id, variant.source, variant.destination, variant.ordinal)
    )


def _lines(table: Table, keys: list[int], *columns: str) -> Select[Any]:
    # One text a possibility is quicker to bring over, and to split, than as many rows.
    parts: list[ColumnElement[str]] = [func.coalesce(cast(table.c[name], Text), "") for name in columns]
    line = reduce(lambda text, part: text.concat(" ").concat(part), parts)
    found = select(table.c.piece_id, table.c.variant, func.aggregate_strings(line, "\n"))
    return (
        found.where(table.c.piece_id.in_(_pieces(keys)))
        .group_by(table.c.piece_id, table.c.variant)
        .order_by(table.c.piece_id, table.c.variant)
    )


def _rows(table: Table, keys: list[int], *columns: str) -> Select[Any]:
    found = select(table.c.piece_id, table.c.variant, *(table.c[name] for name in columns))
    return found.where(table.c.piece_id.in_(_pieces(keys))).order_by(table.c.piece_id, table.c.variant)


def _pieces(keys: list[int]) -> Select[Any]:
    return select(t.revision_piece.c.piece_id).where(t.revision_piece.c.revision_id.in_(keys))
