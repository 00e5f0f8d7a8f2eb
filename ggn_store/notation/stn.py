"""STN: what a move changes on the board, in the hands and in the turn (Sashité STN; `diff` in Ggn.rb)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ggn_store.notation import json_text

MAX_HAND_DELTA = 1_000_000

# One for all transitions that change no state variable, of which a document can have millions.
_STATELESS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Transition:
    """What a move changes.

    `board`: square -> the piece that stands there afterwards, None for an empty square. `hands`: piece ->
    how many more of it (fewer, if negative) are in the hand of the side that its case names. `toggle`:
    whether the turn passes. `state`: state variable -> its new value, which is no part of STN and of the rules
    of the dialect `gdl` only.
    """

    board: Mapping[str, str | None] = field(default_factory=dict)
    hands: Mapping[str, int] = field(default_factory=dict)
    toggle: bool = True
    state: Mapping[str, str] = field(default_factory=lambda: _STATELESS)

    def data(self) -> dict[str, Any]:
        """The canonical JSON object: empty parts and a true `toggle` are left out, maps sorted."""
        data: dict[str, Any] = {}
        if self.board:
            data["board"] = dict(sorted(self.board.items()))
        if self.hands:
            data["hands"] = dict(sorted(self.hands.items()))
        if not self.toggle:
            data["toggle"] = False
        if self.state:
            data["state"] = dict(sorted(self.state.items()))
        return data

    def __str__(self) -> str:
        return json_text.compact(self.data())


def is_delta(value: object) -> bool:
    """Whether `value` is a count that a hand can change by: a whole number other than zero.

    JSON has one kind of number, so 1.0 is the whole number 1, as in JSON Schema.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return False
    return value == value // 1 and 0 < abs(value) <= MAX_HAND_DELTA
