"""The analyses as commands, on both databases; what they find is tested in `test_analyses`."""

from __future__ import annotations

import csv
import io
import json

import click
import pytest

from ggn_store.cli import analyses
from tests.support.program import QUICK, QUICKER, Command, write

# A command line of each analysis, and how many records it writes.
ANSWERS = {
    "stats": (("stats",), 4),
    "stats of pieces": (("stats", "mini", "--by", "piece"), 2),
    "mobility": (("mobility", "mini"), 2),
    "mobility by square": (("mobility", "mini", "--by", "square", "--piece", "C:P"), 2),
    "coverage": (("coverage", "mini"), 2),
    "coverage from": (("coverage", "mini", "--piece", "c:p", "--source", "b3"), 1),
    "who-reaches": (("who-reaches", "mini", "c1"), 1),
    "uses": (("uses", "mini", "C:P"), 3),
    "uses by rule": (("uses", "mini", "c:p", "--by", "rule"), 3),
    "symmetry": (("symmetry", "mini"), 6),
    "symmetry by entry": (("symmetry", "mini", "--by", "entry"), 7),
    "same-movers": (("same-movers", "chess", "--piece", "C:N"), 2),
    "same-movers by group": (("same-movers", "chess", "--piece", "C:N", "--by", "group"), 1),
    "concepts": (("concepts",), 69),
    "concepts of one": (("concepts", "mini"), 20),
    "find": (("find", "--with", "drops", "--without", "riders>0", "--board", "3x3"), 1),
    "similar": (("similar", "chess"), 3),
    "compare": (("compare", "mini", "must"), 4),
}
each_answer = pytest.mark.parametrize(("arguments", "count"), ANSWERS.values(), ids=ANSWERS)


def test_every_analysis_has_an_answer_here() -> None:
    asked = {arguments[0] for arguments, _ in ANSWERS.values()} | {"dead"}  # which has a test of its own
    commands = (each for each in vars(analyses).values() if isinstance(each, click.Command))
    assert {command.name for command in commands} == asked


@each_answer
def test_the_forms_of_an_answer_have_the_same_records(ask: Command, arguments: tuple[str, ...], count: int) -> None:
    answers = {form: ask(*arguments, "--format", form) for form in ("table", "json", "ndjson", "csv")}
    assert {(answer.code, answer.err) for answer in answers.values()} == {(0, "")}
    records = answers["ndjson"].records()
    assert len(records) == count
    assert ask(*arguments).records() == records == json.loads(answers["json"].out)
    rows = [*csv.DictReader(io.StringIO(answers["csv"].out))]
    assert len(rows) == count
    for row, found in zip(rows, records, strict=True):
        for column, value in row.items():
            text = "" if found[column] is None else found[column]
            written = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, separators=(",", ":"))
            assert value == written
    heading, rule, *lines = answers["table"].out.splitlines()
    assert {*heading.split()} <= {*records[0]}
    assert (len(lines), {*rule}) == (count, {"-", " "})


