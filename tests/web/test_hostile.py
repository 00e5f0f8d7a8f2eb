"""Texts that people write, and addresses that they follow: nothing of it is ever more than text in a page."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from starlette.testclient import TestClient

from ggn_store import Store
from ggn_store.web.views import shown
from tests.support.mistakes import FORGING, HOSTILE_SOURCE
from tests.support.payloads import PAYLOADS
from tests.support.program import MINI, write
from tests.support.web import client, looked_at

ALL = "\n".join(each.replace("\r", " ").replace("\n", " ") for each in PAYLOADS)


def as_shown(text: str) -> str:
    return str(shown(text))


def test_there_are_a_hundred_payloads() -> None:
    assert len(PAYLOADS) >= 100


def test_what_people_write_is_text(store: Store, tmp_path: Path) -> None:
    """Titles, sources, authors, messages of revisions, tags, states, proposals, rounds and comments."""
    title, source, author = ("".join(PAYLOADS[number::40])[:400] for number in (0, 1, 2))
    title, source, author = (" ".join(each.split()) for each in (title, source, author))

    def load(start: str) -> Path:
        values = {"title": title, "source": source, "start": start, "board": "3x3"}
        lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        write(tmp_path / "mini.toml", "\n".join(lines))
        return write(tmp_path / "mini.json", MINI)

    store.load(load("1p1/P2/3 P/ C/c"), "mini", author=author, message=ALL)
    store.tags.set("mini@1", "stable", author=author, message=ALL)
    store.states.set("mini", "deprecated", author=author, message=ALL)
    proposed = str(store.reviews.propose(load("1p1/P2/3 / C/c"), "mini", author=author, message=ALL))
    store.reviews.comment(proposed, ALL, author=f"{author}, too")
    with client(store) as pages:
        for address, texts in {
            "/": (title,),
            "/g/mini": (title, source, author, ALL),
            "/piece/mini": (title, source),
            "/log/mini": (title, author, ALL),
            "/blame/mini": (author,),
            "/diff?a=mini": (title,),
            "/rules/mini": (title,),
            "/proposals": (author, ALL),
            f"/proposal/{quote(proposed)}": (author, ALL),
            f"/g/{quote(proposed)}": (title,),
            "/audit": (author,),
        }.items():
            answer = pages.get(address)
            assert answer.status_code == 200, address
            found = looked_at(answer.text)
            for text in texts:
                assert as_shown(text) in found.text, (address, text)
        assert pages.get("/log/mini.json").json()["revisions"][0]["message"] == ALL
        picture = pages.get("/picture/mini")
        assert "<script" not in picture.text
        assert "onerror=" not in picture.text.replace("onerror=alert(1)&gt;", "")


REFLECTING = (
    "/?text={}",
    "/?board={}",
    "/g/{}",
    "/g/mini?position={}",
    "/g/mini?from={}",
    "/g/mini?m={}",
    "/piece/mini?piece={}",
    "/diff?a={}",
    "/rules/mini?what={}",
    "/analyses?what=find&board={}",
    "/audit?ruleset={}",
    "/sql?ruleset={}",
    "/sql?query=SELECT+1&only={}",
    "/nowhere/{}",
    "/?{}=1",
)


@pytest.mark.parametrize("one_in", [12, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("address", REFLECTING)
def test_what_an_address_says_is_text(pages: TestClient, address: str, one_in: int) -> None:
    """The page has the same elements and attributes as of a harmless text that is as wrong."""
    harmless = looked_at(pages.get(address.format("z~z~z")).text)
    refused = looked_at(pages.get("/?limit=0").text)
    for payload in PAYLOADS[REFLECTING.index(address) % one_in :: one_in]:  # each at some address
        answer = pages.get(address.format(quote(payload, safe="")))
        assert answer.status_code in (200, 303, 400, 404), payload
        found = looked_at(answer.text)
        assert not FORGING.search(found.text.replace("\t", " "))
        if answer.status_code >= 400:
            assert {*found.shape} <= {*harmless.shape, *refused.shape}


def test_names_and_answers_of_queries_are_text(pages: TestClient) -> None:
    text = ALL.replace("'", "''")
    column = " ".join(PAYLOADS[:2]).replace('"', "")[:60]
    query = f"SELECT '{text[:3000]}' AS \"{column}\""
    answer = pages.get(f"/sql?{urlencode({'query': query})}")
    assert answer.status_code == 200
    found = looked_at(answer.text)
    assert as_shown(column) in found.text
    wrong = pages.get(f"/sql?{urlencode({'query': f'{PAYLOADS[0]} SELECT'})}")
    assert wrong.status_code == 400
    assert PAYLOADS[0] in looked_at(wrong.text).text


def test_labels_of_squares_are_text_in_pages_and_pictures(pages: TestClient) -> None:
    position = json.dumps({HOSTILE_SOURCE: "CHESS:P"})
    query = urlencode({"position": position})
    touched = f"/g/hostile?{query}&{urlencode({'from': HOSTILE_SOURCE})}"
    for address in (f"/g/hostile?{query}", "/piece/hostile", touched):
        answer = pages.get(address)
        assert answer.status_code == 200, answer.text
        assert not FORGING.search(answer.text)
    moved = looked_at(pages.get(touched).text)
    # A move between squares whose names hold line breaks cannot be written, so that it is no link.
    assert [link for link in moved.links if "&m=" in link] == []
    assert "moves" in moved.text


def test_an_error_of_the_program_is_no_traceback_for_who_asks(
    pages: TestClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: Store, *names: str) -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr(Store, "list", fail)
    answer = pages.get("/")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert "see the log of the server" in looked_at(answer.text).text
    logged = capsys.readouterr().err
    assert "KeyError" in logged
    assert "Traceback" not in logged


def test_passwords_are_taken_out_of_messages_and_commands_stay_in_the_log(
    filled: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ggn_store.errors import StoreError
    from ggn_store.web.app import application
    from ggn_store.web.guard import Guard
    from ggn_store.web.site import Site

    def fail(self: Store, *names: str) -> None:
        raise StoreError("cannot connect as ann:hunter22: see `ggn-store db info`")

    monkeypatch.setattr(Store, "list", fail)
    with Store.open(filled) as store:
        site = Site(store, clean=lambda message: message.replace("hunter22", "***"))
        with TestClient(application(site, Guard.of("127.0.0.1")), base_url="http://127.0.0.1:8000") as pages:
            answer = pages.get("/")
    assert answer.status_code == 503
    assert "hunter22" not in answer.text
    assert "ann:***" in answer.text
    assert "db info" not in answer.text
    assert capsys.readouterr().err == "cannot connect as ann:***: see `ggn-store db info`\n"
