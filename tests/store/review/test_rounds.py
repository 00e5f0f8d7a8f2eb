"""Rounds of a proposal and comments on it: who may add them, what counts, and what the database itself refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import text

from ggn_store import ConflictError, GgnStoreError, Store, StoreError, UnknownNameError, parse
from ggn_store.errors import GateError, InputError
from ggn_store.model.teams.proposal import Proposal
from tests.support import rooks
from tests.support.attempts import stamp
from tests.support.marks import take
from tests.support.migrations import alembic, connected
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER, People, execute, moving, rows
from tests.support.people import people as people

FARTHER = moving("C:N", "b1", "c3", "a3", "d2")


def proposed(people: People, needed: int = 1) -> Proposal:
    """Ann's proposal for the knight, which so many others must approve."""
    people.load("ann", KNIGHT, "team/knight")
    people.admin.policies.set("team", review=needed)
    return people.propose("ann", WIDER, "team/knight", message="more moves")


def amend(people: People, name: str, document: Any, proposal: object = "team/knight#1", **more: Any) -> Proposal:
    return people.store(name).reviews.amend(str(proposal), document, author=name, **more)


def comment(people: People, name: str, message: str, proposal: object = "team/knight#1", **entry: str) -> Proposal:
    return people.store(name).reviews.comment(str(proposal), message, author=name, **entry)


# --- rounds ---


def test_an_amended_proposal_keeps_its_rounds_and_is_approved_anew(people: People) -> None:
    first = proposed(people, needed=2)
    people.approve("bob", first)
    second = amend(people, "ann", OTHER)
    assert (str(second), second.round, second.rounds, second.state, second.approvals) == (str(first), 2, 2, "open", ())
    assert (second.message, second.digest, second.base) == ("more moves", parse(OTHER).digest, 1)
    third = amend(people, "ann", FARTHER, message="farther")
    reviews = people.admin.reviews
    rounds = reviews.rounds("team/knight#1")
    assert [(str(each), each.round, each.state, each.digest) for each in rounds] == [
        ("team/knight#1.1", 1, "amended", first.digest),
        ("team/knight#1.2", 2, "amended", second.digest),
        ("team/knight#1", 3, "open", third.digest),
    ]
    assert rounds[0].approvals == (people.who("bob"),)
    assert reviews.get("team/knight#1.3") == reviews.get("team/knight#1") == third
    assert reviews.list("team/knight") == (third,)
    for reference, document in (("#1.1", WIDER), ("#1.2", OTHER), ("#1.3", FARTHER), ("#1", FARTHER)):
        assert reviews.ruleset(f"team/knight{reference}").document() == parse(document)
    assert str(reviews.diff("team/knight#1.2")) != str(reviews.diff("team/knight#1"))
    # Bob's approval was of another content, and one is not enough.
    assert people.approve("cid", third).state == "open"
    merged = people.approve("bob", third)
    assert (merged.state, merged.revision) == ("merged", 2)
    head = people.admin.ruleset("team/knight").revision
    assert (head.digest, head.author, head.message) == (third.digest, "ann", "farther")
    assert [(each.verdict, each.round) for each in merged.verdicts] == [
        ("approved", 1),
        *(("approved", 3), ("approved", 3), ("merged", 3)),
    ]
    assert [each.state for each in reviews.rounds("team/knight#1")] == ["amended", "amended", "merged"]
    assert reviews.list("team/knight", closed=True) == (merged,)
    audit = rows(people.admin, "SELECT action, detail FROM audit WHERE action IN ('propose', 'amend') ORDER BY id")
    assert [(action, json.loads(detail)["round"]) for action, detail in audit] == [
        ("propose", 1),
        ("amend", 2),
        ("amend", 3),
    ]
    assert [each.about for each in people.admin.upkeep.audit() if each.action == "amend"] == [
        "team/knight#1.2",
        "team/knight#1.3",
    ]
    assert people.admin.upkeep.check() == []


