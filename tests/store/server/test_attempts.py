"""Whoever inserts rows past the program forges no review, breaks no command and reaches no other ruleset."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psycopg
import pytest

from ggn_store import Document, GgnStoreError, Store, parse
from tests.support.attempts import Attempt, Keys, attempts_by_hand, insertion, random_attempts
from tests.support.house import as_user
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER
from tests.support.postgres import Server

OWN, OTHERS = "team/knight", "other/rook"


@dataclass
class Place:
    """A store with an open proposal, and those who attack it: each with what runs a statement and what commits."""

    owner: Store
    reviewer: Store
    connect: Callable[[str], Any]
    attackers: tuple[str, ...]
    seen: dict[str, str] = field(default_factory=dict)
    in_a_file: bool = False

    def fill(self) -> None:
        self.owner.load(KNIGHT, OWN, author="owner")
        self.owner.load(ROOK, OTHERS, author="owner")
        self.owner.set_policy("team", review=1, author="owner")
        self.owner.propose(WIDER, OWN, author="ann")
        self.owner.tag(OTHERS, "stable", author="owner")
        # A proposal that needs no more than one piece, whose piece is stored.
        self.owner.propose(OTHER, "team/new", author="ann")

    def keys(self) -> Keys:
        with self.owner._database.reading() as connection:

            def one(statement: str) -> Any:
                return connection.exec_driver_sql(statement).scalar_one()

            def of_ruleset(name: str) -> str:
                return f"(SELECT id FROM ruleset WHERE name = '{name}')"

            head = f"SELECT max(id) FROM revision WHERE ruleset_id = {of_ruleset('%s')}"
            return Keys(
                ruleset=one(f"SELECT {of_ruleset(OWN)}"),
                other=one(f"SELECT {of_ruleset(OTHERS)}"),
                head=one(head % OWN),
                foreign=one(head % OTHERS),
                board=one(f"SELECT board_id FROM revision WHERE ruleset_id = {of_ruleset(OWN)} LIMIT 1"),
                pieces=tuple(connection.exec_driver_sql("SELECT id FROM piece ORDER BY id").scalars()),
                digest=parse(WIDER).digest,
                open=one(f"SELECT min(id) FROM proposal WHERE ruleset_id = {of_ruleset(OWN)}"),
                number=one(f"SELECT count(*) FROM proposal WHERE ruleset_id = {of_ruleset(OWN)}"),
                revision=one(f"SELECT max(number) FROM revision WHERE ruleset_id = {of_ruleset(OWN)}"),
            )


@pytest.fixture
def place(request: pytest.FixtureRequest, address: str, store: Store) -> Iterator[Place]:
    if address.startswith("sqlite"):
        path = address.removeprefix("sqlite:///")
        found = Place(store, store, lambda _: _File(path), ("file",), in_a_file=True)
        found.fill()
        yield found
        return
    server: Server = request.getfixturevalue("postgres_server")
    assert server
    mark = uuid.uuid4().hex[:12]
    names = {who: f"ggn_test_{who}_{mark}" for who in ("author", "admin", "reviewer")}
    addresses = {who: as_user(address, name) for who, name in names.items()} | {"owner": address}
    with psycopg.connect(address, autocommit=True) as connection:
        store.init_roles()
        for who, name in names.items():
            connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{name}'".encode())
            connection.execute(f"GRANT ggn_{'admin' if who == 'admin' else 'author'} TO {name}".encode())
        with Store.open(addresses["reviewer"]) as reviewer:
            found = Place(store, reviewer, lambda who: _Session(addresses[who]), ("author", "admin", "owner"))
            found.fill()
            yield found
        for name in names.values():
            connection.execute(f"DROP OWNED BY {name}".encode())
            connection.execute(f"DROP ROLE {name}".encode())


class _File:
    """What somebody has who opens the file with SQLite's own tools: no foreign keys, and rows that replace others."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._count = 0

    def run(self, attempt: Attempt) -> bool:
        self._count += 1
        verb = ("INSERT", "INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE")[self._count % 4]
        with closing(sqlite3.connect(self._path, timeout=60)) as connection:
            before = connection.total_changes
            try:
                with connection:
                    for table, row in attempt.rows:
                        connection.execute(*insertion(verb, table, row, ":{}"))
            except (sqlite3.Error, OverflowError):
                return False
            return connection.total_changes > before

    def close(self) -> None:
        pass


