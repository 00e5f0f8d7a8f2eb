"""The rows that views have of a piece, as columns that are made from its tables; a test compares them with the views.

The tables are read as a whole, each column as one text: to ask a view for the rows of a piece takes ten times as long.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, Table, bindparam, select
from sqlalchemy.exc import DBAPIError

from ggn_store.errors import DamagedError, quote
from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY, Digests
from ggn_store.notation.hand import HAND
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t
from ggn_store.store.sql.vectors import Vector, Vectors

# An integer that is NULL: no distance is as far.
NULL: Final = -(1 << 40)
_FARTHEST: Final = 1 << 62
_PIECE: Final[BindParameter[int]] = bindparam("piece")
_AXES: Final = ("file", "rank", "layer")
_CAPTURES: Final = (None, "displacing", "elsewhere", "by_another", "either")
_NO_CAPTURE: Final = len(_CAPTURES)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: in each row the value at a place in `values`, or an integer itself, or simply each of the values."""

    values: Sequence[Any] | None = None
    at: Vector = None

    def __len__(self) -> int:
        return len(self.values if self.at is None else self.at)  # type: ignore[arg-type]

    def cut(self, first: int, last: int) -> Column:
        """The rows from `first` to before `last`."""
        if self.at is None:
            return Column((self.values or ())[first:last])
        return Column(self.values, self.at[first:last])

    def plain(self) -> Sequence[Any]:
        """The values of all rows."""
        if self.at is None:
            return self.values or ()
        members = self.at if isinstance(self.at, list) else self.at.tolist()
        if self.values is None:
            return [None if each == NULL else each for each in members]
        return list(map(self.values.__getitem__, members))


@dataclass(frozen=True, slots=True)
class Place:
    """A board as the columns of a piece need it."""

    board: Board
    points: Mapping[str, Sequence[int | None]]
    order: Sequence[int]
    ranks: Sequence[int]

    @classmethod
    def read(cls, connection: Connection, board_id: int) -> Place:
        """A stored board."""
        board = catalog.read_board(connection, board_id)
        columns = (t.square.c[axis] for axis in _AXES)
        query = select(*columns).where(t.square.c.board_id == board_id).order_by(t.square.c.number)
        points = connection.execute(query).all()
        order = sorted(range(len(board.squares)), key=lambda number: board.squares[number].encode())
        ranks = sorted(range(len(order)), key=order.__getitem__)
        return cls(board, {axis: [row[at] for row in points] for at, axis in enumerate(_AXES)}, order, ranks)


@dataclass(frozen=True, slots=True)
class _Conditions:
    """The conditions of a piece in the order of views: possibilities, and ranks of squares and states."""

    at: Vector
    is_deny: Vector
    square: Vector
    state: Vector
    states: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Changes:
    """What the possibilities of a piece change, in the order of views."""

    at: Vector
    is_hand: Vector
    square: Vector
    becomes: Vector
    pieces: Sequence[str | None]
    held: Vector
    helds: Sequence[str]
    delta: Vector
    deltas: Sequence[int]


# How many rows of a table a piece has, and each column of them as the text of a JSON array.
Tables = Callable[[Table, int], Sequence[Any]]