def test_only_the_newest_round_is_judged(people: People) -> None:
    first = proposed(people)
    amend(people, "ann", OTHER)
    for act in (people.approve, people.reject):
        with pytest.raises(ConflictError, match=r"team/knight#1.1 was amended: its newest round is team/knight#1.2"):
            act("bob", "team/knight#1.1")
    with pytest.raises(ConflictError, match=r"was amended"):
        amend(people, "ann", FARTHER, "team/knight#1.1")
    with pytest.raises(ConflictError, match="has the digest"):
        people.approve("bob", "team/knight#1", digest=first.digest)
    for wanted, told in (("#1.3", "was amended 1 time"), ("#2.1", "its proposals are")):
        with pytest.raises(UnknownNameError, match=told):
            people.admin.reviews.get(f"team/knight{wanted}")


def test_who_has_made_a_proposal_amends_it_until_it_ends(people: People) -> None:
    proposed(people)
    with pytest.raises(GateError, match=f"is {people.who('ann')}'s, not {people.who('bob')}'s: comment on it"):
        amend(people, "bob", OTHER)
    for same in (WIDER, KNIGHT):
        with pytest.raises(ConflictError, match=r"proposes the same already|there is nothing to propose"):
            amend(people, "ann", same)
    people.withdraw("ann", "team/knight#1")
    with pytest.raises(ConflictError, match="was withdrawn already: propose the document anew"):
        amend(people, "ann", OTHER)
    assert len(people.admin.reviews.rounds("team/knight#1")) == 1


def test_a_stale_proposal_is_brought_up_to_date(people: People) -> None:
    proposed(people)
    people.admin.policies.remove("team")
    people.load("bob", ROOK, "team/knight")
    people.admin.policies.set("team", review=1)
    assert people.admin.reviews.get("team/knight#1").state == "stale"
    with pytest.raises(
        ConflictError, match=r"ann\S* can bring it up to date, with `ggn-store amend team/knight#1 FILE`"
    ):
        people.approve("bob", "team/knight#1")
    # Also with what it says already, as that is news on the new head.
    again = amend(people, "ann", WIDER)
    assert (again.state, again.base, again.round) == ("open", 2, 2)
    back = amend(people, "ann", "team/knight@1")
    assert (back.digest, back.round) == (parse(KNIGHT).digest, 3)
    assert people.approve("bob", back).revision == 3
    assert people.admin.upkeep.check() == []


def stale(people: People, *theirs: tuple[str, str]) -> None:
    """Ann's proposal of a game of rooks, which Bob has changed since."""
    people.load("ann", rooks.made(), "team/rooks")
    people.admin.policies.set("team", review=1)
    people.propose("ann", rooks.made(rooks.STEPS, rooks.OURS), "team/rooks", message="steps")
    people.approve("ann", people.propose("bob", rooks.made(*theirs), "team/rooks"))


ROOKS = "team/rooks#1"


def test_a_stale_proposal_is_merged_with_what_has_become_of_its_base(people: People) -> None:
    stale(people, rooks.NAMED)
    merged = amend(people, "ann", None, ROOKS, merge=True)
    assert (merged.state, merged.base, merged.round) == ("open", 2, 2)
    assert merged.message == "steps\n\nmerged with team/rooks@2, based on team/rooks@1"
    assert people.approve("bob", merged).revision == 3
    assert people.admin.ruleset("team/rooks").document() == rooks.made(rooks.STEPS, rooks.OURS, rooks.NAMED)
    assert people.admin.upkeep.check() == []


def test_a_file_and_an_old_revision_are_merged_in_place_of_what_was_proposed(people: People) -> None:
    stale(people, rooks.NAMED)
    with pytest.raises(ConflictError, match="there is nothing to propose: team/rooks@2 is what the document says"):
        amend(people, "ann", "team/rooks@1", ROOKS, merge=True)
    merged = amend(people, "ann", rooks.made(rooks.OURS), ROOKS, merge=True, message="three")
    assert people.admin.reviews.ruleset(str(merged)).document() == rooks.made(rooks.OURS, rooks.NAMED)


