"""Connections: SQLite and Postgres behind one face, each with what it needs to be safe.

What differs between the two databases is in their two classes, in modules of their own, and nowhere else.
"""

from __future__ import annotations

import functools
import logging
import os
import re
import time
import traceback
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeVar
from urllib.parse import unquote

from sqlalchemy import (
    CTE,
    URL,
    Column,
    ColumnElement,
    Connection,
    CursorResult,
    Engine,
    FromClause,
    Select,
    Table,
    TextClause,
)
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from ggn_store.errors import DamagedError, GgnStoreError, RefusedError, StoreError, printable
from ggn_store.model.documents.document import Envelope
from ggn_store.passwords import HIDDEN, secrets_in, shown, without

if TYPE_CHECKING:
    from ggn_store.store.database.definitions import Definitions, Seals

Rows = Iterable[Sequence[Any]]
# Begins a transaction of its own each time.
Opening = Callable[[], AbstractContextManager[Connection]]
Filled = TypeVar("Filled")

# The roles of a Postgres server that members read with, load with, and tag, hide and remove with.
READER, AUTHOR, ADMIN = ROLES = ("ggn_reader", "ggn_author", "ggn_admin")
# The table there of what is to be checked before a commit.
UNCHECKED = "ggn_unchecked"

# The option of a connection that is to write.
WRITE = "ggn_store_write"
_OURS = "ggn_store: "
# The settings in an address that nobody keeps secret, and what the values of others look like that are not secret.
_SHOWN = ("user", "host", "hostaddr", "port", "uri", "mode")
_PLAIN = re.compile("[a-z-]{1,16}|[0-9]{1,6}")

# What the driver says of a connection that is gone is in our own error; nobody reads it twice who set up no logging.
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())


class RowSelect(NamedTuple):
    """A SELECT from the relation `asked`, which has these columns and any number of rows of integers, all bound."""

    columns: tuple[str, ...]
    select: Callable[[FromClause], Select[Any]]


