"""Who can write, and who cannot: sessions, proxies, forged requests, and what is too large."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from ggn_store import Store
from ggn_store.errors import InputError
from ggn_store.web import people as of_people
from ggn_store.web.guard import MAX_BODY, Rate, client_at
from ggn_store.web.people import LASTING, Client, Proxy, Sessions, hashed
from ggn_store.web.refusal import AskedError
from tests.support.payloads import PAYLOADS
from tests.support.people import KNIGHT, WIDER, create_role, drop_role
from tests.support.program import Program, run
from tests.support.web import START, client, looked_at

__all__ = ["run"]

OURS = {"Sec-Fetch-Site": "same-origin"}
FORM = "application/x-www-form-urlencoded"
SAID = {"do": "comment", "message": "hello"}
PAGE = "/proposal/knight%231"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def proposed(address: str) -> Iterator[Store]:
    with Store.open(address) as store:
        store.load(KNIGHT, "knight", author="ann")
        store.reviews.propose(WIDER, "knight", author="ann")
        users = ("bob", "cas", "Bob K\u00f6nig") if store.session.database.is_server else ()
        for user in users:
            create_role(store, user)
        yield store
        for user in users:
            drop_role(store, user)


@pytest.fixture
def pages(proposed: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Pages with a login for bob and cas, whose passwords cost little to try."""
    monkeypatch.setattr(of_people, "_COST", {"n": 2, "r": 1, "p": 1})
    sessions = Sessions({name: hashed(f"{name} secret") for name in ("bob", "cas")}, clock)
    with client(proposed, people=sessions) as found:
        yield found


def log_in(pages: TestClient, name: str = "bob", headers: dict[str, str] = OURS, **more: str) -> Any:
    form = {"do": "log-in", "name": name, "password": f"{name} secret"} | more
    return pages.post("/login", data=form, headers=headers)


def said(store: Store) -> list[str | None]:
    return [each.author for each in store.reviews.get("knight#1").verdicts]


def test_a_session_begins_with_the_password_and_ends_at_logout(pages: TestClient, proposed: Store) -> None:
    assert pages.post(PAGE, data=SAID, headers=OURS).status_code == 403
    assert f"/login?to={PAGE.replace('%', '%25').replace('/', '%2F')}" in looked_at(pages.get(PAGE).text).links
    answer = log_in(pages, to=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, PAGE)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("ggn-store=")
    assert cookie.endswith(f"; Path=/; Max-Age={LASTING}; HttpOnly; SameSite=Lax")
    assert "bob" in looked_at(pages.get("/").text).text
    assert pages.post(PAGE, data=SAID, headers=OURS).status_code == 303
    token = pages.cookies["ggn-store"]
    assert token not in pages.get(PAGE).text + pages.get("/login").text + pages.get("/metrics").text
    assert pages.post("/login", data={"do": "log-out"}, headers=OURS).headers["location"] == "/"
    assert "ggn-store" not in pages.cookies
    kept = {"Cookie": f"ggn-store={token}"}
    assert pages.post(PAGE, data=SAID, headers=OURS | kept).status_code == 403
    assert said(proposed) == ["bob"]


def test_a_session_ends_after_its_time_whatever_is_done_in_it(pages: TestClient, clock: Clock, proposed: Store) -> None:
    log_in(pages)
    for clock.now, status in ((LASTING / 2, 303), (LASTING - 1, 303), (LASTING, 403)):
        answer = pages.post(PAGE, data=SAID, headers=OURS)
        assert answer.status_code == status
    assert "log in first" in answer.text
    assert said(proposed) == ["bob", "bob"]


def test_a_token_that_a_browser_brings_never_becomes_a_session(pages: TestClient) -> None:
    planted = {"Cookie": f"ggn-store={'A' * 43}"}
    first = log_in(pages, headers=OURS | planted).headers["set-cookie"]
    assert "A" * 43 not in first
    assert pages.post(PAGE, data=SAID, headers=OURS | planted).status_code == 403
    pages.cookies.clear()
    old = {"Cookie": first.partition(";")[0]}
    second = log_in(pages, headers=OURS | old).headers["set-cookie"]
    pages.cookies.clear()
    assert second.partition(";")[0] != first.partition(";")[0]
    assert pages.post(PAGE, data=SAID, headers=OURS | old).status_code == 403, "a new login ends the session of before"


