"""Loads that are killed, starved of disk, and crowded: a document is wholly there, or wholly absent."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ggn_store import DocumentError, Store, StoreError, find_game, generate, parse
from ggn_store.model.teams.revision import Revision
from tests.support.crashes import SEED
from tests.support.databases import DATABASES, new_address
from tests.support.loader import ROOT, Worker, canonical, contents, document, judge, load_command, survivors
from tests.support.postgres import Server

CHESS = ROOT / "data" / "chess.json"
KILLS_A_STORE = 4
KILLS = int(os.environ.get("GGN_KILLS", "200"))
MEBIBYTE = 2**20


# --- kill -9 ---


def kill_loads(address: str, kills: int, dice: random.Random) -> None:
    """Kill loaders of one store at random moments; after each, what the store should hold is what it holds."""
    sent: list[tuple[str, int]] = []
    for _ in range(kills):
        with Worker() as worker:
            assert worker.answer() == {"ready": True}
            first = len(sent)
            loads = [(dice.choice("abc"), number) for number in range(first, first + 40)]
            worker.send({"do": "open", "address": address, "upgrade": True}, *(load_command(*load) for load in loads))
            # A load takes some 20 milliseconds, opening a store for the first time some 200.
            while_opening = dice.random() < 0.2
            answers = [] if while_opening else [worker.answer() for _ in range(dice.randint(1, 4))]
            answers += worker.kill(dice.uniform(0, 0.3 if while_opening else 0.04))
        assert [answer for answer in answers if "error" in answer] == []
        with Store.open(address, upgrade=True) as store:
            sent = survivors(sent + loads, first + max(0, len(answers) - 1), contents(store))
    with Store.open(address) as store:
        name, content = dice.choice("abc"), len(sent)
        number = sum(each == name for each, _ in sent) + 1
        revision = store.load(parse(document(content)), name)
        assert (revision.number, revision.status) == (number, "new")
        assert store.ruleset(name).export() == canonical(content)


def kill_loads_of_stores(database: str, kills: int, directory: Path, request: pytest.FixtureRequest) -> None:
    """Kill loaders of one new store after the other; a store that grows takes longer to look through."""
    dice = random.Random(SEED)
    print(f"GGN_SEED={SEED}")
    for done in range(0, kills, KILLS_A_STORE):
        with new_address(database, directory, request) as address:
            kill_loads(address, min(KILLS_A_STORE, kills - done), dice)
        (directory / "store.db").unlink(missing_ok=True)


@pytest.mark.parametrize("database", DATABASES)
def test_a_document_is_wholly_there_or_wholly_absent_after_a_kill(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kill_loads_of_stores(database, 2, tmp_path, request)


@pytest.mark.long
@pytest.mark.parametrize("database", DATABASES)
def test_a_document_is_wholly_there_or_wholly_absent_after_many_kills(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kill_loads_of_stores(database, KILLS, tmp_path, request)


def kill_while_writing(directory: Path, share: float) -> None:
    """Kill a loader by the write that brings the file to this share of the size that it would have in the end."""
    path, whole = directory / "store.db", directory / "whole.db"
    with Store.open(str(path)) as store:
        store.load(parse(document(0)), "a")
    shutil.copyfile(path, whole)
    with Store.open(str(whole)) as store:
        store.load(parse(document(1)), "a")
    with Worker() as worker:
        worker.answer()
        worker.ask(do="open", address=str(path))
        worker.ask(do="limit", bytes=int(share * whole.stat().st_size), deadly=True)
        worker.send(load_command("a", 1))
        assert worker.rest() == []
        assert worker.process.returncode == -signal.SIGXFSZ
    assert (directory / "store.db-journal").exists()
    with Store.open(str(path)) as store:
        assert contents(store) == {"a": [0]}
        assert store.load(parse(document(1)), "a").number == 2
        assert contents(store) == {"a": [0, 1]}


@pytest.mark.parametrize("share", [0.7, *(pytest.param(each, marks=pytest.mark.long) for each in (0.2, 0.99))])
def test_a_kill_in_the_middle_of_writing_the_file_leaves_the_document_out(share: float, tmp_path: Path) -> None:
    kill_while_writing(tmp_path, share)


@pytest.mark.long
def test_a_kill_at_any_place_of_writing_the_file_leaves_the_document_out(tmp_path: Path) -> None:
    for step in range(50):
        directory = tmp_path / str(step)
        directory.mkdir()
        kill_while_writing(directory, step / 50)


def test_a_new_file_whose_making_was_killed_is_not_there_and_made_by_the_next_to_come(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    with Worker() as worker:
        worker.answer()
        worker.ask(do="limit", bytes=20_000, deadly=True)
        worker.send({"do": "open", "address": address})
        assert worker.rest() == []
    assert not (tmp_path / "store.db").exists()
    with Store.open(address) as store:
        store.load(parse(document(0)), "a")
        assert contents(store) == {"a": [0]}


# --- full disk, lost connection ---


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """The file of a game that takes more room than a store has at first."""
    path = tmp_path / "game.json"
    path.write_text(generate(find_game("microchess")).canonical(), encoding="utf-8")
    return path


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path: Path, game: Path) -> None:
    path = tmp_path / "store.db"
    with Worker() as worker:
        worker.answer()
        worker.ask(do="open", address=str(path))
        assert worker.ask(**load_command("a", 0))["status"] == "new"
        with Store.open(str(path)) as store:
            for room in (1, game.stat().st_size // 2):
                worker.ask(do="limit", bytes=path.stat().st_size + room)
                answer = worker.ask(do="load_all", paths=[str(game)])
                [message] = answer["statuses"]
                assert message.startswith(f"sqlite:///{path}: ")
                assert "full" in message
                assert "nothing was stored" in message
                assert "\n" not in message
                assert worker.ask(do="check") == {"contents": {"a": [0]}}
                assert contents(store) == {"a": [0]}
        worker.ask(do="limit", bytes=None)
        assert worker.ask(do="load_all", paths=[str(game)])["statuses"] == {"new": 1}
    with Store.open(str(path)) as store:
        assert store.upkeep.check() == []
        assert store.ruleset("game").export() == game.read_text(encoding="utf-8")


def test_a_full_disk_ends_the_command_with_one_clear_line(tmp_path: Path, game: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(parse(document(0)), "a")
    limit = path.stat().st_size + 5_000
    done = subprocess.run(
        [sys.executable, "-m", "ggn_store", "--db", str(path), "load", str(game)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)),
    )
    assert done.returncode == 1
    assert sum("nothing was stored" in line for line in done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr
    with Store.open(str(path)) as store:
        assert contents(store) == {"a": [0]}


def test_a_full_disk_of_the_server_is_a_clear_error_and_loses_nothing(postgres_server: Server) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store:
        store.load(parse(document(0)), "a")
        with psycopg.connect(address, autocommit=True) as other:
            other.execute(
                "CREATE FUNCTION fill_up() RETURNS trigger AS $$ BEGIN "
                "RAISE EXCEPTION E'could not extend file\\nHINT' USING ERRCODE = '53100'; END $$ LANGUAGE plpgsql"
            )
            for table in ("revision", "piece", "condition", "revision_piece", "audit"):
                other.execute(f"CREATE TRIGGER full_disk BEFORE INSERT ON {table} EXECUTE FUNCTION fill_up()")
                with pytest.raises(StoreError) as caught:
                    store.load(parse(document(1)), "a")
                assert str(caught.value).endswith(": the server's disk is full; nothing was stored")
                other.execute(f"DROP TRIGGER full_disk ON {table}")
                assert contents(store) == {"a": [0]}
        assert store.load(parse(document(1)), "a").number == 2
    postgres_server.drop_database(address)


def test_a_connection_that_breaks_during_a_load_is_a_clear_error_and_loses_nothing(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store:
        store.load(parse(document(0)), "a")
        fill, calls = store.session.database.fill, Counter[str]()

        def fill_and_break(connection: Any, columns: Any, rows: Any) -> None:
            columns = list(columns)
            calls[columns[0].table.name] += 1
            if calls["condition"] == 1:
                process = connection.connection.driver_connection.info.backend_pid
                with psycopg.connect(address, autocommit=True) as other:
                    other.execute("SELECT pg_terminate_backend(%s, 10000)", [process])
            fill(connection, columns, rows)

        monkeypatch.setattr(store.session.database, "fill", fill_and_break)
        with pytest.raises(StoreError, match=r"^postgresql://[^\n]*$"):
            store.load(parse(document(1)), "a")
        monkeypatch.undo()
        assert contents(store) == {"a": [0]}
        assert store.load(parse(document(1)), "a").number == 2
        assert contents(store) == {"a": [0, 1]}
    postgres_server.drop_database(address)


def test_a_store_serves_on_after_the_server_has_cut_its_connections(postgres_server: Server) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store:
        store.load(parse(document(0)), "a")
        with psycopg.connect(address, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        assert contents(store) == {"a": [0]}
    postgres_server.drop_database(address)


def test_a_file_that_another_process_keeps_writing_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ggn_store.store.database.sqlite.BUSY_SECONDS", 0)
    with Store.open(str(tmp_path / "store.db")) as store:
        other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="other processes have kept the file busy"):
            store.load(parse(document(0)), "a")
        assert store.list() == ()
        other.close()
        assert store.load(parse(document(0)), "a").status == "new"


def test_an_invalid_document_among_others_leaves_nothing_behind(store: Store) -> None:
    store.load(parse(document(0)), "a")
    broken = document(1) | {"C:Q": {"a1": {"a2": [{"diff": {"board": {"zz": 5}}}]}}}
    with pytest.raises(DocumentError):
        store.load(broken, "b")
    assert contents(store) == {"a": [0]}


# --- many at once ---


class Watchers:
    """Threads that look at a store while others write to it; what they saw wrong is raised at the end.

    They look a few times each round only: a reader of SQLite keeps writers waiting.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._over = False
        self._errors: list[Exception] = []
        looks = ((self._read, 5), (self._check, 1))
        self._turns = [threading.Semaphore(0) for _ in looks]
        self._threads = [
            threading.Thread(target=self._watch, args=[turn, *look])
            for turn, look in zip(self._turns, looks, strict=True)
        ]

    def __enter__(self) -> Watchers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self.look()
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]

    def look(self) -> None:
        """Let the threads look now."""
        for turn in self._turns:
            turn.release()

    def _watch(self, turn: threading.Semaphore, look: Callable[[Store], None], times: int) -> None:
        try:
            with Store.open(self._address) as store:
                while turn.acquire() and not self._over:
                    for _ in range(times):
                        look(store)
        except Exception as error:
            self._errors.append(error)

    def _read(self, store: Store) -> None:
        for summary in store.list():
            assert summary.counts["pieces"] == 4
            judge(store.ruleset(summary.revision.name).export())

    def _check(self, store: Store) -> None:
        assert store.upkeep.check() == []


