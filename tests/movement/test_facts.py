"""What is derived of pieces: against plain Python on documents of every dialect, and by hand."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import strategies as st

from ggn_store import convert, find_game, generate, parse
from ggn_store.model.documents import layout as layouts
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Document
from ggn_store.model.documents.layout import PLAIN, Layout
from ggn_store.movement.facts import Deriver, Facts, reach
from tests.oracles import analyses
from tests.oracles import facts as oracle
from tests.support.loaded import in_random_documents
from tests.support.strategies import documents

Json = dict[str, Any]


def derived(document: Document) -> dict[str, Facts]:
    deriver = Deriver(document.board)
    return {piece.identifier: deriver.of(piece) for piece in document.pieces}


def points(board: Board) -> dict[str, tuple[int, ...]] | None:
    return None if board.extent is None else analyses.points(board.squares)


def require_equal(document: Document, data: Json) -> None:
    """What is derived of a document is what the oracle says of its JSON."""
    at = points(document.board)
    counts, mobility = oracle.counts(data, at), oracle.mobility(data, at)
    ways = None if at is None else oracle.ways(data, at)
    for piece, facts in derived(document).items():
        assert facts.counts._asdict() == {name: counts[piece][name] for name in facts.counts._fields}, piece
        assert tuple(facts.kinds) == ((None,) * 3 if ways is None else ways[piece]), piece
        it = facts.mobility
        found = [it.squares, *it.any, *it.quiet, *it.capture, it.reach, it.colours]
        wanted = [*mobility.get(piece, (None,) * len(found))]
        assert found == wanted, piece


@in_random_documents(few=12, many=500)
def test_facts_are_those_of_plain_python_in_random_documents(dialect: str, data: st.DataObject) -> None:
    document = data.draw(documents(dialect))
    require_equal(parse(document), document)


@functools.cache
def game(name: str) -> Document:
    return generate(find_game(name))


@pytest.mark.parametrize(
    "name",
    [
        "chess",
        "minixiangqi",
        "dobutsu",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("xiangqi", "minishogi", "raumschach", "seirawan")),
    ],
)
def test_facts_of_games_are_those_of_plain_python(name: str) -> None:
    require_equal(game(name), game(name).data())


def test_facts_of_games_in_the_other_dialects_are_those_of_plain_python() -> None:
    for name in ("minixiangqi", "breakthrough"):
        plain = {
            piece: {
                source: {
                    to: [{key: value for key, value in each.items() if key != "diff"} for each in array]
                    for to, array in destinations.items()
                }
                for source, destinations in sources.items()
            }
            for piece, sources in game(name).data().items()
        }
        require_equal(parse(plain, "must-deny"), plain)
        # That dialect has no marks.
        unmarked = json.loads(json.dumps(game(name).data()).replace("^", ""))
        for converted in (convert(parse(unmarked), "perform"), convert(game(name), "gdl")):
            require_equal(converted, converted.data())


def test_pieces_ride_leap_and_hop() -> None:
    chess, xiangqi = derived(game("chess")), derived(game("xiangqi"))
    told = {letter: chess[f"C:{letter}"].kinds for letter in ("Q", "N", "K^", "P")}
    assert {letter: (each.rides, each.leaps, each.hops) for letter, each in told.items()} == {
        "Q": (True, False, False),
        "N": (False, True, False),
        "K^": (False, True, False),
        "P": (False, True, False),
    }
    assert xiangqi["X:C"].kinds == (True, False, True)
    assert chess["C:B"].mobility.colours == "bound"


def test_what_pawns_and_kings_of_chess_do_is_counted() -> None:
    chess = derived(game("chess"))
    # Seven squares to take from on each side, twice; eight steps and 14 captures of the last rank, of four pieces each.
    assert chess["C:P"].counts.elsewhere == 14
    assert chess["C:P"].counts.promoting == 4 * (8 + 14)
    assert chess["C:+K^"].counts.castling == 2
    assert chess["C:N"].counts == (336, 0, 0, 0, 0, 0, 0)


def test_without_effects_what_may_stand_on_the_destination_may_be_captured() -> None:
    document = {
        "C:N": {"a1": {"b3": [{"deny": {"a2": "enemy"}}, {"must": {"b3": "enemy"}}, {"must": {"b3": "empty"}}]}}
    }
    counts = derived(parse(document, "must-deny"))["C:N"].counts
    assert (counts.either, counts.displacing, counts.off_path) == (1, 1, 1)


def test_who_becomes_one_of_the_other_side_where_it_goes_has_captured_there() -> None:
    """The enemy's stones are what pieces of petrified chess become that capture."""
    taken = {"a1": None, "b3": "C:W"}
    document = {
        "c:n": {
            "a1": {
                "b3": [
                    {"require": {"b3": "enemy"}, "perform": taken},
                    {"require": {"b3": "C:+P"}, "perform": taken},
                    # What it leaves in place of another enemy, and does not go to, it has not captured.
                    {"require": {"b3": "C:P"}, "perform": {"b3": "C:W"}},
                    {"require": {"b3": "C:P"}, "perform": {"a1": "c:n", "b3": "C:W"}},
                    {"require": {"a2": "C:P", "b3": "empty"}, "perform": {"a1": None, "b3": "c:n", "a2": "C:W"}},
                ]
            }
        }
    }
    counts = derived(parse(document, "perform"))["c:n"].counts
    assert (counts.displacing, counts.elsewhere, counts.by_another, counts.either) == (2, 0, 0, 0)


