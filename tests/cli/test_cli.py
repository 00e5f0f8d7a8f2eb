"""The command line as a whole: its commands, help and version, which store is meant, and what a terminal shows.

Most tests run `main` in this process, with its arguments and standard input put in place: `main` is where errors end.
What only a process or a terminal can show (imports, colours, progress) runs as one.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import click
import pytest

from ggn_store import __version__, cli
from ggn_store.cli import group
from tests.support.commands import commands
from tests.support.fonts import needs_a_font
from tests.support.program import (
    MINI,
    MINI_TOML,
    QUICK,
    Program,
    Result,
    child_environment,
    names,
    on_terminal,
    process,
    write,
)

# --- the program ---


def test_the_commands_are_those_that_users_are_told(run: Program) -> None:
    listed = group.list_commands(click.Context(group))
    assert len(listed) == len(set(listed))
    result = run("--help")
    assert (result.code, result.err) == (0, "")
    assert re.findall(r"^  ([a-z-]+) +[A-Z]", result.out.partition("Commands to ")[2], re.MULTILINE) == listed


def test_every_command_of_every_file_is_reached_from_the_program() -> None:
    reached = [command for _, command in commands(group)]
    found = [importlib.import_module(f"{cli.__name__}.{module.name}") for module in pkgutil.iter_modules(cli.__path__)]
    defined = {
        f"{module.__name__}.{name}": each
        for module in found
        for name, each in vars(module).items()
        if isinstance(each, click.Command)
    }
    assert defined.keys() >= {"ggn_store.cli.load.load", "ggn_store.cli.import_.import_", "ggn_store.cli.db.roles"}
    assert [name for name, command in defined.items() if command not in reached] == []


def test_the_help_of_every_command_has_a_text_of_each_option() -> None:
    without = [
        f"{name} {option.opts[0]}"
        for name, command in commands(group)
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden and not (option.help or "").strip()
    ]
    assert without == []


def test_help_says_in_a_whole_line_what_each_command_does(run: Program) -> None:
    groups = [name.split() for name, command in commands(group) if isinstance(command, click.Group)]
    lists = [run(*name, "--help").out.partition("\nCommands")[2] for name in groups]
    assert len(lists) > 5
    assert all(re.search("^  [a-z]", text, re.MULTILINE) for text in lists)
    assert [line for text in lists for line in text.splitlines() if line.endswith("...")] == []


@pytest.mark.parametrize("arguments", [(), ("db",)], ids=["no command", "no command of db"])
def test_without_a_command_the_help_is_shown_as_wrong_usage(run: Program, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert re.search("^Commands", result.err, re.MULTILINE)


def test_the_version_is_the_package_s(run: Program) -> None:
    assert run("--version") == Result(0, f"ggn-store, version {__version__}\n", "")


def test_the_module_and_the_script_are_the_same_program(tmp_path: Path) -> None:
    module = process("--help", cwd=tmp_path)
    script = Path(sysconfig.get_path("scripts"), "ggn-store")
    installed = subprocess.run(
        [script, "--help"], env=child_environment(), capture_output=True, encoding="utf-8", check=False, cwd=tmp_path
    )
    assert module.returncode == installed.returncode == 0
    assert module.stdout == installed.stdout
    assert module.stdout.startswith("Usage: ggn-store [OPTIONS] COMMAND")


def test_help_and_version_of_every_command_load_no_heavy_library() -> None:
    asked = ["--version", *(f"{name} --help".strip() for name, _ in commands(group))]
    code = (
        "import sys\n"
        "from ggn_store.cli import main\n"
        "for line in sys.stdin:\n"
        "    sys.argv = ['ggn-store', *line.split()]\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit as end:\n"
        "        loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "        heavy = loaded & {'sqlalchemy', 'alembic', 'psycopg', 'rich', 'numpy', 'pyarrow', 'duckdb'}\n"
        "        print('\\n>>>', line.strip(), end.code, *sorted(heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="\n".join(asked), capture_output=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""
    assert re.findall("^>>> (.*)", done.stdout, re.MULTILINE) == [f"{arguments} 0" for arguments in asked]


# --- which store ---


def test_the_option_goes_before_the_environment_and_that_before_the_home(
    run: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("option", "own", "general", "home"):
        path = tmp_path / "home/data/ggn-store/store.db" if name == "home" else tmp_path / f"{name}.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        run("--db", f"sqlite:///{path}", "load", "-", "--name", name, stdin=json.dumps(QUICK))
    assert names(run("list")) == ["home"]
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/general.db")
    assert names(run("list")) == ["general"]
    monkeypatch.setenv("GGN_STORE_URL", f"sqlite:///{tmp_path}/own.db")
    assert names(run("list")) == ["own"]
    assert names(run("--db", str(tmp_path / "option.db"), "list")) == ["option"]
    monkeypatch.setenv("GGN_STORE_URL", "")
    assert names(run("list")) == ["general"]


def test_the_store_of_the_home_is_made_where_info_says(run: Program, tmp_path: Path) -> None:
    expected = tmp_path / "home" / "data" / "ggn-store" / "store.db"
    assert f"address   sqlite:///{expected}\n" in run("db", "info").out
    assert not expected.exists()
    assert run("load", write("quick.json", QUICK)).code == 0
    assert expected.exists()


# --- terminals ---


@pytest.fixture
def home_store(run: Program) -> None:
    """A store in the home that holds the small game."""
    write("mini.toml", MINI_TOML)
    assert run("load", write("mini.json", MINI)).code == 0


@pytest.mark.usefixtures("home_store")
def test_on_a_terminal_moves_are_drawn() -> None:
    result = on_terminal("moves", "mini")
    assert result.code == 0
    assert "\n2 P . .\n" in result.out
    assert result.out.endswith("C:P hand: c1\nmini@1: 4 moves for first\n")


@pytest.mark.usefixtures("home_store")
def test_on_a_terminal_a_picture_is_a_board_of_text() -> None:
    result = on_terminal("draw", "mini", "--piece", "C:P", "--source", "a2")
    assert result.code == 0
    assert [line.split() for line in result.out.splitlines()[1:3]] == [["3", "o+", "x", "."], ["2", "P", ".", "."]]


@needs_a_font
@pytest.mark.usefixtures("home_store")
def test_a_terminal_that_can_shows_the_picture_itself() -> None:
    assert on_terminal("draw", "mini", TERM="xterm-kitty").out.startswith("\x1b_Ga=T,f=100,q=2,m=1;iVBORw0KGgo")
    assert on_terminal("draw", "mini", TERM_PROGRAM="iTerm.app").out.startswith("\x1b]1337;File=inline=1;size=")
    assert on_terminal("draw", "mini", TERM="xterm-kitty", TMUX="/tmp/tmux").out.startswith("3 . p .\n")


@pytest.mark.usefixtures("home_store")
def test_on_a_terminal_rulesets_are_a_table() -> None:
    assert on_terminal("list").out.splitlines()[0].split()[:3] == ["name", "revision", "dialect"]


def test_on_a_terminal_a_load_shows_its_progress_in_colour() -> None:
    write("games/a.json", QUICK)
    write("games/b.json", "{")
    result = on_terminal("load", "games", "--on-error", "skip")
    assert result.code == 1
    assert "━" in result.out
    assert "\x1b[3" in result.out
    # Whoever reads the terminal finds what failed in lines of their own, below what was there.
    shown = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", row).split("\r")[-1] for row in result.out.split("\n")]
    assert "games/b.json: not loaded" in shown
    assert any(row.startswith("2 documents: 1 new, 1 failed; ") for row in shown)


def test_on_a_terminal_errors_are_red_unless_colours_are_unwanted() -> None:
    assert on_terminal("load", "a b").out.startswith("\x1b[31mError:\x1b[0m a b: there is no such file")
    assert on_terminal("load", "a b", NO_COLOR="1").out.startswith("Error: a b: there is no such file")


def test_without_colours_a_load_still_shows_its_progress() -> None:
    write("quick.json", QUICK)
    result = on_terminal("load", "quick.json", NO_COLOR="1")
    assert "━" in result.out
    assert not re.search(r"\x1b\[[0-9;]*m", result.out)
    assert "quick@1: loaded, " in result.out
