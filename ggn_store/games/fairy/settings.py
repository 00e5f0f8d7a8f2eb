"""The options of a variant, read as what they are: switches, numbers, pieces, regions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import quote
from ggn_store.games.fairy.ini import Option
from ggn_store.games.fairy.options import BEYOND, PIECES, RANKS, SETTING, sides
from ggn_store.model.record import Record
from ggn_store.notation import cell

DEFAULT_FEN: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MAX_FILES: Final = 26
MAX_RANKS: Final = 26
_PIECE = re.compile(r"([A-Za-z])[A-Za-z]?(?::(.*))?", re.ASCII)
_AREA = re.compile(r"(\*|[a-z])(\*|[1-9][0-9]?)", re.ASCII)
_PAIR = re.compile(r"([A-Za-z]):(\S+)", re.ASCII)
_PAIR_LETTERS = re.compile(r"\b[A-Za-z]\b", re.ASCII)


# Options that name pieces by letter. What inherits them inherits the types that they meant.
_SETS: Final = frozenset(
    (
        *("pawnTypes", "extinctionPieceTypes", "connectPieceTypes", "mutuallyImmuneTypes", "dropNoDoubled"),
        *("petrifyOnCaptureTypes", "blastImmuneTypes"),
        *(*sides("promotionPawnTypes"), *sides("promotionPieceTypes")),
        *(*sides("enPassantTypes"), *sides("castlingKingPiece"), *sides("castlingRookPieces")),
        *(*sides("flagPiece"), *sides("nMoveRuleTypes")),
    )
)
_ON: Final = Option("", "true", None)
_PAIRS: Final = frozenset({"promotedPieceType", "promotionLimit"})


@dataclass(frozen=True, slots=True)
class Refusal(Record):
    """An option that a document cannot carry: why, the tier, and the duty of the host that would carry it."""

    option: str
    value: str
    line: int | None
    tier: str
    reason: str
    duty: str | None = None


def to_host(duty: str) -> str:
    """Why what is a duty of the host is refused."""
    return f"it is left to the host: {duty}"


class Settings:
    """A variant's options with their defaults; what cannot be read is added to `refusals`."""

    def __init__(self, options: Mapping[str, Option]) -> None:
        self.options = options
        self.refusals: list[Refusal] = []
        self.types = self._types()
        self.files = self._size("maxFile", MAX_FILES)
        self.ranks = self._size("maxRank", MAX_RANKS)

    def refuse(self, name: str, reason: str = "", tier: str = "D", duty: str | None = None) -> None:
        """Note that an option cannot be carried, for the reason that the table has of it where none is given."""
        option = self.options.get(name, Option(name, "", None))
        reason = reason or BEYOND[name][1]
        refusal = Refusal(option.name, option.value, option.line, tier, reason, duty)
        if refusal not in self.refusals:
            self.refusals.append(refusal)

    def leave(self, name: str, duty: str) -> None:
        """Note that an option is a duty of the host."""
        self.refuse(name, to_host(duty), "B", duty)

    def value(self, name: str, default: str = "") -> str:
        """The text of an option; `-` and nothing are the same."""
        option = self.options.get(name)
        value = default if option is None else option.value
        return "" if value == "-" else value

    def flag(self, name: str, default: bool = False) -> bool:
        """A switch."""
        value = self.value(name, "true" if default else "false")
        if value not in ("true", "false"):
            self.refuse(name, f"{quote(value)} is not true or false")
        return value == "true"

    def number(self, name: str, default: int) -> int:
        """A whole number."""
        value = self.value(name, str(default))
        if value.isdecimal() and value.isascii() and len(value) < 5:
            return int(value)
        self.refuse(name, f"{quote(value)} is not a number")
        return default

    def file(self, name: str, default: int) -> int:
        """A file, as its letter or its number, from 0."""
        value = self.value(name, str(default + 1)).lower()
        if len(value) == 1 and "a" <= value <= "z":
            return ord(value) - ord("a")
        if value.isdecimal() and value.isascii() and 1 <= int(value) <= MAX_FILES:
            return int(value) - 1
        self.refuse(name, f"{quote(value)} is not a file")
        return default

    def letters(self, name: str, default: str = "") -> str:
        """A set of pieces, in upper case and in order, those that the variant does not have left out."""
        value = self.value(name, default).upper().replace(" ", "")
        if value == "*":
            return "".join(sorted(self.letter_types))
        if not re.fullmatch("[A-Z]*", value):
            self.refuse(name, f"{quote(value)} is not a list of pieces")
            return ""
        return "".join(letter for letter in dict.fromkeys(value) if letter in self.letter_types)

    def check_letters(self) -> None:
        """Refuse letters that no piece has in what a section says itself: the engine reads a list up to the first."""
        for name, option in self.options.items():
            if option.line is None or name not in _SETS | _PAIRS:
                continue
            named = _PAIR_LETTERS.findall(option.value) if name in _PAIRS else filter(str.isalpha, option.value)
            if unknown := [each for each in named if each.upper() not in self.letter_types]:
                self.refuse(name, f"no piece of the variant has the letter {quote(unknown[0].lower())}")

    def pairs(self, name: str) -> dict[str, str]:
        """Pairs such as `p:g s:g`, pieces in upper case."""
        found: dict[str, str] = {}
        for part in self.value(name).split():
            match = _PAIR.fullmatch(part)
            if match is None:
                self.refuse(name, f"{quote(part)} is not a pair such as p:g")
            else:
                found[match[1].upper()] = match[2]
        return found

    def region(self, name: str, default: frozenset[str] = frozenset()) -> frozenset[str]:
        """Squares: `e4`, `*8`, `a*`, separated by spaces; those that the board does not have are left out."""
        if name not in self.options:
            return default
        found: set[str] = set()
        for part in self.value(name).split():
            match = _AREA.fullmatch(part)
            if match is None:
                self.refuse(name, f"{quote(part)} is not a square such as e4, nor a rank such as *8")
                continue
            files = range(self.files) if match[1] == "*" else [ord(match[1]) - ord("a")]
            ranks = range(self.ranks) if match[2] == "*" else [int(match[2]) - 1]
            found |= {cell.text((x, y)) for x in files for y in ranks if x < self.files and y < self.ranks}
        return frozenset(found)

    def latest(self, names: Iterable[str]) -> str:
        """Of options that mean the same the one that was written last; what is inherited was before."""
        return max(names, key=lambda name: (self.options[name].line or 0) if name in self.options else -1)

    def rank(self, number: int) -> frozenset[str]:
        """All squares of a rank, from 0."""
        return frozenset(cell.text((x, number)) for x in range(self.files))

    # --- pieces ---

    @property
    def letter_types(self) -> dict[str, str]:
        """The type of each letter, in upper case."""
        return {letter: name for name, (letter, _) in self.types.items()}

    @property
    def pawn_types(self) -> str:
        """The letters of the pieces that count as pawns: by default the type of this name."""
        return self.letters("pawnTypes", self.letter("pawn"))

    def letter(self, name: str) -> str:
        """The letter of a type, nothing if the variant has no such piece."""
        return self.types[name][0] if name in self.types else ""

    def _types(self) -> dict[str, tuple[str, str | None]]:
        """Each type of piece that the variant has: its letter in upper case, and the Betza string beside it."""
        found: dict[str, tuple[str, str | None]] = {}
        # What is said later wins a letter, and the variant's own options come after those that it inherits.
        ordered = sorted(self.options.values(), key=lambda option: (option.line is not None, option.line or 0))
        for option in ordered:
            if option.name not in PIECES:
                continue
            found.pop(option.name, None)
            if option.value in ("-", ""):
                continue
            match = _PIECE.fullmatch(option.value)
            custom = option.name == "king" or option.name.startswith("custom")
            if match is None or (match[2] is not None and not custom) or (match[2] is None and "custom" in option.name):
                allowed = "a letter and how it moves, such as x:WfF" if custom else "a letter"
                self.refuse(option.name, f"{quote(option.value)} is not {allowed}")
                continue
            letter = match[1].upper()
            found = {name: value for name, value in found.items() if value[0] != letter}
            found[option.name] = (letter, None if match[2] is None else match[2].strip())
        return found

    def _size(self, name: str, largest: int) -> int:
        size = (self.file(name, 7) if name == "maxFile" else self.number(name, 8) - 1) + 1
        if not 1 <= size <= largest:
            self.refuse(name, f"{size} is not from 1 to {largest}")
            return 8
        return size


