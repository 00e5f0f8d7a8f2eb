"""Chains, and captures that come first, as a loop in plain Python on the decoded JSON itself; see `reference`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.oracles import reference

Json = dict[str, Any]
Steps = tuple[reference.Key, ...]
# What each path is, the board after it, what the hands hold, the state and the side to move.
Found = tuple[Steps, dict[str, str], dict[str, int] | None, dict[str, str], str]


def chains_of(
    document: Json, board: reference.Board, hands: reference.Hands, side: str, state: dict[str, str]
) -> Iterator[Found]:
    """The chains of a position in document order, depth first."""
    start = {square: piece for square, piece in board.items() if piece is not None}
    yield from _walk(document, start, None if hands is None else dict(hands), side, state, (), [])


def _walk(
    document: Json,
    board: dict[str, str],
    hands: dict[str, int] | None,
    side: str,
    state: dict[str, str],
    path: Steps,
    seen: list[Any],
) -> Iterator[Found]:
    here = (board, hands, state)
    if here in seen:
        return
    stated = reference.in_state(document, state)
    for piece, source, destination, ordinal in reference.moves(stated, board, hands, side):
        possibility = document[piece][source][destination][ordinal]
        if path and (source == reference.HAND or source != path[-1][2]):
            continue
        if not possibility.get("action", {}).get("chainable"):
            continue
        key = (piece, source, destination, ordinal)
        try:
            after, held, turn = reference.apply(document, *key, board, hands, side)
        except ValueError:  # the hand does not hold what the step takes
            continue
        stands = reference.state_after(stated, *key)
        longer = (*path, key)
        if len(longer) > 1:
            yield longer, after, held, stands, turn
        yield from _walk(document, after, held, side, stands, longer, [*seen, here])


def captures_first(
    document: Json, board: reference.Board, hands: reference.Hands, side: str, state: dict[str, str]
) -> list[Steps]:
    """The single moves and chains that the duty mandatory-capture lets pass.

    A path captures if one of its steps takes an enemy, and is not at its end if one more step could take another.
    """
    stated = reference.in_state(document, state)
    paths: list[Steps] = [(key,) for key in reference.moves(stated, board, hands, side)]
    paths += [steps for steps, *_ in chains_of(document, board, hands, side, state)]
    taken = {path: _taken(document, path, board, side) for path in paths}
    capturing = [path for path in paths if any(taken[path])]
    unfinished = {path[:-1] for path in capturing if taken[path][-1]}
    return [path for path in capturing if path not in unfinished] or paths


def _taken(document: Json, path: Steps, board: reference.Board, side: str) -> list[bool]:
    """Of each step of a path, whether it changes a square on which an enemy stands then."""
    found = []
    for key in path:
        becomes, *_ = reference.effects(document, *key)
        enemies = [board.get(square) for square in becomes]
        found.append(any(piece is not None and reference.side_of(piece) != side for piece in enemies))
        board = {**board, **becomes}
    return found
