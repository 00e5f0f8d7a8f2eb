"""How much is in rulesets and in their pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import CTE, Select, case, column, func, select, table

from ggn_store.model.teams.revision import Revision
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.schema import tables as t

COUNTS = t.COUNTS
# The view knows which squares of a board with holes there are.
_SQUARES: Final = table("v_squares_all", column("ruleset"), column("revision"))


def of_rulesets(asker: Asker, revisions: Sequence[Revision]) -> list[dict[str, Any]]:
    """A record for each revision, in their order: what it is, and how much is in its pieces together."""
    keys = (revision.id for revision in revisions)
    rows = {row.revision_id: row for row in asker.rows_of(keys, _of_rulesets)}
    records = []
    for revision in revisions:
        row = rows[revision.id]
        records.append(
            {
                "ruleset": revision.name,
                "revision": revision.number,
                "dialect": revision.dialect,
                "board": revision.shape,
            }
            | {name: int(row._mapping[name]) for name in ("squares", "pieces", "first", "second", *COUNTS)}
        )
    return records


def of_pieces(asker: Asker, revision: Revision) -> list[dict[str, Any]]:
    """A record for each piece of a revision, in document order."""
    counted = _counted([revision.id])
    query = select(counted.c.piece, counted.c.side, *(counted.c[name] for name in COUNTS))
    return [dict(row._mapping) for row in asker.rows(query.order_by(counted.c.ordinal))]


def _of_rulesets(keys: Sequence[int]) -> Select[Any]:
    counted = _counted(keys)

    def of_side(side: str) -> Any:
        return func.sum(case((counted.c.side == side, 1), else_=0))

    # Beside the number of squares, which is counted once a revision.
    summed = (
        select(
            counted.c.revision_id,
            func.count().label("pieces"),
            of_side("first").label("first"),
            of_side("second").label("second"),
            *(func.sum(counted.c[name]).label(name) for name in COUNTS),
        )
        .group_by(counted.c.revision_id)
        .subquery()
    )
    squares = select(func.count()).where(
        _SQUARES.c.ruleset == t.ruleset.c.name, _SQUARES.c.revision == t.revision.c.number
    )
    return (
        select(summed, squares.scalar_subquery().label("squares"))
        .join(t.revision, t.revision.c.id == summed.c.revision_id)
        .join(t.ruleset, t.ruleset.c.id == t.revision.c.ruleset_id)
    )


def _counted(keys: Sequence[int]) -> CTE:
    """A row for each piece of each revision, with the number of its rows in every table."""
    return (
        select(
            t.revision_piece.c.revision_id,
            t.revision_piece.c.ordinal,
            t.piece.c.identifier.label("piece"),
            t.piece.c.side,
            *(t.piece_summary.c[name] for name in t.COUNTS),
        )
        .select_from(t.PIECES_OF_REVISIONS.join(t.piece_summary, t.piece_summary.c.piece_id == t.piece.c.id))
        .where(t.revision_piece.c.revision_id.in_(keys))
        .cte("counted")
    )
