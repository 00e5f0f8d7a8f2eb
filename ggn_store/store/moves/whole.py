"""A revision as a whole, for engines that take all of it: its lanes, and its possibilities by place or as moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, and_, bindparam, select, union

from ggn_store.model.documents.lane import Fact, Lane, Statement
from ggn_store.model.moves.move import Move
from ggn_store.store.moves.positions import Opened
from ggn_store.store.moves.statements import read_statements
from ggn_store.store.rulesets import lanes
from ggn_store.store.rulesets.pieces import read_piece
from ggn_store.store.rulesets.possibilities import read_spans
from ggn_store.store.schema import tables as t


class PossibilityRow(NamedTuple):
    """Where a possibility stands, and what its own row says of it."""

    piece: str
    source: str
    destination: str
    ordinal: int
    toggle: bool | None
    action: str | None = None
    step: int | None = None
    chainable: bool | None = None


_PIECE: Final[BindParameter[int]] = bindparam("piece")
_PLACES: Final = (
    select(t.source.c.square, t.destination.c.square, t.variant.c.ordinal, t.variant.c.toggle)
    .select_from(t.variant.join(t.destination, t.VARIANT_OF_DESTINATION).join(t.source, t.DESTINATION_OF_SOURCE))
    .where(t.variant.c.piece_id == _PIECE)
    .order_by(t.variant.c.number)
)
_ORIGIN: Final = t.variant_origin.c
_PLACES_OF_GDL: Final = _PLACES.add_columns(_ORIGIN.action, _ORIGIN.step, _ORIGIN.chainable).outerjoin(
    t.variant_origin,
    and_(_ORIGIN.piece_id == t.variant.c.piece_id, _ORIGIN.variant == t.variant.c.number),
)


def read_lanes(opened: Opened) -> list[tuple[str, list[Lane]]]:
    """The lanes of each piece in document order; they are made where a piece has none that are stored."""
    connection, board = opened.connection, opened.board
    encoder = lanes.Encoder(board)
    found = []
    for piece in _pieces(opened):
        if piece.lanes == lanes.VERSION:
            stored = select(t.lane).where(lanes.is_of(piece.id)).order_by(t.lane.c.key)
            rows: Iterable[Any] = connection.execute(stored)
        else:
            rows = encoder.rows_of(piece.id, read_piece(connection, piece.id, board))
        found.append((piece.identifier, list(_lanes(rows, max(1, len(board.squares))))))
    return found


def read_named(opened: Opened) -> list[str]:
    """The pieces that effects name."""
    of_revision = t.revision_piece.c.revision_id == opened.revision.id
    named = [
        select(name).join(t.revision_piece, t.revision_piece.c.piece_id == name.table.c.piece_id).where(of_revision)
        for name in (t.effect.c.becomes, t.hand_effect.c.piece)
    ]
    found = set(opened.connection.execute(union(*named)).scalars())
    return sorted(each for each in found if each is not None)


def read_places(opened: Opened) -> list[PossibilityRow]:
    """Every possibility in document order."""
    return [place for piece in _pieces(opened) for place in _places(opened, piece)]


def read_moves(opened: Opened) -> list[Move]:
    """Every possibility in document order, as a move."""
    database, connection, revision, board = opened
    found: list[Move] = []
    for piece in _pieces(opened):
        places = list(_places(opened, piece))
        span = piece.id, 0, len(places)
        details = read_spans(database, board.squares, [span], connection, is_gdl=revision.dialect == "gdl")
        found += [details[piece.id, number].move(*place[:4], place.toggle) for number, place in enumerate(places)]
    return found


def place_of(move: Move) -> PossibilityRow:
    """Where the possibility that is a move stands."""
    toggle = None if move.transition is None else move.transition.toggle
    origin = () if move.action is None else (move.action, move.step, move.chainable)
    return PossibilityRow(move.piece, move.source, move.destination, move.ordinal, toggle, *origin)


def _pieces(opened: Opened) -> Sequence[Any]:
    """Key, identifier and version of the lanes of each piece, in document order."""
    piece = t.piece.c
    query = select(piece.id, piece.identifier, piece.lanes).select_from(t.PIECES_OF_REVISIONS)
    listed = query.where(t.revision_piece.c.revision_id == opened.revision.id)
    return opened.connection.execute(listed.order_by(t.revision_piece.c.ordinal)).all()


def _places(opened: Opened, piece: Any) -> Iterator[PossibilityRow]:
    query = _PLACES_OF_GDL if opened.revision.dialect == "gdl" else _PLACES
    label = opened.board.label
    for source, destination, *rest in opened.connection.execute(query, {"piece": piece.id}).all():
        yield PossibilityRow(piece.identifier, label(source), label(destination), *rest)


def _lanes(rows: Iterable[Any], squares: int) -> Iterator[Lane]:
    """Rows of the table as values; `squares` is how many the board has."""
    known: dict[str, dict[str, Fact]] = {}
    for key, each, path, passed, first, target, statements, facts, numbers in rows:
        said = known.get(statements)
        if said is None:
            said = known[statements] = _Facts(read_statements(statements), squares)
        texts = facts.split(" ")
        yield Lane(
            *(lanes.source_of(key), each, path, passed, first, target),
            tuple(map(said.__getitem__, texts)),
            tuple(map(int, numbers.split(" "))),
        )


class _Facts(dict[str, Fact]):
    """The facts of lanes that have the same statements, by their texts."""

    def __init__(self, statements: tuple[Statement, ...], squares: int) -> None:
        self._statements = statements
        self._squares = squares

    def __missing__(self, text: str) -> Fact:
        places = [divmod(int(number), self._squares) for number in text.split("+")]
        said = [(self._statements[statement], square) for statement, square in places]
        fact = self[text] = tuple((each, square if isinstance(each, str) else None) for each, square in said)
        return fact
