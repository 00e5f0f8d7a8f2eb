"""The geometry of boards: steps, lines and neighbours of squares, hexagons, cylinders and networks."""

from __future__ import annotations

import pytest

from ggn_store.model.documents.board import Board, box, parse_shape
from ggn_store.model.documents.geometry import Labels, Lattice, Network, images_of, opposite, symmetries

PLAIN = Lattice(parse_shape("8x8"))
CYLINDER = Lattice(parse_shape("8x8"), cylinder=True)
HEXAGONS = Lattice(parse_shape("5x5"), hexagonal=True)


def around(lattice: Lattice, place: str) -> str:
    return " ".join(each for each in lattice.places if lattice.adjacent(place, each))


def test_neighbours_are_those_of_the_lattice() -> None:
    assert around(PLAIN, "a4") == "a3 b3 b4 a5 b5"
    assert around(CYLINDER, "a4") == "a3 b3 h3 b4 h4 a5 b5 h5"
    assert around(HEXAGONS, "c3") == "c2 d2 b3 d3 b4 c4"
    assert around(Lattice(parse_shape("3")), "b") == "a c"
    assert len(around(Lattice(parse_shape("3x3x3")), "b2B").split()) == 26


@pytest.mark.parametrize(
    ("lattice", "a", "b", "lines"),
    [
        (PLAIN, "a1", "d1", [("b1", "c1")]),
        (PLAIN, "d4", "a1", [("c3", "b2")]),
        (PLAIN, "a1", "b3", []),
        (PLAIN, "a1", "a1", [()]),
        (CYLINDER, "a1", "d1", [("b1", "c1"), ("h1", "g1", "f1", "e1")]),
        (CYLINDER, "a1", "g3", [("h2",)]),
        (CYLINDER, "a1", "h1", [(), ("b1", "c1", "d1", "e1", "f1", "g1")]),
        (HEXAGONS, "a3", "c1", [("b2",)]),
        (HEXAGONS, "a1", "c3", []),
        (Lattice(Board(("a1", "b1", "d1"))), "a1", "d1", []),
    ],
)
def test_lines_join_places_over_places_of_the_board(
    lattice: Lattice, a: str, b: str, lines: list[tuple[str, ...]]
) -> None:
    assert lattice.lines(a, b) == lines


def test_a_place_lies_halfway_between_others_on_the_shortest_way() -> None:
    assert PLAIN.middle("a1", "c5") == "b3"
    assert PLAIN.middle("a1", "b1") is None
    assert CYLINDER.middle("b1", "h1") == "a1"
    assert CYLINDER.vector("h1", "b3") == (2, 2)
    assert CYLINDER.laps((2, 0))[:2] == [(2, 0), (-6, 0)]


def test_a_symmetry_takes_each_place_to_its_image() -> None:
    images = dict(zip(PLAIN.places, PLAIN.images(opposite(2)), strict=True))
    assert (images["a1"], images["e2"]) == ("a8", "e7")
    turned = dict(zip(PLAIN.places, PLAIN.images(opposite(2, is_turned=True)), strict=True))
    assert (turned["a1"], turned["e2"]) == ("h8", "d7")
    assert [len(symmetries(dimensions)) for dimensions in (1, 2, 3)] == [2, 8, 48]


@pytest.mark.parametrize(
    ("labels", "around_c3", "image"),
    [
        ("axial", "c2 d2 b3 d3 b4 c4", "c5"),
        ("leaning", "b2 c2 b3 d3 c4 d4", "c5"),
        ("falling", "b2 c2 b3 d3 c4 d4", "c5"),
        ("bent", "c2 b3 d3 b2 d2 c4", ""),  # a board like a V: turned round, c1 is not on it
    ],
)
def test_labels_of_hexagons_say_where_they_lie(labels: Labels, around_c3: str, image: str) -> None:
    lattice = Lattice(parse_shape("5x5"), hexagonal=True, labels=labels)
    assert set(around(lattice, "c3").split()) == set(around_c3.split())
    images = dict(zip(lattice.places, lattice.images(opposite(2, is_turned=True)), strict=True))
    assert (images["a1"], images["c1"]) == ("e5", image)


def test_images_of_a_vector_are_as_many_as_hexagons_have() -> None:
    assert images_of((1, 0), 2, hexagonal=True) == {(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)}
    assert images_of((1, 1), 2, hexagonal=True) == {(1, 1), (-1, 2), (-2, 1), (-1, -1), (1, -2), (2, -1)}
    assert len(images_of((2, 1), 2, hexagonal=True)) == 12


def test_a_network_has_edges_and_no_lines() -> None:
    network = Network(("A", "B", "C"), frozenset({("A", "B")}), frozenset({("B", "C")}))
    assert (network.adjacent("A", "B"), network.adjacent("B", "A"), network.adjacent("B", "C")) == (True, False, False)
    assert network.special("B", "C")
    assert (network.lines("A", "B"), network.lines("A", "A"), network.middle("A", "C")) == ([], [()], None)


def test_a_network_that_names_lines_has_what_lies_on_them() -> None:
    network = Network(tuple("ABCDE"), frozenset(), named_lines=(("A", "B", "C", "D"), ("B", "E")))
    assert (network.lines("A", "D"), network.lines("D", "B"), network.lines("A", "E")) == ([("B", "C")], [("C",)], [])
    assert (network.middle("C", "A"), network.middle("A", "D"), network.middle("A", "B")) == ("B", None, None)
    assert network.rows("B", 3) == [("A", "B", "C"), ("B", "C", "D")]
    assert network.rows("E", 2) == [("B", "E")]


def test_a_lattice_has_the_rows_of_all_lines_through_a_place() -> None:
    rows = Lattice(box((3, 3))).rows("a1", 3)
    assert sorted(map(sorted, rows)) == [["a1", "a2", "a3"], ["a1", "b1", "c1"], ["a1", "b2", "c3"]]
    assert len(Lattice(box((3, 3))).rows("b2", 3)) == 4
    assert len(Lattice(box((3, 3)), hexagonal=True).rows("b2", 3)) == 3


def test_squares_without_coordinates_are_no_lattice() -> None:
    assert Lattice.of(Board(("north", "south-1"))) is None
