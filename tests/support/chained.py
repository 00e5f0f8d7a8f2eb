"""Rules whose moves can be chained, and positions of them: by chance, and a man that jumps."""

from __future__ import annotations

import random
from typing import Any

from ggn_store import Position
from tests.oracles import reference
from tests.oracles.chains import Json

SQUARES = ('x"y', "a b", "1", "$.1", "Ö'")
PIECES = ("C:P", "C:+K^", "c:p", "c:+k^'")
STATE = {"phase": {"values": ["go", "st'op"], "initial": "go"}, 'a"': {"values": ["1", "2"], "initial": "1"}}


def random_rules(dice: random.Random) -> Json:
    document: Json = {"$state": STATE} if dice.random() < 0.7 else {}
    has_state = bool(document)
    for piece in dice.sample(PIECES, dice.randint(3, 4)):
        document[piece] = {}
        for source in dice.sample([*SQUARES, reference.HAND], dice.randint(4, 6)):
            document[piece][source] = {}
            targets = [*SQUARES, *([reference.HAND] if source != reference.HAND else [])]
            for destination in dice.sample(targets, dice.choice((1, 2, 2))):
                count = dice.choice((1, 1, 2))
                made = [random_possibility(dice, piece, source, destination, has_state) for _ in range(count)]
                document[piece][source][destination] = made
    return document


def random_possibility(dice: random.Random, piece: str, source: str, destination: str, has_state: bool) -> Json:
    board: dict[str, str | None] = {}
    if source != reference.HAND:
        board[source] = None
    others = [square for square in SQUARES if square not in (source, destination)]
    if dice.random() < 0.5:
        board[dice.choice(others)] = dice.choice((None, None, *PIECES))
    if destination != reference.HAND:
        board[destination] = dice.choice((piece, piece, piece, *PIECES))
    possibility: Json = {"action": {"name": "step", "chainable": True}, "diff": {"board": board}}
    if dice.random() < 0.1:
        del possibility["action"]
    elif dice.random() < 0.1:
        possibility["action"]["chainable"] = False
    for name, chance in (("must", 0.4), ("deny", 0.25)):
        if dice.random() < chance:
            possibility[name] = {dice.choice(others): dice.choice(("empty", "enemy", *PIECES))}
    if possibility.get("must") == possibility.get("deny"):  # which no document may say
        possibility.pop("deny", None)
    if dice.random() < 0.3:
        possibility["diff"]["hands"] = {dice.choice(PIECES): dice.choice((-1, 1))}
    if dice.random() < 0.3:
        possibility["diff"]["toggle"] = False
    if has_state and dice.random() < 0.3:
        name = dice.choice(list(STATE))
        possibility["when"] = {name: [dice.choice(STATE[name]["values"])]}
    if has_state and dice.random() < 0.4:
        possibility["diff"]["state"] = {
            name: dice.choice(STATE[name]["values"]) for name in dice.sample(list(STATE), 1)
        }
    return possibility


def random_position(dice: random.Random, document: Json) -> Position:
    pieces = [piece for piece in document if piece != "$state"]
    board = {square: dice.choice((None, *pieces, *PIECES)) for square in SQUARES}
    hands = None if dice.random() < 0.3 else {piece: dice.choice((0, 1, 2)) for piece in PIECES}
    state = {name: dice.choice(each["values"]) for name, each in document.get("$state", {}).items()}
    return Position(board, hands, dice.choice(("first", "second")), state=state or None)


def jumper(piece: str = "D:M", **more: Any) -> Json:
    """A man of 8x8 that jumps over enemies to all four sides, and takes them; `more` goes into each possibility."""
    document: Json = {piece: {}}
    for x, y, dx, dy in ((x, y, dx, dy) for x in range(8) for y in range(8) for dx in (2, -2) for dy in (2, -2)):
        if 0 <= x + dx < 8 and 0 <= y + dy < 8:
            start, over, end = (f"{'abcdefgh'[x + dx * n // 2]}{y + dy * n // 2 + 1}" for n in range(3))
            document[piece].setdefault(start, {})[end] = [
                {
                    "action": {"name": "jump", "chainable": True},
                    "must": {over: "enemy", end: "empty"},
                    "diff": {"board": {start: None, over: None, end: piece}},
                    **more,
                }
            ]
    return document
