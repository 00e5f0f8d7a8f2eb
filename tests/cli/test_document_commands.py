"""The commands that need no store: `validate`, `lint`, `convert` and `schema`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ggn_store import parse
from tests.support.program import MINI, MUST, PERFORM, QUICK, Program, Result, line, write

# --- validate and lint ---


def test_valid_documents_pass_and_nothing_is_written_to_standard_output(run: Program) -> None:
    write("games/quick.json", QUICK)
    write("games/more.ndjson", line("one", MUST) + line("two", PERFORM))
    assert run("validate", "games") == Result(0, "", "3 documents checked: all valid\n")
    assert run("validate", "-", stdin=json.dumps(QUICK)) == Result(0, "", "1 document checked: all valid\n")


def test_documents_of_one_name_are_checked_together(run: Program) -> None:
    write("left/same.json", QUICK)
    write("right/same.json", MUST)
    assert run("validate", "left/same.json", "right/same.json").err == "2 documents checked: all valid\n"
    assert run("lint", "left/same.json", "right/same.json").err.startswith("2 documents read: ")


BROKEN = """{
  "C:P": {"e2": {"e4": [{"must": {"e3": "empty"},
                         "deny": {"e3": "empty"}, "diff": {}}],
                 "e9x": [{"diff": {}}]}}
}
"""


def test_every_problem_is_a_line_with_its_place(run: Program) -> None:
    write("broken.json", BROKEN)
    write("fine.json", QUICK)
    result = run("validate", "broken.json", "fine.json")
    first, second = result.out.splitlines()
    assert first.startswith("broken.json:3:41 /C:P/e2/e4/0/deny/e3: ")
    assert second.startswith('broken.json:4:18 /C:P/e2/e9x: not a square; found "e9x"; allowed: a CELL label')
    assert (result.code, result.err) == (1, "2 documents checked: 1 invalid, 2 problems\n")


def test_problems_in_json_have_their_parts(run: Program) -> None:
    write("broken.json", BROKEN)
    result = run("validate", "broken.json", "--format", "json")
    assert result.code == 1
    first, second = json.loads(result.out)
    assert list(first) == ["message", "pointer", "line", "column", "file", "found", "allowed", "code"]
    assert (first["file"], first["line"], first["column"]) == ("broken.json", 3, 41)
    assert second["pointer"] == "/C:P/e2/e9x"
    assert json.loads(run("validate", write("fine.json", QUICK), "--format", "json").out) == []


def test_problems_of_a_stream_name_their_lines(run: Program) -> None:
    result = run("validate", "-", stdin=line("one", QUICK) + '{"name": "two", "document": {}}\n')
    assert result.out.startswith("standard input:2:29 /document: the document has no piece in it")
    assert result.code == 1


def test_validate_can_be_told_the_dialect(run: Program) -> None:
    write("quick.json", QUICK)
    assert run("validate", "quick.json", "--dialect", "diff").code == 0
    result = run("validate", "quick.json", "--dialect", "perform")
    assert result.code == 1
    assert "the dialect perform demands" in result.out


def test_a_file_that_cannot_be_read_hides_no_problem_of_the_others(run: Program) -> None:
    write("a.json", "{")
    Path("b.json.gz").write_bytes(b"not gzip")
    write("c.json", "[]")
    for command in ("validate", "lint"):
        result = run(command, "a.json", "b.json.gz", "c.json")
        assert result.code == 1
        assert [found.split(":")[0] for found in result.out.splitlines()] == ["a.json", "b.json.gz", "c.json"]
        assert result.out.count("b.json.gz") == 1


def test_lint_finds_what_is_suspicious_with_its_place(run: Program) -> None:
    twice = {"C:K": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:K"}}}] * 2}}}
    path = write("twice.json", json.dumps(twice, indent=1))
    result = run("lint", path)
    assert result.code == 1
    assert re.fullmatch(r"twice\.json:13:5 /C:K/a1/a2/1: the same conditions and effects as /C:K/a1/a2/0\n", result.out)
    assert result.err == "1 document read: 1 finding\n"
    assert run("validate", path).code == 0
    [found] = json.loads(run("lint", path, "--format", "json").out)
    assert (found["code"], found["line"], found["pointer"]) == ("duplicate-possibility", 13, "/C:K/a1/a2/1")


def test_lint_is_content_with_a_plain_document(run: Program) -> None:
    assert run("lint", write("quick.json", QUICK)) == Result(0, "", "1 document read: nothing suspicious\n")
    assert json.loads(run("lint", "quick.json", "--format", "json").out) == []


def test_lint_prints_the_problems_of_what_is_not_valid(run: Program) -> None:
    result = run("lint", write("broken.json", BROKEN), "--dialect", "diff")
    assert result.code == 1
    assert "broken.json:4:18 /C:P/e2/e9x: not a square" in result.out
    assert "1 invalid" in result.err


# --- convert and schema ---


def test_convert_writes_the_canonical_form_of_the_same_dialect(run: Program) -> None:
    for document, dialect in ((QUICK, "diff"), (MUST, "must-deny"), (PERFORM, "perform")):
        path = write("game.json", document)
        assert run("convert", path, "--to", dialect) == Result(0, parse(document).canonical(), "")
        assert run("convert", "-", "--to", dialect, stdin=json.dumps(document)).out == parse(document).canonical()


def test_convert_writes_another_dialect_where_nothing_is_lost(run: Program) -> None:
    result = run("convert", write("perform.json", PERFORM), "--to", "diff", "--dialect", "perform")
    assert json.loads(result.out) == {
        "CHESS:P": {"e2": {"e3": [{"must": {"e3": "empty"}, "diff": {"board": {"e2": None, "e3": "CHESS:P"}}}]}}
    }
    back = run("convert", "-", "--to", "perform", stdin=result.out)
    assert back.out == parse(PERFORM).canonical()


def test_convert_writes_assumed_displacement_only_when_told(run: Program) -> None:
    result = run("convert", write("must.json", MUST), "--to", "diff", "--assume", "displacement")
    [possibility] = json.loads(result.out)["C:R"]["a1"]["a3"]
    assert possibility["diff"] == {"board": {"a1": None, "a3": "C:R"}}
    refused = run("convert", "must.json", "--to", "diff")
    assert (refused.code, refused.out) == (1, "")
    assert "displacement" in refused.err


def test_a_refused_conversion_lists_what_would_be_lost(run: Program) -> None:
    refused = run("convert", write("mini.json", MINI), "--to", "perform", "-o", "out.json")
    assert (refused.code, refused.out) == (1, "")
    for place in ("/C:P/*: ", "/C:P/a2/b3/0/diff/hands: ", "/c:p/b3/b2/0/diff/toggle: "):
        assert place in refused.err
    assert not Path("out.json").exists()


@pytest.mark.parametrize("dialect", ["perform", "must-deny", "diff"])
def test_schema_prints_the_schema_of_a_dialect(run: Program, dialect: str) -> None:
    result = run("schema", dialect)
    assert (result.code, result.err) == (0, "")
    assert "$schema" in json.loads(result.out)
    assert run("schema", dialect, "--output", "schema.json").out == ""
    assert Path("schema.json").read_text(encoding="utf-8") == result.out
