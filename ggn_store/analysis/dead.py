"""Dead rules: possibilities that never apply, or that could be left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from ggn_store.analysis.reach import IN_HAND, Standing, impossible, reached
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.conditions import implies
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.known import Known
from ggn_store.model.record import Record
from ggn_store.movement.entries import MUST, Entries, Pattern, Said, ToldPiece
from ggn_store.notation.qpi import Side, other_side, side_of

DeadKind = Literal["never", "duplicate", "shadowed", "unreachable", "absent"]
# Source and destination; None is the hand.
NumberedPlace = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Dead(Record):
    """A possibility that adds nothing to the rules, and why.

    - `never`: the conditions contradict each other, or what stands on the source; `square` and `state` of one of them;
    - `duplicate`: the conditions and effects are those of an earlier possibility of the destination, number `by`;
    - `shadowed`: possibility `by` of the destination has the same effects, and holds whenever this one does;
    - `unreachable`: the piece never comes to stand on the source; of all `possibilities` from there at once;
    - `absent`: what must stand on `square`, a piece or an enemy, never comes to stand there.

    The last two are told of rulesets with a start position; what comes to stand where, `coverage` says.
    """

    kind: DeadKind
    piece: str
    source: str
    destination: str | None = None
    ordinal: int | None = None
    by: int | None = None
    square: str | None = None
    state: str | None = None
    possibilities: int = 1


class DeadRules(NamedTuple):
    """What is dead of a piece: of sources that it never comes to, and of entries."""

    of_sources: Mapping[int | None, Dead]
    of_entries: Mapping[NumberedPlace, Sequence[Dead]]

    def in_order(self, places: Iterable[NumberedPlace]) -> Iterator[Dead]:
        """All of it in document order, which is that of all the entries' places."""
        for source, group in groupby(places, key=itemgetter(0)):
            if source in self.of_sources:
                yield self.of_sources[source]
            for place in group:
                yield from self.of_entries.get(place, ())


class Standings:
    """All that can ever stand where."""

    def __init__(self, standing: Iterable[Standing], board: Board) -> None:
        self._squares: defaultdict[str, set[int]] = defaultdict(set)
        self._every = {*range(len(board.squares))}
        for piece, square in standing:
            self._squares[piece].add(square)
            self._squares[side_of(piece)].add(square)

    def has(self, piece: str, source: int | None) -> bool:
        """Whether a piece ever comes to a square, or into the hand."""
        return (IN_HAND if source is None else source) in self._squares[piece]

    def lost(self, state: str, side: Side) -> set[int]:
        """Where what a piece of a side asks to stand never does; an enemy is somebody of the other side."""
        return self._every - self._squares[other_side(side) if state == ENEMY else state]


def find(pieces: Sequence[ToldPiece], board: Board, start: Iterable[Standing] | None) -> list[Dead]:
    """What is dead of the pieces of a ruleset, in document order; `start` is what stands at first, if that is known.

    A possibility is told of once, as the first of `Dead`'s kinds that it is; and also with a source that is
    unreachable.
    """
    standings = None
    if start is not None:
        standings = Standings(reached({each.piece: each.entries for each in pieces}, start), board)
    return [
        dead
        for piece, entries, places in pieces
        for dead in _of_piece(piece, entries, board, standings).in_order(places)
    ]


def _of_piece(piece: str, entries: Entries, board: Board, standings: Standings | None) -> DeadRules:
    of_sources = {} if standings is None else _unreachable(piece, entries, board, standings)
    rules = _Rules(piece, entries, standings)
    of_entries = {
        (source, destination): [
            Dead(reason.kind, piece, board.label(source), board.label(destination), *reason.told(board))
            for reason in reasons
        ]
        for pattern in entries.patterns
        for source, destination, reasons in rules.reasons(pattern, of_sources.keys())
    }
    return DeadRules(of_sources, of_entries)


def _unreachable(piece: str, entries: Entries, board: Board, standings: Standings) -> dict[int | None, Dead]:
    counts: dict[int | None, int] = {}
    for pattern in entries.patterns:
        for source, _ in entries.places(pattern):
            if not standings.has(piece, source):
                counts[source] = counts.get(source, 0) + len(pattern.told)
    return {
        source: Dead("unreachable", piece, board.label(source), possibilities=count) for source, count in counts.items()
    }


class _Reason(NamedTuple):
    """Why a possibility is dead: it is told with its ordinal, that of another one, and a square with a state."""

    kind: DeadKind
    ordinal: int
    by: int | None = None
    at: tuple[int, str] | None = None

    def told(self, board: Board) -> tuple[int, int | None, str | None, str | None]:
        """The fields of `Dead` from `ordinal` on."""
        square, state = (None, None) if self.at is None else (board.squares[self.at[0]], self.at[1])
        return self.ordinal, self.by, square, state


