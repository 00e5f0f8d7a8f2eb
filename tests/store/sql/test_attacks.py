"""What somebody may try with `sql`: all of it is refused, or cut off, saying why; the store stays as it was, byte for
byte; no file appears; and the process that asks stays small.

On Postgres everything is tried as a superuser, as somebody who may only read, and once more without the look at the
text that comes first.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from ggn_store import QueryError, Store, StoreError
from ggn_store.store.sql import allowed_functions, child, processes, statement
from tests.support.postgres import Server

SECONDS = 1.0
MOST = 512  # MiB

LATE = "cut off after 1 seconds"
LARGE = "cut off, because it (makes a text|needs more than)"
MANY = "larger than 32 MiB"
EITHER = f"{LATE}|{LARGE}|{MANY}"
ONLY_READS = "`sql` only reads"
ONE = "one statement at a time"
FUNCTION = "is not among those that a query may call"
TABLE = "is not a table or view that a query may ask"
WRONG = "near |syntax error|no such|incomplete"

Attempt = tuple[str, str, str]


def long(letter: str, doublings: int) -> str:
    """An expression of SQLite for a text of 2 ** doublings letters."""
    return (
        f"(WITH RECURSIVE a(n, x) AS (SELECT 0, '{letter}' UNION ALL SELECT n + 1, x || x FROM a WHERE n < {doublings})"
        f" SELECT x FROM a WHERE n = {doublings})"
    )


def joined(function: str, count: int) -> str:
    """A query that calls a function, on objects of so many keys each."""
    keys = ", ".join(f"json_group_object('{letter}' || n, 1) {letter}" for letter in "ab")
    return (
        f"WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < {count}), "
        f"b AS MATERIALIZED (SELECT {keys} FROM a) SELECT length({function}(a, b)) FROM b"
    )


SQLITE: list[Attempt] = [
    # writes
    ("insert", "INSERT INTO ruleset (id, name) VALUES (99, 'x')", ONLY_READS),
    ("update", "UPDATE ruleset SET name = 'x'", ONLY_READS),
    ("delete", "DELETE FROM audit", ONLY_READS),
    ("replace", "REPLACE INTO ruleset (id, name) VALUES (1, 'x')", ONLY_READS),
    ("with insert", "WITH a AS (SELECT 1) INSERT INTO ruleset (id, name) SELECT 99, 'x' FROM a", ONLY_READS),
    ("with delete", "WITH a AS (SELECT 1) DELETE FROM audit WHERE 1 IN (SELECT * FROM a)", ONLY_READS),
    ("with update", "WITH a AS (SELECT 1) UPDATE ruleset SET name = 'x'", ONLY_READS),
    ("delete in with", "WITH a AS (DELETE FROM audit RETURNING 1) SELECT * FROM a", WRONG),
    ("explained insert", "EXPLAIN INSERT INTO ruleset (id, name) VALUES (99, 'x')", ONLY_READS),
    ("comment before a write", "/* SELECT */ -- WITH\n DELETE FROM audit", ONLY_READS),
    # tables, files, settings
    ("create table", "CREATE TABLE x (y)", ONLY_READS),
    ("create temporary table", "CREATE TEMP TABLE x AS SELECT 1", ONLY_READS),
    ("create trigger", "CREATE TRIGGER x AFTER INSERT ON tag BEGIN DELETE FROM audit; END", ONE),
    ("create view", "CREATE VIEW x AS SELECT 1", ONLY_READS),
    ("create virtual table", "CREATE VIRTUAL TABLE x USING fts5(y)", ONLY_READS),
    ("drop view", "DROP VIEW v_moves", ONLY_READS),
    ("alter", "ALTER TABLE ruleset RENAME TO x", ONLY_READS),
    ("attach", "ATTACH '{files}/x.db' AS x", ONLY_READS),
    ("detach", "DETACH main", ONLY_READS),
    ("vacuum into", "VACUUM INTO '{files}/x.db'", ONLY_READS),
    ("vacuum", "VACUUM", ONLY_READS),
    ("reindex", "REINDEX", ONLY_READS),
    ("analyze", "ANALYZE", ONLY_READS),
    ("pragma journal", "PRAGMA journal_mode = WAL", ONLY_READS),
    ("pragma query_only", "PRAGMA query_only = OFF", ONLY_READS),
    ("pragma writable_schema", "PRAGMA writable_schema = ON", ONLY_READS),
    ("pragma temp_store_directory", "PRAGMA temp_store_directory = '{files}'", ONLY_READS),
    ("explained pragma", "EXPLAIN PRAGMA user_version = 7", ONLY_READS),
    ("pragma as a table", "SELECT * FROM pragma_database_list", ONLY_READS),
    ("pragma as a counted table", "SELECT count(*) FROM pragma_table_list", ONLY_READS),
    ("the schema", "SELECT sql FROM sqlite_master", TABLE),
    ("the schema, counted", "SELECT count(*) FROM sqlite_schema", TABLE),
    ("pages", "SELECT data FROM sqlite_dbpage", f"{TABLE}|no such table"),
    (
        "update the schema",
        "WITH a AS (SELECT 1) UPDATE sqlite_master SET sql = ''",
        f"{ONLY_READS}|may not be modified",
    ),
    ("begin", "BEGIN EXCLUSIVE", ONLY_READS),
    ("savepoint", "SAVEPOINT x", ONLY_READS),
    ("rollback", "ROLLBACK", ONLY_READS),
    # functions
    ("load_extension", "SELECT load_extension('{files}/x.so')", FUNCTION),
    ("fts3_tokenizer", "SELECT fts3_tokenizer('simple')", f"{FUNCTION}|no such function"),
    ("writefile", "SELECT writefile('{files}/x', 'y')", f"{FUNCTION}|no such function"),
    ("readfile", "SELECT readfile('/etc/passwd')", f"{FUNCTION}|no such function"),
    ("edit", "SELECT edit('x', 'sh')", f"{FUNCTION}|no such function"),
    ("zeroblob", "SELECT zeroblob(1000000000)", FUNCTION),
    ("zeroblobs", "SELECT hex(zeroblob(9000000)) FROM v_moves", FUNCTION),
    ("randomblob", "SELECT randomblob(1000000000)", FUNCTION),
    # several statements
    ("two", "SELECT 1; DELETE FROM audit", ONE),
    ("two behind a comment", "SELECT 1 --\n; /* ; */ DELETE FROM audit --", ONE),
    ("two behind a text", "SELECT ';' ; DELETE FROM audit", ONE),
    ("a comment that is not closed", "SELECT 1 /* ; DELETE FROM audit", "is never closed"),
    ("a NUL", "SELECT 1\0; DELETE FROM audit", "NUL"),
    # time
    (
        "recursion without end",
        "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT count(*) FROM a",
        LATE,
    ),
    ("recursion of rows", "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT x FROM a", EITHER),
    (
        "doubling recursion",
        "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x FROM a UNION ALL SELECT x FROM a) SELECT max(x) FROM a",
        EITHER,
    ),
    ("counted product", "SELECT count(*) FROM condition a, condition b, condition c, condition d", LATE),
    ("sorted product", "SELECT a.*, b.* FROM v_moves a, v_moves b ORDER BY random()", EITHER),
    ("product of rows", "SELECT * FROM v_moves a, v_moves b", EITHER),
    # one step of SQLite's machine, within which it does not look at the clock
    ("hopeless search", f"SELECT instr({long('0', 23)}, {long('0', 22)} || 1)", LATE),
    ("hopeless replacement", f"SELECT replace({long('0', 23)}, {long('0', 22)} || 1, '')", LATE),
    ("hopeless trimming", f"SELECT trim({long('0', 20)}, replace({long('1', 18)}, '1', '12') || '0')", LATE),
    ("hopeless LIKE", f"SELECT {long('0', 23)} LIKE '%{'0' * 900}1'", LATE),
    ("hopeless GLOB", f"SELECT {long('0', 23)} GLOB '*{'0' * 900}1'", LATE),
    ("hopeless patch", joined("json_patch", 200_000), LATE),
    # widths and precisions that nothing interrupts, under both names
    ("printf", "SELECT printf('%.*c', 999999999, 'x')", rf"{FUNCTION} \(join texts with \|\|"),
    ("format", "SELECT FORMAT('%999999999d', 1)", rf"{FUNCTION} \(join texts with \|\|"),
    ("printf of a column", "SELECT count(*) FROM v_moves WHERE printf('%*c', possibility, 'x') = ''", FUNCTION),
    # size
    ("long text", f"SELECT hex({long('1', 23)})", LARGE),
    (
        "long text by doubling",
        "WITH RECURSIVE a(x) AS (SELECT 'xxxxxxxx' UNION ALL SELECT x || x FROM a) SELECT max(length(x)) FROM a",
        LARGE,
    ),
    (
        "long text by replacing",
        "SELECT " + "replace(" * 6 + long("3", 10) + ", '3', '33333333333333333333333333')" * 6,
        LARGE,
    ),
    ("group_concat", "SELECT group_concat(a.state || b.state) FROM condition a, condition b", EITHER),
    ("json_group_array", "SELECT json_group_array(a.state || b.state) FROM condition a, condition b", EITHER),
    ("array of long texts", "SELECT " + ", ".join([long("1", 23)] * 90), EITHER),
    (
        "kept long texts",
        f"WITH RECURSIVE b(x, y) AS (SELECT 1, {long('1', 23)} UNION ALL SELECT x + 1, y || x FROM b) "
        "SELECT count(DISTINCT y) FROM b",
        EITHER,
    ),
    ("rows of long texts", f"SELECT {long('1', 23)} || possibility FROM v_moves", EITHER),
    ("a wide row", "SELECT " + ", ".join(["1"] * 5000), "too many columns"),
    ("a deep expression", "SELECT " + "(" * 5000 + "1" + ")" * 5000, f"parser stack|too|{LARGE}|Expression tree"),
    ("a long union", " UNION ALL ".join(["SELECT 1"] * 3000), "too many terms"),
    ("a long query", "SELECT 1 -- " + "x" * 200_000, "longer than 100,000 characters"),
]

POSTGRES: list[Attempt] = [
    # writes
    ("insert", "INSERT INTO ruleset (id, name) VALUES (99, 'x')", ONLY_READS),
    ("update", "UPDATE ruleset SET name = 'x'", ONLY_READS),
    ("delete", "DELETE FROM audit", ONLY_READS),
    ("merge", "MERGE INTO ruleset r USING tag ON true WHEN MATCHED THEN DELETE", ONLY_READS),
    ("truncate", "TRUNCATE audit", ONLY_READS),
    ("with insert", "WITH a AS (SELECT 1) INSERT INTO ruleset (id, name) SELECT 99, 'x' FROM a", ONLY_READS),
    ("delete in with", "WITH a AS (DELETE FROM audit RETURNING 1) SELECT * FROM a", ONLY_READS),
    (
        "insert in with",
        "WITH a AS (INSERT INTO ruleset (id, name) VALUES (99, 'x') RETURNING 1) SELECT * FROM a",
        ONLY_READS,
    ),
    ("explained delete", "EXPLAIN ANALYZE DELETE FROM audit", ONLY_READS),
    (
        "explained delete in with",
        "EXPLAIN ANALYZE WITH a AS (DELETE FROM audit RETURNING 1) SELECT * FROM a",
        ONLY_READS,
    ),
    ("select into", "SELECT * INTO x FROM ruleset", f"{ONLY_READS}|INTO"),
    ("select into temporary", "SELECT * INTO TEMP x FROM ruleset", f"{ONLY_READS}|INTO"),
    ("for update", "SELECT * FROM ruleset FOR UPDATE", ONLY_READS),
    ("for share", "SELECT * FROM ruleset FOR KEY SHARE", ONLY_READS),
    ("nextval", "SELECT nextval('ruleset_id_seq')", FUNCTION),
    ("setval", "SELECT setval('ruleset_id_seq', 1)", FUNCTION),
    # tables, files, settings
    ("create table", "CREATE TABLE x (y int)", ONLY_READS),
    ("create temporary table", "CREATE TEMP TABLE x AS SELECT 1", ONLY_READS),
    ("create function", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", ONLY_READS),
    ("drop view", "DROP VIEW v_moves", ONLY_READS),
    ("copy to a program", "COPY ruleset TO PROGRAM 'cat > {files}/x'", ONLY_READS),
    ("copy to a file", "COPY ruleset TO '{files}/x'", ONLY_READS),
    ("copy from a program", "COPY ruleset FROM PROGRAM 'touch {files}/x'", ONLY_READS),
    ("do", "DO $$ BEGIN DELETE FROM audit; END $$", ONLY_READS),
    ("call", "CALL x()", ONLY_READS),
    ("prepare", "PREPARE x AS DELETE FROM audit", ONLY_READS),
    ("listen", "LISTEN x", ONLY_READS),
    ("notify", "NOTIFY ggn_store, 'x'", ONLY_READS),
    ("lock", "LOCK TABLE ruleset", ONLY_READS),
    ("vacuum", "VACUUM", ONLY_READS),
    ("set role", "SET ROLE postgres", ONLY_READS),
    ("reset role", "RESET ROLE", ONLY_READS),
    ("set session", "SET SESSION AUTHORIZATION postgres", ONLY_READS),
    ("set statement_timeout", "SET statement_timeout = 0", ONLY_READS),
    ("set transaction", "SET TRANSACTION READ WRITE", ONLY_READS),
    ("begin", "BEGIN READ WRITE", ONLY_READS),
    ("commit", "COMMIT", ONLY_READS),
    ("explained execute", "EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1", ONLY_READS),
    # functions
    ("set_config", "SELECT set_config('statement_timeout', '0', false)", FUNCTION),
    ("set_config of the role", "SELECT set_config('role', 'postgres', false)", FUNCTION),
    ("pg_sleep", "SELECT pg_sleep(100)", FUNCTION),
    ("pg_sleep in quotes", 'SELECT "pg_sleep"(100)', FUNCTION),
    ("pg_sleep with its schema", "SELECT pg_catalog . /* x */ pg_sleep (100)", FUNCTION),
    ("pg_sleep behind DISTINCT ON", "SELECT DISTINCT ON (ruleset) pg_sleep(100) FROM v_rulesets", FUNCTION),
    ("pg_sleep as a table", "SELECT * FROM v_rulesets, pg_sleep(100)", FUNCTION),
    ("pg_sleep in a text that goes on", "SELECT E'a'\n'\\'', pg_sleep(100) --'", "without E"),
    ("pg_sleep behind a name with dollars", "SELECT 1 AS \u20ac$b$, pg_sleep(100), 2 AS \u20ac$b$", FUNCTION),
    ("pg_sleep behind a space that is none", "SELECT 1 AS a\xa0$b$, pg_sleep(100), 2 AS a\xa0$b$", FUNCTION),
    ("pg_sleep behind a number", "SELECT 1$b$, pg_sleep(100), 2$b$", "this number is not one"),
    ("pg_sleep behind an exponent", "SELECT 1e5$b$ $c$ $b$, pg_sleep(100), $c$ $c$", "this number is not one"),
    ("pg_sleep as a field", "SELECT (100::float8) . pg_sleep", FUNCTION),
    ("pg_sleep as a field of a field", 'SELECT (x).a."pg_sleep" FROM (SELECT 100::float8 AS a) AS x', FUNCTION),
    ("pg_read_file as a field", "SELECT (array['/etc/passwd'])[1].pg_read_file", FUNCTION),
    ("pg_sleep with columns", "SELECT * FROM v_rulesets, pg_sleep(revision) AS x(y)", FUNCTION),
    ("pg_sleep behind a quote of its own", "SELECT E'\\\\', pg_sleep(100), '\\'", "without E"),
    ("pg_sleep in Unicode", 'SELECT U&"pg\\005fsleep"(100)', "without U&"),
    ("pg_sleep behind dollars", "SELECT $a$ $b$ $a$, pg_sleep(100), '$a$'", FUNCTION),
    ("pg_sleep behind a nested comment", "SELECT /* /* */ 1, */ pg_sleep(100)", FUNCTION),
    ("advisory lock", "SELECT pg_advisory_lock(1734831731)", FUNCTION),
    ("lo_import", "SELECT lo_import('/etc/passwd')", FUNCTION),
    ("lo_create", "SELECT lo_create(0)", FUNCTION),
    ("lo_export", "SELECT lo_export(1, '{files}/x')", FUNCTION),
    ("pg_read_file", "SELECT pg_read_file('/etc/passwd')", FUNCTION),
    ("pg_ls_dir", "SELECT pg_ls_dir('/')", FUNCTION),
    ("pg_notify", "SELECT pg_notify('ggn_store', 'x')", FUNCTION),
    ("pg_terminate_backend", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity", FUNCTION),
    ("pg_reload_conf", "SELECT pg_reload_conf()", FUNCTION),
    ("dblink", "SELECT * FROM dblink('', 'DELETE FROM audit') AS (x int)", "dblink.* does not exist"),
    ("query_to_xml", "SELECT query_to_xml('SELECT pg_sleep(100)', true, true, '')", FUNCTION),
    ("a function of the store", "SELECT ggn_review('x')", FUNCTION),
    # several statements
    ("two", "SELECT 1; DELETE FROM audit", ONE),
    ("two behind a comment", "SELECT 1 --\n; /* ; */ DELETE FROM audit --", ONE),
    ("commit and go on", "SELECT 1; COMMIT; DROP VIEW v_moves", ONE),
    ("a comment that is not closed", "SELECT 1 /* ; DELETE FROM audit", "is never closed"),
    ("a NUL", "SELECT 1\0; DELETE FROM audit", "NUL"),
    # time
    (
        "recursion without end",
        "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a WHERE x < 1e9) SELECT count(*) FROM a",
        EITHER,
    ),
    ("a series", "SELECT count(*) FROM generate_series(1, 1000000000000)", LATE),
    ("counted product", "SELECT count(*) FROM condition a, condition b, condition c, condition d", LATE),
    (
        "sorted product",
        "SELECT a.*, b.* FROM v_moves a, v_moves b ORDER BY random()",
        f"{EITHER}|of disk",
    ),
    ("product of rows", "SELECT * FROM v_moves a, v_moves b", EITHER),
    # size
    ("repeat", "SELECT repeat('x', 1000000000)", FUNCTION),
    ("lpad", "SELECT lpad('x', 1000000000)", FUNCTION),
    (
        "long text by replacing",
        "SELECT " + "replace(" * 5 + "'x'" + ", 'x', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx')" * 5,
        f"{EITHER}|invalid memory",
    ),
    (
        "string_agg",
        "SELECT string_agg(a.state || b.state, '') FROM condition a, condition b",
        f"{EITHER}|invalid memory|enlarge",
    ),
    ("array_agg", "SELECT array_agg(a) FROM v_moves a, v_moves b", f"{EITHER}|invalid memory|too large"),
    ("json_agg", "SELECT json_agg(a) FROM v_moves a, v_moves b", f"{EITHER}|invalid memory|enlarge"),
    ("a wide row", "SELECT " + ", ".join(["1"] * 5000), "at most 1664"),
    ("a deep expression", "SELECT " + "(" * 40_000 + "1" + ")" * 40_000, "stack depth|memory|."),
    ("a long query", "SELECT 1 -- " + "x" * 200_000, "longer than 100,000 characters"),
]


@dataclass(frozen=True, slots=True)
class Place:
    """Stores to attack, as several kinds of people, and a directory that nobody should write to."""

    addresses: dict[str, str]
    owner: str
    files: Path
    server: psycopg.Connection[Any] | None = None
    """The owner's: a new one takes as long to read the catalog as to read all rows."""
    before: list[object] = field(default_factory=list)
    """What `content` was before the first attempt: none may ever change it."""


