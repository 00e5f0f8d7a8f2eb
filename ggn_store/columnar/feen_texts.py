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
# In the table of what may follow what: a digit after a digit, which makes a number with it.
_RUN: Final = 2
_LINE: Final = ord("\n")
# A run of empty squares has at most this many digits here: no rank is longer.
_DIGITS: Final = 3

_Rest = tuple[tuple[str, str], bool, tuple[tuple[int, int], ...]]


class FeenTexts:
    """Reads FEEN for one ruleset, whose numbers for identifiers and squares are given, and the shape of its board."""

    def __init__(
        self, pieces: Mapping[str, int], numbers: Mapping[str, int], shape: tuple[int, ...] | None = None
    ) -> None:
        self._np = np = need("numpy", EXTRA)
        self._pieces, self._numbers, self._shape = pieces, numbers, shape
        self._classes = np.full(256, _OTHER, np.uint8)
        for kind, characters in _CLASSES.items():
            self._classes[list(characters)] = kind
        # What may follow what; nothing else may stand at the beginning, which follows a break.
        self._allowed = np.zeros((8, 8), np.uint8)
        for first in (_LETTER, _DIGIT, _BREAK, _TERMINAL, _DERIVED):
            self._allowed[first, [_LETTER, _DIGIT, _STATE]] = True
            self._allowed[first, _BREAK] = first != _BREAK
        self._allowed[_STATE, _LETTER] = True
        self._allowed[_LETTER, [_TERMINAL, _DERIVED]] = True
        self._allowed[_TERMINAL, _DERIVED] = True
        self._allowed[_DIGIT, _DIGIT] = _RUN
        self._allowed = self._allowed.reshape(-1)
        self._steps = np.zeros(256, np.int32)
        self._steps[list(_CLASSES[_LETTER])] = 1
        self._steps[list(_CLASSES[_DIGIT])] = range(10)
        self._state = np.zeros(256, np.int32)
        self._state[list(b"+-")] = _CODES, 2 * _CODES
        self.rest = functools.lru_cache(maxsize=65_536)(self._rest)
        self.tokens = functools.lru_cache(maxsize=256)(self._tokens)
        self.squares = functools.lru_cache(maxsize=16)(self._squares)

    def read(self, texts: Sequence[str]) -> tuple[Any, Any, Any, list[tuple[int, int, int]], Any] | None:
        """Position, square (-1: none of the ruleset's) and piece of all that stands on the boards, position, piece
        and count of what is in the hands, whether the first side moves; None where `notation.feen` is to be asked."""
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
        if self._shape not in (None, (width, height)):
            return None
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
        held = [(at, *each) for at, (_, _, hands) in enumerate(rests) for each in hands]
        return position, square, piece, held, np.array([first for _, first, _ in rests], bool)

    def _placed(self, text: Any, count: int) -> tuple[tuple[int, int], Any, Any] | None:
        """The shape of the boards, and of each piece its place, counted over all boards, and its token.

        `text` has a placement a line. None where a line is not the placement of a board of the shape of the first.
        """
        np = self._np
        kind = self._classes.take(text)
        pairs = kind[:-1] * np.uint8(8)
        pairs += kind[1:]
        allowed = self._allowed.take(pairs)
        if not allowed.all() or kind[0] not in (_LETTER, _DIGIT, _STATE):
            return None
        steps = self._steps.take(text)
        begins = np.flatnonzero(kind == _DIGIT)
        if (allowed == _RUN).any():
            begins = self._add_runs(text, begins, steps)
            if begins is None:
                return None
        if (text[begins] == ord("0")).any():
            return None
        passed = np.cumsum(steps, dtype=np.int32)
        stop = np.flatnonzero(kind == _BREAK)
        widths = np.diff(passed[stop], prepend=0)
        lines = np.flatnonzero(text[stop] == _LINE)
        heights = np.diff(lines, prepend=-1)
        width, height = int(widths[0]), int(heights[0])
        if height < 2 or (widths != width).any() or (heights != height).any() or len(lines) != count:
            return None
        at = np.flatnonzero(kind == _LETTER)
        token = text[at].astype(np.int32)
        # The last character, which is before the first one, is a break.
        token += self._state.take(text[at - 1])
        after = kind[at + 1]
        marked = np.flatnonzero((after == _TERMINAL) | (after == _DERIVED))
        if len(marked):
            where = at[marked]
            both = (after[marked] == _TERMINAL) & (kind[where + 2] == _DERIVED)
            mark = np.where(after[marked] == _DERIVED, 2, np.where(both, 3, 1))
            token[marked] += mark.astype(np.int32) * (_CODES * len(_STATES))
        return (width, height), passed[at] - 1, token

    def _add_runs(self, text: Any, digits: Any, steps: Any) -> Any:
        """Make numbers of several digits steps of so many squares; where numbers begin, None if one is too long."""
        np = self._np
        begins = np.ones(len(digits), bool)
        begins[1:] = digits[1:] != digits[:-1] + 1
        run = np.cumsum(begins) - 1
        ends = np.append(np.flatnonzero(begins)[1:], len(digits))
        power = ends[run] - 1 - np.arange(len(digits))
        if (power >= _DIGITS).any():
            return None
        steps[digits] = (text[digits].astype(np.int32) - ord("0")) * 10**power
        return digits[begins]

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
