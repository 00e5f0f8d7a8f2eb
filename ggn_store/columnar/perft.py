"""Moves made by the million, in DuckDB on all cores: all plies after the first few are one prepared statement.

Each ply is a materialised part of it, so that the next is spread over the cores in small portions (a table in memory
would be read by one of them).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ggn_store.columnar.extras import silent
from ggn_store.errors import StoreError
from ggn_store.store.moves import perft
from ggn_store.store.moves.lead import Weighed, overdrawn, uncountable
from ggn_store.store.moves.planes import WORD, CompiledRules

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SIGNED = ("weight", "delta_", "held_")


@contextmanager
def plies(compiled: CompiledRules) -> Iterator[DuckPlies]:
    """A new DuckDB with what moves from some positions need; StoreError where it is not installed."""
    with tempfile.TemporaryDirectory() as directory, _connect(directory) as connection:
        yield DuckPlies(connection, compiled)


class DuckPlies(perft.Plies):
    """The tables that moves from some positions need, in a DuckDB of their own."""

    def __init__(self, connection: DuckDBPyConnection, compiled: CompiledRules) -> None:
        super().__init__(compiled, groups_by_hash=True)
        self._connection = connection
        self._start = _Relation()
        self._prepared: tuple[int, int, bool] | None = None
        if self._most is not None:
            self._make_tables()

    def counter(self, depth: int, merge: bool = True) -> Callable[[], list[int]]:
        """What counts the paths of `depth` moves; its statement is prepared."""
        ply, positions = self._lead.play(depth - 1, merge, self._most)
        if not self._is_few(positions):
            self._prepare(ply, depth, merge)
        return super().counter(depth, merge)

    def _prepare(self, ply: int, depth: int, merge: bool) -> None:
        *plies, last = self._plies(ply, depth - 1, merge)
        plies.append(f"frontier_{depth - 1} AS MATERIALIZED ({last})")
        totals = self._totals(f"frontier_{depth - 1}", depth - 1) or "SELECT 0 AS root, 0, 0 WHERE 1 = 0"
        failed = self._failed(ply, depth)
        self._fetch(
            f"PREPARE paths AS WITH {', '.join(plies)}, totals(root, total, failed) AS ({totals}) "
            f"SELECT root, total, failed, {failed} FROM (SELECT 1) LEFT JOIN totals ON TRUE"
        )
        self._prepared = ply, depth, merge

    def _total(self, ply: int, positions: Sequence[Weighed], depth: int, merge: bool) -> list[tuple[int, int]]:
        if self._prepared != (ply, depth, merge):
            raise AssertionError("another statement was prepared")
        self._begin(positions)
        rows = self._fetch("EXECUTE paths")
        for _, _, failed, failed_before in rows:
            if failed_before or failed:
                raise overdrawn(failed_before or depth)
        return [(root, int(total)) for root, total, *_ in rows if root is not None]

    def _go_on(self, ply: int, positions: Sequence[Weighed], depth: int) -> list[Weighed]:
        frontier = self._frontier
        names = ", ".join(frontier.state)
        self._begin(positions)
        *plies, last = self._plies(ply, depth, merge=True)
        plies.append(f"frontier_{depth} AS MATERIALIZED ({last})")
        # A ply may have failed where no path goes on to the end.
        failed = f"(SELECT {self._failed(ply, depth + 1)} AS failed)"
        rows = self._fetch(
            f"WITH {', '.join(plies)} SELECT failed, {names}, weight FROM {failed} LEFT JOIN frontier_{depth} ON TRUE"
        )
        for failed_at, *_ in rows:
            if failed_at:
                raise overdrawn(failed_at)
        return [frontier.read(row, depth) for _, *row in rows if row[-1] is not None]

    def _fetch(self, statement: str) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            return self._connection.execute(statement).fetchall()
        except duckdb.ConversionException:  # of a sum of paths
            raise uncountable() from None
        except duckdb.Error as error:
            raise StoreError(f"DuckDB cannot answer: {error}") from None

    def _begin(self, positions: Sequence[Weighed]) -> None:
        self._start.table = _arrow([*self._frontier.state, "weight"], self._frontier.rows(positions))

    def _make_tables(self) -> None:
        """Make the tables of rules and scopes, of the places of a word, of slots; `start` has the first positions."""
        frontier, connection = self._frontier, self._connection
        self._begin([])
        connection.register("start", self._start)
        _create(connection, "place", ["number", "bit"], [(number, 1 << number) for number in range(WORD)])
        for rules in self._tables:
            _create(connection, f"rule_{rules.place}", list(rules.columns), rules.rows())
            _create(
                connection, f"scope_{rules.place}", list(rules.scopes), list(zip(*rules.scopes.values(), strict=True))
            )
            if rules.group.word is None:
                held = [f"held_{word}" for word in range(self._compiled.hand_words)]
                _create(connection, f"held_{rules.place}", ["number", *held], frontier.slots(rules.group))

        for side, tables in enumerate(self._threats):
            for name, rules in zip(("threat", "crossed"), tables, strict=True):
                _create(connection, f"{name}_{side}", list(rules.columns), rules.rows())

    def _without(self, children: str, threats: str, tests: Sequence[str]) -> str:
        return f"SELECT f.* FROM ({children}) AS f ANTI JOIN {threats} AS r ON ({' AND '.join(tests)})"

    def _plies(self, ply: int, depth: int, merge: bool) -> list[str]:
        """The materialised frontiers from `ply` on, and at the end the statement for the one after `depth` moves."""
        names = ", ".join(self._frontier.state)
        parts = []
        statement = "FROM start"
        for number in range(ply, depth):
            parts.append(f"frontier_{number} AS MATERIALIZED ({statement})")
            statement = self._children(f"frontier_{number}", number) or f"SELECT * FROM frontier_{number} WHERE 1 = 0"
            if merge:
                statement = f"SELECT {names}, CAST(sum(weight) AS BIGINT) AS weight FROM ({statement}) GROUP BY {names}"
        return [*parts, statement]

    def _failed(self, ply: int, depth: int) -> str:
        """The first ply after `ply`, before `depth`, at which a hand has fewer than no pieces."""
        broken = self._frontier.broken()
        if not broken or depth < ply + 2:
            return "NULL"
        plies = (f"SELECT {number} AS ply FROM frontier_{number} WHERE {broken}" for number in range(ply + 1, depth))
        return f"(SELECT min(ply) FROM ({' UNION ALL '.join(plies)}))"


def _connect(directory: str) -> DuckDBPyConnection:
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f"the engine duckdb needs the package {error.name}, which is not installed: pip install 'ggn-store[duckdb]'"
        ) from None
    options: dict[str, str | bool | int | float | list[str]] = {
        # What does not fit into memory would otherwise be written into the directory that the user is in.
        "temp_directory": directory,
        "preserve_insertion_order": False,
        # Joins are best as they are written: rules, which are few, are what is looked up in.
        "disabled_optimizers": "join_order,build_side_probe_side",
    }
    connection: DuckDBPyConnection = silent(duckdb.connect(config=options))
    return connection


class _Relation:
    """A relation of a connection whose rows are those that `table` has when a statement runs."""

    table: Any

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def _create(connection: DuckDBPyConnection, name: str, columns: Sequence[str], rows: Iterable[Sequence[int]]) -> None:
    connection.register("handed_over", _arrow(columns, rows))
    connection.execute(f"CREATE TABLE {name} AS FROM handed_over").fetchall()
    connection.unregister("handed_over")


def _arrow(columns: Sequence[str], rows: Iterable[Sequence[int]]) -> Any:
    """Rows as an Arrow table; hands, changes of them and weights are signed, all else is not."""
    import pyarrow as pa

    values: list[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [pa.array(each, _kind(column)) for column, each in zip(columns, values, strict=True)]
    return pa.table(arrays, names=list(columns))


def _kind(column: str) -> Any:
    import pyarrow as pa

    if column == "start":
        return pa.uint32()
    is_signed = column.startswith(_SIGNED) or (column[0] == "h" and column[1:].isdigit())
    return pa.int64() if is_signed else pa.uint64()
