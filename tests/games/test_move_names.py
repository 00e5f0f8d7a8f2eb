"""What the moves of the library's games are called: as Fairy-Stockfish calls them, and no two of a position alike."""

from __future__ import annotations

import functools
from collections import Counter

import pytest

from ggn_store.games import library
from ggn_store.games.move_names import DefinedNames
from ggn_store.model.moves.move import Move
from ggn_store.notation.coordinates import uci
from tests.oracles.fairy_stockfish import FIXTURES, PASS, fixture
from tests.oracles.play import Choice, Game
from tests.support.sampled import sampled

FIXED = sorted(path.stem for path in FIXTURES.glob("*.txt"))
# Positions of each game; the sweep `python -m tests.oracles.move_texts` takes more.
SAMPLES = 5


@functools.cache
def game(name: str) -> Game:
    return Game(library.path_of(name).read_text("utf-8"), name)


def move_of(choice: Choice) -> Move:
    possibility = choice.possibility
    return Move(
        choice.piece, choice.source, choice.destination, 0, possibility.must, possibility.deny, possibility.effects
    )


# Its positions take seconds.
LATER = ("ataxx",)


@pytest.mark.parametrize(
    "name",
    [
        *sampled((name for name in FIXED if name not in LATER), one_in=9),
        *(pytest.param(name, marks=pytest.mark.long) for name in LATER),
    ],
)
def test_moves_have_the_names_that_fairy_stockfish_gives_them(name: str) -> None:
    played = game(name)
    names = DefinedNames(played.definition)
    for sample in fixture(name)[:SAMPLES]:
        position = played.unmarked(played.parse(sample.fen))
        found = Counter(uci(names.coordinates(move_of(choice))) for choice in played.moves(position))
        assert max(found.values()) == 1
        assert {move for move in sample.moves if not PASS.fullmatch(move)} <= found.keys()
