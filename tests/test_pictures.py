"""Pictures: what marks mean, held to python-chess and to known facts; how they look, held to files and to a browser.

`python -m tests.test_pictures` writes the files in tests/pictures anew; look at them before they are kept.
"""

from __future__ import annotations

import html
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ggn_store import GgnStoreError, PictureError, Position, Ruleset, Store, UnknownNameError, find_game, ruleset
from ggn_store.games import generate as generator
from ggn_store.model import board as boards
from ggn_store.model.board import Board
from ggn_store.model.document import Piece
from ggn_store.model.marks import Mark, Way, is_promotion, marks, marks_of_piece
from ggn_store.model.picture import Diagram, HeatMap, Poster
from ggn_store.notation.stn import Transition
from ggn_store.render import legend, png, terminal
from ggn_store.render.diagrams import shade, to_svg
from ggn_store.render.layout import lay_out
from ggn_store.render.picture_text import to_text
from ggn_store.render.svg import text_width
from ggn_store.render.tokens import token
from tests import chess_oracle
from tests.fonts import needs_a_font
from tests.strategies import DIALECTS, documents

PICTURES = Path(__file__).parent / "pictures"
GAMES = ("chess", "minishogi", "xiangqi", "raumschach", "omega", "gomoku")
SVG = "{http://www.w3.org/2000/svg}"

HOSTILE = ["<b>&\"'", "\x1b[2J", "\u202egnp", "]]>", "日本国の首都", "northern harbour", "a\tb", "\ufffe", "x" * 90]
LISTED: dict[str, Any] = {
    "CHESS:P": {HOSTILE[0]: {label: [{"perform": {HOSTILE[0]: None, label: "CHESS:P"}}] for label in HOSTILE[1:]}}
}
MIXED = Position(
    {"a1": "C:K^", "b2": "shogi:+p'", "d5": "s:-r", "h8": "OGI:+K^'", "e4": "S:K^", "e5": "s:k^", "f7": "c:q'"},
    {"C:P": 1, "shogi:p'": 222_222, "c:q": 3},
    "second",
)
SHOGI = Position.from_feen("rbs1k^/1g2p/5/P1S2/K^G1BR P2S/r12p s/S")
ITALIAN = Position.from_feen("+r1bq+k^bn+r/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/+RNBQ+K^2+R / C/c")


@pytest.fixture(scope="module")
def games() -> Iterator[dict[str, Ruleset]]:
    with Store.open("sqlite://") as store:
        store.load_library(*GAMES)
        yield {name: store.ruleset(name) for name in GAMES}


CASES: dict[str, Callable[[dict[str, Ruleset]], str]] = {
    "chess-start": lambda games: games["chess"].draw(),
    "chess-pawn": lambda games: games["chess"].draw(piece="C:P", source="e5"),
    "chess-promotion": lambda games: games["chess"].draw(piece="c:p", source="b2"),
    "chess-castling": lambda games: games["chess"].draw(piece="C:+K^"),
    "chess-position": lambda games: games["chess"].draw(position=ITALIAN, source="f3"),
    "chess-mobility": lambda games: games["chess"].draw(piece="C:N", mobility=True),
    "chess-poster": lambda games: games["chess"].draw(poster=True),
    "minishogi-hands": lambda games: games["minishogi"].draw(position=SHOGI),
    "minishogi-drop": lambda games: games["minishogi"].draw(piece="S:P", source="*"),
    "xiangqi-cannon": lambda games: games["xiangqi"].draw(piece="X:C", source="e5"),
    "raumschach-unicorn": lambda games: games["raumschach"].draw(piece="C:U", source="c3C"),
    "omega-start": lambda games: games["omega"].draw(),
    "gomoku-drop": lambda games: games["gomoku"].draw(piece="G:S"),
    "mixed-styles": lambda games: games["chess"].draw(position=MIXED),
    "listed-squares": lambda _: ruleset(LISTED).draw(piece="CHESS:P"),
}


@pytest.fixture(scope="module")
def drawn(games: dict[str, Ruleset]) -> dict[str, str]:
    return {name: case(games) for name, case in CASES.items()}


# --- what marks mean ---


def of_square(found: tuple[Mark, ...]) -> dict[str, Mark]:
    by_square = {mark.square: mark for mark in found}
    assert len(by_square) == len(found), "one mark a square"
    return by_square


def shapes(found: tuple[Mark, ...]) -> dict[str, str]:
    return {square: " ".join(legend.shapes(mark)) for square, mark in of_square(found).items()}


def geometric(games: dict[str, Ruleset], game: str, piece: str, source: str) -> tuple[Mark, ...]:
    picture = games[game].picture(piece=piece, source=source)
    assert isinstance(picture, Diagram)
    return picture.marks


KINDS = {"K^": chess.KING, "Q": chess.QUEEN, "R": chess.ROOK, "B": chess.BISHOP, "N": chess.KNIGHT, "P": chess.PAWN}


@pytest.mark.parametrize("color", [chess.WHITE, chess.BLACK])
@pytest.mark.parametrize("token", KINDS)
def test_the_captures_that_are_marked_are_the_attacks_of_python_chess_from_every_square(
    games: dict[str, Ruleset], token: str, color: chess.Color
) -> None:
    identifier = f"C:{token}" if color == chess.WHITE else f"c:{token.lower()}"
    piece = games["chess"].read_piece(identifier)
    for source in (each.square for each in piece.sources):
        board = chess.Board(None)
        board.set_piece_at(chess.parse_square(source), chess.Piece(KINDS[token], color))
        attacked = {chess.SQUARE_NAMES[square] for square in board.attacks(chess.parse_square(source))}
        found = of_square(marks_of_piece(piece, source))
        assert {square for square, mark in found.items() if mark.capture == "freely"} == attacked
        board.turn = color
        quiet = {chess.SQUARE_NAMES[move.to_square] for move in board.pseudo_legal_moves}
        assert {square for square, mark in found.items() if mark.quiet == "freely"} == quiet
        assert not any(mark.is_over for mark in found.values())


