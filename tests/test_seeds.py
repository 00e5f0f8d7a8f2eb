"""The texts that the project comes from, held to: seed 000 is the GGN specification, 001 its examples, 003 Ggn.rb.

Each of their examples stands here as it is written there and, in canonical form, in data/examples. What must and
must not hold was worked out by hand from the texts.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ggn_store
from ggn_store import DocumentError, GgnStoreError, Move, MoveError, Position, Ruleset, Store, Transition
from ggn_store.model.document import Envelope
from ggn_store.model.revision import check_name
from ggn_store.notation.qpi import Side
from tests import reference

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = DATA / "examples"
SEED = {"perform": "000", "must-deny": "001", "diff": "003"}

# --- the examples, as the seeds write them ---

SEED_000 = {
    "simple-move": '{"GAME:X": {"c3": {"c5": [{"perform": {"c3": null, "c5": "GAME:X"}}]}}}',
    "sliding-move": """
        {"GAME:X": {"c3": {"c5": [
            {"require": {"c4": "empty", "c5": "empty"}, "perform": {"c3": null, "c5": "GAME:X"}}
        ]}}}""",
    "capture": '{"GAME:X": {"c3": {"d4": [{"require": {"d4": "enemy"}, "perform": {"c3": null, "d4": "GAME:X"}}]}}}',
    "promotion-choices": """
        {"CHESS:P": {"e7": {"e8": [
            {"require": {"e8": "empty"}, "perform": {"e7": null, "e8": "CHESS:Q"}},
            {"require": {"e8": "empty"}, "perform": {"e7": null, "e8": "CHESS:R"}},
            {"require": {"e8": "empty"}, "perform": {"e7": null, "e8": "CHESS:N"}},
            {"require": {"e8": "empty"}, "perform": {"e7": null, "e8": "CHESS:B"}}
        ]}}}""",
    "optional-promotion": """
        {"SHOGI:P": {"1g": {"1f": [
            {"require": {"1f": "empty"}, "perform": {"1g": null, "1f": "SHOGI:P"}},
            {"require": {"1f": "empty"}, "perform": {"1g": null, "1f": "SHOGI:+P"}}
        ]}}}""",
    "castling": """
        {"CHESS:K": {"e1": {"g1": [
            {
                "require": {"f1": "empty", "g1": "empty", "h1": "CHESS:R"},
                "perform": {"e1": null, "f1": "CHESS:R", "g1": "CHESS:K", "h1": null}
            }
        ]}}}""",
    "conditional-move": """
        {"GAME:B": {"c1": {"f4": [
            {
                "require": {"d2": "empty", "e3": "empty", "f4": "empty"},
                "prevent": {"g5": "GAME:K", "h6": "GAME:Q"},
                "perform": {"c1": null, "f4": "GAME:B"}
            }
        ]}}}""",
    "two-promotions": """
        {
            "$schema": "https://sashite.dev/schemas/ggn/1.0.0/schema.json",
            "CHESS:P": {"e7": {"e8": [
                {"require": {"e8": "empty"}, "perform": {"e7": null, "e8": "CHESS:Q"}},
                {"require": {"e8": "empty"}, "perform": {"e7": null, "e8": "CHESS:N"}}
            ]}}
        }""",
}

SEED_001 = {
    "simple-move": '{"C:R": {"a1": {"a4": [{"must": {"a2": "empty", "a3": "empty", "a4": "empty"}}]}}}',
    "move-or-capture": """
        {"C:R": {"a1": {"a4": [
            {"must": {"a2": "empty", "a3": "empty", "a4": "empty"}},
            {"must": {"a2": "empty", "a3": "empty", "a4": "enemy"}}
        ]}}}""",
    "castling": '{"C:+K": {"e1": {"g1": [{"must": {"f1": "empty", "g1": "empty", "h1": "C:+R"}}]}}}',
    "en-passant": '{"C:P": {"e5": {"f6": [{"must": {"f6": "empty", "f5": "c:-p"}}]}}}',
    "promotion-zone": """
        {"C:P": {"e7": {
            "e8": [{"must": {"e8": "empty"}}],
            "d8": [{"must": {"d8": "enemy"}}]
        }}}""",
    "drop-from-hand": '{"S:P": {"*": {"e5": [{"must": {"e5": "empty"}}]}}}',
    "drop-with-file-restriction": """
        {"S:P": {"*": {"e4": [
            {
                "must": {"e4": "empty"},
                "deny": {
                    "e1": "S:P", "e2": "S:P", "e3": "S:P",
                    "e5": "S:P", "e6": "S:P", "e7": "S:P",
                    "e8": "S:P", "e9": "S:P"
                }
            }
        ]}}}""",
    "cannon-capture": """
        {"x:c": {"b2": {"b8": [
            {
                "must": {"b3": "empty", "b4": "empty", "b5": "empty", "b6": "empty", "b8": "enemy"},
                "deny": {"b7": "empty"}
            }
        ]}}}""",
    "selective-capture": """
        {"C:R": {"a1": {"a8": [
            {
                "must": {
                    "a2": "empty", "a3": "empty", "a4": "empty",
                    "a5": "empty", "a6": "empty", "a7": "empty",
                    "a8": "enemy"
                },
                "deny": {"a8": "c:k^"}
            }
        ]}}}""",
    "knight-jump": '{"C:N": {"b1": {"c3": [{}]}}}',
    "enhanced-rook": '{"C:+R": {"a1": {"a4": [{"must": {"a2": "empty", "a3": "empty", "a4": "empty"}}]}}}',
    "diminished-capture": '{"c:p": {"d4": {"e3": [{"must": {"e3": "empty", "e4": "C:-P"}}]}}}',
    "multiple-destinations": """
        {"C:N": {"e4": {
            "c3": [{"must": {"c3": "empty"}}],
            "c5": [{"must": {"c5": "empty"}}, {"must": {"c5": "enemy"}}],
            "d2": [{"must": {"d2": "empty"}}]
        }}}""",
    "mixed-styles": """
        {
            "C:Q": {"d4": {"h8": [{"must": {"e5": "empty", "f6": "empty", "g7": "empty"}}]}},
            "x:m": {"b1": {"d2": [{"must": {"d2": "empty"}, "deny": {"c1": "enemy"}}]}}
        }""",
    "deny-or": """
        {"x:c": {"b2": {"b5": [
            {
                "must": {"b3": "empty", "b4": "empty", "b5": "enemy"},
                "deny": {"b6": "empty", "b7": "empty", "b8": "empty"}
            }
        ]}}}""",
    "conditional-path": """
        {"C:B": {"a1": {"h8": [
            {
                "must": {
                    "b2": "empty", "c3": "empty", "d4": "empty",
                    "e5": "empty", "f6": "empty", "g7": "empty",
                    "h8": "empty"
                }
            },
            {
                "must": {
                    "b2": "empty", "c3": "empty", "d4": "empty",
                    "e5": "empty", "f6": "empty", "g7": "empty",
                    "h8": "enemy"
                },
                "deny": {"h8": "c:k^"}
            }
        ]}}}""",
}

SEED_003 = {
    "quick-start": """
        {"C:P": {"e2": {"e4": [
            {
                "must": {"e3": "empty", "e4": "empty"},
                "deny": {},
                "diff": {"board": {"e2": null, "e4": "C:P"}, "toggle": true}
            }
        ]}}}""",
    "simple-movement": """
        {"C:K": {"e1": {"e2": [
            {
                "must": {"e2": "empty"},
                "deny": {},
                "diff": {"board": {"e1": null, "e2": "C:K"}, "toggle": true}
            }
        ]}}}""",
    "capture": """
        {"C:P": {"e4": {"f5": [
            {
                "must": {"f5": "enemy"},
                "deny": {},
                "diff": {"board": {"e4": null, "f5": "C:P"}, "toggle": true}
            }
        ]}}}""",
    "promotion-choices": """
        {"C:P": {"e7": {"e8": [
            {
                "must": {"e8": "empty"},
                "deny": {},
                "diff": {"board": {"e7": null, "e8": "C:Q"}, "toggle": true}
            },
            {
                "must": {"e8": "empty"},
                "deny": {},
                "diff": {"board": {"e7": null, "e8": "C:N"}, "toggle": true}
            }
        ]}}}""",
    "castling": """
        {"C:+K": {"e1": {"g1": [
            {
                "must": {"f1": "empty", "g1": "empty", "h1": "C:+R"},
                "deny": {},
                "diff": {"board": {"e1": null, "g1": "C:K", "h1": null, "f1": "C:R"}, "toggle": true}
            }
        ]}}}""",
    "en-passant": """
        {"C:P": {"e5": {"f6": [
            {
                "must": {"f6": "empty", "f5": "c:-p"},
                "deny": {},
                "diff": {
                    "board": {"e5": null, "f6": "C:P", "f5": null},
                    "hands": {"c:p": 1},
                    "toggle": true
                }
            }
        ]}}}""",
    "drop": """
        {"S:P": {"*": {"e4": [
            {
                "must": {"e4": "empty"},
                "deny": {
                    "e1": "S:P", "e2": "S:P", "e3": "S:P",
                    "e5": "S:P", "e6": "S:P", "e7": "S:P",
                    "e8": "S:P", "e9": "S:P"
                },
                "diff": {
                    "board": {"e4": "S:P"},
                    "hands": {"S:P": -1},
                    "toggle": true
                }
            }
        ]}}}""",
}

WRITTEN = {
    f"{dialect}-{name}": text
    for dialect, examples in (("perform", SEED_000), ("must-deny", SEED_001), ("diff", SEED_003))
    for name, text in examples.items()
}


def seed_of(name: str) -> str:
    return next(seed for dialect, seed in SEED.items() if name.startswith(dialect))


by_name = pytest.mark.parametrize("name", WRITTEN, ids=lambda name: f"seed-{seed_of(name)}-{name}")


@by_name
def test_an_example_is_valid_and_stands_in_data_in_canonical_form(name: str) -> None:
    document = ggn_store.parse(WRITTEN[name])
    assert name.startswith(f"{document.dialect}-")
    text = (EXAMPLES / f"{name}.json").read_text("utf-8")
    assert document.canonical() == text
    assert reference.canonical_text(json.loads(WRITTEN[name])) == text


@by_name
def test_an_example_says_which_one_it_is(name: str) -> None:
    beside = tomllib.loads((EXAMPLES / f"{name}.toml").read_text("utf-8"))
    assert sorted(beside) == ["source", "title"]
    source = {
        "000": r"GGN specification 1\.0\.0, example .+",
        "001": r"GGN examples 1\.0\.0, example .+",
        "003": r"Ggn\.rb README, example .+",
    }
    assert re.fullmatch(source[seed_of(name)], beside["source"])


def test_data_holds_no_other_examples() -> None:
    assert sorted(path.name for path in EXAMPLES.iterdir()) == sorted(
        f"{name}.{kind}" for name in WRITTEN for kind in ("json", "toml")
    )


# --- what ships is canonical ---


def first_difference(text: str, canonical: str) -> int | None:
    """The number of the first line, from 1, that is not as the canonical form has it; None where all are."""
    pairs = itertools.zip_longest(text.splitlines(keepends=True), canonical.splitlines(keepends=True))
    return next((number for number, (found, expected) in enumerate(pairs, 1) if found != expected), None)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb\n", None), ("a\nb", 2), ("a\r\nb\n", 1), ("a\nc\n", 2), ("a\n", 2), ("a\nb\nc\n", 3), ("", 1)],
)
def test_the_first_line_that_differs_is_named(text: str, line: int | None) -> None:
    assert first_difference(text, "a\nb\n") == line


DOCUMENTS = sorted(path for path in DATA.rglob("*.json") if path.parent.name not in ("games", "gdl"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(DATA).as_posix())
def test_every_document_that_ships_is_canonical(path: Path) -> None:
    name = path.relative_to(DATA)
    text = path.read_bytes().decode("utf-8")
    line = first_difference(text, ggn_store.parse(text).canonical())
    assert line is None, f"data/{name}:{line}: not as the canonical form has it"
    assert check_name(name.with_suffix("").as_posix())
    assert path.with_suffix(".toml").is_file(), f"data/{name}: nothing says what it is; write {name.stem}.toml"


# --- where the examples hold ---


class Case(NamedTuple):
    """An entry of a document, a position, and the ordinals of the possibilities that hold in it.

    The board is written as `a1=C:R a2=c:p`. `side` is the side that asks, by default the piece's own.
    """

    entry: str
    board: str
    holds: list[int]
    hands: dict[str, int] | None = None
    side: Side | None = None


def board_of(text: str) -> dict[str, str | None]:
    return {square: piece or None for square, _, piece in (part.partition("=") for part in text.split())}


CASES: Mapping[str, list[Case]] = {
    # Seed 000. "A piece that can move directly to a destination without any requirements."
    "perform-simple-move": [
        Case("GAME:X c3 c5", "c3=GAME:X", [0]),
        Case("GAME:X c3 c5", "c3=GAME:X c4=game:x c5=GAME:X", [0]),
        Case("GAME:X c3 c5", "c3=GAME:X c5=game:x", [0], side="second"),
        # "The specified source piece must be present at the source square."
        Case("GAME:X c3 c5", "", []),
        Case("GAME:X c3 c5", "c3=", []),
        Case("GAME:X c3 c5", "c5=GAME:X", []),
        Case("GAME:X c3 c5", "c3=GAME:Y", []),
        Case("GAME:X c3 c5", "c3=game:x", []),
        Case("GAME:X c3 c5", "c3=GAME:+X", []),
        Case("GAME:X c3 c5", "c3=OTHER:X", []),
        Case("GAME:X c3 c5", "c3=GAME:X^", []),
    ],
    # "A piece slides from c3 to c5 along an empty file."
    "perform-sliding-move": [
        Case("GAME:X c3 c5", "c3=GAME:X", [0]),
        Case("GAME:X c3 c5", "c3=GAME:X c4= c5= b4=game:x", [0]),
        Case("GAME:X c3 c5", "c3=GAME:X c4=game:x", []),
        Case("GAME:X c3 c5", "c3=GAME:X c4=GAME:X", []),
        Case("GAME:X c3 c5", "c3=GAME:X c5=game:x", []),
        Case("GAME:X c3 c5", "c4= c5=", []),
    ],
    # "A piece captures an enemy on d4."
    "perform-capture": [
        Case("GAME:X c3 d4", "c3=GAME:X d4=game:x", [0]),
        Case("GAME:X c3 d4", "c3=GAME:X d4=other:+z", [0]),
        Case("GAME:X c3 d4", "c3=GAME:X d4=GAME:Y", []),
        Case("GAME:X c3 d4", "c3=GAME:X d4=OTHER:Z", []),
        Case("GAME:X c3 d4", "c3=GAME:X d4=", []),
        Case("GAME:X c3 d4", "c3=GAME:X d5=game:x", []),
        # An enemy is one of the side that is asked for: for the second player that is an upper-case piece.
        Case("GAME:X c3 d4", "c3=GAME:X d4=GAME:Y", [0], side="second"),
        Case("GAME:X c3 d4", "c3=GAME:X d4=game:x", [], side="second"),
        Case("GAME:X c3 d4", "c3=GAME:X d4=game:x", [0], side="first"),
    ],
    # "A white pawn ... can be promoted to any of four pieces."
    "perform-promotion-choices": [
        Case("CHESS:P e7 e8", "e7=CHESS:P", [0, 1, 2, 3]),
        Case("CHESS:P e7 e8", "e7=CHESS:P d8=chess:r f8=chess:r", [0, 1, 2, 3]),
        Case("CHESS:P e7 e8", "e7=CHESS:P e8=chess:k", []),
        Case("CHESS:P e7 e8", "e7=CHESS:P e8=CHESS:Q", []),
        Case("CHESS:P e7 e8", "e7=chess:p", []),
    ],
    # "A piece entering a promotion zone can choose whether or not to promote."
    "perform-optional-promotion": [
        Case("SHOGI:P 1g 1f", "1g=SHOGI:P", [0, 1]),
        Case("SHOGI:P 1g 1f", "1g=SHOGI:P 1f=shogi:p", []),
        Case("SHOGI:P 1g 1f", "1g=SHOGI:+P", []),
        # Labels mean what they are, to the letter: 1G is another square than 1g.
        Case("SHOGI:P 1g 1f", "1G=SHOGI:P", []),
        Case("SHOGI:P 1g 1f", "1g=SHOGI:P 1F=shogi:p f1=shogi:p", [0, 1]),
    ],
    "perform-castling": [
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:R", [0]),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:R a1=CHESS:R e8=chess:r", [0]),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:R f1=CHESS:B", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:R g1=chess:n", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=chess:r", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:+R", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K a1=CHESS:R", []),
    ],
    # "... prevents the move if specific pieces are present", any one of them.
    "perform-conditional-move": [
        Case("GAME:B c1 f4", "c1=GAME:B", [0]),
        Case("GAME:B c1 f4", "c1=GAME:B g5=GAME:K", []),
        Case("GAME:B c1 f4", "c1=GAME:B h6=GAME:Q", []),
        Case("GAME:B c1 f4", "c1=GAME:B g5=GAME:K h6=GAME:Q", []),
        Case("GAME:B c1 f4", "c1=GAME:B g5=GAME:Q h6=GAME:K", [0]),
        Case("GAME:B c1 f4", "c1=GAME:B g5=game:k h6=game:q", [0]),
        Case("GAME:B c1 f4", "c1=GAME:B g5=GAME:+K h6=GAME:-Q", [0]),
        Case("GAME:B c1 f4", "c1=GAME:B d2=game:p", []),
        Case("GAME:B c1 f4", "c1=GAME:B e3=GAME:P", []),
        Case("GAME:B c1 f4", "c1=GAME:B f4=game:p", []),
    ],
    "perform-two-promotions": [
        Case("CHESS:P e7 e8", "e7=CHESS:P", [0, 1]),
        Case("CHESS:P e7 e8", "e7=CHESS:P e8=chess:n", []),
        Case("CHESS:P e7 e8", "e8=CHESS:P", []),
    ],
    # Seed 001. "... when all intermediate Squares and the destination are empty."
    "must-deny-simple-move": [
        Case("C:R a1 a4", "a1=C:R", [0]),
        Case("C:R a1 a4", "a1=C:R a5=c:k^ b2=c:p", [0]),
        Case("C:R a1 a4", "a1=C:R a2=c:p", []),
        Case("C:R a1 a4", "a1=C:R a3=C:P", []),
        Case("C:R a1 a4", "a1=C:R a4=c:p", []),
        Case("C:R a1 a4", "a1=C:+R", []),
        Case("C:R a1 a4", "a1=c:r", []),
        Case("C:R a1 a4", "a1=CHESS:R", []),
    ],
    # "Two distinct movement possibilities".
    "must-deny-move-or-capture": [
        Case("C:R a1 a4", "a1=C:R", [0]),
        Case("C:R a1 a4", "a1=C:R a4=c:q", [1]),
        Case("C:R a1 a4", "a1=C:R a4=s:+p", [1]),
        Case("C:R a1 a4", "a1=C:R a4=C:Q", []),
        Case("C:R a1 a4", "a1=C:R a4=c:q a3=c:p", []),
        Case("C:R a1 a4", "a1=C:R a2=C:P", []),
        Case("C:R a1 a4", "a1=C:R a4=C:Q", [1], side="second"),
    ],
    # "... if path Squares are empty and the Rook is in position"; both in Enhanced State.
    "must-deny-castling": [
        Case("C:+K e1 g1", "e1=C:+K h1=C:+R", [0]),
        Case("C:+K e1 g1", "e1=C:+K h1=C:R", []),
        Case("C:+K e1 g1", "e1=C:K h1=C:+R", []),
        Case("C:+K e1 g1", "e1=C:+K h1=c:+r", []),
        Case("C:+K e1 g1", "e1=C:+K h1=C:+R f1=C:B", []),
        Case("C:+K e1 g1", "e1=C:+K h1=C:+R g1=c:n", []),
        # The terminal marker belongs to the identifier: K^ is not K.
        Case("C:+K e1 g1", "e1=C:+K^ h1=C:+R", []),
    ],
    # "... if f6 is empty and f5 contains a vulnerable black Pawn in Diminished State".
    "must-deny-en-passant": [
        Case("C:P e5 f6", "e5=C:P f5=c:-p", [0]),
        Case("C:P e5 f6", "e5=C:P f5=c:p", []),
        Case("C:P e5 f6", "e5=C:P f5=C:-P", []),
        Case("C:P e5 f6", "e5=C:P", []),
        Case("C:P e5 f6", "e5=C:P f5=c:-p f6=c:n", []),
        Case("C:P e5 f6", "e5=C:-P f5=c:-p", []),
    ],
    # "... to advance to e8 if empty, or diagonally Capture to d8 if occupied by an enemy Piece."
    "must-deny-promotion-zone": [
        Case("C:P e7 e8", "e7=C:P", [0]),
        Case("C:P e7 e8", "e7=C:P e8=c:r", []),
        Case("C:P e7 d8", "e7=C:P", []),
        Case("C:P e7 d8", "e7=C:P d8=c:r", [0]),
        Case("C:P e7 d8", "e7=C:P d8=C:R", []),
        Case("C:P e7 e8", "e7=C:P d8=c:r", [0]),
    ],
    # "Pawn in the player's Hand ... when the Square is empty."
    "must-deny-drop-from-hand": [
        Case("S:P * e5", "", [0], {"S:P": 1}),
        Case("S:P * e5", "e4=S:P e6=s:p", [0], {"S:P": 18}),
        Case("S:P * e5", "e5=s:p", [], {"S:P": 1}),
        Case("S:P * e5", "e5=S:P", [], {"S:P": 1}),
        Case("S:P * e5", "", [], {}),
        Case("S:P * e5", "", [], {"s:p": 2}),
        Case("S:P * e5", "", [], {"S:+P": 1, "S:B": 1}),
        Case("S:P * e5", "", [], {"S:P": 0}),
        # Nothing is known about the hands: nothing is checked there.
        Case("S:P * e5", "", [0], None),
        Case("S:P * e5", "e5=s:p", [], None),
    ],
    # "The deny OR logic prevents the drop if any one of those Squares already holds a friendly Pawn."
    "must-deny-drop-with-file-restriction": [
        Case("S:P * e4", "", [0], {"S:P": 1}),
        Case("S:P * e4", "", [0]),
        Case("S:P * e4", "e1=S:P", []),
        Case("S:P * e4", "e9=S:P", []),
        Case("S:P * e4", "e3=S:P e5=S:P", []),
        Case("S:P * e4", "e4=s:r", []),
        Case("S:P * e4", "d3=S:P f5=S:P", [0]),
        # No other *unpromoted* pawn, and no pawn of the opponent's, counts.
        Case("S:P * e4", "e3=S:+P", [0]),
        Case("S:P * e4", "e3=s:p e7=s:p", [0]),
        Case("S:P * e4", "e3=S:P", [], {"S:P": 1}),
        Case("S:P * e4", "", [], {"s:p": 1}),
    ],
    # "... jumping over exactly one Piece: path Squares must be clear except for one platform Piece at b7".
    "must-deny-cannon-capture": [
        Case("x:c b2 b8", "b2=x:c b7=x:s b8=X:G", [0]),
        Case("x:c b2 b8", "b2=x:c b7=X:S b8=C:R", [0]),
        Case("x:c b2 b8", "b2=x:c b8=X:G", []),
        Case("x:c b2 b8", "b2=x:c b7=x:s", []),
        Case("x:c b2 b8", "b2=x:c b7=x:s b8=x:g", []),
        Case("x:c b2 b8", "b2=x:c b5=x:s b7=x:s b8=X:G", []),
        Case("x:c b2 b8", "b2=X:C b7=x:s b8=X:G", []),
        Case("x:c b2 b8", "b2=x:c b7=x:s b8=X:G", [], side="first"),
        Case("x:c b2 b8", "b2=x:c b7=x:s b8=x:g", [0], side="first"),
    ],
    # "... any enemy Piece at a8, except the black King (Terminal Piece)."
    "must-deny-selective-capture": [
        Case("C:R a1 a8", "a1=C:R a8=c:q", [0]),
        Case("C:R a1 a8", "a1=C:R a8=c:k^", []),
        Case("C:R a1 a8", "a1=C:R a8=c:k", [0]),
        Case("C:R a1 a8", "a1=C:R a8=c:+k^", [0]),
        Case("C:R a1 a8", "a1=C:R a8=s:k^", [0]),
        Case("C:R a1 a8", "a1=C:R", []),
        Case("C:R a1 a8", "a1=C:R a8=C:Q", []),
        Case("C:R a1 a8", "a1=C:R a7=c:p a8=c:q", []),
    ],
    # "... with no environmental constraints required."
    "must-deny-knight-jump": [
        Case("C:N b1 c3", "b1=C:N", [0]),
        Case("C:N b1 c3", "b1=C:N c3=c:p", [0]),
        Case("C:N b1 c3", "b1=C:N b2=C:P c3=C:K^", [0]),
        Case("C:N b1 c3", "g1=C:N", []),
        Case("C:N b1 c3", "b1=c:n", []),
    ],
    "must-deny-enhanced-rook": [
        Case("C:+R a1 a4", "a1=C:+R", [0]),
        Case("C:+R a1 a4", "a1=C:R", []),
        Case("C:+R a1 a4", "a1=C:-R", []),
        Case("C:+R a1 a4", "a1=C:+R a3=c:p", []),
        Case("C:+R a1 a4", "a1=C:+R a4=c:p", []),
    ],
    # "... only when the white Pawn is in Diminished State".
    "must-deny-diminished-capture": [
        Case("c:p d4 e3", "d4=c:p e4=C:-P", [0]),
        Case("c:p d4 e3", "d4=c:p e4=C:P", []),
        Case("c:p d4 e3", "d4=c:p e4=C:-P e3=C:N", []),
        Case("c:p d4 e3", "d4=c:p e4=c:-p", []),
        Case("c:p d4 e3", "d4=C:P e4=C:-P", []),
    ],
    # "... each with its own environmental constraints and possibility variations."
    "must-deny-multiple-destinations": [
        Case("C:N e4 c3", "e4=C:N", [0]),
        Case("C:N e4 c3", "e4=C:N c3=c:p", []),
        Case("C:N e4 c5", "e4=C:N", [0]),
        Case("C:N e4 c5", "e4=C:N c5=c:p", [1]),
        Case("C:N e4 c5", "e4=C:N c5=C:P", []),
        Case("C:N e4 d2", "e4=C:N c3=c:p c5=C:P", [0]),
        Case("C:N e4 d2", "e4=C:N d2=C:Q", []),
    ],
    # "Chess Queen and Xiangqi Horse coexisting".
    "must-deny-mixed-styles": [
        Case("C:Q d4 h8", "d4=C:Q", [0]),
        Case("C:Q d4 h8", "d4=C:Q h8=C:R", [0]),
        Case("C:Q d4 h8", "d4=C:Q f6=x:s", []),
        Case("C:Q d4 h8", "d4=X:Q", []),
        Case("x:m b1 d2", "b1=x:m", [0]),
        Case("x:m b1 d2", "b1=x:m c1=x:s", [0]),
        Case("x:m b1 d2", "b1=x:m c1=C:P", []),
        Case("x:m b1 d2", "b1=x:m c1=x:s", [], side="first"),
        Case("x:m b1 d2", "b1=x:m d2=C:P", []),
        Case("x:m b1 d2", "b1=c:m", []),
    ],
    # The words beside this example ask for b6, b7 and b8 to be empty; what it says, by the deny OR logic of its own
    # title, is that none of them is. What a document says is what counts.
    "must-deny-deny-or": [
        Case("x:c b2 b5", "b2=x:c b5=C:R", []),
        Case("x:c b2 b5", "b2=x:c b5=C:R b6=C:P", []),
        Case("x:c b2 b5", "b2=x:c b5=C:R b6=C:P b7=C:P", []),
        Case("x:c b2 b5", "b2=x:c b5=C:R b7=C:P b8=C:P", []),
        Case("x:c b2 b5", "b2=x:c b5=C:R b6=C:P b7=x:s b8=C:P", [0]),
        Case("x:c b2 b5", "b2=x:c b6=C:P b7=x:s b8=C:P", []),
        Case("x:c b2 b5", "b2=x:c b4=x:s b5=C:R b6=C:P b7=x:s b8=C:P", []),
    ],
    # "Displacement to an empty Square, or Capture of any enemy Piece except the black King (Terminal Piece)."
    "must-deny-conditional-path": [
        Case("C:B a1 h8", "a1=C:B", [0]),
        Case("C:B a1 h8", "a1=C:B h8=c:r", [1]),
        Case("C:B a1 h8", "a1=C:B h8=c:k^", []),
        Case("C:B a1 h8", "a1=C:B h8=c:k", [1]),
        Case("C:B a1 h8", "a1=C:B h8=C:R", []),
        Case("C:B a1 h8", "a1=C:B d4=c:p", []),
        Case("C:B a1 h8", "a1=C:B g7=C:P h8=c:r", []),
    ],
    # Seed 003. board_state = { "e2" => "C:P", "e3" => nil, "e4" => nil }
    "diff-quick-start": [
        Case("C:P e2 e4", "e2=C:P e3= e4=", [0]),
        Case("C:P e2 e4", "e2=C:P", [0]),
        Case("C:P e2 e4", "e2=C:P e3=c:n", []),
        Case("C:P e2 e4", "e2=C:P e4=c:n", []),
        Case("C:P e2 e4", "e2=C:P e3=C:P", []),
        Case("C:P e2 e4", "e3= e4=", []),
        Case("C:P e2 e4", "e2=c:p", []),
    ],
    # board = { "e1" => "C:K", "e2" => nil }
    "diff-simple-movement": [
        Case("C:K e1 e2", "e1=C:K e2=", [0]),
        Case("C:K e1 e2", "e1=C:K d1=C:Q e8=c:k e2= f3=", [0]),
        Case("C:K e1 e2", "e1=C:K e2=C:P", []),
        Case("C:K e1 e2", "e1=C:K e2=c:p", []),
        Case("C:K e1 e2", "d1=C:K", []),
        Case("C:K e1 e2", "e1=C:K^", []),
    ],
    # board = { "e4" => "C:P", "f5" => "c:p" }
    "diff-capture": [
        Case("C:P e4 f5", "e4=C:P f5=c:p", [0]),
        Case("C:P e4 f5", "e4=C:P f5=s:+p", [0]),
        Case("C:P e4 f5", "e4=C:P", []),
        Case("C:P e4 f5", "e4=C:P f5=C:N", []),
        Case("C:P e4 f5", "e4=C:P d5=c:p", []),
        Case("C:P e4 f5", "e4=C:P f5=C:N", [0], side="second"),
    ],
    # board = { "e7" => "C:P", "e8" => nil }
    "diff-promotion-choices": [
        Case("C:P e7 e8", "e7=C:P e8=", [0, 1]),
        Case("C:P e7 e8", "e7=C:P e8=c:k", []),
        Case("C:P e7 e8", "e7=C:Q", []),
    ],
    # board = { "e1" => "C:+K", "f1" => nil, "g1" => nil, "h1" => "C:+R" }
    "diff-castling": [
        Case("C:+K e1 g1", "e1=C:+K f1= g1= h1=C:+R", [0]),
        Case("C:+K e1 g1", "e1=C:+K h1=C:R", []),
        Case("C:+K e1 g1", "e1=C:K h1=C:+R", []),
        Case("C:+K e1 g1", "e1=C:+K g1=C:N h1=C:+R", []),
    ],
    # board = { "e5" => "C:P", "f5" => "c:-p", "f6" => nil }
    "diff-en-passant": [
        Case("C:P e5 f6", "e5=C:P f5=c:-p f6=", [0]),
        Case("C:P e5 f6", "e5=C:P f5=c:-p", [0], {}),
        Case("C:P e5 f6", "e5=C:P f5=c:p", []),
        Case("C:P e5 f6", "e5=C:P f5=c:-p f6=C:N", []),
        Case("C:P e5 f6", "e5=C:P f5=C:-P", []),
    ],
    # board = { "e4" => nil, "e5" => nil }: no pawns on the file, and nothing said about the hands
    "diff-drop": [
        Case("S:P * e4", "e4= e5=", [0]),
        Case("S:P * e4", "", [0], {"S:P": 1}),
        Case("S:P * e4", "", [], {}),
        Case("S:P * e4", "", [], {"s:p": 1}),
        Case("S:P * e4", "e7=S:P", []),
        Case("S:P * e4", "e7=S:P", [], {"S:P": 3}),
        Case("S:P * e4", "e7=s:p", [0], {"S:P": 3}),
        Case("S:P * e4", "e7=S:+P", [0]),
        Case("S:P * e4", "e4=s:p", []),
    ],
}
LISTED = [
    pytest.param(name, case, id=f"seed-{seed_of(name)}-{name}-{number}")
    for name, cases in CASES.items()
    for number, case in enumerate(cases)
]


@pytest.fixture(scope="module")
def library(module_store: Store) -> Store:
    """A store with every example, by the name of its file."""
    for path in sorted(EXAMPLES.glob("*.json")):
        module_store.load(path)
    return module_store


def test_every_example_has_positions_in_which_it_holds_and_in_which_it_does_not() -> None:
    assert set(CASES) == set(WRITTEN)
    for name, cases in CASES.items():
        entries = {tuple(case.entry.split()) for case in cases}
        held = {(*case.entry.split(), ordinal) for case in cases for ordinal in case.holds}
        rules = list(reference.possibilities(json.loads(WRITTEN[name])))
        assert {rule[:3] for rule in rules} == entries
        assert {rule[:4] for rule in rules} == held, f"some possibility of {name} holds in no position"
        assert any(case.holds == [] for case in cases)


@pytest.mark.parametrize(("name", "case"), LISTED)
def test_an_example_holds_exactly_where_its_text_says(library: Store, name: str, case: Case) -> None:
    piece, source, destination = case.entry.split()
    board = board_of(case.board)
    own: Side = "first" if piece[0].isupper() else "second"
    side = case.side or own
    ruleset = library.ruleset(name)
    asked = ruleset.select(piece).from_(source).to(destination)
    held = asked.where(board, side=case.side, hands=case.hands)
    assert [(move.piece, move.source, move.destination) for move in held] == [(piece, source, destination)] * len(held)
    assert [move.ordinal for move in held] == case.holds
    # The same through a position, through the question about everything, and by the plain reading of the text.
    position = Position(board, case.hands, side)
    assert asked.where(position, side=side) == held
    of_entry = [
        move for move in ruleset.moves(position) if f"{move.piece} {move.source} {move.destination}" == case.entry
    ]
    assert of_entry == (held if side == own else [])
    plain = json.loads(WRITTEN[name])
    assert reference.holds(plain, piece, source, destination, board, case.hands, side) == case.holds


@by_name
def test_an_example_comes_out_of_the_store_as_it_went_in(library: Store, name: str) -> None:
    assert library.ruleset(name).export() == (EXAMPLES / f"{name}.json").read_text("utf-8")


# --- what the examples do ---


class Done(NamedTuple):
    """A possibility of a document, a board before it and after it, and the same of what is in the hands."""

    name: str
    entry: str
    ordinal: int
    before: str
    after: str
    hands: dict[str, int] | None = None
    hands_after: dict[str, int] | None = None


DONE = [
    Done("perform-simple-move", "GAME:X c3 c5", 0, "c3=GAME:X c4=game:y", "c4=game:y c5=GAME:X"),
    Done("perform-capture", "GAME:X c3 d4", 0, "c3=GAME:X d4=game:x e5=game:x", "d4=GAME:X e5=game:x"),
    *(
        Done("perform-promotion-choices", "CHESS:P e7 e8", ordinal, "e7=CHESS:P a1=CHESS:K", f"e8={piece} a1=CHESS:K")
        for ordinal, piece in enumerate(["CHESS:Q", "CHESS:R", "CHESS:N", "CHESS:B"])
    ),
    Done("perform-optional-promotion", "SHOGI:P 1g 1f", 0, "1g=SHOGI:P", "1f=SHOGI:P"),
    Done("perform-optional-promotion", "SHOGI:P 1g 1f", 1, "1g=SHOGI:P", "1f=SHOGI:+P"),
    Done("perform-castling", "CHESS:K e1 g1", 0, "e1=CHESS:K h1=CHESS:R", "f1=CHESS:R g1=CHESS:K"),
    # What is in the hands is no business of the first seed's, and stays.
    Done("perform-simple-move", "GAME:X c3 c5", 0, "c3=GAME:X", "c5=GAME:X", {"GAME:X": 2}, {"GAME:X": 2}),
    Done("diff-quick-start", "C:P e2 e4", 0, "e2=C:P e8=c:k", "e4=C:P e8=c:k"),
    Done("diff-capture", "C:P e4 f5", 0, "e4=C:P f5=c:p", "f5=C:P", {}, {}),
    Done("diff-promotion-choices", "C:P e7 e8", 0, "e7=C:P", "e8=C:Q"),
    Done("diff-promotion-choices", "C:P e7 e8", 1, "e7=C:P", "e8=C:N"),
    Done("diff-castling", "C:+K e1 g1", 0, "e1=C:+K h1=C:+R", "f1=C:R g1=C:K"),
    # The captured pawn goes to the hand that its case names, as the document writes it.
    Done("diff-en-passant", "C:P e5 f6", 0, "e5=C:P f5=c:-p", "f6=C:P"),
    Done("diff-en-passant", "C:P e5 f6", 0, "e5=C:P f5=c:-p", "f6=C:P", {}, {"c:p": 1}),
    Done("diff-en-passant", "C:P e5 f6", 0, "e5=C:P f5=c:-p", "f6=C:P", {"c:p": 1, "C:P": 1}, {"c:p": 2, "C:P": 1}),
    Done("diff-drop", "S:P * e4", 0, "e5=s:p", "e4=S:P e5=s:p"),
    Done("diff-drop", "S:P * e4", 0, "", "e4=S:P", {"S:P": 1}, {}),
    Done("diff-drop", "S:P * e4", 0, "", "e4=S:P", {"S:P": 3, "s:p": 1}, {"S:P": 2, "s:p": 1}),
]
# Seed 001 says nothing of effects; these are what plain displacement makes of its moves, for callers who mean it.
ASSUMED = [
    Done("must-deny-simple-move", "C:R a1 a4", 0, "a1=C:R", "a4=C:R"),
    Done("must-deny-move-or-capture", "C:R a1 a4", 1, "a1=C:R a4=c:q", "a4=C:R", {}, {}),
    Done("must-deny-castling", "C:+K e1 g1", 0, "e1=C:+K h1=C:+R", "g1=C:+K h1=C:+R"),
    Done("must-deny-en-passant", "C:P e5 f6", 0, "e5=C:P f5=c:-p", "f5=c:-p f6=C:P"),
    Done("must-deny-drop-from-hand", "S:P * e5", 0, "", "e5=S:P", {"S:P": 2}, {"S:P": 1}),
    Done("must-deny-drop-from-hand", "S:P * e5", 0, "", "e5=S:P"),
    Done("must-deny-cannon-capture", "x:c b2 b8", 0, "b2=x:c b7=x:s b8=X:G", "b7=x:s b8=x:c"),
]


def the_move(ruleset: Ruleset, done: Done, position: Position) -> Move:
    """The move that `done` is about, from the list of all that hold."""
    return next(
        move
        for move in ruleset.moves(position)
        if (f"{move.piece} {move.source} {move.destination}", move.ordinal) == (done.entry, done.ordinal)
    )


def positions_of(done: Done) -> tuple[Position, Position]:
    """The position before, in which the piece's side is to move, and the one after, in which the other is."""
    side: Side = "first" if done.entry[0].isupper() else "second"
    other: Side = "second" if side == "first" else "first"
    return (
        Position(board_of(done.before), done.hands, side),
        Position(board_of(done.after), done.hands_after, other),
    )


