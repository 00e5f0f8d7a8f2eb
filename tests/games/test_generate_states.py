"""States and promotions in generated documents: castling, first moves, marks of pawns that have passed."""

from __future__ import annotations

import pytest

from ggn_store.model.documents.document import Document
from tests.support.definitions import KINGS, destinations, document, entries, sources

# --- states: castling, first moves, marks ---

CASTLING = """
[pieces.K]
betza = "K"
terminal = true
castling = [
  { from = "f1", to = "i1", with = "j1", with_to = "h1" },
  { from = "f1", to = "c1", with = "a1", with_to = "d1" },
]
[pieces.R]
betza = "R"
"""


def test_castling_is_a_move_of_the_state_that_has_not_moved() -> None:
    made = document(CASTLING, "10x8")
    assert [piece.identifier for piece in made.pieces[:4]] == ["C:+K^", "C:K^", "C:+R", "C:R"]
    assert entries(made, "C:+K^", "f1", "i1") == [
        {
            "must": {"g1": "empty", "h1": "empty", "i1": "empty", "j1": "C:+R"},
            "diff": {"board": {"f1": None, "h1": "C:R", "i1": "C:K^", "j1": None}},
        }
    ]
    assert entries(made, "c:+k^", "f8", "c8") == [
        {
            "must": {"a8": "c:+r", "b8": "empty", "c8": "empty", "d8": "empty", "e8": "empty"},
            "diff": {"board": {"a8": None, "c8": "c:k^", "d8": "c:r", "f8": None}},
        }
    ]
    assert sources(made, "C:+K^") == ["f1"]
    assert sources(made, "c:+r") == ["a8", "j8"]
    assert destinations(made, "C:+K^", "f1")[-2:] == ["i1", "c1"]
    assert destinations(made, "C:K^", "f1")[-1] != "c1"


def test_castling_can_be_said_for_each_side_and_with_squares_of_its_own() -> None:
    made = document(
        """
[pieces.K]
betza = "K"
terminal = true
rook = "T"
castling = { first = [{ from = "d1", to = "b1", with = "a1", with_to = "c1" }], second = [
  { from = "e8", to = "g8", with = "h8", with_to = "f8", empty = ["g8"] },
] }
[pieces.T]
betza = "R"
"""
    )
    assert entries(made, "C:+K^", "d1", "b1")[0]["must"] == {"a1": "C:+T", "b1": "empty", "c1": "empty"}
    assert entries(made, "c:+k^", "e8", "g8")[0]["must"] == {"g8": "empty", "h8": "c:+t"}
    assert entries(made, "c:+k^", "d8", "b8") == []


def test_a_first_move_can_belong_to_a_state() -> None:
    made = document(
        """
[pieces.K]
betza = "KimfN"
terminal = true
unmoved = { first = "d1", second = "e8" }
"""
    )
    assert sources(made, "C:+K^") == ["d1"]
    assert [to for to in destinations(made, "C:+K^", "d1") if to in ("c3", "e3")] == ["e3", "c3"]
    assert {"c6", "e6"}.isdisjoint(destinations(made, "c:k^", "e8"))
    assert entries(made, "c:+k^", "e8", "d6")[0]["diff"] == {"board": {"d6": "c:k^", "e8": None}}


def test_a_first_move_is_from_where_the_piece_stands_at_the_start() -> None:
    made = document('start = "k^3/p3/4/P3/K^3 / C/c"\n' + KINGS + '[pieces.P]\nbetza = "mWimfnD"', "4x5")
    assert destinations(made, "C:P", "a2") == ["a3", "b2", "a1", "a4"]
    assert destinations(made, "C:P", "b2") == ["b3", "c2", "b1", "a2"]


PAWNS = """
host = ["clear-marks"]
[pieces.P]
betza = "mfWimfnDcefF"
initial = "a2:h2"
en_passant = true
"""


