"""Threats: possibilities seen from a square that they change, and what those of a piece mean to a royal piece there.

A threat says what its piece, its source and the other squares have to be so that what stands on a square is taken. Of
the position before a move it is known which squares each of them lacks; only a move that changes all of these can make
it hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from ggn_store.model.documents.conditions import meets
from ggn_store.model.documents.document import EMPTY, ENEMY, Guards
from ggn_store.model.documents.variables import VariableValues, passes
from ggn_store.model.moves.move import Move, displaced
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, is_royal, other_side, side_of

# Outlooks are kept for so many codes, and for royal pieces on so many squares each of so many starts, at most.
_KEPT: Final = 100_000

# A square and the states that it must have and must not have.
_Fact = tuple[str, str | None, str | None]
# What stands on squares; what is not named is empty, or is as it was.
Contents = Mapping[str, "str | None"]
Item = tuple[str, "str | None"]


@dataclass(frozen=True, slots=True, eq=False)
class Threat:
    """A possibility of a piece on `source` that changes some square, as far as it can take what stands there.

    The squares of `empty` have to be empty; `facts` are all other conditions on squares. `board` is what it leaves on
    the squares that it changes.
    """

    piece: str
    source: str
    side: Side
    empty: tuple[str, ...]
    facts: tuple[_Fact, ...]
    guards: Guards
    board: Contents

    def lacks(self, board: Contents) -> list[str]:
        """The squares that have to be something else before it holds."""
        lacks = [square for square in self.empty if square in board]
        return lacks + [fact[0] for fact in self.facts if not _holds(fact, board.get(fact[0]), self.side)]

    def holds(self, board: Contents, changes: Contents, state: VariableValues | None = None) -> bool:
        """Whether it holds on the board after changes; `state` is the one after them."""
        if changes.get(self.source, self.piece) != self.piece or (self.guards and not passes(self.guards, state or {})):
            return False
        for square in self.empty:
            if changes[square] is not None if square in changes else square in board:
                return False
        for fact in self.facts:
            square = fact[0]
            if not _holds(fact, changes[square] if square in changes else board.get(square), self.side):
                return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """What all possibilities of a piece on a source come to.

    `threats` by the squares that they would change, and all squares that are `changed`. `is_own`: nothing is made of
    the other side, no state variable changes, and nothing enters in place of a piece; `is_plain`: neither is a royal
    piece moved or made, nor may one be replaced; `is_facing`: it is how royal pieces must not face each other, which is
    no attack. `steps` of a royal piece change nothing but its square: what it becomes by where it goes.

    `bits` gives for some squares the bits of a position's code in which its conditions look at them; None where codes
    do not say all that they ask.
    """

    threats: Mapping[str, Sequence[Threat]]
    changed: frozenset[str]
    is_own: bool
    is_plain: bool
    is_facing: bool = False
    steps: Contents = field(default_factory=dict)
    bits: Callable[[Iterable[str]], int] | None = None


def reach(moves: Iterable[Move], blasts: bool = False, bits: Callable[[Iterable[str]], int] | None = None) -> Reach:
    """What possibilities come to; what comes from a hand threatens nothing.

    Where captures may blast they threaten what stands where they end, and what their conditions ask for.
    """
    threats: dict[str, dict[object, Threat]] = {}
    changed: set[str] = set()
    steps: dict[str, str | None] = {}
    is_own = is_plain = True
    for move in moves:
        side, effects = side_of(move.piece), displaced(move).effects
        changed.update(effects.board)
        contents = [piece for piece in effects.board.values() if piece is not None]
        is_own = is_own and all(side_of(piece) == side for piece in contents) and not enters(move) and not effects.state
        is_plain = is_plain and is_own and not any(map(is_royal, (move.piece, *contents)))
        is_plain = is_plain and all(
            square == move.source or _spares_own_royals(move.must.get(square)) for square in effects.board
        )
        if not is_plain:
            becomes = effects.board.get(move.destination)
            is_step = effects.board == {move.source: None, move.destination: becomes}
            is_step = is_step and becomes is not None and is_royal(becomes)
            steps[move.destination] = becomes if is_step and steps.get(move.destination, becomes) == becomes else None
        taken = [
            square
            for square in effects.board
            if square != move.source
            and _can_take(move.must.get(square), move.deny.get(square), side)
            and not (blasts and square != move.destination and square not in move.must)
        ]
        if taken and move.source != HAND:
            empty = tuple(sorted(square for square, state in move.must.items() if state == EMPTY))
            others = {*move.must, *move.deny}.difference(empty)
            facts = tuple((square, move.must.get(square), move.deny.get(square)) for square in sorted(others))
            # Where captures blast, what they leave on the board says whether they may be made.
            key = str(move.guards), empty, facts, frozenset(effects.board.items() if blasts else ())
            threat = Threat(move.piece, move.source, side, empty, facts, move.guards, effects.board)
            for square in taken:
                # Promotions say the same several times.
                threats.setdefault(square, {}).setdefault(key, threat)
    by_square = {square: tuple(found.values()) for square, found in threats.items()}
    steps = {square: piece for square, piece in steps.items() if piece is not None}
    return Reach(by_square, frozenset(changed), is_own, is_plain, steps=steps, bits=bits)


def enters(move: Move) -> bool:
    """Whether a move brings a piece from the hand to a square that another one leaves (gating)."""
    return move.source == HAND and move.must.get(move.destination, EMPTY) != EMPTY


def _can_take(must: str | None, deny: str | None, side: Side) -> bool:
    """Whether conditions on a square let an enemy stand there."""
    if must is None:
        return deny != ENEMY
    return must == ENEMY or (must != EMPTY and side_of(must) != side)


def _spares_own_royals(must: str | None) -> bool:
    """Whether a condition on a square lets no royal piece of the own side stand there."""
    return must is not None and (must in (EMPTY, ENEMY) or not is_royal(must))


def _holds(fact: _Fact, piece: str | None, side: Side) -> bool:
    _, must, deny = fact
    return (must is None or meets(piece, must, side)) and (deny is None or not meets(piece, deny, side))


# --- what threats mean to a royal piece ---


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the threats of a start mean to a royal piece on its square.

    The steps onto the `covered` squares leave it attacked there. Of the threats on its own square, `holding` attack it
    already; those `waiting` would after a move that changes all that they lack, of which one square is named.
    `is_guarded`: state variables matter, too.
    """

    covered: Sequence[str]
    holding: Sequence[Threat]
    waiting: Sequence[tuple[str, Threat]]
    is_guarded: bool


