"""What travels between stores, in a bundle or over a connection, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, Protocol

from ggn_store.errors import UNSTORABLE, GgnStoreError, HeadMovedError, NotationError, quote
from ggn_store.model.changes.merge import Conflict, Merge, Preference
from ggn_store.model.changes.merge import merge as merge_documents
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Dialect, Document, Envelope, Piece, revision_digest
from ggn_store.model.record import Record
from ggn_store.model.teams.ancestry import Step
from ggn_store.model.teams.proposal import Proposal
from ggn_store.model.teams.review import ReviewRecord
from ggn_store.model.teams.revision import STATES, Lifecycle, check_name, lineage

TransferOutcome = Literal["new", "forwarded", "merged", "unchanged", "proposed", "failed"]


@dataclass(frozen=True, slots=True)
class SentRevision:
    """A revision on its way: boards and pieces are named by their digests, parents by their lineages."""

    lineage: str
    parent: str | None
    merged: str | None
    digest: str
    dialect: Dialect
    board: str
    envelope: Envelope
    author: str | None
    message: str | None
    created_at: datetime
    pieces: tuple[str, ...]

    def fault(self, board: Board) -> str | None:
        """What does not give what it should; None for a revision that is as it was made."""
        if revision_digest(self.dialect, board, self.envelope, self.pieces) != self.digest:
            return "its pieces, board and envelope do not give its digest"
        made = lineage(self.parent, self.merged, self.digest, self.author, self.message, self.created_at)
        if made != self.lineage:
            return "its content, author, message, time and parents do not give its lineage"
        return None


@dataclass(frozen=True, slots=True)
class SentPiece:
    """A piece on its way; `board` is the digest of the board that it is written for."""

    digest: str
    dialect: Dialect
    board: str
    piece: Piece


@dataclass(frozen=True, slots=True)
class SentTag:
    """Where a tag points, by lineage, and who said so when."""

    name: str
    lineage: str
    author: str | None
    message: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SentState:
    """What a ruleset was said to be, and who said so when; the same in every store that it has come to."""

    state: Lifecycle
    successor: str | None
    author: str | None
    message: str | None
    created_at: datetime

    @property
    def said(self) -> str:
        """The state in words: `deprecated, use team/okapis`."""
        return self.state if self.successor is None else f"{self.state}, use {self.successor}"

    def fault(self) -> str | None:
        """What no store says of a ruleset; None for a state that can be taken over."""
        if self.state not in STATES:
            return f"{quote(self.state)} is not a state"
        if self.successor is not None:
            if self.state == "active":
                return f"{quote(self.successor)} cannot be used instead of a ruleset that is active"
            try:
                check_name(self.successor)
            except NotationError as error:
                return str(error)
        for text in (self.author, self.message):
            if text is not None and UNSTORABLE.search(text):
                return f"{quote(text)} has characters that no database can keep"
        return None


@dataclass(frozen=True, slots=True)
class SentRename(Record):
    """That a ruleset was renamed, and who said so when."""

    old_name: str
    new_name: str
    author: str | None
    message: str | None
    created_at: datetime


class RevisionSource(Protocol):
    """Where revisions come from: a store, or a bundle.

    What is asked for is there, or it is an error of the source's; nothing is held in memory but what was asked for
    last.
    """

    def heads(self) -> Mapping[str, str]:
        """The lineage of the newest revision of every ruleset, by name."""

    def steps(self, name: str) -> Sequence[Step]:
        """The history of a ruleset; raises UnknownNameError."""

    def revisions(self, name: str, lineages: Collection[str]) -> Iterator[SentRevision]:
        """Those revisions of a ruleset, in the order of its history."""

    def boards(self, digests: Collection[str]) -> Iterator[Board]:
        """Boards, one for each digest and in the order of the digests."""

    def pieces(self, digests: Sequence[str]) -> Iterator[SentPiece]:
        """Pieces, in the order of the digests."""

    def tags(self, name: str) -> Sequence[SentTag]:
        """The tags of a ruleset that point somewhere, by name."""

    def states(self, *names: str) -> Mapping[str, Sequence[SentState]]:
        """All that was ever said of these rulesets (of all for none) by name, the oldest first; nothing is left out."""

    def renames(self, name: str) -> Sequence[SentRename]:
        """How a ruleset came to its name, the first rename first."""

    def reviews(self, name: str) -> Sequence[ReviewRecord]:
        """What was said in the reviews of a ruleset, wherever that was, each after what it is said of."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The document that people made of two sides in conflict, of these lineages; `note` is what to say of it."""

    ours: str
    theirs: str
    document: Document
    note: str | None

    def require(self, ours: str | None, theirs: str, name: str) -> None:
        """Raise DivergedError unless these are the heads that were in conflict."""
        for known, head, place in ((self.ours, ours, "ours"), (self.theirs, theirs, "theirs")):
            if known != head:
                raise DivergedError(
                    f"{name} has moved on since the conflicts were written: the head of {place} is another one; "
                    "nothing was stored: begin again, with --merge --conflicts FILE"
                )


