"""Expressions that have a value: what kind it is of, and whether their names exist."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from ggn_store.gdl import language
from ggn_store.gdl.draft import Draft
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name, start_of, text_of
from ggn_store.gdl.language import ANY, BOARD, BOOL, ENTITY, NODE, NULL, STATE
from ggn_store.gdl.specification import SpecValue
from ggn_store.gdl.types.attributes import Attributes
from ggn_store.gdl.types.calls import Calls
from ggn_store.gdl.types.typed import KIND_OF, UNKNOWN, NamesUsed, Remarks, Typed, common


class ValueChecks:
    """Checks expressions; `names` are those that they may ask for, with their kinds."""

    def __init__(self, draft: Draft, uses: NamesUsed, remarks: Remarks) -> None:
        self.names: Mapping[str, str] = language.NAMES
        self.attributes = Attributes(draft, uses.reads, remarks)
        self._reads = uses.reads
        self.calls = Calls(draft, self.attributes.labels, remarks)
        self._draft = draft
        self._remarks = remarks
        self._schemas: Mapping[str, str] = {}

    @contextlib.contextmanager
    def assuming(self, *conditions: Expression | None) -> Iterator[None]:
        """Entities are of the types that these conditions ask for, while they hold."""
        before = self._schemas
        for condition in conditions:
            if condition is not None:
                self._schemas = {**self._schemas, **dict(_schemas_asked_for(condition))}
        yield
        self._schemas = before

    def condition(self, expression: Expression) -> None:
        """Check an expression that must be true or false."""
        kind = self.value(expression).kind
        if kind not in (BOOL, ANY):
            self._remarks.wrong(
                f"this is {kind} and no condition", start_of(expression), "eq(...), and(...), not(...), ..."
            )

    def value(self, expression: Expression) -> Typed:
        """What an expression gives; the board and the state are no values by themselves."""
        found = self.typed(expression)
        if found.kind == BOARD:
            self._remarks.wrong(
                "the board is no value by itself", start_of(expression), "board[start], board[target], ..."
            )
            return UNKNOWN
        if found.kind == STATE:
            self._remarks.wrong("the state is no value by itself", start_of(expression), "state.current_player, ...")
            return UNKNOWN
        return found

    def typed(self, expression: Expression) -> Typed:
        """The same, where the board and the state may stand, of which a part is asked."""
        match expression:
            case Literal(value=value):
                return Typed(KIND_OF[type(value)])
            case Name():
                return self._name(expression)
            case Call():
                return self._call(expression)
            case Attribute():
                return self._attribute(expression)
            case Index(of=of, key=key, at=at):
                return self.index(of, key, at)

    def _name(self, expression: Name) -> Typed:
        name, at = expression.text, expression.at
        if name in self.names:
            kind = self.names[name]
            return Typed(kind, schemas=self._schemas_of(expression)) if kind == ENTITY else Typed(kind)
        if name in language.NAMES:
            self._remarks.wrong(f"{name} is not known here", at, ", ".join(self.names))
        elif name == "player":
            self._remarks.wrong("player is a function", at, "player('Name'), or state.current_player, the side to move")
        elif name in language.REFUSED_NAMES:
            self._remarks.refuse(f"the name {name}", language.REFUSED_NAMES[name], at)
        elif name in language.FUNCTIONS or name in language.EFFECTS:
            self._remarks.wrong(f"{name} is a function", at, f"{name}(...)")
        elif name in self._texts():
            self._remarks.wrong(
                f"there is no name {name}: did you mean the text '{name}'?", at, "text stands in quotes"
            )
        else:
            self._remarks.unknown("there is no name", name, at, self.names)
        return UNKNOWN

    def _texts(self) -> set[SpecValue]:
        """The texts that the specification says elsewhere, to tell a name from a text without quotes."""
        draft = self._draft
        texts: set[SpecValue] = {
            *draft.schemas,
            *(each.name for each in draft.players),
            *(each.name for each in draft.phases),
        }
        for placement in draft.setup:
            texts.update(placement.attributes.values())
        attributes = (each for schema in draft.schemas.values() for each in schema.attributes.values())
        for declared in (*attributes, *draft.variables.values()):
            texts.update((declared.initial, *(declared.values or ())))
        return texts

    def index(self, of: Expression, key: Expression, at: int) -> Typed:
        """What stands on a place: `board[key]`."""
        base = self.typed(of)
        place = self.value(key)
        if base.kind == ANY:
            return UNKNOWN
        if base.kind != BOARD:
            self._remarks.wrong(f"{the(base.kind)} has no places", at, "board[...]")
            return UNKNOWN
        if place.kind not in (NODE, ANY):
            self._remarks.wrong(
                f"the board is asked by place, and this is {place.kind}", start_of(key), "start, target, ..."
            )
        return Typed(ENTITY, schemas=self._schemas_of(Index(of, key, at)))

    def _schemas_of(self, expression: Expression) -> tuple[str, ...]:
        asked = self._schemas.get(text_of(expression))
        return (asked,) if asked in self._draft.schemas else tuple(self._draft.schemas)

    def _attribute(self, expression: Attribute) -> Typed:
        base = self.typed(expression.of)
        name, at = expression.name, expression.at
        match base.kind:
            case language.ANY:
                return UNKNOWN
            case language.STATE:
                return self.attributes.of_state(name, at, self._reads)
            case language.ENTITY:
                return self.attributes.of_entity(base, name, at, self._reads)
            case language.PLAYER:
                return self.attributes.of_player(name, at)
            case language.NODE:
                return self.attributes.of_node(name, at)
            case language.BOARD:
                self._remarks.wrong(f"the board has no attribute {name}", at, "board[...]")
                return UNKNOWN
        self._remarks.wrong(f"{the(base.kind)} has no attributes", at)
        return UNKNOWN

    def _call(self, call: Call) -> Typed:
        function = language.FUNCTIONS.get(call.name)
        if function is None:
            self._no_function(call)
            return UNKNOWN
        if call.name == "if" and len(call.arguments) == 3:
            return self._choice(call, function)
        with self.assuming(call if call.name == "and" else None):
            found = [self.value(argument) for argument in call.arguments]
        self.calls.check(call, function, found)
        return Typed(function.result, schemas=self._schemas_of(call) if function.result == ENTITY else ())

    def _choice(self, call: Call, function: language.Function) -> Typed:
        """`if` as a value: both that it can be must be of one kind."""
        condition, *values = call.arguments
        holds = self.value(condition)
        with self.assuming(condition):
            then = self.value(values[0])
        otherwise = self.value(values[1])
        self.calls.check(call, function, [holds, then, otherwise])
        kinds = {then.kind, otherwise.kind} - {ANY}
        if len(kinds - {NULL}) == 2:
            message = f"if gives {then.kind} or {otherwise.kind}, and must give one kind of value"
            self._remarks.wrong(message, start_of(call.arguments[2]))
        return Typed(common(kinds).kind, schemas=tuple(dict.fromkeys(then.schemas + otherwise.schemas)))

    def _no_function(self, call: Call) -> None:
        if call.name in language.EFFECTS:
            message = f"{call.name} is an effect, and a value is wanted here"
            self._remarks.wrong(message, call.at, "eq(...), sub(...), ...")
        elif call.name in language.REFUSED_FUNCTIONS:
            self._remarks.refuse(f"the function {call.name}", language.REFUSED_FUNCTIONS[call.name], call.at)
        else:
            self._remarks.unknown("there is no function", call.name, call.at, language.FUNCTIONS)
        for argument in call.arguments:
            self.value(argument)


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


def the(kind: str) -> str:
    """A kind as the subject of a message."""
    return kind if kind in (NULL, BOARD, STATE) else f"the value is {kind}, which"
