"""A ray of more squares than a lane has facts, with two alternatives at each, and boards on which it ends early."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ggn_store.notation import cell

_WALK = [cell.text((x, 0)) for x in range(1, 130)]
DOCUMENT: dict[str, Any] = {
    "C:R": {
        "a1": {
            square: [
                {"must": dict.fromkeys(_WALK[:at], "empty") | {square: state}}
                for state in ("empty", "enemy", "c:p", "c:r")  # the last two are alternatives
            ]
            for at, square in enumerate(_WALK)
        }
    }
}


def boards(pieces: Sequence[str]) -> list[dict[str, str | None]]:
    """Boards with one of the pieces on some squares of the ray."""
    listed: list[dict[str, str | None]] = []
    for places in ((), (0,), (61, 80), (62,), (128,)):
        for piece in pieces:
            listed.append({"a1": "C:R", **{_WALK[at]: piece for at in places}})
    return listed
