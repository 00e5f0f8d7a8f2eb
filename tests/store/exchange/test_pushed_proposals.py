"""A push into a namespace under review becomes a proposal there, if asked: once, and amended by the next one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ggn_store import Store
from ggn_store.errors import ConflictError, GateError, InputError, RefusedError
from ggn_store.model.teams.transfer import DivergedError, Transferred
from tests.support.exchanged import game


@pytest.fixture
def here() -> Iterator[Store]:
    """Ann's own store."""
    with Store.open("sqlite://") as opened:
        yield opened


def pushed(here: Store, there: Store, author: str = "ann", name: str = "team/game") -> Transferred:
    [result] = here.exchange.push(there, name, propose=True, author=author)
    return result


def begin(here: Store, there: Store) -> None:
    here.load(game(N="b1c3"), "team/game", author="ann", message="begin")
    here.exchange.push(there, "team/game")
    there.policies.set("team", review=1, author="eve")
    here.load(game(N="b1d2"), "team/game", author="ann", message="another way")


def test_without_a_review_it_is_a_push(here: Store, store: Store) -> None:
    here.load(game(N="b1c3"), "team/game")
    assert pushed(here, store).status == "new"
    assert store.reviews.list() == ()


def test_what_is_under_review_is_proposed_with_its_source_message_and_author(here: Store, store: Store) -> None:
    begin(here, store)
    why = r"team/game: it takes only what was proposed, and approved by 1 other \(the policy of team\); nothing was \w+"
    for dry_run in (True, False):
        with pytest.raises(RefusedError, match=f"^{why}: --propose proposes it$"):
            here.exchange.push(store, "team/game", dry_run=dry_run)
    with pytest.raises(RefusedError, match=f"^{why}: push it from a store of your own, with --propose$"):
        store.exchange.pull(here, "team/game")
    result = pushed(here, store)
    assert (result.status, result.head, str(result.proposal)) == ("proposed", 1, "team/game#1")
    assert result.data()["proposal"] == "team/game#1"
    [made] = store.reviews.list("team/game")
    assert (made.base, made.author, made.message) == (1, "ann", "another way")
    assert made.digest == here.ruleset("team/game").revision.digest
    assert made.who == (store.session.database.role or "ann")
    assert store.ruleset("team/game").revision.number == 1


def test_what_is_new_there_is_proposed_as_the_first_revision(here: Store, store: Store) -> None:
    store.policies.set("team", review=1, author="eve")
    here.load(game(N="b1c3"), "team/game", author="ann")
    result = pushed(here, store)
    assert (result.status, result.lineage, str(result.proposal)) == ("proposed", None, "team/game#1")
    assert store.reviews.get("team/game#1").base is None


def test_what_was_renamed_here_or_there_is_proposed_for_the_same_ruleset(here: Store, store: Store) -> None:
    begin(here, store)
    here.rename("team/game", "team/new", author="ann")
    result = pushed(here, store, name="team/new")
    assert (str(result.proposal), result.head) == ("team/new#1", 1)
    assert result.note == "team/game was renamed at the source, and is team/new there, too"
    assert [each.name for each in store.list()] == ["team/new"]
    assert store.reviews.get("team/new#1").base == 1
    store.rename("team/new", "team/newest")
    here.load(game(N="b1a3"), "team/new", author="ann")
    result = pushed(here, store, name="team/new")
    assert (str(result.proposal), result.to) == ("team/newest#1", "team/newest")
    assert result.note == "team/new was renamed there: it is team/newest"
    assert len(store.reviews.rounds("team/newest#1")) == 2
    assert store.upkeep.check() == []


def test_a_second_push_amends_one_s_own_proposal(here: Store, store: Store) -> None:
    begin(here, store)
    pushed(here, store)
    again = pushed(here, store)
    assert (str(again.proposal), again.status) == ("team/game#1", "unchanged")
    assert len(store.reviews.rounds("team/game#1")) == 1
    here.load(game(N="b1a3"), "team/game", author="ann", message="yet another")
    assert pushed(here, store).status == "proposed"
    last = store.reviews.rounds("team/game#1")[-1]
    assert (last.round, last.message) == (2, "yet another")
    assert len(store.reviews.list()) == 1


def test_one_s_own_proposal_of_something_else_stays_as_it_is(here: Store, store: Store) -> None:
    begin(here, store)
    store.reviews.propose(game(N="b1c3", R="a1a2"), "team/game", author="ann")
    assert str(pushed(here, store).proposal) == "team/game#2"
    assert len(store.reviews.rounds("team/game#1")) == 1


def test_what_was_proposed_is_there_and_comes_back(here: Store) -> None:
    with Store.open("sqlite://") as there:
        begin(here, there)
        pushed(here, there)
        there.reviews.approve("team/game#1", author="bob")
        assert pushed(here, there).status == "unchanged"
        here.exchange.pull(there, "team/game")
        here.load(game(N="b1a3"), "team/game", author="ann")
        assert str(pushed(here, there).proposal) == "team/game#2"


def test_another_s_proposal_stays_as_it_is(here: Store) -> None:
    with Store.open("sqlite://") as there:
        begin(here, there)
        pushed(here, there)
        here.load(game(N="b1a3"), "team/game", author="carl")
        assert str(pushed(here, there, author="carl").proposal) == "team/game#2"
        assert len(there.reviews.rounds("team/game#1")) == 1


def test_what_has_gone_apart_is_pulled_first(here: Store) -> None:
    with Store.open("sqlite://") as there:
        begin(here, there)
        there.reviews.propose(game(N="b1c3", R="a1a2"), "team/game", author="bob")
        there.reviews.approve("team/game#1", author="eve")
        with pytest.raises(DivergedError, match="pull team/game --merge"):
            pushed(here, there)
        assert len(there.reviews.list(closed=True)) == 1
        here.exchange.pull(there, "team/game", merge=True, prefer="ours", author="ann")
        assert str(pushed(here, there).proposal) == "team/game#2"


def test_who_may_not_propose_is_refused(here: Store) -> None:
    with Store.open("sqlite://") as there:
        begin(here, there)
        there.policies.set("team", review=1, proposers=["bob"], author="eve")
        with pytest.raises(GateError, match="bob"):
            pushed(here, there)


def test_it_is_neither_merged_nor_only_listed(here: Store, store: Store) -> None:
    begin(here, store)
    with pytest.raises(InputError):
        here.exchange.push(store, "team/game", propose=True, merge=True)
    with pytest.raises(InputError):
        here.exchange.push(store, "team/game", propose=True, dry_run=True)


def test_a_proposal_that_says_the_same_is_not_made_twice_by_others(here: Store) -> None:
    with Store.open("sqlite://") as there:
        begin(here, there)
        pushed(here, there)
        with pytest.raises(ConflictError, match="proposes the same already"):
            pushed(here, there, author="carl")
