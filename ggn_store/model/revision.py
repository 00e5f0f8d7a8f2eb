"""Revisions: what a store keeps of a ruleset each time that its content changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ggn_store.errors import NotationError, quote
from ggn_store.model.document import Dialect, Envelope

MAX_NAME = 200
Status = Literal["new", "unchanged", "restored"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(?:/[A-Za-z0-9][A-Za-z0-9._+-]*)*", re.ASCII)
_REFERENCE = re.compile(r"(?P<name>[^@]+)(?:@(?P<number>[1-9][0-9]{0,8}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Revision:
    """An immutable revision of a ruleset; `number` counts from 1 within the ruleset.

    `shape` is the board's, None for listed squares. `created_at` is in UTC. `status` says what a load did;
    it is None for a revision that was looked up.
    """

    id: int
    name: str
    number: int
    digest: str
    dialect: Dialect
    board_id: int
    shape: str | None
    envelope: Envelope
    author: str | None
    message: str | None
    created_at: datetime
    status: Status | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.name}@{self.number}"

    @property
    def dimensions(self) -> tuple[int, ...] | None:
        """The board's shape as numbers: files, ranks, layers."""
        return None if self.shape is None else tuple(map(int, self.shape.split("x")))

    def data(self) -> dict[str, Any]:
        """The revision as JSON data."""
        return {
            "name": self.name,
            "revision": self.number,
            "digest": self.digest,
            "dialect": self.dialect,
            "board": self.shape,
            **{name: self.envelope.data().get(name) for name in ("title", "source", "start")},
            "author": self.author,
            "message": self.message,
            "created_at": self.created_at.isoformat(timespec="seconds"),
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """A revision with how much is in it; the counts are of rows of the tables of those names."""

    revision: Revision
    counts: Mapping[str, int]

    def data(self) -> dict[str, Any]:
        """The summary as JSON data."""
        return self.revision.data() | dict(self.counts)


def check_name(name: str) -> str:
    """`name`, if it can name a ruleset; raises NotationError, quoting it, if it cannot."""
    if not isinstance(name, str) or len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise NotationError(
            f"{quote(name)} cannot name a ruleset: letters, digits and . _ + - (not first), / between parts, "
            f"at most {MAX_NAME} characters; give a name with --name (in Python name=...)"
        )
    return name


def parse_reference(text: str) -> tuple[str, int | None]:
    """Name and revision number of `chess` or `chess@3`; raises NotationError for anything else."""
    match = _REFERENCE.fullmatch(text)
    if match is None or not _NAME.fullmatch(match["name"]):
        raise NotationError(f"{quote(text)} does not name a ruleset: write chess, or chess@3 for its revision 3")
    return match["name"], int(match["number"]) if match["number"] else None
