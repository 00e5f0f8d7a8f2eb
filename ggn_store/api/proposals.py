"""Proposals: made, judged, and carried out once enough others have approved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ggn_store.api import authors, gates
from ggn_store.api.loading import prepare
from ggn_store.api.store import PRIVATE_NAME, Store
from ggn_store.errors import ConflictError, GateError, HeadMovedError
from ggn_store.model.diff import NOTHING, Outline, diff_pieces
from ggn_store.model.difference import Difference
from ggn_store.model.document import Document, Piece
from ggn_store.model.proposal import Judgement, Proposal, parse_digest, parse_proposal
from ggn_store.model.revision import check_name
from ggn_store.store.database.engine import Database
from ggn_store.store.database.session import Session
from ggn_store.store.history import states
from ggn_store.store.review import proposals
from ggn_store.store.rulesets import catalog, contents, load
from ggn_store.store.rulesets.contents import Content, Transaction
from ggn_store.store.rulesets.load import Made

if TYPE_CHECKING:
    from ggn_store.api.ruleset import Ruleset
    from ggn_store.games.rules import Definition


def propose(
    database: Database,
    tables: Session,
    content: Document | Definition,
    name: str,
    author: str | None,
    message: str | None,
    base: str | None,
    accept_changes: bool,
    tell: Callable[[Piece], None] = lambda _: None,
) -> Proposal:
    """Keep a document as what the next revision of a ruleset is to be."""
    author = _named(database, authors.signed(database, author, message))
    check_name(name)
    if isinstance(content, Document):
        prepare(content)
    with tables.writing() as connection:
        head = load.head_of(connection, name)
        head.require(catalog.base(connection, name, base), name)
        gates.require_open(states.newest(connection, name))
        made, listed = _keep(database, connection, content, author, message, tell)
        _require_news(connection, name, head.digest, head.number, made)
        before = None if head.id is None else contents.of_revision(connection, head.id)
        found = gates.check(connection, name, before, contents.of_pieces(connection, made, listed))
        gates.refuse(name, found, accept=accept_changes)
        accepted = [str(change) for change in found.changes]
        return proposals.add(database, connection, name, head, gates.signed(made, found), listed, accepted)


def _keep(
    database: Database,
    connection: Transaction,
    content: Document | Definition,
    author: str | None,
    message: str | None,
    tell: Callable[[Piece], None],
) -> tuple[Made, list[int]]:
    if isinstance(content, Document):
        return load.keep(database, connection, content, author=author, message=message)
    from ggn_store.api import games

    return load.keep_pieces(
        database,
        connection,
        games.some_pieces(content, tell),
        dialect=games.DIALECT,
        board=games.board_of(content),
        envelope=content.envelope,
        author=author,
        message=message,
    )


def _require_news(connection: Transaction, name: str, head: str | None, number: int, made: Made) -> None:
    """Raise ConflictError where the content is there already, or proposed already."""
    if made.digest == head:
        raise ConflictError(f"there is nothing to propose: {name}@{number} is what the document says")
    for each in proposals.listed(connection, name):
        if each.digest == made.digest and each.state == "open":
            raise ConflictError(f"{each} proposes the same already: see `ggn-store proposal {each}`")


def approve(
    database: Database, tables: Session, reference: str, author: str | None, message: str | None, digest: str | None
) -> Proposal:
    """Approve of a proposal of somebody else's; with the last approval that it needs, the head moves."""
    name, number = parse_proposal(reference)
    read = None if digest is None else parse_digest(digest)
    author = _named(database, authors.signed(database, author, message))
    who = database.role or author
    with tables.writing() as connection:
        proposal = proposals.find_whole(connection, name, number)
        if read is not None and not proposal.digest.startswith(read):
            raise ConflictError(
                f"{proposal} has the digest {proposal.digest}, and the one that was read is {read}: look at it again "
                f"with `ggn-store proposal {proposal}`"
            )
        while True:
            _require_current(proposal)
            if who == proposal.who:
                raise GateError(f"{proposal} is {who}'s own: somebody else has to approve of it")
            if who in proposal.approvals:
                break
            was_said = proposals.judge(database, connection, proposal, "approved", author, message)
            proposal = proposals.find(connection, name, number)
            if was_said:
                break
        if len(proposal.approvals) < proposal.needed:
            return proposal
        _merge(database, connection, proposal, author)
        return proposals.find(connection, name, number)


def reject(database: Database, tables: Session, reference: str, author: str | None, message: str | None) -> Proposal:
    """End a proposal."""
    return _end(database, tables, reference, "rejected", author, message)


