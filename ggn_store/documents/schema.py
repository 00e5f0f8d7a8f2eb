"""A JSON Schema (draft 2020-12) for each dialect, for editors: completion, hover texts, wavy lines.

A schema says everything about a document's structure. What it cannot say is left to the validator: conditions
that contradict each other or restate the source, duplicate keys, the squares of a declared board, and how much
a document may hold.
"""

from __future__ import annotations

from typing import Any, Final

from ggn_store import limits
from ggn_store.model.document import CONDITION_KEYS, EMPTY, ENEMY, MAX_STEP, Dialect, check_dialect
from ggn_store.notation import cell, gan, qpi, stn
from ggn_store.notation.hand import HAND

Schema = dict[str, Any]

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


def json_schema(dialect: Dialect) -> Schema:
    """The JSON Schema of a dialect, a new object each time; raises NotationError for a name that is none."""
    check_dialect(dialect)
    definitions = _levels(dialect) | _possibility(dialect) | _states(dialect)
    if dialect == "perform":
        definitions |= _perform()
    elif dialect != "must-deny":
        definitions |= _diff(dialect)
    if dialect == "gdl":
        definitions |= _gdl()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:ggn-store:schema:{dialect}:1",
        "title": f"GGN document, dialect {dialect}",
        "description": f"Pseudo-legal moves: piece, source, destination, possibilities. {_ABOUT[dialect]}",
        "type": "object",
        "minProperties": 1,
        **_least(dialect),
        "propertyNames": {"maxLength": qpi.MAX_LENGTH},
        "properties": {
            "$schema": {
                "description": "The address of a schema, for editors; kept, and not a piece.",
                "type": "string",
                "pattern": _STORABLE,
            },
            **({"$state": _ref("declared")} if dialect == "gdl" else {}),
        },
        "patternProperties": {_identifier(dialect): _ref("piece")},
        "additionalProperties": False,
        "$defs": definitions,
    }


def _least(dialect: Dialect) -> Schema:
    """How many members a document has at least: what stands beside the pieces is no piece."""
    if dialect != "gdl":
        return {"if": {"required": ["$schema"]}, "then": {"minProperties": 2}}
    cases = [(["$schema", "$state"], 3), (["$schema"], 2), (["$state"], 2)]
    return {"allOf": [{"if": {"required": keys}, "then": {"minProperties": least}} for keys, least in cases]}


def _levels(dialect: Dialect) -> Schema:
    """Piece, source and destination: the way from the top to a possibility."""
    square = _square(dialect)
    squares = f"One square each: {_SQUARE_ABOUT[dialect]}"
    to_board = _map(f"The destinations from here. {squares}.", square, "destination", least=1)
    has_hands = dialect != "perform"
    if has_hands:
        squares += ", or `*`, the hand"
    levels = {
        "piece": _map(
            "The sources of a piece, whose name is a style, a colon and a letter in one case: upper case for the "
            f"first player, lower case for the second. {squares}.",
            square,
            "source",
            least=1,
            hand="drop" if has_hands else None,
        ),
        "source": to_board,
        "destination": {
            "description": "The possibilities of moving here; each one that holds in a position is a move of its own.",
            "type": "array",
            "minItems": 1,
            "items": _ref("possibility"),
        },
    }
    if has_hands:
        levels["drop"] = to_board
        levels["source"] = _map(
            f"The destinations from here. {squares}.", square, "destination", least=1, hand="destination"
        )
    return levels


def _possibility(dialect: Dialect) -> Schema:
    """One object of a destination array, and its conditions."""
    must, deny = CONDITION_KEYS[dialect]
    squares = f"One square each: {_SQUARE_ABOUT[dialect]}."
    least = 1 if dialect == "perform" else 0
    possibility: Schema = {
        "description": "One way of making the move.",
        "type": "object",
        "properties": {
            must: _map(
                "Conditions that must all hold, beside the one that is implied: the piece stands on its source. "
                + squares,
                _square(dialect),
                "state",
                least,
            ),
            deny: _map(f"Conditions of which none may hold. {squares}", _square(dialect), "state", least),
        },
        "additionalProperties": False,
    }
    if dialect != "must-deny":
        effects = "perform" if dialect == "perform" else "diff"
        possibility["required"] = [effects]
        possibility["properties"][effects] = _ref(effects)
    if dialect == "gdl":
        possibility["properties"] = {"action": _ref("action"), "when": _ref("when"), **possibility["properties"]}
    return {"possibility": possibility}


