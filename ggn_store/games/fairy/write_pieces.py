"""How the pieces of a definition move -> types of pieces of a variants.ini, predefined ones or Betza strings."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ggn_store.errors import ConversionError, quote
from ggn_store.games.betza import parse
from ggn_store.games.fairy.options import ALONG_LINES, CAMBODIAN, COLOURS, MOBILITY, PAWN, PIECES, betza_parts, is_taken
from ggn_store.games.patterns import BetzaPattern
from ggn_store.games.rules import SIDES, Also, Definition, PieceRule, Zone
from ggn_store.notation import cell, feen
from ggn_store.notation.qpi import Side

MAX_FILES: Final = 12
MAX_RANKS: Final = 10
_FIRST_STEPS: Final = "imfnD"
TRIPLE_STEP: Final = "imfnH"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a section does not say: where the definition says it and why, and whether moves differ for want of it."""

    where: str
    reason: str
    moves: bool = False

    def __str__(self) -> str:
        return f"{'moves differ' if self.moves else 'left out'}: {self.where}: {self.reason}"


def _require_board(definition: Definition, name: str) -> None:
    lattice = definition.lattice
    if lattice.dimensions != 2:
        raise ConversionError(f"{name}: Fairy-Stockfish has boards of two dimensions, and this one has another number")
    if lattice.hexagonal:
        raise ConversionError(f"{name}: Fairy-Stockfish has boards of squares, and this one has hexagons")
    files, ranks = lattice.size
    if files > MAX_FILES or ranks > MAX_RANKS or tuple(lattice.low) != (0, 0):
        found = f"{files}x{ranks}" + ("" if tuple(lattice.low) == (0, 0) else ", and does not begin at a1")
        raise ConversionError(f"{name}: Fairy-Stockfish has boards of up to {MAX_FILES}x{MAX_RANKS}; this is {found}")
    letters = {piece.letter for piece in definition.pieces}
    if not letters <= set(string.ascii_uppercase):
        raise ConversionError(f"{name}: Fairy-Stockfish has the letters A to Z for pieces")


def ways(patterns: Iterable[BetzaPattern]) -> frozenset[object]:
    """What patterns say, in one form: each way to leap or ride, each mode for itself; without captures in passing."""
    found: set[object] = set()
    for pattern in patterns:
        if len(pattern.legs) > 1:
            found.add(pattern)
            continue
        leg = pattern.legs[0]
        modes = [name for name in ("quiet", "capture", "friendly") if getattr(leg, name)]
        for track in leg.tracks:
            found |= {
                (track, leg.reach, mode, leg.hop, leg.lame, leg.jump, pattern.initial, pattern.cylinder)
                for mode in modes
            }
    return frozenset(found)


def quiet(patterns: Iterable[BetzaPattern]) -> frozenset[object]:
    """Of what patterns say, the quiet moves that are no first ones."""
    plain = [pattern for pattern in patterns if not pattern.initial]
    legs = [tuple(replace(leg, capture=False, friendly=False) for leg in pattern.legs) for pattern in plain]
    return ways(replace(pattern, legs=leg) for pattern, leg in zip(plain, legs, strict=True))


def said(betza: str) -> frozenset[object]:
    return ways(parse(betza)) if betza else frozenset()


def _turned(pattern: BetzaPattern) -> BetzaPattern:
    """The same with left and right exchanged."""
    return replace(
        pattern,
        legs=tuple(
            replace(leg, tracks=tuple(tuple((-x, *rest) for x, *rest in track) for track in leg.tracks))
            for leg in pattern.legs
        ),
    )


def _movement(piece: PieceRule) -> tuple[object, ...]:
    """What one type of pieces has to have in common."""
    return ways(piece.moves.patterns), piece.also, piece.captures_except, piece.hurdles_except


