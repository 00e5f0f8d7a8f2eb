"""Castling: a piece also moves as rules say that do not castle, where one that does asks for the same.

The upgrade derives the facts of pieces that castle again.
"""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def _derive_again() -> None:
    """Facts of no version are derived again."""
    op.execute("UPDATE piece_facts SET version = 0 WHERE castling > 0")


def upgrade() -> None:
    _derive_again()


def downgrade() -> None:
    _derive_again()
