"""`log`, `show`, `diff`, `blame` and `restore` as their users meet them, on both databases."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ggn_store import InputError, Store, UnknownNameError, parse
from tests.support.program import Command, Program, on_terminal, write
from tests.support.revisions import NAME, Node, record, tag

EMPTY, ENEMY = [{"must": {"a1": "empty"}}], [{"must": {"a1": "enemy"}}]
ROOK = {"C:R": {"a1": {"a2": EMPTY}}}
ONE: dict[str, Any] = {"C:P": {"e2": {"e3": EMPTY, "e4": EMPTY}}, **ROOK}
TWO: dict[str, Any] = {"C:P": {"e2": {"e3": EMPTY, "e4": ENEMY}}, **ROOK}
THREE: dict[str, Any] = {"C:P": {"e2": {"e3": ENEMY, "e4": EMPTY}}, **ROOK}
FOUR: dict[str, Any] = {"C:P": {"e2": {"e3": ENEMY, "e4": ENEMY}}}
STORY = [Node(ONE), Node(TWO, (1,), {"title": "Two"}), Node(THREE, (1,)), Node(FOUR, (2, 3), {"title": "Two"})]


@pytest.fixture
def story(address: str) -> Iterator[Store]:
    """The store of `ggn`, with a game that two lines of history meet in."""
    with Store.open(address) as store:
        record(store, STORY)
        tag(store, [("stable", 1, 2), ("also", 1, 2)])
        yield store


# --- log ---


def test_log_as_text_is_a_paragraph_for_each_revision(ggn: Command, story: Store) -> None:
    lineages = {entry.revision.number: entry.revision.lineage[:12] for entry in story.history.log(NAME)}
    assert ggn("log", NAME, "--format", "text").out.split("\n\n") == [
        f"game@4 sha256:{lineages[4]}\n"
        "Merge:   game@2 game@3\n"
        "Author:  author 4\n"
        "Date:    2026-01-01 04:00:00 UTC\n"
        "Changes: 1 piece changed (C:P), 1 removed (C:R)",
        "    message 4",
        f"game@3 sha256:{lineages[3]}\nAuthor:  author 3\nDate:    2026-01-01 03:00:00 UTC\n"
        "Changes: 1 piece changed (C:P)",
        "    message 3",
        f"game@2 sha256:{lineages[2]} (also, stable)\nAuthor:  author 2\nDate:    2026-01-01 02:00:00 UTC\n"
        "Changes: 1 piece changed (C:P); title changed",
        "    message 2",
        f"game@1 sha256:{lineages[1]}\nAuthor:  author 1\nDate:    2026-01-01 01:00:00 UTC\n"
        "Changes: first revision, 2 pieces",
        "    message 1\n",
    ]


def test_log_for_programs_is_a_line_for_each_revision(ggn: Command, story: Store) -> None:
    records = ggn("log", NAME).records()
    assert [(each["revision"], each["parents"], each["tags"]) for each in records] == [
        *((4, [2, 3], []), (3, [1], []), (2, [1], ["also", "stable"]), (1, [], [])),
    ]
    assert records[2]["changes"] == {
        "added": [],
        "removed": [],
        "changed": ["C:P"],
        "fields": ["title"],
        "order": False,
    }
    assert records[2]["created_at"] == "2026-01-01T02:00:00Z"
    assert json.loads(ggn("log", NAME, "--format", "json").out) == records
    assert ggn("log", f"{NAME}:stable").records() == records[2:]
    assert ggn("log", NAME, "--limit", "2").records() == ggn("log", NAME, "-n", "2").records() == records[:2]


def test_log_as_a_table_and_as_csv(ggn: Command, story: Store) -> None:
    story.load(FOUR, NAME, author="Ann", message=f"{'one ' * 20}\ntwo")
    assert ggn("log", NAME, "--oneline").out == ggn("log", NAME, "--format", "table").out
    header, _, newest, *others = ggn("log", NAME, "--oneline").out.splitlines()
    assert header.split() == ["revision", "parents", "created_at", "author", "tags", "message", "changes"]
    assert newest.endswith(f"  {'one ' * 14}one…  title changed")
    assert others[0].split()[:4] == ["4", "2", "3", "2026-01-01T04:00:00Z"]
    assert others[2].split("also stable  ")[1].split("  ")[0] == "message 2"
    assert others[2].endswith("  1 piece changed (C:P); title changed")
    rows = list(csv.DictReader(io.StringIO(ggn("log", NAME, "--format", "csv").out)))
    assert [row["message"] for row in rows] == [
        f"{'one ' * 20}\ntwo",
        *(f"message {number}" for number in (4, 3, 2, 1)),
    ]
    assert [rows[1][name] for name in ("parents", "pieces_changed", "pieces_removed", "fields", "tags")] == [
        *("2 3", "1", "1", "", ""),
    ]
    assert (rows[3]["tags"], rows[4]["pieces_added"]) == ("also stable", "2")


def test_log_on_a_terminal_is_text_with_colours(address: str, story: Store) -> None:
    shown = on_terminal("--db", address, "log", NAME)
    assert shown.code == 0
    assert shown.out.startswith("\x1b[33mgame@4 sha256:")
    assert " \x1b[36m(also, stable)\x1b[0m\n" in shown.out
    plain = on_terminal("--db", address, "log", NAME, NO_COLOR="1").out
    assert "\x1b" not in plain
    assert plain.startswith("game@4 sha256:")


def test_log_and_show_wrap_what_is_longer_than_the_terminal(address: str, story: Store) -> None:
    author = " ".join(["Augusta Ada", *["of many names"] * 8, "<ada@example.org>"])
    story.load(ONE, NAME, author=author)
    for command, room in (("log", 9), ("show", 14)):
        shown = on_terminal("--db", address, command, NAME, columns=60, NO_COLOR="1").out
        first, *others = shown[shown.lower().index("author") :].splitlines()
        wrapped = [first, *itertools.takewhile(re.compile(" " * room).match, others)]
        assert len(wrapped) > 2
        assert max(map(len, wrapped)) <= 60
        assert " ".join(line[room:] for line in wrapped) == author
    whole = on_terminal("--db", address, "log", NAME, columns=300, NO_COLOR="1").out
    assert f"Author:  {author}\n" in whole


def test_what_people_write_cannot_act_on_a_terminal(ggn: Command, story: Store) -> None:
    story.load(ONE, NAME, author="\x1b[2Jme", message="\x1b]0;x\x07 first\nsecond")
    shown = ggn("log", NAME, "-n", "1", "--format", "text").out
    assert "Author:  \\x1b[2Jme\n" in shown
    assert "    \\x1b]0;x\\x07 first\n    second\n" in shown
    assert "\x1b" not in ggn("log", NAME, "--oneline").out + ggn("blame", NAME, "--format", "table").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("log",), "Missing argument 'RULESET...'"),
        (("log", NAME, "--limit", "0"), "0 is not in the range x>=1"),
        (("log", NAME, "--oneline", "--format", "json"), "--oneline is a form of its own: leave --format json out"),
        (("diff",), "Missing argument 'A'"),
        (("diff", "-", "-"), "standard input can only be one of the two"),
        (("diff", "-"), "name a revision to compare standard input with: `ggn-store diff chess -`"),
        (("restore",), "Missing argument 'RULESET'"),
    ],
)
def test_wrong_usage_is_told(ggn: Command, arguments: tuple[str, ...], message: str) -> None:
    result = ggn(*arguments, stdin=json.dumps(ONE))
    assert (result.code, result.out) == (2, "")
    assert message in result.err


@pytest.mark.parametrize("command", ["log", "diff", "blame", "restore"])
def test_a_ruleset_that_is_not_there_is_told(ggn: Command, story: Store, command: str) -> None:
    for reference, message in {
        "chess": 'the store has no ruleset "chess"; it has game',
        "game@9": "game has no revision 9: its revisions are 1 to 4",
        "game:new": 'game has no tag "new"; it has had also, stable',
    }.items():
        result = ggn(command, reference)
        assert (result.code, result.out) == (1, "")
        assert message in result.err


# --- show ---


def test_show_tells_parents_tags_and_what_changed(ggn: Command, story: Store) -> None:
    shown = {line[:14].strip(): line[14:] for line in ggn("show", f"{NAME}@4").out.splitlines()}
    assert (shown["parents"], shown["author"], shown["message"]) == ("game@2, game@3", "author 4", "message 4")
    assert shown["changes"] == "1 piece changed (C:P), 1 removed (C:R)"
    assert shown["lineage"] == story.ruleset(NAME).revision.lineage
    assert "tags" not in shown
    assert "tags          also, stable\n" in ggn("show", f"{NAME}:stable").out
    data = json.loads(ggn("show", f"{NAME}@2", "--format", "json").out)
    assert (data["parents"], data["tags"], data["changes"]["fields"]) == ([1], ["also", "stable"], ["title"])
    story.load(ONE, NAME, message="one\ntwo")
    assert "message       one\n              two\n" in ggn("show", NAME).out


# --- diff ---

SECOND = ["~ C:P", "~   e2", "~     e4 must a1=enemy", "-       must a1=empty", "+       must a1=enemy"]


def test_diff_of_two_revisions_names_what_changed(ggn: Command, story: Store) -> None:
    shown = ggn("diff", f"{NAME}@1", f"{NAME}@2")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == ["--- game@1", "+++ game@2", '+ title: "Two"', *SECOND]
    back = ggn("diff", f"{NAME}:stable", f"{NAME}@1", "--piece", "C:P").out.splitlines()
    assert back == [
        *("--- game@2", "+++ game@1", "~ C:P", "~   e2", "~     e4 must a1=empty"),
        *("-       must a1=enemy", "+       must a1=empty"),
    ]


def test_diff_of_one_revision_is_what_it_changed(ggn: Command, story: Store) -> None:
    assert ggn("diff", f"{NAME}@2").out == ggn("diff", f"{NAME}@1", f"{NAME}@2").out
    assert ggn("diff", NAME).out == ggn("diff", f"{NAME}@2", NAME).out
    first = ggn("diff", f"{NAME}@1").out.splitlines()
    assert first[:4] == ["--- nothing", "+++ game@1", '+ dialect: "must-deny"', "+ C:P"]


def test_diff_in_one_line_and_as_json(ggn: Command, story: Store) -> None:
    assert ggn("diff", f"{NAME}@2", "--format", "summary").out == (
        "1 piece, 1 entry: 1 possibility changed; title changed\n"
    )
    assert ggn("diff", NAME, NAME, "--format", "summary").out == "no changes\n"
    data = json.loads(ggn("diff", f"{NAME}@2", "--format", "json").out)
    assert (data["before"], data["after"]) == ("game@1", "game@2")
    assert data["fields"] == [{"name": "title", "before": None, "after": "Two"}]
    [entry] = data["pieces"][0]["sources"][0]["destinations"]
    assert (entry["destination"], entry["before"], entry["after"]) == ("e4", EMPTY, ENEMY)
    assert json.loads(ggn("diff", f"{NAME}@1", "--format", "json").out)["before"] is None


def test_diff_ends_with_1_only_where_it_is_asked_to(ggn: Command, story: Store) -> None:
    assert ggn("diff", f"{NAME}@2", "--exit-code").code == 1
    assert ggn("diff", f"{NAME}@2").code == 0
    same = ggn("diff", f"{NAME}@2", f"{NAME}:also", "--exit-code")
    assert (same.code, same.out, same.err) == (0, "", "game@2 and game@2 say the same\n")
    assert ggn("diff", f"{NAME}@1", f"{NAME}@2", "--piece", "C:R", "--exit-code").code == 0


def test_diff_of_a_revision_and_a_file(ggn: Command, story: Store) -> None:
    Path("edited").mkdir()
    for path in ("two.json", "edited/game.json", "game.json"):
        write(path, TWO)
    write("two.toml", 'title = "Two"\n')
    assert ggn("diff", f"{NAME}@1", "two.json").out.splitlines()[1:] == ["+++ two.json", '+ title: "Two"', *SECOND]
    assert ggn("diff", f"{NAME}@1", "-", stdin=json.dumps(TWO)).out.splitlines() == ["--- game@1", "+++ -", *SECOND]
    assert ggn("diff", "two.json", f"{NAME}@2").err == "two.json and game@2 say the same\n"
    # A file alone is compared with what it would replace.
    alone = ggn("diff", "./edited/game.json")
    assert alone.out == ggn("diff", NAME, "edited/game.json").out.replace("edited/", "./edited/")
    assert alone.out.splitlines()[:3] == ["--- game@4", "+++ ./edited/game.json", '- title: "Two"']
    assert ggn("diff", "game.json").code == 0
    assert ggn("diff", "two.json").err.startswith('Error: the store has no ruleset "two"')


def test_diff_of_two_files_needs_no_store(run: Program) -> None:
    for name, document in {"one": ONE, "two": TWO}.items():
        write(f"{name}.json", document)
    assert run("--db", "none.db", "diff", "one.json", "two.json").out.splitlines()[2:] == SECOND
    assert not Path("none.db").exists()


def test_diff_of_a_game_s_definition_is_that_of_its_document(ggn: Command) -> None:
    text = (
        'title = "Rooks"\nboard = "3x3"\nstyle = "C"\ntier = "A"\nstart = "3/3/R2 / C/c"\n\n[pieces.R]\nbetza = "R"\n'
    )
    write("rooks.toml", text)
    ggn("load", "rooks.toml")
    assert ggn("diff", "rooks.toml").err == "rooks@1 and rooks.toml say the same\n"
    write("rooks.toml", text.replace('betza = "R"', 'betza = "W"'))
    assert ggn("diff", "rooks.toml", "--format", "summary").out == (
        "2 pieces, 24 entries: 48 possibilities removed; definition changed\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("diff", NAME, "./none.json"), "./none.json: there is no such file or directory"),
        (("diff", NAME, "none.json"), 'the store has no ruleset "none.json"; it has game'),
        (("diff", NAME, "many.ndjson"), "many.ndjson: this is not one document: compare one at a time"),
        (("diff", NAME, "wrong.json"), "wrong.json"),
        (("diff", f"{NAME}@1", f"{NAME}@2", "--piece", "C:Q"),
         'neither side has rules for the piece "C:Q"; there is C:P, C:R'),
        (("blame", NAME, "--piece", "C:Q"), 'game@4 has no rules for the piece "C:Q"; it has C:P'),
        (("blame", NAME, "--source", "h8"), 'game@4 has no rules from "h8"'),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_or_blamed_is_told(
    ggn: Command, story: Store, arguments: tuple[str, ...], message: str
) -> None:
    lines = [json.dumps({"name": name, "document": ONE}) for name in ("one", "two")]
    write("many.ndjson", "\n".join(lines))
    write("wrong.json", "[]")
    result = ggn(*arguments)
    assert (result.code, result.out) == (1, "")
    assert message in result.err


def test_diff_has_colours_only_on_a_terminal(address: str, story: Store) -> None:
    shown = on_terminal("--db", address, "diff", f"{NAME}@2").out
    assert "\x1b[32m+       must a1=enemy\x1b[0m\n" in shown
    assert "\x1b[31m-       must a1=empty\x1b[0m\n" in shown
    assert "\x1b" not in on_terminal("--db", address, "diff", f"{NAME}@2", NO_COLOR="1").out


def test_documents_are_compared_in_python_too(story: Store) -> None:
    one, two = (parse(json.dumps(content)) for content in (ONE, TWO))
    assert str(story.history.diff(one, two)) == "1 piece, 1 entry: 1 possibility changed"
    assert not story.history.diff(one, f"{NAME}@1")
    with pytest.raises(InputError, match="a document has no parent"):
        story.history.diff(one)
    with pytest.raises(UnknownNameError):
        story.history.diff(one, two, "C:K")


# --- blame ---


def test_blame_tells_who_last_changed_each_entry(ggn: Command, story: Store) -> None:
    records = ggn("blame", NAME, "--piece", "C:P").records()
    assert [
        (each["piece"], each["source"], each["destination"], each["revision"], each["author"]) for each in records
    ] == [("C:P", "e2", "e3", 3, "author 3"), ("C:P", "e2", "e4", 2, "author 2")]
    assert records[0] == {
        "field": None,
        "piece": "C:P",
        "source": "e2",
        "destination": "e3",
        "revision": 3,
        "author": "author 3",
        "created_at": "2026-01-01T03:00:00Z",
        "message": "message 3",
        "lineage": story.ruleset(f"{NAME}@3").revision.lineage,
    }
    assert json.loads(ggn("blame", NAME, "--piece", "C:P", "--format", "json").out) == records
    assert ggn("blame", NAME, "--destination", "e4").records() == records[1:]
    rows = [line.split() for line in ggn("blame", NAME, "--format", "table").out.splitlines()]
    assert rows[0] == ["revision", "author", "created_at", "piece", "source", "destination"]
    assert [(row[0], row[4:]) for row in rows[2:]] == [
        ("1", ["(dialect)"]),
        ("2", ["(title)"]),
        ("3", ["C:P", "e2", "e3"]),
        ("2", ["C:P", "e2", "e4"]),
    ]
    table = list(csv.DictReader(io.StringIO(ggn("blame", NAME, "--format", "csv").out)))
    assert [(row["field"], row["piece"], row["revision"]) for row in table] == [
        *(("dialect", "", "1"), ("title", "", "2"), ("", "C:P", "3"), ("", "C:P", "2")),
    ]


# --- restore ---


def test_restore_makes_an_old_content_the_newest(ggn: Command, story: Store) -> None:
    done = ggn("restore", f"{NAME}@1", "--author", "Ann")
    assert (done.code, done.out) == (0, "game@5: has the content of game@1 again\n")
    newest = story.ruleset(NAME)
    assert newest.document().data() == parse(json.dumps(ONE)).data()
    assert (newest.revision.author, newest.revision.message, newest.revision.parent) == ("Ann", "restore game@1", 4)
    assert newest.revision.digest == story.ruleset(f"{NAME}@1").revision.digest
    assert ggn("restore", f"{NAME}@1").out == "game@5: unchanged, it has this content already\n"
    assert ggn("restore", f"{NAME}:stable", "-m", "back to stable").code == 0
    assert story.ruleset(NAME).revision.message == "back to stable"
    assert story.ruleset(NAME).revision.envelope.title == "Two"
    assert story.upkeep.check() == []


def test_restore_brings_a_deleted_ruleset_back(ggn: Command, story: Store) -> None:
    assert ggn("restore", NAME).out == "game@4: unchanged, it has this content already\n"
    ggn("delete", NAME)
    refused = ggn("log", NAME)
    assert (refused.code, "`ggn-store restore game`" in refused.err) == (1, True)
    assert ggn("restore", NAME).out == "game@4: brought back\n"
    assert len(ggn("log", NAME).records()) == 4
    ggn("delete", NAME)
    assert ggn("restore", f"{NAME}@9").code == 1  # and it stays hidden
    assert ggn("log", NAME).code == 1
    assert ggn("restore", f"{NAME}@1").out == "game@5: has the content of game@1 again\n"
    assert [each["revision"] for each in ggn("log", NAME).records()] == [5, 4, 3, 2, 1]


def test_restore_reads_no_piece(story: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from ggn_store.store.rulesets import load, pieces

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a piece was read or written")

    monkeypatch.setattr(pieces, "rows_of", refuse)
    monkeypatch.setattr(load, "store_pieces", refuse)
    assert story.history.restore(f"{NAME}@1").number == 5


# --- who makes a change ---


def test_an_author_and_a_message_are_kept_by_every_command_that_writes(ggn: Command, story: Store) -> None:
    write("rooks.ini", "[rooks:chess]\nmaxRank = 8\n")
    write("game.json", TWO)
    for arguments in (("load", "game.json"), ("restore", f"{NAME}@1"), ("import", "rooks.ini")):
        assert ggn(*arguments, "--author", "Ann", "-m", f"by {arguments[0]}").code == 0
    for name, message in ((f"{NAME}@5", "by load"), (f"{NAME}@6", "by restore"), ("rooks", "by import")):
        revision = story.ruleset(name).revision
        assert (revision.author, revision.message) == ("Ann", message)
    wrong = ggn("restore", f"{NAME}@1", "--author", "\ud800")
    assert (wrong.code, wrong.err) == (1, 'Error: the author "\\ud800" has characters that no database can keep\n')
