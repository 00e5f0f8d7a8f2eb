"""Boards whose squares have coordinates, for what is said of movement apart from labels."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from typing import Final

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.geometry import Lattice, Symmetry, Vector

# Sets of squares by their codes take this many bits a square, or so many in all; a box of three dimensions takes 16.
_MOST_SPARSE: Final = 64
_LEAST_SPAN: Final = 1 << 14


class Grid:
    """A board whose squares have coordinates, from 0 on in each of up to three dimensions; sets of squares are bits."""

    def __init__(self, size: Vector, points: list[Vector]) -> None:
        self.size = size
        self.points = points
        self.is_full = len(self.points) == math.prod(size)
        self.numbers = {point: number for number, point in enumerate(self.points)}
        # Sums of coordinates that differ for all differences of squares.
        bases = [2 * each - 1 for each in size]
        self.strides = tuple(math.prod(bases[:axis]) for axis in range(len(size)))
        self.codes = tuple(sum(map(int.__mul__, point, self.strides)) for point in self.points)
        self.span = 2 * math.prod(bases)
        self.by_code = {code: number for number, code in enumerate(self.codes)}
        self._vectors: dict[int, Vector] = {}
        self._texts: dict[tuple[Symmetry, int], str] = {}

    @classmethod
    def of(cls, board: Board) -> Grid | None:
        """The grid of a board; None where its squares have no coordinates."""
        lattice = Lattice.of(board)
        if lattice is None:
            return None
        return cls(lattice.size, [tuple(map(int.__sub__, point, lattice.low)) for point in lattice.points.values()])

    @classmethod
    def row(cls, board: Board) -> Grid:
        """The squares of a board, which need no coordinates, side by side in the order of their numbers."""
        count = max(1, len(board.squares))
        return cls((count,), [(number,) for number in range(count)])

    def vector(self, code: int) -> Vector:
        """The difference of two squares from the difference of their codes."""
        if code not in self._vectors:
            rest = code + sum((each - 1) * stride for each, stride in zip(self.size, self.strides, strict=True))
            found = []
            for each in self.size:
                rest, digit = divmod(rest, 2 * each - 1)
                found.append(digit - each + 1)
            self._vectors[code] = tuple(found)
        return self._vectors[code]

    def coded(self, squares: int) -> int | None:
        """A set of squares, given by their numbers, as bits by their codes; None where these are too far apart."""
        if self.span > max(_LEAST_SPAN, _MOST_SPARSE * len(self.codes)):
            return None
        bits = bytearray(self.span // 8 + 1)
        for number in bits_of(squares):
            code = self.codes[number]
            bits[code >> 3] |= 1 << (code & 7)
        return int.from_bytes(bits, "little")

    @functools.cached_property
    def every(self) -> int | None:
        """All squares as bits by their codes; None where these are too far apart."""
        return self.coded((1 << len(self.codes)) - 1)

    def fits(self, coded: int, vectors: Iterable[Vector]) -> int:
        """Those of a set of squares, as bits by their codes, from which all of these lead to squares of the board."""
        every = self.every or 0
        for vector in vectors:
            code = sum(map(int.__mul__, vector, self.strides))
            coded &= every >> code if code >= 0 else every << -code
        return coded

    def placed(self, symmetry: Symmetry, squares: int) -> int:
        """A set of squares, with axes reversed; a point that is no square of a board with holes gets a number, too."""
        found = 0
        for point in self._points_of(squares):
            placed = symmetry.place(point, self.size)
            if placed not in self.numbers:
                self.numbers[placed] = len(self.numbers)
                self.points.append(placed)
            found |= 1 << self.numbers[placed]
        return found

    def text(self, symmetry: Symmetry, squares: int) -> str:
        """A set of squares, turned or mirrored: equal ones of boxes of one size have equal texts."""
        key = symmetry, squares
        if key not in self._texts:
            placed = [symmetry.place(point, self.size) for point in self._points_of(squares)]
            if self.is_full:
                size = symmetry.extent(self.size)
                strides = [math.prod(size[:axis]) for axis in range(len(size))]
                bits = sum(1 << sum(map(int.__mul__, point, strides)) for point in placed)
                self._texts[key] = f"{bits:x}"
            else:
                self._texts[key] = str(sorted(placed))
        return self._texts[key]

    def _points_of(self, squares: int) -> Iterator[Vector]:
        return map(self.points.__getitem__, bits_of(squares))


def bits_of(squares: int) -> Iterator[int]:
    """The numbers of a set."""
    while squares:
        bit = squares & -squares
        yield bit.bit_length() - 1
        squares ^= bit
