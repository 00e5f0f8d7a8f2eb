"""Stores: documents in, rulesets out."""

from __future__ import annotations

import builtins
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final

from ggn_store.api import (
    ahead,
    authors,
    bundles,
    care,
    garbage,
    gates,
    history,
    incoming,
    merging,
    policies,
    states,
    transfer,
)
from ggn_store.api.bundles import BundleSummary
from ggn_store.api.ruleset import Ruleset
from ggn_store.api.table import DEFAULT_SECONDS, Table
from ggn_store.documents import files
from ggn_store.errors import (
    GgnStoreError,
    HeadMovedError,
    InputError,
    StoreError,
    UnknownNameError,
    printable,
    quote,
)
from ggn_store.model.care import Collected, Comparison, Verification
from ggn_store.model.document import Dialect, Document, Piece
from ggn_store.model.event import Event
from ggn_store.model.policy import Policy, PositionSet
from ggn_store.model.proposal import Proposal
from ggn_store.model.revision import Revision, RulesetState, State, Summary, check_name
from ggn_store.model.tag import Tag
from ggn_store.model.transfer import Transferred
from ggn_store.store import blame, engine, load, rebuild, roles, rulesets, sql, tags, versions
from ggn_store.store import history as histories
from ggn_store.store.load import Gate, Ready
from ggn_store.store.receive import Progress
from ggn_store.store.roles import Roles

if TYPE_CHECKING:
    from ggn_store.api.analysis import StoreAnalysis
    from ggn_store.api.games import GameEntry
    from ggn_store.games.rules import Definition
    from ggn_store.model.difference import Difference
    from ggn_store.model.history import Blame, LogEntry

