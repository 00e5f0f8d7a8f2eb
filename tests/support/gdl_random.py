"""Random game descriptions on tiny boards: what the language allows, whether or not it makes a game.

Nothing here uses ggn_store.
"""

import random
from collections.abc import Callable
from typing import Any

PLAYERS = ("Red", "Blue")
RANKS = ("man", "king")
SCHEMAS = ("Piece", "Stone")
PHASES = ("early", "late")
ACTORS = (*["current_player"] * 4, "player('Blue')")
TURNS = ("entity.owner", "other_player(entity.owner)", "state.current_player")
TOPOLOGIES: tuple[dict[str, Any], ...] = (
    {"type": "discrete", "structure": "grid(3, 2)"},
    {"type": "discrete", "structure": "grid(4, 1)"},
    {"type": "discrete", "structure": "hex_grid(3, 2)"},
    {
        "type": "network",
        "nodes": {name: {"depth": number, "width": number % 2} for number, name in enumerate("pqrst")},
        "edges": [
            {"from": "p", "to": "q"},
            {"from": "q", "to": "r", "directed": True},
            {"from": "r", "to": "s"},
            {"from": "s", "to": "t", "kind": "special_connection"},
            {"from": "t", "to": "p", "kind": "special_connection", "directed": True},
        ],
    },
    {
        "type": "network",
        "nodes": {name: {"depth": number, "width": number % 2} for number, name in enumerate("pqrstu")},
        "lines": ["p q r", "s t r", "q t u"],
    },
    {"type": "discrete", "structure": "grid(3, 1, 2)"},
    {"type": "track", "length": 4},
    {"type": "track", "length": 4, "loop": True},
    {
        "type": "network",
        "nodes": {name: {"depth": number, "width": number % 2} for number, name in enumerate("pqrst")},
        "directed": True,
        "edges": [{"from": "s", "to": "p"}, {"from": "p", "to": "q", "directed": False}],
        "lines": ["p q r", "r s t p"],
    },
    {"type": "discrete", "structure": "grid(3, 3)"},
    {"type": "discrete", "structure": "hex_grid(3, 3)"},
    {"type": "discrete", "structure": "grid(3, 2, 2)"},
    {"type": "track", "length": 5, "loop": True},
)


DEFINITIONS = {
    "more(a, b)": "add(a, b, 1)",
    "twice_more(first, second)": "more(more(second, first), mul(2, first))",
    "ranked(which, rank)": "and(ne(which, null), eq(which.rank, rank))",
    "mark(which, rank)": "if(not(ranked(which, rank)), set(which.rank, rank), set(which.moved, true))",
}


