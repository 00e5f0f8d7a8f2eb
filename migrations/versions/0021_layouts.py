"""Layouts: what squares a board with holes has, and how these lie, in the views of squares, pieces and concepts."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

# A square is one of the game where some piece names it, or says nothing of which there are.
_IS_THERE = (
    "EXISTS (SELECT 1 FROM revision_piece h LEFT JOIN piece_facts g ON g.piece_id = h.piece_id "
    "WHERE h.revision_id = n.id AND coalesce(substr(g.named, q.number + 1, 1), '1') = '1')"
)
# The squares of each revision, counted once: SQLite would count them for each piece.
_COUNTED = (
    "(SELECT n.id, count(*) AS squares, count(q.file) AS placed, count(DISTINCT q.file) AS files, "
    "count(DISTINCT q.rank) AS ranks, count(DISTINCT q.layer) AS layers "
    f"FROM revision n JOIN square q ON q.board_id = n.board_id WHERE {_IS_THERE} {{newest}} GROUP BY n.id)"
)
_LAYOUT = "CASE WHEN f.layout LIKE 'network%' THEN 'network' ELSE f.layout END"


def _before(name: str) -> ModuleType:
    """The migration of that name: names of migrations begin with digits, which no import says."""
    loader = SourceFileLoader(f"ggn_store_{name}", str(Path(__file__).with_name(f"{name}.py")))
    module = ModuleType(loader.name)
    module.__file__ = loader.path  # where it finds those before it
    loader.exec_module(module)
    return module


def _create(name: str, query: str) -> None:
    """Make a view anew. Who may read it on Postgres still may: columns are only added, at the end."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
        return
    op.execute(f"DROP VIEW {name}")
    op.execute(f"CREATE VIEW {name} AS {query}")


def _replace(*, has_layouts: bool) -> None:
    """Make the views of squares and concepts."""
    moves, concepts = _before("0016_moves"), _before("0017_concepts")
    squares, numbers, told = moves._SQUARES, dict(concepts._NUMBERS), dict(concepts._CONCEPTS)
    told["ends_by_connection"] = concepts._any("outcomes", "connection/")
    gathered_from = concepts._GATHERED
    if has_layouts:
        squares += f" AND {_IS_THERE}"
        counted = {"board_squares": "squares", **{name: name for name in ("placed", "files", "ranks", "layers")}}
        numbers |= {name: f"max(b.{column})" for name, column in counted.items()}
        numbers["confined"] = "count(*) FILTER (WHERE f.reach < b.squares)"
        numbers["networks"] = "count(*) FILTER (WHERE f.layout LIKE 'network%')"
        told["network"] = "g.placed = 0 OR g.networks > 0"
        gathered_from = gathered_from.replace(" WHERE r.", " LEFT JOIN {counted} b ON b.id = n.id WHERE r.")
    is_postgres = op.get_bind().dialect.name == "postgresql"
    declared = concepts._declared(is_postgres=is_postgres)
    gathered = ", ".join(f"{sql} AS {name}" for name, sql in (numbers | declared).items())
    columns = ", ".join(f"{sql} AS {name}" for name, sql in told.items())
    for suffix, newest in _before("0008_summaries")._REVISIONS:
        _create(f"v_squares{suffix}", f"{squares} {newest}")
        rows = gathered_from.format(columns=gathered, newest=newest, counted=_COUNTED.format(newest=newest))
        _create(f"v_concepts{suffix}", f"SELECT g.ruleset, g.revision, {columns} FROM ({rows}) g")


def _pieces() -> str:
    """What the views of pieces are since 0016."""
    facts = _before("0015_facts")
    shown = {"capturing" if name == "capture" else name: column for name, column in facts._SHOWN.items()}
    columns = ", ".join(f"f.{column} AS {name}" for name, column in shown.items())
    query: str = (
        _before("0008_summaries")._pieces(is_counted=True).replace(" FROM ruleset r", f", {columns} FROM ruleset r")
    )
    return query.replace("WHERE r.", "LEFT JOIN piece_facts f ON f.piece_id = p.id WHERE r.")


def upgrade() -> None:
    is_postgres = op.get_bind().dialect.name == "postgresql"
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    if is_postgres:
        op.drop_column("piece_facts", "entries")
        for name in ("layout", "named", "entries"):
            op.add_column("piece_facts", sa.Column(name, label, nullable=True))
        op.execute("UPDATE piece_facts SET version = 0")
    else:
        _recreate(has_layouts=True)
    _replace(has_layouts=True)
    for suffix, newest in _before("0008_summaries")._REVISIONS:
        query = _pieces().replace(" FROM ruleset r", f", {_LAYOUT} AS layout FROM ruleset r")
        _create(f"v_pieces{suffix}", f"{query} {newest}")


def _recreate(*, has_layouts: bool) -> None:
    """Make the table anew, empty, in SQLite: with a rowid, or without. What was in it is derived again."""
    facts = _before("0015_facts")
    key, text, number = sa.Integer, sa.Text, sa.Integer
    flags, numbers = facts._FLAGS, (*facts._MOBILITY, "reach")
    op.drop_table("piece_facts")
    op.create_table(
        "piece_facts",
        sa.Column("piece_id", key(), nullable=False),
        sa.Column("version", number(), nullable=False),
        *(sa.Column(name, text(), nullable=True) for name in facts._TEXTS),
        *(sa.Column(name, sa.Boolean(), nullable=True) for name in flags),
        *(sa.Column(name, number(), nullable=True) for name in numbers),
        sa.Column("colours", text(), nullable=True),
        *(sa.Column(name, number(), nullable=True) for name in facts._COUNTS),
        *(sa.Column(name, text(), nullable=True) for name in (*(("layout", "named") * has_layouts), "entries")),
        sa.PrimaryKeyConstraint("piece_id", name="pk_piece_facts"),
        sa.ForeignKeyConstraint(["piece_id"], ["piece.id"], name="fk_piece_facts_piece_id"),
        sqlite_with_rowid=has_layouts,
    )
    op.create_index("ix_piece_facts_moves", "piece_facts", ["moves"])


def downgrade() -> None:
    for suffix, newest in _before("0008_summaries")._REVISIONS:
        op.execute(f"DROP VIEW v_pieces{suffix}")
        op.execute(f"CREATE VIEW v_pieces{suffix} AS {_pieces()} {newest}")
    _replace(has_layouts=False)
    if op.get_bind().dialect.name == "postgresql":
        for name in ("named", "layout"):
            op.drop_column("piece_facts", name)
        op.execute("UPDATE piece_facts SET version = 0")
    else:
        _recreate(has_layouts=False)
