"""Two histories of a ruleset that have gone apart: what becomes of both, or why nothing does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from ggn_store.errors import counted, printable
from ggn_store.model.changes.diff import diff
from ggn_store.model.changes.merge import Apart, Conflict, Merge, decided_for
from ggn_store.model.documents.document import Document, Piece
from ggn_store.model.teams.ancestry import Relation, Step
from ggn_store.model.teams.transfer import DivergedError, TransferWishes
from ggn_store.store.exchange.here import Here
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import read_piece

_SHORT: Final = 12

# Equal contents unite by themselves.
_CURE: Final = "nothing was stored: --ours or --theirs decides"
_CROSSED: Final = "each side had it when the other one was merged"
_FILE: Final = ", --conflicts FILE writes {} to a file, to be edited"


def united(here: Here, relation: Relation) -> str | None:
    """The content of two histories together, where one of the heads has it all; None where neither has."""
    ours, coming = here.head.digest, relation.missing[-1].digest
    bases = {step.digest for step in relation.bases}
    if ours == coming or bases == {ours}:
        return coming
    return ours if bases == {coming} else None


@dataclass(frozen=True, slots=True)
class Uniting:
    """The two histories of a ruleset, that which is here and that which comes."""

    _connection: Connection
    _here: Here
    _relation: Relation
    _wishes: TransferWishes

    def merged(self, keys: Mapping[str, int]) -> tuple[Document, Merge]:
        """The document that has what both sides changed, and the merge; raises DivergedError without one."""
        here, coming = self._here.head, self._relation.missing[-1]
        documents = _Documents(self._connection)
        own, other = (coming, here) if self._wishes.is_push else (here, coming)
        ours, theirs = documents.read(keys[own.lineage]), documents.read(keys[other.lineage])
        bases: list[Document | None] = [documents.read(keys[step.lineage]) for step in self._relation.bases]
        merges = [self._wishes.merging(base, ours, theirs) for base in bases or [None]]
        made = merges[0]
        if self._wishes.resolution is not None:
            resolved = self._wishes.resolution
            return resolved.document, replace(made, document=resolved.document, note=resolved.note)
        if not self._wishes.merge:
            if all(each.document is not None for each in merges):
                made = replace(made, conflicts=self._together(merges, ours, theirs)[1])
            raise DivergedError(self._apart(made), made)
        for base, each in zip(bases or [None], merges, strict=True):
            if each.document is None:
                them = "it" if len(each.conflicts) == 1 else "them"
                said = f"{_conflicts(each.conflicts)} between the two histories; {_CURE} {them}"
                said += _FILE.format(them) if self._wishes.offers_file else ""
                apart = self._kept((base, ours, theirs), (own, other))
                raise DivergedError(f"{self._here.name}: {said}", each, apart)
        document, crossed = self._together(merges, ours, theirs)
        if document is None:
            them = "it" if len(crossed) == 1 else "them"
            said = f"{_conflicts(crossed)} between two histories that were merged crosswise before; {_CURE} {them}"
            raise DivergedError(f"{self._here.name}: {said}", replace(made, document=None, conflicts=crossed))
        listed = {each.path for each in made.decided}
        more = tuple(each for each in crossed if each.path not in listed)
        if more and (prefer := self._wishes.prefer) is not None:
            notes = [made.note, decided_for(prefer, more)]
            made = replace(made, decided=(*made.decided, *more), note="; ".join(filter(None, notes)))
        return document, made

    def _together(
        self, merges: Sequence[Merge], ours: Document, theirs: Document
    ) -> tuple[Document | None, tuple[Conflict, ...]]:
        """What merges from several bases come to, and where they differ: there each has it as one of the sides.

        There is no document where they do, and no side is preferred.
        """
        merged = [each.document for each in merges if each.document is not None]
        taken: list[Document] = []
        for other in (theirs, ours):  # what differs from one side is as the other has it
            found = merged[0]
            for each in merged[1:]:
                made = self._wishes.merging(other, found, each)
                if made.document is None:
                    return None, made.conflicts
                found = made.document
            taken.append(found)
        crossed = tuple(_differing(*taken))
        if crossed and self._wishes.prefer is None:
            return None, crossed
        return taken[self._wishes.prefer == "theirs"], crossed

    def _kept(self, documents: tuple[Document | None, Document, Document], heads: tuple[Step, Step]) -> Apart:
        """What people need to decide the conflicts."""
        steps = (next(iter(self._relation.bases), None), *heads)
        base, ours, theirs = (
            "nothing" if step is None else f"{self._here.name}@{step.number} sha256:{step.lineage[:_SHORT]}"
            for step in steps
        )
        lineages = None if steps[0] is None else steps[0].lineage, steps[1].lineage, steps[2].lineage
        return Apart(documents, (base, ours, theirs), lineages)

    def _apart(self, made: Merge) -> str:
        relation, name = self._relation, self._here.name
        if not relation.bases:
            since = "have nothing in common"
        elif relation.by_content:
            since = f"have only the content of {name}@{relation.bases[0].number} in common"
        else:
            since = f"have gone apart since {name}@{relation.bases[0].number}"
        cure = "--merge makes one of both"
        if made.conflicts:
            cure = f"{_conflicts(made.conflicts)}: --merge cannot make one of both without --ours or --theirs"
        return (
            f"{name} has moved on: the history {self._wishes.place}, whose newest revision is "
            f"{name}@{self._here.head.number}, and "
            f"the one of {printable(self._wishes.source)} {since}; nothing was stored: {cure}"
        )


class _Documents:
    """Documents of one ruleset, which share the pieces that they have in common."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._pieces: dict[int, Piece] = {}

    def read(self, revision_id: int) -> Document:
        revision = catalog.read_revision(self._connection, revision_id)
        board = catalog.read_board(self._connection, revision.board_id)
        keys = [each.id for each in catalog.piece_keys(self._connection, revision).values()]
        for key in keys:
            if key not in self._pieces:
                self._pieces[key] = read_piece(self._connection, key, board)
        return Document(revision.dialect, tuple(self._pieces[key] for key in keys), revision.envelope)


def _differing(ours: Document, theirs: Document) -> Iterator[Conflict]:
    """The fields and entries that are not the same in two documents; of texts not what is made from them."""
    difference = diff(theirs, ours)
    for field in difference.fields:
        yield Conflict((field.name,), None, field.after, field.before, _CROSSED)
    if not any(field.name == "definition" for field in difference.fields):
        for piece, source, entry in difference.entries():
            path = (piece, source, entry.destination)
            yield Conflict(path, None, entry.after or None, entry.before or None, _CROSSED)


def _conflicts(conflicts: Sequence[Conflict]) -> str:
    return counted(len(conflicts), "conflict")
