"""Whether the two sides of a ruleset are mirror images, and each side of itself from left to right.

All possibilities are compared, as sets: what one side can do, with squares mirrored or turned and the case of all
identifiers changed, the other side must be able to do, conditions and effects included. Names of actions are no part
of it, and neither is what is asked of state variables and becomes of them: no document says what a value becomes in a
mirror, such as a file, or the name of a player.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from ggn_store.model import possibilities
from ggn_store.model.board import Board
from ggn_store.model.contents import Condition, Contents, effect, hand_effect
from ggn_store.model.document import EMPTY, ENEMY, Possibility
from ggn_store.model.geometry import Lattice, Symmetry, reversing
from ggn_store.model.position import Position
from ggn_store.model.possibilities import ABSENT, PossibilityChange
from ggn_store.model.record import Record
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.notation.stn import Transition

Of = Literal["sides", "first", "second"]
NumberedEntry = tuple[str, int | None, int | None]

# Numbers of 128 bits are added up, each in a lane of its own.
_LANE: Final = 160
_HASH_BYTES: Final = 16
_MASK: Final = (1 << _LANE) - 1
_FIRST: Final = 3


class MirroredPiece(NamedTuple):
    """The rows of a piece, and its identifier."""

    piece: str
    contents: Contents


@dataclass(frozen=True)
class Mirror:
    """A symmetry that is tried: of the sides, one becoming the other, or of one side by itself.

    `squares` are the labels that the squares of the board come to; they may be none of its own where it has holes.
    """

    of: Of
    symmetry: str
    squares: tuple[str, ...]

    def piece(self, identifier: str) -> str:
        """What a piece becomes."""
        return identifier.swapcase() if self.of == "sides" else identifier

    def state(self, state: str) -> str:
        """What a state becomes."""
        return state if state in (EMPTY, ENEMY) else self.piece(state)

    def label(self, square: str, board: Board) -> str:
        """What a square becomes; the hand stays what it is."""
        return square if square == HAND else self.squares[board.numbers[square]]

    def possibility(self, possibility: Possibility, board: Board) -> Possibility:
        """What a possibility becomes, as far as it is compared."""

        def states(found: Mapping[str, str]) -> dict[str, str]:
            return {self.label(square, board): self.state(state) for square, state in found.items()}

        effects = possibility.effects
        if effects is not None:
            changed = {
                self.label(square, board): piece and self.piece(piece) for square, piece in effects.board.items()
            }
            hands = {self.piece(piece): delta for piece, delta in effects.hands.items()}
            effects = Transition(changed, hands, effects.toggle)
        return Possibility(states(possibility.must), states(possibility.deny), effects)


@dataclass(frozen=True, slots=True)
class SideSymmetry(Record):
    """Whether a symmetry holds for the rules, and in how many entries it does not.

    `of` is sides: one becomes the other; or first or second: the side becomes itself. `possibilities` have no
    counterpart; `entries` are the sources and destinations where, each with its mirror image counted once, and `where`
    has the first of them. `start` says whether the start position has the symmetry too; None where there is none.
    """

    of: Of
    symmetry: str
    holds: bool
    entries: int
    possibilities: int
    start: bool | None
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asymmetry(Record):
    """An entry that its mirror image is not like, and in what: the first possibility that differs.

    `possibilities` have no counterpart in the mirror image, which is the entry of the other names (of sides: of the
    second one); `other_possibilities` of the image have none here.
    """

    of: Of
    symmetry: str
    piece: str
    source: str
    destination: str
    possibilities: int
    other_piece: str
    other_source: str
    other_destination: str
    other_possibilities: int
    what: str


@dataclass(frozen=True)
class MirrorFinding:
    """What lacks a counterpart under a mirror: by entry, how many here, and how many in its mirror image."""

    mirror: Mirror
    entries: Mapping[NumberedEntry, tuple[int, int]]


def mirrors(board: Board) -> list[Mirror]:
    """What is tried on a board: all ways to reverse axes for the sides, and left to right for each by itself.

    Where squares have no coordinates there is only: the sides have the same rules on the same squares.
    """
    lattice = Lattice.of(board)
    if lattice is None:
        return [Mirror("sides", "equal", board.squares)]
    dimensions = lattice.dimensions
    axes = range(dimensions)
    tried: list[tuple[Of, Symmetry]] = [
        ("sides", reversing(dimensions, *chosen))
        for count in range(dimensions + 1)
        for chosen in itertools.combinations(axes, count)
    ]
    if dimensions > 1:
        tried += [(side, reversing(dimensions, 0)) for side in ("first", "second")]
    return [Mirror(of, symmetry.name, lattice.images(symmetry)) for of, symmetry in tried]


def find(
    pieces: Iterable[MirroredPiece], order: Sequence[str], board: Board, tried: Sequence[Mirror]
) -> list[MirrorFinding]:
    """What lacks a counterpart under each mirror; `order` has the pieces as the document has them."""
    # A lane for each way to see the rules: as they are, then as each mirror shows them.
    numbers = _Numbers([Mirror("first", "equal", board.squares), *tried])
    of_piece = {each.piece: numbers.rows(each) for each in pieces}
    rows = [row for piece in order for row in of_piece.get(piece, ())]
    there = {total & _MASK for total, _ in rows}
    found = []
    for number, mirror in enumerate(tried, 1):
        shift = number * _LANE
        lacking = {
            total & _MASK: entry
            for total, entry in rows
            if (total >> shift) & _MASK not in there and mirror.of in ("sides", side_of(entry[0]))
        }
        found.append(MirrorFinding(mirror, _paired(mirror, lacking.values(), board)))
    return found


class _Numbers:
    """Possibilities as numbers: what each condition, effect and part of the address adds, in every lane."""

    def __init__(self, lanes: Sequence[Mirror]) -> None:
        self._lanes = lanes
        self._item = functools.cache(self._hashed)
        self._asked = functools.cache(self._read_asked)
        self._changed = functools.cache(self._read_changed)
        self._held = functools.cache(self._read_held)

    def rows(self, piece: MirroredPiece) -> list[tuple[int, NumberedEntry]]:
        """The number of each possibility of a piece, and its entry."""
        contents, own = piece.contents, self._item("piece", piece.piece)
        numbers = [own] * len(contents.possibilities)
        parts = (
            (contents.conditions, self._asked),
            (contents.effects, self._changed),
            (contents.hand_effects, self._held),
        )
        for lines, read in parts:
            for _, number, text in lines:
                numbers[number] += sum(map(read, text.split("\n")))
        item, found = self._item, []
        for _, source, destination, _, number, turn in contents.possibilities:
            address = item("source", None, source) + item("destination", None, destination)
            found.append((numbers[number] + address + item("turn", turn), (piece.piece, source, destination)))
        return found

    def _hashed(self, role: str, value: Any, square: int | None = None) -> int:
        total = 0
        for number, mirror in enumerate(self._lanes):
            place = None if square is None else mirror.squares[square]
            told = mirror.state(value) if isinstance(value, str) else value
            digest = hashlib.blake2b(repr((role, told, place)).encode(), digest_size=_HASH_BYTES).digest()
            total |= int.from_bytes(digest) << number * _LANE
        return total

    def _read_asked(self, line: str) -> int:
        condition = Condition.read(line)
        return self._item(condition.polarity, condition.state, condition.square)

    def _read_changed(self, line: str) -> int:
        square, becomes = effect(line)
        return self._item("becomes", becomes, square)

    def _read_held(self, line: str) -> int:
        state, delta = hand_effect(line)
        return self._item(f"hand {delta}", state)


def _paired(mirror: Mirror, lacking: Iterable[NumberedEntry], board: Board) -> dict[NumberedEntry, tuple[int, int]]:
    """How many possibilities lack a counterpart by entry, and in its mirror image: of the sides, by the first one's."""
    counts: dict[NumberedEntry, int] = {}
    for entry in lacking:
        counts[entry] = counts.get(entry, 0) + 1
    numbers = {**board.numbers}
    found: dict[NumberedEntry, tuple[int, int]] = {}
    for entry, count in counts.items():
        image = _image(mirror, entry, numbers)
        if mirror.of == "sides" and side_of(entry[0]) == "second" and image is not None:
            found.setdefault(image, (counts.get(image, 0), count))
        elif image is None or image not in found:
            found[entry] = count, 0 if image in (None, entry) else counts.get(image, 0)
    return found


