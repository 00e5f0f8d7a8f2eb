"""Reviews: changes that are proposed, judged, and carried out once enough others have approved."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

from ggn_store import collector
from ggn_store.api.loading import conflicts, gates, merging
from ggn_store.api.loading.loading import in_memory, prepare, read_one, stream
from ggn_store.api.loading.wishes import LoadOptions, LoadWishes, ProposeOptions
from ggn_store.api.session import authors, versions
from ggn_store.errors import (
    ConflictError,
    GateError,
    HeadMovedError,
    InputError,
    NotationError,
    UnknownNameError,
    did_you_mean,
    offer,
    printable,
    quote,
)
from ggn_store.model.changes.changes import Diff
from ggn_store.model.changes.merge import noted
from ggn_store.model.documents.document import Document
from ggn_store.model.teams.proposal import (
    Judgement,
    Proposal,
    ProposalReference,
    parse_digest,
    parse_proposal,
)
from ggn_store.model.teams.review import ForeignProposal
from ggn_store.model.teams.revision import Reference, check_name, is_proposal, parse_reference
from ggn_store.model.teams.selection import is_pattern, select
from ggn_store.store.database.engine import Database
from ggn_store.store.database.session import Session
from ggn_store.store.history import diff, states
from ggn_store.store.review import proposals, records, rights
from ggn_store.store.rulesets import catalog, damaged, load, stored_documents
from ggn_store.store.rulesets.load import Made
from ggn_store.store.rulesets.stored_documents import Transaction

if TYPE_CHECKING:
    from ggn_store.api.loading import loading
    from ggn_store.api.ruleset import Ruleset
    from ggn_store.games.rules import Definition


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
            check_name(name)
            return self._propose(name, content, wishes)

    def amend(self, proposal: str, document: loading.Content | None = None, **options: Unpack[LoadOptions]) -> Proposal:
        """Put other content in place of that of one's own proposal `chess#4`: a new round, to be approved anew.

        It is based on the newest revision, so that a stale proposal is brought up to date. `document` may also name an
        old revision, as `chess@3`. The keywords are those of `load`; without a message the one of before is kept. With
        `merge`, the document is by default what was proposed, and based on what that was based on. Raises like
        `propose` and `load`, GateError for who has not made the proposal, and ConflictError where it has ended or says
        the same already.
        """
        to = parse_proposal(proposal)
        if document is None or (options.get("merge") and options.get("base") is None):
            proposed, base = self._proposed(to)
            if options.get("merge") and options.get("base") is None:
                options["base"] = base
            document = proposed if document is None else document
        wishes = LoadWishes(**options)
        if isinstance(document, str) and (old := _old_revision(document)) is not None:
            return self._propose(to, old, wishes)
        with collector.held_off():
            content, _ = read_one(document, to.name, wishes.dialect)
            return self._propose(to, content, wishes)

    def _proposed(self, wanted: ProposalReference) -> tuple[Document, str]:
        """What is proposed, and the number of the revision that it is based on."""
        with self._session.reading() as connection:
            found = proposals.find_whole(connection, wanted)
            content = stored_documents.of_proposal(connection, found)
            return stored_documents.document(connection, content), str(found.base or 0)

    def _propose(
        self, to: str | ProposalReference, content: Document | Definition | Reference, wishes: LoadWishes
    ) -> Proposal:
        """Propose content for a ruleset, or amend a proposal with it, if so wished after a merge with the head."""
        made: Document | load.Ready | Definition | Reference = content
        based = wishes
        while True:
            try:
                return self._propose_on_head(to, made, based)
            except HeadMovedError:
                if not wishes.merge or isinstance(to, str):
                    raise
            made, based = self._merged(to, content, wishes)

    def _merged(
        self, to: ProposalReference, content: Document | Definition | Reference, wishes: LoadWishes
    ) -> tuple[load.Ready, LoadWishes]:
        """The content after a merge with the head, and what is wished of it."""
        given = None if isinstance(content, Reference) else in_memory(content)
        with self._session.reading() as connection:
            if isinstance(content, Reference):
                old = stored_documents.of_revision(connection, catalog.find(connection, content))
                given = stored_documents.document(connection, old)
            base = catalog.base(connection, to.name, wishes.base)
            assert given is not None and not isinstance(base, catalog.Unstated)  # noqa: S101, PT018  (a merge has both)
            message = proposals.find(connection, to).message if wishes.message is None else wishes.message
            found = merging.merge_with_head(connection, to.name, given, base, wishes, message, str(to))
        return found.ready, replace(wishes, base=f"sha256:{found.head.lineage}", message=found.message)

    def _propose_on_head(
        self,
        to: str | ProposalReference,
        content: Document | load.Ready | Definition | Reference,
        wishes: LoadWishes,
    ) -> Proposal:
        name = to if isinstance(to, str) else to.name
        author, message, database = self._author(wishes.author, wishes.message), wishes.message, self._session.database
        kept: Document | load.Ready | load.PieceStream | Reference
        if isinstance(content, Reference):
            kept = content
        else:
            kept = prepare(content) if isinstance(content, Document | load.Ready) else stream(content)
        with self._session.writing() as connection:
            amended = to if isinstance(to, str) else _require_amendable(connection, to, database.role or author)
            if message is None and isinstance(amended, Proposal):
                message = amended.message
            head = load.head_of(connection, name)
            if head.lineage is not None:
                catalog.find(connection, name)  # it is not deleted
            head.require(catalog.base(connection, name, wishes.base), name)
            gates.require_open(states.newest(connection, name))
            if isinstance(kept, Reference):
                made, listed = stored_documents.again(connection, catalog.find(connection, kept), author, message)
            else:
                made, listed = load.keep(database, connection, kept, load.Provenance(author, message))
            return self._add(connection, amended, head, made, listed, accept=wishes.accept_changes)

    def resolve(
        self, file: str | os.PathLike[str], *, message: str | None = None, author: str | None = None
    ) -> Proposal:
        """Propose what an edited conflict file says, in the store that the merge was for; raises like `propose`.

        Where it was a proposal that was being amended, this is its next round.
        """
        made = conflicts.read(file)
        heading = made.heading
        is_amended = heading.command == "amend"
        if made.note is None:
            note = message
        else:
            kept = self.get(heading.name).message if is_amended else None
            note = noted(message or kept or "resolve conflicts", made.note)
        options: ProposeOptions = {"base": f"sha256:{heading.target}", "message": note, "author": author}
        if is_amended:
            return self.amend(heading.name, made.document, **options)
        return self.propose(made.document, heading.to, **options)

    def restore(
        self, reference: str, *, message: str | None = None, author: str | None = None, accept_changes: bool = False
    ) -> Proposal:
        """Propose the content of an old revision as the newest one: what `store.history.restore` does without a review.

        Raises like `propose`, and UnknownNameError for a revision that is not there.
        """
        with self._session.reading() as connection:
            named = catalog.parsed(connection, reference)
        wishes = LoadWishes(message=message, author=author, accept_changes=accept_changes)
        return self._propose(named.name, named, wishes)

    def _add(
        self,
        connection: Transaction,
        to: str | Proposal,
        head: load.Head,
        made: Made,
        listed: list[int],
        *,
        accept: bool,
    ) -> Proposal:
        """Propose what is stored already, where it is news and its policy has nothing against it."""
        name = to if isinstance(to, str) else to.name
        rights.require(self._session.database, connection, name, "proposers", made.author)
        _require_news(connection, to, head, made)
        before = None if head.id is None else stored_documents.of_revision(connection, head.id)
        found = gates.check(connection, name, before, stored_documents.of_pieces(connection, made, listed))
        gates.refuse(name, found, accept=accept)
        accepted = [str(change) for change in found.changes]
        return proposals.add(self._session.database, connection, to, head, gates.signed(made, found), listed, accepted)

    def approve(
        self, proposal: str, *, author: str | None = None, message: str | None = None, digest: str | None = None
    ) -> Proposal:
        """Approve of `chess#4`, which is somebody else's; the head moves once it has all approvals that it needs.

        People are told apart by the user of a Postgres database, in a SQLite file by the author's name. `digest` is
        that of the proposal that was read, or at least its first 16 digits. Raises ConflictError where the proposal has
        another one or the head has moved since it was proposed, GateError where the policy refuses it now, and
        StoreError where this program has not written it so.
        """
        wanted = parse_proposal(proposal)
        read = None if digest is None else parse_digest(digest)
        author = self._author(author, message)
        database = self._session.database
        who = database.role or author
        with self._session.writing() as connection:
            found = proposals.find_whole(connection, wanted)
            if read is not None and not found.digest.startswith(read):
                raise ConflictError(
                    f"{found} has the digest {found.digest}, and the one that was read is {read}: look at it again "
                    f"with `ggn-store proposal {found}`"
                )
            while True:
                _require_unjudged(found)
                if found.state == "stale":
                    raise _moved_on(found, found.head)
                if who == found.who:
                    raise GateError(f"{found} is {who}'s own: somebody else has to approve of it")
                rights.require(database, connection, wanted.name, "approvers", author)
                if who in found.approvals:
                    break
                was_said = proposals.judge(database, connection, found, "approved", author, message)
                found = proposals.find(connection, wanted)
                if was_said:
                    break
            if len(found.approvals) < found.needed:
                return found
            _merge(database, connection, found, author)
            return proposals.find(connection, wanted)

    def reject(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """End the proposal `chess#4`, also one that is broken."""
        return self._end(proposal, "rejected", author, message)

    def withdraw(self, proposal: str, *, author: str | None = None, message: str | None = None) -> Proposal:
        """End the proposal `chess#4`, which is one's own."""
        return self._end(proposal, "withdrawn", author, message)

    def comment(
        self,
        proposal: str,
        message: str,
        *,
        piece: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        author: str | None = None,
    ) -> Proposal:
        """Say something of `chess#4`, or of a piece or an entry of it, that decides nothing; also after its end.

        Raises UnknownNameError where neither the proposal nor its base has the entry, and InputError for no text.
        """
        if not message.strip():
            raise InputError("a comment needs a text")
        entry = {"piece": piece, "source": source, "destination": destination}
        given = [each is not None for each in entry.values()]
        if sorted(given, reverse=True) != given:
            raise InputError("an entry is of a piece, from a source to a destination: name the piece, then the source")
        wanted, author = parse_proposal(proposal), self._author(author, message)
        with self._session.writing() as connection:
            while True:
                found = proposals.find_whole(connection, wanted)
                if piece is not None:
                    _require_entry(connection, found, piece, source, destination)
                if proposals.judge(self._session.database, connection, found, "commented", author, message, **entry):
                    return proposals.find(connection, wanted)

    def _end(self, reference: str, verdict: Judgement, author: str | None, message: str | None) -> Proposal:
        wanted = parse_proposal(reference)
        author = self._author(author, message)
        who = self._session.database.role or author
        with self._session.writing() as connection:
            while True:
                found = proposals.find(connection, wanted)
                _require_unjudged(found)
                if verdict == "withdrawn" and who != found.who:
                    raise GateError(f"{found} is {found.who}'s, not {who}'s: reject it instead")
                if verdict == "rejected":
                    rights.require(self._session.database, connection, wanted.name, "approvers", author)
                if proposals.judge(self._session.database, connection, found, verdict, author, message):
                    return proposals.find(connection, wanted)

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
            return proposals.find_whole(connection, parse_proposal(proposal))

    def rounds(self, proposal: str) -> tuple[Proposal, ...]:
        """All rounds of the proposal `chess#4`, in their order."""
        wanted = parse_proposal(proposal)
        with self._session.reading() as connection:
            proposals.find(connection, wanted)
            found = proposals.listed(connection, wanted.name)
        made = [each for each in found if each.number == wanted.number]
        # Those that others have numbered come last.
        place = {each.id: each.round if damaged.is_up_to(each.round, each.rounds) else each.rounds + 1 for each in made}
        return tuple(sorted(made, key=lambda each: place[each.id]))

    def list(self, *rulesets: str, closed: bool = False) -> tuple[Proposal, ...]:
        """The proposals that wait for approvals, of all rulesets or of some; with `closed`, all that there ever were.

        Rulesets are names, namespaces (`team/`) and globs. Those that this program has not written so are in the state
        `broken`, and `fault` says why.
        """
        with self._session.reading() as connection:
            found = _of(connection, rulesets, proposals.listed)
        shown = ("open", "stale", "broken", *(("rejected", "withdrawn", "merged") if closed else ()))
        return tuple(each for each in found if each.state in shown)

    def elsewhere(self, *rulesets: str) -> tuple[ForeignProposal, ...]:
        """The proposals of other stores, of all rulesets or of some, with what was said of them; the newest first.

        They came in bundles, and nothing of them counts here. Rulesets are names, namespaces (`team/`) and globs;
        `chess#4` is whatever other stores call so.
        """
        with self._session.reading() as connection:
            if len(rulesets) == 1 and is_proposal(rulesets[0]):
                wanted = parse_proposal(rulesets[0])
                found = records.foreign(connection, wanted.name)
                return tuple(each for each in found if each.has(wanted))
            return tuple(_of(connection, rulesets, records.foreign))

    def ruleset(self, proposal: str) -> Ruleset:
        """What `chess#4` proposes, as a ruleset in a private store in memory, to be asked for moves."""
        from ggn_store.api.ruleset import Ruleset

        return Ruleset(*versions.proposed(self._session, proposal))

    def diff(self, proposal: str) -> Diff:
        """What `chess#4` changes in the revision that it is based on."""
        parse_proposal(proposal)
        with self._session.reading() as connection:
            return diff.diff(*versions.step(connection, proposal))


