"""Boards whose squares have coordinates, for what is said of movement apart from labels."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable, Iterator

from ggn_store.model.board import Board
from ggn_store.model.geometry import Lattice, Symmetry, Vector


class Grid:
    """A board whose squares have coordinates, from 0 on in each of up to three dimensions; sets of squares are bits."""

    def __init__(self, size: Vector, points: list[Vector]) -> None:
        self.size = size
        self.points = points
        self.is_full = len(self.points) == math.prod(size)
        self.squares = frozenset(self.points)
        self.numbers = {point: number for number, point in enumerate(self.points)}
        # Sums of coordinates that differ for all differences of squares.
        bases = [2 * each - 1 for each in size]
        self.strides = tuple(math.prod(bases[:axis]) for axis in range(len(size)))
        self.codes = tuple(sum(map(int.__mul__, point, self.strides)) for point in self.points)
        self.span = 2 * math.prod(bases)
        self._vectors: dict[int, Vector] = {}
        self._fits: dict[Vector, int] = {}
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

    def fits(self, vectors: Iterable[Vector]) -> int:
        """The squares from which all of these lead to squares of the board."""
        wanted = [(0,) * len(self.size), *vectors]
        if not self.is_full:
            return functools.reduce(operator.and_, map(self._fits_one, wanted))
        found = -1
        for parts, size, (up_to, at_least) in zip(zip(*wanted, strict=True), self.size, self._halves, strict=True):
            low, high = -min(parts), size - 1 - max(parts)
            if low >= size or high < 0:
                return 0
            found &= at_least[low] & up_to[high]
        return found

    def _fits_one(self, vector: Vector) -> int:
        if vector not in self._fits:
            there = (tuple(map(int.__add__, point, vector)) in self.squares for point in self.points)
            self._fits[vector] = sum(1 << number for number, is_there in enumerate(there) if is_there)
        return self._fits[vector]

    @functools.cached_property
    def _halves(self) -> list[tuple[list[int], list[int]]]:
        """For each axis, by coordinate, the squares with no greater one, and those with no smaller one."""
        found = []
        for axis, size in enumerate(self.size):
            at = [0] * size
            for number, point in enumerate(self.points):
                at[point[axis]] |= 1 << number
            at_least = [*itertools.accumulate(reversed(at), operator.or_)]
            found.append(([*itertools.accumulate(at, operator.or_)], at_least[::-1]))
        return found

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
        while squares:
            bit = squares & -squares
            yield self.points[bit.bit_length() - 1]
            squares ^= bit
