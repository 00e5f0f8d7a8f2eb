"""Positions -> columns for one compiled ruleset, whole arrays at a time.

    moving     position (number from 0), start, mover, empty, enemy (words over the mover's lane): for each piece of
               the side to move that stands on a start, or is held where one is the hand, and each mover of that start
    standing   position, start, empty_0, enemy_0 and so on for every word of the board, named_0 and so on for every
               word of names (which of the start's names stand on their squares): the same pieces, where their start
               has masked rows

`enemy` is seen from the side to move. Positions come as `Position`, as FEEN texts, or as Arrow tables.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.columnar.compile import EXTRA, Compiled
from ggn_store.columnar.extras import need
from ggn_store.columnar.feen_texts import FeenTexts
from ggn_store.columnar.lanes import WORD
from ggn_store.errors import PositionError, offer, quote
from ggn_store.model.position import SIDES, Position
from ggn_store.notation import qpi
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of

# Positions that are encoded at once: their arrays still lie in a processor's cache.
CHUNK: Final = 4096


@dataclass(frozen=True, slots=True)
class Batch:
    """Encoded positions: Arrow tables, and how many positions they are of.

    `ids` are the numbers that the caller gives the positions, None where they are numbered from 0.
    """

    count: int
    moving: Any
    standing: Any
    ids: Any = None


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions as arrays, before a ruleset's numbers for starts come in.

    `position`, `square` and `piece` have a row for each piece on the board: its position from 0, its square's number,
    and `Encoder.piece_of` of its identifier. `held` are position and piece of what is in the hands. `first` tells of
    every position whether the first side moves, `hands_known` whether its hands are known.
    """

    position: Any
    square: Any
    piece: Any
    held: tuple[Any, Any]
    first: Any
    hands_known: Any


class Pieces(dict[str, int]):
    """Identifier -> twice its number in the ruleset (-1: it knows none such), plus 1 for the first side's."""

    def __init__(self, identifiers: Sequence[str]) -> None:
        super().__init__((each, 2 * number + (side_of(each) == "first")) for number, each in enumerate(identifiers))

    def __missing__(self, identifier: str) -> int:
        # Not kept: the pieces of strange positions must not pile up here.
        return -2 + (side_of(identifier) == "first")


