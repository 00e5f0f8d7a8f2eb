"""Two columns of an answer as a picture: bars for names, points for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ggn_store.render import svg

_WIDTH: Final = 640
_NAMES: Final = 200  # of this, names of bars and values beside points
_HEIGHT: Final = 320
_BAR: Final = 22
_EDGE: Final = 24
_BARS: Final = 60
_POINTS: Final = 2_000
_FAR: Final = 1e300


def plot(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str | None:
    """The SVG of two columns, of which the second has numbers; rows without a value are left out.

    Bars where the first column has anything but numbers, at most 60, else points, at most 2,000. None where the answer
    is nothing like this. Bars and points have the class `value`.
    """
    if len(columns) != 2:
        return None
    kept = [(name, value) for name, value in rows if name is not None and value is not None]
    if not kept or not all(_is_number(value) for _, value in kept):
        return None
    if all(_is_number(name) for name, _ in kept):
        return _points(columns, kept) if len(kept) <= _POINTS else None
    return _bars(columns, kept) if len(kept) <= _BARS else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_FAR < value < _FAR


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


class _Scale:
    """Numbers -> places from `start` to `end`."""

    def __init__(self, numbers: Sequence[float], start: float, end: float) -> None:
        self.least, self.most, self._start, self._end = min(numbers), max(numbers), start, end

    def at(self, value: float) -> float:
        span = self.most - self.least
        part = (value - self.least) / span if span else 0.5
        return self._start + part * (self._end - self._start)


def _bars(columns: Sequence[str], rows: Sequence[tuple[Any, Any]]) -> str:
    beside = 90
    scale = _Scale([0, *(value for _, value in rows)], _NAMES + 8, _WIDTH - beside)
    if scale.most == scale.least:  # all are zero
        scale.most += 1
    font = svg.Font(13, "end")
    parts = []
    for place, (name, value) in enumerate(rows):
        middle = _EDGE + place * _BAR + _BAR / 2
        start, end = sorted((scale.at(0), scale.at(value)))
        parts += [
            svg.text(str(name), _NAMES, middle, _NAMES - 8, font),
            svg.rectangle(start, middle - 8, max(end - start, 1), 16, class_="value"),
            svg.text(_shown(value), end + 6, middle, beside - 8, svg.Font(13, "start")),
        ]
    return _document(columns, parts, _EDGE * 2 + len(rows) * _BAR, f"{len(rows)} bars")


def _points(columns: Sequence[str], rows: Sequence[tuple[Any, Any]]) -> str:
    left, bottom = 90, _HEIGHT - 2 * _EDGE
    across = _Scale([x for x, _ in rows], left + 8, _WIDTH - _EDGE)
    up = _Scale([y for _, y in rows], bottom - 8, _EDGE)
    parts = [svg.strokes([(left, _EDGE, left, bottom), (left, bottom, _WIDTH, bottom)], stroke=svg.FAINT)]
    parts += [svg.circle(across.at(x), up.at(y), 3.5, class_="value", fill_opacity=0.7) for x, y in rows]
    fonts = svg.Font(13, "start"), svg.Font(13, "end")
    for value, font in zip((across.least, across.most), fonts, strict=True):
        parts.append(svg.text(_shown(value), across.at(value), bottom + 14, _NAMES, font))
    for value in (up.least, up.most):
        parts.append(svg.text(_shown(value), left - 8, up.at(value), left - 8, fonts[1]))
    parts.append(svg.text(columns[0], (left + _WIDTH) / 2, bottom + 34, _WIDTH - left, svg.Font(13)))
    parts.append(svg.text(columns[1], 4, 10, _WIDTH, fonts[0]))
    return _document(columns, parts, _HEIGHT, f"{len(rows)} points")


def _document(columns: Sequence[str], parts: list[str], height: float, what: str) -> str:
    return svg.document(parts, _WIDTH, height, f"{columns[1]} by {columns[0]}", what, paper="none")
