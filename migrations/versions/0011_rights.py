"""Rights: a policy may name who proposes, who approves and who tags, and the database lets nobody else do so."""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_LONGEST_NAME = 1_000

_PROPOSERS = "ggn_store: the policy of this ruleset lets others propose (`ggn-store policy show`)"
_APPROVERS = "ggn_store: the policy of this ruleset lets others approve, reject and merge (`ggn-store policy show`)"
_TAGGERS = "ggn_store: the policy of this ruleset lets others move tags and set states (`ggn-store policy show`)"
# Table, which of its rows, the list that says who may insert them, and what others are told.
_LISTED = (
    ("proposal", "true", "proposers", _PROPOSERS),
    ("verdict", "NEW.verdict IN ('approved', 'rejected', 'merged')", "approvers", _APPROVERS),
    ("tag", "true", "taggers", _TAGGERS),
    ("ruleset_state", "true", "taggers", _TAGGERS),
)
_OF_VERDICT = "(SELECT r.name FROM ruleset AS r JOIN proposal AS p ON p.ruleset_id = r.id WHERE p.id = NEW.proposal_id)"

_AUTHOR_OF_PIECE = "(SELECT author FROM revision WHERE id = NEW.revision_id)"
# Where the part of a policy's rules begins that says how many must approve, in SQLite's words.
_REVIEW = """SELECT '"review": '"""

# Whether a role is one of these, or a member of one, however indirectly; everybody is where nobody is named. A
# superuser is no member for that alone, nor whoever may only let others in (since Postgres 16, those who make a role).
_IS_ONE_OF = (
    "WITH RECURSIVE held (oid, name) AS (SELECT oid, rolname::text FROM pg_roles WHERE rolname = who "
    "UNION SELECT g.oid, g.rolname::text FROM held JOIN pg_auth_members AS m ON m.member = held.oid "
    "JOIN pg_roles AS g ON g.oid = m.roleid WHERE coalesce((to_json(m) ->> 'inherit_option')::boolean "
    "OR (to_json(m) ->> 'set_option')::boolean, true)) "
    "SELECT people IS NULL OR EXISTS (SELECT FROM held JOIN json_array_elements_text(people) AS p (name) "
    "ON p.name = held.name)"
)
# Who may not load proposes: what is proposed takes an approval, also where no review is asked for.
_NEEDED = (
    "SELECT greatest(coalesce((rules::json ->> 'review')::integer, 0), "
    "(NOT ggn_is_one_of(session_user::text, rules::json -> 'proposers'))::integer) FROM ({rules}) AS found"
)


def _seals() -> Any:
    """The migration that has written the seals, whose words these are."""
    loader = SourceFileLoader("ggn_store_seals", str(Path(__file__).with_name("0007_seals.py")))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


def upgrade() -> None:
    seals = _seals()
    if op.get_bind().dialect.name == "postgresql":
        _make_postgres(seals)
    else:
        _make_sqlite(seals)


def downgrade() -> None:
    seals = _seals()
    if op.get_bind().dialect.name == "postgresql":
        for function in ("ggn_require_listed()", "ggn_require_judge()", "ggn_require_merger()"):
            op.execute(f"DROP FUNCTION {function} CASCADE")  # and with it the triggers
        _judge_postgres(seals)
        op.execute("DROP FUNCTION ggn_people(text, text)")
        op.execute("DROP FUNCTION ggn_is_one_of(text, json)")
    else:
        for table, *_ in _LISTED:
            op.execute(f"DROP TRIGGER {table}_listed")
        _judge_sqlite(seals)


def _seals() -> Any:
    """The migration that has written the seals, whose words these are."""
    loader = SourceFileLoader("ggn_store_seals", str(Path(__file__).with_name("0007_seals.py")))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


def _count_listed(seals: Any, is_listed: str) -> None:
    """Have the seals count the approvals only of those who are listed."""
    every = seals._approvals
    seals._approvals = lambda words, is_read: f"{every(words, is_read).removesuffix(')')} AND {is_listed})"


