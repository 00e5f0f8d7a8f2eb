"""Two rulesets compared piece by piece, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from ggn_store.errors import counted
from ggn_store.model.record import Record
from ggn_store.movement import words
from ggn_store.movement.entries import BECOMES, Entries
from ggn_store.movement.grid import Grid
from ggn_store.movement.movement import Items, Movement
from ggn_store.notation import qpi
from ggn_store.notation.qpi import side_of

ComparisonKind = Literal["board", "added", "removed", "renamed", "changed"]
Sides = Literal["first", "second", "both"]

_ALIKE: Final = " like those that it has elsewhere"


@dataclass(frozen=True, slots=True)
class PieceComparison(Record):
    """What became of a piece, or of the board: from `piece` to `other`, None where it is not there.

    `sides`: whose piece it is; of both, the names are the first one's, and the same is true of the second one's.
    `gained` and `lost` are moves, from a square to another, whatever their conditions; None on different boards.
    """

    change: ComparisonKind
    sides: Sides | None
    piece: str | None
    other: str | None
    gained: int | None
    lost: int | None
    what: str


@dataclass(frozen=True)
class Moving:
    """A piece with what its rules say, and what follows from that; `grid` is None on a board without coordinates."""

    piece: str
    digest: str
    entries: Entries
    grid: Grid | None

    @cached_property
    def _items(self) -> Items | None:
        if self.grid is None:
            return None
        items = Items(self.piece, self.grid)
        items.read(self.entries)
        return items

    @cached_property
    def moves(self) -> Movement | None:
        """How it moves; None on a board without coordinates."""
        return None if self._items is None else self._items.movement()

    @cached_property
    def rules(self) -> Movement | None:
        """The same with what its moves change, and drops."""
        return None if self._items is None else self._items.movement(whole=True)

    @cached_property
    def drops(self) -> int:
        """On how many squares it can be dropped."""
        dropped = (each for each in self.entries.patterns if each.is_drop)
        return len({place for pattern in dropped for place in self.entries.places(pattern)})

    @cached_property
    def becomes(self) -> frozenset[str]:
        """Other pieces of its side that its moves make, without their style."""
        made = {state for kind, state in self.entries.names if kind == BECOMES and state not in (None, self.piece)}
        return frozenset(_plain(str(each)) for each in made if side_of(str(each)) == side_of(self.piece))

    @cached_property
    def takes(self) -> bool:
        """Whether something goes into the hand."""
        return any(delta > 0 for told in self.entries.told for _, delta in told.held)

    @cached_property
    def again(self) -> int:
        """How many possibilities keep the turn."""
        told = self.entries.told
        return sum(
            max(1, len(pattern.origins)) * sum(told[number].turn is False for number in pattern.told)
            for pattern in self.entries.patterns
        )

    @cached_property
    def state(self) -> frozenset[tuple[Any, ...]]:
        """Which values of state variables moves ask for, or give them, and from where to where."""
        said = {
            number: sorted(
                [("when", name, value) for name, values in told.guards for value in values]
                + [("state", *each) for each in told.state]
            )
            for number, told in enumerate(self.entries.told)
            if told.guards or told.state
        }
        found = Counter(
            (*place, *said[number])
            for pattern in self.entries.patterns
            if not said.keys().isdisjoint(pattern.told)
            for place in self.entries.places(pattern)
            for number in pattern.told
            if number in said
        )
        return frozenset(found.items())


@dataclass(frozen=True, slots=True)
class ComparedRules:
    """One of the rulesets that are compared, its pieces in document order."""

    board: str | None
    dialect: str
    pieces: Sequence[Moving]


def _plain(piece: str) -> str:
    """A piece without its style and side."""
    return str(replace(qpi.parse(piece), style="", side="first")).removeprefix(":")


def compare(before: ComparedRules, after: ComparedRules, *, is_same_board: bool) -> list[PieceComparison]:
    """What differs: the board, then pieces in the order of `before`, then those that were added."""
    found = []
    if not is_same_board:
        boards = " became ".join(each.board or "listed squares" for each in (before, after))
        what = boards if before.board != after.board else "the squares are others"
        found.append(PieceComparison("board", None, None, None, None, None, what))
    tells_alike = (before.dialect == "must-deny") == (after.dialect == "must-deny")  # of effects
    changes = [
        each
        for one, other in _matched(before.pieces, after.pieces)
        if (each := _compared(one, other, is_same_board, tells_alike)) is not None
    ]
    return found + _both(changes)


def _matched(before: Sequence[Moving], after: Sequence[Moving]) -> list[tuple[Moving | None, Moving | None]]:
    """Each piece with what it became: the same identifier, then another style of it, then one that moves as it does."""
    old, new = {each.piece: each for each in before}, {each.piece: each for each in after}
    pairs = {piece: piece for piece in old if piece in new}

    def pair(is_same: Any) -> None:
        taken = set(pairs.values())
        for piece in old:
            if piece in pairs:
                continue
            other = next((each for each in new if each not in taken and is_same(old[piece], new[each])), None)
            if other is not None:
                pairs[piece] = other
                taken.add(other)

    pair(lambda one, two: side_of(one.piece) == side_of(two.piece) and _plain(one.piece) == _plain(two.piece))
    pair(lambda one, two: side_of(one.piece) == side_of(two.piece) and _moves_alike(one, two))
    result: list[tuple[Moving | None, Moving | None]] = [
        (each, new[pairs[piece]] if piece in pairs else None) for piece, each in old.items()
    ]
    paired = set(pairs.values())
    return result + [(None, each) for piece, each in new.items() if piece not in paired]


def _moves_alike(one: Moving, two: Moving) -> bool:
    if one.moves is None or two.moves is None or not one.moves.motions:
        return False
    return one.moves.form() == two.moves.form()


def _compared(one: Moving | None, two: Moving | None, is_same_board: bool, tells_alike: bool) -> PieceComparison | None:
    if one is None:
        return None if two is None else _alone("added", two, is_same_board)
    if two is None:
        return _alone("removed", one, is_same_board)
    if one.digest == two.digest:
        return None
    is_renamed = _plain(one.piece) != _plain(two.piece)
    gained, lost, told = _movement(one, two, is_same_board)
    told += _features(one, two, tells_alike)
    if is_same_board and one.state != two.state:
        told.append("what its moves ask of state variables, or make of them, differs")
    if not told and tells_alike and _rules(one, is_same_board) != _rules(two, is_same_board):
        told = ["conditions or effects of its moves differ"]
    if is_renamed:
        told = told or [_described(one)]
    if not told:
        return None
    change: ComparisonKind = "renamed" if is_renamed else "changed"
    return PieceComparison(change, side_of(one.piece), one.piece, two.piece, gained, lost, "; ".join(told))


def _alone(change: Literal["added", "removed"], piece: Moving, is_same_board: bool) -> PieceComparison:
    """What is told of a piece that only one of the two has."""
    count = None if piece.moves is None or not is_same_board else len(piece.moves.moves)
    side, told = side_of(piece.piece), _described(piece)
    if change == "added":
        return PieceComparison(change, side, None, piece.piece, count, None, told)
    return PieceComparison(change, side, piece.piece, None, None, count, told)


def _rules(piece: Moving, is_same_board: bool) -> object:
    return piece.digest if piece.rules is None else piece.rules.form(exact=is_same_board)


def _described(piece: Moving) -> str:
    """All that a piece does."""
    told = [] if piece.moves is None else words.describe(piece.moves.motions, piece.moves.grid.symmetries)
    return "; ".join(told + _features(None, piece)) or "no moves that can be told"


def _movement(one: Moving, two: Moving, is_same_board: bool) -> tuple[int | None, int | None, list[str]]:
    """How many moves were gained and lost, if that can be told, and which, in words."""
    if one.moves is None or two.moves is None:
        return None, None, []
    before, after = (words.describe(each.motions, each.grid.symmetries) for each in (one.moves, two.moves))
    new = [each for each in after if each not in before]
    old = [each for each in before if each not in after]
    if not is_same_board:
        told = [f"{what}: {', '.join(each)}" for what, each in (("gained", new), ("lost", old)) if each]
        return None, None, told
    gained, lost = len(two.moves.moves - one.moves.moves), len(one.moves.moves - two.moves.moves)
    told = []
    if gained:
        told.append(f"gained {counted(gained, 'move')}{_after(new) or _ALIKE}")
    if lost:
        told.append(f"lost {counted(lost, 'move')}{_after(old) or _ALIKE}")
    if not gained and new:
        told.append(f"now{_after(new)}")
    if not lost and old:
        told.append(f"before{_after(old)}")
    if not told and one.moves.form(exact=True) != two.moves.form(exact=True):
        told.append("moves under other conditions")
    return gained, lost, told


def _after(phrases: Sequence[str]) -> str:
    return f": {', '.join(phrases)}" if phrases else ""


def _features(one: Moving | None, two: Moving, tells_alike: bool = True) -> list[str]:
    """What differs in drops and, unless only one of the two tells effects, in what moves change."""
    told = []
    drops, becomes, takes, again = 0, frozenset[str](), False, 0
    if one is not None:
        drops, becomes, takes, again = one.drops, one.becomes, one.takes, one.again
    if two.drops != drops:
        many = "1 square" if two.drops == 1 else f"{two.drops} squares"
        told.append(f"dropped on {many}" + (f", before {drops}" if drops else "") if two.drops else "no drops any more")
    if not tells_alike:
        return told
    if two.becomes - becomes:
        told.append(f"becomes {', '.join(sorted(two.becomes - becomes))}")
    if becomes - two.becomes:
        told.append(f"no longer becomes {', '.join(sorted(becomes - two.becomes))}")
    if two.takes != takes:
        told.append("captures go into the hand" if two.takes else "captures no longer go into the hand")
    if two.again != again:
        told.append(
            f"{two.again:,} possibilities keep the turn" + (f", before {again:,}" if again else "")
            if two.again
            else "no possibility keeps the turn any more"
        )
    return told


def _both(changes: list[PieceComparison]) -> list[PieceComparison]:
    """The changes, with one for both sides where they are the same."""
    found = {(each.piece, each.other): each for each in changes}
    result = []
    for key, each in found.items():
        image = found.get((key[0] and key[0].swapcase(), key[1] and key[1].swapcase()))
        is_same = image is not None and replace(image, sides=each.sides, piece=each.piece, other=each.other) == each
        if not is_same:
            result.append(each)
        elif each.sides == "first":
            result.append(replace(each, sides="both"))
    return result
