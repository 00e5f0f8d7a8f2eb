"""How fast documents are imported, held to the raw insertion of the same rows, prepared before.

    python -m tests.benchmarks.imports                          SQLite and Postgres
    python -m tests.benchmarks.imports --only sqlite --rounds 9 --documents small=500 --documents chess=20 --processes 0

No two pieces of the documents are equal, so that nothing is shared. The pipeline is `Store.load_all` over a directory:
JSON files in, committed rows out, with every check, digest and lane; in one process, or with others that read ahead.
Raw is the driver alone, given the same rows: on SQLite as tuples, one `executemany` a table; on Postgres as the text of
a COPY, one a table. Both commit once a document, into new stores with the same tables, constraints and settings. Rounds
of the two alternate, and after every round the two stores must hold equal rows, but for the time at which a revision
was made, and its lineage, which is made of that. Processor time is that of this process and of those that it started,
not of a server.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Select, select

from ggn_store import Store, find_game, generate, read_definition
from ggn_store.store.rulesets import lanes
from ggn_store.store.schema import tables as t
from tests.support.postgres import Server, server

DATABASES = ("sqlite", "postgres")
DOCUMENTS = {"small": 200, "chess": 10}
ROUNDS = 5
PROCESSES = (0, 3)
GOALS: Mapping[str, Mapping[object, float]] = {"sqlite": {0: 1.2, 3: 0.8}, "postgres": {"chess": 1.0, "small": 1.2}}
RAW = {"sqlite": "executemany", "postgres": "COPY"}

# About a thousand possibilities each: one with promotions, one with hands.
_SMALL = (
    """
title = "Small chess"
board = "4x4"
style = "C"
[zones]
last = "a4:d4"
[pieces.K]
betza = "K"
terminal = true
[pieces.R]
betza = "R"
[pieces.N]
betza = "N"
[pieces.P]
betza = "fmWfcF"
promotion = { zone = "last", to = ["R", "N"], forced = true }
""",
    """
title = "Small shogi"
board = "5x5"
style = "C"
[hands]
captures = true
[pieces.K]
betza = "K"
terminal = true
[pieces.P]
betza = "fW"
drop = { nifu = true }
""",
)
_TABLES = (
    t.board,
    t.square,
    t.ruleset,
    t.revision,
    t.piece,
    t.revision_piece,
    *t.PIECE_TABLES,
    t.lane,
    t.piece_summary,
    t.piece_facts,
)


class Seconds(NamedTuple):
    """How long something took, and how long processors were at work for it."""

    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Timing:
    """What became of one kind of documents on one database; seconds a round."""

    database: str
    kind: str
    documents: int
    possibilities: int
    processes: int
    pipeline: Sequence[Seconds]
    raw: Sequence[Seconds]

    def ratios(self) -> Seconds:
        """The pipeline's time as a multiple of raw's: the medians over the rounds."""
        pairs = list(zip(self.pipeline, self.raw, strict=True))
        return Seconds(*(statistics.median(a[i] / b[i] for a, b in pairs) for i in range(2)))

    @property
    def ratio(self) -> float:
        """The ratio of wall times."""
        return self.ratios().wall

    @property
    def goal(self) -> float:
        """What the ratio is to be at most."""
        goals = GOALS[self.database]
        return goals[self.processes if self.processes in goals else self.kind]

    @property
    def name(self) -> str:
        """What was measured, in words."""
        raw = f"raw {RAW[self.database]}"
        beside = f"{self.processes} processes ahead" if self.processes else "one process"
        return f"import of {self.documents:,} {self.kind} documents, {self.database}, {beside}, to {raw}"


def measure(
    databases: Sequence[str] = DATABASES,
    documents: Mapping[str, int] | None = None,
    rounds: int = ROUNDS,
    processes: Sequence[int] = PROCESSES,
) -> Iterator[Timing]:
    """The timings, one kind of documents at a time."""
    needs_server = "postgres" in databases
    with server() if needs_server else nullcontext() as running, tempfile.TemporaryDirectory() as name:
        for kind, count in (documents or DOCUMENTS).items():
            directory = Path(name) / kind
            directory.mkdir()
            possibilities = write_documents(directory, kind, count)
            for database, beside in product(databases, processes):
                pipeline, raw = _rounds(database, running, directory, rounds, beside)
                yield Timing(database, kind, count, possibilities, beside, pipeline, raw)


def write_documents(directory: Path, kind: str, count: int) -> int:
    """Write documents of which no two have an equal piece, each in a style of its own; how many possibilities."""
    definitions = [find_game("chess")] if kind == "chess" else [read_definition(text) for text in _SMALL]
    templates = [(document.canonical(), document.possibilities) for document in map(generate, definitions)]
    possibilities = 0
    for number in range(count):
        text, each = templates[number % len(templates)]
        style = f'"C{number}:'
        text = text.replace('"C:', style).replace('"c:', style.lower())
        (directory / f"{kind}-{number:05}.json").write_text(text, encoding="utf-8")
        possibilities += each
    return possibilities


def _rounds(
    database: str, running: Server | None, directory: Path, rounds: int, processes: int
) -> tuple[list[Seconds], list[Seconds]]:
    pipeline: list[Seconds] = []
    raw: list[Seconds] = []
    with _store(database, running) as store:
        _import(store, directory, processes)
        prepared = list(_prepare(database, store))
        expected = _contents(store)
    for number in range(rounds):
        # Neither of the two is always the first.
        for is_raw in (False, True) if number % 2 else (True, False):
            with _store(database, running) as store:
                began = _now()
                if is_raw:
                    _insert(database, store, prepared)
                else:
                    _import(store, directory, processes)
                (raw if is_raw else pipeline).append(Seconds(*map(float.__sub__, _now(), began)))
                if _contents(store) != expected:
                    raise AssertionError(f"{database}: the {'raw rows' if is_raw else 'imported rows'} are others")
    return pipeline, raw


def _now() -> Seconds:
    times = os.times()
    return Seconds(time.perf_counter(), sum(times[:4]))


@contextmanager
def _store(database: str, running: Server | None) -> Iterator[Store]:
    """A new store, with its tables."""
    if running is not None and database == "postgres":
        url = running.create_database()
        with Store.open(url, upgrade=True) as store:
            yield store
        running.drop_database(url)
    else:
        with tempfile.TemporaryDirectory() as directory, Store.open(f"sqlite:///{directory}/store.db") as store:
            yield store


def _import(store: Store, directory: Path, processes: int) -> None:
    for result in store.load_all([directory], processes=processes):
        if result.error is not None:
            raise result.error


# --- raw ---


def _prepare(database: str, store: Store) -> Iterator[list[tuple[str, Any]]]:
    """For each document what raw inserts: a statement and its data for each table that has rows of it."""
    boards: set[int] = set()
    with store.session.database.reading() as connection:
        for revision in connection.execute(select(t.revision).order_by(t.revision.c.id)).all():
            listed = select(t.revision_piece.c.piece_id).where(t.revision_piece.c.revision_id == revision.id)
            pieces = sorted(connection.execute(listed).scalars())
            chosen = {
                t.board: t.board.c.id == revision.board_id,
                t.square: t.square.c.board_id == revision.board_id,
                t.ruleset: t.ruleset.c.id == revision.ruleset_id,
                t.revision: t.revision.c.id == revision.id,
                t.piece: t.piece.c.id.in_(pieces),
                t.revision_piece: t.revision_piece.c.revision_id == revision.id,
                t.lane: t.lane.c.key.between(lanes.key_of(pieces[0], None), lanes.key_of(pieces[-1] + 1, None) - 1),
            }
            statements = []
            for table in _TABLES:
                if table in (t.board, t.square) and revision.board_id in boards:
                    continue
                condition = chosen[table] if table in chosen else table.c.piece_id.in_(pieces)
                columns = list(table.columns)
                query = select(*columns).where(condition).order_by(*table.primary_key.columns)
                statements.append(_statement(database, connection, query, columns))
            boards.add(revision.board_id)
            yield [(statement, data) for statement, data in statements if data]


def _statement(
    database: str, connection: Connection, query: Select[Any], columns: Sequence[Column[Any]]
) -> tuple[str, Any]:
    """The driver's own statement that inserts what `query` finds, and the data that it takes."""
    text = str(query.compile(connection.engine, compile_kwargs={"literal_binds": True}))
    table, names = columns[0].table.description, ", ".join(f'"{column.name}"' for column in columns)
    driver: Any = connection.connection.driver_connection
    if database == "sqlite":
        marks = ", ".join("?" for _ in columns)
        return f'INSERT INTO "{table}" ({names}) VALUES ({marks})', driver.execute(text).fetchall()
    with driver.cursor() as cursor, cursor.copy(f"COPY ({text}) TO STDOUT") as copy:
        return f'COPY "{table}" ({names}) FROM STDIN', b"".join(copy)


