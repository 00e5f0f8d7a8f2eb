"""Moves as text: `e2 e4`, `C:P e2 e4`, `e2e4`, `D3 F5 H7`, `e7 e8 2`, `e7e8q`, `P* e5`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ggn_store.errors import MoveError, quote
from ggn_store.notation.hand import HAND

_PIECE: Final = re.compile(r"([A-Za-z][A-Za-z0-9]*:)?[-+]?[A-Za-z]\^?'?")
_NUMBER: Final = re.compile(r"([0-9]{1,4})|\(([0-9]{1,4})\)")
_BETWEEN: Final = "-x"
# The name of this notation among those of moves.
OWN: Final = "own"
MAX_LINE: Final = 1_000


class MoveText(NamedTuple):
    """A move as it is written.

    `places` are squares or `*`, the hand; `piece` is the word for a piece before them, `last` the one after them, and
    `number` tells possibilities apart, from 1.
    """

    places: tuple[str, ...]
    piece: str | None = None
    last: str | None = None
    number: int | None = None

    def means(self, piece: str, becomes: str | None) -> bool:
        """Whether a move of `piece` on these places, after which `becomes` stands on the last, can be meant."""
        if not is_named(self.piece, piece):
            return False
        return is_named(self.last, becomes) or (self.places[0] == HAND and is_named(self.last, piece))

    def __str__(self) -> str:
        words = (self.piece, *self.places, self.last, None if self.number is None else str(self.number))
        return " ".join(word for word in words if word is not None)


def is_named(word: str | None, piece: str | None) -> bool:
    """Whether a word means a piece: its identifier, or a part without the style, `^` and `'`; in any case of letters.

    No word means any piece.
    """
    if word is None:
        return True
    if piece is None:
        return False
    word, piece = word.casefold(), piece.casefold()
    name = piece.partition(":")[2]
    return word in (piece, name, name.rstrip("^'"))


class OwnNotation:
    """Reads and writes moves on a board of these squares, whose names may hold spaces; read in any case of letters."""

    def __init__(self, squares: Iterable[str]) -> None:
        self._squares = frozenset(squares)
        self._folded: dict[str, str | None] = {}
        for square in self._squares:
            folded = square.casefold()
            self._folded[folded] = square if folded not in self._folded else None
        self._longest = max((len(square.split()) for square in self._squares), default=1)
        self._length = max(map(len, self._squares), default=0)

    def text(self, move: MoveText) -> str:
        """What `parse` reads as this move; plain words unless names of squares need more."""
        plain = str(move)
        if self._is(plain, move):
            return plain
        number = "" if move.number is None else f" ({move.number})"
        words = [word for word in (move.piece, *move.places, move.last) if word is not None]
        return next((text for sign in " -" if self._is(text := sign.join(words) + number, move)), plain)

    def _is(self, text: str, move: MoveText) -> bool:
        try:
            return self.parse(text) == move
        except MoveError:
            return False

    def square(self, word: str) -> str | None:
        """The square of this name, as it is written or in another case; None where there is none, or several."""
        return word if word in self._squares else self._folded.get(word.casefold())

    def parse(self, line: str) -> MoveText:
        """The move that a line writes; raises MoveError where it is none."""
        if len(line) > MAX_LINE:
            raise MoveError(f"a line of more than {MAX_LINE:,} characters is no move")
        places: list[str] = []
        piece = last = number = None
        for kind, word in self._tokens(line.split()):
            if kind == "place" and last is None and number is None:
                places.append(word)
            elif kind == "piece" and piece is None and not places:
                piece = word
            elif kind == "piece" and last is None and len(places) > 1:
                last = word
            elif kind == "number" and number is None and len(places) > 1:
                number = int(word.strip("()"))
            else:
                raise MoveError(f"{quote(word)} is in a place where it says nothing: write a move as e2 e4 or e7 e8 2")
        if not places:
            raise MoveError(f"{quote(line)} names no square")
        return MoveText(tuple(places), piece, last, number)

    def _tokens(self, words: list[str]) -> Iterator[tuple[str, str]]:
        start = 0
        while start < len(words):
            for count in range(min(self._longest, len(words) - start), 0, -1):
                square = self.square(" ".join(words[start : start + count]))
                if square is not None:
                    yield "place", square
                    start += count
                    break
            else:
                yield from self._word(words[start])
                start += 1

    def _word(self, word: str) -> list[tuple[str, str]]:
        if _NUMBER.fullmatch(word):
            return [("number", word)]
        if _PIECE.fullmatch(word):
            return [("piece", word)]
        return self._joined(word)

    def _joined(self, word: str) -> list[tuple[str, str]]:
        """What a word of several parts says, of the longest squares that it can be made of."""
        # From the end: what each rest says first, and where that ends. Nothing is looked at twice.
        parts: dict[int, tuple[tuple[str, str] | None, int]] = {len(word): (None, len(word))}
        for start in range(len(word) - 1, -1, -1):
            part = next((part for part in self._parts(word, start) if part[1] in parts), None)
            if part is not None:
                parts[start] = part
        found, start = [], 0
        while start in parts and start < len(word):
            token, start = parts[start]
            if token is not None:
                found.append(token)
        if start < len(word) or not any(kind == "place" for kind, _ in found):
            raise MoveError(f"{quote(word)} is no square of the board, and no move that is written in one word")
        return found

    def _parts(self, word: str, start: int) -> Iterator[tuple[tuple[str, str] | None, int]]:
        """What may begin at `start`, and where it ends; None for a sign that only stands between."""
        if word[start] in "*@":
            yield ("place", HAND), start + 1
        if word[start] in _BETWEEN and 0 < start < len(word) - 1:
            yield None, start + 1
        for end in range(min(len(word), start + self._length), start, -1):
            square = self.square(word[start:end])
            if square is not None:
                yield ("place", square), end
        piece = _PIECE.match(word, start)
        if piece is not None and (start == 0 or piece.end() == len(word)):
            yield ("piece", piece[0]), piece.end()
