"""The entries of pieces, for what is computed of whole pieces: as they are stored with these, or else from the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, select

from ggn_store.errors import DamagedError, quote
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.geometry import HEXAGONS
from ggn_store.model.teams.revision import Revision
from ggn_store.movement import facts
from ggn_store.movement.entries import Entries, ToldPiece
from ggn_store.movement.grid import Grid
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import read_piece
from ggn_store.store.schema import tables as t


class Member(NamedTuple):
    """A piece of a revision, in document order."""

    revision_id: int
    piece_id: int
    piece: str
    digest: str
    board_id: int


def members(asker: Asker, revisions: Iterable[Revision]) -> list[Member]:
    """The pieces of revisions, those of one together; the order of the revisions is that of their ids."""
    keys = sorted(revision.id for revision in revisions)
    return [Member(*row) for row in asker.rows_of(keys, _members)]


def _members(keys: list[int]) -> Select[Any]:
    return (
        select(
            t.revision_piece.c.revision_id, t.piece.c.id, t.piece.c.identifier, t.piece.c.digest, t.revision.c.board_id
        )
        .join(t.piece, t.piece.c.id == t.revision_piece.c.piece_id)
        .join(t.revision, t.revision.c.id == t.revision_piece.c.revision_id)
        .where(t.revision_piece.c.revision_id.in_(keys))
        .order_by(t.revision_piece.c.revision_id, t.revision_piece.c.ordinal)
    )


def unplaced(asker: Asker, boards: Iterable[int]) -> set[int]:
    """Those of some boards, by key, whose squares have no file: no coordinates, or some that are far out."""
    square = t.square.c

    def without_file(keys: list[int]) -> Select[Any]:
        return select(square.board_id).where(square.board_id.in_(keys), square.number == 0, square.file.is_(None))

    return {row.board_id for row in asker.rows_of(sorted({*boards}), without_file)}


class Lying(NamedTuple):
    """How the hexagons of a board lie, a form of `HEXAGONS`, and which squares are no holes; None where all are."""

    form: str | None = None
    squares: int | None = None


PLAIN: Final = Lying()


def lying(asker: Asker, revisions: Iterable[int]) -> Mapping[int, Lying]:
    """How the hexagons of revisions lie, by the keys of these; on squares and in networks as labels say."""

    def told(keys: list[int]) -> Select[Any]:
        return (
            select(t.revision_piece.c.revision_id, t.piece_facts.c.layout, t.piece_facts.c.named)
            .join(t.piece_facts, t.piece_facts.c.piece_id == t.revision_piece.c.piece_id)
            .where(t.revision_piece.c.revision_id.in_(keys), t.piece_facts.c.layout.in_([*HEXAGONS]))
            .distinct()
        )

    found: defaultdict[int, Lying] = defaultdict(lambda: PLAIN)
    for key, form, named in asker.rows_of(sorted({*revisions}), told):
        known = found[key].squares
        squares = None if named is None else int(named[::-1], 2) | (known or 0)
        found[key] = Lying(form, squares)
    return found


class Grids(dict[tuple[int, Lying], tuple[Board, Grid | None]]):
    """Boards by their keys and how they lie, and their grids; None where the squares have no coordinates."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def __missing__(self, key: tuple[int, Lying]) -> tuple[Board, Grid | None]:
        board_id, lying = key
        board = catalog.read_board(self._asker.connection, board_id) if lying == PLAIN else self[board_id, PLAIN][0]
        self[key] = found = board, Grid.of(board, *lying)
        return found


def entries(
    asker: Asker, of: Iterable[Member], grids: Grids, *, as_labels_say: bool = False
) -> Iterator[tuple[Member, Entries]]:
    """What the rules of each piece say, once; one piece in memory at a time. Raises DamagedError for what is none.

    They are told as the squares of the member's revision lie; which costs time, unless `as_labels_say` is enough.
    """
    wanted = {each.piece_id: each for each in of}
    lie = lying(asker, [] if as_labels_say else (each.revision_id for each in wanted.values()))

    def stored(keys: list[int]) -> Select[Any]:
        return (
            select(t.piece.c.id, t.piece_facts.c.version, t.piece_facts.c.entries)
            .outerjoin(t.piece_facts, t.piece_facts.c.piece_id == t.piece.c.id)
            .where(t.piece.c.id.in_(keys))
        )

    for piece_id, version, text in asker.rows_of(sorted(wanted), stored):
        member = wanted[piece_id]
        board, labels = grids[member.board_id, PLAIN]
        labels = labels or Grid.row(board)
        grid = grids[member.board_id, lie[member.revision_id]][1] or labels
        if text is None or version != facts.VERSION:
            # Of a piece that moves in too many ways nothing is stored.
            yield member, Entries.of(read_piece(asker.connection, piece_id, board), board, grid)
            continue
        try:
            found = Entries.read(text, labels)
        except ValueError:
            raise DamagedError(
                f"the facts of the piece {quote(member.piece)} are not those of its rows; `ggn-store db rebuild` "
                "derives them again, or"
            ) from None
        yield member, found if grid is labels else found.on(grid)


def of_revision(asker: Asker, revision: Revision, *, as_labels_say: bool = False) -> list[ToldPiece]:
    """The pieces of a revision in document order, with what their rules say."""
    of, grids = members(asker, [revision]), Grids(asker)
    found = {member.piece_id: told for member, told in entries(asker, of, grids, as_labels_say=as_labels_say)}
    return [ToldPiece(each.piece, found[each.piece_id], _order(asker, each)) for each in of]


def _order(asker: Asker, member: Member) -> list[tuple[int | None, int | None]]:
    """The source and the destination of each entry of a piece in document order, by number; None for the hand."""
    query = (
        select(t.source.c.square, t.destination.c.square)
        .join(t.destination, t.DESTINATION_OF_SOURCE)
        .where(t.source.c.piece_id == member.piece_id)
        .order_by(t.source.c.ordinal, t.destination.c.ordinal)
    )
    return [(source, destination) for source, destination in asker.rows(query)]
