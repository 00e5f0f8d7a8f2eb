"""Perft: how many paths of moves lead on from a position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Move


@dataclass(frozen=True, slots=True)
class Perft:
    """The number of paths of `depth` moves from a position, and by whom it was counted.

    `by_move` has the paths that begin with each move of the position, in document order, legal chains behind; None
    where that was not asked. `compiling` and `running` are seconds: until the rules are ready in the engine, and for
    the moves then.
    """

    depth: int
    count: int
    by_move: tuple[tuple[Move | Chain, int], ...] | None
    engine: str
    compiling: float
    running: float

    def data(self) -> dict[str, Any]:
        """The result as JSON data."""
        data: dict[str, Any] = {"depth": self.depth, "count": self.count}
        if self.by_move is not None:
            data["by_move"] = [
                {"piece": move.piece, "source": move.source, "destination": move.destination}
                | ({"path": [*move.path]} if isinstance(move, Chain) else {"ordinal": move.ordinal})
                | {"count": count}
                for move, count in self.by_move
            ]
        return data | {"engine": self.engine, "compiling": self.compiling, "running": self.running}
