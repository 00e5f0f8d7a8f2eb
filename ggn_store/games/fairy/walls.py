"""The walls of a variant: what its pieces leave on the board, or become, as a definition says it."""

from __future__ import annotations

import string
from typing import Final

from ggn_store.games.fairy import toml
from ggn_store.games.fairy.options import BEYOND, COLOURS, betza_parts
from ggn_store.games.fairy.piece_moves import PieceMoves
from ggn_store.games.rules import SIDES

_RULE: Final = "wallingRule"
_PETRIFIED: Final = "petrifyOnCaptureTypes"
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

    @property
    def petrified(self) -> str:
        """The letters of the pieces that are walls once they have captured."""
        return self.s.letters(_PETRIFIED)

    def _betza(self, letter: str) -> tuple[str, list[str]]:
        betza, also = super()._betza(letter)
        if (letter in self.terminal and letter in self.petrified) or self.is_blasted_king(letter):
            # It would be lost with its capture, and so attacks nothing.
            return "".join(map("".join, _quiet(betza_parts(betza) or []))), also
        return betza, also

    @property
    def blasts(self) -> bool:
        """Whether captures destroy what is around them."""
        return self.s.flag("blastOnCapture")

    @property
    def blast_immune(self) -> str:
        """The letters of the pieces that no blast destroys."""
        return self.s.letters("blastImmuneTypes")

    def is_blasted_king(self, letter: str) -> bool:
        """Whether a piece is royal, and its own captures would destroy it."""
        return self.blasts and letter in self.terminal and letter not in self.blast_immune

    def petrifying(self, letter: str, promotion: list[str]) -> list[str]:
        """What becomes of a piece, by a capture or, on the lines that are given, by a promotion."""
        if letter not in self.petrified or letter in self.terminal:
            return promotion
        rules = [f'{{ on = "any", to = ["{self._letter()}"], forced = true, capturing = true }}']
        rules += [each.removeprefix("promotion = ") for each in promotion]
        return [f"promotion = {rules[0]}" if len(rules) == 1 else f"promotion = [{', '.join(rules)}]"]

    def wall_table(self) -> list[str]:
        """The table of the wall, a piece of the first side that nothing takes and that never moves."""
        if self.petrified:
            self._check_petrified()
        if not self.walling and not self.petrified:
            return []
        if self.walling and (reason := self._reason()):
            self.s.refuse(_RULE, reason, "C")
        own = ['name = "wall"', 'betza = ""', "immune = true", 'fen = "*"']
        return ["", f"[first.{self._letter()}]", *own]

    def wall_lines(self, letter: str) -> list[str]:
        """What a piece leaves with each of its moves."""
        betza, also = self._betza(letter)
        if self.walling not in RULES or not (betza or also):
            return []
        parts = [f'piece = "{self._letter()}"']
        everything = frozenset(self.squares)
        zones = [self.s.region(f"wallingRegion{COLOURS[each]}", everything) for each in SIDES]
        if not everything <= zones[0] & zones[1]:
            self.zones["walls"] = toml.zone([zone & everything for zone in zones], self.image)
            parts.append('zone = "walls"')
        if self.walling == "past":
            parts.append("past = true")
        if self.walling == "arrow":
            parts.append(f"betza = {toml.text(self._arrow(betza, also))}")
        return [f"wall = {{ {', '.join(parts)} }}"]

    def _check_petrified(self) -> None:
        if self.s.letter("king") in [*self.petrified]:
            self.s.refuse(_PETRIFIED, "a king that captures is no more, and the engine plays on", "C")
        pawns = {pawn: side for side in SIDES for pawn in self._pawns(side)}
        if any(
            pawn in self.petrified and not {*self.targets[side]} <= {*self.petrified} for pawn, side in pawns.items()
        ):
            self.s.refuse(_PETRIFIED, "a pawn that captures and becomes what is not petrified is no more", "C")
        if self.captures:
            self.s.refuse(_PETRIFIED, "what is petrified goes to a hand, too", "C")

    def _reason(self) -> str:
        if known := BEYOND.get(f"{_RULE} {self.walling}"):
            return known[1]
        if self.terminal:
            return BEYOND[_RULE][1]
        if self.drops:
            return "where the engine leaves a wall after a drop is not known"
        if self.walling == "arrow" and any(self.castlings.values()):
            return "where a king shoots that castles is not known"
        return ""

    def _arrow(self, betza: str, also: list[str]) -> str:
        """The quiet moves of a piece, which its arrow goes."""
        parts = [part for part in _quiet(betza_parts(betza) or []) if "i" not in part[0]]
        if also or not parts or any(_HOPS & set(modifiers) for modifiers, _, _ in parts):
            self.s.refuse(_RULE, f"an arrow cannot go as {betza or 'nothing'} goes", "C")
        return "".join(map("".join, parts))

    def _letter(self) -> str:
        known = self.s.letter_types
        return next(letter for letter in f"W{string.ascii_uppercase}?" if letter not in known)


def _quiet(parts: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The quiet moves among the parts of a Betza string."""
    quiet = [part for part in parts if "m" in part[0] or "c" not in part[0]]
    return [(f"m{modifiers.translate(_MODES)}", atom, length) for modifiers, atom, length in quiet]


_MODES: Final = str.maketrans("", "", "mce")
