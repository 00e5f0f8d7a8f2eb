"""A second opinion on GGN documents, to hold against the product's.

Written from the rules alone and slow on purpose: its own JSON reader, one small function a rule, no word
shared with the package. It answers only two questions, which rules a text breaks and where.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

DEPTH = 64
LENGTH = 255
COUNT = 1_000_000

RULES = (
    "syntax",
    "encoding",
    "depth",
    "duplicate key",
    "lone surrogate",
    "level type",
    "empty level",
    "schema",
    "mixed dialects",
    "unknown key",
    "no effect",
    "empty conditions",
    "empty perform",
    "piece",
    "square",
    "label",
    "hand to hand",
    "hand in perform",
    "condition on the hand",
    "state",
    "effect",
    "count",
    "toggle",
    "contradiction",
    "restated source",
)

FAMILIES = {"require": 1, "prevent": 1, "perform": 1, "must": 2, "deny": 2, "diff": 2}
KEYS = {
    "perform": ("require", "prevent", "perform"),
    "must-deny": ("must", "deny"),
    "diff": ("must", "deny", "diff"),
}


class Fault(NamedTuple):
    """One broken rule, at a JSON Pointer."""

    rule: str
    pointer: str


class Number(str):
    """The literal of a JSON number."""


class Members(list["tuple[str, Value]"]):
    """The members of a JSON object, duplicates included."""


class Items(list["Value"]):
    """The items of a JSON array."""


Value = str | Number | bool | None | Members | Items


class StopError(Exception):
    """The text cannot be read any further."""


# --- JSON ---------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Reader:
    """RFC 8259, read one character at a time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> Value:
        value = self.value(0)
        if self.peek():
            raise StopError("syntax")
        return value

    def peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1
        return self.text[self.at : self.at + 1]

    def take(self, wanted: str) -> None:
        if self.peek() != wanted:
            raise StopError("syntax")
        self.at += 1

    def value(self, depth: int) -> Value:
        character = self.peek()
        if character == "{":
            return self.object(depth + 1)
        if character == "[":
            return self.array(depth + 1)
        if character == '"':
            return self.string()
        for word, meaning in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        number = NUMBER.match(self.text, self.at)
        if not number:
            raise StopError("syntax")
        self.at = number.end()
        return Number(number.group())

    def object(self, depth: int) -> Members:
        if depth > DEPTH:
            raise StopError("depth")
        self.take("{")
        members = Members()
        while self.peek() != "}":
            if members:
                self.take(",")
            if self.peek() != '"':
                raise StopError("syntax")
            key = self.string()
            self.take(":")
            members.append((key, self.value(depth)))
        self.at += 1
        return members

    def array(self, depth: int) -> Items:
        if depth > DEPTH:
            raise StopError("depth")
        self.take("[")
        items = Items()
        while self.peek() != "]":
            if items:
                self.take(",")
            items.append(self.value(depth))
        self.at += 1
        return items

    def string(self) -> str:
        self.at += 1
        units: list[str] = []
        while True:
            character = self.text[self.at : self.at + 1]
            if character == '"':
                self.at += 1
                # Escaped halves of a pair become one character, a half without its other half stays alone.
                return "".join(units).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            if character < " ":  # a control character, or the end of the text
                raise StopError("syntax")
            self.at += 1
            if character == "\\":
                character = self.escape()
            units.append(character)

    def escape(self) -> str:
        letter = self.text[self.at : self.at + 1]
        self.at += 1
        if letter == "u":
            digits = self.text[self.at : self.at + 4]
            if not re.fullmatch("[0-9a-fA-F]{4}", digits):
                raise StopError("syntax")
            self.at += 4
            return chr(int(digits, 16))
        if letter not in ESCAPES:  # the empty string, at the end of the text, is not in it either
            raise StopError("syntax")
        return ESCAPES[letter]


# --- words --------------------------------------------------------------------------------------------------


def is_identifier(text: str, dialect: str) -> bool:
    return is_gan(text) if dialect == "perform" else is_qpi(text)


def is_gan(text: str) -> bool:
    return _one_case(text) and bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9]*:[-+]?[A-Za-z]", text))


