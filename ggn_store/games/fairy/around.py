"""What a move or a drop does to the squares around where it ends: captures that blast, enemies that turn."""

from __future__ import annotations

from typing import Final

from ggn_store import limits
from ggn_store.games.fairy import counts, toml
from ggn_store.games.fairy.options import BEYOND
from ggn_store.games.fairy.walls import Walls
from ggn_store.model.documents.geometry import Lattice

_ENCLOSING: Final = "enclosingDrop"
_FLIPS: Final = "flipEnclosedPieces"
DROPS: Final = ("top", "snort", "ataxx")
REVERSI: Final = "reversi"
_START: Final = "enclosingDropStart"


class Around(Walls):
    """The lines of a definition about what is around."""

    @property
    def enclosing(self) -> str:
        """The rule about what a drop has to have around it, nothing where there is none."""
        rule = self.s.value(_ENCLOSING, "none").lower()
        return "" if rule == "none" else rule

    @property
    def encloses(self) -> bool:
        """Whether drops enclose and turn pieces in lines, and nothing moves."""
        rules = self.enclosing, self.s.value(_FLIPS).lower()
        return rules == (REVERSI, REVERSI) and not any("".join(self._betza(letter)[0]) for letter in self.letters())

    def check_around(self) -> None:
        """Refuse what no definition says of what is around."""
        if self.encloses:
            self._check_enclosing()
        else:
            self._check_near()
        if self.blasts:
            if self.captures:
                name = self.s.latest(("blastOnCapture", "capturesToHand"))
                self.s.refuse(name, BEYOND["blastOnCapture"][1], "C")
            if self.walling:
                self.s.refuse("blastOnCapture", "what a capture destroys depends on every wall around it", "C")
            if self.s.letter("king") in [*self.letters()]:
                self.s.refuse(
                    "king", "a king that a blast destroys is no more, and the engine plays on: see commoner", "C"
                )
            if self.terminal:
                self.host.append("blast-safety")
        elif self.s.value("blastImmuneTypes"):
            self.s.refuse("blastImmuneTypes", "it is about captures that destroy what is around them", "C")

    def _check_enclosing(self) -> None:
        limit, count = limits.PIECE_POSSIBILITIES, counts.enclosed(Lattice(self.board), self.squares)
        allowed = f"up to {count:,} possibilities of a piece; allowed: {limit.allowed}"
        if not self.s.region(_START) <= self.start.board.keys():
            self.s.refuse(_START, f"before its squares are full drops enclose nothing: {allowed}", "C")
        if count > limit.most:
            self.s.refuse(_FLIPS, f"{BEYOND[_FLIPS][1]}: {allowed}", "C")

    def _check_near(self) -> None:
        flips = self.s.value(_FLIPS, "none").lower()
        if self.s.value(_START):
            self.s.refuse(_START, "it is about drops that enclose and turn pieces", "C")
        if self.enclosing and self.enclosing not in DROPS:
            known = BEYOND.get(f"{_ENCLOSING} {self.enclosing}", BEYOND[_ENCLOSING])
            self.s.refuse(_ENCLOSING, known[1], "C")
        if flips not in ("none", "", "ataxx", "quadwrangle") or (flips == "quadwrangle" and self.enclosing):
            self.s.refuse(_FLIPS, tier="C")

    def around_lines(self, letter: str) -> list[str]:
        """What a piece does around where it ends."""
        lines = ['turns = "K"'] if self.s.value(_FLIPS).lower() in ("ataxx", "quadwrangle") else []
        betza, also = self._betza(letter)
        if self.blasts and not self.captures and (betza or also) and not self.is_blasted_king(letter):
            spared = [each for each in self.letters() if each in self.s.letter("pawn") + self.blast_immune]
            spared += [self._letter()] if self.petrified else []
            parts = [f"spares = {toml.texts(spared)}"] if spared else []
            parts += ["stays = true"] if letter in self.blast_immune + self.petrified else []
            lines.append(f"blast = {{ {', '.join(parts)} }}" if parts else 'blast = "K"')
        return lines
