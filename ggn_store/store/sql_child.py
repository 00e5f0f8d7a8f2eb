"""The process that asks a question in SQL, which `store.sql` starts for each: with little memory, and no way to write.

It is run as a script. On standard input: a line of JSON that says what to ask, and, for a store in memory, the store.
On standard output, lines of JSON: the columns, the rows, some at a time, and how it ended. Limits of the operating
system hold where there are such: Windows has none, and macOS none for memory; SQLite's own hold everywhere.

Nothing is imported but psycopg, and what decides on a query's tree, where Postgres is to be asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

MEMORY = 448 << 20  # of the process, in bytes
HEAP = 256 << 20  # of SQLite
LENGTH = 10_000_000  # of a text, in bytes
LATE = 75  # what the process ends with where the deadline has met it within a step
_SLACK = 0.25  # seconds after the deadline, within which the step ends in most questions
_OPERATIONS = 2_000  # of SQLite's machine between two looks at the clock
_PART = 64 << 10  # of output, in characters
_PLACES = 200
_OF_THE_FILE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_READONLY,
)

Row = Sequence[Any]


class Cut(Exception):  # noqa: N818
    """The question was cut off: `rows` or `bytes` where some of the answer is there, else `deadline` or `memory`."""


class Wrong(Exception):  # noqa: N818
    """The database refuses the question: what kind of thing is wrong, its own words, and where in the text."""

    def __init__(self, kind: str, message: str, position: int | None = None, name: str | None = None) -> None:
        super().__init__(kind, message)
        self.data = {"kind": kind, "message": message, "position": position, "name": name}


def limit_process(seconds: float, memory: int) -> None:
    """Have the system refuse memory, files and processor time beyond what a question needs."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {"RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_AS": memory, "RLIMIT_CPU": int(seconds) + 5}
    for name, wanted in limits.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            kind = getattr(resource, name)
            _, most = resource.getrlimit(kind)
            wanted = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
            resource.setrlimit(kind, (wanted, wanted))


# --- SQLite ---


def ask_sqlite(asked: dict[str, Any], store: bytes) -> Generator[Row, None, None]:
    """The names of the columns, then the rows."""
    connection = _open_sqlite(asked, store)
    end = time.monotonic() + asked["seconds"]
    connection.set_progress_handler(lambda: time.monotonic() > end, _OPERATIONS)
    denied = _guard(connection, asked)
    # A single step of SQLite's machine, in which it does not look at the clock, may search a long text for hours.
    watch = threading.Timer(asked["seconds"] + _SLACK, os._exit, [LATE])
    watch.daemon = True
    watch.start()
    try:
        cursor = connection.execute(asked["query"], asked["values"])
        if cursor.description is None:
            raise Wrong("refused", "this asks nothing")
        yield [column[0] for column in cursor.description]
        for row in cursor:
            yield [_of_sqlite(value) for value in row]
    except MemoryError:
        raise Cut("memory") from None
    except sqlite3.Error as error:
        raise _explained(connection, asked["query"], error, denied) from None
    finally:
        watch.cancel()


