"""Proposals: what is to be the next revision of a ruleset once others have approved of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, NamedTuple

from ggn_store.errors import NotationError, quote
from ggn_store.model.documents.document import Dialect, Envelope
from ggn_store.model.record import Record
from ggn_store.model.teams.revision import check_name

Judgement = Literal["approved", "rejected", "withdrawn", "merged", "commented"]
ProposalState = Literal["open", "stale", "broken", "amended", "rejected", "withdrawn", "merged"]
# What goes on after it was said.
GOES_ON = ("approved", "commented")

# Also a number that no proposal of this program has: one that somebody else has put there can be rejected.
_NUMBER = "0|-?[1-9][0-9]{0,9}"
_REFERENCE = re.compile(rf"(?P<name>[^#]+)#(?P<number>{_NUMBER})(?:\.(?P<round>{_NUMBER}))?", re.ASCII)
_DIGEST = re.compile(r"(?:sha256:)?(?P<digest>[0-9a-f]{16,64})", re.ASCII)


class ProposalReference(NamedTuple):
    """What names a proposal: `chess#4`, or a round of it: `chess#4.1`; without a round the newest one is meant."""

    name: str
    number: int
    round: int | None = None

    def __str__(self) -> str:
        return f"{self.name}#{self.number}" + ("" if self.round is None else f".{self.round}")


class _Said(Record):
    __slots__ = ()
    author: str | None
    role: str | None

    @property
    def who(self) -> str | None:
        """Who said so: the user of the database or the server, where it knows one; else the author's own word."""
        return self.role or self.author


class Remark(_Said):
    """What was said of a proposal, which may be a comment on a piece or an entry of it."""

    __slots__ = ()
    piece: str | None
    source: str | None
    destination: str | None

    @property
    def entry(self) -> str:
        """What a comment is on, as `C:N b1 c3`; empty for the whole proposal."""
        return " ".join(each for each in (self.piece, self.source, self.destination) if each is not None)


@dataclass(frozen=True, slots=True)
class Verdict(Remark):
    """What somebody said of a proposal, in a verdict or a comment.

    `revision` is the number of the one that a merged proposal became, `digest` that of the content that was approved;
    `round` is the round that it is of, and a comment may be on a `piece`, or an entry from `source` to `destination`.
    """

    ordinal: int
    verdict: Judgement
    revision: int | None
    author: str | None
    role: str | None
    message: str | None
    created_at: datetime | None
    digest: str | None = None
    round: int = 1
    piece: str | None = None
    source: str | None = None
    destination: str | None = None
    DATA: ClassVar = "verdict revision author role message created_at digest round piece source destination"


@dataclass(frozen=True, slots=True)
class Proposal(_Said):
    """A round of a proposal and what became of it; `chess#4` is the fourth of chess.

    Its maker may amend it: `round` says which of its `rounds` this is, and the newest one counts. `verdicts` are what
    was said of all rounds, in the order of time.

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
    round: int = 1
    rounds: int = 1
    DATA: ClassVar = (
        "name number round rounds state base head revision approvals needed approvers digest dialect pieces accepted "
        "author role message created_at verdicts"
    )

    def __str__(self) -> str:
        return str(ProposalReference(self.name, self.number, None if self.round == self.rounds else self.round))

    @property
    def state(self) -> ProposalState:
        """Whether it waits for approvals; a stale one cannot be merged, the ruleset having moved on."""
        for each in self.verdicts:
            if each.verdict not in GOES_ON and (each.round == self.round or self.round == self.rounds):
                return each.verdict  # type: ignore[return-value]  # neither an approval nor a comment
        if self.round < self.rounds:
            return "amended"
        if self.fault is not None:
            return "broken"
        return "open" if self.base == self.head else "stale"

    @property
    def approvals(self) -> tuple[str, ...]:
        """The others who have approved of what is proposed, in the order in which they did."""
        people = (
            each.who
            for each in self.verdicts
            if (each.verdict, each.round, each.digest) == ("approved", self.round, self.digest)
        )
        others = (who for who in people if who is not None and who != self.who and who not in self.strangers)
        return tuple(dict.fromkeys(others))

    @property
    def comments(self) -> tuple[Verdict, ...]:
        """What was said of it, on all rounds, that decides nothing."""
        return tuple(each for each in self.verdicts if each.verdict == "commented")

    @property
    def revision(self) -> int | None:
        """The number of the revision that it became, None while it has not."""
        return next((each.revision for each in self.verdicts if each.verdict == "merged"), None)

    def data(self) -> dict[str, Any]:
        """The proposal as JSON data."""
        data = {"proposal": str(self)} | Record.data(self)
        return data if self.fault is None else data | {"fault": self.fault}


def parse_proposal(text: str) -> ProposalReference:
    """The proposal that `chess#4` names, or the round that `chess#4.1` does.

    Raises NotationError, quoting it, for anything else.
    """
    match = _REFERENCE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise NotationError(
            f"{quote(text)} does not name a proposal: write chess#4 for the fourth of chess, chess#4.1 for its first "
            "round"
        )
    round_ = match["round"]
    return ProposalReference(check_name(match["name"]), int(match["number"]), None if round_ is None else int(round_))


def parse_digest(text: str) -> str:
    """The digest, or at least 16 digits of its beginning, that `text` writes; raises NotationError, quoting it."""
    match = _DIGEST.fullmatch(text)
    if match is None:
        raise NotationError(
            f"{quote(text)} is not a digest: write the 64 hexadecimal digits that `ggn-store proposal` shows, or at "
            "least the first 16"
        )
    return match["digest"]
