"""What teams do together, from the command line, on a server with roles: each with a login, and stores of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.house import logins
from tests.support.postgres import Server
from tests.support.program import Program, Result, run

__all__ = ["run"]

ROLES = {"ann": "ggn_author", "bob": "ggn_author", "carl": "ggn_author", "eve": "ggn_admin"}
GIRAFFES = """\
# The team's game.
title = "Giraffes"
board = "6x6"
style = "G"
start = "g1k^3/pppppp/6/6/PPPPPP/G1K^3 / G/g"
host = ["history"]

[pieces.K]
betza = "K"        # one step
terminal = true

[pieces.G]
name = "giraffe"
betza = "(1,4)"    # far

[pieces.P]
betza = "mfWcfF"
"""


class Team:
    """The people by their names: each has a store of their own in a file, and a login on the server."""

    def __init__(self, run: Program, addresses: dict[str, str], directory: Path) -> None:
        self.run = run
        self.addresses = addresses
        self.directory = directory

    def at_server(self, name: str, *arguments: str | Path) -> Result:
        return self.run("--db", self.addresses[name], *arguments)

    def at_home(self, name: str, *arguments: str | Path) -> Result:
        away = ["--remote", self.addresses[name]] if arguments[0] in ("push", "pull") else []
        return self.run("--db", self.directory / f"{name}.db", *arguments, *away)

    def edited(self, name: str, old: str, new: str, game: str = "team/giraffes") -> Path:
        """The definition in somebody's own store, changed in one place."""
        text = ok(self.at_home(name, "export", game, "--definition")).out
        assert text.count(old) == 1
        path = self.directory / f"{name}.toml"
        path.write_text(text.replace(old, new))
        return path


def ok(result: Result) -> Result:
    assert result.code == 0, result
    return result


@pytest.fixture
def team(postgres_server: Server, run: Program, tmp_path: Path) -> Iterator[Team]:
    """Ann has loaded the game and pushed it, and Bob has pulled it."""
    url = postgres_server.create_store()
    with logins(url, ROLES) as addresses:
        team = Team(run, addresses, tmp_path)
        (tmp_path / "giraffes.toml").write_text(GIRAFFES)
        ok(team.at_home("ann", "load", tmp_path / "giraffes.toml", "--name", "team/giraffes", "--author", "Ann"))
        ok(team.at_home("ann", "push", "team/giraffes"))
        ok(team.at_home("bob", "pull", "team/giraffes"))
        yield team
        postgres_server.drop_database(url)


def test_changes_of_different_keys_are_merged_and_a_conflict_is_short(team: Team) -> None:
    ok(team.at_home("ann", "load", team.edited("ann", '"mfWcfF"', '"mfWmfFcfF"'), "--name", "team/giraffes"))
    ok(team.at_home("ann", "push", "team/giraffes"))
    ok(team.at_home("bob", "load", team.edited("bob", '"(1,4)"', '"(1,4)W"'), "--name", "team/giraffes"))
    assert team.at_home("bob", "push", "team/giraffes").code == 3
    ok(team.at_home("bob", "push", "team/giraffes", "--merge", "--author", "Bob"))
    both = GIRAFFES.replace('"mfWcfF"', '"mfWmfFcfF"').replace('"(1,4)"', '"(1,4)W"')
    assert ok(team.at_server("carl", "export", "team/giraffes", "--definition")).out == both
    assert len(ok(team.at_server("carl", "log", "team/giraffes")).records()) == 4

    ok(team.at_home("ann", "load", team.edited("ann", '"(1,4)"', '"(1,4)F"'), "--name", "team/giraffes"))
    refused = team.at_home("ann", "push", "team/giraffes", "--merge")
    assert refused.code == 3
    told = refused.err.splitlines()
    conflict = next(number for number, line in enumerate(told) if "! definition pieces.G.betza" in line)
    assert [line.split() for line in told[conflict + 1 : conflict + 4]] == [
        ["base:", '"(1,4)"'],
        ["ours:", '"(1,4)F"'],
        ["theirs:", '"(1,4)W"'],
    ]
    assert len(told) <= 10


def test_an_old_revision_comes_back_under_review_whole(team: Team) -> None:
    first = shown(team)
    ok(team.at_home("bob", "load", team.edited("bob", '"(1,4)"', '"(1,4)W"'), "--name", "team/giraffes"))
    ok(team.at_home("bob", "push", "team/giraffes"))
    ok(team.at_server("eve", "policy", "set", "team", "--review", "1"))
    assert team.at_server("ann", "restore", "team/giraffes@1").code == 1
    ok(team.at_server("ann", "propose", "team/giraffes@1", "-m", "as it was"))
    assert team.at_server("ann", "approve", "team/giraffes#1").code == 1
    ok(team.at_server("bob", "approve", "team/giraffes#1"))
    assert ok(team.at_server("carl", "export", "team/giraffes", "--definition")).out == GIRAFFES
    assert shown(team) == first


