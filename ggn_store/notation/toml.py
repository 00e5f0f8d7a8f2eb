"""TOML text -> tables, by the standard library, behind a check of what would take it long."""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from collections.abc import Collection, Mapping
from typing import Any, Final

from ggn_store import limits

_PART: Final = r"(?:[A-Za-z0-9_-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+')[ \t]*+"
# What no string of TOML may hold as it is; a line that ends with a carriage return would be read without it.
_ESCAPED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
# A dotted key, as people write it in one line.
_KEY: Final = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
KEYS: Final = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
# So long are the lines that are written, where they can be.
_WIDTH: Final = 100
_BARE_KEY: Final = re.compile("[A-Za-z0-9_-]+", re.ASCII)
_BEHIND: Final = re.compile(r" \(at line (\d+), column (\d+)\)$")


def text(value: str) -> str:
    """A string as TOML writes it."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def lines_of_text(value: str) -> str:
    """A string of several lines as TOML writes it: as it is, unless something in it has to be escaped."""
    if "'''" not in value and not value.endswith("'") and not _ESCAPED.search(value):
        return f"'''\n{value}'''"
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"""\n' + _ESCAPED.sub(lambda each: text(each[0])[1:-1], quoted) + '"""'


def value(of: object) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(of, Mapping):
        return f"{{ {', '.join(f'{key(name)} = {value(each)}' for name, each in of.items())} }}" if of else "{}"
    if isinstance(of, list | tuple):
        return f"[{', '.join(map(value, of))}]"
    return text(of) if isinstance(of, str) else json.dumps(of)


def key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if _BARE_KEY.fullmatch(name) else text(name)


def key_path(path: tuple[str | int, ...]) -> str:
    """A path as TOML writes it: `pieces."+P".promotion.to[1]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{key(part)}" if text else key(part)
    return text


def keys(path: str) -> tuple[str, ...] | None:
    """The keys of a dotted one, None where it is none."""
    if not re.fullmatch(KEYS, path):
        return None
    return tuple(each.strip("\"'") for each in re.findall(_KEY, path))


def written(tables: Mapping[str, Any], apart: Collection[str] = ()) -> str:
    """The text of tables: values first, then tables under headers; those inside of tables `apart` under their own."""
    parts = [_members({name: each for name, each in tables.items() if not isinstance(each, Mapping)})]
    for name, table in tables.items():
        if name in apart and isinstance(table, Mapping):
            parts += (f"[{key(name)}.{key(inner)}]\n{_members(each)}" for inner, each in table.items())
        elif isinstance(table, Mapping):
            parts.append(f"[{key(name)}]\n{_members(table)}")
    return "\n".join(filter(None, parts))


def _members(table: Mapping[str, Any]) -> str:
    return "".join(f"{key(name)} = {_laid(each, len(name))}\n" for name, each in table.items())


def _laid(of: object, name: int) -> str:
    """A value on one line, or on several where it is too long for one."""
    if isinstance(of, str) and "\n" in of:
        return lines_of_text(of)
    line = value(of)
    if not isinstance(of, list) or (len(line) + name <= _WIDTH and sum(isinstance(each, Mapping) for each in of) < 2):
        return line
    items = [f"{value(each)}," for each in of]
    if isinstance(of[0], Mapping):
        return "\n  ".join(("[", *items)) + "\n]"
    lines = textwrap.wrap(" ".join(items), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n  ".join(("[", *lines)) + "\n]"


class TomlError(ValueError):
    """What is wrong with a text as TOML, as the end of a sentence about it; line and column count from 1."""

    def __init__(self, message: str, place: tuple[int, int] | None = None, allowed: str | None = None) -> None:
        at = "" if place is None else " (at line {}, column {})".format(*place)
        super().__init__(f"{message}{at}" + (f"; allowed: {allowed}" if allowed else ""))
        self.message, self.place, self.allowed = message, place, allowed


def load(text: str) -> dict[str, Any]:
    """The tables that `text` holds; raises TomlError."""
    limit = limits.KEY_DEPTH
    # A key of n parts costs the standard library n times n steps: longer ones are looked for before.
    long_key = re.search(rf"(?:^|[\[{{,])[ \t]*+(?={_PART}(?:\.[ \t]*+{_PART}){{{limit.most}}})", text, re.MULTILINE)
    if long_key is not None:
        place = _place(text, long_key.end())
        raise TomlError(f"has a key of more than {limit.most} parts", place, limit.allowed)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, _ = str(error).rpartition(" (at ")
        at = _BEHIND.search(str(error))
        place = _place(text, len(text)) if at is None else (int(at[1]), int(at[2]))
        raise TomlError(f"is not TOML: {message}", place) from None
    except RecursionError:
        raise TomlError("is nested too deeply") from None
    except ValueError:  # which it is for numbers of thousands of digits alone
        raise TomlError("has a number of far too many digits") from None


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