class _Rules:
    """The possibilities of a piece: which never apply, and which others make needless."""

    def __init__(self, piece: str, entries: Entries, standings: Standings | None) -> None:
        self._piece = piece
        self._side = side_of(piece)
        self._entries = entries
        self._asked = [frozenset(told.asked) for told in entries.told]
        # What tells of an action, or lets chains go on, is as much a part of it.
        self._changes = [(told.changed, told.held, told.turn, told.state, told.action) for told in entries.told]
        self._guards = [{variable: set(values) for variable, values in told.guards} for told in entries.told]
        self._parts = {number: entries.part(number) for number in frozenset().union(*self._asked)}
        # These follow from nothing but themselves.
        self._firm = {
            number for number, (kind, state, _) in self._parts.items() if kind == MUST and state not in (ENEMY, piece)
        }
        self._never = {is_drop: impossible(piece, entries, is_drop=is_drop) for is_drop in (False, True)}
        self._lost = {} if standings is None else self._lost_from(standings)

    def _lost_from(self, standings: Standings) -> dict[int, dict[int, int]]:
        """By number of a condition that asks for what some squares never have: which such square it is of by origin."""
        codes, squares = self._entries.grid.codes, self._entries.grid.by_code
        lost = Known(lambda state: standings.lost(state, self._side))
        found = {}
        for number, (kind, state, place) in self._parts.items():
            if kind == MUST and state != EMPTY and lost[state]:
                origins = ((squares.get(codes[square] - place), square) for square in lost[state])
                found[number] = {origin: square for origin, square in origins if origin is not None}
        return found

    def reasons(
        self, pattern: Pattern, lost_sources: Set[int | None]
    ) -> Iterator[tuple[int | None, int | None, list[_Reason]]]:
        """Why possibilities of the entries of a pattern are dead: source, destination, and what is found, if anything.

        Of a source that is lost, it is not told what is absent.
        """
        never, told = self._never[pattern.is_drop], [*enumerate(pattern.told)]
        impossible = {ordinal: never[number] for ordinal, number in told if number in never}
        needless = self._needless(pattern) if len(told) > 1 else {}
        absent = self._absent(pattern)
        if not (impossible or needless or absent):
            return
        for source, destination in self._entries.places(pattern):
            origin = destination if pattern.is_drop else source
            lacking = {} if source in lost_sources or origin is None else absent.get(origin, {})
            reasons = []
            for ordinal in sorted({*impossible, *needless, *lacking}):
                if ordinal in impossible:
                    reasons.append(_Reason("never", ordinal, None, self._first(impossible[ordinal], origin)))
                elif ordinal in needless:
                    by, is_same = needless[ordinal]
                    reasons.append(_Reason("duplicate" if is_same else "shadowed", ordinal, by))
                else:
                    reasons.append(_Reason("absent", ordinal, None, lacking[ordinal]))
            if reasons:
                yield source, destination, reasons

    def _first(self, found: Iterable[Said], origin: int | None) -> tuple[int, str]:
        """The first square of conditions, with its state, as an entry from this origin has them."""
        grid = self._entries.grid
        base = 0 if origin is None else grid.codes[origin]
        square, _, state = min((grid.by_code[base + each.place], each.kind, str(each.state)) for each in found)
        return square, state

    def _absent(self, pattern: Pattern) -> dict[int, dict[int, tuple[int, str]]]:
        """By origin and ordinal, the first square that never has what a possibility asks to stand there."""
        found: dict[int, dict[int, tuple[int, str]]] = {}
        if not self._lost:
            return found
        origins = {*pattern.origins}
        for ordinal, number in enumerate(pattern.told):
            for each in self._asked[number] & self._lost.keys():
                state = str(self._parts[each].state)
                for origin in self._lost[each].keys() & origins:
                    at = found.setdefault(origin, {})
                    at[ordinal] = min(
                        at.get(ordinal, (self._lost[each][origin], state)), (self._lost[each][origin], state)
                    )
        return found

    def _needless(self, pattern: Pattern) -> dict[int, tuple[int, bool]]:
        """Of a destination's possibilities, those that another one with the same effects makes needless.

        With the ordinal of that one, which holds whenever this one does, and whether its conditions are the very same.
        Of possibilities that hold together, all but the first are needless.
        """
        alike: defaultdict[Any, list[int]] = defaultdict(list)
        for ordinal, number in enumerate(pattern.told):
            alike[self._changes[number]].append(ordinal)

        def follows(one: int, other: int) -> bool:
            return self._follows(pattern.told[one], pattern.told[other], pattern.is_drop)

        found = {}
        for group in alike.values():
            for ordinal in group:
                others = [
                    other
                    for other in group
                    if other != ordinal and follows(other, ordinal) and (other < ordinal or not follows(ordinal, other))
                ]
                if others:
                    said = self._said(pattern.told[ordinal])
                    same = [other for other in others if self._said(pattern.told[other]) == said]
                    found[ordinal] = (same or others)[0], bool(same)
        return found

    def _said(self, number: int) -> tuple[Set[int], dict[str, set[str]]]:
        return self._asked[number], self._guards[number]

    def _follows(self, one: int, other: int, is_drop: bool) -> bool:
        """Whether possibility `one` holds whenever `other` does."""
        further = self._asked[one] - self._asked[other]
        passed = self._guards[other]
        return (
            further.isdisjoint(self._firm)
            and all(self._is_met(self._parts[each], other, is_drop) for each in further)
            and all(name in passed and passed[name] <= values for name, values in self._guards[one].items())
        )

    def _is_met(self, condition: Said, number: int, is_drop: bool) -> bool:
        """Whether a condition that a possibility does not ask itself is met wherever that holds.

        Since a square has one `must` and one `deny` at most, and there is always yet another piece of each side, a
        condition follows from several only where it follows from one of them.
        """
        kind, state, place = condition
        if not is_drop and not place and (kind == MUST) == (state == self._piece):
            return True
        return any(
            each.place == place and implies(each.kind, str(each.state), kind, str(state), self._side)
            for each in map(self._parts.__getitem__, self._asked[number])
        )
