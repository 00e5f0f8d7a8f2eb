"""Pages as tests ask for them: a client without a network, and what a browser would find in a page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from starlette.testclient import TestClient

from ggn_store import Store
from ggn_store.web.app import application
from ggn_store.web.guard import Guard
from ggn_store.web.people import People
from ggn_store.web.site import Site
from tests.support.program import child_environment

HOST = "127.0.0.1"
START = f"http://{HOST}:8000"
# Elements that run, load or send something; the style sheet, the icon and forms are looked at one by one.
ACTIVE = {"script", "iframe", "object", "embed", "base", "style", "foreignobject", "audio", "video", "applet", "frame"}
OWN = re.compile(r"(/(?!/)|[?#])")


@contextmanager
def client(
    store: Store,
    guard: Guard | None = None,
    lines: list[str] | None = None,
    people: People | None = None,
    at: str = "testclient",
) -> Iterator[TestClient]:
    """A client of the pages of a store, at an address; they are open until the end."""
    say = (lambda line: None) if lines is None else lines.append
    own = Guard.of(HOST, takes_posts=people is not None) if guard is None else guard
    app = application(Site(store, people=people), own, say)
    with TestClient(app, START, follow_redirects=False, raise_server_exceptions=True, client=(at, 50_000)) as found:
        yield found


@contextmanager
def served(address: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], HTTPConnection]]:
    """The program, serving a store on a port that is free; and a connection to it."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);from ggn_store.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "--db", address, "serve", "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=child_environment()
    ) as process:
        try:
            assert process.stdout is not None
            place = urlsplit(process.stdout.readline().strip())
            assert place.port is not None
            connection = HTTPConnection(str(place.hostname), place.port, timeout=30)
            try:
                yield process, connection
            finally:
                connection.close()
        finally:
            process.kill()
            process.communicate()


@dataclass
class Found(HTMLParser):
    """What is in a page: its links, its pictures, its text, and what it must not have.

    `squares` lead to moves; pieces on `immovable` ones have none.
    """

    page: str = ""
    links: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    squares: dict[str, str] = field(default_factory=dict)
    immovable: set[str] = field(default_factory=set)
    shape: list[tuple[str, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: Mapping[str, str | None] = dict(attrs)
        self.shape.append((tag, *(name for name, _ in attrs)))
        if tag in ACTIVE:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc", "formaction", "xlink:href", "http-equiv"):
                self.faults.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action"):
                self._lead(tag, str(value))
            if name == "id":
                self.ids.add(str(value))
        if tag == "a" and given.get("data-square") and "href" in given:
            square, label = str(given["data-square"]), given["aria-label"]
            assert label
            if label.endswith(", cannot move"):
                self.immovable.add(square)
            else:
                self.squares[square] = str(given["href"])

    def _lead(self, tag: str, address: str) -> None:
        if not OWN.match(address):
            self.faults.append(f"{tag} leads to {address}")
        self.links.append(address)

    handle_startendtag = handle_starttag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All that is shown."""
        return "".join(self.texts)


def looked_at(page: str) -> Found:
    """What is in a page, which has nothing in it that acts by itself."""
    found = Found(page)
    assert found.faults == []
    return found


def own(address: str, base: str) -> str:
    """The path and query of a link of a page."""
    parts = urlsplit(urljoin(base, address))
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def links_of_files(directory: Path) -> int:
    """How many links the pages of a directory have.

    Raises AssertionError for one that leads to no file or to no place in it, a file that none leads to, and for
    anything that acts but the search of the first page.
    """
    files = {path.name: path for path in directory.iterdir()}
    pages = {name: Found(path.read_text(encoding="utf-8")) for name, path in files.items() if path.suffix == ".html"}
    reached = {"index.html"}
    for name, page in pages.items():
        scripts = [each for each in page.faults if not each.startswith(("a leads to", "link leads to", "img leads"))]
        assert scripts in ([], ["<script>", "script leads to search.js"]), (name, scripts)
        for link in page.links:
            parts = urlsplit(link)
            assert (parts.scheme, parts.netloc, parts.query) == ("", "", ""), (name, link)
            assert not parts.path or parts.path in files, (name, link)
            there = pages.get(parts.path or name)
            assert there is None or not parts.fragment or parts.fragment in there.ids, (name, link)
            reached.add(parts.path)
    assert files.keys() <= reached, sorted(files.keys() - reached)
    return sum(len(page.links) for page in pages.values())
