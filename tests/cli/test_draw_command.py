"""The command `draw`: pictures through a pipe and in files, and what is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.support.fonts import needs_a_font
from tests.support.program import Command, Result, write


def test_through_a_pipe_a_picture_is_svg(ask: Command) -> None:
    result = ask("draw", "chess")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith('<svg xmlns="http://www.w3.org/2000/svg" ')
    assert result.out.endswith("</svg>\n")
    assert result.out.count('class="piece"') == 32
    assert ask("draw", "chess", "-o", "-") == result


@needs_a_font
def test_pictures_are_written_to_files_that_appear_whole_in_place_of_others(ask: Command) -> None:
    write("knight.svg", "old")
    assert ask("draw", "chess", "--piece", "C:N", "--source", "d4", "-o", "knight.svg") == Result(0, "", "")
    assert Path("knight.svg").read_text(encoding="utf-8") == ask("draw", "chess", "--piece", "C:N").out
    assert ask("draw", "mini", "-o", "mini.PNG") == Result(0, "", "")
    assert Path("mini.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    assert sorted(path.name for path in Path().iterdir()) == ["knight.svg", "mini.PNG"]
    failed = ask("draw", "mini", "-o", "no/such/directory.svg")
    assert (failed.code, failed.err) == (
        1,
        "Error: no/such/directory.svg: cannot be written: No such file or directory\n",
    )


def test_a_position_is_drawn_however_it_is_given(ask: Command) -> None:
    assert 'data-piece="c:q"' not in ask("draw", "chess", "--board", '{"e4": "C:P"}').out
    drawn = ask("draw", "chess", "--fen", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1").out
    assert re.findall('data-piece="([^"]+)"', drawn) == ["c:k^", "C:P", "C:K^"]
    assert "second to move" in drawn
    assert ask("draw", "mini", "--side", "second").out != ask("draw", "mini").out


def test_the_moves_that_are_drawn_are_those_of_the_position(ask: Command) -> None:
    def marked(*options: str) -> set[str]:
        return set(re.findall('data-square="([^"]+)" data-kind', ask("draw", *options).out))

    assert marked("mini", "--piece", "C:P", "--source", "a2") == {"a3", "b3"}
    for name in ("--feen", "--position"):
        assert marked("mini", "--source", "a2", name, "3/P2/3 / C/c") == {"a3"}
    assert marked("mini", "--source", "*", "--piece", "C:P") == {"c1"}
    assert marked("chess", "--source", "g1") == {"f3", "h3"}
    assert marked("must", "--poster") == {"a3"}


def test_a_style_is_drawn(ask: Command) -> None:
    assert ask("draw", "mini", "--style", "plain").out == ask("draw", "mini").out
    assert ask("draw", "mini", "--style", "shogi").out != ask("draw", "mini").out
    refused = ask("draw", "mini", "--style", "shoji")
    assert refused.code == 2
    assert "Invalid value for '--style'" in refused.err


MATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"


def test_the_squares_of_a_last_move_are_coloured(ask: Command) -> None:
    plain, marked = (
        ask("draw", "chess", "--fen", MATE).out,
        ask("draw", "chess", "--fen", MATE, "--last", "d8", "h4").out,
    )
    assert (plain.count("#e0a800"), marked.count("#e0a800")) == (0, 1)
    assert marked.count("last move: d8, h4. in check: e1.") == 1
    [path] = re.findall('<path d="([^"]*)" fill="#e0a800"', marked)
    assert path.count("M") == 2
    dropped = ask("draw", "mini", "--last", "*", "c1").out
    assert "last move: c1." in dropped
    assert "last move: c1." in ask("draw", "mini", "--last", "*", "c1", "--source", "a2").out


def test_mobility_is_drawn_as_numbers(ask: Command) -> None:
    svg = ask("draw", "chess", "--piece", "C:N", "--mobility").out
    assert "least 2, mean 5.25, most 8, sum 336" in svg


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "picture.gif"), "-o picture.gif: a picture's file ends in .svg or .png"),
        (("-o", "picture"), "ends in .svg or .png"),
        (("--mobility",), "--mobility is of one piece on an empty board: give --piece, and nothing else"),
        (("--mobility", "--piece", "C:N", "--source", "a1"), "and nothing else"),
        (("--poster", "--piece", "C:N"), "--poster shows all pieces"),
        (("--poster", "--mobility", "--piece", "C:N"), "ask for one of them"),
        (("--piece", "C:N", "--side", "first"), "--side is the side to move of a position"),
        (("--piece", "C:N", "--last", "g1", "f3"), "--last is the last move of a position"),
        (("--poster", "--last", "g1", "f3"), "--last is the last move of a position"),
        (("--last", "g1"), "Option '--last' requires 2 arguments"),
        (("--fen", "x", "--feen", "y"), "--feen and --fen both name a position"),
    ],
)
def test_pictures_that_contradict_themselves_are_refused(ask: Command, options: tuple[str, ...], message: str) -> None:
    result = ask("draw", "chess", *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("chess", "--source", "e5"), 'there is no piece on "e5" in this position'),
        (("chess", "--source", "e9"), 'chess@1 has no square "e9"; its board is 8x8'),
        (("chess", "--piece", "C:P", "--board", '{"a2": "C:P", "b2": "C:P"}'), "on a2, b2: say which, with --source"),
        (("chess", "--last", "e2", "e9"), 'chess@1 has no square "e9"; its board is 8x8'),
        (("must", "--last", "a1", "a2"), "must@1 has no start position, and so no last move: give a position"),
        (("chess", "--piece", "C:X"), 'chess@1 has no rules for "C:X"'),
        (("chess", "--piece", "C:N", "--source", "k9"), 'C:N has no rules from "k9"'),
        (("must", "--source", "a1"), "must@1 has no start position of its own"),
        (("chess", "--feen", "8P/9 / C/c"), "the position has a board of 9x2, and that of chess@1 is 8x8"),
    ],
)
def test_pictures_of_what_is_not_there_are_refused(ask: Command, options: tuple[str, ...], message: str) -> None:
    result = ask("draw", *options)
    assert (result.code, result.out) == (1, "")
    assert message in result.err


@pytest.mark.parametrize(
    "options", [(), ("--poster",), ("--piece", "C:N"), ("--piece", "C:N", "--mobility"), ("--board", '{"a1": "C:N"}')]
)
def test_a_board_beyond_the_limit_is_not_drawn(ask: Command, options: tuple[str, ...]) -> None:
    refused = ask("--limit", "drawn-squares=63", "draw", "chess", *options)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        "Error: a board of 64 squares is too large to be drawn: it can have at most 63 "
        "(--limit drawn-squares=N allows more)\n"
    )
    assert ask("--limit", "drawn-squares=64", "draw", "chess", *options).code == 0


def test_without_resvg_png_is_refused_with_the_cure(ask: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    result = ask("draw", "mini", "-o", "mini.png")
    assert (result.code, result.out) == (1, "")
    assert "pip install 'ggn-store[png]', or write SVG" in result.err
    assert not list(Path().iterdir())
