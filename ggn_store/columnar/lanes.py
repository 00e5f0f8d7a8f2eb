"""The parts of lanes: targets that are answered together, by the set of them that is reached.

A part is a few targets of a lane, and has the answers for each set of them that a position can reach: those of a ray,
or of a few leaps. Which these are depends on what can be true at once; that is found out on the *codes* that a square
can have: empty, or a piece that is somebody's. What is about several squares may be true or not; what is about
variables, only where nothing else is that takes other values.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.documents.lane import Fact, Lane

# The code of an empty square; those of pieces follow, the mover's own odd: what no rule knows, the same if it is royal,
# and the ruleset's.
NOTHING: Final = 0
UNKNOWN: Final = 2
PIECES: Final = 6
# So many sets of a chain have answers in one part, and so many of several chains.
_OF_CHAIN: Final = 64
_OF_GROUP: Final = 27


def passing(statement: str, pieces: Mapping[str, int], codes: int) -> int:
    """The codes of a square, of so many, of which a statement is true, as bits; `pieces` has numbers of identifiers."""

    def of_state(state: str) -> int:
        if state == EMPTY:
            return 1 << NOTHING
        if state == ENEMY:
            return sum([1 << code for code in range(NOTHING + 2, codes, 2)])
        return 3 << PIECES + 2 * pieces[state]

    found = 0
    for alternative in statement.split("|"):
        must, *deny = alternative.split("!")
        some = of_state(must) if must else (1 << codes) - 1
        for state in deny:
            some &= ~of_state(state)
        found |= some
    return found


def names_of(statement: str) -> list[str]:
    """The identifiers in a statement."""
    states = statement.replace("!", "|").split("|")
    return [state for state in states if state and state not in (EMPTY, ENEMY)]


# A fact of a lane: its square, numbered within some chains (None: several squares, or none), its statement, whether it
# is the first of a chain, on its path, a target; and which of those before it cannot be true with it.
_Bit = tuple[int | None, str, int, int, int, int]


class LanePart(NamedTuple):
    """Targets from the bit `begin` on, as a mask shifted by it, and the sets of them that can be reached."""

    begin: int
    targets: int
    sets: tuple[int, ...]


def parts_of(lane: Lane, named: int) -> Iterator[LanePart]:
    """The parts of a lane, whose targets in `named` are answered otherwise."""
    group: LanePart | None = None
    for begin, bits in _blocks(lane, named):
        made = [LanePart(begin + part.begin, part.targets, part.sets) for part in _parts(bits)]
        if group and len(made) == 1 and (len(group.sets) + 1) * (len(made[0].sets) + 1) <= _OF_GROUP:
            group = _joined(group, made[0])
            continue
        if group:
            yield group
        yield from made[:-1]
        group = made[-1] if made else None
    if group:
        yield group


def _excluded(fact: Fact, bit: int, values: dict[str, dict[str, int]]) -> int:
    """The facts that take no value that this one takes, among those in `values`, which it is put into, too."""
    found = 0
    for statement, _ in fact:
        if not isinstance(statement, str):
            known = values.setdefault(statement[0], {})
            others = functools.reduce(int.__or__, known.values(), 0)
            for value in statement[1:]:
                others &= ~known.get(value, 0)
                known[value] = known.get(value, 0) | bit
            found |= others
    return found


def _joined(one: LanePart, other: LanePart) -> LanePart:
    shift = other.begin - one.begin
    sets = tuple(a | b << shift for a in (0, *one.sets) for b in (0, *other.sets))[1:]
    return LanePart(one.begin, one.targets | other.targets << shift, sets)


def _blocks(lane: Lane, named: int) -> Iterator[tuple[int, tuple[_Bit, ...]]]:
    """Neighbouring chains that share squares, as facts, and where each begins."""
    begin = 0
    squares: dict[int | None, int] = {}
    found: list[_Bit] = []
    values: dict[str, dict[str, int]] = {}
    target = lane.target & ~named
    chains = [bit for bit in range(len(lane.facts)) if lane.first >> bit & 1]
    for first, end in pairwise([*chains, len(lane.facts)]):
        facts = lane.facts[first:end]
        if found and squares.keys().isdisjoint([fact[0][1] for fact in facts if len(fact) == 1]):
            yield begin, tuple(found)
            begin, squares, found, values = first, {}, [], {}
        for bit, fact in enumerate(facts, first):
            kind = (lane.first >> bit & 1, lane.path >> bit & 1, target >> bit & 1)
            [(statement, square), *more] = fact
            if isinstance(statement, str) and not more:
                found.append((squares.setdefault(square, len(squares)), statement, *kind, 0))
            else:
                found.append((None, "", *kind, _excluded(fact, 1 << bit - begin, values)))
    yield begin, tuple(found)


# What is known after some facts: whether the chain goes on, what squares can still be, and what is reached.
_State = tuple[bool, tuple[int, ...], int]


@functools.lru_cache(maxsize=8192)
def _parts(bits: tuple[_Bit, ...]) -> list[LanePart]:
    """The parts of some chains: one, or several where it would have too many sets."""
    names = dict.fromkeys(name for _, statement, *_ in bits for name in names_of(statement))
    numbers = {name: number for number, name in enumerate(names)}
    codes = PIECES + 2 * len(names)
    last = {square: at for at, (square, *_) in enumerate(bits)}
    everything = ((1 << codes) - 1,) * len(last)
    states: set[_State] = {(True, everything, 0)}
    parts: list[LanePart] = []
    targets = 0
    for at, bit in enumerate(bits):
        square, statement, _, _, is_target, _ = bit
        step = _Step(at, bit, passing(statement, numbers, codes), last[square] == at)
        after = step.after(states)
        if is_target and len({reached for _, _, reached in after}) > _OF_CHAIN + 1:
            parts.append(_part(targets, states))
            targets = 0
            after = step.after({(alive, known, 0) for alive, known, _ in states})
        if len(after) > 4 * _OF_CHAIN:  # what is known of squares makes the difference
            after = {(alive, everything, reached) for alive, _, reached in after}
        targets |= is_target << at
        states = after
    if targets:
        parts.append(_part(targets, states))
    return parts


def _part(targets: int, states: set[_State]) -> LanePart:
    begin = (targets & -targets).bit_length() - 1
    sets = sorted({reached >> begin for _, _, reached in states} - {0})
    return LanePart(begin, targets >> begin, tuple(sets))


class _Step(NamedTuple):
    """A fact, its place among some, the codes that it is true of, and whether it is the last one about its square."""

    at: int
    bit: _Bit
    truth: int
    is_last: bool

    def after(self, states: set[_State]) -> set[_State]:
        """What can be after the fact, of what can be before it."""
        return {new for state in states for new in self._after(*state)}

    def _after(self, alive: bool, known: tuple[int, ...], reached: int) -> Iterator[_State]:
        square, _, is_first, is_path, is_target, excluded = self.bit
        if not (alive or is_first):
            yield alive, known, reached
        elif square is None:
            if not reached & excluded:
                yield True, known, reached | is_target << self.at
            yield not is_path, known, reached
        else:
            now = known[square]
            for is_true, possible in ((True, now & self.truth), (False, now & ~self.truth)):
                if possible:
                    left = -1 if self.is_last else possible
                    after = known if left == now else (*known[:square], left, *known[square + 1 :])
                    yield is_true or not is_path, after, reached | (is_true and is_target) << self.at
