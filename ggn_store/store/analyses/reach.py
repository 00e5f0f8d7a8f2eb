"""Which squares pieces can ever stand on, whatever else is on the board.

From what stands somewhere at first, possibilities are followed whose piece stands on their source, or is held where
they start in the hand; then stands, or is held, whatever their effects say (of a `must-deny` document, the piece on the
destination). Conditions count only where none could ever meet them all (`rules.impossible`), and captures and numbers
of pieces do not count at all. So nothing is missed that play can reach, but play need not be able to reach all of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    Integer,
    Select,
    Text,
    and_,
    column,
    func,
    literal_column,
    select,
    union,
    values,
)
from sqlalchemy.ext.compiler import compiles

from ggn_store.model.revision import Revision
from ggn_store.store import tables as t
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.rules import RULES, impossible, is_of, of_variant

# Beside the numbers of squares; NULL would be no key to join by.
IN_HAND: Final = -1

Standing = tuple[str, int]


class bytewise(ColumnElement[str]):  # noqa: N801
    """A text that is compared by its bytes, as the columns of `tables.Label` are."""

    inherit_cache = True

    def __init__(self, text: ColumnElement[str]) -> None:
        self.text = text
        self.type = t.Label


@compiles(bytewise)
def _bytewise(element: bytewise, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.text, **options))


@compiles(bytewise, "postgresql")
def _bytewise_postgresql(element: bytewise, compiler: Any, **options: Any) -> str:
    return f'{compiler.process(element.text, **options)} COLLATE "C"'


def reached(asker: Asker, revision: Revision, seeds: Iterable[Standing] | None) -> set[Standing]:
    """All that can come to stand: piece and number of the square, or IN_HAND.

    `seeds` are what stands at first; without them every piece stands wherever it has rules from.
    """
    first = None if seeds is None else sorted(set(seeds))
    if first == []:
        return set()
    found = reach(revision, first)
    return {(row.piece, row.square) for row in asker.rows(select(found.c.piece, found.c.square))}


def reach(revision: Revision, seeds: list[Standing] | None) -> CTE:
    """The relation of `piece` and `square` of all that can come to stand; see `reached`."""
    changes = _changes(revision)
    found = (_sources(revision) if seeds is None else _given(seeds)).cte("reach", recursive=True)
    onward = select(changes.c.made, changes.c.place).join(
        found, and_(found.c.piece == changes.c.piece, found.c.square == changes.c.source)
    )
    return found.union(onward)


def _given(seeds: list[Standing]) -> Select[Any]:
    given = values(column("piece", Text), column("square", Integer), name="given").data(seeds).cte("given")
    return select(bytewise(given.c.piece).label("piece"), given.c.square.label("square"))


def _sources(revision: Revision) -> Select[Any]:
    return (
        select(t.piece.c.identifier.label("piece"), func.coalesce(t.source.c.square, IN_HAND).label("square"))
        .select_from(
            t.revision_piece.join(t.piece, t.piece.c.id == t.revision_piece.c.piece_id).join(
                t.source, t.source.c.piece_id == t.piece.c.id
            )
        )
        .where(is_of(revision))
    )


def _changes(revision: Revision) -> CTE:
    """Which piece on which source can make which piece stand where."""
    source = func.coalesce(t.source.c.square, literal_column("-1")).label("source")
    destination = func.coalesce(t.destination.c.square, literal_column("-1"))
    possible = and_(is_of(revision), ~impossible().exists())
    placed = (
        select(
            t.piece.c.identifier.label("piece"),
            source,
            t.effect.c.becomes.label("made"),
            t.effect.c.square.label("place"),
        )
        .select_from(RULES.join(t.effect, of_variant(t.effect)))
        .where(possible, t.effect.c.becomes.is_not(None))
    )
    taken = (
        select(t.piece.c.identifier, source, t.hand_effect.c.piece, literal_column("-1"))
        .select_from(RULES.join(t.hand_effect, of_variant(t.hand_effect)))
        .where(possible, t.hand_effect.c.delta > 0)
    )
    displaced = (
        select(t.piece.c.identifier, source, t.piece.c.identifier, destination)
        .select_from(RULES)
        .where(possible, t.variant.c.toggle.is_(None))
    )
    return union(placed, taken, displaced).cte("change")
