"""Entries: what the rules of a piece say, once for all entries that say the same; the upgrade fills it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("piece_facts", sa.Column("entries", label, nullable=True))
    # The upgrade derives again what is not of the program's version, as it is after a downgrade.
    op.execute("UPDATE piece_facts SET version = 0")


def downgrade() -> None:
    op.drop_column("piece_facts", "entries")
