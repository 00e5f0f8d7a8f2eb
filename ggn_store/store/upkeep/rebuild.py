"""Deriving the lanes, facts and summaries of stored pieces again: after an upgrade, or where they were damaged."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, delete, select, update

from ggn_store.model.documents.board import Board
from ggn_store.movement import facts
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
    """Derive lanes, facts and summary of every piece, or the lanes and facts that are not there yet; of how many."""
    database.lock_pieces(connection, alone=True)
    are_lanes = t.piece.c.lanes.is_not_distinct_from(lanes.VERSION)
    are_facts = t.piece_facts.c.version.is_not_distinct_from(facts.VERSION)
    query = (
        select(t.piece.c.id, t.piece.c.identifier, t.piece.c.board_id, are_lanes, are_facts)
        .outerjoin(t.piece_facts, t.piece_facts.c.piece_id == t.piece.c.id)
        .order_by(t.piece.c.id)
    )
    if only_missing:
        query = query.where(~(are_lanes & are_facts))
    else:
        connection.execute(delete(t.lane))
        connection.execute(delete(t.piece_facts))
        connection.execute(delete(t.piece_summary))
    boards: dict[int, Board] = {}
    makers: dict[int, tuple[lanes.Encoder, facts.Deriver]] = {}
    pieces = connection.execute(query).all()
    if not only_missing:
        summaries.fill(connection, [piece.id for piece in pieces])
    for piece_id, identifier, board_id, *is_there in pieces:
        if progress is not None:
            progress(f"piece {identifier}")
        if board_id not in boards:
            boards[board_id] = catalog.read_board(connection, board_id)
            makers[board_id] = lanes.Encoder(boards[board_id]), facts.Deriver(boards[board_id])
        encoder, deriver = makers[board_id]
        piece = catalog.assemble_piece(connection, piece_id, identifier, boards[board_id])
        has_lanes, has_facts = is_there if only_missing else (False, False)
        if not has_lanes:
            connection.execute(delete(t.lane).where(lanes.is_of(piece_id)))
            database.fill(connection, t.lane.columns, encoder.rows_of(piece_id, piece))
            connection.execute(update(t.piece).where(t.piece.c.id == piece_id).values(lanes=lanes.VERSION))
        if not has_facts:
            connection.execute(delete(t.piece_facts).where(t.piece_facts.c.piece_id == piece_id))
            database.fill(connection, t.piece_facts.columns, [(piece_id, *deriver.of(piece).row())])
    return len(pieces)
