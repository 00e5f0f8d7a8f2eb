"""The triggers that keep what was written as it was, and tell the audit of changes: are they all there?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection

from ggn_store.store import tables as t
from ggn_store.store.engine import Database

# As the migrations make them.
_GATES: Final = (t.policy, t.proposal, t.proposal_piece, t.verdict)
_NEVER_REMOVED: Final = (t.revision, t.revision_piece, t.revision_merge, t.tag, t.ruleset_state, t.audit, *_GATES)
_OF_A_RULESET: Final = (t.board, t.square, t.ruleset, t.piece)
_AUDITED: Final = {
    t.revision: ("insert",),
    t.tag: ("insert",),
    t.ruleset_state: ("insert",),
    t.ruleset: ("update", "delete"),
    t.piece: ("delete",),
    t.policy: ("insert",),
    t.proposal: ("insert",),
    t.verdict: ("insert",),
}
_BEFORE: Final = {
    t.revision: ("retired", "reviewed"),
    t.revision_piece: ("reviewed",),
    t.policy: ("ruled",),
    t.proposal_piece: ("counted",),
}
# What asks who somebody is.
_BEFORE_ON_A_SERVER: Final = {t.proposal: ("by",), t.verdict: ("by", "checked")}
_BEFORE_IN_A_FILE: Final = {
    t.proposal: ("named",),
    t.verdict: ("named", "numbered", "closed", "own", "foreign", "merged"),
}


def expected(database: Database) -> Iterator[tuple[str, str]]:
    """Table and name of every trigger that a store has."""
    for table in (*_NEVER_REMOVED, *t.PIECE_TABLES, *_OF_A_RULESET):
        yield table.name, f"{table.name}_unchanged"
    for table in (*_NEVER_REMOVED, *t.PIECE_TABLES):
        yield table.name, f"{table.name}_kept"
    for gates in (_BEFORE, _BEFORE_ON_A_SERVER if database.is_server else _BEFORE_IN_A_FILE):
        for table, names in gates.items():
            for name in names:
                yield table.name, f"{table.name}_{name}"
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
