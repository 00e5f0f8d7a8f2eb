"""Whoever inserts rows past the program forges no review, breaks no command and reaches no other ruleset."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, make_url

from ggn_store import parse
from ggn_store.store.schema.tables import metadata
from tests.support.attempts import Attempt, Keys, attempts_by_hand, insertion, random_attempts
from tests.support.house import as_user
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER
from tests.support.postgres import Server
from tests.support.program import Program, Result, write
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

OWN, OTHERS = "team/knight", "other/rook"
DOCUMENTS = {"knight": KNIGHT, "rook": ROOK, "wider": WIDER, "other": OTHER}

# What answers whatever was inserted, and what answers of a ruleset that nobody attacked.
OF_ALL = ("list --all", "proposals --all", "policy list", "policy show", "policy log team", "audit")
OF_ONE = (
    *("log {}", "show {}", "diff {}", "export {}", "tag {}", "tag --log {} stable", "state {}"),
    *("policy show {}", "policy log {}", "proposals {}", "verify {}"),
)


@dataclass
class Place:
    """A store with an open proposal, and those who attack it: each with what runs a statement and what commits."""

    run: Program
    address: str
    reviewer: str
    connect: Callable[[str], Any]
    attackers: tuple[str, ...]
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    of_others: dict[str, tuple[int, str]] = field(default_factory=dict)
    in_a_file: bool = False

    @functools.cached_property
    def engine(self) -> Engine:
        """Connections past the program, as `raw` makes them, of which one is kept."""
        url = make_url(self.address)
        driver = "sqlite" if self.in_a_file else "postgresql+psycopg"
        return create_engine(url.set(drivername=driver))

    def ask(self, command: str, *more: str) -> Result:
        """What the program says to the store's owner: an answer, or why not in one sentence."""
        done = self.run("--db", self.address, *command.split(), *more)
        assert done.code in (0, 1, 3), (command, done)
        if done.code and not done.out:
            assert done.err.startswith("Error: "), (command, done)
            assert done.err.count("\n") == 1, (command, done)
        return done

    def must(self, command: str, *more: str) -> str:
        """What it answers where there is no reason not to."""
        done = self.ask(command, *more)
        assert done.code == 0, (command, done)
        return done.out

    def fill(self) -> None:
        for name, document in DOCUMENTS.items():
            write(f"{name}.json", document)
        self.must(f"load knight.json --name {OWN} --author owner")
        self.must(f"load rook.json --name {OTHERS} --author owner")
        self.must("policy set team --review 1 --author owner")
        self.must(f"propose {OWN} wider.json --author ann")
        self.must(f"tag {OTHERS} stable --author owner")
        # A proposal that needs no more than one piece, whose piece is stored.
        self.must("propose team/new other.json --author ann")

    def keys(self) -> Keys:
        with self.engine.connect() as connection:

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

    def proposals(self) -> Iterator[tuple[str, str]]:
        """Each proposal that is not closed, with its digest."""
        for line in self.must("proposals").splitlines():
            each = json.loads(line)
            yield each["proposal"], str(each["digest"])

    def rows(self) -> str:
        """The digest of every row of every table."""
        with self.engine.connect() as connection:
            tables = [connection.exec_driver_sql(f'SELECT * FROM "{name}"').all() for name in metadata.tables]
        return hashlib.sha256(repr([sorted(map(repr, table)) for table in tables]).encode()).hexdigest()


@pytest.fixture
def place(request: pytest.FixtureRequest, run: Program, address: str) -> Iterator[Place]:
    if address.startswith("sqlite"):
        path = address.removeprefix("sqlite:///")
        found = Place(run, address, address, lambda _: _File(path), ("file",), in_a_file=True)
        found.fill()
        yield found
        found.engine.dispose()
        return
    server: Server = request.getfixturevalue("postgres_server")
    assert server
    mark = uuid.uuid4().hex[:12]
    names = {who: f"ggn_test_{who}_{mark}" for who in ("author", "admin", "reviewer")}
    addresses = {who: as_user(address, name) for who, name in names.items()} | {"owner": address}
    found = Place(
        *(run, address, addresses["reviewer"], lambda who: _Session(addresses[who]), ("author", "admin", "owner"))
    )
    with psycopg.connect(address, autocommit=True) as connection:
        found.must("db roles init")
        for who, name in names.items():
            connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{name}'".encode())
            connection.execute(f"GRANT ggn_{'admin' if who == 'admin' else 'author'} TO {name}".encode())
        found.fill()
        yield found
        found.engine.dispose()
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
        """Nothing is open between two attempts."""


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


