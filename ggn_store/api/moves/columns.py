"""`ruleset.columns`: the moves of many positions as tables, made by engines on columns; compiled files; views."""

from __future__ import annotations

import itertools
import os
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from ggn_store.api.handle import AnyPosition, Handle, as_position, each_position
from ggn_store.api.positions.json_text import read_feen_or_positions
from ggn_store.collector import held_off
from ggn_store.columnar import compile as compiling
from ggn_store.columnar import sql
from ggn_store.columnar.batch import Batch
from ggn_store.columnar.compile import EXTRA, Compiled
from ggn_store.columnar.encode import PositionEncoder
from ggn_store.columnar.engine import ColumnEngine
from ggn_store.columnar.extras import need
from ggn_store.columnar.spark_worker import ShippedRules
from ggn_store.columnar.threats import ThreatTables, can_judge, compile_threats
from ggn_store.errors import PositionError, StoreError, printable, quote
from ggn_store.model.moves.move import Count, Move, check_count
from ggn_store.model.moves.position import Position
from ggn_store.model.teams.revision import Revision
from ggn_store.notation.hand import HAND
from ggn_store.store.database.session import Session
from ggn_store.store.moves import whole
from ggn_store.store.moves.royals import NotJudgedError

if TYPE_CHECKING:
    from ggn_store.api.questions.views import ViewRows

# How many positions of a file are asked about at once, and how many moves become records at once.
_CHUNK: Final = 20_000
_RECORDS: Final = 10_000
# Revisions of a store whose tables are kept for its next handles on them.
_KEPT: Final = 4
# The bits of a possibility's number in one number for it and its position.
_POSSIBILITY: Final = 0xFFFFFFFF


class _Legal(NamedTuple):
    """What questions about legal moves take; `named` are their moves, and `places` where these are."""

    threats: ThreatTables
    encoder: PositionEncoder
    named: Any
    places: Any


@dataclass(slots=True)
class _Made:
    """What is made of a revision when it is first needed, for all handles of a store on it, by one thread at a time."""

    making: threading.RLock = field(default_factory=threading.RLock)
    compiled: Compiled | None = None
    encoder: PositionEncoder | None = None
    legal: _Legal | None = None
    is_unjudged: bool = False
    named: Any = None
    engines: dict[int | None, ColumnEngine] = field(default_factory=dict)


_kept: WeakKeyDictionary[Session, OrderedDict[Revision, _Made]] = WeakKeyDictionary()


def _made_of(handle: Handle) -> _Made:
    """What is made of a handle's revision, which never changes; the store keeps the last few."""
    kept = _kept.setdefault(handle.session, OrderedDict())
    made = kept.pop(handle.revision, None) or _Made()
    kept[handle.revision] = made
    while len(kept) > _KEPT:
        kept.popitem(last=False)
    return made


