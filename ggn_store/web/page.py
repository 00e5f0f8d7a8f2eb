"""What a page is: where it is, what it takes, and what it answers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar
from urllib.parse import urlencode

from ggn_store import limits
from ggn_store.api.positions.notations import NOTATIONS
from ggn_store.errors import did_you_mean, offer, quote
from ggn_store.model.pictures.style import STYLES
from ggn_store.model.teams.revision import Revision
from ggn_store.web import links
from ggn_store.web.people import Client
from ggn_store.web.refusal import AskedError
from ggn_store.web.site import Site

# One page asks for no more than this, whatever files may.
LIMITS: Final = {"chains": 2_000, "compared-possibilities": 100_000}
ParameterKind = Literal["text", "number", "flag"]
Value = TypeVar("Value")
_WORDS: Final = {"1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a page's address, and what it means.

    A number is from `least` to `most`; a flag is 1 or 0; a text has at most `most` characters. `several` may be given
    more than once, so often at most.
    """

    name: str
    about: str
    kind: ParameterKind = "text"
    default: str | None = None
    least: int = 0
    most: int = 200
    several: int = 0
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> str | int | bool:
        """What a text says; raises AskedError where it is none of that."""
        if self.kind == "flag":
            if text not in _WORDS:
                raise AskedError(f"{self.name}={quote(text)} is neither 1 nor 0")
            return _WORDS[text]
        if self.kind == "number":
            number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
            if not self.least <= number <= self.most:
                raise AskedError(f"{self.name}={quote(text)} is no whole number from {self.least:,} to {self.most:,}")
            return number
        if len(text) > self.most:
            raise AskedError(f"{self.name} has {len(text):,} characters, and can have {self.most:,}")
        if self.choices and text not in self.choices:
            raise AskedError(
                f"{self.name}={quote(text)}{did_you_mean(text, self.choices) or ''}; there are {offer(self.choices)}"
            )
        # What browsers send of a text of several lines.
        return text.replace("\r\n", "\n")


REFERENCE: Final = Parameter(
    "ruleset", "a name, NAME@REVISION, NAME@sha256:DIGEST, NAME:TAG, or a proposal, NAME#NUMBER", most=400
)
OFFSET: Final = Parameter("offset", "how many to leave out at the beginning", "number", "0", 0, 1_000_000)


def limit(default: int, most: int) -> Parameter:
    """How many of a list a page shows."""
    return Parameter("limit", "how many to show", "number", str(default), 1, most)


