"""How a variant's pieces move: types, custom Betza strings, and the squares that they keep to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

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
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side

_CAPITAL = re.compile("(?<!^)(?=[A-Z])")


def spelled(kind: str) -> str:
    """The name of a type of piece in words."""
    return _CAPITAL.sub(" ", kind).lower()


def _diagonals(squares: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The pairs of squares that lie on one diagonal."""
    for one, other in itertools.combinations(sorted(squares), 2):
        (a, b), (c, d) = cell.parse(one), cell.parse(other)
        if abs(a - c) == abs(b - d):
            yield one, other


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
            if not self.leaps_first(letter):
                lines.append(f'initial = "{self._initial()}"')
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
            double, triple = (
                [self._steps(f"{each}StepRegion", side) for side in SIDES] for each in ("double", "triple")
            )
            passing = "cefF" if (steps or any(triple)) and self._passes(letter) else "cfF"
            apart = steps and any(not there <= here for here, there in zip(double, triple, strict=True))
            if apart:
                also.append(f'{{ from = "{self._first_steps("double")}", betza = "imfnD" }}')
            if any(triple):
                also.append(f'{{ from = "{self._first_steps("triple")}", betza = "imfnH" }}')
            return f"mfW{'imfnD' if steps and not apart else ''}{passing}", also
        betza = PIECES[kind] if given is None else given
        if given is not None:
            betza = self._checked(kind, given, letter)
        if kind == "soldier" and (rank := self.s.number("soldierPromotionRank", 1)) > 1:
            zones = [self._ranks(side, rank) for side in SIDES]
            self.zones["over-the-river"] = toml.zone(zones, self.image)
            also.append('{ from = "over-the-river", betza = "sW" }')
            betza = "fW"
        if self.leaps_first(letter):
            betza += CAMBODIAN[kind]
        if self.s.value("diagonalLines") and kind in ALONG_LINES:
            squares = self.s.region("diagonalLines")
            lattice = Lattice(self.board)
            if any(not squares.issuperset(*lattice.lines(*ends)) for ends in _diagonals(squares)):
                self.s.refuse("diagonalLines")
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
            made = self._promotion_region(side) if is_made else frozenset()
            if not made.union(self.start.squares(letter, side)) <= zone:
                self.s.refuse(f"{MOBILITY}{COLOURS[side]}{kind[0].upper()}{kind[1:]}", BEYOND[MOBILITY][1])

    def _stuck(self, betza: str, side: Side) -> frozenset[str]:
        """The squares from which a piece with these moves could not move on."""
        try:
            patterns = parse(betza) if betza else ()
        except BetzaError:  # which is refused
            patterns = ()
        lattice = Lattice(self.board)
        seen = view(side, lattice.dimensions)
        found = (each for each in self.squares if not any(True for _ in routes(patterns, each, lattice, seen)))
        return frozenset(found if patterns else ())

    def _confined(self, letter: str, kind: str, betza: str) -> str | None:
        """The zone that a piece stays in, because its options say so or because it could not move on elsewhere."""
        everything = frozenset(self.squares)
        suffix = kind[0].upper() + kind[1:]
        zones = {side: self.s.region(f"{MOBILITY}{COLOURS[side]}{suffix}", everything) & everything for side in SIDES}
        self._check_region(letter, kind, zones)
        promotes = letter in self.promoted or any(letter in self._pawns(side) for side in SIDES)
        if self.s.flag("immobilityIllegal"):
            for side in SIDES:
                stuck = zones[side] & self._stuck(betza, side)
                if not promotes:
                    zones[side] -= stuck
                elif not stuck <= self._promotion_region(side) or (stuck and self.s.flag("piecePromotionOnCapture")):
                    self.s.refuse("immobilityIllegal")
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