def _insert(database: str, store: Store, prepared: list[list[tuple[str, Any]]]) -> None:
    for statements in prepared:
        with store.session.database.writing() as connection:
            driver: Any = connection.connection.driver_connection
            for statement, data in statements:
                if database == "sqlite":
                    driver.executemany(statement, data)
                else:
                    with driver.cursor() as cursor, cursor.copy(statement) as copy:
                        copy.write(data)


def _contents(store: Store) -> dict[str, str]:
    """A digest of the rows of each table."""
    contents = {}
    timed = {t.revision.c.created_at, t.revision.c.lineage}
    with store.session.database.reading() as connection:
        for table in _TABLES:
            columns = [column for column in table.columns if column not in timed]
            digest = hashlib.sha256()
            for row in connection.execute(select(*columns).order_by(*table.primary_key.columns)):
                digest.update(repr(tuple(row)).encode())
            contents[table.name] = digest.hexdigest()
    return contents


def main(arguments: list[str]) -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.imports", description="See the module's text.")
    parser.add_argument("--only", choices=DATABASES, action="append", help="one database")
    parser.add_argument("--documents", metavar="KIND=COUNT", action="append", help="such as small=200, chess=10")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--processes", type=int, choices=PROCESSES, action="append", help="so many read ahead")
    options = parser.parse_args(arguments)
    documents = {kind: int(count) for kind, _, count in (each.partition("=") for each in options.documents or ())}
    for each in measure(options.only or DATABASES, documents, options.rounds, options.processes or PROCESSES):
        pipeline, raw = (
            Seconds(*map(statistics.median, zip(*times, strict=True))) for times in (each.pipeline, each.raw)
        )
        print(
            f"{each.name}: {each.ratio:.2f} (goal <= {each.goal}), {pipeline.wall:.2f} s against {raw.wall:.2f} s, "
            f"{each.possibilities / pipeline.wall:,.0f} possibilities a second; processor time "
            f"{each.ratios().processor:.2f}, {pipeline.processor:.2f} s against {raw.processor:.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
