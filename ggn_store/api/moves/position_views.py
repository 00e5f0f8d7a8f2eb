"""The rows of the views that a query in SQL may ask of positions: what stands there, moves, legal moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from ggn_store.api.handle import AnyPosition, Handle, each_position
from ggn_store.api.moves.chains import Chains
from ggn_store.api.moves.legal import Legal
from ggn_store.api.moves.moves import Moves
from ggn_store.errors import PositionError
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.position import Position
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.store.database.session import Session
from ggn_store.store.moves import fast, reading
from ggn_store.store.rulesets import load
from ggn_store.store.schema.views import View
from ggn_store.store.sql.given import Given

_EVERYTHING: Final = fast.EVERYTHING
# They and their moves travel with the query.
MOST: Final = 1_000


class PositionViews:
    """The views of some positions of a revision or proposal, made as they are asked for."""

    def __init__(self, session: Session, handle: Handle, positions: Iterable[AnyPosition] | None) -> None:
        """The positions are the revision's start if they are None; raises PositionError where there is none."""
        self._store = session
        self._handle = handle
        if positions is None:
            if handle.start is None:
                raise PositionError(f"{handle.revision} has no start position of its own: give one with the query")
            positions = [handle.start]
        self._positions = [handle.placed(position) for position in islice(each_position(positions), MOST + 1)]
        if len(self._positions) > MOST:
            raise PositionError(f"a query asks at most {MOST:,} positions: give it fewer at a time")

    def given(self, view: View) -> Given:
        """One of the views with its rows."""
        positions, moves = self._positions, Moves(self._handle)
        if view.name == "positions":
            return Given(view, [*self._standing()])
        if view.name == "moves":
            return Given(view, [*self._keyed(positions, moves.many(positions, _EVERYTHING, None, "fast"))])
        ready = [*map(self._handle.ready, positions)]
        rows = [*self._keyed(ready, Legal(Chains(moves)).many(ready, _EVERYTHING, None, "fast"))]
        left = ", ".join(self._handle.play.host)
        return Given(view, rows, f"left to the players: {left}" if left else None)

    def _standing(self) -> Iterator[tuple[int, str, str, str, int]]:
        for number, position in enumerate(self._positions):
            for square, piece in position.board.items():
                if piece is not None:
                    yield number, square, piece, side_of(piece), 1
            for piece, count in (position.hands or {}).items():
                if count:
                    yield number, HAND, piece, side_of(piece), count

    def _keyed(self, positions: Sequence[Position], answers: Iterable[Sequence[Move]]) -> Iterator[tuple[Any, ...]]:
        """Moves with the keys of their possibilities, which the reading query gives; a pass has none."""
        revision, label = self._handle.revision, self._handle.board.label
        pieces = self._stored_pieces()
        keys: dict[tuple[Any, ...], tuple[int | None, int | None]] = {}
        with self._handle.opened() as opened:
            for row in reading.found(opened, positions, _EVERYTHING):
                place = row.piece, label(row.source), label(row.destination), row.ordinal
                keys[row.position, *place] = pieces.get(row.piece_id, row.piece_id), row.variant
        for number, moves in enumerate(answers):
            for move in moves:
                place = move.piece, move.source, move.destination, move.ordinal
                key = keys.get((number, *place), (None, None))
                yield revision.name, revision.number, number, move.piece, side_of(move.piece), *place[1:], *key

    def _stored_pieces(self) -> Mapping[int, int]:
        """The keys that the pieces of a proposal have in the store that is asked, by those of its copy in memory."""
        if self._handle.session is self._store:
            return {}
        digests = [each["digest"] for each in self._handle.piece_summaries()]
        with self._handle.session.reading() as memory:
            copies = load.known_pieces(memory, digests)
        with self._store.reading() as connection:
            stored = load.known_pieces(connection, digests)
        return {copies[digest]: stored[digest] for digest in copies if digest in stored}
