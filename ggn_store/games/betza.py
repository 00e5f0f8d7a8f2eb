"""Betza's notation for how pieces move: `RN`, `mfWcfF`, `nN`, `mRcpR`, `[F?R]` -> patterns.

The dialect is described in `ggn_store/guides/defining-games.md`. Letters that would mean nothing are errors here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NoReturn

from ggn_store import limits
from ggn_store.errors import GgnStoreError, quote
from ggn_store.games.patterns import BetzaPattern, Leg, Track
from ggn_store.model.documents.geometry import Vector, images_of, in_order, scale_of, steps_of, turned

_LEAPS: Final[dict[str, tuple[tuple[int, int], ...]]] = {
    "W": ((1, 0),),
    "F": ((1, 1),),
    "D": ((2, 0),),
    "N": ((2, 1),),
    "A": ((2, 2),),
    "H": ((3, 0),),
    "C": ((3, 1),),
    "L": ((3, 1),),
    "Z": ((3, 2),),
    "J": ((3, 2),),
    "G": ((3, 3),),
    "K": ((1, 0), (1, 1)),
}
_RIDES: Final[dict[str, tuple[tuple[int, int], ...]]] = {"R": ((1, 0),), "B": ((1, 1),), "Q": ((1, 0), (1, 1))}
_ATOMS: Final = _LEAPS | _RIDES
# Atoms that go both straight and diagonally.
_BOTH: Final = ("K", "Q")
_VERTICAL: Final = "fbvh"
_HORIZONTAL: Final = "rlsh"
_OTHERS: Final = "mcdeinjpgzqo"
# What XBetza has and a board's squares cannot say, or a definition says elsewhere.
_REFUSED: Final = {
    "u": "a piece that is put back somewhere (u) is more than a move can say here",
    "t": "conditions on moves before (t) are more than the squares of a board say",
    "x": "moves that are borrowed from other pieces (x) are more than the piece's own squares say",
    "O": "castling (O) is said by the key castling of the piece",
}
_OBLIQUE: Final = "an oblique leap goes on diagonally or as it is, and nothing else leads to one"
_VECTOR = re.compile(r"\(([+-]?[0-9]{1,2}(?:,[+-]?[0-9]{1,2}){0,2})\)", re.ASCII)
_LENGTH = re.compile("[0-9]{1,2}", re.ASCII)
# Eighths of a turn, clockwise, of each direction relative to the leg before.
_TURNS: Final[dict[str, tuple[int, ...]]] = (
    dict(zip(("ff", "bb", "ll", "rr", "ss", "vv"), ((0,), (4,), (6,), (2,), (2, 6), (0, 4)), strict=True))
    | dict(zip(("fl", "fr", "bl", "br", "fs", "bs"), ((7,), (1,), (5,), (3,), (1, 7), (3, 5)), strict=True))
    | dict(zip(("lf", "rf", "lb", "rb", "sf", "sb"), ((7,), (1,), (5,), (3,), (1, 7), (3, 5)), strict=True))
)


class BetzaError(GgnStoreError, ValueError):
    """Not Betza's notation; the message shows the string with a caret under what is wrong."""


def parse(text: str, dimensions: int = 2, hexagonal: bool = False) -> tuple[BetzaPattern, ...]:
    """The patterns of a string, in its order, on a board of so many dimensions or of hexagons; raises BetzaError.

    An empty string is a piece that never moves.
    """
    if len(text) > limits.BETZA_LENGTH.most:
        most, more = limits.BETZA_LENGTH.most, limits.BETZA_LENGTH.more
        raise BetzaError(f"a Betza string has at most {most:,} characters, not {len(text):,}{more}")
    return tuple(_Parser(text, dimensions, hexagonal).patterns())


@dataclass(slots=True)
class _Modifiers:
    """The modifiers of one leg, with where they stand in the string."""

    start: int
    directions: list[tuple[str, int]]
    others: dict[str, int]

    def has(self, letter: str) -> bool:
        return letter in self.others


@dataclass(frozen=True, slots=True)
class _Atom:
    """An atom with its length; `scale` is how many king's steps a leap has, 0 where it is oblique or signed."""

    start: int
    name: str
    images: tuple[Vector, ...]
    scale: int
    reach: int


