"""Write the index of the library, `data/games/index.csv`: what is in each game without generating it.

`python -m tests.support.library_index` writes the whole of it; with names, only what it says of these games.
"""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import fields

from ggn_store.games import library
from ggn_store.games.library import Game

PATH = library.directory() / library.INDEX


def text(games: list[Game]) -> str:
    """The index: one game a line, by name, so that versions compare line by line."""
    written = io.StringIO()
    columns = [field.name for field in fields(Game)]
    writer = csv.DictWriter(written, columns, lineterminator="\n")
    writer.writeheader()
    for game in sorted(games, key=lambda game: game.name):
        writer.writerow(game.data() | {"host": " ".join(game.host)})
    return written.getvalue()


def main(wanted: list[str]) -> None:
    """Find out what is in the games, and write it down."""
    known = {} if not wanted else {name: game for name, game in library.index().items() if name in library.names()}
    for name in wanted or library.names():
        known[name] = library.survey(name, library.read_game(name))
        print(f"{name}: {known[name].possibilities:,} possibilities", file=sys.stderr)
    PATH.write_text(text(list(known.values())), encoding="utf-8", newline="")


if __name__ == "__main__":
    main(sys.argv[1:])
