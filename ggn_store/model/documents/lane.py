"""Lanes as values: `store.rulesets.lanes` says what a lane is."""

from __future__ import annotations

from typing import NamedTuple

# What stands on a square, or the name of a variable and the values that it may have.
Statement = str | tuple[str, ...]


# Statements that have to be true, each of a square; None for one about a variable.
Fact = tuple[tuple[Statement, int | None], ...]


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


def alternatives(statement: Statement) -> list[str]:
    """The states, any of which a statement takes; one about a variable is one."""
    return statement.split("|") if isinstance(statement, str) else [""]
