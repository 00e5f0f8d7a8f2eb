"""Lanes: what the fast query reads, derived from a piece's rows, instead of masks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_NEVER_REMOVED = "ggn_store: what was written to this table is never removed"
_WORDS = 8
_MASKS = ("not_empty", "not_enemy", "not_own", "twin")


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.drop_table("mask")
    op.create_table(
        "lane",
        sa.Column("key", key, nullable=False),
        sa.Column("each", sa.Integer(), nullable=False),
        *(sa.Column(name, key, nullable=False) for name in ("path", "passed", "first", "target")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("statements", "facts", "numbers")),
        sa.PrimaryKeyConstraint("key", name="pk_lane"),
    )
    # The version of a piece's lanes; NULL where they are still to be derived.
    op.drop_column("piece", "words")
    op.add_column("piece", sa.Column("lanes", sa.Integer(), nullable=True))
    _keep("lane")


def downgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.drop_table("lane")
    op.create_table(
        "mask",
        sa.Column("start", key, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("exact", sa.Boolean(), nullable=False),
        *(sa.Column(f"{name}_{word}", key, nullable=True) for word in range(_WORDS) for name in _MASKS),
        sa.PrimaryKeyConstraint("start", "number", name="pk_mask"),
        sqlite_with_rowid=False,
    )
    op.drop_column("piece", "lanes")
    op.add_column("piece", sa.Column("words", sa.Integer(), nullable=True))
    _keep("mask")


def _keep(table: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"CREATE TRIGGER {table}_not_emptied BEFORE TRUNCATE ON {table} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION ggn_refuse('{_NEVER_REMOVED}')"
        )
