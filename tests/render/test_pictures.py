"""Pictures: how they look, held to files and to what can be told apart in grey; what is drawn, and what is refused.

`python -m tests.render.test_pictures` writes the files in tests/data/pictures anew; look at them before they are kept.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ggn_store import Position, Ruleset, Store, UnknownNameError, limits, ruleset
from ggn_store.errors import PictureError
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.pictures.picture import Diagram, Poster
from ggn_store.notation.hand import HAND
from ggn_store.render import legend
from ggn_store.render.diagrams import shade, to_svg
from ggn_store.render.layout import lay_out
from ggn_store.render.picture_text import to_text
from ggn_store.render.tokens import token
from tests.support.drawings import CASES, HOSTILE, LISTED, PICTURES, SHOGI, SVG
from tests.support.games import Games
from tests.support.strategies import DIALECTS, documents

# --- posters ---


def test_a_poster_shows_the_pieces_of_both_sides_unless_they_mirror_each_other(games: dict[str, Ruleset]) -> None:
    poster = games["chess"].pictures.picture(poster=True)
    assert isinstance(poster, Poster)
    assert [card.piece for card in poster.cards] == [
        *("C:+K^", "C:K^", "C:Q", "C:+R", "C:R", "C:B", "C:N", "C:P", "C:P", "C:P", "C:-P")
    ]
    step, passing, last = (card for card in poster.cards if card.piece == "C:P")
    assert (step.source, passing.source, last.source) == ("d2", "d5", "d7")
    assert (step.caption, passing.caption) == ("C:P pawn", "C:P pawn from d5")
    assert any(mark.elsewhere for mark in passing.marks), "en passant"
    assert all(mark.promotes for mark in last.marks)
    assert poster.cards[6].caption == "C:N knight"
    one_sided = {
        "C:P": {"a1": {"a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:P"}}}]}},
        "c:p": {"a2": {"a1": [{"diff": {"board": {"a2": None, "a1": "c:p"}}}]}},
    }
    poster = ruleset(one_sided).pictures.picture(poster=True)
    assert isinstance(poster, Poster)
    assert [card.piece for card in poster.cards] == ["C:P", "c:p"]
    assert poster.notes == ()


def test_a_piece_is_drawn_from_where_it_has_most_destinations(games: dict[str, Ruleset]) -> None:
    sources = {piece: games["chess"].pictures.picture(piece=piece) for piece in ("C:P", "c:p", "C:N", "C:+R")}
    assert {piece: picture.source for piece, picture in sources.items() if isinstance(picture, Diagram)} == {
        "C:P": "d2",
        "c:p": "d7",
        "C:N": "d4",
        "C:+R": "a1",
    }


def test_what_stands_in_the_way_for_good_is_a_block(sqlite_games: Games) -> None:
    rules = sqlite_games["snailtrail"]
    position = rules.position(fen="6p/7/2**3/7/7/7/P6 w - - 0 1")
    svg = rules.pictures.draw(position=position)
    assert svg.count("<rect") - rules.pictures.draw().count("<rect") == 2
    assert ">W<" not in svg
    assert ">W<" in rules.pictures.draw(position=position, style="letters")


# --- the files ---


@pytest.mark.parametrize("name", CASES)
def test_a_picture_is_the_one_that_was_looked_at(drawn: dict[str, str], name: str) -> None:
    file = PICTURES / f"{name}.svg"
    assert file.read_bytes() == drawn[name].encode(), (
        f"{file} is stale: python -m tests.render.test_pictures, and look at it"
    )


def test_the_files_of_pictures_are_those_of_the_cases() -> None:
    assert {path.name for path in PICTURES.iterdir()} == {f"{name}.svg" for name in CASES}


@settings(max_examples=25)
@given(st.sampled_from(DIALECTS).flatmap(documents), st.data())
def test_any_document_can_be_drawn_and_any_position_of_its_pieces(document: Any, data: st.DataObject) -> None:
    found = ruleset(document)
    piece = data.draw(st.sampled_from(found.pieces))
    squares = st.sampled_from(found.board.squares or ("a1",))
    position = Position(data.draw(st.dictionaries(squares, st.sampled_from(found.pieces))), {piece: 2})
    source = data.draw(st.sampled_from([*(square for square in position.board if square != "*"), "*"]))
    for picture in (
        found.pictures.picture(poster=True),
        found.pictures.picture(piece=piece, mobility=True),
        found.pictures.picture(position=position),
        found.pictures.picture(position=position, source=source, piece=position.board.get(source, piece)),
    ):
        root = ElementTree.fromstring(to_svg(picture))
        marks_drawn = [mark.attrib["data-square"] for mark in root.findall(f".//{SVG}g[@class='mark']")]
        if isinstance(picture, Diagram):
            assert len(marks_drawn) == len([mark for mark in picture.marks if mark.square != "*"])
            moves = found.moves(picture.position, piece=picture.piece, source=source) if picture.is_of_moves else []
            assert {mark.square for mark in picture.marks} == {move.destination for move in moves}
        assert all(line.isprintable() for line in to_text(picture).split("\n"))


TAGS = {"svg", "title", "desc", "defs", "use", "g", "path", "rect", "circle", "text"}
LEADING = {"href"}  # from a piece to the outline of its character, in the same picture


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
        assert element.tag.removeprefix(SVG) in TAGS
        assert not any(
            key.startswith("on") or "href" in key or key == "style" for key in element.attrib.keys() - LEADING
        )
        assert element.get("href", "#").startswith("#")
        assert all("url(" not in value for value in element.attrib.values())
    for mark in root.findall(f".//{SVG}g[@class='mark']"):
        told = mark.find(f"{SVG}title")
        assert told is not None
        assert told.text
        assert told.text.startswith(f"{mark.attrib['data-square']}: ")


def test_pictures_on_one_page_have_identifiers_of_their_own(drawn: dict[str, str]) -> None:
    found = re.findall(' id="([^"]+)"', "".join(drawn.values()))
    assert len(found) == len(set(found)) > 2 * len(drawn)


def test_a_description_tells_the_pieces_the_hands_and_the_turn(games: dict[str, Ruleset]) -> None:
    svg = games["minishogi"].pictures.draw(position=Position({"a1": "S:K^", "e5": "s:k^"}, {"s:p": 2}, "second"))
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

    assert letters("chess-start") == set()
    assert letters("omega-start") == set("CW")
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
    picture = ruleset(LISTED).pictures.picture(piece="CHESS:P")
    assert isinstance(picture, Diagram)
    assert list(picture.board.squares) == HOSTILE


@pytest.mark.parametrize("shape", [(25, 25), (36, 36), (65, 65), (1, 200), (256, 256), (65_536, 1), (8, 8, 1024)])
def test_a_board_of_any_size_is_drawn_where_it_is_allowed(shape: tuple[int, ...]) -> None:
    known = boards.box(shape)
    with limits.allow({limits.DRAWN_SQUARES.name: len(known.squares)}):
        corners = lay_out(known).corners
    assert corners.keys() == set(known.squares)
    assert len(set(corners.values())) == len(corners)


def test_a_board_is_drawn_up_to_the_limit_only() -> None:
    assert len(lay_out(boards.box((64, 64))).corners) == limits.DRAWN_SQUARES.default
    with pytest.raises(PictureError, match=r"a board of 4,097 squares .* at most 4,096 \(--limit drawn-squares=N"):
        lay_out(boards.box((4_097, 1)))


def test_squares_that_are_just_listed_are_drawn_and_a_poster_of_too_many_is_refused() -> None:
    assert len(lay_out(boards.around([f"sq {number}" for number in range(300)])).corners) == 300
    poster = Poster("x", "y", (Diagram("x", boards.box((64, 64)), Position({}), source="a1"),) * 15)
    with pytest.raises(PictureError, match="draw the pieces one by one"):
        to_svg(poster)


def test_a_position_on_squares_that_an_undeclared_board_does_not_know_is_drawn_with_them() -> None:
    small = ruleset({"C:P": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:P"}}}]}}})
    picture = small.pictures.picture(position=Position({"c3": "C:P"}))
    assert isinstance(picture, Diagram)
    assert picture.board.shape == (3, 3)


def test_a_piece_in_a_hole_leaves_the_other_holes_as_they_are(games: dict[str, Ruleset]) -> None:
    picture = games["omega"].pictures.picture(position=Position({"a5": "C:K^"}))
    assert isinstance(picture, Diagram)
    assert len(picture.board.squares) == 105
    assert "a5" in lay_out(picture.board).corners


def test_a_ruleset_without_a_start_is_drawn_as_a_poster_and_not_shown_by_notebooks(games: dict[str, Ruleset]) -> None:
    small = ruleset({"C:P": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:P"}}}]}}})
    assert isinstance(small.pictures.picture(), Poster)
    assert small._repr_svg_() is None
    assert games["chess"]._repr_svg_() == games["chess"].pictures.draw()


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


@pytest.mark.both
def test_a_source_is_read_as_it_stands_in_the_whole_piece(store: Store) -> None:
    # Drops, labels that are a board's, marks; guards and origins.
    store.load_library("picaria", "microchess", "gdl/checkers")
    for rules in map(store.ruleset, ("picaria", "microchess", "gdl/checkers")):
        for piece in map(rules.read_piece, rules.pieces):
            outline = rules.handle.read_outline(piece.identifier)
            for source, outlined in zip(piece.sources, outline.sources, strict=True):
                found = rules.handle.read_source(piece.identifier, source.square)
                assert found == replace(piece, sources=(source,))
                assert [each.square for each in outlined.destinations] == [each.square for each in source.destinations]
            for absent in {HAND, *rules.board.squares} - {each.square for each in piece.sources}:
                assert rules.handle.read_source(piece.identifier, absent).sources == ()


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
        games["chess"].pictures.draw(**arguments)


def test_names_that_a_ruleset_does_not_have_are_told(games: dict[str, Ruleset]) -> None:
    with pytest.raises(UnknownNameError, match='no rules for "C:X"'):
        games["chess"].pictures.draw(piece="C:X")
    with pytest.raises(UnknownNameError, match='no rules from "z9"'):
        games["chess"].pictures.draw(piece="C:N", source="z9")


def test_a_piece_in_a_position_moves_whichever_side_is_to_move(games: dict[str, Ruleset]) -> None:
    picture = games["chess"].pictures.picture(source="b8")
    assert isinstance(picture, Diagram)
    assert {mark.square for mark in picture.marks} == {"a6", "c6"}


def test_the_only_such_piece_is_found_in_a_position_and_else_in_the_hand(games: dict[str, Ruleset]) -> None:
    picture = games["minishogi"].pictures.picture(piece="s:p", position=Position({"a1": "S:K^"}, {"s:p": 1}))
    assert isinstance(picture, Diagram)
    assert picture.source == "*"
    assert {mark.square[1] for mark in picture.marks} == set("2345")  # not on the last rank
    picture = games["minishogi"].pictures.picture(piece="s:g", position=SHOGI)
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
        shape, lines = piece.findall(f"{SVG}g/{SVG}path")
        fill, ink = shape.attrib["fill"], lines.attrib["stroke"]
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


def test_a_piece_is_escaped_and_titled() -> None:
    assert "<title>c:+k^&#39;</title>" in token("c:+k^'", 0, 0, 48)


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    with Store.open("sqlite://") as opened:
        for name, case in CASES.items():
            (PICTURES / f"{name}.svg").write_text(case(Games("sqlite://", opened)), encoding="utf-8", newline="\n")
