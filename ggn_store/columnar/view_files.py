"""The views as Arrow tables with the types that they are described with, as Parquet files and as a DuckDB file."""

from __future__ import annotations

import base64
import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from ggn_store.columnar.arrow import FRAMES
from ggn_store.columnar.compile import EXTRA
from ggn_store.columnar.extras import need, silent
from ggn_store.errors import GgnStoreError, InputError, printable
from ggn_store.store.bulk.piece_columns import NULL, Column
from ggn_store.store.schema.views import VIEWS, View

DUCKDB: Final = "ggn.duckdb"
SCRIPT: Final = "views.sql"
_DUCKDB_TYPES: Final = {"text": "VARCHAR", "integer": "BIGINT", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
# What DuckDB reads at a time.
ROWS_A_GROUP: Final = 122_880


def schema(view: View, zone: str | None = "UTC") -> Any:
    """The schema of a view; fields have their meaning as metadata, `description`. Times know their zone, or none."""
    pa = need("pyarrow", EXTRA)
    types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_(), "time": pa.timestamp("us", zone)}
    return pa.schema(
        [pa.field(each.name, types[each.type], metadata={"description": each.meaning}) for each in view.columns],
        metadata={"description": f"a row is {view.row}"},
    )


def record_batch(columns: Sequence[Column], made: Any, *, coded: bool = False) -> Any:
    """Columns as an Arrow record batch of a schema; with `coded`, texts are dictionaries."""
    pa, np = need("pyarrow", EXTRA), need("numpy", EXTRA)
    try:
        arrays = [_array(pa, np, column, field.type, coded) for column, field in zip(columns, made, strict=True)]
    except (pa.ArrowException, OverflowError) as error:
        raise GgnStoreError(f"Arrow cannot hold a value of the view: {printable(str(error))}") from None
    return (
        pa.RecordBatch.from_arrays(arrays, names=made.names)
        if coded
        else pa.RecordBatch.from_arrays(arrays, schema=made)
    )


def _array(pa: Any, np: Any, column: Column, kind: Any, coded: bool) -> Any:
    values, at = column.values, column.at
    if at is None:
        found = pa.array(values, kind)
        return found.dictionary_encode() if coded and kind == pa.string() else found
    if values is None:
        return pa.array(at, kind, mask=at == NULL)
    there = [value for value in values if value is not None]
    if len(there) == len(values):
        indices = pa.array(np.asarray(at, np.int32))
    else:
        # Where a value is among those that are none; -1 for NULL.
        places = np.cumsum([value is not None for value in values], dtype=np.int32) - 1
        places[[value is None for value in values]] = -1
        indices = places[at]
        indices = pa.array(indices, mask=indices < 0)
    if coded and kind == pa.string():
        return pa.DictionaryArray.from_arrays(indices, pa.array(there, kind))
    return pa.array(there, kind).take(indices)


def table(view: View, batches: Iterable[Sequence[Column]]) -> Any:
    """An Arrow table of a view."""
    pa = need("pyarrow", EXTRA)
    made = schema(view)
    return pa.Table.from_batches([record_batch(columns, made) for columns in batches], made)


def frame(found: Any) -> Any:
    """An Arrow table of a view as a pandas frame, whose integers and booleans stay such beside missing ones."""
    pd, pa = need("pandas", FRAMES), need("pyarrow", EXTRA)
    return found.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get)


def register_views(engine: Any, directory: str | os.PathLike[str]) -> None:
    """Have an engine know an export in Parquet as the views that a store has, so that it answers the same SQL.

    The engine is a `SparkSession`, whose executors have to reach the directory (`s3a://...`, or a path that all have),
    or a connection of DuckDB. The views are temporary, and replace others of their names. Raises InputError where
    there is no such export.
    """
    place = os.fspath(directory).rstrip("/")
    is_spark = hasattr(engine, "createDataFrame")
    try:
        for view in VIEWS:
            name = (view.of_pieces or view).name
            file = f"{place}/{name}.parquet"
            if is_spark:
                engine.read.parquet(file).createOrReplaceTempView(name)
            else:
                engine.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM read_parquet({literal(file)})")
            if view.of_pieces is not None:
                kind = "TEMPORARY" if is_spark else "TEMP"
                query = f"CREATE OR REPLACE {kind} VIEW {view.name} AS {view.joined}"
                (engine.sql if is_spark else engine.execute)(query)
    except Exception as error:  # each engine raises its own
        first, *_ = str(error).splitlines() or [type(error).__name__]
        raise InputError(
            f"{printable(place)}: cannot be read as an export in Parquet: {printable(first)}; write one where the "
            "engine can read it, with `ggn-store export --format parquet` and without --expanded"
        ) from None


