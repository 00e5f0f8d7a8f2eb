"""Rulesets: a handle on a stored revision, and all that it can do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ggn_store.api.chains import Chains
from ggn_store.api.placing import as_position
from ggn_store.api.selection import SelectedPiece
from ggn_store.errors import PictureError
from ggn_store.model.move import Assumption
from ggn_store.model.position import Position
from ggn_store.store.moves.batch import Count

if TYPE_CHECKING:
    import os

    from ggn_store.api.analysis import RulesetAnalysis
    from ggn_store.api.columnar import Columnar, Engine
    from ggn_store.api.exports import ViewRows
    from ggn_store.model.perft import Perft
    from ggn_store.model.picture import Picture


class Ruleset(Chains):
    """A revision of a ruleset in a store. Only the database answers questions."""

    def __repr__(self) -> str:
        return f"Ruleset({str(self.revision)!r}, {str(self._database)!r})"

    def select(self, piece: str) -> SelectedPiece:
        """The rules of one piece; raises UnknownNameError (a KeyError) where the ruleset has none for it."""
        self._require_piece(piece)
        return SelectedPiece(self, piece)

    # --- pictures ---

    def picture(
        self,
        *,
        piece: str | None = None,
        source: str | None = None,
        position: Position | Mapping[str, str | None] | None = None,
        mobility: bool = False,
        poster: bool = False,
    ) -> Picture:
        """What `draw` draws, as a value: its marks and counts can be looked at."""
        from ggn_store.api import pictures

        shown = None if position is None else as_position(position)
        return pictures.picture(self, piece=piece, source=source, position=shown, mobility=mobility, poster=poster)

    def draw(
        self,
        *,
        piece: str | None = None,
        source: str | None = None,
        position: Position | Mapping[str, str | None] | None = None,
        mobility: bool = False,
        poster: bool = False,
    ) -> str:
        """A picture as SVG.

        Without arguments the start position, or a poster where there is none; `position` alone is drawn as it is. With
        `piece`, everything that it may ever do from `source`: a square, by default one with most destinations, or `*`,
        the hand. With `piece` or `source` and `position` (with `source` alone: and the start position), its moves
        there. `mobility` draws a heat map of how many squares `piece` reaches from each, `poster` all pieces.

        Raises PictureError where such a picture cannot be drawn, UnknownNameError for a piece or a source without
        rules.
        """
        from ggn_store.render.diagrams import to_svg

        return to_svg(self.picture(piece=piece, source=source, position=position, mobility=mobility, poster=poster))

    def _repr_svg_(self) -> str | None:
        """The start position, for notebooks; None, which is nothing, where there is none or it cannot be drawn."""
        try:
            return None if self.start is None else self.draw()
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

    # --- many positions on columns ---

    @functools.cached_property
    def columnar(self) -> Columnar:
        """The ruleset as tables of columns, which the engines of `moves_table` and `count_table` work on."""
        from ggn_store.api.columnar import Columnar

        return Columnar(self)

    def view(self, name: str) -> ViewRows:
        """All rows of this revision in a view such as `v_moves`: to_arrow(), to_pandas(); `v_history` has them all."""
        from ggn_store.api import exports

        return exports.view_of(self, name)

    def compile(self, directory: str | os.PathLike[str]) -> None:
        """Write the ruleset as Parquet files, which any engine can join, into a new directory.

        `ggn_store.columnar.compile` says what is in them. Raises InputError where the directory is not empty.
        """
        from ggn_store.columnar import compile as compiling

        compiling.write(self.columnar.compiled, directory)

    def moves_table(
        self,
        positions: Any,
        *,
        sides: Any = None,
        hands: Any = None,
        engine: Engine = "duckdb",
        threads: int | None = None,
        master: str | None = None,
        directory: str | None = None,
    ) -> Any:
        """The moves of many positions as an Arrow table: position, piece, source, destination, ordinal.

        `positions` are Positions, mappings or FEEN texts, numbered from 0, or an Arrow table: with a column `feen`, or
        with position (a number of the caller's), square and piece, to which `sides` (position, side) and `hands`
        (position, piece, count) may be given; without them the first side moves and the hands are not known. The
        answer is that of `moves`, in the same order. DuckDB works on `threads` processors, by default all; Spark on
        the cluster `master`, with rules from the compiled files in `directory` if that is given. Raises GgnStoreError
        where the engine is not installed, and PositionError as `moves` does.
        """
        batch = self.columnar.encode(positions, sides, hands)
        return self.columnar.moves(batch, self.columnar.engine(engine, threads, master, directory))

    def count_table(
        self,
        positions: Any,
        by: Count = "position",
        *,
        sides: Any = None,
        hands: Any = None,
        engine: Engine = "duckdb",
        threads: int | None = None,
        master: str | None = None,
        directory: str | None = None,
    ) -> Any:
        """How many moves there are by position, by piece or by destination: an Arrow table of that and `count`.

        The moves themselves never leave the engine; the rest is as for `moves_table`.
        """
        batch = self.columnar.encode(positions, sides, hands)
        return self.columnar.count(batch, by, self.columnar.engine(engine, threads, master, directory))
