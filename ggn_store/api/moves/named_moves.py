"""The moves of a position, and what they are called: what the notations of moves ask."""

from __future__ import annotations

import functools
from dataclasses import replace

from ggn_store.api.handle import Handle
from ggn_store.api.moves import outcomes
from ggn_store.api.moves.legal import Legal
from ggn_store.api.moves.outcomes import Judged
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.move_names import Names
from ggn_store.model.moves.position import Position


class NamedMoves:
    """The moves of a ruleset, those that are legal among them, and their names."""

    def __init__(self, legal: Legal, asked: Judged) -> None:
        self.handle: Handle = legal.handle
        self.chains = legal.chains_of
        self._legal = legal
        self._asked = asked
        # What was asked for last: whoever names all moves of a piece asks from the same place again and again.
        self._last: tuple[object, dict[str | None, list[Move]]] = None, {}
        self._turns: tuple[object, list[Move | Chain]] = None, []

    @functools.cached_property
    def names(self) -> Names:
        """What moves are called here: as the definition says, else as the identifiers of the pieces do."""
        definition = self.handle.definition
        if definition is None:
            return Names()
        from ggn_store.games.move_names import DefinedNames

        return DefinedNames(definition)

    def between(self, position: Position, source: str | None = None, destination: str | None = None) -> list[Move]:
        """The pseudo-legal moves, a pass too; those from and to a place, where they are given."""
        question = self.chains.moves.question(None, source, destination)
        asked, there = self._last
        if asked != (position, source):
            every = self.chains.moves.one(position, question._replace(destination=None), None, "fast")
            every += [move for move in self.passes(position) if source in (None, move.source)]
            there = {None: every}
            for move in every:
                there.setdefault(move.destination, []).append(move)
            self._last = (replace(position), source), there  # whose board nobody else can change
        return there.get(destination, [])

    def passes(self, position: Position) -> list[Move]:
        """The move that only passes the turn, where the game has one."""
        return self._legal.duties.passes(position)

    def allowed(self, position: Position, source: str | None = None, destination: str | None = None) -> list[Move]:
        """The legal moves; those from and to a place, where they are given."""
        return self._legal.moves(position, self.chains.moves.question(None, source, destination), None)

    def turns(self, position: Position) -> list[Move | Chain]:
        """The legal moves and chains; those of the last position are kept."""
        asked, found = self._turns
        if asked != position:
            found = outcomes.turns(self._asked, position)
            self._turns = replace(position), found
        return found

    def check(self, position: Position, move: Move) -> str:
        """What SAN writes behind a move: # where it mates, or ends the game with a winner, + where it gives check."""
        after = self._asked.apply(position, move)
        if outcomes.judge(self._asked, after, [position], self.turns).winner is not None:
            return "#"
        if not self._legal.in_check(after, None):
            return ""
        return "+" if self.turns(after) else "#"

    def may_be_made(self, move: Move | Chain, position: Position) -> bool:
        """Whether a move or a chain is legal."""
        if isinstance(move, Chain):
            return move in self._legal.chains(position)
        return move in self.allowed(position, move.source, move.destination)

    def why_not(self, move: Move | Chain, position: Position) -> str:
        """Why a move that the rules allow is not legal, as far as that can be said of it alone."""
        if isinstance(move, Move) and move.has_effects:
            after = self.chains.apply(position, move, None)
            if self._legal.in_check(after, position.side):
                return f", it leaves {position.side} in check"
        return ""