class Encoder:
    """Encodes positions for one compiled ruleset; raises GgnStoreError where numpy or pyarrow is missing."""

    def __init__(self, compiled: Compiled) -> None:
        np = need("numpy", EXTRA)
        self._np, self._pa = np, need("pyarrow", EXTRA)
        self._compiled = compiled
        self._words = compiled.words
        table = compiled.tables
        self.labels: list[str] = table["square"]["label"].to_pylist()
        self.numbers = {label: number for number, label in enumerate(self.labels)}
        self.pieces = Pieces(table["piece"]["identifier"].to_pylist())

        def column(name: str, field: str) -> Any:
            return table[name][field].to_numpy()

        # One row more: the last (-1) is that of pieces which the ruleset does not know, one column more for the hand.
        count = len(self.labels)
        self._starts = np.full((len(self.pieces) + 1, count + 1), -1, np.int32)
        square = table["start"]["square"].fill_null(count).to_numpy()
        self._starts[column("start", "piece"), square] = column("start", "start")
        self._sides = np.array([code & 1 for code in self.pieces.values()], bool)
        self._has_masked = column("start", "has_masked").astype(bool)
        self._lanes = column("mover", "lane")
        begins = np.searchsorted(column("mover", "start"), np.arange(len(self._has_masked) + 1))
        self._first_mover = begins[:-1].astype(np.int32)
        self._movers = np.diff(begins)
        self._named = {name: column("named", name) for name in ("bit", "piece", "square")}
        self._names = np.searchsorted(column("named", "start"), np.arange(len(self._has_masked) + 1))
        self._reversed = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], np.uint8)
        self._feen = FeenTexts(self.pieces, self.numbers)

    # --- ways in ---

    def positions(self, positions: Sequence[Position]) -> Batch:
        """A batch of positions; raises PositionError for squares outside a declared board."""
        return self._in_chunks(positions, self._from_positions, len(positions))

    def feen(self, texts: Sequence[str]) -> Batch:
        """A batch of FEEN texts; raises PositionError, quoting it, for the first that is none."""
        return self._in_chunks(texts, self._from_feen, len(texts))

    def arrow(self, pieces: Any, sides: Any = None, hands: Any = None) -> Batch:
        """A batch from Arrow tables: `pieces` (position, square, piece), `sides` (position, side), `hands` (position,
        piece, count).

        Positions are whole numbers of the caller's, squares labels. Without `sides` the first side moves everywhere,
        without `hands` nothing is known of them; with it, a position that it does not mention has empty hands. Raises
        PositionError for what is not a position.
        """
        columns, ids = self._from_arrow(pieces, sides, hands)
        return self._batch([self._encode(columns)], len(ids), self._pa.array(ids))

    # --- what comes in, as arrays ---

    def _in_chunks(self, items: Sequence[Any], read: Callable[[Sequence[Any]], Columns], count: int) -> Batch:
        """Chunk by chunk on several processors: numpy lets the others work while it does."""

        def encode(begin: int) -> tuple[Any, Any]:
            return self._encode(read(items[begin : begin + CHUNK]), begin)

        begins = range(0, max(1, count), CHUNK)
        if len(begins) == 1:
            return self._batch([encode(0)], count)
        with ThreadPoolExecutor(min(len(begins), os.cpu_count() or 1)) as pool:
            return self._batch(list(pool.map(encode, begins)), count)

    def _from_positions(self, positions: Sequence[Position]) -> Columns:
        np = self._np
        boards = [position.board for position in positions]
        sizes = np.fromiter(map(len, boards), np.int32, len(boards))
        total = int(sizes.sum())
        flat = itertools.chain.from_iterable
        numbers, pieces = self.numbers, self.pieces
        square = np.fromiter((numbers.get(each, -1) for each in flat(boards)), np.int32, total)
        values: Iterable[Any] = flat(board.values() for board in boards)
        piece = np.fromiter(map(pieces.__getitem__, values), np.int32, total)
        position = np.repeat(np.arange(len(boards), dtype=np.int32), sizes)
        if (square < 0).any():
            self._require_on_board({each for board in boards for each in board} - set(numbers))
            position, square, piece = (array[square >= 0] for array in (position, square, piece))
        held = [
            (at, pieces[each]) for at, p in enumerate(positions) for each, count in (p.hands or {}).items() if count
        ]
        return Columns(
            position,
            square,
            piece,
            self._pairs(held),
            np.array([position.side == "first" for position in positions], bool),
            np.array([position.hands is not None for position in positions], bool),
        )

    def _from_feen(self, texts: Sequence[str]) -> Columns:
        np = self._np
        read = self._feen.read(texts)
        if read is None:
            return self._from_positions(list(map(Position.from_feen, texts)))
        position, square, piece, held, first = read
        outside = square < 0
        if outside.any():
            if self._compiled.metadata["declared"]:
                return self._from_positions(list(map(Position.from_feen, texts)))
            position, square, piece = (array[~outside] for array in (position, square, piece))
        return Columns(position, square, piece, self._pairs(held), first, np.ones(len(texts), bool))

    def _from_arrow(self, pieces: Any, sides: Any, hands: Any) -> tuple[Columns, Any]:
        np = self._np
        pieces = self._table(pieces, "the pieces", ("position", "square", "piece"), ("piece",))
        at = self._numbers(pieces, "position")
        known = [at]
        if sides is not None:
            sides = self._table(sides, "the sides", ("position", "side"))
            known.append(self._numbers(sides, "position"))
        if hands is not None:
            hands = self._table(hands, "the hands", ("position", "piece", "count"))
            known.append(self._numbers(hands, "position"))
        ids = np.unique(np.concatenate(known))
        first = np.ones(len(ids), bool)
        if sides is not None:
            asked = np.searchsorted(ids, known[1])
            first[asked] = self._coded(sides, "side", lambda side: SIDES.index(self._side(side))) == 0
            self._require_once(asked, len(ids), "the sides have a position twice")
            if len(asked) < len(ids):
                raise PositionError("the sides do not have every position: give a side to move for each, or no table")
        position = np.searchsorted(ids, at).astype(np.int32)
        square = self._coded(pieces, "square", self._square)
        piece = self._coded(pieces, "piece", self._identifier)
        self._require_once(position * np.int64(len(self.labels) + 1) + square, None, "two pieces stand on one square")
        held = np.zeros(0, np.int32), np.zeros(0, np.int32)
        if hands is not None:
            counts = self._numbers(hands, "count")
            if (counts < 0).any():
                raise PositionError("the hands have a count below 0")
            some = counts > 0
            owner = np.searchsorted(ids, known[-1]).astype(np.int32)
            held = owner[some], self._coded(hands, "piece", self._identifier)[some]
        inside = square < len(self.labels)
        known_hands = np.full(len(ids), hands is not None)
        return Columns(position[inside], square[inside], piece[inside], held, first, known_hands), ids

    def _table(self, table: Any, what: str, names: tuple[str, ...], nullable: tuple[str, ...] = ()) -> Any:
        if not isinstance(table, self._pa.Table):
            raise PositionError(f"{what} have to be an Arrow table, not {type(table).__name__}")
        if missing := [name for name in names if name not in table.column_names]:
            raise PositionError(
                f"{what} have no column {', '.join(missing)}: they need {', '.join(names)}; found "
                f"{offer(table.column_names) or 'none'}"
            )
        table = table.select(names)
        for name in nullable:
            table = table.filter(table[name].is_valid())
        for name in names:
            if table[name].null_count:
                raise PositionError(f"{what} have no {name} in some rows: null is not allowed there")
        return table

    def _numbers(self, table: Any, name: str) -> Any:
        if not self._pa.types.is_integer(table[name].type):
            raise PositionError(f"the column {name} has to hold whole numbers, not {table[name].type}")
        return table[name].to_numpy().astype(self._np.int64)

    def _coded(self, table: Any, name: str, code: Callable[[str], int]) -> Any:
        """A column of texts as numbers; each distinct text is looked at once."""
        np = self._np
        if not table.num_rows:
            return np.zeros(0, np.int32)
        column = table[name].combine_chunks()
        if not self._pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        if not (
            self._pa.types.is_string(column.dictionary.type) or self._pa.types.is_large_string(column.dictionary.type)
        ):
            raise PositionError(f"the column {name} has to hold texts, not {table[name].type}")
        used = column.indices.to_numpy(zero_copy_only=False)
        texts = column.dictionary.to_pylist()
        codes = np.zeros(len(texts), np.int32)
        for number in np.unique(used).tolist():
            codes[number] = code(texts[number])
        return codes[used]

    def _square(self, label: str) -> int:
        number = self.numbers.get(label)
        if number is None:
            if label in ("", HAND):
                raise PositionError(f"{quote(label)} is not a square of a position")
            self._require_on_board({label})
            return len(self.labels)
        return number

    def _identifier(self, text: str) -> int:
        if not qpi.is_qpi(text):
            raise PositionError(f"{quote(text)} is not {qpi.ALLOWED}")
        return self.pieces[text]

    def _side(self, text: str) -> qpi.Side:
        for side in SIDES:
            if text == side:
                return side
        raise PositionError(f"{quote(text)} is not a side: first or second")

    def _require_once(self, keys: Any, size: int | None, what: str) -> None:
        np = self._np
        distinct = len(np.unique(keys)) if size is None else np.count_nonzero(np.bincount(keys, minlength=size))
        if distinct < len(keys):
            raise PositionError(f"{what}: each may be there but once")

    def _require_on_board(self, outside: set[str]) -> None:
        """A board that was not declared is only a guess, and squares outside it matter to no rule."""
        if self._compiled.metadata["declared"]:
            raise PositionError(
                f"{offer(sorted(outside))}: not on the board of {self._compiled}, which is "
                f"{self._compiled.metadata['shape']}"
            )

    def _pairs(self, pairs: list[tuple[int, int]]) -> tuple[Any, Any]:
        array = self._np.array(pairs, self._np.int32).reshape(-1, 2)
        return array[:, 0], array[:, 1]

    # --- what goes out ---

    def _encode(self, columns: Columns, begin: int = 0) -> tuple[Any, Any]:
        """The two tables of some positions, which are numbered from `begin`."""
        np = self._np
        count = len(columns.first)
        is_enemy = (columns.piece & 1) != columns.first[columns.position]
        grid = np.zeros((count, self._words * WORD), np.uint8)
        grid.reshape(-1)[columns.position * np.int64(self._words * WORD) + columns.square] = 1 + is_enemy
        empty, enemy = self._word(grid == 0), self._word(grid == 2)
        own = ~is_enemy
        position, start = columns.position[own], self._starts[columns.piece[own] >> 1, columns.square[own]]
        position, start = self._with_hands(columns, position[start >= 0], start[start >= 0])
        return (
            self._moving(position, start, empty, enemy, begin),
            self._standing(columns, position, start, empty, enemy, begin),
        )

    def _word(self, grid: Any) -> Any:
        """Rows of squares as words, 64 squares each."""
        np = self._np
        return np.packbits(grid, axis=1, bitorder="little").view(np.int64)

    def _with_hands(self, columns: Columns, position: Any, start: Any) -> tuple[Any, Any]:
        """Positions and starts with those that are in the hand."""
        np = self._np
        in_hand = self._starts[:, -1]
        parts = [(position, start)]
        if len(columns.held[0]):
            owner, piece = columns.held
            found = (in_hand[piece >> 1] >= 0) & ((piece & 1) == columns.first[owner])
            parts.append((owner[found], in_hand[piece[found] >> 1]))
        if not columns.hands_known.all() and (in_hand >= 0).any():
            for piece in np.flatnonzero(in_hand[:-1] >= 0):
                asked = np.flatnonzero(~columns.hands_known & (columns.first == self._sides[piece])).astype(np.int32)
                parts.append((asked, np.full(len(asked), in_hand[piece], np.int32)))
        if len(parts) == 1:
            return position, start
        positions, starts = zip(*parts, strict=True)
        return np.concatenate(positions), np.concatenate(starts)

    def _moving(self, position: Any, start: Any, empty: Any, enemy: Any, begin: int) -> Any:
        np, pa = self._np, self._pa
        movers = self._movers[start]
        parts = []
        for number in range(int(movers.max(initial=0))):
            found = np.flatnonzero(movers > number)
            parts.append((position[found], start[found], self._first_mover[start[found]] + number))
        names = ("position", "start", "mover")
        at, start, mover = (
            np.concatenate([np.zeros(0, np.int32), *(part[each] for part in parts)]).astype(np.int32, copy=False)
            for each in range(3)
        )
        lane = self._lanes[mover]
        words = []
        for word in (empty, enemy):
            lanes = np.stack((word, self._backwards(word)), axis=2).reshape(-1)
            words.append(lanes[at * np.int64(2 * self._words) + lane])
        return pa.table(
            dict(zip((*names, "empty", "enemy"), (at + np.int32(begin), start, mover, *words), strict=True))
        )

    def _backwards(self, words: Any) -> Any:
        """Each word in the order of its odd lane."""
        np = self._np
        bytes_ = np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, 8)
        return np.ascontiguousarray(self._reversed[bytes_[..., ::-1]]).view(np.int64)[..., 0]

    def _standing(self, columns: Columns, position: Any, start: Any, empty: Any, enemy: Any, begin: int) -> Any:
        np, pa = self._np, self._pa
        found = self._has_masked[start]
        position, start = position[found], start[found]
        words = {
            f"{name}_{word}": np.ascontiguousarray(plane[position, word])
            for word in range(self._words)
            for name, plane in (("empty", empty), ("enemy", enemy))
        }
        names = np.zeros((self._compiled.names, len(start)), np.int64)
        counts = self._names[start + 1] - self._names[start]
        if counts.any():
            # What stands where, with nothing but the piece's number: -1 is no piece, and no name.
            grid = np.full((len(columns.first), len(self.labels)), -1, np.int32)
            grid[columns.position, columns.square] = columns.piece >> 1
            for number in range(int(counts.max())):
                asked = np.flatnonzero(counts > number)
                name = self._names[start[asked]] + number
                stands = grid[position[asked], self._named["square"][name]] == self._named["piece"][name]
                bit = self._named["bit"][name].astype(np.int64)
                names[bit // WORD, asked] |= stands.astype(np.int64) << bit % WORD
        named = {f"named_{word}": column for word, column in enumerate(names)}
        return pa.table({"position": position + np.int32(begin), "start": start, **words, **named})

    def _batch(self, parts: Sequence[tuple[Any, Any]], count: int, ids: Any = None) -> Batch:
        moving, standing = (self._pa.concat_tables([part[each] for part in parts]).combine_chunks() for each in (0, 1))
        return Batch(count, moving, standing, ids)
