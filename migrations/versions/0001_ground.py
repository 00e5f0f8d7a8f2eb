"""The ground: boards, rulesets, revisions, and pieces as rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_DIALECT = "dialect IN ('perform', 'must-deny', 'diff')"

# A square is named in the views by its label; the hand by its HAND notation.
_MOVES_FLAT = """
CREATE VIEW moves_flat AS
SELECT r.name AS ruleset, v.number AS revision, p.identifier AS piece,
       CASE WHEN s.square IS NULL THEN '*' ELSE sl.label END AS source,
       CASE WHEN d.square IS NULL THEN '*' ELSE dl.label END AS destination,
       m.ordinal AS ordinal, m.toggle AS toggle, p.side AS side, p.style AS style, p.letter AS letter,
       p.state AS state, p.id AS piece_id, m.number AS variant
FROM ruleset r
JOIN revision v ON v.ruleset_id = r.id
JOIN revision_piece rp ON rp.revision_id = v.id
JOIN piece p ON p.id = rp.piece_id
JOIN source s ON s.piece_id = p.id
JOIN destination d ON d.piece_id = s.piece_id AND d.source = s.ordinal
JOIN variant m ON m.piece_id = d.piece_id AND m.source = d.source AND m.destination = d.ordinal
LEFT JOIN square sl ON sl.board_id = p.board_id AND sl.number = s.square
LEFT JOIN square dl ON dl.board_id = p.board_id AND dl.number = d.square
WHERE r.deleted_at IS NULL
"""

_CONDITIONS_FLAT = """
CREATE VIEW conditions_flat AS
SELECT m.ruleset, m.revision, m.piece, m.source, m.destination, m.ordinal, c.polarity AS polarity,
       q.label AS square, c.state AS required_state
