"""Games of the library, which many tests ask about: each is loaded once in a session.

On SQLite the processes of a run share them, on Postgres each process has its own.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ggn_store import Ruleset, Store, UnknownNameError
from tests.support.databases import DATABASES, MOSTLY_SQLITE, create_store_file, new_store_address

# What a ruleset has read stays with it, and all games of the library would not fit into memory.
_KEPT = 20


class Games(dict[str, Ruleset]):
    """Games by their names, loaded when they are first asked for.

    A test may load rulesets of its own beside them; it changes none, and never asks for all that there are.
    """

    def __init__(self, address: str, store: Store) -> None:
        self.address = address
        self.store = store

    def __missing__(self, name: str) -> Ruleset:
        if len(self) >= _KEPT:
            del self[next(iter(self))]
        try:
            found = self.store.ruleset(name)
        except UnknownNameError:
            self.store.load_library(name)
            found = self.store.ruleset(name)
        return self.setdefault(name, found)


class _Shared(Games):
    """Games in a store that other processes load games into, too."""

    def __init__(self, address: str, store: Store, directory: Path) -> None:
        super().__init__(address, store)
        self._directory = directory

    def __missing__(self, name: str) -> Ruleset:
        with _alone_in(self._directory):
            return super().__missing__(name)


@contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Wait until no other process of this run is here."""
    with (directory / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def sqlite_games(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Games]:
    """Games of the library on SQLite."""
    base = tmp_path_factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "games"
    directory.mkdir(exist_ok=True)
    file = directory / "store.db"
    with _alone_in(directory):
        address = f"sqlite:///{file}" if file.exists() else create_store_file(file)
    with Store.open(address) as store:
        yield _Shared(address, store, directory)


@pytest.fixture(scope="session")
def postgres_games(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Games]:
    """Games of the library on Postgres."""
    directory = tmp_path_factory.mktemp("games")
    with new_store_address("postgres", directory, request) as url, Store.open(url) as store:
        yield Games(url, store)


# For a game that takes a server half a minute to load.
large = pytest.mark.parametrize("games", MOSTLY_SQLITE, indirect=True)


@pytest.fixture(params=DATABASES)
def games(request: pytest.FixtureRequest) -> Games:
    """Games of the library: once on SQLite, once on Postgres."""
    found: Games = request.getfixturevalue(f"{request.param}_games")
    return found
