"""The moves of a position, and what they are called: what the notations of moves ask."""

from __future__ import annotations

import functools

from ggn_store.api.chains import Chains
from ggn_store.model.chain import Chain
from ggn_store.model.move import Move
from ggn_store.model.move_names import Names
from ggn_store.model.position import Position


class NamedMoves:
    """The moves of a ruleset, those that are legal among them, and their names."""

    def __init__(self, chains: Chains) -> None:
        self.handle = chains.handle
        self.chains = chains

    @functools.cached_property
    def names(self) -> Names:
        """What moves are called here: as the definition says, else as the identifiers of the pieces do."""
        definition = self.handle.definition
        if definition is None:
            return Names()
        from ggn_store.games.move_names import DefinedNames

        return DefinedNames(definition)

    def between(self, position: Position, source: str | None = None, destination: str | None = None) -> list[Move]:
        """The pseudo-legal moves; those from and to a place, where they are given."""
        return self._asked(position, source, destination)

    def allowed(self, position: Position, source: str | None = None, destination: str | None = None) -> list[Move]:
        """The moves that may be made; those from and to a place, where they are given."""
        return self._asked(position, source, destination)

    def check(self, position: Position, move: Move) -> str:
        """What SAN writes behind a move: # where it mates, + where it gives check."""
        return ""

    def may_be_made(self, move: Move | Chain, position: Position) -> bool:
        """Whether a move is one of those; of chains it is not asked."""
        return isinstance(move, Chain) or move in self.allowed(position, move.source, move.destination)

    def _asked(self, position: Position, source: str | None, destination: str | None) -> list[Move]:
        moves = self.chains.moves
        return moves.one(position, moves.question(None, source, destination), None, "fast")
