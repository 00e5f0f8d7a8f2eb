"""A JSON Schema (draft 2020-12) for each dialect, for editors: completion, hover texts, wavy lines; from `grammar`.

A schema says everything about a document's structure. What it cannot say is left to the validator: conditions
that contradict each other or restate the source, duplicate keys, the squares of a declared board, and how much
a document may hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ggn_store import limits
from ggn_store.documents.grammar import (
    ACTION,
    GRAMMARS,
    SCHEMA_KEY,
    STATE_KEY,
    VARIABLE,
    Grammar,
    GrammarKeys,
    Key,
    ValueShape,
)
from ggn_store.model.documents.document import EMPTY, ENEMY, MAX_STEP, Dialect, check_dialect
from ggn_store.notation import cell, qpi, stn
from ggn_store.notation.hand import HAND

JsonSchema = dict[str, Any]

# `$` would also match before a last newline in Python's expressions, though not in those of ECMA-262.
_END: Final = r"(?![\s\S])"
_TEXT: Final = r"[^\u0000\uD800-\uDFFF]"

_STORABLE: Final = f"^{_TEXT}*{_END}"
_WORD: Final = f"^{_TEXT}+{_END}"
_LABEL: Final = rf"^(?!\*{_END}){_TEXT}+{_END}"
_CELL: Final = f"^(?:{cell.PATTERN}){_END}"

_ABOUT: Final = {
    "perform": "Conditions in `require` and `prevent`, what a move makes of the board in `perform`; no hands.",
    "must-deny": "Conditions in `must` and `deny`; what a move changes is left to the game.",
    "diff": "Conditions in `must` and `deny`, what a move changes on board, in hands and in the turn in `diff`.",
    "gdl": "As in the dialect diff; beside it the state variables that `$state` declares, guards on them in `when`, "
    "new values of them in `diff`, and the action that a possibility comes from in `action`.",
}
_SQUARE_ABOUT: Final = {
    "perform": "any label but `*`, such as `e4` or `5e`",
    "must-deny": "a CELL label such as `e4` or `a1A`",
    "diff": "a CELL label such as `e4` or `a1A`",
    "gdl": "any label but `*`, such as `e4` or `Alaska`",
}
_NOTATION: Final = {False: "GAN, such as `CHESS:+P`", True: "QPI, such as `C:+K^`"}
_MUST: Final = "Conditions that must all hold, beside the one that is implied: the piece stands on its source."
_DENY: Final = "Conditions of which none may hold."
_BECOMES: Final = "What stands on which square after the move."
_ABOUT_KEY: Final = {
    "must": _MUST,
    "require": _MUST,
    "deny": _DENY,
    "prevent": _DENY,
    "perform": _BECOMES,
    "diff": "What the move changes (STN); what is not named stays as it is.",
    "board": _BECOMES,
    "hands": "How many more of a piece (fewer, if negative) are in the hand of the side that its case names.",
    "toggle": "Whether the turn passes to the other side.",
    "state": "State variables, each with the value that it has after the move.",
    "when": "State variables, each with the values that it may have for the move.",
    "action": "The action that this possibility comes from.",
    "step": "Which of the possibilities of this action here it is, from 1.",
    "chainable": "Whether the piece may go on within the turn.",
}
# The keys whose values have a definition of their own, and its name.
_NAMES: Final = {"perform": "perform", "diff": "diff", "when": "when", "state": "state_effects", "action": "action"}


def json_schema(dialect: Dialect) -> JsonSchema:
    """The JSON Schema of a dialect, a new object each time; raises NotationError for a name that is none."""
    grammar = GRAMMARS[check_dialect(dialect)]
    top = (SCHEMA_KEY, STATE_KEY) if grammar.has_state else (SCHEMA_KEY,)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:ggn-store:schema:{dialect}:1",
        "title": f"GGN document, dialect {dialect}",
        "description": f"Pseudo-legal moves: piece, source, destination, possibilities. {_ABOUT[dialect]}",
        "type": "object",
        "minProperties": 1,
        **_least(top),
        "propertyNames": {"maxLength": qpi.MAX_LENGTH},
        "properties": {
            SCHEMA_KEY: {
                "description": "The address of a schema, for editors; kept, and not a piece.",
                "type": "string",
                "pattern": _STORABLE,
            },
            **({STATE_KEY: _ref("declared")} if grammar.has_state else {}),
        },
        "patternProperties": {_identifier(grammar): _ref("piece")},
        "additionalProperties": False,
        "$defs": _definitions(grammar),
    }


def _least(top: tuple[str, ...]) -> JsonSchema:
    """How many members a document has at least: what stands beside the pieces is no piece."""
    if len(top) == 1:
        return {"if": {"required": [*top]}, "then": {"minProperties": 2}}
    cases = [([*top], 3), *(([key], 2) for key in top)]
    return {"allOf": [{"if": {"required": keys}, "then": {"minProperties": least}} for keys, least in cases]}


def _definitions(grammar: Grammar) -> JsonSchema:
    named = {key.name: _definition(key, grammar) for key in (*grammar.possibility, *grammar.diff)}
    found = _levels(grammar) | {_NAMES[name]: made for name, made in named.items() if name in _NAMES}
    found |= {
        "possibility": _object("One way of making the move.", grammar.possibility, grammar),
        "state": {
            "description": "`empty`: no piece. `enemy`: a piece of the other side than the one to move. Else exactly "
            f"this piece, in {_NOTATION[grammar.has_hands]}.",
            "anyOf": [{"enum": [EMPTY, ENEMY]}, _identifier_value(grammar)],
        },
    }
    if grammar.effects is not None:
        about = "The piece that stands here afterwards; null for an empty square."
        found["becomes"] = {"description": about, "anyOf": [{"type": "null"}, _identifier_value(grammar)]}
    if grammar.diff:
        found["count"] = {
            "description": "A whole number other than 0.",
            "type": "integer",
            "minimum": -stn.MAX_HAND_DELTA,
            "maximum": stn.MAX_HAND_DELTA,
            "not": {"const": 0},
        }
    if grammar.has_state:
        found |= _state(grammar)
    return found


def _levels(grammar: Grammar) -> JsonSchema:
    """Piece, source and destination: the way from the top to a possibility."""
    square = _square(grammar)
    squares = f"One square each: {_SQUARE_ABOUT[grammar.dialect]}"
    to_board = _map(f"The destinations from here. {squares}.", square, "destination", least=1)
    if grammar.has_hands:
        squares += ", or `*`, the hand"
    of_piece = (
        "The sources of a piece, whose name is a style, a colon and a letter in one case: upper case for the "
        f"first player, lower case for the second. {squares}."
    )
    levels = {
        "piece": _map(of_piece, square, "source", least=1, hand="drop" if grammar.has_hands else None),
        "source": to_board,
        "destination": {
            "description": "The possibilities of moving here; each one that holds in a position is a move of its own.",
            "type": "array",
            "minItems": 1,
            "items": _ref("possibility"),
        },
    }
    if grammar.has_hands:
        levels["drop"] = to_board
        of_source = f"The destinations from here. {squares}."
        levels["source"] = _map(of_source, square, "destination", least=1, hand="destination")
    return levels


def _state(grammar: Grammar) -> JsonSchema:
    """State variables: their declaration, and what is written of them."""
    return {
        "word": {
            "description": "A name or a value: any text that is not empty.",
            "type": "string",
            "pattern": _WORD,
            "maxLength": limits.LABEL.default,
        },
        "values": {
            "description": "Values of a state variable, each once.",
            "type": "array",
            "minItems": 1,
            "maxItems": limits.VARIABLE_VALUES.default,
            "uniqueItems": True,
            "items": _ref("word"),
        },
        "declared": {
            **_map("The state variables: what the rules know of a position beside the board.", _WORD, "variable"),
            "maxProperties": limits.VARIABLES.default,
        },
        "variable": _object(
            "The values that a state variable may have, and the one that it begins with.", VARIABLE, grammar
        ),
    }


def _object(description: str, keys: GrammarKeys, grammar: Grammar) -> JsonSchema:
    """An object with these keys and no others."""
    required = [key.name for key in keys if key.is_required]
    return {
        "description": description,
        "type": "object",
        "properties": {key.name: _value(key, grammar) for key in keys},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _value(key: Key, grammar: Grammar) -> JsonSchema:
    """What stands under a key, by its name where it has one."""
    return _ref(_NAMES[key.name]) if key.name in _NAMES else _definition(key, grammar)


def _definition(key: Key, grammar: Grammar) -> JsonSchema:
    squares = f"One square each: {_SQUARE_ABOUT[grammar.dialect]}."
    about = _ABOUT_KEY.get(key.name, "")
    default = {} if key.default is None else {"default": key.default}
    least = 0 if grammar.takes_empty else 1
    makers: Mapping[ValueShape, Callable[[], JsonSchema]] = {
        "conditions": lambda: _map(f"{about} {squares}", _square(grammar), "state", least),
        "board": lambda: _map(f"{about} {squares}", _square(grammar), "becomes", least),
        "hands": lambda: _map(about, _identifier(grammar), "count"),
        "diff": lambda: _object(about, grammar.diff, grammar),
        "flag": lambda: {"description": about, "type": "boolean", **default},
        "state": lambda: _map(about, _WORD, "word"),
        "guards": lambda: _map(about, _WORD, "values"),
        "action": lambda: _object(about, ACTION, grammar),
        "word": lambda: _ref("word"),
        "words": lambda: _ref("values"),
        "step": lambda: {"description": about, "type": "integer", "minimum": 1, "maximum": MAX_STEP, **default},
    }
    return makers[key.shape]()


def _identifier_value(grammar: Grammar) -> JsonSchema:
    return {"type": "string", "maxLength": qpi.MAX_LENGTH, "pattern": _identifier(grammar)}


def _identifier(grammar: Grammar) -> str:
    return f"^(?:{grammar.identifier}){_END}"


def _square(grammar: Grammar) -> str:
    return _LABEL if grammar.has_labels else _CELL


def _map(description: str, keys: str, values: str, least: int = 0, hand: str | None = None) -> JsonSchema:
    """An object whose keys match the pattern `keys`, or are `*` where `hand` says what that holds."""
    return {
        "description": description,
        "type": "object",
        **({"minProperties": least} if least else {}),
        "propertyNames": {"maxLength": limits.LABEL.default},
        **({"properties": {HAND: _ref(hand)}} if hand else {}),
        "patternProperties": {keys: _ref(values)},
        "additionalProperties": False,
    }


def _ref(name: str) -> JsonSchema:
    return {"$ref": f"#/$defs/{name}"}
