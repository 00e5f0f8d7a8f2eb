"""How fast one position, and many, are answered, held to python-chess and to plain loops over a document.

    python -m tests.benchmarks.questions                    without the large stores
    python -m tests.benchmarks.questions --rulesets 10000   also in stores of 1, 100, 1,000 and 10,000 rulesets

The yardstick is `list(board.pseudo_legal_moves)` of python-chess for the same positions of chess. Positions come from
random games. Four ways to meet them: `unseen`, the hard one, asks each position once, in any order, of a handle that
has answered a thousand others, and python-chess in between every hundred; `in play` asks game after game, position
after position, each of them new, of a handle that has answered some thousands before; `scattered` asks single positions
of different games, each of them new; `nothing kept` is the same with a handle that keeps no answers. All answers are
compared with python-chess's. Where `pyrust_chess` is installed, a board in Rust with the same call, its time stands
beside.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import chess

from ggn_store import Position, Ruleset, Store, generate, parse, read_definition
from ggn_store.store.moves import starts
from tests.benchmarks.rounds import Figure, medians, seconds, table
from tests.oracles import python_chess as oracle
from tests.oracles import reference
from tests.support.loader import ROOT
from tests.support.postgres import server

POSITIONS = 1_000
WARM_UP = 6_000
SIZES = (1, 100, 1_000, 10_000)

_LARGE = """
title = "Queens on 19x19"
board = "19x19"
style = "G"
[pieces.Q]
betza = "Q"
[pieces.N]
betza = "N"
"""


def play(count: int, seed: int, in_sequence: bool) -> list[chess.Board]:
    """Positions of random games: all of a game, or the last one of each."""
    rng = random.Random(seed)
    found: list[chess.Board] = []
    while len(found) < count:
        board = chess.Board()
        for _ in range(rng.randrange(5, 90)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
            if in_sequence:
                found.append(board.copy(stack=False))
        if not in_sequence:
            found.append(board.copy(stack=False))
    return found[:count]


def positions_of(boards: Sequence[chess.Board]) -> list[Position]:
    """The positions of the store for boards of python-chess."""
    return [Position(squares, side=side) for squares, side in map(oracle.position_of, boards)]


def require_equal(rules: Ruleset, boards: Sequence[chess.Board], positions: Sequence[Position]) -> None:
    """The moves of the store are python-chess's."""
    for board, position in zip(boards, positions, strict=True):
        ours = {
            oracle.key_of_ours(
                m.piece, m.source, m.destination, m.effects.board.get(m.destination) if m.has_effects else None
            )
            for m in rules.moves(position)
        }
        if ours != oracle.expected_moves(board):
            raise SystemExit(f"not the same moves: {board.fen()}")


