"""What is wrong with a specification, and where in its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ggn_store import limits
from ggn_store.errors import Problem
from ggn_store.gdl.specification import Location
from ggn_store.limits import TooManyError
from ggn_store.model.changes.like import LIKE
from ggn_store.notation.json_text import Path, TextPlaces


class PlacedComplaints:
    """All complaints about one specification, and the places of all values in its text, where it came as text.

    The code of a complaint is `refused` for what is no mistake but what no move database can hold. Every method that
    adds one raises TooManyError where there are so many that nobody would read more.
    """

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}
        self._faults: list[Problem] = []
        self._places = TextPlaces(None, ())
        # Whether the text is like another one, which says what it does not say itself.
        self.is_like = False

    def look_up_in(self, text: str, faults: Iterable[Problem], wanted: tuple[Path, ...] | None = None) -> None:
        """Places are those in this text from now on, of all values or `wanted` ones; `faults` are of its JSON."""
        self._faults = [*faults]
        self._places = TextPlaces(text, wanted)

    def add(self, complaint: Problem) -> None:
        """Keep a complaint, once."""
        self._found[complaint] = None
        if len(self._found) >= limits.PROBLEMS.most:
            raise TooManyError

    def complain(
        self, path: Path, message: str, found: str | None = None, allowed: str | None = None, at_key: bool = False
    ) -> None:
        """Keep a complaint about the value (or the key) at a path."""
        self.add(Problem(message, path=path, found=found, allowed=allowed, at_key=at_key))

    def complain_of(self, path: Path, expression: str, at: int, message: str, **more: Any) -> None:
        """Keep a complaint about a character of the expression at a path; `more` are other fields of the problem."""
        self.add(Problem(message, path=path, expression=expression, at=at, **more))

    def refuse(self, path: Path, construct: str, reason: str, at_key: bool = False) -> None:
        """Keep a complaint about something that no move database can hold."""
        self.add(Problem(f"{construct}: {reason}", path=path, at_key=at_key, code="refused"))

    def place(self, path: Path) -> Location:
        """Where the value at a path stands."""
        return Location(path, *self._places.of(path))

    def problems(self, file: str | None = None) -> list[Problem]:
        """Everything that is wrong, in the order of the text; as many as are reported, and one that says so."""
        at_fault = {fault.path for fault in self._faults}
        found = [*self._faults, *(each for each in self._found if each.path not in at_fault)]
        result = self.placed(found, file)
        most = limits.PROBLEMS.most
        if len(result) >= most:
            message = f"there are {most:,} problems or more{limits.PROBLEMS.more}: the rest was not looked at"
            result[most:] = [Problem(message, file=file, kind="description")]
        return result

    def placed(self, complaints: Iterable[Problem], file: str | None) -> list[Problem]:
        """Complaints with their places in the text, in its order."""
        result = (replace(self._placed(each, file), **_context(each.path)) for each in complaints)
        return sorted(result, key=lambda each: (each.line or 0, each.column or 0))

    def _placed(self, complaint: Problem, file: str | None) -> Problem:
        """A complaint with its place, of what the text does not say itself with that of what is around it there."""
        placed = self._places.placed(complaint, file)
        if not self.is_like or placed.line is not None:
            return placed
        around = [complaint.path[:length] for length in range(len(complaint.path) - 1, 0, -1)]
        line, column = next((at for path in (*around, (LIKE,)) if (at := self._places.of(path))[0]), (None, None))
        return replace(placed, message=f"{placed.message} (with what this is like)", line=line, column=column)


def _context(path: Path) -> dict[str, Any]:
    """The fields of a problem that its path says."""
    section, part, action, *_ = (*map(str, path), None, None, None)
    is_action = section == "interactions" and part == "list"
    return {"kind": "description", "section": section, "action": action if is_action else None}
