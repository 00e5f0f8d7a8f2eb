"""Who is let in: by which name, from where, with how much."""

from __future__ import annotations

import ipaddress
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from ggn_store import Store
from ggn_store.errors import QueryError, StoreError
from ggn_store.web import site as site_of_pages
from ggn_store.web.app import application
from ggn_store.web.guard import MAX_TARGET, Connections, Guard, is_loopback
from ggn_store.web.site import Site
from tests.support.web import client, looked_at

VISIT = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost:8000", 200),
        ("LOCALHOST.:8000", 200),
        ("[::1]:8000", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:8000", 421),
        ("10.0.0.7", 421),
        ("", 421),
        ("127.0.0.1@evil.example", 421),
    ],
)
def test_only_the_names_of_the_server_are_answered(pages: TestClient, host: str, status: int) -> None:
    answer = pages.get("/health", headers={"Host": host})
    assert answer.status_code == status
    assert "content-security-policy" in answer.headers


def test_other_names_are_those_that_were_given(filled: str) -> None:
    with Store.open(filled) as store:
        with client(store, Guard.of("192.0.2.1", ["games.example.org"])) as pages:
            for host, status in (("games.example.org", 200), ("192.0.2.1:80", 200), ("127.0.0.1", 421)):
                assert pages.get("/health", headers={"Host": host}).status_code == status
        with client(store, Guard.of("0.0.0.0")) as pages:
            for host, status in (("10.0.0.7:8000", 200), ("[2001:db8::1]", 200), ("evil.example", 421)):
                assert pages.get("/health", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "no-cors"}, 200),
        ({"Sec-Fetch-Site": "none", **VISIT}, 200),
        ({"Sec-Fetch-Site": "cross-site", **VISIT}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Origin": "http://127.0.0.1:8000"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_pages_of_others_only_lead_here(pages: TestClient, headers: dict[str, str], status: int) -> None:
    assert pages.get("/sql", headers=headers).status_code == status


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(pages: TestClient, method: str) -> None:
    assert pages.request(method, "/g/mini").status_code == 405
    for headers in ({"Sec-Fetch-Site": "cross-site", **VISIT}, {"Origin": "http://evil.example"}):
        assert pages.request(method, "/g/mini", headers=headers).status_code == 403


def test_head_answers_without_a_page(pages: TestClient) -> None:
    answer = pages.head("/g/mini")
    assert (answer.status_code, answer.content) == (200, b"")


def test_what_is_too_large_is_refused(pages: TestClient) -> None:
    assert pages.get("/?text=" + "a" * MAX_TARGET).status_code == 414
    assert pages.request("GET", "/", content=b"x").status_code == 413
    assert pages.get("/?" + "&".join(["text=a"] * 2_000)).status_code == 400
    assert pages.get("/?text=" + "a" * 300).status_code == 400
    assert pages.get("/g/" + "a" * 500).status_code == 400


def test_who_asks_and_what_came_of_it_is_a_line_each_and_counted(filled: str) -> None:
    lines: list[str] = []
    with Store.open(filled) as store, client(store, lines=lines) as pages:
        pages.get("/g/mini?position=nonsense")
        pages.get("/health")
        pages.get("/nowhere%0aforged")
        metrics = pages.get("/metrics").text
    assert [line.rpartition(" ms")[0].rpartition(" ")[0] for line in lines][:3] == [
        "testclient GET /g/mini 400",
        "testclient GET /health 200",
        "testclient GET /nowhere\\nforged 404",
    ]
    assert 'ggn_store_requests_total{page="game",status="400"} 1' in metrics
    assert 'ggn_store_requests_total{page="other",status="404"} 1' in metrics
    assert 'ggn_store_request_seconds_count{page="health"} 1' in metrics


def test_a_store_that_is_not_there_is_no_health(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Store) -> None:
        raise StoreError("the server is gone")

    with Store.open(filled) as store, client(store) as pages:
        assert pages.get("/health").text == "ok\n"
        monkeypatch.setattr(Store, "info", fail)
        assert pages.get("/health").status_code == 503


def test_who_asks_while_all_turns_are_taken_is_asked_to_wait(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_of_pages, "_WAIT", 0.01)
    with Store.open(filled) as store:
        site = Site(store, queries=1)
        app = application(site, Guard.of("127.0.0.1"))
        with TestClient(app, base_url="http://127.0.0.1:8000") as pages:
            assert pages.portal is not None
            pages.portal.call(site.turns.acquire_on_behalf_of_nowait, "somebody else")
            for address in ("sql?query=SELECT+1", "sql?%71uery=SELECT+1", "rules/mini", "diff?a=mini", "blame/mini"):
                answer = pages.get(f"/{address}")
                assert answer.status_code == 503, address
                assert f"/{address.replace('%71', 'q')}" in looked_at(answer.text).links, "try again"
            for address in ("g/mini", "sql", "diff", "piece/mini"):
                assert pages.get(f"/{address}").status_code == 200, address
            assert pages.get("/piece/mini?movers=1").status_code == 503
            assert "ask again in a moment" in pages.get("/sql.json?query=SELECT+1").json()["error"]


def test_a_flood_of_questions_keeps_nobody_from_the_other_pages(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_of_pages, "_WAIT", 60.0)
    end, begun = threading.Event(), threading.Semaphore(0)

    def wait(store: Store, *args: object, **options: object) -> None:
        begun.release()
        assert end.wait(60.0)
        raise QueryError("too long")

    monkeypatch.setattr(Store, "sql", wait)
    with Store.open(filled) as store, client(store) as pages, ThreadPoolExecutor(30) as many:
        try:
            asked = [many.submit(pages.get, "/sql.json?query=SELECT+1") for _ in range(30)]
            assert begun.acquire(timeout=60.0)
            assert begun.acquire(timeout=60.0)
            for address in ("/health", "/metrics", "/g/mini", "/"):
                assert pages.get(address).status_code == 200
            assert not any(each.done() for each in asked)
            assert not begun.acquire(blocking=False), "more run at once than may"
        finally:
            end.set()
        assert {each.result().status_code for each in asked} == {400}


def test_what_watches_the_server_is_answered_while_all_pages_are_busy(
    filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    end, begun = threading.Event(), threading.Semaphore(0)

    def wait(store: Store) -> None:
        begun.release()
        assert end.wait(60.0)
        raise StoreError("gone")

    monkeypatch.setattr(Store, "list", wait)
    with Store.open(filled) as store, client(store) as pages, ThreadPoolExecutor(20) as many:
        try:
            asked = [many.submit(pages.get, "/") for _ in range(20)]
            assert all(begun.acquire(timeout=60.0) for _ in range(8))
            assert [pages.get(address).status_code for address in ("/health", "/metrics")] == [200, 200]
            assert not any(each.done() for each in asked)
        finally:
            end.set()
        assert {each.result().status_code for each in asked} == {503}


def test_places_of_a_client_are_bounded_and_come_back() -> None:
    places = Connections(2, [ipaddress.ip_address("192.0.2.9")])
    assert [places.take(each) for each in ("10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1", "10.0.0.2")] == [1, 1, 0, 1]
    places.give_back("10.0.0.1")
    assert [places.take("10.0.0.1") for _ in range(2)] == [True, False]
    assert all(places.take("192.0.2.9") for _ in range(300))


def test_loopback_is_told_from_what_others_reach() -> None:
    assert [host for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost") if not is_loopback(host)] == []
    assert [host for host in ("0.0.0.0", "::", "10.0.0.1", "example.org") if is_loopback(host)] == []