def test_the_marks_in_positions_are_the_moves_of_python_chess(games: dict[str, Ruleset]) -> None:
    checked: dict[str, int] = dict.fromkeys(("quiet", "capture", "elsewhere", "promotes"), 0)
    for path in sorted(chess_oracle.POSITIONS.glob("chess_*.fen")):
        for board in chess_oracle.read_positions(path)[::25]:
            squares, side = chess_oracle.position_of(board)
            position = Position(squares, None, side)
            moves = [*board.pseudo_legal_moves, *chess_oracle.castlings_through_attack(board)]
            for source in {chess.SQUARE_NAMES[move.from_square] for move in moves}:
                picture = games["chess"].picture(source=source, position=position)
                assert isinstance(picture, Diagram)
                own = [move for move in moves if chess.SQUARE_NAMES[move.from_square] == source]
                expected = {
                    "quiet": {move.to_square for move in own if not board.is_capture(move)},
                    "capture": {move.to_square for move in own if board.is_capture(move)},
                    "elsewhere": {m.to_square for m in own if board.is_castling(m) or board.is_en_passant(m)},
                    "promotes": {move.to_square for move in own if move.promotion},
                }
                for name, wanted in expected.items():
                    marked = {mark.square for mark in picture.marks if getattr(mark, name) not in (False, "never")}
                    assert marked == {chess.SQUARE_NAMES[square] for square in wanted}, (board.fen(), source, name)
                    checked[name] += len(wanted)
    assert min(checked.values()) > 10, checked


def test_a_pawn_has_a_ring_ahead_and_crosses_at_its_sides(games: dict[str, Ruleset]) -> None:
    assert shapes(geometric(games, "chess", "C:P", "e2")) == {
        "e3": "ring",
        "e4": "ring",
        "d3": "cross",
        "f3": "cross",
    }


def test_a_capture_in_passing_and_castling_have_a_square(games: dict[str, Ruleset]) -> None:
    assert shapes(geometric(games, "chess", "C:P", "e5")) == {
        "e6": "ring",
        "d6": "cross square",
        "f6": "cross square",
    }
    king = shapes(geometric(games, "chess", "C:+K^", "e1"))
    assert {square for square, found in king.items() if found == "ring square"} == {"c1", "g1"}
    assert {square for square, found in king.items() if found == "disc"} == {"d1", "f1", "d2", "e2", "f2"}
    words = of_square(geometric(games, "chess", "C:+K^", "e1"))["g1"].words
    assert words == "moves, does not capture; f1 becomes C:R, h1 is emptied; if h1 is C:+R"


def test_words_tell_what_all_ways_ask_of_other_squares(games: dict[str, Ruleset]) -> None:
    one = Way("e4", {"d5": "c:-p", "e4": "empty", "e3": "empty"}, {"a1": "empty", "b1": "enemy"}, None)
    other = Way("e4", {"d5": "c:-p", "e4": "enemy"}, {"a1": "empty", "c1": "C:R"}, None)
    [mark] = marks("C:P", "e2", [one])
    assert mark.words == "moves, does not capture; if d5 is c:-p, a1 is taken, b1 is no enemy"
    [mark] = marks("C:P", "e2", [one, other])
    assert mark.words == "moves or captures; if d5 is c:-p, a1 is taken"
    [mark] = marks("C:P", "e2", [one], {"e2": "C:P"})
    assert mark.words == "moves, does not capture"
    many = Way("e4", {}, {f"a{rank}": "S:P" for rank in range(1, 8)}, None)
    assert marks("C:P", "e2", [many])[0].words.endswith(
        "; if a1 is not S:P, a2 is not S:P, a3 is not S:P, a4 is not S:P and more"
    )
    passing = of_square(geometric(games, "chess", "C:P", "e5"))["d6"]
    assert passing.words == "captures only; in some ways, d5 is emptied"


def test_a_promotion_has_a_plus_and_its_words_name_the_pieces(games: dict[str, Ruleset]) -> None:
    found = of_square(geometric(games, "chess", "C:P", "d7"))
    assert shapes(tuple(found.values())) == {"d8": "ring plus", "c8": "cross plus", "e8": "cross plus"}
    assert found["d8"].words == "moves, does not capture; becomes C:Q, C:R, C:B or C:N"


def test_a_knight_has_eight_discs_and_a_bishop_thirteen(games: dict[str, Ruleset]) -> None:
    assert sorted(shapes(geometric(games, "chess", "C:N", "d4")).values()) == ["disc"] * 8
    assert sorted(shapes(geometric(games, "chess", "C:B", "d4")).values()) == ["disc"] * 13


def test_a_cannon_moves_freely_and_captures_over_a_piece(games: dict[str, Ruleset]) -> None:
    expected = {}
    for x, y in itertools.product(range(9), range(10)):
        if (x == 4) != (y == 4):
            is_near = abs(x - 4) + abs(y - 4) == 1
            expected["abcdefghi"[x] + str(y + 1)] = "ring" if is_near else "ring cross-over"
    assert shapes(geometric(games, "xiangqi", "X:C", "e5")) == expected


def rules_of(game: str, identifier: str) -> Piece:
    return next(piece for piece in generator.pieces(find_game(game)) if piece.identifier == identifier)


