"""The command line as its users meet it: every command and option, on both databases.

Most tests run `main` in this process, with its arguments and standard input put in place: `main` is where errors end.
What only a process or a terminal can show (imports, colours, progress) runs as one.
"""

from __future__ import annotations

import csv
import fcntl
import gzip
import importlib
import io
import json
import os
import pkgutil
import pty
import re
import struct
import subprocess
import sys
import sysconfig
import termios
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from sqlalchemy import text

from ggn_store import Store, __version__, cli, parse
from ggn_store.cli import group, main
from ggn_store.store.address import connect
from tests.conftest import DATABASES, new_address
from tests.fonts import needs_a_font
from tests.guards import drop_guards

Json = dict[str, Any]
Command = Callable[..., "Result"]

MOVE_KEYS = ["piece", "source", "destination", "ordinal", "must", "deny", "effects", "assumed"]

QUICK: Json = {
    "C:P": {"e2": {"e4": [{"must": {"e3": "empty", "e4": "empty"}, "diff": {"board": {"e2": None, "e4": "C:P"}}}]}}
}
QUICKER: Json = {"C:P": {"e2": {"e4": [{"diff": {"board": {"e2": None, "e4": "C:P"}}}]}}}

# A game on 3x3 with a choice of promotions, a capture into the hand, a drop and a move that keeps the turn.
MINI: Json = {
    "C:P": {
        "a2": {
            "a3": [
                {"must": {"a3": "empty"}, "diff": {"board": {"a2": None, "a3": "C:Q"}}},
                {"must": {"a3": "empty"}, "diff": {"board": {"a2": None, "a3": "C:N"}}},
            ],
            "b3": [{"must": {"b3": "enemy"}, "diff": {"board": {"a2": None, "b3": "C:P"}, "hands": {"C:P": 1}}}],
        },
        "*": {"c1": [{"must": {"c1": "empty"}, "diff": {"board": {"c1": "C:P"}, "hands": {"C:P": -1}}}]},
    },
    "c:p": {"b3": {"b2": [{"deny": {"b2": "c:p"}, "diff": {"board": {"b3": None, "b2": "c:p"}, "toggle": False}}]}},
}
MINI_START = "1p1/P2/3 P/ C/c"
MINI_TOML = f'title = "A small game"\nsource = "the tests"\nstart = "{MINI_START}"\nboard = "3x3"\n'
MINI_MOVES = [("C:P", "a2", "a3", 0), ("C:P", "a2", "a3", 1), ("C:P", "a2", "b3", 0), ("C:P", "*", "c1", 0)]

MUST: Json = {"C:R": {"a1": {"a3": [{"must": {"a2": "empty"}, "deny": {"a3": "C:R"}}]}}}
PERFORM: Json = {"CHESS:P": {"e2": {"e3": [{"require": {"e3": "empty"}, "perform": {"e2": None, "e3": "CHESS:P"}}]}}}


@dataclass(frozen=True)
class Result:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    def records(self) -> list[Json]:
        """The JSON objects on standard output, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Program:
    """The program in this process; nothing that it writes here goes to a terminal, so there is never an escape."""

    def __init__(self, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capfd = capfd
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str | Path, stdin: str | bytes = b"") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        self._capfd.readouterr()
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["ggn-store", *map(str, arguments)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
            with pytest.raises(SystemExit) as end:
                main()
        out, err = self._capfd.readouterr()
        assert "Traceback" not in err, err
        assert "\x1b" not in out + err
        assert isinstance(end.value.code, int)
        return Result(end.value.code, out, err)


def write(path: str | Path, document: Json | str) -> Path:
    """Write a document (or any text) to a file, whose directory is made."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def line(name: str, document: Json, **more: str) -> str:
    """An NDJSON line."""
    return json.dumps({"name": name, "document": document} | more) + "\n"


