"""Rows -> pieces, with a row for each possibility and table, and equal parts as one object.

A reader that is strict takes nothing for granted: a piece comes out of it only where every value of its rows is one
that `load.flatten` writes, so that the same rows come out of the piece again. Others hold rows to the digest alone.
"""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, Table, Text, bindparam, cast, func, select, type_coerce
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from ggn_store.errors import DamagedError, quote
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Destination, Dialect, Digests, Origin, Piece, Possibility, Source
from ggn_store.notation.hand import HAND
from ggn_store.notation.stn import Transition
from ggn_store.store.schema import tables as t

# So many different parts are kept, in order not to make the next one that is equal.
_MOST: Final = 200_000

# Tables that the documents of a dialect say nothing for.
_OF_GDL: Final = (t.variant_origin, t.guard, t.state_effect)
_FOREIGN: Final[dict[str, tuple[Table, ...]]] = {
    "perform": (t.hand_effect, *_OF_GDL),
    "must-deny": (t.effect, t.hand_effect, *_OF_GDL),
    "diff": _OF_GDL,
    "gdl": (),
}
# What no possibility has anything of, and of several tables.
_NOTHING: Final = repeat(None)
_NO_MORE: Final = (None,) * 4
# The rows of pieces in each table, by the key of the piece: of places one by one, others as a text a possibility.
PieceRows = Mapping[Table, Mapping[int, Sequence[Any]]]


class _gathered(FunctionElement[str]):  # noqa: N801  (as functions of SQL are written)
    """Some columns of all rows of a group as one text: JSON, an array for each row."""

    type = Text()
    inherit_cache = True


@compiles(_gathered, "sqlite")
def _of_sqlite(element: _gathered, compiler: Any, **options: Any) -> str:
    return str(compiler.process(func.json_group_array(func.json_array(*element.clauses)), **options))


@compiles(_gathered, "postgresql")
def _of_postgres(element: _gathered, compiler: Any, **options: Any) -> str:
    return str(compiler.process(cast(func.json_agg(func.json_build_array(*element.clauses)), Text), **options))


class NotOursError(ValueError):
    """Rows that this program never writes."""


def _require(is_ours: bool) -> None:
    if not is_ours:
        raise NotOursError


def _typed(value: object, kind: type) -> Any:
    """A value of this type and no other, not even of one that is equal."""
    _require(type(value) is kind)
    return value


def _flag(value: object) -> bool:
    """What true and false are stored as: of each database its own."""
    _require(value in (0, 1) and not isinstance(value, float))
    return bool(value)


def as_stored(table: Table) -> list[ColumnElement[Any]]:
    """The columns of a table without types, which would take whatever SQLite has for true or false."""
    return [type_coerce(each, NullType()).label(each.name) for each in table.columns]


@functools.cache
def _of_all(table: Table) -> Select[Any]:
    piece_id, *columns = table.columns
    if table not in _DETAILS:
        return select(*as_stored(table)).order_by(*table.primary_key)
    number, *columns = columns
    return select(piece_id, number, _gathered(*columns)).group_by(piece_id, number)


@functools.cache
def _of_pieces(table: Table) -> Select[Any]:
    return _of_all(table).where(table.c.piece_id.in_(bindparam("pieces", expanding=True)))


@functools.cache
def _of_source(table: Table) -> Select[Any]:
    """The rows that a piece has in one of its tables for one source, which may be the hand."""
    piece = bindparam("piece", type_=t.piece.c.id.type)
    is_source = t.source.c.square.is_not_distinct_from(bindparam("square", type_=t.source.c.square.type))
    ordinal = select(t.source.c.ordinal).where(t.source.c.piece_id == piece, is_source).scalar_subquery()
    variants = select(t.variant.c.number).where(t.variant.c.piece_id == piece, t.variant.c.source == ordinal)
    if table is t.source:
        where = is_source
    elif table in (t.destination, t.variant):
        where = table.c.source == ordinal
    else:
        where = table.c.variant.in_(variants)
    return _of_all(table).where(table.c.piece_id == piece, where)


def _ask(
    connection: Connection, tables: Iterable[Table], query: Callable[[Table], Select[Any]], given: Mapping[str, Any]
) -> PieceRows:
    found: dict[Table, defaultdict[int, list[Any]]] = {}
    try:
        for table in tables:
            of_pieces = found[table] = defaultdict(list)
            for piece_id, *row in connection.execute(query(table), given):
                of_pieces[piece_id].append(row)
    except DBAPIError as error:
        if error.connection_invalidated or getattr(error.orig, "sqlstate", None) is not None:
            raise  # of Postgres, whose columns hold nothing that cannot be gathered
        # Of a value that is no text, or of something worse, which comes again.
        for table in t.PIECE_TABLES:
            connection.execute(select(table)).all()
        raise NotOursError from error
    return found


