"""The guide for a first visit, walked through in a browser: what it says to press is there, and does what it says.

`python -m tests.web.test_first_visit` takes the pictures of the guide.
"""

from __future__ import annotations

import base64
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ggn_store import Store, guides
from ggn_store.api.loading.games import library_source
from tests.support.browser import Page, by_pipes, in_a_browser, opened
from tests.support.program import write
from tests.support.web import served

HERE = Path(guides.__file__).parent
SIZE = {"width": 760, "height": 620}

# Of each part of the guide: what is pressed in its order, or typed into a field, and what the page shows then.
FIND = [
    ("Search", "location.pathname == '/'"),
    ("Show", "document.querySelectorAll('.tile').length == 1"),
    ("Gardner minichess", "location.pathname == '/g/gardner'"),
]
LOOK = [
    ("b1", "document.querySelectorAll('.board .mark').length == 2"),
    ("c3", "document.querySelector('.turn').textContent.includes('second to move')"),
    ("Take back", "document.querySelector('.turn').textContent.includes('first to move')"),
    ("Pieces", "location.pathname == '/piece/gardner'"),
    ("C:N knight", "document.querySelector('h1').textContent.includes('knight')"),
]
SPOT = [
    ("Proposals", "document.querySelector('.entry').textContent.includes('Ann')"),
    ("gardner#1", "document.querySelectorAll('figure.changed').length == 2"),
    ("Try it on a board", "document.querySelectorAll('.board a[data-square=b1]').length == 1"),
]
SAY = [
    ("Proposals", "document.querySelector('h1').textContent == 'Proposals'"),
    ("gardner#1", "document.querySelector('form.review') === null"),
    ("Log in", "location.pathname == '/login'"),
    ("Name", "true"),
    ("Password", "true"),
    ("Log in", "document.querySelector('form.review') !== null"),
    ("Message of Bob", "true"),
    ("Comment", "document.querySelector('.entry').textContent.includes('why d3?')"),
    ("Approve and merge", "document.querySelector('h1 .badge').textContent == 'merged'"),
    ("gardner@2", "location.pathname == '/g/gardner@2'"),
    ("History", "document.querySelectorAll('.entry').length == 2"),
]
PARTS = {
    "Find a game": FIND,
    "See how its pieces move": LOOK,
    "Spot what a proposal changes": SPOT,
    "Say what you think": SAY,
}
# What the guide also names in bold, for others to press.
ALSO = {"Approve", "Reject"}
# When a picture is taken, and of what.
PICTURES = {
    ("Find a game", "Show"): "main",
    ("See how its pieces move", "b1"): "main",
    ("Spot what a proposal changes", "gardner#1"): "figure.changed",
    ("Say what you think", "Message of Bob"): "form.review",
}

ELEMENT = """
(words => {
  const said = e => e.textContent.trim().replace(/\\s+/g, " ");
  const is = e => e.dataset.square === words || [e, ...e.querySelectorAll(".name")].some(each => said(each) === words);
  const all = s => [...document.querySelectorAll(s)];
  const found = all("main a, main button").find(is) ?? all("a, button").find(is);
  const label = all("label").find(e => said(e) === words);
  all("[data-pressed]").forEach(e => e.removeAttribute("data-pressed"));
  (found ?? label?.control)?.setAttribute("data-pressed", "");
  return found ? "press" : label ? "type" : "nothing";
})
"""


@contextmanager
def visit(directory: Path, browser: Page) -> Iterator[dict[str, str]]:
    """The first page of a server in the browser; and what its guest types, by the names of fields."""
    with Store.open(directory / "store.db") as store:
        store.load_library("gardner", "minixiangqi", author="Ann")
        changed = library_source("gardner").replace('betza = "N"', 'betza = "NA"')
        store.reviews.propose(
            write(directory / "gardner.toml", changed), "gardner", author="Ann", message="A knight that leaps further"
        )
    with served(str(directory / "store.db"), "--quiet", "--author", "Bob") as (process, connection):
        assert process.stdout is not None
        password = process.stdout.readline().rpartition(" ")[2].strip()
        browser.tell("Emulation.setDeviceMetricsOverride", **SIZE, deviceScaleFactor=1, mobile=False)
        browser.go(f"http://{connection.host}:{connection.port}/")
        yield {"Search": "gardner", "Name": "Bob", "Password": password, "Message of Bob": "why d3?"}


def done(browser: Page, words: str, typed: dict[str, str]) -> None:
    """Press what has these words, or type into the field of this name."""
    way = browser.ask(f"{ELEMENT}({json.dumps(words)})")
    assert way != "nothing", f"nothing on {browser.ask('location.href')} is called {words}"
    if way == "press":
        browser.click("[data-pressed]")
    else:
        browser.ask("document.querySelector('[data-pressed]').focus()")
        browser.tell("Input.insertText", text=typed[words])


def bold(text: str) -> list[str]:
    return re.findall(r"\*\*(.+?)\*\*", " ".join(text.split()))


@in_a_browser
@by_pipes
def test_a_guest_finds_a_game_sees_its_moves_and_a_change_and_approves_it(tmp_path: Path) -> None:
    parts = dict(part.split("\n", 1) for part in guides.text("first-visit").split("\n## ")[1:])
    assert parts.keys() == PARTS.keys()
    with opened(tmp_path) as browser, visit(tmp_path, browser) as typed:
        for name, steps in PARTS.items():
            assert [words for words in bold(parts[name]) if words not in ALSO] == [words for words, _ in steps]
            for words, shown in steps:
                done(browser, words, typed)
                assert browser.ask(shown) is True, (name, words, browser.ask("document.body.innerText"))
    with Store.open(tmp_path / "store.db") as store:
        assert str(store.ruleset("gardner").revision) == "gardner@2"
        moves = store.ruleset("gardner").legal_moves(store.ruleset("gardner").position(), source="b1")
        assert {move.destination for move in moves} == {"a3", "c3", "d3"}


def test_the_guide_has_the_pictures_that_are_there() -> None:
    shown = re.findall(r"\]\((first-visit-\d\.webp)\)", guides.text("first-visit"))
    assert shown == [f"first-visit-{number}.webp" for number in range(1, len(PICTURES) + 1)]
    assert {path.name for path in HERE.glob("*.webp")} == {*shown}
    assert sum((HERE / each).stat().st_size for each in shown) < 100_000


def pictures(form: str, directory: Path) -> None:
    """Pictures of the visit, numbered in its order."""
    with tempfile.TemporaryDirectory() as place, opened(Path(place)) as browser, visit(Path(place), browser) as typed:
        number = 0
        for name, steps in PARTS.items():
            for words, _ in steps:
                done(browser, words, typed)
                if (name, words) in PICTURES:
                    number += 1
                    element = f"document.querySelector({json.dumps(PICTURES[name, words])})"
                    browser.ask(f"{element}.scrollIntoView()")
                    box = f"(b => [b.x + scrollX, b.y + scrollY, b.width, b.height])({element}.getBoundingClientRect())"
                    x, y, width, height = browser.ask(box)
                    clip = {"x": x, "y": y, "width": width, "height": min(height, SIZE["height"]), "scale": 1}
                    quality = {"quality": 70} if form == "webp" else {}
                    taken = browser.tell("Page.captureScreenshot", format=form, clip=clip, **quality)
                    (directory / f"first-visit-{number}.{form}").write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    pictures("webp", HERE)
