"""Lists of people in policies, on both databases: the program and the database let the same people do things."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from ggn_store import GgnStoreError, Store, StoreError
from ggn_store.errors import GateError, NotationError
from ggn_store.model.teams.policy import PolicyRules
from ggn_store.model.teams.proposal import Proposal
from ggn_store.store.database.engine import Database
from ggn_store.store.review import rights
from ggn_store.store.schema import tables
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER, People, rows
from tests.support.people import people as people

NAME = "team/knight"
Act = Callable[[People, str], Any]
# What each list is about, as an act of somebody, and whether it is tried where a review is asked for.
ACTS: tuple[tuple[str, str, bool, Act], ...] = (
    ("propose", "proposers", True, lambda people, who: people.propose(who, ROOK, NAME)),
    (
        "propose again",
        "proposers",
        True,
        lambda people, who: people.store(who).reviews.restore(f"{NAME}@1", author=who),
    ),
    ("load", "proposers", False, lambda people, who: people.load(who, ROOK, NAME)),
    ("restore", "proposers", False, lambda people, who: people.store(who).history.restore(f"{NAME}@1", author=who)),
    ("push", "proposers", False, lambda people, who: push(people, who)),
    ("approve", "approvers", True, lambda people, who: people.approve(who, f"{NAME}#1")),
    ("reject", "approvers", True, lambda people, who: people.reject(who, f"{NAME}#1")),
    ("tag", "taggers", True, lambda people, who: people.store(who).tags.set(NAME, "fresh", author=who)),
    ("remove a tag", "taggers", True, lambda people, who: people.store(who).tags.remove(NAME, "stable", author=who)),
    ("deprecate", "taggers", True, lambda people, who: people.store(who).states.set(NAME, "deprecated", author=who)),
)


def push(people: People, who: str) -> Any:
    with Store.open("sqlite://") as own:
        own.exchange.pull(people.admin, NAME)
        own.load(ROOK, NAME, author=who)
        return own.exchange.push(people.store(who), NAME)


def dump(store: Store) -> dict[str, list[str]]:
    return {table: sorted(map(str, rows(store, f'SELECT * FROM "{table}"'))) for table in tables.metadata.tables}


def begun(people: People) -> Proposal:
    """A ruleset with two revisions, a tag and a proposal of Ann's."""
    for document in (KNIGHT, WIDER):
        people.load("ann", document, NAME)
    people.store("ann").tags.set(NAME, "stable", author="ann")
    return people.propose("ann", OTHER, NAME)


def may(people: People, namespace: str, key: str, *names: str, review: int = 0) -> None:
    listed: dict[str, Any] = {key: [people.who(name) for name in names]}
    people.admin.policies.set(namespace, review=review, **listed)


@pytest.mark.parametrize(("name", "key", "is_reviewed", "act"), ACTS, ids=[act[0].replace(" ", "-") for act in ACTS])
def test_who_is_not_listed_is_refused_and_changes_nothing(
    people: People, monkeypatch: pytest.MonkeyPatch, name: str, key: str, is_reviewed: bool, act: Act
) -> None:
    begun(people)
    review = 1 if is_reviewed else 0
    # Listed for the whole store, the namespace around and one beside, which all do not count; then not any more.
    for namespace in ("*", "te", "team/knights"):
        may(people, namespace, key, "eve", "bob", review=review)
    may(people, "team", key, "bob", "eve", review=review)
    may(people, "team", key, "bob", "carl", review=review)
    before = dump(people.admin)
    with pytest.raises(GateError, match=f"may not .*the policy of team lets .*{people.who('bob')}"):
        act(people, "eve")
    assert dump(people.admin) == before
    with monkeypatch.context() as without:
        without.setattr(rights, "require", lambda *_: None)
        with pytest.raises(StoreError, match=r"lets others|only revisions that were proposed and approved"):
            act(people, "eve")
    assert dump(people.admin) == before
    act(people, "bob")
    assert dump(people.admin) != before
    assert people.admin.upkeep.check() == []


def test_without_a_list_everybody_may(people: People) -> None:
    begun(people)
    people.admin.policies.set("team", review=1, lint=["no-rules"])
    for name, _, is_reviewed, act in ACTS:
        if is_reviewed and name != "reject":
            act(people, "eve")


