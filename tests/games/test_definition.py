"""Definitions are read whole, and whatever is wrong with one is told with its key, its line and what is allowed."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from ggn_store import DocumentError, GgnStoreError
from ggn_store.errors import Problem
from ggn_store.games import definition, tables
from ggn_store.games.definition import Definition, DefinitionError, read
from ggn_store.games.rules import Zone
from ggn_store.model.moves.play import DUTIES, HOST_DUTIES
from tests.support.definitions import shipped
from tests.support.sampled import sampled

DATA = Path(__file__).parents[2] / "data"

GAME = """\
title = "A game"
board = "8x8"
style = "C"
start = "+r3+k^2+r/pppppppp/8/8/8/8/PPPPPPPP/+R3+K^2+R / C/c"
host = ["royal-safety", "clear-marks"]

[hands]
captures = true

[zones]
last = "a8:h8"
middle = ["c3:f4", "last"]

[pieces.K]
betza = "K"
terminal = true
castling = [{ from = "e1", to = "g1", with = "h1", with_to = "f1" }]

[pieces.R]
betza = "R"
also = [{ from = "middle", betza = "F" }]

[pieces."+P"]
betza = "WfF"

[pieces.P]
betza = "mfWimfnDcefF"
en_passant = true
promotion = { zone = "last", to = ["+P"], forced = true }
drop = { zone = "a2:h7" }
"""
ONE_CASTLING = GAME.replace("+r3+k^2+r", "r3+k^2+r").replace("+R3+K^2+R", "R3+K^2+R")


def problems(text: str | bytes, file: str | None = None) -> tuple[Problem, ...]:
    """What is wrong with a definition."""
    with pytest.raises(DefinitionError) as caught:
        read(text, file)
    assert all(problem.kind == "definition" for problem in caught.value.problems)
    return caught.value.problems


def test_a_definition_is_read_whole() -> None:
    game = read(ONE_CASTLING)
    assert isinstance(game, Definition)
    assert (game.title, game.board.shape, game.styles, game.captures) == ("A game", (8, 8), ("C", "C"), True)
    assert game.host == ("royal-safety", "clear-marks")
    assert [piece.token for piece in game.pieces] == ["K", "R", "+P", "P"]
    assert game.zones["last"] == Zone(
        frozenset(f"{file}8" for file in "abcdefgh"), frozenset(f"{file}1" for file in "abcdefgh")
    )
    assert game.zones["middle"].second >= game.zones["last"].second
    assert [form.identifier for form in game.first.forms] == ["C:+K^", "C:K^", "C:+R", "C:R", "C:+P", "C:P", "C:-P"]
    assert [form.identifier for form in game.army("second").forms][:2] == ["c:+k^", "c:k^"]


def test_bytes_and_a_mark_of_byte_order_are_read() -> None:
    assert read(("\ufeff" + ONE_CASTLING).encode()).title == "A game"


def test_windows_line_ends_are_read() -> None:
    [problem] = problems(ONE_CASTLING.replace("terminal = true", "terminal = 1").replace("\n", "\r\n"))
    assert (problem.line, problem.column) == (16, 1)


def test_every_duty_of_the_host_is_explained() -> None:
    assert {"royal-safety", "flying-general", "clear-marks", "mandatory-capture", "pass"} <= DUTIES.keys()
    assert all(meaning and meaning[-1] != "." for meaning in {**DUTIES, **HOST_DUTIES}.values())


# Each: what is replaced in ONE_CASTLING, by what, the key path and part of the message of the only problem.
MALFORMED = [
    # the head
    ('title = "A game"\n', "", "title", "a definition has a title"),
    ('title = "A game"', 'title = ""', "title", "title is a text"),
    ('title = "A game"', "title = 1", "title", "title is a text"),
    ('title = "A game"', 'title = "A\\u0000game"', "title", "title is a text"),
    ('title = "A game"', 'titel = "A game"\ntitle = "A game"', "titel", "a definition has no such key"),
    ('title = "A game"', 'title = "A game"\ntier = "E"', "tier", "tier is one of a few words"),
    ('title = "A game"', 'title = "A game"\ncylinder = "yes"', "cylinder", "cylinder says yes or no"),
    ('title = "A game"', 'title = "A game"\nhexagons = "bent"', "hexagons", "hexagons is one of a few words"),
    ('board = "8x8"', 'board = "8 x 8"', "board", "is not the shape of a board"),
    ('board = "8x8"', "board = 8", "board", "board is a text"),
    ('board = "8x8"', 'board = "100x100"', "board", "the board is too large"),
    ('board = "8x8"', 'board = "8x8x8x8"', "board", "one to three sizes"),
    ('board = "8x8"\n', "", "board", "a definition has board or squares"),
    ('board = "8x8"', 'board = "8x8"\nsquares = ["a1"]', "board", "a definition has board or squares"),
    ('board = "8x8"', "squares = []", "squares", "the board has no squares"),
    ('board = "8x8"', 'squares = ["a1:b2:c3"]', "squares[0]", "not a square or a rectangle"),
    ('board = "8x8"', 'squares = ["a1:zz999"]', "squares[0]", "the rectangle is too large"),
    ('board = "8x8"', 'squares = ["a1", "a1A"]', "squares", "not of one number of dimensions"),
    ('board = "8x8"', 'squares = ["a1:a1A"]', "squares[0]", "different numbers of dimensions"),
    ('style = "C"', 'style = "c"', "style", "not a style"),
    ('style = "C"\n', "", "style", "a definition has style or styles"),
    ('style = "C"', 'styles = { first = "C" }', "styles", "styles names both players' styles"),
    ('style = "C"', 'styles = { first = "C", second = "x" }', "styles.second", "not a style"),
    ('start = "', 'start = "x', "start", "is not FEEN"),
    ("/8/8/8/8/", "/8/8/8/", "start", "the start position is on another board"),
    ("/ C/c", "/ S/s", "start", "the start position has other styles"),
    ("/8/8/8/8/", "/8/3X4/8/8/", "start", "d5 holds a piece that is not defined"),
    ("/8/8/8/8/", "/8/3+K^4/8/8/", "start", "C:+K^ cannot be on this square"),
    ("/8/8/8/8/", "/8/3-P4/8/8/", "start", "C:-P cannot be on this square"),
    ("R / C/c", "R K^/ C/c", "start", "a hand holds a piece that cannot be dropped"),
    ('host = ["royal-safety", "clear-marks"]', 'host = ["clear-marks", "win"]', "host[1]", "no such duty"),
    ('"royal-safety", ', '"clear-marks", ', "host[1]", "host has this twice"),
    (
        'host = ["royal-safety", "clear-marks"]',
        'host = ["royal-safety"]',
        "play.duties",
        "nothing says that the marks are cleared",
    ),
    ('host = ["royal-safety", "clear-marks"]', 'host = "clear-marks"', "host", "host is a list of texts"),
    ("captures = true", "captures = true\nmax = 3", "hands.max", "hands has no such key"),
    ("captures = true", "captures = 1", "hands.captures", "captures says yes or no"),
    # zones
    ('last = "a8:h8"', 'last = "a8:h9"', "zones.last", "not on the board"),
    ('last = "a8:h8"', 'last = "8a"', "zones.last", "no such zone"),
    ('last = "a8:h8"', "last = []", "zones.last", "the zone of the first side has no square"),
    ('last = "a8:h8"', 'last = { first = "a8" }', "zones.last", "a zone in two parts has first and second"),
    ('last = "a8:h8"', 'last = { first = "a8", second = "a9" }', "zones.last.second", "not on the board"),
    ('last = "a8:h8"', 'last = "a8:h8"\n"1st" = "a1"', "zones.1st", "not the name of a zone"),
    ('last = "a8:h8"', 'last = "a8:h8"\nall = "a1"', "zones.all", "the name means something else"),
    ('last = "a8:h8"', 'last = "a8:h8"\ne4 = "a1"', "zones.e4", "the name means something else"),
    ('middle = ["c3:f4", "last"]', 'middle = ["c3:f4", "later"]', "zones.middle[1]", "no zone has this name"),
    ('middle = ["c3:f4", "last"]', 'middle = ["c3:f4", 5]', "zones.middle[1]", "no such zone"),
    # pieces
    ("[pieces.K]", "[pieces.King]", "pieces.King", "not the name of a piece"),
    ('[pieces."+P"]\nbetza = "WfF"', '[pieces]\n"+P" = "WfF"', 'pieces."+P"', "a piece is a table"),
    ("[pieces.R]", "[first.K]\nbetza = 'K'\n[pieces.R]", "first.K", "the first side has this piece already"),
    ('betza = "R"', 'betsa = "R"\nbetza = "R"', "pieces.R.betsa", "a piece has no such key"),
    ('betza = "R"\n', "", "pieces.R.betza", "betza is missing"),
    ('betza = "R"', "betza = 4", "pieces.R.betza", "betza is a text"),
    ("terminal = true", 'terminal = "yes"', "pieces.K.terminal", "terminal says yes or no"),
    ('from = "middle"', 'from = "centre"', "pieces.R.also[0].from", "no zone has this name"),
    ('betza = "F" }]', 'betza = "F", to = "last" }]', "pieces.R.also[0].to", "a further way of moving has no such key"),
    ('also = [{ from = "middle", betza = "F" }]', "also = 3", "pieces.R.also", "also is a table or a list of tables"),
    ('also = [{ from = "middle", betza = "F" }]', "also = [3]", "pieces.R.also[0]", "also is a list of tables"),
    ('betza = "R"', 'betza = "R"\nconfined = "z9"', "pieces.R.confined", "not on the board"),
    ('betza = "R"', 'betza = "R"\nfen = "rook"', "pieces.R.fen", "not a piece of the first side in FEN"),
    ('betza = "R"', 'betza = "R"\ncaptures_except = ["X"]', "pieces.R.captures_except[0]", "no piece has this letter"),
    (
        'betza = "R"',
        'betza = "R"\nhurdles_except = "C"',
        "pieces.R.hurdles_except",
        "hurdles_except is a list of texts",
    ),
    ('betza = "R"', 'betza = "R"\nhand = "Q"', "pieces.R.hand", "captured, it would be Q in a hand"),
    ('betza = "R"', 'betza = "R"\nhand = 1', "pieces.R.hand", "not what the piece is in a hand"),
    ('betza = "WfF"', 'betza = "WfF"\nunmoved = "e1"', 'pieces."+P".unmoved', "unmoved marks a piece by a state"),
    (
        'betza = "WfF"',
        'betza = "WfF"\nen_passant = true',
        'pieces."+P".en_passant',
        "en_passant marks a piece by a state",
    ),
    # castling
    ('from = "e1"', 'from = "e9"', "pieces.K.castling[0].from", "not a square of the board"),
    ('from = "e1", ', "", "pieces.K.castling[0].from", "from is missing"),
    ('with_to = "f1" }', 'with_to = "f1", rook = "T" }', "pieces.K.castling[0].rook", "has no such piece"),
    ('with_to = "f1" }', 'with_to = "f1", rook = "rook" }', "pieces.K.castling[0].rook", "not the letter of a piece"),
    ('with_to = "f1" }', 'with_to = "f1", by = "R" }', "pieces.K.castling[0].by", "a castling has no such key"),
    ('with_to = "f1" }', 'with_to = "f1", empty = ["h1"] }', "pieces.K.castling[0].empty[0]", "that can be empty"),
    ('with_to = "f1"', 'with_to = "g1"', "pieces.K.castling[0]", "would stand on one square"),
    ('from = "e1"', 'from = ["b1:g1", "z9"]', "pieces.K.castling[0].from[1]", "not on the board"),
    ('with = "h1"', 'with = "a1:d1"', "pieces.K.castling[0]", "with each rook that it passes"),
    ('with = "h1"', 'with = "a1:h1", empty = ["f1"]', "pieces.K.castling[0]", "over squares that are then empty"),
    # promotion, drop, en passant
    ('to = ["+P"]', 'to = ["Q"]', "pieces.P.promotion.to[0]", "the first side has no such piece"),
    ('to = ["+P"]', "to = []", "pieces.P.promotion.to", "says what the piece becomes"),
    ('to = ["+P"]', 'to = ["+P", "+P"]', "pieces.P.promotion.to[1]", "to has this twice"),
    ('to = ["+P"], ', "", "pieces.P.promotion.to", "says what the piece becomes"),
    ('zone = "last", ', "", "pieces.P.promotion.zone", "a promotion has a zone"),
    ("forced = true", 'forced = "sometimes"', "pieces.P.promotion.forced", "forced says when it must be"),
    ("forced = true", 'on = "leave"', "pieces.P.promotion.on", "on is one of a few words"),
    ("forced = true", 'on = "any"', "pieces.P.promotion.zone", "is every move, wherever it ends, and has no zone"),
    ('to = ["+P"]', 'to = ["R"], unique = true', "pieces.P.promotion", "and R has several"),
    ("forced = true", "optional = true", "pieces.P.promotion.optional", "a promotion has no such key"),
    ('drop = { zone = "a2:h7" }', "drop = 1", "pieces.P.drop", "drop says where the piece may be dropped"),
    ('drop = { zone = "a2:h7" }', "blast = 3", "pieces.P.blast", "blast says what it empties"),
    ('drop = { zone = "a2:h7" }', "drop = { nifu = 3 }", "pieces.P.drop.nifu", "nifu limits the pieces of a file"),
    ('betza = "R"\n', 'betza = "R"\ndrop = { nifu = true }\n', "pieces.R.drop.nifu", "one identifier on each square"),
    ('betza = "R"\n', 'betza = "R"\ndrop = { other_colour = true }\n', "pieces.R.drop.other_colour", "has several"),
    ('drop = { zone = "a2:h7" }', "drop = { file = 1 }", "pieces.P.drop.file", "a drop has no such key"),
    ('drop = { zone = "a2:h7" }', 'drop = { as = ["X"] }', "pieces.P.drop.as[0]", "the first side has no such piece"),
    ("imfnD", "imfD", "pieces.P.en_passant", "nothing can be captured in passing"),
    ("en_passant = true", 'en_passant = "a9"', "pieces.P.en_passant", "not on the board"),
    ('[pieces."+P"]', "[pieces.-P]", "pieces.-P", "a piece of its own and also the P that can be captured"),
    ("[pieces.R]", "[pieces.'+R']\nbetza = 'R'\n[pieces.R]", 'pieces."+R"', "has not moved"),
]


@pytest.mark.parametrize(("old", "new", "path", "message"), MALFORMED)
def test_a_malformed_definition_is_told_where_and_what(old: str, new: str, path: str, message: str) -> None:
    assert old in ONE_CASTLING
    text = ONE_CASTLING.replace(old, new, 1)
    if path == "pieces.-P":
        text = text.replace('"+P"', '"-P"')
    found = problems(text, "game.toml")
    assert [problem.pointer for problem in found] == [path], [str(problem) for problem in found]
    assert message in found[0].message
    assert found[0].file == "game.toml"
    assert found[0].allowed or "is not" in found[0].message or "sizes" in found[0].message
    assert "\n" not in str(found[0])
    assert str(found[0]).startswith("game.toml")


WHOLE = [
    ("", "title", "a definition has a title"),
    ("title = 'x'\nboard = '3x3'\nstyle = 'C'", "pieces", "a definition has pieces"),
    ("title = 'x'\nboard = '3x3'\nstyle = 'C'\npieces = 3", "pieces", "pieces is a table"),
    ("title = 'x'\nboard = '3x3'\nstyle = 'C'\nzones = 3\n[pieces.K]\nbetza='K'", "zones", "zones is a table"),
    (
        "title = 'x'\nboard = '5'\nstyle = 'C'\n[pieces.K]\nbetza = ''\ndrop = { nifu = true }",
        "pieces.K.drop.nifu",
        "a board of one dimension has no files",
    ),
    (
        "title = 'x'\nsquares = ['a1:c1', 'a2', 'a3', 'b3']\nstyle = 'C'\n[pieces.K]\nbetza = 'K'\nconfined = 'c1'",
        "pieces.K.confined",
        "the zone of the second side has no square",
    ),
    (
        "title = 'x'\nsquares = ['a1:e1', 'a2:e2', 'a3']\nstyle = 'C'\n[pieces.R]\nbetza = 'R'\n[pieces.K]\n"
        "betza = 'K'\ncastling = { from = 'b1', to = 'd1', with = 'e1', with_to = 'c1' }",
        "pieces.K.castling",
        "the second side's squares are not on the board",
    ),
    (
        "title = 'x'\nboard = '8x10'\nstyle = 'C'\nhost = ['clear-marks']\n[pieces.P]\nbetza = 'imfnDimfnHimfR4'\n"
        "initial = 'all'\nen_passant = true",
        "pieces.P.en_passant",
        "in more ways than states can tell",
    ),
    (
        "title = 'x'\nboard = '8x8'\nstyle = 'C'\nhost = ['clear-marks']\n[pieces.P]\nbetza = 'imfFimfnA'\n"
        "unmoved = 'a2:h2'\nen_passant = true",
        "pieces.P",
        "the state + would say both",
    ),
    (
        "title = 'x'\nboard = '8x8'\nstyle = 'C'\n[hands]\ncaptures = true\n[first.P]\nbetza = 'W'\n[second.Q]\n"
        "betza = 'W'\nhand = false",
        "first.P.hand",
        "captured, it would be P in a hand, and the second side has no such piece",
    ),
]


@pytest.mark.parametrize(("text", "path", "message"), WHOLE)
def test_a_definition_that_lacks_something_is_told_so(text: str, path: str, message: str) -> None:
    assert any(problem.pointer == path and message in problem.message for problem in problems(text))


def test_every_problem_comes_at_once_in_the_order_of_the_text() -> None:
    text = ONE_CASTLING
    for old, new in [
        ('style = "C"', 'style = "c"'),
        ('last = "a8:h8"', 'last = "a8:h9"'),
        ("terminal = true", "terminal = 1"),
        ('to = ["+P"]', 'to = ["Q"]'),
    ]:
        text = text.replace(old, new)
    found = problems(text, "game.toml")
    assert [problem.pointer for problem in found] == [
        "style",
        "zones.last",
        "pieces.K.terminal",
        "pieces.P.promotion.to[0]",
    ]
    assert [problem.line for problem in found] == [3, 11, 16, 29]
    assert str(found[2]) == "game.toml:16:1 pieces.K.terminal: terminal says yes or no; found 1; allowed: true or false"


def test_a_betza_string_shows_where_it_goes_wrong() -> None:
    [problem] = problems(ONE_CASTLING.replace('betza = "WfF"', 'betza = "WfF%"'), "game.toml")
    assert (problem.pointer, problem.line, problem.column) == ('pieces."+P".betza', 24, 1)
    assert problem.found == '"WfF%"'
    lines = str(problem).split("\n")
    assert lines[0].startswith('game.toml:24:1 pieces."+P".betza: ')
    caret = next(line for line in lines if line.strip() == "^")
    shown = next(line for line in lines[1:] if line.strip() == "WfF%")
    assert shown[caret.index("^")] == "%"
    assert problem.data()["detail"]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('title = "x"\nboard = \n', 2, 9, "the definition is not TOML: Invalid value"),
        ('title = "x"\ntitle = "y"\n', 2, 12, "the definition is not TOML: Cannot overwrite a value"),
        ('title = "x', 1, 11, "the definition is not TOML"),
        (b'title = "\xff"', None, None, "the definition is not text in UTF-8"),
        ("x" * 1_000_001, None, None, "the definition is too long"),
        ("a = " + "[" * 50_000, None, None, "the definition is nested too deeply"),
    ],
    ids=["value", "twice", "open", "bytes", "long", "deep"],
)
def test_text_that_is_not_toml_is_refused_with_its_place(
    text: str | bytes, line: int | None, column: int | None, message: str
) -> None:
    [problem] = problems(text)
    assert message in problem.message
    assert (problem.line, problem.column) == (line, column)


def test_both_sides_can_have_every_letter_in_every_state() -> None:
    letters = [chr(ord("A") + number) for number in range(26)]
    tokens = [state + letter for state in ("", "+", "-") for letter in letters]
    tables = [f'[{group}."{token}"]\nbetza = "W"\n' for group in ("first", "second") for token in tokens]
    assert len(read('title = "x"\nboard = "3x3"\nstyle = "C"\n' + "".join(tables)).pieces) == 156


def test_problems_of_a_definition_are_errors_of_the_package() -> None:
    with pytest.raises(GgnStoreError) as caught:
        read("")
    assert isinstance(caught.value, DocumentError)
    assert "title: a definition has a title" in str(caught.value)


JUNK = (
    *("1", "-1", "1.5", "nan", "true", "1979-05-27", '""', '"x"', '"a1"', '"K"', '"a1:"', '"e4:zz99999"', '"*"'),
    *("[]", "[1]", "[[]]", '["K", "K"]', '["x"]', '[["a1"]]', "{}", "{ x = 1 }", "[{}]", "[{ x = 1 }]"),
    *("{ first = 1, second = 2 }", '{ first = "a1", second = "a1" }', "{ first = [{}], second = [{}] }"),
    *('{ zone = "a1", to = ["K"], nifu = true }', '"\\u0000"', '"\\u202e"'),
)
KEYS = sorted({*definition.KEYS, *tables.PIECE_KEYS, *tables.CASTLING_KEYS, *tables.PROMOTION_KEYS, *tables.DROP_KEYS})


MEMBER = re.compile(r'(?P<key>\w+) = (?:"[^"]*"|\[[^]{]*\]|\w+)')


@pytest.mark.parametrize("junk", sampled(JUNK, one_in=8))
def test_no_value_of_any_key_is_more_than_a_problem(junk: str) -> None:
    texts = [f"{key} = {junk}\n{ONE_CASTLING}" for key in KEYS]
    texts += [f"{ONE_CASTLING}\n{key} = {junk}" for key in KEYS]
    for each in MEMBER.finditer(ONE_CASTLING):
        texts.append(f"{ONE_CASTLING[: each.start()]}{each['key']} = {junk}{ONE_CASTLING[each.end() :]}")
    errors = []
    for text in texts:
        try:
            read(text)
        except DefinitionError as error:
            errors.append(error.problems)
    assert len(errors) > len(texts) / 2
    for problem in itertools.chain.from_iterable(errors):
        assert problem.kind == "definition"
        assert str(problem).replace("\n", "").isprintable()


def test_what_is_said_of_each_side_may_be_nothing_for_one_of_them() -> None:
    text = shipped("dunsany")
    [pawn] = [piece for piece in read(text).pieces if piece.token == "P"]
    assert pawn.initial is not None
    assert (len(pawn.initial.first), len(pawn.initial.second)) == (0, 8)
    with pytest.raises(DefinitionError, match="the zone of the first side has no square"):
        read(text.replace('{ first = [], second = "a7:h7" }', "{ first = [], second = [] }"))
