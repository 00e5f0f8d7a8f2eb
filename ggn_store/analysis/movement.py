"""How pieces move, apart from names, labels, sides and, as far as that can be, from the size of the board.

A possibility becomes a `Shape`: what it asks and changes, relative to where it starts. Shapes that are one movement of
several lengths (a rook's, a cannon's) become one `Motion`: a direction and what stands on the way, where any number of
empty squares is as good as one. A piece of the second side is seen from its own side of the board.

With `whole=False` a shape is of what makes a move possible: where to, and what must stand where, a capture of a certain
kind of piece being one of an enemy. With `whole=True` it is also of what changes: on the board, in the hands and in the
turn, drops among it, and how often the same is there (a choice of promotions). Pieces are told apart as far as this
goes: the piece itself, another state of it, some other of the own side or of the enemy's, royal or promoted.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from ggn_store.analysis.grid import Grid
from ggn_store.model.contents import Condition, Contents, effect, hand_effect
from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.geometry import Symmetry, Vector, opposite, symmetries
from ggn_store.notation import qpi

ITSELF: Final = "itself"
NOTHING: Final = "nothing"
QUIET: Final = f"must {EMPTY}"
CAPTURE: Final = f"must {ENEMY}"
# A run of squares of a way that have to be empty, of any length.
RUN: Final = ("...",)
_DIGITS: Final = 10
# No number of a square, and no destination.
_NOWHERE: Final = -1


Item = tuple[str, Vector]


class Shape(NamedTuple):
    """A possibility relative to where it starts; a drop, to where it ends.

    `to` is where it leads: None into the hand, and of a drop. `items` are conditions and changes (`must empty`,
    `becomes itself`, ...) and where they are. `hands` and `turn` are those of the whole rules, and `times` is how often
    the same is there for one start.
    """

    is_drop: bool
    to: Vector | None
    items: tuple[Item, ...]
    hands: tuple[str, ...] = ()
    turn: bool | None = True
    times: int = 1


@dataclass(frozen=True, slots=True)
class Motion:
    """Shapes of one direction and kind.

    `to` is where it leads, or one step of the way there; `items` are what else is asked or changed elsewhere. `path`
    is what has to be on the way, `RUN` where squares have to be empty; `steps` are the fewest and the most steps there
    (None: as many as the board has), or all that there are. `goal` is about the destination, `start` about the source.
    `everywhere`: from each square that the piece moves from, so far as the board goes.
    """

    to: Vector | None
    items: tuple[Item, ...] = ()
    path: tuple[tuple[str, ...], ...] = ()
    steps: tuple[int | None, ...] = ()
    goal: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    hands: tuple[str, ...] = ()
    turn: bool | None = True
    times: int = 1
    is_drop: bool = False
    everywhere: bool = True

    def seen(self, symmetry: Symmetry) -> Motion:
        """The motion, turned or mirrored."""
        items = tuple(sorted((name, symmetry(vector)) for name, vector in self.items))
        return Motion(None if self.to is None else symmetry(self.to), items, *self.rest)

    @property
    def text(self) -> str:
        """All of it; fingerprints are made of that, so it stays as it is."""
        return str((self.to, self.items, *self.rest))

    @property
    def rest(self) -> tuple[Any, ...]:
        """What has no direction, in the order of the fields."""
        return (
            *(self.path, self.steps, self.goal, self.start, self.hands),
            *(self.turn, self.times, self.is_drop, self.everywhere),
        )


Extents = Mapping[tuple[int, ...], int]


@dataclass(frozen=True)
class Movement:
    """How a piece moves on its board: its motions, and from which squares each of their lengths is there."""

    grid: Grid
    motions: Mapping[Motion, Extents]

    @functools.cached_property
    def _forms(self) -> dict[Symmetry, str]:
        return {each: _text(self.motions, each) for each in symmetries(len(self.grid.size))}

    @functools.cached_property
    def fingerprint(self) -> str:
        """The same for equal and mirrored movement on any board; hexadecimal."""
        return _digest(min(self._forms.values()))

    @functools.cached_property
    def _exact_forms(self) -> dict[Symmetry, str]:
        forms = {}
        for symmetry in symmetries(len(self.grid.size)):
            placed = sorted(
                f"{motion.seen(symmetry).text} {length} {self.grid.text(symmetry, squares)}"
                for motion, lengths in self.motions.items()
                for length, squares in lengths.items()
            )
            forms[symmetry] = "\n".join([str(symmetry.extent(self.grid.size)), *placed])
        return forms

    @functools.cached_property
    def exact_fingerprint(self) -> str:
        """The same for equal and mirrored movement, square by square, on boards of one size; hexadecimal."""
        return _digest(min(self._exact_forms.values()))

    def form(self, exact: bool = False) -> str:
        """The same for equal movement, whatever is mirrored; with `exact`, square by square."""
        forms = self._exact_forms if exact else self._forms
        return forms[symmetries(len(self.grid.size))[0]]

    def relation(self, other: Movement, *, exact: bool = False) -> str | None:
        """How this movement comes from another: `equal`, `mirrored left to right`, ...; None where it does not."""
        if len(self.grid.size) != len(other.grid.size):
            return None
        wanted, its = self.form(exact), other._exact_forms if exact else other._forms
        return next((symmetry.name for symmetry, form in its.items() if form == wanted), None)

    @property
    def moves(self) -> set[tuple[int, Vector]]:
        """From which squares it goes how far, on its board; drops are not among them."""
        return {move for motion, lengths in self.motions.items() for move in moves_of(motion, lengths)}


def moves_of(motion: Motion, lengths: Extents) -> Iterable[tuple[int, Vector]]:
    """The squares that a motion starts from, and the vectors that it goes by."""
    if motion.to is None:
        return
    for length, squares in lengths.items():
        vector = tuple(each * (length[0] if length else 1) for each in motion.to)
        rest = squares
        while rest:
            bit = rest & -rest
            yield bit.bit_length() - 1, vector
            rest ^= bit


def _text(motions: Iterable[Motion], symmetry: Symmetry) -> str:
    return "\n".join(sorted(motion.seen(symmetry).text for motion in motions))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


# --- from rows to shapes ---


def movement(piece: str, contents: Contents, grid: Grid, *, whole: bool = False) -> Movement:
    """How a piece moves."""
    found = shapes(piece, contents, grid, whole=whole)
    motions = _motions(found, grid)
    if qpi.side_of(piece) == "first":
        return Movement(grid, motions)
    view = opposite(len(grid.size))
    seen = {
        motion.seen(view): {length: grid.placed(view, squares) for length, squares in lengths.items()}
        for motion, lengths in motions.items()
    }
    return Movement(grid, seen)


def relative(state: str, mover: str) -> str:
    """A piece as the one that moves sees it: itself, or a friend or foe, with what is not a name of it."""
    if state == mover:
        return ITSELF
    other, own = qpi.parse(state), qpi.parse(mover)
    is_kin = (other.style, other.letter, other.derived) == (own.style, own.letter, own.derived)
    sort = f"{'same' if is_kin else ''}{other.state}{'^' if other.terminal else ''}"
    return f"{'friend' if other.side == own.side else 'foe'}{sort and ' ' + sort}"


def shapes(piece: str, contents: Contents, grid: Grid, *, whole: bool) -> dict[Shape, int]:
    """The shapes of a piece's possibilities, each with the squares that it starts from (a drop: that it leads to)."""
    items = _Items(piece, grid)
    raw = items.whole(contents) if whole else items.moves(contents)
    result: dict[Shape, int] = {}
    for (is_drop, to, codes, hands, turn, count), squares in raw.items():
        vector = None if to is None or is_drop else grid.vector(to)
        # The same could be asked twice, of a capture and of what is captured.
        told = tuple(sorted(set(map(items.item, codes))))
        shape = Shape(is_drop, vector, told, hands, turn, count)
        result[shape] = result.get(shape, 0) | squares
    return result