def _states(dialect: Dialect) -> Schema:
    """What a condition can ask for."""
    notation = "GAN" if dialect == "perform" else "QPI"
    example = "CHESS:+P" if dialect == "perform" else "C:+K^"
    return {
        "state": {
            "description": "`empty`: no piece. `enemy`: a piece of the other side than the one to move. Else exactly "
            f"this piece, in {notation}, such as `{example}`.",
            "anyOf": [{"enum": [EMPTY, ENEMY]}, _identifier_value(dialect)],
        }
    }


def _perform() -> Schema:
    return {
        "perform": _map(
            f"What stands on which square after the move. One square each: {_SQUARE_ABOUT['perform']}.",
            _LABEL,
            "becomes",
            least=1,
        ),
        "becomes": _becomes("perform"),
    }


def _gdl() -> Schema:
    word = {"type": "string", "pattern": _WORD, "maxLength": limits.LABEL.default}
    values = {
        "type": "array",
        "minItems": 1,
        "maxItems": limits.VARIABLE_VALUES.default,
        "uniqueItems": True,
        "items": _ref("word"),
    }
    return {
        "word": {"description": "A name or a value: any text that is not empty.", **word},
        "values": {"description": "Values of a state variable, each once.", **values},
        "declared": {
            **_map("The state variables: what the rules know of a position beside the board.", _WORD, "variable"),
            "maxProperties": limits.VARIABLES.default,
        },
        "variable": {
            "description": "The values that a state variable may have, and the one that it begins with.",
            "type": "object",
            "properties": {"values": _ref("values"), "initial": _ref("word")},
            "required": ["values", "initial"],
            "additionalProperties": False,
        },
        "when": _map("State variables, each with the values that it may have for the move.", _WORD, "values"),
        "state_effects": _map("State variables, each with the value that it has after the move.", _WORD, "word"),
        "action": {
            "description": "The action that this possibility comes from.",
            "type": "object",
            "properties": {
                "name": _ref("word"),
                "step": {
                    "description": "Which of the possibilities of this action here it is, from 1.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_STEP,
                    "default": 1,
                },
                "chainable": {
                    "description": "Whether the piece may go on within the turn.",
                    "type": "boolean",
                    "default": False,
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    }


def _diff(dialect: Dialect) -> Schema:
    return {
        "diff": {
            "description": "What the move changes (STN); what is not named stays as it is.",
            "type": "object",
            "properties": {
                "board": _map(
                    f"What stands on which square after the move. One square each: {_SQUARE_ABOUT[dialect]}.",
                    _square(dialect),
                    "becomes",
                ),
                "hands": _map(
                    "How many more of a piece (fewer, if negative) are in the hand of the side that its case names.",
                    _identifier("diff"),
                    "count",
                ),
                "toggle": {
                    "description": "Whether the turn passes to the other side.",
                    "type": "boolean",
                    "default": True,
                },
                **({"state": _ref("state_effects")} if dialect == "gdl" else {}),
            },
            "additionalProperties": False,
        },
        "becomes": _becomes("diff"),
        "count": {
            "description": "A whole number other than 0.",
            "type": "integer",
            "minimum": -stn.MAX_HAND_DELTA,
            "maximum": stn.MAX_HAND_DELTA,
            "not": {"const": 0},
        },
    }


def _becomes(dialect: Dialect) -> Schema:
    return {
        "description": "The piece that stands here afterwards; null for an empty square.",
        "anyOf": [{"type": "null"}, _identifier_value(dialect)],
    }


def _identifier_value(dialect: Dialect) -> Schema:
    return {"type": "string", "maxLength": qpi.MAX_LENGTH, "pattern": _identifier(dialect)}


def _identifier(dialect: Dialect) -> str:
    return f"^(?:{gan.PATTERN if dialect == 'perform' else qpi.PATTERN}){_END}"


def _square(dialect: Dialect) -> str:
    return _LABEL if dialect in ("perform", "gdl") else _CELL


def _map(description: str, keys: str, values: str, least: int = 0, hand: str | None = None) -> Schema:
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


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
