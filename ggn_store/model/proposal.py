"""Proposals: what is to be the next revision of a ruleset once others have approved of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from ggn_store.errors import NotationError, quote
from ggn_store.model.document import Dialect, Envelope
from ggn_store.model.record import Record
from ggn_store.model.revision import check_name

Judgement = Literal["approved", "rejected", "withdrawn", "merged"]
ProposalState = Literal["open", "stale", "broken", "rejected", "withdrawn", "merged"]

# Also a number that no proposal of this program has: one that somebody else has put there can be rejected.
_REFERENCE = re.compile(r"(?P<name>[^#]+)#(?P<number>0|-?[1-9][0-9]{0,9})", re.ASCII)
_DIGEST = re.compile(r"(?:sha256:)?(?P<digest>[0-9a-f]{16,64})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Verdict(Record):
    """What somebody said of a proposal.

    `revision` is the number of the one that a merged proposal became, `digest` that of the content that was approved.
    """

    ordinal: int
    verdict: Judgement
    revision: int | None
    author: str | None
    role: str | None
    message: str | None
    created_at: datetime | None
    digest: str | None = None
    DATA: ClassVar = "verdict revision author role message created_at digest"

    @property
    def who(self) -> str | None:
        """Who said so: the user of the database, where it knows one; else the author's own word."""
        return self.role or self.author


@dataclass(frozen=True, slots=True)
class Proposal(Record):
    """A proposal and what became of it; `chess#4` is the fourth of chess.

    `base` is the number of the revision that it is to follow, `head` that of the newest one: None for none. `needed`
    is how many must approve, and `approvers` are the only ones whom the policy lets do so, None for everybody;
    `strangers` have said something of it and are none of these. `accepted` are the changes of moves that it says are
    meant, one line each. `fault` says what is wrong with a proposal that this program has not written so: it is broken,
    and can only be rejected.
    """

    id: int
    name: str
    number: int
    base: int | None
    base_id: int | None
    head: int | None
    digest: str
    dialect: Dialect
    board_id: int
    envelope: Envelope
    pieces: int
    accepted: tuple[str, ...]
    author: str | None
    role: str | None
    message: str | None
    created_at: datetime | None
    verdicts: tuple[Verdict, ...]
    needed: int
    approvers: tuple[str, ...] | None = None
    strangers: frozenset[str] = frozenset()
    fault: str | None = None
    DATA: ClassVar = (
        "name number state base head revision approvals needed approvers digest dialect pieces accepted "
        "author role message created_at verdicts"
    )

    def __str__(self) -> str:
        return f"{self.name}#{self.number}"

    @property
    def who(self) -> str | None:
        """Who made it: the user of the database, where it knows one; else the author's own word."""
        return self.role or self.author

    @property
    def state(self) -> ProposalState:
        """Whether it waits for approvals; a stale one cannot be merged, the ruleset having moved on."""
        for each in self.verdicts:
            if each.verdict != "approved":
                return each.verdict
        if self.fault is not None:
            return "broken"
        return "open" if self.base == self.head else "stale"

    @property
    def approvals(self) -> tuple[str, ...]:
        """The others who have approved of what is proposed, in the order in which they did."""
        people = (each.who for each in self.verdicts if each.verdict == "approved" and each.digest == self.digest)
        others = (who for who in people if who is not None and who != self.who and who not in self.strangers)
        return tuple(dict.fromkeys(others))

    @property
    def revision(self) -> int | None:
        """The number of the revision that it became, None while it has not."""
        return next((each.revision for each in self.verdicts if each.verdict == "merged"), None)

    def data(self) -> dict[str, Any]:
        """The proposal as JSON data."""
        data = {"proposal": str(self)} | Record.data(self)
        return data if self.fault is None else data | {"fault": self.fault}


def is_proposal(reference: str) -> bool:
    """Whether a reference is meant to name a proposal, and no revision."""
    return "#" in reference


def parse_proposal(text: str) -> tuple[str, int]:
    """The ruleset and the number that `chess#4` names; raises NotationError, quoting it, for anything else."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise NotationError(f"{quote(text)} does not name a proposal: write chess#4 for the fourth of chess")
    return check_name(match["name"]), int(match["number"])


def parse_digest(text: str) -> str:
    """The digest, or at least 16 digits of its beginning, that `text` writes; raises NotationError, quoting it."""
    match = _DIGEST.fullmatch(text)
    if match is None:
        raise NotationError(
            f"{quote(text)} is not a digest: write the 64 hexadecimal digits that `ggn-store proposal` shows, or at "
            "least the first 16"
        )
    return match["digest"]
