"""Royal safety among the plies of `perft`: what could take a royal piece, by the square that it stands on.

A position in which no side has more than one royal piece is legal after a move unless some row of `threat` fits: its
`target` is the royal piece's square, its attacker stands on `source`, and the rest is what any rule asks for. A
castling has a number, `crossing`, and rows of `crossed` say for it which other squares must not be attacked after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ggn_store.model.documents.geometry import Lattice
from ggn_store.model.moves.play import Play
from ggn_store.model.moves.position import SIDES, Position
from ggn_store.notation.qpi import Side, is_royal, other_side, side_of
from ggn_store.store.moves.positions import Opened
from ggn_store.store.moves.reachable import Entry

# The duties that this judges; `clear-marks` is what plies do anyway.
DUTIES: Final = frozenset(("royal-safety", "flying-general", "clear-marks"))


class NotJudgedError(Exception):
    """Plies cannot judge the duties of a game: each position is to be asked."""


@dataclass(frozen=True, slots=True)
class RoyalThreat:
    """An entry by which its piece could take a royal piece on a square; `entry` asks nothing of that square.

    `is_facing`: it is how royal pieces must not face each other, which is no attack on what castling crosses.
    """

    target: int
    entry: Entry
    is_facing: bool = False


def require_simple(play: Play, positions: Sequence[Position], entries: Iterable[Entry]) -> None:
    """Raise NotJudgedError unless the duties of a game can be judged here, within the reach of some positions."""
    if {duty.name for duty in play.duties} - DUTIES:
        raise NotJudgedError
    for position in positions:
        royals = Counter(side_of(piece) for piece in position.board.values() if piece is not None and is_royal(piece))
        if max(royals.values(), default=0) > 1:
            raise NotJudgedError
    for entry in entries:
        enters = entry.source is None and (entry.must or entry.not_empty)
        if enters or _makes_royals(entry):
            raise NotJudgedError


def _makes_royals(entry: Entry) -> bool:
    """Whether a side may have more royal pieces after it: it is dropped or promoted, or there are two of it."""
    left: Counter[Side] = Counter()
    for piece, squares in entry.becomes.items():
        if is_royal(piece):
            left[side_of(piece)] += squares.bit_count()
    if left:
        source = 0 if entry.source is None else 1 << entry.source
        taken = ((piece, squares & entry.touched & ~source) for piece, squares in entry.must.items())
        for piece, squares in ((entry.piece, source), *taken):
            if is_royal(piece):
                left[side_of(piece)] -= squares.bit_count()
    return any(count > 0 for count in left.values())


def crossing_of(entry: Entry, play: Play, numbers: Mapping[str, int]) -> int:
    """The number of the crossing that an entry is, from 1; 0 where it is none."""
    for number, crossing in enumerate(play.crossing, 1):
        at, to = numbers[crossing.source], 1 << numbers[crossing.destination]
        is_there = (entry.piece, entry.source) == (crossing.piece, at)
        moves_another = any(squares & ~to for squares in entry.becomes.values())
        if (
            is_there
            and moves_another
            and any(is_royal(piece) and squares & to for piece, squares in entry.becomes.items())
        ):
            return number
    return 0


def filled(entries: Iterable[Entry], play: Play, numbers: Mapping[str, int]) -> dict[int, int]:
    """What is empty before each crossing that a step could be, too, and no more after it, as a mask by its number.

    Its rook may then shield the square where the king was attacked.
    """
    found: dict[int, int] = {}
    for entry in entries:
        number = crossing_of(entry, play, numbers)
        if number and play.crossing[number - 1].is_step:
            squares = sum(entry.becomes.values()) & entry.not_own & entry.not_enemy
            found[number] = found.get(number, squares) & squares
    return found


def crossed(
    threat: RoyalThreat, side: int, play: Play, numbers: Mapping[str, int], filled: Mapping[int, int]
) -> tuple[tuple[int, int], ...]:
    """The crossings of a side (0 first, 1 second) over the target of a threat, and the squares no shield for it."""
    if threat.is_facing:
        return ()
    return tuple(
        (number, filled.get(number, 0) if threat.target == 1 << numbers[crossing.source] else 0)
        for number, crossing in enumerate(play.crossing, 1)
        if side_of(crossing.piece) == SIDES[side] and threat.target in [1 << numbers[each] for each in crossing.through]
    )


def threats(opened: Opened, play: Play, entries: Iterable[Entry]) -> Iterator[RoyalThreat]:
    """The threats among entries, and those of royal pieces that must not face each other."""
    entries = list(entries)
    names = {duty.name for duty in play.duties}
    if "royal-safety" in names:
        yield from _of_entries(entries)
    if "flying-general" in names:
        royals = {piece for entry in entries for piece in (entry.piece, *entry.becomes) if is_royal(piece)}
        yield from _facing(opened, royals)


def _of_entries(entries: Iterable[Entry]) -> Iterator[RoyalThreat]:
    known: set[tuple[object, ...]] = set()
    for entry in entries:
        if entry.source is None:
            continue
        other = other_side(side_of(entry.piece))
        touched = entry.touched & ~(1 << entry.source) & ~entry.not_enemy
        while touched:
            bit = touched & -touched
            touched ^= bit
            named = [piece for piece, squares in entry.must.items() if squares & bit]
            if all(is_royal(piece) and side_of(piece) == other for piece in named):
                found = _aside(entry, bit)
                key = _key(bit, found)
                if key not in known:  # promotions say the same several times
                    known.add(key)
                    yield RoyalThreat(bit, found)


def _aside(entry: Entry, bit: int) -> Entry:
    """The entry without what it asks of a square."""
    must, deny = (
        {piece: squares & ~bit for piece, squares in named.items() if squares & ~bit}
        for named in (entry.must, entry.deny)
    )
    masks = entry.not_own & ~bit, entry.not_enemy & ~bit, entry.not_empty & ~bit
    return Entry(entry.piece, entry.source, *masks, must, deny, 0, {}, {}, True)


def _key(bit: int, entry: Entry) -> tuple[object, ...]:
    named = (tuple(sorted(each.items())) for each in (entry.must, entry.deny))
    return bit, entry.piece, entry.source, entry.not_own, entry.not_enemy, entry.not_empty, *named


def _facing(opened: Opened, royals: Iterable[str]) -> Iterator[RoyalThreat]:
    lattice, numbers = Lattice.of(opened.board), opened.board.numbers
    if lattice is None:
        return
    for piece in sorted(royals):
        for square, number in numbers.items():
            for place, passed in lattice.ahead(square):
                between = sum(1 << numbers[each] for each in passed)
                entry = Entry(piece, number, between, between, 0, {}, {}, 0, {}, {}, True)
                yield RoyalThreat(1 << numbers[place], entry, is_facing=True)
