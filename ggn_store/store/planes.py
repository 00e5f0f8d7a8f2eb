"""A revision's rules and positions as bit planes, so that one statement makes all moves of many positions.

A position is a few *planes*, each a set of squares: where the first side's pieces stand, where the second side's do,
and the bits of the pieces' codes (every identifier that rules or positions name has a code within its side). A plane
is as many words of 64 bits as the board needs. Counts of the pieces in hand are bit fields of one or more words.

What a possibility asks is then a few masks (as in `store.masks`: squares that must not be empty, not the enemy's, not
the mover's own) and, for each identifier that conditions name, squares where exactly that piece must or must not be.
What it does is `(plane & kept) | set`, and a number to add to the hands. Possibilities that do the same, one when a
square is empty, the next when the enemy is on it, are one rule.

Rules are compiled when they are needed, for one question: nothing of this is stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Column, Connection, FromClause, Integer, MetaData, PrimaryKeyConstraint, Table, and_, select

from ggn_store.errors import MoveError, StoreError
from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.move import Assumption, displacement
from ggn_store.model.position import MAX_HAND_COUNT, SIDES, Position
from ggn_store.model.revision import Revision
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, other_side, side_of
from ggn_store.store import board as temporary
from ggn_store.store import tables as t
from ggn_store.store.engine import Database

WORD: Final = 64
MAX_WORDS: Final = 8
# A word of hands leaves the sign alone.
_HAND_BITS: Final = 62


@dataclass(frozen=True, slots=True)
class Rule:
    """One or two possibilities (see above) as masks over square numbers.

    `start` is where a rule of its group begins, as `Group` says. `must` and `deny` have a mask for each identifier of
    the group's `kinds`, `becomes` one for each plane. `delta` has a number for each word of the hands.
    """

    start: int
    not_own: int
    not_enemy: int
    not_empty: int
    must: tuple[int, ...]
    deny: tuple[int, ...]
    touched: int
    becomes: tuple[int, ...]
    side_after: int
    delta: tuple[int, ...]

    @property
    def is_exact(self) -> bool:
        """Whether it asks for a piece by name."""
        return any(self.must) or any(self.deny)


@dataclass(frozen=True, slots=True)
class Group:
    """The rules of a side (0 first, 1 second) whose sources lie in one word of the board, or in the hand (None).

    A rule starts at `number of the square within the word + 64 * code of the piece`, in the hand at the slot of the
    piece. `kinds` are the identifiers that the conditions of these rules name.
    """

    side: int
    word: int | None
    kinds: tuple[str, ...]
    rules: tuple[Rule, ...]

    def only(self, exact: bool) -> Group:
        """The same with the rules that ask for a piece by name only, or without them."""
        return replace(self, rules=tuple(rule for rule in self.rules if rule.is_exact == exact))


@dataclass(frozen=True, slots=True)
class Field:
    """Where the count of a piece in hand lies: `width` bits of a word from bit `shift` on, and over them a guard.

    The guard is always set: a count that falls below zero clears it.
    """

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The bits of the count."""
        return ((1 << self.width) - 1) << self.shift

    @property
    def guard(self) -> int:
        """The bit over the count."""
        return 1 << (self.shift + self.width)


