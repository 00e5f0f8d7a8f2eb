"""Documents that nobody here wrote: the seeds' examples that ship, and whatever a directory of yours holds.

`GGN_DOCUMENTS=DIRECTORY pytest -m long tests/documents/test_own_documents.py` loads every document below DIRECTORY
into both databases, holds the moves of random positions against tests/oracles/reference.py, and exports it again.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ggn_store import Position, Store, lint
from ggn_store.api.loading.incoming import read_files
from ggn_store.documents.files import File, find_files
from tests.oracles import reference
from tests.support.sampled import sampled

DATA = Path(__file__).parents[2] / "data"
SHIPPED = find_files([DATA / "examples"])
OWN = find_files([os.environ["GGN_DOCUMENTS"]]) if "GGN_DOCUMENTS" in os.environ else []


def random_positions(document: reference.Json, count: int, seed: int) -> Iterator[Position]:
    """Positions on the document's squares with its own pieces, from nearly empty to full boards."""
    chance = random.Random(seed)
    pieces = sorted(piece for piece in document if piece != "$schema")
    squares = sorted({square for each in reference.possibilities(document) for square in each[1:3]} - {"*"})
    for _ in range(count):
        chosen = chance.sample(squares, chance.randint(1, len(squares)))
        hands = {piece: chance.randint(0, 2) for piece in pieces}
        yield Position(
            {square: chance.choice(pieces) for square in chosen},
            hands=chance.choice([None, {}, hands]),
            side=chance.choice(["first", "second"]),
        )


def check(store: Store, file: File, count: int) -> int:
    """Load, lint, ask, export; how many moves were compared."""
    [entry] = read_files([file])
    document = entry.read()
    name = file.name
    assert name is not None
    assert store.load(document, name).status == "new"
    for finding in lint(document, entry.text, entry.file):
        print(finding)
    ruleset = store.ruleset(name)
    assert ruleset.export() == document.canonical()
    assert store.load(document, name).status == "unchanged"
    plain = json.loads(document.canonical())
    positions = list(random_positions(plain, count, seed=len(plain)))
    compared = 0
    for position, found in zip(positions, ruleset.moves_batch(positions), strict=True):
        expected = reference.moves(plain, position.board, position.hands, position.side)
        assert [(move.piece, move.source, move.destination, move.ordinal) for move in found] == expected, position
        compared += len(expected)
    assert store.upkeep.check() == []
    return compared


@pytest.mark.parametrize("file", sampled(SHIPPED), ids=lambda file: file.name)
def test_an_example_that_ships_answers_like_the_plain_evaluator(module_store: Store, file: File) -> None:
    check(module_store, file, 20)


@pytest.mark.long
@pytest.mark.parametrize("file", OWN, ids=lambda file: file.name)
def test_a_document_of_your_own_answers_like_the_plain_evaluator(module_store: Store, file: File) -> None:
    assert check(module_store, file, 60) > 0