def _open_sqlite(asked: dict[str, Any], store: bytes) -> sqlite3.Connection:
    try:
        if asked["file"] is None:
            connection = sqlite3.connect(":memory:", isolation_level=None)
            connection.deserialize(store)
        else:
            # Waits for a writer as long as the question may take.
            connection = sqlite3.connect(asked["file"], uri=True, isolation_level=None, timeout=asked["seconds"])
        # trusted_schema stays on: some SQLites take json_extract in a view for unsafe without it. What views call is
        # held to the same list of functions as what the question calls.
        for pragma in ("query_only = ON", "temp_store = MEMORY", "cache_size = -32768"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(f"PRAGMA hard_heap_limit = {HEAP + 2 * len(store)}")
        # What SQLite looks up in its schema it looks up before anything is refused.
        connection.execute("SELECT count(*) FROM v_rulesets, json_each('[]'), json_tree('[]')").fetchall()
    except sqlite3.Error as error:
        raise Wrong("store", str(error)) from None
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    return connection


def _guard(connection: sqlite3.Connection, asked: dict[str, Any]) -> list[str]:
    """Let a connection do nothing but read, in bounds; what it is not let do is added to the result."""
    for name, value in {
        "LENGTH": LENGTH,
        "SQL_LENGTH": LENGTH,
        "COLUMN": 500,
        "EXPR_DEPTH": 200,
        "COMPOUND_SELECT": 100,
        "VDBE_OP": 1_000_000,
        "FUNCTION_ARG": 100,
        "ATTACHED": 0,
        "LIKE_PATTERN_LENGTH": 1_000,
        "VARIABLE_NUMBER": 1_000,
        "TRIGGER_DEPTH": 1,
        "WORKER_THREADS": 0,
    }.items():
        connection.setlimit(getattr(sqlite3, f"SQLITE_LIMIT_{name}"), value)
    tables, functions = frozenset(asked["tables"]), frozenset(asked["functions"])
    denied: list[str] = []

    def allow(action: int, first: str | None, second: str | None, database: str | None, _inside: str | None) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            table = str(first).lower()
            # What is only counted has no database, a name that WITH gives as little as a table.
            is_counted = not second and database is None and not table.startswith(("sqlite_", "pragma_"))
            if (table in tables and database in ("main", None)) or is_counted:
                return sqlite3.SQLITE_OK
            denied.append(f"{first} is not a table or view that a query may ask")
        elif action == sqlite3.SQLITE_FUNCTION:
            if str(second).lower() in functions:
                return sqlite3.SQLITE_OK
            instead = asked["instead"].get(str(second).lower())
            denied.append(
                f"the function {second} is not among those that a query may call" + (f" ({instead})" if instead else "")
            )
        else:
            denied.append("this would do more than read")
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(allow)
    return denied


def _of_sqlite(value: Any) -> Any:
    return {"bytes": value.hex()} if isinstance(value, bytes) else value


def _explained(connection: sqlite3.Connection, query: str, error: sqlite3.Error, denied: list[str]) -> Exception:
    code = getattr(error, "sqlite_errorcode", None)
    message = str(error)
    if code == sqlite3.SQLITE_INTERRUPT:
        return Cut("deadline")
    if code == sqlite3.SQLITE_NOMEM:
        return Cut("memory")
    if code == sqlite3.SQLITE_TOOBIG:
        return Cut("length")
    if denied:
        return Wrong("refused", denied[0])
    if code is not None and code & 0xFF in _OF_THE_FILE:
        return Wrong("store", message)
    for kind in ("table", "column", "function"):
        said, _, name = message.partition(f"no such {kind}: ")
        if name and not said:
            return Wrong(kind, message, name=name)
    return Wrong("syntax", message, _place(connection, query, message))


def _place(connection: sqlite3.Connection, query: str, message: str) -> int | None:
    """Where the word that SQLite stumbled over begins: the first one at whose end it says the same.

    The module does not tell, and the same word may come more than once.
    """
    if message.startswith("incomplete input"):
        return len(query)
    if not message.startswith('near "'):
        return None
    word = message.removeprefix('near "').rpartition('"')[0]
    at = -1
    for _ in range(_PLACES):
        at = query.find(word, at + 1)
        if at < 0:
            return None
        try:
            connection.execute(f"EXPLAIN {query[: at + len(word)]}")
        except sqlite3.Error as error:
            if str(error) == message:
                return at
    return None


# --- Postgres ---


def ask_postgres(asked: dict[str, Any]) -> Generator[Row, None, None]:
    """The names of the columns, then the rows."""
    sys.path[:] = [place for place in asked["path"] if place]
    import psycopg
    from psycopg.types.string import TextLoader

    connection: Any = None
    end = time.monotonic() + asked["seconds"]
    try:
        connection = psycopg.connect(**asked["connection"], autocommit=True)
        # What a process of its own cannot count on is that the server sees it go.
        timer = threading.Timer(max(0.0, end - time.monotonic()), connection.cancel)
        timer.daemon = True
        timer.start()
        cursor = psycopg.RawCursor(connection)
        # As the server writes them.
        for name in ("json", "jsonb", "interval", "time", "timetz"):
            connection.adapters.register_loader(name, TextLoader)
        yield from _stream(cursor, asked)
        timer.cancel()
    except MemoryError:
        raise Cut("memory") from None
    except psycopg.Error as error:
        if isinstance(error, psycopg.errors.QueryCanceled):
            raise Cut("deadline") from None
        if "memory" in str(error) and error.sqlstate in (None, "53200"):  # in the driver's words, or the server's
            raise Cut("memory") from None
        raise _refusal(error, asked) from None
    finally:
        if connection is not None:
            connection.close()  # which undoes whatever a session can have set or taken


def _stream(cursor: Any, asked: dict[str, Any]) -> Iterator[Row]:
    import psycopg
    from psycopg.adapt import PyFormat, Transformer

    from ggn_store.store import sql_resolved

    connection = cursor.connection
    cursor.execute("; ".join(asked["settings"]))
    # Which not every server can.
    with contextlib.suppress(psycopg.Error), connection.transaction():
        cursor.execute("SET LOCAL client_connection_check_interval = '1s'")
    values = Transformer(connection)
    given = values.dump_sequence(asked["values"], [PyFormat.TEXT] * len(asked["values"]))
    allowed = sql_resolved.Allowed(*map(frozenset, asked["allowed"]))
    try:
        sql_resolved.prepare(cursor, asked["query"], asked["words"], values.types or (), allowed, asked["after"])
    except sql_resolved.Wrong as wrong:
        at = None if wrong.position is None else wrong.position + len(asked["explain"])
        raise Wrong(wrong.kind, wrong.message, at, wrong.name) from None
    if asked["explain"]:
        texts = ", ".join("NULL" if each is None else _quoted(bytes(each).decode()) for each in given)
        cursor.execute(f"{asked['explain']} EXECUTE {sql_resolved.NAME.decode()}" + (f" ({texts})" if texts else ""))
        yield [column.name for column in cursor.description]
        yield from ([_of_postgres(value) for value in row] for row in cursor)
        return
    # What has been prepared, row by row: nobody asks the server for more before these are taken.
    pgconn = connection.pgconn
    pgconn.send_query_prepared(sql_resolved.NAME, given, param_formats=values.formats)
    pgconn.set_single_row_mode()
    rows = Transformer(connection)
    is_first = True
    while (result := pgconn.get_result()) is not None:
        if result.status == psycopg.pq.ExecStatus.FATAL_ERROR:
            raise psycopg.errors.error_from_result(result)
        rows.set_pgresult(result, set_loaders=is_first)
        if is_first:
            yield [(result.fname(column) or b"").decode() for column in range(result.nfields)]
            is_first = False
        for row in range(result.ntuples):
            yield [_of_postgres(value) for value in rows.load_row(row, tuple)]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _of_postgres(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes | memoryview):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, Decimal):
        is_integer = value.is_finite() and value == value.to_integral_value()
        return int(value) if is_integer else float(value)
    if isinstance(value, datetime):
        # As SQLite keeps times.
        utc = value if value.tzinfo is None else value.astimezone(UTC)
        return utc.replace(tzinfo=None).isoformat(" ", "microseconds")
    if isinstance(value, list | tuple):
        return [_of_postgres(each) for each in value]
    return str(value)


