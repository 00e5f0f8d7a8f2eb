"""The possibilities that may apply within some moves from given positions, read source by source.

Possibilities that do the same, one when a square is empty, the next when the enemy is on it, are one entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Table, and_, select

from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.moves.move import displacement
from ggn_store.model.moves.play import Play
from ggn_store.model.moves.position import SIDES, Position
from ggn_store.notation.qpi import Side, other_side, side_of
from ggn_store.store.database.engine import RowSelect
from ggn_store.store.moves.positions import Opened
from ggn_store.store.rulesets.possibilities import Details, read_spans
from ggn_store.store.schema import tables as t


@dataclass(slots=True)
class Entry:
    """A possibility; masks are over square numbers, `must`, `deny` and `becomes` have one for each piece."""

    piece: str
    source: int | None
    not_own: int
    not_enemy: int
    not_empty: int
    must: dict[str, int]
    deny: dict[str, int]
    touched: int
    becomes: dict[str, int]
    deltas: dict[str, int]
    toggle: bool

    def effects(self) -> tuple[object, ...]:
        """What it changes, to be compared."""
        return self.touched, self.becomes, self.deltas, self.toggle

    def may_hold(self, stands: set[tuple[str, int]], enemies: int) -> bool:
        """Whether what it asks for may be there: exact pieces, and enemies where the square must be theirs."""
        if self.not_empty & self.not_own & ~enemies:
            return False
        return all((piece, square) in stands for piece, squares in self.must.items() for square in _bits(squares))


def reachable(opened: Opened, positions: Sequence[Position], depth: int, play: Play) -> list[Entry]:
    """The possibilities that may hold within `depth` moves from some positions in a game that is played so.

    What may stand where is followed ply by ply, as if no move ever removed anything; what crosses squares stands there.
    """
    reader = _Reader(opened)
    numbers = opened.board.numbers
    stands = {
        (str(piece), numbers[square])
        for position in positions
        for square, piece in position.board.items()
        if square in numbers
    }
    stands |= _reverted(stands, play)
    crossing = [(each.piece, numbers[square]) for each in play.crossing for square in each.through]
    held: set[str] | None = {piece for position in positions for piece in position.hands or ()}
    if not positions or positions[0].hands is None:
        held = None
    sides = {position.side for position in positions}
    occupied = dict.fromkeys(SIDES, 0)
    found: list[Entry] = []
    passing: set[tuple[Side, bool]] = set()
    pending: dict[Side, list[Entry]] = {side: [] for side in SIDES}
    fresh = stands.union(crossing)
    for _ in range(depth):
        for piece, square in fresh:
            occupied[side_of(piece)] |= 1 << square
        starts = [
            (piece, square)
            for piece, square in reader.unread
            if side_of(piece) in sides
            and ((held is None or piece in held) if square is None else (piece, square) in stands)
        ]
        for entry in reader.read(starts):
            pending[side_of(entry.piece)].append(entry)
        fresh = set()
        gained: set[str] = set()
        if play.duty("pass"):
            passing.update((side, True) for side in sides)
        for side in sides:
            later = []
            for entry in pending[side]:
                if not entry.may_hold(stands, occupied[other_side(side)]):
                    later.append(entry)
                    continue
                found.append(entry)
                passing.add((side, entry.toggle))
                fresh.update((piece, square) for piece, squares in entry.becomes.items() for square in _bits(squares))
                gained.update(piece for piece, number in entry.deltas.items() if number > 0)
            pending[side] = later
        fresh |= _reverted(fresh, play)
        fresh -= stands
        stands |= fresh
        if held is not None:
            held |= gained
        sides = {other_side(side) if toggle else side for side, toggle in passing if side in sides}
    return found


def _reverted(stands: set[tuple[str, int]], play: Play) -> set[tuple[str, int]]:
    """What marked pieces become where they stand."""
    return {(play.reverts[piece], square) for piece, square in stands if piece in play.reverts}


def _of_sources(table: Table, *columns: str) -> RowSelect:
    """Some columns of the rows of sources, after the piece that they are of."""
    query = select(table.c.piece_id, *(table.c[column] for column in columns))
    return RowSelect(
        ("piece_id", "source"),
        lambda asked: query.join_from(
            asked, table, and_(table.c.piece_id == asked.c.piece_id, table.c.source == asked.c.source)
        ),
    )


_VARIANTS: Final = _of_sources(t.variant, "source", "destination", "ordinal", "number", "toggle")
_DESTINATIONS: Final = _of_sources(t.destination, "source", "ordinal", "square")


class _Reader:
    """Reads the rules of a revision, source by source."""

    def __init__(self, opened: Opened) -> None:
        self._database, self._connection, revision, self._board = opened
        self._bits = {square: 1 << number for square, number in self._board.numbers.items()}
        query = (
            select(t.piece.c.identifier, t.source.c.piece_id, t.source.c.ordinal, t.source.c.square)
            .join(t.revision_piece, t.revision_piece.c.piece_id == t.source.c.piece_id)
            .join(t.piece, t.piece.c.id == t.source.c.piece_id)
            .where(t.revision_piece.c.revision_id == revision.id)
        )
        self.unread = {
            (piece, square): (number, ordinal) for piece, number, ordinal, square in self._connection.execute(query)
        }
        """Piece and square (None for the hand) of sources that were not read yet, with their keys."""

    def read(self, starts: Iterable[tuple[str, int | None]]) -> Iterator[Entry]:
        """The possibilities from some sources, those that are a pair joined."""
        wanted = {self.unread.pop(start): start for start in starts}
        if not wanted:
            return
        variants = sorted(map(tuple, self._database.ask(_VARIANTS, list(wanted), self._connection)))
        spans = []
        for (piece, _), group in groupby(variants, key=itemgetter(0, 1)):
            numbers = [number for *_, number, _ in group]
            spans.append((piece, min(numbers), max(numbers)))
        destinations = self._database.ask(_DESTINATIONS, list(wanted), self._connection)
        squares = {tuple(place): square for *place, square in destinations}
        details = read_spans(self._database, self._board.squares, spans, self._connection, is_gdl=False)
        for place, group in groupby(variants, key=itemgetter(0, 1, 2)):
            identifier, source = wanted[place[:2]]
            yield from _joined(
                self._entry(identifier, source, squares[place], details[piece, number], toggle)
                for piece, _, _, _, number, toggle in group
            )

    def _entry(self, piece: str, source: int | None, destination: int | None, details: Details, toggle: Any) -> Entry:
        effects = details.effects(toggle) or displacement(
            piece, self._board.label(source), self._board.label(destination)
        )
        not_own = not_enemy = not_empty = touched = 0
        must: dict[str, int] = {}
        deny: dict[str, int] = {}
        becomes: dict[str, int] = {}
        for square, state in details.must.items():
            bit = self._bits[square]
            if state == EMPTY:
                not_own |= bit
                not_enemy |= bit
            elif state == ENEMY:
                not_own |= bit
                not_empty |= bit
            else:
                must[state] = must.get(state, 0) | bit
        for square, state in details.deny.items():
            bit = self._bits[square]
            if state == EMPTY:
                not_empty |= bit
            elif state == ENEMY:
                not_enemy |= bit
            else:
                deny[state] = deny.get(state, 0) | bit
        for square, after in effects.board.items():
            touched |= self._bits[square]
            if after is not None:
                becomes[after] = becomes.get(after, 0) | self._bits[square]
        masks = (not_own, not_enemy, not_empty)
        return Entry(piece, source, *masks, must, deny, touched, becomes, dict(effects.hands), effects.toggle)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def _joined(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries of a destination, those that are a pair as one."""
    previous: Entry | None = None
    for entry in entries:
        if previous is not None and _join(previous, entry):
            continue
        if previous is not None:
            yield previous
        previous = entry
    if previous is not None:
        yield previous


def _join(first: Entry, second: Entry) -> bool:
    """Make one of two, if they differ only in that a square is empty for the first and the enemy's for the second."""
    twin = first.not_enemy ^ second.not_enemy
    if (
        not twin
        or twin & (twin - 1)
        or not first.not_own & first.not_enemy & twin
        or first.not_empty & twin
        or second.not_empty != first.not_empty | twin
        or first.not_own != second.not_own
        or first.must != second.must
        or first.deny != second.deny
        or first.effects() != second.effects()
    ):
        return False
    first.not_enemy &= ~twin
    return True
