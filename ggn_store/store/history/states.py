"""What rulesets are said to be: active, deprecated, retired."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import Connection, bindparam, select

from ggn_store.model.teams.revision import RulesetState
from ggn_store.model.teams.transfer import SentState
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t

_STATES = select(t.ruleset_state, t.ruleset.c.name).join(t.ruleset, t.ruleset.c.id == t.ruleset_state.c.ruleset_id)
# Made once, since every load asks.
_SAID = _STATES.where(t.ruleset.c.name == bindparam("name")).order_by(t.ruleset_state.c.number.desc())


def log(connection: Connection, name: str) -> list[RulesetState]:
    """All that was ever said of a ruleset, the newest first."""
    return [
        RulesetState(
            row.name, row.number, row.state, row.successor, row.author, row.message, catalog.utc(row.created_at)
        )
        for row in connection.execute(_SAID, {"name": name})
    ]


def newest(connection: Connection, name: str) -> RulesetState:
    """What a ruleset is; it is active while nothing was said of it."""
    return next(iter(log(connection, name)), RulesetState(name))


def said(connection: Connection, *names: str) -> dict[str, list[SentState]]:
    """All that was ever said of these rulesets, of all for none, by name, the oldest first."""
    query = _STATES.where(t.ruleset.c.name.in_(names)) if names else _STATES
    found: dict[str, list[SentState]] = defaultdict(list)
    for row in connection.execute(query.order_by(t.ruleset.c.name, t.ruleset_state.c.number)):
        found[row.name].append(
            SentState(row.state, row.successor, row.author, row.message, catalog.utc(row.created_at))
        )
    return found


def add(database: Database, connection: Connection, ruleset_id: int, number: int, state: SentState) -> bool:
    """Say something of a ruleset; False where somebody else has just done so."""
    row = {name: getattr(state, name) for name in ("state", "successor", "author", "message", "created_at")}
    row |= {"ruleset_id": ruleset_id, "number": number}
    return database.add(connection, t.ruleset_state, row, ("ruleset_id", "number"), "number").first() is not None
