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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ggn_store import limits
from ggn_store.errors import InputError, NotationError, Problem, SpecificationError, printable
from ggn_store.gdl.action_rules import ActionRule, Pairs, action_rules, hold
from ggn_store.gdl.boxes import Covers, guards
from ggn_store.gdl.diagrams import Box, DiagramValue, TooManyNodesError, count_paths, paths
from ggn_store.gdl.domains import domains_of
from ggn_store.gdl.envelope import envelope
from ggn_store.gdl.identifiers import NAMES, Identifiers, read_wish, style_of
from ggn_store.gdl.kinds import Kind, kinds
from ggn_store.gdl.outcomes import EffectsEnd, Outcomes
from ggn_store.gdl.places import Place, Places
from ggn_store.gdl.problems import problem_of
from ggn_store.gdl.specification import Action, Specification
from ggn_store.gdl.state_variables import PHASE, state_variables, unwritable
from ggn_store.gdl.world import Person, World
from ggn_store.model.documents.document import Destination, Document, Origin, Piece, Possibility, Source
from ggn_store.notation import qpi
from ggn_store.notation.stn import Transition

_MAX_KEPT: Final = 150_000
_MAX_PROBLEMS: Final = 50


@dataclass(frozen=True, slots=True)
class CompiledDescription:
    """The document of a specification, and what stands behind its identifiers (`CHESS:K`: a kind)."""

    document: Document
    kinds: Mapping[str, Kind]


def compile(  # noqa: A001  (the command of the same name calls it so)
    specification: Specification,
    piece_map: Mapping[str, str] | None = None,
    style: str | None = None,
    file: str | None = None,
) -> CompiledDescription:
    """The rules of a checked specification.

    `piece_map` gives kinds (`king`, or `king,moved=true`) their codes (`K`, `+K`), `style` is that of all identifiers.
    Raises SpecificationError with every problem that shows only here, which carry the name `file`, and NotationError
    for a map or a style that does not fit.
    """
    return _Compiler(specification, piece_map or {}, style, file).compiled()


def piece_names(specification: Specification) -> dict[str, str]:
    """What a specification calls the pieces of its document, by identifier: `man`; not what means several of them."""
    try:
        named = _Compiler(specification, {}, None, None).named()
    except (NotationError, SpecificationError):
        return {}  # whoever compiled it has said more
    letters: dict[str, set[str]] = {}
    for identifier, name in named:
        letters.setdefault(name, set()).add(qpi.parse(identifier).letter)
    return {identifier: name for identifier, name in named if len(letters[name]) == 1}


def areas(specification: Specification) -> dict[str, frozenset[str]]:
    """What a specification calls squares of its board, by the assets of the topology in the profile `names`: `water`.

    Such an asset is of the squares that its key lists; other keys say nothing here.
    """
    known = specification.topology.attributes.keys()
    found: dict[str, frozenset[str]] = {}
    for profile in specification.assets:
        for key, asset in profile.areas.items() if profile.name == NAMES else ():
            if known >= set(key.split()):
                found[asset] = found.get(asset, frozenset()).union(key.split())
    return found


