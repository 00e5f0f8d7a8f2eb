"""Tags: names that point to revisions."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import merge

from ggn_store.api.session import authors
from ggn_store.errors import NotationError, quote
from ggn_store.model.teams.revision import Revision, check_name, parse_reference
from ggn_store.model.teams.selection import is_pattern
from ggn_store.model.teams.tag import Tag
from ggn_store.store.database.session import Session
from ggn_store.store.history import tags
from ggn_store.store.review import rights
from ggn_store.store.rulesets import catalog, load


@dataclass(frozen=True, slots=True)
class Tags:
    """`store.tags`: names that point to revisions, as `chess:stable` does."""

    _session: Session

    def set(
        self,
        reference: str,
        name: str,
        *,
        author: str | None = None,
        message: str | None = None,
        expect: str | None = None,
    ) -> Tag:
        """Point the tag `name` to a revision (`chess`: the newest one); the result's `status` says what that did.

        `expect` is where it must point now: `3`, `sha256:0123abcd`, another tag; `none` where it must not be there.
        Raises ConflictError where it points elsewhere. Without `expect` the last writer wins; `log` lists all moves.
        """
        return self._move(reference, name, author, message, expect)

    def remove(
        self,
        ruleset: str,
        name: str,
        *,
        author: str | None = None,
        message: str | None = None,
        expect: str | None = None,
    ) -> Tag:
        """Remove a tag of a ruleset, whose history stays; raises UnknownNameError where it is not there."""
        return self._move(ruleset, name, author, message, expect, remove=True)

    def _move(
        self,
        reference: str,
        name: str,
        author: str | None,
        message: str | None,
        expect: str | None,
        *,
        remove: bool = False,
    ) -> Tag:
        database = self._session.database
        author = authors.signed(database, author, message)
        with self._session.writing() as connection:
            named = catalog.parsed(connection, reference)
            if remove and not named.is_newest:
                raise NotationError(f"{quote(reference)}: name the ruleset only, to remove a tag of it")
            target: Revision | None = None if remove else catalog.find(connection, named)
            expected = tags.expected(connection, named.name, expect)
            rights.require(database, connection, named.name, "taggers", author)
            change = load.Provenance(author, message)
            return tags.move(database, connection, named.name, name, target, change, expected)

    def list(self, reference: str) -> tuple[Tag, ...]:
        """The tags of a ruleset by name, each with its last move; of `chess@3`, those that point there.

        Of a namespace (`team/`) or a glob, the tags of one ruleset after the other.
        """
        with self._session.reading() as connection:
            wanted = catalog.selected(connection, [reference])
            return tuple(tag for each in wanted for tag in tags.listed(connection, parse_reference(each)))

    def log(self, ruleset: str, name: str | None = None) -> tuple[Tag, ...]:
        """All moves of a tag of a ruleset, or of all its tags, the newest first; also of a namespace or a glob."""
        with self._session.reading() as connection:
            if not is_pattern(ruleset):
                return tuple(tags.log(connection, check_name(ruleset), name))
            logs = [tags.log(connection, each) for each in catalog.selected(connection, [ruleset])]
        moves = merge(*logs, key=lambda tag: tag.created_at, reverse=True)
        return tuple(tag for tag in moves if name in (None, tag.name))
