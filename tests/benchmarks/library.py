"""How fast games of the library are loaded, in how much memory and disk, as their number doubles.

    python -m tests.benchmarks.library                       the whole library into a new SQLite file
    python -m tests.benchmarks.library --db postgresql://... into an empty Postgres database
    python -m tests.benchmarks.library shogi mine.toml       some games, by name or file

Games come in a shuffled order, so that each doubling has small and large ones; each is loaded into a store that has
those before it. Generating a definition is measured by itself, too. Processor time is this process's, memory its peak.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import text

from ggn_store import Store, find_game
from ggn_store.games import library
from ggn_store.games.generate import pieces
from ggn_store.games.library import DESCRIPTIONS

_HEAD = ("games", "possibilities", "seconds", "processor s", "us each", "generating s", "MB", "bytes each", "peak MiB")


def peak() -> int:
    """The most memory that the process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def size(store: Store) -> int:
    """The bytes that a store takes on disk."""
    database = store.session.database
    if database.file is not None:
        return database.file.stat().st_size
    with store.session.reading() as connection:
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


def main(arguments: list[str]) -> None:
    """Measure, and print a line for every doubling of the possibilities that are stored, and for the whole."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.library", description="See the module's text.")
    parser.add_argument("games", nargs="*", help="names of the library or files; all of the library, if none is given")
    parser.add_argument("--db", help="a store other than a new SQLite file; it has to be empty")
    options = parser.parse_args(arguments)
    names = options.games or [*library.names(), *library.descriptions()]
    if not options.games:
        random.Random(1).shuffle(names)
    generating = wall = processor = 0.0
    told = possibilities = 0
    print(("{:>14}" * len(_HEAD)).format(*_HEAD))
    with (
        tempfile.TemporaryDirectory() as directory,
        Store.open(options.db or Path(directory) / "library.db", upgrade=True) as store,
    ):
        for number, name in enumerate(names, 1):
            if not name.startswith(f"{DESCRIPTIONS}/"):
                began = time.process_time()
                for _ in pieces(find_game(name)):
                    pass
                generating += time.process_time() - began
            began, began_processor = time.perf_counter(), time.process_time()
            loaded = store.load_library(name) if not Path(name).suffix else [store.load(find_game(name))]
            wall += time.perf_counter() - began
            processor += time.process_time() - began_processor
            possibilities += sum(store.ruleset(str(each)).summary().counts["possibilities"] for each in loaded)
            if possibilities >= 2 * told or number == len(names):
                told = possibilities
                held = size(store)
                each = processor / possibilities * 1e6, held / possibilities
                print(
                    f"{number:14}{possibilities:14,}{wall:14.1f}{processor:14.1f}{each[0]:14.1f}{generating:14.1f}"
                    f"{held / 1e6:14.1f}{each[1]:14.0f}{peak():14}",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