@dataclass(frozen=True, slots=True)
class State:
    """A position as planes (first side, second side, bits of the codes) and words of the hands."""

    side: int
    planes: tuple[int, ...]
    hands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """Rules for a number of moves from some positions on.

    `code` has side and code of each identifier. `slots` are the pieces that can be in hand, `fields` where their
    counts are, None where the positions say nothing of hands. `takes` tells whether a rule can take more from a hand
    than it asks for.
    """

    board: Board
    code: Mapping[str, tuple[int, int]]
    bits: int
    slots: tuple[str, ...]
    fields: Mapping[str, Field] | None
    groups: tuple[Group, ...]
    takes: bool
    states: tuple[State, ...]

    @property
    def words(self) -> int:
        """How many words a plane has."""
        return words(self.board)

    @property
    def planes(self) -> int:
        """How many planes a position has."""
        return 2 + self.bits

    @property
    def hand_words(self) -> int:
        """How many words the hands have; 0 where nothing is known of them."""
        return 1 + max((each.word for each in (self.fields or {}).values()), default=-1)

    @property
    def guards(self) -> tuple[int, ...]:
        """The guard bits of each word of the hands."""
        fields = (self.fields or {}).values()
        return tuple(sum(each.guard for each in fields if each.word == word) for word in range(self.hand_words))

    @property
    def is_mixed(self) -> bool:
        """Whether positions of one ply can differ in whose turn it is."""
        stays = any(rule.side_after == group.side for group in self.groups for rule in group.rules)
        return stays or len({state.side for state in self.states}) > 1

    def vector(self, piece: str) -> tuple[int, ...]:
        """The bit of each plane on a square where `piece` stands."""
        return _vector(self.code[piece], self.bits)

    def position(self, state: State, like: Position) -> Position:
        """The position that a state is; `like` has the squares that are not on the board."""
        names = {self.vector(piece): piece for piece in self.code}
        board = {square: piece for square, piece in like.board.items() if square not in self.board.numbers}
        occupied = state.planes[0] | state.planes[1]
        for number, square in enumerate(self.board.squares):
            if occupied >> number & 1:
                board[square] = names[tuple(plane >> number & 1 for plane in state.planes)]
        hands = None
        if self.fields is not None:
            hands = {
                piece: count
                for piece, field in self.fields.items()
                if (count := (state.hands[field.word] & field.mask) >> field.shift)
            }
        return replace(like, board=board, hands=hands, side=SIDES[state.side])


