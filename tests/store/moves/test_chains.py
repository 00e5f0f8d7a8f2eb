"""Chains: the recursive query on both databases, held to a loop in plain Python over random rules, and by hand."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ggn_store import MoveError, Position, Ruleset, Store, UnknownNameError, limits, parse
from ggn_store.model.moves import play_text
from ggn_store.model.moves.chain import Chain, captures_first
from ggn_store.model.moves.play import Duty, Play
from ggn_store.store.database.postgres import Values
from tests.oracles.chains import Found, Json, Steps, chains_of
from tests.support.chained import jumper, random_position, random_rules
from tests.support.databases import mostly_sqlite
from tests.support.program import Command
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run


def told(chain: Chain) -> Found:
    """A chain in the oracle's words."""
    after = chain.after
    board = {square: piece for square, piece in after.board.items() if piece is not None}
    hands = None if after.hands is None else dict(after.hands)
    return keys(chain), board, hands, dict(after.state or {}), after.side


def keys(chain: Chain) -> Steps:
    return tuple((step.piece, step.source, step.destination, step.ordinal) for step in chain.steps)


def expected(document: Json, position: Position, most: int = 300) -> list[Found] | None:
    """What the oracle says; None where it is too much to be compared in time."""
    state = {name: each["initial"] for name, each in document.get("$state", {}).items()} | dict(position.state or {})
    found: list[Found] = []
    for each in chains_of(document, position.board, position.hands, position.side, state):
        found.append(each)
        if len(found) > most:
            return None
    return found


# Postgres shows on every change that it finds the chains of checkers.
@pytest.mark.parametrize(
    ("address", "seed"),
    [
        ("sqlite", 0),
        *(pytest.param("sqlite", seed, marks=pytest.mark.long) for seed in (1, 2)),
        *(pytest.param("postgres", seed, marks=pytest.mark.long) for seed in (0, 1, 2)),
    ],
    indirect=["address"],
)
def test_chains_are_those_of_a_loop(store: Store, seed: int) -> None:
    dice = random.Random(seed)
    lengths: dict[int, int] = {}
    for number in range(25):
        document = random_rules(dice)
        store.load(document, f"game-{number}")
        ruleset = store.ruleset(f"game-{number}")
        for _ in range(8):
            position = random_position(dice, document)
            wanted = expected(document, position)
            if wanted is None:
                continue
            assert [told(chain) for chain in ruleset.chains(position)] == wanted, (document, position)
            for steps, *_ in wanted:
                lengths[len(steps)] = lengths.get(len(steps), 0) + 1
    assert min(lengths.get(length, 0) for length in range(2, 6)) > 12, lengths


@mostly_sqlite
def test_chains_can_be_narrowed(store: Store) -> None:
    dice = random.Random(7)
    seen = 0
    for number in range(12):
        document = random_rules(dice)
        store.load(document, f"game-{number}")
        ruleset = store.ruleset(f"game-{number}")
        for _ in range(6):
            position = random_position(dice, document)
            wanted = expected(document, position)
            if not wanted:
                continue
            piece, source = wanted[0][0][0][:2]
            destination = wanted[-1][0][-1][2]
            for narrow, step, place, named in (
                ({"piece": piece}, 0, 0, piece),
                ({"source": source}, 0, 1, source),
                ({"destination": destination}, -1, 2, destination),
            ):
                found = [keys(chain) for chain in ruleset.chains(position, **narrow)]  # type: ignore[arg-type]
                assert found == [steps for steps, *_ in wanted if steps[step][place] == named]
                seen += len(found)
    assert seen > 200