def is_qpi(text: str) -> bool:
    return _one_case(text) and bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9]*:[-+]?[A-Za-z]\^?'?", text))


def _one_case(text: str) -> bool:
    return len(text) <= LENGTH and text in (text.upper(), text.lower())


def is_cell(text: str) -> bool:
    cycle = r"(?:[a-z]+[1-9][0-9]*[A-Z]+)*(?:[a-z]+(?:[1-9][0-9]*)?)?"
    return 0 < len(text) <= LENGTH and bool(re.fullmatch(cycle, text))


def is_label(text: str) -> bool:
    return 0 < len(text) <= LENGTH and "\0" not in text


def is_count(value: Value) -> bool:
    if not isinstance(value, Number):
        return False
    try:
        number = Decimal(value)
        return number != 0 and -COUNT <= number <= COUNT and number == number.to_integral_value()
    except InvalidOperation:  # an exponent beyond any count
        return False


def has_lone_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def step(key: str | int) -> str:
    return "/" + str(key).replace("~", "~0").replace("/", "~1")


# --- rules --------------------------------------------------------------------------------------------------


def faults(raw: str | bytes, dialect: str | None = None) -> list[Fault]:
    """Every rule that the text breaks; an empty list is a valid document."""
    if isinstance(raw, bytes):
        try:
            raw = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        except UnicodeDecodeError:
            return [Fault("encoding", "")]
    try:
        document = Reader(raw).document()
    except StopError as stop:
        return [Fault(str(stop), "")]
    return [*_strings(document, ""), *_document(document, dialect)]


def _strings(value: Value, at: str) -> Iterator[Fault]:
    """What holds for any JSON here: each key once, no half characters."""
    if isinstance(value, Members):
        seen = set()
        for key, inner in value:
            if key in seen:
                yield Fault("duplicate key", at + step(key))
            if has_lone_surrogate(key):
                yield Fault("lone surrogate", at + step(key))
            seen.add(key)
            yield from _strings(inner, at + step(key))
    elif isinstance(value, Items):
        for number, inner in enumerate(value):
            yield from _strings(inner, at + step(number))
    elif isinstance(value, str) and has_lone_surrogate(value):
        yield Fault("lone surrogate", at)


def _document(document: Value, dialect: str | None) -> Iterator[Fault]:
    if not isinstance(document, Members):
        yield Fault("level type", "")
        return
    for key, value in document:
        if key == "$schema" and (type(value) is not str or "\0" in value):  # no database's text holds a NUL
            yield Fault("schema", "/$schema")
    pieces = Members((key, value) for key, value in document if key != "$schema")
    if not pieces:
        yield Fault("empty level", "")
        return
    keys = set(_possibility_keys(pieces))
    if len({FAMILIES[key] for key in keys if key in FAMILIES}) > 1:
        yield Fault("mixed dialects", "")
        return
    if dialect is None:
        dialect = "diff" if "diff" in keys else "must-deny"
        if keys & {"require", "prevent", "perform"}:
            dialect = "perform"
    for piece, sources in pieces:
        if not is_identifier(piece, dialect):
            yield Fault("piece", step(piece))
        yield from _sources(piece, sources, dialect, step(piece))


def _possibility_keys(pieces: Members) -> Iterator[str]:
    for _, sources in pieces:
        for _, destinations in sources if isinstance(sources, Members) else ():
            for _, possibilities in destinations if isinstance(destinations, Members) else ():
                for possibility in possibilities if isinstance(possibilities, Items) else ():
                    for key, _ in possibility if isinstance(possibility, Members) else ():
                        yield key


def _sources(piece: str, sources: Value, dialect: str, at: str) -> Iterator[Fault]:
    if not isinstance(sources, Members):
        yield Fault("level type", at)
    elif not sources:
        yield Fault("empty level", at)
    else:
        for source, destinations in sources:
            yield from _location(source, dialect, at + step(source))
            yield from _destinations(piece, source, destinations, dialect, at + step(source))


