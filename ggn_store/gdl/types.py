"""What the expressions of a specification are about: kinds of values, names that exist, arguments that fit."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ggn_store.errors import closest, offer, quote
from ggn_store.gdl import language
from ggn_store.gdl.complaints import Complaint, TooManyError
from ggn_store.gdl.draft import Draft
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name, start_of, text_of
from ggn_store.gdl.language import ANY, BOARD, BOOL, ENTITY, INT, NODE, NULL, PLAYER, STATE, TEXT
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import Clause, Grid, HexGrid, Network, Value, label

_KIND_OF: Final = {str: TEXT, bool: BOOL, int: INT, type(None): NULL}


@dataclass(frozen=True, slots=True)
class Typed:
    """The kind of an expression's value; `values` are all that it can be, and `noun` says what they are.

    `schemas` are the types that an entity may be of.
    """

    kind: str
    values: tuple[Value, ...] | None = None
    noun: str | None = None
    schemas: tuple[str, ...] = ()


_ANY: Final = Typed(ANY)


@dataclass(slots=True)
class Uses:
    """What expressions read and write: `("state", name)`, `("player", name)`, `("entity", type, name)`."""

    reads: set[tuple[str, ...]] = field(default_factory=set)
    writes: set[tuple[str, ...]] = field(default_factory=set)


class Types:
    """Checks the expressions of a draft; what is wrong goes to the reader's complaints."""

    def __init__(self, reader: SectionReader) -> None:
        self.uses = Uses()
        self._reader = reader
        self._draft: Draft = reader.draft
        topology = self._draft.topology
        self._labels = () if topology is None else tuple(map(label, topology.nodes()))
        self._clause: Clause
        self._names: Mapping[str, str] = language.NAMES
        self._schemas: Mapping[str, str] = {}

    def check(self) -> None:
        """Check all conditions and effects, and the conditions of assets; those of the end are the host's."""
        with contextlib.suppress(TooManyError):
            self._check()

    def _check(self) -> None:
        for action in self._draft.actions:
            self._schemas = {}
            for condition in action.conditions:
                self._schemas = {**self._schemas, **dict(_schemas_asked_for(condition.expression))}
            for condition in action.conditions:
                self._clause = condition
                self._condition(condition.expression)
            for effect in action.effects:
                self._clause = effect
                self._effect(effect.expression)
        self._names = {"entity": ENTITY}
        for profile in self._draft.assets:
            for asset in profile.assets:
                self._clause = asset.condition
                self._schemas = dict(_schemas_asked_for(asset.condition.expression))
                self._condition(asset.condition.expression)

    # Complaints.

    def _wrong(self, message: str, at: int, allowed: str | None = None, code: str = "invalid") -> None:
        path = self._reader.path(self._clause.place)
        self._reader.add(Complaint(path, message, None, allowed, expression=self._clause.text, at=at, code=code))

    def _refuse(self, construct: str, reason: str, at: int) -> None:
        self._wrong(f"{construct}: {reason}", at, code="refused")

    def _unknown(self, what: str, name: str, at: int, known: Iterable[str], quoted: bool = False) -> None:
        names = [*known]
        near = closest(name, names)
        shown = quote if quoted else str
        hint = f": did you mean {shown(near)}?" if near else ""
        self._wrong(f"{what} {shown(name)}{hint}", at, offer([*map(shown, names)]) or None)

    # Values.

    def _condition(self, expression: Expression) -> None:
        kind = self._value(expression).kind
        if kind not in (BOOL, ANY):
            self._wrong(f"this is {kind} and no condition", start_of(expression), "eq(...), and(...), not(...), ...")

    def _value(self, expression: Expression) -> Typed:
        """What an expression gives; the board and the state are no values by themselves."""
        found = self._typed(expression)
        if found.kind == BOARD:
            self._wrong("the board is no value by itself", start_of(expression), "board[start], board[target], ...")
            return _ANY
        if found.kind == STATE:
            self._wrong("the state is no value by itself", start_of(expression), "state.current_player, ...")
            return _ANY
        return found

    def _typed(self, expression: Expression) -> Typed:
        match expression:
            case Literal(value=value):
                return Typed(_KIND_OF[type(value)])
            case Name():
                return self._name(expression)
            case Call():
                return self._call(expression)
            case Attribute():
                return self._attribute(expression)
            case Index(of=of, key=key, at=at):
                return self._index(of, key, at)

    def _name(self, expression: Name) -> Typed:
        name, at = expression.text, expression.at
        if name in self._names:
            kind = self._names[name]
            return Typed(kind, schemas=self._schemas_of(expression)) if kind == ENTITY else Typed(kind)
        if name in language.NAMES:
            self._wrong(f"{name} is not known here", at, ", ".join(self._names))
        elif name == "player":
            self._wrong("player is a function", at, "player('Name'), or state.current_player, the side to move")
        elif name in language.REFUSED_NAMES:
            self._refuse(f"the name {name}", language.REFUSED_NAMES[name], at)
        elif name in language.FUNCTIONS or name in language.EFFECTS:
            self._wrong(f"{name} is a function", at, f"{name}(...)")
        elif name in self._texts():
            self._wrong(f"there is no name {name}: did you mean the text '{name}'?", at, "text stands in quotes")
        else:
            self._unknown("there is no name", name, at, self._names)
        return _ANY

    def _texts(self) -> set[Value]:
        """The texts that the specification says elsewhere, to tell a name from a text without quotes."""
        draft = self._draft
        texts: set[Value] = {
            *draft.schemas,
            *(each.name for each in draft.players),
            *(each.name for each in draft.phases),
        }
        for placement in draft.setup:
            texts.update(placement.attributes.values())
        for schema in draft.schemas.values():
            for attribute in schema.attributes.values():
                texts.update((attribute.default, *(attribute.values or ())))
        for variable in draft.variables.values():
            texts.update((variable.initial, *(variable.values or ())))
        return texts

    def _index(self, of: Expression, key: Expression, at: int) -> Typed:
        base = self._typed(of)
        place = self._value(key)
        if base.kind == ANY:
            return _ANY
        if base.kind != BOARD:
            self._wrong(f"{_the(base.kind)} has no places", at, "board[...]")
            return _ANY
        if place.kind not in (NODE, ANY):
            self._wrong(f"the board is asked by place, and this is {place.kind}", start_of(key), "start, target, ...")
        return Typed(ENTITY, schemas=self._schemas_of(Index(of, key, at)))

    def _schemas_of(self, expression: Expression) -> tuple[str, ...]:
        asked = self._schemas.get(text_of(expression))
        return (asked,) if asked in self._draft.schemas else tuple(self._draft.schemas)

    def _attribute(self, expression: Attribute) -> Typed:
        base = self._typed(expression.of)
        name, at = expression.name, expression.at
        match base.kind:
            case language.ANY:
                return _ANY
            case language.STATE:
                return self._of_state(name, at)
            case language.ENTITY:
                return self._of_entity(base, name, at)
            case language.PLAYER:
                return self._of_player(name, at)
            case language.NODE:
                return self._of_node(name, at)
            case language.BOARD:
                self._wrong(f"the board has no attribute {name}", at, "board[...]")
                return _ANY
        self._wrong(f"{_the(base.kind)} has no attributes", at)
        return _ANY

    def _of_state(self, name: str, at: int) -> Typed:
        draft = self._draft
        if name == "current_player":
            return Typed(PLAYER)
        if name == "phase":
            self.uses.reads.add(("state", name))
            return Typed(TEXT, tuple(phase.name for phase in draft.phases) or None, "phase")
        if name not in draft.variables:
            self._unknown("the state has no variable", name, at, ("current_player", "phase", *draft.variables))
            return _ANY
        self.uses.reads.add(("state", name))
        return Typed(language.KINDS[draft.variables[name].type], draft.variables[name].values)

    def _of_entity(self, base: Typed, name: str, at: int) -> Typed:
        draft = self._draft
        if name == "pos":
            return Typed(NODE)
        if name == "schema":
            return Typed(TEXT, tuple(draft.schemas) or None, "type of entities")
        if not base.schemas:
            return _ANY
        kinds: set[str] = set()
        for schema in base.schemas:
            attributes = draft.schemas[schema].attributes
            if name in attributes:
                kinds.add(language.KINDS[attributes[name].type])
                self.uses.reads.add(("entity", schema, name))
        lacking = [schema for schema in base.schemas if name not in draft.schemas[schema].attributes]
        if lacking and (name != "owner" or kinds):
            if not kinds:
                known = dict.fromkeys(key for schema in base.schemas for key in draft.schemas[schema].attributes)
                what = base.schemas[0] if len(base.schemas) == 1 else "an entity"
                self._unknown(f"{what} has no attribute", name, at, (*known, "schema", "pos"))
            else:
                having = next(schema for schema in base.schemas if schema not in lacking)
                allowed = f"an attribute of all types, or a condition on the type: eq(entity.schema, '{having}')"
                self._wrong(f"entities of type {lacking[0]} have no attribute {name}", at, allowed)
        elif lacking:  # an owner that no type has is refused where the types are declared
            return Typed(PLAYER)
        return Typed(kinds.pop()) if len(kinds) == 1 else _ANY

    def _of_player(self, name: str, at: int) -> Typed:
        players = self._draft.players
        if name == "name":
            return Typed(TEXT, tuple(player.name for player in players) or None, "player")
        if not players:
            return _ANY
        having = [player for player in players if name in player.attributes]
        if not having:
            known = dict.fromkeys(key for player in players for key in player.attributes)
            self._unknown("players have no attribute", name, at, (*known, "name"))
            return _ANY
        self.uses.reads.add(("player", name))
        for player in players:
            if name not in player.attributes:
                self._wrong(f"the player {player.name} has no attribute {name}", at, f"{name} for each player")
                return _ANY
        kinds = {_KIND_OF[type(player.attributes[name])] for player in having} - {NULL}
        return Typed(kinds.pop()) if len(kinds) == 1 else _ANY

    def _of_node(self, name: str, at: int) -> Typed:
        topology = self._draft.topology
        if topology is None:
            return _ANY
        if isinstance(topology, Grid):
            axes = ("q", "r", "x", "y") if isinstance(topology, HexGrid) else ("x", "y")
            if name in axes:
                return Typed(INT)
            if name == "name":
                return Typed(TEXT, self._labels, "place")
            self._unknown("a place of the board has no attribute", name, at, (*axes, "name"))
            return _ANY
        if name == "name":
            return Typed(TEXT, tuple(topology.attributes), "place")
        having = [attributes[name] for attributes in topology.attributes.values() if name in attributes]
        if not having:
            known = dict.fromkeys(key for attributes in topology.attributes.values() for key in attributes)
            self._unknown("no node has an attribute", name, at, ("name", *known))
            return _ANY
        kinds = {_KIND_OF[type(value)] for value in having} - {NULL}
        return Typed(kinds.pop()) if len(kinds) == 1 else _ANY

    # Calls.

    def _call(self, call: Call) -> Typed:
        function = language.FUNCTIONS.get(call.name)
        if function is None:
            if call.name in language.EFFECTS:
                self._wrong(f"{call.name} is an effect, and a value is wanted here", call.at, "eq(...), sub(...), ...")
            elif call.name in language.REFUSED_FUNCTIONS:
                self._refuse(f"the function {call.name}", language.REFUSED_FUNCTIONS[call.name], call.at)
            else:
                self._unknown("there is no function", call.name, call.at, language.FUNCTIONS)
            for argument in call.arguments:
                self._value(argument)
            return _ANY
        before = self._schemas
        self._schemas = {**before, **dict(_schemas_asked_for(call))} if call.name == "and" else before
        found = [self._value(argument) for argument in call.arguments]
        self._schemas = before
        if not self._count(call, function):
            return Typed(function.result)
        wanted = [*function.arguments, *[function.arguments[-1]] * (len(found) - len(function.arguments))]
        for number, (each, kind) in enumerate(zip(found, wanted, strict=False)):
            if each.kind not in (kind, ANY) and kind != ANY:
                self._wrong(
                    f"{_ordinal(number, len(found))} of {call.name} must be {kind}, and this is {each.kind}",
                    start_of(call.arguments[number]),
                    "player('Name'), entity.owner, ..." if kind == PLAYER and each.kind == TEXT else None,
                )
        if call.name in ("eq", "ne"):
            self._compared(call, found)
        elif call.name == "player":
            self._player(call)
        elif call.name == "node":
            self._node(call, found)
        elif call.name in ("path_clear", "mid_pos") and isinstance(self._draft.topology, Network):
            self._wrong(f"a network has no lines, which {call.name} asks for", call.at, "adjacent(start, target)")
        return Typed(function.result)

    def _count(self, call: Call, function: language.Function) -> bool:
        number = len(call.arguments)
        if function.takes(number):
            return True
        if function.most is None:
            wanted = f"{function.least} or more arguments"
        elif function.most != function.least:
            wanted = f"{function.least} or {function.most} arguments"
        else:
            wanted = "one argument" if function.least == 1 else f"{function.least} arguments"
        self._wrong(f"{call.name} takes {wanted}, and has {number or 'none'}", call.at, _signature(call.name, function))
        return False

    def _compared(self, call: Call, found: Sequence[Typed]) -> None:
        first, second = found
        kinds = {first.kind, second.kind}
        if len(kinds) == 2 and not kinds & {ANY, NULL}:
            hint = "player('Name'), or the text of .name" if kinds == {PLAYER, TEXT} else None
            self._wrong(
                f"{call.name} compares {first.kind} with {second.kind}, which are never equal",
                start_of(call.arguments[1]),
                hint,
            )
            return
        for typed, other in ((first, call.arguments[1]), (second, call.arguments[0])):
            if typed.noun is not None and isinstance(other, Literal) and isinstance(other.value, str):
                self._known_text(typed, other.value, other.at)

    def _known_text(self, typed: Typed, text: str, at: int) -> None:
        if typed.values is not None and text not in typed.values:
            self._unknown(f"there is no {typed.noun}", text, at, [str(each) for each in typed.values], quoted=True)

    def _player(self, call: Call) -> None:
        argument = call.arguments[0]
        if not isinstance(argument, Literal):
            self._wrong("player wants a name in quotes", start_of(argument), "player('Name')")
        elif isinstance(argument.value, str) and self._draft.players:
            names = [player.name for player in self._draft.players]
            if argument.value not in names:
                self._unknown("there is no player", argument.value, argument.at, names, quoted=True)

    def _node(self, call: Call, found: Sequence[Typed]) -> None:
        topology = self._draft.topology
        if len(found) == 2 and isinstance(topology, Network):
            self._wrong("a network has no coordinates", call.at, "node('Name')")
            return
        wanted = TEXT if len(found) == 1 else INT
        for number, (argument, each) in enumerate(zip(call.arguments, found, strict=True)):
            if each.kind not in (wanted, ANY):
                message = f"{_ordinal(number, len(found))} of node must be {wanted}, and this is {each.kind}"
                self._wrong(message, start_of(argument), "node(x, y), node('e4'), node('Name')")
                return
        argument = call.arguments[0]
        if topology is None or not isinstance(argument, Literal) or not isinstance(argument.value, str):
            return
        if argument.value not in self._labels:
            self._unknown("there is no place", argument.value, argument.at, self._labels, quoted=True)

    # Effects.

    def _effect(self, expression: Expression) -> None:
        if not isinstance(expression, Call):
            self._value(expression)
            self._wrong("this changes nothing", start_of(expression), _EFFECTS)
            return
        function = language.EFFECTS.get(expression.name)
        if function is None:
            if expression.name in language.FUNCTIONS:
                self._call(expression)
                message = f"{expression.name} computes a value and changes nothing"
                self._wrong(message, expression.at, f"set(..., {expression.name}(...))")
            elif expression.name in language.REFUSED_FUNCTIONS:
                self._call(expression)
            else:
                self._unknown("there is no effect", expression.name, expression.at, language.EFFECTS)
                for argument in expression.arguments:
                    self._value(argument)
            return
        if not self._count(expression, function):
            return
        if expression.name == "set":
            self._set(*expression.arguments)
        elif expression.name == "if":
            condition, *effects = expression.arguments
            self._condition(condition)
            before = self._schemas
            self._schemas = {**before, **dict(_schemas_asked_for(condition))}
            for effect in effects:
                self._effect(effect)
                self._schemas = before
        else:
            argument = expression.arguments[0]
            kind = self._value(argument).kind
            if kind not in (ENTITY, ANY):
                self._wrong(f"remove_entity takes an entity, and this is {kind}", start_of(argument), "board[target]")

    def _set(self, place: Expression, value: Expression) -> None:
        found = self._value(value)
        match place:
            case Index(of=of, key=key, at=at):
                if self._index(of, key, at).kind == ENTITY:
                    self._fits(found, Typed(ENTITY), value, "a place of the board")
            case Attribute(of=of, name=name, at=at):
                base = self._typed(of)
                if base.kind == STATE:
                    self._set_variable(name, at, found, value)
                elif base.kind == ENTITY:
                    self._set_attribute(base, name, at, found, value)
                elif base.kind == PLAYER:
                    self._of_player(name, at)
                    self._wrong("what players have never changes", at, _PLACES)
                elif base.kind == NODE:
                    self._wrong("a place of the board never changes", at, _PLACES)
                elif base.kind != ANY:
                    self._wrong(f"{_the(base.kind)} has no attributes", at, _PLACES)
            case _:
                if self._typed(place).kind != ANY or isinstance(place, Literal):
                    self._wrong("nothing can be set here", start_of(place), _PLACES)

    def _set_variable(self, name: str, at: int, found: Typed, value: Expression) -> None:
        draft = self._draft
        if name == "current_player":
            self._fits(found, Typed(PLAYER), value, name)
            return
        if name == "phase":
            self.uses.writes.add(("state", name))
            phases = tuple(phase.name for phase in draft.phases)
            self._fits(found, Typed(TEXT, phases or None, "phase"), value, name)
            return
        if name not in draft.variables:
            self._unknown("the state has no variable", name, at, ("current_player", "phase", *draft.variables))
            return
        self.uses.writes.add(("state", name))
        variable = draft.variables[name]
        self._fits(found, Typed(language.KINDS[variable.type], variable.values), value, name)

    def _set_attribute(self, base: Typed, name: str, at: int, found: Typed, value: Expression) -> None:
        if name == "schema":
            self._wrong("the type of an entity never changes", at, _PLACES)
            return
        if name == "pos":
            self._fits(found, Typed(NODE), value, name)
            return
        reads = {*self.uses.reads}
        self._of_entity(base, name, at)
        self.uses.reads = reads
        for schema in base.schemas:
            attribute = self._draft.schemas[schema].attributes.get(name)
            if attribute is not None:
                self.uses.writes.add(("entity", schema, name))
                self._fits(found, Typed(language.KINDS[attribute.type], attribute.values), value, name)
                if name == "owner" and found.kind == NULL:
                    self._wrong("each entity has an owner", start_of(value), "player('Name'), remove_entity(...)")
                break

    def _fits(self, found: Typed, wanted: Typed, value: Expression, what: str) -> None:
        if found.kind not in (wanted.kind, ANY) and (found.kind != NULL or wanted.kind == NODE):
            self._wrong(f"{what} is {wanted.kind}, and this is {found.kind}", start_of(value))
        elif isinstance(value, Literal) and wanted.noun is not None and isinstance(value.value, str):
            self._known_text(wanted, value.value, value.at)
        elif isinstance(value, Literal) and wanted.values is not None and not _is_in(value.value, wanted.values):
            near = (
                closest(value.value, [v for v in wanted.values if isinstance(v, str)])
                if isinstance(value.value, str)
                else None
            )
            hint = f": did you mean {quote(near)}?" if near else ""
            self._wrong(f"{what} is never {quote(value.value)}{hint}", value.at, offer([*map(quote, wanted.values)]))


