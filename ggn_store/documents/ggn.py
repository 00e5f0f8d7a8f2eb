"""GGN documents: text or decoded JSON -> a value, or everything that is wrong with it, with its place."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ggn_store.documents.reader import DocumentReader
from ggn_store.errors import DocumentError, Problem, quote
from ggn_store.limits import TooManyError
from ggn_store.model.documents.document import Dialect, Document, Envelope, check_dialect
from ggn_store.notation import json_text
from ggn_store.notation.complaints import Complaints

_ALLOWED: Final = (
    "a document, which begins with {; a definition of a game ends in .toml, and `ggn-store import` reads a variants.ini"
)


def parse(
    data: str | bytes | Mapping[str, Any] | Decoded,
    dialect: Dialect | None = None,
    *,
    file: str | None = None,
    envelope: Envelope | None = None,
) -> Document:
    """The document that `data` holds: JSON text, UTF-8 bytes, or already decoded objects.

    The dialect is detected unless it is given. `envelope` adds title, source, start position and declared
    board. Raises DocumentError with every problem; `file` is the name that they carry.
    """
    document, found = read(Decoded.of(data), dialect, file, envelope)
    if document is None:
        raise DocumentError(found)
    return document


def problems(
    data: str | bytes | Mapping[str, Any],
    dialect: Dialect | None = None,
    *,
    file: str | None = None,
    envelope: Envelope | None = None,
) -> list[Problem]:
    """Everything that is wrong with a document; an empty list for a valid one. Arguments as for `parse`."""
    return read(Decoded.of(data), dialect, file, envelope)[1]


def is_valid(data: str | bytes | Mapping[str, Any], dialect: Dialect | None = None) -> bool:
    """Whether `data` is a valid document, of the given dialect or of any."""
    return not problems(data, dialect)


@dataclass(frozen=True, slots=True)
class Decoded:
    """JSON that has been decoded, and where it came from.

    `text` is None for objects that never were text. `path` is where in the text the document is, and `line` the
    number of the text's first line in its file, for documents that are one line of a stream. A value that is
    `is_quick` (`json_text.quick_load`) may be too deep.
    """

    value: Any
    text: str | None = None
    faults: Sequence[Problem] = ()
    path: json_text.Path = ()
    line: int = 1
    is_quick: bool = False

    @classmethod
    def of(cls, data: str | bytes | Mapping[str, Any] | Decoded) -> Decoded:
        """Text or bytes decoded, or objects as they are."""
        if isinstance(data, Decoded):
            return data
        if isinstance(data, bytes | bytearray | memoryview):
            text, fault = json_text.decode_bytes(bytes(data))
            if fault is not None:
                return cls(None, text, (fault,))
        elif isinstance(data, str):
            text = data
        else:
            return cls(data)
        return cls.strictly(text) if (value := json_text.quick_load(text)) is None else cls(value, text, is_quick=True)

    @classmethod
    def strictly(cls, text: str, path: json_text.Path = (), line: int = 1) -> Decoded:
        """Text decoded slowly, with every fault."""
        value, faults = json_text.load(text)
        start = text.lstrip("\ufeff \t\r\n")
        if value is None and faults and not path and start and not start.startswith("{"):
            offset = len(text) - len(start)
            faults = [Problem("this is no JSON", offset=offset, found=quote(start[:20]), allowed=_ALLOWED)]
        for key in path if value is not None else ():
            value = value[key]
        return cls(value, text, faults, path, line)


def read(
    decoded: Decoded,
    dialect: Dialect | None = None,
    file: str | None = None,
    envelope: Envelope | None = None,
    *,
    whole: bool = True,
    beside: str | None = None,
) -> tuple[Document | None, list[Problem]]:
    """The document, or None and everything that is wrong with it.

    A part of a document, which is not `whole`, may name state variables that it does not declare. The envelope came
    from the file `beside` it, where there is one.
    """
    if dialect is not None:
        check_dialect(dialect)
    if decoded.value is None and decoded.faults:
        return None, _problems(decoded, Complaints(), file)
    envelope = envelope or Envelope()
    if decoded.is_quick and decoded.text is not None:
        document = DocumentReader(dialect, envelope, copy=False, whole=whole).quick_document(decoded.value)
        if document is not None:
            return document, []
        if json_text.is_too_deep(decoded.value):
            decoded = Decoded.strictly(decoded.text, decoded.path, decoded.line)
            return read(decoded, dialect, file, envelope, whole=whole, beside=beside)
    # Objects that the caller still holds are copied, so that the document cannot change behind its digest.
    reader = DocumentReader(dialect, envelope, copy=decoded.text is None, whole=whole)
    document = None
    with contextlib.suppress(TooManyError):
        document = reader.document(decoded.value)
    if document is not None and not decoded.faults:
        return document, []
    problems = _problems(decoded, reader.complaints, file) if decoded.faults or reader.complaints else []
    # In a stream the envelope stands on the line of its document.
    place = (decoded.line, 1) if decoded.path else (None, None)
    problems += [each.placed(json_text.pointer(each.path), place, beside or file) for each in reader.beside]
    return None, problems


def _problems(decoded: Decoded, complaints: Complaints, file: str | None) -> list[Problem]:
    """Faults of the text and complaints about its content, with their places, in the order of the text.

    As many as are reported of one document, and last how many more there are.
    """
    at_fault = {fault.path for fault in decoded.faults}
    within = [replace(each, path=(*decoded.path, *each.path)) for each in complaints]
    places = json_text.TextPlaces(decoded.text, {each.path for each in within}, decoded.line)
    found = [*decoded.faults, *(each for each in within if each.path not in at_fault)]
    result = [places.placed(each, file) for each in found]
    result.sort(key=lambda each: (each.line or 0, each.column or 0))
    for each in (decoded.faults, complaints):
        if isinstance(each, Complaints):
            result += each.rest(result[-1])
    return result
