"""A side without a move passes, and who has more pieces wins: ataxx on a small board, beside its written rules."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ggn_store import MoveError, Position, Ruleset, Store
from ggn_store.api.moves.outcomes import judge, turns
from ggn_store.games import library
from ggn_store.games.definition import read
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side
from tests.oracles import ataxx

START = "Pp/2/2/pP"
STONES = {True: "C:P", False: "c:p"}


@pytest.fixture
def rules(store: Store) -> Ruleset:
    text = library.path_of("ataxx").read_text("utf-8").replace("P5p/7/7/7/7/7/p5P", START).replace("7x7", "2x4")
    store.load(read(text), "small")
    return store.ruleset("small")


def read_stones(position: Position) -> dict[ataxx.Point, bool]:
    return {cell.parse(square): str(piece) == "C:P" for square, piece in position.board.items() if piece}


def placed(stones: ataxx.Stones, side: Side) -> Position:
    return Position({cell.text(point): STONES[first] for point, first in stones.items()}, {"C:P": 49, "c:p": 49}, side)


# The few games of the first seed have a pass and every result.
@pytest.mark.both
@pytest.mark.parametrize(("seed", "games"), [(221, 3), pytest.param(0, 16, marks=pytest.mark.long)])
def test_passes_and_ends_are_those_of_the_written_rules(rules: Ruleset, seed: int, games: int) -> None:
    chance, seen = random.Random(seed), Counter[str]()
    for number in range(games):
        stones, side = read_stones(rules.start), "first"
        if number:  # full but for a row, which stones in the first row cannot reach, or nearly full
            empty, own = chance.choice(((0.7, 0.1), (0.2, 0.5))), chance.random() < 0.5
            stones = {
                (x, y): own == (y > 0 or chance.random() < empty[1])
                for x in range(2)
                for y in range(4)
                if y < 3 or chance.random() > empty[0]
            }
        for _ in range(8):
            position = placed(stones, "first" if side == "first" else "second")
            expected = ataxx.turns(stones, (2, 4), side == "first")
            moves = rules.legal_moves(position)
            after = {frozenset(read_stones(rules.apply(position, move)).items()) for move in moves}
            assert after == expected, position
            if len(moves) < 2:
                assert rules.legal_moves(position, query="reading") == moves
                assert rules.perft(position, 1, legal=True).count == len(moves)
            result = judge(rules, position, (position,), lambda each: turns(rules, each))
            assert result.is_over == (not expected), position
            seen["passes"] += expected == {frozenset(stones.items())}
            if not expected:
                seen[result.score] += 1
                assert result.winner == {True: "first", False: "second", None: None}[ataxx.winner(stones)]
                break
            stones = dict(chance.choice(sorted(expected, key=sorted)))
            side = "second" if side == "first" else "first"
    assert min(seen[each] for each in ("passes", "1-0", "0-1", "1/2-1/2")) > 0, seen


def test_a_forced_pass_is_written_and_made(rules: Ruleset) -> None:
    stones: dict[ataxx.Point, bool] = {(x, y): x + y > 0 for x in range(2) for y in range(4) if (x, y) != (1, 3)}
    position = placed(stones, "second")
    [move] = rules.legal_moves(position)
    assert [rules.parse_move(text, position) for text in ("pass", "0000", "a1a1")] == [move] * 3
    assert rules.apply(position, move).side == "first"
    assert rules.legal_moves(rules.apply(position, "pass"), source="b2") != []
    with pytest.raises(MoveError, match="the position does not allow this move"):
        rules.parse_move("pass", rules.start)
