"""The start position of a variant: FEN as Fairy-Stockfish writes it, before there is a definition to read it with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ggn_store.errors import quote
from ggn_store.games.fairy.settings import DEFAULT_FEN, Settings
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side

_TOKEN = re.compile(r"[0-9]+|\*|\+?[A-Za-z]~?", re.ASCII)
_CHECKS = re.compile(r"([0-9])\+([0-9])|\+([0-3])\+([0-3])", re.ASCII)  # those that are left, or of three those given
_FIELD = re.compile(r"(?P<placement>[^\[\]]*)(?:\[(?P<held>[^\[\]]*)\])?")


@dataclass(slots=True)
class StartPosition:
    """What stands where (`P`, `+p`), what is in the hands, the holes of the board, the castling field, the side, and
    how many checks win."""

    board: dict[str, str] = field(default_factory=dict)
    hands: dict[str, int] = field(default_factory=dict)
    holes: set[str] = field(default_factory=set)
    rights: str = ""
    side: Side = "first"
    checks: int = 1

    def squares(self, letter: str, side: Side) -> list[str]:
        """Where the plain pieces of a letter stand, in the order of files."""
        token = letter if side == "first" else letter.lower()
        return sorted(square for square, found in self.board.items() if found == token)


def read_start(settings: Settings) -> StartPosition:
    """The start position; what is wrong with it is a refusal of startFen."""
    text = settings.value("startFen", DEFAULT_FEN)
    fields = text.split()
    found = StartPosition()
    match = _FIELD.fullmatch(fields[0]) if fields else None
    if match is None:
        settings.refuse("startFen", f"{quote(text)} is not a FEN")
        return found
    ranks = match["placement"].split("/")
    behind = len(ranks) == settings.ranks + 1 and match["held"] is None
    held = ranks.pop() if behind else match["held"] or ""
    if len(ranks) != settings.ranks:
        settings.refuse("startFen", f"the position has {len(ranks)} ranks, and the board {settings.ranks}")
        return found
    for y, rank in zip(reversed(range(settings.ranks)), ranks, strict=True):
        _read_rank(settings, found, rank, y)
    for token in _TOKEN.findall(held):
        if token[-1].isalpha():
            _known(settings, token)
            found.hands[token] = found.hands.get(token, 0) + 1
    found.side = "second" if fields[1:2] == ["b"] else "first"
    if len(fields) > 2 and fields[2].isalpha():
        found.rights = fields[2]
    # Behind the castling and en passant fields, or instead of them; behind all where they are those given.
    counts = next(filter(None, map(_CHECKS.fullmatch, (*fields[2:3], *fields[4:]))), None)
    if counts is not None:
        left = {int(counts[1]), int(counts[2])} if counts[1] else {3 - int(counts[3]), 3 - int(counts[4])}
        found.checks = left.pop()
        if (left or not found.checks) and settings.flag("checkCounting"):
            settings.refuse("startFen", f"{quote(counts[0])} does not leave both sides equally many checks")
    return found


def _read_rank(settings: Settings, found: StartPosition, rank: str, y: int) -> None:
    x = 0
    tokens = _TOKEN.findall(rank)
    if "".join(tokens) != rank:
        settings.refuse("startFen", f"{quote(rank)} has something that is neither a piece nor a number")
    for token in tokens:
        if token.isdigit():
            x += int(token)
            continue
        square = cell.text((x, y))
        if token[0] == "*":
            found.holes.add(square)
        else:
            _known(settings, token)
            found.board[square] = token
        x += 1
    if x != settings.files:
        settings.refuse("startFen", f"{quote(rank)} has {x} squares, and the board {settings.files} files")


def _known(settings: Settings, token: str) -> None:
    letter = token.strip("+~").upper()
    if letter not in settings.letter_types:
        settings.refuse("startFen", f"no piece of the variant has the letter {quote(letter.lower())}")


def free_drops(settings: Settings, start: StartPosition) -> None:
    """Give both sides as many of each piece as the board has squares, where drops take nothing from a hand."""
    if not settings.flag("freeDrops") or not settings.flag("pieceDrops"):
        return
    if settings.flag("capturesToHand") or settings.flag("blastOnCapture"):
        settings.refuse("freeDrops")
    count = settings.files * settings.ranks - len(start.holes)
    start.hands = {case(letter): count for case in (str.upper, str.lower) for letter in settings.letter_types}
