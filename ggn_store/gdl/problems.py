"""Problems of specifications that show only when they are compiled, and findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ggn_store.errors import Problem
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Name
from ggn_store.gdl.specification import Action, Clause, Location


def problem(section: str, place: Location, message: str, **more: Any) -> Problem:
    """A problem of what stands at a place; `more` are other fields of it."""
    return Problem(message, place.pointer, place.line, place.column, section=section, kind="description", **more)


def problem_of(action: Action, message: str, *, found: str | None = None, sets: str | None = None) -> Problem:
    """A problem of an action, at its last effect that `sets` something (`state.x`, `.x`, `board`), if one does."""
    found_at = (
        (clause, at) for clause in reversed(action.effects) for each, at in _sets(clause.expression) if each == sets
    )
    clause, at = next(found_at, (None, 0))
    if clause is None:
        return problem("interactions", action.place, message, found=found, action=action.name)
    expression: dict[str, Any] = {"expression": clause.text, "at": at}
    return problem("interactions", clause.place, message, found=found, action=action.name, **expression)


def finding(code: str, message: str, place: Location, clause: Clause | None = None, at: int = 0) -> Problem:
    """Something suspicious at a place; with the clause and the character in it, where it is about one."""
    expression: dict[str, Any] = {} if clause is None else {"expression": clause.text, "at": at}
    return Problem(message, path=place.path, code=code, severity="finding", kind="description", **expression)


def _sets(effect: Expression) -> Iterator[tuple[str, int]]:
    """What an effect sets, and where it says so."""
    match effect:
        case Call(name="set", arguments=(Index(), _), at=at):
            yield "board", at
        case Call(name="set", arguments=(Attribute(of=Name(text="state"), name=name), _), at=at):
            yield f"state.{name}", at
        case Call(name="set", arguments=(Attribute(name=name), _), at=at):
            yield f".{name}", at
        case Call(name="if", arguments=(_, *branches)):
            for branch in branches:
                yield from _sets(branch)
