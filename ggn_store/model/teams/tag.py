"""Tags: names of revisions that may be moved, and everywhere that they have been."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal

from ggn_store.model.record import Record

TagStatus = Literal["created", "moved", "removed", "unchanged"]


@dataclass(frozen=True, slots=True)
class Tag(Record):
    """One move of a tag of a ruleset; moves are numbered from 1, and the one with the highest number counts.

    `revision` is the number of the revision that it points to since, None where the tag was removed; `digest` and
    `lineage` are that revision's. `created_at` is in UTC. `status` says what a change did; it is None for a move that
    was looked up.
    """

    ruleset: str
    name: str
    number: int
    revision: int | None
    digest: str | None
    lineage: str | None
    author: str | None
    message: str | None
    created_at: datetime
    status: TagStatus | None = field(default=None, compare=False)
    DATA: ClassVar = "ruleset tag=name move=number revision digest lineage author message created_at"

    def __str__(self) -> str:
        return f"{self.ruleset}:{self.name}"
