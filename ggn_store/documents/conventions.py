"""What is usual in well-known games, and where a document differs from it: findings for `lint`.

A document is compared with a game only where it shows that it is meant to be that game:

- style and board are those of the game: C or CHESS with pawns and kings on 8x8, S or SHOGI on 9x9, X or XIANGQI on
  9x10 or 9x9 (a board whose river is its middle rank);
- its title, if it has one, is the name of the game: "Chess" or "Standard chess", not "Berolina chess";
- without a title, no piece is foreign to the game, and the start position, if there is one, is that of the game.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ggn_store.documents.findings import finding
from ggn_store.errors import Problem
from ggn_store.model.documents.document import EMPTY, Document, Piece, Possibility
from ggn_store.model.moves.position import Position
from ggn_store.notation import cell, qpi
from ggn_store.notation.hand import HAND
from ggn_store.notation.json_text import Path

Point = tuple[int, int]
PathRemark = tuple[Path, str]


# --- the pieces of one side, seen from that side's end of the board ---


@dataclass(frozen=True, slots=True)
class PointEntry:
    """A destination's possibilities; the points are None for the hand."""

    path: tuple[str, str, str]
    source: Point | None
    destination: Point | None
    possibilities: tuple[Possibility, ...]

    @property
    def step(self) -> Point | None:
        """Files and ranks from source to destination, None to or from the hand."""
        if self.source is None or self.destination is None:
            return None
        return self.destination[0] - self.source[0], self.destination[1] - self.source[1]


class SideArmy:
    """The pieces of one style and side, on a board that is counted from that side.

    A point is file and rank from 0, the ranks away from the side: e2 of the first player and e7 of the second
    are both (4, 1) in chess.
    """

    def __init__(self, pieces: Iterable[Piece], side: qpi.Side, shape: Point) -> None:
        self.side = side
        self.files, self.ranks = shape
        self.entries = {piece.identifier: list(self._read(piece)) for piece in pieces}

    def _read(self, piece: Piece) -> Iterator[PointEntry]:
        for source in piece.sources:
            start = self.point(source.square)
            for destination in source.destinations:
                path = (piece.identifier, source.square, destination.square)
                yield PointEntry(path, start, self.point(destination.square), destination.possibilities)

    def select(self, letters: str, states: Iterable[str] = ("", "+", "-")) -> list[str]:
        """The pieces of some letters and states, in document order."""
        names = {piece: qpi.parse(piece) for piece in self.entries}
        return [piece for piece, name in names.items() if name.letter in letters and name.state in states]

    def point(self, square: str) -> Point | None:
        """The point of a square, None for the hand."""
        if square == HAND:
            return None
        file, rank = cell.parse(square)
        return file, rank if self.side == "first" else self.ranks - 1 - rank

    def square(self, point: Point) -> str:
        """The square at a point."""
        file, rank = point
        return cell.text((file, rank if self.side == "first" else self.ranks - 1 - rank))

    def targets(self, piece: str) -> Mapping[Point, set[Point]]:
        """The points that a piece may go to from each point, whatever the conditions."""
        result: defaultdict[Point, set[Point]] = defaultdict(set)
        for entry in self.entries[piece]:
            if entry.source is not None and entry.destination is not None:
                result[entry.source].add(entry.destination)
        return result


# --- things that a piece does not usually do: one question about each entry ---


def _is_drop(army: SideArmy, entry: PointEntry) -> bool:
    return entry.source is None


def _is_stuck(army: SideArmy, entry: PointEntry) -> bool:
    """Whether a piece that only goes forwards ends, as what it is, where the board has no square left for it."""
    piece, _, square = entry.path
    reach = 2 if qpi.parse(piece).letter == "N" else 1
    if entry.destination is None or entry.destination[1] < army.ranks - reach:
        return False
    effects = [each.effects.board.get(square) for each in entry.possibilities if each.effects is not None]
    return entry.source is None or piece in effects