class _Parser:
    def __init__(self, text: str, dimensions: int, hexagonal: bool) -> None:
        self._text = text
        self._hexagonal = hexagonal
        # Directions by letters, and what is made of them, are for squares in a plane.
        self._is_plane = dimensions == 2 and not hexagonal
        self._dimensions = dimensions
        self._images_of = partial(images_of, dimensions=dimensions, hexagonal=hexagonal)
        self._at = 0

    def patterns(self) -> Iterator[BetzaPattern]:
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                yield from self._bracket()
            else:
                yield self._pattern()

    def _fail(self, message: str, at: int) -> NoReturn:
        # Tabs and the like would move the caret.
        shown = "".join(each if each.isprintable() else "?" for each in self._text)
        raise BetzaError(f"{message}\n  {shown}\n  {' ' * at}^")

    # --- one pattern: modifiers, an atom, a length ---

    def _pattern(self) -> BetzaPattern:
        legs = [self._modifiers()]
        toggles = [self._toggle(legs[0])]
        while self._at < len(self._text) and self._text[self._at] == "a":
            self._at += 1
            if len(legs) == limits.BETZA_LEGS.most:
                self._fail(f"a move has at most {limits.BETZA_LEGS.most} legs{limits.BETZA_LEGS.more}", self._at - 1)
            legs.append(self._modifiers())
            toggles.append(self._toggle(legs[-1]))
        atom = self._atom()
        if toggles[-1] is not None:
            self._fail("y changes the length of the legs behind it, and there is none", toggles[-1])
        made, reach = [], atom.reach
        for number, modifiers in enumerate(legs):
            if number and toggles[number - 1] is not None:
                reach = 1 if reach == 0 else 0
            made.append(self._leg(modifiers, replace(atom, reach=reach), number == 0, number == len(legs) - 1))
        return self._whole(made, legs)

    def _whole(self, legs: list[Leg], modifiers: list[_Modifiers]) -> BetzaPattern:
        for each in modifiers[1:]:
            for letter in "io":
                if each.has(letter):
                    self._fail(f"{letter} is said of a whole move, with its first leg", each.others[letter])
        first = modifiers[0]
        if first.has("o") and self._dimensions == 1:
            self._fail("a board of one dimension has no files that wrap round", first.others["o"])
        return BetzaPattern(tuple(legs), first.has("i"), first.has("o"))

    def _modifiers(self) -> _Modifiers:
        found = _Modifiers(self._at, [], {})
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter in _VERTICAL or letter in _HORIZONTAL:
                following = self._text[self._at + 1 : self._at + 2]
                pair = following and (
                    following == letter
                    or (letter in _VERTICAL and following in _HORIZONTAL)
                    or (letter in _HORIZONTAL and following in _VERTICAL)
                )
                found.directions.append((letter + following if pair else letter * 2, self._at))
                self._at += 2 if pair else 1
            elif letter in _OTHERS:
                if found.has(letter):
                    self._fail(f"{letter} is there twice", self._at)
                found.others[letter] = self._at
                self._at += 1
            else:
                break
        return found

    def _toggle(self, modifiers: _Modifiers) -> int | None:
        """Takes a y, which stands last among the modifiers of its leg; where it stood."""
        if self._text[self._at : self._at + 1] != "y":
            return None
        self._at += 1
        if self._text[self._at : self._at + 1] != "a":
            self._fail("y stands before the a of the next leg", self._at - 1)
        return self._at - 1

    def _atom(self) -> _Atom:
        start = self._at
        letter = self._text[start : start + 1]
        if not letter:
            self._fail("an atom such as W is missing at the end", start)
        if letter == "(":
            return self._vector()
        if letter in _REFUSED:
            self._fail(_REFUSED[letter], start)
        if letter not in _ATOMS:
            allowed = f"modifiers are {_VERTICAL[:3]}{_HORIZONTAL}{_OTHERS}ay and atoms {''.join(_ATOMS)}"
            self._fail(f"{quote(letter)} means nothing: {allowed}", start)
        self._at += 1
        reach = 0 if letter in _RIDES else 1
        if self._text[self._at : self._at + 1] == letter:
            self._at += 1
            reach = 0
            if _LENGTH.match(self._text, self._at):
                self._fail("a doubled letter has no limit: one letter and the length, or two letters", self._at)
        else:
            reach = self._length(reach)
        leaps = _ATOMS[letter]
        if self._dimensions == 1:
            leaps = tuple(leap for leap in leaps if leap[1] == 0)
            if not leaps:
                self._fail(f"{letter} needs two dimensions, and the board has one", start)
        images = in_order({image for leap in leaps for image in self._images_of(leap)})
        return _Atom(start, letter, images, scale_of(leaps[0]), reach)

    def _length(self, default: int) -> int:
        match = _LENGTH.match(self._text, self._at)
        if match is None:
            return default
        if match[0] != "0" and match[0].startswith("0"):
            self._fail("a length has no leading zero", self._at)
        self._at = match.end()
        if self._text[self._at : self._at + 1].isdigit():
            self._fail("a length has at most two digits", match.start())
        return int(match[0])

    def _vector(self) -> _Atom:
        start = self._at
        match = _VECTOR.match(self._text, start)
        if match is None:
            self._fail("not a vector such as (4,1), (1,1,1) or (0,+1,0)", start)
        parts = match[1].split(",")
        vector = tuple(map(int, parts))
        if not any(vector):
            self._fail("a vector that goes nowhere", start)
        signed = any(part[0] in "+-" for part in parts)
        if signed and any(part[0].isdigit() and int(part) for part in parts):
            self._fail("a vector with signs has them on all numbers but 0", start)
        if len(vector) > self._dimensions:
            self._fail(f"the vector has {len(vector)} dimensions and the board {self._dimensions}", start)
        self._at = match.end()
        vector = (*vector, *(0,) * (self._dimensions - len(vector)))
        images = (vector,) if signed else in_order(self._images_of(vector))
        reach = self._length(1)
        return _Atom(start, match[0], images, 0 if signed else scale_of(vector), reach)

    # --- what a leg means ---

    def _leg(self, modifiers: _Modifiers, atom: _Atom, first: bool, last: bool) -> Leg:
        has, where = modifiers.has, modifiers.others
        if not last:
            for letter in "degjnzq":
                if has(letter) and not (letter in "zqjn" and first):
                    self._fail(f"{letter} is for the last leg of a move", where[letter])
        for one, other in (("p", "g"), ("z", "q"), ("n", "j"), ("p", "j"), ("g", "j"), ("p", "n"), ("g", "n")):
            if has(one) and has(other):
                self._fail(f"{one} and {other} contradict each other", max(where[one], where[other]))
        modes = {letter for letter in "mcde" if has(letter)}
        leg = Leg(
            reach=atom.reach,
            quiet="m" in modes or (not modes and (last or not has("p"))),
            capture="c" in modes or (not modes and last),
            friendly="d" in modes,
            en_passant="e" in modes,
            over=has("p") and not last,
            hop="" if not last else "g" if has("g") else "p" if has("p") else "",
            lame=has("n"),
            jump=has("j"),
        )
        self._check(modifiers, atom, leg)
        if first:
            return replace(leg, tracks=self._tracks(modifiers, atom))
        if not self._is_plane:
            self._fail("legs that turn are for squares in two dimensions", modifiers.start)
        return replace(leg, turns=self._turns(modifiers, atom), scale=atom.scale)

    def _check(self, modifiers: _Modifiers, atom: _Atom, leg: Leg) -> None:
        where = modifiers.others
        counts = [len(steps_of(image, self._hexagonal)) for image in atom.images]
        longest, shortest = max(counts), min(counts)
        if leg.hop and leg.reach == 1:
            self._fail(f"{leg.hop} is for rides, and {atom.name} is a leap", where[leg.hop])
        if leg.hop == "g" and leg.reach:
            self._fail("g ends right behind its hurdle, wherever that is: it has no length", where["g"])
        if leg.lame and longest == 1:
            self._fail(f"n is for leaps, and {atom.name} passes over nothing", where["n"])
        if leg.jump and leg.reach == 1 and (longest, shortest) != (2, 2):
            self._fail("j is for rides and for D and A", where["j"])
        if leg.jump and leg.reach == 1 and atom.scale == 0:
            self._fail("j is for rides and for D and A: an oblique leap passes over no square", where["j"])
        for letter in "zq":
            if modifiers.has(letter) and leg.reach == 1:
                self._fail(f"{letter} is for rides, and {atom.name} is a leap", where[letter])
        if leg.en_passant and leg.hop:
            self._fail("a capture in passing is not one over a hurdle", where["e"])

    def _tracks(self, modifiers: _Modifiers, atom: _Atom) -> tuple[Track, ...]:
        images = self._directed(modifiers, atom)
        if modifiers.has("z"):
            return self._crooked(images, modifiers, atom)
        if modifiers.has("q"):
            return self._circular(images, modifiers, atom)
        return tuple((image,) for image in images)

    def _directed(self, modifiers: _Modifiers, atom: _Atom) -> tuple[Vector, ...]:
        if not modifiers.directions:
            return atom.images
        if self._dimensions == 3 or self._hexagonal:
            example, where = ("(0,+1)", "among hexagons") if self._hexagonal else ("(0,+1,0)", "in space")
            message = f"directions are for squares in two dimensions; {where} they are vectors with signs: {example}"
            self._fail(message, modifiers.directions[0][1])
        chosen: set[Vector] = set()
        for direction, at in modifiers.directions:
            if atom.name in _BOTH and direction[0] != direction[1]:
                parts = "W and F" if atom.name == "K" else "R and B"
                self._fail(f"{direction} is a corner or two sides: say it of {parts} apart, not of {atom.name}", at)
            vectors = [image for image in atom.images if _goes(direction, image)]
            if not vectors:
                self._fail(f"{atom.name} has no direction {quote(direction)}", at)
            chosen |= set(vectors)
        return in_order(chosen)

    def _crooked(self, images: Iterable[Vector], modifiers: _Modifiers, atom: _Atom) -> tuple[Track, ...]:
        if not self._is_plane or atom.scale == 0 or atom.name in _BOTH:
            self._fail("z is for straight or diagonal rides on squares of two dimensions", modifiers.others["z"])
        return tuple((each, turned(each, turn, atom.scale)) for each in images for turn in (2, 6))

    def _circular(self, images: Iterable[Vector], modifiers: _Modifiers, atom: _Atom) -> tuple[Track, ...]:
        ring = in_order(atom.images)
        if not self._is_plane or atom.name in _BOTH or len(ring) < 4:
            self._fail("q is for the rides of one atom on squares in two dimensions", modifiers.others["q"])
        size = len(ring)
        return tuple(
            tuple(ring[(ring.index(each) + turn * step) % size] for step in range(size))
            for each in images
            for turn in (1, -1)
        )

    def _turns(self, modifiers: _Modifiers, atom: _Atom) -> tuple[int, ...]:
        for letter in "zqj":
            if modifiers.has(letter):
                self._fail(f"{letter} is for the first leg of a move", modifiers.others[letter])
        turns: set[int] = set()
        for direction, at in modifiers.directions:
            if direction not in _TURNS:
                self._fail(f"no turn is called {quote(direction)}", at)
            turns |= set(_TURNS[direction])
        if atom.scale == 0 and not turns <= {0, 4}:
            self._fail(f"{atom.name} is oblique, and goes on straight or back only", modifiers.start)
        if not turns:
            turns = {0} if atom.scale == 0 else set(range(8)) - {4} if atom.name in _BOTH else {0, 2, 6}
        return tuple(sorted(turns))

    # --- legs with an atom each, in brackets ---

    def _bracket(self) -> Iterator[BetzaPattern]:
        legs, ends = self._bracketed()
        for count in [*ends, len(legs)]:
            for atoms in itertools.product(*(_halves(atom) for _, atom in legs[:count])):
                made: list[Leg] = []
                for number, ((modifiers, _), atom) in enumerate(zip(legs, atoms, strict=False), 1):
                    if number < count and number in ends:
                        # Its modes are those of a move that ends there; to go on, the square has to be empty.
                        modes = {k: v for k, v in modifiers.others.items() if k not in "mcde"}
                        modifiers = replace(modifiers, others=modes)
                    if number == 1:
                        made.append(self._leg(modifiers, atom, True, count == 1))
                    elif leg := self._next(modifiers, atoms[number - 2], atom, number == count):
                        made.append(leg)
                if len(made) == count:
                    yield self._whole(made, [modifiers for modifiers, _ in legs[:count]])

    def _bracketed(self) -> tuple[list[tuple[_Modifiers, _Atom]], list[int]]:
        """The legs in brackets, and behind how many of them the move may end before the last."""
        start = self._at
        legs: list[tuple[_Modifiers, _Atom]] = []
        ends: list[int] = []
        separator = "-"
        while separator in ("-", "?"):
            self._at += 1
            if len(legs) == limits.BETZA_LEGS.most:
                self._fail(f"a move has at most {limits.BETZA_LEGS.most} legs{limits.BETZA_LEGS.more}", self._at)
            modifiers = self._modifiers()
            legs.append((modifiers, self._atom()))
            separator = self._text[self._at : self._at + 1]
            if separator == "?":
                ends.append(len(legs))
        if separator != "]":
            self._fail("legs are separated by - or ?, and ] ends them", self._at)
        if len(legs) == 1:
            self._fail("brackets hold at least two legs", start)
        self._at += 1
        return legs, ends

    def _next(self, modifiers: _Modifiers, before: _Atom, atom: _Atom, last: bool) -> Leg | None:
        """A leg behind another one, outward where it has no directions; None for half of an atom that has no such."""
        if atom.scale == 0 and before.images != atom.images:
            self._fail(_OBLIQUE, atom.start)
        # Behind an oblique leap directions begin at the diagonal beside it, unless it is that leap once more.
        is_straight = scale_of(before.images[0]) > 0 and _is_straight(before)
        half = atom.scale > 0 and is_straight != _is_straight(atom)
        if not modifiers.directions:
            if half and scale_of(before.images[0]) == 0:
                return None if atom.name in _BOTH else self._fail(_OBLIQUE, atom.start)
            modifiers = replace(modifiers, directions=[("fs" if half else "ff", modifiers.start)])
        leg = self._leg(modifiers, atom, False, last)
        turns = tuple(turn for turn in leg.turns if turn % 2 == half)
        if turns != leg.turns and not {before.name, atom.name} & {*_BOTH}:
            self._fail(f"{atom.name} has no such direction behind {before.name}", modifiers.start)
        return replace(leg, turns=turns) if turns else None


