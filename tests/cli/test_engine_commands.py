"""`ggn-store uci` and `ggn-store usi` as processes: read from a pipe, answered at once, ended by `quit` or its end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ggn_store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("engine") / "store.db"
    with Store.open(file) as made:
        for name in ("chess", "minishogi"):
            made.load_library(name)
        made.load({"C:K^": {"a1": {"a2": [{}]}}}, "must", dialect="must-deny")
    return str(file)


def command(store: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "ggn_store", "--db", store, *arguments]


def talk(store: str, text: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command(store, *arguments), input=text, capture_output=True, timeout=120, check=False)


def test_a_conversation_ends_with_quit(store: str) -> None:
    done = talk(store, b"uci\nposition startpos moves e2e4\ngo\nquit\nuci\n", "uci", "chess", "--seed", "1")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines.count("uciok") == 1
    assert lines[-1].startswith("bestmove ")


def test_the_end_of_the_input_is_an_end_too(store: str) -> None:
    done = talk(store, b"usi\nisready", "usi", "minishogi", "--choice", "greedy")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "option name Choice type combo default greedy var random var greedy" in done.stdout.decode()
    assert done.stdout.endswith(b"usiok\nreadyok\n")


def test_what_is_no_text_and_what_is_too_long_does_no_harm(store: str) -> None:
    text = b"\xff\xfe\0\x1b[2J\n" + b"position fen " + b"k" * 3_000_000 + b"\nposition \xff\nisready\n"
    done = talk(store, text, "uci", "chess")
    assert (done.returncode, done.stderr) == (0, b"")
    *said, ready = done.stdout.decode().splitlines()
    assert ready == "readyok"
    assert all(line.startswith("info string ") and line.isprintable() and len(line) < 1_000 for line in said)


def test_each_answer_comes_before_the_next_question(store: str) -> None:
    with subprocess.Popen(
        command(store, "uci", "chess"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ}
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for question, answer in ((b"isready\n", b"readyok\n"), (b"go searchmoves 0000\n", b"bestmove (none)\n")):
            running.stdin.write(question)
            running.stdin.flush()
            assert running.stdout.readline() == answer
        running.stdin.close()
        assert running.wait(60) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("uci", "nothing"), 1, 'the store has no ruleset "nothing"'),
        (("uci", "must"), 1, "must@1 is a must-deny document"),
        (("uci", "chess", "--choice", "best"), 2, "'best' is not one of 'random', 'greedy'"),
        (("uci", "chess", "--seed", "0"), 2, "0 is not in the range"),
        (("usi", "chess", "--variant", "chess"), 2, "No such option"),
    ],
)
def test_what_cannot_be_played_is_an_error(store: str, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = talk(store, b"uci\n", *arguments)
    assert (done.returncode, done.stdout) == (code, b"")
    assert said in done.stderr.decode()
