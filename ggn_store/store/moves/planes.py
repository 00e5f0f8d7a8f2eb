"""A revision's rules and positions as bit planes, so that one statement makes all moves of many positions.

A position is a few *planes*, each a set of squares: where the first side's pieces stand, where the second side's do,
and the bits of the pieces' codes (every identifier that rules or positions name has a code within its side). A plane
is as many words of 64 bits as the board needs. Counts of the pieces in hand are bit fields of one or more words.

What a possibility asks is then a few masks (squares not to be empty, not the enemy's, not the mover's own) and, for
each identifier that conditions name, squares where exactly that piece must or must not be. What it does is
`(plane & kept) | set`, and a number to add to the hands. Possibilities that do the same, one when a square is empty,
the next when the enemy is on it, are one rule.

Rules are compiled when they are needed, for one question: nothing of this is stored.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ggn_store.errors import StoreError
from ggn_store.model.documents.board import Board
from ggn_store.model.moves.move import Assumption, no_effects
from ggn_store.model.moves.play import Play
from ggn_store.model.moves.position import MAX_HAND_COUNT, SIDES, Position
from ggn_store.notation.qpi import is_royal, side_of
from ggn_store.store.moves import royals
from ggn_store.store.moves.positions import Opened
from ggn_store.store.moves.reachable import Entry, reachable

WORD: Final = 64
NOTHING: Final = Play()
# A word of hands leaves the sign alone.
_HAND_BITS: Final = 62


@dataclass(frozen=True, slots=True)
class Rule:
    """One or two possibilities (see above) as masks over square numbers.

    `start` is where a rule of its group begins, as `Group` says. `must` and `deny` have a mask for each identifier of
    the group's `kinds`, `becomes` one for each plane. `delta` has a number for each word of the hands. `crossing` is
    the number of the crossing that it is, where moves have to be legal.
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
    crossing: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether it asks for a piece by name."""
        return any(self.must) or any(self.deny)

    def past(self, squares: int) -> Rule:
        """The rule without what it asks of squares to be empty."""
        return replace(self, not_own=self.not_own & ~squares, not_enemy=self.not_enemy & ~squares)


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


@dataclass(frozen=True, slots=True)
class Threats:
    """What pieces of a side could take a royal piece with: as rules from `start`, the code of the attacker.

    `sources` and `targets` have for each where it stands and where the royal piece does, as masks; `crossings` the
    numbers of the crossings that go over the target, each with the squares that it fills and that are no shield.
    """

    group: Group
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    crossings: tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, slots=True)
class PlyRules:
    """How moves are made: what `must-deny` documents mean, how the game is played, and whether moves must be legal.

    `pieces` are those that have rules: who has one of them on the board may pass, where the game has passes.
    """

    assume: Assumption | None = None
    play: Play = NOTHING
    is_legal: bool = False
    pieces: Collection[str] = ()


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


class PackedPosition(NamedTuple):
    """A position as planes (first side, second side, bits of the codes) and words of the hands."""

    side: int
    planes: tuple[int, ...]
    hands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompiledRules:
    """Rules for a number of moves from some positions on.

    `code` has side and code of each identifier; the highest bits, `mark_bits` of them, are those of marks, which a
    piece loses when its own side is next to move. `slots` are the pieces that can be in hand, `fields` where their
    counts are, None where the positions say nothing of hands. `takes` tells whether a rule can take more from a hand
    than it asks for, `is_mixed` whether positions of one ply can differ in whose turn it is.
    `threats` are those of each side, where moves have to be legal. `passing` are the pieces that a side needs one of to
    pass.
    """

    board: Board
    code: Mapping[str, tuple[int, int]]
    bits: int
    mark_bits: int
    slots: tuple[str, ...]
    fields: Mapping[str, Field] | None
    groups: tuple[Group, ...]
    takes: bool
    is_mixed: bool
    states: tuple[PackedPosition, ...]
    threats: tuple[Threats, ...] = ()
    passing: tuple[str, ...] = ()

    @property
    def planes(self) -> int:
        """How many planes a position has."""
        return 2 + self.bits

    @property
    def mark_planes(self) -> range:
        """The planes that have the bits of marks."""
        return range(self.planes - self.mark_bits, self.planes)

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
    def crosses(self) -> bool:
        """Whether some moves go over squares that must not be attacked."""
        return any(any(threats.crossings) for threats in self.threats)

    @property
    def royals(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The vectors of each side's royal pieces."""
        return self._of_sides(filter(is_royal, self.code))

    @property
    def passers(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The vectors of each side's pieces that let it pass."""
        return self._of_sides(self.passing)

    def _of_sides(self, pieces: Iterable[str]) -> tuple[tuple[tuple[int, ...], ...], ...]:
        ordered = sorted(pieces)
        return tuple(tuple([self.vector(each) for each in ordered if side_of(each) == side]) for side in SIDES)

    def vector(self, piece: str) -> tuple[int, ...]:
        """The bit of each plane on a square where `piece` stands."""
        return vector_of(self.code[piece], self.bits)

    def position(self, state: PackedPosition, like: Position) -> Position:
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


def compile_rules(  # noqa: C901 -- two functions within, which are one line a column
    opened: Opened, positions: Sequence[Position], depth: int, way: PlyRules
) -> CompiledRules:
    """The rules that may apply within `depth` moves from `positions` on, and the positions themselves.

    The positions must all tell what the hands hold, or none of them, and have no marks that are past. Raises MoveError
    for a must-deny document without `assume`, StoreError for hands that are too large, and NotJudgedError where moves
    have to be legal and plies cannot judge that.
    """
    revision, board = opened.revision, opened.board
    if revision.dialect == "must-deny" and way.assume is None:
        raise no_effects(revision)
    reverts = way.play.reverts
    # What is taken next says whether a move is legal.
    read = reachable(opened, positions, depth + way.is_legal, way.play)
    if way.is_legal:
        royals.require_simple(way.play, positions, read)
    code, mark_bits = _codes(read, positions, reverts)
    bits = max((number for _, number in code.values()), default=0).bit_length()
    slots = sorted(
        {piece for entry in read for piece in entry.deltas}
        | {entry.piece for entry in read if entry.source is None}
        | {piece for position in positions for piece in position.hands or ()}
    )
    known = bool(positions) and positions[0].hands is not None
    fields = _fields(read, slots, positions, depth) if known else None
    hand_words = 1 + max((field.word for field in (fields or {}).values()), default=-1)

    vectors = {piece: vector_of(each, bits) for piece, each in code.items()}
    groups: dict[tuple[int, int | None], list[Entry]] = defaultdict(list)
    for entry in read:
        groups[code[entry.piece][0], None if entry.source is None else entry.source // WORD].append(entry)

    def rule(entry: Entry, side: int, kinds: tuple[str, ...]) -> Rule:
        number = code[entry.piece][1]
        start = slots.index(entry.piece) if entry.source is None else entry.source % WORD + WORD * number
        becomes = [0] * (2 + bits)
        for piece, squares in entry.becomes.items():
            for plane, bit in enumerate(vectors[piece]):
                becomes[plane] |= squares * bit
        delta = [0] * hand_words
        if fields is not None:
            for piece, count in entry.deltas.items():
                delta[fields[piece].word] += count << fields[piece].shift
        return Rule(
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
            royals.crossing_of(entry, way.play, board.numbers) if way.is_legal else 0,
        )

    def group(side: int, word: int | None) -> Group:
        entries = groups[side, word]
        kinds = _kinds(entries)
        return Group(side, word, kinds, tuple([rule(entry, side, kinds) for entry in entries]))

    filled = royals.filled(read, way.play, board.numbers) if way.is_legal else {}

    def threatening(side: int) -> Threats:
        found = [each for each in royals.threats(opened, way.play, read) if code[each.entry.piece][0] == side]
        found.sort(key=lambda each: code[each.entry.piece])
        kinds = _kinds([each.entry for each in found])
        rules = [replace(rule(each.entry, side, kinds), start=code[each.entry.piece][1]) for each in found]
        return Threats(
            Group(side, 0, kinds, tuple(rules)),
            tuple([1 << (each.entry.source or 0) for each in found]),
            tuple([each.target for each in found]),
            tuple([royals.crossed(each, 1 - side, way.play, board.numbers, filled) for each in found]),
        )

    takes = fields is not None and any(
        -number > (entry.source is None and piece == entry.piece)
        for entry in read
        for piece, number in entry.deltas.items()
    )
    return CompiledRules(
        board,
        code,
        bits,
        mark_bits,
        tuple(slots),
        fields,
        tuple(group(*each) for each in sorted(groups, key=lambda each: (each[0], each[1] is None, each))),
        takes,
        len({position.side for position in positions}) > 1 or not all(entry.toggle for entry in read),
        tuple(_state(position, board, vectors, bits, fields, hand_words) for position in positions),
        (threatening(0), threatening(1)) if way.is_legal else (),
        tuple([piece for piece in code if piece in way.pieces]) if way.play.duty("pass") else (),
    )


def _kinds(entries: Iterable[Entry]) -> tuple[str, ...]:
    return tuple(sorted({kind for entry in entries for kind in (*entry.must, *entry.deny)}))


def _codes(
    entries: Iterable[Entry], positions: Iterable[Position], reverts: Mapping[str, str]
) -> tuple[dict[str, tuple[int, int]], int]:
    """Side and code of every piece that can stand on a square, or that a condition names; and how many bits are marks'.

    A marked piece has the code of the one that it becomes, and above it a number that is not 0.
    """
    named: dict[str, None] = {}
    for entry in entries:
        named[entry.piece] = None
        for pieces in (entry.must, entry.deny, entry.becomes):
            named.update(dict.fromkeys(pieces))
    for position in positions:
        named.update((piece, None) for piece in position.board.values() if piece is not None)
    marked = [piece for piece in named if piece in reverts]
    named.update(dict.fromkeys(reverts[piece] for piece in marked))
    found: dict[str, tuple[int, int]] = {}
    counts = [0, 0]
    for piece in named:
        if piece not in reverts:
            side = SIDES.index(side_of(piece))
            found[piece] = side, counts[side]
            counts[side] += 1
    low = (max(counts) - 1).bit_length() if named else 0
    marks: Counter[str] = Counter()
    for piece in marked:
        plain = reverts[piece]
        marks[plain] += 1
        side, code = found[plain]
        found[piece] = side, code | marks[plain] << low
    return found, max(marks.values(), default=0).bit_length()


def vector_of(code: tuple[int, int], bits: int) -> tuple[int, ...]:
    """The bit of each plane on a square where the piece of a side and code stands."""
    side, number = code
    return (1 - side, side, *(number >> bit & 1 for bit in range(bits)))


def _fields(
    entries: Iterable[Entry], slots: Iterable[str], positions: Sequence[Position], depth: int
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
    return fields


def _state(
    position: Position,
    board: Board,
    vectors: Mapping[str, tuple[int, ...]],
    bits: int,
    fields: Mapping[str, Field] | None,
    hand_words: int,
) -> PackedPosition:
    planes = [0] * (2 + bits)
    for square, piece in position.board.items():
        number = board.numbers.get(square)
        if number is not None and piece is not None:
            for plane, bit in enumerate(vectors[piece]):
                planes[plane] |= bit << number
    hands = [0] * hand_words
    for piece, field in (fields or {}).items():
        hands[field.word] |= field.guard | (position.hands or {}).get(piece, 0) << field.shift
    return PackedPosition(SIDES.index(position.side), tuple(planes), tuple(hands))
