"""Files -> documents: single ones, directories, globs, standard input, gzip and NDJSON, one document at a time.

Definitions of games (.toml) are found here too; what they say is for the room of games.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Final, cast

from ggn_store import limits
from ggn_store.documents import beside, ggn
from ggn_store.errors import DocumentError, InputError, Problem, printable, quote
from ggn_store.model.documents.document import Dialect, Document, Envelope
from ggn_store.notation import json_text

STDIN: Final = "-"
_DOCUMENTS: Final = (".json", ".json.gz")
STREAMS: Final = (".ndjson", ".ndjson.gz", ".jsonl", ".jsonl.gz")
_DEFINITION: Final = ".toml"
_PART: Final = 1 << 20
_ENDINGS: Final = (*_DOCUMENTS, *STREAMS, _DEFINITION)


_LINE_KEYS: Final = ("name", "document", *beside.KEYS)


@dataclass(frozen=True, slots=True)
class File:
    """A file to read, or standard input; `name` is the ruleset name that its path suggests."""

    path: str
    name: str | None = None

    def __str__(self) -> str:
        return "standard input" if self.path == STDIN else self.path

    @property
    def folder(self) -> Path | None:
        """The folder that it is in, None for standard input."""
        return None if self.path == STDIN else Path(self.path).parent

    @property
    def is_stream(self) -> bool:
        """Whether it may hold many documents."""
        return self.path == STDIN or self.path.endswith(STREAMS)

    @property
    def is_definition(self) -> bool:
        """Whether it defines a game, and holds no document."""
        return self.path.endswith(_DEFINITION)


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """One document as it came: not yet checked, its name and what was said of it beside it."""

    file: str
    name: str | None
    decoded: ggn.Decoded
    envelope: Envelope = field(default_factory=Envelope)
    problems: tuple[Problem, ...] = ()
    # The file that the envelope is from, where that is another one.
    beside: str | None = None

    def read(self, dialect: Dialect | None = None) -> Document:
        """The document; raises DocumentError with every problem."""
        if self.problems and self.decoded.value is None:
            raise DocumentError(self.problems)
        document, problems = ggn.read(self.decoded, dialect, self.file, self.envelope, beside=self.beside)
        if document is None or self.problems:
            raise DocumentError([*self.problems, *problems])
        return document

    @property
    def text(self) -> str | None:
        """The text that the document came as, where it is the whole of it."""
        return self.decoded.text if not self.decoded.path else None


def find_files(arguments: Iterable[str | os.PathLike[str] | File], *, named_apart: bool = False) -> list[File]:
    """The files that paths, directories (recursively), glob patterns and `-` name, in a fixed order.

    Files of a directory are named by their path in it, all others by their own name. Raises InputError for an
    argument that names nothing, and with `named_apart`, which loading asks for, where two files suggest one name.
    """
    files: dict[str, File] = {}
    for each in arguments:
        argument = each.path if isinstance(each, File) else os.fspath(each)
        found = [each] if isinstance(each, File) else list(_expand(argument))
        if not found:
            raise InputError(
                f"{printable(argument)}: the directory or pattern holds no {', '.join(_DOCUMENTS)} or .ndjson, "
                "and no .toml that defines a game"
            )
        files |= {file.path: file for file in found}
    names: dict[str, str] = {}
    for file in files.values() if named_apart else ():
        if file.name is not None and names.setdefault(file.name, file.path) != file.path:
            raise InputError(
                f"{printable(names[file.name])} and {printable(file.path)} would both be called "
                f"{printable(file.name)}: load them one by one with --name"
            )
    return list(files.values())


def _expand(argument: str) -> Iterator[File]:
    path = Path(argument)
    if argument == STDIN:
        yield File(STDIN)
    elif path.is_dir():
        for inner in _wanted(path.rglob("*")):
            parts = inner.relative_to(path).parts
            if not any(part.startswith(".") for part in parts):
                stem = _stem(inner.name)
                yield File(str(inner), None if stem is None else "/".join((*parts[:-1], stem)))
    elif path.exists():
        if argument.endswith(_DEFINITION) and beside.is_beside(path):
            raise InputError(
                f"{printable(argument)}: this says something of a document beside it, and defines no game (it has no "
                "[pieces]): name the document"
            )
        yield File(argument, _stem(path.name))
    elif glob.has_magic(argument):
        for match in _wanted(map(Path, glob.glob(argument, recursive=True))):
            yield File(str(match), _stem(match.name))
    else:
        raise InputError(f"{printable(argument)}: there is no such file or directory")


def _wanted(paths: Iterable[Path]) -> Iterator[Path]:
    """The documents among `paths`, and the definitions of games that have no document among them."""
    files = {path: None for path in sorted(paths) if path.name.endswith(_ENDINGS) and path.is_file()}
    for path in files:
        stem = path.name.removesuffix(_DEFINITION)
        has_document = any(path.with_name(stem + ending) in files for ending in _DOCUMENTS)
        if stem == path.name or (not has_document and beside.is_definition(path)):
            yield path


def _stem(name: str) -> str | None:
    if name.endswith(STREAMS):
        return None
    for suffix in (*_DOCUMENTS, _DEFINITION):
        name = name.removesuffix(suffix)
    return name


def read_files(files: Iterable[File]) -> Iterator[DocumentEntry]:
    """The entries of files, one document in memory at a time; a file that cannot be read is one with a problem."""
    for file in files:
        try:
            yield from read(file)
        except InputError as error:
            message = str(error).removeprefix(f"{printable(str(file))}: ")
            yield DocumentEntry(str(file), file.name, ggn.Decoded(None), problems=(Problem(message, file=str(file)),))


def read(file: File) -> Iterator[DocumentEntry]:
    """The entries of a file, one at a time; raises InputError where it cannot be read at all."""
    with open_stream(file) as stream:
        if file.path.endswith(STREAMS):
            yield from _read_lines(stream, file)
        elif file.path == STDIN:
            yield from _read_either(stream, file)
        else:
            # Not kept here: a document is gone before the next one is read.
            yield DocumentEntry(
                str(file), file.name, ggn.Decoded.of(read_whole(stream, file, limits.DOCUMENT_BYTES)), *_beside(file)
            )


@contextmanager
def open_stream(file: File) -> Iterator[IO[bytes]]:
    """A file, unpacked if it is gzip, or standard input; raises InputError where it cannot be read."""
    try:
        with _open(file) as stream:
            yield stream
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{printable(str(file))}: the gzip data is broken: {error}") from None
    except OSError as error:
        raise InputError(f"{printable(str(file))}: cannot be read: {error.strerror or error}") from None


def read_whole(stream: IO[bytes], file: File, limit: limits.Limit, before: bytes = b"") -> bytes:
    """All of a stream; raises InputError where that is more than the limit, of a file before any of it is read."""
    most = limit.most
    if len(before) + _left(stream) > most:
        raise too_large(file, limit)
    data = before + stream.read(most + 1 - len(before))
    if len(data) > most:
        raise too_large(file, limit)
    return data


def _left(stream: IO[bytes]) -> int:
    """How much is left of a file that a stream reads as it is; 0 for all other streams."""
    if isinstance(stream, io.BufferedReader) and isinstance(stream.raw, io.FileIO):
        status = os.fstat(stream.fileno())
        return status.st_size - stream.tell() if stat.S_ISREG(status.st_mode) else 0
    return 0


def too_large(file: File | str, limit: limits.Limit) -> InputError:
    """What is said of a file that is larger than a limit."""
    return InputError(f"{printable(str(file))}: the file has more than {limit.most:,} bytes{limit.more}")


def _open(file: File) -> AbstractContextManager[IO[bytes]]:
    if file.path == STDIN:
        # A process may be started without a standard input.
        return nullcontext(io.BytesIO() if sys.stdin is None else sys.stdin.buffer)
    if file.path.endswith(".gz"):
        return cast(AbstractContextManager[IO[bytes]], gzip.open(file.path, "rb"))
    return open(file.path, "rb")


def _read_either(stream: IO[bytes], file: File) -> Iterator[DocumentEntry]:
    """Standard input: NDJSON if its first line is a whole entry, else one document."""
    first = stream.readline(limits.DOCUMENT_BYTES.most + 1)
    # A key may be written with escapes, too.
    is_entry = b'"document"' in first or b"\\u" in first
    if is_entry and first.startswith(b"{") and first.rstrip().endswith(b"}"):
        value, faults = json_text.load(json_text.decode_bytes(first)[0])
        if not faults and isinstance(value, dict) and "document" in value:
            yield from _read_lines(stream, file, first)
            return
    yield DocumentEntry(str(file), file.name, ggn.Decoded.of(read_whole(stream, file, limits.DOCUMENT_BYTES, first)))


def _read_lines(stream: IO[bytes], file: File, first: bytes | None = None) -> Iterator[DocumentEntry]:
    number = 0
    longest, lines = limits.DOCUMENT_BYTES.most, limits.STREAM_LINES
    if first is None and _left(stream) > lines.most:
        # A file can be counted before any of it is worked on; other streams end at the limit.
        counted = 0
        while (part := stream.read(_PART)) and counted <= lines.most:
            counted += part.count(b"\n")
        if counted > lines.most:
            raise _too_many_lines(file)
        stream.seek(0)
    while line := first or stream.readline(longest + 1):
        first = None
        number += 1
        if number > lines.most:
            raise _too_many_lines(file)
        if len(line) > longest:
            raise too_large(f"{file}:{number}", limits.DOCUMENT_BYTES)
        if line.strip():
            yield _line_entry(line, file, number)


def _too_many_lines(file: File) -> InputError:
    limit = limits.STREAM_LINES
    return InputError(f"{printable(str(file))}: the stream has more than {limit.most:,} lines{limit.more}")


def _line_entry(line: bytes, file: File, number: int) -> DocumentEntry:
    """The entry of one NDJSON line: name, document, and optionally title, source, start and board."""
    text, fault = json_text.decode_bytes(line)
    value = None if fault else json_text.quick_load(text)
    if isinstance(value, dict) and {"name", "document"} <= value.keys() <= set(_LINE_KEYS):
        name, document = value.pop("name"), value.pop("document")
        if isinstance(name, str) and "play" not in value and all(isinstance(each, str) for each in value.values()):
            decoded = ggn.Decoded(document, text, (), ("document",), number, is_quick=True)
            return DocumentEntry(str(file), name, decoded, Envelope(**value))
    value, faults = (None, [fault]) if fault else json_text.load(text)
    if value is None and faults:
        return DocumentEntry(str(file), None, ggn.Decoded(None, text, tuple(faults), (), number))

    def problem(message: str, pointer: str, found: object, allowed: str) -> Problem:
        return Problem(message, pointer, number, 1, str(file), quote(found), allowed)

    if not isinstance(value, dict):
        value = {"document": value}
    problems = [
        problem("a line of NDJSON has no such key", json_text.pointer((key,)), key, ", ".join(_LINE_KEYS))
        for key in value
        if key not in _LINE_KEYS
    ]
    problems += [
        problem(f"{key} is not text", f"/{key}", value[key], "a string")
        for key in ("name", *beside.KEYS)
        if key in value and key != "play" and not isinstance(value[key], str)
    ]
    if "document" not in value or "name" not in value:
        problems.append(problem("a line of NDJSON holds a name and a document", "", sorted(value), "name, document"))
    decoded = ggn.Decoded(value.get("document"), text, tuple(faults), ("document",), number)
    envelope, wrong = beside.said({key: value[key] for key in beside.KEYS if key in value}, str(file))
    problems += [replace(each, line=number, column=1) for each in wrong if each.pointer.startswith("/play")]
    if problems:
        return DocumentEntry(str(file), None, decoded, Envelope(), tuple(problems))
    return DocumentEntry(str(file), value["name"], decoded, envelope)


def _beside(file: File) -> tuple[Envelope, tuple[Problem, ...], str | None]:
    """What the TOML file of the same name says of a document: title, source, start, board, play; and its own name."""
    path = place_beside(file.path)
    return (Envelope(), (), None) if path is None else (*beside.envelope(path), str(path))


def place_beside(document: str) -> Path | None:
    """Where the TOML file is that says something of a document; None of a file that is not called as one."""
    path = Path(document)
    return path.with_name(f"{_stem(path.name)}{_DEFINITION}") if path.name.endswith(_DOCUMENTS) else None
