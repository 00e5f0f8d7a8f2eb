"""The rows of pieces, for analyses of them; squares are by number of the board, None for the hand."""

from __future__ import annotations

from typing import NamedTuple


class Contents(NamedTuple):
    """The rows of a piece, which all begin with its id.

    Possibilities, in document order, have source, destination, ordinal, number (from 0) and toggle. Conditions, effects
    and hand effects are one row a possibility that has any: its number, and a text with a line for each, in no order,
    to be read by `Condition`, `effect` and `hand_effect`. Guards, state effects and origins, which only the dialect
    `gdl` has, are a row each, ordered by the number of their possibility, which is before variable and a value that it
    may have; variable and its new value; action and whether it can be chained.
    """

    piece_id: int
    possibilities: list[tuple[int, int | None, int | None, int, int, bool | None]]
    conditions: list[tuple[int, int, str]]
    effects: list[tuple[int, int, str]]
    hand_effects: list[tuple[int, int, str]]
    guards: list[tuple[int, int, str, str]]
    state_effects: list[tuple[int, int, str, str]]
    origins: list[tuple[int, int, str, bool]]


class Condition(NamedTuple):
    """What a possibility asks of a square, by its number."""

    polarity: str
    square: int
    state: str

    @classmethod
    def read(cls, line: str) -> Condition:
        """A line of conditions: `must 12 empty`."""
        polarity, square, state = line.split(" ")
        return cls(polarity, int(square), state)


def effect(line: str) -> tuple[int, str | None]:
    """A line of effects, as the number of the square and what stands there then: `12 C:P`, or `12 ` for nothing."""
    square, becomes = line.split(" ")
    return int(square), becomes or None


def hand_effect(line: str) -> tuple[str, int]:
    """A line of hand effects, as the piece and the difference in number: `S:P 1`."""
    piece, delta = line.split(" ")
    return piece, int(delta)


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
