"""Summaries: how much is in a piece, counted once; and which pieces were checked, so that it need not be done again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_NEVER_REMOVED = "ggn_store: what was written to this table is never removed"
_OF_PIECE = "WHERE c.piece_id = p.id"
_COUNTS = {
    "sources": f"(SELECT count(*) FROM source c {_OF_PIECE})",
    "destinations": f"(SELECT count(*) FROM destination c {_OF_PIECE})",
    "possibilities": f"(SELECT count(*) FROM variant c {_OF_PIECE})",
    "drops": "(SELECT count(*) FROM source s JOIN variant c ON c.piece_id = s.piece_id AND c.source = s.ordinal "
    f"{_OF_PIECE} AND s.square IS NULL)",
    "conditions": f"(SELECT count(*) FROM condition c {_OF_PIECE})",
    "effects": f"(SELECT count(*) FROM effect c {_OF_PIECE})",
    "hand_effects": f"(SELECT count(*) FROM hand_effect c {_OF_PIECE})",
    "keeps_turn": f"(SELECT count(*) FROM variant c {_OF_PIECE} AND NOT c.toggle)",
}
_TABLES = ("piece_summary", "piece_check")

_OF_REVISION = "FROM ruleset r JOIN revision n ON n.ruleset_id = r.id"
_NEWEST = "AND n.number = (SELECT max(x.number) FROM revision x WHERE x.ruleset_id = n.ruleset_id)"
_REVISIONS = (("_all", ""), ("", _NEWEST))


def _said(column: str) -> str:
    return f"(SELECT {column} FROM ruleset_state x WHERE x.ruleset_id = r.id ORDER BY x.number DESC LIMIT 1)"


def _rulesets(of_envelope: str, is_counted: bool) -> str:
    counted = (
        "c.possibilities) FROM revision_piece l JOIN piece_summary c ON c.piece_id = l.piece_id"
        if is_counted
        else "(SELECT max(v.number) + 1 FROM variant v WHERE v.piece_id = l.piece_id)) FROM revision_piece l"
    )
    columns = {
        "ruleset": "r.name",
        "revision": "n.number",
        "title": of_envelope.format("title"),
        "source": of_envelope.format("source"),
        "dialect": "n.dialect",
        "board": "b.shape",
        "start": of_envelope.format("start"),
        "state": f"coalesce({_said('x.state')}, 'active')",
        "successor": _said("x.successor"),
        "pieces": "(SELECT count(*) FROM revision_piece l WHERE l.revision_id = n.id)",
        "possibilities": f"(SELECT sum({counted} WHERE l.revision_id = n.id)",
        "revisions": "(SELECT count(*) FROM revision x WHERE x.ruleset_id = r.id)",
        "digest": "n.digest",
        "lineage": "n.lineage",
        "author": "n.author",
        "message": "n.message",
        "created_at": "n.created_at",
        "variables": of_envelope.format("variables"),
    }
    return f"SELECT {_listed(columns)} {_OF_REVISION} JOIN board b ON b.id = n.board_id WHERE r.deleted_at IS NULL"


def _pieces(is_counted: bool) -> str:
    counts = ("sources", "destinations", "possibilities", "conditions")
    # What was counted as the rows were read had the types of the functions that did so.
    counted = {name: f"CAST(c.{name} AS {'integer' if name == 'possibilities' else 'bigint'})" for name in counts}
    before = {
        **{name: f"(SELECT count(*) FROM {name[:-1]} c {_OF_PIECE})" for name in counts},
        "possibilities": "(SELECT max(v.number) + 1 FROM variant v WHERE v.piece_id = p.id)",
    }
    columns = {
        "ruleset": "r.name",
        "revision": "n.number",
        "piece": "p.identifier",
        **{name: f"p.{name}" for name in ("side", "style", "letter", "state", "terminal", "derived")},
        "ordinal": "rp.ordinal",
        **(counted if is_counted else before),
        "digest": "p.digest",
        "piece_id": "p.id",
    }
    # A piece has one summary: a database that is not asked for what it says leaves the join out.
    summary = "LEFT JOIN piece_summary c ON c.piece_id = p.id " if is_counted else ""
    return (
        f"SELECT {_listed(columns)} {_OF_REVISION} JOIN revision_piece rp ON rp.revision_id = n.id "
        f"JOIN piece p ON p.id = rp.piece_id {summary}WHERE r.deleted_at IS NULL"
    )


def _listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{value} AS {name}" for name, value in columns.items())


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

    op.create_table(
        "piece_summary",
        sa.Column("piece_id", key, nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _COUNTS),
        sa.PrimaryKeyConstraint("piece_id", name="pk_piece_summary"),
        sa.ForeignKeyConstraint(["piece_id"], ["piece.id"], name="fk_piece_summary_piece_id"),
        sqlite_with_rowid=False,
    )
    # That a piece was found sound: by which version of the checker, when, and what its rows looked like.
    op.create_table(
        "piece_check",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("checker", sa.Integer(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fingerprint", label, nullable=False),
        sa.PrimaryKeyConstraint("piece_id", name="pk_piece_check"),
        sa.ForeignKeyConstraint(["piece_id"], ["piece.id"], name="fk_piece_check_piece_id"),
        sqlite_with_rowid=False,
    )
    op.execute(
        f"INSERT INTO piece_summary (piece_id, {', '.join(_COUNTS)}) SELECT p.id, {', '.join(_COUNTS.values())} "
        "FROM piece p"
    )
    is_postgres = op.get_bind().dialect.name == "postgresql"
    if is_postgres:
        for table in _TABLES:
            op.execute(
                f"CREATE TRIGGER {table}_not_emptied BEFORE TRUNCATE ON {table} FOR EACH STATEMENT "
                f"EXECUTE FUNCTION ggn_refuse('{_NEVER_REMOVED}')"
            )
    _replace_views(is_postgres, is_counted=True)


def _replace_views(is_postgres: bool, is_counted: bool) -> None:
    """Make the views that count. Who may read them on Postgres still may."""
    of_envelope = "CAST(n.envelope AS json) ->> '{}'" if is_postgres else "json_extract(n.envelope, '$.{}')"
    for suffix, newest in _REVISIONS:
        for view, query in (("v_rulesets", _rulesets(of_envelope, is_counted)), ("v_pieces", _pieces(is_counted))):
            if not is_postgres:
                op.execute(f"DROP VIEW {view}{suffix}")
            op.execute(f"CREATE {'OR REPLACE ' if is_postgres else ''}VIEW {view}{suffix} AS {query} {newest}")


def downgrade() -> None:
    _replace_views(op.get_bind().dialect.name == "postgresql", is_counted=False)
    for table in reversed(_TABLES):
        op.drop_table(table)
