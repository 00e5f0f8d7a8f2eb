"""A Postgres server for trying things out: `python -m tests.support.server` runs one until it is interrupted.

It prints the address of an empty database on it, and takes everything away when it stops.
"""

from __future__ import annotations

import contextlib
import signal
import threading

from tests.support.postgres import server


def main() -> None:
    """Run a server, tell its address, and wait."""
    stopped = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stopped.set())
    with server() as running:
        print(running.create_database(), flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            stopped.wait()
        running.drop_databases()


if __name__ == "__main__":
    main()
