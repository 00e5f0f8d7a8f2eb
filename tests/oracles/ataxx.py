"""Ataxx by its written rules, in plain Python: stones by their points, `True` for the first player."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

Point = tuple[int, ...]
Stones = Mapping[Point, bool]


def turns(stones: Stones, size: Point, is_first: bool) -> set[frozenset[tuple[Point, bool]]]:
    """What the stones may be after a turn: as they are, after a pass; none where the game is over."""
    found = {frozenset(each.items()) for each in _moves(stones, size, is_first)}
    if found or is_first not in stones.values() or not any(_moves(stones, size, not is_first)):
        return found
    return {frozenset(stones.items())}


def _moves(stones: Stones, size: Point, is_first: bool) -> Iterator[Stones]:
    """A stone grows to a point beside it, or leaps to one that is two away; enemies beside it there become its own."""
    for to in set(itertools.product(*map(range, size))) - stones.keys():
        own = [point for point, first in stones.items() if first == is_first]
        turned = {point: is_first for point in stones if _distance(point, to) == 1}
        if any(_distance(point, to) == 1 for point in own):
            yield {**stones, **turned, to: is_first}
        for source in own:
            if _distance(source, to) == 2:
                yield {point: first for point, first in {**stones, **turned, to: is_first}.items() if point != source}


def winner(stones: Stones) -> bool | None:
    """Whether the first player has more stones; None where both have as many."""
    more = sum(1 if first else -1 for first in stones.values())
    return more > 0 if more else None


def _distance(one: Point, other: Point) -> int:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))
