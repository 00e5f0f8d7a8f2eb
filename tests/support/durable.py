"""A Postgres whose commits are on disk when they are acknowledged, to be killed as a whole and started again."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support import postgres
from tests.support.postgres import Server

_SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_wal_senders": "1",  # or no commit would wait for a standby
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "mmap",
    "log_min_messages": "fatal",
}


class Durable(Server):
    """A running server, its postmaster, and a way to let commits stand still."""

    def __init__(self, cluster: postgres._Postgres) -> None:
        super().__init__(cluster.url)
        self._cluster = cluster
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it has recovered."""
        sockets = self._cluster.sockets
        where = ["-h", "127.0.0.1" if sockets is None else "", "-k", str(sockets or ""), "-p", str(self._cluster.port)]
        chosen = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        spawn = self._cluster.spawn | {"stdout": subprocess.DEVNULL}
        while True:
            if self._process is None or self._process.poll() is not None:  # others still had its memory
                self._process = subprocess.Popen(self._cluster.command("postgres", *where, *chosen), **spawn)
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                threading.Event().wait(0.05)

    def kill(self) -> None:
        """Kill the postmaster; all others of the server end when they see it."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def hold_commits(self) -> None:
        """Let commits, which are on disk by then, wait for a standby that never comes; returns when they do."""
        self._set_standby("nobody")
        with psycopg.connect(self.url, autocommit=True) as witness:
            while True:
                with psycopg.connect(self.url) as other:
                    other.pgconn.send_query(b"SELECT pg_logical_emit_message(true, 'tests', '')")  # and its commit
                    while other.pgconn.is_busy():
                        asked = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event = 'SyncRep'"
                        if witness.execute(asked, [other.info.backend_pid]).fetchone():
                            other.pgconn.finish()
                            return
                        other.pgconn.consume_input()
                    other.pgconn.finish()

    def release_commits(self) -> None:
        """Let commits go on."""
        self._set_standby("")

    def _set_standby(self, name: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'".encode())
            connection.execute("SELECT pg_reload_conf()")


@contextmanager
def durable() -> Iterator[Durable]:
    """Run such a server until the block ends."""
    identity = postgres._identity()
    parent = postgres._socket_parent(restricted=bool(identity))
    directory = Path(tempfile.mkdtemp(prefix="ggn-pg-", dir=parent))
    try:
        binaries = postgres._binaries(postgres._wheel(), directory, identity)
        cluster = postgres._Postgres(directory, binaries, identity, on_socket=parent is not None)
        cluster.initialise()
        server = Durable(cluster)
        server.start()
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
