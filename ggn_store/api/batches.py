"""Many positions at once: their moves, and counts of them that never leave the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from ggn_store.api.garbage import held_off
from ggn_store.errors import MoveError, quote
from ggn_store.model.move import Move
from ggn_store.model.position import Position
from ggn_store.notation.hand import HAND
from ggn_store.store.moves import batch
from ggn_store.store.moves.batch import COUNTS, Count
from ggn_store.store.moves.fast import FastQuery, NotEncodableError

if TYPE_CHECKING:
    from ggn_store.api.moves import Moves

Positions = Iterable[Position | Mapping[str, str | None]]

# Positions in one statement; their temporary rows are a few kilobytes each.
_CHUNK: Final = 1_000


def moves(ruleset: Moves, query: FastQuery, positions: Positions) -> Iterator[list[Move]]:
    """For each position its moves; what is not known yet of a thousand positions is asked in one statement."""
    database = ruleset._database
    for chunk in _chunks(ruleset, positions):
        try:
            with held_off():
                looked_up = query.look_up(chunk)
                rows = []
                if looked_up.unknown:
                    with database.reading() as connection:
                        rows = batch.ask(database, connection, query, chunk, looked_up)
                found = query.complete(looked_up, rows)
                if ruleset.variables:
                    pairs = zip(found, chunk, strict=True)
                    found = [ruleset.guarded(each, position.state) for each, position in pairs]
        except NotEncodableError:
            found = [ruleset.moves(position) for position in chunk]
        yield from found


def counts(ruleset: Moves, query: FastQuery | None, positions: Positions, by: Count) -> dict[int | str, int]:
    """How many moves there are: by number of the position from 0, or by piece or destination that has any."""
    if by not in COUNTS:
        raise MoveError(f"moves are counted by {', '.join(COUNTS)}, not by {quote(by)}")
    database = ruleset._database
    total: Counter[int | str] = Counter()
    first = 0
    for chunk in _chunks(ruleset, positions):
        found: Mapping[int | str, int]
        try:
            if query is None or ruleset.variables:
                raise NotEncodableError
            with database.reading() as connection:
                found = batch.counts(database, connection, query, chunk, by)
        except NotEncodableError:
            found = _counted(ruleset.moves_batch(chunk), by)
        if by == "position":
            found = {first + int(number): count for number, count in found.items()}
        for key, count in found.items():
            total[key] += count
        first += len(chunk)
    if by == "position":
        return dict(total)
    order = ruleset.pieces if by == "piece" else (*ruleset.board.squares, HAND)
    return {key: total[key] for key in order if total[key]}


def _counted(answers: Sequence[list[Move]], by: Count) -> dict[int | str, int]:
    if by == "position":
        return {number: len(found) for number, found in enumerate(answers)}
    return dict(Counter(move.piece if by == "piece" else move.destination for found in answers for move in found))


def _chunks(ruleset: Moves, positions: Positions) -> Iterator[list[Position]]:
    """The positions in parts, without squares that are not the board's."""
    given = iter(positions)
    while chunk := [ruleset.placed(position) for position in islice(given, _CHUNK)]:
        yield chunk
