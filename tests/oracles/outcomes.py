"""How games end, beside Fairy-Stockfish: random games of the library played to an end, or to a number of plies.

    python -m tests.oracles.outcomes shatranj dobutsu     these games; all that it knows, if none is named
    python -m tests.oracles.outcomes --games 10 chess     so many games of each
    python -m tests.oracles.outcomes --ini FILE orda      a variant of the variants.ini that comes with the engine

It needs pyffish: see fairy_stockfish.py, which holds the legal moves themselves to the engine's. The store plays, and
is asked after each move how the game stands; the engine, whose every call takes milliseconds, is told the moves. Its
ends are immediate (the board says so), which it is asked for after each move of a game that declares one, and now and
then of others; the lack of legal moves, optional ends (repetition, moves without progress), and the lack of material
where the game declares it, which it is asked for whenever the store says that a game is over, in the position before
that, and on the way. It judges by the moves and the store by the positions. Games that are too large for the store to
keep what it has read of them the engine plays: there the store is asked now and then, at the end, and just before. A
line is a game with how many positions agree, and what the store said of those that were over.
"""

from __future__ import annotations

import argparse
import functools
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ggn_store import Move, Position, Ruleset, Store
from ggn_store.api.moves.outcomes import judge
from ggn_store.games import library
from ggn_store.games.fairy.variants import read_variants
from ggn_store.model.moves.result import Result
from ggn_store.store.moves import fast
from tests.oracles.fairy_stockfish import known_games

MOST_PLIES = 200
RECENT = 8
"""Plies that the engine is told for what a FEN says but for the moves just before: it plays all that it is told."""
BETWEEN = 16
"""Plies from one position that the engine is asked everything of to the next, while a game goes on."""
AFTER_MOVES = frozenset(("no-move", "material", "repetition", "quiet"))
"""Outcomes that are no immediate ends of the engine's; a game that has no others is asked for these at every
`RARELY`th ply only."""
RARELY = 4
SELDOM = 64
"""Plies from one position to the next that the store is asked of while the engine plays a large game."""
STOPS = frozenset(("side-effects", "bikjang"))
"""Duties of the host by which the engine may take no move where the store still has some."""


@dataclass(frozen=True)
class Stand:
    """How the engine says that a game stands: over, and for whom."""

    is_over: bool = False
    winner: str | None = None
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.kind}, {self.winner or 'draw'}" if self.is_over else "goes on"


