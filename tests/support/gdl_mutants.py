"""Mutants of a game description: one condition dropped or turned round, at any depth.

Nothing here uses ggn_store.
"""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.oracles.gdl_interpreter import Expression, parse

OPPOSITE = {"eq": "ne", "ne": "eq", "gt": "lt", "lt": "gt", "gte": "lte", "lte": "gte"}
CONDITIONS = frozenset({*OPPOSITE, "and", "or", "not", "path_clear", "adjacent", "special_connection"})


class Mutant(NamedTuple):
    """A changed specification and what was changed, as `action: change`."""

    name: str
    spec: dict[str, Any]


def mutants(spec: dict[str, Any], action: str) -> Iterator[Mutant]:
    """Each condition of an action dropped, and each condition and each part of one turned round."""
    for number, condition in enumerate(spec["interactions"]["list"][action]["conditions"]):
        yield Mutant(f"{action}: without {condition}", changed(spec, action, number, None))
        for other in turned(parse(condition)):
            text = written(other)
            yield Mutant(f"{action}: {text} for {condition}", changed(spec, action, number, text))


def changed(spec: dict[str, Any], action: str, number: int, text: str | None) -> dict[str, Any]:
    mutant = copy.deepcopy(spec)
    conditions = mutant["interactions"]["list"][action]["conditions"]
    conditions[number : number + 1] = [] if text is None else [text]
    return mutant


def turned(expression: Expression) -> Iterator[Expression]:
    """The condition turned round, then each part of it that is a condition too."""
    kind, name, arguments = (*expression, None, None)[:3]
    if kind != "call":
        yield ("call", "not", [expression])
        return
    if name in OPPOSITE:
        yield ("call", OPPOSITE[name], arguments)
        return
    if name == "not":
        yield arguments[0]
        return
    yield ("call", "not", [expression])
    if name in ("and", "or"):
        for number, part in enumerate(arguments):
            yield ("call", name, [*arguments[:number], *arguments[number + 1 :]])
            for other in turned(part):
                yield ("call", name, [*arguments[:number], other, *arguments[number + 1 :]])


def written(expression: Expression) -> str:
    """The text of an expression, which `parse` reads back."""
    kind, first, *rest = expression
    if kind == "call":
        return f"{first}({', '.join(map(written, rest[0]))})"
    if kind == "attribute":
        return f"{written(first)}.{rest[0]}"
    if kind == "index":
        return f"{written(first)}[{written(rest[0])}]"
    if kind == "name":
        return str(first)
    if first is None or isinstance(first, bool):
        return {None: "null", True: "true", False: "false"}[first]
    return str(first) if isinstance(first, int) else repr(first)
