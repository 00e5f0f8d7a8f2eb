"""What a Python worker of Spark does: Arrow batches of positions in, the same rows with what is answered out.

A batch has its positions in a column `feen`, in `line` (JSON, read by the question's `reader`), or in columns of lists,
a row a position: `BOARD` (square, piece), and `SIDES`, `HANDS` (piece, count) and `STATES` (variable, value) where they
are given.
"""

from __future__ import annotations

import pickle
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from ggn_store.columnar.batch import Batch
from ggn_store.columnar.compile import EXTRA, Compiled
from ggn_store.columnar.encode import PositionEncoder
from ggn_store.columnar.engine import ColumnEngine
from ggn_store.columnar.extras import need
from ggn_store.columnar.perft import plies
from ggn_store.columnar.threats import ThreatTables
from ggn_store.errors import MoveError, PositionError
from ggn_store.model.moves.position import Position
from ggn_store.store.moves import planes

MOVE: Final = ("piece", "source", "destination", "ordinal")
# Columns that Spark makes for this, by names that hardly any other column has.
BOARD, SIDES, HANDS, STATES, MOVES = "ggn board", "ggn sides", "ggn hands", "ggn states", "ggn moves"
# Positions that are asked about at once: more take more memory, and no less time.
_AT_ONCE: Final = 2048
# Rules that a worker keeps.
_KEPT: Final = 2


class ShippedRules(NamedTuple):
    """What moves of a ruleset, or its legal ones, take; `places` are what its possibilities are called."""

    compiled: Compiled
    threats: ThreatTables | None
    places: Any


@dataclass(frozen=True, slots=True)
class SparkQuestion:
    """What is asked about positions: their `moves`, or how many there are by `position`, `piece` or `destination`.

    `kept` are the columns that come back beside an answer.
    """

    by: str
    kept: tuple[str, ...]
    reader: Callable[[str], Position | str] | None = None


@dataclass(frozen=True, slots=True)
class Paths:
    """Rules as planes, and parts of the positions that paths of so many moves lead on from, with their weights."""

    compiled: planes.CompiledRules
    depth: int
    parts: Sequence[Sequence[tuple[planes.PackedPosition, int]]]


def pack(value: ShippedRules | Paths | SparkQuestion) -> bytes:
    """What travels to the workers, which can be without this package until it is unpacked."""
    return zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)


_workers: OrderedDict[str, Any] = OrderedDict()


def _unpacked(key: str, packed: bytes) -> Any:
    """What was packed, ready to be asked; kept, since a worker is given part after part."""
    if key in _workers:
        _workers.move_to_end(key)
        return _workers[key]
    while len(_workers) >= _KEPT:
        _workers.popitem(last=False)
    value = _unpack(packed)
    _workers[key] = Worker(value) if isinstance(value, ShippedRules) else value
    return _workers[key]


def _unpack(packed: bytes) -> Any:
    return pickle.loads(zlib.decompress(packed))  # noqa: S301 -- it comes as the code does that Spark sends


