"""What a TOML file says of the document beside it, and which TOML files are definitions of games instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import Problem, quote
from ggn_store.model.documents.document import Envelope
from ggn_store.model.moves import play, play_text
from ggn_store.notation.complaints import Complaints
from ggn_store.notation.json_text import pointer
from ggn_store.notation.toml import TomlError, lines_of_text, load, text, value

_TEXTS: Final = ("title", "source", "start", "board", "definition")
KEYS: Final = (*_TEXTS, "play")
_PIECES: Final = ("pieces", "first", "second")
# A definition as `toml` writes it, first of all: it has a limit of its own, where it is read.
_KEPT: Final = re.compile(r"definition = (?:'''.*?'''|\"{3}(?:[^\"\\]|\\.)*+\"{3})", re.DOTALL)
_TABLE: Final = re.compile(rf"^[ \t]*(\[[ \t]*)?({'|'.join(_PIECES)})[ \t]*[].=]", re.MULTILINE)


def is_definition(path: Path) -> bool:
    """Whether a TOML file defines a game: it has tables of pieces, which what is said of a document never has."""
    try:
        text = _read(path)
    except (OSError, UnicodeDecodeError):
        return False
    try:
        return not load(text).keys().isdisjoint(_PIECES)
    except TomlError:  # a definition with a slip in it is one all the same
        return _TABLE.search(text) is not None


def is_beside(path: Path) -> bool:
    """Whether a TOML file can only be one that says something of a document."""
    try:
        keys = load(_read(path)).keys()
    except (OSError, ValueError):
        return False
    return bool(keys) and keys <= set(KEYS)


def envelope(path: Path) -> tuple[Envelope, tuple[Problem, ...]]:
    """What the TOML file at `path` says of the document beside it; nothing where there is no such file."""
    if not path.is_file():
        return Envelope(), ()
    try:
        return read(_read(path), str(path))
    except UnicodeDecodeError as error:
        return Envelope(), (Problem(f"the file is not TOML: {error}", file=str(path)),)


def read(text: str, file: str) -> tuple[Envelope, tuple[Problem, ...]]:
    """What a TOML file of this text says of the document beside it.

    A definition says it as well, and is kept with the document that was made from it.
    """
    kept = _KEPT.match(text)
    if len(text) - (len(kept[0]) if kept else 0) > limits.DEFINITION_BYTES.most:
        return Envelope(), (Problem("the file is too long", file=file, allowed=limits.DEFINITION_BYTES.allowed),)
    try:
        values = load(text)
    except TomlError as error:
        return Envelope(), (Problem(f"the file {error}", file=file),)
    if not values.keys().isdisjoint(_PIECES):
        # What a definition says of play speaks of its own pieces.
        values = {**{key: values[key] for key in _TEXTS if key in values}, "definition": text}
    return said(values, file)


def said(values: Mapping[str, Any], file: str) -> tuple[Envelope, tuple[Problem, ...]]:
    """The envelope of decoded keys."""
    allowed = ", ".join(KEYS)
    problems = [
        Problem("there is no such key", f"/{key}", file=file, found=quote(key), allowed=allowed)
        for key in values
        if key not in KEYS
    ]
    problems += [
        Problem("the value is not text", f"/{key}", file=file, found=quote(values[key]), allowed="a string")
        for key in _TEXTS
        if key in values and not isinstance(values[key], str)
    ]
    complaints = Complaints()
    played = play_text.read(values["play"], complaints, ("play",)) if "play" in values else play.Play()
    if not complaints:
        play_text.check_duties(played, complaints, ("play",), has_definition="definition" in values)
    problems += [each.placed(pointer(each.path), (None, None), file) for each in complaints]
    return (Envelope(), tuple(problems)) if problems else (Envelope(**{**values, "play": play_text.text(played)}), ())


def toml(envelope: Envelope) -> str:
    """The TOML file that says of the document beside it what this envelope does."""
    values = envelope.data()
    lines = [] if envelope.definition is None else [f"definition = {lines_of_text(envelope.definition)}"]
    lines += [f"{key} = {text(values[key])}" for key in _TEXTS if key in values and key != "definition"]
    if envelope.play is not None:
        lines += ["", "[play]"] if lines else ["[play]"]
        for key, said_of_it in play_text.parse(envelope.play).data().items():
            if key in ("crossing", "outcome"):
                lines += [f"{key} = [", *(f"  {value(each)}," for each in said_of_it), "]"]
            else:
                lines.append(f"{key} = {value(said_of_it)}")
    return "".join(f"{line}\n" for line in lines)


def _read(path: Path) -> str:
    # What a definition is quoted as can be twice as long as it is.
    most = limits.DEFINITION_BYTES.most + 2 * max(limits.DEFINITION_BYTES.most, limits.DESCRIPTION_BYTES.most)
    with path.open("rb") as stream:
        data = stream.read(most + 1)
    return data.decode("utf-8").removeprefix("\ufeff")
