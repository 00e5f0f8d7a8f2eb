"""Documents in: read, perhaps generated or merged, and stored as revisions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ggn_store import collector
from ggn_store.api.loading import ahead, conflicts, gates, incoming, merging
from ggn_store.api.loading.wishes import LoadWishes
from ggn_store.api.session import authors
from ggn_store.documents import files
from ggn_store.errors import GgnStoreError, HeadMovedError, InputError, NotationError, quote
from ggn_store.model.documents.document import Dialect, Document, Envelope, Piece, revision_digest
from ggn_store.model.moves import play_text
from ggn_store.model.teams.revision import Revision, check_name
from ggn_store.model.teams.transfer import TransferOutcome, Transferred
from ggn_store.store.database.session import Session
from ggn_store.store.rulesets import catalog, load
from ggn_store.store.rulesets.load import Ready

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition

    Content = Document | Definition | Mapping[str, Any] | str | os.PathLike[str]
    LoadSource = str | os.PathLike[str] | files.File


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of one document of a run: a revision, or the error that kept it out."""

    file: str
    name: str | None
    revision: Revision | None = None
    error: GgnStoreError | None = None
    possibilities: int = 0
    conditions: int = 0


@dataclass(slots=True)
class _Counts:
    """How much was generated, for whoever wants to know at the end or meanwhile."""

    progress: Callable[[int], None] | None = None
    possibilities: int = 0
    conditions: int = 0

    def add(self, piece: Piece) -> None:
        self.possibilities += piece.possibilities
        self.conditions += piece.conditions
        if self.progress is not None:
            self.progress(piece.possibilities)


def load_one(session: Session, document: Content, wishes: LoadWishes) -> Revision:
    """What `Store.load` does."""
    with collector.held_off():
        content, name = read_one(document, wishes.name, wishes.dialect)
        return _Loader(session, wishes).store(content, name, _Counts())


def load_all(session: Session, sources: Iterable[LoadSource], wishes: LoadWishes, processes: int) -> Iterator[Loaded]:
    """What `Store.load_all` does."""
    found = files.find_files(sources, named_apart=True)
    return _Loader(session, wishes).run(found, processes)


def load_resolved(session: Session, made: conflicts.Resolved, wishes: LoadWishes) -> Transferred:
    """Store what people made of a load that was in conflict, unless the head has moved since."""
    heading = made.heading
    author = authors.signed(session.database, wishes.author, wishes.message)
    document = prepare(made.document)
    with session.writing() as connection:
        head = catalog.find(connection, heading.to)
        if head.lineage != heading.theirs:
            raise HeadMovedError(
                f"{heading.to} has moved on since the conflicts were written: its newest revision is {head}; nothing "
                "is stored: begin again, with `ggn-store load` and --merge --conflicts FILE"
            )
        basis = None if heading.base is None else catalog.find(connection, f"{head.name}@sha256:{heading.base}")
        told = merging.told(wishes.message, head, basis, made.note)
        change = load.Provenance(author, told, head.lineage, gates.gate(session.database, wishes.accept_changes))
        found = load.load(session.database, connection, document, heading.to, change)
    is_new = found.status == "new"
    status: TransferOutcome = "merged" if is_new else "unchanged"
    return Transferred(
        heading.name, heading.to, status, int(is_new), head=found.number, lineage=found.lineage, note=made.note
    )


def load_library(session: Session, names: Iterable[str], wishes: LoadWishes) -> list[Revision]:
    """What `Store.load_library` does."""
    from ggn_store.api.loading import games

    return [load_one(session, file.path, replace(wishes, name=file.name)) for file in games.library_files(names)]