class _Session:
    """A login of a server."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url)

    def run(self, attempt: Attempt) -> bool:
        try:
            for table, row in attempt.rows:
                statement, values = insertion("INSERT", table, row, "%({})s")
                self._connection.execute(statement.encode(), values)
            self._connection.commit()
        except (psycopg.Error, UnicodeError, ValueError):
            self._connection.rollback()
            return False
        return True

    def close(self) -> None:
        self._connection.close()


def gently(work: Callable[[], Any]) -> Any:
    """The result of `work`, None where it is refused; whatever else it raises is a defect."""
    try:
        return work()
    except GgnStoreError:
        return None


def proposed(store: Store, reference: str) -> Document:
    return store.proposed(reference).document()


def require_well(place: Place) -> None:
    """No command breaks; the other ruleset is as ever; what was proposed is what it was."""
    owner, reviewer = place.owner, place.reviewer
    # These answer whatever was inserted.
    for proposal in (*owner.proposals(closed=True), *owner.proposals(OWN, closed=True)):
        assert proposal.data()["proposal"].startswith(proposal.name)
        document = gently(partial(proposed, owner, str(proposal)))
        gently(partial(owner.proposed_difference, str(proposal)))
        if document is not None:
            seen = place.seen.setdefault(str(proposal), document.canonical())
            assert seen == document.canonical()
    for policy in owner.policies():
        policy.data()
        owner.policy_log(policy.namespace)
    owner.list()
    owner.tags(OTHERS)
    owner.state(OTHERS)
    assert owner.check() is not None
    assert list(owner.audit())
    for work in (
        lambda: owner.tags(OWN),
        lambda: owner.tag_log(OWN),
        lambda: owner.state_log(OWN),
        lambda: owner.policy(OWN),
        lambda: owner.load(OTHER, OWN, author="owner"),
        lambda: owner.ruleset(OWN).document(),
    ):
        gently(work)
    # What others do with theirs.
    made = reviewer.propose(KNIGHT, OTHERS, author="rita")
    owner.reject(str(made), author="owner")
    assert made.state == "open"
    assert owner.ruleset(OTHERS).document() == parse(ROOK)


def attack(place: Place, attempts: Callable[[Keys], Iterator[Attempt]]) -> tuple[int, list[str]]:
    """Try each of the attempts in the name of each attacker; how many were tried, and which were let in."""
    let_in = []
    count = 0
    for who in place.attackers:
        session = place.connect(who)
        try:
            for attempt in attempts(place.keys()):
                count += 1
                if session.run(attempt):
                    let_in.append(f"{who}: {attempt}")
                    require_well(place)
        finally:
            session.close()
    require_well(place)
    merged = 0
    for proposal in place.owner.proposals():
        done = gently(partial(place.reviewer.approve, str(proposal), author="rita", digest=proposal.digest))
        if done is not None and done.revision is not None:
            merged += 1
            document = place.owner.ruleset(f"{done.name}@{done.revision}").document()
            assert document.canonical() == place.seen[str(proposal)]
    assert merged, "nothing could be approved any more"
    return count, let_in


def test_what_is_forged_by_hand_is_refused(place: Place) -> None:
    count, let_in = attack(place, attempts_by_hand)
    assert count >= 70
    # A row at a time tells nothing of the pieces that are still to come: it takes the seals of a server with roles.
    unsealed = {f"{who}: {name}" for who in ("file", "owner") for name in UNSEALED}
    assert set(let_in) <= unsealed
    for name in let_in:
        assert any(problem.startswith(f"proposal {OWN}#") for problem in place.owner.check()), name


UNSEALED = (
    "propose without its pieces",
    "propose with one piece of two",
    "propose pieces under the digest of others",
)


@pytest.mark.parametrize("seed", [1, *(pytest.param(each, marks=pytest.mark.long) for each in range(2, 22))])
def test_what_is_inserted_at_random_breaks_nothing(place: Place, seed: int) -> None:
    wanted = 150

    def attempts(keys: Keys) -> Iterator[Attempt]:
        return random_attempts(wanted, seed, keys, in_a_file=place.in_a_file)

    count, let_in = attack(place, attempts)
    assert count >= wanted * len(place.attackers)
    assert len(let_in) < count / 5
