"""Deriving lanes, facts, summaries and names of stored pieces again: after an upgrade, or where they were damaged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from sqlalchemy import Connection, delete, select, update

from ggn_store.errors import DamagedError
from ggn_store.model.documents import layout as layouts
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.layout import PLAIN, Layout
from ggn_store.movement import facts
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog, lanes, piece_names, summaries
from ggn_store.store.rulesets.pieces import Reader, reader_of, rows_of
from ggn_store.store.schema import tables as t


def rebuild(
    database: Database,
    connection: Connection,
    progress: Callable[[str], None] | None = None,
    *,
    only_missing: bool = False,
) -> int:
    """Derive lanes, facts and summary of every piece, or the lanes and facts that are not there yet; of how many.

    And the names that revisions give them, or those of revisions that give none yet.
    """
    database.lock_pieces(connection, alone=True)
    are_lanes = t.piece.c.lanes.is_not_distinct_from(lanes.VERSION)
    are_facts = t.piece_facts.c.version.is_not_distinct_from(facts.VERSION)
    query = (
        select(t.piece.c.id, t.piece.c.identifier, t.piece.c.board_id, t.piece.c.dialect, are_lanes, are_facts)
        .outerjoin(t.piece_facts, t.piece_facts.c.piece_id == t.piece.c.id)
        .order_by(t.piece.c.id)
    )
    if only_missing:
        query = query.where(~(are_lanes & are_facts))
    else:
        connection.execute(delete(t.lane))
        connection.execute(delete(t.piece_facts))
        connection.execute(delete(t.piece_summary))
        connection.execute(delete(t.piece_name))
    boards: dict[int, Board] = {}
    makers: dict[tuple[int, Layout], tuple[lanes.Encoder, facts.Deriver]] = {}
    pieces = connection.execute(query).all()
    lying = _layouts(connection) if pieces else {}
    if not only_missing:
        summaries.fill(connection, [piece.id for piece in pieces])
    reader: Reader | None = None
    for piece_id, identifier, board_id, dialect, *is_there in pieces:
        if progress is not None:
            progress(f"piece {identifier}")
        if board_id not in boards:
            boards[board_id] = catalog.read_board(connection, board_id)
        layout = lying.get(piece_id, PLAIN)
        if (board_id, layout) not in makers:
            board = boards[board_id]
            makers[board_id, layout] = lanes.Encoder(board), facts.Deriver(board, layout)
        encoder, deriver = makers[board_id, layout]
        reader = reader_of(reader, dialect, boards[board_id])
        piece = reader.piece(rows_of(connection, [piece_id]), piece_id, identifier)
        has_lanes, has_facts = is_there if only_missing else (False, False)
        if not has_lanes:
            connection.execute(delete(t.lane).where(lanes.is_of(piece_id)))
            database.fill(connection, t.lane.columns, encoder.rows_of(piece_id, piece))
            connection.execute(update(t.piece).where(t.piece.c.id == piece_id).values(lanes=lanes.VERSION))
        if not has_facts:
            connection.execute(delete(t.piece_facts).where(t.piece_facts.c.piece_id == piece_id))
            database.fill(connection, t.piece_facts.columns, [(piece_id, *deriver.of(piece).row())])
    _fill_names(database, connection)
    return len(pieces)


def _fill_names(database: Database, connection: Connection) -> None:
    """Derive the names of pieces in revisions that have none."""
    is_named = select(t.piece_name.c.revision_id).where(t.piece_name.c.revision_id == t.revision.c.id).exists()
    query = select(t.revision.c.id, t.revision.c.envelope).where(~is_named).order_by(t.revision.c.id)
    for revision_id, text in connection.execute(query).all():
        try:
            piece_names.fill(database, connection, revision_id, catalog.envelope_of(text))
        except DamagedError:
            continue  # `db check` finds it


# What lists pieces and says how their boards lie.
_LISTS: Final = (
    (t.revision, t.revision_piece, t.revision_piece.c.revision_id),
    (t.proposal, t.proposal_piece, t.proposal_piece.c.proposal_id),
)


def layouts_of(connection: Connection, piece_id: int) -> set[Layout]:
    """How the board of a piece lies, as all say that list it."""
    found = set()
    for holder, listed, key in _LISTS:
        query = select(holder.c.envelope).join(listed, key == holder.c.id).where(listed.c.piece_id == piece_id)
        for text in connection.execute(query).scalars():
            with suppress(DamagedError):
                found.add(layouts.of(catalog.envelope_of(text)))
    return found


def _layouts(connection: Connection) -> dict[int, Layout]:
    """How the boards of pieces lie, by key: as the first revision or proposal says that lists one and says it."""
    found: dict[int, Layout] = {}
    known: dict[str, Layout] = {}
    for holder, listed, key in _LISTS:
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