def inherit(base: Mapping[str, Option], own: Mapping[str, Option]) -> dict[str, Option]:
    """A variant's own options behind those of its base, in which pieces keep their types under new letters.

    A promotion to `a` that was the archbishop's letter is one to `j` where the variant has given the archbishop that.
    """
    own = _set(own, Settings({**base, **own}).ranks)
    made = {**{name: option for name, option in base.items() if name not in own}, **own}
    before, after = Settings(base), Settings(made)

    def renamed(letter: str) -> str:
        kind = before.letter_types.get(letter.upper())
        return letter if kind is None else after.letter(kind).lower()

    for name, option in made.items():
        if name in own and (name not in _PAIRS or name not in base):
            continue
        if name in _SETS and option.value != "-":
            made[name] = Option(name, "".join(map(renamed, option.value)) or "-", option.line)
        elif name in _PAIRS:
            # What is said of some pieces leaves what was said of others.
            kept = {renamed(letter).upper(): target for letter, target in Settings(base).pairs(name).items()}
            if name == "promotedPieceType":
                kept = {letter: renamed(target) for letter, target in kept.items()}
            kept |= Settings(own).pairs(name) if name in own else {}
            value = " ".join(f"{letter.lower()}:{target}" for letter, target in kept.items() if letter and target)
            made[name] = Option(name, value or "-", option.line)
    if made.get("doubleStep", _ON).value == "false":
        # What inherits from it may step twice again only from squares that it names.
        made |= {name: Option(name, "-", None) for name in sides("doubleStepRegion")}
    return made


def _set(own: Mapping[str, Option], ranks: int) -> dict[str, Option]:
    """A section's options, in which those that set others have become these; each keeps the name that is written."""
    older = {name for name, _ in SETTING} - {"pawnTypes"} | RANKS.keys()
    found: dict[str, Option] = {}
    for name, (region, lowest, highest) in RANKS.items():
        if name in own:
            found |= dict(zip(sides(region), _regions(own[name], lowest, highest, ranks), strict=True))
    for name, what in SETTING:
        if name in own:
            found |= dict.fromkeys(sides(what), own[name])
    return found | {name: option for name, option in own.items() if name not in older}


def _regions(option: Option, lowest: int | None, highest: int | None, ranks: int) -> Iterable[Option]:
    """The ranks of each side, as it counts them, as regions; what is no number stays as it is, to be refused."""
    if not (option.value.isdecimal() and option.value.isascii() and len(option.value) < 3):
        return option, option
    number = int(option.value)
    found = [each for each in range(lowest or number, (highest or number) + 1) if 1 <= each <= ranks]
    regions = (found, [ranks + 1 - each for each in found])
    return [Option(option.name, " ".join(f"*{each}" for each in region), option.line) for region in regions]
