"""The program as tests run it: in this process, as one of its own or on a terminal; with small games to ask about."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ggn_store.cli import main

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
    """The environment for a process: that of the tests, as on a plain terminal of UTF-8, and for a plain Python."""
    terminal = ("COLUMNS", "LINES", "CI", "TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "TMUX")
    python = [name for name in os.environ if name.startswith("PYTHON") and name != "PYTHONPATH"]
    kept = {name: value for name, value in os.environ.items() if name not in (*terminal, *python)}
    return kept | {"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "GGN_STORE_PAGER": ""} | more


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
def ggn(run: Program, address: str) -> Command:
    """The program on a new store: once of SQLite, once of Postgres."""
    return lambda *arguments, stdin=b"": run("--db", address, *arguments, stdin=stdin)


@pytest.fixture
def ask(run: Program, library: str) -> Command:
    """The program on the store that no test changes: once of SQLite, once of Postgres."""
    return lambda *arguments, stdin=b"": run("--db", library, *arguments, stdin=stdin)


def names(listed: Result) -> list[str]:
    return [record["name"] for record in listed.records()]


def places(answer: Result) -> list[tuple[str, str, str, int]]:
    """Piece, source, destination and ordinal of each move of an NDJSON answer."""
    return [(r["piece"], r["source"], r["destination"], r["ordinal"]) for r in answer.records()]


def complete(run: Program, monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    """What the shell is offered for the last of `words`."""
    with monkeypatch.context() as patch:
        patch.setenv("_GGN_STORE_COMPLETE", "bash_complete")
        patch.setenv("COMP_WORDS", words)
        patch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        result = run()
    assert (result.code, result.err) == (0, "")
    return result.out.split()
