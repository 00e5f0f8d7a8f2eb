"""How a game stands: whether it is over, who won, why, and what of that could not be judged."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ggn_store.model.moves.play import OUTCOMES, Outcome
from ggn_store.model.record import Record
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side, is_royal, other_side, side_of

PlacedPieces = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Result(Record):
    """A game that goes on has no `reason`; one that is over without a winner is drawn.

    `outcome` is the one that the ruleset declares. `unjudged` names what might have ended it and could not be judged:
    outcomes that ask for a history where none was given, and duties that are left to the host.
    """

    winner: Side | None = None
    reason: str | None = None
    outcome: Outcome | None = None
    unjudged: tuple[str, ...] = ()
    DATA: ClassVar = "is_over winner reason score unjudged"

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.reason is not None

    @property
    def is_claimed(self) -> bool:
        """Whether it is a draw that players may leave unclaimed: by repetition, or by plies without progress."""
        return self.winner is None and self.outcome is not None and self.outcome.when in ("repetition", "quiet")

    @property
    def score(self) -> str:
        """As PGN writes it: `1-0`, `0-1`, `1/2-1/2`, and `*` for a game that goes on."""
        if not self.is_over:
            return "*"
        return "1/2-1/2" if self.winner is None else "1-0" if self.winner == "first" else "0-1"

    def __str__(self) -> str:
        if not self.is_over:
            return "the game goes on"
        return f"{'draw' if self.winner is None else f'{self.winner} wins'}: {self.reason}"


def winner(outcome: Outcome, side: Side, board: PlacedPieces) -> Side | None:
    """Who has won where an outcome holds of a side."""
    if outcome.verdict == "majority":
        more = len(own(board, side)) - len(own(board, other_side(side)))
        return side if more > 0 else other_side(side) if more < 0 else None
    return {"win": side, "loss": other_side(side), "draw": None}[outcome.verdict]


def reason(outcome: Outcome, in_check: bool) -> str:
    """Why a game is over, in words."""
    if outcome.when == "no-move" and (in_check or outcome.in_check is not None):
        return "checkmate" if in_check else "stalemate"
    return OUTCOMES[outcome.when].reason.format(count=outcome.count)


# --- what a board and the hands say by themselves ---


def own(board: PlacedPieces, side: Side, pieces: Collection[str] = ()) -> dict[str, str]:
    """The pieces of a side by their squares: all, or those of `pieces`, where some are named."""
    return {
        square: piece
        for square, piece in board.items()
        if piece is not None and side_of(piece) == side and (not pieces or piece in pieces)
    }


def total(board: PlacedPieces, hands: Mapping[str, int], pieces: Collection[str], side: Side) -> int:
    """How many pieces of a side there are, or of `pieces`, on the board and in the hand."""
    held = sum(count for piece, count in hands.items() if side_of(piece) == side and (not pieces or piece in pieces))
    return len(own(board, side, pieces)) + held


def has_royal(board: PlacedPieces, hands: Mapping[str, int], side: Side) -> bool:
    """Whether a side has a royal piece, on the board or in its hand."""
    return any(map(is_royal, own(board, side).values())) or any(
        count and is_royal(piece) and side_of(piece) == side for piece, count in hands.items()
    )


def is_extinct(board: PlacedPieces, hands: Mapping[str, int], outcome: Outcome, side: Side) -> bool:
    """Whether a side has at most `count` of the pieces that the outcome names, or of all, anywhere.

    Where the outcome names pieces of one side only, it is about that side.
    """
    if outcome.pieces and not any(side_of(piece) == side for piece in outcome.pieces):
        return False
    return total(board, hands, outcome.pieces, side) <= (outcome.count or 0)


def is_bare(board: PlacedPieces, hands: Mapping[str, int], side: Side) -> bool:
    """Whether a side has its royal pieces only, and has one."""
    pieces = own(board, side).values()
    held = any(count for piece, count in hands.items() if side_of(piece) == side)
    return bool(pieces) and not held and all(map(is_royal, pieces))


def is_insufficient(board: PlacedPieces, hands: Mapping[str, int], outcome: Outcome) -> bool:
    """Whether there are royal pieces only, but for so many that the outcome names, where it names them."""
    others = [(square, piece) for square, piece in board.items() if piece is not None and not is_royal(piece)]
    if any(hands.values()) or (outcome.count is not None and len(others) > outcome.count):
        return False
    return all(
        piece in outcome.pieces and (not outcome.squares or square in outcome.squares) for square, piece in others
    )


def reached(board: PlacedPieces, outcome: Outcome, side: Side) -> list[str]:
    """The goal squares on which a side has what the outcome names."""
    return [square for square in own(board, side, outcome.pieces) if square in outcome.squares]


def has_line(board: PlacedPieces, outcome: Outcome, side: Side) -> bool:
    """Whether a side has `count` of its pieces in a row, straight or diagonal."""
    points = {cell.parse(square) for square in own(board, side, outcome.pieces)}
    length = outcome.count or 0
    for point in points:
        for step in itertools.product((-1, 0, 1), repeat=len(point)):
            if step <= (0,) * len(point):
                continue  # of the two ways along a line one is enough
            before = tuple(a - b for a, b in zip(point, step, strict=True))
            if before not in points and all(
                tuple(a + number * b for a, b in zip(point, step, strict=True)) in points for number in range(length)
            ):
                return True
    return False


def is_connected(board: PlacedPieces, outcome: Outcome, side: Side) -> bool:
    """Whether one group of a side's pieces joins so many edges, or has all of them in it where there are no edges."""
    left = {cell.parse(square): square for square in own(board, side, outcome.pieces)}
    ways = [tuple(map(int, way.split(" "))) for way in outcome.ways]
    steps = [*ways, *(tuple(-part for part in way) for way in ways)]
    edges = [edge.split(" ") for edge in outcome.edges]
    while left:
        open_points, group = [next(iter(left))], set()
        group.add(left.pop(open_points[0]))
        while open_points:
            point = open_points.pop()
            for step in steps:
                beside = tuple(a + b for a, b in zip(point, step, strict=False))
                if beside in left:
                    group.add(left.pop(beside))
                    open_points.append(beside)
        if not edges:
            return not left
        if sum(not group.isdisjoint(edge) for edge in edges) >= (outcome.count or len(edges)):
            return True
    return False


def are_facing(board: PlacedPieces) -> bool:
    """Whether royal pieces of both sides look at each other along a straight line, with nothing between them."""
    royals = {square: piece for square, piece in board.items() if piece is not None and is_royal(piece)}
    occupied = {cell.parse(square) for square, piece in board.items() if piece is not None}
    for (one, first), (two, second) in itertools.combinations(royals.items(), 2):
        if side_of(first) == side_of(second):
            continue
        a, b = cell.parse(one), cell.parse(two)
        away = [axis for axis in range(len(a)) if a[axis] != b[axis]]
        if len(away) == 1:
            [axis] = away
            low, high = sorted((a[axis], b[axis]))
            if occupied.isdisjoint((*a[:axis], part, *a[axis + 1 :]) for part in range(low + 1, high)):
                return True
    return False