_EFFECTS: Final = "set(..., ...), if(..., ...), remove_entity(...)"
_PLACES: Final = "board[...], entity.ATTRIBUTE, state.VARIABLE"


def _schemas_asked_for(condition: Expression) -> Iterator[tuple[str, str]]:
    """The entities (as text) whose type a condition asks for, and the type."""
    match condition:
        case Call(name="and", arguments=arguments):
            for argument in arguments:
                yield from _schemas_asked_for(argument)
        case Call(name="eq", arguments=(Attribute(of=of, name="schema"), Literal(value=str(schema)))):
            yield text_of(of), schema
        case Call(name="eq", arguments=(Literal(value=str(schema)), Attribute(of=of, name="schema"))):
            yield text_of(of), schema


def _is_in(value: Value, values: Collection[Value]) -> bool:
    return any(value == each and type(value) is type(each) for each in values)


def _the(kind: str) -> str:
    return kind if kind in (NULL, BOARD, STATE) else f"the value is {kind}, which"


def _ordinal(number: int, of: int) -> str:
    if of == 1:
        return "the argument"
    return f"argument {number + 1}"


def _signature(name: str, function: language.Function) -> str:
    letters = [*"abc"[: len(function.arguments)], *(["..."] if function.is_open else [])]
    return f"{name}({', '.join(letters)})"
