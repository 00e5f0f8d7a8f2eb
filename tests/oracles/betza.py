"""Boards and Betza strings as the guide to definitions says them, in plain Python: where a piece can go among others.

It shares no code with the package. Vectors are as the side that moves sees them; on hexagons they count steps in two of
the six directions. What stands on a square is looked at when a way comes there, so that the same code says where a
piece goes on a board, and whether it could go anywhere on some board.
"""

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

Point = tuple[int, ...]
Track = tuple[Point, ...]

LEAPS = {"W": (1, 0), "F": (1, 1), "D": (2, 0), "N": (2, 1), "A": (2, 2), "H": (3, 0)}
LEAPS |= {"C": (3, 1), "L": (3, 1), "Z": (3, 2), "J": (3, 2), "G": (3, 3)}
PARTS = {"K": "WF", "R": "W", "B": "F", "Q": "WF"}
RING = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
HEXAGONS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
# Directions of a leg behind another one, in eighths of a turn to the right.
TURNS = {"f": (0,), "b": (4,), "l": (6,), "r": (2,), "s": (2, 6), "v": (0, 4)}
TURNS |= {"fl": (7,), "fr": (1,), "bl": (5,), "br": (3,), "fs": (1, 7), "bs": (3, 5)}
STRAIGHT, DIAGONAL = "straight", "diagonal"

PART = re.compile(r"(?P<legs>(?:[b-z]*a)*[b-z]*)(?P<atom>[A-Z]|\([^)]*\))(?P<again>(?P=atom))?(?P<length>\d*)")
BRACKET = re.compile(r"\[(?P<bracket>[^]]*)\]")
PAIR = re.compile("([a-z])\\1|[fbvh][rlsh]|[rlsh][fbvh]|.")


def point(label: str) -> Point:
    """The coordinates of a square, from 0: file, rank, layer."""
    found = re.fullmatch(r"([a-z])(\d*)([A-Z]?)", label)
    assert found is not None, label
    file, rank, layer = found.groups()
    return (ord(file) - ord("a"), *([int(rank) - 1] if rank else []), *([ord(layer) - ord("A")] if layer else []))


def label(at: Point) -> str:
    """The square with these coordinates."""
    return "".join((chr(ord("a") + at[0]), *(str(rank + 1) for rank in at[1:2]), *(chr(65 + each) for each in at[2:])))


def rectangle(text: str) -> list[str]:
    """The squares of `a7:h8`, or of a single square."""
    first, last = map(point, (text.split(":") * 2)[:2])
    return [
        *map(label, itertools.product(*(range(min(ends), max(ends) + 1) for ends in zip(first, last, strict=True))))
    ]


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


