"""Positions as JSON text: read as strictly as documents are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ggn_store import limits
from ggn_store.api.positions import notations
from ggn_store.errors import PositionError, offer, printable, quote
from ggn_store.model.moves.position import Position
from ggn_store.notation import json_text

if TYPE_CHECKING:
    from ggn_store.api.handle import Handle

# How a line begins that is a text without quotes: with a letter, a digit or a sign of a board.
_PLAIN: Final = re.compile(rb"\s*[\w/+*-]")
# A JSON text without escapes: what stands between the quotes is the FEEN.
_FEEN_LINE: Final = re.compile(rb'"([ !#-\[\]-~]*)"\r?\n?')


def read_board(text: str | bytes, ruleset: Handle) -> Position:
    """The position that JSON text holds: squares and pieces, or what a line of positions may be."""
    data = decode(text, "the board")
    if isinstance(data, dict) and not isinstance(data.get("board"), dict) and not data.keys() & {*notations.NOTATIONS}:
        data = {"board": data}
    return notations.from_data(data, ruleset)


def read_hands(text: str | bytes) -> Mapping[str, int]:
    """The hands that a JSON object of pieces and counts holds."""
    data = decode(text, "the hands")
    if not isinstance(data, dict):
        raise PositionError(f"hands are an object of pieces and counts, not {quote(data)}")
    return Position({}, data).hands or {}


def read_positions(path: str, ruleset: Handle | None = None) -> Iterator[Position]:
    """The positions of an NDJSON file (`-`: standard input): each line board, hands and side, or a FEEN text.

    Of a ruleset they may be in any of its notations. Raises InputError for a file that cannot be read, and
    PositionError, naming the line.
    """
    return (_read_line(line.rstrip(b"\r\n"), where, ruleset) for where, line in _lines(path))


def read_feen_or_positions(path: str, ruleset: Handle) -> Iterator[tuple[str, Position | str]]:
    """Like `read_positions`, but lines of plain FEEN come as texts that nobody has read yet; each with its place."""
    return ((where, _feen_or_position(line, where, ruleset)) for where, line in _lines(path))


def read_text_line(line: str) -> Position | str:
    """A line of such a file: a FEEN text that nobody has read yet, or a position; raises PositionError."""
    return _feen_or_position(line.encode("utf-8", "surrogatepass"), "the line")


def _feen_or_position(line: bytes, where: str, ruleset: Handle | None = None) -> Position | str:
    feen = _FEEN_LINE.fullmatch(line)
    return feen[1].decode("ascii") if feen else _read_line(line.rstrip(b"\r\n"), where, ruleset)


def _lines(path: str) -> Iterator[tuple[str, bytes]]:
    """The lines of a file that are not blank, as far as a position may be long, each with its place."""
    from ggn_store.documents import files

    file = files.File(path)
    with files.open_stream(file) as stream:
        number = 0
        while line := stream.readline(limits.POSITION_BYTES.most + 1):
            number += 1
            if line.strip():
                yield f"{printable(str(file))}:{number}", line


def _read_line(line: bytes, where: str, ruleset: Handle | None) -> Position:
    limit = limits.POSITION_BYTES
    if len(line) > limit.most:
        raise PositionError(f"{where}: a position of more than {limit.most:,} bytes{limit.more}")
    if _PLAIN.match(line):
        ways = ["an object with board, hands, side and state", "a FEEN text in quotes"]
        ways += [f'{{"{name}": "..."}}' for name in (notations.NOTATIONS if ruleset else ())]
        text = quote(line.decode(errors="replace"))
        raise PositionError(f"{where}: {text} is not a position; allowed in a line: {offer(ways)}")
    data = decode(line, where)
    try:
        return Position.from_data(data) if ruleset is None else notations.from_data(data, ruleset)
    except PositionError as error:
        raise PositionError(f"{where}: {error}") from None


def decode(text: str | bytes, where: str) -> Any:
    """What JSON text holds; raises PositionError, which says `where` that is, and the line and column."""
    fault = None
    if isinstance(text, bytes):
        text, fault = json_text.decode_bytes(text)
    data, faults = (None, [fault]) if fault else json_text.load(text)
    if faults:
        fault = json_text.TextPlaces(text, ()).placed(faults[0], None)
        found = f", found {fault.found}" if fault.found else ""
        raise PositionError(f"{where}: {fault.message} at {fault.line}:{fault.column}{found}")
    return data
