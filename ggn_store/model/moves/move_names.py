"""What a move is called, by its squares and the letters of pieces, in the notations of engines and players."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Move, takes
from ggn_store.notation import cell, qpi
from ggn_store.notation.coordinates import Coordinates
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.notation.san import San


@dataclass(frozen=True, slots=True)
class Castled:
    """The squares that a castling changes: from where and to where king and rook go.

    `named_by_rook`: kings castle from several squares, or this one may also go there by itself.
    """

    source: str
    destination: str
    rook_source: str
    rook_destination: str
    named_by_rook: bool = False

    @property
    def takes_rook(self) -> bool:
        """Whether UCI writes it as the king taking its rook, since the king's squares may be those of a step."""
        return self.named_by_rook or abs(cell.parse(self.source)[0] - cell.parse(self.destination)[0]) == 1

    @property
    def san(self) -> str:
        """`O-O` towards the last file, `O-O-O` towards the first."""
        return "O-O" if cell.parse(self.rook_source)[0] > cell.parse(self.source)[0] else "O-O-O"


class Names:
    """The names of moves, as far as the identifiers of the pieces say what they are called by."""

    def token(self, piece: str) -> str:
        """What a piece is called: `K`, and `+R` in a state that is not one of its past."""
        known = qpi.parse(piece)
        return known.letter if known.state == "-" or known.terminal else known.state + known.letter

    def mark(self, before: str, after: str) -> str:
        """What UCI and USI write behind a move that makes `after` of the piece `before`."""
        old, new = qpi.parse(before), qpi.parse(after)
        if old.letter != new.letter:
            return new.letter.lower()
        return "+" if new.state == "+" != old.state else ""

    def left(self, move: Move) -> str:
        """The square on which a move leaves something beside its piece, such as an arrow; "" for none."""
        return ""

    def castling(self, move: Move) -> Castled | None:
        """The castling that a move is, None where it is none."""
        board = changes(move)
        filled = {square: piece for square, piece in board.items() if piece is not None}
        others = filled.keys() - {move.destination}
        emptied = board.keys() - filled.keys() - {move.source}
        is_moved = move.source in board and move.destination in filled
        if not is_moved or not qpi.is_royal(move.piece) or len(others) != 1 or len(emptied) != 1:
            return None
        (rook_source,), (rook_destination,) = emptied, others
        if side_of(filled[rook_destination]) != side_of(move.piece):
            return None
        return Castled(move.source, move.destination, rook_source, rook_destination)

    def lost(self, move: Move) -> tuple[str, ...]:
        """What a move would make of its piece, or leave it, if it did not destroy it, or turn it to stone."""
        return ()

    def means(self, move: Move | Chain, read: Coordinates) -> bool:
        """Whether a move is what UCI or USI says, also by any mark of what is lost with it."""
        own = self.coordinates(move)
        marks = [self.mark(move.piece, each) for each in self.lost(move)] if isinstance(move, Move) else ()
        return own == read or (read.mark in marks and own == replace(read, mark=own.mark))

    def coordinates(self, move: Move | Chain) -> Coordinates:
        """The move as UCI and USI see it."""
        if isinstance(move, Chain):
            whole = self.coordinates(Move(move.piece, move.source, move.destination, 0, {}, {}, move.effects))
            return replace(whole, through=move.path[1:-1])
        board, castling = changes(move), self.castling(move)
        if move.source == HAND:
            letter = self.token(move.piece)
            if castling is not None:
                gate, end = _gate(move, castling)
                return Coordinates(gate, end, letter.lower())
            if enters(move):
                return Coordinates(move.destination, _leaver(move), letter.lower())
            return Coordinates(HAND, move.destination, self.token(board.get(move.destination) or move.piece))
        if castling is not None and castling.takes_rook:
            return Coordinates(castling.source, castling.rook_source)
        becomes = next(iter(self.lost(move)), board.get(move.destination))
        mark = "" if becomes is None else self.mark(move.piece, becomes)
        return Coordinates(move.source, move.destination, mark, left=self.left(move))

    def san(self, move: Move, board: Mapping[str, str | None], rivals: Iterable[Move], check: str = "") -> San:
        """The move as SAN says it, told apart from `rivals`: the moves of others of its kind that may go there."""
        castling, entering, gate = self.castling(move), "", ""
        piece, source, destination = move.piece, move.source, move.destination
        if move.source == HAND and (castling is not None or enters(move)):
            entering = self.letter(piece)
            if castling is not None:
                gate = _gate(move, castling)[0]
            else:
                source, destination = destination, _leaver(move)
                piece = str(board[source])
        if castling is not None:
            return San(castling=castling.san, enters=entering, gate=gate, check=check, left=self.left(move))
        promotion = self.promotions(move)[0]
        if source == destination and not promotion:
            return San(check=check)
        letter = self.letter(piece)
        if source == HAND:
            return San(destination, self.letter(changes(move).get(destination) or piece), dropped=True, check=check)
        captures = takes(move, board, side_of(move.piece))
        sources = {each for each, _ in (self.way(other) for other in rivals)} - {source, HAND}
        file, rank = _told_apart(source, sources, always=captures and not letter)
        left = self.left(move)
        made = "" if entering else promotion
        return San(destination, letter, file, rank, captures, made, enters=entering, check=check, left=left)

    def letter(self, piece: str) -> str:
        """What SAN calls a piece: nothing for a pawn."""
        return self.token(piece).strip("-").removeprefix("P")

    def promotions(self, move: Move) -> tuple[str, ...]:
        """What SAN can say that a move makes of its piece, "" for nothing else; as it is written comes first."""
        if move.source == HAND:
            return ("",)
        lost = self.lost(move)
        made = lost or (changes(move).get(move.destination) or move.piece,)
        said = (self.token(each).strip("-") if self.mark(move.piece, each) else "" for each in made)
        return (*said, "") if lost else (*said,)

    def way(self, move: Move) -> tuple[str, str]:
        """From where to where the piece goes that moves, also where another one enters by it."""
        if move.source == HAND and enters(move):
            return move.destination, _leaver(move)
        return move.source, move.destination


def enters(move: Move) -> bool:
    """Whether a piece comes from the hand on the square that another one leaves in the same move."""
    return move.source == HAND and move.must.get(move.destination, "empty") not in ("empty", "enemy")


def changes(move: Move) -> Mapping[str, str | None]:
    """What a move leaves on each square that it changes; nothing where that is not known."""
    return {} if move.transition is None else move.transition.board


def _leaver(move: Move) -> str:
    """Where the piece goes that makes room for one that enters."""
    squares = [square for square, piece in changes(move).items() if piece and square != move.destination]
    return squares[0] if squares else move.destination


def _gate(move: Move, castling: Castled) -> tuple[str, str]:
    """The square on which a piece enters by a castling, and the one that is written behind it."""
    if move.destination == castling.source:
        return castling.source, castling.destination
    return castling.rook_source, castling.source


def _told_apart(source: str, others: set[str], always: bool) -> tuple[str, str]:
    """The file and rank of `source`, as far as they are needed beside other sources; the file if `always`."""
    column, row = cell.parse(source)
    places = [cell.parse(other) for other in others]
    file, rank = cell.text((column,)), str(row + 1)
    if not places:
        return (file if always else ""), ""
    if all(x != column for x, _ in places):
        return file, ""
    if all(y != row for _, y in places) and not always:
        return "", rank
    return file, rank