class Board:
    """The squares of a definition, and where a step leads from each."""

    def __init__(self, game: Mapping[str, Any]) -> None:
        sizes = [int(size) for size in game["board"].split("x")] if "board" in game else []
        whole = itertools.product(*map(range, sizes))
        listed = [square for text in game.get("squares", ()) for square in rectangle(text)]
        self.labels = {square: point(square) for square in listed or map(label, whole)}
        self.hexagons = game.get("hexagons")
        self.is_cylinder = game.get("cylinder", False)
        files = [at[0] for at in self.labels.values()]
        middle = (min(files) + max(files)) // 2
        self.points = {square: self._steps(at, middle) for square, at in self.labels.items()}
        self.squares = {at: square for square, at in self.points.items()}
        axes = [*zip(*self.points.values(), strict=True)]
        self.low, self.high = tuple(map(min, axes)), tuple(map(max, axes))
        self.dimensions = len(axes)
        turned = game.get("turned", False) or self.hexagons is not None
        self.view = tuple(-1 if axis or turned else 1 for axis in range(self.dimensions))

    def _steps(self, at: Point, middle: int) -> Point:
        """Where a square is, in steps to the right (or up to the right) and up to the right (or straight up)."""
        shift = {"rows-left": (-at[-1], 0), "files-down": (0, -at[0]), "files-bent": (0, -min(at[0], middle))}
        return tuple(map(sum, zip(at, shift.get(str(self.hexagons), (0,) * len(at)), strict=True)))

    def seen(self, vector: Point, side: str) -> Point:
        """A vector that a side sees, as the first side sees it."""
        return vector if side == "first" else tuple(map(int.__mul__, vector, self.view))

    def step(self, square: str, vector: Point, wraps: bool = False) -> str | None:
        """Where a vector of the first side leads from a square, None where there is no square."""
        file, *rest = map(int.__add__, self.points[square], vector)
        if wraps or self.is_cylinder:
            file = self.low[0] + (file - self.low[0]) % (self.high[0] - self.low[0] + 1)
        return self.squares.get((file, *rest))

    def image(self, square: str) -> str | None:
        """The square that is to the second side what this one is to the first, None where that is none."""
        ends = zip(self.points[square], self.low, self.high, self.view, strict=True)
        return self.squares.get(tuple(low + high - at if view < 0 else at for at, low, high, view in ends))

    def vectors(self, leap: Point) -> list[Point]:
        """All rotations and reflections of a leap."""
        leap = (*leap, *(0,) * (self.dimensions - len(leap)))
        if self.hexagons:
            ahead, aside = leap
            pairs = [(one, HEXAGONS[turn]) for number, one in enumerate(HEXAGONS) for turn in (number - 1, number - 5)]
            return sorted({tuple(ahead * a + aside * b for a, b in zip(*pair, strict=True)) for pair in pairs})
        signs = itertools.product((1, -1), repeat=self.dimensions)
        turns = itertools.product(itertools.permutations(leap), signs)
        return sorted({tuple(map(int.__mul__, *each)) for each in turns})

    def colour(self, square: str) -> int:
        """One of two colours; one of three of hexagons."""
        at = self.points[square]
        return (at[0] - at[1]) % 3 if self.hexagons else sum(at) % 2

    def parts(self, leap: Point) -> list[Point]:
        """The steps under a leap, straight first, then diagonally; on hexagons diagonally between two that touch."""
        if self.hexagons:
            for straight, diagonal, turn, side in itertools.product(range(9), range(9), range(6), (1, -1)):
                one, other = HEXAGONS[turn], HEXAGONS[(turn + side) % 6]
                way: list[Point] = [one] * straight + [tuple(map(int.__add__, one, other))] * diagonal
                if tuple(map(sum, zip(*way, strict=True))) == leap:
                    return way
        longest = max(map(abs, leap))
        return [tuple(sign(each) if abs(each) >= left else 0 for each in leap) for left in range(longest, 0, -1)]


@dataclass(frozen=True)
class Leg:
    """One leg: its modes and other letters, how many leaps it has (0: no limit), and where it goes.

    The first leg has tracks, each a cycle of vectors; a later one turns from the leg before, in leaps of so many king's
    steps, or of the same oblique leap where that is 0.
    """

    letters: str
    reach: int
    tracks: tuple[Track, ...] = ()
    turns: tuple[int, ...] = ()
    size: int = 0

    @property
    def wraps(self) -> bool:
        """Whether files wrap round; the first leg says so."""
        return "o" in self.letters


Move = tuple[Leg, ...]


@dataclass(frozen=True)
class Ride:
    """A leg along a track: whether files wrap round; a last one may hop over a hurdle."""

    leg: Leg
    track: Track
    wraps: bool
    is_last: bool

    @property
    def hop(self) -> str:
        """`p`: it ends anywhere behind its hurdle, `g`: right behind it."""
        return "".join(re.findall("[pg]", self.leg.letters)) if self.is_last else ""


def parse(text: str, board: Board) -> list[Move]:
    """The ways of moving that a string says, each as its legs."""
    found: list[Move] = []
    at = 0
    while at < len(text):
        bracket = BRACKET.match(text, at)
        if bracket is not None:
            found += _bracket(bracket["bracket"], board)
            at = bracket.end()
        else:
            part = PART.match(text, at)
            assert part is not None, text[at:]
            found += _part(part, board)
            at = part.end()
    return found


