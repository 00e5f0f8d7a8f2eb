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
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.documents.geometry import Symmetry, Vector
from ggn_store.model.known import Known
from ggn_store.movement.entries import BECOMES, Entries, Pattern
from ggn_store.movement.grid import Grid, bits_of
from ggn_store.notation import qpi

ITSELF: Final = "itself"
NOTHING: Final = "nothing"
QUIET: Final = f"must {EMPTY}"
CAPTURE: Final = f"must {ENEMY}"
# A run of squares of a way that have to be empty, of any length.
RUN: Final = ("...",)
_DIGITS: Final = 10
# A way with more squares of which nothing is asked is no way: labels can be far apart.
_LONGEST_GAP: Final = 1_000


MotionItem = tuple[str, Vector]


class Shape(NamedTuple):
    """A possibility relative to where it starts; a drop, to where it ends.

    `to` is where it leads: None into the hand, and of a drop. `items` are conditions and changes (`must empty`,
    `becomes itself`, ...) and where they are. `hands` and `turn` are those of the whole rules, and `times` is how often
    the same is there for one start.
    """

    is_drop: bool
    to: Vector | None
    items: tuple[MotionItem, ...]
    hands: tuple[str, ...] = ()
    turn: bool | None = True
    times: int = 1


@dataclass(frozen=True, slots=True)
class Motion:
    """Shapes of one direction and kind.

    `to` is where it leads, or one step of the way there; `items` are what else is asked or changed elsewhere. `path`
    is what has to be on the way, `RUN` where squares have to be empty; `steps` are the fewest and the most steps there
    (None: as many as the board has), or all that there are. `goal` is about the destination, `start` about the source.
    `everywhere`: from each square that the piece moves from, so far as the board goes; never where its squares are far
    apart.
    """

    to: Vector | None
    items: tuple[MotionItem, ...] = ()
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
        return forms(self.motions, self.grid.symmetries)

    @functools.cached_property
    def _exact_forms(self) -> dict[Symmetry, str]:
        forms = {}
        for symmetry in self.grid.symmetries:
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
        return digest(min(self._exact_forms.values()))

    def forms(self, exact: bool = False) -> Mapping[Symmetry, str]:
        """What `form` says under each of the symmetries, first the one that changes nothing."""
        return self._exact_forms if exact else self._forms

    def form(self, exact: bool = False) -> str:
        """The same for equal movement, whatever is mirrored; with `exact`, square by square."""
        return self.forms(exact)[self.grid.symmetries[0]]

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
        yield from ((number, vector) for number in bits_of(squares))


def forms(motions: Collection[Motion], symmetries: Sequence[Symmetry]) -> dict[Symmetry, str]:
    """All of motions as a text, under each of these symmetries."""
    rests = {motion: repr(motion.rest)[1:] for motion in motions}
    vectors = {vector for motion in motions for _, vector in (*motion.items, ("", motion.to)) if vector is not None}

    def form(symmetry: Symmetry) -> str:
        image = {vector: symmetry(vector) for vector in vectors}
        return "\n".join(
            sorted(
                # As `seen` and `text` say it.
                f"({motion.to and image[motion.to]!r}, "
                f"{tuple(sorted([(name, image[vector]) for name, vector in motion.items]))!r}, {rest}"
                for motion, rest in rests.items()
            )
        )

    return {each: form(each) for each in symmetries}


