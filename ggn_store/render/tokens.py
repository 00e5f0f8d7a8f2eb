"""Pieces in pictures: a figure, or a shape with a character or a letter, light for the first side; of stones, dark."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from ggn_store.model.pictures.style import PLAIN, Style
from ggn_store.notation import qpi
from ggn_store.render import characters, svg
from ggn_store.render.figures import FIGURES, ROYAL, figure

LIGHT: Final = "#ffffff"
DARK: Final = "#2e2e2e"
_BLOCK: Final = "#5c5c5c"
_POINTED: Final = frozenset({"S", "SHOGI"})

# What is written in red: on light pieces, and on dark ones.
_RED: Final = ("#b3001b", "#ffb3b3")


def token(
    identifier: str,
    x: float,
    y: float,
    size: float,
    style: Style = PLAIN,
    has_style: bool = False,
    is_flipped: bool = False,
) -> str:
    """A piece in the middle of (x, y) on a square of side `size`.

    Its `style` has a figure or a character for its name, or else it has its letter. Pieces of the styles S and SHOGI
    point forward, as in shogi; all others with letters are discs. A small badge has the state, + or -, and a crown
    marks a terminal piece that its figure or character does not tell. `has_style` writes letters, with the style below.
    Forward is the other way on a board that `is_flipped`.
    """
    piece = qpi.parse(identifier)
    is_first = piece.side == "first"
    fill, ink = (LIGHT, svg.INK) if is_first else (DARK, LIGHT)
    forward = 1 if is_first != is_flipped else -1
    parts = [] if has_style else [*_drawn(piece, (x, y), size, style, forward)]
    if parts:
        if piece.state:
            parts.append(_badge(piece.state, x + 0.33 * size, y - 0.33 * size, size))
        return svg.group([svg.title(identifier), *parts], class_="piece", data_piece=identifier)
    middle = y + _lowered(piece, forward) * size
    parts = [
        svg.title(identifier),
        _body(piece, x, y, size, fill, forward),
        _crown(x, y - (0.24 if has_style else 0.21) * size, size, ink) if piece.terminal else "",
    ]
    letter = piece.letter + "'" * piece.derived
    bold = svg.Font(0.4 * size, fill=ink, is_bold=True, smallest=1)
    if has_style:
        high = y - (0.01 if piece.terminal else 0.07) * size
        parts.append(svg.text(letter, x, high, 0.5 * size, bold._replace(size=0.28 * size)))
        parts.append(
            svg.text(piece.style, x, high + 0.26 * size, 0.46 * size, svg.Font(0.16 * size, fill=ink, smallest=5))
        )
    else:
        parts.append(svg.text(letter, x, middle, 0.56 * size, bold))
    if piece.state:
        parts.append(_badge(piece.state, x + 0.33 * size, y - 0.33 * size, size))
    return svg.group(parts, class_="piece", data_piece=identifier)


def _drawn(piece: qpi.Identifier, at: tuple[float, float], size: float, style: Style, forward: int) -> Iterator[str]:
    """What a set of pieces has for the name of a piece: a figure or a character; nothing where it has none."""
    name = style.names.get(str(piece), "")
    written = characters.character(style.pieces, name, piece.side)
    if str(piece) in style.walls:
        corner, side = (at[0] - 0.42 * size, at[1] - 0.42 * size), 0.84 * size
        yield svg.element("rect", x=corner[0], y=corner[1], width=side, height=side, rx=0.06 * size, fill=_BLOCK)
    elif written is not None:
        yield from _written(piece, written, at, size, style, forward)
    elif style.pieces == "go" and name == "stone":
        fill = DARK if piece.side == "first" else LIGHT  # as in all games of stones
        yield svg.circle(*at, 0.44 * size, fill=fill, stroke=svg.INK, stroke_width=0.04 * size)
    elif (drawn := FIGURES.get(style.pieces, {}).get(name)) is not None:
        x, y = at
        colors = (LIGHT, svg.INK) if piece.side == "first" else (DARK, LIGHT)
        yield from figure(drawn, x, y, size, colors)
        if piece.terminal and name not in ROYAL:
            yield _crown(x - 0.33 * size, y - 0.33 * size, size, svg.INK)


def _written(
    piece: qpi.Identifier, character: str, at: tuple[float, float], size: float, style: Style, forward: int
) -> Iterator[str]:
    """The body of a piece with a character: a pentagon, or a disc with a ring."""
    x, y = at
    is_first = piece.side == "first"
    fill, ink = (LIGHT, svg.INK) if is_first else (DARK, LIGHT)
    if style.pieces == "shogi":
        ink = _RED[not is_first] if piece.state == "+" else ink
        yield _pentagon(x, y, size, fill, forward)
        y += 0.06 * forward * size
    else:
        ink = _RED[0] if is_first else ink
        yield svg.circle(x, y, 0.42 * size, fill=fill, stroke=svg.INK, stroke_width=0.04 * size)
        yield svg.circle(x, y, 0.35 * size, fill="none", stroke=ink, stroke_width=0.02 * size)
    yield svg.outlined(character, x, y, 0.5 * size, ink)


def _body(piece: qpi.Identifier, x: float, y: float, size: float, fill: str, forward: int) -> str:
    if piece.style not in _POINTED:
        return svg.circle(x, y, 0.39 * size, fill=fill, stroke=svg.INK, stroke_width=0.04 * size)
    return _pentagon(x, y, size, fill, forward)


def _pentagon(x: float, y: float, size: float, fill: str, forward: int) -> str:
    corners = ((0, -0.44), (0.29, -0.28), (0.38, 0.4), (-0.38, 0.4), (-0.29, -0.28))
    points = [(x + a * size, y + forward * b * size) for a, b in corners]
    return svg.polygon(points, fill=fill, stroke=svg.INK, stroke_width=0.04 * size)


def _lowered(piece: qpi.Identifier, forward: int) -> float:
    """How far below the middle the letter stands: under a crown, and towards the broad end of a pentagon."""
    broad = 0.0 if piece.style not in _POINTED else 0.04 * forward
    return 0.08 if piece.terminal else broad


def _crown(x: float, y: float, size: float, ink: str) -> str:
    points = ((-0.13, 0.06), (-0.15, -0.07), (-0.06, 0), (0, -0.1), (0.06, 0), (0.15, -0.07), (0.13, 0.06))
    return svg.polygon([(x + a * size, y + b * size) for a, b in points], fill=ink)


def _badge(state: str, x: float, y: float, size: float) -> str:
    """The state of a piece, + or -, on a small disc of its own."""
    arm = 0.085 * size
    ends = [(x - arm, y, x + arm, y)] + ([(x, y - arm, x, y + arm)] if state == "+" else [])
    return svg.circle(x, y, 0.14 * size, fill=LIGHT, stroke=svg.INK, stroke_width=0.03 * size) + svg.strokes(
        ends, stroke=svg.INK, stroke_width=math.ceil(0.05 * size * 10) / 10
    )
