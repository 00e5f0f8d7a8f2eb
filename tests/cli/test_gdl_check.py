"""`ggn-store gdl check`: forms of the answer, exit codes, where the specification comes from."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.support.gdl_tiny import changed, cube, tiny, track
from tests.support.program import Program, write

WRONG = changed("/interactions/list/step/conditions/-", "eq(entity.rnk, 'x')")
ODD = changed("/interactions/list/slide/conditions/-", "eq(entity.rank, 'whele')")


def test_a_valid_specification_ends_in_zero_without_a_word_on_standard_output(run: Program, tmp_path: Path) -> None:
    path = write(tmp_path / "tiny.json", tiny())
    result = run("gdl", "check", path)
    assert (result.code, result.out) == (0, "")
    assert result.err == "1 specification checked: no problem, nothing suspicious\n"


def test_a_mistake_is_shown_with_its_place_a_caret_and_a_cure(run: Program, tmp_path: Path) -> None:
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(WRONG, indent=1))
    lines = path.read_text().split("\n")
    [number] = [number for number, line in enumerate(lines, 1) if "rnk" in line]
    column = lines[number - 1].index("rnk") + 1
    result = run("gdl", "check", path)
    assert result.code == 1
    assert result.err == "1 specification checked: 1 problem\n"
    assert result.out.split("\n") == [
        f"{path}:{number}:{column} /interactions/list/step/conditions/5: Piece has no attribute rnk: did you mean rank?"
        "; allowed: owner, rank, moved, schema, pos",
        "  in interactions, action step:",
        "    eq(entity.rnk, 'x')",
        "              ^",
        "",
    ]


def test_a_finding_is_shown_and_ends_in_zero(run: Program, tmp_path: Path) -> None:
    result = run("gdl", "check", write(tmp_path / "tiny.json", ODD))
    assert result.code == 0
    assert result.err == "1 specification checked: no problem, 2 findings\n"
    assert 'finding: this condition never holds (nothing ever has rank "whele"' in result.out
    assert "    eq(entity.rank, 'whele')\n    ^\n" in result.out


def test_the_forms_hold_the_same(run: Program, tmp_path: Path) -> None:
    path = write(tmp_path / "tiny.json", ODD)
    records = json.loads(run("gdl", "check", "--format", "json", path).out)
    lines = run("gdl", "check", "--format", "ndjson", path).out.splitlines()
    assert [json.loads(line) for line in lines] == records
    assert [(record["severity"], record["code"], record["action"]) for record in records] == [
        ("finding", "never-moves", None),
        ("finding", "never-holds", "slide"),
    ]
    assert {"file", "line", "column", "pointer", "section", "expression", "at", "message"} <= records[0].keys()
    heading, _, *rows = run("gdl", "check", "--format", "table", path).out.splitlines()
    assert heading.split() == ["file", "line", "column", "severity", "code", "section", "action", "message"]
    assert len(rows) == 2


def test_what_is_wrong_at_many_places_is_said_once_as_text(run: Program, tmp_path: Path) -> None:
    data = tiny()
    for _ in range(9):
        data = changed("/interactions/list/step/conditions/-", "eq(entity.rnk, 'x')", data)
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(data, indent=1))
    result = run("gdl", "check", path)
    assert result.out.count("has no attribute rnk") == 1
    [places] = [line for line in result.out.splitlines() if line.startswith("  the same at ")]
    assert places.count(":") == 6
    assert places.endswith(" and 2 more")
    assert len(json.loads(run("gdl", "check", "--format", "json", path).out)) == 9


def test_refusals_are_counted(run: Program, tmp_path: Path) -> None:
    data = changed("/interactions/list/step/effects/-", "shuffle(board)", WRONG)
    result = run("gdl", "check", write(tmp_path / "tiny.json", data))
    assert result.code == 1
    assert result.err.startswith("1 specification checked: 3 problems, 1 of them what no move database can hold")


def test_specifications_come_from_directories_gzip_and_standard_input(run: Program, tmp_path: Path) -> None:
    write(tmp_path / "one.json", tiny())
    (tmp_path / "two.json.gz").write_bytes(gzip.compress(json.dumps(WRONG).encode()))
    (tmp_path / "beside.toml").write_text("[pieces]\n")
    (tmp_path / "many.ndjson").write_text('{"name": "x", "document": {}}\n')
    result = run("gdl", "check", tmp_path)
    assert (result.code, result.err) == (1, "2 specifications checked: 1 problem\n")
    assert result.out.startswith(f"{tmp_path / 'two.json.gz'}:1:")
    # What is named by itself is looked at, whatever it is.
    result = run("gdl", "check", tmp_path / "many.ndjson", tmp_path / "beside.toml")
    assert result.code == 1
    assert f"{tmp_path / 'beside.toml'}:1:" in result.out
    assert f"{tmp_path / 'many.ndjson'}:1:" in result.out
    result = run("gdl", "check", "-", stdin=json.dumps(WRONG))
    assert result.code == 1
    assert result.out.startswith("standard input:1:")


def test_files_that_cannot_be_read_are_problems_and_names_of_nothing_are_errors(run: Program, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json.gz"
    broken.write_bytes(b"\x1f\x8b")
    result = run("gdl", "check", broken, write(tmp_path / "one.json", tiny()))
    assert (result.code, result.err) == (1, "2 specifications checked: 1 problem\n")
    assert "gzip data is broken" in result.out
    result = run("gdl", "check", tmp_path / "nowhere.json")
    assert (result.code, result.out) == (1, "")
    assert "no such file" in result.err


def test_a_document_of_moves_is_no_specification(run: Program, tmp_path: Path) -> None:
    result = run("gdl", "check", write(tmp_path / "moves.json", {"C:P": {"a1": {"a2": [{"must": {"a2": "empty"}}]}}}))
    assert result.code == 1
    assert "the specification lacks metadata" in result.out


def test_the_group_says_what_it_has(run: Program) -> None:
    assert "check" in run("gdl", "--help").out
    result = run("gdl", "check")
    assert (result.code, result.out) == (2, "")


def test_what_other_programs_do_not_read_is_said_in_one_line(run: Program, tmp_path: Path) -> None:
    for name, make in (("cube", cube), ("track", track)):
        write(tmp_path / f"{name}.json", make())
    result = run("gdl", "check", tmp_path)
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines() == [
        "2 specifications checked: no problem, nothing suspicious",
        "uses extensions that other programs do not read: a grid of three sizes, a track",
    ]
