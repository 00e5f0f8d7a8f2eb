"""The rows that views have of pieces, as columns made from their tables; a test compares them with the views."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Table

from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.notation.hand import HAND
from ggn_store.store.bulk.piece_tables import AXES, PieceTables
from ggn_store.store.bulk.vectors import NumberVector, Vectors, coded, firsts
from ggn_store.store.schema import tables as t

# An integer that is NULL: no distance is as far.
NULL: Final = -(1 << 40)
_CAPTURES: Final = (None, "displacing", "elsewhere", "by_another", "either")
_NO_CAPTURE: Final = len(_CAPTURES)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: in each row the value at a place in `values`, or an integer itself, or simply each of the values."""

    values: Sequence[Any] | None = None
    at: NumberVector = None

    def __len__(self) -> int:
        return len(self.values if self.at is None else self.at)  # type: ignore[arg-type]

    def cut(self, first: int, last: int) -> Column:
        """The rows from `first` to before `last`."""
        if self.at is None:
            return Column((self.values or ())[first:last])
        return Column(self.values, self.at[first:last])

    def different(self, vectors: Vectors) -> tuple[Sequence[Any], NumberVector]:
        """The different values of the rows, and which of these each row has."""
        if self.at is None:
            at, values = coded(self.values or ())
            return values, vectors.take(at, vectors.up_to(len(at)))
        numbers, at = vectors.different(self.at)
        if self.values is None:
            return [None if each == NULL else each for each in numbers], at
        return [self.values[each] for each in numbers], at

    def plain(self) -> Sequence[Any]:
        """The values of all rows."""
        if self.at is None:
            return self.values or ()
        members = self.at if isinstance(self.at, list) else self.at.tolist()
        if self.values is None:
            return [None if each == NULL else each for each in members]
        return list(map(self.values.__getitem__, members))


