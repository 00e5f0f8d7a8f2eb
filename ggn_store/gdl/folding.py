"""What can be said of conditions when only a part of a position is known.

An expression becomes a Python function of a `KnownCase`: it gives a value, or UNKNOWN where that depends on what the
case leaves open. A condition that gives anything but true or UNKNOWN does not hold in any position of the case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name
from ggn_store.gdl.functions import PURE
from ggn_store.gdl.places import Place, Places
from ggn_store.gdl.specification import Specification
from ggn_store.gdl.world import Person

UNKNOWN: Final = type("Unknown", (), {"__repr__": lambda self: "unknown", "__bool__": None})()


@dataclass(frozen=True, slots=True, eq=False)
class Entity:
    """An entity as a value, equal only to itself; attributes that are not in `attributes` are unknown."""

    owner: Person
    schema: str
    attributes: Mapping[str, Any]


@dataclass(slots=True)
class KnownCase:
    """What is known: places that are not in `contents` and variables that are not in `state` are unknown."""

    start: Place
    target: Place
    entity: Entity
    contents: Mapping[Place, Entity | None] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)


KnownFunction = Callable[[KnownCase], Any]


class Folding:
    """Makes functions of the expressions of a specification."""

    def __init__(self, specification: Specification) -> None:
        self.places = Places(specification.topology)
        self.players = {player.name: Person(player) for player in specification.players}
        self._plain: Mapping[str, Callable[..., Any]] = PURE | self.places.functions(self.players)
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
        person = self.players[owner]
        return Entity(person, schema, {**known, "owner": person, "schema": schema})

    def state(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Variables of which these values are known."""
        return {name: self.value(value, name in self._variables) for name, value in variables.items()}

    def function(self, expression: Expression) -> KnownFunction:
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

    def _attribute(self, of: KnownFunction, name: str) -> KnownFunction:
        def attribute(case: KnownCase) -> Any:
            base = of(case)
            if base is UNKNOWN or base is None:
                return base
            if isinstance(base, Entity):
                if name == "pos":
                    return self.places.of(case.start.number) if base is case.entity else UNKNOWN
                return base.attributes.get(name, UNKNOWN)
            return base.attributes.get(name)

        return attribute

    def _content(self, key: KnownFunction) -> KnownFunction:
        def content(case: KnownCase) -> Any:
            place = key(case)
            if place is UNKNOWN or place is None:
                return place
            return _standing(case, place)

        return content

    def _call(self, name: str, functions: list[KnownFunction]) -> KnownFunction:
        if name == "and":
            return lambda case: _all(function(case) for function in functions)
        if name == "or":
            return lambda case: _any(function(case) for function in functions)
        if name == "if":
            return self._chosen(*functions)
        if name == "path_clear" and len(functions) == 2:
            return self._path(*functions)
        if name == "only_between":
            return self._alone(*functions)
        return _known(functions, self._plain[name]) if name in self._plain else lambda case: UNKNOWN

    def _chosen(self, condition: KnownFunction, then: KnownFunction, otherwise: KnownFunction) -> KnownFunction:
        def chosen(case: KnownCase) -> Any:
            holds = condition(case)
            return UNKNOWN if holds is UNKNOWN else (then if holds is True else otherwise)(case)

        return chosen

    def _path(self, first: KnownFunction, second: KnownFunction) -> KnownFunction:
        def is_clear(case: KnownCase) -> Any:
            start, end = first(case), second(case)
            if start is UNKNOWN or end is UNKNOWN:
                return UNKNOWN
            return _any(_all(is_empty(case, place) for place in line) for line in self.places.lines(start, end))

        def is_empty(case: KnownCase, place: Place) -> Any:
            content = _standing(case, place)
            return UNKNOWN if content is UNKNOWN else content is None

        return is_clear

    def _alone(self, first: KnownFunction, second: KnownFunction) -> KnownFunction:
        def alone(case: KnownCase) -> Any:
            start, end = first(case), second(case)
            if start is UNKNOWN or end is UNKNOWN:
                return UNKNOWN
            for line in self.places.lines(start, end):
                found = [content for place in line if (content := _standing(case, place)) is not None]
                if any(content is UNKNOWN for content in found):
                    return UNKNOWN
                if len(found) == 1:
                    return found[0]
            return None

        return alone


def _standing(case: KnownCase, place: Place) -> Any:
    """What stands on a place, as far as that is known."""
    return case.entity if place is case.start else case.contents.get(place, UNKNOWN)


def _known(functions: list[KnownFunction], function: Callable[..., Any]) -> KnownFunction:
    if len(functions) == 2:
        first, second = functions

        def of_two(case: KnownCase) -> Any:
            a, b = first(case), second(case)
            return UNKNOWN if a is UNKNOWN or b is UNKNOWN else function(a, b)

        return of_two

    def known(case: KnownCase) -> Any:
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