def fill(address: str) -> None:
    with Store.open(address) as store:
        store.load_library("microchess")


@pytest.fixture(scope="module")
def sqlite_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    directory = tmp_path_factory.mktemp("attacked")
    address = f"sqlite:///{directory / 'store.db'}"
    fill(address)
    return Place({"sqlite": address}, address, directory)


@pytest.fixture(scope="module")
def postgres_place(postgres_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    owner = postgres_server.create_store()
    fill(owner)
    directory = tmp_path_factory.mktemp("attacked")
    for each in (directory, *directory.parents[:2]):  # where the server could write, if it were made to
        each.chmod(0o777)
    name, password = f"ggn_test_{uuid.uuid4().hex}", uuid.uuid4().hex
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}".encode())
        reader = make_url(owner).set(username=name, password=password).render_as_string(hide_password=False)
        yield Place({"superuser": owner, "reader": reader}, owner, directory, connection)
    postgres_server.drop_database(owner)
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE {name}".encode())


class Watched(subprocess.Popen[bytes]):
    """A process whose most memory is known afterwards, in MiB."""

    peaks: list[float] = []  # noqa: RUF012

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._peak = 0.0
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _watch(self) -> None:
        status = Path(f"/proc/{self.pid}/status")
        pause = threading.Event()
        while True:
            try:
                found = re.search(r"VmHWM:\s*(\d+)", status.read_text(encoding="ascii"))
            except OSError:
                return
            if found is None:  # it has ended, and nobody has asked how
                return
            self._peak = max(self._peak, int(found[1]) / 1024)
            pause.wait(0.002)

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._watcher.join()
        self.peaks.append(self._peak)


