"""Reading the audit, which triggers write: once, or as it grows."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import Connection, Select, func, null, select

from ggn_store.errors import StoreError
from ggn_store.model.teams.event import Event
from ggn_store.model.teams.selection import is_pattern, matches
from ggn_store.store.database.engine import ChangeSignal, Database, Opening
from ggn_store.store.history import renames
from ggn_store.store.rulesets import catalog, damaged
from ggn_store.store.schema import tables as t

# However long nothing is told, somebody may want to stop.
_TURN: Final = 0.5
_LONGEST_PAUSE: Final = 5.0
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events are asked for: of these rulesets, namespaces and globs, of these kinds; empty is all.

    Those of a ruleset are told by any of its names: an event has the name of its time.
    """

    subjects: Collection[str] = ()
    actions: Collection[str] = ()

    def narrow(self, query: Select[Any], moved: Mapping[str, str]) -> Select[Any]:
        """`query`, which reads the audit, for these events only; `moved` are the rulesets' names by former ones."""
        if self.actions:
            query = query.where(t.audit.c.action.in_(self.actions))
        if self.subjects and not self.has_patterns:
            query = query.where(t.audit.c.subject.in_(renames.every_name(self.subjects, moved)))
        return query

    def ids(self, connection: Connection, query: Select[Any]) -> Iterator[int]:
        """The ids that `query` finds, which reads id and subject, of what patterns match: no database knows theirs."""
        known: dict[str | None, bool] = {}
        moved = renames.moved(connection) if self.subjects else {}
        for key, subject in connection.execute(self.narrow(query, moved)):
            if self.has_patterns and subject not in known:
                names = () if subject is None else (subject, moved.get(subject, subject))
                known[subject] = any(matches(each, name) for each in self.subjects for name in names)
            if known.get(subject, True):
                yield key

    @property
    def has_patterns(self) -> bool:
        """Whether the database cannot tell which rulesets are meant."""
        return any(map(is_pattern, self.subjects))


def found(
    connection: Connection,
    wanted: EventFilter,
    between: tuple[int | datetime | None, int | datetime | None] = (None, None),
    limit: int | None = None,
) -> list[int]:
    """The ids of the events after an id, or from a time on, and before another one, oldest first.

    Of more than `limit` the newest.
    """
    since, before = between
    query = _SUBJECTS
    if isinstance(since, datetime):
        query = query.where(t.audit.c.at >= since)
    elif since is not None:
        query = query.where(t.audit.c.id > since)
    if before is not None:
        query = query.where((t.audit.c.at if isinstance(before, datetime) else t.audit.c.id) < before)
    newest = query.order_by(t.audit.c.id.desc()).limit(None if wanted.has_patterns else limit)
    return [*islice(wanted.ids(connection, newest), limit)][::-1]


def read(opening: Opening, ids: Iterable[int]) -> Iterator[Event]:
    """The events of these ids, a part at a time: whoever takes them one by one keeps nobody from writing."""
    for part in catalog.batches(ids, _AT_ONCE):
        with opening() as connection:
            rows = damaged.rows(connection, _EVENTS.where(t.audit.c.id.in_(part)), t.audit.c.id)
            unread = [key for (key,), row in rows.items() if row is None]
            heads = connection.execute(_HEADS.where(t.audit.c.id.in_(unread))).all() if unread else []
        for row in sorted([*(each for each in rows.values() if each is not None), *heads], key=lambda row: row.id):
            yield Event(row.id, catalog.utc(row.at), row.role, row.action, row.subject, _detail(row))


_SUBJECTS: Final = select(t.audit.c.id, t.audit.c.subject)
_EVENTS: Final = select(t.audit).order_by(t.audit.c.id)
_HEADS: Final = select(t.audit.c.id, t.audit.c.at, t.audit.c.role, t.audit.c.action, null().label("subject"))


def _detail(row: Any) -> dict[str, Any]:
    """What is told of an event; of one that others have damaged, that it cannot be read."""
    try:
        found = json.loads(row.detail)
    except (AttributeError, TypeError, ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"fault": "what was told cannot be read"}


