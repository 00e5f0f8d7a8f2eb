"""PGN: games read and written, what is passed over, and what is refused."""

from __future__ import annotations

import io

import chess.pgn
import pytest

from ggn_store.errors import NotationError
from ggn_store.notation import pgn

ANNOTATED = """; a remark before everything
[Event "A \\"small\\" game \\\\ of chess"]
[White "Morphy, Paul"]
[Result "1-0"]

{ a comment of (several
lines } 1. e4 $1 e5! (1... c5 {Sicilian} 2. Nf3 (2. c3) 2... d6) 2.Nf3 Nc6?! ; to the end ( of the line
% nobody reads { this
3 Bb5 a6 4. Bxc6!? dxc6 5. O-O {[%clk 0:01:02]} exd3 e.p. 1-0

[Event "The next game"]

1. d4 *
"""


def test_moves_are_read_past_comments_variations_and_annotations() -> None:
    read = pgn.parse(ANNOTATED)
    assert [move for move, _ in read.moves] == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Bxc6", "dxc6", "O-O", "exd3"]
    assert [line for _, line in read.moves] == [7, 7, 7, 7, 9, 9, 9, 9, 9, 9]
    assert read.tags == {"Event": 'A "small" game \\ of chess', "White": "Morphy, Paul", "Result": "1-0"}
    assert read.result == "1-0"


@pytest.mark.parametrize(
    ("text", "moves", "result"),
    [
        ("", [], "*"),
        ("*", [], "*"),
        ("1. e4", ["e4"], "*"),
        ("\ufeff1.e4 e5 2.", ["e4", "e5"], "*"),
        ("1... e5 1/2-1/2", ["e5"], "1/2-1/2"),
        ("1. 0-0 0-0-0 0-1", ["0-0", "0-0-0"], "0-1"),
        ('[Result "0-1"]\n\n1. e4', ["e4"], "0-1"),
        ('[Result "never"]\n\n1. e4', ["e4"], "*"),
        ('[A "1"]\n1. e4\n[B "2"]\n1. d4', ["e4"], "*"),
        ('{one}\n[A "1"] {two {}\n;three\n[B "2"]\n\n{four} 1. e4 e5 *', ["e4", "e5"], "*"),
        ("1. e4 [%clk 1] e5", ["e4", "[%clk", "1]", "e5"], "*"),  # not the end, and no moves
        ("1. P@e4 +P*5e ! ?", ["P@e4", "+P*5e"], "*"),
    ],
)
def test_small_games(text: str, moves: list[str], result: str) -> None:
    read = pgn.parse(text)
    assert ([move for move, _ in read.moves], read.result) == (moves, result)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. e4 {never", 'line 1: "{" begins a comment that does not end'),
        ("1. e4\n(1. d4 (1. c4) {x}", "line 2: ( begins a variation that does not end"),
        ("1. e4\n\n)", "line 3: ) ends a variation that has not begun"),
        ("1. e4 }", 'line 1: "}" means nothing there'),
        ("1. e4 $", 'line 1: "$" means nothing there'),
        ('[Event "x]\n1. e4', 'line 1: "[Event \\"x]" is no tag'),
        ("\n[Event]", 'line 2: "[Event]" is no tag: write [Name "value"]'),
        ("1. e4 e5\n" * 20_000, "line 10001: a game has at most 20,000 moves"),
        ('[A "x"]\n' + "".join(f'[A{number} "x"]\n' for number in range(1_000)), "line 1001: a game has at most"),
    ],
)
def test_what_is_no_game_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(NotationError) as error:
        pgn.parse(text)
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["(" * 10**5, "{" * 10**5, "{}" * 10**5 + "{", ")" * 10**5, "[" * 10**6])
def test_hostile_texts_are_refused_in_few_words(text: str) -> None:
    with pytest.raises(NotationError) as error:
        pgn.parse(text)
    assert len(str(error.value)) < 1_000


@pytest.mark.parametrize("text", ["(" * 10**5 + ")" * 10**5, "1 " * 10**5, " " * 10**6, ";" * 10**6, "$1" * 10**5])
def test_hostile_texts_that_say_nothing_have_no_moves(text: str) -> None:
    assert pgn.parse(text).moves == ()


def test_json_is_told_from_a_game_that_begins_with_a_comment() -> None:
    for text in ('{"start": 1}', "{}", " {", "{start: 1}", '{\n"moves": [{}]}', "{" * 10**5):
        assert pgn.looks_like_json(text), text
    for text in ("{A comment} 1. e4", '\n{of "several"\nlines}\n[A "1"]', "[]", "1. e4", ""):
        assert not pgn.looks_like_json(text), text


def test_a_game_is_written_as_it_is_read_and_others_read_it() -> None:
    tags = {
        "White": 'A "quoted" \\ name',
        "Variant": "crazyhouse",
        "Result": "*",
        "Two words": "dropped",
        "Bad": "\x1b",
    }
    moves = ["e4", "e5"] * 40
    text = pgn.text(tags, moves, "0-1")
    assert text.splitlines()[:7] == [
        '[Event "?"]',
        '[Site "?"]',
        '[Date "????.??.??"]',
        '[Round "?"]',
        '[White "A \\"quoted\\" \\\\ name"]',
        '[Black "?"]',
        '[Result "0-1"]',
    ]
    assert max(map(len, text.splitlines())) < 80
    assert "\x1b" not in text
    read = pgn.parse(text)
    assert [move for move, _ in read.moves] == moves
    assert read.tags["White"] == tags["White"]
    assert "Two words" not in read.tags
    other = chess.pgn.read_game(io.StringIO(pgn.text({}, ["e4", "e5", "Nf3"], "1-0")))
    assert other is not None
    assert [move.uci() for move in other.mainline_moves()] == ["e2e4", "e7e5", "g1f3"]
    assert pgn.text({}, ["e5", "Nf3"], "*", 12, is_second=True).splitlines()[-1] == "12... e5 13. Nf3 *"


def test_what_looks_like_a_game() -> None:
    for text in ('[Event "x"]', "1. e4", "  1.e4", '\ufeff[A "b"]', "% remark", "; remark"):
        assert pgn.looks_like(text), text
    for text in ("e2 e4", "1 2", "[e4]", "# e4", "{", ""):
        assert not pgn.looks_like(text), text
