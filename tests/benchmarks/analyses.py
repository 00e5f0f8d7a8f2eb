"""How long each analysis of one game takes, as a ratio to `stats` of the same game.

    python -m tests.benchmarks.analyses                     chess and shogi, both databases
    python -m tests.benchmarks.analyses xiangqi --rounds 3

Rounds alternate. `same-movers` looks through the one game, and `compare` compares it with chess (chess: with xiangqi).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ggn_store import Store
from tests.benchmarks.rounds import Figure, medians, table
from tests.benchmarks.views import analyze
from tests.support.postgres import server

OTHER = ("chess", "xiangqi")


def works(store: Store, game: str) -> dict[str, Callable[[], object]]:
    """The analyses of a game, by name."""
    ruleset, analysis = store.ruleset(game), store.analysis()
    of_one, board = ruleset.analysis(), ruleset.board
    square, piece = board.squares[len(board.squares) // 2], ruleset.pieces[0]
    other = next(name for name in OTHER if name != game)
    return {
        "stats": of_one.stats,
        "mobility": of_one.mobility,
        "coverage": of_one.coverage,
        "who-reaches": lambda: of_one.who_reaches(square),
        "uses": lambda: of_one.uses(piece),
        "dead": of_one.dead,
        "symmetry": of_one.symmetries,
        "same-movers": lambda: analysis.same_movers([game]),
        "compare": lambda: analysis.compare(game, other),
    }


def measure(store: Store, games: list[str], rounds: int) -> list[Figure]:
    """The time of each analysis, x the time of `stats`."""
    store.load_library(*{*games, *OTHER})
    analyze(store)
    figures = []
    for game in games:
        taken = medians(works(store, game), rounds)
        figures += [
            Figure(
                f"{name} of {game}, x stats, {store.session.database.name}",
                seconds / taken["stats"],
                note=f"{seconds * 1000:,.0f} ms",
            )
            for name, seconds in taken.items()
        ]
    return figures


def main(arguments: list[str]) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.analyses", description="See the module's text.")
    parser.add_argument("games", nargs="*", default=["chess", "shogi"])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory() as directory,
        Store.open(str(Path(directory) / "games.db"), upgrade=True) as store,
    ):
        figures = measure(store, options.games, options.rounds)
    with server() as running, Store.open(running.create_database(), upgrade=True) as store:
        figures += measure(store, options.games, options.rounds)
    print(table(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
