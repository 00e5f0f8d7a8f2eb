"""SQLite: one file with the views, some as tables, and indexes for what is asked most.

What possibilities ask for and change comes again and again, in one game after the other: each different set of rows is
kept once, under a number; `rules_kept` says which sets a possibility has, and a view puts them together.
"""

from __future__ import annotations

import errno
import functools
import operator
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import accumulate, count, pairwise
from pathlib import Path
from typing import Any, Final

from ggn_store.errors import GgnStoreError
from ggn_store.store.bulk.piece_columns import Column
from ggn_store.store.bulk.vectors import Vectors, firsts
from ggn_store.store.database.sqlite import insertion
from ggn_store.store.schema.views import VIEWS, View

FILE: Final = "ggn.sqlite"
_TYPES: Final = {"text": "TEXT", "integer": "INTEGER", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
# What leads to the rows of a ruleset's piece, to those of a piece in all games, and from a view to the next.
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
    "piece_kept": (("piece",),),
    "piece_conditions_kept": (("state",),),
    "rules_kept": (("conditions",),),
}
# In which table a column is that all rows of a possibility have; others are in those of the view's own.
_SHARED: Final = {
    **dict.fromkeys(("piece", "side"), "piece"),
    **dict.fromkeys(("piece_id", "possibility"), "rules"),
    **dict.fromkeys(("source", "destination", "ordinal"), "moves"),
}
_RULES: Final = ("piece_id", "possibility", *(view.name.removeprefix("v_") for view in VIEWS if view.of_pieces))
# What stands for the piece itself, so that sets are the same of other pieces.
_ITSELF: Final = "*"
# So many sets of a view are looked for among those before.
_MOST: Final = 100_000
_ERRORS: Final = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
}


