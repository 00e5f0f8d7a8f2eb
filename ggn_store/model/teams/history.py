"""Histories as values: what each revision changed, and who last changed what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ggn_store.model.changes.changes import FIELDS
from ggn_store.model.changes.diff import Outline
from ggn_store.model.record import Record
from ggn_store.model.teams.revision import Revision
from ggn_store.model.teams.transfer import SentRename

_LISTED: Final = 4


@dataclass(frozen=True, slots=True)
class Changes(Record):
    """What a revision changed against its (first) parent, as far as digests tell.

    Pieces are those whose digest is another one: on another board, that is all of them. `fields` are the dialect,
    the board and what is kept beside the pieces, as in a difference. `order`: all is as it was but for the order of the
    pieces. A first revision has added all that it has.
    """

    is_first: bool = False
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    order: bool = False
    DATA: ClassVar = "added removed changed fields order"

    def __str__(self) -> str:
        if self.is_first:
            return f"first revision, {len(self.added)} piece{'' if len(self.added) == 1 else 's'}"
        told: list[str] = []
        for kind, pieces in (("changed", self.changed), ("added", self.added), ("removed", self.removed)):
            if pieces:
                noun = "" if told else "piece " if len(pieces) == 1 else "pieces "
                told.append(f"{len(pieces)} {noun}{kind} ({_listed(pieces)})")
        parts = [", ".join(told)] if told else []
        if self.fields:
            parts.append(f"{', '.join(self.fields)} changed")
        if self.order:
            parts.append("order of pieces changed")
        return "; ".join(parts) or "nothing changed"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A revision in the history of another one: with the tags that point to it now, and what it changed.

    `proposal` is the one that was merged as it; `renames` are those of the ruleset from then on until its next
    revision.
    """

    revision: Revision
    tags: tuple[str, ...]
    changes: Changes
    proposal: str | None = None
    renames: tuple[SentRename, ...] = ()

    def data(self) -> dict[str, Any]:
        """The entry as JSON data."""
        data = self.revision.data() | {"tags": [*self.tags], "changes": self.changes.data()}
        data |= {} if self.proposal is None else {"proposal": self.proposal}
        return data | ({"renames": [each.data() for each in self.renames]} if self.renames else {})


@dataclass(frozen=True, slots=True)
class Blame:
    """The revision that gave something the value that it has: one entry, or one of the fields beside the pieces.

    Of an entry, `field` is None; of a field, piece, source and destination are.
    """

    revision: Revision
    piece: str | None = None
    source: str | None = None
    destination: str | None = None
    field: str | None = None

    def data(self) -> dict[str, Any]:
        """The blame as JSON data."""
        made = self.revision.data()
        place = {name: getattr(self, name) for name in ("field", "piece", "source", "destination")}
        return place | {name: made[name] for name in ("revision", "author", "created_at", "message", "lineage")}


def fields_of(revision: Revision) -> dict[str, str]:
    """The dialect and what is kept beside the pieces, as far as there is something."""
    outline = Outline(revision.dialect, revision.envelope, ())
    return {name: value for name in FIELDS if (value := outline.field(name)) is not None}
