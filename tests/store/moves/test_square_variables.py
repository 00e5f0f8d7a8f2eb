"""State variables that are worked out from the board: every query, and every way to give a position, takes them so."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ggn_store import Position, Ruleset, Store, parse

ROOKS = {"values": ["no", "yes"], "initial": "no", "square": "b1", "pieces": ["C:R", "c:r"]}
AWAY, STAYS = {"a1": None, "c1": "C:K"}, {"a1": None, "c1": "C:K", "b1": None}
# A king that jumps over b1, where it takes whatever is no rook; a rook that steps on b1, and so changes the variable.
GAME: dict[str, Any] = {
    "$state": {"rook": ROOKS, "turn": {"values": ["0", "1"], "initial": "0"}},
    "C:K": {
        "a1": {
            "c1": [
                {"when": {"rook": ["yes"]}, "diff": {"board": AWAY}},
                {"when": {"rook": ["no"]}, "must": {"c1": "empty"}, "diff": {"board": STAYS}},
            ]
        }
    },
    "c:r": {
        "c1": {
            "b1": [{"when": {"rook": ["no"]}, "diff": {"board": {"c1": None, "b1": "c:r"}, "state": {"rook": "yes"}}}]
        }
    },
}
PIECES = (None, "C:R", "c:r", "c:p", "C:P", "x:q")
POSITIONS = [
    Position({"a1": "C:K", "b1": b1, "c1": c1}, side=side, state=state)
    for b1, c1 in itertools.product(PIECES, PIECES)
    for side in ("first", "second")
    for state in (None, {"rook": "yes"}, {"rook": "no", "turn": "1"})  # what it says of the rook counts for nothing
]


def expected(position: Position) -> list[tuple[str, int]]:
    """The moves by the words of the document."""
    board = position.board
    rook = board.get("b1") in ("C:R", "c:r")
    if position.side == "second":
        return [("c:r", 0)] if board.get("c1") == "c:r" and not rook else []
    return [("C:K", 0)] if rook else [("C:K", 1)] if board.get("c1") is None else []


@pytest.fixture
def rules(store: Store) -> Ruleset:
    store.load(parse(GAME), "game")
    return store.ruleset("game")


@pytest.mark.parametrize("query", ["fast", "reading"])
def test_a_variable_about_a_square_is_what_the_board_says(rules: Ruleset, query: Any) -> None:
    for position in POSITIONS:
        assert [(move.piece, move.ordinal) for move in rules.moves(position, query=query)] == expected(position)


@pytest.mark.parametrize("query", ["fast", "columns", "reading"])
def test_batches_work_it_out_for_each_position(rules: Ruleset, query: Any) -> None:
    found = rules.moves_batch(POSITIONS, query=query)
    assert [[(move.piece, move.ordinal) for move in moves] for moves in found] == list(map(expected, POSITIONS))


def test_a_position_after_a_move_says_only_what_its_board_does_not(rules: Ruleset) -> None:
    position = Position({"a1": "C:K", "c1": "c:r"}, side="second")
    after = rules.apply(position, rules.moves(position)[0])
    assert (after.board["b1"], after.state) == ("c:r", {"turn": "0"})
    assert rules.stated(after).state == {"rook": "yes", "turn": "0"}
    assert [move.ordinal for move in rules.moves(after)] == [0]
    assert [perft.count for perft in (rules.perft(position, 1), rules.perft(position, 2))] == [1, 1]


def test_it_comes_back_as_it_was_loaded(rules: Ruleset) -> None:
    assert rules.document().data() == parse(GAME).data()
