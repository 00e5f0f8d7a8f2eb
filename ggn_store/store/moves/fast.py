"""The fast query: which possibilities of a revision hold in a position, or in many?

    asked (the key of a lane, and the word that a position gives it) -> the lane -> which of its targets are reached

One statement, whose text runs on the driver's own connection. The position travels as bound words, nothing is written,
and no transaction is needed, since pieces never change. What is asked says nothing of the position that it comes from,
so many positions share a statement, and an answer holds whenever the same lane has the same word again: such answers
are kept, and only the others are asked for.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product, starmap
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard, cast

from sqlalchemy import FromClause, Select, select

from ggn_store.collector import held_off
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.documents.lane import Statement, alternatives
from ggn_store.model.moves import play_text
from ggn_store.model.moves.move import Assumption, Count, Move, displaced
from ggn_store.model.moves.position import SIDES, Position
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store.database.engine import Database, RowSelect
from ggn_store.store.moves.positions import Opened
from ggn_store.store.moves.reading import Question
from ggn_store.store.moves.starts import CodedLane, FoundMoves, LaneCase, LaneChain, LaneTarget, Seen, Start
from ggn_store.store.moves.statements import Statements, read_statements
from ggn_store.store.rulesets import lanes
from ggn_store.store.rulesets.possibilities import SPAN, in_span, read_spans
from ggn_store.store.schema import tables as t

if TYPE_CHECKING:
    from ggn_store.model.moves.threats import Item, Reach

# What is kept in memory for the next questions to a revision, at most: moves, what the database answered, and as much
# that is put together of that.
KEPT_MOVES = 100_000
KEPT_ANSWERS = 200_000
EVERYTHING: Final = Question()
# A piece that is met again is read as a whole, if the board has not more squares, and all can be kept; what it answers
# for most of what it may see is asked then, too. On boards of more than some squares, where that takes longer than
# many times one square, once it has been met on such a part of the others.
_SOON, _SMALL, _OFTEN = 64, 256, 8
# Leaps, chains of one fact, share answers, so many at most.
_LEAPS: Final = 4
_ORDER: Final = attrgetter("order")
# The order of a start has the piece's place in the document above the number of its first possibility.
_NUMBERS: Final = 40
_BASIC: Final = (EMPTY, ENEMY)
# No lane has this key.
_NOTHING: Final = (0, 0)
# Of a lane that is no more nothing is reached, whatever is looked at.
_GONE: Final = (0, -1)


class NotEncodableError(Exception):
    """A position is not made of piece identifiers on squares of the board only."""


class Bare(NamedTuple):
    """A position of which only the board is known, as anybody gave it."""

    board: Mapping[str, str | None]
    hands: None = None
    side: Side = "first"
    state: None = None


AnyBoard = Position | Bare


class _Unknown(NamedTuple):
    """A start whose answer is not known: what it sees, and its lanes with their words."""

    start: Start
    seen: Seen
    words: Sequence[tuple[int, int]]


@dataclass(slots=True)
class _Memory:
    """What a revision's questions have brought so far.

    For each side the starts by what stands where, empty for what is none; on how many squares each piece was met after
    the first time; how many moves there are, things that the database was asked for, and answers of starts.
    """

    starts: dict[Side, dict[Item, Start | tuple[()]]] = field(default_factory=lambda: {side: {} for side in SIDES})
    met: dict[str | None, int] = field(default_factory=dict)
    moves: int = 0
    asked: int = 0
    answers: int = 0

    def forget_answers(self) -> None:
        """Keep what the database said, of which answers are put together again without it."""
        for start in chain.from_iterable([list(of_side.values()) for of_side in self.starts.values()]):
            if start:  # of a list, since another thread may be adding some
                start.forget()
        self.answers = 0

    def meets(self, piece: str | None, count: int, most: int) -> bool:
        """Count the squares on which a piece is met; whether they have become more than `most` just now."""
        before = self.met.get(piece, -count)
        self.met[piece] = before + count
        return before <= most < before + count


# The starts of a position in order, their moves, and by their places those whose moves are not known.
_LookedUp = tuple[list[Start], list[FoundMoves], dict[int, _Unknown]]


class FastQuery:
    """The fast query over one revision. Safe to use from several threads."""

    def __init__(
        self, database: Database, board: Board, pieces: Mapping[str, int], size: int, is_gdl: bool, blasts: bool = False
    ) -> None:
        """`size` says how many possibilities the revision has, `blasts` whether captures may blast."""
        self.database = database
        self.board = board
        # What all of it is kept of is read a piece at a time.
        self._whole = board.squares if size <= KEPT_MOVES and len(board.squares) <= _SMALL else ()
        self._pieces = {piece: (place, piece_id) for place, (piece, piece_id) in enumerate(pieces.items())}
        self._held = {side: [(HAND, piece) for piece in pieces if side_of(piece) == side] for side in SIDES}
        self._is_gdl = is_gdl
        self._blasts = blasts
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
        return [list(chain.from_iterable(parts)) for _, parts in self._answers(positions)]

    def counts(self, positions: Sequence[Position], by: Count) -> dict[int | str, int]:
        """How many moves there are: by number of the position, or by piece or destination that has any."""
        found = [parts for _, parts in self._answers(positions)]
        if by == "position":
            return {number: sum(map(len, parts)) for number, parts in enumerate(found)}
        told = attrgetter(by)
        return dict(Counter(told(move) for parts in found for moves in parts for move in moves))

    def parts(self, position: AnyBoard) -> list[tuple[Reach, FoundMoves]]:
        """The moves start by start, each with what all its possibilities come to; NotEncodableError like `moves`."""
        return self._with_reaches(*self._answered(position, EVERYTHING))

    def parts_of_many(self, positions: Sequence[Position]) -> list[list[tuple[Reach, FoundMoves]]]:
        """The same of each of many positions; what is not known of any is asked at once."""
        return list(starmap(self._with_reaches, self._answers(positions)))

    def reaches(self, side: Side, items: Iterable[Item]) -> list[Reach]:
        """What the possibilities of the pieces of a side come to; raises NotEncodableError like `moves`."""
        try:
            starts = self._starts(self._remember(), side, items)
        except (KeyError, TypeError):
            raise NotEncodableError from None
        return [start.reach or self._reach(start) for start in starts]

    def code(self, side: Side, items: Iterable[Item]) -> int:
        """What is on a board as the pieces of a side look at it; raises NotEncodableError like `moves`."""
        try:
            return self._common[side].code(items, None)
        except (KeyError, TypeError):
            raise NotEncodableError from None

    def statement(self, position: Position, question: Question = EVERYTHING) -> Select[Any]:
        """The statement that answers a question, with its values in it, for people to read."""
        *_, missing = self._look_up(_Memory(), position, question)
        rows = [row for each in missing.values() for row in each.words]
        return self.database.asking(_WORDS, rows or [_NOTHING])

    def _remember(self) -> _Memory:
        """What is known; what is too much is replaced by nothing, so that whoever reads it goes on with it."""
        memory = self._memory
        if memory.asked > KEPT_ANSWERS or memory.moves > KEPT_MOVES:
            memory = self._memory = _Memory()
        if memory.answers > KEPT_ANSWERS:
            memory.forget_answers()
        return memory

    def _answers(self, positions: Sequence[Position]) -> list[tuple[list[Start], list[FoundMoves]]]:
        """For each position its starts, in order, and the moves of each."""
        memory = self._remember()
        for side in SIDES:
            of_side = [position for position in positions if position.side == side]
            self._starts(memory, side, set().union(*(self._items(position, side) for position in of_side)))
        looked_up = [self._look_up(memory, position, EVERYTHING) for position in positions]
        unknown = {(each.start, each.seen): each for *_, missing in looked_up for each in missing.values()}
        answers = dict(zip(unknown, self._ask(memory, list(unknown.values())), strict=True))
        for position, (_, parts, missing) in zip(positions, looked_up, strict=True):
            for place, each in missing.items():
                parts[place] = _resolved(each.start, answers[each.start, each.seen], position.board)
        return [(starts, parts) for starts, parts, _ in looked_up]

    def _answered(self, position: AnyBoard, question: Question) -> tuple[list[Start], list[FoundMoves]]:
        """The starts of a position, and the moves of each."""
        memory = self._remember()
        starts, parts, missing = self._look_up(memory, position, question)
        if missing:
            answers = self._ask(memory, list(missing.values()))
            for (place, each), answer in zip(missing.items(), answers, strict=True):
                parts[place] = _resolved(each.start, answer, position.board)
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
            code = self._common[side].code(board.items(), position.state)
        except (KeyError, TypeError):
            raise NotEncodableError from None
        parts: list[FoundMoves] = []
        missing: dict[int, _Unknown] = {}
        codes = {self._common[side]: code}
        digits: dict[Statements, str] = {}
        for start in starts:
            seen = code & start.mask if start.mask is not None else _seen(start, position, codes)
            answer = start.answers.get(seen)
            if answer is None:
                memory.answers += 1
                answer = start.known(seen)
            if answer is None:
                missing[len(parts)] = _Unknown(start, seen, _words(start, codes, digits))
                parts.append(())
            else:
                parts.append(start.resolve(answer, board) if start.is_named else answer)
        return starts, parts, missing

    def _with_reaches(self, starts: list[Start], parts: list[FoundMoves]) -> list[tuple[Reach, FoundMoves]]:
        return [(start.reach or self._reach(start), moves) for start, moves in zip(starts, parts, strict=True)]

    def _reach(self, start: Start) -> Reach:
        mask = None if start.is_named else start.mask
        about = self._common[side_of(start.piece)].about
        bits = None if mask is None else lambda squares: mask & about(squares)
        from ggn_store.model.moves import threats  # which only legal moves ask for

        start.reach = threats.reach(start.moves.values(), self._blasts, bits)
        return start.reach

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
        try:
            found = list(map(known.__getitem__, items))
        except KeyError:
            with held_off():
                self._learn(memory, side, [item for item in items if item not in known])
            found = list(map(known.__getitem__, items))
        starts = cast(list[Start], list(filter(None, found)))
        starts.sort(key=_ORDER)
        return starts

    # --- what is not known yet ---

    def _ask(self, memory: _Memory, missing: Sequence[_Unknown]) -> list[Any]:
        """What the database answers for some starts, which is kept."""
        rows = list(dict.fromkeys(chain.from_iterable([each.words for each in missing])))
        found = {(key, word): told for key, word, *told in self.database.ask(_WORDS, rows)}
        memory.asked += sum(len(each.start.chains) for each in missing)
        return [each.start.learn(each.seen, [found.get(row, _GONE) for row in each.words]) for each in missing]

    def _ask_beforehand(self, starts: Iterable[Start]) -> int:
        """Ask what starts answer for most of what they may see, so that hardly any position asks; how much that is."""
        asked: dict[tuple[int, int], list[LaneCase]] = {}
        for start in starts:
            asked |= start.cases()
        for key, word, reached, looked in self.database.ask(_WORDS, list(asked)):
            for each, code in asked[key, word]:
                each.learn(code, reached, looked)
        return sum(map(len, asked.values()))

    def _learn(self, memory: _Memory, side: Side, items: Sequence[Item]) -> None:
        """Read the lanes of pieces on squares, and the moves that they answer with."""
        own = Counter(piece for _, piece in items if self._is_of(piece, side))
        # A piece of the other side has no starts anywhere; one that is met again and again is read as a whole.
        whole = {piece for _, piece in items if piece not in own}
        most = max(0, len(self._whole) - _SOON) // _OFTEN
        whole |= {piece for piece, count in own.items() if memory.meets(piece, count, most)}
        learnt: dict[Item, Start | tuple[()]] = dict.fromkeys(items, ())
        learnt |= {item: () for item in product(self._whole, whole) if item not in memory.starts[side]}
        keys: dict[int, Start] = {}
        for square, piece in learnt:
            if self._is_of(piece, side):
                number = None if square == HAND else self.board.numbers[square]
                keys[lanes.key_of(self._pieces[piece][1], number)] = Start(piece, square)
        with self.database.explained():
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
        memory.asked += len(learnt)
        memory.starts[side].update(learnt)
        self._held[side] = [item for item in self._held[side] if learnt.get(item) != ()]  # others are never dropped
        if self._whole and memory.asked < KEPT_ANSWERS // 2:  # half is for what positions ask
            of_whole = [memory.starts[side].get(item) for item in product(self._whole, whole & own.keys())]
            memory.asked += self._ask_beforehand([start for start in of_whole if start])

    def _is_of(self, piece: str | None, side: Side) -> TypeGuard[str]:
        return piece is not None and piece in self._pieces and side_of(piece) == side

    def _fill(self, start: Start, side: Side, rows: Iterable[Any]) -> list[int]:
        """Put its lanes into a start; the numbers of its possibilities."""
        lanes: list[CodedLane] = []
        chains: list[LaneChain] = []
        found: list[int] = []
        for key, first, passed, each, targets, *texts in rows:
            said, facts, numbers = read_statements(texts[0]), texts[1].split(" "), list(map(int, texts[2].split(" ")))
            view = self._view(side, said)
            places = view.places(said, facts)
            masks = [sum(1 << place for place in several) for several in places]
            following = iter(numbers)
            leaps = 0
            for place, fact in enumerate(facts):
                bit = 1 << place
                if first & bit:
                    is_leap = place + 1 == len(facts) or bool(first & bit << 1)
                    if not leaps or not is_leap:
                        chains.append(LaneChain(len(lanes), is_leap))
                    leaps = (leaps + 1) % _LEAPS if is_leap else 0
                chains[-1].add(bit, masks[place], is_passed=bool(passed & bit))
                if targets & bit:
                    chains[-1].targets[bit] = self._target(said, fact, each, following)
            mask = functools.reduce(operator.or_, masks)
            lanes.append(CodedLane(key, view, mask, _gather(places[::-1])))
            found += numbers
        start.lanes, start.chains = lanes, chains
        start.is_named = any(target.by_piece is not None for each in chains for target in each.targets.values())
        if all(lane.view is self._common[side] for lane in lanes):
            start.mask = functools.reduce(operator.or_, [lane.mask for lane in lanes])
        return found

    def _target(self, said: Sequence[Statement], fact: str, each: int, numbers: Iterator[int]) -> LaneTarget:
        """The target that a fact is, whose alternatives stand for `each` of the numbers that follow."""
        statement, square = divmod(int(fact.split("+")[0]), max(1, len(self.board.squares)))
        names = alternatives(said[statement])
        held = [tuple(islice(numbers, each)) for _ in names]
        if len(names) == 1:
            return LaneTarget("", held[0])
        return LaneTarget(self.board.squares[square], (), dict(zip(names, held, strict=True)))

    def _view(self, side: Side, statements: tuple[Statement, ...]) -> Statements:
        """One that has these statements: if there is room, the one whose code every position has."""
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
        for (_, first, last), start in spans.items():
            if len(start.moves) != last - first + 1:
                raise LookupError(f"{start.piece} lacks possibilities from {start.source}")
        return count


def _gather(places: Sequence[Sequence[int]]) -> Callable[[str], str]:
    """What picks the digits of places out of others; of several places together, 1 where all have it."""
    if any(len(several) > 1 for several in places):
        return lambda digits: "".join([min(map(digits.__getitem__, several)) for several in places])
    singles = [place for (place,) in places]
    if len(singles) == 1:
        return operator.itemgetter(singles[0])
    pick = operator.itemgetter(*singles)
    return lambda digits: "".join(pick(digits))


def _seen(start: Start, position: AnyBoard, codes: dict[Statements, int]) -> Seen:
    """What a start sees that needs more than the code that every position has: also other codes."""
    for lane in start.lanes:
        if lane.view not in codes:
            codes[lane.view] = lane.view.code(position.board.items(), position.state)
    return tuple([codes[lane.view] & lane.mask for lane in start.lanes])


def _words(start: Start, codes: Mapping[Statements, int], digits: dict[Statements, str]) -> list[tuple[int, int]]:
    """The lanes of a start with the words that codes give them; `digits` of codes are made once."""
    words = []
    for lane in start.lanes:
        of_view = digits.get(lane.view)
        if of_view is None:
            of_view = digits[lane.view] = lane.view.digits(codes[lane.view])
        words.append((lane.key, int(lane.gather(of_view), 2)))
    return words


def _resolved(start: Start, answer: Any, board: Mapping[str, str | None]) -> FoundMoves:
    moves: FoundMoves = start.resolve(answer, board) if start.is_named else answer
    return moves


# --- the statements ---


def _reached(asked: FromClause) -> Select[Any]:
    """Of the words of lanes, the targets that are reached, and the facts that were looked at for it.

    `store.rulesets.lanes` says how.
    """
    lane, word = t.lane.c, asked.c.word
    opened = word.bitwise_and(lane.path).bitwise_or(lane.passed)
    carried = opened + lane.first
    # SQLite has no exclusive or.
    changed = opened.bitwise_or(carried).bitwise_and(opened.bitwise_and(carried).bitwise_not())
    reached = word.bitwise_and(lane.target).bitwise_and(changed)
    return select(lane.key, word, reached.label("reached"), changed.label("looked")).join_from(
        asked, t.lane, lane.key == asked.c.key
    )


def _found(asked: FromClause) -> Select[Any]:
    lane = t.lane.c
    return select(
        asked.c.lowest,
        *(lane.key, lane.first, lane.passed, lane.each, lane.target, lane.statements, lane.facts, lane.numbers),
    ).join_from(asked, t.lane, lane.key.between(asked.c.lowest, asked.c.highest))


def _variants(asked: FromClause) -> Select[Any]:
    variant = t.variant.c
    return (
        select(*asked.c, variant.number, variant.ordinal, variant.toggle, t.destination.c.square)
        .join_from(asked, t.variant, in_span(asked, variant.number))
        .join(t.destination, t.VARIANT_OF_DESTINATION)
    )


_WORDS: Final = RowSelect(("key", "word"), _reached)
_LANES: Final = RowSelect(("lowest", "highest"), _found)
_VARIANTS: Final = RowSelect(SPAN, _variants)


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
    keys, blasts = {each.identifier: each.id for each in pieces}, play_text.parse(revision.envelope.play).blasts
    return FastQuery(database, board, keys, size, revision.dialect == "gdl", blasts)


def can_answer(question: Question) -> bool:
    """Whether the pieces that are asked are those of the side that `enemy` is seen from, as in the lanes."""
    if question.safe is not None:
        return False
    return not question.any_side or (question.piece is not None and question.side == side_of(question.piece))
