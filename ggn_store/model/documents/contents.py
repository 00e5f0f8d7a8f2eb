"""What the store gives to analyses."""

from __future__ import annotations

from typing import NamedTuple


class Leap(NamedTuple):
    """From where to where the rules of a piece lead.

    `quiet` and `capture` say whether one of its `possibilities` holds on an empty board, and captures.
    """

    piece: str
    source: int | None
    destination: int
    quiet: bool
    capture: bool
    possibilities: int
