"""Rulesets: a handle on a stored revision, and what can be asked of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Never, Unpack

from ggn_store.api.handle import AnyMove, AnyPosition, Handle, as_position, each_position
from ggn_store.api.moves.chains import Chains
from ggn_store.api.moves.moves import Moves, Narrowed, Query
from ggn_store.api.positions import notations
from ggn_store.api.session.attributes import hinting
from ggn_store.errors import DocumentError, PictureError, PositionError, UnknownNameError, offer
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Dialect, Document, Envelope, Piece, canonical_text
from ggn_store.model.documents.variables import Variable
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Assumption, Count, Move
from ggn_store.model.moves.play import Play
from ggn_store.model.moves.position import Position
from ggn_store.model.teams.revision import Revision, Summary
from ggn_store.notation.move_text import OWN
from ggn_store.notation.qpi import Side
from ggn_store.store.database.session import Session
from ggn_store.store.rulesets import catalog

if TYPE_CHECKING:
    from ggn_store.api.moves.batches import Batches, BatchQuery
    from ggn_store.api.moves.columns import Columns
    from ggn_store.api.moves.legal import Legal
    from ggn_store.api.moves.move_texts import MoveTexts, Reading
    from ggn_store.api.moves.perft import PerftOptions
    from ggn_store.api.moves.pictures import Pictures
    from ggn_store.api.moves.selection import SelectedPiece
    from ggn_store.api.moves.spark import SparkMoves
    from ggn_store.api.questions.analysis import RulesetAnalysis
    from ggn_store.games.fairy.write import WrittenSection
    from ggn_store.games.rules import Definition
    from ggn_store.gdl.specification import Specification
    from ggn_store.model.moves.perft import Perft
    from ggn_store.model.moves.result import Result
    from ggn_store.notation.board_text import Paint

# What other libraries call what is here.
_WORDS: Final = {
    "push": "apply",
    "turn": "position.side",
    "is_check": "in_check",
    "san": "move_text",
    "uci": "move_text",
    "parse_san": "parse_move",
    "parse_uci": "parse_move",
    "is_checkmate": "outcome",
    "is_game_over": "outcome",
    "result": "outcome",
    "moves_table": "columns.moves",
    "count_table": "columns.count",
}


class Ruleset:
    """A revision of a ruleset in a store. Only the database answers questions."""

    def __init__(self, session: Session, revision: Revision) -> None:
        self.revision = revision
        self.handle = Handle(session, revision)
        self._moves = Moves(self.handle)
        self._chains = Chains(self._moves)

    @functools.cached_property
    def _legal(self) -> Legal:
        from ggn_store.api.moves.legal import Legal

        return Legal(self._chains)

    @functools.cached_property
    def _batches(self) -> Batches:
        from ggn_store.api.moves.batches import Batches

        return Batches(self._legal, lambda: self.columns)

    if not TYPE_CHECKING:  # to which it would mean that there is any attribute
        __getattr__ = hinting(_WORDS, {"position": Position})

    def __repr__(self) -> str:
        return f"Ruleset({str(self.revision)!r}, {str(self.handle.session.database)!r})"

    def _repr_svg_(self) -> str | None:
        """The start position, for notebooks; None, which is nothing, where there is none or it cannot be drawn."""
        try:
            return self.pictures.draw() if self.has_start else None
        except PictureError:
            return None

    # --- what it is ---

    @property
    def name(self) -> str:
        """The name of the ruleset, without the revision."""
        return self.revision.name

    @property
    def dialect(self) -> Dialect:
        """The dialect of the document that was loaded."""
        return self.revision.dialect

    @property
    def board(self) -> Board:
        """The squares that the rules speak about."""
        return self.handle.board

    @property
    def pieces(self) -> tuple[str, ...]:
        """The piece identifiers that have rules, in document order."""
        return self.handle.pieces

    @property
    def has_start(self) -> bool:
        """Whether a start position was given with the document."""
        return self.revision.envelope.start is not None

    @property
    def start(self) -> Position:
        """The start position; raises PositionError where none was given with the document: see `has_start`."""
        start = self.handle.start
        if start is None:
            raise PositionError(f"{self.revision} has no start position of its own")
        return replace(start, counters=self.play.counters(start.side))

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The state variables that the document declares, by name."""
        return self.handle.variables

    @property
    def play(self) -> Play:
        """How the game is played above these moves: duties, marks that revert, squares crossed, how it ends."""
        return self.handle.play

    @property
    def definition(self) -> Definition | None:
        """The definition that the ruleset was generated from, None where it was not."""
        return self.handle.definition

    @property
    def specification(self) -> Specification | None:
        """The game description that the ruleset was compiled from, None where it was not."""
        return self.handle.specification

    def summary(self) -> Summary:
        """The revision with how much is in it."""
        self.handle.require_sound()
        with self.handle.session.reading() as connection:
            return catalog.summary(connection, self.revision)

    def piece_summaries(self) -> list[dict[str, Any]]:
        """For each piece in document order: identifier, side, how many sources and possibilities, digest, ..."""
        return self.handle.piece_summaries()

    # --- documents out ---

    def document(self) -> Document:
        """The document, read back from the rows."""
        return Document(self.dialect, tuple(self.read_pieces()), self.revision.envelope)

    def read_pieces(self) -> Iterator[Piece]:
        """The pieces in document order. No transaction is open while the caller works on one: pieces never change.

        Raises StoreError where the document, or a piece when its turn comes, is not what was stored.
        """
        return self.handle.read_pieces()

    def read_piece(self, piece: str) -> Piece:
        """One piece of the document; raises UnknownNameError (a KeyError) where the ruleset has no rules for it."""
        return self.handle.read_piece(piece)

    def export(self, dialect: Dialect | None = None) -> str:
        """The document that was loaded, in canonical form; in another dialect as `convert` gives it."""
        return "".join(self.export_parts(dialect))

    def export_parts(self, dialect: Dialect | None = None) -> Iterator[str]:
        """The canonical text in parts, one piece in memory at a time unless it is of another dialect.

        Raises StoreError where the store does not hold any more what was put into it: of a piece when its turn comes.
        """
        self.handle.require_sound()
        if dialect not in (None, self.dialect):
            from ggn_store.documents.convert import convert

            return convert(self.document(), dialect).canonical_parts()
        envelope = self.revision.envelope
        return canonical_text(self.dialect, envelope.schema, self.read_pieces(), envelope.variables)

    def export_definition(self) -> str:
        """The definition (TOML) or game description (JSON) that the ruleset was made from, as it was loaded.

        Raises UnknownNameError where it was made from neither.
        """
        self.handle.require_sound()
        text = self.revision.envelope.definition
        if text is None:
            raise UnknownNameError(
                f"{self.revision} has no definition: it was loaded as a document, which `ggn-store export` writes"
            )
        return text

    def export_variant(self) -> WrittenSection:
        """The definition as a section of a Fairy-Stockfish variants.ini, and what of it the section leaves out.

        Raises UnknownNameError where there is no definition, ConversionError where the engine has no such board.
        """
        from ggn_store.games.fairy import write

        self.handle.require_sound()
        if self.definition is None:
            raise UnknownNameError(f"{self.revision} has no definition in TOML, of which a variants.ini is made")
        return write.write(self.definition, str(self.revision))

    def export_beside(self, dialect: Dialect | None = None) -> str:
        """What the exported document cannot say of itself, as a TOML file beside it says it; "" if there is nothing.

        That is the definition, where it says all of it, or else has it as a text.
        """
        from ggn_store.documents import beside

        self.handle.require_sound()
        envelope = self.revision.envelope
        if dialect not in (None, self.dialect) and "gdl" in (dialect, self.dialect):
            # A game description is kept with documents of its dialect alone.
            envelope = replace(envelope, definition=None)
        return self._full_definition(envelope) or beside.toml(envelope)

    def _full_definition(self, envelope: Envelope) -> str | None:
        """The definition, where it says all that an envelope does beside its document."""
        from ggn_store.documents import beside

        text = envelope.definition
        if text is None or envelope.is_described:
            return None
        try:
            definition = self.definition
        except DocumentError:  # one that a newer ggn-store has stored
            return None
        from ggn_store.games import playing

        said, _ = beside.read(text, "")
        # Where a document comes with a definition, and nothing else says how it is played, the definition does.
        made = {None} if definition is None else {None, playing.envelope(definition).play}
        said = replace(said, schema=envelope.schema, play=envelope.play)
        return text if said == envelope and envelope.play in made else None

    # --- positions ---

    def position(
        self, *unnamed: Never, feen: str | None = None, fen: str | None = None, sfen: str | None = None, **others: str
    ) -> Position:
        """The position that a text in one of the notations writes; the start position without any.

        FEN and SFEN are read through the letters of the ruleset's definition. Raises PositionError, quoting what is
        wrong, and where the ruleset has no definition, or no start position.
        """
        if unnamed:
            raise notations.unnamed(unnamed[0], self.handle)
        texts = {"feen": feen, "fen": fen, "sfen": sfen, **others}
        given = [(name, text) for name, text in texts.items() if text is not None]
        if len(given) > 1:
            raise PositionError(f"{offer([name for name, _ in given])} all write a position: give one of them")
        for name, text in given:
            return notations.find(name).parse(text, self.handle)
        return self.start

    def notate(self, position: AnyPosition, notation: str = notations.DEFAULT) -> str:
        """The position in one of the notations (see `position`); raises PositionError where that cannot say it."""
        return notations.find(notation).text(as_position(position), self.handle)

    def fen(self, position: AnyPosition, *, shredder: bool = False) -> str:
        """The position as FEN; raises PositionError where FEN cannot say it, and without a definition.

        Where kings castle from several squares, as in chess960, it is X-FEN, or Shredder-FEN.
        """
        return notations.fen(as_position(position), self.handle, shredder)

    def sfen(self, position: AnyPosition) -> str:
        """The position as SFEN; raises PositionError where SFEN cannot say it, and without a definition."""
        return self.notate(position, "sfen")

    def text(self, position: Position, paint: Paint | None = None) -> str:
        """The position as lines of text, drawn on the squares of the board where that is a rectangle or a box."""
        from ggn_store.api.moves.pictures import squares_of

        return position.text(squares_of(self.handle), self.board.shape, paint)

    def stated(self, position: AnyPosition) -> Position:
        """`position` with the value of every state variable; PositionError for what the rules do not know."""
        return self.handle.stated(as_position(position))

    # --- moves ---

    def moves(
        self,
        position: AnyPosition,
        *others: Never,
        assume: Assumption | None = None,
        query: Query = "fast",
        **narrowed: Unpack[Narrowed],
    ) -> list[Move]:
        """The moves of the side to move, in document order; all of them, or of one piece, source, destination.

        `assume="displacement"` fills in the effects that a `must-deny` document leaves open. `query="reading"` asks
        with the reading query, whose answer is the same. Raises UnknownNameError for a piece without rules or a square
        that is not on the board.
        """
        return self._moves.one(position, self._moves.asked(narrowed, others), assume, query)

    def moves_batch(
        self,
        positions: Iterable[AnyPosition],
        *,
        assume: Assumption | None = None,
        query: BatchQuery = "auto",
        legal: bool = False,
        **narrowed: Unpack[Narrowed],
    ) -> list[list[Move]]:
        """The moves of each of many positions; otherwise like `moves`.

        `query="fast"` asks the store in one statement for a thousand positions, `query="columns"` DuckDB, which the
        extra `duckdb` installs; `"auto"` asks DuckDB where it is there and the positions are so many that it pays to
        make the ruleset's columns. The answer is always the same; `explain` says what answers. With `legal` the answers
        are those of `legal_moves`; where duties ask for more than columns can judge, the store is asked.
        """
        return self._batches.many(positions, self._moves.asked(narrowed), assume, query, legal)

    def count_moves(
        self,
        positions: Iterable[AnyPosition],
        by: Count = "position",
        *,
        query: BatchQuery = "auto",
        legal: bool = False,
    ) -> dict[int | str, int]:
        """How many moves many positions have; only the counts leave the database, or DuckDB: see `moves_batch`.

        The result's keys are the numbers of the positions from 0, the pieces that move (by="piece"), or the squares
        that are reached (by="destination"). Raises MoveError for another `by`.
        """
        return self._batches.counts(positions, by, query, legal)

    def explain(
        self,
        positions: Sequence[Position],
        *,
        query: BatchQuery = "auto",
        legal: bool = False,
        **narrowed: Unpack[Narrowed],
    ) -> tuple[str, list[str]]:
        """The SQL that answers `moves`, and the database's plan for it, line by line.

        The fast query is of one position; for several, and where it cannot answer, this is the reading query. Where
        `moves_batch` asks them on columns, it is what DuckDB is asked; the last line says which of the two, and why.
        With `legal`, it is the reading query, which says after which moves royal pieces are safe, or what DuckDB is
        asked: several statements, where a duty asks what follows a move.
        """
        given = [*map(as_position, each_position(positions))]
        return self._batches.explain(given, self._moves.asked(narrowed), query, legal)

    # --- legal moves ---

    def legal_moves(
        self,
        position: AnyPosition,
        *others: Never,
        assume: Assumption | None = None,
        query: Query = "fast",
        **narrowed: Unpack[Narrowed],
    ) -> list[Move]:
        """Those of `moves` that the duties of the game let pass, in the same order; all, where it declares none.

        Where a player may pass, the last is a move of the royal piece (else of the first piece in document order) that
        stays where it is and changes the turn only. Pieces that are marked for the move before (`play.reverts`) are
        without their marks in the answer. `query="reading"` asks in one statement for moves after which royal pieces
        are safe; the answer is the same. Raises UnknownNameError like `moves`.
        """
        return self._legal.moves(position, self._moves.asked(narrowed, others), assume, query)

    def is_legal(self, position: AnyPosition, move: AnyMove) -> bool:
        """Whether `move` is one of `legal_moves(position)`, or of the chains that are legal; it may be a text.

        Raises MoveError for a text that is no move in any notation, or that means several.
        """
        if isinstance(move, Move | Chain):
            return self._legal.allows(position, move)
        return self._texts.allows(move, position)

    def in_check(self, position: AnyPosition, side: Side | None = None) -> bool:
        """Whether royal pieces (`^`) of the side to move, or of `side`, are attacked as the duties forbid it."""
        return self._legal.in_check(position, side)

    def attackers(self, position: AnyPosition, square: str, side: Side | None = None) -> list[tuple[str, str]]:
        """The pieces that could take what stands on a square: source and identifier of each.

        They are those of `side`, else of the side that the piece on the square is not of, else of the side that is not
        to move. Where no piece of the other side stands on the square, this is about a royal piece of it there.
        """
        return self._legal.attackers(position, square, side)

    def select(self, piece: str) -> SelectedPiece:
        """The rules of one piece; raises UnknownNameError (a KeyError) where the ruleset has none for it."""
        from ggn_store.api.moves.selection import SelectedPiece

        self.handle.require_piece(piece)
        return SelectedPiece(self._moves, piece)

    # --- moves as text ---

    def move_text(self, move: AnyMove, position: AnyPosition, notation: str = OWN) -> str:
        """The move of a position in a notation: `own`, `uci`, `usi` or `san`; MoveError where that cannot write it.

        The move may itself be a text, in any of them. Letters are those of the ruleset's definition, else of the
        identifiers. `parse_move` reads the text back.
        """
        return self._texts.text(move, position, notation)

    def parse_move(self, text: str, position: AnyPosition, notation: str | None = None) -> Move | Chain:
        """The one legal move that a text means in a notation, without one in any; see `move_text`.

        Raises MoveError where it means none, saying what would be possible, or several, naming them.
        """
        return self._texts.one(text, position, notation)

    def read_move(
        self,
        text: str,
        position: AnyPosition,
        notation: str | None = None,
        *,
        pseudo: bool = False,
        assume: Assumption | None = None,
    ) -> Reading:
        """The notation in which a text is a move, and the moves that it can mean there, of which there may be several.

        With `pseudo` they need not be legal. Raises MoveError where it means none.
        """
        return self._texts.read(text, position, notation, pseudo=pseudo, assume=assume)

    @functools.cached_property
    def _texts(self) -> MoveTexts:
        from ggn_store.api.moves.move_texts import MoveTexts
        from ggn_store.api.moves.named_moves import NamedMoves

        return MoveTexts(NamedMoves(self._legal, self))

    # --- chains, and moves made ---

    def chains(self, position: AnyPosition, *, legal: bool = False, **narrowed: Unpack[Narrowed]) -> tuple[Chain, ...]:
        """The chains of the side to move: several moves of one piece that are made together, in document order.

        Each step is a chainable move in the position that the steps before it left, from where they ended; the side to
        move stays the same throughout. A path that is back in a position that it has already been in goes no further.
        Each path follows the one that it continues. Raises MoveError for a chain of more than 100 steps and for more
        than 100,000 chains, UnknownNameError as `moves` does. With `legal`, those that the duties let pass.
        """
        if legal:
            asked = self._moves.asked(narrowed)
            return tuple(chain for chain in self._legal.chains(position) if asked.means(chain))
        return tuple(self._chains.of(as_position(position), self._chains.asked(narrowed)))

    def explain_chains(self, position: AnyPosition, **narrowed: Unpack[Narrowed]) -> tuple[str, list[str]]:
        """The SQL that answers `chains`, and the database's plan for it, line by line."""
        return self._chains.explain(as_position(position), self._chains.asked(narrowed))

    def along(
        self,
        position: AnyPosition,
        path: str | Sequence[str],
        *,
        piece: str | None = None,
        assume: Assumption | None = None,
    ) -> tuple[Move, ...] | tuple[Chain, ...]:
        """The moves from the first of two squares to the second, or the chains along more of them; `*` is the hand.

        A text is read as `play` reads it: `e2 e4`, `C:P e2 e4`, `P* e5`, `e7e8q`, or `e7 e8 2` for the second of
        several; else in any notation of `parse_move`. Raises MoveError where there is none, naming the step that is
        not possible, and why.
        """
        if isinstance(path, str):
            return self._texts.along(position, path, piece, assume)
        return self._chains.along(position, path, piece, assume)

    def apply(self, position: AnyPosition, move: AnyMove, *, assume: Assumption | None = None) -> Position:
        """The position after `move`, which is one of `moves(position)`; its effects are applied as written.

        Of a chain, and of a path of squares or a text (see `along`) that means one move or chain only, all steps are
        made, or none: MoveError names the first that is not possible, and says where several can be meant.

        A move of a `must-deny` document has no effects: `assume="displacement"` says that plain displacement is
        meant. Raises MoveError where the piece is not on its source, and where there are no effects.
        """
        from ggn_store.api.moves import outcomes

        before = as_position(position)
        if not isinstance(move, Move):
            move = self._texts.as_move(move, before, assume)
        return outcomes.counted(self, before, self.handle.told(self._chains.apply(before, move, assume)))

    def outcome(self, position: AnyPosition, history: Sequence[AnyPosition] = ()) -> Result:
        """How a game stands: whether it is over by an outcome that the ruleset declares, who won, and why.

        `history` are the positions before it, from the first one on. Without them, what a position's counters do not
        say is named as unjudged, as are duties that are left to the host.
        """
        from ggn_store.api.moves import outcomes

        before = [*map(self.handle.as_left, each_position(history))]
        return outcomes.judge(self, self.handle.as_left(position), before)

    def perft(self, position: AnyPosition, depth: int, **options: Unpack[PerftOptions]) -> Perft:
        """How many paths of `depth` pseudo-legal moves lead on from a position; with `divide`, for each first move too.

        With `legal` of moves that the duties let pass. Marks that are past are cleared always (`play.reverts`). With
        `stop_at_end`, no path leads on from a position in which a declared outcome ends the game, whatever was played
        before; such outcomes are judged in Python, one position after the other.

        The moves are made in the database, but for the first plies, of few positions, and very large boards, where
        Python makes them; those of the last ply are counted without their boards. `engine` is the store's own, else
        sqlite or duckdb; SQLite in this process stands in for a Postgres that lets no temporary tables be made. Equal
        positions of a ply are made one unless `merge` is false. Raises MoveError for a must-deny document without
        `assume`, where a move takes from a hand what it does not hold, and for more paths than the engine counts (64
        bits); StoreError for hands that are too large, and for an engine that is not there.
        """
        from ggn_store.api.moves import perft

        return perft.perft(self, self._legal, as_position(position), perft.Wanted(depth, **options))

    def reached(
        self,
        positions: Sequence[AnyPosition],
        depth: int = 1,
        *,
        engine: str | None = None,
        assume: Assumption | None = None,
    ) -> list[list[tuple[Position, int]]]:
        """For each position the different ones after `depth` moves, in any order, each with the number of paths to it.

        All moves of all positions are made together, as by `perft`.
        """
        from ggn_store.api.moves import perft

        asked = perft.Wanted(depth, engine, assume=assume)
        return perft.reached(self._legal, [*map(as_position, each_position(positions))], depth, asked)

    # --- parts ---

    def analysis(self, tell: Callable[[str], None] | None = None) -> RulesetAnalysis:
        """Mobility, coverage and other questions about the rules as a whole; `tell` gets the SQL that runs."""
        from ggn_store.api.questions.analysis import RulesetAnalysis

        return RulesetAnalysis(self.handle, tell)

    @functools.cached_property
    def pictures(self) -> Pictures:
        """Diagrams of positions and moves, heat maps, posters."""
        from ggn_store.api.moves.pictures import Pictures

        return Pictures(self._moves, self._legal)

    @functools.cached_property
    def columns(self) -> Columns:
        """The ruleset as tables of columns: the moves of many positions in DuckDB, views, Parquet files."""
        from ggn_store.api.moves.columns import Columns

        return Columns(self.handle)

    def spark(self, session: Any) -> SparkMoves:
        """The moves of DataFrames of positions, which the executors of a Spark session find."""
        from ggn_store.api.moves.spark import SparkMoves

        return SparkMoves(self.handle, self.columns, session)
