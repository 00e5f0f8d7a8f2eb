"""What rulesets are said to be: active, deprecated, retired."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from ggn_store.errors import ConflictError
from ggn_store.model.revision import Lifecycle, RulesetState
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog, load
from ggn_store.store.schema import tables as t

# Made once, since every load asks.
_SAID = (
    select(t.ruleset_state)
    .join(t.ruleset, t.ruleset.c.id == t.ruleset_state.c.ruleset_id)
    .where(t.ruleset.c.name == bindparam("name"))
    .order_by(t.ruleset_state.c.number.desc())
)


def log(connection: Connection, name: str) -> list[RulesetState]:
    """All that was ever said of a ruleset, the newest first."""
    return [_state_of(name, row) for row in connection.execute(_SAID, {"name": name})]


def newest(connection: Connection, name: str) -> RulesetState:
    """What a ruleset is; it is active while nothing was said of it."""
    return next(iter(log(connection, name)), RulesetState(name))


def add(
    database: Database,
    connection: Connection,
    before: RulesetState,
    state: Lifecycle,
    successor: str | None,
    author: str | None,
    message: str | None,
) -> RulesetState:
    """Say something of a ruleset that was `before`; raises ConflictError where somebody else does in this moment."""
    said = {
        "ruleset_id": load.store_ruleset(database, connection, before.name),
        "number": before.number + 1,
        "state": state,
        "successor": successor,
        "author": author,
        "message": message,
        "created_at": datetime.now(UTC),
    }
    row = database.add(connection, t.ruleset_state, said, ("ruleset_id", "number"), *t.ruleset_state.c.keys()).first()
    if row is None:
        raise ConflictError(f"somebody else has just changed the state of {before.name}: see what it is now")
    return _state_of(before.name, row)


def _state_of(name: str, row: Any) -> RulesetState:
    return RulesetState(
        name, row.number, row.state, row.successor, row.author, row.message, catalog.utc(row.created_at)
    )
