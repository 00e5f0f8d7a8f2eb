"""Which pieces move alike, in plain Python on the decoded JSON: points for squares, possibilities one by one."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from tests.oracles import analyses, reference
from tests.oracles.reference import HAND, Json

Point = tuple[int, ...]
# What is asked, and of which square as seen from the source.
Item = tuple[str, Point]
Way = Callable[[Point], Point]
# A way with more squares of which nothing is asked is no way.
LONGEST_GAP = 1_000


class Motion(NamedTuple):
    """A direction with what is asked on the way, at its ends and elsewhere; how far, and whether from everywhere."""

    step: Point
    way: tuple[tuple[str, ...], ...]
    goal: frozenset[str]
    start: frozenset[str]
    elsewhere: frozenset[Item]
    steps: tuple[int | None, ...]
    everywhere: bool

    def turned(self, turn: Way) -> Motion:
        """What it is on a board that is turned or mirrored."""
        elsewhere = frozenset((name, turn(point)) for name, point in self.elsewhere)
        return self._replace(step=turn(self.step), elsewhere=elsewhere)


Motions = frozenset[Motion]


def minus(one: Point, other: Point) -> Point:
    return tuple(a - b for a, b in zip(one, other, strict=True))


def plus(one: Point, other: Point) -> Point:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def bare(identifier: str) -> str:
    return "".join(each for each in identifier if each not in "+-^").upper()


def kind(state: str, mover: str) -> str:
    """What a piece takes another one for: names count only as far as they are its own."""
    if state in ("empty", "enemy", mover):
        return "itself" if state == mover else state
    side = "friend" if reference.side_of(state) == reference.side_of(mover) else "foe"
    letter = state.split(":")[1]
    marks = [mark for mark in "+-" if letter.startswith(mark)] + ["^"] * ("^" in letter)
    return " ".join([side, *(["same"] if bare(state) == bare(mover) else []), *marks])


def seen(squares: Collection[str], piece: str) -> dict[str, Point]:
    """The squares of a board as the piece's side sees them: the second one from the other end of each file."""
    found = analyses.points(squares)
    if reference.side_of(piece) == "first":
        return found
    ends = [min(axis) + max(axis) for axis in zip(*found.values(), strict=True)]
    kept = 0 if len(ends) > 1 else None
    return {
        square: tuple(each if axis == kept else ends[axis] - each for axis, each in enumerate(point))
        for square, point in found.items()
    }


def asked(piece: str, possibility: Json, destination: str, at: dict[str, Point], origin: Point) -> Iterator[Item]:
    """What a possibility asks; on the destination one enemy is as good as another."""
    must, deny = reference.conditions(possibility)
    for role, states in (("must", must), ("deny", deny)):
        for square, state in states.items():
            name = kind(state, piece)
            if role == "must" and square == destination and name.startswith("foe"):
                name = "enemy"
            yield f"{role} {name}", minus(at[square], origin)


def motions(document: Json, piece: str, squares: Collection[str]) -> Motions:
    """How a piece moves on a board of these squares; drops, and moves into the hand, are none."""
    at = seen(squares, piece)
    there = {*at.values()}
    found: dict[tuple[Point, frozenset[Item]], set[Point]] = defaultdict(set)
    sources = set()
    for each, source, destination, _, possibility in reference.possibilities(document):
        if each == piece and HAND not in (source, destination):
            sources.add(at[source])
            items = frozenset(asked(piece, possibility, destination, at, at[source]))
            found[minus(at[destination], at[source]), items].add(at[source])
    box = [max(axis) - min(axis) + 1 for axis in zip(*there, strict=True)]
    is_sparse = 2 * math.prod(2 * each - 1 for each in box) > max(1 << 14, 64 * len(there))
    lengths: dict[Motion, set[int]] = defaultdict(set)
    partial = set()
    for (vector, items), places in found.items():
        motion, length = line(vector, items)
        lengths[motion].add(length)
        wanted = [vector, *(point for _, point in items)]
        fitting = {place for place in sources if all(plus(place, each) in there for each in wanted)}
        if is_sparse or fitting != places:
            partial.add(motion)
    return frozenset(
        motion._replace(steps=steps(motion, numbers, box), everywhere=motion not in partial)
        for motion, numbers in lengths.items()
    )


def line(vector: Point, items: frozenset[Item]) -> tuple[Motion, int]:
    """The motion of a move, and of how many steps it is; of one if squares beside the way are asked for."""
    if not any(vector):
        return Motion(vector, (), frozenset(), frozenset(), items, (), True), 1
    nowhere = tuple(0 for _ in vector)
    start = frozenset(name for name, point in items if point == nowhere)
    goal = frozenset(name for name, point in items if point == vector)
    others = frozenset(item for item in items if item[1] not in (nowhere, vector))
    one = Motion(vector, (), goal, start, others, (), True)
    whole = math.gcd(*vector)
    unit = tuple(each // whole for each in vector)
    # Labels can be a million files apart: only the squares that are asked for are looked at.
    axis = next(axis for axis, each in enumerate(unit) if each)
    between = {point: point[axis] // unit[axis] for _, point in others}
    if not others or any(
        not 0 < number < whole or point != tuple(each * number for each in unit) for point, number in between.items()
    ):
        return one, 1
    size = math.gcd(whole, *between.values())
    if whole // size > len(others) + LONGEST_GAP:
        return one, 1
    way = [
        tuple(sorted(name for name, point in others if point == tuple(each * number for each in unit)))
        for number in range(size, whole, size)
    ]
    # Any number of empty squares is as good as one.
    runs = [key if key != ("must empty",) else ("...",) for key in way]
    told = tuple(key for key, group in itertools.groupby(runs) for _ in (range(1) if key == ("...",) else group))
    return Motion(tuple(each * size for each in unit), told, goal, start, frozenset(), (), True), whole // size


def steps(motion: Motion, numbers: set[int], box: list[int]) -> tuple[int | None, ...]:
    """How many steps a way over empty squares has: from the fewest to the most, or to the end of the board (None)."""
    if ("...",) not in motion.way:
        return ()
    low, high = min(numbers), max(numbers)
    if numbers != {*range(low, high + 1)}:
        return tuple(sorted(numbers))
    is_bounded = all(abs(each) * (high + 1) < size for each, size in zip(motion.step, box, strict=True))
    return low, high if is_bounded else None


def turns(dimensions: int) -> Iterator[Way]:
    """All ways to turn and mirror a board, first the one that changes nothing."""
    for axes in itertools.permutations(range(dimensions)):
        for signs in itertools.product((1, -1), repeat=dimensions):
            yield lambda point, axes=axes, signs=signs: tuple(  # type: ignore[misc]
                point[axis] * sign for axis, sign in zip(axes, signs, strict=True)
            )


def alike(one: Motions, other: Motions) -> bool:
    """Whether two pieces move alike, equal or mirrored or turned."""
    dimensions = {len(motion.step) for motion in (*one, *other)}
    return len(dimensions) == 1 and any(
        frozenset(motion.turned(turn) for motion in one) == other for turn in turns(*dimensions)
    )


def groups(pieces: Iterable[tuple[Any, Motions]]) -> set[frozenset[Any]]:
    """Those of some pieces that move, in groups that move alike."""
    found: list[tuple[Motions, set[Any]]] = []
    for name, moving in pieces:
        if moving:
            same = next((names for first, names in found if alike(first, moving)), None)
            if same is None:
                found.append((moving, {name}))
            else:
                same.add(name)
    return {frozenset(names) for _, names in found}
