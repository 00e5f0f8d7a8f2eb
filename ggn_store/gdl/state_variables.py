"""The state variables that a ruleset keeps, with their values (seed 004, sections 2.5 and 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import Problem
from ggn_store.gdl.domains import Domains
from ggn_store.gdl.functions import same, variables_in
from ggn_store.gdl.kinds import text
from ggn_store.gdl.problems import problem
from ggn_store.gdl.specification import Specification, SpecValue

PHASE: Final = "phase"


@dataclass(frozen=True, slots=True)
class StateVariable:
    """A state variable: its type and its values, the initial one first."""

    type: str
    values: tuple[SpecValue, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as documents write them, in the same order."""
        return tuple(map(text, self.values))


def state_variables(specification: Specification, domains: Domains) -> dict[str, StateVariable]:
    """The variables that actions read or write, by name, and `phase` first where there are several phases."""
    actions = specification.allowed_actions()
    used = variables_in(clause.expression for each in actions for clause in (*each.conditions, *each.effects))
    found = {}
    if len(specification.phases) > 1 or PHASE in used:
        first = specification.initial_phase
        names = [phase.name for phase in specification.phases]
        found[PHASE] = StateVariable("string", (first, *(name for name in names if name != first)))
    for name, variable in specification.variables.items():
        if name in used:
            others = [value for value in domains.variables[name] if not same(value, variable.initial)]
            found[name] = StateVariable(variable.type, (variable.initial, *others))
    return found


def unwritable(specification: Specification, variables: Mapping[str, StateVariable]) -> Iterator[Problem]:
    """A problem for each variable whose values cannot be told apart, or not be written, as text."""
    for name, variable in variables.items():
        if name == PHASE:
            continue
        texts = variable.texts
        place = specification.variables[name].place
        twice = next((each for each in texts if texts.count(each) > 1), None)
        if twice is not None:
            yield problem("state_schema", place, f"state.{name} has two values that are both written {twice}")
        elif "" in texts:
            yield problem("state_schema", place, f"state.{name} has an empty text as a value")
