"""QPI: a piece with its style, as `must-deny` and `diff` documents write it: `C:+K^`, `shogi:p'`.

A style (SIN; longer names are accepted too), a colon and an EPIN token: an optional state, a letter, an
optional `^` for a terminal piece and `'` for a piece of derived style. Style and letter have one case, and
that case is the side: upper case is the first player.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ggn_store.errors import NotationError, quote

Side = Literal["first", "second"]
State = Literal["", "+", "-"]

MAX_LENGTH = 255
STYLE_PATTERN = r"(?:[A-Z][A-Z0-9]*|[a-z][a-z0-9]*)"
EPIN_PATTERN = r"[-+]?[A-Za-z]\^?'?"
PATTERN = r"(?:[A-Z][A-Z0-9]*:[-+]?[A-Z]|[a-z][a-z0-9]*:[-+]?[a-z])\^?'?"
ALLOWED = "a piece identifier such as C:+K^ (style and letter in one case)"

_QPI = re.compile(PATTERN, re.ASCII)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A piece identifier taken apart; `style` and `letter` are in upper case, `side` holds the case."""

    style: str
    letter: str
    side: Side
    state: State = ""
    terminal: bool = False
    derived: bool = False

    def __str__(self) -> str:
        style, letter = (self.style, self.letter) if self.side == "first" else (self.style.lower(), self.letter.lower())
        return f"{style}:{self.state}{letter}{'^' * self.terminal}{chr(39) * self.derived}"


@lru_cache(maxsize=16_384)
def is_qpi(text: str) -> bool:
    """Whether `text` is a piece identifier of the `must-deny` and `diff` dialects."""
    return len(text) <= MAX_LENGTH and _QPI.fullmatch(text) is not None


@lru_cache(maxsize=16_384)
def parse(text: str) -> Identifier:
    """The identifier that `text` writes; raises NotationError, quoting it, if it is none."""
    if not is_qpi(text):
        raise NotationError(f"{quote(text)} is not {ALLOWED}")
    style, token = text.split(":")
    state: State = "+" if token[0] == "+" else "-" if token[0] == "-" else ""
    letter = token[len(state)]
    return Identifier(
        style=style.upper(),
        letter=letter.upper(),
        side="first" if letter.isupper() else "second",
        state=state,
        terminal="^" in token,
        derived=token.endswith("'"),
    )


def side_of(identifier: str) -> Side:
    """The side of a valid identifier, which is its case."""
    return "first" if identifier[0].isupper() else "second"


@lru_cache(maxsize=4096)
def is_royal(piece: str) -> bool:
    """Whether a piece is one that its side must not lose: `^` says it."""
    return parse(piece).terminal


def is_promotion(before: str, after: str) -> bool:
    """Whether a piece becomes another kind of piece, or takes the state +; losing a mark is no promotion."""
    old, new = parse(before), parse(after)
    is_same = (old.style, old.letter, old.derived) == (new.style, new.letter, new.derived)
    return not is_same or (new.state == "+" != old.state)


def other_side(side: Side) -> Side:
    """The opponent."""
    return "second" if side == "first" else "first"
