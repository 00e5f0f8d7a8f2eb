"""Positions -> temporary tables that the reading query joins.

They have metadata of their own, so that migrations never see them, and they are made within the transaction that
asks, which is rolled back: no position can leak into another question. Where a database lets no tables be made, their
rows are values of the statement, as relations of the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    and_,
    true,
)
from sqlalchemy.schema import CreateIndex, CreateTable

from ggn_store.model.documents.board import Board
from ggn_store.model.moves.position import Position
from ggn_store.model.teams.revision import Revision
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store.database.engine import Database
from ggn_store.store.schema.tables import Id, Label

metadata = MetaData()


def temporary(name: str, columns: Mapping[str, Any], *key: str) -> Table:
    """A temporary table of columns by their types."""
    return Table(
        name,
        metadata,
        *(Column(each, kind, nullable=each not in key) for each, kind in columns.items()),
        PrimaryKeyConstraint(*key),
        prefixes=["TEMPORARY"],
        sqlite_with_rowid=False,
    )


position_state = temporary("position_state", {"position": Integer, "side": Label, "hands_known": Boolean}, "position")
board_state = temporary(
    "board_state", {"position": Integer, "square": Integer, "piece": Label, "side": Label}, "position", "square"
)
Index("ix_board_state_piece", board_state.c.piece)
hand_state = temporary("hand_state", {"position": Integer, "piece": Label, "count": Integer}, "position", "piece")
# The values of all state variables, for rules that have any.
state_value = temporary("state_value", {"position": Integer, "variable": Label, "value": Label}, "position", "variable")
# The possibilities whose conditions and effects are read after the question is answered.
chosen = temporary("chosen", {"piece_id": Id, "variant": Integer}, "piece_id", "variant")


class Opened(NamedTuple):
    """A revision, with its board, in the transaction that asks."""

    database: Database
    connection: Connection
    revision: Revision
    board: Board


class Described(NamedTuple):
    """Positions as relations.

    `standing` gives what stands on a square of a position, as a relation with `piece` and `side`, and the condition
    to join it by. `state` is None where the rules have no state variables.
    """

    position: FromClause
    board: FromClause
    hand: FromClause
    standing: Callable[[ColumnElement[int], ColumnElement[int]], tuple[FromClause, ColumnElement[bool]]]
    state: FromClause | None = None


def describe(
    database: Database,
    connection: Connection,
    board: Board,
    positions: Sequence[Position],
    side: Side | None = None,
    has_state: bool = False,
) -> Described:
    """The relations for `positions`, numbered from 0; `side` overrides theirs.

    Squares that the board does not have cannot matter to any rule and are left out. The positions name every state
    variable, where the rules have any (`has_state`).
    """
    numbers = board.numbers
    placed = [
        (i, numbers[square], piece, side_of(piece))
        for i, position in enumerate(positions)
        for square, piece in position.board.items()
        if piece is not None and square in numbers
    ]
    held = [
        (i, piece, count) for i, position in enumerate(positions) for piece, count in (position.hands or {}).items()
    ]
    stated = [(i, *each) for i, position in enumerate(positions) for each in (position.state or {}).items()]
    asked = [(i, side or position.side, position.hands is not None) for i, position in enumerate(positions)]
    on_board = given(database, connection, board_state, placed)

    def standing(position: ColumnElement[int], square: ColumnElement[int]) -> tuple[FromClause, ColumnElement[bool]]:
        if database.sender is not None:
            return database.sender.sent_row(board_state, placed, (position, square)), true()
        here = on_board.alias("here")
        return here, and_(here.c.position == position, here.c.square == square)

    return Described(
        given(database, connection, position_state, asked),
        on_board,
        given(database, connection, hand_state, held),
        standing,
        given(database, connection, state_value, stated) if has_state else None,
    )


def given(database: Database, connection: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> FromClause:
    """`table` with `rows` in it, made if the database makes tables."""
    if database.sender is not None:
        return database.sender.sent(connection, list(table.columns), rows)
    make(database, connection, table, rows)
    return table


def make(database: Database, connection: Connection, table: Table, rows: Iterable[Sequence[Any]]) -> None:
    """Create a temporary table with `rows` in it."""
    connection.execute(CreateTable(table))
    for index in table.indexes:
        connection.execute(CreateIndex(index))
    database.fill(connection, table.columns, rows)
    database.analyze(connection, table)