PRIVATE_NAME: Final = "ruleset"
_MEMORY: Final = "sqlite://"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of one document of a run: a revision, or the error that kept it out."""

    file: str
    name: str | None
    revision: Revision | None = None
    error: GgnStoreError | None = None
    possibilities: int = 0
    conditions: int = 0


@dataclass(frozen=True, slots=True)
class Info:
    """What `db info` tells of a store; `version` and `needed` are of its tables."""

    address: str
    engine: str
    version: str | None
    needed: str
    rulesets: int | None


class Store:
    """A store of rulesets in a SQLite file, in memory or in a Postgres database.

    Safe to use from several threads. Every method raises StoreError where the database refuses, and then
    nothing was changed.
    """

    def __init__(self, database: engine.Database) -> None:
        self._database = database
        self._tables = versions.Gate(database)

    @classmethod
    def open(cls, address: str, *, upgrade: bool = False, create: bool = True) -> Store:
        """The store at `address`: `sqlite:///file.db`, a file's name, or `postgresql://user@host/database`.

        A new SQLite file is made ready by itself, a Postgres database only by `upgrade` (here, or as a method of the
        result); with `create=False` no file is made. Raises StoreError where the address leads nowhere; a store whose
        tables are missing, behind or ahead raises StoreVersionError, with the cure, when it is used.
        """
        store = cls.at(address)
        try:
            if not create:
                store._require_file()
            store._require_directory()
            if upgrade or store._is_new():
                store.upgrade()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def at(cls, address: str) -> Store:
        """The store at `address`, without connecting yet: for `upgrade` and `info`."""
        return cls(engine.connect(address))

    @property
    def _is_new_file(self) -> bool:
        database = self._database
        if not isinstance(database, engine.SQLite):
            return False
        return database.path is None or not database.path.exists() or database.path.stat().st_size == 0

    def _is_new(self) -> bool:
        """Whether this is a SQLite file without any tables; connects, so that an address leading nowhere is told."""
        if self._is_new_file:
            return True
        with self._database.reading() as connection:
            # A file is also new where the process that began to make it ready was killed.
            is_empty = versions.version(connection) is None and versions.is_empty(connection)
        return is_empty and isinstance(self._database, engine.SQLite)

    def _require_directory(self) -> None:
        database = self._database
        if isinstance(database, engine.SQLite) and database.path is not None and not database.path.parent.is_dir():
            raise StoreError(f"{database}: there is no directory {printable(str(database.path.parent))}: make it first")

    def _require_file(self) -> None:
        database = self._database
        if isinstance(database, engine.SQLite) and database.path is not None and self._is_new():
            raise StoreError(
                f"{database}: there is no store here: see that the address is right (--db); `ggn-store load --library` "
                "makes a store and puts well-known games into it"
            )

    def close(self) -> None:
        """Give the connections back; a store in memory is gone then."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self._database)!r})"

    def upgrade(self) -> tuple[str | None, str]:
        """Bring the tables to this program's version; the versions before (None: no tables) and after."""
        return versions.upgrade(self._database)

    def info(self) -> Info:
        """Where the store is, what runs it, and of which version its tables are."""
        needed = versions.known_versions()[-1]
        if self._is_new_file:  # to connect would make the file
            return Info(str(self._database), f"SQLite {sqlite3.sqlite_version}", None, needed, None)
        with self._database.reading() as connection:
            found = versions.version(connection)
            count = len(rulesets.newest(connection)) if found == needed else None
            return Info(str(self._database), self._database.version(connection), found, needed, count)

    def check(self, progress: Callable[[str], None] | None = None) -> builtins.list[str]:
        """What `verify` finds wrong in the whole store, one sentence each."""
        return [*self.verify(progress=progress).problems]

    def rebuild(self, progress: Callable[[str], None] | None = None) -> int:
        """Derive what the fast query reads from the rows of every piece again; how many pieces that were."""
        with self._tables.writing() as connection:
            return rebuild.rebuild(self._database, connection, progress)

    # --- documents in ---

    def load(
        self,
        document: Document | Definition | Mapping[str, Any] | str | os.PathLike[str],
        name: str | None = None,
        *,
        dialect: Dialect | None = None,
        message: str | None = None,
        author: str | None = None,
        base: str | None = None,
        merge: bool = False,
        accept_changes: bool = False,
    ) -> Revision:
        """Load a document, a definition, decoded JSON or a file as the next revision of the ruleset `name`.

        The name of a file is the default. Content that is equal to the newest revision's makes no new one; the
        result's `status` says so. What a definition says is generated on the way, with one piece in memory at a time.
        `base` is the revision that it is based on: `3`, `sha256:0123abcd`, a tag, or `0` where it is to be the first.
        Where the ruleset has moved on from there, `merge` unites what both sides changed, entry by entry.
        `accept_changes` says that changes of the moves that a policy keeps are meant; they are listed in the message.
        Raises DocumentError with every problem, and GateError where the policy of the ruleset refuses it. Raises
        HeadMovedError (a ConflictError) where the ruleset has moved on and there is no merge: because none was asked
        for, or both sides changed the same entry; its `merge` tells all changes. Nothing is stored then.
        """
        _require_base(base, merge)
        with garbage.held_off():
            content, name = read_one(document, name, dialect)
            return self._load(content, name, message, author, base=base, merge=merge, accept_changes=accept_changes)

    def _load(
        self,
        content: Document | Ready | Definition,
        name: str,
        message: str | None,
        author: str | None,
        tell: Callable[[Piece], None] = lambda _: None,
        base: str | None = None,
        merge: bool = False,
        accept_changes: bool = False,
    ) -> Revision:
        author = authors.signed(self._database, author, message)
        check_name(name)
        gate = gates.gate(accept_changes)
        if base is None:
            return self._append(content, name, message, author, tell, rulesets.UNSTATED, gate)
        with self._tables.reading() as connection:
            basis = rulesets.base(connection, name, base)
        try:
            return self._append(content, name, message, author, tell, basis, gate)
        except HeadMovedError:
            document = _in_memory(content)
            if document is None or isinstance(basis, rulesets.Unstated):
                raise
            return merging.merge_into(
                self._database,
                self._tables,
                name,
                document,
                basis,
                is_wanted=merge,
                gate=gate,
                author=author,
                message=message,
            )

    def _append(
        self,
        content: Document | Ready | Definition,
        name: str,
        message: str | None,
        author: str | None,
        tell: Callable[[Piece], None],
        base: rulesets.Base,
        gate: Gate,
    ) -> Revision:
        if isinstance(content, Document | Ready):
            prepare(content)
            with self._tables.writing() as connection:
                return load.load(
                    self._database, connection, content, name, author=author, message=message, base=base, gate=gate
                )
        from ggn_store.api import games

        board = games.board_of(content)
        with self._tables.writing() as connection:
            return load.load_pieces(
                self._database,
                connection,
                games.some_pieces(content, tell),
                name,
                dialect=games.DIALECT,
                board=board,
                envelope=content.envelope,
                author=author,
                message=message,
                base=base,
                gate=gate,
            )

    def load_all(
        self,
        sources: Iterable[str | os.PathLike[str] | files.File],
        *,
        name: str | None = None,
        dialect: Dialect | None = None,
        message: str | None = None,
        author: str | None = None,
        base: str | None = None,
        merge: bool = False,
        progress: Callable[[int], None] | None = None,
        processes: int = 0,
        accept_changes: bool = False,
    ) -> Iterator[Loaded]:
        """Load documents, one transaction each, and tell what became of each: a revision, or an error.

        Sources are files, directories, glob patterns, NDJSON streams, `-`; see `find_files`. `name` and `base` are for
        a single document. `progress` is told of every piece that is generated how many possibilities it has. So many
        other `processes` read documents ahead where there are enough of them; it changes nothing else. Raises
        InputError before anything is loaded where a source is not there.
        """
        _require_base(base, merge)
        how = _How(name, dialect, message, author, base, merge, progress, accept_changes)
        return self._load_files(files.find_files(sources), how, processes)

    def _load_files(self, found: Sequence[files.File], how: _How, processes: int) -> Iterator[Loaded]:
        if how.name is not None:
            check_name(how.name)
        if how.single and len(found) > 1:
            raise InputError(f"{how.single}, and there are {len(found)} files: load them without it")
        # What may have to be merged is needed as a document, and not as rows.
        with ahead.reading(found, how.dialect, 0 if how.base else processes) as documents:
            for file in found:
                loaded = self._load_ahead(documents, file, how)
                if loaded is not None:
                    yield loaded
                else:
                    yield from self._load_file(file, how)

    def _load_ahead(self, documents: ahead.Ahead, file: files.File, how: _How) -> Loaded | None:
        """What became of a file that another process has read; None where none has."""
        with garbage.held_off():
            document = documents.take(file)
            if document is None:
                return None
            return self._load_content(document, str(file), file.name, how)

    def _load_file(self, file: files.File, how: _How) -> Iterator[Loaded]:
        count = 0
        try:
            entries = incoming.read(file)
            while True:
                # The document is gone before the collector is back, or it would go through all of it.
                with garbage.held_off():
                    entry = next(entries, None)
                    if entry is None:
                        break
                    count += 1
                    if how.single and count > 1:
                        raise InputError(f"{file}: {how.single}, and this is a stream of several")
                    loaded = self._load_entry(entry, how)
                    del entry
                yield loaded
        except InputError as error:
            yield Loaded(str(file), how.name or file.name, error=error)

    def load_library(
        self, *names: str, message: str | None = None, author: str | None = None
    ) -> builtins.list[Revision]:
        """Load games that come with the package: some by name, `all`, the `examples`; a few well-known ones if none.

        See `library_games` for what there is.
        """
        from ggn_store.api import games

        found = games.library_files(names)
        return [self.load(file.path, file.name, message=message, author=author) for file in found]

    def _load_entry(self, entry: incoming.Entry | GameEntry, how: _How) -> Loaded:
        name = entry.name if how.name is None else how.name
        try:
            content = _content(entry, how.dialect)
            return self._load_content(content, entry.file, name, how)
        except GgnStoreError as error:
            return Loaded(entry.file, name, error=error)

    def _load_content(self, content: Document | Ready | Definition, file: str, name: str | None, how: _How) -> Loaded:
        possibilities = conditions = 0

        def tell(piece: Piece) -> None:
            nonlocal possibilities, conditions
            possibilities += piece.possibilities
            conditions += piece.conditions
            if how.progress is not None:
                how.progress(piece.possibilities)

        try:
            if name is None:
                raise InputError(f"{file}: the document needs a name: give it with --name")
            revision = self._load(content, name, how.message, how.author, tell, how.base, how.merge, how.accept_changes)
        except GgnStoreError as error:
            return Loaded(file, name, error=error)
        if isinstance(content, Document | Ready):
            possibilities, conditions = content.possibilities, content.conditions
        return Loaded(file, name, revision, None, possibilities, conditions)

    # --- rulesets ---

    def ruleset(self, reference: str) -> Ruleset:
        """The ruleset `chess` in its newest revision, or `chess@3`; raises UnknownNameError (a KeyError)."""
        with self._tables.reading() as connection:
            return Ruleset(self._database, rulesets.find(connection, reference))

    def delete(self, name: str) -> int:
        """Hide a ruleset, and return how many revisions it keeps; loading it again brings it back."""
        if "@" in name:
            raise UnknownNameError(f"{quote(name)}: revisions are kept for good; name a ruleset to delete")
        with self._tables.writing() as connection:
            return rulesets.delete(connection, name)

    def revisions(self) -> tuple[Revision, ...]:
        """The newest revision of every ruleset, by name."""
        with self._tables.reading() as connection:
            return tuple(rulesets.newest(connection))

    def list(self) -> tuple[Summary, ...]:
        """The newest revision of every ruleset by name, with the number of pieces, possibilities, ..."""
        with self._tables.reading() as connection:
            tagged = tags.of_all(connection)
            return tuple(
                replace(rulesets.summary(connection, revision), tags=tagged.get(revision.name, {}))
                for revision in rulesets.newest(connection)
            )

    def analysis(self, tell: Callable[[str], None] | None = None) -> StoreAnalysis:
        """Questions about several rulesets at once; `tell` gets the SQL that runs."""
        from ggn_store.api.analysis import StoreAnalysis

        return StoreAnalysis(self._database, self._tables, tell)

    # --- care ---

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
        return care.tag(self._database, self._tables, reference, name, author, message, expect)

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
        return care.tag(self._database, self._tables, ruleset, name, author, message, expect, remove=True)

    def tags(self, reference: str) -> tuple[Tag, ...]:
        """The tags of a ruleset by name, each with its last move; of `chess@3`, those that point there."""
        return care.listed_tags(self._tables, reference)

    def tag_log(self, ruleset: str, name: str | None = None) -> tuple[Tag, ...]:
        """All moves of a tag of a ruleset, or of all its tags, the newest first."""
        return care.tag_log(self._tables, ruleset, name)

    def gc(
        self, *, dry_run: bool = False, vacuum: bool = False, progress: Callable[[str], None] | None = None
    ) -> Collected:
        """Remove pieces, boards and rulesets that nothing refers to; with `dry_run` only tell what they are.

        Safe beside others who load: they wait a moment. What was removed stays removed where it is interrupted.
        `vacuum` then makes a SQLite file smaller, for which the disk needs as much room again.
        """
        return care.gc(self._database, self._tables, dry_run=dry_run, vacuum=vacuum, progress=progress)

    def verify(self, *names: str, progress: Callable[[str], None] | None = None) -> Verification:
        """Derive every digest again from the rows, and see that histories, tags, audit and triggers are whole.

        With names of rulesets only what these need is looked at.
        """
        return care.verify(self._database, self._tables, names, progress)

    def compare(
        self, other: Store, *names: str, progress: Callable[[str], None] | None = None
    ) -> tuple[Comparison, ...]:
        """This store and another, ruleset by ruleset: which revisions and tags has one that the other lacks?"""
        return care.compared(self._tables, other._tables, names, progress)

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
        return care.events(self._tables, ruleset, since, limit, only)

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
        return care.watch(
            self._database,
            self._tables,
            names,
            since=since,
            only=only,
            interval=interval,
            timeout=timeout,
            on_turn=on_turn,
            on_loss=on_loss,
        )

    # --- history ---

    def log(self, reference: str, limit: int | None = None) -> tuple[LogEntry, ...]:
        """The revision that `chess`, `chess@3`, ... names and those before it, newest first, no more than `limit`."""
        with self._tables.reading() as connection:
            return tuple(histories.log(connection, reference, limit))

    def diff(self, before: str | Document, after: str | Document | None = None, piece: str | None = None) -> Difference:
        """What turns one revision or document into another; of one alone, what it changed against its parent.

        Pieces that both have are not read. With `piece`, only that piece is compared.
        """
        return history.diff(self._tables, before, after, piece)

    def blame(
        self, reference: str, piece: str | None = None, source: str | None = None, destination: str | None = None
    ) -> tuple[Blame, ...]:
        """Which revision gave each entry, and each field such as the title, the value that it has.

        Only of one piece, source or destination, where they are given; then without the fields.
        """
        with garbage.held_off(), self._tables.reading() as connection:
            return tuple(blame.blame(self._database, connection, reference, piece, source, destination))

    def restore(self, reference: str, *, message: str | None = None, author: str | None = None) -> Revision:
        """Make the content of an old revision the newest one again; bring a ruleset back that was deleted."""
        author = authors.signed(self._database, author, message)
        return history.restore(self._database, self._tables, reference, gates.gate(), author, message)

    # --- questions in SQL ---

    def sql(
        self,
        query: str,
        values: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float = DEFAULT_SECONDS,
    ) -> Table:
        """The answer to one SELECT on the views and tables; `values` are those of its `:names`.

        Nothing but reading is allowed. Raises QueryError where the query is wrong, does more than read, or takes more
        than `timeout` seconds or too much memory; an answer of more than `limit` rows is cut, and says so. Where the
        database is Postgres, it is worked on by the server, else by a process of its own.
        """
        with self._tables.reading():
            pass
        return Table.of(sql.ask(self._database, query, {} if values is None else values, limit, timeout))

    # --- gates: policies, proposals, states ---

    def set_policy(
        self,
        namespace: str,
        *,
        lint: Sequence[str] = (),
        compatible: PositionSet | None = None,
        review: int = 0,
        author: str | None = None,
        message: str | None = None,
    ) -> Policy:
        """Say what revisions of a namespace must be like: `team` for `team/...`, `team/chess`, `*` for the whole store.

        `lint` has codes of findings that are refused, or `all`; `compatible` positions whose moves must stay the same;
        `review` says how many others must approve of a change. Rules that are not given are not asked for. The policy
        of the longest namespace counts alone.
        """
        return policies.set_policy(self._database, self._tables, namespace, lint, compatible, review, author, message)

    def remove_policy(self, namespace: str, *, author: str | None = None, message: str | None = None) -> Policy | None:
        """Let a namespace have no policy of its own; returns the one that counts instead, if there is one."""
        return policies.remove_policy(self._database, self._tables, namespace, author, message)

    def policy(self, name: str) -> Policy | None:
        """The policy that counts for a ruleset, or for those of a namespace."""
        return policies.counting(self._tables, name)

    def policies(self) -> tuple[Policy, ...]:
        """The newest policy of every namespace that has one."""
        return policies.listed(self._tables)

    def policy_log(self, namespace: str) -> tuple[Policy, ...]:
        """All that was ever the policy of a namespace, the newest first."""
        return policies.log(self._tables, namespace)

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

    def approve(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """Approve of `chess#4`, which is somebody else's; the head moves once it has all approvals that it needs.

        People are told apart by the user of a Postgres database, in a SQLite file by the author's name. Raises
        ConflictError where the head has moved since it was proposed, and GateError where the policy refuses it now.
        """
        from ggn_store.api import proposals

        return proposals.approve(self._database, self._tables, proposal, author, message)

    def reject(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """End the proposal `chess#4`."""
        from ggn_store.api import proposals

        return proposals.reject(self._database, self._tables, proposal, author, message)

    def withdraw(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """End the proposal `chess#4`, which is one's own."""
        from ggn_store.api import proposals

        return proposals.withdraw(self._database, self._tables, proposal, author, message)

    def proposal(self, proposal: str) -> Proposal:
        """The proposal `chess#4`; raises UnknownNameError."""
        from ggn_store.api import proposals

        return proposals.find(self._tables, proposal)

    def proposals(self, name: str | None = None, *, closed: bool = False) -> tuple[Proposal, ...]:
        """The proposals that wait for approvals, of all rulesets or of one; with `closed`, all that there ever were."""
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

    def set_state(
        self,
        name: str,
        state: State,
        *,
        use: str | None = None,
        author: str | None = None,
        message: str | None = None,
    ) -> RulesetState:
        """Say that a ruleset is active, deprecated, or retired and takes no revisions; `use` names one to be used.

        Raises UnknownNameError where there is no such ruleset, and ConflictError where somebody else was faster.
        """
        return states.set_state(self._database, self._tables, name, state, use, author, message)

    def state(self, name: str) -> RulesetState:
        """Whether a ruleset is active, deprecated or retired; raises UnknownNameError."""
        return states.log(self._tables, name)[0]

    def state_log(self, name: str) -> tuple[RulesetState, ...]:
        """All that was ever said of a ruleset, the newest first."""
        return states.log(self._tables, name)

    # --- push, pull, bundle ---

    def push(self, remote: Store | str, names: transfer.Names = None, **options: Any) -> tuple[Transferred, ...]:
        """Like `push_each`; raises the first error, after which nothing more is pushed."""
        return transfer.raised(self.push_each(remote, names, **options))

    def push_each(
        self,
        remote: Store | str,
        names: transfer.Names = None,
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
        with transfer.remote(remote) as other:
            yield from transfer.between(
                self,
                other,
                names,
                to=to,
                merge=merge,
                tags=tags,
                message=message,
                author=author,
                dry_run=dry_run,
                is_push=True,
                progress=progress,
            )

    def pull(self, remote: Store | str, names: transfer.Names = None, **options: Any) -> tuple[Transferred, ...]:
        """Like `pull_each`; raises the first error, after which nothing more is pulled."""
        return transfer.raised(self.pull_each(remote, names, **options))

    def pull_each(
        self,
        remote: Store | str,
        names: transfer.Names = None,
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
        with transfer.remote(remote) as other:
            yield from transfer.between(
                other,
                self,
                names,
                to=to,
                merge=merge,
                tags=tags,
                message=message,
                author=author,
                dry_run=dry_run,
                progress=progress,
            )

    def bundle(
        self, file: str | os.PathLike[str], names: transfer.Names = None, *, since: str | None = None
    ) -> BundleSummary:
        """Write rulesets (all for None) with their histories and tags to a file, or to `-`; what is in it.

        `since` leaves out what a revision of each goes back to: `3`, `sha256:0123abcd`, a tag. Whoever loads the
        bundle must have that one. The file appears only once it is whole. See `verify_bundle`.
        """
        return bundles.create(self, file, names, since)

    def load_bundle(
        self, file: str | os.PathLike[str] | IO[bytes], names: transfer.Names = None, **options: Any
    ) -> tuple[Transferred, ...]:
        """Like `load_bundle_each`; raises the first error, after which nothing more is loaded."""
        return transfer.raised(self.load_bundle_each(file, names, **options))

    def load_bundle_each(
        self,
        file: str | os.PathLike[str] | IO[bytes],
        names: transfer.Names = None,
        *,
        to: str | None = None,
        merge: bool = False,
        tags: bool = False,
        message: str | None = None,
        author: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Transferred]:
        """Take rulesets (all for None) from a bundle (a file, `-`, a binary stream); otherwise like `pull_each`.

        All of it is checked before anything is stored; raises InputError with the line that is wrong.
        """
        return bundles.load(
            self,
            file,
            names,
            to=to,
            merge=merge,
            tags=tags,
            message=message,
            author=author,
            dry_run=dry_run,
            progress=progress,
        )

    # --- roles ---

    def roles(self) -> Roles:
        """Which roles of a Postgres server may do what with this store, and what deviates from `roles_script`."""
        roles.require_server(self._database)
        with self._tables.reading() as connection:
            return roles.find_roles(connection)

    def roles_script(self) -> str:
        """The SQL that `init_roles` runs, for whoever runs it by hand; to be run in one transaction."""
        roles.require_server(self._database)
        with self._tables.reading() as connection:
            return roles.script(connection)

    def init_roles(self) -> Roles:
        """Make ggn_reader, ggn_author and ggn_admin on a Postgres server, or bring them to this program's version."""
        roles.require_server(self._database)
        with self._tables.writing() as connection:
            roles.initialise(connection)
            return roles.find_roles(connection)


@dataclass(frozen=True, slots=True)
class _How:
    """How documents are to be loaded: what `load_all` was given."""

    name: str | None = None
    dialect: Dialect | None = None
    message: str | None = None
    author: str | None = None
    base: str | None = None
    merge: bool = False
    progress: Callable[[int], None] | None = None
    accept_changes: bool = False

    @property
    def single(self) -> str | None:
        """Why it can only be one document."""
        if self.name is not None:
            return "--name names one ruleset"
        return None if self.base is None else "--base is what one document is based on"


def ruleset(data: Mapping[str, Any] | str | bytes, dialect: Dialect | None = None) -> Ruleset:
    """A ruleset from a document or a game description (decoded JSON, or its text), in a private store in memory.

    The store lives as long as the result. Raises DocumentError with every problem.
    """
    document = incoming.parse(data, dialect)
    store = Store.open(_MEMORY)
    store.load(document, PRIVATE_NAME)
    return store.ruleset(PRIVATE_NAME)


def read_one(
    document: Document | Definition | Mapping[str, Any] | str | os.PathLike[str],
    name: str | None,
    dialect: Dialect | None,
) -> tuple[Document | Definition, str]:
    """The one document or definition that is given, perhaps as decoded JSON or a file, and its name."""
    if isinstance(document, str | os.PathLike):
        [file, *others] = files.find_files([document])
        entries = list(islice(incoming.read(file), 2))
        if others or len(entries) != 1:
            raise InputError(f"{os.fspath(document)}: this is not one document: use load_all")
        name = entries[0].name if name is None else name
        document = _content(entries.pop(), dialect)
    elif isinstance(document, Mapping):
        document = incoming.parse(document, dialect)
    if name is None:
        raise InputError("a document needs a name: give it with name=...")
    return document, name


def prepare(content: Document | Ready) -> None:
    """Read the definition that came with a document, and work its digest out: all before a lock is taken."""
    if content.envelope.definition is not None and content.dialect == "gdl":
        from ggn_store.gdl.check import read_specification

        read_specification(content.envelope.definition, "the game description beside it")
    elif content.envelope.definition is not None:
        from ggn_store.api import games

        games.read_definition(content.envelope.definition, "the definition beside it")
    content.digest  # noqa: B018  (which is kept)


def _require_base(base: str | None, merge: bool) -> None:
    if merge and base is None:
        raise InputError("a merge needs to know what the document is based on: give base=...")


def _in_memory(content: Document | Ready | Definition) -> Document | None:
    """The whole document; None where only its rows are left."""
    if isinstance(content, Document | Ready):
        return content if isinstance(content, Document) else None
    from ggn_store.api import games

    return games.generate(content)


def _content(entry: incoming.Entry | GameEntry, dialect: Dialect | None) -> Document | Definition:
    """The document that is to be loaded, or the definition that is to be generated on the way."""
    return entry.read(dialect) if isinstance(entry, incoming.Entry) else entry.definition(dialect)
