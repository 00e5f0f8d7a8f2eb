"""How work grows with what it is given: a step that grows faster than its input would show here.

    python -m tests.benchmarks.growth                   everything, some minutes
    python -m tests.benchmarks.growth boards depth      some of it

Each line is one size of the input: microseconds of processor time for a unit of it, and in brackets what a unit costs
beside the line before. Conditions, which grow faster than the board, are a unit of their own. The first answers of each
size are compared with the plain evaluator's; paths are counted by python-chess.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import chess

from ggn_store import Position, Ruleset, Store, generate, read_definition
from ggn_store.api.moves.batches import BatchQuery
from tests.benchmarks.perft import python_chess
from tests.benchmarks.questions import played, small
from tests.oracles import reference
from tests.support.loader import ROOT

BOARDS = (8, 12, 16, 19, 25, 36)
BATCHES = (1, 10, 100, 1_000, 10_000, 100_000)
RULESETS = (1, 10, 100, 1_000, 10_000)
QUERIES: tuple[BatchQuery, ...] = ("fast", "columns")
DEPTHS = {"sqlite": 4, "duckdb": 5}

_BOARD = """
title = "Queens and knights"
board = "{size}x{size}"
style = "G"
[pieces.Q]
betza = "Q"
[pieces.N]
betza = "N"
"""

T = TypeVar("T")
Line = tuple[str, Mapping[str, float]]


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What a call gives, and its processor time in microseconds, all threads'."""
    gc.collect()
    began = time.process_time()
    found = work()
    return found, 1e6 * (time.process_time() - began)


def boards(directory: Path) -> Iterator[Line]:
    """One definition on ever larger boards, a sixth of whose squares are taken."""
    for size in BOARDS:
        with Store.open(directory / f"{size}.db") as store:
            yield _board(store, size)


