"""Push and pull: rulesets go from one store to another, each as a whole or not at all; bundles."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Protocol, TypedDict, Unpack

from ggn_store import collector
from ggn_store.api.loading import conflicts, gates, loading, sources
from ggn_store.api.loading.wishes import LoadWishes
from ggn_store.api.session import authors, opening
from ggn_store.api.session.opening import Address
from ggn_store.api.session.patience import ONCE, Patience, Result
from ggn_store.errors import ConflictError, GgnStoreError, InputError, StoreError, UnknownNameError, quote
from ggn_store.model.changes.merge import Preference, check_preference
from ggn_store.model.teams.care import Comparison
from ggn_store.model.teams.revision import check_name
from ggn_store.model.teams.selection import RulesetNames, is_pattern, select
from ggn_store.model.teams.transfer import DivergedError, Resolution, RevisionSource, Transferred, TransferWishes
from ggn_store.store.database.engine import Database
from ggn_store.store.database.session import Session
from ggn_store.store.exchange import compare, offer, receive, renamed, stated
from ggn_store.store.exchange.here import OvertakenError
from ggn_store.store.exchange.offer import StoreSource
from ggn_store.store.exchange.receive import Progress
from ggn_store.store.exchange.stated import SentStates
from ggn_store.store.history import states
from ggn_store.store.rulesets import catalog

if TYPE_CHECKING:
    from ggn_store.api.teams.bundles import BundleSummary

BundleFile = str | os.PathLike[str] | IO[bytes]
# Gives a source in one state for as long as it is open.
OpenSource = Callable[[], AbstractContextManager[RevisionSource]]


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
    two ways: for "ours", which of a push is what is pushed, else what is here, or "theirs"; `conflicts` is a file to
    which conflicts of a push or a pull are written, for `resolve`. `tags` come along if asked for. States do by
    themselves; where both sides have changed the state of a ruleset, the source's counts if `states`. Records of
    reviews, none of which counts at the destination, come along if `reviews`, and from a bundle in any case.
    With `dry_run` nothing travels. `progress` is called for each ruleset with how many pieces have come, and how many
    are still to come. `patience` says how often to try again after an outage; without it, nothing is tried twice.
    """

    to: str | None
    merge: bool
    prefer: Preference
    conflicts: str | os.PathLike[str] | None
    tags: bool
    states: bool
    reviews: bool
    message: str | None
    author: str | None
    dry_run: bool
    progress: Progress | None
    patience: Patience


class PushOptions(TransferOptions, total=False):
    """The keywords of a push: `propose` what a policy of the other store takes only after a review."""

    propose: bool


@dataclass(frozen=True, slots=True)
class _Order:
    """Which rulesets are to be transferred, and how: `TransferOptions` with their defaults."""

    names: RulesetNames = None
    to: str | None = None
    merge: bool = False
    prefer: Preference = None
    conflicts: str | os.PathLike[str] | None = None
    tags: bool = False
    states: bool = False
    reviews: bool = False
    message: str | None = None
    author: str | None = None
    dry_run: bool = False
    progress: Progress | None = None
    patience: Patience = ONCE
    resolution: Resolution | None = None
    propose: bool = False

    def wishes(
        self, destination: Session, source: str, is_push: bool = False, offers_file: bool = False
    ) -> TransferWishes:
        """What is to be done with what comes from `source`."""
        check_preference(self.prefer, merge=self.merge)
        author = authors.signed(destination.database, self.author, self.message)
        merging = functools.partial(sources.merge, prefer=self.prefer)
        wished = self.merge, self.tags, self.states, self.reviews, self.message
        offers_file = offers_file and self.conflicts is None
        return TransferWishes(source, *wished, author, is_push, merging, self.resolution, self.prefer, offers_file)


