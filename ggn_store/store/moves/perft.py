"""Moves made by the thousand: each ply is one statement over all positions that the ply before has led to.

    frontier -> squares with pieces of the side to move -> rules that start there, by primary key
       -> those whose masks fit -> the boards after them -> the next frontier

All tables are temporary, of the transaction that asks, which is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, PrimaryKeyConstraint, Table

from ggn_store.errors import MoveError
from ggn_store.store.database.engine import Database
from ggn_store.store.moves import positions as temporary
from ggn_store.store.moves.frontier import Frontier, RuleTable, table
from ggn_store.store.moves.planes import Compiled, State
from ggn_store.store.rulesets.masks import WORD


class Plies:
    """The tables that moves from some positions need, in a connection of a database."""

    def __init__(self, database: Database, connection: Connection, compiled: Compiled) -> None:
        self._database = database
        self._connection = connection
        self._compiled = compiled
        self._frontier = Frontier(compiled, len(compiled.states) > 1)
        self._tables = self._make_tables()

    def counter(self, depth: int, merge: bool = True) -> Callable[[], list[int]]:
        """What tells how many paths of `depth` moves, at least one, lead on from each of the positions.

        Every board is built, those after the last move too. With `merge`, equal positions of a ply that have moves
        to come are made one, which counts as often as there were.
        """
        return partial(self._count, depth, merge)

    def _count(self, depth: int, merge: bool) -> list[int]:
        frontier = self._frontier
        found = [0] * len(self._compiled.states)
        children = self._children(self._advance(depth - 1, merge), depth - 1)
        if not children:
            return found
        # That the largest of each column is asked for makes the database build every board.
        built = ", ".join(f"max({name})" for name in frontier.state)
        broken = frontier.broken()
        checked = f"max(CASE WHEN {broken} THEN 1 ELSE 0 END)" if broken else "0"
        root, by_root = ("root", " GROUP BY root") if frontier.is_rooted else ("0", "")
        rows = self._run(f"SELECT {root}, sum(weight), {checked}, {built} FROM ({children}) AS c{by_root}")
        for number, total, failed, *_ in rows.all():
            if failed:
                raise overdrawn(depth)
            found[number] = int(total or 0)
        return found

    def reached(self, depth: int) -> list[tuple[int, State, int]]:
        """The different positions after `depth` moves: number of the first, the position, how many paths lead there."""
        frontier = self._frontier
        last = self._advance(depth, merge=True)
        rows = self._run(f"SELECT {', '.join(frontier.state)}, weight FROM {last}").all()
        return [frontier.read(row, depth) for row in rows]

    def _advance(self, depth: int, merge: bool) -> str:
        """The table of the positions after `depth` moves."""
        frontier, metadata = self._frontier, MetaData()
        columns = [*frontier.state, "weight"]
        state = ", ".join(frontier.state)

        def make(ply: int, rows: Iterable[Sequence[int]]) -> Table:
            made = Table(f"frontier_{ply}", metadata, *map(_word, columns), prefixes=["TEMPORARY"])
            temporary.make(self._database, self._connection, made, rows)
            return made

        make(0, map(_signed, frontier.rows()))
        for ply in range(depth):
            made = make(ply + 1, [])
            children = self._children(f"frontier_{ply}", ply)
            if children:
                if merge:
                    # The sum of a column of integers is no integer on Postgres.
                    total = "CAST(sum(weight) AS BIGINT)"
                    children = f"SELECT {state}, {total} AS weight FROM ({children}) AS c GROUP BY {state}"
                self._run(f"INSERT INTO {made.name} ({', '.join(columns)}) {children}")
            self._run(f"DROP TABLE frontier_{ply}")
            broken = frontier.broken()
            if broken and self._run(f"SELECT 1 FROM {made.name} WHERE {broken} LIMIT 1").first():
                raise overdrawn(ply + 1)
            self._database.analyze(self._connection, made)
        return f"frontier_{depth}"

    def _children(self, source: str, ply: int) -> str:
        """The statement for the children of all positions of a frontier; empty where there can be none."""
        frontier, branches = self._frontier, []
        for rules in self._tables:
            group = rules.group
            if group.side not in frontier.sides(ply):
                continue
            if group.word is None:
                place, standing, key = f"held_{rules.place}", frontier.held(), "q.number"
            else:
                place, standing = "place", f"({frontier.own(group)} & q.bit) <> 0"
                key = frontier.key(group, "q.number")
            tests = [standing, f"r.start = {key}", *frontier.tests(rules)]
            exact = frontier.exact_tests(rules, frontier.kinds(rules))
            if exact:
                tests.append(f"(r.exact = 0 OR ({' AND '.join(exact)}))")
            # SQLite joins in this order; Postgres in any.
            branches.append(
                f"SELECT {frontier.children(rules)} FROM {source} AS f "
                f"CROSS JOIN {place} AS q CROSS JOIN rule_{rules.place} AS r WHERE {' AND '.join(tests)}"
            )
        return " UNION ALL ".join(branches)

    def _make_tables(self) -> list[RuleTable]:
        """The tables of rules, of the places of a word, and of the pieces in hand that rules begin with."""
        compiled, metadata = self._compiled, MetaData()

        def make(name: str, columns: Sequence[str], key: Sequence[str], rows: Iterable[Sequence[int]]) -> None:
            keys = PrimaryKeyConstraint(*key)
            words = map(_word, columns)
            made = Table(name, metadata, *words, keys, prefixes=["TEMPORARY"], sqlite_with_rowid=False)
            temporary.make(self._database, self._connection, made, map(_signed, rows))

        make("place", ["number", "bit"], ["number"], [(number, 1 << number) for number in range(WORD)])
        tables = [table(compiled, group) for group in compiled.groups]
        for rules in tables:
            numbered = ((start, number, *rest) for number, (start, *rest) in enumerate(rules.rows()))
            start, *others = rules.columns
            make(f"rule_{rules.place}", [start, "number", *others], ["start", "number"], numbered)
            if rules.group.word is None:
                held = [f"held_{word}" for word in range(compiled.hand_words)]
                make(f"held_{rules.place}", ["number", *held], ["number"], self._frontier.slots(rules.group))
        return tables

    def _run(self, statement: str) -> Any:
        return self._connection.exec_driver_sql(statement)


def overdrawn(ply: int) -> MoveError:
    """What to say of a move that takes pieces from a hand which does not hold them."""
    return MoveError(f"a move of ply {ply} takes more from a hand than it holds: `apply` cannot make it, nor can this")


def _word(name: str) -> Column[Any]:
    # Postgres shifts by an integer only.
    return Column(name, Integer if name == "number" else BigInteger, nullable=False)


def _signed(row: Iterable[int]) -> tuple[int, ...]:
    """A row whose words are the signed numbers that databases have."""
    return tuple([value - (1 << WORD) if value >> (WORD - 1) > 0 else value for value in row])