def _board(store: Store, size: int) -> Line:
    document, generating = timed(lambda: generate(read_definition(_BOARD.format(size=size))))
    _, loading = timed(lambda: store.load(document, "large"))
    conditions = store.list()[0].counts["conditions"]
    rng = random.Random(size)
    squares = rng.sample(document.board.squares, size * size // 6)
    pieces = ("G:Q", "G:N", "g:q", "g:n")
    known, positions = ([Position({at: rng.choice(pieces) for at in squares}) for _ in range(40)] for _ in range(2))
    rules = store.ruleset("large")
    rules.moves_batch(known, query="fast")
    one, asking = timed(lambda: [rules.moves(each) for each in positions])
    many, fast = timed(lambda: rules.moves_batch(positions, query="fast"))
    _, compiling = timed(lambda: rules.columns.moves(positions[:1]))
    table, columns = timed(lambda: rules.columns.moves(positions))
    keys = [(m.piece, m.source, m.destination, m.ordinal) for m in one[0]]
    assert keys == reference.moves(document.data(), dict(positions[0].board), None, positions[0].side)
    moves = sum(map(len, one))
    assert one == many
    assert table.num_rows == moves
    return (
        f"{size}x{size}: {document.possibilities:,} possibilities, {conditions:,} conditions, {moves // 40} moves",
        {
            "generated, a condition": generating / conditions,
            "loaded, a condition": loading / conditions,
            "compiled for columns, a possibility": compiling / document.possibilities,
            "one position, a move": asking / moves,
            "batch, a move": fast / moves,
            "columns, a move": columns / moves,
        },
    )


def batches(directory: Path) -> Iterator[Line]:
    """Ever more positions of chess in one call, on a handle that has answered before."""
    with Store.open(directory / "batches.db") as store:
        store.load(ROOT / "data" / "chess.json", "chess")
        rules = store.ruleset("chess")
        positions = iter(played(sum(max(size, 1_000) for size in BATCHES) + 300, 5))
        known = list(islice(positions, 300))
        for query in QUERIES:
            rules.moves_batch(known, query=query)
        for size in BATCHES:
            asked = list(islice(positions, max(size, 1_000)))
            yield (
                f"{size:,} positions",
                {f"{query}, a position": _batch(rules, asked, size, query) for query in QUERIES},
            )


def _batch(rules: Ruleset, positions: Sequence[Position], size: int, query: BatchQuery) -> float:
    parts = [positions[begin : begin + size] for begin in range(0, len(positions), size)]
    counts, spent = timed(lambda: [sum(map(len, rules.moves_batch(part, query=query))) for part in parts])
    assert counts == [sum(rules.count_moves(part).values()) for part in parts]
    return spent / size / len(parts)


def depth(directory: Path) -> Iterator[Line]:
    """Perft of chess, ever deeper, with equal positions of a ply as one."""
    with Store.open(directory / "depth.db") as store:
        store.load(ROOT / "data" / "chess.json", "chess")
        rules = store.ruleset("chess")
        for plies in range(1, max(DEPTHS.values()) + 1):
            paths = python_chess(chess.Board(), plies, 1)
            yield (
                f"depth {plies}: {paths:,} paths",
                {
                    f"{name}, a path": _paths(rules, plies, name, paths)
                    for name, most in DEPTHS.items()
                    if plies <= most
                },
            )


def _paths(rules: Ruleset, plies: int, engine: str, paths: int) -> float:
    rules.perft(rules.position(), 1, engine=engine)
    found, spent = timed(lambda: rules.perft(rules.position(), plies, engine=engine, merge=True))
    assert found.count == paths
    return spent / paths


def rulesets(directory: Path) -> Iterator[Line]:
    """Ever more rulesets of a thousand possibilities in one store, beside chess."""
    with Store.open(directory / "rulesets.db") as store:
        store.load(ROOT / "data" / "chess.json", "chess")
        positions = played(500, 6)
        had = 0
        for size in RULESETS:
            yield f"{size:,} rulesets", _store(store, had, size, positions)
            had = size


def _store(store: Store, had: int, size: int, positions: Sequence[Position]) -> dict[str, float]:
    _, loading = timed(lambda: [store.load(small(number), f"s{number}") for number in range(had, size)])
    rules = store.ruleset("chess")
    _, asking = timed(lambda: [rules.moves(each) for each in positions])
    listed, listing = timed(store.list)
    analysis = store.analysis()
    movers, grouping = timed(analysis.same_movers)
    _, finding = timed(lambda: analysis.find(having=["hoppers"]))
    _, one = timed(lambda: (store.list("chess"), store.history.log("chess"), analysis.stats(["chess"])))
    _, checking = timed(store.upkeep.verify)
    _, again = timed(store.upkeep.verify)
    assert len(listed) == size + 1
    assert movers.groups
    with tempfile.TemporaryDirectory() as other, Store.open(Path(other) / "other.db") as remote:
        _, pushing = timed(lambda: store.exchange.push(remote))
        store.load(small(had), "chess")
        _, pushing_one = timed(lambda: store.exchange.push(remote))
        store.load(ROOT / "data" / "chess.json", "chess")
    return {
        "loaded, a ruleset": loading / (size - had),
        "listed, a ruleset": listing / size,
        "same-movers, a ruleset": grouping / size,
        "find, a ruleset": finding / size,
        "pushed, a ruleset": pushing / size,
        "push of all of which one has changed, a ruleset": pushing_one / size,
        "verified, a ruleset": checking / size,
        "verified again, a ruleset": again / size,
        "list, log and stats of one ruleset": one,
        "chess, a position": asking / len(positions),
    }


KINDS: Mapping[str, Callable[[Path], Iterator[Line]]] = {
    "boards": boards,
    "batches": batches,
    "depth": depth,
    "rulesets": rulesets,
}


def main(arguments: list[str]) -> None:
    """Measure, and print a list for each kind of growth."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.growth", description="See the module's text.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    for kind in parser.parse_args(arguments).kinds or KINDS:
        print(f"\n{kind}")
        before: Mapping[str, float] = {}
        with tempfile.TemporaryDirectory() as directory:
            for name, found in KINDS[kind](Path(directory)):
                print(f"  {name}")
                for unit, spent in found.items():
                    beside = f" ({spent / before[unit]:.2f})" if unit in before else ""
                    print(f"    {unit + ':':<50}{spent:>12,.1f}{beside}", flush=True)
                before = found


if __name__ == "__main__":
    main(sys.argv[1:])
