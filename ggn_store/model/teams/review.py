"""What was said in reviews in other stores: it is kept, and nothing of it counts here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Literal, get_args

from ggn_store import limits
from ggn_store.errors import UNSTORABLE, quote
from ggn_store.model.teams.proposal import GOES_ON, Judgement, ProposalReference, Remark
from ggn_store.model.teams.revision import written
from ggn_store.notation import json_text

_VERDICTS: Final = ("proposed", *get_args(Judgement))
_MOST: Final = (1 << 31) - 1
_ENTRY: Final = ("piece", "source", "destination")
_LONGEST: Final = {"author": 1_000, "role": 1_000, "message": 1_000_000, **dict.fromkeys(_ENTRY, limits.LABEL.default)}


@dataclass(frozen=True, slots=True)
class ReviewRecord(Remark):
    """What somebody said in a review, the same in every store: `proposed` for a round, else a verdict or a comment.

    `number` is the one that the proposal has in its own store, `role` what its server calls who said so. All that was
    said of a proposal names the key of its first round as `proposal`, but for that round itself. What was proposed or
    approved has the `digest` of its content; `base` and `revision`, which a merged one became, are lineages.
    """

    proposal: str | None
    number: int
    round: int
    verdict: Literal["proposed"] | Judgement
    digest: str | None
    base: str | None
    revision: str | None
    piece: str | None
    source: str | None
    destination: str | None
    author: str | None
    role: str | None
    message: str | None
    created_at: datetime
    DATA: ClassVar = "verdict round digest base revision author role message created_at piece source destination"

    @property
    def key(self) -> str:
        """SHA-256 of all of it."""
        values = [getattr(self, name) for name in ReviewRecord.__slots__[:-1]]
        return json_text.digest([*values, written(self.created_at)])

    @property
    def first(self) -> str:
        """The key of the proposal's first round."""
        return self.proposal or self.key

    @property
    def order(self) -> tuple[Any, ...]:
        """Where it comes among others: after what it is said of, and the same wherever it came from."""
        return self.number, self.first, self.round, self.verdict != "proposed", self.created_at, self.key

    def fault(self) -> str | None:
        """What no review says; None for what can be kept. Any value may be of any type."""
        return next(self._faults(), None)

    def _faults(self) -> Iterator[str]:
        if self.verdict not in _VERDICTS:
            yield f"{quote(self.verdict)} is nothing that is said in a review"
        for name in ("number", "round"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= _MOST:
                yield f"the {name} of a proposal is from 1 to {_MOST:,}, not {quote(value)}"
        for name, most in _LONGEST.items():
            if (fault := _fault_of_text(getattr(self, name), most)) is not None:
                yield f"the {name} {fault}"
        is_proposed = self.verdict == "proposed"
        needed = {
            "proposal": not (is_proposed and self.round == 1),
            "digest": is_proposed or self.verdict == "approved",
            "base": is_proposed and self.base is not None,
            "revision": self.verdict == "merged",
        }
        for name, is_needed in needed.items():
            value = getattr(self, name)
            if not (json_text.is_digest(value) if is_needed else value is None):
                yield f"the {name} of what was {self.verdict} in round {self.round} is out of place: {quote(value)}"
        is_on = [getattr(self, name) is not None for name in _ENTRY]
        if sorted(is_on, reverse=True) != is_on or (any(is_on) and self.verdict != "commented"):
            yield "only a comment is on an entry: a piece, then a source, then a destination"
        if self.verdict == "commented" and not (self.message or "").strip(" "):
            yield "a comment has a text"


def _fault_of_text(value: object, most: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        return f"is not text: {quote(value)}"
    if len(value) > most:
        return f"is longer than {most:,} characters"
    return "has characters that no database can keep" if UNSTORABLE.search(value) else None


@dataclass(frozen=True, slots=True)
class ForeignProposal:
    """A proposal of another store for the ruleset `name`, as far as what was said of it came here; oldest first."""

    name: str
    records: tuple[ReviewRecord, ...]

    def __str__(self) -> str:
        return str(ProposalReference(self.name, self.records[0].number))

    def has(self, wanted: ProposalReference) -> bool:
        """Whether this is the proposal, or has the round, that is meant."""
        return self.records[0].number == wanted.number and wanted.round in (None, *(each.round for each in self.rounds))

    @property
    def rounds(self) -> tuple[ReviewRecord, ...]:
        """What was proposed, round by round."""
        return tuple(each for each in self.records if each.verdict == "proposed")

    @property
    def state(self) -> str:
        """What became of it there, as far as that came here."""
        ended = (each.verdict for each in self.records if each.verdict not in ("proposed", *GOES_ON))
        return next(ended, "open")

    def data(self) -> dict[str, Any]:
        """The proposal as JSON data."""
        newest = self.rounds[-1]
        return {
            "proposal": str(self),
            "elsewhere": True,
            "key": newest.first,
            "state": self.state,
            "round": newest.round,
            **{name: each for name, each in newest.data().items() if name in _OF_A_ROUND},
            "records": [each.data() for each in self.records],
        }


_OF_A_ROUND: Final = ("digest", "author", "role", "message", "created_at")
