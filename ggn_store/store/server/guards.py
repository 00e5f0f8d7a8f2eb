"""What keeps a store as it was written (triggers, functions) and shows it (views): is it what this program makes?

What is expected is what the migrations make, and on a server with roles `seals`; here is no list of it. What
others have hung on the store's tables counts as well: a trigger that answers NULL undoes as much as one that is gone.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection

from ggn_store.errors import StoreError
from ggn_store.store.database.definitions import UPGRADE, Definitions, Deviation
from ggn_store.store.database.engine import Database
from ggn_store.store.server import seals

_NOT_MENDED = "restore the store from a backup, or bundle its rulesets and load them into a new one"


def check(database: Database, connection: Connection) -> list[str]:
    """What is missing, switched off or not as this program makes it, one sentence each, with the cure."""
    return [
        f"{each}: {f'run `ggn-store {each.maker}`' if each.can_be_mended else _NOT_MENDED}"
        for each in deviations(database, connection)
    ]


def definitions(database: Database, connection: Connection) -> Definitions:
    """What the database is to have beside rows, and what it has."""
    return database.definitions(connection, seals.statements)


def deviations(database: Database, connection: Connection) -> list[Deviation]:
    """What is missing, switched off or not as this program makes it."""
    return [*definitions(database, connection).deviations()]


def mend(database: Database, connection: Connection, makers: Collection[str] = (UPGRADE,)) -> list[str]:
    """Put right what these commands make, in the transaction that is open; what was put right, one sentence each.

    What is not ours on the store's tables is taken away: nothing else may say what they take. Raises StoreError for
    what deviates afterwards.
    """
    found = [each for each in deviations(database, connection) if each.maker in makers and each.can_be_mended]
    for each in found:
        for statement in () if each.found is None else each.found.removal:
            _run(connection, statement)
    # With what was taken away may have gone what needed it.
    for each in deviations(database, connection) if found else ():
        for statement in () if each.found is not None or each.expected is None else each.expected.making:
            if each.maker in makers:
                _run(connection, statement)
    if found:
        database.restore_rights(connection)
    left = {str(each) for each in deviations(database, connection) if each.maker == UPGRADE} if found else set()
    if stays := [str(each) for each in found if str(each) in left]:
        raise StoreError(f"{database}: {stays[0]}, and cannot be put right: {_NOT_MENDED}")
    return [str(each) for each in found]


def _run(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