def test_the_approval_of_who_is_not_listed_any_more_does_not_count(people: People) -> None:
    begun(people)
    proposal = f"{NAME}#1"
    may(people, "team", "approvers", "bob", "carl", "dora", review=2)
    assert people.approve("bob", proposal).approvals == (people.who("bob"),)
    may(people, "team", "approvers", "carl", "dora", review=2)
    found = people.admin.reviews.get(proposal)
    assert (found.approvals, found.strangers, found.state) == ((), frozenset({people.who("bob")}), "open")
    assert json.loads(json.dumps(found.data()))["approvers"] == sorted(map(people.who, ("carl", "dora")))
    assert people.approve("carl", proposal).state == "open"
    # Who is listed again has approved.
    may(people, "team", "approvers", "bob", "carl", "dora", review=2)
    assert people.admin.reviews.get(proposal).approvals == (people.who("bob"), people.who("carl"))
    may(people, "team", "approvers", "carl", "dora", review=2)
    assert people.approve("dora", proposal).revision == 3


def test_who_may_not_load_proposes_nothing_and_a_proposal_takes_an_approval(people: People) -> None:
    begun(people)
    may(people, "team", "proposers", "ann")
    # Whoever approves carries it out, and is no proposer.
    assert people.approve("bob", f"{NAME}#1").revision == 3
    with pytest.raises(GateError, match="may not propose changes, or load them"):
        people.load("bob", ROOK, NAME)


LISTS: tuple[tuple[dict[str, Any], type[GgnStoreError], str], ...] = (
    ({"approvers": ()}, NotationError, "approvers without a name would be nobody"),
    ({"proposers": []}, NotationError, "proposers without a name"),
    ({"taggers": [""]}, NotationError, '"" cannot be one of taggers'),
    ({"taggers": ["a\nb"]}, NotationError, "a name is one line of plain text"),
    ({"taggers": ["a" * 1_001]}, NotationError, "cannot be one of taggers"),
    ({"approvers": ["{bob}"], "review": 2}, GateError, "1 other among the approvers, and a change needs 2"),
    ({"approvers": ["{bob}"], "proposers": ["{bob}"]}, GateError, "0 others among the approvers"),
)


@pytest.mark.parametrize(("asked", "error", "told"), LISTS)
def test_lists_that_nothing_gets_past_are_refused(
    people: People, asked: dict[str, Any], error: type[GgnStoreError], told: str
) -> None:
    given: dict[str, Any] = {
        key: [people.who("bob") if name == "{bob}" else name for name in value] if isinstance(value, list) else value
        for key, value in asked.items()
    }
    with pytest.raises(error, match=told):
        people.admin.policies.set("team", **given)
    assert people.admin.policies.list() == ()


def test_a_policy_without_lists_is_written_as_before_and_one_with_lists_is_read_back(people: People) -> None:
    both = [people.who("bob"), people.who("ann")]
    people.admin.policies.set("team", review=1)
    policy = people.admin.policies.set("team", review=1, approvers=[*both, both[0]], taggers=both[0])
    assert policy.rules is not None
    assert (policy.rules.approvers, policy.rules.taggers, policy.rules.proposers) == (
        tuple(sorted(both)),
        (both[0],),
        None,
    )
    assert policy == people.admin.policies.get("team/knight")
    texts = [each for (each,) in rows(people.admin, "SELECT rules FROM policy ORDER BY number")]
    assert texts[0] == '{"review": 1}'
    assert json.loads(texts[1]) == {"review": 1, "approvers": sorted(both), "taggers": [both[0]]}
    # Removing everything asked for lets everybody do everything again.
    assert people.admin.policies.set("team").rules == PolicyRules()


FORGED = (
    '{"approvers": []}',
    '{"approvers": "ann"}',
    '{"approvers": ["b", "a"]}',
    '{"approvers": ["a", "a"]}',
    '{"approvers": [""]}',
    '{"approvers": [1]}',
    '{"approvers": {"a": 1}}',
    '{"approvers": null}',
    '{"taggers": ["a"], "approvers": ["a"]}',
    '{"approvers": ["a"],"taggers": ["a"]}',
    '{"approver": ["a"]}',
)


@pytest.mark.parametrize("rules", FORGED)
def test_lists_that_this_program_does_not_write_are_refused(store: Store, rules: str) -> None:
    def add(database: Database, text: str) -> None:
        with database.writing() as connection:
            said = {"namespace": "team", "number": 1, "rules": text, "positions": None, "author": "eve"}
            said |= {"message": None, "created_at": datetime.now(UTC)}
            connection.execute(tables.policy.insert(), said)

    with pytest.raises(StoreError, match=r"as this program writes it|a JSON object"):
        add(store.session.database, rules)
    add(store.session.database, '{"approvers": ["a", "Ä \\"b\\""], "proposers": ["a"], "review": 1, "taggers": ["z"]}')
    assert [each.fault for each in store.policies.list()] == [None]
