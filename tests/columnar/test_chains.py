"""Captures that go on are judged on columns as by a loop in plain Python, and as by the store."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ggn_store import MoveError, Position, Ruleset, Store, limits, parse
from ggn_store.api.loading.private import of_document
from ggn_store.model.moves import play_text
from ggn_store.model.moves.move import COUNTS
from ggn_store.model.moves.play import Duty, Play
from ggn_store.model.moves.position import SIDES
from tests.oracles import reference
from tests.oracles.chains import Json, Steps, captures_first, chains_of
from tests.support.chained import jumper, random_position, random_rules

pytest.importorskip("duckdb")
pytest.importorskip("numpy")
pytest.importorskip("pyarrow")

# The paths of American checkers, as its literature has them.
DRAUGHTS = (7, 49, 302, 1_469, 7_361, 36_768)
DARK = (("aceg", "1357"), ("bdfh", "2468"))
CHECKERS = Path(__file__).parents[2] / "data" / "gdl" / "checkers.json"


def played_as(document: Json, declared: Play) -> Ruleset:
    parsed = parse(document)
    return of_document(replace(parsed, envelope=replace(parsed.envelope, play=play_text.text(declared))))


def with_captures_first(document: Json) -> Ruleset:
    return played_as(document, Play((Duty("mandatory-capture"),)))


def meant(document: Json, position: Position) -> list[Steps]:
    """The paths that may be made, by the loop."""
    state = {name: each["initial"] for name, each in document.get("$state", {}).items()} | dict(position.state or {})
    return captures_first(document, position.board, position.hands, position.side, state)


def singles(paths: Sequence[Steps]) -> list[Any]:
    return [path[0] for path in paths if len(path) == 1]


def require_meant(rules: Ruleset, document: Json, positions: Sequence[Position]) -> list[list[Steps]]:
    """Legal moves on columns are those that are meant."""
    expected = [meant(document, position) for position in positions]
    found = rules.columns.lists(positions, legal=True)
    for position, paths, moves in zip(positions, expected, found, strict=True):
        assert [(m.piece, m.source, m.destination, m.ordinal) for m in moves] == singles(paths), position
    return expected


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_random_rules_have_the_moves_of_a_loop(seed: int) -> None:
    dice = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(5):
        document = random_rules(dice)
        rules = with_captures_first(document)
        positions = []
        for position in (random_position(dice, document) for _ in range(30)):
            state = {name: each["initial"] for name, each in document.get("$state", {}).items()}
            walked = chains_of(
                document, position.board, position.hands, position.side, state | dict(position.state or {})
            )
            if len(list(islice(walked, 300))) < 300:  # more would take too long
                positions.append(position)
        expected = require_meant(rules, document, positions)
        assert rules.moves_batch(positions[:2], query="fast", legal=True) == rules.moves_batch(
            positions[:2], query="columns", legal=True
        )
        for paths, allowed in zip(expected, rules.columns.lists(positions), strict=True):
            seen["single"] += len(singles(paths))
            seen["forbidden"] += len(allowed) - len(singles(paths))
            seen["only chains"] += bool(allowed) and not singles(paths)
    assert min(seen["single"], seen["forbidden"]) > 40, seen
    assert seen["only chains"] > 3, seen


@pytest.fixture(scope="module")
def checkers() -> tuple[Ruleset, Json]:
    with Store.open("sqlite://") as store:
        store.load(CHECKERS, "checkers")
        document = json.loads(store.ruleset("checkers").export())
    return with_captures_first(document), document


def of_checkers(rules: Ruleset, count: int) -> list[Position]:
    """Positions in which there is much to jump over."""
    dice = random.Random(3)
    # What stands on squares of odd files and ranks jumps over what stands on the others.
    jumping, between = ([f"{file}{rank}" for file in files for rank in ranks] for files, ranks in DARK)
    positions = []
    for _ in range(count):
        side = dice.choice(SIDES)
        own, enemies = (rules.pieces[:2], rules.pieces[2:])[:: 1 if side == "first" else -1]
        board = {square: dice.choice(enemies) for square in dice.sample(between, dice.randint(4, 12))}
        board |= {square: dice.choice(own) for square in dice.sample(jumping, dice.randint(1, 4))}
        state = {"crowned": dice.choice(["null", "null", "Black", "White"])} if dice.random() < 0.3 else None
        positions.append(Position(board, side=side, state=state))
    return positions


def test_checkers_has_the_moves_of_a_loop_where_chains_are(checkers: tuple[Ruleset, Json]) -> None:
    rules, document = checkers
    positions = of_checkers(rules, 120)
    expected = require_meant(rules, document, positions)
    for by in COUNTS:
        counts: Counter[Any] = Counter()
        for at, paths in enumerate(expected):
            counts.update({"position": at, "piece": key[0], "destination": key[2]}[by] for key in singles(paths))
        asked = rules.count_moves(positions, by, query="columns", legal=True)
        assert {key: count for key, count in asked.items() if count} == counts
    lengths = Counter(len(path) for paths in expected for path in paths)
    assert min(lengths[length] for length in range(1, 6)) > 2, lengths


@pytest.mark.parametrize("depth", [4, pytest.param(6, marks=pytest.mark.long)])
def test_checkers_has_the_published_numbers_of_draughts(depth: int) -> None:
    with Store.open("sqlite://") as store:
        store.load(CHECKERS, "checkers")
        rules = store.ruleset("checkers")
        for depths, count in enumerate(DRAUGHTS[:depth], 1):
            counted = rules.perft(rules.start, depths, legal=True, engine="duckdb")
            assert (counted.count, counted.engine) == (count, "duckdb")


@pytest.mark.parametrize("declared", [Play((Duty("mandatory-capture"),)), Play()])
def test_paths_of_moves_and_chains_are_those_of_a_loop(declared: Play) -> None:
    dice = random.Random(9)
    total = 0
    for _ in range(3):
        document = random_rules(dice)
        rules = played_as(document, declared)
        if not rules.columns.threats.has_chains:
            continue
        for position in (replace(random_position(dice, document), hands=None) for _ in range(3)):
            state = {name: each["initial"] for name, each in document.get("$state", {}).items()}
            plain = dict(position.board), position.side, state | dict(position.state or {})
            expected = walked(document, *plain, bool(declared.duties), 2)
            if expected is not None:
                assert rules.perft(position, 2, legal=True, engine="duckdb").count == expected
                total += expected
    assert total > 100


def walked(document: Json, board: Any, side: str, state: dict[str, str], is_duty: bool, depth: int) -> int | None:
    """How many paths of moves and chains lead on; None where they are too many to be walked in time."""
    if not depth:
        return 1
    if len(list(islice(chains_of(document, board, None, side, state), 15))) == 15:
        return None
    stated, total = reference.in_state(document, state), 0
    allowed = captures_first(document, board, None, side, state)
    if not is_duty:
        allowed = [(key,) for key in reference.moves(stated, board, None, side)]
        allowed += [steps for steps, *_ in chains_of(document, board, None, side, state)]
    for path in allowed:
        after, turn, stands = board, side, stated
        for key in path:
            stands = reference.in_state(document, reference.state_after(stands, *key))
            after, _, turn = reference.apply(document, *key, after, None, side)
        values = {name: each["initial"] for name, each in stands.get("$state", {}).items()}
        counted = walked(document, after, turn, values, is_duty, depth - 1)
        if counted is None:
            return None
        total += counted
    return total


def test_men_jump_on_until_nothing_can_be_taken() -> None:
    document = jumper("D:M")
    document["D:M"]["a1"]["a2"] = [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "D:M"}}}]
    rules = with_captures_first(document)

    def moves(*enemies: str, own: Sequence[str] = ("a1",)) -> list[str]:
        position = Position(dict.fromkeys(enemies, "d:m") | dict.fromkeys(own, "D:M"))
        [found] = rules.columns.lists([position], legal=True)
        require_meant(rules, document, [position])
        return [f"{move.source} {move.destination}" for move in found]

    assert moves() == ["a1 a2"]
    assert moves("b2") == ["a1 c3"]
    # Once there is more to take on the way, it is no single move; other men's jumps may still be made.
    assert moves("b2", "d4") == []
    assert moves("b2", "d4", own=("a1", "h1")) == []
    assert moves("b2", "d4", "g2", own=("a1", "h1")) == ["h1 f3"]
    # What was taken is gone: it neither blocks nor is taken again.
    assert moves("b2", "d4", "f4", "f2", "d2") == []
    # Something stands behind it.
    assert moves("b2", "d4", "e5") == ["a1 c3"]
    steps, legal = rules.columns.explain([Position({"a1": "D:M"})], legal=True)[0].split(";\n\n")
    assert "JOIN chained" in steps
    assert "continued" in legal


def test_a_capture_at_the_end_of_quiet_steps_comes_first() -> None:
    step = {"action": {"name": "step", "chainable": True}}
    document = {
        "D:M": {
            "a1": {"a2": [step | {"diff": {"board": {"a1": None, "a2": "D:M"}}}]},
            "a2": {"a3": [step | {"diff": {"board": {"a2": None, "a3": "D:K"}}}]},
            "b1": {"b2": [{"diff": {"board": {"b1": None, "b2": "D:M"}}}]},
        },
        # As what it has become, and past what is no capture.
        "D:K": {"a3": {"a4": [step | {"must": {"a4": "enemy"}, "diff": {"board": {"a3": None, "a4": "D:K"}}}]}},
    }
    rules = with_captures_first(document)
    quiet, taking = ({"a1": "D:M", "b1": "D:M"} | each for each in ({}, {"a4": "d:m"}))
    assert [len(moves) for moves in rules.columns.lists([Position(quiet), Position(taking)], legal=True)] == [2, 0]
    require_meant(rules, document, [Position(quiet), Position(taking)])


def test_what_comes_back_goes_no_further_and_what_has_no_end_is_told() -> None:
    def hop(source: str, to: str, **more: Any) -> Json:
        diff = {"board": {source: None, to: "H:P"}, **more}
        return {to: [{"action": {"name": "hop", "chainable": True}, "diff": diff}]}

    rules = with_captures_first({"H:P": {"a1": hop("a1", "b1"), "b1": hop("b1", "a1")}})
    assert len(rules.columns.lists([Position({"a1": "H:P"})], legal=True)[0]) == 1
    endless = with_captures_first(
        {"H:P": {"a1": hop("a1", "b1", hands={"H:N": 1}), "b1": hop("b1", "a1", hands={"H:N": 1})}}
    )
    assert len(endless.columns.lists([Position({"a1": "H:P"})], legal=True)[0]) == 1
    for asked in (endless.columns.lists, lambda positions, legal: endless.moves_batch(positions, legal=legal)):
        with (
            limits.allow({"chain-steps": 20}),
            pytest.raises(MoveError, match="more than 20 steps, and may have no end"),
        ):
            asked([Position({"a1": "H:P"}, {})], legal=True)


def test_too_many_chains_of_a_position_are_told() -> None:
    squares = [f"{file}1" for file in "abcdef"]
    hops = {
        source: {
            to: [{"action": {"name": "hop", "chainable": True}, "diff": {"board": {source: None, to: "H:P"}}}]
            for to in squares
            if to != source
        }
        for source in squares
    }
    rules = with_captures_first({"H:P": hops})
    positions = [Position({"a1": "H:P"}), Position({"b1": "H:P"})]
    everything = len(rules.chains(positions[0]))
    with limits.allow({"chains": everything, "chain-steps": 6}):
        assert [len(moves) for moves in rules.columns.lists(positions, legal=True)] == [5, 5]
    for name, most, message in (("chains", everything - 1, "has more than"), ("chain-steps", 5, "more than 5 steps")):
        with limits.allow({name: most}), pytest.raises(MoveError, match=message):
            rules.columns.lists(positions, legal=True)