def test_a_double_step_leaves_a_mark_and_a_capture_in_passing_takes_it() -> None:
    made = document(PAWNS)
    assert entries(made, "C:P", "e2", "e4") == [
        {"must": {"e3": "empty", "e4": "empty"}, "diff": {"board": {"e2": None, "e4": "C:-P"}}}
    ]
    assert entries(made, "c:p", "d4", "e3") == [
        {"must": {"e3": "enemy"}, "diff": {"board": {"d4": None, "e3": "c:p"}}},
        {"must": {"e3": "empty", "e4": "C:-P"}, "diff": {"board": {"d4": None, "e3": "c:p", "e4": None}}},
    ]
    assert len(entries(made, "c:p", "d5", "e4")) == 1
    assert sources(made, "C:-P") == [f"{file}4" for file in "abcdefgh"]
    assert entries(made, "C:-P", "e4", "e5")[0]["diff"]["board"]["e5"] == "C:P"


def test_a_piece_can_be_taken_on_each_square_that_a_longer_first_move_passes() -> None:
    text = 'host = ["clear-marks"]\n[pieces.P]\nbetza = "mfWimfnDimfnHcefF"\ninitial = "a2:h2"\nen_passant = true'
    made = document(text, "8x10")
    assert entries(made, "C:P", "e2", "e5")[0]["diff"]["board"] == {"e2": None, "e5": "C:-P"}
    assert entries(made, "c:p", "d4", "e3")[1:] == [
        {"must": {"e3": "empty", "e4": "C:-P"}, "diff": {"board": {"d4": None, "e3": "c:p", "e4": None}}},
        {"must": {"e3": "empty", "e5": "C:-P"}, "diff": {"board": {"d4": None, "e3": "c:p", "e5": None}}},
    ]
    assert [each["must"] for each in entries(made, "c:p", "d5", "e4")] == [
        {"e4": "enemy"},
        {"e4": "empty", "e5": "C:-P"},
    ]


def test_two_ways_to_one_square_leave_different_marks() -> None:
    text = """
host = ["clear-marks"]
[pieces.P]
betza = "mfWimfnDcefF"
also = { from = "a2:h2", betza = "imfnH" }
initial = "a2:h3"
en_passant = true
"""
    made = document(text, "8x10")
    assert entries(made, "C:P", "e3", "e5")[0]["diff"]["board"]["e5"] == "C:-P"
    assert entries(made, "C:P", "e2", "e5")[0]["diff"]["board"]["e5"] == "C:+P"
    # Over e3 only the pawn came that began on e2.
    assert [each["must"] for each in entries(made, "c:p", "d4", "e3")] == [
        {"e3": "enemy"},
        {"e3": "empty", "e4": "C:-P"},
        {"e3": "empty", "e5": "C:+P"},
    ]


def test_a_pawn_that_steps_diagonally_is_marked_by_where_it_came_from() -> None:
    text = 'host = ["clear-marks"]\n[pieces.P]\nbetza = "mfFimfnAcefW"\ninitial = "a2:h2"\nen_passant = true'
    made = document(text)
    assert entries(made, "C:P", "c2", "e4")[0]["diff"]["board"]["e4"] == "C:-P"
    assert entries(made, "C:P", "g2", "e4")[0]["diff"]["board"]["e4"] == "C:+P"
    assert {"d3": "empty", "e4": "C:-P"} in [each["must"] for each in entries(made, "c:p", "d4", "d3")]
    assert {"f3": "empty", "e4": "C:+P"} in [each["must"] for each in entries(made, "c:p", "f4", "f3")]


def test_capture_in_passing_can_be_limited_to_a_zone() -> None:
    made = document(PAWNS.replace("en_passant = true", 'en_passant = "e3"'))
    assert entries(made, "C:P", "d2", "d4")[0]["diff"]["board"]["d4"] == "C:P"
    assert entries(made, "C:P", "e2", "e4")[0]["diff"]["board"]["e4"] == "C:-P"


# --- promotion ---


def becomes(made: Document, piece: str, source: str, destination: str) -> list[str]:
    """What a piece can become by a quiet move."""
    return [
        each["diff"]["board"][destination]
        for each in entries(made, piece, source, destination)
        if each["must"][destination] == "empty"
    ]


PROMOTING = """
[pieces.Q]
betza = "K"
[pieces.N]
betza = "N"
[pieces.P]
betza = "fWbW"
promotion = {rule}
"""


