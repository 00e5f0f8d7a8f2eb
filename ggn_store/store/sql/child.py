"""The process that asks a question in SQL, which `queries` starts for each: with little memory, and no way to write.

It is run as a script, with the number of the process that asked and the directory for temporary files (or nothing)
as arguments. On standard input: a line of JSON that says what to ask, and, for a store in memory, the store.
On standard output, once it has read the answer: lines of JSON, the columns, the rows, some at a time, and how it ended.
Limits of the operating system hold where there are such: Windows has none, and macOS none for memory; SQLite's own hold
everywhere.

A SQLite file is asked directly, which keeps writers waiting. Once one waits, the process ends, and is started again to
ask a private copy. Nothing is imported but what makes that copy, or psycopg and what decides on a query's tree, or the
module of another engine.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import sys
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from datetime import UTC, datetime

TYPE_CHECKING = False  # each question waits for what is imported
if TYPE_CHECKING:
    from typing import Any, NoReturn

try:
    import fcntl
    import resource
except ImportError:  # Windows
    fcntl = resource = None  # type: ignore[assignment]

BESIDE = 192 << 20  # bytes of the process beside the memory that the question itself may have
_CACHE = 32 << 20  # bytes of pages, and of rows to be sorted, before they are spilled
LENGTH = 10_000_000  # of a text, in bytes
GIVES_WAY = 75  # what the process ends with so that a writer, who waits, comes to the file
_LOOK = 0.01  # seconds between two looks at the clock, the spilled files and the writers
_PATIENCE = 0.25  # seconds that a question has before it gives way; shorter ones never need a copy
_WITHOUT_LOCKS = 1.0  # seconds after which it gives way where nothing tells whether a writer waits
_PENDING = 0x40000000  # the byte of its file that SQLite locks for a writer who waits until readers have gone
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
# What is wrong where a temporary file cannot grow: the disk is full, or the process may not write more.
_ABOUT_ROOM = {sqlite3.SQLITE_FULL: "room", sqlite3.SQLITE_IOERR_WRITE: "disk"}

Row = Sequence["Any"]


class Cut(Exception):  # noqa: N818
    """The question was cut off: `rows` or `bytes` where some of the answer is there, else what it lacks."""


class Wrong(Exception):  # noqa: N818
    """The database refuses the question: what kind of thing is wrong, its own words, and where in the text."""

    def __init__(self, kind: str, message: str, position: int | None = None, name: str | None = None) -> None:
        super().__init__(kind, message)
        self.data = {"kind": kind, "message": message, "position": position, "name": name}


def limit_process(seconds: float, memory: int) -> None:
    """Have the system refuse memory and processor time beyond what a question needs."""
    _limit({"RLIMIT_CORE": 0, "RLIMIT_AS": memory, "RLIMIT_CPU": int(seconds) + 5})


def limit_files(size: int) -> None:
    """Have the system refuse files of more bytes than this."""
    _limit({"RLIMIT_FSIZE": size})


def _limit(limits: dict[str, int]) -> None:
    for name, wanted in limits.items() if resource else ():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            kind = getattr(resource, name)
            _, most = resource.getrlimit(kind)
            wanted = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
            resource.setrlimit(kind, (wanted, wanted))


class Watch(threading.Thread):
    """Ends the process, even within a single step of SQLite's machine, which may search a long text for hours.

    That is when time (`until`) or room for temporary results (`disk`, in bytes) is used up, when a writer waits for the
    file (`file`) that is asked, and when whoever asked is gone.
    """

    def __init__(self, parent: int, directory: str) -> None:
        super().__init__(daemon=True)
        self.until: float | None = None
        self.disk: int | None = None
        self._parent = parent
        self._directory = directory
        self._file: int | None = None
        self._since = 0.0
        self._lock = threading.Lock()

    def shares(self, file: str) -> None:
        """From now on the file is read, and writers wait for that."""
        # Never closed before the process ends: that would drop SQLite's own locks of the file.
        self._file, self._since = os.open(file, os.O_RDONLY), time.monotonic()

    def clear(self) -> None:
        """Remove the directory for temporary files."""
        for place, _, files in os.walk(self._directory, topdown=False):
            with contextlib.suppress(OSError):
                for file in files:
                    os.unlink(os.path.join(place, file))
                os.rmdir(place)

    def stop(self) -> None:
        """End no more: the answer is there."""
        self._lock.acquire()

    def run(self) -> None:
        while True:
            time.sleep(_LOOK)
            with self._lock, contextlib.suppress(MemoryError):
                self._look()

    def _look(self) -> None:
        now = time.monotonic()
        if os.getppid() != self._parent:
            self.clear()
            os._exit(1)
        if self.until is not None and now > self.until:
            self._cut("deadline")
        if self.disk is not None and spilled() > self.disk:
            self._cut("disk")
        if self._file is not None and now > self._since + _PATIENCE and self._holds_up(self._file, now):
            os._exit(GIVES_WAY)

    def _holds_up(self, file: int, now: float) -> bool:
        """Whether a writer waits: it then has the lock that each reader takes for a moment, to begin with."""
        if fcntl is None:
            return now > self._since + _WITHOUT_LOCKS
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, _PENDING)
            fcntl.lockf(file, fcntl.LOCK_UN, 1, _PENDING)
        except (BlockingIOError, PermissionError):
            return True
        except OSError:  # a file system without locks
            return now > self._since + _WITHOUT_LOCKS
        return False

    @staticmethod
    def _cut(why: str) -> NoReturn:
        os.write(1, json.dumps({"end": why}).encode() + b"\n")
        os._exit(0)


def spilled() -> int:
    """The bytes of this process's temporary files, which have no name any more."""
    found = 0
    try:
        names = os.listdir("/dev/fd")
    except OSError:
        return 0
    for name in names:
        with contextlib.suppress(OSError):
            status = os.fstat(int(name))
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                found += status.st_size
    return found


