"""What no move database can hold: each construct is named where it stands, all of them at once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from ggn_store.gdl.check import check_specification
from tests.support.gdl_tiny import Json, changed, tiny
from tests.support.published import published, read

CARDS = "cards and zones are kept nowhere: a position has the places of a board, and hands of pieces"
HIDDEN = "hidden information is not possible: both sides see the whole position"
RANDOM = "chance is not possible: a move has one outcome"
RESOURCES = "what players own besides pieces is kept nowhere: a position has a board, hands and global variables"
BOUNDLESS = "a position keeps one of a few values of it: declare its values, or min and max"
SIDES = "games have exactly two sides, the first and the second player"
TEXTS = "texts are never computed: an attribute or a variable has one of a few values"
BOARD = "conditions on the whole board are not possible: a rule can ask for squares that it names"
OWNER = 'each piece belongs to a side: give the type "owner": {"type": "player_ref"}'

# A game of cards of our own, with everything in it that games of cards have.
SNAP: Json = {
    "metadata": {"name": "Snap"},
    "players": {"count": {"min": 2, "max": 6}, "dynamic_roles": True, "roles": [{"name": "Seat", "attributes": {}}]},
    "entity_schemas": {"types": {"Leaf": {"attributes": {"suit": {"type": "string"}, "pips": {"type": "int"}}}}},
    "topology": {
        "type": "zones",
        "zones": {
            "pile": {"type": "stack", "visible": False, "shuffle": True},
            "table": {"type": "stack", "visible": True},
            "fan_Seat1": {"type": "set", "owner": "player('Seat1')", "visibility": "owner_only"},
        },
    },
    "state_schema": {
        "global": {
            "current_player": {"type": "player_ref", "initial": "player('Seat1')"},
            "direction": {"type": "int", "initial": 1},
            "secret": {"visibility": "none"},
        },
        "per_player": {"fan": {"visibility": "owner_only"}, "coins": {"type": "int", "initial": 0}},
    },
    "setup": {
        "steps": [
            {"action": "spawn_entity", "schema": "Leaf", "set_attributes": {"suit": "sun"}, "at": ["zone('pile')"]},
            {"action": "shuffle_zone", "zone": "pile"},
            {"action": "deal_cards", "from": "zone('pile')", "to": ["zone('fan_Seat1')"], "count": 3},
            {"action": "move_card", "from": "zone('pile')", "to": "zone('table')"},
        ]
    },
    "interactions": {
        "list": {
            "draw": {
                "conditions": ["gt(count(zone('pile').entities), 0)"],
                "effects": ["draw_cards(zone('pile'), hand_zone, random_int(1, 3))"],
                "end_turn": True,
            },
            "play": {
                "conditions": ["eq(card.suit, top_card(zone('table')).suit)", "visible_to(card, state.current_player)"],
                "effects": [
                    "move_to_zone(card, zone(concat('fan_', next_player(state.current_player, state.direction).name)))",
                    "set(state.direction, mul(state.direction, -1))",
                ],
            },
        }
    },
    "game_flow": {
        "time_model": "real_time",
        "phases": {"main": {"actors": "all_players", "allowed_actions": ["draw", "play"]}},
    },
    "presentation": {"profiles": {"ascii": {"card_back": "##"}}},
}

# The construct, the reason, the pointer, and the character of the expression.
SNAP_BLOCKERS = [
    ("up to 6 players", SIDES, "/players/count/max", None),
    ("roles that are made while playing (dynamic_roles)", SIDES, "/players/dynamic_roles", None),
    ("a game of one role", SIDES, "/players/roles", None),
    ("entities of type Leaf have no owner", OWNER, "/entity_schemas/types/Leaf", None),
    ("a topology of zones", CARDS, "/topology/type", None),
    ("the zone pile is hidden", HIDDEN, "/topology/zones/pile/visible", None),
    ("the zone pile is shuffled", RANDOM, "/topology/zones/pile/shuffle", None),
    ("the zone fan_Seat1 is hidden", HIDDEN, "/topology/zones/fan_Seat1/visibility", None),
    ("visibility of the variable secret", HIDDEN, "/state_schema/global/secret/visibility", None),
    ("the variable fan of each player (per_player)", RESOURCES, "/state_schema/per_player/fan", None),
    ("the variable coins of each player (per_player)", BOUNDLESS, "/state_schema/per_player/coins", None),
    ('the zone "pile" is filled', CARDS, "/setup/steps/0/at/0", 0),
    ("the step shuffle_zone", RANDOM, "/setup/steps/1/action", None),
    ("the step deal_cards", CARDS, "/setup/steps/2/action", None),
    ("the step move_card", CARDS, "/setup/steps/3/action", None),
    ("the function count", BOARD, "/interactions/list/draw/conditions/0", 3),
    ("the function zone", CARDS, "/interactions/list/draw/conditions/0", 9),
    ("the function draw_cards", CARDS, "/interactions/list/draw/effects/0", 0),
    ("the function zone", CARDS, "/interactions/list/draw/effects/0", 11),
    ("the name hand_zone", CARDS, "/interactions/list/draw/effects/0", 25),
    ("the function random_int", RANDOM, "/interactions/list/draw/effects/0", 36),
    ("the name card", CARDS, "/interactions/list/play/conditions/0", 3),
    ("the function top_card", CARDS, "/interactions/list/play/conditions/0", 14),
    ("the function zone", CARDS, "/interactions/list/play/conditions/0", 23),
    ("the function visible_to", HIDDEN, "/interactions/list/play/conditions/1", 0),
    ("the name card", CARDS, "/interactions/list/play/conditions/1", 11),
    ("the function move_to_zone", CARDS, "/interactions/list/play/effects/0", 0),
    ("the name card", CARDS, "/interactions/list/play/effects/0", 13),
    ("the function zone", CARDS, "/interactions/list/play/effects/0", 19),
    ("the function concat", TEXTS, "/interactions/list/play/effects/0", 24),
    ("the function next_player", SIDES, "/interactions/list/play/effects/0", 39),
    ('the time model "real_time"', "sides move in turn: turn_based", "/game_flow/time_model", None),
    (
        'actors "all_players" of the phase main',
        "one side acts: current_player, or player('Name')",
        "/game_flow/phases/main/actors",
        None,
    ),
    ("card_back of the profile ascii", HIDDEN, "/presentation/profiles/ascii/card_back", None),
]


def blockers(data: Any) -> list[tuple[str, str, int | None]]:
    check = check_specification(json.dumps(data, indent=1) if isinstance(data, dict) else data)
    assert check.specification is None
    assert all(problem.code == "refused" for problem in check.blockers)
    return [(problem.message, problem.pointer, problem.at) for problem in check.blockers]


def test_a_game_of_cards_is_refused_with_everything_that_blocks_it() -> None:
    assert blockers(SNAP) == [(f"{what}: {why}", pointer, at) for what, why, pointer, at in SNAP_BLOCKERS]
    assert len(check_specification(SNAP).problems) == len(SNAP_BLOCKERS)  # and there is no mistake in it


@pytest.mark.parametrize(
    ("pointer", "value", "construct", "place", "at"),
    [
        ("/players/count", 3, "3 players", "/players/count", None),
        ("/players/count/min", 1, "at least 1 player", "/players/count/min", None),
        ("/players/roles/-", {"name": "Third"}, "a game of 3 roles", "/players/roles", None),
        (
            "/interactions/list/step/effects/-",
            "set(state.count, random_int(1, 3))",
            "the function random_int",
            "/interactions/list/step/effects/6",
            17,
        ),
        (
            "/interactions/list/step/effects/-",
            "shuffle(board)",
            "the function shuffle",
            "/interactions/list/step/effects/6",
            0,
        ),
        (
            "/interactions/list/step/conditions/-",
            "visible_to(entity, state.current_player)",
            "the function visible_to",
            "/interactions/list/step/conditions/5",
            0,
        ),
        (
            "/interactions/list/step/conditions/-",
            "eq(size(entities_of_player(entity.owner)), 1)",
            "the function size",
            "/interactions/list/step/conditions/5",
            3,
        ),
        (
            "/entity_schemas/types/Piece/attributes/visible_to",
            {"type": "player_ref_list"},
            "the attribute visible_to",
            "/entity_schemas/types/Piece/attributes/visible_to",
            None,
        ),
        (
            "/entity_schemas/types/Piece/attributes/bag",
            {"type": "list"},
            "the attribute bag is a list (list)",
            "/entity_schemas/types/Piece/attributes/bag/type",
            None,
        ),
        (
            "/state_schema/per_player",
            {"gold": {"type": "int", "initial": 0}},
            "the variable gold of each player (per_player)",
            "/state_schema/per_player/gold",
            None,
        ),
        (
            "/game_flow/phases/main/actors",
            "all",
            'actors "all" of the phase main',
            "/game_flow/phases/main/actors",
            None,
        ),
        ("/game_flow/time_model", "simultaneous", 'the time model "simultaneous"', "/game_flow/time_model", None),
    ],
)  # fmt: skip
def test_each_construct_is_refused_where_it_stands(
    pointer: str, value: Any, construct: str, place: str, at: int | None
) -> None:
    found = blockers(changed(pointer, value))
    assert (construct, place, at) in [(message.split(":")[0], where, char) for message, where, char in found]


def unbounded(*effects: str, **variable: Any) -> list[tuple[str, str, int | None]]:
    data = changed("/state_schema/global/turns", {"type": "int", "initial": 0, **variable})
    data["interactions"]["list"]["step"]["effects"] += effects
    found = check_specification(data)
    return [(problem.message.split(",")[0], problem.pointer, problem.at) for problem in found.problems]


def test_a_variable_without_end_is_refused_at_the_effect_that_counts_it_up() -> None:
    assert unbounded("set(state.turns, add(state.turns, 1))") == [
        ("state.turns would have more than 256 values", "/interactions/list/step/effects/6", 17)
    ]


@pytest.mark.parametrize(
    "effect",
    [
        "set(state.turns, mod(add(state.turns, 1), 50))",
        "set(state.turns, sub(1, state.turns))",
        "set(state.turns, mul(-1, state.turns))",
        "set(state.turns, target.x)",
        "set(state.turns, entity.owner.far)",
        "if(lt(state.turns, 255), set(state.turns, add(state.turns, 1)))",
        "if(not(and(gt(state.turns, 8), ne(state.turns, 7))), set(state.turns, add(state.turns, 1)))",
        "if(or(lte(state.turns, 8), eq(state.turns, 10)), set(state.turns, add(state.turns, 1)))",
        "if(gte(state.turns, 9), set(state.turns, 0), set(state.turns, add(state.turns, 1)))",
    ],
)
def test_a_variable_that_comes_to_an_end_by_itself_is_not_refused(effect: str) -> None:
    assert unbounded(effect) == []


def test_a_condition_on_the_old_value_does_not_end_what_is_counted_up_twice() -> None:
    twice = "set(state.turns, add(state.turns, 1))"
    assert len(unbounded(f"if(lt(state.turns, 9), {twice})", twice)) == 1


def test_a_variable_that_grows_out_of_all_proportion_is_refused() -> None:
    twice, thrice = "mul(state.turns, state.turns)", "mul(state.turns, state.turns, state.turns)"
    for grown in (twice, thrice, f"sub({thrice}, 1)"):
        assert len(unbounded(f"set(state.turns, {grown})", initial=2)) == 1, grown
        assert unbounded(f"if(lt(state.turns, 9), set(state.turns, {grown}))", initial=2) == []


def test_a_variable_with_limits_is_not_refused() -> None:
    assert unbounded("set(state.turns, add(state.turns, 1))", min=0, max=100) == []


def test_an_attribute_without_end_is_refused() -> None:
    data = changed("/entity_schemas/types/Piece/attributes/age", {"type": "int", "default": 0})
    data["interactions"]["list"]["slide"]["effects"].append("set(entity.age, add(entity.age, 1))")
    [(message, pointer, at)] = blockers(data)
    assert message.startswith("the attribute age would have more than 256 values")
    assert (pointer, at) == ("/interactions/list/slide/effects/5", 16)


def test_what_is_open_to_all_is_not_hidden() -> None:
    data = tiny()
    data["state_schema"]["global"]["mode"]["visibility"] = "all"
    assert check_specification(data).is_valid


def test_very_many_variables_that_grow_are_refused_in_a_moment() -> None:
    data = tiny()
    for number in range(100):
        data["state_schema"]["global"][f"v{number}"] = {"type": "int", "initial": number}
    data["interactions"]["list"]["step"]["effects"] += [
        f"set(state.v{number}, add(state.v{(number + 1) % 100}, state.v{(number + 7) % 100}))" for number in range(100)
    ]
    assert {message.split(" ", 1)[1] for message, _, _ in blockers(data)} == {
        "would have more than 256 values, and a position keeps one of a few"
    }


# --- the published specifications, which are not ours to keep ---


@published
def test_the_published_game_of_cards_is_refused_with_everything_that_blocks_it() -> None:
    """Counted by hand in the file: places of a construct are counted one by one."""
    check = check_specification(read("uno"))
    counts = Counter(problem.message.split(":")[0] for problem in check.blockers)
    hands = {f"the zone hand_Player{number} is hidden": 1 for number in range(1, 11)}
    assert counts == {
        "up to 10 players": 1,
        "roles that are made while playing (dynamic_roles)": 1,
        "a game of one role": 1,
        "entities of type Card have no owner": 1,
        "a topology of zones": 1,
        "the zone deck is hidden": 1,
        **hands,
        # 108 cards: 4 colours of 1 + 12 x 2, and 2 x 4 wild ones.
        'the zone "deck" is filled': 4 * 25 + 8,
        "the step shuffle_zone": 1,
        "the step deal_cards": 1,
        "the step move_card": 1,
        "the function draw_cards": 3,
        "the name hand_zone": 1,
        # Of 4 actions that ask whether there is a card on the table.
        "the function count": 4,
        "the function zone": 28,
        "the name card": 17,
        "the function top_card": 13,
        "the function move_to_zone": 6,
        "the function concat": 2,
        "the function next_player": 2,
        "card_back of the profile ascii": 1,
    }
    # The only other thing: the name `player` for the player who acts, in each of the 7 actions.
    others = [problem for problem in check.problems if problem.code != "refused"]
    assert [problem.message for problem in others] == ["player is a function"] * 7


@published
@pytest.mark.parametrize(
    ("name", "findings"),
    [
        (
            "chess",
            [
                ("unused-player-attribute", "/players/roles/0/attributes/home_row"),
                ("ignored-middle", "/interactions/list/pawn_move_two"),
                ("missing-directions", "/interactions/list/king_move"),
            ],
        ),
        (
            "checkers",
            [
                ("unused-player-attribute", "/players/roles/0/attributes/home_row"),
            ],
        ),
    ],
)
def test_the_published_games_on_boards_are_valid(name: str, findings: list[tuple[str, str]]) -> None:
    check = check_specification(read(name))
    assert check.problems == ()
    assert [(finding.code, finding.pointer) for finding in check.findings] == findings