def test_a_piece_leaps_as_rules_say_that_castle_not() -> None:
    changes = {"a1": None, "a2": "C:P", "b3": None, "b2": "C:R"}
    rules = [
        {"must": {"b3": "C:R"}, "diff": {"board": changes}},
        {"must": {"b3": "c:p"}, "diff": {"board": {"a1": None, "b3": "C:N"}}},
        {"must": {"b3": "C:R"}, "diff": {}},
    ]
    # Neither the first one of them alone leaps, nor one that captures a certain piece when it castles.
    captures = {
        "must": {"b3": "c:p", "a3": "C:R"},
        "diff": {"board": {"a1": None, "b3": "C:N", "a3": None, "a2": "C:R"}},
    }
    for possibilities, leaps in ((rules[:1], False), (rules[:2], True), (rules[::2], True), ([captures], False)):
        facts = derived(parse({"C:N": {"a1": {"b3": possibilities}}}))["C:N"]
        assert (facts.counts.castling, facts.kinds.leaps) == (1, leaps), possibilities


def test_a_square_leads_to_all_that_others_lead_to() -> None:
    circle = {0: 0b10, 1: 0b100, 2: 0b1001}
    assert reach(circle | {4: 0b1}) == 5
    assert reach({0: 0}) == 1
    assert reach({}) == 0


def test_squares_without_coordinates_have_mobility_and_no_movement() -> None:
    document = {"GO:A": {"p-1": {"p-2": [{"perform": {"p-1": None, "p-2": "GO:A"}}]}}}
    [facts] = derived(parse(document)).values()
    assert (facts.moves.fingerprint, facts.kinds.leaps) == (None, None)
    assert (facts.mobility.squares, facts.mobility.reach, facts.counts.either) == (1, 2, 1)


def test_squares_that_are_far_apart_take_no_time() -> None:
    far = {"must": {"b1": "empty", "zzzzy1": "enemy"}}
    facts = derived(parse({"C:R": {"a1": {"zzzzzz1": [far], "b1": [{}], "zzzzzy1": [far]}}}, "must-deny"))["C:R"]
    assert facts.moves.words is not None
    assert facts.kinds.hops


# --- hexagons, holes and networks ---


# A neighbour in each direction of the hexagons of Gliński's board, by file and rank: ranks fall from the sixth file on.
def neighbours(file: int, rank: int) -> list[tuple[int, int]]:
    left, right = (0 if file <= 6 else 1), (0 if file >= 6 else 1)
    return [
        *((file, rank + 1), (file, rank - 1)),
        *((file - 1, rank + left), (file - 1, rank + left - 1)),
        *((file + 1, rank + right), (file + 1, rank + right - 1)),
    ]


def three_colours() -> dict[str, int]:
    """The squares of Gliński's board, coloured so that no neighbours are of one colour."""
    board = {(file, rank) for file in range(1, 12) for rank in range(1, 12 - abs(file - 6))}
    found = {(6, 1): 0, (6, 2): 1}
    while len(found) < len(board):
        for square in sorted(board - found.keys()):
            near = [each for each in neighbours(*square) if each in found]
            if len({found[each] for each in near}) == 2:
                found[square] = 3 - sum({found[each] for each in near})
    return {f"{'abcdefghijk'[file - 1]}{rank}": colour for (file, rank), colour in found.items()}