def test_over_https_only_a_cookie_of_this_host_counts(pages: TestClient) -> None:
    answer = log_in(pages, headers=OURS | {"Origin": "https://127.0.0.1:8000"})
    cookie, _, rest = answer.headers["set-cookie"].partition("; ")
    assert cookie.startswith("__Host-ggn-store=")
    assert rest.endswith("; Secure")
    pages.cookies.clear()
    assert pages.post(PAGE, data=SAID, headers=OURS | {"Cookie": cookie}).status_code == 303
    planted = {"Cookie": cookie.removeprefix("__Host-")}
    assert pages.post(PAGE, data=SAID, headers=OURS | planted).status_code == 403


def test_a_wrong_password_is_refused_and_never_shown(pages: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    for name, password in (("bob", "cas secret"), ("dan", "dan secret"), ("", ""), ("bob", ""), ("bob", "bob secret ")):
        answer = log_in(pages, name, password=password)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
        assert "nobody has this name and this password" in looked_at(answer.text).text
        assert not password or f'value="{password}"' not in answer.text
    for payload in PAYLOADS[::8]:
        looked_at(log_in(pages, payload, password=payload).text)
    assert "secret" not in "".join(capsys.readouterr())


def test_passwords_cannot_be_tried_without_end(pages: TestClient, clock: Clock) -> None:
    found = [log_in(pages, password="guess").status_code for _ in range(12)]
    assert found == [403] * 10 + [429] * 2
    assert log_in(pages).status_code == 429, "not with the right one, either"
    assert log_in(pages, "cas").status_code == 303
    guesses = [log_in(pages, f"name {number}").status_code for number in range(50)]
    assert guesses == [403] * 46 + [429] * 4, "from one address 60, whatever the names"
    assert log_in(pages, "cas").status_code == 429
    clock.now = 301
    assert log_in(pages).status_code == 303


def test_an_error_page_says_what_the_server_lets_people_do(pages: TestClient, proposed: Store) -> None:
    wrong = looked_at(pages.get("/g/nothing").text)
    assert ("read-only" in wrong.text, "/login" in wrong.links) == (False, True)
    assert ("Log in" in wrong.text, "bob, log out" in wrong.text) == (True, False)
    log_in(pages)
    wrong = looked_at(pages.get("/g/nothing").text)
    assert ("Log in" in wrong.text, "bob, log out" in wrong.text) == (False, True)
    with client(proposed) as reading:
        wrong = looked_at(reading.get("/g/nothing").text)
    assert ("read-only" in wrong.text, "/login" in wrong.links) == (True, False)


def test_guesses_from_elsewhere_keep_nobody_out(pages: TestClient) -> None:
    guessing = TestClient(pages.app, START, client=("10.0.0.66", 50_000), follow_redirects=False)
    assert [log_in(guessing, password="guess").status_code for _ in range(11)] == [403] * 10 + [429]
    assert log_in(pages).status_code == 303


@pytest.mark.parametrize(
    "to", ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "/\n/x"]
)
def test_a_login_leads_to_pages_of_this_server_only(pages: TestClient, to: str) -> None:
    answer = log_in(pages, to=to)
    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert pages.get("/login", params={"to": to}).status_code == 400


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"}, 303),
        ({"Origin": START}, 303),
        ({}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "127.0.0.1:8000"}, 403),
        ({"Origin": "http://127.0.0.1:9000"}, 403),
        ({"Origin": "http://127.0.0.1:8000.evil.example"}, 403),
        ({"Origin": "http://evil.example//127.0.0.1:8000"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": START}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Host": "evil.example"}, 421),
    ],
)
def test_only_forms_of_the_pages_themselves_are_taken(
    pages: TestClient, proposed: Store, headers: dict[str, str], status: int
) -> None:
    log_in(pages)
    assert pages.post(PAGE, data=SAID, headers=headers).status_code == status
    assert len(said(proposed)) == (status == 303)