@dataclass(frozen=True, slots=True)
class Exchange:
    """`store.exchange`: rulesets given to other stores and taken from them, and bundles."""

    _session: Session

    def push(
        self, remote: Remote, names: RulesetNames = None, **options: Unpack[PushOptions]
    ) -> tuple[Transferred, ...]:
        """Like `push_each`; raises the first error, after which nothing more is pushed."""
        return _raised(self.push_each(remote, names, **options))

    def push_each(
        self, remote: Remote, names: RulesetNames = None, **options: Unpack[PushOptions]
    ) -> Iterator[Transferred]:
        """Give rulesets (all for None) to another store or the one at an address; what became of each, or its error.

        Only what it does not have travels, and each ruleset is taken as a whole or not at all. Raises DivergedError
        where it has what this store has not. See `TransferOptions` for the keywords: to, merge, prefer, tags, states,
        reviews, message, author, dry_run, progress, patience.

        With `propose`, the newest revision of a ruleset that is under review there becomes a proposal, or a new round
        of one's own that is open; then the result has the `proposal`.
        """
        order = _Order(names, **options)
        if order.propose and (order.merge or order.dry_run):
            raise InputError("what is proposed is neither merged nor only listed: pull with merge first")
        with _opened(remote, order.patience) as other:
            yield from _between(self._session, other, order, is_push=True)

    def pull(
        self, remote: Remote, names: RulesetNames = None, **options: Unpack[TransferOptions]
    ) -> tuple[Transferred, ...]:
        """Like `pull_each`; raises the first error, after which nothing more is pulled."""
        return _raised(self.pull_each(remote, names, **options))

    def pull_each(
        self, remote: Remote, names: RulesetNames = None, **options: Unpack[TransferOptions]
    ) -> Iterator[Transferred]:
        """Take rulesets (all for None) from another store, as `to` here; otherwise like `push_each`."""
        order = _Order(names, **options)
        with _opened(remote, order.patience) as other:
            yield from _between(other, self._session, order, is_push=False)

    def resolve(
        self,
        file: str | os.PathLike[str],
        *,
        remote: Remote | None = None,
        message: str | None = None,
        author: str | None = None,
        accept_changes: bool = False,
    ) -> Transferred:
        """Finish a merge whose conflicts were written to a file (`conflicts=FILE`), which has been edited since.

        Does what load, push or pull would have done, which of push and pull need the same `remote`. Raises InputError
        with the line of a mark that is left, ConflictError where a head has moved meanwhile, and GateError where the
        policy of the ruleset refuses it; nothing is stored then.
        """
        with collector.held_off():
            made = conflicts.read(file)
            heading = made.heading
            if heading.command == "load":
                wishes = LoadWishes(message=message, author=author, accept_changes=accept_changes)
                return loading.load_resolved(self._session, made, wishes)
            if heading.command == "amend":
                raise InputError(f"these are conflicts of the proposal {heading.name}: resolve them with --propose")
            if remote is None:
                raise InputError(f"these are conflicts of a {heading.command}: name the other store with --remote")
            if accept_changes:
                raise InputError(f"changes of moves are accepted by a load, and this is a {heading.command}")
            resolution = Resolution(str(heading.ours), heading.theirs, made.document, made.note)
            order = _Order(heading.name, heading.to, merge=True, message=message, author=author, resolution=resolution)
            is_push = heading.command == "push"
            with _opened(remote, order.patience) as other:
                stores = (self._session, other) if is_push else (other, self._session)
                [found] = _between(*stores, order, is_push=is_push)
        if found.error is not None:
            raise found.error
        if found.status != "merged":
            raise DivergedError(f"{found.to} has been merged since the conflicts were written; nothing was stored")
        return found

    def compare(
        self, remote: Remote, *names: str, progress: Callable[[str], None] | None = None
    ) -> tuple[Comparison, ...]:
        """This store and another, ruleset by ruleset: which revisions and tags has one that the other lacks?"""
        tell = progress or (lambda _: None)
        known = () if any(map(is_pattern, names)) else names
        with self._session.reading() as connection:
            here = compare.outlines(connection, known, lambda name: tell(f"{name} here"))
        with _opened(remote) as other, other.reading() as connection:
            there = compare.outlines(connection, known, lambda name: tell(f"{name} there"))
        wanted = select(names, {*here, *there}, "neither store")
        for name in wanted:
            if check_name(name) not in here and name not in there:
                raise UnknownNameError(f"neither store has a ruleset {quote(name)}")
        found = compare.compare(here, there)
        return tuple(each for each in found if not names or each.name in wanted)

    def create_bundle(
        self, file: str | os.PathLike[str], names: RulesetNames = None, *, since: str | None = None
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
        self, file: BundleFile, names: RulesetNames = None, **options: Unpack[TransferOptions]
    ) -> tuple[Transferred, ...]:
        """Like `load_bundle_each`; raises the first error, after which nothing more is loaded."""
        return _raised(self.load_bundle_each(file, names, **options))

    def load_bundle_each(
        self, file: BundleFile, names: RulesetNames = None, **options: Unpack[TransferOptions]
    ) -> Iterator[Transferred]:
        """Take rulesets (all for None) from a bundle (a file, `-`, a binary stream); otherwise like `pull_each`.

        All of it is checked before anything is stored; raises InputError with the line that is wrong.
        """
        from ggn_store.api.teams import bundles

        with bundles.opened(file, keep=True) as read:
            order = replace(_Order(names_of(read, names), **options), reviews=True)

            @contextmanager
            def source() -> Iterator[RevisionSource]:
                yield read

            for name in order.names or ():
                read.steps(name)
            trials = _Trials(order.patience, (self._session.database,))
            yield from _take(source, self._session, order, order.wishes(self._session, read.file), trials)


