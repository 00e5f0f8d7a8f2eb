"""Movement: words and grids."""

from __future__ import annotations

import itertools
import random

from ggn_store.model.board import Board
from ggn_store.movement.grid import Grid
from ggn_store.movement.movement import QUIET, RUN, Motion
from ggn_store.movement.words import describe


def test_words_are_the_same_in_every_order_of_motions() -> None:
    step = Motion((0, 1), goal=(QUIET,), everywhere=False)
    far, near = (Motion((0, 1), path=(RUN,), steps=(2, most), goal=(QUIET,), everywhere=False) for most in (None, 7))
    for motions in itertools.permutations((step, far, near)):
        assert describe(motions) == [
            "slides forward without capturing from some squares",
            "slides forward, two to seven squares without capturing from some squares",
        ]


def test_squares_fit_from_which_all_vectors_lead_to_squares() -> None:
    chance = random.Random(1)
    squares = [f"{file}{rank}" for file in "abcde" for rank in range(1, 5)]
    for labels in (squares, squares[:7] + squares[9:]):
        grid = Grid.of(Board(tuple(labels)))
        assert grid is not None
        for _ in range(300):
            vectors = [(chance.randint(-5, 5), chance.randint(-4, 4)) for _ in range(chance.randint(0, 3))]
            fit = {(x, y) for x, y in grid.points if all((x + right, y + up) in grid.squares for right, up in vectors)}
            found = grid.fits(vectors)
            assert {point for number, point in enumerate(grid.points) if found >> number & 1} == fit
