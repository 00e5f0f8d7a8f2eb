"""Stores: documents in, rulesets out."""

from __future__ import annotations

import builtins
import functools
import importlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Unpack

from ggn_store.api.handle import AnyPosition
from ggn_store.api.ruleset import Ruleset
from ggn_store.api.session import opening, references
from ggn_store.api.session.attributes import hinting
from ggn_store.api.session.opening import Address
from ggn_store.errors import QueryError, UnknownNameError, quote
from ggn_store.model.teams.revision import Revision, Summary, check_name
from ggn_store.model.teams.selection import check_number
from ggn_store.store.database import session as sessions
from ggn_store.store.database.session import Session
from ggn_store.store.rulesets import catalog

if TYPE_CHECKING:
    from ggn_store.api.loading.loading import Content, Loaded, LoadSource
    from ggn_store.api.loading.wishes import LoadOptions
    from ggn_store.api.questions.analysis import StoreAnalysis
    from ggn_store.api.questions.sql import Table
    from ggn_store.api.questions.views import Views
    from ggn_store.api.server import Server
    from ggn_store.api.teams.exchange import Exchange
    from ggn_store.api.teams.history import History
    from ggn_store.api.teams.policies import Policies
    from ggn_store.api.teams.reviews import Reviews
    from ggn_store.api.teams.states import States
    from ggn_store.api.teams.tags import Tags
    from ggn_store.api.upkeep import Upkeep
    from ggn_store.model.bounds import SqlOptions
    from ggn_store.store.sql.processes import Processes


@dataclass(frozen=True, slots=True)
class Info:
    """What `db info` says of a store; `version` and `needed` are of its tables.

    `columns` is where its columnar copy is, and `columns_bytes` how large that is; None where there is none.
    """

    address: str
    engine: str
    version: str | None
    needed: str
    rulesets: int | None
    columns: str | None = None
    columns_bytes: int | None = None


def _part(room: str, kind: str, about: str) -> Any:
    """A part of a store: a value of a class of a room, made of the store's session when it is first asked for."""

    def part(store: Store) -> Any:
        return getattr(importlib.import_module(f"ggn_store.api.{room}"), kind)(store.session)

    part.__doc__ = about
    return functools.cached_property(part)


