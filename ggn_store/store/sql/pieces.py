"""The pieces of a store in one transaction: the columns of each, once it is known to be what was stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, Table, bindparam, select
from sqlalchemy.exc import DBAPIError

from ggn_store.errors import DamagedError, quote
from ggn_store.model.documents.document import Digests
from ggn_store.notation import json_text
from ggn_store.notation.hand import HAND
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets.pieces import read_piece
from ggn_store.store.schema import tables as t
from ggn_store.store.sql.piece_columns import Column, PieceColumns
from ggn_store.store.sql.piece_tables import FARTHEST, BoardColumns, PieceTables, require
from ggn_store.store.sql.vectors import Vector, Vectors, firsts

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
    require(has_effects or len(tables.changes.at) == 0)
    around = [digests.around(None if word is None else bool(word)) for word in words]
    return digests.of_text(tables.key.identifier, _text(tables, toggle, around))


def _text(tables: PieceTables, toggle: Vector, around: Sequence[Sequence[Sequence[str]]]) -> bytes:
    """The JSON of the sources of a piece, put together of parts; `around` are, for each toggle, the texts of `Digests`.

    Every part is told by its possibility, its order in the text of that, and which part it is.
    """
    vectors, conditions, changes = tables.vectors, tables.conditions, tables.changes
    rows = vectors.up_to(tables.count)
    parts = [*_openings(tables), ","]
    is_first = firsts(vectors, tables.targets)
    opening = vectors.each(
        lambda target, is_first, comma: target * is_first + comma * (1 - is_first),
        tables.targets,
        is_first,
        _moved(vectors, rows, 0, len(parts) - 1),
    )
    width = 2 * max(tables.hand, len(changes.helds)) + 1
    found = [(rows, _moved(vectors, rows, 0), opening)]
    having, bits = 0, _moved(vectors, toggle, 1 << _MEMBERS)
    for number, (of, mask, name, names, value, values) in enumerate(
        (
            (conditions, _not(vectors, conditions.is_deny), "square", tables.ordered, "state", conditions.states),
            (conditions, conditions.is_deny, "square", tables.ordered, "state", conditions.states),
            (changes, _not(vectors, changes.is_hand), "square", tables.ordered, "becomes", changes.pieces),
            (changes, changes.is_hand, "held", changes.helds, "delta", changes.deltas),
        )
    ):
        at, key, said = (vectors.chosen(getattr(of, column), mask) for column in ("at", name, value))
        if len(at) == 0:
            continue
        having |= 1 << number
        none = vectors.least(at, _moved(vectors, at, 0), tables.count, 1)
        bits = vectors.each(
            lambda bits, none, bit: bits + bit * (1 - none), bits, none, _moved(vectors, rows, 0, 1 << number)
        )
        order = number * width + 2
        keys = vectors.each(lambda key, is_first: 2 * key + is_first, key, firsts(vectors, at))
        found.append((at, _moved(vectors, key, 2, order), _moved(vectors, keys, 1, len(parts))))
        parts += [f"{comma}{json_text.compact(label)}:" for label in names for comma in (",", "")]
        found.append((at, _moved(vectors, key, 2, order + 1), _moved(vectors, said, 1, len(parts))))
        parts += map(json_text.compact, values)
    for number in range(_MEMBERS + 1):
        texts = [each[number] for of_toggle in around for each in of_toggle]
        if any(text for at, text in enumerate(texts) if not at % (1 << _MEMBERS) & ~having):
            order = number * width + 1
            found.append((rows, _moved(vectors, rows, 0, order), _moved(vectors, bits, 1, len(parts))))
            parts += texts
    orders, most = (_MEMBERS + 1) * width + 2, len(parts)
    require(tables.count * orders * most < FARTHEST)
    keys = [vectors.each(lambda at, order, part: (at * orders + order) * most + part, *columns) for columns in found]
    which = vectors.each(lambda key: key % most, vectors.sorted(vectors.joined(*keys)))
    text = vectors.text(parts, which)
    return b"%b]}" % text if tables.count else text


def _moved(vectors: Vectors, vector: Vector, factor: int, difference: int = 0) -> Vector:
    return vectors.each(lambda value: value * factor + difference, vector)


def _not(vectors: Vectors, mask: Vector) -> Vector:
    return _moved(vectors, mask, -1, 1)


def _openings(tables: PieceTables) -> list[str]:
    """What comes in the text of a piece before the possibilities of each destination."""
    vectors = tables.vectors
    labels = [json_text.compact(label) for label in (*tables.squares, HAND)]
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
        begins = vectors.take(bounds, of)
        require(vectors.same(ordinals, vectors.each(lambda row, first: row - first, rows, begins)))
    # None is without possibilities.
    require(all(first < last for bounds in (variants, destinations) for first, last in pairwise(bounds)))
    found = [f"],{labels[target]}:[" for target in targets]
    for source, first in zip(sources, destinations, strict=False):
        found[first] = f"{']},' if first else ''}{labels[source]}:{{{labels[targets[first]]}:["
    return found


# Of how many kinds members are: `must`, `deny`, squares and hands.
_MEMBERS: Final = 4

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
