"""All figures of speed in one table.

    python -m tests.benchmarks                      about ten minutes
    python -m tests.benchmarks --rulesets 10000     also in stores of 1 to 10,000 rulesets: a quarter of an hour more

The parts can be run alone: `tests.benchmarks.questions`, `.columnar`, `.perft`, `.imports`; each says how it measures.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
from datetime import UTC, datetime

from tests.benchmarks import columnar, imports, perft, questions
from tests.benchmarks.rounds import Figure, table


def main(arguments: list[str]) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="See the module's text.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rulesets", type=int, default=0, help="the most rulesets that a store holds")
    options = parser.parse_args(arguments)
    before = os.getloadavg()[0]
    found = questions.figures(options.rounds, options.rulesets)
    found += [
        Figure(f"batch, {name.strip()}, x python-chess's throughput", ratio, goal, True)
        for name, ratio, goal in columnar.measure()
    ]
    found += [
        Figure(f"{name}, x python-chess's speed", ratio, goal, True)
        for name, ratio, goal in perft.rows(rounds=options.rounds)
    ]
    found += [Figure(each.name, each.ratio, each.goal) for each in imports.measure(rounds=options.rounds)]
    print(table(found))
    print(
        f"\n{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{os.cpu_count()} processors, load before {before:.1f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
