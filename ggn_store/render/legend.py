"""The marks of diagrams of moves: their shapes, and the legend that says what these mean.

A disc: moves or captures; a ring: only moves; a cross: only captures; dashed: only over a piece in between; a square
around: changes another square, too; a plus: becomes another piece. The shapes tell them apart without their colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ggn_store.model.changes.changes import ChangeKind
from ggn_store.model.pictures.marks import Mark
from ggn_store.notation.hand import HAND
from ggn_store.render import svg

DISC: Final = "disc"
RING: Final = "ring"
CROSS: Final = "cross"
OVER: Final = "-over"
SQUARE: Final = "square"
PLUS: Final = "plus"

COLORS: Final = {DISC: "#14532d", RING: "#1e3a8a", CROSS: "#9f1239", SQUARE: "#581c87", PLUS: "#6b2d0c"}
MEANINGS: Final = {
    DISC: "moves or captures",
    DISC + OVER: "moves or captures over a piece in between",
    RING: "moves, to an empty square",
    RING + OVER: "moves over a piece in between, to an empty square",
    CROSS: "captures",
    CROSS + OVER: "captures over a piece in between",
    SQUARE: "changes other squares, too",
    PLUS: "becomes another piece",
}
_DROPS: Final = {DISC: "drops here", RING: "drops here if it is empty", CROSS: "drops here if it is taken"}
_SYMBOLS: Final = {DISC: "*", RING: "o", CROSS: "x"}


def shapes(mark: Mark) -> list[str]:
    """The shapes of a mark, by the names that `MEANINGS` has."""
    found = []
    for shape, manner in (
        [(DISC, mark.quiet)] if mark.quiet == mark.capture else [(RING, mark.quiet), (CROSS, mark.capture)]
    ):
        if manner != "never":
            found.append(shape + (OVER if manner == "over" else ""))
    return found + [SQUARE] * mark.elsewhere + [PLUS] * mark.promotes


def used(marks: Iterable[Mark]) -> list[str]:
    """The shapes that occur, in the order of the legend."""
    found = {shape for mark in marks if mark.square != HAND for shape in shapes(mark)}
    return [shape for shape in MEANINGS if shape in found]


def meaning(shape: str, is_drop: bool) -> str:
    """What a shape means, in a diagram of moves or of drops."""
    return _DROPS.get(shape, MEANINGS[shape]) if is_drop else MEANINGS[shape]


# --- changes ---

# What became of a destination, in colours that colour-blind people can tell apart.
FRAMES: Final[Mapping[ChangeKind, str]] = {"added": "gained", "removed": "lost", "changed": "goes there otherwise"}
_FRAME_COLORS: Final[Mapping[ChangeKind, str]] = {"added": "#0072b2", "removed": "#d55e00", "changed": "#cc79a7"}


def frame(kind: ChangeKind, x: float, y: float, size: float) -> str:
    """A frame around a square: with a plus and solid for gained, dashed with a minus for lost, round for changed."""
    color, half, line = _FRAME_COLORS[kind], 0.45 * size, 0.09 * size
    dash = f"{svg.number(0.18 * size)} {svg.number(0.09 * size)}" if kind == "removed" else None
    if kind == "changed":
        parts = [svg.circle(x, y, half, fill="none", stroke=color, stroke_width=line)]
    else:
        corner = x - half, y - half, 2 * half, 2 * half
        parts = [svg.rectangle(*corner, fill="none", stroke=color, stroke_width=line, stroke_dasharray=dash)]
        arm, left, top = 0.11 * size, x - 0.28 * size, y - 0.28 * size
        ends = [(left - arm, top, left + arm, top)] + [(left, top - arm, left, top + arm)] * (kind == "added")
        parts += [svg.strokes(ends, stroke=color, stroke_width=line)]
    return svg.group(parts, class_="change", data_change=kind)


# --- drawn ---


def drawn(mark: Mark, x: float, y: float, size: float, is_occupied: bool) -> str:
    """A mark in the middle of (x, y) on a square of side `size`, around the piece where one stands there."""
    found = shapes(mark)
    has_both = {RING, CROSS} <= {shape.removesuffix(OVER) for shape in found}
    parts = [svg.title(f"{mark.square}: {mark.words}")]
    for shape in found:
        parts += _around(shape, x, y, size) if is_occupied else _inside(shape, x, y, size, has_both)
    return svg.group(parts, class_="mark", data_square=mark.square, data_kind=" ".join(found))


def bare(mark: Mark, x: float, y: float, size: float) -> str:
    """A mark on an empty square, without its words."""
    found = shapes(mark)
    has_both = {RING, CROSS} <= {shape.removesuffix(OVER) for shape in found}
    return "".join(part for shape in found for part in _inside(shape, x, y, size, has_both))


def sample(shape: str, x: float, y: float, size: float) -> str:
    """A shape for the legend."""
    if shape == PLUS:
        return _plus(x, y, 0.2 * size, 0.1 * size, COLORS[PLUS])
    return "".join(_inside(shape, x, y, size, False))


def _inside(shape: str, x: float, y: float, size: float, has_both: bool) -> Iterator[str]:
    color = COLORS[shape.removesuffix(OVER)]
    is_over = shape.endswith(OVER)
    line = 0.075 * size
    match shape.removesuffix(OVER):
        case "disc" if is_over:
            yield svg.circle(x, y, 0.1 * size, fill=color)
            yield _dashed_circle(x, y, 0.21 * size, line, color)
        case "disc":
            yield svg.circle(x, y, 0.17 * size, fill=color)
        case "ring" if is_over:
            yield _dashed_circle(x, y, (0.31 if has_both else 0.22) * size, line, color)
        case "ring":
            yield svg.circle(x, y, (0.31 if has_both else 0.22) * size, fill="none", stroke=color, stroke_width=line)
        case "cross":
            arm = (0.15 if has_both else 0.2) * size
            length = arm * 2**0.5
            dash = f"{svg.number(0.4 * length)} {svg.number(0.24 * length)}" if is_over else None
            ends = ((x, y, x + a * arm, y + b * arm) for a in (-1, 1) for b in (-1, 1))
            yield svg.strokes(ends, stroke=color, stroke_width=line, stroke_dasharray=dash)
        case "square":
            half = 0.39 * size
            yield svg.rectangle(
                x - half, y - half, 2 * half, 2 * half, fill="none", stroke=color, stroke_width=0.055 * size
            )
        case "plus":
            yield _plus(x + 0.29 * size, y - 0.29 * size, 0.12 * size, line, color)


def _around(shape: str, x: float, y: float, size: float) -> Iterator[str]:
    """The same shapes, on the rim of a square whose middle is taken."""
    color = COLORS[shape.removesuffix(OVER)]
    dash = f"{svg.number(0.08 * size)} {svg.number(0.05 * size)}" if shape.endswith(OVER) else None
    line = 0.075 * size
    match shape.removesuffix(OVER):
        case "disc" | "ring":
            yield svg.circle(x, y, 0.44 * size, fill="none", stroke=color, stroke_width=line, stroke_dasharray=dash)
        case "cross":
            far, near = 0.46 * size, 0.27 * size
            ends = ((x + a * far, y + b * far, x + a * near, y + b * near) for a in (-1, 1) for b in (-1, 1))
            yield svg.strokes(ends, stroke=color, stroke_width=0.1 * size, stroke_dasharray=dash)
        case "square":
            half = 0.46 * size
            yield svg.rectangle(x - half, y - half, 2 * half, 2 * half, fill="none", stroke=color, stroke_width=line)
        case "plus":
            yield _plus(x, y - 0.36 * size, 0.11 * size, line, color)


def _dashed_circle(x: float, y: float, radius: float, line: float, color: str) -> str:
    dash = f"{svg.number(radius * 0.5)} {svg.number(radius * 0.2854)}"  # eight dashes around
    return svg.circle(x, y, radius, fill="none", stroke=color, stroke_width=line, stroke_dasharray=dash)


def _plus(x: float, y: float, arm: float, line: float, color: str) -> str:
    ends = [(x - arm, y, x + arm, y), (x, y - arm, x, y + arm)]
    halo = svg.circle(x, y, arm + line * 0.6, fill=svg.PAPER)
    return halo + svg.strokes(ends, stroke=color, stroke_width=line)


# --- written ---


def symbol(mark: Mark) -> str:
    """A mark in text: `*` moves or captures, `o` moves, `x` captures, in parentheses over a piece in between.

    Brackets around it are the square, and a plus is a plus.
    """
    text = "".join(
        f"({_SYMBOLS[shape.removesuffix(OVER)]})" if shape.endswith(OVER) else _SYMBOLS[shape]
        for shape in shapes(mark)
        if shape.removesuffix(OVER) in _SYMBOLS
    )
    return f"[{text}]" * mark.elsewhere + text * (not mark.elsewhere) + "+" * mark.promotes


def symbol_of(shape: str) -> str:
    """A shape in text, for the legend."""
    base = shape.removesuffix(OVER)
    sign = _SYMBOLS.get(base, "[ ]" if base == SQUARE else "+")
    return f"({sign})" if shape.endswith(OVER) else sign
