"""Faults injected into commands: what was acknowledged is there afterwards, and all else is whole or absent.

`pytest -m long tests/test_fault_injection.py` lets every operation of every command fail, and ends with a table.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ggn_store import StoreError
from tests.conftest import DATABASES
from tests.fault_injection import commands
from tests.fault_injection.commands import COMMANDS, Command
from tests.fault_injection.settings import Place, Setting, setting
from tests.fault_injection.sweep import Choice, every, sweep
from tests.fault_injection.vfs import UnreachableError
from tests.people import OTHER

# The driver leaves a cursor of the server open whose connection breaks as it is closed, and warns of itself later.
pytestmark = pytest.mark.filterwarnings("ignore:<psycopg.ServerCursor object:ResourceWarning")

SEED = int(os.environ.get("GGN_SEED", random.randrange(2**32)))
CASES = [(name, database) for name, each in COMMANDS.items() for database in each.databases]
MAIN = (
    "load",
    "push",
    "pull",
    "bundle load",
    "gc",
    "tag",
    "propose",
    "approve",
    "delete",
    "restore",
    "export csv",
    "db upgrade",
)
# How many faults of each kind a command gets where not all are tried.
SOME = {"sqlite": 1, "postgres": 2}


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
    record_property("faults", [found.command, found.database, dict(found.counts), len(found.deviations)])
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


# --- the harness itself ---


def load_twice(place: Place) -> None:
    """What should be one transaction, and is two."""
    for name in ("one", "two"):
        place.store().load(OTHER, name, author=commands.AUTHOR)


def load_at_any_price(place: Place) -> None:
    """A load that acknowledges what never came."""
    try:
        place.store().load(OTHER, "game", author=commands.AUTHOR)
    except StoreError:
        return


def one_of(numbers: Iterable[int]) -> Choice:
    return lambda total: [number if number > 0 else total + 1 + number for number in numbers]


@pytest.mark.parametrize("database", DATABASES)
def test_a_command_that_loses_what_it_acknowledged_is_found_out(where: Setting) -> None:
    found = sweep(where, Command("load", commands.game, load_at_any_price), one_of([-1]))
    assert any("acknowledged transactions are lost" in each for each in found.deviations), found.deviations
