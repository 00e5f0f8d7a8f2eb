"""The geometry of boards, for everybody: vectors, the symmetries of a box, and how the places of a board lie.

A `Lattice` has coordinates: squares or hexagons (axial coordinates), whose files may wrap round; steps, lines and
neighbours follow from vectors. In a `Network` they are edges, and lines are those that it names. Places go by their
labels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final, Literal

from ggn_store.model.documents.board import Board, extent_of
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side

Vector = tuple[int, ...]

AXES: Final = ("files", "ranks", "layers")
HEXAGON_STEPS: Final = frozenset(((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)))
# The eight directions of a plane, clockwise from straight ahead.
RING: Final = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))


# --- vectors: x goes to the right and y forward, as the first side sees them ---


def unit(vector: Vector) -> Vector:
    """The shortest vector of the same direction; one that goes nowhere is its own."""
    length = math.gcd(*vector) or 1
    return tuple([part // length for part in vector])


def images_of(vector: Vector, dimensions: int, hexagonal: bool = False) -> set[Vector]:
    """Every image of a vector under the symmetries of a board, on which it may have to be one of more dimensions."""
    padded = (*vector[:dimensions], *(0,) * (dimensions - len(vector)))
    if hexagonal:
        turns = [*hexagonal_turns(padded)]
        return {image for x, y in turns for image in ((x, y), (y, x))}
    return {symmetry(padded) for symmetry in symmetries(dimensions)}


def hexagonal_turns(vector: Vector) -> Iterator[Vector]:
    """A vector among hexagons, as it is and in its five other turns."""
    for _ in range(6):
        yield vector
        x, y = vector
        vector = (-y, x + y)


def scale_of(leap: Vector) -> int:
    """How many king's steps a leap has, 0 where it is not along a line or a diagonal."""
    sizes = {abs(part) for part in leap if part}
    return sizes.pop() if len(sizes) == 1 else 0


def clockwise(vector: Vector) -> tuple[float, ...]:
    """The key that sorts vectors clockwise from straight ahead; those of the own layer before those above and below."""
    x, y, z = (*vector, 0, 0)[:3] if len(vector) > 1 else (0, vector[0], 0)
    layer = 0 if z == 0 else 1 if z > 0 else 2
    if x == 0 and y == 0:
        return layer, 4, 0.0, abs(z)
    # Four quarters, each beginning with its axis, and within each the slope: no angle has to be computed.
    quarter = 0 if x >= 0 and y > 0 else 1 if x > 0 else 2 if y < 0 else 3
    slope = x / y if quarter in (0, 2) else -y / x
    return layer, quarter, slope, abs(z), x * x + y * y


def in_order(vectors: Iterable[Vector]) -> tuple[Vector, ...]:
    """Vectors clockwise from straight ahead."""
    return tuple(sorted(vectors, key=clockwise))


def turned(vector: Vector, eighths: int, scale: int) -> Vector:
    """A straight or diagonal vector turned clockwise, as one of `scale` king's steps.

    An oblique one (scale 0) goes on as it is, or back.
    """
    if scale == 0:
        return vector if eighths == 0 else tuple(-part for part in vector)
    x, y = ((part > 0) - (part < 0) for part in vector)
    dx, dy = RING[(RING.index((x, y)) + eighths) % len(RING)]
    return dx * scale, dy * scale


@lru_cache(maxsize=4096)
def steps_of(leap: Vector, hexagonal: bool = False) -> tuple[Vector, ...]:
    """The king's steps of a leap: along its longest direction until what is left is diagonal, then diagonally.

    Among hexagons a diagonal step goes between two neighbours, to the hexagon beyond the side that they share.
    """
    if hexagonal:
        ring = [*hexagonal_turns((1, 0))]
        x, y = leap
        for (a, b), (c, d) in itertools.chain(
            zip(ring, ring[1:] + ring[:1], strict=True), zip(ring, ring[-1:] + ring[:-1], strict=True)
        ):
            area = a * d - b * c  # 1 or -1
            straight, diagonal = area * (x * d - y * c), area * (a * y - b * x)
            if straight >= diagonal >= 0:
                return ((a, b),) * (straight - diagonal) + ((a + c, b + d),) * diagonal
    left, steps = leap, []
    while any(left):
        longest = max(map(abs, left))
        step = tuple((each > 0) - (each < 0) if abs(each) == longest else 0 for each in left)
        steps.append(step)
        left = tuple(map(int.__sub__, left, step))
    return tuple(steps)


