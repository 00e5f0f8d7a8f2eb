"""Problems of specifications that show only when they are compiled."""

from __future__ import annotations

from ggn_store.errors import Problem, quote
from ggn_store.gdl.specification import Clause, Place


def problem(
    section: str,
    place: Place,
    message: str,
    *,
    action: str | None = None,
    clause: Clause | None = None,
    at: int = 0,
    found: object = None,
    allowed: str | None = None,
) -> Problem:
    """A problem at a place, or at a character of the expression that stands there."""
    return Problem(message, place.pointer, place.line, place.column, None, None if found is None else quote(found), allowed)
