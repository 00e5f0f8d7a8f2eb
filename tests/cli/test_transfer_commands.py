"""`push`, `pull` and `bundle` on the command line."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ggn_store import Store
from tests.support.exchanged import BOTH, game, tag
from tests.support.program import Command, Program, child_environment, on_terminal, write

KNIGHT, ROOK = game(**BOTH, N="b1c3", R="a1a4"), game(**BOTH, N="b1c3", R="a1a5")
OTHER = game(**BOTH, N="b1a3", R="a1a4")


@pytest.fixture
def mine() -> Store:
    """A store in a file `mine.db` with two rulesets."""
    with Store.open("mine.db") as store:
        store.load(KNIGHT, "knights")
        store.load(ROOK, "rooks")
        return store


def test_push_and_pull_say_what_travelled_line_by_line(mine: Store, run: Program, address: str) -> None:
    result = run("--db", "mine.db", "push", "--remote", address, "knights")
    assert (result.code, result.out, result.err) == (
        0,
        "knights: 1 revision, 4 of 4 pieces sent, head knights@1\n",
        "",
    )
    assert run("--db", "mine.db", "push", "--remote", address, "--all").out == (
        "knights: up to date, head knights@1\nrooks: 1 revision, 1 of 4 pieces sent, head rooks@1\n"
    )
    with Store.open(address) as theirs:
        theirs.load(OTHER, "knights")
        theirs.load(ROOK, "knights")
    assert run("--db", "mine.db", "pull", "--remote", address, "knights").out == (
        "knights: 2 revisions, 1 of 6 pieces received, head knights@3\n"
    )
    result = run("--db", "mine.db", "push", "knights", "--remote", address, "--as", "team/knights")
    assert result.out == "knights as team/knights: 3 revisions, 0 of 6 pieces sent, head team/knights@3\n"


def test_the_remote_may_be_named_by_the_environment(
    mine: Store, run: Program, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mine.list()
    result = run("--db", "mine.db", "push", "knights")
    assert (result.code, "name the other store with --remote (or $GGN_STORE_REMOTE)" in result.err) == (2, True)
    monkeypatch.setenv("GGN_STORE_REMOTE", address)
    assert run("--db", "mine.db", "push", "knights").code == 0
    assert run("--db", "new.db", "pull", "knights").out.startswith("knights: 1 revision, 4 of 4 pieces received")


@pytest.mark.parametrize("command", ["push", "pull"])
def test_rulesets_are_named_or_all_are_meant(run: Program, command: str) -> None:
    for arguments, said in (((), "name rulesets, or give --all"), (("a", "--all"), "--all goes without names")):
        result = run("--db", "mine.db", command, "--remote", "other.db", *arguments)
        assert (result.code, said in result.err) == (2, True)
    assert not Path("mine.db").exists()


def test_a_conflict_ends_with_3_and_lists_what_both_sides_changed(mine: Store, run: Program, address: str) -> None:
    with Store.open(address) as theirs:
        mine.exchange.push(theirs)
        mine.load(OTHER, "knights")
        theirs.load(game(**BOTH, N="b1c3", R="a1a6"), "knights")
        tag(mine, "rooks", "stable", 1)
    for command in ("push", "pull"):
        result = run("--db", "mine.db", command, "--remote", address, "--all", "--tags")
        moved = "rooks: up to date, head rooks@1" + (", tag stable\n" if command == "push" else "\n")
        assert (result.code, result.out) == (3, moved)
        place = "there" if command == "push" else "here"
        assert f"knights has moved on: the history {place}, whose newest revision is knights@2" in result.err
        assert "have gone apart since knights@1; nothing was stored: --merge makes one of both" in result.err
        lines = [line.strip() for line in result.err.splitlines()]
        ours, theirs_at = (
            next(i for i, line in enumerate(lines) if line.startswith(f"{side}:")) for side in ("ours", "theirs")
        )
        assert any("C:N" in line for line in lines[ours:theirs_at])
        assert any("C:R" in line for line in lines[theirs_at:])
        assert "no conflicts" in lines
    [record] = run("--db", "mine.db", "push", "--remote", address, "knights", "--format", "ndjson").records()
    assert (record["status"], record["merge"]["conflicts"]) == ("failed", [])
    assert [each["piece"] for each in record["merge"]["theirs"]["pieces"]] == ["C:R"]
    result = run(
        "--db", "mine.db", "push", "--remote", address, "knights", "--merge", "--author", "Ann", "--message", "m"
    )
    assert result.out == "knights: 2 revisions (the last one a merge), 1 of 4 pieces sent, head knights@4\n"
    with Store.open(address) as theirs:
        made = theirs.ruleset("knights").revision
        assert (made.author, made.message) == ("Ann", "m")
        assert theirs.upkeep.check() == []


def test_a_conflict_advises_only_what_can_still_be_given(mine: Store, run: Program, address: str) -> None:
    with Store.open(address) as theirs:
        mine.exchange.push(theirs)
        for store, square in ((mine, "a1"), (theirs, "h8")):
            store.load(KNIGHT | {"C:N": {"b1": {"c3": [{"must": {square: "empty"}, "diff": {}}]}}}, "knights")
        mine.exchange.create_bundle("bundle", "knights")
    wrong = "knights: 1 conflict between the two histories; nothing was stored: --ours or --theirs decides it"
    merge = ("push", "knights", "--remote", address, "--merge")
    assert run("--db", "mine.db", *merge).err.splitlines()[0] == (
        f"{wrong}, --conflicts FILE writes it to a file, to be edited"
    )
    assert run("--db", "mine.db", *merge, "--conflicts", "file").err.splitlines()[:2] == [
        wrong,
        "edit file, and then run `ggn-store resolve file`",
    ]
    assert run("--db", address, "bundle", "load", "bundle", "--merge").err.splitlines()[0] == wrong


def test_a_ruleset_that_fails_does_not_keep_the_others_and_is_told(mine: Store, run: Program, address: str) -> None:
    assert mine.list()
    result = run("--db", "mine.db", "push", "--remote", address, "none", "rooks")
    assert (result.code, result.out) == (1, "rooks: 1 revision, 4 of 4 pieces sent, head rooks@1\n")
    assert result.err.startswith("none: sqlite:///mine.db: the store has no ruleset")
    result = run("--db", "mine.db", "push", "--remote", "mine.db", "rooks")
    assert (result.code, "this is one store, with itself as the remote" in result.err) == (1, True)


def test_results_come_as_records(mine: Store, run: Program, address: str) -> None:
    lineage = mine.ruleset("rooks").revision.lineage
    asked = ("--db", "mine.db", "push", "--remote", address, "rooks")
    expected = {
        "name": "rooks",
        "to": "rooks",
        "status": "new",
        "revisions": 1,
        "pieces": 4,
        "pieces_listed": 4,
        "head": 1,
        "lineage": lineage,
        "tags": [],
    }
    assert json.loads(run(*asked, "--dry-run", "--format", "json").out) == [expected]
    assert run(*asked, "--format", "ndjson").records() == [expected]
    assert run(*asked, "--format", "csv").out == (
        "name,to,status,revisions,pieces,pieces_listed,head,error\nrooks,rooks,unchanged,0,0,0,1,\n"
    )
    assert run(*asked, "--format", "table").out.splitlines()[2].split() == ["rooks", "rooks", "unchanged", *"0001"]


def test_a_bundle_is_made_checked_and_loaded(mine: Store, run: Program, ggn: Command) -> None:
    tag(mine, "rooks", "stable", 1)
    mine.load(OTHER, "rooks")
    result = run("--db", "mine.db", "bundle", "create", "all.gz", "--all")
    assert (result.code, result.out) == (0, "all.gz: 2 rulesets, 3 revisions, 6 pieces, 1 board, 1 tag\n")
    heads = {name: mine.ruleset(name).revision.lineage[:12] for name in ("knights", "rooks")}
    result = run("bundle", "verify", "all.gz")
    assert (result.code, result.out) == (
        0,
        f"knights: 1 revision, head sha256:{heads['knights']}\n"
        f"rooks: 2 revisions, head sha256:{heads['rooks']}, tag stable\n",
    )
    assert result.err.endswith("1 tag; all sound\n")
    assert json.loads(run("bundle", "verify", "all.gz", "--format", "json").out)["pieces"] == 6
    assert ggn("bundle", "load", "all.gz", "rooks", "--tags").out == (
        "rooks: 2 revisions, 6 of 6 pieces taken, head rooks@2, tag stable\n"
    )
    assert ggn("bundle", "load", "all.gz").out == (
        "knights: 1 revision, 0 of 4 pieces taken, head knights@1\nrooks: up to date, head rooks@2\n"
    )
    assert ggn("db", "check").code == 0
    result = run("--db", "mine.db", "bundle", "create", "since.gz", "rooks", "--since", "1")
    assert result.out == "since.gz: 1 ruleset, 1 revision, 2 pieces, 1 board, 1 tag\n"
    assert ", goes on from sha256:" in run("bundle", "verify", "since.gz").out


def test_a_bundle_that_is_wrong_is_one_message_with_its_line(mine: Store, run: Program, ggn: Command) -> None:
    mine.exchange.create_bundle("all.gz")
    data = gzip.decompress(Path("all.gz").read_bytes()).replace(b'"c3":"empty"', b'"c3":"enemy"')
    Path("bad.gz").write_bytes(gzip.compress(data))
    for command in (("bundle", "verify", "bad.gz"), ("bundle", "load", "bad.gz")):
        result = ggn(*command)
        assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)
        assert "Error: bad.gz: line " in result.err
        assert "the piece C:N: its rules do not give its digest" in result.err
    write("document.json", KNIGHT)
    assert run("bundle", "verify", "document.json").err == (
        "Error: document.json: line 1: this is not a bundle of ggn-store\n"
    )
    assert ggn("list").out == ""


def test_a_bundle_goes_through_a_pipe(mine: Store, address: str) -> None:
    assert mine.list()
    program = [sys.executable, "-m", "ggn_store"]
    made = subprocess.run(
        [*program, "--db", "mine.db", "bundle", "create", "-", "--all"],
        env=child_environment(),
        capture_output=True,
        check=True,
    )
    assert made.stderr.decode() == "-: 2 rulesets, 2 revisions, 5 pieces, 1 board, 0 tags\n"
    loaded = subprocess.run(
        [*program, "--db", address, "bundle", "load", "-"],
        env=child_environment(),
        input=made.stdout,
        capture_output=True,
        check=True,
    )
    assert loaded.stdout.decode().splitlines()[1] == "rooks: 1 revision, 1 of 4 pieces taken, head rooks@1"
    with Store.open(address) as store:
        assert store.upkeep.check() == []


def test_a_bundle_is_not_written_to_a_terminal(mine: Store) -> None:
    assert mine.list()
    result = on_terminal("--db", "mine.db", "bundle", "create", "-", "--all")
    assert (result.code, "a bundle is not text" in result.out) == (2, True)


def test_a_terminal_sees_a_bar_that_is_gone_in_the_end(mine: Store, address: str) -> None:
    assert mine.list()
    result = on_terminal("--db", "mine.db", "push", "--remote", address, "--all")
    assert result.code == 0
    assert "5/5" in result.out
    assert "rooks: 1 revision, 1 of 4 pieces sent, head rooks@1" in result.out
