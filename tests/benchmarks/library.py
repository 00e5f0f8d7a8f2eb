"""How fast games are generated and loaded, and in how much memory.

    python -m tests.benchmarks.library                       the whole library into a new SQLite file
    python -m tests.benchmarks.library --db postgresql://... into an empty Postgres database
    python -m tests.benchmarks.library shogi mine.toml       some games, by name or file

Generating and loading are measured apart, game by game in alternation, and each game is loaded into a store that has
those before it. Memory is the peak of the process, which is told after each game that raised it by a tenth.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from ggn_store import Store, find_game
from ggn_store.api.loading.games import library_games
from ggn_store.games.generate import pieces


def peak() -> int:
    """The most memory that the process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(arguments: list[str]) -> None:
    """Measure, and print a line for what is large, and the sums."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.library", description="See the module's text.")
    parser.add_argument("games", nargs="*", help="names of the library or files; all of the library, if none is given")
    parser.add_argument("--db", help="a store other than a new SQLite file; it has to be empty")
    options = parser.parse_args(arguments)
    names = options.games or [game.name for game in library_games()]
    possibilities = conditions = 0
    generating = loading = 0.0
    told = peak()
    with tempfile.TemporaryDirectory() as directory:
        address = options.db or f"sqlite:///{directory}/library.db"
        with Store.open(address, upgrade=True) as store:
            for name in names:
                definition = find_game(name)
                began = time.perf_counter()
                count = 0
                for piece in pieces(definition):
                    count += piece.possibilities
                    conditions += piece.conditions
                generated = time.perf_counter()
                store.load(definition, Path(name).stem)
                loaded = time.perf_counter()
                possibilities += count
                generating += generated - began
                loading += loaded - generated
                if peak() > told * 1.1 or count > 300_000:
                    told = peak()
                    print(
                        f"{name}: {count:,} possibilities, {loaded - generated:.1f} s to load, peak {told} MiB",
                        flush=True,
                    )
    for what, seconds in (("generated", generating), ("generated and loaded", loading)):
        print(
            f"{len(names)} games {what} in {seconds:.1f} s: {len(names) / seconds:.1f} games, "
            f"{possibilities / seconds:,.0f} possibilities, {conditions / seconds:,.0f} conditions a second"
        )
    print(f"peak {peak()} MiB")


if __name__ == "__main__":
    main(sys.argv[1:])
