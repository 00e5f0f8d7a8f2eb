"""Moves as engines write them: what UCI and USI say, and what is none of theirs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store.errors import MoveError
from ggn_store.notation import cell
from ggn_store.notation.coordinates import Coordinates, parse_uci, parse_usi, uci, usi

SHOGI = ((0, 0), (9, 9))


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("e2e4", Coordinates("e2", "e4")),
        ("e7e8q", Coordinates("e7", "e8", "q")),
        ("b2b3+", Coordinates("b2", "b3", "+")),
        ("b2b3-", Coordinates("b2", "b3", "-")),
        ("P@e4", Coordinates("*", "e4", "P")),
        ("+L@e4", Coordinates("*", "e4", "+L")),
        ("b1c3h", Coordinates("b1", "c3", "h")),
        ("a10b11", Coordinates("a10", "b11")),
        ("j9j10q", Coordinates("j9", "j10", "q")),
        ("e2e2", Coordinates("e2", "e2")),
        ("a2Ab2B", Coordinates("a2A", "b2B")),
        ("aa1ab2", Coordinates("aa1", "ab2")),
        ("d1d7,d7g7", Coordinates("d1", "d7", left="g7")),
        ("a7a8q,a8a7", Coordinates("a7", "a8", "q", left="a7")),
        ("d3e3,2", Coordinates("d3", "e3", number=2)),
        ("a1c3e5q,e5c3,12", Coordinates("a1", "e5", "q", ("c3",), "c3", 12)),
    ],
)
def test_uci_is_read_and_written(text: str, move: Coordinates) -> None:
    assert parse_uci(text) == move
    assert uci(move) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "e2",
        "e2 e4",
        "e2-e4",
        "E2E4",
        "e2e4qq",
        "e0e1",
        "p@e4",
        "@e4",
        "P@",
        "O-O",
        "7g7f",
        "d1d7,g7",
        "d1d7,",
        "d1d7,0",
    ],
)
def test_what_is_not_uci_is_refused(text: str) -> None:
    with pytest.raises(MoveError, match="is not a move in UCI, such as e2e4"):
        parse_uci(text)


@pytest.mark.parametrize(
    "move", [Coordinates("Alaska", "Yukon"), Coordinates("*", "e4"), Coordinates("e2", "e4", "qq")]
)
def test_what_uci_cannot_say_is_refused(move: Coordinates) -> None:
    with pytest.raises(MoveError, match="UCI cannot write the move"):
        uci(move)


@pytest.mark.parametrize(
    ("text", "move", "board"),
    [
        ("7g7f", Coordinates("c3", "c4"), SHOGI),
        ("7g7f,2", Coordinates("c3", "c4", number=2), SHOGI),
        ("8h2b+", Coordinates("b2", "h8", "+"), SHOGI),
        ("P*5e", Coordinates("*", "e5", "P"), SHOGI),
        ("7i7c,7c4c", Coordinates("c1", "c7", left="f7"), SHOGI),
        ("1i9a", Coordinates("i1", "a9"), SHOGI),
        ("12a1l", Coordinates("a12", "l1"), ((0, 0), (12, 12))),
        ("2a1b", Coordinates("c4", "d3"), ((2, 2), (2, 2))),
    ],
)
def test_usi_counts_files_from_the_last_and_ranks_from_the_top(
    text: str, move: Coordinates, board: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    assert parse_usi(text, board) == move
    assert usi(move, board) == text


@pytest.mark.parametrize("text", ["", "7g", "e2e4", "7g7f++", "P@5e", "0a1a", "P*e5"])
def test_what_is_not_usi_is_refused(text: str) -> None:
    with pytest.raises(MoveError, match="is not a move in USI, such as 7g7f"):
        parse_usi(text, SHOGI)


@pytest.mark.parametrize("text", ["10a1a", "7z7a"])
def test_a_square_that_is_not_there_is_refused(text: str) -> None:
    with pytest.raises(MoveError, match="is not a square of this board in USI"):
        parse_usi(text, SHOGI)


def test_what_is_left_goes_from_where_the_move_ends() -> None:
    with pytest.raises(MoveError, match='"d1d7,d6g7" leaves something from d6, and the move ends on d7'):
        parse_uci("d1d7,d6g7")


def test_boards_that_usi_has_no_names_for_are_refused() -> None:
    with pytest.raises(MoveError, match="USI cannot write"):
        usi(Coordinates("a1", "a27"), ((0, 0), (9, 27)))
    with pytest.raises(MoveError, match="USI cannot write"):
        usi(Coordinates("a1A", "a2A"), ((0, 0, 0), (5, 5, 5)))


@given(st.data())
def test_a_move_on_any_board_is_read_back(data: st.DataObject) -> None:
    files, ranks = data.draw(st.integers(1, 99)), data.draw(st.integers(1, 26))
    square = st.builds(lambda x, y: cell.text((x, y)), st.integers(0, files - 1), st.integers(0, ranks - 1))
    marks = st.sampled_from(["", "+", "-", "q"])
    plain = st.builds(Coordinates, square, square, marks, left=st.just("") | square)
    dropped = st.builds(Coordinates, st.just("*"), square, st.sampled_from(["P", "+R", "-L"]))
    move = data.draw(plain | dropped)
    board = ((0, 0), (files, ranks))
    assert parse_usi(usi(move, board), board) == move
    assert parse_uci(uci(move)) == move