def done_id(done: Done) -> str:
    return f"seed-{seed_of(done.name)}-{done.name}-{done.ordinal}"


@pytest.mark.parametrize("done", DONE, ids=done_id)
def test_the_effects_of_an_example_are_applied_as_it_writes_them(library: Store, done: Done) -> None:
    ruleset = library.ruleset(done.name)
    before, after = positions_of(done)
    move = the_move(ruleset, done, before)
    piece, source, destination = done.entry.split()
    possibility = json.loads(WRITTEN[done.name])[piece][source][destination][done.ordinal]
    diff = possibility.get("diff", {"board": possibility.get("perform")})
    assert move.effects == Transition(diff["board"], diff.get("hands", {}), diff.get("toggle", True))
    assert not move.assumed
    assert ruleset.apply(before, move) == after


@pytest.mark.parametrize("done", ASSUMED, ids=done_id)
def test_an_example_of_seed_001_is_applied_only_where_displacement_is_assumed(library: Store, done: Done) -> None:
    ruleset = library.ruleset(done.name)
    before, after = positions_of(done)
    move = the_move(ruleset, done, before)
    assert (move.effects, move.assumed) == (None, False)
    with pytest.raises(MoveError, match="displacement"):
        ruleset.apply(before, move)
    assert ruleset.apply(before, move, assume="displacement") == after
    [assumed] = [each for each in ruleset.moves(before, assume="displacement") if each.ordinal == move.ordinal]
    assert assumed.assumed
    assert assumed.effects is not None
    assert ruleset.apply(before, assumed) == after


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


