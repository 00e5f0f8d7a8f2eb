"""Which squares pieces can ever stand on, whatever else is on the board; and who reaches a square.

From what stands somewhere at first, possibilities are followed whose piece stands on their source, or is held where
they start in the hand; then stands, or is held, whatever their effects say (of a `must-deny` document, the piece on the
destination). Conditions count only where none could ever meet them all (`impossible`), and captures and numbers of
pieces do not count at all. So nothing is missed that play can reach, but play need not be able to reach all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import ClassVar, Final

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.record import Record
from ggn_store.movement.entries import DENY, MUST, Entries, Said
from ggn_store.notation.qpi import side_of

# Beside the numbers of squares.
IN_HAND: Final = -1

Standing = tuple[str, int]
# By number of a possibility, those of its conditions that no position meets: with the piece on the source, and at all.
Impossible = Mapping[int, tuple[Said, ...]]


@dataclass(frozen=True, slots=True)
class Coverage(Record):
    """The squares that a piece can ever stand on, out of `of` squares of the board, and whether it can be held."""

    piece: str
    squares: tuple[str, ...]
    of: int
    hand: bool
    DATA: ClassVar = "piece count of hand squares"

    @property
    def count(self) -> int:
        """How many squares it can stand on."""
        return len(self.squares)


@dataclass(frozen=True, slots=True)
class Reacher(Record):
    """A piece with rules from a source to the square that was asked for.

    `quiet` and `capture` say whether it gets there on an empty board, and takes an enemy who stands there alone; where
    neither is so (a cannon's jump, castling), some of its `possibilities` may hold among other pieces.
    """

    piece: str
    source: str
    quiet: bool
    capture: bool
    possibilities: int


def impossible(piece: str, entries: Entries, *, is_drop: bool) -> Impossible:
    """The conditions of a possibility that no position meets, for the side that moves; by its number, if it has any.

    On the source, which drops have none of: every `must` (the piece itself is refused there when a document is read),
    and `deny` with the piece. Elsewhere: `must` with a piece of the other side, where `deny enemy` is asked for as
    well. Two `must` of one square, or `must` and `deny` of the same, are refused when a document is read.
    """
    side = side_of(piece)
    parts = {number: entries.part(number) for told in entries.told for number in told.asked}
    unmet = {place: number for number, (kind, state, place) in parts.items() if kind == DENY and state == ENEMY}
    never: dict[int, int] = {}  # by number of a condition, that of another one with which no position meets it
    for number, (kind, state, place) in parts.items():
        if kind == MUST and place in unmet and state not in (EMPTY, ENEMY) and side_of(str(state)) != side:
            never[number] = unmet[place]
        if not is_drop and not place and (state == piece) == (kind == DENY):
            never[number] = number
    found = {}
    for number, told in enumerate(entries.told):
        if not never.keys().isdisjoint(told.asked):
            unmet_here = tuple(parts[each] for each in told.asked if never.get(each) in told.asked)
            if unmet_here:
                found[number] = unmet_here
    return found


def reached(pieces: Mapping[str, Entries], seeds: Iterable[Standing] | None) -> set[Standing]:
    """All that can come to stand: piece and number of the square, or IN_HAND.

    `seeds` are what stands at first; without them every piece stands wherever it has rules from.
    """
    changes: dict[Standing, set[Standing]] = {}
    for piece, entries in pieces.items():
        _follow(piece, entries, changes)
    ahead = [*(changes if seeds is None else {*seeds})]
    found = set(ahead)
    while ahead:
        fresh = changes.get(ahead.pop(), set()) - found
        found |= fresh
        ahead += fresh
    return found


def _follow(piece: str, entries: Entries, changes: dict[Standing, set[Standing]]) -> None:
    """Add what the piece on each of its sources can make stand where."""
    codes, numbers = entries.grid.codes, entries.grid.by_code
    never = {is_drop: impossible(piece, entries, is_drop=is_drop) for is_drop in (False, True)}
    for pattern in entries.patterns:
        possible = [entries.told[each] for each in {*pattern.told}.difference(never[pattern.is_drop])]
        made = {*map(entries.part, {number for each in possible for number in each.changed})}
        held = {(taken, IN_HAND) for each in possible for taken, delta in each.held if delta > 0}
        placed = {(each.state, each.place) for each in made if each.state is not None}
        if any(each.turn is None for each in possible):
            if pattern.to is None:
                held.add((piece, IN_HAND))
            else:
                placed.add((piece, pattern.to))
        for origin in pattern.origins:
            at = changes.setdefault((piece, IN_HAND if pattern.is_drop else origin), set())
            at.update(held)
            at.update([(state, numbers[codes[origin] + place]) for state, place in placed])
        if not pattern.origins:
            changes.setdefault((piece, IN_HAND), set()).update(held)


def coverages(pieces: Iterable[str], standing: Set[Standing], board: Board) -> list[Coverage]:
    """The coverage of these pieces, in their order."""
    places: dict[str, set[int]] = {}
    for piece, number in standing:
        places.setdefault(piece, set()).add(number)
    size = len(board.squares)
    return [
        Coverage(piece, tuple(board.squares[number] for number in sorted(found - {IN_HAND})), size, IN_HAND in found)
        for piece in pieces
        for found in [places.get(piece, set())]
    ]