def rows_of(connection: Connection, piece_ids: Sequence[int]) -> PieceRows:
    """The rows of pieces, with one question a table, however many they are."""
    return _ask(connection, t.PIECE_TABLES, _of_pieces, {"pieces": piece_ids})


class Reader:
    """Pieces of one dialect on one board."""

    def __init__(self, dialect: Dialect, board: Board, *, is_strict: bool = False) -> None:
        self.board = board
        self.dialect: Dialect = dialect
        self.digests = Digests(dialect, board)
        self.is_strict = is_strict
        self._parts: dict[str, dict[str, Any]] = defaultdict(dict)
        self._effects: dict[tuple[Any, ...], Transition] = {}

    def piece(self, rows: PieceRows, piece_id: int, identifier: str) -> Piece:
        """A piece; raises ValueError, TypeError or LookupError where its rows are not those of any."""
        sources, destinations, variants = (rows.get(each, {}).get(piece_id, ()) for each in _PLACES)
        numbers = [row[3] for row in variants]
        columns = [self._column(table, rows.get(table, {}).get(piece_id, ()), numbers) for table in _DETAILS]
        self._require_ours(numbers == list(range(len(numbers))))
        possibilities = self._possibilities([row[4] for row in variants], columns)
        of_places: defaultdict[tuple[int, int], list[Possibility]] = defaultdict(list)
        for (source, destination, ordinal, _, _), possibility in zip(variants, possibilities, strict=False):
            place = of_places[source, destination]
            self._require_ours(ordinal == len(place))
            place.append(possibility)
        of_sources: defaultdict[int, list[Destination]] = defaultdict(list)
        for source, ordinal, square in destinations:
            self._require_ours(ordinal == len(of_sources[source]))
            listed = tuple(of_places.pop((source, ordinal), ()))
            of_sources[source].append(Destination(self._label(square), listed))
        read: list[Source] = []
        for ordinal, square in sources:
            self._require_ours(ordinal == len(read))
            read.append(Source(self._label(square), tuple(of_sources.pop(ordinal, ()))))
        self._require_ours(not of_places and not of_sources)
        return Piece(identifier, tuple(read))

    @property
    def is_full(self) -> bool:
        """Whether it has read so much that another one is to read on."""
        return len(self._effects) + sum(map(len, self._parts.values())) > _MOST

    def _require_ours(self, is_ours: bool) -> None:
        """What a digest does not tell."""
        _require(is_ours or not self.is_strict)

    def _label(self, square: Any) -> str:
        return HAND if square is None else self._square(square)

    def _square(self, square: Any) -> str:
        number: int = _typed(square, int)
        _require(number >= 0)
        return self.board.squares[number]

    def _column(self, table: Table, rows: Sequence[Any], numbers: Sequence[int]) -> Any:
        """What possibilities have in a table, as texts in their order."""
        if not rows:
            return _NOTHING
        column = list(map(dict(rows).get, numbers))
        self._require_ours(table not in _FOREIGN[self.dialect] and len(column) - column.count(None) == len(rows))
        return column

    def _possibilities(self, toggles: Sequence[object], columns: Sequence[Any]) -> Iterator[Possibility]:
        """Possibilities in their order, from what they have in each table."""
        nothing: Mapping[str, Any] = {}
        conditions, boards, *others = columns
        rest = zip(*others, strict=True) if any(each is not _NOTHING for each in others) else repeat(_NO_MORE)
        for toggle, condition, board, more in zip(toggles, conditions, boards, rest, strict=False):
            must, deny = self._part(t.condition, condition or "[]")
            hands, origin, guards, state = more
            effects = None
            if toggle is None:
                self._require_ours(board is hands is state is None)
            else:
                effects = self._effects.get((toggle, board, hands, state))
                if effects is None:
                    effects = self._changes(toggle, board, hands, state)
            if origin is guards is None:
                yield Possibility(must, deny, effects)
            else:
                made = None if origin is None else self._part(t.variant_origin, origin)
                yield Possibility(must, deny, effects, nothing if guards is None else self._part(t.guard, guards), made)

    def _changes(self, toggle: object, *texts: str | None) -> Transition:
        tables = (t.effect, t.hand_effect, t.state_effect)
        board, hands, state = (self._part(table, text or "[]") for table, text in zip(tables, texts, strict=True))
        made = self._effects[toggle, *texts] = Transition(board, hands, _flag(toggle), state)
        return made

    def _part(self, table: Table, text: str) -> Any:
        parts = self._parts[table.name]
        part = parts.get(text)
        if part is None:
            # In the order of their keys, which no group has.
            part = parts[text] = _DETAILS[table](self, sorted(json.loads(text)))
        return part

    # --- what the rows of a possibility in a table say ---

    def _conditions(self, rows: Sequence[Any]) -> tuple[dict[str, str], dict[str, str]]:
        found: dict[str, dict[str, str]] = {"must": {}, "deny": {}}
        for polarity, square, state in rows:
            found[polarity][self._square(square)] = _typed(state, str)
        self._require_ours(sum(map(len, found.values())) == len(rows))
        return found["must"], found["deny"]

    def _board(self, rows: Sequence[Any]) -> dict[str, str | None]:
        return {self._square(square): None if becomes is None else _typed(becomes, str) for square, becomes in rows}

    def _hands(self, rows: Sequence[Any]) -> dict[str, int]:
        return {_typed(held, str): _typed(delta, int) for held, delta in rows}

    def _origin(self, rows: Sequence[Any]) -> Origin:
        [(action, step, chainable)] = rows
        return Origin(_typed(action, str), _typed(step, int), _flag(chainable))

    def _guards(self, rows: Sequence[Any]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for variable, value in ((_typed(variable, str), _typed(value, str)) for variable, value in rows):
            found[variable] = (*found.get(variable, ()), value)
        return found

    def _state(self, rows: Sequence[Any]) -> dict[str, str]:
        return {_typed(variable, str): _typed(value, str) for variable, value in rows}


_DETAILS: Final[dict[Table, Callable[[Reader, Sequence[Any]], Any]]] = {
    t.condition: Reader._conditions,
    t.effect: Reader._board,
    t.hand_effect: Reader._hands,
    t.variant_origin: Reader._origin,
    t.guard: Reader._guards,
    t.state_effect: Reader._state,
}


def reader_of(before: Reader | None, dialect: Dialect, board: Board, *, is_strict: bool = False) -> Reader:
    """A reader of a dialect and board: the one before where it is that, and has not read too much already."""
    if before is not None and (before.board, before.dialect) == (board, dialect) and not before.is_full:
        return before
    return Reader(dialect, board, is_strict=is_strict)


_PLACES: Final = (t.source, t.destination, t.variant)
_KEPT: Final = select(*(t.piece.c[name] for name in ("id", "identifier", "dialect", "digest")))


def read_piece(connection: Connection, piece_id: int, board: Board) -> Piece:
    """A piece from its rows; raises DamagedError where these are not those that were stored."""
    return next(read_each(connection, [piece_id], board))


def read_each(connection: Connection, piece_ids: Iterable[int], board: Board) -> Iterator[Piece]:
    """Pieces of one board, one after the other, as `read_piece` reads them."""
    reader: Reader | None = None
    for piece_id in piece_ids:
        row = connection.execute(_KEPT.where(t.piece.c.id == piece_id)).one()
        reader = reader_of(reader, row.dialect, board)
        yield verified(connection, row, reader)


def verified(connection: Connection, row: Any, reader: Reader, rows: PieceRows | None = None) -> Piece:
    """A piece of a row of the table, from its rows; raises DamagedError unless they give the digest of that row."""
    try:
        piece = reader.piece(rows_of(connection, [row.id]) if rows is None else rows, row.id, row.identifier)
        if reader.digests.of(piece) == row.digest:
            return piece
    except (LookupError, TypeError, ValueError):  # of what the rows hold instead
        pass
    lists = t.ruleset.join(t.revision).join(t.revision_piece, t.revision_piece.c.revision_id == t.revision.c.id)
    listing = select(t.ruleset.c.name).select_from(lists).where(t.revision_piece.c.piece_id == row.id).distinct()
    names = ", ".join(connection.execute(listing.order_by(t.ruleset.c.name).limit(5)).scalars())
    raise DamagedError(
        f"{names or 'in no ruleset'}: the piece {quote(row.identifier)} is damaged, its rows do not give its digest "
        f"{row.digest}"
    )


def read_outline(connection: Connection, piece_id: int, identifier: str, reader: Reader) -> Piece:
    """A piece without its possibilities: its sources, and their destinations."""
    rows = _ask(connection, (t.source, t.destination), _of_pieces, {"pieces": [piece_id]})
    return reader.piece(rows, piece_id, identifier)


def read_source(connection: Connection, piece_id: int, identifier: str, reader: Reader, square: str) -> Piece:
    """A piece with what it can do from one source only, which is not held to the digest of the whole."""
    tables = [table for table in t.PIECE_TABLES if table not in _FOREIGN[reader.dialect]]
    asked = {"piece": piece_id, "square": None if square == HAND else reader.board.numbers[square]}
    return reader.piece(_ask(connection, tables, _of_source, asked), piece_id, identifier)
