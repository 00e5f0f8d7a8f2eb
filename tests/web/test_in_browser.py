"""The pages in a real browser: by keyboard alone, on a narrow screen, in the light and in the dark, without scripts."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterator
from importlib import resources

import pytest

from ggn_store import Store
from ggn_store.render.legend import COLORS
from ggn_store.web import files
from ggn_store.web.site import Site
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
    with opened(tmp_path_factory.mktemp("browser")) as page, page.drawn(390):
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
        assert browser.ask("document.activeElement.id") == "board", "the next press of Tab goes to a square"
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
    with browser.drawn(390, scripts=False):
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


PAGES = (
    *("", "?q=knight", "g/mini", "g/mini?from=a2", "g/tower", "piece/mini?uses=1&movers=1", "source/tower", "log/mini"),
    *(
        "blame/mini",
        "diff/mini?with=tower",
        "rules/mini",
        "analyses",
        "sql",
        SQL,
        "proposals",
        PROPOSAL,
        "audit",
        "login",
    ),
    "g/nothing",
)
AXE = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
SERIOUS = "r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact))"
TOLD = f"axe.run().then(r => ({SERIOUS})(r).map(v => [v.id, ...v.nodes.map(n => n.html.slice(0, 100))]))"


# Each of a scheme, a width, and with or without scripts; the other half in the long run.
EVERY = [
    pytest.param(
        *each, marks=[] if sum(map(bool, (each[0] == "dark", each[1] > 390, each[2]))) % 2 else pytest.mark.long
    )
    for each in itertools.product(("light", "dark"), (390, 1280), (False, True))
]


@pytest.mark.parametrize(("scheme", "width", "scripts"), EVERY)
def test_pages_fit_the_screen_and_can_be_read(
    browser: Page, place: tuple[str, str], scheme: str, width: int, scripts: bool
) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.tell("Emulation.setEmulatedMedia", features=[feature])
    papers = set()
    for path in PAGES:
        with browser.drawn(width, scripts=scripts):
            browser.go(f"{place[0]}{path}")
            assert browser.ask("document.documentElement.scrollWidth") <= width, path
            browser.let_scripts(True)  # axe needs timers
            browser.ask(f"{AXE}; 0")
            assert browser.ask(TOLD) == [], path
            papers.add(browser.ask("getComputedStyle(document.body).backgroundColor"))
    [paper] = papers
    assert (int(paper.removeprefix("rgb(").partition(",")[0]) < 128) == (scheme == "dark")


def test_files_show_the_moves_from_a_square_and_find_games_by_pieces(
    browser: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("files")
    write(directory / "tower.toml", TOWER)
    write(directory / "mini.toml", MINI_TOML)
    with Store.open(directory / "store.db") as store:
        store.load(write(directory / "mini.json", MINI), "mini")
        store.load(directory / "tower.toml")
        files.write(Site(store), directory / "pages")
    browser.go(f"file://{directory}/pages/index.html")
    typed = "e => { e.value = 'king tower'; e.dispatchEvent(new Event('input')) }"
    browser.ask(f"({typed})(document.querySelector('input[type=search]'))")
    assert browser.ask("[...document.querySelectorAll('.gallery .name')].map(e => e.textContent)") == [
        "A tower of three layers"
    ]
    browser.click(".gallery a")
    browser.click("table a[href^='piece-tower']")
    shown = "[...document.querySelectorAll('.from, .chosen')].filter(e => getComputedStyle(e).display != 'none')"
    assert browser.ask(f"{shown}.map(e => e.getAttribute('class'))") == ["chosen"]
    link = "document.querySelector('.board a[data-square=\"b2B\"]')"
    browser.ask(f"location.hash = {link}.getAttribute('href')")
    assert browser.ask(f"{shown}.map(e => '#' + e.id)") == browser.ask(f"[{link}.getAttribute('href')]")
    assert not browser.ask("[...document.querySelectorAll('.of-source')].some(e => e.offsetHeight)")


def test_the_legend_is_seen_in_the_dark(browser: Page, place: tuple[str, str]) -> None:
    browser.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.go(f"{place[0]}g/mini?from=a2")
    found = legend_of(browser)
    assert len(found) >= 2
    for colors in found:
        assert max(map(_lightness, colors)) > 0.3, colors
    browser.tell("Emulation.setEmulatedMedia", features=[])


def legend_of(browser: Page) -> list[list[str]]:
    """How what the legend has is filled and drawn."""
    shapes = [name for color in COLORS.values() for name in (f"[fill='{color}']", f"[stroke='{color}']")]
    samples = f"[...document.querySelectorAll(`.board svg :is({', '.join(shapes)})`)].filter(e => !e.closest('.mark'))"
    drawn = "e => [getComputedStyle(e).fill, getComputedStyle(e).stroke]"
    halo = "e => e.previousElementSibling?.getAttribute('fill') == '#ffffff'"  # of a plus
    found: list[list[str]] = browser.ask(f"{samples}.filter(e => !({halo})(e)).map({drawn})")
    return found


def test_print_fits_and_is_light(browser: Page, place: tuple[str, str]) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.tell("Emulation.setEmulatedMedia", media="print", features=dark)
    with browser.drawn(1000):
        browser.go(f"{place[0]}g/mini?from=a2&explain=1")
        assert browser.ask("document.documentElement.scrollWidth") <= 1000, "the SQL has long lines"
        text = "document.querySelector('#position')"
        assert browser.ask(f"{text}.offsetHeight >= {text}.scrollHeight && {text}.offsetHeight > 0"), (
            "the position, too"
        )
        found = legend_of(browser)
        assert found
        for colors in found:
            assert max(map(_lightness, colors)) < 0.3, colors
    browser.tell("Emulation.setEmulatedMedia", media="", features=[])


def test_boards_before_and_after_are_seen_at_once(browser: Page, place: tuple[str, str]) -> None:
    browser.go(f"{place[0]}{PROPOSAL}")
    edges = "e => [e.getBoundingClientRect().right, e.parentElement.getBoundingClientRect().right]"
    found = browser.ask(f"[...document.querySelectorAll('.changed svg')].map({edges})")
    assert found
    assert all(right <= room + 1 for right, room in found), "on a narrow screen, too"


def _lightness(color: str) -> float:
    """That of `rgb(0, 0, 0)`; 0 for none."""
    parts = [int(each) / 255 for each in re.findall(r"\d+", color)[:3]]
    return sum(map(operator.mul, (0.2126, 0.7152, 0.0722), (part**2.2 for part in parts))) if parts else 0.0


def test_what_axe_finds_is_told(browser: Page, place: tuple[str, str]) -> None:
    browser.go(f"{place[0]}g/mini")
    browser.ask("document.documentElement.removeAttribute('lang')")
    browser.ask(f"{AXE}; 0")
    assert [name for name, *_ in browser.ask(TOLD)] == ["html-has-lang"]