POSITION: Final = Parameter(
    "position",
    f"a position as {', '.join(map(str.upper, NOTATIONS))} or JSON; without it, the ruleset's own start",
    most=limits.POSITION_TEXT.default,
)
STYLE: Final = Parameter(
    "style", "how the board is drawn; by default, chosen by the board and the pieces", choices=tuple(STYLES)
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a page answers.

    `data` is its JSON; its HTML is made by a template of `data` and of what else is `shown`. Where there is `text`, it
    is the answer itself, of type `media`, to be kept as `file` where it has such a name. What is `fixed` by its address
    never changes. What somebody did leads on to the page `see`, and may set `cookies`.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Any] = field(default_factory=dict)
    text: str | bytes | None = None
    media: str = "text/plain"
    status: int = 200
    file: str | None = None
    fixed: bool = False
    see: str | None = None
    cookies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page. Its `path` has the ruleset that it is about in braces; `show` answers, in a thread of its own.

    `template` makes its HTML; without one it has a text only, and no JSON beside it. On request it answers with the
    types `also`. `act` does what a form of these
    `fields` says. What takes long waits for a turn: with any of the parameters `long`, or always. A `watch` on the
    server waits for no other page. What a page `shows_of` a revision beside its content, which never changes, is all
    that makes it another page: it is kept until then. A page of which it says None is not.
    """

    name: str
    path: str
    about: str
    show: Callable[[Asked], Answer]
    template: str | None = None
    parameters: tuple[Parameter, ...] = ()
    media: str = "text/html"
    fields: tuple[Parameter, ...] = ()
    act: Callable[[Asked], Answer] | None = None
    long: bool | tuple[str, ...] = False
    is_watch: bool = False
    shows_of: Callable[[Asked, Revision], Hashable] | None = None
    also: tuple[str, ...] = ()

    def takes_long(self, pairs: list[tuple[str, str]]) -> bool:
        """Whether an answer to these parameters waits for a turn."""
        return self.long is True or any(name in (self.long or ()) and text for name, text in pairs)

    def address(self, reference: str, **parameters: links.Value) -> str:
        """The address of the page, of what a reference names."""
        return links.to(self.path.partition("/{")[0] or "/", reference or None, **parameters)

    @property
    def has_reference(self) -> bool:
        """Whether it is about a ruleset, or a revision of one, that its path names."""
        return "{" in self.path


@dataclass(frozen=True)
class Asked:
    """What was asked of a page, checked; `person` is who asks, where that is known.

    Of a page that `is_file`, nothing can be asked later.
    """

    site: Site
    page: Page
    values: Mapping[str, Any]
    reference: str = ""
    query: str = ""
    is_json: bool = False
    client: Client | None = None
    is_file: bool = False

    @functools.cached_property
    def person(self) -> str | None:
        """Who asks, where that is known."""
        try:
            return self.require_person()
        except AskedError:
            return None

    def require_person(self) -> str:
        """Who asks; raises AskedError where that is not known."""
        if self.site.people is None or self.client is None:
            raise AskedError("this server only shows what is there", 405)
        return self.site.people.who(self.client)

    @property
    def json(self) -> str:
        """The address of the same as JSON."""
        name = "/index" if self.page.path == "/" else self.page.address(self.reference)
        return f"{name}.json?{self.query}" if self.query else f"{name}.json"

    def part(self, found: Sequence[Value]) -> tuple[Sequence[Value], dict[str, str | None]]:
        """The part of a list that is asked for, and the addresses of what comes `before` and `after`."""
        first, most = self.number("offset"), self.number("limit")
        at = functools.partial(self.page.address, self.reference)
        before = at(**{**self.values, "offset": max(0, first - most)}) if first else None
        after = at(**{**self.values, "offset": first + most}) if first + most < len(found) else None
        return found[first : first + most], {"before": before, "after": after}

    @classmethod
    def read(
        cls, site: Site, page: Page, reference: str, pairs: list[tuple[str, str]], *, form: bool = False, **more: Any
    ) -> Asked:
        """The parameters of an address, or the fields of a form; raises AskedError for what the page does not take."""
        known = {each.name: each for each in (page.fields if form else page.parameters)}
        given: dict[str, list[str]] = {}
        for name, text in pairs:
            if name not in known:
                hint = did_you_mean(name, known) or (f"; there are {offer([*known])}" if known else "")
                raise AskedError(f"the page {page.name} takes no parameter {quote(name)}{hint}")
            given.setdefault(name, []).append(text)
        REFERENCE.read(reference)
        values = {name: _value(each, given.get(name, [])) for name, each in known.items()}
        return cls(site, page, values, reference, "" if form else urlencode(pairs), **more)

    def text(self, name: str) -> str | None:
        """A text, None where it is not given or empty."""
        return self.values[name] or None

    def number(self, name: str) -> int:
        """A number, which has a default."""
        value = self.values[name]
        assert isinstance(value, int)  # noqa: S101  (of its kind)
        return value

    def flag(self, name: str) -> bool:
        """Whether a flag is set."""
        return bool(self.values[name])

    def texts(self, name: str) -> tuple[str, ...]:
        """All of a parameter that may be given several times."""
        found: tuple[str, ...] = self.values[name]
        return found


def _value(parameter: Parameter, texts: list[str]) -> Any:
    if parameter.several:
        if len(texts) > parameter.several:
            raise AskedError(f"{parameter.name} is given {len(texts):,} times, and can be {parameter.several:,} times")
        return tuple(each for each in map(parameter.read, texts) if each != "")
    if len(texts) > 1:
        raise AskedError(f"{parameter.name} is given more than once: give it once")
    [text] = texts or [parameter.default or ""]
    # A form sends what was left empty, too.
    if text == "":
        text = parameter.default or ""
    return parameter.read(text) if text else None
