"""The fast query: which possibilities of a revision hold in one position?

    asked (a start for every piece that is asked)
       -> its masks, where none of them meets the position's
       -> where a row is exact, no condition on a piece by name fails

SQLAlchemy builds the statements, once for each number of starts; their text runs on the driver's own connection. The
position travels as bound values, nothing is written, and no transaction is needed, since pieces never change. The
answer is a start and a number for each possibility. Masks know nothing of state variables: of rules that have any, the
caller keeps the moves whose guards let the state pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, cast

from sqlalchemy import Select, Table, bindparam, select

from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.move import Assumption, Move, displaced
from ggn_store.model.position import Position
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store.database.engine import Database, Prepared
from ggn_store.store.moves.codes import Codes
from ggn_store.store.moves.mask_query import fast_query, plane_names, prepared
from ggn_store.store.moves.positions import Opened
from ggn_store.store.moves.reading import Question
from ggn_store.store.rulesets import masks
from ggn_store.store.rulesets.possibilities import decode
from ggn_store.store.schema import tables as t

# What is kept in memory for the next questions to a revision, at most: moves, and answers made of them.
KEPT_MOVES = 100_000
KEPT_ANSWERS = 200_000
EVERYTHING: Final = Question()


class NotEncodableError(Exception):
    """A position is not made of piece identifiers on squares of the board only."""


@dataclass(slots=True, eq=False)
class _Start:
    """A piece on a source, and what is known of it so far.

    `relevant` are the bits of a position's code that its possibilities depend on, `moves` these by number, `exact` the
    numbers of those that name pieces in their conditions, and `answers` the moves for relevant bits that were asked.
    """

    place: int
    key: int
    piece: str
    source: str
    relevant: int = -1
    moves: dict[int, Move] = field(default_factory=dict)
    exact: frozenset[int] = frozenset()
    answers: dict[int, tuple[Move, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class LookedUp:
    """What is known of the starts of many positions: for each the bits it depends on, and its moves or None.

    `unknown` is what is to be asked, once however often it comes: a start and its bits, the number of a position that
    has them, and the moves that are possible.
    """

    parts: list[list[tuple[_Start, int, tuple[Move, ...] | None]]] = field(default_factory=list)
    unknown: dict[tuple[_Start, int], tuple[int, Mapping[int, Move]]] = field(default_factory=dict)

    def asked(self) -> dict[int, list[_Start]]:
        """The starts to be asked, by the number of the position."""
        found: dict[int, list[_Start]] = {}
        for (start, _), (number, _) in self.unknown.items():
            found.setdefault(number, []).append(start)
        return found


class FastQuery:
    """The fast query over one revision. Safe to use from several threads.

    Pieces never change, so that what the database has said of a piece on a square holds whenever the squares that its
    rules speak of are the same again: such answers are kept, and only the others are asked for.
    """

    def __init__(
        self, database: Database, board: Board, words: int, sources: Iterable[Any], is_gdl: bool = False
    ) -> None:
        self.database = database
        self._is_gdl = is_gdl
        self._details = _DETAILS_OF_GDL if is_gdl else _DETAILS
        self.board = board
        self.words = words
        self._codes = Codes(board, words)
        self._placed: dict[Side, dict[tuple[str, str], tuple[int, _Start]]] = {"first": {}, "second": {}}
        self._held: dict[Side, list[tuple[str, tuple[int, _Start]]]] = {"first": [], "second": []}
        self._starts: dict[int, _Start] = {}
        for place, (piece_id, piece, ordinal, number) in enumerate(sources):
            start = _Start(place, masks.start(piece_id, ordinal), piece, board.label(number))
            self._starts[start.key] = start
            if number is None:
                self._held[side_of(piece)].append((piece, (place, start)))
            else:
                self._placed[side_of(piece)][start.source, piece] = place, start
        self._statements: dict[int, Prepared] = {}
        self._kept_moves = self._kept_answers = 0

    def moves(
        self,
        board: Mapping[str, str | None],
        hands: Mapping[str, int] | None,
        side: Side,
        question: Question = EVERYTHING,
        assume: Assumption | None = None,
    ) -> list[Move]:
        """The moves in document order; raises NotEncodableError for a position that has to be looked at first."""
        code = self._encode(board)
        parts: list[tuple[Move, ...]] = []
        missing = []
        for _, start in self._asked(board, hands, side, question):
            known = start.answers.get(code & start.relevant)
            if known is None:
                missing.append((len(parts), start))
                known = ()
            parts.append(known)
        if missing:
            self._answer(missing, parts, code, board, side)
        found = list(chain.from_iterable(parts))
        if question.destination is not None:
            found = [move for move in found if move.destination == question.destination]
        return found if assume is None else list(map(displaced, found))

    def starts(self, position: Position) -> list[int]:
        """The starts that a position asks, in document order."""
        return [start.key for _, start in self._asked(position.board, position.hands, position.side, EVERYTHING)]

    def planes(self, position: Position) -> tuple[int, ...]:
        """The words of a position, as `plane_names` names them. Raises NotEncodableError like `moves`."""
        return self._codes.planes(self._encode(position.board), position.side)

    def look_up(self, positions: Iterable[Position]) -> LookedUp:
        """What is known of many positions, and what is to be asked; NotEncodableError like `moves`."""
        found = LookedUp()
        for number, position in enumerate(positions):
            code = self._encode(position.board)
            parts: list[tuple[_Start, int, tuple[Move, ...] | None]] = []
            for _, start in self._asked(position.board, position.hands, position.side, EVERYTHING):
                moves = start.moves or self._read(start)
                bits = code & start.relevant
                known = start.answers.get(bits)
                if known is None and (start, bits) not in found.unknown:
                    found.unknown[start, bits] = number, moves
                parts.append((start, bits, known))
            found.parts.append(parts)
        return found

    def complete(self, looked_up: LookedUp, rows: Iterable[tuple[int, int, int]]) -> list[list[Move]]:
        """The moves of each position, where `rows` are those of what was unknown: position, start and number."""
        numbers: dict[tuple[int, int], list[int]] = {}
        for position, key, number in rows:
            numbers.setdefault((position, key), []).append(number)
        answers = {}
        for context, (position, moves) in looked_up.unknown.items():
            held = numbers.get((position, context[0].key))
            answers[context] = tuple(map(moves.__getitem__, sorted(held))) if held else ()
        self._keep(answers)
        return [
            list(chain.from_iterable(answers[start, bits] if known is None else known for start, bits, known in parts))
            for parts in looked_up.parts
        ]

    def statement(
        self,
        board: Mapping[str, str | None],
        hands: Mapping[str, int] | None,
        side: Side,
        question: Question = EVERYTHING,
    ) -> Select[Any]:
        """The statement that answers a question, with its values in it, for people to read."""
        starts = [start.key for _, start in self._asked(board, hands, side, question)]
        planes = self._codes.planes(self._encode(board), side)
        values = dict(zip(plane_names(self.words), planes, strict=True))
        query = fast_query(self.database, self.words, len(starts), exact=True)
        return query.params(self.database.asked_values(starts) | values | {"pieces": self.pieces(board)})

    def _encode(self, board: Mapping[str, str | None]) -> int:
        try:
            return sum(map(self._codes.__getitem__, board.items()))
        except (KeyError, TypeError):
            raise NotEncodableError from None

    def _asked(
        self, board: Mapping[str, str | None], hands: Mapping[str, int] | None, side: Side, question: Question
    ) -> list[tuple[int, _Start]]:
        """The pieces of the side that stand on the board and are in its hand, in document order."""
        placed = map(cast(dict[Any, tuple[int, _Start]], self._placed[side]).get, board.items())
        asked = [each for each in placed if each is not None]
        for piece, each in self._held[side]:
            if hands is None or hands.get(piece, 0) >= 1:
                asked.append(each)
        if question is not EVERYTHING:
            asked = [
                (place, start)
                for place, start in asked
                if question.piece in (None, start.piece) and question.source in (None, start.source)
            ]
        asked.sort()
        return asked

    # --- what is not known yet ---

    def _answer(
        self,
        missing: list[tuple[int, _Start]],
        parts: list[tuple[Move, ...]],
        code: int,
        board: Mapping[str, str | None],
        side: Side,
    ) -> None:
        """Ask the database for the moves of some starts, and put them into their places among the parts."""
        moves: dict[int, dict[int, Move]] = {}
        exact: dict[int, frozenset[int]] = {}
        for _, start in missing:
            moves[start.key] = start.moves or self._read(start)
            if start.exact:
                exact[start.key] = start.exact
        keys = list(moves)
        planes = self._codes.planes(code, side)
        statement = self._statements.get(len(keys)) or self._prepare(len(keys))
        rows = self.database.fetch(statement.text, statement.arrange(keys, planes))
        if exact:
            rows = self._without_failing(rows, exact, planes, board)
        rows.sort()
        held: dict[int, list[Move]] = {key: [] for key in keys}
        for key, number in rows:
            held[key].append(moves[key][number])
        answers = {}
        for place, start in missing:
            answers[start, code & start.relevant] = parts[place] = tuple(held[start.key])
        self._keep(answers)

    def _without_failing(
        self,
        rows: list[tuple[int, int]],
        exact: Mapping[int, frozenset[int]],
        planes: tuple[int, ...],
        board: Mapping[str, str | None],
    ) -> list[tuple[int, int]]:
        """The rows without those whose conditions on pieces by name fail, which the masks let through."""
        doubtful = {key for key, number in rows if key in exact and number in exact[key]}
        if not doubtful:
            return rows
        statement = prepared(self.database, self.words, len(doubtful), exact=True)
        values = statement.arrange(list(doubtful), (*planes, self.pieces(board)))
        return [row for row in rows if row[0] not in doubtful] + self.database.fetch(statement.text, values)

    def _keep(self, answers: Mapping[tuple[_Start, int], tuple[Move, ...]]) -> None:
        if self._kept_answers > KEPT_ANSWERS or self._kept_moves > KEPT_MOVES:
            for start in self._starts.values():
                start.answers = {}
                if self._kept_moves > KEPT_MOVES:
                    start.moves = {}
            self._kept_answers, self._kept_moves = 0, self._kept_moves if self._kept_moves <= KEPT_MOVES else 0
        self._kept_answers += len(answers)
        for (start, bits), moves in answers.items():
            start.answers[bits] = moves

    def _prepare(self, count: int) -> Prepared:
        self._statements[count] = prepared(self.database, self.words, count)
        return self._statements[count]

    def pieces(self, board: Mapping[str, str | None]) -> Any:
        """The piece on each square, by the squares' numbers, as the database takes a list."""
        return self.database.listed(list(map(board.get, self.board.squares)))

    def _read(self, start: _Start) -> dict[int, Move]:
        """Read all possibilities that begin at `start`, and learn what squares they depend on."""
        variants = self._rows(_VARIANTS, *masks.place(start.key))
        numbers = (masks.piece_of(start.key), variants[0][1], variants[-1][1])
        rows = {table: self._rows(query, *numbers) for table, query in self._details.items()}
        exact = set()
        relevant = 0
        for number, _, square, state in rows[t.condition]:
            is_named = state not in (EMPTY, ENEMY)
            relevant |= self._codes.bits(square, is_named)
            if is_named:
                exact.add(number)
        details = decode(self.board.squares, rows.__getitem__, is_gdl=self._is_gdl)
        moves = {}
        for ordinal, number, toggle, square in variants:
            destination = self.board.label(square)
            moves[number] = details[number].move(start.piece, start.source, destination, ordinal, toggle)
        start.relevant, start.exact, start.moves = relevant, frozenset(exact), moves
        self._kept_moves += len(moves)
        return moves

    def _rows(self, query: Select[Any], *values: int) -> list[Any]:
        names = ("piece_id", "source") if query is _VARIANTS else ("piece_id", "first", "last")
        statement = self.database.prepare(query, lambda: query, names)
        return self.database.fetch(statement.text, statement.arrange((), values))