def test_a_knight_of_shogi_goes_to_two_squares_and_promotes_on_the_last_ranks() -> None:
    knight = rules_of("shogi", "S:N")
    assert shapes(marks_of_piece(knight, "e3")) == {"d5": "disc", "f5": "disc"}
    assert shapes(marks_of_piece(knight, "e5")) == {"d7": "disc plus", "f7": "disc plus"}
    words = {source: marks_of_piece(knight, source)[0].words for source in ("e5", "e7")}
    assert words == {
        "e5": "moves or captures; may become S:+N",
        "e7": "moves or captures; becomes S:+N",
    }


def test_a_pawn_of_shogi_is_dropped_on_all_ranks_but_the_last() -> None:
    found = marks_of_piece(rules_of("shogi", "S:P"), "*")
    assert set(shapes(found).values()) == {"ring"}
    assert {mark.square for mark in found} == {f"{file}{rank}" for file in "abcdefghi" for rank in range(1, 9)}
    assert all(mark.words.startswith("drops, does not capture; if ") for mark in found)


def test_a_cannon_of_janggi_also_moves_over_a_piece_only() -> None:
    found = shapes(marks_of_piece(rules_of("janggi", "J:C"), "e5"))
    assert set(found.values()) == {"disc-over"}
    assert "e6" not in found
    assert "e7" in found


def test_a_unicorn_goes_along_the_four_diagonals_of_space(games: dict[str, Ruleset]) -> None:
    corners = {f"{x}{y}{z}" for x in "bd" for y in "24" for z in "BD"} | {
        f"{x}{y}{z}" for x in "ae" for y in "15" for z in "AE"
    }
    assert shapes(geometric(games, "raumschach", "C:U", "c3C")) == dict.fromkeys(corners, "disc")


EMPTIED = {"e2": None, "e4": "C:P"}
WAYS: list[tuple[str, Way, str]] = [
    ("says nothing", Way("e4", {}, {}, None), "disc"),
    ("must be empty", Way("e4", {"e4": "empty"}, {}, None), "ring"),
    ("must be an enemy", Way("e4", {"e4": "enemy"}, {}, None), "cross"),
    ("must be an enemy's piece", Way("e4", {"e4": "c:p"}, {}, None), "cross"),
    ("must be an own piece that is lost", Way("e4", {"e4": "C:R"}, {}, Transition(EMPTIED)), "cross"),
    ("must be an own piece that stays", Way("e4", {"e4": "C:R"}, {}, Transition({"e2": "C:R", "e4": "C:P"})), "ring"),
    ("must not be empty", Way("e4", {}, {"e4": "empty"}, None), "cross"),
    ("must not be an enemy", Way("e4", {}, {"e4": "enemy"}, None), "ring"),
    ("must not be an own piece", Way("e4", {}, {"e4": "C:R"}, None), "disc"),
    ("over an enemy", Way("e4", {"e3": "enemy"}, {}, None), "disc-over"),
    ("over anything", Way("e4", {"e4": "enemy"}, {"e3": "empty"}, None), "cross-over"),
    ("an empty square between", Way("e4", {"e3": "empty"}, {}, None), "disc"),
    ("a piece beside", Way("e4", {"d3": "enemy"}, {}, None), "disc"),
    ("a piece beyond", Way("e4", {"e5": "enemy"}, {}, None), "disc"),
    ("a piece behind", Way("e4", {"e1": "enemy"}, {}, None), "disc"),
    (
        "jumped over and taken",
        Way("e4", {"e3": "enemy", "e4": "empty"}, {}, Transition({**EMPTIED, "e3": None})),
        "cross square",
    ),
    ("stays where it is", Way("e2", {"d3": "enemy"}, {}, Transition({"e2": "C:P"})), "ring"),
    ("shoots from where it is", Way("e2", {"d3": "enemy"}, {}, Transition({"d3": None})), "cross square"),
    ("goes to the hand", Way("*", {}, {}, Transition({"e2": None}, {"C:P": 1})), "ring"),
    ("becomes another", Way("e4", {}, {}, Transition({"e2": None, "e4": "C:Q"})), "disc plus"),
    ("vanishes", Way("e4", {}, {}, Transition({"e2": None, "e4": None})), "disc"),
]


@pytest.mark.parametrize(("way", "shape"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_a_mark_is_read_from_the_conditions(way: Way, shape: str) -> None:
    [mark] = marks("C:P", "e2", [way])
    assert " ".join(legend.shapes(mark)) == shape


def test_a_free_way_counts_more_than_one_over_a_piece() -> None:
    ways = [Way("e4", {"e3": "enemy", "e4": "empty"}, {}, None), Way("e4", {"e4": "empty"}, {}, None)]
    for order in (ways, ways[::-1]):
        [mark] = marks("C:P", "e2", order)
        assert (mark.quiet, mark.capture) == ("freely", "never")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("C:P", "C:Q", True),
        ("S:P", "S:+P", True),
        ("C:-P", "C:+P", True),
        ("C:+K^", "C:K^", False),
        ("C:P", "C:-P", False),
        ("C:-P", "C:P", False),
        ("C:P", "X:P", True),
        ("C:P", "c:p", False),
    ],
)
def test_a_promotion_is_another_piece_or_the_state_plus(before: str, after: str, expected: bool) -> None:
    assert is_promotion(before, after) is expected


def test_labels_without_coordinates_have_no_between_so_that_any_piece_is_a_hurdle() -> None:
    [mark] = marks("C:P", "Sea", [Way("Pad", {"Hill": "enemy"}, {}, None)])
    assert legend.shapes(mark) == ["disc-over"]


# --- mobility ---

TOTALS = {"C:N": 336, "C:B": 560, "C:R": 896, "C:Q": 1456, "C:K^": 420}


