"""The possibilities of a piece from one source -> lanes, each of which answers for many of them with a few operations.

A *lane* is a list of squares that matter to a piece on its source: bit i of its words is its i-th square. To the side
to move, two words tell a lane of a position: which of its squares are `empty`, and on which stand the `enemy`'s
pieces. Masks say what the piece can do there:

    blocked = ~empty & ray | stop
    reached = (empty & quiet | enemy & capture) & (blocked ^ (blocked - first) | free)

The squares of a ray have consecutive bits in the order in which the piece passes them, and a bit of no square behind
them (`stop`); `first` has the first bit of each ray. So the subtraction borrows up to the first square of each ray that
is not empty, or to its stop, and all rays of a queen are answered at once. `free` are the squares that nothing blocks.

Each square that is reached stands for `each` possibilities, and answers name them: a lane has *parts* (a ray, or a few
of the free squares), and for each set of squares that can be reached within a part, and each square in it, there is one
possibility for the case that the square is empty, and one for the enemy's. Possibilities that depend on state variables
have lanes of their own, which answer only where the variables have one of the values (`guards`).

What cannot be said so (conditions on pieces by name, on squares that are the enemy's or not without being entered) is
left over, to be asked condition by condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ggn_store.model.document import EMPTY, ENEMY, Guards, Possibility

# Bits of a lane: what is subtracted must not leave the signed numbers of databases.
BITS: Final = 63
# The most free squares in a part, each set of which has answers.
_GROUP: Final = 3

Guard = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """What one possibility asks of the board: masks of the squares that must be in a state, if that is all it asks.

    `destination` is its square as a mask, 0 for the hand.
    """

    possibility: int
    destination: int
    empty: int
    enemy: int
    guard: Guard


# A set that is reached, one square of it, the possibilities that hold if that is empty and if it is the enemy's.
Answer = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """Squares of a lane, as a mask, whose answers are looked up together; the answers are in no order."""

    squares: int
    answers: tuple[Answer, ...]


@dataclass(slots=True)
class Lane:
    """Masks over `squares`, each of which is a mask over the board, 0 where a ray ends."""

    each: int
    guard: Guard
    squares: list[int] = field(default_factory=list)
    ray: int = 0
    stop: int = 0
    first: int = 0
    free: int = 0
    quiet: int = 0
    capture: int = 0
    parts: list[Part] = field(default_factory=list)


_Pair = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class _Slot:
    """Possibilities that ask for empty squares (`path`) and then one more, which is empty or the enemy's."""

    square: int
    path: int
    pairs: tuple[_Pair, ...]

    @property
    def is_quiet(self) -> bool:
        return self.pairs[0][0] is not None

    @property
    def is_capture(self) -> bool:
        return self.pairs[0][1] is not None


def case_of(number: int, destination: int, possibility: Possibility, bits: Mapping[str, int]) -> Case | None:
    """What a possibility of this number asks; None where lanes cannot say it. `bits` are the squares as masks."""
    empty = enemy = 0
    for square, state in possibility.must.items():
        if state == EMPTY:
            empty |= bits[square]
        elif state == ENEMY:
            enemy |= bits[square]
        else:
            return None
    for square, state in possibility.deny.items():
        # What must be empty is not the enemy's, and the other way round.
        if not bits[square] & (empty if state == ENEMY else enemy if state == EMPTY else 0):
            return None
    entered = enemy or destination & empty or empty
    if not entered or entered & (entered - 1):
        return None
    return Case(number, destination, empty, enemy, guard_of(possibility.guards))


def guard_of(guards: Guards) -> Guard:
    """What state variables have to be, as a key."""
    return tuple(sorted(guards.items())) if guards else ()


def compile_cases(cases: Iterable[Case]) -> tuple[list[Lane], list[int]]:
    """The lanes that answer for these possibilities, which share a piece and a source, and those that are left over."""
    lanes: list[Lane] = []
    left: list[int] = []
    for (guard, each), slots in _slots(cases).items():
        first = len(lanes)
        long = [slot for slot in slots if slot.path.bit_count() + 2 > BITS]
        left += [number for slot in long for pair in slot.pairs for number in pair if number is not None]
        free = []
        for squares, found in _rays([slot for slot in slots if slot.path.bit_count() + 2 <= BITS]):
            if len(squares) == 1:
                free.append(found[0][1])
            else:
                _add_ray(_with_room(lanes, first, Lane(each, guard), len(squares) + 1), squares, found)
        free.sort(key=lambda slot: (slot.is_capture, slot.is_quiet, slot.square))
        for begin in range(0, len(free), _GROUP):
            group = free[begin : begin + _GROUP]
            _add_free(_with_room(lanes, first, Lane(each, guard), len(group)), group)
    return lanes, left