class _Compiler:
    """Everything that the compilation of one specification goes by."""

    def __init__(
        self, specification: Specification, piece_map: Mapping[str, str], style: str | None, file: str | None
    ) -> None:
        self._specification = specification
        self._file = file
        self._problems: list[Problem] = []
        domains = domains_of(specification)
        places = Places(specification.topology)
        people = {player.name: Person(player) for player in specification.players}
        self._kinds = list(kinds(specification, domains, self._problems))
        variables = state_variables(specification, domains)
        self._problems += unwritable(specification, variables)
        self._stop()
        self._world = World(places, people, self._kinds, specification.schemas, variables)
        wishes = [read_wish(kind, code) for kind, code in piece_map.items()]
        style = style_of(specification.title, style)
        identifiers = Identifiers(specification, self._world, style)
        self._naming = identifiers
        self._identifiers = identifiers.of_all(wishes)
        self._problems += identifiers.problems
        self._stop()
        self._envelope = envelope(specification, self._kinds, self._identifiers, variables, style)
        self._phases = variables[PHASE].texts if PHASE in variables else ()
        self._texts = [(name, variable.texts) for name, variable in variables.items()]
        self._squares = [place.label for place in (*places.all, places.hand)]
        self._covers = {
            person: Covers(self._identifiers, [kind.owner != person.name for kind in self._kinds])
            for person in people.values()
        }
        self._pairs = Pairs(len(places.all))
        self._outcomes = Outcomes(self._world)
        self._rules = action_rules(specification, self._world)
        self._count = 0

    def named(self) -> list[tuple[str, str]]:
        """The identifiers, and what their pieces are called."""
        return list(zip(self._identifiers, self._naming.names(), strict=True))

    def compiled(self) -> CompiledDescription:
        pieces = []
        for number in range(len(self._kinds)):
            sources = tuple(self._sources(number))
            self._stop()
            if sources:
                pieces.append(Piece(self._identifiers[number], sources))
        if not pieces:
            title = printable(self._specification.title)
            raise InputError(f"{title}: no action of this game can ever be done: see the conditions of its actions")
        document = Document("gdl", tuple(pieces), self._envelope, self._envelope.definition)
        return CompiledDescription(document, dict(zip(self._identifiers, self._kinds, strict=True)))

    def _stop(self) -> None:
        if self._problems:
            raise SpecificationError(replace(each, file=self._file) for each in self._problems)

    def _sources(self, kind: int) -> Iterator[Source]:
        """The moves of a kind; problems that come up are kept, and end it where there are many."""
        world = self._world
        world.begin(kind)
        acting = {name: rule for name, rule in self._rules.items() if hold(rule.of_entity, world)}
        if not acting:
            return
        targets = {name: self._targets(rule) for name, rule in acting.items()}
        for start in (*world.places.all, world.places.hand):
            world.start = start
            destinations = []
            for number, found in sorted(self._ways(acting, targets).items()):
                world.target = world.places.all[number]
                if len(world.diagrams) > _MAX_KEPT:
                    world.forget()
                possibilities = tuple(self._entry(found))
                if possibilities:
                    destinations.append(Destination(world.target.label, possibilities))
            if destinations:
                yield Source(start.label, tuple(destinations))
            # What goes wrong goes wrong on every square: a few are enough to see it.
            if len(self._problems) >= _MAX_PROBLEMS:
                return

    def _targets(self, rule: ActionRule) -> list[Place]:
        """The targets that an action allows, whatever the start."""
        world, found = self._world, []
        for target in world.places.all:
            world.target = target
            if hold(rule.of_target, world):
                found.append(target)
        return found

    def _ways(
        self, acting: Mapping[str, ActionRule], targets: Mapping[str, list[Place]]
    ) -> dict[int, list[ActionRule]]:
        """The actions that geometry allows from the start, by the number of their target."""
        world = self._world
        ways: dict[int, list[ActionRule]] = {}
        for name, rule in acting.items():
            if rule.action.from_hand != (world.start is world.places.hand) or not hold(rule.of_start, world):
                continue
            for target in targets[name]:
                world.target = target
                if all(self._pairs.holds(code, world) for code in rule.of_pair):
                    ways.setdefault(target.number, []).append(rule)
        return ways

    def _entry(self, found: Sequence[ActionRule]) -> Iterator[Possibility]:
        """The possibilities of the actions that geometry allows from start to target."""
        world, diagrams = self._world, self._world.diagrams
        current: Action = found[0].action
        try:
            world.reset()
            conditions: dict[str, DiagramValue] = {}
            for rule in found:
                current = rule.action
                condition: DiagramValue = True
                for code in rule.of_position:
                    condition = diagrams.where(code.run(world), condition, False)
                    if condition is False:
                        break
                if condition is not False:
                    conditions[current.name] = condition
            if not conditions:
                return
            chosen = self._chosen(conditions)
            for rule in found:
                current = rule.action
                region = chosen.get(current.name, False)
                if region is not False:
                    yield from self._possibilities(rule, region)
        except (TooManyNodesError, RecursionError) as error:
            more = error.limit.more if isinstance(error, TooManyNodesError) else ""
            self._refuse(current, f"depends on the position in more ways than can be followed{more}")
            self._stop()

    def _chosen(self, conditions: Mapping[str, DiagramValue]) -> dict[str, DiagramValue]:
        """Where each action is the first of its phase whose conditions hold, but for optional ones (seed 004, 4.1)."""
        optional = {action.name for action in self._specification.actions if action.optional}
        diagrams = self._world.diagrams
        chosen: dict[str, DiagramValue] = {}
        owner = self._world.kinds[self._world.kind].owner
        for phase in self._specification.phases:
            if phase.actor not in (None, owner):
                continue
            left: DiagramValue = self._in_phase(phase.name)
            for name in phase.allowed_actions:
                if name in conditions and left is not False:
                    here = diagrams.where(conditions[name], left, False)
                    if name not in optional:
                        left = diagrams.where(conditions[name], False, left)
                    chosen[name] = here if chosen.get(name, False) is False else diagrams.either(chosen[name], here)
        return chosen

    def _in_phase(self, phase: str) -> DiagramValue:
        """Whether it is the phase: always, where there is only one."""
        if not self._phases:
            return True
        return self._world.diagrams.among(self._world.numbers[PHASE], 1 << self._phases.index(phase))

    def _refuse(self, action: Action, message: str, sets: str | None = None) -> None:
        world = self._world
        kind, start, target = world.kinds[world.kind], world.start.label, world.target.label
        move = printable(f"{kind} from {start} to {target}")
        found = problem_of(action, f"the action {action.name} {message}", found=move, sets=sets)
        if not any(each.message == found.message for each in self._problems):
            self._problems.append(found)

    def _possibilities(self, rule: ActionRule, region: DiagramValue) -> Iterator[Possibility]:
        """What an action does in the positions of a region, each of its ends in turn."""
        action = rule.action
        for run_effect in rule.effects:
            run_effect(self._world, True)
        outcome = self._outcomes.of(region)
        self._world.reset()
        diagrams = self._world.diagrams
        step = 0
        for end, here in diagrams.cases(outcome):
            assert isinstance(end, EffectsEnd)  # noqa: S101  (ends are all that an outcome is made of)
            where = diagrams.where(here, region, False)
            if where is False:
                continue
            if end.fault is not None:
                self._refuse(action, end.fault.message, end.fault.sets)
                continue
            for possibility in self._covered(action, where, end):
                step += 1
                self._count += 1
                if self._count > limits.GROUNDED.most:
                    raise InputError(
                        f"{printable(self._specification.title)}: its document would have more than "
                        f"{limits.GROUNDED.most:,} possibilities{limits.GROUNDED.more}"
                    )
                yield replace(possibility, origin=Origin(action.name, step, action.chainable))

    def _covered(self, action: Action, where: DiagramValue, end: EffectsEnd) -> Iterator[Possibility]:
        """The possibilities that together say that the end comes where a condition holds."""
        world = self._world
        assert world.owner is not None  # noqa: S101  (every kind has an owner)
        covers = self._covers[world.owner]
        weight = count_paths(where, lambda variable, mask: covers.count(world.squares, variable, mask))
        limit = limits.GROUNDED_ENTRY
        if weight > limit.most:
            message = f"would have {weight:,} possibilities; {limit.most:,} are the most{limit.more}"
            self._refuse(action, message)
            self._stop()
        for box in paths(where):
            effects = self._transition(end, box)
            guarded = guards(world.squares, self._texts, box)
            for must, deny in covers.conditions(self._squares, box):
                yield Possibility(must, deny, effects, guarded)

    def _transition(self, end: EffectsEnd, box: Box) -> Transition:
        """What an end changes, without what the box says is there already."""
        world = self._world
        masks = {**dict(box), world.start.number: 2 << world.kind}
        board: dict[str, str | None] = {}
        for square, number in end.board:
            if square != world.places.hand.number and masks.get(square) != 1 << number:
                board[self._squares[square]] = None if number == 0 else self._identifiers[number - 1]
        state = {}
        for variable, number in end.state:
            if masks.get(variable, world.diagrams.full[variable]) != 1 << number:
                name, texts = self._texts[variable - world.squares]
                state[name] = texts[number]
        hands = {self._identifiers[world.kind]: -1} if world.start is world.places.hand else {}
        return Transition(board, hands, end.toggle, state) if state else Transition(board, hands, end.toggle)
