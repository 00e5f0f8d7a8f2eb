"""Which moves a key of a piece's table makes: those that the piece does not have without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from ggn_store.games.generate import Writer
from ggn_store.games.rules import BetzaMoves, Definition, PieceRule
from ggn_store.model.changes.possibilities import content

# The keys that make moves, and what a piece has where they are not written.
_WITHOUT: Final[dict[str, dict[str, Any]]] = {
    "betza": {"moves": BetzaMoves()},
    "also": {"also": ()},
    "castling": {"castling": ()},
    "promotion": {"promotions": ()},
    "drop": {"drop": None},
    "gating": {"gating": False},
    "en_passant": {"en_passant": None},
    "wall": {"wall": None},
}
KEYS: Final = tuple(_WITHOUT)
MadeEntry = tuple[str, str, str]


def made_by(definition: Definition, piece: PieceRule, key: str) -> list[MadeEntry]:
    """The entries (identifier, source, destination) that a key of a piece's table makes, of the piece's first side.

    Where a piece goes so without it, too, as where the key only says what becomes of it, these are the entries that say
    something else. A piece in another state, such as one that has not moved yet, is the same piece here.
    """
    other = replace(piece, **_WITHOUT[key])
    rest = tuple(other if each is piece else each for each in definition.pieces)
    before: dict[tuple[str, str], set[Any]] = {}
    for (_, *place), said in _written(replace(definition, pieces=rest), other):
        before.setdefault((place[0], place[1]), set()).update(said)
    found = [*_written(definition, piece)]
    new = [entry for entry, _ in found if entry[1:] not in before]
    return new or [entry for entry, said in found if not said <= before[entry[1:]]]


def _written(definition: Definition, piece: PieceRule) -> Iterator[tuple[MadeEntry, set[Any]]]:
    """The entries of a piece in all its states, and what each says."""
    writer = Writer(definition, piece.sides[0])
    for form in writer.own.forms:
        if form.piece is piece and not form.derived:
            for source in writer.sources(form):
                for to in source.destinations:
                    yield (form.identifier, source.square, to.square), set(map(content, to.possibilities))