def withdraw(database: Database, tables: Session, reference: str, author: str | None, message: str | None) -> Proposal:
    """End a proposal of one's own."""
    return _end(database, tables, reference, "withdrawn", author, message)


def _end(
    database: Database, tables: Session, reference: str, verdict: Judgement, author: str | None, message: str | None
) -> Proposal:
    name, number = parse_proposal(reference)
    author = _named(database, authors.signed(database, author, message))
    who = database.role or author
    with tables.writing() as connection:
        while True:
            proposal = proposals.find(connection, name, number)
            _require_unjudged(proposal)
            if verdict == "withdrawn" and who != proposal.who:
                raise GateError(f"{proposal} is {proposal.who}'s, not {who}'s: reject it instead")
            if proposals.judge(database, connection, proposal, verdict, author, message):
                return proposals.find(connection, name, number)


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
    after = contents.of_proposal(connection, proposal)
    gates.require_open(states.newest(connection, name))
    before = None if proposal.base_id is None else contents.of_revision(connection, proposal.base_id)
    gates.refuse(name, gates.check(connection, name, before, after), accepted=proposal.accepted)
    made = Made(
        proposal.dialect,
        proposal.board_id,
        proposal.envelope,
        proposal.digest,
        proposal.author,
        proposal.message,
        datetime.now(UTC),
    )
    pieces = [piece.id for piece in after.pieces]
    head = load.head_of(connection, name)
    if head.id != proposal.base_id:
        raise _moved_on(proposal, head.number)
    try:
        revision = load.append(database, connection, name, made, pieces, base=head.lineage)
    except HeadMovedError:
        raise _moved_on(proposal, load.head_of(connection, name).number) from None
    if not proposals.judge(database, connection, proposal, "merged", author, None, revision.id):
        raise ConflictError(f"somebody else has just said something of {proposal}: look at it again")


def _named(database: Database, author: str | None) -> str | None:
    if database.role is None and author is None:
        raise GateError("a review is among people with names: say who you are with --author, $GGN_AUTHOR or git config")
    return author


# --- looking at them ---


def find(tables: Session, reference: str) -> Proposal:
    """The proposal that `chess#4` names; raises StoreError for one that is broken."""
    name, number = parse_proposal(reference)
    with tables.reading() as connection:
        return proposals.find_whole(connection, name, number)


def listed(tables: Session, name: str | None, *, closed: bool) -> tuple[Proposal, ...]:
    """The proposals of all rulesets or of one, the newest first; with `closed`, those too that nobody waits for."""
    if name is not None:
        check_name(name)
    with tables.reading() as connection:
        if name is not None and not proposals.listed(connection, name):
            catalog.find(connection, name)
        found = proposals.listed(connection, name)
    return tuple(each for each in found if closed or each.state in ("open", "stale", "broken"))


def document(tables: Session, reference: str) -> Document:
    """The document that is proposed."""
    name, number = parse_proposal(reference)
    with tables.reading() as connection:
        proposal = proposals.find_whole(connection, name, number)
        return contents.document(connection, contents.of_proposal(connection, proposal))


def ruleset(tables: Session, reference: str) -> Ruleset:
    """The proposed document as a ruleset in a private store in memory, to be asked for moves."""
    name, number = parse_proposal(reference)
    private = Store.open("sqlite://")
    private.load(document(tables, reference), PRIVATE_NAME)
    found = private.ruleset(PRIVATE_NAME)
    found.revision = replace(found.revision, name=f"{name}#{number}")
    return found


def difference(tables: Session, reference: str) -> Difference:
    """What a proposal changes in its base."""
    name, number = parse_proposal(reference)
    with tables.reading() as connection:
        proposal = proposals.find_whole(connection, name, number)
        after = contents.of_proposal(connection, proposal)
        before = None if proposal.base_id is None else contents.of_revision(connection, proposal.base_id)
        old = {} if before is None else _pieces(connection, before, after)
        new = _pieces(connection, after, before)
    pairs = ((old.get(piece), new.get(piece)) for piece in {**old, **new})
    return diff_pieces(NOTHING if before is None else _outline(before), _outline(after), pairs)


def _pieces(connection: Transaction, content: Content, other: Content | None) -> dict[str, Piece]:
    """The pieces of a document that another does not have just so."""
    known = set() if other is None else {piece.id for piece in other.pieces}
    return {piece.identifier: piece for piece in contents.read_pieces(connection, content, known)}


def _outline(content: Content) -> Outline:
    return Outline(content.dialect, content.envelope, tuple(piece.identifier for piece in content.pieces))