FROM moves_flat m
JOIN piece p ON p.id = m.piece_id
JOIN condition c ON c.piece_id = m.piece_id AND c.variant = m.variant
JOIN square q ON q.board_id = p.board_id AND q.number = c.square
"""


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

    op.create_table(
        "board",
        sa.Column("id", key, nullable=False),
        sa.Column("digest", label, nullable=False),
        sa.Column("shape", label, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_board"),
        sa.UniqueConstraint("digest", name="uq_board_digest"),
    )
    op.create_table(
        "square",
        sa.Column("board_id", key, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("label", label, nullable=False),
        sa.PrimaryKeyConstraint("board_id", "number", name="pk_square"),
        sa.UniqueConstraint("board_id", "label", name="uq_square_board_id_label"),
        sa.ForeignKeyConstraint(["board_id"], ["board.id"], name="fk_square_board_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ruleset",
        sa.Column("id", key, nullable=False),
        sa.Column("name", label, nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_ruleset"),
        sa.UniqueConstraint("name", name="uq_ruleset_name"),
    )
    op.create_table(
        "revision",
        sa.Column("id", key, nullable=False),
        sa.Column("ruleset_id", key, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", label, nullable=False),
        sa.Column("parent_id", key, nullable=True),
        sa.Column("dialect", label, nullable=False),
        sa.Column("board_id", key, nullable=False),
        sa.Column("envelope", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_revision"),
        sa.UniqueConstraint("ruleset_id", "number", name="uq_revision_ruleset_id_number"),
        sa.ForeignKeyConstraint(["ruleset_id"], ["ruleset.id"], name="fk_revision_ruleset_id"),
        sa.ForeignKeyConstraint(["parent_id"], ["revision.id"], name="fk_revision_parent_id"),
        sa.ForeignKeyConstraint(["board_id"], ["board.id"], name="fk_revision_board_id"),
        sa.CheckConstraint(_DIALECT, name=op.f("ck_revision_dialect")),
    )
    op.create_index("ix_revision_digest", "revision", ["digest"])
    op.create_table(
        "piece",
        sa.Column("id", key, nullable=False),
        sa.Column("board_id", key, nullable=False),
        sa.Column("dialect", label, nullable=False),
        sa.Column("digest", label, nullable=False),
        sa.Column("identifier", label, nullable=False),
        sa.Column("style", label, nullable=False),
        sa.Column("letter", label, nullable=False),
        sa.Column("side", label, nullable=False),
        sa.Column("state", label, nullable=False),
        sa.Column("terminal", sa.Boolean(), nullable=False),
        sa.Column("derived", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_piece"),
        sa.UniqueConstraint("digest", name="uq_piece_digest"),
        sa.ForeignKeyConstraint(["board_id"], ["board.id"], name="fk_piece_board_id"),
        sa.CheckConstraint(_DIALECT, name=op.f("ck_piece_dialect")),
        sa.CheckConstraint("side IN ('first', 'second')", name=op.f("ck_piece_side")),
        sa.CheckConstraint("state IN ('', '+', '-')", name=op.f("ck_piece_state")),
    )
    op.create_index("ix_piece_identifier", "piece", ["identifier"])
    op.create_table(
        "revision_piece",
        sa.Column("revision_id", key, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("piece_id", key, nullable=False),
        sa.PrimaryKeyConstraint("revision_id", "ordinal", name="pk_revision_piece"),
        sa.UniqueConstraint("piece_id", "revision_id", name="uq_revision_piece_piece_id_revision_id"),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_revision_piece_revision_id"),
        sa.ForeignKeyConstraint(["piece_id"], ["piece.id"], name="fk_revision_piece_piece_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "source",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("square", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("piece_id", "ordinal", name="pk_source"),
        sa.UniqueConstraint("piece_id", "square", name="uq_source_piece_id_square"),
        sa.ForeignKeyConstraint(["piece_id"], ["piece.id"], name="fk_source_piece_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "destination",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("source", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("square", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("piece_id", "source", "ordinal", name="pk_destination"),
        sa.ForeignKeyConstraint(
            ["piece_id", "source"], ["source.piece_id", "source.ordinal"], name="fk_destination_piece_id_source"
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "variant",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("source", sa.Integer(), nullable=False),
        sa.Column("destination", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("toggle", sa.Boolean(), nullable=True),
        sa.PrimaryKeyConstraint("piece_id", "source", "destination", "ordinal", name="pk_variant"),
        sa.UniqueConstraint("piece_id", "number", name="uq_variant_piece_id_number"),
        sa.ForeignKeyConstraint(
            ["piece_id", "source", "destination"],
            ["destination.piece_id", "destination.source", "destination.ordinal"],
            name="fk_variant_piece_id_source_destination",
        ),
        sqlite_with_rowid=False,
    )
    of_a_variant = (["piece_id", "variant"], ["variant.piece_id", "variant.number"])
    op.create_table(
        "condition",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("variant", sa.Integer(), nullable=False),
        sa.Column("polarity", label, nullable=False),
        sa.Column("square", sa.Integer(), nullable=False),
        sa.Column("state", label, nullable=False),
        sa.PrimaryKeyConstraint("piece_id", "variant", "polarity", "square", "state", name="pk_condition"),
        sa.ForeignKeyConstraint(*of_a_variant, name="fk_condition_piece_id_variant"),
        sa.CheckConstraint("polarity IN ('must', 'deny')", name=op.f("ck_condition_polarity")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "effect",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("variant", sa.Integer(), nullable=False),
        sa.Column("square", sa.Integer(), nullable=False),
        sa.Column("becomes", label, nullable=True),
        sa.PrimaryKeyConstraint("piece_id", "variant", "square", name="pk_effect"),
        sa.ForeignKeyConstraint(*of_a_variant, name="fk_effect_piece_id_variant"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "hand_effect",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("variant", sa.Integer(), nullable=False),
        sa.Column("piece", label, nullable=False),
        sa.Column("delta", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("piece_id", "variant", "piece", name="pk_hand_effect"),
        sa.ForeignKeyConstraint(*of_a_variant, name="fk_hand_effect_piece_id_variant"),
        sa.CheckConstraint("delta <> 0", name=op.f("ck_hand_effect_delta")),
        sqlite_with_rowid=False,
    )
    op.execute(_MOVES_FLAT)
    op.execute(_CONDITIONS_FLAT)


def downgrade() -> None:
    op.execute("DROP VIEW conditions_flat")
    op.execute("DROP VIEW moves_flat")
    for table in (
        "hand_effect",
        "effect",
        "condition",
        "variant",
        "destination",
        "source",
        "revision_piece",
        "piece",
        "revision",
        "ruleset",
        "square",
        "board",
    ):
        op.drop_table(table)