def test_what_is_no_small_form_is_refused(pages: TestClient, proposed: Store) -> None:
    log_in(pages)
    body = b"do=comment&message=hello"
    for content, headers, status in (
        (body, {"Content-Type": FORM}, 303),
        (body, {"Content-Type": f"{FORM}; charset=UTF-8"}, 303),
        (body, {"Content-Type": "text/plain"}, 415),
        (body, {"Content-Type": "application/json"}, 415),
        (body, {"Content-Type": "multipart/form-data; boundary=x"}, 415),
        (body, {}, 415),
        (b"do=comment&message=" + b"x" * MAX_BODY, {"Content-Type": FORM}, 413),
        (iter([body]), {"Content-Type": FORM}, 411),
        (b"do=comment&message=%ff", {"Content-Type": FORM}, 400),
        (b"do=comment&message=a&message=b", {"Content-Type": FORM}, 400),
        (b"&".join([b"message=a"] * 2_000), {"Content-Type": FORM}, 400),
    ):
        answer = pages.post(PAGE, content=content, headers=OURS | headers)
        assert answer.status_code == status, (content, answer.text)
    assert said(proposed) == ["bob", "bob"]


def test_other_pages_and_other_methods_change_nothing(pages: TestClient) -> None:
    log_in(pages)
    for page in ("/", "/g/knight", "/sql", "/static/style.css"):
        assert pages.post(page, data=SAID, headers=OURS).status_code == 405
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
        assert pages.request(method, PAGE, headers=OURS).status_code == 405


def test_pages_that_never_change_are_not_kept_with_the_name_of_who_has_logged_in(pages: TestClient) -> None:
    [revision] = pages.get("/log/knight.json").json()["revisions"]
    lasting = f"/blame/knight@sha256:{revision['lineage']}"
    assert "immutable" not in pages.get(lasting).headers["cache-control"]
    assert "immutable" in pages.get(f"{lasting}.json").headers["cache-control"]


def test_a_proxy_is_believed_from_its_own_address_only(proposed: Store) -> None:
    proxy = Proxy.of("X-Remote-User", ["192.0.2.9", "2001:db8::9"])
    for at, headers, status in (
        ("192.0.2.9", [("X-Remote-User", "bob")], 303),
        ("::ffff:192.0.2.9", [("x-remote-user", "Bob K\xc3\xb6nig")], 303),
        ("2001:db8:0::9", [("X-REMOTE-USER", "cas")], 303),
        ("192.0.2.8", [("X-Remote-User", "bob")], 403),
        ("127.0.0.1", [("X-Remote-User", "bob"), ("X-Forwarded-For", "192.0.2.9")], 403),
        ("not.an.address", [("X-Remote-User", "bob")], 403),
        ("192.0.2.9", [], 403),
        ("192.0.2.9", [("X-Remote-User", "")], 403),
        ("192.0.2.9", [("X-Remote-User", " ")], 403),
        ("192.0.2.9", [("X-Remote-User", "bob"), ("X-Remote-User", "bob")], 403),
        ("192.0.2.9", [("X-Remote-User", "eve, bob")], 403),
        ("192.0.2.9", [("X-Remote-User", "b" * 201)], 403),
        ("192.0.2.9", [("X_Remote_User", "bob")], 403),
        ("192.0.2.9", [("Cookie", "X-Remote-User=bob")], 403),
    ):
        with client(proposed, people=proxy, at=at) as pages:
            encoded = [(name.encode(), value.encode("latin-1")) for name, value in [*OURS.items(), *headers]]
            answer = pages.post(PAGE, data=SAID, headers=encoded)
            assert answer.status_code == status, (at, headers, answer.text)
            assert pages.get(PAGE, headers=[*encoded]).status_code == 200
            assert pages.get("/login").status_code == 404
    assert said(proposed) == ["bob", "Bob K\u00f6nig", "cas"]
    for raw in (b"b\xff", b"b\x00", b"b\x1b[1m", "b\u202e".encode()):  # which no client of tests sends
        with pytest.raises(AskedError):
            proxy.who(Client("192.0.2.9", Headers(raw=[(b"x-remote-user", raw)])))


def test_a_rate_is_of_each_who_asks_and_forgets(clock: Clock) -> None:
    rate = Rate(2, 10, clock)
    rate.take("a")
    rate.take("a")
    rate.take("b")
    with pytest.raises(AskedError, match="try again in 10 seconds"):
        rate.take("a")
    clock.now = 10
    rate.take("a")
    for number in range(20_000):
        rate.take(str(number))
    assert len(rate._taken) == 10_000


