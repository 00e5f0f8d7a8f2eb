"""How long pages take, beside Datasette's pages of the same SQLite file where that is installed.

    python -m tests.benchmarks.web                          some games in a SQLite file
    python -m tests.benchmarks.web --rounds 50 --store FILE --datasette PROGRAM

Rounds alternate between all pages. Wall times are those of a client on the same machine; processor time is the
server's, its children's included. A click asks for a position that was not asked for before.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from ggn_store import Store
from ggn_store.render.records import compact
from tests.support.positions import played

GAMES = ("chess", "xiangqi", "minishogi", "raumschach", "tic-tac-toe")
PAGES = {
    "games": "/",
    "game": "/g/chess",
    "game, a piece touched": "/g/chess?from=g1",
    "game as JSON": "/g/chess.json",
    "game of three layers": "/g/raumschach",
    "piece": "/piece/chess?piece=C:N",
    "definition": "/source/chess",
    "history": "/log/chess",
    "picture": "/picture/chess",
    "analysis: stats": "/analyses",
    "SQL form": "/sql",
    "SQL": "/sql?query=SELECT+ruleset,piece,possibilities+FROM+v_pieces",
}
OTHERS = {
    "Datasette: table of 24 rows": "/store/piece?_size=24",  # as many as the page of games
    "Datasette: table of 200 rows": "/store/piece?_size=200",  # as many as that of stats
    "Datasette: row": "/store/piece/1",
    "Datasette: SQL": "/store?sql=SELECT+id,+identifier+FROM+piece",
}
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def served(*command: str) -> Iterator[tuple[int, int]]:
    """A server's process and its port; its command prints its address, or takes a port behind `--port`."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            if "datasette" in command[0]:
                yield process.pid, int(command[command.index("--port") + 1])
            else:
                assert process.stdout is not None
                yield process.pid, int(urlsplit(process.stdout.readline().strip()).port or 0)
        finally:
            process.terminate()


def used(pid: int) -> float:
    """The processor time of a process and of the children that it has waited for, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def ask(port: int, path: str) -> float:
    """The seconds until a page is read."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    begun = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    seconds = time.perf_counter() - begun
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status}")
    return seconds


def measure(pid: int, port: int, pages: Mapping[str, list[str]]) -> Iterator[tuple[str, float, float, float]]:
    """Of each page the median and the 95th percentile in milliseconds, and the mean processor time."""
    seconds: dict[str, list[float]] = {name: [] for name in pages}
    processor = dict.fromkeys(pages, 0.0)
    for paths in pages.values():
        ask(port, paths[0])
    for paths_of_round in zip(*pages.values(), strict=False):
        for name, path in zip(pages, paths_of_round, strict=True):
            before = used(pid)
            seconds[name].append(ask(port, path))
            processor[name] += used(pid) - before
    for name, found in seconds.items():
        last = statistics.quantiles(found, n=20)[-1]
        yield name, statistics.median(found) * 1e3, last * 1e3, processor[name] / len(found) * 1e3


def clicks(store: Store, rounds: int) -> list[str]:
    """Addresses of positions of chess, no two of them the same."""
    chess = store.ruleset("chess")
    found = [compact(position.data()) for position in played(chess, rounds * 2, 11)]
    random.Random(5).shuffle(found)
    return [f"/g/chess?{urlencode({'position': each})}" for each in dict.fromkeys(found)][: rounds + 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--store", type=Path, help="A SQLite store that is there, with chess and raumschach.")
    parser.add_argument("--datasette", default=shutil.which("datasette"), help="The program, if it is not on the path.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        file = options.store or Path(directory) / "store.db"
        with Store.open(file) as store:
            if options.store is None:
                store.load_library(*GAMES)
            positions = clicks(store, options.rounds)
        pages = {name: [path] * options.rounds for name, path in PAGES.items()} | {"click": positions}
        print(f"{'page':28}{'median ms':>10}{'95 % ms':>10}{'processor ms':>14}")
        program = [sys.executable, "-m", "ggn_store", "--db", str(file)]
        with served(*program, "serve", "--port", "0", "--quiet") as (pid, port):
            for line in measure(pid, port, pages):
                print("{:28}{:10.1f}{:10.1f}{:14.1f}".format(*line))
        if options.datasette:
            linked = Path(directory) / "store.db"
            if not linked.exists():
                linked.symlink_to(Path(file).absolute())
            command = [options.datasette, "serve", str(linked), "--port", "18017"]
            with served(*command) as (pid, port):
                for _ in range(100):
                    try:
                        ask(port, "/")
                    except OSError:
                        time.sleep(0.1)
                    else:
                        break
                for line in measure(pid, port, {name: [path] * options.rounds for name, path in OTHERS.items()}):
                    print("{:28}{:10.1f}{:10.1f}{:14.1f}".format(*line))


if __name__ == "__main__":
    main()
