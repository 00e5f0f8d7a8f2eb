"""The fast query: which possibilities of a revision hold in a position, or in many?

    asked (the key of a lane, and the word that a position gives it) -> the lane -> which of its targets are reached

One statement, whose text runs on the driver's own connection. The position travels as bound words, nothing is written,
and no transaction is needed, since pieces never change. What is asked says nothing of the position that it comes from,
so many positions share a statement, and an answer holds whenever the same lane has the same word again: such answers
are kept, and only the others are asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product, repeat
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeGuard, cast

from sqlalchemy import FromClause, Select, select

from ggn_store.collector import held_off
from ggn_store.model import legality
from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.legality import Reach
from ggn_store.model.move import Assumption, Count, Move, displaced
from ggn_store.model.position import SIDES, Position
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store.database.engine import Asked, Database
from ggn_store.store.moves.positions import Opened
from ggn_store.store.moves.reading import Question
from ggn_store.store.moves.statements import Statements, read_statements
from ggn_store.store.rulesets import lanes
from ggn_store.store.rulesets.lanes import Statement
from ggn_store.store.rulesets.possibilities import SPAN, in_span, read_spans
from ggn_store.store.schema import tables as t

# What is kept in memory for the next questions to a revision, at most: moves, and answers made of them.
KEPT_MOVES = 100_000
KEPT_ANSWERS = 200_000
EVERYTHING: Final = Question()
# A piece that was met so often is read as a whole, if the board has not more squares, and all can be kept.
_OFTEN, _SMALL = 2, 256
_ORDER: Final = attrgetter("order")
# The order of a start has the piece's place in the document above the number of its first possibility.
_NUMBERS: Final = 40
_BASIC: Final = (EMPTY, ENEMY)
# No lane has this key.
_NOTHING: Final = (0, 0)

Moves = tuple[Move, ...]
Item = tuple[str, "str | None"]


class NotEncodableError(Exception):
    """A position is not made of piece identifiers on squares of the board only."""


class Bare(NamedTuple):
    """A position of which only the board is known, as anybody gave it."""

    board: Mapping[str, str | None]
    hands: None = None
    side: Side = "first"
    state: None = None


AnyBoard = Position | Bare


@dataclass(frozen=True, slots=True)
class _Target:
    """A target of a lane: the numbers of its possibilities, by piece on its square where they depend on that."""

    square: str
    numbers: tuple[int, ...]
    by_piece: Mapping[str, tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class _Lane:
    """A lane, what makes its word, as binary digits, of the table of its view, and its targets by their bits."""

    key: int
    view: Statements
    length: int
    gather: Callable[[bytes], bytes]
    targets: Mapping[int, _Target]


class _Reached(NamedTuple):
    """What the words of a start reach: the numbers that hold, and the targets where it depends on the piece there."""

    numbers: tuple[int, ...]
    open: tuple[_Target, ...]


@dataclass(slots=True, eq=False)
class Start:
    """A piece on a source: its place among all of the revision's, its lanes, and its possibilities as moves by number.

    `gather` makes the digits of all its words of the table that every position has; None where that does not do.
    `answers` has the moves for digits that were asked, or what is reached by them where moves depend on names;
    `reached` the same by what the lanes reach. `reach` is what all possibilities come to, once somebody asked.
    """

    piece: str
    source: str
    order: int = 0
    lanes: Sequence[_Lane] = ()
    moves: dict[int, Move] = field(default_factory=dict)
    gather: Callable[[bytes], bytes] | None = None
    is_named: bool = False
    answers: dict[bytes, Any] = field(default_factory=dict)
    reached: dict[tuple[int, ...], Any] = field(default_factory=dict)
    reach: Reach | None = None

    def words(self, digits: bytes) -> Iterator[tuple[int, int]]:
        """The lanes with their words."""
        begin = 0
        for lane in self.lanes:
            yield lane.key, int(digits[begin : begin + lane.length], 2)
            begin += lane.length

    def keep(self, digits: bytes, answer: Any) -> None:
        """Keep what the database has answered for the digits."""
        self.answers[digits] = answer

    def answer(self, reached: Iterable[int]) -> Moves | _Reached:
        """The answer for what the words of the lanes reach."""
        found = []
        for lane, bits in zip(self.lanes, reached, strict=True):
            while bits:
                bit = bits & -bits
                found.append(lane.targets[bit])
                bits ^= bit
        numbers = tuple(chain.from_iterable(target.numbers for target in found))
        if self.is_named:
            return _Reached(numbers, tuple(target for target in found if target.by_piece is not None))
        return tuple(map(self.moves.__getitem__, sorted(numbers)))

    def resolve(self, reached: _Reached, board: Mapping[str, str | None]) -> Moves:
        """The moves in a position."""
        numbers = list(reached.numbers)
        for target in reached.open:
            numbers += (target.by_piece or {})[board[target.square] or ""]
        return tuple(map(self.moves.__getitem__, sorted(numbers)))


@dataclass(slots=True)
class _Memory:
    """What a revision's questions have brought so far.

    For each side the starts by what stands where, empty for what is none; how often each piece was read; how many moves
    and answers there are.
    """

    starts: dict[Side, dict[Item, Start | tuple[()]]] = field(default_factory=lambda: {side: {} for side in SIDES})
    read: Counter[str | None] = field(default_factory=Counter)
    moves: int = 0
    answers: int = 0


# The starts of a position in order, their moves, and of which of them they are not known: their digits.
_LookedUp = tuple[list[Start], list[Moves], list[tuple[int, Start, bytes]]]


class FastQuery:
    """The fast query over one revision. Safe to use from several threads."""

    def __init__(self, database: Database, board: Board, pieces: Mapping[str, int], size: int, is_gdl: bool) -> None:
        """`size` says how many possibilities the revision has."""
        self.database = database
        self.board = board
        # What all of it is kept of is read a piece at a time.
        self._whole = board.squares if size <= KEPT_MOVES and len(board.squares) <= _SMALL else ()
        self._pieces = {piece: (place, piece_id) for place, (piece, piece_id) in enumerate(pieces.items())}
        self._held = {side: [(HAND, piece) for piece in pieces if side_of(piece) == side] for side in SIDES}
        self._is_gdl = is_gdl
        self._common = {side: Statements(board, side, _BASIC) for side in SIDES}
        self._views: dict[tuple[Side, tuple[Statement, ...]], Statements] = {}
        self._memory = _Memory()

    def moves(
        self, position: AnyBoard, question: Question = EVERYTHING, assume: Assumption | None = None
    ) -> list[Move]:
        """The moves in document order; raises NotEncodableError for a position that has to be looked at first."""
        moves = list(chain.from_iterable(self._answered(position, question)[1]))
        if question.destination is not None:
            moves = [move for move in moves if move.destination == question.destination]
        return moves if assume is None else list(map(displaced, moves))

    def many(self, positions: Sequence[Position]) -> list[list[Move]]:
        """For each position its moves; what is not known of any is asked at once. NotEncodableError like `moves`."""
        return [list(chain.from_iterable(parts)) for parts in self._parts(positions)]

    def counts(self, positions: Sequence[Position], by: Count) -> dict[int | str, int]:
        """How many moves there are: by number of the position, or by piece or destination that has any."""
        found = self._parts(positions)
        if by == "position":
            return {number: sum(map(len, parts)) for number, parts in enumerate(found)}
        told = attrgetter(by)
        return dict(Counter(told(move) for parts in found for moves in parts for move in moves))

    def parts(self, position: AnyBoard) -> list[tuple[Reach, Moves]]:
        """The moves start by start, each with what all its possibilities come to; NotEncodableError like `moves`."""
        starts, parts = self._answered(position, EVERYTHING)
        return [(start.reach or _reach(start), moves) for start, moves in zip(starts, parts, strict=True)]

    def reaches(self, side: Side, items: Iterable[Item]) -> list[Reach]:
        """What the possibilities of the pieces of a side come to; raises NotEncodableError like `moves`."""
        try:
            starts = self._starts(self._remember(), side, items)
        except (KeyError, TypeError):
            raise NotEncodableError from None
        return [start.reach or _reach(start) for start in starts]

    def statement(self, position: Position, question: Question = EVERYTHING) -> Select[Any]:
        """The statement that answers a question, with its values in it, for people to read."""
        *_, missing = self._look_up(_Memory(), position, question)
        rows = [row for _, start, digits in missing for row in start.words(digits)]
        return self.database.asking(_WORDS, rows or [_NOTHING])

    def _remember(self) -> _Memory:
        """What is known; where it is too much it is forgotten as a whole, so that whoever reads it goes on with it."""
        memory = self._memory
        if memory.answers > KEPT_ANSWERS or memory.moves > KEPT_MOVES:
            memory = self._memory = _Memory()
        return memory

    def _parts(self, positions: Sequence[Position]) -> list[list[Moves]]:
        """For each position the moves of its starts, in order."""
        memory = self._remember()
        for side in SIDES:
            of_side = [position for position in positions if position.side == side]
            self._starts(memory, side, set().union(*(self._items(position, side) for position in of_side)))
        looked_up = [self._look_up(memory, position, EVERYTHING) for position in positions]
        unknown = list(dict.fromkeys(each[1:] for _, _, missing in looked_up for each in missing))
        answers = dict(zip(unknown, self._ask(memory, unknown), strict=True))
        for position, (_, parts, missing) in zip(positions, looked_up, strict=True):
            for place, start, digits in missing:
                answer = answers[start, digits]
                parts[place] = start.resolve(answer, position.board) if start.is_named else answer
        return [parts for _, parts, _ in looked_up]

    def _answered(self, position: AnyBoard, question: Question) -> tuple[list[Start], list[Moves]]:
        """The starts of a position, and the moves of each."""
        memory = self._remember()
        starts, parts, missing = self._look_up(memory, position, question)
        if missing:
            answers = self._ask(memory, [(start, digits) for _, start, digits in missing])
            for (place, start, _), answer in zip(missing, answers, strict=True):
                parts[place] = start.resolve(answer, position.board) if start.is_named else answer
        return starts, parts

    def _look_up(self, memory: _Memory, position: AnyBoard, question: Question) -> _LookedUp:
        """What is known of a position's starts, and what is to be asked."""
        side = question.side or position.side
        board = position.board
        items = self._items(position, side)
        if question is not EVERYTHING:
            items = [
                (square, piece)
                for square, piece in items
                if question.piece in (None, piece) and question.source in (None, square)
            ]
        try:
            starts = self._starts(memory, side, items)
            table = self._common[side].table(board.items(), position.state)
        except (KeyError, TypeError):
            raise NotEncodableError from None
        parts: list[Moves] = []
        missing = []
        tables: dict[Statements, bytes] = {}
        for start in starts:
            gather = start.gather
            digits = _digits(start, position, tables) if gather is None else gather(table)
            known = start.answers.get(digits)
            if known is None:
                missing.append((len(parts), start, digits))
                known = ()
            elif start.is_named:
                known = start.resolve(known, board)
            parts.append(known)
        return starts, parts, missing

    def _items(self, position: AnyBoard, side: Side) -> list[Item]:
        """What stands where on the board, and what is in the hand of a side."""
        items: list[Item] = list(position.board.items())
        if position.hands is None:
            items += self._held[side]
        elif position.hands:
            items += [(HAND, piece) for piece, count in position.hands.items() if count >= 1]
        return items

    def _starts(self, memory: _Memory, side: Side, items: Iterable[Item]) -> list[Start]:
        """The starts among what stands where, in document order."""
        known = memory.starts[side]
        found = list(map(known.get, items))
        if None in found:
            with held_off():
                self._learn(memory, side, [item for item, start in zip(items, found, strict=True) if start is None])
            found = list(map(known.get, items))
        starts = cast(list[Start], list(filter(None, found)))
        starts.sort(key=_ORDER)
        return starts

    # --- what is not known yet ---

    def _ask(self, memory: _Memory, missing: Sequence[tuple[Start, bytes]]) -> list[Any]:
        """What the database answers for some starts and the digits of their words, which is kept."""
        answers = []
        rows = [row for start, digits in missing for row in start.words(digits)]
        reached = {(key, word): bits for key, word, bits in self.database.ask(_WORDS, rows)}
        of_rows = map(reached.get, rows, repeat(0))
        for start, digits in missing:
            found = tuple(islice(of_rows, len(start.lanes)))
            answer = start.reached.get(found)
            if answer is None:
                answer = start.reached[found] = start.answer(found)
            start.keep(digits, answer)
            answers.append(answer)
        memory.answers += len(missing)
        return answers

    def _learn(self, memory: _Memory, side: Side, items: Sequence[Item]) -> None:
        """Read the lanes of pieces on squares, and the moves that they answer with."""
        pieces = {piece for _, piece in items}
        memory.read.update(pieces)
        # A piece of the other side has no starts anywhere; one that is met again and again is read as a whole.
        whole = {piece for piece in pieces if not self._is_of(piece, side) or memory.read[piece] == _OFTEN}
        learnt: dict[Item, Start | tuple[()]] = dict.fromkeys(items, ())
        learnt |= {item: () for item in product(self._whole, whole) if item not in memory.starts[side]}
        keys: dict[int, Start] = {}
        for square, piece in learnt:
            if self._is_of(piece, side):
                number = None if square == HAND else self.board.numbers[square]
                keys[lanes.key_of(self._pieces[piece][1], number)] = Start(piece, square)
        rows: dict[int, list[Any]] = {}
        for row in sorted(self.database.ask(_LANES, [(key, lanes.last_of(key)) for key in keys])):
            rows.setdefault(row[0], []).append(row[1:])
        spans: dict[tuple[int, int, int], Start] = {}
        for lowest, of_start in rows.items():
            start = keys[lowest]
            numbers = self._fill(start, side, of_start)
            place, piece_id = self._pieces[start.piece]
            start.order = place << _NUMBERS | min(numbers)
            learnt[start.source, start.piece] = start
            spans[piece_id, min(numbers), max(numbers)] = start
        memory.moves += self._read(spans)
        memory.answers += len(learnt)
        memory.starts[side].update(learnt)

    def _is_of(self, piece: str | None, side: Side) -> TypeGuard[str]:
        return piece is not None and piece in self._pieces and side_of(piece) == side

    def _fill(self, start: Start, side: Side, rows: Iterable[Any]) -> list[int]:
        """Put the lanes of a start into it; the numbers of its possibilities."""
        found: list[int] = []
        of_start, facts_of_start = [], []
        common = self._common[side]
        for key, each, target, statements, facts, numbers in rows:
            said, facts, numbers = read_statements(statements), facts.split(" "), list(map(int, numbers.split(" ")))
            view = self._view(side, said)
            following = iter(numbers)
            targets = {}
            for place, fact in enumerate(facts):
                if target >> place & 1:
                    statement, square = divmod(int(fact), max(1, len(self.board.squares)))
                    names = str(said[statement]).split("|")
                    held = [tuple(islice(following, each)) for _ in names]
                    if len(names) == 1:
                        targets[1 << place] = _Target("", held[0])
                    else:
                        by_piece = dict(zip(names, held, strict=True))
                        targets[1 << place] = _Target(self.board.squares[square], (), by_piece)
                        start.is_named = True
            places = view.places(said, facts)
            of_start.append(_Lane(key, view, len(facts), view.gather(places), targets))
            facts_of_start += places
            found += numbers
        start.lanes = of_start
        if all(lane.view is common for lane in of_start):
            start.gather = common.gather(facts_of_start)
        return found

    def _view(self, side: Side, statements: tuple[Statement, ...]) -> Statements:
        """One that has these statements: if there is room, the one whose table every position has."""
        common = self._common[side]
        if common.has_room(statements):
            common.add(statements)
            return common
        return self._views.setdefault((side, statements), Statements(self.board, side, statements))

    def _read(self, spans: Mapping[tuple[int, int, int], Start]) -> int:
        """Read the possibilities from a number to another of pieces, as moves of their starts; how many they are."""
        rows = list(spans)
        details = read_spans(self.database, self.board.squares, rows, is_gdl=self._is_gdl)
        count = 0
        for piece_id, first, last, number, ordinal, toggle, square in self.database.ask(_VARIANTS, rows):
            start = spans[piece_id, first, last]
            places = start.piece, start.source, self.board.label(square)
            start.moves[number] = details[piece_id, number].move(*places, ordinal, toggle)
            count += 1
        return count


