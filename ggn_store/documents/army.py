"""The rules of one side's pieces, seen from that side's end of the board: how `conventions` reads a document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ggn_store.model.documents.document import Piece, Possibility
from ggn_store.notation import cell, qpi
from ggn_store.notation.hand import HAND

Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PointEntry:
    """A destination's possibilities; the points are None for the hand."""

    path: tuple[str, str, str]
    source: Point | None
    destination: Point | None
    possibilities: tuple[Possibility, ...]

    @property
    def step(self) -> Point | None:
        """Files and ranks from source to destination, None to or from the hand."""
        if self.source is None or self.destination is None:
            return None
        return self.destination[0] - self.source[0], self.destination[1] - self.source[1]


class SideArmy:
    """The pieces of one style and side, on a board that is counted from that side.

    A point is file and rank from 0, the ranks away from the side: e2 of the first player and e7 of the second
    are both (4, 1) in chess.
    """

    def __init__(self, pieces: Iterable[Piece], side: qpi.Side, shape: Point) -> None:
        self.side = side
        self.files, self.ranks = shape
        self.entries = {piece.identifier: list(self._read(piece)) for piece in pieces}

    def _read(self, piece: Piece) -> Iterator[PointEntry]:
        for source in piece.sources:
            start = self.point(source.square)
            for destination in source.destinations:
                path = (piece.identifier, source.square, destination.square)
                yield PointEntry(path, start, self.point(destination.square), destination.possibilities)

    def select(self, letters: str, states: Iterable[str] = ("", "+", "-")) -> list[str]:
        """The pieces of some letters and states, in document order."""
        names = {piece: qpi.parse(piece) for piece in self.entries}
        return [piece for piece, name in names.items() if name.letter in letters and name.state in states]

    def point(self, square: str) -> Point | None:
        """The point of a square, None for the hand."""
        if square == HAND:
            return None
        file, rank = cell.parse(square)
        return file, rank if self.side == "first" else self.ranks - 1 - rank

    def square(self, point: Point) -> str:
        """The square at a point."""
        file, rank = point
        return cell.text((file, rank if self.side == "first" else self.ranks - 1 - rank))

    def targets(self, piece: str) -> Mapping[Point, set[Point]]:
        """The points that a piece may go to from each point, whatever the conditions."""
        result: defaultdict[Point, set[Point]] = defaultdict(set)
        for entry in self.entries[piece]:
            if entry.source is not None and entry.destination is not None:
                result[entry.source].add(entry.destination)
        return result