# --- seed 003: the interface, in Python's words ---

QUICK_START = json.loads(SEED_003["quick-start"])
# A rook of the first and a king of the second player, a pawn with two promotions, and castling: for the questions
# that the seed asks of a game.
GAME: Mapping[str, Any] = {
    "C:R": {
        "a1": {
            "a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}],
            "b1": [{"must": {"b1": "enemy"}, "diff": {"board": {"a1": None, "b1": "C:R"}, "hands": {"c:r": 1}}}],
        }
    },
    **json.loads(SEED_003["promotion-choices"]),
    **json.loads(SEED_003["castling"]),
    "c:k": {"e8": {"e7": [{"must": {"e7": "enemy"}, "diff": {"board": {"e8": None, "e7": "c:k"}, "toggle": False}}]}},
}


def test_the_quick_start_of_seed_003_is_as_short_here(capsys: pytest.CaptureFixture[str]) -> None:
    ruleset = ggn_store.ruleset(QUICK_START)
    engine = ruleset.select("C:P").from_("e2").to("e4")
    transitions = engine.where({"e2": "C:P", "e3": None, "e4": None})
    if transitions:
        print("Move is possible!")
        for transition in transitions:
            print(f"State changes: {transition.effects}")
    assert capsys.readouterr().out == 'Move is possible!\nState changes: {"board":{"e2":null,"e4":"C:P"}}\n'


