"""Pictures of a ruleset: what is shown, worked out from its rules and from the moves that the store finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, TypedDict, Unpack

from ggn_store.api.handle import AnyPosition, Handle, as_position
from ggn_store.api.moves.legal import Legal
from ggn_store.api.moves.moves import Moves
from ggn_store.api.moves.selection import SelectedPiece, require_source
from ggn_store.api.moves.styles import geometry_of, style_of
from ggn_store.errors import PictureError, offer, printable, quote
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Piece
from ggn_store.model.documents.geometry import Lattice, Network, opposite
from ggn_store.model.moves.position import Position
from ggn_store.model.pictures.marks import marks_of_moves, marks_of_piece
from ggn_store.model.pictures.picture import Diagram, HeatMap, Picture, Poster, styled
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.render.layout import require_drawable
from ggn_store.render.legend import shapes

_MIRRORED: Final = "The pieces of the second side move as mirror images of those of the first, and are left out."
_DROPPED: Final = "* may also enter the board from the hand."


class Shown(TypedDict, total=False):
    """The keywords that say what a picture shows: see `Pictures.draw`."""

    piece: str | None
    source: str | None
    position: AnyPosition | None
    mobility: bool
    poster: bool
    style: str | None
    last: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pictures:
    """`ruleset.pictures`: what the rules and the moves of positions look like."""

    _moves: Moves
    _legal: Legal

    def draw(self, **shown: Unpack[Shown]) -> str:
        """A picture as SVG.

        Without arguments the start position, or a poster where there is none; `position` alone is drawn as it is. With
        `piece`, everything that it may ever do from `source`: a square, by default one with most destinations, or `*`,
        the hand. With `piece` or `source` and `position` (with `source` alone: and the start position), its moves
        there. `mobility` draws a heat map of how many squares `piece` reaches from each, `poster` all pieces. `style`
        is one of `model.style.STYLES`, by default the one that the rules tell. `last` are
        the squares of a last move, which are coloured in a position; the hand has none.

        Raises PictureError where such a picture cannot be drawn, UnknownNameError for a piece or a source without
        rules.
        """
        from ggn_store.render.diagrams import to_svg

        return to_svg(self.picture(**shown))

    def picture(
        self,
        *,
        piece: str | None = None,
        source: str | None = None,
        position: AnyPosition | None = None,
        mobility: bool = False,
        poster: bool = False,
        style: str | None = None,
        last: tuple[str, ...] = (),
    ) -> Picture:
        """What `draw` draws, as a value: its marks and counts can be looked at."""
        chosen = style_of(self._handle, style)

        def drawn(picture: Picture) -> Picture:
            return styled(picture, lambda _: chosen)

        if last and (mobility or poster or (piece is not None and position is None)):
            raise PictureError("the squares of a last move are those of a position: give one, or leave them out")
        if mobility and poster:
            raise PictureError("a picture is a heat map of mobility or a poster: ask for one of them")
        if poster:
            if (piece, source, position) != (None, None, None):
                raise PictureError("a poster shows all pieces: leave piece, source and position out")
            return drawn(_poster(self._handle))
        if mobility:
            if piece is None or source is not None or position is not None:
                raise PictureError(
                    "a heat map of mobility is of one piece on an empty board: give a piece, and only that"
                )
            return drawn(_heat_map(self._moves, piece))
        if piece is not None and position is None:
            return drawn(_geometric(self._handle, piece, source))
        return drawn(_after(self._handle, self._position(piece, source, position), last))

    def from_each(self, piece: str) -> Iterator[Diagram]:
        """What `picture` shows of a piece, from each square that it has rules from: all of them are read."""
        board, whole = board_of(self._handle), self._handle.read_piece(piece)
        for source in whole.sources:
            if source.square in board.numbers:
                yield moves_from(self._handle, replace(whole, sources=(source,)), source.square, board)

    def _position(self, piece: str | None, source: str | None, position: AnyPosition | None) -> Picture:
        """A position, which is the start position unless one is given, with the moves of a piece or without any."""
        handle = self._handle
        if position is None and handle.start is None and source is None:
            return _poster(handle)
        shown = as_position(position) if position is not None else handle.start
        if shown is None:
            raise PictureError(
                f"{handle.revision} has no start position of its own: say which piece, or give a position"
            )
        handle.require_square(source)
        if piece is None and source is None:
            board, placed = _placed(handle, shown)
            title = f"{_name(handle)}, {'start' if position is None else 'a'} position"
            return Diagram(title, board, placed, checked=self._legal.checked(shown))
        return _in_position(self._moves, piece, source, shown)

    @property
    def _handle(self) -> Handle:
        return self._moves.handle


def _name(handle: Handle) -> str:
    return handle.revision.envelope.title or handle.revision.name


# --- boards ---


def board_of(handle: Handle) -> Board:
    """The board to draw: with the holes that definition or description tell of, labels in the order of the document."""
    board = handle.board
    if (squares := squares_of(handle)) != board.squares:
        return Board(squares)
    if board.shape is None and not all(map(cell.is_cell, board.squares)):
        require_drawable(board)
        named = dict.fromkeys(square for piece in handle.read_pieces() for square in _mentioned(piece))
        return Board(tuple(square for square in named if square in board.numbers))
    return board


def squares_of(handle: Handle) -> tuple[str, ...]:
    """The squares of a board, without the holes that definition or description tell of."""
    definition = handle.definition
    if definition is not None and definition.board.shape is None:
        return definition.board.squares
    network = geometry_of(handle)
    return tuple(network.places) if isinstance(network, Network) else handle.board.squares


def _mentioned(piece: Piece) -> Iterator[str]:
    for source, destination, _, possibility in piece.entries():
        yield source.square
        yield destination.square
        yield from possibility.must
        yield from possibility.deny
        yield from () if possibility.effects is None else possibility.effects.board


def _after(handle: Handle, picture: Picture, last: tuple[str, ...]) -> Picture:
    """A picture of a position with the squares of the last move, if there are any."""
    if not last:
        return picture
    for square in last:
        handle.require_square(square)
    if not isinstance(picture, Diagram):
        raise PictureError(f"{handle.revision} has no start position, and so no last move: give a position")
    return replace(picture, last=tuple(square for square in last if square != HAND))


def _placed(handle: Handle, position: Position) -> tuple[Board, Position]:
    """The board with the position on it; squares that an undeclared board does not know are drawn, too."""
    board = board_of(handle)
    handle.placed(position)
    outside = sorted(position.board.keys() - board.numbers.keys())
    if not outside:
        return board, position
    squares = (*board.squares, *outside)
    return Board(squares) if board.shape is None else boards.around(squares), position


# --- moves ---


def _geometric(handle: Handle, identifier: str, source: str | None) -> Diagram:
    """Everything that a piece may do from a square, whatever else stands on the board."""
    outline = handle.read_outline(identifier)
    if source is not None:
        require_source(identifier, source, [each.square for each in outline.sources])
    board = board_of(handle)
    source = _telling(outline, board) if source is None else source
    piece = handle.read_source(identifier, source)
    return moves_from(handle, piece, source, board, f"{_name(handle)}: {identifier} {_from(source)}")


def moves_from(handle: Handle, piece: Piece, source: str, board: Board, caption: str = "") -> Diagram:
    """Everything that a piece may do from a square of a board."""
    side = side_of(piece.identifier)
    alone = (
        Position({}, {piece.identifier: 1}, side)
        if source == HAND
        else Position({source: piece.identifier}, None, side)
    )
    title = f"{_name(handle)}: moves of {piece.identifier} {_from(source)}"
    return Diagram(title, board, alone, caption, piece.identifier, source, marks_of_piece(piece, source))


def _from(source: str) -> str:
    return "from the hand" if source == HAND else f"from {source}"


def _in_position(moves: Moves, piece: str | None, source: str | None, position: Position) -> Diagram:
    """The moves of a piece in a position, with its own side to move."""
    handle = moves.handle
    piece, source = _found(piece, source, position)
    position = position.with_changes(side=side_of(piece))
    board, position = _placed(handle, position)
    found = moves.one(position, moves.question(piece, source, None), None, "fast")
    marks = marks_of_moves(found, position.board)
    name = f"{piece} {_from(source)}"
    return Diagram(
        f"{_name(handle)}: moves of {name} in a position",
        board,
        position,
        f"{_name(handle)}: {name}",
        piece,
        source,
        marks,
    )


def _found(piece: str | None, source: str | None, position: Position) -> tuple[str, str]:
    """Piece and source, of which one may be missing where the position tells it."""
    if source is not None and source != HAND:
        stands = position.board.get(source)
        if stands is None or piece not in (None, stands):
            wanted = "no piece" if piece is None else f"no {printable(piece)}"
            there = "" if stands is None else f" but {stands}"
            raise PictureError(f"there is {wanted} on {quote(source)} in this position{there}")
        return stands, source
    if piece is None:
        raise PictureError("say which piece is to be dropped from the hand: --piece, in Python piece=")
    places = [square for square, stands in position.board.items() if stands == piece and source is None]
    if source == HAND or (not places and (position.hands or {}).get(piece)):
        return piece, HAND
    if len(places) != 1:
        raise PictureError(
            f"there are {len(places)} {printable(piece)} in this position, on {offer(places)}: say which, with --source"
            if places
            else f"there is no {printable(piece)} in this position"
        )
    return piece, places[0]


# --- mobility ---


def _heat_map(moves: Moves, piece: str) -> HeatMap:
    handle = moves.handle
    handle.require_piece(piece)
    sources = [square for square in SelectedPiece(moves, piece).sources if square != HAND]
    board = board_of(handle)
    require_drawable(board)  # before its squares are asked one by one
    alone = [Position({square: piece}, None, side_of(piece)) for square in sources]
    found = moves.many(alone, moves.question(piece, None, None), None, "fast")
    counts = {
        square: len({move.destination for move in each} - {square, HAND})
        for square, each in zip(sources, found, strict=True)
    }
    return HeatMap(f"{_name(handle)}: mobility of {piece}", board, piece, counts)


# --- posters ---


def _poster(handle: Handle) -> Poster:
    board = board_of(handle)
    require_drawable(board)
    cards: dict[str, tuple[Diagram, ...]] = {}
    left_out = False
    drops = False
    for piece in handle.read_pieces():
        sources = _telling_sources(piece, board)
        has_hand = any(each.square == HAND for each in piece.sources)
        drops |= has_hand and HAND not in sources
        star = " *" if has_hand and HAND not in sources else ""
        name = handle.piece_names.get(piece.identifier, "")
        caption = f"{piece.identifier} {name}".rstrip() + star
        captions = [caption, *(f"{caption} {_from(source)}" for source in sources[1:])]
        found = tuple(
            moves_from(handle, piece, *each) for each in zip(sources, [board] * len(sources), captions, strict=True)
        )
        twin = cards.get(piece.identifier.upper()) if side_of(piece.identifier) == "second" else None
        if twin is not None and all(_is_mirror_image(each, piece, board) for each in twin):
            left_out = True
        else:
            cards[piece.identifier] = found
    notes = [_MIRRORED] * left_out + [_DROPPED] * drops
    shape = board.shape_text or f"{len(board.squares)} squares"
    return Poster(
        _name(handle),
        f"{handle.revision}: a board of {shape}, {len(handle.pieces)} pieces",
        tuple(chain.from_iterable(cards.values())),
        tuple(notes),
    )


def _telling_sources(piece: Piece, board: Board) -> list[str]:
    """Sources that show between them all that the piece can do: moving, capturing, promoting, changing other squares.

    The first is that with most destinations; others follow while they show something that those before do not.
    """
    chosen = [_telling(piece, board)]
    kinds = {
        source.square: {kind for mark in marks_of_piece(piece, source.square) for kind in shapes(mark)}
        for source in piece.sources
        if source.square != HAND
    }
    missing = set[str]().union(*kinds.values()) - kinds.get(chosen[0], set())
    while missing:
        most = max(len(found & missing) for found in kinds.values())
        fitting = [source for source in piece.sources if len(kinds.get(source.square, set()) & missing) == most]
        chosen.append(_telling(replace(piece, sources=tuple(fitting)), board))
        missing -= kinds[chosen[-1]]
    return chosen


def _telling(piece: Piece, board: Board) -> str:
    """The source with most destinations, the nearest to the middle of the board of several; the hand if no other."""
    sources = [source for source in piece.sources if source.square != HAND] or list(piece.sources)
    if not all(map(cell.is_cell, board.squares)):
        return max(sources, key=lambda source: len(source.destinations)).square
    points = list(map(cell.parse, board.squares))
    middle = [(min(axis) + max(axis)) / 2 for axis in zip(*points, strict=False)]

    def key(square: str) -> tuple[int, float, tuple[int, ...]]:
        if square == HAND:
            return 0, 0.0, ()
        point = cell.parse(square)
        distance = sum((a - b) ** 2 for a, b in zip(point, middle, strict=False))
        reached = next(len(source.destinations) for source in sources if source.square == square)
        *across, ahead = point
        return -reached, distance, (ahead if side_of(piece.identifier) == "first" else -ahead, *across)

    return min((source.square for source in sources), key=key)


def _is_mirror_image(first: Diagram, piece: Piece, board: Board) -> bool:
    """Whether the second side's piece does from the mirrored square what the first side's does from its own."""
    lattice = Lattice.of(board)
    if first.source is None or lattice is None:
        return False
    for is_turned in (False, True):
        images = dict(zip(lattice.places, lattice.images(opposite(lattice.dimensions, is_turned)), strict=True))
        images[HAND] = HAND
        found = {replace(mark, words="") for mark in marks_of_piece(piece, images[first.source])}
        if found == {replace(mark, square=images[mark.square], words="") for mark in first.marks}:
            return True
    return False