class _Gathered(ABC):
    """Gathers the rows of views until there are enough to be written at once; texts as dictionaries, one of a view."""

    def __init__(self, zone: str | None) -> None:
        self._zone = zone
        self._pending: dict[str, list[Any]] = {}
        self._counts: dict[str, int] = {}

    def add(self, view: View, columns: Sequence[Column]) -> None:
        self._keep(view, record_batch(columns, schema(view), coded=True))

    def _keep(self, view: View, batch: Any) -> None:
        self._pending.setdefault(view.name, []).append(batch)
        self._counts[view.name] = self._counts.get(view.name, 0) + batch.num_rows
        if self._counts[view.name] >= ROWS_A_GROUP:
            self._flush(view, ROWS_A_GROUP)

    def _flush(self, view: View, group: int) -> None:
        """Write what is gathered, but for what is fewer than a group."""
        pa = need("pyarrow", EXTRA)
        pending = self._pending.pop(view.name, [])
        if not pending:
            return
        found = pa.Table.from_batches(pending).unify_dictionaries()
        # DuckDB makes a TIMESTAMP of one with a zone by an extension only, and then in the session's zone.
        for at, column in enumerate(view.columns):
            if column.type == "time":
                found = found.set_column(at, column.name, found.column(at).cast(pa.timestamp("us", self._zone)))
        whole = found.num_rows // group * group
        if whole:
            self._write(view, found.slice(0, whole))
        rest = found.slice(whole)
        self._pending[view.name], self._counts[view.name] = rest.to_batches(), rest.num_rows

    @abstractmethod
    def _write(self, view: View, found: Any) -> None:
        """Write rows of a view, as an Arrow table."""


class ParquetFiles(_Gathered):
    """Writes a file for each table, and `views.sql`, which has DuckDB know them as the views."""

    def __init__(self, directory: Path, ending: str = ".parquet", zone: str | None = "UTC") -> None:
        super().__init__(zone)
        self._ending = ending
        self._parquet = need("pyarrow.parquet", EXTRA)
        self._directory = directory
        self._writers: dict[str, Any] = {}
        self._tables: list[str] = []

    def begin(self, view: View) -> str:
        self._tables.append(view.name)
        return f"{view.name}{self._ending}"

    def add_again(self, view: View, file: Path, without: Collection[int]) -> None:
        """Add the rows of an older file, but for those of some pieces."""
        pa, compute = need("pyarrow", EXTRA), need("pyarrow.compute", EXTRA)
        texts = [column.name for column in view.columns if column.type == "text"]
        with self._parquet.ParquetFile(file, read_dictionary=texts) as older:
            for batch in older.iter_batches(ROWS_A_GROUP):
                left = compute.invert(compute.is_in(batch["piece_id"], pa.array(list(without), pa.int64())))
                self._keep(view, batch.filter(left).replace_schema_metadata(None))

    def _write(self, view: View, found: Any) -> None:
        self._writer(view, found.schema).write_table(found, ROWS_A_GROUP)

    def _writer(self, view: View, coded: Any) -> Any:
        """The writer of a file, made when the first rows come."""
        if view.name not in self._writers:
            counted = [name for name in view.names if name == "possibility"]
            self._writers[view.name] = self._parquet.ParquetWriter(
                self._directory / f"{view.name}{self._ending}",
                coded,
                compression="zstd",
                use_dictionary=[name for name in view.names if name not in counted],
                column_encoding=dict.fromkeys(counted, "DELTA_BINARY_PACKED"),
                # Those of texts take as long as all the rest.
                write_statistics=[column.name for column in view.columns if column.type != "text"],
                store_schema=False,
            )
            # What is in the file are texts and no dictionaries, and so it says.
            said = schema(view, self._zone)
            told = {**said.metadata, b"ARROW:schema": base64.b64encode(said.serialize().to_pybytes())}
            self._writers[view.name].add_key_value_metadata(told)
        return self._writers[view.name]

    def end(self, view: View) -> None:
        self._flush(view, 1)
        self._writer(view, schema(view, self._zone)).close()

    def finish(self, joined: Sequence[View]) -> list[str]:
        lines = [f"CREATE OR REPLACE VIEW {name} AS FROM '{name}.parquet';" for name in self._tables]
        lines += [f"CREATE OR REPLACE VIEW {view.name} AS {view.joined};" for view in joined]
        (self._directory / SCRIPT).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return [SCRIPT]

    def close(self) -> None:
        while self._writers:
            _, writer = self._writers.popitem()
            with suppress(OSError):  # which has been told of already
                writer.close()


