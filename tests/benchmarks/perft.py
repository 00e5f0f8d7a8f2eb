"""How fast moves are made in the databases: perft of chess against python-chess, which plays the same tree.

    python -m tests.benchmarks.perft                  depth 4, seven rounds
    python -m tests.benchmarks.perft --depth 5 --rounds 3

python-chess makes and takes back every pseudo-legal move, those of the last ply too; the engines, likewise, build every
board. The rounds go through all engines in turn; the ratio of a round is python-chess's time in it over the engine's,
and the median of the rounds is told, once with all paths walked and once with equal positions of a ply made one. Rules
are compiled beforehand, and the time of that is told apart. All counts must be equal.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import chess

from ggn_store import Ruleset, Store
from tests.support.postgres import server

DATA = Path(__file__).parents[2] / "data"
GOALS = {"duckdb": 50.0, "postgres": 5.0, "sqlite": 4.0}

Row = tuple[str, float, float]


def python_chess(board: chess.Board, depth: int) -> int:
    """The number of paths of pseudo-legal moves."""
    if depth == 0:
        return 1
    count = 0
    for move in board.generate_pseudo_legal_moves():
        board.push(move)
        count += python_chess(board, depth - 1)
        board.pop()
    return count


def measure(rulesets: dict[str, Ruleset], depth: int, rounds: int) -> tuple[list[Row], dict[str, float]]:
    """Name, ratio and goal of each engine and way; and the median seconds of compiling, by name."""
    ratios: dict[str, list[float]] = {}
    compiling: dict[str, list[float]] = {}

    def engine(name: str, merge: bool) -> Callable[[], tuple[int, float]]:
        def run() -> tuple[int, float]:
            ruleset = rulesets["postgres" if name == "postgres" else "sqlite"]
            result = ruleset.perft(ruleset.position(), depth, engine=name, merge=merge)
            compiling.setdefault(name, []).append(result.compiling)
            return result.count, result.running

        return run

    ways = {
        f"perft({depth}), {name}, {'equal positions as one' if merge else 'all paths'}": (name, engine(name, merge))
        for name in GOALS
        for merge in (False, True)
    }
    for _ in range(rounds):
        began = time.perf_counter()
        expected = python_chess(chess.Board(), depth)
        theirs = time.perf_counter() - began
        for title, (_, run) in ways.items():
            count, seconds = run()
            assert count == expected, f"{title}: {count}, and python-chess finds {expected}"
            ratios.setdefault(title, []).append(theirs / seconds)
    rows = [(title, statistics.median(ratios[title]), GOALS[name]) for title, (name, _) in ways.items()]
    return rows, {name: statistics.median(each) for name, each in compiling.items()}


def rows(depth: int = 4, rounds: int = 7) -> list[Row]:
    """Name, ratio (python-chess's time over ours) and goal of each figure."""
    return _measure(depth, rounds)[0]


def _measure(depth: int, rounds: int) -> tuple[list[Row], dict[str, float]]:
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
    found, compiling = _measure(options.depth, options.rounds)
    for title, ratio, goal in found:
        print(f"{title:50} {ratio:6.1f} x python-chess   goal {goal:4.0f}")
    for name, seconds in compiling.items():
        print(f"rules compiled for {name:31} {1000 * seconds:6.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1:])
