"""Revisions: what a store keeps of a ruleset each time that its content changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, get_args

from ggn_store.errors import NotationError, quote
from ggn_store.model.documents.document import Dialect, Envelope
from ggn_store.model.record import Record
from ggn_store.model.teams.selection import is_pattern, only_one
from ggn_store.notation import json_text

if TYPE_CHECKING:
    from ggn_store.model.changes.merge import Conflict

MAX_NAME = 200
Status = Literal["new", "merged", "unchanged", "restored"]
Lifecycle = Literal["active", "deprecated", "retired"]
STATES: Final[tuple[Lifecycle, ...]] = get_args(Lifecycle)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(?:/[A-Za-z0-9][A-Za-z0-9._+-]*)*", re.ASCII)
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9._-]*", re.ASCII)
_REFERENCE = re.compile(
    r"(?P<name>[^@:]+)"
    r"(?:@(?P<number>[1-9][0-9]{0,8})|@sha256:(?P<digest>[0-9a-f]{4,64})|:(?P<tag>[^@:]+))?",
    re.ASCII,
)


def is_proposal(reference: object) -> bool:
    """Whether a reference is meant to name a proposal, `chess#4`, and no revision."""
    return isinstance(reference, str) and "#" in reference


@dataclass(frozen=True, slots=True)
class Revision(Record):
    """An immutable revision of a ruleset; `number` counts from 1 within the ruleset.

    `shape` is the board's, None for listed squares. `created_at` is in UTC. `parent` is the number of the revision
    that it came after, `merged` of the second one that it unites with it. `digest` is of the content, `lineage` of
    the content and all the history before it: stores that have the same lineage have the same history, whatever the
    numbers. `status` says what a load did; it is None for a revision that was looked up. `state` is the ruleset's now,
    `successor` the one to be used instead. `decided` are the conflicts that a merge has just decided for one side.
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
    lineage: str
    parent: int | None
    merged: int | None
    status: Status | None = field(default=None, compare=False)
    state: Lifecycle = field(default="active", compare=False)
    successor: str | None = field(default=None, compare=False)
    decided: tuple[Conflict, ...] = field(default=(), compare=False)
    DATA: ClassVar = (
        "name revision=label digest lineage parents dialect board=shape title=envelope.title source=envelope.source "
        "start=envelope.start author message created_at state successor"
    )

    def __str__(self) -> str:
        # What is only proposed has the name of its proposal, chess#4, and is all that there is of it.
        return self.name if is_proposal(self.name) else f"{self.name}@{self.number}"

    @property
    def label(self) -> int | str:
        """The number, or of what is only proposed the number of its proposal: `#4`."""
        _, mark, number = self.name.partition("#")
        return f"#{number}" if mark else self.number

    @property
    def dimensions(self) -> tuple[int, ...] | None:
        """The board's shape as numbers: files, ranks, layers."""
        return None if self.shape is None else tuple(map(int, self.shape.split("x")))

    @property
    def parents(self) -> tuple[int, ...]:
        """The numbers of the revisions that it came after."""
        return tuple(number for number in (self.parent, self.merged) if number is not None)


@dataclass(frozen=True, slots=True)
class RulesetState(Record):
    """What a ruleset is said to be; `number` counts its changes from 1, and is 0 while nothing was said.

    `successor` is the ruleset to be used instead of one that is deprecated or retired.
    """

    name: str
    number: int = 0
    state: Lifecycle = "active"
    successor: str | None = None
    author: str | None = None
    message: str | None = None
    created_at: datetime | None = None

    @property
    def note(self) -> str | None:
        """What whoever uses the ruleset is to know: one line, None where it is active."""
        if self.state == "active":
            return None
        instead = "" if self.successor is None else f": use {self.successor}"
        why = "" if self.message is None else f" ({' '.join(self.message.split())})"
        return f"{self.name} is {self.state}{instead}{why}"


@dataclass(frozen=True, slots=True)
class Summary:
    """A revision with how much is in it; the counts are of rows of the tables of those names.

    `tags` are those of its ruleset, with the number of the revision that each points to; None where nobody asked.
    """

    revision: Revision
    counts: Mapping[str, int]
    tags: Mapping[str, int] | None = None

    def __str__(self) -> str:
        return str(self.revision)

    @property
    def name(self) -> str:
        """The name of the ruleset, without the revision."""
        return self.revision.name

    def data(self) -> dict[str, Any]:
        """The summary as JSON data."""
        return self.revision.data() | dict(self.counts) | ({} if self.tags is None else {"tags": dict(self.tags)})


def check_name(name: str) -> str:
    """`name`, if it can name a ruleset; raises NotationError, quoting it, if it cannot."""
    if not isinstance(name, str) or len(name) > MAX_NAME or not _NAME.fullmatch(name):
        refuse_proposal(name)
        raise NotationError(
            f"{quote(name)} cannot name a ruleset: letters, digits and . _ + - (not first), / between parts, "
            f"at most {MAX_NAME} characters"
        )
    return name


class Reference(NamedTuple):
    """What names a revision: `chess` (the newest), `chess@3`, `chess@sha256:0123abcd` or the tag `chess:stable`."""

    name: str
    number: int | None = None
    digest: str | None = None
    tag: str | None = None

    def __str__(self) -> str:
        if self.number is not None:
            return f"{self.name}@{self.number}"
        if self.digest is not None:
            return f"{self.name}@sha256:{self.digest}"
        return self.name if self.tag is None else f"{self.name}:{self.tag}"

    @property
    def is_newest(self) -> bool:
        """Whether it is only a name, which means the newest revision."""
        return self.number is None and self.digest is None and self.tag is None


def parse_reference(text: str) -> Reference:
    """What `text` names; raises NotationError for anything else."""
    if is_pattern(text):
        raise NotationError(only_one(text))
    match = _REFERENCE.fullmatch(text) if isinstance(text, str) else None
    if match is None or not _NAME.fullmatch(match["name"]):
        refuse_proposal(text)
        raise NotationError(
            f"{quote(text)} does not name a ruleset: write chess, chess@3 for its revision 3, chess@sha256:0123abcd "
            "for what has this digest, or chess:stable for what is tagged stable"
        )
    if match["tag"] is not None:
        check_tag(match["tag"])
    number = int(match["number"]) if match["number"] else None
    return Reference(match["name"], number, match["digest"], match["tag"])


def refuse_proposal(text: object) -> None:
    """Raise NotationError for what names a proposal, where that makes no sense."""
    name, mark, number = text.partition("#") if isinstance(text, str) else ("", "", "")
    if mark and number[:1].isdecimal() and _NAME.fullmatch(name):
        raise NotationError(
            f"{quote(text)} names a proposal, which is no revision yet: name the ruleset, {name}, or a revision of it "
            f"such as {name}@1"
        )


def check_tag(tag: str) -> str:
    """`tag`, if it can name a tag; raises NotationError, quoting it, if it cannot."""
    if not isinstance(tag, str) or len(tag) > MAX_NAME or not _TAG.fullmatch(tag):
        raise NotationError(
            f"{quote(tag)} cannot name a tag: a letter, then letters, digits and . _ -, at most {MAX_NAME} characters"
        )
    return tag


def lineage(
    parent: str | None, merged: str | None, digest: str, author: str | None, message: str | None, at: datetime
) -> str:
    """SHA-256 of a revision's content, author, message, time and the lineages of its parents."""
    return json_text.digest([parent, merged, digest, author, message, written(at)])


def written(at: datetime) -> str:
    """A time in UTC, to the microsecond, as lineages, reviews and bundles have it."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
