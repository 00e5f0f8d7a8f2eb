"""Decoded JSON that has nothing wrong -> the pieces of a document, in one quick pass.

Whatever is wrong, or only strange, ends the pass without a word: `reader` then reads the document a second time, and
says what it is. The keys are those of `grammar`; the other rules stand in `reader`, with their reasons, and here as yes
or no, and a test compares the two.

Objects that `json_text.quick_load` made one, because they are equal, are checked once, and are one in the result, too:
who works through a document can know by its identity what he has met before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, make_dataclass
from typing import Any, Final, cast

from ggn_store import limits
from ggn_store.documents.grammar import ACTION, GDL_KEYS, Grammar, names
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import (
    EMPTY,
    ENEMY,
    MAX_STEP,
    Destination,
    Dialect,
    Guards,
    Origin,
    Piece,
    Possibility,
    Source,
)
from ggn_store.notation import stn
from ggn_store.notation.hand import HAND
from ggn_store.notation.stn import Transition

_NO_CONDITIONS: Final[Mapping[str, str]] = {}
_NO_GUARDS: Final[Guards] = {}
_NO_HANDS: Final[Mapping[str, int]] = {}
_NO_STATE: Final[Mapping[str, str]] = {}
# Frozen, an instance takes a call for each of its fields: what there can be millions of is made open, and then closed.
_OpenPossibility: Final[Any] = make_dataclass(
    "_OpenPossibility", [each.name for each in fields(Possibility)], slots=True
)
_OpenTransition: Final[Any] = make_dataclass("_OpenTransition", [each.name for each in fields(Transition)], slots=True)
_ACTION_NAMES: Final = frozenset(names(ACTION))


class _StrangeError(Exception):
    """Something is not as it is in nearly every document."""


def dialect_of(members: Mapping[str, Any]) -> Dialect:
    """The dialect of a document, if nothing is wrong with it: that of its first possibility."""
    try:
        possibility: Any = members
        for _ in range(3):
            possibility = next(iter(possibility.values()))
        keys = possibility[0].keys()
    except (AttributeError, LookupError, StopIteration, TypeError):
        return "must-deny"
    if not keys.isdisjoint(GDL_KEYS):
        return "gdl"
    return "perform" if "perform" in keys else "diff" if "diff" in keys else "must-deny"


def is_word(value: object) -> bool:
    """Whether `value` can be the name or a value of a variable, or the name of an action."""
    return variables.is_word(value) and len(str(value)) <= limits.LABEL.default


def is_step(value: object) -> bool:
    """Whether `value` can be the step of an action; 1.0 is the whole number 1, as in JSON Schema."""
    return stn.is_delta(value) and isinstance(value, int | float) and 0 < value <= MAX_STEP


def pieces(
    members: Mapping[str, Any],
    grammar: Grammar,
    is_piece: Callable[[str], bool],
    is_square: Callable[[str], bool],
    declared: Mapping[str, frozenset[str]] | None = None,
) -> tuple[Piece, ...]:
    """The pieces of a document, which came from JSON text; none where anything is wrong with any of them.

    The two functions are asked often about the same text. `declared` are the state variables of the document with
    their values; without it, any may be named.
    """
    try:
        return _Quick(grammar, is_piece, is_square, declared).pieces(members)
    except (_StrangeError, TypeError):  # what cannot be in a set, a list say, is no state either
        return ()


class _Quick:
    def __init__(
        self,
        grammar: Grammar,
        is_piece: Callable[[str], bool],
        is_square: Callable[[str], bool],
        declared: Mapping[str, frozenset[str]] | None,
    ) -> None:
        self._grammar = grammar
        self._names = frozenset(names(grammar.possibility))
        self._condition_keys, self._effects_key = grammar.conditions, grammar.effects
        self._has_state, self._has_hands = grammar.has_state, grammar.has_hands
        self._diff_names = frozenset(names(grammar.diff))
        self._declared = declared
        self._is_piece = is_piece
        self._is_square = is_square
        # What is known to be sound: squares, states of conditions, what becomes of a square.
        self._squares: set[str] = set()
        self._states: set[str] = {EMPTY, ENEMY}
        self._becoming: set[str | None] = {None}
        # Whole objects, by their identity; effects on the board alone with what they became.
        self._conditions: set[int] = set()
        self._transitions: dict[int, Transition] = {}
        # Origins are few.
        self._origins: dict[tuple[str, int, bool], Origin] = {}

    def pieces(self, members: Mapping[str, Any]) -> tuple[Piece, ...]:
        result = []
        for piece, sources in members.items():
            _require(self._is_piece(piece) and type(sources) is dict and sources)
            result.append(Piece(piece, tuple([self._source(piece, *each) for each in sources.items()])))
        return tuple(result)

    def _source(self, piece: str, source: str, destinations: Any) -> Source:
        _require(self._is_location(source) and type(destinations) is dict and destinations)
        result = []
        for destination, values in destinations.items():
            if destination not in self._squares:
                _require(self._is_location(destination) and not source == HAND == destination)
            if type(values) is not list or not values:
                raise _StrangeError
            result.append(Destination(destination, self._possibilities(piece, source, values)))
        return Source(source, tuple(result))

    def _is_location(self, square: str) -> bool:
        return (square == HAND and self._has_hands) or self._is_square(square)

    def _possibilities(self, piece: str, source: str, values: list[Any]) -> tuple[Possibility, ...]:
        must_key, deny_key = self._condition_keys
        effects_key, is_diff, has_state = self._effects_key, self._effects_key == "diff", self._has_state
        names, conditions, transitions = self._names, self._conditions, self._transitions
        result = []
        guards: Guards = _NO_GUARDS
        origin: Origin | None = None
        for value in values:
            if type(value) is not dict or not names.issuperset(value):
                raise _StrangeError
            must = deny = _NO_CONDITIONS
            if must_key in value:
                must = value[must_key]
                if id(must) not in conditions:
                    self._check_conditions(must)
                if source in must and must[source] == piece:
                    raise _StrangeError
            if deny_key in value:
                deny = self._deny(must, value[deny_key])
            said = value.get(effects_key)
            effects: Transition | None
            if is_diff and type(said) is dict and len(said) == 1 and "board" in said:
                said = said["board"]
                effects = transitions.get(id(said)) or self._transition(said)
            else:
                effects = self._effects(said)
            if has_state:
                guards, origin = self._guards(value), self._origin(value)
            possibility = _OpenPossibility(must, deny, effects, guards, origin)
            possibility.__class__ = Possibility
            result.append(possibility)
        return tuple(result)

    def _deny(self, must: Mapping[str, str], deny: Any) -> Mapping[str, str]:
        if id(deny) not in self._conditions:
            self._check_conditions(deny)
        for square in must:
            _require(must[square] != deny.get(square))
        return cast(Mapping[str, str], deny)

    def _effects(self, said: Any) -> Transition | None:
        if self._effects_key is None:
            return None
        if self._effects_key == "diff":
            return self._diff(said)
        _require(said)
        return self._transitions.get(id(said)) or self._transition(said)

    def _guards(self, possibility: dict[str, Any]) -> Guards:
        value = possibility.get("when", {})
        _require(type(value) is dict)
        guards = {}
        for name, values in value.items():
            _require(type(values) is list and 0 < len(values) <= limits.VARIABLE_VALUES.most)
            for each in values:
                self._check_state(name, each)
            guards[name] = tuple(sorted(set(values)))
            _require(len(guards[name]) == len(values))
        return guards

    def _check_state(self, name: str, value: Any) -> None:
        """A state variable and a value that it may have."""
        if self._declared is None:
            _require(is_word(name) and is_word(value))
        else:
            _require(value in self._declared.get(name, ()))

    def _origin(self, possibility: dict[str, Any]) -> Origin | None:
        if "action" not in possibility:
            return None
        value = possibility["action"]
        _require(type(value) is dict and _ACTION_NAMES.issuperset(value) and is_word(value.get("name")))
        step, chainable = value.get("step", 1), value.get("chainable", False)
        _require(is_step(step) and type(chainable) is bool)
        key = value["name"], int(step), chainable
        return self._origins.get(key) or self._origins.setdefault(key, Origin(*key))

    def _check_conditions(self, value: Any) -> None:
        # No condition at all is an error in one dialect, and nothing special in the others.
        if type(value) is not dict or not (value or self._grammar.takes_empty):
            raise _StrangeError
        self._check_squares(value)
        if not self._states.issuperset(value.values()):
            for state in value.values():
                _require(state in self._states or self._is_piece(state))
                self._states.add(state)
        self._conditions.add(id(value))

    def _transition(self, value: Any) -> Transition:
        """Effects on the board alone."""
        self._check_board(value)
        return self._transitions.setdefault(id(value), _transition(value))

    def _check_board(self, value: Any) -> None:
        if type(value) is not dict:
            raise _StrangeError
        self._check_squares(value)
        if not self._becoming.issuperset(value.values()):
            for piece in value.values():
                _require(piece is None or self._is_piece(piece))
                self._becoming.add(piece)

    def _check_squares(self, value: dict[str, Any]) -> None:
        if not self._squares.issuperset(value):
            for square in value:
                _require(self._is_square(square))
                self._squares.add(square)

    def _diff(self, value: Any) -> Transition:
        _require(type(value) is dict and self._diff_names.issuperset(value))
        board: Mapping[str, str | None] = {}
        hands: dict[str, int] = {}
        if "board" in value:
            board = value["board"]
            self._check_board(board)
        if "hands" in value:
            _require(type(value["hands"]) is dict)
            for piece, delta in value["hands"].items():
                _require(self._is_piece(piece) and stn.is_delta(delta))
                hands[piece] = int(delta)
        toggle = value.get("toggle", True)
        _require(type(toggle) is bool)
        if "state" not in value:
            return _transition(board, hands, toggle)
        state = value["state"]
        _require(type(state) is dict)
        for name, each in state.items():
            self._check_state(name, each)
        return _transition(board, hands, toggle, state)


def _transition(
    board: Mapping[str, str | None],
    hands: Mapping[str, int] = _NO_HANDS,
    toggle: bool = True,
    state: Mapping[str, str] = _NO_STATE,
) -> Transition:
    made = _OpenTransition(board, hands, toggle, state)
    made.__class__ = Transition
    return cast(Transition, made)


def _require(is_sound: object) -> None:
    if not is_sound:
        raise _StrangeError
