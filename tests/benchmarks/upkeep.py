"""How long `db check` takes, the first and the second time, held to the load; and `list`, above the start of Python.

    python -m tests.benchmarks.upkeep                      four games, and 3,000 small rulesets
    python -m tests.benchmarks.upkeep --games all          the whole library, which takes some minutes

Processor time, so that a busy machine tells the same. A round loads into a new SQLite file, checks it twice, and with
`--full` once more, which must find the same; what `list` says is held to the rows themselves.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text

from ggn_store import Store, parse
from ggn_store.store.rulesets import load
from tests.benchmarks.rounds import Figure, table

GAMES = ("chess", "shogi", "xiangqi", "grasshopper")
SMALL = 3_000


def processor_seconds(work: Callable[[], object]) -> float:
    """The processor time that `work` takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


def checks(directory: Path, games: list[str]) -> tuple[float, float]:
    """A first and a second check of a store, as parts of its load."""
    with Store.open(str(directory / "games.db")) as store:
        loading = processor_seconds(lambda: store.load_library(*games))
        first, second = (processor_seconds(store.upkeep.verify) for _ in range(2))
        assert store.upkeep.verify() == store.upkeep.verify(full=True)
        assert store.upkeep.check() == []
    (directory / "games.db").unlink()
    return first / loading, second / loading


def listing(directory: Path) -> float:
    """The seconds that it takes to list many small rulesets."""
    rules = [{f"C{n}:N": {"a1": {"b3": [{"must": {"b3": "empty"}}]}}} for n in range(SMALL)]
    with Store.open(str(directory / "small.db")) as store:
        with store.session.database.writing() as connection:
            for number, each in enumerate(rules):
                load.load(store.session.database, connection, parse(each), f"g{number}")
        seconds = processor_seconds(store.list)
        with store.session.reading() as connection:
            counted = connection.execute(text("SELECT count(*) FROM condition")).scalar_one()
        assert sum(each.counts["conditions"] for each in store.list()) == counted == SMALL
    (directory / "small.db").unlink()
    return seconds


def main(arguments: list[str]) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.upkeep", description="See the module's text.")
    parser.add_argument("--games", nargs="+", default=[*GAMES])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        rounds = [checks(Path(name), options.games) for _ in range(options.rounds)]
        listed = [listing(Path(name)) for _ in range(options.rounds)]
    first, second = (statistics.median(each) for each in zip(*rounds, strict=True))
    print(
        table(
            [
                Figure("first check of a store, x its load", first, 0.7),
                Figure("second check, x its load", second, 0.05),
                Figure(f"list of {SMALL:,} small rulesets, s", statistics.median(listed), 0.3),
            ]
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
