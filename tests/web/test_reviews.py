"""What people say of proposals through pages: it is theirs, and what the store refuses changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import make_url
from starlette.testclient import TestClient

from ggn_store import Store
from ggn_store.errors import GateError
from ggn_store.web import site as site_of_pages
from ggn_store.web.people import Proxy
from tests.support.house import logins
from tests.support.payloads import PAYLOADS
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER, People, moving, people, rows
from tests.support.web import START, client, looked_at

__all__ = ["people"]

QUEEN = moving("C:Q", "a1", "a2")
PROXY = "192.0.2.9"
HEADER = "X-Remote-User"
JSON = "application/json"


@contextmanager
def proxied(store: Store, at: str = PROXY) -> Iterator[TestClient]:
    with client(store, people=Proxy.of(HEADER, [PROXY]), at=at) as pages:
        yield pages


def post(pages: TestClient, who: str, proposal: object, accept: str = "text/html", **form: str) -> Any:
    """The answer to a form that somebody sends from the page of a proposal."""
    headers = {HEADER: who, "Origin": START, "Accept": accept}
    return pages.post(f"/proposal/{quote(str(proposal))}", data=form, headers=headers)


def verdicts(store: Store) -> list[Any]:
    return rows(
        store,
        "SELECT verdict, author, role, message, piece, source, destination FROM verdict ORDER BY proposal_id, ordinal",
    )


@pytest.fixture
def proposal(people: People) -> str:
    """A proposal of ann's for a ruleset that is reviewed."""
    people.load("ann", KNIGHT, "team/knight")
    return str(people.propose("ann", WIDER, "team/knight"))


@pytest.mark.both
def test_a_proposal_says_in_words_what_becomes_of_pieces_and_its_board_that_it_is_one(people: People) -> None:
    people.load("ann", KNIGHT | ROOK, "team/both")
    proposal = str(people.propose("ann", WIDER | QUEEN, "team/both"))
    with proxied(people.admin) as pages:
        page = looked_at(pages.get(f"/proposal/{quote(proposal)}").text).text
        told = " ".join(page.partition("In words")[2].split())
        assert told.startswith(
            "C:N, first: gained 1 move: knight leaps by (-1,2) and (1,2) without capturing; "
            "before: knight leaps by (1,2) without capturing C:R, first, now C:Q: one step forward without capturing "
        )
        data = pages.get(f"/proposal/{quote(proposal)}.json").json()
        assert [(each["piece"], each["gained"], each["lost"]) for each in data["told"]] == [
            ("C:N", 1, 0),
            ("C:R", 0, 0),
        ]
        board = looked_at(pages.get(f"/g/{quote(proposal)}").text)
        assert "Proposed, and not approved yet" in board.text
        assert f"/proposal/{quote(proposal)}" in board.links
        assert "Proposed" not in looked_at(pages.get("/g/team/both").text).text.replace("Proposals", "")


@pytest.mark.both
def test_two_people_comment_and_approve_each_in_their_own_name(people: People, proposal: str) -> None:
    ann, bob = people.who("ann"), people.who("bob")
    with proxied(people.admin) as pages:
        place = {"piece": "C:N", "source": "b1", "destination": "a3"}
        for answer in (
            post(pages, bob, proposal, do="comment", message="why\r\na3?", **place),
            post(pages, ann, proposal, do="comment", message="as in the book"),
            post(pages, bob, proposal, do="approve", digest=people.admin.reviews.get(proposal).digest),
        ):
            assert answer.status_code == 303, answer.text
            assert answer.headers["location"] == f"/proposal/{quote(proposal)}"
        page = looked_at(pages.get(f"/proposal/{quote(proposal)}", headers={HEADER: bob}).text).text
        assert [each for each in ("as in the book", "why\na3?", "C:N b1 a3", "merged as") if each not in page] == []
    role = (lambda name: name) if people.is_known else (lambda name: None)
    assert verdicts(people.admin) == [
        ("commented", bob, role(bob), "why\na3?", "C:N", "b1", "a3"),
        ("commented", ann, role(ann), "as in the book", None, None, None),
        ("approved", bob, role(bob), None, None, None, None),
        ("merged", bob, role(bob), None, None, None, None),
    ]
    assert people.admin.ruleset("team/knight").revision.number == 2
    if people.is_known:
        found = rows(people.admin, "SELECT role FROM audit WHERE action IN ('comment', 'approve', 'merge') ORDER BY id")
        assert [each for (each,) in found] == [bob, ann, bob, bob]