def _leaps(part: re.Match[str], board: Board) -> tuple[list[tuple[Point, list[Point]]], int]:
    """The leaps of an atom, each with its vectors, and how many a leg may make."""
    atom = part["atom"]
    reach = int(part["length"]) if part["length"] else 0 if part["again"] or atom in "RBQ" else 1
    if atom[0] != "(":
        return [(LEAPS[each], board.vectors(LEAPS[each])) for each in PARTS.get(atom, atom)], reach
    leap = tuple(map(int, atom[1:-1].split(",")))
    return [(leap, [leap] if "+" in atom or "-" in atom else board.vectors(leap))], reach


def _part(part: re.Match[str], board: Board) -> Iterator[Move]:
    """A part without brackets: `a` begins a leg of the same atom, `y` changes leaps into rides, and back."""
    leaps, reach = _leaps(part, board)
    for leap, vectors in leaps:
        legs: list[Leg] = []
        length = reach
        for number, letters in enumerate(part["legs"].split("a")):
            if number == 0:
                legs.append(_first(letters, length, leap, vectors, board))
            else:
                others = (0, 2, 6) if part["atom"] not in "KQ" else (0, 1, 2, 3, 5, 6, 7)
                turns = _turns(letters) or ((0,) if _size(leap) == 0 else others)
                legs.append(Leg(_others(letters), length, turns=turns, size=_size(leap)))
            if "y" in letters:
                length = 0 if length else 1
        yield tuple(legs)


def _bracket(text: str, board: Board) -> Iterator[Move]:
    """Legs with an atom each: behind `?` the move may also end, and goes on from an empty square."""
    parts = [part for each in re.split(r"(?<=[\w)])[-?]", text) if (part := PART.fullmatch(each))]
    marks = re.findall(r"(?<=[\w)])[-?]", text)
    ends = [number for number, mark in enumerate(marks, 1) if mark == "?"] + [len(parts)]
    for count in ends:
        for atoms in itertools.product(*(_leaps(part, board)[0] for part in parts[:count])):
            legs: list[Leg] = []
            for number, (part, (leap, vectors)) in enumerate(zip(parts, atoms, strict=False), 1):
                letters, reach = part["legs"], _leaps(part, board)[1]
                if number < count and number in ends:
                    letters = re.sub("[mcde]", "", letters)
                if number == 1:
                    legs.append(_first(letters, reach, leap, vectors, board))
                else:
                    turns = _turns(letters) or _outward(atoms[number - 2][0], leap)
                    legs.append(Leg(_others(letters), reach, turns=turns, size=_size(leap)))
            if all(leg.tracks or leg.turns for leg in legs):
                yield tuple(legs)


def _outward(before: Point, leap: Point) -> tuple[int, ...]:
    """Straight on; to both sides between straight and diagonal; diagonally after an oblique leap."""
    if _size(before) == 0:
        return (0,) if leap == before or _kind(leap) == DIAGONAL else ()
    return (0,) if _kind(before) == _kind(leap) else (1, 7)


def _kind(leap: Point) -> str:
    return STRAIGHT if 0 in leap else DIAGONAL


def _size(leap: Point) -> int:
    """How many king's steps a leap has, 0 where it is oblique."""
    sizes = {abs(each) for each in leap if each}
    return sizes.pop() if len(sizes) == 1 else 0


def _pairs(letters: str) -> list[str]:
    """The directions among the modifiers of a leg, letter by letter or in pairs."""
    pairs = (found[0] for found in PAIR.finditer(re.sub("[^fbrlvsh]", "", letters)))
    return [pair[0] if pair[0] == pair[-1] else pair for pair in pairs]


def _others(letters: str) -> str:
    return re.sub("[fbrlvsh]", "", letters)