def test_parse_and_valid_of_seed_003_take_decoded_data() -> None:
    assert ggn_store.is_valid(QUICK_START)
    assert not ggn_store.is_valid({"C:P": {"e2": {"e4": [{"must": {}, "deny": {}, "diff": {"bord": {}}}]}}})
    assert ggn_store.parse(QUICK_START).dialect == "diff"
    # "Validate data before parsing."
    with pytest.raises(DocumentError):
        ggn_store.ruleset({"C:P": {"e2": {"e4": []}}})


def test_the_navigation_chain_of_seed_003_goes_from_piece_to_moves() -> None:
    ruleset = ggn_store.ruleset(GAME)
    assert list(ruleset.pieces) == ["C:R", "C:P", "C:+K", "c:k"]
    source = ruleset.select("C:R")
    assert list(source.sources) == ["a1"]
    destination = source.from_("a1")
    assert list(destination.destinations) == ["a2", "b1"]
    board = {"a1": "C:R", "b1": "c:r"}
    assert [move.destination for move in ruleset.moves(board)] == ["a2", "b1"]
    assert [destination.to(square).where(board) for square in ("a2", "b1")] == [[move] for move in ruleset.moves(board)]
    # One engine answers for as many boards as it is asked.
    engine = destination.to("b1")
    assert [len(engine.where(each)) for each in ({}, board, {"a1": "C:R"}, {"a1": "C:R", "b1": "C:R"}, board)] == [
        *(0, 1, 0, 0, 1)
    ]


