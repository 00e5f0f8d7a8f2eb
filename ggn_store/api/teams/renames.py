"""Rulesets get other names."""

from __future__ import annotations

from datetime import UTC, datetime

from ggn_store.api.session import authors
from ggn_store.errors import NotationError, quote
from ggn_store.model.teams.revision import Revision, check_name
from ggn_store.model.teams.transfer import SentRename
from ggn_store.store.database.session import Session
from ggn_store.store.exchange import renamed
from ggn_store.store.rulesets import catalog


def rename(session: Session, old: str, new: str, author: str | None, message: str | None) -> Revision:
    """Rename a ruleset; its newest revision, which is the same under the new name."""
    if check_name(new) == check_name(old):
        raise NotationError(f"{quote(new)} is its name already")
    database = session.database
    author = authors.signed(database, author, message)
    with session.writing() as connection:
        catalog.find(connection, old)
        renamed.rename(database, connection, SentRename(old, new, author, message, datetime.now(UTC)))
        return catalog.find(connection, new)