@pytest.mark.parametrize(("piece", "total"), TOTALS.items())
def test_mobility_on_an_empty_board_sums_to_what_is_known(games: dict[str, Ruleset], piece: str, total: int) -> None:
    picture = games["chess"].picture(piece=piece, mobility=True)
    assert isinstance(picture, HeatMap)
    assert sum(picture.counts.values()) == total
    assert f"sum {total}" in to_text(picture)


def test_a_pawn_reaches_nothing_by_captures_on_an_empty_board(games: dict[str, Ruleset]) -> None:
    picture = games["chess"].picture(piece="C:P", mobility=True)
    assert isinstance(picture, HeatMap)
    assert [picture.counts.get(f"e{rank}", 0) for rank in range(1, 9)] == [0, 2, 1, 1, 1, 1, 1, 0]


def test_mobility_counts_squares_that_are_reached_and_each_once() -> None:
    effects = {"board": {"a1": None}, "hands": {"C:P": 1}}
    possibilities = {
        "a1": [{"diff": {"board": {"a1": "C:Q"}}}],
        "*": [{"diff": effects}],
        "a2": [{"diff": {"board": {"a1": None, "a2": piece}}} for piece in ("C:Q", "C:R")],
        "a3": [{"must": {"a3": "enemy"}, "diff": {"board": {"a1": None, "a3": "C:P"}}}],
    }
    picture = ruleset({"C:P": {"a1": possibilities}}).picture(piece="C:P", mobility=True)
    assert isinstance(picture, HeatMap)
    assert picture.counts == {"a1": 1}


# --- posters ---


def test_a_poster_shows_the_pieces_of_both_sides_unless_they_mirror_each_other(games: dict[str, Ruleset]) -> None:
    poster = games["chess"].picture(poster=True)
    assert isinstance(poster, Poster)
    assert [card.piece for card in poster.cards] == [
        *("C:+K^", "C:K^", "C:Q", "C:+R", "C:R", "C:B", "C:N", "C:P", "C:-P")
    ]
    assert poster.cards[6].caption == "C:N knight"
    one_sided = {
        "C:P": {"a1": {"a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:P"}}}]}},
        "c:p": {"a2": {"a1": [{"diff": {"board": {"a2": None, "a1": "c:p"}}}]}},
    }
    poster = ruleset(one_sided).picture(poster=True)
    assert isinstance(poster, Poster)
    assert [card.piece for card in poster.cards] == ["C:P", "c:p"]
    assert poster.notes == ()


def test_a_piece_is_drawn_from_where_it_has_most_destinations(games: dict[str, Ruleset]) -> None:
    sources = {piece: games["chess"].picture(piece=piece) for piece in ("C:P", "c:p", "C:N", "C:+R")}
    assert {piece: picture.source for piece, picture in sources.items() if isinstance(picture, Diagram)} == {
        "C:P": "d2",
        "c:p": "d7",
        "C:N": "d4",
        "C:+R": "a1",
    }


# --- the files ---


@pytest.mark.parametrize("name", CASES)
def test_a_picture_is_the_one_that_was_looked_at(drawn: dict[str, str], name: str) -> None:
    file = PICTURES / f"{name}.svg"
    assert file.read_bytes() == drawn[name].encode(), f"{file} is stale: python -m tests.test_pictures, and look at it"


def test_the_files_of_pictures_are_those_of_the_cases() -> None:
    assert {path.name for path in PICTURES.iterdir()} == {f"{name}.svg" for name in CASES}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(DIALECTS).flatmap(documents), st.data())
def test_any_document_can_be_drawn_and_any_position_of_its_pieces(document: Any, data: st.DataObject) -> None:
    found = ruleset(document)
    piece = data.draw(st.sampled_from(found.pieces))
    squares = st.sampled_from(found.board.squares or ("a1",))
    position = Position(data.draw(st.dictionaries(squares, st.sampled_from(found.pieces))), {piece: 2})
    source = data.draw(st.sampled_from([*(square for square in position.board if square != "*"), "*"]))
    for picture in (
        found.picture(poster=True),
        found.picture(piece=piece, mobility=True),
        found.picture(position=position),
        found.picture(position=position, source=source, piece=position.board.get(source, piece)),
    ):
        root = ElementTree.fromstring(to_svg(picture))
        marks_drawn = [mark.attrib["data-square"] for mark in root.findall(f".//{SVG}g[@class='mark']")]
        if isinstance(picture, Diagram):
            assert len(marks_drawn) == len([mark for mark in picture.marks if mark.square != "*"])
            moves = found.moves(picture.position, piece=picture.piece, source=source) if picture.is_of_moves else []
            assert {mark.square for mark in picture.marks} == {move.destination for move in moves}
        assert all(line.isprintable() for line in to_text(picture).split("\n"))


@pytest.mark.parametrize("name", CASES)
def test_a_picture_is_strict_xml_with_a_title_a_description_and_nothing_that_acts(
    drawn: dict[str, str], name: str
) -> None:
    root = ElementTree.fromstring(drawn[name])
    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    title, description = root.findall("*")[:2]
    assert root.attrib["aria-labelledby"] == f"{title.attrib['id']} {description.attrib['id']}"
    assert title.tag == f"{SVG}title"
    assert description.tag == f"{SVG}desc"
    assert title.text
    assert description.text
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {"svg", "title", "desc", "g", "path", "rect", "circle", "text"}
        assert not any(key.startswith("on") or "href" in key or key == "style" for key in element.attrib)
        assert all("url(" not in value for value in element.attrib.values())
    for mark in root.findall(f".//{SVG}g[@class='mark']"):
        told = mark.find(f"{SVG}title")
        assert told is not None
        assert told.text
        assert told.text.startswith(f"{mark.attrib['data-square']}: ")


