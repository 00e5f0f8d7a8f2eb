"""Rights in a namespace, on a server with roles: what the wrong people try fails and leaves everything as it was.

Each kind of act is tried by the command line and in SQL; the same act of somebody who may do it is taken.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from ggn_store import Store
from tests.support.house import as_user, dumped
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER
from tests.support.postgres import Server
from tests.support.program import Program, write
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

# Who logs in, with the groups that each is a member of.
PEOPLE = {
    "ann": ("ggn_author",),  # proposes, by name
    "bob": ("ggn_author", "writers"),
    "carl": ("ggn_author",),  # approves, by name
    "dora": ("ggn_author", "juniors"),  # approves, as juniors are reviewers
    "eve": ("ggn_author",),
    "fred": ("ggn_author",),  # was an approver
    "gina": ("ggn_author",),  # was a reviewer
    "gus": ("ggn_author",),  # tags
    "hal": ("ggn_admin",),
    "rita": ("ggn_reader", "writers", "reviewers"),
}
GROUPS = ("writers", "reviewers", "juniors")


@dataclass(frozen=True)
class Office:
    """A server's database with a store, and the addresses and logins of those who work there."""

    root: str
    address: Mapping[str, str]
    name: Mapping[str, str]
    owner: psycopg.Connection[Any]

    def dump(self) -> dict[str, list[str]]:
        """Everything that an attempt could have changed."""
        return dumped(self.owner)

    def said(self, text: str) -> str:
        """A text with the logins in place of {ann} and the others."""
        return re.sub(r"\{(\w+)\}", lambda found: self.name[found[1]], text)


@pytest.fixture(scope="module")
def office(postgres_server: Server) -> Iterator[Office]:
    root = postgres_server.create_store()
    mark = uuid.uuid4().hex[:8]
    name = {who: f"ggn_test_{who}_{mark}" for who in (*PEOPLE, *GROUPS)}
    with psycopg.connect(root, autocommit=True) as server, ExitStack() as stack:
        for who, login in name.items():
            kind = f"LOGIN PASSWORD '{login}'" if who in PEOPLE else "NOLOGIN"
            server.execute(f"CREATE ROLE {login} {kind}".encode())
            stack.callback(server.execute, f"DROP ROLE {login}".encode())
        address = {who: as_user(root, name[who]) for who in PEOPLE} | {"root": root}
        name |= {"root": server.info.user}
        with Store.open(root) as owner:
            assert owner.server.init_roles().deviations == ()
            for who, groups in {**PEOPLE, "juniors": ("reviewers",), "gina": ("ggn_author", "reviewers")}.items():
                for group in groups:
                    server.execute(f"GRANT {name.get(group, group)} TO {name[who]}".encode())
            fill(owner, {who: Store.open(each) for who, each in address.items()}, name)
        server.execute(f"REVOKE {name['reviewers']} FROM {name['gina']}".encode())
        yield Office(root, address, name, server)
    postgres_server.drop_database(root)


def fill(owner: Store, stores: Mapping[str, Store], name: Mapping[str, str]) -> None:
    """Rulesets in a namespace, in one within it and in none; two who may not any more have approved of a proposal."""
    for ruleset in ("team/game", "team/inner/game", "open/game"):
        owner.load(KNIGHT, ruleset)
        owner.load(WIDER, ruleset)
        owner.tags.set(ruleset, "stable")
    owner.policies.set("team", review=3, approvers=[name["carl"], name["fred"], name["reviewers"]])
    stores["ann"].reviews.propose(OTHER, "team/game")
    for who in ("fred", "gina"):
        stores[who].reviews.approve("team/game#1")
    owner.policies.set(
        "team",
        review=2,
        proposers=[name["ann"], name["writers"]],
        approvers=[name["carl"], name["reviewers"]],
        taggers=[name["gus"]],
    )
    owner.policies.set("team/inner", proposers=[name["bob"]], approvers=[name["ann"]], taggers=[name["bob"]])
    for store in stores.values():
        store.close()


@dataclass(frozen=True)
class Act:
    """Something that only some may do: as a command, and in SQL; `others` may not, and `right` is somebody who may."""

    name: str
    command: str
    statement: str
    right: str
    others: str


def ruleset(name: str) -> str:
    return f"(SELECT id FROM ruleset WHERE name = '{name}')"


ONE = f"(SELECT min(id) FROM proposal WHERE ruleset_id = {ruleset('team/game')})"
SIGNED = "author, message, created_at"