@pytest.mark.both
def test_what_the_store_refuses_is_said_on_the_page_and_changes_nothing(people: People, proposal: str) -> None:
    ann, bob = people.who("ann"), people.who("bob")
    digest = people.admin.reviews.get(proposal).digest
    refusals: list[tuple[str, int, str, dict[str, str]]] = [
        (ann, 403, "somebody else has to approve of it", {"do": "approve", "digest": digest}),
        (bob, 403, "reject it instead", {"do": "withdraw"}),
        (bob, 409, "look at it again", {"do": "approve", "digest": "0" * 64}),
        (bob, 400, "an approval is of a digest", {"do": "approve"}),
        (bob, 400, "a comment needs a text", {"do": "comment", "message": " "}),
        (bob, 400, "no database can keep", {"do": "comment", "message": "\0"}),
        (bob, 404, "has the piece", {"do": "comment", "message": "kept", "piece": "C:Q"}),
        (bob, 400, "name the piece", {"do": "comment", "message": "kept", "source": "b1"}),
        (bob, 400, "only a comment is on", {"do": "reject", "message": "kept", "piece": "C:N"}),
        (bob, 400, "say what to do", {"message": "kept"}),
        (bob, 400, "there are comment", {"do": "merge"}),
        (bob, 400, "takes no parameter", {"do": "comment", "message": "kept", "author": "ann"}),
        (bob, 400, "and can have 20,000", {"do": "comment", "message": "x" * 20_001}),
    ]
    with proxied(people.admin) as pages:
        for who, status, said, form in refusals:
            answer = post(pages, who, proposal, **form)
            assert (answer.status_code, said in answer.text) == (status, True), (form, answer.text)
            page = looked_at(answer.text)
            assert "C:N" in page.text, "the page of the proposal"
            assert form.get("message") != "kept" or "kept" in page.text, "what was written is still there"
            as_json = post(pages, who, proposal, accept=JSON, **form)
            assert (as_json.status_code, as_json.json()["status"]) == (status, status)
            assert said in as_json.json()["error"]
        assert post(pages, bob, "team/knight#7", do="reject").status_code == 404
        assert verdicts(people.admin) == []
        people.reject("bob", proposal)
        again = post(pages, bob, proposal, do="approve", digest=digest)
        assert (again.status_code, "was rejected already" in again.text) == (409, True)
        stale = str(people.propose("ann", OTHER, "team/knight"))
        people.load("ann", WIDER, "team/knight")
        moved = post(pages, bob, stale, do="approve", digest=people.admin.reviews.get(stale).digest)
        assert (moved.status_code, "the newest revision is team/knight@2 now" in moved.text) == (409, True)
        assert len(verdicts(people.admin)) == 1


