"""The dialect `gdl`: the actions that possibilities come from, guards and effects on state variables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_BEFORE = "dialect IN ('perform', 'must-deny', 'diff')"
_AFTER = "dialect IN ('perform', 'must-deny', 'diff', 'gdl')"
_OF_A_DIALECT = ("revision", "piece", "proposal")
_ROWS_OF_A_PIECE = ("variant_origin", "guard", "state_effect")

# As of the other rows of a piece.
_NEVER_CHANGED = "ggn_store: what was written to this table is never changed"
_NEVER_REMOVED = "ggn_store: what was written to this table is never removed"
_IN_USE = "ggn_store: a piece that a revision or a proposal lists is never removed"

_OF_REVISION = "FROM ruleset r JOIN revision n ON n.ruleset_id = r.id"
_OF_PIECE = f"{_OF_REVISION} JOIN revision_piece rp ON rp.revision_id = n.id JOIN piece p ON p.id = rp.piece_id"
_NEWEST = "AND n.number = (SELECT max(x.number) FROM revision x WHERE x.ruleset_id = n.ruleset_id)"
_PLACE = {
    "ruleset": "r.name",
    "revision": "n.number",
    "piece": "p.identifier",
    "source": "CASE WHEN s.square IS NULL THEN '*' ELSE sl.label END",
    "destination": "CASE WHEN d.square IS NULL THEN '*' ELSE dl.label END",
    "ordinal": "m.ordinal",
}
_KEY = {"piece_id": "p.id", "possibility": "m.number"}


def _of_table(table: str, then: str) -> str:
    """What stands in one of the new tables, which for most pieces is nothing: so it is asked right after the piece."""
    columns = {**_PLACE, "variable": "g.variable", "value": "g.value", "piece_id": "p.id", "possibility": "g.variant"}
    return (
        f"SELECT {_listed(columns)} {_OF_PIECE} "
        f"{then} {table} g ON g.piece_id = p.id "
        "JOIN variant m ON m.piece_id = g.piece_id AND m.number = g.variant "
        "JOIN source s ON s.piece_id = m.piece_id AND s.ordinal = m.source "
        "LEFT JOIN square sl ON sl.board_id = p.board_id AND sl.number = s.square "
        "JOIN destination d ON d.piece_id = m.piece_id AND d.source = m.source AND d.ordinal = m.destination "
        "LEFT JOIN square dl ON dl.board_id = p.board_id AND dl.number = d.square "
        "WHERE r.deleted_at IS NULL"
    )


def _said(column: str) -> str:
    return f"(SELECT {column} FROM ruleset_state x WHERE x.ruleset_id = r.id ORDER BY x.number DESC LIMIT 1)"


def _rulesets(of_envelope: str, has_variables: bool) -> str:
    possibilities = "(SELECT max(v.number) + 1 FROM variant v WHERE v.piece_id = l.piece_id)"
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
        "possibilities": f"(SELECT sum({possibilities}) FROM revision_piece l WHERE l.revision_id = n.id)",
        "revisions": "(SELECT count(*) FROM revision x WHERE x.ruleset_id = r.id)",
        "digest": "n.digest",
        "lineage": "n.lineage",
        "author": "n.author",
        "message": "n.message",
        "created_at": "n.created_at",
        **({"variables": of_envelope.format("variables")} if has_variables else {}),
    }
    return f"SELECT {_listed(columns)} {_OF_REVISION} JOIN board b ON b.id = n.board_id WHERE r.deleted_at IS NULL"


def _moves(then: str, has_origin: bool) -> str:
    columns = {
        "ruleset": "r.name",
        "revision": "n.number",
        "piece": "p.identifier",
        "side": "p.side",
        "source": _PLACE["source"],
        "destination": _PLACE["destination"],
        "ordinal": "m.ordinal",
        "requires": "(SELECT min(c.state) FROM condition c WHERE c.piece_id = m.piece_id AND c.variant = m.number "
        "AND c.polarity = 'must' AND c.square = d.square)",
        "toggle": "m.toggle",
        "is_drop": "(s.square IS NULL)",
        **_KEY,
        **({name: f"o.{name}" for name in ("action", "step", "chainable")} if has_origin else {}),
    }
    # A possibility has one origin at most: a database that is not asked for it leaves the join out.
    origin = "LEFT JOIN variant_origin o ON o.piece_id = m.piece_id AND o.variant = m.number" if has_origin else ""
    return (
        f"SELECT {_listed(columns)} {_OF_PIECE} {then} source s ON s.piece_id = p.id "
        "LEFT JOIN square sl ON sl.board_id = p.board_id AND sl.number = s.square "
        f"{then} destination d ON d.piece_id = s.piece_id AND d.source = s.ordinal "
        "LEFT JOIN square dl ON dl.board_id = p.board_id AND dl.number = d.square "
        f"{then} variant m ON m.piece_id = d.piece_id AND m.source = d.source AND m.destination = d.ordinal "
        f"{origin} WHERE r.deleted_at IS NULL"
    )


def _listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{value} AS {name}" for name, value in columns.items())


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    of_a_variant = (["piece_id", "variant"], ["variant.piece_id", "variant.number"])

    op.create_table(
        "variant_origin",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("variant", sa.Integer(), nullable=False),
        sa.Column("action", label, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("chainable", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("piece_id", "variant", name="pk_variant_origin"),
        sa.ForeignKeyConstraint(*of_a_variant, name="fk_variant_origin_piece_id_variant"),
        sa.CheckConstraint("step >= 1", name=op.f("ck_variant_origin_step")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "guard",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("variant", sa.Integer(), nullable=False),
        sa.Column("variable", label, nullable=False),
        sa.Column("value", label, nullable=False),
        sa.PrimaryKeyConstraint("piece_id", "variant", "variable", "value", name="pk_guard"),
        sa.ForeignKeyConstraint(*of_a_variant, name="fk_guard_piece_id_variant"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "state_effect",
        sa.Column("piece_id", key, nullable=False),
        sa.Column("variant", sa.Integer(), nullable=False),
        sa.Column("variable", label, nullable=False),
        sa.Column("value", label, nullable=False),
        sa.PrimaryKeyConstraint("piece_id", "variant", "variable", name="pk_state_effect"),
        sa.ForeignKeyConstraint(*of_a_variant, name="fk_state_effect_piece_id_variant"),
        sqlite_with_rowid=False,
    )
    _allow(_BEFORE, _AFTER)
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for table in _ROWS_OF_A_PIECE:
        if is_postgres:
            _guard_postgres(table)
        else:
            _guard_sqlite(table)
    _replace_views(is_postgres, is_extended=True)
    then = _THEN[is_postgres]
    for suffix, newest in _REVISIONS:
        op.execute(f"CREATE VIEW v_guards{suffix} AS {_of_table('guard', then)} {newest}")
        op.execute(f"CREATE VIEW v_state_effects{suffix} AS {_of_table('state_effect', then)} {newest}")


# Of Postgres, and of SQLite, for which it also says in which order.
_THEN = {True: "JOIN", False: "CROSS JOIN"}
_REVISIONS = (("_all", ""), ("", _NEWEST))


def _replace_views(is_postgres: bool, is_extended: bool) -> None:
    """Make the views that get columns at their ends, or lose them. Who may read them on Postgres still may."""
    of_envelope = "CAST(n.envelope AS json) ->> '{}'" if is_postgres else "json_extract(n.envelope, '$.{}')"
    create = "CREATE OR REPLACE VIEW" if is_postgres and is_extended else "CREATE VIEW"
    for suffix, newest in _REVISIONS:
        for view, query in (
            ("v_moves", _moves(_THEN[is_postgres], is_extended)),
            ("v_rulesets", _rulesets(of_envelope, is_extended)),
        ):
            if create == "CREATE VIEW":
                op.execute(f"DROP VIEW {view}{suffix}")
            op.execute(f"{create} {view}{suffix} AS {query} {newest}")


def downgrade() -> None:
    connection = op.get_bind()
    for table in _OF_A_DIALECT:
        if connection.execute(sa.text(f"SELECT 1 FROM {table} WHERE dialect = 'gdl' LIMIT 1")).first() is not None:
            raise RuntimeError(f"the table {table} has rows of the dialect gdl, which the tables before cannot hold")
    for view in ("v_state_effects", "v_guards"):
        for suffix, _ in _REVISIONS:
            op.execute(f"DROP VIEW {view}{suffix}")
    _replace_views(connection.dialect.name == "postgresql", is_extended=False)
    for table in reversed(_ROWS_OF_A_PIECE):
        op.drop_table(table)
    _allow(_AFTER, _BEFORE)


def _allow(before: str, after: str) -> None:
    """Write another CHECK of the dialect into the tables that have one."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for table in _OF_A_DIALECT:
            op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_dialect")
            op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_dialect CHECK ({after})")
        return
    # SQLite changes no CHECK. Where every row of a table meets the new one as well, its own text may be written over:
    # https://www.sqlite.org/lang_altertable.html#otheralter
    version = connection.execute(sa.text("PRAGMA schema_version")).scalar_one()
    connection.execute(sa.text("PRAGMA writable_schema = ON"))
    for table in _OF_A_DIALECT:
        written = sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) "
            "WHERE type = 'table' AND name = :table AND instr(sql, :before) > 0"
        )
        changed = connection.execute(written, {"before": before, "after": after, "table": table}).rowcount
        if changed != 1:
            raise RuntimeError(f"the table {table} has not the CHECK of its dialect that this migration knows")
    connection.execute(sa.text(f"PRAGMA schema_version = {version + 1}"))
    # RESET also reads the schema again, which this connection would not do of its own accord.
    connection.execute(sa.text("PRAGMA writable_schema = RESET"))


def _guard_sqlite(table: str) -> None:
    lists = ("revision_piece", "proposal_piece")
    listed = " OR ".join(f"EXISTS (SELECT 1 FROM {each} WHERE piece_id = OLD.piece_id)" for each in lists)
    for name, event, when, message in (
        ("unchanged", "BEFORE UPDATE", "", _NEVER_CHANGED),
        ("kept", "BEFORE DELETE", f" WHEN {listed}", _IN_USE),
    ):
        op.execute(
            f"CREATE TRIGGER {table}_{name} {event} ON {table}{when} BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )


def _guard_postgres(table: str) -> None:
    for name, event, function, message in (
        ("unchanged", "BEFORE UPDATE ON {} FOR EACH STATEMENT", "ggn_refuse", _NEVER_CHANGED),
        ("not_emptied", "BEFORE TRUNCATE ON {} FOR EACH STATEMENT", "ggn_refuse", _NEVER_REMOVED),
        ("kept", "BEFORE DELETE ON {} FOR EACH ROW", "ggn_keep_piece", _IN_USE),
    ):
        op.execute(f"CREATE TRIGGER {table}_{name} {event.format(table)} EXECUTE FUNCTION {function}('{message}')")
