"""Documents in: read, perhaps generated or merged, and stored as revisions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ggn_store.api import ahead, authors, garbage, gates, incoming, merging
from ggn_store.api.base import Section
from ggn_store.documents import files
from ggn_store.errors import GgnStoreError, HeadMovedError, InputError
from ggn_store.model.document import Dialect, Document, Piece
from ggn_store.model.revision import Revision, check_name
from ggn_store.store.rulesets import catalog, load
from ggn_store.store.rulesets.load import Gate, Ready

if TYPE_CHECKING:
    from ggn_store.api.games import GameEntry
    from ggn_store.games.rules import Definition


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of one document of a run: a revision, or the error that kept it out."""

    file: str
    name: str | None
    revision: Revision | None = None
    error: GgnStoreError | None = None
    possibilities: int = 0
    conditions: int = 0


class Loading(Section):
    """Documents loaded: one, or many in a run."""

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
            return self._append(content, name, message, author, tell, catalog.UNSTATED, gate)
        with self._tables.reading() as connection:
            basis = catalog.base(connection, name, base)
        try:
            return self._append(content, name, message, author, tell, basis, gate)
        except HeadMovedError:
            document = _in_memory(content)
            if document is None or isinstance(basis, catalog.Unstated):
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
        base: catalog.Base,
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
        return self._load_files(files.find_files(sources, named_apart=True), how, processes)

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

    def load_library(self, *names: str, message: str | None = None, author: str | None = None) -> list[Revision]:
        """Load games that come with the package: some by name, `all`, `examples`, `gdl`; a few well-known ones if none.

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


def read_one(
    document: Document | Definition | Mapping[str, Any] | str | os.PathLike[str],
    name: str | None,
    dialect: Dialect | None,
) -> tuple[Document | Definition, str]:
    """The one document or definition that is given (as a file, or as decoded JSON), and its name."""
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
