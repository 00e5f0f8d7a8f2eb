"""Pictures as text, as terminals take them, and as PNG."""

from __future__ import annotations

import re
import sys
from functools import partial
from xml.etree import ElementTree

import pytest

from ggn_store import GgnStoreError, Position, Ruleset, ruleset
from ggn_store.errors import PictureError
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.pictures.picture import Diagram
from ggn_store.render import png, terminal
from ggn_store.render.diagrams import to_svg
from ggn_store.render.picture_text import to_text
from tests.support.drawings import CASES, LISTED, scanlines
from tests.support.fonts import needs_a_font

# --- text ---


def test_moves_are_written_with_marks_on_the_board(games: dict[str, Ruleset]) -> None:
    assert to_text(games["chess"].pictures.picture(piece="C:P", source="d7")).splitlines() == [
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
    cannon = to_text(games["xiangqi"].pictures.picture(piece="X:C", source="a1")).splitlines()
    assert cannon[1].split() == ["10", "o(x)", *"." * 8]
    assert cannon[9].split() == ["2", "o", *"." * 8]
    king = to_text(games["chess"].pictures.picture(piece="C:+K^")).splitlines()
    assert king[8].split() == ["1", ".", ".", "[o]", "*", "+K^", "*", "[o]", "."]


def test_the_last_move_and_a_check_are_lines_of_text(games: dict[str, Ruleset]) -> None:
    mate = games["chess"].position(fen="rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    lines = to_text(games["chess"].pictures.picture(position=mate, last=("d8", "h4"))).splitlines()
    assert lines[-3:] == ["last move: d8, h4", "in check: e1", "first to move"]


def test_holes_layers_hands_and_labels_are_written() -> None:
    board = Board(("a1", "c1", "b2"))
    assert to_text(Diagram("x", board, Position({"b2": "C:K"}, {"c:p": 2}))).splitlines() == [
        "2   K",
        "1 .   .",
        "  a b c",
        "hand of second: 2 c:p",
        "first to move",
    ]
    listed = to_text(ruleset(LISTED).pictures.picture(piece="CHESS:P")).splitlines()
    assert listed[1] == "<b>&\"' P"
    assert listed[2] == r"\x1b[2J *"


def test_a_poster_and_a_diagram_without_moves_are_written(games: dict[str, Ruleset]) -> None:
    text = to_text(games["chess"].pictures.picture(poster=True))
    assert "\nC:N knight\n" in text
    assert text.endswith("and are left out.\n")
    alone = games["chess"].pictures.picture(piece="C:P", position=Position({"e2": "C:P", "e3": "c:p"}))
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


def test_without_any_font_nothing_is_drawn_without_letters(
    drawn: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resvg = pytest.importorskip("resvg_py")
    monkeypatch.setattr(resvg, "svg_to_bytes", partial(resvg.svg_to_bytes, skip_system_fonts=True))
    with pytest.raises(PictureError, match="no font was found"):
        png.to_png(drawn["chess-start"])
