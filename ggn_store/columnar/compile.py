"""A revision of a ruleset -> tables of columns, in memory or as Parquet files that any engine can join.

    square       square (number from 0), label
    piece        piece (number from 0), identifier, side: every piece that the rules name in any role
    possibility  possibility (number from 0, in document order), piece, source, destination (texts; `*` is the hand),
                 ordinal (from 0 within the destination), toggle (whether the turn passes; null: no effects are given)
    condition    possibility, polarity (must, deny), square (label), state: as the document has them
    effect       possibility, square (label), becomes (null: it is emptied)
    hand_effect  possibility, piece (identifier), delta

Whoever joins these has the whole document. The other tables are derived from them, for speed; `lanes` says what a
lane and a rule are, and `sql` is the question that reads them:

    start        start (number from 0), piece, square (numbers; null: the hand), has_masked (it is in `masked`)
    named        start, bit (from 0), piece, square (numbers): what the bits of `must` and `deny` of its masked rows say
    mover        mover (number from 0), start, lane: a start, and a lane that rules of it look at
    rule         rule (number from 0), mover, ray, quiet, capture (masks over the lane), each, salt
    answer       rule, key (salt xor a set of squares that the rule reaches; unlike that of any other rule),
                 bit (a square of the set), if_empty, if_enemy (possibilities)
    masked       start, not_empty_0, not_enemy_0, not_own_0, twin_0 and so on for every word of the board,
                 must_0, deny_0 and so on for every word of names (all of `must` have to stand there, none of `deny`),
                 if_empty, if_enemy (possibilities)

`metadata.json` has the format's number, the ruleset with its revision and digest, the dialect, the board's shape and
whether it was declared, how many words of 64 bits the masks over the board (`words`) and those of names (`names`)
have, and the number of rows of each file.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ggn_store.columnar import lanes
from ggn_store.columnar.extras import need
from ggn_store.errors import GgnStoreError, InputError, printable
from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY, Piece, Possibility
from ggn_store.model.revision import Revision
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.output import new_directory
from ggn_store.store.rulesets.masks import masks_of, split
from ggn_store.store.schema.tables import MASK_WORDS, MASKS

FORMAT: Final = 1
EXTRA: Final = "duckdb"
METADATA: Final = "metadata.json"
MAX_SQUARES: Final = MASK_WORDS * lanes.WORD


@dataclass(frozen=True, slots=True)
class Compiled:
    """A revision as columns: the metadata, and Arrow tables by the names above."""

    metadata: Mapping[str, Any]
    tables: Mapping[str, Any]

    def __str__(self) -> str:
        return str(self.metadata["ruleset"])

    @property
    def words(self) -> int:
        """How many words of 64 squares masks over the board have."""
        return int(self.metadata["words"])

    @property
    def names(self) -> int:
        """How many words of 64 bits `must` and `deny` have: none where no condition names a piece."""
        return int(self.metadata["names"])


def compile_pieces(revision: Revision, board: Board, pieces: Iterable[Piece]) -> Compiled:
    """The tables of a revision from its pieces in document order, of which one is in memory at a time.

    Raises GgnStoreError where pyarrow is missing, and for a board that is too large.
    """
    pa = need("pyarrow", EXTRA)
    if len(board.squares) > MAX_SQUARES:
        raise GgnStoreError(
            f"{revision} has a board of {len(board.squares)} squares, and only boards of up to {MAX_SQUARES} can be "
            "compiled: ask the store itself for its moves"
        )
    builder = _Builder(board)
    schemas = _schemas(builder.words)
    batches: dict[str, list[Any]] = {name: [] for name in schemas}

    def flush() -> None:
        for name, rows in builder.take():
            columns = zip(*rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schemas[name], strict=True)]
            batches[name].append(pa.RecordBatch.from_arrays(arrays, schema=schemas[name]))

    for piece in pieces:
        builder.add(piece)
        flush()
    builder.finish()
    flush()
    tables = {name: pa.Table.from_batches(batches[name], schema).combine_chunks() for name, schema in schemas.items()}
    names = -(-builder.most_named // lanes.WORD)
    for name in ("must", "deny"):
        tables["masked"] = _spread(tables["masked"], name, names)
    tables["rule"], tables["answer"] = _salted(tables["rule"], tables["answer"], builder.sets)
    metadata = {
        "format": FORMAT,
        "ruleset": str(revision),
        "digest": revision.digest,
        "dialect": revision.dialect,
        "shape": board.shape_text,
        "declared": revision.envelope.board is not None,
        "words": builder.words,
        "names": names,
        "rows": {name: table.num_rows for name, table in tables.items()},
    }
    return Compiled(metadata, tables)


def mask_columns(words: int) -> list[str]:
    """The columns of masks over a board of so many words."""
    return [f"{name}_{word}" for word in range(words) for name in MASKS]


_COLUMNS: Final = {
    "square": "square:number label:text",
    "piece": "piece:number identifier:text side:text",
    "possibility": "possibility:number piece:text source:text destination:text ordinal:number toggle:truth",
    "condition": "possibility:number polarity:text square:text state:text",
    "effect": "possibility:number square:text becomes:text",
    "hand_effect": "possibility:number piece:text delta:number",
    "start": "start:number piece:number square:number has_masked:truth",
    "named": "start:number bit:number piece:number square:number",
    "mover": "mover:number start:number lane:number",
    "rule": "rule:number mover:number ray:mask quiet:mask capture:mask each:number salt:mask",
    "answer": "rule:number key:mask bit:mask if_empty:number if_enemy:number",
    "masked": "start:number {masks} must:names deny:names if_empty:number if_enemy:number",
}


def _schemas(words: int) -> dict[str, Any]:
    pa = need("pyarrow", EXTRA)
    types = {"number": pa.int32(), "mask": pa.int64(), "text": pa.string(), "truth": pa.bool_()}
    types["names"] = pa.list_(pa.int64())
    masks = " ".join(f"{name}:mask" for name in mask_columns(words))
    said = {name: columns.format(masks=masks).split() for name, columns in _COLUMNS.items()}
    pairs = {name: [each.split(":") for each in columns] for name, columns in said.items()}
    return {name: pa.schema([(column, types[kind]) for column, kind in each]) for name, each in pairs.items()}


class _Builder:
    """The rows of the tables, piece by piece, and the numbers that go on from piece to piece."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._bits = {square: 1 << number for square, number in board.numbers.items()} | {HAND: 0}
        self.words = board.words
        self._pieces: dict[str, int] = {}
        self._numbers = {name: itertools.count() for name in ("possibility", "start", "mover", "rule")}
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self.sets = 0
        self.most_named = 0

    def take(self) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
        """The rows since the last time, by table."""
        rows, self._rows = self._rows, {}
        yield from rows.items()

    def finish(self) -> None:
        """Add the tables that are only known in the end."""
        for label, number in self._board.numbers.items():
            self._add("square", number, label)
        for identifier, number in self._pieces.items():
            self._add("piece", number, identifier, side_of(identifier))

    def add(self, piece: Piece) -> None:
        """Add the rows of a piece."""
        is_upper = piece.identifier[0].isupper()
        for source in piece.sources:
            cases: list[lanes.Case] = []
            named: dict[tuple[int, int], int] = {}
            musts: dict[int, tuple[int, int]] = {}
            for destination in source.destinations:
                for ordinal, possibility in enumerate(destination.possibilities):
                    number = next(self._numbers["possibility"])
                    toggle = None if possibility.effects is None else possibility.effects.toggle
                    self._add(
                        "possibility", number, piece.identifier, source.square, destination.square, ordinal, toggle
                    )
                    self._add_details(number, possibility)
                    case = lanes.Case(
                        number, self._bits[destination.square], *masks_of(possibility, self._bits, is_upper)
                    )
                    cases.append(case)
                    if case.exact:
                        musts[number] = self._names(possibility.must, named), self._names(possibility.deny, named)
            start = next(self._numbers["start"])
            for (state, square), bit in named.items():
                self._add("named", start, bit, state, square)
            self.most_named = max(self.most_named, len(named))
            self._add_start(start, self._piece(piece.identifier), source.square, cases, musts)

    def _add_start(
        self, start: int, piece: int, source: str, cases: list[lanes.Case], musts: Mapping[int, tuple[int, int]]
    ) -> None:
        rules, masked = lanes.compile_cases(cases)
        self._add("start", start, piece, self._board.numbers.get(source), bool(masked))
        movers: dict[int, int] = {}
        for rule in rules:
            if rule.lane not in movers:
                movers[rule.lane] = next(self._numbers["mover"])
                self._add("mover", movers[rule.lane], start, rule.lane)
            number = next(self._numbers["rule"])
            masks = (_signed(mask) for mask in (rule.ray, rule.quiet, rule.capture))
            self._add("rule", number, movers[rule.lane], *masks, rule.each, 0)
            for answer in rule.answers:
                signed = _signed(answer.reached), _signed(answer.bit)
                self._add("answer", number, *signed, answer.if_empty, answer.if_enemy)
            self.sets += len({answer.reached for answer in rule.answers})
        for row in masked:
            planes = (split(mask, self.words) for mask in (row.not_empty, row.not_enemy, row.not_own, row.twin))
            signed_masks = itertools.chain.from_iterable(zip(*planes, strict=True))
            names = ([*_words(names)] for names in (musts[row.if_empty] if row.exact else (0, 0)))
            self._add("masked", start, *signed_masks, *names, row.if_empty, row.if_enemy)

    def _add_details(self, number: int, possibility: Possibility) -> None:
        for polarity, states in (("must", possibility.must), ("deny", possibility.deny)):
            for square, state in states.items():
                self._add("condition", number, polarity, square, state)
        if possibility.effects is None:
            return
        for square, becomes in possibility.effects.board.items():
            self._add("effect", number, square, becomes)
            if becomes is not None:
                self._piece(becomes)
        for held, delta in possibility.effects.hands.items():
            self._add("hand_effect", number, held, delta)
            self._piece(held)

    def _names(self, states: Mapping[str, str], named: dict[tuple[int, int], int]) -> int:
        """The mask of the pieces that `states` name; what is new gets the next bit in `named`."""
        pairs = [
            (self._piece(state), self._board.numbers[square])
            for square, state in states.items()
            if state not in (EMPTY, ENEMY)
        ]
        return sum(1 << named.setdefault(pair, len(named)) for pair in pairs)

    def _piece(self, identifier: str) -> int:
        return self._pieces.setdefault(identifier, len(self._pieces))

    def _add(self, table: str, *row: Any) -> None:
        self._rows.setdefault(table, []).append(row)


