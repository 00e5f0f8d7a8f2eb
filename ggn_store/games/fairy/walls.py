"""The walls of a variant: what its pieces leave on the board with each move, as a definition says it."""

from __future__ import annotations

import string
from typing import Final

from ggn_store.errors import DocumentError
from ggn_store.games import definition as definitions
from ggn_store.games import estimate
from ggn_store.games.fairy import toml
from ggn_store.games.fairy.base import COLOURS
from ggn_store.games.fairy.options import betza_parts
from ggn_store.games.fairy.piece_moves import PieceMoves
from ggn_store.games.rules import SIDES

_RULE: Final = "wallingRule"
RULES: Final = ("arrow", "past", "static")
# Where a wall is left belongs to the moves of pieces, and these have none of the kind, or others beside them.
_HOPS: Final = frozenset("pg")


class Walls(PieceMoves):
    """The lines of a definition about walls."""

    @property
    def walling(self) -> str:
        """The rule that says where walls are left, nothing where none are."""
        rule = self.s.value(_RULE, "none").lower()
        return "" if rule == "none" else rule

    def wall_table(self) -> list[str]:
        """The table of the wall, a piece of the first side that nothing takes and that never moves."""
        if not self.walling:
            return []
        own = ['name = "wall"', 'betza = ""', "immune = true", 'fen = "*"']
        return ["", f"[first.{self._letter()}]", *own]

    def wall_lines(self, letter: str) -> list[str]:
        """What a piece leaves with each of its moves."""
        betza, also = self._betza(letter)
        if self.walling not in RULES or not (betza or also):
            return []
        parts = [f'piece = "{self._letter()}"']
        everything = frozenset(self.squares)
        zones = [
            self.s.region(f"wallingRegion{COLOURS[each]}", self.s.region("wallingRegion", everything)) for each in SIDES
        ]
        if not everything <= zones[0] & zones[1]:
            self.zones["walls"] = toml.zone([zone & everything for zone in zones], self.image)
            parts.append('zone = "walls"')
        if self.walling == "past":
            parts.append("past = true")
        if self.walling == "arrow":
            parts.append(f"betza = {toml.text(self._arrow(betza, also))}")
        return [f"wall = {{ {', '.join(parts)} }}"]

    def check_walls(self, text: str) -> None:
        """Refuse walls that the definition `text` cannot say."""
        if self.walling and (reason := self._reason(text)):
            self.s.refuse(_RULE, reason, "C")

    def _reason(self, text: str) -> str:
        if self.walling == "duck":
            return f"a move takes the duck from any square to any other{self._ducks(text)}"
        if self.walling == "edge":
            return "a wall has to be on the edge or beside another one"
        if self.walling not in RULES:
            return "a rule of walls is arrow, past, static, edge or duck"
        if self.terminal:
            return "the engine's walls do not shield a royal piece, and what is left here does"
        if self.drops:
            return "a drop would leave a wall, too, and here only moves do"
        if self.walling == "arrow" and any(self.castlings.values()):
            return "where a king shoots that castles is not known"
        return ""

    def _ducks(self, text: str) -> str:
        """How many possibilities that is, where the rest of a variant is a game."""
        try:
            moves = estimate.total(definitions.read(text))
        except DocumentError:
            return ""
        return f": up to {moves * len(self.squares) ** 2:,} possibilities"

    def _arrow(self, betza: str, also: list[str]) -> str:
        """The quiet moves of a piece, which its arrow goes."""
        quiet = ""
        for modifiers, atom, length in betza_parts(betza) or ():
            if "i" in modifiers or ("m" not in modifiers and "c" in modifiers):
                continue
            if also or _HOPS & set(modifiers):
                quiet = ""
                break
            quiet += f"m{modifiers.translate(_QUIET)}{atom}{length}"
        if not quiet:
            self.s.refuse(_RULE, f"an arrow cannot go as {betza or 'nothing'} goes", "C")
        return quiet

    def _letter(self) -> str:
        known = self.s.letter_types
        return next(letter for letter in f"W{string.ascii_uppercase}?" if letter not in known)


_QUIET: Final = str.maketrans("", "", "mce")
