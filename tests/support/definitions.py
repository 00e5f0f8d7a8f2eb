"""Definitions of games on few lines, and what the documents that are generated from them say."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ggn_store import problems
from ggn_store.games import library
from ggn_store.games.definition import Definition, read, written
from ggn_store.games.generate import generate
from ggn_store.model.documents.document import Document
from ggn_store.notation import toml
from tests.oracles import reference

DATA = Path(__file__).parents[2] / "data"

KINGS = """
[pieces.K]
betza = "K"
terminal = true
"""


@functools.cache
def shipped_game(name: str) -> Definition:
    """A game of the library, which one process reads once."""
    return library.read_game(name)


@functools.cache
def shipped(name: str) -> str:
    """All of a game of the library, with a table for each piece."""
    return written(toml.load(str(shipped_game(name).text)))


def game(text: str, board: str = "8x8", style: str = "C") -> Definition:
    """A definition that leaves its head to this function."""
    head = f'title = "A game"\nboard = "{board}"\nstyle = "{style}"\n'
    return read((head if "board" not in text.split("[")[0] else 'title = "A game"\n') + text)


@functools.cache
def shipped_document(name: str) -> Document:
    return generate(read(shipped(name), f"{name}.toml"))


def document(text: str, board: str = "8x8", style: str = "C") -> Document:
    """The document of a definition, which has to be valid."""
    made = generate(game(text, board, style))
    assert problems(made.canonical(), envelope=made.envelope) == []
    return made


def entries(made: Document, piece: str, source: str, destination: str) -> list[dict[str, Any]]:
    """The possibilities of one entry as JSON data, none where the entry is missing."""
    return [
        possibility.data("diff")
        for each in made.pieces
        if each.identifier == piece
        for at, to, _, possibility in each.entries()
        if (at.square, to.square) == (source, destination)
    ]


def destinations(made: Document, piece: str, source: str) -> list[str]:
    """Where the document has rules for a piece to go, whatever the conditions."""
    return [
        to.square
        for each in made.pieces
        if each.identifier == piece
        for at in each.sources
        if at.square == source
        for to in at.destinations
    ]


def sources(made: Document, piece: str) -> list[str]:
    return [at.square for each in made.pieces if each.identifier == piece for at in each.sources]


def moves(
    made: Document, board: Mapping[str, str | None], hands: Mapping[str, int] | None = None, side: str = "first"
) -> list[tuple[str, str, str, dict[str, Any]]]:
    """What can be done in a position, as tests/oracles/reference.py judges conditions."""
    return list(_moves(made, board, hands or {}, side))


def _moves(
    made: Document, board: Mapping[str, str | None], hands: Mapping[str, int], side: str
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for piece in made.pieces:
        if reference.side_of(piece.identifier) != side:
            continue
        for at in piece.sources:
            if not reference.available(piece.identifier, at.square, board, hands):
                continue
            for to in at.destinations:
                for possibility in to.possibilities:
                    data = possibility.data("diff")
                    if reference.permitted(data, board, side):
                        yield piece.identifier, at.square, to.square, data["diff"]


def targets(made: Document, board: Mapping[str, str | None], source: str, side: str = "first") -> list[str]:
    """Where the piece on a square can go, each destination once."""
    return list(dict.fromkeys(to for _, at, to, _ in moves(made, board, {}, side) if at == source))