@dataclass(slots=True)
class Bookmark:
    """How far the audit has been told.

    On Postgres ids become visible in another order than they are given out: a transaction that was given the lower
    one may be committed later. All up to `settled` were met, or will never be seen; beyond, `met` were. `ahead` is the
    highest that was seen when no transaction from `until` on had begun to write: those are given higher ones, so once
    all before `until` have ended, all up to `ahead` is settled. No transaction before `oldest` will show any more.
    `waiting` were met and are still to be told.
    """

    settled: int
    met: set[int] = field(default_factory=set)
    ahead: int = 0
    until: int | None = None
    oldest: int = 0
    waiting: deque[int] = field(default_factory=deque)

    def go_on(self, database: Database, connection: Connection, wanted: EventFilter) -> None:
        """Meet what has become visible since the last time; the transaction must see one state of the store."""
        oldest, next_one = database.transactions(connection)
        audit = t.audit.c
        newest = connection.execute(select(func.max(audit.id))).scalar() or 0
        query = _SUBJECTS.where(audit.id > self.settled)
        query = query.where(audit.transaction.is_(None) | (audit.transaction >= self.oldest)).order_by(audit.id)
        fresh = [each for each in wanted.ids(connection, query) if each not in self.met]
        self.met.update(fresh)
        self.waiting.extend(fresh)
        self.oldest = oldest
        if self.until is None or oldest >= self.until:
            self.settled = max(self.settled, self.ahead)
            self.ahead, self.until = newest, next_one
        if oldest >= self.until:
            self.settled = max(self.settled, self.ahead)
        self.met = {each for each in self.met if each > self.settled}

    @property
    def told(self) -> int:
        """All up to here has been told."""
        return min(self.settled, self.waiting[0] - 1) if self.waiting else self.settled


def begin(database: Database, opening: Opening, wanted: EventFilter, since: int | None) -> Bookmark:
    """The bookmark after an event's id, or where the audit is now."""
    bookmark = Bookmark(since or 0)
    if since is None:
        with opening() as connection:
            bookmark.go_on(database, connection, wanted)
        bookmark.waiting.clear()
    return bookmark


def watch(
    database: Database,
    opening: Opening,
    wanted: EventFilter,
    bookmark: Bookmark,
    *,
    interval: float,
    on_turn: Callable[[], bool],
    on_loss: Callable[[str], None],
) -> Iterator[Event]:
    """The events after `bookmark`, and then each that comes, once; `opening` begins transactions.

    Where nothing tells of changes, the store is looked at after each `interval`, in seconds. `on_turn` is called at
    least twice a second, and False from it ends this. A connection that is lost is made again, and `on_loss` is told.
    """
    pause = _TURN
    while True:
        try:
            with closing(database.changes()) as changes:
                for _ in _turns(changes, interval, on_turn):
                    with opening() as connection:
                        bookmark.go_on(database, connection, wanted)
                    pause = _TURN
                    yield from _waiting(opening, bookmark)
                return
        except StoreError as error:
            if not database.is_passing(error):
                raise
            on_loss(str(error))
        end = time.monotonic() + pause
        while time.monotonic() < end:
            if not on_turn():
                return
            time.sleep(_TURN)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _turns(changes: ChangeSignal, interval: float, on_turn: Callable[[], bool]) -> Iterator[None]:
    """Now, and whenever there may be something new; the end is when `on_turn` says so."""
    last = None
    while on_turn():
        now = time.monotonic()
        if last is None or now >= last + interval:
            last = now
            yield
        elif changes.wait(min(_TURN, last + interval - now)):
            last = time.monotonic()
            yield


def _waiting(opening: Opening, bookmark: Bookmark) -> Iterator[Event]:
    """What is still to be told."""
    for event in read(opening, [*bookmark.waiting]):
        bookmark.waiting.popleft()
        yield replace(event, since=bookmark.told)
