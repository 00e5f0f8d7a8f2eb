"""Whoever reads a SQLite file for long keeps nobody waiting: others write while the reading goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import Store, StoreError
from ggn_store.store.database import copying
from ggn_store.store.database.engine import Database
from ggn_store.store.database.sqlite import SQLite
from tests.support.stored import DIFF, MUST_DENY

# What reads the whole store, or much of it.
READERS: dict[str, Callable[[Store, Path], Any]] = {
    "verify": lambda store, _: store.upkeep.verify(),
    "check": lambda store, _: store.upkeep.check(),
    "bundle": lambda store, place: store.exchange.create_bundle(place / "bundle"),
    "export": lambda store, place: store.views.export(place / "views", "csv"),
    "view": lambda store, _: list(store.views.rows("v_moves")),
    "view of a ruleset": lambda store, _: list(store.ruleset("game").columns.view("v_moves")),
    "same movers": lambda store, _: store.analysis().same_movers(exact=True),
    "push": lambda store, place: push(store, place),
}


def push(store: Store, place: Path) -> None:
    with Store.open(str(place / "other.db")) as other:
        store.exchange.push(other)
        assert [each.name for each in other.revisions()] == ["game"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "store.db"
    with Store.open(str(found)) as store:
        store.load(DIFF, "game")
    return found


def writes(file: Path) -> None:
    """Write to the file at once, or fail."""
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("COMMIT")


@pytest.mark.parametrize("name", READERS)
def test_others_write_while_a_long_reader_reads(
    file: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = Database.reading
    written = 0

    @contextmanager
    def watched(self: Database) -> Iterator[Any]:
        nonlocal written
        with reading(self) as connection:
            yield connection
            if isinstance(self, SQLite) and self.path is None:
                connection.execute(text("SELECT count(*) FROM piece")).all()  # there is a lock, if any
                writes(file)
                written += 1

    with Store.open(str(file)) as store:
        monkeypatch.setattr(Database, "reading", watched)
        READERS[name](store, tmp_path)
    assert written > 0


def test_a_snapshot_is_one_state_and_private(store: Store) -> None:
    store.load(DIFF, "game")
    with store.session.database.snapshot() as snapshot:
        store.load(MUST_DENY, "other")
        with snapshot.reading() as connection:
            count = connection.execute(text("SELECT count(*) FROM ruleset")).scalar()
    # Postgres keeps nobody waiting and needs no copy.
    assert (count, snapshot is store.session.database) == (
        (2, True) if store.session.database.is_server else (1, False)
    )
    assert str(snapshot) == str(store.session.database)
    assert [each.name for each in store.revisions()] == ["game", "other"]


def test_without_room_for_a_copy_the_store_itself_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(copying, "copied", full)
    with Store.open(str(file)) as store:
        assert store.upkeep.verify().problems == ()
        with store.session.database.snapshot() as snapshot:
            assert snapshot is store.session.database


def test_a_store_in_memory_is_its_own_snapshot() -> None:
    with Store.open("sqlite://") as store:
        store.load(DIFF, "game")
        with store.session.database.snapshot() as snapshot:
            assert snapshot is store.session.database
        assert store.upkeep.verify().problems == ()


def test_a_damaged_file_is_told_of_as_ever(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:6000])
    with Store.at(str(file)) as store, pytest.raises(StoreError, match="damaged"):
        store.upkeep.verify()
