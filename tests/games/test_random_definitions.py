"""Random definitions: what is generated of them, and stored, moves as the words of their guide say.

GGN_DEFINITIONS is how many definitions a long run stores.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterable
from typing import cast

import pytest

from ggn_store import GgnStoreError, Position, Store
from ggn_store.games import estimate
from ggn_store.games.definition import Definition, read
from ggn_store.notation.qpi import Side
from tests.oracles import definitions
from tests.oracles.definitions import Move
from tests.oracles.play import Game
from tests.support.random_definitions import definition, positions

MANY = int(os.environ.get("GGN_DEFINITIONS", "3000"))
POSITIONS = 12
# Definitions that may have more possibilities take longer; a long run has some of them.
MOST = 10_000
MOST_IN_LONG_RUNS = 100_000


def valid(seeds: Iterable[int], most: int) -> list[tuple[int, Definition]]:
    """The definitions that are no errors and not too large, which are more than a third."""
    found = []
    for seed in seeds:
        try:
            game = read(definition(seed))
        except GgnStoreError:
            continue
        if estimate.total(game) <= most:
            found.append((seed, game))
    assert len(found) > len([*seeds]) / 3
    return found


def asked(seed: int) -> list[tuple[Position, set[Move]]]:
    """Positions of a definition, each with the moves that the words of the guide say."""
    oracle = definitions.Definition(definition(seed))
    chosen = itertools.islice(positions(oracle, random.Random(seed)), POSITIONS)
    return [
        (Position(board, hands, cast(Side, side)), oracle.moves(board, hands, side)) for board, hands, side in chosen
    ]


def move(piece: str, source: str, destination: str, after: Position) -> Move:
    board = {square: piece for square, piece in after.board.items() if piece is not None}
    hands = frozenset((after.hands or {}).items())
    return Move(piece, source, destination, frozenset(board.items()), hands)


def differences(seed: int, expected: set[Move], found: set[Move]) -> list[str]:
    return [f"seed {seed}: {'no' if each in expected else 'also'} {each}" for each in sorted(expected ^ found)]


def test_random_definitions_generate_what_the_words_of_their_guide_say() -> None:
    told = []
    for seed, game in valid(range(400), MOST):
        rules = Game(game)
        for position, expected in asked(seed):
            moves = rules.moves(position)
            found = {move(each.piece, each.source, each.destination, each.after) for each in moves}
            told += differences(seed, expected, found)
    assert told == []


def stored_differences(store: Store, seeds: Iterable[int], most: int) -> list[str]:
    told = []
    for seed, game in valid(seeds, most):
        store.load(game, f"seed{seed}")
        positions, answers = zip(*asked(seed), strict=True)
        for position, expected, moves in zip(
            positions, answers, store.ruleset(f"seed{seed}").moves_batch(positions), strict=True
        ):
            found = {move(each.piece, each.source, each.destination, position.after(each.effects)) for each in moves}
            told += differences(seed, expected, found)
    return told


def test_random_definitions_are_stored_as_the_words_of_their_guide_say(store: Store) -> None:
    assert stored_differences(store, range(40), MOST) == []


@pytest.mark.long
def test_many_random_definitions_are_stored_as_the_words_of_their_guide_say(store: Store) -> None:
    assert stored_differences(store, range(MANY), MOST_IN_LONG_RUNS) == []
