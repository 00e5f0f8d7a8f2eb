"""Where commands are tried: the stores that they work on, made anew for each fault, on each of the databases."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import sqlite3
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg

from ggn_store import Store
from ggn_store.store.database import sqlite as engine
from tests.support.fault_injection.faults import ERROR, FULL, POWER, READ_ERROR, REPLY, REQUEST, Faults, Kind
from tests.support.fault_injection.files import failing_files
from tests.support.fault_injection.proxy import Proxy, proxy
from tests.support.fault_injection.vfs import faulty_vfs
from tests.support.postgres import Server

OWN, REMOTE = "own", "remote"
# What differs from run to run: keys, times, and what is made of them.
_PASSING = ("id", "at", "key", "transaction", "lineage")
# What a server says of a database beside its rows.
_SCHEMA = frozenset(("relations", "functions", "triggers"))
_SHARED = (".db-wal", ".db-shm")
_LINEAGE = re.compile(r'("(?:lineage|parent|merged)" ?: ?)"[0-9a-f]{64}"')

Content = dict[str, list[str]]
Dump = dict[str, tuple[list[str], list[tuple[Any, ...]]]]


class Place:
    """The stores and the directory that one run of a command has, and the connections that it opened."""

    def __init__(self, setting: Setting, directory: Path) -> None:
        self._setting = setting
        self._stores: dict[tuple[str, bool], Store] = {}
        self.directory = directory
        self.acknowledged = 0

    def address(self, name: str = OWN) -> str:
        """The address of a store by the way that fails."""
        return self._setting.faulty(self, name)

    def clean(self, name: str = OWN) -> str:
        """The address of a store by a way that does not fail."""
        return self._setting.clean(self, name)

    def store(self, name: str = OWN, *, by_reviewer: bool = False) -> Store:
        """A store by the way that fails; the same one each time."""
        key = name, by_reviewer
        if key not in self._stores:
            address = self._setting.as_reviewer(self.address(name)) if by_reviewer else self.address(name)
            self._stores[key] = Store.open(address)
        return self._stores[key]

    def acknowledge(self) -> None:
        """Note that one more transaction was acknowledged."""
        self.acknowledged += 1

    def close(self) -> None:
        """Close the stores that were opened."""
        while self._stores:
            self._stores.popitem()[1].close()

    def files(self) -> dict[str, str]:
        """Every file and directory here, with its digest where it is not a store's."""
        found = {}
        for path in sorted(self.directory.rglob("*")):
            name = str(path.relative_to(self.directory))
            if self._stores and path.suffix in _SHARED:
                continue  # they are there for as long as somebody has the store open
            is_store = path.suffix.startswith(".db")
            found[name] = "" if is_store or path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
        return found