def test_pseudo_legal_transitions_of_seed_003_are_the_moves_by_piece_source_and_destination() -> None:
    ruleset = ggn_store.ruleset(GAME)
    board = {"a1": "C:R", "e7": "C:P", "e1": "C:+K", "h1": "C:+R", "b1": "c:r", "e8": None, "f1": None, "g1": None}
    found = [
        (*entry, [move.effects.board for move in moves if move.effects])
        for entry, moves in itertools.groupby(
            ruleset.moves(board), key=lambda move: (move.piece, move.source, move.destination)
        )
    ]
    assert found == [
        ("C:R", "a1", "a2", [{"a1": None, "a2": "C:R"}]),
        ("C:R", "a1", "b1", [{"a1": None, "b1": "C:R"}]),
        ("C:P", "e7", "e8", [{"e7": None, "e8": "C:Q"}, {"e7": None, "e8": "C:N"}]),
        ("C:+K", "e1", "g1", [{"e1": None, "f1": "C:R", "g1": "C:K", "h1": None}]),
    ]
    # Its filters: one piece, "captures" (in its words, more than one square filled), promotions.
    assert [move.piece for move in ruleset.moves(board, piece="C:+K")] == ["C:+K"]
    assert [piece for piece, _, _, boards in found if any(len(set(each.values()) - {None}) > 1 for each in boards)] == [
        "C:+K"
    ]
    assert [piece for piece, _, _, boards in found if len(boards) > 1] == ["C:P"]


