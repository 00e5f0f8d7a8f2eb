"""Fanorona beside its written rules in plain Python: approach and withdrawal, chains, and what the duties let pass."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from ggn_store import Move, Position, Ruleset
from ggn_store.model.moves.chain import Chain, path_of
from ggn_store.notation import cell
from tests.oracles import fanorona
from tests.support.games import Games

FEW, MANY = 10, 150


def stones_of(position: Position) -> dict[fanorona.Point, bool]:
    board = ((cell.parse(square), piece) for square, piece in position.board.items() if piece)
    return {(point[0], point[1]): piece == "FANORONA:M" for point, piece in board}


def check(rules: Ruleset, seed: int, count: int) -> Counter[str]:
    """Positions of random games; how many had what."""
    chance, seen = random.Random(seed), Counter[str]()
    position = rules.start
    while seen["positions"] < count:
        is_first = position.side == "first"
        stones = stones_of(position)
        expected = Counter((" ".join(map(cell.text, path)), after) for path, after in fanorona.turns(stones, is_first))
        turns: list[Move | Chain] = [*rules.legal_moves(position), *rules.chains(position, legal=True)]
        afters = [rules.apply(position, turn) for turn in turns]
        found = Counter(
            (" ".join(path_of(turn)), frozenset(stones_of(after).items()))
            for turn, after in zip(turns, afters, strict=True)
        )
        assert found == expected, position
        seen["positions"] += 1
        paths = Counter(path for path, _ in expected)
        seen["choices"] += max(paths.values(), default=0) > 1
        seen["chains"] += any(len(path.split()) > 3 for path in paths)
        seen["steps"] += all(len(after) == len(stones) for _, after in expected)
        outcome = rules.outcome(position)
        assert outcome.is_over == (not expected)
        if not expected:
            seen["ends"] += 1
            assert outcome.winner == ("second" if is_first else "first")
        position = chance.choice(afters) if expected else rules.start
    return seen


def test_fanorona_is_that_of_its_written_rules(games: Games) -> None:
    seen = check(games["gdl/fanorona"], 1, FEW)
    assert min(seen[each] for each in ("choices", "chains")) > 0, seen


@pytest.mark.long
def test_fanorona_in_many_positions(games: Games) -> None:
    seen = check(games["gdl/fanorona"], 2, MANY)
    assert min(seen[each] for each in ("choices", "chains", "steps", "ends")) > 0, seen


def test_nothing_is_taken_twice_in_one_direction(games: Games) -> None:
    rules = games["gdl/fanorona"]
    board: dict[str, str | None] = {"b1": "FANORONA:M", **dict.fromkeys(("a1", "e1", "e3"), "fanorona:m")}
    position = replace(rules.start, board=board, side="first")
    # b1 c1 takes a1, by withdrawal; then c1 d1 would take e1, and c1 d2 takes e3, and d2 c3 e1, by withdrawal.
    assert [path_of(each) for each in rules.legal_moves(position)] == [("b1", "c1")]
    paths = [" ".join(path_of(each)) for each in rules.chains(position, legal=True)]
    assert paths == ["b1 c1 d2", "b1 c1 d2 c3"]
