"""PGN: the text of a game, its tags and moves; comments, variations and annotations are passed over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ggn_store.errors import NotationError, printable, quote
from ggn_store.notation.json_text import Lines

RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")
MAX_MOVES: Final = 20_000
MAX_TAGS: Final = 1_000
_WIDTH: Final = 79
# The seven tags that every game has, in their order.
_ROSTER: Final = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,255}", re.ASCII)
_TAG: Final = re.compile(r'\[\s*([A-Za-z0-9_]{1,255})\s*"((?:[^"\\\n]|\\.){0,10000})"\s*\]', re.ASCII)
_BEGUN_TAG: Final = re.compile(r'\[\s*[A-Za-z0-9_]+\s*"', re.ASCII)
_BEGUN: Final = re.compile(rf"\ufeff?\s*({_BEGUN_TAG.pattern}|1\s*\.(?![0-9])|%|;)")
_TOKEN: Final = re.compile(
    r"(?P<skipped>\s+|\{[^}]*\}|;[^\n]*|\$[0-9]{1,9}|[0-9]{1,9}\.+|\.+|[0-9]{1,9}(?=\s)|e\.p\.)"
    r"|(?P<open>\()|(?P<close>\))|(?P<word>[^\s(){};$]+)",
    re.ASCII,
)
_REMARK: Final = re.compile(r"\s+|;[^\n]*|\{[^}]*\}")
# What has no closing brace, nothing behind it, or begins with a name in quotes, is meant as JSON.
_COMMENTED: Final = re.compile(r'\s*\{\s*[^\s"}][^}]*\}\s*\S')
_ESCAPED: Final = re.compile(r"^%[^\n]*", re.MULTILINE)
_JUDGED: Final = re.compile(r"[!?]{1,9}$")


@dataclass(frozen=True, slots=True)
class Pgn:
    """A game as it is written: its tags, the moves each with the line that it is on, and its result."""

    tags: Mapping[str, str] = field(default_factory=dict)
    moves: tuple[tuple[str, int], ...] = ()
    result: str = "*"


def looks_like(text: str) -> bool:
    """Whether a text begins as PGN does: with a tag, a remark, or the number of a move."""
    return _BEGUN.match(text) is not None


def looks_like_json(text: str) -> bool:
    """Whether a text begins as a JSON object does, and not as a game that begins with a comment."""
    return text.lstrip().startswith("{") and not _COMMENTED.match(text)


def parse(text: str) -> Pgn:
    """The first game of a text; raises NotationError, with the line, where it is none.

    Anything may be hostile: nothing is read twice, and what is too much is refused.
    """
    text = _ESCAPED.sub("", text.removeprefix("\ufeff"))
    lines = Lines(text)
    tags, at = _tags(text, lines)
    moves: list[tuple[str, int]] = []
    for word, place in _words(text, at, lines):
        if word in RESULTS:
            return Pgn(tags, tuple(moves), word)
        if _BEGUN_TAG.match(text, place):
            break  # the next game, where this one has no result
        if len(moves) == MAX_MOVES:
            raise NotationError(f"line {lines.place(place)[0]}: a game has at most {MAX_MOVES:,} moves")
        if move := _JUDGED.sub("", word):
            moves.append((move, lines.place(place)[0]))
    stated = tags.get("Result", "*")
    return Pgn(tags, tuple(moves), stated if stated in RESULTS else "*")


def _words(text: str, at: int, lines: Lines) -> Iterator[tuple[str, int]]:
    """The words of the game itself, outside of variations, each with its place."""
    depth = opened = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            why = "begins a comment that does not end" if text[at] == "{" else "means nothing there"
            raise NotationError(f"line {lines.place(at)[0]}: {quote(text[at])} {why}")
        if match["open"]:
            opened = opened if depth else at
            depth += 1
        elif match["close"]:
            depth -= 1
            if depth < 0:
                raise NotationError(f"line {lines.place(at)[0]}: ) ends a variation that has not begun")
        elif match["word"] and depth == 0:
            yield match["word"], at
        at = match.end()
    if depth:
        raise NotationError(f"line {lines.place(opened)[0]}: ( begins a variation that does not end")


def text(tags: Mapping[str, str], moves: Iterable[str], result: str, number: int = 1, is_second: bool = False) -> str:
    """A game as PGN: the roster of seven tags, the others, and the moves from a number on."""
    every = {**_ROSTER, **{name: value for name, value in tags.items() if name != "Result"}}
    names = [*_ROSTER, "Result", *(name for name in every if name not in _ROSTER)]
    every["Result"] = result
    head = "".join(f'[{name} "{_escaped(every[name])}"]\n' for name in names if _NAME.fullmatch(name))
    return f"{head}\n{_wrapped([*_numbered(moves, number, is_second), result])}\n"


def _numbered(moves: Iterable[str], number: int, is_second: bool) -> Iterator[str]:
    for ply, move in enumerate(moves, int(is_second)):
        if ply % 2 == 0:
            yield f"{number + ply // 2}."
        elif ply == 1 and is_second:
            yield f"{number}..."
        yield move


def _wrapped(words: Iterable[str]) -> str:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')


def _tags(text: str, lines: Lines) -> tuple[dict[str, str], int]:
    """The tags, and where the moves begin."""
    tags: dict[str, str] = {}
    at = 0
    while True:
        while remark := _REMARK.match(text, at):
            at = remark.end()
        if at >= len(text) or text[at] != "[":
            return tags, at
        match = _TAG.match(text, at)
        if match is None:
            line = text[at : at + 80].partition("\n")[0]
            raise NotationError(f'line {lines.place(at)[0]}: {quote(line)} is no tag: write [Name "value"]')
        if len(tags) >= MAX_TAGS:
            raise NotationError(f"line {lines.place(at)[0]}: a game has at most {MAX_TAGS:,} tags")
        tags.setdefault(match[1], re.sub(r"\\(.)", r"\1", match[2]))
        at = match.end()
