"""Small specifications of our own, for tests to change in one place."""

from __future__ import annotations

import copy
from typing import Any, Final

Json = dict[str, Any]

REMOVED: Final = object()

_OWN = "eq(entity.owner, state.current_player)"
_MOVE = ["set(board[start], null)", "set(board[target], entity)", "set(entity.pos, target)"]

# On 4x4: stones step ahead and become wheels on the far row, wheels go along rows and columns.
_TINY: Final[Json] = {
    "metadata": {"name": "Tiny", "description": "A game for tests", "version": "1", "tags": ["test"]},
    "players": {
        "count": {"min": 2, "max": 2},
        "roles": [
            {"name": "Light", "attributes": {"ahead": 1, "far": 3}},
            {"name": "Dark", "attributes": {"ahead": -1, "far": 0}},
        ],
    },
    "entity_schemas": {
        "types": {
            "Piece": {
                "attributes": {
                    "owner": {"type": "player_ref"},
                    "rank": {"type": "string", "default": "stone"},
                    "moved": {"type": "bool", "default": False},
                }
            }
        }
    },
    "topology": {"type": "discrete", "structure": "grid(4, 4)"},
    "state_schema": {
        "global": {
            "current_player": {"type": "player_ref", "initial": "player('Light')"},
            "count": {"type": "int", "initial": 0, "min": 0, "max": 3},
            "mode": {"type": "string", "initial": "calm", "values": ["calm", "wild"]},
        }
    },
    "setup": {
        "steps": [
            {
                "action": "spawn_entity",
                "schema": "Piece",
                "count": 4,
                "set_attributes": {"owner": "player('Light')"},
                "at": ["grid_nodes(0,0, 3,0)"],
            },
            {
                "action": "spawn_entity",
                "schema": "Piece",
                "set_attributes": {"owner": "player('Dark')", "rank": "wheel", "moved": True},
                "at": ["grid_nodes(0,3, 0,3)", "node(3, 3)"],
            },
        ]
    },
    "interactions": {
        "list": {
            "step": {
                "conditions": [
                    _OWN,
                    "eq(entity.rank, 'stone')",
                    "eq(board[target], null)",
                    "eq(target.x, start.x)",
                    "eq(sub(target.y, start.y), entity.owner.ahead)",
                ],
                "effects": [
                    *_MOVE,
                    "set(entity.moved, true)",
                    "if(eq(target.y, entity.owner.far), set(entity.rank, 'wheel'))",
                    "if(lt(state.count, 3), set(state.count, add(state.count, 1)))",
                ],
            },
            "slide": {
                "chainable": True,
                "conditions": [
                    _OWN,
                    "eq(entity.rank, 'wheel')",
                    "or(eq(board[target], null), ne(board[target].owner, entity.owner))",
                    "or(eq(target.x, start.x), eq(target.y, start.y))",
                    "path_clear(start, target)",
                    "or(eq(state.mode, 'wild'), entity.moved, gt(state.count, 0))",
                ],
                "effects": [
                    "if(ne(board[target], null), remove_entity(board[target]))",
                    *_MOVE,
                    "set(state.mode, 'wild')",
                ],
            },
        }
    },
    "game_flow": {
        "time_model": "turn_based",
        "phases": {"main": {"actors": "current_player", "allowed_actions": ["step", "slide"]}},
        "initial_phase": "main",
    },
    "presentation": {
        "profiles": {
            "ascii": {
                "entity_assets": [
                    {"conditions": "and(eq(entity.rank, 'stone'), eq(entity.owner.name, 'Light'))", "asset": "S"},
                    {"conditions": "eq(entity.schema, 'Piece')", "asset": "?"},
                ],
                "topology_assets": {"empty": "."},
            }
        }
    },
}

_NETWORK: Final[Json] = {
    "type": "network",
    "nodes": {"Bay": {"coast": True}, "Hill": {"coast": False}, "Mine": {}},
    "edges": [
        {"from": "Bay", "to": "Hill"},
        {"from": "Hill", "to": "Mine", "directed": True},
        {"from": "Bay", "to": "Mine", "kind": "special_connection"},
    ],
}


