"""The text of a variants.ini -> sections of options, each option with its line.

[mine:chess]            a section, and the variant whose options it starts from
maxFile = 10            an option; later ones of a section replace earlier ones
# a comment; ; begins one, too
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ggn_store.errors import DocumentError, Problem, quote

MAX_BYTES: Final = 5_000_000
_HEADER = re.compile(r"\[\s*([^\[\]:]+?)\s*(?::\s*([^\[\]:]+?)\s*)?\]")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Option:
    """An option as it is written; `line` is None for those of the built-in variants."""

    name: str
    value: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Section:
    """A variant: its own options, and the name of the one that it inherits from."""

    name: str
    base: str | None
    line: int
    options: Mapping[str, Option] = field(default_factory=dict)


def read(data: bytes, file: str) -> list[Section]:
    """The sections of a file in its order; raises DocumentError with every line that is none of these things."""
    problems: list[Problem] = []

    def complain(message: str, line: int | None, found: str | None = None, allowed: str | None = None) -> None:
        problems.append(Problem(message, "", line, None if line is None else 1, file, found, allowed))

    if len(data) > MAX_BYTES:
        complain("the file is too large", None, f"{len(data):,} bytes", f"at most {MAX_BYTES:,}")
        raise DocumentError(problems)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        complain("the file is not text in UTF-8", None, f"0x{data[error.start]:02x} at offset {error.start}")
        raise DocumentError(problems) from None
    sections: list[tuple[str, str | None, int, dict[str, Option]]] = []
    seen: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = _uncommented(raw)
        if not line:
            continue
        header = _HEADER.fullmatch(line)
        if header is not None:
            name, base = header[1], header[2]
            for each in (name, base):
                if each is not None and not _NAME.fullmatch(each):
                    complain("not the name of a variant", number, quote(each), "letters, digits, . _ + and -")
            if name in seen:
                complain(f"the variant {name} is there already, in line {seen[name]}", number, quote(name))
            seen.setdefault(name, number)
            sections.append((name, base, number, {}))
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if line.startswith("["):
            complain("not the head of a section", number, quote(line), "[name] or [name:base]")
        elif not equals or not key:
            complain("neither a section nor an option", number, quote(line), "name = value")
        elif not sections:
            complain("an option stands before the first section", number, quote(key), "[name] or [name:base] first")
        else:
            sections[-1][3][key] = Option(key, value, number)
    if not sections and not problems:
        complain("the file has no section", None, None, "[name] or [name:base], and options below it")
    if problems:
        raise DocumentError(problems)
    return [Section(*each) for each in sections]


def _uncommented(line: str) -> str:
    """A line without its comment; FENs have neither # nor ;."""
    return re.split("[#;]", line, maxsplit=1)[0].strip()


def names(sections: Iterable[Section]) -> list[str]:
    """The names of sections."""
    return [section.name for section in sections]
