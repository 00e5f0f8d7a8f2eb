"""What is suspicious in a specification that is valid: rules that never apply, names without use, lopsided pieces.

A finding is never wrong about what the specification says; whether it was meant so only its author knows.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.errors import closest, quote
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name, parts, start_of, text_of
from ggn_store.gdl.folding import UNKNOWN, Case, Entity, Folding, Function
from ggn_store.gdl.specification import Action, Clause, Grid, HexGrid, Node, Place, Specification, Value
from ggn_store.gdl.types import Uses
from ggn_store.gdl.values import Domains

MAX_NODES: Final = 400
# How often conditions are tried in all: a few seconds' worth.
_MAX_TRIES: Final = 30_000_000
_MAX_KINDS: Final = 512
_MAX_STATES: Final = 256

Vector = tuple[int, int]
# The type of an entity, the attribute that makes it a king, and its value; then the owner.
_Group = tuple[str, str | None, str]
_Vectors = defaultdict[_Group, defaultdict[str, set[Vector]]]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something suspicious at a place; with the clause and the character in it, where it is about one."""

    code: str
    message: str
    place: Place
    clause: Clause | None = None
    at: int = 0


def findings(specification: Specification, uses: Uses, domains: Domains) -> list[Finding]:
    """Everything suspicious, in no particular order."""
    found = [*_unused(specification, uses), *_flow(specification), *_positions(specification)]
    found += [
        Finding(
            "stored-end-condition",
            "the end condition is only stored: no moves end the game here, the host applies it",
            each.condition.place,
            each.condition,
            start_of(each.condition.expression),
        )
        for each in specification.end_conditions
    ]
    if not specification.setup:
        found.append(Finding("no-setup", "there is no setup: the rules have no start position", Place("")))
    if sum(1 for _ in specification.topology.nodes()) > MAX_NODES:
        message = f"the board has more than {MAX_NODES} places: conditions were not tried on it"
        return [*found, Finding("large-board", message, Place("/topology"))]
    try:
        found += _Search(specification, domains).findings()
    except _TooManyError:
        message = "the game is too large to try all of its conditions: there may be more to find"
        found.append(Finding("large-game", message, Place("/interactions")))
    return found


def _unused(specification: Specification, uses: Uses) -> Iterator[Finding]:
    for variable in specification.variables.values():
        slot: tuple[str, ...] = ("state", variable.name)
        if slot not in uses.reads and slot not in uses.writes:
            yield Finding("unused-variable", f"nothing reads or sets the variable {variable.name}", variable.place)
        elif slot not in uses.reads:
            yield Finding(
                "unread-variable", f"the variable {variable.name} is set, and nothing reads it", variable.place
            )
        elif slot not in uses.writes:
            yield Finding("constant-variable", f"nothing sets the variable {variable.name}", variable.place)
    for schema in specification.schemas.values():
        for attribute in schema.attributes.values():
            slot = ("entity", schema.name, attribute.name)
            if attribute.name != "owner" and slot not in uses.reads:
                message = f"nothing reads the attribute {attribute.name} of {schema.name}"
                yield Finding("unused-attribute", message, attribute.place)
    for name in dict.fromkeys(name for player in specification.players for name in player.attributes):
        if ("player", name) not in uses.reads:
            player = next(player for player in specification.players if name in player.attributes)
            message = f"nothing reads the attribute {name} of players"
            yield Finding("unused-player-attribute", message, Place(f"{player.place.pointer}/attributes/{name}"))


def _flow(specification: Specification) -> Iterator[Finding]:
    allowed = {name for phase in specification.phases for name in phase.allowed_actions}
    for action in specification.actions:
        if action.name not in allowed:
            message = f"no phase allows the action {action.name}: it is never used"
            yield Finding("unused-action", message, action.place)
        if not action.effects:
            yield Finding("no-effect", f"the action {action.name} changes nothing", action.place)
    begun = {specification.initial_phase}
    for action in specification.actions:
        for clause in action.effects:
            for part in parts(clause.expression):
                match part:
                    case Call(name="set", arguments=(Attribute(of=Name("state"), name="phase"), value)):
                        if not isinstance(value, Literal):
                            begun = {phase.name for phase in specification.phases}
                        elif isinstance(value.value, str):
                            begun.add(value.value)
    for phase in specification.phases:
        if not phase.allowed_actions:
            yield Finding("empty-phase", f"the phase {phase.name} allows no action", phase.place)
        if phase.name not in begun:
            message = f"the phase {phase.name} never begins: no effect sets state.phase to it"
            yield Finding("unreachable-phase", message, phase.place)