@dataclass(frozen=True, slots=True)
class _Loader:
    session: Session
    wishes: LoadWishes

    def run(self, found: Sequence[files.File], processes: int) -> Iterator[Loaded]:
        """Load files one after the other; what became of each document."""
        wishes = self.wishes
        if wishes.name is not None:
            check_name(wishes.name)
        if wishes.single and len(found) > 1:
            raise InputError(f"{wishes.single}, and there are {len(found)} files: load them without it")
        # What may have to be merged is needed as a document, and not as rows.
        with ahead.reading(found, wishes.dialect, 0 if wishes.base else processes) as documents:
            for file in found:
                loaded = self._load_ahead(documents, file)
                if loaded is not None:
                    yield loaded
                else:
                    yield from self._load_file(file)

    def _load_ahead(self, documents: ahead.Ahead, file: files.File) -> Loaded | None:
        """What became of a file that another process has read; None where none has."""
        with collector.held_off():
            document = documents.take(file)
            return None if document is None else self._load(document, str(file), self._name(file.name))

    def _load_file(self, file: files.File) -> Iterator[Loaded]:
        count = 0
        try:
            entries = incoming.read(file)
            while True:
                # The document is gone before the collector is back, or it would go through all of it.
                with collector.held_off():
                    entry = next(entries, None)
                    if entry is None:
                        break
                    count += 1
                    if self.wishes.single and count > 1:
                        raise InputError(f"{file}: {self.wishes.single}, and this is a stream of several")
                    loaded = self._load_entry(entry)
                    del entry
                yield loaded
        except InputError as error:
            yield Loaded(str(file), self._name(file.name), error=error)

    def _load_entry(self, entry: incoming.IncomingEntry | incoming.GameEntry) -> Loaded:
        name = self._name(entry.name)
        try:
            return self._load(_content(entry, self.wishes.dialect), entry.file, name)
        except GgnStoreError as error:
            return Loaded(entry.file, name, error=error)

    def _name(self, own: str | None) -> str | None:
        """What is asked for, before the name that a file or an entry has."""
        return own if self.wishes.name is None else self.wishes.name

    def _load(self, content: Document | Ready | Definition, file: str, name: str | None) -> Loaded:
        counts = _Counts(self.wishes.progress)
        try:
            if name is None:
                raise InputError(f"{file}: the document needs a name: give it with --name")
            revision = self.store(content, name, counts)
        except GgnStoreError as error:
            return Loaded(file, name, error=error)
        counted = content if isinstance(content, Document | Ready) else counts
        return Loaded(file, name, revision, None, counted.possibilities, counted.conditions)

    def store(self, content: Document | Ready | Definition, name: str, counts: _Counts) -> Revision:
        """Store a document, or what a definition generates, as the next revision of a ruleset."""
        wishes = self.wishes
        author = authors.signed(self.session.database, wishes.author, wishes.message)
        change = load.Provenance(author, wishes.message, gate=gates.gate(self.session.database, wishes.accept_changes))
        try:
            check_name(name)
        except NotationError as error:
            raise NotationError(f"{error}; give another one with --name (in Python name=...)") from None
        if isinstance(content, Document | Ready):
            content = prepare(content)
        if wishes.base is None:
            return self._append(content, name, change, counts)
        with self.session.reading() as connection:
            base = catalog.base(connection, name, wishes.base)
        try:
            return self._append(content, name, replace(change, base=base), counts)
        except HeadMovedError:
            document = in_memory(content)
            if document is None or isinstance(base, catalog.Unstated):
                raise
            return merging.merge_into(self.session, name, document, base, wishes, change)

    def _append(
        self, content: Document | Ready | Definition, name: str, change: load.Provenance, counts: _Counts
    ) -> Revision:
        document = content if isinstance(content, Document | Ready) else stream(content, counts.add)
        with self.session.writing() as connection:
            return load.load(self.session.database, connection, document, name, change)


def stream(definition: Definition, tell: Callable[[Piece], None] = lambda _: None) -> load.PieceStream:
    """What a definition generates, piece by piece."""
    from ggn_store.api.loading import games
    from ggn_store.games import generate, playing

    pieces = games.some_pieces(definition, tell)
    envelope = playing.envelope(definition)
    return load.PieceStream(generate.dialect(definition), games.board_of(definition), envelope, pieces)


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
    elif not isinstance(document, Document):
        from ggn_store.games.definition import Definition

        if not isinstance(document, Definition):
            raise InputError(f"{quote(document)} is no document: give a file, decoded JSON, or what `parse` has read")
    if name is None:
        raise InputError("a document needs a name: give it with name=...")
    return document, name


def prepare(content: Document | Ready) -> Document | Ready:
    """Read the definition that came with a document, and work its digest out: all before a lock is taken.

    Where nothing else says how the game is played, the definition does. Raises NotationError for what says it wrong.
    """
    play_text.parse(content.envelope.play)
    definition = content.envelope.definition
    if definition is None or (isinstance(content, Document) and content.made_from == definition):
        pass
    elif content.envelope.is_described:
        from ggn_store.gdl.check import read_specification

        said = read_specification(definition, "the game description beside it")
        if said.text != definition:  # it is like another one
            content = _stated(content, replace(content.envelope, definition=said.text))
    else:
        from ggn_store.api.loading import games
        from ggn_store.games import playing

        game = games.read_definition(definition, "the definition beside it")
        stated = content.envelope
        if stated.play is None:
            stated = replace(stated, play=playing.envelope(game).play)
        if game.text != definition.removeprefix("\ufeff"):  # it is like another one
            stated = replace(stated, definition=game.text)
        if stated != content.envelope:
            content = _stated(content, stated)
    content.digest  # noqa: B018  (which is kept)
    return content


def _stated(content: Document | Ready, envelope: Envelope) -> Document | Ready:
    """The same with another envelope."""
    if isinstance(content, Document):
        made = replace(content, envelope=envelope)
        vars(made)["board"] = content.board  # which may have taken long to find
        return made
    digest = revision_digest(content.dialect, content.board, envelope, content.piece_digests)
    return replace(content, envelope=envelope, digest=digest)


def in_memory(content: Document | Ready | Definition) -> Document | None:
    """The whole document; None where only its rows are left."""
    if isinstance(content, Document | Ready):
        return content if isinstance(content, Document) else None
    from ggn_store.games import generate

    return generate.generate(content)


def _content(entry: incoming.IncomingEntry | incoming.GameEntry, dialect: Dialect | None) -> Document | Definition:
    """The document that is to be loaded, or the definition that is to be generated on the way."""
    return entry.read(dialect) if isinstance(entry, incoming.IncomingEntry) else entry.definition(dialect)
