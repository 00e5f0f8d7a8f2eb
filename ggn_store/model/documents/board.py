"""Boards: the squares that a ruleset speaks about, in a fixed order."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ggn_store import limits
from ggn_store.errors import NotationError, quote
from ggn_store.notation import cell, json_text
from ggn_store.notation.hand import HAND

MAX_SQUARES = limits.SQUARES.default
FARTHEST = 65_536
"""The largest file, rank or layer, from 1, of a square that is said to have coordinates."""

_SIZE = re.compile("[1-9][0-9]{0,5}")


@dataclass(frozen=True)
class Board:
    """Squares in the order of their numbers (0 to n-1), and the shape of a regular board.

    `shape` is files, ranks, layers of a full rectangle or box; None where the squares are just listed.
    Squares of a box are numbered along the files first: a1 = 0, b1 = 1 on a board that begins at a1.
    """

    squares: tuple[str, ...]
    shape: tuple[int, ...] | None = None

    @functools.cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each square."""
        return {square: number for number, square in enumerate(self.squares)}

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 over squares and shape, in hexadecimal."""
        return json_text.digest([self.shape_text, *self.squares])

    @functools.cached_property
    def extent(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The lowest coordinates and the shape of the box around the squares, which may have holes.

        None where they are no CELL labels of one number of dimensions, up to three.
        """
        if not self.squares or not all(map(cell.is_cell, self.squares)):
            return None
        points = list(map(cell.parse, self.squares))
        if len(set(map(len, points))) > 1 or len(points[0]) > 3:
            return None
        return extent_of(points)

    @property
    def coordinates(self) -> tuple[tuple[int, ...], ...] | None:
        """The coordinates of each square, from 0; None without an `extent`, and where it is beyond all that boards are.

        Places of a network may have words for labels, of which CELL makes coordinates of millions.
        """
        if self.extent is None or max(map(int.__add__, *self.extent)) > FARTHEST:
            return None
        return tuple(map(cell.parse, self.squares))

    @property
    def words(self) -> int:
        """How many words of 64 bits a set of its squares takes."""
        return max(1, -(-len(self.squares) // 64))

    def label(self, number: int | None) -> str:
        """The label of a square; of None, the hand's."""
        return HAND if number is None else self.squares[number]

    @property
    def shape_text(self) -> str | None:
        """The shape as people write it: `8x8`, `5x5x5`; None for listed squares."""
        return None if self.shape is None else "x".join(map(str, self.shape))


def extent_of(points: Iterable[tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lowest coordinates of points, and the shape of the box around them."""
    axes = [*zip(*points, strict=True)]
    low, high = tuple(map(min, axes)), tuple(map(max, axes))
    return low, tuple(b - a + 1 for a, b in zip(low, high, strict=True))


def box(shape: tuple[int, ...], origin: tuple[int, ...] | None = None) -> Board:
    """The full board of `shape` whose first square is at `origin` (the square a1 or a1A by default).

    Raises NotationError for a shape that is not one to three sizes of at least 1, or is too large.
    """
    origin = origin or (0,) * len(shape)
    if not 1 <= len(shape) <= 3 or min(shape) < 1 or math.prod(shape) > MAX_SQUARES:
        raise NotationError(
            f"{'x'.join(map(str, shape))} is not a board: one to three sizes from 1 on, {MAX_SQUARES} squares at most"
        )
    axes = [range(start, start + size) for start, size in zip(origin, shape, strict=True)]
    # The first dimension runs fastest, so the product runs over the reversed axes.
    squares = tuple(cell.text(coordinates[::-1]) for coordinates in itertools.product(*reversed(axes)))
    return Board(squares, shape)


def parse_shape(text: str) -> Board:
    """The board that a shape such as `8x8` or `5x5x5` writes; raises NotationError, quoting it."""
    sizes = text.split("x")
    if not all(_SIZE.fullmatch(size) for size in sizes):
        raise NotationError(f"{quote(text)} is not the shape of a board such as 8x8 or 5x5x5")
    return box(tuple(map(int, sizes)))


def around(squares: Iterable[str]) -> Board:
    """The board of a document that declares none: the box around CELL squares, else exactly these squares.

    A box is drawn around squares of one number of dimensions, up to three; where it would be too large (a
    few squares far apart) the squares are listed, in natural order for CELL and by code point otherwise.
    """
    labels = set(squares)
    if labels and all(map(cell.is_cell, labels)):
        found = Board(tuple(labels)).extent
        if found is not None and math.prod(found[1]) <= MAX_SQUARES:
            low, shape = found
            return box(shape, low)
        return Board(tuple(sorted(labels, key=lambda label: (len(cell.parse(label)), cell.parse(label)[::-1]))))
    return Board(tuple(sorted(labels)))
