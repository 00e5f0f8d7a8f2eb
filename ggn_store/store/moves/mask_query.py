"""The statement of the fast query, and its parts: which rows of masks hold for the words of a position."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Text,
    bindparam,
    case,
    false,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.ext.compiler import compiles

from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.store.database.engine import Database, Prepared
from ggn_store.store.rulesets import masks
from ggn_store.store.schema import tables as t

PLANES: Final = ("empty", "enemy", "own")
_ZERO: Final[ColumnElement[int]] = literal_column("0")


def prepared(database: Database, words: int, count: int, exact: bool = False) -> Prepared:
    """The text of `fast_query`, and how its values are arranged."""
    names = plane_names(words) + (["pieces"] if exact else [])
    return database.prepare((words, count, exact), lambda: fast_query(database, words, count, exact), names)


def fast_query(database: Database, words: int, count: int, exact: bool = False) -> Select[Any]:
    """The statement for `count` starts on a board of so many words; one row for each possibility that holds.

    With `exact`, exact rows are held to all their conditions; without, they come as far as the masks let them.
    """
    number, conditions = mask_test(words, lambda plane, word: bindparam(f"{plane}_{word}", type_=BigInteger))
    query = database.asked(select(t.mask.c.start, number.label("number")), t.mask.c.start, count)
    if exact:
        here = piece_at(bindparam("pieces", type_=Text), t.condition.c.square)
        conditions = [*conditions, or_(~t.mask.c.exact, ~failing_piece(here).exists())]
    return query.where(*conditions)


def mask_test(
    words: int, plane: Callable[[str, int], ColumnElement[int]]
) -> tuple[ColumnElement[int], list[ColumnElement[bool]]]:
    """The number of the possibility that a row of masks stands for, and what must be true for it to hold.

    `plane` gives a word of a position: of its squares that are `empty`, the `enemy`'s, or the side's `own`.
    """
    columns = t.mask.c

    def any_of(parts: Iterable[ColumnElement[int]]) -> ColumnElement[int]:
        return functools.reduce(lambda one, other: one.bitwise_or(other), parts)

    twin = any_of(columns[f"twin_{word}"].bitwise_and(plane("enemy", word)) for word in range(words))
    number = case((twin != _ZERO, columns.number + literal_column("1")), else_=columns.number)
    conditions = [
        any_of(columns[f"not_{name}_{word}"].bitwise_and(plane(name, word)) for name in PLANES) == _ZERO
        for word in range(words)
    ]
    return number, conditions


def failing_piece(here: ColumnElement[Any]) -> Select[Any]:
    """A condition of a row of masks on a piece by name that does not come out as it should; `here` stands there."""
    condition = t.condition.c
    return select(condition.square).where(
        condition.piece_id == masks.piece_of(t.mask.c.start),
        condition.variant == t.mask.c.number,
        condition.state != EMPTY,
        condition.state != ENEMY,
        func.coalesce(here == condition.state, false()) != (condition.polarity == "must"),
    )


class piece_at(ColumnElement[str]):  # noqa: N801  (a function of SQL)
    """The piece on the square of a number, of a position given as `Database.listed` writes it."""

    inherit_cache = False

    def __init__(self, pieces: ColumnElement[Any], square: ColumnElement[int]) -> None:
        self.type = Text()
        self.pieces = pieces
        self.square = square


@compiles(piece_at, "sqlite")
def _json_element(element: piece_at, compiler: Any, **options: Any) -> str:
    pieces, square = (compiler.process(part, **options) for part in (element.pieces, element.square))
    return f"json_extract({pieces}, '$[' || {square} || ']')"


@compiles(piece_at, "postgresql")
def _array_element(element: piece_at, compiler: Any, **options: Any) -> str:
    pieces, square = (compiler.process(part, **options) for part in (element.pieces, element.square))
    return f"(string_to_array({pieces}, ' '))[{square} + 1]"


def plane_names(words: int) -> list[str]:
    """The names of the bound values of a position."""
    return [f"{plane}_{word}" for plane in PLANES for word in range(words)]