def test_a_merge_of_a_proposal_in_conflict_is_decided_for_a_side_or_in_a_file(people: People, tmp_path: Path) -> None:
    stale(people, rooks.THEIRS, rooks.NAMED)
    file = tmp_path / "file"
    with pytest.raises(ConflictError, match=r"1 conflict: definition pieces.R.betza") as caught:
        amend(people, "ann", None, ROOKS, merge=True, conflicts=file)
    assert str(caught.value).endswith(f"then run `ggn-store resolve {file} --propose`")
    assert len(people.admin.reviews.rounds(ROOKS)) == 1
    decided = amend(people, "ann", None, ROOKS, merge=True, prefer="theirs")
    assert people.admin.reviews.ruleset(str(decided)).document() == rooks.made(rooks.STEPS, rooks.THEIRS, rooks.NAMED)
    assert str(decided.message).endswith("\nnote: decided for theirs, 1 conflict: definition pieces.R.betza")
    take(file, "ours")
    with pytest.raises(InputError, match="these are conflicts of the proposal team/rooks#1: resolve them with --prop"):
        people.store("ann").exchange.resolve(file, author="ann")
    with pytest.raises(GateError, match="comment on it"):
        people.store("bob").reviews.resolve(file, author="bob")
    resolved = people.store("ann").reviews.resolve(file, author="ann", message="three")
    assert (str(resolved), resolved.round, resolved.base, resolved.message) == (ROOKS, 3, 2, "three")
    wanted = rooks.made(rooks.STEPS, rooks.OURS, rooks.NAMED)
    assert people.admin.reviews.ruleset(str(resolved)).document() == wanted


def test_a_merge_of_what_somebody_else_proposed_is_refused(people: People) -> None:
    stale(people, rooks.NAMED)
    with pytest.raises(GateError, match=f"is {people.who('ann')}'s, not {people.who('bob')}'s: comment on it"):
        amend(people, "bob", None, ROOKS, merge=True)


# --- comments ---


def test_comments_decide_nothing_and_go_on_after_the_end(people: People) -> None:
    proposed(people)
    comment(people, "bob", "why?")
    comment(people, "ann", "see the book", piece="C:N", source="b1", destination="a3")
    said = people.approve("bob", "team/knight#1")
    assert (said.state, said.approvals) == ("merged", (people.who("bob"),))
    ended = comment(people, "cid", "too late")
    assert [(each.verdict, each.author, each.message, each.entry) for each in ended.verdicts] == [
        ("commented", "bob", "why?", ""),
        ("commented", "ann", "see the book", "C:N b1 a3"),
        ("approved", "bob", None, ""),
        ("merged", "bob", None, ""),
        ("commented", "cid", "too late", ""),
    ]
    assert [each.who for each in ended.comments] == [people.who(name) for name in ("bob", "ann", "cid")]
    assert (ended.state, ended.data()["verdicts"][1]["piece"]) == ("merged", "C:N")
    told = [each for each in people.admin.upkeep.audit() if each.action == "comment"]
    assert [(each.about, each.detail["message"]) for each in told] == [
        ("team/knight#1", message) for message in ("why?", "see the book", "too late")
    ]
    assert told[1].what.startswith("on C:N b1 a3 by ann")
    assert people.admin.upkeep.check() == []


def test_a_comment_is_on_an_entry_that_is_there_or_was(people: People) -> None:
    proposed(people)
    amend(people, "ann", OTHER)
    # The entry to c3 is of the base, and of the first round.
    comment(people, "bob", "keep this", piece="C:N", source="b1", destination="c3")
    comment(people, "bob", "earlier", "team/knight#1.1", piece="C:N")
    for entry, told in (
        ({"piece": "C:M"}, 'neither team/knight#1 nor its base has the piece "C:M": did you mean C:N?'),
        ({"piece": "C:N", "source": "1b"}, 'has the entry of C:N from "1b": did you mean b1?'),
        ({"piece": "C:N", "source": "b1", "destination": "a2"}, "there are a3, c3"),
        ({"piece": "C:N", "source": "b1", "destination": "h8"}, 'to "h8": there are a3, c3'),
    ):
        with pytest.raises(UnknownNameError) as caught:
            comment(people, "bob", "what?", **entry)
        assert told in str(caught.value)
    for entry in ({"source": "b1"}, {"piece": "C:N", "destination": "c3"}):
        with pytest.raises(InputError, match="name the piece, then the source"):
            comment(people, "bob", "what?", **entry)
    with pytest.raises(InputError, match="a comment needs a text"):
        comment(people, "bob", "  ")
    found = people.admin.reviews.get("team/knight#1")
    assert [(each.round, each.entry) for each in found.comments] == [(2, "C:N b1 c3"), (1, "C:N")]


