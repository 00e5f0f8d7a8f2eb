"""Vectors of leaps: their images, order and turns; x goes to the right and y forward, as the first side sees them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

Vector = tuple[int, ...]


def images_of(vector: Vector, dimensions: int) -> Iterator[Vector]:
    """Every image of a vector under the symmetries of the board."""
    padded = (*vector[:dimensions], *(0,) * (dimensions - len(vector)))
    for order in itertools.permutations(padded):
        yield from itertools.product(*[(part, -part) if part else (0,) for part in order])


def scale_of(leap: Vector) -> int:
    """How many king's steps a leap has, 0 where it is not along a line or a diagonal."""
    sizes = {abs(part) for part in leap if part}
    return sizes.pop() if len(sizes) == 1 else 0


def in_order(vectors: Iterable[Vector]) -> tuple[Vector, ...]:
    """Vectors clockwise from straight ahead."""
    return tuple(sorted(vectors, key=clockwise))


def clockwise(vector: Vector) -> tuple[float, ...]:
    """The key that sorts vectors clockwise from straight ahead; those of the own layer before those above and below."""
    x, y, z = (*vector, 0, 0)[:3] if len(vector) > 1 else (0, vector[0], 0)
    layer = 0 if z == 0 else 1 if z > 0 else 2
    if x == 0 and y == 0:
        return layer, 4, 0.0, abs(z)
    # Four quarters, each beginning with its axis, and within each the slope: no angle has to be computed.
    if x >= 0 and y > 0:
        return layer, 0, x / y, abs(z), x * x + y * y
    if x > 0:
        return layer, 1, -y / x, abs(z), x * x + y * y
    if y < 0:
        return layer, 2, x / y, abs(z), x * x + y * y
    return layer, 3, -y / x, abs(z), x * x + y * y


def turned(vector: Vector, eighths: int, scale: int) -> Vector:
    """A straight or diagonal vector turned clockwise, as one of `scale` king's steps.

    An oblique one (scale 0) goes on as it is, or back.
    """
    if scale == 0:
        return vector if eighths == 0 else tuple(-part for part in vector)
    ring = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
    x, y = ((part > 0) - (part < 0) for part in vector)
    dx, dy = ring[(ring.index((x, y)) + eighths) % 8]
    return dx * scale, dy * scale
