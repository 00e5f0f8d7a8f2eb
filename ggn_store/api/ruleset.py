"""Rulesets: a handle on a stored revision, and the chain of Ggn.rb in Python's words."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from ggn_store.api import batches
from ggn_store.documents import beside
from ggn_store.documents.convert import convert
from ggn_store.errors import MoveError, PictureError, PositionError, UnknownNameError, offer, quote
from ggn_store.model import document as documents
from ggn_store.model import variables
from ggn_store.model.board import Board
from ggn_store.model.document import Dialect, Document, Piece
from ggn_store.model.move import DISPLACEMENT, Assumption, Move, check_assumption, displacement
from ggn_store.model.position import SIDES, Position
from ggn_store.model.revision import Revision, Summary
from ggn_store.model.variables import Variable
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store import engine, fast, masks, moves, rulesets
from ggn_store.store.batch import Count
from ggn_store.store.moves import Question

if TYPE_CHECKING:
    import os

    from ggn_store.api.analysis import RulesetAnalysis
    from ggn_store.api.columnar import Columnar, Engine
    from ggn_store.games.rules import Definition
    from ggn_store.gdl.specification import Specification
    from ggn_store.model.perft import Perft
    from ggn_store.model.picture import Picture


Query = Literal["fast", "reading"]
QUERIES: Final[tuple[Query, ...]] = get_args(Query)


class Ruleset:
    """A revision of a ruleset in a store. Only the database answers questions."""

    def __init__(self, database: engine.Database, revision: Revision) -> None:
        self._database = database
        self.revision = revision

    def __repr__(self) -> str:
        return f"Ruleset({str(self.revision)!r}, {str(self._database)!r})"

    @property
    def name(self) -> str:
        """The name of the ruleset, without the revision."""
        return self.revision.name

    @property
    def dialect(self) -> Dialect:
        """The dialect of the document that was loaded."""
        return self.revision.dialect

    @functools.cached_property
    def board(self) -> Board:
        """The squares that the rules speak about."""
        with self._database.reading() as connection:
            return rulesets.read_board(connection, self.revision.board_id)

    @functools.cached_property
    def pieces(self) -> tuple[str, ...]:
        """The piece identifiers that have rules, in document order."""
        return tuple(row["piece"] for row in self.piece_summaries())

    def piece_summaries(self) -> list[dict[str, Any]]:
        """For each piece in document order: identifier, side, how many sources and possibilities, digest, ..."""
        with self._database.reading() as connection:
            return rulesets.piece_summaries(connection, self.revision)

    def summary(self) -> Summary:
        """The revision with how much is in it."""
        with self._database.reading() as connection:
            return rulesets.summary(connection, self.revision)

    @property
    def start(self) -> Position | None:
        """The start position, if one was given with the document."""
        return None if self.revision.envelope.start is None else Position.from_feen(self.revision.envelope.start)

    @functools.cached_property
    def variables(self) -> Mapping[str, Variable]:
        """The state variables that the document declares, by name."""
        return variables.parse(self.revision.envelope.variables)

    @functools.cached_property
    def definition(self) -> Definition | None:
        """The definition that the ruleset was generated from, None where it was not."""
        text = self.revision.envelope.definition
        if text is None or self.revision.dialect == "gdl":
            return None
        from ggn_store.games import definition

        return definition.read(text, f"the definition of {self.revision}")

    @functools.cached_property
    def specification(self) -> Specification | None:
        """The game description that the ruleset was compiled from, None where it was not."""
        text = self.revision.envelope.definition
        if text is None or self.revision.dialect != "gdl":
            return None
        from ggn_store.gdl.check import read_specification

        return read_specification(text, f"the game description of {self.revision}")

    # --- positions as people have them ---

    def position(self, *, feen: str | None = None, fen: str | None = None, sfen: str | None = None) -> Position:
        """The position that a FEEN, a FEN or an SFEN text writes; the start position without any.

        FEN and SFEN are read through the letters of the ruleset's definition. Raises PositionError, quoting what is
        wrong, and where the ruleset has no definition, or no start position.
        """
        if sum(text is not None for text in (feen, fen, sfen)) > 1:
            raise PositionError("feen, fen and sfen all write a position: give one of them")
        if feen is not None:
            return Position.from_feen(feen)
        if fen is not None:
            from ggn_store.games.fen import parse_fen

            return parse_fen(fen, self._letters("FEN"))
        if sfen is not None:
            from ggn_store.games.fen import parse_sfen

            return parse_sfen(sfen, self._letters("SFEN"))
        if self.start is None:
            raise PositionError(f"{self.revision} has no start position of its own")
        return self.start

    def fen(self, position: Position | Mapping[str, str | None]) -> str:
        """The position as FEN; raises PositionError where FEN cannot say it, and without a definition."""
        from ggn_store.games.fen import fen

        return fen(_position(position), self._letters("FEN"))

    def sfen(self, position: Position | Mapping[str, str | None]) -> str:
        """The position as SFEN; raises PositionError where SFEN cannot say it, and without a definition."""
        from ggn_store.games.fen import sfen

        return sfen(_position(position), self._letters("SFEN"))

    def _letters(self, notation: str) -> Definition:
        if self.definition is None:
            raise PositionError(
                f"{self.revision} was not made from a definition, which says what the letters of {notation} mean: "
                "use FEEN (--feen, in Python feen=...), which can write the positions of any game"
            )
        return self.definition

    # --- documents out ---

    def document(self) -> Document:
        """The document, read back from the rows."""
        return Document(self.dialect, tuple(self.read_pieces()), self.revision.envelope)

    def export(self, dialect: Dialect | None = None) -> str:
        """The document that was loaded, in canonical form; in another dialect as `convert` gives it."""
        return "".join(self.export_parts(dialect))

    def export_parts(self, dialect: Dialect | None = None) -> Iterator[str]:
        """The canonical text in parts, one piece in memory at a time unless it is of another dialect."""
        if dialect not in (None, self.dialect):
            return convert(self.document(), dialect).canonical_parts()
        envelope = self.revision.envelope
        return documents.canonical_text(self.dialect, envelope.schema, self.read_pieces(), envelope.variables)

    def export_beside(self) -> str:
        """What the exported document cannot say of itself, as a TOML file beside it says it; "" if there is nothing."""
        return beside.toml(self.revision.envelope)

    def read_pieces(self) -> Iterator[Piece]:
        """The pieces in document order. No transaction is open while the caller works on one: pieces never change."""
        board = self.board
        with self._database.reading() as connection:
            keys = rulesets.piece_keys(connection, self.revision)
        for piece_id, identifier in keys:
            with self._database.reading() as connection:
                piece = rulesets.read_piece(connection, piece_id, identifier, board)
            yield piece

    def read_piece(self, piece: str) -> Piece:
        """One piece of the document; raises UnknownNameError (a KeyError) where the ruleset has no rules for it."""
        self.select(piece)
        board = self.board
        with self._database.reading() as connection:
            keys = rulesets.piece_keys(connection, self.revision)
            piece_id = next(piece_id for piece_id, identifier in keys if identifier == piece)
            return rulesets.read_piece(connection, piece_id, piece, board)

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

        shown = None if position is None else _position(position)
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

    # --- moves ---

    @functools.cached_property
    def _fast(self) -> fast.FastQuery | None:
        """The fast query over this revision; None where only the reading query can answer."""
        board = self.board
        with self._database.reading() as connection:
            return fast.read(self._database, connection, self.revision, board)

    def select(self, piece: str) -> SelectedPiece:
        """The rules of one piece; raises UnknownNameError (a KeyError) where the ruleset has none for it."""
        if piece not in self.pieces:
            raise UnknownNameError(f"{self.revision} has no rules for {quote(piece)}; it has {offer(self.pieces)}")
        return SelectedPiece(self, piece)

    def moves(
        self,
        position: Position | Mapping[str, str | None],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        assume: Assumption | None = None,
        query: Query = "fast",
    ) -> list[Move]:
        """The moves of the side to move, in document order; all of them, or of one piece, source, destination.

        `assume="displacement"` fills in the effects that a `must-deny` document leaves open. `query="reading"` asks
        with the reading query, whose answer is the same. Raises UnknownNameError for a piece without rules or a square
        that is not on the board.
        """
        question = self._question(piece, source, destination)
        return self._ask_one(position, question, assume, query)

    def moves_batch(
        self,
        positions: Iterable[Position | Mapping[str, str | None]],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        assume: Assumption | None = None,
        query: Query = "fast",
    ) -> list[list[Move]]:
        """The moves of each of many positions; otherwise like `moves`."""
        question = self._question(piece, source, destination)
        if not _is_fast(query) or self._fast is None:
            return self._ask(positions, question, assume)
        if question is fast.EVERYTHING and assume is None:
            return list(batches.moves(self, self._fast, positions))
        return [self._ask_one(position, question, assume, query) for position in positions]

    def count_moves(
        self, positions: Iterable[Position | Mapping[str, str | None]], by: Count = "position"
    ) -> dict[int | str, int]:
        """How many moves many positions have; only the counts leave the database.

        The result's keys are the numbers of the positions from 0, the pieces that move (by="piece"), or the squares
        that are reached (by="destination"). Raises MoveError for another `by`.
        """
        return batches.counts(self, self._fast, positions, by)

    def explain(
        self,
        positions: Sequence[Position],
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        query: Query = "fast",
    ) -> tuple[str, list[str]]:
        """The SQL that answers `moves`, and the database's plan for it, line by line.

        The fast query is of one position; for several, and where it cannot answer, this is the reading query.
        """
        question = self._question(piece, source, destination)
        asked = [self._on_board(position) for position in positions]
        board = self.board
        if _is_fast(query) and self._fast is not None and len(asked) == 1:
            position = self.placed(asked[0])
            statement = self._fast.statement(position.board, position.hands, position.side, question)
            with self._database.reading() as connection:
                text, plan = moves.explained(self._database, connection, statement)
            if destination is not None:
                plan = [*plan, f"of what it finds, only moves to {destination}"]
            if self.variables:
                plan = [*plan, "of what it finds, only moves whose guards let the state pass"]
            return text, plan
        with self._database.reading() as connection:
            text, plan = moves.explain(self._database, connection, self.revision, board, asked, question)
        if _is_fast(query) and self._fast is None:
            plan.append(f"the reading query, since {masks.why_none(board)}")
        return text, plan

    def apply(
        self, position: Position | Mapping[str, str | None], move: Move, *, assume: Assumption | None = None
    ) -> Position:
        """The position after `move`, which is one of `moves(position)`; its effects are applied as written.

        A move of a `must-deny` document has no effects: `assume="displacement"` says that plain displacement is
        meant. Raises MoveError where the piece is not on its source, and where there are no effects.
        """
        position = self.stated(_position(position))
        effects = move.effects
        if effects is None:
            if assume != DISPLACEMENT:
                raise MoveError(
                    f"{self.revision} is a must-deny document and does not say what a move changes; "
                    f"to mean plain displacement, say assume={DISPLACEMENT!r} (--assume {DISPLACEMENT})"
                )
            effects = displacement(move.piece, move.source, move.destination)
        if move.source != HAND and position.board.get(move.source) != move.piece:
            raise MoveError(f"there is no {move.piece} on {move.source} in this position")
        if move.source == HAND and position.hands is not None and not position.hands.get(move.piece):
            raise MoveError(f"there is no {move.piece} in the hand in this position")
        return position.after(effects)

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

        asked = self._on_board(_position(position))
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

        asked = [self._on_board(_position(position)) for position in positions]
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

    # --- inside ---

    def _question(self, piece: str | None, source: str | None, destination: str | None) -> Question:
        if piece is source is destination is None:
            return fast.EVERYTHING
        if piece is not None:
            self.select(piece)
        for square in (source, destination):
            self.require_square(square)
        return Question(piece, source, destination)

    def _ask_one(
        self,
        position: Position | Mapping[str, str | None],
        question: Question,
        assume: Assumption | None,
        query: Query,
    ) -> list[Move]:
        found = self._fast if _is_fast(query) else None
        if found is None or not fast.can_answer(question):
            return self._ask([position], question, assume)[0]
        if assume not in (None, DISPLACEMENT):
            raise MoveError(f"{quote(assume)} is not an assumption; there is {DISPLACEMENT!r} only")
        if isinstance(position, Position):
            board, hands, side = position.board, position.hands, question.side or position.side
        else:
            board, hands, side = position, None, question.side or "first"
        state = None
        if self.variables or (isinstance(position, Position) and position.state is not None):
            position = self.stated(_position(position))
            state = position.state
        try:
            return self.guarded(found.moves(board, hands, side, question, assume), state)
        except fast.NotEncodableError:
            # Either it is wrong, which is said here, or it has squares that are not the board's and do not matter.
            position = self.placed(position)
        try:
            return self.guarded(found.moves(position.board, hands, side, question, assume), state)
        except fast.NotEncodableError:
            return self._ask([position], question, assume)[0]

    def guarded(self, found: list[Move], state: Mapping[str, str] | None) -> list[Move]:
        """Those of some moves whose guards let a state pass that names every variable."""
        return found if state is None else [move for move in found if variables.passes(move.guards, state)]

    def stated(self, position: Position) -> Position:
        """`position` with the value of every state variable; PositionError for what the rules do not know."""
        if position.state is None and not self.variables:
            return position
        return replace(position, state=variables.complete(self.variables, position.state, str(self.revision)))

    def placed(self, position: Position | Mapping[str, str | None]) -> Position:
        """`position` without squares that the board does not have; PositionError where it was declared without."""
        position = self._on_board(_position(position))
        numbers = self.board.numbers
        if numbers.keys() >= position.board.keys():
            return position
        return replace(position, board={square: piece for square, piece in position.board.items() if square in numbers})

    def _ask(
        self,
        positions: Iterable[Position | Mapping[str, str | None]],
        question: Question,
        assume: Assumption | None,
    ) -> list[list[Move]]:
        check_assumption(assume)
        asked = [self._on_board(_position(position)) for position in positions]
        board = self.board
        with self._database.reading() as connection:
            return moves.moves(self._database, connection, self.revision, board, asked, question, assume)

    def _on_board(self, position: Position) -> Position:
        """`position` with its whole state, if it fits the board.

        A board that was not declared is only a guess, and all fits.
        """
        if self.revision.envelope.board is not None:
            outside = sorted(position.board.keys() - self.board.numbers.keys())
            if outside:
                raise PositionError(
                    f"{offer(outside)}: not on the board of {self.revision}, which is {self.board.shape_text}"
                )
        return self.stated(position)

    def require_square(self, square: str | None) -> None:
        """Raise UnknownNameError for what is neither a square of the board nor the hand; None is let pass."""
        if square not in (None, HAND) and square not in self.board.numbers:
            raise UnknownNameError(
                f"{self.revision} has no square {quote(square)}; its board is "
                f"{self.board.shape_text or offer(self.board.squares)}"
            )


@dataclass(frozen=True, slots=True)
class SelectedPiece:
    """The rules of one piece: the first step of `ruleset.select("C:P").from_("e2").to("e4").where(position)`."""

    ruleset: Ruleset
    piece: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The squares (or `*`, the hand) that the piece has rules from, in document order."""
        with self.ruleset._database.reading() as connection:
            return rulesets.sources(connection, self.ruleset.revision, self.piece)

    def from_(self, source: str) -> SelectedSource:
        """The rules from one source; raises UnknownNameError (a KeyError) where there are none."""
        sources = self.sources
        if source not in sources:
            raise UnknownNameError(f"{self.piece} has no rules from {quote(source)}; it has {offer(sources)}")
        return SelectedSource(self.ruleset, self.piece, source)


