"""The ways of a piece on a board: patterns and a square -> routes, each with what the squares on it have to be.

The order of routes is fixed: pattern by pattern in the order of the string; within a pattern the directions clockwise
from the north, which is towards higher ranks for both sides; within a direction the nearest square first. Routes that
say the same come once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ggn_store.games.patterns import BetzaPattern, Leg, Track
from ggn_store.model.documents.geometry import Lattice, Symmetry, Vector, clockwise, steps_of, turned

_EIGHTHS: Final = 8


@dataclass(frozen=True, slots=True)
class Route:
    """One way of a piece from its square to `destination`.

    `empty` and `occupied` are the squares that must be so, `taken` those of enemies that are captured on the way, and
    `over` those that it passes over whatever is there. The move may end on an empty square (`quiet`), an enemy
    (`capture`), an own piece that is captured (`friendly`), or an empty square where it captures in passing. `initial`
    routes are possible as the piece's first move only.
    """

    destination: str
    empty: tuple[str, ...] = ()
    occupied: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    quiet: bool = True
    capture: bool = True
    friendly: bool = False
    initial: bool = False
    en_passant: bool = False


def routes(patterns: Sequence[BetzaPattern], source: str, lattice: Lattice, view: Symmetry) -> Iterator[Route]:
    """Every route from `source` of a piece that has this view of the board, in the order that the module states."""
    known: set[Route] = set()
    for pattern in patterns:
        for route in _Walk(pattern, source, lattice, view).routes():
            if route not in known:
                known.add(route)
                yield route


@dataclass(frozen=True, slots=True)
class _Way:
    """How far a piece has come; the squares in the order in which it met them."""

    at: str
    vector: Vector
    empty: tuple[str, ...] = ()
    occupied: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    over: tuple[str, ...] = ()


class _Walk:
    """The ways that one pattern says from one square."""

    def __init__(self, pattern: BetzaPattern, source: str, lattice: Lattice, view: Symmetry) -> None:
        self._pattern = pattern
        self._source = source
        self._lattice = lattice
        self._view = view

    def routes(self) -> Iterator[Route]:
        tracks = (tuple(map(self._view, track)) for track in self._pattern.legs[0].tracks)
        for track in sorted(tracks, key=lambda track: tuple(map(clockwise, track))):
            yield from self._go_on(_Way(self._source, track[0]), 0, track)

    def _go_on(self, way: _Way, number: int, track: Track) -> Iterator[Route]:
        """The routes of a way whose leg `number` goes along `track`."""
        leg = self._pattern.legs[number]
        if number == len(self._pattern.legs) - 1:
            yield from self._last(way, leg, track)
            return
        following = self._pattern.legs[number + 1]
        turns = following.turns
        if self._view.signs[:2] == (1, -1):  # a right turn of the first side is a left turn here
            turns = tuple(sorted(-turn % _EIGHTHS for turn in turns))
        for end in self._ends(way, leg, track):
            for turn in turns:
                vector = turned(end.vector, turn, following.scale)
                yield from self._go_on(end, number + 1, (vector,))

    def _last(self, way: _Way, leg: Leg, track: Track) -> Iterator[Route]:
        arrivals = self._hops(way, leg, track) if leg.hop else self._slides(way, leg, track)
        for end in arrivals:
            route = Route(
                end.at,
                end.empty,
                end.occupied,
                end.taken,
                end.over,
                leg.quiet,
                leg.capture,
                leg.friendly,
                self._pattern.initial,
                leg.en_passant,
            )
            if end.at == self._source:
                # Back where it began: nothing stands there, and having captured nothing it would not be a move.
                if leg.quiet and end.taken:
                    yield replace(route, capture=False, friendly=False, en_passant=False)
            elif end.at in end.taken or end.at in end.empty:
                if leg.quiet:
                    yield replace(route, capture=False, friendly=False, en_passant=False)
            elif end.at in end.occupied:
                if leg.capture or leg.friendly:
                    yield replace(route, quiet=False, en_passant=False)
            else:
                yield route

    def _ends(self, way: _Way, leg: Leg, track: Track) -> Iterator[_Way]:
        """Where a leg that is not the last may end, with what it does there."""
        for arrived in self._slides(way, leg, track):
            there = arrived.at
            free = there == self._source or there in arrived.taken
            if leg.quiet and there not in arrived.occupied:
                yield arrived if free or there in arrived.empty else replace(arrived, empty=(*arrived.empty, there))
            if free or there in arrived.empty:
                continue
            if leg.capture:
                rest = tuple(square for square in arrived.occupied if square != there)
                yield replace(arrived, taken=(*arrived.taken, there), occupied=rest)
            if leg.over:
                yield arrived if there in arrived.occupied else replace(arrived, occupied=(*arrived.occupied, there))

    def _slides(self, way: _Way, leg: Leg, track: Track) -> Iterator[_Way]:
        """Every square that a leg can come to over empty ones, nearest first; nothing is said of the square itself."""
        moved = way
        for count, (vector, square) in enumerate(self._leaps(way.at, track), 1):
            passed = self._passed(moved, leg, vector)
            if passed is None:
                return
            moved = replace(passed, at=square, vector=vector)
            skipped = leg.jump and leg.reach != 1 and count == 1
            if not skipped:
                yield moved
            if count == leg.reach:
                return
            emptied = replace(moved, over=(*moved.over, square)) if skipped else self._emptied(moved, square)
            if emptied is None:
                return
            moved = emptied

    def _hops(self, way: _Way, leg: Leg, track: Track) -> Iterator[_Way]:
        """Every square behind each possible hurdle on the way."""
        before: _Way | None = way
        squares = list(self._leaps(way.at, track))
        for position, (_, hurdle) in enumerate(squares):
            if before is None:
                return
            beyond = self._over(before, hurdle)
            limit = position + 2 if leg.hop == "g" else leg.reach
            for count, (vector, square) in enumerate(squares[position + 1 :], position + 2):
                if beyond is None or (limit and count > limit):
                    break
                yield replace(beyond, at=square, vector=vector)
                beyond = self._emptied(beyond, square)
            before = self._emptied(before, hurdle)

    def _leaps(self, start: str, track: Track) -> Iterator[tuple[Vector, str]]:
        """The squares that lie along a track, up to the edge or to where it began."""
        at, count = start, 0
        seen = {start}
        while True:
            vector = track[count % len(track)]
            there = self._lattice.step(at, vector, self._pattern.cylinder)
            if there is None:
                return
            yield vector, there
            if there in seen:
                return
            seen.add(there)
            at, count = there, count + 1

    def _passed(self, way: _Way, leg: Leg, vector: Vector) -> _Way | None:
        """The way with what a leap asks of the squares under it, None where it cannot be."""
        if not leg.lame and not (leg.jump and leg.reach == 1):
            return way
        at = way.at
        moved: _Way | None = way
        for part in steps_of(vector, self._lattice.hexagonal)[:-1]:
            passed = self._lattice.step(at, part, self._pattern.cylinder)
            if passed is None or moved is None:
                return None
            moved = self._emptied(moved, passed) if leg.lame else self._over(moved, passed)
            at = passed
        return moved

    def _emptied(self, way: _Way, square: str) -> _Way | None:
        """The way if it passes over a square that must be empty."""
        if square == self._source or square in way.taken or square in way.empty:
            return way
        return None if square in way.occupied else replace(way, empty=(*way.empty, square))

    def _over(self, way: _Way, square: str) -> _Way | None:
        """The way if it passes over a square that must hold something."""
        if square == self._source or square in way.taken or square in way.empty:
            return None
        return way if square in way.occupied else replace(way, occupied=(*way.occupied, square))
