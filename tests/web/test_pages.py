"""Pages: each answers, as HTML and as JSON; every link leads somewhere; nothing in them acts by itself."""

from __future__ import annotations

import functools
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from starlette.testclient import TestClient

from ggn_store import Store, limits, read_definition
from ggn_store.api import handle
from ggn_store.api.teams.history import History
from ggn_store.model.changes.changes import Diff
from ggn_store.render.diff import diff_text
from ggn_store.web import page as of_pages
from ggn_store.web.page import Page
from ggn_store.web.pages import source as of_sources
from ggn_store.web.routes import PAGES
from ggn_store.web.site import Recent, Site
from tests.support.program import MINI, MINI_TOML, MUST, write
from tests.support.web import client, looked_at, own

GDL = Path(__file__).parents[2] / "data" / "gdl"
ADDRESSES = {
    "gallery": ("/", "/?text=small&board=3x3&dialect=diff&state=all&with=drops", "/?offset=1&limit=1"),
    "game": (
        "/g/mini",
        "/g/mini@1?from=a2&explain=1",
        "/g/mini?from=*&piece=C:P&flip=1",
        "/g/must?assume=displacement&position={}",
    ),
    "piece": ("/piece/mini", "/piece/mini?piece=C:P&source=a2&movers=1&uses=1", "/piece/mini?piece=C:P&source=*"),
    "log": ("/log/mini",),
    "blame": ("/blame/mini", "/blame/mini?piece=C:P&source=a2&destination=a3"),
    "diff": ("/diff", "/diff?a=mini", "/diff?a=mini&b=perform"),
    "rules": tuple(
        f"/rules/mini?what={what}"
        for what in (
            *("stats", "mobility", "coverage", "who-reaches", "who-reaches&square=a3", "uses", "uses&state=C:P"),
            *("dead", "symmetry", "concepts", "similar"),
        )
    ),
    "analyses": tuple(
        f"/analyses?what={what}"
        for what in ("stats", "concepts", "find&with=drops", "same-movers", "compare", "compare&a=mini&b=must")
    ),
    "sql": ("/sql", "/sql?query=SELECT+*+FROM+v_rulesets", "/sql?query=SELECT+*+FROM+moves&ruleset=mini"),
    "proposals": ("/proposals", "/proposals?closed=1"),
    "audit": ("/audit", "/audit?ruleset=mini&only=revision&limit=1"),
    "picture": ("/picture/mini", "/picture/mini?piece=C:P&source=a2"),
    "health": ("/health",),
    "metrics": ("/metrics",),
    "openapi": ("/openapi.json",),
}
# These need a definition, a proposal, or a login: tests of their own have them.
ELSEWHERE = {"source", "proposal", "login"}
ALL = [address for addresses in ADDRESSES.values() for address in addresses]


def test_every_page_is_asked_for_here() -> None:
    assert {page.name for page in PAGES} == set(ADDRESSES) | ELSEWHERE


@pytest.mark.parametrize("address", ALL)
def test_every_page_answers_with_the_headers_that_protect_it(pages: TestClient, address: str) -> None:
    answer = pages.get(address)
    assert answer.status_code == 200, answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"].startswith("private")
    assert "server" not in answer.headers
    if answer.headers["content-type"].startswith("text/html"):
        looked_at(answer.text)
        assert len(answer.content) < 100_000


@pytest.mark.parametrize("page", [page.name for page in PAGES if page.template and page.name not in ELSEWHERE])
def test_every_page_has_json_beside_it(pages: TestClient, page: str) -> None:
    path, _, query = ADDRESSES[page][-1].partition("?")
    name = "/index" if path == "/" else path
    beside = pages.get(f"{name}.json?{query}")
    assert beside.headers["content-type"] == "application/json"
    assert isinstance(beside.json(), dict)
    asked = pages.get(f"{path}?{query}", headers={"Accept": "application/json"})
    assert asked.json() == beside.json()


