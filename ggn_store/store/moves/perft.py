"""Moves made by the thousand: each ply is one statement over all positions that the ply before has led to.

    frontier -> squares with pieces of the side to move -> rules that start there, by primary key
       -> those whose masks fit -> the boards after them -> the next frontier

The first plies, of few positions, and all of a board that databases have no tables for, are made in Python (`lead`).
All tables are temporary, of the transaction that asks, which is rolled back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, PrimaryKeyConstraint, Table
from sqlalchemy.exc import DBAPIError

from ggn_store.store.database.engine import Database, is_overflow
from ggn_store.store.moves import lead
from ggn_store.store.moves import positions as temporary
from ggn_store.store.moves.frontier import Frontier, RuleTable, table, threat_tables
from ggn_store.store.moves.lead import Lead, Weighed, overdrawn, uncountable
from ggn_store.store.moves.planes import WORD, CompiledRules


class Plies(ABC):
    """What moves from some positions need, in an engine; `groups_by_hash` says whether contexts are found quickly."""

    def __init__(self, compiled: CompiledRules, groups_by_hash: bool) -> None:
        self._compiled = compiled
        self._groups_by_hash = groups_by_hash
        self._frontier = Frontier(compiled, len(compiled.states) > 1)
        self._lead = Lead(compiled)
        fits = self._frontier.fits
        self._tables = [table(compiled, group) for group in compiled.groups] if fits else []
        self._threats = [threat_tables(compiled, each) for each in compiled.threats] if fits else []
        self._most = lead.POSITIONS if fits else None

    def counter(self, depth: int, merge: bool = True) -> Callable[[], list[int]]:
        """What counts the paths of `depth` moves, at least one, that lead on from each of the positions.

        With `merge`, equal positions of a ply that have moves to come are made one, which counts as often as there
        were.
        """
        return partial(self._count, depth, merge)

    def reached(self, depth: int) -> list[Weighed]:
        """The different positions after `depth` moves: number of the first, the position, how many paths lead there."""
        ply, positions = self._lead.play(depth, True, self._most)
        return positions if ply == depth else self._go_on(ply, positions, depth)

    def _count(self, depth: int, merge: bool) -> list[int]:
        found = [0] * len(self._compiled.states)
        ply, positions = self._lead.play(depth - 1, merge, self._most)
        if ply == depth - 1 and self._is_few(positions):
            counted: Iterable[tuple[int, int]] = self._lead.count(positions, depth)
        else:
            counted = self._total(ply, positions, depth, merge)
        for root, total in counted:
            found[root] += total
        return found

    def _is_few(self, positions: Sequence[Weighed]) -> bool:
        """Whether the next move from positions is made in Python."""
        return self._most is None or len(positions) <= self._most

    @abstractmethod
    def _go_on(self, ply: int, positions: Sequence[Weighed], depth: int) -> list[Weighed]:
        """The different positions after move `depth`, from those after move `ply`."""

    @abstractmethod
    def _total(self, ply: int, positions: Sequence[Weighed], depth: int, merge: bool) -> list[tuple[int, int]]:
        """Root and number of the paths of `depth` moves, from the positions after move `ply`."""

    def _children(self, source: str, ply: int) -> str:
        """The statement for the children of all positions of a frontier; empty where there can be none."""
        branches = []
        for rules in self._moving(ply):
            made = f"SELECT {self._frontier.children(rules)} {self._starting(source, rules, 'rule')}"
            made = " AND ".join([made, *self._frontier.tests(rules)])
            branches.append(self._safe(made, rules.group.side) if self._threats else made)
        for side in self._passing(ply):
            branches.append(
                f"SELECT {self._frontier.passed(side)} FROM {source} AS f WHERE {self._frontier.passing(side)}"
            )
        return " UNION ALL ".join(branches)

    def _safe(self, children: str, side: int) -> str:
        """The statement for the children that leave the royal piece of a side safe."""
        frontier = self._frontier
        by_target, crossed = self._threats[1 - side]
        tests = [*frontier.on_target(side), *frontier.attacked(by_target)]
        children = self._without(children, f"threat_{1 - side}", tests)
        if crossed.columns["crossing"]:
            tests = ["r.crossing = f.crossing", *frontier.attacked(crossed)]
            children = self._without(children, f"crossed_{1 - side}", tests)
        return f"SELECT {', '.join([*frontier.state, 'weight'])} FROM ({children}) AS f"

    def _without(self, children: str, threats: str, tests: Sequence[str]) -> str:
        """The statement for the children `f` for which no row `r` of a table meets the tests."""
        found = f"SELECT 1 FROM {threats} AS r WHERE {' AND '.join(tests)}"
        return f"SELECT * FROM ({children}) AS f WHERE NOT EXISTS ({found})"

    def _totals(self, source: str, ply: int) -> str:
        """The statement for root and number of all children, and whether a hand of one has fewer than no pieces."""
        frontier = self._frontier
        branches = []
        if self._threats:
            made = self._children(source, ply)
            hands = [f"h{word}" for word in range(self._compiled.hand_words)] if self._compiled.takes else []
            root = "root" if frontier.is_rooted else "0 AS root"
            branches = [f"SELECT {', '.join([root, 'weight', *hands])} FROM ({made}) AS f"] if made else []
        root = "f.root AS root" if frontier.is_rooted else "0 AS root"
        for rules in [] if self._threats else self._moving(ply):
            if self._groups_by_hash or rules.is_named:
                standing = f"FROM ({self._contexts(source, rules)}) AS f CROSS JOIN rule_{rules.place} AS r"
                tests = ["WHERE r.start = f.start", *frontier.tests(rules, is_context=True)]
            else:
                standing, tests = "", [self._starting(source, rules, "rule"), *frontier.tests(rules)]
            hands = frontier.hands(rules) if self._compiled.takes else []
            columns = ", ".join([root, "f.weight AS weight", *hands])
            branches.append(f"SELECT {columns} {standing} {' AND '.join(tests)}")
        for side in [] if self._threats else self._passing(ply):
            hands = (
                [f"f.h{word} AS h{word}" for word in range(self._compiled.hand_words)] if self._compiled.takes else []
            )
            columns = ", ".join([root, "f.weight AS weight", *hands])
            branches.append(f"SELECT {columns} FROM {source} AS f WHERE {frontier.passing(side)}")
        broken = frontier.broken()
        failed = f"max(CASE WHEN {broken} THEN 1 ELSE 0 END)" if broken else "0"
        counted = " UNION ALL ".join(branches)
        # A constant is not grouped by: SQLite would sort the children.
        by_root = " GROUP BY root" if frontier.is_rooted else ""
        root = "root" if frontier.is_rooted else "0 AS root"
        return counted and f"SELECT {root}, coalesce(sum(weight), 0), {failed} FROM ({counted}) AS counted{by_root}"

    def _contexts(self, source: str, rules: RuleTable) -> str:
        """The statement for the starts of rules with the different contents of their scopes."""
        columns = self._frontier.context(rules)
        source = self._frontier.named(source, rules)
        by = ", ".join(str(number + 1) for number in range(len(columns)))
        # The sum of a column of integers is no integer on Postgres.
        columns.append("CAST(sum(f.weight) AS BIGINT) AS weight")
        return f"SELECT {', '.join(columns)} {self._starting(source, rules, 'scope')} GROUP BY {by}"

    def _starting(self, source: str, rules: RuleTable, kind: str) -> str:
        """The FROM and WHERE of positions `f` and the rows `r` of a table of rules, or scopes, that start there."""
        frontier, group = self._frontier, rules.group
        if group.word is None:
            place, standing, key = f"held_{rules.place}", frontier.held(), "q.number"
        else:
            place, standing = "place", f"({frontier.own(group)} & q.bit) <> 0"
            key = frontier.key(group)
        # SQLite and DuckDB join in this order; Postgres in any.
        tests = " AND ".join([*frontier.moving(group), standing, f"r.start = {key}"])
        return f"FROM {source} AS f CROSS JOIN {place} AS q CROSS JOIN {kind}_{rules.place} AS r WHERE {tests}"

    def _moving(self, ply: int) -> list[RuleTable]:
        """The rules of those whose turn it can be after move `ply`."""
        return [rules for rules in self._tables if rules.group.side in self._frontier.sides(ply)]

    def _passing(self, ply: int) -> list[int]:
        """The sides that can pass after move `ply`."""
        return [side for side in self._frontier.sides(ply) if self._compiled.passers[side]]


@contextmanager
def _counting() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        if is_overflow(error):
            raise uncountable() from None
        raise


class StorePlies(Plies):
    """The tables that moves from some positions need, in a connection of a database."""

    def __init__(self, database: Database, connection: Connection, compiled: CompiledRules) -> None:
        super().__init__(compiled, database.groups_by_hash)
        self._database = database
        self._connection = connection
        self._make_tables()

    @_counting()
    def _total(self, ply: int, positions: Sequence[Weighed], depth: int, merge: bool) -> list[tuple[int, int]]:
        statement = self._totals(self._advance(ply, positions, depth - 1, merge), depth - 1)
        rows = self._run(statement).all() if statement else []
        if any(failed for *_, failed in rows):
            raise overdrawn(depth)
        return [(root, int(total)) for root, total, _ in rows]

    @_counting()
    def _go_on(self, ply: int, positions: Sequence[Weighed], depth: int) -> list[Weighed]:
        frontier = self._frontier
        last = self._advance(ply, positions, depth, merge=True)
        rows = self._run(f"SELECT {', '.join(frontier.state)}, weight FROM {last}").all()
        return [frontier.read(row, depth) for row in rows]

    def _advance(self, ply: int, positions: Sequence[Weighed], depth: int, merge: bool) -> str:
        """The table of the positions after `depth` moves, from those after `ply`."""
        frontier, metadata = self._frontier, MetaData()
        columns = [*frontier.state, "weight"]
        state = ", ".join(frontier.state)

        def make(number: int, rows: Iterable[Sequence[int]]) -> Table:
            made = Table(f"frontier_{number}", metadata, *map(_word, columns), prefixes=["TEMPORARY"])
            temporary.make(self._database, self._connection, made, rows)
            return made

        make(ply, map(_signed, frontier.rows(positions)))
        for number in range(ply, depth):
            made = make(number + 1, [])
            children = self._children(f"frontier_{number}", number)
            if children:
                if merge:
                    total = "CAST(sum(weight) AS BIGINT)"
                    children = f"SELECT {state}, {total} AS weight FROM ({children}) AS c GROUP BY {state}"
                self._run(f"INSERT INTO {made.name} ({', '.join(columns)}) {children}")
            self._run(f"DROP TABLE frontier_{number}")
            broken = frontier.broken()
            if broken and self._run(f"SELECT 1 FROM {made.name} WHERE {broken} LIMIT 1").first():
                raise overdrawn(number + 1)
            self._database.analyze(self._connection, made)
        return f"frontier_{depth}"

    def _make_tables(self) -> None:
        """Make the tables of rules and scopes, of the places of a word, of the pieces in hand that rules start with."""
        metadata = MetaData()

        def make(name: str, columns: Sequence[str], key: Sequence[str], rows: Iterable[Sequence[int]]) -> None:
            keys = PrimaryKeyConstraint(*key)
            words = map(_word, columns)
            made = Table(name, metadata, *words, keys, prefixes=["TEMPORARY"], sqlite_with_rowid=False)
            temporary.make(self._database, self._connection, made, map(_signed, rows))

        if self._tables:
            make("place", ["number", "bit"], ["number"], [(number, 1 << number) for number in range(WORD)])
        for rules in self._tables:
            numbered = ((start, number, *rest) for number, (start, *rest) in enumerate(rules.rows()))
            start, *others = rules.columns
            make(f"rule_{rules.place}", [start, "number", *others], ["start", "number"], numbered)
            make(f"scope_{rules.place}", list(rules.scopes), ["start"], zip(*rules.scopes.values(), strict=True))
            if rules.group.word is None:
                held = [f"held_{word}" for word in range(self._compiled.hand_words)]
                make(f"held_{rules.place}", ["number", *held], ["number"], self._frontier.slots(rules.group))

        for side, tables in enumerate(self._threats):
            for name, rules in zip(("threat", "crossed"), tables, strict=True):
                columns = [each for each in rules.columns if each != "crossing" and not each.startswith("target_")]
                first = [each for each in rules.columns if each not in columns]
                values = {**rules.columns, "number": range(len(rules.columns["start"]))}
                order = [*first, "number", *columns]
                rows = zip(*[values[each] for each in order], strict=True)
                make(f"{name}_{side}", order, [*first, "number"], rows)

    def _run(self, statement: str) -> Any:
        return self._connection.exec_driver_sql(statement)


def _word(name: str) -> Column[Any]:
    # Postgres shifts by an integer only.
    return Column(name, Integer if name == "number" else BigInteger, nullable=False)


def _signed(row: Iterable[int]) -> tuple[int, ...]:
    """A row whose words are the signed numbers that databases have."""
    return tuple([value - (1 << WORD) if value >> (WORD - 1) > 0 else value for value in row])