def propose(name: str) -> str:
    """A proposal like the one that is there."""
    copied = "digest, dialect, board_id, envelope, pieces, accepted"
    return (
        f"INSERT INTO proposal (ruleset_id, number, base_id, {copied}, {SIGNED}) SELECT {ruleset(name)}, (SELECT "
        f"coalesce(max(number), 0) + 1 FROM proposal WHERE ruleset_id = {ruleset(name)}), (SELECT id FROM revision "
        f"WHERE ruleset_id = {ruleset(name)} AND number = 2), {copied}, 'ann', 'mine', now() FROM proposal WHERE id = "
        f"{ONE}"
    )


def judge(verdict: str, revision: str = "NULL") -> str:
    digest = "digest" if verdict == "approved" else "NULL"
    return (
        f"INSERT INTO verdict (proposal_id, ordinal, verdict, revision_id, digest, {SIGNED}) SELECT id, (SELECT 1 + "
        f"count(*) FROM verdict WHERE proposal_id = {ONE}), '{verdict}', {revision}, {digest}, 'carl', 'fine', now() "
        f"FROM proposal WHERE id = {ONE}"
    )


def append(name: str, source: str) -> str:
    """A revision like a row of another table, after the newest one."""
    copied = "digest, dialect, board_id, envelope"
    return (
        f"INSERT INTO revision (ruleset_id, number, parent_id, lineage, {copied}, {SIGNED}) SELECT {ruleset(name)}, 3, "
        f"(SELECT id FROM revision WHERE ruleset_id = {ruleset(name)} AND number = 2), repeat('0', 64), {copied}, "
        f"author, message, now() FROM {source}"
    )


def tag(name: str, target: str = "1") -> str:
    revision = f"(SELECT id FROM revision WHERE ruleset_id = {ruleset(name)} AND number = {target})"
    return (
        f"INSERT INTO tag (ruleset_id, name, number, revision_id, {SIGNED}) VALUES ({ruleset(name)}, 'stable', 2, "
        f"{revision}, 'gus', 'mine', now())"
    )


def state(name: str) -> str:
    return (
        f"INSERT INTO ruleset_state (ruleset_id, number, state, successor, {SIGNED}) VALUES ({ruleset(name)}, 1, "
        "'deprecated', NULL, 'gus', 'mine', now())"
    )


APPROVED = f"proposal WHERE id = {ONE}"
FIRST = f"revision WHERE ruleset_id = {ruleset('team/inner/game')} AND number = 1"
ACTS = (
    Act("propose", "propose team/game rook.json", propose("team/game"), "bob", "carl dora eve gina gus hal root"),
    Act("propose an old revision", "propose team/game@1", propose("team/game"), "ann", "carl eve gus hal root"),
    Act(
        "propose within the namespace",
        "propose team/inner/game rook.json",
        propose("team/inner/game"),
        "bob",
        "ann carl dora eve gus hal root",
    ),
    Act(
        "load where no review is asked for",
        "load rook.json --name team/inner/game",
        append("team/inner/game", FIRST),
        "bob",
        "ann carl eve gus hal root",
    ),
    Act(
        "restore where no review is asked for",
        "restore team/inner/game@1",
        append("team/inner/game", FIRST),
        "bob",
        "ann dora eve hal root",
    ),
    Act(
        "push where no review is asked for",
        "push team/inner/game",
        append("team/inner/game", FIRST),
        "bob",
        "ann carl eve gus hal root",
    ),
    Act("approve", "approve team/game#1", judge("approved"), "dora", "bob eve fred gina gus hal root"),
    Act("reject", "reject team/game#1", judge("rejected"), "carl", "ann bob eve fred gina gus hal root"),
    Act("tag", "tag team/game@1 stable", tag("team/game"), "gus", "ann bob carl dora eve hal root"),
    Act("tag anew", "tag team/game fresh", tag("team/game").replace("'stable', 2", "'fresh', 1"), "gus", "ann hal"),
    Act("remove a tag", "tag team/game stable --delete", tag("team/game", "NULL"), "gus", "carl eve hal root"),
    Act("tag within the namespace", "tag team/inner/game@1 stable", tag("team/inner/game"), "bob", "ann gus hal"),
    Act("deprecate", "state team/game deprecated", state("team/game"), "gus", "ann bob carl eve hal root"),
    Act("retire", "state team/game retired", state("team/game").replace("deprecated", "retired"), "gus", "ann hal"),
    Act("tag what has no policy", "tag open/game@1 stable", tag("open/game"), "hal", "ann bob eve gus"),
)
WRONG = [(act, who) for act in ACTS for who in act.others.split()]
REFUSED = (
    r"may not|lets others|takes only revisions that were proposed|this takes ggn_admin|permission denied for table"
)


@pytest.fixture
def files(run: Program, monkeypatch: pytest.MonkeyPatch, office: Office) -> None:
    """What people load and push, beside the program."""
    write("rook.json", ROOK)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("act", "who"), WRONG, ids=[f"{who} {act.name}".replace(" ", "-") for act, who in WRONG])
