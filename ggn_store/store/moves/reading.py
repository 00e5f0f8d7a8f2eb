"""The reading query: which possibilities of a revision hold in which positions?

    standing: pieces of the side to move on their sources, and in its hand where a rule starts there
       -> destination -> variant, where no condition of the variant fails on board_state
          and, of rules with state variables, no guard of it on state_value

One statement, whatever the number of positions. Conditions and effects of what it finds are read afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    Table,
    TextClause,
    and_,
    case,
    false,
    func,
    or_,
    select,
    union_all,
)

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Assumption, Move, displaced
from ggn_store.model.moves.play import Play
from ggn_store.model.moves.position import Position
from ggn_store.model.teams.revision import Revision
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side
from ggn_store.store.database.engine import Database
from ggn_store.store.moves import positions as state
from ggn_store.store.moves.positions import Described, Opened
from ggn_store.store.moves.safe import RoyalCapture
from ggn_store.store.rulesets.possibilities import Details, decode
from ggn_store.store.schema import tables as t

# In one statement, where they are part of it: a value of Postgres ends at a quarter of a gigabyte.
_POSITIONS_SENT: Final = 1_000


class Question(NamedTuple):
    """What is asked of one or more positions.

    `piece`, `source` and `destination` narrow the answer. With `any_side` the pieces of both sides are asked,
    with `side` (or each position's own) as the active side in the sense of `enemy`; without it, only those of
    the active side. With `safe`, only moves after which the mover's royal pieces are safe in a game played so.
    """

    piece: str | None = None
    source: str | None = None
    destination: str | None = None
    side: Side | None = None
    any_side: bool = False
    safe: Play | None = None

    def means(self, move: Move | Chain) -> bool:
        """Whether a move is one of those that are asked for."""
        asked = (self.piece, move.piece), (self.source, move.source), (self.destination, move.destination)
        return all(wanted in (None, found) for wanted, found in asked)


def moves(
    opened: Opened, positions: Sequence[Position], question: Question, assume: Assumption | None = None
) -> list[list[Move]]:
    """For each position its moves, in document order.

    `assume` fills in the effects that a `must-deny` document leaves open.
    """
    board = opened.board
    if opened.database.sender is not None and len(positions) > _POSITIONS_SENT:
        starts = range(0, len(positions), _POSITIONS_SENT)
        parts = (positions[start : start + _POSITIONS_SENT] for start in starts)
        answered = (moves(opened, part, question, assume) for part in parts)
        return list(chain.from_iterable(answered))
    rows = found(opened, positions, question)
    details = read_details(opened, {(row.piece_id, row.variant) for row in rows})
    answers: list[list[Move]] = [[] for _ in positions]
    for row in rows:
        places = board.label(row.source), board.label(row.destination)
        move = details[row.piece_id, row.variant].move(row.piece, *places, row.ordinal, row.toggle)
        answers[row.position].append(move if assume is None else displaced(move))
    return answers


def found(opened: Opened, positions: Sequence[Position], question: Question) -> Sequence[Row[Any]]:
    """The rows of the reading query."""
    return opened.connection.execute(_asked(opened, positions, question)).all()


def _asked(opened: Opened, positions: Sequence[Position], question: Question) -> Select[Any]:
    has_state = opened.revision.envelope.variables is not None
    described = state.describe(opened.database, opened.connection, opened.board, positions, question.side, has_state)
    return reading_query(opened.revision, opened.board, question, described)


def explain(opened: Opened, positions: Sequence[Position], question: Question) -> tuple[str, list[str]]:
    """The statement that answers a question, and the database's plan for it, line by line."""
    return explained(opened.database, opened.connection, _asked(opened, positions, question))


def explained(database: Database, connection: Connection, query: Select[Any] | TextClause) -> tuple[str, list[str]]:
    """The text of a statement with its values in it, and the database's plan for it, line by line."""
    statement = query.compile(database.engine, compile_kwargs={"literal_binds": True})
    return str(statement), database.plan(connection, query)


def reading_query(revision: Revision, board: Board, question: Question, described: Described) -> Select[Any]:
    """The statement over board_state and hand_state; one row for each possibility that holds."""
    standing = _standing(revision, board, question, described)
    query = (
        select(
            standing.c.position,
            standing.c.piece,
            standing.c.square.label("source"),
            t.destination.c.square.label("destination"),
            t.variant.c.ordinal,
            t.variant.c.toggle,
            t.variant.c.piece_id,
            t.variant.c.number.label("variant"),
        )
        .select_from(standing)
        .join(
            t.destination,
            and_(t.destination.c.piece_id == standing.c.piece_id, t.destination.c.source == standing.c.source),
        )
        .join(t.variant, t.VARIANT_OF_DESTINATION)
        .where(~_failing_condition(standing, described).exists())
        .order_by(standing.c.position, standing.c.ordinal, t.variant.c.number)
    )
    if described.state is not None:
        query = query.where(~_failing_guard(standing, described.state).exists())
    if question.destination is not None:
        query = query.where(_is_at(t.destination.c.square, board, question.destination))
    if question.safe is not None:
        threat = RoyalCapture(revision.id, standing, described, board, question.safe.crossing)
        query = query.where(~threat.statement().exists())
    return query


def _standing(revision: Revision, board: Board, question: Question, described: Described) -> CTE:
    """Which piece of the ruleset can start from which source in which position."""
    position, on_board, in_hand = described.position, described.board, described.hand
    of_ruleset = and_(t.revision_piece.c.piece_id == t.piece.c.id, t.revision_piece.c.revision_id == revision.id)
    columns = (
        position.c.position,
        position.c.side,
        t.revision_piece.c.ordinal,
        t.piece.c.identifier.label("piece"),
        t.source.c.piece_id,
        t.source.c.ordinal.label("source"),
        t.source.c.square,
    )
    placed = (
        select(*columns)
        .select_from(position)
        .join(on_board, on_board.c.position == position.c.position)
        .join(t.piece, t.piece.c.identifier == on_board.c.piece)
        .join(t.revision_piece, of_ruleset)
        .join(t.source, and_(t.source.c.piece_id == t.piece.c.id, t.source.c.square == on_board.c.square))
    )
    held = (
        select(*columns)
        .select_from(position)
        .join(t.revision_piece, t.revision_piece.c.revision_id == revision.id)
        .join(t.piece, t.piece.c.id == t.revision_piece.c.piece_id)
        .join(t.source, and_(t.source.c.piece_id == t.piece.c.id, t.source.c.square.is_(None)))
        .outerjoin(in_hand, and_(in_hand.c.position == position.c.position, in_hand.c.piece == t.piece.c.identifier))
        .where(or_(~position.c.hands_known, func.coalesce(in_hand.c.count, 0) >= 1))
    )
    parts = []
    for part in (placed, held):
        if not question.any_side:
            part = part.where(t.piece.c.side == position.c.side)
        if question.piece is not None:
            part = part.where(t.piece.c.identifier == question.piece)
        if question.source is not None:
            part = part.where(_is_at(t.source.c.square, board, question.source))
        parts.append(part)
    return union_all(*parts).cte("standing")


def _failing_condition(standing: CTE, described: Described) -> Select[Any]:
    """A condition of the variant that does not come out as it should."""
    here, is_there = described.standing(standing.c.position, t.condition.c.square)
    holds = case(
        (t.condition.c.state == EMPTY, here.c.piece.is_(None)),
        (t.condition.c.state == ENEMY, and_(here.c.side.is_not(None), here.c.side != standing.c.side)),
        else_=func.coalesce(here.c.piece == t.condition.c.state, false()),
    )
    return (
        select(1)
        .select_from(t.condition)
        .outerjoin(here, is_there)
        .where(
            t.condition.c.piece_id == t.variant.c.piece_id,
            t.condition.c.variant == t.variant.c.number,
            holds != (t.condition.c.polarity == "must"),
        )
        .correlate(standing, t.variant)
    )


def _failing_guard(standing: CTE, stated: FromClause) -> Select[Any]:
    """A state variable that the variant asks for and that has none of the values that it may have."""
    guard, allowed, value = t.guard.alias("guard"), t.guard.alias("allowed"), stated.alias("stated")
    is_allowed = (
        select(1)
        .select_from(allowed)
        .join(value, and_(value.c.variable == allowed.c.variable, value.c.value == allowed.c.value))
        .where(
            allowed.c.piece_id == guard.c.piece_id,
            allowed.c.variant == guard.c.variant,
            allowed.c.variable == guard.c.variable,
            value.c.position == standing.c.position,
        )
        .correlate(standing, guard)
    )
    return (
        select(1)
        .select_from(guard)
        .where(guard.c.piece_id == t.variant.c.piece_id, guard.c.variant == t.variant.c.number, ~is_allowed.exists())
        .correlate(standing, t.variant)
    )


def _is_at(column: ColumnElement[Any], board: Board, square: str) -> ColumnElement[bool]:
    return column.is_(None) if square == HAND else column == board.numbers.get(square, -1)


def read_details(opened: Opened, keys: set[tuple[int, int]]) -> Mapping[tuple[int, int], Details]:
    """Conditions, effects and what else there is of possibilities, by piece and number of the variant."""
    if not keys:
        return {}
    chosen = state.given(opened.database, opened.connection, state.chosen, sorted(keys))

    def rows(table: Table) -> Iterator[tuple[Any, ...]]:
        of_chosen = and_(table.c.piece_id == chosen.c.piece_id, table.c.variant == chosen.c.variant)
        for piece_id, variant, *row in opened.connection.execute(select(*table.columns).join(chosen, of_chosen)):
            yield ((piece_id, variant), *row)

    return decode(opened.board.squares, rows, is_gdl=opened.revision.dialect == "gdl")
