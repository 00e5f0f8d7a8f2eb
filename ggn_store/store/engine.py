"""Connections: SQLite and Postgres behind one face, each with what it needs to be safe.

What differs between the two databases is in their two classes and nowhere else.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import sqlite3
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from sqlalchemy import (
    CTE,
    URL,
    BigInteger,
    Column,
    ColumnElement,
    Compiled,
    Connection,
    Engine,
    ExceptionContext,
    FromClause,
    Integer,
    Select,
    Table,
    Text,
    TextClause,
    any_,
    bindparam,
    cast,
    column,
    create_engine,
    event,
    func,
    literal,
    literal_column,
    make_url,
    select,
    text,
)
from sqlalchemy import values as values_of
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from ggn_store.errors import UNSTORABLE, GgnStoreError, StoreError, printable, quote

Rows = Iterable[Sequence[Any]]

# The roles of a Postgres server that members read with, load with, and tag, hide and remove with.
READER, AUTHOR, ADMIN = ROLES = ("ggn_reader", "ggn_author", "ggn_admin")

# A writer waits this long for others to finish before it gives up with a clear message.
BUSY_SECONDS = 120
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+]+:")
_ROWS_A_STATEMENT = (500, 100, 20)
_ROWS_A_BLOCK = 2_000
_WRITE = "ggn_store_write"
_OURS = "ggn_store: "
_CHANNEL = "ggn_store"  # which the triggers of the audit notify
_IS_REPLICA = "25006"
_START = "asked_"
# A question is a few seeks in an index. The planner does not know how few, and on its own reads whole tables.
_SEEKING = "; ".join(f"SET {name} = off" for name in ("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"))
_SECRETS = ("password", "sslpassword", "passfile")
_FORMS = "sqlite:///file.db, a file's name, or postgresql://user@host/database"


@dataclass(frozen=True, slots=True)
class Prepared:
    """The text of a SELECT, and what puts a position's starts and other values where the driver takes them."""

    text: str
    arrange: Callable[[Sequence[int], Sequence[Any]], Any]