def words(board: Board) -> int:
    """How many words a plane of a board has."""
    return max(1, -(-len(board.squares) // WORD))


def compile_rules(
    database: Database,
    connection: Connection,
    revision: Revision,
    board: Board,
    positions: Sequence[Position],
    depth: int,
    assume: Assumption | None = None,
) -> Compiled:
    """The rules that may apply within `depth` moves from `positions` on, and the positions themselves.

    The positions must all tell what the hands hold, or none of them. Raises MoveError for a must-deny document
    without `assume`, and StoreError for a board or hands that are too large.
    """
    if words(board) > MAX_WORDS:
        raise StoreError(
            f"moves are made in the database on boards of up to {MAX_WORDS * WORD} squares; "
            f"that of {revision} has {len(board.squares)}"
        )
    if revision.dialect == "must-deny" and assume is None:
        raise MoveError(
            f"{revision} is a must-deny document and does not say what a move changes; to mean plain displacement, "
            "say assume='displacement' (--assume displacement)"
        )
    read = _reachable(_Reader(database, connection, revision, board), board, positions, depth)
    code = _codes(read, positions)
    bits = max(0, max((number for _, number in code.values()), default=0)).bit_length()
    slots = sorted(
        {piece for entry in read for piece in entry.deltas}
        | {entry.piece for entry in read if entry.source is None}
        | {piece for position in positions for piece in position.hands or ()}
    )
    known = bool(positions) and positions[0].hands is not None
    fields = _fields(read, slots, positions, depth) if known else None
    hand_words = 1 + max((field.word for field in (fields or {}).values()), default=-1)

    vectors = {piece: _vector(each, bits) for piece, each in code.items()}
    groups = []
    by_group = defaultdict(list)
    for entry in read:
        by_group[code[entry.piece][0], None if entry.source is None else entry.source // WORD].append(entry)
    for (side, word), entries in sorted(by_group.items(), key=lambda item: (item[0][0], item[0][1] is None, item[0])):
        kinds = tuple(sorted({kind for entry in entries for kind in (*entry.must, *entry.deny)}))
        rules = []
        for entry in entries:
            if entry.source is None:
                start = slots.index(entry.piece)
            else:
                start = entry.source % WORD + WORD * code[entry.piece][1]
            becomes = [0] * (2 + bits)
            for piece, squares in entry.becomes.items():
                for plane, bit in enumerate(vectors[piece]):
                    if bit:
                        becomes[plane] |= squares
            delta = [0] * hand_words
            if fields is not None:
                for piece, number in entry.deltas.items():
                    delta[fields[piece].word] += number << fields[piece].shift
            rules.append(
                Rule(
                    start,
                    entry.not_own,
                    entry.not_enemy,
                    entry.not_empty,
                    tuple([entry.must.get(kind, 0) for kind in kinds]) if kinds else (),
                    tuple([entry.deny.get(kind, 0) for kind in kinds]) if kinds else (),
                    entry.touched,
                    tuple(becomes),
                    1 - side if entry.toggle else side,
                    tuple(delta),
                )
            )
        groups.append(Group(side, word, kinds, tuple(rules)))
    takes = fields is not None and any(
        -number > (entry.source is None and piece == entry.piece)
        for entry in read
        for piece, number in entry.deltas.items()
    )
    return Compiled(
        board,
        code,
        bits,
        tuple(slots),
        fields,
        tuple(groups),
        takes,
        tuple(_state(position, board, vectors, bits, fields, hand_words) for position in positions),
    )


@dataclass(slots=True)
class _Entry:
    """A possibility; masks are over square numbers, `must`, `deny` and `becomes` have one for each piece."""

    piece: str
    source: int | None
    not_own: int
    not_enemy: int
    not_empty: int
    must: dict[str, int]
    deny: dict[str, int]
    touched: int
    becomes: dict[str, int]
    deltas: dict[str, int]
    toggle: bool

    def effects(self) -> tuple[object, ...]:
        return self.touched, self.becomes, self.deltas, self.toggle

    def may_hold(self, stands: set[tuple[str, int]], enemies: int) -> bool:
        """Whether what it asks for may be there: exact pieces, and enemies where the square must be theirs."""
        if self.not_empty & self.not_own & ~enemies:
            return False
        return all((piece, square) in stands for piece, squares in self.must.items() for square in _bits(squares))


def _temporary(name: str, *columns: str) -> Table:
    words = [Column(column, t.Id if column == "piece_id" else Integer, nullable=False) for column in columns]
    key = PrimaryKeyConstraint(*columns[:2])
    return Table(name, MetaData(), *words, key, prefixes=["TEMPORARY"], sqlite_with_rowid=False)


# The sources whose rules are to be read, and the numbers of their first and last variants.
_sources = _temporary("chosen_source", "piece_id", "source")
_spans = _temporary("chosen_span", "piece_id", "first", "last")


class _Reader:
    """Reads the rules of a revision, source by source."""

    def __init__(
        self,
        database: Database,
        connection: Connection,
        revision: Revision,
        board: Board,
    ) -> None:
        self._database = database
        self._connection = connection
        self._board = board
        query = (
            select(t.piece.c.identifier, t.source.c.piece_id, t.source.c.ordinal, t.source.c.square)
            .join(t.revision_piece, t.revision_piece.c.piece_id == t.source.c.piece_id)
            .join(t.piece, t.piece.c.id == t.source.c.piece_id)
            .where(t.revision_piece.c.revision_id == revision.id)
        )
        self.unread = {
            (piece, square): (number, ordinal) for piece, number, ordinal, square in connection.execute(query)
        }
        """Piece and square (None for the hand) of sources that were not read yet, with their keys."""

    def read(self, starts: Iterable[tuple[str, int | None]]) -> Iterator[_Entry]:
        """The possibilities from some sources, those that are a pair joined."""
        wanted = {self.unread.pop(start): start for start in starts}
        if not wanted:
            return
        sources = temporary.given(self._database, self._connection, _sources, sorted(wanted))
        variants = sorted(
            map(tuple, self._rows(sources, t.variant, "source", "destination", "ordinal", "number", "toggle"))
        )
        spans = []
        for (piece, _), group in groupby(variants, key=itemgetter(0, 1)):
            numbers = [number for *_, number, _ in group]
            spans.append((piece, min(numbers), max(numbers)))
        within = temporary.given(self._database, self._connection, _spans, spans)
        squares = {
            tuple(place): square for *place, square in self._rows(sources, t.destination, "source", "ordinal", "square")
        }
        conditions: dict[tuple[int, int], list[tuple[str, int, str]]] = defaultdict(list)
        for piece, variant, polarity, square, state in self._details(
            within, t.condition, "polarity", "square", "state"
        ):
            conditions[piece, variant].append((polarity, square, state))
        effects: dict[tuple[int, int], list[tuple[int, str | None]]] = defaultdict(list)
        for piece, variant, square, becomes in self._details(within, t.effect, "square", "becomes"):
            effects[piece, variant].append((square, becomes))
        deltas: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
        for piece, variant, held, delta in self._details(within, t.hand_effect, "piece", "delta"):
            deltas[piece, variant][held] = delta
        for relation in (sources, within):
            temporary.drop(self._connection, relation)

        for place, group in groupby(variants, key=itemgetter(0, 1, 2)):
            previous: _Entry | None = None
            identifier, source = wanted[place[:2]]
            for piece, _, _, _, number, toggle in group:
                changes: Iterable[tuple[int, str | None]] = effects.get((piece, number), ())
                hands = deltas.get((piece, number), {})
                if toggle is None:
                    assumed = displacement(identifier, self._label(source), self._label(squares[place]))
                    changes = [(self._board.numbers[square], each) for square, each in assumed.board.items()]
                    hands = dict(assumed.hands)
                entry = _entry(
                    identifier, source, conditions.get((piece, number), ()), changes, hands, toggle is not False
                )
                if previous is not None and _join(previous, entry):
                    continue
                if previous is not None:
                    yield previous
                previous = entry
            if previous is not None:
                yield previous

    def _rows(self, sources: FromClause, table: Table, *columns: str) -> Iterator[Any]:
        of_source = and_(table.c.piece_id == sources.c.piece_id, table.c.source == sources.c.source)
        query = select(table.c.piece_id, *(table.c[column] for column in columns))
        return iter(self._connection.execute(query.join(sources, of_source)))

    def _details(self, spans: FromClause, table: Table, *columns: str) -> Iterator[Any]:
        is_within = table.c.variant.between(spans.c.first, spans.c.last)
        query = select(table.c.piece_id, table.c.variant, *(table.c[column] for column in columns))
        return iter(self._connection.execute(query.join(spans, and_(table.c.piece_id == spans.c.piece_id, is_within))))

    def _label(self, number: int | None) -> str:
        return HAND if number is None else self._board.squares[number]


def _reachable(reader: _Reader, board: Board, positions: Sequence[Position], depth: int) -> list[_Entry]:
    """The possibilities that may hold within `depth` moves from some positions.

    What may stand where is followed ply by ply, as if no move ever removed anything.
    """
    numbers = board.numbers
    stands = {
        (piece, numbers[square])
        for position in positions
        for square, piece in position.board.items()
        if piece is not None and square in numbers
    }
    held: set[str] | None = {piece for position in positions for piece in position.hands or ()}
    if not positions or positions[0].hands is None:
        held = None
    sides = {position.side for position in positions}
    occupied = dict.fromkeys(SIDES, 0)
    found: list[_Entry] = []
    passing: set[tuple[Side, bool]] = set()
    pending: dict[Side, list[_Entry]] = {side: [] for side in SIDES}
    fresh = set(stands)
    for _ in range(depth):
        for piece, square in fresh:
            occupied[side_of(piece)] |= 1 << square
        starts = [
            (piece, square)
            for piece, square in reader.unread
            if side_of(piece) in sides
            and ((held is None or piece in held) if square is None else (piece, square) in stands)
        ]
        for entry in reader.read(starts):
            pending[side_of(entry.piece)].append(entry)
        fresh = set()
        gained: set[str] = set()
        for side in sides:
            later = []
            for entry in pending[side]:
                if not entry.may_hold(stands, occupied[other_side(side)]):
                    later.append(entry)
                    continue
                found.append(entry)
                passing.add((side, entry.toggle))
                fresh.update((piece, square) for piece, squares in entry.becomes.items() for square in _bits(squares))
                gained.update(piece for piece, number in entry.deltas.items() if number > 0)
            pending[side] = later
        fresh -= stands
        stands |= fresh
        if held is not None:
            held |= gained
        sides = {other_side(side) if toggle else side for side, toggle in passing if side in sides}
    return found


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def _entry(
    piece: str,
    source: int | None,
    conditions: Iterable[tuple[str, int, str]],
    changes: Iterable[tuple[int, str | None]],
    hands: dict[str, int],
    toggle: bool,
) -> _Entry:
    not_own = not_enemy = not_empty = touched = 0
    must: dict[str, int] = {}
    deny: dict[str, int] = {}
    becomes: dict[str, int] = {}
    for polarity, square, state in conditions:
        bit = 1 << square
        if polarity == "must":
            if state == EMPTY:
                not_own |= bit
                not_enemy |= bit
            elif state == ENEMY:
                not_own |= bit
                not_empty |= bit
            else:
                must[state] = must.get(state, 0) | bit
        elif state == EMPTY:
            not_empty |= bit
        elif state == ENEMY:
            not_enemy |= bit
        else:
            deny[state] = deny.get(state, 0) | bit
    for square, after in changes:
        bit = 1 << square
        touched |= bit
        if after is not None:
            becomes[after] = becomes.get(after, 0) | bit
    return _Entry(piece, source, not_own, not_enemy, not_empty, must, deny, touched, becomes, hands, toggle)


def _join(first: _Entry, second: _Entry) -> bool:
    """Make one of two, if they differ only in that a square is empty for the first and the enemy's for the second."""
    twin = first.not_enemy ^ second.not_enemy
    if (
        not twin
        or twin & (twin - 1)
        or not first.not_enemy & twin
        or first.not_empty & twin
        or second.not_empty != first.not_empty | twin
        or first.not_own != second.not_own
        or first.must != second.must
        or first.deny != second.deny
        or first.effects() != second.effects()
    ):
        return False
    first.not_enemy &= ~twin
    return True


def _codes(entries: Iterable[_Entry], positions: Iterable[Position]) -> dict[str, tuple[int, int]]:
    """Side and code of every piece that can stand on a square, or that a condition names."""
    named: dict[str, None] = {}
    for entry in entries:
        named[entry.piece] = None
        for pieces in (entry.must, entry.deny, entry.becomes):
            named.update(dict.fromkeys(pieces))
    for position in positions:
        named.update((piece, None) for piece in position.board.values() if piece is not None)
    found: dict[str, tuple[int, int]] = {}
    counts = [0, 0]
    for piece in named:
        side = SIDES.index(side_of(piece))
        found[piece] = side, counts[side]
        counts[side] += 1
    return found


def _vector(code: tuple[int, int], bits: int) -> tuple[int, ...]:
    side, number = code
    return (1 - side, side, *(number >> bit & 1 for bit in range(bits)))


def _fields(
    entries: Iterable[_Entry], slots: Iterable[str], positions: Sequence[Position], depth: int
) -> dict[str, Field]:
    """Room for every count that can come up, and for what a rule takes at once."""
    gains: dict[str, int] = defaultdict(int)
    losses: dict[str, int] = defaultdict(int)
    for entry in entries:
        for piece, number in entry.deltas.items():
            gains[piece] = max(gains[piece], number)
            losses[piece] = max(losses[piece], -number)
    fields: dict[str, Field] = {}
    word = shift = 0
    for piece in slots:
        most = max((position.hands or {}).get(piece, 0) for position in positions) + depth * gains[piece]
        if most > MAX_HAND_COUNT:
            raise StoreError(
                f"after {depth} moves a hand could hold {most:,} {piece}; "
                f"up to {MAX_HAND_COUNT:,} can be counted: take a smaller depth"
            )
        width = max(most, losses[piece]).bit_length()
        if shift + width + 1 > _HAND_BITS:
            word, shift = word + 1, 0
        fields[piece] = Field(word, shift, width)
        shift += width + 1
    if word >= MAX_WORDS:
        raise StoreError(
            f"the counts of {len(fields)} kinds of pieces in hand do not fit into {MAX_WORDS} words of "
            f"{_HAND_BITS} bits: take a smaller depth, or a position that says nothing of hands"
        )
    return fields


def _state(
    position: Position,
    board: Board,
    vectors: Mapping[str, tuple[int, ...]],
    bits: int,
    fields: Mapping[str, Field] | None,
    hand_words: int,
) -> State:
    planes = [0] * (2 + bits)
    for square, piece in position.board.items():
        number = board.numbers.get(square)
        if number is not None and piece is not None:
            for plane, bit in enumerate(vectors[piece]):
                planes[plane] |= bit << number
    hands = [0] * hand_words
    for piece, field in (fields or {}).items():
        hands[field.word] |= field.guard | (position.hands or {}).get(piece, 0) << field.shift
    return State(SIDES.index(position.side), tuple(planes), tuple(hands))
