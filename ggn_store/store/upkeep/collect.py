"""Removing what nothing refers to: pieces with their rows, boards, rulesets.

Whoever is about to list a piece that is already there holds the lock of all pieces from before it looks for it until
the end of its transaction; a collection holds it alone, a batch at a time. So the piece is either gone before the
other has looked, or listed before the collection looks. The foreign keys would refuse anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, Select, Table, and_, delete, exists, func, select

from ggn_store.model.teams.care import Unused
from ggn_store.store.database.engine import Database, Opening
from ggn_store.store.rulesets import lanes
from ggn_store.store.schema import tables as t

# A batch ends with the piece that makes its rows so many: whoever loads meanwhile waits for no more.
_ROWS_A_BATCH: Final = 50_000
_PARTS: Final = {t.piece: (*t.PIECE_TABLES, *t.ABOUT_PIECES), t.board: (t.square,)}


def references(table: Table) -> list[Column[Any]]:
    """The columns of other tables that keep a row of `table` from being removed: all that point to it, but its own.

    A table that is added later counts from then on.
    """
    others = [each for each in t.metadata.sorted_tables if each not in _PARTS.get(table, ())]
    return [
        column
        for each in others
        for column in each.columns
        if any(key.column.table is table for key in column.foreign_keys)
    ]


def _is_unused(table: Table, columns: Iterable[Column[Any]] | None = None) -> ColumnElement[bool]:
    columns = references(table) if columns is None else columns
    return and_(*(~exists().where(column == table.c.id) for column in columns))


def unused(connection: Connection) -> list[Unused]:
    """What a collection would remove now."""
    found = [
        Unused("piece", row.identifier, row.digest, sum(_count(connection, *each) for each in _rows_of(row.id)) + 1)
        for row in connection.execute(_unused_pieces()).all()
    ]
    of_board = [column for column in references(t.board) if column.table is not t.piece]
    kept = select(t.piece.c.id).where(t.piece.c.board_id == t.board.c.id, ~_is_unused(t.piece))
    boards = _boards().where(_is_unused(t.board, of_board), ~kept.exists())
    found += [
        _board(row, _count(connection, t.square, t.square.c.board_id == row.id)) for row in connection.execute(boards)
    ]
    return found + [Unused("ruleset", row.name, None, 1) for row in connection.execute(_unused_rulesets())]


def collect(database: Database, opening: Opening, progress: Callable[[str], None]) -> Iterator[Unused]:
    """Remove what nothing refers to, in transactions that `opening` begins; what was removed, once that is certain."""
    done = False
    while not done:
        removed: list[Unused] = []
        with opening() as connection:
            database.lock_pieces(connection, alone=True)
            done = True
            for row in connection.execute(_unused_pieces()).all():
                if sum(each.rows for each in removed) >= _ROWS_A_BATCH:
                    done = False
                    break
                progress(f"piece {row.identifier}")
                rows = sum(_remove(connection, *each) for each in _rows_of(row.id))
                rows += _remove(connection, t.piece, t.piece.c.id == row.id)
                removed.append(Unused("piece", row.identifier, row.digest, rows))
        yield from removed
    removed = []
    with opening() as connection:
        database.lock_pieces(connection, alone=True)
        for row in connection.execute(_boards().where(_is_unused(t.board))).all():
            progress(f"board {row.shape or row.id}")
            squares = _remove(connection, t.square, t.square.c.board_id == row.id)
            _remove(connection, t.board, t.board.c.id == row.id)
            removed.append(_board(row, squares))
        for row in connection.execute(_unused_rulesets()).all():
            progress(f"ruleset {row.name}")
            _remove(connection, t.ruleset, t.ruleset.c.id == row.id)
            removed.append(Unused("ruleset", row.name, None, 1))
    yield from removed


def _unused_pieces() -> Select[Any]:
    piece = t.piece.c
    return select(piece.id, piece.identifier, piece.digest).where(_is_unused(t.piece)).order_by(piece.id)


def _boards() -> Select[Any]:
    return select(t.board).order_by(t.board.c.id)


def _board(row: Any, squares: int) -> Unused:
    return Unused("board", row.shape, row.digest, squares + 1)


def _unused_rulesets() -> Select[Any]:
    return select(t.ruleset.c.id, t.ruleset.c.name).where(_is_unused(t.ruleset)).order_by(t.ruleset.c.name)


def _rows_of(piece_id: int) -> list[tuple[Table, ColumnElement[bool]]]:
    """Which rows of which tables are a piece's own, children before parents."""
    own = [(table, table.c.piece_id == piece_id) for table in reversed(_PARTS[t.piece])]
    return [(t.lane, lanes.is_of(piece_id)), *own]


def _count(connection: Connection, table: Table, condition: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(condition)).scalar_one())


def _remove(connection: Connection, table: Table, condition: ColumnElement[bool]) -> int:
    return connection.execute(delete(table).where(condition)).rowcount
