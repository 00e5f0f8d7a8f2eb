"""Rows -> pieces, many of them: with a row for each possibility and table, and equal parts as one object.

It takes nothing for granted: a piece comes out of it only where every value of its rows is one that `load.flatten`
writes, so that the same rows come out of the piece again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, Table, bindparam, select

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Destination, Dialect, Digests, Origin, Piece, Possibility, Source
from ggn_store.model.documents.layout import Layout
from ggn_store.movement.facts import Deriver
from ggn_store.notation.hand import HAND
from ggn_store.notation.stn import Transition
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets.lanes import Encoder
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
_PIECE: Final[BindParameter[int]] = bindparam("piece")


_PLACES: Final = [
    select(*list(table.columns)[1:]).where(table.c.piece_id == _PIECE).order_by(*table.primary_key)
    for table in (t.variant, t.destination, t.source)
]


class NotOursError(ValueError):
    """Rows that this program never writes."""


def _require(is_ours: bool) -> None:
    if not is_ours:
        raise NotOursError


def _typed(value: object, kind: type) -> Any:
    """A value of this type and no other, not even of one that is equal."""
    _require(type(value) is kind)
    return value


class Reader:
    """Pieces of one dialect on one board."""

    def __init__(self, database: Database, dialect: Dialect, board: Board) -> None:
        self.board = board
        self.dialect: Dialect = dialect
        self.digests = Digests(dialect, board)
        self.lanes = Encoder(board)
        self._derivers: dict[Layout, Deriver] = {}
        self._parts: dict[str, dict[str, Any]] = defaultdict(dict)
        self._effects: dict[tuple[Any, ...], Transition] = {}
        self._queries = {
            table: select(table.c.variant, database.gathered(table.columns[2:]))
            .where(table.c.piece_id == _PIECE)
            .group_by(table.c.variant)
            for table in _DETAILS
        }

    def read(self, connection: Connection, piece_id: int, identifier: str) -> Piece:
        """A piece; raises ValueError, TypeError or LookupError where its rows are not those of any."""
        variants, destinations, sources = (connection.execute(each, {"piece": piece_id}).all() for each in _PLACES)
        columns = [self._details(connection, table, piece_id, len(variants)) for table in _DETAILS]
        _require([row[3] for row in variants] == list(range(len(variants))))
        possibilities = self._possibilities([row[4] for row in variants], columns)
        of_places: defaultdict[tuple[int, int], list[Possibility]] = defaultdict(list)
        for (source, destination, ordinal, _, _), possibility in zip(variants, possibilities, strict=False):
            place = of_places[source, destination]
            _require(ordinal == len(place))
            place.append(possibility)
        of_sources: defaultdict[int, list[Destination]] = defaultdict(list)
        for source, ordinal, square in destinations:
            _require(ordinal == len(of_sources[source]))
            listed = tuple(of_places.pop((source, ordinal), ()))
            of_sources[source].append(Destination(self._label(square), listed))
        read: list[Source] = []
        for ordinal, square in sources:
            _require(ordinal == len(read))
            read.append(Source(self._label(square), tuple(of_sources.pop(ordinal, ()))))
        _require(not of_places and not of_sources)
        return Piece(identifier, tuple(read))

    def deriver(self, layout: Layout) -> Deriver:
        """What derives the facts of pieces, where the board lies so."""
        if layout not in self._derivers:
            self._derivers[layout] = Deriver(self.board, layout)
        return self._derivers[layout]

    @property
    def is_full(self) -> bool:
        """Whether it has read so much that another one is to read on."""
        return len(self._effects) + sum(map(len, self._parts.values())) > _MOST

    def _label(self, square: Any) -> str:
        return HAND if square is None else self._square(square)

    def _square(self, square: Any) -> str:
        number: int = _typed(square, int)
        _require(number >= 0)
        return self.board.squares[number]

    def _details(self, connection: Connection, table: Table, piece_id: int, count: int) -> Any:
        """What the possibilities have in a table, as texts in their order."""
        found = {row[0]: row[1] for row in connection.execute(self._queries[table], {"piece": piece_id}).all()}
        if not found:
            return _NOTHING
        column = list(map(found.get, range(count)))
        _require(table not in _FOREIGN[self.dialect] and count - column.count(None) == len(found))
        return column

    def _possibilities(self, toggles: Sequence[bool | None], columns: Sequence[Any]) -> Iterator[Possibility]:
        """Possibilities in their order, from what they have in each table."""
        nothing: Mapping[str, Any] = {}
        conditions, boards, *others = columns
        rest = zip(*others, strict=True) if any(each is not _NOTHING for each in others) else repeat(_NO_MORE)
        for toggle, condition, board, more in zip(toggles, conditions, boards, rest, strict=False):
            must, deny = self._part(t.condition, condition or "[]")
            hands, origin, guards, state = more
            effects = None
            if toggle is None:
                _require(board is hands is state is None)
            else:
                effects = self._effects.get((toggle, board, hands, state))
                if effects is None:
                    effects = self._changes(toggle, board, hands, state)
            if origin is guards is None:
                yield Possibility(must, deny, effects)
            else:
                made = None if origin is None else self._part(t.variant_origin, origin)
                yield Possibility(must, deny, effects, nothing if guards is None else self._part(t.guard, guards), made)

    def _changes(self, toggle: bool, *texts: str | None) -> Transition:
        tables = (t.effect, t.hand_effect, t.state_effect)
        board, hands, state = (self._part(table, text or "[]") for table, text in zip(tables, texts, strict=True))
        made = self._effects[toggle, *texts] = Transition(board, hands, toggle, state)
        return made

    def _part(self, table: Table, text: str) -> Any:
        parts = self._parts[table.name]
        part = parts.get(text)
        if part is None:
            part = parts[text] = _DETAILS[table](self, json.loads(text))
        return part

    # --- what the rows of a possibility in a table say ---

    def _conditions(self, rows: Sequence[Any]) -> tuple[dict[str, str], dict[str, str]]:
        found: dict[str, dict[str, str]] = {"must": {}, "deny": {}}
        for polarity, square, state in rows:
            found[polarity][self._square(square)] = _typed(state, str)
        _require(sum(map(len, found.values())) == len(rows))
        return found["must"], found["deny"]

    def _board(self, rows: Sequence[Any]) -> dict[str, str | None]:
        return {self._square(square): None if becomes is None else _typed(becomes, str) for square, becomes in rows}

    def _hands(self, rows: Sequence[Any]) -> dict[str, int]:
        return {_typed(held, str): _typed(delta, int) for held, delta in rows}

    def _origin(self, rows: Sequence[Any]) -> Origin:
        [(action, step, chainable)] = rows
        _require(chainable in (0, 1) and not isinstance(chainable, float))
        return Origin(_typed(action, str), _typed(step, int), bool(chainable))

    def _guards(self, rows: Sequence[Any]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for variable, value in sorted((_typed(variable, str), _typed(value, str)) for variable, value in rows):
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
