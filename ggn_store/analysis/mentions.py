"""Where the rules mention a piece, a state or a state variable."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Uses:
    """How many possibilities of a piece mention what was asked for in a role, and how often.

    The roles: `rules`, possibilities of its own; `must` and `deny`, conditions; `board` and `hand`, effects. Of a state
    variable: `when`, values that a possibility lets it have, each of them a mention; and `state`, its new value.
    """

    piece: str
    role: str
    possibilities: int
    mentions: int

    def data(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Use:
    """One mention, in a possibility; `square` is that of the condition or effect on the board, None for other roles."""

    piece: str
    source: str
    destination: str
    ordinal: int
    role: str
    square: str | None

    def data(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)
