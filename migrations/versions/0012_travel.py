"""What travels: states, said elsewhere and earlier and of a successor that is still to come, and new names.

A ruleset is renamed by a row, which moves the name; a name that was given up is not taken by another.
"""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_NEVER_CHANGED = "ggn_store: what was written to this table is never changed"
_NEVER_REMOVED = "ggn_store: what was written to this table is never removed"
_NUMBERED = "ggn_store: what is written here comes after what was written last, and is numbered without gaps"
_PLACED = "ggn_store: a ruleset is renamed from the name that it has to one that no ruleset has or gave up"
_GOVERNED = "ggn_store: a ruleset is renamed only to a name for which the same policy counts"
_GIVEN_UP = "ggn_store: the ruleset of this name was renamed, and its name is not given to another"

_GUARDS = (("unchanged", "UPDATE", _NEVER_CHANGED), ("kept", "DELETE", _NEVER_REMOVED))
_SAID = (
    "'old_name', NEW.old_name, 'new_name', NEW.new_name, 'number', NEW.number, "
    "'author', NEW.author, 'message', NEW.message"
)
_MOVE = "UPDATE ruleset SET name = NEW.new_name WHERE id = NEW.ruleset_id;"
_IS_GIVEN_UP = "EXISTS (SELECT 1 FROM ruleset_rename WHERE old_name = NEW.name)"
_IS_MOVED = (
    "NEW.id = OLD.id AND EXISTS (SELECT 1 FROM ruleset_rename AS a WHERE a.ruleset_id = OLD.id "
    "AND a.old_name = OLD.name AND a.new_name = NEW.name AND a.number = "
    "(SELECT max(b.number) FROM ruleset_rename AS b WHERE b.ruleset_id = OLD.id))"
)


def upgrade() -> None:
    seals = _seals()
    _seal(seals, travel=True)
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "ruleset_rename",
        sa.Column("ruleset_id", key, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("old_name", label, nullable=False),
        sa.Column("new_name", label, nullable=False),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("ruleset_id", "number", name="pk_ruleset_rename"),
        sa.ForeignKeyConstraint(["ruleset_id"], ["ruleset.id"], name="fk_ruleset_rename_ruleset_id"),
    )
    op.create_index("ix_ruleset_rename_old_name", "ruleset_rename", ["old_name"])
    if op.get_bind().dialect.name == "postgresql":
        _guard_postgres(seals)
    else:
        _guard_sqlite(seals)


def downgrade() -> None:
    event = "BEFORE UPDATE OF id, name ON ruleset"
    if op.get_bind().dialect.name == "postgresql":
        for function in _FUNCTIONS:
            op.execute(f"DROP FUNCTION {function}() CASCADE")  # and with it the triggers
        op.execute(
            f"CREATE TRIGGER ruleset_unchanged {event} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION ggn_refuse('{_NEVER_CHANGED}')"
        )
    else:
        op.execute("DROP TRIGGER ruleset_unchanged")
        op.execute("DROP TRIGGER ruleset_given_up")
        op.execute(f"CREATE TRIGGER ruleset_unchanged {event} BEGIN SELECT RAISE(ABORT, '{_NEVER_CHANGED}'); END")
    op.drop_table("ruleset_rename")
    _seal(_seals(), travel=False)


def _checks(seals: Any, words: Any) -> list[tuple[str, str, str]]:
    """What is checked of each row: name, when it is taken, and what is said otherwise."""
    last = "coalesce((SELECT max(number) FROM ruleset_rename WHERE ruleset_id = NEW.ruleset_id), 0)"
    texts = " AND ".join(
        f"({value} IS NULL OR {words.is_text(value)} AND length({value}) <= {most})"
        for value, most in (("NEW.author", seals._LONGEST_AUTHOR), ("NEW.message", seals._LONGEST_MESSAGE))
    )
    placed = (
        "EXISTS (SELECT 1 FROM ruleset WHERE id = NEW.ruleset_id AND name = NEW.old_name) "
        f"AND {seals._is_named(words, 'NEW.new_name')} "
        "AND NOT EXISTS (SELECT 1 FROM ruleset WHERE name = NEW.new_name) "
        "AND NOT EXISTS (SELECT 1 FROM ruleset_rename "
        "WHERE old_name = NEW.new_name AND ruleset_id <> NEW.ruleset_id)"
    )
    rules = [seals._rules(name, True) for name in ("NEW.old_name", "NEW.new_name")]
    return [
        ("numbered", f"{words.is_integer('NEW.number')} AND NEW.number BETWEEN 1 AND 1 + {last}", _NUMBERED),
        ("timed", words.is_past("NEW.created_at"), seals._PAST),
        ("signed", texts, seals._SIGNED),
        ("placed", placed, _PLACED),
        ("governed", f"({rules[0]}) {words.same} ({rules[1]})", _GOVERNED),
    ]