def _reach(start: Start) -> Reach:
    start.reach = legality.reach(start.moves.values())
    return start.reach


def _digits(start: Start, position: AnyBoard, tables: dict[Statements, bytes]) -> bytes:
    """The digits of a start's words, where they need more than the table that every position has: also other tables."""
    for lane in start.lanes:
        if lane.view not in tables:
            tables[lane.view] = lane.view.table(position.board.items(), position.state)
    return b"".join(lane.gather(tables[lane.view]) for lane in start.lanes)


# --- the statements ---


def _reached(asked: FromClause) -> Select[Any]:
    """Of the words of lanes, the targets that are reached; `store.rulesets.lanes` says how."""
    lane, word = t.lane.c, asked.c.word
    opened = word.bitwise_and(lane.path).bitwise_or(lane.passed)
    carried = opened + lane.first
    # SQLite has no exclusive or.
    changed = opened.bitwise_or(carried).bitwise_and(opened.bitwise_and(carried).bitwise_not())
    reached = word.bitwise_and(lane.target).bitwise_and(changed)
    return select(lane.key, word, reached.label("reached")).join_from(asked, t.lane, lane.key == asked.c.key)


def _found(asked: FromClause) -> Select[Any]:
    lane = t.lane.c
    return select(
        asked.c.lowest, lane.key, lane.each, lane.target, lane.statements, lane.facts, lane.numbers
    ).join_from(asked, t.lane, lane.key.between(asked.c.lowest, asked.c.highest))