class Engine:
    """A game as the engine follows it, from move to move."""

    def __init__(self, rules: Ruleset) -> None:
        import pyffish

        name = self._name = rules.name
        self._needs_material = any(outcome.when == "material" for outcome in rules.play.outcomes)
        self._moves: list[str] = []
        self._starts = [pyffish.start_fen(name)]

    def play(self, move: str) -> None:
        """Make a move; the engine raises ValueError with the next question if it calls it illegal."""
        import pyffish

        if len(self._moves) % RECENT == 0 and self._moves:
            self._starts.append(pyffish.get_fen(self._name, self._starts[-1], self._moves[-RECENT:]))
        self._moves.append(move)

    def _recent(self, moves: list[str]) -> tuple[str, list[str]]:
        at = max(0, len(moves) // RECENT - 1)
        return self._starts[at], moves[at * RECENT :]

    def legal(self) -> list[str]:
        """The moves that may be made."""
        import pyffish

        return list(pyffish.legal_moves(self._name, *self._recent(self._moves)))

    def position(self, rules: Ruleset) -> Position:
        """The position."""
        import pyffish

        return rules.position(fen=pyffish.get_fen(self._name, *self._recent(self._moves)))

    def stand(self, mover: str, back: int = 0, everything: bool = True) -> Stand:
        """How the game stands, or stood so many moves before; without everything, by what the board says at once."""
        import pyffish

        moves = self._moves[: len(self._moves) - back]
        recent = self._recent(moves)
        over, value = pyffish.is_immediate_game_end(self._name, *recent)
        kind = "immediate"
        if everything and not over and not pyffish.legal_moves(self._name, *recent):
            over, value, kind = True, pyffish.game_result(self._name, *recent), "no move"
        if everything and not over:
            over, value = pyffish.is_optional_game_end(self._name, self._starts[0], moves)
            kind = "optional"
        if everything and not over and self._needs_material:
            over, value, kind = all(pyffish.has_insufficient_material(self._name, *recent)), 0, "material"
        other = "second" if mover == "first" else "first"
        return Stand(over, None if value == 0 else mover if value > 0 else other, kind) if over else Stand()


def played(rules: Ruleset, chance: random.Random) -> Iterator[tuple[Position, Stand, Result]]:
    """A random game: its positions, and how both say that it stands. Half go on where an end may be claimed."""
    engine, takes, claims = Engine(rules), chance.random(), chance.random() < 0.5
    often = 1 if any(outcome.when not in AFTER_MOVES for outcome in rules.play.outcomes) else RARELY
    position, before, claimed = rules.start, list[Position](), False
    for ply in range(MOST_PLIES + 1):
        legal = rules.legal_moves(position)
        ours = judge(rules, position, before, functools.partial(_known, legal))
        asks = (ours.is_over and not claimed) or ply % BETWEEN == 3 or ply == MOST_PLIES
        try:
            found = engine.stand(position.side, everything=asks) if asks or ply % often == 0 else Stand()
        except SystemError:  # a move before was illegal to the engine
            if not STOPS.intersection(rules.play.host):
                yield before[-1], Stand(True, kind="the move after it is illegal"), ours
            return
        if asks or found.is_over:
            yield position, found, ours
        if asks and ours.is_over and before:  # an end that comes too early shows in the position before it
            yield before[-1], engine.stand(before[-1].side, back=1), rules.outcome(before[-1], before[:-1])
        claimed = claimed or (found.is_over and found.kind == "optional")
        if not legal or (found.is_over and (claims or found.kind != "optional")) or (ours.is_over and not claimed):
            return
        move = _chosen(position, legal, chance, takes)
        engine.play(rules.move_text(move, position, "uci"))
        before.append(position)
        position = rules.apply(position, move)


def followed(rules: Ruleset, chance: random.Random) -> Iterator[tuple[Position, Stand, Result]]:
    """A random game of the engine's: some of its positions, its end and what was before that, as both judge them."""
    engine, position, before = Engine(rules), rules.start, list[Position]()
    for ply in range(MOST_PLIES + 1):
        found = engine.stand(position.side)
        if found.is_over or ply == MOST_PLIES or (before and ply % SELDOM == 0):
            yield position, found, rules.outcome(position, before)
            yield before[-1], engine.stand(before[-1].side, back=1), rules.outcome(before[-1], before[:-1])
        if found.is_over:
            return
        engine.play(chance.choice(engine.legal()))
        before.append(position)
        position = engine.position(rules)


def _known(legal: list[Move], _position: Position) -> list[Move]:
    return legal


def _chosen(position: Position, legal: list[Move], chance: random.Random, takes: float) -> Move:
    captures = [move for move in legal if position.board.get(move.destination) is not None]
    return chance.choice(captures if captures and chance.random() < takes else legal)


def agrees(found: Stand, ours: Result) -> bool:
    """Whether both say the same."""
    return (found.is_over, found.winner) == (ours.is_over, ours.winner)


def sweep(name: str, games: int, ini: str = "") -> str:
    """Compare a game; its line of the table, and the first differences."""
    began = time.perf_counter()
    ends: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    left: Counter[str] = Counter()
    shown: dict[str, str] = {}
    count = 0
    with tempfile.TemporaryDirectory() as place, Store.open(str(Path(place) / "store.db")) as store:
        if name in library.names():
            store.load_library(name)
        else:
            [variant] = read_variants(Path(ini).read_bytes(), ini, [name], allow_host_rules=True)
            assert variant.definition is not None, variant.refusals
            store.load(variant.definition, name)
        rules, chance = store.ruleset(name), random.Random(name)
        play = played
        if sum(each["possibilities"] for each in rules.piece_summaries()) > fast.KEPT_MOVES:
            play = followed
            rules.legal_moves(rules.start)  # as usual, but nothing that is read from here on is forgotten
            fast.KEPT_MOVES = fast.KEPT_ANSWERS = sys.maxsize
        for position, found, ours in (each for _ in range(games) for each in play(rules, chance)):
            count += 1
            if ours.is_over:
                ends[str(ours)] += 1
            if not ours.is_over and found.is_over and ours.unjudged:
                left[", ".join(ours.unjudged)] += 1
            elif not agrees(found, ours):
                difference = f"engine: {found}; store: {ours}"
                wrong[difference] += 1
                shown.setdefault(difference, rules.fen(position))
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
    parser.add_argument("--ini", default="", help="a variants.ini, whose variants the engine then knows, too")
    options = parser.parse_args(list(arguments))
    if options.ini:
        import pyffish

        pyffish.load_variant_config(Path(options.ini).read_text("utf-8"))
    if len(options.names) == 1:
        print(sweep(options.names[0], options.games, options.ini), flush=True)
        return
    # Each game in a process of its own: some positions make the engine crash.
    with ThreadPoolExecutor(options.processes) as pool:
        names = options.names or known_games()
        more = ["--games", str(options.games), *(["--ini", options.ini] if options.ini else [])]
        for name, told in zip(names, pool.map(lambda name: _alone(name, more), names), strict=True):
            print(told or f"{name}: no answer", flush=True)


def _alone(name: str, more: list[str]) -> str:
    command = [sys.executable, "-W", "ignore", "-m", "tests.oracles.outcomes", *more, name]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.rstrip()


if __name__ == "__main__":
    main(sys.argv[1:])
