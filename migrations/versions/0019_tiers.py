"""Tiers: how much of its game a document can say, in the views of rulesets, as its definition tells."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

# The letter in the line `tier = "A"`, however it is spaced and quoted. SQLite knows no regular expressions.
_SQLITE = (
    "(SELECT CASE WHEN h.place > 0 AND substr(h.head, h.place + 8, 1) = '\"' THEN substr(h.head, h.place + 7, 1) END "
    "FROM (SELECT d.head, instr(d.head, char(10) || 'tier=\"') AS place FROM (SELECT char(10) || replace(replace("
    "replace(json_extract(n.envelope, '$.definition'), ' ', ''), char(9), ''), '''', '\"') AS head) d) h)"
)
_POSTGRES = (
    "substring(CAST(n.envelope AS json) ->> 'definition' FROM '(?n)^[ \\t]*tier[ \\t]*=[ \\t]*[\"'']([A-D])[\"'']')"
)


def _before(name: str) -> ModuleType:
    """The migration of that name: names of migrations begin with digits, which no import says."""
    loader = SourceFileLoader(f"ggn_store_{name}", str(Path(__file__).with_name(f"{name}.py")))
    module = ModuleType(loader.name)
    module.__file__ = loader.path  # where it finds those before it
    loader.exec_module(module)
    return module


def _query(*, is_postgres: bool) -> str:
    """What the views of rulesets have been since 0017, and the tier."""
    play = _before("0010_play")
    query: str = _before("0008_summaries")._rulesets(
        "CAST(n.envelope AS json) ->> '{}'" if is_postgres else "json_extract(n.envelope, '$.{}')", is_counted=True
    )
    host = (
        f"(SELECT string_agg(h.value, ',' ORDER BY h.place) FROM json_array_elements_text({play._Postgres.play} "
        "-> 'host') WITH ORDINALITY AS h (value, place))"
        if is_postgres
        else f"(SELECT group_concat(h.value, ',') FROM json_each({play._Sqlite.play}, '$.host') h)"
    )
    columns = {
        "conditions": "(SELECT sum(c.conditions) FROM revision_piece l JOIN piece_summary c ON c.piece_id = l.piece_id "
        "WHERE l.revision_id = n.id)",
        "host_duties": host,
        "tier": _POSTGRES if is_postgres else _SQLITE,
    }
    also = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    return query.replace(" FROM ruleset r JOIN", f", {also} FROM ruleset r JOIN")


def upgrade() -> None:
    """Who may read the views on Postgres still may."""
    is_postgres = op.get_bind().dialect.name == "postgresql"
    query = _query(is_postgres=is_postgres)
    for suffix, newest in _before("0008_summaries")._REVISIONS:
        if not is_postgres:
            op.execute(f"DROP VIEW v_rulesets{suffix}")
        op.execute(f"CREATE {'OR REPLACE ' * is_postgres}VIEW v_rulesets{suffix} AS {query} {newest}")


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for suffix in ("", "_all"):
            op.execute(f"DROP VIEW v_rulesets{suffix}")
    _before("0017_concepts")._replace_rulesets(is_extended=True)