def require_well(place: Place, *, others_reached: bool = False) -> None:
    """No command breaks; the other ruleset is as ever; what was proposed is what it was."""
    for command in OF_ALL:
        place.must(command)
    place.ask("db check")
    for proposal, digest in place.proposals():
        place.ask("proposal", proposal)
        shown = place.ask("proposal --document", proposal)
        if shown.code == 0:
            assert place.seen.setdefault(proposal, (digest, shown.out)) == (digest, shown.out)
    for command in OF_ONE:
        place.ask(command.format(OWN))
        done = place.ask(command.format(OTHERS))
        if others_reached:
            place.of_others[command] = done.code, done.out
        assert place.of_others[command] == (done.code, done.out), (command, done)
    place.ask(f"load other.json --name {OWN} --author owner")
    # What others do with theirs.
    made = place.run("--db", place.reviewer, "propose", OTHERS, "knight.json", "--author", "rita")
    if made.code:
        assert "retired" in made.err, made
    else:
        place.must("reject --author owner", made.out.partition(":")[0])


def attack(place: Place, attempts: Callable[[Keys], Iterator[Attempt]], left_out: str) -> tuple[int, list[str]]:
    """Try each of the attempts in the name of each attacker but one; how many were tried, and which were let in."""
    place.of_others = {command: (0, place.must(command.format(OTHERS))) for command in OF_ONE}
    let_in = []
    count = 0
    for who in (each for each in place.attackers if each != left_out):
        with closing(place.connect(who)) as session:
            rows = place.rows()
            for attempt in attempts(place.keys()):
                count += 1
                if session.run(attempt):
                    let_in.append(f"{who}: {attempt}")
                    require_well(place, others_reached=attempt.reaches(place.keys().other))
                    rows = place.rows()
                assert place.rows() == rows, f"{who}: {attempt}: it was refused, and changed something"
    require_well(place)  # once for all that were refused
    merged = 0
    for proposal, digest in place.proposals():
        done = place.run("--db", place.reviewer, "approve", proposal, "--author", "rita", "--digest", digest)
        if at := re.search(r"it is (\S+@\d+) now", done.out):
            merged += 1
            assert (digest, place.must("export", at[1])) == place.seen[proposal]
    assert merged, "nothing could be approved any more"
    return count, let_in


# What each role may do is tried in test_role_attempts.py, too: an admin is between those who are tried here.
@pytest.mark.parametrize("left_out", ["admin", pytest.param("", marks=pytest.mark.long)])
def test_what_is_forged_by_hand_is_refused(place: Place, left_out: str) -> None:
    count, let_in = attack(place, attempts_by_hand, left_out)
    assert count >= 70
    # A row at a time tells nothing of the pieces that are still to come: it takes the seals of a server with roles.
    unsealed = {f"{who}: {name}" for who in ("file", "owner") for name in UNSEALED}
    # A server knows people by their logins, and the proposal is the owner's: to it this is a round without its pieces.
    unsealed.add("owner: amend in another's name")
    # What was said elsewhere counts for nothing, under whatever key.
    records = {f"{who}: record under a key of its own choice" for who in place.attackers}
    assert set(let_in) <= unsealed | records
    problems = place.ask("db check").out
    assert not unsealed.intersection(let_in) or f"proposal {OWN}#" in problems
    assert not records.intersection(let_in) or f"review record {'f' * 64}: " in problems


UNSEALED = (
    "propose without its pieces",
    "propose with one piece of two",
    "propose pieces under the digest of others",
)


@pytest.mark.parametrize(
    ("wanted", "seed", "left_out"),
    [
        (8, 1, "admin"),
        *(pytest.param(*each, "", marks=pytest.mark.long) for each in ((20, 1), *((150, n) for n in range(1, 21)))),
    ],
)
def test_what_is_inserted_at_random_breaks_nothing(place: Place, wanted: int, seed: int, left_out: str) -> None:
    def attempts(keys: Keys) -> Iterator[Attempt]:
        return random_attempts(wanted, seed, keys, in_a_file=place.in_a_file)

    count, let_in = attack(place, attempts, left_out)
    print(f"{count} attempts, of which {len(let_in)} were let in: {', '.join(let_in)}")
    assert count >= wanted * len([each for each in place.attackers if each != left_out])
    assert len(let_in) < count / 5
