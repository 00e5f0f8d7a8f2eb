"""Whole games that python-chess's engine client plays through `ggn-store uci`: no illegal move, and the same ends."""

from __future__ import annotations

import pytest

from tests.oracles import engine_games
from tests.oracles.engine_games import FAIRY, PLIES, PYTHON_CHESS
from tests.support.games import Games

FEW = [("chess", 1, "random", 20), ("crazyhouse", 1, "greedy", 15), ("chess960", 1, "random", 20)]
MANY = [
    ("chess", 200, "random"),
    ("chess", 20, "greedy"),
    *((name, 20, "random") for name in PYTHON_CHESS[1:]),
]


@pytest.mark.parametrize(
    ("name", "games", "choice", "plies"), [*FEW, *(pytest.param(*each, PLIES, marks=pytest.mark.long) for each in MANY)]
)
def test_no_move_is_illegal_and_every_end_the_same_for_python_chess(
    sqlite_games: Games, name: str, games: int, choice: str, plies: int
) -> None:
    assert sqlite_games[name].has_start
    told = engine_games.by_python_chess(sqlite_games.address, name, games, choice, plies)
    assert told.wrong == []
    assert sum(told.ends.values()) == games


@pytest.mark.long
@pytest.mark.parametrize("name", FAIRY)
def test_fairy_stockfish_finds_no_move_illegal_and_every_end_the_same(sqlite_games: Games, name: str) -> None:
    pytest.importorskip("pyffish")
    assert sqlite_games[name].has_start
    assert engine_games.by_fairy_stockfish(sqlite_games.address, name, 20).wrong == []
