"""SVG as text: the few elements that pictures are made of, and texts that stay in their place.

Everything is written out as attributes: no style sheet, no reference, no font, nothing that could act on the page
that a picture is put into. Texts are in whatever sans-serif font the reader has; how wide they get is estimated, to
the wide side.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple
from unicodedata import east_asian_width

from ggn_store.errors import printable
from ggn_store.render.outlines import GRID, outlines

INK: Final = "#1a1a1a"
PAPER: Final = "#ffffff"
FAINT: Final = "#4d4d4d"

# Renderers that know no generic family take the first of these that is there.
FONTS: Final = "Helvetica, Arial, DejaVu Sans, Liberation Sans, Noto Sans, sans-serif"
_MARKUP: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_MARKUP_PATTERN: Final = re.compile("[&<>\"']")
_NARROW: Final = frozenset(" ijlIfrt.,:;!|'`()[]{}/\\1-")
_WIDE: Final = frozenset("mwMW@%—…ǄǅǆǱǲǳ")
_MAX_TITLE: Final = 2_000
# The outline of a character, by its code, until a picture gives it an identifier of its own.
_OUTLINE: Final = "#outline-"
_OUTLINED: Final = re.compile(f'href="{_OUTLINE}([0-9a-f]+)"')
_STROKE: Final = 4  # of the grid: what is added to the thin strokes of a font for texts

Anchor = Literal["start", "middle", "end"]


@functools.lru_cache(maxsize=4_096)  # of a board, many are the same
def escaped(text: str) -> str:
    """`text` as it may stand in an element or an attribute; what cannot be shown is written as an escape."""
    return _MARKUP_PATTERN.sub(lambda found: _MARKUP[found[0]], printable(text))


@functools.lru_cache(maxsize=4_096)  # of a board, many are the same
def number(value: float) -> str:
    """A length or coordinate, to a hundredth, as short as it can be written."""
    return f"{round(value, 2) + 0:.2f}".rstrip("0").rstrip(".")


def element(name: str, body: str = "", /, **attributes: str | float | None) -> str:
    """An element; `body` is markup, the attributes' values are not. An underscore in a name stands for a hyphen."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            written = escaped(value) if isinstance(value, str) else number(value)
            parts.append(f'{_attribute(key)}="{written}"')
    return f"<{' '.join(parts)}/>" if not body else f"<{' '.join(parts)}>{body}</{name}>"


@functools.cache  # there are few
def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def group(parts: Iterable[str], /, **attributes: str | float | None) -> str:
    """Elements that share attributes, a line each; nothing where there are none."""
    return _around("g", parts, **attributes)


def _around(name: str, parts: Iterable[str], /, **attributes: str | float | None) -> str:
    body = "\n".join(part for part in parts if part)
    return element(name, f"\n{body}\n", **attributes) if body else ""


def title(text: str) -> str:
    """What a reader of screens says of an element, and a mouse that rests on it shows."""
    return element("title", escaped(shortened(text, _MAX_TITLE)))


def moved(parts: Iterable[str], x: float, y: float, scale: float = 1) -> str:
    """Elements at another place, and of another size."""
    size = "" if scale == 1 else f" scale({scale:.4g})"
    return group(parts, transform=f"translate({number(x)} {number(y)}){size}")


# --- texts ---


