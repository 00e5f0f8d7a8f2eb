"""A session: the transactions of a store whose tables are of the version that this program needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from sqlalchemy import Connection, inspect, text

from ggn_store import resources
from ggn_store.errors import StoreVersionError
from ggn_store.store.database.engine import Database

VERSION_TABLE: Final = "ggn_store_version"


def known_versions() -> list[str]:
    """The versions that this program has migrations for, the newest last."""
    names = (path.name for path in (resources.directory("migrations") / "versions").glob("*.py"))
    return sorted(match[1] for name in names if (match := re.match(r"(\d{4})_", name)))


def version(connection: Connection) -> str | None:
    """The version of the store's tables; None where there are none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608


def is_empty(connection: Connection) -> bool:
    """Whether the database has no tables but perhaps Alembic's own, which a downgrade leaves behind."""
    return set(inspect(connection).get_table_names()) <= {VERSION_TABLE}


def require_current(database: Database, connection: Connection) -> None:
    """Raise StoreVersionError, with the cure, unless the store's tables are those of this program."""
    found, known = version(connection), known_versions()
    if found == known[-1]:
        return
    who = " as the owner of its tables" if database.is_server else ""
    cure = f"run `ggn-store --db {database} db upgrade`{who} (in Python: store.upgrade())"
    if found is None and is_empty(connection):
        raise StoreVersionError(f"{database}: the store is empty, it has no tables yet: {cure}")
    if found is None:
        raise StoreVersionError(
            f"{database}: the database holds tables of something else and no store: "
            f"name another one, or make a store beside them: {cure}"
        )
    if found in known:
        raise StoreVersionError(
            f"{database}: the store is behind: its tables are version {found}, this program needs {known[-1]}: {cure}"
        )
    raise StoreVersionError(
        f"{database}: the store is ahead: its tables are version {found}, this program knows {known[-1]} and older: "
        "install a newer ggn-store"
    )


class Session:
    """The transactions of a database, open only while its tables are of this program's version."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._is_open = False

    def reading(self) -> AbstractContextManager[Connection]:
        """Like the database's own; raises StoreVersionError, with the cure, for other tables."""
        return self._checked(self.database.reading())

    def writing(self) -> AbstractContextManager[Connection]:
        """Like the database's own; raises StoreVersionError, with the cure, for other tables."""
        return self._checked(self.database.writing())

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """The transactions of the database's snapshot, for who reads long."""
        with self.database.snapshot() as database:
            yield Session(database)

    @contextmanager
    def reading_long(self) -> Iterator[Connection]:
        """Like `reading`, of the database's snapshot."""
        with self.snapshot() as session, session.reading() as connection:
            yield connection

    @contextmanager
    def _checked(self, transaction: AbstractContextManager[Connection]) -> Iterator[Connection]:
        with transaction as connection:
            if not self._is_open:
                require_current(self.database, connection)
                self._is_open = True
            yield connection
