"""Styles of boards: which game is drawn how, and that letters, squares and meanings stay."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ggn_store import Position, Ruleset, Store, read_definition, ruleset
from ggn_store.errors import PictureError
from ggn_store.model.documents.board import Board, box
from ggn_store.model.documents.geometry import Lattice
from ggn_store.model.pictures.picture import Diagram
from ggn_store.model.pictures.style import PLAIN, STYLES, PieceSet, Style
from ggn_store.notation.qpi import side_of
from ggn_store.render.characters import SETS
from ggn_store.render.figures import FIGURES
from ggn_store.render.grounds import EDGE
from ggn_store.render.layout import UNIT, lay_out
from ggn_store.render.outlines import GRID, outlines
from ggn_store.render.svg import text_width
from ggn_store.render.tokens import DARK, LIGHT, token
from tests.support.drawings import SVG
from tests.support.gdl_tiny import changed, hexes, network, tiny


def style(rules: Ruleset, name: str | None = None) -> Style:
    picture = rules.pictures.picture(style=name)
    assert isinstance(picture, Diagram)
    return picture.style


def written(svg: str) -> dict[str, str | None]:
    """What is written on each piece, by its identifier."""
    root = ElementTree.fromstring(svg)
    paths = {f"#{path.get('id')}": path.get("d") for path in root.findall(f"{SVG}defs/{SVG}path")}
    characters = {data: character for character, data in outlines().items()}
    found = {}
    for piece in root.findall(f".//{SVG}g[@class='piece']"):
        use = piece.find(f"{SVG}use")
        text = piece.findtext(f"{SVG}text")
        found[piece.attrib["data-piece"]] = text if use is None else characters[str(paths[use.attrib["href"]])]
    return found


@pytest.mark.parametrize(
    ("name", "ground", "pieces"),
    [
        ("xiangqi", "points", "xiangqi"),
        ("minixiangqi", "points", "xiangqi"),
        ("janggi", "points", "janggi"),
        ("minishogi", "cells", "shogi"),
        ("chess", "squares", "chess"),
        ("knightmate", "squares", "chess"),
        ("gomoku", "points", "go"),
        ("y", "hexagons", "draughts"),
        ("clobber", "squares", "draughts"),
        ("connect-four", "squares", "letters"),
        ("makruk", "cells", "makruk"),
        ("dobutsu", "cells", "dobutsu"),
        ("tic-tac-toe", "squares", "letters"),
    ],
)
def test_a_game_is_drawn_as_its_players_know_it(games: dict[str, Ruleset], name: str, ground: str, pieces: str) -> None:
    found = style(games[name])
    assert (found.ground, found.pieces) == (ground, pieces)
    lettered = style(games[name], "letters")
    assert (lettered.ground, lettered.pieces) == (ground, "letters")
    assert style(games[name], "plain") == PLAIN


def test_the_characters_of_a_piece_are_those_of_its_name_and_side(games: dict[str, Ruleset]) -> None:
    xiangqi = written(games["xiangqi"].pictures.draw())
    assert "".join(str(xiangqi[f"X:{letter}"]) for letter in ("K^", "A", "B", "N", "R", "C", "P")) == "帥仕相傌俥炮兵"
    assert "".join(str(xiangqi[f"x:{letter}"]) for letter in ("k^", "a", "b", "n", "r", "c", "p")) == "將士象馬車砲卒"
    shogi = {"a1": "S:K^", "b1": "s:k^", "c1": "S:+P", "d1": "s:+b", "e1": "S:G"}
    found = written(games["minishogi"].pictures.draw(position=Position(shogi)))
    assert found == {"S:K^": "玉", "s:k^": "王", "S:+P": "と", "s:+b": "馬", "S:G": "金"}
    assert set(written(games["xiangqi"].pictures.draw(style="letters")).values()) == set("KABNRCP")


def test_a_piece_of_chess_has_the_figure_of_its_name_and_others_their_letter(games: dict[str, Ruleset]) -> None:
    position = Position({"a1": "C:+R", "b1": "C:N^", "c1": "C:M", "d1": "c:+r"})
    pieces = ElementTree.fromstring(games["knightmate"].pictures.draw(position=position)).findall(
        f".//{SVG}g[@class='piece']"
    )
    found = {each.attrib["data-piece"]: each.find(f"{SVG}g/{SVG}path") for each in pieces}
    rook, other = found["C:+R"], found["c:+r"]
    assert rook is not None
    assert other is not None
    assert (rook.get("d"), other.get("d")) == (FIGURES["chess"]["rook"][0],) * 2
    assert (rook.get("fill"), other.get("fill")) == ("#ffffff", "#2e2e2e")
    assert [found[piece] for piece in ("C:N^", "C:M")] == [None, None]  # of names that no figure is for


@pytest.mark.parametrize(
    ("pieces", "identifier", "name", "shapes"),
    [
        ("makruk", "M:K^", "king", 0),
        ("makruk", "m:s", "nobleman", 0),
        ("chess", "C:N^", "knight", 1),  # a crown
        ("dobutsu", "D:L^", "lion", 0),
        ("dobutsu", "d:+c", "hen", 1),  # a badge
    ],
)
def test_a_figure_tells_that_its_piece_is_terminal_or_a_crown_does(
    pieces: PieceSet, identifier: str, name: str, shapes: int
) -> None:
    drawn = ElementTree.fromstring(token(identifier, 0, 0, 48, Style("cells", pieces, {identifier: name})))
    assert drawn.find("text") is None
    assert [each.attrib["d"] for each in drawn.findall("g/path")] == [*FIGURES[pieces][name]]
    assert len(drawn.findall("path")) == shapes


def test_pieces_of_a_set_differ_unless_they_are_one_piece_by_two_names() -> None:
    chess, makruk, animals = (FIGURES[pieces] for pieces in ("chess", "makruk", "dobutsu"))
    assert len({*chess.values()}) == len(chess)
    assert len({*animals.values()}) == len(animals)
    assert len({*makruk.values()}) == 6
    assert (makruk["rook"], makruk["neang"]) == (makruk["boat"], makruk["queen"])


@pytest.mark.parametrize(("pieces", "name"), [(pieces, name) for pieces, drawn in FIGURES.items() for name in drawn])
def test_a_figure_stays_on_its_square(pieces: PieceSet, name: str) -> None:
    points = [*walked(FIGURES[pieces][name][0])]
    assert max(max(abs(x), abs(y)) for x, y in points) <= 22
    assert points[-1][1] == 18


def test_promoted_pieces_of_shogi_are_red_and_keep_their_badge(games: dict[str, Ruleset]) -> None:
    svg = games["minishogi"].pictures.draw(position=Position({"a1": "S:+P", "b1": "S:P"}))
    promoted, plain = ElementTree.fromstring(svg).findall(f".//{SVG}g[@class='piece']")
    assert [use.get("fill") for use in promoted.findall(f"{SVG}use")] == ["#b3001b"]
    assert [use.get("fill") for use in plain.findall(f"{SVG}use")] == ["#1a1a1a"]
    assert (len(promoted.findall(f"{SVG}circle")), len(plain.findall(f"{SVG}circle"))) == (1, 0)


def test_a_name_without_a_character_and_styles_that_are_mixed_have_letters(games: dict[str, Ruleset]) -> None:
    chess = written(games["chess"].pictures.draw(style="xiangqi"))
    assert (chess["C:N"], chess["C:P"]) == ("N", "P")
    mixed = games["xiangqi"].pictures.draw(position=Position({"e1": "X:K^", "e9": "c:k^"}))
    assert written(mixed) == {"X:K^": "K", "c:k^": "K"}


def crossings(rules: Ruleset) -> list[str]:
    """The lines of a board of points, each from here to there, in squares from the left upper point."""
    [path] = [
        each.attrib["d"]
        for each in ElementTree.fromstring(rules.pictures.draw()).iter(f"{SVG}path")
        if each.get("stroke-width") == "1.25"
    ]
    ends = [tuple(map(float, re.findall(r"-?[0-9.]+", line))) for line in path[1:].split("M")]
    left, top = min(end[0] for end in ends), min(end[1] for end in ends)
    return [
        " ".join(f"{round((value - start) / 48)}" for value, start in zip(end, (left, top) * 2, strict=True))
        for end in ends
    ]


def test_a_river_stops_the_inner_files_and_palaces_have_diagonals(games: dict[str, Ruleset]) -> None:
    lines = crossings(games["xiangqi"])
    assert len(lines) == 10 + 2 + 2 * 7 + 4
    assert {"0 0 0 9", "8 0 8 9", "4 0 4 4", "4 5 4 9", "0 4 8 4"} <= {*lines}
    assert {"3 0 5 2", "3 2 5 0", "3 7 5 9", "3 9 5 7"} <= {*lines}
    assert "#dbe7ec" in games["xiangqi"].pictures.draw()
    assert len(crossings(games["janggi"])) == 10 + 9 + 4
    assert "#dbe7ec" not in games["janggi"].pictures.draw()


def coloured(rules: Ruleset, name: str | None = None) -> dict[str, int]:
    """How many squares have a colour of their own, by what they are called."""
    areas = ElementTree.fromstring(rules.pictures.draw(style=name)).findall(f".//{SVG}g[@class='areas']/{SVG}g")
    paths = ((area, area.find(f"{SVG}path")) for area in areas)
    return {str(area.findtext(f"{SVG}title")): path.attrib["d"].count("M") for area, path in paths if path is not None}


def test_water_is_drawn_where_a_description_or_a_definition_has_it(games: dict[str, Ruleset], tmp_path: Path) -> None:
    assets = {"a1 b2": "water", "c1": "water", "c3": "trap", "a1 z9": "den", "wood": "water"}
    described = ruleset(changed("/presentation/profiles/names", {"topology_assets": assets}))
    assert coloured(described) == {"water": 3, "trap": 1} == coloured(described, "letters")
    assert style(described).areas["water"] == {"a1", "b2", "c1"}
    assert coloured(described, "plain") == {} == coloured(games["chess"])
    text = (
        'title = "Pond"\nboard = "3x3"\nstyle = "P"\nstart = "3/3/K2 / P/p"\n[zones]\nwater = "b1:b2"\n'
        '[pieces.K]\nbetza = "K"\n'
    )
    with Store.open(tmp_path / "store.db") as store:
        store.load(read_definition(text), "pond")
        assert coloured(store.ruleset("pond")) == {"water": 3}  # which both sides see two of


def test_the_first_side_has_the_black_stones(games: dict[str, Ruleset]) -> None:
    pieces = games["gomoku"].pieces
    first, second = (next(each for each in pieces if side_of(each) == side) for side in ("first", "second"))
    drawn = [token(each, 0, 0, 60, style(games["gomoku"])) for each in (first, second)]
    assert [(f'fill="{DARK}"' in each, f'fill="{LIGHT}"' in each) for each in drawn] == [(True, False), (False, True)]


def test_games_of_stones_have_dots_where_boards_of_go_have_them(games: dict[str, Ruleset]) -> None:
    full = {f"{file}{rank}" for file in "djp" for rank in (4, 10, 16)}
    assert style(games["gomoku"]).stars == full
    position = Position({"a1": "G:S", "b2": "g:s"})
    assert written(games["gomoku"].pictures.draw(position=position)) == {"G:S": None, "g:s": None}
    assert written(games["gomoku"].pictures.draw(position=position, style="letters")) == {"G:S": "S", "g:s": "S"}
    assert style(games["xiangqi"], "go").stars == set()
    assert style(games["minishogi"], "go").stars == set()


@pytest.mark.parametrize("is_flipped", [False, True])
def test_hexagons_touch_where_the_rules_say_that_they_are_adjacent(is_flipped: bool) -> None:
    board = box((4, 5))
    layout = lay_out(board, is_flipped, Style("hexagons"))
    lattice = Lattice(board, hexagonal=True)
    for a, b in itertools.combinations(board.squares, 2):
        is_near = math.dist(layout.middle(a), layout.middle(b)) < 1.01 * UNIT
        assert is_near == lattice.adjacent(a, b), (a, b)
    assert (layout.middle("a1")[1] > layout.middle("a2")[1]) != is_flipped
    corners = [
        (x + UNIT / 2 + a * UNIT / 2, y + UNIT / 2 + b * 28)
        for x, y in layout.corners.values()
        for a in (-1, 1)
        for b in (-1, 1)
    ]
    assert all(-0.01 <= x <= layout.width and -0.01 <= y <= layout.height for x, y in corners)


@pytest.mark.parametrize("is_flipped", [False, True])
def test_names_of_rows_and_files_stand_beside_their_last_hexagons(is_flipped: bool) -> None:
    """A board with six sides: its first row lacks files, and its first file rows."""
    board = Board(("c1", "d1", "b2", "c2", "d2", "a3", "b3", "c3", "a4", "b4"))
    layout = lay_out(board, is_flipped, Style("hexagons"))
    texts = ElementTree.fromstring(f"<svg>{layout.ground[-1]}</svg>").iter("text")
    labels = {str(each.text): (float(each.get("x", 0)), float(each.get("y", 0))) for each in texts}
    assert set(labels) == set("abcd1234")
    for name, (x, y) in labels.items():
        distances = {square: math.dist((x, y), layout.middle(square)) for square in board.squares}
        nearest = min(distances, key=lambda square: distances[square])
        assert name in nearest, "the nearest hexagon is of this row or file"
        assert UNIT / 2 < distances[nearest] < 0.95 * UNIT, "outside it"
    assert min(x for x, _ in layout.corners.values()) < 2 * UNIT, "nothing is left free"


@pytest.mark.parametrize("upright", [False, True])
def test_the_label_of_a_hexagon_stands_in_it_and_stays_dark_on_a_dark_page(upright: bool) -> None:
    board = box((3, 3))
    layout = lay_out(board, style=Style("hexagons", labels="bent" if upright else "leaning", upright=upright))
    [group] = ElementTree.fromstring(f"<svg>{layout.ground[-1]}</svg>").findall("g")
    assert group.get("fill") == EDGE, "which style sheets leave as it is"
    for text in group.iter("text"):
        middle = layout.middle(str(text.text))
        size = float(text.get("font-size", 0))
        for x, y in ((-0.6, 0), (0.6, 0)):  # the lower corners of a text of two characters
            place = (float(text.get("x", 0)) + x * size, float(text.get("y", 0)) + y * size)
            nearest = min(board.squares, key=lambda square: math.dist(place, layout.middle(square)))
            assert nearest == text.text
        assert math.dist(place, middle) > UNIT / 4


def test_the_label_of_a_place_stands_beside_the_way_that_leads_up() -> None:
    board = Board(("low", "top"))
    ways = frozenset({("low", "top"), ("top", "low")})
    layout = lay_out(board, style=Style("ways", places={"low": (0, 0), "top": (0, 1)}, ways=ways))
    [text, *_] = ElementTree.fromstring(f"<svg>{layout.ground[-1]}</svg>").iter("text")
    assert float(text.get("x", 0)) - text_width("low", 15) / 2 > layout.middle("low")[0] + 2


def test_points_whose_men_step_along_different_lines_are_drawn_with_them(games: dict[str, Ruleset]) -> None:
    """Orthogonally from every point, diagonally from the corners and the middle."""
    found = style(games["achi"])
    assert (found.ground, found.pieces) == ("ways", "draughts")
    lines = {"a1a2", "a2a3", "b1b2", "b2b3", "c1c2", "c2c3", "a1b1", "b1c1", "a2b2", "b2c2", "a3b3", "b3c3"}
    lines |= {"a1b2", "b2c3", "a3b2", "b2c1"}
    assert {"".join(sorted(way)) for way in found.ways} == {"".join(sorted((each[:2], each[2:]))) for each in lines}


def test_a_description_of_hexagons_is_drawn_so(drawn: dict[str, str]) -> None:
    rules = ruleset(hexes())
    assert style(rules).ground == "hexagons"
    assert style(rules, "letters").ground == "hexagons"
    [floor] = ElementTree.fromstring(drawn["hexagons"]).findall(f".//{SVG}g[@class='board']/{SVG}path")
    assert floor.attrib["d"].count("M") == 16
    assert ElementTree.fromstring(rules.pictures.draw(piece="TINY:S", mobility=True)).tag == f"{SVG}svg"


def test_men_and_kings_are_drawn_as_draughtsmen_whatever_their_state() -> None:
    rules = ruleset(json.loads(json.dumps(tiny()).replace("wheel", "king")))
    found = style(rules)
    assert found.pieces == "draughts"
    assert (found.names["TINY:+S"], found.names["tiny:+k"]) == ("stone", "king")
    drawn = ElementTree.fromstring(rules.pictures.draw())
    discs = {path.get("d") for path in drawn.findall(f".//{SVG}g[@class='piece']//{SVG}path")}
    assert {*FIGURES["draughts"]["man"]} <= discs


def test_a_network_is_drawn_with_its_ways(drawn: dict[str, str]) -> None:
    root = ElementTree.fromstring(drawn["network"])
    ways = [each for each in root.iter(f"{SVG}path") if each.get("stroke-width") == "3"]
    # From Bay to Hill and back, from Hill to Mine with an arrow, from Bay to Mine and back as a special connection.
    assert [(each.attrib["d"].count("M"), each.get("stroke-dasharray")) for each in ways] == [(2, None), (1, "7 6")]
    arrows = [each for each in root.iter(f"{SVG}path") if each.get("fill") == ways[0].get("stroke")]
    assert len(arrows) == 1
    assert {"Bay", "Hill", "Mine"} <= {each.text for each in root.iter(f"{SVG}text")}


def test_places_of_a_network_lie_by_their_labels_and_else_in_a_circle() -> None:
    around = style(ruleset(network())).places
    assert len({round(math.hypot(*point), 6) for point in around.values()}) == 1
    assert min(math.dist(a, b) for a, b in itertools.combinations(around.values(), 2)) == pytest.approx(1)

    def labelled(hill: str, mine: str) -> Ruleset:
        text = json.dumps(network()).replace("Bay", "a1").replace("Hill", hill).replace("Mine", mine)
        return ruleset(json.loads(text))

    rules = labelled("c1", "a5")
    assert style(rules).places == {"a1": (0, 0), "c1": (1, 0), "a5": (0, 2)}
    picture = rules.pictures.picture()
    assert isinstance(picture, Diagram)
    assert picture.board.squares == ("a1", "c1", "a5")
    middles = [lay_out(picture.board, is_flipped, style(rules)).middle for is_flipped in (False, True)]
    ahead = [tuple(a - b for a, b in zip(middle("a5"), middle("a1"), strict=True)) for middle in middles]
    assert ahead == [(0, -4 * UNIT), (0, 4 * UNIT)]
    far = style(labelled("c1", "a999")).places  # too far for a picture
    assert sorted(far.values()) == sorted(around.values())
    assert style(rules, "plain") == PLAIN


def test_lines_end_at_holes_and_at_layers() -> None:
    def drawn(board: Board) -> str:
        return lay_out(board, style=Style("points")).ground[1]

    # Two rows of one point and a hole, one of three; two columns of two and one of three.
    assert drawn(Board(("a1", "b1", "c1", "a2", "c2"))).count("M") == 3 + 1 + 2
    assert drawn(box((2, 2, 2))).count("M") == 4 + 2 * 4


def test_a_style_that_there_is_not_is_told(games: dict[str, Ruleset]) -> None:
    with pytest.raises(PictureError, match='no style "shoji": did you mean shogi'):
        games["xiangqi"].pictures.draw(style="shoji")


def test_a_document_without_a_definition_keeps_its_letters() -> None:
    small = ruleset({"X:P": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "X:P"}}}]}}})
    assert small.pictures.draw(poster=True) == small.pictures.draw(poster=True, style="plain")


@pytest.mark.parametrize("name", STYLES)
def test_every_style_draws_every_picture_and_none_is_large(games: dict[str, Ruleset], name: str) -> None:
    assert len(games["xiangqi"].pictures.draw(style=name).encode()) < 25_000
    pictures = games["minixiangqi"].pictures
    for shown in (
        pictures.draw(style=name, piece="X:R", mobility=True),
        pictures.draw(style=name, piece="X:C", source="e5"),
        pictures.draw(style=name, poster=True),
    ):
        assert ElementTree.fromstring(shown).tag == f"{SVG}svg"


def test_every_character_has_an_outline_of_its_own_around_its_middle() -> None:
    characters = {each for written in SETS.values() for text in written.values() for each in text}
    assert characters == outlines().keys()
    assert len({*outlines().values()}) == len(outlines())
    for character, data in outlines().items():
        points = [*walked(data)]
        (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in zip(*points, strict=True))
        assert max(-left, right, -top, bottom) <= GRID / 2, character
        assert max(abs(left + right), abs(top + bottom)) <= GRID / 8, character


def test_a_picture_has_each_outline_once_and_identifiers_of_its_own(games: dict[str, Ruleset]) -> None:
    pictures = [games[name].pictures.draw() for name in ("xiangqi", "janggi")]
    named = [re.findall(' id="([^"]+)"', svg) for svg in pictures]
    used = [re.findall(' href="#([^"]+)"', svg) for svg in pictures]
    assert [len(each) for each in used] == [32, 32]
    for ids, names in zip(named, used, strict=True):
        assert len({*ids}) == len(ids)
        assert {*names} < {*ids}
    assert not {*named[0]} & {*named[1]}
    assert "<text" not in pictures[0].partition('class="piece"')[2].rpartition('class="piece"')[0]


def walked(data: str) -> Iterator[tuple[float, float]]:
    """Every corner and control point of the data of a path, walked stroke by stroke."""
    x = y = 0.0
    for command, text in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", data):
        values = [float(each) for each in re.findall(r"-?[0-9.]+", text)]
        if command == "M":
            x, y = values
        elif command in "hv":
            x, y = (x + values[0], y) if command == "h" else (x, y + values[0])
        elif command in "lqa":
            for point in zip(values[:-2:2], values[1:-2:2], strict=True) if command == "q" else ():
                yield x + point[0], y + point[1]
            x, y = x + values[-2], y + values[-1]
        else:
            assert command == "z"
        yield x, y
