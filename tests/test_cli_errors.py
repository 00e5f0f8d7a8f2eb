"""Everything that can be asked wrongly of the command line: one clear message, the right exit code, nothing changed.

The tables are one row a mistake. Each row is run on SQLite and on Postgres, and the whole content of the store and of
the directory is compared before and after.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, make_url, text

from ggn_store import Store, parse
from ggn_store.store.address import connect
from ggn_store.store.sqlite import SQLite
from tests.conftest import DATABASES, new_address
from tests.program import (
    MINI,
    MINI_TOML,
    MUST,
    PERFORM,
    QUICK,
    Program,
    Result,
    child_environment,
    line,
    names,
    on_terminal,
    write,
)

Command = Callable[..., Result]

# A label that would clear the screen, forge a line, ring, and write from right to left.
HOSTILE_SOURCE = "a\x1b[2J\nError: forged\u202e\u2066"
HOSTILE_TARGET = "b\x07\x9b31m\r\x7f\u200f\u2028"
HOSTILE = {
    "CHESS:P": {HOSTILE_SOURCE: {HOSTILE_TARGET: [{"perform": {HOSTILE_SOURCE: None, HOSTILE_TARGET: "CHESS:P"}}]}}
}
HOSTILE_BOARD = json.dumps({HOSTILE_SOURCE: "CHESS:P"})
FORGING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program."""
    return Program(capfd, monkeypatch)


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory to work in, and a home without a store."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module", params=DATABASES)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store that holds small games, one of them hidden; nothing may ever change it."""
    directory = tmp_path_factory.mktemp("filled")
    write(directory / "mini.toml", MINI_TOML)
    write(directory / "mini.json", MINI)
    with new_address(request.param, directory, request) as url:
        with Store.open(url, upgrade=True) as store:
            store.load(directory / "mini.json", "mini")
            for name, document in {"must": MUST, "perform": PERFORM, "hostile": HOSTILE, "hidden": QUICK}.items():
                store.load(document, name)
            store.delete("hidden")
        yield url


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of files with which something is wrong."""
    directory = tmp_path_factory.mktemp("mistakes")
    write(directory / "quick.json", QUICK)
    write(directory / "must.json", MUST)
    write(directory / "perform.json", PERFORM)
    write(directory / "mini.json", MINI)
    write(directory / "broken.json", '{"C:P": {"e2": {"e4": [{"must": {"e2": "C:P", "e9x": "empty"}, "diff": {}}]}}}')
    write(directory / "cut.json", '{"C:P": {"e2"')
    write(directory / "empty.json", "")
    write(directory / "twice.json", '{"C:P": {"a1": {"a2": [{"diff": {}}]}}, "C:P": {"a1": {"a2": [{"diff": {}}]}}}')
    write(directory / "mixed.json", '{"C:P": {"a1": {"a2": [{"diff": {}}, {"perform": {"a2": null}}]}}}')
    write(directory / "deep.json", '{"C:P":' * 3000)
    write(directory / "line.json", "x" * 3_000_000)
    write(directory / "side.json", QUICK)
    write(directory / "side.toml", "title = 7\nnonsense = 1\nstart = ")
    write(directory / "keys.json", QUICK)
    write(directory / "keys.toml", 'titel = "A slip"\n')
    write(directory / "square.json", QUICK)
    write(directory / "square.toml", 'board = "2x2"\n')
    write(directory / "bad name.json", QUICK)
    write(directory / "both/a.json", QUICK)
    write(directory / "both/a.json.gz", "also a")
    write(directory / "left/same.json", QUICK)
    write(directory / "right/same.json", MUST)
    write(directory / "stream.ndjson", line("one", QUICK) + '{"name": "two"}\n' + line("three", MUST))
    write(directory / "pair.ndjson", line("one", QUICK) + line("two", MUST))
    write(directory / "blank.ndjson", "\n\n")
    write(directory / "positions.ndjson", '{"board": {"a2": "C:P"}}\n{"board": {"a2": "CP"}}\n')
    write(directory / "text.ndjson", "hello\n")
    write(directory / "board.json", '{"a2": "C:P",}')
    (directory / "latin.json").write_bytes(b'{"CHESS:P": {"caf\xe9": {}}}')
    (directory / "latin.ndjson").write_bytes(b'"\xff"\n')
    (directory / "utf16.json").write_text(json.dumps(QUICK), encoding="utf-16")
    packed = gzip.compress(json.dumps(QUICK).encode())
    (directory / "cut.json.gz").write_bytes(packed[:-12])
    (directory / "damaged.json.gz").write_bytes(packed[:12] + b"\0\0\0\0" + packed[16:])
    (directory / "plain.json.gz").write_bytes(json.dumps(QUICK).encode())
    (directory / "no-documents").mkdir()
    (directory / "no-documents" / "read.me").touch()
    (directory / "away.json").symlink_to("nowhere.json")
    (directory / "circle.json").symlink_to("circle.json")
    return directory


