"""What a proposal proposes, as a revision in a store of its own in memory; and what is to be compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ggn_store import collector
from ggn_store.api.session import opening
from ggn_store.model.documents.document import Document
from ggn_store.model.teams.proposal import Proposal, parse_proposal
from ggn_store.model.teams.revision import Reference, Revision, is_proposal, lineage
from ggn_store.store.database.session import Session
from ggn_store.store.rulesets import catalog, load, stored_documents
from ggn_store.store.rulesets.stored_documents import Transaction

if TYPE_CHECKING:
    from ggn_store.store.history.diff import Version


def proposed(
    session: Session,
    reference: str,
    memory: Session | None = None,
    only: Mapping[str, Collection[str]] | None = None,
) -> tuple[Session, Revision]:
    """What a proposal proposes, as the only revision of a ruleset of the proposal's name in a store in memory.

    With `only`, it has these of its pieces, each with these sources where there are any, and no others, whose rules
    are not read. Raises UnknownNameError where there is none, and StoreError where it is broken.
    """
    from ggn_store.store.history.diff import StoredVersion

    with session.reading() as connection:
        found, _ = read_proposal(connection, reference)
        stored = stored_documents.of_proposal(connection, found)
        if only is not None:
            listed = tuple(each for each in stored.pieces if each.identifier in only)
            stored = replace(stored, pieces=listed, digest=None)
        if only is not None and any(only.values()):
            version = StoredVersion(connection, stored)
            parts = (version.part(each.identifier, only[each.identifier]) for each in stored.pieces)
            document = Document(stored.dialect, tuple(each for each in parts if each and each.sources), stored.envelope)
        else:
            document = stored_documents.document(connection, stored)
        revision, _ = as_revision(connection, reference)
    memory, inside = in_memory(document, reference, load.Provenance(found.author, found.message), memory)
    return memory, replace(revision, id=inside.id, board_id=inside.board_id, digest=inside.digest)


def in_memory(
    document: Document, name: str, change: load.Provenance = load.NOTHING_SAID, memory: Session | None = None
) -> tuple[Session, Revision]:
    """A document as the only revision of a ruleset in a store in memory, which lives as long as its session."""
    memory = memory or opening.memory()
    with collector.held_off(), memory.writing() as connection:
        made, listed = load.keep(memory.database, connection, document, change)
        return memory, load.append(memory.database, connection, name, made, listed)


def read_proposal(connection: Transaction, reference: str) -> tuple[Proposal, Revision | None]:
    """A proposal, which is whole, and the revision that it is to follow, if any."""
    from ggn_store.store.review import proposals

    found = proposals.find_whole(connection, parse_proposal(reference))
    return found, None if found.base_id is None else catalog.read_revision(connection, found.base_id)


def as_revision(connection: Transaction, reference: str) -> tuple[Revision, Revision | None]:
    """What a proposal would be as a revision, by the proposal's name; and the one that it is to follow, if any."""
    found, base = read_proposal(connection, reference)
    board = catalog.read_board(connection, found.board_id)
    said = found.author, found.message, found.created_at or datetime.now(UTC)
    history = lineage(None if base is None else base.lineage, None, found.digest, *said)
    of_content = found.digest, found.dialect, found.board_id, board.shape_text, found.envelope
    return Revision(found.id, reference, 1, *of_content, *said, history, found.base, None), base


def version(connection: Transaction, content: str | Document) -> Version:
    """A document, or what a reference names, to be compared."""
    from ggn_store.store.history.diff import GivenVersion

    return GivenVersion(content) if isinstance(content, Document) else step(connection, content)[1]


def step(connection: Transaction, reference: str) -> tuple[Version, Version]:
    """What a revision was made of, which is its parent, or a proposal, which is its base; and what it is."""
    from ggn_store.store.history.diff import GivenVersion, StoredVersion

    if is_proposal(reference):
        found, before = read_proposal(connection, reference)
        stored = stored_documents.of_proposal(connection, found)
    else:
        revision = catalog.find(connection, reference)
        parent = revision.parent
        before = None if parent is None else catalog.find(connection, Reference(revision.name, parent))
        stored = stored_documents.of_revision(connection, revision)
    base = None if before is None else stored_documents.of_revision(connection, before)
    return GivenVersion() if base is None else StoredVersion(connection, base), StoredVersion(connection, stored)
