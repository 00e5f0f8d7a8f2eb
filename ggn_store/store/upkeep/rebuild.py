"""Deriving the lanes, facts and summaries of stored pieces again: after an upgrade, or where they were damaged."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, delete, select, update

from ggn_store.errors import DamagedError
from ggn_store.model.documents import layout as layouts
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.layout import PLAIN, Layout
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
    makers: dict[tuple[int, Layout], tuple[lanes.Encoder, facts.Deriver]] = {}
    pieces = connection.execute(query).all()
    lying = _layouts(connection) if pieces else {}
    if not only_missing:
        summaries.fill(connection, [piece.id for piece in pieces])
    for piece_id, identifier, board_id, *is_there in pieces:
        if progress is not None:
            progress(f"piece {identifier}")
        if board_id not in boards:
            boards[board_id] = catalog.read_board(connection, board_id)
        layout = lying.get(piece_id, PLAIN)
        if (board_id, layout) not in makers:
            board = boards[board_id]
            makers[board_id, layout] = lanes.Encoder(board), facts.Deriver(board, layout)
        encoder, deriver = makers[board_id, layout]
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


def _layouts(connection: Connection) -> dict[int, Layout]:
    """How the boards of pieces lie, by key: as the first revision or proposal says that lists one and says it."""
    found: dict[int, Layout] = {}
    known: dict[str, Layout] = {}
    for holder, listed, key in (
        (t.revision, t.revision_piece, t.revision_piece.c.revision_id),
        (t.proposal, t.proposal_piece, t.proposal_piece.c.proposal_id),
    ):
        for holder_id, text in connection.execute(select(holder.c.id, holder.c.envelope).order_by(holder.c.id)).all():
            try:
                envelope = catalog.envelope_of(text)
            except DamagedError:
                continue  # `db check` finds it
            told = f"{envelope.board} {envelope.definition}"
            if told not in known:
                known[told] = layouts.of(envelope)
            if known[told] != PLAIN:
                pieces = connection.execute(select(listed.c.piece_id).where(key == holder_id)).scalars()
                found = dict.fromkeys(pieces, known[told]) | found
    return found
