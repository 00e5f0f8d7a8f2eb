"""Rows -> details of possibilities, whoever has asked for the rows; `pieces` makes whole pieces of theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, FromClause, Table, and_, select

from ggn_store.model.documents.document import Origin
from ggn_store.model.moves.move import Move
from ggn_store.notation.stn import Transition
from ggn_store.store.database.engine import Database, RowSelect
from ggn_store.store.schema import tables as t


@dataclass(slots=True)
class Details:
    """What a possibility asks for and does, beside whether it passes the turn, which its own row says."""

    must: dict[str, str] = field(default_factory=dict)
    deny: dict[str, str] = field(default_factory=dict)
    board: dict[str, str | None] = field(default_factory=dict)
    hands: dict[str, int] = field(default_factory=dict)
    guards: dict[str, tuple[str, ...]] = field(default_factory=dict)
    state: dict[str, str] = field(default_factory=dict)
    origin: Origin | None = None

    def effects(self, toggle: Any) -> Transition | None:
        """What it does, None where its document says nothing of that."""
        return None if toggle is None else Transition(self.board, self.hands, bool(toggle), self.state)

    def move(self, piece: str, source: str, destination: str, ordinal: int, toggle: Any) -> Move:
        """The move that the possibility is, as the one of this ordinal from source to destination."""
        move = Move(piece, source, destination, ordinal, self.must, self.deny, self.effects(toggle), guards=self.guards)
        if self.origin is None:
            return move
        return replace(move, action=self.origin.action, step=self.origin.step, chainable=self.origin.chainable)


def decode(
    squares: Sequence[str], rows: Callable[[Table], Iterable[Sequence[Any]]], *, is_gdl: bool = True
) -> defaultdict[Any, Details]:
    """The details of possibilities by the key that their rows begin with, in each table before its own columns.

    Only documents of the dialect `gdl` have guards, effects on state variables, and origins.
    """
    found: defaultdict[Any, Details] = defaultdict(Details)
    for key, polarity, square, state in rows(t.condition):
        details = found[key]
        (details.must if polarity == "must" else details.deny)[squares[square]] = state
    for key, square, becomes in rows(t.effect):
        found[key].board[squares[square]] = becomes
    for key, held, delta in rows(t.hand_effect):
        found[key].hands[held] = delta
    if not is_gdl:
        return found
    for key, variable, value in sorted(map(tuple, rows(t.guard))):
        guards = found[key].guards
        guards[variable] = (*guards.get(variable, ()), value)
    for key, variable, value in rows(t.state_effect):
        found[key].state[variable] = value
    for key, action, step, chainable in rows(t.variant_origin):
        found[key].origin = Origin(action, step, bool(chainable))
    return found


# Possibilities of a piece, from one number to another.
SPAN: Final = ("piece_id", "first", "last")


def in_span(asked: FromClause, number: Column[int]) -> ColumnElement[bool]:
    """Whether a row is of a possibility of the span that is asked for; `number` is its column."""
    return and_(number.table.c.piece_id == asked.c.piece_id, number.between(asked.c.first, asked.c.last))


def _in_spans(table: Table) -> RowSelect:
    return RowSelect(
        SPAN, lambda asked: select(*table.columns).join_from(asked, table, in_span(asked, table.c.variant))
    )


_TABLES: Final = (t.condition, t.effect, t.hand_effect, t.guard, t.state_effect, t.variant_origin)
_IN_SPANS: Final = {table: _in_spans(table) for table in _TABLES}


def read_spans(
    database: Database,
    squares: Sequence[str],
    spans: Sequence[tuple[int, int, int]],
    connection: Connection | None = None,
    *,
    is_gdl: bool,
) -> Mapping[tuple[int, int], Details]:
    """The details of the possibilities in spans, by piece and number; `connection` as for `Database.ask`."""

    def rows(table: Table) -> Iterator[Sequence[Any]]:
        for piece_id, number, *row in database.ask(_IN_SPANS[table], spans, connection):
            yield (piece_id, number), *row

    return decode(squares, rows, is_gdl=is_gdl)