def _destinations(piece: str, source: str, destinations: Value, dialect: str, at: str) -> Iterator[Fault]:
    if not isinstance(destinations, Members):
        yield Fault("level type", at)
    elif not destinations:
        yield Fault("empty level", at)
    else:
        for destination, possibilities in destinations:
            here = at + step(destination)
            yield from _location(destination, dialect, here)
            if source == destination == "*" and dialect != "perform":
                yield Fault("hand to hand", here)
            if not isinstance(possibilities, Items):
                yield Fault("level type", here)
            elif not possibilities:
                yield Fault("empty level", here)
            else:
                for number, possibility in enumerate(possibilities):
                    yield from _possibility(piece, source, possibility, dialect, here + step(number))


def _location(square: str, dialect: str, at: str) -> Iterator[Fault]:
    if square != "*" or dialect == "perform":
        yield from _square(square, dialect, at)


def _square(square: str, dialect: str, at: str) -> Iterator[Fault]:
    if dialect != "perform":
        if not is_cell(square):
            yield Fault("square", at)
    elif square == "*":
        yield Fault("hand in perform", at)
    elif not is_label(square):
        yield Fault("label", at)


def _possibility(piece: str, source: str, possibility: Value, dialect: str, at: str) -> Iterator[Fault]:
    if not isinstance(possibility, Members):
        yield Fault("level type", at)
        return
    must, deny = ("require", "prevent") if dialect == "perform" else ("must", "deny")
    required = {item for key, value in possibility if key == must for item in _pairs(value)}
    for key, value in possibility:
        here = at + step(key)
        if key not in KEYS[dialect]:
            yield Fault("unknown key", here)
        elif key in (must, deny):
            yield from _conditions(value, dialect, here)
            for square, state in _pairs(value):
                if key == must and (square, state) == (source, piece):
                    yield Fault("restated source", here + step(square))
                if key == deny and (square, state) in required:
                    yield Fault("contradiction", here + step(square))
        elif key == "perform":
            yield from _perform(value, here)
        else:
            yield from _diff(value, here)
    effect = {"perform": "perform", "diff": "diff"}.get(dialect)
    if effect and effect not in [key for key, _ in possibility]:
        yield Fault("no effect", at)


def _pairs(value: Value) -> list[tuple[str, str]]:
    if not isinstance(value, Members):
        return []
    return [(key, inner) for key, inner in value if type(inner) is str]


def _conditions(conditions: Value, dialect: str, at: str) -> Iterator[Fault]:
    if not isinstance(conditions, Members):
        yield Fault("level type", at)
        return
    if not conditions and dialect == "perform":
        yield Fault("empty conditions", at)
    for square, state in conditions:
        if square == "*" and dialect != "perform":
            yield Fault("condition on the hand", at + step(square))
        else:
            yield from _square(square, dialect, at + step(square))
        if type(state) is not str or not (state in ("empty", "enemy") or is_identifier(state, dialect)):
            yield Fault("state", at + step(square))


def _perform(perform: Value, at: str) -> Iterator[Fault]:
    if not isinstance(perform, Members):
        yield Fault("level type", at)
        return
    if not perform:
        yield Fault("empty perform", at)
    for square, becomes in perform:
        yield from _square(square, "perform", at + step(square))
        if becomes is not None and not (type(becomes) is str and is_gan(becomes)):
            yield Fault("effect", at + step(square))


def _diff(diff: Value, at: str) -> Iterator[Fault]:
    if not isinstance(diff, Members):
        yield Fault("level type", at)
        return
    for key, value in diff:
        here = at + step(key)
        if key == "toggle":
            if not isinstance(value, bool):
                yield Fault("toggle", here)
        elif key not in ("board", "hands"):
            yield Fault("unknown key", here)
        elif not isinstance(value, Members):
            yield Fault("level type", here)
        elif key == "board":
            for square, becomes in value:
                yield from _square(square, "diff", here + step(square))
                if becomes is not None and not (type(becomes) is str and is_qpi(becomes)):
                    yield Fault("effect", here + step(square))
        else:
            for piece, count in value:
                if not is_qpi(piece):
                    yield Fault("piece", here + step(piece))
                if not is_count(count):
                    yield Fault("count", here + step(piece))
