"""How much a query in SQL may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypedDict

from ggn_store.errors import QueryError


class SqlOptions(TypedDict, total=False):
    """The keywords of `Store.sql` that bound a query: rows, seconds, and MiB of memory and disk."""

    limit: int | None
    timeout: float
    memory: int
    disk: int


@dataclass(frozen=True, slots=True)
class SqlBounds:
    """Rows of the answer (`limit`; None: the most), seconds of `timeout`, and MiB of `memory` and `disk`.

    Memory is what SQLite may have, and on Postgres the client; disk is for temporary results. SQLite without disk keeps
    them in memory.
    """

    limit: int | None = None
    timeout: float = 5.0
    memory: int = 256
    disk: int = 1024

    MAX_ROWS: ClassVar = 1_000_000
    MAX_SECONDS: ClassVar = 3600.0
    MIN_MEMORY: ClassVar = 16
    MAX_MEMORY: ClassVar = 1 << 16
    MAX_DISK: ClassVar = 1 << 20

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= self.MAX_SECONDS:
            raise QueryError(f"a query may take up to {self.MAX_SECONDS:g} seconds; found {self.timeout:g}")
        if self.limit is not None and not 1 <= self.limit <= self.MAX_ROWS:
            raise QueryError(f"the limit is a number of rows from 1 to {self.MAX_ROWS:,}; found {self.limit}")
        if not self.MIN_MEMORY <= self.memory <= self.MAX_MEMORY:
            raise QueryError(
                f"a query may have from {self.MIN_MEMORY} to {self.MAX_MEMORY:,} MiB of memory; found {self.memory}"
            )
        if not 0 <= self.disk <= self.MAX_DISK:
            raise QueryError(f"a query may have up to {self.MAX_DISK:,} MiB of disk; found {self.disk}")

    @property
    def rows(self) -> int:
        """How many rows the answer may have."""
        return self.MAX_ROWS if self.limit is None else self.limit
