"""What a valid specification is read as, and which values its variables and attributes can have."""

from __future__ import annotations

import json

from ggn_store.api.loading.incoming import is_specification
from ggn_store.api.loading.specifications import compile_specification
from ggn_store.gdl.check import check_specification, read_specification
from ggn_store.gdl.domains import domains_of
from ggn_store.gdl.specification import Specification
from ggn_store.model.documents.board import parse_shape
from ggn_store.model.documents.geometry import Lattice, Network
from tests.support.gdl_tiny import REMOVED, Json, changed, hexes, network, tiny


def read(data: Json) -> Specification:
    return read_specification(json.dumps(data))


def test_the_values_of_a_specification() -> None:
    found = read(tiny())
    assert (found.title, found.description) == ("Tiny", "A game for tests")
    assert [(player.name, player.attributes) for player in found.players] == [
        ("Light", {"ahead": 1, "far": 3}),
        ("Dark", {"ahead": -1, "far": 0}),
    ]
    attributes = found.schemas["Piece"].attributes
    assert [(each.name, each.type, each.initial, each.values) for each in attributes.values()] == [
        ("owner", "player_ref", None, None),
        ("rank", "string", "stone", None),
        ("moved", "bool", False, None),
    ]
    assert found.first_player == "Light"
    assert [(each.name, each.type, each.initial, each.values) for each in found.variables.values()] == [
        ("count", "int", 0, (0, 1, 2, 3)),
        ("mode", "string", "calm", ("calm", "wild")),
    ]
    assert [(placement.attributes, placement.nodes) for placement in found.setup] == [
        ({"owner": "Light", "rank": "stone", "moved": False}, ("a1", "b1", "c1", "d1")),
        ({"owner": "Dark", "rank": "wheel", "moved": True}, ("a4", "d4")),
    ]
    assert [
        (action.name, len(action.conditions), len(action.effects), action.chainable) for action in found.actions
    ] == [
        ("step", 5, 6, False),
        ("slide", 6, 5, True),
    ]
    assert [(phase.name, phase.allowed_actions, phase.actors) for phase in found.phases] == [
        ("main", ("step", "slide"), "current_player")
    ]
    assert found.initial_phase == "main"
    assert [(asset.condition.text, asset.asset) for asset in found.assets[0].assets][1] == (
        "eq(entity.schema, 'Piece')",
        "?",
    )
    assert [(action.name, action.chainable) for action in found.actions] == [("step", False), ("slide", True)]
    assert {player.name: player.attributes["ahead"] for player in found.players}["Dark"] == -1


def test_clauses_know_where_they_stand() -> None:
    text = json.dumps(tiny(), indent=1)
    clause = read_specification(text).allowed_actions()[0].conditions[1]
    assert clause.place.pointer == "/interactions/list/step/conditions/1"
    line = text.split("\n")[(clause.place.line or 0) - 1]
    assert line[(clause.place.column or 0) - 1 :] == "\"eq(entity.rank, 'stone')\","


def test_boards_have_places() -> None:
    assert read(tiny()).topology.geometry == Lattice(parse_shape("4x4"))
    hexagons = read(hexes()).topology
    assert hexagons.geometry == Lattice(parse_shape("4x4"), hexagonal=True)
    assert hexagons.attributes["c4"] == {"name": "c4", "x": 2, "y": 3, "q": 2, "r": 3}
    assert read(tiny()).topology.geometry.places[:6] == ("a1", "b1", "c1", "d1", "a2", "b2")


def test_networks_have_edges() -> None:
    found = read(network()).topology
    assert found.attributes == {
        "Bay": {"name": "Bay", "coast": True},
        "Hill": {"name": "Hill", "coast": False},
        "Mine": {"name": "Mine"},
    }
    ordinary = {("Bay", "Hill"), ("Hill", "Bay"), ("Hill", "Mine")}
    special = {("Bay", "Mine"), ("Mine", "Bay")}
    assert found.geometry == Network(("Bay", "Hill", "Mine"), frozenset(ordinary), frozenset(special))
    data = network()
    data["topology"]["directed"] = True
    data["topology"]["edges"][1]["directed"] = False
    both_ways = {("Bay", "Hill"), ("Hill", "Mine"), ("Mine", "Hill")}
    geometry = Network(("Bay", "Hill", "Mine"), frozenset(both_ways), frozenset({("Bay", "Mine")}))
    assert read(data).topology.geometry == geometry


def test_what_may_be_left_out() -> None:
    data = changed("/state_schema", {})
    data["game_flow"] = {"phases": {"only": {"allowed_actions": ["step", "slide"]}}}
    del data["setup"], data["presentation"], data["players"]["count"]
    data["interactions"]["list"]["slide"]["conditions"].pop()
    data["interactions"]["list"]["slide"]["effects"].pop()
    data["interactions"]["list"]["step"]["effects"].pop()
    found = read(data)
    # The first role moves first, and the only phase is the first one.
    assert (found.first_player, found.initial_phase, found.setup) == ("Light", "only", ())
    assert found.phases[0].actors == "current_player"