class SqliteFile:
    """Writes the file."""

    def __init__(self, directory: Path, vectors: Vectors) -> None:
        self._vectors = vectors
        self._tables: list[str] = []
        self._sets: dict[str, _Sets] = {}
        with _explained():
            self._connection = sqlite3.connect(directory / FILE, isolation_level=None)
            # It is either there as a whole or thrown away.
            self._connection.execute("PRAGMA journal_mode = OFF")
            self._connection.execute("PRAGMA synchronous = OFF")
            self._connection.execute("PRAGMA cache_size = -65536")
            self._connection.execute("BEGIN")

    def begin(self, view: View) -> str:
        if not view.name.startswith("piece_"):
            self._table(view.name, _described(view, [f"{each.name} {_TYPES[each.type]}" for each in view.columns]))
            return FILE
        if not self._sets:
            self._table(
                "rules_kept",
                f"({' INTEGER, '.join(_RULES)} INTEGER, PRIMARY KEY (piece_id, possibility)) WITHOUT ROWID",
            )
        sets = self._sets[view.name] = _Sets(self._vectors, view)
        own = "".join(f", {each.name} {_TYPES[each.type]}" for each in view.columns if each.name in sets.names)
        self._table(f"{view.name}_kept", f"(id INTEGER, at INTEGER{own}, PRIMARY KEY (id, at)) WITHOUT ROWID")
        return FILE

    def add(self, view: View, columns: Sequence[Column]) -> None:
        if view.name not in self._sets:
            values = (
                map(_value, column.plain()) if each.type == "time" else column.plain()
                for each, column in zip(view.columns, columns, strict=True)
            )
            self._insert(view.name, view.names, zip(*values, strict=True))
            return
        given, sets = dict(zip(view.names, columns, strict=True)), self._sets[view.name]
        self._insert(f"{view.name}_kept", ("id", "at", *sets.names), sets.new(given))
        if view.name == "piece_moves":  # which comes last of those of some pieces
            found = [map(each.last.get, sets.last) for each in self._sets.values()]
            keys = (given[name].plain() for name in _RULES[:2])
            self._insert("rules_kept", _RULES, zip(*keys, *found, strict=True))
            for each in self._sets.values():
                each.last = {}

    def end(self, view: View) -> None:
        pass

    def finish(self, joined: Sequence[View]) -> list[str]:
        if self._sets:
            self._table("piece_kept", "(piece_id INTEGER PRIMARY KEY, piece TEXT, side TEXT)")
            self._run("INSERT INTO piece_kept SELECT DISTINCT piece_id, piece, side FROM v_pieces")
        for table in self._tables:
            for columns in INDEXES.get(table, ()):
                self._run(f"CREATE INDEX ix_{table}_{'_'.join(columns)} ON {table} ({', '.join(columns)})")
        for view in (*(sets.view for sets in self._sets.values()), *joined):
            query = self._sets[view.name].query if view.name in self._sets else view.joined
            self._run(f"CREATE VIEW {view.name} {_described(view, view.names)} AS {query}")
        self._run("ANALYZE")
        self._run("COMMIT")
        self.close()
        return []

    def close(self) -> None:
        self._connection.close()

    def _table(self, name: str, columns: str) -> None:
        self._run(f"CREATE TABLE {name} {columns}")
        self._tables.append(name)

    def _insert(self, table: str, names: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
        with _explained():
            self._connection.executemany(insertion(table, *names, rows=1), rows)

    def _run(self, statement: str) -> None:
        with _explained():
            self._connection.execute(statement)


class _Sets:
    """The different sets of rows of a view that possibilities have; `last` are those of the ones that came last."""

    def __init__(self, vectors: Vectors, view: View) -> None:
        self.view = view
        self.last: dict[int, int] = {}
        self._vectors = vectors
        self._most = 0
        self._known = defaultdict[bytes, int](count(1).__next__)
        kind = view.name.removeprefix("piece_")
        self.names = [name for name in view.names if _SHARED.get(name, kind) == kind]
        shown = ", ".join(f"{_SHARED.get(name, kind)}.{name}" for name in view.names)
        shown = shown.replace(f"{kind}.becomes", f"replace({kind}.becomes, '{_ITSELF}', piece.piece)")
        tables = "piece_kept AS piece JOIN rules_kept AS rules USING (piece_id)"
        for each in dict.fromkeys(("moves", kind)):
            tables += f" JOIN piece_{each}_kept AS {each} ON {each}.id = rules.{each}"
        self.query = f"SELECT {shown} FROM {tables}"  # noqa: S608  (names of our own)

    def new(self, given: Mapping[str, Column]) -> Iterator[tuple[Any, ...]]:
        """Number the sets of rows of some pieces: the rows of those that are new, with their numbers and places."""
        vectors, pieces = self._vectors, given["piece_id"]
        key = vectors.each(
            lambda piece, possibility: (piece << 32) + possibility,
            vectors.take(pieces.values or (), pieces.at),
            given["possibility"].at,
        )
        rows = vectors.up_to(len(key))
        starts = vectors.chosen(rows, firsts(vectors, key))
        bounds = [*vectors.plain(starts), len(key)]
        counts = [last - first for first, last in pairwise(bounds)]
        own = [
            _relative(vectors, given["piece"], given[name]) if name == "becomes" else given[name] for name in self.names
        ]
        parts, found = list[str](), []
        for column in own:
            values, at = column.different(vectors)
            found.append(vectors.each(functools.partial(operator.add, len(parts)), at))
            parts += [f"{value!r}," for value in values]
        texts = vectors.texts(parts, vectors.rows(*found), [bound * len(own) for bound in bounds])
        if len(self._known) > _MOST:
            self._known.clear()
        numbers = list(map(self._known.__getitem__, texts))
        self.last = dict(zip(vectors.plain(vectors.take(key, starts)), numbers, strict=True))
        most = [*accumulate(numbers, max, initial=self._most)]
        is_new = [last - before and 1 for before, last in pairwise(most)]
        self._most = most[-1]
        mask = vectors.spread(is_new, counts)
        places = vectors.each(operator.sub, rows, vectors.spread(bounds[:-1], counts))
        shown = [Column(None, vectors.spread(numbers, counts)), Column(None, places), *own]
        return zip(*(Column(each.values, vectors.chosen(each.at, mask)).plain() for each in shown), strict=True)


def _relative(vectors: Vectors, piece: Column, becomes: Column) -> Column:
    """What becomes of squares, where the piece itself is called so."""
    values, pieces = becomes.values or (), piece.values or ()
    table = [len(values) if value == each else at for at, value in enumerate(values) for each in pieces]
    at = vectors.each(lambda at, piece: at * len(pieces) + piece, becomes.at, piece.at)
    return Column((*values, _ITSELF), vectors.take(table, at))


def _described(view: View, columns: Sequence[str]) -> str:
    """The columns of a table or view, each with its meaning."""
    *lines, last = [f"  {column}, -- {each.meaning}" for column, each in zip(columns, view.columns, strict=True)]
    return "\n".join([f"( -- a row is {view.row}", *lines, last.replace(", --", " --", 1), ")"])


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