def _allow_lists(words: Any, part: Callable[[str], str], between: str, places: tuple[str, str, str]) -> None:
    """Have the seal of policies take the lists, each before or after its place among the other parts."""
    first, second, last = places
    written = words.are_rules("NEW.rules")
    for place in places:
        assert written.count(place) == 1, place  # noqa: S101
    written = written.replace(first, first + part("approvers") + between)
    written = written.replace(second, part("proposers") + between + second)
    written = written.replace(last, between + part("taggers") + last)
    words.are_rules = staticmethod(lambda _: written)


# --- SQLite, where it is the author's word that counts ---


def _make_sqlite(seals: Any) -> None:
    rules = seals._rules(seals._OF_PROPOSAL, True)
    _count_listed(seals, _is_listed_sqlite("v.author", rules, "approvers"))
    _allow_lists(
        seals._Sqlite,
        _part_sqlite,
        " UNION ALL ",
        ("THEN NEW.rules = (SELECT '{' || coalesce(group_concat(part, ', '), '') || '}' FROM (", _REVIEW, ")) ELSE 0"),
    )
    _judge_sqlite(seals)
    for name, table, ruleset, author, approved, message in (
        ("revision_reviewed", "revision", seals._OF_REVISION, "NEW.author", seals._carried_out, seals._REVIEWED),
        (
            *("revision_piece_reviewed", "revision_piece", seals._OF_PIECE),
            *(_AUTHOR_OF_PIECE, seals._piece_approved, seals._APPROVED),
        ),
    ):
        rules = seals._rules(ruleset, True)
        is_listed = _is_listed_sqlite(author, rules, "proposers")
        needed = f"max({seals._Sqlite.review.format(rules=rules)}, NOT {is_listed})"
        op.execute(f"DROP TRIGGER {name}")
        condition = f"{needed} > 0 AND NOT EXISTS ({approved(seals._Sqlite, True, needed)})"
        op.execute(seals._raising(name, f"BEFORE INSERT ON {table}", message, condition))
    for table, condition, key, message in _LISTED:
        rules = seals._rules(_OF_VERDICT if table == "verdict" else seals._OF_REVISION, True)
        is_listed = _is_listed_sqlite("NEW.author", rules, key)
        seals._unless(f"{table}_listed", table, f"NOT ({condition}) OR {is_listed}", message)


def _judge_sqlite(seals: Any) -> None:
    """Make the triggers again that the seals' words have changed for."""
    judged = ("read", "complete", "enough")
    seals._drop_sqlite(*seals._REPLACED, *(f"verdict_{name}" for name in (*seals._JUDGING, *judged)))
    seals._judge_sqlite(is_read=True)
    for table, name, condition, message in seals._checks(seals._Sqlite):
        if (table, name) == ("policy", "written"):
            op.execute(f"DROP TRIGGER {table}_{name}")
            seals._unless(f"{table}_{name}", table, condition, message)


def _is_listed_sqlite(person: str, rules: str, key: str) -> str:
    return (
        f"(json_type(({rules}), '$.{key}') IS NULL "
        f"OR coalesce({person} IN (SELECT value FROM json_each(({rules}), '$.{key}')), 0))"
    )


def _part_sqlite(key: str) -> str:
    listed = f"json_each(NEW.rules, '$.{key}')"
    return (
        f"""SELECT '"{key}": [' || (SELECT group_concat(json_quote(value), ', ') FROM {listed}) || ']' AS part """
        f"WHERE json_type(NEW.rules, '$.{key}') = 'array' AND NOT EXISTS (SELECT 1 FROM {listed} "
        f"WHERE type <> 'text' OR length(value) NOT BETWEEN 1 AND {_LONGEST_NAME}) "
        f"AND NOT EXISTS (SELECT 1 FROM {listed} AS a, {listed} AS b WHERE a.id < b.id AND a.value >= b.value)"
    )


