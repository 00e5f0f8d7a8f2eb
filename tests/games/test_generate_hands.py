"""Hands in generated documents: what captures bring into them, drops, and pieces that enter another way."""

from __future__ import annotations

import itertools

import pytest

from ggn_store.games.definition import read
from ggn_store.games.generate import generate
from ggn_store.notation.hand import HAND
from tests.support.definitions import destinations, document, entries, moves, shipped_document, sources, targets

HANDS = '[hands]\ncaptures = true\n[pieces.K]\nbetza = "K"\nterminal = true\n'


def test_captures_name_what_comes_into_the_hand() -> None:
    made = document(
        HANDS
        + """
[pieces.S]
betza = "FfW"
promotion = { zone = "a5:e5", to = ["+S"] }
[pieces."+S"]
betza = "WfF"
""",
        "5x5",
        "S",
    )
    found = [(each["must"]["c3"], each["diff"]) for each in entries(made, "S:K^", "c2", "c3")]
    board = {"c2": None, "c3": "S:K^"}
    assert found == [
        ("empty", {"board": board}),
        ("s:k^", {"board": board}),
        ("s:s", {"board": board, "hands": {"S:S": 1}}),
        ("s:+s", {"board": board, "hands": {"S:S": 1}}),
    ]
    assert entries(made, "S:S", HAND, "c3") == [
        {"must": {"c3": "empty"}, "diff": {"board": {"c3": "S:S"}, "hands": {"S:S": -1}}}
    ]
    assert HAND not in sources(made, "S:+S")
    assert HAND not in sources(made, "S:K^")


def test_a_promoted_piece_of_crazyhouse_is_a_pawn_in_the_hand() -> None:
    made = shipped_document("crazyhouse")
    assert {each["diff"]["board"]["a8"] for each in entries(made, "C:P", "a7", "a8")} == {
        "C:-Q",
        "C:-R",
        "C:-B",
        "C:-N",
    }
    gains = {each["must"]["c3"]: each["diff"].get("hands") for each in entries(made, "C:N", "b1", "c3")}
    assert gains == {
        "empty": None,
        "c:k^": None,
        "c:q": {"C:Q": 1},
        "c:-q": {"C:P": 1},
        "c:r": {"C:R": 1},
        "c:-r": {"C:P": 1},
        "c:b": {"C:B": 1},
        "c:-b": {"C:P": 1},
        "c:n": {"C:N": 1},
        "c:-n": {"C:P": 1},
        "c:p": {"C:P": 1},
    }
    in_passing = [each for each in entries(made, "C:P", "e5", "d6") if each["must"].get("d5") == "c:-p"]
    assert [each["diff"]["hands"] for each in in_passing] == [{"C:P": 1}]


def test_drops_keep_to_their_zone_the_file_limit_and_squares_with_moves() -> None:
    text = '[pieces.P]\nbetza = "fW"\ndrop = { zone = "a1:c4", nifu = true, immobile = false }'
    made = document(text, "3x4", "S")
    assert destinations(made, "S:P", HAND) == ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]
    assert destinations(made, "s:p", HAND) == ["a2", "b2", "c2", "a3", "b3", "c3", "a4", "b4", "c4"]
    assert entries(made, "S:P", HAND, "b2") == [
        {
            "must": {"b2": "empty"},
            "deny": {"b1": "S:P", "b3": "S:P", "b4": "S:P"},
            "diff": {"board": {"b2": "S:P"}, "hands": {"S:P": -1}},
        }
    ]


def test_a_file_may_hold_two_of_a_piece() -> None:
    made = document('[pieces.S]\nbetza = "fW"\ndrop = { nifu = 2 }', "3x4", "S")
    squares = ["b1", "b3", "b4"]
    for count in range(4):
        for chosen in itertools.combinations(squares, count):
            found = moves(made, dict.fromkeys(chosen, "S:S"), {"S:S": 1})
            assert len([to for _, at, to, _ in found if (at, to) == (HAND, "b2")]) == (1 if count < 2 else 0)


def test_a_drop_can_ask_for_something_below_and_offer_both_faces() -> None:
    made = document('[pieces.P]\nbetza = ""\ndrop = { on_top = true }', "3x3")
    assert "deny" not in entries(made, "C:P", HAND, "a1")[0]
    assert entries(made, "C:P", HAND, "a2")[0]["deny"] == {"a1": "empty"}
    faces = document('[pieces.P]\nbetza = "W"\ndrop = { as = ["P", "+P"] }\n[pieces."+P"]\nbetza = "F"', "3x3", "S")
    assert [each["diff"] for each in entries(faces, "S:P", HAND, "a1")] == [
        {"board": {"a1": "S:P"}, "hands": {"S:P": -1}},
        {"board": {"a1": "S:+P"}, "hands": {"S:P": -1}},
    ]


