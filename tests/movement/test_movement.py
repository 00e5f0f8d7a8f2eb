"""Movement: words and grids."""

from __future__ import annotations

import itertools
import random

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.geometry import symmetries
from ggn_store.movement.grid import Grid, bits_of
from ggn_store.movement.movement import QUIET, RUN, Motion
from ggn_store.movement.words import describe


def test_words_are_the_same_in_every_order_of_motions() -> None:
    step = Motion((0, 1), goal=(QUIET,), everywhere=False)
    far, near = (Motion((0, 1), path=(RUN,), steps=(2, most), goal=(QUIET,), everywhere=False) for most in (None, 7))
    for motions in itertools.permutations((step, far, near)):
        assert describe(motions, symmetries(2)) == [
            "slides forward without capturing from some squares",
            "slides forward, two to seven squares without capturing from some squares",
        ]


def test_squares_fit_from_which_all_vectors_lead_to_squares() -> None:
    chance = random.Random(1)
    squares = [f"{file}{rank}" for file in "abcde" for rank in range(1, 5)]
    layers = [f"{square}{layer}" for square in squares for layer in "AB"]
    for labels in (squares, squares[:7] + squares[9:], layers[3:]):
        grid = Grid.of(Board(tuple(labels)))
        assert grid is not None
        for _ in range(300):
            vectors = [tuple(map(int.__sub__, *chance.choices(grid.points, k=2))) for _ in range(chance.randint(0, 3))]
            asked = chance.getrandbits(len(labels))
            fit = {
                number
                for number in bits_of(asked)
                if all(tuple(map(int.__add__, grid.points[number], vector)) in grid.points for vector in vectors)
            }
            coded = grid.coded(asked)
            assert coded is not None
            assert grid.every is not None
            found = grid.fits(coded, vectors, grid.every)
            assert {number for number, code in enumerate(grid.codes) if found >> code & 1} == fit


def test_far_squares_take_no_sets_by_their_codes() -> None:
    grid = Grid.of(Board(("a1", "a2", "zzz9999")))
    assert grid is not None
    assert grid.coded(3) is None
