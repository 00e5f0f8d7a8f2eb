"""Transfers that are killed, on either side of the connection: each ruleset is there or not, and the rest follows."""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ggn_store import GgnStoreError, Store, parse
from tests.support.crashes import KILLS, SEED, create_durable_database
from tests.support.databases import DATABASES, new_address
from tests.support.loader import Worker, contents, document
from tests.support.postgres import OVERRIDE, Server, server

NAMES = ("a", "b", "c", "d")
WAYS = ("push", "pull", "load_bundle")

Histories = dict[str, list[int]]


def fill(store: Store, dice: random.Random, turn: int, most: int) -> Histories:
    """Give every ruleset one or more revisions, and `most` at most; what the store then holds."""
    for number in range(dice.randint(len(NAMES), most * len(NAMES))):
        store.load(parse(document(100 * turn + number)), NAMES[number % len(NAMES)])
    return contents(store)


def require_whole(found: Histories, before: Histories, after: Histories) -> None:
    """Each ruleset is as it was or as it should become, and they came one after the other."""
    states = [found.get(name) == after[name] for name in NAMES]
    assert states == sorted(states, reverse=True), found
    for name, is_there in zip(NAMES, states, strict=True):
        assert is_there or found.get(name) == before.get(name), (name, found)


@contextmanager
def stores(way: str, database: str, directory: Path, request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The addresses of a new SQLite store that gives, and of a new one that takes."""
    giving, taking = directory / "giving", directory / "taking"
    giving.mkdir(parents=True)
    taking.mkdir()
    with new_address("sqlite", giving, request) as source, new_address(database, taking, request) as destination:
        yield source, destination


def command(way: str, source: str, destination: str, bundle: Path) -> tuple[str, dict[str, Any]]:
    """The store that a worker opens for a transfer, and what it is told then."""
    other = {"push": destination, "pull": source, "load_bundle": str(bundle)}[way]
    return source if way == "push" else destination, {"do": way, "with": other}


def kill_transfers(way: str, database: str, kills: int, directory: Path, request: pytest.FixtureRequest) -> None:
    """Kill transfers of one pair of stores at random moments; what comes after each finishes what it began."""
    dice = random.Random(SEED)
    print(f"GGN_SEED={SEED}")
    whole = partly = 0
    for begin in range(0, kills, 5):  # stores that grow take longer to look through
        with stores(way, database, directory / str(begin), request) as (giving, taking):
            bundle = directory / str(begin) / "bundle.gz"
            seconds = 0.3
            with Store.open(giving) as source, Store.open(taking, upgrade=True) as destination:
                for turn in range(min(5, kills - begin)):
                    before = contents(destination)
                    after = fill(source, dice, turn, min(3, kills))
                    source.exchange.create_bundle(bundle)
                    opened, told = command(way, giving, taking, bundle)
                    with Worker() as worker:
                        worker.answer()
                        worker.ask(do="open", address=opened)
                        worker.send(told)
                        answers = worker.kill(dice.uniform(0, seconds))
                    found = contents(destination)
                    require_whole(found, before, after)
                    assert not answers or found == after
                    whole += found == after
                    partly += found not in (before, after)
                    begun = time.monotonic()
                    destination.exchange.pull(source) if way != "load_bundle" else destination.exchange.load_bundle(
                        bundle
                    )
                    seconds = max(0.05, (time.monotonic() - begun) * 1.2)
                    assert contents(destination) == after
    print(f"{kills} kills: {whole} came too late, {partly} between two rulesets")


@pytest.mark.parametrize(("way", "database"), [*zip(WAYS, itertools.cycle(DATABASES), strict=False)])
def test_a_transfer_that_is_killed_leaves_whole_rulesets_and_goes_on_when_run_again(
    way: str, database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kill_transfers(way, database, 1, tmp_path, request)


@pytest.mark.long
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("way", WAYS)
def test_transfers_that_are_killed_many_times_leave_whole_rulesets_and_go_on_when_run_again(
    way: str, database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kill_transfers(way, database, KILLS, tmp_path, request)


# --- the server dies ---


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server that only these tests use, because they kill it."""
    if OVERRIDE in os.environ:
        pytest.skip("the server is not ours to kill")
    with server() as running:
        yield running


def backends(address: str) -> list[int]:
    """The processes that serve others on this database."""
    with psycopg.connect(address, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        ).fetchall()
    return [pid for (pid,) in rows]


def end_politely(address: str) -> None:
    """Let the server cut every connection to the database."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def crash(address: str) -> None:
    """Kill a process of the server's: it then gives up all memory, drops everybody and recovers from its log."""
    for pid in backends(address)[:1]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_for(address: str) -> None:
    """Wait until the server takes connections again, and has ended those that it had."""
    end = time.monotonic() + 60
    while True:
        try:
            if not backends(address):
                return
        except psycopg.OperationalError:
            assert time.monotonic() < end, "the server does not come back"
        threading.Event().wait(0.02)


def break_servers(kill: Callable[[str], None], running: Server, kills: int, directory: Path) -> None:
    """End the server's part of pushes at random moments."""
    dice = random.Random(SEED)
    print(f"GGN_SEED={SEED}")
    broken = 0
    for begin in range(0, kills, 5):
        address = create_durable_database(running)
        with ExitStack() as stack:
            own = directory / f"{begin}.db"
            source = stack.enter_context(Store.open(f"sqlite:///{own}"))
            Store.open(address, upgrade=True).close()
            seconds, before = 0.3, Histories()
            for turn in range(min(5, kills - begin)):
                after = fill(source, dice, turn, min(3, kills))
                with Worker() as worker:
                    worker.answer()
                    worker.ask(do="open", address=str(own))
                    worker.send({"do": "push", "with": address})
                    threading.Event().wait(dice.uniform(0.0, seconds))
                    kill(address)
                    answer = worker.answer()
                wait_for(address)
                with Store.open(address) as destination:
                    found = contents(destination)
                    require_whole(found, before, after)
                    if "error" in answer:
                        broken += 1
                        assert (
                            "server closed" in answer["message"]
                            or "terminat" in answer["message"]
                            or ("no connection" in answer["message"] or "shutting down" in answer["message"])
                        ), answer
                    else:
                        assert found == after
                    begun = time.monotonic()
                    source.exchange.push(destination)
                    seconds = max(0.05, (time.monotonic() - begun) * 1.2)
                    assert contents(destination) == after
                before = after
        running.drop_database(address)
    print(f"{kills} times: {broken} pushes were broken off")


@pytest.mark.parametrize("kill", [pytest.param(end_politely, marks=pytest.mark.long), crash])
def test_a_push_whose_server_ends_leaves_whole_rulesets_and_goes_on_when_run_again(
    kill: Callable[[str], None], own_server: Server, tmp_path: Path
) -> None:
    break_servers(kill, own_server, 1, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kill", [end_politely, crash])
def test_pushes_whose_server_ends_many_times_leave_whole_rulesets_and_go_on_when_run_again(
    kill: Callable[[str], None], own_server: Server, tmp_path: Path
) -> None:
    break_servers(kill, own_server, KILLS, tmp_path)


# --- a server that ends while others give ---


def test_a_pull_whose_server_ends_says_which_store_it_was(own_server: Server, tmp_path: Path) -> None:
    address = own_server.create_store()
    with Store.open(address) as source, Store.open(f"sqlite:///{tmp_path / 'own.db'}") as store:
        source.load(parse(document(1)), "a")
        with pytest.raises(GgnStoreError, match=r"postgresql://.*: (no connection|the server is shutting down)"):
            store.exchange.pull(source, progress=lambda *_: end_politely(address))
        assert contents(store) == {}
        store.exchange.pull(source)
        assert contents(store) == {"a": [1]}
    own_server.drop_database(address)
