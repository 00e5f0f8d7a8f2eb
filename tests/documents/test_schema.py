"""The JSON Schemas: each is one, and gives the validator's verdict on everything that is structure.

What no schema can say is left out of the comparison problem by problem, in `structural`: a document is excused
from the two kinds named there, and from nothing else.
"""

from __future__ import annotations

import copy
import functools
import json
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ggn_store import limits
from ggn_store.documents.ggn import problems
from ggn_store.documents.schema import json_schema
from ggn_store.errors import NotationError, Problem
from ggn_store.model.documents.document import CONDITION_KEYS, DIALECTS, Dialect

Json = Any
Judged = list[tuple[Json, bool]]
LARGE = 5_000  # characters


def one(piece: Json, source: Json, destination: Json, *possibilities: Json) -> Json:
    return {piece: {source: {destination: list(possibilities)}}}


# --- valid documents ----------------------------------------------------------------------------------------

GAME_X = {"c3": None, "c5": "GAME:X"}
SEED_000 = (
    one("GAME:X", "c3", "c5", {"perform": GAME_X}),
    one("GAME:X", "c3", "c5", {"require": {"c4": "empty", "c5": "empty"}, "perform": GAME_X}),
    one("GAME:X", "c3", "d4", {"require": {"d4": "enemy"}, "perform": {"c3": None, "d4": "GAME:X"}}),
    one(
        *("CHESS:P", "e7", "e8"),
        *({"require": {"e8": "empty"}, "perform": {"e7": None, "e8": f"CHESS:{letter}"}} for letter in "QRNB"),
    ),
    one(
        *("SHOGI:P", "1g", "1f"),
        {"require": {"1f": "empty"}, "perform": {"1g": None, "1f": "SHOGI:P"}},
        {"require": {"1f": "empty"}, "perform": {"1g": None, "1f": "SHOGI:+P"}},
    ),
    one(
        *("CHESS:K", "e1", "g1"),
        {
            "require": {"f1": "empty", "g1": "empty", "h1": "CHESS:R"},
            "perform": {"e1": None, "f1": "CHESS:R", "g1": "CHESS:K", "h1": None},
        },
    ),
    one(
        *("GAME:B", "c1", "f4"),
        {
            "require": {"d2": "empty", "e3": "empty", "f4": "empty"},
            "prevent": {"g5": "GAME:K", "h6": "GAME:Q"},
            "perform": {"c1": None, "f4": "GAME:B"},
        },
    ),
    # The seed writes CHESS:p, which is not GAN.
    one(
        *("CHESS:P", "d5", "e6"),
        {"require": {"e5": "chess:p", "e6": "empty"}, "perform": {"d5": None, "e5": None, "e6": "CHESS:P"}},
    ),
    {
        "$schema": "https://sashite.dev/schemas/ggn/1.0.0/schema.json",
        **one(
            *("CHESS:P", "e7", "e8"),
            *({"require": {"e8": "empty"}, "perform": {"e7": None, "e8": f"CHESS:{letter}"}} for letter in "QN"),
        ),
    },
)

