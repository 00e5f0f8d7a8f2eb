"""Positions as numbers: what stands on the board as one integer, which is compared, kept and cut into words.

From its lowest bit on: a bit for each square that is occupied, one for each that the second side occupies, both
filled up to whole words, and for each square the number of the identifier that stands on it.
"""

from __future__ import annotations

import itertools
import struct
from operator import invert, xor
from typing import Any, Final

from ggn_store.model.board import Board
from ggn_store.notation import qpi
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store.rulesets import masks

# Bits for the number of an identifier, and so how many are ever told apart: no game comes near it.
_IDENTIFIER_BITS: Final = 16
_KEPT: Final = 100_000


class Codes(dict[tuple[str, "str | None"], int]):
    """The number of each piece on each square, made when it is first asked for; their sum is the position.

    Raises KeyError for what is not a piece identifier on a square of the board, or one identifier too many. Safe to use
    from several threads: an identifier keeps its number.
    """

    def __init__(self, board: Board, words: int) -> None:
        self._numbers = board.numbers
        self._words = words
        self._second = masks.WORD * words
        self._named = 2 * self._second
        self._low = (1 << self._named) - 1
        self._identifiers: dict[str, int] = {}
        self._next = itertools.count(1)
        self._unpack = struct.Struct(f"<{2 * words}q").unpack

    def __missing__(self, item: tuple[Any, Any]) -> int:
        square, piece = item
        number = self._numbers[square]
        code = 0
        if piece is not None:
            if not (isinstance(piece, str) and qpi.is_qpi(piece)):
                raise KeyError(piece)
            if piece not in self._identifiers and len(self._identifiers) + 1 >> _IDENTIFIER_BITS:
                raise KeyError(piece)
            identifier = self._identifiers.setdefault(piece, next(self._next))
            code = 1 << number | identifier << self._named + _IDENTIFIER_BITS * number
            if side_of(piece) == "second":
                code |= 1 << self._second + number
        if len(self) >= _KEPT:
            self.clear()
        self[item] = code
        return code

    def bits(self, number: int, is_named: bool) -> int:
        """The bits that tell of a square whether it is empty and whose it is, and, if wanted, what stands there."""
        bits = 1 << number | 1 << self._second + number
        if is_named:
            bits |= (1 << _IDENTIFIER_BITS) - 1 << self._named + _IDENTIFIER_BITS * number
        return bits

    def planes(self, code: int, side: Side) -> tuple[int, ...]:
        """The words of the squares that are empty, the enemy's and its own to a side: all of one, then of the next."""
        words = self._unpack((code & self._low).to_bytes(16 * self._words, "little"))
        occupied, second = words[: self._words], words[self._words :]
        first = tuple(map(xor, occupied, second))
        empty = tuple(map(invert, occupied))
        return empty + second + first if side == "first" else empty + first + second
