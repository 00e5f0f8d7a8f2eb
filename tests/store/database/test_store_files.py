"""The files of stores in SQLite: for nobody else to read, and not there where nothing was stored."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ggn_store import Store, StoreError
from ggn_store.store.database import spill
from tests.support.program import MINI, QUICK, Program, child_environment, write
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run
from tests.support.stored import DIFF


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("address", ["new.db", "sqlite:///new.db", "sqlite:///file:new.db?uri=true"])
def test_a_new_file_is_for_nobody_else(run: Program, mask: int, address: str) -> None:
    write("quick.json", QUICK)
    before = os.umask(mask)
    try:
        assert run("--db", address, "load", "quick.json").code == 0
    finally:
        os.umask(before)
    assert mode("new.db") == 0o600
    assert {path.name for path in Path().iterdir()} == {"new.db", "quick.json"}


@pytest.mark.parametrize(
    "command",
    [
        ("load", "quick.json"),
        ("db", "upgrade"),
        ("pull", "--remote", "other.db", "quick"),
        ("bundle", "load", "b.ggnb"),
    ],
)
def test_so_it_is_whatever_command_makes_it(run: Program, command: tuple[str, ...]) -> None:
    write("quick.json", QUICK)
    assert run("--db", "other.db", "load", "quick.json").code == 0
    assert run("--db", "other.db", "bundle", "create", "b.ggnb", "quick").code == 0
    assert run("--db", "new.db", *command).code == 0
    assert mode("new.db") == 0o600


def test_so_it_is_where_the_file_system_has_no_links(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    write("quick.json", QUICK)
    assert run("--db", "new.db", "load", "quick.json").code == 0
    assert mode("new.db") == 0o600
    assert {path.name for path in Path().iterdir()} == {"new.db", "quick.json"}


def test_what_a_killed_process_left_of_a_new_store_goes_with_the_next(run: Program, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from ggn_store.store.database.address import connect\n"
        "connect(sys.argv[1]).create(lambda made: (made.engine.connect(), os.kill(os.getpid(), signal.SIGKILL)))"
    )
    killed = subprocess.run([sys.executable, "-c", code, "new.db"], env=child_environment(), check=False)
    assert killed.returncode == -signal.SIGKILL
    [left] = Path().iterdir()
    assert [each.name for each in left.iterdir()] == ["store"]
    write("quick.json", QUICK)
    assert run("--db", "new.db", "load", "quick.json").code == 0
    assert {path.name for path in Path().iterdir()} == {"new.db", "quick.json"}


def test_nothing_is_left_where_the_file_system_has_no_locks(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "fcntl", None)
    write("quick.json", QUICK)
    assert run("--db", "new.db", "load", "quick.json").code == 0
    assert {path.name for path in Path().iterdir()} == {"new.db", "quick.json"}


def test_what_others_are_making_beside_a_new_store_stays(run: Program) -> None:
    write("quick.json", QUICK)
    with spill.beside(Path("new.db")) as other:
        assert run("--db", "new.db", "load", "quick.json").code == 0
        assert os.listdir(str(other.path)) == []


def test_a_file_that_is_there_keeps_its_mode(run: Program) -> None:
    write("quick.json", QUICK)
    Path("old.db").touch(0o640)
    Path("old.db").chmod(0o640)
    assert run("--db", "old.db", "load", "quick.json").code == 0
    assert mode("old.db") == 0o640


def test_the_default_directory_is_for_nobody_else(run: Program, tmp_path: Path) -> None:
    write("quick.json", QUICK)
    assert run("load", "quick.json").code == 0
    assert mode(tmp_path / "home" / "data" / "ggn-store" / "store.db") == 0o600
    for each in ("home", "home/data", "home/data/ggn-store"):
        assert mode(tmp_path / each) == 0o700, each


@pytest.mark.parametrize(
    "command",
    [
        ("load", "bad.json"),
        ("load", "bad.json", "wrong.json"),
        ("load", "bad.json", "--on-error", "skip"),
        ("load", "-", "--name", "x"),
        ("load", "mini.json", "--base", "7"),
        ("bundle", "load", "bad.json"),
        ("bundle", "load", "missing"),
        ("pull", "--remote", "missing.db", "x"),
        ("propose", "x", "bad.json"),
        ("import", "bad.json"),
    ],
)
def test_a_command_that_stores_nothing_leaves_no_file(run: Program, command: tuple[str, ...]) -> None:
    write("bad.json", '{"C:P": 1}')
    write("wrong.json", "{")
    write("mini.json", MINI)
    assert run("--db", "new.db", *command).code in (1, 3)
    assert {path.name for path in Path().iterdir()} == {"bad.json", "mini.json", "wrong.json"}


def test_what_is_stored_stays_though_the_command_fails(run: Program) -> None:
    write("quick.json", QUICK)
    write("bad.json", '{"C:P": 1}')
    assert run("--db", "new.db", "load", "quick.json", "bad.json").code == 1
    assert len(run("--db", "new.db", "list").records()) == 1


def test_a_file_that_was_there_stays(run: Program) -> None:
    write("bad.json", '{"C:P": 1}')
    assert run("--db", "new.db", "db", "upgrade").code == 0
    assert run("--db", "new.db", "load", "bad.json").code == 1
    assert Path("new.db").exists()


def test_who_has_it_open_commits_nothing_into_a_file_that_is_gone(tmp_path: Path) -> None:
    first = Store.open(str(tmp_path / "new.db"))
    with Store.open(str(tmp_path / "new.db")) as second:
        assert not second.list()
        first.discard()
        assert not (tmp_path / "new.db").exists()
        with pytest.raises(StoreError, match="removed or renamed meanwhile; nothing was stored"):
            second.load(DIFF, "game")


def test_a_file_in_which_somebody_is_at_work_is_not_removed(tmp_path: Path) -> None:
    first = Store.open(str(tmp_path / "new.db"))
    held, done = threading.Event(), threading.Event()

    def work() -> None:
        with Store.open(str(tmp_path / "new.db")) as second, second.session.database.writing():
            held.set()
            done.wait()

    worker = threading.Thread(target=work)
    worker.start()
    held.wait()
    first.discard()
    done.set()
    worker.join()
    with Store.open(str(tmp_path / "new.db"), create=False) as third:
        assert not third.list()


def test_a_file_that_is_removed_under_an_open_store_is_not_called_damaged(run: Program) -> None:
    with Store.open("sqlite:///gone.db") as store:
        store.load(DIFF, "game")
        rules = store.ruleset("game")
        Path("gone.db").unlink()
        store.close()  # whose next connection finds another file, or none
        with pytest.raises(StoreError, match=r"^sqlite:///gone\.db: a table is missing: run `ggn-store db info`$"):
            rules.moves({}, query="reading")