@pytest.mark.parametrize(
    ("rule", "source", "destination", "expected"),
    [
        ('{ zone = "a8:h8", to = ["Q", "N"], forced = true }', "e7", "e8", ["C:Q", "C:N"]),
        ('{ zone = "a8:h8", to = ["Q", "N"], forced = true }', "e6", "e7", ["C:P"]),
        ('{ zone = "a8:h8", to = ["Q", "N"] }', "e7", "e8", ["C:P", "C:Q", "C:N"]),
        ('{ zone = "a7:h8", to = ["Q"] }', "e7", "e6", ["C:P"]),
        ('{ zone = "a7:h8", to = ["Q"], on = "enter-or-leave" }', "e7", "e6", ["C:P", "C:Q"]),
        ('{ to = ["N"], on = "any", forced = true }', "e3", "e4", ["C:N"]),
        ('{ zone = "a7:h8", to = ["Q"], capturing = true }', "e7", "e8", ["C:P"]),
        ('[{ zone = "e8", to = ["N"], forced = true }, { zone = "a7:h8", to = ["Q"] }]', "e7", "e8", ["C:N"]),
        ('[{ zone = "e8", to = ["N"], forced = true }, { zone = "a7:h8", to = ["Q"] }]', "e6", "e7", ["C:P", "C:Q"]),
        ('{ zone = { first = "a3:h3", second = "a8:h8" }, to = ["Q"], forced = true }', "e2", "e3", ["C:Q"]),
        ('{ zone = { first = "a3:h3", second = "a8:h8" }, to = ["Q"], forced = true }', "e7", "e8", ["C:P"]),
    ],
)
def test_a_promotion_says_when_and_what(rule: str, source: str, destination: str, expected: list[str]) -> None:
    made = document(PROMOTING.replace("{rule}", rule))
    assert becomes(made, "C:P", source, destination) == expected


def test_a_piece_promotes_where_it_could_not_move_on() -> None:
    made = document(
        """
[pieces.N]
betza = "fN"
promotion = { zone = "a7:i9", to = ["+N"], on = "enter-or-leave", forced = "immobile" }
[pieces."+N"]
betza = "WfF"
""",
        "9x9",
        "S",
    )
    assert becomes(made, "S:N", "e5", "f7") == ["S:N", "S:+N"]
    assert becomes(made, "S:N", "e6", "f8") == ["S:+N"]
    assert becomes(made, "s:n", "e4", "f2") == ["s:+n"]
    assert becomes(made, "s:n", "e6", "f4") == ["s:n"]


def test_a_promotion_on_capture_leaves_quiet_moves_as_they_are() -> None:
    made = document(PROMOTING.replace("{rule}", '{ zone = "all", to = ["Q"], capturing = true, forced = true }'))
    found = [(each["must"]["e5"], each["diff"]["board"]["e5"]) for each in entries(made, "C:P", "e4", "e5")]
    assert found == [("empty", "C:P"), ("enemy", "C:Q")]


def test_a_first_move_that_only_captures_leaves_a_mark_as_well() -> None:
    text = 'host = ["clear-marks"]\n[pieces.P]\nbetza = "mfWimfnDicsnDefF"\ninitial = "b2"\nen_passant = true'
    made = document(text, "4x4")
    assert [each["diff"]["board"] for each in entries(made, "C:P", "b2", "d2")] == [{"b2": None, "d2": "C:-P"}]
    assert [each["must"] for each in entries(made, "c:p", "b3", "c2")] == [{"c2": "empty", "d2": "C:-P"}]


@pytest.mark.parametrize("start", ["", 'start = "4/4/4/+RR+K1 / C/c"\n'])
def test_the_first_moves_of_a_piece_that_kings_castle_with_need_its_state(start: str) -> None:
    text = f"""{start}[pieces.K]
betza = ""
castling = [{{ from = "c1", to = "b1", with = "a1", with_to = "d1" }}]
[pieces.R]
betza = "mWimF"
"""
    made = document(text, "4x4")
    assert destinations(made, "C:+R", "a1") == ["a2", "b1", "b2"]
    assert destinations(made, "C:R", "b1") == ["b2", "c1", "a1"]
