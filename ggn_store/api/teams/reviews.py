"""Reviews: changes that are proposed, judged, and carried out once enough others have approved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from ggn_store.api.loading import conflicts, gates
from ggn_store.api.loading.loading import LoadWishes, ProposeOptions, prepare, read_one, stream
from ggn_store.api.session import authors, collector, references
from ggn_store.errors import ConflictError, GateError, HeadMovedError
from ggn_store.model.changes import Diff
from ggn_store.model.document import Document
from ggn_store.model.merge import noted
from ggn_store.model.proposal import Judgement, Proposal, parse_digest, parse_proposal
from ggn_store.model.revision import check_name
from ggn_store.model.selection import is_pattern, select
from ggn_store.store.database.engine import Database
from ggn_store.store.database.session import Session
from ggn_store.store.history import diff, states
from ggn_store.store.review import proposals, rights
from ggn_store.store.rulesets import catalog, load, stored_documents
from ggn_store.store.rulesets.load import Made
from ggn_store.store.rulesets.stored_documents import Transaction

if TYPE_CHECKING:
    from ggn_store.api.loading import loading
    from ggn_store.api.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class Reviews:
    """`store.reviews`: changes that are proposed, judged, and carried out once others have approved of them."""

    _session: Session

    def propose(
        self, document: loading.Content, name: str | None = None, **options: Unpack[ProposeOptions]
    ) -> Proposal:
        """Propose what `load` would load: it becomes the next revision when enough others have approved of it.

        The keywords are those of `load`, without merge. Raises like `load`, and ConflictError where it is the newest
        revision already, or proposed already.
        """
        wishes = LoadWishes(**options)
        with collector.held_off():
            content, name = read_one(document, name, wishes.dialect)
            author = self._author(wishes.author, wishes.message)
            check_name(name)
            kept = prepare(content) if isinstance(content, Document) else stream(content)
            database = self._session.database
            with self._session.writing() as connection:
                head = load.head_of(connection, name)
                head.require(catalog.base(connection, name, wishes.base), name)
                gates.require_open(states.newest(connection, name))
                made, listed = load.keep(database, connection, kept, load.Change(author, wishes.message))
                return self._add(connection, name, head, made, listed, accept=wishes.accept_changes)

    def resolve(
        self, file: str | os.PathLike[str], *, message: str | None = None, author: str | None = None
    ) -> Proposal:
        """Propose what an edited conflict file says, in the store that the merge was for; raises like `propose`."""
        made = conflicts.read(file)
        note = message if made.note is None else noted(message or "resolve conflicts", made.note)
        base = f"sha256:{made.heading.target}"
        return self.propose(made.document, made.heading.to, base=base, message=note, author=author)

    def restore(
        self, reference: str, *, message: str | None = None, author: str | None = None, accept_changes: bool = False
    ) -> Proposal:
        """Propose the content of an old revision as the newest one: what `store.history.restore` does without a review.

        Raises like `propose`, and UnknownNameError for a revision that is not there.
        """
        author = self._author(author, message)
        with self._session.writing() as connection:
            named = catalog.parsed(connection, reference)
            revision = catalog.find(connection, named)
            head = load.head_of(connection, named.name)
            gates.require_open(states.newest(connection, named.name))
            made, listed = stored_documents.again(connection, revision, author, message)
            return self._add(connection, named.name, head, made, listed, accept=accept_changes)

    def _add(
        self, connection: Transaction, name: str, head: load.Head, made: Made, listed: list[int], *, accept: bool
    ) -> Proposal:
        """Propose what is stored already, where it is news and its policy has nothing against it."""
        rights.require(self._session.database, connection, name, "proposers", made.author)
        _require_news(connection, name, head.digest, head.number, made)
        before = None if head.id is None else stored_documents.of_revision(connection, head.id)
        found = gates.check(connection, name, before, stored_documents.of_pieces(connection, made, listed))
        gates.refuse(name, found, accept=accept)
        accepted = [str(change) for change in found.changes]
        return proposals.add(
            self._session.database, connection, name, head, gates.signed(made, found), listed, accepted
        )

    def approve(
        self, proposal: str, *, author: str | None = None, message: str | None = None, digest: str | None = None
    ) -> Proposal:
        """Approve of `chess#4`, which is somebody else's; the head moves once it has all approvals that it needs.

        People are told apart by the user of a Postgres database, in a SQLite file by the author's name. `digest` is
        that of the proposal that was read, or at least its first 16 digits. Raises ConflictError where the proposal has
        another one or the head has moved since it was proposed, GateError where the policy refuses it now, and
        StoreError where this program has not written it so.
        """
        name, number = parse_proposal(proposal)
        read = None if digest is None else parse_digest(digest)
        author = self._author(author, message)
        database = self._session.database
        who = database.role or author
        with self._session.writing() as connection:
            found = proposals.find_whole(connection, name, number)
            if read is not None and not found.digest.startswith(read):
                raise ConflictError(
                    f"{found} has the digest {found.digest}, and the one that was read is {read}: look at it again "
                    f"with `ggn-store proposal {found}`"
                )
            while True:
                _require_current(found)
                if who == found.who:
                    raise GateError(f"{found} is {who}'s own: somebody else has to approve of it")
                rights.require(database, connection, name, "approvers", author)
                if who in found.approvals:
                    break
                was_said = proposals.judge(database, connection, found, "approved", author, message)
                found = proposals.find(connection, name, number)
                if was_said:
                    break
            if len(found.approvals) < found.needed:
                return found
            _merge(database, connection, found, author)
            return proposals.find(connection, name, number)

    def reject(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """End the proposal `chess#4`, also one that is broken."""
        return self._end(proposal, "rejected", author, message)

    def withdraw(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """End the proposal `chess#4`, which is one's own."""
        return self._end(proposal, "withdrawn", author, message)

    def _end(self, reference: str, verdict: Judgement, author: str | None, message: str | None) -> Proposal:
        name, number = parse_proposal(reference)
        author = self._author(author, message)
        who = self._session.database.role or author
        with self._session.writing() as connection:
            while True:
                found = proposals.find(connection, name, number)
                _require_unjudged(found)
                if verdict == "withdrawn" and who != found.who:
                    raise GateError(f"{found} is {found.who}'s, not {who}'s: reject it instead")
                if verdict == "rejected":
                    rights.require(self._session.database, connection, name, "approvers", author)
                if proposals.judge(self._session.database, connection, found, verdict, author, message):
                    return proposals.find(connection, name, number)

    def _author(self, author: str | None, message: str | None) -> str | None:
        """Who makes a change; raises GateError for nobody."""
        author = authors.signed(self._session.database, author, message)
        if self._session.database.role is None and author is None:
            raise GateError(
                "a review is among people with names: say who you are with --author, $GGN_AUTHOR or git config"
            )
        return author

    # --- looking at them ---

    def get(self, proposal: str) -> Proposal:
        """The proposal `chess#4`; raises UnknownNameError, and StoreError where it is broken."""
        with self._session.reading() as connection:
            return proposals.find_whole(connection, *parse_proposal(proposal))

    def list(self, *rulesets: str, closed: bool = False) -> tuple[Proposal, ...]:
        """The proposals that wait for approvals, of all rulesets or of some; with `closed`, all that there ever were.

        Rulesets are names, namespaces (`team/`) and globs. Those that this program has not written so are in the state
        `broken`, and `fault` says why.
        """
        alone = rulesets[0] if len(rulesets) == 1 and not is_pattern(rulesets[0]) else None
        with self._session.reading() as connection:
            found = proposals.listed(connection, alone)
            if rulesets:
                proposed = {each.name for each in found}
                wanted = {*select(rulesets, proposed | catalog.names(connection))}
                for name in wanted - proposed:
                    catalog.find(connection, check_name(name))
                found = [each for each in found if each.name in wanted]
        return tuple(each for each in found if closed or each.state in ("open", "stale", "broken"))

    def ruleset(self, proposal: str) -> Ruleset:
        """What `chess#4` proposes, as a ruleset in a private store in memory, to be asked for moves."""
        from ggn_store.api.ruleset import Ruleset

        return Ruleset(*references.proposed(self._session, proposal))

    def diff(self, proposal: str) -> Diff:
        """What `chess#4` changes in the revision that it is based on."""
        parse_proposal(proposal)
        with self._session.reading() as connection:
            return diff.diff(*references.step(connection, proposal))


