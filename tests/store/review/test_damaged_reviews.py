"""Stores of before, with proposals, verdicts, policies and tags in them that this program would never have written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import text

from ggn_store import ConflictError, Store, StoreError, parse
from ggn_store.errors import GateError, NotationError
from tests.support.guards import drop_guards
from tests.support.migrations import alembic
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER, rows

LARGEST = 2_147_483_647
PROPOSED = (
    "INSERT INTO proposal (ruleset_id, number, base_id, digest, dialect, board_id, envelope, pieces, accepted, author, "
    "message, created_at) SELECT r.ruleset_id, {number}, r.id, {digest}, r.dialect, r.board_id, {envelope}, {pieces}, "
    "{accepted}, 'eve', {message}, {created_at} FROM revision AS r JOIN ruleset AS s ON s.id = r.ruleset_id "
    "WHERE s.name = 'team/knight' AND r.number = 1"
)
SOUND = {
    "digest": "r.digest",
    "envelope": "'{}'",
    "pieces": "1",
    "accepted": "NULL",
    "message": "'fine'",
    "created_at": "CURRENT_TIMESTAMP",
}
# Number and columns of a proposal, and what is said of it.
DAMAGED: tuple[tuple[int, dict[str, str], str], ...] = (
    (2, {"envelope": "'not json'"}, "its envelope is not as this program writes it"),
    (3, {"created_at": "'2999-01-01 00:00:00.000000'"}, "it was written in the future"),
    (4, {"digest": "'zz'"}, "its digest is none"),
    (5, {"pieces": "1000000"}, "it says that it lists 1000000 pieces, and lists 1"),
    (6, {"accepted": "'{}'"}, "its accepted changes are not as this program writes them"),
    (7, {"envelope": """'{"title": 1}'"""}, "its envelope is not as this program writes it"),
    (LARGEST, {}, "its number does not follow those of the others"),
)
# What only one of the databases can hold.
UNREADABLE = {
    "sqlite": {"message": "CAST(x'ff41' AS TEXT)"},
    "postgres": {"created_at": "'infinity'"},
}


def downgraded(store: Store, *statements: str) -> None:
    """Run statements on the store as its last version made it, and bring it up to date again."""
    with store.session.database.writing() as connection:
        alembic(connection, command.downgrade, "0006")
        for statement in statements:
            connection.execute(text(statement.replace(":", r"\:")))
    store.upgrade()


@pytest.fixture
def damaged(store: Store) -> Store:
    store.load(KNIGHT, "team/knight", author="Ann")
    store.load(ROOK, "other/rook", author="Ann")
    store.policies.set("team", review=1, author="Ann")
    store.reviews.propose(WIDER, "team/knight", author="Ann")
    store.tags.set("other/rook", "stable", author="Ann")
    every = [*DAMAGED, (8, UNREADABLE[store.session.database.name], "it cannot be read")]
    proposals = [PROPOSED.format(**SOUND | columns, number=number) for number, columns, _ in every]
    piece = "INSERT INTO proposal_piece SELECT p.id, 0, q.id FROM proposal AS p, piece AS q WHERE q.identifier = 'C:N' "
    piece += "AND p.author = 'eve' AND q.id = (SELECT piece_id FROM revision_piece WHERE revision_id = p.base_id)"
    policy = "INSERT INTO policy (namespace, number, rules, created_at) VALUES ('{}', {}, {}, CURRENT_TIMESTAMP)"
    downgraded(
        store,
        *proposals,
        piece,
        policy.format("team", LARGEST, "NULL"),
        policy.format("odd", 1, """'{"lint": 5}'"""),
        policy.format("worse", 1, """'{"compatible": {"name": "x", "positions": 1}}'"""),
        "INSERT INTO tag (ruleset_id, name, number, revision_id, created_at) SELECT ruleset_id, 'a\x1b[2J', 1, id, "
        "CURRENT_TIMESTAMP FROM revision WHERE number = 1 AND ruleset_id = (SELECT min(id) FROM ruleset)",
    )
    return store


def told(store: Store) -> dict[str, str | None]:
    return {str(each): each.fault for each in store.reviews.list("team/knight", closed=True)}


def test_broken_rows_are_listed_with_what_is_wrong_and_reported(damaged: Store) -> None:
    expected = {f"team/knight#{number}": fault for number, _, fault in DAMAGED}
    expected |= {"team/knight#8": "it cannot be read"}
    assert told(damaged) == {"team/knight#1": None, **expected}
    states = {str(each): each.state for each in damaged.reviews.list()}
    assert states == dict.fromkeys(expected, "broken") | {"team/knight#1": "open"}
    assert all(each.data()["state"] for each in damaged.reviews.list())
    problems = damaged.upkeep.check()
    for name, fault in expected.items():
        assert f"proposal {name}: {fault}" in problems
    assert any(problem.startswith("policy 1 of odd: its rules are not") for problem in problems)
    assert any(problem.startswith("policy 1 of worse: its rules are not") for problem in problems)
    assert any(problem.startswith(f"policy {LARGEST} of team: its number does not follow") for problem in problems)
    assert any(problem.endswith("its name is not one of a tag") for problem in problems)
    assert damaged.upkeep.verify().problems


def test_a_command_that_meets_a_broken_row_says_so_and_how_to_mend_it(damaged: Store) -> None:
    for number, _, fault in DAMAGED:
        name = f"team/knight#{number}"
        works: list[Callable[[str], object]] = [damaged.reviews.get, damaged.reviews.ruleset, damaged.reviews.diff]
        works.append(partial(damaged.reviews.approve, author="Bob"))
        for work in works:
            with pytest.raises(StoreError, match=f"{name} is broken: .*{fault[:20]}.*ggn-store reject {name}"):
                work(name)
    for name in ("odd/game", "worse/game"):
        with pytest.raises(
            StoreError, match=r"the policy 1 of (odd|worse) is broken, its rules .*ggn-store policy set"
        ):
            damaged.load(ROOK, name)
    assert [(each.namespace, each.fault is None) for each in damaged.policies.list()] == [
        ("odd", False),
        ("team", True),
        ("worse", False),
    ]
    damaged.policies.set("odd", author="Ann")
    assert damaged.load(ROOK, "odd/game").number == 1


def test_broken_rows_hold_nobody_up(damaged: Store) -> None:
    # The others, and what is sound beside them.
    assert damaged.load(KNIGHT, "other/rook", author="Ann").number == 2
    assert [each.name for each in damaged.tags.list("other/rook")] == ["stable"]
    assert len(damaged.list()) == 2
    assert [*damaged.upkeep.audit()]
    # A policy far ahead leaves nothing off, and another can be set.
    with pytest.raises(GateError, match="approved by 1 other"):
        damaged.load(ROOK, "team/knight")
    assert damaged.policies.set("team", review=1, author="Ann").number == 2
    assert str(damaged.reviews.propose(OTHER, "team/knight", author="Ann")) == "team/knight#9"
    for number in (*(number for number, _, _ in DAMAGED), 8):
        assert damaged.reviews.reject(f"team/knight#{number}", author="Bob").state == "rejected"
    assert [each.state for each in damaged.reviews.list()] == ["open", "open"]
    with pytest.raises(ConflictError, match="was rejected already"):
        damaged.reviews.reject("team/knight#2", author="Bob")


def test_rounds_that_others_have_numbered_come_last(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        store.reviews.propose(KNIGHT, "knight", author="Ann")
        for rules in (WIDER, ROOK):
            store.reviews.amend("knight#1", rules, author="Ann")
        with store.session.database.writing() as connection:
            drop_guards(connection)
            connection.execute(text("UPDATE proposal SET round = 'x' WHERE round = 1"))
            connection.execute(text("UPDATE proposal SET round = 1 WHERE round = 2"))
            connection.execute(text("UPDATE proposal SET round = 2 WHERE round = 3"))
        assert [each.round for each in store.reviews.rounds("knight#1")] == [1, 2, "x"]
        assert "proposal knight#1.x: its round does not follow those of the others" in store.upkeep.check()


def test_approvals_of_before_are_of_the_digest_that_was_proposed(store: Store) -> None:
    store.load(KNIGHT, "knight", author="Ann")
    store.policies.set("*", review=2)
    proposal = store.reviews.propose(WIDER, "knight", author="Ann")
    said = "INSERT INTO verdict (proposal_id, ordinal, verdict, author, created_at) VALUES ({}, {}, '{}', 'x', '{}')"
    at = "2026-01-02 03:04:05.000006"
    drop = "UPDATE proposal SET role = 'ann'"
    if store.session.database.is_server:
        drop = "ALTER TABLE proposal DISABLE TRIGGER proposal_unchanged; " + drop
        drop += "; ALTER TABLE proposal ENABLE TRIGGER proposal_unchanged"
    else:
        drop = "SELECT 1"
    before = rows(store, "SELECT * FROM proposal") if not store.session.database.is_server else []
    downgraded(store, drop, said.format(proposal.id, 1, "approved", at))
    [verdict] = store.reviews.get("knight#1").verdicts
    assert verdict.digest == proposal.digest == parse(WIDER).digest
    assert len(store.reviews.get("knight#1").approvals) == 1
    assert not before or rows(store, "SELECT * FROM proposal") == before
    assert store.upkeep.check() == []
    store.reviews.reject("knight#1", author="Bob")
    downgraded(store)
    assert [each.digest for each in store.reviews.get("knight#1").verdicts] == [proposal.digest, None]


def test_an_approval_is_of_the_digest_that_was_read(store: Store) -> None:
    store.load(KNIGHT, "knight", author="Ann")
    proposal = store.reviews.propose(WIDER, "knight", author="Ann")
    approve: Any = store.reviews.approve
    with pytest.raises(ConflictError, match=f"has the digest {proposal.digest}, and the one that was read is f+") as no:
        approve("knight#1", author="Bob", digest="f" * 64)
    assert no.value.exit_code == 3
    for given in ("", "zz", proposal.digest[:15], proposal.digest.upper(), proposal.digest + "0"):
        with pytest.raises(NotationError, match="is not a digest"):
            approve("knight#1", author="Bob", digest=given)
    assert store.reviews.get("knight#1").verdicts == ()
    if store.session.database.is_server:  # where it knows who is who
        return
    assert approve("knight#1", author="Bob", digest=f"sha256:{proposal.digest[:16]}").revision == 2
    approved, merged = store.reviews.get("knight#1").verdicts
    assert (approved.digest, merged.digest) == (proposal.digest, None)
    [event] = [each for each in store.upkeep.audit() if each.action == "approve"]
    assert event.detail["digest"] == proposal.digest
