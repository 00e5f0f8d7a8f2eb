"""What is known of a piece on a source: its moves, and for what it saw before, which of them hold.

What a position shows of its lanes is a code (`store.moves.statements`). An answer of the database is kept by chain and
by those bits of the code that it has looked at: whatever else is true, it is the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ggn_store.model.moves.move import Move
from ggn_store.store.moves.statements import Statements

if TYPE_CHECKING:
    from ggn_store.model.moves.threats import Reach

FoundMoves = tuple[Move, ...]


class LaneTarget(NamedTuple):
    """A target of a lane: the numbers of its possibilities, by piece on its square where they depend on that."""

    square: str
    numbers: tuple[int, ...]
    by_piece: Mapping[str, tuple[int, ...]] | None = None


class Holding(NamedTuple):
    """What is reached: the numbers that hold, and the targets where it depends on the piece there."""

    numbers: tuple[int, ...]
    open: tuple[LaneTarget, ...]


class CodedLane(NamedTuple):
    """A lane: all bits of its facts in codes of its view, and what picks their digits."""

    key: int
    view: Statements
    mask: int
    gather: Callable[[str], str]


@dataclass(slots=True, eq=False)
class LaneChain:
    """A chain, or several leaps, of the lane at this place of a start: its facts, and its targets.

    `facts` has for each bit in words the bits in codes; `bits` and `mask` are all of the former, and of the latter.
    The database looks at all facts up to one: `masks` has the bits in codes of what it may look at. An answer is kept
    by these bits of the code: whatever else is true, it is the same again. So a ray has an answer for each first piece
    on it. `known` has such bits, each with its answers.
    """

    place: int
    is_leaps: bool
    bits: int = 0
    mask: int = 0
    facts: dict[int, int] = field(default_factory=dict)
    masks: dict[int, int] = field(default_factory=dict)
    targets: dict[int, LaneTarget] = field(default_factory=dict)
    known: dict[int, dict[int, Holding]] = field(default_factory=dict)
    _outcomes: dict[tuple[int, int], tuple[int, Holding]] = field(default_factory=dict)

    def add(self, bit: int, mask: int, *, is_passed: bool) -> None:
        """Add a fact behind the others; `is_passed`: no other asks for it."""
        self.bits |= bit
        self.mask |= mask
        self.facts[bit] = mask
        if self.is_leaps:  # all are looked at
            self.masks.clear()
            self.known.clear()
        if not is_passed:
            self.masks[self.bits] = self.mask
            self.known[self.mask] = {}

    def cases(self) -> list[tuple[int, int]]:
        """Codes for most of what may be reached, each with the word that they give.

        Of several leaps any may be true; of a chain all facts up to one, and of those passed there one, all, or none.
        """
        codes, looked, before, aside, last = [0], 0, 0, 0, 0
        for bit, mask in self.facts.items():
            looked |= bit
            if self.is_leaps:
                codes += [code | mask for code in codes]
                continue
            codes.append(before | mask)
            if looked in self.masks:
                codes.append(before | aside)
                before, aside, last = before | mask, 0, before | aside | mask
            else:
                aside |= mask
        facts = self.facts.items()
        # A fact that follows from others is true with them.
        return [
            (code, sum([bit for bit, mask in facts if code & mask == mask])) for code in dict.fromkeys([*codes, last])
        ]

    def learn(self, code: int, reached: int, looked: int) -> Holding:
        """What is reached, by the database's answer for the lane, whose facts have this code; it is kept."""
        told = reached & self.bits, looked & self.bits
        known = self._outcomes.get(told)
        if known is None:
            targets = [target for bit, target in self.targets.items() if bit & told[0]]
            numbers = tuple(chain.from_iterable([target.numbers for target in targets]))
            answer = Holding(numbers, tuple([target for target in targets if target.by_piece is not None]))
            # Of two threads both get the one that stays: answers are known by which object it is.
            known = self._outcomes.setdefault(told, (self.masks.get(told[1], self.mask), answer))
        self.keep(*known, code)
        return known[1]

    def keep(self, mask: int, answer: Holding, code: int) -> None:
        """Keep an answer for a code, of which this mask was looked at."""
        self.known[mask][code & mask] = answer