_Found = TypeVar("_Found", Proposal, ForeignProposal)


def _of(
    connection: Transaction,
    rulesets: tuple[str, ...],
    listed: Callable[[Transaction, str | None], Sequence[_Found]],
) -> Sequence[_Found]:
    """What `listed` finds of these rulesets, of all for none."""
    found = listed(connection, rulesets[0] if len(rulesets) == 1 and not is_pattern(rulesets[0]) else None)
    if not rulesets:
        return found
    named: set[str] = {each.name for each in found}
    wanted = {*select(rulesets, named | catalog.names(connection))}
    for name in wanted - named:
        catalog.find(connection, check_name(name))
    return [each for each in found if each.name in wanted]


def _old_revision(text: str) -> Reference | None:
    """The old revision that a text names; None where it is the path of a file."""
    try:
        found = parse_reference(text)
    except NotationError:
        return None
    return None if found.is_newest or Path(text).exists() else found


def _require_news(connection: Transaction, to: str | Proposal, head: load.Head, made: Made) -> None:
    """Raise ConflictError where the content is there already, or proposed already."""
    name = to if isinstance(to, str) else to.name
    if made.digest == head.digest:
        raise ConflictError(f"there is nothing to propose: {name}@{head.number} is what the document says")
    for each in proposals.listed(connection, name):
        if each.digest == made.digest and each.state == "open":
            raise ConflictError(f"{each} proposes the same already: see `ggn-store proposal {each}`")