@each_answer
def test_the_sql_that_ran_goes_to_standard_error(ask: Command, arguments: tuple[str, ...], count: int) -> None:
    shown = ask(*arguments, "--show-sql")
    assert (shown.code, len(shown.records())) == (0, count)
    statements = shown.err.strip().split(";\n\n")
    assert all(statement.startswith(("SELECT ", "WITH ")) for statement in statements)
    assert not any(mark in shown.err for mark in ("%(", ":param", "?"))


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("stats", "nothing"), 1, 'the store has no ruleset "nothing"'),
        (("stats", "--by", "piece"), 2, "--by piece counts the pieces of one ruleset: name one"),
        (("mobility", "mini", "--piece", "C:X"), 1, 'mini@1 has no rules for "C:X"; it has C:P, c:p'),
        (("coverage", "mini", "--source", "a1"), 2, "--source says where a piece stands: name it with --piece"),
        (("coverage", "mini", "--piece", "C:P", "--source", "z9"), 1, 'mini@1 has no square "z9"; its board is 3x3'),
        (("uses", "mini", "C:X"), 0, "nothing found"),
        (("uses", "mini", "C-P"), 1, '"C-P" is not a state: empty, enemy or a piece identifier'),
        (("uses", "mini", "ep"), 1, "; mini@1 has no state variables"),
        (("same-movers", "mini", "--ruleset", "mini"), 2, "--ruleset says whose piece it is: name the piece"),
        (("same-movers", "mini", "--piece", "C:X"), 1, 'none of these rulesets has rules for "C:X"'),
        (("symmetry", "mini", "--all"), 2, "go with --by entry"),
        (("symmetry", "mini", "--by", "entry", "--symmetry", "round"), 1, '"round" is not a symmetry of the board'),
        (("concepts", "nothing"), 1, 'the store has no ruleset "nothing"'),
        (("find", "--with", "hopers"), 1, 'there is no concept "hopers": did you mean hoppers?'),
        (("find", "--without", "wings"), 1, 'there is no concept "wings"; `ggn-store concepts` lists them'),
        (("find", "--with", "riders > many"), 1, '"riders > many" is not a concept such as hoppers, or a comparison'),
        (("find", "--with", "checkmate>1"), 1, "checkmate>1: checkmate is no number; a ruleset has it or not"),
        (("find", "--board", "9by9"), 1, '"9by9" is not the shape of a board such as 8x8'),
        (("similar", "nothing"), 1, 'the store has no ruleset "nothing"'),
        (("compare", "mini", "nothing"), 1, 'the store has no ruleset "nothing"'),
        (("who-reaches", "mini", "*"), 1, 'mini@1 has no square "*"; its board is 3x3'),
    ],
)
def test_what_cannot_be_answered_is_told(ask: Command, arguments: tuple[str, ...], code: int, told: str) -> None:
    answer = ask(*arguments)
    assert (answer.code, answer.out) == (code, "")
    assert told in answer.err


@pytest.mark.parametrize(
    "asked", [("mobility",), ("mobility", "--by", "square"), ("who-reaches", "a3"), ("uses", "enemy")]
)
def test_several_rulesets_answer_as_each_by_itself(ask: Command, asked: tuple[str, ...]) -> None:
    names = {row["ruleset"]: row["revision"] for row in ask("stats").records()}
    expected = []
    for name, revision in names.items():
        alone = ask(asked[0], name, *asked[1:])
        expected += [
            {"ruleset": name, "revision": revision} | each for each in (alone.records() if not alone.code else [])
        ]
    assert len({row["ruleset"] for row in expected}) > 1
    assert ask(*asked).records() == ask(asked[0], "*", *asked[1:]).records() == expected
    some = [*names][:2]
    assert ask(asked[0], *some, *asked[1:]).records() == [row for row in expected if row["ruleset"] in some]


def test_rulesets_that_have_no_such_piece_or_square_are_left_out(ask: Command) -> None:
    assert {row["ruleset"] for row in ask("who-reaches", "h8").records()} == {"chess"}
    assert {row["ruleset"] for row in ask("mobility", "--piece", "C:N").records()} == {"chess"}
    nowhere = ask("who-reaches", "z99")
    assert (nowhere.code, nowhere.out) == (1, "")
    assert 'Error: none of 4 rulesets can be asked so; of the first: chess@1 has no square "z99"' in nowhere.err
    assert ask("who-reaches", "mini", "z99").err.startswith('Error: mini@1 has no square "z99"')


