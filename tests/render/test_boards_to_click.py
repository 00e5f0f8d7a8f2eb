"""Boards of pages: links on squares and on pieces in the hand, seen from either side, and small pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from ggn_store import Position, Ruleset, ruleset
from ggn_store.model.pictures.picture import ChangedMoves, Diagram, Link
from ggn_store.model.pictures.style import PLAIN
from ggn_store.render.diagrams import thumbnail, to_svg
from ggn_store.render.layout import UNIT, lay_out
from tests.support.drawings import LISTED, SHOGI, SVG


def diagram(rules: Ruleset, position: Position | None = None) -> Diagram:
    found = rules.pictures.picture(position=position)
    assert isinstance(found, Diagram)
    return found


def links(svg: str) -> Iterator[dict[str, str]]:
    return (each.attrib for each in ElementTree.fromstring(svg).iter(f"{SVG}a"))


def test_links_lie_on_their_squares_and_are_named(games: dict[str, Ruleset]) -> None:
    plain = diagram(games["chess"])
    svg = to_svg(replace(plain, links={"e2": Link('/g?a=1&b="', "first <pawn> on e2"), "e9": Link("/", "nowhere")}))
    [link] = links(svg)
    assert link == {
        "class": "place",
        "href": '/g?a=1&b="',
        "aria-label": "first <pawn> on e2",
        "data-square": "e2",
    }
    [place] = ElementTree.fromstring(svg).iter(f"{SVG}a")
    x, y = lay_out(plain.board).corners["e2"]
    rectangle = place.find(f"{SVG}rect")
    assert rectangle is not None
    assert (float(rectangle.attrib["x"]), float(rectangle.attrib["y"])) == (x + 1, y + 1)
    assert ElementTree.fromstring(svg).attrib["role"] == "group"
    assert ElementTree.fromstring(to_svg(plain)).attrib["role"] == "img"


def test_pieces_of_the_hand_have_links(games: dict[str, Ruleset]) -> None:
    svg = to_svg(
        replace(diagram(games["minishogi"], SHOGI), hand_links={"S:P": Link("/drop", "first pawn in the hand")})
    )
    [link] = links(svg)
    assert (link["data-piece"], link["href"]) == ("S:P", "/drop")


def test_the_squares_of_the_last_move_are_coloured(games: dict[str, Ruleset]) -> None:
    plain = diagram(games["chess"])
    x, y = lay_out(plain.board).corners["e4"]
    marked = to_svg(replace(plain, last=("e4", "*")))
    assert f'd="M{x:g} {y:g}h48v48h-48z" fill="#e0a800"' in marked
    assert "#e0a800" not in to_svg(plain)


def test_the_last_move_and_a_check_are_told_in_words(games: dict[str, Ruleset]) -> None:
    fen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
    checked = diagram(games["chess"], games["chess"].position(fen=fen))
    assert checked.checked == ("e1",)
    root = ElementTree.fromstring(to_svg(replace(checked, last=("d8", "h4"))))
    assert ". last move: d8, h4. in check: e1. first to move." in str(root[1].text)
    [ring] = [each for each in root.iter(f"{SVG}g") if each.get("class") == "checked"]
    assert (ring.get("data-square"), ring.findtext(f"{SVG}title")) == ("e1", "e1: in check")
    circle = ring.find(f"{SVG}circle")
    assert circle is not None
    x, y = lay_out(checked.board).middle("e1")
    assert (float(circle.attrib["cx"]), float(circle.attrib["cy"])) == (x, y)
    assert diagram(games["chess"]).checked == ()


def test_generals_that_face_each_other_and_the_attacked_of_several_kings_are_in_check(
    games: dict[str, Ruleset],
) -> None:
    facing = Position({"e1": "X:K^", "e10": "x:k^"})
    assert diagram(games["xiangqi"], facing).checked == ("e1",)
    several = Position({"a1": "C:K^", "h1": "C:K^", "h8": "c:r", "e8": "c:k^"})
    assert diagram(games["chess"], several).checked == ("h1",)


@pytest.mark.parametrize("name", ["chess", "xiangqi"])
def test_a_flipped_board_is_the_board_from_the_other_side(games: dict[str, Ruleset], name: str) -> None:
    plain, flipped = (lay_out(games[name].board, is_flipped) for is_flipped in (False, True))
    left, top = (min(axis) for axis in zip(*plain.corners.values(), strict=True))
    right, bottom = (max(axis) for axis in zip(*plain.corners.values(), strict=True))
    for square, (x, y) in plain.corners.items():
        assert flipped.corners[square] == pytest.approx((left + right - x, top + bottom - y))


def test_layers_of_a_flipped_board_stay_in_their_order(games: dict[str, Ruleset]) -> None:
    plain, flipped = (lay_out(games["raumschach"].board, is_flipped).corners for is_flipped in (False, True))
    assert (flipped["a1A"], flipped["e5E"]) == (plain["e5A"], plain["a1E"])


@pytest.mark.parametrize(("name", "across", "down"), [("chess", 2, 1), ("raumschach", 1, 2)])
def test_two_boards_stand_side_by_side_unless_they_are_too_wide(
    games: dict[str, Ruleset], name: str, across: int, down: int
) -> None:
    shown = diagram(games[name], Position({}))
    svg = to_svg(ChangedMoves("", shown, shown, {}))
    plain = lay_out(shown.board)
    size = ElementTree.fromstring(svg).attrib
    assert float(size["width"]) // plain.width == across
    assert float(size["height"]) // plain.height == down


def test_files_and_ranks_of_a_flipped_board_are_named_where_they_are(games: dict[str, Ruleset]) -> None:
    texts = [
        (float(each.attrib["x"]), each.text)
        for each in ElementTree.fromstring(to_svg(replace(diagram(games["chess"]), is_flipped=True))).iter(f"{SVG}text")
        if each.text in tuple("abcdefgh")
    ]
    assert [text for _, text in sorted(texts)] == [*"hgfedcba"]


def test_pieces_of_shogi_point_the_other_way_on_a_flipped_board(games: dict[str, Ruleset]) -> None:
    one = diagram(games["minishogi"], Position({"a1": "S:R"}))
    other = diagram(games["minishogi"], Position({"e5": "s:r"}))
    paths = [
        next(each for each in ElementTree.fromstring(svg).iter(f"{SVG}g") if each.get("class") == "piece")
        .findall(f"{SVG}path")[0]
        .attrib["d"]
        for svg in (to_svg(one), to_svg(replace(other, is_flipped=True)))
    ]
    assert paths[0] == paths[1]


def test_a_small_picture_is_the_board_and_its_pieces_alone(games: dict[str, Ruleset]) -> None:
    root = ElementTree.fromstring(thumbnail(replace(diagram(games["chess"]), style=PLAIN)))
    assert [float(root.attrib[name]) for name in ("width", "height")] == [8 * UNIT + 2, 8 * UNIT + 2]
    letters = {each.text for each in root.iter(f"{SVG}text")}
    assert letters == set("KQRBNP")
    assert root.attrib["role"] == "img"
    title, description = root[0].text, root[1].text
    assert title == "Chess, start position"
    assert "C:+K^ e1" in str(description)


def test_a_small_picture_of_listed_squares_has_all_of_them() -> None:
    rules = ruleset(LISTED)
    label = next(iter(rules.board.squares))
    svg = thumbnail(diagram(rules, Position({label: "CHESS:P"})))
    assert 'data-piece="CHESS:P"' in svg
