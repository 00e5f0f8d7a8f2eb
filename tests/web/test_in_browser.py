"""The pages in a real browser: by keyboard alone, on a narrow screen, in the light and in the dark, without scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ggn_store import Store
from tests.support.browser import Page, by_pipes, in_a_browser, opened
from tests.support.people import KNIGHT, WIDER
from tests.support.program import MINI, MINI_TOML, write
from tests.support.web import served

pytestmark = [in_a_browser, by_pipes]
PROPOSAL = "proposal/knight%231"
TOWER = """title = "A tower of three layers"
board = "2x2x3"
style = "C"
start = "1k^/2//2/2//2/K^1 / C/c"
[pieces.K]
name = "king"
betza = "K(1,1,1)"
terminal = true
"""
SQL = "sql?query=SELECT+piece,+possibilities+FROM+v_pieces&facet=piece"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with opened(tmp_path_factory.mktemp("browser")) as page:
        page.tell("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=False)
        yield page


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a server where Bob can review, and his password."""
    directory = tmp_path_factory.mktemp("served")
    write(directory / "mini.toml", MINI_TOML)
    with Store.open(directory / "store.db") as store:
        store.load(write(directory / "mini.json", MINI), "mini")
        store.load(write(directory / "tower.toml", TOWER))
        store.load(KNIGHT, "knight", author="Ann")
        store.reviews.propose(WIDER, "knight", author="Ann", message="a wider knight")
    with served(str(directory / "store.db"), "--quiet", "--author", "Bob") as (process, connection):
        assert process.stdout is not None
        password = process.stdout.readline().rpartition(" ")[2].strip()
        yield f"http://{connection.host}:{connection.port}/", password


def test_a_move_is_made_by_keyboard_alone(browser: Page, place: tuple[str, str]) -> None:
    browser.go(f"{place[0]}g/mini")
    for square in ("a2", "b3"):
        browser.tab_to(f'a[data-square="{square}"]')
        browser.follow()
    assert "m=" in browser.ask("location.search")
    assert browser.ask("document.querySelector('.plies').textContent.trim()")


@pytest.mark.parametrize("way", ["keyboard", "mouse"])
def test_a_piece_goes_to_another_layer_of_the_board(browser: Page, place: tuple[str, str], way: str) -> None:
    browser.go(f"{place[0]}g/tower")
    layers = "[...document.querySelectorAll('.board text')].filter(e => e.textContent.startsWith('layer'))"
    found = browser.ask(f"{layers}.map(e => [e.textContent, e.getBoundingClientRect().top])")
    assert [name for name, _ in found] == ["layer A", "layer B", "layer C"]
    assert len({top for _, top in found}) == 1, "they stand side by side"
    for square in ("a1A", "b2B"):
        link = f'a[data-square="{square}"]'
        if way == "mouse":
            browser.click(link)
        else:
            browser.tab_to(link)
            browser.follow()
    assert "b2B" in browser.ask("document.querySelector('.plies').textContent")
    assert browser.ask("document.querySelector('.board desc').textContent").count("C:K^ b2B") == 1


def test_a_proposal_is_commented_on_by_keyboard_and_without_scripts(browser: Page, place: tuple[str, str]) -> None:
    address, password = place
    browser.tell("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.go(f"{address}{PROPOSAL}")
        browser.tab_to("main a[href^='/login']")
        browser.follow()
        for field, text in (("name", "Bob"), ("password", password)):
            browser.tab_to(f"input[name={field}]")
            browser.tell("Input.insertText", text=text)
        browser.follow()
        assert browser.ask("location.pathname") == f"/{PROPOSAL}"
        assert browser.ask("document.cookie") == "", "no script sees the session"
        browser.tab_to("textarea")
        browser.tell("Input.insertText", text="why a3?")
        browser.tab_to("button[value=comment]")
        browser.follow()
        assert "why a3?" in browser.ask("document.querySelector('.entry').textContent")
        browser.tab_to("button[value=approve]")
        browser.follow()
        assert "merged" in browser.ask("document.querySelector('h1').textContent")
    finally:
        browser.tell("Emulation.setScriptExecutionDisabled", value=False)


# How light a colour is by the formula of WCAG; what is behind a text is the first that is not see-through.
CONTRASTS = """
(() => {
  const parts = c => c.match(/[0-9.]+/g).map(Number);
  const light = c => parts(c).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor; if (parts(c)[3] !== 0) return c; } return "rgb(255, 255, 255)"; };
  const found = [];
  for (const e of document.querySelectorAll("body *:not(svg *)")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${e.tagName} ${e.className}: ${e.textContent.trim().slice(0, 30)}`);
  }
  return found;
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_narrow_screen_and_can_be_read(browser: Page, place: tuple[str, str], scheme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.tell("Emulation.setEmulatedMedia", features=[feature])
    papers = set()
    for path in ("", "g/mini?from=a2", "piece/mini", "log/mini", "blame/mini", PROPOSAL, SQL, "audit", "login"):
        browser.go(f"{place[0]}{path}")
        assert browser.ask("document.documentElement.scrollWidth") <= 390, path
        assert browser.ask(CONTRASTS) == [], path
        papers.add(browser.ask("getComputedStyle(document.body).backgroundColor"))
    assert len(papers) == 1
    [paper] = papers
    assert (int(paper.removeprefix("rgb(").partition(",")[0]) < 128) == (scheme == "dark")