class Database(ABC):
    """An engine with the two kinds of transaction that a store knows, and a short way for questions."""

    name: ClassVar[str]

    groups_by_hash: ClassVar[bool] = True
    """Whether rows are grouped by hashing them; otherwise they are sorted, which takes as long as many tests."""

    insert: ClassVar[Any]
    """The dialect's INSERT, which has `on_conflict_do_nothing`."""

    naming: Callable[[Envelope], Mapping[str, str]] = staticmethod(lambda _: {})
    """What the text that a document was made from calls its pieces, by identifier; who opens a database may know."""

    is_server: ClassVar[bool]
    """Whether questions travel, and several write at a time; else a writing transaction keeps all others out."""
    _reading_options: ClassVar[dict[str, Any]] = {}

    def __init__(self, url: URL) -> None:
        self.url = url
        self.engine = self._create_engine(url)
        self._idle: list[Any] = []
        self._statements: dict[tuple[RowSelect, int], str] = {}
        # Rulesets outlive their store; the connections go when the last of them is gone.
        weakref.finalize(self, _close, self.engine, self._idle, self._give_up)
        _OPEN.add(self)

    def __getstate__(self) -> object:
        raise TypeError("a store is not pickled, as it holds connections: open it again in the other process")

    def leave_connections(self) -> None:
        """Leave the connections to the process that this one was forked from, and make others when they are needed.

        They would be shared, and each would read answers that are the other's. A store in memory was copied.
        """
        if self.is_server or self.file is not None:
            _LEFT.append((self.engine.pool, [*self._idle]))  # to be closed here is not to be closed there
            self._idle.clear()
            self.engine.dispose(close=False)

    @property
    def file(self) -> Path | None:
        """The file that the database is; None for a server, and in memory."""
        return None

    def stamp(self) -> list[int] | None:
        """Numbers that are others after each change; None where nothing tells but to look."""
        return None

    def as_user(self, name: str) -> Database:
        """The database through connections of this user's own; of a file, which knows no users, the same one."""
        return self

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only asks, and sees one state of the store throughout.

        It is rolled back, and temporary tables made in it with it.
        """
        with (
            self.explained(),
            self.engine.connect().execution_options(**self._reading_options) as connection,
            connection.begin() as transaction,
            _forgotten_locals(),
        ):
            yield connection
            transaction.rollback()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed as a whole, or leaves nothing."""
        with (
            self.explained(),
            self.engine.connect().execution_options(**{WRITE: True}) as connection,
            connection.begin() as transaction,
            _forgotten_locals(),
        ):
            yield connection
            with self._committing():
                transaction.commit()

    @contextmanager
    def _committing(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            if not error.connection_invalidated or getattr(error.orig, "sqlstate", None) is not None:
                raise
            raise StoreError(
                f"{self}: the connection was lost as the change was about to be stored, and now it is there as a whole "
                f"or not at all: see which, or run the same again ({self._explain_error(error.orig)})"
            ) from error

    @contextmanager
    def snapshot(self) -> Iterator[Database]:
        """The database for who reads long: one state of it, where others would else wait until the reading ends.

        That is a private copy; where readers keep nobody waiting, or there is no room for a copy, it is this database.
        """
        yield self

    @contextmanager
    def explained(self) -> Iterator[None]:
        """What goes wrong within is told as this database's, also in another one's transaction."""
        try:
            yield
        except GgnStoreError:
            raise
        except DBAPIError as error:
            raise self._failed(error.orig) from self._cause(error)
        except self._driver_error as error:  # of COPY, which SQLAlchemy knows nothing of
            raise self._failed(error) from self._cause(error)
        except PoolTimeoutError:
            raise StoreError(f"{self}: all connections are in use; try again") from None
        except (AttributeError, LookupError, SQLAlchemyError, TypeError, ValueError) as error:
            self.blame(error)
            if not isinstance(error, (LookupError, MultipleResultsFound, NoResultFound, ValueError)):
                raise
            raise StoreError(
                f"{self}: the store holds something that this program never writes ({error}): run `ggn-store db check`"
            ) from error

    def blame(self, error: BaseException | None) -> None:
        """Raise DamagedError where a stored value is not of its column's type, which leads to such errors."""
        if isinstance(error, (AttributeError, LookupError, SQLAlchemyError, TypeError, ValueError)):
            for misfit in self.misfits()[:1]:
                raise DamagedError(f"{self}: {misfit}") from error

    def misfits(self, beside: Collection[str] = ()) -> list[str]:
        """What is stored and not of its column's type, a sentence each; a server stores nothing of another type.

        Tables `beside` are left out.
        """
        return []

    @property
    def _driver_error(self) -> type[Exception]:
        driver: Any = self.engine.dialect.loaded_dbapi
        base: type[Exception] = driver.Error
        return base

    def __str__(self) -> str:
        """The address, with nothing in it that may be a password."""
        return self._shown

    @functools.cached_property
    def _shown(self) -> str:
        url = self.url
        user, database = (None if each is None else shown(each) for each in (url.username, url.database))
        # A colon in a user was meant to begin the password.
        query = {name: str(value).partition(":")[0] for name, value in url.query.items() if name in _SHOWN}
        query = {name: value for name, value in query.items() if name != "port" or value.isdecimal()}
        url = url.set(drivername=url.get_backend_name(), database=database, query=query)
        if user is not None:
            url = url.set(username=user.partition(":")[0])
        return printable(url.render_as_string(hide_password=True).replace("%2A%2A%2A", HIDDEN))

    @functools.cached_property
    def _secrets(self) -> frozenset[str]:
        """What is not to be in any message: whatever may be a password, and is not shown anyway."""
        known = self._settings()
        found = {*secrets_in(self.url.render_as_string(hide_password=False)), self.url.password or ""}
        for name, value in self.url.query.items():
            values = [value] if isinstance(value, str) else value
            found.update(each for each in values if name not in known or not _PLAIN.fullmatch(each))
            if name not in known:  # a password with & in it goes on there
                found.add(name)
        found.add((self.url.username or "").partition(":")[2])
        return frozenset(
            each for each in found if each and each not in self._shown and each not in unquote(self._shown)
        )

    def _settings(self) -> frozenset[str]:
        """The names of the settings that an address may have."""
        return frozenset()

    def without_password(self, text: str) -> str:
        """A text of the driver or the server, in which nothing may be a password."""
        return without(text, self._secrets)

    def _failed(self, error: BaseException | None) -> StoreError:
        kind = StoreError if refusal(error) is None else RefusedError
        return kind(f"{self}: {self.without_password(self._explain_error(error))}")

    def _cause(self, error: BaseException) -> BaseException | None:
        """The error, if nothing in it may be a password: Python prints it with the one that is made of it."""
        return error if self.without_password(str(error)) == str(error) else None

    def close(self) -> None:
        """Give all connections back."""
        _close(self.engine, self._idle, self._give_up)

    def create(self, fill: Callable[[Database], Filled]) -> Filled | None:
        """Make the database, which appears once it is filled; None where it is there, or others have to make it."""
        return None

    def discard(self, tables: Iterable[str]) -> None:
        """Remove the database that `create` has made, if all of these tables of it are empty."""
        return

    def add(
        self, connection: Connection, table: Table, values: Any, unique: tuple[str, ...], *given: str
    ) -> CursorResult[Any]:
        """Insert a row, or some; `given` of their columns, but for those like another in their `unique` columns.

        Those are left out. Of several who add the same at once only one has it inserted.
        """
        return connection.execute(_addition(self.insert, table, unique, given), values)

    # --- the short way: one SELECT, on a connection of the driver's own and in no transaction ---

    def fetch(self, statement: str, values: Any) -> list[Any]:
        """The rows of a SELECT. Safe to use from several threads."""
        try:
            connection, is_kept = self._idle.pop(), True
        except IndexError:
            connection, is_kept = self._new_connection(), False
        while True:
            try:
                rows = self._run(connection, statement, values)
            except BaseException as error:
                was_lost = is_kept and self._is_lost(connection)
                self._give_up(connection)
                if not isinstance(error, self._driver_error):
                    raise
                if not was_lost:
                    raise self._failed(error) from self._cause(error)
            else:
                self._idle.append(connection)
                return rows
            connection, is_kept = self._new_connection(), False

    def _new_connection(self) -> Any:
        with self.explained():
            return self._connect_directly()

    def _is_lost(self, connection: Any) -> bool:
        """Whether the server has closed a connection, perhaps while it was idle."""
        return False

    @abstractmethod
    def ask(self, asked: RowSelect, rows: Sequence[tuple[int, ...]], connection: Connection | None = None) -> list[Any]:
        """What a SELECT finds for some rows, each on its own, by `fetch` or in the transaction of a connection."""

    def _fetched(self, statement: str, values: Any, connection: Connection | None) -> list[Any]:
        if connection is None:
            return self.fetch(statement, values)
        return self._run(self._handle(connection.connection.driver_connection), statement, values)

    def asking(self, asked: RowSelect, rows: Sequence[tuple[int, ...]]) -> Select[Any]:
        """The SELECT with the rows in it."""
        return asked.select(self._relation(asked.columns, len(rows))).params(self._bound(asked.columns, rows))

    @abstractmethod
    def _relation(self, columns: Sequence[str], count: int) -> FromClause:
        """The relation `asked` with so many rows."""

    @abstractmethod
    def _bound(self, columns: Sequence[str], rows: Sequence[tuple[int, ...]]) -> dict[str, Any]:
        """The bound values of the relation by name."""

    def _text(self, asked: RowSelect, count: int) -> str:
        """The text of a SELECT for so many rows, made the first time."""
        text = self._statements.get((asked, count))
        if text is None:
            compiled = asked.select(self._relation(asked.columns, count)).compile(dialect=self.engine.dialect)
            text = self._statements[asked, count] = str(compiled)
        return text

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
    def _create_engine(self, url: URL) -> Engine: ...

    @abstractmethod
    def _explain_error(self, error: BaseException | None) -> str:
        """What the driver's error means, and what to do about it."""

    @property
    def role(self) -> str | None:
        """The user as whom the database knows this program; None where it knows none."""
        return None

    def may_restore(self, connection: Connection) -> bool:
        """Whether this user may bring a deleted ruleset back."""
        return True

    def may_insert(self, connection: Connection, table: Table) -> bool:
        """Whether this user may add rows to a table."""
        return True

    @functools.cached_property
    def sender(self) -> Sender | None:
        """What sends rows as values, where a question may have no temporary tables; None where it may."""
        return None

    @abstractmethod
    def identity(self, connection: Connection) -> Hashable:
        """What two addresses of one database have in common, and no other database has."""

    @abstractmethod
    def version(self, connection: Connection) -> str:
        """Name and version of the database engine."""

    def lock_schema(self, connection: Connection) -> None:  # noqa: B027
        """Keep other upgrades out until the transaction ends; one that writes may have the whole file anyway."""

    def lock_pieces(self, connection: Connection, alone: bool) -> None:  # noqa: B027
        """Write pieces beside others who do, in one order, or `alone` and in any; until the transaction ends."""

    @abstractmethod
    def fill(self, connection: Connection, columns: Iterable[Column[Any]], rows: Rows) -> None:
        """Insert many rows, given as tuples in the order of these columns of one table."""

    @abstractmethod
    def arrays(self, table: Table, where: ColumnElement[bool]) -> Select[Any]:
        """The values of a table's first column; of each, how many rows there are, and the other columns as JSON arrays.

        Rows are in the order of the primary key, which begins with that column.
        """

    @abstractmethod
    def checksums(self, table: Table, key: ColumnElement[int]) -> list[ColumnElement[Any]]:
        """Aggregates of all values of the rows of a table of one `key`, which no accident leaves as they are."""

    @abstractmethod
    def analyze(self, connection: Connection, table: Table) -> None:
        """Tell the planner how large a temporary table is."""

    @abstractmethod
    def plan(self, connection: Connection, query: Select[Any] | TextClause) -> list[str]:
        """The database's own plan for a query, line by line."""

    def integrity(self, connection: Connection, beside: Collection[str] = ()) -> list[str]:
        """What the database engine itself finds wrong with its files; tables `beside` are left out."""
        return []

    @abstractmethod
    def definitions(self, connection: Connection, seals: Seals) -> Definitions:
        """The triggers, functions, views, ... that the database is to have, and those that it has."""

    def restore_rights(self, connection: Connection) -> None:  # noqa: B027
        """Let everybody do with what was made again what they might do before."""

    @abstractmethod
    def transactions(self, connection: Connection) -> tuple[int, int]:
        """Two numbers of transactions: all below the first have ended, none from the second on has begun to write."""

    @abstractmethod
    def changes(self) -> ChangeSignal:
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


class Sender(ABC):
    """Sends the rows of temporary tables to a database where none can be made, as values of the statement."""

    @abstractmethod
    def sent(self, connection: Connection, columns: Sequence[Column[Any]], rows: Rows) -> CTE:
        """Rows for these columns of a temporary table, as a relation of its name that is part of the statement."""

    @abstractmethod
    def sent_row(self, table: Table, rows: Rows, key: Sequence[ColumnElement[Any]]) -> FromClause:
        """The columns beside its key, all of text, of that row for a temporary table which has `key`, or NULL.

        What `sent` gives has no index. This is for where every row of another relation looks up one.
        """


class ChangeSignal:
    """Tells when a store has changed; this one where nothing tells of changes, so there may always have been one."""

    def wait(self, seconds: float) -> bool:
        """Wait for a change, no longer than this, and tell whether there may have been one."""
        time.sleep(seconds)
        return True

    def close(self) -> None:
        """Give the connection back, if there is one."""


@functools.cache
def _addition(insert: Any, table: Table, unique: tuple[str, ...], given: tuple[str, ...]) -> Any:
    # To make it anew takes as long as to run it.
    return insert(table).on_conflict_do_nothing(index_elements=unique).returning(*(table.c[name] for name in given))


def is_about_a_value(error: DBAPIError) -> bool:
    """Whether the driver only stumbled over a stored value that it cannot read, so that neither database has a code."""
    said: Any = error.orig
    if "cannot hold BLOB" in str(said):  # which SQLite says of bytes that are to be JSON
        return True
    if hasattr(said, "sqlite_errorcode") or getattr(said, "sqlstate", None) is not None:
        return False
    # psycopg for a time after the year 9999; the module for SQLite for text that is not UTF-8.
    return "decode" in str(said) if type(said).__name__ == "OperationalError" else type(said).__name__ == "DataError"


def is_overflow(error: DBAPIError) -> bool:
    """Whether a number became larger than a column holds; SQLite has no code for it."""
    return getattr(error.orig, "sqlstate", None) == "22003" or "integer overflow" in str(error.orig)


_OPEN: Final[weakref.WeakSet[Database]] = weakref.WeakSet()
_LEFT: Final[list[object]] = []


def _after_fork() -> None:
    for each in [*_OPEN]:
        each.leave_connections()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


def cause(error: StoreError) -> BaseException | None:
    """What the driver said, of which an error was made."""
    # Python does not print the context where the cause is left out for what may be a password in it.
    made_of = error.__cause__ or error.__context__
    return made_of.orig if isinstance(made_of, DBAPIError) else made_of


def refusal(error: BaseException | None) -> str | None:
    """What a trigger of ours says, if it is one that has refused."""
    said = re.search(f"{_OURS}([^\n]*)", str(error))
    return None if said is None else f"{said[1]}; nothing was changed"


def quoted(name: str) -> str:
    """A name as SQL has it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def quoted_names(columns: Iterable[Column[Any]]) -> tuple[str, list[str]]:
    """The quoted name of the table that columns are of, and theirs."""
    columns = list(columns)
    return quoted(columns[0].table.description), [quoted(column.name) for column in columns]


def _close(engine: Engine, idle: list[Any], give_up: Callable[[Any], None]) -> None:
    engine.dispose()
    while idle:
        give_up(idle.pop())


@contextmanager
def _forgotten_locals() -> Iterator[None]:
    """Forget what the functions had at hand that an exception ends, for as long as somebody keeps it.

    An open cursor among it would keep a SQLite file from being written to, even once its connection is closed.
    """
    try:
        yield
    except BaseException as error:
        ended: BaseException | None = error
        while ended is not None:
            traceback.clear_frames(ended.__traceback__)
            ended = ended.__cause__ or ended.__context__
        raise
