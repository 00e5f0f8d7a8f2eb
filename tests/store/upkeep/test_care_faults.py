"""Collections and moves of tags that are killed, with their client or with the server: the store stays sound."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ggn_store import Store, parse
from tests.support import postgres
from tests.support.crashes import KILLS, SEED, connect_again, crash, crashing
from tests.support.databases import DATABASES, new_address
from tests.support.loader import Json, Worker, contents, document, store_unlisted

KEPT = range(3)
UNLISTED = 8
# A collection of a few transactions.
ROWS = 4_000

Kill = Callable[[Worker, float], list[Json]]


def by_client(worker: Worker, seconds: float) -> list[Json]:
    """Kill the client after that time; what it had answered."""
    return worker.kill(seconds)


def by_server(address: str) -> Kill:
    """What kills the server after that time, and then the client."""

    def kill(worker: Worker, seconds: float) -> list[Json]:
        time.sleep(seconds)  # any time will do
        crash(address)
        connect_again(address).close()
        return worker.kill(0)

    return kill


def digests(store: Store) -> set[str]:
    with store.session.database.reading() as connection:
        return set(connection.exec_driver_sql("SELECT digest FROM piece").scalars())


def ready_worker(address: str) -> Worker:
    worker = Worker()
    assert worker.answer() == {"ready": True}
    worker.ask(do="open", address=address)
    worker.ask(do="batches", rows=ROWS)
    return worker


def kill_collections(address: str, kills: int, dice: random.Random, kill: Kill) -> None:
    """Kill collections at random moments; what is listed is there, and what is gone is in the audit."""
    needed = {digest for number in KEPT for digest in parse(document(number)).piece_digests}
    with Store.open(address, upgrade=True) as store:
        for number in KEPT:
            store.load(document(number), f"game/{number}")
        removed = 0
        seconds = None
        midway = 0
        for turn in range(kills + 1):
            numbers = range(100 + UNLISTED * turn, 100 + UNLISTED * (turn + 1))
            store_unlisted(store, numbers)
            before = digests(store)
            with ready_worker(address) as worker:
                if seconds is None:  # how long it takes where nobody kills it
                    begin = time.monotonic()
                    worker.ask(do="gc")
                    seconds = time.monotonic() - begin
                else:
                    worker.send({"do": "gc"})
                    kill(worker, dice.uniform(0, 1.2 * seconds))
            after = digests(store)
            removed += len(before - after)
            midway += needed != after != before
            assert needed <= after
            assert store.upkeep.verify().problems == ()
            assert len(list(store.upkeep.audit(only=["gc"]))) == removed
            removed += store.upkeep.collect().count("piece")
            assert digests(store) == needed
        assert contents(store) == {f"game/{number}": [number] for number in KEPT}
        print(f"{midway} of {kills} collections were killed between two of their transactions")


def kill_moves(address: str, kills: int, dice: random.Random, kill: Kill) -> None:
    """Kill those who move a tag; every move that was acknowledged is there, and no others but those under way."""
    before = 0
    with Store.open(address, upgrade=True) as store:
        for number in KEPT:
            store.load(document(number), "game")
        for _ in range(kills):
            sent = [dice.choice((1, 2, 3)) for _ in range(400)]
            with ready_worker(address) as worker:
                worker.send(*[{"do": "tag", "reference": f"game@{number}", "name": "stable"} for number in sent])
                answers = [worker.answer(), *kill(worker, dice.uniform(0, 0.05))]
            log = {tag.number: tag.revision for tag in store.tags.log("game", "stable")}
            assert sorted(log) == list(range(1, len(log) + 1))
            done = {answer["move"]: answer["revision"] for answer in answers if "error" not in answer}
            assert done.items() <= log.items()
            under_way = 1 + sum("error" in answer for answer in answers)
            assert set(range(1, len(log) + 1 - under_way)) <= {*range(1, before + 1), *done}
            assert store.upkeep.verify().problems == ()
            before = len(log)
        assert contents(store) == {"game": [*KEPT]}


WORKS = {"gc": kill_collections, "tag": kill_moves}


def kill_clients(work: str, database: str, kills: int, directory: Path, request: pytest.FixtureRequest) -> None:
    print(f"GGN_SEED={SEED}")
    with new_address(database, directory, request) as address:
        WORKS[work](address, kills, random.Random(SEED), by_client)


def kill_servers(work: str, kills: int) -> None:
    print(f"GGN_SEED={SEED}")
    with postgres.server() as server, crashing(server) as address:
        WORKS[work](address, kills, random.Random(SEED), by_server(address))


@pytest.mark.parametrize(("work", "database"), [("gc", "postgres"), ("tag", "sqlite")])
def test_a_store_is_sound_after_a_kill(
    work: str, database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kill_clients(work, database, 1, tmp_path, request)


@pytest.mark.parametrize("work", ["tag", pytest.param("gc", marks=pytest.mark.long)])
def test_a_store_is_sound_after_its_server_was_killed(work: str) -> None:
    kill_servers(work, 1)


@pytest.mark.long
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("work", WORKS)
def test_a_store_is_sound_after_many_kills(
    work: str, database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kill_clients(work, database, KILLS, tmp_path, request)


@pytest.mark.long
@pytest.mark.parametrize("work", WORKS)
def test_a_store_is_sound_after_its_server_was_killed_many_times(work: str) -> None:
    kill_servers(work, KILLS)
