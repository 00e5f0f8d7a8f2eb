"""Taking a store's triggers away, as whoever damages a store by hand would have to, and putting them back."""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection, event, text

_OF_SQLITE = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
_OF_POSTGRES = "SELECT tgname, tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"


def drop_guards(connection: Connection, *, for_good: bool = False) -> None:
    """Drop every trigger of the database until the transaction is committed, which makes them again; or `for_good`."""
    if connection.dialect.name == "sqlite":
        found = [(f'"{name}"', sql) for name, sql in connection.execute(text(_OF_SQLITE)).all()]
    else:
        found = [(f'"{name}" ON {table}', sql) for name, table, sql in connection.execute(text(_OF_POSTGRES)).all()]
    for trigger, _ in found:
        connection.execute(text(f"DROP TRIGGER {trigger}"))

    def make_again(connection: Connection) -> None:
        for _, sql in found:
            connection.exec_driver_sql(sql)

    if not for_good:
        event.listen(connection, "commit", make_again, once=True)


def drop_guards_of_file(connection: sqlite3.Connection) -> list[str]:
    """Drop every trigger of a SQLite file; the statements that make them again."""
    found = connection.execute(_OF_SQLITE).fetchall()
    connection.executescript("".join(["BEGIN;", *(f'DROP TRIGGER "{name}";' for name, _ in found), "COMMIT;"]))
    return [sql for _, sql in found]