@dataclass(frozen=True, slots=True)
class SelectedSource:
    """The rules of one piece from one source."""

    ruleset: Ruleset
    piece: str
    source: str

    @property
    def destinations(self) -> tuple[str, ...]:
        """The squares (or `*`, the hand) that the rules lead to, in document order."""
        with self.ruleset._database.reading() as connection:
            return rulesets.destinations(connection, self.ruleset.revision, self.piece, self.source)

    def to(self, destination: str) -> SelectedDestination:
        """The rules to one destination; raises UnknownNameError (a KeyError) where there are none."""
        destinations = self.destinations
        if destination not in destinations:
            raise UnknownNameError(
                f"{self.piece} has no rules from {self.source} to {quote(destination)}; it has {offer(destinations)}"
            )
        return SelectedDestination(self.ruleset, self.piece, self.source, destination)


@dataclass(frozen=True, slots=True)
class SelectedDestination:
    """The possibilities of one piece from one source to one destination."""

    ruleset: Ruleset
    piece: str
    source: str
    destination: str

    def where(
        self,
        position: Position | Mapping[str, str | None],
        *,
        side: Side | None = None,
        hands: Mapping[str, int] | None = None,
        assume: Assumption | None = None,
        query: Query = "fast",
    ) -> list[Move]:
        """The possibilities that hold in a position, in document order.

        The active side, which `enemy` is seen from, is `side`, else the piece's own; whose turn it is in the
        position does not matter. `hands` goes with a position that is a plain mapping of squares.
        """
        if side is not None and side not in SIDES:
            raise PositionError(f"{quote(side)} is not a side: first or second")
        asked = _position(position) if hands is None else replace(_position(position), hands=hands)
        question = Question(self.piece, self.source, self.destination, side=side or side_of(self.piece), any_side=True)
        return self.ruleset._ask_one(asked, question, assume, query)


def _is_fast(query: Query) -> bool:
    if query not in QUERIES:
        raise MoveError(f"{quote(query)} is not a query; there are {' and '.join(map(repr, QUERIES))}")
    return query == "fast"


def _position(position: Position | Mapping[str, str | None]) -> Position:
    return position if isinstance(position, Position) else Position(position)