DROP_FILE = {f"e{rank}": "S:P" for rank in (1, 2, 3, 5, 6, 7, 8, 9)}
DIAGONAL = dict.fromkeys(("b2", "c3", "d4", "e5", "f6", "g7"), "empty")
SEED_001 = (
    one("C:R", "a1", "a4", {"must": {"a2": "empty", "a3": "empty", "a4": "empty"}}),
    one("C:R", "a1", "a4", {"must": {"a2": "empty", "a4": "empty"}}, {"must": {"a2": "empty", "a4": "enemy"}}),
    one("C:+K", "e1", "g1", {"must": {"f1": "empty", "g1": "empty", "h1": "C:+R"}}),
    one("C:P", "e5", "f6", {"must": {"f6": "empty", "f5": "c:-p"}}),
    {"C:P": {"e7": {"e8": [{"must": {"e8": "empty"}}], "d8": [{"must": {"d8": "enemy"}}]}}},
    one("S:P", "*", "e5", {"must": {"e5": "empty"}}),
    one("S:P", "*", "e4", {"must": {"e4": "empty"}, "deny": DROP_FILE}),
    one("x:c", "b2", "b8", {"must": {"b3": "empty", "b4": "empty", "b8": "enemy"}, "deny": {"b7": "empty"}}),
    one("C:R", "a1", "a8", {"must": {"a2": "empty", "a8": "enemy"}, "deny": {"a8": "c:k^"}}),
    one("C:N", "b1", "c3", {}),
    one("C:+R", "a1", "a4", {"must": {"a2": "empty", "a3": "empty", "a4": "empty"}}),
    one("c:p", "d4", "e3", {"must": {"e3": "empty", "e4": "C:-P"}}),
    {"C:N": {"e4": {"c3": [{"must": {"c3": "empty"}}], "c5": [{"must": {"c5": "empty"}}, {"must": {"c5": "enemy"}}]}}},
    {
        **one("C:Q", "d4", "h8", {"must": {"e5": "empty", "f6": "empty", "g7": "empty"}}),
        **one("x:m", "b1", "d2", {"must": {"d2": "empty"}, "deny": {"c1": "enemy"}}),
    },
    one("x:c", "b2", "b5", {"must": {"b3": "empty", "b5": "enemy"}, "deny": {"b6": "empty", "b7": "empty"}}),
    one(
        *("C:B", "a1", "h8"),
        {"must": {**DIAGONAL, "h8": "empty"}},
        {"must": {**DIAGONAL, "h8": "enemy"}, "deny": {"h8": "c:k^"}},
    ),
)

SEED_003 = (
    one(
        *("C:P", "e2", "e4"),
        {
            "must": {"e3": "empty", "e4": "empty"},
            "deny": {},
            "diff": {"board": {"e2": None, "e4": "C:P"}, "toggle": True},
        },
    ),
    one(
        *("C:P", "e7", "e8"),
        {"must": {"e8": "empty"}, "deny": {}, "diff": {"board": {"e7": None, "e8": "C:Q"}, "toggle": True}},
        {"must": {"e8": "empty"}, "deny": {}, "diff": {"board": {"e7": None, "e8": "C:N"}, "toggle": True}},
    ),
    one(
        *("C:+K", "e1", "g1"),
        {
            "must": {"f1": "empty", "g1": "empty", "h1": "C:+R"},
            "deny": {},
            "diff": {"board": {"e1": None, "g1": "C:K", "h1": None, "f1": "C:R"}, "toggle": True},
        },
    ),
    one(
        *("C:P", "e5", "f6"),
        {
            "must": {"f6": "empty", "f5": "c:-p"},
            "deny": {},
            "diff": {"board": {"e5": None, "f6": "C:P", "f5": None}, "hands": {"c:p": 1}, "toggle": True},
        },
    ),
    one(
        *("S:P", "*", "e4"),
        {
            "must": {"e4": "empty"},
            "deny": DROP_FILE,
            "diff": {"board": {"e4": "S:P"}, "hands": {"S:P": -1}, "toggle": True},
        },
    ),
)

