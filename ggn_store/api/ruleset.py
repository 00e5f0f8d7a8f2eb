"""Rulesets: a handle on a stored revision, and all that it can do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ggn_store.api.chains import Chains
from ggn_store.api.placing import as_position
from ggn_store.api.selection import SelectedPiece
from ggn_store.errors import PictureError
from ggn_store.model.move import Assumption
from ggn_store.model.position import Position

if TYPE_CHECKING:
    from ggn_store.api.analysis import RulesetAnalysis
    from ggn_store.api.columns import Columns
    from ggn_store.api.pictures import Pictures
    from ggn_store.model.perft import Perft


class Ruleset(Chains):
    """A revision of a ruleset in a store. Only the database answers questions."""

    def __repr__(self) -> str:
        return f"Ruleset({str(self.revision)!r}, {str(self._database)!r})"

    def select(self, piece: str) -> SelectedPiece:
        """The rules of one piece; raises UnknownNameError (a KeyError) where the ruleset has none for it."""
        self._require_piece(piece)
        return SelectedPiece(self, piece)

    @functools.cached_property
    def pictures(self) -> Pictures:
        """Diagrams of positions and moves, heat maps, posters."""
        from ggn_store.api.pictures import Pictures

        return Pictures(self)

    @functools.cached_property
    def columns(self) -> Columns:
        """The ruleset as tables of columns: the moves of many positions in DuckDB or Spark, views, Parquet files."""
        from ggn_store.api.columns import Columns

        return Columns(self)

    def _repr_svg_(self) -> str | None:
        """The start position, for notebooks; None, which is nothing, where there is none or it cannot be drawn."""
        try:
            return None if self.start is None else self.pictures.draw()
        except PictureError:
            return None

    # --- moves made ---

    def perft(
        self,
        position: Position | Mapping[str, str | None],
        depth: int,
        *,
        engine: str | None = None,
        divide: bool = False,
        assume: Assumption | None = None,
        merge: bool = True,
    ) -> Perft:
        """How many paths of `depth` pseudo-legal moves lead on from a position; with `divide`, for each first move too.

        The moves are made in the database, every board being built, those after the last move too; `engine` is the
        store's own, else sqlite or duckdb; SQLite in this process stands in for a Postgres that lets no temporary
        tables be made. Equal positions of a ply are made one unless `merge` is false. Raises
        MoveError for a must-deny document without `assume`, and where a move takes from a hand what it does not hold;
        StoreError for a board or for hands that are too large, and for an engine that is not there.
        """
        from ggn_store.api import perft

        asked = self._on_board(as_position(position))
        return perft.perft(self, self._database, asked, depth, engine, divide, assume, merge)

    def reached(
        self,
        positions: Sequence[Position | Mapping[str, str | None]],
        depth: int = 1,
        *,
        engine: str | None = None,
        assume: Assumption | None = None,
    ) -> list[list[tuple[Position, int]]]:
        """For each position the different ones after `depth` moves, in any order, each with the number of paths to it.

        All moves of all positions are made together, as by `perft`.
        """
        from ggn_store.api import perft

        asked = [self._on_board(as_position(position)) for position in positions]
        return perft.reached(self, self._database, asked, depth, engine, assume)

    # --- questions about the whole ---

    def analysis(self, tell: Callable[[str], None] | None = None) -> RulesetAnalysis:
        """Mobility, coverage and other questions about the rules as a whole; `tell` gets the SQL that runs."""
        from ggn_store.api.analysis import RulesetAnalysis

        return RulesetAnalysis(self, self._database, tell)