def child_environment(**more: str) -> dict[str, str]:
    """The environment for a process: that of the tests, as on a plain terminal of UTF-8."""
    terminal = ("COLUMNS", "LINES", "CI", "TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "TMUX")
    kept = {name: value for name, value in os.environ.items() if name not in terminal}
    return kept | {"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"} | more


def process(*arguments: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the program as a process of its own."""
    command = [sys.executable, "-m", "ggn_store", *map(str, arguments)]
    return subprocess.run(command, env=child_environment(), capture_output=True, encoding="utf-8", check=False, **more)


def on_terminal(*arguments: str | Path, columns: int = 100, **environment: str) -> Result:
    """Run the program on a terminal of its own; all that it writes there is in `out`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [sys.executable, "-m", "ggn_store", *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=child_environment(**environment)
    ) as running:
        os.close(theirs)
        written = bytearray()
        try:
            while chunk := os.read(ours, 65536):
                written += chunk
        except OSError:  # Linux says so when nobody has the terminal open any more
            pass
        os.close(ours)
    assert b"Traceback" not in written, written.decode()
    return Result(running.returncode, written.decode().replace("\r\n", "\n"), "")


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory to work in, and a home without a store."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program."""
    return Program(capfd, monkeypatch)


@pytest.fixture
def ready(address: str) -> str:
    """The address of a new store whose tables are made."""
    with Store.open(address, upgrade=True):
        return address


@pytest.fixture
def ggn(run: Program, ready: str) -> Command:
    """The program on a new store: once of SQLite, once of Postgres."""
    return lambda *arguments, stdin=b"": run("--db", ready, *arguments, stdin=stdin)


@pytest.fixture(scope="module", params=DATABASES)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store that no test changes: chess, and small games of all dialects."""
    directory = tmp_path_factory.mktemp("library")
    write(directory / "mini.toml", MINI_TOML)
    for name, document in {"mini": MINI, "must": MUST, "perform": PERFORM}.items():
        write(directory / f"{name}.json", document)
    with new_address(request.param, directory, request) as url:
        with Store.open(url, upgrade=True) as store:
            for name in ("mini", "must", "perform"):
                store.load(directory / f"{name}.json", name)
            store.load_library("chess")
        yield url


@pytest.fixture
def ask(run: Program, library: str) -> Command:
    """The program on the store that no test changes: once of SQLite, once of Postgres."""
    return lambda *arguments, stdin=b"": run("--db", library, *arguments, stdin=stdin)


def names(listed: Result) -> list[str]:
    return [record["name"] for record in listed.records()]


def places(answer: Result) -> list[tuple[str, str, str, int]]:
    """Piece, source, destination and ordinal of each move of an NDJSON answer."""
    return [(r["piece"], r["source"], r["destination"], r["ordinal"]) for r in answer.records()]


# --- the program ---


def all_commands(within: click.Group = group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command, and every command of it, with what is written to call it."""
    context = click.Context(within)
    for name in within.list_commands(context):
        command = within.get_command(context, name)
        assert command is not None
        assert command.name == name
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{before}{name} ")


def test_the_commands_are_those_that_users_are_told(run: Program) -> None:
    listed = group.list_commands(click.Context(group))
    assert len(listed) == len(set(listed))
    result = run("--help")
    assert (result.code, result.err) == (0, "")
    assert re.findall(r"^  ([a-z-]+) +[A-Z]", result.out.partition("Commands:")[2], re.MULTILINE) == listed


def test_every_file_that_defines_a_command_is_reached_from_the_program() -> None:
    reached = [command for _, command in all_commands()]
    found = [importlib.import_module(f"{cli.__name__}.{module.name}") for module in pkgutil.iter_modules(cli.__path__)]
    defined = {module.__name__: vars(module)["command"] for module in found if "command" in vars(module)}
    assert defined.keys() >= {"ggn_store.cli.load", "ggn_store.cli.import_", "ggn_store.cli.db_roles"}
    assert [name for name, command in defined.items() if command not in reached] == []


@pytest.mark.parametrize("arguments", [(), ("db",)], ids=["no command", "no command of db"])
def test_without_a_command_the_help_is_shown_as_wrong_usage(run: Program, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "Commands:" in result.err


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
    asked = ["--help", "--version", *(f"{name} --help" for name, _ in all_commands())]
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


# --- load ---

RATE = r"[\d,]+ possibilit(y|ies) in [\d.]+ s \([\d,]+/s\)"


def test_a_file_is_loaded_under_its_own_name(ggn: Command) -> None:
    write("quick.json", QUICK)
    result = ggn("load", "quick.json")
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(rf"quick@1: loaded, {RATE}\n", result.out)
    assert ggn("export", "quick").out == parse(QUICK).canonical()


def test_identical_content_is_unchanged_and_changed_content_is_the_next_revision(ggn: Command) -> None:
    write("quick.json", QUICK)
    ggn("load", "quick.json")
    assert ggn("load", "quick.json") == Result(0, "quick@1: unchanged, nothing to store\n", "")
    write("quick.json", QUICKER)
    assert ggn("load", "quick.json").out.startswith("quick@2: loaded, ")
    assert ggn("export", "quick@1").out == parse(QUICK).canonical()
    assert ggn("export", "quick").out == ggn("export", "quick@2").out == parse(QUICKER).canonical()


def test_several_files_end_in_one_summary_line(ggn: Command) -> None:
    result = ggn("load", write("quick.json", QUICK), write("must.json", MUST), write("perform.json", PERFORM))
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(rf"3 documents: 3 new; {RATE}, [\d.]+ documents/s, [\d,]+ conditions/s\n", result.out)
    assert names(ggn("list")) == ["must", "perform", "quick"]


def test_a_directory_names_its_documents_by_their_paths(ggn: Command) -> None:
    write("games/chess/quick.json", QUICK)
    write("games/quick.json", QUICKER)
    write("games/deep/er/must.json", MUST)
    write("games/.hidden/no.json", "not even JSON")
    write("games/readme.txt", "not a document")
    assert ggn("load", "games").out.startswith("3 documents: 3 new; ")
    assert names(ggn("list")) == ["chess/quick", "deep/er/must", "quick"]


def test_a_pattern_names_its_documents_by_their_files(ggn: Command) -> None:
    write("games/one.json", QUICK)
    write("games/two.json", QUICKER)
    write("games/other.txt", "not a document")
    write("games/deep/three.json", MUST)
    assert ggn("load", "games/*").out.startswith("2 documents: 2 new; ")
    assert ggn("load", "games/**/t*.json").out.startswith("2 documents: 1 new, 1 unchanged; ")
    assert names(ggn("list")) == ["one", "three", "two"]


def test_a_document_comes_from_standard_input_with_a_name(ggn: Command) -> None:
    assert ggn("load", "-", "--name", "from/stdin", stdin=json.dumps(QUICK)).code == 0
    assert ggn("load", "-", "--name", "from/stdin", stdin=json.dumps(QUICK, indent=3)).out.endswith("to store\n")
    assert ggn("export", "from/stdin").out == parse(QUICK).canonical()


def test_name_goes_over_the_name_of_the_file(ggn: Command) -> None:
    assert ggn("load", write("quick.json", QUICK), "--name", "other").out.startswith("other@1: loaded")
    assert names(ggn("list")) == ["other"]


def test_gzip_is_unpacked(ggn: Command) -> None:
    Path("packed.json.gz").write_bytes(gzip.compress(json.dumps(QUICK).encode()))
    Path("more.ndjson.gz").write_bytes(gzip.compress((line("one", QUICK) + line("two", MUST)).encode()))
    assert ggn("load", "packed.json.gz", "more.ndjson.gz").out.startswith("3 documents: 3 new; ")
    assert names(ggn("list")) == ["one", "packed", "two"]


def test_a_stream_holds_a_named_document_a_line(ggn: Command) -> None:
    stream = line("one", QUICK, title="First", start="8/8 / C/c", board="8x4") + "\n" + line("two/deep", MUST)
    write("all.ndjson", stream)
    assert ggn("load", "all.ndjson").out.startswith("2 documents: 2 new; ")
    listed = ggn("list").records()
    assert [(r["name"], r["title"], r["board"]) for r in listed] == [("one", "First", "8x4"), ("two/deep", None, "1x3")]


def test_a_stream_on_standard_input_needs_no_name(ggn: Command) -> None:
    result = ggn("load", "-", stdin=line("one", QUICK) + line("two", MUST))
    assert result.out.startswith("2 documents: 2 new; ")
    assert names(ggn("list")) == ["one", "two"]


def test_a_toml_file_beside_a_document_says_title_source_start_and_board(ggn: Command) -> None:
    write("mini.json", MINI)
    write("mini.toml", MINI_TOML)
    assert ggn("load", "mini.json").code == 0
    shown = json.loads(ggn("show", "mini", "--format", "json").out)
    assert {key: shown[key] for key in ("title", "source", "start", "board")} == {
        "title": "A small game",
        "source": "the tests",
        "start": MINI_START,
        "board": "3x3",
    }
    write("mini.toml", MINI_TOML.replace("small", "tiny"))
    assert ggn("load", "mini.json").out.startswith("mini@2: loaded"), "what is said beside it belongs to its content"


def test_message_and_author_are_kept_with_the_revision(ggn: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGN_AUTHOR", "An Author")
    ggn("load", write("quick.json", QUICK), "--message", "for the tests: 'quoted' — ☃")
    shown = ggn("show", "quick")
    assert "message       for the tests: 'quoted' — ☃\n" in shown.out
    assert "author        An Author\n" in shown.out


@pytest.mark.parametrize("dialect", ["perform", "must-deny", "diff"])
def test_the_dialect_can_be_forced_where_it_is_the_right_one(ggn: Command, dialect: str) -> None:
    document = {"perform": PERFORM, "must-deny": MUST, "diff": QUICK}[dialect]
    path = write("game.json", document)
    assert ggn("load", path, "--dialect", dialect).code == 0
    assert ggn("list").records()[0]["dialect"] == dialect
    other = "diff" if dialect == "must-deny" else "must-deny"
    refused = ggn("load", path, "--dialect", other)
    assert refused.code == 1
    assert "game.json:1:" in refused.err


@pytest.mark.parametrize(
    ("policy", "loaded", "summary"),
    [
        ("stop", ["a"], "2 documents: 1 new, 1 failed; "),
        ("skip", ["a", "c"], "3 documents: 2 new, 1 failed; "),
    ],
)
def test_after_a_broken_document_a_load_stops_or_goes_on(
    ggn: Command, policy: str, loaded: list[str], summary: str
) -> None:
    write("games/a.json", QUICK)
    write("games/b.json", "{")
    write("games/c.json", MUST)
    result = ggn("load", "games", "--on-error", policy)
    assert result.code == 1
    assert result.out.startswith(summary)
    assert result.out.count("\n") == 1
    assert result.err.startswith("games/b.json: not loaded\n  games/b.json:1:2: ")
    assert ("--on-error skip" in result.err) == (policy == "stop")
    assert names(ggn("list")) == loaded


def test_stopping_is_the_default_and_says_what_became_of_the_rest(ggn: Command) -> None:
    write("games/a.json", "{")
    write("games/b.json", QUICK)
    result = ggn("load", "games")
    assert (result.code, result.out) == (1, "1 document: 1 failed; nothing is loaded\n")
    assert result.err.endswith("stopped there; nothing is loaded (--on-error skip goes on)\n")
    alone = ggn("load", "games/a.json")
    assert "stopped" not in alone.err


def test_the_same_file_twice_is_one_file(ggn: Command) -> None:
    write("quick.json", QUICK)
    assert ggn("load", "quick.json", "quick.json", "quick*.json").out.startswith("quick@1: loaded")


def test_the_library_is_loaded_by_name_or_a_few_of_its_games(run: Program, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'library.db'}"
    assert run("--db", address, "load", "--library", "chess").out.startswith("chess@1: loaded, 15,292 ")
    few = run("--db", address, "load", "--library")
    assert (few.code, few.err) == (0, "")
    assert re.match(r"\d+ documents: (1 unchanged, \d+ new|\d+ new, 1 unchanged); ", few.out)
    assert {"chess", "xiangqi"} <= set(names(run("--db", address, "list")))
    examples = run("--db", address, "load", "--library", "examples")
    assert (examples.code, examples.err) == (0, "")
    assert re.match("31 documents: 31 new; ", examples.out)
    found = names(run("--db", address, "list"))
    assert {"examples/diff-quick-start", "examples/must-deny-castling", "examples/perform-capture"} <= set(found)


def test_a_new_sqlite_file_is_made_ready_by_its_first_load(run: Program) -> None:
    write("quick.json", QUICK)
    assert run("--db", "new.db", "load", "quick.json").code == 0
    assert names(run("--db", "sqlite:///new.db", "list")) == ["quick"]


# --- validate and lint ---


def test_valid_documents_pass_and_nothing_is_written_to_standard_output(run: Program) -> None:
    write("games/quick.json", QUICK)
    write("games/more.ndjson", line("one", MUST) + line("two", PERFORM))
    assert run("validate", "games") == Result(0, "", "3 documents checked: all valid\n")
    assert run("validate", "-", stdin=json.dumps(QUICK)) == Result(0, "", "1 document checked: all valid\n")


BROKEN = """{
  "C:P": {"e2": {"e4": [{"must": {"e3": "empty"},
                         "deny": {"e3": "empty"}, "diff": {}}],
                 "e9x": [{"diff": {}}]}}
}
"""


def test_every_problem_is_a_line_with_its_place(run: Program) -> None:
    write("broken.json", BROKEN)
    write("fine.json", QUICK)
    result = run("validate", "broken.json", "fine.json")
    first, second = result.out.splitlines()
    assert first.startswith("broken.json:3:41 /C:P/e2/e4/0/deny/e3: ")
    assert second.startswith('broken.json:4:18 /C:P/e2/e9x: not a square; found "e9x"; allowed: a CELL label')
    assert (result.code, result.err) == (1, "2 documents checked: 1 invalid, 2 problems\n")


def test_problems_in_json_have_their_parts(run: Program) -> None:
    write("broken.json", BROKEN)
    result = run("validate", "broken.json", "--format", "json")
    assert result.code == 1
    first, second = json.loads(result.out)
    assert list(first) == ["message", "pointer", "line", "column", "file", "found", "allowed", "code"]
    assert (first["file"], first["line"], first["column"]) == ("broken.json", 3, 41)
    assert second["pointer"] == "/C:P/e2/e9x"
    assert json.loads(run("validate", write("fine.json", QUICK), "--format", "json").out) == []


def test_problems_of_a_stream_name_their_lines(run: Program) -> None:
    result = run("validate", "-", stdin=line("one", QUICK) + '{"name": "two", "document": {}}\n')
    assert result.out.startswith("standard input:2:29 /document: the document has no piece in it")
    assert result.code == 1


def test_validate_can_be_told_the_dialect(run: Program) -> None:
    write("quick.json", QUICK)
    assert run("validate", "quick.json", "--dialect", "diff").code == 0
    result = run("validate", "quick.json", "--dialect", "perform")
    assert result.code == 1
    assert "the dialect perform demands" in result.out


def test_a_file_that_cannot_be_read_hides_no_problem_of_the_others(run: Program) -> None:
    write("a.json", "{")
    Path("b.json.gz").write_bytes(b"not gzip")
    write("c.json", "[]")
    for command in ("validate", "lint"):
        result = run(command, "a.json", "b.json.gz", "c.json")
        assert result.code == 1
        assert [found.split(":")[0] for found in result.out.splitlines()] == ["a.json", "b.json.gz", "c.json"]
        assert result.out.count("b.json.gz") == 1


def test_lint_finds_what_is_suspicious_with_its_place(run: Program) -> None:
    twice = {"C:K": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:K"}}}] * 2}}}
    path = write("twice.json", json.dumps(twice, indent=1))
    result = run("lint", path)
    assert result.code == 1
    assert re.fullmatch(r"twice\.json:13:5 /C:K/a1/a2/1: the same conditions and effects as /C:K/a1/a2/0\n", result.out)
    assert result.err == "1 document read: 1 finding\n"
    assert run("validate", path).code == 0
    [found] = json.loads(run("lint", path, "--format", "json").out)
    assert (found["code"], found["line"], found["pointer"]) == ("duplicate-possibility", 13, "/C:K/a1/a2/1")


def test_lint_is_content_with_a_plain_document(run: Program) -> None:
    assert run("lint", write("quick.json", QUICK)) == Result(0, "", "1 document read: nothing suspicious\n")
    assert json.loads(run("lint", "quick.json", "--format", "json").out) == []


def test_lint_prints_the_problems_of_what_is_not_valid(run: Program) -> None:
    result = run("lint", write("broken.json", BROKEN), "--dialect", "diff")
    assert result.code == 1
    assert "broken.json:4:18 /C:P/e2/e9x: not a square" in result.out
    assert "1 invalid" in result.err


# --- convert and schema ---


def test_convert_writes_the_canonical_form_of_the_same_dialect(run: Program) -> None:
    for document, dialect in ((QUICK, "diff"), (MUST, "must-deny"), (PERFORM, "perform")):
        path = write("game.json", document)
        assert run("convert", path, "--to", dialect) == Result(0, parse(document).canonical(), "")
        assert run("convert", "-", "--to", dialect, stdin=json.dumps(document)).out == parse(document).canonical()


def test_convert_writes_another_dialect_where_nothing_is_lost(run: Program) -> None:
    result = run("convert", write("perform.json", PERFORM), "--to", "diff", "--dialect", "perform")
    assert json.loads(result.out) == {
        "CHESS:P": {"e2": {"e3": [{"must": {"e3": "empty"}, "diff": {"board": {"e2": None, "e3": "CHESS:P"}}}]}}
    }
    back = run("convert", "-", "--to", "perform", stdin=result.out)
    assert back.out == parse(PERFORM).canonical()


def test_convert_writes_assumed_displacement_only_when_told(run: Program) -> None:
    result = run("convert", write("must.json", MUST), "--to", "diff", "--assume", "displacement")
    [possibility] = json.loads(result.out)["C:R"]["a1"]["a3"]
    assert possibility["diff"] == {"board": {"a1": None, "a3": "C:R"}}
    refused = run("convert", "must.json", "--to", "diff")
    assert (refused.code, refused.out) == (1, "")
    assert "displacement" in refused.err


def test_a_refused_conversion_lists_what_would_be_lost(run: Program) -> None:
    refused = run("convert", write("mini.json", MINI), "--to", "perform", "-o", "out.json")
    assert (refused.code, refused.out) == (1, "")
    for place in ("/C:P/*: ", "/C:P/a2/b3/0/diff/hands: ", "/c:p/b3/b2/0/diff/toggle: "):
        assert place in refused.err
    assert not Path("out.json").exists()


@pytest.mark.parametrize("dialect", ["perform", "must-deny", "diff"])
def test_schema_prints_the_schema_of_a_dialect(run: Program, dialect: str) -> None:
    result = run("schema", dialect)
    assert (result.code, result.err) == (0, "")
    assert "$schema" in json.loads(result.out)
    assert run("schema", dialect, "--output", "schema.json").out == ""
    assert Path("schema.json").read_text(encoding="utf-8") == result.out


# --- list, show, export, delete ---


def test_what_is_exported_into_a_file_is_loaded_as_it_was(ggn: Command) -> None:
    write("quick.json", QUICK)
    Path("quick.toml").write_text('title = "Qu\\"ick\\u007f \\\\ ü"\nboard = "8x8"\n', encoding="utf-8")
    ggn("load", "quick.json")
    Path("out").mkdir()
    exported = ggn("export", "quick", "-o", "out/quick.json")
    assert exported == Result(0, "", "what the document cannot say of itself is in out/quick.toml\n")
    assert ggn("load", "out/quick.json").out == "quick@1: unchanged, nothing to store\n"
    assert ggn("export", "quick", "-o", "out/quick.json") == Result(0, "", "")
    Path("out/quick.toml").write_text('title = "Mine"\n')
    again = ggn("export", "quick", "-o", "out/quick.json")
    assert again == Result(0, "", "out/quick.toml is there already, says otherwise, and was left as it is\n")
    assert Path("out/quick.toml").read_text() == 'title = "Mine"\n'
    ggn("export", "quick", "-o", "out/other.txt")
    assert sorted(path.name for path in Path("out").iterdir()) == ["other.txt", "quick.json", "quick.toml"]


def test_list_gives_each_ruleset_in_its_newest_revision(ggn: Command) -> None:
    ggn("load", write("quick.json", QUICK))
    ggn("load", write("quick.json", QUICKER))
    write("mini.toml", MINI_TOML)
    ggn("load", write("mini.json", MINI))
    mini, quick = ggn("list").records()
    assert (mini["name"], mini["revision"], mini["title"]) == ("mini", 1, "A small game")
    assert (quick["name"], quick["revision"], quick["possibilities"], quick["conditions"]) == ("quick", 2, 1, 0)
    assert json.loads(ggn("list", "--format", "json").out) == [mini, quick]
    assert ggn("list", "--format", "ndjson").records() == [mini, quick]


def test_list_as_csv_and_as_a_table_has_the_chief_columns(ask: Command) -> None:
    columns = ["name", "revision", "dialect", "board", "pieces", "possibilities", "title"]
    rows = list(csv.reader(io.StringIO(ask("list", "--format", "csv").out)))
    assert rows[0] == [*columns[:2], "state", *columns[2:]]
    assert rows[1] == ["chess", "1", "active", "diff", "8x8", "18", "15292", "Chess"]
    assert rows[2] == ["mini", "1", "active", "diff", "3x3", "2", "5", "A small game"]
    table = ask("list", "--format", "table").out.splitlines()
    assert table[0].split() == columns
    assert table[2].split() == [cell for cell in rows[1] if cell != "active"]
    assert len(table) == 2 + 4


def test_an_empty_store_lists_nothing_and_says_how_to_fill_it(ggn: Command) -> None:
    assert ggn("list") == Result(0, "", "")
    assert ggn("list", "--format", "json") == Result(0, "[]\n", "")
    hint = ggn("list", "--format", "table")
    assert (hint.code, hint.out) == (0, "")
    assert "ggn-store load --library" in hint.err


def test_show_tells_of_a_ruleset_and_its_pieces(ask: Command) -> None:
    result = ask("show", "mini")
    assert (result.code, result.err) == (0, "")
    for expected in ("name          mini", "dialect       diff", "board         3x3", f"start         {MINI_START}"):
        assert f"{expected}\n" in result.out
    assert result.out.splitlines()[-2:] == [
        "C:P    first         2             3              4           4",
        "c:p    second        1             1              1           1",
    ]
    shown = json.loads(ask("show", "mini@1", "--format", "json").out)
    assert [(piece["piece"], piece["possibilities"]) for piece in shown["pieces"]] == [("C:P", 4), ("c:p", 1)]
    assert (shown["name"], shown["revision"], shown["title"]) == ("mini", 1, "A small game")


@pytest.mark.parametrize("name", ["mini", "must", "perform"])
def test_export_gives_the_document_back_in_canonical_form(ask: Command, name: str) -> None:
    document = {"mini": MINI, "must": MUST, "perform": PERFORM}[name]
    assert ask("export", name) == Result(0, parse(document).canonical(), "")
    exported = ask("export", f"{name}@1", "-o", "out.json")
    assert (exported.code, exported.out) == (0, "")
    assert Path("out.json").read_text(encoding="utf-8") == parse(document).canonical()
    assert ask("export", name, "--output", "-").out == parse(document).canonical()
    assert sorted(path.name for path in Path().iterdir()) == ["out.json", *(["out.toml"] if name == "mini" else [])]


def test_delete_hides_a_ruleset_until_it_is_loaded_again(ggn: Command) -> None:
    ggn("load", write("quick.json", QUICK))
    ggn("load", write("must.json", MUST))
    deleted = ggn("delete", "quick")
    assert (deleted.code, deleted.err) == (0, "")
    assert deleted.out.startswith("quick is hidden; its revision is kept")
    assert names(ggn("list")) == ["must"]
    assert ggn("show", "quick").code == 1
    assert ggn("load", "quick.json").out.startswith("quick@1: brought back, ")
    ggn("load", write("quick.json", QUICKER))
    assert "its 2 revisions are kept" in ggn("delete", "quick").out
    assert ggn("load", "quick.json").out.startswith("quick@2: brought back")


# --- moves ---


def test_moves_of_the_start_position_are_json_objects_when_piped(ask: Command) -> None:
    result = ask("moves", "mini")
    assert (result.code, result.err) == (0, "")
    assert places(result) == MINI_MOVES
    assert [list(record) for record in result.records()] == [MOVE_KEYS] * 4
    assert result.out.splitlines()[2] == (
        '{"piece":"C:P","source":"a2","destination":"b3","ordinal":0,"must":{"b3":"enemy"},"deny":{},'
        '"effects":{"board":{"a2":null,"b3":"C:P"},"hands":{"C:P":1}},"assumed":false}'
    )


def test_chess_begins_with_twenty_moves(ask: Command) -> None:
    result = ask("moves", "chess")
    assert len(result.records()) == 20
    assert len(ask("moves", "chess", "--side", "second").records()) == 20


def test_moves_in_json_csv_and_as_a_table_are_the_same_moves(ask: Command) -> None:
    records = ask("moves", "mini").records()
    assert ask("moves", "mini", "--format", "ndjson").records() == records
    assert json.loads(ask("moves", "mini", "--format", "json").out) == records
    rows = list(csv.DictReader(io.StringIO(ask("moves", "mini", "--format", "csv").out)))
    assert [list(row) for row in rows] == [MOVE_KEYS] * 4
    for row, record in zip(rows, records, strict=True):
        assert (row["piece"], row["source"], row["destination"]) == tuple(record[key] for key in MOVE_KEYS[:3])
        assert [json.loads(row[key]) for key in MOVE_KEYS[3:]] == [record[key] for key in MOVE_KEYS[3:]]


def test_moves_as_a_table_draw_the_board_and_group_by_piece(ask: Command) -> None:
    assert ask("moves", "mini", "--format", "table") == Result(
        0,
        "3 . p .\n"
        "2 P . .\n"
        "1 . . .\n"
        "  a b c\n"
        "hand of first: 1 C:P\n"
        "first to move\n"
        "\n"
        "C:P a2: a3=C:Q  a3=C:N  xb3[+1 C:P]\n"
        "C:P hand: c1\n"
        "mini@1: 4 moves for first\n",
        "",
    )


def test_a_position_without_moves_is_an_answer(ask: Command) -> None:
    empty = ("moves", "must", "--board", "{}")
    assert ask(*empty) == Result(0, "", "")
    assert ask(*empty, "--format", "json") == Result(0, "[]\n", "")
    assert ask(*empty, "--format", "csv") == Result(0, ",".join(MOVE_KEYS) + "\n", "")
    assert ask(*empty, "--format", "table").out.endswith("must@1: no moves for first\n")


POSITIONS = [
    ("squares", '{"a2": "C:P", "b3": "c:p", "c1": null}', b""),
    ("an object", '{"board": {"a2": "C:P", "b3": "c:p"}, "hands": null, "side": "first"}', b""),
    ("an object with FEEN", '{"feen": "1p1/P2/3 P/ C/c"}', b""),
    ("a FEEN text", '"1p1/P2/3 P/ C/c"', b""),
    ("a file", "@position.json", b""),
    ("standard input", "-", b'{"a2": "C:P", "b3": "c:p"}'),
]


@pytest.mark.parametrize(("board", "stdin"), [row[1:] for row in POSITIONS], ids=[row[0] for row in POSITIONS])
def test_a_board_can_be_given_in_many_ways(ask: Command, board: str, stdin: bytes) -> None:
    write("position.json", {"board": {"a2": "C:P", "b3": "c:p"}})
    assert places(ask("moves", "mini", "--board", board, stdin=stdin)) == MINI_MOVES


def test_a_position_can_be_given_as_feen(ask: Command) -> None:
    assert places(ask("moves", "mini", "--feen", "1p1/P2/3 P/ C/c")) == MINI_MOVES
    assert places(ask("moves", "mini", "--feen", "1p1/P2/3 / C/c")) == MINI_MOVES[:3]
    assert places(ask("moves", "mini", "--feen", "1p1/P2/3 / c/C")) == [("c:p", "b3", "b2", 0)]
    assert places(ask("moves", "mini", "--feen", "1p1/P2/3 / C/c", "--side", "second")) == [("c:p", "b3", "b2", 0)]


@pytest.mark.parametrize(
    ("options", "drops"),
    [
        (("--board", "{}"), True),
        (("--board", "{}", "--hands", "{}"), False),
        (("--board", "{}", "--hands", '{"C:P": 2}'), True),
        (("--board", "{}", "--hands", '{"c:p": 2}'), False),
        (("--board", '{"board": {}, "hands": {"C:P": 1}}', "--hands", "{}"), False),
        (("--hands", "{}", "--source", "*"), False),
        (("--board", "{}", "--hands", '{"C:P": 1}', "--side", "second"), False),
    ],
    ids=["unknown", "empty", "held", "held by the other", "over the board's", "at the start", "other side"],
)
def test_drops_are_held_to_the_hands_that_are_known(ask: Command, options: tuple[str, ...], drops: bool) -> None:
    assert places(ask("moves", "mini", *options)) == (MINI_MOVES[3:] if drops else [])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--piece", "C:P"), MINI_MOVES),
        (("--piece", "c:p"), []),
        (("--source", "a2"), MINI_MOVES[:3]),
        (("--source", "*"), MINI_MOVES[3:]),
        (("--destination", "b3"), MINI_MOVES[2:3]),
        (("--destination", "*"), []),
        (("--source", "c3"), []),
        (("--piece", "C:P", "--source", "a2", "--destination", "a3"), MINI_MOVES[:2]),
        (("--piece", "c:p", "--side", "second", "--source", "b3", "--destination", "b2"), [("c:p", "b3", "b2", 0)]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_moves_can_be_narrowed(ask: Command, options: tuple[str, ...], expected: list[Any]) -> None:
    assert places(ask("moves", "mini", *options)) == expected


def test_a_must_deny_ruleset_gives_effects_only_where_they_are_assumed(ask: Command) -> None:
    options = ("moves", "must", "--board", '{"a1": "C:R"}')
    [plain] = ask(*options).records()
    assert (plain["effects"], plain["assumed"]) == (None, False)
    [assumed] = ask(*options, "--assume", "displacement").records()
    assert (assumed["effects"], assumed["assumed"]) == ({"board": {"a1": None, "a3": "C:R"}}, True)
    [given] = ask("moves", "mini", "--destination", "b3", "--assume", "displacement").records()
    assert (given["effects"]["hands"], given["assumed"]) == ({"C:P": 1}, False)


BATCH = (
    '{"board": {"a2": "C:P"}, "hands": {}}\n'
    "\n"
    '"3/3/3 / C/c"\n'
    '{"feen": "1p1/P2/3 P/ C/c"}\n'
    '{"board": {"b3": "c:p"}, "side": "second"}\n'
)


def test_a_batch_numbers_its_positions(ask: Command) -> None:
    write("positions.ndjson", BATCH)
    result = ask("moves", "mini", "--positions", "positions.ndjson")
    assert (result.code, result.err) == (0, "")
    assert [(r["position"], r["piece"], r["source"], r["destination"], r["ordinal"]) for r in result.records()] == [
        *((0, *move) for move in MINI_MOVES[:2]),
        *((2, *move) for move in MINI_MOVES),
        (3, "c:p", "b3", "b2", 0),
    ]
    assert [list(record) for record in result.records()] == [["position", *MOVE_KEYS]] * 7
    assert ask("moves", "mini", "--positions", "-", stdin=BATCH) == result
    assert json.loads(ask("moves", "mini", "--positions", "-", "--format", "json", stdin=BATCH).out) == result.records()
    rows = list(
        csv.DictReader(io.StringIO(ask("moves", "mini", "--positions", "-", "--format", "csv", stdin=BATCH).out))
    )
    assert [row["position"] for row in rows] == ["0", "0", "2", "2", "2", "2", "3"]
    table = ask("moves", "mini", "--positions", "-", "--format", "table", stdin=BATCH).out.splitlines()
    assert table[0].split() == ["position", *MOVE_KEYS]
    assert len(table) == 2 + 7


def test_a_batch_can_be_narrowed_and_turned(ask: Command) -> None:
    turned = ask("moves", "mini", "--positions", "-", "--side", "second", stdin=BATCH)
    assert [(r["position"], r["piece"]) for r in turned.records()] == [(2, "c:p"), (3, "c:p")]
    narrow = ask("moves", "mini", "--positions", "-", "--destination", "b3", stdin=BATCH)
    assert [(r["position"], r["destination"]) for r in narrow.records()] == [(2, "b3")]


def test_a_batch_of_more_positions_than_one_statement_holds_is_numbered_through(ask: Command) -> None:
    result = ask("moves", "must", "--positions", "-", stdin='{"board": {"a1": "C:R"}}\n' * 1201)
    assert [record["position"] for record in result.records()] == list(range(1201))


def test_explain_prints_the_statement_and_the_database_s_plan(ask: Command, library: str) -> None:
    asked = ("moves", "mini", "--explain", "--piece", "C:P", "--source", "a2", "--destination", "b3")
    for query, table, note in (("fast", "mask", True), ("reading", "board_state", False)):
        result = ask(*asked, "--query", query)
        assert (result.code, result.err) == (0, "")
        statement, _, plan = result.out.partition("\n\n")
        assert "SELECT" in statement
        assert table in statement
        if query == "reading":
            assert "'C:P'" in statement, "what was asked is in the statement"
        assert ("cost=" if library.startswith("postgresql") else "SEARCH") in plan
        assert ("of what it finds, only moves to b3" in plan) is note


def test_both_queries_print_the_same_moves(ask: Command) -> None:
    assert ask("moves", "mini", "--query", "fast") == ask("moves", "mini", "--query", "reading")


# --- apply ---


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--move", "C:P a2 b3"), "1P1/3/3 2P/ c/C"),
        (("--move", "C:P a2 a3", "--ordinal", "0"), "Qp1/3/3 P/ c/C"),
        (("--move", "C:P a2 a3", "--ordinal", "1"), "Np1/3/3 P/ c/C"),
        (("--move", "C:P * c1"), "1p1/P2/2P / c/C"),
        (("--move", "  c:p  b3  b2 ", "--side", "second"), "3/Pp1/3 P/ c/C"),
        (("--feen", "3/3/3 P/ C/c", "--move", "C:P * c1"), "3/3/2P / c/C"),
        (("--move", "C:P a2 b3", "--hands", '{"C:P": 7}'), "1P1/3/3 8P/ c/C"),
    ],
    ids=["capture", "first choice", "second choice", "drop", "the turn stays", "feen", "hands"],
)
def test_apply_prints_the_position_after_the_move(ask: Command, options: tuple[str, ...], expected: str) -> None:
    assert ask("apply", "mini", *options) == Result(0, f"{expected}\n", "")


def test_what_apply_prints_is_a_position_for_the_next_command(ask: Command) -> None:
    after = ask("apply", "mini", "--move", "C:P a2 b3").out.strip()
    assert ask("moves", "mini", "--feen", after).out == ""
    assert places(ask("moves", "mini", "--feen", after, "--side", "first")) == MINI_MOVES[3:]
    position = ask("apply", "mini", "--move", "C:P a2 b3", "--format", "json").out
    assert places(ask("moves", "mini", "--board", position, "--side", "first")) == MINI_MOVES[3:]


def test_apply_answers_in_the_form_that_the_position_came_in(ask: Command) -> None:
    board = ("apply", "mini", "--board", '{"a2": "C:P"}', "--move", "C:P a2 a3", "--ordinal", "1")
    assert json.loads(ask(*board).out) == {"board": {"a3": "C:N"}, "hands": None, "side": "second"}
    assert ask(*board, "--format", "feen").out == "N2/3/3 / c/C\n"
    start = ("apply", "mini", "--move", "C:P a2 b3", "--format", "json")
    assert json.loads(ask(*start).out) == {"board": {"b3": "C:P"}, "hands": {"C:P": 2}, "side": "second"}


def test_apply_takes_displacement_only_where_it_is_assumed(ask: Command) -> None:
    options = ("apply", "must", "--board", '{"a1": "C:R"}', "--move", "C:R a1 a3")
    assert json.loads(ask(*options, "--assume", "displacement").out)["board"] == {"a3": "C:R"}
    refused = ask(*options)
    assert (refused.code, refused.out) == (1, "")
    assert "--assume displacement" in refused.err


@pytest.mark.parametrize("engine", [(), ("--engine", "sqlite"), ("--engine", "duckdb")])
def test_perft_counts_the_paths(ask: Command, engine: tuple[str, ...]) -> None:
    result = ask("perft", "chess", "--depth", "3", *engine)
    [record] = result.records()
    assert (record["depth"], record["count"]) == (3, 8902)
    assert engine == () or record["engine"] == engine[1]
    assert {"compiling", "running"} < record.keys()
    kings = ask(
        "perft", "chess", "--depth", "1", "--fen", "4k3/8/8/8/8/8/8/4K3 b - - 0 1", "--format", "table", *engine
    )
    assert kings.out.startswith("chess@1: 5 paths of 1 move (")


def test_perft_divides_the_paths_by_the_first_move(ask: Command) -> None:
    divided = ask("perft", "chess", "--depth", "2", "--divide")
    assert places(divided) == places(ask("moves", "chess"))
    assert {record["count"] for record in divided.records()} == {20}
    lines = ask("perft", "chess", "--depth", "2", "--divide", "--format", "table").out.splitlines()
    assert lines[0] == "C:N b1 c3 0: 20"
    assert lines[-1].startswith("chess@1: 400 paths of 2 moves (")
    assert ask("perft", "chess", "--board", "{}", "--depth", "2", "--divide", "--format", "csv") == Result(
        0, "piece,source,destination,ordinal,count\n", ""
    )


def test_perft_takes_displacement_only_where_it_is_assumed(ask: Command) -> None:
    options = ("perft", "must", "--depth", "1", "--board", '{"a1": "C:R"}')
    assert ask(*options, "--assume", "displacement").records()[0]["count"] == 1
    refused = ask(*options)
    assert (refused.code, refused.out) == (1, "")
    assert "--assume displacement" in refused.err


def test_a_choice_of_promotions_has_to_be_made_and_is_listed(ask: Command) -> None:
    asked = ask("apply", "mini", "--move", "C:P a2 a3")
    assert (asked.code, asked.out) == (1, "")
    assert '--ordinal 0: {"board":{"a2":null,"a3":"C:Q"}}\n' in asked.err
    assert '--ordinal 1: {"board":{"a2":null,"a3":"C:N"}}\n' in asked.err
    wrong = ask("apply", "mini", "--move", "C:P a2 a3", "--ordinal", "2")
    assert wrong.code == 1
    assert "--ordinal 1: " in wrong.err


# --- db ---


def test_upgrade_makes_a_store_ready_and_may_be_run_again(run: Program, address: str) -> None:
    first = run("--db", address, "db", "upgrade")
    assert (first.code, first.err) == (0, "")
    assert re.fullmatch(r"the store is ready: version \d{4}\n", first.out)
    again = run("--db", address, "db", "upgrade")
    assert re.fullmatch(r"the store is up to date: version \d{4}\n", again.out)
    assert run("--db", address, "list") == Result(0, "", "")


def test_info_shows_the_store_before_and_after_it_is_ready(run: Program, address: str) -> None:
    before = run("--db", address, "db", "info")
    assert (before.code, before.err) == (0, "")
    assert "not made ready yet" in before.out
    run("--db", address, "db", "upgrade")
    run("--db", address, "load", write("quick.json", QUICK))
    after = run("--db", address, "db", "info")
    engine = "PostgreSQL" if address.startswith("postgresql") else "SQLite"
    assert re.search(rf"^engine +{engine} \d+\.", after.out, re.MULTILINE)
    assert re.search(r"^rulesets +1$", after.out, re.MULTILINE)
    data = json.loads(run("--db", address, "db", "info", "--format", "json").out)
    assert (data["version"], data["rulesets"]) == (data["needed"], 1)
    assert data["address"].startswith("postgresql://" if engine == "PostgreSQL" else "sqlite:///")


def test_info_does_not_make_the_store_that_it_looks_for(run: Program) -> None:
    assert run("--db", "new.db", "db", "info").code == 0
    assert not Path("new.db").exists()


def test_check_passes_a_sound_store_and_names_what_differs(ggn: Command, ready: str) -> None:
    ggn("load", write("mini.json", MINI))
    assert ggn("db", "check") == Result(0, "", "2 pieces, 1 revision and 0 tags checked: all sound\n")
    assert ggn("db", "rebuild") == Result(0, "2 pieces rebuilt\n", "")
    database = connect(ready)
    with database.writing() as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE effect SET becomes = 'C:R' WHERE becomes = 'C:Q'"))
    database.close()
    result = ggn("db", "check")
    assert result.code == 1
    assert re.fullmatch(r"piece \d+ \(C:P\): its rows do not give its digest [0-9a-f]{64}\n", result.out)
    assert result.err == "2 pieces, 1 revision and 0 tags checked: 1 difference\n"


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


# --- completion ---


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_completion_script(run: Program, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_GGN_STORE_COMPLETE", f"{shell}_source")
    monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda _: None)
    result = run()
    assert (result.code, result.err) == (0, "")
    assert f"_GGN_STORE_COMPLETE={shell}_complete" in result.out


def complete(run: Program, monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    """What the shell is offered for the last of `words`."""
    with monkeypatch.context() as patch:
        patch.setenv("_GGN_STORE_COMPLETE", "bash_complete")
        patch.setenv("COMP_WORDS", words)
        patch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        result = run()
    assert (result.code, result.err) == (0, "")
    return result.out.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ggn-store mov", ["plain,moves"]),
        ("ggn-store db ", ["plain,check", "plain,info", "plain,rebuild", "plain,roles", "plain,upgrade"]),
        ("ggn-store schema ", ["plain,perform", "plain,must-deny", "plain,diff", "plain,gdl"]),
        ("ggn-store load --dialect m", ["plain,must-deny"]),
        ("ggn-store load --on-error ", ["plain,stop", "plain,skip"]),
        ("ggn-store moves x --format t", ["plain,table"]),
        ("ggn-store load --mess", ["plain,--message"]),
        ("ggn-store load ga", ["file,ga"]),
        ("ggn-store validate ga", ["file,ga"]),
        ("ggn-store convert ga", ["file,ga"]),
    ],
)
def test_commands_options_dialects_and_files_are_completed(
    run: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str, offered: list[str]
) -> None:
    assert complete(run, monkeypatch, words) == offered
    assert not (tmp_path / "home").exists()


def test_rulesets_are_completed_from_the_store_that_is_meant(
    run: Program, monkeypatch: pytest.MonkeyPatch, library: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("GGN_STORE_URL", library)
    for command in ("moves", "apply", "show", "export", "delete"):
        assert complete(run, monkeypatch, f"ggn-store {command} m") == ["plain,mini", "plain,must"]
    assert complete(run, monkeypatch, "ggn-store show x") == []
    run("--db", "other.db", "load", "-", "--name", "mine", stdin=json.dumps(QUICK))
    assert complete(run, monkeypatch, "ggn-store --db other.db show m") == ["plain,mine"]


@pytest.mark.parametrize(
    "address", ["", "new.db", "sqlite:////no/such/directory/x.db", "not-a-store.txt", "mysql://x/y", "postgresql://@:0"]
)
def test_completing_never_complains_and_never_makes_a_store(
    run: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    write("not-a-store.txt", "text")
    monkeypatch.setenv("GGN_STORE_URL", address)
    assert complete(run, monkeypatch, "ggn-store moves c") == []
    assert [path.name for path in Path().iterdir()] == ["not-a-store.txt"]
    assert not (tmp_path / "home").exists()


# --- pictures ---


def test_through_a_pipe_a_picture_is_svg(ask: Command) -> None:
    result = ask("draw", "chess")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith('<svg xmlns="http://www.w3.org/2000/svg" ')
    assert result.out.endswith("</svg>\n")
    assert result.out.count('class="piece"') == 32
    assert ask("draw", "chess", "-o", "-") == result


@needs_a_font
def test_pictures_are_written_to_files_that_appear_whole_in_place_of_others(ask: Command) -> None:
    write("knight.svg", "old")
    assert ask("draw", "chess", "--piece", "C:N", "--source", "d4", "-o", "knight.svg") == Result(0, "", "")
    assert Path("knight.svg").read_text(encoding="utf-8") == ask("draw", "chess", "--piece", "C:N").out
    assert ask("draw", "mini", "-o", "mini.PNG") == Result(0, "", "")
    assert Path("mini.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    assert sorted(path.name for path in Path().iterdir()) == ["knight.svg", "mini.PNG"]
    failed = ask("draw", "mini", "-o", "no/such/directory.svg")
    assert (failed.code, failed.err) == (
        1,
        "Error: no/such/directory.svg: cannot be written: No such file or directory\n",
    )


def test_a_position_is_drawn_however_it_is_given(ask: Command) -> None:
    assert 'data-piece="c:q"' not in ask("draw", "chess", "--board", '{"e4": "C:P"}').out
    drawn = ask("draw", "chess", "--fen", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1").out
    assert re.findall('data-piece="([^"]+)"', drawn) == ["c:k^", "C:P", "C:K^"]
    assert "second to move" in drawn
    assert ask("draw", "mini", "--side", "second").out != ask("draw", "mini").out


def test_the_moves_that_are_drawn_are_those_of_the_position(ask: Command) -> None:
    def marked(*options: str) -> set[str]:
        return set(re.findall('data-square="([^"]+)" data-kind', ask("draw", *options).out))

    assert marked("mini", "--piece", "C:P", "--source", "a2") == {"a3", "b3"}
    assert marked("mini", "--source", "a2", "--feen", "3/P2/3 / C/c") == {"a3"}
    assert marked("mini", "--source", "*", "--piece", "C:P") == {"c1"}
    assert marked("chess", "--source", "g1") == {"f3", "h3"}
    assert marked("must", "--poster") == {"a3"}


def test_mobility_is_drawn_as_numbers(ask: Command) -> None:
    svg = ask("draw", "chess", "--piece", "C:N", "--mobility").out
    assert "least 2, mean 5.25, most 8, sum 336" in svg


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "picture.gif"), "-o picture.gif: a picture's file ends in .svg or .png"),
        (("-o", "picture"), "ends in .svg or .png"),
        (("--mobility",), "--mobility is of one piece on an empty board: give --piece, and nothing else"),
        (("--mobility", "--piece", "C:N", "--source", "a1"), "and nothing else"),
        (("--poster", "--piece", "C:N"), "--poster shows all pieces"),
        (("--poster", "--mobility", "--piece", "C:N"), "ask for one of them"),
        (("--piece", "C:N", "--side", "first"), "--side is the side to move of a position"),
        (("--fen", "x", "--feen", "y"), "--feen and --fen both name a position"),
    ],
)
def test_pictures_that_contradict_themselves_are_refused(ask: Command, options: tuple[str, ...], message: str) -> None:
    result = ask("draw", "chess", *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("chess", "--source", "e5"), 'there is no piece on "e5" in this position'),
        (("chess", "--piece", "C:P", "--board", '{"a2": "C:P", "b2": "C:P"}'), "on a2, b2: say which, with --source"),
        (("chess", "--piece", "C:X"), 'chess@1 has no rules for "C:X"'),
        (("chess", "--piece", "C:N", "--source", "k9"), 'C:N has no rules from "k9"'),
        (("must", "--source", "a1"), "must@1 has no start position of its own"),
        (("chess", "--feen", "8P/9 / C/c"), "i2: not on the board of chess@1, which is 8x8"),
    ],
)
def test_pictures_of_what_is_not_there_are_refused(ask: Command, options: tuple[str, ...], message: str) -> None:
    result = ask("draw", *options)
    assert (result.code, result.out) == (1, "")
    assert message in result.err


def test_without_resvg_png_is_refused_with_the_cure(ask: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    result = ask("draw", "mini", "-o", "mini.png")
    assert (result.code, result.out) == (1, "")
    assert "pip install 'ggn-store[png]', or write SVG" in result.err
    assert not list(Path().iterdir())


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
