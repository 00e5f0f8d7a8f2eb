"""What state variables and attributes of entities can be: finite sets, found by following what rules assign.

A variable's values are those that the specification declares, else its initial value and all that assignments make of
the values found so far, until nothing new comes. Where conditions on the same values stand around an assignment, they
count: `if(lt(state.turns, 3), set(state.turns, add(state.turns, 1)))` ends at 3.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ggn_store.gdl.diagrams import key
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name, parts, start_of
from ggn_store.gdl.functions import PURE
from ggn_store.gdl.places import Place, Places
from ggn_store.gdl.problems import problem
from ggn_store.gdl.specification import Action, Clause, Schema, Specification, Value, Variable

MAX_VALUES: Final = 256
MAX_KINDS: Final = 200
_MAX_CASES: Final = 200_000
PHASE: Final = "phase"
CURRENT_PLAYER: Final = "current_player"
OWNER: Final = "owner"
POS: Final = "pos"


@dataclass(frozen=True, slots=True)
class Kind:
    """What stands behind a piece identifier: owner, type and the other attributes of an entity."""

    owner: str
    schema: str
    attributes: Mapping[str, Value]

    def __str__(self) -> str:
        told = ", ".join(f"{name}={text(value)}" for name, value in self.attributes.items())
        return f"{self.owner}'s {self.schema}" + (f" ({told})" if told else "")


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of a state variable, the initial one first."""

    type: str
    values: tuple[Value, ...]


