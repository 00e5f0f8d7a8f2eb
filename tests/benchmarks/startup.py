"""The processor time of short commands, as ratios to `python -c 'import sqlalchemy'`.

    python -m tests.benchmarks.startup                      chess in a SQLite file
    python -m tests.benchmarks.startup --rounds 21

Rounds alternate. Counted is user and system time of the process. Bytecode is written first, as an installation does.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.benchmarks.rounds import Figure, table

BASE = "import sqlalchemy"
GOALS = {"moves chess": 1.3}


def commands(store: str) -> dict[str, tuple[Sequence[str], Mapping[str, str]]]:
    """What is run, by name: arguments of Python, and what the environment has beside."""
    program = ["-m", "ggn_store"]

    def completion(words: str) -> tuple[Sequence[str], Mapping[str, str]]:
        number = str(len(words.split(" ")) - 1)
        return program, {"_GGN_STORE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": number}

    return {
        BASE: (["-c", BASE], {}),
        "moves chess": ([*program, "--db", store, "moves", "chess"], {}),
        "list": ([*program, "--db", store, "list"], {}),
        "--version": ([*program, "--version"], {}),
        "--help": ([*program, "--help"], {}),
        "completion of a command": completion("ggn-store mov"),
        "completion of a game": completion("ggn-store load --library xi"),
        "completion of a ruleset": completion(f"ggn-store --db {store} moves ch"),
    }


def seconds(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    """The processor time of a run of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=dict(environment), stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(directory: Path, rounds: int) -> list[Figure]:
    """The medians of rounds, in which each command runs once."""
    store = str(directory / "store.db")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(directory / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    works = commands(store)
    load = [sys.executable, "-m", "ggn_store", "--db", store, "load", "--library", "chess"]
    subprocess.run(load, env=environment, stdout=subprocess.DEVNULL, check=True)
    taken: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, (arguments, more) in works.items():
            spent = seconds(arguments, {**environment, **more})
            if number:  # the first round writes bytecode
                taken[name].append(spent)
    medians = {name: statistics.median(each) for name, each in taken.items()}
    return [
        Figure(f"{name}, x {BASE}", each / medians[BASE], GOALS.get(name), note=f"{each * 1000:,.0f} ms")
        for name, each in medians.items()
    ]


def main() -> int:
    """Measure, and print the table; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        figures = measure(Path(directory), arguments.rounds)
    print(table(figures))
    return int(any(figure.verdict == "missed" for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
