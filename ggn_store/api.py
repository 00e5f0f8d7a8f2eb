"""The Python face: stores and rulesets."""

from __future__ import annotations

import builtins
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from ggn_store import resources
from ggn_store.documents import files, ggn
from ggn_store.errors import GgnStoreError, InputError, MoveError, PositionError, UnknownNameError, printable, quote
from ggn_store.model import document as documents
from ggn_store.model.board import Board
from ggn_store.model.document import Dialect, Document
from ggn_store.model.move import DISPLACEMENT, Assumption, Move, displacement
from ggn_store.model.position import SIDES, Position
from ggn_store.model.revision import Revision, Summary, check_name
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store import check, engine, load, moves, rulesets, versions
from ggn_store.store.moves import Question

PRIVATE_NAME: Final = "ruleset"
_MEMORY: Final = "sqlite://"
_OFFERED: Final = 8


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of one entry of a run: a revision, or the error that kept it out."""

    file: str
    name: str | None
    revision: Revision | None = None
    error: GgnStoreError | None = None


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

    @classmethod
    def open(cls, address: str, *, upgrade: bool = False) -> Store:
        """The store at `address`: `sqlite:///file.db`, a file's name, or `postgresql://user@host/database`.

        A new SQLite file is made ready by itself, a Postgres database only with `upgrade`. Raises
        StoreVersionError, with the cure, for a store whose tables are missing, behind or ahead.
        """
        store = cls.at(address)
        try:
            if upgrade or store._is_new_file():
                store.upgrade()
            with store._database.reading() as connection:
                versions.require_current(store._database, connection)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def at(cls, address: str) -> Store:
        """The store at `address` as it is, whatever the version of its tables: for `upgrade` and `info`."""
        return cls(engine.connect(address))

    def _is_new_file(self) -> bool:
        database = self._database
        if not isinstance(database, engine.SQLite):
            return False
        if database.path is not None and database.path.exists() and database.path.stat().st_size > 0:
            return False
        if database.path is not None and not database.path.parent.is_dir():
            raise GgnStoreError(f"{database}: there is no directory {database.path.parent}: make it first")
        return True

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
        with self._database.reading() as connection:
            found, needed = versions.version(connection), versions.known_versions()[-1]
            count = len(rulesets.newest(connection)) if found == needed else None
            return Info(str(self._database), self._database.version(connection), found, needed, count)

    def check(self, progress: Callable[[str], None] | None = None) -> builtins.list[str]:
        """Derive every digest again from the rows; what differs, one sentence each."""
        with self._database.reading() as connection:
            versions.require_current(self._database, connection)
            return check.check(self._database, connection, progress)

    # --- documents in ---

    def load(
        self,
        document: Document | Mapping[str, Any] | str | os.PathLike[str],
        name: str | None = None,
        *,
        dialect: Dialect | None = None,
        message: str | None = None,
        author: str | None = None,
    ) -> Revision:
        """Load a document, decoded JSON or a file as the next revision of the ruleset `name`.

        The name of a file is the default. Content that is equal to the newest revision's makes no new one; the
        result's `status` says so. Raises DocumentError with every problem, and stores nothing then.
        """
        if isinstance(document, Document):
            value = document
        elif isinstance(document, Mapping):
            value = ggn.parse(document, dialect)
        else:
            [file, *others] = files.expand([document])
            entries = list(files.read(file))
            if others or len(entries) != 1:
                raise InputError(f"{os.fspath(document)}: this is not one document: use load_all")
            name = name or entries[0].name
            value = entries[0].read(dialect)
        if name is None:
            raise InputError("a document needs a name: give it with name=...")
        with self._database.writing() as connection:
            return load.load(
                self._database, connection, value, check_name(name), author=author or _author(), message=message
            )

    def load_all(
        self,
        sources: Iterable[str | os.PathLike[str]],
        *,
        name: str | None = None,
        dialect: Dialect | None = None,
        message: str | None = None,
        author: str | None = None,
    ) -> Iterator[Loaded]:
        """Load files, directories, globs, NDJSON streams or `-`, one transaction a document, and tell of each.

        `name` is for a single document. Raises InputError before anything is loaded where a source is not there.
        """
        found = files.expand(sources)
        if name is not None:
            check_name(name)
            if len(found) > 1:
                raise InputError(f"--name names one ruleset, and there are {len(found)} files: load them without it")
        return self._load_files(found, name, dialect, message, author)

    def load_library(self, *names: str, message: str | None = None) -> builtins.list[Revision]:
        """Load what comes with the package: the named rulesets, or all of it."""
        return [self.load(Path(file.path), file.name, message=message) for file in library_files(names)]

    def _load_files(
        self,
        found: Sequence[files.File],
        name: str | None,
        dialect: Dialect | None,
        message: str | None,
        author: str | None,
    ) -> Iterator[Loaded]:
        for file in found:
            count = 0
            try:
                for entry in files.read(file):
                    count += 1
                    yield self._load_entry(entry, name if count == 1 else None, dialect, message, author)
            except InputError as error:
                yield Loaded(str(file), name or file.name, error=error)

    def _load_entry(
        self, entry: files.Entry, name: str | None, dialect: Dialect | None, message: str | None, author: str | None
    ) -> Loaded:
        name = name or entry.name
        try:
            document = entry.read(dialect)
            if name is None:
                raise InputError(f"{entry.file}: the document needs a name: give it with --name")
            revision = self.load(document, name, message=message, author=author)
        except GgnStoreError as error:
            return Loaded(entry.file, name, error=error)
        return Loaded(entry.file, name, revision)

    # --- rulesets ---

    def ruleset(self, reference: str) -> Ruleset:
        """The ruleset `chess` in its newest revision, or `chess@3`; raises UnknownNameError (a KeyError)."""
        with self._database.reading() as connection:
            return Ruleset(self._database, rulesets.find(connection, reference))

    def delete(self, name: str) -> int:
        """Hide a ruleset, and return how many revisions it keeps; loading it again brings it back."""
        if "@" in name:
            raise UnknownNameError(f"{quote(name)}: revisions are kept for good; name a ruleset to delete")
        with self._database.writing() as connection:
            return rulesets.delete(connection, name)

    def list(self) -> tuple[Summary, ...]:
        """The newest revision of every ruleset by name, with the number of pieces, possibilities, ..."""
        with self._database.reading() as connection:
            return tuple(rulesets.summary(connection, revision) for revision in rulesets.newest(connection))


class Ruleset:
    """A revision of a ruleset in a store. Only the database answers questions."""

    def __init__(self, database: engine.Database, revision: Revision) -> None:
        self._database = database
        self.revision = revision

    def __repr__(self) -> str:
        return f"Ruleset({str(self.revision)!r}, {str(self._database)!r})"

    @property
    def name(self) -> str:
        """The name of the ruleset, without the revision."""
        return self.revision.name

    @property
    def dialect(self) -> Dialect:
        """The dialect of the document that was loaded."""
        return self.revision.dialect

    @functools.cached_property
    def board(self) -> Board:
        """The squares that the rules speak about."""
        with self._database.reading() as connection:
            return rulesets.read_board(connection, self.revision.board_id)

    @functools.cached_property
    def pieces(self) -> tuple[str, ...]:
        """The piece identifiers that have rules, in document order."""
        return tuple(row["piece"] for row in self.piece_summaries())

    def piece_summaries(self) -> list[dict[str, Any]]:
        """For each piece in document order: identifier, side, how many sources and possibilities, digest, ..."""
        with self._database.reading() as connection:
            return rulesets.piece_summaries(connection, self.revision)

    def summary(self) -> Summary:
        """The revision with how much is in it."""
        with self._database.reading() as connection:
            return rulesets.summary(connection, self.revision)

    @property
    def start(self) -> Position | None:
        """The start position, if one was given with the document."""
        return None if self.revision.envelope.start is None else Position.from_feen(self.revision.envelope.start)

    # --- documents out ---

    def document(self) -> Document:
        """The document, read back from the rows."""
        with self._database.reading() as connection:
            pieces = tuple(rulesets.read_pieces(connection, self.revision, self.board))
        return Document(self.dialect, pieces, self.revision.envelope)

    def export(self) -> str:
        """The document that was loaded, in canonical form."""
        return "".join(self.export_parts())

    def export_parts(self) -> Iterator[str]:
        """The canonical text in parts, one piece in memory at a time."""
        board = self.board
        with self._database.reading() as connection:
            pieces = rulesets.read_pieces(connection, self.revision, board)
            yield from documents.canonical_text(self.dialect, self.revision.envelope.schema, pieces)

    # --- moves ---

    def select(self, piece: str) -> SelectedPiece:
        """The rules of one piece; raises UnknownNameError (a KeyError) where the ruleset has none for it."""
        if piece not in self.pieces:
            raise UnknownNameError(f"{self.revision} has no rules for {quote(piece)}; it has {_offer(self.pieces)}")
        return SelectedPiece(self, piece)

    def moves(
        self,
        position: Position | Mapping[str, str | None],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        assume: Assumption | None = None,
    ) -> list[Move]:
        """The moves of the side to move, in document order; all of them, or of one piece, source, destination.

        `assume="displacement"` fills in the effects that a `must-deny` document leaves open. Raises
        UnknownNameError for a piece without rules or a square that is not on the board.
        """
        return self.moves_batch([position], piece=piece, source=source, destination=destination, assume=assume)[0]

    def moves_batch(
        self,
        positions: Iterable[Position | Mapping[str, str | None]],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        assume: Assumption | None = None,
    ) -> list[list[Move]]:
        """The moves of each of many positions, asked in one statement; otherwise like `moves`."""
        if piece is not None:
            self.select(piece)
        for square in (source, destination):
            self._require_square(square)
        return self._ask(positions, Question(piece, source, destination), assume)

    def explain(
        self,
        positions: Sequence[Position],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
    ) -> tuple[str, list[str]]:
        """The SQL that answers `moves`, and the database's plan for it, line by line."""
        question = Question(piece, source, destination)
        board = self.board
        with self._database.reading() as connection:
            return moves.explain(self._database, connection, self.revision, board, positions, question)

    def apply(
        self, position: Position | Mapping[str, str | None], move: Move, *, assume: Assumption | None = None
    ) -> Position:
        """The position after `move`, which is one of `moves(position)`; its effects are applied as written.

        A move of a `must-deny` document has no effects: `assume="displacement"` says that plain displacement is
        meant. Raises MoveError where the piece is not on its source, and where there are no effects.
        """
        position = _position(position)
        effects = move.effects
        if effects is None:
            if assume != DISPLACEMENT:
                raise MoveError(
                    f"{self.revision} is a must-deny document and does not say what a move changes; "
                    f"to mean plain displacement, say assume={DISPLACEMENT!r} (--assume {DISPLACEMENT})"
                )
            effects = displacement(move.piece, move.source, move.destination)
        if move.source != HAND and position.board.get(move.source) != move.piece:
            raise MoveError(f"there is no {move.piece} on {move.source} in this position")
        if move.source == HAND and position.hands is not None and not position.hands.get(move.piece):
            raise MoveError(f"there is no {move.piece} in the hand in this position")
        return position.after(effects)

    # --- inside ---

    def _ask(
        self,
        positions: Iterable[Position | Mapping[str, str | None]],
        question: Question,
        assume: Assumption | None,
    ) -> list[list[Move]]:
        if assume not in (None, DISPLACEMENT):
            raise MoveError(f"{quote(assume)} is not an assumption; there is {DISPLACEMENT!r} only")
        asked = [self._on_board(_position(position)) for position in positions]
        board = self.board
        with self._database.reading() as connection:
            return moves.moves(self._database, connection, self.revision, board, asked, question, assume)

    def _on_board(self, position: Position) -> Position:
        """`position`, if it fits the board; a board that was not declared is only a guess, and all fits."""
        if self.revision.envelope.board is not None:
            outside = sorted(set(position.board) - set(self.board.squares))
            if outside:
                raise PositionError(
                    f"{_offer(outside)}: not on the board of {self.revision}, which is {self.board.shape_text}"
                )
        return position

    def _require_square(self, square: str | None) -> None:
        if square not in (None, HAND) and square not in self.board.numbers:
            raise UnknownNameError(
                f"{self.revision} has no square {quote(square)}; its board is "
                f"{self.board.shape_text or _offer(self.board.squares)}"
            )


