"""Moves as text: what is read as people write it, and what is written so that it is read again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store.errors import MoveError
from ggn_store.notation.move_text import MoveText, OwnNotation, is_named

CHESS = OwnNotation(file + rank for file in "abcdefgh" for rank in "12345678")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("e2 e4", MoveText(("e2", "e4"))),
        ("E2 E4", MoveText(("e2", "e4"))),
        ("e2e4", MoveText(("e2", "e4"))),
        ("E2-e4", MoveText(("e2", "e4"))),
        ("e4xd5", MoveText(("e4", "d5"))),
        ("D3 F5 H7", MoveText(("d3", "f5", "h7"))),
        ("d3f5h7", MoveText(("d3", "f5", "h7"))),
        ("d3xf5xh7", MoveText(("d3", "f5", "h7"))),
        ("e2", MoveText(("e2",))),
        ("e7 e8 2", MoveText(("e7", "e8"), number=2)),
        ("e7e8 2", MoveText(("e7", "e8"), number=2)),
        ("e7e8q", MoveText(("e7", "e8"), last="q")),
        ("e7e8 C:Q", MoveText(("e7", "e8"), last="C:Q")),
        ("C:P e2 e4", MoveText(("e2", "e4"), piece="C:P")),
        ("Pe2e4", MoveText(("e2", "e4"), piece="P")),
        ("P* e5", MoveText(("*", "e5"), piece="P")),
        ("P*e5", MoveText(("*", "e5"), piece="P")),
        ("P@e5", MoveText(("*", "e5"), piece="P")),
        ("+R^* e5", MoveText(("*", "e5"), piece="+R^")),
        ("SHOGI:P * e5", MoveText(("*", "e5"), piece="SHOGI:P")),
        ("* e5 P", MoveText(("*", "e5"), last="P")),
        ("*", MoveText(("*",))),
        ("P*", MoveText(("*",), piece="P")),
        ("e5 *", MoveText(("e5", "*"))),
    ],
)
def test_moves_are_read_as_people_write_them(line: str, meant: MoveText) -> None:
    assert CHESS.parse(line) == meant


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("e2 e9", '"e9" is no square of the board'),
        ("castle", '"castle" is no square of the board'),
        ("e2e", '"e" is in a place where it says nothing'),
        ("e2 P e4", '"P" is in a place where it says nothing'),
        ("2 e2 e4", '"2" is in a place where it says nothing'),
        ("e7 e8 2 3", '"3" is in a place where it says nothing'),
        ("-e2e4", '"-e2e4" is no square of the board'),
        ("e2 e4 e2e4-", '"e2e4-" is no square of the board'),
        ("P", '"P" names no square'),
        ("e2 " * 400, "a line of more than 1,000 characters is no move"),
    ],
)
def test_what_is_no_move_is_told(line: str, said: str) -> None:
    with pytest.raises(MoveError, match=re.escape(said)):
        CHESS.parse(line)


def test_squares_may_have_names_of_several_words_and_any_letters() -> None:
    notation = OwnNotation(["Alaska", "Northwest Territory", "North", "É 2", "a1A", "a1a"])
    assert notation.parse("alaska northwest territory") == MoveText(("Alaska", "Northwest Territory"))
    assert notation.parse("NORTH É 2") == MoveText(("North", "É 2"))
    assert notation.parse("a1A a1a") == MoveText(("a1A", "a1a"))
    with pytest.raises(MoveError, match="A1A"):  # either of two
        notation.parse("A1A Alaska")


def test_long_words_are_read_in_time() -> None:
    # Tried one after the other, the ways to cut this would be more than there are atoms.
    notation = OwnNotation(["a" * length for length in range(1, 20)])
    with pytest.raises(MoveError, match="no square of the board"):
        notation.parse("a" * 900 + "!")
    assert len(notation.parse("a" * 190).places) == 10


def test_a_piece_is_named_by_any_part_that_tells_it() -> None:
    for word in ("C:+K^", "c:+k^", "+K^", "+K", None):
        assert is_named(word, "C:+K^")
    for word in ("K", "K^", "C", "Q"):
        assert not is_named(word, "C:+K^")
    assert is_named(None, None)
    assert not is_named("K", None)


@given(st.sets(st.text("ab12Éx", min_size=1, max_size=3), min_size=1), st.data())
def test_what_is_written_is_read_as_the_same_move(squares: set[str], data: st.DataObject) -> None:
    notation = OwnNotation(squares)
    places = st.lists(st.sampled_from(sorted(squares)), min_size=2, max_size=4).map(tuple)
    numbers = st.none() | st.integers(1, 9_999)
    move = data.draw(st.builds(MoveText, places, st.sampled_from([None, "C:+P"]), st.none(), numbers))
    assert notation.parse(notation.text(move)) == move


@pytest.mark.parametrize(
    ("squares", "move", "text"),
    [
        (("e2", "e4"), MoveText(("e2", "e4"), "C:P", None, 2), "C:P e2 e4 2"),
        (("e5",), MoveText(("*", "e5"), "+P"), "+P * e5"),
        (("1", "2", "3"), MoveText(("1", "2"), number=3), "1 2 (3)"),
        (("A", "B", "A B"), MoveText(("A", "B")), "A-B"),
        (("A", "B", "A B"), MoveText(("A B", "A")), "A B A"),
        (("e7", "e8"), MoveText(("e7", "e8"), last="q"), "e7 e8 q"),
    ],
)
def test_a_move_is_written_as_it_is_read(squares: tuple[str, ...], move: MoveText, text: str) -> None:
    notation = OwnNotation(squares)
    assert notation.text(move) == text
    assert notation.parse(text) == move
