"""Whether the two sides of a ruleset are mirror images, and each side of itself from left to right.

All possibilities are compared, as sets: what one side can do, with squares mirrored or turned and the case of all
identifiers changed, the other side must be able to do, conditions and effects included. Names of actions are no part
of it, and neither is what is asked of state variables and becomes of them: no document says what a value becomes in a
mirror, such as a file, or the name of a player.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ggn_store.model.changes import possibilities
from ggn_store.model.changes.possibilities import ABSENT, PossibilityChange
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY, Possibility
from ggn_store.model.documents.geometry import Symmetry, Vector, hexagonal_name, reversing
from ggn_store.model.known import Known
from ggn_store.model.moves.position import Position
from ggn_store.model.record import Record
from ggn_store.movement.entries import Entries, ToldPiece
from ggn_store.movement.grid import Grid, bits_of
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.notation.stn import Transition

Of = Literal["sides", "first", "second"]
NumberedEntry = tuple[str, int | None, int | None]

_FIRST: Final = 3
_SIDES: Final[tuple[Of, ...]] = ("first", "second")
_ACROSS: Final = "mirrored left to right"


@dataclass(frozen=True)
class Mirror:
    """A symmetry that is tried: of the sides, one becoming the other, or of one side by itself.

    `squares` are the labels that the squares of the board come to; they may be none of its own where it has holes.
    `seen` is what vectors come to; they stay as they are where squares have no coordinates.
    """

    of: Of
    symmetry: str
    squares: tuple[str, ...]
    seen: Symmetry | None = None

    def back(self, board: Board) -> Mirror:
        """The way back: the mirror itself, but of a turn."""
        if self.seen is None or self.seen.inverse == self.seen:
            return self
        known = dict(zip(self.squares, board.squares, strict=True))
        squares = tuple(known.get(square, "") for square in board.squares)
        return replace(self, squares=squares, seen=self.seen.inverse)

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


def mirrors(board: Board, form: str | None = None, squares: int | None = None) -> list[Mirror]:
    """What is tried on a board that lies in this form, with these squares and holes, as `Grid` has it.

    Of squares all ways to reverse axes for the sides, and left to right for each by itself; of hexagons all symmetries
    that the board has. Where squares have no coordinates there is only: the sides have the same rules on the same
    squares.
    """
    grid = Grid.of(board, form, squares)
    if grid is None:
        return [Mirror("sides", "equal", board.squares)]
    if grid.hexagonal:
        is_upright = str(form).startswith("files")
        named = {each: hexagonal_name(each, is_upright) for each in grid.symmetries if grid.has(each)}
        across = [each for each, name in named.items() if name == _ACROSS]
    else:
        dimensions = len(grid.size)
        chosen = (each for count in range(dimensions + 1) for each in itertools.combinations(range(dimensions), count))
        named = {each: each.name for each in (reversing(dimensions, *axes) for axes in chosen)}
        across = [reversing(dimensions, 0)] if dimensions > 1 else []
    tried: list[tuple[Of, Symmetry]] = [("sides", each) for each in named]
    tried += [(side, each) for side in _SIDES for each in across]
    labels = {each: ["" if at is None else board.squares[at] for at in grid.images(each)] for each in named}
    return [Mirror(of, named[each], tuple(labels[each]), each) for of, each in tried]


def find(pieces: Sequence[ToldPiece], board: Board, tried: Sequence[Mirror]) -> list[MirrorFinding]:
    """What lacks a counterpart under each mirror; the pieces are in document order."""
    numbers = _Numbers()
    rules = {each.piece: numbers.rules(each.entries) for each in pieces}
    return [MirrorFinding(mirror, _lacking(mirror, board, numbers, pieces, rules)) for mirror in tried]


# What a possibility says but for where it starts: whether it is a drop, its vector, the number of what it asks and
# changes, what it changes in hands, and the turn. And the squares where it starts.
_Rules = Mapping[tuple[bool, Any, int, Any, bool | None], int]
_UNKNOWN: Final = -1


class _Numbers:
    """What possibilities ask and change as numbers: of each condition and effect, and of all that one says together."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str | None, Vector], int] = {}
        self.said: dict[frozenset[int], int] = {}

    def rules(self, entries: Entries) -> _Rules:
        """The possibilities of a piece; those from the hand into the hand have a square more."""
        grid, items, said = entries.grid, self.items, self.said

        def item(number: int) -> int:
            kind, state, place = entries.part(number)
            return items.setdefault((kind, state, grid.vector(place)), len(items))

        known = Known(item)
        told = [
            (
                said.setdefault(frozenset([known[each] for each in (*told.asked, *told.changed)]), len(said)),
                told.held,
                told.turn,
            )
            for told in entries.told
        ]
        found: dict[Any, int] = {}
        for pattern in entries.patterns:
            to = None if pattern.to is None else grid.vector(pattern.to)
            squares = sum([1 << each for each in pattern.origins]) or 1 << len(grid.codes)
            for number in {*pattern.told}:
                key = pattern.is_drop, to, *told[number]
                found[key] = found.get(key, 0) | squares
        return found