# What a start knows of a position: the bits of its facts, of each lane where they are of several views.
Seen = int | tuple[int, ...]
# For each lane of a start what the database answers: the targets that are reached, and the facts that it looked at.
LaneAnswers = Sequence[Sequence[int]]
# A chain, and a code.
LaneCase = tuple[LaneChain, int]


@dataclass(slots=True, eq=False)
class Start:
    """A piece on a source: its place among all of the revision's, its lanes, and its possibilities as moves by number.

    `mask` has all its facts in the code that every position has; None where that does not do. `answers` has the moves
    for what was seen before, or what is reached by it where moves depend on names; `outcomes` the same by what its
    chains reach. `reach` is what all possibilities come to, once somebody
    wanted that.
    """

    piece: str
    source: str
    order: int = 0
    lanes: Sequence[CodedLane] = ()
    chains: Sequence[LaneChain] = ()
    moves: dict[int, Move] = field(default_factory=dict)
    mask: int | None = None
    is_named: bool = False
    answers: dict[Seen, Any] = field(default_factory=dict)
    outcomes: dict[tuple[int, ...], Any] = field(default_factory=dict)
    reach: Reach | None = None

    def known(self, seen: Seen) -> Any:
        """The answer for what is seen, if it is known of each chain; None otherwise."""
        found: list[Holding] = []
        codes = (seen,) * len(self.lanes) if isinstance(seen, int) else seen
        for each in self.chains:
            code = codes[each.place]
            for mask, answers in each.known.items():
                reached = answers.get(code & mask)
                if reached is not None:
                    found.append(reached)
                    break
            else:
                return None
        answer = self._answer(found)
        self.keep(seen, answer)
        return answer

    def cases(self) -> dict[tuple[int, int], list[LaneCase]]:
        """Lanes and words for most of what may be seen, each with the cases that it answers: one of each chain."""
        found: dict[tuple[int, int], list[LaneCase]] = {}
        for place, lane in enumerate(self.lanes):
            chains = [each for each in self.chains if each.place == place]
            cases = [each.cases() for each in chains]
            for number in range(max(map(len, cases))):
                picked = [of_chain[number % len(of_chain)] for of_chain in cases]
                codes = [(each, code) for each, (code, _) in zip(chains, picked, strict=True)]
                found.setdefault((lane.key, sum(word for _, word in picked)), []).extend(codes)
        return found

    def learn(self, seen: Seen, outcome: LaneAnswers) -> Any:
        """The answer for what is seen, from the database's; it is kept, and what it says of each chain."""
        found = []
        for each in self.chains:
            reached, looked = outcome[each.place]
            code = seen if isinstance(seen, int) else seen[each.place]
            found.append(each.learn(code, reached, looked))
        answer = self._answer(found)
        self.keep(seen, answer)
        return answer

    def _answer(self, found: Sequence[Holding]) -> Any:
        """The answer, if this is what the chains reach."""
        key = tuple(map(id, found))  # each chain has one of its own for all that is the same
        answer = self.outcomes.get(key)
        if answer is None:
            numbers = sorted(chain.from_iterable([reached.numbers for reached in found]))
            answer = self.outcomes[key] = (
                Holding(tuple(numbers), tuple(chain.from_iterable([reached.open for reached in found])))
                if self.is_named
                else tuple(map(self.moves.__getitem__, numbers))
            )
        return answer

    def keep(self, seen: Seen, answer: FoundMoves | Holding) -> None:
        """Keep an answer."""
        self.answers[seen] = answer

    def forget(self) -> None:
        """Keep no answers but those of chains."""
        self.answers, self.outcomes = {}, {}

    def resolve(self, reached: Holding, board: Mapping[str, str | None]) -> FoundMoves:
        """The moves in a position."""
        numbers = list(reached.numbers)
        for target in reached.open:
            numbers += (target.by_piece or {})[board[target.square] or ""]
        return tuple(map(self.moves.__getitem__, sorted(numbers)))
