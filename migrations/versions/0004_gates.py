"""Gates: policies, proposals and verdicts, and triggers that hold revisions to what was approved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES = ("policy", "proposal", "proposal_piece", "verdict")
_ROWS_OF_A_PIECE = ("source", "destination", "variant", "condition", "effect", "hand_effect")

_NEVER_CHANGED = "ggn_store: what was written to this table is never changed"
_NEVER_REMOVED = "ggn_store: what was written to this table is never removed"
_LISTED = "ggn_store: a piece that a revision lists is never removed"
_IN_USE = "ggn_store: a piece that a revision or a proposal lists is never removed"
_REVIEWED = "ggn_store: this ruleset takes only revisions that were proposed and approved (`ggn-store propose`)"
_APPROVED = "ggn_store: a revision of this ruleset lists the pieces that were approved, and no others"
_COUNTED = "ggn_store: a proposal lists as many pieces as it says, and no others"
_NO_RULES = "ggn_store: the rules of a policy are a JSON object whose review is a whole number"
_UNNAMED = "ggn_store: who proposes or judges needs a name"
_NUMBERED = "ggn_store: the verdicts of a proposal are numbered without gaps"
_CLOSED = "ggn_store: the proposal was merged, rejected or withdrawn already"
_OWN = "ggn_store: nobody approves a proposal of their own"
_FOREIGN = "ggn_store: a proposal is withdrawn by whoever made it; others reject it"
_NOT_MERGED = "ggn_store: a proposal is merged by a revision of its content that follows its base"

# The rules that count for the ruleset called {name}: of the longest namespace that covers it, the newest.
_RULES = (
    "SELECT rules FROM policy AS p WHERE rules IS NOT NULL "
    "AND number = (SELECT max(number) FROM policy AS q WHERE q.namespace = p.namespace) "
    "AND (namespace = '' OR {name} = namespace "
    "OR substr({name}, 1, length(namespace) + 1) = namespace || '/') "
    "ORDER BY length(namespace) DESC LIMIT 1"
)
# A proposal that the revision NEW carries out; {same} compares what may be NULL, {person} is who says so, {review} says
# how many must have approved.
_CARRIED_OUT = (
    "SELECT 1 FROM proposal AS p WHERE p.ruleset_id = NEW.ruleset_id AND p.digest = NEW.digest "
    "AND p.dialect = NEW.dialect AND p.board_id = NEW.board_id AND p.envelope = NEW.envelope "
    "AND p.author {same} NEW.author AND p.message {same} NEW.message AND p.base_id {same} NEW.parent_id "
    "AND p.base_id {same} (SELECT id FROM revision WHERE ruleset_id = NEW.ruleset_id ORDER BY number DESC LIMIT 1) "
    "AND NOT EXISTS (SELECT 1 FROM verdict AS v WHERE v.proposal_id = p.id AND v.verdict <> 'approved') "
    "AND {review} <= (SELECT count(DISTINCT v.{person}) FROM verdict AS v "
    "WHERE v.proposal_id = p.id AND v.verdict = 'approved' AND v.{person} <> p.{person})"
)
# That a piece is where a proposal with the content of its revision lists it.
_PIECE_APPROVED = (
    "SELECT 1 FROM revision AS r JOIN proposal AS p ON p.ruleset_id = r.ruleset_id AND p.digest = r.digest "
    "AND p.base_id {same} r.parent_id JOIN proposal_piece AS l ON l.proposal_id = p.id "
    "WHERE r.id = NEW.revision_id AND l.ordinal = NEW.ordinal AND l.piece_id = NEW.piece_id "
    "AND {review} <= (SELECT count(DISTINCT v.{person}) FROM verdict AS v "
    "WHERE v.proposal_id = p.id AND v.verdict = 'approved' AND v.{person} <> p.{person})"
)
_VERDICTS_BEFORE = "(SELECT count(*) FROM verdict WHERE proposal_id = NEW.proposal_id)"
_MERGES = (
    "SELECT 1 FROM proposal AS p JOIN revision AS r ON r.ruleset_id = p.ruleset_id AND r.digest = p.digest "
    "AND r.parent_id {same} p.base_id WHERE p.id = NEW.proposal_id AND r.id = NEW.revision_id"
)
# When a verdict is refused. One that another has got ahead of is not: it meets the other's number.
_VERDICTS: tuple[tuple[str, str, str], ...] = (
    ("numbered", f"NEW.ordinal < 1 OR NEW.ordinal > 1 + {_VERDICTS_BEFORE}", _NUMBERED),
    (
        "closed",
        f"NEW.ordinal = 1 + {_VERDICTS_BEFORE} AND EXISTS "
        "(SELECT 1 FROM verdict WHERE proposal_id = NEW.proposal_id AND verdict <> 'approved')",
        _CLOSED,
    ),
    (
        "own",
        "NEW.verdict = 'approved' AND EXISTS "
        "(SELECT 1 FROM proposal AS p WHERE p.id = NEW.proposal_id AND p.{person} = NEW.{person})",
        _OWN,
    ),
    (
        "foreign",
        "NEW.verdict = 'withdrawn' AND EXISTS "
        "(SELECT 1 FROM proposal AS p WHERE p.id = NEW.proposal_id AND p.{person} <> NEW.{person})",
        _FOREIGN,
    ),
    ("merged", f"NEW.verdict = 'merged' AND NOT EXISTS ({_MERGES})", _NOT_MERGED),
)

# Of each change that is audited: its table, the action, of what, and what is told of it.
_AUDITED: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    (
        "policy",
        "'policy'",
        "CASE NEW.namespace WHEN '' THEN '*' ELSE NEW.namespace END",
        {"number": "NEW.number", "rules": "NEW.rules", "author": "NEW.author", "message": "NEW.message"},
    ),
    (
        "proposal",
        "'propose'",
        "(SELECT name FROM ruleset WHERE id = NEW.ruleset_id)",
        {
            "proposal": "NEW.number",
            "digest": "NEW.digest",
            "base": "(SELECT number FROM revision WHERE id = NEW.base_id)",
            "accepted": "NEW.accepted",
            "author": "NEW.author",
            "message": "NEW.message",
        },
    ),
    (
        "verdict",
        "CASE NEW.verdict WHEN 'approved' THEN 'approve' WHEN 'rejected' THEN 'reject' "
        "WHEN 'withdrawn' THEN 'withdraw' ELSE 'merge' END",
        "(SELECT r.name FROM ruleset AS r JOIN proposal AS p ON p.ruleset_id = r.id WHERE p.id = NEW.proposal_id)",
        {
            "proposal": "(SELECT number FROM proposal WHERE id = NEW.proposal_id)",
            "revision": "(SELECT number FROM revision WHERE id = NEW.revision_id)",
            "author": "NEW.author",
            "message": "NEW.message",
        },
    ),
)
_FUNCTIONS = (
    "ggn_review(text)",
    "ggn_set_role()",
    "ggn_require_rules()",
    "ggn_require_review()",
    "ggn_require_approved()",
    "ggn_require_counted()",
    "ggn_require_verdict()",
    *(f"ggn_{table}_audit_insert()" for table, *_ in _AUDITED),
)


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

    op.create_table(
        "policy",
        sa.Column("namespace", label, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=True),
        sa.Column("positions", sa.Text(), nullable=True),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "number", name="pk_policy"),
    )
    op.create_table(
        "proposal",
        sa.Column("id", key, nullable=False),
        sa.Column("ruleset_id", key, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("base_id", key, nullable=True),
        sa.Column("digest", label, nullable=False),
        sa.Column("dialect", label, nullable=False),
        sa.Column("board_id", key, nullable=False),
        sa.Column("envelope", sa.Text(), nullable=False),
        sa.Column("pieces", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.Text(), nullable=True),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("role", label, nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_proposal"),
        sa.ForeignKeyConstraint(["ruleset_id"], ["ruleset.id"], name="fk_proposal_ruleset_id"),
        sa.ForeignKeyConstraint(["base_id"], ["revision.id"], name="fk_proposal_base_id"),
        sa.ForeignKeyConstraint(["board_id"], ["board.id"], name="fk_proposal_board_id"),
        sa.UniqueConstraint("ruleset_id", "number", name="uq_proposal_ruleset_id_number"),
        sa.CheckConstraint("dialect IN ('perform', 'must-deny', 'diff')", name=op.f("ck_proposal_dialect")),
    )
    op.create_table(
        "proposal_piece",
        sa.Column("proposal_id", key, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("piece_id", key, nullable=False),
        sa.PrimaryKeyConstraint("proposal_id", "ordinal", name="pk_proposal_piece"),
        sa.ForeignKeyConstraint(["proposal_id"], ["proposal.id"], name="fk_proposal_piece_proposal_id"),
        sa.ForeignKeyConstraint(["piece_id"], ["piece.id"], name="fk_proposal_piece_piece_id"),
        sa.UniqueConstraint("piece_id", "proposal_id", name="uq_proposal_piece_piece_id_proposal_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "verdict",
        sa.Column("proposal_id", key, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("verdict", label, nullable=False),
        sa.Column("revision_id", key, nullable=True),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("role", label, nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("proposal_id", "ordinal", name="pk_verdict"),
        sa.ForeignKeyConstraint(["proposal_id"], ["proposal.id"], name="fk_verdict_proposal_id"),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"], name="fk_verdict_revision_id"),
        sa.CheckConstraint(
            "verdict IN ('approved', 'rejected', 'withdrawn', 'merged')", name=op.f("ck_verdict_verdict")
        ),
        sa.CheckConstraint("(revision_id IS NOT NULL) = (verdict = 'merged')", name=op.f("ck_verdict_revision")),
    )
    if op.get_bind().dialect.name == "postgresql":
        _guard_postgres()
    else:
        _guard_sqlite()


def _guard_sqlite() -> None:
    for table in _TABLES:
        _trigger_sqlite(f"{table}_unchanged", f"BEFORE UPDATE ON {table}", None, _NEVER_CHANGED)
        _trigger_sqlite(f"{table}_kept", f"BEFORE DELETE ON {table}", None, _NEVER_REMOVED)
    _keep_pieces_sqlite(("revision_piece", "proposal_piece"), _IN_USE)

    # The database knows nobody's name: it is the author's word that counts.
    words = {"same": "IS", "person": "author"}
    of_revision = "(SELECT name FROM ruleset WHERE id = NEW.ruleset_id)"
    of_piece = (
        "(SELECT s.name FROM revision AS r JOIN ruleset AS s ON s.id = r.ruleset_id WHERE r.id = NEW.revision_id)"
    )
    for name, table, ruleset, approved, message in (
        ("revision_reviewed", "revision", of_revision, _CARRIED_OUT, _REVIEWED),
        ("revision_piece_reviewed", "revision_piece", of_piece, _PIECE_APPROVED, _APPROVED),
    ):
        review = f"coalesce(json_extract(({_RULES.format(name=ruleset)}), '$.review'), 0)"
        condition = f"{review} > 0 AND NOT EXISTS ({approved.format(review=review, **words)})"
        _trigger_sqlite(name, f"BEFORE INSERT ON {table}", condition, message)
    no_rules = (
        "NEW.rules IS NOT NULL AND CASE WHEN json_valid(NEW.rules) THEN json_type(NEW.rules) <> 'object' "
        "OR coalesce(json_type(NEW.rules, '$.review'), 'integer') <> 'integer' "
        "OR coalesce(json_extract(NEW.rules, '$.review'), 0) < 0 ELSE 1 END"
    )
    _trigger_sqlite("policy_ruled", "BEFORE INSERT ON policy", no_rules, _NO_RULES)
    counted = "NEW.ordinal NOT BETWEEN 0 AND (SELECT pieces - 1 FROM proposal WHERE id = NEW.proposal_id)"
    _trigger_sqlite("proposal_piece_counted", "BEFORE INSERT ON proposal_piece", counted, _COUNTED)
    for table in ("proposal", "verdict"):
        unnamed = "NEW.author IS NULL OR NEW.role IS NOT NULL"
        _trigger_sqlite(f"{table}_named", f"BEFORE INSERT ON {table}", unnamed, _UNNAMED)
    for name, condition, message in _VERDICTS:
        _trigger_sqlite(f"verdict_{name}", "BEFORE INSERT ON verdict", condition.format(**words), message)
    for table, action, subject, told in _AUDITED:
        pairs = ", ".join(f"'{name}', {value}" for name, value in told.items())
        op.execute(
            f"CREATE TRIGGER {table}_audit_insert AFTER INSERT ON {table} BEGIN "
            f"INSERT INTO audit (at, action, subject, detail) VALUES "
            f"(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000', {action}, {subject}, json_object({pairs})); END"
        )


def _keep_pieces_sqlite(lists: tuple[str, ...], message: str) -> None:
    for table in _ROWS_OF_A_PIECE:
        op.execute(f"DROP TRIGGER {table}_kept")
        listed = " OR ".join(f"EXISTS (SELECT 1 FROM {each} WHERE piece_id = OLD.piece_id)" for each in lists)
        _trigger_sqlite(f"{table}_kept", f'BEFORE DELETE ON "{table}"', listed, message)


def _trigger_sqlite(name: str, event: str, condition: str | None, message: str) -> None:
    when = "" if condition is None else f" WHEN {condition}"
    op.execute(f"CREATE TRIGGER {name} {event}{when} BEGIN SELECT RAISE(ABORT, '{message}'); END")


def _guard_postgres() -> None:
    for table in _TABLES:
        for name, event, message in (
            ("unchanged", "UPDATE", _NEVER_CHANGED),
            ("kept", "DELETE", _NEVER_REMOVED),
            ("not_emptied", "TRUNCATE", _NEVER_REMOVED),
        ):
            op.execute(
                f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH STATEMENT "
                f"EXECUTE FUNCTION ggn_refuse('{message}')"
            )
    _keep_pieces_postgres(("revision_piece", "proposal_piece"), _IN_USE)

    # Nobody but a superuser can be somebody else's `session_user`, so that it is the roles' word that counts.
    words = {"same": "IS NOT DISTINCT FROM", "person": "role"}
    op.execute(
        "CREATE FUNCTION ggn_review(wanted text) RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER AS "
        f"$$ SELECT coalesce((rules::json ->> 'review')::integer, 0) FROM ({_RULES.format(name='wanted')}) AS found $$"
    )
    _function("ggn_set_role", "NEW.role := session_user;")
    _function(
        "ggn_require_rules",
        "BEGIN IF NEW.rules IS NOT NULL AND (json_typeof(NEW.rules::json) <> 'object' OR "
        "coalesce(json_typeof(NEW.rules::json -> 'review'), 'number') <> 'number' OR "
        f"(NEW.rules::json ->> 'review')::integer < 0) THEN {_raise(_NO_RULES)} END IF; "
        f"EXCEPTION WHEN data_exception THEN {_raise(_NO_RULES)} END;",
    )
    _function(
        "ggn_require_review",
        "needed := ggn_review((SELECT name FROM ruleset WHERE id = NEW.ruleset_id)); "
        f"{_unless(_CARRIED_OUT.format(review='needed', **words), _REVIEWED)}",
        "needed integer;",
    )
    _function(
        "ggn_require_approved",
        "needed := ggn_review((SELECT s.name FROM revision AS r JOIN ruleset AS s ON s.id = r.ruleset_id "
        "WHERE r.id = NEW.revision_id)); "
        f"{_unless(_PIECE_APPROVED.format(review='needed', **words), _APPROVED)}",
        "needed integer;",
    )
    _function(
        "ggn_require_counted",
        "IF NEW.ordinal NOT BETWEEN 0 AND (SELECT pieces - 1 FROM proposal WHERE id = NEW.proposal_id) "
        f"THEN {_raise(_COUNTED)} END IF;",
    )
    checks = [f"IF {each.format(**words)} THEN {_raise(message)} END IF;" for _, each, message in _VERDICTS]
    _function("ggn_require_verdict", " ".join(checks))
    for table, action, subject, told in _AUDITED:
        pairs = ", ".join(f"'{name}', {value}" for name, value in told.items())
        op.execute(
            f"CREATE FUNCTION ggn_{table}_audit_insert() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
            f"INSERT INTO audit (at, role, action, subject, detail, transaction) VALUES "
            f"(clock_timestamp(), session_user, {action}, {subject}, json_build_object({pairs})::text, "
            "pg_current_xact_id()::text::bigint); PERFORM pg_notify('ggn_store', ''); RETURN NULL; END $$"
        )
        op.execute(
            f"CREATE TRIGGER {table}_audit_insert AFTER INSERT ON {table} FOR EACH ROW "
            f"EXECUTE FUNCTION ggn_{table}_audit_insert()"
        )
    # Triggers of one event run in the order of their names: the role is set before anything is made of it.
    for name, table, function in (
        ("proposal_by", "proposal", "ggn_set_role"),
        ("verdict_by", "verdict", "ggn_set_role"),
        ("verdict_checked", "verdict", "ggn_require_verdict"),
        ("policy_ruled", "policy", "ggn_require_rules"),
        ("proposal_piece_counted", "proposal_piece", "ggn_require_counted"),
        ("revision_reviewed", "revision", "ggn_require_review"),
        ("revision_piece_reviewed", "revision_piece", "ggn_require_approved"),
    ):
        op.execute(f"CREATE TRIGGER {name} BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {function}()")
    for function in _FUNCTIONS:
        _pin(function)


def _keep_pieces_postgres(lists: tuple[str, ...], message: str) -> None:
    listed = " OR ".join(f"EXISTS (SELECT 1 FROM {each} WHERE piece_id = OLD.piece_id)" for each in lists)
    op.execute(
        "CREATE OR REPLACE FUNCTION ggn_keep_piece() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {listed} THEN {_raise(message)} END IF; RETURN OLD; END $$"
    )
    _pin("ggn_keep_piece()")


def _function(name: str, body: str, declared: str = "") -> None:
    declare = f"DECLARE {declared} " if declared else ""
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS "
        f"$$ {declare}BEGIN {body} RETURN NEW; END $$"
    )


def _unless(found: str, message: str) -> str:
    return f"IF needed > 0 AND NOT EXISTS ({found}) THEN {_raise(message)} END IF;"


def _raise(message: str) -> str:
    return f"RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation';"


def _pin(function: str) -> None:
    """Have a function look tables up where they were made, whatever the caller's path."""
    op.execute(
        f"DO $$ BEGIN EXECUTE format('ALTER FUNCTION {function} SET search_path = %I, pg_temp', current_schema()); "
        "END $$"
    )


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for function in _FUNCTIONS:
            op.execute(f"DROP FUNCTION {function} CASCADE")  # and with it the triggers
        _keep_pieces_postgres(("revision_piece",), _LISTED)
    else:
        for name in ("revision_reviewed", "revision_piece_reviewed"):
            op.execute(f"DROP TRIGGER {name}")
        _keep_pieces_sqlite(("revision_piece",), _LISTED)
    for table in reversed(_TABLES):
        op.drop_table(table)
