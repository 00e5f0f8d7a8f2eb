"""What is in files, whatever it is: a document, a game description (JSON too), or the definition of a game.

A game description is told by its sections; the room that reads it is only entered for one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ggn_store import limits
from ggn_store.documents import files, ggn
from ggn_store.errors import InputError, Problem, SpecificationError, printable
from ggn_store.model.changes.like import LIKE
from ggn_store.model.documents.document import Dialect, Document, Envelope

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition

# The dialect of the documents of games.
_SECTIONS: Final = frozenset(("entity_schemas", "game_flow", "interactions", "state_schema", "topology"))


def is_specification(value: object) -> bool:
    """Whether decoded JSON is a game description, right or wrong; no document has its sections, or is like another."""
    return isinstance(value, Mapping) and (LIKE in value or not _SECTIONS.isdisjoint(value))


@dataclass(frozen=True, slots=True)
class SpecificationEntry:
    """A game description as it came, not yet checked: what `DocumentEntry` is for a document."""

    file: str
    name: str | None
    data: str | Mapping[str, Any]
    envelope: Envelope = field(default_factory=Envelope)
    problems: tuple[Problem, ...] = ()
    # The folder of the file, for what the description is like.
    beside: Path | None = None
    # The file that the envelope is from.
    stated: str | None = None

    text: None = None

    def read(self, dialect: Dialect | None = None) -> Document:
        """The document that it compiles to; raises SpecificationError with every problem.

        Raises InputError for another `dialect` than `gdl`.
        """
        from ggn_store.api.loading import specifications

        if dialect not in (None, specifications.DIALECT):
            raise InputError(
                f"{printable(self.file)}: a game description compiles to the dialect {specifications.DIALECT}, not "
                f"{dialect}: see `gdl compile --dialect`"
            )
        if self.problems:
            raise SpecificationError(self.problems)
        compiled = specifications.compile_specification(self.data, file=self.file, beside=self.beside)
        return specifications.said(compiled, self.envelope, self.stated or self.file)

    def findings(self) -> list[Problem]:
        """What is suspicious in the description; nothing where it has problems."""
        from ggn_store.gdl.check import check_specification

        return list(check_specification(self.data, self.file, self.beside).findings)


@dataclass(frozen=True, slots=True)
class GameEntry:
    """A definition as it came, not yet checked: what `DocumentEntry` is for a document."""

    file: str
    name: str | None
    data: bytes
    # The folder of the file, for what the definition is like.
    beside: Path | None = None

    text: None = None

    def definition(self, dialect: Dialect | None = None) -> Definition:
        """The game; raises DocumentError with every problem, InputError for another `dialect` than games have."""
        from ggn_store.games import definition, generate

        found = definition.read(self.data, self.file, self.beside)
        own = generate.dialect(found)
        if dialect not in (None, own):
            raise InputError(
                f"{printable(self.file)}: the document of this game is of the dialect {own}, not {dialect}"
            )
        return found

    def read(self, dialect: Dialect | None = None) -> Document:
        """The document of the game, in memory; raises as `definition` does."""
        from ggn_store.games import generate

        return generate.generate(self.definition(dialect))


IncomingEntry = files.DocumentEntry | SpecificationEntry


def _recognised(file: files.File, entry: files.DocumentEntry) -> IncomingEntry:
    if not is_specification(entry.decoded.value):
        return entry
    is_whole = entry.decoded.text is not None and not entry.decoded.path
    data = entry.decoded.text if is_whole else entry.decoded.value
    given: Any = data
    return SpecificationEntry(entry.file, entry.name, given, entry.envelope, entry.problems, file.folder, entry.beside)


def read_game(file: files.File) -> GameEntry:
    """The definition that a file holds; raises InputError where it cannot be read."""
    with files.open_stream(file) as stream:
        return GameEntry(str(file), file.name, stream.read(limits.DEFINITION_BYTES.most + 1), file.folder)


def read_files(found: Iterable[files.File]) -> Iterator[IncomingEntry | GameEntry]:
    """Whatever is in files, one at a time; a file that cannot be read is a document with a problem."""
    for file in found:
        if file.is_definition and os.access(file.path, os.R_OK):
            yield read_game(file)
        else:
            yield from map(partial(_recognised, file), files.read_files([file]))


def read(file: files.File) -> Iterator[IncomingEntry | GameEntry]:
    """The entries of a file, one at a time; raises InputError where it cannot be read at all."""
    if file.is_definition:
        yield read_game(file)
    else:
        # No frame of a generator's keeps a document that is worked on elsewhere.
        yield from map(partial(_recognised, file), files.read(file))


def parse(data: Mapping[str, Any] | str | bytes, dialect: Dialect | None = None) -> Document:
    """The document that text or decoded JSON holds, or that the game description compiles to which it holds.

    Raises DocumentError with every problem.
    """
    decoded = ggn.Decoded.of(data)
    if is_specification(decoded.value):
        return SpecificationEntry("the game description", None, decoded.text or decoded.value).read(dialect)
    return ggn.parse(decoded, dialect)
