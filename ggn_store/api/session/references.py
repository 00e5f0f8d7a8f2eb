"""What a reference names, and where that is: a revision in the store, or a proposal in a store of its own in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ggn_store.errors import UnknownNameError, quote
from ggn_store.model.teams.revision import Revision, is_proposal
from ggn_store.store.database.session import Session
from ggn_store.store.rulesets import catalog


def find(
    session: Session, reference: str, only: Mapping[str, Collection[str]] | None = None
) -> tuple[Session, Revision]:
    """The revision that `chess`, `chess@3`, ... names, or what the proposal `chess#4` proposes, and its session.

    Of a proposal, `only` these pieces, if they are given: see `versions.proposed`.
    """
    if not isinstance(reference, str):
        raise UnknownNameError(f"{quote(reference)} is not the name of a ruleset, such as chess or chess@3")
    if is_proposal(reference):
        from ggn_store.api.session.versions import proposed

        return proposed(session, reference, only=only)
    with session.reading() as connection:
        return session, catalog.find(connection, reference)
