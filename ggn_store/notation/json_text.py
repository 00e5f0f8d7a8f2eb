"""JSON text -> Python values, strictly, and with the place of everything that is wrong.

Reading is the standard library's parser plus checks that it leaves out: duplicate keys, NaN, numbers without
bound, depth. It keeps no places. Only where something is wrong is the text read a second time, by `scan`, which
walks it token by token, says exactly where its syntax breaks, and finds the places of given members.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn, TypeAlias

from ggn_store import limits
from ggn_store.errors import Problem, quote
from ggn_store.notation.complaints import Complaints
from ggn_store.notation.json_size import excess

MAX_DEPTH: Final = limits.NESTING.default

Path = tuple[str | int, ...]
JsonPairs = list[tuple[str, Any]]

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?")
_DIGEST = re.compile("[0-9a-f]{64}")
_WORD = re.compile(r"[A-Za-z_]+|-Infinity")
_LITERALS = ("true", "false", "null")
_MAX_NUMBER = 40
_BLOCK: Final = 1 << 16
_DECODER: Final = json.JSONDecoder()
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_FLAT = frozenset({str, type(None)})
_BYTE_ORDER_MARK = "\ufeff"
_STRING_RULE = "a closed string, without raw control characters, with the escapes of JSON only"


def pointer(path: Path) -> str:
    """The JSON Pointer (RFC 6901) of a path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def compact(value: object) -> str:
    """The JSON of a value without spaces, every character as itself: what is stored, sent and digested."""
    return _COMPACT.encode(value)


def digest(value: object) -> str:
    """SHA-256 of that text, in hexadecimal."""
    return hashlib.sha256(compact(value).encode()).hexdigest()


def is_digest(value: object) -> bool:
    """Whether a value is a text such as `digest` gives."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


class Twin(str):
    """A key that stands in its object for the second time or later; no other key is equal to it.

    So a document with duplicate keys, which is wrong in any case, can still be read for all else that is wrong.
    """

    __slots__ = ("number",)
    number: int

    def __new__(cls, text: str, number: int) -> Twin:
        twin = super().__new__(cls, text)
        twin.number = number
        return twin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Twin) and other.number == self.number and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((str(self), self.number))


class _SuspectTextError(ValueError):
    """The quick reading met something that only `scan` can place."""


@dataclass(slots=True)
class Scan:
    """What `scan` found: faults, and the offsets of the key and the value of each wanted member."""

    faults: Complaints = field(default_factory=Complaints)
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)


def decode_bytes(data: bytes) -> tuple[str, Problem | None]:
    """`data` as text; with a fault at the first byte that is not UTF-8."""
    if len(data) > limits.DOCUMENT_BYTES.most:
        return "", _too_large(f"{len(data):,} bytes")
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        found = "byte " + " ".join(f"0x{byte:02x}" for byte in data[error.start : error.start + 1])
        return before, Problem("the text is not UTF-8", found=found, allowed="JSON in UTF-8", offset=len(before))


def _too_large(found: str) -> Problem:
    limit = limits.DOCUMENT_BYTES
    return Problem(f"the document is larger than {limit.most:,} bytes", found=found, allowed=limit.allowed, offset=0)


def too_much(text: str) -> Problem | None:
    """The first thing of which a text has more than may be, found before any of it is decoded."""
    if len(text) > limits.DOCUMENT_BYTES.most:
        return _too_large(f"{len(text):,} characters")
    found = excess(text)
    if found is None:
        return None
    return Problem(found.message, found=found.found, allowed=found.limit.allowed, offset=found.offset)


def load(text: str) -> tuple[Any, Sequence[Problem]]:
    """The value that `text` holds and what is wrong with it as JSON; the value is None if it cannot be read.

    A byte order mark at the start is not part of the text. Where keys are duplicate, the later ones are `Twin`s.
    """
    bare = text.removeprefix(_BYTE_ORDER_MARK)
    if (fault := too_much(bare)) is not None:
        return None, [fault]
    try:
        value = _loads(bare, _unique, _number)
        return (None, scan(text).faults) if is_too_deep(value) else (value, [])
    except (ValueError, RecursionError) as error:
        found = scan(text).faults
        if found.is_full:
            return None, found
        faults: Sequence[Problem] = found or [_from_error(error)]
    try:
        value = _loads(bare, _with_twins, _number_or_nan)
        return None if is_too_deep(value) else value, faults
    except (ValueError, RecursionError):
        return None, faults


def quick_load(text: str) -> Any | None:
    """The value of `text`, which may be too deep; None where anything else is wrong, for `load` to say what.

    Objects that hold nothing but text and null, and the same in the same order, are one object.
    """
    known: dict[tuple[tuple[str, Any], ...], dict[str, Any]] = {}

    def shared(pairs: JsonPairs) -> dict[str, Any]:
        last = pairs[-1][1] if pairs else False
        is_flat = last is None or type(last) is str
        if is_flat:
            try:
                members = known.get(tuple(pairs))
            except TypeError:  # not flat after all
                members = None
            if members is not None:
                return members
        members = dict(pairs)
        if len(members) != len(pairs):
            raise _SuspectTextError
        if is_flat and _FLAT.issuperset(map(type, members.values())):
            known[tuple(pairs)] = members
        return members

    bare = text.removeprefix(_BYTE_ORDER_MARK)
    if too_much(bare) is not None:
        return None
    try:
        return _loads(bare, shared, _number)
    except (ValueError, RecursionError):
        return None


def is_too_deep(value: Any) -> bool:
    """Whether `value` has more than MAX_DEPTH levels of objects and arrays, going down level by level."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            part
            for each in level
            for part in (each.values() if type(each) is dict else each)
            if type(part) is dict or type(part) is list
        ]
    return bool(level)


