"""The squares of a definition: its board, and the zones on it, both sides' at once."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import NotationError
from ggn_store.games.rules import SIDES, Zone
from ggn_store.games.toml_text import TomlTable, TomlValues
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.geometry import HEXAGONS, Lattice, opposite
from ggn_store.notation import cell
from ggn_store.notation.json_text import Path
from ggn_store.notation.qpi import Side

ALL: Final = "all"
ZONES: Final = 'a zone of [zones], a square, a rectangle such as "a7:h8", a list of these, or { first, second }'

_NAME = re.compile("[A-Za-z][A-Za-z0-9_-]{0,99}", re.ASCII)


def read_board(values: TomlValues, data: TomlTable) -> Board | None:
    """The board that `board` or `squares` says, None where that is wrong."""
    if ("board" in data) == ("squares" in data):
        found = sorted(data.keys() & {"board", "squares"})
        values.complain(("board",), "a definition has board or squares, and not both", found, 'such as board = "8x8"')
        return None
    if "squares" in data:
        return _read_squares(values, data)
    shape = values.text(data, "board")
    if shape is None:
        return None
    try:
        board = boards.parse_shape(shape)
    except NotationError as error:
        values.complain(("board",), str(error), shape, "files x ranks, or files x ranks x layers: 8x8, 5x5x5")
        return None
    if len(board.squares) > limits.DEFINITION_SQUARES.most:
        values.complain(("board",), "the board is too large", shape, limits.DEFINITION_SQUARES.allowed)
        return None
    return board


def read_hexagons(values: TomlValues, data: TomlTable, board: Board | None) -> str | None:
    """How the hexagons of a board are labelled; None where it has none."""
    found = values.choice(data, "hexagons", (), [*map(str, HEXAGONS)])
    if found is not None and board is not None and (board.extent is None or len(board.extent[0]) != 2):
        values.complain(("hexagons",), "hexagons are for boards of two dimensions", board.shape_text, 'such as "9x9"')
        return None
    return found


def _read_squares(values: TomlValues, data: TomlTable) -> Board | None:
    points: set[tuple[int, ...]] = set()
    for number, item in enumerate(values.texts(data, "squares")):
        points |= set(_points(values, item, ("squares", number)))
    dimensions = sorted(set(map(len, points)))
    if len(dimensions) > 1 or (dimensions and dimensions[0] > 3):
        values.complain(("squares",), "the squares are not of one number of dimensions", dimensions, "1, 2 or 3")
    elif len(points) > limits.DEFINITION_SQUARES.most:
        values.complain(("squares",), "the board is too large", len(points), limits.DEFINITION_SQUARES.allowed)
    elif points:
        return Board(tuple(cell.text(point) for point in sorted(points, key=lambda point: point[::-1])))
    elif data["squares"] == []:
        values.complain(("squares",), "the board has no squares", [], 'such as ["a1:e5", "c6"]')
    return None


def _points(values: TomlValues, item: str, path: Path) -> list[tuple[int, ...]]:
    """The coordinates of a square or a rectangle, on any board; none where it is neither."""
    corners = item.split(":")
    if len(corners) > 2 or not all(map(cell.is_cell, corners)):
        values.complain(path, "not a square or a rectangle of squares", item, 'such as "e4" or "a1:h8"')
        return []
    one, other = cell.parse(corners[0]), cell.parse(corners[-1])
    if len(one) != len(other):
        values.complain(path, "the two corners have different numbers of dimensions", item, 'such as "a1:h8"')
        return []
    axes = [range(min(a, b), max(a, b) + 1) for a, b in zip(one, other, strict=True)]
    if math.prod(map(len, axes)) > limits.DEFINITION_SQUARES.most:
        values.complain(path, "the rectangle is too large", item, limits.DEFINITION_SQUARES.allowed)
        return []
    values.squares(math.prod(map(len, axes)), path)
    return list(itertools.product(*axes))


class Squares:
    """What a definition calls its squares; without a board (because that is wrong) nothing is said about them."""

    def __init__(
        self, values: TomlValues, board: Board | None, turned: bool = False, hexagons: str | None = None
    ) -> None:
        self._values = values
        self.board = board
        self.are_hexagons = hexagons is not None
        self.zones: dict[str, Zone] = {}
        # Where each square is for the second side; None where that is no square.
        self.mirror: Mapping[str, str | None] = {}
        # How many dimensions the board has.
        self.dimensions: int | None = None
        if board is not None:
            everything = frozenset(board.squares)
            self.zones[ALL] = Zone(everything, everything)
            self._lattice = Lattice(board, self.are_hexagons, labels=HEXAGONS.get(hexagons, "axial"))
            self.dimensions = self._lattice.dimensions
            images = self._lattice.images(opposite(self.dimensions, turned))
            self.mirror = {square: image or None for square, image in zip(board.squares, images, strict=True)}

    def between(self, one: str, other: str) -> list[str]:
        """The squares strictly between two of the board; none where no line of rooks joins them."""
        vector = self._lattice.vector(one, other)
        if not self.are_hexagons and sum(map(bool, vector)) != 1:
            return []
        return list(next(iter(self._lattice.lines(one, other)), ()))

    def read_zones(self, data: TomlTable) -> None:
        """The named zones of [zones], in their order; a zone may be made of those before it."""
        for name, value in self._values.table(data, "zones").items():
            path: Path = ("zones", name)
            if not _NAME.fullmatch(name):
                self._values.complain(path, "not the name of a zone", name, "letters, digits, - and _, a letter first")
            elif name == ALL or (self.board is not None and name in self.board.numbers):
                self._values.complain(path, "the name means something else", name, f"neither {ALL} nor a square")
            else:
                # A zone that is wrong still stands for something, or each use of it would be one more complaint.
                everything = frozenset(() if self.board is None else self.board.squares)
                self.zones[name] = self.zone(value, path) or Zone(everything, everything)

    def zone(self, value: Any, path: Path) -> Zone | None:
        """The squares of both sides; None where something is wrong, which has then been said."""
        before = self._values.complaints.total
        if isinstance(value, dict):
            if value.keys() != set(SIDES):
                self._values.complain(path, "a zone in two parts has first and second", sorted(value), "first, second")
                return None
            parts = [self._area(value[side], (*path, side), side, mirrored=False) for side in SIDES]
        else:
            parts = [self._area(value, path, "first", mirrored=False)]
            if self._values.complaints.total == before:
                parts.append(self._area(value, path, "second", mirrored=True))
        if self._values.complaints.total > before or self.board is None:
            return None
        # Written for each side, it may be nothing for one of them.
        is_of_each = isinstance(value, dict) or (isinstance(value, str) and value in self.zones)
        if not (any(parts) if is_of_each else all(parts)):
            side = SIDES[0 if not parts[0] else 1]
            self._values.complain(path, f"the zone of the {side} side has no square", value, ZONES)
            return None
        return Zone(*parts)

    def optional_zone(self, table: TomlTable, key: str, path: Path) -> Zone | None:
        """The zone of a key that may be missing."""
        return self.zone(table[key], (*path, key)) if key in table else None

    def square(self, table: TomlTable, key: str, path: Path) -> str | None:
        """The square of a key that must be there."""
        if key not in table:
            self._values.complain((*path, key), f"{key} is missing", allowed="a square of the board")
            return None
        value = table[key]
        if isinstance(value, str) and cell.is_cell(value) and (self.board is None or value in self.board.numbers):
            return value
        self._values.complain((*path, key), "not a square of the board", value, self._board_text)
        return None

    def squares(self, table: TomlTable, key: str, path: Path, side: Side) -> list[str]:
        """The squares of a key that must be there, one or an area, in the order of the board; none if it is wrong."""
        value = table.get(key)
        if value is None or (isinstance(value, str) and (cell.is_cell(value) or value == "")):
            square = self.square(table, key, path)
            return [] if square is None else [square]
        found = self._area(value, (*path, key), side, mirrored=False)
        return sorted(found, key=({} if self.board is None else self.board.numbers).__getitem__)

    def passes(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether two pieces that go from the first square to the second pass each other."""
        before, after = (self._lattice.vector(*ends) for ends in zip(one, other, strict=True))
        return sum(a * b for a, b in zip(before, after, strict=True)) < 0

    def _area(self, value: Any, path: Path, side: Side, mirrored: bool) -> frozenset[str]:
        if isinstance(value, list):
            if self._values.is_too_long(value, path, limits.DEFINITION_LIST):
                return frozenset()
            parts = [self._area(item, (*path, number), side, mirrored) for number, item in enumerate(value)]
            return frozenset().union(*parts)
        if isinstance(value, str) and value in self.zones:
            self._values.squares(len(self.zones[value].of(side)), path)
            return self.zones[value].of(side)
        if not isinstance(value, str) or not all(map(cell.is_cell, value.split(":"))):
            self._values.complain(path, "no such zone", value, f"{ZONES}; {self._zone_names}")
            return frozenset()
        squares = [cell.text(point) for point in _points(self._values, value, path)]
        if not squares or self.board is None:
            return frozenset()
        there = [square for square in squares if square in self.board.numbers]
        # A rectangle on a board of listed squares may have holes; every other square must be there.
        if not there or (len(there) < len(squares) and self.board.shape is not None):
            message = "not on the board, and no zone has this name"
            self._values.complain(path, message, value, f"{self._board_text}; {self._zone_names}")
            return frozenset()
        if mirrored:
            return frozenset(image for square in there if (image := self.mirror[square]) is not None)
        return frozenset(there)

    @property
    def _zone_names(self) -> str:
        return f"the zones up to here: {', '.join(self.zones)}"

    @property
    def _board_text(self) -> str:
        if self.board is None:
            return "a square of the board"
        first, last = self.board.squares[0], self.board.squares[-1]
        return f"the {len(self.board.squares)} squares from {first} to {last}"