LONG_STYLE, LONG_LABEL = "A" * 253, "x" * 255
ABOUT_SQUARE: Json = {"values": ["no", "yes"], "initial": "no", "square": "Alaska", "pieces": ["C:R", "c:r"]}
STATES = {"values": ["2", "1"], "initial": "1"}
EDGES: dict[Dialect, tuple[Json, ...]] = {
    "perform": (
        one(f"{LONG_STYLE}:K", LONG_LABEL, "e4", {"perform": {LONG_LABEL: f"{LONG_STYLE}:K"}}),
        one("C:K", "**", "\n", {"require": {"*\n": "c2:-k"}, "prevent": {" ": "enemy"}, "perform": {"北🙂": None}}),
        {"$schema": "", **one("C:K", "$schema", "5e", {"perform": {"$schema": None}})},
    ),
    "must-deny": (
        one(f"{LONG_STYLE}:K", LONG_LABEL, "e4", {"must": {LONG_LABEL: f"{LONG_STYLE.lower()}:k"}}),
        one("C2:+K^'", "h8Hh8", "*", {"must": {}, "deny": {}}, {"deny": {"a1A": "c:-k'"}}),
        {"$schema": "urn:x", **one("C:K", "a", "aa10", {}), **one("c:k", "*", "aa10", {})},
    ),
    "diff": (
        one(f"{LONG_STYLE}:K", "e4", "*", {"diff": {"board": {LONG_LABEL: f"{LONG_STYLE}:K"}, "hands": {}}}),
        one("C:+K^'", "e4", "h8Hh8", {"must": {}, "deny": {}, "diff": {}}, {"diff": {"board": {}, "toggle": False}}),
        one("C:K", "*", "e4", {"diff": {"hands": {"c:k'": 1_000_000, f"{LONG_STYLE}:K": -1_000_000, "C:P": 2.0}}}),
        {"$schema": "urn:x", **one("C:K", "a", "aa10", {"diff": {"board": {"a": None}, "hands": {"c:p": 1}}})},
    ),
    "gdl": (
        one(f"{LONG_STYLE}:K", LONG_LABEL, "*", {"diff": {"board": {LONG_LABEL: f"{LONG_STYLE}:K"}, "hands": {}}}),
        one("C2:+K^'", "$state", "\n", {"must": {}, "deny": {}, "when": {}, "diff": {"state": {}}}, {"diff": {}}),
        {"$state": {}, **one("C:K", "*", "e4", {"diff": {"hands": {"c:k'": 1}}, "action": {"name": LONG_LABEL}})},
        {"$schema": "urn:x", "$state": {}, **one("C:K", "Alaska", "E4", {"diff": {"toggle": False}})},
        {
            "$schema": "urn:x",
            "$state": {LONG_LABEL: {"values": [LONG_LABEL], "initial": LONG_LABEL}, "e p": STATES, "sq": ABOUT_SQUARE},
            **one(
                *("C:K", "Alaska", "E4"),
                {"diff": {"state": {LONG_LABEL: LONG_LABEL, "e p": "1"}}},
                {"when": {"e p": ["2", "1"]}, "diff": {"board": {"Alaska": None}}},
                {"action": {"name": "a", "step": 1_000_000, "chainable": True}, "diff": {}},
                {"action": {"name": "a", "step": 1.0, "chainable": False}, "diff": {"state": {"e p": "2"}}},
            ),
        },
        {
            "$state": {"ep": {"values": list(map(str, range(1_000))), "initial": "7"}},
            **one("C:K", "a", "b", {"when": {"ep": list(map(str, range(1_000)))}, "diff": {}}),
        },
        {
            "$state": {str(number): STATES for number in range(1_000)},
            **one("C:P", "e2", "e4", {"when": {"0": ["1"]}, "must": {"e2": "enemy"}, "diff": {"state": {"999": "2"}}}),
        },
        one("C:P", "e2", "e4", {"must": {"e3": "empty", "e4": "empty"}, "diff": {"board": {"e2": None, "e4": "C:P"}}}),
        one("C:P", "e2", "e4", {"must": {"e3": "c:+p"}, "deny": {"e4": "enemy"}, "diff": {"hands": {"C:P": -2}}}),
    ),
}
VALID: dict[Dialect, tuple[Json, ...]] = {
    "perform": (*SEED_000, *EDGES["perform"]),
    "must-deny": (*SEED_001, *EDGES["must-deny"]),
    "diff": (*SEED_003, *EDGES["diff"]),
    "gdl": EDGES["gdl"],
}

# --- malformed documents ------------------------------------------------------------------------------------

