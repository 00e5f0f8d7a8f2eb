"""Dead rules: possibilities that never apply, or that could be left out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["never", "duplicate", "shadowed", "unreachable", "absent"]


@dataclass(frozen=True, slots=True)
class Dead:
    """A possibility that adds nothing to the rules, and why.

    - `never`: the conditions contradict each other, or what stands on the source; `square` and `state` of one of them;
    - `duplicate`: the conditions and effects are those of an earlier possibility of the destination, number `by`;
    - `shadowed`: possibility `by` of the destination has the same effects, and holds whenever this one does;
    - `unreachable`: the piece never comes to stand on the source; of all `possibilities` from there at once;
    - `absent`: what must stand on `square`, a piece or an enemy, never comes to stand there.

    The last two are told of rulesets with a start position; what comes to stand where, `coverage` says.
    """

    kind: Kind
    piece: str
    source: str
    destination: str | None = None
    ordinal: int | None = None
    by: int | None = None
    square: str | None = None
    state: str | None = None
    possibilities: int = 1

    def data(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)