def content(address: str, directory: Path) -> list[Any]:
    """All rows of all tables of a store, and all files of a directory."""
    database = connect(address)
    kept: list[Any] = []
    if isinstance(database, SQLite):
        assert database.path is not None
        kept.append(database.path.read_bytes())
    with database.reading() as connection:
        for table in sorted(inspect(connection).get_table_names()):
            rows = connection.execute(text(f'SELECT * FROM "{table}"')).all()
            kept.append((table, sorted(map(str, rows))))
    database.close()
    kept += [(str(path), path.lstat().st_size) for path in sorted(directory.rglob("*"))]
    return kept


BOARD = ("--board", '{"a2": "C:P"}')
LONG = "a" * 300

# What was asked; what the message says.
FAILURES: list[tuple[tuple[str, ...], str]] = [
    # files
    (("load", "missing.json"), "missing.json: there is no such file or directory"),
    (("load", "missing/*.json"), "missing/*.json: the directory or pattern holds no .json"),
    (("load", "no-documents"), "no-documents: the directory or pattern holds no .json"),
    (("load", "away.json"), "away.json: there is no such file"),
    (("load", "circle.json"), "circle.json: there is no such file"),
    (("load", LONG), "File name too long"),
    (("load", "left/same.json", "right/same.json"), "would both be called same: load them one by one with --name"),
    (("load", "both"), "would both be called a: load them"),
    (("load", "quick.json", "must.json", "--name", "x"), "--name names one ruleset, and there are 2 files"),
    (("load", "--library", "ches"), 'the library has no game "ches"; the nearest are chess'),
    (("validate", "missing.json"), "missing.json: there is no such file"),
    (("validate", "quick.json", "no-documents"), "no-documents: the directory or pattern holds no"),
    (("lint", "missing.json"), "missing.json: there is no such file"),
    (("convert", "missing.json", "--to", "diff"), "missing.json: there is no such file"),
    (("convert", "pair.ndjson", "--to", "diff"), "pair.ndjson: holds several documents"),
    (("convert", "blank.ndjson", "--to", "diff"), "blank.ndjson: holds no document"),
    (("convert", "cut.json.gz", "--to", "diff"), "cut.json.gz: the gzip data is broken"),
    (("convert", "damaged.json.gz", "--to", "diff"), "damaged.json.gz: the gzip data is broken"),
    (("convert", "broken.json", "--to", "must-deny"), "broken.json:1:"),
    (("convert", "empty.json", "--to", "diff"), "empty.json:1:1: the text ends too early"),
    (("convert", "mini.json", "--to", "must-deny"), "/C:P/a2/a3/0/diff: the effects, because must-deny has none"),
    (("convert", "must.json", "--to", "diff"), "displacement"),
    (("convert", "quick.json", "--to", "diff", "--dialect", "perform"), "the dialect perform demands"),
    (("convert", "quick.json", "--to", "diff", "-o", "no/such/file"), "no/such/file: cannot be written: No such file"),
    (("schema", "diff", "-o", "no-documents"), "no-documents: cannot be written: Is a directory"),
    (("export", "mini", "-o", "no/such/file"), "no/such/file: cannot be written: No such file"),
    (("export", "mini", "-o", "no-documents"), "no-documents: cannot be written: Is a directory"),
    # rulesets
    (("show", "chess"), 'the store has no ruleset "chess"; it has hostile, mini, must, perform'),
    (("show", "Mini"), 'the store has no ruleset "Mini"'),
    (("show", "mini@2"), "mini has no revision 2"),
    (("show", "mini@0"), '"mini@0" does not name a ruleset'),
    (("show", "mini@1000000000000"), '"mini@1000000000000" does not name a ruleset'),
    (("show", ""), '"" does not name a ruleset'),
    (("show", "mini' OR '1'='1"), "does not name a ruleset: write chess, chess@3"),
    (("show", "%"), '"%" does not name a ruleset'),
    (("show", LONG), f'the store has no ruleset "{LONG[:79]}...'),
    (("show", "hidden"), "the ruleset hidden was deleted: `ggn-store restore hidden`, or loading it again"),
    (("export", "hidden"), "the ruleset hidden was deleted"),
    (("moves", "hidden"), "the ruleset hidden was deleted"),
    (("export", "chess"), 'the store has no ruleset "chess"'),
    (("delete", "chess"), 'the store has no ruleset "chess"'),
    (("delete", "hidden"), "the ruleset hidden was deleted"),
    (("delete", "mini@1"), "revisions are kept for good"),
    (("delete", "mini; DROP TABLE ruleset"), "does not name a ruleset"),
    (("moves", "chess"), 'the store has no ruleset "chess"'),
    (("apply", "chess", "--move", "C:P e2 e4"), 'the store has no ruleset "chess"'),
    # positions
    (("moves", "must"), "must@1 has no start position of its own: give a position with --feen or --board"),
    (("moves", "mini", "--feen", ""), '"" is not FEEN'),
    (("moves", "mini", "--feen", "3/3/3"), "is not FEEN: expected three fields"),
    (("moves", "mini", "--feen", "3/3/X9 / C/c"), "FEEN"),
    (("moves", "mini", "--feen", "3/3/3 / c/c"), "FEEN"),
    (("moves", "mini", "--feen", "3/3/3 / C/c "), "is not FEEN"),
    (("moves", "mini", "--feen", "1" * 5000), "a FEEN text has at most 4096 characters"),
    (("moves", "mini", "--board", "@missing"), "missing: cannot be read: No such file or directory"),
    (("moves", "mini", "--board", "@no-documents"), "no-documents: cannot be read: Is a directory"),
    (("moves", "mini", "--board", "@board.json"), "the JSON is broken at 1:14"),
    (("moves", "mini", "--board", "@latin.json"), "the text is not UTF-8 at 1:18"),
    (("moves", "mini", "--board", ""), "the board: the text ends too early at 1:1"),
    (("moves", "mini", "--board", '{"a2": "C:P"'), "the board: the JSON is broken at 1:13"),
    (("moves", "mini", "--board", "\n\n  {a2}"), "the board: the JSON is broken at 3:4"),
    (("moves", "mini", "--board", '{"a2": "C:P", "a2": null}'), "the key stands twice in one object at 1:15"),
    (("moves", "mini", "--board", '{"a2": NaN}'), "NaN is not JSON at 1:8"),
    (("moves", "mini", "--board", "[" * 5000), "the board: "),
    (("moves", "mini", "--board", "[]"), "[] is not a position: an object with board, hands and side"),
    (("moves", "mini", "--board", "7"), "7 is not a position"),
    (("moves", "mini", "--board", '"3/3 C"'), '"3/3 C" is not FEEN'),
    (("moves", "mini", "--board", '{"a2": "CP"}'), '"CP" on "a2" is not a piece identifier such as C:+K^'),
    (("moves", "mini", "--board", '{"a2": "C:p"}'), '"C:p" on "a2" is not a piece identifier'),
    (("moves", "mini", "--board", '{"a2": 7}'), '7 on "a2" is not a piece identifier'),
    (("moves", "mini", "--board", '{"*": "C:P"}'), '"*" is not a square of a position'),
    (("moves", "mini", "--board", '{"": "C:P"}'), '"" is not a square of a position'),
    (("moves", "mini", "--board", '{"a\\u0000": "C:P"}'), "is not a square of a position"),
    (("moves", "mini", "--board", '{"\\ud800": "C:P"}'), r'"\ud800" is not a square of a position'),
    (("moves", "mini", "--board", '{"z9": "C:P"}'), "z9: not on the board of mini@1, which is 3x3"),
    (("moves", "mini", "--feen", "P3/4/4/4 / C/c"), "a4: not on the board of mini@1, which is 3x3"),
    (("moves", "mini", "--board", '{"board": {}, "side": "third"}'), '"third" is not a side: first or second'),
    (
        ("moves", "mini", "--board", '{"board": {}, "sid": "first"}'),
        "a position has the keys board, hands, side and state",
    ),
    (("moves", "mini", "--board", '{"board": {}, "hands": []}'), "hands are an object of pieces and counts, not []"),
    (("moves", "mini", *BOARD, "--hands", "{"), "the hands: the JSON is broken at 1:2, found the end of the text"),
    (("moves", "mini", *BOARD, "--hands", '{"C:P": 1,}'), "the hands: the JSON is broken at 1:11"),
    (("moves", "mini", *BOARD, "--hands", "[]"), "hands are an object of pieces and counts, not []"),
    (("moves", "mini", *BOARD, "--hands", "null"), "hands are an object of pieces and counts, not null"),
    (("moves", "mini", *BOARD, "--hands", '{"C:P": -1}'), "-1 is not a count of C:P in a hand"),
    (("moves", "mini", *BOARD, "--hands", '{"C:P": true}'), "true is not a count of C:P in a hand"),
    (("moves", "mini", *BOARD, "--hands", '{"C:P": 99999999999999999999}'), "is not a count of C:P in a hand"),
    (("moves", "mini", *BOARD, "--hands", '{"P": 1}'), '"P" in a hand is not a piece identifier'),
    # names
    (("moves", "mini", "--piece", "C:X"), 'mini@1 has no rules for "C:X"; it has C:P, c:p'),
    (("moves", "mini", "--piece", ""), 'mini@1 has no rules for ""'),
    (("moves", "mini", "--piece", "C:P' OR 1=1 --"), "mini@1 has no rules for"),
    (("moves", "mini", "--source", "d4"), 'mini@1 has no square "d4"; its board is 3x3'),
    (("moves", "mini", "--destination", "e9x"), 'mini@1 has no square "e9x"; its board is 3x3'),
    (("moves", "mini", "--source", ""), 'mini@1 has no square ""'),
    (("moves", "hostile", "--board", HOSTILE_BOARD, "--source", "nowhere"), 'hostile@1 has no square "nowhere"'),
    (("moves", "mini", "--explain", "--piece", "C:X"), 'mini@1 has no rules for "C:X"; it has C:P, c:p'),
    (("moves", "mini", "--explain", "--source", "d4"), 'mini@1 has no square "d4"; its board is 3x3'),
    (("moves", "mini", "--explain", "--board", '{"z9": "C:P"}'), "z9: not on the board of mini@1"),
    # batches
    (("moves", "mini", "--positions", "missing"), "missing: cannot be read: No such file or directory"),
    (("moves", "mini", "--positions", "no-documents"), "no-documents: cannot be read: Is a directory"),
    (("moves", "mini", "--positions", "positions.ndjson"), 'positions.ndjson:2: "CP" on "a2" is not a piece'),
    (("moves", "mini", "--positions", "text.ndjson"), "text.ndjson:1: the JSON is broken at 1:1"),
    (("moves", "mini", "--positions", "latin.ndjson"), "latin.ndjson:1: the text is not UTF-8"),
    (("moves", "mini", "--positions", "line.json"), "line.json:1: a position of more than 1,000,000 bytes"),
    (("moves", "mini", "--positions", "plain.json.gz"), "plain.json.gz: the gzip data is broken"),
    # moves that are not there
    (("apply", "must", "--move", "C:R a1 a3"), "must@1 has no start position of its own"),
    (("apply", "mini", "--move", "C:P a2 a1"), "C:P a2 a1: the position does not allow this move to first"),
    (("apply", "mini", "--move", "c:p b3 b2"), "c:p b3 b2: the position does not allow this move to first"),
    (("apply", "mini", "--move", "C:P a1 a2"), "C:P a1 a2: the position does not allow this move"),
    (("apply", "mini", "--move", "C:X a2 a3"), 'mini@1 has no rules for "C:X"'),
    (("apply", "mini", "--move", "C:P a2 z9"), 'mini@1 has no square "z9"'),
    (("apply", "mini", "--move", "C:P a2 a3"), "several possibilities hold; choose one of\n  --ordinal 0: "),
    (("apply", "mini", "--move", "C:P a2 a3", "--ordinal", "2"), "possibility 2 does not hold; choose one of\n"),
    (("apply", "mini", "--move", "C:P a2 a3", "--ordinal", "9" * 30), "does not hold; choose one of\n"),
    (("apply", "mini", "--move", "C:P * c1", "--hands", "{}"), "C:P * c1: the position does not allow this move"),
    (("apply", "must", "--board", '{"a1": "C:R"}', "--move", "C:R a1 a3"), "--assume displacement"),
    (("apply", "perform", "--board", '{"e2": "CHESS:P"}', "--move", "CHESS:P e2 e9"), 'no square "e9"'),
    (
        ("apply", "hostile", "--board", json.dumps({"x": "CHESS:P"}), "--move", "CHESS:P x y"),
        'hostile@1 has no square "x"',
    ),
]

