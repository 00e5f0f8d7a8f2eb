"""Positions that differ in one square, and positions of random games."""

from __future__ import annotations

import random

from ggn_store import Position, Ruleset


def some_positions() -> list[Position]:
    """A position, and what it becomes when one piece after the other is taken away or changes sides."""
    board: dict[str, str | None] = {
        "e1": "C:+K^",
        "h1": "C:+R",
        "e2": "C:P",
        "d5": "C:P",
        "c5": "c:-p",
        "e8": "c:k^",
        "h3": "c:b",
        "b4": "c:q",
    }
    changed = [board, *({s: p for s, p in board.items() if s != gone} for gone in board)]
    changed += [board | {square: str(piece).swapcase()} for square, piece in board.items()]
    changed += [board | {"c5": "c:p"}, board | {"h1": "C:R"}, board | {"f1": "X:Z"}, board | {"g1": None}]
    return [Position(each, side=side) for each in changed for side in ("first", "second")]


def played(rules: Ruleset, count: int, seed: int) -> list[Position]:
    """Positions of random games."""
    dice = random.Random(seed)
    found: list[Position] = []
    while len(found) < count:
        position = rules.position()
        for _ in range(30):
            found.append(position)
            moves = rules.moves(position)
            if not moves:
                break
            position = rules.apply(position, dice.choice(moves))
    return found[:count]