EFFECTS: dict[Dialect, Json] = {
    "perform": {"perform": {"e2": None}},
    "must-deny": {},
    "diff": {"diff": {"board": {"e2": None}}},
    "gdl": {"diff": {"board": {"e2": None}}},
}
NOT_PIECES = (
    *("", "C", "C:", ":P", "CP", "CHESS:p", "chess:P", "Chess:P", "C:PP", "C:++P", "C:*P", "C:P+", "C:P^^", "C:P'^"),
    *("1C:P", "C-1:P", "C:P ", " C:P", "C:P\n", "C:P\u2028", "x\nC:P", "C:P\0", "\u0421:P", "C:\uff30", "C\u00b2:P"),
    *("*", "Empty", "null", "A" * 254 + ":P"),
)
NOT_GAN = ("C:P^", "C:P'", "C:+P^'")
NOT_CELLS = (
    *("", "E4", "4e", "e0", "e04", "e4 ", " e4", "e4\n", "e4\ne4", "a1a", "a1Aa0", "a1A1", "e-4", "\u00e94", "e\u0664"),
    *("e\u00b2", "**", "* ", "*\n", "$schema", "a" * 256),
)
NOT_OBJECTS: tuple[Json, ...] = ([], None, "x", 1, True)
NOT_TEXTS: tuple[Json, ...] = ([], None, {}, 1, True)
NOT_COUNTS: tuple[Json, ...] = (0, 0.0, -0.0, 0.5, 1_000_001, -1_000_001, 1e300, float("inf"), "1", None, True, [], {})
NOT_LABELS = ("", "a\0b", "\0", "a\ud800", "\udfff", "x" * 256)


OTHER_KEYS = ("require", "prevent", "perform", "must", "deny", "diff", "gain", "in_hand_add", "board", "Must", "")


def move(*possibilities: Json) -> Json:
    return one("C:P", "e2", "e4", *possibilities)


def malformed(dialect: Dialect) -> Iterator[Json]:
    """Documents with one thing wrong in their structure, level by level."""
    effects = EFFECTS[dialect]
    bad_pieces = (*NOT_PIECES, *NOT_GAN) if dialect == "perform" else NOT_PIECES
    bad_squares = NOT_LABELS if dialect in ("perform", "gdl") else NOT_CELLS
    if dialect == "gdl":
        yield from malformed_states()
    yield from (*NOT_OBJECTS, {}, {"$schema": "x"}, {**move(effects), **one("C:K", "e1", "e2")})
    yield from ({"$schema": schema, **move(effects)} for schema in (*NOT_TEXTS, "a\0", "\ud800"))
    for wrong in NOT_OBJECTS:
        yield from ({"C:P": wrong}, {"C:P": {"e2": wrong}}, move(wrong), move(effects, wrong))
    yield from ({"C:P": {}}, {"C:P": {"e2": {}}}, {"C:P": {"e2": {"e4": []}}})
    yield from ({"C:P": {"e2": {"e4": wrong}}} for wrong in (*NOT_TEXTS[1:], effects))
    yield from (one(piece, "e2", "e4", effects) for piece in bad_pieces)
    for square in bad_squares:
        yield from (one("C:P", square, "e4", effects), one("C:P", "e2", square, effects))
    for possibility in malformed_possibilities(dialect, bad_pieces, bad_squares):
        yield from (move(possibility), move(effects, possibility))
    yield from (one("C:P", "*", "*", effects), {"C:P": {"*": {"e4": [effects], "*": [effects]}}}, {"C:P": {"*": {}}})
    yield from (one("C:P", "*", square, effects) for square in bad_squares)
    for wrong in NOT_OBJECTS:
        yield from ({"C:P": {"*": wrong}}, {"C:P": {"*": {"e4": wrong}}}, one("C:P", "e2", "*", wrong))
    if dialect == "perform":
        yield from (one("C:P", "*", "e4", effects), one("C:P", "e2", "*", effects))


