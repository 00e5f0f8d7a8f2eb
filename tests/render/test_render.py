"""What people and programs read: boards, moves, tables, JSON, CSV, problems."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import Move, Position
from ggn_store.errors import Problem
from ggn_store.model.documents import board as boards
from ggn_store.notation.stn import Transition
from ggn_store.render.moves import moves_text
from ggn_store.render.problems import problems
from ggn_store.render.records import compact, records, table

CHESS = boards.box((8, 8))
START = Position.from_feen("+rnbq+k^bn+r/pppppppp/8/8/8/8/PPPPPPPP/+RNBQ+K^BN+R / C/c")


def drawn(position: Position, board: boards.Board) -> list[str]:
    return position.text(board.squares, board.shape).splitlines()


# --- boards ---


def test_a_board_of_chess_is_drawn_with_the_first_player_below() -> None:
    assert drawn(START, CHESS) == [
        "8  +r   n   b   q +k^   b   n  +r",
        "7   p   p   p   p   p   p   p   p",
        "6   .   .   .   .   .   .   .   .",
        "5   .   .   .   .   .   .   .   .",
        "4   .   .   .   .   .   .   .   .",
        "3   .   .   .   .   .   .   .   .",
        "2   P   P   P   P   P   P   P   P",
        "1  +R   N   B   Q +K^   B   N  +R",
        "    a   b   c   d   e   f   g   h",
        "first to move",
    ]


def test_a_part_of_a_board_keeps_its_own_names_of_files_and_ranks() -> None:
    assert drawn(Position({"e2": "C:P"}), boards.around(["e2", "f4"])) == [
        "4 . .",
        "3 . .",
        "2 P .",
        "  e f",
        "first to move",
    ]


def test_ranks_of_two_digits_and_files_of_two_letters_stay_in_line() -> None:
    board = boards.around(["y9", "ab10"])
    assert drawn(Position({"z9": "c:k", "ab10": "C:+K^"}, side="second"), board) == [
        "10   .   .   . +K^",
        " 9   .   k   .   .",
        "     y   z  aa  ab",
        "second to move",
    ]


def test_a_board_of_one_dimension_is_one_line() -> None:
    assert drawn(Position({"b": "C:R"}), boards.box((4,))) == [" . R . .", " a b c d", "first to move"]


def test_the_layers_of_a_box_are_drawn_the_highest_first() -> None:
    assert drawn(Position({"a1A": "C:K", "b2B": "c:k"}), boards.box((2, 2, 2))) == [
        "layer B",
        "2 . k",
        "1 . .",
        "  a b",
        "layer A",
        "2 . .",
        "1 K .",
        "  a b",
        "first to move",
    ]


def test_pieces_of_two_games_are_written_with_their_style() -> None:
    assert drawn(Position({"a1": "C:K^", "b2": "s:+p"}), boards.box((2, 2))) == [
        "2    . s:+p",
        "1 C:K^    .",
        "     a    b",
        "first to move",
    ]


def test_an_empty_board_is_drawn_empty() -> None:
    assert drawn(Position({}), boards.box((2, 1))) == ["1 . .", "  a b", "first to move"]


@pytest.mark.parametrize(
    ("position", "board"),
    [
        (Position({"pad": "C:K", "sea": "c:k"}), boards.around(["sea", "pad", "x y"])),
        (Position({"pad": "C:K", "sea": "c:k"}), boards.box((8, 8))),
        (Position({"pad": "C:K", "sea": "c:k"}), boards.box((33, 2))),
        (Position({"pad": "C:K", "sea": "c:k"}), boards.around(["a1Aa1"])),
    ],
    ids=["no rectangle", "squares outside", "too wide", "too many dimensions"],
)
def test_what_cannot_be_drawn_is_listed_by_square(position: Position, board: boards.Board) -> None:
    assert drawn(position, board) == ["pad C:K", "sea c:k", "first to move"]


def test_a_board_that_is_listed_and_empty_says_so() -> None:
    assert drawn(Position({}), boards.around(["sea", "pad"])) == ["(no pieces)", "first to move"]


def test_hands_are_listed_by_side_where_they_are_known_and_hold_something() -> None:
    held = Position({}, {"C:P": 2, "c:r": 1, "C:+N": 1, "c:p": 0})
    assert drawn(held, boards.box((1, 1)))[2:] == [
        "hand of first: 2 C:P, 1 C:+N",
        "hand of second: 1 c:r",
        "first to move",
    ]
    assert drawn(Position({}, {}), boards.box((1, 1)))[2:] == ["first to move"]
    assert drawn(Position({}), boards.box((1, 1)))[2:] == ["first to move"]


# --- moves ---


def move(
    source: str,
    destination: str,
    board: Mapping[str, str | None] | None = None,
    hands: Mapping[str, int] | None = None,
    piece: str = "C:P",
    toggle: bool = True,
) -> Move:
    """A move; without `board` one of which nothing is said about what it changes."""
    effects = None if board is None else Transition(board, hands or {}, toggle)
    return Move(piece, source, destination, 0, {}, {}, effects)


MOVES = [
    (move("e2", "e3", {"e2": None, "e3": "C:P"}), "C:P e2: e3"),
    (move("e4", "d5", {"e4": None, "d5": "C:P"}), "C:P e4: xd5"),
    (move("e4", "d5", {"e4": None, "d5": "C:P"}, {"C:P": 1}), "C:P e4: xd5[+1 C:P]"),
    (move("e7", "e8", {"e7": None, "e8": "C:Q"}), "C:P e7: e8=C:Q"),
    (move("e4", "d5", {"e4": None, "d5": None}), "C:P e4: xd5="),
    (move("e5", "d6", {"e5": None, "d6": "C:P", "d5": None}), "C:P e5: d6[d5=]"),
    (
        move("e1", "g1", {"h1": None, "g1": "C:K", "f1": "C:R", "e1": None}, piece="C:+K"),
        "C:+K e1: g1=C:K[f1=C:R h1=]",
    ),
    (move("*", "e5", {"e5": "C:P"}, {"C:P": -1}), "C:P hand: e5"),
    (move("*", "e5", {"e5": "C:P"}, {"C:P": -1, "c:p": 2}), "C:P hand: e5[+2 c:p]"),
    (move("e5", "*", {"e5": None}, {"C:P": 1}), "C:P e5: hand[+1 C:P]"),
    (move("e2", "e3", {"e2": None, "e3": "C:P"}, toggle=False), "C:P e2: e3[moves again]"),
    (move("e2", "e3", {}), "C:P e2: e3"),
    (move("e2", "e3"), "C:P e2: e3"),
    (move("e4", "d5"), "C:P e4: xd5"),
    (move("e4", "e4"), "C:P e4: e4"),
    (move("a\n1", "b\x1b[2J", {"\u202e": None}), r"C:P a\n1: b\x1b[2J[\u202e=]"),
]


@pytest.mark.parametrize(("one", "text"), MOVES, ids=[text for _, text in MOVES])
def test_a_move_is_written_with_what_it_changes(one: Move, text: str) -> None:
    assert moves_text([one], Position({"d5": "c:p", "e4": "C:P"})) == f"{text}\n"


def test_moves_are_grouped_by_piece_and_source_in_their_order() -> None:
    given = [
        move("b1", "c3", piece="C:N"),
        move("b1", "a3", piece="C:N"),
        move("g1", "h3", piece="C:N"),
        move("a2", "a3"),
        move("a2", "a4"),
        move("*", "a5"),
    ]
    assert moves_text(given, START).splitlines() == ["C:N b1: c3  a3", "C:N g1: h3", "C:P a2: a3  a4", "C:P hand: a5"]


def test_no_moves_are_no_lines() -> None:
    assert moves_text([], START) == ""


# --- records ---

ITEMS: list[dict[str, Any]] = [
    {"name": "chess", "count": 18, "title": None, "more": {"b": [1, None]}},
    {"name": 'a, "b"\n', "count": 5, "title": "x", "more": True},
]
COLUMNS = ("name", "count", "title", "more")


def test_records_as_ndjson_hold_every_key_on_a_line_each() -> None:
    lines = "".join(records(ITEMS, "ndjson", ())).splitlines()
    assert lines[0] == '{"name":"chess","count":18,"title":null,"more":{"b":[1,null]}}'
    assert [json.loads(line) for line in lines] == ITEMS
    assert "".join(records([], "ndjson", COLUMNS)) == ""


def test_records_as_json_are_one_array() -> None:
    assert json.loads("".join(records(ITEMS, "json", ()))) == ITEMS
    assert "".join(records(ITEMS[:1], "json", ())).count("\n") == 3
    assert "".join(records([], "json", COLUMNS)) == "[]\n"


def test_records_as_csv_hold_the_columns_and_survive_a_reader() -> None:
    text = "".join(records(ITEMS, "csv", COLUMNS))
    assert text.splitlines()[1] == 'chess,18,,"{""b"":[1,null]}"'
    assert list(csv.reader(io.StringIO(text))) == [
        list(COLUMNS),
        ["chess", "18", "", '{"b":[1,null]}'],
        ['a, "b"\n', "5", "x", "true"],
    ]
    assert "".join(records([], "csv", COLUMNS)) == "name,count,title,more\n"


def test_line_breaks_of_every_kind_are_quoted_in_csv() -> None:
    texts = ["a\rb", "a\nb", "a\r\nb", "\r"]
    text = "".join(records([{"n": each} for each in texts], "csv", ("n",)))
    assert text == 'n\n"a\rb"\n"a\nb"\n"a\r\nb"\n"\r"\n'


def test_numbers_that_json_cannot_say_stay_numbers_in_csv() -> None:
    numbers = [{"n": float(each)} for each in ("inf", "-inf", "nan", "0.5")]
    assert "".join(records(numbers, "csv", ("n",))) == "n\ninf\n-inf\nnan\n0.5\n"
    assert "".join(records(numbers[:1], "ndjson", ("n",))) == '{"n":null}\n'


def test_records_as_a_table_are_aligned_with_numbers_to_the_right() -> None:
    assert "".join(records(ITEMS, "table", COLUMNS)).splitlines() == [
        "name      count  title  more",
        "--------  -----  -----  --------------",
        'chess        18         {"b":[1,null]}',
        'a, "b"\\n      5  x      true',
    ]


def test_a_column_that_is_not_all_numbers_goes_to_the_left() -> None:
    assert table(("id", "n"), [["7", "1"], ["x7", "10"]]).splitlines() == ["id   n", "--  --", "7    1", "x7  10"]


def test_a_table_is_cut_to_the_width_of_a_terminal() -> None:
    text = table(("name", "title"), [["chess", "A very long title"], ["go", "Go"]], 15)
    assert text.splitlines() == ["name   title", "-----  -------…", "chess  A very …", "go     Go"]


def test_texts_go_on_below_where_a_table_is_fitted_into_a_terminal() -> None:
    rows = [["chess", "one two three four five", "7"], ["go", "x" * 20, "12"]]
    lines = table(("name", "what", "n"), rows, 27).splitlines()
    assert lines == [
        "name   what               n",
        "-----  ----------------  --",
        "chess  one two three      7",
        "       four five",
        "go     xxxxxxxxxxxxxxxx  12",
        "       xxxx",
    ]
    assert table(("name", "what", "n"), rows, 60) == table(("name", "what", "n"), rows)


def test_words_stay_whole_where_texts_can_give_room() -> None:
    at = "2026-01-31T12:00:00Z"
    rows = [[at, "ann", "one two three four"]]
    lines = table(("created_at", "who", "what"), rows, 39).splitlines()
    assert lines[2:] == [f"{at}  ann  one two", f"{'':25}  three four"]
    narrow = table(("created_at", "who", "what"), rows, 38).splitlines()
    assert narrow[2:4] == ["2026-01-31T12:0  ann  one two three", "0:00Z                 four"], "there is no room"


def test_columns_without_room_stand_in_a_table_below() -> None:
    lines = table(("name", "first", "second", "third"), [["a", "1", "2", "3"]], 14).splitlines()
    assert lines == [
        *("name  first", "----  -----", "a         1", ""),
        *("name  second", "----  ------", "a          2", ""),
        *("name  third", "----  -----", "a         3"),
    ]
    below = table(("name", "first", "second", "third"), [["a", "1" * 12, "2" * 12, "one two three four five"]], 26)
    assert below.splitlines()[-2:] == ["a     one two three four", "      five"]
    cut = table(("a name that is long", "n"), [["x", "1"]], 10).splitlines()
    assert cut[0] == "a name th…", "there is nothing that could be done"


def test_a_list_of_texts_needs_no_quotes_in_a_table() -> None:
    items = [{"squares": ["a1", "b2"], "numbers": [1, 2]}]
    assert "".join(records(items, "table", ("squares", "numbers"))).splitlines()[2] == "a1, b2   [1,2]"
    assert "".join(records(items, "csv", ("squares",))).splitlines()[1] == '"[""a1"",""b2""]"'


def test_a_table_without_rows_is_its_heading() -> None:
    assert table(("name", "n"), []) == "name  n\n----  -\n"


@pytest.mark.parametrize("form", ["ndjson", "json", "csv"])
def test_a_stream_of_records_is_written_as_it_comes(form: str) -> None:
    def stream() -> Iterator[dict[str, Any]]:
        yield ITEMS[0]
        yield ITEMS[0]
        raise EOFError

    parts = records(stream(), form, COLUMNS)
    assert next(parts)
    assert next(parts)
    with pytest.raises(EOFError):
        list(parts)


LABELS = st.text(st.characters(codec="utf-8") | st.sampled_from('\x1b\n\r\t\x00\x7f\x9b\u200f\u2028\u202e\u2066\\"'))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | LABELS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LABELS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_compact_json_means_the_same_and_cannot_act_on_a_terminal(value: Any) -> None:
    text = compact(value)
    assert json.loads(text) == value
    assert text.isprintable()


@given(st.lists(st.lists(LABELS, min_size=2, max_size=2), max_size=4))
def test_a_table_is_a_line_a_row_whatever_the_cells_hold(rows: list[list[str]]) -> None:
    lines = table(("one", "two"), rows).split("\n")
    assert len(lines) == 2 + len(rows) + 1
    assert all(line.isprintable() for line in lines)


# --- problems ---

FOUND = [
    Problem("not a square", "/C:P/e9x", 4, 18, "a.json", '"e9x"', "a CELL label", "invalid"),
    Problem("the same as before", "/C:P/e2/e4/1", code="duplicate-possibility"),
    Problem("the gzip data is broken", file="b\x1b[2J\n.json.gz", code="unreadable"),
    Problem("all of it"),
]


def test_problems_are_lines_as_compilers_write_them() -> None:
    assert list(problems(FOUND, "text")) == [
        'a.json:4:18 /C:P/e9x: not a square; found "e9x"; allowed: a CELL label\n',
        "/C:P/e2/e4/1: the same as before\n",
        "b\\x1b[2J\\n.json.gz: the gzip data is broken\n",
        "all of it\n",
    ]
    assert list(problems([], "text")) == []


def test_problems_in_json_are_an_array_of_all_their_parts() -> None:
    data = json.loads("".join(problems(FOUND, "json")))
    assert data[0] == {
        "message": "not a square",
        "pointer": "/C:P/e9x",
        "line": 4,
        "column": 18,
        "file": "a.json",
        "found": '"e9x"',
        "allowed": "a CELL label",
        "code": "invalid",
    }
    assert [problem["line"] for problem in data] == [4, None, None, None]
    assert json.loads("".join(problems([], "json"))) == []
