"""Watching a store, and listing its audit: every change once, whatever happens meanwhile."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from ggn_store import Store, StoreError, UnknownNameError
from ggn_store.errors import NotationError
from ggn_store.model.teams.event import ACTIONS, Event
from tests.support import postgres
from tests.support.crashes import crash, crashing
from tests.support.loader import ROOT, document, store_unlisted
from tests.support.postgres import Server
from tests.support.program import Command, Result, child_environment
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.stored import KNIGHT, ROOK

INSERT_TAG = (
    "INSERT INTO tag (ruleset_id, name, number, revision_id, created_at) "
    "SELECT ruleset_id, %s, 1, id, now() FROM revision WHERE number = 1 LIMIT 1"
)


def told(event: Event) -> tuple[str, str]:
    return event.action, event.about


def take(events: Iterator[Event], count: int) -> list[tuple[str, str]]:
    return [told(next(events)) for _ in range(count)]


def test_changes_are_told_as_they_happen_and_only_those_from_now_on(store: Store) -> None:
    store.load(KNIGHT, "game")
    with closing(store.upkeep.watch()) as events:  # type: ignore[type-var]
        store.load(ROOK, "game", author="Ann", message="rook")
        first = next(events)
        assert (told(first), first.detail["author"], first.detail["message"]) == (("revision", "game@2"), "Ann", "rook")
        assert first.role == store.session.database.role
        store.tags.set("game@1", "stable")
        store.delete("game")
        store.load(KNIGHT, "game")
        assert sorted(take(events, 4)) == [
            ("delete", "game"),
            ("restore", "game"),
            ("revision", "game@3"),
            ("tag", "game:stable"),
        ]
    assert list(store.upkeep.watch(timeout=0.1)) == []


def test_what_is_collected_is_told(store: Store) -> None:
    store_unlisted(store, [0])
    with closing(store.upkeep.watch(only=["gc"])) as events:  # type: ignore[type-var]
        store.upkeep.collect()
        assert {about for _, about in take(events, 4)} == {"piece C:K^", "piece C:+R", "piece c:p", "piece C:P"}


def test_only_what_is_asked_for_is_told(store: Store) -> None:
    with (
        closing(store.upkeep.watch("game", "team/")) as named,  # type: ignore[type-var]
        closing(store.upkeep.watch(only=["tag"])) as tags,  # type: ignore[type-var]
    ):
        for name in ("other", "team/a", "team", "games", "game"):
            store.load(KNIGHT, name)
        store.tags.set("other", "x")
        store.tags.set("game", "x")
        assert take(named, 3) == [("revision", "team/a@1"), ("revision", "game@1"), ("tag", "game:x")]
        assert take(tags, 2) == [("tag", "other:x"), ("tag", "game:x")]


def test_it_goes_on_after_an_id(store: Store) -> None:
    for number in range(4):
        store.load(document(number), "game")
    events = list(store.upkeep.watch(since=0, timeout=0.1))
    assert [told(event) for event in events] == [("revision", f"game@{number}") for number in (1, 2, 3, 4)]
    for event in events:
        assert event.since == event.id
        rest = list(store.upkeep.watch(since=event.since, timeout=0.1))
        assert [each.id for each in rest] == [each.id for each in events if each.id > event.id]


def test_many_changes_are_told_in_their_order(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ggn_store.store.history.audit._AT_ONCE", 3)
    store.load(KNIGHT, "game")
    for number in range(10):
        store.tags.set("game", f"tag{number}")
    found = list(store.upkeep.watch(since=1, timeout=0.1))
    assert [event.about for event in found] == [f"game:tag{number}" for number in range(10)]
    assert [event.about for event in store.upkeep.audit("game")] == ["game@1", *(event.about for event in found)]


def test_a_store_in_memory_can_be_watched() -> None:
    with Store.open("sqlite://") as store, closing(store.upkeep.watch(interval=0.01)) as events:  # type: ignore[type-var]
        store.load(KNIGHT, "game")
        assert take(events, 1) == [("revision", "game@1")]


# --- transactions that become visible in another order than they began ---


@contextmanager
def two_writers(server: Server) -> Iterator[tuple[Store, psycopg.Connection, psycopg.Connection]]:
    """A store with a ruleset, and two others who write to it."""
    address = server.create_store()
    with Store.open(address) as store:
        store.load(KNIGHT, "game")
        with psycopg.connect(address) as first, psycopg.connect(address) as second:
            yield store, first, second
    server.drop_database(address)


def test_the_lower_id_that_is_committed_later_is_neither_missed_nor_told_twice(postgres_server: Server) -> None:
    with two_writers(postgres_server) as (store, early, late), closing(store.upkeep.watch()) as events:  # type: ignore[type-var]
        early.execute(INSERT_TAG, ["lower"])
        late.execute(INSERT_TAG, ["higher"])
        late.commit()
        higher = next(events)
        assert told(higher) == ("tag", "game:higher")
        assert higher.since is not None
        assert higher.since < higher.id - 1  # to go on from there tells of the lower one
        early.commit()
        lower = next(events)
        assert told(lower) == ("tag", "game:lower")
        assert lower.id < higher.id
        store.tags.set("game", "last")
        assert take(events, 1) == [("tag", "game:last")]
        resumed = [told(event) for event in store.upkeep.watch(since=higher.since, timeout=0.1)]
        assert resumed == [("tag", "game:lower"), ("tag", "game:higher"), ("tag", "game:last")]


def test_a_change_that_was_begun_before_the_watch_and_committed_later_is_told(postgres_server: Server) -> None:
    with two_writers(postgres_server) as (store, early, late):
        early.execute(INSERT_TAG, ["lower"])
        late.execute(INSERT_TAG, ["higher"])
        late.commit()
        with closing(store.upkeep.watch()) as events:  # type: ignore[type-var]
            early.commit()
            assert take(events, 1) == [("tag", "game:lower")]
            store.tags.set("game", "last")
            assert take(events, 1) == [("tag", "game:last")]


def test_what_was_rolled_back_is_never_told(postgres_server: Server) -> None:
    with two_writers(postgres_server) as (store, early, late), closing(store.upkeep.watch()) as events:  # type: ignore[type-var]
        early.execute(INSERT_TAG, ["undone"])
        late.execute(INSERT_TAG, ["done"])
        early.rollback()
        late.commit()
        store.tags.set("game", "last")
        assert take(events, 2) == [("tag", "game:done"), ("tag", "game:last")]


def test_transactions_in_any_order_are_all_told_once(postgres_server: Server) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store, closing(store.upkeep.watch()) as events:  # type: ignore[type-var]
        store.load(KNIGHT, "game")
        writers = [psycopg.connect(address) for _ in range(5)]
        expected = [("revision", "game@1")]
        seen: list[tuple[str, str]] = take(events, 1)
        for turn in range(12):
            for index in range(turn % 5 + 1):
                writers[index].execute(INSERT_TAG, [f"t{turn}.{index}"])
            for index in reversed(range(5)):
                if (turn + index) % 3:
                    writers[index].commit()
        for writer in writers:
            writer.commit()
            writer.close()
        expected += [("tag", f"game:t{turn}.{index}") for turn in range(12) for index in range(turn % 5 + 1)]
        seen += take(events, len(expected) - len(seen))
        assert sorted(seen) == sorted(expected)
        store.tags.set("game", "last")
        assert take(events, 1) == [("tag", "game:last")]
    postgres_server.drop_database(address)


# --- connections that are lost ---


def cut_all(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def test_a_connection_that_is_lost_is_made_again_without_loss(postgres_server: Server) -> None:
    address = postgres_server.create_store()
    lost: list[str] = []
    with (
        Store.open(address) as store,
        Store.open(address) as writer,
        closing(store.upkeep.watch(on_loss=lost.append)) as events,  # type: ignore[type-var]
    ):
        for number in range(3):
            writer.load(document(number), "game")
            assert take(events, 1) == [("revision", f"game@{number + 1}")]
            cut_all(address)
            writer.tags.set("game", f"t{number}")
            assert take(events, 1) == [("tag", f"game:t{number}")]
    assert len(lost) == 3
    assert all(message.startswith("postgresql://") for message in lost)
    postgres_server.drop_database(address)


def test_a_server_that_was_killed_and_came_back_is_watched_on_without_loss() -> None:
    lost: list[str] = []
    with postgres.server() as server, crashing(server) as address:
        with (
            Store.open(address, upgrade=True) as store,
            closing(store.upkeep.watch(on_loss=lost.append)) as events,  # type: ignore[type-var]
        ):
            store.load(KNIGHT, "game")
            assert take(events, 1) == [("revision", "game@1")]
            store.tags.set("game", "before")
            crash(address)
            assert take(events, 1) == [("tag", "game:before")]
            store.tags.set("game", "after")
            assert take(events, 1) == [("tag", "game:after")]
        assert lost


def test_what_is_no_loss_of_a_connection_is_an_error(postgres_server: Server) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store:
        with closing(store.upkeep.watch()) as events:  # type: ignore[type-var]
            with store.session.database.writing() as connection:
                connection.execute(text("DROP TABLE audit"))
            with pytest.raises(StoreError, match="a table is missing"):
                next(events)
        with pytest.raises(StoreError, match="a table is missing"):
            store.upkeep.watch()
    postgres_server.drop_database(address)


# --- the audit ---


def test_the_audit_is_listed_by_ruleset_id_time_and_kind(store: Store) -> None:
    for name in ("game", "team/a", "game"):
        store.load(document(ord(name[0]) + len(list(store.upkeep.audit()))), name)
    store.tags.set("game@1", "stable", author="Ann", message="first")
    everything = [*store.upkeep.audit()]
    assert [told(event) for event in everything] == [
        ("revision", "game@1"),
        ("revision", "team/a@1"),
        ("revision", "game@2"),
        ("tag", "game:stable"),
    ]
    ids = [event.id for event in everything]
    assert [event.id for event in store.upkeep.audit("game")] == [ids[0], ids[2], ids[3]]
    assert [event.id for event in store.upkeep.audit("team/")] == [ids[1]]
    assert [event.id for event in store.upkeep.audit(since=ids[1])] == ids[2:]
    assert [event.id for event in store.upkeep.audit(limit=2)] == ids[2:]
    assert [event.id for event in store.upkeep.audit(only=["tag", "state"])] == [ids[3]]
    assert [event.id for event in store.upkeep.audit(since=everything[2].at)] == ids[2:]
    now = datetime.now(UTC)
    assert list(store.upkeep.audit(since=now + timedelta(hours=1))) == []
    assert all(now - timedelta(hours=1) < event.at <= now + timedelta(seconds=1) for event in everything)
    assert everything[3].what == "-> game@1 by Ann: first"
    with pytest.raises(UnknownNameError, match='no ruleset "nothing"'):
        store.upkeep.audit("nothing")
    with pytest.raises(NotationError, match="cannot name a ruleset"):
        store.upkeep.audit("a b")


def test_the_kinds_of_changes_are_those_that_the_triggers_tell_of(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store.db")) as store, store.session.database.reading() as connection:
        triggers = connection.execute(text("SELECT sql FROM sqlite_master WHERE sql LIKE '%INSERT INTO audit%'"))
        values = [re.split(r"\|\| '000', |, \(SELECT|, NEW\.|, OLD\.|, NULL", sql)[1] for sql in triggers.scalars()]
    # The action itself, or those that a CASE leads to.
    told_of = {action for value in values for action in re.findall(r"(?:^|THEN |ELSE )'([a-z]+)'", value)}
    assert told_of == set(ACTIONS)


# --- the commands ---


def test_the_audit_is_listed_by_a_command(ggn: Command, address: str) -> None:
    with Store.open(address) as store:
        store.load(KNIGHT, "game", author="Ann", message="\x1b[31mred")
        store.tags.set("game", "stable", author="Ben")
        store.load(KNIGHT, "other")
    records = ggn("audit").records()
    assert [(each["action"], each["subject"]) for each in records] == [
        ("revision", "game"),
        ("tag", "game"),
        ("revision", "other"),
    ]
    assert [each["id"] for each in ggn("audit", "game", "--since", str(records[0]["id"])).records()] == [
        records[1]["id"]
    ]
    assert ggn("audit", "--limit", "1").records() == records[2:]
    assert ggn("audit", "--only", "tag,state").records() == [records[1]]
    assert ggn("audit", "--since", records[2]["at"].removesuffix("Z")).records() == records[2:]
    assert ggn("audit", "--since", "2100-01-01").out == ""
    lines = ggn("audit", "--format", "table").out.splitlines()
    assert lines[0].split() == ["id", "at", "role", "action", "about", "what"]
    assert re.search(r"revision  game@1 +by Ann: \\x1b\[31mred$", lines[2])
    assert lines[3].rstrip().endswith("-> game@1 by Ben")
    for wrong in (("--since", "yesterday"), ("--only", "revisions"), ("--limit", "0")):
        assert ggn("audit", *wrong).code == 2
    assert ggn("audit", "nothing").code == 1


def test_a_command_watches_for_a_count_or_a_time(ggn: Command, address: str) -> None:
    with Store.open(address) as store:
        store.load(KNIGHT, "game", author="Ann")
        store.tags.set("game", "stable", author="Ben")
    both = ggn("watch", "--since", "0", "--count", "2")
    assert (both.code, both.err) == (0, "")
    assert [(each["action"], each["subject"]) for each in both.records()] == [("revision", "game"), ("tag", "game")]
    assert ggn("watch", "--since", "0", "--only", "tag", "--timeout", "0.1").records() == both.records()[1:]
    assert ggn("watch", "--timeout", "0.1") == Result(0, "", "")
    few = ggn("watch", "--since", "1", "--count", "2", "--timeout", "0.1")
    assert (few.code, few.err, len(few.records())) == (1, "1 of 2 changes came in 0.1 seconds\n", 1)
    shown = ggn("watch", "--since", "0", "--count", "1", "--format", "text").out
    role = "" if "sqlite" in address else "postgres  "
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d  {role}revision  game@1  by Ann\n", shown)
    for wrong in (("--since", "then"), ("--only", "x"), ("--count", "0"), ("--interval", "0")):
        assert ggn("watch", *wrong).code == 2


@contextmanager
def watching(address: str, *arguments: str, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """The command as a process, which has begun to watch."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ggn_store", "--db", address, "watch", "--since", "0", *arguments],
        env=child_environment(),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What a shell starts in the background ignores Ctrl-C, and what that starts does, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **more,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_each_line_is_there_at_once_and_a_signal_ends_it(store: Store, address: str, number: int, code: int) -> None:
    store.load(KNIGHT, "game")
    with watching(address) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["subject"] == "game"
        store.tags.set("game", "stable")
        assert json.loads(process.stdout.readline())["action"] == "tag"
        process.send_signal(number)
        assert process.wait() == code
        assert process.stdout.read() == b""
        assert b"Traceback" not in process.stderr.read()


def test_it_ends_when_nobody_reads_any_more(store: Store, address: str) -> None:
    store.load(KNIGHT, "game")
    with watching(address) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 0  # without another change
        assert process.stderr.read() == b""


def test_a_lost_connection_is_told_on_standard_error(postgres_server: Server) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store:
        store.load(KNIGHT, "game")
        with watching(address, "--count", "2") as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            cut_all(address)
            assert process.stderr.readline().endswith(b"; trying again\n")
            store.tags.set("game", "stable")
            assert json.loads(process.stdout.readline())["action"] == "tag"
            assert process.wait() == 0
    postgres_server.drop_database(address)
