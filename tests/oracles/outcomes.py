"""How games end, beside Fairy-Stockfish: random games of the library played to an end, or to a number of plies.

    python -m tests.oracles.outcomes shatranj dobutsu     these games; all that it knows, if none is named
    python -m tests.oracles.outcomes --games 10 chess     so many games of each

It needs pyffish: see fairy_stockfish.py. It plays; the store is asked how each game stands at its end, whenever the
engine says that it is over, and at some positions on the way. The engine's ends are immediate (the board says so), the
lack of legal moves, and optional (repetition, moves without progress), which it judges by the moves and the store by
the positions. A line is a game with how many positions agree, and what the store said of those that were over.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ggn_store import Ruleset, Store
from ggn_store.model.position import Position
from ggn_store.model.result import Result
from ggn_store.notation import cell
from tests.oracles.fairy_stockfish import TOKEN, known_games, mates, may_not_mate

MOST_PLIES = 200
RECENT = 8
"""Plies that the engine is told for what a FEN says but for the moves just before: it plays all that it is told."""


@dataclass(frozen=True)
class Stand:
    """A position of a game with all before it, and how the engine says that it stands: over, and for whom."""

    fens: tuple[str, ...]
    is_over: bool
    winner: str | None
    kind: str

    def words(self) -> str:
        return f"{self.kind}, {self.winner or 'draw'}" if self.is_over else "goes on"


class Engine:
    """Random games of the engine, which break off before a drop that must not mate and does."""

    def __init__(self, name: str, drops: Collection[str], seed: str = "1") -> None:
        self._name = name
        self._drops = drops
        self._chance = random.Random(f"{name} {seed}")

    def stands(self) -> Iterator[Stand]:
        """A game: its end, what may be claimed to end it on the way, and some positions between."""
        import pyffish

        moves: list[str] = []
        fens = [pyffish.start_fen(self._name)]
        takes, claims = self._chance.random(), self._chance.random() < 0.5
        last: Stand | None = None
        while True:
            found, legal = self._stand(moves, fens)
            is_end = found.is_over and (found.kind != "optional" or claims)
            if is_end and last is not None:
                yield last  # an end that comes too early shows in the position before it
            if found.is_over or len(moves) % 16 == 3 or len(moves) == MOST_PLIES:
                yield found
            last = found
            if is_end or not legal or len(moves) >= MOST_PLIES:
                return
            occupied = _occupied(fens[-1])
            captures = [move for move in legal if (to := _DESTINATION.match(move)) and to[1] in occupied]
            move = self._chance.choice(captures if captures and self._chance.random() < takes else legal)
            if move[:2] in self._drops and mates(self._name, fens[-1], move):
                return
            moves.append(move)
            fens.append(pyffish.get_fen(self._name, fens[-1], [move]))

    def _stand(self, moves: list[str], fens: list[str]) -> tuple[Stand, list[str]]:
        """How a game stands, and its legal moves."""
        import pyffish

        name = self._name
        recent = fens[-1 - RECENT :][0], moves[-RECENT:]
        legal = pyffish.legal_moves(name, *recent)
        over, value = pyffish.is_immediate_game_end(name, *recent)
        kind = "immediate"
        if not over and not legal:
            over, value, kind = True, pyffish.game_result(name, *recent), "no move"
        if not over and (_clock(fens[-1]) >= 30 or len({_unclocked(fen) for fen in fens}) < len(fens)):
            over, value = pyffish.is_optional_game_end(name, fens[0], moves)
            kind = "optional"
        mover = "first" if fens[-1].split()[1] == "w" else "second"
        other = "second" if mover == "first" else "first"
        winner = None if not over or value == 0 else mover if value > 0 else other
        return Stand(tuple(fens), over, winner, kind), legal


_DESTINATION = re.compile(r"[a-z][0-9]+([a-z][0-9]+)")


def _clock(fen: str) -> int:
    return int(fen.split()[-2])


def _unclocked(fen: str) -> str:
    return " ".join(fen.split()[:-2])


def _occupied(fen: str) -> set[str]:
    """The squares of a FEN that have a piece."""
    ranks = fen.split()[0].partition("[")[0].split("/")
    found = set()
    for rank, text in enumerate(ranks):
        file = 0
        for token in TOKEN.findall(text):
            if token.isdigit():
                file += int(token)
                continue
            found.add(cell.text((file, len(ranks) - 1 - rank)))
            file += 1
    return found


class Judge:
    """How the store says that games stand."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        self._position = functools.lru_cache(2 * MOST_PLIES)(self._read)

    def __call__(self, found: Stand) -> Result:
        *before, position = map(self._position, found.fens)
        return self._ruleset.outcome(position, before)

    def _read(self, fen: str) -> Position:
        return self._ruleset.position(fen=fen)


def agrees(found: Stand, ours: Result) -> bool:
    """Whether both say the same."""
    return (found.is_over, found.winner) == (ours.is_over, ours.winner)


def sweep(name: str, games: int) -> str:
    """Compare a game; its line of the table, and the first differences."""
    began = time.perf_counter()
    ends: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    left: Counter[str] = Counter()
    shown: dict[str, str] = {}
    count = 0
    with tempfile.TemporaryDirectory() as place, Store.open(str(Path(place) / "store.db")) as store:
        store.load_library(name)
        rules = store.ruleset(name)
        judged, engine = Judge(rules), Engine(name, may_not_mate(rules))
        for found in itertools.chain.from_iterable(engine.stands() for _ in range(games)):
            ours = judged(found)
            count += 1
            if ours.is_over:
                ends[str(ours)] += 1
            if not ours.is_over and found.is_over and ours.unjudged:
                left[", ".join(ours.unjudged)] += 1
            elif not agrees(found, ours):
                difference = f"engine: {found.words()}; store: {ours}"
                wrong[difference] += 1
                shown.setdefault(difference, found.fens[-1])
    verdict = "agrees" if not wrong else f"DIFFERS in {wrong.total()}"
    told = ", ".join(f"{end} {number}" for end, number in ends.most_common())
    lines = [f"{name:20} {count:6} positions  {verdict:16} {told} ({time.perf_counter() - began:.0f} s)"]
    lines += [f"    {number} ends left over: {each}" for each, number in left.items()]
    lines += [f"    {number} x {each}: {shown[each]}" for each, number in wrong.most_common(4)]
    return "\n".join(lines)


def main(arguments: Iterable[str]) -> None:
    """Sweep the games that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.outcomes", description="See the module's text.")
    parser.add_argument("names", nargs="*", metavar="GAME")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(list(arguments))
    if len(options.names) == 1:
        print(sweep(options.names[0], options.games), flush=True)
        return
    # Each game in a process of its own: some positions make the engine crash.
    with ThreadPoolExecutor(options.processes) as pool:
        names = options.names or known_games()
        for name, told in zip(names, pool.map(lambda name: _alone(name, options.games), names), strict=True):
            print(told or f"{name}: no answer", flush=True)


def _alone(name: str, games: int) -> str:
    command = [sys.executable, "-W", "ignore", "-m", "tests.oracles.outcomes", "--games", str(games), name]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.rstrip()


if __name__ == "__main__":
    main(sys.argv[1:])
