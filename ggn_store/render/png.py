"""SVG -> PNG, by resvg, which not every installation has."""

from __future__ import annotations

import importlib
import re
from typing import Any, Final

from ggn_store.errors import GgnStoreError, PictureError

EXTRA: Final = "png"
_MAX_PIXELS: Final = 40_000_000
_SIZE: Final = re.compile(r'<svg [^>]*width="([0-9.]+)" height="([0-9.]+)"')
_LETTER: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="{}">'
    '<text x="2" y="16" font-size="16">M</text></svg>'
)


def to_png(svg: str, zoom: float = 2.0) -> bytes:
    """The picture as PNG, `zoom` pixels for each of the SVG's, or fewer where it would get too large.

    Raises GgnStoreError, naming the extra to install, where resvg is missing, and PictureError where the machine has
    no font to write letters with.
    """
    resvg = _resvg()
    found = _SIZE.search(svg)
    area = float(found[1]) * float(found[2]) if found else 1.0
    zoom = min(zoom, (_MAX_PIXELS / area) ** 0.5)
    fonts = re.search('font-family="([^"]*)"', svg)
    if fonts and not _has_letters(resvg, fonts[1]):
        raise PictureError(
            "no font was found to write letters with: install one without serifs, such as DejaVu Sans, or write SVG"
        )
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=zoom))


def is_available() -> bool:
    """Whether PNG can be made here."""
    try:
        _resvg()
    except GgnStoreError:
        return False
    return True


def _resvg() -> Any:
    try:
        return importlib.import_module("resvg_py")
    except ImportError as error:
        raise GgnStoreError(
            f"PNG needs resvg_py, which cannot be imported ({error}): pip install 'ggn-store[{EXTRA}]', or write SVG"
        ) from None


def _has_letters(resvg: Any, fonts: str) -> bool:
    """Whether a letter leaves any trace: where there is no font, resvg leaves texts out without a word."""
    letter = _LETTER.format(fonts)
    return bool(resvg.svg_to_bytes(svg_string=letter) != resvg.svg_to_bytes(svg_string=letter.replace("M", " ")))
