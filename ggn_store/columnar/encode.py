"""Positions -> columns for one compiled ruleset, whole arrays at a time.

    moving     position (number from 0), lane, word: for each piece of the side to move that stands on a start, or is
               held where one is the hand, each lane of that start with its word
    met        position, lane, word, bit, piece: the same again for each alternative of such a lane (`compile`) whose
               piece stands on the square of that bit

and for questions about legal moves, for which marks that are past are cleared first (`Play.reverts`):

    facing     position, sight, word: for each piece of the other side each sight (`threats`) with its word
    royal      position, square, royal (class): the royal pieces of the side to move
    passing    position, possibility: the pass, where there is one
    standing   position, kind: the pieces that promotions are limited of
    enemy      position, square: the pieces of the other side, where captures come first or one piece may go on

What an array of positions holds on each *place*, a square or a state variable, is a small number, its code there (see
`lanes`); codes say which facts of the ruleset are true in each position, and words are made by looking these up.
Positions come as `Position`, as FEEN texts, or as Arrow tables.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final

from ggn_store.columnar.after import After
from ggn_store.columnar.batch import Batch, MadePositions, PositionArrays, Turn
from ggn_store.columnar.compile import EXTRA, Compiled
from ggn_store.columnar.extras import need
from ggn_store.columnar.facing import Facing
from ggn_store.columnar.feen_texts import FeenTexts
from ggn_store.columnar.lanes import NOTHING, PIECES, passing
from ggn_store.columnar.sql import AHEAD
from ggn_store.columnar.threats import ROYAL, ThreatTables
from ggn_store.columnar.words import FactTable, Words
from ggn_store.errors import PositionError, offer, quote
from ggn_store.model.documents import variables
from ggn_store.model.documents.variables import Variable
from ggn_store.model.moves.position import SIDES, Position, side_named
from ggn_store.notation import qpi
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import is_royal, side_of

# Positions, and facts about them, that are encoded at once: their arrays still lie in a processor's cache.
CHUNK: Final = 1024
_FACTS: Final = 1 << 18
# The number of the first of some positions, these, and their tables.
_Part = tuple[int, PositionArrays, Mapping[str, Any]]


class Numbers(dict[str, int]):
    """Square -> its number, -1 for one that the board does not have."""

    def __missing__(self, square: str) -> int:
        return -1


class PieceCodes(dict[str, int]):
    """Identifier -> twice its number in the ruleset, plus 1 for the first side's.

    The number of one that the ruleset does not know is -1, or -2 if it is royal.
    """

    def __init__(self, identifiers: Sequence[str]) -> None:
        super().__init__((each, 2 * number + (side_of(each) == "first")) for number, each in enumerate(identifiers))

    def __missing__(self, identifier: str) -> int:
        # Not kept: the pieces of strange positions must not pile up here.
        return 2 * (ROYAL if is_royal(identifier) else -1) + (side_of(identifier) == "first")


class PositionEncoder:
    """Encodes positions for one compiled ruleset; raises GgnStoreError where numpy or pyarrow is missing."""

    def __init__(self, compiled: Compiled, threats: ThreatTables | None = None, threads: int | None = None) -> None:
        """With `threats`, batches are for questions about legal moves; `threads` limits the processors that it uses."""
        np = need("numpy", EXTRA)
        self._np, self._pa = np, need("pyarrow", EXTRA)
        self._compiled = compiled
        self._threads = threads or os.cpu_count() or 1
        table = compiled.tables
        self.labels: list[str] = table["square"]["label"].to_pylist()
        self.numbers = Numbers((label, number) for number, label in enumerate(self.labels))
        self.pieces = PieceCodes(table["piece"]["identifier"].to_pylist() if threats is None else threats.pieces)
        declared: Mapping[str, Any] = compiled.metadata["variables"]
        self._declared = {name: Variable.from_data(name, each) for name, each in declared.items()}
        self._variables = {name: number for number, name in enumerate(self._declared)}
        self._values = {
            (name, value): code for name, each in self._declared.items() for code, value in enumerate(each.values)
        }
        self._initial = [self._values[name, each.initial] for name, each in self._declared.items()]
        # The place of each variable about a square, which it is, and whether a piece there makes it true.
        self._of_squares = [
            (len(self.labels) + number, self.numbers[each.square], self._among(each.pieces))
            for number, each in enumerate(self._declared.values())
            if each.square is not None
        ]
        # The last place is none, so that there is one.
        self._places = len(self.labels) + len(self._variables) + 1
        codes = max([PIECES + 2 * len(self.pieces), *(len(each.values) for each in self._declared.values())])
        self._type = np.uint8 if codes <= 1 << 8 else np.uint16 if codes <= 1 << 16 else np.int32

        def column(name: str, field: str) -> Any:
            return table[name][field].to_numpy()

        # Two rows more: the last ones are for pieces that the ruleset does not know, one column more for the hand.
        count = len(self.labels)
        self._starts = np.full((len(self.pieces) + 2, count + 1), -1, np.int32)
        square = table["start"]["square"].fill_null(count).to_numpy()
        self._starts[column("start", "piece"), square] = column("start", "start")
        self._sides = np.array([code & 1 for code in self.pieces.values()], bool)
        facts = FactTable(np, [*self._tests(table["fact"], codes), [(count, 0)]], codes, self._places)
        of_lanes = column("lane_fact", "fact"), column("lane_fact", "lane")
        self._words = Words(np, facts, (column("lane", "start"), table["start"].num_rows), of_lanes)
        self._chunk = max(1, min(CHUNK, _FACTS // facts.size))
        self._facing = self._after = None
        if threats is not None:
            self._facing = Facing(np, threats, codes, self._places, count)
            if threats.steps or not threats.duties.isdisjoint(AHEAD):
                self._after = After(np, threats, count, self._initial)
        self._named = np.zeros(len(column("lane", "lane")), np.int64)
        np.bitwise_or.at(self._named, column("alternative", "lane"), column("alternative", "bit"))
        self._has_named = bool(self._named.any())
        is_sized = compiled.metadata["declared"] and compiled.metadata["shape"] is not None
        self._shape = tuple(map(int, compiled.metadata["shape"].split("x"))) if is_sized else None
        self._feen = FeenTexts(self.pieces, self.numbers, self._shape)

    def _tests(self, table: Any, codes: int) -> Iterator[list[tuple[int, int]]]:
        """What has to be met for each fact: see `FactTable`."""
        known: dict[str, int] = {}
        numbers = {each: number for number, each in enumerate(self.pieces)}
        for _, rows in itertools.groupby(table.to_pylist(), key=itemgetter("fact")):
            tests: dict[int, int] = {}
            for row in rows:
                if (statement := row["statement"]) is None:
                    place = len(self.labels) + self._variables[row["variable"]]
                    tests[place] = tests.get(place, 0) | 1 << self._values[row["variable"], row["value"]]
                else:
                    if statement not in known:
                        known[statement] = passing(statement, numbers, codes)
                    tests[row["square"]] = known[statement]
            yield list(tests.items())

    # --- ways in ---

    def positions(self, positions: Sequence[Position]) -> Batch:
        """A batch of positions; raises PositionError for squares outside a declared board."""
        return self._in_chunks(positions, self._from_positions, len(positions))

    def feen(self, texts: Sequence[str]) -> Batch:
        """A batch of FEEN texts; raises PositionError, quoting it, for the first that is none."""
        return self._in_chunks(texts, self._from_feen, len(texts))

    def arrow(self, pieces: Any, sides: Any = None, hands: Any = None, states: Any = None) -> Batch:
        """A batch from Arrow tables: `pieces` (position, square, piece), `sides` (position, side), `hands` (position,
        piece, count), `states` (position, variable, value).

        Positions are whole numbers of the caller's, squares labels. Without `sides` the first side moves everywhere,
        without `hands` nothing is known of them; with it, a position that it does not mention has empty hands. State
        variables that are not mentioned are what they begin as. Raises PositionError for what is not a position.
        """
        columns, ids = self._from_arrow(pieces, sides, hands, states)
        parts = [self._part(part, begin) for begin, part in self._cut(self._ready(columns))]
        return self._batch(parts, len(ids), self._pa.array(ids))

    # --- what comes in, as arrays ---

    def _in_chunks(self, items: Sequence[Any], read: Callable[[Sequence[Any]], PositionArrays], count: int) -> Batch:
        """Chunk by chunk on several processors: numpy lets the others work while it does."""

        def encode(begin: int) -> _Part:
            columns = self._ready(read(items[begin : begin + self._chunk]))
            return self._part(columns, begin)

        begins = range(0, max(1, count), self._chunk)
        threads = min(len(begins), self._threads)
        if threads == 1:
            return self._batch([*map(encode, begins)], count)
        with ThreadPoolExecutor(threads) as pool:
            return self._batch(list(pool.map(encode, begins)), count)

    def _from_positions(self, positions: Sequence[Position]) -> PositionArrays:
        np = self._np
        if {position.shape for position in positions} - {None, self._shape}:
            for each in positions:
                each.require_shape(self._shape, self._compiled)
        boards = [position.board for position in positions]
        sizes = np.fromiter(map(len, boards), np.int32, len(boards))
        total = int(sizes.sum())
        flat = itertools.chain.from_iterable
        numbers, pieces = self.numbers, self.pieces
        square = np.fromiter(map(numbers.__getitem__, flat(boards)), np.int32, total)
        values: Iterable[Any] = flat(board.values() for board in boards)
        piece = np.fromiter(map(pieces.__getitem__, values), np.int32, total)
        position = np.repeat(np.arange(len(boards), dtype=np.int32), sizes)
        if (square < 0).any():
            for board in boards:
                self._require_on_board(board.keys() - numbers.keys())
            position, square, piece = (array[square >= 0] for array in (position, square, piece))
        held = [
            (at, pieces[each], count)
            for at, p in enumerate(positions)
            if p.hands
            for each, count in p.hands.items()
            if count
        ]
        return PositionArrays(
            position,
            square,
            piece,
            self._held(held),
            np.array([position.side == "first" for position in positions], bool),
            np.array([position.hands is not None for position in positions], bool),
            self._state((at, *each) for at, p in enumerate(positions) if p.state for each in p.state.items()),
        )

    def _from_feen(self, texts: Sequence[str]) -> PositionArrays:
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
        return PositionArrays(
            position, square, piece, self._held(held), first, np.ones(len(texts), bool), self._state(())
        )

    def _from_arrow(self, pieces: Any, sides: Any, hands: Any, states: Any) -> tuple[PositionArrays, Any]:
        np = self._np
        names = ("position", "square", "piece")
        pieces = self._table(pieces, "the pieces", names, nullable=names[1:])
        known = [self._numbers(pieces, "position")]
        # Where no piece is named, nothing stands: the position is there all the same.
        pieces = self._table(pieces.filter(pieces["piece"].is_valid()), "the pieces", names)
        at = self._numbers(pieces, "position")
        if sides is not None:
            sides = self._table(sides, "the sides", ("position", "side"))
            known.append(self._numbers(sides, "position"))
        if hands is not None:
            hands = self._table(hands, "the hands", ("position", "piece", "count"))
            known.append(self._numbers(hands, "position"))
        if states is not None:
            states = self._table(states, "the states", ("position", "variable", "value"))
            known.append(self._numbers(states, "position"))
        ids = np.unique(np.concatenate(known))
        first = np.ones(len(ids), bool)
        if sides is not None:
            asked = np.searchsorted(ids, known[1])
            first[asked] = self._coded(sides, "side", lambda side: SIDES.index(side_named(side))) == 0
            self._require_once(asked, len(ids), "the sides have a position twice")
            if len(asked) < len(ids):
                raise PositionError("the sides do not have every position: give a side to move for each, or no table")
        position = np.searchsorted(ids, at).astype(np.int32)
        strange: dict[str, int] = {}
        square = self._coded(pieces, "square", functools.partial(self._square, strange))
        piece = self._coded(pieces, "piece", self._identifier)
        squares = np.int64(len(self.labels) + len(strange))
        self._require_once(position * squares + square, None, "two pieces stand on one square")
        held = self._held([])
        if hands is not None:
            counts = self._numbers(hands, "count")
            if (counts < 0).any():
                raise PositionError("the hands have a count below 0")
            some = counts > 0
            owner = np.searchsorted(ids, self._numbers(hands, "position")).astype(np.int32)
            texts: dict[str, int] = {}
            named = self._coded(hands, "piece", lambda text: texts.setdefault(text, len(texts)))
            self._require_once(owner * np.int64(len(texts)) + named, None, "the hands have a piece of a position twice")
            held = owner[some], self._coded(hands, "piece", self._identifier)[some], counts[some]
        inside = square < len(self.labels)
        known_hands = np.full(len(ids), hands is not None)
        state = self._state(()) if states is None else self._from_states(states, np.searchsorted(ids, known[-1]))
        return PositionArrays(position[inside], square[inside], piece[inside], held, first, known_hands, state), ids

    def _from_states(self, states: Any, position: Any) -> tuple[Any, Any, Any]:
        """Position, variable and value of a table of states; each distinct pair of texts is looked at once."""
        np = self._np
        words: dict[str, int] = {}
        name, value = (
            self._coded(states, column, lambda text: words.setdefault(text, len(words))).astype(np.int64)
            for column in ("variable", "value")
        )
        texts = list(words)
        pairs, number = np.unique(name * len(words) + value, return_inverse=True)
        known = self._state((0, texts[pair // len(words)], texts[pair % len(words)]) for pair in pairs.tolist())
        variable, code = (column[number] for column in known[1:])
        self._require_once(
            position * np.int64(self._places) + variable, None, "the states have a variable of a position twice"
        )
        return position, variable, code

    def _state(self, values: Iterable[tuple[int, str, str]]) -> tuple[Any, Any, Any]:
        """Position, variable and value as arrays; PositionError for what the rules do not know."""
        rows = []
        for at, name, value in values:
            if (name, value) not in self._values:
                variables.complete(self._declared, {name: value}, str(self._compiled))
            rows.append((at, self._variables[name], self._values[name, value]))
        array = self._np.array(rows, self._np.int64).reshape(-1, 3)
        return array[:, 0], array[:, 1], array[:, 2]

    def _cut(self, columns: PositionArrays) -> Iterator[tuple[int, PositionArrays]]:
        """The positions in parts that are encoded at once, each with the number of its first one."""
        np = self._np
        count = len(columns.first)
        if count <= self._chunk:
            yield 0, columns
            return
        tables = (columns.position, columns.square, columns.piece), columns.held, columns.state
        ordered = [[column[np.argsort(table[0], kind="stable")] for column in table] for table in tables]
        for begin in range(0, count, self._chunk):
            end = min(begin + self._chunk, count)
            (position, square, piece), (owner, *held), (at, variable, value) = (
                [column[slice(*np.searchsorted(table[0], (begin, end)))] for column in table] for table in ordered
            )
            first, known = columns.first[begin:end], columns.hands_known[begin:end]
            state = at - begin, variable, value
            yield begin, PositionArrays(position - begin, square, piece, (owner - begin, *held), first, known, state)

    def _table(self, table: Any, what: str, names: tuple[str, ...], nullable: tuple[str, ...] = ()) -> Any:
        if not isinstance(table, self._pa.Table):
            raise PositionError(f"{what} have to be an Arrow table, not {type(table).__name__}")
        if missing := [name for name in names if name not in table.column_names]:
            raise PositionError(
                f"{what} have no column {', '.join(missing)}: they need {', '.join(names)}; found "
                f"{offer(table.column_names) or 'none'}"
            )
        if twice := [name for name in names if table.column_names.count(name) > 1]:
            raise PositionError(f"{what} have a column {', '.join(twice)} twice")
        table = self._pa.table({name: self._plain(table[name]) for name in names})
        for name in names:
            if name not in nullable and table[name].null_count:
                raise PositionError(f"{what} have no {name} in some rows: null is not allowed there")
        return table

    def _plain(self, column: Any) -> Any:
        """A column as all functions of Arrow know it: no views of texts, and no null that a dictionary holds."""
        kind = column.type
        is_coded = self._is_coded_text(kind) and any(chunk.dictionary.null_count for chunk in column.chunks)
        return column.cast(self._pa.string()) if is_coded or self._pa.types.is_string_view(kind) else column

    def _is_coded_text(self, kind: Any) -> bool:
        types = self._pa.types
        return bool(types.is_dictionary(kind)) and str(kind.value_type) in ("string", "large_string")

    def _numbers(self, table: Any, name: str) -> Any:
        if not self._pa.types.is_integer(table[name].type):
            raise PositionError(f"the column {name} has to hold whole numbers, not {table[name].type}")
        try:
            return table[name].cast(self._pa.int64()).to_numpy().astype(self._np.int64)
        except self._pa.ArrowInvalid:
            raise PositionError(
                f"the column {name} has a number beyond {self._np.iinfo(self._np.int64).max:,}"
            ) from None

    def _coded(self, table: Any, name: str, code: Callable[[str], int]) -> Any:
        """A column of texts as numbers; each distinct text is looked at once."""
        np = self._np
        if not table.num_rows:
            return np.zeros(0, np.int32)
        column = table[name].combine_chunks()
        if not self._pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        if not self._is_coded_text(column.type):
            raise PositionError(f"the column {name} has to hold texts, not {table[name].type}")
        used = column.indices.to_numpy(zero_copy_only=False)
        texts = column.dictionary.to_pylist()
        codes = np.zeros(len(texts), np.int32)
        for number in np.unique(used).tolist():
            codes[number] = code(texts[number])
        return codes[used]

    def _square(self, strange: dict[str, int], label: str) -> int:
        """The number of a square; those that the board does not have come after all others."""
        number = self.numbers.get(label)
        if number is None:
            if label in ("", HAND):
                raise PositionError(f"{quote(label)} is not a square of a position")
            self._require_on_board({label})
            return len(self.labels) + strange.setdefault(label, len(strange))
        return number

    def _identifier(self, text: str) -> int:
        if not qpi.is_qpi(text):
            raise PositionError(f"{quote(text)} is not {qpi.ALLOWED}")
        return self.pieces[text]

    def _require_once(self, keys: Any, size: int | None, what: str) -> None:
        np = self._np
        distinct = len(np.unique(keys)) if size is None else np.count_nonzero(np.bincount(keys, minlength=size))
        if distinct < len(keys):
            raise PositionError(f"{what}: each may be there but once")

    def _require_on_board(self, outside: set[str]) -> None:
        """A board that was not declared is only a guess, and squares outside it matter to no rule."""
        if outside and self._compiled.metadata["declared"]:
            raise PositionError(
                f"{offer(sorted(outside))}: not on the board of {self._compiled}, which is "
                f"{self._compiled.metadata['shape']}"
            )

    def _held(self, rows: list[tuple[int, int, int]]) -> tuple[Any, Any, Any]:
        array = self._np.array(rows, self._np.int64).reshape(-1, 3)
        return array[:, 0].astype(self._np.int32), array[:, 1].astype(self._np.int32), array[:, 2]

    def _among(self, pieces: Iterable[str]) -> Any:
        """Whether each piece is one of some, by its number; the last ones are pieces that the ruleset does not know."""
        known = {self.pieces[each] for each in pieces}
        return self._np.array([number in known for number in range(2 * len(self.pieces))] + [False] * 4)

    # --- what goes out ---

    def _ready(self, columns: PositionArrays) -> PositionArrays:
        """The positions without marks that are past, for questions about legal moves."""
        if self._facing is None:
            return columns
        own = (columns.piece & 1) == columns.first[columns.position]
        return replace(columns, piece=self._facing.unmarked(columns.piece, own))

    def _part(self, columns: PositionArrays, begin: int, only: Any = None) -> _Part:
        """The tables of some positions, which are numbered from `begin`; `only` what stands on a square of each moves.

        No threats are looked for then.
        """
        np = self._np
        piece, own = columns.piece, (columns.piece & 1) == columns.first[columns.position]
        [mine] = np.nonzero(own if only is None else own & (columns.square == only[columns.position]))
        start = self._starts[piece[mine] >> 1, columns.square[mine]]
        if len(start) and start.min() < 0:
            mine, start = mine[start >= 0], start[start >= 0]
        position = columns.position[mine]
        if only is None:
            position, start = self._with_hands(columns, position, start)
        codes = np.full((len(columns.first), self._places), NOTHING, self._type)
        placed = columns.position * np.int64(self._places) + columns.square
        codes.reshape(-1)[placed] = (piece & ~1) + own + PIECES
        codes[:, len(self.labels) : -1] = self._initial
        codes[columns.state[0], len(self.labels) + columns.state[1]] = columns.state[2]
        for place, square, pieces in self._of_squares:
            codes[:, place] = 0
            there = (columns.square == square) & pieces[piece]
            codes[columns.position[there], place] = 1
        position, lane, word = self._words.of(position, start, codes)
        tables = {
            "moving": self._numbered(begin, position, lane=lane, word=word),
            "met": self._met(begin, position, lane, word, codes),
        }
        if self._facing is not None:
            # Each piece is the other side's now.
            codes.reshape(-1)[placed] ^= 1
            placed = columns.position, columns.square, piece, own
            found = self._facing.others(*placed)
            if only is None:
                found |= self._facing.of(*placed, codes)
            tables |= {name: self._numbered(begin, **each) for name, each in found.items()}
        return begin, columns, tables

    def _with_hands(self, columns: PositionArrays, position: Any, start: Any) -> tuple[Any, Any]:
        """Positions and starts with those that are in the hand."""
        np = self._np
        in_hand = self._starts[:, -1]
        parts = [(position, start)]
        if len(columns.held[0]):
            owner, piece, _ = columns.held
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

    def _numbered(self, begin: int, position: Any, **columns: Any) -> Any:
        return self._pa.table({"position": position + self._np.int32(begin), **columns})

    def _met(self, begin: int, position: Any, lane: Any, words: Any, codes: Any) -> Any:
        np = self._np
        found = words & self._named[lane] if self._has_named else words[:0]
        [some] = np.nonzero(found)
        row, bit = np.nonzero(np.unpackbits(found[some].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"))
        row = some[row]
        position, lane = position[row], lane[row]
        piece = (codes[position, self._words.place(lane, bit)].astype(np.int32) - PIECES) >> 1
        return self._numbered(begin, position, lane=lane, word=words[row], bit=np.int64(1) << bit, piece=piece)

    def _batch(self, parts: Sequence[_Part], count: int, ids: Any = None) -> Batch:
        names = parts[0][2]
        joined = {name: self._pa.concat_tables([part[name] for *_, part in parts]).combine_chunks() for name in names}
        if self._after is None:
            return Batch(count, joined, ids)
        read = [(begin, columns) for begin, columns, _ in parts]
        return Batch(count, joined, ids, functools.partial(self._batch_after, self._after, read))

    def _batch_after(
        self, after: After, read: Sequence[tuple[int, PositionArrays]], position: Any, possibility: Any, turn: Turn
    ) -> MadePositions:
        """See `Batch.after`."""
        np = self._np
        parts, made = [], []
        begins = [*(begin for begin, _ in read), position.max(initial=0) + 1]
        first = 0
        for (begin, columns), bounds in zip(read, pairwise(np.searchsorted(position, begins)), strict=True):
            some = slice(*bounds)
            found, *rest = after.of(columns, position[some] - begin, possibility[some], turn)
            made.append(rest)
            ends = after.ends(possibility[some])
            for number, part in self._cut(found if turn == "chain" else self._ready(found)):
                only = ends[number : number + self._chunk] if turn == "chain" else None
                parts.append(self._part(part, first + number, only))
            first += len(ends)
        return MadePositions(self._batch(parts, first), *map(np.concatenate, zip(*made, strict=True)))
