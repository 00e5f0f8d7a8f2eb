"""Coverage: the squares that a piece can ever stand on, and who reaches a square."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ggn_store.model.board import Board
from ggn_store.model.record import Record


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


def coverages(pieces: Iterable[str], standing: set[tuple[str, int]], board: Board, in_hand: int) -> list[Coverage]:
    """The coverage of these pieces, in their order; `in_hand` is the number that stands for the hand."""
    places: dict[str, set[int]] = {}
    for piece, number in standing:
        places.setdefault(piece, set()).add(number)
    size = len(board.squares)
    return [
        Coverage(piece, tuple(board.squares[number] for number in sorted(found - {in_hand})), size, in_hand in found)
        for piece in pieces
        for found in [places.get(piece, set())]
    ]
