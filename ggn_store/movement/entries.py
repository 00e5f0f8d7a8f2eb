"""What the rules of a piece say, once for all entries that say the same.

The possibilities of an entry are told relative to its origin, which is its source, or where a drop leads. A *pattern*
is the array of an entry that is told so, with all origins that have it: shogi's 286,422 possibilities are 546 patterns
of 8,098 different possibilities. They are stored with the piece, and questions about whole rulesets look at each once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Piece, Possibility
from ggn_store.model.known import Known
from ggn_store.movement.grid import Grid

MUST: Final = "must"
DENY: Final = "deny"
BECOMES: Final = "becomes"
_KINDS: Final = (MUST, DENY, BECOMES)


class Said(NamedTuple):
    """What is asked or changed of a square: `must`, `deny` or `becomes`, the state, and the code of the vector to it.

    The state is None where nothing is left there.
    """

    kind: str
    state: str | None
    place: int


class Told(NamedTuple):
    """A possibility relative to its origin: what it asks and changes, as sorted numbers that `Entries.part` reads.

    `held` are pieces and differences in hands. Guards, effects on state variables, and the action with whether it can
    be chained, are of the dialect `gdl`.
    """

    asked: tuple[int, ...]
    changed: tuple[int, ...]
    held: tuple[tuple[str, int], ...]
    turn: bool | None
    guards: tuple[tuple[str, tuple[str, ...]], ...] = ()
    state: tuple[tuple[str, str], ...] = ()
    action: tuple[str, bool] | None = None


class Pattern(NamedTuple):
    """The array of an entry: from where to where by the code of the vector, and the numbers of its possibilities.

    `to` is None into the hand. `origins` are the numbers of squares; there are none from the hand into the hand.
    """

    is_drop: bool
    to: int | None
    told: tuple[int, ...]
    origins: list[int]


@dataclass(frozen=True, slots=True)
class Entries:
    """All entries of a piece, as patterns in the order in which the document first has each."""

    grid: Grid
    names: Sequence[tuple[str, str | None]]
    told: Sequence[Told]
    patterns: Sequence[Pattern]

    def part(self, number: int) -> Said:
        """What a number of a possibility stands for."""
        index, place = _split(number, self.grid.span)
        return Said(*self.names[index], place)

    def name_of(self, number: int) -> int:
        """Which of the names a number of a possibility has."""
        span = self.grid.span
        return (number + span // 2) // span

    def places(self, pattern: Pattern) -> Iterator[tuple[int | None, int | None]]:
        """The source and the destination of each entry of a pattern, by number; None for the hand."""
        if not pattern.origins:
            yield None, None
        codes, numbers = self.grid.codes, self.grid.by_code
        for origin in pattern.origins:
            yield (
                None if pattern.is_drop else origin,
                None if pattern.to is None else numbers[codes[origin] + pattern.to],
            )

    def on(self, grid: Grid) -> Entries:
        """The same, told on another grid of the board."""
        codes, numbers, others = self.grid.codes, self.grid.by_code, grid.codes
        if codes == others:
            return replace(self, grid=grid)
        places = Known(lambda key: others[numbers[codes[key[0]] + key[1]]] - others[key[0]])

        def told_again(origin: int, told: Told) -> Told:
            asked, changed = (
                tuple(sorted([index * grid.span + places[origin, place] for index, place in parts]))
                for parts in (
                    [_split(each, self.grid.span) for each in listed] for listed in (told.asked, told.changed)
                )
            )
            return told._replace(asked=asked, changed=changed)

        known: dict[Told, int] = {}
        patterns: dict[tuple[bool, int | None, tuple[int, ...]], list[int]] = {}
        for pattern in self.patterns:
            for origin in pattern.origins:
                to = None if pattern.to is None else places[origin, pattern.to]
                again = (told_again(origin, self.told[number]) for number in pattern.told)
                listed = tuple([known.setdefault(each, len(known)) for each in again])
                patterns.setdefault((pattern.is_drop, to, listed), []).append(origin)
            if not pattern.origins:  # from the hand into the hand, where nothing has a place
                listed = tuple([known.setdefault(self.told[number], len(known)) for number in pattern.told])
                patterns.setdefault((pattern.is_drop, pattern.to, listed), [])
        found = [Pattern(is_drop, to, listed, origins) for (is_drop, to, listed), origins in patterns.items()]
        return Entries(grid, self.names, [*known], found)

    def by_origin(self) -> dict[tuple[Any, ...], set[int | None]]:
        """The origins of each pattern, which is told in the same way for all pieces of the board."""
        said = [(*(frozenset(map(self.part, part)) for part in told[:2]), *told[2:]) for told in self.told]
        return {
            (each.is_drop, each.to, *(said[number] for number in each.told)): {*each.origins} or {None}
            for each in self.patterns
        }

    # --- as text ---

    def text(self) -> str:
        """All of it, as it is stored; equal for equal rules on equal boards."""
        told = [each if each[4:] != ((), (), None) else each[:4] for each in self.told]
        return json.dumps([self.names, told, self.patterns], separators=(",", ":"))

    @classmethod
    def read(cls, text: str, grid: Grid) -> Entries:
        """The entries that `text` has written; raises ValueError for what is none of this board."""
        try:
            names, told, patterns = json.loads(text)
            found = cls(
                grid,
                [(kind, state) for kind, state in names],
                [_told(*each) for each in told],
                [Pattern(bool(is_drop), to, tuple(numbers), origins) for is_drop, to, numbers, origins in patterns],
            )
            if found._is_sound():
                return found
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise ValueError("these are no entries") from error
        raise ValueError("these are no entries of this board")

    def _is_sound(self) -> bool:
        """Whether every number is one of something, and every square on the board."""
        codes, squares = self.grid.codes, self.grid.by_code
        numbers = {number for told in self.told for number in (*told.asked, *told.changed)}
        parts = {number: _split(number, self.grid.span) for number in numbers}
        held = {each for told in self.told for each in told.held}
        if not (
            all(kind in _KINDS and isinstance(state, str | None) for kind, state in self.names)
            and all(0 <= index < len(self.names) for index, _ in parts.values())
            and all(isinstance(piece, str) and isinstance(delta, int) for piece, delta in held)
        ):
            return False
        places = [{parts[number][1] for number in (*told.asked, *told.changed)} for told in self.told]
        for pattern in self.patterns:
            if not all(0 <= each < len(squares) for each in pattern.origins):
                return False
            begin = [codes[each] for each in pattern.origins]
            to = set() if pattern.to is None else {pattern.to}
            for place in to.union(*map(places.__getitem__, pattern.told)):
                if not all(code + place in squares for code in begin):
                    return False
        return True

    # --- from a piece ---

    @classmethod
    def of(cls, piece: Piece, board: Board, grid: Grid) -> Entries:
        """The entries of a piece that is in memory."""
        numbers, codes = board.numbers, grid.codes
        reader = _Reader(board, grid)
        known: dict[Any, int] = {}
        patterns: dict[tuple[bool, int | None, tuple[int, ...]], list[int]] = {}
        for source in piece.sources:
            start = numbers.get(source.square)
            for destination in source.destinations:
                goal = numbers.get(destination.square)
                origin = goal if start is None else start
                base = 0 if origin is None else codes[origin]
                to = None if goal is None else codes[goal] - base
                listed = [known.setdefault(reader.told(each, base), len(known)) for each in destination.possibilities]
                origins = patterns.setdefault((start is None, to, tuple(listed)), [])
                if origin is not None:
                    origins.append(origin)
        names, told = reader.in_order(known)
        found = [Pattern(is_drop, to, array, origins) for (is_drop, to, array), origins in patterns.items()]
        return cls(grid, names, told, found)


def differing_sources(before: Entries, after: Entries) -> set[int | None]:
    """The sources, by number, from which two pieces of one board do not have the same rules; None for the hand."""
    old, new = before.by_origin(), after.by_origin()
    found: set[int | None] = set()
    for key in old.keys() | new.keys():
        origins = old.get(key, set()) ^ new.get(key, set())
        found |= {None} if key[0] and origins else origins
    return found


class ToldPiece(NamedTuple):
    """A piece, its entries, and the source and destination of each of them in document order."""

    piece: str
    entries: Entries
    places: Sequence[tuple[int | None, int | None]]


def _told(asked: list[int], changed: list[int], held: list[list[Any]], turn: bool | None, *others: Any) -> Told:
    found = Told(tuple(asked), tuple(changed), tuple([(piece, delta) for piece, delta in held]), turn)
    if not others:
        return found
    guards, state, action = others
    return found._replace(
        guards=tuple((variable, tuple(values)) for variable, values in guards),
        state=tuple((variable, value) for variable, value in state),
        action=None if action is None else (action[0], action[1]),
    )


def _split(number: int, span: int) -> tuple[int, int]:
    """The number of what is said, and the code of where."""
    half = span // 2
    index, place = divmod(number + half, span)
    return index, place - half


class _Reader:
    """Reads possibilities; what is said is numbered as it comes, and in an order of its own only at the end."""

    def __init__(self, board: Board, grid: Grid) -> None:
        self._span = span = grid.span
        self._names = names = dict[tuple[str, str | None], int]()

        # Without `self`, or only the collector would free what is kept here.
        def code(kind: str, item: tuple[str, str | None]) -> int:
            square, state = item
            return names.setdefault((kind, state), len(names)) * span + grid.codes[board.numbers[square]]

        self._must, self._deny, self._changes = (Known(partial(code, kind)) for kind in _KINDS)

    def told(self, possibility: Possibility, base: int) -> tuple[Any, ...]:
        """A possibility as the values of `Told`, as seen from the square of this code."""
        must, deny, changes = self._must, self._deny, self._changes
        asked = [must[item] - base for item in possibility.must.items()]
        if possibility.deny:
            asked += [deny[item] - base for item in possibility.deny.items()]
        asked.sort()
        effects = possibility.effects
        if effects is None:
            changed: list[int] = []
            told: tuple[Any, ...] = (*asked,), (), (), None
        else:
            changed = [changes[item] - base for item in effects.board.items()]
            changed.sort()
            held = tuple(sorted(effects.hands.items())) if effects.hands else ()
            told = (*asked,), (*changed,), held, effects.toggle
        if possibility.guards or possibility.origin is not None or (effects is not None and effects.state):
            return told + _others(possibility)
        return told

    def in_order(self, known: dict[Any, int]) -> tuple[list[tuple[str, str | None]], list[Told]]:
        """All that is said, by name, and possibilities in whose numbers it is in this order."""
        names = sorted(self._names, key=lambda name: (name[0], name[1] or ""))
        starts = {self._names[name]: number * self._span for number, name in enumerate(names)}

        def renumber(number: int) -> int:
            index, place = _split(number, self._span)
            return starts[index] + place

        moved = Known(renumber)

        def renumbered(numbers: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(sorted([moved[each] for each in numbers]))

        return names, [Told(renumbered(asked), renumbered(changed), *rest) for asked, changed, *rest in known]


def _others(possibility: Possibility) -> tuple[Any, ...]:
    """What only the dialect `gdl` says."""
    effects, origin = possibility.effects, possibility.origin
    return (
        tuple(sorted(possibility.guards.items())),
        () if effects is None else tuple(sorted(effects.state.items())),
        None if origin is None else (origin.action, origin.chainable),
    )