def _require_amendable(connection: Transaction, wanted: ProposalReference, who: str | None) -> Proposal:
    """The newest round of a proposal that this person may amend."""
    found = proposals.find_whole(connection, wanted)
    if _became(found) is not None:
        raise ConflictError(f"{found} {_became(found)}: propose the document anew")
    _require_unjudged(found)
    if who != found.who:
        raise GateError(f"{found} is {found.who}'s, not {who}'s: comment on it, or propose the document yourself")
    return found


def _require_entry(
    connection: Transaction, proposal: Proposal, piece: str, source: str | None, destination: str | None
) -> None:
    """Raise UnknownNameError unless a proposal or its base has a piece, which goes from there to there."""
    contents = [stored_documents.of_proposal(connection, proposal)]
    if proposal.base_id is not None:
        contents.append(stored_documents.of_revision(connection, proposal.base_id))
    names = {each.identifier for content in contents for each in content.pieces}
    _require_known(proposal, "piece", piece, names)
    if source is None:
        return
    found: dict[str, set[str]] = {}
    for content in contents:
        others = {each.id for each in content.pieces if each.identifier != piece}
        for each in stored_documents.read_pieces(connection, content, others):
            for of in each.sources:
                found.setdefault(of.square, set()).update(to.square for to in of.destinations)
    _require_known(proposal, f"entry of {printable(piece)} from", source, found)
    if destination is not None:
        place = f"entry of {printable(piece)} from {printable(source)} to"
        _require_known(proposal, place, destination, found[source])


