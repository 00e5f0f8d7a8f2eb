"""What turns one version of a document, stored or given, into another; only what differs is read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Protocol

from sqlalchemy import Connection

from ggn_store.model.changes.changes import Diff
from ggn_store.model.changes.diff import Outline, diff_piece, diff_pieces
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Document, Piece
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.stored_documents import StoredDocument


class Version(Protocol):
    """One of the documents that are compared; `digests` are those of its pieces, in document order."""

    @property
    def outline(self) -> Outline: ...

    @property
    def digests(self) -> Mapping[str, str]: ...

    def piece(self, identifier: str) -> Piece | None:
        """The piece of this identifier, None where there is none."""


class StoredVersion:
    """What is stored, whose pieces are read each time that they are asked for, in the transaction that is open."""

    def __init__(self, connection: Connection, content: StoredDocument) -> None:
        self._connection = connection
        self._content = content
        self._keys = {each.identifier: each for each in content.pieces}
        self.outline = Outline(content.dialect, content.envelope, tuple(self._keys))
        self.digests = {identifier: key.digest for identifier, key in self._keys.items()}

    @functools.cached_property
    def _board(self) -> Board:
        return catalog.read_board(self._connection, self._content.board_id)

    def piece(self, identifier: str) -> Piece | None:
        key = self._keys.get(identifier)
        return None if key is None else catalog.read_piece(self._connection, key.id, self._board)


class GivenVersion:
    """A document that is in memory."""

    def __init__(self, document: Document) -> None:
        self.outline = Outline.of(document)
        self.digests = dict(zip(self.outline.pieces, document.piece_digests, strict=True))
        self._pieces = {piece.identifier: piece for piece in document.pieces}

    def piece(self, identifier: str) -> Piece | None:
        return self._pieces.get(identifier)


class NoVersion:
    """What is before a first revision."""

    outline = Outline.of(None)
    digests: Mapping[str, str] = {}

    def piece(self, identifier: str) -> Piece | None:
        return None


def diff(before: Version, after: Version, piece: str | None = None) -> Diff:
    """What turns one version into the other, or its `piece` alone. Pieces with equal digests are not read."""
    if piece is not None:
        change = diff_piece(before.piece(piece), after.piece(piece)) if _differs(before, after, piece) else None
        return Diff((), () if change is None else (change,))
    both = dict.fromkeys((*before.digests, *after.digests))
    pairs = ((before.piece(each), after.piece(each)) for each in both if _differs(before, after, each))
    return diff_pieces(before.outline, after.outline, pairs)


def _differs(before: Version, after: Version, piece: str) -> bool:
    return before.digests.get(piece) != after.digests.get(piece)