def digest(text: str) -> str:
    """What a fingerprint shows of a text; hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


# --- from entries to shapes ---


def relative(state: str, mover: str) -> str:
    """A piece as the one that moves sees it: itself, or a friend or foe, with what is not a name of it."""
    if state == mover:
        return ITSELF
    other, own = qpi.parse(state), qpi.parse(mover)
    is_kin = (other.style, other.letter, other.derived) == (own.style, own.letter, own.derived)
    sort = f"{'same' if is_kin else ''}{other.state}{'^' if other.terminal else ''}"
    return f"{'friend' if other.side == own.side else 'foe'}{sort and ' ' + sort}"


class Items:
    """Conditions and changes of one piece's rules as numbers, each of what it is and where; and the shapes they make.

    A raw shape has these numbers and codes of vectors, where `Shape` has items and vectors. `moves` are of what makes
    moves possible, by squares that they start from; `whole` of all that possibilities say. `squares` are those that the
    board really has, None where these are all of the grid.
    """

    def __init__(self, piece: str, grid: Grid, squares: int | None = None) -> None:
        self.piece = piece
        self.grid = grid
        self._squares = squares
        self._span = grid.span
        self._names = [CAPTURE]
        # Of what is said of pieces of the other side that must be there, the first number.
        self._foes: set[int] = set()
        self.moves: dict[Any, int] = {}
        self.whole: dict[Any, int] = {}

    def item(self, code: int) -> MotionItem:
        """What a number stands for."""
        name, place = self.part(code)
        return name, self.grid.vector(place)

    def part(self, code: int) -> tuple[str, int]:
        """The same, with the code of the vector."""
        half = self._span // 2
        index, place = divmod(code + half, self._span)
        return self._names[index], place - half

    def movement(self, *, whole: bool = False, is_placed: bool = True, without: Set[Any] = frozenset()) -> Movement:
        """How the piece moves, by the possibilities that were read; not those of these raw shapes of `whole`.

        Unless it is placed, not square by square.
        """
        raw = self.whole if whole else self.moves
        if without:
            raw = {}
            for shape, squares in self.whole.items():
                if shape not in without and (move := self._move_of(shape)) is not None:
                    raw[move] = raw.get(move, 0) | squares
        every = self.grid.every if self._squares is None else self.grid.coded(self._squares)
        motions = _motions(self._shapes(raw), self.grid, every)
        if qpi.side_of(self.piece) == "first":
            return Movement(self.grid, motions)
        view = self.grid.opposite
        seen = {
            motion.seen(view): {
                length: self.grid.placed(view, squares) if is_placed else squares for length, squares in lengths.items()
            }
            for motion, lengths in motions.items()
        }
        return Movement(self.grid, seen)

    def _shapes(self, raw: Mapping[Any, int]) -> dict[Shape, int]:
        """Shapes, each with the squares that it starts from (a drop: that it leads to)."""
        result: dict[Shape, int] = {}
        for (is_drop, to, codes, hands, turn, count), squares in raw.items():
            vector = None if to is None or is_drop else self.grid.vector(to)
            # The same could be asked twice, of a capture and of what is captured.
            told = tuple(sorted(set(map(self.item, codes))))
            shape = Shape(is_drop, vector, told, hands, turn, count)
            result[shape] = result.get(shape, 0) | squares
        return result

    def _number(self, name: str) -> int:
        """The number that stands for a name where the vector is none."""
        if name not in self._names:
            self._names.append(name)
            if name.startswith("must foe"):
                self._foes.add(self._names.index(name) * self._span)
        return self._names.index(name) * self._span

    def _seen(self, kind: str, state: str | None) -> str:
        seen = NOTHING if state is None else state if state in (EMPTY, ENEMY) else relative(state, self.piece)
        return f"{kind} {seen}"

    def _read_held(self, held: tuple[tuple[str, int], ...]) -> tuple[str, ...]:
        return tuple(sorted([f"{relative(state, self.piece)} {delta:+d}" for state, delta in held]))

    def read(self, entries: Entries, most: int | None = None) -> bool:
        """Take the possibilities of the piece; whether they make no more shapes than that."""

        def placed(number: int) -> int:
            kind, state, place = entries.part(number)
            return self._number(self._seen(kind, state)) + place

        seen, held = Known(placed), Known(self._read_held)
        told = [
            (
                tuple(sorted([seen[each] for each in told.asked])),
                tuple(sorted([seen[each] for each in told.changed])),
                held[told.held],
                told.turn,
            )
            for told in entries.told
        ]
        for pattern in entries.patterns:
            self._shape(pattern, Counter(map(told.__getitem__, pattern.told)))
            if most is not None and len(self.whole) > most:
                return False
        return True

    def _shape(self, pattern: Pattern, found: Mapping[Any, int]) -> None:
        """Make raw shapes of how often the same is said in an entry."""
        is_drop, to = pattern.is_drop, pattern.to
        moves, whole = self.moves, self.whole
        squares = sum([1 << origin for origin in pattern.origins])
        for (asked, changed, held, turn), count in found.items():
            shape = is_drop, to, asked + changed, held, turn, count
            whole[shape] = whole.get(shape, 0) | squares
            if to is not None and not is_drop:
                move = self._move(to, asked)
                moves[move] = moves.get(move, 0) | squares

    def _move(self, to: int, asked: tuple[int, ...]) -> Any:
        """A raw shape of what makes a move possible: to capture a certain piece is to capture an enemy."""
        if self._foes:
            asked = tuple([to if code - to in self._foes else code for code in asked])
        return False, to, asked, (), True, 1

    def _move_of(self, shape: Any) -> Any:
        """The same of one that says all; None of a drop, and into the hand."""
        is_drop, to, codes, *_ = shape
        if is_drop or to is None:
            return None
        return self._move(to, tuple([code for code in codes if not self.part(code)[0].startswith(BECOMES)]))


# --- from shapes to motions ---


def _motions(found: Mapping[Shape, int], grid: Grid, every: int | None) -> dict[Motion, Extents]:
    sources = 0
    for shape, squares in found.items():
        if not shape.is_drop:
            sources |= squares
    starts = grid.coded(sources)
    gathered: dict[Motion, dict[tuple[int, ...], int]] = {}
    partial: set[Motion] = set()
    for shape, squares in found.items():
        motion, length = _motion(shape)
        lengths = gathered.setdefault(motion, {})
        lengths[length] = lengths.get(length, 0) | squares
        vectors = [vector for _, vector in shape.items]
        fit = every if shape.is_drop else starts
        if fit is not None and every is not None:
            fit = grid.fits(fit, vectors if shape.to is None else [shape.to, *vectors], every)
        if fit is None or fit.bit_count() != squares.bit_count():
            partial.add(motion)
    return {
        replace(motion, steps=_steps(motion, lengths, grid, every), everywhere=motion not in partial): lengths
        for motion, lengths in gathered.items()
    }


def _steps(motion: Motion, lengths: Extents, grid: Grid, every: int | None) -> tuple[int | None, ...]:
    """The fewest and the most steps, the most being None where the board has no more; all where some are left out."""
    if motion.to is None or RUN not in motion.path:
        return ()
    numbers = sorted({length[0] for length in lengths})
    low, high = numbers[0], numbers[-1]
    if high - low >= len(numbers):
        return tuple(numbers)
    longer = tuple(each * (high + 1) for each in motion.to)
    goes_on = all(abs(each) < extent for each, extent in zip(longer, grid.size, strict=True))
    if goes_on and every is not None:
        goes_on = grid.fits(every, [longer], every) > 0
    return low, high if goes_on else None


def _motion(shape: Shape) -> tuple[Motion, tuple[int, ...]]:
    """The motion of a shape, without its steps, and its length: steps, and where something stands on the way."""
    to = shape.to
    told = shape.hands, shape.turn, shape.times, shape.is_drop
    if to is None or not any(to):
        return Motion(to, shape.items, (), (), (), (), *told), ()
    zero = (0,) * len(to)
    start = tuple(name for name, vector in shape.items if vector == zero)
    goal = tuple(name for name, vector in shape.items if vector == to)
    others = tuple(item for item in shape.items if item[1] not in (zero, to))
    plain = Motion(to, others, (), (), goal, start, *told)
    whole = math.gcd(*to)
    unit = tuple(each // whole for each in to)
    at = [times for _, vector in others if (times := multiple(vector, to)[0]) is not None and 0 < times < whole]
    if not others or len(at) < len(others):
        return plain, ()
    step = math.gcd(whole, *at)
    if whole // step > len(at) + _LONGEST_GAP:
        return plain, ()
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
    return Motion(tuple([each * step for each in unit]), (), tuple(path), (), goal, start, *told), tuple(length)


@functools.lru_cache(maxsize=1 << 16)
def multiple(vector: Vector, to: Vector) -> tuple[int | None, int]:
    """How many steps of the straight way somewhere a vector is, None where it is off it; and how many there are."""
    whole = math.gcd(*to)
    axis = next(axis for axis, each in enumerate(to) if each)
    times, rest = divmod(vector[axis] * whole, to[axis])
    is_on = not rest and all(each * whole == times * part for each, part in zip(vector, to, strict=True))
    return (times if is_on else None), whole
