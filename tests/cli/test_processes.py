"""The program as a process: what signals, pipes, and closed or full streams do to it."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ggn_store import parse
from tests.support.program import MINI, MINI_TOML, MUST, QUICK, Program, child_environment, line, names, write
from tests.support.sampled import sampled


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """The program as a process that Ctrl-C interrupts, also where the tests run with that signal ignored."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from ggn_store.cli import main; main()"
    )
    return subprocess.Popen([sys.executable, "-c", code, *arguments], env=child_environment(), **options)


@pytest.mark.parametrize(
    "program", ["from ggn_store.__main__ import main; main()", "import runpy; runpy.run_module('ggn_store')"]
)
def test_ctrl_c_while_the_program_starts_gives_no_traceback(tmp_path: Path, program: str) -> None:
    stub = write(tmp_path / "stub" / "click.py", "import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    code = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {program}"
    done = subprocess.run(
        [sys.executable, "-c", code, "list"],
        env=child_environment(PYTHONPATH=os.pathsep.join([str(stub.parent), *sys.path])),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


# Signals, what a shell expects of a program that they end, and what it says.
ENDS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "hung up")]


@pytest.mark.both
@pytest.mark.parametrize(("number", "code", "said"), ENDS)
def test_an_interrupted_load_leaves_whole_documents(
    run: Program, address: str, number: int, code: int, said: str
) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start("--db", address, "load", "-", "--on-error", "skip", **pipes) as loading:
        assert loading.stdin is not None
        assert loading.stderr is not None
        # The broken line is told as soon as it is read, so the first document is stored by then.
        loading.stdin.write(line("one", QUICK).encode() + b"{}\n" + line("two", MUST).encode()[:-5])
        loading.stdin.flush()
        assert loading.stderr.readline() == b"standard input: not loaded\n"
        loading.send_signal(number)
        out = loading.stdout.read() if loading.stdout else b""
        err = loading.stderr.read().decode()
    assert loading.returncode == code
    assert out == b""
    assert err.endswith(f"Error: {said}; what was being written is undone\n")
    assert err.count("Error: ") == 1
    assert "Traceback" not in err
    assert names(run("--db", address, "list")) == ["one"]
    assert run("--db", address, "db", "check").code == 0


