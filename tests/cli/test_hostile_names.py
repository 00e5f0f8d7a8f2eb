"""Names and labels that are meant to do harm to a terminal, a page of text or a database."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from ggn_store import parse
from tests.support.mistakes import FORGING, HOSTILE, HOSTILE_BOARD, HOSTILE_SOURCE, HOSTILE_TARGET, content, untouched
from tests.support.program import QUICK, Program, line, on_terminal, write

BAD_NAMES = [
    "x'; DROP TABLE ruleset; --",
    'a"b',
    "a`b",
    "..",
    "../escape",
    "a/../b",
    "/root",
    "a//b",
    "a/",
    "-option",
    ".hidden",
    "a b",
    "a@1",
    "%s",
    "a\\b",
    "a\nb",
    "a\x1b[2Jb",
    "é",
    "",
    "a" * 201,
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=lambda name: ascii(name)[:30])
def test_no_ruleset_gets_a_harmful_name(run: Program, filled: str, mistakes: Path, name: str) -> None:
    before = untouched(filled, mistakes)
    option = run("--db", filled, "load", mistakes / "quick.json", f"--name={name}")
    assert (option.code, option.out) == (1, "")
    assert "cannot name a ruleset: " in option.err
    streamed = run("--db", filled, "load", "-", stdin=line(name, QUICK))
    assert streamed.code == 1
    assert "cannot name a ruleset: " in streamed.err
    for err in (option.err, streamed.err):
        assert not FORGING.search(err)
    assert content(filled, mistakes) == before


SPITEFUL = [
    "'; DROP TABLE piece; --",
    '"); DELETE FROM ruleset; --',
    "a\tb",
    "a\\N",
    "\\.",
    "a\\nb",
    "%s",
    "%(x)s",
    ":x",
    "?",
    "$1",
    "{}",
    "null",
    "/*",
    "a b",
    "é",
    "e\u0301",
    "\U0001f3b2",
    "-- x",
]


def test_labels_that_look_like_statements_are_only_labels(run: Program, address: str) -> None:
    """Postgres loads through COPY, whose escapes are no ones of ours."""
    rules = {
        source: {target: [{"require": {target: "empty"}, "perform": {source: None, target: "CHESS:P"}}]}
        for source, target in zip(SPITEFUL, SPITEFUL[1:] + SPITEFUL[:1], strict=True)
    }
    document = {"CHESS:P": rules}
    assert run("--db", address, "load", write("game.json", document)).code == 0
    assert run("--db", address, "export", "game").out == parse(document).canonical()
    board = json.dumps(dict.fromkeys(SPITEFUL[::2], "CHESS:P"))
    every = run("--db", address, "moves", "game", "--board", board).records()
    assert {record["source"] for record in every} == set(SPITEFUL[::2]) - {SPITEFUL[-1]}
    for source in SPITEFUL[:-1:2]:
        [move] = run("--db", address, "moves", "game", "--board", board, f"--source={source}").records()
        assert move["effects"]["board"][source] is None
        assert run("--db", address, "moves", "game", "--board", board, f"--source={source}", "--explain").code == 0
    assert run("--db", address, "db", "check").code == 0


def test_hostile_labels_are_escaped_wherever_people_read_them(run: Program, filled: str) -> None:
    board = ("--board", HOSTILE_BOARD)
    drawn = run("--db", filled, "moves", "hostile", *board, "--format", "table")
    assert drawn.out.splitlines() == [
        r"a\x1b[2J\nError: forged\u202e\u2066 CHESS:P",
        "first to move",
        "",
        r"CHESS:P a\x1b[2J\nError: forged\u202e\u2066: b\x07\x9b31m\r\x7f\u200f\u2028",
        "hostile@1: 1 move for first",
    ]
    batch = run("--db", filled, "moves", "hostile", "--positions", "-", "--format", "table", stdin=HOSTILE_BOARD)
    assert batch.code == 1
    assert not FORGING.search(batch.err)
    position = json.dumps({"board": json.loads(HOSTILE_BOARD)})
    batch = run("--db", filled, "moves", "hostile", "--positions", "-", "--format", "table", stdin=position)
    assert len(batch.out.splitlines()) == 3
    asked = [
        run("--db", filled, "show", "hostile"),
        run("--db", filled, "moves", "hostile", *board, "--source", "nowhere"),
        run("--db", filled, "apply", "hostile", *board, "--move", "CHESS:P a b"),
        run("convert", write("hostile.json", HOSTILE), "--to", "diff"),
        run("validate", "hostile.json", "--dialect", "diff"),
        run("lint", "hostile.json"),
        run("--db", filled, "load", "hostile.json", "--dialect", "diff"),
        run("--db", filled, "show", HOSTILE_SOURCE),
        run("--db", filled, "load", HOSTILE_SOURCE),
        run("--db", filled, "list", HOSTILE_SOURCE),
        run("--db", filled, "show", "mini", HOSTILE_TARGET),
        run("--db", filled, "moves", "mini", "--side", HOSTILE_TARGET),
        run("--db", filled, HOSTILE_SOURCE),
        run("--db", filled, "list", f"--{HOSTILE_TARGET}"),
        run("--db", HOSTILE_SOURCE + "/x", "list"),
        run("--db", filled, "export", "mini", "-o", HOSTILE_SOURCE + "/x"),
        run("--db", filled, "moves", "mini", "--board", "@" + HOSTILE_SOURCE),
        run("--db", filled, "moves", "mini", "--positions", HOSTILE_SOURCE),
        run("--db", filled, "apply", "mini", "--move", "C:P\na2\na1"),
        run("--db", filled, "load", "x" * 300 + HOSTILE_SOURCE),
    ]
    assert [result.code for result in asked].count(0) == 2, "all but show and lint"
    for result in (drawn, batch, *asked):
        assert not FORGING.search(result.out + result.err), result
        assert "\nError: forged" not in result.out + result.err


def test_json_that_may_reach_a_terminal_holds_no_raw_controls(run: Program, filled: str) -> None:
    moves = run("--db", filled, "moves", "hostile", "--board", HOSTILE_BOARD)
    assert not FORGING.search(moves.out)
    [move] = moves.records()
    assert (move["source"], move["destination"]) == (HOSTILE_SOURCE, HOSTILE_TARGET)
    write("hostile.json", HOSTILE)
    assert not FORGING.search(run("validate", "hostile.json", "--dialect", "diff", "--format", "json").out)


def test_a_file_whose_name_is_no_text_is_named_in_a_readable_way(run: Program) -> None:
    Path(os.fsdecode(b"caf\xe9.json")).write_text("{", encoding="utf-8")
    assert run("validate", ".").out.startswith(r"caf\udce9.json:1:2: ")
    [problem] = json.loads(run("validate", ".", "--format", "json").out)
    assert problem["file"] == "caf\udce9.json"
    loaded = run("load", ".")
    assert loaded.code == 1
    assert loaded.err.startswith(r"caf\udce9.json: not loaded")


def test_on_a_terminal_hostile_labels_are_escaped_too(run: Program) -> None:
    run("--db", "store.db", "load", write("hostile.json", HOSTILE))
    for command in (
        ("moves", "hostile", "--board", HOSTILE_BOARD),
        ("moves", "hostile", "--board", HOSTILE_BOARD, "--format", "ndjson"),
        ("load", "hostile.json", "--dialect", "diff"),
        ("show", HOSTILE_SOURCE),
        ("show", "hostile", HOSTILE_SOURCE),
    ):
        shown = on_terminal("--db", "store.db", *command, columns=300).out
        assert "forged" in shown or "x1b" in shown or command[-1] == "diff"
        assert "\x1b[2J" not in shown, command
        assert "\nError: forged" not in shown
        assert not re.search("[\x07\x9b\u202e\u2066]", shown), command
