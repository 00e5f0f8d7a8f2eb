"""Masks: what the fast query reads, derived from a piece's rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_WORDS = 8


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")

    # How many words the piece's masks have; NULL where they are still to be derived.
    op.add_column("piece", sa.Column("words", sa.Integer(), nullable=True))
    op.create_table(
        "mask",
        sa.Column("start", key, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("exact", sa.Boolean(), nullable=False),
        *(
            sa.Column(f"{name}_{word}", key, nullable=True)
            for word in range(_WORDS)
            for name in ("not_empty", "not_enemy", "not_own", "twin")
        ),
        sa.PrimaryKeyConstraint("start", "number", name="pk_mask"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("mask")
    op.drop_column("piece", "words")
