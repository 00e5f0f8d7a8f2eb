"""The expression language of specifications: text -> tree, with the place of every part.

    expression := (call | name | literal) { "." name | "[" expression "]" }
    call       := name "(" [ expression { "," expression } ] ")"
    literal    := 'text' | "text" | whole number | true | false | null

Text in quotes is text, whatever brackets, commas or dots it holds; it has no escapes, and a quote of one kind may
stand between quotes of the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ggn_store import limits
from ggn_store.errors import quote

MAX_DEPTH: Final = limits.DESCRIPTION_DEPTH.default
MAX_NUMBER: Final = 1_000_000_000

_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r"""(?P<name>[^\W\d]\w*)|(?P<number>[-+]?[0-9]+)|(?P<text>'[^']*'|"[^"]*")|(?P<mark>[()\[\].,])""")
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Name:
    """A name that stands by itself, such as `start`; `at` counts characters of the expression from 0, as in all."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, a whole number, true, false or null."""

    value: str | int | bool | None
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function's name with arguments; `at` is where the name stands."""

    name: str
    arguments: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """`of.name`; `at` is where the name stands, after the dot."""

    of: Expression
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Index:
    """`of[key]`; `at` is where the bracket stands."""

    of: Expression
    key: Expression
    at: int


Expression = Name | Literal | Call | Attribute | Index


class ExpressionError(ValueError):
    """A text is not an expression; `at` is the character that is wrong, from 0."""

    def __init__(self, message: str, at: int, found: str | None = None, allowed: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.found = found
        self.allowed = allowed


def parse(text: str) -> Expression:
    """The tree of `text`; raises ExpressionError at the first character that cannot be."""
    longest = limits.DESCRIPTION_TEXT.most
    if len(text) > longest:
        raise ExpressionError(
            f"the expression is longer than {longest:,} characters", longest, f"{len(text):,} characters"
        )
    return _Parser(text).whole()


def start_of(expression: Expression) -> int:
    """Where the first character of an expression stands."""
    while isinstance(expression, Attribute | Index):
        expression = expression.of
    return expression.at


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and every expression in it, the outer ones first."""
    yield expression
    match expression:
        case Call(arguments=arguments):
            for argument in arguments:
                yield from parts(argument)
        case Attribute(of=of):
            yield from parts(of)
        case Index(of=of, key=key):
            yield from parts(of)
            yield from parts(key)


def text_of(expression: Expression) -> str:
    """An expression as text without spaces: expressions that say the same have the same text."""
    match expression:
        case Name(text=text):
            return text
        case Literal(value=str(value)):
            return f'"{value}"' if "'" in value else f"'{value}'"
        case Literal(value=value):
            return str(value) if type(value) is int else json.dumps(value)
        case Call(name=name, arguments=arguments):
            return f"{name}({','.join(map(text_of, arguments))})"
        case Attribute(of=of, name=name):
            return f"{text_of(of)}.{name}"
        case Index(of=of, key=key):
            return f"{text_of(of)}[{text_of(key)}]"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


class _Parser:
    """Recursive descent with one token of look-ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._token = self._next()

    def whole(self) -> Expression:
        if self._token.kind == "end":
            raise ExpressionError("the expression is empty", 0, None, "a name, a call or a value")
        tree, _ = self._expression(1)
        if self._token.kind != "end":
            if self._is(")") or self._is("]"):
                raise self._failure(f"there is no bracket that this {self._token.text} could close", None)
            raise self._failure("the expression has ended here, but text goes on", "one expression")
        return tree

    def _expression(self, depth: int) -> tuple[Expression, int]:
        """The expression that begins here, and how many levels it has."""
        self._check_depth(depth)
        tree, levels = self._first(depth)
        while self._is(".") or self._is("["):
            opening = self._take()
            if opening.text == ".":
                if self._token.kind != "name":
                    raise self._failure("a name must follow the dot", "the name of an attribute")
                name = self._take()
                tree = Attribute(tree, name.text, name.at)
                if self._is("("):
                    raise self._failure(
                        f"only names are called: {name.text} is an attribute", f"{name.text}(...) by itself"
                    )
                levels += 1
            else:
                key, inner = self._expression(depth + 1)
                if not self._is("]"):
                    raise self._failure("the bracket [ is not closed", "]", opening)
                self._take()
                tree = Index(tree, key, opening.at)
                levels = max(levels, inner) + 1
            self._check_depth(depth + levels - 1)
        return tree, levels

    def _first(self, depth: int) -> tuple[Expression, int]:
        token = self._token
        if token.kind == "name":
            self._take()
            if token.text in _CONSTANTS:
                return Literal(_CONSTANTS[token.text], token.at), 1
            if not self._is("("):
                return Name(token.text, token.at), 1
            arguments, levels = self._arguments(depth)
            return Call(token.text, arguments, token.at), levels + 1
        if token.kind == "text":
            self._take()
            return Literal(token.text[1:-1], token.at), 1
        if token.kind == "number":
            self._take()
            number = int(token.text) if len(token.text) <= 12 else MAX_NUMBER + 1
            if abs(number) > MAX_NUMBER:
                raise self._failure("the number is out of range", f"-{MAX_NUMBER} to {MAX_NUMBER}", token)
            return Literal(number, token.at), 1
        is_end = token.kind == "end"
        message = "the expression ends too early" if is_end else "an expression cannot begin so"
        raise self._failure(message, "a name, a call or a value")

    def _arguments(self, depth: int) -> tuple[tuple[Expression, ...], int]:
        opening = self._take()
        if self._is(")"):
            self._take()
            return (), 0
        found = [self._expression(depth + 1)]
        while self._is(","):
            self._take()
            found.append(self._expression(depth + 1))
        if self._token.kind == "end":
            raise self._failure("the bracket ( is not closed", ")", opening)
        if not self._is(")"):
            raise self._failure("a comma or a closing bracket is missing", ", or )")
        self._take()
        arguments, levels = zip(*found, strict=True)
        return arguments, max(levels)

    def _check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self._failure("the expression is nested too deeply", f"at most {MAX_DEPTH} levels")

    def _is(self, mark: str) -> bool:
        return self._token.kind == "mark" and self._token.text == mark

    def _take(self) -> _Token:
        token = self._token
        self._token = self._next()
        return token

    def _next(self) -> _Token:
        space = _SPACE.match(self._text, self._end)
        at = self._end if space is None else space.end()
        if at == len(self._text):
            return _Token("end", "", at)
        match = _TOKEN.match(self._text, at)
        if match is None:
            character = self._text[at]
            if character in "'\"":
                raise ExpressionError("the quote is not closed", at, None, f"{character} at the end of the text")
            allowed = "names, calls such as eq(a, b), numbers, 'text', true, false, null, . and [ ]"
            raise ExpressionError(f"the character {quote(character)} has no meaning here", at, None, allowed)
        self._end = match.end()
        if match.lastgroup == "number" and re.match(r"\.[0-9]|\w", self._text[self._end :]):
            raise ExpressionError("this is not a whole number", at, None, "digits, with or without a sign")
        return _Token(match.lastgroup or "", match[0], at)

    def _failure(self, message: str, allowed: str | None, token: _Token | None = None) -> ExpressionError:
        token = token or self._token
        found = "the end of the expression" if token.kind == "end" else quote(token.text)
        return ExpressionError(message, token.at, None if "bracket" in message else found, allowed)
