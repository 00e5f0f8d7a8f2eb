"""The pages of a store as files, which any web server or a browser alone shows: `ggn-store site`.

What has files is found by following links from the first page, as far as `_name` goes: games with the marks of each
piece at the start, pieces, definitions, histories, and older revisions as their histories name them. Links to anything
else are taken away, and so are forms.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections import deque
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from ggn_store.errors import InputError
from ggn_store.output import new_directory
from ggn_store.web import rendering, views
from ggn_store.web.page import Answer, Asked, Page
from ggn_store.web.routes import PAGES
from ggn_store.web.site import Site

# Which parameters the addresses of pages may have that become files.
_KEPT: Final = {
    "game": {"from", "piece"},
    "piece": {"piece"},
    "source": set[str](),
    "log": set[str](),
    "picture": set[str](),
}
_FORM: Final = re.compile(r"<form\b.*?</form>", re.DOTALL)
_DEAD: Final = re.compile(r"<a\b(?![^>]*\bhref=)[^>]*>(.*?)</a>", re.DOTALL)
_NUMBERED: Final = re.compile(r"[^@:#]+@[0-9]+")
# What there is of an older revision.
_OF_OLDER: Final = ("game", "source", "log")
_LINK: Final = re.compile(r'\b(href|src)="([^"]*)"')
_SAFE: Final = re.compile(r"[^A-Za-z0-9._+-]+")
_ROOM: Final = "name a new directory, or an empty one"
_SEARCH: Final = "search.js"
_GALLERY: Final = 200  # games on a page


def write(site: Site, directory: str | os.PathLike[str]) -> int:
    """Write the pages into a new directory; how many files there are.

    Raises InputError where the directory has something in it, or the store nothing.
    """
    if not site.store.revisions():
        raise InputError("the store is empty: `ggn-store load --library` loads well-known games")
    with new_directory(directory, _ROOM) as place:
        made = _Files(site, place)
        made.write()
        return made.count


class _Files:
    """The files of a site, by the addresses of their pages."""

    def __init__(self, site: Site, place: Path) -> None:
        self._site, self._place = site, place
        self._names: dict[str, str] = {}
        self._waiting: deque[str] = deque()
        self.count = 0

    def write(self) -> None:
        """Write all."""
        for name in ("style.css", "icon.svg", _SEARCH):
            self._write(name, views.static(name) or b"")
        self._file(f"/?limit={_GALLERY}")
        while self._waiting:
            address = self._waiting.popleft()
            page, asked = self._asked(address)
            name = self._names[address]
            answer = page.show(asked)
            self._write(name, self._text(asked, answer).encode("utf-8", "backslashreplace"))

    def _write(self, name: str, data: bytes) -> None:
        (self._place / name).write_bytes(data)
        self.count += 1

    def _text(self, asked: Asked, answer: Answer) -> str:
        if isinstance(answer.text, str):
            return answer.text
        whole = _FORM.sub("", rendering.html(asked, answer, is_file=True))
        if asked.page.name == "gallery":
            script = f'<script src="{_SEARCH}" defer></script></head>'
            whole = whole.replace("</head>", script)
        return _DEAD.sub(r"\1", _LINK.sub(lambda found: self._led(found[1], html.unescape(found[2])), whole))

    def _led(self, attribute: str, address: str) -> str:
        """A link to the file of a page; nothing where there is none."""
        if address.startswith("#") or address == _SEARCH:
            return f'{attribute}="{html.escape(address)}"'
        path, _, anchor = address.partition("#")
        name = path.partition("?")[0].removeprefix("/static/") if path.startswith("/static/") else self._file(path)
        if name is None:
            return ""
        return f'{attribute}="{html.escape(name + (f"#{anchor}" if anchor else ""))}"'

    def _file(self, address: str) -> str | None:
        """The name of the file of a page, which is to be written if it is not yet; None where it becomes none."""
        if address == "/":
            address = f"/?limit={_GALLERY}"
        if address not in self._names:
            name = _name(address)
            if name is None:
                return None
            self._names[address] = name
            self._waiting.append(address)
        return self._names[address]

    def _asked(self, address: str) -> tuple[Page, Asked]:
        page, reference, pairs = _read(address)
        return page, Asked.read(self._site, page, reference, pairs)


_PAGES: Final = {page.path.partition("/{")[0]: page for page in PAGES}


def _read(address: str) -> tuple[Page, str, list[tuple[str, str]]]:
    """The page of an address, what it is of, and its parameters."""
    parts = urlsplit(address)
    head, _, reference = parts.path.lstrip("/").partition("/")
    return _PAGES[f"/{head}"], unquote(reference), parse_qsl(parts.query, keep_blank_values=True)


def _name(address: str) -> str | None:
    """The name of the file of a page; None where it becomes none."""
    if not address.startswith("/") or f"/{urlsplit(address).path.lstrip('/').partition('/')[0]}" not in _PAGES:
        return None
    page, reference, pairs = _read(address)
    if page.name == "gallery":
        kept = {name for name, _ in pairs} <= {"limit", "offset"}
        offset = dict(pairs).get("offset")
        return None if not kept else f"index-{offset}.html" if offset else "index.html"
    is_picture = page.name == "picture"
    if page.name not in _KEPT or not {name for name, _ in pairs} <= _KEPT[page.name]:
        return None
    if not is_picture and any(mark in reference for mark in "@:#"):
        is_older = _NUMBERED.fullmatch(reference) is not None and page.name in _OF_OLDER and not pairs
        if not is_older and page.name != "log":
            return None
    if not is_picture and reference.endswith(".json") and not address.partition("?")[0].endswith("%2Ejson"):
        return None
    # Names that file systems take for the same, and what they cannot have, are told apart by digests.
    key = hashlib.sha256(address.encode()).hexdigest()[:8]
    stem = _SAFE.sub("_", "-".join([reference, *(value for _, value in pairs)]))[:40]
    return f"{page.name}-{stem}-{key}.{'svg' if is_picture else 'html'}"