class Setting(ABC):
    """A database on which commands are tried. `names` are the stores that a command needs."""

    name: str
    kinds: tuple[Kind, ...]
    faults: Faults

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._template = directory / "template"
        self.names: tuple[str, ...] = ()
        self._count = 0
        self._checked: dict[str, list[str]] = {}

    @contextmanager
    def prepared(self, names: tuple[str, ...], prepare: Callable[[Place], None]) -> Iterator[None]:
        """Make the stores as they are before the command."""
        shutil.rmtree(self._template, ignore_errors=True)
        (self._template / "tmp").mkdir(parents=True)
        self.names = names
        place = Place(self, self._template)
        try:
            with self._made(place), closing(place):
                prepare(place)
            yield
        finally:
            self._forget()

    @contextmanager
    def place(self) -> Iterator[Place]:
        """Stores as they were prepared, with a directory of their own in which temporary files are made, too."""
        self._count += 1
        directory = self._directory / str(self._count)
        shutil.copytree(self._template, directory)
        place = Place(self, directory)
        # Nobody waits for a lock here but for one that was never given back.
        with (
            mock.patch.object(tempfile, "tempdir", str(directory / "tmp")),
            mock.patch.object(engine, "BUSY_SECONDS", 5),
        ):
            self._fill(place)
            try:
                yield place
            finally:
                place.close()
        shutil.rmtree(directory)

    @contextmanager
    def failing(self, kind: Kind, number: int) -> Iterator[None]:
        """Let the operation of that number fail inside the block."""
        with self.faults.at(kind, number), failing_files(self.faults):
            yield

    def contents(self, place: Place) -> list[Content | None]:
        """What each store holds, whatever its version is, but for keys and times; None where there is no store."""
        return [self._content(self.clean(place, name)) for name in self.names]

    def complaints(self, place: Place) -> Iterator[str]:
        """What `db check` finds in the stores that are of this program's version."""
        for name in self.names:
            address = self.clean(place, name)
            held = repr(self.dump(address))
            if held not in self._checked:  # most runs leave just what was there before
                with Store.at(address) as store:
                    info = store.info()
                    self._checked[held] = store.upkeep.check() if info.version == info.needed else []
            yield from self._checked[held]

    def _content(self, address: str) -> Content | None:
        found = self.dump(address)
        if found is None:
            return None
        content = {}
        for table, (columns, rows) in found.items():
            if table == "piece_check":  # what was looked at, which is no content
                continue
            kept = [at for at, name in enumerate(columns) if name.rpartition("_")[2] not in _PASSING]
            content[table] = sorted(_LINEAGE.sub(r"\1", repr([row[at] for at in kept])) for row in rows)
        return content

    @abstractmethod
    def dump(self, address: str) -> Dump | None:
        """Every row of every table, and what else the database says of itself."""

    @abstractmethod
    def faulty(self, place: Place, name: str) -> str: ...

    @abstractmethod
    def clean(self, place: Place, name: str) -> str: ...

    @abstractmethod
    def as_reviewer(self, address: str) -> str: ...

    @abstractmethod
    def recover(self, place: Place, kind: Kind, seed: int) -> None:
        """Let what the fault began come to its end."""

    @abstractmethod
    @contextmanager
    def _made(self, place: Place) -> Iterator[None]: ...

    @abstractmethod
    def _fill(self, place: Place) -> None:
        """Put the stores as they were prepared into a place, beside its files."""

    @abstractmethod
    def _forget(self) -> None:
        """Remove what was prepared, but for files."""