def test_a_transition_of_seed_003_is_the_effects_of_a_move() -> None:
    ruleset = ggn_store.ruleset(GAME)
    [capture] = ruleset.select("C:R").from_("a1").to("b1").where({"a1": "C:R", "b1": "c:r"})
    assert capture.effects is not None
    assert capture.effects.board == {"a1": None, "b1": "C:R"}
    assert capture.effects.hands == {"c:r": 1}
    assert capture.effects.toggle is True
    [king] = ruleset.select("c:k").from_("e8").to("e7").where({"e8": "c:k", "e7": "C:P"})
    assert king.effects is not None
    assert (king.effects.hands, king.effects.toggle) == ({}, False)
    position = Position({"e8": "c:k", "e7": "C:P"}, side="second")
    assert ruleset.apply(position, king) == Position({"e7": "c:k"}, side="second")


def test_unknown_names_raise_a_key_error_seed_003() -> None:
    ruleset = ggn_store.ruleset(QUICK_START)
    source = ruleset.select("C:P")
    destination = source.from_("e2")
    for ask, name in (
        (ruleset.select, "INVALID:X"),
        (ruleset.select, "c:p"),
        (ruleset.select, ""),
        (source.from_, "invalid_square"),
        (source.from_, "e4"),
        (source.from_, "*"),
        (destination.to, "e3"),
        (destination.to, "z9"),
    ):
        with pytest.raises(KeyError) as caught:
            ask(name)
        assert isinstance(caught.value, GgnStoreError)
        assert f'"{name}"' in str(caught.value)
        assert "C:P" in str(caught.value) or "e2" in str(caught.value), "the message says what there is"


