"""Which commands only print: those that change nothing, and whose exit code says nothing of what they found.

They end when nobody reads on. Any other one would then be cut off in its work, or hide its outcome.
"""

from __future__ import annotations

import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from ggn_store import Store
from ggn_store.cli import group, table
from tests.support.guards import drop_guards_of_file
from tests.support.program import MINI, MINI_TOML, QUICK, QUICKER, write

# Each command as it changes something, or has an outcome to report, if it ever does.
USES = {
    "guide": "guide moves",
    "load": "load quick.json",
    "new": "new mine --like micro",
    "generate": "generate micro",
    "import": "import mine.ini",
    "validate": "validate broken.json",
    "lint": "lint broken.json",
    "gdl": "gdl check broken.json",
    "convert": "convert mini.json --to diff",
    "schema": "schema diff",
    "list": "list",
    "show": "show mini",
    "moves": "moves mini@1",
    "apply": "apply mini@1 --move a2b3",
    "play": "play mini@1",
    "serve": "serve --host no.such.host.invalid",
    "site": "site -o pages",
    "password": "password ann",
    "uci": "uci mini@1",
    "usi": "usi mini@1",
    "perft": "perft mini@1 --depth 1",
    "draw": "draw mini@1",
    "sql": "sql 'SELECT 1'",
    "stats": "stats mini",
    "mobility": "mobility mini",
    "coverage": "coverage mini@1",
    "who-reaches": "who-reaches mini@1 a3",
    "uses": "uses mini empty",
    "dead": "dead mini",
    "symmetry": "symmetry mini",
    "same-movers": "same-movers mini",
    "concepts": "concepts mini",
    "find": "find --with riders",
    "similar": "similar mini@1",
    "compare": "compare mini@1 mini@2",
    "export": "export mini",
    "compile": "compile mini -o compiled",
    "rename": "rename mini maxi",
    "delete": "delete mini",
    "restore": "restore mini@1",
    "log": "log mini",
    "diff": "diff mini@1 mini@2 --exit-code",
    "blame": "blame mini",
    "tag": "tag mini@1 old",
    "state": "state mini deprecated",
    "push": "push mini --remote other.db",
    "pull": "pull theirs --remote other.db",
    "resolve": "resolve conflicts",
    "bundle": "bundle create all.ggnb mini",
    "policy": "policy set team --review 1",
    "propose": "propose other quick.json",
    "amend": "amend mine#1 mini.json",
    "proposals": "proposals",
    "proposal": "proposal mine#1",
    "comment": "comment mine#1 -m why",
    "approve": "approve mine#1 --author Bob",
    "reject": "reject mine#1 --author Bob",
    "withdraw": "withdraw mine#1",
    "audit": "audit",
    "watch": "watch --since 1 --count 1",
    "verify": "--db damaged.db verify",
    "gc": "gc",
    "db": "--db new.db db upgrade",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with files and stores for all of these uses."""
    directory = tmp_path_factory.mktemp("place")
    write(directory / "mini.json", MINI)
    write(directory / "mini.toml", MINI_TOML)
    write(directory / "quick.json", QUICK)
    write(directory / "broken.json", {"C:P": {"e2": 5}})
    write(directory / "mine.ini", "[mine:chess]\n")
    with Store.open(directory / "other.db") as other:
        other.load(QUICK, "theirs", author="Ann")
    with Store.open(directory / "store.db") as store:
        store.load(directory / "mini.json", author="Ann")
        store.load(QUICK, "mini", author="Ann")
        store.load(QUICK, "mine", author="Ann")
        store.reviews.propose(QUICKER, "mine", author="Ann")
    shutil.copy(directory / "store.db", directory / "damaged.db")
    for name, change in {
        "store.db": "INSERT INTO ruleset (name) VALUES ('empty')",
        "damaged.db": "UPDATE revision SET digest = 'no digest'",
    }.items():
        with closing(sqlite3.connect(directory / name)) as connection:
            guards = drop_guards_of_file(connection)
            connection.execute(change)
            connection.commit()
            for each in guards:
                connection.execute(each)
    return directory


def contents(directory: Path) -> dict[str, object]:
    """What is in a directory, of stores their rows."""
    found: dict[str, object] = {}
    for path in directory.rglob("*"):
        if path.suffix == ".db":
            with closing(sqlite3.connect(path)) as connection:
                found[path.name] = [*connection.iterdump()]
        elif path.is_file():
            found[path.name] = path.read_bytes()
    return found


def test_every_command_has_a_use() -> None:
    assert [*USES] == [*table()]


@pytest.mark.parametrize("name", table())
def test_a_command_is_said_to_only_print_if_it_changes_nothing_and_has_no_outcome(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shutil.copytree(place, tmp_path / "place"))
    before = contents(Path())
    environment = {"GGN_STORE_URL": "sqlite:///store.db", "GGN_AUTHOR": "Ann"}
    done = CliRunner().invoke(group, shlex.split(USES[name]), input="quit\n", env=environment)
    assert done.exit_code in (0, 1), done.output
    only_prints = done.exit_code == 0 and contents(Path()) == before
    assert only_prints == table()[name][1], done.output
