"""The state-driven game description language, played in plain Python: what the store's answers are held to.

Written from the paper and importing nothing of ggn_store. It plays what a specification says: conditions read
`board[x].owner`, effects run in their order, the first action whose conditions all hold is the one.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

Plain = str | int | bool | None
Label = str
HAND = "*"
Kind = tuple[str, str, Mapping[str, Plain]]  # owner, schema, the other attributes
Expression = tuple[Any, ...]


class WrongError(Exception):
    """The specification says something that has no meaning."""


# Values of a position: players are named, so that positions compare


@dataclass(frozen=True)
class Piece:
    """A piece of a position: its schema and its attributes, `owner` among them."""

    schema: str
    attributes: tuple[tuple[str, Plain], ...]

    @property
    def owner(self) -> Plain:
        return dict(self.attributes)["owner"]


@dataclass(frozen=True)
class Position:
    """Squares that hold something, state variables (`phase` among them), the player whose turn it is, and hands."""

    board: Mapping[Label, Piece]
    state: Mapping[str, Plain]
    player: str
    hands: Mapping[Piece, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        return *map(frozenset, (self.board.items(), self.state.items(), self.hands.items())), self.player


class Outcome(NamedTuple):
    """What an action does in a position."""

    action: str
    chainable: bool
    after: Position


# Objects of a world: what expressions talk about; two are the same only if they are the same object


@dataclass(eq=False)
class Player:
    name: str
    attributes: Mapping[str, Plain]


@dataclass(eq=False)
class Node:
    label: Label
    attributes: Mapping[str, Plain]


@dataclass(eq=False)
class Entity:
    schema: str
    attributes: dict[str, Any]


@dataclass
class World:
    """A position whose pieces are objects with identity, in the eyes of an action from `start` to `target`."""

    board: dict[Label, Entity]
    state: dict[str, Any]
    start: Node | None
    target: Node
    entity: Entity  # what stood on `start` before the effects, or is in the hand
    player_set: bool = False


@dataclass(frozen=True)
class Action:
    name: str
    chainable: bool
    from_hand: bool
    optional: bool
    before_target: tuple[Callable[[World], Any], ...]  # conditions that say nothing of the target
    conditions: tuple[Callable[[World], Any], ...]
    effects: tuple[Callable[[World], None], ...]


# Topologies


class Grid:
    """Squares, or cells in layers, by coordinates from 0, `a1` being (0, 0); lines run to all neighbours and on."""

    names: tuple[str, ...] = ("x", "y", "z")

    def __init__(self, *sizes: int) -> None:
        every = itertools.product(*(range(size) for size in reversed(sizes)))
        self.nodes = {node.label: node for node in (self.node(point[::-1]) for point in every)}
        self.steps = {step for step in itertools.product((-1, 0, 1), repeat=len(sizes)) if any(step)}

    def node(self, point: tuple[int, ...]) -> Node:
        label = grid_label(*point)
        return Node(label, {"name": label, **dict(zip(self.names, self.coordinates(point), strict=False))})

    def coordinates(self, point: tuple[int, ...]) -> tuple[int, ...]:
        return point

    def at(self, *point: Any) -> Node | None:
        return self.nodes.get(grid_label(*point)) if min(point) >= 0 else None

    def between(self, one: Node, other: Node) -> list[Node] | None:
        """The nodes strictly between two on a line, or None where no line joins them."""
        start, way = self.place(one), self.way(one, other)
        distance = max(map(abs, way))
        if distance == 0:
            return []
        if any(part % distance for part in way) or tuple(part // distance for part in way) not in self.steps:
            return None
        found = [self.at(*(a + i * b // distance for a, b in zip(start, way, strict=True))) for i in range(1, distance)]
        return [node for node in found if node is not None]

    def ways(self, one: Node, other: Node) -> list[list[Node]]:
        """The nodes strictly between two, on each line that joins them."""
        between = self.between(one, other)
        return [] if between is None else [between]

    def line(self, one: Node, other: Node) -> list[Node]:
        """All nodes of the line that joins two, or none."""
        return next((line for line in self.windows(None) if one in line and other in line and one is not other), [])

    def windows(self, length: int | None) -> Iterator[list[Node]]:
        """The nodes of each line, or so many next to each other."""
        for node in self.nodes.values():
            for step in self.steps:
                line = [node]
                while (after := self.moved(line[-1], step, 1)) is not None:
                    line.append(after)
                if length is None and self.moved(node, step, -1) is None:
                    yield line
                elif length is not None and len(line) >= length:
                    yield line[:length]

    def moved(self, node: Node, step: tuple[int, ...], sign: int) -> Node | None:
        return self.at(*(a + sign * b for a, b in zip(self.place(node), step, strict=True)))

    def place(self, node: Node) -> tuple[int, ...]:
        return tuple(int(str(node.attributes[name])) for name in "xyz" if name in node.attributes)

    def way(self, one: Node, other: Node) -> tuple[int, ...]:
        return tuple(b - a for a, b in zip(self.place(one), self.place(other), strict=True))

    def adjacent(self, one: Node, other: Node) -> bool:
        return self.way(one, other) in self.steps

    def special(self, one: Node, other: Node) -> bool:
        return False

    def middle(self, one: Node, other: Node) -> Node | None:
        way = self.way(one, other)
        if any(part % 2 for part in way):
            return None
        return self.at(*(a + b // 2 for a, b in zip(self.place(one), way, strict=True)))


class HexGrid(Grid):
    """Hexagons by axial coordinates, q the column and r the row; six neighbours, six directions."""

    names = ("x", "y", "q", "r")

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.steps = {(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)}

    def coordinates(self, point: tuple[int, ...]) -> tuple[int, ...]:
        return point * 2


class Ring(Grid):
    """A track whose last place is followed by the first."""

    def arc(self, one: Node, other: Node, step: int) -> list[Node]:
        """What comes strictly between two places in a direction."""
        nodes = list(self.nodes.values())
        at, found = nodes.index(one), []
        while nodes[at := (at + step) % len(nodes)] is not other:
            found.append(nodes[at])
        return found

    def ways(self, one: Node, other: Node) -> list[list[Node]]:
        return [[]] if one is other else sorted((self.arc(one, other, step) for step in (1, -1)), key=len)

    def between(self, one: Node, other: Node) -> list[Node] | None:
        return self.ways(one, other)[0]

    def line(self, one: Node, other: Node) -> list[Node]:
        return [] if one is other else list(self.nodes.values())

    def windows(self, length: int | None) -> Iterator[list[Node]]:
        nodes = list(self.nodes.values())
        if length is not None and length <= len(nodes):
            yield from ((nodes * 2)[first : first + length] for first in range(len(nodes)))

    def adjacent(self, one: Node, other: Node) -> bool:
        return [] in self.ways(one, other) and one is not other

    def middle(self, one: Node, other: Node) -> Node | None:
        odd = [way for way in self.ways(one, other) if len(way) % 2]
        return one if one is other else odd[0][len(odd[0]) // 2] if odd else None


class Network:
    """Named nodes with attributes; edges join both ways unless `directed`, and lines join one to the next."""

    def __init__(self, topology: Mapping[str, Any]) -> None:
        lines = [line.split() for line in topology.get("lines", [])]
        nodes = topology.get("nodes", {name: {} for line in lines for name in line})
        self.nodes = {name: Node(name, {"name": name, **about}) for name, about in nodes.items()}
        self.lines = [[self.nodes[name] for name in line] for line in lines]
        self.edges: dict[bool, set[tuple[Label, Label]]] = {True: set(), False: set()}
        for line in lines:
            self.edges[False] |= {*itertools.pairwise(line), *itertools.pairwise(line[::-1])}
        for edge in topology.get("edges", []):
            of_kind = self.edges[edge.get("kind", edge.get("type")) == "special_connection"]
            of_kind.add((edge["from"], edge["to"]))
            if not edge.get("directed", topology.get("directed", False)):
                of_kind.add((edge["to"], edge["from"]))

    def adjacent(self, one: Node, other: Node) -> bool:
        return (one.label, other.label) in self.edges[False]

    def special(self, one: Node, other: Node) -> bool:
        return (one.label, other.label) in self.edges[True]

    def line(self, one: Node, other: Node) -> list[Node]:
        """All nodes of the first line that joins two, or none."""
        return next((line for line in self.lines if one in line and other in line and one is not other), [])

    def windows(self, length: int) -> Iterator[list[Node]]:
        """So many nodes next to each other on a line."""
        return (line[i : i + length] for line in self.lines for i in range(len(line) - length + 1))

    def between(self, one: Node, other: Node) -> list[Node] | None:
        return next(iter(self.ways(one, other)), None)

    def ways(self, one: Node, other: Node) -> list[list[Node]]:
        if one is other:
            return [[]]
        joining = [line for line in self.lines if one in line and other in line]
        ends = [sorted((line.index(one), line.index(other))) for line in joining]
        return [line[first + 1 : last] for line, (first, last) in zip(joining, ends, strict=True)]

    def middle(self, one: Node, other: Node) -> Node | None:
        odd = [way for way in self.ways(one, other) if len(way) % 2]
        return odd[0][len(odd[0]) // 2] if odd else None

    def at(self, *point: Any) -> Node | None:
        raise WrongError("a network has no coordinates")


def grid_label(x: int, *others: int) -> Label:
    """`c2` for (2, 1): a letter, a number, a capital letter for a layer; from `z` on with `aa`."""
    letters = ""
    x += 1
    while x:
        x, letter = divmod(x - 1, 26)
        letters = "abcdefghijklmnopqrstuvwxyz"[letter] + letters
    return letters + "".join(str(y + 1) for y in others[:1]) + "".join("ABCDEFGH"[z] for z in others[1:])


def topology_of(about: Mapping[str, Any]) -> Grid | Network:
    if about["type"] == "network":
        return Network(about)
    if about["type"] == "track":
        return Ring(about["length"]) if about.get("loop") else Grid(about["length"])
    shape = re.fullmatch(r"\s*(grid|hex_grid)\(([\d, ]+)\)\s*", about["structure"])
    if shape is None:
        raise WrongError(about["structure"])
    kind = Grid if shape[1] == "grid" else HexGrid
    return kind(*map(int, shape[2].split(",")))


# Expressions: text -> ("call", name, arguments) | ("name", name) | ("literal", value) | ("attribute", of, name)
# | ("index", of, key)

TOKEN = re.compile(r"""\s*(?:('[^']*'|"[^"]*")|(-?\d+)|([A-Za-z_]\w*)|([(),.\[\]]))""")
LITERALS = {"true": True, "false": False, "null": None}


def tokens_of(text: str) -> list[tuple[str, Any]]:
    tokens: list[tuple[str, Any]] = []
    at = 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None:
            raise WrongError(f"{text!r} at {at}")
        string, number, name, sign = match.groups()
        if string is not None:
            tokens.append(("literal", string[1:-1]))
        elif number is not None:
            tokens.append(("literal", int(number)))
        elif name in LITERALS:
            tokens.append(("literal", LITERALS[name]))
        else:
            tokens.append(("name", name) if name is not None else ("sign", sign))
        at = match.end()
    return [*tokens, ("end", None)]


def parse(text: str) -> Expression:
    tokens = tokens_of(text)

    def expect(sign: str) -> None:
        if tokens.pop(0) != ("sign", sign):
            raise WrongError(f"{text!r}: no {sign}")

    def one() -> Expression:
        kind, value = tokens.pop(0)
        if kind not in ("literal", "name"):
            raise WrongError(f"{text!r}: {value} is no expression")
        found: Expression = (kind, value)
        if kind == "name" and tokens[0] == ("sign", "("):
            found = ("call", value, several())
        while tokens[0] in (("sign", "."), ("sign", "[")):
            if tokens.pop(0) == ("sign", "."):
                found = ("attribute", found, tokens.pop(0)[1])
            else:
                found = ("index", found, one())
                expect("]")
        return found

    def several() -> list[Expression]:
        expect("(")
        found: list[Expression] = []
        while tokens[0] != ("sign", ")"):
            if found:
                expect(",")
            found.append(one())
        expect(")")
        return found

    found = one()
    if tokens != [("end", None)]:
        raise WrongError(f"{text!r}: too much text")
    return found


def names_in(expression: object) -> Iterator[str]:
    if isinstance(expression, tuple) and expression[0] == "name":
        yield expression[1]
    elif isinstance(expression, tuple | list):
        for part in expression:
            yield from names_in(part)


# The game


@dataclass
class Game:
    """A game of a specification: `spec` is the JSON value."""

    spec: dict[str, Any]
    players: dict[str, Player] = field(init=False)
    topology: Grid | Network = field(init=False)
    actions: dict[str, Action] = field(init=False)
    phases: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        spec = self.spec
        self.players = {
            role["name"]: Player(role["name"], role.get("attributes", {})) for role in spec["players"]["roles"]
        }
        if len(self.players) != 2:
            raise WrongError("only games for two")
        self.topology = topology_of(spec["topology"])
        self.schemas = {name: schema.get("attributes", {}) for name, schema in spec["entity_schemas"]["types"].items()}
        self.variables = {
            name: about for name, about in spec["state_schema"]["global"].items() if name != "current_player"
        }
        self.per_player = spec["state_schema"].get("per_player", {})
        for name, declared in self.per_player.items():
            self.variables |= {f"{name}_{player}": declared for player in self.players}
        heads = [(parse(head), parse(body)) for head, body in spec["interactions"].get("definitions", {}).items()]
        self.definitions = {head[1]: ([each[1] for each in head[2]], body) for head, body in heads}
        self.actions = {name: self.action(name, about) for name, about in spec["interactions"]["list"].items()}
        flow = spec["game_flow"]
        self.actors = {name: about.get("actors", "current_player") for name, about in flow["phases"].items()}
        self.phases = {name: about["allowed_actions"] for name, about in flow["phases"].items()}
        self.initial_phase = flow.get("initial_phase", next(iter(self.phases)))

    @classmethod
    def read(cls, path: Path) -> "Game":
        return cls(_whole(path))

    # Questions

    def start(self) -> Position:
        """The position in which the game begins."""
        board: dict[Label, Piece] = {}
        hands: Counter[Piece] = Counter()
        for step in self.spec["setup"]["steps"]:
            if step["action"] != "spawn_entity":
                raise WrongError(step["action"])
            piece = self.piece(step["schema"], step.get("set_attributes", {}))
            if step["at"] == ["hand"]:
                hands[piece] += step["count"]
                continue
            for node in self.setup_nodes(step["at"]):
                board[node.label] = piece
        state = {name: self.constant(about, about.get("initial")) for name, about in self.variables.items()}
        first = self.spec["state_schema"]["global"]["current_player"]
        player = self.constant(first, first["initial"])
        assert isinstance(player, str)
        return Position(board, {**state, "phase": self.initial_phase}, player, hands)

    def moves(self, position: Position) -> dict[tuple[Label, Label], Outcome]:
        """By start and target, what the first action whose conditions all hold does, where none is optional."""
        return dict(self.outcomes(position))

    def outcomes(self, position: Position) -> Iterator[tuple[tuple[Label, Label], Outcome]]:
        """All that can be done: after an optional action, by the same start and target, what comes after it as well."""
        for label, piece in [*position.board.items(), *((HAND, piece) for piece in position.hands)]:
            if piece.owner == position.player:
                yield from (((label, target), each) for target, each in self.moves_from(position, label, piece))

    def moves_from(
        self, position: Position, label: Label, piece: Piece | None = None
    ) -> Iterator[tuple[Label, Outcome]]:
        """By target what can be done from a square, or, where the label is that of the hand, with a piece there."""
        if self.actors[str(position.state["phase"])] not in ("current_player", f"player('{position.player}')"):
            return
        start, taken = self.topology.nodes.get(label), piece if label == HAND else None
        world = self.world(position, start, next(iter(self.topology.nodes.values())), taken)
        actions = [
            action
            for action in map(self.actions.__getitem__, self.phases[str(position.state["phase"])])
            if action.from_hand == (start is None) and all(truth(each(world)) for each in action.before_target)
        ]
        for world.target in self.topology.nodes.values():
            for action in actions:
                if all(truth(condition(world)) for condition in action.conditions):
                    after = self.run(action, self.world(position, start, world.target, taken))
                    hands = {each: count - (each == taken) for each, count in position.hands.items()}
                    after = replace(after, hands={each: count for each, count in hands.items() if count})
                    yield world.target.label, Outcome(action.name, action.chainable, after)
                    if not action.optional:
                        break

    def chains(self, position: Position) -> dict[tuple[Label, ...], tuple[Outcome, ...]]:
        """All that `paths` finds, which can be very many."""
        return dict(self.paths(position))

    def paths(self, position: Position) -> Iterator[tuple[tuple[Label, ...], tuple[Outcome, ...]]]:
        """Paths of two steps and more, each step chainable, with what each step does.

        The turn passes when the last step is done, so that each step is one of the same player. Where a step comes
        back to a position of the path, the path ends.
        """

        def extend(
            path: tuple[Label, ...], outcomes: tuple[Outcome, ...], seen: Sequence[object]
        ) -> Iterator[tuple[tuple[Label, ...], tuple[Outcome, ...]]]:
            here = replace(outcomes[-1].after, player=position.player)
            if path[-1] not in here.board or here.key in seen:
                return
            if here.board[path[-1]].owner != position.player:
                return
            for target, outcome in self.moves_from(here, path[-1]):
                if outcome.chainable:
                    yield (*path, target), (*outcomes, outcome)
                    yield from extend((*path, target), (*outcomes, outcome), [*seen, here.key])

        for path, outcome in self.outcomes(position):
            if outcome.chainable:
                yield from extend(path, (outcome,), [position.key])

    # Positions in other words

    def from_identifiers(
        self, board: Mapping[Label, str], state: Mapping[str, str], player: str, kinds: Mapping[str, Kind]
    ) -> Position:
        """The position whose pieces have identifiers and whose variables are text; what is not named is initial."""
        pieces = {
            label: self.piece(kinds[name][1], {"owner": kinds[name][0], **kinds[name][2]}, named=True)
            for label, name in board.items()
        }
        known = {name: self.from_text(name, text) for name, text in state.items()}
        return Position(pieces, {**self.start().state, **known}, player)

    def to_identifiers(self, position: Position, kinds: Mapping[str, Kind]) -> tuple[dict[Label, str], dict[str, str]]:
        """The board and the state of a position in identifiers and text."""
        names = self.identifiers(kinds)
        board = {label: names[piece] for label, piece in position.board.items()}
        return board, {name: to_text(value) for name, value in position.state.items()}

    def identifiers(self, kinds: Mapping[str, Kind]) -> dict[Piece, str]:
        return {
            self.piece(schema, {"owner": owner, **attributes}, named=True): name
            for name, (owner, schema, attributes) in kinds.items()
        }

    def from_text(self, variable: str, text: str) -> Plain:
        if variable == "phase":
            return text
        kind = self.variables[variable]["type"]
        if text == "null":
            return None
        if kind == "bool":
            return {"true": True, "false": False}[text]
        return int(text) if kind == "int" else text

    # Setup

    def piece(self, schema: str, given: Mapping[str, Any], named: bool = False) -> Piece:
        """A piece with the attributes given and the defaults; `named` where players are by name, not by expression."""
        attributes = []
        for name, about in sorted(self.schemas[schema].items()):
            value = given.get(name, about.get("default"))
            attributes.append((name, value if named and name in given else self.constant(about, value)))
        return Piece(schema, tuple(attributes))

    def constant(self, about: Mapping[str, Any], value: Any) -> Plain:
        """A value that the specification gives; players are said by an expression."""
        if about["type"] != "player_ref" or value is None:
            return value  # type: ignore[no-any-return]
        kind, *what = parse(value)
        if (kind, what) == ("literal", [None]):
            return None
        if (kind, what[0]) != ("call", "player"):
            raise WrongError(value)
        return self.players[what[1][0][1]].name

    def setup_nodes(self, places: str | Sequence[str]) -> Iterator[Node]:
        for text in [places] if isinstance(places, str) else places:
            kind, name, arguments = parse(text)
            values = [argument[1] for argument in arguments]
            if (kind, name) == ("call", "nodes"):
                yield from map(self.known_node, values[0].split())
            elif (kind, name) == ("call", "node"):
                yield self.known_node(*values)
            elif kind == "call" and name in ("grid_nodes", "hex_nodes", "track_nodes"):
                half = len(values) // 2
                ranges = [range(low, high + 1) for low, high in zip(values[:half], values[half:], strict=True)]
                yield from (self.known_node(*point[::-1]) for point in itertools.product(*reversed(ranges)))
            else:
                raise WrongError(text)

    def node(self, *name: Any) -> Node | None:
        """The node with this label, or at these coordinates; None where there is none."""
        if None in name:
            return None
        return self.topology.nodes.get(name[0]) if isinstance(name[0], str) else self.topology.at(*name)

    def known_node(self, *name: Any) -> Node:
        found = self.node(*name)
        if found is None:
            raise WrongError(f"no node {name}")
        return found

    # Running

    def world(self, position: Position, start: Node | None, target: Node, taken: Piece | None = None) -> World:
        """A position as objects; without a `start` the entity is the piece that is taken from the hand."""
        board = {label: self.entity(piece, self.topology.nodes[label]) for label, piece in position.board.items()}
        state: dict[str, Any] = dict(position.state)
        for name, about in self.variables.items():
            if about["type"] == "player_ref" and state[name] is not None:
                state[name] = self.players[state[name]]
        entity = board[start.label] if start else self.entity(taken, None)  # type: ignore[arg-type]
        return World(board, {**state, "current_player": self.players[position.player]}, start, target, entity)

    def entity(self, piece: Piece, node: Node | None) -> Entity:
        attributes: dict[str, Any] = dict(piece.attributes)
        for name, about in self.schemas[piece.schema].items():
            if about["type"] == "player_ref" and attributes[name] is not None:
                attributes[name] = self.players[attributes[name]]
        return Entity(piece.schema, {**attributes, "pos": node})

    def run(self, action: Action, world: World) -> Position:
        """The position after the action's effects; the turn passes unless an effect has said whose it is."""
        for effect in action.effects:
            effect(world)
        current = world.state.pop("current_player")
        if not world.player_set:
            current = self.other(current)
        board = {label: self.frozen(entity) for label, entity in world.board.items()}
        return Position(board, {name: plain(value) for name, value in world.state.items()}, current.name)

    def frozen(self, entity: Entity) -> Piece:
        return Piece(
            entity.schema, tuple(sorted((name, plain(v)) for name, v in entity.attributes.items() if name != "pos"))
        )

    def other(self, player: Player | None) -> Player | None:
        return next((each for each in self.players.values() if each is not player), None) if player else None

    # Meaning: expressions become functions of a world

    def action(self, name: str, about: Mapping[str, Any]) -> Action:
        conditions = [self.meant(parse(text)) for text in about.get("conditions", [])]
        early = [condition for condition in conditions if "target" not in names_in(condition)]
        late = [condition for condition in conditions if condition not in early]
        return Action(
            name,
            about.get("chainable", False),
            about.get("from_hand", False),
            about.get("optional", False),
            tuple(map(self.value, early)),
            tuple(map(self.value, late)),
            tuple(self.effect(self.meant(parse(text))) for text in about["effects"]),
        )

    def meant(self, expression: Expression) -> Expression:
        """The expression with what is defined in the places of its calls."""

        def put(part: Any, values: Mapping[str, Expression]) -> Any:
            if isinstance(part, list):
                return [put(each, values) for each in part]
            if not isinstance(part, tuple):
                return part
            if part[0] == "name" and part[1] in values:
                return values[part[1]]
            if part[0] == "call" and part[1] in self.definitions:
                parameters, body = self.definitions[part[1]]
                return put(body, dict(zip(parameters, put(part[2], values), strict=True)))
            return (part[0], *(put(each, values) for each in part[1:]))

        found: Expression = put(expression, {})
        return found

    def effect(self, expression: Expression) -> Callable[[World], None]:
        kind, name, arguments = (*expression, None)[:3]
        if kind != "call":
            raise WrongError(f"{expression} is no effect")
        if name == "set":
            return self.assignment(arguments[0], self.value(arguments[1]))
        if name == "if":
            condition = self.value(arguments[0])
            then, *otherwise = map(self.effect, arguments[1:])

            def choose(world: World) -> None:
                if truth(condition(world)):
                    then(world)
                else:
                    for effect in otherwise:
                        effect(world)

            return choose
        if name == "remove_entity":
            removed = self.value(arguments[0])

            def remove(world: World) -> None:
                entity = removed(world)
                for label in [label for label, held in world.board.items() if held is entity]:
                    del world.board[label]

            return remove
        raise WrongError(f"{name} is no effect")

    def assignment(self, lvalue: Expression, value: Callable[[World], Any]) -> Callable[[World], None]:
        kind, of, key = lvalue
        if (kind, of) == ("index", ("name", "board")):
            node = self.value(key)

            def put(world: World) -> None:
                square, entity = self.square(node(world)), value(world)
                if square is not None:
                    world.board.pop(square.label, None)
                    if entity is not None:
                        world.board[square.label] = entity

            return put
        if (kind, of) == ("attribute", ("name", "state")):
            if key not in ("current_player", "phase", *self.variables):
                raise WrongError(f"state.{key}")

            def remember(world: World) -> None:
                world.state[key] = value(world)
                world.player_set |= key == "current_player"

            return remember
        if kind == "attribute" and key in self.per_player:
            whose = self.value(of)

            def keep(world: World) -> None:
                player, new = whose(world), value(world)
                if player is not None:
                    world.state[f"{key}_{player.name}"] = new

            return keep
        if kind == "attribute":
            owner = self.value(of)

            def change(world: World) -> None:
                entity, new = owner(world), value(world)
                if entity is not None:
                    if key not in entity.attributes:
                        raise WrongError(f"{entity.schema} has no {key}")
                    entity.attributes[key] = new

            return change
        raise WrongError(f"{lvalue} cannot be set")

    def square(self, key: object) -> Node | None:
        return self.topology.nodes.get(key) if isinstance(key, str) else key  # type: ignore[return-value]

    def value(self, expression: Expression) -> Callable[[World], Any]:
        kind = expression[0]
        if kind == "literal":
            value = expression[1]
            return lambda world: value
        if kind == "name":
            if expression[1] not in ("start", "target", "entity"):
                raise WrongError(f"{expression[1]} is unknown")
            read: Callable[[World], Any] = {
                "start": lambda world: world.start,
                "target": lambda world: world.target,
                "entity": lambda world: world.entity,
            }[expression[1]]
            return read
        if kind == "index":
            if expression[1] != ("name", "board"):
                raise WrongError(f"{expression[1]} has no index")
            key = self.value(expression[2])

            def at(world: World) -> Entity | None:
                square = self.square(key(world))
                return None if square is None else world.board.get(square.label)

            return at
        if kind == "attribute":
            name = expression[2]
            if expression[1] == ("name", "state"):
                return lambda world: world.state[name]
            of = self.value(expression[1])
            if name in self.per_player:
                return lambda world: of(world) and world.state[f"{name}_{of(world).name}"]
            return lambda world: attribute(of(world), name)
        _, name, parts = expression
        arguments = [self.value(part) for part in parts]
        if name == "and":
            return lambda world: all(truth(argument(world)) for argument in arguments)
        if name == "or":
            return lambda world: any(truth(argument(world)) for argument in arguments)
        if name == "if":
            condition, then, otherwise = arguments
            return lambda world: (then if truth(condition(world)) else otherwise)(world)
        call = self.function(name)
        if len(arguments) == 2:
            one, two = arguments
            return lambda world: call(world, one(world), two(world))
        return lambda world: call(world, *[argument(world) for argument in arguments])

    def function(self, name: str) -> Callable[..., Any]:
        topology = self.topology
        if name in PURE:
            pure = PURE[name]
            return lambda world, *values: pure(*values)
        if name == "path_clear":

            def clear(world: World, one: Node | None, other: Node | None, *of: Player | None) -> bool:
                def is_clear(between: list[Node]) -> bool:
                    held = [world.board[node.label] for node in between if node.label in world.board]
                    return not [
                        each for each in held if not of or (of[0] is not None and each.attributes["owner"] is of[0])
                    ]

                return any(map(is_clear, topology.ways(one, other) if one and other else []))

            return clear
        if name == "only_between":

            def alone(world: World, one: Node | None, other: Node | None) -> Entity | None:
                for between in topology.ways(one, other) if one and other else []:
                    found = [world.board[node.label] for node in between if node.label in world.board]
                    if len(found) == 1:
                        return found[0]
                return None

            return alone
        if name == "count_on_line":

            def count(world: World, one: Node | None, other: Node | None) -> int:
                line = topology.line(one, other) if one and other else []
                return sum(node.label in world.board for node in line)

            return count
        if name == "in_row":

            def in_row(world: World, node: Node | None, length: int) -> bool:
                return any(
                    len({about(world.board.get(each.label)) for each in line}) == 1 and node.label in world.board
                    for line in (topology.windows(length) if node else [])
                    if node in line
                )

            return in_row
        functions: dict[str, Callable[..., Any]] = {
            "mid_pos": lambda world, one, other: topology.middle(one, other) if one and other else None,
            "adjacent": lambda world, one, other: bool(one and other and topology.adjacent(one, other)),
            "special_connection": lambda world, one, other: bool(one and other and topology.special(one, other)),
            "node": lambda world, *name: self.node(*name),
            "player": lambda world, name: self.players[name],
            "other_player": lambda world, player: self.other(player),
            "opponent_of": lambda world, player: self.other(player),
        }
        if name not in functions:
            raise WrongError(f"{name} is unknown")
        return functions[name]


def truth(value: object) -> bool:
    """Whether a condition holds; null does not."""
    if value is None or isinstance(value, bool):
        return value is True
    raise WrongError(f"{value} is neither true nor false")


def attribute(of: Any, name: str) -> Any:
    if of is None:
        return None
    if name in ("name", "schema", "label") and not isinstance(of, Node):
        return getattr(of, name)
    if name not in of.attributes:
        raise WrongError(f"no {name}")
    return of.attributes[name]


def same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and one == other)


