"""What expressions talk about while a specification is compiled: a board of which only the start square is known.

A known value is text, a whole number, true, false, None, a `Place`, a `Person` or a `Body`; what depends on the board
or on state variables is a node of `diagrams`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ggn_store.gdl import specification as spec
from ggn_store.gdl.diagrams import Diagrams, DiagramValue, Node, known_values
from ggn_store.gdl.functions import same
from ggn_store.gdl.kinds import Kind
from ggn_store.gdl.places import Place, Places
from ggn_store.gdl.state_variables import StateVariable

UNTOUCHED: Final = type("Untouched", (), {"__repr__": lambda self: "untouched"})()
_EMPTY_MASK: Final = 1


class Person:
    """A player as a value of expressions; two are equal only if they are the same one."""

    __slots__ = ("attributes", "name")

    def __init__(self, player: spec.Player) -> None:
        self.name = player.name
        self.attributes: Mapping[str, spec.SpecValue] = {**player.attributes, "name": player.name}


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The entity that stood on a place before the effects, whatever it is; equal only to itself."""

    number: int


class World:
    """The board before an action, and what its effects have changed so far.

    Variables of the diagrams are the squares by number (content 0 is an empty square, content i + 1 is kind i) and
    after them the state variables (content i is the i-th value of the domain).
    """

    def __init__(
        self,
        places: Places,
        people: Mapping[str, Person],
        kinds: Sequence[Kind],
        schemas: Mapping[str, spec.Schema],
        variables: Mapping[str, StateVariable],
    ) -> None:
        self.places = places
        self.people = people
        self.kinds = kinds
        self.squares: Final = len(places.all) + 1  # with the hand
        contents = len(kinds) + 1
        sizes = [contents] * self.squares + [len(domain.values) for domain in variables.values()]
        self.diagrams: Final = Diagrams(sizes)
        self.numbers: Final = {name: self.squares + number for number, name in enumerate(variables)}
        self.bodies: Final = tuple(Body(number) for number in range(self.squares))
        self.domains: Final = {
            name: tuple(self.person(value) if domain.type == "player_ref" else value for value in domain.values)
            for name, domain in variables.items()
        }
        self.constants: Final = {name: values[0] for name, values in self.domains.items() if len(values) == 1}
        self._schemas = schemas
        self._attributes: Final = [self._of_kind(kind) for kind in kinds]
        self._names: Final = sorted({name for attributes in self._attributes for name in attributes})
        self.start: Place = places.all[0]
        self.target: Place = places.all[0]
        self.kind = 0
        self.entity: dict[str, DiagramValue] = {}
        self.owner: Person | None = None
        self.board: dict[int, DiagramValue] = {}
        self.changed: dict[tuple[int, str], DiagramValue] = {}
        self.state: dict[str, DiagramValue] = {}
        self._read: dict[int, DiagramValue] = {}
        self._asked: dict[tuple[int, str], DiagramValue] = {}
        self._variables: dict[str, DiagramValue] = {}
        self._clear: dict[tuple[Place, ...], DiagramValue] = {}

    def person(self, name: object) -> Person | None:
        """The player of a name."""
        return self.people[name] if isinstance(name, str) else None

    def _of_kind(self, kind: Kind) -> dict[str, DiagramValue]:
        found: dict[str, DiagramValue] = {"schema": kind.schema}
        for name, value in kind.attributes.items():
            is_player = self._schemas[kind.schema].attributes[name].type == "player_ref"
            found[name] = self.person(value) if is_player else value
        found["owner"] = self.person(kind.owner)
        return found

    def begin(self, kind: int) -> None:
        """The entity that acts is of this kind from now on."""
        self.kind = kind
        self.entity = self._attributes[kind]
        owner = self.entity["owner"]
        self.owner = owner if isinstance(owner, Person) else None

    def forget(self) -> None:
        """Let go of everything that was made of nodes."""
        self.diagrams.forget()
        for known in (self._read, self._asked, self._variables, self._clear):
            known.clear()

    def reset(self) -> None:
        """The board is as before the effects again."""
        self.board = {}
        self.changed = {}
        self.state = {}

    # --- reading ---

    def before(self, square: int) -> DiagramValue:
        """What stood on a square before the effects: a body, or None."""
        if square == self.start.number:
            return self.bodies[square]
        found = self._read.get(square)
        if found is None:
            rest = self.diagrams.full[square] & ~_EMPTY_MASK
            parts = [(_EMPTY_MASK, None), (rest, self.bodies[square])]
            found = self._read[square] = self.diagrams.node(square, parts)
        return found

    def on(self, square: int) -> DiagramValue:
        """What stands on a square now."""
        return self._now(self.board.get(square, UNTOUCHED), lambda: self.before(square))

    def _now(self, value: DiagramValue, before: Callable[[], DiagramValue]) -> DiagramValue:
        """What effects have set, and what was there before wherever they have not."""
        if value is UNTOUCHED:
            return before()
        if type(value) is not Node:
            return value
        return self.diagrams.bind(value, lambda each: before() if each is UNTOUCHED else each)

    def at(self, where: DiagramValue) -> DiagramValue:
        """`board[where]`: what stands there now, None where that is no place."""
        if type(where) is Node:
            return self.diagrams.bind(where, self.at)
        if isinstance(where, str):
            where = self.places.at(where)
        return self.on(where.number) if isinstance(where, Place) else None

    def given(self, square: int, name: str) -> DiagramValue:
        """An attribute of what stood on a square before the effects."""
        if square == self.start.number:
            return self.entity.get(name)
        found = self._asked.get((square, name), UNTOUCHED)
        if found is UNTOUCHED:
            parts: list[tuple[int, DiagramValue]] = [(_EMPTY_MASK, None)]
            parts += [(2 << number, each.get(name)) for number, each in enumerate(self._attributes)]
            found = self._asked[square, name] = self.diagrams.node(square, parts)
        return found

    def of(self, value: DiagramValue, name: str) -> DiagramValue:
        """`value.name` now; None where the value has no such attribute."""
        if type(value) is Node:
            return self.diagrams.bind(value, lambda each: self.of(each, name))
        if isinstance(value, Place | Person):
            return value.attributes.get(name)
        if isinstance(value, Body):
            number = value.number
            found = self.changed.get((number, name), UNTOUCHED)
            if name == "pos":
                return self._now(found, lambda: self.places.of(number))
            return self._now(found, lambda: self.given(number, name))
        return None

    def variable(self, name: str) -> DiagramValue:
        """A state variable now."""
        return self._now(self.state.get(name, UNTOUCHED), lambda: self.known(name))

    def known(self, name: str) -> DiagramValue:
        """A state variable before the effects."""
        if name == "current_player":
            return self.owner
        found = self._variables.get(name, UNTOUCHED)
        if found is UNTOUCHED:
            number, values = self.numbers[name], self.domains[name]
            parts = [(1 << each, value) for each, value in enumerate(values)]
            found = self._variables[name] = self.diagrams.node(number, parts)
        return found

    def clear(self, a: DiagramValue, b: DiagramValue, *of: DiagramValue) -> DiagramValue:
        """`path_clear`: whether every place strictly between two is empty now, on a line that joins them.

        With a player, it may hold what is not of that player.
        """
        if any(type(each) is Node for each in (a, b, *of)):
            return self.diagrams.lift(self.clear, (a, b, *of))
        result: DiagramValue = False
        for line in self.places.lines(a, b):
            clear = self._has_none_of(line, *of) if of else self._is_clear(line)
            result = self.diagrams.either(result, clear)
        return result

    def _has_none_of(self, line: tuple[Place, ...], player: DiagramValue) -> DiagramValue:
        result: DiagramValue = True
        for place in sorted(line, key=lambda each: -each.number):
            owner = self.of(self.on(place.number), "owner")
            is_other = self.diagrams.bind(owner, lambda each: each is None or each is not player)
            result = self.diagrams.both(is_other, result)
        return result

    def count_on_line(self, a: DiagramValue, b: DiagramValue) -> DiagramValue:
        """How many entities stand now on the whole line that joins two places."""
        if type(a) is Node or type(b) is Node:
            return self.diagrams.lift(self.count_on_line, (a, b))
        result: DiagramValue = 0
        for place in sorted(self.places.line(a, b), key=lambda each: -each.number):
            is_empty = self.diagrams.is_one(self.on(place.number), None)
            more = self.diagrams.bind(result, lambda each: each + 1)  # type: ignore[operator]
            result = self.diagrams.where(is_empty, result, more)
        return result

    def _is_clear(self, line: tuple[Place, ...]) -> DiagramValue:
        is_before = not self.board and self.start not in line
        if is_before and line in self._clear:
            return self._clear[line]
        result: DiagramValue = True
        for place in sorted(line, key=lambda each: -each.number):
            result = self.diagrams.both(self.diagrams.is_one(self.on(place.number), None), result)
        if is_before:
            self._clear[line] = result
        return result

    def only_between(self, a: DiagramValue, b: DiagramValue) -> DiagramValue:
        """What stands alone strictly between two places on a line that joins them now; None where nothing does."""
        if type(a) is Node or type(b) is Node:
            return self.diagrams.lift(self.only_between, (a, b))
        result: DiagramValue = None
        for line in reversed(self.places.lines(a, b)):
            alone, found = self._alone(line), result
            result = self.diagrams.bind(alone, lambda each, found=found: found if each is None else each)  # type: ignore[misc]
        return result

    def in_row(self, where: DiagramValue, count: DiagramValue) -> DiagramValue:
        """Whether what stands on a place now is one of so many of its kind next to each other on a line."""
        if type(where) is Node:
            return self.diagrams.bind(where, lambda each: self.in_row(each, count))
        result: DiagramValue = False
        if isinstance(where, Place) and isinstance(count, int):
            for row in self.places.rows(where, count):
                result = self.diagrams.either(result, self._are_alike(row))
        return result

    def _are_alike(self, row: tuple[Place, ...]) -> DiagramValue:
        """Whether all places have an entity, and these have the same owner, type and attributes."""
        first, *others = [self.on(place.number) for place in sorted(row, key=lambda each: -each.number)]
        result: DiagramValue = True
        for name in self._names:
            one = self.of(first, name)
            for other in others:
                alike = self.diagrams.lift_pure(
                    _are_same_owners if name == "owner" else same, (one, self.of(other, name))
                )
                result = self.diagrams.both(alike, result)
        return result

    def _alone(self, line: tuple[Place, ...]) -> DiagramValue:
        """The only body on some places; None where there is none, or several."""
        none: DiagramValue = True
        alone: DiagramValue = None
        for place in sorted(line, key=lambda each: -each.number):
            here = self.on(place.number)
            is_empty = self.diagrams.is_one(here, None)
            alone = self.diagrams.where(is_empty, alone, self.diagrams.where(none, here, None))
            none = self.diagrams.both(is_empty, none)
        return alone

    # --- writing; `guard` says where a write happens ---

    def put(self, where: DiagramValue, value: DiagramValue, guard: DiagramValue) -> None:
        """`set(board[where], value)`; a place that there is not stays as it is."""
        there = where if isinstance(where, Place) else self.diagrams.bind(where, self._place)
        for place in known_values(there):
            if isinstance(place, Place):
                self._put(place.number, value, self.diagrams.both(guard, self.diagrams.is_one(there, place)))

    def _place(self, value: DiagramValue) -> DiagramValue:
        return self.places.at(value) if isinstance(value, str) else value

    def _put(self, square: int, value: DiagramValue, guard: DiagramValue) -> None:
        self.board[square] = self.diagrams.where(guard, value, self.board.get(square, UNTOUCHED))

    def change(self, of: DiagramValue, name: str, value: DiagramValue, guard: DiagramValue) -> None:
        """`set(of.name, value)`, wherever that entity stands; of null it is nothing."""
        for body in _bodies(of):
            here = self.diagrams.both(guard, self.diagrams.is_one(of, body))
            where = body.number, name
            self.changed[where] = self.diagrams.where(here, value, self.changed.get(where, UNTOUCHED))

    def remember(self, name: str, value: DiagramValue, guard: DiagramValue) -> None:
        """`set(state.name, value)`"""
        self.state[name] = self.diagrams.where(guard, value, self.state.get(name, UNTOUCHED))

    def remove(self, value: DiagramValue, guard: DiagramValue) -> None:
        """`remove_entity(value)`: wherever it stands, there is nothing afterwards; null is nowhere."""
        for body in _bodies(value):
            gone = self.diagrams.both(guard, self.diagrams.is_one(value, body))
            for square in sorted({*self.board, body.number}):
                here = self.diagrams.is_one(self.on(square), body)
                there = self.diagrams.both(gone, here)
                if there is not False:
                    self._put(square, None, there)


def _are_same_owners(one: DiagramValue, other: DiagramValue) -> bool:
    return isinstance(one, Person) and one is other


def _bodies(value: DiagramValue) -> list[Body]:
    return [each for each in known_values(value) if isinstance(each, Body)]
