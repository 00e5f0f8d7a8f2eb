"""Records of reviews: what was proposed, approved, rejected and said in other stores, kept here and never counted."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TABLE = "review_record"
_NEVER_CHANGED = "ggn_store: what was written to this table is never changed"
_NEVER_REMOVED = "ggn_store: what was written to this table is never removed"
_NUMBERED = "ggn_store: a record of a review has the number of a proposal and a round, from 1 on"
_SIGNED = "ggn_store: author, role, message and entry of a record of a review are texts of bounded length, without NUL"
_KEYED = "ggn_store: what a record of a review names is a SHA-256 in hexadecimal, and what its verdict needs"
_PLACED = "ggn_store: a record of a review is of a ruleset of this store, and of a round that is recorded"

_GUARDS = (("unchanged", "UPDATE", _NEVER_CHANGED), ("kept", "DELETE", _NEVER_REMOVED))
_VERDICTS = "verdict IN ('proposed', 'approved', 'rejected', 'withdrawn', 'merged', 'commented')"
_LABELS = ("piece", "source", "destination")
_LONGEST = {"author": 1_000, "role": 1_000, "message": 1_000_000, **dict.fromkeys(_LABELS, 255)}
_OF_RULESET = "(SELECT name FROM ruleset WHERE id = NEW.ruleset_id)"
_TOLD = "'proposal', NEW.number, " + ", ".join(
    f"'{name}', NEW.{name}" for name in ("round", "verdict", "key", *_LABELS, "author", "message")
)


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        _TABLE,
        sa.Column("ruleset_id", key, nullable=False),
        sa.Column("key", label, nullable=False),
        sa.Column("proposal", label, nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("verdict", label, nullable=False),
        *(sa.Column(name, label, nullable=True) for name in ("digest", "base", "revision", *_LABELS)),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("role", label, nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("ruleset_id", "key", name=op.f(f"pk_{_TABLE}")),
        sa.ForeignKeyConstraint(["ruleset_id"], ["ruleset.id"], name=op.f(f"fk_{_TABLE}_ruleset_id")),
        sa.CheckConstraint(_VERDICTS, name=op.f(f"ck_{_TABLE}_verdict")),
    )
    seals = _seals()
    if op.get_bind().dialect.name == "postgresql":
        _guard_postgres(seals)
    else:
        _guard_sqlite(seals)


def downgrade() -> None:
    connection = op.get_bind()
    if connection.execute(sa.text(f"SELECT 1 FROM {_TABLE} LIMIT 1")).first() is not None:
        raise RuntimeError(f"the table {_TABLE} has records, which the tables before cannot hold")
    is_postgres = connection.dialect.name == "postgresql"
    op.drop_table(_TABLE)
    for function in _FUNCTIONS if is_postgres else ():
        op.execute(f"DROP FUNCTION {function}()")


def _checks(seals: Any, words: Any) -> list[tuple[str, str, str]]:
    """What is checked of each row: name, when it is taken, and what is said otherwise."""

    def is_hexadecimal(name: str) -> str:
        value = f"NEW.{name}"
        letters = f"{seals._DIGITS}abcdef"
        return f"{words.is_text(value)} AND length({value}) = 64 AND ltrim({value}, '{letters}') = ''"

    numbered = " AND ".join(f"{words.is_integer(f'NEW.{name}')} AND NEW.{name} >= 1" for name in ("number", "round"))
    signed = " AND ".join(
        f"(NEW.{name} IS NULL OR {words.is_text(f'NEW.{name}')} AND length(NEW.{name}) <= {most})"
        for name, most in _LONGEST.items()
    )
    is_proposed = "NEW.verdict = 'proposed'"
    needed = {
        "proposal": f"NOT ({is_proposed} AND NEW.round = 1)",
        "digest": f"({is_proposed} OR NEW.verdict = 'approved')",
        "revision": "NEW.verdict = 'merged'",
    }
    keyed = " AND ".join(
        [
            is_hexadecimal("key"),
            *(
                f"CASE WHEN {when} THEN {is_hexadecimal(name)} ELSE NEW.{name} IS NULL END"
                for name, when in needed.items()
            ),
            f"(NEW.base IS NULL OR {is_proposed} AND {is_hexadecimal('base')})",
        ]
    )
    of_proposal = "r.ruleset_id = NEW.ruleset_id AND r.number = NEW.number AND {} = NEW.proposal"
    first, other = (of_proposal.format(name) for name in ("r.key", "coalesce(r.proposal, r.key)"))
    placed = (
        "EXISTS (SELECT 1 FROM ruleset WHERE id = NEW.ruleset_id) AND (NEW.proposal IS NULL OR "
        f"EXISTS (SELECT 1 FROM {_TABLE} AS r WHERE {first} AND r.proposal IS NULL) AND "
        f"EXISTS (SELECT 1 FROM {_TABLE} AS r WHERE {other} AND r.verdict = 'proposed' "
        f"AND r.round = NEW.round - CASE WHEN {is_proposed} THEN 1 ELSE 0 END))"
    )
    return [
        ("numbered", numbered, _NUMBERED),
        ("timed", words.is_past("NEW.created_at"), seals._PAST),
        ("signed", signed, _SIGNED),
        ("keyed", keyed, _KEYED),
        ("placed", placed, _PLACED),
    ]


def _guard_sqlite(seals: Any) -> None:
    for name, event, message in _GUARDS:
        op.execute(seals._raising(f"{_TABLE}_{name}", f"BEFORE {event} ON {_TABLE}", message))
    for name, condition, message in _checks(seals, seals._Sqlite):
        seals._unless(f"{_TABLE}_{name}", _TABLE, condition, message)
    found = f"EXISTS (SELECT 1 FROM {_TABLE} WHERE ruleset_id = NEW.ruleset_id AND key = NEW.key)"
    op.execute(seals._raising(f"{_TABLE}_not_replaced", f"BEFORE INSERT ON {_TABLE}", _NEVER_CHANGED, found))
    op.execute(
        f"CREATE TRIGGER {_TABLE}_audit_insert AFTER INSERT ON {_TABLE} BEGIN "
        "INSERT INTO audit (at, action, subject, detail) VALUES "
        f"(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000', 'record', {_OF_RULESET}, json_object({_TOLD})); END"
    )


_FUNCTIONS = (f"ggn_require_{_TABLE}_written", f"ggn_{_TABLE}_audit_insert")


def _guard_postgres(seals: Any) -> None:
    for name, event, message in (*_GUARDS, ("not_emptied", "TRUNCATE", _NEVER_REMOVED)):
        op.execute(
            f"CREATE TRIGGER {_TABLE}_{name} BEFORE {event} ON {_TABLE} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION ggn_refuse('{message}')"
        )
    checks = " ".join(seals._require(condition, message) for _, condition, message in _checks(seals, seals._Postgres))
    audit = (
        "INSERT INTO audit (at, role, action, subject, detail, transaction) VALUES "
        f"(clock_timestamp(), session_user, 'record', {_OF_RULESET}, json_build_object({_TOLD})::text, "
        "pg_current_xact_id()::text::bigint); PERFORM pg_notify('ggn_store', '');"
    )
    for when, name, body in zip(("BEFORE", "AFTER"), _FUNCTIONS, (checks, audit), strict=True):
        seals._function(name, body)
        # A function of a trigger is called by nobody else.
        op.execute(f"REVOKE ALL ON FUNCTION {name}() FROM PUBLIC")
        trigger = f"{_TABLE}_{'written' if when == 'BEFORE' else 'audit_insert'}"
        op.execute(f"CREATE TRIGGER {trigger} {when} INSERT ON {_TABLE} FOR EACH ROW EXECUTE FUNCTION {name}()")


def _seals() -> Any:
    """The words of the seals, as they are since there are rounds."""
    loader = SourceFileLoader("ggn_store_rounds", str(Path(__file__).with_name("0013_rounds.py")))
    module: Any = ModuleType(loader.name)
    # It finds the migration before it beside itself.
    module.__file__ = loader.path
    loader.exec_module(module)
    return module.seals()
