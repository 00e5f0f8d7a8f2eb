"""Orders of keys: how one came from another, and what becomes of one that two sides changed.

The order of pieces, sources, destinations and possibilities is the order of results, so it is part of what a
document says.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Insertion:
    """Where a key that was added or moved stands: right after another key, or first where `after` is None."""

    key: str
    after: str | None


def places(before: Sequence[str], after: Sequence[str]) -> tuple[Insertion, ...]:
    """Where the keys of `after` stand that are new in it or moved, as few as can be, in their order."""
    if before == after:
        return ()
    kept = unmoved(before, after)
    return tuple(
        Insertion(key, neighbour) for neighbour, key in zip((None, *after), after, strict=False) if key not in kept
    )


def arrange(before: Iterable[str], removed: Container[str], new: Sequence[Insertion]) -> list[str]:
    """`before` without what is removed, and with every key of `new` at its place.

    `arrange(before, removed, places(before, after))` is `after`. Raises KeyError with the neighbour of a place
    that is not there.
    """
    placed = {place.key for place in new}
    following: dict[str | None, str | None] = {}
    last: str | None = None
    for key in before:
        if key not in placed and key not in removed:
            following[last] = last = key
    following[last] = None
    for place in new:
        following[place.after], following[place.key] = place.key, following[place.after]
    result: list[str] = []
    key_or_end = following[None]
    while key_or_end is not None:
        result.append(key_or_end)
        key_or_end = following[key_or_end]
    return result


def merged(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], kept: Container[str]) -> list[str]:
    """The order of the keys that are `kept`: theirs, with what only our side added or moved after its neighbour.

    Where both sides moved a key, it stands where theirs has it. Every key of `kept` is in `ours` or in `theirs`.
    """
    their_keys = set(theirs)
    moved = unmoved(base, theirs).intersection(ours) - unmoved(base, ours)
    new: list[Insertion] = []
    neighbour: str | None = None
    for key in ours:
        if key in kept:
            if key in moved or key not in their_keys:
                new.append(Insertion(key, neighbour))
            neighbour = key
    return arrange([key for key in theirs if key in kept], (), new)


def together(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The keys of both, each once: in the order of `after`, what is gone after the key that it stood after."""
    if before == after:
        return list(after)
    return merged((), before, after, {*before, *after})


def unmoved(before: Sequence[str], after: Sequence[str]) -> set[str]:
    """Of the keys of both, as many as can be that stand in the same order in both."""
    ordinals = {key: ordinal for ordinal, key in enumerate(before)}
    common = [key for key in after if key in ordinals]
    return {common[index] for index in rising([ordinals[key] for key in common])}


def rising(numbers: Sequence[int]) -> list[int]:
    """The indices of a longest strictly rising part of `numbers`, which are all different."""
    ends: list[int] = []
    indices: list[int] = []
    earlier: list[int | None] = []
    for index, number in enumerate(numbers):
        length = bisect_left(ends, number)
        ends[length : length + 1] = [number]
        indices[length : length + 1] = [index]
        earlier.append(indices[length - 1] if length else None)
    result: list[int] = []
    step = indices[-1] if indices else None
    while step is not None:
        result.append(step)
        step = earlier[step]
    return result[::-1]
