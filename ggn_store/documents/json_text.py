"""JSON text -> Python values, strictly, and with the place of everything that is wrong.

Reading is the standard library's parser plus checks that it leaves out: duplicate keys, NaN, numbers without
bound, depth. It keeps no places. Only where something is wrong is the text read a second time, by `scan`, which
walks it token by token, says exactly where its syntax breaks, and finds the places of given members.
"""

from __future__ import annotations

import bisect
import itertools
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ggn_store.documents.limits import MAX_BYTES, MAX_DEPTH
from ggn_store.errors import quote

Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?")
_WORD = re.compile(r"[A-Za-z_]+|-Infinity")
_LITERALS = ("true", "false", "null")
_MAX_NUMBER = 40


class _SuspectTextError(ValueError):
    """The quick reading met something that only `scan` can place."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with the text as JSON; `offset` counts characters from 0."""

    message: str
    offset: int
    path: Path = ()
    found: str | None = None
    allowed: str | None = None


@dataclass(slots=True)
class Scan:
    """What `scan` found: faults, and the offsets of the key and the value of each wanted member."""

    faults: list[Fault] = field(default_factory=list)
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)


def decode_bytes(data: bytes) -> tuple[str, Fault | None]:
    """`data` as text, without a byte order mark; with a fault at the first byte that is not UTF-8."""
    if len(data) > MAX_BYTES:
        return "", Fault(f"the document is larger than {MAX_BYTES:,} bytes", 0, found=f"{len(data):,} bytes")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        found = "byte " + " ".join(f"0x{byte:02x}" for byte in data[error.start : error.start + 1])
        return before, Fault("the text is not UTF-8", len(before), found=found, allowed="JSON in UTF-8")


def load(text: str) -> tuple[Any, list[Fault]]:
    """The value that `text` holds and what is wrong with it as JSON; the value is None if it cannot be read.

    Where keys are duplicate the last one is in the value, and each later one is a fault.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, parse_int=_integer), []
    except (ValueError, RecursionError) as error:
        faults = scan(text).faults or [_from_error(error)]
    try:
        return json.loads(text, parse_constant=_constant, parse_int=_integer), faults
    except (ValueError, RecursionError):
        return None, faults


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _SuspectTextError
    return members


def _constant(name: str) -> NoReturn:
    raise _SuspectTextError(name)


def _integer(digits: str) -> int:
    if len(digits) > _MAX_NUMBER:
        raise _SuspectTextError(digits[:_MAX_NUMBER])
    return int(digits)


def _from_error(error: Exception) -> Fault:
    # The two readers agree on what JSON is; if ever they do not, the standard library's word is passed on.
    if isinstance(error, json.JSONDecodeError):
        return Fault(f"the text is not JSON: {error.msg}", error.pos)
    return Fault("the text cannot be read as JSON", 0)


class Lines:
    """Offsets in a text -> line and column, both from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def scan(text: str, wanted: Collection[Path] = ()) -> Scan:
    """Walk `text` token by token, without recursion, for faults and for the places of `wanted` members.

    A syntax fault ends the walk. Of duplicate members the last one is the place.
    """
    result = Scan()
    try:
        for path, key, value in _members(text, result.faults):
            if path in wanted:
                result.places[path] = (key, value)
    except _SyntaxFaultError as fault:
        result.faults.append(fault.fault)
    return result


class _SyntaxFaultError(Exception):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault


def _members(text: str, faults: list[Fault]) -> Iterator[tuple[Path, int, int]]:
    """Every member with the offsets of its key (of its value, in arrays) and of its value."""
    path: list[str | int] = []
    # One entry an open bracket: the keys seen so far of an object, the running index of an array.
    stack: list[set[str] | itertools.count[int]] = []
    key = at = _skip(text, 0)
    while True:
        yield tuple(path), key, at
        character = text[at : at + 1]
        if character in ("{", "["):
            if len(stack) == MAX_DEPTH:
                raise _broken("the text is nested too deeply", at, path, None, f"at most {MAX_DEPTH} levels")
            stack.append(set() if character == "{" else itertools.count())
            at = _skip(text, at + 1)
            if text[at : at + 1] == ("}" if character == "{" else "]"):
                stack.pop()
                at += 1
            else:
                path.append("")
                key, at = _enter(text, at, stack[-1], path, faults)
                continue
        else:
            at = _scalar(text, at, path, faults)
        # A value has ended: close what closes here, then go on to the next member.
        while True:
            at = _skip(text, at)
            if not stack:
                if at < len(text):
                    raise _broken("text goes on after the document's end", at, (), _near(text, at), "one JSON document")
                return
            is_object = isinstance(stack[-1], set)
            if text[at : at + 1] == ",":
                at = _skip(text, at + 1)
                key, at = _enter(text, at, stack[-1], path, faults)
                break
            if text[at : at + 1] != ("}" if is_object else "]"):
                raise _broken(
                    "the JSON is broken", at, path, _near(text, at), f"a comma or {'}' if is_object else ']'}"
                )
            stack.pop()
            path.pop()
            at += 1


def _enter(
    text: str, at: int, level: set[str] | itertools.count[int], path: list[str | int], faults: list[Fault]
) -> tuple[int, int]:
    """Step into the member of an object or array that begins at `at`: offsets of its key and its value."""
    if not isinstance(level, set):
        path[-1] = next(level)
        return at, at
    match = _STRING.match(text, at)
    if match is None:
        raise _broken("the JSON is broken", at, path[:-1], _near(text, at), "a key in double quotes")
    name = json.loads(match[0])
    path[-1] = name
    if name in level:
        faults.append(Fault("the key stands twice in one object", at, tuple(path), quote(name), "each key once"))
    level.add(name)
    colon = _skip(text, match.end())
    if text[colon : colon + 1] != ":":
        raise _broken("the JSON is broken", colon, path, _near(text, colon), "a colon after the key")
    return at, _skip(text, colon + 1)


def _scalar(text: str, at: int, path: list[str | int], faults: list[Fault]) -> int:
    """Check the string, number or word at `at`; the offset after it."""
    if match := _STRING.match(text, at):
        return match.end()
    if match := _NUMBER.match(text, at):
        if len(match[0]) > _MAX_NUMBER:
            faults.append(
                Fault("the number is too long", at, tuple(path), quote(match[0][:20]), "a small whole number")
            )
        return match.end()
    word = _WORD.match(text, at)
    if word is not None and word[0] in _LITERALS:
        return word.end()
    if word is not None and word[0] in ("NaN", "Infinity", "-Infinity"):
        raise _broken(f"{word[0]} is not JSON", at, path, word[0], "a number")
    if text[at : at + 1] == '"':
        raise _broken(
            "the string is broken", at, path, _near(text, at), "a closed string without raw control characters"
        )
    raise _broken(
        "the JSON is broken" if at < len(text) else "the text ends too early", at, path, _near(text, at), "a value"
    )


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _near(text: str, at: int) -> str:
    return quote(text[at : at + 20]) if at < len(text) else "the end of the text"


def _broken(
    message: str, offset: int, path: Collection[str | int], found: str | None, allowed: str
) -> _SyntaxFaultError:
    return _SyntaxFaultError(Fault(message, offset, tuple(path), found, allowed))