def test_the_wrong_people_are_refused_by_the_program_and_by_the_server(
    office: Office, run: Program, monkeypatch: pytest.MonkeyPatch, act: Act, who: str
) -> None:
    before = office.dump()
    # Under the name of somebody who may.
    monkeypatch.setenv("GGN_AUTHOR", office.name[act.right])
    done = command(office, run, monkeypatch, act, who)
    assert (done.code, bool(re.search(REFUSED, done.err + done.out))) == (1, True), done
    with psycopg.connect(office.address[who]) as connection, pytest.raises(psycopg.Error, match=REFUSED):
        connection.execute(act.statement.encode())
    assert office.dump() == before


def command(office: Office, run: Program, monkeypatch: pytest.MonkeyPatch, act: Act, who: str) -> Any:
    store = office.address[who]
    if act.command.startswith("push"):
        monkeypatch.setenv("GGN_STORE_REMOTE", store)
        monkeypatch.delenv("GGN_AUTHOR")
        store = "sqlite:///own.db"
        assert run("--db", store, "pull", "team/inner/game").code == 0
        assert run("--db", store, "load", "rook.json", "--name", "team/inner/game", "--author", who).code == 0
    return run("--db", store, *act.command.split())


@pytest.mark.parametrize("act", ACTS, ids=[act.name.replace(" ", "-") for act in ACTS])
def test_the_server_takes_the_same_rows_of_the_right_people(office: Office, act: Act) -> None:
    with psycopg.connect(office.address[act.right]) as connection:
        assert connection.execute(act.statement.encode()).rowcount == 1
        connection.rollback()


# What is tried in SQL to be taken for somebody else: who, what comes first, and what is done then.
TRICKS: tuple[tuple[str, str, str, str], ...] = (
    ("be the role of all authors", "eve", "SET ROLE ggn_author", propose("team/game")),
    ("be the role of all admins", "hal", "SET ROLE ggn_admin", tag("team/game")),
    ("be a group as a superuser", "root", "SET ROLE {reviewers}", judge("approved")),
    ("be an approver as a superuser", "root", "SET ROLE {carl}", judge("approved")),
    ("be an approver", "eve", "SET ROLE {carl}", judge("approved")),
    ("be a group", "eve", "SET ROLE {reviewers}", judge("approved")),
    ("be an approver for the session", "eve", "SET SESSION AUTHORIZATION {carl}", judge("approved")),
    ("have an approver's name", "eve", "ALTER ROLE {eve} RENAME TO carl", judge("approved")),
    ("join a group", "eve", "GRANT {reviewers} TO {eve}", judge("approved")),
    ("have joined a group to read only", "rita", "SELECT 1", judge("approved")),
    ("switch the guards off", "eve", "SET session_replication_role = replica", judge("approved")),
    ("remove a guard", "hal", "DROP TRIGGER verdict_listed ON verdict", judge("approved")),
    ("replace a guard", "hal", "DROP FUNCTION ggn_is_one_of(text, json) CASCADE", judge("approved")),
    ("call what decides", "eve", "SELECT ggn_is_one_of('x', NULL)", judge("approved")),
    (
        "hide the policy behind a temporary table",
        "eve",
        "CREATE TEMPORARY TABLE policy AS SELECT * FROM public.policy WHERE false; SET search_path = pg_temp, public",
        judge("approved"),
    ),
    (
        "hide the members behind a temporary table",
        "eve",
        "CREATE TEMPORARY TABLE pg_auth_members (member oid, roleid oid); "
        "SET search_path = pg_temp, pg_catalog, public",
        tag("team/game"),
    ),
    (
        "hide what decides behind a function of one's own",
        "eve",
        "CREATE FUNCTION pg_temp.ggn_is_one_of(text, json) RETURNS boolean LANGUAGE sql AS 'SELECT true'; "
        "SET search_path = pg_temp, public",
        propose("team/game"),
    ),
    (
        "hide the people behind a function of one's own",
        "eve",
        "CREATE FUNCTION pg_temp.ggn_people(text, text) RETURNS json LANGUAGE sql AS $$ SELECT '[]'::json $$; "
        "SET search_path = pg_temp, public",
        tag("open/game"),
    ),
    ("set a policy of one's own", "eve", "SELECT 1", "INSERT INTO policy SELECT * FROM policy LIMIT 1"),
    ("change the policy", "hal", "SELECT 1", "UPDATE policy SET rules = NULL"),
    ("remove the policy", "hal", "SELECT 1", "DELETE FROM policy"),
    ("say who approved", "eve", "SELECT 1", judge("approved").replace("'carl'", "'{carl}'")),
    (
        "say which role approved",
        "eve",
        "SELECT 1",
        judge("approved")
        .replace("(proposal_id", "(role, proposal_id")
        .replace("SELECT id,", "SELECT '{carl}', id,", 1),
    ),
    ("change a verdict", "carl", "SELECT 1", "UPDATE verdict SET role = '{dora}'"),
    # Two approvals are here, of people who may not approve any more.
    ("merge with approvals that do not count", "carl", "SELECT 1", append("team/game", APPROVED)),
    ("merge as a proposer", "bob", "SELECT 1", append("team/game", APPROVED)),
    ("merge as an admin", "hal", "SELECT 1", append("team/game", APPROVED)),
    (
        "say that it was merged",
        "carl",
        "SELECT 1",
        judge("merged", f"(SELECT id FROM revision WHERE ruleset_id = {ruleset('team/game')} AND number = 2)"),
    ),
    ("merge with one approval that counts", "dora", judge("approved"), append("team/game", APPROVED)),
)


