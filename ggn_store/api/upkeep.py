"""Store maintenance: what nothing refers to, what is wrong, what happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from ggn_store import collector
from ggn_store.errors import StoreError
from ggn_store.model.teams.care import Collected, Verification
from ggn_store.model.teams.event import Event
from ggn_store.model.teams.revision import Reference, check_name, refuse_proposal
from ggn_store.model.teams.selection import check_number, is_pattern
from ggn_store.store.database.session import Session
from ggn_store.store.history import audit
from ggn_store.store.rulesets import catalog
from ggn_store.store.upkeep import check, collect, rebuild
from ggn_store.store.upkeep.memory import Memory


@dataclass(frozen=True, slots=True)
class Upkeep:
    """`store.upkeep`: what is unused, what is wrong, what happens; and what is derived, made again."""

    _session: Session

    def check(self, progress: Callable[[str], None] | None = None, *, full: bool = False) -> list[str]:
        """What `verify` finds wrong in the whole store, one sentence each."""
        return [*self.verify(progress=progress, full=full).problems]

    def rebuild(self, progress: Callable[[str], None] | None = None) -> int:
        """Derive what the fast query reads, and the counts, from the rows of every piece again; how many these were."""
        with self._session.writing() as connection:
            return rebuild.rebuild(self._session.database, connection, progress)

    def collect(
        self, *, dry_run: bool = False, vacuum: bool = False, progress: Callable[[str], None] | None = None
    ) -> Collected:
        """Remove pieces, boards and rulesets that nothing refers to; with `dry_run` only tell what they are.

        Safe beside others who load: they wait a moment. What was removed stays removed where it is interrupted.
        `vacuum` then makes a SQLite file smaller, for which the disk needs as much room again.
        """
        if dry_run:
            with self._session.reading() as connection:
                return Collected(tuple(collect.unused(connection)))
        removed = tuple(collect.collect(self._session.database, self._session.writing, progress or (lambda _: None)))
        if vacuum:
            self._session.database.vacuum()
        with self._session.reading() as connection:
            return Collected(removed, self._session.database.free(connection))

    def verify(self, *names: str, progress: Callable[[str], None] | None = None, full: bool = False) -> Verification:
        """Derive every digest again from the rows, and see that histories, tags, audit and triggers are whole.

        With names of rulesets, namespaces (`team/`) or globs only what these need is looked at. The store remembers
        which pieces were sound, where this user may write that: as long as the number of their rows and the sums of
        these stay the same, their digests are not derived again, but with `full`.
        """
        if any(map(is_pattern, names)):
            with self._session.reading() as connection:
                names = tuple(catalog.selected(connection, names))
        checked = [check_name(name) for name in names]
        memory = Memory(self._session.database, full)
        with collector.held_off(), self._session.snapshot() as tables:
            found = check.verify(tables.database, tables.reading, memory, checked, progress)
        if memory.has_news:
            with suppress(StoreError), self._session.writing() as connection:
                memory.write(connection)
        return found

    def audit(
        self,
        ruleset: str | None = None,
        *,
        since: int | datetime | None = None,
        before: int | datetime | None = None,
        limit: int | None = None,
        only: Iterable[str] = (),
    ) -> Iterator[Event]:
        """What was changed by whom, oldest first: after an event's id or from a time on; the newest `limit` of it.

        With `before`, only what came before an event's id or a time: the page before one that was seen.

        `ruleset` may also be a namespace, `team/`, or a glob; `only` are actions: revision, tag, state, delete, ...
        """
        wanted = audit.EventFilter(() if ruleset is None else (ruleset,), tuple(only))
        for what, each in {"since": since, "before": before}.items():
            if not isinstance(each, datetime):
                check_number(each, f"the event of {what}, where it is no datetime,")
        check_number(limit)
        with self._session.reading() as connection:
            ids = audit.found(connection, wanted, (since, before), limit)
            if not ids and ruleset is not None and not is_pattern(ruleset):
                catalog.find(connection, Reference(check_name(ruleset)))
        return audit.read(self._session.reading, ids)

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
        for name in names:
            refuse_proposal(name)
        end = None if timeout is None else time.monotonic() + timeout

        def goes_on() -> bool:
            return (end is None or time.monotonic() < end) and (on_turn is None or on_turn())

        wanted = audit.EventFilter(tuple(names), tuple(only))
        if interval is None:
            interval = 10.0 if self._session.database.is_server else 0.5
        return audit.watch(
            self._session.database,
            self._session.reading,
            wanted,
            audit.begin(self._session.database, self._session.reading, wanted, since),
            interval=interval,
            on_turn=goes_on,
            on_loss=on_loss or (lambda _: None),
        )
