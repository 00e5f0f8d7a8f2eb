"""Fanorona by its written rules, in plain Python: stones by their points, `True` for the first player."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

Point = tuple[int, int]
Stones = Mapping[Point, bool]
Turn = tuple[tuple[Point, ...], frozenset[tuple[Point, bool]]]

RANKS = 5


def turns(stones: Stones, is_first: bool, files: int) -> list[Turn]:
    """Each way of moving, with the stones after it; of two that take others on one path both."""
    own = [point for point, first in stones.items() if first == is_first]
    captures = [turn for point in own for turn in _captures(stones, (point,), None, files)]
    if captures:
        return captures
    return [
        ((point, to), frozenset({**{p: f for p, f in stones.items() if p != point}, to: is_first}.items()))
        for point in own
        for to in _beside(point, files)
        if to not in stones
    ]


def _beside(point: Point, files: int) -> Iterator[Point]:
    """The points that a line joins with one: diagonals meet at every second one."""
    x, y = point
    for right, up in itertools.product((-1, 0, 1), repeat=2):
        is_line = (right or up) and ((x + y) % 2 == 0 or not (right and up))
        if is_line and 0 <= x + right < files and 0 <= y + up < RANKS:
            yield x + right, y + up


def _captures(stones: Stones, path: tuple[Point, ...], last: Point | None, files: int) -> Iterator[Turn]:
    """What the stone at the end of a path takes, and goes on to take: not in one direction twice, nor where it was."""
    source = path[-1]
    for to in _beside(source, files):
        way = to[0] - source[0], to[1] - source[1]
        if to in stones or to in path or way == last:
            continue
        for begin, sign in ((to, 1), (source, -1)):
            taken = set(_line(stones, begin, (sign * way[0], sign * way[1]), not stones[source]))
            if taken:
                after = {point: first for point, first in stones.items() if point not in taken and point != source}
                after[to] = stones[source]
                yield (*path, to), frozenset(after.items())
                yield from _captures(after, (*path, to), way, files)


def _line(stones: Stones, begin: Point, way: Point, is_first: bool) -> Iterator[Point]:
    """The stones of a side that follow a point without a gap."""
    at = begin[0] + way[0], begin[1] + way[1]
    while stones.get(at) is is_first:
        yield at
        at = at[0] + way[0], at[1] + way[1]
