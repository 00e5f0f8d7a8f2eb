"""The pieces of a store in one transaction: the columns of some, once they are known to be what was stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, Select, Table, bindparam, select
from sqlalchemy.exc import DBAPIError

from ggn_store.errors import DamagedError, quote
from ggn_store.model.documents.document import MEMBERS, Digests, texts_around
from ggn_store.notation import json_text
from ggn_store.notation.hand import HAND
from ggn_store.store.bulk.piece_columns import Column, PieceColumns
from ggn_store.store.bulk.piece_tables import FARTHEST, BoardColumns, PieceTables, require
from ggn_store.store.bulk.vectors import NumberVector, Vectors, firsts
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import read_piece
from ggn_store.store.schema import tables as t

# To read a piece takes some milliseconds, however few rules it has: those of no more possibilities are read at once.
_MOST: Final = 16_384
_PIECES: Final[BindParameter[Sequence[int]]] = bindparam("pieces", expanding=True)


class Pieces:
    """The pieces of a store, for one transaction."""

    def __init__(self, database: Database, connection: Connection, vectors: Vectors) -> None:
        self._database = database
        self._connection = connection
        self._vectors = vectors
        self._places: dict[tuple[int, str | None], BoardColumns] = {}
        self._digests: dict[tuple[str, int], Digests] = {}
        self._queries = {table: database.arrays(table, table.c.piece_id.in_(_PIECES)) for table in t.PIECE_TABLES}

    def read(self, keys: Sequence[Any], views: Sequence[str], *, is_checked: bool) -> Iterator[dict[str, Column]]:
        """The columns of a group of pieces for each of these views; DamagedError where one is not what was stored.

        Whether they give their digests is only looked at where that `is_checked`; from what is read for the columns.
        """
        tables = self._tables(keys)
        for key in self._doubtful(tables) if is_checked else ():
            read_piece(self._connection, key.id, tables.place.board)
        columns = PieceColumns(tables)
        for view in views:
            try:
                yield columns.of(view)
            except (LookupError, TypeError, ValueError):
                # The first of several that is not itself so; the last where none is.
                for key in keys if len(keys) > 1 else ():
                    for _ in self.read([key], views, is_checked=False):
                        pass
                raise DamagedError(
                    f"the piece {quote(keys[-1].identifier)} is damaged, its rows are not such as this program writes: "
                    "run `ggn-store db check`"
                ) from None

    def listed(self, ruleset: str, revision: int) -> Sequence[Any]:
        """What is known of the pieces of a revision, in document order."""
        return self._connection.execute(_LISTED, {"ruleset": ruleset, "revision": revision}).all()

    def named(self, piece_ids: Sequence[int]) -> Iterator[Any]:
        """The same of these pieces."""
        for keys in catalog.batches(piece_ids):
            yield from self._connection.execute(_NAMED, {"pieces": keys})

    def constant(self, value: Any, beside: Column) -> Column:
        """A column of one value, as long as another one of these."""
        return Column([value], self._vectors.spread([0], [len(beside)]))

    def _tables(self, keys: Sequence[Any]) -> PieceTables:
        at = keys[0].board_id, keys[0].layout
        if at not in self._places:
            self._places[at] = BoardColumns.read(self._connection, *at)
        return PieceTables(self._table, self._vectors, keys, self._places[at])

    def _table(self, table: Table, piece_ids: Sequence[int]) -> dict[int, Any]:
        found = self._connection.execute(self._queries[table], {"pieces": piece_ids})
        return {piece_id: row for piece_id, *row in found}

    def _doubtful(self, tables: PieceTables) -> Sequence[Any]:
        """The pieces of which what was read does not give the digest; also those of which only the slow way tells."""
        key = tables.keys[0]
        of = key.dialect, key.board_id
        known = self._digests[of] = self._digests.get(of) or Digests(key.dialect, tables.place.board)
        try:
            return [key for key, found in zip(tables.keys, digests(tables, known), strict=True) if found != key.digest]
        except (LookupError, TypeError, ValueError):
            return tables.keys
        except DBAPIError:  # of a value that no array can hold
            if self._database.is_server:
                raise
            return tables.keys


def grouped(keys: Iterable[Any]) -> Iterator[list[Any]]:
    """What is known of pieces, in groups that can be read at once: of one dialect and board, in the order of keys."""
    group: list[Any] = []
    count, of = 0, None
    for key in keys:
        before, of = of, (key.dialect, key.board_id, key.layout)
        count += key.possibilities or _MOST  # nobody knows where nothing is derived
        if group and (of != before or key.id <= group[-1].id or count > _MOST):
            yield group
            group, count = [], key.possibilities or _MOST
        group.append(key)
    if group:
        yield group


def digests(tables: PieceTables, known: Digests) -> list[str]:
    """The digests of what the tables hold."""
    dialect = tables.keys[0].dialect
    has_effects = dialect != "must-deny"
    toggle, words = tables.coded(t.variant, "toggle")
    require(all(word in (0, 1) if has_effects else word is None for word in words))
    require(dialect != "perform" or all(words))
    require(has_effects or len(tables.changes.at) == 0)
    around = [texts_around(dialect, None if word is None else bool(word)) for word in words]
    texts = _texts(tables, toggle, around)
    return [known.of_text(key.identifier, text) for key, text in zip(tables.keys, texts, strict=True)]


def _texts(tables: PieceTables, toggle: NumberVector, around: Sequence[Sequence[Sequence[str]]]) -> Iterator[bytes]:
    """The JSON of the sources of pieces, put together of parts; `around` are the `texts_around` of each toggle.

    Every part is told by its possibility, its order in the text of that, and which part it is.
    """
    vectors, guards = tables.vectors, tables.state(t.guard)
    rows = vectors.up_to(tables.count)
    parts = [*_openings(tables), ","]
    is_first = firsts(vectors, tables.targets)
    opening = vectors.each(
        lambda target, is_first, comma: target * is_first + comma * (1 - is_first),
        tables.targets,
        is_first,
        _moved(vectors, rows, 0, len(parts) - 1),
    )
    most = max(len(tables.changes.helds), len(tables.state(t.state_effect).variables))
    width = 2 * max(tables.hand, most, len(guards.variables) * len(guards.values)) + 1
    found = [(rows, _moved(vectors, rows, 0), opening)]
    having, bits = 0, _moved(vectors, toggle, 1 << MEMBERS)
    for number, at, key, *halves in _members(tables):
        if len(at) == 0:
            continue
        having |= 1 << number
        none = vectors.least(at, _moved(vectors, at, 0), tables.count, 1)
        bits = vectors.each(
            lambda bits, none, bit: bits + bit * (1 - none), bits, none, _moved(vectors, rows, 0, 1 << number)
        )
        for order, (which, texts) in enumerate(halves, number * width + 2):
            found.append((at, _moved(vectors, key, 2, order), _moved(vectors, which, 1, len(parts))))
            parts += texts
    for number in range(MEMBERS + 1):
        texts = [each[number] for of_toggle in around for each in of_toggle]
        if any(text for at, text in enumerate(texts) if not at % (1 << MEMBERS) & ~having):
            order = number * width + 1
            found.append((rows, _moved(vectors, rows, 0, order), _moved(vectors, bits, 1, len(parts))))
            parts += texts
    orders, most = (MEMBERS + 1) * width + 2, len(parts)
    require(tables.count * orders * most < FARTHEST)
    keys = [vectors.each(lambda at, order, part: (at * orders + order) * most + part, *columns) for columns in found]
    key = vectors.sorted(vectors.joined(*keys))
    bounds = vectors.bounds(key, [start * orders * most for start in tables.starts(t.variant)])
    for text in vectors.texts(parts, vectors.each(lambda key: key % most, key), bounds):
        yield b"%b]}" % text if text else text


def _members(tables: PieceTables) -> Iterator[tuple[Any, ...]]:
    """The members of possibilities, by the numbers of their kinds in `texts_around`.

    Of each kind whose each one is, its order in that, and of both its halves which texts they are, and these.
    """
    vectors, conditions, changes = tables.vectors, tables.conditions, tables.changes
    state, guards = tables.state(t.state_effect), tables.state(t.guard)
    action, actions = tables.coded(t.variant_origin, "action")
    step, steps = tables.coded(t.variant_origin, "step")
    chainable, words = tables.coded(t.variant_origin, "chainable")
    require(all(type(step) is int for step in steps) and all(word in (0, 1) for word in words))
    at = tables.possibilities(t.variant_origin)
    value = vectors.each(lambda step, word: step * max(len(words), 1) + word, step, chainable)
    ends = [f"{step}{_CHAINABLE if word else ''}" for step in steps for word in words]
    names = [f'"name":{json_text.compact(name)},"step":' for name in actions]
    yield 0, at, _moved(vectors, at, 0), (action, names), (value, ends)
    at, named = guards.at, guards.variable
    key = vectors.each(lambda name, value: name * len(guards.values) + value, named, guards.value)
    of_name = vectors.each(lambda at, name: at * len(guards.variables) + name, at, named)
    head = vectors.each(lambda name, *new: 3 * name + sum(new), named, firsts(vectors, of_name), firsts(vectors, at))
    heads = [head for name in map(json_text.compact, guards.variables) for head in (",", f"],{name}:[", f"{name}:[")]
    yield 1, at, key, (head, heads), (guards.value, map(json_text.compact, guards.values))
    for number, of, mask, name, labels, value, values in (
        (2, conditions, _not(vectors, conditions.is_deny), "square", tables.ordered, "state", conditions.states),
        (3, conditions, conditions.is_deny, "square", tables.ordered, "state", conditions.states),
        (4, changes, _not(vectors, changes.is_hand), "square", tables.ordered, "becomes", changes.pieces),
        (5, changes, changes.is_hand, "held", changes.helds, "delta", changes.deltas),
        (6, state, _moved(vectors, state.at, 0, 1), "variable", state.variables, "value", state.values),
    ):
        at, key, said = (vectors.chosen(getattr(of, column), mask) for column in ("at", name, value))
        head = vectors.each(lambda key, is_first: 2 * key + is_first, key, firsts(vectors, at))
        heads = [f"{comma}{json_text.compact(label)}:" for label in labels for comma in (",", "")]
        yield number, at, key, (head, heads), (said, map(json_text.compact, values))


def _moved(vectors: Vectors, vector: NumberVector, factor: int, difference: int = 0) -> NumberVector:
    return vectors.each(lambda value: value * factor + difference, vector)


def _not(vectors: Vectors, mask: NumberVector) -> NumberVector:
    return _moved(vectors, mask, -1, 1)


def _openings(tables: PieceTables) -> list[str]:
    """What comes in the text of a piece before the possibilities of each destination."""
    vectors = tables.vectors
    labels = [json_text.compact(label) for label in (*tables.squares, HAND)]
    sources, targets = map(vectors.plain, (tables.sources, tables.destinations))
    require(vectors.same(tables.targets, vectors.sorted(tables.targets)))
    firsts_of = []
    for table, of, count in (
        (t.variant, tables.targets, len(targets)),
        (t.destination, tables.numbers(t.destination, "source"), len(sources)),
    ):
        rows = vectors.up_to(len(of))
        is_first = firsts(vectors, of)
        begins = vectors.chosen(rows, is_first)
        require(len(begins) == count)  # none is without possibilities
        before = vectors.take(begins, of)
        ordinals = tables.numbers(table, "ordinal")
        require(vectors.same(ordinals, vectors.each(lambda row, first: row - first, rows, before)))
        firsts_of.append(vectors.plain(begins))
    found = [f"],{labels[target]}:[" for target in targets]
    of_pieces = {*tables.starts(t.destination)}
    for source, first in zip(sources, firsts_of[1], strict=True):
        found[first] = f"{'' if first in of_pieces else ']},'}{labels[source]}:{{{labels[targets[first]]}:["
    return found


_CHAINABLE: Final = ',"chainable":true'

_KNOWN: Final = (
    *(t.piece.c[name] for name in ("id", "board_id", "dialect", "digest", "identifier", "side")),
    t.piece_facts.c.layout,
    t.piece_summary.c.possibilities,
)
_WITH_DERIVED: Final = t.piece.outerjoin(t.piece_facts).outerjoin(
    t.piece_summary, t.piece_summary.c.piece_id == t.piece.c.id
)
_NAMED: Final[Select[Any]] = (
    select(*_KNOWN).select_from(_WITH_DERIVED).where(t.piece.c.id.in_(_PIECES)).order_by(t.piece.c.id)
)
_LISTED: Final[Select[Any]] = (
    select(*_KNOWN)
    .select_from(
        _WITH_DERIVED.join(t.revision_piece, t.revision_piece.c.piece_id == t.piece.c.id)
        .join(t.revision, t.revision.c.id == t.revision_piece.c.revision_id)
        .join(t.ruleset, t.ruleset.c.id == t.revision.c.ruleset_id)
    )
    .where(t.ruleset.c.name == bindparam("ruleset"), t.revision.c.number == bindparam("revision"))
    .order_by(t.revision_piece.c.ordinal)
)
