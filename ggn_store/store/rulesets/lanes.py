"""A piece's possibilities -> lanes: one row answers for all that it can reach from a source, or for most of it.

A *fact* is a square and a statement of what stands there; in a position it is true or false. A lane is up to 63 facts
in an order, and a position gives it a word: bit i is set where fact i is true. The facts lie in *chains*, one behind
the other. A possibility is one `target` of a chain, a fact, and holds where the target is true and all facts of `path`
before it in its chain; so a rook's way to the north is the chain (enemy on e2, empty e2, enemy on e3, empty e3, ...),
whose facts are all targets, and whose empty squares are the path. A leap is a chain of one. In a word:

    open    = word & path | passed          passed: the targets of a chain that are not on its path, but its last fact
    reached = word & target & (open # (open + first))                                          first: where chains begin

where # is exclusive or: adding `first` carries through the facts of a chain up to the first that is not open. The last
fact of a chain is never open, so that nothing carries on into the next chain.

A statement is written as the state that the square must have (`empty`, `enemy`, an identifier, or nothing), and then
each state that it must not have after a `!`; alternatives are set apart by `|`. A statement about a state variable is
a list of its name and the values that it may have. A fact is a number: of the statement among those of the lane, times
the number of squares of the board, plus the number of the square (0 for a variable). Several facts can be one, which is
true where they all are: their numbers with `+` between them. Such are the targets of possibilities that have guards,
and where a chain would be too long, what its path begins with.

Each target stands for `each` possibilities for each of its alternatives; `numbers` lists them, target by target.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from sqlalchemy import ColumnElement

from ggn_store import limits
from ggn_store.errors import StoreError, quote
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY, Piece, Possibility
from ggn_store.model.documents.lane import Statement
from ggn_store.model.known import Known
from ggn_store.notation.hand import HAND
from ggn_store.store.schema import tables as t

# What `piece.lanes` says of a piece whose lanes are as they are made here.
VERSION: Final = 2
# The highest bit of a word is its sign in databases.
FACTS: Final = 63
# A path that is longer than this begins with facts about several squares.
_LONG_PATH: Final = 40
# So many lanes are kept for others that are equal.
_KNOWN: Final = 20_000
# In the key of a lane, which has the piece above the source, and the source above the number of the lane: the bit
# that the key of the piece begins at one bit, the source at the other. So many lanes a source can have.
OF_PIECE: Final = 35
LANES: Final = limits.LANES.default
OF_SOURCE: Final = LANES.bit_length() - 1


def key_of(piece_id: int, source: int | None) -> int:
    """The lowest key that a lane of a piece can have from the square of this number, or from the hand (None)."""
    return piece_id << OF_PIECE | (0 if source is None else source + 1) << OF_SOURCE


def last_of(key: int) -> int:
    """The highest key of the same piece and source, of the lowest one."""
    return key | LANES - 1


def source_of(key: int) -> int | None:
    """The number of the square that the lane of a key is of, None for the hand."""
    place = key >> OF_SOURCE & (1 << OF_PIECE - OF_SOURCE) - 1
    return place - 1 if place else None


def is_of(piece_id: int) -> ColumnElement[bool]:
    """Whether a row of the table is one of a piece's."""
    return t.lane.c.key.between(key_of(piece_id, None), key_of(piece_id + 1, None) - 1)


@dataclass(slots=True)
class _Entry:
    """A fact in a chain, or several at once, as bits; and the numbers of the possibilities that it is the target of.

    `is_path`: what comes after it in the chain asks for it, too.
    """

    bits: int
    is_path: bool
    numbers: Sequence[int] = ()


# For each path the targets behind it, each with the numbers of its possibilities.
_Targets = dict[int, list[tuple[int, Sequence[int]]]]


