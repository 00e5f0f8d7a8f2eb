"""Who has connected in hex, Y, Havannah and lines of action, from their written rules, by union of neighbours.

It knows boards by geometry alone: which squares are edges follows from coordinates and from how many neighbours a
square has. Nothing here uses ggn_store.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Point = tuple[int, int]


def point_of(square: str) -> Point:
    found = re.fullmatch(r"([a-z])([0-9]+)", square)
    assert found is not None, square
    return "abcdefghijklmnopqrstuvwxyz".index(found[1]), int(found[2]) - 1


def among_hexagons(a: Point, b: Point) -> bool:
    """Whether hexagons touch: of their three coordinates, whose sum is 0, none differs by more than one."""
    q, r = a[0] - b[0], a[1] - b[1]
    return max(abs(q), abs(r), abs(q + r)) == 1


def among_squares(a: Point, b: Point) -> bool:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1


@dataclass(frozen=True)
class Connection:
    """A board, which of its squares touch, and which groups have won: points and side, `True` for the first."""

    points: frozenset[Point]
    touch: Callable[[Point, Point], bool]
    wins: Callable[[frozenset[Point], frozenset[Point], bool], bool]

    def connected(self, board: Mapping[str, bool]) -> set[bool]:
        """The sides that have won, of squares with the side whose stone stands there."""
        found = set()
        for side in (True, False):
            own = frozenset(point_of(square) for square, is_first in board.items() if is_first == side)
            if any(self.wins(group, own, side) for group in self.groups(own)):
                found.add(side)
        return found

    def groups(self, own: Iterable[Point]) -> set[frozenset[Point]]:
        of: dict[Point, Point] = {point: point for point in own}

        def root(point: Point) -> Point:
            while of[point] != point:
                point = of[point]
            return point

        for a, b in itertools.combinations(of, 2):
            if self.touch(a, b):
                of[root(a)] = root(b)
        return {frozenset(each for each in of if root(each) == top) for top in map(root, of)}


def hex_board(size: int, touch: Callable[[Point, Point], bool] = among_hexagons) -> Connection:
    """The first player joins the lowest row to the highest, the second the columns on the left and right."""

    def wins(group: frozenset[Point], own: frozenset[Point], is_first: bool) -> bool:
        return {0, size - 1} <= {point[is_first] for point in group}

    return Connection(frozenset((x, y) for x in range(size) for y in range(size)), touch, wins)


def y_board(size: int, touch: Callable[[Point, Point], bool] = among_hexagons) -> Connection:
    """Whose group touches all three sides has won; a corner is on two of them."""

    def wins(group: frozenset[Point], own: frozenset[Point], is_first: bool) -> bool:
        return (
            any(x == 0 for x, _ in group) and any(y == 0 for _, y in group) and any(x + y == size - 1 for x, y in group)
        )

    points = frozenset((x, y) for x in range(size) for y in range(size - x))
    return Connection(points, touch, wins)


def havannah_board(size: int, corners: int = 2, sides: int = 3) -> Connection:
    """Whose group joins two corners, or three sides without their corners, has won; rings are not looked for."""
    middle = size - 1
    square = itertools.product(range(2 * size - 1), repeat=2)
    points = frozenset((x, y) for x, y in square if abs(x - middle + y - middle) < size)
    beside = {point: sum(among_hexagons(point, other) for other in points) for point in points}

    def side_of(point: Point) -> Point | None:
        """The direction in which a square of a side has no neighbours: two of six are missing."""
        x, y = point
        ways = [(q, r) for q, r in itertools.product((-1, 0, 1), repeat=2) if among_hexagons((0, 0), (q, r))]
        missing = [(q, r) for q, r in ways if (x + q, y + r) not in points]
        return (sum(q for q, _ in missing), sum(r for _, r in missing)) if beside[point] == 4 else None

    def wins(group: frozenset[Point], own: frozenset[Point], is_first: bool) -> bool:
        joined = {side_of(point) for point in group} - {None}
        return len(joined) >= sides or sum(beside[point] == 3 for point in group) >= corners

    return Connection(points, among_hexagons, wins)


def lines_of_action(touch: Callable[[Point, Point], bool] = among_squares) -> Connection:
    """Whose stones are all in one group has won."""
    points = frozenset((x, y) for x in range(8) for y in range(8))
    return Connection(points, touch, lambda group, own, is_first: group == own)
