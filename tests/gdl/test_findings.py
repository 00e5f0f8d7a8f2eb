"""What is suspicious in game descriptions: each class on a small specification, with a near-miss that is not found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ggn_store.gdl.check import check_specification
from tests.support.gdl_tiny import REMOVED, Json, changed, cube, hexes, network, tiny, track

STEP = "/interactions/list/step"
SLIDE = "/interactions/list/slide"
OWN = "eq(entity.owner, state.current_player)"
GO = ["set(board[start], null)", "set(board[target], entity)"]


def findings(data: Json) -> list[tuple[str, str, str]]:
    check = check_specification(json.dumps(data, indent=1))
    assert check.problems == (), [str(problem) for problem in check.problems]
    assert all(finding.severity == "finding" and finding.line for finding in check.findings)
    return [(finding.code, finding.pointer, finding.message) for finding in check.findings]


def found(data: Json) -> list[tuple[str, str]]:
    return [(code, pointer) for code, pointer, _ in findings(data)]


def with_action(name: str, conditions: list[str], data: Json | None = None, first: bool = False) -> Json:
    """The small game with one more action, the last or the first one of its phase."""
    data = tiny() if data is None else data
    data["interactions"]["list"][name] = {"conditions": [OWN, *conditions], "effects": GO}
    data["game_flow"]["phases"]["main"]["allowed_actions"].insert(0 if first else 9, name)
    return data


@pytest.mark.parametrize("data", [tiny(), network(), hexes()], ids=["grid", "network", "hexagons"])
def test_the_small_games_have_nothing_suspicious(data: Json) -> None:
    assert findings(data) == []


# --- names without use ---


def test_an_action_that_no_phase_allows_is_never_used() -> None:
    assert findings(with_action("odd", ["eq(entity.rank, 'stone')"])) == []
    data = with_action("odd", ["eq(entity.rank, 'stone')"])
    data["game_flow"]["phases"]["main"]["allowed_actions"].remove("odd")
    place = "/interactions/list/odd"
    assert findings(data) == [("unused-action", place, "no phase allows the action odd: it is never used")]


@pytest.mark.parametrize(
    ("place", "found_from"),
    [
        ("node(target.x, add(target.y, 1))", "a3 to a4"),
        ("mid_pos(start, node(start.x, 4))", "a1 to a2"),
        ("node(start.x, start.y)", None),
    ],
)
def test_an_effect_off_the_board_is_suspicious(place: str, found_from: str | None) -> None:
    data = with_action("fall", ["eq(entity.rank, 'stone')", "eq(target.x, start.x)", "eq(sub(target.y, start.y), 1)"])
    data["interactions"]["list"]["fall"]["effects"] = ["set(board[start], null)", f"set(board[{place}], entity)"]
    off = [message for code, _, message in findings(data) if code == "off-board"]
    assert len(off) == (found_from is not None)
    assert found_from is None or f"for a Piece from {found_from}: nothing is set there" in off[0]
    guarded = f"if(lt(target.y, 3), set(board[{place}], entity))"
    data["interactions"]["list"]["fall"]["effects"][1] = guarded
    assert bool([code for code, _ in found(data) if code == "off-board"]) is (found_from == "a1 to a2")


def test_an_action_without_effects_changes_nothing() -> None:
    assert ("no-effect", SLIDE) in found(changed(f"{SLIDE}/effects", []))


FEW = "eq(size(entities_of_player(opponent_of(p))), 0)"


@pytest.mark.parametrize(
    ("kind", "condition", "reason"),
    [
        ("victory", FEW.replace("of_player", "of_playr"), "there is no function entities_of_playr: did you mean e"),
        ("wictory", FEW, "the type wictory is none of victory, defeat, draw: did you mean victory?"),
        ("victory", FEW.replace("(p)", "(q)"), "a board says whether player(p), or the other one, has no moves"),
        ("victory", "king_captured(p)", "a board says whether player(p), or the other one, has no moves"),
    ],
)
def test_an_end_that_no_outcome_says_is_told_with_the_reason(kind: str, condition: str, reason: str) -> None:
    understood = {"type": "victory", "for": "player(p)", "condition": FEW}
    data = changed("/end_conditions", {"conditions": [understood, understood | {"type": kind, "condition": condition}]})
    [finding] = check_specification(data).findings
    assert (finding.code, finding.pointer) == ("stored-end-condition", "/end_conditions/conditions/1/condition")
    assert finding.message.startswith(f"this end is left to the players: {reason}")


def test_without_a_setup_there_is_no_start_position() -> None:
    data = changed("/setup", REMOVED)
    assert ("no-setup", "") in [(code, pointer) for code, pointer in found_without_lines(data)]


def found_without_lines(data: Json) -> list[tuple[str, str]]:
    return [(finding.code, finding.pointer) for finding in check_specification(data).findings]


@pytest.mark.parametrize(
    ("pointer", "value", "code"),
    [
        ("/state_schema/global/turns", {"type": "int", "initial": 0}, "unused-variable"),
        ("/entity_schemas/types/Piece/attributes/age", {"type": "int", "default": 0}, "unused-attribute"),
        ("/players/roles/1/attributes/home", 3, "unused-player-attribute"),
    ],
)
def test_a_name_that_nothing_reads_or_sets_is_found(pointer: str, value: Any, code: str) -> None:
    assert found(changed(pointer, value)) == [(code, pointer)]


def test_a_variable_that_is_set_alone_or_read_alone_is_found() -> None:
    data = changed("/state_schema/global/turns", {"type": "int", "initial": 0})
    data["interactions"]["list"]["step"]["effects"].append("set(state.turns, 1)")
    assert found(data) == [("unread-variable", "/state_schema/global/turns")]
    data["interactions"]["list"]["step"]["conditions"].append("lt(state.turns, 2)")
    assert found(data) == []
    data["interactions"]["list"]["step"]["effects"].pop()
    assert found(data) == [("constant-variable", "/state_schema/global/turns")]


def test_an_attribute_that_only_a_picture_reads_is_used() -> None:
    data = changed("/entity_schemas/types/Piece/attributes/age", {"type": "int", "default": 0})
    data["presentation"]["profiles"]["ascii"]["entity_assets"][1]["conditions"] = "eq(entity.age, 0)"
    assert found(data) == []


def test_phases_that_allow_nothing_or_never_begin_are_found() -> None:
    data = changed("/game_flow/phases/late", {"allowed_actions": []})
    late = "/game_flow/phases/late"
    assert sorted(found(data)) == [("empty-phase", late), ("unreachable-phase", late)]
    data["game_flow"]["phases"]["late"]["allowed_actions"] = ["slide"]
    data["interactions"]["list"]["step"]["effects"].append("set(state.phase, 'late')")
    assert found(data) == []
    data["interactions"]["list"]["step"]["effects"][-1] = "set(state.phase, entity.rank)"
    assert found(data) == []  # who knows


def test_an_entity_that_moves_only_in_its_own_mind_is_found() -> None:
    data = changed(f"{SLIDE}/effects", ["set(entity.pos, target)", "set(state.mode, 'wild')"])
    assert found(data) == [("position-only", f"{SLIDE}/effects/0")]


# --- conditions that never hold ---

# The conditions of an action beside that the entity is of the side to move, and the condition that is named.
NEVER = [
    (["eq(entity.rank, 'stnoe')"], 1),
    (["eq(entity.rank, 'king')"], 1),
    (["gt(start.x, 3)"], 1),
    (["eq(sub(target.x, start.x), 4)"], 1),
    (["eq(target.x, 4)", "eq(start.x, 0)"], 1),
    (["lt(entity.owner.ahead, -1)"], 1),
    (["eq(1, 2)"], 1),
    (["not(eq(entity, entity))"], 1),
    (["ne(start, start)"], 1),
    (["ne(board[start], entity)"], 1),
    (["eq(board[start], null)"], 1),
    (["special_connection(start, target)"], 1),
    (["eq(other_player(entity.owner), state.current_player)"], 1),
    (["gt(state.count, 3)"], 1),
    (["eq(mid_pos(start, target), null)", "eq(start, target)"], 2),
    (["eq(entity.rank, 'stone')", "eq(entity.rank, 'wheel')"], 2),
    (["eq(entity.rank, 'stone')", "gt(target.x, 1)", "ne(entity.rank, 'stone')"], 3),
    (["gt(target.x, start.x)", "gt(start.x, target.x)"], 2),
    (["eq(board[target], null)", "ne(board[target], null)"], 2),
    (["eq(board[target], null)", "ne(board[target].owner, entity.owner)", "eq(start.x, 0)", "eq(start, target)"], 4),
    (["eq(board[target].owner, entity.owner)", "ne(board[target].owner, entity.owner)"], 2),
    (["eq(state.mode, 'calm')", "eq(state.mode, 'wild')"], 2),
    (["eq(state.count, 1)", "gt(state.count, 2)"], 2),
    (["adjacent(start, target)", "eq(sub(target.x, start.x), 2)"], 2),
    (["path_clear(start, target)", "eq(sub(target.x, start.x), 2)", "eq(sub(target.y, start.y), 1)"], 3),
    (["eq(entity.pos, target)", "ne(start, target)"], 2),
    (["eq(state.phase, 'late')"], 1),
    (["not(gte(start.x, 0))"], 1),
    (["not(lte(start.x, 3))"], 1),
    (["ne(board[node(add(4, 0), 0)], null)"], 1),
    (["ne(board[node(0, add(4, 0))], null)"], 1),
    (["ne(board[node(0, add(-1, 0))], null)"], 1),
    (["ne(node(mod(1, 0), 1), null)"], 1),
    (["ne(node(1, mod(1, 0)), null)"], 1),
    (["ne(mid_pos(mid_pos(start, node('b1')), target), null)", "eq(start, node('a1'))"], 2),
    (["and(entity.moved, eq(entity.moved, false))"], 1),
    (["eq(entity.moved, true)", "not(entity.moved)"], 2),
]


@pytest.mark.parametrize(("conditions", "number"), NEVER)
def test_conditions_that_never_hold_are_found(conditions: list[str], number: int) -> None:
    data = with_action("odd", conditions)
    data["game_flow"]["phases"]["late"] = {"allowed_actions": ["slide"]}
    data["interactions"]["list"]["slide"]["effects"].append("set(state.phase, 'late')")
    assert found(data) == [("never-holds", f"/interactions/list/odd/conditions/{number}")]


@pytest.mark.parametrize(
    "conditions",
    [
        ["eq(entity.rank, 'wheel')", "eq(target.x, 3)", "eq(target.y, 3)", "eq(start.x, 0)", "eq(start.y, 0)"],
        ["eq(board[target].rank, 'stone')", "eq(board[target].owner, entity.owner)", "ne(start, target)"],
        ["eq(state.count, 3)", "eq(state.mode, 'calm')", "eq(start.x, start.y)", "eq(sub(target.x, start.x), 3)"],
        ["eq(board[mid_pos(start, target)], null)", "eq(sub(target.x, start.x), -3)", "eq(start.y, target.x)"],
        ["path_clear(start, target)", "eq(sub(target.x, start.x), 3)", "eq(sub(target.y, start.y), -3)"],
        ["gte(start.x, 3)", "lte(target.x, 0)"],
    ],
)
def test_conditions_that_hold_rarely_are_not_found(conditions: list[str]) -> None:
    # Halfway of an odd distance is no place, and nothing stands there: null is null.
    assert [code for code, _ in found(with_action("odd", conditions)) if code == "never-holds"] == []


def test_a_value_that_nothing_ever_has_is_named_with_what_is_near_it() -> None:
    [(_, _, message)] = findings(with_action("odd", ["eq(entity.rank, 'stnoe')"]))
    assert '(nothing ever has rank "stnoe": did you mean "stone"?)' in message


def test_conditions_that_never_hold_together_are_named_and_no_others() -> None:
    conditions = ["gt(target.x, 0)", "gt(target.x, start.x)", "eq(entity.rank, 'stone')", "gt(start.x, target.x)"]
    [(_, _, message)] = findings(with_action("odd", conditions))
    assert message == ("this condition never holds together with gt(target.x, start.x): the action is never possible")


def test_an_effect_that_never_happens_is_found() -> None:
    effects = f"{STEP}/effects"
    assert found(changed(f"{effects}/-", "if(eq(target.y, start.y), set(entity.rank, 'wheel'))")) == [
        ("never-holds", f"{effects}/6")
    ]
    assert found(changed(f"{effects}/-", "if(eq(target.y, 2), set(entity.rank, 'wheel'))")) == []
    # What an earlier effect has changed is not known.
    assert found(changed(f"{effects}/-", "if(eq(entity.rank, 'wheel'), set(entity.moved, false))")) == []


# --- actions that others take the place of ---


@pytest.mark.parametrize(
    ("conditions", "first", "taken"),
    [
        (["eq(entity.rank, 'stone')", "eq(board[target], null)"], True, ["step"]),
        (["eq(entity.rank, 'stone')"], True, ["step"]),
        ([], True, ["step", "slide"]),
        (["eq(entity.rank, 'stone')", "eq(target.x, start.x)"], True, ["step"]),
        (["eq(entity.rank, 'stone')", "lt(target.x, 3)"], True, []),
        (["eq(entity.rank, 'stone')", "not(entity.moved)"], True, []),
        (["eq(entity.rank, 'stone')", "ne(board[target], null)"], True, []),
        (["eq(entity.rank, 'stone')", "eq(state.count, 0)"], True, []),
        (["eq(entity.rank, 'stone')", "eq(board[target], null)"], False, []),
    ],
)
def test_an_action_behind_others_that_always_come_first_is_found(
    conditions: list[str], first: bool, taken: list[str]
) -> None:
    shadowed = [
        pointer for code, pointer in found(with_action("odd", conditions, first=first)) if code == "shadowed-action"
    ]
    assert shadowed == [f"/interactions/list/{name}" for name in taken]


def test_an_action_that_two_others_take_together_is_found() -> None:
    data = with_action("left", ["eq(entity.rank, 'stone')", "lt(target.x, 2)"], first=True)
    data = with_action("right", ["eq(entity.rank, 'stone')", "gt(target.x, 1)"], data, first=True)
    messages = [message for code, _, message in findings(data) if code == "shadowed-action"]
    assert messages == ["the action step is never chosen: wherever it is possible, left and right comes first"]


def test_an_action_that_one_phase_leaves_alone_is_not_found() -> None:
    data = with_action("odd", ["eq(entity.rank, 'stone')"], first=True)
    data["game_flow"]["phases"]["late"] = {"allowed_actions": ["step"]}
    data["interactions"]["list"]["odd"]["effects"] = [*GO, "set(state.phase, 'late')"]
    assert found(data) == []


# --- pieces that move strangely ---


def king(*conditions: str) -> Json:
    """The small game with a king beside the stones and wheels."""
    data = with_action("reign", ["eq(entity.rank, 'king')", *conditions])
    king = {
        "action": "spawn_entity",
        "schema": "Piece",
        "set_attributes": {"owner": "player('Light')", "rank": "king"},
        "at": ["node(1, 1)"],
    }
    data["setup"]["steps"].append(king)
    return data


DX, DY = "abs(sub(target.x, start.x))", "abs(sub(target.y, start.y))"


@pytest.mark.parametrize(
    ("conditions", "never"),
    [
        ([f"eq({DX}, 1)", f"lt({DY}, 2)"], "vertically, though it moves horizontally and diagonally"),
        ([f"lt({DX}, 2)", f"eq({DY}, 1)"], "horizontally, though it moves vertically and diagonally"),
        ([f"eq({DX}, 1)", "eq(target.y, start.y)"], "vertically, though it moves horizontally"),
        (
            ["eq(sub(target.x, start.x), sub(target.y, start.y))", "ne(start, target)"],
            "by (-1, +1), (+1, -1), though it moves by (-1, -1), (+1, +1)",
        ),
        (
            [f"eq({DX}, 1)", f"eq({DY}, 2)"],
            "by (-2, -1), (-2, +1), (+2, -1), (+2, +1), though it moves by (-1, -2), (-1, +2), (+1, -2), (+1, +2)",
        ),
        ([f"eq(mul({DX}, {DY}), 2)"], None),
        (["adjacent(start, target)"], None),
        ([f"eq({DX}, {DY})", "ne(start, target)"], None),
        ([f"eq({DX}, 1)", f"eq({DY}, 1)"], None),
        (["adjacent(start, target)", "ne(sub(target.y, start.y), mul(entity.owner.ahead, -1))"], None),
    ],
)
def test_a_piece_that_lacks_directions_is_found(conditions: list[str], never: str | None) -> None:
    messages = [message for code, _, message in findings(king(*conditions)) if code == "missing-directions"]
    assert messages == ([] if never is None else [f"a Piece of rank king never moves {never}"])


def test_directions_of_several_actions_count_together() -> None:
    data = king(f"eq({DX}, 1)", "eq(target.y, start.y)")
    data = with_action("rise", ["eq(entity.rank, 'king')", f"eq({DY}, 2)", "eq(target.x, start.x)"], data)
    assert found(data) == []


def test_a_piece_of_hexagons_has_six_directions() -> None:
    data = with_action("odd", ["eq(target.q, start.q)", "adjacent(start, target)"], hexes())
    data["interactions"]["list"]["slide"]["conditions"].insert(0, "eq(target.q, start.q)")
    data["interactions"]["list"]["step"]["conditions"].insert(0, "eq(target.q, start.q)")
    messages = [message for code, _, message in findings(data) if code == "missing-directions"]
    assert "by (-1, +0), (-1, +1), (+1, -1), (+1, +0), though it moves by (+0, -1), (+0, +1)" in messages[0]


def test_a_piece_that_no_action_moves_is_found() -> None:
    data = changed("/setup/steps/1/set_attributes/rank", "wall")
    assert "no action moves a Piece of rank wall" in [message for _, _, message in findings(data)]


TWO = "eq(sub(target.y, start.y), mul(entity.owner.ahead, 2))"


@pytest.mark.parametrize(
    ("conditions", "is_found"),
    [
        ([TWO], True),
        ([TWO, "path_clear(start, target)"], False),
        ([TWO, "eq(board[mid_pos(start, target)], null)"], False),
        ([TWO, "eq(board[node(start.x, add(start.y, entity.owner.ahead))], null)"], False),
        (["eq(sub(target.y, start.y), mul(entity.owner.ahead, 3))"], False),
    ],
)
def test_a_double_step_that_ignores_the_place_between_is_found(conditions: list[str], is_found: bool) -> None:
    data = with_action(
        "leap", ["eq(entity.rank, 'stone')", "eq(board[target], null)", "eq(target.x, start.x)", *conditions]
    )
    assert (("ignored-middle", "/interactions/list/leap") in found(data)) is is_found


def test_a_leap_without_a_single_step_ignores_nothing() -> None:
    data = king(f"eq({DX}, 2)", "eq(target.y, start.y)")
    data = with_action("rise", ["eq(entity.rank, 'king')", f"eq({DY}, 2)", "eq(target.x, start.x)"], data)
    assert found(data) == []


def test_large_boards_are_not_searched() -> None:
    data = changed("/topology/structure", "grid(30, 30)")
    assert found(data) == [("large-board", "/topology")]


def test_a_game_that_is_too_large_to_try_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ggn_store.gdl.trials._MAX_TRIES", 10_000)
    data = with_action("odd", ["eq(entity.rank, 'stnoe')"])
    assert ("large-game", "/interactions") in found(data)


@pytest.mark.parametrize("name", ["checkers", "chess", "contraband", "hexguard"])
def test_our_own_games_leave_no_end_to_the_host(name: str) -> None:
    text = (Path(__file__).parents[2] / "data" / "gdl" / f"{name}.json").read_text()
    check = check_specification(text)
    assert check.problems == ()
    assert check.findings == ()


DEFINED = {"own(place)": "eq(board[place].owner, entity.owner)"}


@pytest.mark.parametrize(
    ("pointer", "value", "expected"),
    [
        ("/metadata/version", "2", ()),
        ("/interactions/definitions", DEFINED, ("definitions",)),
        ("/setup/steps/1/at/-", "nodes('a2')", ("nodes('...') (in the setup)",)),
        (f"{STEP}/conditions/-", "in_row(start, 1)", ("in_row",)),
        (f"{STEP}/conditions/-", "path_clear(start, target, entity.owner)", ("path_clear with a player",)),
        (f"{STEP}/conditions/-", "eq(if(entity.moved, 1, 2), 1)", ("if as a value",)),
        (f"{STEP}/effects/-", "if(if(entity.moved, true, false), set(state.count, 1))", ("if as a value",)),
        (f"{STEP}/effects/-", "if(entity.moved, if(true, set(state.count, 1)))", ()),
        (f"{STEP}/conditions/-", "eq(if(eq(entity.owner, player('Light')), state.count, 1), 1)", ("if as a value",)),
        (f"{STEP}/optional", True, ("optional actions",)),
        ("/game_flow/phases/main/actors", "player('Light')", ("actors of one player",)),
    ],
)  # fmt: skip
def test_what_other_programs_do_not_read_is_named(pointer: str, value: Any, expected: tuple[str, ...]) -> None:
    check = check_specification(changed(pointer, value))
    assert (check.problems, check.extensions) == ((), expected)


def test_a_variable_of_each_player_is_no_extension() -> None:
    data = changed("/state_schema/per_player", {"used": {"type": "bool", "initial": False}})
    data["interactions"]["list"]["step"]["conditions"].append("eq(entity.owner.used, false)")
    assert (check_specification(data).problems, check_specification(data).extensions) == ((), ())


def test_boards_that_other_programs_do_not_read_are_named() -> None:
    assert check_specification(json.dumps(cube())).extensions == ("a grid of three sizes",)
    assert check_specification(json.dumps(track())).extensions == ("a track",)
    assert check_specification(json.dumps(hexes())).extensions == ()
