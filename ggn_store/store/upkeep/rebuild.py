"""Deriving the lanes and summaries of stored pieces again: after an upgrade, or where they were damaged."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, delete, select, update

from ggn_store.model.board import Board
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog, lanes, summaries
from ggn_store.store.schema import tables as t


def rebuild(
    database: Database,
    connection: Connection,
    progress: Callable[[str], None] | None = None,
    *,
    only_missing: bool = False,
) -> int:
    """Derive lanes and summary of every piece, or the lanes of those that have none yet; how many pieces that were."""
    database.lock_pieces(connection, alone=True)
    query = select(t.piece.c.id, t.piece.c.identifier, t.piece.c.board_id).order_by(t.piece.c.id)
    if only_missing:
        query = query.where(t.piece.c.lanes.is_distinct_from(lanes.VERSION))
    else:
        connection.execute(delete(t.lane))
        connection.execute(delete(t.piece_summary))
    boards: dict[int, Board] = {}
    encoders: dict[int, lanes.Encoder] = {}
    pieces = connection.execute(query).all()
    if not only_missing:
        summaries.fill(connection, [piece.id for piece in pieces])
    for piece_id, identifier, board_id in pieces:
        if progress is not None:
            progress(f"piece {identifier}")
        if board_id not in boards:
            boards[board_id] = catalog.read_board(connection, board_id)
            encoders[board_id] = lanes.Encoder(boards[board_id])
        piece = catalog.assemble_piece(connection, piece_id, identifier, boards[board_id])
        if only_missing:
            connection.execute(delete(t.lane).where(lanes.is_of(piece_id)))
        database.fill(connection, t.lane.columns, encoders[board_id].rows_of(piece_id, piece))
        connection.execute(update(t.piece).where(t.piece.c.id == piece_id).values(lanes=lanes.VERSION))
    return len(pieces)
