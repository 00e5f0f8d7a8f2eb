"""How much a JSON text holds, told from its brackets and commas alone, before any of it is decoded.

Decoded, a text takes up to 25 times its size in memory; this takes a hundredth of the time and next to no memory. The
text is taken in parts: of each, strings and everything else that is not structure is left out, then what is closed is
removed from the inside out. What remains is what is open, with a comma for each of its members so far.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ggn_store import limits
from ggn_store.limits import Limit

_KEPT: Final = b'"[]{},:'
_LEFT_OUT: Final = bytes(set(range(256)).difference(_KEPT))
_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_STRING: Final = re.compile(rb'"[^"]*+"')
_PART: Final = 1 << 20
_FINER: Final = 16


class Excess(NamedTuple):
    """A limit that a text crosses, and the offset of the character where it does."""

    limit: Limit
    message: str
    found: str
    offset: int


class _Reached(NamedTuple):
    """What is open after a part of a text, whether a string is, and how many values there were so far."""

    rest: bytes = b""
    is_string: bool = False
    values: int = 0

    def after(self, part: str, closed: re.Pattern[bytes]) -> _Reached:
        """What is open after one more part, which does not end within an escape; `closed` is what can be removed."""
        data = part.encode("utf-8", "surrogatepass")
        if b"\\" in data:
            data = _ESCAPE.sub(b"", data)
        data = (b'"' if self.is_string else b"") + data.translate(None, _LEFT_OUT)
        data = data.replace(b'""', b"")  # nearly all strings: those without any structure in them
        is_string = False
        if b'"' in data:
            data = _STRING.sub(b"", data)
            before, quotes, _ = data.partition(b'"')
            data, is_string = before, bool(quotes)
        values = self.values + data.count(b",") + data.count(b"{") + data.count(b"[")
        rest = self.rest + data.replace(b":", b"")
        removed = 1
        while removed:
            rest, removed = closed.subn(b"", rest)
        return _Reached(rest, is_string, values)

    def crossed(self, members: bytes) -> tuple[Limit, str, str] | None:
        if members in self.rest:
            return limits.MEMBERS, "an object or a list has too many members", f"{len(members) + 1:,} and perhaps more"
        if self.values > limits.VALUES.most:
            return limits.VALUES, "the text holds too many values", f"{self.values:,} and perhaps more"
        if self.rest.count(b"{") + self.rest.count(b"[") > limits.NESTING.most:
            return limits.NESTING, "the text is nested too deeply", f"{limits.NESTING.most + 1} levels"
        return None


def excess(text: str) -> Excess | None:
    """The first limit that `text` crosses, None where it crosses none; nothing is said of text that is not JSON."""
    most = limits.MEMBERS.most
    # Without so many commas it cannot be, as deep as texts may be.
    if text.count(",") < min(most, limits.VALUES.most // (limits.NESTING.most + 1)):
        return None
    members = b"," * most
    # What has more members than it may is not removed, and is found in what remains.
    closed = re.compile(rb"\{,{0,%d}+\}|\[,{0,%d}+\]" % (most - 1, most - 1))
    reached, at, size = _Reached(), 0, _PART
    while at < len(text):
        end = at + size
        while text[end - 1 : end] == "\\":
            end += 1
        following = reached.after(text[at:end], closed)
        if (crossed := following.crossed(members)) is None:
            reached, at = following, end
        elif size == 1:
            return Excess(*crossed, at)
        else:
            size = max(1, size // _FINER)
    return None