def malformed_states() -> Iterator[Json]:
    """What is wrong with the variables that a document declares, and with what it says of them."""
    yield from ({"$state": {}}, {"$schema": "x", "$state": {}})

    def declaring(variables: Json, *possibilities: Json) -> Json:
        return {"$state": variables, **move(*(possibilities or (EFFECTS["gdl"],)))}

    yield from map(declaring, NOT_OBJECTS)
    yield declaring({str(number): STATES for number in range(1_001)})
    for wrong in (*NOT_OBJECTS, {}, {"values": ["1"]}, {"initial": "1"}, {**STATES, "more": "1"}):
        yield declaring({"ep": wrong})
    for word in NOT_LABELS:
        yield declaring({word: STATES})
        yield move({"when": {word: ["1"]}, "diff": {}})
        yield move({"diff": {"state": {word: "1"}}})
    for word in (*NOT_LABELS, *NOT_TEXTS):
        yield declaring({"ep": {"values": ["1", word], "initial": "1"}})
        yield declaring({"ep": {"values": ["1"], "initial": word}})
        yield declaring({"ep": STATES}, {"when": {"ep": ["1", word]}, "diff": {}})
        yield declaring({"ep": STATES}, {"diff": {"state": {"ep": word}}})
        yield move({"action": {"name": word}, "diff": {}})
    for word in (*NOT_LABELS, *NOT_TEXTS):
        yield declaring({"ep": {**ABOUT_SQUARE, "square": word}})
        yield declaring({"ep": {**ABOUT_SQUARE, "pieces": ["C:R", word]}})
    lists: tuple[Json, ...] = ([], ["1", "1"], "1", {}, None, 1, list(map(str, range(1_001))))
    for values in lists:
        yield declaring({"ep": {"values": values, "initial": "1"}})
        yield declaring({"ep": {**ABOUT_SQUARE, "pieces": values}})
        yield declaring(
            {"ep": {"values": list(map(str, range(1_000))), "initial": "1"}}, {"when": {"ep": values}, "diff": {}}
        )
    for wrong in NOT_OBJECTS:
        yield from (
            move({"when": wrong, "diff": {}}),
            move({"diff": {"state": wrong}}),
            move({"action": wrong, "diff": {}}),
        )
    yield from (move({"action": action, "diff": {}}) for action in ({}, {"step": 1}, {"name": "a", "Name": "a"}))
    steps: tuple[Json, ...] = (0, -1, 0.5, 1_000_001, True, None, "1", [])
    for step in steps:
        yield move({"action": {"name": "a", "step": step}, "diff": {}})
    for chainable in (*steps[:3], 1, *steps[5:]):
        yield move({"action": {"name": "a", "chainable": chainable}, "diff": {}})


def malformed_possibilities(dialect: Dialect, bad_pieces: Iterable[str], bad_squares: Iterable[str]) -> Iterator[Json]:
    effects = EFFECTS[dialect]
    conditions = CONDITION_KEYS[dialect]
    bad_states = (*bad_pieces, *NOT_TEXTS, "ally", "empty ", "ENEMY")
    effects_key = "diff" if dialect == "gdl" else dialect
    yield from ({**effects, key: {"e4": "empty"}} for key in OTHER_KEYS if key not in (*conditions, effects_key))
    for key in conditions:
        yield from ({**effects, key: wrong} for wrong in NOT_OBJECTS)
        yield from ({**effects, key: {square: "empty"}} for square in ("*", *bad_squares))
        yield from ({**effects, key: {"e3": "empty", "e4": state}} for state in bad_states)
    if dialect == "must-deny":
        return
    yield from ({}, {conditions[0]: {"e4": "empty"}}, {conditions[1]: {"e4": "empty"}})
    yield from ({effects_key: wrong} for wrong in NOT_OBJECTS)
    bad_boards: list[Json] = [{square: None} for square in ("*", *bad_squares)]
    bad_boards += ({"e3": None, "e4": piece} for piece in (*bad_pieces, "empty", "enemy", *NOT_OBJECTS[3:], False, {}))
    if dialect == "perform":
        yield from ({**effects, conditions[0]: {}}, {**effects, conditions[1]: {}}, {"perform": {}})
        yield from ({"perform": board} for board in bad_boards)
        return
    yield from ({"diff": {key: {"e4": None}}} for key in ("Board", "board_diff", "hand", ""))
    yield from ({"diff": {"board": board}} for board in (*NOT_OBJECTS, *bad_boards))
    yield from ({"diff": {"hands": wrong}} for wrong in NOT_OBJECTS)
    yield from ({"diff": {"hands": {piece: 1}}} for piece in bad_pieces)
    yield from ({"diff": {"hands": {"C:K": 1, "C:P": count}}} for count in NOT_COUNTS)
    yield from ({"diff": {"toggle": wrong}} for wrong in (*NOT_OBJECTS[:-1], 0, "true", {}))


