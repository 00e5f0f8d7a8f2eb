"""Sessions of stores by their addresses: what is there, what is made, and what is refused."""

from __future__ import annotations

import os

from ggn_store.api.session import naming
from ggn_store.errors import StoreError, printable
from ggn_store.passwords import shown
from ggn_store.store.database import address as addresses
from ggn_store.store.database import session
from ggn_store.store.database.engine import Database
from ggn_store.store.database.session import Session
from ggn_store.store.database.sqlite import SQLite

MEMORY = "sqlite://"

Address = str | os.PathLike[str]


def at(address: Address) -> Session:
    """The session of the store at an address, without connecting yet."""
    database = addresses.connect(address)
    database.naming = naming.names_of
    return Session(database)


def memory() -> Session:
    """The session of a new store in memory, made ready."""
    from ggn_store.store.upkeep import upgrade

    made = at(MEMORY)
    if made.database.create(upgrade.upgrade) is None:
        upgrade.upgrade(made.database)
    return made


def is_new_file(database: Database) -> bool:
    """Whether this is a SQLite store that has no file yet, or an empty one; does not connect."""
    if not isinstance(database, SQLite):
        return False
    return database.path is None or not database.path.exists() or database.path.stat().st_size == 0


def is_new(database: Database) -> bool:
    """Whether this is a SQLite file without any tables; connects, so that an address that leads nowhere is an error."""
    if is_new_file(database):
        return True
    with database.reading() as connection:
        # A file is also new where the process that began to make it ready was killed.
        is_empty = session.version(connection) is None and session.is_empty(connection)
    return is_empty and isinstance(database, SQLite)


def require_directory(database: Database) -> None:
    """Raise StoreError where the directory of a SQLite file is not there."""
    if isinstance(database, SQLite) and database.path is not None and not database.path.parent.is_dir():
        parent = printable(shown(str(database.path.parent)))
        raise StoreError(f"{database}: there is no directory {parent}: make it first")


def require_file(database: Database) -> None:
    """Raise StoreError where a SQLite file is not there, or is no store yet."""
    if isinstance(database, SQLite) and database.path is not None and is_new(database):
        raise StoreError(
            f"{database}: there is no store here: see that the address is right (--db); `ggn-store load --library` "
            "makes a store and puts well-known games into it"
        )