def _is_second_pawn(army: SideArmy, entry: PointEntry) -> bool:
    """Whether a pawn may be dropped while another one stands on the file; on the last rank none can stand."""
    if entry.source is not None or entry.destination is None:
        return False
    piece, _, square = entry.path
    file = {army.square((entry.destination[0], rank)) for rank in range(army.ranks - 1)} - {square}
    return any(
        each.must.get(other, piece) == piece and each.deny.get(other) != piece
        for each in entry.possibilities
        for other in file
    )


def _leaves_palace(army: SideArmy, entry: PointEntry) -> bool:
    if entry.source is None or entry.destination is None:
        return False
    file, rank = entry.destination
    # Some write the rule that generals must not face each other as a capture of the other general.
    captures = [each.must.get(entry.path[2], "") for each in entry.possibilities]
    if all(":" in piece and qpi.parse(piece).letter in _GENERAL for piece in captures):
        return False
    return not 3 <= file <= 5 or rank > 2


def _crosses_river(army: SideArmy, entry: PointEntry) -> bool:
    return entry.source is not None and entry.destination is not None and 2 * entry.destination[1] > army.ranks - 1


def _turns_early(army: SideArmy, entry: PointEntry) -> bool:
    if entry.source is None or entry.destination is None or entry.source[1] != entry.destination[1]:
        return False
    return 2 * entry.source[1] < army.ranks - 1


def _leaps(army: SideArmy, entry: PointEntry) -> bool:
    """Whether a horse's or an elephant's move does not ask what stands on the first square of its way."""
    step = entry.step
    if entry.source is None or step is None or sorted(map(abs, step)) not in ([1, 2], [2, 2]):
        return False
    leg = army.square((entry.source[0] + int(step[0] / 2), entry.source[1] + int(step[1] / 2)))
    return any(leg not in each.must and leg not in each.deny for each in entry.possibilities)


@dataclass(frozen=True, slots=True)
class _Habit:
    """What pieces of some letters and states usually keep to, and the question whether an entry does not."""

    letters: str
    usual: str
    differs: Callable[[SideArmy, PointEntry], bool]
    states: tuple[str, ...] = ("", "+", "-")

    def remarks(self, army: SideArmy) -> Iterator[PathRemark]:
        """One remark a piece, at the first entry that differs."""
        for piece in army.select(self.letters, self.states):
            entries = [entry for entry in army.entries[piece] if self.differs(army, entry)]
            if entries:
                _, source, destination = entries[0].path
                origin = "from the hand" if source == HAND else f"from {source}"
                more = f", one of {len(entries)} such moves" if len(entries) > 1 else ""
                yield entries[0].path, f"{self.usual}, and {piece} may go {origin} to {destination}{more}"


# --- things that pieces usually can do: one question about the army ---


def _double_step(army: SideArmy) -> Iterator[PathRemark]:
    pawns = army.select("P")
    entries = [entry for pawn in pawns for entry in army.entries[pawn]]
    home = {entry.source for entry in entries if entry.source and entry.source[1] == 1}
    missing = home - {entry.source for entry in entries if entry.step == (0, 2)}
    if missing:
        squares = _some(army.square(point) for point in sorted(filter(None, missing)))
        yield (pawns[0],), f"a pawn's first move may be two squares, and {' or '.join(pawns)} has none from {squares}"


def _castling(army: SideArmy) -> Iterator[PathRemark]:
    kings = army.select("K")
    steps = {entry.step for king in kings for entry in army.entries[king]}
    # Two files or more: some write the king's move in castling as the one on to its rook.
    if not any(step and abs(step[0]) >= 2 and step[1] == 0 for step in steps):
        yield (kings[0],), f"a king may castle, and {' or '.join(kings)} never goes two files along a rank"


