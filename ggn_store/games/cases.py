"""How single squares can be as a move needs them: held by an enemy that may be taken, by something to pass over, ..."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ggn_store.games.rules import Army, Form
from ggn_store.model.documents.document import EMPTY, ENEMY


@dataclass(frozen=True, slots=True)
class SquareCase:
    """One way in which squares can be as a move needs them, and the piece that is captured there."""

    must: dict[str, str] = field(default_factory=dict)
    deny: dict[str, str] = field(default_factory=dict)
    captured: Form | None = None


class SquareCases:
    """The cases of single squares, for the pieces of one army."""

    def __init__(self, own: Army, enemy: Army, are_named: bool) -> None:
        # What goes to the hand has to be named: effects cannot pass on what conditions found.
        self._are_named = are_named
        self._own = own
        self._enemy = enemy
        self._known: dict[tuple[str, tuple[str, ...]], list[SquareCase]] = {}

    def hurdles(self, form: Form, square: str) -> list[SquareCase]:
        """How a square can hold something that may be passed over."""
        barred = form.piece.hurdles_except
        if not barred:
            return [SquareCase(deny={square: EMPTY})]
        own = [each for each in self._own.standing(square) if each.piece.letter not in barred]
        enemies = self._enemy.standing(square)
        allowed = [each for each in enemies if each.piece.letter not in barred]
        return [*(SquareCase({square: each.identifier}) for each in own), *_named(square, enemies, allowed)]

    def enemies(self, form: Form, square: str) -> list[SquareCase]:
        """How a square can hold an enemy that the piece may take."""
        key = (square, form.piece.captures_except)
        known = self._known.get(key)
        if known is None:
            there = self._enemy.standing(square)
            allowed = [each for each in there if may_take(form, each)]
            known = self._known[key] = (
                [SquareCase({square: each.identifier}, captured=each) for each in allowed]
                if self._are_named
                else _named(square, there, allowed)
            )
        return known

    def friends(self, form: Form, square: str) -> list[SquareCase]:
        """How a square can hold an own piece that the piece may take: no terminal one. It goes to no hand."""
        there = [each for each in self._own.standing(square) if may_take(form, each) and not each.piece.terminal]
        return [SquareCase({square: each.identifier}) for each in there]

    def together(self, cases: Sequence[SquareCase]) -> list[SquareCase]:
        """The ways in which all of some cases hold, each position in one; what is captured is left out."""
        must, deny, said = dict[str, str](), dict[str, str](), 0
        for case in cases:
            must |= case.must
            deny |= case.deny
            said += len(case.must) + len(case.deny)
        if len(must) + len(deny) == said:  # nearly always, no two say the same of a square
            return [SquareCase(must, deny)]
        ways = [SquareCase()]
        for case in cases:
            ways = [both for way in ways for both in self._both(way, case)]
        return ways

    def _both(self, one: SquareCase, other: SquareCase) -> Iterator[SquareCase]:
        must, deny = {**one.must, **other.must}, {**one.deny, **other.deny}
        # A square has one condition and one denial.
        disputed = [square for square, state in other.must.items() if one.must.get(square, state) != state]
        disputed += [square for square, state in other.deny.items() if one.deny.get(square, state) != state]
        if not disputed:
            yield SquareCase(must, deny)
            return
        for square in disputed:
            must.pop(square, None)
            deny.pop(square, None)
        for chosen in itertools.product(*(self._shared(square, one, other) for square in dict.fromkeys(disputed))):
            yield from self.together([SquareCase(must, deny), *chosen])

    def _shared(self, square: str, *cases: SquareCase) -> list[SquareCase]:
        """How a square can be of which each case says something else: each of its states in one way."""

        def holds(state: str, *names: str) -> bool:
            return all(
                case.must.get(square, state) in (state, *names) and case.deny.get(square) not in (state, *names)
                for case in cases
            )

        own = [each.identifier for each in self._own.standing(square) if holds(each.identifier)]
        enemies = self._enemy.standing(square)
        allowed = [each for each in enemies if holds(each.identifier, ENEMY)]
        found = [SquareCase({square: state}) for state in ([EMPTY] if holds(EMPTY) else []) + own]
        return [*found, *(_named(square, enemies, allowed) if allowed else [])]


def may_take(form: Form, taken: Form) -> bool:
    """Whether a piece may take another one, of either side."""
    return not taken.piece.immune and taken.piece.letter not in form.piece.captures_except


def _named(square: str, there: list[Form], allowed: list[Form]) -> list[SquareCase]:
    """Enemies of a square, all but some: by `enemy` as long as one denial names all the rest, else one by one."""
    names = {each.identifier for each in allowed}
    rest = [each.identifier for each in there if each.identifier not in names]
    if not rest:
        return [SquareCase({square: ENEMY})]
    if len(rest) == 1 and allowed:
        return [SquareCase({square: ENEMY}, {square: rest[0]})]
    return [SquareCase({square: each.identifier}) for each in allowed]
