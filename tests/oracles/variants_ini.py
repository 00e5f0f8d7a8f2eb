"""What `export --format variants.ini` writes of the library, loaded into Fairy-Stockfish and played there.

    python -m tests.oracles.variants_ini [GAME...]    a line for each game: positions that agree, and what is left out

It needs pyffish: see fairy_stockfish.py. Positions are of the engine's own random games and of the store's; in each the
legal moves are compared by their names, and the FEN after some of them.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ggn_store import Position
from ggn_store.errors import ConversionError
from ggn_store.games import library
from ggn_store.games.fairy.write import WrittenSection, write
from ggn_store.games.rules import Definition
from tests.oracles.fairy_stockfish import PASS, Sample, differences, sample
from tests.oracles.play import Game


@dataclass(frozen=True)
class Compared:
    """A section in the engine: whether that has it, how many positions were compared, and what differs."""

    section: WrittenSection
    is_loaded: bool
    positions: int = 0
    wrong: tuple[str, ...] = ()


def compare(definition: Definition, reference: str, count: int) -> Compared:
    """Load the section of a definition into the engine, and compare so many positions of either's games."""
    import pyffish

    section = write(definition, reference)
    name = reference.replace("@", "-")
    pyffish.load_variant_config(section.text)
    if name not in pyffish.variants():
        return Compared(section, False)
    game, chance = Game(definition), random.Random(name)
    texts = dict.fromkeys([*_of_engine(name, chance, count), *_of_store(game, chance, count)])
    samples = [each for text in texts if (each := sample(name, game, text, chance)) is not None]
    wrong = [told for each in samples for told in _readable(game, each)]
    return Compared(section, True, len(samples), tuple(wrong))


def _readable(game: Game, each: Sample) -> list[str]:
    try:
        return differences(game, each)
    except ValueError as error:  # a position that only the engine knows
        return [str(error)]


def _of_engine(name: str, chance: random.Random, count: int) -> Iterator[str]:
    import pyffish

    text = pyffish.start_fen(name)
    for _ in range(count):
        yield text
        for _ in range(chance.randrange(1, 7)):
            moves = pyffish.legal_moves(name, text, [])
            if not moves or pyffish.is_immediate_game_end(name, text, [])[0]:
                text = pyffish.start_fen(name)
                break
            rare = [move for move in moves if "@" in move or not move[-1].isdigit()]
            text = pyffish.get_fen(name, text, [chance.choice(rare if rare and chance.random() < 0.5 else moves)])


def _of_store(game: Game, chance: random.Random, count: int) -> Iterator[str]:
    if game.definition.start is None:
        return
    start = position = Position.from_feen(game.definition.start)
    for _ in range(count):
        for _ in range(chance.randrange(1, 7)):
            moves = {name: move for name, move in game.legal(position).items() if not PASS.fullmatch(name)}
            if not moves:
                position = start
                break
            position = moves[chance.choice(sorted(moves))].after
        yield game.fen(position)


# --- the command ---


def line(name: str, count: int) -> str:
    """The line of a game, and the first differences."""
    definition = library.read_game(name)
    try:
        found = compare(definition, f"{name}@1", count)
    except ConversionError as error:
        return f"{name:24} refused: {error}"
    left, differing = found.section.left_out, sum(each.moves for each in found.section.left_out)
    agreed = found.positions - len({text.partition(": ")[0] for text in found.wrong})
    head = f"{name:24} {'loaded' if found.is_loaded else 'NOT LOADED':10} {agreed:4} of {found.positions:4} positions"
    told = f"{len(left)} left out, moves differ for {differing}" if left else "whole"
    return "\n".join([f"{head}  {told}", *(f"  {text}" for text in found.wrong[:2]), *(f"  - {each}" for each in left)])


def main(arguments: Iterable[str]) -> None:
    """Compare the games that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.variants_ini", description="See the module's text.")
    parser.add_argument("games", nargs="*", help="all of the library, if none is named")
    parser.add_argument(
        "--positions", type=int, default=20, help="of the games of the engine, and as many of the store"
    )
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(list(arguments))
    if len(options.games) == 1:
        print(line(options.games[0], options.positions), flush=True)
        return
    # Each game in a process of its own: some positions make the engine crash.
    names = options.games or library.names()
    with ThreadPoolExecutor(options.processes) as pool:
        for name, told in zip(names, pool.map(lambda name: alone(name, options.positions), names), strict=True):
            print(told or f"{name}: the engine crashed", flush=True)


def alone(name: str, count: int) -> str:
    """The line of a game, made in a process of its own; nothing where that crashes."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.oracles.variants_ini", "--positions", str(count), name]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.rstrip()


if __name__ == "__main__":
    main(sys.argv[1:])
