"""Moves as text against other programs: `python -m tests.oracles.move_texts [GAME...] [--positions N]`.

UCI of every game that Fairy-Stockfish has, in positions of its own play and in targeted ones: each of its legal moves
is read as one move that the rules allow, and written as it was. SAN of chess and crazyhouse against python-chess, with
the marks of check and mate; USI of shogi against python-shogi. Pyffish and python-shogi are in the extra `oracles`.
"""

from __future__ import annotations

import argparse
import functools
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

import chess
import chess.variant

from ggn_store import MoveError, Position, Ruleset, Store
from ggn_store.games import library
from tests.oracles.fairy_stockfish import known_games, samples
from tests.oracles.play import Game

Differences = list[str]


@functools.cache
def rules_of(name: str) -> Ruleset:
    """A game of the library, in a store in memory."""
    store = Store.open(":memory:")
    store.load_library(name)
    return store.ruleset(name)


def compared(rules: Ruleset, position: Position, texts: Iterable[str], notation: str) -> Differences:
    """The texts that are not read as one move, or that are written otherwise."""
    found = []
    for text in texts:
        try:
            (move,) = rules.read_move(text, position, notation, pseudo=True).moves
            written = rules.move_text(move, position, notation)
        except (MoveError, ValueError) as error:
            written = str(error)
        if written != text:
            found.append(f"{text}: {written}")
    return found


def uci(name: str, count: int) -> Iterator[tuple[Ruleset, Position, list[str]]]:
    """Positions of a game with the moves that Fairy-Stockfish allows there."""
    game = Game(library.path_of(name).read_text("utf-8"), name)
    rules = rules_of(name)
    for each in samples(name, game, count):
        yield rules, game.parse(each.fen), list(each.moves)


def played(board: Callable[[], chess.Board], count: int) -> Iterator[chess.Board]:
    """Positions of random games, some of which prefer checks, captures and what is rare."""
    chance = random.Random(count)
    found = 0
    while found < count:
        now, prefers_checks = board(), chance.random() < 0.5
        for _ in range(chance.randrange(4, 160)):
            moves = list(now.legal_moves)
            if not moves:
                break
            rare = [move for move in moves if move.promotion or move.drop or now.gives_check(move)]
            now.push(chance.choice(rare if rare and prefers_checks and chance.random() < 0.4 else moves))
            if chance.random() < 0.15 and any(now.legal_moves):
                found += 1
                yield now.copy(stack=False)


def san(name: str, count: int) -> Iterator[tuple[Ruleset, Position, list[str]]]:
    """Positions with the moves of python-chess, which leaves out the P of a dropped pawn."""
    board = chess.Board if name == "chess" else chess.variant.CrazyhouseBoard
    rules = rules_of(name)
    for each in played(board, count):
        texts = [each.san(move) for move in each.legal_moves]
        yield rules, rules.position(fen=each.fen(en_passant="fen")), ["P" * (text[0] == "@") + text for text in texts]


def usi(name: str, count: int) -> Iterator[tuple[Ruleset, Position, list[str]]]:
    """Positions of random games with the moves of python-shogi."""
    import shogi

    rules = rules_of(name)
    chance = random.Random(count)
    found = 0
    while found < count:
        board = shogi.Board()
        for _ in range(chance.randrange(4, 160)):
            moves = [move.usi() for move in board.legal_moves]
            if not moves:
                break
            rare = [each for each in moves if "*" in each or each.endswith("+")]
            board.push_usi(chance.choice(rare if rare and chance.random() < 0.4 else moves))
            moves = [move.usi() for move in board.legal_moves]
            if moves and chance.random() < 0.15:
                found += 1
                yield rules, rules.position(sfen=board.sfen()), moves


def sweep(title: str, notation: str, positions: Iterator[tuple[Ruleset, Position, list[str]]]) -> None:
    """Compare, and print a line."""
    count = moves = 0
    wrong: Differences = []
    for rules, position, texts in positions:
        count, moves = count + 1, moves + len(texts)
        wrong += compared(rules, position, texts, notation)
    print(f"{title:20} {notation} {count:5} positions {moves:8,} moves  {len(wrong)} different", flush=True)
    for line in wrong[:5]:
        print(f"  {line}")


def main(arguments: list[str]) -> None:
    """Compare all, or the games that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.move_texts", description=__doc__)
    parser.add_argument("games", nargs="*")
    parser.add_argument("--positions", type=int, default=60)
    options = parser.parse_args(arguments)
    if len(options.games) != 1:
        for name in options.games or known_games():
            # Each game in a process of its own: some positions make the engine crash.
            again = [sys.executable, "-m", "tests.oracles.move_texts", name, "--positions", str(options.positions)]
            if subprocess.run(again, check=False, stderr=subprocess.DEVNULL).returncode:
                print(f"{name}: the engine crashed", flush=True)
        return
    (name,) = options.games
    sweep(name, "uci", uci(name, options.positions))
    if name in OTHERS:
        notation, positions = OTHERS[name]
        sweep(name, notation, positions(name, 10 * options.positions))


OTHERS = {"chess": ("san", san), "crazyhouse": ("san", san), "shogi": ("usi", usi)}

if __name__ == "__main__":
    main(sys.argv[1:])
