"""Game descriptions on their way into documents and stores: files of them, each checked and compiled by itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ggn_store import limits
from ggn_store.documents import files
from ggn_store.errors import InputError, PositionError, Problem, SpecificationError, printable, quote
from ggn_store.gdl import compile as compiler
from ggn_store.gdl.check import SpecificationCheck, check_specification, read_specification
from ggn_store.gdl.compile import CompiledDescription
from ggn_store.gdl.specification import Specification
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import Dialect, Document, Envelope
from ggn_store.model.moves import play_text
from ggn_store.model.moves.position import Position
from ggn_store.notation import json_text

DIALECT: Final[Dialect] = "gdl"


def check_specifications(paths: Iterable[str | os.PathLike[str]]) -> Iterator[tuple[str, SpecificationCheck]]:
    """Check the game descriptions of files, directories, globs or `-`: the name of each file, and what was found.

    In directories and globs only JSON is looked at. Raises InputError for a path that names nothing; a file that
    cannot be read is one with a problem.
    """
    given = [os.fspath(path) for path in paths]
    for file in files.find_files(given):
        if (file.is_definition or file.is_stream) and file.path not in given:
            continue
        name = str(file)
        try:
            with files.open_stream(file) as stream:
                data = stream.read(limits.DESCRIPTION_BYTES.most + 1)
        except InputError as error:
            message = str(error).removeprefix(f"{printable(name)}: ")
            yield name, SpecificationCheck(None, (Problem(message, file=name, kind="description"),))
            continue
        yield name, check_specification(data, name, file.folder)


def compile_specification(
    specification: Specification | str | bytes | Mapping[str, Any],
    *,
    piece_map: Mapping[str, str] | None = None,
    style: str | None = None,
    file: str | None = None,
    beside: Path | None = None,
) -> CompiledDescription:
    """The rules of a game description (a value, its text or decoded JSON) as a document of the dialect `gdl`.

    `piece_map` gives kinds of entities (`king`, or `king,moved=true`) the codes of their pieces (`K`, `+K`), where
    the presentation does not, or otherwise than it does; `style` is that of all pieces. Raises SpecificationError
    with every problem, which carry the name `file`, and NotationError for a map or a style that does not fit. In the
    folder `beside` are files that it may be like.
    """
    if not isinstance(specification, Specification):
        specification = read_specification(specification, file, beside)
    return compiler.compile(specification, piece_map, style, file)


def read_specification_file(path: str) -> tuple[str, str | bytes, Path | None]:
    """The name, the data and the folder of the game description that a path or `-` leads to; raises InputError."""
    [file, *others] = files.find_files([path])
    if others or file.is_definition or (file.is_stream and file.path != files.STDIN):
        raise InputError(f"{printable(path)}: this is not one game description (JSON): name one file")
    with files.open_stream(file) as stream:
        return str(file), stream.read(limits.DESCRIPTION_BYTES.most + 1), file.folder


def said(compiled: CompiledDescription, envelope: Envelope, file: str | None = None) -> Document:
    """The document with what a file beside it states of it, where it does: title, source, start position, play.

    Raises SpecificationError where that names squares, pieces, actions or states that the game has not.
    """
    document, played = compiled.document, play_text.parse(envelope.play)
    wrong = [("/play", *each) for each in play_text.strange_names(played, compiled.kinds, document.pieces)]
    if outside := played.squares() - set(document.board.squares):
        wrong.append(("/play", "how the game is played names squares off the board", sorted(outside), "its squares"))
    if envelope.start is not None:
        known = {name: each.values for name, each in variables.parse(document.envelope.variables).items()}
        start = _start(envelope.start, file)
        wrong += [("/start", *each) for each in variables.strange_start(known, start.state or {})]
        if off := start.board.keys() - set(document.board.squares):
            wrong.append(("/start", "the start position has pieces off the board", sorted(off), "its squares"))
    if wrong:
        raise SpecificationError(
            Problem(message, place, file=file, found=quote(found), allowed=allowed)
            for place, message, found, allowed in wrong
        )
    stated = {
        name: value for name in ("title", "source", "start", "play") if (value := getattr(envelope, name)) is not None
    }
    return replace(document, envelope=replace(document.envelope, **stated)) if stated else document


def _start(text: str, file: str | None) -> Position:
    try:
        return Position.from_text(text)
    except PositionError as error:
        raise SpecificationError(
            [Problem(f"what was given with it does not fit: {error}", "/start", file=file)]
        ) from None


def retitled(text: str, title: str) -> str:
    """The text of a game description with another name, and all else as it was."""
    text = text.removeprefix("\ufeff")
    name = ("metadata", "name")
    _, start = json_text.places(text, {name})[name]
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[:start] + json.dumps(title, ensure_ascii=False) + text[end:]