def _between(source: Session, destination: Session, order: _Order, *, is_push: bool) -> Iterator[Transferred]:
    """Transfer rulesets (all for None) one after the other; what became of each, errors among it.

    Raises before anything is transferred where a store cannot be used, or both are one.
    """
    giving, taking = source.database, destination.database
    trials = _Trials(order.patience, (giving, taking))

    def are_one() -> bool:
        with source.reading() as there, destination.reading() as here:
            return giving.identity(there) == taking.identity(here)

    if trials.run(are_one):
        raise StoreError(f"{taking}: this is one store, with itself as the remote: name another one")
    wishes = order.wishes(destination, str(giving), is_push, offers_file=True)
    with ExitStack() as stack:
        session = source
        is_taken = False

        @contextmanager
        def opened() -> Iterator[RevisionSource]:
            # The first time for the heads, which often are all that is asked for.
            nonlocal session, is_taken
            if trials.is_lost:
                with suppress(StoreError):
                    stack.close()
                session, trials.is_lost = source, False
            if is_taken and session is source:
                session = stack.enter_context(session.snapshot())
            is_taken = True
            with session.reading() as connection:
                yield StoreSource(session.database, connection)

        proposing: _Proposing | None = None
        if order.propose:
            from ggn_store.api.teams import pushed_proposals

            proposing = functools.partial(pushed_proposals.propose, source, destination, order.message, order.author)
        yield from _take(opened, destination, order, wishes, trials, proposing)


@dataclass(slots=True)
class _Trials:
    """What is tried again after an outage of a database; then `is_lost` says that what was open is not any more.

    After one that has not passed in time, things are tried once each until one succeeds.
    """

    patience: Patience
    databases: tuple[Database, ...]
    is_lost: bool = False
    has_given_up: bool = False

    def run(self, work: Callable[[], Result]) -> Result:
        """The result of `work`; its error where that is none that passes, or does not pass in time."""
        patience = ONCE if self.has_given_up else self.patience
        try:
            result = patience.run(work, self._is_passing)
        except Exception as error:
            self.has_given_up = self._is_passing(error)
            raise
        self.has_given_up = False
        return result

    def _is_passing(self, error: Exception) -> bool:
        self.is_lost = isinstance(error, StoreError) and any(each.is_passing(error) for each in self.databases)
        return self.is_lost


# Proposes a ruleset of the source for one of the destination, where that is under review.
_Proposing = Callable[[str, str], Transferred | None]


