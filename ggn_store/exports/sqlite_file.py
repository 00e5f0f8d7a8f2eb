"""SQLite: one file with the views, some as tables, and indexes for what is asked most."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ggn_store.errors import GgnStoreError
from ggn_store.store.database.sqlite import insertion
from ggn_store.store.schema.views import View
from ggn_store.store.sql.piece_columns import Column

FILE: Final = "ggn.sqlite"
_TYPES: Final = {"text": "TEXT", "integer": "INTEGER", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
# What leads to the rows of a ruleset's piece, to those of a piece in all games, and from a view to the next; tables of
# pieces have the columns that are theirs.
INDEXES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "v_rulesets": (("ruleset", "revision"),),
    "v_pieces": (("ruleset", "revision", "piece"), ("piece",), ("piece_id",)),
    "v_moves": (("ruleset", "piece", "source"), ("piece", "source"), ("piece_id", "possibility")),
    "v_squares": (("ruleset", "square"),),
    "v_concepts": (("ruleset", "revision"),),
    "v_conditions": (("ruleset", "piece"), ("state",), ("piece_id", "possibility")),
    "v_effects": (("ruleset", "piece"), ("piece_id", "possibility")),
    "v_guards": (("ruleset", "piece"), ("piece_id", "possibility")),
    "v_state_effects": (("ruleset", "piece"), ("piece_id", "possibility")),
    **dict.fromkeys(("v_duties", "v_reverts", "v_crossings", "v_outcomes"), (("ruleset", "revision"),)),
    "v_history": (("ruleset", "revision"),),
}
_ERRORS: Final = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
}


class SqliteFile:
    """Writes the file."""

    def __init__(self, directory: Path) -> None:
        self._tables: list[View] = []
        with _explained():
            self._connection = sqlite3.connect(directory / FILE, isolation_level=None)
            # It is either there as a whole or thrown away.
            self._connection.execute("PRAGMA journal_mode = OFF")
            self._connection.execute("PRAGMA synchronous = OFF")
            self._connection.execute("PRAGMA cache_size = -65536")
            self._connection.execute("BEGIN")

    def begin(self, view: View) -> str:
        last = len(view.columns) - 1
        lines = [
            f"  {each.name} {_TYPES[each.type]}{'' if at == last else ','} -- {each.meaning}"
            for at, each in enumerate(view.columns)
        ]
        self._run(f"CREATE TABLE {view.name} ( -- a row is {view.row}\n" + "\n".join(lines) + "\n)")
        self._tables.append(view)
        return FILE

    def add(self, view: View, columns: Sequence[Column]) -> None:
        given = [
            map(_value, column.plain()) if each.type == "time" else column.plain()
            for each, column in zip(view.columns, columns, strict=True)
        ]
        with _explained():
            self._connection.executemany(insertion(view.name, *view.names, rows=1), zip(*given, strict=True))

    def end(self, view: View) -> None:
        pass

    def finish(self, joined: Sequence[View]) -> list[str]:
        for table in self._tables:
            for columns in indexes(table):
                self._run(f"CREATE INDEX ix_{table.name}_{'_'.join(columns)} ON {table.name} ({', '.join(columns)})")
        for view in joined:
            lines = [f"  {each.name}, -- {each.meaning}" for each in view.columns]
            lines[-1] = lines[-1].replace(", --", " --", 1)
            head = f"CREATE VIEW {view.name} ( -- a row is {view.row}\n"
            self._run(head + "\n".join(lines) + f"\n) AS {view.joined}")
        self._run("PRAGMA analysis_limit = 1000")
        self._run("ANALYZE")
        self._run("COMMIT")
        self.close()
        return []

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str) -> None:
        with _explained():
            self._connection.execute(statement)


def indexes(table: View) -> list[tuple[str, ...]]:
    """The columns of each index of a table."""
    of_view = INDEXES[table.name.replace("piece_", "v_", 1)]
    return list(dict.fromkeys(tuple(name for name in columns if name in table.names) for columns in of_view))


def _value(value: Any) -> Any:
    return as_text(value) if isinstance(value, datetime) else value


def as_text(time: datetime) -> str:
    """A time as stores in SQLite have it: of UTC, without saying so, always with microseconds."""
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


@contextmanager
def _explained() -> Iterator[None]:
    """Errors of the disk as such; the store may be SQLite, too, and they are not its errors."""
    try:
        yield
    except sqlite3.Error as error:
        number = _ERRORS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        if number is None:
            raise GgnStoreError(f"{FILE}: SQLite refused: {error}") from None
        raise OSError(number, os.strerror(number)) from None
