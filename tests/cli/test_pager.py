"""Long lists: through a pager on a terminal, and page by page."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from ggn_store import Store
from tests.support.program import MUST, QUICK, QUICKER, Command, on_terminal, write


@pytest.fixture
def long() -> None:
    """A store whose log is longer than the screen, and a pager that says that it was there."""
    with Store.open("long.db") as store:
        for number in range(12):
            store.load(QUICKER if number % 2 else QUICK, "game", message=f"change {number}", author="ann")
    write("pager.py", "import sys; text = sys.stdin.read(); print('PAGED', text.count('    change '), *sys.argv[1:])")


@pytest.mark.usefixtures("long")
def test_what_is_longer_than_the_screen_goes_through_the_pager() -> None:
    pager = f"{sys.executable} pager.py '$HOME'"
    shown = on_terminal("--db", "long.db", "log", "game", GGN_STORE_PAGER=pager)
    assert (shown.code, shown.out) == (0, "PAGED 12 $HOME\n")
    assert "PAGED" not in on_terminal("--db", "long.db", "log", "game", "-n", "2", GGN_STORE_PAGER=pager).out
    assert on_terminal("--db", "long.db", "log", "game", "-n", "2", GGN_STORE_PAGER=pager).out.count("    change ") == 2


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize(
    "environment",
    [
        {"GGN_STORE_PAGER": ""},
        {"GGN_STORE_PAGER": "cat"},
        {"GGN_STORE_PAGER": "no-such-pager"},
        {"GGN_STORE_PAGER": "'unclosed"},
        {"GGN_STORE_PAGER": f"{sys.executable} pager.py", "TERM": "dumb"},
    ],
)
def test_without_a_pager_all_is_printed(environment: dict[str, str]) -> None:
    shown = on_terminal("--db", "long.db", "log", "game", columns=100, **environment)
    assert (shown.code, shown.out.count("    change "), "PAGED" in shown.out) == (0, 12, False)


@pytest.mark.usefixtures("long")
def test_a_pager_that_ends_early_ends_the_list() -> None:
    write("quit.py", "print('QUIT')")
    shown = on_terminal("--db", "long.db", "log", "game", GGN_STORE_PAGER=f"{sys.executable} quit.py")
    assert (shown.code, shown.out) == (0, "QUIT\n")


@pytest.mark.usefixtures("long")
def test_ctrl_c_is_for_the_pager() -> None:
    write("interrupt.py", "import os, signal, sys; sys.stdin.read(); os.kill(os.getppid(), signal.SIGINT); print('ON')")
    shown = on_terminal("--db", "long.db", "log", "game", GGN_STORE_PAGER=f"{sys.executable} interrupt.py")
    assert (shown.code, shown.out) == (0, "ON\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_pipe_has_no_pager(ggn: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGN_STORE_PAGER", f'{sys.executable} -c \'open("paged", "w")\'')
    assert ggn("list", "--library", "--format", "table").out.count("\n") > 50
    assert not Path("paged").exists()


def test_the_audit_is_read_page_by_page(address: str, ggn: Command) -> None:
    with Store.open(address) as store:
        for number in range(7):
            store.load(QUICKER if number % 2 else QUICK, "game")
        store.load(QUICK, "team/x")
    ids = [each["id"] for each in ggn("audit").records()]
    pages: list[list[int]] = []
    before: list[str] = []
    while page := [each["id"] for each in ggn("audit", "-n", "3", *before).records()]:
        pages.append(page)
        before = ["--before", str(page[0])]
    assert [len(page) for page in pages] == [3, 3, 2]
    assert [each for page in reversed(pages) for each in page] == ids
    assert [each["id"] for each in ggn("audit", "g*", "-n", "2", "--before", str(ids[-1])).records()] == ids[-3:-1]
    assert ggn("audit", "--before", "2000-01-01").out == ""
    assert len(ggn("audit", "--before", "2999-01-01").records()) == 8


def test_lists_are_cut_to_the_newest(address: str, ggn: Command) -> None:
    with Store.open(address) as store:
        for each in (QUICK, QUICKER):
            store.load(each, "game")
            store.tags.set("game", "stable")
        made = [str(store.reviews.propose(each, "game", author="ann")) for each in (QUICK, MUST)]
    assert [each["revision"] for each in ggn("tag", "--log", "game", "-n", "1").records()] == [2]
    assert [each["proposal"] for each in ggn("proposals", "--limit", "1").records()] == [made[1]]
    assert ggn("tag", "game", "--limit", "1").code == 2
