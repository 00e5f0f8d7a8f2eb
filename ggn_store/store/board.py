"""Positions -> temporary tables that the reading query joins.

They have metadata of their own, so that migrations never see them, and they are made within the transaction that
asks, which is rolled back: no position can leak into another question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Index, Integer, MetaData, PrimaryKeyConstraint, Table
from sqlalchemy.schema import CreateIndex, CreateTable

from ggn_store.model.board import Board
from ggn_store.model.position import Position
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store.engine import Database
from ggn_store.store.tables import Id, Label

metadata = MetaData()

position_state = Table(
    "position_state",
    metadata,
    Column("position", Integer, nullable=False),
    Column("side", Label, nullable=False),
    Column("hands_known", Boolean, nullable=False),
    PrimaryKeyConstraint("position"),
    prefixes=["TEMPORARY"],
)

board_state = Table(
    "board_state",
    metadata,
    Column("position", Integer, nullable=False),
    Column("square", Integer, nullable=False),
    Column("piece", Label, nullable=False),
    Column("side", Label, nullable=False),
    PrimaryKeyConstraint("position", "square"),
    Index("ix_board_state_piece", "piece"),
    prefixes=["TEMPORARY"],
    sqlite_with_rowid=False,
)

hand_state = Table(
    "hand_state",
    metadata,
    Column("position", Integer, nullable=False),
    Column("piece", Label, nullable=False),
    Column("count", Integer, nullable=False),
    PrimaryKeyConstraint("position", "piece"),
    prefixes=["TEMPORARY"],
    sqlite_with_rowid=False,
)

# The possibilities whose conditions and effects are read after the question is answered.
chosen = Table(
    "chosen",
    metadata,
    Column("piece_id", Id, nullable=False),
    Column("variant", Integer, nullable=False),
    PrimaryKeyConstraint("piece_id", "variant"),
    prefixes=["TEMPORARY"],
    sqlite_with_rowid=False,
)


def describe(
    database: Database, connection: Connection, board: Board, positions: Sequence[Position], side: Side | None = None
) -> None:
    """Make and fill the state tables for `positions`, numbered from 0; `side` overrides theirs.

    Squares that the board does not have cannot matter to any rule and are left out.
    """
    make(
        database,
        connection,
        position_state,
        [(i, side or position.side, position.hands is not None) for i, position in enumerate(positions)],
    )
    describe_board(database, connection, board, positions)
    make(
        database,
        connection,
        hand_state,
        [(i, piece, count) for i, position in enumerate(positions) for piece, count in (position.hands or {}).items()],
    )


def describe_board(database: Database, connection: Connection, board: Board, positions: Sequence[Position]) -> None:
    """Make and fill `board_state` for `positions`, numbered from 0."""
    numbers = board.numbers
    make(
        database,
        connection,
        board_state,
        [
            (i, numbers[square], piece, side_of(piece))
            for i, position in enumerate(positions)
            for square, piece in position.board.items()
            if piece is not None and square in numbers
        ],
    )


def make(
    database: Database,
    connection: Connection,
    table: Table,
    rows: Iterable[Sequence[Any]],
    columns: Iterable[Column[Any]] | None = None,
) -> None:
    """Create a temporary table with `rows` in it, which fill `columns` (all of them by default)."""
    connection.execute(CreateTable(table))
    for index in table.indexes:
        connection.execute(CreateIndex(index))
    database.fill(connection, table.columns if columns is None else columns, rows)
    database.analyze(connection, table)