def test_pictures_on_one_page_have_identifiers_of_their_own(drawn: dict[str, str]) -> None:
    found = re.findall(' id="([^"]+)"', "".join(drawn.values()))
    assert len(found) == len(set(found)) == 2 * len(drawn)


def test_a_description_tells_the_pieces_the_hands_and_the_turn(games: dict[str, Ruleset]) -> None:
    svg = games["minishogi"].draw(position=Position({"a1": "S:K^", "e5": "s:k^"}, {"s:p": 2}, "second"))
    text = ElementTree.fromstring(svg).findtext(f"{SVG}desc")
    assert text == ("A board of 5x5. first: S:K^ a1. second: s:k^ e5. in the hand of second: 2 s:p. second to move.")


def test_the_legend_lists_the_marks_that_are_used_and_no_others(drawn: dict[str, str]) -> None:
    def told(name: str) -> list[str]:
        texts = [element.text for element in ElementTree.fromstring(drawn[name]).iter(f"{SVG}text")]
        return [meaning for meaning in legend.MEANINGS.values() if meaning in texts]

    assert told("xiangqi-cannon") == [legend.MEANINGS["ring"], legend.MEANINGS["cross-over"]]
    assert told("chess-castling") == [legend.MEANINGS[shape] for shape in ("disc", "ring", "square")]
    assert told("chess-promotion") == [legend.MEANINGS[shape] for shape in ("ring", "cross", "plus")]
    assert told("chess-start") == []


def test_a_piece_has_its_style_only_where_styles_are_mixed(drawn: dict[str, str]) -> None:
    def letters(name: str) -> set[str | None]:
        root = ElementTree.fromstring(drawn[name])
        return {text.text for text in root.findall(f".//{SVG}g[@class='piece']/{SVG}text")}

    assert letters("chess-start") == set("KQRBNP")
    assert letters("mixed-styles") >= {"C", "S", "OGI", "K'", "P'"}


def test_the_first_side_is_below_and_the_files_run_to_the_right() -> None:
    corners = lay_out(boards.around(["c3", "f9"])).corners
    left, bottom = corners["c3"]
    assert corners["d3"] == (left + 48, bottom)
    assert corners["c4"] == (left, bottom - 48)
    layers = lay_out(boards.box((2, 2, 3))).corners
    assert layers["a1A"][1] == layers["a1C"][1]
    assert layers["b1A"][0] + 48 < layers["a1B"][0] < layers["a1C"][0]


def test_a_board_has_its_holes() -> None:
    known = Board(("a1", "c1", "b2"))
    layout = lay_out(known)
    assert layout.corners["a1"][1] == layout.corners["c1"][1] > layout.corners["b2"][1]
    assert layout.corners["a1"][0] < layout.corners["b2"][0] < layout.corners["c1"][0]
    [strokes] = [part for part in layout.ground if 'stroke="#b5b5b5"' in part]
    assert strokes.count("M") == 3 * 3  # three lines in each of three holes


def test_squares_of_labels_come_in_the_order_of_the_document() -> None:
    picture = ruleset(LISTED).picture(piece="CHESS:P")
    assert isinstance(picture, Diagram)
    assert list(picture.board.squares) == HOSTILE


def test_a_large_board_is_refused_with_its_size() -> None:
    with pytest.raises(PictureError, match=r"4,225 squares is too large for a picture, which shows 4,096"):
        lay_out(boards.box((65, 65)))
    with pytest.raises(PictureError, match="1x200 is too large"):
        lay_out(boards.box((1, 200)))
    assert len(lay_out(boards.box((64, 64))).corners) == 4_096
    assert len(lay_out(boards.around([f"sq {number}" for number in range(300)])).corners) == 300
    poster = Poster("x", "y", (Diagram("x", boards.box((64, 64)), Position({}), source="a1"),) * 15)
    with pytest.raises(PictureError, match="draw the pieces one by one"):
        to_svg(poster)


