"""A revision of a ruleset -> tables of columns, in memory or as Parquet files that any engine can join.

    square       square (number from 0), label
    piece        piece (number from 0), identifier, side: every piece that the rules name in any role
    possibility  possibility (number from 0, in document order), piece, source, destination (texts; `*` is the hand),
                 ordinal (from 0 within the destination), toggle (whether the turn passes; null: no effects are given),
                 action, step, chainable (null: no action is given)
    condition    possibility, polarity (must, deny), square (label), state: as the document has them
    effect       possibility, square (label), becomes (null: it is emptied)
    hand_effect  possibility, piece (identifier), delta
    guard        possibility, variable, value: a row for each value that the state variable may have
    state_effect possibility, variable, becomes

Whoever joins these has the whole document. The other tables are derived from them, for speed; `lanes` says what a
lane is, and `sql` is the question that reads them:

    start        start (number from 0), piece, square (numbers; null: the hand), has_masked (it is in `masked`)
    lane         lane (number from 0), start, ray, stop, first, free, quiet, capture (masks over its bits), each
    lane_square  lane, bit, square (number; null where a ray ends): what the bits of a lane's words are
    lane_guard   lane, variable, value: the lane answers only where each variable here has one of its values
    part         part (number from 0), lane, squares (mask), salt
    answer       part, key (salt xor a set of squares that is reached in the part; unlike that of any other part),
                 bit (a square of the set), if_empty, if_enemy (possibilities)
    fact         start, bit (from 0), square (number), state, variable, value: what the bits of `must` and `deny` of its
                 masked rows say, either that a square is in a state or that a variable has one of the values
    masked       start, must_0, deny_0 and so on for every word of facts (all of `must` have to hold, none of `deny`),
                 possibility

`metadata.json` has the format's number, the ruleset with its revision and digest, the dialect, the board's shape and
whether it was declared, the state variables, how many words of 64 facts there are (`facts`), and the number of rows of
each file.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ggn_store.columnar import lanes
from ggn_store.columnar.extras import need
from ggn_store.errors import InputError, printable
from ggn_store.model import variables
from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY, Piece, Possibility
from ggn_store.model.revision import Revision
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.output import new_directory

FORMAT: Final = 2
EXTRA: Final = "duckdb"
METADATA: Final = "metadata.json"
WORD: Final = 64


@dataclass(frozen=True, slots=True)
class Compiled:
    """A revision as columns: the metadata, and Arrow tables by the names above."""

    metadata: Mapping[str, Any]
    tables: Mapping[str, Any]

    def __str__(self) -> str:
        return str(self.metadata["ruleset"])

    @property
    def facts(self) -> int:
        """How many words of 64 bits `must` and `deny` have: none where no row is masked."""
        return int(self.metadata["facts"])


def compile_pieces(revision: Revision, board: Board, pieces: Iterable[Piece]) -> Compiled:
    """The tables of a revision that questions read, from its pieces in document order, one in memory at a time.

    Raises GgnStoreError where pyarrow is missing.
    """
    builder = _Builder(board)
    for piece in pieces:
        builder.add(piece)
    builder.finish()
    words = -(-builder.most_facts // WORD)
    tables = {name: _table(_COLUMNS[name], builder.rows[name]) for name in _DERIVED}
    tables["masked"] = _masked(builder.masked, words)
    tables["part"], tables["answer"] = _salted(tables["part"], tables["answer"], builder.sets)
    declared = variables.parse(revision.envelope.variables)
    metadata = {
        "format": FORMAT,
        "ruleset": str(revision),
        "digest": revision.digest,
        "dialect": revision.dialect,
        "shape": board.shape_text,
        "declared": revision.envelope.board is not None,
        "variables": {name: each.data() for name, each in declared.items()},
        "facts": words,
    }
    return Compiled(metadata, tables)


def details(pieces: Iterable[Piece]) -> dict[str, Any]:
    """The tables of what the possibilities of pieces in document order ask and do, which only files have."""
    pa = need("pyarrow", EXTRA)
    parts: dict[str, list[Any]] = {name: [_table(_COLUMNS[name], [])] for name in _DETAILS}
    numbers = itertools.count()
    for piece in pieces:
        rows: dict[str, list[_Row]] = {name: [] for name in _DETAILS}
        for _, _, _, possibility in piece.entries():
            _add_details(rows, next(numbers), possibility)
        for name, found in rows.items():
            parts[name].append(_table(_COLUMNS[name], found))
    return {name: pa.concat_tables(found).combine_chunks() for name, found in parts.items()}


_COLUMNS: Final = {
    "square": "square:number label:text",
    "piece": "piece:number identifier:text side:text",
    "possibility": "possibility:number piece:text source:text destination:text ordinal:number toggle:truth action:text "
    "step:number chainable:truth",
    "condition": "possibility:number polarity:text square:text state:text",
    "effect": "possibility:number square:text becomes:text",
    "hand_effect": "possibility:number piece:text delta:number",
    "guard": "possibility:number variable:text value:text",
    "state_effect": "possibility:number variable:text becomes:text",
    "start": "start:number piece:number square:number has_masked:truth",
    "lane": "lane:number start:number ray:mask stop:mask first:mask free:mask quiet:mask capture:mask each:number",
    "lane_square": "lane:number bit:number square:number",
    "lane_guard": "lane:number variable:text value:text",
    "part": "part:number lane:number squares:mask salt:mask",
    "answer": "part:number key:mask bit:mask if_empty:number if_enemy:number",
    "fact": "start:number bit:number square:number state:text variable:text value:text",
}
_DETAILS: Final = ("condition", "effect", "hand_effect", "guard", "state_effect")
_DERIVED: Final = [name for name in _COLUMNS if name not in _DETAILS]

_Row = tuple[Any, ...]


def _table(described: str, rows: Sequence[_Row]) -> Any:
    """An Arrow table of rows, by its description above."""
    pa = need("pyarrow", EXTRA)
    types = {"number": pa.int32(), "mask": pa.int64(), "text": pa.string(), "truth": pa.bool_()}
    fields = [(name, types[kind]) for name, kind in (each.split(":") for each in described.split())]
    columns = zip(*rows, strict=True) if rows else [()] * len(fields)
    arrays = [pa.array(column, kind) for column, (_, kind) in zip(columns, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _add_details(rows: Mapping[str, list[_Row]], number: int, possibility: Possibility) -> None:
    for polarity, states in (("must", possibility.must), ("deny", possibility.deny)):
        rows["condition"] += [(number, polarity, square, state) for square, state in states.items()]
    for variable, values in possibility.guards.items():
        rows["guard"] += [(number, variable, value) for value in values]
    if possibility.effects is not None:
        rows["effect"] += [(number, *each) for each in possibility.effects.board.items()]
        rows["hand_effect"] += [(number, *each) for each in possibility.effects.hands.items()]
        rows["state_effect"] += [(number, *each) for each in possibility.effects.state.items()]


class _Builder:
    """The rows of the derived tables, piece by piece, and the numbers that go on from piece to piece."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._bits = {square: 1 << number for square, number in board.numbers.items()} | {HAND: 0}
        self._pieces: dict[str, int] = {}
        self._starts = 0
        self.rows: dict[str, list[_Row]] = {name: [] for name in _DERIVED}
        self.masked: list[tuple[int, int, int, int]] = []
        self.sets = 0
        self.most_facts = 0

    def finish(self) -> None:
        """Add the tables that are only known in the end."""
        self.rows["square"] = [(number, label) for label, number in self._board.numbers.items()]
        self.rows["piece"] = [(number, each, side_of(each)) for each, number in self._pieces.items()]

    def add(self, piece: Piece) -> None:
        """Add the rows of a piece."""
        rows = self.rows["possibility"]
        bits = self._bits
        for source in piece.sources:
            begin = len(rows)
            cases: list[lanes.Case] = []
            possibilities = []
            others = []
            for destination in source.destinations:
                place = piece.identifier, source.square, destination.square
                bit = bits[destination.square]
                for ordinal, possibility in enumerate(destination.possibilities):
                    number = len(rows)
                    rows.append((number, *place, ordinal, *self._rest(possibility)))
                    possibilities.append(possibility)
                    case = lanes.case_of(number, bit, possibility, bits)
                    if case is None:
                        others.append(number)
                    else:
                        cases.append(case)
            made, left = lanes.compile_cases(cases)
            asked = {number: possibilities[number - begin] for number in sorted(others + left)}
            self._add_start(self._piece(piece.identifier), self._board.numbers.get(source.square), made, asked)

    def _rest(self, possibility: Possibility) -> _Row:
        """What a row has of a possibility beside its place; the pieces that it makes get numbers."""
        effects, origin = possibility.effects, possibility.origin
        toggle = None
        if effects is not None:
            toggle = effects.toggle
            for becomes in effects.board.values():
                if becomes is not None and becomes not in self._pieces:
                    self._piece(becomes)
            for held in effects.hands:
                self._piece(held)
        return (toggle, None, None, None) if origin is None else (toggle, origin.action, origin.step, origin.chainable)

    def _add_start(
        self, piece: int, square: int | None, made: list[lanes.Lane], asked: Mapping[int, Possibility]
    ) -> None:
        start = self._starts
        self._starts += 1
        self.rows["start"].append((start, piece, square, bool(asked)))
        for lane in made:
            self._add_lane(start, lane)
        facts: dict[_Row, int] = {}
        for number, possibility in asked.items():
            must, deny = self._facts(possibility.must, facts), self._facts(possibility.deny, facts)
            for guard in possibility.guards.items():
                must |= 1 << facts.setdefault(guard, len(facts))
            self.masked.append((start, must, deny, number))
        self.most_facts = max(self.most_facts, len(facts))
        for (place, state), bit in facts.items():
            if isinstance(place, str):
                self.rows["fact"] += [(start, bit, None, None, place, value) for value in state]
            else:
                self.rows["fact"].append((start, bit, place, state, None, None))

    def _add_lane(self, start: int, lane: lanes.Lane) -> None:
        rows = self.rows
        number = len(rows["lane"])
        masks = lane.ray, lane.stop, lane.first, lane.free, lane.quiet, lane.capture
        rows["lane"].append((number, start, *masks, lane.each))
        rows["lane_square"] += [
            (number, bit, square.bit_length() - 1 if square else None) for bit, square in enumerate(lane.squares)
        ]
        rows["lane_guard"] += [(number, variable, value) for variable, values in lane.guard for value in values]
        for part in lane.parts:
            place = len(rows["part"])
            rows["part"].append((place, number, part.squares, 0))
            rows["answer"] += [(place, *answer) for answer in part.answers]
            self.sets += len({answer[0] for answer in part.answers})

    def _facts(self, states: Mapping[str, str], facts: dict[_Row, int]) -> int:
        """The mask of what `states` say; what is new gets the next bit in `facts`."""
        mask = 0
        for square, state in states.items():
            mask |= 1 << facts.setdefault((self._board.numbers[square], state), len(facts))
            if state not in (EMPTY, ENEMY):
                self._piece(state)
        return mask

    def _piece(self, identifier: str) -> int:
        return self._pieces.setdefault(identifier, len(self._pieces))