def _halves(atom: _Atom) -> tuple[_Atom, ...]:
    """An atom as it goes straight, and as it goes diagonally, if it does both."""
    if atom.name not in _BOTH:
        return (atom,)
    halves = (tuple(each for each in atom.images if (0 in each) == straight) for straight in (True, False))
    return tuple(replace(atom, images=images) for images in halves if images)


def _is_straight(atom: _Atom) -> bool:
    return 0 in atom.images[0]


def _goes(direction: str, vector: Vector) -> bool:
    """Whether a vector of one or two dimensions is in a direction, a pair of letters."""
    x, y = vector if len(vector) == 2 else (0, vector[0])
    one, other = direction[0], direction[1]
    signs = {"f": y > 0, "b": y < 0, "r": x > 0, "l": x < 0, "v": True, "s": True}
    if 0 in (x, y):
        # There are no pairs: each letter is a direction of its own, and a half is nothing.
        along = {"f": y > 0, "b": y < 0, "r": x > 0, "l": x < 0, "v": y != 0, "s": x != 0, "h": False}
        return along[one] or along[other]
    if other == "h":
        return one in "fbrl" and signs[one]
    if one == "h":
        right = (x * y > 0) == (abs(y) > abs(x))
        return abs(x) != abs(y) and other in "rl" and right == (other == "r")
    # The second letter is the axis along which the leap is longer; a diagonal has both.
    if other in "fbv":
        return abs(y) >= abs(x) and signs[other] and signs[one] and (one == other or one in "rl")
    return abs(x) >= abs(y) and signs[other] and signs[one] and (one == other or one in "fb")