def test_a_position_on_squares_that_an_undeclared_board_does_not_know_is_drawn_with_them() -> None:
    small = ruleset({"C:P": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:P"}}}]}}})
    picture = small.picture(position=Position({"c3": "C:P"}))
    assert isinstance(picture, Diagram)
    assert picture.board.shape == (3, 3)


def test_a_piece_in_a_hole_leaves_the_other_holes_as_they_are(games: dict[str, Ruleset]) -> None:
    picture = games["omega"].picture(position=Position({"a5": "C:K^"}))
    assert isinstance(picture, Diagram)
    assert len(picture.board.squares) == 105
    assert "a5" in lay_out(picture.board).corners


def test_a_ruleset_without_a_start_is_drawn_as_a_poster_and_not_shown_by_notebooks(games: dict[str, Ruleset]) -> None:
    small = ruleset({"C:P": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:P"}}}]}}})
    assert isinstance(small.picture(), Poster)
    assert small._repr_svg_() is None
    assert games["chess"]._repr_svg_() == games["chess"].draw()


def test_one_piece_is_read_as_it_stands_in_the_document(store: Store) -> None:
    data = {
        "C:P": {"a1": {"a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:P"}}}]}},
        "c:p": {"a2": {"a1": [{"diff": {"board": {"a2": None, "a1": "c:p"}, "toggle": False}}]}},
    }
    store.load(data, "two")
    two = store.ruleset("two")
    assert [two.read_piece(piece).data("diff") for piece in two.pieces] == [*data.values()]
    with pytest.raises(UnknownNameError, match='no rules for "C:Q"'):
        two.read_piece("C:Q")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"piece": "C:P", "position": Position({"a2": "C:P", "b2": "C:P"})}, "2 C:P in this position, on a2, b2"),
    ({"piece": "C:Q", "position": Position({"a2": "C:P"})}, "no C:Q in this position"),
    ({"piece": "C:Q", "source": "a2", "position": Position({"a2": "C:P"})}, 'no C:Q on "a2" in this position but C:P'),
    ({"source": "e4"}, 'no piece on "e4"'),
    ({"source": "*"}, "which piece is to be dropped"),
    ({"piece": "C:P", "mobility": True, "poster": True}, "ask for one"),
    ({"poster": True, "piece": "C:P"}, "a poster shows all pieces"),
    ({"mobility": True}, "a heat map of mobility is of one piece"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_drawn_is_told(games: dict[str, Ruleset], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PictureError, match=re.escape(message)):
        games["chess"].draw(**arguments)


def test_names_that_a_ruleset_does_not_have_are_told(games: dict[str, Ruleset]) -> None:
    with pytest.raises(UnknownNameError, match='no rules for "C:X"'):
        games["chess"].draw(piece="C:X")
    with pytest.raises(UnknownNameError, match='no rules from "z9"'):
        games["chess"].draw(piece="C:N", source="z9")


def test_a_piece_in_a_position_moves_whichever_side_is_to_move(games: dict[str, Ruleset]) -> None:
    picture = games["chess"].picture(source="b8")
    assert isinstance(picture, Diagram)
    assert {mark.square for mark in picture.marks} == {"a6", "c6"}


def test_the_only_such_piece_is_found_in_a_position_and_else_in_the_hand(games: dict[str, Ruleset]) -> None:
    picture = games["minishogi"].picture(piece="s:p", position=Position({"a1": "S:K^"}, {"s:p": 1}))
    assert isinstance(picture, Diagram)
    assert picture.source == "*"
    assert {mark.square[1] for mark in picture.marks} == set("2345")  # not on the last rank
    picture = games["minishogi"].picture(piece="s:g", position=SHOGI)
    assert isinstance(picture, Diagram)
    assert picture.source == "b4"


# --- black and white ---


def luminance(color: str) -> float:
    """The relative luminance of a colour (WCAG), which is what is left of it in grey."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colors(element: ElementTree.Element) -> set[str]:
    found = {each.get(key) for each in element.iter() for key in ("fill", "stroke")}
    return {color for color in found if color not in (None, "none")} - {"#ffffff"}


def test_marks_stand_out_from_every_square_in_grey(drawn: dict[str, str]) -> None:
    seen = set()
    for svg in drawn.values():
        root = ElementTree.fromstring(svg)
        squares = {path.attrib["fill"] for path in root.findall(f".//{SVG}g[@class='board']/{SVG}path")}
        for mark in root.findall(f".//{SVG}g[@class='mark']"):
            for color, square in itertools.product(colors(mark), squares):
                assert contrast(color, square) >= 4.5, (color, square)
                seen.add(color)
    assert seen == set(legend.COLORS.values())


def test_light_and_dark_squares_and_pieces_differ_in_grey(drawn: dict[str, str]) -> None:
    root = ElementTree.fromstring(drawn["chess-start"])
    light, dark = [path.attrib["fill"] for path in root.findall(f".//{SVG}g[@class='board']/{SVG}path")]
    assert contrast(light, dark) >= 1.3
    body = {}
    for piece in root.findall(f".//{SVG}g[@class='piece']"):
        [shape] = piece.findall(f"{SVG}circle")[:1]
        [letter] = piece.findall(f"{SVG}text")
        fill, ink = shape.attrib["fill"], letter.get("fill", root.attrib["fill"])
        assert contrast(fill, ink) >= 7
        assert all(
            max(contrast(fill, square), contrast(shape.attrib["stroke"], square)) >= 4.5 for square in (light, dark)
        )
        body[piece.attrib["data-piece"].isupper()] = fill
    assert contrast(body[True], body[False]) >= 7


def test_numbers_can_be_read_on_every_shade_and_shades_get_darker() -> None:
    shades = [shade(count, 28) for count in range(29)]
    assert all(contrast(color, "#1a1a1a") >= 4.5 for color in shades)
    assert [luminance(color) for color in shades] == sorted(map(luminance, shades), reverse=True)
    assert len(set(shades)) == 29
    assert shade(0, 0) == shades[0]


def test_the_shapes_of_marks_differ_without_their_colours() -> None:
    samples = {
        shape: re.sub('(fill|stroke)="#[0-9a-f]+"', "", legend.sample(shape, 0, 0, 48)) for shape in legend.MEANINGS
    }
    assert len(set(samples.values())) == len(legend.MEANINGS)


# --- text ---


def test_moves_are_written_with_marks_on_the_board(games: dict[str, Ruleset]) -> None:
    assert to_text(games["chess"].picture(piece="C:P", source="d7")).splitlines() == [
        "Chess: C:P from d7",
        "8  .  . x+ o+ x+  .  .  .",
        "7  .  .  .  P  .  .  .  .",
        *(f"{rank}  .  .  .  .  .  .  .  ." for rank in range(6, 0, -1)),
        "   a  b  c  d  e  f  g  h",
        "",
        "  o  moves, to an empty square",
        "  x  captures",
        "  +  becomes another piece",
    ]
    cannon = to_text(games["xiangqi"].picture(piece="X:C", source="a1")).splitlines()
    assert cannon[1].split() == ["10", "o(x)", *"." * 8]
    assert cannon[9].split() == ["2", "o", *"." * 8]
    king = to_text(games["chess"].picture(piece="C:+K^")).splitlines()
    assert king[8].split() == ["1", ".", ".", "[o]", "*", "+K^", "*", "[o]", "."]


def test_holes_layers_hands_and_labels_are_written() -> None:
    board = Board(("a1", "c1", "b2"))
    assert to_text(Diagram("x", board, Position({"b2": "C:K"}, {"c:p": 2}))).splitlines() == [
        "2   K",
        "1 .   .",
        "  a b c",
        "hand of second: 2 c:p",
        "first to move",
    ]
    listed = to_text(ruleset(LISTED).picture(piece="CHESS:P")).splitlines()
    assert listed[1] == "<b>&\"' P"
    assert listed[2] == r"\x1b[2J *"


def test_a_poster_and_a_diagram_without_moves_are_written(games: dict[str, Ruleset]) -> None:
    text = to_text(games["chess"].picture(poster=True))
    assert "\nC:N knight\n" in text
    assert text.endswith("and are left out.\n")
    alone = games["chess"].picture(piece="C:P", position=Position({"e2": "C:P", "e3": "c:p"}))
    assert to_text(alone).endswith("\nno moves\n")
    assert "no moves" in to_svg(alone)


# --- terminals and PNG ---


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"TERM": "xterm-256color"}, None),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm2"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm2"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "iterm2"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux"}, None),
        ({"TERM": "screen-256color", "LC_TERMINAL": "iTerm2"}, None),
        ({"TERM": "dumb", "KITTY_WINDOW_ID": "1"}, None),
    ],
)
def test_a_terminal_that_shows_pictures_is_known_by_its_environment(
    environment: dict[str, str], expected: str | None
) -> None:
    assert terminal.protocol(environment) == expected


@pytest.mark.parametrize("size", [1, 3072, 3073, 20_000])
def test_a_picture_is_sent_to_the_terminal_whole(size: int) -> None:
    import base64

    image = bytes(number % 251 for number in range(size))
    parts = "".join(terminal.shown(image, "kitty")).removesuffix("\n").split("\x1b\\")[:-1]
    assert all(part.startswith("\x1b_G") and len(part) < 4_200 for part in parts)
    assert [re.findall("m=([01])", part)[0] for part in parts] == ["1"] * (len(parts) - 1) + ["0"]
    assert base64.b64decode("".join(part.split(";", 1)[1] for part in parts), validate=True) == image
    [shown] = terminal.shown(image, "iterm2")
    assert base64.b64decode(shown.rstrip("\x07\n").rpartition(":")[2], validate=True) == image


def scanlines(image: bytes) -> tuple[int, int, list[bytes]]:
    """Width and height of a PNG of 8-bit channels, and its lines as they were packed."""
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed, head = 8, b"", b""
    while at < len(image):
        length, kind = struct.unpack(">I4s", image[at : at + 8])
        chunk = image[at + 8 : at + 8 + length]
        packed += chunk if kind == b"IDAT" else b""
        head = chunk if kind == b"IHDR" else head
        at += length + 12
    width, height, depth, color = struct.unpack(">IIBB", head[:10])
    assert depth == 8
    step = 1 + width * {2: 3, 6: 4, 0: 1}[color]
    data = zlib.decompress(packed)
    return width, height, [data[i : i + step] for i in range(0, len(data), step)]


@needs_a_font
@pytest.mark.parametrize("name", CASES)
def test_a_picture_becomes_a_png_of_twice_its_size(drawn: dict[str, str], name: str) -> None:
    width, height, lines = scanlines(png.to_png(drawn[name]))
    root = ElementTree.fromstring(drawn[name])
    assert abs(width - 2 * float(root.attrib["width"])) <= 1
    assert abs(height - 2 * float(root.attrib["height"])) <= 1
    assert len(set(lines)) > 40


@needs_a_font
def test_a_huge_picture_becomes_a_png_of_bounded_size() -> None:
    svg = to_svg(Diagram("x", boards.box((64, 64)), Position({})))
    width, height, _ = scanlines(png.to_png(svg, zoom=40))
    assert 30_000_000 < width * height < 41_000_000
    assert scanlines(png.to_png(svg, widest=500))[0] == 500


def test_without_resvg_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(GgnStoreError, match=re.escape("pip install 'ggn-store[png]'")):
        png.to_png("<svg/>")


def test_without_any_font_nothing_is_drawn_without_letters(drawn: dict[str, str]) -> None:
    with pytest.raises(PictureError, match="no font was found"):
        png.to_png(re.sub('font-family="[^"]*"', 'font-family="No Such Font Anywhere"', drawn["chess-start"]))


# --- a browser ---


def browser() -> str | None:
    """A Chromium that is here: $CHROMIUM, one on the path, or Playwright's."""
    names = (
        "chromium",
        "chromium-browser",
        "chromium-headless-shell",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
    )
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        place = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", Path.home() / ".cache" / "ms-playwright"))
        files = sorted((*place.glob("chromium*/*/chrome"), *place.glob("chromium*/*/*headless*shell")))
        found = str(files[-1]) if files else None
    return found


CHROMIUM = browser()
in_a_browser = pytest.mark.skipif(
    CHROMIUM is None,
    reason="no Chromium here: install one, name it with CHROMIUM, or `playwright install chromium`",
)


def chromium(directory: Path, page: Path, *options: str) -> str:
    command = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,1800"),
        *(f"--user-data-dir={directory / 'profile'}", *options, page.as_uri()),
    ]
    result = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr.decode(errors="replace")
    return result.stdout.decode()