# --- symmetries of a box ---


_PLANE: Final[dict[tuple[Vector, Vector], str]] = {
    ((0, 1), (1, 1)): "equal",
    ((0, 1), (-1, 1)): "mirrored left to right",
    ((0, 1), (1, -1)): "mirrored top to bottom",
    ((0, 1), (-1, -1)): "turned by 180 degrees",
    ((1, 0), (1, -1)): "turned by 90 degrees",
    ((1, 0), (-1, 1)): "turned by 270 degrees",
    ((1, 0), (1, 1)): "mirrored on the diagonal",
    ((1, 0), (-1, -1)): "mirrored on the other diagonal",
}


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Which axis comes to stand in each place, and the sign that it gets there."""

    axes: tuple[int, ...]
    signs: tuple[int, ...]

    def __call__(self, vector: Vector) -> Vector:
        """A vector, turned or mirrored."""
        return _image(self.axes, self.signs, vector)

    def place(self, point: Vector, size: Vector) -> Vector:
        """A point of a box that begins at 0, turned or mirrored within the box, whose sizes are exchanged likewise."""
        return tuple(
            [
                point[axis] if sign > 0 else size[axis] - 1 - point[axis]
                for axis, sign in zip(self.axes, self.signs, strict=True)
            ]
        )

    @property
    def inverse(self) -> Symmetry:
        """The way back."""
        places = sorted(range(len(self.axes)), key=self.axes.__getitem__)
        return Symmetry(tuple(places), tuple(self.signs[place] for place in places))

    def extent(self, size: Vector) -> Vector:
        """The size of a box afterwards."""
        return tuple([size[axis] for axis in self.axes])

    @property
    def name(self) -> str:
        """In words; `equal` for the one that changes nothing. Turns are clockwise."""
        if (self.axes, self.signs) in _PLANE:
            return _PLANE[self.axes, self.signs]
        places = range(len(self.axes))
        exchanged = [AXES[axis] for place, axis in enumerate(self.axes) if place != axis]
        reversed_axes = [AXES[self.axes[place]] for place in places if self.signs[place] < 0]
        told = [
            f"{_listed(names)} {what}"
            for names, what in ((exchanged, "exchanged"), (reversed_axes, "reversed"))
            if names
        ]
        return ", ".join(told) or "equal"


@lru_cache(maxsize=1 << 14)  # a piece with thousands of rules names few vectors
def _image(axes: tuple[int, ...], signs: tuple[int, ...], vector: Vector) -> Vector:
    return tuple([sign * vector[axis] for axis, sign in zip(axes, signs, strict=True)])


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


@cache
def symmetries(dimensions: int) -> tuple[Symmetry, ...]:
    """All of them, 2, 8 or 48: first what changes nothing, then those that only reverse axes."""
    return tuple(
        Symmetry(axes, signs)
        for axes in itertools.permutations(range(dimensions))
        for signs in itertools.product((1, -1), repeat=dimensions)
    )


def reversing(dimensions: int, *axes: int) -> Symmetry:
    """The symmetry that reverses these axes."""
    return Symmetry(tuple(range(dimensions)), tuple(-1 if axis in axes else 1 for axis in range(dimensions)))


@cache
def hexagonal_symmetries() -> tuple[Symmetry, ...]:
    """All twelve among hexagons in cube coordinates, whose sum is always the same; first what changes nothing."""
    return tuple(each for each in symmetries(3) if len({*each.signs}) == 1)


def hexagonal_name(symmetry: Symmetry, is_upright: bool) -> str:
    """A symmetry among hexagons in words, turns clockwise; they touch along files if `is_upright`, else along ranks."""
    ring = [*hexagonal_turns((1, 0))]
    first, second = (symmetry((x, y, -x - y))[:2] for x, y in ring[:2])
    turns = ring.index(first)
    if second == ring[(turns + 1) % len(ring)]:
        return f"turned by {360 - 60 * turns} degrees" if turns else "equal"
    axis, sign = next(each for each in enumerate(symmetry.axes) if each[0] == each[1])[0], symmetry.signs[0]
    if axis == (0 if is_upright else 1):
        return "mirrored left to right" if (sign < 0) == is_upright else "mirrored top to bottom"
    return f"mirrored, {('files', 'ranks', 'slopes')[axis]} {'in place' if sign > 0 else 'reversed'}"


@cache
def opposite(dimensions: int, is_turned: bool = False) -> Symmetry:
    """How a board looks from the other side: mirrored with files in place, as the sides of chess are; or turned."""
    return reversing(dimensions, *range(0 if is_turned or dimensions == 1 else 1, dimensions))


def view(side: Side, dimensions: int, is_turned: bool = False) -> Symmetry:
    """How the first side's board looks to a side."""
    return symmetries(dimensions)[0] if side == "first" else opposite(dimensions, is_turned)