def test_hexagons_have_three_colours_and_lines_of_their_own() -> None:
    document = game("glinski")
    colours = three_colours()
    deriver = Deriver(document.board, layouts.of(document.envelope))
    facts = {piece.identifier: deriver.of(piece) for piece in document.pieces}
    for piece, sources in document.data().items():
        changes = {colours[a] == colours[b] for a, to in sources.items() for b in to}
        told = "free" if len(changes) > 1 else "bound" if True in changes else "alternating"
        assert facts[piece].mobility.colours == told, piece
        named = {
            square
            for square, there in zip(document.board.squares, facts[piece].named or "", strict=True)
            if there == "1"
        }
        assert named == next(each for each in document.pieces if each.identifier == piece).squares()
    assert [
        (facts[f"C:{letter}"].moves.words, tuple(facts[f"C:{letter}"].kinds)) for letter in ("R", "B", "Q", "N")
    ] == [
        ("slides orthogonally", (True, False, False)),
        ("slides diagonally", (True, False, False)),
        ("slides orthogonally; slides diagonally", (True, False, False)),
        ("knight leaps", (False, True, False)),
    ]
    # From the middle a rook goes ten squares along each of three lines; a bishop is bound to thirty-one squares.
    assert facts["C:R"].mobility.any.most == 30
    assert facts["C:B"].mobility.reach == 31
    assert all(facts[f"C:{letter}"].moves == facts[f"c:{letter.lower()}"].moves for letter in ("R", "B", "N"))


def test_pieces_of_hexagons_move_alike_whatever_their_labels() -> None:
    squares = "abcdefghi"
    axial = {(file, rank) for file in range(9) for rank in range(9)}

    def document(label: Callable[[int, int], str]) -> Document:
        rook: dict[str, Any] = {}
        for x, y in axial:
            for dx, dy in ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)):
                way = list(takewhile(axial.__contains__, ((x + dx * k, y + dy * k) for k in range(1, 9))))
                for count, to in enumerate(way):
                    must = {label(*each): "empty" for each in way[: count + 1]}
                    rook.setdefault(label(x, y), {})[label(*to)] = [{"must": must}]
        return parse({"C:R": rook}, "must-deny")

    plain = document(lambda x, y: f"{squares[x]}{y + 1}")
    leaning = document(lambda x, y: f"{'abcdefghijklmnopq'[x + y]}{y + 1}")
    one, two = (
        Deriver(each.board, Layout(form, has_holes=True)).of(each.pieces[0])
        for each, form in ((plain, "rows"), (leaning, "rows-left"))
    )
    assert one.moves == two.moves
    assert one.moves.words == "slides orthogonally without capturing"
    assert derived(plain)["C:R"].moves.fingerprint != one.moves.fingerprint


def test_squares_without_coordinates_and_places_of_networks_have_no_colours() -> None:
    for start, to in (("north", "hub"), ("a1", "hub"), ("hub", "b2A")):
        document = {"C:N": {start: {to: [{"must": {to: "empty"}}]}}}
        assert derived(parse(document, "must-deny"))["C:N"].mobility.colours is None
    step = parse({"C:N": {"a1": {"a2": [{"must": {"a2": "empty"}}]}}}, "must-deny")
    assert derived(step)["C:N"].mobility.colours == "alternating"
    assert Deriver(step.board, Layout("network []")).of(step.pieces[0]).mobility.colours is None


def test_who_castles_does_not_hop_nor_who_asks_for_others_or_goes_along_no_line() -> None:
    def hops(document: Json, layout: Layout = PLAIN) -> bool | None:
        [piece] = parse(document).pieces
        return Deriver(Board(("a1", "b1", "c1", "d1")), layout).of(piece).kinds.hops

    over = {"must": {"b1": "C:R", "c1": "empty"}, "diff": {"board": {"a1": None, "c1": "C:N"}}}
    castling = {"must": {"b1": "C:R", "c1": "empty"}, "diff": {"board": {"a1": None, "b1": "C:N", "c1": "C:R"}}}
    asking = {"must": {"b1": "C:R", "c1": "empty", "d1": "C:R"}, "diff": {"board": {"a1": None, "c1": "C:N"}}}
    assert hops({"C:N": {"a1": {"c1": [over]}}})
    assert not hops({"C:N": {"a1": {"c1": [castling]}}})
    assert not hops({"C:N": {"a1": {"c1": [asking]}}})
    assert hops({"C:N": {"a1": {"c1": [over]}}}, Layout('network ["a1 b1 c1"]'))
    assert not hops({"C:N": {"a1": {"c1": [over]}}}, Layout('network ["a1 b1", "b1 c1"]'))
