"""Tries the conditions of actions on every pair of places, with all that can stand on the target.

It asks whether conditions can hold at all: what stands elsewhere on the board is left open.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.gdl.domains import Domains
from ggn_store.gdl.expressions import Attribute, Expression, Index, Name, parts, text_of
from ggn_store.gdl.folding import UNKNOWN, Entity, Folding, KnownCase, KnownFunction
from ggn_store.gdl.functions import variables_in
from ggn_store.gdl.places import Place
from ggn_store.gdl.specification import Action, Clause, Specification, SpecValue

# How often conditions are tried in all: a few seconds' worth.
_MAX_TRIES: Final = 30_000_000
_MAX_KINDS: Final = 512
_MAX_STATES: Final = 256

# Each kind, with the starts and targets that are possible for it.
PlacePairs = Mapping[Entity, Sequence[tuple[Place, Place]]]


class TooManyTriesError(Exception):
    """More has been tried than can be waited for."""


@dataclass(frozen=True, slots=True)
class TriedRule:
    """An action with its conditions as functions, each with its text."""

    action: Action
    conditions: tuple[tuple[Clause, str, KnownFunction], ...]


class Trials:
    """The rules of one specification, and for each the pairs of places that its conditions do not rule out.

    Methods raise TooManyTriesError once too much has been tried in all.
    """

    def __init__(self, specification: Specification, domains: Domains) -> None:
        self.specification = specification
        self.domains = domains
        self.folding = Folding(specification)
        self.rules = {
            action.name: TriedRule(
                action,
                tuple(
                    (clause, text_of(clause.expression), self.folding.function(clause.expression))
                    for clause in action.conditions
                ),
            )
            for action in specification.actions
        }
        self.allowed = {name for phase in specification.phases for name in phase.allowed_actions}
        # An attribute that no condition mentions need not be known.
        expressions = [
            clause.expression for action in specification.actions for clause in (*action.conditions, *action.effects)
        ]
        self._named = {part.name for each in expressions for part in parts(each) if isinstance(part, Attribute)}
        self.kinds = self._all_kinds()
        self._tries = 0
        self._pairs: dict[str, PlacePairs] = {}

    def pairs(self, rule: TriedRule) -> PlacePairs:
        """The kinds, and for each the pairs of places, that the conditions of a rule do not rule out."""
        name = rule.action.name
        if name not in self._pairs:
            self._pairs[name] = self.possible(rule)
        return self._pairs[name]

    def can_hold(self, rule: TriedRule) -> bool:
        """Whether the conditions of a rule hold in any case."""
        return next(self.cases(rule, self.pairs(rule)), None) is not None

    def _all_kinds(self) -> list[Entity]:
        kinds: list[Entity] = []
        for schema in self.specification.schemas.values():
            names = [name for name in schema.attributes if name in self._named and name != "owner"]
            choices = [self.domains.attributes[schema.name, name] for name in names]
            if math.prod(map(len, choices)) * 2 > _MAX_KINDS:
                names, choices = [], []
            for player in self.specification.players:
                for values in itertools.product(*choices):
                    attributes = dict(zip(names, values, strict=True))
                    kinds.append(self.folding.entity(player.name, schema.name, attributes))
        return kinds

    def _states(self, rule: TriedRule) -> list[dict[str, Any]]:
        """Every combination of the variables that the conditions read; one that is empty where there are too many."""
        read = variables_in(clause.expression for clause in rule.action.conditions)
        names = [name for name in read if name in self.domains.variables]
        choices: list[Sequence[SpecValue]] = [self.domains.variables[name] for name in names]
        phases = [phase.name for phase in self.specification.phases if rule.action.name in phase.allowed_actions]
        choices = [phases if name == "phase" and phases else each for name, each in zip(names, choices, strict=True)]
        if math.prod(map(len, choices)) > _MAX_STATES:
            return [{}]
        return [self.folding.state(dict(zip(names, values, strict=True))) for values in itertools.product(*choices)]

    def possible(self, rule: TriedRule) -> PlacePairs:
        """The kinds and pairs of places that the conditions do not rule out, whatever else is on the board."""
        places = self.folding.places.all
        starts = (self.folding.places.hand,) if rule.action.from_hand else places
        free = [function for clause, _, function in rule.conditions if not _is_local(clause.expression)]
        local = [function for clause, _, function in rule.conditions if _is_local(clause.expression)]
        found: dict[Entity, list[tuple[Place, Place]]] = {}
        for kind in self.kinds:
            case = KnownCase(places[0], places[0], kind)
            if not may_hold(free, case):
                continue
            pairs = []
            self.count(len(starts) * len(places) * (1 + len(local)))
            for case.start in starts:
                for case.target in places:
                    if may_hold(local, case):
                        pairs.append((case.start, case.target))
            if pairs:
                found[kind] = pairs
        return found

    def cases(self, rule: TriedRule, possible: PlacePairs) -> Iterator[KnownCase]:
        """The cases among possible pairs that the conditions do not rule out, with what is on the target, and state."""
        functions = [function for _, _, function in rule.conditions]
        states = self._states(rule)
        asked = (part for clause in rule.action.conditions for part in parts(clause.expression))
        reads_board = any(isinstance(part, Index) for part in asked)
        contents: list[Entity | None] = [None, *self.kinds] if reads_board else []
        for kind, pairs in possible.items():
            for start, target in pairs:
                self.count((1 + len(contents)) * len(states) * (1 + len(functions)))
                known = [{target: content} for content in contents] if start != target and contents else [{}]
                for content, state in itertools.product(known, states):
                    case = KnownCase(start, target, kind, content, state)
                    if may_hold(functions, case):
                        yield case

    def count(self, tries: int) -> None:
        """Reckon with so many tries more."""
        self._tries += tries
        if self._tries > _MAX_TRIES:
            raise TooManyTriesError


def may_hold(conditions: Iterable[KnownFunction], case: KnownCase) -> bool:
    """Whether no condition is known to be false."""
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
