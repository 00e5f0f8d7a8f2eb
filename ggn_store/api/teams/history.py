"""Histories in Python's words: told, contents compared, an old one brought back."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice

from ggn_store import collector
from ggn_store.api.handle import Handle
from ggn_store.api.loading import gates
from ggn_store.api.session import authors, references, versions
from ggn_store.errors import InputError, UnknownNameError, offer, quote
from ggn_store.model.changes.changes import Diff
from ggn_store.model.documents.document import Document
from ggn_store.model.pictures.picture import ChangedMoves
from ggn_store.model.teams.history import Blame, LogEntry
from ggn_store.model.teams.revision import Reference, Revision, is_proposal
from ggn_store.model.teams.selection import check_number
from ggn_store.store.database.session import Session
from ggn_store.store.history import blame, diff, log
from ggn_store.store.history.diff import Version
from ggn_store.store.rulesets import catalog, load, stored_documents
from ggn_store.store.rulesets.stored_documents import Transaction


@dataclass(frozen=True, slots=True)
class History:
    """`store.history`: what became of rulesets, and when."""

    _session: Session

    def log(self, references: str | Iterable[str], limit: int | None = None) -> tuple[LogEntry, ...]:
        """The revision that `chess`, `chess@3`, ... names and those before it, newest first, no more than `limit`.

        Of several references, namespaces (`team/`) and globs, all together by their time.
        """
        asked = [references] if isinstance(references, str) else references
        check_number(limit)
        with self._session.reading() as connection:
            wanted = catalog.selected(connection, asked)
            if limit is not None and limit < len(wanted):
                wanted = log.newest_of(connection, wanted, limit)
            logs = [self._log(connection, each, limit) for each in wanted]
        return tuple(islice(merge(*logs, key=lambda entry: entry.revision.created_at, reverse=True), limit))

    def _log(self, connection: Transaction, reference: str, limit: int | None) -> tuple[LogEntry, ...]:
        if not is_proposal(reference):
            return tuple(log.log(connection, reference, limit))
        revision, base = versions.as_revision(connection, reference)
        old, new = versions.step(connection, reference)
        proposed = LogEntry(revision, (), log.changes(revision, base, new.digests, old.digests))
        more = None if limit is None else limit - 1
        return proposed, *(() if base is None else log.log(connection, str(base), more))

    def diff(
        self,
        before: str | Document,
        after: str | Document | None = None,
        piece: str | None = None,
        sources: Collection[str] = (),
    ) -> Diff:
        """What turns one revision or document into another; of one alone, what it changed against its parent.

        A proposal is compared with the revision that it is based on. Pieces that both have are not read. With `piece`,
        only that piece is compared; with `sources`, too, only what it can do from these squares (`*`: the hand).
        """
        if sources and piece is None:
            raise InputError("sources are those of a piece: say which piece is compared")
        with self._session.reading() as connection:
            one, other = _compared(connection, before, after, piece)
            if piece is not None and sources:
                there = [*dict.fromkeys((*one.sources(piece), *other.sources(piece)))]
                if unknown := [each for each in sources if each not in there]:
                    raise UnknownNameError(
                        f"{piece} has no rules from {offer(unknown)}; it has some from {offer(there)}"
                    )
            return diff.diff(one, other, piece, sources)

    def differing_sources(
        self, before: str | Document, after: str | Document | None, piece: str
    ) -> dict[str, tuple[int, int]]:
        """The squares from which a piece can do something else, each with its possibilities before and after.

        No possibility is read, however many there are. Where nothing tells what differs, all sources are there.
        """
        with self._session.reading() as connection:
            return diff.differing(*_compared(connection, before, after, piece), piece)

    def outline(
        self, before: str | Document, after: str | Document | None = None
    ) -> tuple[Diff, dict[str, tuple[int, int]]]:
        """What `diff` tells, as far as it is known without a piece being read, however large the pieces are.

        That is the fields that differ, and of each piece that does, how many possibilities it has before and after.
        """
        with self._session.reading() as connection:
            return diff.outlined(*_compared(connection, before, after))

    def draw(
        self, directory: str | os.PathLike[str], before: str | Document, after: str | Document | None = None
    ) -> int:
        """Write pictures of what `diff` tells into a new directory, boards before and after; how many there are.

        A picture for each piece that changed, from the source where most did, and a page, index.html, that shows them.
        """
        from ggn_store.api.teams import changed_pictures

        difference = self.diff(before, after)
        return changed_pictures.write(directory, *self._sides(before, after, difference), difference)

    def pictures(
        self,
        difference: Diff,
        before: str | Document,
        after: str | Document | None = None,
        sources: Collection[str] = (),
    ) -> Iterator[ChangedMoves]:
        """The pictures that `draw` draws, as values, one by one, of what `diff` told; of `sources`, as it was."""
        from ggn_store.api.teams import changed_pictures

        sides = self._sides(before, after, difference, sources)
        return changed_pictures.changed(*sides, difference, alone=bool(sources))

    def _sides(
        self, before: str | Document, after: str | Document | None, difference: Diff, sources: Collection[str] = ()
    ) -> tuple[Handle | None, Handle]:
        """What is before, and what is after; of proposals, the pieces that differ, or `sources` of these."""
        sides: list[str | Document | None] = [before, after]
        if after is None:
            revision = self.log(str(before), 1)[0].revision
            name, _, _ = revision.name.partition("#")
            sides = [None if revision.parent is None else f"{name}@{revision.parent}", before]
        only = dict.fromkeys((each.piece for each in difference.pieces), sources)
        old, new = (self._handle(each, only) for each in sides)
        if new is None:
            raise InputError("there is nothing to draw")
        return old, new

    def _handle(self, content: str | Document | None, only: Mapping[str, Collection[str]]) -> Handle | None:
        if isinstance(content, Document):
            return Handle(*versions.in_memory(content, content.envelope.title or "document"))
        return None if content is None else Handle(*references.find(self._session, content, only))

    def blame(
        self, reference: str, piece: str | None = None, source: str | None = None, destination: str | None = None
    ) -> tuple[Blame, ...]:
        """Which revision gave each entry, and each field such as the title, the value that it has.

        Only of one piece, source or destination, where they are given; then without the fields.
        """
        if is_proposal(reference):
            return tuple(self._blame_of_proposal(reference, piece, source, destination))
        with collector.held_off(), self._session.reading() as connection:
            return tuple(blame.blame(self._session.database, connection, reference, piece, source, destination))

    def _blame_of_proposal(self, reference: str, *place: str | None) -> Iterator[Blame]:
        """What a proposal changes is its own, all else as in its base."""
        memory, revision = versions.proposed(self._session, reference)
        found: Sequence[Blame] = ()
        with collector.held_off(), self._session.reading() as connection:
            _, base = versions.read_proposal(connection, reference)
            changed = diff.diff(*versions.step(connection, reference))
            with suppress(UnknownNameError):  # of what is new
                found = () if base is None else blame.blame(self._session.database, connection, str(base), *place)
        own: set[tuple[str | None, ...]] = {
            (None, piece, source, entry.destination) for piece, source, entry in changed.entries()
        }
        own |= {(field.name, None, None, None) for field in changed.fields}
        old = {key: each for each in found if (key := _key(each)) not in own}
        with collector.held_off(), memory.reading() as connection:
            for each in blame.blame(memory.database, connection, Reference(revision.name), *place):
                yield old.get(_key(each), replace(each, revision=revision))

    def restore(self, reference: str, *, message: str | None = None, author: str | None = None) -> Revision:
        """Make the content of an old revision the newest one again; bring a ruleset back that was deleted.

        Raises GateError where that has to be reviewed: see `store.reviews.restore`.
        """
        author = authors.signed(self._session.database, author, message)
        with self._session.writing() as connection:
            named = catalog.parsed(connection, reference)
            was_hidden = catalog.show(self._session.database, connection, named.name)
            revision = catalog.find(connection, named)
            # Only the list of its pieces is written.
            made, keys = stored_documents.again(connection, revision, author, message)
            change = load.Provenance(gate=gates.gate(self._session.database))
            restored = load.append(self._session.database, connection, revision.name, made, keys, change)
        return replace(restored, status="restored") if was_hidden and restored.status == "unchanged" else restored


def _compared(
    connection: Transaction, before: str | Document, after: str | Document | None, piece: str | None = None
) -> tuple[Version, Version]:
    """What is before and after; raises InputError for a document alone, UnknownNameError for a piece of neither."""
    if after is not None:
        one, other = versions.version(connection, before), versions.version(connection, after)
    elif isinstance(before, Document):
        raise InputError("a document has no parent: give two contents to compare")
    else:
        one, other = versions.step(connection, before)
    if piece is not None and piece not in one.digests and piece not in other.digests:
        pieces = list(dict.fromkeys((*one.digests, *other.digests)))
        raise UnknownNameError(f"neither side has rules for the piece {quote(piece)}; there is {offer(pieces)}")
    return one, other


def _key(blamed: Blame) -> tuple[str | None, ...]:
    return blamed.field, blamed.piece, blamed.source, blamed.destination