class PieceColumns:
    """The rows of pieces in the views of rules, without ruleset and revision.

    Its methods raise ValueError, LookupError or TypeError where rows are not such as this program writes.
    """

    def __init__(self, tables: PieceTables) -> None:
        self._tables = tables
        self._keys = tables.keys
        self._vectors = tables.vectors

    def of(self, view: str) -> dict[str, Column]:
        """The columns of a view by name."""
        return _VIEWS[view](self)

    def _placed(self, at: NumberVector) -> dict[str, Column]:
        """The columns that say of which possibility a row is."""
        labels, take = (*self._tables.squares, HAND), self._vectors.take
        piece = take(self._tables.of_piece, at)
        starts = take(self._tables.starts(t.variant), piece)
        return {
            "piece": self._of_key("identifier", piece),
            "source": Column(labels, take(self._tables.source, at)),
            "destination": Column(labels, take(self._tables.destination, at)),
            "ordinal": Column(None, take(self._tables.ordinal, at)),
            "piece_id": self._of_key("id", piece),
            "possibility": Column(None, self._vectors.each(lambda at, start: at - start, at, starts)),
        }

    def _of_key(self, name: str, piece: NumberVector) -> Column:
        """What is known of the piece of each row."""
        at, values = coded([getattr(key, name) for key in self._keys])
        return Column(values, self._vectors.take(at, piece))

    def _judged(
        self, judge: Callable[[Any, Any], int], values: Sequence[Any], value: NumberVector, at: NumberVector
    ) -> NumberVector:
        """What is said of the value in each row, and of the piece that its possibility is of."""
        table = [judge(each, key) for each in values for key in self._keys]
        piece, count = self._vectors.take(self._tables.of_piece, at), len(self._keys)
        return self._vectors.take(table, self._vectors.each(lambda value, piece: value * count + piece, value, piece))

    # --- the views ---

    def _of_moves(self) -> dict[str, Column]:
        count = self._tables.count
        toggle, words = self._tables.coded(t.variant, "toggle")
        is_drop = self._vectors.each(lambda source: (source == self._tables.hand) * 1, self._tables.source)
        capture, stays, is_plain = self._deeds()
        must, required = self._must, self._tables.conditions.states
        return {
            **self._placed(self._vectors.up_to(count)),
            "side": self._of_key("side", self._tables.of_piece),
            "requires": Column(
                (*required, None), self._vectors.found(*must, self._square_of(self._tables.destination), len(required))
            ),
            "toggle": Column([None if word is None else bool(word) for word in words], toggle),
            "is_drop": Column([False, True], is_drop),
            **self._origins(),
            **{axis: Column((*self._tables.place.points[axis], None), self._tables.source) for axis in AXES},
            **{f"d{name}": self._distance(steps) for steps, name in zip(self._tables.place.steps, "xyz", strict=True)},
            "capture": Column((*_CAPTURES, None), capture),
            "promotes": Column([True, False], stays),
            "castles": Column([True, False], is_plain),
            "squares_off_path": Column(None, self._off_path()),
        }

    def _distance(self, steps: Sequence[int | None]) -> Column:
        points = [point for point in steps if point is not None]
        if len(points) < self._tables.hand:
            return Column([None], self._vectors.spread([0], [self._tables.count]))
        # So far away that every distance from or to the hand is that of nothing.
        table = [*points, NULL]
        first, second = (self._vectors.take(table, each) for each in (self._tables.source, self._tables.destination))
        return Column(
            None,
            self._vectors.each(
                lambda first, second: (
                    (second - first) * ((first != NULL) & (second != NULL))
                    + NULL * ((first == NULL) | (second == NULL))
                ),
                first,
                second,
            ),
        )

    def _origins(self) -> dict[str, Column]:
        at = self._tables.possibilities(t.variant_origin)
        rows = self._vectors.up_to(len(at))
        found = self._vectors.found(at, rows, self._vectors.up_to(self._tables.count), len(at))
        columns = {}
        for name in ("action", "step", "chainable"):
            codes, values = self._tables.coded(t.variant_origin, name)
            shown = [bool(value) for value in values] if name == "chainable" else values
            of_row = [*self._vectors.plain(codes), len(values)]
            columns[name] = Column((*shown, None), self._vectors.take(of_row, found))
        return columns

    def _square_of(self, square: NumberVector) -> NumberVector:
        """A key of a square for a possibility; squares by their ranks, the hand behind them."""
        ranked = self._vectors.take((*self._tables.place.ranks, self._tables.hand), square)
        return self._keyed(self._vectors.up_to(self._tables.count), ranked)

    def _keyed(self, at: NumberVector, ranked: NumberVector) -> NumberVector:
        return self._vectors.each(lambda at, rank: at * (self._tables.hand + 1) + rank, at, ranked)

    @functools.cached_property
    def _must(self) -> tuple[NumberVector, NumberVector]:
        """What must stand on a square, by the key of possibility and square."""
        conditions = self._tables.conditions
        musts = self._vectors.each(lambda deny: 1 - deny, conditions.is_deny)
        keys = self._keyed(conditions.at, conditions.square)
        return self._vectors.chosen(keys, musts), self._vectors.chosen(conditions.state, musts)

    def _off_path(self) -> NumberVector:
        """How many squares each possibility asks about that are not source, destination or between."""
        vectors, tables = self._vectors, self._tables
        each, take, count = vectors.each, vectors.take, tables.count
        conditions = tables.conditions
        keys = vectors.sorted(self._keyed(conditions.at, conditions.square))
        keys = vectors.chosen(keys, firsts(vectors, keys))
        width = tables.hand + 1
        at = each(lambda key: key // width, keys)
        square = take(tables.place.order, each(lambda key: key % width, keys))
        source, destination = take(tables.source, at), take(tables.destination, at)
        is_off = each(lambda square, *ends: (square != ends[0]) & (square != ends[1]), square, source, destination)
        if all(point is not None for point in tables.place.steps[0]):
            hand = tables.hand
            is_off = each(
                lambda off, here, there, between: off & ((here == hand) | (there == hand) | (between == 0)),
                is_off,
                source,
                destination,
                self._is_between(square, source, destination),
            )
        places = vectors.bounds(vectors.chosen(at, is_off), vectors.up_to(count + 1))
        return each(lambda last, first: last - first, places[1:], places[:-1])

    def _is_between(self, square: NumberVector, source: NumberVector, destination: NumberVector) -> NumberVector:
        """1 where a square lies strictly between source and destination, on a straight line; the hand counts as any."""
        each, take = self._vectors.each, self._vectors.take
        tables = [[*(step or 0 for step in steps), 0] for steps in self._tables.place.steps]
        aside, whole = (
            [each(lambda to, start: to - start, take(table, to), take(table, source)) for table in tables]
            for to in (square, destination)
        )
        return each(
            lambda x, y, z, dx, dy, dz: (
                (
                    (x * dy == y * dx)
                    & (x * dz == z * dx)
                    & (y * dz == z * dy)
                    & (x * dx + y * dy + z * dz > 0)
                    & (x * dx + y * dy + z * dz < dx * dx + dy * dy + dz * dz)
                )
                * 1
            ),
            *aside,
            *whole,
        )

    def _deeds(self) -> tuple[NumberVector, NumberVector, NumberVector]:
        """The kind of capture of each possibility; 0 where it promotes, and where it castles, else 1."""
        vectors, each, take = self._vectors, self._vectors.each, self._vectors.take
        conditions = self._tables.conditions
        if self._keys[0].dialect == "must-deny":
            # Where no effects are told, the piece stands on its destination.
            is_square = each(lambda square: (square != self._tables.hand) * 1, self._tables.destination)
            at = vectors.chosen(vectors.up_to(self._tables.count), is_square)
            square = take(self._tables.place.ranks, vectors.chosen(self._tables.destination, is_square))
            becomes, pieces = take(self._tables.of_piece, at), [key.identifier for key in self._keys]
        else:
            changes = self._tables.changes
            of_board = each(lambda is_hand: 1 - is_hand, changes.is_hand)
            at, square, becomes = (
                vectors.chosen(each, of_board) for each in (changes.at, changes.square, changes.becomes)
            )
            pieces = list(changes.pieces)
        keys = self._keyed(at, square)
        must = vectors.found(*self._must, keys, len(conditions.states))
        wanted = self._judged(_wants, (*conditions.states, None), must, at)
        is_other = self._judged(_is_other, pieces, becomes, at)
        empties = take([int(piece is None) for piece in pieces] or [0], becomes)
        target = take(self._square_of(self._tables.destination), at)
        leaves = take(self._square_of(self._tables.source), at)
        is_target, is_source = (each(lambda key, end: (key == end) * 1, keys, end) for end in (target, leaves))
        is_mover = self._judged(_is_same, pieces, becomes, at)
        goes = each(lambda source, mover: 1 - source * (1 - mover), is_source, is_mover)
        stays = take(vectors.plain(vectors.least(at, goes, self._tables.count, 1)), at)
        is_enemy = [int(state == ENEMY) for state in conditions.states]
        denies = each(lambda deny, enemy: deny * enemy, conditions.is_deny, take(is_enemy or [0], conditions.state))
        denied = vectors.chosen(self._keyed(conditions.at, conditions.square), denies)
        safe = vectors.found(denied, each(lambda key: key * 0 + 1, denied), keys, 0)
        kind = each(
            lambda other, wanted, target, empties, leaves, safe, stays: (
                (1 - other * (1 - target * (1 - stays)))
                * (
                    (wanted == 1) * (target + (1 - target) * (3 - empties))
                    + (wanted == 0) * 4 * (1 - leaves) * (1 - safe)
                )
            ),
            is_other,
            wanted,
            is_target,
            empties,
            is_source,
            safe,
            stays,
        )
        kind = each(lambda kind: kind + (kind == 0) * _NO_CAPTURE, kind)
        promotes = self._judged(_is_better, pieces, becomes, at)
        stays = each(lambda promotes, target: 1 - promotes * target, promotes, is_target)
        return (
            vectors.least(at, kind, self._tables.count, _NO_CAPTURE),
            vectors.least(at, stays, self._tables.count, 1),
            self._castles(at, must, becomes, pieces, is_target, is_source),
        )

    def _castles(
        self,
        at: NumberVector,
        must: NumberVector,
        becomes: NumberVector,
        pieces: Sequence[str | None],
        is_target: NumberVector,
        is_source: NumberVector,
    ) -> NumberVector:
        """0 where another own piece leaves its square, and one comes to stand where the mover does not go; else 1."""
        vectors, each, take, count = self._vectors, self._vectors.each, self._vectors.take, self._tables.count
        states = (*self._tables.conditions.states, None)
        (was, is_same), (now, is_mover) = (
            [self._judged(judge, known, value, at) for judge in (_is_own, _is_same)]
            for known, value in ((states, must), (pieces, becomes))
        )
        is_nowhere = vectors.least(at, each(lambda is_mover: 1 - is_mover, is_mover), count, 1)
        is_elsewhere = take([1, 0], take(vectors.plain(is_nowhere), at))
        remains = each(
            lambda was, now, same, target, source, mover: (
                1 - was * (1 - source) * (1 - now * (1 - target) * (1 - mover * (1 - same)))
            ),
            *(was, now, is_same, is_target, is_source, is_mover),
        )
        is_none_new = each(
            lambda was, now, target, mover, elsewhere: (
                1 - now * (1 - was) * (1 - target * (1 - (1 - mover) * elsewhere))
            ),
            *(was, now, is_target, is_mover, is_elsewhere),
        )
        return each(
            lambda remains, is_none_new: remains | is_none_new,
            *(vectors.least(at, found, count, 1) for found in (remains, is_none_new)),
        )

    def _of_conditions(self) -> dict[str, Column]:
        found = self._tables.conditions
        return {
            **self._placed(found.at),
            "polarity": Column(["must", "deny"], found.is_deny),
            "square": Column(self._tables.ordered, found.square),
            "state": Column(found.states, found.state),
        }

    def _of_effects(self) -> dict[str, Column]:
        found = self._tables.changes
        return {
            **self._placed(found.at),
            "kind": Column(["square", "hand"], found.is_hand),
            "square": Column((*self._tables.ordered, None), found.square),
            "becomes": Column((*found.pieces, None), found.becomes),
            "held": Column((*found.helds, None), found.held),
            "delta": Column((*found.deltas, None), found.delta),
        }

    def _of_state(self, table: Table) -> dict[str, Column]:
        found = self._tables.state(table)
        return {
            **self._placed(found.at),
            "variable": Column(found.variables, found.variable),
            "value": Column(found.values, found.value),
        }


def _side(identifier: str) -> str:
    """Whose piece an identifier names, as the views tell it."""
    return "first" if identifier[:1].upper() == identifier[:1] else "second"


def _wants(state: str | None, own: Any) -> int:
    """What must stand there: 0 nothing, 1 what is taken, 2 something else."""
    if state is None:
        return 0
    return 1 if state == ENEMY or (state != EMPTY and _side(state) != own.side) else 2


def _is_same(piece: str | None, own: Any) -> bool:
    return bool(piece == own.identifier)


def _is_own(piece: str | None, own: Any) -> bool:
    return piece not in (None, EMPTY, ENEMY) and _side(str(piece)) == own.side


def _is_other(piece: str | None, own: Any) -> bool:
    return piece is not None and piece != own.identifier and _side(piece) != own.side


def _is_better(piece: str | None, own: Any) -> bool:
    """Whether a piece is what another one is promoted to."""
    if piece is None or piece == own.identifier or _side(piece) != own.side:
        return False
    bare, own_bare = (text.translate(_MARKS) for text in (piece, own.identifier))
    return bare != own_bare or ("+" in piece and "+" not in own.identifier)


_MARKS: Final = str.maketrans("", "", "+-^")

_VIEWS: Final[Mapping[str, Callable[[PieceColumns], dict[str, Column]]]] = {
    "v_moves": PieceColumns._of_moves,
    "v_conditions": PieceColumns._of_conditions,
    "v_effects": PieceColumns._of_effects,
    "v_guards": lambda piece: piece._of_state(t.guard),
    "v_state_effects": lambda piece: piece._of_state(t.state_effect),
}
