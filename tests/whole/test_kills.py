"""Clients of Postgres killed in the middle of their work, and its postmaster: what was acknowledged is there.

The work is stopped at a statement that the test chooses, by a lock on the table that it writes next, or in its commit,
which is made to wait for a standby; it is the server that tells when it is there.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ggn_store import Store, parse
from tests.support import loader
from tests.support.crashes import KILLS, SEED
from tests.support.durable import Durable, durable
from tests.support.loader import Json, Worker, contents, document, judge, load_command

CRASHES = min(KILLS, 30)
KILLS_A_STORE = 5
COMMIT = "commit"

_PIECES = ("piece", "source", "destination", "variant", "condition", "effect")
_REVISION = ("revision", "revision_piece", "audit", COMMIT)


@pytest.fixture(scope="module")
def own() -> Iterator[Durable]:
    with durable() as running:
        with psycopg.connect(running.url, autocommit=True) as connection:
            connection.execute("CREATE ROLE bob SUPERUSER LOGIN")
        yield running


class Copied:
    """A process that begins as a copy of this one, which has the package in memory already."""

    def __init__(self, stdin: int, stdout: int) -> None:
        with warnings.catch_warnings(action="ignore"):  # of threads, which do nothing there
            self._pid = os.fork()
        if self._pid == 0:
            try:
                os.dup2(stdin, 0)
                os.dup2(stdout, 1)
                sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
                loader.main()
            finally:
                os._exit(1)
        os.close(stdin)
        os.close(stdout)

    def kill(self) -> None:
        """End it with SIGKILL."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait for its end."""
        if self._pid:
            os.waitpid(self._pid, 0)
        self._pid = 0


class Copy(Worker):
    """A worker that is ready at once."""

    def __init__(self) -> None:
        commands, own = os.pipe()
        self._answers, answers = os.pipe()
        self._commands = os.fdopen(own, "wb")
        self._pending = b""
        self._copied = self.process = Copied(commands, answers)  # type: ignore[assignment]

    def __exit__(self, *_: object) -> None:
        self._copied.kill()
        self._copied.wait()
        self._commands.close()
        os.close(self._answers)


class Work:
    """What is to be killed: a first piece of work, which is acknowledged, and a second one."""

    places: tuple[str, ...] = (*_PIECES, *_REVISION)
    is_left: bool = False
    """Whether what a killed client left undone is done by the next one."""

    def __init__(self, address: str, store: Store, directory: Path) -> None:
        self.address, self.store, self.directory = address, store, directory

    @property
    def opened(self) -> str:
        """The store that the client opens."""
        return self.address

    def prepare(self, number: int) -> Json:
        """The command that does the work of this number."""
        return load_command("a", number)

    def found(self) -> list[int]:
        """The numbers of the works that are done, wholly."""
        return contents(self.store).get("a", [])


class Push(Work):
    """Histories of a file go to the server."""

    is_left = True

    @property
    def opened(self) -> str:
        return f"sqlite:///{self.directory / 'own.db'}"

    def prepare(self, number: int) -> Json:
        with Store.open(self.opened) as source:
            source.exchange.pull(self.store)  # what was pushed, perhaps without being acknowledged
            source.load(parse(document(number)), "a")
        return {"do": "push", "with": self.address}


class Propose(Work):
    """Documents are proposed."""

    places = (*_PIECES, "proposal", "proposal_piece", "audit", COMMIT)

    def prepare(self, number: int) -> Json:
        return {"do": "propose", "name": "a", "content": number}

    def found(self) -> list[int]:
        assert contents(self.store) == {}
        proposals = self.store.reviews.list("a", closed=True)[::-1]
        assert [each.number for each in proposals] == [*range(1, len(proposals) + 1)]
        return [judge(self.store.reviews.ruleset(str(each)).export()) for each in proposals]


class Approve(Work):
    """Proposals of somebody else are approved, and become revisions by it."""

    places = ("verdict", *_REVISION)

    @property
    def opened(self) -> str:
        return self.address.replace("postgres@", "bob@")

    def prepare(self, number: int) -> Json:
        return {"do": "approve", "proposal": str(self.store.reviews.propose(parse(document(number)), "a"))}

    def found(self) -> list[int]:
        done = contents(self.store).get("a", [])
        merged = [each.revision for each in self.store.reviews.list("a", closed=True)[::-1] if each.state == "merged"]
        assert merged == [*range(1, len(done) + 1)]
        return done


WORKS = {"load": Work, "push": Push, "propose": Propose, "approve": Approve}


def process_at(witness: psycopg.Connection[Any], place: str) -> int | None:
    """The server's process whose work stands still at this place; None as long as there is none."""
    if place == COMMIT:
        asked = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'"
    else:
        asked = f"SELECT pid FROM pg_locks WHERE NOT granted AND relation = '\"{place}\"'::regclass"
    found = witness.execute(asked.encode()).fetchone()
    return None if found is None else int(found[0])