# --- what the database itself refuses ---

ROUND = (
    "INSERT INTO proposal (ruleset_id, number, round, base_id, digest, dialect, board_id, envelope, pieces, author, "
    "created_at) SELECT ruleset_id, number, {round}, {base_id}, {digest}, dialect, board_id, envelope, pieces, "
    "{author}, '{now}' FROM proposal WHERE number = 1 AND round = 1"
)
SOUND = {"round": "2", "base_id": "base_id", "digest": f"'{'a' * 64}'", "author": "'ann'"}
ROUNDS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("ann", {"round": "3"}, "is numbered without gaps"),
    ("ann", {"round": "0"}, "is numbered without gaps"),
    ("ann", {"round": "-1"}, "is numbered without gaps"),
    ("ann", {"round": "NULL"}, "numbered without gaps"),
    ("ann", {"round": "1"}, "never changed|duplicate key"),
    ("ann", {"digest": "digest"}, "is amended by whoever made it, with other content"),
    ("bob", {"author": "'bob'"}, "is amended by whoever made it"),
)


def insert(people: People, name: str, given: dict[str, str]) -> None:
    execute(people.store(name), ROUND.format(now=stamp(), **SOUND | given))


@pytest.mark.parametrize(("name", "given", "told"), ROUNDS, ids=str)
def test_the_database_takes_no_round_that_does_not_fit(
    people: People, name: str, given: dict[str, str], told: str
) -> None:
    proposed(people)
    for store in (people.store(name), people.admin) if name == "ann" else (people.store(name),):
        with pytest.raises(StoreError, match=told):
            execute(store, ROUND.format(now=stamp(), **SOUND | given))


@pytest.mark.parametrize("end", ["rejected", "withdrawn", "merged"])
def test_the_database_takes_no_round_after_the_end(people: People, end: str) -> None:
    proposed(people)
    acts: dict[str, Callable[[], Proposal]] = {
        "rejected": lambda: people.reject("bob", "team/knight#1"),
        "withdrawn": lambda: people.withdraw("ann", "team/knight#1"),
        "merged": lambda: people.approve("bob", "team/knight#1"),
    }
    assert acts[end]().state == end
    with pytest.raises(StoreError, match="until it is merged, rejected or withdrawn"):
        insert(people, "ann", {})


SAID = (
    "INSERT INTO verdict (proposal_id, ordinal, verdict, digest, author, message, piece, source, destination, "
    "created_at) SELECT id, {ordinal}, '{verdict}', {digest}, '{author}', {message}, {piece}, {source}, "
    "{destination}, '{now}' FROM proposal WHERE number = 1 AND round = {round}"
)
NOTHING = {"verdict": "commented", "digest": "NULL", "message": "'so'", "round": "2", "ordinal": "1"} | dict.fromkeys(
    ("piece", "source", "destination"), "NULL"
)
# Of those that break one rule, one is tried on every change.
VERDICTS: tuple[Any, ...] = (
    ({"message": "NULL"}, "a comment has a text"),
    pytest.param({"message": "'  '"}, "a comment has a text", marks=pytest.mark.long),
    ({"digest": "digest"}, "no other verdict names one"),
    pytest.param({"piece": "'C:X'"}, "on an entry of it or of its base", marks=pytest.mark.long),
    pytest.param({"piece": "'C:N'", "source": "'z9'"}, "on an entry of it or of its base", marks=pytest.mark.long),
    pytest.param({"piece": "'C:N'", "source": "'*'"}, "on an entry of it or of its base", marks=pytest.mark.long),
    ({"piece": "'C:N'", "source": "'b1'", "destination": "'b1'"}, "on an entry of it or of its base"),
    pytest.param({"piece": "'C:N'", "destination": "'a3'"}, "on an entry of it or of its base", marks=pytest.mark.long),
    pytest.param({"source": "'b1'"}, "on an entry of it or of its base", marks=pytest.mark.long),
    ({"verdict": "rejected", "piece": "'C:N'"}, "nothing else is on an entry"),
    ({"verdict": "approved", "digest": "digest", "round": "1"}, "is its newest round"),
    pytest.param({"verdict": "rejected", "round": "1"}, "is its newest round", marks=pytest.mark.long),
    pytest.param(
        {"verdict": "withdrawn", "round": "1", "author": "ann"},
        "is its newest round|is withdrawn by whoever made it",
        marks=pytest.mark.long,
    ),
    ({"ordinal": "2"}, "numbered without gaps"),
)


