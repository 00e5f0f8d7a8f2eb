"""What a move or a drop does to the squares around where it ends: captures that blast, enemies that turn."""

from __future__ import annotations

from typing import Final

from ggn_store.games.fairy.options import BEYOND
from ggn_store.games.fairy.walls import Walls

_ENCLOSING: Final = "enclosingDrop"
_FLIPS: Final = "flipEnclosedPieces"
DROPS: Final = ("top", "snort", "ataxx")


class Around(Walls):
    """The lines of a definition about what is around."""

    @property
    def enclosing(self) -> str:
        """The rule about what a drop has to have around it, nothing where there is none."""
        rule = self.s.value(_ENCLOSING, "none").lower()
        return "" if rule == "none" else rule

    def check_around(self) -> None:
        """Refuse what no definition says of what is around."""
        if self.enclosing and self.enclosing not in DROPS:
            self.s.refuse(_ENCLOSING, BEYOND[_ENCLOSING][1], "C")
        flips = self.s.value(_FLIPS, "none").lower()
        if flips not in ("none", "", "ataxx", "quadwrangle") or (flips == "quadwrangle" and self.enclosing):
            self.s.refuse(_FLIPS, BEYOND[_FLIPS][1], "C")
        if self.s.flag("blastOnCapture"):
            if self._spared():
                self.s.refuse("blastOnCapture", BEYOND["blastOnCapture"][1], "C")
            if self.petrified or self.walling:
                self.s.refuse("blastOnCapture", "what a capture destroys depends on every wall around it", "C")
        elif self.s.value("blastImmuneTypes"):
            self.s.refuse("blastImmuneTypes", "it is about captures that destroy what is around them", "C")

    def _spared(self) -> str:
        return self.s.letter("pawn") + self.s.letters("blastImmuneTypes")

    def around_lines(self, letter: str) -> list[str]:
        """What a piece does around where it ends."""
        lines = ['turns = "K"'] if self.s.value(_FLIPS).lower() in ("ataxx", "quadwrangle") else []
        betza, also = self._betza(letter)
        if self.s.flag("blastOnCapture") and not self._spared() and (betza or also):
            lines.append('blast = "K"')
        return lines
