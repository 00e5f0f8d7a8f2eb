"""A specification -> its rules as a document of the dialect `gdl`.

Each kind of entity is tried on each start with each target. What can be known without a position is asked first, and
ends most of it; what is left of the conditions becomes a diagram over squares and state variables. The first action of
a phase that holds is the one, so what it takes is taken from those after it. Effects run on the same diagrams, and
where they come to different ends, each is a possibility of its own.

The order is part of the result, which is the same to the byte each time: the first player's pieces before the second's,
kinds in the order of their values, sources and destinations in the order of the board, actions in the order of the
phases, and of each action what is found on an empty square before what is found on others.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ggn_store.errors import InputError, SpecificationError, SpecificationProblem, printable
from ggn_store.gdl.boxes import Covers, guards
from ggn_store.gdl.diagrams import Box, Node, Part, TooManyNodesError, Value, count_paths, known_values, paths
from ggn_store.gdl.expressions import Attribute, Name, parts
from ggn_store.gdl.functions import conjuncts, same
from ggn_store.gdl.ground import ENTITY, POSITION, START, TARGET, Code, Do, Grounder
from ggn_store.gdl.identifiers import Identifiers, Wish, read_wish, style_of
from ggn_store.gdl.kinds import MAX_KINDS, OWNER, POS, Kind, TooManyKindsError, kinds, text
from ggn_store.gdl.places import Place, Places
from ggn_store.gdl.problems import problem, problem_of
from ggn_store.gdl.specification import Action, Grid, Specification, label
from ggn_store.gdl.values import domains
from ggn_store.gdl.world import UNTOUCHED, Body, Domain, Person, World
from ggn_store.model import variables as model_variables
from ggn_store.model.document import Destination, Document, Envelope, Origin, Piece, Possibility, Source
from ggn_store.notation import feen
from ggn_store.notation.qpi import Side
from ggn_store.notation.stn import Transition

MAX_POSSIBILITIES: Final = 5_000_000
MAX_OF_ENTRY: Final = 10_000
_MAX_KEPT: Final = 150_000
_MAX_PROBLEMS: Final = 50
PHASE: Final = "phase"
_KEPT: Final = type("Kept", (), {"__repr__": lambda self: "kept"})()


@dataclass(frozen=True, slots=True)
class Compiled:
    """The document of a specification, and what stands behind its identifiers."""

    document: Document
    kinds: Mapping[str, Kind]


def compile(  # noqa: A001  (the command of the same name calls it so)
    specification: Specification,
    piece_map: Mapping[str, str] | None = None,
    style: str | None = None,
    file: str | None = None,
) -> Compiled:
    """The rules of a checked specification.

    `piece_map` gives kinds (`king`, or `king,moved=true`) their codes (`K`, `+K`), `style` is that of all identifiers.
    Raises SpecificationError with every problem that shows only here, which carry the name `file`, and NotationError
    for a map or a style that does not fit.
    """
    return _Compiler(specification, piece_map or {}, style, file).compiled()


class _Fault:
    """What an action would do that cannot be: a value like any other until it is known to happen."""

    __slots__ = ("message", "sets")

    def __init__(self, message: str, sets: str | None = None) -> None:
        self.message = message
        self.sets = sets


@dataclass(frozen=True, slots=True)
class _Rule:
    """An action with its conditions, sorted by what they need to be known."""

    action: Action
    of_entity: tuple[Code, ...]
    of_start: tuple[Code, ...]
    of_target: tuple[Code, ...]
    of_pair: tuple[Code, ...]
    of_position: tuple[Code, ...]
    effects: tuple[Do, ...]


class _Pairs:
    """Conditions on start and target alone, each asked once for each pair."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._known: dict[int, bytearray] = {}

    def holds(self, code: Code, world: World) -> bool:
        if ENTITY in code.needs:
            return code.run(world) is True
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = bytearray(self._places * self._places)
        pair = world.start.number * self._places + world.target.number
        if not known[pair]:
            known[pair] = 1 if code.run(world) is True else 2
        return known[pair] == 1