def shortened(text: str, length: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= length else text[: length - 1] + "…"


def text_width(text: str, size: float, is_bold: bool = False) -> float:
    """How wide a text gets at most in common fonts without serifs."""
    return size * sum(map(_char_width, text)) * (1.12 if is_bold else 1)


def _char_width(char: str) -> float:
    if char in _NARROW:
        return 0.42 if char not in "1-r" else 0.64
    if char in _WIDE or east_asian_width(char) in "WF":
        return 1.05
    return 0.66 if char.islower() or char.isdigit() else 0.8


class Font(NamedTuple):
    """How a text is written: `anchor` is what of it stands at the given place, `smallest` the size that stays."""

    size: float
    anchor: Anchor = "middle"
    fill: str = INK
    is_bold: bool = False
    smallest: float = 8


def text(content: str, x: float, y: float, width: float, font: Font) -> str:
    """A line of text whose middle is at the height `y`, made smaller until it fits `width`, and then shorter.

    A text that is cut has the whole of it as its title.
    """
    size, anchor, fill, is_bold, smallest = font
    shown = printable(content)
    if not shown:
        return ""
    wide = text_width(shown, 1, is_bold)
    size = max(min(size, width / wide), min(size, smallest))
    cut = shown
    while len(cut) > 1 and text_width(cut, size, is_bold) > width:
        cut = cut[:-2] + "…"
    return element(
        "text",
        escaped(cut) + (title(content) if cut != shown else ""),
        x=x,
        y=y + size * 0.36,
        font_size=size,
        text_anchor=None if anchor == "start" else anchor,
        font_weight="bold" if is_bold else None,
        fill=None if fill == INK else fill,
    )


def outlined(character: str, x: float, y: float, size: float, fill: str) -> str:
    """One of the characters of `outlines`, in the middle of (x, y), whatever fonts are there."""
    place = f"translate({number(x)} {number(y)}) scale({size / GRID:.4g})"
    return element("use", href=f"{_OUTLINE}{ord(character):x}", transform=place, fill=fill, stroke=fill)


def _outlines(body: str, key: str) -> tuple[str, str]:
    """The outlines of the characters in the body of a picture, each once, and the body that names them."""
    used = dict.fromkeys(_OUTLINED.findall(body))
    paths = [
        element("path", id=f"c{code}-{key}", d=outlines()[chr(int(code, 16))], stroke_width=_STROKE) for code in used
    ]
    defs = _around("defs", paths)
    return defs and f"{defs}\n", _OUTLINED.sub(rf'href="#c\1-{key}"', body)


# --- shapes ---


def circle(x: float, y: float, radius: float, **attributes: str | float | None) -> str:
    """A circle."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def rectangle(x: float, y: float, width: float, height: float, **attributes: str | float | None) -> str:
    """A rectangle from its left upper corner."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def squares(corners: Iterable[tuple[float, float]], size: float, **attributes: str | float | None) -> str:
    """Many squares of one size as one path, from their left upper corners; nothing where there are none."""
    side = number(size)
    path = "".join(f"M{number(x)} {number(y)}h{side}v{side}h-{side}z" for x, y in corners)
    return element("path", d=path, **attributes) if path else ""


def strokes(ends: Iterable[tuple[float, float, float, float]], **attributes: str | float | None) -> str:
    """Straight lines as one path."""
    path = "".join(f"M{number(a)} {number(b)}L{number(c)} {number(d)}" for a, b, c, d in ends)
    return element("path", d=path, fill="none", **attributes) if path else ""


def polygon(points: Sequence[tuple[float, float]], **attributes: str | float | None) -> str:
    """A closed polygon."""
    path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) + "z"
    return element("path", d=path, **attributes)


# --- the whole ---


def document(
    parts: Iterable[str],
    width: float,
    height: float,
    name: str,
    description: str,
    *,
    role: Literal["img", "group"] = "img",
    paper: str = PAPER,
) -> str:
    """The SVG of a picture, which is `width` by `height` pixels unless it is scaled.

    Its role is a group where there is something in it to go to.
    """
    body = "\n".join(part for part in (rectangle(0, 0, width, height, fill=paper), *parts) if part)
    # Several pictures may stand on one page, so that identifiers must be each picture's own.
    key = hashlib.sha256(f"{name}\n{description}\n{body}".encode()).hexdigest()[:10]
    defs, body = _outlines(body, key)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
        f'viewBox="0 0 {number(width)} {number(height)}" role="{role}" aria-labelledby="title-{key} desc-{key}" '
        f'font-family="{FONTS}" fill="{INK}">\n'
        f"{element('title', escaped(shortened(name, _MAX_TITLE)) or 'picture', id=f'title-{key}')}\n"
        f"{element('desc', escaped(shortened(description, _MAX_TITLE)) or 'picture', id=f'desc-{key}')}\n"
        f"{defs}{body}\n</svg>\n"
    )
