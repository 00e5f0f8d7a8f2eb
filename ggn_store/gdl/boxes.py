"""Boxes -> must, deny and guards: ways to say which contents squares may have, none of them twice.

One condition a square and polarity is all that a possibility can hold: a single content, `empty`, or `enemy`. What a
square may hold is written as a sum of what can be said so; a box of several squares is the product of their sums.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ggn_store.gdl.diagrams import Box
from ggn_store.model.documents.document import EMPTY, ENEMY

_EMPTY: Final = 1


@dataclass(frozen=True, slots=True)
class SquareCondition:
    """What one square may hold, as a possibility says it: at most one condition of each polarity."""

    must: str | None = None
    deny: str | None = None


class Covers:
    """Writes boxes for the side to move; content 0 of a square is empty, content i + 1 the i-th identifier."""

    def __init__(self, identifiers: Sequence[str], enemies: Sequence[bool]) -> None:
        self._identifiers = identifiers
        self._full = (2 << len(identifiers)) - 1
        self._enemy = sum(2 << number for number, is_enemy in enumerate(enemies) if is_enemy)
        self._known: dict[int, tuple[SquareCondition, ...]] = {}

    def states(self, mask: int) -> tuple[SquareCondition, ...]:
        """The fewest states that together say, each content once, that a square holds one of `mask`."""
        found = self._known.get(mask)
        if found is None:
            found = self._known[mask] = tuple(self._cover(mask))
        return found

    def count(self, squares: int, variable: int, mask: int) -> int:
        """How many possibilities a part of a box takes; guards hold any set of values."""
        return len(self.states(mask)) if variable < squares else 1

    def _cover(self, mask: int) -> Iterator[SquareCondition]:
        missing = self._full & ~mask
        if not missing:
            yield SquareCondition()
        elif missing & (missing - 1) == 0 and mask & (mask - 1):
            yield SquareCondition(deny=self._name(missing))
        else:
            yield from self._halves(mask)

    def _halves(self, mask: int) -> Iterator[SquareCondition]:
        """What is no enemy (as a whole, or one by one), then the enemies (all, all but one, or one by one)."""
        others = self._full & ~self._enemy
        own, enemies = mask & others, mask & self._enemy
        if own == others and own & (own - 1) and self._enemy:
            yield SquareCondition(deny=ENEMY)
        else:
            yield from (SquareCondition(must=self._name(content)) for content in _bits(own))
        lacking = self._enemy & ~enemies
        if enemies and not lacking:
            yield SquareCondition(must=ENEMY)
        elif enemies & (enemies - 1) and lacking & (lacking - 1) == 0:
            yield SquareCondition(must=ENEMY, deny=self._name(lacking))
        else:
            yield from (SquareCondition(must=self._name(content)) for content in _bits(enemies))

    def _name(self, content: int) -> str:
        return EMPTY if content == _EMPTY else self._identifiers[content.bit_length() - 2]

    def conditions(self, squares: Sequence[str], box: Box) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
        """The must and deny of a box, once for each choice of states; variables that are no squares are left out."""
        named = [(squares[variable], self.states(mask)) for variable, mask in box if variable < len(squares)]
        for chosen in itertools.product(*[states for _, states in named]):
            must, deny = {}, {}
            for (square, _), state in zip(named, chosen, strict=True):
                if state.must is not None:
                    must[square] = state.must
                if state.deny is not None:
                    deny[square] = state.deny
            yield must, deny


def guards(squares: int, variables: Sequence[tuple[str, Sequence[str]]], box: Box) -> Mapping[str, tuple[str, ...]]:
    """The guards of a box: state variable -> the values that it may have, sorted."""
    found = {}
    for variable, mask in box:
        if variable >= squares:
            name, values = variables[variable - squares]
            found[name] = tuple(sorted(value for number, value in enumerate(values) if mask >> number & 1))
    return dict(sorted(found.items()))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield mask & -mask
        mask &= mask - 1
