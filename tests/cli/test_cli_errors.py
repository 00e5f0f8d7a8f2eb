"""Everything that can be asked wrongly of the command line: one clear message, the right exit code, nothing changed.

The tables are one row a mistake. Each row is run on SQLite and on Postgres, and the whole content of the store and of
the directory is compared before and after.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from ggn_store.cli import group
from tests.support.commands import commands
from tests.support.mistakes import FORGING, HOSTILE_BOARD, content, untouched
from tests.support.program import Program, names, write

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
    (("load", "--library", "ches"), 'the library has no game "ches": did you mean chess?'),
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
    (
        ("show", "halma"),
        "; the library has gdl/chinese-checkers, gdl/halma, knights-halma, kono: `ggn-store load --lib",
    ),
    (("play", "atomic"), "; the library has atomic: `ggn-store load --library atomic`"),
    (("show", "Mini"), 'the store has no ruleset "Mini": did you mean mini? (`ggn-store list` shows all)'),
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
    (("moves", "mini", "--feen", "P3/4/4/4 / C/c"), "the position has a board of 4x4, and that of mini@1 is 3x3"),
    (("moves", "mini", "--feen", "4/4/4/P3 / C/c"), "the position has a board of 4x4, and that of mini@1 is 3x3"),
    (("apply", "mini", "--feen", "P2/3 / C/c", "--move", "a2 a3"), "has a board of 3x2, and that of mini@1 is 3x3"),
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
    (("moves", "mini", "--piece", "c:P"), 'mini@1 has no rules for "c:P": did you mean C:P?'),
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
    (("moves", "mini", "--positions", "text.ndjson"), "is not a position; allowed in a line: an object with"),
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
    (("lod",), 'there is no command "lod": did you mean load?'),
    (("mvoes", "mini"), 'there is no command "mvoes": did you mean moves?'),
    (("frobnicate",), 'there is no command "frobnicate": see `ggn-store --help`'),
    (("policy", "sett", "x"), 'there is no command "sett": did you mean set?'),
    (("moves", "mini", "--sorce", "a1"), "'--source'"),
    (("--nope", "list"), "No such option '--nope'"),
    (("db", "info", "extra"), "Got unexpected extra argument"),
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
    (("list", "--format", "tabel"), "'ndjson', 'csv': did you mean table?"),
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
    (("moves", "mini", "--query", "columns"), "--query columns is for many positions"),
    (("moves", "mini", "--positions", "positions.ndjson", "--explain", "--count", "piece"), "leave --count out"),
    (("moves", "mini", "--explain", "--format", "json"), "--explain prints text: leave --format out"),
    (("apply", "mini"), "say what to make, with --move 'C:P e2 e4' or --path 'd3 f5 h7'"),
    (("apply", "mini", "--move", "C:P a2 a3", "--path", "a2 a3"), "--move and --path both say what to make"),
    (("apply", "mini", "--move", "C:P a2"), "write piece, source and destination, such as 'C:P e2 e4'"),
    (("apply", "mini", "--move", "C:P a2 a3 a4"), "write piece, source and destination"),
    (("apply", "mini", "--move", ""), "write piece, source and destination"),
    (("apply", "mini", "--move", "C:P a2 a3", "--ordinal", "-1"), "-1 is not in the range"),
    (("apply", "mini", "--move", "C:P a2 a3", "--ordinal", "one"), "'one' is not a valid integer."),
    (("db", "downgrade"), 'there is no command "downgrade": did you mean upgrade?'),
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
    (("line.json",), 'line.json:1:1: this is no JSON; found "xxxxxxxxxxxxxxxxxxxx"'),
    (("game.pgn",), 'game.pgn:1:1: this is no JSON; found "[Event '),
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
    (
        ("bad name.json",),
        '"bad name" cannot name a ruleset: letters, digits and . _ + - (not first), / between parts, at most 200 '
        "characters; give another one with --name",
    ),
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
    before = untouched(filled, mistakes)
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
    before = untouched(filled, mistakes)
    result = run("--db", filled, *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: ggn-store")
    assert "--help' for help." in result.err
    assert result.err.count("Error: ") == 1
    assert said in result.err.split("Error: ")[1]
    assert content(filled, mistakes) == before


def test_an_option_with_one_value_is_given_once() -> None:
    tried = 0
    parent = click.Context(group, **group.context_settings)  # commands keep what it calls their help
    for name, command in commands(group):
        for option in command.params:
            if isinstance(option, click.Option) and not (option.is_flag or option.multiple):
                tried += 1
                values = ["1"] * option.nargs
                with pytest.raises(click.UsageError, match=f"{max(option.opts, key=len)} is given more than once"):
                    command.make_context(name, [option.opts[0], *values, option.opts[-1], *values], parent)
    assert tried > 100


def test_flags_and_options_with_several_values_may_be_given_again(run: Program, filled: str) -> None:
    for arguments in (
        ("moves", "mini", "--explain", "--explain"),
        ("sql", "SELECT :a, :b", *("--param", "a=1", "--param", "b=1")),
    ):
        assert run("--db", filled, *arguments).code == 0


@pytest.mark.parametrize(("arguments", "said"), KEPT_OUT, ids=identify)
def test_a_document_that_cannot_be_loaded_is_told_and_changes_nothing(
    run: Program, filled: str, mistakes: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(mistakes)
    before = untouched(filled, mistakes)
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
    result = run("--db", address, "load", "stream.ndjson")
    assert result.code == 1
    assert result.out.startswith("2 documents: 1 new, 1 failed; ")
    assert result.err.startswith("stream.ndjson: not loaded\n  stream.ndjson:2:1: a line of NDJSON holds a name and")
    assert result.err.endswith("stopped there; what came before is loaded (--on-error skip goes on)\n")
    assert names(run("--db", address, "list")) == ["one"]
    assert run("--db", address, "load", "stream.ndjson", "--on-error", "skip").code == 1
    assert names(run("--db", address, "list")) == ["one", "three"]


def test_a_name_for_a_stream_of_several_is_refused_at_the_second(run: Program, address: str, mistakes: Path) -> None:
    result = run("--db", address, "load", mistakes / "pair.ndjson", "--name", "x")
    assert result.code == 1
    assert "--name names one ruleset, and this is a stream of several" in result.err
    assert names(run("--db", address, "list")) == ["x"]


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
