"""Mobility: how many squares a piece can go to from each square, alone on the board.

What a quiet destination and a capture is, `store.analyses.mobility` says. Numbers are over the squares that the piece
has rules from to other squares; drops from the hand are not among them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal

from ggn_store.model.board import Board
from ggn_store.model.contents import Leap
from ggn_store.model.record import Record
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND

Colours = Literal["bound", "alternating", "free"]


@dataclass(frozen=True, slots=True)
class SquareMobility(Record):
    """Where a piece can go from one square (`*`: the hand); labels in the order of the board's squares."""

    piece: str
    source: str
    quiet: tuple[str, ...]
    capture: tuple[str, ...]

    @property
    def destinations(self) -> tuple[str, ...]:
        """The quiet ones, then those where it can only capture."""
        return tuple(dict.fromkeys((*self.quiet, *self.capture)))

    def data(self) -> dict[str, Any]:
        """As a JSON object: how many destinations there are, and which are quiet and captures."""
        return {"piece": self.piece, "source": self.source, "destinations": len(self.destinations)} | Record.data(self)


@dataclass(frozen=True, slots=True)
class Spread:
    """Numbers of destinations over the squares that a piece has rules from."""

    total: int
    mean: float
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class PieceMobility:
    """The mobility of a piece: destinations of any kind, and those that are quiet, and captures.

    `reach` is the greatest number of squares that it gets to from one by such moves, that one with them. `colours`
    says whether every move keeps the colour of the square, as a bishop's, or changes it, as a knight's; None where
    there are no moves, or squares have no coordinates.
    """

    piece: str
    squares: int
    any: Spread
    quiet: Spread
    capture: Spread
    reach: int
    colours: Colours | None

    def data(self) -> dict[str, Any]:
        """As a flat JSON object; means are rounded to four places."""
        flat: dict[str, Any] = {"piece": self.piece, "squares": self.squares, **_rounded(self.any)}
        for name, spread in (("quiet", self.quiet), ("capture", self.capture)):
            numbers = _rounded(spread)
            flat[name] = numbers.pop("total")
            flat |= {f"{name}_{key}": value for key, value in numbers.items()}
        return flat | {"reach": self.reach, "colours": self.colours}


def by_square(leaps: Iterable[Leap], board: Board) -> list[SquareMobility]:
    """What leaps that lie together by piece and source say of each source, in their order."""

    def labels(numbers: Iterable[int]) -> tuple[str, ...]:
        return tuple(board.squares[number] for number in sorted(numbers))

    return [
        SquareMobility(
            piece,
            board.label(source),
            labels(leap.destination for leap in found if leap.quiet),
            labels(leap.destination for leap in found if leap.capture),
        )
        for (piece, source), group in groupby(leaps, key=lambda leap: (leap.piece, leap.source))
        for found in [[*group]]
    ]


def by_piece(squares: Iterable[SquareMobility]) -> list[PieceMobility]:
    """The mobility of each piece, whose squares lie together, in their order."""
    return [_summary(piece, [each for each in group if each.source != HAND])
            for piece, group in groupby(squares, key=lambda each: each.piece)]  # fmt: skip


def _summary(piece: str, squares: list[SquareMobility]) -> PieceMobility:
    graph = {each.source: each.destinations for each in squares}
    return PieceMobility(
        piece,
        len(squares),
        _spread([len(each.destinations) for each in squares]),
        _spread([len(each.quiet) for each in squares]),
        _spread([len(each.capture) for each in squares]),
        max((len(reached) for reached in closure(graph).values()), default=0),
        _colours(graph),
    )


def _spread(counts: list[int]) -> Spread:
    if not counts:
        return Spread(0, 0.0, 0, 0)
    return Spread(sum(counts), sum(counts) / len(counts), min(counts), max(counts))


def _rounded(spread: Spread) -> dict[str, Any]:
    return asdict(spread) | {"mean": round(spread.mean, 4)}


def closure(graph: Mapping[str, Iterable[str]]) -> dict[str, Collection[str]]:
    """The nodes that each node of a graph leads to in any number of steps, none included."""
    names = [*dict.fromkeys([*graph, *(to for each in graph.values() for to in each)])]
    numbers = {name: number for number, name in enumerate(names)}
    rows = [1 << number for number in range(len(names))]
    for name, destinations in graph.items():
        for destination in destinations:
            rows[numbers[name]] |= 1 << numbers[destination]
    # Warshall: a way through the nodes up to this one; a row of the table is one number.
    for middle in range(len(names)):
        bit, through = 1 << middle, rows[middle]
        rows = [row | through if row & bit else row for row in rows]
    return {name: [to for to in names if rows[numbers[name]] >> numbers[to] & 1] for name in graph}


def _colours(graph: Mapping[str, Iterable[str]]) -> Colours | None:
    changes = set()
    for source, destinations in graph.items():
        for destination in destinations:
            if not (cell.is_cell(source) and cell.is_cell(destination)):
                return None
            changes.add((sum(cell.parse(source)) - sum(cell.parse(destination))) % 2)
    if not changes:
        return None
    return "free" if len(changes) > 1 else "alternating" if changes == {1} else "bound"