GATING = """
style = "C"
board = "5x4"
start = "k^4/5/5/2+K^1+R Q/ C/c"
[pieces.K]
betza = "K"
terminal = true
castling = { from = "c1", to = "d1", with = "e1", with_to = "c1" }
[pieces.R]
betza = "W"
[pieces.Q]
betza = "Q"
gating = true
"""


def test_a_piece_in_hand_enters_where_an_unmoved_piece_leaves() -> None:
    made = document(GATING)
    assert destinations(made, "C:Q", HAND) == ["c1", "e1"]
    step = {
        "diff": {"board": {"c1": "C:Q", "c2": "C:K^"}, "hands": {"C:Q": -1}},
        "must": {"c1": "C:+K^", "c2": "empty"},
    }
    assert step in entries(made, "C:Q", HAND, "c1")
    castled = {
        "must": {"c1": "C:+K^", "d1": "empty", "e1": "C:+R"},
        "diff": {"board": {"c1": "C:R", "d1": "C:K^", "e1": "C:Q"}, "hands": {"C:Q": -1}},
    }
    assert castled in entries(made, "C:Q", HAND, "e1")
    assert all(each["must"]["c1"] == "C:+K^" for each in entries(made, "C:Q", HAND, "c1"))
    board = {"c1": "C:+K^", "e1": "C:+R", "d1": "C:R"}
    held = [(to, diff["board"]) for _, at, to, diff in moves(made, board, {"C:Q": 1}) if at == HAND]
    assert ("e1", {"c1": "C:R", "d1": "C:K^", "e1": "C:Q"}) not in held, "something stands between king and rook"
    assert ("e1", {"e1": "C:Q", "e2": "C:R"}) in held
    assert not [at for _, at, *_ in moves(made, board, {}) if at == HAND]


def test_a_game_can_be_all_drops() -> None:
    connect_four = shipped_document("connect-four")
    column = {"d1": "D:D", "d2": "d:d"}
    assert targets(connect_four, column | {"a7": None}, HAND) == []
    found = [to for _, at, to, _ in moves(connect_four, column, {"D:D": 1})]
    assert sorted(found) == ["a1", "b1", "c1", "d3", "e1", "f1", "g1"]
    # Both sides' discs fall to the same end.
    found = [to for _, at, to, _ in moves(connect_four, column, {"d:d": 1}, "second")]
    assert sorted(found) == ["a1", "b1", "c1", "d3", "e1", "f1", "g1"]
    gomoku = shipped_document("gomoku")
    assert len(moves(gomoku, {"k10": "g:s"}, {"G:S": 1})) == 19 * 19 - 1


@pytest.mark.parametrize("hexagons", ["rows", "rows-left", "files", "files-down"])
def test_on_top_is_on_the_rank_below_of_the_same_file_on_hexagons_as_well(hexagons: str) -> None:
    head = f'title = "A game"\nboard = "3x3"\nhexagons = "{hexagons}"\nstyle = "C"\n'
    made = generate(read(f'{head}[pieces.P]\nbetza = ""\ndrop = {{ on_top = true }}'))
    assert {to for _, _, to, _ in moves(made, {"a1": "c:p"}, {"C:P": 1})} == {"a2", "b1", "c1"}


def test_what_was_the_other_side_s_has_moved_where_it_is_dropped() -> None:
    head = 'title = "A game"\nboard = "2x2"\nstyles = { first = "C", second = "X" }\nhands = { captures = true }\n'
    made = generate(read(f'{head}[pieces.P]\nbetza = "fW"\nunmoved = "a1"\ndrop = {{ unmoved = true }}'))
    dropped = {
        each: [diff["board"]["a1"] for _, _, to, diff in moves(made, {}, {each: 1}) if to == "a1"]
        for each in ("C:P", "X:P'")
    }
    assert dropped == {"C:P": ["C:+P"], "X:P'": ["X:P'"]}


def test_hexagons_have_three_colours() -> None:
    head = 'title = "A game"\nboard = "3x3"\nhexagons = "files"\nstyle = "C"\n'
    made = generate(read(f'{head}[pieces.B]\nbetza = "B"\ndrop = {{ other_colour = true }}'))
    assert {to for _, at, to, _ in moves(made, {"b1": "C:B"}, {"C:B": 1}) if at == HAND} == {
        *("a1", "a2", "b2", "b3", "c1", "c3")
    }
