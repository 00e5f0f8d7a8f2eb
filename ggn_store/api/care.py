"""Looking after a store: tags, what is unused, what is wrong, what happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from ggn_store.api import authors
from ggn_store.api.base import Section
from ggn_store.errors import UNSTORABLE, NotationError, UnknownNameError, quote
from ggn_store.model.care import Collected, Comparison, Verification
from ggn_store.model.event import Event
from ggn_store.model.revision import Reference, check_name, parse_reference
from ggn_store.model.tag import Tag
from ggn_store.store.exchange import compare
from ggn_store.store.history import audit, tags
from ggn_store.store.rulesets import catalog
from ggn_store.store.upkeep import check, collect

if TYPE_CHECKING:
    from ggn_store.api.store import Store


class Care(Section):
    """A store looked after: tags, what is unused, what is wrong, what happens."""

    def tag(
        self,
        reference: str,
        name: str,
        *,
        author: str | None = None,
        message: str | None = None,
        expect: str | None = None,
    ) -> Tag:
        """Let the tag `name` point to a revision (`chess`: the newest one); the result's `status` says what that did.

        `expect` is where it must point now: `3`, `sha256:0123abcd`, another tag; `none` where it must not be there.
        Raises ConflictError where it points elsewhere. Without it who comes last wins; `tag_log` tells of all.
        """
        return self._move_tag(reference, name, author, message, expect)

    def untag(
        self,
        ruleset: str,
        name: str,
        *,
        author: str | None = None,
        message: str | None = None,
        expect: str | None = None,
    ) -> Tag:
        """Remove a tag of a ruleset, whose history stays; raises UnknownNameError where it is not there."""
        return self._move_tag(ruleset, name, author, message, expect, remove=True)

    def _move_tag(
        self,
        reference: str,
        name: str,
        author: str | None,
        message: str | None,
        expect: str | None,
        *,
        remove: bool = False,
    ) -> Tag:
        named = parse_reference(reference)
        if remove and not named.is_newest:
            raise NotationError(f"{quote(reference)}: name the ruleset only, to remove a tag of it")
        author = authors.author(self._database, author)
        for what, text in (("author", author), ("message", message)):
            if text is not None and UNSTORABLE.search(text):
                raise NotationError(f"the {what} {quote(text)} has characters that no database can keep")
        with self._tables.writing() as connection:
            target = None if remove else catalog.find(connection, named)
            expected = tags.expected(connection, named.name, expect)
            return tags.move(
                self._database, connection, named.name, name, target, author=author, message=message, expect=expected
            )

    def tags(self, reference: str) -> tuple[Tag, ...]:
        """The tags of a ruleset by name, each with its last move; of `chess@3`, those that point there."""
        with self._tables.reading() as connection:
            return tuple(tags.listed(connection, parse_reference(reference)))

    def tag_log(self, ruleset: str, name: str | None = None) -> tuple[Tag, ...]:
        """All moves of a tag of a ruleset, or of all its tags, the newest first."""
        with self._tables.reading() as connection:
            return tuple(tags.log(connection, check_name(ruleset), name))

    def gc(
        self, *, dry_run: bool = False, vacuum: bool = False, progress: Callable[[str], None] | None = None
    ) -> Collected:
        """Remove pieces, boards and rulesets that nothing refers to; with `dry_run` only tell what they are.

        Safe beside others who load: they wait a moment. What was removed stays removed where it is interrupted.
        `vacuum` then makes a SQLite file smaller, for which the disk needs as much room again.
        """
        if dry_run:
            with self._tables.reading() as connection:
                return Collected(tuple(collect.unused(connection)))
        removed = tuple(collect.collect(self._database, self._tables.writing, progress or _quiet))
        if vacuum:
            self._database.vacuum()
        with self._tables.reading() as connection:
            return Collected(removed, self._database.free(connection))

    def verify(self, *names: str, progress: Callable[[str], None] | None = None) -> Verification:
        """Derive every digest again from the rows, and see that histories, tags, audit and triggers are whole.

        With names of rulesets only what these need is looked at.
        """
        checked = [check_name(name) for name in names]
        with self._tables.snapshot() as tables:
            return check.verify(tables.database, tables.reading, checked, progress)

    def compare(
        self, other: Store, *names: str, progress: Callable[[str], None] | None = None
    ) -> tuple[Comparison, ...]:
        """This store and another, ruleset by ruleset: which revisions and tags has one that the other lacks?"""
        tell = progress or _quiet
        with self._tables.reading() as connection:
            here = compare.outlines(connection, names, lambda name: tell(f"{name} here"))
        with other._tables.reading() as connection:
            there = compare.outlines(connection, names, lambda name: tell(f"{name} there"))
        for name in names:
            if check_name(name) not in here and name not in there:
                raise UnknownNameError(f"neither store has a ruleset {quote(name)}")
        return tuple(compare.compare(here, there))

    def audit(
        self,
        ruleset: str | None = None,
        *,
        since: int | datetime | None = None,
        limit: int | None = None,
        only: Iterable[str] = (),
    ) -> Iterator[Event]:
        """What was changed by whom, oldest first: after an event's id or from a time on; the newest `limit` of it.

        `ruleset` may also be a namespace, `team/`; `only` are actions: revision, tag, state, delete, restore, gc.
        """
        wanted = audit.Wanted(() if ruleset is None else (ruleset,), tuple(only))
        with self._tables.reading() as connection:
            ids = audit.found(connection, wanted, since, limit)
            if not ids and ruleset is not None and not ruleset.endswith("/"):
                catalog.find(connection, Reference(check_name(ruleset)))
        return audit.read(self._tables.reading, ids)

    def watch(
        self,
        *names: str,
        since: int | None = None,
        only: Iterable[str] = (),
        interval: float | None = None,
        timeout: float | None = None,
        on_turn: Callable[[], bool] | None = None,
        on_loss: Callable[[str], None] | None = None,
    ) -> Iterator[Event]:
        """Changes as they happen, each once: from now on, or after an event's id. It only ends with the `timeout`.

        Times are in seconds. Names are as for `audit`. A Postgres server tells of changes at once; a SQLite file is
        looked at after each `interval` (half a second). `on_turn` is called at least twice a second and ends it by
        returning False; a connection that is lost is made again, and `on_loss` told why.
        """
        end = None if timeout is None else time.monotonic() + timeout

        def goes_on() -> bool:
            return (end is None or time.monotonic() < end) and (on_turn is None or on_turn())

        wanted = audit.Wanted(tuple(names), tuple(only))
        if interval is None:
            interval = 10.0 if self._database.is_server else 0.5
        return audit.watch(
            self._database,
            self._tables.reading,
            wanted,
            audit.begin(self._database, self._tables.reading, wanted, since),
            interval=interval,
            on_turn=goes_on,
            on_loss=on_loss or _quiet,
        )


def _quiet(_: str) -> None:
    pass
