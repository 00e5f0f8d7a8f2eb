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


def seals(*, rights: bool = True) -> Any:
    """The words of the seals, as this migration has them; without rights, as they were before.

    Migrations that come later and make seals again begin with these.
    """
    loader = SourceFileLoader("ggn_store_seals", str(Path(__file__).with_name("0007_seals.py")))
    found: Any = ModuleType(loader.name)
    loader.exec_module(found)
    found._FIELDS = found._FIELDS.replace("'variables'", "'variables', 'play'")
    if not rights:
        return found
    sqlite, postgres = found._Sqlite, found._Postgres
    is_listed = {
        sqlite: _is_listed_sqlite("v.author", found._rules(found._OF_PROPOSAL, True), "approvers"),
        postgres: f"ggn_is_one_of(v.role, ggn_people({found._OF_PROPOSAL}, 'approvers'))",
    }
    every, judge_postgres = found._approvals, found._judge_postgres
    found._approvals = lambda words, is_read: f"{every(words, is_read).removesuffix(')')} AND {is_listed[words]})"
    _allow_lists(
        sqlite,
        _part_sqlite,
        " UNION ALL ",
        ("THEN NEW.rules = (SELECT '{' || coalesce(group_concat(part, ', '), '') || '}' FROM (", _REVIEW, ")) ELSE 0"),
    )
    _allow_lists(
        postgres,
        _part_postgres,
        ", ",
        ("|| concat_ws(', ', ", "CASE WHEN json_typeof(NEW.rules::json -> 'review')", ") || '}')"),
    )
    sqlite.review = _Needed(found)

    def judge(*, is_read: bool) -> None:
        judge_postgres(is_read=is_read)
        op.execute(
            "CREATE OR REPLACE FUNCTION ggn_review(wanted text) RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER "
            f"AS $$ {_NEEDED.format(rules=found._rules('wanted', is_read))} $$"
        )
        found._pin("ggn_review(text)")

    found._judge_postgres = judge
    return found


class _Needed:
    """How many must approve of a revision, in SQLite's words: one at least of what whoever may not load has written."""

    def __init__(self, seals: Any) -> None:
        self._plain: str = seals._Sqlite.review
        self._author = {seals._OF_PIECE: _AUTHOR_OF_PIECE, seals._OF_REVISION: "NEW.author"}

    def format(self, *, rules: str) -> str:
        needed = self._plain.format(rules=rules)
        for place, author in self._author.items():
            if place in rules:
                return f"max({needed}, NOT {_is_listed_sqlite(author, rules, 'proposers')})"
        return needed


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


def upgrade() -> None:
    found = seals()
    if op.get_bind().dialect.name == "postgresql":
        _make_postgres(found)
        _judge_postgres(found)
        return
    _judge_sqlite(found)
    for table, condition, key, message in _LISTED:
        rules = found._rules(_OF_VERDICT if table == "verdict" else found._OF_REVISION, True)
        is_listed = _is_listed_sqlite("NEW.author", rules, key)
        found._unless(f"{table}_listed", table, f"NOT ({condition}) OR {is_listed}", message)


def downgrade() -> None:
    before = seals(rights=False)
    if op.get_bind().dialect.name == "postgresql":
        for function in _OF_TRIGGERS:
            op.execute(f"DROP FUNCTION ggn_require_{function}() CASCADE")  # and with it the triggers
        _judge_postgres(before)
        op.execute("DROP FUNCTION ggn_people(text, text)")
        op.execute("DROP FUNCTION ggn_is_one_of(text, json)")
        return
    before._drop_sqlite(*(f"{table}_listed" for table, *_ in _LISTED))
    _judge_sqlite(before)


# --- SQLite, where it is the author's word that counts ---


def _judge_sqlite(found: Any) -> None:
    """Make the triggers again whose words have changed."""
    judging = (*found._JUDGING, "read", "complete", "enough")
    found._drop_sqlite("policy_written", *found._REPLACED, *(f"verdict_{name}" for name in judging))
    found._judge_sqlite(is_read=True)
    for table, name, condition, message in found._checks(found._Sqlite):
        if (table, name) == ("policy", "written"):
            found._unless(f"{table}_{name}", table, condition, message)


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

_OF_TRIGGERS = ("listed", "judge", "merger")


def _make_postgres(found: Any) -> None:
    op.execute(
        "CREATE FUNCTION ggn_is_one_of(who text, people json) RETURNS boolean LANGUAGE sql STABLE AS "
        f"$$ {_IS_ONE_OF} $$"
    )
    op.execute(
        "CREATE FUNCTION ggn_people(wanted text, key text) RETURNS json LANGUAGE sql STABLE SECURITY DEFINER AS "
        f"$$ SELECT rules::json -> key FROM ({found._rules('wanted', True)}) AS found $$"
    )
    for function in ("ggn_is_one_of(text, json)", "ggn_people(text, text)"):
        found._pin(function)
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    conditions = ("true", "NEW.verdict IN ('approved', 'rejected', 'merged')", f"ggn_review({found._OF_REVISION}) > 0")
    for name, condition in zip(_OF_TRIGGERS, conditions, strict=True):
        ruleset = _OF_VERDICT if name == "judge" else found._OF_REVISION
        is_listed = f"ggn_is_one_of(session_user::text, ggn_people({ruleset}, TG_ARGV[0]))"
        raising = "RAISE EXCEPTION '%', TG_ARGV[1] USING ERRCODE = 'integrity_constraint_violation';"
        found._function(f"ggn_require_{name}", f"IF ({condition}) AND NOT {is_listed} THEN {raising} END IF;")
        op.execute(f"REVOKE ALL ON FUNCTION ggn_require_{name}() FROM PUBLIC")
    of_others = {"verdict": "judge", "revision": "merger"}
    for table, _, key, message in (*_LISTED, ("revision", "", "approvers", _APPROVERS)):
        op.execute(
            f"CREATE TRIGGER {table}_listed BEFORE INSERT ON {table} FOR EACH ROW "
            f"EXECUTE FUNCTION ggn_require_{of_others.get(table, 'listed')}('{key}', '{message}')"
        )


def _judge_postgres(found: Any) -> None:
    """Make the functions again whose words have changed."""
    found._judge_postgres(is_read=True)
    checks = [each for each in found._checks(found._Postgres) if each[0] == "policy"]
    body = " ".join(found._require(condition, message) for *_, condition, message in checks)
    found._function("ggn_require_policy_written", body)


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