def test_values_are_frozen_seed_003() -> None:
    ruleset = ggn_store.ruleset(QUICK_START)
    [move] = ruleset.moves({"e2": "C:P"})
    for value, name in (
        (move, "piece"),
        (move.effects, "toggle"),
        (Position({}), "side"),
        (ruleset.document(), "dialect"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, None)


class ChessEngine:
    """The example of seed 003, "Building Game Engines", in Python."""

    def __init__(self, ggn_data: Mapping[str, Any]) -> None:
        self.ruleset = ggn_store.ruleset(ggn_data)

    def pseudo_legal_moves(self, board: Mapping[str, str | None]) -> list[Move]:
        return self.ruleset.moves(board)

    def is_valid_move(self, piece: str, source: str, destination: str, board: Mapping[str, str | None]) -> bool:
        try:
            return bool(self.ruleset.select(piece).from_(source).to(destination).where(board))
        except KeyError:
            return False

    def make_move(
        self, piece: str, source: str, destination: str, board: Mapping[str, str | None], choice_index: int = 0
    ) -> Mapping[str, str | None] | None:
        moves = self.ruleset.select(piece).from_(source).to(destination).where(board)
        return self.ruleset.apply(Position(board), moves[choice_index]).board if moves else None


def test_the_engine_of_seed_003_checks_and_makes_moves() -> None:
    engine = ChessEngine(QUICK_START)
    board = {"e2": "C:P", "e3": None, "e4": None}
    assert engine.is_valid_move("C:P", "e2", "e4", board)
    assert engine.make_move("C:P", "e2", "e4", board) == {"e4": "C:P"}
    assert board == {"e2": "C:P", "e3": None, "e4": None}
    assert len(engine.pseudo_legal_moves(board)) == 1
    assert not engine.is_valid_move("C:P", "e2", "e4", {**board, "e3": "c:n"})
    assert engine.make_move("C:P", "e2", "e4", {**board, "e3": "c:n"}) is None
    for unknown in (("C:Q", "e2", "e4"), ("C:P", "e3", "e4"), ("C:P", "e2", "e5"), ("INVALID:X", "", "")):
        assert not engine.is_valid_move(*unknown, board)
    promotion = ChessEngine(json.loads(SEED_003["promotion-choices"]))
    assert promotion.make_move("C:P", "e7", "e8", {"e7": "C:P"}) == {"e8": "C:Q"}
    assert promotion.make_move("C:P", "e7", "e8", {"e7": "C:P"}, choice_index=1) == {"e8": "C:N"}
    with pytest.raises(IndexError):
        promotion.make_move("C:P", "e7", "e8", {"e7": "C:P"}, choice_index=2)


def test_a_hybrid_game_of_seed_003_has_pieces_of_several_games() -> None:
    def step(piece: str, source: str, destination: str, **conditions: Any) -> dict[str, Any]:
        diff = {"board": {source: None, destination: piece}}
        return {source: {destination: [{"must": {destination: "empty"}, "deny": {}, "diff": diff} | conditions]}}

    hybrid = ggn_store.ruleset(
        {
            "C:K": step("C:K", "e1", "e2"),
            "S:G": step("S:G", "e5", "e6"),
            "X:C": step("X:C", "e5", "e9", must={"e9": "enemy"}, deny={"e7": "empty"}),
        }
    )
    assert list(hybrid.select("C:K").from_("e1").destinations) == ["e2"]
    assert list(hybrid.select("S:G").from_("e5").destinations) == ["e6"]
    assert list(hybrid.select("X:C").from_("e5").destinations) == ["e9"]
    with pytest.raises(KeyError, match="5e"):
        hybrid.select("S:G").from_("5e")
    board = {"e1": "C:K", "e5": "S:G", "e9": "c:k"}
    assert [(move.piece, move.destination) for move in hybrid.moves(board)] == [("C:K", "e2"), ("S:G", "e6")]
    board = {"e1": "C:K", "e5": "X:C", "e7": "s:p", "e9": "c:k"}
    assert [(move.piece, move.destination) for move in hybrid.moves(board)] == [("C:K", "e2"), ("X:C", "e9")]


def test_the_working_board_of_seed_003_may_name_squares_that_no_rule_does() -> None:
    board = {"e1": "C:K", "d1": "C:Q", "e8": "c:k", "e2": None, "f3": None}
    ruleset = ggn_store.ruleset(SEED_003["simple-movement"])
    [move] = ruleset.moves(board)
    assert ruleset.apply(board, move) == Position({"d1": "C:Q", "e2": "C:K", "e8": "c:k"}, side="second")