# Wrong usage: what was asked, and what the message says.
USAGE: list[tuple[tuple[str, ...], str]] = [
    (("lod",), "No such command 'lod'"),
    (("--nope", "list"), "No such option '--nope'"),
    (("list", "extra"), "Got unexpected extra argument"),
    (("load",), "name a file, a directory, a pattern or -; or give --library"),
    (("load", "--library", "--name", "x"), "--name does not go with --library"),
    (("load", "quick.json", "--on-error", "ignore"), "'ignore' is not one of 'stop', 'skip'"),
    (("load", "quick.json", "--dialect", "ggn"), "'ggn' is not one of 'perform', 'must-deny', 'diff'"),
    (("validate",), "Missing argument 'PATH...'"),
    (("lint",), "Missing argument 'PATH...'"),
    (("validate", "quick.json", "--format", "xml"), "'xml' is not one of 'text', 'json'"),
    (("convert", "quick.json"), "Missing option '--to'"),
    (("convert", "quick.json", "--to", "ggn"), "'ggn' is not one of"),
    (("convert", "must.json", "--to", "diff", "--assume", "anything"), "'anything' is not"),
    (("schema",), "Missing argument 'DIALECT'"),
    (("schema", "ggn"), "Invalid value for 'DIALECT': 'ggn' is not one of"),
    (("list", "--format", "xml"), "'xml' is not one of 'table', 'json', 'ndjson', 'csv'"),
    (("show",), "Missing argument 'RULESET'"),
    (("export",), "Missing argument 'RULESET'"),
    (("delete",), "Missing argument 'RULESET'"),
    (("moves",), "Missing argument 'RULESET'"),
    (("moves", "mini", "--side", "white"), "'white' is not one of 'first', 'second'"),
    (("moves", "mini", "--feen", "3/3/3 / C/c", *BOARD), "--feen and --board both name a position"),
    (("moves", "mini", "--feen", "3/3/3 / C/c", "--hands", "{}"), "--feen says what the hands hold"),
    (("moves", "mini", "--positions", "positions.ndjson", *BOARD), "--positions brings its own positions"),
    (("moves", "mini", "--positions", "positions.ndjson", "--hands", "{}"), "--positions brings its own positions"),
    (("moves", "mini", "--positions", "positions.ndjson", "--explain"), "leave --positions out"),
    (("moves", "mini", "--explain", "--format", "json"), "--explain prints text: leave --format out"),
    (("apply", "mini"), "say what to make, with --move 'C:P e2 e4' or --path 'd3 f5 h7'"),
    (("apply", "mini", "--move", "C:P a2 a3", "--path", "a2 a3"), "--move and --path both say what to make"),
    (("apply", "mini", "--move", "C:P a2"), "write piece, source and destination, such as 'C:P e2 e4'"),
    (("apply", "mini", "--move", "C:P a2 a3 a4"), "write piece, source and destination"),
    (("apply", "mini", "--move", ""), "write piece, source and destination"),
    (("apply", "mini", "--move", "C:P a2 a3", "--ordinal", "-1"), "-1 is not in the range"),
    (("apply", "mini", "--move", "C:P a2 a3", "--ordinal", "one"), "'one' is not a valid integer"),
    (("db", "downgrade"), "No such command 'downgrade'"),
    (("db", "info", "--format", "xml"), "'xml' is not one of 'text', 'json'"),
]

