"""Rulesets get other names."""

from __future__ import annotations

from datetime import UTC, datetime

from ggn_store.api.session import authors
from ggn_store.errors import GateError, NotationError, quote
from ggn_store.model.teams.revision import Revision, check_name
from ggn_store.model.teams.transfer import SentRename
from ggn_store.store.database.session import Session
from ggn_store.store.history import renames
from ggn_store.store.review import policies
from ggn_store.store.rulesets import catalog


def rename(session: Session, old: str, new: str, author: str | None, message: str | None) -> Revision:
    """Rename a ruleset; its newest revision, which is the same under the new name."""
    if check_name(new) == check_name(old):
        raise NotationError(f"{quote(new)} is its name already")
    database = session.database
    author = authors.signed(database, author, message)
    with session.writing() as connection:
        catalog.find(connection, old)
        own = [each.rules for each in policies.newest(connection, old)]
        if own and not policies.newest(connection, new):
            policies.add(database, connection, new, own[0], author, message)
        else:
            own = []
        one, other = (policies.asked(policies.counting(connection, name)) for name in (old, new))
        if one != other:
            raise GateError(
                f"{old} is not renamed: another policy counts for {new}, and what it asks for has not been asked of "
                f"this ruleset: set the same policy for both (`ggn-store policy set`), or load or propose it as {new}"
            )
        renames.add(database, connection, SentRename(old, new, author, message, datetime.now(UTC)))
        if own:
            policies.add(database, connection, old, None, author, message)
        return catalog.find(connection, new)