class Database(ABC):
    """An engine with the two kinds of transaction that a store knows, and a short way for questions."""

    name: ClassVar[str]

    insert: ClassVar[Any]
    """The dialect's INSERT, which has `on_conflict_do_nothing`."""

    is_server: ClassVar[bool]
    """Whether questions travel, and several write at a time; else a writing transaction keeps all others out."""
    _reading_options: ClassVar[dict[str, Any]] = {}

    def __init__(self, url: URL) -> None:
        self.url = url
        self.engine = self._create_engine(url)
        self._idle: list[Any] = []
        self._statements: dict[Hashable, Prepared] = {}
        # Rulesets outlive their store; the connections go when the last of them is gone.
        weakref.finalize(self, _close, self.engine, self._idle, self._give_up)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only asks, and sees one state of the store throughout.

        It is rolled back, and temporary tables made in it with it.
        """
        with (
            self._translated(),
            self.engine.connect().execution_options(**self._reading_options) as connection,
            connection.begin() as transaction,
        ):
            yield connection
            transaction.rollback()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed as a whole, or leaves nothing."""
        with (
            self._translated(),
            self.engine.connect().execution_options(**{_WRITE: True}) as connection,
            connection.begin(),
        ):
            yield connection

    def explained(self) -> AbstractContextManager[None]:
        """What goes wrong within is told as this database's, also in another one's transaction."""
        return self._translated()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except GgnStoreError:
            raise
        except DBAPIError as error:
            raise StoreError(f"{self}: {self._explain_error(error.orig)}") from error
        except self._driver_error as error:  # of COPY, which SQLAlchemy knows nothing of
            raise StoreError(f"{self}: {self._explain_error(error)}") from error
        except PoolTimeoutError:
            raise StoreError(f"{self}: all connections are in use; try again") from None
        except (ValueError, LookupError) as error:
            raise StoreError(
                f"{self}: the store holds something that this program never writes ({error}): run `ggn-store db check`"
            ) from error

    @property
    def _driver_error(self) -> type[Exception]:
        driver: Any = self.engine.dialect.loaded_dbapi
        base: type[Exception] = driver.Error
        return base

    def __str__(self) -> str:
        """The address, without its password."""
        url = self.url.set(drivername=self.url.get_backend_name()).difference_update_query(_SECRETS)
        return printable(url.render_as_string(hide_password=True))

    def close(self) -> None:
        """Give all connections back."""
        _close(self.engine, self._idle, self._give_up)

    # --- the short way: one SELECT, on a connection of the driver's own and in no transaction ---

    def fetch(self, statement: str, values: Any) -> list[Any]:
        """The rows of a SELECT. Safe to use from several threads."""
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._fetch_anew(statement, values)
        try:
            rows = self._run(connection, statement, values)
        except BaseException as error:
            was_lost = self._is_lost(connection)
            self._give_up(connection)
            if was_lost and isinstance(error, self._driver_error):
                return self._fetch_anew(statement, values)
            self._fail(error)
        self._idle.append(connection)
        return rows

    def _fetch_anew(self, statement: str, values: Any) -> list[Any]:
        """Like `fetch`, on a new connection."""
        with self._translated():
            connection = self._connect_directly()
        try:
            rows = self._run(connection, statement, values)
        except BaseException as error:
            self._give_up(connection)
            self._fail(error)
        self._idle.append(connection)
        return rows

    def _fail(self, error: BaseException) -> NoReturn:
        if isinstance(error, self._driver_error):
            raise StoreError(f"{self}: {self._explain_error(error)}") from error
        raise error

    def _is_lost(self, connection: Any) -> bool:
        """Whether the server has closed a connection, perhaps while it was idle."""
        return False

    def rows(self, connection: Connection, query: Select[Any], **values: int) -> list[Any]:
        """The rows of a SELECT, as the driver gives them, in the transaction that is open."""
        prepared = self.prepare(query, lambda: query, tuple(values))
        arranged = prepared.arrange((), tuple(values.values()))
        return self._run(self._handle(connection.connection.driver_connection), prepared.text, arranged)

    def prepare(self, key: Hashable, make: Callable[[], Select[Any]], names: Sequence[str]) -> Prepared:
        """The statement of this key, made the first time; `names` are those of its values beside the starts."""
        prepared = self._statements.get(key)
        if prepared is None:
            prepared = self._statements[key] = self._prepare(make().compile(dialect=self.engine.dialect), names)
        return prepared

    def _connect_directly(self) -> Any:
        pooled = self.engine.raw_connection()
        connection = pooled.driver_connection
        pooled.detach()
        return self._handle(connection)

    def _handle(self, connection: Any) -> Any:
        """What runs statements on a connection of the driver's."""
        return connection

    @staticmethod
    def _give_up(handle: Any) -> None:
        """Close the connection of a handle."""
        handle.close()

    @abstractmethod
    def _run(self, connection: Any, statement: str, values: Any) -> list[Any]: ...

    @abstractmethod
    def _prepare(self, compiled: Compiled, names: Sequence[str]) -> Prepared: ...

    @abstractmethod
    def asked(self, query: Select[Any], start: Column[int], count: int) -> Select[Any]:
        """`query` for rows whose `start` is one of so many bound values."""

    @abstractmethod
    def asked_values(self, starts: Sequence[int]) -> dict[str, Any]:
        """The bound values of `asked` by name."""

    @abstractmethod
    def listed(self, values: Sequence[str | None]) -> Any:
        """A list of piece identifiers as one text, which `piece_at` takes apart; None may come out as an empty text."""

    @abstractmethod
    def _create_engine(self, url: URL) -> Engine: ...

    @abstractmethod
    def _explain_error(self, error: BaseException | None) -> str:
        """What the driver's error means, and what to do about it."""

    @property
    def role(self) -> str | None:
        """The user as whom the database knows this program; None where it knows none."""
        return None

    def is_about_a_value(self, error: DBAPIError) -> bool:
        """Whether the driver only stumbled over a stored value that is not of its column's type."""
        return False

    def may_restore(self, connection: Connection) -> bool:
        """Whether this user may bring a deleted ruleset back."""
        return True

    @functools.cached_property
    def makes_tables(self) -> bool:
        """Whether a question may have temporary tables: not of a replica, nor without the right to.

        Where it may not, its rows travel as values, by `sent` and `sent_row`.
        """
        return True

    def sent(self, connection: Connection, columns: Sequence[Column[Any]], rows: Rows) -> CTE:
        """Rows for these columns of a temporary table, as a relation of its name that is part of the statement."""
        raise NotImplementedError(f"{self.name} makes tables")

    def sent_row(self, table: Table, rows: Rows, key: Sequence[ColumnElement[Any]]) -> FromClause:
        """The columns beside its key, all of text, of that row for a temporary table which has `key`, or NULL.

        What `sent` gives has no index. This is for where every row of another relation looks up one.
        """
        raise NotImplementedError(f"{self.name} makes tables")

    @abstractmethod
    def identity(self, connection: Connection) -> Hashable:
        """What two addresses of one database have in common, and no other database has."""

    @abstractmethod
    def version(self, connection: Connection) -> str:
        """Name and version of the database engine."""

    @abstractmethod
    def lock_schema(self, connection: Connection) -> None:
        """Keep other upgrades out until the transaction ends."""

    @abstractmethod
    def lock_pieces(self, connection: Connection, alone: bool) -> None:
        """Write pieces beside others who do, in one order, or `alone` and in any; until the transaction ends."""

    @abstractmethod
    def fill(self, connection: Connection, columns: Iterable[Column[Any]], rows: Rows) -> None:
        """Insert many rows, given as tuples in the order of these columns of one table."""

    @abstractmethod
    def analyze(self, connection: Connection, table: Table) -> None:
        """Tell the planner how large a temporary table is."""

    @abstractmethod
    def plan(self, connection: Connection, query: Select[Any] | TextClause) -> list[str]:
        """The database's own plan for a query, line by line."""

    @abstractmethod
    def integrity(self, connection: Connection) -> list[str]:
        """What the database engine itself finds wrong with its files."""

    @abstractmethod
    def guards(self, connection: Connection) -> set[tuple[str, str]]:
        """Table and name of every trigger that is there and not disabled."""

    @abstractmethod
    def transactions(self, connection: Connection) -> tuple[int, int]:
        """Two numbers of transactions: all below the first have ended, none from the second on has begun to write."""

    @abstractmethod
    def changes(self) -> Changes:
        """What tells, from now on, when others have changed the store; to be closed."""

    def is_passing(self, error: StoreError) -> bool:
        """Whether the same question may be answered a little later: the server restarts, the file is busy."""
        return False

    def free(self, connection: Connection) -> int | None:
        """How many bytes of the store's file are unused; None where the database sees to that by itself."""
        return None

    @abstractmethod
    def vacuum(self) -> None:
        """Give the unused bytes of the file back; raises StoreError where there is no file."""


