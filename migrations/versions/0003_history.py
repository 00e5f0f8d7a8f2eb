"""History: lineages, merges, tags, states, the audit, and triggers that keep what was written as it was."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# Nothing in these is ever changed; the first ones are never removed either.
_KEPT = ("revision", "revision_piece", "revision_merge", "tag", "ruleset_state", "audit")
_ROWS_OF_A_PIECE = ("source", "destination", "variant", "condition", "effect", "hand_effect")
_UNCHANGING = (*_KEPT, *_ROWS_OF_A_PIECE, "board", "square")
_UNCHANGING_COLUMNS = {
    "ruleset": "id, name",
    "piece": "id, board_id, dialect, digest, identifier, style, letter, side, state, terminal, derived",
}
_ALL = (*_UNCHANGING, "ruleset", "piece", "mask")

_NEVER_CHANGED = "ggn_store: what was written to this table is never changed"
_NEVER_REMOVED = "ggn_store: what was written to this table is never removed"
_IN_USE = "ggn_store: a piece that a revision lists is never removed"
_RETIRED = "ggn_store: the ruleset is retired and takes no revisions"

# Of each change that is audited: its table, when, the action, of which ruleset, and what is told of it.
_AUDITED: tuple[tuple[str, str, str, str, dict[str, str]], ...] = (
    (
        "revision",
        "INSERT",
        "'revision'",
        "(SELECT name FROM ruleset WHERE id = NEW.ruleset_id)",
        {
            "revision": "NEW.number",
            "digest": "NEW.digest",
            "lineage": "NEW.lineage",
            "parent": "(SELECT number FROM revision WHERE id = NEW.parent_id)",
            "author": "NEW.author",
            "message": "NEW.message",
        },
    ),
    (
        "tag",
        "INSERT",
        "'tag'",
        "(SELECT name FROM ruleset WHERE id = NEW.ruleset_id)",
        {
            "tag": "NEW.name",
            "revision": "(SELECT number FROM revision WHERE id = NEW.revision_id)",
            "author": "NEW.author",
            "message": "NEW.message",
        },
    ),
    (
        "ruleset_state",
        "INSERT",
        "'state'",
        "(SELECT name FROM ruleset WHERE id = NEW.ruleset_id)",
        {"state": "NEW.state", "successor": "NEW.successor", "author": "NEW.author", "message": "NEW.message"},
    ),
    (
        "ruleset",
        "UPDATE OF deleted_at",
        "CASE WHEN NEW.deleted_at IS NULL THEN 'restore' ELSE 'delete' END",
        "NEW.name",
        {},
    ),
    ("ruleset", "DELETE", "'gc'", "OLD.name", {}),
    ("piece", "DELETE", "'gc'", "NULL", {"piece": "OLD.identifier", "digest": "OLD.digest"}),
)


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

    op.add_column("revision", sa.Column("lineage", label, nullable=False, server_default=sa.text("''")))
    op.create_table(
        "revision_merge",
        sa.Column("revision_id", key, nullable=False),
        sa.Column("parent_id", key, nullable=False),
        sa.PrimaryKeyConstraint("revision_id", name="pk_revision_merge"),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_revision_merge_revision_id"),
        sa.ForeignKeyConstraint(["parent_id"], ["revision.id"], name="fk_revision_merge_parent_id"),
    )
    op.create_table(
        "tag",
        sa.Column("ruleset_id", key, nullable=False),
        sa.Column("name", label, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("revision_id", key, nullable=True),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("ruleset_id", "name", "number", name="pk_tag"),
        sa.ForeignKeyConstraint(["ruleset_id"], ["ruleset.id"], name="fk_tag_ruleset_id"),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_tag_revision_id"),
    )
    op.create_table(
        "ruleset_state",
        sa.Column("ruleset_id", key, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", label, nullable=False),
        sa.Column("successor", label, nullable=True),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("ruleset_id", "number", name="pk_ruleset_state"),
        sa.ForeignKeyConstraint(["ruleset_id"], ["ruleset.id"], name="fk_ruleset_state_ruleset_id"),
        sa.CheckConstraint("state IN ('active', 'deprecated', 'retired')", name=op.f("ck_ruleset_state_state")),
    )
    op.create_table(
        "audit",
        sa.Column("id", key, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("role", label, nullable=True),
        sa.Column("action", label, nullable=False),
        sa.Column("subject", label, nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("transaction", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    _write_lineages()
    if op.get_bind().dialect.name == "postgresql":
        _guard_postgres()
    else:
        _guard_sqlite()


def _write_lineages() -> None:
    """Give every revision that is there the digest of its history; until now histories were lines."""
    table = sa.table(
        "revision",
        *map(sa.column, ("id", "ruleset_id", "number", "parent_id", "digest", "author", "message", "lineage")),
        sa.column("created_at", sa.DateTime(timezone=True)),
    )
    connection = op.get_bind()
    lineages: dict[int | None, str | None] = {None: None}
    for row in connection.execute(sa.select(table).order_by(table.c.ruleset_id, table.c.number)).all():
        at: datetime = row.created_at
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        content: list[Any] = [lineages.get(row.parent_id), None, row.digest, row.author, row.message]
        text = json.dumps([*content, at.isoformat(timespec="microseconds")], ensure_ascii=False, separators=(",", ":"))
        lineages[row.id] = hashlib.sha256(text.encode()).hexdigest()
        connection.execute(table.update().where(table.c.id == row.id).values(lineage=lineages[row.id]))


def _guard_sqlite() -> None:
    for table in _UNCHANGING:
        _trigger_sqlite(f"{table}_unchanged", f"BEFORE UPDATE ON {_quoted(table)}", None, _NEVER_CHANGED)
    for table, columns in _UNCHANGING_COLUMNS.items():
        _trigger_sqlite(f"{table}_unchanged", f"BEFORE UPDATE OF {columns} ON {table}", None, _NEVER_CHANGED)
    for table in _KEPT:
        _trigger_sqlite(f"{table}_kept", f"BEFORE DELETE ON {table}", None, _NEVER_REMOVED)
    for table in _ROWS_OF_A_PIECE:
        listed = "EXISTS (SELECT 1 FROM revision_piece WHERE piece_id = OLD.piece_id)"
        _trigger_sqlite(f"{table}_kept", f"BEFORE DELETE ON {_quoted(table)}", listed, _IN_USE)
    retired = (
        "'retired' = (SELECT state FROM ruleset_state WHERE ruleset_id = NEW.ruleset_id ORDER BY number DESC LIMIT 1)"
    )
    _trigger_sqlite("revision_retired", "BEFORE INSERT ON revision", retired, _RETIRED)
    for table, event, action, subject, told in _AUDITED:
        pairs = ", ".join(f"'{name}', {value}" for name, value in told.items())
        name = f"{table}_audit_{event.split()[0].lower()}"
        op.execute(
            f"CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN "
            f"INSERT INTO audit (at, action, subject, detail) VALUES "
            # With as many digits as SQLAlchemy reads.
            f"(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000', {action}, {subject}, json_object({pairs})); END"
        )


def _trigger_sqlite(name: str, event: str, condition: str | None, message: str) -> None:
    when = "" if condition is None else f" WHEN {condition}"
    op.execute(f"CREATE TRIGGER {name} {event}{when} BEGIN SELECT RAISE(ABORT, '{message}'); END")


def _guard_postgres() -> None:
    op.execute(
        "CREATE FUNCTION ggn_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    op.execute(
        "CREATE FUNCTION ggn_keep_piece() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF EXISTS (SELECT 1 FROM revision_piece WHERE piece_id = OLD.piece_id) THEN "
        "RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN OLD; END $$"
    )
    op.execute(
        "CREATE FUNCTION ggn_refuse_retired() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF 'retired' = (SELECT state FROM ruleset_state WHERE ruleset_id = NEW.ruleset_id "
        "ORDER BY number DESC LIMIT 1) THEN "
        "RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $$"
    )
    for table in _UNCHANGING:
        _trigger_postgres(f"{table}_unchanged", f"BEFORE UPDATE ON {_quoted(table)}", _NEVER_CHANGED)
    for table, columns in _UNCHANGING_COLUMNS.items():
        _trigger_postgres(f"{table}_unchanged", f"BEFORE UPDATE OF {columns} ON {table}", _NEVER_CHANGED)
    for table in _KEPT:
        _trigger_postgres(f"{table}_kept", f"BEFORE DELETE ON {table}", _NEVER_REMOVED)
    for table in _ALL:
        _trigger_postgres(f"{table}_not_emptied", f"BEFORE TRUNCATE ON {_quoted(table)}", _NEVER_REMOVED)
    for table in _ROWS_OF_A_PIECE:
        event = f"BEFORE DELETE ON {_quoted(table)} FOR EACH ROW"
        op.execute(f"CREATE TRIGGER {table}_kept {event} EXECUTE FUNCTION ggn_keep_piece('{_IN_USE}')")
    event = "BEFORE INSERT ON revision FOR EACH ROW"
    op.execute(f"CREATE TRIGGER revision_retired {event} EXECUTE FUNCTION ggn_refuse_retired('{_RETIRED}')")
    for table, event, action, subject, told in _AUDITED:
        pairs = ", ".join(f"'{name}', {value}" for name, value in told.items())
        name = f"{table}_audit_{event.split()[0].lower()}"
        # Whoever may change a table need not be able to write what is told of it, nor can anybody but a superuser
        # be somebody else's `session_user`.
        op.execute(
            f"CREATE FUNCTION ggn_{name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
            f"INSERT INTO audit (at, role, action, subject, detail, transaction) VALUES "
            f"(clock_timestamp(), session_user, {action}, {subject}, json_build_object({pairs})::text, "
            "pg_current_xact_id()::text::bigint); PERFORM pg_notify('ggn_store', ''); RETURN NULL; END $$"
        )
        op.execute(f"CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW EXECUTE FUNCTION ggn_{name}()")
    for function in ("ggn_refuse", "ggn_keep_piece", "ggn_refuse_retired", *_audit_functions()):
        # Tables are looked up where they were made, whatever the caller's path.
        op.execute(
            "DO $$ BEGIN EXECUTE format('ALTER FUNCTION "
            f"{function}() SET search_path = %I, pg_temp', current_schema()); END $$"
        )


def _audit_functions() -> list[str]:
    return [f"ggn_{table}_audit_{event.split()[0].lower()}" for table, event, *_ in _AUDITED]


def _trigger_postgres(name: str, event: str, message: str) -> None:
    op.execute(f"CREATE TRIGGER {name} {event} FOR EACH STATEMENT EXECUTE FUNCTION ggn_refuse('{message}')")


def _quoted(table: str) -> str:
    return f'"{table}"'


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for function in ("ggn_refuse", "ggn_keep_piece", "ggn_refuse_retired", *_audit_functions()):
            op.execute(f"DROP FUNCTION {function}() CASCADE")  # and with it the triggers
    else:
        found = op.get_bind().execute(sa.text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).scalars().all()
        for name in found:
            op.execute(f"DROP TRIGGER {_quoted(name)}")
    for table in ("audit", "ruleset_state", "tag", "revision_merge"):
        op.drop_table(table)
    op.drop_column("revision", "lineage")