def _en_passant(army: SideArmy) -> Iterator[PathRemark]:
    pawns = army.select("P")
    fifth = army.ranks - 4
    entries = [entry for pawn in pawns for entry in army.entries[pawn]]
    missing = {
        (entry.source, entry.destination): f"{entry.path[1]} to {entry.path[2]}"
        for entry in entries
        if entry.source and entry.source[1] == fifth and entry.step in ((-1, 1), (1, 1))
    }
    for entry in entries:
        if (entry.source, entry.destination) in missing and entry.source and entry.destination:
            beside = army.square((entry.destination[0], entry.source[1]))
            if any(_regards(each, beside) for each in entry.possibilities):
                del missing[entry.source, entry.destination]
    if missing:
        fact = f"{' or '.join(pawns)} regards no piece beside it from {_some(missing.values())}"
        yield (pawns[0],), f"a pawn may capture en passant, and {fact}"


def _regards(possibility: Possibility, square: str) -> bool:
    """Whether a possibility asks what piece is on the square, or takes one from there."""
    effects = possibility.effects
    taken = effects is not None and effects.board.get(square, square) is None
    return taken or possibility.must.get(square, EMPTY) != EMPTY or square in possibility.deny


def _promoted_as_gold(army: SideArmy) -> Iterator[PathRemark]:
    for gold in army.select("G", states=("",))[:1]:
        golden = army.targets(gold)
        for piece in army.select("PLNS", states=("+",)):
            own = army.targets(piece)
            # The middle of the board shows a difference best; after it, from the side's left to its right.
            middle = (army.files // 2, army.ranks // 2)
            points = sorted(own.keys() | golden.keys(), key=lambda point: (point != middle, point))
            more = {point: own.get(point, set()) - golden.get(point, set()) for point in points}
            less = {point: golden.get(point, set()) - own.get(point, set()) for point in points}
            facts = []
            for verb, differences in (("can also", more), ("cannot", less)):
                point = next((point for point in points if differences[point]), None)
                if point is not None:
                    squares = _some(map(army.square, sorted(differences[point])))
                    facts.append(f"from {army.square(point)} {verb} go to {squares}")
            for plain in army.select(qpi.parse(piece).letter, states=("",)):
                old = army.targets(plain)
                if any(more.values()) and all(more[point] <= old.get(point, set()) for point in points):
                    facts.append(f"so keeps the moves of {plain}")
            if facts:
                yield (piece,), f"{piece} moves as {gold} does, and here {', and '.join(facts)}"


_FEW: Final = 4


def _some(parts: Iterable[str]) -> str:
    """The first few of `parts`, and how many more there are."""
    listed = list(parts)
    rest = f" and {len(listed) - _FEW} more" if len(listed) > _FEW else ""
    return ", ".join(listed[:_FEW]) + rest


# --- the games ---


@dataclass(frozen=True, slots=True)
class _Game:
    """A well-known game: how its pieces are recognised, and what is usual in it.

    `letters` are those that an army must have at least to be one of this game, `army` all that it can have, and `home`
    its first ranks in the start position; `letter_of` has the letter of this table for others that are usual.
    """

    name: str
    other_names: tuple[str, ...]
    styles: tuple[str, ...]
    shapes: tuple[Point, ...]
    letters: str
    army: str
    home: tuple[str, ...]
    letter_of: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    habits: tuple[_Habit, ...]
    abilities: tuple[Callable[[SideArmy], Iterator[PathRemark]], ...] = ()


_EVERY: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_GENERAL: Final = "KG"
_ELEPHANT: Final = "EB"

_GAMES: Final = (
    _Game(
        name="chess",
        other_names=("western chess",),
        styles=("C", "CHESS"),
        shapes=((8, 8),),
        letters="PK",
        army="KQRBNP",
        home=("RNBQKBNR", "PPPPPPPP"),
        habits=(_Habit("P", "a pawn promotes on the last rank", _is_stuck),),
        abilities=(_double_step, _castling, _en_passant),
    ),
    _Game(
        name="shogi",
        other_names=("japanese chess",),
        styles=("S", "SHOGI"),
        shapes=((9, 9),),
        letters="",
        army="KGSNLRBP",
        home=("LNSGKGSNL", " B     R ", "PPPPPPPPP"),
        habits=(
            _Habit("K", "a king is never in a hand", _is_drop),
            _Habit("PLNSBR", "a piece in a hand is not promoted", _is_drop, states=("+",)),
            _Habit("P", "a file holds one pawn of a side", _is_second_pawn, states=("",)),
            _Habit("PLN", "a piece is never where it could not move again", _is_stuck, states=("",)),
        ),
        abilities=(_promoted_as_gold,),
    ),
    _Game(
        name="xiangqi",
        other_names=("chinese chess",),
        styles=("X", "XIANGQI"),
        shapes=((9, 10), (9, 9)),
        letters="",
        army="KGAEBHNRCSP",
        home=("RHEAGAEHR", "         ", " C     C ", "S S S S S"),
        letter_of={"K": "G", "B": "E", "N": "H", "P": "S"},
        habits=(
            _Habit(_EVERY, "there are no drops", _is_drop),
            _Habit(_GENERAL, "a general stays in its palace", _leaves_palace),
            _Habit("A", "an advisor stays in its palace", _leaves_palace),
            _Habit(_ELEPHANT, "an elephant stays on its side of the river", _crosses_river),
            _Habit(_ELEPHANT, "an elephant is blocked by what it would pass over", _leaps),
            _Habit("HN", "a horse is blocked by what stands next to it on its way", _leaps),
            _Habit("SP", "a soldier goes sideways only after crossing the river", _turns_early),
        ),
    ),
)


# Words of a title that leave a game what it is.
_PLAIN: Final = ("a", "the", "game", "of", "rules", "my", "standard", "orthodox", "international", "fide", "classical")


def findings(document: Document) -> Iterator[Problem]:
    """Where the document differs from what is usual: one finding for each piece and convention."""
    board = document.board
    if board.shape is None or len(board.shape) != 2 or board.squares[0] != "a1":
        return
    shape = (board.shape[0], board.shape[1])
    pieces: defaultdict[tuple[str, qpi.Side], list[Piece]] = defaultdict(list)
    for piece in document.pieces:
        name = qpi.parse(piece.identifier)
        pieces[name.style, name.side].append(piece)
    start = None if document.envelope.start is None else Position.from_text(document.envelope.start)
    for (style, side), own in pieces.items():
        for game in _GAMES:
            if style not in game.styles or shape not in game.shapes:
                continue
            army = SideArmy(own, side, shape)
            if all(map(army.select, game.letters)) and _is_meant(game, army, style, document.envelope.title, start):
                for remarks in (*(habit.remarks for habit in game.habits), *game.abilities):
                    for path, fact in remarks(army):
                        yield finding("convention", path, f"if this is meant to be {game.name}: {fact}")


def _is_meant(game: _Game, army: SideArmy, style: str, title: str | None, start: Position | None) -> bool:
    """Whether an army that could be of a game is meant to be: by the title, or by the pieces and where they start."""
    if title is not None:
        words = re.findall(r"\w+", title.casefold())
        return " ".join(word for word in words if word not in _PLAIN) in (game.name, *game.other_names)
    if len(army.select(game.army)) < len(army.entries):
        return False
    if start is None:
        return True
    found: dict[str, str] = {}
    for square, piece in start.board.items():
        if piece is not None and (name := qpi.parse(piece)).style == style and name.side == army.side:
            found[square] = game.letter_of.get(name.letter, name.letter)
    # Armies face each other as in a mirror or turned by half a circle.
    homes = (dict(_squares(army, game.home)), dict(_squares(army, [letters[::-1] for letters in game.home])))
    return found in ({}, *homes)


def _squares(army: SideArmy, ranks: Iterable[str]) -> Iterator[tuple[str, str]]:
    for rank, letters in enumerate(ranks):
        for file, letter in enumerate(letters):
            if letter != " ":
                yield army.square((file, rank)), letter
