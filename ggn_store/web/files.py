"""The pages of a store as files, which any web server or a browser alone shows: `ggn-store site`.

What has files is found by following links from the first page, as far as `_name` goes: games with the marks of each
piece at the start, pieces, definitions, histories with what each revision changed, analyses, proposals. Links to
anything else are taken away, and so are forms.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
from collections import deque
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from ggn_store import limits
from ggn_store.errors import InputError
from ggn_store.model.teams.revision import Summary, is_proposal
from ggn_store.notation.hand import HAND
from ggn_store.output import new_directory
from ggn_store.web import links, rendering, views
from ggn_store.web.page import LIMITS, Answer, Asked, Page
from ggn_store.web.pages import gallery, rules, team
from ggn_store.web.routes import PAGES
from ggn_store.web.site import Site, lasting

# Which parameters the addresses of pages may have that become files.
_KEPT: Final = {
    "game": {"from", "piece"},
    "piece": {"piece", "source"},
    "source": set[str](),
    "log": set[str](),
    "blame": set[str](),
    "diff": {"a"},
    "rules": {"what"},
    "analyses": {"what"},
    "proposals": set[str](),
    "proposal": set[str](),
    "picture": set[str](),
}
_FORM: Final = re.compile(r"<form\b.*?</form>", re.DOTALL)
_DEAD: Final = re.compile(r"<a\b(?![^>]*\bhref=)[^>]*>(.*?)</a>", re.DOTALL)
_TABS: Final = re.compile(r'<nav class="(?:tabs|chips)".*?</nav>', re.DOTALL)
_NUMBERED: Final = re.compile(r"[^@:#]+@[0-9]+")
# What there is of an older revision, and of a proposal.
_OF_OLDER: Final = ("game", "piece", "source", "log", "blame", "diff")
_OF_PROPOSAL: Final = ("proposal", "game", "piece", "source")
_LINK: Final = re.compile(r'\b(href|src)="([^"]*)"')
_SAFE: Final = re.compile(r"[^A-Za-z0-9._+-]+")
_ROOM: Final = "name a new directory, or an empty one"
_SEARCH: Final = "search.js"
_FIRST: Final = "/?limit=200"


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
        self._found: dict[str, str | None] = {}
        self._newest = {each.name: each.number for each in site.store.revisions()}
        self._digests: dict[str, dict[str, str]] = {}
        self._waiting: deque[str] = deque()
        self.count = 0

    def write(self) -> None:
        """Write all."""
        for name in ("style.css", "icon.svg"):
            self._write(name, views.static(name) or b"")
        self._file(_FIRST)
        shown = [each for each in self._site.store.list() if gallery.is_shown(each)]
        names = gallery.names_of_pieces(self._site.store, shown)
        games = [self._searched(each, names.get(each.revision.name, set())) for each in shown]
        self._write(_SEARCH, f"const GAMES = {json.dumps(games)};\n".encode() + (views.static(_SEARCH) or b""))
        while self._waiting:
            address = self._waiting.popleft()
            page, asked = self._asked(address)
            with limits.allow(LIMITS):
                text = self._text(asked, page.show(asked))
            self._write(self._names[address], text.encode("utf-8", "backslashreplace"))

    def _searched(self, summary: Summary, names: set[str]) -> dict[str, str | None]:
        """What the search of the first page knows of a game, with what it calls its pieces."""
        revision, title = summary.revision, summary.revision.envelope.title or summary.revision.name
        words = (revision.name, title, revision.envelope.source or "", *sorted(names))
        picture = links.to("/picture", lasting(revision)) if revision.envelope.start else None
        return {
            "title": title,
            "facts": f"{revision} \u00b7 {revision.shape or 'network'}",
            "words": " ".join(words).casefold(),
            "page": self._file(links.to("/g", revision.name)),
            "picture": picture and self._file(picture),
        }

    def _write(self, name: str, data: bytes) -> None:
        (self._place / name).write_bytes(data)
        self.count += 1

    def _text(self, asked: Asked, answer: Answer) -> str:
        if isinstance(answer.text, str):
            return answer.text
        whole = _FORM.sub("", rendering.html(asked, answer))
        if asked.page.name == "gallery":
            script = f'<script src="{_SEARCH}" defer></script></head>'
            whole = whole.replace("</head>", script)
        whole = _LINK.sub(lambda found: self._led(found[1], html.unescape(found[2])), whole)
        return _DEAD.sub(r"\1", _TABS.sub(lambda found: _DEAD.sub("", found[0]), whole))

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
        if address not in self._found:
            self._found[address] = self._made(_FIRST if address == "/" else address)
        return self._found[address]

    def _made(self, address: str) -> str | None:
        if _name(address) is None:
            return None
        address = self._canonical(address)
        name = _name(address)
        if name is None or (address not in self._names and self._is_needless(address)):
            return None
        if address not in self._names:
            self._names[address] = name
            self._waiting.append(address)
        return name

    def _canonical(self, address: str) -> str:
        """The address of the page that says the same: of the newest revision, of a piece of which it is one, too."""
        page, reference, pairs = _read(address)
        given = dict(pairs)
        if page.name == "diff" and "a" in given:
            return links.to("/diff", a=self._named(given["a"]))
        if given.get("what") == rules.FIRST:
            del given["what"]
        if page.name == "analyses":
            return links.to("/analyses", **given)
        if not page.has_reference or page.name == "picture":
            return address
        reference = self._named(reference)
        if page.name == "piece":
            piece = given.setdefault("piece", self._site.ruleset(reference).pieces[0])
            reference = self._last_with(reference, piece)
        return links.to(page.path.partition("/{")[0], reference, **given)

    def _named(self, reference: str) -> str:
        """A newest revision by its ruleset's name."""
        name, _, number = reference.partition("@")
        return name if number == str(self._newest.get(name)) else reference

    def _last_with(self, reference: str, piece: str) -> str:
        """The last of the revisions that follow one another from this one on, or from a proposal's base, with a piece.

        It is the same piece in all of them, and its page is that of the last.
        """
        name, _, number = reference.partition("@")
        if is_proposal(reference):
            name = reference.partition("#")[0]
            same = self._digest_of(name, piece) if name in self._newest else None
            return name if same == self._digest_of(reference, piece) else reference
        while number and self._digest_of(reference, piece) == self._digest_of(f"{name}@{int(number) + 1}", piece):
            number = str(int(number) + 1)
            reference = self._named(f"{name}@{number}")
            number = number if "@" in reference else ""
        return reference

    def _digest_of(self, reference: str, piece: str) -> str | None:
        """The digest of a piece, which says its board, too."""
        reference = self._named(reference)
        if reference not in self._digests:
            summaries = self._site.ruleset(reference).piece_summaries()
            self._digests[reference] = {each["piece"]: each["digest"] for each in summaries}
        return self._digests[reference].get(piece)

    def _is_needless(self, address: str) -> bool:
        """Whether a page says nothing new: a first revision has given every entry, and proposals have ended."""
        page, reference, _ = _read(address)
        if is_proposal(reference) and page.name != "proposal":
            return not team.has_board(self._site, reference)
        return page.name == "blame" and not self._site.ruleset(reference).revision.parents

    def _asked(self, address: str) -> tuple[Page, Asked]:
        page, reference, pairs = _read(address)
        return page, Asked.read(self._site, page, reference, pairs, is_file=True)


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
    if page.name not in _KEPT or not {name for name, _ in pairs} <= _KEPT[page.name]:
        return None
    is_picture, given = page.name == "picture", dict(pairs)
    named = given.get("a", reference)
    if not is_picture and is_proposal(named) and page.name not in _OF_PROPOSAL:
        return None
    is_older = _NUMBERED.fullmatch(named) is not None
    if is_older and (page.name not in _OF_OLDER or "from" in given):
        return None
    if not is_picture and (":" in named or ("@" in named and not is_older)) and page.name != "log":
        return None
    # A page of a piece has all its squares; of what needs more than a name, a server asks for it.
    if page.name == "piece" and given.get("source", HAND) != HAND:
        return None
    questions = {"rules": rules.RULES, "analyses": rules.STORE}.get(page.name, {})
    if any(question.needs for what, question in questions.items() if what == given.get("what")):
        return None
    if not is_picture and reference.endswith(".json") and not address.partition("?")[0].endswith("%2Ejson"):
        return None
    # Names that file systems take for the same, and what they cannot have, are told apart by digests.
    key = hashlib.sha256(address.encode()).hexdigest()[:8]
    stem = _SAFE.sub("_", "-".join(filter(None, [reference, *(value for _, value in pairs)])))[:40]
    return f"{page.name}-{stem}-{key}.{'svg' if is_picture else 'html'}"
