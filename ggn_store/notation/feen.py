"""FEEN: a whole position in one line: placement, hands, and who plays which style and is to move.

    +rnbq+k^bn+r/pppppppp/8/8/8/8/PPPPPPPP/+RNBQ+K^BN+R / C/c

Ranks run from the far side (the highest number) down, `/` between ranks and `//` between layers, the
highest layer first. Regular boards of one to three dimensions; a text without any `/` in its placement is a
board of one dimension. A text that is accepted is written back to the letter: the order of pieces in the hands
is kept, and spellings that say the same in other words (`08`, `1P`, `PP`) are errors.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from ggn_store import limits
from ggn_store.errors import NotationError, quote
from ggn_store.notation import cell, qpi

MAX_LENGTH = limits.POSITION_TEXT.default
MAX_SQUARES = limits.SQUARES.default
MAX_COUNT = limits.HAND.default

_TOKEN = re.compile(rf"(?P<piece>{qpi.EPIN_PATTERN})|(?P<empty>[1-9][0-9]*)", re.ASCII)
_HELD = re.compile(rf"(?P<count>[1-9][0-9]*)?(?P<piece>{qpi.EPIN_PATTERN})", re.ASCII)
_STYLE = re.compile(qpi.STYLE_PATTERN, re.ASCII)


@dataclass(frozen=True, slots=True)
class Feen:
    """What a FEEN text says, with pieces as QPI identifiers and squares as CELL labels.

    `shape` is files, ranks, layers (as many as the board has dimensions); `hands` is piece -> count, the
    case of the piece naming the hand; `styles` are those of the first and the second player, upper case.
    """

    shape: tuple[int, ...]
    board: Mapping[str, str]
    hands: Mapping[str, int]
    side: qpi.Side
    styles: tuple[str, str]

    def __str__(self) -> str:
        return text(self)


def parse(source: str) -> Feen:
    """The position that `source` writes; raises NotationError with the offending part quoted."""
    if not isinstance(source, str):
        raise NotationError(f"{quote(source)} is not FEEN, which is a text")
    if len(source) > MAX_LENGTH:
        raise NotationError(f"a FEEN text has at most {MAX_LENGTH} characters; this one has {len(source)}")
    fields = source.split(" ")
    if len(fields) != 3:
        _refuse(source, "three fields (placement, hands, style-turn) with single spaces between them", len(fields))
    placement, held, turn = fields
    styles, side = _parse_turn(turn)
    shape, board = _parse_placement(placement, styles)
    return Feen(shape, board, _parse_hands(held, styles), side, styles)


def text(position: Feen) -> str:
    """The FEEN text of a position; raises NotationError for what FEEN cannot write."""
    placement = _placement_text(position)
    first = _hand_text(position, "first")
    second = _hand_text(position, "second")
    styles = (position.styles[0].upper(), position.styles[1].lower())
    turn = "/".join(styles if position.side == "first" else reversed(styles))
    result = f"{placement} {first}/{second} {turn}"
    if len(result) > MAX_LENGTH:
        raise NotationError(f"the position takes {len(result)} characters in FEEN, which allows {MAX_LENGTH}")
    return result


def _refuse(found: str, allowed: str, detail: object = None) -> NoReturn:
    raise NotationError(f"{quote(found)} is not FEEN: expected {allowed}" + (f", found {detail}" if detail else ""))


def _parse_turn(turn: str) -> tuple[tuple[str, str], qpi.Side]:
    parts = turn.split("/")
    if len(parts) != 2 or not all(_STYLE.fullmatch(part) for part in parts):
        _refuse(turn, "the style to move and the other one, such as C/c")
    active, other = parts
    if active[0].isupper() == other[0].isupper():
        _refuse(turn, "one style in upper case (first player) and one in lower case (second player)")
    if active[0].isupper():
        return (active, other.upper()), "first"
    return (other, active.upper()), "second"


def identifier_of(token: str, styles: tuple[str, str]) -> str:
    """The identifier of a token such as `+R` or `k^'` where the players have these styles."""
    own = 0 if any(c.isupper() for c in token) else 1
    style = styles[1 - own if token.endswith("'") else own]
    return f"{style if own == 0 else style.lower()}:{token}"


def _parse_placement(placement: str, styles: tuple[str, str]) -> tuple[tuple[int, ...], dict[str, str]]:
    layers = [layer.split("/") for layer in placement.split("//")]
    dimensions = 3 if len(layers) > 1 else 2 if len(layers[0]) > 1 else 1
    board: dict[str, str] = {}
    widths = set()
    for z, layer in zip(range(len(layers) - 1, -1, -1), layers, strict=True):
        for y, rank in zip(range(len(layer) - 1, -1, -1), layer, strict=True):
            x = 0
            end = 0
            for token in _TOKEN.finditer(rank):
                if token.start() != end:
                    break
                end = token.end()
                if token["empty"]:
                    if len(token["empty"]) > len(str(MAX_SQUARES)):
                        _refuse(rank, "a run of empty squares that fits a board")
                    x += int(token["empty"])
                else:
                    board[cell.text((x, y, z)[:dimensions])] = identifier_of(token["piece"], styles)
                    x += 1
            if end != len(rank) or not rank:
                _refuse(rank, "a rank of pieces such as +R or k^ and numbers for runs of empty squares")
            widths.add(x)
    if len(widths) != 1 or len({len(layer) for layer in layers}) != 1:
        _refuse(placement, "a regular board: ranks of one length, layers of as many ranks each")
    shape = (widths.pop(), len(layers[0]), len(layers))
    if math.prod(shape) > MAX_SQUARES:
        _refuse(placement, f"a board of at most {MAX_SQUARES} squares")
    return shape[:dimensions], board


def _parse_hands(held: str, styles: tuple[str, str]) -> dict[str, int]:
    parts = held.split("/")
    if len(parts) != 2:
        _refuse(held, "two hands with / between them, such as 2PB/p")
    hands: dict[str, int] = {}
    for part, upper in zip(parts, (True, False), strict=True):
        end = 0
        for token in _HELD.finditer(part):
            identifier = identifier_of(token["piece"], styles)
            if token.start() != end or token["count"] == "1" or len(token["count"] or "") > len(str(MAX_COUNT)):
                break
            count = int(token["count"] or 1)
            if identifier in hands or identifier[0].isupper() != upper or count > MAX_COUNT:
                break
            end = token.end()
            hands[identifier] = count
        if end != len(part):
            _refuse(
                held,
                "each hand's pieces in its own case (first player's in upper case, before the /), each once, "
                f"with its count where that is over 1 (at most {MAX_COUNT})",
            )
    return hands


def _token(identifier: str, styles: tuple[str, str]) -> str:
    token = identifier.split(":")[1]
    if identifier_of(token, styles) != identifier:
        first, second = styles[0].upper(), styles[1].lower()
        raise NotationError(
            f"FEEN cannot write the piece {quote(identifier)} where the styles are {first} and {second}; "
            "write the position as JSON"
        )
    return token


def _placement_text(position: Feen) -> str:
    shape = position.shape
    ambiguous = len(shape) > 1 and (shape[-1] == 1)
    if not 1 <= len(shape) <= 3 or min(shape) < 1 or ambiguous or math.prod(shape) > MAX_SQUARES:
        raise NotationError(
            f"FEEN cannot write a board of shape {'x'.join(map(str, shape))}: one to three dimensions, "
            f"the last of at least two, {MAX_SQUARES} squares at most; write the position as JSON"
        )
    width, height, depth = (*shape, 1, 1)[:3]
    board = dict(position.board)
    layers = []
    for z in range(depth - 1, -1, -1):
        ranks = []
        for y in range(height - 1, -1, -1):
            squares = [board.pop(cell.text((x, y, z)[: len(shape)]), None) for x in range(width)]
            runs = itertools.groupby(squares, key=lambda piece: piece is None)
            ranks.append(
                "".join(
                    str(len(list(run))) if empty else "".join(_token(piece, position.styles) for piece in run if piece)
                    for empty, run in runs
                )
            )
        layers.append("/".join(ranks))
    if board:
        outside = ", ".join(sorted(board)[:5])
        raise NotationError(f"FEEN cannot write pieces outside the board of {'x'.join(map(str, shape))}: {outside}")
    return "//".join(layers)


def _hand_text(position: Feen, side: qpi.Side) -> str:
    for piece, count in position.hands.items():
        if not 0 <= count <= MAX_COUNT:
            raise NotationError(f"FEEN cannot write a hand with {count} of {quote(piece)}: 0 to {MAX_COUNT}")
    return "".join(
        f"{count if count > 1 else ''}{_token(piece, position.styles)}"
        for piece, count in position.hands.items()
        if count and qpi.side_of(piece) == side
    )
