"""The interpreter of game descriptions, held to facts worked out by hand, and to what the paper says."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from tests.oracles.gdl_interpreter import Game, Piece, Position, WrongError, parse

TURN = "eq(entity.owner, state.current_player)"
MOVE = ["set(board[start], null)", "set(board[target], entity)", "set(entity.pos, target)"]


def specification(**sections: Any) -> dict[str, Any]:
    """A game on a board of 4 x 4 in which men go anywhere; each section can be another."""
    spec: dict[str, Any] = {
        "players": {
            "roles": [
                {"name": "Red", "attributes": {"forward": 1, "last": 3}},
                {"name": "Blue", "attributes": {"forward": -1, "last": 0}},
            ]
        },
        "entity_schemas": {
            "types": {"Piece": {"attributes": {"owner": {"type": "player_ref"}, "rank": {"type": "string"}}}}
        },
        "topology": {"type": "discrete", "structure": "grid(4, 4)"},
        "state_schema": {"global": {"current_player": {"type": "player_ref", "initial": "player('Red')"}}},
        "setup": {"steps": []},
        "interactions": {"list": {"go": {"conditions": [TURN, "ne(start, target)"], "effects": MOVE}}},
        "game_flow": {"phases": {"main": {"actors": "current_player", "allowed_actions": ["go"]}}},
    }
    return copy.deepcopy({**spec, **sections})


def game(conditions: list[str], effects: list[str] | None = None, **sections: Any) -> Game:
    """A game with one action, `go`."""
    about = {"conditions": conditions, "effects": MOVE if effects is None else effects, "chainable": True}
    return Game(specification(interactions={"list": {"go": about}}, **sections))


def piece(text: str) -> Piece:
    owner, rank = text.split()
    return Piece("Piece", (("owner", owner), ("rank", rank)))


def position(board: dict[str, str], player: str = "Red", **state: Any) -> Position:
    return Position({label: piece(text) for label, text in board.items()}, {"phase": "main", **state}, player)


def targets(conditions: list[str], board: dict[str, str], start: str = "b2", **sections: Any) -> set[str]:
    """Where the piece on `start` may go if these conditions hold."""
    found = game(conditions, **sections).moves(position(board))
    return {target for source, target in found if source == start}


# What the published engine does otherwise


def test_own_pieces_cannot_be_captured() -> None:
    found = targets(
        ["ne(board[target].owner, entity.owner)", "eq(target.y, start.y)"],
        {"b2": "Red man", "c2": "Red man", "d2": "Blue man"},
    )
    assert found == {"a2", "d2"}


def test_a_piece_that_comes_to_the_last_row_is_promoted() -> None:
    rules = game([TURN], [*MOVE, "if(eq(target.y, entity.owner.last), set(entity.rank, 'king'))"])
    after = rules.moves(position({"b2": "Red man"}))
    assert after["b2", "c4"].after.board == {"c4": piece("Red king")}
    assert after["b2", "c3"].after.board == {"c3": piece("Red man")}
    after = rules.moves(position({"b2": "Blue man"}, "Blue"))
    assert after["b2", "c1"].after.board == {"c1": piece("Blue king")}


def test_what_is_not_known_is_an_error() -> None:
    for condition in ["eq(entity.size, 1)", "maximum(1, 2)", "eq(traget.x, 1)", "eq(state.mood, 1)", "eq(1, 1"]:
        with pytest.raises((WrongError, KeyError)):
            game([condition]).moves(position({"b2": "Red man"}))


# Expressions


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1", 1),
        ("-3", -3),
        ("'a, b) ]'", "a, b) ]"),
        ('"it\'s"', "it's"),
        ("true", True),
        ("null", None),
        ("eq(1, 1)", True),
        ("eq(1, true)", False),
        ("eq(null, null)", True),
        ("eq(board[target], null)", True),
        ("eq(board[target].owner.name, null)", True),
        ("eq(board[target].owner, entity.owner)", False),
        ("ne(board[target].owner, entity.owner)", True),
        ("gt(2, 1)", True),
        ("gt(1, 1)", False),
        ("gte(1, 1)", True),
        ("lt(1, 2)", True),
        ("lt(board[target].rank, 2)", False),
        ("not(lt(board[target].rank, 2))", True),
        ("lte(2, 1)", False),
        ("and(true, true, false)", False),
        ("and(true)", True),
        ("or(false, false, true)", True),
        ("abs(sub(2, 5))", 3),
        ("add(1, 2, 3)", 6),
        ("mul(2, 3, -4)", -24),
        ("mod(-1, 4)", 3),
        ("sub(1, board[target].rank)", None),
        ("start.x", 1),
        ("start.y", 1),
        ("target.name", "d4"),
        ("entity.owner.name", "Red"),
        ("entity.schema", "Piece"),
        ("entity.rank", "man"),
        ("entity.pos.x", 1),
        ("state.phase", "main"),
        ("eq(state.current_player, player('Red'))", True),
        ("eq(other_player(state.current_player), player('Blue'))", True),
        ("eq(opponent_of(player('Blue')), player('Red'))", True),
        ("eq(mid_pos(start, target), node(2, 2))", True),
        ("eq(mid_pos(start, node(2, 2)), null)", True),
        ("board[mid_pos(start, node(2, 2))]", None),
        ("board[node('a1')].rank", "king"),
        ("board['a1'].rank", "king"),
        ("path_clear(start, target)", True),
        ("path_clear(node(0, 0), target)", False),
        ("path_clear(node(0, 0), node(1, 1))", True),
        ("path_clear(start, node(3, 2))", False),
        ("path_clear(start, start)", True),
        ("adjacent(start, node(2, 2))", True),
        ("adjacent(start, target)", False),
        ("adjacent(start, start)", False),
        ("adjacent(start, mid_pos(start, node(2, 2)))", False),
        ("path_clear(start, node(0, 4))", False),
        ("mid_pos(start, node('z9'))", None),
        ("special_connection(start, node(2, 2))", False),
    ],
)
def test_expressions_have_the_value_that_the_paper_gives_them(expression: str, value: object) -> None:
    rules = Game(specification())
    at = position({"a1": "Blue king", "b2": "Red man"})
    nodes = rules.topology.nodes
    found = rules.value(parse(expression))(rules.world(at, nodes["b2"], nodes["d4"]))
    assert found == value
    assert type(found) is type(value)


def test_hexagons_have_six_neighbours_and_three_lines() -> None:
    board = {"b2": "Red man"}
    hexagons = {"type": "discrete", "structure": "hex_grid(4, 4)", "coordinate_system": "axial"}
    assert targets(["adjacent(start, target)"], board, topology=hexagons) == {"a2", "c2", "b1", "b3", "c1", "a3"}
    lines = {"a2", "c2", "d2", "b1", "b3", "b4", "a3", "c1", "b2"}
    assert targets(["path_clear(start, target)"], board, topology=hexagons) == lines
    blocked = {**board, "c2": "Blue man"}
    assert targets(["path_clear(start, target)"], blocked, topology=hexagons) == lines - {"d2"}
    two = targets(["eq(board[mid_pos(start, target)].rank, 'man')"], blocked, topology=hexagons)
    assert two == {"d2", "b2"}  # the middle of b2 and b2 is b2 itself


def test_a_network_has_its_edges_both_ways_unless_they_are_directed() -> None:
    network = {
        "type": "network",
        "nodes": {name: {"wet": name == "c"} for name in "abcd"},
        "edges": [
            {"from": "a", "to": "b"},
            {"from": "b", "to": "c", "directed": True},
            {"from": "a", "to": "d", "kind": "special_connection"},
        ],
    }

    def found(start: str, condition: str) -> set[str]:
        return targets([condition], {start: "Red man"}, start, topology=network)

    assert [found(start, "adjacent(start, target)") for start in "abcd"] == [{"b"}, {"a", "c"}, set(), set()]
    special = [found(start, "special_connection(start, target)") for start in "abcd"]
    assert special == [{"d"}, set(), set(), {"a"}]
    assert found("a", "target.wet") == {"c"}
    assert found("a", "eq(target.name, 'b')") == {"b"}


# Effects


def test_effects_run_in_their_order_and_see_what_was_done_before() -> None:
    effects = [*MOVE, "if(eq(board[start], null), set(entity.rank, 'light'), set(entity.rank, 'heavy'))"]
    assert game([TURN], effects).moves(position({"b2": "Red man"}))["b2", "b3"].after.board == {
        "b3": piece("Red light")
    }
    late = [effects[-1], *MOVE]
    assert game([TURN], late).moves(position({"b2": "Red man"}))["b2", "b3"].after.board == {"b3": piece("Red heavy")}


def test_an_entity_is_removed_wherever_it_stands() -> None:
    board = {"b2": "Red man", "c3": "Blue man"}
    gone = game([TURN, "eq(target.x, 3)"], ["remove_entity(entity)"])
    assert gone.moves(position(board))["b2", "d1"].after.board == {"c3": piece("Blue man")}
    both = game([TURN], ["set(board[node(0, 0)], entity)", "remove_entity(entity)"])
    assert both.moves(position(board))["b2", "d1"].after.board == {"c3": piece("Blue man")}
    nothing = game([TURN], ["remove_entity(board[target])"])
    assert nothing.moves(position(board))["b2", "d1"].after.board == position(board).board


def test_the_turn_passes_unless_an_effect_says_whose_it_is() -> None:
    def player(*effects: str) -> str:
        return game([TURN], [*MOVE, *effects]).moves(position({"b2": "Red man"}))["b2", "b3"].after.player

    assert player() == "Blue"
    assert player("set(state.current_player, entity.owner)") == "Red"
    assert player("set(state.current_player, other_player(entity.owner))") == "Blue"
    assert player("if(eq(target.y, 1), set(state.current_player, entity.owner))") == "Blue"


def test_only_the_player_whose_turn_it_is_acts() -> None:
    rules = game(["ne(start, target)"])
    assert {start for start, _ in rules.moves(position({"b2": "Red man", "c3": "Blue man"}, "Blue"))} == {"c3"}


def test_the_first_action_whose_conditions_hold_is_the_one() -> None:
    actions = {
        "high": {"conditions": ["gt(target.y, 2)"], "effects": MOVE},
        "any": {"conditions": [], "effects": ["remove_entity(entity)"], "chainable": True},
    }
    flow = {"phases": {"main": {"actors": "current_player", "allowed_actions": ["high", "any"]}}}
    found = Game(specification(interactions={"list": actions}, game_flow=flow)).moves(position({"b2": "Red man"}))
    assert len(found) == 16
    assert {target for (_, target), outcome in found.items() if outcome.action == "high"} == {"a4", "b4", "c4", "d4"}
    flow["phases"]["main"]["allowed_actions"] = ["any", "high"]
    found = Game(specification(interactions={"list": actions}, game_flow=flow)).moves(position({"b2": "Red man"}))
    assert {(outcome.action, outcome.chainable) for outcome in found.values()} == {("any", True)}


def test_from_the_hand_one_is_placed_and_an_optional_action_leaves_those_after_it() -> None:
    place = {"conditions": ["eq(entity.pos, null)", "eq(target.x, 0)"], "effects": MOVE[1:], "from_hand": True}
    actions = {"place": {**place, "optional": True}, "throw": {**place, "effects": []}, "go": {"effects": MOVE}}
    flow = {"phases": {"main": {"actors": "current_player", "allowed_actions": [*actions]}}}
    rules = Game(specification(interactions={"list": actions}, game_flow=flow))
    man = piece("Red man")
    at = Position({"b2": man}, {"phase": "main"}, "Red", {man: 2, piece("Blue man"): 1})
    found = [(way, each.action, each.after) for way, each in rules.outcomes(at) if way[1] == "a3"]
    after = replace(at, player="Blue", hands={man: 1, piece("Blue man"): 1})
    assert found == [
        (("b2", "a3"), "go", replace(at, board={"a3": man}, player="Blue")),
        (("*", "a3"), "place", replace(after, board={"b2": man, "a3": man})),
        (("*", "a3"), "throw", after),
    ]


def test_a_network_has_each_line_that_joins_two_places() -> None:
    network = {"type": "network", "lines": ["p q r", "p s t u r"], "edges": []}
    board = {"p": "Red man", "q": "Blue man"}
    assert "r" in targets(["path_clear(start, target)"], board, "p", topology=network)
    assert "r" not in targets(["path_clear(start, target)"], {**board, "t": "Blue man"}, "p", topology=network)
    assert targets(["eq(mid_pos(start, target), node('t'))"], {"s": "Red man"}, "s", topology=network) == {"u"}


def test_a_phase_allows_its_own_actions_only() -> None:
    actions = {
        "open": {"conditions": ["ne(start, target)"], "effects": [*MOVE, "set(state.phase, 'late')"]},
        "close": {"conditions": ["eq(start, target)"], "effects": ["set(state.phase, 'early')"]},
    }
    phases = {
        "early": {"actors": "current_player", "allowed_actions": ["open"]},
        "late": {"actors": "current_player", "allowed_actions": ["close"]},
    }
    rules = Game(specification(interactions={"list": actions}, game_flow={"phases": phases, "initial_phase": "early"}))
    first = rules.moves(position({"b2": "Red man", "c3": "Blue man"}, phase="early"))
    assert {outcome.action for outcome in first.values()} == {"open"}
    second = rules.moves(first["b2", "a1"].after)
    assert {pair: outcome.action for pair, outcome in second.items()} == {("c3", "c3"): "close"}
    assert second["c3", "c3"].after.state == {"phase": "early"}


# Chains


def jumps(*more: str) -> Game:
    middle = "board[mid_pos(start, target)]"
    conditions = [
        TURN,
        "eq(abs(sub(target.x, start.x)), 2)",
        "eq(board[target], null)",
        f"ne({middle}.owner, entity.owner)",
        f"ne({middle}, null)",
    ]
    grid = {"type": "discrete", "structure": "grid(7, 1)"}
    return game(conditions, [f"remove_entity({middle})", *MOVE, *more], topology=grid)


def test_chains_are_all_paths_of_two_steps_and_more() -> None:
    at = position({"a1": "Red man", "b1": "Blue man", "d1": "Blue man", "f1": "Blue man"})
    found = jumps().chains(at)
    assert set(found) == {("a1", "c1", "e1"), ("a1", "c1", "e1", "g1")}
    last = found["a1", "c1", "e1", "g1"][-1].after
    assert (last.board, last.player) == ({"g1": piece("Red man")}, "Blue")


def test_a_path_that_comes_back_to_a_position_is_not_gone_on_with() -> None:
    grid = {"type": "discrete", "structure": "grid(2, 1)"}
    rules = game([TURN, "ne(start, target)"], topology=grid)
    assert set(rules.chains(position({"a1": "Red man"}))) == {("a1", "b1", "a1")}


# Other words for positions


def test_positions_are_the_same_in_identifiers_and_back() -> None:
    variables = {
        "current_player": {"type": "player_ref", "initial": "player('Blue')"},
        "count": {"type": "int", "initial": -1},
        "open": {"type": "bool", "initial": False},
        "last": {"type": "player_ref", "initial": None},
    }
    rules = Game(specification(state_schema={"global": variables}))
    kinds = {"G:M": ("Red", "Piece", {"rank": "man"}), "g:m": ("Blue", "Piece", {"rank": "man"})}
    at = rules.from_identifiers({"a1": "G:M", "b2": "g:m"}, {"last": "Red", "open": "true"}, "Red", kinds)
    assert at == position({"a1": "Red man", "b2": "Blue man"}, count=-1, open=True, last="Red")
    text = {"count": "-1", "open": "true", "last": "Red", "phase": "main"}
    assert rules.to_identifiers(at, kinds) == ({"a1": "G:M", "b2": "g:m"}, text)
    assert rules.start() == Position({}, {"count": -1, "open": False, "last": None, "phase": "main"}, "Blue")
