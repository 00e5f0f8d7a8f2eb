"""Dead rules: possibilities that never apply, or that could be left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from ggn_store.model.board import Board
from ggn_store.model.conditions import implies
from ggn_store.model.contents import Condition, Contents
from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.record import Record
from ggn_store.notation.qpi import other_side, side_of

DeadKind = Literal["never", "duplicate", "shadowed", "unreachable", "absent"]
Standing = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Dead(Record):
    """A possibility that adds nothing to the rules, and why.

    - `never`: the conditions contradict each other, or what stands on the source; `square` and `state` of one of them;
    - `duplicate`: the conditions and effects are those of an earlier possibility of the destination, number `by`;
    - `shadowed`: possibility `by` of the destination has the same effects, and holds whenever this one does;
    - `unreachable`: the piece never comes to stand on the source; of all `possibilities` from there at once;
    - `absent`: what must stand on `square`, a piece or an enemy, never comes to stand there.

    The last two are told of rulesets with a start position; what comes to stand where, `coverage` says.
    """

    kind: DeadKind
    piece: str
    source: str
    destination: str | None = None
    ordinal: int | None = None
    by: int | None = None
    square: str | None = None
    state: str | None = None
    possibilities: int = 1


def find(
    piece: str,
    contents: Contents,
    board: Board,
    never: Mapping[int, Condition],
    standing: Set[Standing] | None,
    in_hand: int,
) -> list[Dead]:
    """What is dead of a piece, in document order.

    `never` has a condition that no position meets, by the number of its possibility; `standing` is all that can ever
    stand where, if that is known. A possibility is told of once, as the first of `Dead`'s kinds that it is; and also
    with a source that is unreachable. `in_hand` is the number of the hand.
    """
    rules = _Rules(piece, contents)
    absent = {} if standing is None else _absent(piece, rules, standing)
    found = []
    for source, group in groupby(contents.possibilities, key=itemgetter(1)):
        of_source = [*group]
        is_lost = standing is not None and (piece, in_hand if source is None else source) not in standing
        if is_lost:
            found.append(Dead("unreachable", piece, board.label(source), possibilities=len(of_source)))
        for destination, possibilities in groupby(of_source, key=itemgetter(2)):
            place = piece, board.label(source), board.label(destination)
            array = [(number, ordinal) for _, _, _, ordinal, number, _ in possibilities]
            ordinals = dict(array)
            needless = rules.needless(source, ordinals) if len(array) > 1 else {}
            for number, ordinal in array:
                if number in never:
                    found.append(Dead("never", *place, ordinal, None, *_told(never[number], board)))
                elif number in needless:
                    by, is_same = needless[number]
                    found.append(Dead("duplicate" if is_same else "shadowed", *place, ordinal, ordinals[by]))
                elif absent and not is_lost and not absent.keys().isdisjoint(rules.asked[number]):
                    lost = [absent[line] for line in rules.asked[number] if line in absent]
                    found.append(Dead("absent", *place, ordinal, None, *_told(min(lost, key=itemgetter(1)), board)))
    return found


def _absent(piece: str, rules: _Rules, standing: Set[Standing]) -> dict[str, Condition]:
    """What is asked to stand where it never does, by its line; an enemy is somebody of the other side."""
    other = other_side(side_of(piece))
    met = {square for each, square in standing if side_of(each) == other}
    return {
        line: condition
        for line, condition in rules.conditions.items()
        for polarity, square, state in [condition]
        if polarity == "must" and state != EMPTY
        if (square not in met if state == ENEMY else (state, square) not in standing)
    }


def _told(condition: Condition, board: Board) -> tuple[str, str]:
    return board.squares[condition.square], condition.state


class _Rules:
    """The possibilities of a piece by number: what they ask, as lines, and what they change."""

    def __init__(self, piece: str, contents: Contents) -> None:
        self._piece = piece
        self._side = side_of(piece)
        possibilities = contents.possibilities
        self.asked: list[Set[str]] = [frozenset()] * len(possibilities)
        for _, number, text in contents.conditions:
            self.asked[number] = frozenset(text.split("\n"))
        self.conditions = {line: Condition.read(line) for line in frozenset().union(*self.asked)}
        # These follow from nothing but themselves.
        self._firm = {
            line
            for line, (polarity, _, state) in self.conditions.items()
            if polarity == "must" and state not in (ENEMY, piece)
        }
        self._changes: list[list[Any]] = [[turn] for *_, turn in possibilities]
        for rows in (contents.effects, contents.hand_effects):
            for _, number, text in rows:
                self._changes[number].append(frozenset(text.split("\n")))
        # What tells of an action, or lets chains go on, is as much a part of a move as what the move changes.
        for _, number, *change in (*contents.state_effects, *contents.origins):
            self._changes[number].append(tuple(change))
        self._guards: list[dict[str, set[str]]] = [{} for _ in contents.possibilities]
        for _, number, variable, value in contents.guards:
            self._guards[number].setdefault(variable, set()).add(value)

    def needless(self, source: int | None, numbers: Iterable[int]) -> dict[int, tuple[int, bool]]:
        """Of a destination's possibilities, those that another one with the same effects makes needless.

        With the number of that one, which holds whenever this one does, and whether its conditions are the very same.
        Of possibilities that hold together, all but the first are needless.
        """
        alike: defaultdict[Any, list[int]] = defaultdict(list)
        for number in numbers:
            alike[frozenset(self._changes[number])].append(number)
        found = {}
        for group in alike.values():
            for number in group:
                others = [
                    other
                    for other in group
                    if other != number
                    and self._follows(other, number, source)
                    and (other < number or not self._follows(number, other, source))
                ]
                if others:
                    same = [other for other in others if self._said(other) == self._said(number)]
                    found[number] = (same or others)[0], bool(same)
        return found

    def _said(self, number: int) -> tuple[Set[str], dict[str, set[str]]]:
        return self.asked[number], self._guards[number]

    def _follows(self, one: int, other: int, source: int | None) -> bool:
        """Whether possibility `one` holds whenever `other` does."""
        further = self.asked[one] - self.asked[other]
        passed = self._guards[other]
        return (
            further.isdisjoint(self._firm)
            and all(self._is_met(self.conditions[line], source, other) for line in further)
            and all(name in passed and passed[name] <= values for name, values in self._guards[one].items())
        )

    def _is_met(self, condition: Condition, source: int | None, number: int) -> bool:
        """Whether a condition that a possibility does not ask itself is met wherever that holds.

        Since a square has one `must` and one `deny` at most, and there is always yet another piece of each side, a
        condition follows from several only where it follows from one of them.
        """
        polarity, square, state = condition
        if square == source and (polarity == "must") == (state == self._piece):
            return True
        return any(
            each.square == square and implies(each.polarity, each.state, polarity, state, self._side)
            for each in map(self.conditions.__getitem__, self.asked[number])
        )
