"""Expressions that stand for others, which are put in their places when a specification is read.

`"near(dx, dy)": "board[node(add(target.x, dx), add(target.y, dy))]"` says what `near(1, 0)` means. A definition may
use those before it; so none goes on for ever. A variable of each player, `entity.owner.castled`, is that of whichever
player it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import quote
from ggn_store.gdl import language
from ggn_store.gdl.expressions import MAX_DEPTH, Attribute, Call, Expression, ExpressionError, Index, Literal, Name
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import Clause
from ggn_store.notation.json_text import Path

_HEAD: Final = re.compile(r"\s*(\w+)\s*\(\s*((?:\w+\s*(?:,\s*\w+\s*)*)?)\)\s*")


@dataclass(frozen=True, slots=True)
class DefinedCall:
    """What a call means: an expression in which the parameters stand for the arguments."""

    parameters: tuple[str, ...]
    body: Expression


DefinedCalls = Mapping[str, DefinedCall]


def read(reader: SectionReader, value: Any, path: Path) -> DefinedCalls:
    """The definitions by name, those that can be read."""
    found: dict[str, DefinedCall] = {}
    for head, text, at in reader.named(value, path, "definitions"):
        match = _HEAD.fullmatch(head)
        if match is None:
            reader.complain(at, "this is no name with parameters", quote(head), '"near(dx, dy)": "..."', True)
            continue
        name, parameters = match[1], tuple(re.findall(r"\w+", match[2]))
        taken = (*language.FUNCTIONS, *language.EFFECTS, *language.NAMES, *found)
        names = [reader.is_name(each, at, "definition", taken) for each in (name, *parameters)]
        if len(set(parameters)) < len(parameters):
            reader.complain(at, "a parameter stands twice", quote(head), "each parameter once", True)
        elif all(names) and (clause := clause_of(reader, text, at, f"the definition of {name}", found)) is not None:
            found[name] = DefinedCall(parameters, clause.expression)
    return found


def clause_of(reader: SectionReader, value: Any, path: Path, what: str, definitions: DefinedCalls) -> Clause | None:
    """A string as a condition or effect with what it means by definitions; None where it is none."""
    clause = reader.clause(value, path, what)
    if clause is None or not (definitions or reader.draft.per_player):
        return clause
    try:
        expansion = _Expansion(definitions, reader.draft.per_player)
        return replace(clause, expression=expansion.of(clause.expression, 0))
    except ExpressionError as error:
        reader.complain_of(path, clause.text, error.at, error.message, found=error.found, allowed=error.allowed)
        return None


class _Expansion:
    """Puts what is defined in the places of its calls, in all no more than an expression may be long."""

    def __init__(self, definitions: DefinedCalls, per_player: Mapping[str, Mapping[str, str]]) -> None:
        self._definitions = definitions
        self._per_player = per_player
        self._left = limits.DESCRIPTION_TEXT.most

    def of(self, expression: Expression, depth: int) -> Expression:
        """An expression of the specification; raises ExpressionError."""
        return self._put(expression, {}, None, depth)

    def _put(self, expression: Expression, values: Mapping[str, Expression], at: int | None, depth: int) -> Expression:
        self._left -= 1
        place = expression.at if at is None else at
        if self._left < 0 or depth > MAX_DEPTH:
            raise ExpressionError("with its definitions the expression is too large", place)

        def put(each: Expression) -> Expression:
            return self._put(each, values, at, depth + 1)

        match expression:
            case Name(text=name) if name in values:
                return self._put(values[name], {}, None, depth + 1)
            case Call(name="set", arguments=(Attribute(of=of, name=name), value)) if name in self._per_player:
                return self._of_player(put(of), name, place, put(value))
            case Call(name=name, arguments=arguments):
                return self._call(name, tuple(map(put, arguments)), place, depth)
            case Attribute(of=of, name=name) if name in self._per_player:
                return self._of_player(put(of), name, place)
            case Attribute(of=of, name=name):
                return Attribute(put(of), name, place)
            case Index(of=of, key=key):
                return Index(put(of), put(key), place)
            case _:
                return replace(expression, at=place)

    def _call(self, name: str, given: tuple[Expression, ...], at: int, depth: int) -> Expression:
        known = self._definitions.get(name)
        if known is None:
            return Call(name, given, at)
        if len(given) != len(known.parameters):
            wanted = f"{name}({', '.join(known.parameters)})"
            raise ExpressionError(f"{name} is called with {len(given)} arguments", at, None, wanted)
        return self._put(known.body, dict(zip(known.parameters, given, strict=True)), at, depth + 1)

    def _of_player(self, player: Expression, name: str, at: int, new: Expression | None = None) -> Expression:
        """A variable of a player, or the effect that sets it: for one player the one, for the other the other."""
        if isinstance(player, Index) or (isinstance(player, Name) and player.text in language.NAMES):
            allowed = f"entity.owner.{name}, state.current_player.{name}"
            raise ExpressionError(f"{name} is a variable of each player", at, None, allowed)
        found: Expression | None = None if new is not None else Literal(None, at)
        for each, own in reversed([*self._per_player[name].items()]):
            variable: Expression = Attribute(Name("state", at), own, at)
            then = variable if new is None else Call("set", (variable, new), at)
            is_one = Call("eq", (player, Call("player", (Literal(each, at),), at)), at)
            found = Call("if", (is_one, then) if found is None else (is_one, then, found), at)
        return found or Literal(None, at)
