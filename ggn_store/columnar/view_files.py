"""The views as Arrow tables with the types that they are described with, as Parquet files and as a DuckDB file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from ggn_store.columnar.arrow import FRAMES
from ggn_store.columnar.compile import EXTRA
from ggn_store.columnar.extras import need
from ggn_store.errors import GgnStoreError, InputError, printable
from ggn_store.store.schema.views import VIEWS, View
from ggn_store.store.sql.view_rows import Row

DUCKDB: Final = "ggn.duckdb"
SCRIPT: Final = "views.sql"
_DUCKDB_TYPES: Final = {"text": "VARCHAR", "integer": "BIGINT", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
_ROWS_A_GROUP: Final = 120_000


def schema(view: View) -> Any:
    """The schema of a view; fields have their meaning as metadata, `description`."""
    pa = need("pyarrow", EXTRA)
    types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_(), "time": pa.timestamp("us", "UTC")}
    return pa.schema(
        [pa.field(each.name, types[each.type], metadata={"description": each.meaning}) for each in view.columns],
        metadata={"description": f"a row is {view.row}"},
    )


def record_batch(rows: Sequence[Row], made: Any) -> Any:
    """Rows as an Arrow record batch of a schema."""
    pa = need("pyarrow", EXTRA)
    columns = zip(*rows, strict=True)
    try:
        arrays = [pa.array(column, field.type) for column, field in zip(columns, made, strict=True)]
    except pa.ArrowException as error:
        raise GgnStoreError(f"Arrow cannot hold a value of the view: {printable(str(error))}") from None
    return pa.RecordBatch.from_arrays(arrays, schema=made)


def table(view: View, batches: Iterable[Sequence[Row]]) -> Any:
    """An Arrow table of a view."""
    pa = need("pyarrow", EXTRA)
    made = schema(view)
    return pa.Table.from_batches([record_batch(rows, made) for rows in batches], made)


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
                engine.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM read_parquet({_literal(file)})")
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


class ParquetFiles:
    """Writes a file for each table, and `views.sql`, which has DuckDB know them as the views."""

    def __init__(self, directory: Path) -> None:
        self._parquet = need("pyarrow.parquet", EXTRA)
        self._directory = directory
        self._writer: Any = None
        self._schema: Any = None
        self._pending: list[Any] = []
        self._tables: list[str] = []

    def begin(self, view: View) -> str:
        name = f"{view.name}.parquet"
        self._tables.append(view.name)
        self._schema = schema(view)
        self._writer = self._parquet.ParquetWriter(self._directory / name, self._schema, compression="zstd")
        return name

    def add(self, rows: Sequence[Row]) -> None:
        self._pending.append(record_batch(rows, self._schema))
        if sum(batch.num_rows for batch in self._pending) >= _ROWS_A_GROUP:
            self._flush()

    def _flush(self) -> None:
        pa = need("pyarrow", EXTRA)
        pending, self._pending = self._pending, []
        if pending:
            self._writer.write_table(pa.Table.from_batches(pending), _ROWS_A_GROUP * 2)

    def end(self, view: View) -> None:
        self._flush()
        writer, self._writer = self._writer, None
        writer.close()

    def finish(self, joined: Sequence[View]) -> list[str]:
        lines = [f"CREATE OR REPLACE VIEW {name} AS FROM '{name}.parquet';" for name in self._tables]
        lines += [f"CREATE OR REPLACE VIEW {view.name} AS {view.joined};" for view in joined]
        (self._directory / SCRIPT).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return [SCRIPT]

    def close(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with suppress(OSError):  # which has been told of already
                writer.close()


class DuckFile:
    """Writes a DuckDB file with the views, some as tables."""

    def __init__(self, directory: Path) -> None:
        duckdb = need("duckdb", EXTRA)
        need("pyarrow", EXTRA)
        self._error = duckdb.Error
        self._view: Any = None
        self._schema: Any = None
        with self._explained():
            self._connection: Any = duckdb.connect(
                str(directory / DUCKDB),
                config={"memory_limit": "256MB", "threads": 2, "temp_directory": str(directory / "ggn.duckdb.tmp")},
            )

    def begin(self, view: View) -> str:
        columns = ", ".join(f'"{each.name}" {_DUCKDB_TYPES[each.type]}' for each in view.columns)
        self._run(f"CREATE TABLE {view.name} ({columns})")
        self._comment("TABLE", view)
        self._view, self._schema = view, schema(view)
        return DUCKDB

    def add(self, rows: Sequence[Row]) -> None:
        pa = need("pyarrow", EXTRA)
        batch = pa.Table.from_batches([record_batch(rows, self._schema)])
        # To make a TIMESTAMP of one with a zone takes an extension, and then the session's zone.
        for at, column in enumerate(self._view.columns):
            if column.type == "time":
                batch = batch.set_column(at, column.name, batch.column(at).cast(pa.timestamp("us")))
        with self._explained():
            self._connection.register("given", batch)
            self._connection.execute(f"INSERT INTO {self._view.name} FROM given")
            self._connection.unregister("given")

    def end(self, view: View) -> None:
        pass

    def finish(self, joined: Sequence[View]) -> list[str]:
        for view in joined:
            self._run(f"CREATE VIEW {view.name} AS {view.joined}")
            self._comment("VIEW", view)
        self._run("CHECKPOINT")
        self.close()
        return []

    def _comment(self, kind: str, view: View) -> None:
        self._run(f"COMMENT ON {kind} {view.name} IS {_literal(f'a row is {view.row}')}")
        for each in view.columns:
            self._run(f'COMMENT ON COLUMN {view.name}."{each.name}" IS {_literal(each.meaning)}')

    def close(self) -> None:
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


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
