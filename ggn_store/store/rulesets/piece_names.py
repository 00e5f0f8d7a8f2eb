"""What the pieces of a revision are called: derived of the text that its document was made from."""

from __future__ import annotations

from sqlalchemy import Connection, select

from ggn_store.model.documents.document import Envelope
from ggn_store.store.database.engine import Database
from ggn_store.store.schema import tables as t


def fill(database: Database, connection: Connection, revision_id: int, envelope: Envelope) -> None:
    """Store the names of a revision's pieces, which are listed already."""
    database.fill(connection, t.piece_name.columns, rows(database, connection, revision_id, envelope))


def rows(
    database: Database, connection: Connection, revision_id: int, envelope: Envelope
) -> list[tuple[int, int, str]]:
    """The rows that a revision is to have, in their order; none for pieces that nothing gives a name."""
    names = database.naming(envelope)
    if not names:
        return []
    listed = (
        select(t.revision_piece.c.ordinal, t.piece.c.identifier)
        .select_from(t.PIECES_OF_REVISIONS)
        .where(t.revision_piece.c.revision_id == revision_id)
        .order_by(t.revision_piece.c.ordinal)
    )
    found = connection.execute(listed).all()
    return [(revision_id, ordinal, names[piece]) for ordinal, piece in found if piece in names]
