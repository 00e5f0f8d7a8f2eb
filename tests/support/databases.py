"""New databases and stores for tests, on SQLite and on Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ggn_store import Store
from tests.support.postgres import Server

DATABASES = ("sqlite", "postgres")


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


@contextmanager
def new_store(database: str, directory: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A new store that is ready to be loaded."""
    with new_address(database, directory, request) as url, Store.open(url, upgrade=True) as opened:
        yield opened
