"""How fast game descriptions compile, held to the loading of the documents that they compile to.

    python -m tests.benchmarks.descriptions                    those in data/gdl
    python -m tests.benchmarks.descriptions chess.json         others, by file
    python -m tests.benchmarks.descriptions --db postgresql://... into an empty Postgres database

Compiling is from the text to the document, with every check; loading is from the document's file to committed rows in
an empty store. Rounds of the two alternate. Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ggn_store import Store
from ggn_store.api.loading.specifications import compile_specification
from tests.benchmarks.library import peak
from tests.benchmarks.rounds import Figure, medians, table

GDL = Path(__file__).parents[2] / "data" / "gdl"
GOAL = 5.0


def measure(path: Path, rounds: int, address: str | None = None) -> tuple[float, float, int]:
    """Seconds to compile a description and to load its document, and the possibilities."""
    text = path.read_text(encoding="utf-8")
    document = compile_specification(text).document
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, f"{path.stem}.json")
        file.write_text(document.canonical(), encoding="utf-8")
        with contextlib.ExitStack() as stack:
            # A store for each round: in one store, a second load would find all pieces there.
            addresses = [address] if address else [f"sqlite:///{directory}/{number}.db" for number in range(rounds)]
            stores = [stack.enter_context(Store.open(each, upgrade=True)) for each in addresses]
            left = iter(stores)
            works: dict[str, Callable[[], object]] = {
                "compile": lambda: compile_specification(text),
                "load": lambda: next(left).load(str(file), path.stem),
            }
            found = medians(works, len(stores))
    return found["compile"], found["load"], document.possibilities


def main(arguments: list[str]) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.descriptions", description="See the module's text."
    )
    parser.add_argument("paths", nargs="*", type=Path, help="files; those of data/gdl, if none is given")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--db", help="a store other than new SQLite files, for one round; it has to be empty")
    options = parser.parse_args(arguments)
    figures = []
    for path in options.paths or sorted(GDL.glob("*.json")):
        compiled, loaded, possibilities = measure(path, options.rounds, options.db)
        note = f"{possibilities:,} possibilities, {compiled:.2f} s and {loaded:.2f} s"
        figures.append(Figure(f"{path.stem}: compiling, x loading", compiled / loaded, GOAL, note=note))
    print(table(figures))
    print(f"peak {peak()} MiB")


if __name__ == "__main__":
    main(sys.argv[1:])
