"""Positions and their moves as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ggn_store.errors import printable
from ggn_store.model.chain import Chain
from ggn_store.model.move import Move
from ggn_store.model.position import Position
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.notation.stn import Transition

MAX_DRAWN = 32
Paint = Callable[[str, str], str]
HOST_RULE = "captures first: a rule of the host, which no document can say\n"


def position_text(
    position: Position, squares: Sequence[str], shape: tuple[int, ...] | None, paint: Paint | None = None
) -> str:
    """The position, drawn where the board is a rectangle or a box of at most 32 by 32, else listed by square.

    `paint` gets a square and what is shown for it, and gives that back in colours.
    """
    board = {square: piece for square, piece in position.board.items() if piece is not None}
    lines: list[str] = []
    if shape is not None and max(shape) <= MAX_DRAWN and set(board) <= set(squares):
        lines += _drawn(board, squares, shape, paint)
    else:
        painted = ((square, piece if paint is None else paint(square, piece)) for square, piece in board.items())
        lines += [f"{printable(square)} {piece}" for square, piece in painted] or ["(no pieces)"]
    for side in ("first", "second"):
        held = [f"{count} {piece}" for piece, count in (position.hands or {}).items() if side_of(piece) == side]
        if held:
            lines.append(f"hand of {side}: {', '.join(held)}")
    state = ", ".join(f"{name}={value}" for name, value in (position.state or {}).items())
    lines.append(f"{position.side} to move" + (f"; {printable(state)}" if state else ""))
    return "\n".join(lines) + "\n"


def _drawn(
    board: Mapping[str, str], squares: Sequence[str], shape: tuple[int, ...], paint: Paint | None
) -> Iterator[str]:
    tokens = short_names(board)
    yield from grid(tokens, cell.parse(squares[0]), shape, set(squares), paint)


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
            yield f"{label:>{margin}} " + " ".join(shown(x, y, z) for x in range(width))
        yield " " * (margin + 1) + " ".join(f"{name:>{size}}" for name in files)


def moves_text(moves: Sequence[Move], position: Position) -> str:
    """The moves grouped by piece and source, one line each.

    What a move changes elsewhere stands in brackets, the action that it comes from in parentheses; `...` says that the
    piece may go on.
    """
    lines = []
    for piece, of_piece in groupby(moves, key=lambda move: move.piece):
        for source, of_source in groupby(of_piece, key=lambda move: move.source):
            lines.append(f"{piece} {place_text(source)}: {'  '.join(_move_text(move, position) for move in of_source)}")
    return "\n".join(lines) + "\n" if lines else ""


def _move_text(move: Move, position: Position) -> str:
    """`e4`, `xd5` for a capture, what else it changes, and where it comes from."""
    captures = move.destination in position.board and move.destination != move.source
    text = ("x" if captures else "") + place_text(move.destination)
    if move.effects is not None:
        text += effects_text(move.piece, move.source, move.destination, move.effects)
    return text if move.action is None else f"{text} ({printable(move.action)}{'...' if move.chainable else ''})"


def chains_text(chains: Iterable[Chain]) -> str:
    """The chains, one line each."""
    return "".join(f"{path_text(chain)}\n" for chain in chains)


def path_text(move: Move | Chain) -> str:
    """A move or a chain with its whole path, what else it changes, and its actions: `D:M d3 f5 h7[e4= g6=] (jump)`."""
    steps = move.steps if isinstance(move, Chain) else (move,)
    path = (steps[0].source, *[step.destination for step in steps])
    text = " ".join([move.piece, *map(place_text, path)])
    if move.effects is not None:
        text += effects_text(move.piece, path[0], path[-1], move.effects)
    actions = dict.fromkeys(printable(step.action) for step in steps if step.action is not None)
    return f"{text} ({', '.join(actions)})" if actions else text


def place_text(square: str) -> str:
    """A square, or `hand`."""
    return "hand" if square == HAND else printable(square)


def effects_text(piece: str, source: str, destination: str, effects: Transition) -> str:
    """What a move changes beyond going there: `=C:Q` for another piece at the end, `[f1=C:R h1=]` elsewhere.

    `[ep:=3]` is a new value of a state variable.
    """
    becomes = effects.board.get(destination, piece)
    text = "" if becomes == piece else f"={becomes or ''}"
    elsewhere = [
        f"{printable(square)}={other or ''}"
        for square, other in sorted(effects.board.items())
        if square not in (source, destination)
    ]
    dropped = {(piece, -1)} if source == HAND else set()
    elsewhere += [f"{delta:+} {held}" for held, delta in sorted(effects.hands.items() - dropped)]
    elsewhere += [f"{printable(name)}:={printable(value)}" for name, value in sorted(effects.state.items())]
    if not effects.toggle:
        elsewhere.append("moves again")
    return text + (f"[{' '.join(elsewhere)}]" if elsewhere else "")
