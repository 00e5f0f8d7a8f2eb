"""Fixtures that every test module can use. Whatever needs a store runs on SQLite and on a real Postgres."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ggn_store import Store
from ggn_store.store.database import migrate
from tests.support.databases import (
    DATABASES,
    compile_statements_once,
    new_address,
    new_store,
    new_store_address,
    run_migrations_once,
)
from tests.support.fault_injection.table import pytest_terminal_summary as pytest_terminal_summary
from tests.support.games import games as games
from tests.support.games import postgres_games as postgres_games
from tests.support.games import sqlite_games as sqlite_games
from tests.support.mistakes import HOSTILE
from tests.support.postgres import Server, server
from tests.support.program import MINI, MINI_TOML, MUST, PERFORM, QUICK, write

# What runs on every change tries the same documents each time; `--hypothesis-profile random` tries others. How long
# either takes is not asserted: a busy machine makes documents slowly, too.
settings.register_profile(
    "random", deadline=None, database=None, print_blob=True, suppress_health_check=(HealthCheck.too_slow,)
)
settings.register_profile("repeatable", settings.get_profile("random"), derandomize=True)
settings.load_profile("repeatable")


def pytest_configure() -> None:
    """What a shell starts in the background, or `nohup`, ignores signals, and so would all that tests start."""
    usual: dict[str, signal._HANDLER] = {
        "SIGINT": signal.default_int_handler,
        "SIGTERM": signal.SIG_DFL,
        "SIGHUP": signal.SIG_DFL,
    }
    for name, handler in usual.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: tests wait a third of their time, for servers, for processes, and for each other's locks."""
    return (os.cpu_count() or 1) * 3 // 2


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collecting makes stays until the end: to look for garbage in it takes a tenth of the time of all tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


# Rooms that only ask a store, which the tests of `store` and `whole` try on both databases.
FACES = frozenset(("api", "cli", "columnar", "documents", "exports", "games", "gdl", "render", "web"))


@pytest.hookimpl(tryfirst=True)  # before marks are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the long run what a face does with answers of Postgres, but for what is marked as depending on it.

    The tools that read all of the code take longest: they run while other processes run the tests.
    """
    items.sort(key=lambda item: item.path.name != "test_style.py")
    for item in items:
        on_postgres = "postgres" in item.callspec.params.values() if hasattr(item, "callspec") else False
        if on_postgres and item.path.parent.name in FACES and item.get_closest_marker("both") is None:
            item.add_marker(pytest.mark.long)


@pytest.fixture(autouse=True, scope="session")  # for what tests share, too: who git knows is asked once
def _own_environment() -> Iterator[None]:
    """What the developer's shell says about stores and authors must not reach a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GGN_STORE_URL", "GGN_STORE_REMOTE", "DATABASE_URL", "GGN_AUTHOR", "NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name in ("GIT_DIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):  # and git knows nobody
            patch.setenv(name, os.devnull)
        yield


@pytest.fixture(autouse=True)
def _migrations_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Except where they are tested, the migrations of SQLite are run once for all stores that this process makes."""
    if "tests/store/schema/" not in request.node.nodeid:
        monkeypatch.setattr(migrate, "run", run_migrations_once)


@pytest.fixture(autouse=True, scope="session")
def _statements_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        compile_statements_once(patch)
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One Postgres server for the whole session; a test makes its own databases on it."""
    with server() as running:
        yield running


@pytest.fixture(params=DATABASES)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a new database without any tables: once of SQLite, once of Postgres."""
    with new_address(request.param, tmp_path, request) as url:
        yield url


@pytest.fixture(params=DATABASES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a new store that is ready to be loaded: once on SQLite, once on Postgres."""
    with new_store_address(request.param, tmp_path, request) as url:
        yield url


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """A new store that is ready to be loaded: once on SQLite, once on Postgres."""
    with Store.open(address) as opened:
        yield opened


@pytest.fixture(scope="module", params=DATABASES)
def module_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Like `store`, but shared by the tests of a module."""
    with new_store(request.param, tmp_path_factory.mktemp("store"), request) as opened:
        yield opened


@pytest.fixture(scope="session", params=DATABASES)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store that no test changes: chess, and small games of all dialects."""
    directory = tmp_path_factory.mktemp("library")
    write(directory / "mini.toml", MINI_TOML)
    for name, document in {"mini": MINI, "must": MUST, "perform": PERFORM}.items():
        write(directory / f"{name}.json", document)
    with new_store_address(request.param, directory, request) as url:
        with Store.open(url) as store:
            for name in ("mini", "must", "perform"):
                store.load(directory / f"{name}.json", name)
            store.load_library("chess")
        yield url


@pytest.fixture(scope="session", params=DATABASES)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store that holds small games, one of them hidden; nothing may ever change it."""
    directory = tmp_path_factory.mktemp("filled")
    write(directory / "mini.toml", MINI_TOML)
    write(directory / "mini.json", MINI)
    with new_store_address(request.param, directory, request) as url:
        with Store.open(url) as store:
            store.load(directory / "mini.json", "mini")
            for name, document in {"must": MUST, "perform": PERFORM, "hostile": HOSTILE, "hidden": QUICK}.items():
                store.load(document, name)
            store.delete("hidden")
        yield url
