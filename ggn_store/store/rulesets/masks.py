"""A piece's rows -> masks over square numbers, which the fast query compares with a position's.

To a side, a square of a position is empty, the enemy's, or its own: three sets of squares, each a few words of 64
bits. A possibility fails if one of the squares that must not be empty is, or one that must not be the enemy's, or
one that must not be its own; so three masks say all that GGN's `empty` and `enemy` can say, in `must` and `deny`
(SEMANTICS, conditions). Of a piece by name they say whose it is: such a possibility is marked `exact`, and what the
masks let through is still to be held to its conditions. They are made for the piece's own side to move.

Two possibilities that follow each other, and differ only in that one square is empty for the first and the enemy's
for the second (a step and the capture on the same square), are one row: `twin` is that square.

The rows of a (piece, source) lie together, under the key `start`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, TypeVar

from sqlalchemy import Column, ColumnElement

from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY, Piece, Possibility
from ggn_store.store.schema import tables as t

WORD: Final = 64
# Sources are numbered below this: 512 squares and the hand.
_SOURCES: Final = 1024


def words(board: Board) -> int:
    """How many words the masks over a board have; 0 where it is too large for any."""
    return board.words if board.words <= t.MASK_WORDS else 0


def why_none(board: Board) -> str:
    """Why there are no masks of pieces on a board, for people to read."""
    if words(board):
        return "masks are missing: run `ggn-store db rebuild`"
    return f"the board has {len(board.squares):,} squares, and masks end at {WORD * t.MASK_WORDS}"


def start(piece_id: int, source: int) -> int:
    """The key of a piece's masks from its source of this ordinal."""
    return piece_id * _SOURCES + source


Start = TypeVar("Start", int, ColumnElement[int])


def piece_of(start: Start) -> Start:
    """The key of the piece whose masks lie under `start`."""
    return start // _SOURCES


def place(start: int) -> tuple[int, int]:
    """The key of the piece and the ordinal of the source that `start` stands for."""
    return divmod(start, _SOURCES)


def is_of(piece_id: int) -> ColumnElement[bool]:
    """Whether a row of the table is one of a piece's."""
    return t.mask.c.start.between(start(piece_id, 0), start(piece_id, _SOURCES - 1))


def columns(words: int) -> Sequence[Column[Any]]:
    """The columns of the table that are used on a board of so many words, in order."""
    return list(t.mask.columns)[: 3 + len(t.MASKS) * words]


def split(mask: int, words: int) -> tuple[int, ...]:
    """The words of a mask, the lowest squares first, as the signed numbers that databases have."""
    return struct.unpack(f"<{words}q", mask.to_bytes(8 * words, "little"))


# Destinations with the same conditions have the same masks, and equal conditions of a document are the same objects.
Known = dict[tuple[int, ...], list[tuple[int, tuple[Any, ...]]]]


def flatten(piece_id: int, piece: Piece, board: Board, known: Known | None = None) -> list[tuple[Any, ...]]:
    """The mask rows of a piece in the order of their keys, with values for `columns`; none on too large a board.

    What is `known` of other pieces on the board, which must all live on, is taken from there, and added to.
    """
    count = words(board)
    if not count:
        return []
    bits = {square: 1 << number for square, number in board.numbers.items()}
    known = {} if known is None else known
    rows: list[tuple[Any, ...]] = []
    is_upper = piece.identifier[0].isupper()
    number = 0
    for ordinal, source in enumerate(piece.sources):
        key = start(piece_id, ordinal)
        for destination in source.destinations:
            possibilities = destination.possibilities
            alike = (is_upper, *(id(each) for one in possibilities for each in (one.must, one.deny)))
            found = known.get(alike)
            if found is None:
                found = known[alike] = [
                    (step, (masks[3], *_words((*masks[:3], twin), count)))
                    for masks, twin, step in _rows(possibilities, bits, is_upper)
                ]
            for step, values in found:
                rows.append((key, number, *values))
                number += step
    return rows


def _words(planes: Sequence[int], count: int) -> Iterator[int]:
    """Some masks of so many words each, as values for the columns."""
    if count == 1:
        return map(_signed, planes)
    return chain.from_iterable(zip(*(split(mask, count) for mask in planes), strict=True))


_Masks = tuple[int, int, int, bool]


def _rows(
    possibilities: Sequence[Possibility], bits: dict[str, int], is_upper: bool
) -> Iterator[tuple[_Masks, int, int]]:
    """The masks of a destination's rows, each with its twin's square and the number of possibilities in it."""
    previous: _Masks | None = None
    for possibility in possibilities:
        masks = masks_of(possibility, bits, is_upper)
        if previous is None:
            previous = masks
            continue
        twin = _twin(previous, masks)
        if twin:
            yield (previous[0], previous[1] & ~twin, previous[2], False), twin, 2
            previous = None
        else:
            yield previous, 0, 1
            previous = masks
    if previous is not None:
        yield previous, 0, 1


def masks_of(possibility: Possibility, bits: Mapping[str, int], is_upper: bool) -> tuple[int, int, int, bool]:
    """The masks of squares that must not be empty, the enemy's and its own, and whether a piece is named."""
    not_empty = not_enemy = not_own = 0
    exact = False
    for square, state in possibility.must.items():
        bit = bits[square]
        if state == EMPTY:
            not_enemy |= bit
            not_own |= bit
        elif state == ENEMY:
            not_empty |= bit
            not_own |= bit
        else:
            not_empty |= bit
            if state[0].isupper() is is_upper:
                not_enemy |= bit
            else:
                not_own |= bit
            exact = True
    for square, state in possibility.deny.items():
        bit = bits[square]
        if state == EMPTY:
            not_empty |= bit
        elif state == ENEMY:
            not_enemy |= bit
        else:
            exact = True
    return not_empty, not_enemy, not_own, exact


def _twin(first: _Masks, second: _Masks) -> int:
    """The one square that is empty for the first and the enemy's for the second, all else being equal; else 0."""
    twin = first[1] ^ second[1]
    is_alone = twin and not twin & (twin - 1) and not first[3] and not second[3]
    is_pair = first[1] & twin and second[0] == first[0] | twin and first[2] == second[2] and first[2] & twin
    return twin if is_alone and is_pair and not first[0] & twin else 0


def _signed(word: int) -> int:
    return word - (1 << WORD) if word >> (WORD - 1) else word