def _image(mirror: Mirror, entry: NumberedEntry, numbers: Mapping[str, int]) -> NumberedEntry | None:
    """Where an entry is mirrored to; None where that is not on the board."""
    piece, *squares = entry
    labels = [None if square is None else mirror.squares[square] for square in squares]
    if any(label is not None and label not in numbers for label in labels):
        return None
    source, destination = (None if label is None else numbers[label] for label in labels)
    return mirror.piece(piece), source, destination


# --- what is told of it ---


def answer(finding: MirrorFinding, board: Board, start: Position | None) -> SideSymmetry:
    """Whether a symmetry holds; `start` is the start position, if there is one."""
    mirror, entries = finding.mirror, finding.entries
    return SideSymmetry(
        mirror.of,
        mirror.symmetry,
        not entries,
        len(entries),
        sum(here + there for here, there in entries.values()),
        None if start is None else _has(start, mirror, board),
        tuple(_text(entry, board) for entry in itertools.islice(entries, _FIRST)),
    )


def _text(entry: NumberedEntry, board: Board) -> str:
    piece, source, destination = entry
    return f"{piece} {board.label(source)}-{board.label(destination)}"


def _has(start: Position, mirror: Mirror, board: Board) -> bool:
    """Whether a position has the symmetry."""

    def is_meant(piece: str | None) -> bool:
        return bool(piece) and (mirror.of == "sides" or side_of(str(piece)) == mirror.of)

    placed = {square: piece for square, piece in start.board.items() if piece is not None and is_meant(piece)}
    if not placed.keys() <= board.numbers.keys():
        return False
    mirrored = {mirror.label(square, board): mirror.piece(piece) for square, piece in placed.items()}
    held = {piece: count for piece, count in (start.hands or {}).items() if is_meant(piece)}
    return mirrored == placed and {mirror.piece(piece): count for piece, count in held.items()} == held


