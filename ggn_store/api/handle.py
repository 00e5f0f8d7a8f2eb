"""Handles on stored revisions: what they are, their documents, and positions on their boards."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ggn_store.api.session import naming
from ggn_store.errors import PositionError, UnknownNameError, did_you_mean, offer, quote
from ggn_store.model.documents import variables
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Piece
from ggn_store.model.documents.variables import Variable
from ggn_store.model.moves import play_text
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.play import Play
from ggn_store.model.moves.position import Position
from ggn_store.model.teams.revision import Revision
from ggn_store.notation.hand import HAND
from ggn_store.store.database.session import Session
from ggn_store.store.moves.positions import Opened
from ggn_store.store.rulesets import catalog

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition
    from ggn_store.gdl.specification import Specification
    from ggn_store.model.pictures.style import Style
    from ggn_store.store.rulesets.stored_documents import Transaction

AnyPosition = Position | Mapping[str, str | None]
# What `Ruleset.apply` makes: a move, or what means one as a text or a path of squares.
AnyMove = Move | Chain | Sequence[str]


# Possibilities of a piece that is held to its digest before a part of it is read: three seconds.
_MOST_VERIFIED: Final = 100_000


def as_position(position: AnyPosition) -> Position:
    """`position`, or that of a plain mapping: the first side moves and the hands are not known."""
    if isinstance(position, Position):
        return position
    if not isinstance(position, Mapping):
        raise PositionError(
            f"{quote(position)} is not a position: the method `position` of a ruleset reads a text (fen=..., feen=...)"
        )
    return Position(position)


def each_position(positions: Iterable[AnyPosition]) -> Iterator[AnyPosition]:
    """The positions that a method of several was given; raises PositionError for a single one."""
    if isinstance(positions, Position | Mapping | str) or not isinstance(positions, Iterable):
        raise PositionError(f"several positions are asked for, such as a list of them; found {quote(positions)}")
    return iter(positions)


class Handle:
    """A revision in a store, which stays what it is: what `Ruleset`, which explains it, and all of its parts ask."""

    def __init__(self, session: Session, revision: Revision) -> None:
        self.session = session
        self.revision = revision
        self._is_sound = False
        # The last that was read: whoever goes through a piece, source by source, asks for it again and again.
        self._outline: Piece | None = None
        self._verified: set[str] = set()
        # By what was asked for: `styles` looks at all that the rules say.
        self.styles: dict[str | None, Style] = {}

    @functools.cached_property
    def board(self) -> Board:
        with self.session.reading() as connection:
            return catalog.read_board(connection, self.revision.board_id)

    @functools.cached_property
    def _keys(self) -> dict[str, catalog.Listed]:
        with self.session.reading() as connection:
            return catalog.piece_keys(connection, self.revision)

    @functools.cached_property
    def pieces(self) -> tuple[str, ...]:
        return tuple(self._keys)

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """The revision in a transaction that reads."""
        board = self.board  # which takes a transaction of its own, and a store in memory has one at a time
        with self.session.reading() as connection:
            yield Opened(self.session.database, connection, self.revision, board)

    def piece_summaries(self) -> list[dict[str, Any]]:
        return [{**each} for each in self._summaries]

    @functools.cached_property
    def _summaries(self) -> list[dict[str, Any]]:
        with self.session.reading() as connection:
            return catalog.piece_summaries(connection, self.revision)

    @property
    def start(self) -> Position | None:
        """The start position, if one was given with the document."""
        return None if self.revision.envelope.start is None else Position.from_text(self.revision.envelope.start)

    @functools.cached_property
    def variables(self) -> Mapping[str, Variable]:
        return variables.parse(self.revision.envelope.variables)

    @functools.cached_property
    def told_variables(self) -> Mapping[str, Variable]:
        """Those that a position says itself, as its board does not."""
        return variables.told(self.variables)

    @functools.cached_property
    def play(self) -> Play:
        """How the game is played; a definition says it also of revisions from before it was stored beside it."""
        if self.revision.envelope.play is None and self.definition is not None:
            from ggn_store.games import playing

            return playing.derive(self.definition)
        return play_text.parse(self.revision.envelope.play)

    @functools.cached_property
    def definition(self) -> Definition | None:
        self.require_sound()
        text = self.revision.envelope.definition
        if text is None or self.revision.envelope.is_described:
            return None
        from ggn_store.games import definition

        return definition.read(text, f"the definition of {self.revision}")

    @functools.cached_property
    def specification(self) -> Specification | None:
        """The game description that the ruleset was compiled from, None where it was not."""
        self.require_sound()
        text = self.revision.envelope.definition
        if text is None or not self.revision.envelope.is_described:
            return None
        from ggn_store.gdl.check import read_specification

        return read_specification(text, f"the game description of {self.revision}")

    @functools.cached_property
    def piece_names(self) -> Mapping[str, str]:
        """What the definition, or the game description, calls pieces, by identifier; of some it may say nothing."""
        if self.specification is not None:
            from ggn_store.gdl.compile import piece_names

            return piece_names(self.specification)
        return {} if self.definition is None else naming.names_in(self.definition)

    # --- documents out ---

    def read_pieces(self) -> Iterator[Piece]:
        self.require_sound()
        board = self.board
        for each in self._keys.values():
            with self.session.reading() as connection:
                piece = _whole(connection, each.id, board)
            yield piece

    def read_piece(self, piece: str) -> Piece:
        with self._found(piece) as (opened, piece_id):
            found = _whole(opened.connection, piece_id, opened.board)
        self._verified.add(piece)
        return found

    def read_outline(self, piece: str) -> Piece:
        """A piece without its possibilities: its sources, and their destinations."""
        from ggn_store.store.rulesets import pieces

        outline = self._outline
        if outline is None or outline.identifier != piece:
            with self._found(piece) as (opened, piece_id):
                reader = pieces.Reader(self.revision.dialect, opened.board)
                outline = pieces.read_outline(opened.connection, piece_id, piece, reader)
            self._outline = outline
        return outline

    def read_source(self, piece: str, source: str, *, alone: bool = False) -> Piece:
        """A piece with what it can do from one source only, a square of the board or the hand.

        The first time all of it is read, and held to its digest, unless it is asked for `alone` or there is too much.
        """
        from ggn_store.store.rulesets import pieces

        # In a transaction of its own, and a store in memory has one at a time.
        is_known = alone or piece in self._verified or self._size(piece) > _MOST_VERIFIED
        with self._found(piece) as (opened, piece_id):
            if is_known:
                reader = pieces.Reader(self.revision.dialect, opened.board)
                return pieces.read_source(opened.connection, piece_id, piece, reader, source)
            whole = _whole(opened.connection, piece_id, opened.board)
            self._verified.add(piece)
            return replace(whole, sources=tuple(each for each in whole.sources if each.square == source))

    def _size(self, piece: str) -> int:
        return sum(each["possibilities"] or 0 for each in self._summaries if each["piece"] == piece)

    @contextmanager
    def _found(self, piece: str) -> Iterator[tuple[Opened, int]]:
        """The revision in a transaction that reads, and the key of a piece of it; raises DamagedError for its rows."""
        self.require_sound()
        self.require_piece(piece)
        piece_id = self._keys[piece].id
        with self.opened() as opened:
            try:
                yield opened, piece_id
            except (LookupError, TypeError, ValueError):  # of what some rows hold instead
                _whole(opened.connection, piece_id, opened.board)
                raise

    # --- positions ---

    def placed(self, position: AnyPosition) -> Position:
        """`position` without squares that the board does not have; PositionError where it was declared without."""
        position = as_position(position)
        numbers = self.board.numbers
        if numbers.keys() >= position.board.keys():
            return self.stated(position)
        position = self.on_board(position)
        return replace(position, board={square: piece for square, piece in position.board.items() if square in numbers})

    def on_board(self, position: Position) -> Position:
        """`position` with its whole state, if it fits the board.

        A board that was not declared is only a guess, and all fits.
        """
        position = self.stated(position)
        if self.revision.envelope.board is not None:
            outside = sorted(position.board.keys() - self.board.numbers.keys())
            if outside:
                raise PositionError(
                    f"{offer(outside)}: not on the board of {self.revision}, which is {self.board.shape_text}"
                )
        return position

    def stated(self, position: Position) -> Position:
        """`position` with its whole state, if its board has the shape of a declared one."""
        if position.shape is not None and position.shape != self.board.shape and self.revision.envelope.board:
            position.require_shape(self.board.shape, self.revision)
        if position.state is None and not self.variables:
            return position
        state = variables.complete(self.variables, position.state, str(self.revision), position.board)
        return replace(position, state=state)

    def told(self, position: Position) -> Position:
        """`position` without the variables that its board says."""
        if position.state is None or len(self.told_variables) == len(self.variables):
            return position
        return replace(
            position, state={name: value for name, value in position.state.items() if name in self.told_variables}
        )

    def as_left(self, position: AnyPosition) -> Position:
        """`position` as moves leave it: with the value of every variable that its board does not say, and no other."""
        return self.told(self.stated(as_position(position)))

    def ready(self, position: AnyPosition) -> Position:
        """`position` on the board with its whole state, and without marks that are past (`play.reverts`)."""
        return self.play.unmarked(self.on_board(as_position(position)))

    # --- what there is ---

    def require_sound(self) -> None:
        """Raise StoreError where the revision is not what was stored; its pieces are looked at as they are read."""
        if not self._is_sound:
            from ggn_store.store.rulesets import stored_documents

            with self.session.reading() as connection:
                stored_documents.require_sound(connection, stored_documents.of_revision(connection, self.revision))
            self._is_sound = True

    def require_piece(self, piece: str) -> None:
        """Raise UnknownNameError (a KeyError) for a piece that the ruleset has no rules for."""
        if piece not in self.pieces:
            hint = did_you_mean(piece, self.pieces, least=0.8) or f"; it has {offer(self.pieces)}"
            raise UnknownNameError(f"{self.revision} has no rules for {quote(piece)}{hint}")

    def require_square(self, square: str | None, or_hand: bool = True) -> None:
        """Raise UnknownNameError for what is no square of the board, nor the hand where that may be; None passes."""
        known = isinstance(square, str) and (square in self.board.numbers or (or_hand and square == HAND))
        if square is not None and not known:
            raise UnknownNameError(
                f"{self.revision} has no square {quote(square)}; its board is "
                f"{self.board.shape_text or offer(self.board.squares)}"
            )

    def require_place(self, piece: str | None, source: str | None, destination: str | None) -> None:
        """Raise UnknownNameError for a piece without rules, or a square that is not there; None is let pass."""
        if piece is not None:
            self.require_piece(piece)
        for square in (source, destination):
            self.require_square(square)


def _whole(connection: Transaction, piece_id: int, board: Board) -> Piece:
    # For documents and pictures: what asks for moves needs none of it.
    from ggn_store.store.rulesets.pieces import read_piece

    return read_piece(connection, piece_id, board)
