"""Where the rules mention a piece, a state or a state variable."""

from __future__ import annotations

from dataclasses import dataclass

from ggn_store.model.record import Record


@dataclass(frozen=True, slots=True)
class Uses(Record):
    """How many possibilities of a piece mention what was asked for in a role, and how often.

    The roles: `rules`, possibilities of its own; `must` and `deny`, conditions; `board` and `hand`, effects. Of a state
    variable: `when`, values that a possibility lets it have, each of them a mention; and `state`, its new value.
    """

    piece: str
    role: str
    possibilities: int
    mentions: int


@dataclass(frozen=True, slots=True)
class Use(Record):
    """One mention, in a possibility; `square` is that of the condition or effect on the board, None for other roles."""

    piece: str
    source: str
    destination: str
    ordinal: int
    role: str
    square: str | None