@pytest.mark.parametrize(("number", "code", "said"), ENDS)
def test_a_load_that_waits_for_others_can_be_interrupted(run: Program, number: int, code: int, said: str) -> None:
    store_of_the_small_game(run)
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with (
        closing(sqlite3.connect("store.db", isolation_level=None)) as other,
        start("--db", "store.db", "load", "-", "--on-error", "skip", **pipes) as loading,
    ):
        assert loading.stdin is not None
        assert loading.stderr is not None
        loading.stdin.write(line("one", QUICK).encode() + b"{}\n")
        loading.stdin.flush()
        assert loading.stderr.readline() == b"standard input: not loaded\n"
        other.execute("BEGIN IMMEDIATE")
        loading.stdin.write(line("two", QUICK).encode())
        loading.stdin.flush()
        loading.send_signal(number)
        err = loading.stderr.read().decode()
    assert loading.returncode == code
    assert err.endswith(f"Error: {said}; what was being written is undone\n")
    assert names(run("--db", "store.db", "list")) == ["mini", "one"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no list of a process's children")
@pytest.mark.parametrize(("number", "code", "said"), sampled(ENDS))
def test_a_query_that_is_interrupted_takes_its_process_with_it(run: Program, number: int, code: int, said: str) -> None:
    store_of_the_small_game(run)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with start("--db", "store.db", "sql", "--timeout", "600", endless, stderr=subprocess.PIPE) as asking:
        children = Path(f"/proc/{asking.pid}/task/{asking.pid}/children")
        while not (child := children.read_text(encoding="ascii").split()):
            assert asking.poll() is None
        asking.send_signal(number)
        assert asking.stderr is not None
        err = asking.stderr.read().decode()
    assert asking.returncode == code
    assert err.endswith(f"Error: {said}; what was being written is undone\n")
    while Path(f"/proc/{child[0]}").exists():  # it ends by itself where it had only just begun
        pass


def store_of_the_small_game(run: Program) -> None:
    write("mini.toml", MINI_TOML)
    assert run("--db", "store.db", "load", write("mini.json", MINI)).code == 0


# What only prints ends where nobody reads on; what does more goes on, and its exit code is its own.
UNREAD = [
    ("--help", 0),
    ("list", 0),
    ("export mini", 0),
    ("moves mini@1", 0),
    ("sql 'select * from v_moves'", 0),
    ("diff mini@1 mini@2 --exit-code", 1),
    ("validate broken.json", 1),
    ("moves --nothing", 2),
    ("load other.json --name mini --base 1", 3),
    ("push mini --remote remote.db", 3),
]


@pytest.fixture
def moved_on(run: Program) -> None:
    """A store whose ruleset has two revisions, and another one whose ruleset of that name has another history."""
    store_of_the_small_game(run)
    write("broken.json", {"C:P": {"e2": 5}})
    write("other.json", QUICK)
    assert run("--db", "store.db", "load", "other.json", "--name", "mini").code == 0
    assert run("--db", "remote.db", "load", write("must.json", MUST), "--name", "mini").code == 0


@pytest.mark.usefixtures("moved_on")
@pytest.mark.parametrize(("command", "code"), sampled(UNREAD))
def test_a_reader_that_has_seen_enough_changes_neither_exit_code_nor_message(
    run: Program, command: str, code: int
) -> None:
    told = run("--db", "store.db", *shlex.split(command)).err
    reading, writing = os.pipe()
    os.close(reading)
    with start("--db", "store.db", *shlex.split(command), stdout=writing, stderr=subprocess.PIPE) as ended:
        os.close(writing)
        assert ended.stderr is not None
        assert ended.stderr.read().decode() == told
    assert ended.returncode == code


@pytest.mark.usefixtures("moved_on")
@pytest.mark.parametrize(("command", "code"), sampled(UNREAD))
def test_output_that_finds_no_room_is_told_unless_the_command_failed(command: str, code: int) -> None:
    with open("/dev/full", "wb") as full:
        ended = start("--db", "store.db", *shlex.split(command), stdout=full, stderr=subprocess.PIPE)
        _, told = ended.communicate()
    assert ended.returncode == (code or 1)
    assert told.endswith(b"Error: output: No space left on device\n") == (code == 0)
    assert b"Exception" not in told


def test_what_writes_to_the_store_goes_on_without_a_reader(run: Program) -> None:
    for name in ("one", "two"):
        write(f"{name}.json", QUICK)
    reading, writing = os.pipe()
    os.close(reading)
    with start("--db", "store.db", "load", "one.json", "two.json", stdout=writing, stderr=writing) as loading:
        os.close(writing)
    assert loading.returncode == 0
    assert names(run("--db", "store.db", "list")) == ["one", "two"]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (
            "moves mini --board - <&-",
            1,
            "Error: the board: the text ends too early at 1:1, found the end of the text\n",
        ),
        ("load - --name x <&-", 1, "standard input: not loaded\n  standard input:1:1: the text ends too early"),
        ("validate - <&-", 1, "1 document checked: 1 invalid, 1 problem\n"),
        ("list >&-", 0, ""),
        ("moves mini >&-", 0, ""),
        ("--help >&-", 0, ""),
        ("load mini.json >&- 2>&-", 0, ""),
        ("load nothing.json >&- 2>&-", 1, ""),
        ("load nothing.json <&- >&- 2>&-", 1, ""),
        ("load nothing.json 2>/dev/full", 1, ""),
        ("moves --nothing 2>/dev/full", 2, ""),
        ("list 2>/dev/full", 0, ""),
        ("list >/dev/full", 1, "Error: output: No space left on device\n"),
        ("export mini >/dev/full", 1, "Error: output: No space left on device\n"),
    ],
)
def test_streams_that_are_closed_or_full_are_no_reason_for_a_traceback(
    run: Program, command: str, code: int, said: str
) -> None:
    store_of_the_small_game(run)
    whole = f'exec "{sys.executable}" -m ggn_store --db store.db {command}'
    ended = subprocess.run(
        ["/bin/sh", "-c", whole], env=child_environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert ended.stderr.startswith(said)
    assert bool(ended.stderr) == bool(said)
    assert "Traceback" not in ended.stderr
    assert ended.returncode == code


def test_an_output_file_is_whole_or_not_there(run: Program) -> None:
    store_of_the_small_game(run)
    write("out.json", "what was there")
    refused = run("convert", "mini.json", "--to", "perform", "-o", "out.json")
    assert refused.code == 1
    assert Path("out.json").read_text(encoding="utf-8") == "what was there"
    assert run("--db", "store.db", "export", "mini", "-o", "out.json").code == 0
    assert Path("out.json").read_text(encoding="utf-8") == parse(MINI).canonical()
    assert sorted(path.name for path in Path().iterdir()) == [
        *("mini.json", "mini.toml", "out.json", "out.toml", "store.db")
    ]


def test_an_output_that_finds_no_room_leaves_what_was_there(run: Program) -> None:
    large = {"C:R": {"a1": {f"a{rank}": [{"must": {f"a{rank}": "empty"}, "diff": {}}] for rank in range(2, 200)}}}
    run("--db", "store.db", "load", write("large.json", large))
    write("out.json", "what was there")
    whole = f'ulimit -f 2; exec "{sys.executable}" -B -m ggn_store --db store.db export large -o out.json'
    refused = subprocess.run(
        ["/bin/sh", "-c", whole], env=child_environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "Error: out.json: cannot be written: File too large\n"
    assert Path("out.json").read_text(encoding="utf-8") == "what was there"
    assert sorted(path.name for path in Path().iterdir()) == ["large.json", "out.json", "store.db"]