class DuckFile(ParquetFiles):
    """Writes a DuckDB file with the views, some as tables; each is made of a Parquet file, which is then removed.

    Texts of rules are kept as numbers, which take a third of the room: a view has the texts.
    """

    def __init__(self, directory: Path) -> None:
        duckdb = need("duckdb", EXTRA)
        super().__init__(directory, zone=None)
        self._error = duckdb.Error
        self._texts: dict[tuple[str, str], dict[str, None]] = {}
        self._made: list[tuple[str, View]] = []
        with self._explained():
            config = {"memory_limit": "256MB", "threads": 2, "temp_directory": str(directory / "ggn.duckdb.tmp")}
            self._connection = silent(duckdb.connect(str(directory / DUCKDB), config=config))

    def begin(self, view: View) -> str:
        super().begin(view)
        return DUCKDB

    def _keep(self, view: View, batch: Any) -> None:
        for column in _coded(view):
            known = self._texts.setdefault((view.name, column), {})
            known.update(dict.fromkeys(batch.column(column).dictionary.to_pylist()))
        super()._keep(view, batch)

    def end(self, view: View) -> None:
        super().end(view)
        pa, coded = need("pyarrow", EXTRA), _coded(view)
        types = {each.name: _DUCKDB_TYPES[each.type] for each in view.columns}
        kinds = types | {column: f"{view.name}_{column}" for column in coded}
        for column in coded:
            texts = pa.array(self._texts.pop((view.name, column), ()), pa.string())
            with self._explained():
                self._connection.register("given", pa.table({"text": texts}))
                self._connection.execute(f"CREATE TYPE {kinds[column]} AS ENUM (SELECT text FROM given)")
                self._connection.unregister("given")
        file, kept = self._directory / f"{view.name}.parquet", view.name + "_kept" if coded else view.name
        self._run(f"CREATE TABLE {kept} AS SELECT {_cast(kinds)} FROM read_parquet({literal(str(file))})")
        file.unlink()
        if coded:
            self._run(f"CREATE VIEW {view.name} AS SELECT {_cast(types)} FROM {kept}")
        self._made.append(("VIEW" if coded else "TABLE", view))

    def finish(self, joined: Sequence[View]) -> list[str]:
        self._run("BEGIN")  # each statement by itself would wait for the disk
        for view in joined:
            self._run(f"CREATE VIEW {view.name} AS {view.joined}")
        for kind, view in (*self._made, *(("VIEW", view) for view in joined)):
            self._comment(kind, view)
        self._run("COMMIT")
        self._run("CHECKPOINT")
        self._connection.close()
        return []

    def _comment(self, kind: str, view: View) -> None:
        self._run(f"COMMENT ON {kind} {view.name} IS {literal(f'a row is {view.row}')}")
        for each in view.columns:
            self._run(f'COMMENT ON COLUMN {view.name}."{each.name}" IS {literal(each.meaning)}')

    def close(self) -> None:
        super().close()
        self._connection.close()

    def _run(self, statement: str) -> None:
        with self._explained():
            self._connection.execute(statement)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            said = str(error)
            for number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                if os.strerror(number) in said:
                    raise OSError(number, os.strerror(number)) from None
            raise GgnStoreError(f"{DUCKDB}: DuckDB refused: {printable(said.splitlines()[0])}") from None


def _coded(view: View) -> list[str]:
    """The names of the columns of a view of rules that have texts."""
    return [column.name for column in view.columns if column.type == "text" and "possibility" in view.names]


def _cast(types: Mapping[str, str]) -> str:
    return ", ".join(f'"{name}"::{kind} AS "{name}"' for name, kind in types.items())


def literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
