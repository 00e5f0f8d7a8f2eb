"""Proposals: what nobody gets past without others' approval, also when several work at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial

import pytest

from ggn_store import ConflictError, GgnStoreError, Ruleset, Store, StoreError, UnknownNameError, parse
from ggn_store.errors import GateError, HeadMovedError, NotationError
from ggn_store.model.teams.policy import PositionSet
from ggn_store.model.teams.proposal import Proposal, parse_proposal
from ggn_store.model.teams.revision import Revision
from tests.support.databases import DATABASES
from tests.support.people import AT_B1, DOUBTFUL, KNIGHT, OTHER, ROOK, WIDER, People, moving, rows
from tests.support.people import people as people

# --- proposals and approvals ---


def test_what_is_under_review_cannot_be_loaded(people: People) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.admin.policies.set("team", review=2)
    told = (
        r"team/knight takes only what was proposed, and approved by 2 others \(the policy of team\): "
        r"propose it with `ggn-store propose team/knight FILE`"
    )
    with pytest.raises(GateError, match=told):
        people.load("ann", ROOK, "team/knight")
    with pytest.raises(GateError, match="approved by 2 others"):
        people.load("ann", ROOK, "team/new")
    assert people.load("ann", KNIGHT, "team/knight").status == "unchanged"
    assert people.admin.ruleset("team/knight").revision.number == 1


def test_a_proposal_becomes_the_head_with_its_last_approval(people: People) -> None:
    first = people.load("ann", KNIGHT, "team/knight")
    people.admin.policies.set("team", review=2)
    proposal = people.propose("ann", WIDER, "team/knight", message="more moves")
    assert (str(proposal), proposal.state, proposal.base, proposal.needed) == ("team/knight#1", "open", 1, 2)
    assert (proposal.who, proposal.author, proposal.approvals) == (people.who("ann"), "ann", ())
    once = people.approve("bob", proposal, message="fine")
    assert (once.state, once.approvals, once.revision) == ("open", (people.who("bob"),), None)
    assert people.approve("bob", proposal).approvals == (people.who("bob"),)
    assert people.admin.ruleset("team/knight").revision == first
    merged = people.approve("cid", proposal)
    assert (merged.state, merged.revision) == ("merged", 2)
    assert merged.approvals == (people.who("bob"), people.who("cid"))
    head = people.admin.ruleset("team/knight").revision
    assert (head.number, head.author, head.message, head.parent) == (2, "ann", "more moves", 1)
    assert head.digest == parse(WIDER).digest
    assert [(each.verdict, each.author, each.message, each.revision) for each in merged.verdicts] == [
        ("approved", "bob", "fine", None),
        ("approved", "cid", None, None),
        ("merged", "cid", None, 2),
    ]
    assert [each.role for each in merged.verdicts] == [
        people.who(name) if people.is_known else None for name in ("bob", "cid", "cid")
    ]
    audit = rows(people.admin, "SELECT action, role, subject, detail FROM audit ORDER BY id")[2:]
    assert [(action, subject) for action, _, subject, _ in audit] == [
        (action, "team/knight") for action in ("propose", "approve", "approve", "revision", "merge")
    ]
    if people.is_known:
        assert [role for _, role, _, _ in audit] == [people.who(name) for name in ("ann", "bob", "cid", "cid", "cid")]
    told = [json.loads(detail) for _, _, _, detail in audit]
    assert (told[0]["proposal"], told[0]["base"], told[0]["message"]) == (1, 1, "more moves")
    assert (told[1]["proposal"], told[1]["author"], told[1]["message"]) == (1, "bob", "fine")
    assert (told[4]["proposal"], told[4]["revision"]) == (1, 2)
    assert people.admin.upkeep.check() == []


def test_a_ruleset_can_begin_with_a_proposal(people: People) -> None:
    people.admin.policies.set("team", review=1)
    proposal = people.propose("ann", KNIGHT, "team/knight")
    assert (proposal.base, proposal.head, proposal.state) == (None, None, "open")
    with pytest.raises(UnknownNameError, match="team/knight has no revision yet, it was only proposed"):
        people.admin.ruleset("team/knight")
    assert people.admin.list() == ()
    assert people.admin.upkeep.check() == []
    assert people.approve("bob", proposal).revision == 1
    assert people.admin.ruleset("team/knight").revision.parent is None


def test_where_no_policy_asks_for_a_review_one_approval_is_enough(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    proposal = people.propose("ann", WIDER, "knight")
    assert proposal.needed == 1
    with pytest.raises(GateError, match="somebody else has to approve"):
        people.approve("ann", proposal)
    assert people.approve("bob", proposal).revision == 2


def test_nobody_approves_of_their_own(people: People) -> None:
    people.admin.policies.set("team", review=1)
    proposal = people.propose("ann", KNIGHT, "team/knight")
    with pytest.raises(GateError, match=f"team/knight#1 is {people.who('ann')}'s own"):
        people.approve("ann", proposal)
    if people.is_known:  # whatever name they give
        with pytest.raises(GateError, match="somebody else has to approve of it"):
            people.store("ann").reviews.approve("team/knight#1", author="bob")
    assert people.admin.reviews.get("team/knight#1").verdicts == ()


def test_reviews_need_names(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if store.session.database.role is not None:
        assert store.reviews.propose(KNIGHT, "knight").author == store.session.database.role
        return
    with pytest.raises(GateError, match="say who you are with --author"):
        store.reviews.propose(KNIGHT, "knight")
    store.reviews.propose(KNIGHT, "knight", author="Ann")
    for act in (store.reviews.approve, store.reviews.reject, store.reviews.withdraw):
        with pytest.raises(GateError, match="say who you are with --author"):
            act("knight#1")
    monkeypatch.setenv("GGN_AUTHOR", "Bob")
    assert store.reviews.approve("knight#1").revision == 1


@pytest.mark.parametrize("end", ["reject", "withdraw", "merge"])
def test_what_has_ended_is_over(people: People, end: str) -> None:
    people.admin.policies.set("team", review=1)
    proposal = people.propose("ann", KNIGHT, "team/knight")
    if end == "reject":
        assert people.reject("bob", proposal, message="no").state == "rejected"
    elif end == "withdraw":
        with pytest.raises(GateError, match=f"team/knight#1 is {people.who('ann')}'s, not {people.who('bob')}'s"):
            people.withdraw("bob", proposal)
        assert people.withdraw("ann", proposal).state == "withdrawn"
    else:
        people.approve("bob", proposal)
    was = {"reject": "rejected", "withdraw": "withdrawn", "merge": "merged already, it is team/knight@1"}[end]
    for act in (people.approve, people.reject):
        with pytest.raises(ConflictError, match=f"team/knight#1 was {was}") as caught:
            act("cid", proposal)
        assert caught.value.exit_code == 3
    with pytest.raises(ConflictError, match=f"team/knight#1 was {was}"):
        people.withdraw("ann", proposal)
    assert people.admin.reviews.list("team/knight") == ()
    assert [str(each) for each in people.admin.reviews.list("team/knight", closed=True)] == ["team/knight#1"]
    if end != "merge":
        again = people.propose("ann", KNIGHT, "team/knight")
        assert (str(again), people.approve("bob", again).revision) == ("team/knight#2", 1)


def test_a_proposal_is_stale_when_the_head_has_moved(people: People) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.admin.policies.set("team", review=1)
    left, right = people.propose("ann", OTHER, "team/knight"), people.propose("bob", WIDER, "team/knight")
    people.approve("cid", left)
    stale = people.admin.reviews.get(str(right))
    assert (stale.state, stale.base, stale.head) == ("stale", 1, 2)
    told = (
        f"team/knight#2 was made on team/knight@1, and the newest revision is team/knight@2 now: {people.who('bob')} "
        "can bring it up to date, with `ggn-store amend team/knight#2 FILE`"
    )
    with pytest.raises(ConflictError, match=told) as caught:
        people.approve("cid", right)
    assert caught.value.exit_code == 3
    assert people.admin.reviews.get(str(right)).verdicts == ()
    again = people.propose("bob", WIDER, "team/knight")
    assert (again.base, people.approve("cid", again).revision) == (2, 3)
    assert people.reject("ann", right).state == "rejected"


def test_a_proposal_may_state_its_base(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    people.load("ann", WIDER, "knight")
    with pytest.raises(HeadMovedError, match="knight has moved on: its newest revision is knight@2"):
        people.propose("ann", OTHER, "knight", base="1")
    with pytest.raises(HeadMovedError, match="knight is there already"):
        people.propose("ann", OTHER, "knight", base="0")
    assert people.propose("ann", OTHER, "knight", base="2").base == 2
    assert people.propose("ann", OTHER, "other", base="0").base is None


def test_what_is_there_or_proposed_already_is_not_proposed_again(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    with pytest.raises(ConflictError, match="there is nothing to propose: knight@1 is what the document says"):
        people.propose("ann", KNIGHT, "knight")
    first = people.propose("ann", WIDER, "knight")
    with pytest.raises(ConflictError, match="knight#1 proposes the same already"):
        people.propose("bob", WIDER, "knight")
    people.withdraw("ann", first)
    assert people.propose("bob", WIDER, "knight").number == 2


def test_the_other_gates_are_passed_when_proposing_and_again_before_the_head_moves(people: People) -> None:
    people.load("ann", ROOK, "team/rook")
    people.admin.policies.set("team", review=1, lint=["never-holds"])
    with pytest.raises(GateError, match="1 finding"):
        people.propose("ann", DOUBTFUL, "team/rook")
    people.admin.policies.set("team", review=1)
    proposal = people.propose("ann", DOUBTFUL, "team/rook")
    people.admin.policies.set("team", review=1, lint=["never-holds"])
    with pytest.raises(GateError, match="team/rook: refused by the policy of team, 1 finding"):
        people.approve("bob", proposal)
    assert people.admin.reviews.get(str(proposal)).verdicts == ()
    assert people.admin.ruleset("team/rook").revision.number == 1
    people.admin.policies.set("team", review=1)
    assert people.approve("bob", proposal).revision == 2


def test_changes_of_moves_that_a_proposal_accepts_are_those_that_it_lists(people: People) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.admin.policies.set("team", review=1, compatible=AT_B1)
    with pytest.raises(GateError, match="3 findings; --accept-changes"):
        people.propose("ann", OTHER, "team/knight")
    proposal = people.propose("ann", OTHER, "team/knight", message="left", accept_changes=True)
    listed = ("openings:1: lost C:N b1 c3", "openings:1: new C:N b1 a3", "openings:2: new C:N b1 a3")
    assert proposal.accepted == listed
    message = "left\n\nAccepted changes of moves:\n" + "\n".join(f"- {each}" for each in listed)
    assert proposal.message == message
    # What the proposal does not list, nobody has accepted.
    people.admin.policies.set("team", review=1, compatible=PositionSet("endings", AT_B1.positions[:1]))
    with pytest.raises(GateError, match="2 findings"):
        people.approve("bob", proposal)
    people.admin.policies.set("team", review=1, compatible=AT_B1)
    assert people.approve("bob", proposal).revision == 2
    assert people.admin.ruleset("team/knight").revision.message == message


def test_a_retired_ruleset_merges_nothing(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    proposal = people.propose("ann", WIDER, "knight")
    people.admin.states.set("knight", "retired")
    with pytest.raises(GateError, match="knight is retired and takes no revisions"):
        people.approve("bob", proposal)
    people.admin.states.set("knight", "active")
    assert people.approve("bob", proposal).revision == 2


def test_a_merged_proposal_brings_a_deleted_ruleset_back(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    proposal = people.propose("ann", WIDER, "knight")
    people.admin.delete("knight")
    assert people.approve("bob", proposal).revision == 2
    assert people.admin.ruleset("knight").revision.number == 2


def test_a_policy_that_asks_for_less_counts_for_what_was_proposed_before(people: People) -> None:
    people.admin.policies.set("team", review=3)
    proposal = people.propose("ann", KNIGHT, "team/knight")
    people.approve("bob", proposal)
    people.admin.policies.set("team", review=1)
    assert people.approve("bob", proposal).revision == 1


def test_what_is_proposed_can_be_looked_at_and_tried(people: People) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.propose("ann", WIDER, "team/knight")
    tried = people.admin.reviews.ruleset("team/knight#1")
    assert isinstance(tried, Ruleset)
    assert [move.destination for move in tried.moves({"b1": "C:N"})] == ["c3", "a3"]
    assert json.loads(tried.export()) == WIDER
    assert str(tried.revision).startswith("team/knight#1")
    difference = people.admin.reviews.diff("team/knight#1")
    assert [(piece, source, entry.destination) for piece, source, entry in difference.entries()] == [
        ("C:N", "b1", "a3")
    ]
    people.propose("ann", ROOK, "rook")
    assert people.admin.reviews.diff("rook#1").counts()["pieces"] == 1


def test_nothing_is_proposed_for_what_was_deleted(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    people.admin.delete("knight")
    for document in (WIDER, KNIGHT):
        with pytest.raises(UnknownNameError, match="the ruleset knight was deleted: `ggn-store restore knight`"):
            people.propose("ann", document, "knight")
    people.admin.history.restore("knight")
    assert people.admin.reviews.list("knight", closed=True) == ()


def test_unknown_proposals_are_named_with_what_there_is(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    with pytest.raises(UnknownNameError, match='nothing was proposed for "knight"'):
        people.approve("bob", "knight#1")
    people.propose("ann", WIDER, "knight")
    with pytest.raises(UnknownNameError, match='no proposal "knight#2": its proposal is knight#1'):
        people.admin.reviews.get("knight#2")
    with pytest.raises(UnknownNameError, match='no ruleset "rook"'):
        people.admin.reviews.list("rook")


@pytest.mark.parametrize(
    "written",
    ["", "knight", "knight#", "#1", "knight#x", "a b#1", "knight@1#1", "knight#1.", "knight#1.x", "knight#1.2.3"],
)
def test_what_names_no_proposal_is_refused(written: str) -> None:
    with pytest.raises(NotationError, match=r"does not name a proposal|cannot name a ruleset"):
        parse_proposal(written)
    assert parse_proposal("team/knight#12") == ("team/knight", 12, None)
    assert parse_proposal("team/knight#12.3") == ("team/knight", 12, 3)


# --- at once ---


def at_once(*works: Callable[[], Proposal | Revision]) -> list[Proposal | Revision | GgnStoreError]:
    """What comes of several things that are done at the same time."""
    barrier = threading.Barrier(len(works))
    results: list[Proposal | Revision | GgnStoreError | None] = [None] * len(works)

    def work(number: int) -> None:
        barrier.wait()
        try:
            results[number] = works[number]()
        except GgnStoreError as error:
            results[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [each for each in results if each is not None]


# In a file one writes at a time, however many are needed.
@pytest.mark.parametrize(
    ("address", "needed"),
    [
        pytest.param(database, needed, marks=[pytest.mark.long] * (database == "sqlite" and needed != 2))
        for database in DATABASES
        for needed in (1, 2, 3)
    ],
    indirect=["address"],
)
def test_approvals_at_once_make_one_revision(people: People, needed: int) -> None:
    people.admin.policies.set("team", review=needed)
    for name in ("ann", "bob", "cid", "dan"):
        people.store(name)
    for number in range(6):
        proposal = people.propose("ann", moving("C:N", "b1", f"c{number + 1}"), "team/knight")
        results = at_once(*(partial(people.approve, name, proposal) for name in ("bob", "cid", "dan")))
        late = [each for each in results if not isinstance(each, Proposal)]
        assert all(isinstance(each, ConflictError) and "was merged already" in str(each) for each in late), late
        assert len(late) == 3 - needed
        found = people.admin.reviews.get(str(proposal))
        assert (found.revision, len(found.approvals)) == (number + 1, needed)
        assert [each.ordinal for each in found.verdicts] == list(range(1, needed + 2))
    assert people.admin.ruleset("team/knight").revision.number == 6
    assert people.admin.upkeep.check() == []


def test_of_an_approval_and_a_rejection_at_once_one_counts(people: People) -> None:
    people.admin.policies.set("team", review=1)
    for name in ("ann", "bob", "cid"):
        people.store(name)
    revisions = 0
    for number in range(10):
        proposal = people.propose("ann", moving("C:N", "b1", f"c{number + 1}"), "team/knight")
        results = at_once(partial(people.approve, "bob", proposal), partial(people.reject, "cid", proposal))
        assert len([each for each in results if isinstance(each, ConflictError)]) == 1, results
        state = people.admin.reviews.get(str(proposal)).state
        assert state in ("merged", "rejected")
        revisions += state == "merged"
    assert rows(people.admin, "SELECT count(*) FROM revision") == [(revisions,)]


def test_two_proposals_that_are_approved_at_once_do_not_undo_one_another(people: People) -> None:
    people.admin.policies.set("team", review=1)
    for name in ("ann", "bob", "cid"):
        people.store(name)
    people.approve("bob", people.propose("ann", KNIGHT, "team/knight"))
    for number in range(5):
        one = people.propose("ann", moving("C:N", "b1", f"d{number + 1}"), "team/knight")
        other = people.propose("ann", moving("C:N", "b1", f"e{number + 1}"), "team/knight")
        results = at_once(partial(people.approve, "bob", one), partial(people.approve, "cid", other))
        assert len([each for each in results if isinstance(each, Proposal)]) == 1, results
        [late] = [each for each in results if not isinstance(each, Proposal)]
        assert isinstance(late, ConflictError | StoreError)
        assert people.admin.ruleset("team/knight").revision.number == number + 2
    assert people.admin.upkeep.check() == []


def test_a_load_and_an_approval_at_once_do_not_undo_one_another(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    for name in ("ann", "bob"):
        people.store(name)
    merged = 0
    for number in range(10):
        proposal = people.propose("ann", moving("C:N", "b1", f"d{number + 1}"), "knight")
        loaded = moving("C:N", "b1", f"e{number + 1}")
        results = at_once(partial(people.approve, "bob", proposal), partial(people.load, "ann", loaded, "knight"))
        approved_one = [each for each in results if isinstance(each, Proposal)]
        for each in approved_one:
            assert people.admin.ruleset(f"knight@{each.revision}").revision.parent == proposal.base
        assert all(isinstance(each, ConflictError) for each in results if isinstance(each, GgnStoreError)), results
        merged += len(approved_one)
    assert people.admin.ruleset("knight").revision.number == 1 + 10 + merged
    assert people.admin.upkeep.check() == []
