"""Moves as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from ggn_store.errors import printable
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.position import Position
from ggn_store.notation.hand import HAND
from ggn_store.notation.stn import Transition

HOST_RULE = "captures first: a rule of the host, which no document can say\n"
DUTY_RULE = "captures first: the duty mandatory-capture\n"


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
    if move.has_effects:
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
    if isinstance(move, Chain) or move.has_effects:
        text += effects_text(move.piece, path[0], path[-1], move.effects)
    actions = dict.fromkeys(printable(step.action) for step in steps if step.action is not None)
    return f"{text} ({', '.join(actions)})" if actions else text


def place_text(square: str) -> str:
    """A square, or `hand`."""
    return "hand" if square == HAND else printable(square)


def effects_text(piece: str, source: str, destination: str, effects: Transition) -> str:
    """What a move changes beyond going there: `=C:Q` for another piece at the end, `[f1=C:R h1=]` elsewhere.

    Where it leaves another piece behind, that is one of them: `[a1=C:W]`. `[ep:=3]` is a new value of a state variable.
    """
    becomes = effects.board.get(destination, piece)
    text = "" if becomes == piece else f"={becomes or ''}"
    elsewhere = [
        f"{printable(square)}={other or ''}"
        for square, other in sorted(effects.board.items())
        if square != destination and (square != source or other not in (None, piece))
    ]
    dropped = {(piece, -1)} if source == HAND else set()
    elsewhere += [f"{delta:+} {held}" for held, delta in sorted(effects.hands.items() - dropped)]
    elsewhere += [f"{printable(name)}:={printable(value)}" for name, value in sorted(effects.state.items())]
    if not effects.toggle:
        elsewhere.append("moves again")
    return text + (f"[{' '.join(elsewhere)}]" if elsewhere else "")
