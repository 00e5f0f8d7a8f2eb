"""Writers who all merge into the same ruleset at once, and how long each of their merges takes.

    python -m tests.benchmarks.writers                       16 writers of 20 merges, on SQLite and on Postgres
    python -m tests.benchmarks.writers --rulesets 16         each writer into a ruleset of its own

A writer changes an entry of its own, based on the revision that it has just read; all but one of those who read the
same revision find that the ruleset has moved on. Times are of `Store.load` alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import chain

from ggn_store import Store, parse
from tests.support.crowd import document, entries, values
from tests.support.loader import ROOT
from tests.support.postgres import server


def write(address: str, merges: int, index: int, rulesets: int) -> None:
    """Be one of the writers: begin at a line of standard input, and print the seconds that each merge took."""
    name, entry = f"team/game{index % rulesets}", entries()[index]
    took = []
    with Store.open(address) as store:
        store.ruleset(name)
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(merges):
            head = store.ruleset(name)
            mine = parse(document(values(head.export()) | {entry: 1 + number}))
            begin = time.perf_counter()
            store.load(mine, name, base=str(head.revision.number), merge=True)
            took.append(time.perf_counter() - begin)
    print(json.dumps(took), flush=True)


def measure(address: str, writers: int, merges: int, rulesets: int) -> list[list[float]]:
    """The seconds of each writer's merges."""
    with Store.open(address, upgrade=True) as store:
        for number in range(rulesets):
            store.load(document({}), f"team/game{number}", author="nobody")
    command = [sys.executable, "-m", "tests.benchmarks.writers", "--be", address, "--merges", str(merges)]
    running = [
        subprocess.Popen(
            [*command, "--rulesets", str(rulesets), "--index", str(index)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for index in range(writers)
    ]
    for each in running:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in running:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    return [json.loads(each.communicate()[0]) for each in running]


def told(database: str, found: list[list[float]]) -> str:
    """The figures in a line; a writer's time is that of all its merges."""
    lines = []
    for what, seconds in (("a merge", list(chain(*found))), ("a writer", [sum(each) for each in found])):
        least, median, most = min(seconds), statistics.median(seconds), max(seconds)
        lines.append(
            f"{database:8}  {what:8}  least {least:7.3f} s  median {median:7.3f} s  most {most:7.3f} s  "
            f"most / median {most / median:5.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.writers")
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--merges", type=int, default=20)
    parser.add_argument("--rulesets", type=int, default=1)
    parser.add_argument("--be", metavar="ADDRESS", help=argparse.SUPPRESS)
    parser.add_argument("--index", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.be is not None:
        write(given.be, given.merges, given.index, given.rulesets)
        return
    with tempfile.TemporaryDirectory() as directory:
        print(told("SQLite", measure(f"sqlite:///{directory}/store.db", given.writers, given.merges, given.rulesets)))
    with server() as running:
        address = running.create_database()
        print(told("Postgres", measure(address, given.writers, given.merges, given.rulesets)))
        running.drop_database(address)


if __name__ == "__main__":
    main()
