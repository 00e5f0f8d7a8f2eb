"""What is suspicious in a specification that is valid: rules that never apply, names without use, lopsided pieces.

A finding is never wrong about what the specification says; whether it was meant so only its author knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ggn_store.errors import Problem
from ggn_store.gdl.directions import strange_moves
from ggn_store.gdl.domains import Domains
from ggn_store.gdl.ends import undecided
from ggn_store.gdl.expressions import Attribute, Call, Index, Literal, Name, parts, start_of
from ggn_store.gdl.idle import never_applied
from ggn_store.gdl.kinds import kinds
from ggn_store.gdl.problems import finding
from ggn_store.gdl.specification import Location, Specification
from ggn_store.gdl.trials import TooManyTriesError, Trials
from ggn_store.gdl.types.typed import NamesUsed

MAX_NODES: Final = 400
# By whether a variable is read, and whether it is set.
_VARIABLES: Final = {
    (False, False): ("unused-variable", "nothing reads or sets the variable {}"),
    (False, True): ("unread-variable", "the variable {} is set, and nothing reads it"),
    (True, False): ("constant-variable", "nothing sets the variable {}"),
}


def findings(specification: Specification, uses: NamesUsed, domains: Domains) -> list[Problem]:
    """Everything suspicious, in no particular order."""
    found = [*_unused(specification, uses), *_flow(specification), *_positions(specification)]
    found += [
        finding(
            "stored-end-condition",
            f"this end is left to the players: {reason}",
            each.condition.place,
            each.condition,
            start_of(each.condition.expression),
        )
        for each, reason in undecided(specification, list(kinds(specification, domains, [])))
    ]
    if not specification.setup:
        found.append(finding("no-setup", "there is no setup: the rules have no start position", Location(())))
    if len(specification.topology.geometry.places) > MAX_NODES:
        message = f"the board has more than {MAX_NODES} places: conditions were not tried on it"
        return [*found, finding("large-board", message, Location(("topology",)))]
    try:
        trials = Trials(specification, domains)
        holding = {name for name, rule in trials.rules.items() if trials.can_hold(rule)}
        found += never_applied(trials, holding)
        found += strange_moves(trials, holding)
    except TooManyTriesError:
        message = "the game is too large to try all of its conditions: there may be more to find"
        found.append(finding("large-game", message, Location(("interactions",))))
    return found


def _unused(specification: Specification, uses: NamesUsed) -> Iterator[Problem]:
    for name, variable in specification.variables.items():
        is_read, is_set = ("state", name) in uses.reads, ("state", name) in uses.writes
        if (is_read, is_set) in _VARIABLES:
            code, message = _VARIABLES[is_read, is_set]
            yield finding(code, message.format(name), variable.place)
    for schema in specification.schemas.values():
        for attribute in schema.attributes.values():
            if attribute.name != "owner" and ("entity", schema.name, attribute.name) not in uses.reads:
                message = f"nothing reads the attribute {attribute.name} of {schema.name}"
                yield finding("unused-attribute", message, attribute.place)
    for name in dict.fromkeys(name for player in specification.players for name in player.attributes):
        if ("player", name) not in uses.reads:
            player = next(player for player in specification.players if name in player.attributes)
            message = f"nothing reads the attribute {name} of players"
            yield finding("unused-player-attribute", message, Location((*player.place.path, "attributes", name)))


def _flow(specification: Specification) -> Iterator[Problem]:
    allowed = {name for phase in specification.phases for name in phase.allowed_actions}
    for action in specification.actions:
        if action.name not in allowed:
            message = f"no phase allows the action {action.name}: it is never used"
            yield finding("unused-action", message, action.place)
        if not action.effects:
            yield finding("no-effect", f"the action {action.name} changes nothing", action.place)
    begun = _begun(specification)
    for phase in specification.phases:
        if not phase.allowed_actions:
            yield finding("empty-phase", f"the phase {phase.name} allows no action", phase.place)
        if phase.name not in begun:
            message = f"the phase {phase.name} never begins: no effect sets state.phase to it"
            yield finding("unreachable-phase", message, phase.place)


def _begun(specification: Specification) -> set[object]:
    """The phases that may begin: the first, and those that an effect sets; all, where it computes one."""
    begun: set[object] = {specification.initial_phase}
    clauses = [clause for action in specification.actions for clause in action.effects]
    for part in (part for clause in clauses for part in parts(clause.expression)):
        match part:
            case Call(name="set", arguments=(Attribute(of=Name("state"), name="phase"), Literal(value=value))):
                begun.add(value)
            case Call(name="set", arguments=(Attribute(of=Name("state"), name="phase"), _)):
                begun.update(phase.name for phase in specification.phases)
    return begun


def _positions(specification: Specification) -> Iterator[Problem]:
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
                yield finding("position-only", message, clause.place, clause, call.at)