def _require_known(proposal: Proposal, what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        near = did_you_mean(name, sorted(known)) or f": there are {offer(sorted(known))}"
        raise UnknownNameError(f"neither {proposal} nor its base has the {what} {quote(name)}{near}")


def _became(proposal: Proposal) -> str | None:
    """What has ended a proposal."""
    if proposal.state not in ("merged", "rejected", "withdrawn"):
        return None
    became = "" if proposal.revision is None else f", it is {proposal.name}@{proposal.revision}"
    return f"was {proposal.state} already{became}"


def _require_unjudged(proposal: Proposal) -> None:
    if (became := _became(proposal)) is not None:
        raise ConflictError(f"{proposal} {became}")
    if proposal.state == "amended":
        newest = f"{proposal.name}#{proposal.number}"
        raise ConflictError(
            f"{proposal} was amended: its newest round is {newest}.{proposal.rounds}, see `ggn-store proposal {newest}`"
        )


def _moved_on(proposal: Proposal, head: int | None) -> ConflictError:
    made = "before there was a revision" if proposal.base is None else f"on {proposal.name}@{proposal.base}"
    return ConflictError(
        f"{proposal} was made {made}, and the newest revision is {proposal.name}@{head} now: {proposal.who} can "
        f"bring it up to date, with `ggn-store amend {proposal} FILE`, or --merge in place of FILE"
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
        revision = load.append(database, connection, name, made, pieces, load.Provenance(base=head.lineage))
    except HeadMovedError:
        raise _moved_on(proposal, load.head_of(connection, name).number) from None
    if not proposals.judge(database, connection, proposal, "merged", author, None, revision_id=revision.id):
        raise ConflictError(f"somebody else has just said something of {proposal}: look at it again")
