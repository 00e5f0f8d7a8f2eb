"""What the pages of a server share: the store, what was asked for last, and what may run at once."""

from __future__ import annotations

import functools
import sys
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from anyio import CapacityLimiter, fail_after

from ggn_store.api.play.game import Game
from ggn_store.api.ruleset import Ruleset
from ggn_store.api.store import Store
from ggn_store.errors import GateError, GgnStoreError, printable
from ggn_store.model.changes.changes import Diff
from ggn_store.model.pictures.picture import ChangedMoves
from ggn_store.model.record import Record
from ggn_store.model.teams.revision import Revision, is_proposal
from ggn_store.web.guard import Rate
from ggn_store.web.metrics import Metrics
from ggn_store.web.people import People
from ggn_store.web.refusal import AskedError, for_visitors

Value = TypeVar("Value")
_RULESETS: Final = 300_000  # possibilities of all rulesets that are kept: about 600 MB, where all was asked
_PROPOSED: Final = 4
_GAMES: Final = 256
_DIFFERENCES: Final = 50_000  # possibilities that changed, of all that are kept: about 100 MB
_PICTURES: Final = 8
_PAGES: Final = 32_000_000  # bytes of pages that are kept
_WAIT: Final = 5.0  # seconds for a turn among questions
_WRITES: Final = (60, 60.0)  # by one person in so many seconds


class Recent(Generic[Value]):
    """The values that were asked for last, by their keys, of so much weight; safe to use from several threads."""

    def __init__(self, most: int, weigh: Callable[[Value], int] = lambda value: 1) -> None:
        self._most, self._weigh = most, weigh
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key, made where it is not known any more."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = make()  # perhaps twice at once, which does no harm
        weight = self._weigh(value)
        if weight <= self._most:
            with self._lock:
                self._values[key] = value, weight
                self._values.move_to_end(key)
                while sum(each for _, each in self._values.values()) > self._most:
                    self._values.popitem(last=False)
        return value


@dataclass(frozen=True, slots=True)
class SentPage:
    """A page as it is sent; `mark` is another one for another page."""

    data: bytes
    mark: str
    headers: Mapping[str, str]
    media: str
    status: int


@dataclass(frozen=True, slots=True)
class Compared:
    """What differs. Of too much for a page it has the fields alone, and `pieces` those that differ.

    Of one piece that is too much by itself, `sources` are those from which it differs. Each of them is with the number
    of its possibilities before and after. Where these are few, `part` are they, and the difference is of them. `told`
    is what became of each piece, in words.
    """

    difference: Diff
    pieces: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sources: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    part: tuple[str, ...] = ()
    told: Sequence[Record] = ()


class Site:
    """A store as pages; `queries` questions that take long run at once. `clean` takes what is secret out of messages.

    `people` says who somebody is who writes; without it nobody can.
    """

    def __init__(
        self,
        store: Store,
        queries: int = 2,
        clean: Callable[[str], str] = lambda message: message,
        people: People | None = None,
    ) -> None:
        self.store = store
        self.people = people
        self.writes = Rate(*_WRITES)
        self.clean = clean
        self.metrics = Metrics()
        self.games: Recent[tuple[Game, tuple[str, ...]]] = Recent(_GAMES)
        self.differences: Recent[Compared] = Recent(_DIFFERENCES, _possibilities)
        self.pages: Recent[SentPage] = Recent(_PAGES, lambda made: len(made.data))
        self.pictures: Recent[tuple[ChangedMoves, ...]] = Recent(_PICTURES)
        self.turns = CapacityLimiter(queries)
        self._rulesets: Recent[Ruleset] = Recent(_RULESETS, _size)
        self._proposed: Recent[Ruleset] = Recent(_PROPOSED)

    def ruleset(self, reference: str) -> Ruleset:
        """What a reference names now, with what was read of it before; raises UnknownNameError."""
        if is_proposal(reference):  # which is put into a store of its own in memory
            proposal = self.store.reviews.get(reference)
            key: Hashable = (str(proposal), proposal.round, proposal.digest)
            return self._proposed.get(key, lambda: self.store.ruleset(reference))
        found = self.store.ruleset(reference)
        revision = found.revision
        key = (revision.name, revision.lineage, revision.id, revision.state, revision.successor)
        return self._rulesets.get(key, lambda: found)

    def revision(self, reference: str) -> Revision:
        """What a reference names, of a proposal what it would be, without any of its rules; raises UnknownNameError."""
        if is_proposal(reference):
            return self.store.history.log(reference, 1)[0].revision
        return self.ruleset(reference).revision

    def told(self, error: GgnStoreError) -> str:
        """What a visitor is told of an error."""
        return for_visitors(self.clean(str(error)))

    @functools.cached_property
    def profiles(self) -> Any:
        """What games are compared by, as they are the first time that it is asked: for pages that are files."""
        return self.store.analysis().profiles()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A turn to ask a question that takes long; raises AskedError where it does not come soon.

        Who waits for it keeps no thread from answering others.
        """
        try:
            with fail_after(_WAIT):
                await self.turns.acquire()
        except TimeoutError:
            message = "as many queries run already as may run at once: ask again in a moment"
            raise AskedError(message, 503) from None
        try:
            yield
        finally:
            self.turns.release()

    @contextmanager
    def acting(self, person: str) -> Iterator[Store]:
        """The store as somebody writes to it, on a server as a user of that name; raises AskedError for too much."""
        self.writes.take(person)
        try:
            with self.store.as_user(person) as store:
                yield store
        except GateError as error:
            # Why a user cannot connect is for who runs the server.
            if error.__cause__ is not None:
                print(self.clean(printable(str(error.__cause__))), file=sys.stderr)
            raise

    def is_fixed(self, reference: str, revision: Revision) -> bool:
        """Whether a reference names a revision by its whole history, so that it never means anything else."""
        return reference == lasting(revision) and not is_proposal(reference)


def _possibilities(compared: Compared) -> int:
    """How many a difference holds, at least one."""
    entries = compared.difference.entries()
    return 1 + len(compared.sources) + sum(len(entry.before) + len(entry.after) for _, _, entry in entries)


def _size(ruleset: Ruleset) -> int:
    """The possibilities of a ruleset, and something for the ruleset; the largest games are kept alone."""
    return min(1_000 + ruleset.summary().counts["possibilities"], _RULESETS)


def lasting(revision: Revision) -> str:
    """The reference to a revision that holds in every store, for ever; what is only proposed has its name alone."""
    return revision.name if is_proposal(revision.name) else f"{revision.name}@sha256:{revision.lineage}"
