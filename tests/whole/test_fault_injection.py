"""Faults injected into commands: what was acknowledged is there afterwards, and all else is whole or absent.

`pytest -m long tests/whole/test_fault_injection.py` lets every operation of every command fail, and ends with a table.
"""

from __future__ import annotations

import itertools
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ggn_store import Store, StoreError
from ggn_store.store.database.sqlite import SQLite
from tests.support import program
from tests.support.crashes import SEED
from tests.support.databases import DATABASES
from tests.support.fault_injection import commands
from tests.support.fault_injection.commands import COMMANDS, Command
from tests.support.fault_injection.faults import REPLY, REQUEST
from tests.support.fault_injection.proxy import proxy
from tests.support.fault_injection.settings import Place, Setting, setting
from tests.support.fault_injection.sweep import Choice, every, sweep
from tests.support.fault_injection.table import PROPERTY
from tests.support.fault_injection.vfs import UnreachableError
from tests.support.people import OTHER, ROOK
from tests.support.postgres import Server

# The driver leaves a cursor of the server open whose connection breaks as it is closed, and warns of itself later.
pytestmark = pytest.mark.filterwarnings("ignore:<psycopg.ServerCursor object:ResourceWarning")

CASES = [(name, database) for name, each in COMMANDS.items() for database in each.databases]
MAIN = ("load", "push", "pull", "bundle load", "gc", "propose", "export csv", "db upgrade")
# How many faults of each kind a command gets where not all are tried.
SOME = {"sqlite": 1, "postgres": 1}


@pytest.fixture
def settings(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """What makes the setting of a database."""
    return lambda database: setting(database, tmp_path, lambda: request.getfixturevalue("postgres_server"))


@pytest.fixture
def where(database: str, settings: Callable[[str], Any]) -> Iterator[Setting]:
    """The setting of the database that the test is about."""
    try:
        with settings(database) as made:
            yield made
    except UnreachableError as error:
        pytest.skip(str(error))


def some(count: int) -> Choice:
    """So many operations, any of them."""
    dice = random.Random(SEED)
    print(f"GGN_SEED={SEED}")
    return lambda total: sorted(dice.sample(range(1, total + 1), min(count, total)))


def require_sound(
    where: Setting, command: Command, choice: Choice, record_property: Callable[[str, Any], None]
) -> None:
    """Run the command once for each of the chosen faults."""
    found = sweep(where, command, choice)
    record_property(PROPERTY, [found.command, found.database, dict(found.counts), len(found.deviations)])
    assert not found.deviations, "\n\n".join(found.deviations[:5])
    assert found.counts.total()


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("command", MAIN)
def test_a_command_is_whole_or_absent_after_some_faults(
    command: str, database: str, where: Setting, record_property: Callable[[str, Any], None]
) -> None:
    require_sound(where, COMMANDS[command], some(SOME[database]), record_property)


@pytest.mark.long
@pytest.mark.parametrize(("command", "database"), CASES)
def test_a_command_is_whole_or_absent_whichever_operation_fails(
    command: str, database: str, where: Setting, record_property: Callable[[str, Any], None]
) -> None:
    require_sound(where, COMMANDS[command], every, record_property)


# --- what the user is told ---


@pytest.mark.parametrize("database", ["postgres"])
def test_a_connection_lost_at_the_commit_leaves_open_what_was_stored(where: Setting) -> None:
    found = sweep(where, COMMANDS["tag"], lambda total: range(total - 5, total + 1))
    assert any("it is there as a whole or not at all" in each for each in found.errors), found.errors
    assert not found.deviations


def test_a_program_whose_server_is_lost_ends_with_one_line(postgres_server: Server, tmp_path: Path) -> None:
    url = postgres_server.create_store()
    with Store.open(url) as store:
        store.load(OTHER, "new", author=commands.AUTHOR)
    ways = (("export", "--format", "csv", str(tmp_path / "views")), ("tag", "new", "stable"))
    with proxy(postgres_server.url) as through:
        for arguments, kind in itertools.product(ways, (REQUEST, REPLY)):
            with through.faults.at(kind, 0):
                assert program.process("--db", through.address(url), *arguments).returncode == 0
                total = through.faults.count
            shutil.rmtree(tmp_path / "views", ignore_errors=True)
            with through.faults.at(kind, total * 2 // 3):
                done = program.process("--db", through.address(url), *arguments)
            assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
            assert done.stderr.startswith("Error: postgresql://"), done.stderr
    assert list(tmp_path.iterdir()) == []
    postgres_server.drop_database(url)


# --- the harness itself ---


def load_at_any_price(place: Place) -> None:
    """A load that acknowledges what never came."""
    with suppress(StoreError):
        place.store().load(OTHER, "game", author=commands.AUTHOR)


def load_and_leave_something(place: Place) -> None:
    """A load that fails, and changes something all the same."""
    try:
        place.store().load(OTHER, "game", author=commands.AUTHOR)
    except StoreError:
        place.store().load(ROOK, "another", author=commands.AUTHOR)
        raise


@pytest.mark.parametrize("database", DATABASES)
def test_a_command_that_loses_what_it_acknowledged_is_found_out(where: Setting) -> None:
    found = sweep(where, Command("load", commands.game, load_at_any_price), lambda total: [total * 2 // 3])
    assert any("acknowledged transactions are lost" in each for each in found.deviations), found.deviations


@pytest.mark.parametrize("database", DATABASES)
def test_a_command_that_fails_and_changes_something_is_found_out(where: Setting) -> None:
    found = sweep(where, Command("load", commands.game, load_and_leave_something), lambda total: [total * 2 // 3])
    assert any("half of it is there" in each for each in found.deviations), found.deviations


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_store_that_does_not_wait_for_its_disk_is_found_out(where: Setting) -> None:
    on_connect = SQLite._on_connect

    def hurried(connection: sqlite3.Connection, record: object) -> None:
        on_connect(connection, record)
        connection.execute("PRAGMA synchronous = FULL")  # which leaves out that the journal is gone

    with mock.patch.object(SQLite, "_on_connect", staticmethod(hurried)):
        found = sweep(where, COMMANDS["tag"], lambda total: [total + 1])
    assert any("acknowledged transactions are lost" in each for each in found.deviations), found.deviations
