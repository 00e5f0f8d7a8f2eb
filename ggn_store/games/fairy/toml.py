"""Writing a definition: values -> TOML text, short where a definition can be short."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ggn_store.notation import cell
from ggn_store.notation.toml import key as key
from ggn_store.notation.toml import text as text
from ggn_store.notation.toml import value as value


def texts(values: Iterable[str]) -> str:
    """A list of strings."""
    return f"[{', '.join(map(text, values))}]"


def zone(zones: Iterable[Iterable[str]], image: Callable[[str], str]) -> str:
    """A zone of both sides, of the first alone where the second's is the `image` of it."""
    one, other = map(frozenset, zones)
    if other == {image(square) for square in one}:
        return area(one)
    return f"{{ first = {area(one)}, second = {area(other)} }}"


def area(squares: Iterable[str]) -> str:
    """Squares as rectangles."""
    found = rectangles(squares)
    return text(found[0]) if len(found) == 1 else texts(found)


def rectangles(squares: Iterable[str]) -> list[str]:
    """Squares as rectangles: runs along the files, and equal runs of neighbouring ranks together."""
    points = {cell.parse(square) for square in squares}
    runs: list[tuple[int, int, int, int]] = []
    for y in sorted({point[1] for point in points}):
        files = sorted(x for x, rank in points if rank == y)
        for start, end in _runs(files):
            below = next((run for run in runs if run[:2] == (start, end) and run[3] == y - 1), None)
            if below is None:
                runs.append((start, end, y, y))
            else:
                runs[runs.index(below)] = (start, end, below[2], y)
    corners = [(cell.text((a, low)), cell.text((b, high))) for a, b, low, high in runs]
    return [one if one == other else f"{one}:{other}" for one, other in corners]


def _runs(values: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for each in values:
        if found and found[-1][1] == each - 1:
            found[-1] = (found[-1][0], each)
        else:
            found.append((each, each))
    return found
