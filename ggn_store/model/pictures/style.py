"""How a board and its pieces are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from ggn_store.model.documents.geometry import Labels

Ground = Literal["squares", "cells", "points", "hexagons", "ways"]
PieceSet = Literal["letters", "chess", "shogi", "xiangqi", "janggi", "go", "makruk", "dobutsu", "draughts"]

STYLES: Final[Mapping[str, str]] = {
    "letters": "the game's own board, with the letters of identifiers on it",
    "plain": "squares, or labels in rows, with letters",
    "chess": "squares, with figures",
    "shogi": "pentagons with kanji",
    "xiangqi": "points on lines, with discs",
    "janggi": "points on lines, with the characters of Korea",
    "go": "points on lines, with stones",
    "makruk": "squares of one tone, with the pieces of Thailand",
    "dobutsu": "squares of one tone, with animals",
    "draughts": "squares, with draughtsmen",
}
"""The styles that can be asked for, and what they are."""

AREAS: Final[Mapping[str, str]] = {
    "water": "#a9cfe6",
    "trap": "#e6c98f",
    "den": "#c9a27c",
    "throne": "#c9a27c",
    "corner": "#c9a27c",
}
"""Squares that are told from others by their colour, by what definitions and descriptions call them."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a board and its pieces are drawn: `cells` are squares of one tone.

    `labels` say how hexagons lie, which touch along ranks, or along files if they are `upright`.

    `names` are what pieces are called, by identifier: a set of pieces has figures or characters for names, and where it
    has none the letter is drawn. The pieces of `walls` stand in the way for good, and are blocks. `palaces` are crossed
    by diagonals; a river divides `bank` from what is beyond; `stars` have a dot. On a board of ways each square is at
    one of `places`, to the right and up, the nearest 1 apart, and `ways` and `special_ways` lead from one to another.
    `areas` are squares of other colours, by their names in `AREAS`.
    """

    ground: Ground = "squares"
    pieces: PieceSet = "letters"
    names: Mapping[str, str] = field(default_factory=dict)
    palaces: tuple[frozenset[str], ...] = ()
    bank: frozenset[str] = frozenset()
    stars: frozenset[str] = frozenset()
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    ways: frozenset[tuple[str, str]] = frozenset()
    special_ways: frozenset[tuple[str, str]] = frozenset()
    walls: frozenset[str] = frozenset()
    labels: Labels = "axial"
    upright: bool = False
    areas: Mapping[str, frozenset[str]] = field(default_factory=dict)


PLAIN: Final = Style()
