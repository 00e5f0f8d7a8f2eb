"""What is wrong with a specification, and where in its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ggn_store import limits
from ggn_store.errors import SpecificationProblem
from ggn_store.gdl.specification import Location
from ggn_store.notation import json_text
from ggn_store.notation.json_text import Path, pointer


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that is wrong at a path; with the expression and the character in it, where it is about one.

    `at_key` says that it is about the key rather than the value; `code` is `refused` for what is no mistake but what
    no move database can hold.
    """

    path: Path
    message: str
    found: str | None = None
    allowed: str | None = None
    at_key: bool = False
    expression: str | None = None
    at: int | None = None
    code: str = "invalid"


class TooManyError(Exception):
    """There are more problems than anybody would read; what follows is not looked at."""


class Complaints:
    """All complaints about one specification, and the places of all values in its text, where it came as text."""

    def __init__(self) -> None:
        self._found: dict[Complaint, None] = {}
        self._faults: list[json_text.Fault] = []
        self._text: str | None = None
        self._paths: dict[str, Path] = {}
        self._places: Mapping[Path, tuple[int, int]] = {}
        self._lines = json_text.Lines("")

    def look_up_in(self, text: str, faults: Iterable[json_text.Fault]) -> None:
        """Places are those in this text from now on; `faults` are what is wrong with it as JSON."""
        self._text = text
        self._faults = [*faults]
        self._lines = json_text.Lines(text)

    def scan(self) -> None:
        """Find the places of all values in the text."""
        if self._text is not None:
            self._places = json_text.scan(self._text, None).places

    def add(self, complaint: Complaint) -> None:
        """Keep a complaint, once; raises TooManyError where there are so many that nobody would read more."""
        self._found[complaint] = None
        if len(self._found) >= limits.PROBLEMS.most:
            raise TooManyError

    def complain(
        self, path: Path, message: str, found: str | None = None, allowed: str | None = None, at_key: bool = False
    ) -> None:
        """Keep a complaint about the value (or the key) at a path; raises TooManyError."""
        self.add(Complaint(path, message, found, allowed, at_key))

    def refuse(self, path: Path, construct: str, reason: str, at_key: bool = False) -> None:
        """Keep a complaint about something that no move database can hold; raises TooManyError."""
        self.add(Complaint(path, f"{construct}: {reason}", at_key=at_key, code="refused"))

    def place(self, path: Path) -> Location:
        """Where the value at a path stands."""
        at = pointer(path)
        self._paths[at] = path
        if path not in self._places:
            return Location(at)
        return Location(at, *self._lines.place(self._places[path][1]))

    def path(self, place: Location) -> Path:
        """The path of a place that `place` has made."""
        return self._paths.get(place.pointer, ())

    def problems(self, file: str | None = None) -> list[SpecificationProblem]:
        """Everything that is wrong, in the order of the text; as many as are reported, and one that says so."""
        result = [self._of_fault(fault, file) for fault in self._faults]
        at_fault = {fault.path for fault in self._faults}
        result += [self.problem(each, file) for each in self._found if each.path not in at_fault]
        result.sort(key=lambda each: (each.line or 0, each.column or 0))
        most = limits.PROBLEMS.most
        if len(result) >= most:
            message = f"there are {most:,} problems or more{limits.PROBLEMS.more}: the rest was not looked at"
            result[most:] = [SpecificationProblem(message, file=file)]
        return result

    def problem(self, complaint: Complaint, file: str | None = None, severity: str = "problem") -> SpecificationProblem:
        """A complaint with its place in the text."""
        line, column = self._line_and_column(complaint)
        path = complaint.path
        return SpecificationProblem(
            complaint.message,
            pointer(path),
            line,
            column,
            file,
            complaint.found,
            complaint.allowed,
            complaint.code,
            section=_section(path),
            action=_action(path),
            expression=complaint.expression,
            at=complaint.at,
            severity=severity,
        )

    def _of_fault(self, fault: json_text.Fault, file: str | None) -> SpecificationProblem:
        line, column = self._lines.place(fault.offset)
        return SpecificationProblem(
            fault.message,
            pointer(fault.path),
            line,
            column,
            file,
            fault.found,
            fault.allowed,
            section=_section(fault.path),
            action=_action(fault.path),
        )

    def _line_and_column(self, complaint: Complaint) -> tuple[int | None, int | None]:
        if self._text is None or complaint.path not in self._places:
            return None, None
        key, value = self._places[complaint.path]
        if complaint.at is not None:
            value = _inside(self._text.removeprefix("\ufeff"), value, complaint.at)
        return self._lines.place(key if complaint.at_key else value)


def _section(path: Path) -> str | None:
    return str(path[0]) if path else None


def _action(path: Path) -> str | None:
    return str(path[2]) if len(path) > 2 and path[:2] == ("interactions", "list") else None


def _inside(text: str, at: int, wanted: int) -> int:
    """The offset of a character of the JSON string that begins at `at`, escapes reckoned in."""
    if text[at : at + 1] != '"':
        return at
    at += 1
    for _ in range(wanted):
        if at >= len(text) or text[at] == '"':
            break
        if text[at] == "\\":
            is_pair = re.match(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}", text[at : at + 12])
            at += 12 if is_pair else 6 if text[at + 1 : at + 2] == "u" else 2
        else:
            at += 1
    return at