@pytest.mark.parametrize(("given", "told"), VERDICTS, ids=str)
def test_the_database_takes_no_comment_or_verdict_that_does_not_fit(
    people: People, given: dict[str, str], told: str
) -> None:
    proposed(people)
    amend(people, "ann", OTHER)
    with pytest.raises(StoreError, match=told):
        execute(people.store("bob"), SAID.format(now=stamp(), **NOTHING | {"author": "bob"} | given))
    # The entry of the base's is one.
    sound = {"author": "bob", "piece": "'C:N'", "source": "'b1'", "destination": "'c3'"}
    execute(people.store("bob"), SAID.format(now=stamp(), **NOTHING | sound))
    assert people.admin.upkeep.check() == []


def test_what_was_approved_before_is_no_revision_once_it_was_amended(people: People) -> None:
    proposal = proposed(people, needed=2)
    people.approve("bob", proposal)
    amend(people, "ann", OTHER)
    people.admin.policies.set("team", review=1)
    revision = (
        "INSERT INTO revision (ruleset_id, number, digest, parent_id, dialect, board_id, envelope, author, message, "
        "created_at, lineage) SELECT ruleset_id, 2, digest, base_id, dialect, board_id, envelope, author, message, "
        "created_at, '0' FROM proposal WHERE round = 1"
    )
    with pytest.raises(StoreError, match="takes only revisions that were proposed and approved"):
        execute(people.store("ann"), revision)
    assert people.approve("bob", "team/knight#1").revision == 2


@pytest.mark.parametrize("table", ["proposal", "verdict"])
def test_rounds_and_comments_stay_as_they_were(people: People, table: str) -> None:
    proposed(people)
    amend(people, "ann", OTHER)
    comment(people, "bob", "why?")
    for statement in (f"UPDATE {table} SET message = 'so'", f"DELETE FROM {table}"):
        with pytest.raises(StoreError, match=r"is never (changed|removed)"):
            execute(people.admin, statement)


def test_who_amends_and_who_rejects_wait_for_each_other(people: People) -> None:
    proposed(people)
    if not people.is_known:  # in a file one writes at a time
        return
    told: list[str] = []

    def reject() -> None:
        try:
            told.append(people.reject("bob", "team/knight#1").state)
        except GgnStoreError as error:
            told.append(str(error))

    people.store("bob")
    thread = threading.Thread(target=reject)
    waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO verdict%'"
    with people.store("ann").session.database.writing() as connection:
        connection.execute(text(ROUND.format(now=stamp(), **SOUND)))
        thread.start()
        while thread.is_alive() and not rows(people.admin, waiting):
            pass
        assert thread.is_alive()
    thread.join()
    assert len(told) == 1
    assert "the proposal was amended: what is judged is its newest round" in told[0]


# --- stores of before ---


def test_a_store_of_before_keeps_its_proposals_and_gets_rounds(store: Store, address: str) -> None:
    store.load(KNIGHT, "knight")
    store.reviews.propose(WIDER, "knight", author="Ann")
    store.reviews.propose(OTHER, "knight", author="Ann")
    store.reviews.reject("knight#1", author="Bob")
    before = store.reviews.list(closed=True)
    store.close()
    with connected(address) as connection:
        alembic(connection, command.downgrade, "0012")
    with Store.open(address, upgrade=True) as upgraded:
        assert upgraded.reviews.list(closed=True) == before
        assert upgraded.upkeep.check() == []
        assert upgraded.reviews.amend("knight#2", FARTHER, author="Ann").round == 2
        upgraded.reviews.comment("knight#1", "why?", author="Ann")
        assert upgraded.upkeep.check() == []
        assert upgraded.upkeep.verify().problems == ()
    with pytest.raises(RuntimeError, match="has rounds"), connected(address) as connection:
        alembic(connection, command.downgrade, "0012")