# --- the comparison -----------------------------------------------------------------------------------------


def structural(found: Iterable[Problem], dialect: Dialect) -> list[Problem]:
    """The problems that a schema can see.

    All but a state restated of the source, or demanded and forbidden, variables and values that are not declared, and
    what a variable about a square has to have.
    """
    must, deny = CONDITION_KEYS[dialect]

    def is_beyond(problem: Problem) -> bool:
        if dialect == "gdl" and "declares no such" in problem.message:
            return True
        path = problem.pointer.split("/")[1:]  # piece, source, destination, ordinal, key, square
        if dialect == "gdl" and path[:1] == ["$state"]:
            return "none of the values" in problem.message or "about a square" in problem.message
        if len(path) != 6:
            return False
        if problem.message == f"{must} restates that the piece stands on its source, which is implied":
            return path[4] == must and path[1] == path[5]
        return problem.message == f"{deny} forbids what {must} demands of the same square" and path[4] == deny

    return [problem for problem in found if not is_beyond(problem)]


def judged(dialect: Dialect, documents: Iterable[Json]) -> Judged:
    """Each document with the validator's verdict on its structure."""
    return [(document, not structural(problems(document, dialect), dialect)) for document in documents]


@functools.cache
def judged_table(dialect: Dialect) -> Judged:
    return judged(dialect, (*VALID[dialect], *malformed(dialect)))


@functools.cache
def judged_mutants(dialect: Dialect) -> Judged:
    # A variable of a thousand is declared a thousand times: what is wrong with all of them must not hide the rest.
    with limits.allow({limits.PROBLEMS.name: 10_000}):
        return judged(dialect, mutants(dialect, 2_000))


def disagreements(schema: Json, documents: Judged) -> Iterator[str]:
    """The documents, as text, that only one of schema and validator calls well formed."""
    validator = Draft202012Validator(schema)
    return (json.dumps(document) for document, verdict in documents if validator.is_valid(document) != verdict)


def mutants(dialect: Dialect, count: int) -> Iterator[Json]:
    """Valid documents with one to three changes, after which a good part of them is well formed still."""
    rng = random.Random(f"mutants of {dialect}")
    must, deny = CONDITION_KEYS[dialect]
    names = ["C:P", "c:+k", "CHESS:K", "C:P^", "C:p", "e2", "e4", "a1A", "5e", "E4", "*", "", "e4\n", must, deny]
    names += ["action", "when", "name", "step", "state", "values", "$state", "ep", "square"] if dialect == "gdl" else []
    names += [dialect, "diff", "board", "hands", "toggle", "$schema", "empty", "x" * 256, "a\0b", "\ud800"]
    values: list[Json] = ["empty", "enemy", "C:P", "c:+k", "C:K^", "ally", "*", None, None, 0, 1, -3, 0.5, True, False]
    values += [{}, [], {"e4": "empty"}, {"e2": "C:P"}, {"e4": None}, {"C:P": 1}, [{}]]
    values += [EFFECTS[dialect], [EFFECTS[dialect]]]
    # A thousand variables take a thousand times as long to judge, and tell no more.
    small = [document for document in VALID[dialect] if size(document) < LARGE]
    for _ in range(count):
        document = copy.deepcopy(rng.choice(small))
        for _ in range(rng.choice((1, 1, 2, 3))):
            if isinstance(document, dict) and rng.random() < 0.1:
                make_impossible(document, rng, must, deny)
            else:
                document = mutated(document, rng, names, values)
        yield document


