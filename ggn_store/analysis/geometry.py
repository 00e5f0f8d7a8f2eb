"""The symmetries of a box: its axes exchanged and reversed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

Vector = tuple[int, ...]

AXES: Final = ("files", "ranks", "layers")

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
        return tuple([sign * vector[axis] for axis, sign in zip(self.axes, self.signs, strict=True)])

    def place(self, point: Vector, size: Vector) -> Vector:
        """A point of a box that begins at 0, turned or mirrored within the box, whose sizes are exchanged likewise."""
        return tuple(
            [
                point[axis] if sign > 0 else size[axis] - 1 - point[axis]
                for axis, sign in zip(self.axes, self.signs, strict=True)
            ]
        )

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
def opposite(dimensions: int) -> Symmetry:
    """How a board looks from the other side: mirrored, files in place, as the sides of chess are."""
    return reversing(dimensions, *(range(1, dimensions) if dimensions > 1 else (0,)))
