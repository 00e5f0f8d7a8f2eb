"""CELL: square labels in any number of dimensions (Sashité CELL 1.0.0).

Dimensions cycle through lower-case letters, numbers from 1 and upper-case letters: `e4`, `a1A`, `h8Hh8`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ggn_store.errors import NotationError, quote

PATTERN = r"[a-z]+(?:[1-9][0-9]*[A-Z]+[a-z]+)*(?:[1-9][0-9]*[A-Z]*)?"
MAX_LENGTH = 255
_CELL = re.compile(PATTERN, re.ASCII)
_PART = re.compile(r"[a-z]+|[0-9]+|[A-Z]+", re.ASCII)


def is_cell(text: str) -> bool:
    """Whether `text` is a CELL label."""
    return len(text) <= MAX_LENGTH and _CELL.fullmatch(text) is not None


@lru_cache(maxsize=65_536)
def parse(text: str) -> tuple[int, ...]:
    """The coordinates of a label, each from 0: `parse("e4") == (4, 3)`.

    Raises NotationError for anything that is not CELL.
    """
    if not is_cell(text):
        raise NotationError(f"{quote(text)} is not a CELL square such as e4 or a1A")
    return tuple(int(part) - 1 if part.isdigit() else _letters_value(part.lower()) for part in _PART.findall(text))


@lru_cache(maxsize=4_096)  # the boards of a few games
def text(coordinates: tuple[int, ...]) -> str:
    """The label of `coordinates`: `text((4, 3)) == "e4"`."""
    if not coordinates or min(coordinates) < 0:
        raise NotationError(f"{coordinates} are not coordinates of a square: one or more whole numbers from 0")
    write = _value_letters, lambda value: str(value + 1), lambda value: _value_letters(value).upper()
    label = "".join(write[dimension % 3](value) for dimension, value in enumerate(coordinates))
    if len(label) > MAX_LENGTH:
        raise NotationError(f"a CELL square has at most {MAX_LENGTH} characters, not {len(label)}")
    return label


def _letters_value(letters: str) -> int:
    value = 0
    for letter in letters:
        value = value * 26 + ord(letter) - ord("a") + 1
    return value - 1


def _value_letters(value: int) -> str:
    letters = ""
    value += 1
    while value:
        value, rest = divmod(value - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
