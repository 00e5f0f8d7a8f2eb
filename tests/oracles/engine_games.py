"""Games that other programs play through `ggn-store uci`: `python -m tests.oracles.engine_games [GAME...] [--games N]`.

python-chess's engine client plays chess and the variants that it has; in other games the moves are held to those of
Fairy-Stockfish (pyffish, in the extra `oracles`). Every move must be legal there, and every end be the same.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.engine
import chess.variant

from ggn_store import Store

PYTHON_CHESS = (
    "chess",
    "antichess",
    "crazyhouse",
    "kingofthehill",
    "3check",
    "horde",
    "racingkings",
    "giveaway",
    "chess960",
)
FAIRY = (
    "makruk",
    "xiangqi",
    "shogi",
    "capablanca",
    "seirawan",
    "minishogi",
    "kyotoshogi",
    "grand",
    "dobutsu",
    "losers",
)
# How long a game may be: enough for most to end, if only by what has to be claimed.
PLIES = 1_000
# Draws of Fairy-Stockfish that a ruleset leaves to its host, by name.
BY_HOST = {"chasing", "counting"}


@dataclass
class Told:
    """How games ended, and what was wrong in them."""

    ends: Counter[str] = field(default_factory=Counter)
    plies: int = 0
    by_host: int = 0
    wrong: list[str] = field(default_factory=list)


def command(store: str, name: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "ggn_store", "--db", store, "uci", name, *options]


def by_python_chess(store: str, name: str, games: int, choice: str = "random", plies: int = PLIES) -> Told:
    """Let python-chess's client play games of the engine against itself."""
    told = Told()
    with (
        Store.open(store) as opened,
        chess.engine.SimpleEngine.popen_uci(
            command(store, name, "--seed", "1", "--choice", choice), timeout=120
        ) as engine,
    ):
        rules = opened.ruleset(name)
        for number in range(games):
            start = number * 37 % 960
            board = begun(name, start)
            positions = [rules.position(fen=str(start)) if name == "chess960" else rules.start]
            while board.ply() < plies:
                result = rules.outcome(positions[-1], positions[:-1])
                if result.score != end_of(board):
                    told.wrong.append(f"{board.fen()}: {result}, not {end_of(board)}")
                    break
                if result.is_over:
                    break
                try:
                    move = engine.play(board, chess.engine.Limit(nodes=1), game=number).move
                except chess.engine.EngineError as error:
                    told.wrong.append(f"{board.fen()}: {error}")
                    break
                if move is None:
                    told.wrong.append(f"{board.fen()}: no move")
                    break
                positions.append(rules.apply(positions[-1], rules.parse_move(move.uci(), positions[-1], "uci")))
                board.push(move)
            told.plies += board.ply()
            told.ends[end_of(board)] += 1
    return told


def begun(name: str, start: int) -> chess.Board:
    """A board at the beginning of a game; of chess960 at a start by its number."""
    if name == "chess960":
        return chess.Board.from_chess960_pos(start)
    return chess.Board() if name == "chess" else chess.variant.find_variant(name)()


def end_of(board: chess.Board) -> str:
    """The result, draws included that have to be claimed; of chess alone, that nobody can mate any more."""
    if board.is_variant_end() or board.is_checkmate() or board.is_stalemate():
        return board.result()
    if type(board) is chess.Board and board.is_insufficient_material():
        return "1/2-1/2"
    return "1/2-1/2" if board.is_repetition(3) or board.halfmove_clock >= 100 else "*"


def fairy_end(name: str, start: str, moves: list[str]) -> str:
    """The result by Fairy-Stockfish, draws included that have to be claimed."""
    import pyffish

    ends, value = pyffish.is_immediate_game_end(name, start, moves)
    if not ends:
        ends, value = pyffish.is_optional_game_end(name, start, moves)
    if not pyffish.legal_moves(name, start, moves):
        ends, value = True, pyffish.game_result(name, start, moves)
    if not ends or not value:
        return "1/2-1/2" if ends else "*"
    return "1-0" if (value > 0) == (len(moves) % 2 == 0) else "0-1"


class Pipe:
    """An engine that is asked line by line."""

    def __init__(self, arguments: list[str]) -> None:
        self._process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *lines: str, until: str) -> list[str]:
        """The answers to some lines, up to the one that begins with `until`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()
        found: list[str] = []
        while not (found and found[-1].startswith(until)):
            line = self._process.stdout.readline()
            if not line:
                raise EOFError(f"the engine ended after {found}")
            found.append(line.rstrip("\n"))
        return found

    def close(self) -> None:
        self._process.communicate("quit\n", timeout=60)


@contextmanager
def engine_of(store: str, name: str) -> Iterator[Pipe]:
    pipe = Pipe(command(store, name, "--seed", "1"))
    try:
        yield pipe
    finally:
        pipe.close()


def by_fairy_stockfish(store: str, name: str, games: int) -> Told:
    """Hold the moves of the engine's games to those of Fairy-Stockfish."""
    import pyffish

    told, start, chance = Told(), pyffish.start_fen(name), random.Random(1)
    with Store.open(store) as opened, engine_of(store, name) as engine:
        rules = opened.ruleset(name)
        for _ in range(games):
            moves: list[str] = []
            positions = [rules.start]
            while len(moves) < PLIES:
                result, known = rules.outcome(positions[-1], positions[:-1]), fairy_end(name, start, moves)
                if not result.is_over and known == "1/2-1/2" and BY_HOST & {*result.unjudged}:
                    told.by_host += 1
                    break
                if result.score != known:
                    told.wrong.append(f"{pyffish.get_fen(name, start, moves)}: {result}, not {known}")
                    break
                if result.is_over:
                    break
                legal = pyffish.legal_moves(name, start, moves)
                line = f"position startpos moves {' '.join(moves)}".removesuffix(" moves ")
                *said, best = engine.ask(line, "go", until="bestmove")
                move = best.removeprefix("bestmove ")
                if move not in legal:
                    told.wrong.append(f"{pyffish.get_fen(name, start, moves)}: {move} {said}")
                    break
                # Half of the moves are the other program's, so that the engine has to read them.
                moves.append(move if chance.random() < 0.5 else chance.choice(legal))
                positions.append(rules.apply(positions[-1], rules.parse_move(moves[-1], positions[-1], "uci")))
            told.plies += len(moves)
            told.ends[fairy_end(name, start, moves)] += 1
    return told


def play(store: str, name: str, games: int) -> Told:
    """Games of one kind, by the program that knows it."""
    return (by_python_chess if name in PYTHON_CHESS else by_fairy_stockfish)(store, name, games)


def main(arguments: list[str]) -> None:
    """Play, and print a line a game."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.engine_games", description=__doc__)
    parser.add_argument("names", nargs="*", default=[*PYTHON_CHESS, *FAIRY])
    parser.add_argument("--games", type=int, default=20)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        address = str(Path(directory) / "store.db")
        with Store.open(address) as store:
            for name in options.names:
                store.load_library(name)
        for name in options.names:
            told = play(address, name, options.games)
            ends = ", ".join(f"{end} {count}" for end, count in sorted(told.ends.items()))
            ends += f", left to the host {told.by_host}" if told.by_host else ""
            print(
                f"{name:16} {options.games:4} games {told.plies:7,} plies  {len(told.wrong)} wrong  {ends}", flush=True
            )
            for line in told.wrong[:3]:
                print(f"  {line}")


if __name__ == "__main__":
    main(sys.argv[1:])
