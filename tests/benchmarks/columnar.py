"""How fast the engines on columns answer, beside python-chess on the same positions.

    python -m tests.benchmarks.columnar             chess, DuckDB on four processors

Each round measures everything once, one after the other, and the medians of the rounds are compared; that all answers
are equal is checked in the same run. A ratio is how many times as many positions are answered in the same time as by
`list(board.pseudo_legal_moves)`. Where others work on the same machine, threads that wait for a processor spoil it:
below what is DuckDB's alone stands the ratio that the processors' time would give if each thread had one to itself.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from tempfile import TemporaryDirectory

import chess

from ggn_store import Position, Ruleset, Store
from tests.oracles.python_chess import castlings_through_attack, position_of

ROUNDS = 7
THREADS = 4
Row = tuple[str, float, float | None]
_OBJECTS = "moves_batch, Position objects"


def games(count: int, seed: int = 1) -> list[chess.Board]:
    """Positions of random games of chess."""
    dice = random.Random(seed)
    found: list[chess.Board] = []
    while len(found) < count:
        board = chess.Board()
        for _ in range(dice.randint(4, 120)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(dice.choice(moves))
            if dice.random() < 0.3:
                found.append(board.copy(stack=False))
    return found[:count]


def medians(work: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of each piece of work, by the clock and of all processors: medians of interleaved rounds."""
    for each in work.values():
        each()
    clock: dict[str, list[float]] = {name: [] for name in work}
    processor: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, each in work.items():
            began = time.perf_counter(), time.process_time()
            each()
            clock[name].append(time.perf_counter() - began[0])
            processor[name].append(time.process_time() - began[1])
    return (
        {name: statistics.median(seconds) for name, seconds in clock.items()},
        {name: statistics.median(seconds) for name, seconds in processor.items()},
    )


def chess_ruleset(store: Store) -> Ruleset:
    store.load_library("chess")
    return store.ruleset("chess")


def require_equal(rules: Ruleset, boards: list[chess.Board], feen: list[str]) -> None:
    """The moves are python-chess's, with its castlings through an attack, which GGN cannot forbid."""
    table = rules.columns.moves(feen, threads=THREADS)
    found = Counter(zip(*(table[name].to_pylist() for name in ("position", "source", "destination")), strict=True))
    expected = Counter(
        (at, chess.SQUARE_NAMES[move.from_square], chess.SQUARE_NAMES[move.to_square])
        for at, board in enumerate(boards)
        for move in (*board.pseudo_legal_moves, *castlings_through_attack(board))
    )
    if found != expected:
        raise SystemExit(
            f"DuckDB and python-chess differ: {list(((found - expected) + (expected - found)).items())[:5]}"
        )


def measure(count: int = 20_000, repeat: int = 10) -> list[Row]:
    """Ratios to python-chess (name, ratio, goal) for `count` positions, which DuckDB gets `repeat` times."""
    boards = games(count)
    positions = [Position(squares, {}, side) for squares, side in map(position_of, boards)]
    feen = [position.to_feen((8, 8)) for position in positions]
    with TemporaryDirectory() as directory, Store.open(f"sqlite:///{directory}/chess.db") as store:
        rules = chess_ruleset(store)
        require_equal(rules, boards, feen)
        if rules.moves_batch(positions, query="columns") != rules.moves_batch(positions, query="fast"):
            raise SystemExit("moves_batch differs on columns and by the store")
        columns = rules.columns
        engine = columns.engine(threads=THREADS)
        many = feen * repeat
        batch = columns.encode(many)

        def with_encoding() -> object:
            return engine.moves(columns.encode(many))

        def just_opened() -> object:
            with Store.open(f"sqlite:///{directory}/chess.db") as opened:
                return opened.ruleset("chess").moves_batch(positions, query="columns")

        work: dict[str, Callable[[], object]] = {
            "python-chess": lambda: sum(len(list(board.pseudo_legal_moves)) for board in boards),
            f"{_OBJECTS}, a store just opened": just_opened,
            f"{_OBJECTS}, a fresh handle": lambda: store.ruleset("chess").moves_batch(positions),
            _OBJECTS: lambda: rules.moves_batch(positions),
            f"{_OBJECTS}, asked of the store": lambda: rules.moves_batch(positions, query="fast"),
            "count_moves, Position objects": lambda: rules.count_moves(positions),
            "moves": lambda: engine.moves(batch),
            "moves, FEEN encoded": with_encoding,
            "moves, FEEN encoded, named and in order": lambda: columns.moves(many, threads=THREADS),
            "moves, Position objects encoded": lambda: engine.moves(columns.encode(positions)),
            "counts by position": lambda: engine.count_by_position(batch),
            "counts by piece": lambda: engine.count_by_start(batch),
            "counts by destination": lambda: engine.count_by_possibility(batch),
        }
        found, processor = medians(work)
        engine.close()
    goals = {
        "moves": 50.0,
        "moves, FEEN encoded": 12.0,
        _OBJECTS: 2.0,
        f"{_OBJECTS}, a fresh handle": 1.0,
        f"{_OBJECTS}, asked of the store": 0.6,
    }
    each = found.pop("python-chess") / count
    print(
        f"python-chess: {each * 1e6:.1f} us a position, {count:,} positions; DuckDB: {len(many):,}, {THREADS} threads"
    )
    sizes = {name: count if "objects" in name else len(many) for name in found}
    own = processor["python-chess"] / count
    rows: list[Row] = []
    for name, seconds in found.items():
        rows.append((f"DuckDB, {name}", each * sizes[name] / seconds, goals.get(name)))
        if "objects" in name:  # that is Python, which has one thread
            rows.append(("  by processor time", own * sizes[name] / processor[name], None))
        elif "in order" not in name:
            alone = own * sizes[name] * THREADS / processor[name]
            rows.append((f"  on {THREADS} processors without others", alone, None))
    return rows


def main(arguments: list[str]) -> None:
    """Measure, and print a line a figure."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.columnar", description="See the module's text.")
    parser.parse_args(arguments)
    for name, ratio, goal in measure():
        print(f"{name:55} {ratio:7.1f} x" + (f"   goal {goal:.0f} x" if goal else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