@pytest.mark.both
def test_on_a_server_a_person_has_the_rights_of_their_own_user_only(
    store: Store, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if not store.session.database.is_server:
        pytest.skip("a file has no users")
    store.load(KNIGHT, "knight")
    proposal = str(store.reviews.propose(WIDER, "knight"))
    with logins(address, {"author": "ggn_author", "reader": "ggn_reader"}) as addresses, proxied(store) as pages:
        author, reader = (make_url(addresses[name]).username or "" for name in ("author", "reader"))
        for who, said in (
            (reader, f"{reader} is in ggn_reader, which only reads"),
            ("nobody_of_this_server", "cannot connect to the database"),
            (f"{author}{'x' * 60}"[:64], "cannot connect to the database"),
            ("postgres", "owns the tables, or is a superuser"),
        ):
            answer = post(pages, who, proposal, do="comment", message="hello")
            assert (answer.status_code, said in answer.text) == (403, True), answer.text
            assert pages.get(f"/proposal/{quote(proposal)}", headers={HEADER: who}).status_code == 200
        assert verdicts(store) == []
        assert 'role "nobody_of_this_server" does not exist' in capsys.readouterr().err, "for who runs the server"
        assert post(pages, author, proposal, do="comment", message="hello").status_code == 303
        assert [each[:3] for each in verdicts(store)] == [("commented", author, author)]


@pytest.mark.both
def test_a_user_connects_without_the_password_of_another(people: People) -> None:
    who = people.who("ann")
    url = people.admin.session.database.url
    with Store.open((url.set(password="secret") if people.is_known else url).render_as_string(False)) as store:
        with store.as_user(who) as theirs:
            found = theirs.session.database
            assert (found.url.username, found.url.password, found.role) == (
                (who, None, who) if people.is_known else (None, None, None)
            )
        if people.is_known:
            for nobody in ("", "a\0b"):
                with pytest.raises(GateError, match="no user of a database"), store.as_user(nobody):
                    pass


@pytest.mark.both
def test_an_approver_is_one_whom_the_policy_lists(people: People, proposal: str) -> None:
    bob, cas = people.who("bob"), people.who("cas")
    people.admin.policies.set("team", review=1, approvers=[cas], author="admin")
    digest = people.admin.reviews.get(proposal).digest
    with proxied(people.admin) as pages:
        for form in ({"do": "approve", "digest": digest}, {"do": "reject"}):
            refused = post(pages, bob, proposal, **form)
            assert (refused.status_code, "may not" in refused.text) == (403, True)
        answer = post(pages, cas, proposal, accept=JSON, do="approve", digest=digest)
        assert (answer.status_code, answer.json()["proposal"]["state"]) == (200, "merged")
        assert answer.headers["cache-control"] == "no-store"


def test_the_page_offers_each_person_what_they_can_do(people: People, proposal: str) -> None:
    def offered(who: str, address: str) -> list[str]:
        page = pages.get(address, headers={HEADER: who}).text
        return [name for name in ("comment", "approve", "reject", "withdraw") if f'name="do" value="{name}"' in page]

    ann, bob = people.who("ann"), people.who("bob")
    with proxied(people.admin) as pages:
        for address in (f"/proposal/{quote(proposal)}", f"/diff?a={quote(proposal)}"):
            assert offered(bob, address) == ["comment", "approve", "reject"]
            assert offered(ann, address) == ["comment", "withdraw"]
            assert offered("", address) == []
        assert offered(bob, "/diff?a=team/knight") == []
        assert post(pages, bob, proposal, do="reject", message="no").status_code == 303
        assert offered(ann, f"/proposal/{quote(proposal)}") == ["comment"]
        other = str(people.propose("ann", OTHER, "team/knight"))
        assert post(pages, ann, other, do="withdraw").status_code == 303
        assert [each.state for each in people.admin.reviews.list(closed=True)] == ["withdrawn", "rejected"]


def test_what_people_write_is_text(people: People, proposal: str) -> None:
    """Each payload as a comment, as a name, as a piece and squares that are not there, and as what to do."""
    bob, cas = people.who("bob"), people.who("cas")
    with proxied(people.admin) as pages:
        name = "<script>alert(1)</script>'\""
        # A server has no user of such a name, and says so.
        answer = post(pages, name, proposal, do="comment", message="hello")
        assert answer.status_code == (403 if people.is_known else 303)
        assert not people.is_known or "cannot connect to the database" in looked_at(answer.text).text
        for payload in PAYLOADS[::4]:
            if "\x00" not in payload and payload.strip():
                assert post(pages, cas, proposal, do="comment", message=payload).status_code == 303
        page = looked_at(pages.get(f"/proposal/{quote(proposal)}", headers={HEADER: name}).text)
        assert name in page.text
        assert PAYLOADS[0] in page.text
        for payload in PAYLOADS[::8]:
            fields = {"message": payload, "piece": payload[:255], "source": payload[:255], "destination": payload[:255]}
            wrong = post(pages, bob, proposal, do="comment", **fields)
            assert wrong.status_code in (400, 404)
            looked_at(wrong.text)
            looked_at(post(pages, bob, proposal, do=payload, digest=payload[:71]).text)


def test_nobody_writes_without_end(people: People, proposal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_of_pages, "_WRITES", (3, 60.0))
    bob, cas = people.who("bob"), people.who("cas")
    with proxied(people.admin) as pages:
        found = [post(pages, bob, proposal, do="comment", message="again").status_code for _ in range(5)]
        assert found == [303, 303, 303, 429, 429]
        assert post(pages, cas, proposal, do="comment", message="mine").status_code == 303