# --- ahead ---


def get_ready(path: list[str], file: str | None, uri: str | None, is_server: bool) -> dict[str, Any]:
    """What the next question would wait for, done ahead; what cannot be done now is done for the question."""
    sys.path[:] = path
    with contextlib.suppress(ImportError, OSError, sqlite3.Error):
        if is_server:
            import psycopg.types.string  # noqa: F401

            import ggn_store.store.sql.resolved  # noqa: F401
        elif file is not None and uri is not None:
            status = os.stat(file)
            connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()  # reads the schema
            return {"ahead": (connection, status)}
    return {}


def _connected(asked: dict[str, Any]) -> sqlite3.Connection:
    """A connection to the file: the one that was made ahead, unless another file is in the place of its own."""
    if "ahead" in asked:
        connection: sqlite3.Connection
        connection, status = asked["ahead"]
        with contextlib.suppress(OSError):
            if os.path.samestat(status, os.stat(asked["file"])):
                return connection
        connection.close()
    return sqlite3.connect(asked["uri"], uri=True, isolation_level=None)


# --- SQLite ---


def ask_sqlite(asked: dict[str, Any], store: bytes, watch: Watch) -> Generator[Row, None, None]:
    """The names of the columns, then the rows."""
    connection = _open_sqlite(asked, store, watch)
    watch.until = time.monotonic() + asked["seconds"]
    denied = _guard(connection, asked)
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
        connection.close()


