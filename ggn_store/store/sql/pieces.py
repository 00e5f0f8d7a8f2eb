"""The pieces of a store in one transaction: the columns of each, once it is known to be what was stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, repeat
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, Table, bindparam, select
from sqlalchemy.exc import DBAPIError

from ggn_store.errors import DamagedError, quote
from ggn_store.model.documents.document import Digests
from ggn_store.notation.hand import HAND
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets.pieces import read_piece
from ggn_store.store.schema import tables as t
from ggn_store.store.sql.piece_columns import Column, PieceColumns
from ggn_store.store.sql.piece_tables import BoardColumns, PieceTables, require
from ggn_store.store.sql.vectors import Vector, Vectors

_PIECE: Final[BindParameter[int]] = bindparam("piece")


class Pieces:
    """The pieces of a store, for one transaction."""

    def __init__(self, database: Database, connection: Connection, vectors: Vectors) -> None:
        self._database = database
        self._connection = connection
        self._vectors = vectors
        self._places: dict[tuple[int, str | None], BoardColumns] = {}
        self._digests: dict[tuple[str, int], Digests] = {}
        self._queries = {table: database.arrays(table, table.c.piece_id == _PIECE) for table in t.PIECE_TABLES}

    def read(self, piece_id: int, views: Iterable[str], *, is_checked: bool) -> Iterator[dict[str, Column]]:
        """The columns of a piece for each of these views; raises DamagedError where it is not what was stored.

        Whether it gives its digest is only looked at where that `is_checked`; from what is read for its columns.
        """
        key = self._connection.execute(_KEPT, {"piece": piece_id}).one()
        at = key.board_id, key.layout
        if at not in self._places:
            self._places[at] = BoardColumns.read(self._connection, *at)
        place = self._places[at]
        tables = PieceTables(self._table, self._vectors, key, place)
        if is_checked and not self._is_sound(tables):
            read_piece(self._connection, piece_id, place.board)
        piece = PieceColumns(tables)
        for view in views:
            try:
                yield piece.of(view)
            except (LookupError, TypeError, ValueError):
                raise DamagedError(
                    f"the piece {quote(key.identifier)} is damaged, its rows are not such as this program writes: run "
                    "`ggn-store db check`"
                ) from None

    def listed(self, ruleset: str, revision: int) -> Sequence[int]:
        """The keys of the pieces of a revision, in document order."""
        return self._connection.execute(_LISTED, {"ruleset": ruleset, "revision": revision}).scalars().all()

    def _table(self, table: Table, piece_id: int) -> Any:
        return self._connection.execute(self._queries[table], {"piece": piece_id}).one()

    def _is_sound(self, tables: PieceTables) -> bool:
        """Whether what was read gives the digest; False also where only the slow way tells."""
        key = tables.key
        if key.dialect == "gdl":
            return False
        of = key.dialect, key.board_id
        digests = self._digests[of] = self._digests.get(of) or Digests(key.dialect, tables.place.board)
        try:
            return bool(digest(tables, digests) == key.digest)
        except (LookupError, TypeError, ValueError):
            return False
        except DBAPIError:  # of a value that no array can hold
            if self._database.is_server:
                raise
            return False


def digest(tables: PieceTables, digests: Digests) -> str:
    """The digest of what the tables hold, which are not of the dialect `gdl`."""
    has_effects = tables.key.dialect != "must-deny"
    toggle, words = tables.coded(t.variant, "toggle")
    require(all(word in (0, 1) if has_effects else word is None for word in words))
    require(tables.key.dialect != "perform" or all(words))
    toggles = [None if word is None else bool(word) for word in words]
    conditions, changes = tables.conditions, tables.changes
    require(has_effects or len(changes.at) == 0)
    musts, of_board = (
        tables.vectors.each(lambda is_second: 1 - is_second, each) for each in (conditions.is_deny, changes.is_hand)
    )

    def states(mask: Vector) -> Iterable[str]:
        square = Column(tables.ordered, conditions.square), Column(conditions.states, conditions.state)
        return _members(tables, digests, conditions.at, mask, *square)

    placed = Column((*tables.ordered, None), changes.square), Column((*changes.pieces, None), changes.becomes)
    deltas = [*changes.deltas, None]
    held = Column((*changes.helds, None), changes.held), Column(deltas, changes.delta)
    return digests.of_members(
        tables.key.identifier,
        _places(tables),
        states(musts),
        states(conditions.is_deny),
        _members(tables, digests, changes.at, of_board, *placed),
        _members(tables, digests, changes.at, changes.is_hand, *held),
        map(toggles.__getitem__, tables.vectors.plain(toggle)),
    )


def _members(
    tables: PieceTables, digests: Digests, at: Vector, mask: Vector, keys: Column, values: Column
) -> Iterable[str]:
    """Of each possibility the members of an object, from the columns of their keys and values."""
    vectors = tables.vectors
    at = vectors.chosen(at, mask)
    if len(at) == 0:
        return repeat("")
    width = len(values.values or ())
    pairs = vectors.plain(
        vectors.each(
            lambda key, value: key * width + value, vectors.chosen(keys.at, mask), vectors.chosen(values.at, mask)
        )
    )
    names, said = keys.values or (), values.values or ()
    known = {pair: digests.member(names[pair // width], said[pair % width]) for pair in set(pairs)}
    texts = list(map(known.__getitem__, pairs))
    return [",".join(texts[first:last]) for first, last in pairwise(vectors.bounds(at, tables.count))]


def _places(tables: PieceTables) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """The sources in order, each with its destinations and how many possibilities these have."""
    vectors, labels = tables.vectors, (*tables.squares, HAND)
    sources, targets = map(vectors.plain, (tables.sources, tables.labels(t.destination)))
    require(vectors.same(tables.targets, vectors.sorted(tables.targets)))
    variants = vectors.bounds(tables.targets, len(targets))
    destinations = vectors.bounds(tables.numbers(t.destination, "source"), len(sources))
    for table, of, bounds in (
        (t.variant, tables.targets, variants),
        (t.destination, tables.numbers(t.destination, "source"), destinations),
    ):
        ordinals = tables.numbers(table, "ordinal")
        rows = vectors.up_to(len(ordinals))
        firsts = vectors.take(bounds, of)
        require(vectors.same(ordinals, vectors.each(lambda row, first: row - first, rows, firsts)))
    for number, source in enumerate(sources):
        listed = range(destinations[number], destinations[number + 1])
        yield labels[source], [(labels[targets[each]], variants[each + 1] - variants[each]) for each in listed]


_LISTED: Final = (
    select(t.revision_piece.c.piece_id)
    .select_from(
        t.revision_piece.join(t.revision, t.revision.c.id == t.revision_piece.c.revision_id).join(
            t.ruleset, t.ruleset.c.id == t.revision.c.ruleset_id
        )
    )
    .where(t.ruleset.c.name == bindparam("ruleset"), t.revision.c.number == bindparam("revision"))
    .order_by(t.revision_piece.c.ordinal)
)
_KEPT: Final = (
    select(
        *(t.piece.c[name] for name in ("id", "board_id", "dialect", "digest", "identifier", "side")),
        t.piece_facts.c.layout,
    )
    .outerjoin_from(t.piece, t.piece_facts)
    .where(t.piece.c.id == _PIECE)
)