def test_the_phase_and_the_player_to_begin_with_are_those_that_are_named() -> None:
    data = changed("/game_flow/phases/late", {"allowed_actions": ["slide"]})
    data["game_flow"]["initial_phase"] = "late"
    data["state_schema"]["global"]["current_player"]["initial"] = "player('Dark')"
    assert (read(data).initial_phase, read(data).first_player) == ("late", "Dark")


def test_what_values_variables_and_attributes_can_have() -> None:
    data = changed("/state_schema/global/last", {"type": "string"})
    data["state_schema"]["global"] |= {
        "winner": {"type": "player_ref"},
        "turns": {"type": "int", "initial": 5},
        "flag": {"type": "bool", "initial": True},
    }
    data["interactions"]["list"]["slide"]["effects"] += [
        "set(state.last, board[target].rank)",
        "if(eq(state.turns, 5), set(state.turns, 7), set(state.turns, mul(state.winner.far, 3)))",
    ]
    found = domains_of(read(data))
    assert found.unbounded == ()
    assert found.variables == {
        "count": (0, 1, 2, 3),
        "flag": (False, True),
        "last": (None, "stone", "wheel"),
        "mode": ("calm", "wild"),
        "phase": ("main",),
        "turns": (0, 5, 7, 9),
        "winner": (None, "Dark", "Light"),
    }
    assert found.attributes == {
        ("Piece", "owner"): ("Dark", "Light"),
        ("Piece", "rank"): ("stone", "wheel"),
        ("Piece", "moved"): (False, True),
    }


def test_the_largest_numbers_and_boards_are_read() -> None:
    data = changed("/players/roles/0/attributes/big", 10**9)
    data["players"]["roles"][1]["attributes"]["big"] = -(10**9)
    data["topology"]["structure"] = " grid( 32 ,32 ) "
    assert read(data).topology.geometry == Lattice(parse_shape("32x32"))


def test_a_specification_is_told_from_a_document_of_moves() -> None:
    assert is_specification(tiny())
    assert is_specification(changed("/metadata", REMOVED))
    assert not is_specification({"C:P": {"a1": {"a2": []}}})
    assert not is_specification([*tiny()])


def test_lines_name_the_places_of_a_network() -> None:
    data = network()
    data["topology"] = {"type": "network", "lines": ["Bay Mine", "Mine Hill"]}
    data["interactions"]["list"]["step"]["conditions"] = ["eq(entity.owner, state.current_player)"]
    data["setup"]["steps"] = [{**data["setup"]["steps"][0], "at": ["nodes('Hill Bay')"]}]
    found = read(data)
    assert found.topology.attributes == {name: {"name": name} for name in ("Bay", "Mine", "Hill")}
    assert [placement.nodes for placement in found.setup] == [("Hill", "Bay")]


def test_a_side_has_the_types_that_it_is_given() -> None:
    data = tiny()
    data["entity_schemas"]["types"]["Wall"] = data["entity_schemas"]["types"]["Piece"]
    data["setup"]["steps"].append(
        {
            "action": "spawn_entity",
            "schema": "Wall",
            "set_attributes": {"owner": "player('Dark')"},
            "at": ["node('b2')"],
        }
    )
    owners = domains_of(read(data)).attributes
    assert (owners["Wall", "owner"], owners["Piece", "owner"]) == (("Dark",), ("Dark", "Light"))
    data["interactions"]["list"]["step"]["effects"].append(
        "if(eq(board[target].schema, 'Wall'), set(board[target].owner, entity.owner))"
    )
    assert domains_of(read(data)).attributes["Wall", "owner"] == ("Dark", "Light")


def test_a_variable_of_each_player_is_kept_for_each() -> None:
    data = changed("/state_schema/per_player", {"used": {"type": "bool", "initial": False}})
    step = data["interactions"]["list"]["step"]
    step["conditions"].append("not(other_player(entity.owner).used)")
    step["effects"].append("set(entity.owner.used, not(entity.owner.used))")
    found = read(data)
    assert {"used_Light", "used_Dark"} <= found.variables.keys()
    document = compile_specification(json.dumps(data)).document
    asked = {
        (piece.identifier.islower(), *possibility.guards, "sets", *possibility.effects.state)
        for piece in document.pieces
        for *_, possibility in piece.entries()
        if possibility.origin and possibility.origin.action == "step" and possibility.effects
    }
    mine, theirs = {"used_Light"}, {"used_Dark"}
    for is_second, *names in asked:
        guards, changes = names[: names.index("sets")], names[names.index("sets") + 1 :]
        own, other = (theirs, mine) if is_second else (mine, theirs)
        assert other <= set(guards)
        assert own <= set(changes)
        assert not other & set(changes)
    assert {is_second for is_second, *_ in asked} == {False, True}


def test_a_phase_can_be_of_one_player() -> None:
    data = changed("/game_flow/phases/main/actors", "player('Dark')")
    assert [phase.actor for phase in read(data).phases][:1] == ["Dark"]
    [problem] = check_specification(changed("/game_flow/phases/main/actors", "player('Drak')")).problems
    assert problem.message == 'there is no player "Drak": did you mean "Dark"?'
