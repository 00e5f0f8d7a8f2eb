"""What turns one version of a document, stored or given, into another; only what differs is read."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Protocol

from sqlalchemy import Connection, func, select

from ggn_store import limits
from ggn_store.errors import InputError
from ggn_store.model.changes.changes import Diff
from ggn_store.model.changes.diff import Outline, diff_piece, diff_pieces
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Document, Piece
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import read_piece
from ggn_store.store.rulesets.stored_documents import StoredDocument
from ggn_store.store.schema import tables as t


class Version(Protocol):
    """One of the documents that are compared; `digests` are those of its pieces, in document order."""

    @property
    def outline(self) -> Outline: ...

    @property
    def digests(self) -> Mapping[str, str]: ...

    def piece(self, identifier: str) -> Piece | None:
        """The piece of this identifier, None where there is none."""

    def size(self, pieces: Collection[str]) -> int:
        """How many possibilities of these pieces are yet to be read."""


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
        return None if key is None else read_piece(self._connection, key.id, self._board)

    def size(self, pieces: Collection[str]) -> int:
        ids = [self._keys[each].id for each in pieces if each in self._keys]
        counts = select(func.coalesce(func.sum(t.piece_summary.c.possibilities), 0))
        return int(self._connection.execute(counts.where(t.piece_summary.c.piece_id.in_(ids))).scalar_one())


class GivenVersion:
    """A document that is in memory; without one, what is before a first revision."""

    def __init__(self, document: Document | None = None) -> None:
        self.outline = Outline.of(document)
        self.digests = dict(zip(self.outline.pieces, document.piece_digests if document else (), strict=True))
        self._pieces = {piece.identifier: piece for piece in document.pieces} if document else {}

    def piece(self, identifier: str) -> Piece | None:
        return self._pieces.get(identifier)

    def size(self, pieces: Collection[str]) -> int:
        return 0


def diff(before: Version, after: Version, piece: str | None = None) -> Diff:
    """What turns one version into the other, or its `piece` alone. Pieces with equal digests are not read.

    Raises InputError, before any is read, where too much is to be compared.
    """
    differing = _differing(before, after, piece)
    size, most = before.size(differing) + after.size(differing), limits.COMPARED
    if size > most.most:
        alone = "" if piece is not None else ": compare one piece alone"
        raise InputError(f"the pieces that differ have {size:,} possibilities, and {most.allowed} are compared{alone}")
    pairs = ((before.piece(each), after.piece(each)) for each in differing)
    if piece is None:
        return diff_pieces(before.outline, after.outline, pairs)
    return Diff((), tuple(change for one, other in pairs if (change := diff_piece(one, other)) is not None))


def outlined(before: Version, after: Version) -> tuple[Diff, dict[str, tuple[int, int]]]:
    """What differs as far as it is known without a piece being read: the fields, and which pieces.

    Of each of these it says how many possibilities it has before and after; what is not there has none.
    """
    pieces = {each: (_size(before, each), _size(after, each)) for each in _differing(before, after, None)}
    return diff_pieces(before.outline, after.outline, ()), pieces


def _size(version: Version, piece: str) -> int:
    return version.size([piece]) if piece in version.digests else 0


def _differing(before: Version, after: Version, piece: str | None) -> list[str]:
    """The pieces with other digests, or this one where it has."""
    both = dict.fromkeys((*before.digests, *after.digests)) if piece is None else (piece,)
    return [each for each in both if before.digests.get(each) != after.digests.get(each)]
