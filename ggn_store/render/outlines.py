"""Outlines of the characters on pieces, so that they look alike wherever they are shown, whatever fonts are there.

They are in the file beside this, with where they come from.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_suffix(".txt")

GRID: Final = 128
"""The size of a character, in steps of the data of its path, which lies around 0."""


def entries(file: Path, mark: str = ": ") -> dict[str, str]:
    """What a file of this room has, a line each, by what stands before a mark; lines with # are comments."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return dict(line.split(mark, 1) for line in lines if not line.startswith("#"))


@functools.cache
def outlines() -> Mapping[str, str]:
    """The data of the path of each character."""
    return entries(FILE, " ")