class _Compiler:
    """Everything that the compilation of one specification goes by."""

    def __init__(
        self, specification: Specification, piece_map: Mapping[str, str], style: str | None, file: str | None
    ) -> None:
        self._specification = specification
        self._file = file
        self._problems: list[SpecificationProblem] = []
        self._values = domains(specification)
        places = Places(specification.topology)
        people = {player.name: Person(number, player) for number, player in enumerate(specification.players)}
        found = self._kinds()
        self._variables = self._domains()
        self._check_texts()
        self._stop()
        self._world = World(places, people, found, specification.schemas, self._variables)
        self._texts = [(name, [text(value) for value in domain.values]) for name, domain in self._variables.items()]
        wishes: list[Wish] = [read_wish(kind, code) for kind, code in piece_map.items()]
        identifiers = Identifiers(specification, self._world, style_of(specification.title, style))
        self.identifiers = identifiers.of_all(wishes)
        self._style = style_of(specification.title, style)
        self._problems += identifiers.problems
        self._stop()
        self._squares = [place.label for place in places.all]
        self._by_attributes = {_identity(kind.owner, kind.schema, kind.attributes): n for n, kind in enumerate(found)}
        self._covers = {
            person: Covers(self.identifiers, [kind.owner != person.name for kind in found])
            for person in people.values()
        }
        self._pairs = _Pairs(len(places.all))
        self._grounder, self._effects = Grounder(self._world), Grounder(self._world, in_effects=True)
        self._rules = {action.name: self._rule(action) for action in self._actions()}
        self._count = 0

    def compiled(self) -> Compiled:
        pieces = []
        for number in range(len(self._world.kinds)):
            sources = tuple(self._sources(number))
            self._stop()
            if sources:
                pieces.append(Piece(self.identifiers[number], sources))
        if not pieces:
            title = printable(self._specification.title)
            raise InputError(f"{title}: no action of this game can ever be done: see the conditions of its actions")
        document = Document("gdl", tuple(pieces), self._envelope())
        return Compiled(document, dict(zip(self.identifiers, self._world.kinds, strict=True)))

    def _stop(self) -> None:
        if self._problems:
            raise SpecificationError(replace(each, file=self._file) for each in self._problems)

    def _kinds(self) -> list[Kind]:
        try:
            return list(kinds(self._specification, self._values))
        except TooManyKindsError as error:
            schema = self._specification.schemas[error.schema]
            message = f"{schema.name} has more than {MAX_KINDS} combinations of attributes, each of which is a piece"
            self._problems.append(problem("entity_schemas", schema.place, message))
            return []

    def _domains(self) -> dict[str, Domain]:
        """The state variables that actions read or write, and the phase where there are several."""
        specification = self._specification
        used = _variables_of(self._actions())
        found = {}
        if len(specification.phases) > 1 or PHASE in used:
            first = specification.initial_phase
            names = [phase.name for phase in specification.phases]
            found[PHASE] = Domain("string", (first, *(name for name in names if name != first)))
        for name, variable in specification.variables.items():
            if name in used:
                others = [value for value in self._values.variables[name] if not same(value, variable.initial)]
                found[name] = Domain(variable.type, (variable.initial, *others))
        return found

    def _actions(self) -> list[Action]:
        """The actions that a phase allows, in the order of the phases."""
        order = {name: None for phase in self._specification.phases for name in phase.allowed_actions}
        return [self._specification.action(name) for name in order]

    def _check_texts(self) -> None:
        for name, domain in self._variables.items():
            texts = [text(value) for value in domain.values]
            place = self._specification.variables[name].place if name != PHASE else None
            wrong = None
            if len(set(texts)) < len(texts):
                twice = next(each for each in texts if texts.count(each) > 1)
                wrong = f"state.{name} has two values that are both written {twice}"
            elif "" in texts:
                wrong = f"state.{name} has an empty text as a value"
            if wrong is not None and place is not None:
                self._problems.append(problem("state_schema", place, wrong))

    # --- the envelope ---

    def _envelope(self) -> Envelope:
        topology = self._specification.topology
        declared = [
            model_variables.Variable(name, tuple(sorted(texts)), texts[0])
            for name, texts in self._texts
            if name != PHASE or len(texts) > 1
        ]
        return Envelope(
            title=self._specification.title,
            start=self._start(),
            board=topology.shape if isinstance(topology, Grid) else None,
            definition=self._specification.text or None,
            variables=model_variables.text(declared),
        )

    def _start(self) -> str | None:
        """The position of the setup in FEEN, in JSON where the board is none that FEEN can write; None without one."""
        topology = self._specification.topology
        if not self._specification.setup:
            return None
        board = {}
        for placement in self._specification.setup:
            attributes = dict(placement.attributes)
            owner = attributes.pop(OWNER)
            attributes.pop(POS, None)
            number = self._by_attributes.get(_identity(owner, placement.schema, attributes))
            if number is None:
                return None
            for node in placement.nodes:
                board[label(node)] = self.identifiers[number]
        is_first = self._specification.first_player == self._specification.players[0].name
        side: Side = "first" if is_first else "second"
        if not isinstance(topology, Grid) or topology.height == 1:
            return json.dumps({"board": board, "hands": {}, "side": side}, ensure_ascii=False, separators=(",", ":"))
        return feen.text(feen.Feen((topology.width, topology.height), board, {}, side, (self._style, self._style)))

    # --- rules ---

    def _rule(self, action: Action) -> _Rule:
        sorted_: dict[frozenset[str], list[Code]] = {}
        for clause in action.conditions:
            for expression in conjuncts(clause.expression):
                code = self._grounder.code(expression)
                level = frozenset({POSITION}) if not code.is_static else code.needs - {ENTITY}
                sorted_.setdefault(level, []).append(code)
        return _Rule(
            action,
            tuple(sorted_.get(frozenset(), ())),
            tuple(sorted_.get(frozenset({START}), ())),
            tuple(sorted_.get(frozenset({TARGET}), ())),
            tuple(sorted_.get(frozenset({START, TARGET}), ())),
            tuple(sorted_.get(frozenset({POSITION}), ())),
            tuple(self._effects.effect(clause.expression) for clause in action.effects),
        )

    def _sources(self, kind: int) -> Iterator[Source]:
        world = self._world
        world.begin(kind)
        rules = {name: rule for name, rule in self._rules.items() if _hold(rule.of_entity, world)}
        if not rules:
            return
        targets: dict[str, list[Place]] = {}
        for name, rule in rules.items():
            targets[name] = []
            for target in world.places.all:
                world.target = target
                if _hold(rule.of_target, world):
                    targets[name].append(target)
        for start in world.places.all:
            world.start = start
            ways: dict[int, list[_Rule]] = {}
            for name, rule in rules.items():
                if _hold(rule.of_start, world):
                    for target in targets[name]:
                        world.target = target
                        if all(self._pairs.holds(code, world) for code in rule.of_pair):
                            ways.setdefault(target.number, []).append(rule)
            destinations = []
            for number in sorted(ways):
                world.target = world.places.all[number]
                if len(world.diagrams) > _MAX_KEPT:
                    world.forget()
                possibilities = tuple(self._entry(ways[number]))
                if possibilities:
                    destinations.append(Destination(world.target.label, possibilities))
            if destinations:
                yield Source(start.label, tuple(destinations))
            # What goes wrong goes wrong on every square: a few are enough to see it.
            if len(self._problems) >= _MAX_PROBLEMS:
                return

    def _entry(self, rules: Sequence[_Rule]) -> Iterator[Possibility]:
        """The possibilities of the actions that geometry allows from start to target."""
        world, diagrams = self._world, self._world.diagrams
        current: Action = rules[0].action
        try:
            world.reset()
            conditions: dict[str, Value] = {}
            for rule in rules:
                current = rule.action
                condition: Value = True
                for code in rule.of_position:
                    condition = diagrams.where(code.run(world), condition, False)
                    if condition is False:
                        break
                if condition is not False:
                    conditions[current.name] = condition
            if not conditions:
                return
            taken: dict[str, Value] = {}
            for phase in self._specification.phases:
                left: Value = self._in_phase(phase.name)
                for name in phase.allowed_actions:
                    if name in conditions and left is not False:
                        here = diagrams.where(conditions[name], left, False)
                        left = diagrams.where(conditions[name], False, left)
                        taken[name] = here if taken.get(name, False) is False else diagrams.either(taken[name], here)
            for rule in rules:
                current = rule.action
                region = taken.get(current.name, False)
                if region is not False:
                    yield from self._possibilities(rule, region)
        except (TooManyNodesError, RecursionError):
            self._refuse(current, "depends on the position in more ways than can be followed")
            self._stop()

    def _in_phase(self, phase: str) -> Value:
        if PHASE not in self._variables:
            return True
        number = self._variables[PHASE].values.index(phase)
        return self._world.diagrams.among(self._world.numbers[PHASE], 1 << number)

    def _refuse(self, action: Action, message: str, sets: str | None = None) -> None:
        world = self._world
        kind, start, target = world.kinds[world.kind], world.start.label, world.target.label
        found = problem_of(
            action,
            f"the action {action.name} {message}",
            found=printable(f"{kind} from {start} to {target}"),
            sets=sets,
        )
        if not any(each.message == found.message for each in self._problems):
            self._problems.append(found)

    def _possibilities(self, rule: _Rule, region: Value) -> Iterator[Possibility]:
        action = rule.action
        for world_effect in rule.effects:
            world_effect(self._world, True)
        outcome = self._outcome(region)
        self._world.reset()
        diagrams = self._world.diagrams
        step = 0
        for end in known_values(outcome):
            assert isinstance(end, _End)  # noqa: S101  (ends are all that an outcome is made of)
            where = region
            if type(outcome) is Node:
                here = diagrams.bind(outcome, partial(operator.eq, end))
                where = diagrams.where(here, region, False)
            if where is False:
                continue
            if end.fault is not None:
                self._refuse(action, end.fault.message, end.fault.sets)
                continue
            for possibility in self._covered(action, where, end):
                step += 1
                yield self._numbered(action, step, possibility)

    def _numbered(self, action: Action, step: int, possibility: Possibility) -> Possibility:
        self._count += 1
        if self._count > MAX_POSSIBILITIES:
            raise InputError(
                f"{printable(self._specification.title)}: its document would have more than {MAX_POSSIBILITIES:,} "
                "possibilities"
            )
        return Possibility(
            possibility.must,
            possibility.deny,
            possibility.effects,
            possibility.guards,
            Origin(action.name, step, action.chainable),
        )

    def _covered(self, action: Action, where: Value, end: _End) -> Iterator[Possibility]:
        world = self._world
        assert world.owner is not None  # noqa: S101  (every kind has an owner)
        covers = self._covers[world.owner]
        weight = count_paths(where, lambda variable, mask: covers.count(world.squares, variable, mask))
        if weight > MAX_OF_ENTRY:
            self._refuse(action, f"would have {weight:,} possibilities; {MAX_OF_ENTRY:,} are the most")
            self._stop()
        for box in paths(where):
            effects = self._transition(end, box)
            guarded = guards(world.squares, self._texts, box)
            for must, deny in covers.conditions(self._squares, box):
                yield Possibility(must, deny, effects, guarded)

    def _transition(self, end: _End, box: Box) -> Transition:
        """What an end changes, without what the box says is there already."""
        masks = {**dict(box), self._world.start.number: 2 << self._world.kind}
        board: dict[str, str | None] = {}
        for square, number in end.board:
            if masks.get(square) != 1 << number:
                board[self._squares[square]] = None if number == 0 else self.identifiers[number - 1]
        state = {}
        for variable, number in end.state:
            if masks.get(variable, self._world.diagrams.full[variable]) != 1 << number:
                name, texts = self._texts[variable - self._world.squares]
                state[name] = texts[number]
        return Transition(board, {}, end.toggle, state) if state else Transition(board, {}, end.toggle)

    # --- what effects come to ---

    def _outcome(self, region: Value) -> Value:
        """The end of the effects that have run, wherever it depends on the position."""
        world = self._world
        moved = {number for number, name in world.changed if name != POS}
        squares = sorted({*world.board, *moved})
        contents = [self._content(square) for square in squares]
        names = [name for name in self._variables if name in world.state]
        states = [self._state(name) for name in names]
        turn = self._turn()
        places = self._places_agree()
        numbers = [world.numbers[name] for name in names]

        count = 0

        def end(*values: Value) -> Value:
            nonlocal count
            count += 1
            if count > MAX_OF_ENTRY:
                raise TooManyNodesError
            fault = next((each for each in values if isinstance(each, _Fault)), None)
            if fault is not None:
                return _End((), (), True, fault)
            on_board = values[: len(squares)]
            of_state = values[len(squares) : len(squares) + len(names)]
            return _End(
                tuple((each, value) for each, value in zip(squares, on_board, strict=True) if isinstance(value, int)),
                tuple((each, value) for each, value in zip(numbers, of_state, strict=True) if isinstance(value, int)),
                values[-2] is True,
            )

        # What cannot happen need not be told apart.
        everything = [*contents, *states, turn, places]
        if type(region) is Node and any(type(each) is Node for each in everything):
            everything = [
                world.diagrams.where(region, each, _KEPT) if type(each) is Node else each for each in everything
            ]
        return world.diagrams.lift(end, everything)

    def _content(self, square: int) -> Value:
        """What stands on a square afterwards: 0 for nothing, else kind + 1; kept where it is as it was."""
        world = self._world
        body = world.bodies[square]

        def content(value: Value) -> Value:
            if value is None:
                return 0
            if value is UNTOUCHED:
                return world.diagrams.bind(world.before(square), lambda each: _KEPT if each is None else content(each))
            if not isinstance(value, Body):
                return _Fault("puts what is no entity on the board", "board")
            is_changed = any(number == value.number and name != POS for number, name in world.changed)
            if value is body and not is_changed:
                return _KEPT
            return self._kind_of(value, is_changed)

        return world.diagrams.bind(world.board.get(square, UNTOUCHED), content)

    def _kind_of(self, body: Body, is_changed: bool) -> Value:
        """The kind of an entity now, plus 1."""
        world = self._world
        before: Value = world.kind + 1
        if body.number != world.start.number:
            parts: list[Part] = [(1, 0)]
            parts += [(2 << number, number + 1) for number in range(len(world.kinds))]
            before = world.diagrams.node(body.number, parts)
        if not is_changed:
            return before
        changed = {
            name: value for (number, name), value in world.changed.items() if number == body.number and name != POS
        }

        def become(number: Value) -> Value:
            if number == 0:
                return 0
            assert isinstance(number, int)  # noqa: S101  (numbers of kinds are all that `before` is made of)
            kind = world.kinds[number - 1]

            def find(*values: Value) -> Value:
                now = {
                    name: value.name if isinstance(value, Person) else value
                    for name, value in zip(changed, values, strict=True)
                    if value is not UNTOUCHED
                }
                owner = now.pop(OWNER, kind.owner)
                attributes = {name: now.get(name, value) for name, value in kind.attributes.items()}
                found = self._by_attributes.get(_identity(owner, kind.schema, attributes))
                if found is None:
                    return _Fault(_no_kind(owner, kind.schema, attributes), f".{next(iter(changed))}")
                return found + 1

            return world.diagrams.lift(find, list(changed.values()))

        return world.diagrams.bind(before, become)

    def _state(self, name: str) -> Value:
        """The number of a variable's value afterwards; kept where it is as it was."""
        world = self._world
        domain = world.domain(name)

        def number(value: Value) -> Value:
            if value is UNTOUCHED:
                return _KEPT
            for index, each in enumerate(domain):
                if each is value or (type(each) is type(value) and each == value):
                    return index
            shown = value.name if isinstance(value, Person) else text(value)
            return _Fault(f"would set state.{name} to {shown}, which is not one of its values", f"state.{name}")

        return world.diagrams.bind(world.state[name], number)

    def _turn(self) -> Value:
        """Whether the turn passes."""
        world = self._world

        def passes(value: Value) -> Value:
            if value is UNTOUCHED:
                return True
            if isinstance(value, Person):
                return value is not world.owner
            return _Fault("would set state.current_player to null", "state.current_player")

        return world.diagrams.bind(world.state.get("current_player", UNTOUCHED), passes)

    def _places_agree(self) -> Value:
        """Whether entities that were told where they are (`entity.pos`) are there."""
        world = self._world
        result: Value = True
        for (number, name), value in world.changed.items():
            if name != POS:
                continue
            body = world.bodies[number]
            # Where no effect touches the board, what they say of places changes nothing.
            if not world.board or (isinstance(value, Place) and world.board.get(value.number) is body):
                continue

            def agrees(place: Value, body: Body = body) -> Value:
                if place is UNTOUCHED:
                    return True
                where = [world.diagrams.is_one(world.on(each), body) for each in {*world.board, body.number}]
                is_somewhere: Value = False
                for each in where:
                    is_somewhere = world.diagrams.either(is_somewhere, each)
                here: Value = False
                if isinstance(place, Place):
                    here = world.diagrams.is_one(world.on(place.number), body)
                wrong = _Fault("sets pos of an entity to another place than the board has it on", ".pos")
                return world.diagrams.where(here, True, world.diagrams.where(is_somewhere, wrong, True))

            told = world.diagrams.bind(value, agrees)
            result = world.diagrams.lift(lambda a, b: a if isinstance(a, _Fault) else b, (result, told))
        return result


@dataclass(frozen=True, slots=True)
class _End:
    """What the effects of an action come to: squares with contents, variables with values, and the turn."""

    board: tuple[tuple[int, int], ...]
    state: tuple[tuple[int, int], ...]
    toggle: bool
    fault: _Fault | None = None


def _variables_of(actions: Sequence[Action]) -> set[str]:
    """The state variables that actions read or write."""
    return {
        part.name
        for action in actions
        for clause in (*action.conditions, *action.effects)
        for part in parts(clause.expression)
        if isinstance(part, Attribute) and isinstance(part.of, Name) and part.of.text == "state"
    }


def _hold(codes: Sequence[Code], world: World) -> bool:
    return all(code.run(world) is True for code in codes)


def _identity(owner: object, schema: str, attributes: Mapping[str, object]) -> tuple[object, ...]:
    """What tells kinds apart; 1 and true are not the same."""
    return owner, schema, tuple((name, type(value), value) for name, value in sorted(attributes.items()) if name != POS)


def _no_kind(owner: object, schema: str, attributes: Mapping[str, object]) -> str:
    told = ", ".join(f"{name}={text(value)}" for name, value in attributes.items())
    return f"would make a {schema} that is none of the kinds of pieces: owner={owner}, {told}"