def _open_sqlite(asked: dict[str, Any], store: bytes, watch: Watch) -> sqlite3.Connection:
    spills = asked["disk"] > 0 and asked["spills"]
    try:
        if asked["file"] is None:
            connection = sqlite3.connect(":memory:", isolation_level=None)
            connection.deserialize(store)
        elif asked["copies"]:
            connection = _copy(asked)
        else:
            connection = _connected(asked)
            # Waits for a writer as long as the question may take.
            connection.execute(f"PRAGMA busy_timeout = {round(asked['seconds'] * 1000)}")
        # trusted_schema stays on: some SQLites take json_extract in a view for unsafe without it. What views call is
        # held to the same list of functions as what the question calls.
        temporary = "FILE" if spills else "MEMORY"
        cache = min(asked["memory"] // 4, _CACHE) >> 10
        # LIKE tells sides of pieces apart, as in other databases.
        for pragma in (f"temp_store = {temporary}", f"cache_size = -{cache}", "case_sensitive_like = ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(f"PRAGMA hard_heap_limit = {asked['memory'] + 2 * len(store)}")
        before = spilled()
        limit_files(before + asked["disk"])
        watch.disk = before + asked["disk"]
        _make(connection, asked["given"])
        connection.execute("PRAGMA query_only = ON")
        if asked["file"] is not None and not asked["copies"]:
            connection.execute("BEGIN")
        # What SQLite looks up in its schema it looks up before anything is refused.
        connection.execute("SELECT count(*) FROM v_rulesets, json_each('[]'), json_tree('[]')").fetchall()
        if connection.in_transaction:
            watch.shares(asked["file"])
    except (sqlite3.Error, OSError) as error:
        raise Wrong("store", str(error)) from None
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    return connection


def _make(connection: sqlite3.Connection, given: Sequence[dict[str, Any]]) -> None:
    """Make what is given with a question: temporary tables, which only this connection has."""
    for each in given:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in each["columns"])
        connection.execute(f'CREATE TEMP TABLE "{each["name"]}" ({columns})')
        values = ", ".join("?" * len(each["columns"]))
        connection.executemany(f'INSERT INTO temp."{each["name"]}" VALUES ({values})', each["rows"])  # noqa: S608


def _copy(asked: dict[str, Any]) -> sqlite3.Connection:
    from ggn_store.store.database import copying

    until = time.monotonic() + asked["seconds"]
    with contextlib.closing(sqlite3.connect(asked["uri"], uri=True, timeout=asked["seconds"])) as source:
        source.execute("SELECT count(*) FROM sqlite_master").fetchall()
        try:
            connection = copying.copied(source, until)
        except TimeoutError:
            raise Cut("deadline") from None
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) in (*_ABOUT_ROOM, sqlite3.SQLITE_CANTOPEN):
                raise Cut("copy") from None
            raise
    asked["seconds"] = until - time.monotonic()
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
    given = frozenset(each["name"] for each in asked["given"])
    denied: list[str] = []

    def allow(action: int, first: str | None, second: str | None, database: str | None, _inside: str | None) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            table = str(first).lower()
            # What is only counted has no database, a name that WITH gives as little as a table.
            is_counted = not second and database is None and not table.startswith(("sqlite_", "pragma_"))
            if table in (given if database == "temp" else tables if database in ("main", None) else ()) or is_counted:
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
    if code in _ABOUT_ROOM:
        return Cut(_ABOUT_ROOM[code])
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
    kind = "syntax" if code is not None else "value"  # without a code, it is of the module, which binds values
    return Wrong(kind, message, _place(connection, query, message))


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
    import psycopg
    from psycopg.types.string import TextLoader

    connection: Any = None
    end = time.monotonic() + asked["seconds"]
    limit_files(0)
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
        if error.sqlstate == "53400":  # temp_file_limit
            raise Cut("disk") from None
        if "memory" in str(error) and error.sqlstate in (None, "53200"):  # in the driver's words, or the server's
            raise Cut("memory") from None
        raise _refusal(error, asked) from None
    finally:
        if connection is not None:
            connection.close()  # which undoes whatever a session can have set or taken


