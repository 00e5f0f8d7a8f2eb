"""Start positions by number: the 960 of chess in which kings castle from several squares, as Scharnagl counts them.

number -> the bishop of light squares (4 files), that of dark squares (4), the queen (6) and the knights (10) on
files that are left, from the first one on; then rook, king, rook
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Final

from ggn_store.errors import PositionError, quote
from ggn_store.games.rules import Definition
from ggn_store.model.moves.position import Position
from ggn_store.notation import cell, qpi

_PIECES: Final = "BBKNNQRR"


def numbered(text: str, definition: Definition) -> Position:
    """The start position of a number; raises PositionError where there is none."""
    start = None if definition.start is None else Position.from_feen(definition.start)
    ranks = _ranks(definition)
    if start is None or any(_letters(start, rank) != [*_PIECES] for rank in ranks):
        raise PositionError(f"{quote(text)} is no FEN, and only starts with the eight pieces of chess have numbers")
    arrangements = _arrangements()
    if not (text.isascii() and len(text) < 5 and int(text) < len(arrangements)):
        message = f"{quote(text)} is not the number of a start position"
        raise PositionError(f"{message}; allowed: 0 to {len(arrangements) - 1}")
    board = dict(start.board)
    for rank in ranks:
        pieces = {qpi.parse(str(piece)).letter: piece for piece in map(start.board.get, rank)}
        board |= {square: pieces[letter] for square, letter in zip(rank, arrangements[int(text)], strict=True)}
    return Position(board, start.hands or None, start.side, start.shape, start.styles)


def _ranks(definition: Definition) -> list[list[str]]:
    """The squares of the first and of the last rank."""
    ranks = [cell.parse(square)[1] for square in definition.board.squares]
    return [
        [each for each in definition.board.squares if cell.parse(each)[1] == rank] for rank in (min(ranks), max(ranks))
    ]


def _letters(position: Position, squares: list[str]) -> list[str]:
    found = (position.board.get(square) for square in squares)
    return sorted(qpi.parse(piece).letter for piece in found if piece is not None)


def _arrangements() -> list[str]:
    """The letters of the first rank of each start."""
    found = []
    for knights, queen, dark, light in product(combinations(range(5), 2), range(6), range(0, 8, 2), range(1, 8, 2)):
        left = [file for file in range(8) if file not in (dark, light)]
        placed = {light: "B", dark: "B", left.pop(queen): "Q", **{left[each]: "N" for each in knights}}
        rest = iter("RKR")
        found.append("".join(placed.get(file) or next(rest) for file in range(8)))
    return found
