"""The tables of some pieces, each column as one text: to ask a view for its rows takes ten times as long."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from sqlalchemy import Connection, Table, select

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.geometry import Lattice
from ggn_store.store.bulk.vectors import NumberVector, Vectors
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t

AXES: Final = ("file", "rank", "layer")
FARTHEST: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class BoardColumns:
    """A board as the columns of a piece need it: `points` by labels, `steps` as the squares lie."""

    board: Board
    points: Mapping[str, Sequence[int | None]]
    steps: Sequence[Sequence[int | None]]
    order: Sequence[int]
    ranks: Sequence[int]

    @classmethod
    def read(cls, connection: Connection, board_id: int, layout: str | None) -> BoardColumns:
        """A stored board, whose squares lie in this form."""
        board = catalog.read_board(connection, board_id)
        query = (
            select(*(t.square.c[axis] for axis in AXES))
            .where(t.square.c.board_id == board_id)
            .order_by(t.square.c.number)
        )
        points = connection.execute(query).all()
        order = sorted(range(len(board.squares)), key=lambda number: board.squares[number].encode())
        ranks = sorted(range(len(order)), key=order.__getitem__)
        columns = [[row[at] for row in points] for at in range(len(AXES))]
        steps: Sequence[Sequence[int | None]] = columns
        lattice = Lattice.lying(board, layout)
        if lattice is not None and lattice.hexagonal:
            steps = [*zip(*(lattice.points[square] for square in board.squares), strict=True), columns[-1]]
        return cls(board, dict(zip(AXES, columns, strict=True)), steps, order, ranks)


@dataclass(frozen=True, slots=True)
class ConditionColumns:
    """The conditions of pieces in the order of views: possibilities, and ranks of squares and states."""

    at: NumberVector
    is_deny: NumberVector
    square: NumberVector
    state: NumberVector
    states: Sequence[str]


@dataclass(frozen=True, slots=True)
class EffectColumns:
    """What the possibilities of pieces change, in the order of views."""

    at: NumberVector
    is_hand: NumberVector
    square: NumberVector
    becomes: NumberVector
    pieces: Sequence[str | None]
    held: NumberVector
    helds: Sequence[str]
    delta: NumberVector
    deltas: Sequence[int]


@dataclass(frozen=True, slots=True)
class StateColumns:
    """What possibilities say of state variables, in the order of views."""

    at: NumberVector
    variable: NumberVector
    variables: Sequence[str]
    value: NumberVector
    values: Sequence[str]


# By the keys of pieces: how many rows of a table each has, and each column of them as the text of a JSON array.
TableReader = Callable[[Table, Sequence[int]], Mapping[int, Sequence[Any]]]


class PieceTables:
    """What the tables of some pieces hold, as vectors; what is asked for and changed in the order of views.

    The pieces are of one dialect and board, and in the order of their `keys`: rows with what is known of each.
    Sources and possibilities are numbered through all of them. Its methods raise ValueError, LookupError or TypeError
    where rows are not such as this program writes.
    """

    def __init__(self, tables: TableReader, vectors: Vectors, keys: Sequence[Any], place: BoardColumns) -> None:
        self._read = tables
        self.vectors = vectors
        self.keys = keys
        self.place = place
        self.squares = place.board.squares
        self.hand = len(self.squares)
        self._tables: dict[Table, tuple[list[int], dict[str, str]]] = {}
        self._coded: dict[tuple[Table, str], tuple[NumberVector, list[Any]]] = {}
        self._states: dict[Table, StateColumns] = {}

    # --- the tables ---

    def _rows(self, table: Table) -> tuple[list[int], dict[str, str]]:
        """How many rows of a table each piece has, and the columns of all, each as the text of a JSON array."""
        if table not in self._tables:
            found = self._read(table, [key.id for key in self.keys])
            of_pieces = [found[key.id] for key in self.keys if key.id in found]
            names = [each.name for each in table.columns][1:]
            texts = [
                of_pieces[0][at] if len(of_pieces) == 1 else f"[{','.join([row[at][1:-1] for row in of_pieces])}]"
                for at in range(1, len(names) + 1)
            ]
            counts = [found[key.id][0] if key.id in found else 0 for key in self.keys]
            self._tables[table] = counts, dict(zip(names, texts, strict=True))
        return self._tables[table]

    def starts(self, table: Table) -> list[int]:
        """How many rows of a table all pieces before each have, and in the end, how many all of them."""
        return [*accumulate(self._rows(table)[0], initial=0)]

    def numbers(self, table: Table, name: str) -> NumberVector:
        """A column of whole numbers; those of sources and of possibilities as they are numbered through."""
        counts, texts = self._rows(table)
        found = self.vectors.numbers(texts[name])
        if len(found) != sum(counts):
            raise ValueError("not all are whole numbers")
        of = _NUMBERED.get((table, name), _NUMBERED.get((None, name)))
        if of is None or len(counts) == 1:
            return found
        own, starts = self._rows(of)[0], self.starts(of)
        spread, each = self.vectors.spread, self.vectors.each
        is_foreign = each(lambda number, count: (number < 0) | (number >= count), found, spread(own, counts))
        require(len(self.vectors.chosen(found, is_foreign)) == 0)
        return each(lambda number, start: number + start, found, spread(starts[:-1], counts))

    def coded(self, table: Table, name: str) -> tuple[NumberVector, list[Any]]:
        """A column as the places of its values in a list, and that list."""
        if (table, name) not in self._coded:
            self._coded[table, name] = self.vectors.coded(self._rows(table)[1][name])
        return self._coded[table, name]

    def ranked(self, table: Table, name: str) -> tuple[NumberVector, list[str]]:
        """Texts as their places in the order of their bytes, and in that order."""
        at, texts = self.coded(table, name)
        require(all(isinstance(each, str) for each in texts))
        order = sorted(texts, key=str.encode)
        ranks = {text: rank for rank, text in enumerate(order)}
        return self.vectors.take([ranks[text] for text in texts], at), order

    def labels(self, table: Table) -> NumberVector:
        """Squares that may be the hand, which has the number after all squares."""
        at, squares = self.coded(table, "square")
        require(all(each is None or (type(each) is int and 0 <= each < self.hand) for each in squares))
        return self.vectors.take([self.hand if each is None else each for each in squares], at)

    # --- possibilities ---

    @functools.cached_property
    def count(self) -> int:
        """How many possibilities there are."""
        numbers = self.numbers(t.variant, "number")
        require(self.vectors.same(numbers, self.vectors.up_to(len(numbers))))
        return len(numbers)

    @functools.cached_property
    def of_piece(self) -> NumberVector:
        """Which of the pieces each possibility is of."""
        return self.vectors.spread(range(len(self.keys)), self._rows(t.variant)[0])

    @functools.cached_property
    def sources(self) -> NumberVector:
        """The squares of all sources."""
        ordinals = self.numbers(t.source, "ordinal")
        require(self.vectors.same(ordinals, self.vectors.up_to(len(ordinals))))
        return self.labels(t.source)

    @functools.cached_property
    def destinations(self) -> NumberVector:
        """The squares of all destinations."""
        return self.labels(t.destination)

    @functools.cached_property
    def targets(self) -> NumberVector:
        """Which of all destinations each possibility leads to."""
        vectors = self.vectors
        of_rows, of_variants = (
            vectors.each(
                lambda source, ordinal: (source << 32) + ordinal, *(self.numbers(table, name) for name in names)
            )
            for table, names in ((t.destination, ("source", "ordinal")), (t.variant, ("source", "destination")))
        )
        return vectors.found(of_rows, vectors.up_to(len(of_rows)), of_variants, -1)

    @functools.cached_property
    def source(self) -> NumberVector:
        """The square that each possibility leads from."""
        return self.vectors.take(self.sources, self.numbers(t.variant, "source"))

    @functools.cached_property
    def destination(self) -> NumberVector:
        """The square that each possibility leads to."""
        return self.vectors.take(self.destinations, self.targets)

    @functools.cached_property
    def ordinal(self) -> NumberVector:
        """The place of each possibility among those of its destination."""
        return self.numbers(t.variant, "ordinal")

    @functools.cached_property
    def ordered(self) -> list[str]:
        """The labels in the order of their bytes."""
        return [self.squares[number] for number in self.place.order]

    # --- what they ask for and change ---

    @functools.cached_property
    def conditions(self) -> ConditionColumns:
        """What all possibilities ask for."""
        polarity, words = self.coded(t.condition, "polarity")
        denies = self.vectors.take([{"must": 0, "deny": 1}[word] for word in words], polarity)
        square = self.vectors.take(self.place.ranks, self.numbers(t.condition, "square"))
        state, states = self.ranked(t.condition, "state")
        at = self.possibilities(t.condition)
        at, denies, square, state = self._in_order(at, (denies, 2), (square, self.hand), (state, len(states)))
        return ConditionColumns(at, denies, square, state, states)

    def _in_order(self, *columns: Any) -> list[NumberVector]:
        """Possibilities, and columns with what their numbers are below, in the order of all of these."""
        key, *others = columns
        each, found = self.vectors.each, []
        require(self.count * math.prod(bound for _, bound in others) < FARTHEST)
        for column, bound in others:
            key = each(lambda key, number, bound=bound: key * bound + number, key, column)
        last = self.vectors.sorted(key)
        for _, bound in reversed(others):
            key = each(lambda key, bound=bound or 1: key // bound, last)
            found.append(each(lambda last, key, bound=bound: last - key * bound, last, key))
            last = key
        return [last, *reversed(found)]

    def possibilities(self, table: Table) -> NumberVector:
        """The possibilities that rows are of, which must be there."""
        found = self.numbers(table, "variant")
        self.vectors.take(self.ordinal, found)
        return found

    @functools.cached_property
    def changes(self) -> EffectColumns:
        """What all possibilities change."""
        each, take, joined = self.vectors.each, self.vectors.take, self.vectors.joined
        square = take(self.place.ranks, self.numbers(t.effect, "square"))
        becomes, pieces = self.coded(t.effect, "becomes")
        require(all(piece is None or isinstance(piece, str) for piece in pieces))
        held, helds = self.ranked(t.hand_effect, "piece")
        delta, deltas = self.coded(t.hand_effect, "delta")
        require(all(type(each) is int for each in deltas))
        # What is of a hand comes after all squares.
        order = joined(square, each(lambda rank: rank + self.hand, held))
        what = joined(becomes, each(lambda place: place + len(pieces), delta))
        at = joined(self.possibilities(t.effect), self.possibilities(t.hand_effect))
        bounds = self.hand + len(helds) + 1, len(pieces) + len(deltas) + 1
        at, place, what = self._in_order(at, (order, bounds[0]), (what, bounds[1]))
        is_hand = each(lambda place: (place >= self.hand) * 1, place)
        # A place past the last is that of nothing.
        return EffectColumns(
            at,
            is_hand,
            each(lambda place, is_hand: place * (1 - is_hand) + self.hand * is_hand, place, is_hand),
            each(lambda what, is_hand: what * (1 - is_hand) + len(pieces) * is_hand, what, is_hand),
            pieces,
            each(lambda place, is_hand: (place - self.hand) * is_hand + len(helds) * (1 - is_hand), place, is_hand),
            helds,
            each(lambda what, is_hand: (what - len(pieces)) * is_hand + len(deltas) * (1 - is_hand), what, is_hand),
            deltas,
        )

    def state(self, table: Table) -> StateColumns:
        """What all possibilities ask of state variables, or change of them."""
        if table not in self._states:
            variable, variables = self.ranked(table, "variable")
            value, values = self.ranked(table, "value")
            at = self.possibilities(table)
            at, variable, value = self._in_order(at, (variable, len(variables)), (value, len(values)))
            self._states[table] = StateColumns(at, variable, variables, value, values)
        return self._states[table]


# Of what the columns of whole numbers are that are numbered through, in one table or in all that have them.
_NUMBERED: Final[Mapping[tuple[Table | None, str], Table]] = {
    (t.source, "ordinal"): t.source,
    (None, "source"): t.source,
    (t.variant, "number"): t.variant,
    (None, "variant"): t.variant,
}


def require(is_ours: bool) -> None:
    """Raise ValueError where rows are not such as this program writes."""
    if not is_ours:
        raise ValueError("no row that this program writes")