def _guard_sqlite(seals: Any) -> None:
    for name, event, message in _GUARDS:
        op.execute(seals._raising(f"ruleset_rename_{name}", f"BEFORE {event} ON ruleset_rename", message))
    for name, condition, message in _checks(seals, seals._Sqlite):
        seals._unless(f"ruleset_rename_{name}", "ruleset_rename", condition, message)
    found = "EXISTS (SELECT 1 FROM ruleset_rename WHERE ruleset_id = NEW.ruleset_id AND number = NEW.number)"
    event = "BEFORE INSERT ON ruleset_rename"
    op.execute(seals._raising("ruleset_rename_not_replaced", event, _NEVER_CHANGED, found))
    op.execute(
        f"CREATE TRIGGER ruleset_rename_audit_insert AFTER INSERT ON ruleset_rename BEGIN {_MOVE} "
        "INSERT INTO audit (at, action, subject, detail) VALUES "
        f"(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000', 'rename', NEW.new_name, json_object({_SAID})); END"
    )
    op.execute("DROP TRIGGER ruleset_unchanged")
    event = "BEFORE UPDATE OF id, name ON ruleset"
    op.execute(seals._raising("ruleset_unchanged", event, _NEVER_CHANGED, f"({_IS_MOVED}) IS NOT TRUE"))
    op.execute(seals._raising("ruleset_given_up", "BEFORE INSERT ON ruleset", _GIVEN_UP, _IS_GIVEN_UP))


_FUNCTIONS = (
    "ggn_require_ruleset_rename_written",
    "ggn_ruleset_rename_audit_insert",
    "ggn_require_renamed",
    "ggn_require_not_given_up",
)


def _guard_postgres(seals: Any) -> None:
    for name, event, message in (*_GUARDS, ("not_emptied", "TRUNCATE", _NEVER_REMOVED)):
        op.execute(
            f"CREATE TRIGGER ruleset_rename_{name} BEFORE {event} ON ruleset_rename FOR EACH STATEMENT "
            f"EXECUTE FUNCTION ggn_refuse('{message}')"
        )
    checks = " ".join(seals._require(condition, message) for _, condition, message in _checks(seals, seals._Postgres))
    # Nobody makes a ruleset meanwhile that would have a name which is given up here, or is taken.
    lock = "LOCK TABLE ruleset IN SHARE ROW EXCLUSIVE MODE;"
    audit = (
        f"{_MOVE} INSERT INTO audit (at, role, action, subject, detail, transaction) VALUES "
        f"(clock_timestamp(), session_user, 'rename', NEW.new_name, json_build_object({_SAID})::text, "
        "pg_current_xact_id()::text::bigint); PERFORM pg_notify('ggn_store', '');"
    )
    bodies = (
        f"{lock} {checks}",
        audit,
        f"IF ({_IS_MOVED}) IS NOT TRUE THEN {seals._raise(_NEVER_CHANGED)} END IF;",
        f"IF {_IS_GIVEN_UP} THEN {seals._raise(_GIVEN_UP)} END IF;",
    )
    for name, body in zip(_FUNCTIONS, bodies, strict=True):
        seals._function(name, body)
        # A function of a trigger is called by nobody else.
        op.execute(f"REVOKE ALL ON FUNCTION {name}() FROM PUBLIC")
    op.execute("DROP TRIGGER ruleset_unchanged ON ruleset")
    for trigger, event, function in (
        ("ruleset_rename_written", "BEFORE INSERT ON ruleset_rename", _FUNCTIONS[0]),
        ("ruleset_rename_audit_insert", "AFTER INSERT ON ruleset_rename", _FUNCTIONS[1]),
        ("ruleset_unchanged", "BEFORE UPDATE OF id, name ON ruleset", _FUNCTIONS[2]),
        ("ruleset_given_up", "BEFORE INSERT ON ruleset", _FUNCTIONS[3]),
    ):
        op.execute(f"CREATE TRIGGER {trigger} {event} FOR EACH ROW EXECUTE FUNCTION {function}()")


def _seal(seals: Any, *, travel: bool) -> None:
    """Make the seal of states again; `travel`: for those that come from other stores, too."""
    is_postgres = op.get_bind().dialect.name == "postgresql"
    words = seals._Postgres if is_postgres else seals._Sqlite
    checks = {name: each for table, name, *each in seals._checks(words) if table == "ruleset_state"}
    if travel:
        succeeded = (
            "EXISTS (SELECT 1 FROM ruleset WHERE id = NEW.ruleset_id AND (NEW.successor IS NULL OR "
            f"NEW.state <> 'active' AND NEW.successor <> name AND {seals._is_named(words, 'NEW.successor')}))"
        )
        checks |= {
            "timed": [words.is_past("NEW.created_at"), seals._PAST],
            "succeeded": [succeeded, seals._SUCCESSOR],
        }
    if is_postgres:
        body = " ".join(seals._require(condition, message) for condition, message in checks.values())
        seals._function("ggn_require_ruleset_state_written", body)
        op.execute("REVOKE ALL ON FUNCTION ggn_require_ruleset_state_written() FROM PUBLIC")
        return
    for name in ("timed", "succeeded"):
        op.execute(f"DROP TRIGGER ruleset_state_{name}")
        seals._unless(f"ruleset_state_{name}", "ruleset_state", *checks[name])


def _seals() -> Any:
    """The words of the seals, as they are since there are rights."""
    loader = SourceFileLoader("ggn_store_rights", str(Path(__file__).with_name("0011_rights.py")))
    module: Any = ModuleType(loader.name)
    # It finds the migration before it beside itself.
    module.__file__ = loader.path
    loader.exec_module(module)
    return module.seals()