# What keeps documents out: the files, and what is said of them.
KEPT_OUT: list[tuple[tuple[str, ...], str]] = [
    (("broken.json",), "broken.json:1:40 /C:P/e2/e4/0/must/e2: must restates that"),
    (("broken.json",), 'broken.json:1:47 /C:P/e2/e4/0/must/e9x: not a square; found "e9x"'),
    (("cut.json",), "cut.json:1:14 /C:P/e2: the JSON is broken; found the end of the text"),
    (("empty.json",), "empty.json:1:1: the text ends too early"),
    (("twice.json",), "twice.json:1:41 /C:P: the key stands twice"),
    (("mixed.json",), "mixed.json:1:"),
    (("deep.json",), "deep.json:1:"),
    (("line.json",), 'line.json:1:1: the JSON is broken; found "xxxxxxxxxxxxxxxxxxxx"'),
    (("latin.json",), "latin.json:1:18: the text is not UTF-8; found byte 0xe9"),
    (("utf16.json",), "utf16.json:1:1: the text is not UTF-8"),
    (("cut.json.gz",), "cut.json.gz: the gzip data is broken: "),
    (("damaged.json.gz",), "damaged.json.gz: the gzip data is broken: "),
    (("plain.json.gz",), "plain.json.gz: the gzip data is broken: "),
    (("side.json",), "side.toml: the file is not TOML: "),
    (("keys.json",), 'keys.toml /titel: there is no such key; found "titel"; allowed: title, source, start, board'),
    (
        ("square.json",),
        'square.json:1:10 /C:P/e2: the square is outside the declared board of 2x2; found "e2"; allowed: '
        "a square from a1 to b2",
    ),
    (("bad name.json",), '"bad name" cannot name a ruleset: letters, digits and . _ + -'),
    (("quick.json", "--dialect", "must-deny"), "quick.json:1:"),
    (("must.json", "--dialect", "perform"), "must.json:1:"),
    (("-",), "standard input:1:1: the text ends too early"),
    (("-", "--name", "x"), "standard input:1:1: the text ends too early"),
]