def _signed(word: int) -> int:
    [signed] = split(word, 1)
    return signed


def _words(mask: int) -> tuple[int, ...]:
    return split(mask, -(-mask.bit_length() // lanes.WORD))


def _spread(masked: Any, name: str, words: int) -> Any:
    """The table with a column for each word instead of the lists of words in a column; words left out are 0."""
    pa = need("pyarrow", EXTRA)
    at = masked.schema.get_field_index(name)
    lists = masked.column(at).to_pylist() if words else []
    masked = masked.remove_column(at)
    for word in range(words):
        column = pa.array([each[word] if word < len(each) else 0 for each in lists], pa.int64())
        masked = masked.append_column(f"{name}_{word}", column)
    return masked


def _salted(rules: Any, answers: Any, sets: int) -> tuple[Any, Any]:
    """The tables with a salt for each rule, such that no two of the `sets` of squares have the same key.

    A rule that reaches nothing asks for its salt alone, so salts must not be keys either. The salts look random, and
    are the same each time.
    """
    pa, pc = need("pyarrow", EXTRA), need("pyarrow.compute", EXTRA)
    for seed in itertools.count():
        noise = pa.py_buffer(_noise(seed, 8 * rules.num_rows))
        salts = pa.Array.from_buffers(pa.int64(), rules.num_rows, [None, noise])
        keys = pc.bit_wise_xor(answers["key"].combine_chunks(), salts.take(answers["rule"].combine_chunks()))
        if pc.count_distinct(pa.chunked_array([keys, salts])).as_py() == sets + rules.num_rows:
            break
    place = rules.schema.get_field_index("salt"), answers.schema.get_field_index("key")
    return rules.set_column(place[0], "salt", salts), answers.set_column(place[1], "key", keys)


def _noise(seed: int, size: int) -> bytes:
    return hashlib.shake_128(str(seed).encode()).digest(size)


def write(compiled: Compiled, directory: str | os.PathLike[str]) -> None:
    """Write the files into a directory that is new or empty, and appears only once it is whole.

    Raises InputError where something is there already, or nothing can be written.
    """
    parquet = need("pyarrow.parquet", EXTRA)
    with new_directory(directory, "name a new directory, or remove this one first") as part:
        for name, table in compiled.tables.items():
            parquet.write_table(table, part / f"{name}.parquet", compression="zstd")
        text = json.dumps(compiled.metadata, ensure_ascii=False, indent=1)
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
        tables = {name: parquet.read_table(Path(directory) / f"{name}.parquet") for name in metadata["rows"]}
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise InputError(f"{shown}: not a compiled ruleset ({error}): write one with `ggn-store compile`") from None
    return Compiled(metadata, tables)
