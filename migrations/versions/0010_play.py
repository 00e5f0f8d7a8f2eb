"""Play: what a revision declares of how it is played is a field of its envelope, and rows of views."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_BEFORE = "'variables'"
_AFTER = "'variables', 'play'"

_OF_REVISION = "FROM ruleset r JOIN revision n ON n.ruleset_id = r.id"
_NEWEST = "AND n.number = (SELECT max(x.number) FROM revision x WHERE x.ruleset_id = n.ruleset_id)"
_REVISIONS = (("_all", ""), ("", _NEWEST))
_NAMED = {"ruleset": "r.name", "revision": "n.number"}


class _Sqlite:
    """What views need of JSON, in SQLite's words; a text that is no JSON declares nothing."""

    play = (
        "CASE WHEN json_valid(n.envelope) AND json_valid(json_extract(n.envelope, '$.play')) "
        "THEN json_extract(n.envelope, '$.play') END"
    )

    @classmethod
    def entries(cls, key: str) -> str:
        return f"JOIN json_each({cls.play}, '$.{key}') e"

    members = entries

    @staticmethod
    def each(of: str, path: str) -> str:
        """A list of texts in the entry `of`, or a NULL where there is none."""
        found = f"CASE {of}.type WHEN 'object' THEN json_extract({of}.value, '$.{path}') END"
        return f"JOIN json_each(coalesce({found}, '[null]')) p"

    place = "e.key"
    number = "p.key"
    value = "p.value"
    name = "CASE e.type WHEN 'object' THEN json_extract(e.value, '$.name') ELSE e.value END"
    plain = "e.value"

    @staticmethod
    def text(key: str) -> str:
        return f"json_extract(e.value, '$.{key}')"

    integer = text

    @staticmethod
    def flag(key: str) -> str:
        return f"json_extract(e.value, '$.{key}')"

    @staticmethod
    def listed(key: str) -> str:
        return f"(SELECT group_concat(value, ',') FROM json_each(e.value, '$.{key}'))"


class _Postgres:
    """The same in Postgres's words."""

    play = "(CAST(n.envelope AS json) ->> 'play')::json"

    @classmethod
    def entries(cls, key: str) -> str:
        return f"CROSS JOIN LATERAL json_array_elements({cls.play} -> '{key}') WITH ORDINALITY AS e (value, place)"

    @classmethod
    def members(cls, key: str) -> str:
        return f"CROSS JOIN LATERAL json_each_text({cls.play} -> '{key}') AS e (key, value)"

    @staticmethod
    def each(of: str, path: str) -> str:
        found = f"CASE json_typeof({of}.value) WHEN 'object' THEN {of}.value -> '{path}' END"
        return (
            f"CROSS JOIN LATERAL json_array_elements_text(coalesce({found}, '[null]')) "
            "WITH ORDINALITY AS p (value, place)"
        )

    place = "CAST(e.place - 1 AS integer)"
    number = "CAST(p.place - 1 AS integer)"
    value = "p.value"
    name = "CASE json_typeof(e.value) WHEN 'object' THEN e.value ->> 'name' ELSE e.value #>> '{}' END"
    plain = "e.value #>> '{}'"

    @staticmethod
    def text(key: str) -> str:
        return f"e.value ->> '{key}'"

    @staticmethod
    def integer(key: str) -> str:
        return f"CAST(e.value ->> '{key}' AS integer)"

    @staticmethod
    def flag(key: str) -> str:
        return f"CAST(e.value ->> '{key}' AS boolean)"

    @staticmethod
    def listed(key: str) -> str:
        return (
            "(SELECT string_agg(q.value, ',' ORDER BY q.place) "
            f"FROM json_array_elements_text(e.value -> '{key}') WITH ORDINALITY AS q (value, place))"
        )


_Words = type[_Sqlite] | type[_Postgres]


def _views(words: _Words) -> dict[str, str]:
    yes, no = ("true", "false") if words is _Postgres else ("1", "0")
    duties = _select({**_NAMED, "duty": words.name, "piece": words.value, "is_left": no}, words, "duties", "pieces")
    left = _select({**_NAMED, "duty": words.plain, "piece": "NULL", "is_left": yes}, words, "host")
    crossings = {
        **_NAMED,
        **{key: words.text(key) for key in ("piece", "source", "destination")},
        "ordinal": words.number,
        "square": words.value,
    }
    outcomes = {
        **_NAMED,
        "ordinal": words.place,
        "decided_by": words.text("when"),
        **{key: words.text(key) for key in ("verdict", "side")},
        **{key: words.listed(key) for key in ("pieces", "squares")},
        "count": words.integer("count"),
        **{key: words.flag(key) for key in ("in_check", "safe", "answered")},
        "other": words.integer("other"),
        "perpetual": words.flag("perpetual"),
    }
    marks = _listed({**_NAMED, "marked": "e.key", "plain": "e.value"})
    return {
        "v_duties": f"{duties} {{newest}} UNION ALL {left} {{newest}}",
        "v_reverts": f"SELECT {marks} {_OF_REVISION} {words.members('reverts')} WHERE r.deleted_at IS NULL {{newest}}",
        "v_crossings": f"{_select(crossings, words, 'crossing', 'through')} {{newest}}",
        "v_outcomes": f"{_select(outcomes, words, 'outcome')} {{newest}}",
    }


def _select(columns: dict[str, str], words: _Words, key: str, each: str | None = None) -> str:
    """A row for each entry of a list; with `each`, for each text of a list in it."""
    inner = "" if each is None else f"{words.each('e', each)} "
    return f"SELECT {_listed(columns)} {_OF_REVISION} {words.entries(key)} {inner}WHERE r.deleted_at IS NULL"


def _listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{value} AS {name}" for name, value in columns.items())


def upgrade() -> None:
    is_postgres = op.get_bind().dialect.name == "postgresql"
    _allow(_AFTER, is_postgres)
    for name, query in _views(_Postgres if is_postgres else _Sqlite).items():
        for suffix, newest in _REVISIONS:
            op.execute(f"CREATE VIEW {name}{suffix} AS {query.replace('{newest}', newest)}")


def _allow(fields: str, is_postgres: bool) -> None:
    """Have the seal of proposals take these fields of an envelope, after those that are always there."""
    seals = _seals()
    seals._FIELDS = seals._FIELDS.replace(_BEFORE, fields)
    if is_postgres:
        checks = [each for each in seals._checks(seals._Postgres) if each[0] == "proposal"]
        body = " ".join(seals._require(condition, message) for *_, condition, message in checks)
        seals._function("ggn_require_proposal_written", body)
        op.execute("REVOKE ALL ON FUNCTION ggn_require_proposal_written() FROM PUBLIC")
        return
    for table, name, condition, message in seals._checks(seals._Sqlite):
        if (table, name) == ("proposal", "enveloped"):
            op.execute(f"DROP TRIGGER {table}_{name}")
            seals._unless(f"{table}_{name}", table, condition, message)


def _seals() -> Any:
    """The migration that has written the seals, whose words these are."""
    loader = SourceFileLoader("ggn_store_seals", str(Path(__file__).with_name("0007_seals.py")))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


def downgrade() -> None:
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for name in reversed(_views(_Postgres if is_postgres else _Sqlite)):
        for suffix, _ in _REVISIONS:
            op.execute(f"DROP VIEW {name}{suffix}")
    _allow(_BEFORE, is_postgres)
