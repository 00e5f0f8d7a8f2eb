"""Figures of pieces, of the file beside this: an outline and its inner lines, on a square of side 48 around 0."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, cast

from ggn_store.model.pictures.style import PieceSet
from ggn_store.render import svg
from ggn_store.render.outlines import entries

Figure = tuple[str, str]


def _read() -> Mapping[PieceSet, Mapping[str, Figure]]:
    found: dict[PieceSet, dict[str, Figure]] = {}
    for key, drawn in entries(Path(__file__).with_suffix(".txt")).items():
        pieces, name = key.split(" ", 1)
        outline, mark, lines = drawn.partition(" | ")
        if not mark:
            of, other = drawn.removeprefix("= ").split(" ", 1)
            outline, lines = found[cast(PieceSet, of)][other]
        found.setdefault(cast(PieceSet, pieces), {})[name] = outline, lines
    return found


FIGURES: Final = _read()
"""The figures of each set of pieces that has some, by the names of pieces."""

ROYAL: Final = frozenset(("king", "lion"))
"""The names whose figures tell that a piece is terminal, without a crown."""


def figure(drawn: Figure, x: float, y: float, size: float, colors: tuple[str, str]) -> Iterator[str]:
    """A figure in the middle of (x, y), in the colours of its body and of its inner lines."""
    yield svg.moved(_paths(drawn, colors), x, y, size / 48)


@functools.cache
def _paths(drawn: Figure, colors: tuple[str, str]) -> tuple[str, str]:
    fill, ink = colors
    outline, lines = drawn
    return (
        svg.element("path", d=outline, fill=fill, stroke=svg.INK, stroke_width=2, stroke_linejoin="round"),
        svg.element("path", d=lines, fill="none", stroke=ink, stroke_width=2),
    )
