"""Texts of two sides that came from one, laid together line by line: so that comments, blank lines and order are kept.

It always gives a text. Where both sides changed the same lines otherwise, it has theirs; whoever merges values looks
whether the text says them. Unlike git, it takes changes of neighbouring lines, and two insertions at one place, as
different changes.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ggn_store.model.changes import order

# Lines of the base, from and up to, and what stands there instead.
LineChange = tuple[int, int, Sequence[str]]
# From and up to again, to be sorted by, and whose it is.
Tagged = tuple[int, int, int, LineChange]

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+\Z")
_ROUNDS: Final = 16


def merged(base: str, ours: str, theirs: str, *, both: bool = True) -> str:
    """The base with the changes of both sides; theirs where they overlap, or (but for `both`) insert at one place."""
    before, *sides = (_LINE.findall(text) for text in (base, ours, theirs))
    result: list[str] = []
    done = 0
    for start, end, changed in _overlapping(before, sides):
        result += [*before[done:start], *_together(before, start, end, *changed, both=both)]
        done = end
    return "".join(_ended([*result, *before[done:]]))


def marked(texts: tuple[str, str, str], labels: tuple[str, ...], size: int) -> str:
    """Base, ours and theirs as one text, in which marks of so many characters, as git's, stand around what differs."""
    base, ours, theirs = (_LINE.findall(text) for text in texts)
    result: list[str] = []
    done = 0
    for start, end, changed in _overlapping(theirs, (base, ours)):
        before, own = (_applied(theirs, start, end, each) for each in changed)
        sides = (("<", labels[1], own), ("|", labels[0], before), ("=", None, theirs[start:end]))
        result += theirs[done:start]
        if own == theirs[start:end]:
            result += own
        else:
            for mark, label, stands in sides:
                result += [f"{mark * size}{'' if label is None else f' {label}'}\n", *stands]
            result.append(f"{'>' * size} {labels[2]}\n")
        done = end
    return "".join(_ended([*result, *theirs[done:]]))


def _overlapping(base: list[str], sides: Sequence[list[str]]) -> Iterator[tuple[int, int, list[list[LineChange]]]]:
    """From and up to which line both sides change the base together, and the changes of each."""
    tagged = [(*change[:2], side, change) for side, after in enumerate(sides) for change in changes(base, after)]
    for cluster in _clusters(sorted(tagged, key=lambda each: each[:3])):
        changed = [[change for _, _, side, change in cluster if side == wanted] for wanted in (0, 1)]
        yield cluster[0][0], max(each[1] for each in cluster), changed


def _clusters(tagged: Sequence[Tagged]) -> Iterator[list[Tagged]]:
    """Changes that overlap, directly or by others, together. One that begins where another ends does not."""
    cluster: list[Tagged] = []
    end = -1
    for each in tagged:
        if cluster and not (each[0] < end or (each[0] == each[1] == cluster[0][0] == end)):
            yield cluster
            cluster, end = [], -1
        cluster.append(each)
        end = max(end, each[1])
    if cluster:
        yield cluster


def changes(before: Sequence[str], after: Sequence[str]) -> Iterator[LineChange]:
    """What turns one list of lines into another, in order; found by lines that both have once, in n log n steps."""
    at = other = 0
    for line, match in [*_matches(before, after), (len(before), len(after))]:
        if line > at or match > other:
            yield at, line, after[other:match]
        at, other = line + 1, match + 1


def _together(
    before: Sequence[str], start: int, end: int, mine: Sequence[LineChange], other: Sequence[LineChange], *, both: bool
) -> Sequence[str]:
    """The lines from start up to end as both sides have them."""
    ours, theirs = (_applied(before, start, end, changed) for changed in (mine, other))
    if not mine or ours == theirs:
        return theirs
    if not other:
        return ours
    if start == end and both:
        return [*theirs, *ours]
    if len(ours) == len(theirs) == end - start:
        lines = zip(before[start:end], ours, theirs, strict=True)
        return [own if line == their else their for line, own, their in lines]
    return theirs


def _applied(before: Sequence[str], start: int, end: int, changed: Sequence[LineChange]) -> list[str]:
    lines: list[str] = []
    for first, last, instead in changed:
        lines += [*before[start:first], *instead]
        start = last
    return [*lines, *before[start:end]]


def _ended(lines: list[str]) -> list[str]:
    """The lines, each ended but the last: what ended a text may now stand inside of it."""
    return [line if line.endswith("\n") else f"{line}\n" for line in lines[:-1]] + lines[-1:]


def _matches(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that stay, as pairs of places that rise on both sides."""
    found: list[tuple[int, int]] = []
    ranges = [(0, len(before), 0, len(after))]
    for _ in range(_ROUNDS):
        following = []
        for low, high, other_low, other_high in ranges:
            while low < high and other_low < other_high and before[low] == after[other_low]:
                found.append((low, other_low))
                low, other_low = low + 1, other_low + 1
            while low < high and other_low < other_high and before[high - 1] == after[other_high - 1]:
                high, other_high = high - 1, other_high - 1
                found.append((high, other_high))
            anchors = _anchors(before, low, high, after, other_low, other_high)
            found += anchors
            ends = [(low - 1, other_low - 1), *anchors, (high, other_high)]
            if anchors:
                following += [
                    (at + 1, to, other + 1, until)
                    for (at, other), (to, until) in itertools.pairwise(ends)
                    if at + 1 < to and other + 1 < until
                ]
        ranges = following
    return sorted(found)


def _anchors(
    before: Sequence[str], low: int, high: int, after: Sequence[str], other_low: int, other_high: int
) -> list[tuple[int, int]]:
    """Places of lines that both ranges have once, as many as stand in the same order."""
    counts, other_counts = Counter(before[low:high]), Counter(after[other_low:other_high])
    places = {line: at for at, line in enumerate(before[low:high], low) if counts[line] == 1}
    pairs = [
        (places[line], at)
        for at, line in enumerate(after[other_low:other_high], other_low)
        if line in places and other_counts[line] == 1
    ]
    return [pairs[each] for each in order.rising([at for at, _ in pairs])]