@contextmanager
def standing_still(server: Durable, address: str, worker: Worker, command: Json, place: str) -> Iterator[int]:
    """Let the client work up to this place, where it stays for the block; the server's process that stands there."""
    table = "audit" if place == COMMIT else place
    with psycopg.connect(address, autocommit=True) as witness, psycopg.connect(address) as blocker:
        blocker.execute(f'LOCK TABLE "{table}" IN SHARE ROW EXCLUSIVE MODE'.encode())
        worker.send(command)
        while (pid := process_at(witness, table)) is None:
            assert not worker.has_answered(), f"{command} writes nothing to {table}: {worker.answer()}"
        if place == COMMIT:
            server.hold_commits()
            blocker.rollback()
            while process_at(witness, COMMIT) != pid:
                assert not worker.has_answered(), f"{command} did not wait: {worker.answer()}"
        yield pid
        blocker.close()


def wait_for_end(address: str, pid: int) -> None:
    """Wait until this process of the server's has ended."""
    with psycopg.connect(address, autocommit=True) as witness:
        while witness.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone():
            pass


def kill_clients(name: str, server: Durable, kills: int, directory: Path) -> None:
    """Kill clients in the middle of their second piece of work; what should be there after each is all that is."""
    dice = random.Random(SEED)
    print(f"GGN_SEED={SEED}")
    places = Counter[str]()
    for begin in range(0, kills, KILLS_A_STORE):
        address = server.create_store()
        own = directory / str(begin)
        own.mkdir()
        with Store.open(address) as store:
            work = WORKS[name](address, store, own)
            expected: list[int] = []
            left: list[int] = []
            for number in range(0, 2 * min(KILLS_A_STORE, kills - begin), 2):
                place = dice.choice(work.places)
                with Copy() as worker:
                    assert worker.answer() == {"ready": True}
                    worker.ask(do="open", address=work.opened)
                    answer = worker.ask(**work.prepare(number))
                    assert "error" not in answer, answer
                    with standing_still(server, address, worker, work.prepare(number + 1), place) as pid:
                        assert worker.kill(0) == []
                if place == COMMIT:
                    server.release_commits()
                wait_for_end(address, pid)
                expected += [*left, number]
                if place == COMMIT:
                    expected.append(number + 1)
                left = [number + 1] if work.is_left and place != COMMIT else []
                assert work.found() == expected, place
                places[place] += 1
        server.drop_database(address)
    print(f"{name}: killed {kills} times at", dict(places))


def kill_postmasters(server: Durable, kills: int) -> None:
    """Kill the postmaster in the middle of loads; after it has recovered all that was acknowledged is there."""
    dice = random.Random(SEED)
    print(f"GGN_SEED={SEED}")
    places = Counter[str]()
    for begin in range(0, kills, KILLS_A_STORE):
        address = server.create_store()
        Store.open(address).close()
        expected: list[int] = []
        for number in range(0, 2 * min(KILLS_A_STORE, kills - begin), 2):
            place = dice.choice(Work.places)
            with Copy() as worker:
                assert worker.answer() == {"ready": True}
                worker.ask(do="open", address=address)
                assert worker.ask(**load_command("a", number))["status"] == "new"
                with (
                    suppress(psycopg.OperationalError),  # the lock goes with its server
                    standing_still(server, address, worker, load_command("a", number + 1), place),
                ):
                    server.kill()
                assert "error" in worker.answer()
            server.start()
            server.release_commits()
            expected += [number, number + 1] if place == COMMIT else [number]
            with Store.open(address) as store:
                assert contents(store) == {"a": expected}, place
            places[place] += 1
        server.drop_database(address)
    print(f"the postmaster: killed {kills} times at", dict(places))


@pytest.mark.parametrize("work", WORKS)
def test_what_was_acknowledged_is_there_when_a_client_was_killed_at_work(
    work: str, own: Durable, tmp_path: Path
) -> None:
    kill_clients(work, own, 2, tmp_path)


def test_what_was_acknowledged_is_there_when_the_postmaster_was_killed(own: Durable) -> None:
    kill_postmasters(own, 2)


@pytest.mark.long
@pytest.mark.parametrize("work", WORKS)
def test_what_was_acknowledged_is_there_when_many_clients_were_killed_at_work(
    work: str, own: Durable, tmp_path: Path
) -> None:
    kill_clients(work, own, KILLS, tmp_path)


@pytest.mark.long
def test_what_was_acknowledged_is_there_when_the_postmaster_was_killed_many_times(own: Durable) -> None:
    kill_postmasters(own, CRASHES)
