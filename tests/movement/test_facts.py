"""What is derived of pieces: against plain Python on documents of every dialect, and by hand."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from hypothesis import strategies as st

from ggn_store import convert, find_game, generate, parse
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Document
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
        if at is None:  # whether colours are told is up to the squares that are reached
            found[-1] = wanted[-1] = None
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
