"""Nine men's morris in plain Python against OpenSpiel: `python -m tests.oracles.open_spiel [GAMES]`.

It needs `pip install open_spiel`. Games are played by chance in both; in every position the moves lead to the same
boards, those that take too, and those of three men who go anywhere.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections import Counter
from typing import Any

from tests.oracles.boards import Morris, Place

# In the order in which OpenSpiel prints them.
POINTS = [
    *("a7", "d7", "g7", "b6", "d6", "f6", "c5", "d5", "e5", "a4", "b4", "c4"),
    *("e4", "f4", "g4", "c3", "d3", "e3", "b2", "d2", "f2", "a1", "d1", "g1"),
]


def printed(state: Any) -> str:
    """What stands on the points, as OpenSpiel prints it."""
    return "".join(each for each in str(state) if each in "WB.")[: len(POINTS)]


def told(place: Place) -> str:
    return "".join({"M": "W", "m": "B"}.get(place.board.get(point, ".")[-1], ".") for point in POINTS)


def play(game: Any, rules: Morris, chance: random.Random) -> Counter[str]:
    """One game; how many positions there were of which kind. Raises AssertionError where the two differ."""
    state, at, seen = game.new_initial_state(), rules.start(), Counter[str]()
    while not state.is_terminal():
        theirs = {action: printed(state.child(action)) for action in state.legal_actions()}
        ours = {told(after): after for _, after in rules.moves(at)}
        assert sorted(theirs.values()) == sorted(told(after) for _, after in rules.moves(at)), f"{at}\n{state}"
        men = sum(1 for _ in at.own())
        seen["take" if at.phase == "take" else "place" if at.held() else "fly" if men == 3 else "slide"] += 1
        action = chance.choice(state.legal_actions())
        state.apply_action(action)
        at = ours[theirs[action]]
    return seen


def main(games: int) -> None:
    game = importlib.import_module("pyspiel").load_game("nine_mens_morris")
    seen = Counter[str]()
    for seed in range(games):
        seen += play(game, Morris(rings=3, men=9, diagonals=False, flies=True), random.Random(seed))
    print(f"{sum(seen.values()):,} positions agree: {dict(seen)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
