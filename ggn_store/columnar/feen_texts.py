"""FEEN texts of two-dimensional boards -> arrays, many texts at a time.

What this reader takes is FEEN, and it reads it as `notation.feen` does. Texts of which it does not know that for sure
(a bad one among them, layers, boards of several shapes) it leaves to that one, which also says what is wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ggn_store.columnar.compile import EXTRA
from ggn_store.columnar.extras import need
from ggn_store.errors import NotationError
from ggn_store.notation import cell, feen

_OTHER, _LETTER, _DIGIT, _BREAK, _STATE, _TERMINAL, _DERIVED = range(7)
_CLASSES: Final = {
    _LETTER: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    _DIGIT: b"0123456789",
    _BREAK: b"/\n",
    _STATE: b"+-",
    _TERMINAL: b"^",
    _DERIVED: b"'",
}
_CODES: Final = 128
_STATES: Final = ("", "+", "-")
_MARKS: Final = ("", "^", "'", "^'")
# A run of empty squares has at most this many digits here: no rank is longer.
_DIGITS: Final = 3

_Rest = tuple[tuple[str, str], bool, tuple[tuple[int, int], ...]]


class FeenTexts:
    """Reads FEEN for one ruleset, whose numbers for identifiers and squares are given."""

    def __init__(self, pieces: Mapping[str, int], numbers: Mapping[str, int]) -> None:
        self._np = np = need("numpy", EXTRA)
        self._pieces, self._numbers = pieces, numbers
        self._classes = np.full(256, _OTHER, np.uint8)
        for kind, characters in _CLASSES.items():
            self._classes[list(characters)] = kind
        self._state = np.zeros(256, np.int32)
        self._state[list(b"+-")] = _CODES, 2 * _CODES
        self.rest = functools.lru_cache(maxsize=65_536)(self._rest)
        self.tokens = functools.lru_cache(maxsize=256)(self._tokens)
        self.squares = functools.lru_cache(maxsize=16)(self._squares)

    def read(self, texts: Sequence[str]) -> tuple[Any, Any, Any, list[tuple[int, int]], Any] | None:
        """Position, square (-1: none of the ruleset's) and piece of all that stands on the boards, position and piece
        of what is in the hands, and whether the first side moves; None where `notation.feen` is to be asked."""
        np = self._np
        placements, rests = [], []
        try:
            for text in texts:
                placement, _, rest = text.partition(" ")
                placements.append(placement)
                rests.append(self.rest(rest))
            block = "\n".join([*placements, ""]).encode("ascii")
        except (NotationError, UnicodeEncodeError):
            return None
        if not texts or max(map(len, texts)) > feen.MAX_LENGTH or block.count(b"\n") != len(texts):
            return None
        found = self._placed(np.frombuffer(block, np.uint8), len(texts))
        if found is None:
            return None
        (width, height), place, token = found
        size = width * height
        position = (place // size).astype(np.int32)
        square = self.squares(width, height)[place % size]
        turns = list(dict.fromkeys(styles for styles, _, _ in rests))
        known = np.stack([self.tokens(styles) for styles in turns])
        if len(turns) == 1:
            piece = known[0][token]
        else:
            number = {styles: at for at, styles in enumerate(turns)}
            piece = known[np.array([number[styles] for styles, _, _ in rests])[position], token]
        held = [(at, each) for at, (_, _, hands) in enumerate(rests) for each, _ in hands]
        return position, square, piece, held, np.array([first for _, first, _ in rests], bool)

    def _placed(self, text: Any, count: int) -> tuple[tuple[int, int], Any, Any] | None:
        """The shape of the boards, and of each piece its place, counted over all boards, and its token.

        `text` has a placement a line. None where a line is not the placement of a board of the shape of the first.
        """
        np = self._np
        kind = self._classes[text]
        after = np.empty_like(kind)
        after[:-1], after[-1] = kind[1:], _BREAK
        letter, digit, stop = kind == _LETTER, kind == _DIGIT, kind == _BREAK
        # What may follow what; nothing else may stand at the beginning, which follows a break.
        allowed = np.zeros((7, 7), bool)
        for first in (_LETTER, _DIGIT, _BREAK, _TERMINAL, _DERIVED):
            allowed[first, [_LETTER, _DIGIT, _STATE]] = True
            allowed[first, _BREAK] = first != _BREAK
        allowed[_STATE, _LETTER] = True
        allowed[_LETTER, [_TERMINAL, _DERIVED]] = True
        allowed[_TERMINAL, _DERIVED] = True
        pairs = kind[:-1] * np.uint8(7) + kind[1:]
        if not allowed.reshape(-1)[pairs].all() or not allowed[_BREAK, kind[0]]:
            return None
        steps = letter.astype(np.int32)
        at = np.flatnonzero(digit)
        value = text[at].astype(np.int32) - ord("0")
        begins = np.ones(len(at), bool)
        begins[1:] = at[1:] != at[:-1] + 1
        if (value[begins] == 0).any():
            return None
        if not begins.all():
            run = np.cumsum(begins) - 1
            ends = np.append(np.flatnonzero(begins)[1:], len(at))
            power = ends[run] - 1 - np.arange(len(at))
            if (power >= _DIGITS).any():
                return None
            value *= 10**power
        steps[at] = value
        passed = np.cumsum(steps, dtype=np.int64)
        widths = np.diff(passed[stop], prepend=0)
        lines = np.flatnonzero(text[stop] == ord("\n"))
        heights = np.diff(lines, prepend=-1)
        width, height = int(widths[0]), int(heights[0])
        if height < 2 or (widths != width).any() or (heights != height).any() or len(lines) != count:
            return None
        at = np.flatnonzero(letter)
        token = text[at].astype(np.int32)
        before = np.empty_like(text)
        before[0], before[1:] = ord("\n"), text[:-1]
        token += self._state[before[at]]
        marked = np.flatnonzero((after[at] == _TERMINAL) | (after[at] == _DERIVED))
        if len(marked):
            where = at[marked]
            both = (after[where] == _TERMINAL) & (after[where + 1] == _DERIVED)
            mark = np.where(after[where] == _DERIVED, 2, np.where(both, 3, 1))
            token[marked] += mark.astype(np.int32) * (_CODES * len(_STATES))
        return (width, height), passed[at] - 1, token

    def _rest(self, rest: str) -> _Rest:
        """Styles, whether the first side moves, and the hands, of what follows the placement."""
        value = feen.parse(f"1/1 {rest}")
        return value.styles, value.side == "first", tuple((self._pieces[each], n) for each, n in value.hands.items())

    def _tokens(self, styles: tuple[str, str]) -> Any:
        """The piece of each token where the players have these styles."""
        table = self._np.zeros(_CODES * len(_STATES) * len(_MARKS), self._np.int32)
        for number in range(len(table)):
            letter, state, mark = (
                chr(number % _CODES),
                _STATES[number // _CODES % len(_STATES)],
                _MARKS[number // _CODES // len(_STATES)],
            )
            if self._classes[ord(letter)] == _LETTER:
                table[number] = self._pieces[feen.identifier_of(f"{state}{letter}{mark}", styles)]
        return table

    def _squares(self, width: int, height: int) -> Any:
        """The number of each square of a board in the order in which FEEN writes them."""
        labels = (cell.text((x, y)) for y in range(height - 1, -1, -1) for x in range(width))
        return self._np.array([self._numbers.get(label, -1) for label in labels], self._np.int32)