def make_impossible(document: Json, rng: random.Random, must: str, deny: str) -> None:
    """Restate the source or forbid what is demanded, where a piece of the document has something to do it with."""
    piece = rng.choice([*document, "C:P"])
    sources = document.get(piece)
    for source, destinations in sources.items() if isinstance(sources, dict) else ():
        for possibility in nodes(destinations):
            if isinstance(possibility, dict) and isinstance(possibility.get(must), dict):
                restated = {**possibility[must], source: piece}
                possibility.update(rng.choice(({must: restated}, {deny: possibility[must]})))


def mutated(document: Json, rng: random.Random, names: list[str], values: list[Json]) -> Json:
    """The document with one change, which mostly draws on what it has elsewhere."""
    everything = list(nodes(document))
    containers = [node for node in everything if node and isinstance(node, dict | list)]
    if not containers or rng.random() < 0.005:
        return copy.deepcopy(rng.choice(values))
    node = rng.choice(containers)
    key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
    action = rng.choice(("remove", "replace", "borrow", "borrow", "rename", "rename", "add"))
    if action == "remove":
        del node[key]
    elif action == "replace":
        node[key] = copy.deepcopy(rng.choice(values))
    elif action == "borrow":
        like = [each for each in everything if type(each) is type(node[key])]
        node[key] = copy.deepcopy(rng.choice(like))
    elif isinstance(node, list):
        node.append(copy.deepcopy(rng.choice((node[key], rng.choice(values)))))
    else:
        own = [name for each in everything if isinstance(each, dict) for name in each]
        name = rng.choice((rng.choice(own), rng.choice(names)))
        node[name] = node.pop(key) if action == "rename" else copy.deepcopy(node[key])
    return document


def size(document: Json) -> int:
    return len(json.dumps(document))


def nodes(value: Json) -> Iterator[Json]:
    yield value
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(member)


def constraints(schema: Json) -> Iterator[tuple[Json, str]]:
    """Every keyword of a schema that can refuse something, with the subschema that it stands in."""
    for keyword, value in schema.items():
        if keyword not in ("$schema", "$id", "$defs", "title", "description", "default"):
            yield schema, keyword
        if keyword in ("properties", "patternProperties", "$defs"):
            for member in value.values():
                yield from constraints(member)
        elif keyword == "anyOf":
            for member in value:
                yield from constraints(member)
        elif isinstance(value, dict):
            yield from constraints(value)


# --- the tests ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_schema_is_a_valid_schema_in_plain_json(dialect: Dialect) -> None:
    schema = json_schema(dialect)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_level_has_a_description_to_show(dialect: Dialect) -> None:
    schema = json_schema(dialect)
    undescribed = {"anyOf", "if", "then", "not", "propertyNames"}

    def described(part: Json) -> Iterator[Json]:
        yield part
        for keyword in part.keys() - undescribed:
            if keyword in ("properties", "patternProperties", "$defs"):
                for member in part[keyword].values():
                    yield from described(member)

    assert all(part.get("description") or part.keys() == {"$ref"} for part in described(schema))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_patterns_are_ascii_that_python_and_ecma_262_read_alike(dialect: Dialect) -> None:
    text = json.dumps(json_schema(dialect), ensure_ascii=False)
    assert text.isascii()
    patterns = [
        pattern
        for node in nodes(json_schema(dialect))
        if isinstance(node, dict)
        for pattern in (*node.get("patternProperties", ()), *filter(None, [node.get("pattern")]))
        if isinstance(pattern, str)
    ]
    assert patterns
    for pattern in patterns:
        assert pattern.startswith("^")
        assert pattern.endswith(r"(?![\s\S])")
        # What differs between the two: $ before a newline, \A and \Z, \d and \w beyond ASCII, named groups, flags.
        assert not re.search(r"\$|\\[AZzdwbDWB]|\(\?[^:!=]|[*+?}]\+", pattern)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_changing_a_schema_that_was_given_out_changes_no_other(dialect: Dialect) -> None:
    before = json.dumps(json_schema(dialect))
    for part, keyword in list(constraints(json_schema(dialect))):
        del part[keyword]
    assert json.dumps(json_schema(dialect)) == before