class Columns:
    """`ruleset.columns`: the ruleset as tables of columns, which are made when they are first needed."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self._made = _made_of(handle)

    @property
    def is_made(self) -> bool:
        """Whether `lists` has been asked: its tables, and the moves that they name, are in memory."""
        return self._made.named is not None

    @property
    def compiled(self) -> Compiled:
        """The tables that questions read."""
        with self._made.making:
            if self._made.compiled is None:
                self.handle.require_sound()
                with held_off():
                    with self.handle.opened() as opened:
                        places = whole.read_places(opened)
                    self._made.compiled = self._compile(places)
            return self._made.compiled

    def _compile(self, possibilities: Iterable[whole.PossibilityRow]) -> Compiled:
        with self.handle.opened() as opened:
            lanes, named = whole.read_lanes(opened), whole.read_named(opened)
        return compiling.compile_lanes(self.handle.revision, self.handle.board, lanes, named, possibilities)

    @property
    def _encoder(self) -> PositionEncoder:
        with self._made.making:
            if self._made.encoder is None:
                self._made.encoder = PositionEncoder(self.compiled)
            return self._made.encoder

    @property
    def threats(self) -> ThreatTables:
        """What questions about legal moves take; raises NotJudgedError where columns cannot judge all duties."""
        return self._legal.threats

    @property
    def _legal(self) -> _Legal:
        with self._made.making:
            if self._made.legal is None:
                # Before anything is made in vain, and made again with the next question.
                self._made.is_unjudged = self._made.is_unjudged or not can_judge(self.handle.play)
                if self._made.is_unjudged:
                    raise NotJudgedError
                handle, named, places = self.handle, self._named(), self.compiled.tables["possibility"]
                with held_off():
                    rules = handle.pieces, handle.start
                    try:
                        threats = compile_threats(self.compiled, named.tolist(), handle.play, handle.board, rules)
                    except NotJudgedError:
                        self._made.is_unjudged = True
                        raise
                if threats.passes:
                    passes = need("numpy", EXTRA).empty(len(threats.passes), object)
                    passes[:] = threats.passes
                    named = need("numpy", EXTRA).concatenate((named, passes))
                    places = compiling.with_places(places, map(whole.place_of, threats.passes))
                self._made.legal = _Legal(threats, PositionEncoder(self.compiled, threats), named, places)
            return self._made.legal

    @property
    def judges(self) -> bool:
        """Whether questions about legal moves can be asked."""
        try:
            return bool(self.threats)
        except NotJudgedError:
            return False

    def _asked(self, legal: bool) -> ThreatTables | None:
        """What a question takes; raises StoreError where it cannot be answered."""
        if not legal:
            return None
        try:
            return self.threats
        except NotJudgedError:
            duties = ", ".join(duty.name for duty in self.handle.play.duties)
            raise StoreError(
                f"{self.handle.revision}: columns cannot judge its duties ({duties}): ask the store for legal moves, "
                "with moves_batch or count_moves, and on the command line without --engine"
            ) from None

    def lists(self, positions: Sequence[Position], legal: bool = False) -> list[list[Move]]:
        """The moves of each position, as the store gives them."""
        np = need("numpy", EXTRA)
        named = self._legal.named if legal else self._named()
        with held_off():
            batch = self.encode(positions, legal=legal)
            keys = self._found(batch, self._asked(legal))
            moves = named[keys & _POSSIBILITY].tolist()
            ends = np.searchsorted(keys, np.arange(batch.count + 1) << 32).tolist()
            return [moves[begin:end] for begin, end in pairwise(ends)]

    def _named(self) -> Any:
        """The move that each possibility is, in an array by its number."""
        made = self._made
        with made.making:
            if made.named is None:
                self.handle.require_sound()
                with held_off():
                    with self.handle.opened() as opened:
                        found = whole.read_moves(opened)
                    if made.compiled is None:
                        made.compiled = self._compile(map(whole.place_of, found))
                named = need("numpy", EXTRA).empty(len(found), object)
                named[:] = found
                made.named = named
            return made.named

    def _found(self, batch: Batch, threats: ThreatTables | None, threads: int | None = None) -> Any:
        """What holds, in order: a number for each position and possibility, since one is sorted faster than two."""
        found = self.engine(threads).moves(batch, threats)
        keys = found["position"].to_numpy().astype("int64") << 32 | found["possibility"].to_numpy()
        keys.sort(kind="stable")  # which goes by the ordered runs that the engine's answer has
        return keys

    def explain(
        self, positions: Sequence[Position], legal: bool = False, threads: int | None = None
    ) -> tuple[str, list[str]]:
        """What the engine is asked about the moves of positions, and its plan, line by line."""
        threats = self._asked(legal)
        text, plan = self.engine(threads).explain(self.encode(positions, legal=legal), threats)
        return text, plan.splitlines()

    def moves(
        self,
        positions: Any,
        *,
        sides: Any = None,
        hands: Any = None,
        states: Any = None,
        legal: bool = False,
        threads: int | None = None,
    ) -> Any:
        """The moves of many positions as an Arrow table: position, piece, source, destination, ordinal.

        `positions` are Positions, mappings or FEEN texts, numbered from 0, or an Arrow table: with a column `feen`,
        whose rows are numbered so, or with position (a number of the caller's), square and piece (null where nothing
        stands), to which `sides` (position, side), `hands` (position, piece, count) and `states` (position, variable,
        value) may be given; without them the first side moves, the hands are not known, and state variables are what
        they begin as. The answer is that of `Ruleset.moves`, in the same order. DuckDB makes it on `threads`
        processors, by default all. Raises GgnStoreError where DuckDB is not installed, and PositionError as
        `Ruleset.moves` does.
        """
        pa = need("pyarrow", EXTRA)
        threats = self._asked(legal)
        batch = self.encode(positions, sides, hands, states, legal)
        keys = self._found(batch, threats, threads)
        named = self._legal.places if legal else self.compiled.tables["possibility"]
        possibility = keys & _POSSIBILITY
        columns = {"position": _ids(batch, keys >> 32)}
        for name in ("piece", "source", "destination"):
            texts = named[name].combine_chunks().dictionary_encode()
            columns[name] = pa.DictionaryArray.from_arrays(
                texts.indices.to_numpy()[possibility], texts.dictionary, safe=False
            )
        return pa.table(columns | {"ordinal": named["ordinal"].to_numpy()[possibility]})

    def count(
        self,
        positions: Any,
        by: Count = "position",
        *,
        sides: Any = None,
        hands: Any = None,
        states: Any = None,
        legal: bool = False,
        threads: int | None = None,
    ) -> Any:
        """How many moves there are by position, by piece or by destination: an Arrow table of that and `count`.

        The moves themselves never leave DuckDB; the rest is as for `moves`.
        """
        check_count(by)
        np, pa, tables = need("numpy", EXTRA), need("pyarrow", EXTRA), self.compiled.tables
        threats = self._asked(legal)
        batch, asked = self.encode(positions, sides, hands, states, legal), self.engine(threads)
        if by == "position":
            counts = np.zeros(batch.count, np.int64)
            found = asked.count_by_position(batch, threats)
            counts[found["position"].to_numpy()] = found["count"].to_numpy()
            return pa.table({"position": _ids(batch, np.arange(batch.count, dtype=np.int64)), "count": counts})
        if by == "piece" and threats is None:
            found = asked.count_by_start(batch)
            pieces = tables["start"]["piece"].to_numpy()[found["start"].to_numpy()]
            texts = tables["piece"]["identifier"]
        else:
            found = asked.count_by_possibility(batch, threats)
            places = tables["possibility"] if threats is None else self._legal.places
            column = places[by].combine_chunks().dictionary_encode()
            pieces = column.indices.to_numpy()[found["possibility"].to_numpy()]
            texts = column.dictionary
        counts = np.bincount(pieces, found["count"].to_numpy(), len(texts)).astype(np.int64)
        [some] = np.nonzero(counts)
        return pa.table({by: texts.take(pa.array(some)), "count": counts[some]})

    def rules(self, legal: bool = False) -> ShippedRules:
        """What workers of Spark need; raises StoreError where columns cannot judge all duties."""
        threats = self._asked(legal)
        if threats is None:
            return ShippedRules(self.compiled, None, self.compiled.tables["possibility"])
        # Which moves passes are, their places say.
        return ShippedRules(self.compiled, replace(threats, passes=()), self._legal.places)

    def paths(self, positions: Sequence[Position], depth: int) -> list[int] | None:
        """How many paths of so many legal moves lead on from each position; None where there are no chains.

        Other games have engines that know better how.
        """
        if not self.judges or not self.threats.has_chains:
            return None
        counts: list[int] = self.engine().paths(self.encode(positions, legal=True), self.threats, depth).tolist()
        return counts

    def view(self, name: str) -> ViewRows:
        """All rows of this revision in a view such as `v_moves`: to_arrow(), to_pandas(); `v_history` has them all."""
        from ggn_store.api.questions.views import ViewRows

        # With _all behind the name the revision would still be this one.
        return ViewRows(self.handle.session, name, str(self.handle.revision))

    def compile(self, directory: str | os.PathLike[str], positions: str | None = None) -> None:
        """Write the ruleset as Parquet files, which any engine can join, into a new directory.

        With a file of positions, as `--positions` takes it, these are written, too, as `sql` joins them.
        `ggn_store.columnar.compile` says what is in the files. Raises InputError where the directory is not empty, and
        PositionError as `moves` does.
        """
        batches: Iterable[tuple[int, Batch]] = ()
        if positions is not None:  # the files are there even if no position is
            batches = itertools.chain([(0, self.encode([]))], _answers(self.handle, positions, None, self.encode))
        compiling.write(self.compiled, compiling.details(self.handle.read_pieces()), directory, batches)

    def sql(self, engine: str) -> str:
        """The statement that an engine is asked for `moves` of compiled positions: a row (position, possibility) each.

        A comment above it says what the tables are: those of `compiled`, and those of what `encode` gives, or the files
        that `compile` writes. Raises StoreError for an engine that has no dialect here.
        """
        if engine not in sql.DIALECTS:
            raise StoreError(f"{quote(engine)} is not an engine with a dialect here: {', '.join(sql.DIALECTS)}")
        return sql.explained(sql.DIALECTS[engine], printable(str(self.handle.revision)))

    def encode(
        self, positions: Any, sides: Any = None, hands: Any = None, states: Any = None, legal: bool = False
    ) -> Batch:
        """A batch of positions in any of the forms that `moves` takes, for legal moves if these are asked for."""
        encoder = self._legal.encoder if legal else self._encoder
        if hasattr(positions, "column_names"):
            if "feen" not in positions.column_names:
                return encoder.arrow(positions, sides, hands, states)
            if positions.column_names.count("feen") > 1:
                raise PositionError("the positions have a column feen twice")
            if positions["feen"].null_count:
                raise PositionError("the column feen has no text in some rows: null is not a position")
            positions = positions["feen"].to_pylist()
        if any(table is not None for table in (sides, hands, states)):
            raise PositionError(
                "sides, hands and states go with an Arrow table of pieces: other positions bring their own"
            )
        if hasattr(positions, "columns"):
            raise PositionError(
                f"the positions have to be Positions, FEEN texts or an Arrow table, not {type(positions).__name__}: "
                "of a frame, pyarrow.Table.from_pandas or to_arrow makes one"
            )
        given: list[Any] = list(each_position(positions))
        if all(isinstance(each, str) for each in given):
            return encoder.feen(given)
        return encoder.positions(list(map(_position, given)))

    def engine(self, threads: int | None = None) -> ColumnEngine:
        """DuckDB with the rules, on at most so many processors, by default all; made when first asked, and kept."""
        engines = self._made.engines
        if threads is not None:
            if not isinstance(threads, int) or threads < 1:
                raise StoreError(f"threads is a number of processors from 1, not {quote(threads)}")
            threads = min(threads, os.cpu_count() or 1)
        with self._made.making:
            if threads not in engines:
                engines[threads] = ColumnEngine(self.compiled, threads)
            return engines[threads]


def move_records(columns: Columns, file: str, side: str | None, **options: Any) -> Iterator[dict[str, Any]]:
    """The moves of all positions of an NDJSON file, each with the number of its position from 0."""
    for first, table in _answers(columns.handle, file, side, lambda positions: columns.moves(positions, **options)):
        for batch in table.to_batches(_RECORDS):
            yield from (record | {"position": record["position"] + first} for record in batch.to_pylist())


def count_records(columns: Columns, file: str, by: Count, side: str | None, **options: Any) -> Iterator[dict[str, Any]]:
    """How many moves the positions of an NDJSON file have: by position, or of them all by piece or destination."""
    total: Counter[Any] = Counter()
    for first, table in _answers(columns.handle, file, side, lambda positions: columns.count(positions, by, **options)):
        for record in table.to_pylist():
            if by == "position":
                yield record | {"position": record["position"] + first}
            else:
                total[record[by]] += record["count"]
    order = columns.handle.pieces if by == "piece" else (*columns.handle.board.squares, HAND)
    yield from ({by: each, "count": total[each]} for each in order if total[each])


def _answers(
    handle: Handle, file: str, side: str | None, ask: Callable[[list[Position | str]], Any]
) -> Iterator[tuple[int, Any]]:
    """What is answered about each chunk of a file's positions, with the number of the chunk's first one."""
    given = read_feen_or_positions(file, handle)

    def answer(chunk: Sequence[tuple[str, Position | str]]) -> Any:
        positions = [each for _, each in chunk]
        if side is not None:
            positions = [_position(each).with_changes(side=side) for each in positions]
        return ask(positions)

    first = 0
    while chunk := list(islice(given, _CHUNK)):
        try:
            answered = answer(chunk)
        except PositionError:
            _require_each(chunk, answer)
            raise
        yield first, answered
        first += len(chunk)


def _require_each(chunk: Sequence[tuple[str, Position | str]], answer: Callable[[Any], Any]) -> None:
    """Raise PositionError with the place of the first position that cannot be answered, which is found by halves."""
    try:
        answer(chunk)
    except PositionError as error:
        if len(chunk) == 1:
            raise PositionError(f"{chunk[0][0]}: {error}") from None
        _require_each(chunk[: len(chunk) // 2], answer)
        _require_each(chunk[len(chunk) // 2 :], answer)


def _ids(batch: Batch, numbers: Any) -> Any:
    """The caller's numbers of positions."""
    return numbers if batch.ids is None else batch.ids.to_numpy()[numbers]


def _position(position: AnyPosition | str) -> Position:
    return Position.from_feen(position) if isinstance(position, str) else as_position(position)