class _Items:
    """Conditions and changes of one piece's rules as numbers, each of what it is and where.

    The raw shapes have these numbers and codes of vectors, where `Shape` has items and vectors.
    """

    def __init__(self, piece: str, grid: Grid) -> None:
        self._piece = piece
        self._codes, self._span = grid.codes, grid.span
        self._vector = grid.vector
        self._names = [CAPTURE]
        self._asked = functools.cache(self._read_asked)
        self._changed = functools.cache(self._read_changed)
        self._held = functools.cache(self._read_held)

    def item(self, code: int) -> Item:
        """What a number stands for."""
        half = self._span // 2
        index, place = divmod(code + half, self._span)
        return self._names[index], self._vector(place - half)

    def _code(self, name: str, square: int) -> int:
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name) * self._span + self._codes[square]

    def _seen(self, state: str | None) -> str:
        return NOTHING if state is None else state if state in (EMPTY, ENEMY) else relative(state, self._piece)

    def _read_asked(self, line: str) -> tuple[int, int]:
        """The item of a condition, and where a foe of some kind must be by it."""
        condition = Condition.read(line)
        state = self._seen(condition.state)
        is_foe = condition.polarity == "must" and state.startswith("foe")
        code = self._code(f"{condition.polarity} {state}", condition.square)
        return code, condition.square if is_foe else _NOWHERE

    def _read_changed(self, line: str) -> int:
        square, becomes = effect(line)
        return self._code(f"becomes {self._seen(becomes)}", square)

    def _read_held(self, line: str) -> str:
        state, delta = hand_effect(line)
        return f"{relative(state, self._piece)} {delta:+d}"

    def moves(self, contents: Contents) -> dict[Any, int]:
        """The raw shapes of what makes moves possible, by squares that they start from."""
        items: list[list[int]] = [[] for _ in contents.possibilities]
        goals = [destination for _, _, destination, _, _, _ in contents.possibilities]
        for _, number, text in contents.conditions:
            for code, foe_at in map(self._asked, text.split("\n")):
                items[number].append(self._code(CAPTURE, foe_at) if foe_at == goals[number] else code)
        raw: dict[Any, int] = {}
        for _, source, destination, _, number, _ in contents.possibilities:
            if source is not None and destination is not None:
                code = self._codes[source]
                each = tuple(sorted(item - code for item in items[number]))
                move = False, self._codes[destination] - code, each, (), True, 1
                raw[move] = raw.get(move, 0) | 1 << source
        return raw

    def whole(self, contents: Contents) -> dict[Any, int]:
        """The raw shapes of all that possibilities say."""
        items: list[list[int]] = [[] for _ in contents.possibilities]
        hands: dict[int, tuple[str, ...]] = {}
        for _, number, text in contents.conditions:
            items[number] += [code for code, _ in map(self._asked, text.split("\n"))]
        for _, number, text in contents.effects:
            items[number] += map(self._changed, text.split("\n"))
        for _, number, text in contents.hand_effects:
            hands[number] = tuple(sorted(map(self._held, text.split("\n"))))
        counted: Counter[Any] = Counter()
        for _, source, destination, _, number, turn in contents.possibilities:
            start = destination if source is None else source
            code = 0 if start is None else self._codes[start]
            to = None if destination is None or start is None else self._codes[destination] - code
            each = tuple(sorted(item - code for item in items[number]))
            counted[start, source is None, to, each, hands.get(number, ()), turn] += 1
        raw: dict[Any, int] = {}
        for (start, *key), count in counted.items():
            raw[*key, count] = raw.get((*key, count), 0) | (0 if start is None else 1 << start)
        return raw


