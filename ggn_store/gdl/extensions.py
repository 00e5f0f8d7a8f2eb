"""What a description uses that is in no other program's language: one table, by what it is called in a description."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from ggn_store.gdl.expressions import Attribute, Call, Expression, Name, parts
from ggn_store.gdl.sections import topology
from ggn_store.gdl.specification import Specification

# Asked of the data of a description, and of each call in its conditions and effects.
_OF_DATA: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "definitions": lambda data: "definitions" in data["interactions"],
    "lines of a network": lambda data: "lines" in data["topology"],
    "a track": lambda data: data["topology"]["type"] == "track",
    "from_hand": lambda data: any("from_hand" in action for action in data["interactions"]["list"].values()),
    "optional actions": lambda data: any("optional" in action for action in data["interactions"]["list"].values()),
    "hand (in the setup)": lambda data: "hand" in _places(data),
    "nodes('...') (in the setup)": lambda data: any(place.startswith("nodes") for place in _places(data)),
    "actors of one player": lambda data: any(
        str(phase.get("actors")).startswith("player") for phase in data["game_flow"]["phases"].values()
    ),
}
_OF_CALLS: Final[Mapping[str, Callable[[Call], bool]]] = {
    **{
        name: lambda call, name=name: call.name == name  # type: ignore[misc]
        for name in ("only_between", "count_on_line", "in_row")
    },
    "path_clear with a player": lambda call: call.name == "path_clear" and len(call.arguments) == 3,
    "if as a value": lambda call: any(
        isinstance(each, Call) and each.name == "if" and not _is_of_player(each)
        for each in (call.arguments[:1] if call.name == "if" else call.arguments)
    ),
}


def _is_of_player(call: Call) -> bool:
    """Whether it stands for a variable of each player, which all of its parts have the place of."""
    match call.arguments:
        case (Call("eq"), Attribute(of=Name("state"), at=at), _):
            return at == call.at
    return False


def extensions(specification: Specification, data: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The extensions that a description without problems uses; `data` is its JSON where it did not come as text."""
    value = json.loads(specification.text) if data is None else data
    clauses = [clause for action in specification.actions for clause in (*action.conditions, *action.effects)]
    expressions: list[Expression] = [part for clause in clauses for part in parts(clause.expression)]
    calls = [each for each in expressions if isinstance(each, Call)]
    found = [name for name, is_used in _OF_DATA.items() if is_used(value)]
    board = filter(None, [topology.extension(value["topology"])])
    return (*board, *found, *(name for name, is_used in _OF_CALLS.items() if any(map(is_used, calls))))


def _places(data: Mapping[str, Any]) -> list[str]:
    return [place.strip() for step in data.get("setup", {}).get("steps", ()) for place in step["at"]]
