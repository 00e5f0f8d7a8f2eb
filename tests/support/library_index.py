"""Write the index of the library, `data/games/index.csv`: what is in each game without generating it.

`python -m tests.support.library_index` writes the whole of it; with names, only what it says of these games.
"""

from __future__ import annotations

import csv
import hashlib
import io
import sys

from ggn_store.api.loading import incoming
from ggn_store.api.loading.games import library_files
from ggn_store.games import library, playing
from ggn_store.games.generate import dialect, pieces
from ggn_store.games.library import LibraryGame
from ggn_store.games.rules import Definition
from ggn_store.model.documents.document import Document, Piece, canonical_text
from ggn_store.model.moves import play_text
from ggn_store.notation.hand import HAND

PATH = library.directory() / library.INDEX


def survey(name: str, definition: Definition) -> LibraryGame:
    """What the index says of a game, found out by generating it."""
    count = {"pieces": 0, "possibilities": 0, "conditions": 0}

    def counted(piece: Piece) -> Piece:
        count["pieces"] += 1
        count["possibilities"] += piece.possibilities
        count["conditions"] += piece.conditions
        return piece

    sha256 = hashlib.sha256()
    variables = playing.envelope(definition).variables
    for part in canonical_text(dialect(definition), None, map(counted, pieces(definition)), variables):
        sha256.update(part.encode())
    board = definition.board.shape_text or f"{len(definition.board.squares)} squares"
    return LibraryGame(
        name=name,
        title=definition.title,
        board=board,
        tier=definition.tier,
        duties=tuple(duty.name for duty in definition.said.duties),
        host=definition.said.host,
        pieces=count["pieces"],
        possibilities=count["possibilities"],
        conditions=count["conditions"],
        sha256=sha256.hexdigest(),
    )


def survey_description(name: str) -> LibraryGame:
    """What the index says of a game description, found out by compiling it."""
    [file] = library_files([name])
    [entry] = incoming.read(file)
    document = entry.read()
    assert isinstance(document, Document)
    said = play_text.parse(document.envelope.play or "{}")
    squares = {square for piece in document.pieces for square in piece.squares()} - {HAND}
    entries = [possibility for piece in document.pieces for *_, possibility in piece.entries()]
    return LibraryGame(
        name=name,
        title=document.envelope.title or name,
        board=document.envelope.board or f"{len(squares)} squares",
        tier=None,
        duties=tuple(duty.name for duty in said.duties),
        host=said.host,
        pieces=len(document.pieces),
        possibilities=len(entries),
        conditions=sum(piece.conditions for piece in document.pieces),
        sha256=hashlib.sha256(document.canonical().encode()).hexdigest(),
    )


def text(games: list[LibraryGame]) -> str:
    """The index: one game a line, by name, so that versions compare line by line."""
    written = io.StringIO()
    writer = csv.DictWriter(written, library.COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for game in sorted(games, key=lambda game: game.name):
        writer.writerow(game.data() | {"duties": " ".join(game.duties), "host": " ".join(game.host)})
    return written.getvalue()


def main(wanted: list[str]) -> None:
    """Find out what is in the games, and write it down."""
    there = [*library.names(), *library.descriptions(), *library.large()]
    known = {} if not wanted else {name: game for name, game in library.index().items() if name in there}
    for name in wanted or there:
        described = name in library.descriptions()
        known[name] = survey_description(name) if described else survey(name, library.read_game(name))
        print(f"{name}: {known[name].possibilities:,} possibilities", file=sys.stderr)
    PATH.write_text(text(list(known.values())), encoding="utf-8", newline="")


if __name__ == "__main__":
    main(sys.argv[1:])