REFUSED_TRICK = f"{REFUSED}|permission denied|must be owner|must have admin option|merged by|cannot be renamed"


def in_turn(connection: psycopg.Connection[Any], *statements: str) -> None:
    for statement in statements:
        connection.execute(statement.encode())


@pytest.mark.parametrize("trick", TRICKS, ids=[trick[0].replace(" ", "-") for trick in TRICKS])
def test_nobody_is_taken_for_somebody_else(office: Office, trick: tuple[str, str, str, str]) -> None:
    _, who, first, then = trick
    before = office.dump()
    with psycopg.connect(office.address[who]) as connection, pytest.raises(psycopg.Error, match=REFUSED_TRICK):
        in_turn(connection, office.said(first), office.said(then))
    assert office.dump() == before


def test_there_are_enough_attempts() -> None:
    assert len(WRONG) * 2 + len(TRICKS) >= 60


def test_the_right_people_do_all_of_it(office: Office, run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last test here: what it does stays."""
    write("rook.json", ROOK)

    def does(who: str, command: str) -> str:
        monkeypatch.delenv("GGN_AUTHOR", raising=False)
        done = run("--db", office.address[who], *command.split())
        assert done.code == 0, done
        return done.out

    shown = json.loads(does("eve", "proposal team/game#1 --format json"))
    assert (shown["approvals"], shown["approvers"]) == ([], [office.name["carl"], office.name["reviewers"]])
    assert does("eve", "proposal team/game#1").count("which does not count") == 2
    assert "1 more approval" in does("carl", "approve team/game#1")
    assert "it is team/game@3 now" in does("dora", "approve team/game#1")
    does("bob", "propose team/game rook.json")
    does("carl", "reject team/game#2")
    does("ann", "propose team/game@1")
    does("ann", "withdraw team/game#3")
    does("gus", "tag team/game stable")
    does("gus", "tag team/game stable --delete")
    does("gus", "state team/game deprecated")
    does("bob", "load rook.json --name team/inner/game")
    does("bob", "tag team/inner/game stable")
    # Who may not load there proposes nothing either; what others propose takes one approval.
    does("bob", "propose team/inner/game@1")
    assert "it is team/inner/game@4 now" in does("ann", "approve team/inner/game#1")
    does("hal", "tag open/game@1 stable")
    with Store.open(office.root) as owner:
        assert owner.upkeep.check() == []
        assert owner.server.roles().deviations == ()


UNKNOWN: tuple[tuple[dict[str, Any], str], ...] = (
    ({"approvers": []}, "would be nobody"),
    ({"approvers": ["{reviewers}", "no_such_role"]}, 'no role "no_such_role" on this server'),
    ({"taggers": ["ggn_test_nobody"]}, "nobody who can log in"),
    ({"approvers": ["{carl}"], "review": 2}, "1 other among the approvers, and a change needs 2"),
    ({"approvers": ["{ann}"], "proposers": ["{ann}"]}, "0 others among the approvers, and a change needs 1"),
    ({"approvers": ["{reviewers}"], "review": 4}, "and a change needs 4"),
)


@pytest.mark.parametrize(("lists", "told"), UNKNOWN)
def test_lists_that_nothing_gets_past_are_refused(office: Office, lists: dict[str, Any], told: str) -> None:
    before = office.dump()
    asked: dict[str, Any] = {
        key: [*map(office.said, names)] if key != "review" else names for key, names in lists.items()
    }
    with psycopg.connect(office.root, autocommit=True) as server, Store.open(office.address["hal"]) as store:
        server.execute(b"CREATE ROLE ggn_test_nobody")
        try:
            with pytest.raises(ValueError, match=told):
                store.policies.set("team", **asked)
        finally:
            server.execute(b"DROP ROLE ggn_test_nobody")
    assert office.dump() == before
