"""Proposals to a store; the module that does the work is only loaded when there is one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ggn_store.api import garbage
from ggn_store.api.base import Section
from ggn_store.api.loading import read_one
from ggn_store.model.document import Dialect, Document
from ggn_store.model.proposal import Proposal

if TYPE_CHECKING:
    from ggn_store.api.ruleset import Ruleset
    from ggn_store.games.rules import Definition
    from ggn_store.model.difference import Difference


class Reviews(Section):
    """Changes that are proposed, judged, and carried out once others have approved of them."""

    def propose(
        self,
        document: Document | Definition | Mapping[str, Any] | str | os.PathLike[str],
        name: str | None = None,
        *,
        dialect: Dialect | None = None,
        message: str | None = None,
        author: str | None = None,
        base: str | None = None,
        accept_changes: bool = False,
    ) -> Proposal:
        """Propose what `load` would load: it becomes the next revision when enough others have approved of it.

        Raises like `load`, and ConflictError where it is the newest revision already, or proposed already.
        """
        from ggn_store.api import proposals

        with garbage.held_off():
            content, name = read_one(document, name, dialect)
            return proposals.propose(self._database, self._tables, content, name, author, message, base, accept_changes)

    def approve(
        self, proposal: str, *, author: str | None = None, message: str | None = None, digest: str | None = None
    ) -> Proposal:
        """Approve of `chess#4`, which is somebody else's; the head moves once it has all approvals that it needs.

        People are told apart by the user of a Postgres database, in a SQLite file by the author's name. `digest` is
        that of the proposal that was read, or at least its first 16 digits. Raises ConflictError where the proposal has
        another one or the head has moved since it was proposed, GateError where the policy refuses it now, and
        StoreError where this program has not written it so.
        """
        from ggn_store.api import proposals

        return proposals.approve(self._database, self._tables, proposal, author, message, digest)

    def reject(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """End the proposal `chess#4`, also one that is broken."""
        from ggn_store.api import proposals

        return proposals.reject(self._database, self._tables, proposal, author, message)

    def withdraw(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """End the proposal `chess#4`, which is one's own."""
        from ggn_store.api import proposals

        return proposals.withdraw(self._database, self._tables, proposal, author, message)

    def proposal(self, proposal: str) -> Proposal:
        """The proposal `chess#4`; raises UnknownNameError, and StoreError where it is broken."""
        from ggn_store.api import proposals

        return proposals.find(self._tables, proposal)

    def proposals(self, name: str | None = None, *, closed: bool = False) -> tuple[Proposal, ...]:
        """The proposals that wait for approvals, of all rulesets or of one; with `closed`, all that there ever were.

        Those that this program has not written so are in the state `broken`, and `fault` says why.
        """
        from ggn_store.api import proposals

        return proposals.listed(self._tables, name, closed=closed)

    def proposed(self, proposal: str) -> Ruleset:
        """What `chess#4` proposes, as a ruleset in a private store in memory."""
        from ggn_store.api import proposals

        return proposals.ruleset(self._tables, proposal)

    def proposed_difference(self, proposal: str) -> Difference:
        """What `chess#4` changes in the revision that it is based on."""
        from ggn_store.api import proposals

        return proposals.difference(self._tables, proposal)
