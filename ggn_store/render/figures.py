"""Figures of pieces, drawn for this program: an outline and its inner lines, on a square of side 48 around 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ggn_store.render import svg

FIGURES: Final[Mapping[str, tuple[str, str]]] = {
    "king": (
        "M-12 18v-4l2-4q-11-9-6-15q5-6 14-1v-6h-4v-4h4v-4h4v4h4v4h-4v6q9-5 14 1q5 6-6 15l2 4v4z",
        "M-10 10h20M0-2v8",
    ),
    "queen": (
        "M-12 18v-4l2-4l-7-19l7 9v-15l6 13l4-17l4 17l6-13v15l7-9l-7 19l2 4v4z",
        "M-10 10h20",
    ),
    "rook": (
        "M-14 18v-4l4-4v-14l-4-4v-9h6v4h5v-4h6v4h5v-4h6v9l-4 4v14l4 4v4z",
        "M-10-4h20M-10 10h20",
    ),
    "bishop": (
        "M-13 18v-4q5-1 7-4q-8-8-4-15q3-7 8-10a3.2 3.2 0 1 1 4 0q5 3 8 10q4 7-4 15q2 3 7 4v4z",
        "M-6 10h12M4-10l-5 8",
    ),
    "knight": (
        "M-13 18v-4q2-2 4-3q0-8 7-13q-5 0-8 4h-4q-3-2-2-5q5-4 6-8q2-4 5-5l1-4l4 3q13 3 12 24q0 3-1 4q2 1 3 3v4z",
        "M-9 11h21M-5-9l-2 1",
    ),
    "unicorn": (
        "M-13 18v-4q2-2 4-3q0-8 7-13q-5 0-8 4h-4q-3-2-2-5q5-4 6-8l-8-9l11 5q1-1 2-1l1-4l4 3q13 3 12 24q0 3-1 4q2 1 3 3"
        "v4z",
        "M-9 11h21M-5-9l-2 1",
    ),
    "pawn": (
        "M-12 18v-4q2-3 6-4q3-5 2-11a6.5 6.5 0 1 1 8 0q-1 6 2 11q4 1 6 4v4z",
        "M-6 10h12",
    ),
}


def figure(name: str, x: float, y: float, size: float, colors: tuple[str, str]) -> Iterator[str]:
    """The figure of a name in the middle of (x, y), in the colours of its body and of its inner lines."""
    fill, ink = colors
    outline, lines = FIGURES[name]
    parts = [
        svg.element("path", d=outline, fill=fill, stroke=svg.INK, stroke_width=2, stroke_linejoin="round"),
        svg.element("path", d=lines, fill="none", stroke=ink, stroke_width=2),
    ]
    yield svg.moved(parts, x, y, size / 48)
