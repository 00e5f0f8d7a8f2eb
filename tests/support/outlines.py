"""The outlines of the characters on pieces, read from a font: `python -m tests.support.outlines FONT`.

It writes ggn_store/render/outlines.txt. The font is HanaMinA.ttf of Debian's fonts-hanazono; fontTools reads it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any, Final

from ggn_store.render import outlines
from ggn_store.render.characters import SETS

# Where the middle of a character is above the line that it stands on, as a part of its size.
_MIDDLE: Final = 0.36

Point = tuple[float, float]


def characters() -> list[str]:
    """What the sets of pieces write."""
    return sorted({each for written in SETS.values() for text in written.values() for each in text})


def outline(font: Any, character: str) -> str:
    """The outline of a character as the data of a path, around its middle, in steps of the grid."""
    glyphs = font.getGlyphSet()
    pen = importlib.import_module("fontTools.pens.recordingPen").DecomposingRecordingPen(glyphs)
    glyphs[font.getBestCmap()[ord(character)]].draw(pen)
    scale = outlines.GRID / font["head"].unitsPerEm
    half, middle = outlines.GRID / 2, outlines.GRID * _MIDDLE
    at = (0, 0)
    found = []
    for command, points in _segments(pen.value):
        placed = [(round(x * scale - half), round(middle - y * scale)) for x, y in points]
        if command == "z":
            found.append("z")
            continue
        if command == "l" and placed[0] == at:
            continue
        shifts = [(x - at[0], y - at[1]) for x, y in placed]
        found.append(_written(command, placed if command == "M" else shifts))
        at = placed[-1]
    return "".join(found)


def _segments(recorded: list[tuple[str, tuple[Point, ...]]]) -> Iterator[tuple[str, list[Point]]]:
    """Moves, lines and quadratic curves of one control point each."""
    split = importlib.import_module("fontTools.pens.basePen").decomposeQuadraticSegment
    for name, points in recorded:
        if name == "qCurveTo":
            yield from (("q", [*each]) for each in split(points))
        else:
            yield {"moveTo": "M", "lineTo": "l", "closePath": "z"}[name], [*points]


def _written(command: str, points: list[tuple[int, int]]) -> str:
    if command == "l" and 0 in points[0]:
        [(x, y)] = points
        return f"h{x}" if y == 0 else f"v{y}"
    return (command + " ".join(f"{x} {y}" for x, y in points)).replace(" -", "-")


def file(font: Any) -> str:
    """The text of the file."""
    head = [line for line in outlines.FILE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    return "\n".join([*head, *(f"{character} {outline(font, character)}" for character in characters())]) + "\n"


if __name__ == "__main__":
    opened = importlib.import_module("fontTools.ttLib").TTFont(sys.argv[1])
    outlines.FILE.write_text(file(opened), encoding="utf-8", newline="\n")
