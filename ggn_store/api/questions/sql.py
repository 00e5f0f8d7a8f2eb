"""Answers to queries in SQL, as plain values, Arrow tables and pandas frames; what can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ggn_store.store.schema.views import POSITION_VIEWS as POSITION_VIEWS
from ggn_store.store.schema.views import SQL_TABLES as SQL_TABLES
from ggn_store.store.schema.views import VIEWS as VIEWS
from ggn_store.store.sql import statement as statement
from ggn_store.store.sql.examples import SQL_EXAMPLES as SQL_EXAMPLES


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; `cut` says why there are no more rows, and is None where these are all.

    Values are those of JSON, and bytes. Truth values are 0 and 1 in SQLite; times are texts in UTC. A second column of
    the same name has a number behind it: `piece_2`. `note` is what else whoever asks should know.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: str | None = None
    note: str | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def data(self) -> list[dict[str, Any]]:
        """The rows as JSON objects; bytes as hexadecimal digits."""
        return [
            {
                name: value.hex() if isinstance(value, bytes) else value
                for name, value in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]

    def to_arrow(self) -> Any:
        """An Arrow table; a column whose values are of several types becomes one of texts. Needs the extra [duckdb]."""
        from ggn_store.columnar import arrow

        return arrow.table(self.columns, self.rows)

    def to_pandas(self) -> Any:
        """A pandas frame. Needs the extra [pandas]."""
        from ggn_store.columnar import arrow

        return arrow.frame(self.to_arrow())

    def parquet(self) -> bytes:
        """The bytes of a Parquet file. Needs the extra [duckdb]."""
        from ggn_store.columnar import arrow

        return arrow.parquet(self.to_arrow())

    def write_parquet(self, file: str) -> None:
        """Write a Parquet file. Needs the extra [duckdb]."""
        from ggn_store.columnar import arrow

        arrow.write_parquet(self.to_arrow(), file)