def _loads(text: str, pairs: Callable[[JsonPairs], dict[str, Any]], number: Callable[[str], int | float]) -> Any:
    return json.loads(text, object_pairs_hook=pairs, parse_constant=_constant, parse_int=number, parse_float=number)


def _unique(pairs: JsonPairs) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _SuspectTextError
    return members


def _with_twins(pairs: JsonPairs) -> dict[str, Any]:
    members: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for key, value in pairs:
        members[_twin(key, counts)] = value
    return members


def _twin(key: str, counts: Counter[str]) -> str:
    counts[key] += 1
    return key if counts[key] == 1 else Twin(key, counts[key])


def _constant(name: str) -> NoReturn:
    raise _SuspectTextError(name)


def _number(digits: str) -> int | float:
    """An int for every whole number, however it is written (1.0, 1e2); raises for numbers out of all proportion."""
    if len(digits) > _MAX_NUMBER:
        raise _SuspectTextError(digits[:_MAX_NUMBER])
    if digits.lstrip("-").isdigit():
        return int(digits)
    try:
        exact = Decimal(digits)
    except InvalidOperation:  # an exponent beyond any that Decimal holds
        raise _SuspectTextError(digits) from None
    if exact and abs(exact.adjusted()) > _MAX_NUMBER:
        raise _SuspectTextError(digits)
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def _number_or_nan(digits: str) -> int | float:
    try:
        return _number(digits)
    except _SuspectTextError:
        return math.nan


def _from_error(error: Exception) -> Problem:
    # The two readers agree on what JSON is; if ever they do not, the standard library's word is passed on.
    if isinstance(error, json.JSONDecodeError):
        return Problem(f"the text is not JSON: {error.msg}", offset=error.pos)
    return Problem("the text cannot be read as JSON", offset=0)


