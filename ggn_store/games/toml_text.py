"""TOML text -> values of the kinds that a definition has, with a complaint and its place for whatever is not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ggn_store import limits
from ggn_store.errors import UNSTORABLE, Problem
from ggn_store.limits import TooManyError
from ggn_store.model.changes.like import LikeSource
from ggn_store.notation import toml
from ggn_store.notation.complaints import Complaints
from ggn_store.notation.json_text import Path
from ggn_store.notation.toml import key_path as key_path

TomlTable = Mapping[str, Any]

_HEADER = re.compile(rf"\s*\[\s*(?P<keys>{toml.KEYS})\s*\]\s*(?:#.*)?")
_MEMBER = re.compile(rf"\s*(?P<keys>{toml.KEYS})\s*=")


class TomlValues:
    """Takes values out of decoded TOML and collects complaints about those that are not of their kind."""

    def __init__(self) -> None:
        self.complaints = Complaints()
        # Notes something that is wrong at a key path.
        self.complain = self.complaints.add
        self._squares = 0

    def load(self, text: str | bytes) -> tuple[dict[str, Any] | None, str]:
        """The decoded TOML, None where it is none, and its text."""
        if len(text) > limits.DEFINITION_BYTES.most:
            found = f"{len(text):,} {'bytes' if isinstance(text, bytes) else 'characters'}"
            allowed = limits.DEFINITION_BYTES.allowed
            self.complaints.append(Problem("the definition is too long", found=found, allowed=allowed))
            return None, ""
        if isinstance(text, bytes):
            try:
                text = text.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"0x{error.object[error.start]:02x} at offset {error.start}"
                self.complaints.append(Problem("the definition is not text in UTF-8", found=found))
                return None, ""
        text = text.removeprefix("\ufeff")
        try:
            return toml.load(text), text
        except toml.TomlError as error:
            line, column = error.place or (None, None)
            message = f"the definition {error.message}"
            self.complaints.append(Problem(message, line=line, column=column, allowed=error.allowed))
        return None, text

    def problems(self, source: str, file: str | None, like: Sequence[LikeSource] = ()) -> list[Problem]:
        """The complaints with their places in the text, in its order.

        What stands inside of a value on several lines is placed where its key is. Of what the text does not say itself,
        the message says where something that it is like does.
        """
        places = _places(source)
        others = [(each.name, _places(each.text)) for each in like]

        def placed(each: Problem) -> Problem:
            parts = [each.path[:length] for length in range(len(each.path), 0, -1)]
            found = next((part for part in parts if part in places), ())
            known = places.get(found, places.get(("like",), (each.line, each.column)))
            message = each.message
            for name, at in others:
                nearer = next((part for part in parts[: len(parts) - len(found)] if part in at), None)
                if nearer is not None:
                    message += f" (line {at[nearer][0]} of {name}, which this is like)"
                    break
            return replace(each.placed(key_path(each.path), known, file), message=message, kind="definition")

        found = sorted(map(placed, self.complaints), key=lambda each: (each.line or 0, each.column or 0))
        return [*found, *self.complaints.rest(found[-1])]

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
        found = f"{len(value):,} entries"
        self.complaints.append(Problem("the list is too long", path=path, found=found, allowed=limit.allowed))
        return True

    # --- values of a kind ---

    def known_keys(self, table: TomlTable, path: Path, kind: str, allowed: Iterable[str]) -> None:
        """Complain about every key that a table of this kind does not have."""
        for key in table:
            if key not in allowed:
                self.complain((*path, key), f"{kind} has no such key", key, ", ".join(allowed))

    def table(self, table: TomlTable, key: str, path: Path = ()) -> dict[str, Any]:
        """A table, empty where it is missing."""
        value = table.get(key, {})
        if isinstance(value, dict):
            return value
        self.complain((*path, key), f"{key} is a table", value, f"[{key_path((*path, key))}]")
        return {}

    def items(self, table: TomlTable, key: str, path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
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

    def text(self, table: TomlTable, key: str, path: Path = (), empty: bool = False) -> str | None:
        """A text, None where it is missing; whether it may be `empty`."""
        if key not in table:
            return None
        value = table[key]
        if isinstance(value, str) and (value.strip() or empty) and not UNSTORABLE.search(value):
            return value
        self.complain((*path, key), f"{key} is a text", value, "a string" if empty else "a string that is not empty")
        return None

    def texts(self, table: TomlTable, key: str, path: Path = ()) -> list[str]:
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

    def flag(self, table: TomlTable, key: str, path: Path = (), default: bool = False) -> bool:
        """True or false."""
        value = table.get(key, default)
        if isinstance(value, bool):
            return value
        self.complain((*path, key), f"{key} says yes or no", value, "true or false")
        return default

    def choice(self, table: TomlTable, key: str, path: Path, choices: Collection[str]) -> str | None:
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
        keys = toml.keys(match["keys"]) or ()
        path = keys if header else (*table, *keys)
        table = keys if header else table
        places.setdefault(path, (number, match.start("keys") + 1))
    return places
