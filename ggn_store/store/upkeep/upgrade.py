"""Bringing a store's tables to the version that this program needs."""

from __future__ import annotations

from collections.abc import Callable

from ggn_store.store.database import migrate, session
from ggn_store.store.database.engine import Database
from ggn_store.store.server import guards
from ggn_store.store.upkeep import rebuild


def upgrade(database: Database, tell: Callable[[str], None] | None = None) -> tuple[str | None, str]:
    """Bring the tables to this program's version, in one transaction; the versions before and after.

    What keeps the store as it was written is brought to what this program makes; `tell` is told what was not so.
    Safe to run by several processes at once: the first one works, the others find it done.
    """
    with database.writing() as connection:
        database.lock_schema(connection)
        before = session.version(connection)
        if before is not None and before not in session.known_versions():
            session.require_current(database, connection)
        migrate.run(connection)
        rebuild.rebuild(database, connection, only_missing=True)
        # What is new is as it was made.
        mended = [] if before is None else guards.mend(database, connection)
    if tell is not None:
        for each in mended:
            tell(each)
    return before, session.known_versions()[-1]
