"""Questions about how pieces move: who moves alike, what differs between two rulesets, are the sides mirror images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from ggn_store.analysis import comparison, movers, symmetry
from ggn_store.analysis.comparison import Moving, PieceComparison
from ggn_store.analysis.grid import Grid
from ggn_store.analysis.movement import Movement, movement
from ggn_store.analysis.movers import Candidate, SameMovers
from ggn_store.api import garbage
from ggn_store.api.handle import Handle
from ggn_store.errors import UnknownNameError, offer, quote
from ggn_store.model.board import Board
from ggn_store.model.document import Possibility
from ggn_store.model.revision import Revision
from ggn_store.store.analyses import contents
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.contents import Member
from ggn_store.store.rulesets import catalog


class Grids:
    """The grids of boards, each read once."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._found: dict[int, tuple[Board, Grid | None]] = {}

    def board(self, board_id: int) -> Board:
        """A board by its key."""
        return self._of(board_id)[0]

    def grid(self, board_id: int) -> Grid | None:
        """Its grid; None where its squares have no coordinates."""
        return self._of(board_id)[1]

    def _of(self, board_id: int) -> tuple[Board, Grid | None]:
        if board_id not in self._found:
            board = catalog.read_board(self._asker.connection, board_id)
            self._found[board_id] = board, Grid.of(board)
        return self._found[board_id]


def same_movers(
    asker: Asker,
    references: Iterable[str],
    *,
    piece: str | None,
    ruleset: str | None,
    whole: bool,
    exact: bool,
    mirrored: bool,
) -> SameMovers:
    """The groups; see `StoreAnalysis.same_movers`."""
    revisions = [catalog.find(asker.connection, each) for each in references] or catalog.newest(asker.connection)
    of_piece = None if ruleset is None else catalog.find(asker.connection, ruleset)
    if of_piece is not None:
        revisions.append(of_piece)
    ordered = {revision.id: revision for revision in revisions}
    grids = Grids(asker)
    with garbage.held_off():
        members = contents.members(asker, ordered.values())
        _require(piece, [each for each in members if of_piece in (None, ordered[each.revision_id])], of_piece)
        moving = dict(_movements(asker, [*ordered.values()], members, grids, whole))
        places = (
            (Candidate(revision.name, revision.number, each.piece, is_wanted), moving[each.piece_id])
            for key, revision in ordered.items()
            for each in members
            if each.revision_id == key and each.piece_id in moving
            for is_wanted in [each.piece == piece and of_piece in (None, revision)]
        )
        found = movers.group(places, exact=exact, mirrored=mirrored, wanted_only=piece is not None)
    boards = {each.revision_id: each.board_id for each in members}
    left_out = [str(ordered[key]) for key, board in boards.items() if grids.grid(board) is None]
    return SameMovers(found, tuple(left_out))


def find_asymmetries(asker: Asker, revision: Revision, board: Board) -> list[symmetry.Finding]:
    """What lacks a counterpart under each of the symmetries that are tried."""
    with garbage.held_off():
        names = {each.piece_id: each.piece for each in contents.members(asker, [revision])}
        pieces = (symmetry.Piece(names[rows.piece_id], rows) for rows in contents.contents(asker, [revision]))
        return symmetry.find(pieces, [*names.values()], board, symmetry.mirrors(board))


def chosen(findings: Sequence[symmetry.Finding], name: str | None) -> list[symmetry.Finding]:
    """The findings of one name; without any, those of each side, and of the sides the one that holds nearly."""
    if name is not None:
        return [each for each in findings if each.mirror.symmetry == name]
    of_sides = [each for each in findings if each.mirror.of == "sides"]
    nearest = min(of_sides, key=lambda each: len(each.entries))
    return [nearest, *(each for each in findings if each.mirror.of != "sides")]


def asymmetries(
    findings: Iterable[symmetry.Finding], handle: Handle, limit: int | None
) -> Iterator[symmetry.Asymmetry]:
    """The entries of findings, the first `limit` of each."""
    board = handle.board

    @lru_cache(maxsize=8)
    def entries(piece: str) -> dict[tuple[str, str], Sequence[Possibility]] | None:
        if piece not in handle.pieces:
            return None
        found = handle.read_piece(piece)
        return {(source.square, each.square): each.possibilities
                for source in found.sources for each in source.destinations}  # fmt: skip

    def read(piece: str, source: str, destination: str) -> Sequence[Possibility] | None:
        of_piece = entries(piece)
        return None if of_piece is None else of_piece.get((source, destination), ())

    for finding in findings:
        for entry in islice(finding.entries, limit):
            yield symmetry.asymmetry(finding, entry, board, read)


def compare(asker: Asker, before: str, after: str) -> list[PieceComparison]:
    """What differs between the pieces; see `StoreAnalysis.compare`."""
    revisions = [catalog.find(asker.connection, each) for each in (before, after)]
    grids = Grids(asker)
    with garbage.held_off():
        members = contents.members(asker, revisions)
        by_key = {each.piece_id: each for each in members}
        moving: dict[int, Moving] = {}
        for rows in contents.contents(asker, [*{each.id: each for each in revisions}.values()]):
            member = by_key[rows.piece_id]
            moving[rows.piece_id] = comparison.moving(member.piece, member.digest, rows, grids.grid(member.board_id))
    one, other = (
        comparison.Side(
            grids.board(revision.board_id).shape_text,
            revision.dialect,
            [moving[each.piece_id] for each in members if each.revision_id == revision.id],
        )
        for revision in revisions
    )
    is_same_board = revisions[0].board_id == revisions[1].board_id
    return comparison.compare(one, other, is_same_board=is_same_board)


def _require(piece: str | None, members: Sequence[Member], ruleset: Revision | None) -> None:
    there = list(dict.fromkeys(each.piece for each in members))
    if piece is not None and piece not in there:
        if ruleset is None:
            raise UnknownNameError(f"none of these rulesets has rules for {quote(piece)}")
        raise UnknownNameError(f"{ruleset} has no rules for {quote(piece)}; it has {offer(there)}")


def _movements(
    asker: Asker, revisions: Sequence[Revision], members: Iterable[Member], grids: Grids, whole: bool
) -> Iterator[tuple[int, Movement]]:
    """How each piece moves, by its key; pieces on boards without coordinates are left out."""
    by_key = {each.piece_id: each for each in members}
    for rows in contents.contents(asker, revisions, with_effects=whole):
        member = by_key[rows.piece_id]
        grid = grids.grid(member.board_id)
        if grid is not None:
            yield rows.piece_id, movement(member.piece, rows, grid, whole=whole)
