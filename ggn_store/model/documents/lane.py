"""Lanes as values: `store.rulesets.lanes` says what a lane is."""

from __future__ import annotations

from typing import NamedTuple

# What stands on a square, or the name of a variable and the values that it may have.
Statement = str | tuple[str, ...]


class Fact(NamedTuple):
    """A statement that has to be true of all these squares; those of one about a variable say nothing."""

    statement: Statement
    squares: tuple[int, ...]


class Lane(NamedTuple):
    """A lane of a piece from a source (None: the hand), with a bit for each fact in its masks.

    The numbers are those of possibilities of the piece.
    """

    source: int | None
    each: int
    path: int
    passed: int
    first: int
    target: int
    facts: tuple[Fact, ...]
    numbers: tuple[int, ...]
