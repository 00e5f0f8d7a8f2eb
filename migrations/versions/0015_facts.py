"""Facts: how a piece moves, derived from its rows, which the upgrade fills; and in the views of pieces."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_NEVER_REMOVED = "ggn_store: what was written to this table is never removed"
_TEXTS = ("moves", "moves_forms", "moves_words", "rules", "rules_forms", "rules_words")
_FLAGS = ("rides", "leaps", "hops")
_MOBILITY = (
    "squares",
    *(f"{kind}{number}" for kind in ("total", "quiet", "capture") for number in ("", "_min", "_max")),
)
_COUNTS = ("displacing", "elsewhere", "by_another", "either", "promoting", "castling", "off_path")
_SHOWN = {
    "movement": "moves",
    "whole_movement": "rules",
    "words": "moves_words",
    **{name: name for name in (*_FLAGS, "squares", "total", "quiet", "capture", "reach", "colours", *_COUNTS)},
}


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "piece_facts",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        *(sa.Column(name, label, nullable=True) for name in _TEXTS),
        *(sa.Column(name, sa.Boolean(), nullable=True) for name in _FLAGS),
        *(sa.Column(name, sa.Integer(), nullable=True) for name in (*_MOBILITY, "reach")),
        sa.Column("colours", label, nullable=True),
        *(sa.Column(name, sa.Integer(), nullable=True) for name in _COUNTS),
        sa.PrimaryKeyConstraint("piece_id", name="pk_piece_facts"),
        sa.ForeignKeyConstraint(["piece_id"], ["piece.id"], name="fk_piece_facts_piece_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_piece_facts_moves", "piece_facts", ["moves"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE TRIGGER piece_facts_not_emptied BEFORE TRUNCATE ON piece_facts FOR EACH STATEMENT "
            f"EXECUTE FUNCTION ggn_refuse('{_NEVER_REMOVED}')"
        )
    _replace_views(has_facts=True)


def _replace_views(*, has_facts: bool) -> None:
    """Make the views of pieces. Who may read them on Postgres still may, but after a downgrade."""
    loader = SourceFileLoader("ggn_store_summaries", str(Path(__file__).with_name("0008_summaries.py")))
    of = ModuleType(loader.name)
    loader.exec_module(of)
    is_postgres = op.get_bind().dialect.name == "postgresql"
    columns = ", ".join(f"f.{column} AS {name}" for name, column in _SHOWN.items())
    query = of._pieces(is_counted=True)
    if has_facts:
        query = query.replace(" FROM ruleset r", f", {columns} FROM ruleset r")
        query = query.replace("WHERE r.", "LEFT JOIN piece_facts f ON f.piece_id = p.id WHERE r.")
    create = "CREATE OR REPLACE VIEW" if is_postgres and has_facts else "CREATE VIEW"
    for suffix, newest in of._REVISIONS:
        if not (is_postgres and has_facts):
            op.execute(f"DROP VIEW v_pieces{suffix}")
        op.execute(f"{create} v_pieces{suffix} AS {query} {newest}")


def downgrade() -> None:
    _replace_views(has_facts=False)
    op.drop_table("piece_facts")
