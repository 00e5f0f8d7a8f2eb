"""What stands in the lines of a bundle, as values: each is checked on its own, as strictly as a document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn, cast

from ggn_store import limits
from ggn_store.documents import ggn, quick
from ggn_store.documents.grammar import GRAMMARS
from ggn_store.errors import UNSTORABLE, GgnStoreError, offer, printable, quote
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Dialect, Envelope, Piece, check_dialect
from ggn_store.model.teams.revision import written
from ggn_store.model.teams.transfer import SentRevision
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND
from ggn_store.notation.json_text import is_digest


class FaultError(Exception):
    """What is wrong with a line."""


def fail(message: str) -> NoReturn:
    """Say what is wrong with the line."""
    raise FaultError(message)


def require(is_sound: object, message: str) -> None:
    """Say what is wrong with the line, unless it is sound."""
    if not is_sound:
        raise FaultError(message)


def noted(make: Any, value: Any) -> Any:
    """The result of `make`; what it complains of is a fault of the line."""
    try:
        return make(value)
    except GgnStoreError as error:
        fail(str(error))
    except TypeError:
        fail(f"{quote(value)} is out of place")


def sha256(value: Any, key: str) -> str:
    """A digest or a lineage."""
    require(is_digest(value), f"the {key} {quote(value)} is not a SHA-256")
    return cast(str, value)


def sha256s(value: Any, key: str) -> tuple[str, ...]:
    """A list of different digests or lineages."""
    require(type(value) is list, f"{key} is not a list")
    digests = tuple(sha256(each, key) for each in value)
    require(len(set(digests)) == len(digests), f"{key} has something twice")
    return digests


def text(value: Any, key: str) -> str | None:
    """A text that a database can keep, or null."""
    require(value is None or isinstance(value, str), f"the {key} is not text: {quote(value)}")
    require(value is None or not UNSTORABLE.search(value), f"the {key} has characters that no database can keep")
    return cast("str | None", value)


def time(value: Any) -> datetime:
    """A time, written in the one way in which `written` writes it."""
    try:
        at = datetime.fromisoformat(value)
        if at.tzinfo is not None and written(at) == value:
            return at.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    return fail(f"{quote(value)} is not a time such as 2026-01-31T12:00:00.000000+00:00")


def signed(value: Mapping[str, Any]) -> tuple[str | None, str | None, datetime]:
    """Who said what a line says, with which message, and when."""
    return text(value["author"], "author"), text(value["message"], "message"), time(value["created_at"])


def board(shape: Any, squares: Any) -> Board:
    """A board; where it has a shape, its squares are all of that box in their order."""
    require(type(squares) is list and squares, "a board has a list of squares")
    require(len(squares) <= limits.SQUARES.most, f"a board has at most {limits.SQUARES.most:,} squares")
    for each in squares:
        is_label = isinstance(each, str) and 0 < len(each) <= limits.LABEL.default and each != HAND
        require(is_label and not UNSTORABLE.search(each), f"{quote(each)} is not a square")
    require(len(set(squares)) == len(squares), "a square stands twice on the board")
    if shape is None:
        return Board(tuple(squares))
    require(isinstance(shape, str), f"{quote(shape)} is not the shape of a board")
    sizes = noted(boards.parse_shape, shape).shape
    require(all(map(cell.is_cell, squares)), "a board with a shape has squares such as a1")
    origin = cell.parse(squares[0])
    require(len(origin) == len(sizes), "the squares are not those of the shape")
    made = noted(lambda given: boards.box(given, origin), sizes)
    require(made.squares == tuple(squares), "the squares are not those of the shape")
    return cast(Board, made)


def piece(identifier: Any, rules: Any, dialect: Dialect, board: Board) -> Piece:
    """A piece from its rules, read as strictly as a document."""
    require(isinstance(identifier, str), f"{quote(identifier)} is not a piece identifier")
    grammar = GRAMMARS[dialect]

    def is_square(label: str) -> bool:
        return label in board.numbers and (grammar.has_labels or cell.is_cell(label))

    members = {identifier: rules}
    found = quick.pieces(members, grammar, grammar.is_identifier, is_square)
    if found:
        return found[0]
    document, problems = ggn.read(ggn.Decoded.of(members), dialect, whole=False)
    if document is None:
        fail(f"the piece {printable(identifier)}: {problems[0]}")
    [found_piece] = document.pieces
    outside = sorted(found_piece.squares() - board.numbers.keys() - {HAND})
    require(not outside, f"the piece {identifier} names squares off its board: {offer(outside)}")
    return found_piece


def revision(value: Mapping[str, Any]) -> SentRevision:
    """A revision, whose digests nobody has looked at yet."""
    envelope = value["envelope"]
    names = Envelope.__slots__
    require(
        type(envelope) is dict and all(isinstance(envelope[name], str) and name in names for name in envelope),
        f"the envelope holds texts: {', '.join(names)}",
    )
    return SentRevision(
        sha256(value["lineage"], "lineage"),
        None if value["parent"] is None else sha256(value["parent"], "parent"),
        None if value["merged"] is None else sha256(value["merged"], "merged parent"),
        sha256(value["digest"], "digest"),
        noted(check_dialect, value["dialect"]),
        sha256(value["board"], "board"),
        Envelope(**envelope),
        *signed(value),
        sha256s(value["pieces"], "pieces"),
    )
