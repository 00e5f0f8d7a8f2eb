"""Mobility: how many squares a piece can go to from each square, alone on the board.

What a quiet destination and a capture is, `store.analyses.mobility` says; `movement.facts` derives it, too. Numbers are
over the squares that the piece has rules from to other squares; drops from the hand are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal, cast

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.contents import Leap
from ggn_store.model.record import Record
from ggn_store.movement.facts import Mobility as Stored

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
class MobilitySpread:
    """Numbers of destinations over the squares that a piece has rules from."""

    total: int
    mean: float
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class PieceMobility:
    """The mobility of a piece: destinations of any kind, and those that are quiet, and captures.

    `reach` is the greatest number of squares that it gets to from one by such moves, that one with them; None on a
    board of many thousand squares. `colours`
    says whether every move keeps the colour of the square, as a bishop's, or changes it, as a knight's; None where
    there are no moves, or squares have no coordinates.
    """

    piece: str
    squares: int
    any: MobilitySpread
    quiet: MobilitySpread
    capture: MobilitySpread
    reach: int | None
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


def of_piece(piece: str, stored: Stored) -> PieceMobility:
    """The mobility of a piece, from what was derived of it."""
    count = stored.squares or 0
    spreads = [
        MobilitySpread(each.total or 0, (each.total or 0) / max(1, count), each.least or 0, each.most or 0)
        for each in (stored.any, stored.quiet, stored.capture)
    ]
    every, quiet, capture = spreads
    return PieceMobility(piece, count, every, quiet, capture, stored.reach, cast("Colours | None", stored.colours))


def _rounded(spread: MobilitySpread) -> dict[str, Any]:
    return asdict(spread) | {"mean": round(spread.mean, 4)}
