"""The possibilities of a revision as one relation, and the conditions that none of them can meet."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, CompoundSelect, FromClause, and_, func, or_, select, union
from sqlalchemy.ext.compiler import compiles

from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.revision import Revision
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.schema import tables as t

# A source or a destination without a square is the hand.
RULES: Final[FromClause] = t.SOURCES_OF_REVISIONS.join(t.destination, t.DESTINATION_OF_SOURCE).join(
    t.variant, t.VARIANT_OF_DESTINATION
)


def is_of(revision: Revision) -> ColumnElement[bool]:
    """Whether a row of `RULES` belongs to a revision."""
    return t.revision_piece.c.revision_id == revision.id


def of_variant(table: Any) -> ColumnElement[bool]:
    """Whether a row of conditions or effects belongs to a variant."""
    return and_(table.c.piece_id == t.variant.c.piece_id, table.c.variant == t.variant.c.number)


class no_key(ColumnElement[int]):  # noqa: N801  (an operator of SQL)
    """A column by which SQLite is not to look up rows: the unary + of its manual."""

    inherit_cache = False

    def __init__(self, column: ColumnElement[int]) -> None:
        self.type = column.type
        self.column = column


@compiles(no_key, "sqlite")
def _with_plus(element: no_key, compiler: Any, **options: Any) -> str:
    return f"+{compiler.process(element.column, **options)}"


@compiles(no_key, "postgresql")
def _as_it_is(element: no_key, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.column, **options))


def of_each_variant(table: Any) -> ColumnElement[bool]:
    """The same for all variants of a piece: SQLite goes from them to the rows, and not from each row to its variant."""
    return and_(table.c.piece_id == t.variant.c.piece_id, table.c.variant == no_key(t.variant.c.number))


def is_own(state: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a state is a piece of the side that moves: upper case is the first one's."""
    return and_(state.not_in((EMPTY, ENEMY)), _has_case(state, "first", "second"))


def is_foreign(state: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a state is a piece of the other side."""
    return and_(state.not_in((EMPTY, ENEMY)), _has_case(state, "second", "first"))


def _has_case(state: ColumnElement[str], upper: str, lower: str) -> ColumnElement[bool]:
    side = t.piece.c.side
    return or_(and_(side == upper, func.upper(state) == state), and_(side == lower, func.lower(state) == state))


class Impossible(NamedTuple):
    """A condition that no position meets, of the possibility with this number; the square is by number."""

    piece_id: int
    variant: int
    polarity: str
    square: int
    state: str


def impossible_conditions(asker: Asker, revision: Revision) -> list[Impossible]:
    """The conditions of a revision that no position meets."""
    return [Impossible(*row) for row in asker.rows(impossible(revision))]


def impossible(revision: Revision) -> CompoundSelect[Any]:
    """The conditions of a revision that no position meets, for the side that moves; rows of `Impossible`.

    On the source: every `must` (the piece itself is refused there when a document is read), and `deny` with the piece.
    Elsewhere: `must` with a piece of the other side, where `deny enemy` is asked for as well. Two `must` of one square,
    or `must` and `deny` of the same, are refused when a document is read.
    """
    one, other = t.condition, t.condition.alias("other")
    on_source = (
        select(*one.c)
        .select_from(
            t.SOURCES_OF_REVISIONS.join(t.variant, t.VARIANT_OF_SOURCE).join(
                one, and_(of_each_variant(one), one.c.square == t.source.c.square)
            )
        )
        .where(is_of(revision), (one.c.state == t.piece.c.identifier) == (one.c.polarity == "deny"))
    )
    same_square = and_(
        one.c.piece_id == other.c.piece_id, one.c.variant == other.c.variant, one.c.square == other.c.square
    )
    contradicted = (
        select(*one.c)
        .select_from(t.PIECES_OF_REVISIONS.join(other, other.c.piece_id == t.piece.c.id).join(one, same_square))
        .where(is_of(revision), other.c.polarity == "deny", other.c.state == ENEMY)
        .where(one.c.polarity == "must", is_foreign(one.c.state))
    )
    return union(on_source, contradicted)