def crowd(address: str, rounds: int, loaders: int) -> None:
    """Let processes load at once: the same document, one of their own, and rivals under one name.

    A round begins when all have ended the one before, so what the store must hold after it is known.
    """
    with Store.open(address) as store, ExitStack() as stack:
        workers = [stack.enter_context(Worker()) for _ in range(loaders)]
        for worker in workers:
            worker.answer()
            worker.send({"do": "open", "address": address})
        assert [worker.answer() for worker in workers] == [{}] * loaders
        with Watchers(address) as watchers:
            for turn in range(rounds):
                watchers.look()
                for index, worker in enumerate(workers):
                    rival = turn * loaders + index
                    worker.send(load_command("same", turn), load_command(f"own/{index}", rival))
                    worker.send(load_command("rivals", rival), load_command("same", turn))
                answers = [[worker.answer() for _ in range(4)] for worker in workers]
                assert [answer for each in answers for answer in each if "error" in answer] == []
                same = Counter(each[index]["status"] for each in answers for index in (0, 3))
                assert same == {"new": 1, "unchanged": 2 * loaders - 1}
                assert {each[index]["number"] for each in answers for index in (0, 3)} == {turn + 1}
                assert {(each[1]["status"], each[1]["number"]) for each in answers} == {("new", turn + 1)}
                first = turn * loaders + 1
                assert sorted(each[2]["number"] for each in answers) == list(range(first, first + loaders))
        found = contents(store)
        assert found.pop("same") == list(range(rounds))
        assert sorted(found.pop("rivals")) == list(range(rounds * loaders))
        assert found == {f"own/{i}": list(range(i, rounds * loaders, loaders)) for i in range(loaders)}