MEASURE = """
const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
const found = {};
for (const part of document.querySelectorAll("section")) {
  const of = s => [...part.querySelectorAll(s)];
  found[part.id] = {
    svg: box(part.querySelector("svg")),
    texts: of("text").map(e => [e.textContent, box(e)]),
    marks: of(".mark").map(e => [e.dataset.square, box(e), box(e.parentNode.parentNode.querySelector(".board"))]),
    pieces: of(".piece").map(e => [e.dataset.piece, box(e.querySelector("circle, path")),
                                   [...e.querySelectorAll("text")].map(box)]),
  };
}
document.getElementById("measured").textContent = JSON.stringify(found);
"""


@pytest.fixture(scope="module")
def measured(drawn: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a browser makes of the pictures, all on one page: the boxes of texts, marks, pieces and boards."""
    directory = tmp_path_factory.mktemp("browser")
    page = directory / "page.html"
    sections = "".join(f'<section id="{name}">{svg}</section>' for name, svg in drawn.items())
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><body>{sections}<pre id="measured"></pre><script>{MEASURE}</script>',
        encoding="utf-8",
    )
    dumped = chromium(directory, page, "--dump-dom")
    [data] = re.findall('<pre id="measured">(.*?)</pre>', dumped, re.DOTALL)
    found: dict[str, Any] = json.loads(html.unescape(data))
    assert found.keys() == drawn.keys()
    return found


Box = list[float]


def is_within(inner: Box, outer: Box, slack: float = 0.5) -> bool:
    return (
        inner[0] >= outer[0] - slack
        and inner[1] >= outer[1] - slack
        and inner[2] <= outer[2] + slack
        and inner[3] <= outer[3] + slack
    )


def overlap(one: Box, other: Box) -> float:
    """How deep two boxes reach into each other, in pixels; below zero where they are apart."""
    return min(min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1]))


@in_a_browser
@pytest.mark.parametrize("name", CASES)
def test_in_a_browser_no_texts_overlap_and_none_leaves_the_picture(measured: dict[str, Any], name: str) -> None:
    page = measured[name]
    assert len(page["texts"]) > 5
    for text, box in page["texts"]:
        assert is_within(box, page["svg"]), text
    for (one, box), (other, another) in itertools.combinations(page["texts"], 2):
        assert overlap(box, another) <= 0.6, (one, other)


@in_a_browser
@pytest.mark.parametrize("name", CASES)
def test_in_a_browser_all_marks_are_inside_the_board_each_on_its_square(measured: dict[str, Any], name: str) -> None:
    for square, box, board in measured[name]["marks"]:
        assert is_within(box, board), square
        if name.startswith(("chess", "minishogi", "xiangqi", "gomoku")):
            sizes = {"chess": (8, 8), "minishogi": (5, 5), "xiangqi": (9, 10), "gomoku": (19, 19)}
            across, down = sizes[name.split("-")[0]]
            x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            file = int((x - board[0]) / (board[2] - board[0]) * across)
            rank = down - int((y - board[1]) / (board[3] - board[1]) * down)
            assert f"{chr(ord('a') + file)}{rank}" == square


@in_a_browser
@pytest.mark.parametrize("name", CASES)
def test_in_a_browser_the_letters_of_pieces_are_inside_them(measured: dict[str, Any], name: str) -> None:
    for piece, body, letters in measured[name]["pieces"]:
        assert letters
        assert all(is_within(box, body, 1.0) for box in letters), piece


@in_a_browser
def test_in_a_browser_the_marks_are_those_of_the_rules(measured: dict[str, Any]) -> None:
    assert {square for square, _, _ in measured["chess-pawn"]["marks"]} == {"d6", "e6", "f6"}
    assert len(measured["gomoku-drop"]["marks"]) == 361


@in_a_browser
@pytest.mark.parametrize("name", CASES)
def test_a_browser_opens_a_picture_s_file_and_shows_something(name: str, tmp_path: Path) -> None:
    chromium(tmp_path, PICTURES / f"{name}.svg", f"--screenshot={tmp_path / 'shot.png'}")
    width, height, lines = scanlines((tmp_path / "shot.png").read_bytes())
    assert (width, height) == (1400, 1800)
    assert len(set(lines)) > 40


@in_a_browser
def test_the_width_of_a_text_is_never_less_than_what_a_browser_needs(tmp_path: Path) -> None:
    samples = [
        "Chess: C:N from d4",
        "moves, to an empty square",
        "WWW MMM @@@ %%%",
        "promoted silver",
        "日本国の首都",
        "10 234",
    ]
    rows = "".join(
        f'<span style="font:{weight} 20px Helvetica, Arial, DejaVu Sans, sans-serif">{html.escape(sample)}</span><br>'
        for sample in samples
        for weight in ("normal", "bold")
    )
    widths = '[...document.querySelectorAll("span")].map(e => e.getBoundingClientRect().width)'
    script = f"document.title = JSON.stringify({widths})"
    page = tmp_path / "page.html"
    page.write_text(f'<!doctype html><meta charset="utf-8"><body>{rows}<script>{script}</script>', encoding="utf-8")
    [title] = re.findall("<title>(.*?)</title>", chromium(tmp_path, page, "--dump-dom"))
    needed = iter(json.loads(html.unescape(title)))
    for sample in samples:
        assert text_width(sample, 20) >= next(needed) - 0.5
        assert text_width(sample, 20, is_bold=True) >= next(needed) - 0.5


def test_a_piece_is_escaped_and_titled() -> None:
    assert "<title>c:+k^&#39;</title>" in token("c:+k^'", 0, 0, 48)


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    with Store.open("sqlite://") as opened:
        opened.load_library(*GAMES)
        loaded = {name: opened.ruleset(name) for name in GAMES}
        for name, case in CASES.items():
            (PICTURES / f"{name}.svg").write_text(case(loaded), encoding="utf-8", newline="\n")