def _lacking(
    mirror: Mirror, board: Board, numbers: _Numbers, pieces: Sequence[ToldPiece], rules: Mapping[str, _Rules]
) -> dict[NumberedEntry, tuple[int, int]]:
    """How many possibilities lack a counterpart by entry, and in its mirror image; of the sides, by the first's."""
    there = _Mirrored(mirror, board, numbers)
    back = there if (other := mirror.back(board)) is mirror else _Mirrored(other, board, numbers)
    of_side = {"first": there, "second": back if mirror.of == "sides" else there}
    counts: dict[NumberedEntry, int] = {}
    for piece, entries, places in pieces:
        if mirror.of in ("sides", side_of(piece)):
            seen = of_side[side_of(piece)]
            of_piece = seen.counts(rules[piece], rules.get(mirror.piece(piece), {}), entries.grid)
            counts |= {(piece, *place): of_piece[place] for place in places if place in of_piece}
    found: dict[NumberedEntry, tuple[int, int]] = {}
    for entry, count in counts.items():
        side = side_of(entry[0])
        image = of_side[side].image(entry)
        if mirror.of == "sides" and side == "second" and image is not None:
            found.setdefault(image, (counts.get(image, 0), count))
        elif image is None or image not in found:
            found[entry] = count, 0 if image in (None, entry) else counts.get(image, 0)
    return found


class _Mirrored:
    """Rules in a mirror."""

    def __init__(self, mirror: Mirror, board: Board, numbers: _Numbers) -> None:
        self._mirror = mirror
        self._images = [board.numbers.get(label) for label in mirror.squares]
        self._seen = {image: square for square, image in enumerate((*self._images, len(self._images)))}
        self._vector = Known(lambda vector: vector if mirror.seen is None or vector is None else mirror.seen(vector))
        items = [
            numbers.items.get((kind, state and mirror.state(state), self._vector[vector]), _UNKNOWN)
            for kind, state, vector in numbers.items
        ]
        self._said = [numbers.said.get(frozenset([items[each] for each in said]), _UNKNOWN) for said in numbers.said]
        self._held = Known(lambda held: tuple(sorted([(mirror.piece(piece), delta) for piece, delta in held])))
        self._placed = Known(self._place)

    def counts(self, here: _Rules, there: _Rules, grid: Grid) -> dict[tuple[int | None, int | None], int]:
        """How many possibilities of a piece lack a counterpart in the rules of its image, by source and destination."""
        lacking: dict[tuple[bool, Any, int], int] = {}
        for (is_drop, to, said, held, turn), origins in here.items():
            image = is_drop, self._vector[to], self._said[said], self._held[held], turn
            lost = origins & ~self._placed[there.get(image, 0)]
            if lost:
                key = is_drop, to, lost
                lacking[key] = lacking.get(key, 0) + 1
        found: dict[tuple[int | None, int | None], int] = {}
        codes, squares = grid.codes, grid.by_code
        for (is_drop, to, lost), count in lacking.items():
            way = None if to is None else sum(map(int.__mul__, to, grid.strides))
            for origin in bits_of(lost):
                at = None if origin == len(codes) else origin
                place = None if is_drop else at, None if at is None or way is None else squares[codes[at] + way]
                found[place] = found.get(place, 0) + count
        return found

    def _place(self, squares: int) -> int:
        """The squares that come to some."""
        return sum([1 << self._seen[each] for each in bits_of(squares) if each in self._seen])

    def image(self, entry: NumberedEntry) -> NumberedEntry | None:
        """Where an entry is mirrored to; None where that is not on the board."""
        piece, *squares = entry
        images = [None if square is None else self._images[square] for square in squares]
        if any(square is not None and image is None for square, image in zip(squares, images, strict=True)):
            return None
        return self._mirror.piece(piece), images[0], images[1]


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