class PieceWriter:
    """The options of a section so far, what is left out of it, and the types of its pieces."""

    def __init__(self, definition: Definition, name: str) -> None:
        _require_board(definition, name)
        self.definition = definition
        self.name = name
        self.files, self.ranks = definition.lattice.size
        self.squares = frozenset(definition.board.squares)
        self.options: dict[str, str] = {}
        self.left: dict[LeftOut, None] = {}
        self.duties = {duty.name for duty in definition.said.duties}
        start = None if definition.start is None else feen.parse(definition.start)
        self.start = Counter() if start is None else Counter(start.board.values()) + Counter(start.hands)
        # Pieces as their tables name them, each once where both sides have the same.
        self.pieces = {(piece.token, piece.sides): piece for piece in definition.pieces}
        self.walls = {piece.token for piece in definition.pieces if piece.is_wall and piece.fen == "*"}
        self.plain = [piece for piece in definition.pieces if piece.state == "" and piece.token not in self.walls]
        self.letters: dict[str, str] = {piece.letter: piece.letter.lower() for piece in self.plain}
        self.kinds: dict[str, str] = {}
        self.immobile: list[PieceRule] = []
        self.king, self.pseudo_royal = self._royals()

    # --- writing ---

    def put(self, name: str, value: str, where: str, *, moves: bool = True) -> None:
        """Set an option, which must not say anything else already."""
        known = self.options.setdefault(name, value)
        if known != value:
            self.leave(where, f"the option {name} says {known} already, and this asks for {value}", moves=moves)

    def leave(self, where: str, reason: str, *, moves: bool = False) -> None:
        """Note what is left out."""
        self.left[LeftOut(where, reason, moves)] = None

    @property
    def has_royal(self) -> bool:
        """Whether there is anything that can be in check."""
        return bool(self.king or self.pseudo_royal)

    def letters_of(self, tokens: Iterable[str]) -> str:
        """The letters of the types that tokens are, each once."""
        return "".join(dict.fromkeys(self.letters.get(token, token.strip("+-").lower()) for token in tokens))

    def region(self, squares: Iterable[str]) -> str:
        """Squares as an option names them: whole ranks, whole files, single squares."""
        rest, found = {cell.parse(square) for square in squares}, []
        for y in range(self.ranks):
            rank = {(x, y) for x in range(self.files) if cell.text((x, y)) in self.squares}
            if rank and rank <= rest:
                found.append(f"*{y + 1}")
                rest -= rank
        return " ".join([*found, *map(cell.text, sorted(rest))]) or "-"

    def of_sides(self, name: str, first: str, second: str, where: str) -> None:
        """Set an option that each side may have for itself."""
        if first == second:
            self.put(name, first, where)
        else:
            self.put(f"{name}White", first, where)
            self.put(f"{name}Black", second, where)

    def zones(self, name: str, zone: Zone, where: str, sides: Iterable[Side] = SIDES) -> None:
        """Set the regions of both sides."""
        for side in sides:
            self.put(f"{name}{COLOURS[side]}", self.region(zone.of(side)), where)

    def where(self, piece: PieceRule, key: str) -> str:
        """The place of a piece's key in the definition."""
        table = "pieces" if len(piece.sides) == len(SIDES) else piece.sides[0]
        return f"{table}.{piece.token}.{key}"

    # --- pieces ---

    def count(self, token: str, side: Side) -> int:
        """How many pieces a side starts with, on the board and in its hand."""
        forms = self.definition.forms.items()
        names = [name for name, form in forms if form.piece.token == token and form.side == side]
        return sum(self.start[name] for name in names)

    def _royals(self) -> tuple[str, str]:
        """The letter of the king, and those of pieces that are royal as long as they must not be lost."""
        if "royal-safety" not in self.duties:
            return "", ""
        made = {token.strip("+-") for piece in self.definition.pieces for rule in piece.promotions for token in rule.to}
        royal = list(dict.fromkeys(piece.letter for piece in self.plain if piece.terminal))
        if any(piece.terminal and piece.state for piece in self.definition.pieces):
            made |= set(royal)  # what another piece may become is no king
        single = [
            letter for letter in royal if letter not in made and all(self.count(letter, side) <= 1 for side in SIDES)
        ]
        king = single[0] if single else ""
        return king, "".join(letter for letter in royal if letter != king)

    def _type(self, piece: PieceRule, letter: str | None = None) -> None:
        """The option that names the type of a piece, or defines one."""
        letter = letter or piece.letter
        if letter in self.kinds:
            other = next(each for each in self.plain if each.letter == letter)
            if _movement(other) != _movement(piece):
                reason = "one letter is one type of piece for both sides: give them different letters"
                self.leave(self.where(piece, "betza"), reason, moves=True)
            kind = self.kinds[letter]
        else:
            kind = self._chosen(piece, letter)
            self.kinds[letter] = kind
        if piece.confined is not None and any(piece.confined.of(side) != self.squares for side in piece.sides):
            suffix = kind[0].upper() + kind[1:]
            for side in piece.sides:
                squares = self.region(piece.confined.of(side))
                self.put(f"{MOBILITY}{COLOURS[side]}{suffix}", squares, self.where(piece, "confined"))
        if piece.immune:
            self.leave(self.where(piece, "immune"), "no option says that a piece cannot be captured", moves=True)
        self._exceptions(piece, letter, kind)
        symmetric = ways(map(_turned, piece.moves.patterns)) == ways(piece.moves.patterns)
        if not symmetric and not self.definition.turned and "second" in piece.sides:
            reason = "left and right are those of each player in Fairy-Stockfish (turned = true)"
            self.leave(self.where(piece, "betza"), reason, moves=True)

    def _chosen(self, piece: PieceRule, letter: str) -> str:
        if letter == self.king:
            is_usual = self._options_of("king", piece) is not None
            value = letter.lower() if is_usual else f"{letter.lower()}:{self._custom(piece)}"
            self.put("king", value, self.where(piece, "betza"))
            return "king"
        for kind in PIECES:
            found = None if kind == "king" or kind in self.options else self._options_of(kind, piece)
            if kind == "janggiCannon" and {piece.captures_except, piece.hurdles_except} != {(letter,)}:
                continue
            if found is not None and "custom" not in kind:
                self.put(kind, letter.lower(), self.where(piece, "betza"))
                for name, value in found.items():
                    self.put(name, value, self.where(piece, "also"))
                return kind
        kind = next(f"customPiece{n}" for n in range(1, 27) if f"customPiece{n}" not in self.options)
        self.put(kind, f"{letter.lower()}:{self._custom(piece)}", self.where(piece, "betza"))
        return kind

    def _options_of(self, kind: str, piece: PieceRule) -> Mapping[str, str] | None:
        """The options that make a predefined type move as a piece; None where none does."""
        own = ways(piece.moves.patterns)
        if kind == "pawn":
            steps = own - said(PAWN)
            is_pawn = said(PAWN) <= own and steps <= said(_FIRST_STEPS + TRIPLE_STEP)
            is_pawn = is_pawn and all(ways(also.moves.patterns) == said(TRIPLE_STEP) for also in piece.also)
            return {} if is_pawn else None
        expected = PIECES[kind]
        if "no-leap-from-check" in self.duties and kind in CAMBODIAN:
            return {} if own == said(expected + CAMBODIAN[kind]) and not piece.also else None
        if kind == "soldier" and len(piece.also) == 1 and (rank := self._river(piece.also[0])):
            return {"soldierPromotionRank": str(rank)} if own == said("fW") else None
        if own != said(expected):
            return None
        return self._lines(kind, piece.also)

    def _lines(self, kind: str, also: Sequence[Also]) -> Mapping[str, str] | None:
        """The option for ways along diagonal lines, on which a type that goes along them must have its own."""
        # A king is given a type that goes along lines in Fairy-Stockfish's own variants only.
        along = None if kind == "king" else ALONG_LINES.get(kind)
        if not also:
            has_lines = any(each.within is not None for piece in self.plain for each in piece.also)
            return {} if along is None or not has_lines else None
        one = also[0]
        if along is None or len(also) > 1 or one.start is None or one.start != one.within:
            return None
        same = one.start.first == one.start.second and ways(one.moves.patterns) == said(along)
        return {"diagonalLines": self.region(one.start.first)} if same else None

    def _river(self, also: Also) -> int:
        """The rank from which a soldier goes sideways, 0 where that is not what is said."""
        if also.start is None or also.within is not None or ways(also.moves.patterns) != said("sW"):
            return 0
        rank = min(cell.parse(square)[1] for square in also.start.first) + 1
        beyond = {square for square in self.squares if cell.parse(square)[1] >= rank - 1}
        mirrored = {square for square in self.squares if cell.parse(square)[1] <= self.ranks - rank}
        return rank if also.start == Zone(frozenset(beyond), frozenset(mirrored)) else 0

    def _custom(self, piece: PieceRule) -> str:
        """The Betza string of a piece as far as Fairy-Stockfish reads it; it has no word for captures in passing."""
        where, betza = self.where(piece, "betza"), piece.moves.betza
        parts = betza_parts(betza)
        if parts is None:
            self.leave(where, f"{quote(betza)} is not in the Betza notation of Fairy-Stockfish", moves=True)
            return ""
        written = ""
        for modifiers, atom, length in parts:
            text = modifiers + atom + length
            if not is_taken(modifiers, atom, length):
                self.leave(where, f"Fairy-Stockfish takes {quote(text)} for something else, or for nothing", moves=True)
                continue
            plain = modifiers.replace("e", "")
            captures = "c" in plain or "m" not in plain
            if "i" in plain and captures:
                self.leave(where, f"first moves are quiet in Fairy-Stockfish: {quote(text)}", moves=True)
                if "c" in plain and "m" not in plain:
                    continue
            elif "e" in modifiers and "c" not in plain and "m" not in plain:
                continue
            elif piece.token in self.takers() and captures != ("e" in modifiers):
                self.leave(where, f"{quote(text)}: all captures take in passing, or none does", moves=True)
            written += plain + atom + length
        if not all(map(self.is_triple, piece.also)):
            self.leave(self.where(piece, "also"), "a custom piece moves everywhere alike", moves=True)
        return written

    def is_triple(self, also: Also) -> bool:
        return ways(also.moves.patterns) == said(TRIPLE_STEP)

    def _exceptions(self, piece: PieceRule, letter: str, kind: str) -> None:
        if kind == "janggiCannon":
            return
        if piece.captures_except == (letter,):
            self.options["mutuallyImmuneTypes"] = self.options.get("mutuallyImmuneTypes", "") + letter.lower()
        elif piece.captures_except:
            reason = "a type of pieces may only spare its own kind"
            self.leave(self.where(piece, "captures_except"), reason, moves=True)
        if piece.hurdles_except:
            reason = "only a janggiCannon jumps over all but its own kind"
            self.leave(self.where(piece, "hurdles_except"), reason, moves=True)

    def _states(self) -> None:
        """The pieces with a state: +P is what P promotes to, -Q a queen that was a pawn."""
        promoters = {piece.letter for piece in self.plain for rule in piece.promotions if f"+{piece.letter}" in rule.to}
        pairs = {}
        for piece in self.definition.pieces:
            if piece.state == "-":
                plain = next((each for each in self.plain if each.letter == piece.letter), None)
                if plain is None or ways(plain.moves.patterns) != ways(piece.moves.patterns) or piece.fen is None:
                    reason = "only what a pawn promoted to has such a state, and it moves as the piece without it"
                    self.leave(self.where(piece, "betza"), reason, moves=True)
                elif not self.definition.captures:
                    reason = "that a piece was promoted is only remembered where captures go to the hand"
                    self.leave(self.where(piece, "fen"), reason)
            elif piece.state == "+":
                if piece.letter not in promoters:
                    self.leave(self.where(piece, "betza"), f"{piece.letter} does not promote to it", moves=True)
                pairs[piece.letter] = self._target(piece, promoters)
        if pairs:
            value = " ".join(f"{letter.lower()}:{target.lower()}" for letter, target in pairs.items())
            self.put("promotedPieceType", value, "pieces")
            self.letters |= {f"+{letter}": target.lower() for letter, target in pairs.items()}

    def _target(self, piece: PieceRule, promoters: set[str]) -> str:
        """The letter of the type that a promoted piece moves as: one of the game, or one of its own."""
        for each in self.plain:
            same = (each.confined, each.terminal) == (piece.confined, piece.terminal)
            if same and _movement(each) == _movement(piece) and each.letter not in promoters:
                return each.letter
        for letter, kind in self.kinds.items():
            same = kind in PIECES and said(PIECES[kind]) == ways(piece.moves.patterns)
            if same and letter not in self.letters and piece.confined is None and not piece.also:
                return letter
        free = next((each for each in string.ascii_uppercase if each not in self.kinds), None)
        if free is None:
            raise ConversionError(f"{self.name}: Fairy-Stockfish has 26 types of pieces, and this game has more")
        self._type(piece, free)
        return free

    def takers(self) -> dict[str, set[Side]]:
        """The pieces that capture in passing, with the sides that have them."""
        found: dict[str, set[Side]] = {}
        for piece in self.plain:
            if any(leg.en_passant for pattern in piece.moves.patterns for leg in pattern.legs):
                found.setdefault(piece.token, set()).update(piece.sides)
        return found