class Encoder:
    """Makes the lanes of pieces on a board; what it has learnt of one piece helps with the next.

    The lanes of a piece are the same whichever pieces came before, and in whatever order it says its conditions.
    """

    def __init__(self, board: Board) -> None:
        self._size = max(1, len(board.squares))
        self._numbers = board.numbers
        # A fact is a bit of a path.
        self._facts = facts = list[tuple[int, Statement]]()
        # Bits are numbered as they come; where an order matters, it is that of squares and statements.
        self._rank = rank = dict[int, tuple[int, bool, Statement]]()

        # Without `self`, or only the collector would free what is kept here.
        def bit(fact: tuple[int, Statement]) -> int:
            made = 1 << len(facts)
            facts.append(fact)
            rank[made] = fact[0], isinstance(fact[1], str), fact[1]
            return made

        self._bits: dict[tuple[int, Statement], int] = Known(bit)
        bits = self._bits
        self._must = Known(lambda item: bits[board.numbers[item[0]], item[1]])
        self._deny = Known(lambda item: bits[board.numbers[item[0]], f"!{item[1]}"])
        self._texts_by_bits: dict[tuple[Statement, ...], dict[int, str]] = {}
        # Pieces that move alike have equal lanes, but for where their numbers begin.
        self._known: dict[tuple[tuple[int, int], ...], list[tuple[Any, ...]]] = {}
        self._kept = 0

    def rows_of(self, piece_id: int, piece: Piece) -> list[tuple[Any, ...]]:
        """The lanes of a piece of this key, each as the values of a row."""
        first = key_of(piece_id, None)
        return [(first + key, *row) for key, *row in self.rows(piece)]

    def rows(self, piece: Piece) -> Iterator[tuple[Any, ...]]:
        """The lanes of a piece, each as the values of a row, as if the piece's key were 0.

        Raises StoreError where a source has too many.
        """
        first = 0
        for source in piece.sources:
            asked = tuple(
                [
                    self._slot(possibility, destination.square)
                    for destination in source.destinations
                    for possibility in destination.possibilities
                ]
            )
            found = self._known_lanes(asked)
            if len(found) > LANES:
                raise StoreError(
                    f"{piece.identifier} has {len(asked):,} possibilities from {quote(source.square)}, with too many "
                    f"different conditions for one square: {len(found):,} lanes, of at most {LANES:,}"
                )
            place = None if source.square == HAND else self._numbers[source.square]
            for key, (*values, numbers) in enumerate(found, start=key_of(0, place)):
                yield (key, *values, " ".join([str(first + number) for number in numbers]))
            first += len(asked)

    def _known_lanes(self, asked: tuple[tuple[int, int], ...]) -> list[tuple[Any, ...]]:
        """The lanes of a source by what its possibilities ask for, whose numbers begin at 0 there."""
        found = self._known.get(asked)
        if found is None:
            slots: dict[tuple[int, int], list[int]] = {}
            for number, slot in enumerate(asked):
                slots.setdefault(slot, []).append(number)
            if self._kept > _KNOWN:
                self._known.clear()
                self._texts_by_bits.clear()
                self._kept = 0
            found = self._known[asked] = list(self._lanes(slots))
            self._kept += len(found)
        return found

    def _slot(self, possibility: Possibility, destination: str) -> tuple[int, int]:
        """What a possibility asks for, as bits: its path, and its target.

        That is its destination where it can be, but guards where it has any: many possibilities differ in these alone.
        """
        must, deny = possibility.must, possibility.deny
        if deny and not must.keys().isdisjoint(deny):
            asked = {square: self._must[square, state] for square, state in must.items() if square not in deny}
            for square, state in deny.items():
                asked[square] = self._bits[self._numbers[square], f"{must.get(square, '')}!{state}"]
            target = asked.get(destination, 0)
            bits = functools.reduce(int.__or__, asked.values())
        else:
            bits = 0
            for item in must.items():
                bits |= self._must[item]
            for item in deny.items():
                bits |= self._deny[item]
            target = 0
            if destination in must:
                target = self._must[destination, must[destination]]
            elif destination in deny:
                target = self._deny[destination, deny[destination]]
        if possibility.guards:
            return bits, self._guarded(possibility.guards)
        if not target:
            target = self._ordered(bits)[-1] if bits else self._bits[0, ""]
        return bits & ~target, target

    def _guarded(self, guards: Mapping[str, Sequence[str]]) -> int:
        """What guards ask for, as bits."""
        said = sorted((name, *values) for name, values in guards.items())
        bits = sum([self._bits[0, each] for each in said])
        self._rank[bits] = 0, False, tuple(chain.from_iterable(said))
        return bits

    def _lanes(self, slots: Mapping[tuple[int, int], list[int]]) -> Iterator[tuple[Any, ...]]:
        """The lanes of a source, from the numbers of the possibilities that ask for the same."""
        for each, targets in self._targets(slots).items():
            filled: list[list[list[_Entry]]] = [[]]
            for entries in self._chains(targets):
                if sum(map(len, filled[-1])) + len(entries) > FACTS:
                    filled.append([])
                filled[-1].append(entries)
            for chains in filled:
                statements = self._statements(chain.from_iterable(chains))
                yield each, *_masks(chains), _json(statements), *self._texts(statements, chains)

    def _targets(self, slots: Mapping[tuple[int, int], list[int]]) -> dict[int, _Targets]:
        """The targets by the number of their possibilities; pieces named alike on a square are alternatives."""
        found: dict[int, _Targets] = {}
        named: dict[tuple[int, int, int], list[tuple[str, list[int]]]] = {}
        for (path, target), numbers in slots.items():
            square, statement = self._facts[target.bit_length() - 1]
            if _is_name(statement):
                named.setdefault((path, square, len(numbers)), []).append((str(statement), numbers))
            else:
                found.setdefault(len(numbers), {}).setdefault(path, []).append((target, numbers))
        for (path, square, each), alternatives in named.items():
            alternatives.sort()
            target = self._bits[square, "|".join(name for name, _ in alternatives)]
            listed = list(chain.from_iterable(numbers for _, numbers in alternatives))
            found.setdefault(each, {}).setdefault(path, []).append((target, listed))
        return found

    def _chains(self, targets: _Targets) -> Iterator[list[_Entry]]:
        """The targets in chains as long as can be, those without a path that begin none each alone."""
        # What a path comes after: a path and one of its targets.
        before: dict[int, int] = {}
        for path, found in targets.items():
            for target, _ in found:
                if path | target in targets:
                    before.setdefault(path | target, path)
        left = dict(targets)
        for path in sorted(
            targets, key=lambda path: (-path.bit_count(), [self._rank[bit] for bit in self._ordered(path)])
        ):
            if not path or path not in left:
                continue
            paths = [path]
            while shorter := self._before(paths[-1], before, left):
                paths.append(shorter)
            segments = [(each, left.pop(each)) for each in reversed(paths)]
            if shorter == 0:
                squares = self._squares(segments[0][0])
                begin = [each for each in left[0] if not self._squares(each[0]).isdisjoint(squares)]
                left[0] = [each for each in left[0] if each not in begin]
                segments.insert(0, (0, begin))
            yield from self._entries(segments)
        for target, numbers in left.get(0, ()):
            yield [_Entry(target, False, numbers)]

    def _before(self, path: int, before: Mapping[int, int], left: _Targets) -> int | None:
        """The path that lacks one fact of `path` and is still to be put into a chain; None where there is none."""
        if before.get(path) in left:
            return before[path]
        return next((path ^ bit for bit in self._ordered(path) if path ^ bit in left), None)

    def _ordered(self, bits: int) -> list[int]:
        """The facts among some bits, in their order."""
        found = list(_bits(bits))
        if len(found) > 1:
            found.sort(key=self._rank.__getitem__)
        return found

    def _squares(self, bits: int) -> set[int]:
        if not bits & (bits - 1):
            return {self._facts[bits.bit_length() - 1][0]}
        return {self._facts[bit.bit_length() - 1][0] for bit in _bits(bits)}

    def _entries(self, segments: Sequence[tuple[int, list[tuple[int, Sequence[int]]]]]) -> Iterator[list[_Entry]]:
        """The entries of a chain, or of several where there are too many for one."""
        entries: list[_Entry] = []
        passed = 0
        for (path, targets), (after, _) in zip(segments, [*segments[1:], (0, [])], strict=True):
            # The one that is on the path to the next comes last: nothing else lies between it and what it opens.
            for target, numbers in sorted(targets, key=lambda each: (each[0] & after != 0, self._rank[each[0]])):
                fresh = path & ~passed
                if len(entries) + fresh.bit_count() + 1 > FACTS:
                    if entries:
                        yield entries
                    entries, fresh = self._leading(path), 0
                if entries and entries[-1].bits & fresh and not entries[-1].is_path:
                    entries[-1].is_path = True
                    fresh &= ~entries[-1].bits
                entries += [_Entry(bit, True) for bit in self._ordered(fresh)]
                passed = path
                entries.append(_Entry(target, False, numbers))
        yield entries

    def _leading(self, path: int) -> list[_Entry]:
        """The entries of a path that a chain begins with; of a long one a few, or one, each about several squares."""
        if path.bit_count() <= _LONG_PATH:
            return [_Entry(bit, True) for bit in self._ordered(path)]
        found: dict[Statement, int] = {}
        for bit in self._ordered(path):
            statement = self._facts[bit.bit_length() - 1][1]
            found[statement] = found.get(statement, 0) | bit
        if len(found) >= FACTS:  # which would leave no room for a target
            return [_Entry(path, True)]
        return [_Entry(bits, True) for bits in found.values()]

    def _statements(self, entries: Iterable[_Entry]) -> tuple[Statement, ...]:
        """What the facts of a lane say; `empty` and `enemy` are together, so that most lanes say the same."""
        bits = chain.from_iterable([self._ordered(entry.bits) for entry in entries])
        found = dict.fromkeys([self._facts[bit.bit_length() - 1][1] for bit in bits])
        return _BASIC if found.keys() <= _BASIC_SET else tuple(found)

    def _texts(self, statements: tuple[Statement, ...], chains: list[list[_Entry]]) -> tuple[str, list[int]]:
        """The facts of a lane as they are stored, and its numbers."""
        known = self._texts_by_bits.setdefault(statements, {})
        facts: list[str] = []
        numbers: list[int] = []
        for entry in chain.from_iterable(chains):
            text = known.get(entry.bits)
            if text is None:
                said = [self._facts[bit.bit_length() - 1] for bit in _bits(entry.bits)]
                of_entry = sorted([statements.index(statement) * self._size + square for square, statement in said])
                text = known[entry.bits] = "+".join(map(str, of_entry))
            facts.append(text)
            numbers += entry.numbers
        return " ".join(facts), numbers


_BASIC: Final = (EMPTY, ENEMY)
_BASIC_SET: Final = frozenset(_BASIC)


def _is_name(statement: Statement) -> bool:
    """Whether it says which piece stands on a square, and no more."""
    return isinstance(statement, str) and bool(statement) and statement not in _BASIC_SET and "!" not in statement


def _masks(chains: list[list[_Entry]]) -> tuple[int, int, int, int]:
    """path, passed, first and target of a lane."""
    path = passed = first = target = 0
    bit = 1
    for entries in chains:
        first |= bit
        for entry in entries:
            if entry.is_path:
                path |= bit
            elif entry is not entries[-1]:
                passed |= bit
            if entry.numbers:
                target |= bit
            bit <<= 1
        path &= ~(bit >> 1)
    return path, passed, first, target


@functools.lru_cache(maxsize=4096)
def _json(statements: tuple[Statement, ...]) -> str:
    return json.dumps(statements, ensure_ascii=False, separators=(",", ":"))


def _bits(bits: int) -> Iterator[int]:
    while bits:
        bit = bits & -bits
        yield bit
        bits ^= bit
