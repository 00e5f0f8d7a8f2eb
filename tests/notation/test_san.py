"""SAN: what players write, and what is not SAN."""

from __future__ import annotations

import pytest

from ggn_store.errors import MoveError
from ggn_store.notation import san
from ggn_store.notation.san import San

MOVES = [
    ("e4", San("e4")),
    ("Nf3", San("f3", "N")),
    ("Nbd7", San("d7", "N", file="b")),
    ("Qd7,g7", San("d7", "Q", left="g7")),
    ("exd6,e5#", San("d6", file="e", captures=True, left="e5", check="#")),
    ("O-O,h1", San(castling="O-O", left="h1")),
    ("N5d7+", San("d7", "N", rank="5", check="+")),
    ("Qa1b2", San("b2", "Q", file="a", rank="1")),
    ("Qxb4", San("b4", "Q", captures=True)),
    ("Qxxb4", San("b4", "Q", file="x", captures=True)),
    ("exd6", San("d6", file="e", captures=True)),
    ("e8=Q#", San("e8", promotion="Q", check="#")),
    ("exd8=N", San("d8", file="e", captures=True, promotion="N")),
    ("+Rb3", San("b3", "+R")),
    ("b3=+P", San("b3", promotion="+P")),
    ("Nj10", San("j10", "N")),
    ("N10j10", San("j10", "N", rank="10")),
    ("P@e4", San("e4", dropped=True)),
    ("N@f7+", San("f7", "N", dropped=True, check="+")),
    ("O-O", San(castling="O-O")),
    ("O-O-O+", San(castling="O-O-O", check="+")),
    ("Nc3/H", San("c3", "N", enters="H")),
    ("O-O/He1", San(castling="O-O", enters="H", gate="e1")),
    ("--", San()),
]


@pytest.mark.parametrize(("text", "move"), MOVES)
def test_san_is_read_and_written(text: str, move: San) -> None:
    assert san.parse(text) == move
    assert str(move) == text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Pe4", "e4"),
        ("@e4", "P@e4"),
        ("e8Q", "e8=Q"),
        ("e8=q", "e8=Q"),
        ("0-0-0", "O-O-O"),
        ("Ng1-f3", "Ng1f3"),
        ("Nf3!?", "Nf3"),
        ("N:d5", "Nxd5"),
    ],
)
def test_what_players_write_otherwise_is_read_too(text: str, same: str) -> None:
    assert san.parse(text) == san.parse(same)


@pytest.mark.parametrize("text", ["", "N", "f", "e2 e4", "O-O-O-O", "Nf3!!!", "e9x", "N@", "--+-"])
def test_what_is_not_san_is_refused(text: str) -> None:
    with pytest.raises(MoveError, match="is not a move in SAN, such as e4"):
        san.parse(text)
