"""Perft: how many paths of pseudo-legal moves lead on from a position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ggn_store.model.move import Move


@dataclass(frozen=True, slots=True)
class Perft:
    """The number of paths of `depth` moves from a position, and by whom it was counted.

    `by_move` has the paths that begin with each move of the position, in document order; None where that was not
    asked. `compiling` and `running` are seconds: until the rules are ready in the engine, and for the moves then.
    """

    depth: int
    count: int
    by_move: tuple[tuple[Move, int], ...] | None
    engine: str
    compiling: float
    running: float

    def data(self) -> dict[str, Any]:
        """The result as JSON data."""
        data: dict[str, Any] = {"depth": self.depth, "count": self.count}
        if self.by_move is not None:
            names = ("piece", "source", "destination", "ordinal")
            data["by_move"] = [
                {name: getattr(move, name) for name in names} | {"count": count} for move, count in self.by_move
            ]
        return data | {"engine": self.engine, "compiling": self.compiling, "running": self.running}
