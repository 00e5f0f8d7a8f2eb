"""Two histories of a ruleset that have gone apart: what becomes of both, or why nothing does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from ggn_store.errors import printable
from ggn_store.model.changes.merge import Apart, Merge
from ggn_store.model.documents.document import Document, Piece
from ggn_store.model.teams.ancestry import Relation, Step
from ggn_store.model.teams.transfer import DivergedError, TransferWishes
from ggn_store.store.exchange.here import Here
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import read_piece

_SHORT: Final = 12

# Equal contents unite by themselves.
_CURE: Final = "--ours or --theirs decides them, --conflicts FILE writes them to a file, to be edited"


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
            raise DivergedError(self._apart(made), made)
        for base, each in zip(bases or [None], merges, strict=True):
            if each.document is None:
                said = f"{_conflicts(each)} between the two histories; nothing was stored: {_CURE}"
                apart = self._kept((base, ours, theirs), (own, other))
                raise DivergedError(f"{self._here.name}: {said}", each, apart)
        document = made.document
        assert document is not None  # noqa: S101  (the loop has just seen to it)
        if any(each.document != document for each in merges):
            raise DivergedError(
                f"{self._here.name}: the histories have been merged crosswise before, and what comes of merging them "
                f"depends on which of these merges one goes by; nothing was stored: {_CURE}",
                made,
            )
        return document, made

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
        cure = (
            "--merge makes one of both"
            if made.document is not None
            else f"{_conflicts(made)}: --merge cannot make one of both"
        )
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


def _conflicts(made: Merge) -> str:
    number = len(made.conflicts)
    return f"{number} conflict{'' if number == 1 else 's'}"
