"""Taking a store's triggers away, as whoever damages a store by hand would have to."""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection, text


def drop_guards(connection: Connection) -> None:
    """Drop every trigger of the database."""
    if connection.dialect.name == "sqlite":
        for name in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).scalars().all():
            connection.execute(text(f'DROP TRIGGER "{name}"'))
        return
    named = "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal"
    for trigger, table in connection.execute(text(named)).all():
        connection.execute(text(f'DROP TRIGGER "{trigger}" ON {table}'))


def drop_guards_of_file(connection: sqlite3.Connection) -> None:
    """Drop every trigger of a SQLite file."""
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
