"""What only documents of the dialect `gdl` say: state variables, guards on them, effects on them, actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ggn_store import limits
from ggn_store.documents import quick
from ggn_store.documents.grammar import ACTION, STATE_KEY, VARIABLE, GrammarKeys, names
from ggn_store.errors import quote
from ggn_store.model.documents.document import MAX_STEP, Guards, Origin
from ggn_store.model.documents.variables import NO, YES, Variable
from ggn_store.notation import json_text
from ggn_store.notation.complaints import Complaints


class StateReader:
    """Reads what a document says of state variables and actions.

    `known` are the values of the variables that are declared, by name. What is returned of what is wrong counts for
    nothing, since it was complained of.
    """

    def __init__(self, complaints: Complaints, whole: bool) -> None:
        """`whole` is false for a part of a document, which may name variables that another part declares."""
        self._complaints = complaints
        self._whole = whole
        self.known: Mapping[str, frozenset[str]] = {}

    def declared(self, value: Any) -> list[Variable]:
        """The variables that a document declares."""
        path: json_text.Path = (STATE_KEY,)
        if not isinstance(value, Mapping):
            self._complaints.add(path, f"{STATE_KEY} is not an object of variables", value, "an object")
            return []
        if len(value) > limits.VARIABLES.most:
            self._complaints.add(path, "too many variables", len(value), limits.VARIABLES.allowed)
            return []
        found = [self._variable(name, each, (*path, name)) for name, each in value.items()]
        declared = [each for each in found if each is not None]
        self.known = {each.name: frozenset(each.values) for each in declared}
        return declared

    def _variable(self, name: Any, value: Any, path: json_text.Path) -> Variable | None:
        before = len(self._complaints)
        self._check_word(name, path, "the name of a variable", at_key=True)
        if not self._has_keys(value, path, "a variable", "its values and its initial value", VARIABLE):
            return None
        values = self._values(value["values"], (*path, "values"))
        initial = value["initial"]
        is_word = self._check_word(initial, (*path, "initial"), "a value of a variable")
        if is_word and values and initial not in values:
            allowed = ", ".join(map(quote, values[:10]))
            self._complaints.add((*path, "initial"), "the initial value is none of the values", initial, allowed)
        square = value.get("square")
        if "square" in value:
            self._check_word(square, (*path, "square"), "a square")
        pieces = self._values(value["pieces"], (*path, "pieces")) if "pieces" in value else ()
        if len(self._complaints) > before:
            return None
        found = Variable(name, values, initial, square, pieces)
        if not found.is_sound:
            message = "a variable about a square says whether one of its pieces stands there"
            self._complaints.add(path, message, value, f'a square, pieces, and the values "{NO}" and "{YES}"')
        return found

    def _has_keys(self, value: Any, path: json_text.Path, what: str, parts: str, keys: GrammarKeys) -> bool:
        """Whether a value is an object with all that it must have; whatever else it has is complained of."""
        if not isinstance(value, Mapping) or any(key.is_required and key.name not in value for key in keys):
            self._complaints.add(path, f"{what} is an object with {parts}", value, "an object")
            return False
        for name in value:
            if name not in names(keys) and not isinstance(name, json_text.Twin):
                self._complaints.add(
                    (*path, name), f"{what} has no such key", name, ", ".join(names(keys)), at_key=True
                )
        return True

    def _values(self, value: Any, path: json_text.Path) -> tuple[str, ...]:
        """A list of values of a variable, sorted; none where anything is wrong with it."""
        if not isinstance(value, list | tuple) or not 0 < len(value) <= limits.VARIABLE_VALUES.most:
            allowed = f"an array of 1 to {limits.VARIABLE_VALUES.most:,} texts{limits.VARIABLE_VALUES.more}"
            self._complaints.add(path, "the values of a variable are not a list of them", value, allowed)
            return ()
        before = len(self._complaints)
        seen: set[str] = set()
        for number, each in enumerate(value):
            if self._check_word(each, (*path, number), "a value of a variable"):
                if each in seen:
                    self._complaints.add((*path, number), "the value stands twice in the list", each, "each value once")
                seen.add(each)
        return () if len(self._complaints) > before else tuple(sorted(seen))

    def _check_word(self, value: Any, path: json_text.Path, what: str, at_key: bool = False) -> bool:
        if is_sound := quick.is_word(value):
            return is_sound
        allowed = f"a text of 1 to {limits.LABEL.default} characters (no NUL, no lone surrogate)"
        self._complaints.add(path, f"not {what}", value, allowed, at_key)
        return False

    def guards(self, value: Any, path: json_text.Path) -> Guards:
        """The values that a possibility asks for."""
        if not isinstance(value, Mapping):
            self._complaints.add(path, "when is not an object of variables and values", value, "an object")
            return {}
        guards = {}
        for name, values in value.items():
            guards[name] = self._values(values, (*path, name))
            if guards[name]:
                self._check_declared(name, dict(enumerate(values)), (*path, name))
        return guards

    def effects(self, value: Any, path: json_text.Path) -> Mapping[str, str]:
        """The new values that a possibility gives."""
        if not isinstance(value, Mapping):
            self._complaints.add(
                path, "diff.state is not an object of variables and their new values", value, "an object"
            )
            return {}
        for name, each in value.items():
            if self._check_word(each, (*path, name), "a value of a variable"):
                self._check_declared(name, {None: each}, (*path, name))
        return dict(value)

    def _check_declared(self, name: Any, values: Mapping[int | None, str], path: json_text.Path) -> None:
        """Complain of a variable, and of values of it, that the document does not declare."""
        if not self._check_word(name, path, "the name of a variable", at_key=True) or not self._whole:
            return
        if (known := self.known.get(name)) is None:
            allowed = ", ".join(map(quote, list(self.known)[:10])) or f"what {STATE_KEY} declares, which is nothing"
            self._complaints.add(path, f"{STATE_KEY} declares no such variable", name, allowed, at_key=True)
            return
        for place, each in values.items():
            if each not in known:
                allowed = ", ".join(map(quote, sorted(known)[:10]))
                at = path if place is None else (*path, place)
                self._complaints.add(at, f"{STATE_KEY} declares no such value of {quote(name)}", each, allowed)

    def origin(self, value: Any, path: json_text.Path) -> Origin | None:
        """The action that a possibility comes from; None where anything is wrong with it."""
        if not self._has_keys(value, path, "an action", "its name", ACTION):
            return None
        name, step, chainable = value["name"], value.get("step", 1), value.get("chainable", False)
        self._check_word(name, (*path, "name"), "the name of an action")
        if not quick.is_step(step):
            allowed = f"a whole number from 1 to {MAX_STEP:,}"
            self._complaints.add((*path, "step"), "a step counts from 1", step, allowed)
        elif not isinstance(chainable, bool):
            message = "chainable says whether the piece may go on"
            self._complaints.add((*path, "chainable"), message, chainable, "true or false")
        else:
            return Origin(name, int(step), chainable)
        return None