# --- from shapes to motions ---


def _motions(found: Mapping[Shape, int], grid: Grid) -> dict[Motion, Extents]:
    sources = 0
    for shape, squares in found.items():
        if not shape.is_drop:
            sources |= squares
    gathered: dict[Motion, dict[tuple[int, ...], int]] = {}
    partial: set[Motion] = set()
    for shape, squares in found.items():
        motion, length = _motion(shape)
        lengths = gathered.setdefault(motion, {})
        lengths[length] = lengths.get(length, 0) | squares
        vectors = [vector for _, vector in shape.items]
        fit = grid.fits(vectors if shape.to is None else [*vectors, shape.to])
        if squares != (fit if shape.is_drop else fit & sources):
            partial.add(motion)
    return {
        replace(motion, steps=_steps(motion, lengths, grid.size), everywhere=motion not in partial): lengths
        for motion, lengths in gathered.items()
    }


def _steps(motion: Motion, lengths: Extents, size: Vector) -> tuple[int | None, ...]:
    """The fewest and the most steps, the most being None where the board has no more; all where some are left out."""
    if motion.to is None or RUN not in motion.path:
        return ()
    numbers = sorted({length[0] for length in lengths})
    low, high = numbers[0], numbers[-1]
    if numbers != [*range(low, high + 1)]:
        return tuple(numbers)
    goes_on = all(abs(each) * (high + 1) < extent for each, extent in zip(motion.to, size, strict=True))
    return low, high if goes_on else None


def _motion(shape: Shape) -> tuple[Motion, tuple[int, ...]]:
    """The motion of a shape, without its steps, and its length: steps, and where something stands on the way."""
    to = shape.to
    plain = Motion(to, shape.items, hands=shape.hands, turn=shape.turn, times=shape.times, is_drop=shape.is_drop)
    if to is None or not any(to):
        return plain, ()
    zero = (0,) * len(to)
    start = tuple(name for name, vector in shape.items if vector == zero)
    goal = tuple(name for name, vector in shape.items if vector == to)
    others = tuple(item for item in shape.items if item[1] not in (zero, to))
    plain = replace(plain, items=others, goal=goal, start=start)
    whole = math.gcd(*to)
    unit = tuple(each // whole for each in to)
    at = [times for _, vector in others if (times := _multiple(vector, unit)) is not None and 0 < times < whole]
    if not others or len(at) < len(others):
        return plain, ()
    step = math.gcd(whole, *at)
    way: list[tuple[str, ...]] = [()] * (whole // step)
    for (name, _), times in zip(others, at, strict=True):
        way[times // step] += (name,)
    path: list[tuple[str, ...]] = []
    length = [len(way)]
    for place, asked in enumerate(way[1:], 1):
        if asked != (QUIET,):
            path.append(asked)
            length.append(place)
        elif not path or path[-1] != RUN:
            path.append(RUN)
    return replace(plain, to=tuple(each * step for each in unit), items=(), path=tuple(path)), tuple(length)


def _multiple(vector: Vector, unit: Vector) -> int | None:
    """How many times `unit` a vector is; None where it is not."""
    axis = next(axis for axis, each in enumerate(unit) if each)
    times, rest = divmod(vector[axis], unit[axis])
    return times if not rest and tuple(each * times for each in unit) == vector else None
