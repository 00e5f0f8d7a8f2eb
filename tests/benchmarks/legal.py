"""How fast legal moves are told, held to `list(board.legal_moves)` of python-chess on the same positions.

    python -m tests.benchmarks.legal

Positions are those of `tests.benchmarks.questions`: unseen, in play, and with a handle that keeps no answers;
python-chess is asked in between every hundred. Processor time is the client's, wall time stands beside. All answers are
compared.
Engines on columns get all positions at once (`--columns`); what is DuckDB's alone is given, too, as if each of its
threads had a processor to itself.
Perft counts the paths of depth 4 in each engine against python-chess making the same moves and counting its last ply.
What the lanes cost is told by loads without them, in between. `play` is typed random games, and draws each board.
"""

from __future__ import annotations

import argparse
import functools
import gc
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import chess

from ggn_store import Move, Position, Ruleset, Store, find_game, generate
from ggn_store.api.play.game import Game
from ggn_store.cli.play_game import TypedGame
from ggn_store.store.rulesets import lanes
from tests.benchmarks.columnar import THREADS, medians
from tests.benchmarks.questions import POSITIONS, WARM_UP, nothing_kept, nullcontext_or, play
from tests.benchmarks.rounds import Figure, table
from tests.support.postgres import server

START = 197_281


def measure(
    rules: Ruleset, boards: Sequence[chess.Board], ask: Callable[[list[Position]], list[list[Move]]]
) -> list[float]:
    """Processor and wall time of what is asked, each as a ratio to python-chess's."""
    positions = [rules.position(fen=board.fen(en_passant="fen")) for board in boards]
    spent = [[0.0, 0.0], [0.0, 0.0]]
    for begin in range(0, len(boards), 100):
        theirs = _timed(lambda part: [list(each.legal_moves) for each in part], boards[begin : begin + 100], spent[0])
        asked = positions[begin : begin + 100]
        ours = _timed(ask, asked, spent[1])
        for position, moves, found in zip(asked, theirs, ours, strict=True):
            named = sorted(rules.move_text(each, position, "uci") for each in found)
            if sorted(each.uci() for each in moves) != named:
                raise SystemExit(f"not the same moves: {position}")
    return [ours / theirs for ours, theirs in zip(spent[1], spent[0], strict=True)]


def _each(rules: Ruleset, positions: Sequence[Position]) -> list[list[Move]]:
    return [*map(rules.legal_moves, positions)]


def _timed(work: Callable[[Any], Any], part: object, spent: list[float]) -> Any:
    # What others left is not collected while this is measured.
    gc.collect()
    gc.disable()
    began = time.process_time(), time.perf_counter()
    answer = work(part)
    spent[0] += time.process_time() - began[0]
    spent[1] += time.perf_counter() - began[1]
    gc.enable()
    return answer


def figures(store: Store, database: str, goals: dict[str, float], rounds: int) -> list[Figure]:
    """One position after the other, and many in one call."""
    found: list[Figure] = []
    for name, in_sequence, keeps in (("unseen", False, True), ("in play", True, True), ("nothing kept", True, False)):
        ratios = []
        with nullcontext_or(nothing_kept, keeps):
            for number in range(rounds):
                rules = store.ruleset("chess")
                before = play(POSITIONS if name == "unseen" else WARM_UP, 1 + number, in_sequence)
                for board in before if keeps else before[:500]:
                    rules.legal_moves(rules.position(fen=board.fen(en_passant="fen")))
                boards = play(POSITIONS, 700 + number, True)
                if not in_sequence:
                    random.Random(number).shuffle(boards)
                ratios.append(measure(rules, boards, functools.partial(_each, rules)))
        for kind, each in zip(("processor", "wall"), zip(*ratios, strict=True), strict=True):
            judged = "wall" if database == "Postgres" else "processor"
            goal = goals.get(name) if kind == judged else None
            found.append(
                Figure(f"legal moves, {database}, {name}, {kind} time, x python-chess's", statistics.median(each), goal)
            )
    rules = store.ruleset("chess")
    for board in play(WARM_UP, 1, False):
        rules.legal_moves(rules.position(fen=board.fen(en_passant="fen")))
    batches = [
        measure(rules, play(POSITIONS, 800 + number, False), lambda part: rules.moves_batch(part, legal=True))
        for number in range(rounds)
    ]
    ratio = 1 / statistics.median(processor for processor, _ in batches)
    found.append(Figure(f"legal moves, {database}, a hundred in one call, x python-chess's throughput", ratio))
    return found


