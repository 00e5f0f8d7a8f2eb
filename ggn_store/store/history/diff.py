"""What turns one version of a document, stored or given, into another; only what differs is read."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any, Protocol

from sqlalchemy import Connection, Select, and_, bindparam, func, select

from ggn_store import limits
from ggn_store.errors import InputError
from ggn_store.model.changes.changes import Diff
from ggn_store.model.changes.diff import Outline, diff_piece, diff_pieces
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Document, Piece
from ggn_store.movement import facts
from ggn_store.movement.entries import Entries, differing_sources
from ggn_store.movement.grid import Grid
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import Reader, read_piece, read_source
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

    def part(self, identifier: str, sources: Collection[str]) -> Piece | None:
        """The piece with what it can do from some sources only."""

    def sources(self, identifier: str) -> Mapping[str, int]:
        """How many possibilities the piece has from each source."""

    def entries(self, identifier: str) -> tuple[Board, Entries] | None:
        """The board, and what the rules of the piece say, once; None where that is not known without all of them."""

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

    def part(self, identifier: str, sources: Collection[str]) -> Piece | None:
        key, reader = self._keys.get(identifier), Reader(self._content.dialect, self._board)
        if key is None:
            return None
        try:
            found = [read_source(self._connection, key.id, identifier, reader, each).sources for each in sources]
        except (LookupError, TypeError, ValueError):  # of what some rows hold instead: the whole says what is wrong
            self.piece(identifier)
            raise
        return Piece(identifier, tuple(chain.from_iterable(found)))

    def sources(self, identifier: str) -> Mapping[str, int]:
        key = self._keys.get(identifier)
        rows = () if key is None else self._connection.execute(_sizes(), {"piece": key.id})
        return {self._board.label(square): count for square, count in rows}

    def entries(self, identifier: str) -> tuple[Board, Entries] | None:
        if self._content.dialect == "gdl":  # whose entries do not say the number of a step
            return None
        key = self._keys.get(identifier)
        stored = t.piece_facts.c.piece_id == (None if key is None else key.id), t.piece_facts.c.version == facts.VERSION
        text = self._connection.execute(select(t.piece_facts.c.entries).where(*stored)).scalar()
        grid = Grid.of(self._board) or Grid.row(self._board)
        try:
            return None if text is None else (self._board, Entries.read(text, grid))
        except ValueError:  # which only tells less
            return None

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

    def part(self, identifier: str, sources: Collection[str]) -> Piece | None:
        piece = self._pieces.get(identifier)
        kept = [] if piece is None else [each for each in piece.sources if each.square in sources]
        return None if piece is None else Piece(identifier, tuple(kept))

    def sources(self, identifier: str) -> Mapping[str, int]:
        piece = self._pieces.get(identifier)
        sources = () if piece is None else piece.sources
        return {each.square: sum(len(to.possibilities) for to in each.destinations) for each in sources}

    def entries(self, identifier: str) -> tuple[Board, Entries] | None:
        return None

    def size(self, pieces: Collection[str]) -> int:
        return 0


@functools.cache
def _sizes() -> Select[Any]:
    """How many possibilities a piece has from each source, in document order."""
    of_source = and_(t.variant.c.piece_id == t.source.c.piece_id, t.variant.c.source == t.source.c.ordinal)
    return (
        select(t.source.c.square, func.count())
        .join(t.variant, of_source)
        .where(t.source.c.piece_id == bindparam("piece"))
        .group_by(t.source.c.ordinal, t.source.c.square)
        .order_by(t.source.c.ordinal)
    )


def diff(before: Version, after: Version, piece: str | None = None, sources: Collection[str] = ()) -> Diff:
    """What turns one version into the other, or its `piece` alone, or what this can do from some `sources`.

    Pieces with equal digests are not read. Raises InputError, before any is read, where too much is to be compared.
    """
    differing = _differing(before, after, piece)
    if piece is not None and sources:
        size = sum(of.get(each, 0) for of in (before.sources(piece), after.sources(piece)) for each in sources)
        _require_size(size, "rules from these squares", ": compare fewer of them")
        change = diff_piece(before.part(piece, sources), after.part(piece, sources)) if differing else None
        return Diff((), () if change is None else (change,))
    alone = "" if piece is not None else ": compare one piece alone"
    _require_size(before.size(differing) + after.size(differing), "pieces that differ", alone)
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


def differing(before: Version, after: Version, piece: str) -> dict[str, tuple[int, int]]:
    """The sources from which a piece can do something else, each with its possibilities before and after.

    No possibility is read. Where nothing tells what differs, all sources are there.
    """
    old, new = before.sources(piece), after.sources(piece)
    sizes = {each: (old.get(each, 0), new.get(each, 0)) for each in {**old, **new}}
    one, other = before.entries(piece), after.entries(piece)
    if one is None or other is None or one[0] != other[0]:
        return sizes
    found = {one[0].label(number) for number in differing_sources(one[1], other[1])}
    return {each: size for each, size in sizes.items() if each in found} or sizes  # or the order alone differs


def _require_size(size: int, what: str, cure: str) -> None:
    if size > limits.COMPARED.most:
        allowed = limits.COMPARED.allowed
        raise InputError(f"the {what} have {size:,} possibilities, and {allowed} are compared{cure}")


def _size(version: Version, piece: str) -> int:
    return version.size([piece]) if piece in version.digests else 0


def _differing(before: Version, after: Version, piece: str | None) -> list[str]:
    """The pieces with other digests, or this one where it has."""
    both = dict.fromkeys((*before.digests, *after.digests)) if piece is None else (piece,)
    return [each for each in both if before.digests.get(each) != after.digests.get(each)]
