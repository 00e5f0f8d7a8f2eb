"""Write the index of the library, `data/games/index.csv`: what is in each game without generating it.

`python -m tests.support.library_index` writes the whole of it; with names, only what it says of these games.
"""

from __future__ import annotations

import csv
import hashlib
import io
import sys
from dataclasses import fields

from ggn_store.games import library
from ggn_store.games.generate import pieces
from ggn_store.games.library import Game
from ggn_store.games.rules import Definition
from ggn_store.model.document import Piece, canonical_text

PATH = library.directory() / library.INDEX


def survey(name: str, definition: Definition) -> Game:
    """What the index says of a game, found out by generating it."""
    count = {"pieces": 0, "possibilities": 0, "conditions": 0}

    def counted(piece: Piece) -> Piece:
        count["pieces"] += 1
        count["possibilities"] += piece.possibilities
        count["conditions"] += piece.conditions
        return piece

    sha256 = hashlib.sha256()
    for part in canonical_text("diff", None, map(counted, pieces(definition))):
        sha256.update(part.encode())
    board = definition.board.shape_text or f"{len(definition.board.squares)} squares"
    return Game(
        name=name,
        title=definition.title,
        board=board,
        tier=definition.tier,
        duties=tuple(duty.name for duty in definition.said.duties),
        host=definition.said.host,
        **count,
        sha256=sha256.hexdigest(),
    )


def text(games: list[Game]) -> str:
    """The index: one game a line, by name, so that versions compare line by line."""
    written = io.StringIO()
    columns = [field.name for field in fields(Game)]
    writer = csv.DictWriter(written, columns, lineterminator="\n")
    writer.writeheader()
    for game in sorted(games, key=lambda game: game.name):
        writer.writerow(game.data() | {"duties": " ".join(game.duties), "host": " ".join(game.host)})
    return written.getvalue()


def main(wanted: list[str]) -> None:
    """Find out what is in the games, and write it down."""
    known = {} if not wanted else {name: game for name, game in library.index().items() if name in library.names()}
    for name in wanted or library.names():
        known[name] = survey(name, library.read_game(name))
        print(f"{name}: {known[name].possibilities:,} possibilities", file=sys.stderr)
    PATH.write_text(text(list(known.values())), encoding="utf-8", newline="")


if __name__ == "__main__":
    main(sys.argv[1:])
