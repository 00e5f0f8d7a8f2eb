"""Positions of a ruleset: read, written, and put on its board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ggn_store.api.handle import Handle
from ggn_store.errors import PositionError, offer
from ggn_store.model import variables
from ggn_store.model.position import Position

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition


class Placing(Handle):
    """Positions as people have them, and as the board takes them."""

    def position(self, *, feen: str | None = None, fen: str | None = None, sfen: str | None = None) -> Position:
        """The position that a FEEN, a FEN or an SFEN text writes; the start position without any.

        FEN and SFEN are read through the letters of the ruleset's definition. Raises PositionError, quoting what is
        wrong, and where the ruleset has no definition, or no start position.
        """
        if sum(text is not None for text in (feen, fen, sfen)) > 1:
            raise PositionError("feen, fen and sfen all write a position: give one of them")
        if feen is not None:
            return Position.from_feen(feen)
        if fen is not None:
            from ggn_store.games.fen import parse_fen

            return parse_fen(fen, self._letters("FEN"))
        if sfen is not None:
            from ggn_store.games.fen import parse_sfen

            return parse_sfen(sfen, self._letters("SFEN"))
        if self.start is None:
            raise PositionError(f"{self.revision} has no start position of its own")
        return self.start

    def fen(self, position: Position | Mapping[str, str | None]) -> str:
        """The position as FEN; raises PositionError where FEN cannot say it, and without a definition."""
        from ggn_store.games.fen import fen

        return fen(as_position(position), self._letters("FEN"))

    def sfen(self, position: Position | Mapping[str, str | None]) -> str:
        """The position as SFEN; raises PositionError where SFEN cannot say it, and without a definition."""
        from ggn_store.games.fen import sfen

        return sfen(as_position(position), self._letters("SFEN"))

    def _letters(self, notation: str) -> Definition:
        if self.definition is None:
            raise PositionError(
                f"{self.revision} was not made from a definition, which says what the letters of {notation} mean: "
                "use FEEN (--feen, in Python feen=...), which can write the positions of any game"
            )
        return self.definition

    def placed(self, position: Position | Mapping[str, str | None]) -> Position:
        """`position` without squares that the board does not have; PositionError where it was declared without."""
        position = self._on_board(as_position(position))
        numbers = self.board.numbers
        if numbers.keys() >= position.board.keys():
            return position
        return replace(position, board={square: piece for square, piece in position.board.items() if square in numbers})

    def _on_board(self, position: Position) -> Position:
        """`position` with its whole state, if it fits the board.

        A board that was not declared is only a guess, and all fits.
        """
        if self.revision.envelope.board is not None:
            outside = sorted(position.board.keys() - self.board.numbers.keys())
            if outside:
                raise PositionError(
                    f"{offer(outside)}: not on the board of {self.revision}, which is {self.board.shape_text}"
                )
        return self.stated(position)

    def stated(self, position: Position) -> Position:
        """`position` with the value of every state variable; PositionError for what the rules do not know."""
        if position.state is None and not self.variables:
            return position
        return replace(position, state=variables.complete(self.variables, position.state, str(self.revision)))


def as_position(position: Position | Mapping[str, str | None]) -> Position:
    """`position`, or that of a plain mapping: the first side moves and the hands are not known."""
    return position if isinstance(position, Position) else Position(position)