@dataclass(frozen=True, slots=True)
class SelectedPiece:
    """The rules of one piece: the first step of `ruleset.select("C:P").from_("e2").to("e4").where(position)`."""

    ruleset: Ruleset
    piece: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The squares (or `*`, the hand) that the piece has rules from, in document order."""
        with self.ruleset._database.reading() as connection:
            return rulesets.sources(connection, self.ruleset.revision, self.piece)

    def from_(self, source: str) -> SelectedSource:
        """The rules from one source; raises UnknownNameError (a KeyError) where there are none."""
        sources = self.sources
        if source not in sources:
            raise UnknownNameError(f"{self.piece} has no rules from {quote(source)}; it has {_offer(sources)}")
        return SelectedSource(self.ruleset, self.piece, source)


@dataclass(frozen=True, slots=True)
class SelectedSource:
    """The rules of one piece from one source."""

    ruleset: Ruleset
    piece: str
    source: str

    @property
    def destinations(self) -> tuple[str, ...]:
        """The squares (or `*`, the hand) that the rules lead to, in document order."""
        with self.ruleset._database.reading() as connection:
            return rulesets.destinations(connection, self.ruleset.revision, self.piece, self.source)

    def to(self, destination: str) -> SelectedDestination:
        """The rules to one destination; raises UnknownNameError (a KeyError) where there are none."""
        destinations = self.destinations
        if destination not in destinations:
            raise UnknownNameError(
                f"{self.piece} has no rules from {self.source} to {quote(destination)}; it has {_offer(destinations)}"
            )
        return SelectedDestination(self.ruleset, self.piece, self.source, destination)


@dataclass(frozen=True, slots=True)
class SelectedDestination:
    """The possibilities of one piece from one source to one destination."""

    ruleset: Ruleset
    piece: str
    source: str
    destination: str

    def where(
        self,
        position: Position | Mapping[str, str | None],
        *,
        side: Side | None = None,
        hands: Mapping[str, int] | None = None,
        assume: Assumption | None = None,
    ) -> list[Move]:
        """The possibilities that hold in a position, in document order.

        The active side, which `enemy` is seen from, is `side`, else the piece's own; whose turn it is in the
        position does not matter. `hands` goes with a position that is a plain mapping of squares.
        """
        if side is not None and side not in SIDES:
            raise PositionError(f"{quote(side)} is not a side: first or second")
        asked = _position(position) if hands is None else replace(_position(position), hands=hands)
        question = Question(self.piece, self.source, self.destination, side=side or side_of(self.piece), any_side=True)
        return self.ruleset._ask([asked], question, assume)[0]


def ruleset(data: Mapping[str, Any] | str | bytes, dialect: Dialect | None = None) -> Ruleset:
    """A ruleset from a document (decoded JSON, or its text), in a private store in memory.

    The store lives as long as the result. Raises DocumentError with every problem.
    """
    document = ggn.parse(data, dialect)
    store = Store.open(_MEMORY)
    store.load(document, PRIVATE_NAME)
    return store.ruleset(PRIVATE_NAME)


def library_files(names: Iterable[str] = ()) -> list[files.File]:
    """The documents that come with the package: the named ones, or all; raises UnknownNameError."""
    found = {str(file.name): file for file in files.expand([resources.directory("data")])}
    wanted = list(names) or list(found)
    for name in wanted:
        if name not in found:
            raise UnknownNameError(f"the library has no {quote(name)}; it has {_offer(list(found))}")
    return [found[name] for name in wanted]


def _position(position: Position | Mapping[str, str | None]) -> Position:
    return position if isinstance(position, Position) else Position(position)


def _offer(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:_OFFERED]))
    return shown + (f" and {len(names) - _OFFERED} more" if len(names) > _OFFERED else "")


def _author() -> str | None:
    return os.environ.get("GGN_AUTHOR") or None