def _turns(letters: str) -> tuple[int, ...]:
    names = [pair if pair in TURNS else pair[::-1] for pair in _pairs(letters)]
    return tuple(sorted({turn for name in names for turn in TURNS[name]}))


def _first(letters: str, reach: int, leap: Point, vectors: list[Point], board: Board) -> Leg:
    """The first leg: in the directions that it names, in zigzag (`z`), or in circles (`q`)."""
    pairs = _pairs(letters)
    chosen = [each for each in vectors if not pairs or any(goes(pair, each) for pair in pairs)]
    tracks: list[Track] = [(each,) for each in chosen]
    if "z" in letters:
        tracks = [(each, turned(each, turn, _size(leap))) for each in chosen for turn in (2, 6)]
    elif "q" in letters:
        ring = sorted(vectors, key=lambda vector: math.atan2(*vector))
        starts = [(ring.index(each), way) for each in chosen for way in (1, -1)]
        tracks = [tuple(ring[(start + way * step) % len(ring)] for step in range(len(ring))) for start, way in starts]
    return Leg(_others(letters), reach, tuple(tracks))


def goes(pair: str, vector: Point) -> bool:
    """Whether a vector is in a direction; of a pair the last letter says where an oblique leap goes further."""
    x, y = vector
    towards = {"f": y > 0, "b": y < 0, "l": x < 0, "r": x > 0, "v": y != 0, "s": x != 0}
    if 0 in vector:
        return any(towards[each] for each in pair)
    if abs(x) == abs(y):
        return all(towards[each] for each in pair)
    is_long_ahead = abs(y) > abs(x)
    if pair[-1] == "h":
        return towards[pair[0]]
    if pair[0] == "h":
        return ((x > 0) == (y > 0)) == (is_long_ahead == (pair[1] == "r"))
    return all(towards[each] for each in pair) and is_long_ahead == (pair[-1] in "fbv")


def turned(vector: Point, turn: int, size: int) -> Point:
    """Where a leg goes behind one along a vector; beside an oblique one is the diagonal that it is counted from."""
    if size == 0:
        return vector if turn == 0 else tuple(-each for each in vector)
    x, y = RING[(RING.index((sign(vector[0]), sign(vector[1]))) + turn) % len(RING)]
    return x * size, y * size


@dataclass(frozen=True)
class Way:
    """How far a piece has come: where it is, over which squares, what is where as far as it looked, what it captured.

    Where it began, and on the squares that it captured, there is nothing any more.
    """

    at: str
    vector: Point
    there: Mapping[str, str | None]
    over: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arrival:
    """The end of a move: `mode` is what it does there, of m, c, d, e; `is_first` moves are first moves only."""

    to: str
    mode: str
    way: Way
    is_first: bool

    @property
    def taken(self) -> tuple[str, ...]:
        """The squares whose pieces are captured, but for a capture in passing."""
        return (*self.way.taken, *([self.to] if self.mode in "cd" else []))

    @property
    def emptied(self) -> list[str]:
        """The squares that it went over and that had to be empty."""
        others = {*self.way.taken, self.to, next(iter(self.way.there))}
        return [square for square, what in self.way.there.items() if what is None and square not in others]