class Lines:
    """Offsets in a text -> line and column, both from 1."""

    def __init__(self, text: str) -> None:
        self._text = text.removeprefix(_BYTE_ORDER_MARK)
        # How many lines end before each block: the ends of all lines would take more memory than the text.
        counts = (self._text.count("\n", at, at + _BLOCK) for at in range(0, len(self._text), _BLOCK))
        self._before = [0, *itertools.accumulate(counts)]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`."""
        block = offset // _BLOCK
        start = block * _BLOCK
        end = self._text.rfind("\n", start, offset)
        if end < 0:
            first = bisect.bisect_left(self._before, self._before[block])
            end = self._text.rfind("\n", (first - 1) * _BLOCK, first * _BLOCK) if first else -1
        return self._before[block] + self._text.count("\n", start, offset) + 1, offset - end


def scan(text: str, wanted: Collection[Path] | None = ()) -> Scan:
    """Walk `text` token by token, without recursion, for faults and for the places of `wanted` members (None: all).

    A syntax fault ends the walk, and so do more faults than can be reported.
    """
    result = Scan()
    try:
        for path, key, value in _members(text.removeprefix(_BYTE_ORDER_MARK), result.faults):
            if wanted is None or path in wanted:
                result.places[path] = (key, value)
    except _SyntaxFaultError as fault:
        result.faults.append(fault.fault)
    except limits.TooManyError:
        pass
    return result


def places(text: str, wanted: Collection[Path]) -> Mapping[Path, tuple[int, int]]:
    """The offsets of the key and the value of each wanted member, as `scan` finds them; the walk goes past all others.

    It ends where the last of them is found, or the text breaks.
    """
    found: dict[Path, tuple[int, int]] = {}
    ways = {path[:length] for path in wanted for length in range(len(path))}
    with contextlib.suppress(_SyntaxFaultError, limits.TooManyError):
        for path, key, value in _members(text.removeprefix(_BYTE_ORDER_MARK), Complaints(), ways):
            if path in wanted:
                found[path] = (key, value)
                if len(found) == len(wanted):
                    break
    return found


class TextPlaces:
    """Where the `wanted` members of a text stand (None: all); its first line may be a later one of its file."""

    def __init__(self, text: str | None, wanted: Collection[Path] | None, first_line: int = 1) -> None:
        self._lines = None if text is None else Lines(text)
        self._text = (text or "").removeprefix(_BYTE_ORDER_MARK)
        if wanted is None:
            self._offsets: Mapping[Path, tuple[int, int]] = scan(self._text, None).places
        else:
            self._offsets = places(self._text, wanted) if wanted else {}
        self._before = first_line - 1

    def placed(self, problem: Problem, file: str | None) -> Problem:
        """A problem whose path or offset is known, with its pointer, line and column."""
        offset = problem.offset
        if offset is None and problem.path in self._offsets:
            key, value = self._offsets[problem.path]
            offset = key if problem.at_key else value if problem.at is None else _inside(self._text, value, problem.at)
        return problem.placed(pointer(problem.path), (None, None) if offset is None else self._place(offset), file)

    def of(self, path: Path) -> tuple[int | None, int | None]:
        """Line and column of the value at a path."""
        return self._place(self._offsets[path][1]) if path in self._offsets else (None, None)

    def _place(self, offset: int) -> tuple[int | None, int | None]:
        if self._lines is None:
            return None, None
        line, column = self._lines.place(offset)
        return self._before + line, column


# Of an open object the keys seen so far, of an open array the running index.
_Level: TypeAlias = "Counter[str] | itertools.count[int]"


class _SyntaxFaultError(Exception):
    def __init__(self, fault: Problem) -> None:
        self.fault = fault


def _members(text: str, faults: Complaints, ways: Collection[Path] | None = None) -> Iterator[tuple[Path, int, int]]:
    """Every member with the offsets of its key (of its value, in arrays) and of its value.

    With `ways`, what is inside of objects and arrays at other paths is left out.
    """
    path: list[str | int] = []
    stack: list[_Level] = []
    at = _skip(text, 0)
    member: tuple[int, int] | None = (at, at)
    while member is not None:
        key, at = member
        yield tuple(path), key, at
        if text[at : at + 1] not in ("{", "["):
            at = _scalar(text, at, path, faults)
        elif ways is not None and tuple(path) not in ways and (past := _past(text, at)) is not None:
            at = past
        elif (member := _opened(text, at, stack, path, faults)) is not None:
            continue
        else:
            at = _skip(text, at + 1) + 1
        member = _next(text, at, stack, path, faults)


def _opened(
    text: str, at: int, stack: list[_Level], path: list[str | int], faults: Complaints
) -> tuple[int, int] | None:
    """The first member of the object or array that begins at `at`; None where it has none."""
    if len(stack) == MAX_DEPTH:
        raise _broken("the text is nested too deeply", at, path, None, f"at most {MAX_DEPTH} levels")
    is_object, first = text[at] == "{", _skip(text, at + 1)
    if text[first : first + 1] == ("}" if is_object else "]"):
        return None
    stack.append(Counter() if is_object else itertools.count())
    path.append("")
    return _enter(text, first, stack[-1], path, faults)


def _next(text: str, at: int, stack: list[_Level], path: list[str | int], faults: Complaints) -> tuple[int, int] | None:
    """The member after a value that has ended at `at`, whatever closes there; None at the end of the text."""
    at = _skip(text, at)
    while stack:
        end = "}" if isinstance(stack[-1], Counter) else "]"
        if text[at : at + 1] == ",":
            return _enter(text, _skip(text, at + 1), stack[-1], path, faults)
        if text[at : at + 1] != end:
            raise _broken("the JSON is broken", at, path, _near(text, at), f"a comma or {end}")
        stack.pop()
        path.pop()
        at = _skip(text, at + 1)
    if at < len(text):
        raise _broken("text goes on after the document's end", at, (), _near(text, at), "one JSON document")
    return None


def _past(text: str, at: int) -> int | None:
    """The offset behind the object or array at `at`; None where the standard library cannot read it."""
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return None


def _enter(text: str, at: int, level: _Level, path: list[str | int], faults: Complaints) -> tuple[int, int]:
    """Step into the member of an object or array that begins at `at`: offsets of its key and its value."""
    if not isinstance(level, Counter):
        path[-1] = next(level)
        return at, at
    match = _STRING.match(text, at)
    if match is None and text[at : at + 1] == '"':
        raise _broken("the key is broken", at, path[:-1], _near(text, at), _STRING_RULE)
    if match is None:
        raise _broken("the JSON is broken", at, path[:-1], _near(text, at), "a key in double quotes")
    path[-1] = name = _twin(json.loads(match[0]), level)
    if isinstance(name, Twin):
        faults.add(tuple(path), "the key stands twice in one object", name, "each key once", offset=at)
    colon = _skip(text, match.end())
    if text[colon : colon + 1] != ":":
        raise _broken("the JSON is broken", colon, path, _near(text, colon), "a colon after the key")
    return at, _skip(text, colon + 1)


def _scalar(text: str, at: int, path: list[str | int], faults: Complaints) -> int:
    """Check the string, number or word at `at`; the offset after it."""
    if match := _STRING.match(text, at):
        return match.end()
    if match := _NUMBER.match(text, at):
        if math.isnan(_number_or_nan(match[0])):
            faults.add(tuple(path), "the number is out of range", match[0], "a small whole number", offset=at)
        return match.end()
    word = _WORD.match(text, at)
    if word is not None and word[0] in _LITERALS:
        return word.end()
    if word is not None and word[0] in ("NaN", "Infinity", "-Infinity"):
        raise _broken(f"{word[0]} is not JSON", at, path, word[0], "a number")
    if text[at : at + 1] == '"':
        raise _broken("the string is broken", at, path, _near(text, at), _STRING_RULE)
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
    return _SyntaxFaultError(Problem(message, path=tuple(path), found=found, allowed=allowed, offset=offset))


def _inside(text: str, at: int, wanted: int) -> int:
    """The offset of a character of the JSON string that begins at `at`, escapes reckoned in."""
    if text[at : at + 1] != '"':
        return at
    at += 1
    for _ in range(wanted):
        if at >= len(text) or text[at] == '"':
            break
        if text[at] == "\\":
            is_pair = re.match(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}", text[at : at + 12])
            at += 12 if is_pair else 6 if text[at + 1 : at + 2] == "u" else 2
        else:
            at += 1
    return at
