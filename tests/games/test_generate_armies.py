"""Sides that differ, and who may take or jump over what, in generated documents."""

from __future__ import annotations

from ggn_store.notation.hand import HAND
from tests.support.definitions import KINGS, destinations, document, entries, sources, targets

# --- armies ---


def test_two_styles_play_each_other() -> None:
    made = document(
        """
styles = { first = "C", second = "X" }
board = "9x10"
[first.K]
betza = "K"
terminal = true
[first.R]
betza = "R"
[second.G]
betza = "W"
terminal = true
confined = "d1:f3"
[second.R]
betza = "R"
""",
    )
    assert [piece.identifier for piece in made.pieces] == ["C:K^", "C:R", "x:g^", "x:r"]
    assert set(sources(made, "x:g^")) == {f"{file}{rank}" for file in "def" for rank in (8, 9, 10)}


def test_a_captured_piece_of_another_style_is_of_derived_style_and_comes_back() -> None:
    made = document(
        """
styles = { first = "C", second = "S" }
board = "3x3"
hands = { captures = true }
[first.N]
betza = "W"
[second.L]
betza = "fW"
drop = { immobile = false }
"""
    )
    assert [piece.identifier for piece in made.pieces] == ["C:N", "S:L'", "s:l", "c:n'"]
    assert {each["must"]["a2"]: each["diff"].get("hands") for each in entries(made, "C:N", "a1", "a2")} == {
        "empty": None,
        "s:l": {"S:L'": 1},
        "c:n'": {"C:N": 1},
    }
    assert destinations(made, "S:L'", HAND) == ["a1", "b1", "c1", "a2", "b2", "c2"]
    assert destinations(made, "S:L'", "a1") == ["a2"]


def test_each_side_can_have_pieces_of_its_own() -> None:
    made = document('[first.P]\nbetza = "fW"\n[second.Q]\nbetza = "Q"')
    assert [piece.identifier for piece in made.pieces] == ["C:P", "c:q"]


# --- who may take what, and jump over what ---


def test_some_pieces_are_not_taken() -> None:
    text = '[pieces.A]\nbetza = "W"\ncaptures_except = {letters}\n[pieces.B]\nbetza = "W"\n[pieces.C]\nbetza = "W"\n'
    one = document(text.replace("{letters}", '["B"]'))
    assert [(each["must"]["a2"], each.get("deny")) for each in entries(one, "C:A", "a1", "a2")] == [
        ("empty", None),
        ("enemy", {"a2": "c:b"}),
    ]
    two = document(text.replace("{letters}", '["B", "A"]'))
    assert [each["must"]["a2"] for each in entries(two, "C:A", "a1", "a2")] == ["empty", "c:c"]
    iron = document('[pieces.A]\nbetza = "W"\n[pieces.B]\nbetza = "W"\nimmune = true')
    assert entries(iron, "C:A", "a1", "a2")[1]["deny"] == {"a2": "c:b"}


def test_a_piece_can_capture_its_own_but_the_terminal_one() -> None:
    made = document(KINGS + '[pieces.C]\nbetza = "mdW"')
    board = {"b2": "C:C", "b3": "C:C", "a2": "C:K^", "c2": "c:c"}
    assert targets(made, board, "b2") == ["b3", "b1"]
    assert entries(made, "C:C", "b2", "b3")[1] == {"must": {"b3": "C:C"}, "diff": {"board": {"b2": None, "b3": "C:C"}}}


def test_a_piece_captures_of_its_own_side_what_it_may_capture_of_the_other() -> None:
    made = document(
        '[pieces.A]\nbetza = "dW"\ncaptures_except = ["B"]\n[pieces.B]\nbetza = "dW"\n'
        '[pieces.C]\nbetza = "W"\nimmune = true'
    )
    board = {"b2": "C:A", "b1": "C:B", "b3": "C:C", "a2": "C:A"}
    assert (targets(made, board, "b2"), targets(made, board, "b1")) == (["a2"], ["b2"])


def test_a_cannon_may_not_jump_over_cannons_nor_take_them() -> None:
    made = document(
        """
[pieces.C]
betza = "pR"
hurdles_except = ["C"]
captures_except = ["C"]
[pieces.N]
betza = "N"
""",
        "1x5",
        "J",
    )
    for hurdle, target, expected in [
        ("J:N", None, True),
        ("j:n", None, True),
        ("J:N", "j:n", True),
        ("J:C", None, False),
        ("j:c", None, False),
        ("j:n", "j:c", False),
        ("j:n", "J:N", False),
        (None, "j:n", False),
    ]:
        found = targets(made, {"a1": "J:C", "a2": hurdle, "a3": target}, "a1")
        assert ("a3" in found) == expected, (hurdle, target)
