"""One thing that is suspicious in a specification."""

from __future__ import annotations

from dataclasses import dataclass

from ggn_store.gdl.specification import Clause, Location


@dataclass(frozen=True, slots=True)
class Finding:
    """Something suspicious at a place; with the clause and the character in it, where it is about one."""

    code: str
    message: str
    place: Location
    clause: Clause | None = None
    at: int = 0