class Writer:
    """Writes expressions of a wanted type by chance, shallower the deeper they stand."""

    def __init__(self, chance: random.Random, topology: dict[str, Any]) -> None:
        self.chance = chance
        self.is_network = topology["type"] == "network"
        self.has_lines = not self.is_network or "lines" in topology
        structure = topology.get("structure", "")
        self.names = list(topology["nodes"]) if self.is_network else ["a1", "b1", "c1"]
        self.known = ["start", "target", "target"]
        self.schemas = SCHEMAS[: chance.choice((1, 1, 2))]
        # How a rectangle is called, its corners at a number, and the axes.
        self.rectangle = ("hex_nodes" if "hex" in structure else "grid_nodes", "{0},0, {0},0")
        self.axes: tuple[str, ...] = ("depth", "width") if self.is_network else ("x", "y")
        if structure.count(",") == 2:
            self.rectangle = ("grid_nodes", "{0},0,1, {0},0,1")
            self.names, self.axes = ["a1A", "c1A", "b1B"], ("x", "z")
        elif topology["type"] == "track":
            self.rectangle = ("track_nodes", "{0}, {0}")
            self.names, self.axes = ["a", "b", "d"], ("x",)
        # The coordinates of a place beside the target, which may be off the board.
        self.beside = () if self.is_network else ("x", "y", "z")[: structure.count(",") + 1]

    def places(self, number: int) -> list[str]:
        """The place of the piece with this number at the start."""
        if self.is_network:
            return [f"node('{self.names[number]}')"]
        name, corners = self.rectangle
        return [f"{name}({corners.format(number)})"]

    def one(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def chosen(self, kind: Callable[[int], str], depth: int) -> str:
        """A value of a kind, now and then one of two."""
        if depth > 0 and self.chance.random() < 0.1:
            return f"if({self.condition(1)}, {kind(depth - 1)}, {kind(depth - 1)})"
        return kind(depth)

    def node(self, depth: int) -> str:
        if self.beside and self.chance.random() < 0.2:
            steps = (f"add(target.{axis}, {self.one('0', '1', '-1', '2')})" for axis in self.beside)
            return f"node({', '.join(steps)})"
        fixed = f"node('{self.chance.choice(self.names)}')"
        if not self.has_lines or depth <= 0 or self.chance.random() < 0.6:
            return self.one(*self.known, fixed)
        return f"mid_pos({self.node(depth - 1)}, {self.node(depth - 1)})"

    def entity(self, depth: int) -> str:
        if self.has_lines and depth > 0 and self.chance.random() < 0.2:
            return f"only_between({self.node(depth - 1)}, {self.node(depth - 1)})"
        return self.one("entity", f"board[{self.node(depth - 1)}]", "board[target]")

    def player(self, depth: int) -> str:
        if depth > 0 and self.chance.random() < 0.3:
            return f"{self.one('other_player', 'opponent_of')}({self.player(depth - 1)})"
        owner = f"{self.entity(depth - 1)}.owner"
        return self.one(
            owner, owner, f"{owner}.ally", "state.current_player", "state.who", f"player('{self.one(*PLAYERS)}')"
        )

    def number(self, depth: int) -> str:
        if depth > 0 and self.chance.random() < 0.5:
            name = self.one("sub", "add", "mul", "mod", "abs")
            if name == "abs":
                return f"abs({self.number(depth - 1)})"
            second = self.one("2", "3", "-2") if name == "mod" else self.number(depth - 1)
            return f"{name}({self.number(depth - 1)}, {second})"
        if self.has_lines and depth > 0 and self.chance.random() < 0.2:
            return f"count_on_line({self.node(depth - 1)}, {self.node(depth - 1)})"
        if depth > 0 and self.chance.random() < 0.1:
            return f"twice_more({self.number(depth - 1)}, {self.number(depth - 1)})"
        place = self.one(*self.known, f"{self.entity(0)}.pos", self.chosen(self.node, 1))
        return self.one(
            f"{place}.{self.one(*self.axes)}",
            self.one("-1", "0", "1", "2"),
            "entity.owner.way",
            "state.count",
            f"{self.player(0)}.points",
        )

    def text(self, depth: int) -> str:
        of_player = f"if(eq({self.player(depth - 1)}.name, 'Red'), 'man', 'king')"
        return self.one(f"{self.entity(depth - 1)}.rank", *(f"'{rank}'" for rank in RANKS), "state.mode", of_player)

    def condition(self, depth: int) -> str:
        if depth > 1 and self.chance.random() < 0.4:
            name = self.one("and", "or", "not")
            count = 1 if name == "not" else self.chance.choice((1, 2, 2, 3))
            return f"{name}({', '.join(self.condition(depth - 1) for _ in range(count))})"
        return self.chance.choice(
            (self.equality, self.equality, self.comparison, self.relation, self.comparison, self.flag)
        )(depth)

    def equality(self, depth: int) -> str:
        name = self.one("eq", "ne")
        if self.chance.random() < 0.3:
            return f"{name}({self.entity(depth - 1)}, null)"
        if self.chance.random() < 0.1:
            return f"{name}({self.entity(depth - 1)}, {self.entity(depth - 1)})"
        kind = self.chance.choice((self.player, self.text, self.number, self.node))
        return f"{name}({kind(depth - 1)}, {self.chosen(kind, depth - 1)})"

    def comparison(self, depth: int) -> str:
        return f"{self.one('gt', 'lt', 'gte', 'lte')}({self.number(depth - 1)}, {self.chosen(self.number, depth - 1)})"

    def relation(self, depth: int) -> str:
        lines = ["path_clear", "path_clear", "path_clear of", "in_row"] if self.has_lines else []
        name = self.one("adjacent", "special_connection", *lines)
        if name == "in_row":
            return f"in_row({self.node(depth - 1)}, {self.one('2', '3')})"
        player = f", {self.player(depth - 1)}" if name == "path_clear of" else ""
        return f"{name.split()[0]}({self.node(depth - 1)}, {self.node(depth - 1)}{player})"

    def flag(self, depth: int) -> str:
        if self.chance.random() < 0.2:
            return f"ranked({self.entity(depth - 1)}, {self.text(0)})"
        if self.chance.random() < 0.2:
            return f"{self.player(depth - 1)}.used"
        if self.chance.random() < 0.2:
            return f"eq({self.entity(depth - 1)}.schema, '{self.one(*self.schemas)}')"
        return self.one("state.open", f"eq({self.entity(depth - 1)}.moved, true)", "eq(state.mode, 'man')")

    def effect(self, depth: int) -> str:
        if depth > 0 and self.chance.random() < 0.3:
            count = self.chance.choice((1, 1, 2))
            return f"if({self.condition(depth)}, {', '.join(self.effect(depth - 1) for _ in range(count))})"
        entity = self.entity(1)
        return self.one(
            f"set(board[{self.node(1)}], {self.one('null', 'entity', f'board[{self.node(0)}]')})",
            f"set({entity}.rank, {self.chosen(self.text, 1)})",
            f"set({entity}.moved, {self.one('true', 'false', 'state.open')})",
            f"set({entity}.owner, {self.one('entity.owner', 'other_player(entity.owner)', 'state.current_player')})",
            f"remove_entity({self.chosen(self.entity, 1)})",
            f"set(state.open, {self.one('true', 'false', 'not(state.open)')})",
            f"set(state.count, mod({self.number(1)}, 3))",
            f"set(state.who, {self.chosen(self.player, 1)})",
            f"set(state.mode, {self.text(1)})",
            f"set(state.current_player, {self.one(*TURNS)})",
            f"set(state.phase, {self.one(*map(repr, PHASES))})",
            f"mark({entity}, {self.text(1)})",
            f"set({self.player(1)}.used, {self.one('true', 'not(entity.owner.used)')})",
            f"set({self.player(1)}.points, mod({self.number(1)}, 3))",
            f"set({self.player(1)}.ally, {self.player(1)})",
            f"set({entity}.pos, {self.node(1)})",
        )

    def action(self) -> dict[str, Any]:
        from_hand = self.chance.random() < 0.2
        self.known = ["target", "entity.pos"] if from_hand else ["start", "target", "target"]
        conditions = [self.condition(self.chance.choice((1, 2, 3))) for _ in range(self.chance.choice((0, 1, 1, 2, 3)))]
        if self.chance.random() < 0.7:
            conditions.insert(0, "eq(entity.owner, state.current_player)")
        effects = [self.effect(2) for _ in range(self.chance.choice((0, 1, 2, 3, 5)))]
        if self.chance.random() < 0.7:
            moving = ["set(board[start], null)", "set(board[target], entity)"][from_hand:]
            effects[self.chance.randint(0, len(effects)) : 0] = moving
        return {
            "conditions": conditions,
            "effects": effects or ["set(state.open, true)"],
            "chainable": self.chance.random() < 0.5,
            "from_hand": from_hand,
            "optional": self.chance.random() < 0.3,
        }


def specification(seed: object) -> dict[str, Any]:
    """A description, always the same for a seed."""
    chance = random.Random(str(seed))
    topology = chance.choice(TOPOLOGIES)
    writer = Writer(chance, topology)
    actions = {f"act_{number}": writer.action() for number in range(chance.choice((1, 2, 3)))}
    names = list(actions)
    phases = {phase: chance.sample(names, chance.randint(1, len(names))) for phase in PHASES}
    variables: dict[str, Any] = {
        "current_player": {"type": "player_ref", "initial": "player('Red')"},
        "open": {"type": "bool", "initial": False},
        "count": {"type": "int", "initial": 0, "min": 0, "max": 2},
        "who": {"type": "player_ref", "initial": None},
        "mode": {"type": "string", "initial": "man", "values": list(RANKS)},
    }
    setup = [
        {
            "action": "spawn_entity",
            "schema": schema,
            "count": 1,
            "set_attributes": {"owner": f"player('{player}')", "rank": rank},
            "at": writer.places(number) if schema == "Piece" else ["hand"],
        }
        for number, (player, rank) in enumerate(zip(PLAYERS, RANKS, strict=True))
        for schema in writer.schemas
    ]
    attributes = {
        "owner": {"type": "player_ref"},
        "rank": {"type": "string", "default": "man", "values": list(RANKS)},
        "moved": {"type": "bool", "default": False},
    }
    return {
        "metadata": {"name": "Random", "description": "By chance.", "version": "1.0"},
        "players": {
            "count": {"min": 2, "max": 2},
            "roles": [{"name": name, "attributes": {"way": way}} for name, way in zip(PLAYERS, (1, -1), strict=True)],
        },
        "entity_schemas": {"types": {name: {"attributes": attributes} for name in writer.schemas}},
        "topology": topology,
        "state_schema": {
            "global": variables,
            "per_player": {
                "used": {"type": "bool", "initial": False},
                "points": {"type": "int", "initial": 0, "min": 0, "max": 2},
                "ally": {"type": "player_ref", "initial": None},
            },
        },
        "setup": {"steps": setup},
        "interactions": {"definitions": DEFINITIONS, "list": actions},
        "game_flow": {
            "time_model": "turn_based",
            "phases": {
                name: {"actors": chance.choice(ACTORS), "allowed_actions": allowed} for name, allowed in phases.items()
            },
            "initial_phase": "early",
        },
        "end_conditions": {"conditions": []},
        "presentation": {"profiles": {}},
    }
