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

Whoever joins these has the whole document. The other tables are the lanes that the store has of its pieces, for speed;
`store.rulesets.lanes` says what a lane is, and `sql` is the question that reads them:

    start        start (number from 0), piece, square (numbers; null: the hand)
    lane         lane (number from 0), start, path, passed, first, target (masks over its bits), each
    lane_fact    lane, bit, fact: which fact each bit of a lane's word is
    fact         fact (number from 0), square (number), statement, variable, value: a row for each square of which the
                 statement has to be true, or for each value that a variable may have
    part         part (number from 0), lane, targets (mask), salt
    answer       part, key (salt xor a set of targets that is reached in the part; unlike that of any other part),
                 possibility: a row for each possibility that then holds
    alternative  lane, bit (of a target in no part), piece (number), possibility: what holds if the target is reached
                 while this piece stands on its square

Positions that are compiled, too, are the tables `moving` and `met` (see `encode`).

`metadata.json` has the format's number, the ruleset with its revision and digest, the dialect, the board's shape and
whether it was declared, the state variables, and the number of rows of each file.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from ggn_store.columnar.batch import Batch
from ggn_store.columnar.extras import need
from ggn_store.columnar.lanes import LanePart, names_of, parts_of
from ggn_store.errors import InputError, printable
from ggn_store.model.documents import variables
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Piece, Possibility
from ggn_store.model.documents.lane import Fact, Lane, alternatives
from ggn_store.model.teams.revision import Revision
from ggn_store.notation.qpi import side_of
from ggn_store.output import new_directory