class Store:
    """A store of rulesets in a SQLite file, in memory or in a Postgres database: open one with `Store.open`.

    Safe to use from several threads. Every method, and every method of its parts (`history`, `tags`, `states`,
    `policies`, `reviews`, `exchange`, `views`, `upkeep`, `server`), raises StoreError where the database refuses, and
    then nothing was changed.
    """

    def __init__(self, session: Session) -> None:
        if not isinstance(session, Session):
            raise TypeError(f"Store() takes no address: call Store.open({session!r})")
        self.session = session
        self._has_made_it = False

    @classmethod
    def open(cls, address: Address, *, upgrade: bool = False, create: bool = True) -> Store:
        """The store at `address`: `sqlite:///file.db`, a file's name or Path, or `postgresql://user@host/database`.

        A new SQLite file is made ready by itself, a Postgres database only by `upgrade` (here, or as a method of the
        result); with `create=False` no file is made. Raises StoreError where the address leads nowhere; a store whose
        tables are missing, behind or ahead raises StoreVersionError, with the cure, when it is used.
        """
        store = cls.at(address)
        database = store.session.database
        try:
            if not create:
                opening.require_file(database)
            opening.require_directory(database)
            if upgrade or opening.is_new(database):
                store.upgrade()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def at(cls, address: Address) -> Store:
        """The store at `address`, without connecting yet: for `upgrade` and `info`."""
        return cls(opening.at(address))

    def close(self) -> None:
        """Give the connections back; a store in memory is gone then."""
        if "_processes" in vars(self):
            self._processes.close()
        self.session.database.close()

    def discard(self) -> None:
        """Close the store, and remove its file where this has made it and nothing was stored in it."""
        from ggn_store.store.schema import tables

        self.close()
        if self._has_made_it:
            self.session.database.discard(tables.metadata.tables)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if isinstance(error, (AttributeError, TypeError)):  # of a value that went out as it was read
                self.session.database.blame(error)
        finally:
            self.close()

    if not TYPE_CHECKING:  # to which it would mean that there is any attribute
        __getattr__ = hinting({"get": "ruleset", "query": "sql"}, {"ruleset(...)": Ruleset})

    def __repr__(self) -> str:
        return f"Store({str(self.session.database)!r})"

    @contextmanager
    def as_user(self, name: str) -> Iterator[Store]:
        """The store through connections of a user's own, whom a Postgres server then knows as who does something.

        libpq finds the user's password, or the server knows this program by a certificate or the user of its process.
        A SQLite file knows no users: it is the same store. Raises GateError where nobody gets in so, and for superusers
        and owners of the tables.
        """
        database = self.session.database.as_user(name)
        if database is self.session.database:
            yield self
            return
        with Store(Session(database)) as found:
            yield found

    def upgrade(self, tell: Callable[[str], None] | None = None) -> tuple[str | None, str]:
        """Bring the tables to this program's version; the versions before (None: no tables) and after.

        Triggers, functions and views that are not as this program makes them are made again, and what others have hung
        on the tables is taken away; `tell` gets a sentence for each.
        """
        from ggn_store.store.upkeep import upgrade

        made = self.session.database.create(upgrade.upgrade)
        self._has_made_it = made is not None
        return made or upgrade.upgrade(self.session.database, tell)

    def info(self) -> Info:
        """Where the store is, what runs it, and of which version its tables are."""
        database = self.session.database
        needed = sessions.known_versions()[-1]
        if opening.is_new_file(database):  # to connect would make the file
            return Info(str(database), f"SQLite {sqlite3.sqlite_version}", None, needed, None)
        with database.reading() as connection:
            found = sessions.version(connection)
            count = len(catalog.newest(connection)) if found == needed else None
            from ggn_store.columnar import copy

            kept = copy.found(database) or (None, None)
            return Info(str(database), database.version(connection), found, needed, count, *kept)

    @property
    def has_columns(self) -> bool:
        """Whether a columnar copy of the store is kept, which `sql` asks with the engine "duckdb"."""
        from ggn_store.columnar import copy

        return copy.found(self.session.database) is not None

    # --- rulesets ---

    def load(self, document: Content, name: str | None = None, **options: Unpack[LoadOptions]) -> Revision:
        """Load a document, a definition, decoded JSON or a file as the next revision of the ruleset `name`.

        The name of a file is the default. Content that is equal to the newest revision's makes no new one; the
        result's `status` says so. What a definition says is generated on the way, with one piece in memory at a time.
        See `LoadOptions` for the keywords: dialect, message, author, base, merge, accept_changes.
        Raises DocumentError with every problem, and GateError where the policy of the ruleset refuses it. Raises
        HeadMovedError (a ConflictError) where the ruleset has moved on from `base` and there is no merge: because none
        was asked for, or both sides changed the same entry; its `merge` lists all changes. Nothing is stored then.
        """
        from ggn_store.api.loading import loading, wishes

        return loading.load_one(self.session, document, wishes.LoadWishes(name=name, **options))

    def load_all(
        self,
        sources: Iterable[LoadSource],
        *,
        name: str | None = None,
        progress: Callable[[int], None] | None = None,
        processes: int = 0,
        **options: Unpack[LoadOptions],
    ) -> Iterator[Loaded]:
        """Load documents, one transaction each; yields a revision or an error for each.

        Sources are files, directories, glob patterns, NDJSON streams, `-`; see `find_files`. `name` and `base` are for
        a single document. `progress` is called for each generated piece with its number of possibilities. So many
        other `processes` read documents ahead where there are enough of them; it changes nothing else. Raises
        InputError before anything is loaded where a source is not there.
        """
        from ggn_store.api.loading import loading, wishes

        return loading.load_all(
            self.session, sources, wishes.LoadWishes(name=name, progress=progress, **options), processes
        )

    def load_library(
        self, *names: str, message: str | None = None, author: str | None = None
    ) -> builtins.list[Revision]:
        """Load games that come with the package: some by name, `all`, `examples`, `gdl`; a few well-known ones if none.

        See `ggn_store.games.library` for what there is.
        """
        from ggn_store.api.loading import loading, wishes

        return loading.load_library(self.session, names, wishes.LoadWishes(message=message, author=author))

    def ruleset(self, reference: str) -> Ruleset:
        """The ruleset `chess` in its newest revision, `chess@3`, or what the proposal `chess#4` makes of it.

        Raises UnknownNameError (a KeyError).
        """
        return Ruleset(*references.find(self.session, reference))

    def delete(self, name: str) -> int:
        """Hide a ruleset, and return how many revisions it keeps; loading it again brings it back."""
        if "@" in name:
            raise UnknownNameError(f"{quote(name)}: revisions are kept for good; name a ruleset to delete")
        with self.session.writing() as connection:
            return catalog.delete(connection, name)

    def rename(self, old: str, new: str, *, author: str | None = None, message: str | None = None) -> Revision:
        """Give a ruleset another name, with all its history; commands that name the old one report the new one.

        A policy of this ruleset alone goes with it; otherwise the same policy must count for both names. Raises
        ConflictError where the new name is taken.
        """
        from ggn_store.api.teams.renames import rename

        return rename(self.session, old, new, author, message)

    def revisions(self) -> tuple[Revision, ...]:
        """The newest revision of every ruleset, by name."""
        with self.session.reading() as connection:
            return tuple(catalog.newest(connection))

    def list(self, *rulesets: str, after: str | None = None, limit: int | None = None) -> tuple[Summary, ...]:
        """The newest revision of every ruleset by name, with the number of pieces, possibilities, ...

        Or of those that names, namespaces (`team/`) and globs mean; see `ggn_store.model.teams.selection`. With `limit`
        no more than so many, the first ones `after` a name. Raises UnknownNameError where one of these means none.
        """
        from ggn_store.store.history import tags

        with self.session.reading() as connection:
            wanted = {*catalog.selected(connection, rulesets)}
            if after is not None or check_number(limit) is not None:
                wanted = {*catalog.names_after(connection, wanted, after, limit)}
                if not wanted:
                    return ()
            found = {each.revision.name: each for each in catalog.newest_summaries(connection, wanted)}
            for name in wanted - found.keys():
                catalog.find(connection, check_name(name))  # which says what there is instead
            tagged = tags.pointing(connection)
        return tuple(
            replace(each, tags=tagged.get(name, {})) for name, each in found.items() if not wanted or name in wanted
        )

    # --- questions ---

    def analysis(self, tell: Callable[[str], None] | None = None) -> StoreAnalysis:
        """Questions about several rulesets at once; `tell` gets the SQL that runs."""
        from ggn_store.api.questions.analysis import StoreAnalysis

        return StoreAnalysis(self.session, tell)

    def sql(
        self,
        query: str,
        values: Mapping[str, Any] | None = None,
        *,
        ruleset: str | Ruleset | None = None,
        positions: Iterable[AnyPosition] | None = None,
        engine: Literal["store", "duckdb"] = "store",
        ahead: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
        **bounds: Unpack[SqlOptions],
    ) -> Table:
        """The answer to one SELECT on the views and tables; `values` are those of its `:names`.

        With a `ruleset` it may also ask the views `positions`, `moves` and `legal_moves`, of the ruleset's start
        position or of other `positions`. Nothing but reading is allowed. Raises QueryError where the query is wrong,
        does more than read, or takes more than `timeout` seconds (5), `memory` MiB (256), or `disk` MiB of temporary
        results (1,024); an answer of more than `limit` rows is cut, and says so. A process of its own asks the
        database; nobody who writes to a SQLite file waits for it: the query then begins anew on a private copy.

        With the `engine` "duckdb" it asks the views only, of a columnar copy of the store, which is made or brought up
        to date before; that takes longer where much is new, and is not part of the timeout. `progress` is told what is
        copied, how many pieces are done, and of how many.

        Each question has a process of its own. With `ahead` one is started for the next question, too, and waits for
        it until the store is closed: so a server need not wait for the start of one.
        """
        from ggn_store.api.moves.position_views import PositionViews
        from ggn_store.api.questions.sql import Table
        from ggn_store.model.bounds import SqlBounds
        from ggn_store.store.sql import queries

        if not isinstance(query, str):
            raise QueryError(f"{quote(query)} is not a query: one SELECT as a text")
        if ruleset is None and positions is not None:
            raise QueryError("positions are of a ruleset: name it, too")
        most = SqlBounds(**bounds)
        found = ruleset if ruleset is None or isinstance(ruleset, Ruleset) else self.ruleset(ruleset)
        given = None if found is None else PositionViews(self.session, found.handle, positions).given
        asker = queries.QueryAsker(self.session.database, self._processes, ahead)
        asked = asker, query, {} if values is None else values, most, given
        if engine == "store":
            return Table(*queries.ask(*asked))
        if engine != "duckdb":
            raise QueryError(f"{quote(engine)} is not an engine: store, duckdb")
        from ggn_store.columnar import copy

        with copy.ready(self.session, progress) as files:
            return Table(*queries.ask(*asked, copy.asking(files, self.session.database.is_server)))

    @functools.cached_property
    def _processes(self) -> Processes:
        from ggn_store.store.sql.processes import Processes

        return Processes()

    # --- parts, each imported when it is first used ---

    history: History = _part("teams.history", "History", "What became of rulesets: log, diff, blame, restore.")
    tags: Tags = _part("teams.tags", "Tags", "Names that point to revisions.")
    states: States = _part("teams.states", "States", "Whether rulesets are active, deprecated or retired.")
    policies: Policies = _part("teams.policies", "Policies", "What revisions of a namespace must be like.")
    reviews: Reviews = _part("teams.reviews", "Reviews", "Changes that are proposed, approved, rejected.")
    exchange: Exchange = _part("teams.exchange", "Exchange", "Push, pull and compare with other stores; bundles.")
    views: Views = _part("questions.views", "Views", "The views as rows, tables and files.")
    upkeep: Upkeep = _part("upkeep", "Upkeep", "Verification, garbage collection, audit.")
    server: Server = _part("server", "Server", "The roles of a Postgres server.")
