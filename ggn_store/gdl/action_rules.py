"""Actions as code, with their conditions sorted by what they need to be known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ggn_store.gdl.functions import conjuncts
from ggn_store.gdl.ground import ENTITY, POSITION, START, TARGET, Code, Do, Grounder
from ggn_store.gdl.specification import Action, Specification
from ggn_store.gdl.world import World


@dataclass(frozen=True, slots=True)
class ActionRule:
    """An action with its conditions, sorted by what they need to be known besides the kind of the entity."""

    action: Action
    of_entity: tuple[Code, ...]
    of_start: tuple[Code, ...]
    of_target: tuple[Code, ...]
    of_pair: tuple[Code, ...]
    of_position: tuple[Code, ...]
    effects: tuple[Do, ...]


def action_rules(specification: Specification, world: World) -> dict[str, ActionRule]:
    """The rules of the actions that a phase allows, by name, in the order of the phases."""
    grounder, in_effects = Grounder(world), Grounder(world, in_effects=True)
    return {action.name: _rule(action, grounder, in_effects) for action in specification.allowed_actions()}


def _rule(action: Action, grounder: Grounder, in_effects: Grounder) -> ActionRule:
    by_need: dict[frozenset[str], list[Code]] = {}
    for clause in action.conditions:
        for expression in conjuncts(clause.expression):
            code = grounder.code(expression)
            level = frozenset({POSITION}) if not code.is_static else code.needs - {ENTITY}
            by_need.setdefault(level, []).append(code)
    return ActionRule(
        action,
        tuple(by_need.get(frozenset(), ())),
        tuple(by_need.get(frozenset({START}), ())),
        tuple(by_need.get(frozenset({TARGET}), ())),
        tuple(by_need.get(frozenset({START, TARGET}), ())),
        tuple(by_need.get(frozenset({POSITION}), ())),
        tuple(in_effects.effect(clause.expression) for clause in action.effects),
    )


class Pairs:
    """Conditions on start and target alone, each asked once for each pair."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._known: dict[int, bytearray] = {}

    def holds(self, code: Code, world: World) -> bool:
        """Whether a condition holds for the start and the target of the world."""
        if ENTITY in code.needs:
            return code.run(world) is True
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = bytearray((self._places + 1) * self._places)
        pair = world.start.number * self._places + world.target.number
        if not known[pair]:
            known[pair] = 1 if code.run(world) is True else 2
        return known[pair] == 1


def hold(codes: Sequence[Code], world: World) -> bool:
    """Whether all of some conditions hold that need no position."""
    return all(code.run(world) is True for code in codes)