def perft(store: Store, database: str, rounds: int) -> list[Figure]:
    """Perft of legal moves to depth 4, in the store's database and in DuckDB."""

    def counted(board: chess.Board, depth: int) -> int:
        if depth == 1:
            return board.legal_moves.count()
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += counted(board, depth - 1)
            board.pop()
        return total

    rules = store.ruleset("chess")
    spent: dict[str | None, list[float]] = {None: [], "duckdb": []}
    for _ in range(rounds):
        began = time.perf_counter()
        if counted(chess.Board(), 4) != START:
            raise SystemExit("python-chess counts wrongly")
        theirs = time.perf_counter() - began
        for engine, ratios in spent.items():
            result = rules.perft(rules.start, 4, engine=engine, legal=True)
            if result.count != START:
                raise SystemExit(f"not the same number of paths: {result.count}")
            ratios.append(theirs / (result.compiling + result.running))
    return [
        Figure(
            f"perft(4) of legal moves, {engine or database}, wall time, x python-chess's speed",
            statistics.median(ratios),
        )
        for engine, ratios in spent.items()
    ]


def on_columns(store: Store, rounds: int, count: int = 4_000, repeat: int = 10) -> list[Figure]:
    """Legal moves of many positions in DuckDB, which has each of them `repeat` times: throughput."""
    boards = play(count, 900, False)
    rules = store.ruleset("chess")
    positions = [rules.position(fen=board.fen(en_passant="fen")) for board in boards]
    texts = [rules.notate(position) for position in positions] * repeat
    columns = rules.columns
    engine, threats = columns.engine(threads=THREADS), columns.threats
    batch = columns.encode(texts, legal=True)
    counted = columns.count(texts[:count], legal=True)["count"].to_pylist()
    if counted != [board.legal_moves.count() for board in boards]:
        raise SystemExit("not the same numbers of legal moves")
    clock, processor = medians(
        {
            "python-chess": lambda: [list(board.legal_moves) for board in boards],
            "moves": lambda: engine.moves(batch, threats),
            "moves, FEEN encoded": lambda: engine.moves(columns.encode(texts, legal=True), threats),
            "counts by position": lambda: engine.count_by_position(batch, threats),
        },
        rounds,
    )
    found = []
    for kind, times in (("wall time", clock), (f"on {THREADS} processors without others", processor)):
        theirs = times.pop("python-chess") * repeat * (1 if times is clock else THREADS)
        for name, spent in times.items():
            goal = 10.0 if name == "moves" else None
            title = f"legal {name}, DuckDB, {kind}, x python-chess's throughput"
            found.append(Figure(title, theirs / spent, goal, at_least=True))
    return found


def loads(rounds: int) -> Figure:
    """What the lanes, which moves are joined with, add to a load of chess: a part of one without them."""
    document = generate(find_game("chess"))
    ratios = []
    for _ in range(rounds):
        spent = []
        for without in (nullcontext(), patch.object(lanes.Encoder, "rows", lambda *_: ())):
            with Store.open("sqlite://") as store, without:
                spent.append([0.0, 0.0])
                _timed(lambda document: store.load(document, "chess"), document, spent[-1])
        ratios.append(spent[0][0] / spent[1][0] - 1)
    return Figure("lanes, processor time, to a load without them", statistics.median(ratios), 0.33)


def typed(store: Store, games: int = 20, plies: int = 60) -> list[Figure]:
    """How long a move of `play` takes from the line to the board and what is said below it: the mean, and the most."""
    rng = random.Random(4)
    times = []
    for _ in range(games):
        board, game = chess.Board(), TypedGame(Game.begin(store.ruleset("chess")))
        gc.collect()
        while len(board.move_stack) < plies and not board.is_game_over():
            move = rng.choice(list(board.legal_moves))
            text = board.san(move)
            board.push(move)
            began = time.perf_counter()
            game.enter(text)
            game.ruleset.text(game.position)
            status = game.status()
            times.append(1000 * (time.perf_counter() - began))
            fen = board.fen(en_passant="fen")
            if game.ruleset.fen(game.position) != fen or bool(status) != (board.is_check() or board.is_game_over()):
                raise SystemExit(f"not the same position: {fen}: {status}")
    return [
        Figure("play, a move, mean, ms", statistics.mean(times), 100.0),
        Figure("play, a move, the slowest, ms", max(times), 100.0),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.legal", description="See the module's text.")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--columns", action="store_true", help="measure DuckDB only")
    options = parser.parse_args(arguments)
    rounds = options.rounds
    if options.columns:
        with Store.open("sqlite://") as store:
            store.load_library("chess")
            sys.stdout.write(table(on_columns(store, rounds)) + "\n")
        return 0
    found = []
    with tempfile.TemporaryDirectory() as directory, server() as running:
        addresses = {
            "SQLite": (f"sqlite:///{Path(directory) / 'store.db'}", {"in play": 1.0, "nothing kept": 2.0}),
            "Postgres": (running.create_database(), {"in play": 3.0}),
        }
        for database, (address, goals) in addresses.items():
            with Store.open(address, upgrade=True) as store:
                store.load_library("chess")
                found += figures(store, database, goals, rounds) + perft(store, database, rounds)
                if database == "SQLite":
                    found += [*on_columns(store, rounds), *typed(store), loads(3 * rounds)]
    sys.stdout.write(table(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
