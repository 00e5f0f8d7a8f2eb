"""The possibilities of a piece from one source -> a few rules, each of which answers for several at once.

A *lane* is 64 squares of the board in the order of their numbers (even lanes) or against it (odd ones): bit i of lane
2w is square 64w + i, bit i of lane 2w + 1 is square 64w + 63 - i. To the side to move, two words tell a lane of a
position: which squares are `empty`, and on which stand the `enemy`'s pieces.

A rule has three masks over a lane. What it reaches are the squares of `quiet` that are empty and those of `capture`
that are the enemy's, up to and including the first square of `ray` that is not empty:

    blocked = ~empty & ray
    reached = (empty & quiet | enemy & capture) & (blocked ^ (blocked - 1))

So a rook has a rule for each of its four directions, two of them in an odd lane, where the squares of the ray come
in ascending order, too; a knight, which nothing blocks (ray = 0), has its squares in groups of `GROUP`. Each square
that a rule reaches stands for `each` possibilities, and an answer names them: for each set of squares that the rule
can reach, and each square in it, one possibility for the case that the square is empty, and one for the enemy's.

What cannot be said so (conditions on pieces by name, on several words, on squares that are the enemy's or not without
being entered) is kept as masks over the whole board, as in `store.rulesets.masks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

WORD: Final = 64
GROUP: Final = 3
# `blocked - 1` must not leave the signed numbers of databases. Nothing comes after the last square of a lane.
_NOT_LAST: Final = (1 << (WORD - 1)) - 1


@dataclass(frozen=True, slots=True)
class Case:
    """What one possibility asks of the board: masks of squares that must not be in a state.

    `destination` is its square as a mask, 0 for the hand. `exact`: it also names pieces.
    """

    possibility: int
    destination: int
    not_empty: int
    not_enemy: int
    not_own: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """One square of a set that a rule reaches: the possibilities that hold if it is empty, if it is the enemy's."""

    reached: int
    bit: int
    if_empty: int
    if_enemy: int


@dataclass(frozen=True, slots=True)
class Rule:
    """Masks over a lane; `answers` are in no order."""

    lane: int
    ray: int
    quiet: int
    capture: int
    each: int
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Masked:
    """Masks over the whole board. If the square `twin` is the enemy's, `if_enemy` holds instead of `if_empty`."""

    not_empty: int
    not_enemy: int
    not_own: int
    twin: int
    exact: bool
    if_empty: int
    if_enemy: int


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


def compile_cases(cases: Iterable[Case]) -> tuple[list[Rule], list[Masked]]:
    """The rules and the masked rows that answer for these possibilities, which share a piece and a source."""
    slots, masked = _slots(cases)
    rays: dict[tuple[int, int], list[_Slot]] = {}
    leaps: dict[int, list[_Slot]] = {}
    for slot in slots:
        word = (slot.square.bit_length() - 1) // WORD
        low, high = 1 << word * WORD, 1 << (word + 1) * WORD
        if not slot.path:
            leaps.setdefault(word, []).append(slot)
        elif low <= slot.path & -slot.path and slot.path < slot.square:
            rays.setdefault((word, 0), []).append(slot)
        elif slot.square < slot.path & -slot.path and slot.path < high:
            rays.setdefault((word, 1), []).append(slot)
        else:
            masked.extend(_masked(slot))
    rules: list[Rule] = []
    for (word, back), ones in rays.items():
        rules += _ray_rules(word, back, ones, leaps.get(word, []))
    for word, ones in leaps.items():
        # A lane less to look at, where the start has one already.
        back = 1 if (word, 1) in rays and (word, 0) not in rays else 0
        rules += _leap_rules(word, back, ones)
    return rules, masked


