"""The examples of the texts that the project comes from, as they write them.

Seed 000 is the GGN specification, 001 its examples, 003 Ggn.rb. In canonical form the examples stand in data/examples.
"""

from __future__ import annotations

SEED = {"perform": "000", "must-deny": "001", "diff": "003"}

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


def board_of(text: str) -> dict[str, str | None]:
    return {square: piece or None for square, _, piece in (part.partition("=") for part in text.split())}
