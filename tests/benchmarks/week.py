"""A week of a team of five on one Postgres server, each command a process of its own: how long each kind takes.

`python -m tests.benchmarks.week` plays 200 changes of five games, 20 conflicts, an outage and a bad release that is
taken back, and holds what everybody has in the end to plain dictionaries. It takes some twenty minutes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.support.house import logins
from tests.support.postgres import server
from tests.support.program import process
from tests.support.week import NAMES, Ended, Person, Week


def command(*arguments: str | Path) -> Ended:
    """Run the program as people do."""
    ended = process(*arguments)
    return Ended(ended.returncode, ended.stdout + ended.stderr)


def main(arguments: list[str]) -> None:
    """Play the week, and print a table of the commands."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.week", description=__doc__)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--conflicts", type=int, default=20)
    options = parser.parse_args(arguments)
    with server() as running, tempfile.TemporaryDirectory() as directory:
        url = running.create_store()
        database = conninfo_to_dict(url)["dbname"]
        roles = dict.fromkeys(NAMES, "ggn_author") | {"eve": "ggn_admin"}
        with psycopg.connect(running.url, autocommit=True) as connection, logins(url, roles) as addresses:

            @contextmanager
            def outage() -> Iterator[None]:
                connection.execute(f"ALTER DATABASE {database} CONNECTION LIMIT 0".encode())
                yield
                connection.execute(f"ALTER DATABASE {database} CONNECTION LIMIT -1".encode())

            people = [Person(name, str(Path(directory, f"{name}.db")), addresses[name]) for name in NAMES]
            week = Week(command, people, addresses["eve"], Path(directory), outage, random.Random(19))
            week.play(5, options.changes, options.conflicts)
    print("| command | runs | median, s | slowest, s |\n|---|---|---|---|")
    for name, times in sorted(week.times.items()):
        print(f"| `{name}` | {len(times)} | {statistics.median(times):.2f} | {max(times):.2f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
