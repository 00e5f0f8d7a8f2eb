"""Servers that are killed and recover, as after a fault of their own."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests.support.postgres import Server

KILLS = int(os.environ.get("GGN_KILLS", "100"))
SEED = int(os.environ.get("GGN_SEED", random.randrange(2**32)))


@contextmanager
def crashing(server: Server) -> Iterator[str]:
    """The address of a new database, in which what was acknowledged is there after a crash, as it is by default."""
    address = create_durable_database(server)
    try:
        yield address
    finally:
        connect_again(server.url).close()
        server.drop_database(address)


def create_durable_database(server: Server) -> str:
    """A new database whose commits are on disk when they are acknowledged: the tests' server leaves that out."""
    address = server.create_database()
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {address_name(address)} SET synchronous_commit = on".encode())
    return address


def address_name(address: str) -> str:
    """The name of the database that an address leads to."""
    return address.partition("?")[0].rpartition("/")[2]


def crash(address: str) -> None:
    """Kill one of the server's processes with SIGKILL: it ends all others at once, and recovers from its log."""
    with psycopg.connect(address) as witness:
        with psycopg.connect(address) as victim:
            os.kill(victim.info.backend_pid, signal.SIGKILL)
        try:
            while True:  # until the server has noticed
                witness.execute("SELECT 1")
        except psycopg.OperationalError:
            return


def connect_again(address: str) -> psycopg.Connection:
    """A connection, as soon as the server takes any again."""
    while True:
        try:
            return psycopg.connect(address, autocommit=True)
        except psycopg.OperationalError:
            continue