def _stream(cursor: Any, asked: dict[str, Any]) -> Iterator[Row]:
    import psycopg
    from psycopg.adapt import PyFormat, Transformer

    from ggn_store.store.sql import resolved

    connection = cursor.connection
    cursor.execute("; ".join(asked["settings"]))
    # Which not every server can.
    with contextlib.suppress(psycopg.Error), connection.transaction():
        cursor.execute("SET LOCAL client_connection_check_interval = '1s'")
    values = Transformer(connection)
    given = values.dump_sequence(asked["values"], [PyFormat.TEXT] * len(asked["values"]))
    allowed = resolved.Allowed(*map(frozenset, asked["allowed"]))
    try:
        resolved.prepare(cursor, asked["query"], asked["words"], values.types or (), allowed, asked["after"])
    except resolved.NotAllowed as wrong:
        at = None if wrong.position is None else wrong.position + len(asked["explain"])
        raise Wrong(wrong.kind, wrong.message, at, wrong.name) from None
    if asked["explain"]:
        texts = ", ".join("NULL" if each is None else _quoted(bytes(each).decode()) for each in given)
        cursor.execute(f"{asked['explain']} EXECUTE {resolved.NAME.decode()}" + (f" ({texts})" if texts else ""))
        yield [column.name for column in cursor.description]
        yield from ([plain(value) for value in row] for row in cursor)
        return
    # What has been prepared, row by row: nobody asks the server for more before these are taken.
    pgconn = connection.pgconn
    pgconn.send_query_prepared(resolved.NAME, given, param_formats=values.formats)
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
            yield [plain(value) for value in rows.load_row(row, tuple)]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def plain(value: Any) -> Any:
    """A value of a typed database as the answer has it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    from decimal import Decimal

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
        return [plain(each) for each in value]
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


def read(rows: Iterator[Row], most_rows: int, most_bytes: int, answer: list[str]) -> None:
    """Put columns and rows, up to so many, into `answer`, line by line."""
    written = counted = size = 0
    part: list[str] = []
    answer.append(json.dumps({"columns": next(rows)}))
    try:
        for row in rows:
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
                answer.append('{"rows":[' + ",".join(part) + "]}")
                part, size = [], 0
    finally:
        if part:
            answer.append('{"rows":[' + ",".join(part) + "]}")


def _asked(asked: dict[str, Any], store: bytes, watch: Watch) -> Generator[Row, None, None]:
    """The names of the columns, then the rows, of whatever is asked."""
    if asked["engine"] is not None:
        import importlib

        # Its module raises what this one catches.
        sys.modules["ggn_store.store.sql.child"] = sys.modules[__name__]
        found: Generator[Row, None, None] = importlib.import_module(asked["engine"]).ask(asked, watch)
        return found
    return ask_sqlite(asked, store, watch) if asked["connection"] is None else ask_postgres(asked)


def main() -> None:
    """Ask what standard input says; the answer is written once it has been read, and nobody waits for it to be."""
    ready = get_ready(*json.loads(sys.argv[3])) if sys.argv[3:] else {}
    line = sys.stdin.buffer.readline()
    watch = Watch(int(sys.argv[1]), sys.argv[2])
    if not line:  # whoever was to ask is gone
        watch.clear()
        return
    watch.start()
    asked = json.loads(line) | ready
    sys.path[:] = asked["path"]
    store = sys.stdin.buffer.read()
    limit_process(asked["seconds"] * asked["threads"], asked["memory"] + asked["beside"] + 2 * len(store))
    answer: list[str] = []
    end: dict[str, Any] = {"end": None}
    try:
        with contextlib.closing(_asked(asked, store, watch)) as rows:
            read(rows, asked["rows"], asked["bytes"], answer)
    except Cut as cut:
        end = {"end": str(cut)}
    except Wrong as wrong:
        end = {"wrong": wrong.data}
    except MemoryError:
        end = {"end": "memory"}
    except KeyboardInterrupt:
        sys.exit(130)
    watch.stop()
    with contextlib.suppress(BrokenPipeError):
        for line in (*answer, json.dumps(end)):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()
    os._exit(0)  # to take all down in order would take as long as to answer
