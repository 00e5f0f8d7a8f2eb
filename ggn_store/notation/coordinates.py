"""Moves as engines write them: UCI (`e2e4`, `e7e8q`, `P@e4`, `b1c3h`, `a1c3e5`, `d1d7,d7g7`), USI (`7g7f+`, `P*5e`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import MoveError, quote
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND

# The lowest coordinates of a board and its size.
Extent = tuple[tuple[int, ...], tuple[int, ...]]

_SQUARE: Final = "[a-z]+[1-9][0-9]*[A-Z]*"
_LEFT: Final = "(?:,(?P<end>{0})(?P<left>{0}))?(?:,(?P<number>[1-9][0-9]{{0,3}}))?"
_UCI: Final = re.compile(
    rf"(?P<drop>[-+]?[A-Z]'?)@(?P<on>{_SQUARE})"
    rf"|(?P<path>{_SQUARE}(?:{_SQUARE})+)(?P<mark>(?:[-+]|[a-z]'?)?){_LEFT.format(_SQUARE)}"
)
_TURNED: Final = "[1-9][0-9]?[a-z]"
_USI: Final = re.compile(
    rf"(?P<drop>[-+]?[A-Z]'?)\*(?P<on>{_TURNED})"
    rf"|(?P<path>{_TURNED}(?:{_TURNED})+)(?P<mark>(?:[-+]|[a-z]'?)?){_LEFT.format(_TURNED)}"
)
_MOST_RANKS: Final = 26
_MOST_FILES: Final = 99


@dataclass(frozen=True, slots=True)
class Coordinates:
    """A move by its squares, named as CELL does; `source` is `*` where it is a drop.

    `mark` is the letter of what is dropped (`P`), becomes of a piece (`q`; `+` and `-` where its letter stays) or
    enters by gating on the source (`h`). A move of several steps goes `through` squares in between. On the square
    `left` the move leaves something else, such as an arrow. A `number` from 1 on tells moves apart that are written
    alike, which engines have no text for.
    """

    source: str
    destination: str
    mark: str = ""
    through: tuple[str, ...] = ()
    left: str = ""
    number: int = 0

    @property
    def path(self) -> tuple[str, ...]:
        """All squares, from the source to the destination."""
        return (self.source, *self.through, self.destination)

    @property
    def squares(self) -> frozenset[str]:
        """All squares that the text names."""
        return frozenset((*self.path, self.left or self.destination)) - {HAND}


def parse_uci(text: str) -> Coordinates:
    """The move that UCI writes, as Fairy-Stockfish does for larger boards and drops; raises MoveError, quoting it."""
    return _read(_UCI.fullmatch(text), text, _SQUARE, "UCI, such as e2e4, e7e8q or P@e4")


def uci(move: Coordinates) -> str:
    """The move in UCI; raises MoveError where its squares have no place in it."""
    left = f",{move.destination}{move.left}" if move.left else ""
    text = f"{move.mark}@{move.destination}" if move.source == HAND else "".join(move.path) + move.mark + left
    text += _numbered(move)
    if not _UCI.fullmatch(text):
        raise MoveError(f"UCI cannot write the move {quote(text)}: it needs squares such as e4")
    return text


def parse_usi(text: str, board: Extent) -> Coordinates:
    """The move that USI writes on a board; raises MoveError, quoting it."""
    read = _read(_USI.fullmatch(text), text, _TURNED, "USI, such as 7g7f, 7g7f+ or P*5e")
    source, *through, destination = (HAND if each == HAND else _label(each, board) for each in read.path)
    left = _label(read.left, board) if read.left else ""
    return Coordinates(source, destination, read.mark, tuple(through), left, read.number)


def usi(move: Coordinates, board: Extent) -> str:
    """The move in USI: files are counted from the last one on, ranks are letters from the highest one down."""
    if move.source == HAND:
        return f"{move.mark}*{_turned(move.destination, board)}"
    left = f",{_turned(move.destination, board)}{_turned(move.left, board)}" if move.left else ""
    return "".join(_turned(square, board) for square in move.path) + move.mark + left + _numbered(move)


def _numbered(move: Coordinates) -> str:
    return f",{move.number}" if move.number else ""


def _read(found: re.Match[str] | None, text: str, square: str, allowed: str) -> Coordinates:
    if found is None:
        raise MoveError(f"{quote(text)} is not a move in {allowed}")
    if found["drop"]:
        return Coordinates(HAND, found["on"], found["drop"])
    source, *through, destination = re.findall(square, found["path"])
    if found["end"] not in (None, destination):
        raise MoveError(f"{quote(text)} leaves something from {found['end']}, and the move ends on {destination}")
    number = int(found["number"] or 0)
    return Coordinates(source, destination, found["mark"], tuple(through), found["left"] or "", number)


def _turned(square: str, board: Extent) -> str:
    (low, size), place = board, cell.parse(square)
    if len(place) != 2 or size[0] > _MOST_FILES or size[1] > _MOST_RANKS:
        raise MoveError(f"USI cannot write {quote(square)}: it is for boards of at most {_MOST_FILES}x{_MOST_RANKS}")
    return f"{low[0] + size[0] - place[0]}{chr(ord('a') + low[1] + size[1] - 1 - place[1])}"


def _label(square: str, board: Extent) -> str:
    low, size = board
    place = (low[0] + size[0] - int(square[:-1]), low[-1] + size[-1] - 1 - ord(square[-1]) + ord("a"))
    if len(size) != 2 or min(place) < 0:
        raise MoveError(f"{quote(square)} is not a square of this board in USI")
    return cell.text(place)
