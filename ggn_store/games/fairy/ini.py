"""The text of a variants.ini -> sections of options, each option with its line.

[mine:chess]            a section, and the variant whose options it starts from
maxFile = 10            an option; later ones of a section replace earlier ones
# a comment; ; begins one, too
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from ggn_store import limits
from ggn_store.errors import DocumentError, Problem, quote
from ggn_store.limits import Limit, TooManyError
from ggn_store.notation.complaints import Complaints

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
    reading = _Reading(file)
    with contextlib.suppress(TooManyError):
        reading.read(data)
    if problems := reading.problems:
        raise DocumentError([*problems, *problems.rest(problems[-1])])
    return [Section(*each) for each in reading.sections]


class _Reading:
    """A pass over the lines of a file; TooManyError where the rest is not worth reading."""

    def __init__(self, file: str) -> None:
        self.problems = Complaints()
        self.sections: list[tuple[str, str | None, int, dict[str, Option]]] = []
        self._file = file
        self._lines: dict[str, int] = {}

    def read(self, data: bytes) -> None:
        limit = limits.VARIANTS_BYTES
        if len(data) > limit.most:
            self._stop("the file is too large", None, f"{len(data):,} bytes", limit)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            found = f"0x{data[error.start]:02x} at offset {error.start}"
            self._complain("the file is not text in UTF-8", None, found)
            return
        for number, raw in enumerate(text.splitlines(), 1):
            if len(raw) > limits.VARIANTS_LINE.most:
                self._stop("the line is too long", number, f"{len(raw):,} characters", limits.VARIANTS_LINE)
            line = re.split("[#;]", raw, maxsplit=1)[0].strip()  # FENs have neither # nor ;
            header = _header(line)
            if header is not None:
                self._section(number, *header)
            elif line:
                self._option(number, line)
        if not self.sections and not self.problems:
            self._complain("the file has no section", None, None, "[name] or [name:base], and options below it")

    def _section(self, number: int, name: str, base: str | None) -> None:
        for each in (name, base):
            if each is not None and not _NAME.fullmatch(each):
                self._complain("not the name of a variant", number, quote(each), "letters, digits, . _ + and -")
        if name in self._lines:
            message = f"the variant {name} is there already, in line {self._lines[name]}"
            self._complain(message, number, quote(name))
        self._lines.setdefault(name, number)
        self.sections.append((name, base, number, {}))
        if len(self.sections) > limits.VARIANTS_SECTIONS.most:
            self._stop("the file has too many sections", number, None, limits.VARIANTS_SECTIONS)

    def _option(self, number: int, line: str) -> None:
        key, equals, value = (part.strip() for part in line.partition("="))
        if line.startswith("["):
            self._complain("not the head of a section", number, quote(line), "[name] or [name:base]")
        elif not equals or not key:
            self._complain("neither a section nor an option", number, quote(line), "name = value")
        elif not self.sections:
            allowed = "[name] or [name:base] first"
            self._complain("an option stands before the first section", number, quote(key), allowed)
        else:
            options = self.sections[-1][3]
            options[key] = Option(key, value, number)
            if len(options) > limits.VARIANTS_OPTIONS.most:
                self._stop("the section has too many options", number, None, limits.VARIANTS_OPTIONS)

    def _complain(self, message: str, line: int | None, found: str | None = None, allowed: str | None = None) -> None:
        self.problems.append(Problem(message, "", line, None if line is None else 1, self._file, found, allowed))

    def _stop(self, message: str, line: int | None, found: str | None, limit: Limit) -> NoReturn:
        problem = Problem(message, "", line, None if line is None else 1, self._file, found, limit.allowed)
        self.problems.insert(0, problem)  # first, since it is why there may be more
        raise TooManyError


def _header(line: str) -> tuple[str, str | None] | None:
    """The name and the base of the head of a section; None where it is none."""
    inside = line[1:-1]
    if line[:1] != "[" or line[-1:] != "]" or "[" in inside or "]" in inside:
        return None
    name, *base = (part.strip() for part in inside.split(":"))
    if len(base) > 1 or not all((name, *base)):
        return None
    return name, base[0] if base else None
