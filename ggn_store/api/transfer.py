"""Push and pull: rulesets go from one store to another, each as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ggn_store.api import authors, garbage, gates
from ggn_store.api.base import Section
from ggn_store.errors import UNSTORABLE, GgnStoreError, InputError, NotationError, StoreError, UnknownNameError, quote
from ggn_store.model.revision import check_name
from ggn_store.model.transfer import Source, Transferred, Wishes
from ggn_store.store.database import engine
from ggn_store.store.exchange import offer, receive
from ggn_store.store.exchange.offer import StoreSource
from ggn_store.store.exchange.receive import OvertakenError, Progress
from ggn_store.store.rulesets import catalog

if TYPE_CHECKING:
    from ggn_store.api.store import Store

Names = str | Iterable[str] | None
# Gives a source in one state for as long as it is open.
Opened = Callable[[], AbstractContextManager[Source]]


class Transfers(Section):
    """Rulesets given to other stores, and taken from them."""

    def push(self, remote: Store | str, names: Names = None, **options: Any) -> tuple[Transferred, ...]:
        """Like `push_each`; raises the first error, after which nothing more is pushed."""
        return raised(self.push_each(remote, names, **options))

    def push_each(
        self,
        remote: Store | str,
        names: Names = None,
        *,
        to: str | None = None,
        merge: bool = False,
        tags: bool = False,
        message: str | None = None,
        author: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Transferred]:
        """Give rulesets (all for None) to another store, as `to` there; what became of each, or its error.

        Only what it does not have travels, and each ruleset is taken as a whole or not at all. DivergedError is
        where it has what this store has not: `merge` makes one of both, as far as no entry was changed in two ways;
        `message` and `author` are of the revision that does. `tags` come along if asked for. `progress` is told of
        each ruleset how many pieces have come, and how many are still to come.
        """
        with _remote(remote) as other:
            yield from _between(self, other, names, to, merge, tags, message, author, dry_run, progress, is_push=True)

    def pull(self, remote: Store | str, names: Names = None, **options: Any) -> tuple[Transferred, ...]:
        """Like `pull_each`; raises the first error, after which nothing more is pulled."""
        return raised(self.pull_each(remote, names, **options))

    def pull_each(
        self,
        remote: Store | str,
        names: Names = None,
        *,
        to: str | None = None,
        merge: bool = False,
        tags: bool = False,
        message: str | None = None,
        author: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Transferred]:
        """Take rulesets (all for None) from another store, as `to` here; otherwise like `push_each`."""
        with _remote(remote) as other:
            yield from _between(other, self, names, to, merge, tags, message, author, dry_run, progress, is_push=False)


def _between(
    source: Section,
    destination: Section,
    names: Names,
    to: str | None,
    merge: bool,
    tags: bool,
    message: str | None,
    author: str | None,
    dry_run: bool,
    progress: Progress | None,
    *,
    is_push: bool,
) -> Iterator[Transferred]:
    """Transfer rulesets (all for None) one after the other; what became of each, errors among it.

    Raises before anything is transferred where a store cannot be used, or both are one.
    """
    giving, taking = source._database, destination._database
    wishes = wish(taking, str(giving), merge, tags, message, author, is_push)
    with source._tables.reading() as there, destination._tables.reading() as here:
        if giving.identity(there) == taking.identity(here):
            raise StoreError(f"{taking}: this is one store, with itself as the remote: name another one")

    with ExitStack() as stack:
        tables = source._tables
        is_taken = False

        @contextmanager
        def opened() -> Iterator[Source]:
            # The first time for the heads, which often are all that is asked for.
            nonlocal tables, is_taken
            if is_taken and tables is source._tables:
                tables = stack.enter_context(tables.snapshot())
            is_taken = True
            with tables.reading() as connection:
                yield StoreSource(tables.database, connection)

        yield from take(opened, destination, names, wishes, to, dry_run, progress)


def wish(
    database: engine.Database,
    source: str,
    merge: bool,
    tags: bool,
    message: str | None,
    author: str | None,
    is_push: bool = False,
) -> Wishes:
    """What is to be done with what comes from `source` into `database`."""
    author = authors.author(database, author)
    for what, text in (("author", author), ("message", message)):
        if text is not None and UNSTORABLE.search(text):
            raise NotationError(f"the {what} {quote(text)} has characters that no database can keep")
    return Wishes(source, merge, tags, message, author, is_push)


def take(
    opened: Opened,
    destination: Section,
    names: Names,
    wishes: Wishes,
    to: str | None,
    dry_run: bool,
    progress: Progress | None,
) -> Iterator[Transferred]:
    """Take rulesets from a source; what became of each."""
    with opened() as source:
        coming = source.heads()
    chosen = [*coming] if names is None else [names] if isinstance(names, str) else [*dict.fromkeys(names)]
    if to is not None and len(chosen) != 1:
        raise InputError(f"a new name is for one ruleset, and there are {len(chosen)}")
    for name in (*chosen, *(() if to is None else (to,))):
        check_name(name)
    with destination._tables.reading() as connection:
        here = offer.heads(connection)
    for name in chosen:
        target = name if to is None else to
        number, lineage = here.get(target, (None, None))
        if lineage is not None and lineage == coming.get(name) and not wishes.tags:
            yield Transferred(name, target, "unchanged", head=number, lineage=lineage)
            continue
        try:
            with garbage.held_off():
                result = _take_one(opened, destination, name, target, wishes, dry_run, progress)
        except GgnStoreError as error:
            result = Transferred(name, target, "failed", error=error)
        yield result


def _take_one(
    opened: Opened,
    destination: Section,
    name: str,
    to: str,
    wishes: Wishes,
    dry_run: bool,
    progress: Progress | None,
) -> Transferred:
    is_alone = False
    while True:
        try:
            with opened() as source:
                if dry_run:
                    with destination._tables.reading() as connection:
                        return receive.plan(connection, source, name, to, wishes)
                with destination._tables.writing() as connection:
                    database = destination._database
                    if is_alone:
                        database.lock_pieces(connection, alone=True)
                    before = catalog.newest_of(connection, to)
                    result = receive.receive(database, connection, source, name, to, wishes, progress)
                    after = catalog.newest_of(connection, to)
                    if after is not None and after != before:
                        gates.require(connection, before, after)
                    return result
        except OvertakenError:
            # What somebody else gave first may be in conflict now. This time others wait: they could be first for ever.
            is_alone = True


def raised(results: Iterable[Transferred]) -> tuple[Transferred, ...]:
    """All results, if none of them is an error; raises the first that is one, and transfers nothing after it."""
    done = []
    for result in results:
        if result.error is not None:
            raise result.error
        done.append(result)
    return tuple(done)


@contextmanager
def _remote(address: Store | str) -> Iterator[Store]:
    """A store as it was given, or the one at an address, which is closed afterwards; none is made."""
    from ggn_store.api.store import Store

    if not isinstance(address, str):
        yield address
        return
    with Store.at(address) as store:
        if store._is_new():
            raise StoreError(
                f"{store._database}: there is no store here: see that the address of the remote is right; "
                f"`ggn-store --db {store._database} db upgrade` makes one"
            )
        yield store


def names_of(source: Source, names: Names) -> list[str]:
    """The rulesets that are meant, all for None; raises UnknownNameError for one that the source does not have."""
    known = source.heads()
    if names is None:
        return list(known)
    chosen = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    for name in chosen:
        if check_name(name) not in known:
            source.steps(name)  # which says what there is instead
            raise UnknownNameError(f"there is no ruleset {quote(name)}")
    return chosen