@dataclass(frozen=True)
class Walker:
    """A piece of a side among others: what can be on a square, and which of it can be captured or jumped over."""

    board: Board
    side: str
    contents: Callable[[str], Collection[str | None]]
    is_enemy: Callable[[str], bool]
    is_friend: Callable[[str], bool]
    is_hurdle: Callable[[str], bool]

    def arrivals(self, moves: list[Move], source: str) -> Iterator[Arrival]:
        """Every end of every way from a square."""
        for move in moves:
            for track in move[0].tracks:
                yield from self._legs(Way(source, track[0], {source: None}), move, 0, track)

    def _legs(self, way: Way, move: Move, number: int, track: Track) -> Iterator[Arrival]:
        """The leg of this number along a track, and those after it."""
        leg = move[number]
        for arrived in self._ride(way, Ride(leg, track, move[0].wraps, number == len(move) - 1), 0, {way.at}):
            if number == len(move) - 1:
                yield from self._ends(arrived, leg, "i" in move[0].letters)
                continue
            for gone in self._goes_on(arrived, leg):
                for turn in move[number + 1].turns:
                    vector = turned(gone.vector, turn, move[number + 1].size)
                    yield from self._legs(gone, move, number + 1, (vector,))

    def _goes_on(self, way: Way, leg: Leg) -> Iterator[Way]:
        """What a leg that is not the last one does where it ends: nothing, capture, or pass over what is there."""
        modes, what = set(leg.letters) & set("mcp") or {"m"}, way.there[way.at]
        if what is None:
            yield from [way] if "m" in modes else []
            return
        if "c" in modes and self.is_enemy(what):
            yield replace(way, there={**way.there, way.at: None}, taken=(*way.taken, way.at))
        if "p" in modes and self.is_hurdle(what):
            yield way

    def _ends(self, way: Way, leg: Leg, is_first: bool) -> Iterator[Arrival]:
        """What a move may do where it ends; to come back to where it began is none, unless it has captured."""
        what, source = way.there[way.at], next(iter(way.there))
        for mode in sorted(set(leg.letters) & set("mcde") or {"m", "c"}):
            if what is None:
                fits = mode in "me" and (way.at != source or bool(way.taken))
            else:
                fits = (mode == "c" and self.is_enemy(what)) or (mode == "d" and self.is_friend(what))
            if fits:
                yield Arrival(way.at, mode, way, is_first)

    def _ride(self, way: Way, ride: Ride, count: int, known: set[str], hurdles: int = 0) -> Iterator[Way]:
        """The squares where a leg can end: leap after leap, to the edge, to its length, or to where it has been."""
        leg, vector = ride.leg, ride.track[count % len(ride.track)]
        square = self.board.step(way.at, self.board.seen(vector, self.side), ride.wraps)
        if square is None:
            return
        count += 1
        is_over = count == leg.reach or square in known
        for leapt in self._leaps(way, ride, vector):
            gone = replace(leapt, at=square, vector=vector, over=(*leapt.over, square))
            if "j" in leg.letters and leg.reach != 1 and count == 1:
                yield from () if is_over else self._ride(gone, ride, count, known | {square})
                continue
            for looked in self._look(gone, square):
                what = looked.there[square]
                if hurdles or not ride.hop:
                    yield looked
                if is_over or (ride.hop == "g" and hurdles):
                    continue
                if what is None:
                    yield from self._ride(looked, ride, count, known | {square}, hurdles)
                elif ride.hop and not hurdles and self.is_hurdle(what):
                    yield from self._ride(looked, ride, count, known | {square}, 1)

    def _leaps(self, way: Way, ride: Ride, vector: Point) -> list[Way]:
        """What a leap asks of the squares under it: all are empty (`n`), or hold something to jump over (`j`)."""
        lame, jump = "n" in ride.leg.letters, "j" in ride.leg.letters and ride.leg.reach == 1
        if not lame and not jump:
            return [way]
        at, ways = way.at, [way]
        for part in self.board.parts(vector)[:-1]:
            passed = self.board.step(at, self.board.seen(part, self.side), ride.wraps)
            if passed is None:
                return []
            at = passed
            looked = [there for way in ways for there in self._look(replace(way, over=(*way.over, at)), at)]
            ways = [each for each in looked if self._is_passed(each.there[at], lame)]
        return ways

    def _is_passed(self, what: str | None, lame: bool) -> bool:
        return what is None if lame else what is not None and self.is_hurdle(what)

    def _look(self, way: Way, square: str) -> list[Way]:
        """The way with what is on a square, for each that it can be."""
        if square in way.there:
            return [way]
        return [replace(way, there={**way.there, square: what}) for what in self.contents(square)]