def tiny() -> Json:
    """A valid specification without any finding."""
    return copy.deepcopy(_TINY)


def network() -> Json:
    """The same game on a network of three places."""
    data = tiny()
    data["topology"] = copy.deepcopy(_NETWORK)
    data["setup"]["steps"] = [
        {
            "action": "spawn_entity",
            "schema": "Piece",
            "set_attributes": {"owner": "player('Light')"},
            "at": ["node('Bay')"],
        },
        {
            "action": "spawn_entity",
            "schema": "Piece",
            "set_attributes": {"owner": "player('Dark')", "rank": "wheel"},
            "at": ["node('Mine')"],
        },
    ]
    data["players"]["roles"][0]["attributes"] = {"home": "Bay"}
    data["players"]["roles"][1]["attributes"] = {"home": "Mine"}
    actions = data["interactions"]["list"]
    actions["step"]["conditions"][3:] = ["adjacent(start, target)", "not(target.coast)"]
    actions["step"]["effects"][4] = "if(ne(target.name, entity.owner.home), set(entity.rank, 'wheel'))"
    actions["slide"]["conditions"][3:5] = ["or(adjacent(start, target), special_connection(start, target))"]
    return data


def hexes() -> Json:
    """The same game on hexagons."""
    data = tiny()
    data["topology"] = {"type": "discrete", "structure": "hex_grid(4, 4)", "coordinate_system": "axial"}
    data["setup"]["steps"][0]["at"] = ["hex_nodes(0,0, 3,0)"]
    data["setup"]["steps"][1]["at"] = ["hex_nodes(0,3, 0,3)", "node('d4')"]
    actions = data["interactions"]["list"]
    actions["step"]["conditions"][3:] = ["eq(target.q, start.q)", "eq(sub(target.r, start.r), entity.owner.ahead)"]
    actions["slide"]["conditions"][3] = "adjacent(start, target)"
    return data


def track() -> Json:
    """The same game on a track of nine places, whose last is followed by the first."""
    return _along("x", {"type": "track", "length": 9, "loop": True}, "track_nodes(0, 3)", "node(6)", "node('i')")


def cube() -> Json:
    """The same game in three layers of three by three places."""
    places = ("grid_nodes(0,0,0, 0,2,0)", "grid_nodes(2,2,0, 2,2,0)", "node(1, 1, 1)", "node('c3B')")
    return _along("z", {"type": "discrete", "structure": "grid(3, 3, 3)"}, *places)


def _along(axis: str, topology: Json, *places: str) -> Json:
    """The same game, whose stones step along an axis, and whose wheels slide along any line."""
    data = tiny()
    data["topology"] = topology
    data["setup"]["steps"][0]["at"], data["setup"]["steps"][1]["at"] = list(places[:-2]), list(places[-2:])
    actions = data["interactions"]["list"]
    actions["step"]["conditions"][3:] = [
        "adjacent(start, target)",
        f"eq(sub(target.{axis}, start.{axis}), entity.owner.ahead)",
    ]
    actions["step"]["effects"][4] = f"if(eq(target.{axis}, entity.owner.far), set(entity.rank, 'wheel'))"
    del actions["slide"]["conditions"][3]
    return data


def at(data: Any, pointer: str) -> Any:
    """The value at a JSON Pointer."""
    for part in pointer.split("/")[1:]:
        data = data[int(part) if isinstance(data, list) else part]
    return data


def changed(pointer: str, value: object, data: Json | None = None) -> Json:
    """The specification with another value (or, for REMOVED, none) at a JSON Pointer; a list takes `-` for its end."""
    data = tiny() if data is None else copy.deepcopy(data)
    around, _, last = pointer.rpartition("/")
    inner = at(data, around)
    if isinstance(inner, list) and last == "-":
        inner.append(value)
    elif value is REMOVED:
        del inner[int(last) if isinstance(inner, list) else last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = value
    return data
