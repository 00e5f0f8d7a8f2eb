"""Transfers that go on after a refusal, and after an outage of the server."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ggn_store import Store
from ggn_store.api.session.patience import Patience
from ggn_store.errors import ConflictError
from tests.support.postgres import Server
from tests.support.program import QUICK, QUICKER, Program
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

_NAMES = ("a", "b", "c", "d")


class Outage:
    """A server that takes no connection to a database while this is on."""

    def __init__(self, server: Server, url: str) -> None:
        self._server = server
        self._name = conninfo_to_dict(url)["dbname"]

    def begin(self) -> None:
        self._do(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS false")
        self._do(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self._name}'")

    def end(self) -> None:
        self._do(f"ALTER DATABASE {self._name} ALLOW_CONNECTIONS true")

    def _do(self, statement: str) -> None:
        with psycopg.connect(self._server.url, autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def _stores(postgres_server: Server) -> Iterator[tuple[Store, Store, Outage]]:
    """A store in a file with several rulesets, an empty one on a server, and what cuts the server off."""
    url = postgres_server.create_store()
    with Store.open("mine.db") as mine, Store.open(url) as theirs:
        for name in _NAMES:
            mine.load(QUICK, name)
        outage = Outage(postgres_server, url)
        yield mine, theirs, outage
        outage.end()


@pytest.mark.parametrize("is_push", [True, False])
def test_a_transfer_goes_on_after_an_outage(postgres_server: Server, is_push: bool) -> None:
    with _stores(postgres_server) as (mine, theirs, outage):
        if not is_push:
            theirs.exchange.pull(mine)
        told: list[str] = []
        pauses: list[float] = []

        def begin(name: str, _done: int, _more: int) -> None:
            if name == "b" and not told:
                outage.begin()

        def wait(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                outage.end()

        patience = Patience(tell=told.append, sleep=wait)
        with Store.open("other.db") as other:
            if is_push:
                found = list(mine.exchange.push_each(theirs, progress=begin, patience=patience))
            else:
                found = list(other.exchange.pull_each(theirs, progress=begin, patience=patience))
        assert [(each.name, each.error) for each in found] == [(name, None) for name in _NAMES]
        # What was stored before the other side's connection was lost is there.
        assert [each.status for each in found if is_push or each.name != "b"] == ["new"] * (4 if is_push else 3)
        assert pauses == [1, 2, 4]
        assert all(each.endswith(f"; trying again in {pause:g} s") for each, pause in zip(told, pauses, strict=True))
        again = mine.exchange.push(theirs)
        assert {each.status for each in again} == {"unchanged"}
        assert theirs.upkeep.check() == []


def test_an_outage_that_lasts_ends_all_tries_and_a_later_run_does_the_rest(postgres_server: Server) -> None:
    with _stores(postgres_server) as (mine, theirs, outage):
        pauses: list[float] = []

        def begin(name: str, _done: int, _more: int) -> None:
            if name == "b":
                outage.begin()

        found = list(mine.exchange.push_each(theirs, progress=begin, patience=Patience(sleep=pauses.append)))
        assert [(each.name, each.status) for each in found] == [
            ("a", "new"),
            *((name, "failed") for name in ("b", "c", "d")),
        ]
        assert pauses == [1, 2, 4, 8]  # what follows is not waited for again
        outage.end()
        found = list(mine.exchange.push_each(theirs))
        assert [each.status for each in found] == ["unchanged", "new", "new", "new"]


def test_what_no_outage_causes_is_not_tried_again(postgres_server: Server) -> None:
    with _stores(postgres_server) as (mine, theirs, _):
        theirs.load(QUICKER, "b", author="bob")
        pauses: list[float] = []
        found = list(mine.exchange.push_each(theirs, patience=Patience(sleep=pauses.append)))
        assert [each.status for each in found] == ["new", "failed", "new", "new"]
        assert isinstance(found[1].error, ConflictError)
        assert pauses == []


def test_a_server_that_is_away_from_the_start_is_tried_again(
    postgres_server: Server, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(Patience.__init__, "__defaults__", (5, 1.0, 30.0, lambda _: None, pauses.append))
    with _stores(postgres_server) as (_, theirs, outage):
        outage.begin()
        remote = theirs.session.database.url.render_as_string(hide_password=False)
        result = run("--db", "mine.db", "push", "--all", "--remote", remote, "--tries", "3")
        assert (result.code, result.out, pauses) == (1, "", [1, 2])
        assert "trying again in 1 s" in result.err
        assert "trying again in 2 s" in result.err
        assert run("--db", "mine.db", "push", "--all", "--remote", remote, "--tries", "1").code == 1
        assert pauses == [1, 2]


def _refuse(listening: socket.socket, said: bytes) -> None:
    """Ask whoever connects for a password, and refuse it, as a server of Postgres does."""
    with listening.accept()[0] as client:
        client.recv(4096)
        client.sendall(b"R" + struct.pack(">ii", 8, 3))
        client.recv(4096)
        fields = b"SFATAL\0VFATAL\0C28P01\0M" + said + b"\0\0"
        client.sendall(b"E" + struct.pack(">i", 4 + len(fields)) + fields)


def test_a_wrong_password_is_no_outage(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(Patience.__init__, "__defaults__", (5, 1.0, 30.0, lambda _: None, pauses.append))
    with socket.create_server(("127.0.0.1", 0)) as listening, Store.open("mine.db") as mine:
        mine.load(QUICK, "a")
        answering = threading.Thread(target=_refuse, args=(listening, b"Passwort-Authentifizierung"))
        answering.start()
        remote = f"postgresql://u:s3cret@127.0.0.1:{listening.getsockname()[1]}/x?sslmode=disable&gssencmode=disable"
        result = run("--db", "mine.db", "push", "--all", "--remote", remote)
        answering.join()
    assert (result.code, pauses) == (1, [])
    assert "Passwort-Authentifizierung" in result.err
    assert "s3cret" not in result.err


def test_a_push_of_many_ends_with_a_summary(run: Program, address: str) -> None:
    with Store.open("mine.db") as mine, Store.open(address) as theirs:
        for name in (*_NAMES, "team/x", "old"):
            mine.load(QUICK, name, author="ann")
        theirs.exchange.pull(mine, "d")
        theirs.load(QUICKER, "b", author="bob")
        theirs.exchange.pull(mine, "old")
        mine.load(QUICKER, "old", author="ann")
        theirs.states.set("old", "retired", author="bob")
        theirs.policies.set("team", review=1, author="bob")
    for pushed in (3, 0):
        result = run("--db", "mine.db", "push", "--all", "--remote", address)
        assert result.code == 3
        *_, summary, heading, _rule, one, two, three = result.err.splitlines()
        counts = ["2 pushed", "1 up to date"] if pushed else ["3 up to date"]
        assert summary == ", ".join([*counts, "3 refused"])
        assert heading.split() == ["ruleset", "outcome", "why"]
        assert [line.split()[:2] for line in (one, two, three)] == [
            ["b", "refused"],
            ["old", "refused"],
            ["team/x", "refused"],
        ]
        assert "retired" in two
        assert "takes only what was proposed, and approved by 1 other" in three
        assert len(result.out.splitlines()) == 3
    assert "pushed" not in run("--db", "mine.db", "push", "a", "--remote", address).err


def test_an_interrupted_push_says_what_was_done(
    run: Program, address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from ggn_store.api.teams import exchange

    with Store.open("mine.db") as mine:
        for name in _NAMES:
            mine.load(QUICK, name)
    taken = exchange._take_one

    def take(*arguments: object) -> object:
        if arguments[2] == "c":
            raise KeyboardInterrupt
        return taken(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(exchange, "_take_one", take)
        result = run("--db", "mine.db", "push", "--all", "--remote", address)
    assert result.code == 130
    assert result.err.splitlines()[0] == "2 pushed"
    assert "run the same command again" in result.err
    assert run("--db", "mine.db", "push", "--all", "--remote", address).err == "2 pushed, 2 up to date\n"
