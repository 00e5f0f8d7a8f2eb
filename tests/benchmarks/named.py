"""The named questions of `sql --examples` over a large store: processor time and memory on every engine, equal answers.

    python -m tests.benchmarks.named ADDRESS                     DuckDB, then the store itself
    python -m tests.benchmarks.named ADDRESS --store ADDRESS ... other stores that hold the same, a Postgres among them
    python -m tests.benchmarks.named ADDRESS --spark DIRECTORY   Spark SQL over an export of it in Parquet, if installed

The columnar copy is brought up to date before. A process that answers a question has the memory that users give it
unless they say otherwise, and its time is told; of a Postgres and of Spark, the time of waiting. What Spark's SQL has
not is left out. Answers are compared as rows in any order, numbers by their value, times aside.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal

from ggn_store import Store
from ggn_store.api.questions.sql import SQL_EXAMPLES
from ggn_store.columnar.view_files import register_views
from ggn_store.store.sql.examples import SqlExample

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:")
BOUNDS: Final[Mapping[str, Any]] = {"timeout": 600, "memory": 256, "disk": 8_192, "limit": 1_000_000}
Rows = Sequence[Sequence[Any]]
# Answers a question; None where the engine does not know its SQL.
Ask = Callable[[SqlExample], Rows | None]
Clock = Callable[[], float]


def children() -> float:
    """The processor time of all processes of questions so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def values(example: SqlExample) -> dict[str, str]:
    return dict(each.split("=", 1) for each in example.values)


def of_store(store: Store, engine: Literal["store", "duckdb"]) -> Ask:
    return lambda example: store.sql(example.query, values(example), engine=engine, **BOUNDS).rows


def of_spark(directory: str) -> Ask:
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    register_views(session, directory)

    def ask(example: SqlExample) -> Rows | None:
        try:
            rows: Rows = session.sql(example.query, args=values(example)).collect()
        except (AnalysisException, ParseException):
            return None
        return rows

    return ask


def plain(rows: Rows) -> Counter[tuple[str, ...]]:
    """Rows without their order: numbers by their value, to nine digits; of times, only that they are there."""
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: Any) -> str:
    if isinstance(value, int | float | Decimal):
        return f"{float(value):.9g}"
    return "a time" if isinstance(value, datetime) or _TIME.match(str(value)) else str(value)


def main(arguments: list[str]) -> None:
    """Measure, and print a line a question; ends with an error where answers differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.named", description="See the module's text.")
    parser.add_argument("address")
    parser.add_argument("--store", action="append", default=[])
    parser.add_argument("--spark")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        stores = [stack.enter_context(Store.open(each)) for each in (options.address, *options.store)]
        engines: dict[str, tuple[Ask, Clock]] = {"duckdb": (of_store(stores[0], "duckdb"), children)}
        for store in stores:
            database = store.session.database
            engines[database.name] = of_store(store, "store"), time.monotonic if database.is_server else children
        if options.spark:
            engines["spark"] = of_spark(options.spark), time.monotonic
        stores[0].sql("SELECT count(*) FROM v_rulesets", engine="duckdb")
        sys.exit(measure(engines))


def measure(engines: Mapping[str, tuple[Ask, Clock]]) -> int:
    """Ask every engine every question; how many questions have answers that differ."""
    taken: dict[str, list[float]] = {}
    known: list[list[Counter[tuple[str, ...]]]] = [[] for _ in SQL_EXAMPLES]
    for name, (ask, clock) in engines.items():
        taken[name] = []
        for example, answers in zip(SQL_EXAMPLES, known, strict=True):
            begun = clock()
            rows = ask(example)
            taken[name].append(clock() - begun)
            answers += [] if rows is None else [plain(rows)]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(f"{name}: {sum(taken[name]):.1f} s; a process had up to {peak} MiB so far", flush=True)
    for example, answers, *each in zip(SQL_EXAMPLES, known, *taken.values(), strict=True):
        told = "".join(f"{seconds:8.2f}" for seconds in each)
        verdict = "equal" if all(answer == answers[0] for answer in answers) else "DIFFER"
        print(f"{told} {answers[0].total():8,} rows, {len(answers)} {verdict}: {example.question}")
    return sum(any(answer != answers[0] for answer in answers) for answers in known)


if __name__ == "__main__":
    main(sys.argv[1:])