def test_every_link_leads_somewhere(filled: str) -> None:
    """Those of some pages, and of the pages that these lead to, as far as there is time for."""
    waiting, seen = deque(["/", "/sql", "/analyses", "/rules/mini", "/g/hostile", "/g/mini?from=a2"]), set[str]()
    with Store.open(filled) as store, client(store) as pages:
        while waiting and len(seen) < 90:
            address = waiting.popleft()
            is_query = address.startswith("/sql?query=")  # each is a process; other tests run all examples
            if address in seen or (is_query and any(each.startswith("/sql?query=") for each in seen)):
                continue
            seen.add(address)
            answer = pages.get(address)
            assert answer.status_code == 200, (address, answer.text)
            if answer.headers["content-type"].startswith("text/html"):
                found = looked_at(answer.text)
                anchors = {link[1:] for link in found.links if link.startswith("#")}
                assert anchors <= found.ids, address
                waiting += [own(link, address) for link in found.links if not link.startswith("#")]
    assert len(seen) == 90


def test_the_gallery_finds_games_by_words_boards_and_what_they_have(pages: TestClient) -> None:
    def found(query: str) -> list[str]:
        data = pages.get(f"/index.json?{query}").json()
        assert data["count"] >= len(data["rulesets"])
        return [each["name"] for each in data["rulesets"]]

    assert found("") == ["hostile", "mini", "must", "perform"]
    assert found("text=SMALL+game") == ["mini"]
    assert found("board=3x3") == ["mini"]
    assert found("with=drops") == ["mini"]
    assert found("dialect=must-deny") == ["must"]
    assert found("state=retired") == []
    assert found("limit=2&offset=1") == ["mini", "must"]
    assert "A small game" in looked_at(pages.get("/?board=3x3").text).text


def test_the_gallery_finds_games_by_their_tier_and_the_names_of_their_pieces(chess: TestClient) -> None:
    def found(query: str) -> list[str]:
        return [each["name"] for each in chess.get(f"/index.json?{query}").json()["rulesets"]]

    assert found("tier=B") == found("piece=KNIGHT") == found("tier=B&piece=knight&board=8x8") == ["chess"]
    assert found("tier=A") == found("piece=promoted+knight") == found("piece=amazon") == []
    assert chess.get("/?tier=E").status_code == 400
    page = chess.get("/?tier=B&piece=knight").text
    assert "<option selected>B</option>" in page
    assert 'name="piece" value="knight"' in page


@pytest.fixture
def hares(store: Store) -> Iterator[TestClient]:
    """The pages of a game that a game description says."""
    store.load(GDL / "hare-and-hounds.json", "hares")
    with client(store) as found:
        yield found


def test_the_gallery_knows_what_game_descriptions_call_pieces(hares: TestClient) -> None:
    for piece, names in (("hare", ["hares"]), ("HOUND", ["hares"]), ("hare hound", []), ("fox", [])):
        found = hares.get("/index.json", params={"piece": piece}).json()
        assert [each["name"] for each in found["rulesets"]] == names, piece


