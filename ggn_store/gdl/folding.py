"""What can be said of conditions when only a part of a position is known.

An expression becomes a Python function of a `Case`: it gives a value, or UNKNOWN where that depends on what the case
leaves open. A condition that gives anything but true or UNKNOWN does not hold in any position of the case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name
from ggn_store.gdl.functions import ARITHMETIC, COMPARISONS
from ggn_store.gdl.geometry import Geometry
from ggn_store.gdl.specification import Node, Specification

UNKNOWN: Final = type("Unknown", (), {"__repr__": lambda self: "unknown", "__bool__": None})()


@dataclass(frozen=True, slots=True)
class Player:
    """A player as a value: not equal to the text of its name."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Entity:
    """An entity as a value, equal only to itself; attributes that are not in `attributes` are unknown."""

    owner: Player
    schema: str
    attributes: Mapping[str, Any]


@dataclass(slots=True)
class Case:
    """What is known: places that are not in `contents` and variables that are not in `state` are unknown."""

    start: Node
    target: Node
    entity: Entity
    contents: Mapping[Node, Entity | None] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)


Function = Callable[[Case], Any]


class Folding:
    """Makes functions of the expressions of a specification."""

    def __init__(self, specification: Specification) -> None:
        self.board = Geometry(specification.topology)
        self._places = {node: self.board.attributes(node) for node in self.board.nodes}
        self.players = {player.name: Player(player.name) for player in specification.players}
        self._attributes = {player.name: player.attributes for player in specification.players}
        first, second = self.players.values()
        self._other = {first: second, second: first}
        self._refs = {
            name: {key for key, each in schema.attributes.items() if each.type == "player_ref"}
            for name, schema in specification.schemas.items()
        }
        self._variables = {name for name, each in specification.variables.items() if each.type == "player_ref"}

    def value(self, value: Any, is_player: bool) -> Any:
        """A value of the specification as one of expressions."""
        return self.players.get(value) if is_player and value is not None else value

    def entity(self, owner: str, schema: str, attributes: Mapping[str, Any]) -> Entity:
        """An entity of which these attributes are known."""
        refs = self._refs[schema]
        known = {name: self.value(value, name in refs) for name, value in attributes.items() if name != "owner"}
        return Entity(self.players[owner], schema, known)

    def state(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Variables of which these values are known."""
        return {name: self.value(value, name in self._variables) for name, value in variables.items()}

    def function(self, expression: Expression) -> Function:
        """An expression as a function of a case."""
        match expression:
            case Literal(value=value):
                return lambda case: value
            case Name(text="start"):
                return lambda case: case.start
            case Name(text="target"):
                return lambda case: case.target
            case Name(text="entity"):
                return lambda case: case.entity
            case Attribute(of=Name("state"), name="current_player"):
                # Only the own pieces of the side to move act.
                return lambda case: case.entity.owner
            case Attribute(of=Name("state"), name=name):
                return lambda case: case.state.get(name, UNKNOWN)
            case Attribute(of=of, name=name):
                return self._attribute(self.function(of), name)
            case Index(key=key):
                return self._content(self.function(key))
            case Call(name=name, arguments=arguments):
                return self._call(name, [self.function(argument) for argument in arguments])
        return lambda case: UNKNOWN

    def _attribute(self, of: Function, name: str) -> Function:
        def attribute(case: Case) -> Any:
            base = of(case)
            if base is UNKNOWN or base is None:
                return base
            if isinstance(base, Entity):
                if name == "owner":
                    return base.owner
                if name == "schema":
                    return base.schema
                if name == "pos":
                    return case.start if base is case.entity else UNKNOWN
                return base.attributes.get(name, UNKNOWN)
            if isinstance(base, Player):
                return base.name if name == "name" else self._attributes[base.name].get(name)
            return self._places[base].get(name)

        return attribute

    def _content(self, key: Function) -> Function:
        def content(case: Case) -> Any:
            node = key(case)
            if node is UNKNOWN or node is None:
                return node
            return case.entity if node == case.start else case.contents.get(node, UNKNOWN)

        return content

    def _call(self, name: str, functions: list[Function]) -> Function:
        if name == "and":
            return lambda case: _all(function(case) for function in functions)
        if name == "or":
            return lambda case: _any(function(case) for function in functions)
        if name == "not":
            [inner] = functions
            return lambda case: UNKNOWN if (value := inner(case)) is UNKNOWN else value is not True
        if name == "path_clear":
            return self._path(*functions)
        board = self.board
        plain: dict[str, Callable[..., Any]] = {
            **COMPARISONS,
            **ARITHMETIC,
            "mid_pos": lambda a, b: None if a is None or b is None else board.middle(a, b),
            "adjacent": lambda a, b: a is not None and b is not None and board.adjacent(a, b),
            "special_connection": lambda a, b: a is not None and b is not None and board.special(a, b),
            "other_player": lambda player: self._other.get(player),
            "opponent_of": lambda player: self._other.get(player),
            "player": lambda text: self.players.get(text),
            "node": board.node,
        }
        return _known(functions, plain[name]) if name in plain else lambda case: UNKNOWN

    def _path(self, first: Function, second: Function) -> Function:
        def is_clear(case: Case) -> Any:
            start, end = first(case), second(case)
            if start is UNKNOWN or end is UNKNOWN:
                return UNKNOWN
            between = None if start is None or end is None else self.board.between(start, end)
            if between is None:
                return False
            if any(node == case.start or case.contents.get(node) is not None for node in between):
                return False
            return UNKNOWN if any(node not in case.contents for node in between) else True

        return is_clear


def _known(functions: list[Function], function: Callable[..., Any]) -> Function:
    if len(functions) == 2:
        first, second = functions

        def of_two(case: Case) -> Any:
            a, b = first(case), second(case)
            return UNKNOWN if a is UNKNOWN or b is UNKNOWN else function(a, b)

        return of_two

    def known(case: Case) -> Any:
        values = [each(case) for each in functions]
        return UNKNOWN if any(value is UNKNOWN for value in values) else function(*values)

    return known


def _all(values: Any) -> Any:
    result: Any = True
    for value in values:
        if value is UNKNOWN:
            result = UNKNOWN
        elif value is not True:
            return False
    return result


def _any(values: Any) -> Any:
    result: Any = False
    for value in values:
        if value is True:
            return True
        if value is UNKNOWN:
            result = UNKNOWN
    return result
