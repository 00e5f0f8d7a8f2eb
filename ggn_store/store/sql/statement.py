"""The text of a question in SQL: one statement that seems to read, and its named values.

What it does is decided by the database that answers; this is what both databases should say in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import UNSTORABLE, QueryError, offer, quote

MAX_QUERY: Final = 100_000
VALUES: Final = "values are written :name, and given with --param name=value"
_BEGINNINGS: Final = ("select", "with", "values", "table", "(")
_COMPARING: Final = ("=", "<", ">", "!", "between", "and")
_EXPLAINING: Final = ("explain", "query", "plan", "analyze", "verbose")

# As Postgres reads it, to the letter: whatever is taken for a text here and for something else there could hide a call.
# Every character beyond ASCII is part of a name; comments nest, which they do not in SQLite.
_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\n\r\f\v]+|--[^\n\r]*)
  | (?P<comment>/\*)
  | (?P<special>[uU]&['"]|[eE]')
  | (?P<string>(?:[bBxXnN])?'(?:[^']|'')*')
  | (?P<dollars>\$(?P<tag>(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*)?)\$.*?\$(?P=tag)\$)
  | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
  | (?P<cast>::)
  | (?P<value>:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*)
  | (?P<name>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)
  | (?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)(?P<junk>[A-Za-z0-9_$\x80-\U0010ffff])?
  | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark of a query, and where it begins."""

    kind: str
    text: str
    start: int

    @property
    def word(self) -> str:
        """What it says as a name or keyword; empty for anything else."""
        if self.kind == "name":
            return self.text.lower()
        return self.text[1:-1].replace(self.text[0] * 2, self.text[0]) if self.kind == "quoted" else ""

    @property
    def key(self) -> str:
        """What it says as a keyword or mark, which nothing in quotes does."""
        return self.text.lower() if self.kind in ("name", "mark", "cast") else ""


@dataclass(frozen=True, slots=True)
class QueryStatement:
    """A query without what follows its end, and its tokens."""

    text: str
    tokens: tuple[Token, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The names of the values that it has, in order."""
        return tuple(dict.fromkeys(token.text[1:] for token in self.tokens if token.kind == "value"))

    @property
    def compared(self) -> set[str]:
        """The names of the values that it compares as they are."""
        keys = ["", "", *(token.key for token in self.tokens), ""]
        return {
            token.text[1:]
            for farther, before, token, after in zip(keys, keys[1:], self.tokens, keys[3:], strict=False)
            if token.kind == "value"
            and (before in _COMPARING or after in _COMPARING or (farther, before) == ("in", "("))
        }

    @property
    def words(self) -> set[str]:
        """Everything in it that may be a name."""
        return {token.word.lower() for token in self.tokens}

    @property
    def explains(self) -> bool:
        """Whether it asks for the plan."""
        return self.tokens[0].key == "explain"

    def numbered(self, relations: str = "") -> tuple[str, list[tuple[int, int]], int]:
        """The text with $1, $2, ... for its values, and with `relations` before its own WITH has any.

        Then where each of these ended, and how much longer the text has become; last, where what reads begins: behind
        EXPLAIN and its options.
        """
        numbers = {name: f"${number}" for number, name in enumerate(self.values, 1)}
        begin = _beginning(self.tokens)
        parts, shifts, at = [], [], 0
        if relations:
            at, written = self._with(begin, relations)
            parts, shifts = [self.text[:at], written], [(at, len(written))]
        for token in self.tokens:
            if token.kind == "value":
                written = numbers[token.text[1:]]
                parts += [self.text[at : token.start], written]
                at = token.start + len(token.text)
                shifts.append((at, len(written) - len(token.text)))
        # No value is in front of it.
        return "".join([*parts, self.text[at:]]), shifts, begin.start if self.explains else 0

    def _with(self, begin: Token, relations: str) -> tuple[int, str]:
        """Where relations come into the text, and how they are written there."""
        if begin.key != "with":
            return begin.start, f"WITH {relations} "
        following = self.tokens[self.tokens.index(begin) + 1 :][:1]
        last = next((token for token in following if token.key == "recursive"), begin)
        return last.start + len(last.text), f" {relations},"


def place(text: str, at: int) -> str:
    """Where a character of a text is: `line 2, column 5`."""
    before = text[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - (before.rfind(chr(10)) + 1) + 1}"


def read(text: str) -> QueryStatement:
    """The query that a text is; raises QueryError unless it is one statement that reads."""
    if UNSTORABLE.search(text):
        raise QueryError("the query holds a NUL, or half of a character")
    if len(text) > MAX_QUERY:
        raise QueryError(f"the query is longer than {MAX_QUERY:,} characters")
    tokens = list(_tokens(text))
    while tokens and tokens[-1].key == ";":
        tokens.pop()
    if not tokens:
        raise QueryError("there is no query: see `ggn-store sql --examples`")
    for index, token in enumerate(tokens):
        if token.key == ";":
            after = tokens[index + 1]
            raise QueryError(f"{place(text, after.start)}: one statement at a time; found {quote(after.text)} after ;")
    begin = _beginning(tokens)
    if begin.key not in _BEGINNINGS:
        raise QueryError(
            f"{place(text, begin.start)}: `sql` only reads: begin with SELECT, WITH, VALUES or EXPLAIN SELECT; "
            f"found {quote(begin.text)}"
        )
    end = tokens[-1].start + len(tokens[-1].text)
    return QueryStatement(text[:end], tuple(tokens))


def _beginning(tokens: Sequence[Token]) -> Token:
    """The first word of a query, or of the one that it wants explained, perhaps with (OPTIONS)."""
    if tokens[0].key != "explain":
        return tokens[0]
    at = 0
    while at + 1 < len(tokens) and tokens[at].key in _EXPLAINING:
        at += 1
    if tokens[at].key == "(" and (tokens[at + 1].key if at + 1 < len(tokens) else "") not in _BEGINNINGS:
        while at + 1 < len(tokens) and tokens[at].key != ")":
            at += 1
        at = min(at + 1, len(tokens) - 1)
    return tokens[at]


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:  # no kind that has an end has none
            raise QueryError(f"{place(text, at)}: this is not SQL")
        kind = str(match.lastgroup)
        end = match.end()
        if kind == "comment":
            end = _end_of_comment(text, at)
        elif kind == "special":
            raise QueryError(f"{place(text, at)}: names and texts are written without {match[0][:-1]} before them")
        elif kind == "junk":  # which older servers take for the end of the number, and newer ones refuse
            raise QueryError(f"{place(text, at)}: this number is not one; found {quote(match[0])}")
        elif kind == "mark" and match[0] in "'\"`":
            raise QueryError(f"{place(text, at)}: this {match[0]} is never closed")
        elif kind == "mark" and match[0] == "$":
            raise QueryError(f"{place(text, at)}: {VALUES}")
        if kind not in ("space", "comment"):
            yield Token("string" if kind == "dollars" else kind, match[0], at)
        at = end


def _end_of_comment(text: str, start: int) -> int:
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise QueryError(f"{place(text, start)}: this /* is never closed, or another one inside of it is not")


def require_values(query: QueryStatement, given: Collection[str]) -> None:
    """Raise QueryError unless every value of the query is given, and no other."""
    missing = [name for name in query.values if name not in given]
    if missing:
        raise QueryError(f"the query has a value :{missing[0]}: give it with --param {missing[0]}=...")
    unused = [name for name in given if name not in query.values]
    if unused:
        has = f"it has {offer([f':{name}' for name in query.values])}" if query.values else "it has none"
        raise QueryError(f"the query has no value :{unused[0]}; {has}")