def _slots(cases: Iterable[Case]) -> dict[tuple[Guard, int], list[_Slot]]:
    """Possibilities on the same squares together, by their guard and how many there are for a square and a state."""
    found: dict[tuple[Guard, int, int], tuple[list[int], list[int]]] = {}
    for case in cases:
        entered = case.enemy or case.destination & case.empty or case.empty
        key = case.guard, entered, case.empty & ~entered
        found.setdefault(key, ([], []))[bool(case.enemy)].append(case.possibility)
    slots: dict[tuple[Guard, int], list[_Slot]] = {}
    for (guard, square, path), (quiet, capture) in found.items():
        if len(quiet) == len(capture):
            slots.setdefault((guard, len(quiet)), []).append(
                _Slot(square, path, tuple(zip(quiet, capture, strict=True)))
            )
            continue
        if quiet:
            slots.setdefault((guard, len(quiet)), []).append(_Slot(square, path, tuple((each, None) for each in quiet)))
        if capture:
            pairs = tuple((None, each) for each in capture)
            slots.setdefault((guard, len(capture)), []).append(_Slot(square, path, pairs))
    return slots


def _rays(slots: Sequence[_Slot]) -> Iterator[tuple[list[int], list[tuple[int, _Slot]]]]:
    """The squares of each ray in order, and the slots on it with the numbers of their squares; the longest first."""
    ending: dict[int, list[_Slot]] = {}
    for slot in slots:
        ending.setdefault(slot.path | slot.square, []).append(slot)
    used = set()
    for slot in sorted(slots, key=lambda each: -each.path.bit_count()):
        if (slot.square, slot.path) in used:
            continue
        backwards = [slot]
        # Of two slots with the same squares, either comes before this one, and the other begins a ray of its own.
        while before := ending.get(backwards[-1].path):
            backwards.append(before.pop())
            used.add((backwards[-1].square, backwards[-1].path))
        squares = [*_bits(backwards[-1].path)]
        begin = len(squares)
        squares += [each.square for each in reversed(backwards)]
        yield squares, [*enumerate(reversed(backwards), begin)]


def _with_room(lanes: list[Lane], first: int, new: Lane, bits: int) -> Lane:
    """The last of the lanes from the `first` on if it has as many bits left, else a new one."""
    if len(lanes) == first or len(lanes[-1].squares) + bits > BITS:
        lanes.append(new)
    return lanes[-1]


def _add_ray(lane: Lane, squares: Sequence[int], slots: Sequence[tuple[int, _Slot]]) -> None:
    begin = len(lane.squares)
    lane.squares += [*squares, 0]
    lane.first |= 1 << begin
    lane.stop |= 1 << begin + len(squares)
    ray = (1 << len(squares)) - 1 << begin
    lane.ray |= ray
    _add_part(lane, ray, [(1 << begin + at, slot) for at, slot in slots])


def _add_free(lane: Lane, slots: Sequence[_Slot]) -> None:
    begin = len(lane.squares)
    lane.squares += [slot.square for slot in slots]
    lane.free |= (1 << len(slots)) - 1 << begin
    _add_part(lane, 0, [(1 << begin + at, slot) for at, slot in enumerate(slots)])


def _add_part(lane: Lane, ray: int, taken: Sequence[tuple[int, _Slot]]) -> None:
    quiet = sum([bit for bit, slot in taken if slot.is_quiet])
    capture = sum([bit for bit, slot in taken if slot.is_capture])
    named = [(bit, *_both(*pair)) for bit, slot in taken for pair in slot.pairs]
    lane.quiet |= quiet
    lane.capture |= capture
    sets = _reached_on_ray(ray, quiet, capture) if ray else _subsets(quiet | capture)
    answers = [(reached, *each) for reached in sets for each in named if reached & each[0]]
    lane.parts.append(Part(quiet | capture, tuple(answers)))


def _both(quiet: int | None, capture: int | None) -> tuple[int, int]:
    """A possibility for either state of its square; the same one where the lane never meets the other state."""
    first = quiet if quiet is not None else capture
    second = capture if capture is not None else quiet
    if first is None or second is None:
        raise ValueError("neither of the two")
    return first, second


def _reached_on_ray(ray: int, quiet: int, capture: int) -> set[int]:
    """Every set that can be reached: the quiet squares before one of the ray, with or without a capture there."""
    found = {quiet}
    for bit in _bits(ray):
        found |= {quiet & (bit - 1), quiet & (bit - 1) | capture & bit}
    return found - {0}


def _subsets(mask: int) -> Iterator[int]:
    """All but the empty one."""
    part = mask
    while part:
        yield part
        part = (part - 1) & mask


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit
