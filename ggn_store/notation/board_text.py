"""Boards as plain text: what stands where, in rows and columns as far as the squares have coordinates."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from ggn_store.errors import printable
from ggn_store.notation import cell

MAX_DRAWN = 32
# Gets a square and what is shown for it, and gives that back in colours.
Paint = Callable[[str, str], str]


def lines(
    board: Mapping[str, str], squares: Sequence[str], shape: tuple[int, ...] | None, paint: Paint | None = None
) -> Iterator[str]:
    """A board, drawn where it is a rectangle or a box of at most 32 by 32, with holes or without, else listed."""
    if shape is not None and max(shape) <= MAX_DRAWN and board.keys() <= set(squares):
        low = tuple(map(min, zip(*map(cell.parse, squares), strict=True)))
        yield from grid(short_names(board), low, shape, set(squares), paint)
        return
    for square, piece in board.items():
        yield f"{printable(square)} {piece if paint is None else paint(square, piece)}"
    if not board:
        yield "(no pieces)"


def short_names(board: Mapping[str, str]) -> dict[str, str]:
    """The pieces on a board without their style, where all have the same."""
    several = len({piece.split(":")[0].upper() for piece in board.values()}) > 1
    return {square: piece if several else piece.split(":")[1] for square, piece in board.items()}


def grid(
    tokens: Mapping[str, str],
    low: tuple[int, ...],
    shape: tuple[int, ...],
    known: Container[str],
    paint: Paint | None = None,
) -> Iterator[str]:
    """The lines of a board of `shape` whose first square is at `low`: what `tokens` has, dots, nothing for holes."""
    width, height, depth = (*shape, 1, 1)[:3]
    dimensions = len(shape)
    first = (*low, 0, 0)[:3]
    files = [cell.text((first[0] + x,)) for x in range(width)]
    size = max([*map(len, tokens.values()), *map(len, files)])
    margin = len(str(first[1] + height)) if dimensions > 1 else 0

    def shown(x: int, y: int, z: int) -> str:
        square = cell.text((first[0] + x, first[1] + y, first[2] + z)[:dimensions])
        text = f"{tokens.get(square, '.' if square in known else ''):>{size}}"
        return text if paint is None else paint(square, text)

    for z in range(depth - 1, -1, -1):
        if dimensions == 3:
            yield f"layer {cell.text((0, 0, first[2] + z))[2:]}"
        for y in range(height - 1, -1, -1):
            label = str(first[1] + y + 1) if dimensions > 1 else ""
            yield (f"{label:>{margin}} " + " ".join(shown(x, y, z) for x in range(width))).rstrip()
        yield " " * (margin + 1) + " ".join(f"{name:>{size}}" for name in files)
