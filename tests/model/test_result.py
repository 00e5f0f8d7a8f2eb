"""What a board says of a game's end by itself, and results as words."""

from __future__ import annotations

import pytest

from ggn_store.model.moves import result
from ggn_store.model.moves.play import Outcome
from ggn_store.model.moves.result import Result
from ggn_store.notation.qpi import Side


def test_a_line_is_straight_or_diagonal_and_has_no_gap() -> None:
    four = Outcome("line", "win", count=4)
    for squares in ("a1 b1 c1 d1", "c3 c4 c5 c6", "a1 b2 c3 d4", "d1 c2 b3 a4", "e1 a1 b1 c1 d1"):
        assert result.has_line(dict.fromkeys(squares.split(), "G:S"), four, "first"), squares
        assert not result.has_line(dict.fromkeys(squares.split(), "g:s"), four, "first"), squares
    for squares in ("a1 b1 c1", "a1 b1 c1 e1", "a1 b2 c3 d3", "a1 b3 c5 d7", "h1 a2 b2 c2"):
        assert not result.has_line(dict.fromkeys(squares.split(), "G:S"), four, "first"), squares
    assert result.has_line(dict.fromkeys(["a1A", "a1B", "a1C"], "G:S"), Outcome("line", "win", count=3), "first")


def test_royal_pieces_face_each_other_along_a_line_with_nothing_between() -> None:
    assert result.are_facing({"e1": "X:K^", "e9": "x:k^"})
    assert result.are_facing({"a5": "X:K^", "i5": "x:k^", "e4": "X:P"})
    assert not result.are_facing({"e1": "X:K^", "e9": "x:k^", "e4": "X:P"})
    assert not result.are_facing({"e1": "X:K^", "e9": "X:K^"})
    assert not result.are_facing({"e1": "X:K^", "e9": "x:r"})
    assert not result.are_facing({"a1": "X:K^", "c3": "x:k^"})


@pytest.mark.parametrize(
    ("pieces", "count", "side", "expected"),
    [
        ((), None, "first", False),
        ((), 2, "first", True),
        ((), 2, "second", True),
        (("C:Q",), None, "first", False),
        (("C:N",), None, "first", True),
        (("C:N",), None, "second", False),
        (("C:N", "c:n"), None, "second", True),
        (("C:P",), None, "first", False),
        (("C:P",), 1, "first", True),
    ],
)
def test_a_side_is_extinct_where_it_has_no_more_than_the_count(
    pieces: tuple[str, ...], count: int | None, side: Side, expected: bool
) -> None:
    board = {"a1": "C:Q", "b1": "c:k^"}
    outcome = Outcome("extinct", "loss", pieces=pieces, count=count)
    assert result.is_extinct(board, {"C:P": 1}, outcome, side) is expected


def test_a_king_is_bare_with_nothing_else_on_the_board_or_in_the_hand() -> None:
    assert result.is_bare({"a1": "C:K^", "b1": "c:p"}, {"c:q": 1}, "first")
    assert not result.is_bare({"a1": "C:K^", "b1": "C:P"}, {}, "first")
    assert not result.is_bare({"a1": "C:K^"}, {"C:P": 1}, "first")
    assert not result.is_bare({"b1": "c:p"}, {}, "first")


def test_results_are_words_and_scores() -> None:
    mate = Outcome("no-move", "loss", in_check=True)
    assert [result.winner(Outcome("bare", verdict), "second", {}) for verdict in ("win", "loss", "draw")] == [
        "second",
        "first",
        None,
    ]
    most = Outcome("bare", "majority")
    boards = {"a1": "C:P"}, {"a1": "C:P", "a2": "c:p"}, {"a1": "c:p", "a2": None, "a3": "c:k^"}
    assert [result.winner(most, "second", board) for board in boards] == ["first", None, "second"]
    over = Result("second", result.reason(mate, True), mate)
    assert (str(over), over.score, over.is_over) == ("second wins: checkmate", "0-1", True)
    assert over.data() == {
        "is_over": True,
        "winner": "second",
        "reason": "checkmate",
        "score": "0-1",
        "unjudged": [],
    }
    drawn = Result(None, result.reason(Outcome("quiet", "draw", count=100), False))
    assert (str(drawn), drawn.score) == ("draw: 100 plies without a capture or a pawn's move", "1/2-1/2")
    going = Result(unjudged=("repetition",))
    assert (str(going), going.score, going.is_over) == ("the game goes on", "*", False)
