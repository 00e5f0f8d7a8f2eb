"""The rows of a piece, as the store gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Contents(Protocol):
    """All rows of a piece, which begin with its id; squares are by number of its board, None for the hand.

    Possibilities, in document order, have source, destination, ordinal, number (from 0) and toggle. Conditions, effects
    and hand effects have the number of a possibility, and a text with a line for each of its own, to be read by
    `Condition`, `effect` and `hand_effect`.
    """

    @property
    def possibilities(self) -> Sequence[tuple[int, int | None, int | None, int, int, bool | None]]: ...
    @property
    def conditions(self) -> Sequence[tuple[int, int, str]]: ...
    @property
    def effects(self) -> Sequence[tuple[int, int, str]]: ...
    @property
    def hand_effects(self) -> Sequence[tuple[int, int, str]]: ...
    @property
    def guards(self) -> Sequence[tuple[int, int, str, str]]: ...
    @property
    def state_effects(self) -> Sequence[tuple[int, int, str, str]]: ...
    @property
    def origins(self) -> Sequence[tuple[int, int, str, bool]]: ...


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
