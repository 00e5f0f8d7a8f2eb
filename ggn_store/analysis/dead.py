"""Dead rules: possibilities that never apply, or that could be left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from ggn_store.analysis.movement import Contents
from ggn_store.analysis.reach import label
from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.notation.qpi import other_side, side_of

Kind = Literal["never", "duplicate", "shadowed", "unreachable", "absent"]
Standing = tuple[str, int]
# Polarity, square and state.
Condition = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Dead:
    """A possibility that adds nothing to the rules, and why.

    - `never`: the conditions contradict each other, or what stands on the source; `square` and `state` of one of them;
    - `duplicate`: the conditions and effects are those of an earlier possibility of the destination, number `by`;
    - `shadowed`: possibility `by` of the destination has the same effects, and holds whenever this one does;
    - `unreachable`: the piece never comes to stand on the source; of all `possibilities` from there at once;
    - `absent`: what must stand on `square`, a piece or an enemy, never comes to stand there.

    The last two are told of rulesets with a start position; what comes to stand where, `coverage` says.
    """

    kind: Kind
    piece: str
    source: str
    destination: str | None = None
    ordinal: int | None = None
    by: int | None = None
    square: str | None = None
    state: str | None = None
    possibilities: int = 1

    def data(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


def find(piece: str, contents: Contents, board: Board, standing: Set[Standing] | None, in_hand: int) -> list[Dead]:
    """What is dead of a piece, in document order; `standing` is all that can ever stand where, if that is known.

    A possibility is told of once, as the first of `Dead`'s kinds that it is; and also with a source that is
    unreachable. `in_hand` is the number of the hand.
    """
    rules = _Rules(piece, contents)
    sources = groupby(contents.possibilities, key=itemgetter(1))
    # Whom somebody can meet as an enemy, and where.
    met = {(side_of(each), square) for each, square in standing or ()}
    other = other_side(side_of(piece))
    found = []
    for source, group in sources:
        of_source = [*group]
        is_lost = standing is not None and (piece, in_hand if source is None else source) not in standing
        if is_lost:
            found.append(Dead("unreachable", piece, label(source, board), possibilities=len(of_source)))
        for destination, possibilities in groupby(of_source, key=itemgetter(2)):
            told = partial(_dead, piece, label(source, board), label(destination, board), board)
            array = [(ordinal, number) for _, _, _, ordinal, number, _ in possibilities]
            needless = rules.needless(source, [number for _, number in array]) if len(array) > 1 else {}
            ordinals = {number: ordinal for ordinal, number in array}
            for ordinal, number in array:
                never = rules.impossible(source, number)
                if never is not None:
                    found.append(told("never", ordinal, never))
                elif number in needless:
                    by, is_same = needless[number]
                    found.append(told("duplicate" if is_same else "shadowed", ordinal, by=ordinals[by]))
                elif standing is not None and not is_lost:
                    wanted = [each for each in sorted(rules.conditions[number], key=itemgetter(1)) if each[0] == "must"]
                    for condition in wanted:
                        _, square, state = condition
                        is_there = (other, square) in met if state == ENEMY else (state, square) in standing
                        if state != EMPTY and not is_there:
                            found.append(told("absent", ordinal, condition))
                            break
    return found


def _dead(
    piece: str,
    source: str,
    destination: str,
    board: Board,
    kind: Kind,
    ordinal: int,
    condition: Condition | None = None,
    by: int | None = None,
) -> Dead:
    if condition is None:
        return Dead(kind, piece, source, destination, ordinal, by)
    return Dead(kind, piece, source, destination, ordinal, by, board.squares[condition[1]], condition[2])


class _Rules:
    """The possibilities of a piece by number: their conditions, and what they change."""

    def __init__(self, piece: str, contents: Contents) -> None:
        self.piece = piece
        self.conditions: list[list[Condition]] = [[] for _ in contents.possibilities]
        for _, number, polarity, square, state in contents.conditions:
            self.conditions[number].append((polarity, square, state))
        self._changes: list[list[Any]] = [[] for _ in contents.possibilities]
        for _, number, square, becomes in contents.effects:
            self._changes[number].append((square, becomes))
        for _, number, held, delta in contents.hand_effects:
            self._changes[number].append((held, delta))
        for *_, number, turn in contents.possibilities:
            self._changes[number].append(turn)
        # What tells of an action, or lets chains go on, is as much a part of a move as what the move changes.
        for _, number, *change in (*contents.state_effects, *contents.origins):
            self._changes[number].append(tuple(change))
        self._guards: list[dict[str, set[str]]] = [{} for _ in contents.possibilities]
        for _, number, variable, value in contents.guards:
            self._guards[number].setdefault(variable, set()).add(value)
        self._side = side_of(piece)

    def impossible(self, source: int | None, number: int) -> Condition | None:
        """The first condition that no position meets together with the others, None where there is none.

        On the source: every `must` (the piece itself is refused there when a document is read), and `deny` with the
        piece. Elsewhere: `must` with a piece of the other side, where `deny enemy` is asked for as well.
        """
        found = [
            condition
            for condition in self.conditions[number]
            for polarity, square, state in [condition]
            if (square == source and (state == self.piece) == (polarity == "deny"))
            or (polarity == "must" and self._is_foreign(state) and ("deny", square, ENEMY) in self.conditions[number])
        ]
        return min(found, key=itemgetter(1), default=None)

    def needless(self, source: int | None, numbers: Sequence[int]) -> dict[int, tuple[int, bool]]:
        """Of a destination's possibilities, those that another one with the same effects makes needless.

        With the number of that one, which holds whenever this one does, and whether its conditions are the very same.
        Of possibilities that hold together, all but the first are needless.
        """
        alike: defaultdict[Any, list[int]] = defaultdict(list)
        for number in numbers:
            alike[frozenset(self._changes[number])].append(number)
        found = {}
        for group in alike.values():
            if len(group) < 2:
                continue
            asked = {number: frozenset(self._asked(source, number)) for number in group}
            wanted: defaultdict[int, set[Condition]] = defaultdict(set)
            for condition in set().union(*asked.values()):
                wanted[condition[1]].add(condition)
            implied = {number: self._implied(number, wanted) for number in group}
            for number in group:
                others = [
                    other
                    for other in group
                    if other != number
                    and self._follows(other, number, asked, implied)
                    and (other < number or not self._follows(number, other, asked, implied))
                ]
                same = [other for other in others if self._said(other) == self._said(number)]
                if others:
                    found[number] = (same or others)[0], bool(same)
        return found

    def _follows(
        self, one: int, other: int, asked: Mapping[int, Set[Condition]], implied: Mapping[int, Set[Condition]]
    ) -> bool:
        """Whether possibility `one` holds whenever `other` does."""
        passed = self._guards[other]
        return asked[one] <= implied[other] and all(
            name in passed and passed[name] <= values for name, values in self._guards[one].items()
        )

    def _said(self, number: int) -> tuple[set[Condition], dict[str, set[str]]]:
        return {*self.conditions[number]}, self._guards[number]

    def _asked(self, source: int | None, number: int) -> Iterator[Condition]:
        """The conditions, but for those that the piece itself meets on its source."""
        for condition in self.conditions[number]:
            polarity, square, state = condition
            if square != source or (polarity == "must") != (state == self.piece):
                yield condition

    def _implied(self, number: int, wanted: Mapping[int, Iterable[Condition]]) -> set[Condition]:
        """Of the conditions that are wanted, by square, those that are met wherever a possibility holds.

        Since a square has one `must` and one `deny` at most, and there is always yet another piece of each side, a
        condition follows from several only where it follows from one of them.
        """
        return {
            other
            for one in self.conditions[number]
            for other in wanted.get(one[1], ())
            if one == other or self._implies(one, other)
        }

    def _implies(self, one: Condition, other: Condition) -> bool:
        """Whether the condition `other`, another one on the same square, is met wherever `one` is."""
        (polarity, _, mine), (other_polarity, _, its) = one, other
        if polarity == "deny":
            return mine == ENEMY and other_polarity == "deny" and self._is_foreign(its)
        if other_polarity == "must":
            return its == ENEMY and self._is_foreign(mine)
        if mine == its:
            return False
        if mine == EMPTY:
            return True
        if mine == ENEMY:
            return its == EMPTY or self._is_own(its)
        return its != ENEMY or self._is_own(mine)

    def _is_own(self, state: str) -> bool:
        return state not in (EMPTY, ENEMY) and side_of(state) == self._side

    def _is_foreign(self, state: str) -> bool:
        return state not in (EMPTY, ENEMY) and side_of(state) != self._side
