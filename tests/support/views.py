"""Games that fill every view, and rows as dictionaries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import text

from ggn_store import Store
from ggn_store.documents.ggn import parse
from ggn_store.model.documents.document import Document
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import Crossing, Duty, Outcome, Play

Row = dict[str, Any]
GAMES: dict[str, dict[str, Any]] = {
    "diff": {
        "C:+P^": {
            "a1": {
                "a2": [
                    {"must": {"a2": "empty", "b1": "c:p"}, "diff": {"board": {"a1": None, "a2": "C:+P^"}}},
                    {"must": {"a2": "c:p"}, "deny": {"b1": "enemy"}, "diff": {"hands": {"C:P": 1, "c:p": -1}}},
                ],
                "*": [{"diff": {"toggle": False}}],
            },
            "*": {"b2": [{"deny": {"b2": "C:P"}, "diff": {"board": {"b2": "C:P"}, "hands": {"C:+P^": -1}}}]},
        },
        "c:p'": {"b1": {"a1": [{"must": {"a1": "enemy"}, "diff": {}}], "b2": [{"diff": {}}]}},
    },
    "must-deny": {"C:P": {"*": {"a1": [{"must": {"a1": "empty"}}]}, "a1": {"b2": [{}, {"deny": {"b2": "C:P"}}]}}},
    "perform": {
        "CHESS:-P": {"x": {"y z": [{"require": {"y z": "enemy"}, "perform": {"x": None, "y z": "CHESS:-P"}}]}},
        "chess:p": {"y z": {"x": [{"prevent": {"x": "chess:p"}, "perform": {"x": "chess:p", "y z": None}}]}},
    },
    "gdl": {
        "$state": {"ep": {"values": ["3", "none"], "initial": "none"}},
        "D:M": {
            "Alaska": {
                "x": [
                    {
                        "action": {"name": "jump", "step": 1, "chainable": True},
                        "when": {"ep": ["3", "none"]},
                        "diff": {"board": {"Alaska": None}, "state": {"ep": "3"}},
                    },
                    {"when": {"ep": ["3"]}, "must": {"x": "enemy"}, "diff": {"toggle": False}},
                ]
            }
        },
    },
}

PLAY = Play(
    (Duty("no-drop-mate", ("D:M", "d:m")), Duty("pass")),
    {"D:+M": "D:M"},
    (Crossing("D:M", "Alaska", "x", ("x", "Alaska")),),
    (
        Outcome("no-move", "draw", in_check=False),
        Outcome("goal", "win", "first", ("D:M",), ("Alaska", "x"), 2, safe=True, answered=True),
        Outcome("extinct", "majority", count=0, other=2),
        Outcome("repetition", "draw", count=4, perpetual=True),
        Outcome("connection", "win", edges=("Alaska", "x Alaska"), ways=("0 1", "1 -1")),
    ),
    ("history", "side-effects"),
)


# It has the pieces that PLAY names and the rules do not.
START = '{"board":{"Alaska":"D:+M","x":"d:m"},"side":"first"}'


def played() -> Document:
    """A document that fills every view."""
    document = parse(GAMES["gdl"])
    return replace(document, envelope=replace(document.envelope, start=START, play=play_text.text(PLAY)))


def rows(store: Store, query: str, **values: Any) -> list[Row]:
    with store.session.reading() as connection:
        return [dict(row._mapping) for row in connection.execute(text(query), values)]