def compared(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda one, other: one is not None and other is not None and holds(one, other)


def computed(compute: Callable[[int, int], int]) -> Callable[..., int | None]:
    """The function of any number of arguments that `compute` makes of two; null where one is."""

    def call(first: Any, *others: Any) -> Any:
        for other in others:
            first = None if first is None or other is None else compute(first, other)
        return first

    return call


PURE: dict[str, Callable[..., Any]] = {
    "eq": same,
    "ne": lambda one, other: not same(one, other),
    "gt": compared(lambda one, other: one > other),
    "lt": compared(lambda one, other: one < other),
    "gte": compared(lambda one, other: one >= other),
    "lte": compared(lambda one, other: one <= other),
    "not": lambda value: not truth(value),
    "abs": lambda value: None if value is None else abs(value),
    "add": computed(lambda one, other: one + other),
    "sub": computed(lambda one, other: one - other),
    "mul": computed(lambda one, other: one * other),
    "mod": computed(lambda one, other: one % other),
}


def about(entity: Entity | None) -> object:
    """What is alike where entities are of one kind."""
    if entity is None:
        return None
    told = [(name, type(value), plain(value)) for name, value in entity.attributes.items() if name != "pos"]
    return entity.schema, frozenset(told)


def plain(value: Any) -> Plain:
    return value.name if isinstance(value, Player) else value


def to_text(value: Plain) -> str:
    return (
        {None: "null", True: "true", False: "false"}[value]
        if value is None or value is True or value is False
        else str(value)
    )


def _whole(path: Path) -> dict[str, Any]:
    """What a file says, with all that it is like; of that it takes away single keys of objects only."""
    spec: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "like" not in spec:
        return spec
    under = _whole(path.parents[1] / f"{spec.pop('like')}.json")
    for keys in spec.pop("without", []):
        *ways, last = keys.split(".")
        of = under
        for key in ways:
            of = of[key]
        del of[last]
    made: dict[str, Any] = _put(under, spec)
    return made


def _put(under: Any, over: Any) -> Any:
    if isinstance(over, dict):
        known = under if isinstance(under, dict) else {}
        return {**known, **{key: _put(known.get(key), value) for key, value in over.items()}}
    if isinstance(over, list) and "..." in over:
        at = over.index("...")
        return [*over[:at], *under, *over[at + 1 :]]
    if isinstance(over, list) and over and all(isinstance(item, dict) and "name" in item for item in over):
        known = {item["name"]: item for item in under}
        put = {item["name"]: _put(known.get(item["name"]), item) for item in over}
        return [*put.values(), *(item for name, item in known.items() if name not in put)]
    return over