def _of_numbers(table: Table, *columns: str) -> Select[Any]:
    """The rows that a piece's possibilities of some numbers have in a table."""
    numbers = table.c.variant.between(bindparam("first"), bindparam("last"))
    chosen = (table.c[name] for name in ("variant", *columns))
    return select(*chosen).where(table.c.piece_id == bindparam("piece_id"), numbers)


# What possibilities are decoded from; the last are of the dialect `gdl` only.
_DETAILS = {
    t.condition: _of_numbers(t.condition, "polarity", "square", "state"),
    t.effect: _of_numbers(t.effect, "square", "becomes"),
    t.hand_effect: _of_numbers(t.hand_effect, "piece", "delta"),
}
_DETAILS_OF_GDL = _DETAILS | {
    t.guard: _of_numbers(t.guard, "variable", "value"),
    t.state_effect: _of_numbers(t.state_effect, "variable", "value"),
    t.variant_origin: _of_numbers(t.variant_origin, "action", "step", "chainable"),
}
_VARIANTS = (
    select(t.variant.c.ordinal, t.variant.c.number, t.variant.c.toggle, t.destination.c.square)
    .join(t.destination, t.VARIANT_OF_DESTINATION)
    .where(t.variant.c.piece_id == bindparam("piece_id"), t.variant.c.source == bindparam("source"))
    .order_by(t.variant.c.number)
)


def read(opened: Opened) -> FastQuery | None:
    """The fast query over a revision; None where its board is too large, or masks are missing."""
    database, connection, revision, board = opened
    words = masks.words(board)
    query = (
        select(t.piece.c.words)
        .join(t.revision_piece, t.revision_piece.c.piece_id == t.piece.c.id)
        .where(t.revision_piece.c.revision_id == revision.id, t.piece.c.words.is_distinct_from(words))
    )
    if not words or connection.execute(query.limit(1)).first() is not None:
        return None
    starts = (
        select(t.piece.c.id, t.piece.c.identifier, t.source.c.ordinal, t.source.c.square)
        .join(t.revision_piece, t.revision_piece.c.piece_id == t.piece.c.id)
        .join(t.source, t.source.c.piece_id == t.piece.c.id)
        .where(t.revision_piece.c.revision_id == revision.id)
        .order_by(t.revision_piece.c.ordinal, t.source.c.ordinal)
    )
    return FastQuery(database, board, words, connection.execute(starts).all(), revision.dialect == "gdl")


def can_answer(question: Question) -> bool:
    """Whether the pieces that are asked are those of the side that `enemy` is seen from, as in the masks."""
    return not question.any_side or (question.piece is not None and question.side == side_of(question.piece))