def test_the_line_of_a_file_of_logins_has_no_password_in_it(run: Program, tmp_path: Path) -> None:
    result = run("password", "Ann K", stdin="correct horse\n")
    assert (result.code, "correct" in result.out) == (0, False)
    file = tmp_path / "logins"
    file.write_text(f"{result.out}\n", encoding="utf-8")
    file.chmod(0o600)
    logins = of_people.read_logins(file)
    assert [*logins] == ["Ann K"]
    assert of_people._is_of("correct horse", logins["Ann K"])
    assert not of_people._is_of("correct horse ", logins["Ann K"])
    file.chmod(0o620)
    with pytest.raises(InputError, match="can be written by others"):
        of_people.read_logins(file)
    file.chmod(0o600)
    for text, said_of_it in (
        (result.out * 2, "logins:2: not what"),
        ("ann:secret\n", "logins:1: not what"),
        ("", "nobody"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said_of_it):
            of_people.read_logins(file)
    assert run("password", "Ann", stdin="short\n").code == 1
    assert run("password", "An\nn", stdin="correct horse\n").code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--login", "x", "--author", "Ann"), "three ways"),
        (("--login", "x", "--trust-header", "X-User", "--trusted-proxy", "127.0.0.1"), "three ways"),
        (("--trust-header", "X-User"), "give both"),
        (("--trusted-proxy", "127.0.0.1"), "give both"),
        (("--author", "Ann", "--trusted-proxy", "127.0.0.1"), "give both"),
        (("--login", "x", "--trusted-proxy", "proxy.example"), "no address of a proxy"),
        (("--trust-header", "X User", "--trusted-proxy", "127.0.0.1"), "no name of a header"),
        (("--trust-header", "X-User", "--trusted-proxy", "proxy.example"), "no address of a proxy"),
        (("--author", "Ann", "--host", "0.0.0.0"), "on your own machine"),
        (("--author", " "), "nobody's name"),
    ],
)
def test_options_that_leave_open_who_people_are_are_usage_errors(
    run: Program, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    result = run("--db", tmp_path / "new.db", "serve", "--port", "0", *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    ("at", "forwarded", "found"),
    [
        ("192.0.2.9", ["203.0.113.5"], "203.0.113.5"),
        ("192.0.2.9", ["198.51.100.1, 203.0.113.5"], "203.0.113.5"),
        ("192.0.2.9", ["198.51.100.1", "203.0.113.5 , 192.0.2.8"], "203.0.113.5"),
        ("::ffff:192.0.2.9", ["203.0.113.5"], "203.0.113.5"),
        ("192.0.2.9", ["203.0.113.5, unknown"], "192.0.2.9"),
        ("192.0.2.9", [], "192.0.2.9"),
        ("192.0.2.9", ["192.0.2.8"], "192.0.2.9"),
        ("198.51.100.7", ["203.0.113.5"], "198.51.100.7"),
    ],
)
def test_a_client_is_who_a_trusted_proxy_last_says(at: str, forwarded: list[str], found: str) -> None:
    proxies = of_people.proxies_at(["192.0.2.9", "192.0.2.8"])
    headers = Headers(raw=[(b"x-forwarded-for", each.encode()) for each in forwarded])
    assert of_people.asking(Client(at, headers), proxies) == found


@pytest.mark.parametrize(("is_trusted", "last"), [(True, 403), (False, 429)])
def test_behind_a_trusted_proxy_each_client_has_attempts_of_its_own(
    proposed: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, is_trusted: bool, last: int
) -> None:
    monkeypatch.setattr(of_people, "_COST", {"n": 2, "r": 1, "p": 1})
    monkeypatch.setattr(of_people, "_BY_NAME", (2, 300.0))
    proxies = of_people.proxies_at(["192.0.2.9"] if is_trusted else [])
    sessions = Sessions({"bob": hashed("bob secret")}, clock, proxies)
    with client(proposed, people=sessions, at="192.0.2.9") as found:
        for at, status in (("203.0.113.5", 403), ("203.0.113.5", 403), ("203.0.113.6", last)):
            assert log_in(found, headers={**OURS, "X-Forwarded-For": at}, password="guessed").status_code == status


def test_clients_are_told_apart_by_what_one_household_has() -> None:
    same = ("192.0.2.1", "::ffff:192.0.2.1"), ("2001:db8::1", "2001:db8::2:3"), ("testclient", "testclient")
    assert [pair for pair in same if client_at(pair[0]) != client_at(pair[1])] == []
    assert len({client_at(each) for each in ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1")}) == 4
