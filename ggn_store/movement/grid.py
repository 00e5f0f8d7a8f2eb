"""Boards whose squares have coordinates, for what is said of movement apart from labels."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from typing import Final

from ggn_store.model.documents.board import Board, extent_of
from ggn_store.model.documents.geometry import (
    Lattice,
    Symmetry,
    Vector,
    hexagonal_symmetries,
    opposite,
    symmetries,
)

# Sets of squares by their codes take this many bits a square, or so many in all; a box of three dimensions takes 16.
_MOST_SPARSE: Final = 64
_LEAST_SPAN: Final = 1 << 14


class Grid:
    """A board whose squares have coordinates, from 0 on in each of up to three dimensions; sets of squares are bits.

    Hexagons have cube coordinates, of which the first two say all; vectors have three that come to 0. Squares that the
    board only lists, being holes of it, have numbers, and are nowhere.
    """

    def __init__(
        self,
        size: Vector,
        points: list[Vector],
        *,
        hexagonal: bool = False,
        fold: int | None = None,
        squares: int | None = None,
    ) -> None:
        self.hexagonal = hexagonal
        self.fold = fold
        self._squares = (1 << len(points)) - 1 if squares is None else squares
        there = [*bits_of(self._squares)]
        told = size
        if hexagonal:
            last = [-sum(point) for point in points]
            low, high = min(last[each] for each in there), max(last[each] for each in there)
            size = (*size, high - low + 1)
            points = [(*point, each - low) for point, each in zip(points, last, strict=True)]
        self.size = size
        self.points = points
        self.is_full = len(there) == math.prod(size)
        self.numbers = {points[number]: number for number in there}
        # Sums of coordinates that differ for all differences of squares.
        bases = [2 * each - 1 for each in told]
        self.strides = tuple(math.prod(bases[:axis]) for axis in range(len(told)))
        self.codes = tuple(sum(map(int.__mul__, point, self.strides)) for point in self.points)
        self.span = 2 * math.prod(bases)
        self.by_code = {self.codes[number]: number for number in there}
        self._vectors: dict[int, Vector] = {}
        self._texts: dict[tuple[Symmetry, int], str] = {}

    @classmethod
    def of(cls, board: Board, form: str | None = None, squares: int | None = None) -> Grid | None:
        """The grid of a board whose squares lie in this form; None where they have no coordinates.

        `squares` are those that are no holes, None where all are.
        """
        lattice = Lattice.lying(board, form)
        if lattice is None:
            return None
        points, (low, size) = [*lattice.points.values()], (lattice.low, lattice.size)
        if squares is not None:
            low, size = extent_of([points[number] for number in bits_of(squares)])
        points = [tuple(map(int.__sub__, point, low)) for point in points]
        return cls(size, points, hexagonal=lattice.hexagonal, fold=lattice.fold, squares=squares)

    @classmethod
    def row(cls, board: Board) -> Grid:
        """The squares of a board, which need no coordinates, side by side in the order of their numbers."""
        count = max(1, len(board.squares))
        return cls((count,), [(number,) for number in range(count)])

    def vector(self, code: int) -> Vector:
        """The difference of two squares from the difference of their codes."""
        if code not in self._vectors:
            size = self.size[: len(self.strides)]
            rest = code + sum((each - 1) * stride for each, stride in zip(size, self.strides, strict=True))
            found = []
            for each in size:
                rest, digit = divmod(rest, 2 * each - 1)
                found.append(digit - each + 1)
            if self.hexagonal:
                found.append(-sum(found))
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

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Those of boards of its kind, first the one that changes nothing."""
        return hexagonal_symmetries() if self.hexagonal else symmetries(len(self.size))

    @property
    def opposite(self) -> Symmetry:
        """How it looks from the other side; among hexagons, where rows need not lead on when mirrored, turned."""
        return opposite(len(self.size), is_turned=self.hexagonal)

    @functools.cached_property
    def every(self) -> int | None:
        """All squares as bits by their codes; None where these are too far apart."""
        return self.coded(self._squares)

    def fits(self, coded: int, vectors: Iterable[Vector], every: int) -> int:
        """Those of a set of squares, as bits by their codes, from which all of these lead to squares among `every`."""
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

    def has(self, symmetry: Symmetry) -> bool:
        """Whether the board is as before, turned or mirrored."""
        images = self.images(symmetry)
        return all(images[number] is not None for number in bits_of(self._squares))

    def images(self, symmetry: Symmetry) -> list[int | None]:
        """The number of the square that each comes to, turned or mirrored within the box; None where there is none."""
        count = len(self.codes)
        found = [self.numbers.get(symmetry.place(point, self.size)) for point in self.points[:count]]
        return [None if number is None or number >= count else number for number in found]

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
