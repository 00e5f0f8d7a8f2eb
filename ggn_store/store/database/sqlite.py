"""SQLite: a file, or memory."""

from __future__ import annotations

import functools
import os
import random
import sqlite3
import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    ExceptionContext,
    FromClause,
    Select,
    Table,
    TextClause,
    bindparam,
    column,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy import values as values_of
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from ggn_store.errors import StoreError
from ggn_store.store.database.engine import (
    WRITE,
    ChangeSignal,
    Database,
    Filled,
    Rows,
    RowSelect,
    cause,
    quoted,
    quoted_names,
    refusal,
)

if TYPE_CHECKING:
    from ggn_store.store.database.definitions import Definitions, Seals

# A writer waits this long for others to finish before it gives up with a clear message.
BUSY_SECONDS = 120
_ROWS_A_STATEMENT = (500, 100, 20)
# Rows of a relation in one statement: as many as there are up to the first of these numbers, else one of them.
_ASKED = (32, 48, 64, 96, 128, 192, 256, 400)


class SQLite(Database):
    """A file, or memory. Writers take the lock when they begin: a deferred one would fail instead of waiting."""

    name = "sqlite"
    groups_by_hash = False
    insert = staticmethod(sqlite.insert)
    is_server = False

    def __init__(self, url: URL) -> None:
        if sqlite3.sqlite_version_info < (3, 35):
            raise StoreError(f"SQLite 3.35 or newer is needed; this Python has {sqlite3.sqlite_version}")
        super().__init__(url)

    @functools.cached_property
    def path(self) -> Path | None:
        """The file, or None for a store in memory."""
        name = self.url.database
        if name in (None, "", ":memory:") or self.url.query.get("mode") == "memory":
            return None
        return Path(str(name).removeprefix("file:") if "uri" in self.url.query else str(name))

    @property
    def file(self) -> Path | None:
        return self.path

    def stamp(self) -> list[int] | None:
        if self.path is None:
            return None
        try:
            with self.path.open("rb") as stream:
                status, head = os.fstat(stream.fileno()), stream.read(100)
        except OSError:
            return None
        # Every transaction that changes the file adds 1 to the counter in its head.
        counter = int.from_bytes(head[24:28])
        return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, counter]

    def create(self, fill: Callable[[Database], Filled]) -> Filled | None:
        if self.path is None:
            return self._copy_made(fill)
        # The other forms of address are not taken apart.
        if self.path.exists():
            return None
        if self.url.query:
            if self.url.query.get("mode") in (None, "rwc"):
                self._make()
            return None
        from ggn_store.store.database import spill

        with spill.beside(self.path) as place:
            if place.path is None:
                return None  # which SQLite will say better of the file itself
            part = Path(place.path, "store")
            try:
                with closing(_Beside(self, part)) as beside:
                    found = fill(beside)
                    beside.vacuum()  # migrations take away what earlier ones made
                part.chmod(0o600)
                # Unlike a change of name this leaves alone what somebody else has made meanwhile.
                os.link(part, self.path)
            except OSError:  # that, or a file system without links
                self._make()
                return None
        return found

    def _copy_made(self, fill: Callable[[Database], Filled]) -> Filled | None:
        """Fill a new store in memory as the first one of this process was: to copy takes a tenth of the time."""
        can_copy = hasattr(sqlite3.Connection, "deserialize") and not self.url.query
        if not can_copy or self.fetch("SELECT 1 FROM sqlite_master", ()):
            return None
        found: Filled
        found, content = _made(fill)
        pooled = self.engine.raw_connection()
        try:
            driver: Any = pooled.driver_connection
            with closing(sqlite3.connect(":memory:")) as source:
                source.deserialize(content)
                source.backup(driver)
        finally:
            pooled.close()
        return found

    def _make(self) -> None:
        """Make an empty file for nobody else to read, which SQLite would make as the umask says."""
        with suppress(OSError):  # which SQLite says better
            os.close(os.open(str(self.path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def discard(self, tables: Iterable[str]) -> None:
        if self.path is None:
            return
        asked = " UNION ALL ".join(f'SELECT EXISTS (SELECT 1 FROM "{name}")' for name in tables)  # noqa: S608
        # Where somebody is at work in it, it stays. Who has only opened it is told by SQLite that it is gone, and
        # commits nothing; which SQLite only sees where there is a rollback journal.
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(self.path, 0, isolation_level=None)) as opened:
            opened.execute("BEGIN EXCLUSIVE")
            [journal] = opened.execute("PRAGMA journal_mode").fetchone()
            if journal == "delete" and not any(is_filled for (is_filled,) in opened.execute(asked)):
                self.path.unlink()

    @contextmanager
    def snapshot(self) -> Iterator[Database]:
        copy = self if self.path is None else self._copy()
        try:
            yield copy
        finally:
            if copy is not self:
                copy.close()

    def _copy(self) -> SQLite:
        """A private copy; this database where none can be made, which then says itself what is wrong with it."""
        from ggn_store.store.database import copying

        with self.explained(), closing(self._connect_directly()) as source:
            try:
                made = copying.copied(source, time.monotonic() + BUSY_SECONDS, check_same_thread=False)
            except (sqlite3.Error, TimeoutError):
                return self
        copy = _Copy(self.url, made)
        copy.naming = self.naming
        return copy

    def _create_engine(self, url: URL, **options: Any) -> Engine:
        # A store in memory lives in its one connection, which threads take in turns.
        pool = {} if self.path else {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0}
        engine = create_engine(
            url,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
            pool_timeout=BUSY_SECONDS,
            **pool,
            **options,
        )
        event.listen(engine, "connect", self._on_connect)
        event.listen(engine, "begin", self._on_begin)
        if self.path is None:
            event.listen(engine, "handle_error", self._keep_connection)
        return engine

    @staticmethod
    def _keep_connection(context: ExceptionContext) -> None:
        # An interrupt would otherwise close the connection, and the store in memory with it.
        context.is_disconnect = False

    @staticmethod
    def _on_connect(connection: sqlite3.Connection, _record: object) -> None:
        # The driver must not begin transactions by itself: it would leave DDL outside of them.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        # Also after the journal is gone: were its name to come back with a loss of power, it would undo the commit.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -65536")

    @staticmethod
    def _on_begin(connection: Connection) -> None:
        if not connection.get_execution_options().get(WRITE, False):
            connection.exec_driver_sql("BEGIN")
            return
        driver: Any = connection.connection.driver_connection
        begun = time.monotonic()
        driver.execute("PRAGMA busy_timeout = 0")
        try:
            while (waited := time.monotonic() - begun) < BUSY_SECONDS and not _begins(driver):
                time.sleep(_pause(waited))
            if not driver.in_transaction:
                connection.exec_driver_sql("BEGIN IMMEDIATE")  # and say what is wrong
        finally:
            driver.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")

    def _explain_error(self, error: BaseException | None) -> str:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
            return "the file was removed or renamed meanwhile; nothing was stored: try again"
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if (refused := refusal(error)) is not None:
            return refused
        if str(error).startswith("no such table"):  # of which SQLite has no code
            return "a table is missing: run `ggn-store db info`"
        return {
            sqlite3.SQLITE_BUSY: f"other processes have kept the file busy for {BUSY_SECONDS} seconds; try again later",
            sqlite3.SQLITE_LOCKED: "another connection is using the tables; try again",
            sqlite3.SQLITE_FULL: "the disk is full; nothing was stored: make room and try again",
            sqlite3.SQLITE_IOERR: "the file cannot be read or written (full disk, file size limit or a fault of the "
            "device); nothing was stored",
            sqlite3.SQLITE_READONLY: "the file is read-only for you; nothing was stored",
            sqlite3.SQLITE_CANTOPEN: "the file cannot be opened: see that its directory exists and is yours to write",
            sqlite3.SQLITE_NOTADB: "the file is not a SQLite database",
            sqlite3.SQLITE_CORRUPT: "the file is damaged: restore it from a backup",
        }.get(code, f"SQLite refused: {error}: `ggn-store db check` says whether the file is damaged")

    def fetch(self, statement: str, values: Any) -> list[Any]:
        if self.path is not None:
            return super().fetch(statement, values)
        with self.explained():  # the one connection, in its turn
            pooled = self.engine.raw_connection()
            try:
                return self._run(pooled.driver_connection, statement, values)
            finally:
                pooled.close()

    def serialized(self) -> bytes:
        """The bytes of a store in memory, as a file would have them."""
        with self.reading() as connection:
            driver: Any = connection.connection.driver_connection
            content: bytes = driver.serialize()
        return content

    def _run(self, connection: Any, statement: str, values: Any) -> list[Any]:
        rows: list[Any] = connection.execute(statement, values).fetchall()
        return rows

    def ask(self, asked: RowSelect, rows: Sequence[tuple[int, ...]], connection: Connection | None = None) -> list[Any]:
        found: list[Any] = []
        for begin in range(0, len(rows), _ASKED[-1]):
            part = rows[begin : begin + _ASKED[-1]]
            count = len(part)
            if count > _ASKED[0]:  # few statements for many; nothing has the key 0
                count = _ASKED[bisect_left(_ASKED, count)]
                part = [*part, *[(0,) * len(asked.columns)] * (count - len(part))]
            found += self._fetched(self._text(asked, count), tuple(chain.from_iterable(part)), connection)
        return found

    def _relation(self, columns: Sequence[str], count: int) -> FromClause:
        rows = [tuple(bindparam(f"{name}_{i}", type_=BigInteger) for name in columns) for i in range(count)]
        # As values of a CTE, a tenth faster than IN.
        return values_of(*(column(name, BigInteger) for name in columns)).data(rows).cte("asked")

    def _text(self, asked: RowSelect, count: int) -> str:
        if count == 1:
            return super()._text(asked, 1)
        text = self._statements.get((asked, count))
        if text is None:
            # To compile hundreds of rows takes longer than to ask for them.
            row = f"({', '.join('?' * len(asked.columns))})"
            text = self._text(asked, 1).replace(row, ", ".join([row] * count), 1)
            self._statements[asked, count] = text
        return text

    def _bound(self, columns: Sequence[str], rows: Sequence[tuple[int, ...]]) -> dict[str, Any]:
        return {f"{name}_{i}": value for i, row in enumerate(rows) for name, value in zip(columns, row, strict=True)}

    def identity(self, connection: Connection) -> Hashable:
        if self.path is None:
            return id(self)
        status = self.path.stat()
        return status.st_dev, status.st_ino

    def version(self, connection: Connection) -> str:
        return f"SQLite {connection.execute(text('SELECT sqlite_version()')).scalar_one()}"

    def fill(self, connection: Connection, columns: Iterable[Column[Any]], rows: Rows) -> None:
        table, names = quoted_names(columns)
        width = len(names)
        driver: Any = connection.connection.driver_connection
        most = driver.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width
        most, *fewer = (min(size, most) for size in _ROWS_A_STATEMENT)
        rows = iter(rows)
        # Rows that share a statement take half the time of as many statements.
        while len(values := tuple(chain.from_iterable(islice(rows, most)))) == most * width:
            driver.execute(insertion(table, *names, rows=most), values)
        start = 0
        for size in fewer:
            while start + size * width <= len(values):
                driver.execute(insertion(table, *names, rows=size), values[start : start + size * width])
                start += size * width
        if start < len(values):
            rest = [values[at : at + width] for at in range(start, len(values), width)]
            driver.executemany(insertion(table, *names, rows=1), rest)

    def arrays(self, table: Table, where: ColumnElement[bool]) -> Select[Any]:
        # A table that is its primary key's index is read in that order.
        first, *others = table.columns
        return select(first, func.count(), *map(func.json_group_array, others)).where(where).group_by(first)

    def checksums(self, table: Table, key: ColumnElement[int]) -> list[ColumnElement[Any]]:
        # JSON tells NULL, numbers and texts apart, and cannot hold bytes.
        return [func.json_group_array(each) for each in table.columns if each is not key]

    def analyze(self, connection: Connection, table: Table) -> None:
        connection.exec_driver_sql(f"ANALYZE temp.{table.name}")

    def plan(self, connection: Connection, query: Select[Any] | TextClause) -> list[str]:
        statement = query.compile(self.engine, compile_kwargs={"literal_binds": True})
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}").all()
        depth = {0: -1}
        lines = []
        for identifier, parent, _, detail in rows:
            depth[identifier] = depth.get(parent, -1) + 1
            lines.append("  " * depth[identifier] + str(detail))
        return lines

    def integrity(self, connection: Connection, beside: Collection[str] = ()) -> list[str]:
        names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
        parts = [f"({quoted(name)})" for name in names if name not in beside] if beside else [""]

        def said(pragma: str) -> list[Any]:
            return [row for part in parts for row in connection.exec_driver_sql(f"PRAGMA {pragma}{part}").all()]

        found = [str(row[0]) for row in said("integrity_check") if row[0] != "ok"]
        broken = said("foreign_key_check")
        return found + [f"table {row[0]}: a row refers to a row of {row[2]} that is not there" for row in broken]

    def misfits(self, beside: Collection[str] = ()) -> list[str]:
        if self.path is None:  # nobody else could write to it, and its one connection may be in use
            return []
        with suppress(SQLAlchemyError, ValueError, sqlite3.Error), closing(self._connect_directly()) as connection:
            return _misfits(connection, beside)
        return []

    def definitions(self, connection: Connection, seals: Seals) -> Definitions:
        from ggn_store.store.database import sqlite_definitions

        return sqlite_definitions.definitions(connection)

    def transactions(self, connection: Connection) -> tuple[int, int]:
        return 0, 0  # there is one at a time

    def changes(self) -> ChangeSignal:
        if self.path is None:
            return ChangeSignal()
        with self.explained():
            return _FileChanges(self, self._connect_directly())

    def is_passing(self, error: StoreError) -> bool:
        return getattr(cause(error), "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY

    def free(self, connection: Connection) -> int | None:
        pages, size = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("freelist_count", "page_size")
        )
        return int(pages * size)

    def vacuum(self) -> None:
        if self.path is None:
            raise StoreError(f"{self}: the store is in memory, there is no file to make smaller")
        with self.explained():
            connection = self._connect_directly()
            try:
                connection.execute("VACUUM")
            finally:
                connection.close()


@functools.cache
def _made(fill: Callable[[Database], Filled]) -> tuple[Filled, bytes]:
    """What `fill` makes of a database, and what it returns."""
    first = SQLite(URL.create("sqlite"))
    try:
        return fill(first), first.serialized()
    finally:
        first.close()


# What SQLite says of the type of a value, by the type that our tables declare.
_TYPES = dict.fromkeys(("INTEGER", "BIGINT", "BOOLEAN"), "integer") | dict.fromkeys(("TEXT", "DATETIME"), "text")


def _misfits(connection: sqlite3.Connection, beside: Collection[str]) -> list[str]:
    """Of each column that holds a value of another type than it declares, the first one."""
    found: list[str] = []
    # What cannot be read at all is said better of what was to be read.
    with suppress(sqlite3.Error, ValueError):
        found.extend(_misfits_of_columns(connection, beside))
    return found


def _misfits_of_columns(connection: sqlite3.Connection, beside: Collection[str]) -> Iterator[str]:
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        if table in beside:
            continue
        columns = connection.execute("SELECT name, type, [notnull], pk FROM pragma_table_info(?)", (table,)).fetchall()
        key = " || ', ' || ".join(f'quote("{name}")' for name, _, _, pk in columns if pk)
        for name, declared, is_required, _ in columns:
            wanted = _TYPES.get(declared)
            allowed = (wanted,) if is_required else (wanted, "null")
            if wanted is None or not key:
                continue
            # Identifiers come from the tables.
            query = f'''SELECT {key}, typeof("{name}") FROM "{table}" WHERE typeof("{name}") NOT IN (?, ?) LIMIT 1'''  # noqa: S608
            for row, kind in connection.execute(query, (allowed[0], allowed[-1])):
                yield f"table {table}: {name} of the row {row} is {kind}, not {wanted}"


class _Beside(SQLite):
    """The file that is to become a new store once its tables are made; it is spoken of as that store."""

    def __init__(self, store: SQLite, part: Path) -> None:
        super().__init__(store.url.set(database=str(part)))
        self._store = store

    def __str__(self) -> str:
        return str(self._store)


class _Copy(SQLite):
    """A copy of a file, in the one connection that has it."""

    path = None

    def __init__(self, url: URL, connection: sqlite3.Connection) -> None:
        self._connection = connection
        super().__init__(url)

    def misfits(self, beside: Collection[str] = ()) -> list[str]:
        return _misfits(self._connection, beside)

    def _create_engine(self, url: URL, **options: Any) -> Engine:
        connection = self._connection
        return super()._create_engine(url, creator=lambda: connection, **options)


class _FileChanges(ChangeSignal):
    """A SQLite file, which is looked at: its version changes with every change that another connection makes."""

    def __init__(self, database: SQLite, connection: sqlite3.Connection) -> None:
        self._database = database
        self._connection = connection
        self._version = self._look()

    def _look(self) -> int:
        with self._database.explained():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def wait(self, seconds: float) -> bool:
        time.sleep(seconds)
        before, self._version = self._version, self._look()
        return before != self._version

    def close(self) -> None:
        self._connection.close()


def _begins(connection: sqlite3.Connection) -> bool:
    """Whether a writing transaction could begin; False where somebody else's has."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _pause(waited: float) -> float:
    """How many seconds to pause before the next look at a file that others write, after so many of waiting.

    SQLite itself pauses longer and longer, so that who comes last looks most often, and is the next to write. Here it
    is who has waited longest. By chance, or some would always look at the same time. Unlike SQLite's pauses, these end
    with Ctrl-C.
    """
    return random.uniform(0.5, 1.5) * max(0.0005, 0.02 / (1 + 20 * waited))  # noqa: S311


@functools.cache
def insertion(table: str, *names: str, rows: int) -> str:
    """The statement that inserts so many rows; the driver takes values as they are."""
    row = f"({', '.join('?' * len(names))})"
    # Identifiers come from our own tables.
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"  # noqa: S608