def _masked(rows: Sequence[tuple[int, int, int, int]], words: int) -> Any:
    """The table of masked rows: start, what must hold and must not, and the possibility, of so many words of facts."""
    np, pa = need("numpy", EXTRA), need("pyarrow", EXTRA)
    columns = {"start": pa.array([row[0] for row in rows], pa.int32())}
    for at, name in ((1, "must"), (2, "deny")):
        data = b"".join([row[at].to_bytes(8 * words, "little") for row in rows])
        masks = np.frombuffer(data, "<i8").reshape(len(rows), words)
        columns |= {f"{name}_{word}": np.ascontiguousarray(masks[:, word]) for word in range(words)}
    return pa.table(columns | {"possibility": pa.array([row[3] for row in rows], pa.int32())})


def _salted(parts: Any, answers: Any, sets: int) -> tuple[Any, Any]:
    """The tables with a salt for each part, such that no two of the `sets` of squares have the same key.

    Salts are no keys either. They look random, and are the same each time.
    """
    pa, pc = need("pyarrow", EXTRA), need("pyarrow.compute", EXTRA)
    for seed in itertools.count():
        noise = pa.py_buffer(_noise(seed, 8 * parts.num_rows))
        salts = pa.Array.from_buffers(pa.int64(), parts.num_rows, [None, noise])
        keys = pc.bit_wise_xor(answers["key"].combine_chunks(), salts.take(answers["part"].combine_chunks()))
        if pc.count_distinct(pa.chunked_array([keys, salts])).as_py() == sets + parts.num_rows:
            break
    place = parts.schema.get_field_index("salt"), answers.schema.get_field_index("key")
    return parts.set_column(place[0], "salt", salts), answers.set_column(place[1], "key", keys)


