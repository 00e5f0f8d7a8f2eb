"""What is asked of DuckDB about encoded positions, from Arrow to Arrow."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from ggn_store.columnar import sql
from ggn_store.columnar.batch import Batch
from ggn_store.columnar.chains import ChainPaths, Walk, continued
from ggn_store.columnar.compile import EXTRA, Compiled
from ggn_store.columnar.extras import need, silent
from ggn_store.columnar.threats import ThreatTables
from ggn_store.errors import GgnStoreError, MoveError

# Positions after possibilities that are asked about at once.
_AHEAD: Final = 100_000


class ColumnEngine:
    """A compiled ruleset in a DuckDB database in memory; one question at a time.

    What is asked with `threats` is about legal moves, of a batch that is encoded with them. `threads` limits the
    processors that it uses. Raises GgnStoreError where duckdb is missing.
    """

    def __init__(self, compiled: Compiled, threads: int | None = None) -> None:
        duckdb = need("duckdb", EXTRA)
        self._ruleset = str(compiled)
        self._threats: ThreatTables | None = None
        # Nothing is read from or written to files, and no order is asked for but in words.
        self._connection = silent(duckdb.connect(":memory:", config={"preserve_insertion_order": False}))
        self._error = duckdb.Error
        self._lock = threading.Lock()
        if threads is not None:
            self._connection.execute("SET threads = ?", [threads])
        self._load({name: compiled.tables[name] for name in sql.TABLES})

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()

    def moves(self, batch: Batch, threats: ThreatTables | None = None) -> Any:
        """An Arrow table (position, possibility) of what holds, in no order."""
        return self._ask(self._moves(threats), self._ready(batch, threats))

    def count_by_position(self, batch: Batch, threats: ThreatTables | None = None) -> Any:
        """An Arrow table (position, count); positions without moves may be left out."""
        if threats is None or threats.is_idle:
            return self._ask(sql.count_by("position"), batch)
        return self._ask(sql.count_found("position", self._moves(threats)), self._ready(batch, threats))

    def count_by_start(self, batch: Batch) -> Any:
        """An Arrow table (start, count)."""
        return self._ask(sql.count_by("start"), batch)

    def count_by_possibility(self, batch: Batch, threats: ThreatTables | None = None) -> Any:
        """An Arrow table (possibility, count)."""
        return self._ask(sql.count_found("possibility", self._moves(threats)), self._ready(batch, threats))

    def explain(self, batch: Batch, threats: ThreatTables | None = None) -> tuple[str, str]:
        """What is asked for `moves`, one question after the other, and the engine's plan of the last."""
        question, asked = self._moves(threats), []
        if threats is not None and not threats.duties.isdisjoint(sql.AHEAD):
            asked += [sql.ahead(threats.duties), sql.CHECKED]
        if threats is not None and threats.goes_on:
            asked.append(sql.steps())
        plan = self._ask(f"EXPLAIN {question}", self._ready(batch, threats)).columns[-1].to_pylist()
        return ";\n\n".join(each.strip() for each in [*asked, question]), "\n".join(plan)

    def _moves(self, threats: ThreatTables | None) -> str:
        if threats is None or threats.is_idle:
            return sql.moves()
        self._know(threats)
        return sql.legal_moves(threats.gives, threats.duties, threats.goes_on)

    def _know(self, threats: ThreatTables) -> None:
        """Have the tables of what is asked with."""
        with self._lock:
            if self._threats is not threats:
                self._load(threats.tables)
                self._threats = threats

    def chains(self, batch: Batch, threats: ThreatTables) -> Iterable[ChainPaths]:
        """The paths of steps that the positions allow, of any length."""
        self._know(threats)
        return Walk(self._ruleset, batch, lambda batch: self._ask(sql.steps(), batch))

    def paths(self, batch: Batch, threats: ThreatTables, depth: int) -> Any:
        """How many paths of so many legal moves lead on from each position, a chain being one move.

        Raises MoveError for a move that takes from the hand what is not there.
        """
        np = need("numpy", EXTRA)
        counts = np.zeros(batch.count, np.int64)
        if depth == 1:
            found = self.count_by_position(batch, threats)
            counts[found["position"].to_numpy()] = found["count"].to_numpy()
        else:
            found = self.moves(batch, threats).sort_by("position")
            position, possibility = (found[name].to_numpy() for name in ("position", "possibility"))
            for begin in range(0, len(position), _AHEAD):
                some = slice(begin, begin + _AHEAD)
                made = batch.made(position[some], possibility[some], "stated")
                if not made.can_be.all():
                    raise MoveError(f"{self._ruleset}: a move takes more from a hand than it holds")
                np.add.at(counts, position[some], self.paths(made.batch, threats, depth - 1))
        for chain in self._legal_chains(batch, threats):
            after = 1
            if depth > 1:
                after = self.paths(chain.before.made(chain.row, chain.last, "stated").batch, threats, depth - 1)
            np.add.at(counts, chain.root, after)
        return counts

    def _legal_chains(self, batch: Batch, threats: ThreatTables) -> list[ChainPaths]:
        np = need("numpy", EXTRA)
        found = list(self.chains(batch, threats))
        if "mandatory-drop" in threats.duties:
            dropping = np.zeros(batch.count, bool)
            dropping[self._ask(sql.dropping(), batch)["position"].to_numpy()] = True
            found = [each.some(~dropping[each.root]) for each in found]
        if not threats.goes_on:
            return [each.some(each.can_be) for each in found if each.length > 1]
        forced = np.zeros(batch.count, bool)
        forced[self._ask(sql.forced(), batch)["position"].to_numpy()] = True
        for each in found:
            forced[each.root[each.took & each.can_be]] = True
        return [
            each.some(each.can_be & (~forced[each.root] | (each.took & ~each.goes_on)))
            for each in found
            if each.length > 1
        ]

    def _ready(self, batch: Batch, threats: ThreatTables | None) -> Batch:
        """The batch with what the question asks for beyond one ply: `barred`, and the captures that are `continued`."""
        if threats is None:
            return batch
        tables = dict(batch.tables)
        if not threats.duties.isdisjoint(sql.AHEAD):
            tables["barred"] = self._barred(batch, threats)
        if threats.goes_on:
            tables["continued"] = continued(self.chains(batch, threats))
        return replace(batch, tables=tables)

    def _barred(self, batch: Batch, threats: ThreatTables) -> Any:
        """A table (position, possibility) of what must not check and does, or must not mate and does."""
        np, pa = need("numpy", EXTRA), need("pyarrow", EXTRA)
        self._moves(threats)
        asked = self._ask(sql.ahead(threats.duties), batch)
        position, possibility, mates = (asked[name].to_numpy() for name in ("position", "possibility", "mates"))
        order = np.argsort(position, kind="stable")
        position, possibility, mates = position[order], possibility[order], mates[order]
        barred = [(position[:0], possibility[:0])]
        for begin in range(0, len(order), _AHEAD):
            some = slice(begin, begin + _AHEAD)
            found = self._are_barred(batch, threats, position[some], possibility[some], mates[some])
            barred.append((position[some][found], possibility[some][found]))
        columns = map(np.concatenate, zip(*barred, strict=True))
        return pa.table(dict(zip(("position", "possibility"), columns, strict=True)))

    def _are_barred(self, batch: Batch, threats: ThreatTables, position: Any, possibility: Any, mates: Any) -> Any:
        """Which possibilities check, or, if they must not mate, mate."""
        np = need("numpy", EXTRA)
        barred = np.zeros(len(position), bool)
        after = batch.made
        barred[self._ask(sql.CHECKED, after(position, possibility, "other").batch)["position"].to_numpy()] = True
        mating = np.flatnonzero(barred & (mates == 1))
        if len(mating):
            made = after(position[mating], possibility[mating], "stated")
            moves = np.zeros(len(mating), np.int64)
            found = self.count_by_position(made.batch, threats)
            moves[found["position"].to_numpy()] = found["count"].to_numpy()
            barred[mating] = made.can_be & (moves == 0)
        return barred

    def _load(self, tables: Mapping[str, Any]) -> None:
        for name, table in tables.items():
            self._connection.register("given", table)
            self._connection.execute(f"CREATE TABLE {name} AS FROM given")
            self._connection.unregister("given")

    def _ask(self, question: str, batch: Batch) -> Any:
        """An Arrow table of the answer to `question`."""
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