def _require_news(connection: Transaction, name: str, head: str | None, number: int, made: Made) -> None:
    """Raise ConflictError where the content is there already, or proposed already."""
    if made.digest == head:
        raise ConflictError(f"there is nothing to propose: {name}@{number} is what the document says")
    for each in proposals.listed(connection, name):
        if each.digest == made.digest and each.state == "open":
            raise ConflictError(f"{each} proposes the same already: see `ggn-store proposal {each}`")


def _require_unjudged(proposal: Proposal) -> None:
    if proposal.state in ("merged", "rejected", "withdrawn"):
        became = "" if proposal.revision is None else f", it is {proposal.name}@{proposal.revision}"
        raise ConflictError(f"{proposal} was {proposal.state} already{became}")


def _require_current(proposal: Proposal) -> None:
    _require_unjudged(proposal)
    if proposal.state == "stale":
        raise _moved_on(proposal, proposal.head)


def _moved_on(proposal: Proposal, head: int | None) -> ConflictError:
    made = "before there was a revision" if proposal.base is None else f"on {proposal.name}@{proposal.base}"
    return ConflictError(
        f"{proposal} was made {made}, and the newest revision is {proposal.name}@{head} now: bring the document up to "
        "date and propose it again"
    )


def _merge(database: Database, connection: Transaction, proposal: Proposal, author: str | None) -> None:
    """Let the head move to what a proposal says, if the policy lets it pass as it is now."""
    name = proposal.name
    after = stored_documents.of_proposal(connection, proposal)
    gates.require_open(states.newest(connection, name))
    before = None if proposal.base_id is None else stored_documents.of_revision(connection, proposal.base_id)
    gates.refuse(name, gates.check(connection, name, before, after), accepted=proposal.accepted)
    made = Made.again(proposal, proposal.author, proposal.message)
    pieces = [piece.id for piece in after.pieces]
    head = load.head_of(connection, name)
    if head.id != proposal.base_id:
        raise _moved_on(proposal, head.number)
    try:
        revision = load.append(database, connection, name, made, pieces, load.Change(base=head.lineage))
    except HeadMovedError:
        raise _moved_on(proposal, load.head_of(connection, name).number) from None
    if not proposals.judge(database, connection, proposal, "merged", author, None, revision.id):
        raise ConflictError(f"somebody else has just said something of {proposal}: look at it again")