def text(value: Value) -> str:
    """A value as documents write it: `3`, `true`, `null`, a text and a player as they are."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


class _Anybody:
    """An entity of which nothing is known."""


class _Somebody:
    """A player, by name: other than a text."""

    def __init__(self, name: str) -> None:
        self.name = name


_ANYBODY: Final = _Anybody()


class _TooManyError(Exception):
    """There are too many cases to follow."""


@dataclass(frozen=True, slots=True)
class _Assignment:
    """`set(state.name, new)` or `set(... .name, new)`, the conditions around it, and what was set before it."""

    clause: Clause
    action: Action
    is_state: bool
    name: str
    new: Expression
    around: tuple[Expression, ...]
    before: frozenset[str]


class Domains:
    """The domains of a specification; `problems` holds what has no finite one."""

    def __init__(self, specification: Specification, places: Places) -> None:
        self._specification = specification
        self._places = places
        self._people = {player.name: _Somebody(player.name) for player in specification.players}
        self.problems: list[object] = []
        used = {name for phase in specification.phases for name in phase.allowed_actions}
        actions = [action for action in specification.actions if action.name in used]
        self._assignments = [each for action in actions for each in _assignments(action)]
        self._mentioned = _mentioned(actions)
        self._state: dict[str, dict[object, object]] = {}
        self._attributes: dict[tuple[str, str], dict[object, object]] = {}
        self._begin()
        self._follow()

    @property
    def variables(self) -> dict[str, Domain]:
        """The state variables that some action reads or writes, with what they can be."""
        found = {}
        for name, values in self._state.items():
            if name == PHASE:
                found[name] = Domain("string", tuple(self._plain(values)))
            elif name in self._mentioned:
                found[name] = Domain(self._specification.variables[name].type, tuple(self._plain(values)))
        return found

    @property
    def unused(self) -> list[Variable]:
        """The state variables that no action reads or writes."""
        return [each for name, each in self._specification.variables.items() if name not in self._mentioned]

    def kinds(self) -> Iterator[Kind]:
        """Every kind of entity, the first player's before the second's."""
        for player in self._specification.players:
            for schema in self._specification.schemas.values():
                names = [name for name in schema.attributes if name not in (OWNER, POS)]
                if OWNER not in schema.attributes or player.name not in self._owners(schema):
                    continue
                choices = [self._plain(self._attributes[schema.name, name]) for name in names]
                if math.prod(map(len, choices)) > MAX_KINDS:
                    self.problems.append(
                        problem(
                            "entity_schemas",
                            schema.place,
                            f"{schema.name} has more than {MAX_KINDS} combinations of attributes: each is a piece",
                        )
                    )
                    return
                for values in itertools.product(*choices):
                    yield Kind(player.name, schema.name, dict(zip(names, values, strict=True)))

    def _owners(self, schema: Schema) -> list[Value]:
        return self._plain(self._attributes[schema.name, OWNER]) or [*self._people]

    @staticmethod
    def _plain(values: Mapping[object, object]) -> list[Value]:
        return [value.name if isinstance(value, _Somebody) else value for value in values.values()]  # type: ignore[misc]

    # --- the values to begin with ---

    def _begin(self) -> None:
        phases = self._specification.phases
        if len(phases) > 1:
            first = self._specification.initial_phase
            self._state[PHASE] = _set([first, *[phase.name for phase in phases if phase.name != first]])
        for name, variable in self._specification.variables.items():
            initial = self._value(variable.initial, variable.type)
            declared = self._declared(variable)
            self._state[name] = _set([initial, *declared])
        for schema in self._specification.schemas.values():
            for name, attribute in schema.attributes.items():
                default = self._value(attribute.default, attribute.type)
                values = [] if name == OWNER and default is None else [default]
                for placement in self._specification.setup:
                    if placement.schema == schema.name and name in placement.attributes:
                        values.append(self._value(placement.attributes[name], attribute.type))
                # A default that every entity of the setup overrides, and that is only null, is no value of its own.
                if default is None and len(values) > 1 and attribute.values is None:
                    is_given = all(name in each.attributes for each in self._placements(schema))
                    values = values[1:] if is_given and name != OWNER else values
                values += [self._value(each, attribute.type) for each in attribute.values or ()]
                self._attributes[schema.name, name] = _set(values)

    def _placements(self, schema: Schema) -> list[object]:
        return [each for each in self._specification.setup if each.schema == schema.name]

    def _declared(self, variable: Variable) -> list[object]:
        if variable.values is not None:
            return [self._value(each, variable.type) for each in variable.values]
        if variable.type == "bool":
            return [False, True]
        if variable.type == "player_ref":
            return [*self._people.values(), None]
        return []

    def _value(self, value: Value, type_: str) -> object:
        return self._people[value] if type_ == "player_ref" and isinstance(value, str) else value

    # --- what assignments add ---

    def _follow(self) -> None:
        open_assignments = [each for each in self._assignments if self._targets(each)]
        changed = True
        while changed:
            changed = False
            for each in list(open_assignments):
                try:
                    values = self._values(each)
                except _TooManyError:
                    values = None
                for target in self._targets(each):
                    before = len(target)
                    for value in values or ():
                        target.setdefault(key(value), value)
                    changed |= len(target) > before
                    if values is None or len(target) > MAX_VALUES:
                        self._refuse(each)
                        open_assignments = [other for other in open_assignments if not self._shares(each, other)]
                        break

    def _shares(self, a: _Assignment, b: _Assignment) -> bool:
        return a.is_state == b.is_state and a.name == b.name

    def _targets(self, assignment: _Assignment) -> list[dict[object, object]]:
        """The sets that an assignment may add to; none where the values are declared."""
        name = assignment.name
        if assignment.is_state:
            variable = self._specification.variables.get(name)
            is_open = variable is not None and variable.values is None and variable.type in ("int", "string")
            return [self._state[name]] if is_open else []
        if name == POS:
            return []
        return [
            self._attributes[schema.name, name]
            for schema in self._specification.schemas.values()
            if name in schema.attributes and schema.attributes[name].values is None
        ]

    def _refuse(self, assignment: _Assignment) -> None:
        what = f"state.{assignment.name}" if assignment.is_state else f"the attribute {assignment.name}"
        at = start_of(assignment.new)
        self.problems.append(
            problem(
                "interactions",
                assignment.clause.place,
                f"{what} would have more than {MAX_VALUES} values: only finite sets can be kept",
                action=assignment.action.name,
                clause=assignment.clause,
                at=at,
                allowed="an assignment that comes to an end, or `values`, or `min` and `max`, where it is declared",
            )
        )

    def _values(self, assignment: _Assignment) -> list[object]:
        """All that an assignment can assign, with the values that are known so far."""
        atoms = {_name_of(atom): atom for atom in _atoms(assignment.new)}
        filters = [
            condition
            for condition in assignment.around
            if {_name_of(atom) for atom in _atoms(condition)} <= atoms.keys()
        ]
        choices = [self._atom(atom, assignment.before) for atom in atoms.values()]
        if math.prod(map(len, choices)) > _MAX_CASES:
            raise _TooManyError
        found: dict[object, object] = {}
        for values in itertools.product(*choices):
            known = dict(zip(atoms, values, strict=True))
            if all(_evaluate(condition, known) is True for condition in filters):
                value = _evaluate(assignment.new, known)
                if not isinstance(value, _Anybody | Place):
                    found.setdefault(key(value), value)
        return list(found.values())

    def _atom(self, expression: Expression, before: frozenset[str]) -> list[object]:
        """What a part of an expression that is no function of values can be."""
        match expression:
            case Name(text="start" | "target"):
                return list(self._places.all)
            case Name() | Index():
                return [_ANYBODY, None]
            case Attribute(of=Name(text="state"), name="current_player"):
                return list(self._people.values())
            case Attribute(of=Name(text="state"), name=name):
                return list(self._state[name].values()) if name in self._state else [self._specification.initial_phase]
            case Attribute(of=Name(text="entity"), name=name) if name not in (POS, "schema"):
                return list(self._attribute(name).values()) or [*self._people.values()]
            case Attribute(of=of, name=name):
                found: dict[object, object] = {}
                for value in self._atom(of, before):
                    for each in self._attribute_of(value, name):
                        found.setdefault(key(each), each)
                return list(found.values())
            case Call(name="player", arguments=(Literal(value=str(name)),)) if name in self._people:
                return [self._people[name]]
            case Call(name="other_player" | "opponent_of" | "player"):
                return [*self._people.values(), None]
            case Call(name="adjacent" | "special_connection" | "path_clear"):
                return [True, False]
            case Call():
                return [*self._places.all, None]
        return [_evaluate(expression, {})]

    def _attribute(self, name: str) -> dict[object, object]:
        found: dict[object, object] = {}
        for (_, attribute), values in self._attributes.items():
            if attribute == name:
                found |= values
        return found

    def _attribute_of(self, value: object, name: str) -> Iterable[object]:
        if isinstance(value, _Anybody):
            if name == POS:
                return self._places.all
            if name == "schema":
                return list(self._specification.schemas)
            return [*self._attribute(name).values(), *([*self._people.values()] if name == OWNER else [])]
        if isinstance(value, Place):
            return [value.attributes.get(name)]
        if isinstance(value, _Somebody):
            return [
                value.name if name == "name" else self._specification.player(value.name).attributes.get(name)
            ]
        return [None]


def _set(values: Sequence[object]) -> dict[object, object]:
    found: dict[object, object] = {}
    for value in values:
        found.setdefault(key(value), value)
    return found


def _assignments(action: Action) -> Iterator[_Assignment]:
    conditions = tuple(clause.expression for clause in action.conditions)
    before: set[str] = set()
    for clause in action.effects:
        for new, is_state, name, around in _sets(clause.expression, ()):
            kept = tuple(each for each in (*conditions, *around) if not (_read(each) & before))
            yield _Assignment(clause, action, is_state, name, new, kept, frozenset(before))
        before |= {f"{'state' if is_state else ''}.{name}" for _, is_state, name, _ in _sets(clause.expression, ())}


def _sets(
    effect: Expression, around: tuple[Expression, ...]
) -> Iterator[tuple[Expression, bool, str, tuple[Expression, ...]]]:
    match effect:
        case Call(name="set", arguments=(Attribute(of=of, name=name), new)):
            yield new, isinstance(of, Name) and of.text == "state", name, around
        case Call(name="if", arguments=(condition, then, *otherwise)):
            yield from _sets(then, (*around, condition))
            for each in otherwise:
                yield from _sets(each, (*around, Call("not", (condition,), condition.at)))


def _read(expression: Expression) -> set[str]:
    """What an expression reads: `state.x` as itself, attributes as `.x`."""
    return {
        f"{'state' if isinstance(each.of, Name) and each.of.text == 'state' else ''}.{each.name}"
        for each in parts(expression)
        if isinstance(each, Attribute)
    }


def _mentioned(actions: Iterable[Action]) -> set[str]:
    """The state variables that actions read or write."""
    return {
        name.removeprefix("state.")
        for action in actions
        for clause in (*action.conditions, *action.effects)
        for name in _read(clause.expression)
        if name.startswith("state.")
    }


def _atoms(expression: Expression) -> Iterator[Expression]:
    """The largest parts that are no functions of values; literals are none."""
    if isinstance(expression, Call) and expression.name in PURE:
        for argument in expression.arguments:
            yield from _atoms(argument)
    elif not isinstance(expression, Literal):
        yield expression


def _name_of(expression: Expression) -> str:
    """An expression as text, the same for the same expression wherever it stands."""
    match expression:
        case Literal(value=value):
            return repr(value)
        case Name(text=name):
            return name
        case Attribute(of=of, name=name):
            return f"{_name_of(of)}.{name}"
        case Index(of=of, key=inner):
            return f"{_name_of(of)}[{_name_of(inner)}]"
        case Call(name=name, arguments=arguments):
            return f"{name}({', '.join(map(_name_of, arguments))})"


def _evaluate(expression: Expression, known: Mapping[str, object]) -> object:
    if isinstance(expression, Literal):
        return expression.value
    if isinstance(expression, Call) and expression.name in PURE:
        return PURE[expression.name](*[_evaluate(each, known) for each in expression.arguments])
    return known[_name_of(expression)]