def _variants(asked: FromClause) -> Select[Any]:
    variant = t.variant.c
    return (
        select(*asked.c, variant.number, variant.ordinal, variant.toggle, t.destination.c.square)
        .join_from(asked, t.variant, in_span(asked, variant.number))
        .join(t.destination, t.VARIANT_OF_DESTINATION)
    )


_WORDS: Final = Asked(("key", "word"), _reached)
_LANES: Final = Asked(("lowest", "highest"), _found)
_VARIANTS: Final = Asked(SPAN, _variants)


def read(opened: Opened) -> FastQuery | None:
    """The fast query over a revision; None where lanes are missing."""
    database, connection, revision, board = opened
    pieces = connection.execute(
        select(t.piece.c.identifier, t.piece.c.id, t.piece.c.lanes, t.piece_summary.c.possibilities)
        .join(t.revision_piece, t.revision_piece.c.piece_id == t.piece.c.id)
        .outerjoin(t.piece_summary, t.piece_summary.c.piece_id == t.piece.c.id)
        .where(t.revision_piece.c.revision_id == revision.id)
        .order_by(t.revision_piece.c.ordinal)
    ).all()
    if any(piece.lanes != lanes.VERSION for piece in pieces):
        return None
    size = sum(piece.possibilities or 0 for piece in pieces)
    return FastQuery(database, board, {each.identifier: each.id for each in pieces}, size, revision.dialect == "gdl")


def can_answer(question: Question) -> bool:
    """Whether the pieces that are asked are those of the side that `enemy` is seen from, as in the lanes."""
    if question.safe is not None:
        return False
    return not question.any_side or (question.piece is not None and question.side == side_of(question.piece))
