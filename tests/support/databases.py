"""New databases and stores for tests, on SQLite and on Postgres."""

from __future__ import annotations

import functools
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event
from sqlalchemy.util import LRUCache

from ggn_store import Store
from ggn_store.store.database import migrate
from ggn_store.store.database.engine import Database
from tests.support.postgres import Server

DATABASES = ("sqlite", "postgres")
# What takes a server long, or depends on no database: on Postgres in the long run only.
MOSTLY_SQLITE = ("sqlite", pytest.param("postgres", marks=pytest.mark.long))
mostly_sqlite = pytest.mark.parametrize("address", MOSTLY_SQLITE, indirect=True)

# All tests ask more different statements than any program, which would throw out each other.
_COMPILED = 4_000

_migrated = migrate.run
_migrated_file: list[bytes] = []


def run_migrations_once(connection: Connection) -> None:
    """Run the migrations; but make a new store in SQLite of the pages of the first one, which is quicker."""
    made = connection.connection.driver_connection
    if not isinstance(made, sqlite3.Connection) or connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first():
        _migrated(connection)
    elif _migrated_file:
        made.execute("ROLLBACK")  # of nothing: pages are written outside of a transaction
        with closing(sqlite3.connect(":memory:")) as source:
            source.deserialize(_migrated_file[0])
            source.backup(made)
        made.execute("BEGIN IMMEDIATE")
    else:
        _migrated(connection)
        with closing(sqlite3.connect(":memory:")) as copy:
            copy.executescript("".join(made.iterdump()))
            copy.execute("VACUUM")
            _migrated_file.append(copy.serialize())


def compile_statements_once(patch: pytest.MonkeyPatch) -> None:
    """Let all stores of this process have what one has compiled, which takes a quarter of the time of many tests.

    What is compiled is kept by the dialect of an engine, so they have that in common, too.
    """
    first: dict[str, Engine] = {}
    made = Database.__init__

    def make(self: Database, *args: Any, **options: Any) -> None:
        made(self, *args, **options)
        # In memory errors mean something else, which dialects know, too.
        name, engine = self.name if self.file is not None or self.is_server else "memory", self.engine

        def share(*_: object) -> None:
            known = first.get(name)
            if known is None:
                first[name] = engine
                engine._compiled_cache = LRUCache(_COMPILED)
            else:
                engine.dialect = engine.pool._dialect = known.dialect
                engine._compiled_cache = known._compiled_cache

        # A server may not be there: what an engine knows of one, it learns when it connects.
        if name in first and not self.is_server:
            share()
        else:
            event.listen(engine, "connect", share)

    patch.setattr(Database, "__init__", make)


@contextmanager
def new_address(database: str, directory: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a new, empty database of its own."""
    if database == "sqlite":
        yield f"sqlite:///{directory / 'store.db'}"
        return
    running: Server = request.getfixturevalue("postgres_server")
    url = running.create_database()
    yield url
    running.drop_database(url)


@functools.cache
def _made_store() -> bytes:
    """A SQLite file with the tables of a store, which the migrations made once for all."""
    with tempfile.TemporaryDirectory(prefix="ggn-") as directory:
        path = Path(directory, "store.db")
        with Store.open(f"sqlite:///{path}", upgrade=True):
            pass
        return path.read_bytes()


def create_store_file(path: Path) -> str:
    """Make a SQLite file with the tables of a store, and return its address."""
    path.touch(mode=0o600)
    path.write_bytes(_made_store())
    return f"sqlite:///{path}"


@contextmanager
def new_store_address(database: str, directory: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a new store that is ready to be loaded; the migrations are run once, and copied."""
    if database == "sqlite":
        yield create_store_file(directory / "store.db")
        return
    running: Server = request.getfixturevalue("postgres_server")
    url = running.create_store()
    yield url
    running.drop_database(url)


@contextmanager
def new_store(database: str, directory: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A new store that is ready to be loaded."""
    with new_store_address(database, directory, request) as url, Store.open(url) as opened:
        yield opened
