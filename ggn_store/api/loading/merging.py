"""Changes of two sides since a base, made into one: for a load or a push whose base is not the newest any more."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

from ggn_store.api.loading import conflicts, sources
from ggn_store.api.loading.wishes import LoadWishes
from ggn_store.errors import HeadMovedError
from ggn_store.model.changes.merge import NOTE, Apart, Conflict, Merge, Preference, noted, places
from ggn_store.model.documents.document import Document, Piece, check_dialect, revision_digest
from ggn_store.model.teams.revision import Revision
from ggn_store.store.database.session import Session
from ggn_store.store.history.diff import GivenVersion, StoredVersion, Version
from ggn_store.store.rulesets import catalog, load, stored_documents
from ggn_store.store.rulesets.load import Ready


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of a merge, and the document of it as a store takes it; None where there are conflicts."""

    merge: Merge
    ready: Ready | None


@dataclass(frozen=True, slots=True)
class OnHead:
    """What follows the newest revision, `head`, after a merge with it, and what its message says."""

    ready: Ready
    head: Revision
    message: str
    decided: tuple[Conflict, ...]


def merge_sides(base: Version, ours: Version, theirs: Version, prefer: Preference = None) -> Merged:
    """Merge two sides, of which pieces that neither has changed are not read.

    Base and theirs are of the store that takes the result, ours may come from another. In what is ready, pieces that
    were not read have no rows: it is for a store that has all that theirs lists.
    """
    # What is generated anew is compared with all that is there.
    envelopes = (side.outline.envelope for side in (base, ours, theirs))
    unread = set() if sources.are_merged(*envelopes) else _untouched(base, ours, theirs)
    start = None if base.outline.dialect is None else _document(base, unread)
    found = sources.merge(start, _document(ours, unread), _document(theirs, unread), prefer=prefer)
    if found.document is None:
        return Merged(found, None)
    ready = load.ready(found.document)
    digests = tuple(
        theirs.digests[flat.identifier] if flat.identifier in unread else digest
        for flat, digest in zip(ready.pieces, ready.piece_digests, strict=True)
    )
    digest = revision_digest(ready.dialect, ready.board, ready.envelope, digests)
    return Merged(found, replace(ready, piece_digests=digests, digest=digest))


def _untouched(base: Version, ours: Version, theirs: Version) -> set[str]:
    """The pieces that neither side has changed; none where a board was not declared, and is around all squares of all.

    Where the sides have different boards, all pieces have different digests.
    """
    if None in {side.outline.envelope.board for side in (base, ours, theirs)}:
        return set()
    return {
        piece
        for piece, digest in theirs.digests.items()
        if digest == base.digests.get(piece) == ours.digests.get(piece)
    }


def _document(side: Version, unread: set[str]) -> Document:
    """The document of a side, with nothing but their names of the pieces that are not to be read."""
    pieces = (Piece(each, ()) if each in unread else side.piece(each) for each in side.digests)
    dialect = check_dialect(str(side.outline.dialect))
    return Document(dialect, tuple(piece for piece in pieces if piece is not None), side.outline.envelope)


def merge_into(
    session: Session, name: str, ours: Document, base: str | None, wishes: LoadWishes, change: load.Provenance
) -> Revision:
    """Store a document that is based on a revision (its lineage, None for none) which is not the newest any more.

    What both sides changed since then is merged and follows the newest revision, whichever that is by then. Raises
    like `merge_with_head`.
    """
    database = session.database
    is_alone = False
    while True:
        try:
            with ExitStack() as stack:
                connection = stack.enter_context(session.writing() if is_alone else session.reading())
                if is_alone:
                    database.lock_pieces(connection, alone=True)
                found = merge_with_head(connection, name, ours, base, wishes, change.message)
                if not is_alone:
                    stack.close()
                    connection = stack.enter_context(session.writing())
                made = replace(change, message=found.message, base=found.head.lineage)
                stored = load.load(database, connection, found.ready, name, made)
        except HeadMovedError as error:
            if error.merge is not None:
                raise
            # Somebody was faster. Once more, and now others wait: who merges could else be overtaken for ever.
            is_alone = True
            continue
        if stored.status != "new":
            return stored
        return replace(stored, status="merged", decided=found.decided)


def merge_with_head(
    connection: stored_documents.Transaction,
    name: str,
    ours: Document,
    base: str | None,
    wishes: LoadWishes,
    message: str | None,
    proposal: str | None = None,
) -> OnHead:
    """Merge a document that is based on a revision (its lineage, None for none) with the newest one.

    It may be of a `proposal`. Raises HeadMovedError, with all changes as its `merge`, where they conflict, which are
    kept in a file if so wished, and where no merge is wished.
    """
    given = GivenVersion(ours)
    head = catalog.find(connection, name)
    basis = None if base is None else catalog.find(connection, f"{name}@sha256:{base}")
    before = GivenVersion() if basis is None else _version(connection, basis)
    merged = merge_sides(before, given, _version(connection, head), wishes.prefer)
    if merged.ready is not None and wishes.merge:
        return OnHead(merged.ready, head, told(message, head, basis, merged.merge.note), merged.merge.decided)
    why = _moved(basis, head, merged, wishes)
    if wishes.conflicts is None:
        raise HeadMovedError(why, merged.merge)
    called = "what is loaded" if proposal is None else "what is proposed"
    apart = _apart((before, given, _version(connection, head)), called, basis, head)
    error = HeadMovedError(why, merged.merge, apart)
    command: conflicts.Command = "load" if proposal is None else "amend"
    raise conflicts.keep(error, wishes.conflicts, command, proposal or name, name)


def told(message: str | None, head: Revision, basis: Revision | None, note: str | None) -> str:
    """The message of a merge with the newest revision, with what there is to say of it."""
    made = f"merged with {head}, based on {'no revision' if basis is None else basis}"
    made = made if note is None else noted(made, note)
    return made if message is None else f"{message}\n\n{made}"


def _version(connection: stored_documents.Transaction, revision: Revision) -> Version:
    return StoredVersion(connection, stored_documents.of_revision(connection, revision))


def _apart(sides: tuple[Version, Version, Version], called: str, basis: Revision | None, head: Revision) -> Apart:
    base, ours, theirs = sides
    start = None if basis is None else _document(base, set())
    names = ("nothing" if basis is None else str(basis), called, str(head))
    lineages = (None if basis is None else basis.lineage, None, head.lineage)
    return Apart((start, _document(ours, set()), _document(theirs, set())), names, lineages)


def _moved(basis: Revision | None, head: Revision, merged: Merged, wishes: LoadWishes) -> str:
    """That the newest revision is another one, and what came of a merge."""
    if basis is None:
        first = f"{head.name} is there already: its newest revision is {head}, and this was to be the first"
    else:
        first = f"{head.name} has moved on: its newest revision is {head}, and this is based on {basis}"
    found = merged.merge
    lines = [f"{first}; nothing is stored", f"ours: {found.ours}", f"theirs ({head}): {found.theirs}"]
    if found.conflicts:
        lines.append(f"{places(found.conflicts)}; base the document on {head} and decide there")
        if wishes.merge:
            lines[-1] += ", or decide with --ours or --theirs"
            lines[-1] += ", or in a file: --conflicts FILE" if wishes.conflicts is None else ""
    elif merged.ready is not None and merged.ready.digest == head.digest:
        lines.append(f"{head} has all of that already: there is nothing to load")
    else:
        lines.append("the two changed different things: --merge (in Python merge=True) makes one revision of them")
        lines += [f"{NOTE}{found.note}"] if found.note is not None else []
    return "\n".join(lines)