def _answer(cursor: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    return [each[0] for each in cursor.description], cursor.fetchall()


def _sorted(answer: tuple[list[str], list[tuple[Any, ...]]]) -> tuple[list[str], list[tuple[Any, ...]]]:
    return answer[0], sorted(answer[1], key=repr)


class SQLiteSetting(Setting):
    """Files, whose writes, fsyncs and deletions fail, and which a loss of power leaves half written."""

    name = "sqlite"
    kinds = (ERROR, READ_ERROR, FULL, POWER)

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._vfs = faulty_vfs()
        self._dumps: dict[str, Dump | None] = {}
        self.faults = self._vfs.faults

    def faulty(self, place: Place, name: str) -> str:
        return self.clean(place, name)

    def clean(self, place: Place, name: str) -> str:
        return f"sqlite:///{place.directory / name}.db"

    def as_reviewer(self, address: str) -> str:
        return address

    def dump(self, address: str) -> Dump | None:
        path = Path(address.removeprefix("sqlite:///"))
        if not path.exists():
            return None
        if any(path.with_name(path.name + ending).exists() for ending in ("-journal", "-wal")):
            return self._read(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest not in self._dumps:  # most runs leave the very bytes that were there before
            self._dumps[digest] = self._read(path)
        return self._dumps[digest]

    @staticmethod
    def _read(path: Path) -> Dump | None:
        with closing(sqlite3.connect(path, timeout=5)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            if not tables:
                return None
            asked = {name: f'SELECT * FROM "{name}"' for (name,) in tables} | {
                "schema": "SELECT type, name, tbl_name, sql FROM sqlite_master",
                "integrity": "PRAGMA integrity_check",
            }
            return {name: _answer(connection.execute(each)) for name, each in asked.items()}

    @contextmanager
    def failing(self, kind: Kind, number: int) -> Iterator[None]:
        self._vfs.disk.forget()
        with self._vfs.installed(), super().failing(kind, number):
            yield

    def recover(self, place: Place, kind: Kind, seed: int) -> None:
        if kind is POWER:
            dice = random.Random(seed)
            self._vfs.disk.lose_power(dice.choice((0.3, 0.7, 1.0)) if seed % 2 else 0.0, dice)

    @contextmanager
    def _made(self, place: Place) -> Iterator[None]:
        yield

    def _fill(self, place: Place) -> None:
        pass

    def _forget(self) -> None:
        pass


class PostgresSetting(Setting):
    """Databases of a server, to which the connection breaks."""

    name = "postgres"
    kinds = (REQUEST, REPLY)

    def __init__(self, directory: Path, server: Server, through: Proxy) -> None:
        super().__init__(directory)
        self._server = server
        self._proxy = through
        self.faults = through.faults
        self._reviewer = f"reviewer_{uuid.uuid4().hex[:8]}"
        self._databases: dict[str, str] = {}
        self._used: dict[str, str] = {}
        self._before: dict[str, Dump] = {}
        self._execute(server.url, f"CREATE ROLE {self._reviewer} LOGIN SUPERUSER")

    def close(self) -> None:
        """Remove the user who reviews."""
        self._execute(self._server.url, f"DROP ROLE {self._reviewer}")

    def faulty(self, place: Place, name: str) -> str:
        return self._proxy.address(self.clean(place, name))

    def clean(self, place: Place, name: str) -> str:
        return (self._used or self._databases)[name]

    def as_reviewer(self, address: str) -> str:
        return address.replace("postgresql://postgres@", f"postgresql://{self._reviewer}@", 1)

    def recover(self, place: Place, kind: Kind, seed: int) -> None:
        """Wait until the server has noticed who is gone, and is done with what they had sent."""
        asked = (
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend' AND state IS DISTINCT FROM 'idle'"
        )
        for name in self.names:
            with psycopg.connect(self.clean(place, name), autocommit=True) as connection:
                while connection.execute(asked).fetchone():
                    pass

    def dump(self, address: str) -> Dump:
        with psycopg.connect(address) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            asked = {name: f'SELECT * FROM "{name}"' for (name,) in tables} | {
                "relations": "SELECT relkind::text, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
                "functions": "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
                "triggers": "SELECT tgrelid::regclass::text, tgname, tgenabled::text FROM pg_trigger "
                "WHERE NOT tgisinternal",
            }
            return {name: _sorted(_answer(connection.execute(each.encode()))) for name, each in asked.items()}

    @contextmanager
    def _made(self, place: Place) -> Iterator[None]:
        self._databases = {name: self._server.create_database() for name in self.names}
        yield
        self._before = {name: self.dump(address) for name, address in self._databases.items()}

    def _fill(self, place: Place) -> None:
        # To make a database takes longer than to see what has changed in it.
        for name, template in self._databases.items():
            if name not in self._used or not self._is_as_before(name):
                if name in self._used:
                    self._server.drop_database(self._used.pop(name))
                self._used[name] = self._server.create_database(copy_of=template)

    def _is_as_before(self, name: str) -> bool:
        """Put the rows of a database back, and tell whether this has made it what it was."""
        before, now = self._before[name], self.dump(self._used[name])
        changed = [table for table in before if before[table] != now.get(table)]
        if before.keys() != now.keys() or not _SCHEMA.isdisjoint(changed):
            return False
        with psycopg.connect(self._used[name]) as connection:
            connection.execute("SET session_replication_role = replica")  # neither triggers nor foreign keys
            for table in changed:
                connection.execute(f'DELETE FROM "{table}"'.encode())
                columns, rows = before[table]
                names, marks = ", ".join(f'"{each}"' for each in columns), ", ".join(["%s"] * len(columns))
                insertion = f'INSERT INTO "{table}" ({names}) OVERRIDING SYSTEM VALUE VALUES ({marks})'
                connection.cursor().executemany(insertion.encode(), rows)
        return True

    def _forget(self) -> None:
        while self._used:
            self._server.drop_database(self._used.popitem()[1])
        while self._databases:
            self._server.drop_database(self._databases.popitem()[1])

    @staticmethod
    def _execute(url: str, statement: str) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def setting(database: str, directory: Path, server: Callable[[], Server]) -> Iterator[Setting]:
    """The setting of a database; raises UnreachableError where no fault can be injected into this SQLite."""
    if database == "sqlite":
        yield SQLiteSetting(directory)
        return
    with ExitStack() as stack:
        running = server()
        through = stack.enter_context(proxy(running.url))
        yield stack.enter_context(closing(PostgresSetting(directory, running, through)))
