"""Vectors of integers, which the columns of views are made with: as lists here, as arrays where there is numpy.

What a column is made of is written once, in `piece_tables` and `piece_columns`, for both.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import chain, compress, pairwise, repeat
from typing import Any, Final, Protocol

NumberVector = Any


class Vectors(Protocol):
    """What is done with vectors; what breaks a condition of it is a ValueError."""

    def numbers(self, text: str) -> NumberVector:
        """The integers of a JSON array, which must be no longer than 64 bits."""

    def coded(self, text: str) -> tuple[NumberVector, list[Any]]:
        """The members of a JSON array: where each is among the different ones, and these."""

    def up_to(self, count: int) -> NumberVector:
        """0, 1, ... up to before `count`."""

    def each(self, function: Callable[..., Any], *vectors: NumberVector) -> NumberVector:
        """What a function, made of operators only, gives for the members of vectors of one length."""

    def take(self, table: Sequence[int], at: NumberVector) -> NumberVector:
        """The members of a table at these places, which it must have."""

    def chosen(self, vector: NumberVector, mask: NumberVector) -> NumberVector:
        """The members where the mask is not 0."""

    def joined(self, *vectors: NumberVector) -> NumberVector:
        """The members of all of them."""

    def sorted(self, vector: NumberVector) -> NumberVector:
        """The members in order."""

    def same(self, first: NumberVector, second: NumberVector) -> bool:
        """Whether all members are equal."""

    def found(self, keys: NumberVector, values: NumberVector, wanted: NumberVector, missing: int) -> NumberVector:
        """The values of the wanted keys, of which no two may be the same; `missing` for one that is not there."""

    def least(self, at: NumberVector, values: NumberVector, count: int, missing: int) -> NumberVector:
        """The least value at each place up to before `count`; `at` is in order."""

    def bounds(self, vector: NumberVector, members: NumberVector) -> NumberVector:
        """Where in a vector in order each of these members is, or would be."""

    def spread(self, members: Sequence[int], counts: Sequence[int]) -> NumberVector:
        """Each member as often as its count says."""

    def plain(self, vector: NumberVector) -> list[int]:
        """The members as a list."""

    def different(self, vector: NumberVector) -> tuple[list[int], NumberVector]:
        """The different members, and which of these each member is."""

    def rows(self, *vectors: NumberVector) -> NumberVector:
        """The first members of all, then the second ones, and so on."""

    def texts(self, parts: Sequence[str], at: NumberVector, bounds: Sequence[int]) -> list[bytes]:
        """The parts at these places, one after another, in UTF-8: from each bound of `at` to the next one."""


class Lists:
    """Vectors as lists."""

    def numbers(self, text: str) -> list[int]:
        found = json.loads(text)
        # A truth value is no number, and equal to one.
        if not set(map(type, found)) <= {int}:
            raise ValueError("not all are whole numbers")
        return list(found)

    def coded(self, text: str) -> tuple[list[int], list[Any]]:
        return coded(json.loads(text))

    def up_to(self, count: int) -> list[int]:
        return list(range(count))

    def each(self, function: Callable[..., Any], *vectors: list[int]) -> list[int]:
        return list(map(function, *vectors))

    def take(self, table: Sequence[int], at: list[int]) -> list[int]:
        require_places(min(at, default=0), max(at, default=-1), len(table))
        return list(map(table.__getitem__, at))

    def chosen(self, vector: list[int], mask: list[int]) -> list[int]:
        return list(compress(vector, mask))

    def joined(self, *vectors: list[int]) -> list[int]:
        return list(chain.from_iterable(vectors))

    def sorted(self, vector: list[int]) -> list[int]:
        return sorted(vector)

    def same(self, first: list[int], second: list[int]) -> bool:
        return first == second

    def found(self, keys: list[int], values: list[int], wanted: list[int], missing: int) -> list[int]:
        known = dict(zip(keys, values, strict=True))
        if len(known) < len(keys):
            raise ValueError("two keys are the same")
        return list(map(known.get, wanted, repeat(missing)))

    def least(self, at: list[int], values: list[int], count: int, missing: int) -> list[int]:
        found = [missing] * count
        for place, value in zip(at, values, strict=True):
            if value < found[place]:
                found[place] = value
        return found

    def bounds(self, vector: list[int], members: list[int]) -> list[int]:
        return [bisect_left(vector, member) for member in members]

    def spread(self, members: Sequence[int], counts: Sequence[int]) -> list[int]:
        return list(chain.from_iterable(map(repeat, members, counts)))

    def plain(self, vector: list[int]) -> list[int]:
        return vector

    def different(self, vector: list[int]) -> tuple[list[int], list[int]]:
        at, members = coded(vector)
        return members, at

    def rows(self, *vectors: list[int]) -> list[int]:
        return list(chain.from_iterable(zip(*vectors, strict=True)))

    def texts(self, parts: Sequence[str], at: list[int], bounds: Sequence[int]) -> list[bytes]:
        return ["".join(map(parts.__getitem__, at[first:last])).encode() for first, last in pairwise(bounds)]


LISTS: Final = Lists()


def firsts(vectors: Vectors, keys: NumberVector) -> NumberVector:
    """1 where a member is another one than that before it, else 0."""
    return vectors.joined(
        vectors.each(lambda key: key * 0 + 1, keys[:1]),
        vectors.each(lambda key, last: (key != last) * 1, keys[1:], keys[:-1]),
    )


def coded(members: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """Where each of some values is among the different ones, and these."""
    different = list(dict.fromkeys(members))
    known = {value: at for at, value in enumerate(different)}
    return list(map(known.__getitem__, members)), different


def require_places(least: int, most: int, count: int) -> None:
    """Raise ValueError where a place is none of so many."""
    if least < 0 or most >= count:
        raise ValueError("a place is none of those that there are")
