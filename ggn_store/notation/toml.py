"""TOML text -> tables, by the standard library, behind a check of what would take it long."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

from ggn_store import limits

_PART: Final = r"(?:[A-Za-z0-9_-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+')[ \t]*+"
_BEHIND: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class TomlError(ValueError):
    """What is wrong with a text as TOML, and where: line and column, from 1."""

    def __init__(self, message: str, line: int, column: int, allowed: str | None = None) -> None:
        super().__init__(f"{message} (at line {line}, column {column})" + (f"; {allowed}" if allowed else ""))
        self.message, self.line, self.column, self.allowed = message, line, column, allowed


def load(text: str) -> dict[str, Any]:
    """The tables that `text` holds; raises TomlError."""
    limit = limits.KEY_DEPTH
    # A key of n parts costs the standard library n times n steps: longer ones are looked for before.
    long_key = re.search(rf"(?:^|[\[{{,])[ \t]*+(?={_PART}(?:\.[ \t]*+{_PART}){{{limit.most}}})", text, re.MULTILINE)
    if long_key is not None:
        raise _at(text, long_key.end(), f"a key has more than {limit.most} parts", limit.allowed)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = _BEHIND.sub("", str(error))
        place = _BEHIND.search(str(error))
        if place is None or place[1] is None:
            raise _at(text, len(text), message) from None
        raise TomlError(message, int(place[1]), int(place[2])) from None
    except RecursionError:
        raise TomlError("it is nested too deeply", 1, 1) from None
    except ValueError as error:  # a number of thousands of digits
        raise TomlError(str(error), 1, 1) from None


def _at(text: str, offset: int, message: str, allowed: str | None = None) -> TomlError:
    line = text.count("\n", 0, offset) + 1
    return TomlError(message, line, offset - text.rfind("\n", 0, offset), allowed)
