"""What a shell is offered while a command is being typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.program import QUICK, Program, complete, write


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_completion_script(run: Program, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_GGN_STORE_COMPLETE", f"{shell}_source")
    monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda _: None)
    result = run()
    assert (result.code, result.err) == (0, "")
    assert f"_GGN_STORE_COMPLETE={shell}_complete" in result.out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ggn-store mov", ["plain,moves"]),
        ("ggn-store db ", ["plain,check", "plain,info", "plain,rebuild", "plain,roles", "plain,upgrade"]),
        ("ggn-store schema ", ["plain,perform", "plain,must-deny", "plain,diff", "plain,gdl"]),
        ("ggn-store load --dialect m", ["plain,must-deny"]),
        ("ggn-store load --on-error ", ["plain,stop", "plain,skip"]),
        ("ggn-store moves x --format t", ["plain,table"]),
        ("ggn-store load --mess", ["plain,--message"]),
        ("ggn-store load ga", ["file,ga"]),
        ("ggn-store load --library xi", ["plain,xiangqi", "plain,xiangqihouse"]),
        ("ggn-store load --library gd", ["plain,gdl"]),
        ("ggn-store load --library jung", ["plain,jungle"]),
        ("ggn-store load --library gdl/jung", ["plain,gdl/jungle"]),
        ("ggn-store load --library tai", ["plain,tai-shogi"]),
        ("ggn-store load chess --library makr", ["plain,makruk"]),
        ("ggn-store generate xi", ["plain,xiangqi", "plain,xiangqihouse", "file,xi"]),
        ("ggn-store --limit document-b", ["plain,document-bytes="]),
        ("ggn-store guide lim", ["plain,limits"]),
        ("ggn-store find --with hop", ["plain,hoppers"]),
        ("ggn-store find --with hoppers --without mandatory_", ["plain,mandatory_capture", "plain,mandatory_drop"]),
        ("ggn-store validate ga", ["file,ga"]),
        ("ggn-store convert ga", ["file,ga"]),
    ],
)
def test_commands_options_dialects_and_files_are_completed(
    run: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str, offered: list[str]
) -> None:
    assert complete(run, monkeypatch, words) == offered
    assert not (tmp_path / "home").exists()


def test_rulesets_are_completed_from_the_store_that_is_meant(
    run: Program, monkeypatch: pytest.MonkeyPatch, library: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("GGN_STORE_URL", library)
    for command in ("moves", "apply", "show", "export", "delete"):
        assert complete(run, monkeypatch, f"ggn-store {command} m") == ["plain,mini", "plain,must"]
    assert complete(run, monkeypatch, "ggn-store show x") == []
    run("--db", "other.db", "load", "-", "--name", "mine", stdin=json.dumps(QUICK))
    assert complete(run, monkeypatch, "ggn-store --db other.db show m") == ["plain,mine"]
    assert complete(run, monkeypatch, f"ggn-store --db sqlite:///{Path('other.db').absolute()} show m") == [
        "plain,mine"
    ]
    run("--db", "other.db", "delete", "mine")
    assert complete(run, monkeypatch, "ggn-store --db other.db show m") == []


@pytest.mark.parametrize(
    "address", ["", "new.db", "sqlite:////no/such/directory/x.db", "not-a-store.txt", "mysql://x/y", "postgresql://@:0"]
)
def test_completing_never_complains_and_never_makes_a_store(
    run: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    write("not-a-store.txt", "text")
    monkeypatch.setenv("GGN_STORE_URL", address)
    assert complete(run, monkeypatch, "ggn-store moves c") == []
    assert [path.name for path in Path().iterdir()] == ["not-a-store.txt"]
    assert not (tmp_path / "home").exists()