# --- boards ---

Labels = Literal["axial", "leaning", "falling", "bent"]
"""What the labels of hexagons say: axial coordinates; or those of a board whose files lean to the left; or, where
hexagons touch along files, whose ranks fall to the right; or fall to the middle file, and rise from there."""
# How hexagons may be laid out, and what their labels then are.
HEXAGONS: Final[Mapping[str | None, Labels]] = {
    "rows": "axial",
    "rows-left": "leaning",
    "files": "axial",
    "files-down": "falling",
    "files-bent": "bent",
}


@dataclass(frozen=True)
class Lattice:
    """A board whose squares have coordinates.

    Its places are squares, in two dimensions with eight neighbours, or hexagons with six; on a `cylinder` files wrap
    round. How the labels of hexagons become axial coordinates is what `labels` says. The board may have holes, but no
    squares of different dimensions (`of` gives None for such).
    """

    board: Board
    hexagonal: bool = False
    cylinder: bool = False
    labels: Labels = "axial"

    @classmethod
    def of(cls, board: Board) -> Lattice | None:
        """The plain lattice of a board; None where its squares have no coordinates of one number of dimensions."""
        return None if board.extent is None else cls(board)

    @classmethod
    def lying(cls, board: Board, form: str | None) -> Lattice | None:
        """The lattice of a board whose squares lie in this form of `HEXAGONS`, the plain one in any other form."""
        plain = cls.of(board)
        if plain is None or form not in HEXAGONS or plain.dimensions != len("xy"):
            return plain
        return cls(board, hexagonal=True, labels=HEXAGONS[form])

    @property
    def places(self) -> tuple[str, ...]:
        """The labels of all places."""
        return self.board.squares

    @cached_property
    def points(self) -> Mapping[str, Vector]:
        """The coordinates of each place."""
        points = {place: cell.parse(place) for place in self.places}
        if self.labels == "axial":
            return points
        if self.labels == "leaning":
            return {place: (x - y, y) for place, (x, y) in points.items()}
        fold = self.fold or 0
        return {place: (x, y + max(0, fold - x)) for place, (x, y) in points.items()}

    @property
    def fold(self) -> int | None:
        """The file that the ranks of hexagons fall to; None where they do not."""
        if self.labels not in ("falling", "bent"):
            return None
        files = [cell.parse(place)[0] for place in self.places]
        return max(files) if self.labels == "falling" else (min(files) + max(files)) // 2

    @cached_property
    def _place_at(self) -> Mapping[Vector, str]:
        return {point: place for place, point in self.points.items()}

    @cached_property
    def _box(self) -> tuple[Vector, Vector]:
        if self.board.extent is None:
            raise ValueError("the squares of this board have no coordinates of one number of dimensions")
        return self.board.extent if self.labels == "axial" else extent_of(self.points.values())

    @property
    def low(self) -> Vector:
        """The corner of the box around the board."""
        return self._box[0]

    @property
    def size(self) -> Vector:
        """The size of that box."""
        return self._box[1]

    @property
    def dimensions(self) -> int:
        """How many coordinates a place has."""
        return len(self.low)

    @cached_property
    def directions(self) -> frozenset[Vector]:
        """The vectors to all neighbours."""
        if self.hexagonal:
            return HEXAGON_STEPS
        return frozenset(filter(any, itertools.product((-1, 0, 1), repeat=self.dimensions)))

    def at(self, point: Vector) -> str | None:
        """The place with these coordinates, None where there is none."""
        return self._place_at.get(point)

    def step(self, place: str, vector: Vector, cylinder: bool = False) -> str | None:
        """The place that is `vector` away, None where there is none; with `cylinder` as if files wrapped round."""
        there = tuple(map(sum, zip(self.points[place], vector, strict=True)))
        if self.cylinder or cylinder:
            there = (self.low[0] + (there[0] - self.low[0]) % self.size[0], *there[1:])
        return self._place_at.get(there)

    def ahead(self, place: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The other places of the file and of the rank, each with those that lie between."""
        for x, y in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            step = (x, y, *[0] * (self.dimensions - 2))
            passed: tuple[str, ...] = ()
            at = self.step(place, step)
            while at is not None:
                yield at, passed
                passed, at = (*passed, at), self.step(at, step)

    def images(self, symmetry: Symmetry) -> tuple[str, ...]:
        """Where each place comes to under a symmetry of the box; nothing where that is a hole of the board."""
        points = [tuple(map(int.__sub__, point, self.low)) for point in self.points.values()]
        placed = [symmetry.place(point, self.size) for point in points]
        return tuple(self._place_at.get(tuple(map(int.__add__, point, self.low)), "") for point in placed)

    # --- two places ---

    def laps(self, vector: Vector) -> list[Vector]:
        """Every vector that leads to the same place, the shortest first: on a cylinder there are several."""
        if not self.cylinder:
            return [vector]
        width, (dx, *rest) = self.size[0], vector
        most = max(self.size) // width + 1
        found = [(dx + width * turns, *rest) for turns in range(-most, most + 1)]
        return sorted(found, key=lambda each: (abs(each[0]), -each[0]))

    def vectors(self, a: str, b: str) -> list[Vector]:
        """Every vector that leads from one place to another, the shortest first."""
        return self.laps(tuple(map(int.__sub__, self.points[b], self.points[a])))

    def vector(self, a: str, b: str) -> Vector:
        """The vector from one place to another: along a line if one joins them, else the shortest."""
        found = self.vectors(a, b)
        return next((each for each in found if unit(each) in self.directions), found[0])

    def adjacent(self, a: str, b: str) -> bool:
        """Whether a step leads from one place to another."""
        return any(vector in self.directions for vector in self.vectors(a, b))

    def special(self, a: str, b: str) -> bool:
        """Whether a special connection leads from one place to another: never."""
        return False

    def lines(self, a: str, b: str) -> list[tuple[str, ...]]:
        """The places strictly between two, `a` first, on each line that joins them; a place lies on a line alone."""
        if a == b:
            return [()]
        found = []
        for vector in self.vectors(a, b):
            step = unit(vector)
            if step in self.directions:
                between = self._walk(a, step, math.gcd(*vector) - 1)
                if between is not None and b not in between:
                    found.append(between)
        return found

    @property
    def longest(self) -> int:
        """How many places a line has at most."""
        return max(self.size)

    def line(self, a: str, b: str) -> tuple[str, ...]:
        """All places of the line that joins two, from one edge to the other; nothing where none does."""
        for vector in self.vectors(a, b):
            step = unit(vector)
            if a != b and step in self.directions:
                found = {a: None, **dict.fromkeys(self.ride(a, step))}
                back = dict.fromkeys(self.ride(a, tuple(-part for part in step)))
                return (*[each for each in reversed(back) if each not in found], *found)
        return ()

    def ride(self, place: str, step: Vector) -> Iterator[str]:
        """The places in one direction, up to the edge or to the place itself."""
        at = self.step(place, step)
        while at is not None and at != place:
            yield at
            at = self.step(at, step)

    def _walk(self, place: str, step: Vector, count: int) -> tuple[str, ...] | None:
        """The places of so many steps; None where there are fewer."""
        found = tuple(itertools.islice(self.ride(place, step), count))
        return found if len(found) == count else None

    def middle(self, a: str, b: str) -> str | None:
        """The place halfway between two, None where there is none; on a cylinder on the shortest way that has one."""
        for vector in self.vectors(a, b):
            if not any(part % 2 for part in vector):
                return self.step(a, tuple(part // 2 for part in vector))
        return None

    def rows(self, place: str, count: int) -> list[tuple[str, ...]]:
        """So many places next to each other on a line, `place` among them, in all ways."""
        found: dict[frozenset[str], tuple[str, ...]] = {}
        for direction in sorted(self.directions):
            for before in range(count):
                first = self.step(place, tuple(-before * part for part in direction))
                rest = None if first is None else self._walk(first, direction, count - 1)
                if first is not None and rest is not None:
                    found.setdefault(frozenset((first, *rest)), (first, *rest))
        return [row for places, row in found.items() if len(places) == count]

    # --- directions ---

    def fits(self, vector: Vector) -> bool:
        """Whether a vector leads from any place of the box to another one."""
        sizes = [math.inf, *self.size[1:]] if self.cylinder else self.size
        return all(abs(part) < size for part, size in zip(vector, sizes, strict=True))

    def rotations(self, vector: Vector) -> Iterator[Vector]:
        """A vector in all its other turns."""
        if self.hexagonal:
            yield from itertools.islice(hexagonal_turns(vector), 1, None)
        elif self.dimensions == 2:
            for _ in range(3):
                x, y = vector
                vector = (-y, x)
                yield vector
        else:
            # On a line and in a cube mirror images count, too.
            yield from sorted({symmetry(vector) for symmetry in symmetries(self.dimensions)} - {vector})


@dataclass(frozen=True)
class Network:
    """A board of named places; edges, from one to another, are ordinary or special ones.

    `named_lines` are places one after the other, each of them joined to the next.
    """

    places: tuple[str, ...]
    edges: frozenset[tuple[str, str]]
    special_edges: frozenset[tuple[str, str]] = frozenset()
    named_lines: tuple[tuple[str, ...], ...] = ()

    def adjacent(self, a: str, b: str) -> bool:
        """Whether an ordinary edge leads from one place to another."""
        return (a, b) in self.edges

    def special(self, a: str, b: str) -> bool:
        """Whether a special edge leads from one place to another."""
        return (a, b) in self.special_edges

    def lines(self, a: str, b: str) -> list[tuple[str, ...]]:
        """The places strictly between two, `a` first, on each line that joins them; a place lies on a line alone."""
        if a == b:
            return [()]
        found = []
        for line in self.named_lines:
            if a in line and b in line:
                first, last = line.index(a), line.index(b)
                found.append(line[first + 1 : last] if first < last else line[last + 1 : first][::-1])
        return found

    @property
    def longest(self) -> int:
        """How many places a line has at most."""
        return max(map(len, self.named_lines), default=0)

    def line(self, a: str, b: str) -> tuple[str, ...]:
        """All places of the first line that joins two; nothing where none does."""
        return next((line for line in self.named_lines if a != b and a in line and b in line), ())

    def middle(self, a: str, b: str) -> str | None:
        """The place halfway between two on a line, None where there is none."""
        odd = (between for between in self.lines(a, b) if len(between) % 2)
        return next((between[len(between) // 2] for between in odd), None)

    def rows(self, place: str, count: int) -> list[tuple[str, ...]]:
        """So many places next to each other on a line, `place` among them, in all ways."""
        found = (line[first : first + count] for line in self.named_lines for first in range(len(line) - count + 1))
        return [row for row in found if place in row]


Geometry = Lattice | Network
