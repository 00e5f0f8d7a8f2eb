"""TOML text -> values of the kinds that a definition has, with a complaint and its place for whatever is not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import UNSTORABLE, Problem, printable, quote
from ggn_store.limits import Kept, TooManyError
from ggn_store.notation import toml

Path = tuple[str | int, ...]
Table = Mapping[str, Any]

_NOTHING: Final = object()
_BARE_KEY = re.compile("[A-Za-z0-9_-]+", re.ASCII)
_KEY = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_KEYS = re.compile(_KEY)
_DOTTED = rf"(?P<keys>{_KEY}(?:\s*\.\s*{_KEY})*)"
_HEADER = re.compile(rf"\s*\[\s*{_DOTTED}\s*\]\s*(?:#.*)?")
_MEMBER = re.compile(rf"\s*{_DOTTED}\s*=")


@dataclass(frozen=True, slots=True)
class DefinitionProblem(Problem):
    """Something that is wrong in a definition.

    `pointer` is the path of its key as TOML writes it (`pieces."+P".betza`). `detail` are further lines, such as the
    caret under what a Betza string has wrong.
    """

    detail: str | None = None

    def __str__(self) -> str:
        text = Problem.__str__(self)
        return text if self.detail is None else "\n".join([text, *map(printable, self.detail.split("\n"))])


@dataclass(frozen=True, slots=True)
class _Complaint:
    path: Path
    message: str
    found: str | None
    allowed: str | None
    detail: str | None = None
    place: tuple[int, int] | None = None


def key_path(path: Path) -> str:
    """A path as TOML writes it: `pieces."+P".promotion.to[1]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if _BARE_KEY.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{key}" if text else key
    return text


class Values:
    """Takes values out of decoded TOML and collects complaints about those that are not of their kind."""

    def __init__(self) -> None:
        self.complaints: Kept[_Complaint] = Kept()
        self._squares = 0

    def complain(
        self,
        path: Path,
        message: str,
        found: object = _NOTHING,
        allowed: str | None = None,
        detail: str | None = None,
    ) -> None:
        """Note something that is wrong at a key path."""
        self.complaints.append(_Complaint(path, message, None if found is _NOTHING else quote(found), allowed, detail))

    def load(self, text: str | bytes) -> tuple[dict[str, Any] | None, str]:
        """The decoded TOML, None where it is none, and its text."""
        if len(text) > limits.DEFINITION_BYTES.most:
            found = f"{len(text):,} {'bytes' if isinstance(text, bytes) else 'characters'}"
            self.complaints.append(_Complaint((), "the definition is too long", found, limits.DEFINITION_BYTES.allowed))
            return None, ""
        if isinstance(text, bytes):
            try:
                text = text.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"0x{error.object[error.start]:02x} at offset {error.start}"
                self.complaints.append(_Complaint((), "the definition is not text in UTF-8", found, None))
                return None, ""
        text = text.removeprefix("\ufeff")
        try:
            return toml.load(text), text
        except toml.TomlError as error:
            message = f"the definition {error.message}"
            self.complaints.append(_Complaint((), message, None, error.allowed, place=error.place))
        return None, text

    def problems(self, source: str, file: str | None) -> list[DefinitionProblem]:
        """The complaints with their places in the text, in its order.

        What stands inside of a value on several lines is placed where its key is.
        """
        places = _places(source)

        def problem(each: _Complaint) -> DefinitionProblem:
            parts = (each.path[:length] for length in range(len(each.path), 0, -1))
            line, column = each.place or next((places[part] for part in parts if part in places), (None, None))
            path = key_path(each.path)
            return DefinitionProblem(
                each.message, path, line, column, file, each.found, each.allowed, detail=each.detail
            )

        found = sorted(map(problem, self.complaints), key=lambda each: (each.line or 0, each.column or 0))
        rest = self.complaints.rest
        return found if rest is None else [*found, DefinitionProblem(rest, "", found[-1].line, found[-1].column, file)]

    # --- limits ---

    def squares(self, count: int, path: Path) -> None:
        """Reckon with so many squares more that are named; raises TooManyError where they are too many in all."""
        self._squares += count
        limit = limits.ZONE_SQUARES
        if self._squares > limit.most:
            self.complain(path, "the zones up to here name too many squares in all", allowed=limit.allowed)
            raise TooManyError

    def is_too_long(self, value: list[Any], path: Path, limit: limits.Limit) -> bool:
        """Whether a list has more entries than it may have, which is complained of."""
        if len(value) <= limit.most:
            return False
        self.complaints.append(_Complaint(path, "the list is too long", f"{len(value):,} entries", limit.allowed))
        return True

    # --- values of a kind ---

    def known_keys(self, table: Table, path: Path, kind: str, allowed: Iterable[str]) -> None:
        """Complain about every key that a table of this kind does not have."""
        for key in table:
            if key not in allowed:
                self.complain((*path, key), f"{kind} has no such key", key, ", ".join(allowed))

    def table(self, table: Table, key: str, path: Path = ()) -> dict[str, Any]:
        """A table, empty where it is missing."""
        value = table.get(key, {})
        if isinstance(value, dict):
            return value
        self.complain((*path, key), f"{key} is a table", value, f"[{key_path((*path, key))}]")
        return {}

    def items(self, table: Table, key: str, path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
        """The tables of a list, each with its path; a single table stands for a list of one."""
        value = table.get(key, [])
        if isinstance(value, dict):
            yield value, (*path, key)
        elif not isinstance(value, list):
            self.complain((*path, key), f"{key} is a table or a list of tables", value, "{ ... } or [{ ... }, ...]")
        elif not self.is_too_long(value, (*path, key), limits.DEFINITION_TABLES):
            for number, item in enumerate(value):
                if isinstance(item, dict):
                    yield item, (*path, key, number)
                else:
                    self.complain((*path, key, number), f"{key} is a list of tables", item, "{ ... }")

    def text(self, table: Table, key: str, path: Path = (), empty: bool = False) -> str | None:
        """A text, None where it is missing; whether it may be `empty`."""
        if key not in table:
            return None
        value = table[key]
        if isinstance(value, str) and (value.strip() or empty) and not UNSTORABLE.search(value):
            return value
        self.complain((*path, key), f"{key} is a text", value, "a string" if empty else "a string that is not empty")
        return None

    def texts(self, table: Table, key: str, path: Path = ()) -> list[str]:
        """A list of texts that differ, empty where it is missing."""
        value = table.get(key, [])
        if not isinstance(value, list):
            self.complain((*path, key), f"{key} is a list of texts", value, '["...", ...]')
            return []
        if self.is_too_long(value, (*path, key), limits.DEFINITION_LIST):
            return []
        known: set[str] = set()
        for number, item in enumerate(value):
            if not isinstance(item, str):
                self.complain((*path, key, number), f"{key} is a list of texts", item, "a string")
            elif item in known:
                self.complain((*path, key, number), f"{key} has this twice", item, "each once")
            else:
                known.add(item)
        return [item for item in value if isinstance(item, str)]

    def flag(self, table: Table, key: str, path: Path = (), default: bool = False) -> bool:
        """True or false."""
        value = table.get(key, default)
        if isinstance(value, bool):
            return value
        self.complain((*path, key), f"{key} says yes or no", value, "true or false")
        return default

    def choice(self, table: Table, key: str, path: Path, choices: Iterable[str]) -> str | None:
        """One of a few words, None where it is missing."""
        value = table.get(key)
        if key not in table or (isinstance(value, str) and value in choices):
            return value
        self.complain((*path, key), f"{key} is one of a few words", value, ", ".join(choices))
        return None


def _places(text: str) -> Mapping[Path, tuple[int, int]]:
    """Line and column of each table's header and of each key that begins a line."""
    places: dict[Path, tuple[int, int]] = {}
    table: Path = ()
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.fullmatch(line.rstrip())
        member = None if header else _MEMBER.match(line)
        match = header or member
        if match is None:
            continue
        keys = tuple(key.strip("\"'") for key in _KEYS.findall(match["keys"]))
        path = keys if header else (*table, *keys)
        table = keys if header else table
        places.setdefault(path, (number, match.start("keys") + 1))
    return places
