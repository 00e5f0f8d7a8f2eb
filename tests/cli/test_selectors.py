"""Namespaces and globs as arguments of commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ggn_store import Store
from tests.support.databases import DATABASES, new_store_address
from tests.support.program import QUICK, QUICKER, Command, Program, names

# What a LIKE or GLOB of a database would take for the same: other case, and the letter _.
_NAMES = ("team/a", "team/b", "Team/a", "teamXa", "tea_/a", "chess")


@pytest.fixture(scope="module", params=DATABASES)
def several(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store that no test changes, with several namespaces."""
    with new_store_address(request.param, tmp_path_factory.mktemp("several"), request) as url:
        with Store.open(url) as store:
            for name in _NAMES:
                store.load(QUICK, name, author="ann")
            store.load(QUICKER, "team/a", author="ann")
            for name in ("team/a", "Team/a"):
                store.tags.set(name, "stable", author="ann")
            store.states.set("team/b", "deprecated", use="team/a", author="ann")
            store.reviews.propose(QUICKER, "team/b", author="ann")
            store.reviews.propose(QUICKER, "chess", author="ann")
        yield url


@pytest.fixture
def ask_several(run: Program, several: str) -> Command:
    return lambda *arguments, stdin=b"": run("--db", several, *arguments, stdin=stdin)


@pytest.mark.parametrize(
    ("selectors", "meant"),
    [
        (["team/"], ["team/a", "team/b"]),
        (["*/a"], ["Team/a", "tea_/a", "team/a"]),
        (["tea_/"], ["tea_/a"]),
        (["chess", "team/b"], ["chess", "team/b"]),
        (["*"], ["chess", "teamXa"]),
    ],
)
def test_each_command_of_several_rulesets_takes_the_same_selectors(
    ask_several: Command, run: Program, several: str, tmp_path: Path, selectors: list[str], meant: list[str]
) -> None:
    assert sorted(names(ask_several("list", *selectors))) == meant
    assert {each["name"] for each in ask_several("log", *selectors).records()} == {*meant}
    assert sorted(each["ruleset"] for each in ask_several("stats", *selectors).records()) == meant
    count = len(meant) + ("team/a" in meant)
    assert f" {count} revision" in ask_several("verify", *selectors).err
    there = str(tmp_path / "there.db")
    Store.open(there).close()
    assert ask_several("push", *selectors, "--remote", there).code == 0
    assert run("--db", str(tmp_path / "pulled.db"), "pull", *selectors, "--remote", several).code == 0
    assert sorted(names(run("--db", str(tmp_path / "pulled.db"), "list"))) == meant
    assert sorted(names(run("--db", there, "list"))) == meant
    compared = ask_several("verify", "--remote", there, *selectors)
    assert [(each["name"], each["state"]) for each in compared.records()] == [(name, "equal") for name in sorted(meant)]
    file = str(tmp_path / "some.ggnb.gz")
    assert ask_several("bundle", "create", file, *selectors).code == 0
    assert sorted(names(run("--db", str(tmp_path / "b.db"), "bundle", "load", file, "--format", "ndjson"))) == meant
    assert ask_several("export", "--format", "csv", str(tmp_path / "csv"), "--ruleset", selectors[0]).code == 0


def test_logs_of_a_namespace_are_told_together_by_time(ask_several: Command) -> None:
    told = [(each["name"], each["revision"]) for each in ask_several("log", "**").records()]
    assert told == [("team/a", 2), *((name, 1) for name in reversed(_NAMES))]
    assert [each["name"] for each in ask_several("log", "**", "-n", "2").records()] == ["team/a", "chess"]
    assert ask_several("log", "team/", "--oneline").out.startswith("name")
    assert not ask_several("log", "team/a", "--oneline").out.startswith("name")


def test_tags_states_and_proposals_of_a_namespace_are_listed(ask_several: Command) -> None:
    assert [(each["ruleset"], each["tag"]) for each in ask_several("tag", "team/").records()] == [("team/a", "stable")]
    assert [each["ruleset"] for each in ask_several("tag", "--log", "*/a", "stable").records()] == ["Team/a", "team/a"]
    states = ask_several("state", "team/").records()
    assert [(each["name"], each["state"]) for each in states] == [("team/a", "active"), ("team/b", "deprecated")]
    assert [each["proposal"] for each in ask_several("proposals", "team/").records()] == ["team/b#1"]
    assert len(ask_several("proposals", "chess", "team/").records()) == 2
    assert [each["subject"] for each in ask_several("audit", "tea_/").records()] == ["tea_/a"]
    assert {each["subject"] for each in ask_several("audit", "*/a").records()} == {"team/a", "Team/a", "tea_/a"}
    assert [each["action"] for each in ask_several("audit", "team/", "--limit", "2").records()] == ["state", "propose"]
    watched = ask_several("watch", "tea?/", "--since", "0", "--timeout", "0.1", "--only", "revision").records()
    assert {each["subject"] for each in watched} == {"team/a", "team/b", "tea_/a"}


@pytest.mark.parametrize(
    "command",
    [
        ["list", "tema/"],
        ["log", "tema/"],
        ["tag", "tema/"],
        ["state", "tema/"],
        ["stats", "tema/"],
        ["verify", "tema/"],
        ["proposals", "tema/"],
        ["bundle", "create", "x.ggnb", "tema/"],
        ["export", "--format", "csv", "out", "--ruleset", "tema/"],
        ["log", "chess", "tema/"],
    ],
)
def test_what_matches_nothing_is_an_error_that_names_near_ones(ask_several: Command, command: list[str]) -> None:
    result = ask_several(*command)
    assert (result.code, result.out) == (1, "")
    assert 'has no ruleset that matches "tema/": ' in result.err
    assert result.err.count("\n") == 1
    assert not any(Path().iterdir())


def test_a_pull_of_what_the_other_store_lacks_names_that_store(run: Program, several: str) -> None:
    with Store.open("mine.db") as mine:
        mine.load(QUICK, "new/a")
    result = run("--db", "mine.db", "pull", "new/", "--remote", several)
    assert (result.code, result.out) == (1, "")
    assert 'has no ruleset that matches "new/"' in result.err


@pytest.mark.parametrize(
    "command",
    [
        ["show", "team/"],
        ["moves", "team/"],
        ["delete", "team/"],
        ["restore", "team/"],
        ["blame", "team/"],
        ["diff", "team/"],
        ["draw", "team/"],
        ["tag", "team/", "stable"],
        ["state", "team/", "retired"],
        ["state", "chess", "retired", "--use", "team/"],
        ["tag", "team/", "stable", "--delete"],
    ],
)
def test_a_command_of_one_ruleset_names_the_candidates(ask_several: Command, command: list[str]) -> None:
    result = ask_several(*command)
    assert (result.code, result.out) == (1, "")
    assert '"team/" may mean many rulesets, and this takes one: name one of team/a, team/b' in result.err


def test_games_of_the_library_are_listed_by_globs(run: Program) -> None:
    assert {"shogi", "minishogi"} <= {*names(run("list", "--library", "*shogi"))}
    assert "chess" not in names(run("list", "--library", "*shogi"))
