"""Compiled rules applied in Python: the first plies of a question, too few positions to be worth a statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ggn_store.errors import MoveError
from ggn_store.store.moves.planes import WORD, CompiledRules, PackedPosition, Rule, vector_of

# A ply is made in Python from at most so many positions.
POSITIONS: Final = 64
# What a column of a database holds.
MOST_PATHS: Final = (1 << WORD - 1) - 1

Weighed = tuple[int, PackedPosition, int]
"""The number of the position that paths begin at, the position that they lead to, and how many there are."""

_Exact = tuple[tuple[tuple[int, ...], int, int], ...]
_Test = tuple[int, int, int, _Exact, Rule]
# The vector of an attacker, where it stands, the pieces that it asks for by name, and the rule of its threat.
_Taking = tuple[tuple[int, ...], int, _Exact, Rule]


def overdrawn(ply: int) -> MoveError:
    """What to say of a move that takes pieces from a hand which does not hold them."""
    return MoveError(f"a move of ply {ply} takes more from a hand than it holds: `apply` cannot make it, nor can this")


def uncountable() -> MoveError:
    """What to say of so many paths that a column of a database cannot hold their number."""
    return MoveError(f"there are more than {MOST_PATHS:,} paths, as far as a database counts: take a smaller depth")


class Lead:
    """Makes and counts moves, ply by ply."""

    def __init__(self, compiled: CompiledRules) -> None:
        self._compiled = compiled
        self._passers = compiled.passers
        self._guards = compiled.guards if compiled.takes else ()
        self._standing: dict[int, dict[int, dict[int, list[_Test]]]] = {0: {}, 1: {}}
        self._held: dict[int, dict[int, list[_Test]]] = {0: {}, 1: {}}
        for group in compiled.groups:
            kinds = [compiled.vector(kind) for kind in group.kinds]
            for rule in group.rules:
                if group.word is None:
                    at = self._held[group.side].setdefault(rule.start, [])
                else:
                    code, number = divmod(rule.start, WORD)
                    by_number = self._standing[group.side].setdefault(code, {})
                    at = by_number.setdefault(number + WORD * group.word, [])
                at.append((rule.not_own, rule.not_enemy, rule.not_empty, _exact(kinds, rule), rule))
        self._threats: list[dict[int, list[_Taking]]] = []
        self._crossed: list[dict[int, list[_Taking]]] = []
        for threats in compiled.threats:
            by_target: dict[int, list[_Taking]] = {}
            by_crossing: dict[int, list[_Taking]] = {}
            kinds = [compiled.vector(kind) for kind in threats.group.kinds]
            said = zip(threats.sources, threats.targets, threats.crossings, threats.group.rules, strict=True)
            for source, target, crossings, rule in said:
                vector = vector_of((threats.group.side, rule.start), compiled.bits)
                taking = vector, source, _exact(kinds, rule), rule
                by_target.setdefault(target, []).append(taking)
                for crossing, squares in crossings:
                    by_crossing.setdefault(crossing, []).append((*taking[:-1], rule.past(squares)))
            self._threats.append(by_target)
            self._crossed.append(by_crossing)

    def play(self, depth: int, merge: bool, most: int | None) -> tuple[int, list[Weighed]]:
        """Number and positions of the first ply that has more than `most` of them, or of ply `depth`."""
        found = [(root, state, 1) for root, state in enumerate(self._compiled.states)]
        for ply in range(depth):
            if most is not None and len(found) > most:
                return ply, found
            found = [(root, after, weight) for root, state, weight in found for after in self._children(state, ply + 1)]
            if merge:
                found = _merged(found)
        return depth, found

    def count(self, positions: Sequence[Weighed], ply: int) -> Iterator[tuple[int, int]]:
        """Root and number of the paths that lead on from each position by the move of ply `ply`."""
        for root, state, weight in positions:
            is_made = self._compiled.takes or self._compiled.threats
            if is_made:
                yield root, weight * sum(1 for _ in self._children(state, ply))
            else:
                yield root, weight * (self._may_pass(state) + sum(1 for _ in self._holding(state)))

    def _children(self, state: PackedPosition, ply: int) -> Iterator[PackedPosition]:
        hands = state.hands
        for rule in self._holding(state):
            kept = ~rule.touched
            planes = [plane & kept | after for plane, after in zip(state.planes, rule.becomes, strict=True)]
            for plane in self._compiled.mark_planes:
                planes[plane] &= ~planes[rule.side_after]
            if hands:
                hands = tuple([held + change for held, change in zip(state.hands, rule.delta, strict=True)])
                if any(held & guard != guard for held, guard in zip(hands, self._guards, strict=False)):
                    raise overdrawn(ply)
            after = PackedPosition(rule.side_after, tuple(planes), hands)
            if not self._threats or self._is_safe(after, state.side, rule.crossing):
                yield after
        if self._may_pass(state):
            own = ~state.planes[1 - state.side]
            marks = self._compiled.mark_planes
            planes = [plane & own if number in marks else plane for number, plane in enumerate(state.planes)]
            yield PackedPosition(1 - state.side, tuple(planes), state.hands)

    def _may_pass(self, state: PackedPosition) -> bool:
        return any(_squares(state.planes, vector) for vector in self._passers[state.side])

    def _is_safe(self, state: PackedPosition, side: int, crossing: int) -> bool:
        """Whether the royal piece of a side is safe in a position, and what a crossing of that number went over."""
        planes, compiled = state.planes, self._compiled
        targets = 0
        for vector in compiled.royals[side]:
            targets |= _squares(planes, vector)
        threats = [*self._threats[1 - side].get(targets, ()), *self._crossed[1 - side].get(crossing, ())]
        own, enemy = planes[1 - side], planes[side]
        empty = ~(own | enemy)
        return not any(
            _squares(planes, vector) & source
            and not rule.not_own & own
            and not rule.not_enemy & enemy
            and not rule.not_empty & empty
            and (not exact or _meets(planes, exact))
            for vector, source, exact, rule in threats
        )

    def _holding(self, state: PackedPosition) -> Iterator[Rule]:
        """The rules whose conditions the position meets."""
        side, planes = state.side, state.planes
        own, enemy = planes[side], planes[1 - side]
        empty = ~(own | enemy)
        for tests in self._starting(state):
            for not_own, not_enemy, not_empty, exact, rule in tests:
                if (
                    not not_own & own
                    and not not_enemy & enemy
                    and not not_empty & empty
                    and (not exact or _meets(planes, exact))
                ):
                    yield rule

    def _starting(self, state: PackedPosition) -> Iterator[list[_Test]]:
        """The rules that start where the mover's pieces stand, or are held."""
        compiled, side = self._compiled, state.side
        for code, by_number in self._standing[side].items():
            squares = _squares(state.planes, vector_of((side, code), compiled.bits))
            while squares:
                bit = squares & -squares
                squares ^= bit
                tests = by_number.get(bit.bit_length() - 1)
                if tests:
                    yield tests
        for slot, tests in self._held[side].items():
            if compiled.fields is not None:
                field = compiled.fields[compiled.slots[slot]]
                if not state.hands[field.word] & field.mask:
                    continue
            yield tests


def _exact(kinds: Sequence[tuple[int, ...]], rule: Rule) -> _Exact:
    named = zip(kinds, rule.must, rule.deny, strict=True)
    return tuple([each for each in named if each[1] or each[2]])


def _squares(planes: Sequence[int], vector: Sequence[int]) -> int:
    """The squares where the piece of a vector stands."""
    found = planes[vector[1]]
    for plane, bit in zip(planes[2:], vector[2:], strict=True):
        found &= plane if bit else ~plane
    return found


def _meets(planes: Sequence[int], exact: Sequence[tuple[tuple[int, ...], int, int]]) -> bool:
    for vector, must, deny in exact:
        squares = _squares(planes, vector)
        if must & ~squares or deny & squares:
            return False
    return True


def _merged(positions: Sequence[Weighed]) -> list[Weighed]:
    found: dict[tuple[int, PackedPosition], int] = {}
    for root, state, weight in positions:
        found[root, state] = found.get((root, state), 0) + weight
    return [(root, state, weight) for (root, state), weight in found.items()]
