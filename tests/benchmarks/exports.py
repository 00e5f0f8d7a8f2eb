"""How fast the views of a store are exported, and in how much memory: rows a second, and the peak of the process.

    python -m tests.benchmarks.exports                     the shipped library in SQLite, which takes minutes
    python -m tests.benchmarks.exports chess shogi         only these games of it
    python -m tests.benchmarks.exports --postgres chess    in a Postgres
    python -m tests.benchmarks.exports --store ADDRESS     a store that is there

The memory of a Postgres is the server's own, and not counted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ggn_store import Store
from ggn_store.api.questions.views import FORMATS
from tests.support.postgres import server

_CHILD = """
import json, resource, sys, time
from ggn_store import Store
with Store.open(sys.argv[1]) as store:
    begun, worked = time.monotonic(), time.process_time()
    made = store.views.export(sys.argv[2], sys.argv[3])
    took, worked = time.monotonic() - begun, time.process_time() - worked
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([sum(made.rows.values()), took, worked, peak]))
"""


@contextlib.contextmanager
def loaded(directory: str, in_postgres: bool, games: Sequence[str]) -> Iterator[str]:
    """The address of a new store with these games."""
    with contextlib.ExitStack() as stack:
        url = f"sqlite:///{directory}/store.db"
        if in_postgres:
            url = stack.enter_context(server()).create_database()
        with Store.open(url, upgrade=True) as store:
            store.load_library(*games)
        yield url


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("games", nargs="*", default=["all"])
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--store")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        url = given.store or stack.enter_context(loaded(directory, given.postgres, given.games))
        for form in FORMATS:
            target = Path(directory) / form
            command = [sys.executable, "-c", _CHILD, url, str(target), form]
            rows, took, worked, peak = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            size = sum(path.stat().st_size for path in target.iterdir())
            print(
                f"{form:8} {rows:12,} rows  {took:7.1f} s, {worked:6.1f} s of processor time  "
                f"{rows / worked:9,.0f} rows/s of it  peak {peak / 1024:5.0f} MiB  {size / 2**20:8.1f} MiB",
                flush=True,
            )


if __name__ == "__main__":
    main()
