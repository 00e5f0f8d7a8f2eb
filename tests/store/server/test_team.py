"""A team on one Postgres server, each with a login and a role of their own: everything that they do together works.

What each role may not do is in test_role_attempts.py; this is what they are for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ggn_store import Position, Store, StoreError, read_definition
from ggn_store.errors import GateError
from ggn_store.model.teams.policy import PositionSet
from tests.support.house import logins
from tests.support.postgres import Server
from tests.support.sampled import sampled

ROLES = {"ann": "ggn_author", "bob": "ggn_author", "carl": "ggn_reader", "dora": "ggn_admin"}


def game(**pieces: str) -> dict[str, Any]:
    """A game whose pieces each go from one square to another."""
    return {
        f"C:{piece}": {
            way[:2]: {
                way[2:]: [{"must": {way[2:]: "empty"}, "diff": {"board": {way[:2]: None, way[2:]: f"C:{piece}"}}}]
            }
        }
        for piece, way in pieces.items()
    }


# From one square it leaps to more than 30 others: a lane holds 63 facts at most.
LEAPERS = """
title = "Leapers"
board = "9x9"
style = "L"
start = "4k^4/9/9/9/9/9/9/9/4K^4 / L/l"
[pieces.K]
betza = "WFNADH(1,3)"
terminal = true
"""


@pytest.fixture
def team(postgres_server: Server) -> Iterator[dict[str, Store]]:
    """The stores of the members of a team, by their names, and the one of the tables' owner."""
    url = postgres_server.create_store()
    with logins(url, ROLES) as addresses, ExitStack() as stack:
        yield {name: stack.enter_context(Store.open(address)) for name, address in addresses.items()}
    postgres_server.drop_database(url)


@pytest.mark.parametrize("betza", sampled(["WFNADH(1,3)", "WFNAD(1,3)", "(1,4)(2,3)WFN", "Q2NZ"], 2))
def test_an_author_stores_pieces_that_leap_far_and_wide(team: dict[str, Store], betza: str) -> None:
    ann = team["ann"]
    ann.load(read_definition(LEAPERS.replace("WFNADH(1,3)", betza)), "leapers")
    ann.reviews.propose(read_definition(LEAPERS.replace('"WF', '"F')), "leapers")
    assert team["owner"].upkeep.check() == []


def test_a_team_loads_merges_proposes_tags_collects_and_verifies(team: dict[str, Store]) -> None:
    ann, bob, carl, dora = (team[name] for name in ROLES)
    ann.load(game(N="b1c3", R="a1a2"), "team/game", message="begin")
    bob.load(game(N="b1a3", R="a1a2"), "team/game", base="1")
    merged = ann.load(game(N="b1c3", R="a1a3"), "team/game", base="1", merge=True)
    assert (merged.number, merged.status) == (3, "merged")
    assert [entry.revision.author for entry in carl.history.log("team/game")] == [
        store.session.database.role for store in (ann, bob, ann)
    ]
    assert bob.history.restore("team/game@2").number == 4

    dora.policies.set("team", review=1, lint=["never-holds"])
    with pytest.raises(GateError, match="approved by 1 other"):
        bob.load(game(K="e1e2"), "team/game")
    proposal = ann.reviews.propose(game(N="b1c3", K="e1e2"), "team/game", message="a king")
    assert str(proposal) == "team/game#1"
    with pytest.raises(GateError):
        ann.reviews.approve("team/game#1")
    assert bob.reviews.approve("team/game#1").revision == 5
    assert carl.ruleset("team/game").pieces == ("C:N", "C:K")
    with pytest.raises(StoreError, match="ggn_admin"):
        ann.policies.set("team")

    dora.tags.set("team/game", "stable")
    dora.states.set("team/game", "deprecated")
    dora.delete("team/game")
    with pytest.raises(StoreError, match="ggn_admin"):
        ann.history.restore("team/game")
    dora.history.restore("team/game")
    assert carl.ruleset("team/game:stable").revision.number == 5

    reader = str(carl.session.database.role)
    for asked in ({"review": 1, "approvers": [reader]}, {"proposers": [reader]}, {"taggers": [reader]}):
        with pytest.raises(
            GateError, match=rf"{[*asked][-1]}: the server does not let {reader} .* GRANT ggn_author TO"
        ):
            dora.policies.set("team", **asked)
    ann.reviews.propose(game(Q="d1d2"), "team/game")
    ann.reviews.withdraw("team/game#2")
    dora.upkeep.collect()
    for store in (carl, dora, team["owner"]):
        assert store.upkeep.check() == []
    roles = {event.role for event in carl.upkeep.audit()}
    assert roles == {store.session.database.role for store in (ann, bob, dora)}


def test_an_author_pushes_and_everybody_pulls(team: dict[str, Store], tmp_path: Path) -> None:
    ann, bob, carl, dora = (team[name] for name in ROLES)
    with Store.open(str(tmp_path / "laptop.db")) as laptop, Store.open(str(tmp_path / "other.db")) as other:
        laptop.load_library("hexapawn", "tic-tac-toe")
        laptop.load(game(N="b1c3"), "game")
        assert [each.status for each in laptop.exchange.push(ann)] == ["new"] * 3
        laptop.load(game(N="b1a3"), "game")
        assert [each.revisions for each in laptop.exchange.push(bob, ["game"])] == [1]
        other.load(game(R="a1a2"), "rook")
        with pytest.raises(StoreError, match="ggn_author"):
            other.exchange.push(carl, ["rook"])
        assert {each.head for each in other.exchange.pull(carl)} == {1, 2}
        assert {each.lineage for each in other.revisions()} >= {each.lineage for each in carl.revisions()}
        for name in ("hexapawn", "tic-tac-toe"):
            start = carl.ruleset(name).start
            assert start is not None
            assert carl.ruleset(name).moves(start) == laptop.ruleset(name).moves(start) != []
        other.exchange.create_bundle(tmp_path / "all.ggnb.gz")
        dora.exchange.load_bundle(tmp_path / "all.ggnb.gz", ["rook"])
    assert dora.upkeep.check() == []


def test_games_that_are_generated_and_kept_positions_work_for_authors(team: dict[str, Store]) -> None:
    ann, _, _, dora = (team[name] for name in ROLES)
    text = 'title = "Hops"\nstyle = "C"\nboard = "4x4"\n[pieces.K]\nbetza = "K"\n'
    ann.load(read_definition(text), "hops")
    dora.policies.set("*", compatible=PositionSet("corner", (Position({"a1": "C:K"}),)))
    with pytest.raises(GateError, match="1 finding"):
        ann.load(read_definition(text.replace('"K"', '"W"')), "hops")
    changed = ann.load(read_definition(text.replace('"K"', '"W"')), "hops", accept_changes=True)
    assert "Accepted changes of moves" in (changed.message or "")
