"""What revisions and proposals hold: documents as lists of stored pieces, read no further than is asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from ggn_store.errors import DamagedError
from ggn_store.model.documents.document import Dialect, Document, Envelope, Piece, revision_digest
from ggn_store.model.teams.proposal import Proposal
from ggn_store.model.teams.revision import Revision
from ggn_store.store.rulesets import catalog, pieces
from ggn_store.store.rulesets.catalog import Listed
from ggn_store.store.rulesets.load import Made
from ggn_store.store.schema import tables as t

# A transaction that is open, for those who only hand it on.
Transaction = Connection


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document whose pieces are stored; `digest` is that which it was stored with, where it was, under `label`."""

    dialect: Dialect
    board_id: int
    envelope: Envelope
    pieces: tuple[Listed, ...]
    digest: str | None = None
    label: str = ""


def of_revision(connection: Connection, revision: Revision | int) -> StoredDocument:
    """What a revision, or that of a key, holds."""
    if isinstance(revision, int):
        revision = catalog.read_revision(connection, revision)
    return _content(revision, catalog.listed(connection, t.revision_piece, revision.id))


def of_proposal(connection: Connection, proposal: Proposal) -> StoredDocument:
    """What a proposal holds."""
    return _content(proposal, catalog.listed(connection, t.proposal_piece, proposal.id))


def of_pieces(connection: Connection, made: Made, piece_ids: Sequence[int]) -> StoredDocument:
    """What a revision that is yet to be made holds."""
    found = {row.id: Listed(*row) for row in connection.execute(catalog.LISTED.where(t.piece.c.id.in_(piece_ids)))}
    return StoredDocument(made.dialect, made.board_id, made.envelope, tuple(found[each] for each in piece_ids))


def again(
    connection: Connection, revision: Revision, author: str | None, message: str | None
) -> tuple[Made, list[int]]:
    """What a revision with the content of an old one says, and the keys of the pieces that it lists."""
    made = Made.again(revision, author, f"restore {revision}" if message is None else message)
    return made, [piece.id for piece in of_revision(connection, revision).pieces]


def _content(holder: Revision | Proposal, pieces: tuple[Listed, ...]) -> StoredDocument:
    return StoredDocument(holder.dialect, holder.board_id, holder.envelope, pieces, holder.digest, str(holder))


def digest(connection: Connection, content: StoredDocument) -> str:
    """The digest of a document, from those of its pieces."""
    board = catalog.read_board(connection, content.board_id)
    return revision_digest(content.dialect, board, content.envelope, [piece.digest for piece in content.pieces])


def require_sound(connection: Connection, content: StoredDocument) -> None:
    """Raise DamagedError where a list of pieces, the board or the envelope are not those that were stored."""
    if content.digest not in (None, digest(connection, content)):
        raise DamagedError(
            f"{content.label}: it is damaged, its pieces, board and envelope do not give its digest {content.digest}"
        )


def document(connection: Connection, content: StoredDocument) -> Document:
    """The whole document; raises DamagedError where it is not what was stored."""
    require_sound(connection, content)
    return Document(content.dialect, read_pieces(connection, content), content.envelope)


def read_pieces(connection: Connection, content: StoredDocument, without: Collection[int] = ()) -> tuple[Piece, ...]:
    """The pieces, in document order, but for those of some keys."""
    board = catalog.read_board(connection, content.board_id)
    wanted = [piece.id for piece in content.pieces if piece.id not in without]
    return tuple(pieces.read_each(connection, wanted, board))