# --- Postgres, where it is the session's user ---


def _make_postgres(seals: Any) -> None:
    rules = seals._rules("wanted", True)
    op.execute(
        "CREATE FUNCTION ggn_is_one_of(who text, people json) RETURNS boolean LANGUAGE sql STABLE AS "
        f"$$ {_IS_ONE_OF} $$"
    )
    op.execute(
        "CREATE FUNCTION ggn_people(wanted text, key text) RETURNS json LANGUAGE sql STABLE SECURITY DEFINER AS "
        f"$$ SELECT rules::json -> key FROM ({rules}) AS found $$"
    )
    for function in ("ggn_is_one_of(text, json)", "ggn_people(text, text)"):
        seals._pin(function)
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    _count_listed(seals, f"ggn_is_one_of(v.role, ggn_people({seals._OF_PROPOSAL}, 'approvers'))")
    _allow_lists(
        seals._Postgres,
        _part_postgres,
        ", ",
        ("|| concat_ws(', ', ", "CASE WHEN json_typeof(NEW.rules::json -> 'review')", ") || '}')"),
    )
    _judge_postgres(seals)
    op.execute(
        "CREATE OR REPLACE FUNCTION ggn_review(wanted text) RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER AS "
        f"$$ {_NEEDED.format(rules=rules)} $$"
    )
    seals._pin("ggn_review(text)")
    raising = "RAISE EXCEPTION '%', TG_ARGV[1] USING ERRCODE = 'integrity_constraint_violation';"
    for name, condition, ruleset in (
        ("listed", "true", seals._OF_REVISION),
        ("judge", "NEW.verdict IN ('approved', 'rejected', 'merged')", _OF_VERDICT),
        ("merger", f"ggn_review({seals._OF_REVISION}) > 0", seals._OF_REVISION),
    ):
        is_listed = f"ggn_is_one_of(session_user::text, ggn_people({ruleset}, TG_ARGV[0]))"
        seals._function(f"ggn_require_{name}", f"IF ({condition}) AND NOT {is_listed} THEN {raising} END IF;")
        op.execute(f"REVOKE ALL ON FUNCTION ggn_require_{name}() FROM PUBLIC")
    of_others = {"verdict": "judge", "revision": "merger"}
    for table, _, key, message in (*_LISTED, ("revision", "", "approvers", _APPROVERS)):
        op.execute(
            f"CREATE TRIGGER {table}_listed BEFORE INSERT ON {table} FOR EACH ROW "
            f"EXECUTE FUNCTION ggn_require_{of_others.get(table, 'listed')}('{key}', '{message}')"
        )


def _judge_postgres(seals: Any) -> None:
    """Make the functions again that the seals' words have changed for."""
    seals._judge_postgres(is_read=True)
    checks = [each for each in seals._checks(seals._Postgres) if each[0] == "policy"]
    body = " ".join(seals._require(condition, message) for *_, condition, message in checks)
    seals._function("ggn_require_policy_written", body)


def _part_postgres(key: str) -> str:
    listed = f"(NEW.rules::json -> '{key}')"
    elements = f"FROM json_array_elements({listed}) WITH ORDINALITY AS e (value, place)"
    texts = f"json_array_elements_text({listed}) WITH ORDINALITY"
    return (
        f"CASE WHEN json_typeof({listed}) = 'array' AND NOT EXISTS (SELECT {elements} "
        f"WHERE json_typeof(e.value) <> 'string' OR length(e.value #>> '{{}}') NOT BETWEEN 1 AND {_LONGEST_NAME}) "
        f"AND NOT EXISTS (SELECT FROM {texts} AS a (value, place), {texts} AS b (value, place) "
        'WHERE a.place < b.place AND a.value COLLATE "C" >= b.value COLLATE "C") '
        f"THEN '\"{key}\": [' || (SELECT string_agg(to_json(e.value #>> '{{}}')::text, ', ' ORDER BY e.place) "
        f"{elements}) || ']' END"
    )
