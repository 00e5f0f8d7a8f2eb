"""Questions in SQL: answers, errors that say where, values, forms of output, the prompt."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import sqlite3
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest
from sqlalchemy import make_url

from ggn_store import QueryError, Store, StoreError
from ggn_store.store.schema import tables as t
from ggn_store.store.schema.views import POSITION_VIEWS, SQL_TABLES, VIEWS
from ggn_store.store.sql import child, queries, statement
from ggn_store.store.sql.examples import SQL_EXAMPLES
from tests.support.program import Program

DOCUMENT: dict[str, Any] = {
    "C:N": {"b1": {"c3": [{"must": {"c3": "empty"}}, {"must": {"c3": "enemy"}}], "a3": [{"must": {"a3": "empty"}}]}},
    "c:p": {"*": {"a3": [{"deny": {"a3": "enemy"}}]}},
}
MANY = 20
GIVEN = {"piece": "C:N", "source": "b1"}


@pytest.fixture
def filled(store: Store) -> Store:
    store.load(DOCUMENT, "game", author="Ann", message="é \x1b[2J")
    return store


def why(store: Store, query: str, values: dict[str, Any] | None = None, **options: Any) -> str:
    with pytest.raises(QueryError) as caught:
        store.sql(query, values, **options)
    return str(caught.value)


# --- answers ---


@pytest.mark.both
def test_an_answer_has_columns_and_rows(filled: Store) -> None:
    found = filled.sql(
        "SELECT source, destination AS to_square, ordinal FROM v_moves WHERE piece = :piece ORDER BY possibility",
        {"piece": "C:N"},
    )
    assert found.columns == ("source", "to_square", "ordinal")
    assert found.rows == (("b1", "c3", 0), ("b1", "c3", 1), ("b1", "a3", 0))
    assert found.cut is None
    assert len(found) == 3
    assert list(found) == list(found.rows)
    assert found.data()[0] == {"source": "b1", "to_square": "c3", "ordinal": 0}


def test_an_answer_may_have_no_rows(filled: Store) -> None:
    found = filled.sql("SELECT piece FROM v_moves WHERE piece = 'C:Z'")
    assert (found.columns, found.rows, found.cut) == (("piece",), (), None)


def test_columns_of_the_same_name_are_told_apart(filled: Store) -> None:
    assert filled.sql("SELECT 1 AS a, 2 AS a, 3 AS a").columns == ("a", "a_2", "a_3")


@pytest.mark.both
def test_values_are_bound_and_never_read_as_sql(filled: Store) -> None:
    query = "SELECT :text AS one, :text || ':no' AS two -- :comment\n/* :other */"
    text = "'; DROP TABLE piece; -- %s $1 :x é"
    if filled.session.database.is_server:
        query = query.replace(":text", "CAST(:text AS text)")
    assert filled.sql(query, {"text": text}).rows == ((text, f"{text}:no"),)


@pytest.mark.both
def test_a_text_can_be_compared_with_a_number(filled: Store) -> None:
    query = "SELECT count(*) FROM v_moves WHERE ordinal = :n AND revision = :r"
    assert filled.sql(query, {"n": "1", "r": "1"}).rows == filled.sql(query, {"n": 1, "r": 1}).rows == ((1,),)


def test_values_and_query_must_agree(filled: Store) -> None:
    assert "has a value :y: give it with --param y=..." in why(filled, "SELECT :y", {})
    assert "no value :x; it has :y" in why(filled, "SELECT :y", {"x": 1, "y": 2})
    assert "no value :x; it has none" in why(filled, "SELECT ':x'", {"x": 1})
    assert "not a finite number" in why(filled, "SELECT :x", {"x": float("nan")})
    assert "beyond 64 bits" in why(filled, "SELECT :x", {"x": 2**63})
    assert "a text, a number, a truth value or None" in why(filled, "SELECT :x", {"x": [1]})


@pytest.mark.both
def test_numbers_times_and_texts_are_alike_on_both_databases(filled: Store) -> None:
    query = (
        "SELECT sum(possibilities), avg(ordinal), NULL, count(*), max(message) "
        "FROM v_pieces JOIN v_history USING (ruleset)"
    )
    [row] = filled.sql(query).rows
    assert row == (4, 0.5, None, 2, "é \x1b[2J")
    assert type(row[0]) is int
    [[created]] = filled.sql("SELECT created_at FROM v_history").rows
    at = filled.ruleset("game").revision.created_at
    assert datetime.fromisoformat(f"{created}+00:00") == at


def test_a_limit_cuts_and_says_so(filled: Store) -> None:
    found = filled.sql("SELECT possibility FROM v_moves ORDER BY piece, possibility", limit=2)
    assert len(found) == 2
    assert found.cut is not None
    assert "more rows than these 2" in found.cut
    assert filled.sql("SELECT possibility FROM v_moves", limit=4).cut is None


def test_limits_and_timeouts_have_limits(filled: Store) -> None:
    assert "from 1 to 1,000,000; found 0" in why(filled, "SELECT 1", limit=0)
    assert "up to 3600 seconds; found -1" in why(filled, "SELECT 1", timeout=-1)


@pytest.mark.both
def test_plans_are_explained(filled: Store) -> None:
    explain = "EXPLAIN (VERBOSE)" if filled.session.database.is_server else "EXPLAIN QUERY PLAN"
    assert len(filled.sql(f"{explain} SELECT * FROM v_moves WHERE piece = 'C:N'")) > 3


@pytest.mark.both
def test_every_table_and_view_can_be_asked(filled: Store) -> None:
    names = [*t.metadata.tables, *(name for view in VIEWS for name in (view.name, view.every) if name is not None)]
    counts = [f"SELECT '{name}', count(*) AS n, min(1) FROM \"{name}\"" for name in names]
    rows = [f'LEFT JOIN (SELECT * FROM "{name}" LIMIT 1) AS row_{number} ON true' for number, name in enumerate(names)]
    for at in range(0, len(names), MANY):  # a question is a process on SQLite: it asks many at once
        found = filled.sql(" UNION ALL ".join(counts[at : at + MANY]))
        assert {name for name, *_ in found.rows} == set(names[at : at + MANY])
        assert len(filled.sql(f"SELECT * FROM (SELECT 1) AS one {' '.join(rows[at : at + MANY])}").rows) == 1
    assert set(SQL_TABLES) == set(t.metadata.tables)


def test_a_store_in_memory_can_be_asked() -> None:
    with Store.open("sqlite://") as store:
        store.load(DOCUMENT, "game")
        assert store.sql("SELECT count(*) FROM v_moves").rows == ((4,),)
        store.load(DOCUMENT, "other")
        assert store.sql("SELECT count(*) FROM v_moves").rows == ((8,),)


@pytest.mark.both
def test_bytes_come_as_bytes(filled: Store) -> None:
    query = "SELECT '\\x00ff'::bytea AS b" if filled.session.database.is_server else "SELECT x'00ff' AS b"
    found = filled.sql(query)
    assert found.rows == ((b"\x00\xff",),)
    assert found.data() == [{"b": "00ff"}]


def test_a_read_only_file_can_be_asked(tmp_path: Path) -> None:
    file = tmp_path / "with 'quotes' %41 and ?.db"
    with Store.open(str(file)) as store:
        store.load(DOCUMENT, "game")
    file.chmod(0o444)
    with Store.open(str(file)) as store:
        assert store.sql("SELECT count(*) FROM v_moves").rows == ((4,),)


def test_a_process_that_fails_is_told_of(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "__file__", "/nowhere/child.py")
    with pytest.raises(StoreError, match=r"the process that asks has failed: .*No module named .child."):
        filled.sql("SELECT 1")


# --- errors ---


@pytest.mark.both
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT peice FROM v_moves", "line 1, column 8: .*peice.*; near it: piece"),
        ("SELECT m.peice\nFROM v_moves m", r"line 1, column (8|10): .*peice.*; near it: piece"),
        ("SELECT *\n  FROM v_move", "line 2, column 8: .*v_move.*; near it: v_moves"),
        ("SELECT ordinal,\n  from v_moves m FORM", r"line 2, column 3: .*\"from\""),
        ("SELECT 'FORM', 1 FORM v_moves", r"line 1, column 23: .*\"v_moves\""),
        ("SELECT :a, :a FORM v_moves", r"line 1, column 20: .*\"v_moves\""),
        ("SELECT uper('x')", "line 1, column 8: .*uper.*; near it: upper"),
        ("", "there is no query"),
        (" -- nothing\n;", "there is no query"),
        ("SELECT 1;\nSELECT 2", 'line 2, column 1: one statement at a time; found "SELECT" after ;'),
        ("\n  DROP TABLE piece", 'line 2, column 3: `sql` only reads: .*; found "DROP"'),
        ("SELECT 'a", "line 1, column 8: this ' is never closed"),
        ("SELECT \"a", 'line 1, column 8: this " is never closed'),
        ("SELECT 1 /* a", "line 1, column 10: this /. is never closed"),
    ],
)  # fmt: skip
def test_errors_say_what_and_where(filled: Store, query: str, said: str) -> None:
    found = why(filled, query, {"a": "x"} if ":a" in query else {})
    assert re.search(said, found), found
    assert "\n" not in found


@pytest.mark.parametrize("query", ["SELECT ?", "SELECT 1 WHERE 1 = ?", "SELECT $1", "SELECT ?, :x"])
def test_values_without_names_are_told_how_to_be_written(filled: Store, query: str) -> None:
    found = why(filled, query, {"x": 1} if ":x" in query else {})
    assert "values are written :name, and given with --param name=value" in found
    assert "Binding" not in found


def test_a_query_that_ends_too_early_says_so(filled: Store) -> None:
    assert "incomplete input" in (found := why(filled, "SELECT 1 +")) or "end of input" in found


@pytest.mark.both
def test_what_takes_too_long_is_cut_off_and_the_next_is_answered(filled: Store) -> None:
    product = "SELECT count(*) FROM " + ", ".join(f"square s{n}" for n in range(20))
    assert "cut off after 0.3 seconds" in why(filled, product, timeout=0.3)
    assert filled.sql("SELECT 1").rows == ((1,),)


def test_a_file_that_others_keep_busy_is_told_of(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store.db")) as store:
        store.sql("SELECT 1 FROM v_moves")
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreError, match="database is locked"):
                store.sql("SELECT 1 FROM v_moves", timeout=0.2)


# --- who asks, on Postgres ---


@contextmanager
def role(address: str, *statements: str) -> Iterator[str]:
    name = f"ggn_test_{uuid.uuid4().hex}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name}".encode())
        for statement in statements:
            connection.execute(statement.format(name=name).encode())
        yield name
        connection.execute(f"DROP OWNED BY {name}".encode())
        connection.execute(f"DROP ROLE {name}".encode())


@pytest.mark.both
def test_whoever_may_be_the_reader_asks_as_the_reader(filled: Store, address: str, monkeypatch: Any) -> None:
    if not filled.session.database.is_server:
        return
    with role(address, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}") as name:
        monkeypatch.setattr(queries, "READER", name)
        found = filled.sql("SELECT current_user, count(*) FROM v_moves")
        assert found.rows == ((name, 4),)
        assert found.note is not None
        assert "superuser" in found.note
    with role(address) as name:  # who may not read the views
        monkeypatch.setattr(queries, "READER", name)
        assert filled.sql("SELECT current_user").rows == (("postgres",),)


@pytest.mark.both
def test_the_reader_is_held_to_its_rights(filled: Store, address: str, monkeypatch: Any) -> None:
    if not filled.session.database.is_server:
        return
    with role(address, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}") as name:
        monkeypatch.setattr(queries, "READER", name)
        with psycopg.connect(address) as connection:
            connection.execute(f"REVOKE SELECT ON audit FROM {name}".encode())
        assert "permission denied for table audit" in why(filled, "SELECT * FROM audit")


@pytest.mark.both
def test_the_owner_of_the_tables_is_told(filled: Store, address: str) -> None:
    if not filled.session.database.is_server:
        return
    with role(address, "ALTER ROLE {name} LOGIN", "ALTER TABLE ruleset OWNER TO {name}") as name:
        with psycopg.connect(address) as connection:
            connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}".encode())
        with Store.open(make_url(address).set(username=name).render_as_string()) as store:
            note = store.sql("SELECT count(*) FROM ruleset").note
        assert note is not None
        assert "the owner of the tables" in note
        with psycopg.connect(address) as connection:
            connection.execute(b"ALTER TABLE ruleset OWNER TO CURRENT_USER")


# --- which functions are called ---


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FILTER (WHERE true) OVER (PARTITION BY piece) FROM v_moves",
        "WITH a(x) AS (SELECT 1), b (y, z) AS MATERIALIZED (VALUES (1, 2)) SELECT * FROM a, b",
        "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a WHERE x < 3) SELECT max(x) FROM a",
        "SELECT * FROM (VALUES (1, 2)) AS v(a, b) WHERE a IN (1) AND EXISTS (SELECT 1)",
        "SELECT CAST(1.5 AS numeric(3, 1)), 1::numeric(3, 1), pg_catalog.lower('A'), \"lower\"('A'), $$(a($$",
        "SELECT string_agg(piece, ',' ORDER BY piece) FROM v_moves GROUP BY GROUPING SETS ((piece), ())",
        "SELECT 'pg_sleep(1)' -- pg_sleep(1)",
        "SELECT (m).piece, m.piece, (m).source.length, public.v_moves.piece FROM v_moves m, v_moves",
    ],
)
def test_what_only_looks_like_a_call_is_none(filled: Store, query: str) -> None:
    if filled.session.database.is_server:
        filled.sql(query)


def test_a_function_behind_a_value_is_a_call(filled: Store) -> None:
    if filled.session.database.is_server:
        said = "line 1, column 8: the function pg_sleep is not among those"
        assert said in why(filled, "SELECT :x.pg_sleep", {"x": 100})


def test_tokens_are_told_apart() -> None:
    text = "select x'00', 'it''s', $x$ ' $x$, \"a\"\"b\", a::b, :v, 1.5e3 /* /* */ */ -- x\n, x"
    kinds = [(token.kind, token.text) for token in statement.read(text).tokens if token.key != ","]
    assert kinds == [
        ("name", "select"),
        ("string", "x'00'"),
        ("string", "'it''s'"),
        ("string", "$x$ ' $x$"),
        ("quoted", '"a""b"'),
        ("name", "a"),
        ("cast", "::"),
        ("name", "b"),
        ("value", ":v"),
        ("number", "1.5e3"),
        ("name", "x"),
    ]


# --- examples ---


@pytest.fixture(scope="module")
def library(module_store: Store) -> Store:
    module_store.load_library("chess", "minixiangqi", "kingofthehill")  # which shares its pieces with chess
    return module_store


def test_examples_answer_what_is_known(library: Store) -> None:
    by_question = {example.question: example.query for example in SQL_EXAMPLES}

    def ask(begin: str, **values: str) -> list[tuple[Any, ...]]:
        [query] = [query for question, query in by_question.items() if question.startswith(begin)]
        return list(library.sql(query, values))

    mobility = {piece: (squares, mean, most) for piece, squares, mean, most in ask("How mobile")}
    # A knight's moves on 8x8 sum to 336, a rook has 14 from everywhere.
    assert mobility["C:N"] == (64, 5.25, 8)
    assert mobility["C:R"] == (64, 14, 14)
    # A bishop keeps its colour: half of the board.
    assert len(ask("Which squares can a piece ever reach", piece="C:B", source="c1")) == 32
    assert len(ask("Which squares can a piece ever reach", piece="C:N", source="a1")) == 64
    assert {row[0] for row in ask("Where can a knight")} == {"d6", "f6", "c5", "g5", "c3", "g3", "d2", "f2"}
    assert {row[1:] for row in ask("Which captures of chess are on another")} == {
        (f"{a}{rank}", f"{b}{rank + step}", "elsewhere")
        for rank, step in ((5, 1), (4, -1))
        for a in "abcdefgh"
        for b in "abcdefgh"
        if abs(ord(a) - ord(b)) == 1
    }  # in passing
    assert ("chess", "c:p", 1, 2) in ask("Which pieces only ever move forward")
    assert ("chess", 64, 8, 8, 0) in ask("How many files")
    assert {row[:2] for row in ask("Which pieces are called cannon")} >= {("minixiangqi", "X:C"), ("chess", "c:n")}
    assert {row[1] for row in ask("What becomes of pieces that promote") if row[0] == "C:P"} >= {"C:Q", "C:N"}


def test_there_are_a_dozen_examples() -> None:
    assert len(SQL_EXAMPLES) >= 12


# --- Arrow, pandas, files ---


def test_an_answer_becomes_an_arrow_table(filled: Store, tmp_path: Path) -> None:
    found = filled.sql(
        "SELECT piece, ordinal, requires, 1 AS one, NULL AS none FROM v_moves ORDER BY piece, possibility"
    )
    arrow = found.to_arrow()
    assert arrow.to_pylist() == found.data()
    assert [str(field.type) for field in arrow.schema] == ["string", "int64", "string", "int64", "string"]
    found.write_parquet(str(tmp_path / "x.parquet"))
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == found.data()
    assert list(tmp_path.glob(".x*")) == []


def test_columns_of_several_types_become_texts() -> None:
    with Store.open("sqlite://") as store:
        found = store.sql("SELECT 1 AS x UNION ALL SELECT 'a' UNION ALL SELECT NULL UNION ALL SELECT x'ff'")
    assert sorted(map(str, found.to_arrow().column("x").to_pylist())) == ["1", "None", "a", "ff"]


def test_an_answer_becomes_a_pandas_frame(filled: Store) -> None:
    frame = filled.sql("SELECT piece, ordinal FROM v_moves ORDER BY piece, possibility").to_pandas()
    assert list(frame.columns) == ["piece", "ordinal"]
    assert frame["ordinal"].sum() == 1


# --- the command ---


def command(run: Program, filled: Store, address: str, *arguments: str, **options: Any) -> Any:
    return run("--db", address, "sql", *arguments, **options)


def test_forms_of_output_hold_the_same_rows(filled: Store, address: str, run: Program, tmp_path: Path) -> None:
    query = "SELECT piece, ordinal, requires FROM v_moves ORDER BY piece, possibility"
    expected = filled.sql(query).data()
    outputs = {form: command(run, filled, address, query, "--format", form).out for form in ("json", "ndjson", "csv")}
    assert json.loads(outputs["json"]) == expected
    assert [json.loads(line) for line in outputs["ndjson"].splitlines()] == expected
    rows = list(csv.DictReader(io.StringIO(outputs["csv"])))
    assert rows == [{key: "" if value is None else str(value) for key, value in row.items()} for row in expected]
    assert command(run, filled, address, query).out == outputs["ndjson"]
    file = tmp_path / "rows.parquet"
    command(run, filled, address, query, "--format", "parquet", "-o", str(file))
    assert pq.read_table(file).to_pylist() == expected
    assert "C:N" in command(run, filled, address, query, "--format", "table").out


def test_a_query_comes_from_a_file_or_standard_input(filled: Store, address: str, run: Program, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT count(*) AS n\nFROM v_moves WHERE piece = :p;\n", encoding="utf-8")
    for given in ([f"@{tmp_path / 'q.sql'}"], ["-"], []):
        stdin = (tmp_path / "q.sql").read_text()
        assert command(run, filled, address, *given, "--param", "p=C:N", stdin=stdin).out == '{"n":3}\n'


@pytest.mark.both
def test_texts_that_sqlite_takes_for_no_numbers_are_told(filled: Store) -> None:
    def told(condition: str, value: object = "1") -> tuple[int, bool]:
        found = filled.sql(f"SELECT count(*) FROM v_rulesets WHERE {condition}", {"n": value})
        return found.rows[0][0], "for a number write CAST(:n AS integer)" in (found.note or "")

    is_server = filled.session.database.is_server
    for condition in ("revisions = :n", "revisions IN (:n)", ":n = revisions", "revisions BETWEEN :n AND 2"):
        assert told(condition) == ((1, False) if is_server else (0, True)), condition
    assert told("revisions = CAST(:n AS integer)") == told("revisions = :n", 1) == (1, False)
    assert told("ruleset = :n", "game") == (1, False)


def test_what_is_wrong_ends_with_a_message(filled: Store, address: str, run: Program) -> None:
    result = command(run, filled, address, "SELECT peice FROM v_moves")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: line 1, column 8:")
    assert command(run, filled, address, "SELECT 1", "--format", "parquet").code == 2
    assert command(run, filled, address, "SELECT 1", "--param", "x").code == 2
    assert command(run, filled, address, "SELECT :x", "--param", "x=1", "--param", "x=2").code == 2
    assert command(run, filled, address, "SELECT 1", "--schema").code == 2
    limited = command(run, filled, address, "SELECT piece FROM v_moves", "--limit", "1")
    assert (limited.code, len(limited.out.splitlines())) == (0, 1)
    assert "note: there are more rows than these 1" in limited.err


def test_what_a_store_holds_cannot_act_on_a_terminal(filled: Store, address: str, run: Program) -> None:
    for form in ("table", "ndjson", "json"):
        assert "\x1b" not in command(run, filled, address, "SELECT message FROM v_history", "--format", form).out


@pytest.mark.parametrize("comment", ["-- how many\n", "--how many\n", "--\n", "-- where x = 1\n"])
def test_a_query_may_begin_with_a_comment(run: Program, address: str, comment: str) -> None:
    done = run("--db", address, "sql", "--format", "csv", f"{comment}SELECT 1 AS one")
    assert (done.code, done.out) == (0, "one\n1\n"), done
    assert "No such option" in run("--db", address, "sql", "--formt=csv\n", "SELECT 1").err


def test_the_schema_and_the_examples_are_shown(run: Program) -> None:
    schema, examples = run("sql", "--schema").out, run("sql", "--examples").out
    for view in (*VIEWS, *POSITION_VIEWS):
        assert f"\n{view.name}: a row is {view.row}" in f"\n{schema}"
        for column in view.columns:
            assert f"  {column.meaning}\n" in schema
    for example in SQL_EXAMPLES:
        assert f"{example.query};\n" in examples


# --- the prompt ---


def test_the_prompt_answers_completes_and_remembers(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with Store.open(str(file)) as store:
        store.load(DOCUMENT, "game")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "TERM": "dumb", "NO_COLOR": "1"}

    def session(typed: bytes) -> str:
        pid, terminal = pty.fork()
        if pid == 0:  # pragma: no cover
            arguments = [sys.executable, "-m", "ggn_store", "--db", str(file), "sql"]
            os.execve(sys.executable, arguments, environment)
        said = b""
        while b"ggn> " not in said:
            said += os.read(terminal, 4096)
        os.write(terminal, typed)
        try:
            while part := os.read(terminal, 4096):
                said += part
        except OSError:  # which is how Linux says that the other end is closed
            pass
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, said
        return said.decode()

    said = session(
        b"SELECT piece, count(*) AS possibilities_there\nFROM v_mov\t WHERE piece = 'C:N' GROUP BY piece;\n\\q\n"
    )
    assert "possibilities_there" in said
    assert "C:N                      3" in said.replace("\r", "")
    said = session(b"SELECT nothing;\n\\d v_moves\n\\d\n\\e\n\\?\nSELECT 6 * 7 AS answer;\n\x04")
    assert "Error: line 1, column 8" in said
    assert "what must stand on the destination" in said
    assert "42" in said
    history = (tmp_path / "state" / "ggn-store" / "sql_history").read_text()
    assert "SELECT piece, count(*) AS possibilities_there FROM v_moves" in history
    assert "SELECT 6 * 7" in history
    # The query before is a key away.
    assert said.count("42") + 1 == session(b"\x10\n\\q\n").count("42") + said.count("42")
    assert session(b"SELECT 1\nexit\n;\n\\q\n").count("...>") == 1
    # A comment ends with its line, also where the query comes again.
    said = session(b"SELECT 40 -- and\n+ 2 AS sum; -- of both\n\x10\n\\q\n")
    assert said.replace("\r", "").count("\n 42\n") == 2, said
    # What is within a text or a comment ends no query.
    assert "; -- 42" in session(b"SELECT '; --' ||\n' 42' /* of one;\nline */ AS told;\n\\q\n")
    said = session(b".tables\n.schema\n\\d piece\n.schema v_movs\n.tabels\n.help\nexit\n").replace("\r", "")
    assert ".tables or \\d, .schema or \\d NAME, .help, and exit, quit or \\q" in said.splitlines()[0]
    for told in (
        "v_conditions",
        "what must stand on the destination",
        "id, board_id, dialect",
        "did you mean v_moves?",
        "legal_moves  ",
    ):
        assert told in said
    assert "there is no command .tabels: did you mean .tables?" in said
    assert "Ctrl-C forgets" in said


def test_completion_offers_views_columns_and_keywords() -> None:
    from ggn_store.cli.sql_prompt import complete

    def all_of(begun: str) -> list[str]:
        found: list[str] = []
        while (word := complete(begun, len(found))) is not None:
            found.append(word)
        return found

    assert all_of("v_mov") == ["v_moves", "v_moves_all"]
    assert all_of("legal") == ["legal_moves"]
    assert all_of("possib") == ["possibilities", "possibility"]
    assert all_of("SEL") == ["SELECT"]
    assert all_of("sel") == ["select"]
    assert all_of("") == []
