"""The triggers that keep what was written as it was, and tell the audit of changes: are they all there?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection

from ggn_store.store import tables as t
from ggn_store.store.engine import Database

# As the migrations make them.
_NEVER_REMOVED: Final = (t.revision, t.revision_piece, t.revision_merge, t.tag, t.ruleset_state, t.audit)
_OF_A_RULESET: Final = (t.board, t.square, t.ruleset, t.piece)
_AUDITED: Final = {
    t.revision: ("insert",),
    t.tag: ("insert",),
    t.ruleset_state: ("insert",),
    t.ruleset: ("update", "delete"),
    t.piece: ("delete",),
}


def expected(database: Database) -> Iterator[tuple[str, str]]:
    """Table and name of every trigger that a store has."""
    for table in (*_NEVER_REMOVED, *t.PIECE_TABLES, *_OF_A_RULESET):
        yield table.name, f"{table.name}_unchanged"
    for table in (*_NEVER_REMOVED, *t.PIECE_TABLES):
        yield table.name, f"{table.name}_kept"
    yield t.revision.name, "revision_retired"
    for table, events in _AUDITED.items():
        for event in events:
            yield table.name, f"{table.name}_audit_{event}"
    if database.is_server:  # SQLite knows no TRUNCATE
        for table in (*_NEVER_REMOVED, *t.PIECE_TABLES, *_OF_A_RULESET, t.mask):
            yield table.name, f"{table.name}_not_emptied"


def check(database: Database, connection: Connection) -> list[str]:
    """Which triggers are missing or disabled, one sentence each."""
    missing = set(expected(database)) - database.guards(connection)
    return [
        f"table {table}: its trigger {name} is missing or disabled, and nothing else does what it is for"
        for table, name in sorted(missing)
    ]
