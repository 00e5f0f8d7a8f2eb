"""Games of the library, which many tests ask about: on each database, each is loaded once in a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ggn_store import Ruleset, Store
from tests.support.databases import DATABASES, MOSTLY_SQLITE, new_store_address


class Games(dict[str, Ruleset]):
    """Games by their names, loaded when they are first asked for.

    A test may load rulesets of its own beside them; it changes none, and never asks for all that there are.
    """

    def __init__(self, address: str, store: Store) -> None:
        self.address = address
        self.store = store

    def __missing__(self, name: str) -> Ruleset:
        self.store.load_library(name)
        return self.setdefault(name, self.store.ruleset(name))


def _games(database: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Games]:
    with new_store_address(database, tmp_path_factory.mktemp("games"), request) as url, Store.open(url) as store:
        yield Games(url, store)


@pytest.fixture(scope="session")
def sqlite_games(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Games]:
    """Games of the library on SQLite."""
    yield from _games("sqlite", request, tmp_path_factory)


@pytest.fixture(scope="session")
def postgres_games(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Games]:
    """Games of the library on Postgres."""
    yield from _games("postgres", request, tmp_path_factory)


# For a game that takes a server half a minute to load.
large = pytest.mark.parametrize("games", MOSTLY_SQLITE, indirect=True)


@pytest.fixture(params=DATABASES)
def games(request: pytest.FixtureRequest) -> Games:
    """Games of the library: once on SQLite, once on Postgres."""
    found: Games = request.getfixturevalue(f"{request.param}_games")
    return found