@contextmanager
def untouched(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is tried inside leaves the store and the directory as they were, and stays small."""
    monkeypatch.setattr(subprocess, "Popen", Watched)
    monkeypatch.chdir(place.files)
    monkeypatch.setenv("TMPDIR", str(place.files))
    Watched.peaks.clear()
    if not place.before:
        place.before.append(content(place))
    files = sorted(place.files.rglob("*"))
    yield
    assert content(place) == place.before[0]
    assert sorted(place.files.rglob("*")) == files
    assert max(Watched.peaks, default=0) < MOST, "MiB"


def content(place: Place) -> object:
    """The bytes of a file; of a Postgres database its tables, views, triggers and functions, and all rows."""
    if place.server is None:
        return hashlib.sha256(Path(make_url(place.owner).database or "").read_bytes()).hexdigest()
    names = "SELECT relname, relkind, relacl::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    found: list[Any] = sorted(place.server.execute(names).fetchall())
    for catalog in ("pg_proc", "pg_trigger", "pg_attribute", "pg_largeobject_metadata", "pg_roles", "pg_namespace"):
        found += place.server.execute(hashed(catalog)).fetchall()
    for name in (row[0] for row in found.copy() if len(row) == 3 and row[1] == "r"):
        found += place.server.execute(hashed(name)).fetchall()
    found += place.server.execute("SELECT last_value, is_called FROM ruleset_id_seq").fetchall()
    return found


def hashed(table: str) -> bytes:
    # A sum, as text takes long to sort.
    return f"SELECT '{table}', count(*), sum(hashtextextended(t::text, 0)) FROM \"{table}\" t".encode()


def attack(address: str, query: str) -> str:
    """Why a query was refused or cut off; empty where it was answered."""
    with Store.open(address) as store:
        try:
            return store.sql(query, timeout=SECONDS).cut or ""
        except (QueryError, StoreError) as error:
            return str(error)


# What takes a second each, and is ended in the way of another that is tried on every change.
LATER = {
    "recursion of rows",
    "doubling recursion",
    "sorted product",
    "hopeless replacement",
    "hopeless trimming",
    "hopeless GLOB",
    "json_group_array",
    "array of long texts",
    "kept long texts",
    "long text by doubling",
}


@pytest.mark.parametrize(
    ("query", "why"),
    [pytest.param(*each[1:], id=each[0], marks=[pytest.mark.long] * (each[0] in LATER)) for each in SQLITE],
)
def test_sqlite_stands(sqlite_place: Place, query: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with untouched(sqlite_place, monkeypatch):
        said = attack(sqlite_place.owner, query.replace("{files}", str(sqlite_place.files)))
    assert re.search(why, said), said or "it was answered"
    assert "\0" not in said


# Whoever may do more is the harder case; of the others some try, and all in the long run. Which functions may be
# called, in whatever notation, is tried in test_resolved.py, too.
AS_WHOM = [
    pytest.param(
        *(who, *each[1:]),
        id=f"{who}-{each[0]}",
        marks=[pytest.mark.long]
        * (each[0] in LATER or (who == "reader" and at % 5 > 0) or (each[2] == FUNCTION and at % 4 > 0)),
    )
    for at, each in enumerate(POSTGRES)
    for who in ("superuser", "reader")
]


@pytest.mark.parametrize(("who", "query", "why"), AS_WHOM)
def test_postgres_stands(
    postgres_place: Place, who: str, query: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with untouched(postgres_place, monkeypatch):
        said = attack(postgres_place.addresses[who], query.replace("{files}", str(postgres_place.files)))
    assert re.search(why, said), said or "it was answered"


def test_there_are_enough_attempts() -> None:
    for attempts in (SQLITE, POSTGRES):
        assert len({name for name, *_ in attempts}) == len(attempts) >= 40


@pytest.fixture
def _only_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read of a query but where its values are."""

    def read(text: str) -> statement.QueryStatement:
        return statement.QueryStatement(text, (statement.Token("name", text.split()[0], 0),))

    monkeypatch.setattr(statement, "read", read)


@pytest.mark.long
@pytest.mark.usefixtures("_only_the_server")
def test_what_the_server_has_resolved_is_enough(postgres_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = []
    with untouched(postgres_place, monkeypatch):
        for name, query, _ in POSTGRES:
            if "\0" in query:  # which no driver sends
                continue
            if attack(postgres_place.owner, query.replace("{files}", str(postgres_place.files))) == "":
                answered.append(name)
    assert answered == ["a long query"]


def test_the_server_itself_stops_in_time(postgres_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    # The process asks the server to stop, too: what it has told the server shows only here.
    monkeypatch.setattr(allowed_functions, "POSTGRES", allowed_functions.POSTGRES | {"current_setting"})
    for address in postgres_place.addresses.values():
        with Store.open(address) as store:
            assert store.sql("SELECT current_setting('statement_timeout')", timeout=SECONDS).rows == (("1s",),)


@pytest.mark.long
@pytest.mark.usefixtures("_only_the_server")
def test_sqlite_itself_holds(sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = []
    with untouched(sqlite_place, monkeypatch):
        for name, query, _ in SQLITE:
            if (
                "\0" not in query
                and attack(sqlite_place.owner, query.replace("{files}", str(sqlite_place.files))) == ""
            ):
                answered.append(name)
    assert answered == ["a comment that is not closed", "a long query"]


@pytest.mark.skipif(sys.platform != "linux", reason="what a process may have is limited on Linux only")
def test_the_process_itself_has_little_memory_and_writes_no_file(tmp_path: Path) -> None:
    program = f"""
import pathlib, sys
sys.path.insert(0, {str(Path(child.__file__).parent)!r})
import child
child.limit_process(60, child.BESIDE)
child.limit_files(0)
try:
    bytearray(child.BESIDE)
except MemoryError:
    print("no memory")
try:
    pathlib.Path({str(tmp_path / "file")!r}).write_text("x")
except OSError as error:
    print("no file")
"""
    command = [sys.executable, "-I", "-c", program]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.split("\n") == ["no memory", "no file", ""]


def test_a_process_that_does_not_end_by_itself_is_killed(
    sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = tmp_path / "child.py"
    stuck.write_text('import sys\nprint(\'{"columns":["x"]}\\n{"rows":[[\', end="", flush=True)\nwhile True: pass\n')
    monkeypatch.setattr(child, "__file__", str(stuck))
    monkeypatch.setattr(processes, "GRACE", 0)
    assert LATE in attack(sqlite_place.owner, "SELECT 1")
