"""Boards that are no squares: points where lines cross, hexagons, and ways between places."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ggn_store.model.pictures.style import Style
from ggn_store.render import svg

LIGHT: Final = "#f5eddc"
EDGE: Final = "#3d3426"
_WATER: Final = "#dbe7ec"
_WAY: Final = "#a3977f"
_LINE: Final = 1.25

Spot = tuple[float, float]
Stroke = tuple[float, float, float, float]


def points(middles: Mapping[str, Spot], size: float, style: Style) -> str:
    """A board of crossing lines, `size` apart, with its river and palaces."""
    rows = [*_runs(middles, size, 1)]
    columns = [*_runs(middles, size, 0)]
    half = size / 2
    floor = "".join(
        f"M{svg.number(run[0][1][0] - half)} {svg.number(run[0][1][1] - half)}h{svg.number(len(run) * size)}"
        f"v{svg.number(size)}h-{svg.number(len(run) * size)}z"
        for run in rows
    )
    lines = [(*run[0][1], *run[-1][1]) for run in rows if len(run) > 1]
    edges = {columns[0][0][1][0], columns[-1][0][1][0]} if columns else set()
    water: list[Stroke] = []
    for run in columns:
        shores = [*_shores(run, style.bank)]
        if run[0][1][0] in edges:
            water += shores
            shores = []
        ends = [run[0][1], *itertools.chain.from_iterable((a[:2], a[2:]) for a in shores), run[-1][1]]
        lines += [(*a, *b) for a, b in zip(ends[::2], ends[1::2], strict=True) if a != b]
    for palace in style.palaces:
        lines += _diagonals([middles[square] for square in palace if square in middles])
    floors = svg.group([svg.element("path", d=floor, fill=LIGHT), _river(water)], class_="board")
    stars = [svg.circle(*point, 4, fill=EDGE) for square, point in middles.items() if square in style.stars]
    return "\n".join([floors, svg.strokes(lines, stroke=EDGE, stroke_width=_LINE), *stars])


def ways(middles: Mapping[str, Spot], style: Style) -> str:
    """The ways of a network: special ones dashed, and an arrow on those that lead in one direction only."""
    parts = []
    for edges, dash in ((style.ways, None), (style.special_ways, "7 6")):
        known = sorted((a, b) for a, b in edges if a in middles and b in middles and a != b)
        once = [(a, b) for a, b in known if a < b or (b, a) not in edges]
        ends = [(*middles[a], *middles[b]) for a, b in once]
        parts.append(svg.strokes(ends, stroke=_WAY, stroke_width=3, stroke_dasharray=dash))
        parts += [_arrow(middles[a], middles[b]) for a, b in once if (b, a) not in edges]
    return "\n".join(filter(None, parts))


def _arrow(a: Spot, b: Spot) -> str:
    """A head in the middle of the way from one place to another."""
    far = math.dist(a, b)
    x, y = (b[0] - a[0]) / far, (b[1] - a[1]) / far
    tip = (a[0] + b[0]) / 2 + 9 * x, (a[1] + b[1]) / 2 + 9 * y
    wings = [(tip[0] - 18 * x + 8 * side * y, tip[1] - 18 * y - 8 * side * x) for side in (1, -1)]
    return svg.polygon([tip, *wings], fill=_WAY)


HEXAGON: Final = 2 / 3**0.5
"""How tall a hexagon on its tip is, for each unit that it is wide."""


def hexagons(middles: Iterable[Spot], size: float, on_sides: bool = False, **attributes: str | float | None) -> str:
    """Many hexagons on their tips, `size` wide, as one path; nothing where there are none.

    Those `on_sides` are `size` high.
    """
    half, quarter = size / 2, size * HEXAGON / 4
    corners = ((1, 1), (-1, 1), (-1, -1))
    steps = [(y * quarter, x * half) if on_sides else (x * half, y * quarter) for x, y in corners]
    tips = [f"l{svg.number(x)} {svg.number(y)}" for x, y in steps]
    side, along = svg.number(2 * quarter), "h" if on_sides else "v"
    around = f"{tips[0]}{along}{side}{tips[1]}{tips[2]}{along}-{side}z"
    begin = (-2 * quarter, 0) if on_sides else (0, -2 * quarter)
    path = "".join(f"M{svg.number(x + begin[0])} {svg.number(y + begin[1])}{around}" for x, y in middles)
    return svg.element("path", d=path, **attributes) if path else ""


def _runs(middles: Mapping[str, Spot], size: float, axis: int) -> Iterator[list[tuple[str, Spot]]]:
    """The lines of points next to each other, along rows (axis 1) or columns (axis 0)."""
    along = sorted(middles.items(), key=lambda item: (item[1][axis], item[1][1 - axis]))
    run: list[tuple[str, Spot]] = []
    for square, point in along:
        follows = run and point[axis] == run[-1][1][axis] and point[1 - axis] - run[-1][1][1 - axis] < 1.01 * size
        if run and not follows:
            yield run
            run = []
        run.append((square, point))
    if run:
        yield run


def _shores(run: list[tuple[str, Spot]], bank: frozenset[str]) -> Iterator[Stroke]:
    """Where a river crosses a column, from shore to shore."""
    for (a, here), (b, there) in itertools.pairwise(run):
        if bank and (a in bank) != (b in bank):
            yield (*here, *there)


def _river(shores: list[Stroke]) -> str:
    """The water between the outermost columns."""
    if len(shores) != 2:
        return ""
    (left, top, _, bottom), (right, *_) = shores
    return svg.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], fill=_WATER)


def _diagonals(palace: list[Spot]) -> list[Stroke]:
    if not palace:
        return []
    (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in zip(*palace, strict=True))
    return [(left, top, right, bottom), (left, bottom, right, top)]
