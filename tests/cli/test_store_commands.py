"""The commands that tell of a store and its rulesets: `list`, `show`, `export`, `delete` and `db`."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest
from sqlalchemy import text

from ggn_store import parse
from ggn_store.store.database.address import connect
from tests.support.guards import drop_guards
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
    names,
    write,
)

pytestmark = pytest.mark.both

# --- list, show, export, delete ---


def test_what_is_exported_into_a_file_is_loaded_as_it_was(ggn: Command) -> None:
    write("quick.json", QUICK)
    Path("quick.toml").write_text('title = "Qu\\"ick\\u007f \\\\ ü"\nboard = "8x8"\n', encoding="utf-8")
    ggn("load", "quick.json")
    Path("out").mkdir()
    exported = ggn("export", "quick", "-o", "out/quick.json")
    assert exported == Result(0, "", "what the document cannot say of itself is in out/quick.toml\n")
    assert ggn("load", "out/quick.json").out == "quick@1: unchanged, nothing to store\n"
    assert ggn("export", "quick", "-o", "out/quick.json") == Result(0, "", "")
    Path("out/quick.toml").write_text('title = "Mine"\n')
    again = ggn("export", "quick", "-o", "out/quick.json")
    assert again == Result(0, "", "out/quick.toml is there already, says otherwise, and was left as it is\n")
    assert Path("out/quick.toml").read_text() == 'title = "Mine"\n'
    ggn("export", "quick", "-o", "out/other.txt")
    assert sorted(path.name for path in Path("out").iterdir()) == ["other.txt", "quick.json", "quick.toml"]


def test_what_is_exported_into_a_packed_file_is_loaded_as_it_was(ggn: Command) -> None:
    write("quick.json", QUICK)
    Path("quick.toml").write_text('title = "Quick"\nboard = "8x8"\n', encoding="utf-8")
    ggn("load", "quick.json")
    Path("out").mkdir()
    exported = ggn("export", "quick", "-o", "out/quick.json.gz")
    assert exported == Result(0, "", "what the document cannot say of itself is in out/quick.toml\n")
    packed = Path("out/quick.json.gz").read_bytes()
    assert gzip.decompress(packed).decode() == ggn("export", "quick").out
    assert ggn("load", "out/quick.json.gz").out == "quick@1: unchanged, nothing to store\n"
    ggn("convert", "quick.json", "--to", "diff", "-o", "out/again.json.gz")
    assert Path("out/again.json.gz").read_bytes() == packed


@pytest.mark.parametrize("words", ["export quick", "convert quick.json --to diff", "generate tic-tac-toe"])
def test_a_document_is_no_file_of_lines(ggn: Command, words: str) -> None:
    ggn("load", write("quick.json", QUICK))
    refused = ggn(*words.split(), "-o", "quick.jsonl.gz")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.endswith("quick.jsonl.gz: each line of such a file is a document: end its name in .json\n")
    assert not Path("quick.jsonl.gz").exists()


def test_list_gives_each_ruleset_in_its_newest_revision(ggn: Command) -> None:
    ggn("load", write("quick.json", QUICK))
    ggn("load", write("quick.json", QUICKER))
    write("mini.toml", MINI_TOML)
    ggn("load", write("mini.json", MINI))
    mini, quick = ggn("list").records()
    assert (mini["name"], mini["revision"], mini["title"]) == ("mini", 1, "A small game")
    assert (quick["name"], quick["revision"], quick["possibilities"], quick["conditions"]) == ("quick", 2, 1, 0)
    assert json.loads(ggn("list", "--format", "json").out) == [mini, quick]
    assert ggn("list", "--format", "ndjson").records() == [mini, quick]


def test_list_as_csv_and_as_a_table_has_the_chief_columns(ask: Command) -> None:
    columns = ["name", "revision", "dialect", "board", "pieces", "possibilities", "title"]
    rows = list(csv.reader(io.StringIO(ask("list", "--format", "csv").out)))
    assert rows[0] == [*columns[:2], "state", *columns[2:]]
    assert rows[1] == ["chess", "1", "active", "diff", "8x8", "18", "15292", "Chess"]
    assert rows[2] == ["mini", "1", "active", "diff", "3x3", "2", "5", "A small game"]
    table = ask("list", "--format", "table").out.splitlines()
    assert table[0].split() == columns
    assert table[2].split() == [cell for cell in rows[1] if cell != "active"]
    assert len(table) == 2 + 4


def test_a_list_comes_in_pages(ask: Command) -> None:
    every = [row["name"] for row in ask("list").records()]
    assert len(every) > 2
    seen: list[str] = []
    while True:
        page = ask("list", "-n", "2", *(["--after", seen[-1]] if seen else []))
        names = [row["name"] for row in page.records()]
        assert page.err == (f"there may be more: `--after {names[-1]}` lists what follows\n" if len(names) == 2 else "")
        seen += names
        if len(names) < 2:
            break
    assert seen == every
    some = [name for name in every if name.startswith("m")]
    assert [row["name"] for row in ask("list", "m*", "-n", "1", "--after", some[0]).records()] == some[1:2]
    none = ask("list", "--after", "zzz", "--format", "table")
    assert (none.code, none.out, none.err) == (0, "", "no ruleset comes after zzz\n")
    refused = ask("list", "--library", "-n", "2")
    assert refused.code == 2
    assert "--limit and --after are of the store" in refused.err


def test_an_empty_store_lists_nothing_and_says_how_to_fill_it(ggn: Command) -> None:
    assert ggn("list") == Result(0, "", "")
    assert ggn("list", "--format", "json") == Result(0, "[]\n", "")
    hint = ggn("list", "--format", "table")
    assert (hint.code, hint.out) == (0, "")
    assert "ggn-store load --library" in hint.err


def test_show_tells_of_a_ruleset_and_its_pieces(ask: Command) -> None:
    result = ask("show", "mini")
    assert (result.code, result.err) == (0, "")
    for expected in ("name          mini", "dialect       diff", "board         3x3", f"start         {MINI_START}"):
        assert f"{expected}\n" in result.out
    assert result.out.splitlines()[-2:] == [
        "C:P    first         2             3              4           4",
        "c:p    second        1             1              1           1",
    ]
    shown = json.loads(ask("show", "mini@1", "--format", "json").out)
    assert [(piece["piece"], piece["possibilities"]) for piece in shown["pieces"]] == [("C:P", 4), ("c:p", 1)]
    assert (shown["name"], shown["revision"], shown["title"]) == ("mini", 1, "A small game")


@pytest.mark.parametrize("name", ["mini", "must", "perform"])
def test_export_gives_the_document_back_in_canonical_form(ask: Command, name: str) -> None:
    document = {"mini": MINI, "must": MUST, "perform": PERFORM}[name]
    assert ask("export", name) == Result(0, parse(document).canonical(), "")
    exported = ask("export", f"{name}@1", "-o", "out.json")
    assert (exported.code, exported.out) == (0, "")
    assert Path("out.json").read_text(encoding="utf-8") == parse(document).canonical()
    assert ask("export", name, "--output", "-").out == parse(document).canonical()
    assert sorted(path.name for path in Path().iterdir()) == ["out.json", *(["out.toml"] if name == "mini" else [])]


def test_delete_hides_a_ruleset_until_it_is_loaded_again(ggn: Command) -> None:
    ggn("load", write("quick.json", QUICK))
    ggn("load", write("must.json", MUST))
    deleted = ggn("delete", "quick")
    assert (deleted.code, deleted.err) == (0, "")
    assert deleted.out.startswith("quick is hidden; its revision is kept")
    assert names(ggn("list")) == ["must"]
    assert ggn("show", "quick").code == 1
    assert ggn("load", "quick.json").out.startswith("quick@1: brought back, ")
    ggn("load", write("quick.json", QUICKER))
    assert "its 2 revisions are kept" in ggn("delete", "quick").out
    assert ggn("load", "quick.json").out.startswith("quick@2: brought back")


# --- db ---


def test_upgrade_makes_a_store_ready_and_may_be_run_again(run: Program, empty: str) -> None:
    first = run("--db", empty, "db", "upgrade")
    assert (first.code, first.err) == (0, "")
    assert re.fullmatch(r"the store is ready: version \d{4}\n", first.out)
    again = run("--db", empty, "db", "upgrade")
    assert re.fullmatch(r"the store is up to date: version \d{4}\n", again.out)
    assert run("--db", empty, "list") == Result(0, "", "")


def test_info_shows_the_store_before_and_after_it_is_ready(run: Program, empty: str) -> None:
    before = run("--db", empty, "db", "info")
    assert (before.code, before.err) == (0, "")
    assert "not made ready yet" in before.out
    run("--db", empty, "db", "upgrade")
    run("--db", empty, "load", write("quick.json", QUICK))
    after = run("--db", empty, "db", "info")
    engine = "PostgreSQL" if empty.startswith("postgresql") else "SQLite"
    assert re.search(rf"^engine +{engine} \d+\.", after.out, re.MULTILINE)
    assert re.search(r"^rulesets +1$", after.out, re.MULTILINE)
    data = json.loads(run("--db", empty, "db", "info", "--format", "json").out)
    assert (data["version"], data["rulesets"]) == (data["needed"], 1)
    assert data["address"].startswith("postgresql://" if engine == "PostgreSQL" else "sqlite:///")


def test_info_does_not_make_the_store_that_it_looks_for(run: Program) -> None:
    assert run("--db", "new.db", "db", "info").code == 0
    assert not Path("new.db").exists()


def test_check_passes_a_sound_store_and_names_what_differs(ggn: Command, address: str) -> None:
    ggn("load", write("mini.json", MINI))
    assert ggn("db", "check") == Result(0, "", "2 pieces, 1 revision and 0 tags checked: all sound\n")
    assert ggn("db", "rebuild") == Result(0, "2 pieces rebuilt\n", "")
    database = connect(address)
    with database.writing() as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE effect SET becomes = 'C:R' WHERE becomes = 'C:Q'"))
    database.close()
    result = ggn("db", "check")
    assert result.code == 1
    assert re.fullmatch(r"piece \d+ \(C:P\): its rows do not give its digest [0-9a-f]{64}\n", result.out)
    assert result.err == "2 pieces, 1 revision and 0 tags checked: 1 difference\n"