@pytest.mark.parametrize("loaders", [2, pytest.param(4, marks=pytest.mark.long)])
def test_processes_load_at_once_and_lose_nothing(address: str, loaders: int) -> None:
    crowd(address, 1, loaders)


@pytest.mark.long
def test_eight_processes_load_at_once_for_long_and_lose_nothing(address: str) -> None:
    crowd(address, 40, 8)


def test_threads_that_load_at_once_into_one_store_lose_nothing(store: Store) -> None:
    together = threading.Barrier(4)
    errors: list[Exception] = []

    def load(index: int) -> None:
        try:
            for turn in range(2):
                together.wait()
                store.load(parse(document(turn)), "same")
                store.load(parse(document(turn * 4 + index)), f"own/{index}")
        except Exception as error:
            together.abort()
            errors.append(error)

    threads = [threading.Thread(target=load, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    found = contents(store)
    assert set(found.pop("same")) == set(range(2))
    assert found == {f"own/{index}": list(range(index, 8, 4)) for index in range(4)}


def test_loads_that_meet_the_same_pieces_from_both_ends_wait_for_each_other(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres_server.create_store()
    with (
        Store.open(address) as store,
        ThreadPoolExecutor(1) as other_thread,
        psycopg.connect(address, autocommit=True) as watcher,
    ):
        store.load(document(0), "base")
        fill = store.session.database.fill
        other: list[Future[Revision]] = []

        def fill_and_let_the_other_come(connection: Any, columns: Any, rows: Any) -> None:
            columns = list(columns)
            fill(connection, columns, rows)
            if columns[0].table.name == "source" and not other:
                backwards = dict(reversed(document(8).items()))
                other.append(other_thread.submit(store.load, backwards, "backwards"))
                waiting = (
                    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                )
                while not other[0].done() and watcher.execute(waiting).fetchone() is None:
                    pass

        monkeypatch.setattr(store.session.database, "fill", fill_and_let_the_other_come)
        assert store.load(document(8), "forwards").status == "new"
        assert other[0].result().status == "new"
        assert store.ruleset("forwards").export() == canonical(8)
        assert store.upkeep.check() == []
    postgres_server.drop_database(address)


# --- memory ---


def chess_games(numbers: Iterable[int]) -> Iterator[str]:
    """Documents as large as chess that share no piece with it or with one another: their style is another."""
    text = CHESS.read_text(encoding="utf-8")
    for number in numbers:
        yield text.replace('"C:', f'"C{number}:').replace('"c:', f'"c{number}:')


def test_memory_does_not_grow_from_document_to_document(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "games.ndjson.gz", "wt", encoding="utf-8", compresslevel=1) as stream:
        for number, text in enumerate(chess_games(range(5))):
            stream.write(json.dumps({"name": f"game-{number}", "document": json.loads(text)}) + "\n")
    with Worker() as worker:
        worker.answer()
        worker.ask(do="open", address=str(tmp_path / "store.db"))
        answer = worker.ask(do="load_all", paths=[str(tmp_path / "games.ndjson.gz")])
    assert answer["statuses"] == {"new": 5}
    assert answer["peaks"][4] < 1.2 * answer["peaks"][1]


@pytest.mark.long
def test_two_hundred_games_of_chess_size_load_within_300_megabytes(address: str, tmp_path: Path) -> None:
    games = tmp_path / "games"
    games.mkdir()
    for number, text in enumerate(chess_games(range(200))):
        with gzip.open(games / f"game-{number}.json.gz", "wt", encoding="utf-8", compresslevel=1) as stream:
            stream.write(text)
    with Worker() as worker:
        worker.answer()
        worker.ask(do="open", address=address, upgrade=True)
        answer = worker.ask(do="load_all", paths=[str(games)])
    assert answer["statuses"] == {"new": 200}
    print(f"200 documents in {answer['seconds']:.0f} s, {200 / answer['seconds']:.2f} a second; ", end="")
    print(f"peak {answer['peaks'][-1]:.0f} MiB, {answer['peaks'][1]:.0f} MiB after the second")
    assert max(answer["peaks"]) * MEBIBYTE < 300_000_000
    with Store.open(address) as store:
        assert len(store.list()) == 200