def test_a_line_of_a_game_description_leads_to_the_moves_of_its_action(
    store: Store, hares: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    [link] = {link for link in looked_at(hares.get("/source/hares").text).links if "action=" in link}
    assert link == "/source/hares?action=step#made"
    assert link in looked_at(hares.get("/g/hares").text).links
    number = (GDL / "hare-and-hounds.json").read_text(encoding="utf-8").splitlines().index('      "step": {') + 1
    assert re.search(f'<tr id="L{number}">.*?<a href="{re.escape(link)}">', hares.get("/source/hares").text)
    made = hares.get("/source/hares.json?action=step").json()["made"]
    assert sorted(map(tuple, made)) == sorted(
        (piece.identifier, source.square, to.square)
        for piece in store.ruleset("hares").document().pieces
        for source in piece.sources
        for to in source.destinations
    ), "all are of its only action"
    assert "What the action step makes" in " ".join(looked_at(hares.get(link).text).text.split())
    wrong = hares.get("/source/hares.json?action=stop")
    assert (wrong.status_code, "did you mean step?" in wrong.json()["error"]) == (404, True)
    monkeypatch.setattr(of_sources, "_MOST_MADE", 2)
    assert "too many moves" in hares.get("/source/hares.json?action=step").json()["error"]


def test_a_game_says_how_it_is_played_in_words(chess: TestClient) -> None:
    page = chess.get("/g/chess").text
    ends = re.findall("<dt>ends by (.*?)</dt><dd>(.*?)</dd>", page)
    assert ("no-move: the side to move loses", "the side to move has no legal move and is in check") in ends
    assert "but for bishop, knight, of which there is at most 1 in all" in page
    assert len({condition for _, condition in ends}) == len(ends) == 7


def test_an_empty_store_offers_the_library(store: Store) -> None:
    with client(store) as pages:
        text = looked_at(pages.get("/").text).text
        assert "ggn-store --db ADDRESS load --library" in text
        assert "Raumschach" in text


def test_a_definition_has_numbered_lines_that_lead_to_its_pieces(chess: TestClient) -> None:
    page = looked_at(chess.get("/source/chess").text)
    assert "[pieces.N]" in page.text
    assert "/piece/chess?piece=C%3AN" in page.links
    assert {"L1", "L2"} <= page.ids
    assert "/source/chess?token=K&key=castling#made" in page.links
    few = chess.get("/source/chess?offset=2&limit=1")
    assert {each for each in looked_at(few.text).ids if each.startswith("L")} == {"L3"}
    assert chess.get("/source/mini").status_code == 404


def test_a_piece_on_one_line_of_a_definition_leads_to_it_and_its_keys_to_their_moves(store: Store) -> None:
    head = 'title = "Small"\nboard = "3x3"\nstyle = "C"\n\n[zones]\nN = "a1"\n\n[pieces]\n'
    store.load(
        read_definition(head + 'N = { betza = "N" }\nK.name = "king"\nK.betza = "K"\n"+N" = { betza = "W" }\n'), "x"
    )
    with client(store) as pages:
        lines = of_sources.lines_of(store.ruleset("x"), store.ruleset("x").export_definition(), "x")
        assert [(number, address) for number, _, address in lines if address] == [
            (9, "/piece/x?piece=C%3AN"),
            (10, "/piece/x?piece=C%3AK"),
            (11, "/source/x?token=K&key=betza#made"),
            (12, "/piece/x?piece=C%3A%2BN"),
        ]
        assert {address for _, _, address in lines if address}.issubset(looked_at(pages.get("/source/x").text).links)


def test_a_line_of_a_definition_leads_to_the_moves_that_it_makes(
    chess: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(token: str, key: str) -> set[tuple[str, ...]]:
        found = chess.get(f"/source/chess.json?token={token}&key={key}").json()["made"]
        return {tuple(entry[1:]) for entry in found}

    files = "abcdefgh"
    beside = [(a, b) for a in files for b in files if abs(ord(a) - ord(b)) <= 1]
    assert made("K", "castling") == {("e1", "g1"), ("e1", "c1")}
    assert made("P", "promotion") == {(f"{a}7", f"{b}8") for a, b in beside}
    assert made("P", "en_passant") == {
        *((f"{a}2", f"{a}4") for a in files),
        *((f"{a}{rank}", f"{b}{rank + 1}") for a, b in beside if a != b for rank in (5,)),
    }
    squares = [(x, y) for x in range(8) for y in range(1, 9)]
    assert made("N", "betza") == {
        (f"{files[x]}{y}", f"{files[u]}{v}")
        for x, y in squares
        for u, v in squares
        if {abs(x - u), abs(y - v)} == {1, 2}
    }
    assert made("N", "drop") == set()
    page = looked_at(chess.get("/source/chess?token=K&key=castling").text)
    assert "C:+K^ from e1 to c1, g1" in page.text or "C:+K^ from e1 to g1, c1" in page.text
    assert "made" in page.ids
    for wrong, status in (("token=Z&key=betza", 404), ("token=N", 400), ("key=betza", 400), ("token=N&key=name", 400)):
        assert chess.get(f"/source/chess?{wrong}").status_code == status
    monkeypatch.setitem(of_sources._LIMITS, "possibilities", 100)
    assert "too many to look for" in chess.get("/source/chess?token=N&key=betza").text


def test_a_board_beyond_the_limit_is_played_without_a_picture(
    pages: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "<svg" in pages.get("/g/mini?flip=1").text
    monkeypatch.setattr(limits, "DRAWN_SQUARES", limits.Limit("drawn-squares", 8, "squares", "a board"))
    game, piece = pages.get("/g/mini").text, pages.get("/piece/mini").text
    assert "This board is too large to be drawn." in game
    assert "<svg" not in game + piece
    assert "first C:P on a2" in game
    picture = pages.get("/picture/mini")
    assert (picture.status_code, picture.text) == (
        400,
        "a board of 9 squares is too large to be drawn: it can have at most 8\n",
    )


def test_what_a_page_does_not_know_is_a_clear_message(pages: TestClient) -> None:
    for address, status, message in (
        ("/g/minni", 404, "did you mean mini?"),
        ("/g/mini@9", 404, "no revision 9"),
        ("/g/mini?form=a2", 400, "did you mean from?"),
        ("/g/mini?from=z9", 404, "z9"),
        ("/g/mini?position=nonsense", 400, "this is no position"),
        ("/g/mini?m=a1+a2", 400, "move 1:"),
        ("/g/mini?flip=yes", 400, "flip="),
        ("/g/mini?flip=1&flip=0", 400, "more than once"),
        ("/?limit=0", 400, "from 1 to 200"),
        ("/?limit=99999999999999999999", 400, "from 1 to 200"),
        ("/rules/mini?what=mobilty", 400, "did you mean mobility?"),
        ("/analyses?what=find&with=hopers", 404, "hoppers"),
        ("/diff?b=mini&c=must", 400, "takes no parameter"),
        ("/proposal/mini%231", 404, "mini#1"),
        ("/source/must", 404, "it was loaded as a document"),
        ("/g/must?position={}&from=a1&m=a1+a3", 400, ""),
        ("/g/mini@sha256:0123456789abcdef0", 404, "no revision whose digest"),
        ("/sql?query=DELETE+FROM+ruleset&format=csv", 400, ""),
        ("/nowhere", 404, "/nowhere"),
        ("/static/../app.py", 404, ""),
        ("/static/%2e%2e%2fapp.py", 404, ""),
        ("/g/mini?position=%ff", 400, "UTF-8"),
    ):
        answer = pages.get(address, headers={"Accept": "application/json"})
        assert answer.status_code == status, (address, answer.text)
        assert message in answer.json()["error"], address
        for word in ("Traceback", "ggn-store", "--", "in Python"):
            assert word not in answer.text, "nobody has a shell here"
        as_page = pages.get(address)
        assert as_page.status_code == status
        looked_at(as_page.text)


def test_a_page_of_a_piece_says_what_can_be_clicked(pages: TestClient) -> None:
    for source, words in (("a2", "From the hand"), ("*", "Click a square to see it there.")):
        shown = looked_at(pages.get("/piece/mini", params={"piece": "C:P", "source": source}).text).text
        assert f"whatever stands on the board. {words} C:P side" in " ".join(shown.split()), source


def test_what_was_asked_can_be_changed_where_it_was_wrong(pages: TestClient) -> None:
    page = pages.get("/rules/mini?what=who-reaches&square=z9").text
    for name, text in (("what", "who-reaches"), ("square", "z9")):
        assert f'<input name="{name}" value="{text}">' in page
    assert "<form" not in pages.get(f"/g/mini?{'&'.join(['m=a1+a9'] * 30)}").text, "no form of thirty fields"
    assert "<form" not in pages.get("/g/mini?form=a2").text, "the page takes nothing of this"


def test_analyses_offer_pieces_and_rulesets_by_name(chess: TestClient) -> None:
    for address, options in (
        ("/rules/chess?what=mobility&piece=C:N", ['value="">any', 'value="C:N" selected>C:N · knight']),
        ("/rules/chess?what=uses", ['value="">choose', 'value="enemy">enemy', 'value="C:N">C:N · knight']),
        ("/analyses?what=compare&a=chess@1", ["selected>chess@1"]),
        ("/analyses?what=compare&a=chess", ['value="chess" selected>chess · ']),
    ):
        page = chess.get(address).text
        for option in options:
            assert f"<option {option}" in page, (address, option)


def test_an_error_leads_on(pages: TestClient) -> None:
    for address, ahead in (
        ("/g/mini?position=nonsense", ["/g/mini", "/g/mini"]),
        ("/g/mini@1?m=a1+a2&flip=%ff", []),
        ("/analyses?what=find&with=hopers", ["/analyses", "/analyses"]),
        ("/?limit=0", ["/"]),
        ("/source/must", ["/g/must"]),
        ("/g/minni", []),
        ("/nowhere", []),
    ):
        links = looked_at(pages.get(address).text.partition('<div class="card error"')[2]).links
        assert links == [*ahead, "/", "/openapi.json"], address
        assert [pages.get(link).status_code for link in links] == [200] * len(links)


def test_revisions_named_by_their_history_are_kept_for_ever_and_others_are_asked_for_again(pages: TestClient) -> None:
    [newest] = pages.get("/log/mini.json").json()["revisions"]
    lasting = f"/g/mini@sha256:{newest['lineage']}"
    assert "immutable" in pages.get(lasting).headers["cache-control"]
    assert "immutable" in pages.get(f"{lasting}.json").headers["cache-control"]
    for address in ("/g/mini", "/g/mini@1", lasting[:-1], "/log/mini@1"):
        answer = pages.get(address)
        assert "no-cache" in answer.headers["cache-control"], address
        for known in ("{}", "W/{}", '"other", W/{}'):  # which is how it comes through a proxy that packs answers
            again = pages.get(address, headers={"If-None-Match": known.format(answer.headers["etag"])})
            assert (again.status_code, again.content) == (304, b"")
    named = lasting.removeprefix("/g/")
    for query, is_fixed in ((f"a={named}", True), (f"a={named}&b={named}", True), ("a=mini@1", False)):
        for address in (f"/diff?{query}", f"/diff.json?{query}", f"/diff?{query}&piece=C:P"):
            assert ("immutable" in pages.get(address).headers["cache-control"]) == is_fixed, address
    for query in (f"a={named}&b=mini", f"a=mini&b={named}"):
        assert "immutable" not in pages.get(f"/diff?{query}").headers["cache-control"]
    style = next(link for link in looked_at(pages.get("/").text).links if "style.css" in link)
    weak = {"If-None-Match": f"W/{pages.get(style).headers['etag']}"}
    assert pages.get(style, headers=weak).status_code == 304
    assert "immutable" in pages.get(style).headers["cache-control"]
    assert "immutable" not in pages.get("/static/style.css").headers["cache-control"]


def test_a_first_revision_is_told_in_short_and_compared_with_nothing_by_the_piece(
    pages: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_piece = pages.get("/diff.json?a=mini&piece=C:P").json()
    assert of_piece["counts"]["possibilities_added"] == sum(
        len(entry) for source in MINI["C:P"].values() for entry in source.values()
    )
    monkeypatch.setattr(History, "diff", None)
    data = pages.get("/diff.json?a=mini").json()
    total = sum(len(entry) for piece in MINI.values() for source in piece.values() for entry in source.values())
    assert (data["before"], data["pieces"]) == (None, dict.fromkeys(MINI, "added"))
    assert data["counts"]["possibilities_added"] == total
    assert any(line.startswith(f"+ C:P: {len(MINI['C:P'])} sources, ") for line in data["lines"])
    page = pages.get("/diff?a=mini").text
    assert "A small game" in looked_at(page).text
    assert ('name="a" value="mini@1"' in page, 'name="b" value=""' in page) == (True, True), "the form asks the same"
    several = [pages.get(f"/diff.json?a=mini&limit=1&offset={number}").json() for number in range(len(data["lines"]))]
    assert [each["lines"] for each in several] == [[line] for line in data["lines"]]
    assert [each["more"] for each in several] == [True] * (len(several) - 1) + [False]


def test_of_a_difference_too_large_for_a_page_it_says_which_pieces_differ(
    filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(of_pages.LIMITS, "compared-possibilities", 3)
    with Store.open(filled) as store, client(store) as pages:
        data = pages.get("/diff.json?a=mini&b=perform").json()
        old, new = (store.ruleset(name).document() for name in ("mini", "perform"))
        sizes = {
            name: [sum(each.identifier == name for each in of.pieces for _ in each.entries()) for of in (old, new)]
            for name in dict.fromkeys(each.identifier for of in (old, new) for each in of.pieces)
        }
        assert data["sizes"] == sizes
        assert data["pieces"] == {
            name: "added" if not was else "changed" if now else "removed" for name, (was, now) in sizes.items()
        }
        page = looked_at(pages.get("/diff?a=mini&b=perform").text)
        assert [link for link in page.links if "piece=" in link] == [
            f"/diff?{urlencode({'a': 'mini', 'b': 'perform', 'piece': each})}" for each in sizes
        ]
        assert "more than the 3 that a page compares" in page.text
        large = [name for name, size in sizes.items() if sum(size) > 3]
        assert 0 < len(large) < len(sizes)
        for name in sizes:
            of_piece = pages.get("/diff.json", params={"a": "mini", "b": "perform", "piece": name}).json()
            assert of_piece["pieces"] == {name: data["pieces"][name]}
            assert ("sources" in of_piece, bool(of_piece["lines"])) == (name in large, name not in large)


def test_of_a_piece_too_large_for_a_page_each_square_from_which_it_differs_has_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rook = '[pieces.R]\nname = "rook"\nbetza = "R"\n'
    text = f'title = "Rooks"\nboard = "4x4"\nstyle = "C"\n{rook}'
    store.load(write(tmp_path / "rooks.toml", text))
    proposal = store.reviews.propose(
        write(tmp_path / "rooks.toml", text.replace('"R"\n', '"RF"\n')), "rooks", author="Ann"
    )
    whole = store.history.diff(str(proposal))
    of_piece = {"a": str(proposal), "piece": "C:R"}
    monkeypatch.setitem(of_pages.LIMITS, "compared-possibilities", 60)
    with client(store) as pages:
        page = looked_at(pages.get("/diff", params=of_piece).text)
        assert ("Squares from which C:R differs" in page.text, "more than the 60" in page.text) == (True, True)
        sources = {
            each.source: [
                sum(len(entry.possibilities) for to in of.pieces if to.identifier == "C:R" for place in to.sources
                    if place.square == each.source for entry in place.destinations)
                for of in (store.ruleset("rooks").document(), store.ruleset(str(proposal)).document())
            ]
            for piece in whole.pieces if piece.piece == "C:R" for each in piece.sources
        }  # fmt: skip
        assert pages.get("/diff.json", params=of_piece).json()["sources"] == sources
        assert len(sources) == 16
        assert [link for link in page.links if "source=" in link] == [
            f"/diff?{urlencode(of_piece | {'source': each})}" for each in sources
        ]
        with monkeypatch.context() as patch:
            patch.setattr(handle, "_whole", None)  # nothing else of the piece is read
            shown = looked_at(pages.get("/diff", params=of_piece | {"source": "b2"}).text)
        assert ("C:R from b2" in shown.text, "C:R from c3" in shown.text) == (True, False)
        [changed] = [each for each in whole.pieces if each.piece == "C:R"]
        [from_b2] = [each for each in changed.sources if each.source == "b2"]
        lines = diff_text(Diff((), (replace(changed, sources=(from_b2,), places=()),)))
        of_source = pages.get("/diff.json", params=of_piece | {"source": "b2"}).json()
        assert of_source["lines"] == [line.rstrip("\n") for line in lines]
        several = [
            pages.get("/diff", params=of_piece | {"limit": "6", "offset": str(number)}).text for number in (0, 6, 12)
        ]
        found = [
            link for each in several for link in looked_at(each).links if "source=" in link and "limit" not in link
        ]
        assert found == [link for link in page.links if "source=" in link]
        assert ["More squares" in each for each in several] == [True, True, False]
        assert pages.get("/diff", params={"a": str(proposal), "source": "b2"}).status_code == 400
    monkeypatch.setitem(of_pages.LIMITS, "compared-possibilities", 4)
    with client(store) as pages:
        page = looked_at(pages.get("/diff", params=of_piece).text)
        assert not [link for link in page.links if "source=" in link]


def test_a_change_of_few_squares_of_a_large_piece_is_shown(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    drops = {"c1": MINI["C:P"]["*"]["c1"] * 2}
    store.load(MINI, "mini")
    with client(store) as pages:
        store.load({**MINI, "C:P": MINI["C:P"] | {"*": drops}}, "mini")
        whole = pages.get("/diff.json?a=mini&piece=C:P").json()
        assert whole["counts"]["possibilities_added"] == 1
    monkeypatch.setitem(of_pages.LIMITS, "compared-possibilities", 5)
    with client(store) as pages:
        assert "sizes" in pages.get("/diff.json?a=mini").json()
        assert pages.get("/diff.json?a=mini&piece=C:P").json() == whole
        assert "C:P from the hand" in looked_at(pages.get("/diff?a=mini&piece=C:P").text).text


def test_a_page_of_a_revision_is_made_once_until_something_of_it_changes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "mini.toml", MINI_TOML)
    store.load(write(tmp_path / "mini.json", MINI), author="Ann")
    addresses = ("/g/mini", "/g/mini.json", "/g/mini?from=a2", "/piece/mini?piece=C:P", "/picture/mini")
    with client(store) as pages:

        def found() -> dict[str, tuple[bytes, dict[str, str]]]:
            answers = {address: pages.get(address) for address in addresses}
            return {address: (each.content, dict(each.headers)) for address, each in answers.items()}

        first = found()
        with monkeypatch.context() as patch:
            patch.setattr(Page, "show", None)
            assert found() == first
        store.tags.set("mini@1", "stable", author="Ann")
        assert "mini:stable" in pages.get("/g/mini").text
        store.tags.remove("mini", "stable", author="Ann")
        assert found() == first
        store.states.set("mini", "deprecated", message="too small", author="Ann")
        assert "too small" in pages.get("/g/mini").text
        store.load(MUST, "mini")
        assert "mini@2" in pages.get("/g/mini").text
        assert "C:R" in pages.get("/piece/mini").text
        store.delete("mini")
        assert {pages.get(address).status_code for address in addresses} == {404}


def test_a_proposal_too_large_for_a_page_shows_its_source_and_each_piece_by_itself(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(of_pages.LIMITS, "compared-possibilities", 20)
    tower = """title = "Towers"
board = "3x3"
style = "C"
[pieces.R]
name = "rook"
betza = "W"
[pieces.N]
name = "knight"
betza = "N"
"""
    store.load(write(tmp_path / "tower.toml", tower))
    wider = tower.replace('betza = "W"', 'betza = "WF"').replace('"N"\n', '"NW"\n')
    proposal = str(store.reviews.propose(write(tmp_path / "tower.toml", wider), "tower", author="Ann"))
    with client(store) as pages:
        page = looked_at(pages.get(f"/proposal/{quote(proposal)}").text)
        assert [each for each in ('-   betza = "W"', '+   betza = "WF"', "C:R", "c:n") if each not in page.text] == []
        data = pages.get(f"/proposal/{quote(proposal)}.json").json()
        assert set(data["pieces"].values()) == {"changed"}
        # 24 steps of a rook and 16 more, to an empty square or to take.
        assert data["sizes"]["C:R"] == [2 * 24, 2 * (24 + 16)]
    monkeypatch.setitem(of_pages.LIMITS, "compared-possibilities", 128)
    with client(store) as pages:
        page = looked_at(pages.get(f"/proposal/{quote(proposal)}").text)
        [link] = [link for link in page.links if link.endswith("piece=C%3AR")]
        alone = looked_at(pages.get(link).text)
        assert ("C:R from" in alone.text, "C:N from" in alone.text) == (True, False)


def test_what_differs_is_kept_by_its_weight() -> None:
    kept: Recent[str] = Recent(5, len)
    made: list[str] = []

    def make(text: str) -> str:
        made.append(text)
        return text

    for text in ("abc", "de", "abc", "f", "abc", "de", "abcdefgh", "de", "abcdefgh"):
        assert kept.get(text, functools.partial(make, text)) == text
    assert made == ["abc", "de", "f", "de", "abcdefgh", "abcdefgh"]


def test_of_rulesets_no_more_is_kept_than_so_many_possibilities(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.load_library("tic-tac-toe", "tapatan", "hexapawn")
    monkeypatch.setattr("ggn_store.web.site._RULESETS", 2_500)
    site = Site(store)
    first = site.ruleset("tic-tac-toe")
    assert site.ruleset("tic-tac-toe") is first
    site.ruleset("tapatan")
    site.ruleset("hexapawn")
    assert site.ruleset("tic-tac-toe") is not first


def test_a_ruleset_whose_name_ends_with_json_has_a_page_too(store: Store, tmp_path: Path) -> None:
    write(tmp_path / "mini.toml", MINI_TOML)
    store.load(write(tmp_path / "mini.json", MINI), "data.json")
    with client(store) as pages:
        [link] = [link for link in looked_at(pages.get("/").text).links if link.startswith("/g/")]
        assert pages.get(link).headers["content-type"].startswith("text/html")
        assert pages.get(f"{link}.json").json()["revision"]["name"] == "data.json"


def test_history_shows_who_changed_what_and_where(store: Store, tmp_path: Path) -> None:
    write(tmp_path / "mini.toml", MINI_TOML)
    store.load(write(tmp_path / "mini.json", MINI), "team/mini", author="Ann", message="first rules")
    changed = {"C:P": MINI["C:P"] | {"b1": {"b2": MINI["C:P"]["a2"]["b3"]}}, "c:p": MINI["c:p"]}
    store.load(write(tmp_path / "mini.json", changed), "team/mini", author="Bob", message="a pawn more")
    store.tags.set("team/mini@1", "stable", author="Ann")
    store.states.set("team/mini", "deprecated", message="too small", author="Ann")
    proposed = store.reviews.propose(
        write(tmp_path / "mini.json", MINI), "team/mini", author="Cas", message="as before"
    )
    store.reviews.comment(str(proposed), "why?", piece="C:P", author="Ann")
    with client(store) as pages:
        log = looked_at(pages.get("/log/team/mini").text)
        assert [name for name in ("Ann", "Bob", "first rules", "a pawn more", "stable") if name not in log.text] == []
        assert [each["revision"] for each in pages.get("/log/team/mini.json?limit=1").json()["revisions"]] == [2]
        blame = pages.get("/blame/team/mini.json?piece=C:P&source=b1").json()
        assert [(each["author"], each["destination"]) for each in blame["entries"]] == [("Bob", "b2")]
        diff = pages.get("/diff?a=team/mini")
        assert 'data-change="added"' in diff.text
        assert pages.get("/diff.json?a=team/mini").json()["counts"]["entries"] == 1
        assert "nothing" in looked_at(pages.get("/diff?a=team/mini@1").text).text
        game = looked_at(pages.get("/g/team/mini").text).text
        assert "team/mini is deprecated" in game
        assert "stable" in game
        fixed = pages.get(f"/g/team/mini@sha256:{blame['entries'][0]['lineage']}").text
        assert "is deprecated" not in fixed, "what may change is not kept for ever"
        proposals = looked_at(pages.get("/proposals").text)
        assert f"/proposal/{quote(str(proposed))}" in proposals.links
        proposal = looked_at(pages.get(f"/proposal/{quote(str(proposed))}").text)
        assert [each for each in ("as before", "why?", "Cas", "C:P", "open") if each not in proposal.text] == []
        assert looked_at(pages.get(f"/g/{quote(str(proposed))}").text).squares
        for address in (f"/g/{quote(str(proposed))}", f"/proposal/{quote(str(proposed))}", "/log/team/mini"):
            for link in looked_at(pages.get(address).text).links:
                assert link.startswith("#") or pages.get(own(link, address)).status_code == 200, (address, link)
        audit = pages.get("/audit.json?only=revision&limit=1").json()["events"]
        assert [(each["action"], each["subject"]) for each in audit] == [("revision", "team/mini")]
        assert re.search("propose.*state.*tag.*revision", looked_at(pages.get("/audit").text).text, re.DOTALL)
