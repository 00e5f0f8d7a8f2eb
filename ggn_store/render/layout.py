"""Where the squares of a board lie in a picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ggn_store import limits
from ggn_store.errors import PictureError, printable
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.geometry import Lattice
from ggn_store.model.pictures.style import AREAS, PLAIN, Style
from ggn_store.notation import cell
from ggn_store.render import grounds, svg
from ggn_store.render.grounds import EDGE, LIGHT
from ggn_store.render.svg import Font

UNIT: Final = 48.0  # the side of a square, in pixels
_LABEL: Final = 15.0
_MARGIN: Final = 6.0
_APART: Final = 2 * UNIT  # the nearest places of a network
_WIDEST: Final = 44  # squares; further layers go to the next row
_DARK: Final = "#d6c3a0"
_MEDIUM: Final = "#e8d9b9"
_SMALL: Final = 9.0


@dataclass(frozen=True, slots=True)
class BoardDrawing:
    """The left upper corner of each square, and what is drawn of the board itself, on `width` by `height` pixels.

    `right` is where the squares end, without what is beside them; `top` and `bottom` likewise.
    """

    corners: dict[str, tuple[float, float]]
    ground: tuple[str, ...]
    width: float
    height: float
    top: float
    bottom: float
    right: float
    is_hexagonal: bool = False
    on_sides: bool = False

    def cells(self, squares: Iterable[str], **attributes: str | float | None) -> str:
        """The shapes of squares as one element; nothing where there are none."""
        known = [square for square in squares if square in self.corners]
        if self.is_hexagonal:
            return grounds.hexagons(map(self.middle, known), UNIT, self.on_sides, **attributes)
        return svg.squares((self.corners[square] for square in known), UNIT, **attributes)

    def middle(self, square: str) -> tuple[float, float]:
        """The middle of a square."""
        x, y = self.corners[square]
        return x + UNIT / 2, y + UNIT / 2


def require_drawable(board: Board) -> None:
    """Raise PictureError where a board has more squares than a picture should hold."""
    count = len(board.squares)
    if count > limits.DRAWN_SQUARES.most:
        raise PictureError(
            f"a board of {count:,} squares is too large to be drawn: it can have {limits.DRAWN_SQUARES.allowed}"
        )


def lay_out(board: Board, is_flipped: bool = False, style: Style = PLAIN) -> BoardDrawing:
    """The layout of any board, or of one that `is_flipped`: seen from its other end.

    A board of CELL squares in up to three dimensions is drawn as it is, squares that it lacks as holes, layers side by
    side; other squares are listed in rows. `style` says what is drawn of the board itself. Raises PictureError for a
    board that is too large.
    """
    require_drawable(board)
    if style.ground == "ways" and style.places.keys() >= board.numbers.keys():
        return _network(board, is_flipped, style)
    box = board.extent
    # A few squares far apart are better listed than drawn as a board that is nearly all holes.
    if box is None or math.prod(box[1]) > max(64, 4 * len(board.squares)):
        return _listed(board.squares[::-1] if is_flipped else board.squares)
    if style.ground == "hexagons" and len(box[1]) == 2:
        if style.upright or style.labels != "axial":
            return _tiled(board, is_flipped, style)
        return _hexagonal(board, *box, is_flipped)
    return _drawn(board, *box, is_flipped, style)


def _drawn(board: Board, low: tuple[int, ...], shape: tuple[int, ...], is_flipped: bool, style: Style) -> BoardDrawing:
    dimensions = len(shape)
    width, height, depth = (*shape, 1, 1)[:3]
    x0, y0, z0 = (*low, 0, 0)[:3]
    files = [printable(cell.text((x0 + x,))) for x in range(width)]
    ranks = [str(y0 + y + 1) for y in range(height)] if dimensions > 1 else []
    if is_flipped:
        files, ranks = files[::-1], ranks[::-1]
    beside = max([svg.text_width(rank, _LABEL) for rank in ranks], default=0) + _MARGIN
    heading = _LABEL + 10 if dimensions == 3 else _MARGIN
    below = _LABEL + _MARGIN
    columns = min(depth, max(1, int(_WIDEST // (width + 1))))
    pitch_x = beside + width * UNIT + UNIT / 2
    pitch_y = heading + height * UNIT + below + UNIT / 4
    known = set(board.squares)
    corners: dict[str, tuple[float, float]] = {}
    tones: tuple[list[tuple[float, float]], ...] = ([], [])
    holes: list[tuple[float, float]] = []
    labels: list[str] = []
    for z in range(depth):
        left = (z % columns) * pitch_x + beside
        top = (z // columns) * pitch_y + heading
        if dimensions == 3:
            name = f"layer {cell.text((0, 0, z0 + z))[2:]}"
            labels.append(svg.text(name, left + width * UNIT / 2, top - heading / 2 - 1, width * UNIT, Font(_LABEL)))
        for x, y in itertools.product(range(width), range(height)):
            across, down = (width - 1 - x, y) if is_flipped else (x, height - 1 - y)
            corner = (left + across * UNIT, top + down * UNIT)
            square = cell.text((x0 + x, y0 + y, z0 + z)[:dimensions])
            if square in known:
                corners[square] = corner
                tones[(x0 + x + y0 + y + z0 + z) % 2].append(corner)
            else:
                holes.append(corner)
        labels += [
            svg.text(name, left + (x + 0.5) * UNIT, top + height * UNIT + below / 2 + 1, UNIT - 2, Font(_LABEL))
            for x, name in enumerate(files)
        ]
        labels += [
            svg.text(name, left - _MARGIN, top + (height - y - 0.5) * UNIT, beside, Font(_LABEL, "end"))
            for y, name in enumerate(ranks)
        ]
    rows = -(-depth // columns)
    if style.ground == "points":
        middles = {square: (x + UNIT / 2, y + UNIT / 2) for square, (x, y) in corners.items()}
        floor = grounds.points(middles, UNIT, style)
    elif style.ground == "cells":
        floor = _ground((corners.values(), LIGHT))
    else:
        floor = _ground((tones[1], LIGHT), (tones[0], _DARK))
    areas = _areas(corners, style) if style.ground != "points" else ""
    ground = (_hatched(holes), floor, areas, svg.group(labels, fill=svg.FAINT))
    total_x = columns * pitch_x - UNIT / 2
    total_y = rows * pitch_y - UNIT / 4
    return BoardDrawing(corners, ground, total_x, total_y, heading, total_y - below, total_x)


def _network(board: Board, is_flipped: bool, style: Style) -> BoardDrawing:
    """Places with the ways between them, each with its label above it and beside a way that leads up."""
    turn = -1 if is_flipped else 1
    middles = {
        square: (turn * _APART * style.places[square][0], -turn * _APART * style.places[square][1])
        for square in board.squares
    }
    (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in zip(*middles.values(), strict=True))
    above = _LABEL + 6
    middles = {square: (x - left + _APART / 2, y - top + above + UNIT / 2) for square, (x, y) in middles.items()}
    corners = {square: (x - UNIT / 2, y - UNIT / 2) for square, (x, y) in middles.items()}
    labels = []
    for square, (x, y) in middles.items():
        wide, room = svg.text_width(printable(square), _LABEL), _APART - 6
        beside = max(0, min(wide / 2 + 5, (room - wide) / 2))
        labels.append(svg.text(square, x + beside, y - UNIT / 2 - _LABEL / 2 - 2, room, Font(_LABEL)))
    floor = f"{grounds.ways(middles, style)}\n{_ground((corners.values(), LIGHT))}"
    width, height = right - left + _APART, bottom - top + above + UNIT + _MARGIN
    return BoardDrawing(
        corners, (floor, svg.group(labels, fill=svg.FAINT)), width, height, above, height - _MARGIN, width
    )


def _hexagonal(board: Board, low: tuple[int, ...], shape: tuple[int, ...], is_flipped: bool) -> BoardDrawing:
    """Hexagons with two coordinates: files slant to the right, each row half a hexagon beyond that below it.

    The names of rows stand before their first hexagon, those of files at their ends: above where the lowest row lacks
    some.
    """
    width, height = shape
    pitch, tall = UNIT * grounds.HEXAGON * 0.75, UNIT * grounds.HEXAGON
    ranks = [str(low[1] + y + 1) for y in range(height)]
    beside = max(svg.text_width(rank, _LABEL) for rank in ranks) + _MARGIN
    places: dict[tuple[int, int], str] = {}
    for square in board.squares:
        file, rank = (value - least for value, least in zip(cell.parse(square), low, strict=True))
        places[(width - 1 - file, height - 1 - rank) if is_flipped else (file, rank)] = square
    leftmost = min(across + up / 2 for across, up in places)
    is_above = any((across, 0) not in places for across in range(width))
    top = _LABEL + _MARGIN if is_above else _MARGIN

    def middle(across: int, up: int) -> tuple[float, float]:
        return beside + (across + up / 2 - leftmost + 0.5) * UNIT, top + tall / 2 + (height - 1 - up) * pitch

    corners = {square: (x - UNIT / 2, y - UNIT / 2) for place, square in places.items() for x, y in [middle(*place)]}
    bottom = top + (height - 1) * pitch + tall
    labels = []
    for up, name in enumerate(ranks[::-1] if is_flipped else ranks):
        x, y = middle(min(across for across, row in places if row == up), up)
        labels.append(svg.text(name, x - UNIT / 2 - _MARGIN, y, beside, Font(_LABEL, "end")))
    for across in range(width):
        name = cell.text((low[0] + (width - 1 - across if is_flipped else across),))
        x, y = middle(across, max(up for each, up in places if each == across) if is_above else 0)
        x, y = (x + 0.36 * UNIT, y - 0.66 * UNIT) if is_above else (x, bottom + _LABEL / 2 + 2)
        labels.append(svg.text(printable(name), x, y, UNIT - 2, Font(_LABEL)))
    right = max(x for x, _ in corners.values()) + UNIT
    below = _MARGIN if is_above else _LABEL + _MARGIN
    found = BoardDrawing(corners, (), right, bottom + below, top, bottom, right, is_hexagonal=True)
    floor = found.cells(corners, fill=LIGHT, stroke=EDGE, stroke_width=1)
    return replace(found, ground=(svg.group([floor], class_="board"), svg.group(labels, fill=svg.FAINT)))


def _tiled(board: Board, is_flipped: bool, style: Style) -> BoardDrawing:
    """Hexagons, each with its label; three tones, as for three bishops."""
    tall, pitch = UNIT * grounds.HEXAGON, UNIT * grounds.HEXAGON * 0.75
    points = Lattice(board, hexagonal=True, labels=style.labels).points
    turn = -1 if is_flipped else 1
    middles = {
        square: (turn * x * pitch, -turn * (y + x / 2) * UNIT)
        if style.upright
        else (turn * (x + y / 2) * UNIT, -turn * y * pitch)
        for square, (x, y) in points.items()
    }
    left, top = (min(axis) for axis in zip(*middles.values(), strict=True))
    right, bottom = (max(axis) for axis in zip(*middles.values(), strict=True))
    across, down = _MARGIN + tall / 2 - left, _MARGIN + tall / 2 - top
    corners = {square: (x + across - UNIT / 2, y + down - UNIT / 2) for square, (x, y) in middles.items()}
    width, height = right - left + tall + 2 * _MARGIN, bottom - top + tall + 2 * _MARGIN
    upright = style.upright
    found = BoardDrawing(
        corners, (), width, height, _MARGIN, height - _MARGIN, width, is_hexagonal=True, on_sides=upright
    )
    tones = [[square for square, (x, y) in points.items() if (x - y) % 3 == tone] for tone in range(3)]
    colours = (LIGHT, _MEDIUM, _DARK)
    floor = [
        found.cells(squares, fill=fill, stroke=EDGE, stroke_width=1)
        for squares, fill in zip(tones, colours, strict=True)
    ]
    labels = [
        svg.text(printable(square), x + UNIT / 2, y + UNIT - 5, UNIT / 2, Font(_SMALL))
        for square, (x, y) in corners.items()
    ]
    # On the board, which a dark page leaves as it is.
    return replace(found, ground=(svg.group(floor, class_="board"), svg.group(labels, fill=EDGE)))


def _ground(*tones: tuple[Iterable[tuple[float, float]], str]) -> str:
    parts = [svg.squares(corners, UNIT, fill=fill) for corners, fill in tones]
    return svg.group(parts, class_="board", stroke=EDGE, stroke_width=1)


def _areas(corners: Mapping[str, tuple[float, float]], style: Style) -> str:
    """Squares of other colours, with their names for who points at them."""
    known = (
        (name, [corners[square] for square in squares if square in corners]) for name, squares in style.areas.items()
    )
    parts = [
        svg.group([svg.title(name), svg.squares(sorted(found), UNIT, fill=AREAS[name])])
        for name, found in known
        if found
    ]
    return svg.group(parts, class_="areas", stroke=EDGE, stroke_width=1)


def _hatched(holes: Sequence[tuple[float, float]]) -> str:
    """Holes: no square, but a few thin lines, so that nobody takes them for light squares."""
    step = UNIT / 4
    ends = [
        (x + max(0, i * step - UNIT), y + min(UNIT, i * step), x + min(UNIT, i * step), y + max(0, i * step - UNIT))
        for x, y in holes
        for i in (2, 4, 6)
    ]
    return svg.strokes(ends, stroke="#b5b5b5", stroke_width=1)


def _listed(squares: Sequence[str]) -> BoardDrawing:
    """Squares that are just labels, in rows, each with its label above it."""
    columns = max(1, math.ceil(math.sqrt(len(squares))))
    longest = max([svg.text_width(printable(square), _LABEL) for square in squares], default=0)
    pitch_x = max(UNIT, min(longest, 2.2 * UNIT)) + 10
    pitch_y = UNIT + _LABEL + 12
    corners: dict[str, tuple[float, float]] = {}
    labels: list[str] = []
    for number, square in enumerate(squares):
        row, column = divmod(number, columns)
        corners[square] = (column * pitch_x + (pitch_x - UNIT) / 2, row * pitch_y + _LABEL + 6)
        middle = column * pitch_x + pitch_x / 2
        labels.append(svg.text(square, middle, row * pitch_y + _LABEL / 2 + 2, pitch_x - 4, Font(_LABEL)))
    ground = (_ground((corners.values(), LIGHT)), svg.group(labels, fill=svg.FAINT))
    rows = max(1, -(-len(squares) // columns))
    width, height = columns * pitch_x, rows * pitch_y
    return BoardDrawing(corners, ground, width, height, _LABEL + 6, height - 6, width)
