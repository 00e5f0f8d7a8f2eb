"""How long `load` and `list` take beside those who read a SQLite file for long, held to what they take alone.

    python -m tests.benchmarks.waiting                       a store of a few games
    python -m tests.benchmarks.waiting --store FILE          a store that is there, such as one of the whole library

Each round loads and lists alone, and then beside each reader, who is started anew for that: so the load meets a reader
who has the file. What is loaded is the next revision each time, and each list must have it. Processor time is of `load`
and `list` alone. A copy of the store is worked on.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from ggn_store import Store
from tests.benchmarks.rounds import Figure, table

QUERY = "SELECT count(*) FROM v_moves a, v_moves b, v_moves c"
GOAL = 2.0
_STARTED = 2.0  # seconds after which a reader reads
_COMMAND = (sys.executable, "-m", "ggn_store", "--db")


class Bench:
    """A copy of a store, and what is done in it."""

    def __init__(self, file: Path, directory: Path) -> None:
        self._address = f"sqlite:///{file}"
        self._directory = directory
        self._revision = 0
        self.readers = {
            "sql": ["sql", "--timeout", "3600", QUERY],
            "db check": ["db", "check"],
            "verify": ["verify"],
            "export": ["export", "--format", "csv", "--force", str(directory / "views")],
            "bundle": ["bundle", "create", "--all", str(directory / "bundle")],
        }

    def load(self) -> None:
        """Load the next revision of a small ruleset."""
        self._revision += 1
        target = f"a{self._revision}"
        document = {"C:N": {"a1": {target: [{"must": {target: "empty"}}]}}}
        file = self._directory / "bench.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        self._run("load", str(file))

    def list(self) -> None:
        """List the store, in which the newest revision must be that which was loaded last."""
        rows = [json.loads(line) for line in self._run("list", "--format", "ndjson").splitlines()]
        [found] = [row["revision"] for row in rows if row.get("ruleset", row.get("name")) == "bench"]
        if found != self._revision:
            raise SystemExit(f"the list has revision {found}; {self._revision} was loaded")

    def _run(self, *arguments: str) -> str:
        return subprocess.run(
            [*_COMMAND, self._address, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ).stdout.decode()

    def beside(self, name: str) -> subprocess.Popen[bytes]:
        """A reader who has begun to read."""
        quiet = subprocess.DEVNULL
        found = subprocess.Popen([*_COMMAND, self._address, *self.readers[name]], stdout=quiet, stderr=quiet)
        time.sleep(_STARTED)
        return found


def measure(bench: Bench, rounds: int, readers: list[str]) -> list[Figure]:
    """The ratios by work and reader."""
    wall: dict[tuple[str, str], list[float]] = defaultdict(list)
    processor: dict[tuple[str, str], list[float]] = defaultdict(list)
    goes_on: dict[str, int] = defaultdict(int)
    for _ in range(rounds):
        for reader in ["alone", *readers]:
            running = None if reader == "alone" else bench.beside(reader)
            for name, work in (("load", bench.load), ("list", bench.list)):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                began = time.perf_counter()
                work()
                wall[name, reader].append(time.perf_counter() - began)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                processor[name, reader].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            if running is not None:
                goes_on[reader] += running.poll() is None
                running.kill()
                running.wait()
    figures = []
    for (name, reader), times in wall.items():
        alone = statistics.median(wall[name, "alone"])
        used = statistics.median(processor[name, reader])
        note = f"{statistics.median(times):.2f} s, worst {max(times):.2f} s, {used:.2f} s of processor time"
        if reader == "alone":
            figures.append(Figure(f"{name} alone", 1.0, note=note))
        else:
            note += f"; {goes_on[reader]} of {rounds} readers went on"
            figures.append(Figure(f"{name} beside `{reader}`", statistics.median(times) / alone, GOAL, note=note))
    return figures


def main(arguments: list[str]) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="How long load and list take beside long readers.")
    parser.add_argument("--store", type=Path, help="a SQLite file; it is copied")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--readers", default="sql,db check,verify,export,bundle")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.store and options.store.parent) as name:
        file = Path(name) / "store.db"
        if options.store is None:
            with Store.open(str(file)) as store:
                store.load_library()
        else:
            shutil.copyfile(options.store, file)
        print(table(measure(Bench(file, Path(name)), options.rounds, options.readers.split(","))))


if __name__ == "__main__":
    main(sys.argv[1:])