def identify(value: object) -> str | None:
    return " ".join(each[:40] for each in value) or "nothing" if isinstance(value, tuple) else ""


@pytest.mark.parametrize(("arguments", "said"), FAILURES, ids=identify)
def test_a_failure_is_one_message_and_changes_nothing(
    run: Program, filled: str, mistakes: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(mistakes)
    before = content(filled, mistakes)
    result = run("--db", filled, *arguments)
    assert (result.code, result.out) == (1, "")
    assert said in result.err
    assert re.findall("^Error: ", result.err, re.MULTILINE) == ["Error: "]
    assert result.err.startswith("Error: ")
    assert not FORGING.search(result.err)
    assert len(result.err) < 1500
    assert content(filled, mistakes) == before


@pytest.mark.parametrize(("arguments", "said"), USAGE, ids=identify)
def test_wrong_usage_is_told_with_the_usage_and_changes_nothing(
    run: Program, filled: str, mistakes: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(mistakes)
    before = content(filled, mistakes)
    result = run("--db", filled, *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: ggn-store")
    assert "--help' for help." in result.err
    assert result.err.count("Error: ") == 1
    assert said in result.err.split("Error: ")[1]
    assert content(filled, mistakes) == before


@pytest.mark.parametrize(("arguments", "said"), KEPT_OUT, ids=identify)
def test_a_document_that_cannot_be_loaded_is_told_and_changes_nothing(
    run: Program, filled: str, mistakes: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(mistakes)
    before = content(filled, mistakes)
    result = run("--db", filled, "load", *arguments)
    assert (result.code, result.out) == (1, "1 document: 1 failed; nothing is loaded\n")
    file = "standard input" if arguments[0] == "-" else arguments[0]
    assert result.err.startswith(f"{file}: not loaded\n  ")
    assert result.err.count("not loaded") == 1
    assert f"\n  {said}" in result.err
    assert not FORGING.search(result.err)
    assert content(filled, mistakes) == before


@pytest.mark.parametrize(
    "file", sorted({row[0][0] for row in KEPT_OUT} - {"-", "bad name.json", "quick.json", "must.json"})
)
def test_what_cannot_be_loaded_is_not_valid_either(
    run: Program, mistakes: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    monkeypatch.chdir(mistakes)
    for command in ("validate", "lint"):
        result = run(command, file)
        assert result.code == 1
        assert result.out.startswith(file.split(".")[0])
        assert not FORGING.search(result.out + result.err)
        assert json.loads(run(command, file, "--format", "json").out)


def test_a_stream_is_loaded_up_to_its_first_broken_line(
    run: Program, address: str, mistakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mistakes)
    run("--db", address, "db", "upgrade")
    result = run("--db", address, "load", "stream.ndjson")
    assert result.code == 1
    assert result.out.startswith("2 documents: 1 new, 1 failed; ")
    assert result.err.startswith("stream.ndjson: not loaded\n  stream.ndjson:2:1: a line of NDJSON holds a name and")
    assert result.err.endswith("stopped there; what came before is loaded (--on-error skip goes on)\n")
    assert names(run("--db", address, "list")) == ["one"]
    assert run("--db", address, "load", "stream.ndjson", "--on-error", "skip").code == 1
    assert names(run("--db", address, "list")) == ["one", "three"]


def test_a_name_for_a_stream_of_several_is_refused_at_the_second(run: Program, address: str, mistakes: Path) -> None:
    run("--db", address, "db", "upgrade")
    result = run("--db", address, "load", mistakes / "pair.ndjson", "--name", "x")
    assert result.code == 1
    assert "--name names one ruleset, and this is a stream of several" in result.err
    assert names(run("--db", address, "list")) == ["x"]


# --- names and labels that are meant to do harm ---

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
    before = content(filled, mistakes)
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
    run("--db", address, "db", "upgrade")
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


# --- stores that cannot be used ---

ADDRESSES: list[tuple[str, str]] = [
    ("no/such/directory/x.db", "sqlite:///no/such/directory/x.db: "),
    ("sqlite:////no/such/directory/x.db", "sqlite:////no/such/directory/x.db: "),
    ("text.txt", "text.txt: the file is not a SQLite database"),
    ("directory", "directory: the file cannot be opened"),
    ("mysql://user:s3cret@host/db", '"mysql" is not a database that can hold a store'),
    ("nonsense://", '"nonsense" is not a database that can hold a store'),
    ("://", "this is not the address of a store: write sqlite:///file.db"),
    ("postgresql://u:s3cret@127.0.0.1:port/db", "this is not the address of a store"),
    ("postgresql://u:s3cret@[::1/db", "this is not the address of a store"),
    ("postgresql://u:s3cret@127.0.0.1:1/db", "postgresql://u:***@127.0.0.1:1/db: no connection"),
    ("postgres://u:s3cret@127.0.0.1:1/db", "postgresql://u:***@127.0.0.1:1/db: no connection"),
    ("postgresql+asyncpg://u:s3cret@127.0.0.1:1/db", "no connection"),
    ("postgresql://127.0.0.1:1/db?user=u&password=s3cret", "127.0.0.1:1/db?user=u: no connection"),
    ("postgresql://u:s3@cret@127.0.0.1:1/db", "%40"),
    ("postgresql://u:s3cret@127.0.0.1:1/db?sslmode=bad", "no connection: "),
    ("postgresql://u:s3cret@127.0.0.1:1/db?nonsense=1", "no connection: "),
    ("sqlite://u:s3cret@host/x.db", "sqlite:///"),
    ("sqlite:///x.db?mode=ro", "sqlite:///"),
]


@pytest.mark.parametrize(("address", "said"), ADDRESSES, ids=[row[0] for row in ADDRESSES])
def test_a_store_that_cannot_be_used_is_named_without_its_password(run: Program, address: str, said: str) -> None:
    write("text.txt", "text " * 1000)
    write("directory/inside", "")
    write("quick.json", QUICK)
    for command in (("list",), ("load", "quick.json"), ("db", "upgrade"), ("db", "check"), ("moves", "chess")):
        result = run("--db", address, *command)
        assert (result.code, result.out) == (1, ""), command
        assert result.err.startswith("Error: ")
        assert said in result.err, command
        assert "s3" not in result.err
        assert "cret" not in result.err
        assert "sqlalche.me" not in result.err
        assert result.err.count("\n") == 1
    assert sorted(str(path) for path in Path().rglob("*")) == [
        "directory",
        "directory/inside",
        "quick.json",
        "text.txt",
    ]
    assert Path("text.txt").read_text(encoding="utf-8") == "text " * 1000


def test_the_environment_s_address_is_named_without_its_password_too(
    run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:s3cret@127.0.0.1:1/db")
    commands: list[list[str]] = [["list"], ["db", "info"], ["db", "info", "--format", "json"]]
    for command in commands:
        result = run(*command)
        assert result.code == 1
        assert "u:***@127.0.0.1:1/db: no connection" in result.err
        assert "s3cret" not in result.out + result.err


def test_a_database_without_tables_is_named_with_the_cure_and_without_a_password(
    run: Program, postgres_server: Any
) -> None:
    url = make_url(postgres_server.create_database())
    password = url.password or "s3cret"  # the tests' own server trusts everybody
    address = url.set(password=password).update_query_dict({"sslpassword": password})
    given = address.render_as_string(hide_password=False)
    write("quick.json", QUICK)
    for command in (("list",), ("moves", "chess"), ("db", "check"), ("delete", "chess"), ("load", "quick.json")):
        result = run("--db", given, *command)
        assert result.code == 1
        assert "the store is empty, it has no tables yet: run `ggn-store --db " in result.err, command
        assert " db upgrade`" in result.err
        assert password not in result.out + result.err
    assert run("--db", given, "db", "upgrade").code == 0
    infos: list[list[str]] = [["db", "info"], ["db", "info", "--format", "json"]]
    for info in infos:
        shown = run("--db", given, *info)
        assert shown.code == 0
        assert "***" in shown.out
        assert password not in shown.out + shown.err


def test_tables_of_another_version_are_named_with_the_cure(run: Program, address: str) -> None:
    run("--db", address, "db", "upgrade")
    database = connect(address)
    with database.writing() as connection:
        connection.execute(text("UPDATE ggn_store_version SET version_num = '9999'"))
    for command in (("list",), ("db", "upgrade"), ("db", "check"), ("load", "-", "--name", "x")):
        result = run("--db", address, *command, stdin=json.dumps(QUICK))
        assert result.code == 1
        assert "the store is ahead: its tables are version 9999" in result.err
        assert "install a newer ggn-store" in result.err
    shown = run("--db", address, "db", "info")
    assert (shown.code, shown.err) == (0, "")
    assert "9999 (this program needs " in shown.out
    with database.writing() as connection:
        connection.execute(text("DROP TABLE ggn_store_version"))
    database.close()
    result = run("--db", address, "list")
    assert result.code == 1
    assert "the database holds tables of something else and no store" in result.err


def test_a_damaged_file_is_named_and_left_alone(run: Program) -> None:
    run("--db", "store.db", "load", "-", "--name", "quick", stdin=json.dumps(QUICK))
    whole = Path("store.db").read_bytes()
    for damaged in (whole[:5000], whole[:100] + b"\xff" * (len(whole) - 100)):
        Path("store.db").write_bytes(damaged)
        for command in (("list",), ("moves", "quick"), ("db", "check"), ("load", "-", "--name", "other")):
            result = run("--db", "store.db", *command, stdin=json.dumps(MUST))
            assert result.code == 1, command
            assert "store.db: " in result.err
            assert result.err.count("\n") <= 3
        assert Path("store.db").read_bytes() == damaged


def test_an_empty_address_is_no_way_to_the_store_of_the_home(run: Program, tmp_path: Path) -> None:
    result = run("--db", "", "delete", "chess")
    assert (result.code, result.out) == (2, "")
    assert "--db names no store: leave it out to use the default" in result.err
    assert not (tmp_path / "home").exists()


def test_choices_without_effects_are_told_apart_by_their_conditions(run: Program) -> None:
    rules = {"C:R": {"a1": {"a2": [{"must": {"a3": "empty"}}, {"deny": {"a4": "enemy"}}]}}}
    run("--db", "store.db", "load", write("rules.json", rules))
    for assumption in ([], ["--assume", "displacement"]):
        move = ["apply", "rules", "--board", '{"a1": "C:R"}', "--move", "C:R a1 a2", *assumption]
        asked = run("--db", "store.db", *move)
        assert asked.code == 1
        assert '--ordinal 0: {"must":{"a3":"empty"},"deny":{}}\n' in asked.err
        assert '--ordinal 1: {"must":{},"deny":{"a4":"enemy"}}\n' in asked.err


@pytest.mark.parametrize("command", ["load", "validate", "lint"])
def test_a_stream_without_documents_is_said_to_be_one(run: Program, mistakes: Path, command: str) -> None:
    result = run("--db", "store.db", command, mistakes / "blank.ndjson")
    assert result.code == 0
    assert "no document found" in result.out + result.err


def test_a_home_that_cannot_be_written_is_named_with_the_way_out(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    write("file", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(Path("file").absolute() / "data"))
    result = run("load", write("quick.json", QUICK))
    assert (result.code, result.out) == (1, "")
    assert "the data directory cannot be made (Not a directory): name a store with --db" in result.err


# --- processes: signals, pipes, closed streams ---


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """The program as a process that Ctrl-C interrupts, also where the tests run with that signal ignored."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from ggn_store.cli import main; main()"
    )
    return subprocess.Popen([sys.executable, "-c", code, *arguments], env=child_environment(), **options)


def test_an_interrupted_load_ends_with_130_and_leaves_whole_documents(run: Program, address: str) -> None:
    run("--db", address, "db", "upgrade")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start("--db", address, "load", "-", "--on-error", "skip", **pipes) as loading:
        assert loading.stdin is not None
        assert loading.stderr is not None
        # The broken line is told as soon as it is read, so the first document is stored by then.
        loading.stdin.write(line("one", QUICK).encode() + b"{}\n" + line("two", MUST).encode()[:-5])
        loading.stdin.flush()
        assert loading.stderr.readline() == b"standard input: not loaded\n"
        loading.send_signal(signal.SIGINT)
        out = loading.stdout.read() if loading.stdout else b""
        err = loading.stderr.read().decode()
    assert loading.returncode == 130
    assert out == b""
    assert err.endswith("Error: interrupted; what was being written is undone\n")
    assert err.count("Error: ") == 1
    assert "Traceback" not in err
    assert names(run("--db", address, "list")) == ["one"]
    assert run("--db", address, "db", "check").code == 0


def store_of_the_small_game(run: Program) -> None:
    write("mini.toml", MINI_TOML)
    assert run("--db", "store.db", "load", write("mini.json", MINI)).code == 0


@pytest.mark.parametrize("command", ["--help", "list", "export mini", "moves mini", "schema diff"])
def test_a_reader_that_has_seen_enough_is_no_reason_to_complain(run: Program, command: str) -> None:
    store_of_the_small_game(run)
    reading, writing = os.pipe()
    os.close(reading)
    with start("--db", "store.db", *command.split(), stdout=writing, stderr=subprocess.PIPE) as ended:
        os.close(writing)
        assert ended.stderr is not None
        assert ended.stderr.read() == b""
    assert ended.returncode in (0, 1), "neither a signal nor Python's own complaint about the last flush"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (
            "moves mini --board - <&-",
            1,
            "Error: the board: the text ends too early at 1:1, found the end of the text\n",
        ),
        ("load - --name x <&-", 1, "standard input: not loaded\n  standard input:1:1: the text ends too early"),
        ("validate - <&-", 1, "1 document checked: 1 invalid, 1 problem\n"),
        ("list >&-", 0, ""),
        ("moves mini >&-", 0, ""),
        ("--help >&-", 0, ""),
        ("load mini.json >&- 2>&-", 0, ""),
        ("load nothing.json >&- 2>&-", 1, ""),
        ("list >/dev/full", 1, "Error: output: No space left on device\n"),
        ("export mini >/dev/full", 1, "Error: output: No space left on device\n"),
    ],
)
def test_streams_that_are_closed_or_full_are_no_reason_for_a_traceback(
    run: Program, command: str, code: int, said: str
) -> None:
    store_of_the_small_game(run)
    whole = f'exec "{sys.executable}" -m ggn_store --db store.db {command}'
    ended = subprocess.run(
        ["/bin/sh", "-c", whole], env=child_environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert ended.stderr.startswith(said)
    assert bool(ended.stderr) == bool(said)
    assert "Traceback" not in ended.stderr
    assert ended.returncode == code


def test_an_output_file_is_whole_or_not_there(run: Program) -> None:
    store_of_the_small_game(run)
    write("out.json", "what was there")
    refused = run("convert", "mini.json", "--to", "perform", "-o", "out.json")
    assert refused.code == 1
    assert Path("out.json").read_text(encoding="utf-8") == "what was there"
    assert run("--db", "store.db", "export", "mini", "-o", "out.json").code == 0
    assert Path("out.json").read_text(encoding="utf-8") == parse(MINI).canonical()
    assert sorted(path.name for path in Path().iterdir()) == [
        *("mini.json", "mini.toml", "out.json", "out.toml", "store.db")
    ]


def test_an_output_that_finds_no_room_leaves_what_was_there(run: Program) -> None:
    large = {"C:R": {"a1": {f"a{rank}": [{"must": {f"a{rank}": "empty"}, "diff": {}}] for rank in range(2, 200)}}}
    run("--db", "store.db", "load", write("large.json", large))
    write("out.json", "what was there")
    whole = f'ulimit -f 2; exec "{sys.executable}" -B -m ggn_store --db store.db export large -o out.json'
    refused = subprocess.run(
        ["/bin/sh", "-c", whole], env=child_environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "Error: out.json: cannot be written: File too large\n"
    assert Path("out.json").read_text(encoding="utf-8") == "what was there"
    assert sorted(path.name for path in Path().iterdir()) == ["large.json", "out.json", "store.db"]


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


def test_what_an_address_may_hold_stays_the_name_of_a_file(run: Program) -> None:
    for name in ("a b.db", "100%.db", "a%20b.db", "ä?#.db", "a'b.db"):
        assert run("--db", name, "load", "-", "--name", "quick", stdin=json.dumps(QUICK)).code == 0
        assert Path(name).is_file()
        shown = run("--db", name, "db", "info").out
        again = re.search("address   (.*)\n", shown)
        assert again is not None
        assert names(run("--db", again[1], "list")) == ["quick"]
