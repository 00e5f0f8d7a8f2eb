"""How many possibilities a piece of a definition can have, at most, before any of them is made.

What is counted are ways: of each leg its directions, how far it may go on the box around the board, and what it may do
where it ends; of the first leg exactly the squares that it joins. A way then is a possibility for each piece that may
be captured, passed or promoted to. Where ways end early, at the edge or on a square that they have been to, there are
fewer, but never more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ggn_store import limits
from ggn_store.games.patterns import BetzaPattern, Leg, Track
from ggn_store.games.rules import SIDES, Also, BetzaMoves, Definition, PieceRule
from ggn_store.games.toml_text import TomlValues
from ggn_store.model.documents.geometry import Vector, turned
from ggn_store.notation.json_text import Path
from ggn_store.notation.qpi import Side


def ways(patterns: Sequence[BetzaPattern]) -> int:
    """The ways of a Betza string wherever it is used: directions times what legs may do, whatever their length."""
    return sum(
        # A leg that is not the last may end on a square in several ways.
        math.prod(len(leg.tracks) or len(leg.turns) for leg in each.legs)
        * math.prod(leg.quiet + leg.capture + leg.over for leg in each.legs[:-1])
        for each in patterns
    )


@dataclass(frozen=True, slots=True)
class Estimate:
    """So many possibilities, with so many conditions altogether."""

    possibilities: int = 0
    conditions: int = 0

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.possibilities + other.possibilities, self.conditions + other.conditions)

    def times(self, factor: int) -> Estimate:
        """As many, so many times."""
        return Estimate(self.possibilities * factor, self.conditions * factor)


def check(values: TomlValues, definition: Definition, paths: dict[Side, dict[str, Path]]) -> None:
    """Complain about each piece, and about a game, that may have more possibilities than the limits allow."""
    for piece, found in counts(definition):
        path = paths[piece.sides[0]][piece.token]
        for limit, count in (
            (limits.PIECE_POSSIBILITIES, found.possibilities),
            (limits.PIECE_CONDITIONS, found.conditions),
        ):
            if count > limit.most:
                message = f"the piece may have too many {limit.unit}"
                values.complain(path, message, allowed=f"{limit.allowed}, and it may have {count:,}")
                break
    limit, most = limits.POSSIBILITIES, total(definition)
    if most > limit.most and not values.complaints:
        message = "the game may have too many possibilities"
        values.complain(("pieces",), message, allowed=f"{limit.allowed}, and it may have {most:,}")


def counts(definition: Definition) -> list[tuple[PieceRule, Estimate]]:
    """Each piece with what it has at most, of one side."""
    board = _Box(definition)
    return [(piece, board.piece(piece)) for piece in definition.pieces]


def total(definition: Definition) -> int:
    """How many possibilities a game has at most."""
    return sum(found.possibilities * len(piece.sides) for piece, found in counts(definition))


_STEPS: Final = 1_000_000


class _Box:
    """The board of a definition as far as counting goes: the box around it, and how many squares it has."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._squares = len(definition.board.squares)
        is_listed = definition.board.extent is None
        self._sizes = (self._squares,) if is_listed else definition.lattice.size
        # A piece has up to four states, and with two styles it comes in the other one, too.
        states = [1 + (each.unmoved is not None) + 2 * (each.en_passant is not None) for each in definition.pieces]
        self._styles = 2 if definition.captures and len(set(definition.styles)) > 1 else 1
        self._forms = sum(states) * self._styles
        self._passers = 2 * sum(each.en_passant is not None for each in definition.pieces)
        self._squares_of_file = self._sizes[1] if len(self._sizes) > 1 else 1
        self._steps = _STEPS
        self._movers = [each for each in definition.pieces if each.unmoved is not None]

    def piece(self, piece: PieceRule) -> Estimate:
        """All states of a piece of one side."""
        found = self._moves(piece).times(1 + (piece.unmoved is not None) + (piece.en_passant is not None))
        found += self._walled(piece, Estimate(len(piece.castling), len(piece.castling) * (2 + max(self._sizes))))
        if piece.drop is not None:
            found += self._walled(piece, self._drops(piece))
        if piece.gating:
            for mover in self._movers:
                castlings = Estimate(len(mover.castling), len(mover.castling) * self._squares_of_file)
                found += self._moves(mover) + self._walled(mover, castlings)
        return found.times(self._styles)

    def _moves(self, piece: PieceRule) -> Estimate:
        found = Estimate()
        for also in piece.ways:
            for pattern in also.moves.patterns:
                inside = replace(also, moves=BetzaMoves("", (pattern,))) if self._may_walk(also, pattern) else None
                found += self._pattern(piece, pattern, inside)
        for rule in piece.promotions:
            for pattern in rule.moves.patterns:
                found += self._pattern(piece, pattern, None)
            if rule.in_place:
                found += Estimate(self._squares * len(rule.to))
        if any(each.unique or each.is_a_move for each in piece.promotions):
            found += Estimate(0, found.possibilities * self._squares)
        return self._walled(piece, found).times((1 + self._forms) ** _around(piece.turns))

    def _walled(self, piece: PieceRule, moves: Estimate) -> Estimate:
        """As many moves with each of the squares on which their piece may leave something."""
        wall = piece.wall
        if wall is None or wall.past:
            return moves
        squares, way = self._squares, 1
        if wall.zone is not None:
            squares = max(len(wall.zone.of(side)) for side in piece.sides)
        if wall.moves.patterns:
            lines = self._lines(wall.moves.patterns)
            squares, way = sum(lines), max(lines)
        return Estimate(moves.possibilities * squares, (moves.conditions + moves.possibilities * way) * squares)

    def _lines(self, patterns: Sequence[BetzaPattern]) -> list[int]:
        """How many squares a piece reaches at most on each of the lines through a square, over as many at most."""
        around: list[int] = []
        found: dict[Vector, int] = {}
        for pattern in patterns:
            leg = pattern.legs[0]
            for track in leg.tracks:
                line = max(track[0], tuple(-part for part in track[0]))
                if len(track) > 1 or pattern.cylinder or self._definition.cylinder:
                    around.append(self._squares)
                else:
                    # Forward and backward together there are no more leaps than along the whole line.
                    room = max(0, _room(line, self._sizes))
                    found[line] = min(room, found.get(line, 0) + (leg.reach or room))
        # Under a lame leap there are squares, too.
        return [*around, *(max(count, *map(abs, line)) for line, count in found.items())]

    def _may_walk(self, also: Also, pattern: BetzaPattern) -> bool:
        """Whether the ways of a pattern inside a zone are few enough to go along them."""
        if also.start is None or also.within is None or len(pattern.legs) > 1:
            return False
        work = (
            max(map(len, (also.start.first, also.start.second))) * len(pattern.legs[0].tracks) * max(self._sizes) ** 2
        )
        if work > self._steps:
            return False
        self._steps -= work
        return True

    def _inside(self, also: Also, side: Side) -> tuple[int, int]:
        """How many ways of one leg there are inside a zone, from squares of another, and the squares on all of them."""
        army, zone = self._definition.army(side), () if also.start is None else also.start.of(side)
        found = [len(route.empty) + len(route.occupied) + 1 for square in zone for route in army.along(also, square)]
        return len(found), sum(found)

    def _pattern(self, piece: PieceRule, pattern: BetzaPattern, inside: Also | None) -> Estimate:
        first, *others = pattern.legs
        last = pattern.legs[-1]
        if inside is None:
            routes = [self._joined(track, first, pattern.cylinder) for track in first.tracks]
        else:
            routes = [max(self._inside(inside, side) for side in piece.sides)]
        ends, conditions = map(sum, zip(*routes, strict=True)) if routes else (0, 0)
        if others and (bent := self._bent(pattern)) is not None:
            (ends, conditions), others = bent, others[1:]
        for leg in others:
            length = self._length(leg)
            conditions = (conditions + ends * length) * len(leg.turns) * length
            ends *= len(leg.turns) * length
            if leg.hop:
                ends, conditions = ends * length, conditions * length
        taken, places = self._enemies(piece)
        over = self._over(piece)
        for leg in pattern.legs[:-1]:
            deeds = leg.quiet + leg.capture * taken + leg.over * over
            ends, conditions = ends * deeds, conditions * deeds
        results = max((len(each.to) + (each.forced != "yes") for each in piece.promotions), default=1)
        blasts = 2 ** _around(piece.blast.moves) if piece.blast.spares else 1
        if places and len(pattern.legs) == 1 and inside is None:
            # Only where some of the enemies may be do they have to be named.
            named = min(ends, places * sum(first.reach or self._squares for _ in first.tracks))
            taken = 1 + -(-named * taken // max(1, ends))
        captures = last.capture * taken + last.friendly * self._forms + last.en_passant * self._passers
        arrivals = last.quiet + captures * blasts
        factor = arrivals * results * (over if last.hop or last.jump else 1)
        return Estimate(ends * factor, (conditions + ends) * factor)

    def _bent(self, pattern: BetzaPattern) -> tuple[int, int] | None:
        """How many ways two plain legs have on the box, and the squares on all of them; None of others, or too many."""
        first, second = legs = pattern.legs[:2]
        is_odd = first.lame or first.jump or second.lame or second.hop or max(map(len, first.tracks)) > 1
        if is_odd or pattern.cylinder or self._definition.cylinder or len(self._sizes) != 2:
            return None
        pairs = [(track[0], turned(track[0], turn, second.scale)) for track in first.tracks for turn in second.turns]
        ends, conditions, sizes = 0, 0, self._sizes
        reaches = [leg.reach or self._squares for leg in legs]
        rooms = [[min(most, _room(way, sizes)) for most, way in zip(reaches, pair, strict=True)] for pair in pairs]
        self._steps -= sum(map(math.prod, rooms))
        for vectors, most in zip(pairs, rooms, strict=True) if self._steps > 0 else ():
            for one, other in itertools.product(*(range(1, each + 1) for each in most)):
                places = [sorted((0, one * a, one * a + other * b)) for a, b in zip(*vectors, strict=True)]
                ways = math.prod(max(0, size + at[0] - at[-1]) for at, size in zip(places, sizes, strict=True))
                ends, conditions = ends + ways, conditions + ways * (one + other)
        return (ends, conditions) if self._steps > 0 else None

    def _joined(self, track: Track, leg: Leg, cylinder: bool) -> tuple[int, int]:
        """How many pairs of squares the first leg joins along a track, and the squares on the way of all of them."""
        most = self._squares
        if len(track) > 1 or cylinder or self._definition.cylinder:
            is_round = not any(map(sum, zip(*track, strict=True)))  # it comes back to where it began
            length = min(leg.reach or most, len(track) if is_round else sum(self._sizes), most)
            pairs = [self._squares] * length
        else:
            length = min(leg.reach or most, most, _room(track[0], self._sizes))
            pairs = [min(self._squares, _pairs(track[0], self._sizes, leaps)) for leaps in range(1, length + 1)]
        under = max(map(max, [[abs(part) for part in vector] for vector in track])) if leg.lame or leg.jump else 1
        hops = [leaps - 1 if leg.hop == "p" else 1 for leaps in range(1, length + 1)]
        ends = sum(count * hop for count, hop in zip(pairs, hops, strict=True))
        return ends, sum(c * h * n * under for n, (c, h) in enumerate(zip(pairs, hops, strict=True), 1))

    def _length(self, leg: Leg) -> int:
        """How many leaps a later leg can make."""
        around = sum(self._sizes) if self._definition.cylinder else max(self._sizes)
        return max(1, min(leg.reach or self._squares, around // max(leg.scale, 1)))

    def _enclosed(self, lines: Sequence[int]) -> int:
        """In how many ways lines of these lengths can be: none enclosed or so many, of each kind."""
        kinds = self._forms
        ways = (length + (kinds > 1) + sum(kinds ** (many + 1) for many in range(1, length)) for length in lines)
        return math.prod(way for length, way in zip(lines, ways, strict=True) if length > 1)

    def _enemies(self, piece: PieceRule) -> tuple[int, int]:
        """How many possibilities a capture is: what goes to the hand, or is not taken, has to be named.

        Of what is not taken one piece need not be: then also on how many squares others can be, 0 where it is on all.
        """
        if self._definition.captures:
            return self._forms, 0
        sides = [self._definition.army(side) for side in SIDES]
        letters = {*piece.captures_except, *(each.letter for each in self._definition.pieces if each.immune)}
        barred = [[form for form in army.forms if form.piece.letter in letters] for army in sides]
        if all(len(forms) < 2 for forms in barred):
            return 1, 0
        places: set[str] = set()
        for forms in barred:
            if sum(form.squares is None for form in forms) > 1:
                return self._forms, 0
            places.update(*(form.squares for form in forms if form.squares is not None))
        return self._forms, len(places)

    def _over(self, piece: PieceRule) -> int:
        """How many possibilities it is to pass over something, which is named where more is asked of it."""
        if len(piece.hurdles_except) > 1:
            return 2 * self._forms
        is_named = any(each.unique or each.alone or each.apart.patterns for each in piece.promotions)
        return self._forms if piece.hurdles_except or is_named else 1

    def _drops(self, piece: PieceRule) -> Estimate:
        drop = piece.drop
        assert drop is not None  # noqa: S101  (asked before)
        file = self._squares_of_file if drop.file_limit is not None else 1
        choices = sum(math.comb(file, count) for count in range(drop.file_limit)) if drop.file_limit is not None else 1
        count = self._squares * choices * max(1, len(drop.forms))
        near, turned = _around(drop.near), _around(piece.turns)
        alone = count * 2**near if drop.lone else 0
        if near:
            # Up to the first own piece each square is one of two things, and behind it one that may be turned or not.
            count *= self._forms * near * (1 + max(1, self._forms if turned else 1)) ** (near - 1)
        else:
            count *= (1 + self._forms) ** turned
        count += alone
        lines = []
        if drop.encloses.patterns:
            army, squares = self._definition.army(piece.sides[0]), self._definition.board.squares
            lines = [[*map(len, army.lines(drop.encloses, square))] for square in squares]
            count = count // self._squares * sum(map(self._enclosed, lines))
        apart = _around(drop.apart)
        # Of a square of which several of these say something, each piece that may be there is named.
        told = [drop.file_limit is not None, drop.other_colour, drop.on_top, apart, drop.lone, turned, bool(lines)]
        if sum(map(bool, told)) > 1:
            count *= self._forms ** (drop.on_top + apart + near * drop.lone + turned + max(map(len, lines), default=0))
        around = near + turned + apart + (self._squares if drop.other_colour else 0)
        around += max(map(sum, lines), default=0)
        return Estimate(count, count * (1 + file + around))


def _around(moves: BetzaMoves) -> int:
    """How many squares there are around one at most."""
    return sum(len(pattern.legs[0].tracks) for pattern in moves.patterns)


def _room(vector: Vector, sizes: Sequence[int]) -> int:
    """How many leaps along a vector there can be at most."""
    return min((size - 1) // abs(part) for part, size in zip(vector, sizes, strict=True) if part)


def _pairs(vector: Vector, sizes: Sequence[int], leaps: int) -> int:
    """How many pairs of squares of a full box are so many leaps apart."""
    return math.prod(size - leaps * abs(part) for part, size in zip(vector, sizes, strict=True))
