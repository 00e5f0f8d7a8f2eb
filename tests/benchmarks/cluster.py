"""Spark on a cluster, a worker of which is killed: are the answers DuckDB's, and in how much time and memory?

    python -m tests.benchmarks.cluster                  a million positions of chess, perft 5 and 6
    python -m tests.benchmarks.cluster --millions 5
    python -m tests.benchmarks.cluster --depths 5       perft 5 alone

A master and two workers, of one processor and 2 GB each, run as processes of this machine. `ggn-store moves` is asked
for all moves of positions in Parquet, and is to write them as Parquet; once four of its tasks are done, a worker is
killed with everything in it. Some positions are none. Number and hash of the moves, which do not depend on their order,
are compared with those that DuckDB finds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

from ggn_store import Position, Store
from tests.benchmarks.columnar import chess_ruleset, games
from tests.oracles.python_chess import position_of
from tests.support.spark_cluster import ENVIRONMENT, Cluster, cluster

# Different positions, rows of a file, and of how many rows one is no position.
DIFFERENT: Final = 20_000
ROWS: Final = 20_000
BAD: Final = 10_007
# Tasks that are done before a worker is killed.
DONE: Final = 4
PERFT: Final = {4: 197_281, 5: 4_865_609, 6: 119_060_324}
_HASHED: Final = "count(*), sum(hash(id, piece, source, destination, ordinal)::HUGEINT)"


def texts(count: int) -> Iterator[tuple[int, list[str]]]:
    """The positions in parts, each with the number of its first one."""
    feen = [Position(squares, {}, side).to_feen((8, 8)) for squares, side in map(position_of, games(DIFFERENT))]
    for begin in range(0, count, ROWS):
        numbers = range(begin, min(begin + ROWS, count))
        yield begin, [feen[number % DIFFERENT] if number % BAD else f"no position {number}" for number in numbers]


def write(count: int, directory: Path) -> None:
    """Write the positions as a directory of files."""
    directory.mkdir()
    for begin, feen in texts(count):
        numbers = pa.array(range(begin, begin + len(feen)), pa.int64())
        parquet.write_table(pa.table({"id": numbers, "feen": feen}), directory / f"{begin:09}.parquet")


def expected(store: Store, count: int) -> tuple[int, int]:
    """Number and hash of the moves, by DuckDB in this process."""
    columns = store.ruleset("chess").columns
    moves = total = 0
    for begin, feen in texts(count):
        good = [(begin + at, text) for at, text in enumerate(feen) if (begin + at) % BAD]
        found = columns.moves([text for _, text in good], threads=1)
        ids = pa.array([number for number, _ in good], pa.int64()).take(pa.array(found["position"]))
        answered = found.append_column("id", ids)  # noqa: F841 -- DuckDB finds it by its name
        some, hashed = duckdb.execute(f"SELECT {_HASHED} FROM answered").fetchall()[0]
        moves, total = moves + some, total + hashed
    return moves, total


def peak(pid: int) -> int:
    """The most memory that a process has had, in MB."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) // 1024
    except OSError:
        pass
    return 0


def children(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    try:
        found = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return found + [below for each in found for below in children(each)]


def ask(address: str, directory: Path, running: Cluster) -> dict[str, Any]:
    """Have the command answer, and kill a worker meanwhile; seconds, and memory of the driver."""
    words = ["moves", "chess", "--positions", "positions", "--engine", "spark", "--master", running.url]
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "ggn_store", "--db", address, *words, "-o", "moves.parquet"],
        cwd=directory,
        env=os.environ | ENVIRONMENT,
    )
    killed = None
    python = java = 0
    while process.poll() is None:
        python = max(python, peak(process.pid))
        java = max([java, *map(peak, children(process.pid))])
        if killed is None and len([*directory.glob("moves.parquet/_temporary/*/task_*")]) >= DONE:
            running.kill(1)
            killed = time.perf_counter() - began
        time.sleep(0.2)
    seconds = time.perf_counter() - began
    return {"code": process.returncode, "seconds": seconds, "killed": killed, "python": python, "java": java}


def measure(count: int, directory: Path) -> None:
    """Positions by a cluster beside DuckDB."""
    write(count, directory / "positions")
    address = f"sqlite:///{directory}/chess.db"
    with Store.open(address) as store:
        chess_ruleset(store)
        with cluster(directory) as running:
            found = ask(address, directory, running)
        killed = (
            "no worker was killed" if found["killed"] is None else f"a worker was killed after {found['killed']:.0f} s"
        )
        print(
            f"{count:,} positions: {found['seconds']:.0f} s, {killed} killed; the driver's Python had "
            f"{found['python']} MB, its Java {found['java']} MB",
            flush=True,
        )
        if found["code"]:
            raise SystemExit("the command failed")
        began = time.process_time()
        moves = expected(store, count)
        print(f"DuckDB alone, one thread, with its hashes: {time.process_time() - began:.0f} s of processor time")
    files = f"read_parquet('{directory}/moves.parquet/*.parquet')"
    asked = duckdb.execute(f"SELECT {_HASHED} FROM {files} WHERE error IS NULL").fetchall()[0]
    told = "count(*), count(DISTINCT id), bool_and(id % ? = 0)"
    bad = duckdb.execute(f"SELECT {told} FROM {files} WHERE error IS NOT NULL", [BAD]).fetchall()[0]
    wrong = len(range(0, count, BAD))
    if asked != moves or bad != (wrong, wrong, True):
        raise SystemExit(f"Spark and DuckDB differ: {asked} and {moves}, {wrong} bad positions")
    print(f"{moves[0]:,} moves, and {wrong} positions that are none: number and hash are DuckDB's", flush=True)


def count_paths(depths: list[int], directory: Path) -> None:
    """Legal perft of chess by a cluster."""
    from pyspark.sql import SparkSession

    os.environ.update(ENVIRONMENT)
    with cluster(directory) as running, Store.open(f"sqlite:///{directory}/perft.db") as store:
        session = SparkSession.builder.master(running.url).config("spark.ui.enabled", "false").getOrCreate()
        try:
            rules = chess_ruleset(store)
            spark = rules.spark(session)
            for depth in depths:
                found = spark.perft(rules.start, depth, legal=True)
                if found.count != PERFT[depth]:
                    raise SystemExit(f"perft {depth} is {found.count}, and not {PERFT[depth]}")
                print(f"perft {depth}: {found.count:,}, {found.compiling:.0f} + {found.running:.0f} s", flush=True)
        finally:
            session.stop()


def main(arguments: list[str]) -> None:
    """Measure, and print a line a figure."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.cluster", description="See the module's text.")
    parser.add_argument("--millions", type=float, default=1.0, help="millions of positions; 0: none")
    parser.add_argument("--depths", type=int, nargs="*", default=[5, 6], help="depths of perft")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        if options.millions:
            measure(int(options.millions * 1_000_000), Path(directory))
        if options.depths:
            count_paths(options.depths, Path(directory))


if __name__ == "__main__":
    main(sys.argv[1:])
