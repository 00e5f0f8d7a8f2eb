"""Moves as text, read and written: what `Ruleset` says of `move_text`, `parse_move` and `read_move`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from ggn_store.api.handle import AnyMove, AnyPosition
from ggn_store.api.moves import move_notations
from ggn_store.api.moves.move_notations import NOTATIONS
from ggn_store.api.moves.named_moves import NamedMoves
from ggn_store.errors import GgnStoreError, MoveError, MoveTextError, UnknownNameError, printable, quote
from ggn_store.model.moves.chain import Chain, path_of
from ggn_store.model.moves.move import Assumption, Move, displaced
from ggn_store.model.moves.position import Position
from ggn_store.notation.move_text import MAX_LINE, OWN, MoveText
from ggn_store.notation.san import San

# How many moves a message names.
_OFFERED: Final = 8


class Reading(NamedTuple):
    """The notation in which a text was read, and what it can mean there: one move or chain, or several."""

    notation: str
    moves: tuple[Move | Chain, ...]


class MoveTexts:
    """The moves of a ruleset by their names."""

    def __init__(self, moves: NamedMoves) -> None:
        self.handle = moves.handle
        self.chains = moves.chains
        self.moves = moves

    # --- text in and out ---

    def text(self, move: AnyMove, position: AnyPosition, notation: str) -> str:
        position = self.handle.ready(position)
        return move_notations.find(notation).text(self.as_move(move, position), position, self.moves)

    def as_move(self, move: AnyMove, position: AnyPosition, assume: Assumption | None = None) -> Move | Chain:
        """`move`, or the one that a text or a path of squares means, legal or not; MoveError where it means none."""
        return _sole(self._meanings(move, position, assume), move)

    def allows(self, move: AnyMove, position: AnyPosition) -> bool:
        """Whether what a text or a path means is legal; MoveError where it is no move in any position, or several."""
        try:
            found = self._meanings(move, position)
        except MoveTextError:
            raise
        except MoveError:
            return False
        return self.moves.may_be_made(_sole(found, move), self.handle.ready(position))

    def _meanings(
        self, move: AnyMove, position: AnyPosition, assume: Assumption | None = None
    ) -> Sequence[Move | Chain]:
        if isinstance(move, Move | Chain):
            return (move,)
        if isinstance(move, str):
            return self.read(move, position, pseudo=True, assume=assume).moves
        if not isinstance(move, Sequence):
            raise MoveTextError(f"{quote(move)} is not a move: give one of `moves`, or a text such as e2e4")
        return self.chains.along(position, move, None, assume)

    def one(self, text: str, position: AnyPosition, notation: str | None) -> Move | Chain:
        """The one move that a text means and that may be made."""
        found = self.read(text, position, notation).moves
        if len(found) == 1:
            return found[0]
        raise MoveError(f"{quote(text)} may mean {self._offered(found, self.handle.ready(position))}: say which")

    def read(
        self,
        text: str,
        position: AnyPosition,
        notation: str | None = None,
        *,
        pseudo: bool = False,
        assume: Assumption | None = None,
    ) -> Reading:
        """The first notation in which a text means exactly one move; else the first in which it means several.

        The own one leaves open what others say: b2b3 of UCI says that nothing is promoted.
        """
        if not isinstance(text, str):
            raise MoveError(f"{quote(text)} is not the text of a move, such as e2e4")
        if len(text) > MAX_LINE:
            raise MoveError(f"a text of more than {MAX_LINE:,} characters is no move")
        position = self.handle.ready(position)
        several: Reading | None = None
        errors: list[GgnStoreError] = []
        for name in NOTATIONS if notation is None else (notation,):
            try:
                found = self._meant(text.strip(), position, name, pseudo)
            except (MoveError, UnknownNameError) as error:
                errors.append(error)
                continue
            if assume is not None:
                found = [displaced(each) if isinstance(each, Move) else each for each in found]
            reading = Reading(name, tuple(found))
            if len(found) == 1:
                return reading
            several = several or reading
        if several is None:
            raise next((error for error in errors if not isinstance(error, MoveTextError)), errors[0])
        return several

    def along(
        self, position: AnyPosition, text: str, piece: str | None, assume: Assumption | None
    ) -> tuple[Move, ...] | tuple[Chain, ...]:
        """The moves that a text means by its places; where it does not, by any other notation."""
        try:
            return self.chains.along(position, text, piece, assume)
        except (MoveError, UnknownNameError):
            found = self.read(text, position, pseudo=True, assume=assume).moves
            if piece is not None and any(each.piece != piece for each in found):
                raise
            return cast(tuple[Move, ...] | tuple[Chain, ...], found)

    def _meant(self, text: str, position: Position, name: str, pseudo: bool) -> Sequence[Move | Chain]:
        """What a text means in a notation; of several moves, those that may be made. Raises where it means none."""
        notation = move_notations.find(name)
        try:
            read = notation.parse(text, self.moves)
        except MoveError as error:
            raise MoveTextError(*error.args) from None
        found = notation.find(read, position, self.moves)
        if not found:
            possible = self._possible(read, position, name)
            raise MoveError(f"{printable(text)}: the position does not allow this move to {position.side}{possible}")
        if pseudo and len(found) == 1:
            return found
        allowed_ones = [move for move in found if self.moves.may_be_made(move, position)]
        if not allowed_ones and not pseudo:
            why = self.moves.why_not(found[0], position)
            raise MoveError(
                f"{printable(text)}: this move is not legal here{why}{self._possible(read, position, name)}"
            )
        return allowed_ones or found

    def _possible(self, read: object, position: Position, name: str) -> str:
        """What else there is to do, for the end of a message; nothing where the game is over."""
        near = self._offered(self._near(read, position), position, name)
        return f"; possible: {near}" if near else ""

    def _near(self, read: object, position: Position) -> Sequence[Move]:
        """The moves that a text that means none is nearest to: those from its source, or of its piece; else all."""
        allowed = self.moves.allowed(position)
        source = read.places[0] if isinstance(read, MoveText) else getattr(read, "source", None)
        if source is not None:
            return [move for move in allowed if move.source == source] or allowed
        if isinstance(read, San) and read.destination:
            alike = [move for move in allowed if self.moves.names.letter(move.piece) == read.piece]
            return [move for move in alike if move.destination == read.destination] or alike or allowed
        return allowed

    def _offered(self, moves: Sequence[Move | Chain], position: Position, notation: str = OWN) -> str:
        """The first few moves in a notation."""
        shown = [self.text(move, position, notation) for move in moves[:_OFFERED]]
        return ", ".join(map(printable, shown)) + (f" and {len(moves) - _OFFERED} more" if moves[_OFFERED:] else "")


def _sole(found: Sequence[Move | Chain], move: AnyMove) -> Move | Chain:
    """What a text or a path means; raises MoveError where that is several."""
    if len(found) > 1:
        written = printable(move if isinstance(move, str) else " ".join(path_of(found[0])))
        raise MoveError(f"{written}: {len(found)} possibilities hold: choose one of `along`")
    return found[0]
