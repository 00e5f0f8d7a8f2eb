"""How pictures look in a browser: nothing overlaps, leaves its place or is missing."""

from __future__ import annotations

import html
import itertools
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ggn_store.render.svg import text_width
from tests.support.browser import command, in_a_browser
from tests.support.drawings import CASES, PICTURES, scanlines
from tests.support.sampled import sampled


def chromium(directory: Path, page: Path, *options: str) -> str:
    arguments = command(directory / "profile", "--window-size=1400,1800", *options, page.as_uri())
    result = subprocess.run(arguments, capture_output=True, timeout=120, check=False)
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
                                   [...e.querySelectorAll("text, use")].map(box)]),
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
        assert letters or name not in ("mixed-styles", "minishogi-hands")
        assert all(is_within(box, body, 1.0) for box in letters), piece


@in_a_browser
def test_in_a_browser_the_marks_are_those_of_the_rules(measured: dict[str, Any]) -> None:
    assert {square for square, _, _ in measured["chess-pawn"]["marks"]} == {"d6", "e6", "f6"}
    assert len(measured["gomoku-drop"]["marks"]) == 361


@in_a_browser
@pytest.mark.parametrize("name", sampled(CASES, one_in=6))
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
