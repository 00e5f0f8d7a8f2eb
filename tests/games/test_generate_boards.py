"""Zones, holes, cylinders and boards in space, as documents are generated for them."""

from __future__ import annotations

import pytest

from ggn_store import problems
from ggn_store.games.definition import read
from ggn_store.games.generate import generate
from tests.support.definitions import destinations, document, entries, shipped_document, sources


def test_a_confined_piece_neither_leaves_its_zone_nor_is_elsewhere() -> None:
    made = document('[pieces.G]\nbetza = "W"\nconfined = "d1:f3"', "9x10")
    assert set(sources(made, "C:G")) == {file + rank for file in "def" for rank in "123"}
    assert sorted(destinations(made, "C:G", "f3")) == ["e3", "f2"]
    assert set(sources(made, "c:g")) == {f"{file}{rank}" for file in "def" for rank in (8, 9, 10)}


def test_further_moves_are_from_some_squares_only_and_keep_within_their_zone() -> None:
    text = """
[zones]
cross = ["d1", "f1", "e2", "d3", "f3"]
[pieces.R]
betza = "R"
also = [{ from = "cross", betza = "B", within = "cross" }]
"""
    made = document(text, "9x10")
    diagonal = {"e2", "f3"}
    assert diagonal & set(destinations(made, "C:R", "d1")) == diagonal
    assert "g4" not in destinations(made, "C:R", "d1")
    assert "f2" not in destinations(made, "C:R", "e1")
    assert entries(made, "C:R", "d1", "f3")[0]["must"] == {"e2": "empty", "f3": "empty"}


def test_the_second_side_sees_the_mirror_image_or_the_turned_board() -> None:
    text = '[pieces.P]\nbetza = "flF"\nconfined = "a1:c8"\n'
    assert "c8" in sources(document(text), "c:p")
    assert destinations(document(text), "c:p", "b5") == ["a4"]
    turned = document("turned = true\n" + text)
    assert "c8" not in sources(turned, "c:p")
    assert destinations(turned, "c:p", "g5") == ["h4"]
    assert destinations(turned, "C:p".upper(), "b5") == ["a6"]


def test_a_board_can_have_holes() -> None:
    made = generate(
        read('title = "Ring"\nsquares = ["a1:c1", "a2", "c2", "a3:c3"]\nstyle = "C"\n[pieces.R]\nbetza = "R"')
    )
    assert destinations(made, "C:R", "b1") == ["c1", "a1"]
    assert len(sources(made, "C:R")) == 8
    assert made.envelope.board is None
    assert problems(made.canonical(), envelope=made.envelope) == []


def test_files_wrap_round_on_a_cylinder() -> None:
    made = document('cylinder = true\n[pieces.W]\nbetza = "W"')
    assert sorted(destinations(made, "C:W", "a1")) == ["a2", "b1", "h1"]


def test_zones_of_a_board_in_space_are_mirrored_in_layers_too() -> None:
    made = document('[pieces.U]\nbetza = "R"\nconfined = "a1A:e1A"', "5x5x5")
    assert sources(made, "C:U") == ["a1A", "b1A", "c1A", "d1A", "e1A"]
    assert sources(made, "c:u") == ["a5E", "b5E", "c5E", "d5E", "e5E"]


# Moves from the middle of the empty board: 26 neighbours, 24 leaps of the knight, and rays of two to each side.
SPACE = [("K^", "c3C", 26), ("N", "c3C", 24), ("R", "c3C", 12), ("B", "c3C", 24), ("U", "c3C", 16), ("Q", "c3C", 52)]


@pytest.mark.parametrize(("letter", "square", "count"), SPACE)
def test_pieces_of_raumschach_have_their_moves_in_space(letter: str, square: str, count: int) -> None:
    for piece in (f"C:{letter}", f"c:{letter.lower()}"):
        assert len(destinations(shipped_document("raumschach"), piece, square)) == count


def test_pawns_of_raumschach_go_forward_and_up_and_the_other_side_back_and_down() -> None:
    made = shipped_document("raumschach")
    assert destinations(made, "C:P", "c2B") == ["c3B", "c2C", "b3B", "d3B", "c3C", "b2C", "d2C"]
    assert sorted(destinations(made, "c:p", "c4D")) == sorted(["c3D", "c4C", "b3D", "d3D", "c3C", "b4C", "d4C"])
    promoted = [each["diff"]["board"]["c5E"] for each in entries(made, "C:P", "c4E", "c5E")]
    assert promoted == ["C:Q", "C:R", "C:B", "C:U", "C:N"]


def test_a_zone_holds_the_square_that_a_ride_begins_over_whatever_is_there() -> None:
    text = '[pieces.R]\nbetza = ""\nalso = [{{ betza = "jR", within = {} }}]'
    assert destinations(document(text.format('["b1", "c1", "d1"]'), "4x4"), "C:R", "a1") == ["c1", "d1"]
    assert destinations(document(text.format('["c1", "d1"]'), "4x4"), "C:R", "a1") == []