class Outlooks:
    """Outlooks of pieces, kept by what their threats look at: after most moves that is the same as before."""

    def __init__(
        self,
        reaches: Callable[[Side, Iterable[Item]], Iterable[Reach]],
        code: Callable[[Side, Iterable[Item]], int],
    ) -> None:
        """`code` says what is on a board as the pieces of a side look at it."""
        self._reaches = reaches
        self._code = code
        self._known: dict[Item, dict[Item, tuple[_Asked, ...]]] = {}
        self._count = 0

    def of(self, royal: Item, steps: Contents, board: Contents, state: VariableValues | None) -> Iterator[Outlook]:
        """What each enemy means to a royal piece that could make these steps, always the same ones."""
        if self._count > _KEPT:
            self._known, self._count = {}, 0
        known = self._known.setdefault(royal, {})
        found = [*map(known.get, board.items())]
        if None in found:
            self._learn(known, royal, steps, [item for item in board.items() if item not in known])
            found = [*map(known.get, board.items())]
        # What has been read adds to what codes say.
        code = self._code(other_side(side_of(str(royal[1]))), board.items())
        for asked in chain.from_iterable(filter(None, found)):
            outlook = asked.known.get(code & asked.mask)
            if outlook is None:
                outlook = asked.outlook(board, state)
                if asked.is_kept:
                    self._count += 1
                    asked.known[code & asked.mask] = outlook
            yield outlook

    def _learn(
        self, known: dict[Item, tuple[_Asked, ...]], royal: Item, steps: Contents, items: Sequence[Item]
    ) -> None:
        """Read the threats of what stands on squares."""
        enemy = other_side(side_of(str(royal[1])))
        list(self._reaches(enemy, items))  # together, so that each of them is at hand
        for item in items:
            asked = [_Asked.of(start, royal, steps) for start in self._reaches(enemy, [item])]
            known[item] = tuple([each for each in asked if each is not None])
        self._count += len(items)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The threats of a start on a royal piece: on its square, and after each step, with what that changes.

    `mask` has what they look at in codes; where codes say all of it, what is `known` is kept by that.
    """

    here: Sequence[Threat]
    there: Mapping[str, tuple[Contents, Sequence[Threat]]]
    mask: int
    is_kept: bool
    known: dict[int, Outlook] = field(default_factory=dict)

    @classmethod
    def of(cls, start: Reach, royal: Item, steps: Contents) -> _Asked | None:
        """The threats of a start; None if it has none."""
        source, _ = royal
        here = start.threats.get(source, ())
        there = {
            square: ({source: None, square: piece}, start.threats[square])
            for square, piece in steps.items()
            if square in start.threats
        }
        if not here and not there:
            return None
        looked: set[str] = set()
        is_kept = start.bits is not None
        for target, threats in ((source, here), *((square, threats) for square, (_, threats) in there.items())):
            for threat in threats:
                # What stands on the target then is the royal piece, and nothing where it comes from.
                looked.update({*threat.empty, *(fact[0] for fact in threat.facts)}.difference((target, source)))
                is_kept = is_kept and not threat.guards
        return cls(here, there, start.bits(looked) if start.bits is not None else 0, is_kept)

    def outlook(self, board: Contents, state: VariableValues | None) -> Outlook:
        """What they mean on a board."""
        covered = [
            square
            for square, (changes, threats) in self.there.items()
            if any(threat.holds(board, changes, state) for threat in threats)
        ]
        lacking = [(threat.lacks(board), threat) for threat in self.here]
        return Outlook(
            covered,
            [threat for lacks, threat in lacking if not lacks],
            [(_rarest(lacks, board, threat.side), threat) for lacks, threat in lacking if lacks],
            any(threat.guards for threat in self.here),
        )


def _rarest(squares: Sequence[str], board: Contents, side: Side) -> str:
    """The square that a move of the other side changes least often: a piece of this side stands there, if on any."""
    occupied = (square for square in squares if (piece := board.get(square)) is not None and side_of(piece) == side)
    return next(occupied, squares[-1])
