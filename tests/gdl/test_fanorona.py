"""Fanorona beside its written rules in plain Python: approach and withdrawal, chains, and what the duties let pass."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ggn_store import Move, Position, Ruleset, Store
from ggn_store.model.moves.chain import Chain, path_of
from ggn_store.notation import cell
from tests.oracles import fanorona
from tests.support.games import Games

FILE = Path(__file__).parents[2] / "data" / "gdl" / "fanorona.json"
FEW, MANY = 20, 150


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ruleset]:
    """Fanorona on the five files at the left, of which little is loaded."""
    data = json.loads(FILE.read_text("utf-8"))
    data["topology"]["structure"] = "grid(5, 5)"
    for step in data["setup"]["steps"]:
        step["at"] = [node for node in step["at"] if node < "node(5"]
        step["count"] = len(step["at"])
    path = tmp_path_factory.mktemp("small") / "fanorona.json"
    path.write_text(json.dumps(data), "utf-8")
    path.with_suffix(".toml").write_text(FILE.with_suffix(".toml").read_text("utf-8"), "utf-8")
    with Store.open("sqlite:///:memory:") as store:
        store.load(path)
        yield store.ruleset("fanorona")


def stones_of(position: Position) -> dict[fanorona.Point, bool]:
    board = ((cell.parse(square), piece) for square, piece in position.board.items() if piece)
    return {(point[0], point[1]): piece == "FANORONA:M" for point, piece in board}


def check(rules: Ruleset, seed: int, count: int, files: int = 9) -> Counter[str]:
    """Positions of random games; how many had what."""
    chance, seen = random.Random(seed), Counter[str]()
    position = rules.start
    while seen["positions"] < count:
        is_first = position.side == "first"
        stones = stones_of(position)
        wanted = fanorona.turns(stones, is_first, files)
        expected = Counter((" ".join(map(cell.text, path)), after) for path, after in wanted)
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


def test_fanorona_is_that_of_its_written_rules(small: Ruleset) -> None:
    seen = check(small, 1, FEW, 5)
    assert min(seen[each] for each in ("choices", "chains")) > 0, seen


@pytest.mark.long
def test_fanorona_in_many_positions(games: Games) -> None:
    seen = check(games["gdl/fanorona"], 2, MANY)
    assert min(seen[each] for each in ("choices", "chains", "steps", "ends")) > 0, seen


def test_nothing_is_taken_twice_in_one_direction(small: Ruleset) -> None:
    board: dict[str, str | None] = {"b1": "FANORONA:M", **dict.fromkeys(("a1", "e1", "e3"), "fanorona:m")}
    position = replace(small.start, board=board, side="first")
    # b1 c1 takes a1, by withdrawal; then c1 d1 would take e1, and c1 d2 takes e3, and d2 c3 e1, by withdrawal.
    assert [path_of(each) for each in small.legal_moves(position)] == [("b1", "c1")]
    paths = [" ".join(path_of(each)) for each in small.chains(position, legal=True)]
    assert paths == ["b1 c1 d2", "b1 c1 d2 c3"]
