"""The pages of the whole library as files: how long they take, how large they are; every link is checked.

python -m tests.benchmarks.site                 loads the library first, which takes some minutes
python -m tests.benchmarks.site --store FILE    a SQLite store that is there
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from ggn_store import Store
from ggn_store.games import library
from ggn_store.web.files import write
from ggn_store.web.site import Site
from tests.support.web import links_of_files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, help="A SQLite store that is there.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, Store.open(options.store or Path(directory) / "store.db") as store:
        if options.store is None:
            store.load_library(*library.names(), *library.descriptions())
        pages = Path(directory) / "pages"
        begun = time.process_time()
        count = write(Site(store), pages)
        seconds = time.process_time() - begun
        size = sum(path.stat().st_size for path in pages.iterdir())
        largest = max(pages.iterdir(), key=lambda path: path.stat().st_size)
        took = f"{seconds:,.0f} s of processor time"
        print(f"{len(store.revisions())} rulesets: {count:,} files, {size / 1e6:,.1f} MB, in {took}")
        print(f"index.html {(pages / 'index.html').stat().st_size / 1e3:,.0f} kB; largest {largest.name}:", end=" ")
        print(f"{largest.stat().st_size / 1e3:,.0f} kB")
        print(f"{links_of_files(pages):,} links, each to a file and a place that are there")


if __name__ == "__main__":
    main()
