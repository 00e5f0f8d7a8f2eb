"""SVG -> PNG, by resvg, which not every installation has."""

from __future__ import annotations

import importlib
import math
import re
from typing import Any, Final

from ggn_store.errors import GgnStoreError, PictureError

EXTRA: Final = "png"
_MAX_PIXELS: Final = 40_000_000
_SIZE: Final = re.compile(r'<svg [^>]*width="([0-9.]+)" height="([0-9.]+)"')
_FONTS: Final = re.compile('<svg [^>]*font-family="([^"]*)"')
_LETTER: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="{}">'
    '<text x="2" y="16" font-size="16">M</text></svg>'
)


def to_png(svg: str, zoom: float = 2.0, widest: float | None = None) -> bytes:
    """The picture as PNG, `zoom` pixels for each of the SVG's, or fewer for it to be at most `widest` and not huge.

    Raises GgnStoreError, naming the extra to install, where resvg is missing, and PictureError where the machine has
    no font to write letters with.
    """
    resvg = _resvg()
    found = _SIZE.search(svg)
    width, height = map(float, found.groups()) if found else (1.0, 1.0)
    zoom = min(zoom, (_MAX_PIXELS / (width * height)) ** 0.5, (widest or math.inf) / width)
    fonts = _FONTS.search(svg)
    if fonts is not None and not has_font(fonts[1]):
        raise PictureError(
            "no font was found to write letters with: install one without serifs, such as DejaVu Sans, or write SVG"
        )
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=zoom))


def has_font(families: str) -> bool:
    """Whether a letter leaves any trace: where no such font is there, resvg leaves texts out without a word."""
    letter = _LETTER.format(families)
    resvg = _resvg()
    return bool(resvg.svg_to_bytes(svg_string=letter) != resvg.svg_to_bytes(svg_string=letter.replace("M", " ")))


def _resvg() -> Any:
    try:
        return importlib.import_module("resvg_py")
    except ImportError as error:
        raise GgnStoreError(
            f"PNG needs resvg_py, which cannot be imported ({error}): pip install 'ggn-store[{EXTRA}]', or write SVG"
        ) from None