def _slots(cases: Iterable[Case]) -> tuple[list[_Slot], list[Masked]]:
    """Possibilities of the usual kind, those on the same squares together, and all the others.

    A square with its path has two slots at most, and these are of different numbers of possibilities.
    """
    found: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    others = []
    for case in cases:
        empty = case.not_enemy & case.not_own & ~case.not_empty
        enemy = case.not_empty & case.not_own & ~case.not_enemy
        entered = enemy or case.destination & empty or empty
        is_usual = not case.exact and empty | enemy == case.not_empty | case.not_enemy | case.not_own
        if is_usual and entered and not entered & (entered - 1):
            found.setdefault((entered, empty & ~entered), ([], []))[bool(enemy)].append(case.possibility)
        else:
            others.append(
                Masked(case.not_empty, case.not_enemy, case.not_own, 0, case.exact, case.possibility, case.possibility)
            )
    slots = []
    for (square, path), (quiet, capture) in found.items():
        if len(quiet) == len(capture):
            slots.append(_Slot(square, path, tuple(zip(quiet, capture, strict=True))))
            continue
        if quiet:
            slots.append(_Slot(square, path, tuple((each, None) for each in quiet)))
        if capture:
            slots.append(_Slot(square, path, tuple((None, each) for each in capture)))
    return slots, others


def _masked(slot: _Slot) -> Iterator[Masked]:
    square = slot.square
    for quiet, capture in slot.pairs:
        yield Masked(
            0 if slot.is_quiet else square,
            slot.path | (0 if slot.is_capture else square),
            slot.path | square,
            square if slot.is_quiet and slot.is_capture else 0,
            False,
            *_both(quiet, capture),
        )


def _both(quiet: int | None, capture: int | None) -> tuple[int, int]:
    """A possibility for either state of its square; the same one where the rule never meets the other state."""
    first = quiet if quiet is not None else capture
    second = capture if capture is not None else quiet
    if first is None or second is None:
        raise ValueError("neither of the two")
    return first, second


def _in_lane(mask: int, word: int, back: int) -> int:
    """A mask over the board as a mask over one of the lanes of a word."""
    part = mask >> word * WORD & (1 << WORD) - 1
    return int(f"{part:064b}"[::-1], 2) if back else part


def _ray_rules(word: int, back: int, slots: list[_Slot], leaps: list[_Slot]) -> Iterator[Rule]:
    """Rules for whole rays, the longest first; slots of `leaps` that begin a ray are taken out of it."""
    left = {
        (_in_lane(slot.square, word, back), _in_lane(slot.path, word, back), len(slot.pairs)): slot
        for slot in (*slots, *leaps)
    }
    for square, path, each in sorted(left, key=lambda key: -key[1].bit_count()):
        if path and (square, path, each) in left:
            ray = square | path
            found = ((bit, left.pop((bit, ray & (bit - 1), each), None)) for bit in _bits(ray))
            yield _rule(2 * word + back, ray, [(bit, slot) for bit, slot in found if slot is not None])
    leaps[:] = [slot for slot in left.values() if not slot.path]


def _leap_rules(word: int, back: int, slots: list[_Slot]) -> Iterator[Rule]:
    """Rules for squares that nothing blocks, those that are asked alike together."""
    by_each: dict[int, list[_Slot]] = {}
    for slot in slots:
        by_each.setdefault(len(slot.pairs), []).append(slot)
    for ones in by_each.values():
        ones.sort(key=lambda slot: (slot.is_capture, slot.is_quiet, slot.square))
        for begin in range(0, len(ones), GROUP):
            taken = [(_in_lane(slot.square, word, back), slot) for slot in ones[begin : begin + GROUP]]
            yield _rule(2 * word + back, 0, taken)


def _rule(lane: int, ray: int, taken: Sequence[tuple[int, _Slot]]) -> Rule:
    quiet = sum(bit for bit, slot in taken if slot.is_quiet)
    capture = sum(bit for bit, slot in taken if slot.is_capture)
    answers = tuple(
        Answer(reached, bit, *_both(*pair))
        for reached in (_reached_on_ray(ray, quiet, capture) if ray else _subsets(quiet | capture))
        for bit, slot in taken
        if reached & bit
        for pair in slot.pairs
    )
    return Rule(lane, ray & _NOT_LAST, quiet, capture, len(taken[0][1].pairs), answers)


def _reached_on_ray(ray: int, quiet: int, capture: int) -> set[int]:
    """Every set that a rule can reach: the quiet squares before one of the ray, with or without a capture there."""
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
