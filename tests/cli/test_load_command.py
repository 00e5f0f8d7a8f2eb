"""The command `load`: files, directories, streams and the library, on both databases."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from ggn_store import parse
from ggn_store.games import library
from tests.support.program import (
    MINI,
    MINI_START,
    MINI_TOML,
    MUST,
    PERFORM,
    QUICK,
    QUICKER,
    Command,
    Program,
    Result,
    line,
    names,
    write,
)

RATE = r"[\d,]+ possibilit(y|ies) in [\d.]+ s \([\d,]+/s\)"


def test_a_file_is_loaded_under_its_own_name(ggn: Command) -> None:
    write("quick.json", QUICK)
    result = ggn("load", "quick.json")
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(rf"quick@1: loaded, {RATE}\n", result.out)
    assert ggn("export", "quick").out == parse(QUICK).canonical()


def test_identical_content_is_unchanged_and_changed_content_is_the_next_revision(ggn: Command) -> None:
    write("quick.json", QUICK)
    ggn("load", "quick.json")
    assert ggn("load", "quick.json") == Result(0, "quick@1: unchanged, nothing to store\n", "")
    write("quick.json", QUICKER)
    assert ggn("load", "quick.json").out.startswith("quick@2: loaded, ")
    assert ggn("export", "quick@1").out == parse(QUICK).canonical()
    assert ggn("export", "quick").out == ggn("export", "quick@2").out == parse(QUICKER).canonical()


def test_several_files_end_in_one_summary_line(ggn: Command) -> None:
    result = ggn("load", write("quick.json", QUICK), write("must.json", MUST), write("perform.json", PERFORM))
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(rf"3 documents: 3 new; {RATE}, [\d.]+ documents/s, [\d,]+ conditions/s\n", result.out)
    assert names(ggn("list")) == ["must", "perform", "quick"]


def test_a_directory_names_its_documents_by_their_paths(ggn: Command) -> None:
    write("games/chess/quick.json", QUICK)
    write("games/quick.json", QUICKER)
    write("games/deep/er/must.json", MUST)
    write("games/.hidden/no.json", "not even JSON")
    write("games/readme.txt", "not a document")
    assert ggn("load", "games").out.startswith("3 documents: 3 new; ")
    assert names(ggn("list")) == ["chess/quick", "deep/er/must", "quick"]


def test_a_pattern_names_its_documents_by_their_files(ggn: Command) -> None:
    write("games/one.json", QUICK)
    write("games/two.json", QUICKER)
    write("games/other.txt", "not a document")
    write("games/deep/three.json", MUST)
    assert ggn("load", "games/*").out.startswith("2 documents: 2 new; ")
    assert ggn("load", "games/**/t*.json").out.startswith("2 documents: 1 new, 1 unchanged; ")
    assert names(ggn("list")) == ["one", "three", "two"]


def test_a_document_comes_from_standard_input_with_a_name(ggn: Command) -> None:
    assert ggn("load", "-", "--name", "from/stdin", stdin=json.dumps(QUICK)).code == 0
    assert ggn("load", "-", "--name", "from/stdin", stdin=json.dumps(QUICK, indent=3)).out.endswith("to store\n")
    assert ggn("export", "from/stdin").out == parse(QUICK).canonical()


def test_name_goes_over_the_name_of_the_file(ggn: Command) -> None:
    assert ggn("load", write("quick.json", QUICK), "--name", "other").out.startswith("other@1: loaded")
    assert names(ggn("list")) == ["other"]


def test_gzip_is_unpacked(ggn: Command) -> None:
    Path("packed.json.gz").write_bytes(gzip.compress(json.dumps(QUICK).encode()))
    Path("more.ndjson.gz").write_bytes(gzip.compress((line("one", QUICK) + line("two", MUST)).encode()))
    assert ggn("load", "packed.json.gz", "more.ndjson.gz").out.startswith("3 documents: 3 new; ")
    assert names(ggn("list")) == ["one", "packed", "two"]


def test_a_stream_holds_a_named_document_a_line(ggn: Command) -> None:
    stream = line("one", QUICK, title="First", start="8/8 / C/c", board="8x4") + "\n" + line("two/deep", MUST)
    write("all.ndjson", stream)
    assert ggn("load", "all.ndjson").out.startswith("2 documents: 2 new; ")
    listed = ggn("list").records()
    assert [(r["name"], r["title"], r["board"]) for r in listed] == [("one", "First", "8x4"), ("two/deep", None, "1x3")]


def test_a_stream_on_standard_input_needs_no_name(ggn: Command) -> None:
    result = ggn("load", "-", stdin=line("one", QUICK) + line("two", MUST))
    assert result.out.startswith("2 documents: 2 new; ")
    assert names(ggn("list")) == ["one", "two"]


def test_a_toml_file_beside_a_document_says_title_source_start_and_board(ggn: Command) -> None:
    write("mini.json", MINI)
    write("mini.toml", MINI_TOML)
    assert ggn("load", "mini.json").code == 0
    shown = json.loads(ggn("show", "mini", "--format", "json").out)
    assert {key: shown[key] for key in ("title", "source", "start", "board")} == {
        "title": "A small game",
        "source": "the tests",
        "start": MINI_START,
        "board": "3x3",
    }
    write("mini.toml", MINI_TOML.replace("small", "tiny"))
    assert ggn("load", "mini.json").out.startswith("mini@2: loaded"), "what is said beside it belongs to its content"


def test_message_and_author_are_kept_with_the_revision(ggn: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGN_AUTHOR", "An Author")
    ggn("load", write("quick.json", QUICK), "--message", "for the tests: 'quoted' — ☃")
    shown = ggn("show", "quick")
    assert "message       for the tests: 'quoted' — ☃\n" in shown.out
    assert "author        An Author\n" in shown.out


@pytest.mark.parametrize("dialect", ["perform", "must-deny", "diff"])
def test_the_dialect_can_be_forced_where_it_is_the_right_one(ggn: Command, dialect: str) -> None:
    document = {"perform": PERFORM, "must-deny": MUST, "diff": QUICK}[dialect]
    path = write("game.json", document)
    assert ggn("load", path, "--dialect", dialect).code == 0
    assert ggn("list").records()[0]["dialect"] == dialect
    other = "diff" if dialect == "must-deny" else "must-deny"
    refused = ggn("load", path, "--dialect", other)
    assert refused.code == 1
    assert "game.json:1:" in refused.err


@pytest.mark.parametrize(
    ("policy", "loaded", "summary"),
    [
        ("stop", ["a"], "2 documents: 1 new, 1 failed; "),
        ("skip", ["a", "c"], "3 documents: 2 new, 1 failed; "),
    ],
)
def test_after_a_broken_document_a_load_stops_or_goes_on(
    ggn: Command, policy: str, loaded: list[str], summary: str
) -> None:
    write("games/a.json", QUICK)
    write("games/b.json", "{")
    write("games/c.json", MUST)
    result = ggn("load", "games", "--on-error", policy)
    assert result.code == 1
    assert result.out.startswith(summary)
    assert result.out.count("\n") == 1
    assert result.err.startswith("games/b.json: not loaded\n  games/b.json:1:2: ")
    assert ("--on-error skip" in result.err) == (policy == "stop")
    assert names(ggn("list")) == loaded


def test_stopping_is_the_default_and_says_what_became_of_the_rest(ggn: Command) -> None:
    write("games/a.json", "{")
    write("games/b.json", QUICK)
    result = ggn("load", "games")
    assert (result.code, result.out) == (1, "1 document: 1 failed; nothing is loaded\n")
    assert result.err.endswith("stopped there; nothing is loaded (--on-error skip goes on)\n")
    alone = ggn("load", "games/a.json")
    assert "stopped" not in alone.err


def test_the_same_file_twice_is_one_file(ggn: Command) -> None:
    write("quick.json", QUICK)
    assert ggn("load", "quick.json", "quick.json", "quick*.json").out.startswith("quick@1: loaded")


def test_the_library_is_loaded_by_name_or_a_few_of_its_games(
    run: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "STARTER", ("chess", "dobutsu", "tic-tac-toe"))  # the others take longer
    address = f"sqlite:///{tmp_path / 'library.db'}"
    assert run("--db", address, "load", "--library", "chess").out.startswith("chess@1: loaded, 15,292 ")
    few = run("--db", address, "load", "--library")
    assert (few.code, few.err) == (0, "")
    assert re.match(r"\d+ documents: (1 unchanged, \d+ new|\d+ new, 1 unchanged); ", few.out)
    assert names(run("--db", address, "list")) == sorted(library.STARTER)
    examples = run("--db", address, "load", "--library", "examples")
    assert (examples.code, examples.err) == (0, "")
    assert re.match("31 documents: 31 new; ", examples.out)
    found = names(run("--db", address, "list"))
    assert {"examples/diff-quick-start", "examples/must-deny-castling", "examples/perform-capture"} <= set(found)


def test_a_new_sqlite_file_is_made_ready_by_its_first_load(run: Program) -> None:
    write("quick.json", QUICK)
    assert run("--db", "new.db", "load", "quick.json").code == 0
    assert names(run("--db", "sqlite:///new.db", "list")) == ["quick"]
