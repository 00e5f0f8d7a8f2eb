"""The commands `moves`, `apply` and `perft`, with positions in every form that they take."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from ggn_store.api.positions.notations import NOTATIONS
from tests.support.program import MINI_MOVES, MOVE_KEYS, Command, Program, Result, places, write

# --- moves ---


def test_moves_of_the_start_position_are_json_objects_when_piped(ask: Command) -> None:
    result = ask("moves", "mini")
    assert (result.code, result.err) == (0, "")
    assert places(result) == MINI_MOVES
    assert [list(record) for record in result.records()] == [MOVE_KEYS] * 4
    assert result.out.splitlines()[2] == (
        '{"piece":"C:P","source":"a2","destination":"b3","ordinal":0,"must":{"b3":"enemy"},"deny":{},'
        '"effects":{"board":{"a2":null,"b3":"C:P"},"hands":{"C:P":1}},"assumed":false}'
    )


def test_chess_begins_with_twenty_moves(ask: Command) -> None:
    result = ask("moves", "chess")
    assert len(result.records()) == 20
    assert len(ask("moves", "chess", "--side", "second").records()) == 20


def test_moves_in_json_csv_and_as_a_table_are_the_same_moves(ask: Command) -> None:
    records = ask("moves", "mini").records()
    assert ask("moves", "mini", "--format", "ndjson").records() == records
    assert json.loads(ask("moves", "mini", "--format", "json").out) == records
    rows = list(csv.DictReader(io.StringIO(ask("moves", "mini", "--format", "csv").out)))
    assert [list(row) for row in rows] == [MOVE_KEYS] * 4
    for row, record in zip(rows, records, strict=True):
        assert (row["piece"], row["source"], row["destination"]) == tuple(record[key] for key in MOVE_KEYS[:3])
        assert [json.loads(row[key]) for key in MOVE_KEYS[3:]] == [record[key] for key in MOVE_KEYS[3:]]


def test_moves_as_a_table_draw_the_board_and_group_by_piece(ask: Command) -> None:
    assert ask("moves", "mini", "--format", "table") == Result(
        0,
        "3 . p .\n"
        "2 P . .\n"
        "1 . . .\n"
        "  a b c\n"
        "hand of first: 1 C:P\n"
        "first to move\n"
        "\n"
        "C:P a2: a3=C:Q  a3=C:N  xb3[+1 C:P]\n"
        "C:P hand: c1\n"
        "mini@1: 4 moves for first\n",
        "",
    )


def test_a_position_without_moves_is_an_answer(ask: Command) -> None:
    empty = ("moves", "must", "--board", "{}")
    assert ask(*empty) == Result(0, "", "")
    assert ask(*empty, "--format", "json") == Result(0, "[]\n", "")
    assert ask(*empty, "--format", "csv") == Result(0, ",".join(MOVE_KEYS) + "\n", "")
    assert ask(*empty, "--format", "table").out.endswith("must@1: no moves for first\n")


POSITIONS = [
    ("squares", '{"a2": "C:P", "b3": "c:p", "c1": null}', b""),
    ("an object", '{"board": {"a2": "C:P", "b3": "c:p"}, "hands": null, "side": "first"}', b""),
    ("an object with FEEN", '{"feen": "1p1/P2/3 P/ C/c"}', b""),
    ("a FEEN text", '"1p1/P2/3 P/ C/c"', b""),
    ("a file", "@position.json", b""),
    ("standard input", "-", b'{"a2": "C:P", "b3": "c:p"}'),
]


@pytest.mark.parametrize(("board", "stdin"), [row[1:] for row in POSITIONS], ids=[row[0] for row in POSITIONS])
def test_a_board_can_be_given_in_many_ways(ask: Command, board: str, stdin: bytes) -> None:
    write("position.json", {"board": {"a2": "C:P", "b3": "c:p"}})
    assert places(ask("moves", "mini", "--board", board, stdin=stdin)) == MINI_MOVES


def test_a_position_can_be_given_as_feen(ask: Command) -> None:
    assert places(ask("moves", "mini", "--feen", "1p1/P2/3 P/ C/c")) == MINI_MOVES
    assert places(ask("moves", "mini", "--feen", "1p1/P2/3 / C/c")) == MINI_MOVES[:3]
    assert places(ask("moves", "mini", "--feen", "1p1/P2/3 / c/C")) == [("c:p", "b3", "b2", 0)]
    assert places(ask("moves", "mini", "--feen", "1p1/P2/3 / C/c", "--side", "second")) == [("c:p", "b3", "b2", 0)]


@pytest.mark.parametrize(
    ("options", "drops"),
    [
        (("--board", "{}"), True),
        (("--board", "{}", "--hands", "{}"), False),
        (("--board", "{}", "--hands", '{"C:P": 2}'), True),
        (("--board", "{}", "--hands", '{"c:p": 2}'), False),
        (("--board", '{"board": {}, "hands": {"C:P": 1}}', "--hands", "{}"), False),
        (("--hands", "{}", "--source", "*"), False),
        (("--board", "{}", "--hands", '{"C:P": 1}', "--side", "second"), False),
    ],
    ids=["unknown", "empty", "held", "held by the other", "over the board's", "at the start", "other side"],
)
def test_drops_are_held_to_the_hands_that_are_known(ask: Command, options: tuple[str, ...], drops: bool) -> None:
    assert places(ask("moves", "mini", *options)) == (MINI_MOVES[3:] if drops else [])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--piece", "C:P"), MINI_MOVES),
        (("--piece", "c:p"), []),
        (("--source", "a2"), MINI_MOVES[:3]),
        (("--source", "*"), MINI_MOVES[3:]),
        (("--destination", "b3"), MINI_MOVES[2:3]),
        (("--destination", "*"), []),
        (("--source", "c3"), []),
        (("--piece", "C:P", "--source", "a2", "--destination", "a3"), MINI_MOVES[:2]),
        (("--piece", "c:p", "--side", "second", "--source", "b3", "--destination", "b2"), [("c:p", "b3", "b2", 0)]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_moves_can_be_narrowed(ask: Command, options: tuple[str, ...], expected: list[Any]) -> None:
    assert places(ask("moves", "mini", *options)) == expected


def test_a_must_deny_ruleset_gives_effects_only_where_they_are_assumed(ask: Command) -> None:
    options = ("moves", "must", "--board", '{"a1": "C:R"}')
    [plain] = ask(*options).records()
    assert (plain["effects"], plain["assumed"]) == (None, False)
    [assumed] = ask(*options, "--assume", "displacement").records()
    assert (assumed["effects"], assumed["assumed"]) == ({"board": {"a1": None, "a3": "C:R"}}, True)
    [given] = ask("moves", "mini", "--destination", "b3", "--assume", "displacement").records()
    assert (given["effects"]["hands"], given["assumed"]) == ({"C:P": 1}, False)


BATCH = (
    '{"board": {"a2": "C:P"}, "hands": {}}\n'
    "\n"
    '"3/3/3 / C/c"\n'
    '{"feen": "1p1/P2/3 P/ C/c"}\n'
    '{"board": {"b3": "c:p"}, "side": "second"}\n'
)


def test_a_batch_numbers_its_positions(ask: Command) -> None:
    write("positions.ndjson", BATCH)
    result = ask("moves", "mini", "--positions", "positions.ndjson")
    assert (result.code, result.err) == (0, "")
    assert [(r["position"], r["piece"], r["source"], r["destination"], r["ordinal"]) for r in result.records()] == [
        *((0, *move) for move in MINI_MOVES[:2]),
        *((2, *move) for move in MINI_MOVES),
        (3, "c:p", "b3", "b2", 0),
    ]
    assert [list(record) for record in result.records()] == [["position", *MOVE_KEYS]] * 7
    assert ask("moves", "mini", "--positions", "-", stdin=BATCH) == result
    assert json.loads(ask("moves", "mini", "--positions", "-", "--format", "json", stdin=BATCH).out) == result.records()
    rows = list(
        csv.DictReader(io.StringIO(ask("moves", "mini", "--positions", "-", "--format", "csv", stdin=BATCH).out))
    )
    assert [row["position"] for row in rows] == ["0", "0", "2", "2", "2", "2", "3"]
    table = ask("moves", "mini", "--positions", "-", "--format", "table", stdin=BATCH).out.splitlines()
    assert table[0].split() == ["position", *MOVE_KEYS]
    assert len(table) == 2 + 7


def test_a_batch_can_be_narrowed_and_turned(ask: Command) -> None:
    turned = ask("moves", "mini", "--positions", "-", "--side", "second", stdin=BATCH)
    assert [(r["position"], r["piece"]) for r in turned.records()] == [(2, "c:p"), (3, "c:p")]
    narrow = ask("moves", "mini", "--positions", "-", "--destination", "b3", stdin=BATCH)
    assert [(r["position"], r["destination"]) for r in narrow.records()] == [(2, "b3")]


@pytest.mark.parametrize("asked", [(), ("--engine", "duckdb"), ("--count", "position")])
def test_a_line_says_a_position_in_any_notation(run: Program, asked: tuple[str, ...]) -> None:
    assert run("--db", "new.db", "load", "--library", "dobutsu").code == 0
    moved = ("--db", "new.db", "apply", "dobutsu", "--move", "b2b3", "--format")
    texts = {name: run(*moved, name).out.strip() for name in NOTATIONS}
    assert len({*texts.values()}) == len(NOTATIONS)
    lines = "".join(json.dumps({name: text}) + "\n" for name, text in texts.items())
    found = run("--db", "new.db", "moves", "dobutsu", "--positions", "-", *asked, stdin=lines).records()
    by_position: dict[int, list[Any]] = {}
    for record in found:
        by_position.setdefault(record.pop("position"), []).append(record)
    first, *others = by_position.values()
    assert others == [first] * (len(NOTATIONS) - 1)


def test_a_batch_of_more_positions_than_one_statement_holds_is_numbered_through(ask: Command) -> None:
    result = ask("moves", "must", "--positions", "-", stdin='{"board": {"a1": "C:R"}}\n' * 1201)
    assert [record["position"] for record in result.records()] == list(range(1201))


def test_explain_prints_the_statement_and_the_database_s_plan(ask: Command, library: str) -> None:
    asked = ("moves", "mini", "--explain", "--piece", "C:P", "--source", "a2", "--destination", "b3")
    for query, table, note in (("fast", "lane", True), ("reading", "board_state", False)):
        result = ask(*asked, "--query", query)
        assert (result.code, result.err) == (0, "")
        statement, _, plan = result.out.partition("\n\n")
        assert "SELECT" in statement
        assert table in statement
        if query == "reading":
            assert "'C:P'" in statement, "what was asked is in the statement"
        assert ("cost=" if library.startswith("postgresql") else "SEARCH") in plan
        assert ("of what it finds, only moves to b3" in plan) is note


def test_both_queries_print_the_same_moves(ask: Command) -> None:
    assert ask("moves", "mini", "--query", "fast") == ask("moves", "mini", "--query", "reading")


# --- apply ---


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--move", "C:P a2 b3"), "1P1/3/3 2P/ c/C"),
        (("--move", "C:P a2 a3", "--ordinal", "0"), "Qp1/3/3 P/ c/C"),
        (("--move", "C:P a2 a3", "--ordinal", "1"), "Np1/3/3 P/ c/C"),
        (("--move", "a2a3 2"), "Np1/3/3 P/ c/C"),
        (("--move", "a2a3n"), "Np1/3/3 P/ c/C"),
        (("--move", "A2xB3"), "1P1/3/3 2P/ c/C"),
        (("--move", "P*c1"), "1p1/P2/2P / c/C"),
        (("--move", "C:P * c1"), "1p1/P2/2P / c/C"),
        (("--move", "  c:p  b3  b2 ", "--side", "second"), "3/Pp1/3 P/ c/C"),
        (("--feen", "3/3/3 P/ C/c", "--move", "C:P * c1"), "3/3/2P / c/C"),
        (("--move", "C:P a2 b3", "--hands", '{"C:P": 7}'), "1P1/3/3 8P/ c/C"),
    ],
    ids=[
        "capture",
        "first choice",
        "second choice",
        "by its number",
        "by what it makes",
        "capture in a word",
        "drop in a word",
        "drop",
        "the turn stays",
        "feen",
        "hands",
    ],
)
def test_apply_prints_the_position_after_the_move(ask: Command, options: tuple[str, ...], expected: str) -> None:
    assert ask("apply", "mini", *options) == Result(0, f"{expected}\n", "")


def test_what_apply_prints_is_a_position_for_the_next_command(ask: Command) -> None:
    after = ask("apply", "mini", "--move", "C:P a2 b3").out.strip()
    assert ask("moves", "mini", "--feen", after).out == ""
    assert places(ask("moves", "mini", "--feen", after, "--side", "first")) == MINI_MOVES[3:]
    position = ask("apply", "mini", "--move", "C:P a2 b3", "--format", "json").out
    assert places(ask("moves", "mini", "--board", position, "--side", "first")) == MINI_MOVES[3:]


def test_apply_answers_in_the_form_that_the_position_came_in(ask: Command) -> None:
    board = ("apply", "mini", "--board", '{"a2": "C:P"}', "--move", "C:P a2 a3", "--ordinal", "1")
    assert json.loads(ask(*board).out) == {"board": {"a3": "C:N"}, "hands": None, "side": "second"}
    assert ask(*board, "--format", "feen").out == "N2/3/3 / c/C\n"
    start = ("apply", "mini", "--move", "C:P a2 b3", "--format", "json")
    assert json.loads(ask(*start).out) == {"board": {"b3": "C:P"}, "hands": {"C:P": 2}, "side": "second"}


def test_apply_takes_displacement_only_where_it_is_assumed(ask: Command) -> None:
    options = ("apply", "must", "--board", '{"a1": "C:R"}', "--move", "C:R a1 a3")
    assert json.loads(ask(*options, "--assume", "displacement").out)["board"] == {"a3": "C:R"}
    refused = ask(*options)
    assert (refused.code, refused.out) == (1, "")
    assert "--assume displacement" in refused.err


@pytest.mark.parametrize("engine", [(), ("--engine", "sqlite"), ("--engine", "duckdb")])
def test_perft_counts_the_paths(ask: Command, engine: tuple[str, ...]) -> None:
    result = ask("perft", "chess", "--depth", "3", *engine)
    [record] = result.records()
    assert (record["depth"], record["count"]) == (3, 8902)
    assert engine == () or record["engine"] == engine[1]
    assert {"compiling", "running"} < record.keys()
    kings = ask(
        "perft", "chess", "--depth", "1", "--fen", "4k3/8/8/8/8/8/8/4K3 b - - 0 1", "--format", "table", *engine
    )
    assert kings.out.startswith("chess@1: 5 paths of 1 move (")


def test_perft_divides_the_paths_by_the_first_move(ask: Command) -> None:
    divided = ask("perft", "chess", "--depth", "2", "--divide")
    assert places(divided) == places(ask("moves", "chess"))
    assert {record["count"] for record in divided.records()} == {20}
    lines = ask("perft", "chess", "--depth", "2", "--divide", "--format", "table").out.splitlines()
    assert lines[0] == "C:N b1 c3 0: 20"
    assert lines[-1].startswith("chess@1: 400 paths of 2 moves (")
    assert ask("perft", "chess", "--board", "{}", "--depth", "2", "--divide", "--format", "csv") == Result(
        0, "piece,source,destination,ordinal,count\n", ""
    )


def test_perft_takes_displacement_only_where_it_is_assumed(ask: Command) -> None:
    options = ("perft", "must", "--depth", "1", "--board", '{"a1": "C:R"}')
    assert ask(*options, "--assume", "displacement").records()[0]["count"] == 1
    refused = ask(*options)
    assert (refused.code, refused.out) == (1, "")
    assert "--assume displacement" in refused.err


def test_a_choice_of_promotions_has_to_be_made_and_is_listed(ask: Command) -> None:
    asked = ask("apply", "mini", "--move", "C:P a2 a3")
    assert (asked.code, asked.out) == (1, "")
    assert '--ordinal 0: {"board":{"a2":null,"a3":"C:Q"}}\n' in asked.err
    assert '--ordinal 1: {"board":{"a2":null,"a3":"C:N"}}\n' in asked.err
    wrong = ask("apply", "mini", "--move", "C:P a2 a3", "--ordinal", "2")
    assert wrong.code == 1
    assert "--ordinal 1: " in wrong.err


def test_apply_makes_one_move_and_forgets_none(ask: Command) -> None:
    twice = ask("apply", "mini", "--move", "C:P a2 a3", "--move", "C:P a2 a3")
    assert twice.code == 2
    assert "--move makes one move: give it once" in twice.err


PINNED = "4k3/8/8/8/1b6/8/3N4/4K2R w K - 0 1"


def test_legal_moves_are_those_that_duties_let_pass(ask: Command) -> None:
    every = ask("moves", "chess", "--fen", PINNED).records()
    legal = ask("moves", "chess", "--fen", PINNED, "--legal").records()
    assert [move for move in every if move["source"] != "d2"] == legal != every
    table = ask("moves", "chess", "--fen", PINNED, "--legal", "--format", "table").out
    assert table.endswith("chess@1: 14 moves for first\n")
    refused = ask("apply", "chess", "--fen", PINNED, "--legal", "--move", "d2 f3")
    assert refused.code == 1
    why = "this move is not legal here, it leaves first in check; possible: "
    assert refused.err.startswith(f"Error: d2 f3: {why}e1 e2, e1 f2")
    numbered = ask("apply", "chess", "--fen", PINNED, "--legal", "--move", "d2 f3", "--ordinal", "0")
    assert numbered.err == "Error: C:N d2 f3 is not legal: the duties of the game forbid it\n"
    assert ask("apply", "chess", "--fen", PINNED, "--move", "d2 f3").code == 0
    assert ask("perft", "chess", "--fen", PINNED, "--legal", "--depth", "1").records()[0]["count"] == 14


def test_legal_moves_of_many_positions(ask: Command) -> None:
    feen = "4k^3/8/8/8/1b6/8/3N4/4+K^2+R / C/c"
    lines = (json.dumps(feen) + "\n") * 3
    moves = ask("moves", "chess", "--legal", "--positions", "-", stdin=lines).records()
    assert [move["position"] for move in moves] == [number for number in range(3) for _ in range(14)]
    counts = ask("moves", "chess", "--legal", "--positions", "-", "--count", "piece", stdin=lines).records()
    assert counts == [{"piece": "C:+K^", "count": 15}, {"piece": "C:+R", "count": 27}]
    for query in ("auto", "fast", "columns", "reading"):
        assert ask("moves", "chess", "--legal", "--positions", "-", "--query", query, stdin=lines).records() == moves
    engine = ("--legal", "--positions", "-", "--engine", "duckdb")
    named = [{name: move[name] for name in ("position", "piece", "source", "destination", "ordinal")} for move in moves]
    assert ask("moves", "chess", *engine, stdin=lines).records() == named
    assert ask("moves", "chess", *engine, "--count", "piece", stdin=lines).records() == counts
