"""What the server has resolved a query to decides what runs: every notation of every function, and what an owner made.

What must not run here raises an error that says `it ran`.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from ggn_store import QueryError, Store
from ggn_store.store.sql import allowed_functions, parse_tree, queries, resolved, statement
from tests.support.postgres import Server

CALL = "is not among those that a query may call"
USE = "is not among those that a query may use"
ASK = "is not a table or view that a query may ask"
MORE = "this would do more than read"

RAN = "BEGIN RAISE EXCEPTION 'it ran'; END"
MADE = f"""
CREATE SCHEMA evil;
CREATE FUNCTION evil.f(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE FUNCTION evil.f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE FUNCTION evil.f() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE FUNCTION evil.is(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE FUNCTION evil.than(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE FUNCTION evil.f(v_history) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE FUNCTION evil.json(v_history) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE FUNCTION evil.named("text" text) RETURNS TABLE (x text) LANGUAGE plpgsql AS $$ {RAN} $$;
CREATE FUNCTION evil.step(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE FUNCTION evil.default(x bigint DEFAULT evil.f()) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE AGGREGATE evil.aggregate(int) (SFUNC = evil.step, STYPE = int, INITCOND = '0');
CREATE OPERATOR evil.< (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.than);
CREATE OPERATOR public.@@@ (RIGHTARG = int, FUNCTION = evil.is);
CREATE OPERATOR public.<<< (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.than);
CREATE CAST (v_history AS text) WITH FUNCTION evil.f(v_history) AS IMPLICIT;
CREATE CAST (v_history AS json) WITH FUNCTION evil.json(v_history) AS IMPLICIT;
CREATE FUNCTION evil.bytes(text) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE CAST (text AS bytea) WITH FUNCTION evil.bytes(text) AS IMPLICIT;
CREATE FUNCTION evil.soft(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION evil.compare(v_history, v_history) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$;
CREATE DOMAIN evil.checked AS int CHECK (evil.is(VALUE));
CREATE DOMAIN evil.again AS evil.checked;
CREATE DOMAIN evil.plain AS int;
CREATE TYPE evil.pair AS (a int, b evil.checked);
CREATE TYPE evil.range AS RANGE (subtype = evil.checked);
CREATE TYPE evil.mood AS ENUM ('sad');
CREATE TABLE evil.row (id int, c evil.checked, l evil.checked[] DEFAULT ARRAY[evil.f(1)]);
CREATE VIEW evil.spy AS SELECT rolname FROM pg_roles;
CREATE VIEW evil.asks AS SELECT evil.f('x'::text) AS x;
CREATE FUNCTION evil.of_list(evil.checked[]) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE OPERATOR public.%%% (RIGHTARG = evil.checked[], FUNCTION = evil.of_list);
CREATE DOMAIN public.visible AS text CHECK (evil.f(VALUE) IS NULL);
"""

# A query, and what its refusal says.
ATTACKS = [
    # functions of the server
    ("SELECT f.pg_sleep FROM unnest(ARRAY[5.0]) f", "the function pg_sleep"),
    ("SELECT f.pg_read_file FROM unnest(ARRAY['/etc/hostname']) f", "the function pg_read_file"),
    ("SELECT (x).pg_advisory_lock FROM (SELECT 1734831731 AS x) q", "the function pg_advisory_lock"),
    ("SELECT q.pg_advisory_lock FROM unnest(ARRAY[1]) AS q", "the function pg_advisory_lock"),
    ("SELECT (q.x).pg_terminate_backend FROM (SELECT 1 AS x) q", CALL),
    ("SELECT pg_terminate_backend(1)", "the function pg_terminate_backend"),
    ("SELECT :x.pg_sleep", "the function pg_sleep"),
    ("SELECT (SELECT 5).pg_sleep", "the function pg_sleep"),
    ("SELECT (CASE WHEN true THEN 1 END).pg_sleep", "the function pg_sleep"),
    ("SELECT lo_creat(0)", "the function lo_creat"),
    ("SELECT lo_get(1)", "the function lo_get"),
    ("SELECT set_config('role', 'none', false)", "the function set_config"),
    ("SELECT current_setting('role')", "the function current_setting"),
    ("SELECT query_to_xml('SELECT 1', true, true, '')", "the function query_to_xml"),
    ("SELECT nextval('ruleset_id_seq')", "the function nextval"),
    ("SELECT * FROM ruleset_id_seq", ASK),
    ("SELECT pg_notify('a', 'b')", "the function pg_notify"),
    ("SELECT 1 FROM v_history ORDER BY pg_sleep(1)::text", "the function pg_sleep"),
    ("SELECT 1 LIMIT length(pg_sleep(1)::text)", "the function pg_sleep"),
    ("SELECT 1 OFFSET length(pg_sleep(1)::text)", "the function pg_sleep"),
    ("SELECT 1 FROM v_history GROUP BY pg_sleep(1)::text", "the function pg_sleep"),
    ("SELECT count(*) FILTER (WHERE pg_sleep(1) IS NULL)", "the function pg_sleep"),
    ("SELECT sum(1) OVER (ROWS length(pg_sleep(1)::text) PRECEDING)", "the function pg_sleep"),
    ("SELECT string_agg('a', 'b' ORDER BY pg_sleep(1)::text)", "the function pg_sleep"),
    ("SELECT 1 FROM v_history HAVING pg_sleep(1) IS NULL", "the function pg_sleep"),
    ("SELECT 1 FROM v_history a JOIN v_history b ON pg_sleep(1) IS NULL", "the function pg_sleep"),
    ("SELECT * FROM v_history, LATERAL pg_sleep(revision)", "the function pg_sleep"),
    ("SELECT * FROM ROWS FROM (generate_series(1, 2), pg_sleep(1))", "the function pg_sleep"),
    ("VALUES (pg_sleep(1))", "the function pg_sleep"),
    ("SELECT ARRAY[pg_backend_pid()]", "the function pg_backend_pid"),
    ("SELECT 1 = ANY (ARRAY[pg_backend_pid()])", "the function pg_backend_pid"),
    ("SELECT (1, pg_backend_pid()) < (1, 2)", "the function pg_backend_pid"),
    ("SELECT 1 IS DISTINCT FROM pg_backend_pid()", "the function pg_backend_pid"),
    ("SELECT (ARRAY[1, 2])[pg_backend_pid()]", "the function pg_backend_pid"),
    ("SELECT coalesce(NULL, pg_backend_pid())", "the function pg_backend_pid"),
    ("SELECT nullif(1, pg_backend_pid())", "the function pg_backend_pid"),
    ("SELECT greatest(1, pg_backend_pid())", "the function pg_backend_pid"),
    ("SELECT EXISTS (SELECT pg_backend_pid())", "the function pg_backend_pid"),
    ("WITH RECURSIVE a(x) AS (SELECT 1 UNION SELECT pg_backend_pid() FROM a) SELECT * FROM a", CALL),
    ("SELECT 1 UNION SELECT pg_backend_pid()", "the function pg_backend_pid"),
    ("SELECT * FROM v_history TABLESAMPLE system (5)", "can only be applied to tables"),
    ("SELECT * FROM tag TABLESAMPLE system (5)", "the function system"),
    # types of the server
    ("SELECT 'pg_authid'::regclass", "the type regclass"),
    ("SELECT CAST(1260 AS regclass)", "the type regclass"),
    ("SELECT '{pg_authid}'::regclass[]", "the type regclass"),
    ("SELECT NULL::xml", "the type xml"),
    ("SELECT xmlelement(name a)", "an XML expression|unsupported XML"),
    ("SELECT * FROM XMLTABLE('/a' PASSING (NULL::xml) COLUMNS b text)", "XMLTABLE or JSON_TABLE"),
    ("SELECT 'a'::tsvector @@ 'a'::tsquery", "the type ts"),
    ("SELECT ctid FROM tag", "the type tid"),
    # tables that are not the store's
    ("SELECT * FROM pg_stat_activity", "pg_stat_activity is not a table"),
    ("SELECT rolpassword FROM pg_authid", "pg_authid is not a table"),
    ("SELECT count(*) FROM information_schema.tables", "information_schema.tables is not a table"),
    ("SELECT 1 FROM tag WHERE EXISTS (SELECT 1 FROM pg_class)", "pg_class is not a table"),
    ("TABLE evil.spy", "evil.spy is not a table"),
    ("SELECT * FROM evil.asks", f"evil.asks {ASK}"),
    ("SELECT id FROM evil.row", "the type evil.row"),
    # more than reading
    ("SELECT * FROM tag FOR UPDATE", MORE),
    ("SELECT * FROM (SELECT * FROM tag FOR SHARE) t", MORE),
    ("SELECT * INTO evil.x FROM tag", MORE),
    ("WITH a AS (DELETE FROM tag RETURNING 1) SELECT 1", MORE),
    ("EXPLAIN ANALYZE WITH a AS (DELETE FROM tag RETURNING 1) SELECT 1", MORE),
    # what somebody has made
    ("SELECT evil.f('x'::text)", "the function evil.f"),
    ("SELECT public.lower('x')", "the function public.lower"),
    ("SELECT evil.aggregate(1)", "the function evil.aggregate"),
    ("SELECT evil.aggregate(1) OVER ()", "the function evil.aggregate"),
    ("SELECT * FROM evil.named('x')", "the function evil.named"),
    ("SELECT evil.named(\"text\" => 'x')", "the function evil.named"),
    ("SELECT evil.default()", "the function evil.default"),
    ("SELECT @@@ 1", "the operator public.@@@"),
    ("SELECT 1 OPERATOR(public.<<<) 2", "the operator public.<<<"),
    ("SELECT (1, 2) OPERATOR(evil.<) (1, 2)", "operator"),
    ("SELECT 1 <<< ANY (ARRAY[1])", "the operator public.<<<"),
    ("SELECT revision FROM v_history ORDER BY revision USING <<<", "operator"),
    ("SELECT h::text FROM v_history h", "the function evil.f"),
    ("SELECT json(h) FROM v_history h", "does not exist|a JSON constructor"),
    ("SELECT upper(h) FROM v_history h", "the function evil.f"),
    ("SELECT h.text FROM v_history h", "the function evil.f|does not exist"),
    ("SELECT 'x'::text::bytea", "the function evil.bytes"),
    ("SELECT 1::evil.checked", "the type evil.checked"),
    ("SELECT '1'::evil.checked", "the type evil.checked"),
    ("SELECT evil.checked '1'", "the type evil.checked"),
    ("SELECT evil.checked('1')", "the type evil.checked"),
    ("SELECT CAST(:x AS evil.checked)", "the type evil.checked"),
    ("SELECT '{1}'::evil.checked[]", "the type evil.checked"),
    ("SELECT '{1}'::evil._checked", "the type evil._checked"),
    ('SELECT \'{1}\'::"evil"."checked"[]', "the type evil.checked"),
    ("SELECT '{1}'::EVIL.CHECKED[]", "the type evil.checked"),
    ("SELECT '{1}'::evil.again[]", "the type evil.again"),
    ("SELECT '(1,1)'::evil.pair", "the type evil.pair"),
    ("SELECT '{\"(1,1)\"}'::evil.pair[]", "the type evil.pair"),
    ("SELECT ROW(1, 1)::evil.pair", "the type evil.pair"),
    ("SELECT '[1,2)'::evil.range", "the type evil.range"),
    ("SELECT '{[1,2)}'::evil.multirange", "the type evil.multirange"),
    ("SELECT 1 FROM evil.row WHERE l = '{1}'", "evil.row"),
    ("SELECT '(1,1,{1})'::evil.row", "evil.row"),
    ("SELECT evil.of_list('{1}')", "the function evil.of_list"),
    ("SELECT %%% '{1}'", "the operator public.%%%"),
    ("SELECT '{x}'::visible[]", "the type public.visible"),
    ("SELECT '{x}'::_visible", "the type public._visible"),
    ("SELECT 'x'::visible", "the type public.visible"),
    ("SELECT * FROM json_to_record('{}') AS x(a evil.checked[])", "the type evil.checked|json_to_record"),
    ("SELECT 1::evil.plain", "the type evil.plain"),
    ("SELECT 'sad'::evil.mood", "the type evil.mood"),
]

# Of the whole way: a query, its values, and what is said.
ASKED: list[tuple[str, dict[str, Any], str]] = [
    ("SELECT f.pg_sleep FROM unnest(ARRAY[5.0]) f", {}, f"line 1, column 8: the function pg_sleep {CALL}$"),
    ("SELECT\n :é.pg_sleep, :b", {"é": 5, "b": 1}, "line 2, column 2: the function pg_sleep"),
    ("SELECT :a, 'é', :b.pg_sleep", {"a": 5, "b": 1}, "line 1, column 17: the function pg_sleep"),
    ("EXPLAIN SELECT pg_sleep(1)", {}, "line 1, column 16: the function pg_sleep"),
    ("EXPLAIN (ANALYZE, FORMAT JSON)\nSELECT pg_sleep(1)", {}, "line 2, column 8: the function pg_sleep"),
    ("EXPLAIN ANALYZE VERBOSE SELECT :x.pg_sleep", {"x": 5}, "line 1, column 32: the function pg_sleep"),
    ("EXPLAIN ANALYZE (SELECT 1 FROM pg_authid)", {}, "line 1, column 32: pg_authid is not a table or view"),
    ("EXPLAIN (ANALYZE) SELECT 1 INTO x", {}, f"{MORE}: `sql` only reads"),
    ("EXPLAIN SELECT peice FROM v_moves", {}, "line 1, column 16: .*peice.*; near it: piece"),
    ("SELECT * FROM v_move", {}, "near it: v_moves"),
    ("SELECT * FROM pg_shadow", {}, "line 1, column 15: pg_shadow is not a table or view that a query may ask"),
    ("SELECT evil.f('x'::text)", {}, "line 1, column 8: the function evil.f is not among"),
    ("SELECT evil.f(:x)", {"x": "a"}, "line 1, column 8: the function evil.f is not among"),
    ("SELECT '{1}'::evil.checked[]", {}, "the type evil.checked is not among"),
    ("SELECT CAST(:x AS evil.checked[])", {"x": "{1}"}, "the type evil.checked is not among"),
    ("SELECT 1 <<< 2", {}, "line 1, column 10: the operator public.<<< is not among"),
    ("SELECT lower(:x), 1 / 0", {"x": "A"}, "division by zero"),
]

# What an owner or superuser has made of the store, a query, and what its refusal says.
OPCLASS = (
    "CREATE OPERATOR CLASS evil.c DEFAULT FOR TYPE v_history USING btree "
    "AS FUNCTION 1 evil.compare(v_history, v_history)"
)
ALTERED = [
    (
        "ALTER VIEW v_history RENAME TO h; CREATE VIEW v_history AS SELECT h.*, evil.f('x'::text) AS more FROM h",
        "SELECT ruleset FROM v_history",
        "the function evil.f, which v_history uses,",
    ),
    (
        "DROP VIEW v_history CASCADE; CREATE VIEW v_history AS SELECT rolname AS ruleset FROM pg_authid",
        "SELECT ruleset FROM v_history",
        "pg_authid, which v_history uses, is not a table",
    ),
    (
        "DROP VIEW v_history CASCADE; CREATE VIEW v_history AS SELECT * FROM ruleset FOR UPDATE",
        "SELECT * FROM v_history",
        f"in v_history: {MORE}",
    ),
    (
        "DROP VIEW v_history CASCADE; CREATE TABLE v_history (x evil.plain)",
        "SELECT 1 FROM v_history",
        "the type evil.plain, which v_history uses,",
    ),
    (
        "DROP VIEW v_history CASCADE; CREATE MATERIALIZED VIEW v_history AS SELECT 1 AS x",
        "SELECT 1 FROM v_history",
        ASK,
    ),
    ("ALTER TABLE tag ADD c evil.checked[]", "SELECT 1 FROM tag WHERE c = '{1}'", f"the type public.tag {USE}"),
    ("ALTER TABLE tag ADD c evil.plain", "SELECT 1 FROM tag", "the type evil.plain, which tag uses,"),
    ("CREATE INDEX ON tag (evil.soft(1))", "SELECT 1 FROM tag", "the function evil.soft, which tag uses,"),
    ("CREATE INDEX ON tag (name) WHERE evil.soft(1)", "SELECT 1 FROM tag", "the function evil.soft, which tag uses,"),
    ("CREATE STATISTICS evil.s ON name, evil.soft(1) FROM tag", "SELECT 1 FROM tag", "the function evil.soft"),
    (
        "CREATE POLICY p ON tag USING (evil.soft(1)); ALTER TABLE tag ENABLE ROW LEVEL SECURITY",
        "SELECT 1 FROM tag",
        "the function evil.soft, which tag uses,",
    ),
    ("CREATE TABLE evil.child () INHERITS (tag)", "SELECT 1 FROM tag", f"evil.child {ASK}"),
    (
        "CREATE VIEW evil.v_rulesets AS SELECT rolname AS ruleset FROM pg_roles; SET search_path = evil, public",
        "SELECT ruleset FROM v_rulesets",
        "pg_roles, which v_rulesets uses, is not a table",
    ),
    ("SET search_path = public, pg_catalog", "SELECT lower('x')", "the function public.lower"),
    ("SET search_path = evil, pg_catalog, public", "SELECT 1 < 2", "the operator evil.<"),
    (
        OPCLASS,
        "SELECT greatest(h, h) FROM v_history h",
        "the type public.v_history",
    ),
    (
        OPCLASS,
        "SELECT array_position(array_agg(h), NULL) FROM v_history h",
        "the type public._?v_history",
    ),
    (
        f"CREATE OR REPLACE FUNCTION pg_catalog.md5(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$",
        "SELECT md5('x')",
        "the function md5",
    ),
    (
        f"CREATE FUNCTION pg_catalog.sum(v_history) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ {RAN} $$",
        "SELECT sum(h) FROM v_history h",
        "the function pg_catalog.sum",
    ),
]

# What is answered. Each is asked once more with names that could be taken for something else in a tree.
ALLOWED = [
    "SELECT 1 AS one, 'a' AS b, NULL AS c, 1.5 AS d, true AS e, DATE '2020-01-31' AS f, INTERVAL '1 day' AS g",
    "SELECT count(*), count(DISTINCT piece) FILTER (WHERE side = 'first') FROM v_pieces",
    "SELECT piece, rank() OVER w, sum(possibilities) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM v_pieces "
    "WINDOW w AS (PARTITION BY side ORDER BY piece)",
    "SELECT sum(ordinal) OVER (ORDER BY ordinal RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM v_pieces",
    "SELECT * FROM v_moves AS a JOIN v_conditions AS b USING (ruleset, piece) LEFT JOIN v_effects AS c ON true",
    "SELECT * FROM v_moves NATURAL JOIN v_pieces",
    "SELECT m, (m).piece, m.*, (m).source.length FROM v_moves m",
    "SELECT array_agg(m), json_agg(m), row_to_json(m) FROM v_moves m GROUP BY m",
    "SELECT DISTINCT ON (piece) piece, source FROM v_moves ORDER BY piece, source DESC NULLS LAST",
    "SELECT piece FROM v_moves UNION SELECT ruleset FROM v_rulesets EXCEPT SELECT 'x' INTERSECT ALL SELECT 'y'",
    "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a WHERE x < 9) SEARCH DEPTH FIRST BY x SET o "
    "SELECT x FROM a",
    "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x FROM a) CYCLE x SET c USING p SELECT x, c, p FROM a",
    "SELECT ruleset, side, count(*), grouping(side) FROM v_pieces GROUP BY GROUPING SETS ((ruleset), (side), ()), "
    "ROLLUP (ruleset)",
    "SELECT CASE side WHEN 'first' THEN 1 ELSE 2 END, CASE WHEN terminal THEN 'x' END, NOT derived FROM v_pieces",
    "SELECT coalesce(a, b), nullif(a, b), greatest(a, b), a IS DISTINCT FROM b, a IS NULL, (a > b) IS TRUE, -a, a ^ 2, "
    "a BETWEEN SYMMETRIC b AND 3, (a, b) < (b, a), (a, b) IN ((1, 2), (3, 4)) "
    "FROM (VALUES (1, 2), (3, NULL)) AS v(a, b)",
    "SELECT a LIKE 'x%' ESCAPE '!', a ILIKE '_', a SIMILAR TO 'x+' ESCAPE '!', a ~ '^x', a || 1, a COLLATE \"C\" < 'y' "
    "FROM (VALUES ('x')) AS v(a)",
    "SELECT substring(a FROM 1 FOR 2), substring(a FROM 'x'), position('x' IN a), overlay(a PLACING 'y' FROM 1), "
    "trim(BOTH 'x' FROM a), extract(year FROM created_at), created_at AT TIME ZONE 'UTC', "
    "(created_at, created_at) OVERLAPS (created_at, created_at) FROM v_history, (VALUES ('x')) AS v(a)",
    "SELECT current_user, current_date, localtimestamp, current_schema, now() - INTERVAL '1 hour'",
    "SELECT 1::bigint, '1'::int, 1.5::numeric(3, 1), 'x'::varchar(3), 'x'::char(2), 1::text, '{1,2}'::int[], 1::bool, "
    "ARRAY[1, 2]::text[], '2020-01-01'::timestamptz::date, '\\x00'::bytea, B'101'::int, '1'::json, '{}'::jsonb -> 'a', "
    "(ARRAY[1, 2])[1:2], ('{\"a\": 1}'::jsonb)['a'], ROW(1, 'a')::text",
    "SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b']) WITH ORDINALITY AS u(a, b, c), LATERAL generate_series(1, a)",
    "SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY['a'])) AS r(a, b)",
    "SELECT key, value FROM jsonb_each('{\"a\": 1}'), json_array_elements_text('[1]') AS t(value2)",
    "SELECT 1 = ANY (ARRAY[1]), 1 <> ALL (SELECT 1), 1 IN (SELECT 2), EXISTS (SELECT 1), ARRAY(SELECT 1), (SELECT 1)",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ordinal), string_agg(piece, ',' ORDER BY piece) FROM v_moves",
    "SELECT piece FROM v_moves ORDER BY piece USING > LIMIT 1 OFFSET 0",
    "SELECT piece FROM v_moves ORDER BY piece FETCH FIRST 2 ROWS WITH TIES",
    "VALUES (1, 'a'), (2, 'b')",
    "TABLE v_rulesets",
    "SELECT pg_typeof(1), version(), md5('x'), to_char(1, '9'), regexp_replace('a', 'b', 'c')",
    "SELECT * FROM moves_flat, conditions_flat, audit, revision",
    "SELECT :x + 1, :x || 'a', :x::text",
]
NAMES = [
    ":funcid", ":location", "a b", " ", "{FUNCEXPR :funcid 2626}", "}", ")", "(o 2626)", "[", "\\", "\\\\ ", "\n",
    "\t\r\f\v", "a\xa0b", "\u2028", "<>", "12", "-1", "true", '"', "'", "é🙂", "\\}", ":constvalue", "x" * 63, "{" * 31,
    "{" * 60, "é" * 31, ":utilityStmt ?", ":commandType 2",
]  # fmt: skip

NOTATIONS = [
    'SELECT {schema}."{name}"(NULL::{type})',
    'SELECT z."{name}" FROM unnest(ARRAY[NULL::{type}]) AS z',
    'SELECT (e)."{name}" FROM (SELECT NULL::{type} AS e) AS q',
    'SELECT (q.e)."{name}" FROM (SELECT NULL::{type} AS e) AS q',
]
# Something for what is not the name of a type.
INSTEAD = {
    "any": "int4", "anyarray": "_int4", "anycompatible": "int4", "anycompatiblearray": "_int4", "anyelement": "int4",
    "anycompatiblemultirange": "int4multirange", "anycompatiblenonarray": "int4", "anycompatiblerange": "int4range",
    "anymultirange": "int4multirange", "anynonarray": "int4", "anyrange": "int4range", "record": "v_history",
}  # fmt: skip
FUNCTIONS = """
SELECT n.nspname, p.proname, a.nspname, t.typname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
JOIN pg_type AS t ON t.oid = p.proargtypes[0] JOIN pg_namespace AS a ON a.oid = t.typnamespace
WHERE p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1 ORDER BY p.oid
"""


class Asker:
    """A superuser's connection that decides on queries, each undone."""

    def __init__(self, address: str) -> None:
        self.connection = psycopg.connect(address, autocommit=True, prepare_threshold=None)
        self.cursor: Any = psycopg.RawCursor(self.connection)
        tables = [*queries._TABLES, *queries._OLDER_VIEWS]
        self.allowed = resolved.Allowed(allowed_functions.POSTGRES, allowed_functions.POSTGRES_TYPES, tables)

    def why(self, query: str, *before: str) -> str:
        """What is wrong with a query once statements have been run; empty where it is allowed."""
        read = statement.read(query)
        written, _, begin = read.numbered()
        words = [token.text if token.kind == "name" else token.word for token in read.tokens if token.word]
        try:
            with self.connection.transaction(force_rollback=True):
                for text in before:
                    self.connection.execute(text.encode())
                resolved.prepare(self.cursor, written[begin:], words, (), self.allowed, [])
        except resolved.NotAllowed as wrong:
            return f"{wrong.kind}: {wrong.message}"
        except psycopg.Error as error:
            return f"{error.sqlstate}: {error}"
        finally:
            self.connection.execute("DEALLOCATE ALL")
        return ""


@pytest.fixture(scope="module")
def attacked(postgres_server: Server) -> Iterator[str]:
    """A store in which an owner has made what should not run."""
    address = postgres_server.create_store()
    with Store.open(address) as store:
        store.load({"C:N": {"b1": {"c3": [{"must": {"c3": "empty"}}]}}}, "game")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(MADE.encode())
    yield address
    postgres_server.drop_database(address)


@pytest.fixture(scope="module")
def asker(attacked: str) -> Iterator[Asker]:
    asker = Asker(attacked)
    yield asker
    asker.connection.close()


# Each function in one notation, and in all of them in the long run.
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
def test_no_function_outside_of_the_list_runs_in_any_notation(
    asker: Asker, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = resolved._before(asker.cursor, "", [], asker.allowed)
    monkeypatch.setattr(resolved, "_before", lambda *_: own)  # which is the same each time
    said: Counter[str] = Counter()
    functions = asker.connection.execute(FUNCTIONS.encode()).fetchall()
    assert len(functions) > 1200
    for number, (schema, name, of_type, of) in enumerate(functions):
        kind = INSTEAD.get(of, f'"{of_type}"."{of}"')
        for notation in NOTATIONS[number % step :: step]:
            query = notation.format(schema=schema, name=name, type=kind)
            why = asker.why(query)
            assert "it ran" not in why
            assert why or name in allowed_functions.POSTGRES, query
            said[why.partition(":")[0]] += 1
    # Refused by the names of functions or types; the rest cannot be called so (their arguments have no values).
    assert said["call"] + said["use"] > len(functions) * 2.4 / step, said
    assert said[""] > 500 / step


@pytest.mark.parametrize(("query", "why"), ATTACKS)
def test_what_is_refused_is_named(asker: Asker, query: str, why: str) -> None:
    said = asker.why(query)
    assert "it ran" not in said
    assert re.search(why, said), said


@pytest.mark.parametrize(("made", "query", "why"), ALTERED)
def test_what_an_owner_has_made_of_the_store_does_not_run(asker: Asker, made: str, query: str, why: str) -> None:
    said = asker.why(query, made)
    assert "it ran" not in said
    assert re.search(why, said), said


def test_what_planning_evaluates_of_a_generated_column_is_looked_at(asker: Asker) -> None:
    if asker.connection.info.server_version < 180000:
        return
    made = "ALTER TABLE tag ADD g text GENERATED ALWAYS AS (repeat('x', 1000000000)) VIRTUAL"
    assert "the function repeat, which tag uses," in asker.why("SELECT 1 FROM tag", made)


@pytest.mark.parametrize("query", ALLOWED)
def test_what_only_reads_is_allowed(asker: Asker, query: str) -> None:
    assert asker.why(query) == ""


@pytest.mark.parametrize("name", NAMES)
def test_names_hide_nothing_in_a_tree(asker: Asker, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    for query in (
        f"SELECT 1 AS {quoted}, {{call}} AS x FROM v_history AS {quoted} WHERE {quoted}.revision = 1",
        f"WITH {quoted} AS (SELECT 1 AS {quoted}) SELECT {{call}} FROM {quoted} WHERE {quoted} = 1",
        f"SELECT {{call}}, sum(1) OVER {quoted} FROM v_history AS a(x) JOIN v_rulesets AS b(x) USING (x) AS {quoted} "
        f"WINDOW {quoted} AS (ORDER BY x)",
    ):
        hidden, plain = asker.why(query.replace("{call}", "pg_backend_pid()")), asker.why(query.replace("{call}", "1"))
        if len(name) < 60 or name[0] == "x":
            assert ("call: the function pg_backend_pid" in hidden, plain) == (True, "")
        else:  # its line in the tree is longer than the server's lines
            assert {hidden, plain} == {"refused: a name in the query is too long: it has too many special characters"}


@pytest.mark.parametrize(
    ("tree", "why"),
    [
        ("{QUERY :commandType 2}", MORE),
        ("{QUERY :commandType 1 :hasModifyingCTE true}", MORE),
        ("{RANGETBLENTRY :rtekind 0 :relid 5 :rellockmode 2}", MORE),
        ("{FUTUREEXPR :funcid 1}", "the node FUTUREEXPR is not among"),
        ("{FUNCEXPR :newfuncid 2626}", "field newfuncid of FUNCEXPR is not known"),
        ("{FUNCEXPR :newfuncids (o 2626)}", "field newfuncids of FUNCEXPR is not known"),
        ("{FUNCEXPR :args ((o 2626))}", "not known"),
        ("{FUNCEXPR :funcid x}", "not known"),
        ("{FUNCEXPR :funcid 1 2}", "not known"),
        ("{FUNCEXPR :funcid 1", "not known"),
        ("{FUNCEXPR :funcid", "not known"),
        ("{FUNCEXPR :args ({VAR}", "not known"),
        ("{FUNCEXPR )", "not known"),
        ("{FUNCEXPR :funcid }", "not known"),
        ("x", "not known"),
        ("}", "not known"),
        ("{FUNCEXPR :a (:funcid 5)}", "not known"),
    ],
)
def test_a_tree_that_is_not_known_is_refused(tree: str, why: str) -> None:
    with pytest.raises(parse_tree.Refused, match=why):
        parse_tree.read(tree, parse_tree.UsedObjects())


def test_a_tree_says_what_is_used_and_where() -> None:
    uses = parse_tree.UsedObjects()
    parse_tree.read(
        "({QUERY :commandType 1 :new <> :targetList ({FUNCEXPR :funcid 7 :funcformat 0 :args ({FUNCEXPR :funcid 8 "
        ":funcformat 2 :args <> :location -1} {CONST :consttype 25 :location 9 :constvalue 5 [ 20 0 0 0 65 ]}) "
        ':location 12}) :coltypes (o 23 25) :names ("a\\ b" "c") :rtable ({RTE :relid 3 :relkind r :inh true})})',
        uses,
    )
    assert uses.found == {
        ("function", 7): 12,
        ("cast", 8): None,
        ("type", 25): 9,
        ("type", 23): None,
        ("relation", 3): None,
    }


# Whoever may do more is the harder case.
@pytest.mark.parametrize("who", ["superuser", pytest.param("reader", marks=pytest.mark.long)])
def test_nothing_runs_whoever_asks(attacked: str, who: str) -> None:
    name = f"ggn_test_{uuid.uuid4().hex}"
    with psycopg.connect(attacked, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}".encode())
        connection.execute(f"GRANT USAGE ON SCHEMA evil TO {name}".encode())
        address = attacked if who == "superuser" else make_url(attacked).set(username=name).render_as_string()
        try:
            with Store.open(address) as store:
                for query, values, why in ASKED:
                    with pytest.raises(QueryError, match=why):
                        store.sql(query, values)
                explained = store.sql(
                    "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM v_moves WHERE piece = :p", {"p": "it's"}
                )
                assert len(explained) > 3
        finally:
            connection.execute(f"DROP OWNED BY {name}".encode())
            connection.execute(f"DROP ROLE {name}".encode())