def test_a_pawn_that_promotes_and_drops_is_told_of_as_it_is(ask: Command) -> None:
    [pawn] = ask("mobility", "mini", "--piece", "C:P").records()
    assert (pawn["squares"], pawn["total"], pawn["quiet"], pawn["capture"]) == (1, 2, 1, 1)
    [cover] = ask("coverage", "mini", "--piece", "C:P").records()
    assert (cover["squares"], cover["of"], cover["hand"]) == (["c1", "a2", "b3"], 9, True)
    [drop] = ask("who-reaches", "mini", "c1").records()
    assert drop == {"piece": "C:P", "source": "*", "quiet": True, "capture": False, "possibilities": 1}
    lines = ask("mobility", "mini", "--by", "square", "--format", "table").out.splitlines()
    assert lines[2].split() == ["C:P", "a2", "2", "a3", "b3"]


def test_a_table_names_the_squares_that_are_covered_unless_it_is_all_of_them(ask: Command) -> None:
    assert ask("coverage", "mini", "--piece", "C:P", "--format", "table").out.splitlines()[2].endswith("  c1, a2, b3")
    assert ask("coverage", "chess", "--piece", "C:N", "--format", "table").out.splitlines()[2].endswith("  false  all")
    [knight] = ask("coverage", "chess", "--piece", "C:N").records()
    assert len(knight["squares"]) == 64


def test_what_is_looked_for_is_a_column_though_nothing_has_it(ask: Command) -> None:
    looked = ("find", "--with", " hoppers > 1000 ", "--without", "drops", "--without", "hoppers=7")
    none = ask(*looked, "--format", "csv")
    assert (none.code, none.out, none.err) == (0, "ruleset,revision,board,hoppers,drops\n", "")
    shown = ask(*looked, "--format", "table")
    assert (shown.code, shown.out, shown.err) == (0, "", "no ruleset is so\n")


def test_dead_rules_are_listed_and_counted(ask: Command, ggn: Command) -> None:
    empty = {"must": {"a2": "empty"}}
    ggn("load", write("game.json", {"C:P": {"a1": {"a2": [empty, empty, {"must": {"a1": "enemy"}}]}}}))
    found = ggn("dead", "game", "--show-sql")
    assert (found.code, [record["kind"] for record in found.records()]) == (0, ["duplicate", "never"])
    assert found.err.endswith(";\n\n2 findings\n")
    assert "FROM revision_piece" in found.err
    table = ggn("dead", "game", "--format", "table").out.splitlines()
    assert table[2].split() == ["duplicate", "C:P", "a1", "a2", "1", "0", "1"]
    none = ask("dead", "mini", "--format", "json")
    assert (none.code, none.out, none.err) == (0, "[]\n", "no dead rules\n")


def test_entries_without_symmetry_are_listed_up_to_ten_unless_all_are_wanted(ask: Command) -> None:
    named = ("symmetry", "chess", "--by", "entry", "--symmetry", "equal")
    some, every = ask(*named), ask(*named, "--all")
    assert (len(some.records()), some.err) == (10, "the first 10 of each symmetry; --all lists all\n")
    assert (len(every.records()), every.err) == (394, "")
    assert every.records()[:10] == some.records()
    [sides] = [each for each in ask("symmetry", "chess").records() if each["of"] == "sides" and each["holds"]]
    assert (sides["symmetry"], sides["start"]) == ("mirrored top to bottom", True)


def test_squares_without_coordinates_are_told_of_and_not_mirrored(ggn: Command) -> None:
    change = {"the left": None, "the right": "CHESS:P"}
    ggn("load", write("game.json", {"CHESS:P": {"the left": {"the right": [{"perform": change}]}}}))
    found = ggn("symmetry", "game")
    assert [each["symmetry"] for each in found.records()] == ["equal"]
    assert "the squares have no coordinates, so nothing can be mirrored" in found.err
    alike = ggn("same-movers")
    assert (alike.code, alike.out) == (0, "")
    assert alike.err == "note: squares without coordinates, so left out: game@1\n"


def test_games_that_are_equal_do_not_differ(ask: Command) -> None:
    same = ask("compare", "mini", "mini@1", "--format", "json")
    assert (same.code, same.out, same.err) == (0, "[]\n", "no piece differs\n")