def _positions(specification: Specification) -> Iterator[Finding]:
    """Actions that say where an entity is, and leave the board as it is."""
    for action in specification.actions:
        calls = [
            (clause, part)
            for clause in action.effects
            for part in parts(clause.expression)
            if isinstance(part, Call) and part.name == "set"
        ]
        if any(isinstance(call.arguments[0], Index) for _, call in calls):
            continue
        for clause, call in calls:
            place = call.arguments[0]
            if isinstance(place, Attribute) and place.name == "pos":
                message = "the entity does not move: only the board says where entities are, set(board[target], entity)"
                yield Finding("position-only", message, clause.place, clause, call.at)


class _TooManyError(Exception):
    """More has been tried than can be waited for."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """An action with its conditions as functions."""

    action: Action
    conditions: tuple[tuple[Clause, str, Function], ...]


class _Search:
    """Tries conditions on every pair of places, with all that can stand on the target."""

    def __init__(self, specification: Specification, domains: Domains) -> None:
        self._specification = specification
        self._domains = domains
        self._folding = Folding(specification)
        self._rules = {
            action.name: _Rule(
                action,
                tuple(
                    (clause, text_of(clause.expression), self._folding.function(clause.expression))
                    for clause in action.conditions
                ),
            )
            for action in specification.actions
        }
        # An attribute that no condition mentions need not be known.
        expressions = [
            clause.expression for action in specification.actions for clause in (*action.conditions, *action.effects)
        ]
        self._named = {part.name for each in expressions for part in parts(each) if isinstance(part, Attribute)}
        self._kinds = self._all_kinds()
        self._tries = 0
        self._known_vectors: dict[str, _Vectors] = {}
        self._pairs: dict[str, dict[Entity, list[tuple[Node, Node]]]] = {}

    def findings(self) -> Iterator[Finding]:
        """All findings of rules that never apply, and of pieces that move strangely."""
        allowed = {name for phase in self._specification.phases for name in phase.allowed_actions}
        holding = set()
        for name, rule in self._rules.items():
            self._pairs[name] = self._possible(rule)
            if next(self._cases(rule), None) is not None:
                holding.add(name)
                yield from self._idle_effects(rule)
            else:
                yield from self._culprits(rule)
        for name in self._rules:
            if name in allowed and name in holding:
                yield from self._shadow(self._rules[name], holding)
        yield from self._directions(allowed)
        for name in self._rules:
            if name in allowed and name in holding:
                yield from self._ignored_middle(self._rules[name], allowed)

    # Cases.

    def _all_kinds(self) -> list[Entity]:
        kinds: list[Entity] = []
        for schema in self._specification.schemas.values():
            names = [name for name in schema.attributes if name in self._named and name != "owner"]
            choices = [self._domains.attributes[schema.name, name] for name in names]
            if math.prod(map(len, choices)) * 2 > _MAX_KINDS:
                names, choices = [], []
            for player in self._specification.players:
                for values in itertools.product(*choices):
                    attributes = dict(zip(names, values, strict=True))
                    kinds.append(self._folding.entity(player.name, schema.name, attributes))
        return kinds

    def _states(self, rule: _Rule) -> list[dict[str, Any]]:
        """Every combination of the variables that the conditions read; one that is empty where there are too many."""
        names = dict.fromkeys(
            part.name
            for clause in rule.action.conditions
            for part in parts(clause.expression)
            if isinstance(part, Attribute)
            and isinstance(part.of, Name)
            and part.of.text == "state"
            and part.name in self._domains.variables
        )
        choices: list[Sequence[Value]] = [self._domains.variables[name] for name in names]
        phases = [phase.name for phase in self._specification.phases if rule.action.name in phase.allowed_actions]
        choices = [phases if name == "phase" and phases else each for name, each in zip(names, choices, strict=True)]
        if math.prod(map(len, choices)) > _MAX_STATES:
            return [{}]
        return [self._folding.state(dict(zip(names, values, strict=True))) for values in itertools.product(*choices)]

    def _possible(self, rule: _Rule) -> dict[Entity, list[tuple[Node, Node]]]:
        """The kinds and pairs of places that the conditions do not rule out, whatever else is on the board."""
        nodes = self._folding.board.nodes
        free = [function for clause, _, function in rule.conditions if not _is_local(clause.expression)]
        local = [function for clause, _, function in rule.conditions if _is_local(clause.expression)]
        found: dict[Entity, list[tuple[Node, Node]]] = {}
        for kind in self._kinds:
            case = Case(nodes[0], nodes[0], kind)
            if not _may_hold(free, case):
                continue
            pairs = []
            self._count(len(nodes) ** 2 * (1 + len(local)))
            for case.start in nodes:
                for case.target in nodes:
                    if _may_hold(local, case):
                        pairs.append((case.start, case.target))
            if pairs:
                found[kind] = pairs
        return found

    def _cases(self, rule: _Rule, conditions: Iterable[Function] | None = None) -> Iterator[Case]:
        """The cases that the conditions do not rule out: kind, pair, what is on the target, state."""
        functions = [function for _, _, function in rule.conditions] if conditions is None else [*conditions]
        states = self._states(rule)
        contents: list[Entity | None] = [None, *self._kinds] if self._reads_board(rule) else []
        for kind, pairs in self._pairs[rule.action.name].items():
            for start, target in pairs:
                self._count((1 + len(contents)) * len(states) * (1 + len(functions)))
                known = [{target: content} for content in contents] if start != target and contents else [{}]
                for content, state in itertools.product(known, states):
                    case = Case(start, target, kind, content, state)
                    if _may_hold(functions, case):
                        yield case

    def _count(self, tries: int) -> None:
        self._tries += tries
        if self._tries > _MAX_TRIES:
            raise _TooManyError

    def _reads_board(self, rule: _Rule) -> bool:
        return any(isinstance(part, Index) for clause in rule.action.conditions for part in parts(clause.expression))

    # Rules that never apply.

    def _culprits(self, rule: _Rule) -> Iterator[Finding]:
        alone = [each for each in rule.conditions if not self._can_hold(rule, [each])]
        for clause, _, _ in alone:
            message = f"this condition never holds{self._hint(clause.expression)}, so the action is never possible"
            yield Finding("never-holds", message, clause.place, clause, start_of(clause.expression))
        if alone:
            return
        together = [*rule.conditions]
        for each in rule.conditions:
            fewer = [other for other in together if other is not each]
            if not self._can_hold(rule, fewer):
                together = fewer
        clause = together[-1][0]
        others = " and ".join(each.text for each, _, _ in together[:-1])
        message = f"this condition never holds together with {others}: the action is never possible"
        yield Finding("never-holds", message, clause.place, clause, start_of(clause.expression))

    def _can_hold(self, rule: _Rule, conditions: list[tuple[Clause, str, Function]]) -> bool:
        action = Action(rule.action.name, tuple(each[0] for each in conditions), (), False, rule.action.place)
        part = _Rule(action, tuple(conditions))
        before = self._pairs[rule.action.name]
        self._pairs[rule.action.name] = self._possible(part)
        holds = next(self._cases(part), None) is not None
        self._pairs[rule.action.name] = before
        return holds

    def _hint(self, condition: Expression) -> str:
        """Which value nothing ever has, where the condition asks for one."""
        for part in parts(condition):
            match part:
                case Call(name="eq", arguments=(Attribute(name=name), Literal(value=str(text)))):
                    known = [
                        value
                        for (_, attribute), values in self._domains.attributes.items()
                        if attribute == name
                        for value in values
                        if isinstance(value, str)
                    ]
                    if known and text not in known:
                        near = closest(text, known)
                        guess = f": did you mean {quote(near)}?" if near else ""
                        return f" (nothing ever has {name} {quote(text)}{guess})"
        return ""

    def _idle_effects(self, rule: _Rule) -> Iterator[Finding]:
        """Effects under a condition that is false for every pair of places at which the action is possible."""
        changed: set[str] = set()
        for clause in rule.action.effects:
            match clause.expression:
                case Call(name="if", arguments=(condition, *_)):
                    inner = [*parts(condition)]
                    names = {part.name for part in inner if isinstance(part, Attribute)}
                    is_plain = not any(isinstance(part, Index | Name) and _is_open(part) for part in inner)
                    if is_plain and not names & changed and not self._may_happen(rule, condition):
                        message = f"this effect never happens: {text_of(condition)} never holds here"
                        yield Finding("never-holds", message, clause.place, clause, start_of(condition))
            for part in parts(clause.expression):
                match part:
                    case Call(name="set", arguments=(Attribute(name=name), _)):
                        changed.add(name)

    def _may_happen(self, rule: _Rule, condition: Expression) -> bool:
        function = self._folding.function(condition)
        for kind, pairs in self._pairs[rule.action.name].items():
            for start, target in pairs:
                value = function(Case(start, target, kind))
                if value is UNKNOWN or value is True:
                    return True
        return False

    def _shadow(self, rule: _Rule, holding: set[str]) -> Iterator[Finding]:
        """Whether in each phase that allows an action, those before it take all of its moves."""
        shadows: dict[str, None] = {}
        for phase in self._specification.phases:
            if rule.action.name not in phase.allowed_actions:
                continue
            before = phase.allowed_actions[: phase.allowed_actions.index(rule.action.name)]
            earlier = [self._rules[name] for name in before if name in holding]
            taking = self._taking(rule, earlier)
            if not taking:
                return
            shadows |= dict.fromkeys(taking)
        names = " and ".join(shadows)
        message = f"the action {rule.action.name} is never chosen: wherever it is possible, {names} comes first"
        yield Finding("shadowed-action", message, rule.action.place)

    def _taking(self, rule: _Rule, earlier: list[_Rule]) -> list[str]:
        """The earlier rules that together take every case of a rule; none where a case is left."""
        texts = {text for _, text, _ in rule.conditions}
        rests = []
        for other in earlier:
            rest = [function for _, text, function in other.conditions if text not in texts]
            if not rest:
                return [other.action.name]
            if not self._pairs[rule.action.name].keys().isdisjoint(self._pairs[other.action.name]):
                rests.append((other.action.name, rest))
        taking: dict[str, None] = {}
        if not rests:
            return []
        for case in self._cases(rule):
            self._count(sum(len(rest) for _, rest in rests))
            name = next((name for name, rest in rests if all(function(case) is True for function in rest)), None)
            if name is None:
                return []
            taking[name] = None
        return [*taking]

    # Pieces that move strangely.

    def _group(self, kind: Entity) -> _Group:
        """The type of an entity and its first text attribute: what makes a king a king."""
        for name, attribute in self._specification.schemas[kind.schema].attributes.items():
            if attribute.type == "string" and name in kind.attributes:
                return kind.schema, name, f"{kind.attributes[name]}"
        return kind.schema, None, kind.schema

    def _vectors(self, name: str) -> _Vectors:
        """For each group of kinds and each owner, how far an action leads."""
        if name not in self._known_vectors:
            found: _Vectors = defaultdict(lambda: defaultdict(set))
            for kind, pairs in self._pairs[name].items():
                vectors = found[self._group(kind)][kind.owner.name]
                vectors.update(_vector(start, target) for start, target in pairs if start != target)
            self._known_vectors[name] = found
        return self._known_vectors[name]

    def _moves(self, names: Iterable[str]) -> _Vectors:
        """The same for several actions together."""
        found: _Vectors = defaultdict(lambda: defaultdict(set))
        for name in names:
            for group, by_owner in self._vectors(name).items():
                for owner, vectors in by_owner.items():
                    found[group][owner] |= vectors
        return found

    def _directions(self, allowed: set[str]) -> Iterator[Finding]:
        groups = dict.fromkeys(map(self._group, self._kinds))
        names = [name for name in self._rules if name in allowed]
        moving = {self._group(kind) for name in names for kind in self._pairs[name]}
        for group in groups:
            if group not in moving:
                message = f"no action moves {_noun(group)}"
                yield Finding("never-moves", message, self._specification.schemas[group[0]].place)
        board = self._specification.topology
        if not isinstance(board, Grid):
            return
        for group, by_owner in self._moves(names).items():
            sets = [*by_owner.values()]
            if len(sets) < 2 or any(vectors != sets[0] for vectors in sets):
                continue  # one side moves in another way: the rules look at the direction of the player
            units = {_unit(vector) for vector in sets[0]}
            missing = set()
            for unit in units:
                for turned in _rotations(unit, isinstance(board, HexGrid)):
                    if turned not in units and abs(turned[0]) < board.width and abs(turned[1]) < board.height:
                        missing.add(turned)
            if missing:
                first = next(name for name in names if any(self._group(kind) == group for kind in self._pairs[name]))
                yield Finding(
                    "missing-directions",
                    f"{_noun(group)} never moves {_words(missing, board)}, though it moves {_words(units, board)}",
                    self._rules[first].action.place,
                )

    def _ignored_middle(self, rule: _Rule, allowed: set[str]) -> Iterator[Finding]:
        for clause in rule.action.conditions:
            for part in parts(clause.expression):
                if isinstance(part, Call) and part.name in ("path_clear", "mid_pos", "node"):
                    return
        if not isinstance(self._specification.topology, Grid):
            return
        others = [name for name in self._rules if name in allowed and name != rule.action.name]
        for group, by_owner in self._vectors(rule.action.name).items():
            for owner, vectors in by_owner.items():
                if {math.gcd(*vector) for vector in vectors} != {2}:
                    continue
                self._count(len(others))
                steps = set[Vector]().union(*(self._vectors(name)[group][owner] for name in others))
                if all(_unit(vector) in steps for vector in vectors):
                    message = (
                        f"the double step of {_noun(group)} ignores what stands on the place between: "
                        "path_clear(start, target) would ask for it"
                    )
                    yield Finding("ignored-middle", message, rule.action.place)
                    return


def _may_hold(conditions: Iterable[Function], case: Case) -> bool:
    for condition in conditions:
        value = condition(case)
        if value is not True and value is not UNKNOWN:
            return False
    return True


def _is_local(expression: Expression) -> bool:
    """Whether an expression depends on the places of start and target."""
    return any(
        isinstance(part, Index)
        or (isinstance(part, Name) and part.text in ("start", "target"))
        or (isinstance(part, Attribute) and part.name == "pos")
        for part in parts(expression)
    )


def _is_open(part: Index | Name) -> bool:
    return isinstance(part, Index) or part.text in ("board", "state")


def _vector(start: Node, target: Node) -> Vector:
    if isinstance(start, str) or isinstance(target, str):
        return (0, 0)
    return target[0] - start[0], target[1] - start[1]


def _unit(vector: Vector) -> Vector:
    length = math.gcd(*vector)
    return vector[0] // length, vector[1] // length


def _rotations(vector: Vector, is_hex: bool) -> Iterator[Vector]:
    for _ in range(5 if is_hex else 3):
        x, y = vector
        vector = (-y, x + y) if is_hex else (-y, x)
        yield vector


_WORDS: Final[Mapping[frozenset[Vector], str]] = {
    frozenset({(0, 1), (0, -1)}): "vertically",
    frozenset({(1, 0), (-1, 0)}): "horizontally",
    frozenset({(1, 1), (1, -1), (-1, 1), (-1, -1)}): "diagonally",
}


def _words(vectors: set[Vector], board: Grid) -> str:
    """Directions in words where there are some, else as steps of x and y."""
    left = set(vectors)
    found = []
    if not isinstance(board, HexGrid):
        for group, word in _WORDS.items():
            if group <= left:
                found.append(word)
                left -= group
    if left:
        found.append("by " + ", ".join(f"({x:+d}, {y:+d})" for x, y in sorted(left)))
    return " and ".join(found)


def _noun(group: _Group) -> str:
    schema, name, value = group
    return f"a {schema}" if name is None else f"a {schema} of {name} {value}"
