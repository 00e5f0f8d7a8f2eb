"""DuckDB: the question asked on all processors, from Arrow to Arrow."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ggn_store.columnar import sql
from ggn_store.columnar.batch import Batch
from ggn_store.columnar.compile import EXTRA, Compiled
from ggn_store.columnar.engine import Engine
from ggn_store.columnar.extras import need
from ggn_store.errors import GgnStoreError


class DuckEngine(Engine):
    """A compiled ruleset in a DuckDB database in memory; one question at a time.

    `threads` limits the processors that it uses. Raises GgnStoreError where duckdb is missing.
    """

    def __init__(self, compiled: Compiled, threads: int | None = None) -> None:
        duckdb = need("duckdb", EXTRA)
        super().__init__(compiled, sql.DUCKDB)
        # Nothing is read from or written to files, and no order is asked for but in words.
        self._connection = duckdb.connect(":memory:", config={"preserve_insertion_order": False})
        self._error = duckdb.Error
        self._lock = threading.Lock()
        if threads is not None:
            self._connection.execute("SET threads = ?", [threads])
        self._load({name: compiled.tables[name] for name in sql.TABLES})

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()

    def _load(self, tables: Mapping[str, Any]) -> None:
        for name, table in tables.items():
            self._connection.register("given", table)
            self._connection.execute(f"CREATE TABLE {name} AS FROM given")
            self._connection.unregister("given")

    def _ask(self, question: str, batch: Batch) -> Any:
        with self._lock:
            for name, table in batch.tables.items():
                self._connection.register(name, table)
            try:
                return self._connection.sql(question).to_arrow_table()
            except self._error as error:
                raise GgnStoreError(f"DuckDB cannot answer: {error}") from None
            finally:
                for name in batch.tables:
                    self._connection.unregister(name)