def test_an_unknown_dialect_is_refused_by_name() -> None:
    with pytest.raises(NotationError, match='"gain" is not a dialect: perform, must-deny, diff, gdl'):
        json_schema("gain")  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_schema_and_validator_accept_the_examples_of_the_seeds_and_the_edges(dialect: Dialect) -> None:
    validator = Draft202012Validator(json_schema(dialect))
    for document in VALID[dialect]:
        assert problems(document, dialect) == []
        assert list(validator.iter_errors(document)) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_schema_and_validator_refuse_every_malformed_document(dialect: Dialect) -> None:
    validator = Draft202012Validator(json_schema(dialect))
    documents = list(malformed(dialect))
    assert len(documents) > 200
    for document in documents:
        assert structural(problems(document, dialect), dialect), document
        assert not validator.is_valid(document), document


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_contradiction_and_a_restated_source_are_left_to_the_validator(dialect: Dialect) -> None:
    must, deny = CONDITION_KEYS[dialect]
    validator = Draft202012Validator(json_schema(dialect))
    for conditions in ({must: {"e4": "empty"}, deny: {"e4": "empty"}}, {must: {"e2": "C:P"}}):
        document = one("C:P", "e2", "e4", {**conditions, **EFFECTS[dialect]})
        found = problems(document, dialect)
        assert len(found) == 1
        assert structural(found, dialect) == []
        assert validator.is_valid(document)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_schema_and_validator_agree_on_2000_mutated_documents(dialect: Dialect) -> None:
    documents = judged_mutants(dialect)
    assert list(disagreements(json_schema(dialect), documents)) == []
    well_formed = sum(verdict for _, verdict in documents)
    assert len(documents) == 2_000
    assert 400 < well_formed < 1_600
    left_to_the_validator = [document for document, verdict in documents if verdict and problems(document, dialect)]
    assert len(left_to_the_validator) > 40


@pytest.mark.parametrize(
    ("dialect", "one_in"), [("gdl", 10), *(pytest.param(each, 1, marks=pytest.mark.long) for each in DIALECTS)]
)
def test_the_comparison_notices_every_single_keyword_that_is_missing(dialect: Dialect, one_in: int) -> None:
    schema = json_schema(dialect)
    # A document that one keyword alone refuses shows first that it is missing, so those are looked at first.
    errors = Draft202012Validator(schema).iter_errors
    by_size = sorted(judged_table(dialect), key=lambda each: size(each[0]))
    refusing = [(each, {error.validator for error in errors(each[0])}) for each in by_size]
    unnoticed = []
    for part, keyword in list(constraints(schema))[::one_in]:
        value = part.pop(keyword)
        judged_first = [each for each, keywords in sorted(refusing, key=lambda one: one[1] != {keyword})]
        if not any(disagreements(schema, judged_first)):
            unnoticed.append((keyword, part))
        part[keyword] = value
    assert unnoticed == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_mutated_documents_too_notice_a_missing_keyword(dialect: Dialect) -> None:
    for keyword in ("additionalProperties", "type"):
        schema = json_schema(dialect)
        del schema["$defs"]["possibility"][keyword]
        assert any(disagreements(schema, judged_mutants(dialect)))
