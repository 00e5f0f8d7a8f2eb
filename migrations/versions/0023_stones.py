"""Stones: a piece that captures, and becomes one of the other side where it goes, has captured.

The upgrade changes `v_moves`, and derives the facts of such pieces again.
"""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def _before(name: str) -> ModuleType:
    """The migration of that name: names of migrations begin with digits, which no import says."""
    loader = SourceFileLoader(f"ggn_store_{name}", str(Path(__file__).with_name(f"{name}.py")))
    module = ModuleType(loader.name)
    module.__file__ = loader.path  # where it finds those before it
    loader.exec_module(module)
    return module


def _replace(*, has_stones: bool) -> None:
    """Who may read the view on Postgres still may: its columns are the same."""
    moves, names = _before("0016_moves"), _before("0022_names")
    told: str = names._queries(is_extended=True)["v_moves"]
    if has_stones:
        foreign = f"{{becomes}} <> p.identifier AND {moves._side('{becomes}')} <> p.side"
        goes = (
            "coalesce({square} = d.square, FALSE) AND EXISTS (SELECT 1 FROM effect h WHERE h.piece_id = m.piece_id "
            "AND h.variant = m.number AND h.square = s.square AND (h.becomes IS NULL OR h.becomes <> p.identifier))"
        )
        for square, becomes in (("d.square", "p.identifier"), ("e.square", "e.becomes")):
            of = {"square": square, "becomes": becomes}
            told = told.replace(
                f"{foreign} THEN NULL".format(**of), f"{foreign} AND NOT ({goes}) THEN NULL".format(**of)
            )
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for suffix, newest in _before("0008_summaries")._REVISIONS:
        if not is_postgres:
            op.execute(f"DROP VIEW v_moves{suffix}")
        op.execute(f"CREATE {'OR REPLACE ' * is_postgres}VIEW v_moves{suffix} AS {told} {newest}")
    # Facts of no version are derived again.
    side = moves._side("e.becomes")
    op.execute(
        "UPDATE piece_facts SET version = 0 WHERE piece_id IN (SELECT e.piece_id FROM effect e JOIN piece p "
        "ON p.id = e.piece_id JOIN variant v ON v.piece_id = e.piece_id AND v.number = e.variant JOIN destination d "
        "ON d.piece_id = v.piece_id AND d.source = v.source AND d.ordinal = v.destination "
        f"WHERE e.square = d.square AND e.becomes <> p.identifier AND {side} <> {moves._side('p.identifier')})"
    )


def upgrade() -> None:
    _replace(has_stones=True)


def downgrade() -> None:
    _replace(has_stones=False)
