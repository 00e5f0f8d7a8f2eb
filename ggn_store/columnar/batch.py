"""Many positions as arrays, and as the tables that engines are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

# Who moves after a possibility: the side that it says, the other one, or once more the piece that it has moved.
Turn = Literal["stated", "other", "chain"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Encoded positions: Arrow tables by name, and how many positions they are of.

    `ids` are the numbers that the caller gives the positions, None where they are numbered from 0. `after` makes the
    positions after possibilities of some, by their numbers in order, where duties ask for these: see `after.After`.
    """

    count: int
    tables: Mapping[str, Any]
    ids: Any = None
    after: Callable[[Any, Any, Turn], MadePositions] | None = None

    def made(self, position: Any, possibility: Any, turn: Turn) -> MadePositions:
        """The positions after possibilities."""
        if self.after is None:
            raise AssertionError("nothing was asked of what follows")
        return self.after(position, possibility, turn)


class MadePositions(NamedTuple):
    """Positions after possibilities, and which of them can be: hands have what they take.

    `left` and `found` are what was everywhere before and is then, in rows of numbers that are equal where it is.
    """

    batch: Batch
    can_be: Any
    left: Any
    found: Any


@dataclass(frozen=True, slots=True)
class PositionArrays:
    """Positions as arrays, before a ruleset's numbers for starts come in.

    `position`, `square` and `piece` have a row for each piece on the board: its position from 0, its square's number,
    and `PieceCodes` of its identifier. `held` are position, piece and count of what is in the hands. `first` tells of
    every position whether the first side moves, `hands_known` whether its hands are known. `state` has position,
    variable and value (numbers) where a state variable is not what it begins as.
    """

    position: Any
    square: Any
    piece: Any
    held: tuple[Any, Any, Any]
    first: Any
    hands_known: Any
    state: tuple[Any, Any, Any]
