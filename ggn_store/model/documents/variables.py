"""State variables: what a ruleset of the dialect `gdl` knows of a position beside board, hands and side to move.

A variable has a name and a few values, all of them text. One that a position does not name has its initial value.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ggn_store.errors import UNSTORABLE, NotationError, PositionError, offer, printable, quote

VariableValues = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a ruleset: the values that it may have, sorted, and the one that it begins with."""

    name: str
    values: tuple[str, ...]
    initial: str

    def data(self) -> dict[str, Any]:
        """What a document declares of the variable."""
        return {"values": list(self.values), "initial": self.initial}


def is_word(value: object) -> bool:
    """Whether `value` can be the name or a value of a variable, or the name of an action."""
    return isinstance(value, str) and value != "" and not UNSTORABLE.search(value)


def text(variables: Iterable[Variable]) -> str | None:
    """The canonical JSON text of a document's `$state`; None where there is no variable."""
    declared = {each.name: each.data() for each in sorted(variables, key=lambda each: each.name)}
    return json.dumps(declared, ensure_ascii=False, separators=(",", ":")) if declared else None


@functools.lru_cache(maxsize=256)
def parse(declared: str | None) -> Mapping[str, Variable]:
    """The variables of a canonical text by name; raises NotationError for anything else."""
    if declared is None:
        return {}
    wrong = f"{quote(declared)} declares no variables: an object of names, each with its values and its initial value"
    try:
        data = json.loads(declared)
        variables = {name: Variable(name, tuple(of["values"]), of["initial"]) for name, of in data.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NotationError(wrong) from None
    if not all(map(_is_sound, variables.values())) or text(variables.values()) != declared:
        raise NotationError(wrong)
    return variables


def _is_sound(variable: Variable) -> bool:
    values = variable.values
    is_made_of_words = all(map(is_word, (variable.name, *values)))
    return is_made_of_words and variable.initial in values and list(values) == sorted(set(values))


def passes(guards: Mapping[str, tuple[str, ...]], state: VariableValues) -> bool:
    """Whether a state, which names every variable, has values that all guards allow."""
    return all(state[name] in values for name, values in guards.items())


def fits(variables: Mapping[str, Variable], state: VariableValues | None) -> bool:
    """Whether a state names declared variables and their values only."""
    return all(name in variables and value in variables[name].values for name, value in (state or {}).items())


def complete(variables: Mapping[str, Variable], state: VariableValues | None, whose: str) -> dict[str, str]:
    """The value of every variable, of which `state` names some.

    Raises PositionError, listing what is allowed, for a variable or a value that `whose` rules do not know.
    """
    for name, value in (state or {}).items():
        if name not in variables:
            known = f"it has {offer(list(variables))}" if variables else "it has none"
            raise PositionError(f"{quote(name)} is not a state variable of {printable(whose)}: {known}")
        if value not in variables[name].values:
            allowed = offer(variables[name].values)
            raise PositionError(f"{quote(value)} is not a value of {printable(name)} in {printable(whose)}: {allowed}")
    return {name: variable.initial for name, variable in variables.items()} | dict(state or {})
