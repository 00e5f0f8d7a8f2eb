"""Documents compared, and differences applied.

A difference is made level by level: what is equal is left out, so that the work is in proportion to what
changed. It is as exact as the documents: applied to the first, it gives the second, orders included.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ggn_store.errors import ConflictError, printable, quote
from ggn_store.model.changes.changes import (
    FIELDS,
    Change,
    ChangeKind,
    Diff,
    EntryChange,
    FieldChange,
    PieceChange,
    Possibilities,
    SourceChange,
)
from ggn_store.model.changes.order import Insertion, arrange, places, together
from ggn_store.model.documents.document import Destination, Dialect, Document, Envelope, Piece, Source, check_dialect

T = TypeVar("T")
C = TypeVar("C", bound=Change)
EntryPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """What is to know of a document without reading its pieces; of one that is not there, NOTHING."""

    dialect: Dialect | None
    envelope: Envelope
    pieces: tuple[str, ...]

    @classmethod
    def of(cls, document: Document | None) -> Outline:
        """The outline of a document."""
        if document is None:
            return NOTHING
        return cls(document.dialect, document.envelope, tuple(piece.identifier for piece in document.pieces))

    def field(self, name: str) -> str | None:
        """The value of one of `FIELDS`."""
        value: str | None = self.dialect if name == "dialect" else getattr(self.envelope, name)
        return value


NOTHING = Outline(None, Envelope(), ())


def diff(before: Document | None, after: Document) -> Diff:
    """What turns `before` into `after`; before all of them there is None, and everything is added."""
    old, new = pieces_of(before), pieces_of(after)
    pairs = ((old.get(piece), new.get(piece)) for piece in {**old, **new})
    return diff_pieces(Outline.of(before), Outline.of(after), pairs)


def diff_pieces(before: Outline, after: Outline, changed: Iterable[tuple[Piece | None, Piece | None]]) -> Diff:
    """What turns one document into another, of which all that may differ is read piece by piece.

    `changed` has each piece before and after, in any order: None and the piece for what was added, the piece and
    None for what was removed, and both for what has other digests. Equal pieces may be among them or left out.
    """
    fields = tuple(
        FieldChange(name, before.field(name), after.field(name))
        for name in FIELDS
        if before.field(name) != after.field(name)
    )
    changes = {change.piece: change for old, new in changed if (change := diff_piece(old, new)) is not None}
    order = together(before.pieces, after.pieces)
    listed = tuple(changes[piece] for piece in order if piece in changes)
    return Diff(fields, listed, places(before.pieces, after.pieces))


def diff_piece(before: Piece | None, after: Piece | None) -> PieceChange | None:
    """What differs between two pieces of one identifier, either of which may be missing; None if nothing does."""
    some = before or after
    if some is None or before == after:
        return None
    changes, order = _level(sources_of(before), sources_of(after), _diff_source)
    kind = _kind(before, after)
    return PieceChange(some.identifier, kind, changes, order if kind == "changed" else ())


def _diff_source(square: str, before: Source | None, after: Source | None) -> SourceChange:
    old, new = entries_of(before), entries_of(after)
    changes, order = _level(old, new, lambda key, one, other: EntryChange(key, one or (), other or ()))
    kind = _kind(before, after)
    return SourceChange(square, kind, changes, order if kind == "changed" else ())


def _level(
    before: Mapping[str, T], after: Mapping[str, T], compare: Callable[[str, T | None, T | None], C]
) -> tuple[tuple[C, ...], tuple[Insertion, ...]]:
    old, new = tuple(before), tuple(after)
    changes = tuple(
        compare(key, before.get(key), after.get(key)) for key in together(old, new) if before.get(key) != after.get(key)
    )
    return changes, places(old, new)


def _kind(before: object, after: object) -> ChangeKind:
    return "added" if before is None else "removed" if after is None else "changed"


def pieces_of(document: Document | None) -> dict[str, Piece]:
    """The pieces of a document by identifier, in its order."""
    return {} if document is None else {piece.identifier: piece for piece in document.pieces}


def sources_of(piece: Piece | None) -> dict[str, Source]:
    """The sources of a piece by square, in its order."""
    return {} if piece is None else {source.square: source for source in piece.sources}


def entries_of(source: Source | None) -> dict[str, Possibilities]:
    """The possibilities of a source by destination, in its order."""
    return {} if source is None else {each.square: each.possibilities for each in source.destinations}


# --- applying ---


def apply(difference: Diff, before: Document | None) -> Document:
    """The document that `before` becomes: the one that the difference leads to, if it was made from `before`.

    What the difference does not speak of may be otherwise. Raises ConflictError naming the first field or entry
    that is not as the difference was made from.
    """
    outline = Outline.of(before)
    fields = {name: outline.field(name) for name in FIELDS}
    for change in difference.fields:
        if fields[change.name] != change.before:
            raise ConflictError(
                f"the {change.name} is {quote(fields[change.name])}, and the difference was made from "
                f"{quote(change.before)}{_CURE}"
            )
        fields[change.name] = change.after
    pieces = _apply_level((), pieces_of(before), difference.pieces, difference.places, _apply_piece)
    if not pieces or (dialect := fields.pop("dialect")) is None:
        raise ConflictError(f"no document is left when the difference has been applied{_CURE}")
    return Document(check_dialect(dialect), tuple(pieces.values()), Envelope(**fields))


def _apply_piece(path: EntryPath, before: Piece | None, change: PieceChange) -> Piece | None:
    found = _whole(path, change.kind, sources_of(before), before is None)
    sources = _apply_level(path, found, change.sources, change.places, _apply_source)
    return Piece(change.piece, tuple(sources.values())) if _is_left(path, change.kind, sources) else None


def _apply_source(path: EntryPath, before: Source | None, change: SourceChange) -> Source | None:
    found = _whole(path, change.kind, entries_of(before), before is None)
    entries = _apply_level(path, found, change.destinations, change.places, _apply_entry)
    if not _is_left(path, change.kind, entries):
        return None
    return Source(change.source, tuple(Destination(square, each) for square, each in entries.items()))


def _apply_entry(path: EntryPath, before: Possibilities | None, change: EntryChange) -> Possibilities | None:
    if (before or ()) != change.before:
        there = "it is not there" if not before else "its possibilities are others" if change.before else "it is there"
        raise _conflict(path, there, f"it was {change.kind}")
    return change.after or None


def _apply_level(
    path: EntryPath,
    before: Mapping[str, T],
    changes: Sequence[C],
    new: Sequence[Insertion],
    make: Callable[[EntryPath, T | None, C], T | None],
) -> dict[str, T]:
    """The members of a level after all changes in it, in their order."""
    values = dict(before)
    for change in changes:
        value = make((*path, change.key), values.pop(change.key, None), change)
        if value is not None:
            values[change.key] = value
    for place in new:
        if place.key not in values:
            raise _conflict((*path, place.key), "it is not there", "it was moved")
        if place.after is not None and place.after not in values:
            raise _conflict((*path, place.after), "it is not there", f"{place.key} was put after it")
    if not before:
        return values
    try:
        order = arrange(before, before.keys() - values.keys(), new)
    except KeyError as error:
        raise _conflict((*path, str(error.args[0])), "it has no place", "another was put after it") from None
    if lost := values.keys() - set(order):
        raise _conflict((*path, min(lost)), "it has no place", "it was added")
    return {key: values[key] for key in order}


def _whole(path: EntryPath, kind: ChangeKind, members: dict[str, T], is_missing: bool) -> dict[str, T]:
    """`members`, if what is added is missing, and what is removed or changed is there."""
    if is_missing != (kind == "added"):
        there = "it is not there" if is_missing else "it is there"
        raise _conflict(path, there, f"it was {kind}")
    return members


def _is_left(path: EntryPath, kind: ChangeKind, members: Collection[str]) -> bool:
    """Whether anything is left; it must be, unless the whole is removed."""
    if kind == "removed" and members:
        raise _conflict((*path, *list(members)[:1]), "it is there", "all that the difference knows was removed")
    if kind != "removed" and not members:
        raise _conflict(path, "nothing is left in it", f"it was {kind}")
    return bool(members)


_CURE = "; make the difference anew from this document, or apply it to the one that it was made from"


def _conflict(path: EntryPath, there: str, made: str) -> ConflictError:
    return ConflictError(f"{printable(' '.join(path))}: {there}, where {made} by the difference{_CURE}")
