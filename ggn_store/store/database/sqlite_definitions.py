"""The triggers, views, tables and indexes of a SQLite file, as the migrations make them and as they are."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from sqlalchemy import Connection, StaticPool, create_engine, event

from ggn_store.store.database import migrate
from ggn_store.store.database.definitions import Definitions, ObjectKey, SchemaObject, by_key, tokens
from ggn_store.store.database.engine import quoted

_ALL = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"


def definitions(connection: Connection) -> Definitions:
    """What the file is to have, and what it has; of what others have put into it, triggers on our tables."""
    expected = _expected()
    tables = {each.name for each in expected.values() if each.kind in ("table", "view")}
    names = {each.name for each in expected.values()}
    found = {
        key: each
        for key, each in _found(connection).items()
        if each.name in names or (each.kind == "trigger" and each.table in tables)
    }
    return Definitions(expected, found)


def _found(connection: Connection) -> dict[ObjectKey, SchemaObject]:
    return by_key(_definition(*row) for row in connection.exec_driver_sql(_ALL))


def _definition(kind: str, name: str, table: str, sql: str) -> SchemaObject:
    # What holds rows is not made anew.
    removal = () if kind == "table" else (f"DROP {kind} IF EXISTS {quoted(name)}",)
    making = () if kind == "table" else (sql,)
    return SchemaObject(kind, name, tokens(sql), table if table != name else "", making, removal)


@functools.cache
def _expected() -> Mapping[ObjectKey, SchemaObject]:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    # The driver's own transactions would leave DDL outside.
    event.listen(engine, "connect", lambda driver, _: setattr(driver, "isolation_level", None))
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        migrate.run(connection)
        found = _found(connection)
    engine.dispose()
    return found
