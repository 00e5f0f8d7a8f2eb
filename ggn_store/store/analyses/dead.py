"""Possibilities that add nothing: that no position allows, or that others of the same destination make needless."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, false, func, or_, select
from sqlalchemy.sql.selectable import NamedFromClause

from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.revision import Revision
from ggn_store.store import tables as t
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.rules import ORDER, RULES, impossible, is_foreign, is_of, is_own, of_variant


class Rule(NamedTuple):
    """A possibility: its place, by ordinal of the piece and number within it, and its address; squares by number."""

    at_piece: int
    number: int
    piece: str
    source: int | None
    destination: int | None
    ordinal: int


class Impossible(NamedTuple):
    """A possibility with a condition, on `square`, that no position meets together with its others."""

    rule: Rule
    square: int
    state: str


class Pair(NamedTuple):
    """A possibility, and the number and ordinal of another with the same effects that holds whenever it does.

    `is_same`: with the very same conditions.
    """

    rule: Rule
    number: int
    ordinal: int
    is_same: bool


class Start(NamedTuple):
    """A source of a piece (None: the hand), and how many possibilities start from there."""

    at_piece: int
    number: int
    piece: str
    source: int | None
    possibilities: int


class Wanted(NamedTuple):
    """A possibility that a piece, or `enemy`, must stand on a square for."""

    rule: Rule
    square: int
    state: str


_PLACE = (
    *ORDER,
    t.piece.c.identifier,
    t.source.c.square,
    t.destination.c.square,
    t.variant.c.ordinal,
)
_ADDRESS = tuple(column.label(f"address_{number}") for number, column in enumerate(_PLACE))


def never(asker: Asker, revision: Revision) -> list[Impossible]:
    """The conditions that can never be met, of each possibility that has such, in document order."""
    condition = (
        impossible()
        .correlate(None)
        .add_columns(*_ADDRESS)
        .select_from(RULES.join(t.condition, of_variant(t.condition)))
    )
    rows = asker.rows(condition.where(is_of(revision)).order_by(*ORDER, t.condition.c.square))
    return [Impossible(Rule(*row[3:]), row[1], row[2]) for row in rows]


def needless(asker: Asker, revision: Revision) -> list[Pair]:
    """Each pair of a destination's possibilities with equal effects whose second holds whenever the first does.

    Possibilities that never hold are left out. In document order.
    """
    other = t.variant.alias("other")
    theirs, ours = t.condition.alias("theirs"), t.condition.alias("ours")

    def differs(one: Any, two: Any, table: Any, *columns: str) -> ColumnElement[bool]:
        """Whether `one` has a row in a table that `two` lacks."""
        left, right = table.alias(), table.alias()
        equal = and_(*(left.c[name].is_not_distinct_from(right.c[name]) for name in columns))
        there = select(1).where(of_variant(right, two), equal).correlate(left, t.variant, other)
        return select(1).where(of_variant(left, one), ~there.exists()).correlate(t.variant, other).exists()

    implied = (
        select(1)
        .where(of_variant(ours), ours.c.square == theirs.c.square, _implies(ours, theirs))
        .correlate(theirs, t.piece, t.variant)
    )
    # What is met on the source, by the piece itself, is met always.
    idle = and_(
        t.source.c.square.is_not(None),
        theirs.c.square == t.source.c.square,
        (theirs.c.polarity == "must") == (theirs.c.state == t.piece.c.identifier),
    )
    unmet = (
        select(1)
        .where(of_variant(theirs, other.c), ~idle, ~implied.exists())
        .correlate(t.piece, t.source, t.variant, other)
    )
    conditions: list[tuple[Any, tuple[str, ...]]] = [(t.condition, ("polarity", "square", "state"))]
    outcomes: list[tuple[Any, tuple[str, ...]]] = [
        (t.effect, ("square", "becomes")),
        (t.hand_effect, ("piece", "delta")),
    ]
    mine, its = t.variant.c, other.c
    stricter: ColumnElement[bool] = false()
    if revision.dialect == "gdl":
        conditions.append((t.guard, ("variable", "value")))
        outcomes += [(t.state_effect, ("variable", "value")), (t.variant_origin, ("action", "chainable"))]
        stricter = _is_stricter(other)

    def differ(tables: Iterable[tuple[Any, tuple[str, ...]]]) -> list[ColumnElement[bool]]:
        pairs = ((mine, its), (its, mine))
        return [differs(one, two, table, *columns) for table, columns in tables for one, two in pairs]

    is_same = ~or_(*differ(conditions))
    effects = [*differ(outcomes), stricter]
    beside = and_(
        its.piece_id == mine.piece_id,
        its.source == mine.source,
        its.destination == mine.destination,
        its.ordinal != mine.ordinal,
        its.toggle.is_not_distinct_from(mine.toggle),
    )
    query: Select[Any] = (
        select(*_ADDRESS, its.number, its.ordinal, is_same.label("is_same"))
        .select_from(RULES.join(other, beside))
        .where(is_of(revision), ~unmet.exists(), ~or_(*effects), ~impossible().exists())
    )
    # To have SQLite put them in order would make it look for pairs by number, through all of a piece.
    return sorted(Pair(Rule(*row[:6]), row[6], row[7], bool(row[8])) for row in asker.rows(query))


def _is_stricter(other: NamedFromClause) -> ColumnElement[bool]:
    """Whether another possibility has a guard that a state can fail which passes those of this one."""
    theirs, any_of_ours, ours, same = (t.guard.alias() for _ in range(4))
    is_free = ~(
        select(1)
        .where(of_variant(any_of_ours), any_of_ours.c.variable == theirs.c.variable)
        .correlate(theirs, t.variant)
        .exists()
    )
    allowed = (
        select(1)
        .where(of_variant(same, other.c), same.c.variable == ours.c.variable, same.c.value == ours.c.value)
        .correlate(ours, other)
    )
    lets_more = (
        select(1)
        .where(of_variant(ours), ours.c.variable == theirs.c.variable, ~allowed.exists())
        .correlate(theirs, t.variant, other)
        .exists()
    )
    return select(1).where(of_variant(theirs, other.c), or_(is_free, lets_more)).correlate(t.variant, other).exists()


def _implies(one: NamedFromClause, other: NamedFromClause) -> ColumnElement[bool]:
    """Whether the condition `other` is met wherever `one` is, on the same square; both of one piece's rules.

    Since a square has one `must` and one `deny` at most, and there is always yet another piece of each side, a
    condition follows from several only where it follows from one of them.
    """
    must, deny = one.c.polarity == "must", one.c.polarity == "deny"
    other_must, other_deny = other.c.polarity == "must", other.c.polarity == "deny"
    mine, its = one.c.state, other.c.state
    return or_(
        and_(one.c.polarity == other.c.polarity, mine == its),
        and_(must, mine == EMPTY, other_deny, its != EMPTY),
        and_(must, mine == ENEMY, other_deny, or_(its == EMPTY, is_own(its))),
        and_(must, mine.not_in((EMPTY, ENEMY)), other_deny, its != ENEMY, its != mine),
        and_(must, is_own(mine), other_deny, its == ENEMY),
        and_(must, is_foreign(mine), other_must, its == ENEMY),
        and_(deny, mine == ENEMY, other_deny, is_foreign(its)),
    )


def starts(asker: Asker, revision: Revision) -> list[Start]:
    """The sources of every piece, in document order."""
    columns = (t.revision_piece.c.ordinal, t.piece.c.identifier, t.source.c.ordinal, t.source.c.square)
    query = (
        select(*columns, func.min(t.variant.c.number).label("number"), func.count().label("possibilities"))
        .select_from(RULES)
        .where(is_of(revision))
        .group_by(*columns)
        .order_by(t.revision_piece.c.ordinal, t.source.c.ordinal)
    )
    return [Start(row[0], row.number, row.identifier, row.square, row.possibilities) for row in asker.rows(query)]


def wanted(asker: Asker, revision: Revision) -> list[Wanted]:
    """What must stand where for which possibility, in document order; but for squares that must be empty."""
    query = (
        select(*_ADDRESS, t.condition.c.square, t.condition.c.state)
        .select_from(RULES.join(t.condition, of_variant(t.condition)))
        .where(is_of(revision), t.condition.c.polarity == "must", t.condition.c.state != EMPTY)
        .order_by(*ORDER, t.condition.c.square)
    )
    return [Wanted(Rule(*row[:6]), *row[6:]) for row in asker.rows(query)]