def asymmetry(
    finding: MirrorFinding,
    entry: NumberedEntry,
    board: Board,
    read: Callable[[str, str, str], Sequence[Possibility] | None],
) -> Asymmetry:
    """An entry of a finding; `read` gives the possibilities of any entry, None where its piece has no rules."""
    mirror = finding.mirror
    here, there = finding.entries[entry]
    piece, source, destination = entry[0], board.label(entry[1]), board.label(entry[2])
    other = mirror.piece(piece), mirror.label(source, board), mirror.label(destination, board)
    mine, its = read(piece, source, destination), read(*other)
    mirrored = None if mine is None else [mirror.possibility(each, board) for each in mine]
    its = None if its is None else [_compared(each) for each in its]
    return Asymmetry(
        mirror.of, mirror.symmetry, piece, source, destination, here, *other, there, _what(piece, other, mirrored, its)
    )


def _compared(possibility: Possibility) -> Possibility:
    """What is compared of a possibility."""
    effects = possibility.effects
    if effects is not None:
        effects = replace(effects, state={})
    return replace(possibility, effects=effects, guards={}, origin=None)


def _what(
    piece: str, other: tuple[str, str, str], mirrored: Sequence[Possibility] | None, its: Sequence[Possibility] | None
) -> str:
    image = f"{other[0]} {other[1]}-{other[2]}"
    if its is None:
        return f"there are no rules for {other[0]}"
    if mirrored is None:
        return f"there are no rules for {piece}, and {image} is there"
    if not its:
        return f"there is no {image}"
    if not mirrored:
        return f"only {image} is there"
    changes = [each for each in possibilities.compare(mirrored, its) if each.kind != "moved"]
    # Equal possibilities that stand there more than once are no difference of sets.
    extra = {"added": mirrored, "removed": its}
    changes = [
        each for each in changes if each.kind == "changed" or (each.after or each.before) not in extra[each.kind]
    ]
    return _difference(changes[0], image) if changes else f"{image} has others"


def _difference(change: PossibilityChange, image: str) -> str:
    if change.kind == "added":
        return f"{image} has one more: {_conditions(change.after)}"
    if change.kind == "removed":
        return f"{image} has none with {_conditions(change.before)}"
    detail = change.details[0]
    values = [
        "nothing" if each is None else "unsaid" if each is ABSENT else each for each in (detail.before, detail.after)
    ]
    where = " ".join(filter(None, (detail.part, detail.name)))
    return f"{image} has {where} {values[1]}, not {values[0]}"


def _conditions(possibility: Possibility | None) -> str:
    if possibility is None:
        return ""
    told = [f"must {square} {state}" for square, state in sorted(possibility.must.items())]
    told += [f"deny {square} {state}" for square, state in sorted(possibility.deny.items())]
    return ", ".join(told) or "no conditions"
