"""Stores: documents in, rulesets out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from ggn_store.api import incoming
from ggn_store.api.bundles import Bundles
from ggn_store.api.care import Care
from ggn_store.api.catalogue import Catalogue
from ggn_store.api.exports import Exports
from ggn_store.api.history import History
from ggn_store.api.loading import Loading
from ggn_store.api.policies import Policies
from ggn_store.api.reviews import Reviews
from ggn_store.api.roles import ServerRoles
from ggn_store.api.ruleset import Ruleset
from ggn_store.api.sql import Questions
from ggn_store.api.states import States
from ggn_store.api.transfer import Transfers
from ggn_store.errors import StoreError, printable
from ggn_store.model.document import Dialect
from ggn_store.passwords import shown
from ggn_store.store.database import address as addresses
from ggn_store.store.database import session
from ggn_store.store.database.sqlite import SQLite
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t
from ggn_store.store.upkeep import rebuild, upgrade

PRIVATE_NAME: Final = "ruleset"
_MEMORY: Final = "sqlite://"


@dataclass(frozen=True, slots=True)
class Info:
    """What `db info` tells of a store; `version` and `needed` are of its tables."""

    address: str
    engine: str
    version: str | None
    needed: str
    rulesets: int | None


class Store(
    Loading,
    Catalogue,
    Care,
    History,
    Questions,
    Exports,
    Policies,
    Reviews,
    States,
    Transfers,
    Bundles,
    ServerRoles,
):
    """A store of rulesets in a SQLite file, in memory or in a Postgres database.

    Safe to use from several threads. Every method raises StoreError where the database refuses, and then
    nothing was changed.
    """

    _has_made_it = False

    @classmethod
    def open(cls, address: str, *, upgrade: bool = False, create: bool = True) -> Store:
        """The store at `address`: `sqlite:///file.db`, a file's name, or `postgresql://user@host/database`.

        A new SQLite file is made ready by itself, a Postgres database only by `upgrade` (here, or as a method of the
        result); with `create=False` no file is made. Raises StoreError where the address leads nowhere; a store whose
        tables are missing, behind or ahead raises StoreVersionError, with the cure, when it is used.
        """
        store = cls.at(address)
        try:
            if not create:
                store._require_file()
            store._require_directory()
            if upgrade or store._is_new():
                store.upgrade()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def at(cls, address: str) -> Store:
        """The store at `address`, without connecting yet: for `upgrade` and `info`."""
        return cls(addresses.connect(address))

    @property
    def _is_new_file(self) -> bool:
        database = self._database
        if not isinstance(database, SQLite):
            return False
        return database.path is None or not database.path.exists() or database.path.stat().st_size == 0

    def _is_new(self) -> bool:
        """Whether this is a SQLite file without any tables; connects, so that an address leading nowhere is told."""
        if self._is_new_file:
            return True
        with self._database.reading() as connection:
            # A file is also new where the process that began to make it ready was killed.
            is_empty = session.version(connection) is None and session.is_empty(connection)
        return is_empty and isinstance(self._database, SQLite)

    def _require_directory(self) -> None:
        database = self._database
        if isinstance(database, SQLite) and database.path is not None and not database.path.parent.is_dir():
            parent = printable(shown(str(database.path.parent)))
            raise StoreError(f"{database}: there is no directory {parent}: make it first")

    def _require_file(self) -> None:
        database = self._database
        if isinstance(database, SQLite) and database.path is not None and self._is_new():
            raise StoreError(
                f"{database}: there is no store here: see that the address is right (--db); `ggn-store load --library` "
                "makes a store and puts well-known games into it"
            )

    def discard(self) -> None:
        """Close the store, and remove its file where this has made it and nothing was stored in it."""
        self.close()
        if self._has_made_it:
            self._database.discard(t.metadata.tables)

    def close(self) -> None:
        """Give the connections back; a store in memory is gone then."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self._database)!r})"

    def upgrade(self, tell: Callable[[str], None] | None = None) -> tuple[str | None, str]:
        """Bring the tables to this program's version; the versions before (None: no tables) and after.

        Triggers, functions and views that are not as this program makes them are made again, and what others have hung
        on the tables is taken away; `tell` gets a sentence for each.
        """
        made = self._database.create(upgrade.upgrade)
        self._has_made_it = made is not None
        return made or upgrade.upgrade(self._database, tell)

    def info(self) -> Info:
        """Where the store is, what runs it, and of which version its tables are."""
        needed = session.known_versions()[-1]
        if self._is_new_file:  # to connect would make the file
            return Info(str(self._database), f"SQLite {sqlite3.sqlite_version}", None, needed, None)
        with self._database.reading() as connection:
            found = session.version(connection)
            count = len(catalog.newest(connection)) if found == needed else None
            return Info(str(self._database), self._database.version(connection), found, needed, count)

    def check(self, progress: Callable[[str], None] | None = None) -> list[str]:
        """What `verify` finds wrong in the whole store, one sentence each."""
        return [*self.verify(progress=progress).problems]

    def rebuild(self, progress: Callable[[str], None] | None = None) -> int:
        """Derive what the fast query reads from the rows of every piece again; how many pieces that were."""
        with self._tables.writing() as connection:
            return rebuild.rebuild(self._database, connection, progress)


def ruleset(data: Mapping[str, Any] | str | bytes, dialect: Dialect | None = None) -> Ruleset:
    """A ruleset from a document or a game description (decoded JSON, or its text), in a private store in memory.

    The store lives as long as the result. Raises DocumentError with every problem.
    """
    document = incoming.parse(data, dialect)
    store = Store.open(_MEMORY)
    store.load(document, PRIVATE_NAME)
    return store.ruleset(PRIVATE_NAME)