def _take(
    opened: OpenSource,
    destination: Session,
    order: _Order,
    wishes: TransferWishes,
    trials: _Trials,
    proposing: _Proposing | None = None,
) -> Iterator[Transferred]:
    to = order.to

    def heads() -> tuple[Mapping[str, str], SentStates, list[str], set[str], dict[str, tuple[int, str]], SentStates]:
        with opened() as source:
            coming, said = source.heads(), source.states()
            chosen = _meant(order.names, coming, wishes.source)
            reviewed = {name for name in chosen if wishes.reviews and name in coming and source.reviews(name)}
        with destination.reading() as connection:
            return coming, said, chosen, reviewed, offer.heads(connection), states.said(connection)

    coming, said, chosen, reviewed, here, told = trials.run(heads)
    if to is not None and len(chosen) != 1:
        raise InputError(f"a new name is for one ruleset, and there are {len(chosen)}")
    if order.conflicts is not None and len(chosen) != 1:
        raise InputError(f"a conflict file is for one ruleset, and there are {len(chosen)}")
    for name in (*chosen, *(() if to is None else (to,))):
        check_name(name)
    for name in chosen:
        target = name if to is None else to
        number, lineage = here.get(target, (None, None))
        if lineage is not None and lineage == coming.get(name) and not wishes.tags and name not in reviewed:
            known = stated.relate(target, told.get(target, ()), said.get(name, ()), wishes)
            if not known.fresh:
                yield known.told(Transferred(name, target, "unchanged", head=number, lineage=lineage))
                continue
        try:
            with collector.held_off():
                work = functools.partial(_take_one, opened, destination, name, target, order, wishes, proposing)
                result = trials.run(work)
        except GgnStoreError as error:
            if order.conflicts is not None and isinstance(error, ConflictError):
                error = conflicts.keep(error, order.conflicts, "push" if wishes.is_push else "pull", name, target)
            result = Transferred(name, target, "failed", error=error)
        yield result


def _take_one(
    opened: OpenSource,
    destination: Session,
    name: str,
    to: str,
    order: _Order,
    wishes: TransferWishes,
    proposing: _Proposing | None,
) -> Transferred:
    database = destination.database
    said: str | None = None
    if proposing is not None:
        with opened() as source, destination.writing() as connection:
            to, said = renamed.follow(database, connection, source, name, to, wishes)
        if (proposed := proposing(name, to)) is not None:
            return replace(proposed, note=said)
    is_alone = False
    while True:
        try:
            with opened() as source:
                if order.dry_run:
                    with destination.reading() as connection:
                        target, note, log = renamed.plan(connection, source, name, to, wishes)
                        here = log[0].old_name if log else target
                        done = receive.plan(database, connection, source, name, here, wishes)
                    return replace(done, to=target, note=_notes(note, done.note))
                with destination.writing() as connection:
                    if is_alone:
                        database.lock_pieces(connection, alone=True)
                    target, note = renamed.follow(database, connection, source, name, to, wishes)
                    with gates.holding(connection, target):
                        done = receive.receive(database, connection, source, name, target, wishes, order.progress)
                    return replace(done, note=_notes(said, note, done.note))
        except OvertakenError:
            # What somebody else gave first may be in conflict now. This time others wait: they could be first for ever.
            is_alone = True


def _notes(*notes: str | None) -> str | None:
    return "; ".join(filter(None, notes)) or None


def _raised(results: Iterable[Transferred]) -> tuple[Transferred, ...]:
    """All results, if none of them is an error; raises the first that is one, and transfers nothing after it."""
    done = []
    for result in results:
        if result.error is not None:
            raise result.error
        done.append(result)
    return tuple(done)


@contextmanager
def _opened(remote: Remote, patience: Patience = ONCE) -> Iterator[Session]:
    """A store as it was given, or the one at an address, which is closed afterwards; none is made."""
    if hasattr(remote, "session"):
        yield remote.session
        return
    session = opening.at(remote)
    try:
        if _Trials(patience, (session.database,)).run(lambda: opening.is_new(session.database)):
            raise StoreError(
                f"{session.database}: there is no store here: see that the address of the remote is right; "
                f"`ggn-store --db {session.database} db upgrade` makes one"
            )
        yield session
    finally:
        session.database.close()


def _meant(names: RulesetNames, known: Collection[str], where: str = "the store") -> list[str]:
    """The rulesets that are meant, all that are known for None."""
    if names is None:
        return [*known]
    return select([names] if isinstance(names, str) else names, known, where)


def names_of(source: RevisionSource, names: RulesetNames) -> list[str]:
    """The rulesets that are meant, all for None; raises UnknownNameError for one that the source does not have."""
    known = source.heads()
    chosen = _meant(names, known)
    for name in () if names is None else chosen:
        if check_name(name) not in known:
            source.steps(name)  # which says what there is instead
            raise UnknownNameError(f"there is no ruleset {quote(name)}")
    return chosen
