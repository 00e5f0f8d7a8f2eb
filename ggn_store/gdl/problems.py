"""Problems of specifications that show only when they are compiled."""

from __future__ import annotations

from collections.abc import Iterator

from ggn_store.errors import SpecificationProblem
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Name
from ggn_store.gdl.specification import Action, Clause, Location


def problem(
    section: str, place: Location, message: str, *, found: str | None = None, allowed: str | None = None
) -> SpecificationProblem:
    """A problem of what stands at a place."""
    return SpecificationProblem(message, place.pointer, place.line, place.column, None, found, allowed, section=section)


def problem_of(
    action: Action, message: str, *, found: str | None = None, sets: str | None = None
) -> SpecificationProblem:
    """A problem of an action, at its last effect that `sets` something (`state.x`, `.x`, `board`), if one does."""
    clause, at = _setting(action, sets)
    place = action.place if clause is None else clause.place
    return SpecificationProblem(
        message,
        place.pointer,
        place.line,
        place.column,
        None,
        found,
        section="interactions",
        action=action.name,
        expression=None if clause is None else clause.text,
        at=None if clause is None else at,
    )


def _setting(action: Action, sets: str | None) -> tuple[Clause | None, int]:
    for clause in reversed(action.effects):
        for name, at in _sets(clause.expression):
            if name == sets:
                return clause, at
    return None, 0


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