def shown(team: Team) -> dict[str, Any]:
    """What a revision is, wherever in the history it stands."""
    found = json.loads(ok(team.at_server("carl", "show", "team/giraffes", "--format", "json")).out)
    return {key: found[key] for key in ("title", "start", "host", "definition", "digest")}


def test_a_proposal_is_asked_like_a_ruleset(team: Team) -> None:
    ok(team.at_server("bob", "propose", "team/giraffes", team.edited("bob", '"(1,4)"', '"(1,4)W"')))
    for command in ("show", "stats", "log", "draw", "play"):
        ok(team.at_server("carl", command, "team/giraffes#1"))
    told = ok(team.at_server("carl", "diff", "team/giraffes", "team/giraffes#1")).out
    assert "G:G" in told
    ok(team.at_server("carl", "compare", "team/giraffes", "team/giraffes#1"))


def test_what_is_deprecated_is_said_where_it_arrives(team: Team) -> None:
    ok(team.at_home("ann", "load", team.directory / "giraffes.toml", "--name", "team/okapis"))
    ok(team.at_home("ann", "push", "team/"))
    ok(team.at_server("eve", "state", "team/giraffes", "deprecated", "--use", "team/okapis", "-m", "too tall"))
    pulled = ok(team.at_home("bob", "pull", "team/"))
    assert "team/giraffes: deprecated" in pulled.out + pulled.err
    assert "team/okapis" in pulled.out
    assert [each["name"] for each in ok(team.at_home("bob", "list", "team/")).records()] == [
        "team/giraffes",
        "team/okapis",
    ]
    states = ok(team.at_home("bob", "state", "team/giraffes")).records()
    assert [(each["state"], each["successor"]) for each in states] == [("deprecated", "team/okapis")]


def test_a_review_goes_through_rounds_and_is_decided_by_the_right_people(team: Team) -> None:
    bob, carl = (login_of(team, name) for name in ("bob", "carl"))
    ok(team.at_server("eve", "policy", "set", "team", "--review", "1", "--approver", carl, "--proposer", bob))
    ok(team.at_home("bob", "load", team.edited("bob", '"(1,4)"', '"(1,4)W"'), "--name", "team/giraffes", "-m", "wider"))
    assert team.at_home("bob", "push", "team/giraffes").code != 0
    told = ok(team.at_home("bob", "push", "team/giraffes", "--propose"))
    assert told.out == "team/giraffes#1: proposed on team/giraffes@1; it needs 1 approval\n"
    assert team.at_home("ann", "push", "team/giraffes", "--propose").code == 0  # she has nothing new
    ok(team.at_home("ann", "load", team.edited("ann", '"mfWcfF"', '"mfWmfFcfF"'), "--name", "team/giraffes"))
    assert team.at_home("ann", "push", "team/giraffes", "--propose").code == 1

    ok(team.at_server("ann", "comment", "team/giraffes#1", "-m", "too far?", "--piece", "G:G", "--source", "a1"))
    assert team.at_server("ann", "approve", "team/giraffes#1").code == 1
    assert team.at_server("bob", "approve", "team/giraffes#1").code == 1
    assert team.at_server("ann", "amend", "team/giraffes#1", team.directory / "ann.toml").code == 1
    ok(team.at_home("bob", "load", team.edited("bob", '"(1,4)W"', '"(1,4)F"'), "--name", "team/giraffes"))
    ok(team.at_home("bob", "push", "team/giraffes", "--propose", "--message", "aslant"))
    assert team.at_server("carl", "approve", "team/giraffes#1.1").code == 3
    shown = ok(team.at_server("carl", "proposal", "team/giraffes#1")).out
    assert "too far?" in shown
    assert "(1,4)F" in shown
    ok(team.at_server("carl", "approve", "team/giraffes#1"))
    assert ok(team.at_server("ann", "export", "team/giraffes", "--definition")).out.count('"(1,4)F"') == 1
    assert len(ok(team.at_server("ann", "log", "team/giraffes")).records()) == 2
    ok(team.at_server("eve", "verify"))


def login_of(team: Team, name: str) -> str:
    """The role that somebody logs in as."""
    return team.addresses[name].removeprefix("postgresql://").partition(":")[0]
