"""Effects: what they change, and whether it can be what it is set to (seed 004, sections 2.6 and 4.3)."""

from __future__ import annotations

from typing import Final

from ggn_store.errors import did_you_mean, offer, quote
from ggn_store.gdl import language
from ggn_store.gdl.draft import Draft
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, start_of
from ggn_store.gdl.functions import same
from ggn_store.gdl.language import ANY, ENTITY, NODE, NULL, PLAYER, STATE
from ggn_store.gdl.types.typed import UNKNOWN, NamesUsed, Remarks, Typed
from ggn_store.gdl.types.values import ValueChecks, the

_EFFECTS: Final = "set(..., ...), if(..., ...), remove_entity(...)"
_PLACES: Final = "board[...], entity.ATTRIBUTE, state.VARIABLE"


class Effects:
    """Checks effects, and keeps what they write."""

    def __init__(self, draft: Draft, uses: NamesUsed, remarks: Remarks, values: ValueChecks) -> None:
        self._draft = draft
        self._writes = uses.writes
        self._remarks = remarks
        self._values = values

    def check(self, expression: Expression) -> None:
        """Check an effect, and the effects in it."""
        if not isinstance(expression, Call):
            self._values.value(expression)
            self._remarks.wrong("this changes nothing", start_of(expression), _EFFECTS)
            return
        function = language.EFFECTS.get(expression.name)
        if function is None:
            self._no_effect(expression)
            return
        if not self._values.calls.takes(expression, function):
            return
        if expression.name == "set":
            self._set(*expression.arguments)
        elif expression.name == "if":
            condition, *effects = expression.arguments
            self._values.condition(condition)
            for number, effect in enumerate(effects):
                with self._values.assuming(condition if number == 0 else None):
                    self.check(effect)
        else:
            argument = expression.arguments[0]
            kind = self._values.value(argument).kind
            if kind not in (ENTITY, ANY):
                self._remarks.wrong(
                    f"remove_entity takes an entity, and this is {kind}", start_of(argument), "board[target]"
                )

    def _no_effect(self, call: Call) -> None:
        if call.name in language.FUNCTIONS:
            self._values.value(call)
            message = f"{call.name} computes a value and changes nothing"
            self._remarks.wrong(message, call.at, f"set(..., {call.name}(...))")
        elif call.name in language.REFUSED_FUNCTIONS:
            self._values.value(call)
        else:
            self._remarks.unknown("there is no effect", call.name, call.at, language.EFFECTS)
            for argument in call.arguments:
                self._values.value(argument)

    def _set(self, place: Expression, value: Expression) -> None:
        found = self._values.value(value)
        match place:
            case Index(of=of, key=key, at=at):
                if self._values.index(of, key, at).kind == ENTITY:
                    self._fits(found, Typed(ENTITY), value, "a place of the board")
            case Attribute(of=of, name=name, at=at):
                base = self._values.typed(of)
                if base.kind == STATE:
                    self._set_variable(name, at, found, value)
                elif base.kind == ENTITY:
                    self._set_attribute(base, name, at, found, value)
                elif base.kind == PLAYER:
                    self._values.attributes.of_player(name, at)
                    self._remarks.wrong("what players have never changes", at, _PLACES)
                elif base.kind == NODE:
                    self._remarks.wrong("a place of the board never changes", at, _PLACES)
                elif base.kind != ANY:
                    self._remarks.wrong(f"{the(base.kind)} has no attributes", at, _PLACES)
            case _:
                if self._values.typed(place).kind != ANY or isinstance(place, Literal):
                    self._remarks.wrong("nothing can be set here", start_of(place), _PLACES)

    def _set_variable(self, name: str, at: int, found: Typed, value: Expression) -> None:
        wanted = self._values.attributes.of_state(name, at, self._writes)
        if wanted is not UNKNOWN:
            of_players = (each for each, own in self._draft.per_player.items() if name in own.values())
            self._fits(found, wanted, value, next(of_players, name))

    def _set_attribute(self, base: Typed, name: str, at: int, found: Typed, value: Expression) -> None:
        if name == "schema":
            self._remarks.wrong("the type of an entity never changes", at, _PLACES)
            return
        if name == "pos":
            self._fits(found, Typed(NODE), value, name)
            return
        self._values.attributes.of_entity(base, name, at, set())
        for schema in base.schemas:
            attribute = self._draft.schemas[schema].attributes.get(name)
            if attribute is not None:
                self._fits(found, Typed(language.KINDS[attribute.type], attribute.values), value, name)
                if name == "owner" and found.kind == NULL:
                    self._remarks.wrong(
                        "each entity has an owner", start_of(value), "player('Name'), remove_entity(...)"
                    )
                break

    def _fits(self, found: Typed, wanted: Typed, value: Expression, what: str) -> None:
        if found.kind not in (wanted.kind, ANY) and (found.kind != NULL or wanted.kind == NODE):
            self._remarks.wrong(f"{what} is {wanted.kind}, and this is {found.kind}", start_of(value))
        elif isinstance(value, Literal) and wanted.noun is not None and isinstance(value.value, str):
            self._remarks.unknown_text(wanted, value.value, value.at)
        elif (
            isinstance(value, Literal)
            and wanted.values is not None
            and not any(same(value.value, each) for each in wanted.values)
        ):
            texts = [each for each in wanted.values if isinstance(each, str)]
            hint = did_you_mean(value.value, texts, quote) if isinstance(value.value, str) else ""
            self._remarks.wrong(
                f"{what} is never {quote(value.value)}{hint}", value.at, offer([*map(quote, wanted.values)])
            )
