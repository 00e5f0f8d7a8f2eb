"""Moves made by the million, in DuckDB on all cores: the whole tree of a question is one statement.

Each ply is a materialised part of it, so that the next is spread over the cores in small portions (a table in memory
would be read by one of them). The mover's squares are found a byte of a plane at a time, by a table of the bits in
each byte.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ggn_store.errors import StoreError
from ggn_store.store.moves.frontier import Frontier, RuleTable, table
from ggn_store.store.moves.perft import overdrawn
from ggn_store.store.moves.planes import Compiled, State

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SIGNED = ("weight", "delta_", "held_")
# More columns than these kinds need would be read for every rule that is only tried.
_KINDS = 4


@contextmanager
def plies(compiled: Compiled) -> Iterator[Plies]:
    """A new DuckDB with what moves from some positions need; StoreError where it is not installed."""
    with tempfile.TemporaryDirectory() as directory, _connect(directory) as connection:
        yield Plies(connection, compiled)


class Plies:
    """The tables that moves from some positions need, in a DuckDB of their own; as `store.moves.perft.Plies`."""

    def __init__(self, connection: DuckDBPyConnection, compiled: Compiled) -> None:
        self._connection = connection
        self._compiled = compiled
        self._frontier = Frontier(compiled, len(compiled.states) > 1)
        self._tables = self._make_tables()

    def counter(self, depth: int, merge: bool = True) -> Callable[[], list[int]]:
        """What tells how many paths of `depth` moves lead on from each of the positions; its statement is prepared."""
        frontier = self._frontier
        *plies, last = self._plies(depth, merge)
        built = ", ".join(f"bit_xor({name})" for name in frontier.state)
        root, by_root = ("root", "GROUP BY root") if frontier.is_rooted else ("0", "")
        broken = frontier.broken()
        failed = f"min(CASE WHEN {broken} THEN {depth} END)" if broken else "NULL"
        self._connection.execute(
            f"PREPARE paths AS WITH {', '.join(plies)} "
            f"SELECT {root}, sum(weight), {failed}, {self._failed(depth)}, {built} FROM ({last}) {by_root}"
        ).fetchall()

        def count() -> list[int]:
            found = [0] * len(self._compiled.states)
            rows = self._connection.execute("EXECUTE paths").fetchall()
            for number, total, last_failed, failed_before, *_ in rows:
                if failed_before or last_failed:
                    raise overdrawn(failed_before or last_failed)
                found[number] = int(total or 0)
            return found

        return count

    def reached(self, depth: int) -> list[tuple[int, State, int]]:
        """The different positions after `depth` moves: number of the first, the position, how many paths lead there."""
        frontier = self._frontier
        names = ", ".join(frontier.state)
        *plies, last = self._plies(depth, merge=True)
        plies.append(f"frontier_{depth} AS MATERIALIZED ({last})")
        rows = self._connection.execute(
            f"WITH {', '.join(plies)} SELECT {self._failed(depth + 1)}, {names}, sum(weight) "
            f"FROM frontier_{depth} GROUP BY {names}"
        ).fetchall()
        for failed, *_ in rows:
            if failed:
                raise overdrawn(failed)
        return [frontier.read(row, depth) for _, *row in rows]

    def _make_tables(self) -> list[RuleTable]:
        """Make the tables of rules, of the first positions, of bytes and their bits, of slots."""
        frontier, connection = self._frontier, self._connection
        _create(connection, "start", [*frontier.state, "weight"], frontier.rows())
        _create(
            connection, "byte", ["value", "bit"], [(v, bit) for v in range(256) for bit in range(8) if v >> bit & 1]
        )
        _create(connection, "eighth", ["shift"], [(8 * number,) for number in range(8)])
        tables = []
        for group in frontier.compiled.groups:
            parts = [group]
            if len(group.kinds) > _KINDS:
                parts = [part for part in (group.only(exact=False), group.only(exact=True)) if part.rules]
            for number, part in enumerate(parts):
                rules = table(frontier.compiled, part, number)
                _create(connection, f"rule_{rules.place}", list(rules.columns), rules.rows())
                if part.word is None:
                    held = [f"held_{word}" for word in range(frontier.compiled.hand_words)]
                    _create(connection, f"held_{rules.place}", ["number", *held], frontier.slots(part))
                tables.append(rules)
        return tables

    def _plies(self, depth: int, merge: bool) -> list[str]:
        """The materialised frontiers, and at the end the statement for the last one."""
        frontier = self._frontier
        names = ", ".join(frontier.state)
        parts = []
        statement = "FROM start"
        for ply in range(depth):
            parts.append(f"frontier_{ply} AS MATERIALIZED ({statement})")
            statement = self._children(f"frontier_{ply}", ply)
            if merge and ply < depth - 1:
                statement = f"SELECT {names}, CAST(sum(weight) AS BIGINT) AS weight FROM ({statement}) GROUP BY {names}"
        return [*parts, statement]

    def _failed(self, depth: int) -> str:
        """The first ply before `depth` at which a hand has fewer than no pieces."""
        broken = self._frontier.broken()
        if not broken or depth < 2:
            return "NULL"
        plies = (f"SELECT {ply} AS ply FROM frontier_{ply} WHERE {broken}" for ply in range(1, depth))
        return f"(SELECT min(ply) FROM ({' UNION ALL '.join(plies)}))"

    def _children(self, source: str, ply: int) -> str:
        """The statement for the children of all positions of a frontier."""
        frontier = self._frontier
        branches = [f"SELECT * FROM {source} WHERE 1 = 0"]
        for rules in self._tables:
            group = rules.group
            if group.side not in frontier.sides(ply):
                continue
            stands = frontier.kinds(rules)
            named = "".join(f", {squares} AS is{name}" for name, squares in stands.items())
            if group.word is None:
                standing = (
                    f"SELECT f.*, q.number AS number{named} FROM {source} AS f, held_{rules.place} AS q "
                    f"WHERE {frontier.held()}"
                )
                key = "f.number"
            else:
                standing = (
                    f"SELECT f.*, shift + bit AS number FROM (SELECT f.*{named} FROM {source} AS f) AS f, eighth, byte "
                    f"WHERE value = (({frontier.own(group)} >> shift) & 255)"
                )
                key = frontier.key(group, "f.number")
            exact = frontier.exact_tests(rules, {name: f"f.is{name}" for name in stands})
            tests = [f"r.start = CAST({key} AS UINTEGER)", *frontier.tests(rules), *exact]
            branches.append(
                f"SELECT {frontier.children(rules)} FROM ({standing}) AS f, rule_{rules.place} AS r "
                f"WHERE {' AND '.join(tests)}"
            )
        return " UNION ALL ".join(branches[1:] or branches)


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
    return duckdb.connect(config=options)


def _create(connection: DuckDBPyConnection, name: str, columns: Sequence[str], rows: Iterable[Sequence[int]]) -> None:
    """Make a table; hands, changes of them and weights are signed, all else is not."""
    import pyarrow as pa

    kinds = [_kind(column) for column in columns]
    values: list[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [pa.array(each, kind) for each, kind in zip(values, kinds, strict=True)]
    connection.register("handed_over", pa.table(arrays, names=list(columns)))
    connection.execute(f"CREATE TABLE {name} AS FROM handed_over").fetchall()
    connection.unregister("handed_over")


def _kind(column: str) -> Any:
    import pyarrow as pa

    if column == "start":
        return pa.uint32()
    is_signed = column.startswith(_SIGNED) or (column[0] == "h" and column[1:].isdigit())
    return pa.int64() if is_signed else pa.uint64()
