"""Addresses of stores without what may be a password in them, in whatever spelling they were given.

What looks like `user:password@host` or `password=...` is taken for an address, also where it is not one that leads
anywhere (a scheme forgotten, a slash too few, the settings of libpq).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from ggn_store.errors import printable

HIDDEN: Final = "***"
_COLON: Final = re.compile(":|%3a", re.IGNORECASE)
_AT: Final = re.compile("@|%40", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-z][\w.+-]*:/+|/+", re.IGNORECASE)
_SETTING: Final = re.compile(
    r"(?P<name>(?<!\w)\w*(?:pass|pwd|secret|token)\w*\s*(?:=|%3d)\s*)(?P<value>'(?:[^'\\]|\\.)*'|[^&;\s]*)",
    re.IGNORECASE,
)
# Shorter ones are common words, or parts of them: hidden only where they stand alone.
_LONG: Final = 4
_MOST: Final = 16


def secrets_in(text: str) -> frozenset[str]:
    """What may be a password in a text, if it is an address; more rather than less."""
    return frozenset(each for each in (*_between(text), *_settings(text)) if each.strip("'\"/"))


def shown(text: str) -> str:
    """A text with *** for what may be a password in it, if it is an address."""
    text = _SETTING.sub(lambda found: found["name"] + HIDDEN, text)
    place = _place(text)
    return text if place is None else text[: place[0]] + HIDDEN + text[place[1] :]


def without(text: str, secrets: Iterable[str]) -> str:
    """A text with *** for every one of `secrets` in it, as it is and as addresses, JSON and messages write it."""
    for form in sorted({form for each in secrets for form in _forms(each)}, key=len, reverse=True):
        if len(form) < _LONG:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", HIDDEN, text)
            continue
        text = text.replace(form, HIDDEN)
        if "..." in text:  # what is quoted in a message is cut off where it is long
            for length in range(len(form) - 1, _LONG - 1, -1):
                text = text.replace(form[:length] + "...", f"{HIDDEN}...")
    return text


def _place(text: str) -> tuple[int, int] | None:
    """Where the password of `user:password@host` begins and ends, if the text is of that form."""
    scheme = _SCHEME.match(text)
    colon = _COLON.search(text, scheme.end() if scheme else 0)
    ends = [found.start() for found in _AT.finditer(text, colon.end())] if colon else []
    return (colon.end(), ends[-1]) if colon and ends else None


def _between(text: str) -> Iterator[str]:
    """What stands between a colon and an @: a password may hold either, and so may what follows it."""
    ends = [found.start() for found in _AT.finditer(text)][-_MOST:]
    starts = [found.end() for found in _COLON.finditer(text)]
    scheme = _SCHEME.match(text)
    first = scheme.end() if scheme else 0
    for start in [each for each in starts if each > first][:2]:
        yield from (text[start:end] for end in ends if end > start)


def _settings(text: str) -> Iterator[str]:
    for found in _SETTING.finditer(text):
        yield found["value"]
        yield found["value"].strip("'")
        # Without quotes around it, it may go on behind a space.
        yield re.split("[&;]", text[found.start("value") :])[0]


def _forms(secret: str) -> set[str]:
    plain = {secret, unquote(secret), unquote_plus(secret), secret.replace("\\'", "'").replace("\\\\", "\\")}
    forms = {form for each in plain for form in (each, _quoted(each), _quoted(each, ""), quote_plus(_safe(each)))}
    forms |= {form.lower() for form in forms if "%" in form}
    written = {json.dumps(each)[1:-1] for each in forms} | {repr(each)[1:-1] for each in forms}
    written |= {json.dumps(each, ensure_ascii=False)[1:-1] for each in forms}
    return {each for form in forms | written for each in (form, printable(form)) if each.strip("'\"/")}


def _quoted(text: str, safe: str = "/") -> str:
    return quote(_safe(text), safe)


def _safe(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