FORMAT: Final = 4
EXTRA: Final = "duckdb"
METADATA: Final = "metadata.json"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A revision as columns: the metadata, and Arrow tables by the names above."""

    metadata: Mapping[str, Any]
    tables: Mapping[str, Any]

    def __str__(self) -> str:
        return str(self.metadata["ruleset"])


def compile_lanes(
    revision: Revision,
    board: Board,
    pieces: Iterable[tuple[str, Sequence[Lane]]],
    named: Iterable[str],
    possibilities: Iterable[Sequence[Any]],
) -> Compiled:
    """The tables of a revision that questions read.

    From the lanes of its pieces and the values of `possibility` but the first, in document order; `named` are pieces
    that effects name. Raises GgnStoreError where pyarrow is missing.
    """
    builder = _Builder()
    for identifier, lanes in pieces:
        builder.add(identifier, lanes)
    rows = builder.rows
    rows["square"] = [(number, label) for label, number in board.numbers.items()]
    declared = variables.parse(revision.envelope.variables)
    for identifier in (*named, *(piece for each in declared.values() for piece in each.pieces)):
        builder.piece(identifier)
    rows["piece"] = [(number, each, side_of(each)) for each, number in builder.pieces.items()]
    rows["possibility"] = [(number, *values) for number, values in enumerate(possibilities)]
    tables = {name: rows_table(_COLUMNS[name], rows[name]) for name in rows}
    tables["part"], tables["answer"] = _answered(builder.parts)
    metadata = {
        "format": FORMAT,
        "ruleset": str(revision),
        "digest": revision.digest,
        "dialect": revision.dialect,
        "shape": board.shape_text,
        "declared": revision.envelope.board is not None,
        "variables": {name: each.data() for name, each in declared.items()},
    }
    return Compiled(metadata, tables)


def with_places(table: Any, places: Iterable[Sequence[Any]]) -> Any:
    """The table `possibility` with more possibilities behind it."""
    pa = need("pyarrow", EXTRA)
    rows = [(number, *values) for number, values in enumerate(places, table.num_rows)]
    return pa.concat_tables([table, rows_table(_COLUMNS["possibility"], rows)]).combine_chunks()


def details(pieces: Iterable[Piece]) -> dict[str, Any]:
    """The tables of what the possibilities of pieces in document order ask and do, which only files have."""
    pa = need("pyarrow", EXTRA)
    parts: dict[str, list[Any]] = {name: [rows_table(_COLUMNS[name], [])] for name in _DETAILS}
    numbers = itertools.count()
    for piece in pieces:
        rows: dict[str, list[_Row]] = {name: [] for name in _DETAILS}
        for _, _, _, possibility in piece.entries():
            _add_details(rows, next(numbers), possibility)
        for name, found in rows.items():
            parts[name].append(rows_table(_COLUMNS[name], found))
    return {name: pa.concat_tables(found).combine_chunks() for name, found in parts.items()}


_COLUMNS: Final = {
    "square": "square label:text",
    "piece": "piece identifier:text side:text",
    "possibility": "possibility piece:text source:text destination:text ordinal toggle:truth action:text "
    "step chainable:truth",
    "condition": "possibility polarity:text square:text state:text",
    "effect": "possibility square:text becomes:text",
    "hand_effect": "possibility piece:text delta",
    "guard": "possibility variable:text value:text",
    "state_effect": "possibility variable:text becomes:text",
    "start": "start piece square",
    "lane": "lane start path:mask passed:mask first:mask target:mask each",
    "lane_fact": "lane bit fact",
    "fact": "fact square statement:text variable:text value:text",
    "alternative": "lane bit:mask piece possibility",
}
_DETAILS: Final = ("condition", "effect", "hand_effect", "guard", "state_effect")

_Row = tuple[Any, ...]
# A part of a lane, and the possibilities of each of its targets.
_OfLane = tuple[int, LanePart, list[list[int]]]


def rows_table(described: str, rows: Sequence[_Row]) -> Any:
    """An Arrow table of rows, whose description has its columns, each with its kind (`name:mask`) but for numbers."""
    pa = need("pyarrow", EXTRA)
    types = {"number": pa.int32(), "mask": pa.int64(), "text": pa.string(), "truth": pa.bool_()}
    fields = [(name, types[kind or "number"]) for name, _, kind in (each.partition(":") for each in described.split())]
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

    def __init__(self) -> None:
        self.pieces: dict[str, int] = {}
        self.rows: dict[str, list[_Row]] = {name: [] for name in ("start", "lane", "lane_fact", "fact", "alternative")}
        self.parts: list[_OfLane] = []
        self._facts: dict[Fact, int] = {}
        self._possibilities = 0

    def piece(self, identifier: str) -> int:
        return self.pieces.setdefault(identifier, len(self.pieces))

    def add(self, identifier: str, lanes: Sequence[Lane]) -> None:
        starts = self.rows["start"]
        piece = self.piece(identifier)
        for source, of_start in itertools.groupby(lanes, key=attrgetter("source")):
            for lane in of_start:
                self._add_lane(len(starts), lane)
            starts.append((len(starts), piece, source))
        self._possibilities += sum([len(lane.numbers) for lane in lanes])

    def _add_lane(self, start: int, lane: Lane) -> None:
        rows = self.rows
        number = len(rows["lane"])
        rows["lane"].append((number, start, lane.path, lane.passed, lane.first, lane.target, lane.each))
        rows["lane_fact"] += zip(itertools.repeat(number), itertools.count(), map(self._fact, lane.facts))
        found = [self._possibilities + each for each in lane.numbers]
        # Of each target in turn, and of each alternative of it.
        possibilities = [found[begin : begin + lane.each] for begin in range(0, len(found), lane.each)]
        named = 0
        if len(possibilities) > lane.target.bit_count():
            unnamed: list[list[int]] = []
            following = iter(possibilities)
            for bit, fact in enumerate(lane.facts):
                [(statement, _), *_] = fact
                names = alternatives(statement) if lane.target >> bit & 1 else ()
                if len(names) == 1:
                    unnamed.append(next(following))
                    continue
                named |= bool(names) << bit
                for name in names:
                    rows["alternative"] += [(number, 1 << bit, self.piece(name), each) for each in next(following)]
            possibilities = unnamed
        begin = 0
        for part in parts_of(lane, named):
            end = begin + part.targets.bit_count()
            self.parts.append((number, part, possibilities[begin:end]))
            begin = end

    def _fact(self, fact: Fact) -> int:
        """The number of a fact, which is described when it is new."""
        number = self._facts.get(fact)
        if number is None:
            number = self._facts[fact] = len(self._facts)
            for statement, square in fact:
                if isinstance(statement, str):
                    for name in names_of(statement):
                        self.piece(name)
                    self.rows["fact"].append((number, square, statement, None, None))
                else:
                    variable, *values = statement
                    self.rows["fact"] += [(number, None, None, variable, value) for value in values]
        return number


def _answered(parts: Sequence[_OfLane]) -> tuple[Any, Any]:
    """The tables of parts and answers, from lanes, their parts and the possibilities of the targets in these."""
    np, pa = need("numpy", EXTRA), need("pyarrow", EXTRA)
    # Most parts are alike but for their numbers and where they begin, and are answered together.
    alike: dict[tuple[int, tuple[int, ...], int], list[int]] = {}
    for number, (_, part, of_targets) in enumerate(parts):
        alike.setdefault((part.targets, part.sets, len(of_targets[0])), []).append(number)
    answers = [(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32))]
    for (targets, sets, each), numbers in alike.items():
        bits = [bit for bit in range(targets.bit_length()) if targets >> bit & 1]
        rows = [(reached, target) for reached in sets for target, bit in enumerate(bits) if reached >> bit & 1]
        reached, target = np.array(rows, np.int64).reshape(-1, 2).T
        begins = np.array([parts[number][1].begin for number in numbers])
        answers.append(
            (
                np.repeat(np.array(numbers, np.int32), len(rows) * each),
                np.repeat(reached << begins[:, None], each),
                np.array([parts[number][2] for number in numbers], np.int32)[:, target].reshape(-1),
            )
        )
    of_part, reached, possibility = map(np.concatenate, zip(*answers, strict=True))
    salt = _salts(of_part, reached, len(parts), sum([len(part.sets) for _, part, _ in parts]))
    lane = pa.array([lane for lane, _, _ in parts], pa.int32())
    targets = pa.array([part.targets << part.begin for _, part, _ in parts], pa.int64())
    return (
        pa.table({"part": np.arange(len(parts), dtype=np.int32), "lane": lane, "targets": targets, "salt": salt}),
        pa.table({"part": of_part, "key": reached ^ salt[of_part], "possibility": possibility}),
    )


def _salts(parts: Any, sets: Any, count: int, distinct: int) -> Any:
    """A salt for each of `count` parts, such that no two of the `distinct` sets of parts have the same key.

    Salts are no keys either. They look random, and are the same each time.
    """
    np = need("numpy", EXTRA)
    for seed in itertools.count():
        salts = np.frombuffer(_noise(seed, 8 * count), "<i8")
        if len(np.unique(np.concatenate([sets ^ salts[parts], salts]))) == distinct + count:
            break
    return salts


def _noise(seed: int, size: int) -> bytes:
    return hashlib.shake_128(str(seed).encode()).digest(size)


def write(
    compiled: Compiled,
    described: Mapping[str, Any],
    directory: str | os.PathLike[str],
    batches: Iterable[tuple[int, Batch]] = (),
) -> None:
    """Write the files, with those of `details`, into a directory that is new or empty, and appears once it is whole.

    Batches of positions, each with the number of its first one, are written one after the other. Raises InputError
    where something is there already, or nothing can be written.
    """
    with new_directory(directory, "name a new directory, or remove this one first") as part:
        numbered = (_numbered(*each) for each in batches)
        rows = _write_parts(itertools.chain([{**compiled.tables, **described}], numbered), part)
        text = json.dumps({**compiled.metadata, "rows": rows}, ensure_ascii=False, indent=1)
        (part / METADATA).write_text(text + "\n", encoding="utf-8")


def _numbered(first: int, batch: Batch) -> dict[str, Any]:
    """The tables of a batch whose positions are numbered from `first` on."""
    pa, compute = need("pyarrow", EXTRA), need("pyarrow.compute", EXTRA)
    begin = pa.scalar(first, pa.int64())
    return {
        name: table.set_column(0, "position", compute.add(table["position"], begin))
        for name, table in batch.tables.items()
    }


def _write_parts(parts: Iterable[Mapping[str, Any]], directory: Path) -> dict[str, int]:
    """Write tables, which come in parts, as files of a directory; returns how many rows each has."""
    parquet = need("pyarrow.parquet", EXTRA)
    writers: dict[str, Any] = {}
    rows: dict[str, int] = {}
    with ExitStack() as opened:
        for tables in parts:
            for name, table in tables.items():
                if name not in writers:
                    writer = parquet.ParquetWriter(directory / f"{name}.parquet", table.schema, compression="zstd")
                    writers[name] = opened.enter_context(writer)
                if table.num_rows:
                    writers[name].write_table(table)
                rows[name] = rows.get(name, 0) + table.num_rows
    return rows


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