def test_whoever_makes_no_tables_is_answered_alike(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(11)
    compared = 0
    for number in range(6):
        document = random_rules(dice)
        store.load(document, f"game-{number}")
        ruleset = store.ruleset(f"game-{number}")
        asked = [random_position(dice, document) for _ in range(5)]
        answers = [ruleset.chains(position) for position in asked if expected(document, position) is not None]
        with monkeypatch.context() as patch:
            if ruleset.handle.session.database.is_server:
                patch.setattr(ruleset.handle.session.database, "sender", Values())
            again = [ruleset.chains(position) for position in asked if expected(document, position) is not None]
        assert again == answers
        compared += sum(map(len, answers))
    assert compared > 50


@pytest.mark.parametrize("address", [pytest.param("sqlite", marks=pytest.mark.long), "postgres"], indirect=True)
def test_chains_of_checkers_are_those_of_a_loop(store: Store) -> None:
    store.load(Path(__file__).parents[3] / "data" / "gdl" / "checkers.json", "checkers")
    ruleset = store.ruleset("checkers")
    document = json.loads(ruleset.export())
    dark = [square for square in ruleset.board.squares if (ord(square[0]) + int(square[1])) % 2 == 0]
    dice = random.Random(3)
    found = 0
    for _ in range(100):
        board = {square: dice.choice(ruleset.pieces) for square in dice.sample(dark, dice.randint(6, 20))}
        position = Position(board, side=dice.choice(("first", "second")))
        wanted = expected(document, position)
        assert [told(chain) for chain in ruleset.chains(position)] == wanted, position
        found += len(wanted or ())
    assert found > 20


# --- by hand ---


def load(store: Store, document: Json, **more: Any) -> Ruleset:
    store.load(document, "game", **more)
    return store.ruleset("game")


def paths(chains: tuple[Chain, ...]) -> list[str]:
    return [" ".join(chain.path) for chain in chains]


def test_five_jumps_are_one_chain_and_each_of_its_beginnings_is_one(store: Store) -> None:
    ruleset = load(store, jumper())
    position = Position({"a1": "D:M"} | dict.fromkeys(("b2", "d4", "f6", "f4", "d2"), "d:m"))
    assert paths(ruleset.chains(position)) == [
        "a1 c3 e5",
        "a1 c3 e5 g7",
        "a1 c3 e5 g3",
        "a1 c3 e1",
    ]
    round_trip = Position({"a1": "D:M"} | dict.fromkeys(("b2", "d4", "f4", "f2", "d2"), "d:m"))
    longest = ruleset.chains(round_trip, destination="c3")
    # All five are taken: around to the right and around to the left.
    assert paths(longest) == ["a1 c3 e5 g3 e1 c3", "a1 c3 e1 g3 e5 c3"]
    for chain in longest:
        assert (chain.piece, chain.source, chain.destination) == ("D:M", "a1", "c3")
        assert chain.after == Position({"c3": "D:M"}, side="second")
        assert chain.effects.data()["board"] == {
            "a1": None, "b2": None, "c3": "D:M", "d2": None, "d4": None, "f2": None, "f4": None,
        }  # fmt: skip
        assert ruleset.apply(round_trip, chain) == ruleset.apply(round_trip, chain.path) == chain.after
        assert [step.source for step in chain.steps] == list(chain.path[:-1])
        assert json.loads(json.dumps(chain.data()))["path"] == list(chain.path)


def test_what_was_taken_is_gone_at_once_and_cannot_be_jumped_twice(store: Store) -> None:
    ruleset = load(store, jumper())
    position = Position({"a1": "D:M", "b2": "d:m"})
    assert ruleset.chains(position) == ()
    with pytest.raises(MoveError, match=r"^a1 c3 a1: step 2, c3 a1, is not possible$"):
        ruleset.apply(position, ["a1", "c3", "a1"])


def test_a_path_that_comes_back_goes_no_further(store: Store) -> None:
    step = {"action": {"name": "hop", "chainable": True}}
    hop = {
        source: {to: [step | {"must": {to: "empty"}, "diff": {"board": {source: None, to: "H:P"}}}] for to in targets}
        for source, targets in {"a1": ("b1",), "b1": ("c1", "a1"), "c1": ("b1",)}.items()
    }
    ruleset = load(store, {"H:P": hop})
    position = Position({"a1": "H:P"})
    assert paths(ruleset.chains(position)) == ["a1 b1 c1", "a1 b1 c1 b1", "a1 b1 a1"]
    assert ruleset.chains(position)[2].effects.data() == {}
    assert ruleset.apply(position, ["a1", "b1", "a1"]) == Position({"a1": "H:P"}, side="second")
    with pytest.raises(MoveError, match="step 3, a1 b1, is not possible: the position before it has been there"):
        ruleset.apply(position, ["a1", "b1", "a1", "b1"])


def test_a_piece_goes_on_as_what_it_has_become(store: Store) -> None:
    def step(source: str, to: str, becomes: str) -> Json:
        return {to: [{"action": {"name": "go", "chainable": True}, "diff": {"board": {source: None, to: becomes}}}]}

    document = {
        "D:M": {"a1": step("a1", "a2", "D:K"), "a2": step("a2", "c1", "D:M"), "a3": step("a3", "c3", "d:m")},
        "D:K": {"a2": step("a2", "a3", "D:M")},
        "d:m": {"c3": step("c3", "a1", "d:m")},
    }
    ruleset = load(store, document)
    # What it became on a3 is the enemy's, and not its owner's to move.
    assert paths(ruleset.chains(Position({"a1": "D:M"}))) == ["a1 a2 a3", "a1 a2 a3 c3"]
    assert [step.piece for step in ruleset.chains(Position({"a1": "D:M"}))[1].steps] == ["D:M", "D:K", "D:M"]


def test_a_state_variable_ends_a_chain(store: Store) -> None:
    counted = {
        "$state": {"left": {"values": ["0", "1", "2"], "initial": "2"}},
        "H:P": {
            square: {
                to: [
                    {
                        "action": {"name": "hop", "chainable": True},
                        "when": {"left": [str(left)]},
                        "diff": {"board": {square: None, to: "H:P"}, "state": {"left": str(left - 1)}},
                    }
                    for left in (2, 1)
                ]
            }
            for square, to in (("a1", "b1"), ("b1", "c1"), ("c1", "d1"), ("d1", "a1"))
        },
    }
    ruleset = load(store, counted)
    chains = ruleset.chains(Position({"a1": "H:P"}))
    assert paths(chains) == ["a1 b1 c1"]
    assert [step.ordinal for step in chains[0].steps] == [0, 1]
    assert chains[0].after.state == {"left": "0"}
    assert chains[0].effects.state == {"left": "0"}
    assert ruleset.chains(Position({"a1": "H:P"}, state={"left": "1"})) == ()
    with pytest.raises(MoveError, match=r"step 3, c1 d1, is not possible$"):
        ruleset.apply(Position({"a1": "H:P"}), ["a1", "b1", "c1", "d1"])


def test_the_turn_passes_once_where_the_last_step_says_so(store: Store) -> None:
    def go(source: str, to: str, toggle: bool) -> Json:
        return {
            "action": {"name": "go", "chainable": True},
            "diff": {"board": {source: None, to: "H:P"}, "toggle": toggle},
        }

    document = {
        "H:P": {"a1": {"b1": [go("a1", "b1", True)]}, "b1": {"c1": [go("b1", "c1", False), go("b1", "c1", True)]}}
    }
    ruleset = load(store, document)
    stays, passes = ruleset.chains(Position({"a1": "H:P"}))
    assert (stays.after.side, passes.after.side) == ("first", "second")
    with pytest.raises(MoveError, match="a1 b1 c1: 2 possibilities hold"):
        ruleset.apply(Position({"a1": "H:P"}), ["a1", "b1", "c1"])
    assert ruleset.apply(Position({"a1": "H:P"}), stays) == stays.after


def test_a_chain_may_begin_in_the_hand(store: Store) -> None:
    action = {"name": "go", "chainable": True}
    document = {
        "H:P": {
            "*": {
                "a1": [
                    {"action": action, "must": {"a1": "empty"}, "diff": {"board": {"a1": "H:P"}, "hands": {"H:P": -1}}}
                ]
            },
            "a1": {
                "b1": [{"action": action, "diff": {"board": {"a1": None, "b1": "H:P"}}}],
                "*": [{"action": action, "diff": {"board": {"a1": None}, "hands": {"H:P": 1}}}],
            },
        }
    }
    ruleset = load(store, document)
    assert paths(ruleset.chains(Position({}, {"H:P": 1}))) == ["* a1 b1", "* a1 *"]
    assert paths(ruleset.chains(Position({}))) == ["* a1 b1", "* a1 *"]
    assert paths(ruleset.chains(Position({}), piece="H:P", source="*", destination="*")) == ["* a1 *"]
    assert ruleset.chains(Position({}, {"h:p": 1})) == ()
    assert ruleset.chains(Position({}, {"H:P": 1}))[0].effects.data() == {"board": {"b1": "H:P"}, "hands": {"H:P": -1}}
    assert ruleset.chains(Position({}))[1].effects.hands == {}
    with pytest.raises(MoveError, match="what is in the hand goes no further"):
        ruleset.apply(Position({}, {"H:P": 1}), ["*", "a1", "*", "a1"])


def test_a_hand_that_is_empty_again_is_as_it_was(store: Store) -> None:
    def hop(source: str, to: str, delta: int) -> Json:
        diff = {"board": {source: None, to: "H:P"}, "hands": {"H:N": delta}}
        return {to: [{"action": {"name": "hop", "chainable": True}, "diff": diff}]}

    ruleset = load(store, {"H:P": {"a1": hop("a1", "b1", 1), "b1": hop("b1", "a1", -1)}})
    assert paths(ruleset.chains(Position({"a1": "H:P"}, {}))) == ["a1 b1 a1"]
    # Nothing is held that could be taken from the hand first.
    assert paths(ruleset.chains(Position({"b1": "H:P"}, {}))) == []
    assert paths(ruleset.chains(Position({"b1": "H:P"}, {"H:N": 1}))) == ["b1 a1 b1"]


def test_the_first_step_that_is_not_possible_is_named(store: Store) -> None:
    document = jumper()
    document["D:M"]["c3"]["d4"] = [
        {"action": {"name": "man's step"}, "must": {"d4": "empty"}, "diff": {"board": {"c3": None, "d4": "D:M"}}}
    ]
    ruleset = load(store, document)
    position = Position({"a1": "D:M", "b2": "d:m"})

    def said(*path: str) -> str:
        with pytest.raises(MoveError) as error:
            ruleset.apply(position, path)
        return str(error.value)

    assert said("a1", "b2", "c3") == "a1 b2 c3: step 1, a1 b2, is not possible"
    assert said("a1", "c3", "e5") == "a1 c3 e5: step 2, c3 e5, is not possible"
    assert said("a1", "c3", "d4") == (
        'a1 c3 d4: step 2, c3 d4, is not possible in a path of several steps: "man\'s step" cannot be chained'
    )
    assert said("a1", "c4") == "a1 c4: the position does not allow this move to first"
    assert said("a1", "c3", "z9").startswith('a1 c3 z9: step 2: game@1 has no square "z9"')
    assert said("a1") == "a path has from 2 to 101 squares, not 1"
    assert said(*["a1"] * 102) == "a path has from 2 to 101 squares, not 102"
    with pytest.raises(MoveError, match="is no path"):
        ruleset.apply(position, ["a1", 3])  # type: ignore[list-item]
    after = ruleset.apply(position, ["a1", "c3"])
    assert after == Position({"c3": "D:M"}, side="second")
    for text in ("a1c3", "a1 c3", "D:M A1 C3", "m a1xc3 1", "a1c3 m"):
        assert ruleset.apply(position, text) == after
    for text, why in (
        ("D:X a1 c3", 'no rules for "D:X"'),
        ("d:k a1 c3", 'no rules for "d:k"'),
        ("D:M a1 z9", 'no square "z9"'),
        ("a1 c3 2", "a1 c3 2: there is no possibility 2; 1 hold"),
        ("k a1 c3", "k a1 c3: the position does not allow this move to first"),
        ("a1 z9", '"z9" is no square of the board'),
        # As SAN it is the move of a pawn.
        ("a1", "a1: the position does not allow this move to first; possible: Mxc3"),
    ):
        with pytest.raises((MoveError, UnknownNameError), match=re.escape(why)):
            ruleset.apply(position, text)
    stale = ruleset.chains(Position({"a1": "D:M", "b2": "d:m", "d4": "d:m"}))[0]
    with pytest.raises(MoveError, match="step 2, c3 e5, is not possible"):
        ruleset.apply(position, stale)


def test_questions_about_what_is_not_there_are_refused(store: Store) -> None:
    ruleset = load(store, jumper())
    for narrow in ({"piece": "D:X"}, {"source": "z9"}, {"destination": "z9"}):
        with pytest.raises(UnknownNameError):
            ruleset.chains(Position({"a1": "D:M"}), **narrow)  # type: ignore[arg-type]


def test_rules_without_actions_have_no_chains(store: Store) -> None:
    ruleset = load(store, {"H:P": {"a1": {"b1": [{"diff": {"board": {"a1": None, "b1": "H:P"}}}]}}})
    assert ruleset.dialect == "diff"
    assert ruleset.chains(Position({"a1": "H:P"})) == ()


def test_chains_without_end_and_too_many_of_them_are_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hop: Json = {}
    squares = [f"{file}1" for file in "abcdef"]
    for source in squares:
        hop[source] = {
            to: [{"action": {"name": "hop", "chainable": True}, "diff": {"board": {source: None, to: "H:P"}}}]
            for to in squares
            if to != source
        }
    ruleset = load(store, {"H:P": hop})
    position = Position({"a1": "H:P"})
    everything = len(ruleset.chains(position))
    # All ways through six squares without coming back, and each way back to a square that it has been on.
    assert everything == sum(_ways(6, length) for length in range(2, 7))
    with limits.allow({"chains": everything, "chain-steps": 6}):
        assert len(ruleset.chains(position)) == everything
    with (
        limits.allow({"chains": everything - 1}),
        pytest.raises(MoveError, match=r"--limit chains=N.*ask for those of one piece or source"),
    ):
        ruleset.chains(position)
    with limits.allow({"chain-steps": 5}), pytest.raises(MoveError, match="has more than 5 steps"):
        ruleset.chains(position)


def _ways(squares: int, length: int) -> int:
    """The paths of `length` hops: over new squares all along, but for the last hop, which may lead back."""
    straight = 1
    for hop in range(1, length):
        straight *= squares - hop
    return straight * (squares - 1)


def test_the_statement_and_its_plan_are_shown(store: Store) -> None:
    ruleset = load(store, jumper())
    statement, plan = ruleset.explain_chains(Position({"a1": "D:M", "b2": "d:m"}), source="a1")
    assert statement.startswith("WITH RECURSIVE chain")
    assert ":revision" not in statement
    assert any("recurs" in line.lower() for line in plan)


# --- who can capture must capture ---


def test_the_captures_come_first_and_to_their_end(store: Store) -> None:
    document = jumper()
    for source, to in (("a1", "a2"), ("h1", "h2")):
        document["D:M"].setdefault(source, {})[to] = [{"diff": {"board": {source: None, to: "D:M"}}}]
    ruleset = load(store, document)

    def shown(**board: str) -> list[str]:
        position = Position(board)
        moves, chains = captures_first(position, ruleset.moves(position), ruleset.chains(position))
        return [f"{move.source} {move.destination}" for move in moves] + paths(chains)

    assert shown(a1="D:M", h1="D:M") == ["a1 a2", "h1 h2"]
    assert shown(a1="D:M", h1="D:M", b2="d:m") == ["a1 c3"]
    assert shown(a1="D:M", h1="D:M", b2="d:m", d4="d:m") == ["a1 c3 e5"]
    assert shown(a1="D:M", h1="D:M", b2="d:m", d4="d:m", d2="d:m") == ["a1 c3 e5", "a1 c3 e1"]
    assert shown(a1="D:M", h1="D:M", b2="d:m", d4="d:m", g2="d:m") == ["h1 f3", "a1 c3 e5"]


def test_a_capture_at_the_end_of_a_quiet_way_counts(store: Store) -> None:
    action = {"name": "go", "chainable": True}

    def go(source: str, to: str, state: str) -> list[Json]:
        return [{"action": action, "must": {to: state}, "diff": {"board": {source: None, to: "H:P"}}}]

    document = {
        "H:P": {
            "a1": {"b1": go("a1", "b1", "empty"), "a2": go("a1", "a2", "empty")},
            "b1": {"c1": go("b1", "c1", "enemy")},
            "c1": {"d1": go("c1", "d1", "empty")},
        }
    }
    ruleset = load(store, document)
    position = Position({"a1": "H:P", "c1": "h:p"})
    moves, chains = captures_first(position, ruleset.moves(position), ruleset.chains(position))
    assert (moves, paths(chains)) == ([], ["a1 b1 c1", "a1 b1 c1 d1"])
    assert captures_first(position, ruleset.moves(position)) == (ruleset.moves(position), ())


def test_a_last_action_is_left_out_of_chains_and_kept_where_it_alone_captures(store: Store) -> None:
    def act(name: str, source: str, to: str, state: str) -> list[Json]:
        action = {"name": name, "chainable": True}
        return [{"action": action, "must": {to: state}, "diff": {"board": {source: None, to: "H:P"}}}]

    document = {
        "H:P": {
            "a1": {"b1": act("last", "a1", "b1", "enemy"), "a2": act("go", "a1", "a2", "empty")},
            "a2": {"a3": act("last", "a2", "a3", "empty"), "b2": act("go", "a2", "b2", "empty")},
        }
    }
    duties = Duty("mandatory-capture"), Duty("last-actions", ("last",))
    parsed = parse(document)
    store.load(replace(parsed, envelope=replace(parsed.envelope, play=play_text.text(Play(duties)))), "last")
    ruleset = store.ruleset("last")

    def shown(**board: str) -> list[str]:
        position = Position(board)
        moves = [f"{move.source} {move.destination}" for move in ruleset.legal_moves(position)]
        return moves + paths(tuple(ruleset.chains(position, legal=True)))

    assert shown(a1="H:P", b1="h:p") == ["a1 b1"]
    assert shown(a1="H:P") == ["a1 a2", "a1 a2 b2"]
    assert shown(a1="H:P", b2="h:p") == ["a1 a2"]


@pytest.mark.parametrize("others", [(), ("mandatory-capture",)])
def test_a_chain_that_leaves_a_king_attacked_is_not_legal_and_forces_nothing(
    store: Store, others: tuple[str, ...]
) -> None:
    def hop(source: str, to: str, taken: str) -> Json:
        diff = {"board": {source: None, to: "H:P", taken: None}}
        return {to: [{"action": {"name": "hop", "chainable": True}, "must": {taken: "enemy"}, "diff": diff}]}

    step, attack = {"a1": None, "b1": "H:K^"}, {"a4": None, "a1": "h:r"}
    document = {
        "H:K^": {"a1": {"b1": [{"must": {"b1": "empty"}, "diff": {"board": step}}]}},
        "H:P": {"b2": hop("b2", "a2", "c3"), "a2": hop("a2", "c2", "d3")},
        "h:r": {"a4": {"a1": [{"must": {"a3": "empty", "a2": "empty", "a1": "enemy"}, "diff": {"board": attack}}]}},
    }
    parsed = parse(document)
    declared = play_text.text(Play((Duty("royal-safety"), *map(Duty, others))))
    store.load(replace(parsed, envelope=replace(parsed.envelope, play=declared)), "pin")
    ruleset = store.ruleset("pin")

    def shown(**board: str) -> list[str]:
        position = Position({"a1": "H:K^", **board})
        moves = [f"{move.source} {move.destination}" for move in ruleset.legal_moves(position)]
        every = moves + paths(ruleset.chains(position, legal=True))
        assert ruleset.perft(position, 1, legal=True).count == len(every)
        assert ruleset.count_moves([position], legal=True) == {0: len(moves)}
        return every

    quiet = [] if others else ["a1 b1"]
    assert shown(b2="H:P", c3="h:r") == [*quiet, "b2 a2"]
    assert shown(b2="H:P", c3="h:r", d3="h:r") == [*quiet, *(["b2 a2"] if not others else []), "b2 a2 c2"]
    assert shown(b2="H:P", c3="h:r", d3="h:r", a4="h:r") == [*quiet, "b2 a2"]
    assert shown(a2="H:P", d3="h:r", a4="h:r") == ["a1 b1"]


# --- the command line ---


JUMPS = '{"a1": "D:M", "h1": "D:M", "b2": "d:m", "d4": "d:m"}'


@pytest.fixture
def jumps(ggn: Command, address: str) -> Command:
    """The program on a store with men that jump, and that go up one from the first rank."""
    document = jumper()
    for file in "abcdefgh":
        source, to = f"{file}1", f"{file}2"
        document["D:M"].setdefault(source, {})[to] = [
            {"must": {to: "empty"}, "diff": {"board": {source: None, to: "D:M"}}}
        ]
    with Store.open(address) as store:
        store.load(document, "jumps")
    return ggn


def test_moves_shows_chains_as_paths(jumps: Command) -> None:
    asked = ("moves", "jumps", "--board", JUMPS)
    plain = jumps(*asked, "--format", "table")
    assert plain.out.endswith("D:M a1: c3[b2=] (jump...)  a2\nD:M h1: h2\njumps@1: 3 moves for first\n")
    shown = jumps(*asked, "--chains", "--format", "table")
    assert shown.out.endswith("D:M h1: h2\nD:M a1 c3 e5[b2= d4=] (jump)\njumps@1: 3 moves and 1 chain for first\n")
    records = jumps(*asked, "--chains").records()
    assert [record["path"] for record in records] == [["a1", "c3"], ["a1", "a2"], ["h1", "h2"], ["a1", "c3", "e5"]]
    assert {tuple(record) for record in records} == {("piece", "path", "effects", "steps")}
    assert [step["destination"] for step in records[-1]["steps"]] == ["c3", "e5"]
    assert jumps(*asked, "--chains", "--source", "h1").records() == records[2:3]
    assert jumps(*asked, "--chains", "--destination", "e5").records() == records[3:]
    assert jumps(*asked, "--chains", "--format", "csv").out.count("\n") == 5


def test_moves_shows_captures_first_as_a_rule_of_the_host(jumps: Command) -> None:
    asked = ("moves", "jumps", "--board", JUMPS, "--captures-first")
    assert jumps(*asked, "--chains").records()[0]["path"] == ["a1", "c3", "e5"]
    shown = jumps(*asked, "--chains", "--format", "table").out
    assert shown.endswith(
        "D:M a1 c3 e5[b2= d4=] (jump)\njumps@1: no moves and 1 chain for first\n"
        "captures first: a rule of the host, which no document can say\n"
    )
    alone = jumps(*asked)
    assert (alone.out, alone.err) == ("", "note: only chains can take something: --chains shows them\n")
    # What another piece can take forbids the moves of this one.
    assert jumps(*asked, "--chains", "--source", "h1").out == ""
    quiet = jumps("moves", "jumps", "--board", '{"h1": "D:M"}', "--captures-first", "--format", "table").out
    assert quiet.endswith("jumps@1: 1 move for first\n")


def test_chains_are_explained_and_are_of_one_position(jumps: Command) -> None:
    explained = jumps("moves", "jumps", "--board", JUMPS, "--chains", "--explain")
    assert explained.code == 0
    assert "WITH RECURSIVE chain" in explained.out
    for wrong in (
        ("--chains", "--positions", "-"),
        ("--captures-first", "--positions", "-"),
        ("--captures-first", "--explain"),
    ):
        assert jumps("moves", "jumps", *wrong).code == 2


def test_a_path_is_applied_whole_or_not_at_all(jumps: Command) -> None:
    asked = ("apply", "jumps", "--board", JUMPS, "--format", "json")
    after = {"board": {"h1": "D:M", "e5": "D:M"}, "hands": None, "side": "second"}
    for path in ("a1 c3 e5", "A1 C3 E5", "a1c3e5", "M a1 c3 e5", "a1xc3xe5"):
        assert jumps(*asked, "--path", path).records() == [after], path
    assert jumps(*asked, "--path", "a1 c3 e5", "--ordinal", "0").records() == [after]
    assert jumps(*asked, "--path", "h1 h2").records()[0]["board"]["h2"] == "D:M"
    failed = jumps(*asked, "--path", "a1 c3 a5")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err == "Error: a1 c3 a5: step 2, c3 a5, is not possible\n"
    other = jumps(*asked, "--path", "a1 c3 e5", "--ordinal", "1")
    assert "a1 c3 e5: possibility 1 does not hold; choose one of\n  --ordinal 0: D:M a1 c3 e5" in other.err
    assert "D:K a1 c3" not in jumps(*asked, "--path", "K a1 c3 e5").out
    assert jumps(*asked, "--path", "K a1 c3 e5").code == 1
    for wrong in ((), ("--path", "a1 c3", "--move", "D:M a1 c3"), ("--path", "a1 c3 2")):
        assert jumps(*asked, *wrong).code == 2


def test_chains_are_played(jumps: Command) -> None:
    asked = ("play", "jumps", "--board", JUMPS)
    after = {"board": {"h1": "D:M", "e5": "D:M"}, "hands": None, "side": "second"}
    played = jumps(*asked, stdin="a1\nA1 C3 E5\nsave jumps.txt")
    assert played.records() == [after]
    assert played.err.splitlines()[-2] == "D:M a1 c3 e5[b2= d4=] (jump)"
    assert jumps(*asked, "--moves", "jumps.txt").records() == [after]
    undone = jumps(*asked, stdin="a1c3e5\nundo\na1c3")
    assert undone.records()[0]["board"] == {"h1": "D:M", "d4": "d:m", "c3": "D:M"}
    failed = jumps(*asked, stdin="h1 h2 h3")
    assert (failed.code, failed.out) == (1, "")
    assert "standard input:1: h1 h2 h3: step 1, h1 h2, is not possible in a path of several steps" in failed.err


def test_captures_come_first_in_play(jumps: Command) -> None:
    asked = ("play", "jumps", "--board", JUMPS, "--captures-first")
    assert jumps(*asked, stdin="moves\na1c3e5").records()[0]["board"] == {"h1": "D:M", "e5": "D:M"}
    told = jumps(*asked, stdin="moves").err
    assert told == "D:M a1 c3 e5[b2= d4=] (jump)\ncaptures first: a rule of the host, which no document can say\n"
    for typed in ("h1 h2", "a1 c3", "h1"):
        failed = jumps(*asked, stdin=typed)
        assert failed.code == 1
        assert "captures come first:\nD:M a1 c3 e5[b2= d4=] (jump)\n" in failed.err, typed
