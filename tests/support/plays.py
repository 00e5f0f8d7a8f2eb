"""Texts that declare no play, each with a part of what is said of it."""

from __future__ import annotations

from typing import Any

HOSTILE: list[tuple[Any, str]] = [
    ("{", "it is no JSON"),
    ("[" * 100_000, "it is no JSON"),
    ('"' + "x" * 1_000_001, "the text may have at most 1,000,000"),
    ('{"outcome":[{"when":"line","verdict":"win","count":' + "9" * 5_000 + "}]}", "it is no JSON"),
    ([], "play: play is a table; found []; allowed: a table with the keys duties, reverts, crossing, outcome, host"),
    ({"moves": []}, 'play/moves: play has no such key; found "moves"; allowed: duties, '),
    ({"duties": "pass"}, 'play/duties: duties is a list; found "pass"'),
    ({"duties": ["win"]}, 'play/duties/0: it is one of a few words; found "win"; allowed: royal-safety, '),
    (
        {"duties": [{"name": "pass", "to": 1}]},
        'play/duties/0/to: a duty has no such key; found "to"',
    ),
    ({"duties": [{"pieces": ["C:P"]}]}, "play/duties/0/name: it is one of a few words; found null"),
    ({"duties": ["pass", {"name": "pass", "pieces": ["C:P"]}]}, "play/duties/1: duties has this twice"),
    ({"duties": [{"name": "pass", "pieces": []}]}, "play/duties/0/pieces: pieces is empty"),
    ({"duties": [{"name": "pass", "pieces": [["C:P"]]}]}, "play/duties/0/pieces/0: it is no piece or square"),
    ({"duties": [{"name": "pass", "pieces": ["\x00"]}]}, "play/duties/0/pieces/0: it is no piece or square"),
    ({"duties": [{"name": "pass", "pieces": ["x" * 256]}]}, "allowed: a text of 1 to 255 characters"),
    ({"duties": ["pass"] * 2_501}, "play/duties: the list is too long"),
    ({"reverts": []}, "play/reverts: reverts is a table of pieces"),
    ({"reverts": {"C:-P": 1}}, "play/reverts/C:-P: it is no piece or square; found 1"),
    ({"crossing": [{"piece": "C:K"}]}, "play/crossing/0/source: it is no piece or square; found null"),
    (
        {"crossing": [{"piece": "C:K", "source": "e1", "destination": "g1"}]},
        "play/crossing/0/through: a crossing says which squares it crosses",
    ),
    ({"outcome": {}}, "play/outcome: outcome is a list"),
    (
        {"outcome": [{"when": "never", "verdict": "win"}]},
        'outcome/0/when: it is one of a few words; found "never"',
    ),
    ({"outcome": [{"when": "bare"}]}, "play/outcome/0/verdict: it is one of a few words; found null"),
    ({"outcome": [{"when": "goal", "verdict": "win"}]}, "play/outcome/0/squares: an outcome of the kind goal says its"),
    ({"outcome": [{"when": "bare", "verdict": "win", "count": 1}]}, "an outcome of the kind bare has no such key"),
    ({"outcome": [{"when": "line", "verdict": "win", "count": 0}]}, "allowed: a whole number from 1 to 1,000,000"),
    ({"outcome": [{"when": "line", "verdict": "win", "count": True}]}, "play/outcome/0/count: count says how many"),
    ({"outcome": [{"when": "no-move", "verdict": "win", "in_check": 1}]}, "in_check says yes or no; found 1"),
    ({"outcome": [{"when": "bare", "verdict": "win"}] * 2}, "play/outcome/1: outcome has this twice"),
    ({"outcome": [{"when": "connection", "verdict": "win"}]}, "an outcome of the kind connection says its ways"),
    ({"outcome": [{"when": "connection", "verdict": "win", "ways": ["1,0"]}]}, 'ways has no such text; found "1,0"'),
    ({"outcome": [{"when": "connection", "verdict": "win", "ways": [1]}]}, "it is no piece or square; found 1"),
    (
        {"outcome": [{"when": "connection", "verdict": "win", "edges": ["a1  a2"], "ways": ["1 0"]}]},
        'edges has no such text; found "a1  a2"; allowed: ["a1 b1 c1", ...]',
    ),
    ({"outcome": [{"when": "goal", "verdict": "win", "squares": ["a1"], "ways": ["1 0"]}]}, "has no such key"),
    ({"host": ["royal-safety"]}, 'play/host/0: it is one of a few words; found "royal-safety"; allowed: bikjang'),
    ({}, "declares no play in its canonical form"),
    ({"duties": ["royal-safety", "pass"]}, "declares no play in its canonical form"),
]
