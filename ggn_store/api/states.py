"""What rulesets are said to be: active, deprecated, retired."""

from __future__ import annotations

from ggn_store.api import authors
from ggn_store.errors import NotationError, quote
from ggn_store.model.revision import STATES, RulesetState, State, check_name
from ggn_store.store import rulesets, states
from ggn_store.store.engine import Database
from ggn_store.store.versions import Gate


def set_state(
    database: Database,
    tables: Gate,
    name: str,
    state: State,
    use: str | None,
    author: str | None,
    message: str | None,
) -> RulesetState:
    """Say what a ruleset is from now on; what it is already is not said again."""
    check_name(name)
    if state not in STATES:
        raise NotationError(f"{quote(state)} is not a state: {', '.join(STATES)}")
    if use is not None and state == "active":
        raise NotationError(f"an active ruleset is to be used itself: leave {quote(use)} out, or say deprecated")
    if use is not None and check_name(use) == name:
        raise NotationError(f"{name} cannot be used instead of itself: name another ruleset")
    author = authors.signed(database, author, message)
    with tables.writing() as connection:
        for each in (name, use):
            if each is not None:
                rulesets.find(connection, each)
        before = states.newest(connection, name)
        if (before.state, before.successor, before.message) == (state, use, message):
            return before
        return states.add(database, connection, before, state, use, author, message)


def log(tables: Gate, name: str) -> tuple[RulesetState, ...]:
    """All that was ever said of a ruleset, the newest first; never nothing: who says nothing means active."""
    check_name(name)
    with tables.reading() as connection:
        rulesets.find(connection, name)
        return tuple(states.log(connection, name)) or (RulesetState(name),)