def answers(key: str, packed: bytes, question: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches of answers to a packed `SparkQuestion` about batches of positions, by packed `Rules` of a key."""
    worker: Worker = _unpacked(key, packed)
    return worker.answers(_unpack(question), batches)


def paths(key: str, packed: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """How many paths lead on from the parts, of packed `Paths`, whose numbers are in batches."""
    pa = need("pyarrow", EXTRA)
    asked: Paths = _unpacked(key, packed)
    for batch in batches:
        rows = [_counted(asked, asked.parts[number]) for number in batch.column(0).to_pylist()]
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)] or [
            pa.array([], pa.string())
        ] * 2
        yield pa.RecordBatch.from_arrays(columns, names=["paths", "error"])


def _counted(asked: Paths, part: Sequence[tuple[planes.PackedPosition, int]]) -> tuple[str | None, str | None]:
    compiled = replace(asked.compiled, states=tuple(state for state, _ in part))
    try:
        with plies(compiled) as engine:
            counts = engine.counter(asked.depth)()
    except MoveError as error:
        return None, str(error)
    return str(sum(count * weight for count, (_, weight) in zip(counts, part, strict=True))), None


class Worker:
    """Rules in a DuckDB of one thread, since Spark runs a worker for each processor."""

    def __init__(self, rules: ShippedRules) -> None:
        self._np, self._pa = need("numpy", EXTRA), need("pyarrow", EXTRA)
        self._rules = rules
        self._encoder = PositionEncoder(rules.compiled, rules.threats, threads=1)
        self._engine = ColumnEngine(rules.compiled, threads=1)
        self._places = rules.places.select(MOVE).combine_chunks().to_struct_array().combine_chunks()

    def answers(self, question: SparkQuestion, batches: Iterable[Any]) -> Iterator[Any]:
        """See the module's `answers`; of counts by piece or destination one batch of them all."""
        cut = (batch.slice(at, _AT_ONCE) for batch in batches for at in range(0, batch.num_rows, _AT_ONCE))
        if question.by in MOVE:
            yield self._totals(question, cut)
            return
        name, made = (MOVES, self._moves) if question.by == "moves" else ("count", self._counts)
        for batch in cut:
            found, errors = self._answer(question, batch)
            told = self._pa.array([errors.get(row) for row in range(batch.num_rows)], self._pa.string())
            columns = [*map(batch.column, question.kept), made(batch.num_rows, *found, errors), told]
            yield self._pa.RecordBatch.from_arrays(columns, names=[*question.kept, name, "error"])

    def _moves(self, count: int, row: Any, possibility: Any, _: object) -> Any:
        """A list of moves for each position, in document order."""
        np = self._np
        keys = row.astype(np.int64) << 32 | possibility
        keys.sort()
        ends = np.searchsorted(keys, np.arange(count + 1) << 32).astype(np.int32)
        return self._pa.ListArray.from_arrays(ends, self._places.take(self._pa.array(keys & 0xFFFFFFFF)))

    def _counts(self, count: int, row: Any, number: Any, errors: dict[int, str]) -> Any:
        counts = self._np.zeros(count, self._np.int64)
        counts[row] = number
        is_bad = self._np.zeros(count, bool)
        is_bad[[*errors]] = True
        return self._pa.array(counts, mask=is_bad)

    def _totals(self, question: SparkQuestion, batches: Iterable[Any]) -> Any:
        """How many moves there are of each piece, or to each destination, and what is wrong with some positions."""
        np, pa = self._np, self._pa
        coded = self._rules.places[question.by].combine_chunks().dictionary_encode()
        totals = np.zeros(len(coded.dictionary), np.int64)
        wrong: list[str] = []
        for batch in batches:
            (possibility, number), errors = self._answer(question, batch)
            np.add.at(totals, coded.indices.to_numpy()[possibility], number)
            wrong += errors.values()
        [some] = np.nonzero(totals)
        texts = [*coded.dictionary.take(pa.array(some)).to_pylist(), *([None] * len(wrong))]
        counts = [*totals[some].tolist(), *([None] * len(wrong))]
        errors_of = [*([None] * len(some)), *wrong]
        return pa.RecordBatch.from_arrays(
            [pa.array(texts, pa.string()), pa.array(counts, pa.int64()), pa.array(errors_of, pa.string())],
            names=[question.by, "count", "error"],
        )

    # --- asking, and finding what is wrong ---

    def _answer(self, question: SparkQuestion, batch: Any) -> tuple[tuple[Any, Any], dict[int, str]]:
        """What is found, as two columns, and the errors of the rows of which nothing is."""
        rows = self._np.arange(batch.num_rows)

        def encode(some: Any) -> Batch:
            return self._encoded(question, batch.take(self._pa.array(some)))

        def ask(some: Any) -> tuple[Any, Any]:
            return self._ask(question.by, encode(some), some)

        errors: dict[int, str] = {}
        # Most is found when positions are read; that chains have no end, only when they are asked for.
        for attempt in (encode, ask):
            try:
                return ask(rows), errors
            except (PositionError, MoveError):
                wrong = _wrong(attempt, rows)
                rows = self._np.setdiff1d(rows, [*wrong])
                errors |= wrong
        return ask(rows), errors

    def _ask(self, by: str, batch: Batch, rows: Any) -> tuple[Any, Any]:
        engine = self._engine
        ask = {"moves": engine.moves, "position": engine.count_by_position}.get(by, engine.count_by_possibility)
        found = ask(batch, self._rules.threats)
        number, other = (column.to_numpy() for column in found.columns)
        if by in MOVE:
            return number, other
        return rows[number if batch.ids is None else batch.ids.to_numpy()[number]], other

    def _encoded(self, question: SparkQuestion, batch: Any) -> Batch:
        if BOARD in batch.schema.names:
            return self._from_lists(batch)
        texts = batch.column("feen" if question.reader is None else "line").to_pylist()
        if None in texts:
            raise PositionError("there is no text: null is not a position")
        if question.reader is None:
            return self._encoder.feen(texts)
        read = [*map(question.reader, texts)]
        feen = [each for each in read if isinstance(each, str)]
        if len(feen) == len(read):
            return self._encoder.feen(feen)
        return self._encoder.positions([Position.from_feen(each) if isinstance(each, str) else each for each in read])

    def _from_lists(self, batch: Any) -> Batch:
        if batch.column("position").null_count:
            raise PositionError("the column position is null, which is not the name of a position")

        def table(name: str, *fields: str) -> Any:
            if name not in batch.schema.names:
                return None
            column = batch.column(name)
            values = column.flatten()
            columns = [values.field(field) for field in fields] if len(fields) > 1 else [values]
            return self._pa.table([column.value_parent_indices(), *columns], names=["position", *fields])

        return self._encoder.arrow(
            table(BOARD, "square", "piece"),
            table(SIDES, "side"),
            table(HANDS, "piece", "count"),
            table(STATES, "variable", "value"),
        )


def _wrong(attempt: Callable[[Any], object], rows: Any) -> dict[int, str]:
    """The errors of the rows that an attempt fails for, found by halves."""
    try:
        attempt(rows)
    except (PositionError, MoveError) as error:
        if len(rows) == 1:
            return {int(rows[0]): str(error)}
        middle = len(rows) // 2
        return _wrong(attempt, rows[:middle]) | _wrong(attempt, rows[middle:])
    return {}
