"""Figures of pieces, drawn for this program: an outline and its inner lines, on a square of side 48 around 0."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Final

from ggn_store.model.pictures.style import PieceSet
from ggn_store.render import svg

Figure = tuple[str, str]

_CHESS: Final[Mapping[str, Figure]] = {
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
# A stupa for the king, a smaller one for the minister, as pieces of Thailand and Cambodia are carved.
_MAKRUK: Final[Mapping[str, Figure]] = {
    "king": (
        "M-14 18v-4l3-2q-1-12 7-18v-5l2-2v-5l2-3l2 3v5l2 2v5q8 6 7 18l3 2v4z",
        "M-11 12h22M-4-6h8M-2-13h4",
    ),
    "minister": (
        "M-12 18v-4l3-2q-1-9 6-14v-4l3-4l3 4v4q7 5 6 14l3 2v4z",
        "M-9 12h18M-3-2h6",
    ),
    "nobleman": (
        "M-13 18v-4l2-1q-4-10 2-16q5-4 9-12q4 8 9 12q6 6 2 16l2 1v4z",
        "M-11 13h22M0-6v12",
    ),
    "horse": _CHESS["knight"],
    "boat": (
        "M-17 18v-5l4-3v-6h-4v-6h10v-3h14v3h10v6h-4v6l4 3v5z",
        "M-13 10h26M-13 4h26",
    ),
    "shell": (
        "M-13 18q-4-9 3-14q10-7 20 0q7 5 3 14z",
        "M-9 11h18M-5 8v6M0 8v6M5 8v6",
    ),
}
# What others call the same pieces, who play them on boards of the same kind.
_ALSO: Final = {
    "neang": "minister",
    "queen": "minister",
    "bishop": "nobleman",
    "knight": "horse",
    "rook": "boat",
    "pawn": "shell",
}
_DOBUTSU: Final[Mapping[str, Figure]] = {
    "lion": (
        "M0 18a6.5 6.5 0 0 1-10.6-4.4a6.5 6.5 0 0 1-4.4-10.6a6.5 6.5 0 0 1 4.4-10.6a6.5 6.5 0 0 1 10.6-4.4"
        "a6.5 6.5 0 0 1 10.6 4.4a6.5 6.5 0 0 1 4.4 10.6a6.5 6.5 0 0 1-4.4 10.6a6.5 6.5 0 0 1-10.6 4.4z",
        "M-9 3a9 9 0 1 0 18 0a9 9 0 1 0-18 0M-4 0v2M4 0v2M-2 5h4l-2 2zM0 7v2",
    ),
    "giraffe": (
        "M-4 18l2-18q-8 1-9-2q-1-3 3-4l6-5l-2-7h2l3 6l3-6h2l-1 7q5 2 6 10l3 19z",
        "M-1-7h2M3 1l3 2M4 8l4-1M2 13l2 2M9 13l1 2",
    ),
    "elephant": (
        "M-3 18v-8q-4 0-5-4q-10 3-11-8q-1-11 9-10q3-4 10-4q7 0 10 4q10-1 9 10q-1 11-11 8q-1 4-5 4v8z",
        "M-10-12q-4 9 2 18M10-12q4 9-2 18M-4-5v2M4-5v2M-3 14h6M-3 10h6",
    ),
    "chick": (
        "M0 18a13 13 0 0 1-3-25.6l-3-6l6 4l4-5v7.4a13 13 0 0 1-4 25.2z",
        "M-5 1v2M5 1v2M-3 6h6l-3 4z",
    ),
    "hen": (
        "M0 18a13 13 0 0 1-6-24.5l-1-7l4 3l3-6l3 6l4-3l-1 7a13 13 0 0 1-6 24.5z",
        "M-6-6q6-3 12 0M-5 1v2M5 1v2M-3 6h6l-3 4zM-1 11q1 4 2 0",
    ),
}
_DISC: Final = "M0 18a18 18 0 1 0 0-36a18 18 0 1 0 0 36z"
_MAN: Final = (_DISC, "M-13 0a13 13 0 1 0 26 0a13 13 0 1 0-26 0M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0")
_CROWNED: Final = (_DISC, "M-14 0a14 14 0 1 0 28 0a14 14 0 1 0-28 0M-8 6v-11l4.5 5l3.5-8l3.5 8l4.5-5v11z")
_DRAUGHTS: Final[Mapping[str, Figure]] = {"man": _MAN, "stone": _MAN, "piece": _MAN, "peg": _MAN, "king": _CROWNED}
FIGURES: Final[Mapping[PieceSet, Mapping[str, Figure]]] = {
    "chess": _CHESS,
    "makruk": {**_MAKRUK, **{name: _MAKRUK[own] for name, own in _ALSO.items()}},
    "dobutsu": _DOBUTSU,
    "draughts": _DRAUGHTS,
}
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