def _refusal(error: Any, asked: dict[str, Any]) -> Wrong:
    state = error.sqlstate or ""
    message = error.diag.message_primary or str(error).strip().partition("\n")[0]
    position = error.diag.statement_position
    at = None if position is None else int(position) - 1 + len(asked["explain"])
    kind = {"42P01": "table", "42703": "column", "42883": "function", "42501": "refused", "25006": "refused"}.get(state)
    if kind is None:
        kind = "store" if not state or state[:2] in ("08", "28", "57", "3D") else "syntax"
    hint = "" if error.diag.message_hint is None or kind in ("table", "column") else f" ({error.diag.message_hint})"
    return Wrong(kind, message + hint, at)


# --- the answer ---


def answer(rows: Iterable[Row], most_rows: int, most_bytes: int) -> None:
    """Write columns and rows, up to so many, and how it ended."""
    written = counted = 0
    part: list[str] = []
    size = 0
    found = iter(rows)
    _write({"columns": next(found)})
    try:
        for row in found:
            if counted == most_rows:
                raise Cut("rows")
            text = json.dumps(row)
            written += len(text)
            if written > most_bytes:
                raise Cut("bytes")
            counted += 1
            part.append(text)
            size += len(text)
            if size > _PART:
                sys.stdout.write('{"rows":[' + ",".join(part) + "]}\n")
                part, size = [], 0
    finally:
        if part:
            sys.stdout.write('{"rows":[' + ",".join(part) + "]}\n")
    _write({"end": None})


def _write(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Ask what standard input says."""
    asked = json.loads(sys.stdin.buffer.readline())
    store = sys.stdin.buffer.read()
    limit_process(asked["seconds"], MEMORY + 2 * len(store))
    try:
        with contextlib.closing(
            ask_sqlite(asked, store) if asked["connection"] is None else ask_postgres(asked)
        ) as rows:
            answer(rows, asked["rows"], asked["bytes"])
    except Cut as cut:
        _write({"end": str(cut)})
    except Wrong as wrong:
        _write({"wrong": wrong.data})
    except MemoryError:
        _write({"end": "memory"})
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(130)


if __name__ == "__main__":
    main()
