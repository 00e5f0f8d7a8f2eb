"""Many positions as arrays, and as the tables that engines are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Positions and possibilities, and whether it is always the other side that is to move then.
Following = Callable[[Any, Any, bool], "tuple[Batch, Any]"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Encoded positions: Arrow tables by name, and how many positions they are of.

    `ids` are the numbers that the caller gives the positions, None where they are numbered from 0. `after` makes the
    batch of the positions after possibilities of some (by their numbers), and says which of them can be, where duties
    ask for these: see `after.After`.
    """

    count: int
    tables: Mapping[str, Any]
    ids: Any = None
    after: Following | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions as arrays, before a ruleset's numbers for starts come in.

    `position`, `square` and `piece` have a row for each piece on the board: its position from 0, its square's number,
    and `Pieces` of its identifier. `held` are position, piece and count of what is in the hands. `first` tells of
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
