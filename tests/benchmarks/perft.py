"""How fast moves are made in the databases: perft of chess against python-chess, which plays the same tree.

    python -m tests.benchmarks.perft                  depth 4, seven rounds
    python -m tests.benchmarks.perft --depth 5 --rounds 3

python-chess makes and takes back every pseudo-legal move, those of the last ply too; the engines count the moves of the
last ply without their boards. So python-chess has a second line, in which it counts these without making them. The
rounds go through all engines in turn; the ratio of a round is python-chess's time in it over the engine's, and the
median of the rounds is printed, by wall time and by processor time (of all threads, and of Postgres's process), with
all paths walked and with equal positions of a ply made one. Rules are compiled beforehand, and the time of that is
printed apart. All counts must be equal.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import chess

from ggn_store import Ruleset, Store
from ggn_store.api.moves import perft
from tests.support.postgres import server

DATA = Path(__file__).parents[2] / "data"
GOALS = {"duckdb": 60.0, "postgres": 5.0, "sqlite": 5.0}
LAST_COUNTED = "python-chess, the last ply counted"

Row = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds of wall time and of processor time."""

    wall: float
    processor: float


def python_chess(board: chess.Board, depth: int, least: int = 0) -> int:
    """The number of paths of pseudo-legal moves; with `least` 1, those of the last ply are not made."""
    if depth == least:
        return sum(1 for _ in board.generate_pseudo_legal_moves()) if least else 1
    count = 0
    for move in board.generate_pseudo_legal_moves():
        board.push(move)
        count += python_chess(board, depth - 1, least)
        board.pop()
    return count


def timed(count: Callable[[], int], process: int | None = None) -> tuple[int, Time]:
    """The count, and how long that took; `process` works for this one."""
    began = time.perf_counter(), time.process_time() + _processor_time(process)
    found = count()
    ended = time.perf_counter(), time.process_time() + _processor_time(process)
    return found, Time(ended[0] - began[0], ended[1] - began[1])


def _processor_time(process: int | None) -> float:
    try:
        numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _compiled(ruleset: Ruleset, engine: str, depth: int, merge: bool) -> Iterator[tuple[Callable[[], int], int | None]]:
    """What counts, and the number of the process that does, if it is another one."""
    handle = ruleset.handle
    with perft._plies(handle, [ruleset.position()], depth, engine, perft.Wanted(depth)) as (_, plies):
        counter = plies.counter(depth, merge)
        process = None
        if engine == "postgres":
            connection = plies._connection  # type: ignore[attr-defined]
            process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        yield lambda: sum(counter()), process


def measure(rulesets: dict[str, Ruleset], depth: int, rounds: int) -> tuple[dict[str, list[Time]], dict[str, float]]:
    """The times of each way in each round, python-chess's under "", and the median seconds of compiling, by name."""
    times: dict[str, list[Time]] = {}
    compiling: dict[str, list[float]] = {}
    for _ in range(rounds):
        expected, theirs = timed(lambda: python_chess(chess.Board(), depth))
        times.setdefault("", []).append(theirs)
        found, counted = timed(lambda: python_chess(chess.Board(), depth, 1))
        assert found == expected
        times.setdefault(LAST_COUNTED, []).append(counted)
        for name in GOALS:
            for merge in (False, True):
                title = f"{name}, {'equal positions as one' if merge else 'all paths'}"
                began = time.perf_counter()
                ruleset = rulesets["postgres" if name == "postgres" else "sqlite"]
                with _compiled(ruleset, name, depth, merge) as (count, process):
                    compiling.setdefault(name, []).append(time.perf_counter() - began)
                    found, taken = timed(count, process)
                assert found == expected, f"{title}: {found}, and python-chess finds {expected}"
                times.setdefault(title, []).append(taken)
    return times, {name: statistics.median(each) for name, each in compiling.items()}


def ratios(times: dict[str, list[Time]], title: str) -> tuple[float, float]:
    """The medians of python-chess's time over a way's: wall time, processor time."""
    pairs = list(zip(times[""], times[title], strict=True))
    return (
        statistics.median(theirs.wall / ours.wall for theirs, ours in pairs),
        statistics.median(theirs.processor / max(ours.processor, 1e-9) for theirs, ours in pairs),
    )


def rows(depth: int = 4, rounds: int = 7) -> list[Row]:
    """Name, ratio (python-chess's wall time over ours) and goal of each figure."""
    times, _ = _measure(depth, rounds)
    ways = [(title, name) for title in times for name in GOALS if title.startswith(name)]
    return [(f"perft({depth}), {title}", ratios(times, title)[0], GOALS[name]) for title, name in ways]


def _measure(depth: int, rounds: int) -> tuple[dict[str, list[Time]], dict[str, float]]:
    with tempfile.TemporaryDirectory() as directory, server() as postgres:
        rulesets = {}
        stores = []
        for name, address in (("sqlite", f"sqlite:///{directory}/a.db"), ("postgres", postgres.create_database())):
            stores.append(Store.open(address, upgrade=True))
            stores[-1].load(DATA / "chess.json", name="chess")
            rulesets[name] = stores[-1].ruleset("chess")
        try:
            return measure(rulesets, depth, rounds)
        finally:
            for store in stores:
                store.close()


def main(arguments: list[str]) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.perft", description="See the module's text.")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    times, compiling = _measure(options.depth, options.rounds)
    print(f"perft({options.depth}), x python-chess {'wall':>32} {'processor':>10} {'goal':>6}")
    for title in list(times)[1:]:
        wall, processor = ratios(times, title)
        goal = "".join(f"{GOALS[name]:6.0f}" for name in GOALS if title.startswith(name))
        print(f"{title:50} {wall:6.1f} {processor:10.1f} {goal}")
    for name, seconds in compiling.items():
        print(f"rules compiled for {name:31} {1000 * seconds:6.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1:])
