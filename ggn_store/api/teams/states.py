"""What rulesets are said to be: active, deprecated, retired."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ggn_store.api.session import authors
from ggn_store.errors import ConflictError, NotationError, quote
from ggn_store.model.teams.revision import STATES, Lifecycle, RulesetState, check_name
from ggn_store.model.teams.selection import is_pattern
from ggn_store.model.teams.transfer import SentState
from ggn_store.store.database.session import Session
from ggn_store.store.history import states
from ggn_store.store.review import rights
from ggn_store.store.rulesets import catalog, load


@dataclass(frozen=True, slots=True)
class States:
    """`store.states`: whether rulesets are active, deprecated or retired."""

    _session: Session

    def set(
        self,
        name: str,
        state: Lifecycle,
        *,
        use: str | None = None,
        author: str | None = None,
        message: str | None = None,
    ) -> RulesetState:
        """Say that a ruleset is active, deprecated, or retired and takes no revisions; `use` names one to be used.

        Raises UnknownNameError where there is no such ruleset, and ConflictError where somebody else was faster.
        """
        for each in (name, use):
            if each is not None and not is_pattern(each):  # of which `find` says what it matches
                check_name(each)
        if state not in STATES:
            raise NotationError(f"{quote(state)} is not a state: {', '.join(STATES)}")
        if use is not None and state == "active":
            raise NotationError(f"an active ruleset is to be used itself: leave {quote(use)} out, or say deprecated")
        if use == name:
            raise NotationError(f"{name} cannot be used instead of itself: name another ruleset")
        author = authors.signed(self._session.database, author, message)
        with self._session.writing() as connection:
            for each in (name, use):
                if each is not None:
                    catalog.find(connection, each)
            before = states.newest(connection, name)
            if (before.state, before.successor, before.message) == (state, use, message):
                return before
            database = self._session.database
            rights.require(database, connection, name, "taggers", author)
            ruleset_id = load.store_ruleset(database, connection, name)
            said = SentState(state, use, author, message, datetime.now(UTC))
            if not states.add(database, connection, ruleset_id, before.number + 1, said):
                raise ConflictError(f"somebody else has just changed the state of {name}: see what it is now")
            return states.newest(connection, name)

    def get(self, name: str) -> RulesetState:
        """Whether a ruleset is active, deprecated or retired; raises UnknownNameError."""
        return self.log(check_name(name))[0]

    def log(self, name: str) -> tuple[RulesetState, ...]:
        """All that was ever said of a ruleset, the newest first.

        Of a namespace (`team/`) or a glob, of one ruleset after the other.
        """
        found: list[RulesetState] = []
        with self._session.reading() as connection:
            for each in catalog.selected(connection, [name]):
                catalog.find(connection, check_name(each))
                # What nothing was ever said of is active.
                found += states.log(connection, each) or [RulesetState(each)]
        return tuple(found)
