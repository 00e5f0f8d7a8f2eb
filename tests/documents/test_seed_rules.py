"""The rules of the seeds: what states mean, what a document must be, and what one seed writes and another forbids.

What must and must not hold was worked out by hand from the texts.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest

import ggn_store
from ggn_store import DocumentError, Position
from ggn_store.model.documents.document import Envelope
from tests.support.seeds import board_of

# --- seed 000: the meaning of states, expression by expression ---

# What may stand on a1 for a piece of the first player: nothing, X:Y itself, an ally, an enemy, and X:Y's enemy twin.
OCCUPANTS = {"nothing": None, "X:Y": "X:Y", "ally": "GAME:Z", "enemy": "game:z", "x:y": "x:y"}
EXPRESSIONS: list[tuple[str, dict[str, Any], str]] = [
    ("must be empty", {"require": {"a1": "empty"}}, "nothing"),
    ("must contain an enemy piece", {"require": {"a1": "enemy"}}, "enemy x:y"),
    # The table calls this "must contain an ally piece"; prevent is a NOR, and an empty square holds no enemy.
    ("must contain an ally piece", {"prevent": {"a1": "enemy"}}, "nothing X:Y ally"),
    ("must be occupied", {"prevent": {"a1": "empty"}}, "X:Y ally enemy x:y"),
    ("must contain exactly X:Y", {"require": {"a1": "X:Y"}}, "X:Y"),
    ("must not contain X:Y", {"prevent": {"a1": "X:Y"}}, "nothing ally enemy x:y"),
    # "Both sets of constraints must be satisfied."
    ("an enemy other than x:y", {"require": {"a1": "enemy"}, "prevent": {"a1": "x:y"}}, "enemy"),
    ("empty and no enemy", {"require": {"a1": "empty"}, "prevent": {"a1": "enemy"}}, "nothing"),
    ("an enemy and not empty", {"require": {"a1": "enemy"}, "prevent": {"a1": "empty"}}, "enemy x:y"),
    ("X:Y and an enemy at once", {"require": {"a1": "enemy"}, "prevent": {"a1": "X:Y"}}, "enemy x:y"),
    # "Omitting either field is equivalent to having no constraints of that type."
    ("no constraint", {}, "nothing X:Y ally enemy x:y"),
]


@pytest.mark.parametrize(("words", "conditions", "holds"), EXPRESSIONS, ids=[f"seed-000-{e[0]}" for e in EXPRESSIONS])
def test_an_expression_of_seed_000_means_what_its_table_says(
    words: str, conditions: dict[str, Any], holds: str
) -> None:
    ruleset = ggn_store.ruleset({"GAME:X": {"c3": {"c5": [{**conditions, "perform": {"c3": None, "c5": "GAME:X"}}]}}})
    asked = ruleset.select("GAME:X").from_("c3").to("c5")
    found = [name for name, piece in OCCUPANTS.items() if asked.where({"c3": "GAME:X", "a1": piece})]
    assert found == holds.split(), words


SEVERAL = {"a1": "empty", "b1": "enemy", "d1": "X:Y"}


@pytest.mark.parametrize("present", list(itertools.product([True, False], repeat=3)), ids=str)
def test_require_is_a_logical_and_and_prevent_a_logical_or_seed_000(present: tuple[bool, bool, bool]) -> None:
    filled = {"a1": ("", "X:Y"), "b1": ("x:y", ""), "d1": ("X:Y", "")}
    board = {square: filled[square][not there] or None for square, there in zip(SEVERAL, present, strict=True)}
    possibilities = [{"require": SEVERAL, "perform": {"c3": None}}, {"prevent": SEVERAL, "perform": {"c3": None}}]
    ruleset = ggn_store.ruleset({"GAME:X": {"c3": {"c5": possibilities}}})
    held = [move.ordinal for move in ruleset.moves({**board, "c3": "GAME:X"})]
    assert held == ([0] if all(present) else []) + ([1] if not any(present) else [])


def test_enemy_is_seen_from_the_side_that_is_to_move_seed_001() -> None:
    one = {"must": {"c3": "enemy"}}
    ruleset = ggn_store.ruleset({"C:N": {"b1": {"c3": [one]}}, "c:n": {"b1": {"c3": [one]}}})
    for piece, other in (("C:N", "c:n"), ("c:n", "C:N")):
        asked = ruleset.select(piece).from_("b1").to("c3")
        assert asked.where({"b1": piece, "c3": other})
        assert not asked.where({"b1": piece, "c3": piece})
    first, second = Position({"b1": "C:N", "c3": "c:p"}), Position({"b1": "C:N", "c3": "c:p"}, side="second")
    assert [move.piece for move in ruleset.moves(first)] == ["C:N"]
    assert ruleset.moves(second) == []


# --- seed 000: the validation rules ---


def perform(**parts: Any) -> dict[str, Any]:
    """A document with one possibility: a sound one, but for `parts`; a part that is None is left out."""
    possibility = {"perform": {"c3": None, "c5": "GAME:X"}} | parts
    return {"GAME:X": {"c3": {"c5": [{key: part for key, part in possibility.items() if part is not None}]}}}


SOUND: Mapping[str, Any] = perform()["GAME:X"]["c3"]["c5"][0]
AT = "/GAME:X/c3/c5/0"
SCHEMA = "A valid GGN document must conform to the JSON Schema"
# The rule in the seed's words, a document that breaks it, and the pointers of everything that is wrong.
RULES: list[tuple[str, Any, list[str]]] = [
    (SCHEMA, [], [""]),
    (SCHEMA, None, [""]),
    (SCHEMA, "GAME:X", [""]),
    (SCHEMA, {}, [""]),
    (SCHEMA, {"$schema": "https://example.org"}, [""]),
    (SCHEMA, {"$schema": 1, **perform()}, ["/$schema"]),
    (SCHEMA, {"GAME:X": []}, ["/GAME:X"]),
    (SCHEMA, {"GAME:X": {}}, ["/GAME:X"]),
    (SCHEMA, {"GAME:X": {"c3": "c5"}}, ["/GAME:X/c3"]),
    (SCHEMA, {"GAME:X": {"c3": {}}}, ["/GAME:X/c3"]),
    (SCHEMA, {"GAME:X": {"c3": {"c5": SOUND}}}, ["/GAME:X/c3/c5"]),
    (SCHEMA, {"GAME:X": {"c3": {"c5": []}}}, ["/GAME:X/c3/c5"]),
    (
        SCHEMA,
        {"GAME:X": {"c3": {"c5": [SOUND, None]}}},
        ["/GAME:X/c3/c5/1"],
    ),
    (SCHEMA, perform(comment="a move"), [f"{AT}/comment"]),
    (SCHEMA, perform(require=["c4"]), [f"{AT}/require"]),
    (SCHEMA, perform(prevent="c4"), [f"{AT}/prevent"]),
    (SCHEMA, perform(perform=[]), [f"{AT}/perform"]),
    (SCHEMA, perform(require={"c4": None}), [f"{AT}/require/c4"]),
    (SCHEMA, perform(require={"c4": ["empty"]}), [f"{AT}/require/c4"]),
    ("The perform field is required", perform(perform=None, require={"c4": "empty"}), [AT]),
    ("The perform field ... must not be empty", perform(perform={}), [f"{AT}/perform"]),
    ("require and prevent ... if present must not be empty", perform(require={}), [f"{AT}/require"]),
    ("require and prevent ... if present must not be empty", perform(prevent={}), [f"{AT}/prevent"]),
    (
        "No square may have the same state in both",
        perform(require={"d4": "enemy"}, prevent={"d4": "enemy"}),
        [f"{AT}/prevent/d4"],
    ),
    (
        "No square may have the same state in both",
        perform(require={"d4": "GAME:P", "c4": "empty"}, prevent={"d4": "GAME:P", "c4": "empty"}),
        [f"{AT}/prevent/d4", f"{AT}/prevent/c4"],
    ),
    ("All squares ... must be valid board squares", perform(require={"": "empty"}), [f"{AT}/require/"]),
    ("All squares ... must be valid board squares", perform(prevent={"": "empty"}), [f"{AT}/prevent/"]),
    ("All squares ... must be valid board squares", perform(perform={"": None}), [f"{AT}/perform/"]),
    ("All GAN identifiers must be valid", {"X": {"c3": {"c5": [SOUND]}}}, ["/X"]),
    ("All GAN identifiers must be valid", {"Game:X": {"c3": {"c5": [SOUND]}}}, ["/Game:X"]),
    ("All GAN identifiers must be valid", {"GAME:X^": {"c3": {"c5": [SOUND]}}}, ["/GAME:X^"]),
    ("All GAN identifiers must be valid", perform(require={"c4": "occupied"}), [f"{AT}/require/c4"]),
    ("All GAN identifiers must be valid", perform(prevent={"c4": "ally"}), [f"{AT}/prevent/c4"]),
    ("All GAN identifiers must be valid", perform(require={"c4": "GAME:p"}), [f"{AT}/require/c4"]),
    ("All GAN identifiers must be valid", perform(perform={"c5": "GAME:XX"}), [f"{AT}/perform/c5"]),
    ("All GAN identifiers must be valid", perform(perform={"c5": "empty"}), [f"{AT}/perform/c5"]),
    (
        "require must not specify that the source square contains the source piece",
        perform(require={"c3": "GAME:X"}),
        [f"{AT}/require/c3"],
    ),
    (
        "require must not specify that the source square contains the source piece",
        perform(require={"c4": "empty", "c3": "GAME:X", "c5": "empty"}),
        [f"{AT}/require/c3"],
    ),
    (
        "Each variant must have a valid perform field",
        {"GAME:X": {"c3": {"c5": [SOUND, {"require": {"c4": "empty"}}]}}},
        ["/GAME:X/c3/c5/1"],
    ),
    (
        "Each variant must have a valid perform field",
        {"GAME:X": {"c3": {"c5": [SOUND, {"perform": {}}]}}},
        ["/GAME:X/c3/c5/1/perform"],
    ),
    (
        "Each variant must have a valid perform field",
        {"GAME:X": {"c3": {"c5": [SOUND, {**SOUND, "perform": None}]}}},
        ["/GAME:X/c3/c5/1/perform"],
    ),
    ("Hand management, drops ... are outside the scope", {"GAME:X": {"*": {"c5": [SOUND]}}}, ["/GAME:X/*"]),
    ("Hand management, drops ... are outside the scope", {"GAME:X": {"c3": {"*": [SOUND]}}}, ["/GAME:X/c3/*"]),
    ("Hand management, drops ... are outside the scope", perform(require={"*": "GAME:X"}), [f"{AT}/require/*"]),
    (
        "Hand management, drops ... are outside the scope",
        perform(perform={"c3": None, "*": "GAME:X"}),
        [f"{AT}/perform/*"],
    ),
    ("Captures-to-hand are outside the scope", perform(gain="GAME:P"), [f"{AT}/gain"]),
    ("Captures-to-hand are outside the scope", perform(drop="GAME:P"), [f"{AT}/drop"]),
]


@pytest.mark.parametrize(("rule", "document", "pointers"), RULES, ids=[f"seed-000-{rule[0]}" for rule in RULES])
def test_a_document_that_breaks_a_rule_of_seed_000_is_rejected(rule: str, document: Any, pointers: list[str]) -> None:
    text = json.dumps(document, indent=1)
    problems = ggn_store.problems(text, "perform", file="game.json")
    assert sorted(problem.pointer for problem in problems) == sorted(pointers), rule
    for problem in problems:
        assert (problem.file, problem.message != "") == ("game.json", True)
        assert problem.line is not None
        assert problem.column is not None
        assert problem.allowed or problem.found
    assert not ggn_store.is_valid(text)
    with pytest.raises(DocumentError):
        ggn_store.parse(text)


ALLOWED: list[tuple[str, dict[str, Any]]] = [
    ("The require and prevent fields are optional", perform()),
    ("The require and prevent fields are optional", perform(require={"c4": "empty"})),
    ("The require and prevent fields are optional", perform(prevent={"c4": "enemy"})),
    (
        "A state is considered the same if the exact same string appears",
        perform(require={"d4": "enemy"}, prevent={"d4": "game:k"}),
    ),
    (
        "A state is considered the same if the exact same string appears",
        perform(require={"d4": "enemy"}, prevent={"d4": "empty"}),
    ),
    (
        "A state is considered the same if the exact same string appears",
        perform(require={"d4": "empty"}, prevent={"d5": "empty"}),
    ),
    (
        "Variants may have different conditions",
        {"GAME:X": {"c3": {"c5": [SOUND, {**SOUND, "require": {"c4": "empty"}}]}}},
    ),
    ("Variants may have different conditions", {"GAME:X": {"c3": {"c5": [SOUND, SOUND]}}}),
    (
        "any labeling convention is acceptable",
        {"SHOGI:P": {"5e": {"5d": [{"perform": {"5e": None, "5d": "SHOGI:P"}}]}}},
    ),
    ("any labeling convention is acceptable", {"G:X": {"vor dem Fluß": {"城": [{"perform": {"城": "G:X"}}]}}}),
    # Only the source piece on its own square is implied; anything else may be said of that square.
    ("require must not duplicate implicit requirements", perform(require={"c5": "GAME:X"})),
    ("require must not duplicate implicit requirements", perform(prevent={"c3": "GAME:Y"})),
]


@pytest.mark.parametrize(("rule", "document"), ALLOWED, ids=[f"seed-000-{rule[0]}" for rule in ALLOWED])
def test_a_document_that_a_rule_of_seed_000_allows_is_accepted(rule: str, document: dict[str, Any]) -> None:
    assert ggn_store.problems(json.dumps(document)) == [], rule
    assert ggn_store.parse(document).dialect == "perform"


def test_a_square_off_the_declared_board_is_rejected_seed_000() -> None:
    document = perform(require={"c4": "empty"}, prevent={"i9": "enemy"}, perform={"c3": None, "c9": "GAME:X"})
    assert ggn_store.problems(document) == []
    problems = ggn_store.problems(document, envelope=Envelope(board="8x8"))
    assert sorted(problem.pointer for problem in problems) == [f"{AT}/perform/c9", f"{AT}/prevent/i9"]


# --- what the seeds write that is no document ---

# Why it is none, the text, and the place and pointer of what is wrong.
REJECTED: list[tuple[str, str, list[tuple[int | None, int | None, str]]]] = [
    (
        # Style and letter of an identifier have one case: seed 002. The black pawn is chess:p.
        "seed-000-en-passant-mixes-the-cases-of-a-pawn",
        """
        {"CHESS:P": {"d5": {"e6": [
            {
                "require": {"e5": "CHESS:p", "e6": "empty"},
                "perform": {"d5": null, "e5": null, "e6": "CHESS:P"}
            }
        ]}}}""",
        [(4, 35, "/CHESS:P/d5/e6/0/require/e5")],
    ),
    (
        "seed-000-json-structure-is-a-sketch",
        '{\n"<Source piece GAN>": {\n"<Source square>": {\n"<Destination square>": [\n{\n'
        '"require": { "<square>": "<required state>", … }\n}\n]\n}\n}\n}',
        [(6, 46, "/<Source piece GAN>/<Source square>/<Destination square>/0/require")],
    ),
    (
        "seed-003-hybrid-game-leaves-the-rules-to-comments",
        '{\n  "C:K": { /* chess king rules */ }\n}',
        [(2, 12, "/C:K")],
    ),
    (
        # CELL begins with letters; 5e is how shogi diagrams number squares.
        "seed-003-hybrid-game-asks-for-a-square-that-is-not-cell",
        '{"S:G": {"5e": {"e6": [{"must": {"e6": "empty"}, "diff": {"board": {"e6": "S:G"}}}]}}}',
        [(1, 10, "/S:G/5e")],
    ),
]


@pytest.mark.parametrize(("text", "places"), [pytest.param(*row[1:], id=row[0]) for row in REJECTED])
def test_what_a_seed_writes_and_another_forbids_is_rejected(
    text: str, places: list[tuple[int | None, int | None, str]]
) -> None:
    assert [(each.line, each.column, each.pointer) for each in ggn_store.problems(text)] == places
    assert not ggn_store.is_valid(text)


@pytest.mark.parametrize(
    ("board", "holds"),
    [
        ("d5=CHESS:P e5=chess:p", [0]),
        ("d5=CHESS:P e5=CHESS:P", []),
        ("d5=CHESS:P e5=chess:-p", []),
        ("d5=CHESS:P e5=chess:p e6=chess:n", []),
        ("d5=CHESS:P", []),
    ],
)
def test_the_en_passant_of_seed_000_holds_with_the_pawn_written_as_gan(board: str, holds: list[int]) -> None:
    ruleset = ggn_store.ruleset(REJECTED[0][1].replace("CHESS:p", "chess:p"))
    moves = ruleset.moves(board_of(board))
    assert [move.ordinal for move in moves] == holds
    for move in moves:
        assert ruleset.apply(board_of(board), move) == Position({"e6": "CHESS:P"}, side="second")
