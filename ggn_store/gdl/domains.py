"""Which values variables and attributes can have: what is declared, else what the setup and all effects give them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ggn_store import limits
from ggn_store.gdl.draft import Draft
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name, parts, text_of
from ggn_store.gdl.functions import PURE, conjuncts, is_number
from ggn_store.gdl.language import FUNCTIONS
from ggn_store.gdl.specification import Action, Clause, Specification, SpecValue

_MAX_COMBINATIONS: Final = 65_536
# Of all assignments together: far above what games need, and a few seconds.
_MAX_STEPS: Final = 400_000

# None: nothing can be said.
_Values = frozenset[SpecValue] | None
# What an assignment gives that has too many values, which is all that counts: None says that nothing is known.
_TOO_MANY: Final = frozenset[SpecValue](("...",))
# ("state", variable) or ("entity", type, attribute)
Slot = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unbounded:
    """An effect that gives a variable or an attribute ever more values."""

    slot: Slot
    clause: Clause
    value: Expression


@dataclass(frozen=True, slots=True)
class Domains:
    """The values of each variable and of each attribute of each type, sorted; `unbounded` is what has too many."""

    variables: Mapping[str, tuple[SpecValue, ...]]
    attributes: Mapping[tuple[str, str], tuple[SpecValue, ...]]
    unbounded: tuple[Unbounded, ...] = ()


def domains_of(draft: Draft | Specification) -> Domains:
    """The values that variables (`phase` among them) and attributes can have: the check and the compiler go by these.

    An effect counts where the conditions around it can hold for the values that it is computed from: a counter
    that is counted up under `lt(state.count, 3)` ends at 3. An attribute of what stands on a place counts as if
    something stood there; where null can come of an empty place, the compiler refuses the effect that sets it.
    """
    return _Closure(draft).domains()


def order(value: SpecValue) -> tuple[str, int, str]:
    """A key that sorts values of all types: null, false, true, numbers, texts."""
    if value is None:
        return "", 0, ""
    return ("0", int(value), "") if isinstance(value, bool | int) else ("1", 0, value)


class _Closure:
    """Grows the values of every slot until no effect adds any."""

    def __init__(self, draft: Draft | Specification) -> None:
        self._draft = draft
        self._players: frozenset[SpecValue] = frozenset(player.name for player in draft.players)
        self._found: dict[Slot, frozenset[SpecValue]] = {}
        self._is_fixed: set[Slot] = set()
        self._unbounded: dict[Slot, Unbounded] = {}
        self._steps = 0
        for name, variable in draft.variables.items():
            self._begin(("state", name), variable.type, variable.values, (variable.initial,))
        self._begin(("state", "phase"), "string", tuple(phase.name for phase in draft.phases), ())
        for schema in draft.schemas.values():
            for name, attribute in schema.attributes.items():
                placed = [
                    each.attributes.get(name)
                    for each in draft.setup
                    if each.schema == schema.name and (each.nodes or each.in_hand)
                ]
                default = () if attribute.initial is None else (attribute.initial,)
                # A side has what it is given.
                kind = "string" if name == "owner" and placed else attribute.type
                self._begin(("entity", schema.name, name), kind, attribute.values, (*default, *placed))

    def domains(self) -> Domains:
        assignments = [each for action in self._draft.actions for each in _assignments(action)]
        changed = True
        while changed:
            changed = False
            for assignment in assignments:
                for slot in self._slots(assignment.place):
                    changed = self._grow(slot, assignment) or changed
        variables, attributes = {}, {}
        for slot, values in self._found.items():
            if slot[0] == "state":
                variables[slot[1]] = tuple(sorted(values, key=order))
            else:
                attributes[slot[1], slot[2]] = tuple(sorted(values, key=order))
        return Domains(variables, attributes, tuple(self._unbounded.values()))

    def _begin(
        self, slot: Slot, kind: str, declared: tuple[SpecValue, ...] | None, values: Iterable[SpecValue]
    ) -> None:
        if declared is not None:
            self._is_fixed.add(slot)
        known = declared if declared is not None else {"bool": (False, True), "player_ref": self._players}.get(kind)
        if known is not None:
            values = (*known, *(value for value in values if value is None))
        self._found[slot] = frozenset(values)

    def _grow(self, slot: Slot, assignment: _Assignment) -> bool:
        if slot in self._is_fixed or slot in self._unbounded or slot not in self._found:
            return False
        values = self._assigned(assignment)
        before = self._found[slot]
        if values is None or values <= before:
            return False
        if values is _TOO_MANY or len(before | values) > limits.DESCRIPTION_VALUES.most:
            self._unbounded[slot] = Unbounded(slot, assignment.clause, assignment.value)
            return False
        self._found[slot] = before | values
        return True

    def _slots(self, place: Expression) -> Iterator[Slot]:
        match place:
            case Attribute(of=Name("state"), name=name):
                yield "state", name
            case Attribute(name=name):
                for schema in self._draft.schemas.values():
                    if name in schema.attributes:
                        yield "entity", schema.name, name

    def _values(self, expression: Expression) -> _Values:
        match expression:
            case Literal(value=value):
                return frozenset((value,))
            case Attribute(of=Name("state"), name="current_player"):
                return self._players
            case Attribute(of=Name("state"), name=name):
                return self._found.get(("state", name))
            case Attribute():
                return self._attribute(expression)
            case Call(name="player", arguments=(Literal(value=value),)):
                return frozenset((value,))
            case Call(name="other_player" | "opponent_of"):
                return self._players
            case Call(name="adjacent" | "path_clear" | "special_connection" | "in_row"):
                return frozenset((False, True))
            case Call(name="count_on_line") if self._draft.topology is not None:
                return frozenset(range(self._draft.topology.geometry.longest + 1))
        return None

    def _attribute(self, expression: Attribute) -> _Values:
        draft, name = self._draft, expression.name
        if self._is_place(expression.of):
            board = draft.topology
            return None if board is None else frozenset(each.get(name) for each in board.attributes.values())
        if self._is_player(expression.of):
            if name == "name":
                return self._players
            return frozenset(player.attributes.get(name) for player in draft.players)
        if name == "schema":
            return frozenset(draft.schemas)
        found = [self._found[slot] for slot in self._slots(expression) if slot in self._found]
        return frozenset(itertools.chain.from_iterable(found)) if found else None

    def _is_place(self, expression: Expression) -> bool:
        match expression:
            case Name(text="start" | "target") | Call(name="mid_pos" | "node") | Attribute(name="pos"):
                return True
        return False

    def _is_player(self, expression: Expression) -> bool:
        match expression:
            case Call(name="player" | "other_player" | "opponent_of") | Attribute(name="owner" | "current_player"):
                return True
            case Attribute(of=Name("state"), name=name):
                variable = self._draft.variables.get(name)
                return variable is not None and variable.type == "player_ref"
            case Attribute(of=Name("entity") | Index() | Call(name="only_between"), name=name):
                return any(
                    schema.attributes[name].type == "player_ref"
                    for schema in self._draft.schemas.values()
                    if name in schema.attributes
                )
        return False

    def _assigned(self, assignment: _Assignment) -> _Values:
        """What an assignment can give, where the conditions around it that are about the same values hold."""
        atoms = {text_of(atom): atom for atom in _atoms(assignment.value)}
        around = [each for each in assignment.around if {text_of(atom) for atom in _atoms(each)} <= atoms.keys()]
        return self._cases(assignment.value, atoms, around)

    def _cases(self, value: Expression, atoms: Mapping[str, Expression], around: Sequence[Expression]) -> _Values:
        found = [self._values(atom) for atom in atoms.values()]
        sets = [values for values in found if values is not None]
        if len(sets) < len(found):
            return None
        combinations = math.prod(map(len, sets))
        self._steps += combinations
        if combinations > _MAX_COMBINATIONS or self._steps > _MAX_STEPS:
            return _TOO_MANY
        results = set()
        for each in itertools.product(*sets):
            known = dict(zip(atoms, each, strict=True))
            try:
                if all(_evaluate(condition, known) is True for condition in around):
                    results.add(_evaluate(value, known))
            except _HugeError:
                return _TOO_MANY
        return frozenset(results)


class _HugeError(Exception):
    """A number is out of all proportion."""


def _atoms(expression: Expression) -> Iterator[Expression]:
    """The parts of an expression that are not computed from other parts."""
    match expression:
        case Literal():
            return
        case Call(name=name, arguments=arguments) if name in PURE:
            for argument in arguments:
                yield from _atoms(argument)
        case _:
            yield expression


def _evaluate(expression: Expression, known: Mapping[str, SpecValue]) -> SpecValue:
    """The value of an expression whose atoms are known; raises _HugeError for a number out of all proportion."""
    match expression:
        case Literal(value=value):
            return value
        case Call(name=name, arguments=arguments) if name in PURE:
            values = [_evaluate(argument, known) for argument in arguments]
            if not FUNCTIONS[name].takes(len(values)):
                return None  # the specification is wrong, and it is said elsewhere
            result = PURE[name](*values)
            if result is None and name in ("add", "sub", "mul") and all(map(is_number, values)):
                raise _HugeError
            return result
    return known[text_of(expression)]


@dataclass(frozen=True, slots=True)
class _Assignment:
    """`set(place, value)`, and the conditions that hold where it happens."""

    clause: Clause
    place: Expression
    value: Expression
    around: tuple[Expression, ...]


def _assignments(action: Action) -> Iterator[_Assignment]:
    conditions = [part for clause in action.conditions for part in conjuncts(clause.expression)]
    for clause in action.effects:
        for place, value, around in _sets(clause.expression, ()):
            yield _Assignment(clause, place, value, (*conditions, *around))
        # What an effect has set is no longer what the conditions were about.
        changed = attributes_set(clause.expression)
        conditions = [
            condition
            for condition in conditions
            if not any(isinstance(part, Attribute) and part.name in changed for part in parts(condition))
        ]


def attributes_set(effect: Expression) -> set[str]:
    """The attributes and state variables that an effect sets."""
    return {place.name for place, _, _ in _sets(effect, ()) if isinstance(place, Attribute)}


def _sets(
    effect: Expression, around: tuple[Expression, ...]
) -> Iterator[tuple[Expression, Expression, tuple[Expression, ...]]]:
    match effect:
        case Call(name="set", arguments=(place, Call(name="if", arguments=(condition, *values), at=at))):
            # As an effect: what cannot be said of the condition says nothing against the values.
            chosen = tuple(Call("set", (place, each), effect.at) for each in values)
            yield from _sets(Call("if", (condition, *chosen), at), around)
        case Call(name="set", arguments=(place, value)):
            yield place, value, around
        case Call(name="if", arguments=(condition, *effects)):
            branches = ((*around, *conjuncts(condition)), (*around, Call("not", (condition,), condition.at)))
            for each, branch in zip(effects, branches, strict=False):
                yield from _sets(each, branch)