class Changes:
    """Tells when a store has changed; this one where nothing tells of changes, so there may always have been one."""

    def wait(self, seconds: float) -> bool:
        """Wait for a change, no longer than this, and tell whether there may have been one."""
        time.sleep(seconds)
        return True

    def close(self) -> None:
        """Give the connection back, if there is one."""


class SQLite(Database):
    """A file, or memory. Writers take the lock when they begin: a deferred one would fail instead of waiting."""

    name = "sqlite"
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

    def _create_engine(self, url: URL) -> Engine:
        # A store in memory lives in its one connection, which threads take in turns.
        pool = {} if self.path else {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0}
        engine = create_engine(
            url,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
            pool_timeout=BUSY_SECONDS,
            **pool,
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
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -65536")

    @staticmethod
    def _on_begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(_WRITE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    def _explain_error(self, error: BaseException | None) -> str:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if (refusal := _refusal(error)) is not None:
            return refusal
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
        }.get(code, f"SQLite refused: {error}")

    def is_about_a_value(self, error: DBAPIError) -> bool:
        # The module's own complaint (text that is not UTF-8), which SQLite, and so its error code, knows nothing of.
        return isinstance(error.orig, sqlite3.OperationalError) and not hasattr(error.orig, "sqlite_errorcode")

    def fetch(self, statement: str, values: Any) -> list[Any]:
        if self.path is not None:
            return super().fetch(statement, values)
        with self._translated():  # the one connection, in its turn
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

    def _prepare(self, compiled: Compiled, names: Sequence[str]) -> Prepared:
        marks: list[str] = getattr(compiled, "positiontup")  # noqa: B009
        constants = {name: value for name, value in compiled.params.items() if value is not None}
        given = [*names, *constants]
        fixed = tuple(constants.values())
        places = [given.index(name) for name in marks if not name.startswith(_START)]

        pick: Callable[[Sequence[Any]], Sequence[Any]] = (
            itemgetter(*places) if len(places) > 1 else lambda values: [values[place] for place in places]
        )
        if fixed:
            return Prepared(str(compiled), lambda starts, values: (*starts, *pick((*values, *fixed))))
        return Prepared(str(compiled), lambda starts, values: (*starts, *pick(values)))

    def asked(self, query: Select[Any], start: Column[int], count: int) -> Select[Any]:
        # A tenth faster than IN.
        starts = [(bindparam(f"{_START}{i}", type_=BigInteger),) for i in range(count)]
        asked = values_of(column("start", BigInteger)).data(starts).cte("asked")
        return query.join_from(asked, start.table, start == asked.c.start)

    def asked_values(self, starts: Sequence[int]) -> dict[str, Any]:
        return {f"{_START}{i}": start for i, start in enumerate(starts)}

    def listed(self, values: Sequence[str | None]) -> Any:
        return json.dumps(values)

    def identity(self, connection: Connection) -> Hashable:
        if self.path is None:
            return id(self)
        status = self.path.stat()
        return status.st_dev, status.st_ino

    def version(self, connection: Connection) -> str:
        return f"SQLite {connection.execute(text('SELECT sqlite_version()')).scalar_one()}"

    def lock_schema(self, connection: Connection) -> None:
        """Nothing to do: a writing transaction has the whole file."""

    def lock_pieces(self, connection: Connection, alone: bool) -> None:
        """Nothing to do: a writing transaction has the whole file."""

    def fill(self, connection: Connection, columns: Iterable[Column[Any]], rows: Rows) -> None:
        table, names = _names(columns)
        width = len(names)
        driver: Any = connection.connection.driver_connection
        most = driver.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width
        most, *fewer = (min(size, most) for size in _ROWS_A_STATEMENT)
        rows = iter(rows)
        # Rows that share a statement take half the time of as many statements.
        while len(values := tuple(chain.from_iterable(islice(rows, most)))) == most * width:
            driver.execute(_insertion(table, *names, rows=most), values)
        start = 0
        for size in fewer:
            while start + size * width <= len(values):
                driver.execute(_insertion(table, *names, rows=size), values[start : start + size * width])
                start += size * width
        if start < len(values):
            rest = [values[at : at + width] for at in range(start, len(values), width)]
            driver.executemany(_insertion(table, *names, rows=1), rest)

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

    def integrity(self, connection: Connection) -> list[str]:
        found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check").all() if row[0] != "ok"]
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        return found + [f"table {row[0]}: a row refers to a row of {row[2]} that is not there" for row in broken]

    def guards(self, connection: Connection) -> set[tuple[str, str]]:
        named = connection.exec_driver_sql("SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'")
        return {(row[0], row[1]) for row in named}

    def transactions(self, connection: Connection) -> tuple[int, int]:
        return 0, 0  # there is one at a time

    def changes(self) -> Changes:
        if self.path is None:
            return Changes()
        with self._translated():
            return _FileChanges(self, self._connect_directly())

    def is_passing(self, error: StoreError) -> bool:
        return getattr(_cause(error), "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY

    def free(self, connection: Connection) -> int | None:
        pages, size = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("freelist_count", "page_size")
        )
        return int(pages * size)

    def vacuum(self) -> None:
        if self.path is None:
            raise StoreError(f"{self}: the store is in memory, there is no file to make smaller")
        with self._translated():
            connection = self._connect_directly()
            try:
                connection.execute("VACUUM")
            finally:
                connection.close()


class _FileChanges(Changes):
    """A SQLite file, which is looked at: its version changes with every change that another connection makes."""

    def __init__(self, database: SQLite, connection: sqlite3.Connection) -> None:
        self._database = database
        self._connection = connection
        self._version = self._look()

    def _look(self) -> int:
        with self._database._translated():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def wait(self, seconds: float) -> bool:
        time.sleep(seconds)
        before, self._version = self._version, self._look()
        return before != self._version

    def close(self) -> None:
        self._connection.close()


class Postgres(Database):
    """A server; loads go through COPY."""

    name = "postgres"
    insert = staticmethod(postgresql.insert)
    is_server = True
    _reading_options: ClassVar[dict[str, Any]] = {"isolation_level": "REPEATABLE READ"}
    _SCHEMA_LOCK = 0x67676E73  # any numbers that processes of this program agree on
    _PIECES_LOCK = 0x67676E70

    def _create_engine(self, url: URL) -> Engine:
        return create_engine(url, pool_pre_ping=True)

    def _explain_error(self, error: BaseException | None) -> str:
        state = getattr(error, "sqlstate", None) or ""
        known = {
            "28000": "the server refuses this user: see user and password",
            "28P01": "the server refuses this password",
            "3D000": "there is no such database on the server: create it first (createdb)",
            "42P01": "a table is missing: run `ggn-store db info`",
            "25006": "the server is read-only; nothing was stored",
            "53100": "the server's disk is full; nothing was stored",
            "53300": "the server takes no more connections; try again later",
            "40P01": "the server broke a deadlock with another user; nothing was stored: try again",
            "57P01": "the server is shutting down; nothing was stored",
        }.get(state)
        if known is not None:
            return known
        if state == "42501":
            return self._explain_right(error)
        if (refusal := _refusal(error)) is not None:
            return refusal
        detail = next(iter(str(error).strip().splitlines()), type(error).__name__)
        if not state or state.startswith("08"):
            return f"no connection: {detail}"
        return f"Postgres refused ({state}): {detail}"

    def _explain_right(self, error: BaseException | None) -> str:
        """Which role somebody lacks who may not do something; where the server has the roles of a store."""
        said = getattr(getattr(error, "diag", None), "message_primary", None) or "permission denied"
        rights = f"this user may not do that ({said})"
        asked = (
            "SELECT session_user::text, ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY(%(names)s)), "
            "ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY(%(names)s) AND pg_has_role(oid, 'MEMBER'))"
        )
        try:
            handle = self._connect_directly()
            try:
                [(user, roles, own)] = self._run(handle, asked, {"names": [READER, AUTHOR, ADMIN]})
            finally:
                self._give_up(handle)
        except (DBAPIError, self._driver_error):  # not even to connect
            roles = []
        if not roles:
            return f"{rights}: ask for the rights, or connect as another user"
        if ADMIN in own:
            return f"{rights}: it is for the owner of the tables only, not for members of {ADMIN}"
        if AUTHOR in own:
            return f"{rights}: {user} is in {AUTHOR}, and this takes {ADMIN}, or the owner of the tables"
        if READER in own:
            return (
                f"{rights}: {user} is in {READER}, which only reads; to load takes {AUTHOR}, to tag, hide and rebuild "
                f"{ADMIN}: ask an administrator of the server for GRANT {AUTHOR} TO {user}"
            )
        return (
            f"{rights}: {user} is in none of the roles {READER} (to read), {AUTHOR} (to load) and {ADMIN}: "
            f"ask an administrator of the server for GRANT {READER} TO {user}"
        )

    def may_restore(self, connection: Connection) -> bool:
        asked = "SELECT has_column_privilege('ruleset', 'deleted_at', 'UPDATE')"
        return bool(connection.execute(text(asked)).scalar_one())

    def _connect_directly(self) -> Any:
        handle = super()._connect_directly()
        handle.connection.autocommit = True
        handle.connection.execute(_SEEKING)
        return handle

    def _handle(self, connection: Any) -> Any:
        # A cursor for all statements: to make one takes as long as to send a short one.
        return connection.cursor(binary=True)

    @staticmethod
    def _give_up(handle: Any) -> None:
        handle.connection.close()

    @functools.cached_property
    def role(self) -> str | None:
        return str(self.fetch("SELECT session_user", {})[0][0])

    @functools.cached_property
    def makes_tables(self) -> bool:
        asked = (
            "SELECT current_setting('transaction_read_only') = 'off' "
            "AND has_database_privilege(current_database(), 'TEMP')"
        )
        return bool(self.fetch(asked, {})[0][0])

    def sent(self, connection: Connection, columns: Sequence[Column[Any]], rows: Rows) -> CTE:
        # A plan for any values expects a handful of rows, and reads what `sent_row` gives anew for each of them.
        connection.execute(text("SET LOCAL plan_cache_mode = force_custom_plan"))
        # Without the collation, which no cast can have.
        types = {each.name: Text() if isinstance(each.type, Text) else each.type for each in columns}
        lists = zip(*rows, strict=True)
        values = (cast(list(next(lists, ())), postgresql.ARRAY(each)) for each in types.values())
        relation = func.unnest(*values).table_valued(*itertools.starmap(column, types.items()))
        return select(relation.render_derived(name="sent")).cte(columns[0].table.description)

    def sent_row(self, table: Table, rows: Rows, key: Sequence[ColumnElement[Any]]) -> FromClause:
        width = len(key)
        found = {" ".join(map(str, row[:width])): row[width:] for row in rows}
        sent = cast(literal(json.dumps(found)), postgresql.JSONB)
        name = func.concat_ws(" ", *key)
        values = (
            sent[name][literal_column(str(place), Integer)].astext.label(each.name)
            for place, each in enumerate(list(table.columns)[width:])
        )
        return select(*values).correlate_except(None).lateral("here")

    def _is_lost(self, connection: Any) -> bool:
        return bool(connection.connection.closed)

    def _run(self, connection: Any, statement: str, values: Any) -> list[Any]:
        connection.execute(statement, values, prepare=True)
        rows: list[Any] = connection.fetchall()
        return rows

    def _prepare(self, compiled: Compiled, names: Sequence[str]) -> Prepared:
        constants = {name: value for name, value in compiled.params.items() if value is not None}

        def arrange(starts: Sequence[int], values: Sequence[Any]) -> dict[str, Any]:
            # As texts, which the driver hands on as they are; the statement says what they are.
            listed = f"{{{','.join(map(str, starts))}}}"
            return {"starts": listed, **dict(zip(names, map(str, values), strict=True)), **constants}

        return Prepared(str(compiled), arrange)

    def asked(self, query: Select[Any], start: Column[int], count: int) -> Select[Any]:
        return query.where(start == any_(bindparam("starts", type_=postgresql.ARRAY(BigInteger))))

    def asked_values(self, starts: Sequence[int]) -> dict[str, Any]:
        return {"starts": list(starts)}

    def listed(self, values: Sequence[str | None]) -> Any:
        return " ".join(value or "" for value in values)

    def identity(self, connection: Connection) -> Hashable:
        # Two servers may be copies of one, but do not start at the same time.
        asked = "SELECT pg_postmaster_start_time()::text, current_database(), current_schema()"
        return tuple(connection.execute(text(asked)).one())

    def version(self, connection: Connection) -> str:
        return f"PostgreSQL {connection.execute(text('SHOW server_version')).scalar_one()}"

    def lock_schema(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": self._SCHEMA_LOCK})

    def lock_pieces(self, connection: Connection, alone: bool) -> None:
        lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        connection.execute(text(f"SELECT {lock}(:key)"), {"key": self._PIECES_LOCK})

    def fill(self, connection: Connection, columns: Iterable[Column[Any]], rows: Rows) -> None:
        table, names = _names(columns)
        rows = iter(rows)
        chunk = list(islice(rows, _ROWS_A_BLOCK))
        if not chunk:
            return
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
            while chunk:
                block = _copy_text(chunk, len(names))
                if block is not None:
                    copy.write(block)
                else:
                    for row in chunk:
                        copy.write_row(row)
                chunk = list(islice(rows, _ROWS_A_BLOCK))

    def analyze(self, connection: Connection, table: Table) -> None:
        connection.exec_driver_sql(f'ANALYZE "{table.name}"')

    def plan(self, connection: Connection, query: Select[Any] | TextClause) -> list[str]:
        statement = query.compile(self.engine, compile_kwargs={"literal_binds": True})
        return [str(row[0]) for row in connection.exec_driver_sql(f"EXPLAIN {statement}").all()]

    def integrity(self, connection: Connection) -> list[str]:
        return []

    def guards(self, connection: Connection) -> set[tuple[str, str]]:
        named = (
            "SELECT relname, tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
            "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND relnamespace = current_schema()::regnamespace"
        )
        return {(row[0], row[1]) for row in connection.exec_driver_sql(named)}

    def transactions(self, connection: Connection) -> tuple[int, int]:
        snapshot = "pg_snapshot_{}(pg_current_snapshot())::text::bigint"
        row = connection.exec_driver_sql(f"SELECT {snapshot.format('xmin')}, {snapshot.format('xmax')}").one()
        return row[0], row[1]

    def changes(self) -> Changes:
        with self._translated():
            handle = self._connect_directly()
            try:
                handle.connection.execute(f"LISTEN {_CHANNEL}")
            except self._driver_error as error:
                handle.connection.close()
                if getattr(error, "sqlstate", None) == _IS_REPLICA:
                    return Changes()
                raise
        return _Notifications(self, handle.connection)

    def is_passing(self, error: StoreError) -> bool:
        cause = _cause(error)
        state = getattr(cause, "sqlstate", None) or "08"
        # No connection, the server's going down or coming up, too many connections, a deadlock.
        return isinstance(cause, self._driver_error) and state.startswith(("08", "57P", "53300", "40"))

    def vacuum(self) -> None:
        raise StoreError(f"{self}: Postgres uses the room again by itself (autovacuum), there is nothing to do")


class _Notifications(Changes):
    """What a Postgres server tells of changes as soon as they are committed."""

    def __init__(self, database: Postgres, connection: Any) -> None:
        self._database = database
        self._connection = connection

    def wait(self, seconds: float) -> bool:
        with self._database._translated():
            return bool(list(self._connection.notifies(timeout=seconds, stop_after=1)))

    def close(self) -> None:
        self._connection.close()


def _cause(error: StoreError) -> BaseException | None:
    """What the driver said, of which an error was made."""
    cause = error.__cause__
    return cause.orig if isinstance(cause, DBAPIError) else cause


def _refusal(error: BaseException | None) -> str | None:
    """What a trigger of ours says, if it is one that has refused."""
    said = re.search(f"{_OURS}([^\n]*)", str(error))
    return None if said is None else f"{said[1]}; nothing was changed"


def _close(engine: Engine, idle: list[Any], give_up: Callable[[Any], None]) -> None:
    engine.dispose()
    while idle:
        give_up(idle.pop())


@functools.cache
def _insertion(table: str, *names: str, rows: int) -> str:
    """The statement that inserts so many rows; the driver takes values as they are."""
    row = f"({', '.join('?' * len(names))})"
    # Identifiers come from our own tables.
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"  # noqa: S608


class _Null:
    def __str__(self) -> str:
        return "\\N"


_NULL = _Null()


def _copy_text(rows: Sequence[Sequence[Any]], width: int) -> str | None:
    """Rows of numbers, truth values and plain text as COPY reads them; None where a text would need an escape."""
    values = [_NULL if value is None else value for value in chain.from_iterable(rows)]
    text = ("\t".join(["%s"] * width) + "\n") * len(rows) % tuple(values)
    found = [text.count(mark) for mark in "\t\n\\\r"]
    return text if found == [len(rows) * (width - 1), len(rows), values.count(_NULL), 0] else None


def _names(columns: Iterable[Column[Any]]) -> tuple[str, list[str]]:
    """The quoted name of the table that columns are of, and theirs."""
    columns = list(columns)
    return f'"{columns[0].table.description}"', [f'"{column.name}"' for column in columns]


def connect(address: str) -> Database:
    """The database at `address`: a SQLAlchemy URL of SQLite or Postgres, or the name of a SQLite file.

    Nothing is opened yet. Raises StoreError for an address that is neither.
    """
    if not address or UNSTORABLE.search(address) or ("://" not in address and _SCHEME.match(address)):
        raise StoreError(f"this is not the address of a store: write {_FORMS}")
    # What SQLAlchemy says of a malformed address may quote the password: it is not passed on.
    try:
        url = make_url(address) if "://" in address else URL.create("sqlite", database=address)
        if "@" in (url.host or ""):
            raise StoreError("the address of the store has an @ too many: in a user or password, write @ as %40")
        match url.get_backend_name():
            case "sqlite":
                if url.host or (url.query and "uri" not in url.query):
                    raise StoreError(f"this is not the address of a SQLite file: write {_FORMS}")
                return SQLite(url.set(drivername="sqlite"))
            case "postgres" | "postgresql":
                # The one driver that is installed with the package, however the address names it.
                return Postgres(url.set(drivername="postgresql+psycopg"))
            case name:
                raise StoreError(f"{quote(name)} is not a database that can hold a store: write {_FORMS}")
    except (SQLAlchemyError, TypeError, ValueError) as error:
        if isinstance(error, GgnStoreError):
            raise
        raise StoreError(f"this is not the address of a store: write {_FORMS}") from None
