"""Rounds: a proposal that is amended is a row more with the same number; and comments beside the verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_NUMBER = "uq_proposal_ruleset_id_number UNIQUE (ruleset_id, number)"
_ROUND = "uq_proposal_ruleset_id_number_round UNIQUE (ruleset_id, number, round)"
_JUDGED = "verdict IN ('approved', 'rejected', 'withdrawn', 'merged')"
_SAID = "verdict IN ('approved', 'rejected', 'withdrawn', 'merged', 'commented')"
_ENTRY = ("piece", "source", "destination")

_AMENDED = (
    "ggn_store: a proposal is amended by whoever made it, with other content, until it is merged, rejected or withdrawn"
)
_NEWER = "ggn_store: the proposal was amended: what is judged is its newest round"
_COMMENTED = (
    "ggn_store: a comment has a text, and is on the proposal or on an entry of it or of its base; nothing else is on "
    "an entry"
)

# The rounds n of the proposal that the round p, the round NEW, or the one that NEW says something of, is of.
_OF_P = "n.ruleset_id = p.ruleset_id AND n.number = p.number"
_OF_NEW = "n.ruleset_id = NEW.ruleset_id AND n.number = NEW.number"
_OF_ITS = f"FROM proposal AS p JOIN proposal AS n ON {_OF_P} WHERE p.id = NEW.proposal_id"
_LOCKED = "FOR NO KEY UPDATE OF n"
_JUDGES = "AND NEW.verdict <> 'commented'"
# What ends one round ends the proposal.
_CLOSED = "EXISTS (SELECT 1 FROM verdict WHERE proposal_id = NEW.proposal_id AND verdict <> 'approved')"
_ENDED = "EXISTS (SELECT 1 FROM verdict AS e WHERE e.proposal_id = n.id AND e.verdict NOT IN ('approved', 'commented'))"
_OVER = f"SELECT 1 FROM proposal AS n WHERE {_OF_P} AND (n.round > p.round OR {_ENDED})"
_TOLD_OF_VERDICT = "'round', (SELECT round FROM proposal WHERE id = NEW.proposal_id)" + "".join(
    f", '{name}', NEW.{name}" for name in _ENTRY
)

# The pieces of the round that NEW is on, and of its base.
_PIECES = (
    "SELECT piece_id FROM proposal_piece WHERE proposal_id = NEW.proposal_id UNION ALL SELECT r.piece_id "
    "FROM revision_piece AS r JOIN proposal AS p ON p.base_id = r.revision_id WHERE p.id = NEW.proposal_id"
)
# Table, name, when a row is taken, and what is said otherwise.
_Check = tuple[str, str, str, str]


def _square(of: str) -> str:
    label = f"(SELECT label FROM square WHERE board_id = q.board_id AND number = {of}.square)"
    return f"coalesce({label}, '*') = NEW.{'source' if of == 's' else 'destination'}"


_ON_ENTRY = (
    f"EXISTS (SELECT 1 FROM ({_PIECES}) AS l JOIN piece AS q ON q.id = l.piece_id WHERE q.identifier = NEW.piece "
    "AND (NEW.source IS NULL OR EXISTS (SELECT 1 FROM source AS s WHERE s.piece_id = q.id AND "
    f"{_square('s')} AND (NEW.destination IS NULL OR EXISTS (SELECT 1 FROM destination AS d "
    f"WHERE d.piece_id = q.id AND d.source = s.ordinal AND {_square('d')})))))"
)


def seals(*, rounds: bool = True) -> Any:
    """The words of the seals, as this migration has them; without rounds, as they were before."""
    found = _load("0011_rights.py").seals()
    if not rounds:
        return found
    carried_out, piece_approved, checks, verdicts, told = (
        getattr(found, name) for name in ("_carried_out", "_piece_approved", "_checks", "_verdicts", "_told")
    )
    # A proposal is carried out as its newest round says, unless something has ended it.
    before = "AND NOT EXISTS (SELECT 1 FROM verdict AS v WHERE v.proposal_id = p.id AND v.verdict <> 'approved') "
    found._carried_out = lambda *given: carried_out(*given).replace(before, f"AND NOT EXISTS ({_OVER}) ")
    found._piece_approved = lambda *given: f"{piece_approved(*given)} AND NOT EXISTS ({_OVER})"
    found._checks = lambda words: _checks(found, words, checks(words))
    found._verdicts = lambda words, *given: _verdicts(found, words, verdicts(words, *given))
    found._ACTION = found._ACTION.replace("ELSE", "WHEN 'commented' THEN 'comment' ELSE")
    found._told = lambda is_read: f"{told(is_read)}, {_TOLD_OF_VERDICT}"
    found._UNIQUE["proposal"] = (("id",), ("ruleset_id", "number", "round"))
    return found


def _load(name: str) -> Any:
    loader = SourceFileLoader(f"ggn_store_{Path(name).stem}", str(Path(__file__).with_name(name)))
    module = ModuleType(loader.name)
    module.__file__ = loader.path
    loader.exec_module(module)
    return module


def _checks(of: Any, words: Any, checks: Iterator[_Check]) -> Iterator[_Check]:
    """What is checked of each row when it is inserted, with rounds and comments."""
    for table, name, condition, message in checks:
        if (table, name) != ("proposal", "numbered"):
            yield table, name, condition, message
            continue
        if words is of._Postgres:
            first = f"EXISTS (SELECT 1 FROM proposal AS n WHERE {_OF_NEW} AND n.round = 1 {_LOCKED})"
            yield table, "locked", f"NEW.round = 1 OR {first}", message
        rounds = f"(SELECT count(*) FROM proposal AS n WHERE {_OF_NEW})"
        fits = f"{words.is_integer('NEW.round')} AND NEW.round BETWEEN 1 AND 1 + {rounds}"
        yield table, name, f"{condition} AND {fits}", message
    before = (
        f"SELECT 1 FROM proposal AS n WHERE {_OF_NEW} AND n.round = NEW.round - 1 "
        f"AND n.{words.person} = NEW.{words.person} AND (n.digest <> NEW.digest OR NOT n.base_id {words.same} "
        "NEW.base_id)"
    )
    ended = f"SELECT 1 FROM proposal AS n WHERE {_OF_NEW} AND {_ENDED}"
    yield "proposal", "amended", f"NEW.round = 1 OR EXISTS ({before}) AND NOT EXISTS ({ended})", _AMENDED
    texts = " AND ".join(f"(NEW.{name} IS NULL OR {words.is_text(f'NEW.{name}')})" for name in _ENTRY)
    commented = (
        f"CASE NEW.verdict WHEN 'commented' THEN length(trim(NEW.message)) > 0 AND {texts} "
        "AND (NEW.source IS NOT NULL OR NEW.destination IS NULL) AND (NEW.piece IS NOT NULL OR NEW.source IS NULL) "
        f"AND (NEW.piece IS NULL OR {_ON_ENTRY}) "
        f"ELSE {' AND '.join(f'NEW.{name} IS NULL' for name in _ENTRY)} END"
    )
    yield "verdict", "commented", commented, _COMMENTED


def _verdicts(of: Any, words: Any, verdicts: Iterator[_Check]) -> Iterator[_Check]:
    """When a verdict is taken: a comment always, anything else on the newest round of what has not ended."""
    for table, name, condition, message in verdicts:
        taken = condition
        if name == "numbered" and words is of._Postgres:
            # Who amends a proposal and who says something of it wait for each other.
            yield table, "locked", f"EXISTS (SELECT 1 {_OF_ITS} AND n.round = 1 {_LOCKED})", message
        if name == "closed":
            yield table, "newest", f"NOT (EXISTS (SELECT 1 {_OF_ITS} AND n.round > p.round) {_JUDGES})", _NEWER
            taken = condition.replace(_CLOSED, f"EXISTS (SELECT 1 {_OF_ITS} AND {_ENDED}) {_JUDGES}")
        if name == "complete":
            taken = condition.replace("'withdrawn')", "'withdrawn', 'commented')")
        yield table, name, taken, message


def upgrade() -> None:
    is_postgres = op.get_bind().dialect.name == "postgresql"
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("proposal", sa.Column("round", sa.Integer(), server_default="1", nullable=False))
    for name in _ENTRY:
        op.add_column("verdict", sa.Column(name, label, nullable=True))
    _constrain(is_postgres, (_NUMBER, _ROUND), (_JUDGED, _SAID))
    _judge(is_postgres, rounds=True)


def downgrade() -> None:
    connection = op.get_bind()
    for table, found, what in (("proposal", "round > 1", "rounds"), ("verdict", "verdict = 'commented'", "comments")):
        if connection.execute(sa.text(f"SELECT 1 FROM {table} WHERE {found} LIMIT 1")).first() is not None:
            raise RuntimeError(f"the table {table} has {what}, which the tables before cannot hold")
    is_postgres = connection.dialect.name == "postgresql"
    _judge(is_postgres, rounds=False)
    _constrain(is_postgres, (_ROUND, _NUMBER), (_SAID, _JUDGED))
    for name in reversed(_ENTRY):
        op.drop_column("verdict", name)
    op.drop_column("proposal", "round")


def _constrain(is_postgres: bool, keys: tuple[str, str], kinds: tuple[str, str]) -> None:
    """Write other constraints in place of those before."""
    if is_postgres:
        op.execute(f"ALTER TABLE proposal DROP CONSTRAINT {keys[0].split()[0]}")
        op.execute(f"ALTER TABLE proposal ADD CONSTRAINT {keys[1]}")
        op.execute("ALTER TABLE verdict DROP CONSTRAINT ck_verdict_verdict")
        op.execute(f"ALTER TABLE verdict ADD CONSTRAINT ck_verdict_verdict CHECK ({kinds[1]})")
        return
    # SQLite changes no constraint. Where every row meets the new one as well, the table's own text may be written over:
    # https://www.sqlite.org/lang_altertable.html#otheralter
    connection = op.get_bind()
    version = connection.execute(sa.text("PRAGMA schema_version")).scalar_one()
    connection.execute(sa.text("PRAGMA writable_schema = ON"))
    for table, before, after in (("proposal", *keys), ("verdict", *kinds)):
        written = sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) "
            "WHERE type = 'table' AND name = :table AND instr(sql, :before) > 0"
        )
        changed = connection.execute(written, {"before": before, "after": after, "table": table}).rowcount
        if changed != 1:
            raise RuntimeError(f"the table {table} has not the constraint that this migration knows")
    connection.execute(sa.text(f"PRAGMA schema_version = {version + 1}"))
    # RESET also reads the schema again, which this connection would not do of its own accord.
    connection.execute(sa.text("PRAGMA writable_schema = RESET"))
    # The index of the key still has the columns of before.
    connection.execute(sa.text("REINDEX proposal"))


def _judge(is_postgres: bool, *, rounds: bool) -> None:
    """Make the seals of proposals and verdicts again, and what the audit tells of a proposal."""
    of = seals(rounds=rounds)
    if is_postgres:
        of._judge_postgres(is_read=True)
        checks = [each for each in of._checks(of._Postgres) if each[0] == "proposal"]
        body = " ".join(of._require(condition, message) for *_, condition, message in checks)
        of._function("ggn_require_proposal_written", body)
        op.execute("REVOKE ALL ON FUNCTION ggn_require_proposal_written() FROM PUBLIC")
    else:
        _judge_sqlite(of, seals(rounds=not rounds))
    [(_, action, subject, told)] = (each for each in _load("0004_gates.py")._AUDITED if each[0] == "proposal")
    if rounds:
        action, told = "CASE NEW.round WHEN 1 THEN 'propose' ELSE 'amend' END", told | {"round": "NEW.round"}
    pairs = ", ".join(f"'{name}', {value}" for name, value in told.items())
    if is_postgres:
        op.execute(
            "CREATE OR REPLACE FUNCTION ggn_proposal_audit_insert() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
            "AS $$ BEGIN INSERT INTO audit (at, role, action, subject, detail, transaction) VALUES "
            f"(clock_timestamp(), session_user, {action}, {subject}, json_build_object({pairs})::text, "
            "pg_current_xact_id()::text::bigint); PERFORM pg_notify('ggn_store', ''); RETURN NULL; END $$"
        )
        of._pin("ggn_proposal_audit_insert()")
        return
    of._drop_sqlite("proposal_audit_insert")
    op.execute(
        "CREATE TRIGGER proposal_audit_insert AFTER INSERT ON proposal BEGIN "
        "INSERT INTO audit (at, action, subject, detail) VALUES "
        f"(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000', {action}, {subject}, json_object({pairs})); END"
    )


def _judge_sqlite(of: Any, before: Any) -> None:
    names = [name for _, name, *_ in before._verdicts(before._Sqlite, True, "0")]
    of._drop_sqlite(*of._REPLACED, *(f"verdict_{name}" for name in (*names, "audit_insert")), "proposal_not_replaced")
    of._judge_sqlite(is_read=True)
    old, new = ([*each._checks(each._Sqlite)] for each in (before, of))
    of._drop_sqlite(*(f"{table}_{name}" for table, name, *seal in old if (table, name, *seal) not in new))
    # SQLite asks the newest trigger first.
    for table, name, *seal in reversed(new):
        if (table, name, *seal) not in old:
            of._unless(f"{table}_{name}", table, *seal)
    keys = (" AND ".join(f"{each} = NEW.{each}" for each in key) for key in of._UNIQUE["proposal"])
    found = " OR ".join(f"EXISTS (SELECT 1 FROM proposal WHERE {key})" for key in keys)
    op.execute(of._raising("proposal_not_replaced", "BEFORE INSERT ON proposal", of._NEVER_CHANGED, found))