def with_python_chess(boards: Sequence[chess.Board]) -> None:
    """The yardstick."""
    for board in boards:
        list(board.pseudo_legal_moves)


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Handles ask the database for every piece of every position."""
    with patch.object(starts.Start, "keep", lambda *_: None), patch.object(starts.LaneChain, "keep", lambda *_: None):
        yield


def ask(rules: Ruleset, positions: Sequence[Position]) -> None:
    """What is measured."""
    for position in positions:
        rules.moves(position)


def unseen(store: Store, database: str, goal: float, rounds: int) -> list[Figure]:
    """Positions that were never asked, by processor time (the client's, where there is a server) and wall time."""
    try:
        rust: Any = importlib.import_module("pyrust_chess").Board
    except ImportError:
        rust = None
    ratios: dict[str, list[float]] = {"processor": [], "wall": [], "pyrust_chess, processor": []}
    for number in range(rounds):
        boards = play(2 * POSITIONS, 500 + number, True)
        random.Random(number).shuffle(boards)
        positions = positions_of(boards)
        in_rust = [rust(board.fen()) for board in boards] if rust else []
        rules = store.ruleset("chess")
        ask(rules, positions[:POSITIONS])
        spent = [[0.0, 0.0] for _ in range(3)]
        for begin in range(POSITIONS, 2 * POSITIONS, 100):
            part = slice(begin, begin + 100)
            works: list[Callable[[], object]] = [
                lambda part=part, boards=boards: with_python_chess(boards[part]),  # type: ignore[misc]
                lambda part=part, positions=positions, rules=rules: ask(rules, positions[part]),  # type: ignore[misc]
                lambda part=part, in_rust=in_rust: with_python_chess(in_rust[part]),  # type: ignore[misc]
            ]
            for work, total in zip(works, spent, strict=True):
                began = time.process_time(), time.perf_counter()
                work()
                total[0] += time.process_time() - began[0]
                total[1] += time.perf_counter() - began[1]
        require_equal(rules, boards[:100], positions[:100])
        ratios["processor"].append(spent[1][0] / spent[0][0])
        ratios["wall"].append(spent[1][1] / spent[0][1])
        ratios["pyrust_chess, processor"].append(spent[2][0] / spent[0][0])
    judged = "wall" if database == "Postgres" else "processor"
    return [
        Figure(
            f"one position, {database}, unseen, {name} time, x python-chess's",
            statistics.median(found),
            goal if name == judged else None,
        )
        for name, found in ratios.items()
        if rust or "rust" not in name
    ]


def one_position(store: Store, database: str, goals: dict[str, float], rounds: int) -> list[Figure]:
    """One position after the other through the public interface; `goals` by the way to meet them."""
    figures = []
    for name, in_sequence, keeps in (
        ("in play", True, True),
        ("scattered", False, True),
        ("nothing kept", True, False),
    ):
        rules = store.ruleset("chess")
        with nullcontext_or(nothing_kept, keeps):
            for position in positions_of(play(WARM_UP, 1, in_sequence)):
                rules.moves(position)
            ratios = []
            for number in range(rounds):
                boards = play(POSITIONS, 100 + number, in_sequence)
                positions = positions_of(boards)
                theirs = seconds(lambda boards=boards: with_python_chess(boards))  # type: ignore[misc]
                ours = seconds(lambda positions=positions, rules=rules: ask(rules, positions))  # type: ignore[misc]
                ratios.append(ours / theirs)
            require_equal(rules, boards, positions)
        title = f"one position, {database}, {name}, x python-chess's time"
        figures.append(Figure(title, statistics.median(ratios), goals.get(name)))
    return figures


@contextmanager
def nullcontext_or(context: Callable[[], Any], skip: bool) -> Iterator[None]:
    """`context`, unless it is to be skipped."""
    if skip:
        yield
    else:
        with context():
            yield


def many_positions(store: Store, database: str, goal: float | None, rounds: int) -> list[Figure]:
    """Many new positions in one call: fetched as moves, and counted in the database."""
    rules = store.ruleset("chess")
    rules.moves_batch(positions_of(play(WARM_UP, 1, False)))
    fetched, counted = [], []
    for number in range(rounds):
        boards = play(POSITIONS, 200 + number, False)
        positions = positions_of(boards)
        theirs = seconds(lambda boards=boards: with_python_chess(boards))  # type: ignore[misc]
        fetched.append(theirs / seconds(lambda positions=positions: rules.moves_batch(positions) and None))  # type: ignore[misc]
        counted.append(theirs / seconds(lambda positions=positions: rules.count_moves(positions)))  # type: ignore[misc]
        if list(rules.count_moves(positions).values()) != [len(oracle.expected_moves(board)) for board in boards]:
            raise SystemExit("not the same counts")
    require_equal(rules, boards, positions)
    return [
        Figure(
            f"batch, {database}, moves fetched, x python-chess's throughput", statistics.median(fetched), goal, True
        ),
        Figure(f"batch, {database}, counted in the database, x python-chess's throughput", statistics.median(counted)),
    ]


def loops(store: Store, rounds: int) -> list[Figure]:
    """Held to plain Python over the document's dicts: on chess in play, and on a crowded board of 19x19."""
    large = generate(read_definition(_LARGE))
    store.load(large, "large")

    def crowded(count: int, seed: int) -> list[Position]:
        rng = random.Random(seed)
        pieces = ("G:Q", "G:N", "g:q", "g:n")
        return [Position({at: rng.choice(pieces) for at in rng.sample(large.board.squares, 60)}) for _ in range(count)]

    figures = []
    for name, game, document, goal, positions, count, warm_up in (
        ("chess in play", "chess", parse((ROOT / "data" / "chess.json").read_text()).data(), 0.8, played, 400, WARM_UP),
        (f"19x19, {large.possibilities:,} possibilities", "large", large.data(), 1.2, crowded, 40, 200),
    ):
        for keeps in (True, False):
            with nullcontext_or(nothing_kept, keeps):
                rules = store.ruleset(game)
                ask(rules, positions(warm_up, 1))
                ratios = []
                for number in range(rounds):
                    asked = positions(count, 300 + number)
                    theirs = seconds(lambda document=document, asked=asked: loop(document, asked))  # type: ignore[misc]
                    ratios.append(seconds(lambda rules=rules, asked=asked: ask(rules, asked)) / theirs)  # type: ignore[misc]
                require_equal_to_loop(rules, document, asked)
            what = "" if keeps else ", nothing kept"
            figures.append(
                Figure(
                    f"one position, {name}{what}, x a plain loop's time",
                    statistics.median(ratios),
                    goal if keeps else None,
                )
            )
    return figures


def played(count: int, seed: int) -> list[Position]:
    """Positions of chess, game after game."""
    return positions_of(play(count, seed, True))


def require_equal_to_loop(rules: Ruleset, document: dict[str, Any], positions: Sequence[Position]) -> None:
    """The moves of the store are those of both loops over the document, the fast one and the oracle's."""
    for number, position in enumerate(positions):
        ours = [(m.piece, m.source, m.destination, m.ordinal) for m in rules.moves(position)]
        if sorted(ours) != sorted(plain_loop(document, position)):
            raise SystemExit(f"not the same moves: {position.data()}")
        if number < 20 and ours != reference.moves(document, dict(position.board), None, position.side):
            raise SystemExit(f"not the moves of the oracle: {position.data()}")


def loop(document: dict[str, Any], positions: Sequence[Position]) -> None:
    """The other yardstick."""
    for position in positions:
        plain_loop(document, position)


def plain_loop(document: dict[str, Any], position: Position) -> list[reference.Key]:
    """The moves of a position by a loop over the document, written to be fast."""
    board, found = position.board, []
    upper = position.side == "first"
    for square, piece in board.items():
        if piece is None or piece[0].isupper() is not upper or piece not in document:
            continue
        for destination, possibilities in document[piece].get(square, {}).items():
            for ordinal, possibility in enumerate(possibilities):
                for place, state in possibility.get("must", {}).items():
                    there = board.get(place)
                    if state == "empty":
                        if there is not None:
                            break
                    elif state == "enemy":
                        if there is None or there[0].isupper() is upper:
                            break
                    elif there != state:
                        break
                else:
                    for place, state in possibility.get("deny", {}).items():
                        there = board.get(place)
                        if there is None if state == "empty" else there == state:
                            break
                        if state == "enemy" and there is not None and there[0].isupper() is not upper:
                            break
                    else:
                        found.append((piece, square, destination, ordinal))
    return found


def many_rulesets(directory: Path, most: int, rounds: int) -> list[Figure]:
    """Chess in stores that hold ever more other rulesets, with nothing kept, warm and on new connections."""
    stores: dict[int, Store] = {}
    for size in (size for size in SIZES if size <= most):
        store = stores[size] = Store.open(str(directory / f"{size}.db"))
        store.load(ROOT / "data" / "chess.json")
        for number in range(size - 1):
            store.load(small(number), f"small-{number}")
    boards = play(POSITIONS, 9, False)
    positions = positions_of(boards)
    figures = []
    with nothing_kept():
        rules = {size: store.ruleset("chess") for size, store in stores.items()}
        for each in rules.values():
            require_equal(each, boards, positions)

        def ask_store(size: int) -> None:
            ask(rules[size], positions)

        def ask_anew(size: int) -> None:
            stores[size].close()
            drop_caches(directory / f"{size}.db")
            ask_store(size)

        warm = medians({str(size): lambda size=size: ask_store(size) for size in stores}, rounds)  # type: ignore[misc]
        cold = medians({str(size): lambda size=size: ask_anew(size) for size in stores}, rounds)  # type: ignore[misc]
    for size in list(stores)[1:]:
        goal = 1.05 if size == SIZES[-1] else None
        figures.append(Figure(f"{size:,} rulesets against 1, warm", warm[str(size)] / warm["1"], goal))
        figures.append(Figure(f"{size:,} rulesets against 1, caches dropped", cold[str(size)] / cold["1"], goal))
    for store in stores.values():
        store.close()
    return figures


def drop_caches(path: Path) -> None:
    """Ask the system to forget the file's pages."""
    import os

    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def small(number: int) -> Any:
    """A ruleset of about a thousand possibilities that differs from all others: two pieces with random leaps."""
    rng = random.Random(number)
    pieces: dict[str, Any] = {}
    for letter in "AB":
        leaps = rng.sample([(x, y) for x in range(-3, 4) for y in range(-3, 4) if x or y], 6)
        sources: dict[str, Any] = {}
        for x in range(8):
            for y in range(8):
                to = {f"{'abcdefgh'[x + dx]}{y + dy + 1}" for dx, dy in leaps if 0 <= x + dx < 8 and 0 <= y + dy < 8}
                source = f"{'abcdefgh'[x]}{y + 1}"
                sources[source] = {
                    square: [
                        {"must": {square: state}, "diff": {"board": {source: None, square: f"N{number}:{letter}"}}}
                        for state in ("empty", "enemy")
                    ]
                    for square in sorted(to)
                }
        pieces[f"N{number}:{letter}"] = {source: to for source, to in sources.items() if to}
    return pieces


def figures(rounds: int = 5, rulesets: int = 0) -> list[Figure]:
    """All figures of this file."""
    found = []
    with tempfile.TemporaryDirectory() as directory, server() as running:
        with Store.open(f"{directory}/chess.db") as store:
            store.load(ROOT / "data" / "chess.json")
            found += unseen(store, "SQLite", 1.5, rounds)
            found += one_position(store, "SQLite", {"in play": 1.0, "scattered": 1.3, "nothing kept": 1.5}, rounds)
            found += many_positions(store, "SQLite", 2.0, rounds)
            found += loops(store, rounds)
        with Store.open(running.create_database(), upgrade=True) as store:
            store.load(ROOT / "data" / "chess.json")
            found += unseen(store, "Postgres", 5.0, rounds)
            found += one_position(store, "Postgres", {"in play": 3.0, "nothing kept": 4.0}, rounds)
            found += many_positions(store, "Postgres", None, rounds)
        if rulesets:
            found += many_rulesets(Path(directory), rulesets, rounds)
    return found


def main(arguments: list[str]) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.questions", description="See the module's text.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rulesets", type=int, default=0, help="the most rulesets that a store holds")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    print(table(figures(options.rounds, options.rulesets)))
    print(f"\nPython {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