def _noise(seed: int, size: int) -> bytes:
    return hashlib.shake_128(str(seed).encode()).digest(size)


def write(compiled: Compiled, described: Mapping[str, Any], directory: str | os.PathLike[str]) -> None:
    """Write the files, with those of `details`, into a directory that is new or empty, and appears once it is whole.

    Raises InputError where something is there already, or nothing can be written.
    """
    parquet = need("pyarrow.parquet", EXTRA)
    with new_directory(directory, "name a new directory, or remove this one first") as part:
        tables = {**compiled.tables, **described}
        for name, table in tables.items():
            parquet.write_table(table, part / f"{name}.parquet", compression="zstd")
        metadata = {**compiled.metadata, "rows": {name: table.num_rows for name, table in tables.items()}}
        text = json.dumps(metadata, ensure_ascii=False, indent=1)
        (part / METADATA).write_text(text + "\n", encoding="utf-8")


def read(directory: str | os.PathLike[str]) -> Compiled:
    """What `write` wrote; raises InputError where that is not there, or of another format."""
    pa, parquet = need("pyarrow", EXTRA), need("pyarrow.parquet", EXTRA)
    shown = printable(os.fspath(directory))
    try:
        metadata = json.loads((Path(directory) / METADATA).read_text(encoding="utf-8"))
        if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
            raise InputError(
                f"{shown}: not of format {FORMAT}, which this version reads: write it anew with `ggn-store compile`"
            )
        tables = {name: parquet.read_table(Path(directory) / f"{name}.parquet") for name in metadata.pop("rows")}
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise InputError(f"{shown}: not a compiled ruleset ({error}): write one with `ggn-store compile`") from None
    return Compiled(metadata, tables)
