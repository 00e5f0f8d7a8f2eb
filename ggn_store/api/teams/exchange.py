"""Push and pull: rulesets go from one store to another, each as a whole or not at all; bundles."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, TYPE_CHECKING, Protocol, TypedDict, Unpack

from ggn_store.api.loading import gates, sources
from ggn_store.api.session import authors, collector, opening
from ggn_store.api.session.opening import Address
from ggn_store.errors import GgnStoreError, InputError, StoreError, UnknownNameError, quote
from ggn_store.model.care import Comparison
from ggn_store.model.merge import Preference, check_preference
from ggn_store.model.revision import check_name
from ggn_store.model.transfer import RevisionSource, Transferred, TransferWishes
from ggn_store.store.database.session import Session
from ggn_store.store.exchange import compare, offer, receive
from ggn_store.store.exchange.offer import StoreSource
from ggn_store.store.exchange.receive import OvertakenError, Progress
from ggn_store.store.rulesets import catalog

if TYPE_CHECKING:
    from ggn_store.api.teams.bundles import BundleSummary

Names = str | Iterable[str] | None
File = str | os.PathLike[str] | IO[bytes]
# Gives a source in one state for as long as it is open.
Opened = Callable[[], AbstractContextManager[RevisionSource]]


class OpenStore(Protocol):
    """A `Store`, as far as an exchange needs one."""

    @property
    def session(self) -> Session:
        """Its session."""


Remote = OpenStore | Address


class TransferOptions(TypedDict, total=False):
    """The keywords of every way to transfer rulesets.

    `to` is the name that the ruleset gets. `merge` makes one of two histories that have diverged, as far as no entry
    was changed in two ways; `message` and `author` are of the revision that does. `prefer` decides what was changed in
    two ways: for "ours", which of a push is what is pushed, else what is here, or "theirs". `tags` come along if asked
    for.
    With `dry_run` nothing travels. `progress` is called for each ruleset with how many pieces have come, and how many
    are still to come.
    """

    to: str | None
    merge: bool
    prefer: Preference
    tags: bool
    message: str | None
    author: str | None
    dry_run: bool
    progress: Progress | None


@dataclass(frozen=True, slots=True)
class _Order:
    """Which rulesets are to be transferred, and how: `TransferOptions` with their defaults."""

    names: Names = None
    to: str | None = None
    merge: bool = False
    prefer: Preference = None
    tags: bool = False
    message: str | None = None
    author: str | None = None
    dry_run: bool = False
    progress: Progress | None = None

    def wishes(self, destination: Session, source: str, is_push: bool = False) -> TransferWishes:
        """What is to be done with what comes from `source`."""
        check_preference(self.prefer, merge=self.merge)
        author = authors.signed(destination.database, self.author, self.message)
        merging = partial(sources.merge, prefer=self.prefer)
        return TransferWishes(source, self.merge, self.tags, self.message, author, is_push, merging)


@dataclass(frozen=True, slots=True)
class Exchange:
    """`store.exchange`: rulesets given to other stores and taken from them, and bundles."""

    _session: Session

    def push(self, remote: Remote, names: Names = None, **options: Unpack[TransferOptions]) -> tuple[Transferred, ...]:
        """Like `push_each`; raises the first error, after which nothing more is pushed."""
        return _raised(self.push_each(remote, names, **options))

    def push_each(
        self, remote: Remote, names: Names = None, **options: Unpack[TransferOptions]
    ) -> Iterator[Transferred]:
        """Give rulesets (all for None) to another store or the one at an address; what became of each, or its error.

        Only what it does not have travels, and each ruleset is taken as a whole or not at all. Raises DivergedError
        where it has what this store has not. See `TransferOptions` for the keywords: to, merge, prefer, tags, message,
        author, dry_run, progress.
        """
        with _opened(remote) as other:
            yield from _between(self._session, other, _Order(names, **options), is_push=True)

    def pull(self, remote: Remote, names: Names = None, **options: Unpack[TransferOptions]) -> tuple[Transferred, ...]:
        """Like `pull_each`; raises the first error, after which nothing more is pulled."""
        return _raised(self.pull_each(remote, names, **options))

    def pull_each(
        self, remote: Remote, names: Names = None, **options: Unpack[TransferOptions]
    ) -> Iterator[Transferred]:
        """Take rulesets (all for None) from another store, as `to` here; otherwise like `push_each`."""
        with _opened(remote) as other:
            yield from _between(other, self._session, _Order(names, **options), is_push=False)

    def compare(
        self, remote: Remote, *names: str, progress: Callable[[str], None] | None = None
    ) -> tuple[Comparison, ...]:
        """This store and another, ruleset by ruleset: which revisions and tags has one that the other lacks?"""
        tell = progress or (lambda _: None)
        with self._session.reading() as connection:
            here = compare.outlines(connection, names, lambda name: tell(f"{name} here"))
        with _opened(remote) as other, other.reading() as connection:
            there = compare.outlines(connection, names, lambda name: tell(f"{name} there"))
        for name in names:
            if check_name(name) not in here and name not in there:
                raise UnknownNameError(f"neither store has a ruleset {quote(name)}")
        return tuple(compare.compare(here, there))

    def create_bundle(
        self, file: str | os.PathLike[str], names: Names = None, *, since: str | None = None
    ) -> BundleSummary:
        """Write rulesets (all for None) with their histories and tags to a file, or to `-`; what is in it.

        `since` leaves out what a revision of each goes back to: `3`, `sha256:0123abcd`, a tag. Whoever loads the
        bundle must have that one. The file appears only once it is whole. See `verify_bundle`.
        """
        from ggn_store.api.teams import bundles

        with self._session.snapshot() as tables, tables.reading() as connection:
            source = StoreSource(tables.database, connection)
            bases = {}
            for name in names_of(source, names):
                base = None if since in (None, "0") else catalog.base(connection, name, since)
                bases[name] = base if isinstance(base, str) else None
            return bundles.write(file, source, bases, since)

    def load_bundle(
        self, file: File, names: Names = None, **options: Unpack[TransferOptions]
    ) -> tuple[Transferred, ...]:
        """Like `load_bundle_each`; raises the first error, after which nothing more is loaded."""
        return _raised(self.load_bundle_each(file, names, **options))

    def load_bundle_each(
        self, file: File, names: Names = None, **options: Unpack[TransferOptions]
    ) -> Iterator[Transferred]:
        """Take rulesets (all for None) from a bundle (a file, `-`, a binary stream); otherwise like `pull_each`.

        All of it is checked before anything is stored; raises InputError with the line that is wrong.
        """
        from ggn_store.api.teams import bundles

        with bundles.opened(file, keep=True) as read:
            order = _Order(names_of(read, names), **options)

            @contextmanager
            def source() -> Iterator[RevisionSource]:
                yield read

            for name in order.names or ():
                read.steps(name)
            yield from _take(source, self._session, order, order.wishes(self._session, read.file))


def _between(source: Session, destination: Session, order: _Order, *, is_push: bool) -> Iterator[Transferred]:
    """Transfer rulesets (all for None) one after the other; what became of each, errors among it.

    Raises before anything is transferred where a store cannot be used, or both are one.
    """
    giving, taking = source.database, destination.database
    wishes = order.wishes(destination, str(giving), is_push)
    with source.reading() as there, destination.reading() as here:
        if giving.identity(there) == taking.identity(here):
            raise StoreError(f"{taking}: this is one store, with itself as the remote: name another one")

    with ExitStack() as stack:
        session = source
        is_taken = False

        @contextmanager
        def opened() -> Iterator[RevisionSource]:
            # The first time for the heads, which often are all that is asked for.
            nonlocal session, is_taken
            if is_taken and session is source:
                session = stack.enter_context(session.snapshot())
            is_taken = True
            with session.reading() as connection:
                yield StoreSource(session.database, connection)

        yield from _take(opened, destination, order, wishes)


def _take(opened: Opened, destination: Session, order: _Order, wishes: TransferWishes) -> Iterator[Transferred]:
    """Take rulesets from a source; what became of each."""
    names, to = order.names, order.to
    with opened() as source:
        coming = source.heads()
    chosen = [*coming] if names is None else [names] if isinstance(names, str) else [*dict.fromkeys(names)]
    if to is not None and len(chosen) != 1:
        raise InputError(f"a new name is for one ruleset, and there are {len(chosen)}")
    for name in (*chosen, *(() if to is None else (to,))):
        check_name(name)
    with destination.reading() as connection:
        here = offer.heads(connection)
    for name in chosen:
        target = name if to is None else to
        number, lineage = here.get(target, (None, None))
        if lineage is not None and lineage == coming.get(name) and not wishes.tags:
            yield Transferred(name, target, "unchanged", head=number, lineage=lineage)
            continue
        try:
            with collector.held_off():
                result = _take_one(opened, destination, name, target, order, wishes)
        except GgnStoreError as error:
            result = Transferred(name, target, "failed", error=error)
        yield result


def _take_one(
    opened: Opened, destination: Session, name: str, to: str, order: _Order, wishes: TransferWishes
) -> Transferred:
    is_alone = False
    while True:
        try:
            with opened() as source:
                if order.dry_run:
                    with destination.reading() as connection:
                        return receive.plan(connection, source, name, to, wishes)
                with destination.writing() as connection:
                    if is_alone:
                        destination.database.lock_pieces(connection, alone=True)
                    with gates.holding(connection, to):
                        return receive.receive(
                            destination.database, connection, source, name, to, wishes, order.progress
                        )
        except OvertakenError:
            # What somebody else gave first may be in conflict now. This time others wait: they could be first for ever.
            is_alone = True


def _raised(results: Iterable[Transferred]) -> tuple[Transferred, ...]:
    """All results, if none of them is an error; raises the first that is one, and transfers nothing after it."""
    done = []
    for result in results:
        if result.error is not None:
            raise result.error
        done.append(result)
    return tuple(done)


@contextmanager
def _opened(remote: Remote) -> Iterator[Session]:
    """A store as it was given, or the one at an address, which is closed afterwards; none is made."""
    if not isinstance(remote, str | os.PathLike):
        yield remote.session
        return
    session = opening.at(remote)
    try:
        if opening.is_new(session.database):
            raise StoreError(
                f"{session.database}: there is no store here: see that the address of the remote is right; "
                f"`ggn-store --db {session.database} db upgrade` makes one"
            )
        yield session
    finally:
        session.database.close()


def names_of(source: RevisionSource, names: Names) -> list[str]:
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