class PieceColumns:
    """The rows of a piece in the views of rules, without ruleset and revision.

    Its methods raise ValueError, LookupError or TypeError where rows are not such as this program writes.
    """

    def __init__(self, tables: Tables, vectors: Vectors, key: Any, place: Place) -> None:
        self._read = tables
        self._vectors = vectors
        self._key = key
        self._place = place
        self._squares = place.board.squares
        self._hand = len(self._squares)
        self._tables: dict[Table, tuple[int, dict[str, str]]] = {}

    def of(self, view: str) -> dict[str, Column]:
        """The columns of a view by name."""
        return _VIEWS[view](self)

    # --- the tables ---

    def _text(self, table: Table, name: str) -> str:
        if table not in self._tables:
            count, *texts = self._read(table, self._key.id)
            names = [each.name for each in table.columns][1:]
            self._tables[table] = count, dict(zip(names, texts if count else repeat("[]"), strict=False))
        return self._tables[table][1][name]

    def _numbers(self, table: Table, name: str) -> Vector:
        text = self._text(table, name)
        found = self._vectors.numbers(text)
        if len(found) != self._tables[table][0]:
            raise ValueError("not all are whole numbers")
        return found

    def _coded(self, table: Table, name: str) -> tuple[Vector, list[Any]]:
        return self._vectors.coded(self._text(table, name))

    def _ranked(self, table: Table, name: str) -> tuple[Vector, list[str]]:
        """Texts as their places in the order of their bytes, and in that order."""
        at, texts = self._coded(table, name)
        _require(all(isinstance(each, str) for each in texts))
        order = sorted(texts, key=str.encode)
        ranks = {text: rank for rank, text in enumerate(order)}
        return self._vectors.take([ranks[text] for text in texts], at), order

    def _labels(self, table: Table) -> Vector:
        """Squares that may be the hand, which has the number after all squares."""
        at, squares = self._coded(table, "square")
        _require(all(each is None or (type(each) is int and 0 <= each < self._hand) for each in squares))
        return self._vectors.take([self._hand if each is None else each for each in squares], at)

    # --- possibilities ---

    @functools.cached_property
    def _count(self) -> int:
        numbers = self._numbers(t.variant, "number")
        _require(self._vectors.same(numbers, self._vectors.up_to(len(numbers))))
        return len(numbers)

    @functools.cached_property
    def _sources(self) -> Vector:
        ordinals = self._numbers(t.source, "ordinal")
        _require(self._vectors.same(ordinals, self._vectors.up_to(len(ordinals))))
        return self._labels(t.source)

    @functools.cached_property
    def _targets(self) -> Vector:
        """Which of all destinations each possibility leads to."""
        vectors = self._vectors
        of_rows, of_variants = (
            vectors.each(
                lambda source, ordinal: (source << 32) + ordinal, *(self._numbers(table, name) for name in names)
            )
            for table, names in ((t.destination, ("source", "ordinal")), (t.variant, ("source", "destination")))
        )
        return vectors.found(of_rows, vectors.up_to(len(of_rows)), of_variants, -1)

    @functools.cached_property
    def _source(self) -> Vector:
        """The square that each possibility leads from."""
        return self._vectors.take(self._sources, self._numbers(t.variant, "source"))

    @functools.cached_property
    def _destination(self) -> Vector:
        return self._vectors.take(self._labels(t.destination), self._targets)

    @functools.cached_property
    def _ordinal(self) -> Vector:
        return self._numbers(t.variant, "ordinal")

    def _constant(self, value: Any, count: int) -> Column:
        nothing = self._vectors.each(lambda place: place * 0, self._vectors.up_to(count))
        return Column([value], nothing)

    def _placed(self, at: Vector) -> dict[str, Column]:
        """The columns that say of which possibility a row is."""
        labels, take = (*self._squares, HAND), self._vectors.take
        return {
            "piece": self._constant(self._key.identifier, len(at)),
            "source": Column(labels, take(self._source, at)),
            "destination": Column(labels, take(self._destination, at)),
            "ordinal": Column(None, take(self._ordinal, at)),
            "piece_id": self._constant(self._key.id, len(at)),
            "possibility": Column(None, at),
        }

    # --- what they ask for and change ---

    @functools.cached_property
    def _conditions(self) -> _Conditions:
        each, take = self._vectors.each, self._vectors.take
        polarity, words = self._coded(t.condition, "polarity")
        denies = take([{"must": 0, "deny": 1}[word] for word in words], polarity)
        square = take(self._place.ranks, self._numbers(t.condition, "square"))
        state, states = self._ranked(t.condition, "state")
        width, most = max(1, len(states)), max(1, self._hand)
        _require(self._count * 2 * most * width < _FARTHEST)
        keys = self._vectors.sorted(
            each(
                lambda at, deny, square, state: ((at * 2 + deny) * most + square) * width + state,
                self._possibilities(t.condition),
                denies,
                square,
                state,
            )
        )
        return _Conditions(
            each(lambda key: key // (2 * most * width), keys),
            each(lambda key: key // (most * width) % 2, keys),
            each(lambda key: key // width % most, keys),
            each(lambda key: key % width, keys),
            states,
        )

    def _possibilities(self, table: Table) -> Vector:
        """The possibilities that rows are of, which must be there."""
        found = self._numbers(table, "variant")
        self._vectors.take(self._ordinal, found)
        return found

    @functools.cached_property
    def _changes(self) -> _Changes:
        each, take, joined = self._vectors.each, self._vectors.take, self._vectors.joined
        square = take(self._place.ranks, self._numbers(t.effect, "square"))
        becomes, pieces = self._coded(t.effect, "becomes")
        _require(all(piece is None or isinstance(piece, str) for piece in pieces))
        held, helds = self._ranked(t.hand_effect, "piece")
        delta, deltas = self._coded(t.hand_effect, "delta")
        _require(all(type(each) is int for each in deltas))
        # What is of a hand comes after all squares.
        order = joined(square, each(lambda rank: rank + self._hand, held))
        what = joined(becomes, each(lambda place: place + len(pieces), delta))
        at = joined(self._possibilities(t.effect), self._possibilities(t.hand_effect))
        most, width = self._hand + len(helds) + 1, len(pieces) + len(deltas) + 1
        _require(self._count * most * width < _FARTHEST)
        keys = self._vectors.sorted(each(lambda at, order, what: (at * most + order) * width + what, at, order, what))
        place, what = each(lambda key: key // width % most, keys), each(lambda key: key % width, keys)
        is_hand = each(lambda place: (place >= self._hand) * 1, place)
        # A place past the last is that of nothing.
        return _Changes(
            each(lambda key: key // (most * width), keys),
            is_hand,
            each(lambda place, is_hand: place * (1 - is_hand) + self._hand * is_hand, place, is_hand),
            each(lambda what, is_hand: what * (1 - is_hand) + len(pieces) * is_hand, what, is_hand),
            pieces,
            each(lambda place, is_hand: (place - self._hand) * is_hand + len(helds) * (1 - is_hand), place, is_hand),
            helds,
            each(lambda what, is_hand: (what - len(pieces)) * is_hand + len(deltas) * (1 - is_hand), what, is_hand),
            deltas,
        )

    # --- the views ---

    def _of_moves(self) -> dict[str, Column]:
        count = self._count
        toggle, words = self._coded(t.variant, "toggle")
        is_drop = self._vectors.each(lambda source: (source == self._hand) * 1, self._source)
        capture, stays = self._captures()
        must, required = self._must, self._conditions.states
        return {
            **self._placed(self._vectors.up_to(count)),
            "side": self._constant(self._key.side, count),
            "requires": Column(
                (*required, None), self._vectors.found(*must, self._square_of(self._destination), len(required))
            ),
            "toggle": Column([None if word is None else bool(word) for word in words], toggle),
            "is_drop": Column([False, True], is_drop),
            **self._origins(),
            **{axis: Column((*self._place.points[axis], None), self._source) for axis in _AXES},
            **{f"d{name}": self._distance(axis) for axis, name in zip(_AXES, "xyz", strict=True)},
            "capture": Column((*_CAPTURES, None), capture),
            "promotes": Column([True, False], stays),
        }

    def _distance(self, axis: str) -> Column:
        points = [point for point in self._place.points[axis] if point is not None]
        if len(points) < self._hand:
            return self._constant(None, self._count)
        # So far away that every distance from or to the hand is that of nothing.
        table = [*points, NULL]
        first, second = (self._vectors.take(table, each) for each in (self._source, self._destination))
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
        at = self._possibilities(t.variant_origin)
        rows = self._vectors.up_to(len(at))
        found = self._vectors.found(at, rows, self._vectors.up_to(self._count), len(at))
        columns = {}
        for name in ("action", "step", "chainable"):
            codes, values = self._coded(t.variant_origin, name)
            shown = [bool(value) for value in values] if name == "chainable" else values
            of_row = [*self._vectors.plain(codes), len(values)]
            columns[name] = Column((*shown, None), self._vectors.take(of_row, found))
        return columns

    def _square_of(self, square: Vector, at: Vector = None) -> Vector:
        """A key of a square for a possibility; squares by their ranks, the hand behind them."""
        at = self._vectors.up_to(self._count) if at is None else at
        ranked = self._vectors.take((*self._place.ranks, self._hand), square)
        return self._keyed(at, ranked)

    def _keyed(self, at: Vector, ranked: Vector) -> Vector:
        return self._vectors.each(lambda at, rank: at * (self._hand + 1) + rank, at, ranked)

    @functools.cached_property
    def _must(self) -> tuple[Vector, Vector]:
        """What must stand on a square, by the key of possibility and square."""
        conditions = self._conditions
        musts = self._vectors.each(lambda deny: 1 - deny, conditions.is_deny)
        keys = self._keyed(conditions.at, conditions.square)
        return self._vectors.chosen(keys, musts), self._vectors.chosen(conditions.state, musts)

    def _captures(self) -> tuple[Vector, Vector]:
        """The kind of capture of each possibility, and 0 where it promotes, else 1."""
        vectors, each, take = self._vectors, self._vectors.each, self._vectors.take
        own, conditions = self._key, self._conditions
        if own.dialect == "must-deny":
            # Where no effects are told, the piece stands on its destination.
            is_square = each(lambda square: (square != self._hand) * 1, self._destination)
            at = vectors.chosen(vectors.up_to(self._count), is_square)
            square = take(self._place.ranks, vectors.chosen(self._destination, is_square))
            becomes, pieces = each(lambda place: place * 0, at), [own.identifier]
        else:
            changes = self._changes
            of_board = each(lambda is_hand: 1 - is_hand, changes.is_hand)
            at, square, becomes = (
                vectors.chosen(each, of_board) for each in (changes.at, changes.square, changes.becomes)
            )
            pieces = list(changes.pieces)
        keys = self._keyed(at, square)
        must = vectors.found(*self._must, keys, len(conditions.states))
        # What must stand there: 0 nothing, 1 what is taken, 2 something else.
        taken = [int(state == ENEMY or (state != EMPTY and _side(state) != own.side)) for state in conditions.states]
        wanted = take([2 - is_taken for is_taken in taken] + [0], must)
        is_other = take([int(_is_other(piece, own)) for piece in pieces] or [0], becomes)
        empties = take([int(piece is None) for piece in pieces] or [0], becomes)
        target = take(self._square_of(self._destination), at)
        leaves = take(self._square_of(self._source), at)
        is_target = each(lambda key, target: (key == target) * 1, keys, target)
        is_enemy = [int(state == ENEMY) for state in conditions.states]
        denies = each(lambda deny, enemy: deny * enemy, conditions.is_deny, take(is_enemy or [0], conditions.state))
        denied = vectors.chosen(self._keyed(conditions.at, conditions.square), denies)
        safe = vectors.found(denied, each(lambda key: key * 0 + 1, denied), keys, 0)
        kind = each(
            lambda other, wanted, target, empties, leaves, safe: (
                (1 - other)
                * (
                    (wanted == 1) * (target + (1 - target) * (3 - empties))
                    + (wanted == 0) * 4 * (1 - leaves) * (1 - safe)
                )
            ),
            is_other,
            wanted,
            is_target,
            empties,
            each(lambda key, leaves: (key == leaves) * 1, keys, leaves),
            safe,
        )
        kind = each(lambda kind: kind + (kind == 0) * _NO_CAPTURE, kind)
        promotes = take([int(_is_better(piece, own)) for piece in pieces] or [0], becomes)
        stays = each(lambda promotes, target: 1 - promotes * target, promotes, is_target)
        return vectors.least(at, kind, self._count, _NO_CAPTURE), vectors.least(at, stays, self._count, 1)

    def _of_conditions(self) -> dict[str, Column]:
        found = self._conditions
        return {
            **self._placed(found.at),
            "polarity": Column(["must", "deny"], found.is_deny),
            "square": Column(self._ordered, found.square),
            "state": Column(found.states, found.state),
        }

    @functools.cached_property
    def _ordered(self) -> list[str]:
        """The labels in the order of their bytes."""
        return [self._squares[number] for number in self._place.order]

    def _of_effects(self) -> dict[str, Column]:
        found = self._changes
        return {
            **self._placed(found.at),
            "kind": Column(["square", "hand"], found.is_hand),
            "square": Column((*self._ordered, None), found.square),
            "becomes": Column((*found.pieces, None), found.becomes),
            "held": Column((*found.helds, None), found.held),
            "delta": Column((*found.deltas, None), found.delta),
        }

    def _of_state(self, table: Table) -> dict[str, Column]:
        variable, variables = self._ranked(table, "variable")
        value, values = self._ranked(table, "value")
        most, width = len(variables) or 1, len(values) or 1
        _require(self._count * most * width < _FARTHEST)
        each = self._vectors.each
        keys = self._vectors.sorted(
            each(
                lambda at, variable, value: (at * most + variable) * width + value,
                self._possibilities(table),
                variable,
                value,
            )
        )
        return {
            **self._placed(each(lambda key: key // (most * width), keys)),
            "variable": Column(variables, each(lambda key: key // width % most, keys)),
            "value": Column(values, each(lambda key: key % width, keys)),
        }

    # --- what was stored ---

    def digest(self, digests: Digests) -> str:
        """The digest of what the tables hold, which are not of the dialect `gdl`."""
        has_effects = self._key.dialect != "must-deny"
        toggle, words = self._coded(t.variant, "toggle")
        _require(all(word in (0, 1) if has_effects else word is None for word in words))
        _require(self._key.dialect != "perform" or all(words))
        toggles = [None if word is None else bool(word) for word in words]
        conditions, changes = self._conditions, self._changes
        _require(has_effects or len(changes.at) == 0)
        musts, of_board = (
            self._vectors.each(lambda is_second: 1 - is_second, each) for each in (conditions.is_deny, changes.is_hand)
        )

        def states(mask: Vector) -> Iterable[str]:
            square = Column(self._ordered, conditions.square), Column(conditions.states, conditions.state)
            return self._members(digests, conditions.at, mask, *square)

        placed = Column((*self._ordered, None), changes.square), Column((*changes.pieces, None), changes.becomes)
        deltas = [*changes.deltas, None]
        held = Column((*changes.helds, None), changes.held), Column(deltas, changes.delta)
        return digests.of_members(
            self._key.identifier,
            self._places(),
            states(musts),
            states(conditions.is_deny),
            self._members(digests, changes.at, of_board, *placed),
            self._members(digests, changes.at, changes.is_hand, *held),
            map(toggles.__getitem__, self._vectors.plain(toggle)),
        )

    def _members(self, digests: Digests, at: Vector, mask: Vector, keys: Column, values: Column) -> Iterable[str]:
        """Of each possibility the members of an object, from the columns of their keys and values."""
        vectors = self._vectors
        at = vectors.chosen(at, mask)
        if len(at) == 0:
            return repeat("")
        width = len(values.values or ())
        pairs = vectors.plain(
            vectors.each(
                lambda key, value: key * width + value, vectors.chosen(keys.at, mask), vectors.chosen(values.at, mask)
            )
        )
        names, said = keys.values or (), values.values or ()
        known = {pair: digests.member(names[pair // width], said[pair % width]) for pair in set(pairs)}
        texts = list(map(known.__getitem__, pairs))
        return [",".join(texts[first:last]) for first, last in pairwise(vectors.bounds(at, self._count))]

    def _places(self) -> Iterator[tuple[str, list[tuple[str, int]]]]:
        """The sources in order, each with its destinations and how many possibilities these have."""
        vectors, labels = self._vectors, (*self._squares, HAND)
        sources, targets = map(vectors.plain, (self._sources, self._labels(t.destination)))
        _require(vectors.same(self._targets, vectors.sorted(self._targets)))
        variants = vectors.bounds(self._targets, len(targets))
        destinations = vectors.bounds(self._numbers(t.destination, "source"), len(sources))
        for table, of, bounds in (
            (t.variant, self._targets, variants),
            (t.destination, self._numbers(t.destination, "source"), destinations),
        ):
            ordinals = self._numbers(table, "ordinal")
            rows = vectors.up_to(len(ordinals))
            firsts = vectors.take(bounds, of)
            _require(vectors.same(ordinals, vectors.each(lambda row, first: row - first, rows, firsts)))
        for number, source in enumerate(sources):
            listed = range(destinations[number], destinations[number + 1])
            yield labels[source], [(labels[targets[each]], variants[each + 1] - variants[each]) for each in listed]


class Pieces:
    """The pieces of a store, for one transaction."""

    def __init__(self, database: Database, connection: Connection, vectors: Vectors) -> None:
        self._database = database
        self._connection = connection
        self._vectors = vectors
        self._places: dict[int, Place] = {}
        self._digests: dict[tuple[str, int], Digests] = {}
        self._queries = {table: database.arrays(table, table.c.piece_id == _PIECE) for table in t.PIECE_TABLES}

    def read(self, piece_id: int, views: Iterable[str], *, is_checked: bool) -> Iterator[dict[str, Column]]:
        """The columns of a piece for each of these views; raises DamagedError where it is not what was stored.

        Whether it gives its digest is only looked at where that `is_checked`; from what is read for its columns.
        """
        key = self._connection.execute(_KEPT, {"piece": piece_id}).one()
        if key.board_id not in self._places:
            self._places[key.board_id] = Place.read(self._connection, key.board_id)
        place = self._places[key.board_id]
        piece = PieceColumns(self._table, self._vectors, key, place)
        if is_checked and not self._is_sound(piece, key, place):
            catalog.read_piece(self._connection, piece_id, place.board)
        for view in views:
            try:
                yield piece.of(view)
            except (LookupError, TypeError, ValueError):
                raise DamagedError(
                    f"the piece {quote(key.identifier)} is damaged, its rows are not such as this program writes: run "
                    "`ggn-store db check`"
                ) from None

    def listed(self, ruleset: str, revision: int) -> Sequence[int]:
        """The keys of the pieces of a revision, in document order."""
        return self._connection.execute(_LISTED, {"ruleset": ruleset, "revision": revision}).scalars().all()

    def _table(self, table: Table, piece_id: int) -> Any:
        return self._connection.execute(self._queries[table], {"piece": piece_id}).one()

    def _is_sound(self, piece: PieceColumns, key: Any, place: Place) -> bool:
        """Whether what was read gives the digest; False also where only the slow way tells."""
        if key.dialect == "gdl":
            return False
        of = key.dialect, key.board_id
        digests = self._digests[of] = self._digests.get(of) or Digests(key.dialect, place.board)
        try:
            return bool(piece.digest(digests) == key.digest)
        except (LookupError, TypeError, ValueError):
            return False
        except DBAPIError:  # of a value that no array can hold
            if self._database.is_server:
                raise
            return False


_LISTED: Final = (
    select(t.revision_piece.c.piece_id)
    .select_from(
        t.revision_piece.join(t.revision, t.revision.c.id == t.revision_piece.c.revision_id).join(
            t.ruleset, t.ruleset.c.id == t.revision.c.ruleset_id
        )
    )
    .where(t.ruleset.c.name == bindparam("ruleset"), t.revision.c.number == bindparam("revision"))
    .order_by(t.revision_piece.c.ordinal)
)
_KEPT: Final = select(
    *(t.piece.c[name] for name in ("id", "board_id", "dialect", "digest", "identifier", "side"))
).where(t.piece.c.id == _PIECE)


def _require(is_ours: bool) -> None:
    if not is_ours:
        raise ValueError("no row that this program writes")


def _side(identifier: str) -> str:
    """Whose piece an identifier names, as the views tell it."""
    return "first" if identifier[:1].upper() == identifier[:1] else "second"


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
