"""State variables: what a ruleset of the dialect `gdl` knows of a position beside board, hands and side to move.

A variable has a name and a few values, all of them text. One that a position does not name has its initial value. One
that is about a square is worked out from the board: it is `yes` while one of some pieces stands there, and else `no`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.errors import UNSTORABLE, NotationError, PositionError, offer, printable, quote
from ggn_store.notation import json_text

VariableValues = Mapping[str, str]
NO: Final = "no"
YES: Final = "yes"
_EMPTY: Final[Mapping[str, str | None]] = {}


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a ruleset: the values that it may have, sorted, and the one that it begins with.

    Where it has a `square`, its value says whether one of `pieces`, which are sorted, stands there.
    """

    name: str
    values: tuple[str, ...]
    initial: str
    square: str | None = None
    pieces: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether it is as it is written: its values sorted, one of them its first, and what it has of a square."""
        values = self.values
        if not all(map(is_word, (self.name, *values))) or self.initial not in values:
            return False
        if (self.square is None) != (not self.pieces) or (self.square is not None and values != (NO, YES)):
            return False
        is_of_words = all(map(is_word, (*self.pieces, NO if self.square is None else self.square)))
        return is_of_words and all(list(each) == sorted(set(each)) for each in (values, self.pieces))

    def data(self) -> dict[str, Any]:
        """What a document declares of the variable."""
        data = {"values": list(self.values), "initial": self.initial}
        return data if self.square is None else {**data, "square": self.square, "pieces": list(self.pieces)}

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Variable:
        """The variable that `data` has written."""
        return cls(name, tuple(data["values"]), data["initial"], data.get("square"), tuple(data.get("pieces", ())))


def is_word(value: object) -> bool:
    """Whether `value` can be the name or a value of a variable, or the name of an action."""
    return isinstance(value, str) and value != "" and not UNSTORABLE.search(value)


def text(variables: Iterable[Variable]) -> str | None:
    """The canonical JSON text of a document's `$state`; None where there is no variable."""
    declared = {each.name: each.data() for each in sorted(variables, key=lambda each: each.name)}
    return json_text.compact(declared) if declared else None


@functools.lru_cache(maxsize=256)
def parse(declared: str | None) -> Mapping[str, Variable]:
    """The variables of a canonical text by name; raises NotationError for anything else."""
    if declared is None:
        return {}
    wrong = f"{quote(declared)} declares no variables: an object of names, each with its values and its initial value"
    try:
        data = json.loads(declared)
        variables = {name: Variable.from_data(name, of) for name, of in data.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NotationError(wrong) from None
    if not all(each.is_sound for each in variables.values()) or text(variables.values()) != declared:
        raise NotationError(wrong)
    return variables


def told(variables: Mapping[str, Variable]) -> Mapping[str, Variable]:
    """The variables that a position itself says, as its board does not."""
    return {name: each for name, each in variables.items() if each.square is None}


def passes(guards: Mapping[str, tuple[str, ...]], state: VariableValues) -> bool:
    """Whether a state, which names every variable, has values that all guards allow."""
    return all(state[name] in values for name, values in guards.items())


def fits(variables: Mapping[str, Variable], state: VariableValues | None) -> bool:
    """Whether a state names declared variables and their values only."""
    return all(name in variables and value in variables[name].values for name, value in (state or {}).items())


def strange_start(known: Mapping[str, Collection[str]], state: VariableValues) -> Iterator[tuple[str, object, str]]:
    """What is wrong with the state of a start position where these values are known: a message, found, and allowed."""
    for name, value in state.items():
        if value not in known.get(name, ()):
            allowed = f"{offer(sorted(known[name]))} for {name}" if name in known else offer(sorted(known))
            message = "the start position names a state variable, or a value of one, that the document does not declare"
            yield message, {name: value}, allowed or "no state: the document declares no variables"


def complete(
    variables: Mapping[str, Variable],
    state: VariableValues | None,
    whose: str,
    board: Mapping[str, str | None] = _EMPTY,
) -> dict[str, str]:
    """The value of every variable, of which `state` names some; of those about squares the board says it.

    Raises PositionError, listing what is allowed, for a variable or a value that `whose` rules do not know.
    """
    for name, value in (state or {}).items():
        if name not in variables:
            known = f"it has {offer(list(variables))}" if variables else "it has none"
            raise PositionError(f"{quote(name)} is not a state variable of {printable(whose)}: {known}")
        if value not in variables[name].values:
            allowed = offer(variables[name].values)
            raise PositionError(f"{quote(value)} is not a value of {printable(name)} in {printable(whose)}: {allowed}")
    found = {name: variable.initial for name, variable in variables.items()} | dict(state or {})
    for name, variable in variables.items():
        if variable.square is not None:
            found[name] = YES if board.get(variable.square) in variable.pieces else NO
    return found
