"""How a move is written as text, a row a notation.

`Ruleset.move_text`, `Ruleset.parse_move` and what messages offer are made from this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ggn_store.api.handle import Handle
from ggn_store.errors import MoveError, did_you_mean, offer, printable, quote
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.position import Position
from ggn_store.notation import coordinates, san
from ggn_store.notation.coordinates import Coordinates, Extent
from ggn_store.notation.hand import HAND
from ggn_store.notation.move_text import OWN, MoveText

if TYPE_CHECKING:
    from ggn_store.api.moves.named_moves import NamedMoves


@dataclass(frozen=True, slots=True)
class MoveNotation:
    """A notation of moves.

    `parse` reads a text alone and raises MoveError where it is not of this notation; `find` gives the pseudo-legal
    moves that what was read can mean in a position. `text` writes a move, or raises MoveError where it cannot.
    """

    about: str
    parse: Callable[[str, NamedMoves], Any]
    find: Callable[[Any, Position, NamedMoves], Sequence[Move | Chain]]
    text: Callable[[Move | Chain, Position, NamedMoves], str]


# How the move that only passes the turn may be written.
_OWN_NOTHING: Final = "pass"
_UCI_NOTHING: Final = "0000"


def _is_pass(text: str, word: str, moves: NamedMoves) -> bool:
    """Whether a text is the word for a pass, which may be a square of a board with names of its own."""
    return text.casefold() == word and text not in moves.handle.board.numbers


# --- own ---


def _parse_own(text: str, moves: NamedMoves) -> MoveText | None:
    if _is_pass(text, _OWN_NOTHING, moves):
        return None
    read = moves.chains.parsed(text)
    if len(read.places) < 2:
        raise MoveError(f"{quote(text)} names one place only: write a move as e2 e4, P* e5 or e7 e8 2")
    return read


def _find_own(read: MoveText | None, position: Position, moves: NamedMoves) -> Sequence[Move | Chain]:
    if read is None:
        return moves.passes(position)
    try:
        return moves.chains.meant(position, read, printable(str(read)), None, None)
    except MoveError:
        if len(read.places) > 2 or read.number is not None:
            raise
        # A pass is none of the rules' own moves.
        there = moves.between(position, *read.places)
        return [move for move in there if move.source == move.destination and read.means(move.piece, move.piece)]


def _own(move: Move | Chain, position: Position, moves: NamedMoves) -> str:
    places = move.path if isinstance(move, Chain) else (move.source, move.destination)
    several: Sequence[Move | Chain]
    if isinstance(move, Chain):
        several = [*moves.chains.along(position, places, None, None)]
    else:
        several = moves.between(position, *places)
    alike = [number for number, each in enumerate(several, 1) if each.piece == move.piece]
    number = next((number for number in alike if _is_same(several[number - 1], move)), None)
    piece = move.piece if places[0] == HAND else None
    return moves.chains.notation.text(MoveText(places, piece, number=number if len(alike) > 1 else None))


def _is_same(one: Move | Chain, other: Move | Chain) -> bool:
    """Whether two are one possibility, whatever effects one of them is assumed to have."""
    if isinstance(one, Move) and isinstance(other, Move):
        return one.ordinal == other.ordinal
    return isinstance(one, Chain) and isinstance(other, Chain) and one.steps == other.steps


# --- UCI and USI ---


def _parse_uci(text: str, moves: NamedMoves) -> Coordinates | None:
    return None if _is_pass(text, _UCI_NOTHING, moves) else _on_board(coordinates.parse_uci(text), text, moves)


def _on_board(read: Coordinates, text: str, moves: NamedMoves) -> Coordinates:
    for square in sorted(read.squares):
        if square not in moves.handle.board.numbers:
            raise MoveError(f"{quote(text)}: {moves.handle.revision} has no square {quote(square)}")
    return read


def _find_coordinates(read: Coordinates | None, position: Position, moves: NamedMoves) -> Sequence[Move | Chain]:
    if read is None:
        return moves.passes(position)
    if read.number:
        return _find_coordinates(replace(read, number=0), position, moves)[read.number - 1 : read.number]
    if read.through:
        along = moves.chains.along(position, read.path, None, None)
        return [chain for chain in along if moves.names.coordinates(chain) == read]
    ways: list[tuple[str, str | None]] = [(read.source, read.destination)]
    if read.source != HAND:
        ways += [(HAND, read.source)] if read.mark else [(read.source, None)]
    for source, destination in ways:
        there = moves.between(position, source, destination)
        if found := [move for move in there if moves.names.means(move, read)]:
            return found
    return ()


def _coordinates(move: Move | Chain, position: Position, moves: NamedMoves) -> Coordinates:
    """A move as coordinates, with its number where another action that is written alike is legal."""
    written = moves.names.coordinates(move)
    has_actions = isinstance(move, Chain) or move.action is not None
    alike = _find_coordinates(written, position, moves) if has_actions else ()
    number = next((number for number, each in enumerate(alike, 1) if _is_same(each, move)), 0)
    others = (each for at, each in enumerate(alike, 1) if at != number)
    return replace(written, number=number) if any(each in moves.turns(position) for each in others) else written


def _extent(handle: Handle) -> Extent:
    extent = handle.board.extent
    if extent is None or len(extent[0]) != 2:
        raise MoveError(f"USI is for boards of files and ranks, which {handle.revision} does not have")
    return extent


def require_squares(handle: Handle, notation: str) -> None:
    """Raise MoveError where UCI or USI has no text for squares of the board, so that an engine could not answer."""
    for square in handle.board.squares:
        move = Coordinates(square, square)
        try:
            _ = coordinates.uci(move) if notation == "uci" else coordinates.usi(move, _extent(handle))
        except MoveError:
            message = f"{handle.revision} has a square {quote(square)}, for which {notation.upper()} has no text"
            raise MoveError(f"{message}: `play` plays every game") from None


# --- SAN ---


def _parse_san(text: str, moves: NamedMoves) -> san.San:
    read = san.parse(text)
    _require_files(moves)
    if read.destination and read.destination not in moves.handle.board.numbers:
        raise MoveError(f"{quote(text)}: {moves.handle.revision} has no square {quote(read.destination)}")
    return read


def _find_san(read: san.San, position: Position, moves: NamedMoves) -> Sequence[Move]:
    gating = bool(read.enters) or bool(read.castling)
    destination = None if gating or not read.destination else read.destination
    there = moves.between(position, HAND if read.dropped else None, destination)
    return [move for move in there if _is_meant(read, move, position, moves)]


def _is_meant(read: san.San, move: Move, position: Position, moves: NamedMoves) -> bool:
    """Whether a text in SAN means a move, which it may write with more or less than is needed to tell it apart."""
    written = moves.names.san(move, position.board, (), "")
    if written.castling or not written.destination or written.dropped:
        whole = ("destination", "piece", "dropped", "castling", "enters", "gate", "left")
        return all(getattr(read, name) == getattr(written, name) for name in whole)
    source = moves.names.way(move)[0]
    own = all(getattr(read, name) == getattr(written, name) for name in _SAME)
    rank = source.lstrip("abcdefghijklmnopqrstuvwxyz")
    own = own and read.promotion in moves.names.promotions(move)
    return own and read.file in ("", source.removesuffix(rank)) and read.rank in ("", rank)


_SAME: Final = ("destination", "piece", "dropped", "castling", "enters", "left")


def _san(move: Move | Chain, position: Position, moves: NamedMoves) -> str:
    _require_files(moves)
    if isinstance(move, Chain):
        raise MoveError(f"SAN cannot write a move of several steps, {printable(' '.join(move.path))}")
    names = moves.names
    there = moves.allowed(position, None, names.way(move)[1])
    if move not in there:  # whoever may make it may make all that the rules allow
        there = moves.between(position, None, names.way(move)[1])
    rivals: Iterator[Move] = (
        other
        for other in there
        if other.piece != move.piece or other.source != move.source
        if names.letter(other.piece) == names.letter(move.piece)
    )
    return str(names.san(move, position.board, rivals, moves.check(position, move)))


def _require_files(moves: NamedMoves) -> None:
    extent = moves.handle.board.extent
    if extent is None or len(extent[0]) != 2 or max(map(int.__add__, *extent)) > len("abcdefghijklmnopqrstuvwxyz"):
        raise MoveError(f"SAN is for boards such as that of chess, and {moves.handle.revision} has no such board")


NOTATIONS: Final = {
    OWN: MoveNotation("places and pieces: e2 e4, e7e8q, P* e5, d3 f5 h7, pass", _parse_own, _find_own, _own),
    "uci": MoveNotation(
        "as chess engines write: e2e4, e7e8q, P@e4, d3f5h7, 0000",
        _parse_uci,
        _find_coordinates,
        lambda move, position, moves: coordinates.uci(_coordinates(move, position, moves)),
    ),
    "usi": MoveNotation(
        "as shogi engines write: 7g7f, 2b8h+, P*5e",
        lambda text, moves: _on_board(coordinates.parse_usi(text, _extent(moves.handle)), text, moves),
        _find_coordinates,
        lambda move, position, moves: coordinates.usi(_coordinates(move, position, moves), _extent(moves.handle)),
    ),
    "san": MoveNotation("as chess players write: e4, Nbd7, exd6, e8=Q+, O-O", _parse_san, _find_san, _san),
}


def find(name: str) -> MoveNotation:
    """The notation of a name; raises MoveError where there is none."""
    if name not in [*NOTATIONS]:
        hint = did_you_mean(name, NOTATIONS) or f": there are {offer([*NOTATIONS])}"
        raise MoveError(f"{quote(name)} is not a notation of moves{hint}")
    return NOTATIONS[name]
