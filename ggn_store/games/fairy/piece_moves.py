"""How a variant's pieces move: types, custom Betza strings, and the squares that they keep to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ggn_store.errors import quote
from ggn_store.games.betza import BetzaError, parse
from ggn_store.games.fairy import toml
from ggn_store.games.fairy.base import BaseVariant
from ggn_store.games.fairy.options import (
    ALONG_LINES,
    BEYOND,
    CAMBODIAN,
    COLOURS,
    MOBILITY,
    PIECES,
    betza_parts,
    is_nothing,
    is_taken,
)
from ggn_store.games.routes import routes
from ggn_store.games.rules import SIDES
from ggn_store.model.documents.geometry import Lattice, view
from ggn_store.notation.qpi import Side

_CAPITAL = re.compile("(?<!^)(?=[A-Z])")


def spelled(kind: str) -> str:
    """The name of a type of piece in words."""
    return _CAPITAL.sub(" ", kind).lower()


class PieceMoves(BaseVariant):
    """The lines of a definition about how pieces move."""

    def _moves(self, letter: str, side: Side) -> list[str]:
        """How a piece moves: its name, Betza string, and everything that belongs to it."""
        kind = self.s.letter_types[letter]
        name = [] if kind.startswith("custom") else [f"name = {toml.text(spelled(kind))}"]
        betza, also = self._betza(letter)
        lines = name + self._ways(letter, betza, also)
        if letter in self.s.letters("mutuallyImmuneTypes") or kind == "janggiCannon":
            lines.append(f"captures_except = {toml.texts([letter])}")
        if kind == "janggiCannon":
            lines.append(f"hurdles_except = {toml.texts([letter])}")
        if "i" in betza or any('betza = "i' in each for each in also):
            if self.s.letter_types[letter] not in CAMBODIAN or not self.s.flag("cambodianMoves"):
                lines.append(f'initial = "{self._double_steps()}"')
            if self._passes(letter):
                lines.append(self._en_passant())
        return lines

    def _ways(self, letter: str, betza: str, also: list[str], *, is_confined: bool = True) -> list[str]:
        """The lines that say where a piece goes, and whether it has to stay in a zone."""
        lines = [f"betza = {toml.text(betza)}", *([f"also = [{', '.join(also)}]"] if also else [])]
        zone = self._confined(letter, self.s.letter_types[letter], betza) if is_confined else None
        return lines if zone is None else [*lines, f"confined = {toml.text(zone)}"]

    def _betza(self, letter: str) -> tuple[str, list[str]]:
        """A piece's Betza string, and further ways of moving from some squares."""
        kind = self.s.letter_types[letter]
        given = self.s.types[kind][1]
        also: list[str] = []
        steps = self.s.flag("doubleStep", True) and any(self._steps("doubleStepRegion", side) for side in SIDES)
        if kind == "pawn":
            triple = any(self._steps("tripleStepRegion", side) for side in SIDES)
            passing = "cefF" if (steps or triple) and self._passes(letter) else "cfF"
            if triple:
                also.append(f'{{ from = "{self._triple_steps()}", betza = "imfnH" }}')
            return f"mfW{'imfnD' if steps else ''}{passing}", also
        betza = PIECES[kind] if given is None else given
        if given is not None:
            betza = self._checked(kind, given, letter)
        if kind == "soldier" and (rank := self.s.number("soldierPromotionRank", 1)) > 1:
            zones = [self._ranks(side, rank) for side in SIDES]
            self.zones["over-the-river"] = toml.zone(zones, self.image)
            also.append('{ from = "over-the-river", betza = "sW" }')
            betza = "fW"
        if self.s.flag("cambodianMoves") and kind in CAMBODIAN:
            betza += CAMBODIAN[kind]
        if self.s.value("diagonalLines") and kind in ALONG_LINES:
            squares = self.s.region("diagonalLines")
            self.zones["lines"] = toml.zone([squares, squares], self.image)
            also.append(f'{{ from = "lines", betza = "{ALONG_LINES[kind]}", within = "lines" }}')
        return betza, also

    def _checked(self, kind: str, betza: str, letter: str) -> str:
        """A custom piece's moves in the strict notation: its first moves are quiet, and options say what passes."""
        patterns = betza_parts(betza)
        if patterns is None:
            self.s.refuse(kind, f"{quote(betza)} is not in the Betza notation of Fairy-Stockfish")
            return betza
        patterns = [pattern for pattern in patterns if not is_nothing(*pattern)]
        if not patterns:
            return ""
        if other := next((pattern for pattern in patterns if not is_taken(*pattern)), None):
            self.s.refuse(kind, f"Fairy-Stockfish takes {quote(''.join(other))} for something else, or for nothing")
            return betza
        written = ""
        steps = self.s.flag("doubleStep", True)
        for modifiers, atom, length in patterns:
            modifiers = modifiers.replace("e", "")
            if "i" in modifiers:
                if "c" in modifiers and "m" not in modifiers:
                    self.s.refuse(kind, "a first move that captures only has no meaning in Fairy-Stockfish")
                if not steps:
                    continue
                modifiers = modifiers if "m" in modifiers else f"m{modifiers}"
            elif "c" in modifiers and "m" not in modifiers and steps and self._passes(letter):
                modifiers += "e"  # a move that may be quiet passes nothing
            written += modifiers + atom + length
        try:
            parse(written or betza)
        except BetzaError as error:
            self.s.refuse(kind, str(error).replace(written, betza) if written else str(error))
        return written or betza

    def _check_region(self, letter: str, kind: str, zones: Mapping[Side, frozenset[str]]) -> None:
        for side, zone in zones.items():
            is_made = letter in {*self.promoted.values(), *self.targets[side]}
            if is_made and not self._promotion_region(side) <= zone:
                self.s.refuse(f"{MOBILITY}{COLOURS[side]}{kind[0].upper()}{kind[1:]}", BEYOND[MOBILITY][1])

    def _confined(self, letter: str, kind: str, betza: str) -> str | None:
        """The zone that a piece stays in, because its options say so or because it could not move on elsewhere."""
        everything = frozenset(self.squares)
        suffix = kind[0].upper() + kind[1:]
        zones = {side: self.s.region(f"{MOBILITY}{COLOURS[side]}{suffix}", everything) & everything for side in SIDES}
        self._check_region(letter, kind, zones)
        promotes = letter in self.promoted or any(letter in self._pawns(side) for side in SIDES)
        if self.s.flag("immobilityIllegal") and not promotes and betza:
            try:
                patterns = parse(betza)
            except BetzaError:
                return None
            lattice = Lattice(self.board)
            for side in SIDES:
                seen = view(side, lattice.dimensions)
                zones[side] -= {
                    square for square in zones[side] if not any(True for _ in routes(patterns, square, lattice, seen))
                }
        if self.s.flag("mandatoryPawnPromotion", True):
            # What must become something there and has nothing to become may not go there.
            for side in SIDES:
                if letter in self._pawns(side) and not self.targets[side] and letter not in self.promoted:
                    zones[side] -= self._promotion_region(side)
                    if self.terminal:
                        self.s.leave("promotionPieceTypes", "silent-attacks")
        if all(zone == everything for zone in zones.values()):
            return None
        name = f"area-{letter.lower()}"
        self.zones[name] = toml.zone(zones.values(), self.image)
        return name
