"""What the database itself refuses to whoever goes round the program: changes without review, and forged reviews."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import Store, StoreError, parse
from ggn_store.model.teams.proposal import Proposal
from tests.support.guards import drop_guards
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER, Json, People, execute, rows
from tests.support.people import people as people

REVISION = (
    "INSERT INTO revision (ruleset_id, number, digest, parent_id, dialect, board_id, envelope, author, message, "
    "created_at, lineage) SELECT p.ruleset_id, (SELECT coalesce(max(r.number), 0) + 1 FROM revision AS r "
    "WHERE r.ruleset_id = p.ruleset_id), {digest}, {parent_id}, {dialect}, {board_id}, {envelope}, {author}, "
    "{message}, p.created_at, '0' FROM proposal AS p WHERE p.number = 1"
)
AS_PROPOSED = {
    "parent_id": "p.base_id",
    **{name: f"p.{name}" for name in ("digest", "dialect", "board_id", "envelope", "author", "message")},
}
FORGED: tuple[dict[str, str], ...] = (
    {"digest": "'0' || p.digest"},
    {"parent_id": "NULL"},
    {"parent_id": "(SELECT min(id) FROM revision)"},
    {"dialect": "'perform'"},
    {"board_id": "(SELECT max(id) FROM board WHERE id <> p.board_id)"},
    {"envelope": '\'{"title": "Mine"}\''},
    {"author": "'eve'"},
    {"author": "NULL"},
    {"message": "'nothing to see'"},
    {"message": "NULL"},
)


def approved(people: People, needed: int = 1) -> Proposal:
    """A proposal on the second revision of team/knight that has one approval and was not merged yet."""
    people.load("ann", KNIGHT, "team/knight")
    people.load("ann", ROOK, "elsewhere")
    people.load("ann", WIDER, "team/knight")
    people.admin.policies.set("team", review=2)
    proposal = people.propose("ann", OTHER, "team/knight", message="left")
    people.approve("bob", proposal)
    people.admin.policies.set("team", review=needed)
    return people.admin.reviews.get(str(proposal))


class UndoneError(Exception):
    """What was tried is taken back."""


def attempt(store: Store, *statements: str) -> None:
    """Run statements in one transaction, which is taken back."""
    try:
        with store.session.database.writing() as connection:
            for statement in statements:
                connection.execute(text(statement))
            raise UndoneError
    except UndoneError:
        return


def test_the_database_takes_a_revision_that_is_what_was_approved(people: People) -> None:
    approved(people)
    attempt(people.store("bob"), REVISION.format(**AS_PROPOSED))
    attempt(people.store("ann"), REVISION.format(**AS_PROPOSED))


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_the_database_takes_no_revision_that_is_not_what_was_approved(people: People, forged: dict[str, str]) -> None:
    approved(people)
    statement = REVISION.format(**AS_PROPOSED | forged)
    for store in (people.store("ann"), people.admin):
        with pytest.raises(StoreError, match=r"takes only revisions that were proposed and approved .*nothing was ch"):
            attempt(store, statement)
    # It is this trigger that refuses, and nothing else.
    execute(people.admin, drop_trigger(people, "revision_reviewed", "revision"))
    attempt(people.admin, statement)


def drop_trigger(people: People, name: str, table: str) -> str:
    return f"DROP TRIGGER {name} ON {table}" if people.is_known else f"DROP TRIGGER {name}"


@pytest.mark.parametrize(
    "why", ["too few", "own", "rejected", "withdrawn", "moved on", "nobody", "merged", "same person twice", "elsewhere"]
)
def test_the_database_counts_approvals_of_others_on_the_head(people: People, why: str) -> None:
    if why in ("too few", "same person twice", "elsewhere"):
        proposal = approved(people, needed=2)
        if why == "elsewhere":
            with Store.open("sqlite://") as other:
                other.exchange.pull(people.admin, "team/knight")
                other.policies.set("team", review=2)
                made = other.reviews.propose(OTHER, "team/knight", author="ann", message="left")
                other.reviews.approve(str(made), author="cid")
                people.admin.exchange.pull(other, "team/knight", reviews=True)
            [foreign] = people.admin.reviews.elsewhere()
            assert [each.digest for each in foreign.records] == [proposal.digest] * 2
        if why == "same person twice":
            # On Postgres the second verdict is given in another name, in a file it cannot be.
            insert_verdict(people, "bob", proposal, 2, author="cid" if people.is_known else "bob")
    elif why in ("own", "nobody"):
        people.load("ann", KNIGHT, "team/knight")
        people.admin.policies.set("team", review=1)
        proposal = people.propose("ann", OTHER, "team/knight")
        if why == "own":
            execute(
                people.admin, drop_trigger(people, "verdict_checked" if people.is_known else "verdict_own", "verdict")
            )
            insert_verdict(people, "ann", proposal, 1, author="ann")
    else:
        proposal = approved(people)
        if why == "rejected":
            people.reject("cid", proposal)
        elif why == "withdrawn":
            people.withdraw("ann", proposal)
        elif why == "merged":
            people.approve("cid", proposal)
        else:
            people.admin.policies.set("team")
            people.load("ann", ROOK, "team/knight")
            people.admin.policies.set("team", review=1)
    statement = REVISION.format(**AS_PROPOSED)
    with pytest.raises(StoreError, match="takes only revisions that were proposed and approved"):
        attempt(people.store("ann"), statement)
    people.admin.policies.set("team")
    attempt(people.store("ann"), statement)


def insert_verdict(people: People, name: str, proposal: Proposal, ordinal: int, **more: Any) -> None:
    values = {"verdict": "approved", "revision": None, "author": name, "digest": proposal.digest} | more
    if values["verdict"] != "approved":
        values["digest"] = None
    columns = "proposal_id, ordinal, verdict, digest, revision_id, author, created_at"
    given = ":id, :ordinal, :verdict, :digest, :revision, :author, CURRENT_TIMESTAMP"
    execute(
        people.store(name),
        f"INSERT INTO verdict ({columns}) VALUES ({given})",
        id=proposal.id,
        ordinal=ordinal,
        **values,
    )


VERDICTS: tuple[tuple[str, Json, str], ...] = (
    ("ann", {}, "nobody approves a proposal of their own"),
    ("bob", {"verdict": "withdrawn"}, "a proposal is withdrawn by whoever made it"),
    ("bob", {"verdict": "merged", "revision": 1}, "merged by a revision of its content that follows its base"),
    ("bob", {"verdict": "merged"}, "merged by a revision of its content that follows its base"),
    ("bob", {"verdict": "rejected", "revision": 1}, "violates|constraint"),
    ("bob", {"verdict": "praised"}, "violates|constraint"),
    ("bob", {"ordinal": 2}, "numbered without gaps"),
    ("bob", {"ordinal": 0}, "numbered without gaps"),
)


@pytest.mark.parametrize(("name", "given_verdict", "told"), VERDICTS, ids=str)
def test_the_database_takes_no_verdict_that_does_not_fit(
    people: People, name: str, given_verdict: Json, told: str
) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.admin.policies.set("team", review=1)
    proposal = people.propose("ann", OTHER, "team/knight")
    values = {"ordinal": 1} | given_verdict
    with pytest.raises(StoreError, match=told):
        insert_verdict(people, name, proposal, **values)
    insert_verdict(people, "bob", proposal, 1)
    with pytest.raises(StoreError, match=r"is never changed|duplicate key"):
        insert_verdict(people, "cid", proposal, 1)
    people.reject("bob", proposal)
    with pytest.raises(StoreError, match="was merged, rejected or withdrawn already"):
        insert_verdict(people, "bob", proposal, 3)


def test_the_database_says_who_proposes_and_judges(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    proposal = people.propose("ann", OTHER, "knight")
    columns = "digest, proposal_id, ordinal, verdict, author, role, created_at"
    values = f"'{proposal.digest}', {proposal.id}, 1, 'approved', 'dan', 'dan', CURRENT_TIMESTAMP"
    claimed = f"INSERT INTO verdict ({columns}) VALUES ({values})"
    if people.is_known:
        execute(people.store("bob"), claimed)
        assert rows(people.admin, "SELECT author, role FROM verdict") == [("dan", people.who("bob"))]
        return
    for column in ("role", "author"):
        refused = claimed.replace("'dan', 'dan'", "'dan', 'dan'" if column == "role" else "NULL, NULL")
        with pytest.raises(StoreError, match="who proposes or judges needs a name"):
            execute(people.admin, refused)


def test_a_revision_under_review_lists_the_pieces_that_were_approved(people: People) -> None:
    people.load("ann", {**KNIGHT, **ROOK}, "team/knight")
    people.admin.policies.set("team", review=1)
    people.approve("bob", people.propose("ann", OTHER, "team/knight"))
    piece = "INSERT INTO revision_piece (revision_id, ordinal, piece_id) SELECT max(r.id), {}, {} FROM revision AS r"
    rook = "(SELECT id FROM piece WHERE identifier = 'C:R')"
    knight = "(SELECT piece_id FROM proposal_piece)"
    for ordinal, listed in ((1, rook), (0, rook), (1, knight)):
        with pytest.raises(StoreError, match="lists the pieces that were approved, and no others"):
            attempt(people.store("ann"), piece.format(ordinal, listed))
    # Nor does one of an earlier time get more.
    with pytest.raises(StoreError, match="lists the pieces that were approved"):
        attempt(people.store("ann"), piece.format(7, rook).replace("max(r.id)", "min(r.id)"))
    execute(people.admin, drop_trigger(people, "revision_piece_reviewed", "revision_piece"))
    attempt(people.admin, piece.format(1, rook))


def test_a_proposal_gets_no_more_pieces(people: People) -> None:
    people.load("ann", ROOK, "rook")
    people.propose("ann", KNIGHT, "knight")
    statement = (
        "INSERT INTO proposal_piece (proposal_id, ordinal, piece_id) "
        "SELECT p.id, {}, q.id FROM proposal AS p, piece AS q WHERE q.identifier = 'C:R'"
    )
    for ordinal in (1, -1):
        with pytest.raises(StoreError, match=r"lists as many pieces as it says|lists pieces of its dialect and board"):
            attempt(people.store("ann"), statement.format(ordinal))


def test_a_forged_proposal_is_found_and_never_merged(people: People) -> None:
    people.load("ann", {**KNIGHT, **ROOK}, "team/knight")
    people.admin.policies.set("team", review=1)
    columns = "ruleset_id, number, base_id, digest, dialect, board_id, envelope, pieces, author, created_at"
    with people.store("ann").session.database.writing() as connection:
        connection.execute(
            text(
                f"INSERT INTO proposal ({columns}) SELECT ruleset_id, 1, id, '{parse(KNIGHT).digest}', dialect, "
                "board_id, envelope, 1, 'ann', created_at FROM revision"
            )
        )
        rook = "SELECT p.id, 0, q.id FROM proposal AS p, piece AS q WHERE q.identifier = 'C:R'"
        connection.execute(text(f"INSERT INTO proposal_piece (proposal_id, ordinal, piece_id) {rook}"))
    with pytest.raises(StoreError, match="team/knight#1 is broken: its pieces do not give its digest"):
        people.approve("bob", "team/knight#1")
    assert people.admin.ruleset("team/knight").revision.number == 1
    [found] = people.admin.upkeep.check()
    assert found.startswith("proposal team/knight#1: its pieces and envelope do not give its digest")


STATEMENTS = (
    *(f"DELETE FROM {table}" for table in ("policy", "proposal_piece", "verdict", "proposal")),
    "UPDATE policy SET rules = '{}'",
    "UPDATE proposal SET message = 'nothing'",
    "UPDATE proposal_piece SET ordinal = ordinal",
    "UPDATE verdict SET verdict = 'approved'",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_was_decided_stays_as_it_was(store: Store, statement: str) -> None:
    store.policies.set("*", review=1)
    store.reviews.propose(KNIGHT, "knight", author="Ann")
    store.reviews.reject("knight#1", author="Bob")
    with pytest.raises(StoreError, match=r"is never (changed|removed); nothing was changed"):
        execute(store, statement)
    if store.session.database.is_server:
        with pytest.raises(StoreError, match="is never removed"):
            execute(store, f"TRUNCATE {statement.split()[1 if 'UPDATE' in statement else 2]} CASCADE")


@pytest.mark.parametrize("table", ["condition", "effect"])
def test_the_pieces_of_a_proposal_are_in_use(store: Store, table: str) -> None:
    store.reviews.propose(KNIGHT, "knight", author="Ann")
    with pytest.raises(StoreError, match="a piece that a revision or a proposal lists is never removed"):
        execute(store, f"DELETE FROM {table}")
    with store.session.database.writing() as connection:
        drop_guards(connection)
        connection.execute(text(f"DELETE FROM {table}"))
    assert len(store.upkeep.check()) == 1


def test_a_store_of_before_gets_its_gates_and_gives_them_back(store: Store, address: str) -> None:
    from alembic import command

    from tests.support.migrations import alembic

    with store.session.database.writing() as connection:
        alembic(connection, command.downgrade, "0003")
        connection.execute(text("INSERT INTO ruleset (name) VALUES ('hidden')"))
        connection.execute(text("DELETE FROM ruleset"))
    store.upgrade()
    store.load(KNIGHT, "knight")
    with store.session.database.writing() as connection:
        alembic(connection, command.downgrade, "0003")
    with pytest.raises(StoreError, match="a piece that a revision lists is never removed"):
        execute(store, "DELETE FROM condition")