@dataclass(frozen=True, slots=True)
class TransferWishes:
    """What is to be done with what comes.

    `merge`: also what both sides have changed, as far as it is not the same. `tags`: tags come along. `states`: where
    both sides have changed the state of a ruleset, the source's counts. `reviews`: what was said in reviews comes
    along. `message` and `author` are of the revision that unites two histories. `is_push`: what comes is the own side
    of a merge, else what is here is. `source` names
    where it comes from, and `merging` is what merges base, own side and other side.
    `resolution` says what is to become of two heads, whatever a merge would make of them. `prefer` is the side that
    `merging` decides conflicts for, and `offers_file` says that a file of them may be asked for.
    """

    source: str
    merge: bool = False
    tags: bool = False
    states: bool = False
    reviews: bool = False
    message: str | None = None
    author: str | None = None
    is_push: bool = False
    merging: Callable[[Document | None, Document, Document], Merge] = merge_documents
    resolution: Resolution | None = None
    prefer: Preference = None
    offers_file: bool = False

    @property
    def place(self) -> str:
        """How whoever asks for it speaks of the store that receives."""
        return "there" if self.is_push else "here"


@dataclass(frozen=True, slots=True)
class Transferred(Record):
    """What became of one ruleset of a transfer.

    `name` is the ruleset's at its source, `to` at its destination, `head` there the newest revision's number and
    `lineage` its lineage. `revisions` is how many are new there, with the one that unites two histories; `pieces` is
    how many travelled of the `listed` ones that those which came have. `tags` are those that moved. `note` is what
    there is to say of the merge and of states, and `decided` are the conflicts that the merge decided for one side.
    `states` is how many states came, after which it is `state`, and `successor` is to be used instead; `reviews` is how
    many records of reviews came. What had to be reviewed is a `proposal`, and the head is as it was.
    """

    name: str
    to: str
    status: TransferOutcome
    revisions: int = 0
    pieces: int = 0
    listed: int = 0
    head: int | None = None
    lineage: str | None = None
    tags: tuple[str, ...] = ()
    error: GgnStoreError | None = None
    note: str | None = None
    decided: tuple[Conflict, ...] = ()
    states: int = 0
    state: Lifecycle = "active"
    successor: str | None = None
    proposal: Proposal | None = None
    reviews: int = 0
    DATA: ClassVar = "name to status revisions pieces pieces_listed=listed head lineage tags"

    def data(self) -> dict[str, Any]:
        """The result as JSON data; of an error its message and, where both sides changed something, what."""
        data = Record.data(self)
        if self.decided:
            data["decided"] = [conflict.data() for conflict in self.decided]
        if self.proposal is not None:
            data["proposal"] = str(self.proposal)
        if self.state != "active":
            data |= {"state": self.state, "successor": self.successor}
        if self.reviews:
            data["reviews"] = self.reviews
        if self.error is not None:
            data["error"] = str(self.error)
            if isinstance(self.error, DivergedError) and self.error.merge is not None:
                data["merge"] = self.error.merge.data()
        return data


class DivergedError(HeadMovedError):
    """Two stores have each gone on from what they had in common; `merge` says what each of them changed since.

    It has conflicts where the same was changed in two ways. None where nobody has looked into it yet.
    """