@pytest.mark.parametrize("arguments", [("stats",), ("mobility",), ("uses", "empty"), ("stats", "m*")], ids=" ".join)
def test_rulesets_come_in_pages(ask: Command, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    whole = ask(*arguments)
    every = [*dict.fromkeys(row["ruleset"] for row in whole.records())]
    assert len(every) > 1
    found, after = [], None
    for _ in every:
        page = ask(command, "-n", "1", *(() if after is None else ("--after", after)), *rest)
        [after] = {row["ruleset"] for row in page.records()}
        assert page.err == f"there may be more: `--after {after}` lists what follows\n"
        found += page.records()
    assert found == whole.records()
    last = ask(command, "--after", after or "", *rest)
    assert (last.code, last.out, last.err) == (0, "", f"no ruleset comes after {after}\n")


@pytest.mark.both
def test_games_that_are_found_come_in_pages(ask: Command) -> None:
    asked = ("find", "--with", "pieces")
    every = ask(*asked).records()
    assert len(every) > 1
    found, after = [], ""
    for _ in every:
        page = ask(*asked, "-n", "1", "--after", after)
        [after] = [row["ruleset"] for row in page.records()]
        assert page.err == f"there may be more: `--after {after}` lists what follows\n"
        found += page.records()
    assert found == every
    assert ask(*asked, "--after", after).out == ""
    names = [row["ruleset"] for row in every]
    # Named ones too come by name, and those that are not so count for no page.
    assert [row["ruleset"] for row in ask(*asked, *reversed(names), "-n", "2").records()] == sorted(names)[:2]
    assert ask(*asked, names[0], "--after", names[0]).out == ""
    none = ask("find", "--with", "pieces>=1000", "-n", "1")
    assert (none.code, none.out, none.err) == (0, "", "")


def test_concepts_are_counted_in_pages(ask: Command) -> None:
    names = [row["ruleset"] for row in ask("stats").records()]
    whole = ask("concepts").records()
    pages = [ask("concepts", "-n", "1", "--after", after).records() for after in ("", *names[:-1])]
    for at, each in enumerate(whole):
        assert each["rulesets"] == sum(page[at]["rulesets"] for page in pages)
    assert any(each["rulesets"] > 0 for each in whole)
    last = ask("concepts", "--after", names[-1])
    assert (last.code, last.out, last.err) == (0, "", f"no ruleset comes after {names[-1]}\n")


def test_groups_that_move_alike_come_in_pages(ask: Command) -> None:
    every = ask("same-movers").records()
    assert len(every) > 2
    first = ask("same-movers", "-n", "2")
    told = f"there may be more: `--after {every[1]['fingerprint']}` lists what follows"
    assert (first.records(), told in first.err) == (every[:2], True)
    rest = ask("same-movers", "--after", every[1]["fingerprint"])
    assert (rest.records(), "there may be more" in rest.err) == (every[2:], False)
    assert ask("same-movers", "--after", "none").code == 2


@pytest.mark.both
def test_proposals_are_asked_beside_rulesets(ggn: Command) -> None:
    for name, document in (("a", QUICK), ("b", QUICKER)):
        assert ggn("load", write(f"{name}.json", document)).code == 0
    assert ggn("propose", "a", write("a.json", QUICKER), "--author", "Ann").code == 0
    for command, *rest in (("who-reaches", "e4"), ("uses", "C:P"), ("mobility",), ("stats",), ("find",)):
        answer = ggn(command, "b", "a#1", *rest)
        of = [(row["ruleset"], row["revision"]) for row in answer.records()]
        assert (answer.code, [*dict.fromkeys(of)]) == (0, [("b", 1), ("a#1", 1)]), command
    # Named ones come in their order, and pages in that of names.
    assert [row["ruleset"] for row in ggn("find", "a#1", "b").records()] == ["a#1", "b"]
    assert [row["ruleset"] for row in ggn("find", "b", "a#1", "-n", "1").records()] == ["a#1"]
