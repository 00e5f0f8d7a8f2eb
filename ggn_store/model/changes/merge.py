"""Two documents that came from one, made into one again.

What is merged are entries: the possibilities, in their order, at a piece, source and destination. An entry that
one side changed is as that side has it, and one that both changed is a conflict unless both changed it alike. To
remove a piece or a source is to remove each of its entries: one that the other side added there stays. The fields
(the dialect and the envelope) are merged in the same way. Six things more are conflicts, because no valid or
truthful document would come of them:

- `definition`: the text that a document was generated from speaks of all its entries, and of how it is played. If one
  side changed it (and did not just leave it out), the other must have changed none of these otherwise. Where both
  changed it, `api.loading.sources` merges the texts.
- `dialect`: if one side changed it, the other must have changed no entry otherwise.
- `board`: if one side declared another board, all squares of the merged document must be on it.
- `variables`: if one side declared other state variables, the merged document and its start position must name none
  but the declared ones and their values.
- `play`: if one side says how the game is played, the merged document must have the pieces, actions and squares that
  this names, as far as that side has.
- the document itself, where nothing would be left of it because the sides removed different parts.

Conflicts may be decided for one side: an entry or a field is then as that side has it. One of the six takes all that
is entangled with it, which is everything but title, source and schema, from that side.

Orders never conflict. The merged order is theirs, with what only our side added or moved put after the neighbour
that it had on our side; where both moved the same, it is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Final, Literal, TypeVar

from ggn_store.errors import InputError, offer, quote
from ggn_store.model.changes import order
from ggn_store.model.changes.changes import FIELDS, Diff, Possibilities, possibility_data
from ggn_store.model.changes.diff import EntryPath, Outline, diff, entries_of, pieces_of, sources_of
from ggn_store.model.changes.trees import MergeSide
from ggn_store.model.documents import board as boards
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import Destination, Document, Envelope, Piece, Source, check_dialect
from ggn_store.model.moves import play_text
from ggn_store.model.moves.position import Position
from ggn_store.model.record import Record
from ggn_store.notation.hand import HAND

T = TypeVar("T")
MergeValue = str | Possibilities | None

# The side that conflicts are decided for; None leaves them to people.
Preference = Literal["ours", "theirs"] | None

# What begins the last line of a merge's message, where there is more to say of it.
NOTE: Final = "note: "

# Fields that say nothing of the rules.
_ABOUT: Final = ("title", "source", "schema")


@dataclass(frozen=True, slots=True)
class Conflict:
    """What both sides changed differently: an entry or a field.

    `path` is piece, source and destination of an entry, the name of a field, `definition` and the key of a value in
    that text, or empty for the whole document. The
    values are possibilities or text, None where there is nothing. `reason` is given for a conflict between
    different things, where one of the values may be as it was.
    """

    path: EntryPath
    base: MergeValue
    ours: MergeValue
    theirs: MergeValue
    reason: str | None = None

    def data(self) -> dict[str, Any]:
        """The conflict as JSON data; an entry's possibilities as in a difference."""
        names = ("piece", "source", "destination") if len(self.path) == 3 else ("field", "key")
        sides = {"base": self.base, "ours": self.ours, "theirs": self.theirs}
        return {
            **dict(zip(names, self.path, strict=False)),
            **{side: _value_data(value) for side, value in sides.items()},
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Merge(Record):
    """What came of a merge: the document, None if there are conflicts; and what each side changed since the base.

    `of_sources` says that the texts were merged that both were generated from, and `note` in what the document is
    not what the changes of both sides give entry by entry. `decided` are conflicts that were decided for one side.
    """

    document: Document | None
    conflicts: tuple[Conflict, ...]
    ours: Diff
    theirs: Diff
    of_sources: bool = False
    note: str | None = None
    decided: tuple[Conflict, ...] = ()
    DATA: ClassVar = "conflicts ours theirs"

    def sides(self) -> Iterator[tuple[str, Diff]]:
        """What to show of the changes of both sides: of texts not what is made of them, nothing beside conflicts."""
        if self.of_sources and self.conflicts:
            return
        for name, side in (("ours", self.ours), ("theirs", self.theirs)):
            yield name, replace(side, pieces=(), places=()) if self.of_sources else side


@dataclass(frozen=True, slots=True)
class Apart:
    """A base (None where there is none) and two sides that conflict; what they are called, and their lineages."""

    documents: tuple[Document | None, Document, Document]
    names: tuple[str, str, str]
    lineages: tuple[str | None, str | None, str | None]


def check_preference(prefer: Preference, *, merge: bool) -> None:
    """Raise InputError unless conflicts can be decided for this side, in a merge."""
    if prefer not in (None, "ours", "theirs"):
        raise InputError(f"conflicts are decided for ours or theirs, and not for {quote(prefer)}")
    if prefer is not None and not merge:
        raise InputError(f"prefer={prefer} decides the conflicts of a merge: give merge=True, too")


def places(conflicts: Sequence[Conflict]) -> str:
    """Where conflicts are, counted: `2 conflicts: definition pieces.G.betza, title`."""
    names = [" ".join(conflict.path) or "the whole document" for conflict in conflicts]
    return f"{len(names)} conflict{'' if len(names) == 1 else 's'}: {offer(names)}"


def decided_for(side: MergeSide, conflicts: Sequence[Conflict]) -> str | None:
    """What a merge says of the conflicts that were decided for a side."""
    return f"decided for {side}, {places(conflicts)}" if conflicts else None


def noted(message: str, note: str) -> str:
    """The message of a merge, with what there is to say of it."""
    return f"{message}\n{NOTE}{note}"


def note_of(message: str | None) -> str | None:
    """What the message of a merge says beside what was merged."""
    _, mark, note = (message or "").rpartition(f"\n{NOTE}")
    return note if mark else None


def merge(base: Document | None, ours: Document, theirs: Document, *, prefer: Preference = None) -> Merge:
    """The document with what both sides changed since `base`, which is None where they have nothing in common.

    Without a base, every entry and field that both have must be equal. `theirs` is what is there already, the head:
    its order is preferred. Conflicts are decided for the side that is `prefer`red. The rules are at the top of this
    module.
    """
    merging = _Merging(base, ours, theirs, prefer)
    document = merging.document()
    found = Merge(document, _sorted(merging.conflicts), diff(base, ours), diff(base, theirs))
    if prefer is None:
        return found
    decided = _sorted([*merging.decided, *merging.conflicts])
    if merging.conflicts:
        document = ruled(ours if prefer == "ours" else theirs, merging.fields)
    return replace(found, document=document, conflicts=(), decided=decided, note=decided_for(prefer, decided))


def decided(base: Document | None, ours: Document, theirs: Document, side: MergeSide) -> Document | None:
    """The document of a merge whose conflicts are decided for a side, or as it was in the base; None for nothing."""
    merging = _Merging(base, ours, theirs, side)
    document = merging.document()
    chosen = {"base": base, "ours": ours, "theirs": theirs}[side]
    return document if not merging.conflicts or chosen is None else ruled(chosen, merging.fields)


def ruled(side: Document, fields: Mapping[str, str | None]) -> Document:
    """A side's rules, with those of the merged fields that say nothing of them."""
    about = {name: fields[name] for name in _ABOUT}
    return replace(side, envelope=replace(side.envelope, **about))


def _sorted(conflicts: Sequence[Conflict]) -> tuple[Conflict, ...]:
    return tuple(sorted(conflicts, key=lambda conflict: (len(conflict.path), conflict.path)))


class _Merging:
    """One merge: goes through the levels and collects conflicts, and those that are decided for a side."""

    def __init__(self, base: Document | None, ours: Document, theirs: Document, prefer: MergeSide | None) -> None:
        self.conflicts: list[Conflict] = []
        self.decided: list[Conflict] = []
        self.fields: dict[str, str | None] = {}
        self._prefer = prefer
        self._sides = (base, ours, theirs)
        self._outlines = (Outline.of(base), Outline.of(ours), Outline.of(theirs))

    def document(self) -> Document | None:
        """The merged document, which counts only if there are no conflicts."""
        base, ours, theirs = map(pieces_of, self._sides)
        pieces = tuple(self._level((), base, ours, theirs, self._piece).values())
        is_whole = not self.conflicts
        self.fields |= {name: self._three(name) for name in FIELDS}
        fields = dict(self.fields)
        self._check_dialect(fields["dialect"], pieces if is_whole else None)
        self._check_definition(fields, pieces if is_whole else None)
        self._check_board(fields, pieces)
        self._check_variables(fields, pieces)
        self._check_play(fields, pieces)
        if not pieces and is_whole:
            self.conflicts.append(Conflict((), None, None, None, "the two sides together leave no piece in it"))
        dialect = fields.pop("dialect")
        if self.conflicts or dialect is None:
            return None
        return Document(check_dialect(dialect), pieces, Envelope(**fields))

    # --- entries ---

    def _piece(self, path: EntryPath, base: Piece | None, ours: Piece | None, theirs: Piece | None) -> Piece | None:
        sources = self._level(path, sources_of(base), sources_of(ours), sources_of(theirs), self._source)
        return Piece(path[-1], tuple(sources.values())) if sources else None

    def _source(
        self, path: EntryPath, base: Source | None, ours: Source | None, theirs: Source | None
    ) -> Source | None:
        entries = self._level(path, entries_of(base), entries_of(ours), entries_of(theirs), self._conflict)
        return Source(path[-1], tuple(map(Destination, entries, entries.values()))) if entries else None

    def _conflict(self, path: EntryPath, base: T | None, ours: T | None, theirs: T | None) -> T | None:
        """Note a conflict, and decide it; else the entry or field is left out, to have no part in other conflicts."""
        found: Any = Conflict(path, base, ours, theirs)  # type: ignore[arg-type]
        (self.conflicts if self._prefer is None else self.decided).append(found)
        return None if self._prefer is None else getattr(found, self._prefer)

    def _level(
        self,
        path: EntryPath,
        base: Mapping[str, T],
        ours: Mapping[str, T],
        theirs: Mapping[str, T],
        both: Callable[[EntryPath, T | None, T | None, T | None], T | None],
    ) -> dict[str, T]:
        """The members of a level in their order; `both` merges a member that both sides changed differently."""
        values: dict[str, T] = {}
        for key in dict.fromkeys((*theirs, *ours)):
            value = _three(both, (*path, key), base.get(key), ours.get(key), theirs.get(key))
            if value is not None:
                values[key] = value
        return {key: values[key] for key in order.merged(tuple(base), tuple(ours), tuple(theirs), values)}

    # --- fields ---

    def _three(self, name: str) -> str | None:
        values = (outline.field(name) for outline in self._outlines)
        return _three(self._conflict, (name,), *values)

    def _check_dialect(self, merged: str | None, pieces: tuple[Piece, ...] | None) -> None:
        _, ours, theirs = (outline.dialect for outline in self._outlines)
        if merged is not None and ours != theirs and not self._is_of_one_side({"dialect": merged}, pieces):
            self._add("dialect", "one side changed the dialect, and the other changed entries")

    def _check_definition(self, fields: Mapping[str, str | None], pieces: tuple[Piece, ...] | None) -> None:
        said = {name: fields[name] for name in ("definition", "play")}
        merged = said["definition"]
        base, ours, theirs = (outline.envelope.definition for outline in self._outlines)
        is_changed = not base == ours == theirs
        if merged is not None and is_changed and not self._is_of_one_side(said, pieces):
            self._add("definition", "it does not give the entries, or the play, that the other side changed")

    def _is_of_one_side(self, merged: Mapping[str, str | None], pieces: tuple[Piece, ...] | None) -> bool:
        """Whether a side has the merged values of these fields and also all the merged entries."""
        if pieces is None:
            return False
        return any(
            all(outline.field(name) == value for name, value in merged.items()) and _has_entries(side, pieces)
            for outline, side in list(zip(self._outlines, self._sides, strict=True))[1:]
        )

    def _check_board(self, fields: Mapping[str, str | None], pieces: tuple[Piece, ...]) -> None:
        shape, start, declared = (fields[name] for name in ("board", "start", "play"))
        _, ours, theirs = (outline.envelope for outline in self._outlines)
        said = {(each.board, each.start, each.play) for each in (ours, theirs)} | {(shape, start, declared)}
        if shape is None or len(said) == 1:
            return
        squares = set().union(*(piece.squares() for piece in pieces)) - {HAND} | play_text.parse(declared).squares()
        if start is not None:
            squares.update(Position.from_text(start).board)
        if not squares <= boards.parse_shape(shape).numbers.keys():
            self._add("board", "pieces and start position of the two sides together do not fit on it")

    def _check_variables(self, fields: Mapping[str, str | None], pieces: tuple[Piece, ...]) -> None:
        declared, start = fields["variables"], fields["start"]
        _, ours, theirs = (outline.envelope.variables for outline in self._outlines)
        if ours == theirs == declared or any(conflict.path == ("variables",) for conflict in self.conflicts):
            return
        known = {(each.name, value) for each in variables.parse(declared).values() for value in each.values}
        begun = {} if start is None else Position.from_text(start).state or {}
        named = (possibility.named_state() for piece in pieces for _, _, _, possibility in piece.entries())
        if not known.issuperset(chain(begun.items(), chain.from_iterable(named))):
            self._add("variables", "what the two sides name together are not all declared variables and their values")

    def _check_play(self, fields: Mapping[str, str | None], pieces: tuple[Piece, ...]) -> None:
        """Compare what is played by with what is there once nothing is in conflict that could be missing."""
        if self.conflicts or not pieces:
            return
        envelope = Envelope(start=fields["start"], board=fields["board"], play=fields["play"])
        if missing := lacking(envelope, pieces, *self._sides[1:]):
            self._add("play", f"what one side plays by names {offer(sorted(missing))}, which the other side removed")

    def _add(self, name: str, reason: str) -> None:
        base, ours, theirs = (outline.field(name) for outline in self._outlines)
        self.conflicts.append(Conflict((name,), base, ours, theirs, reason))


def _three(
    both: Callable[[EntryPath, T | None, T | None, T | None], T | None],
    path: EntryPath,
    base: T | None,
    ours: T | None,
    theirs: T | None,
) -> T | None:
    """The value that a side has changed, if the other has not, or not otherwise; else what `both` makes of them."""
    if ours == theirs or base == ours:
        return theirs
    return ours if base == theirs else both(path, base, ours, theirs)


def lacking(envelope: Envelope, pieces: Sequence[Piece], *sides: Document | None) -> set[str]:
    """The pieces, actions and squares that a merged game is played by and that it does not have.

    What a side that is played alike does not have either is left out.
    """
    if envelope.play is None:
        return set()
    played = play_text.parse(envelope.play)
    named = set().union(*(piece.pieces() for piece in pieces))
    if envelope.start is not None:
        position = Position.from_text(envelope.start)
        named.update(filter(None, position.board.values()), position.hands or ())
    found = [each for _, each, _ in play_text.strange_names(played, named, pieces)]
    missing = set(chain.from_iterable(each for each in found if isinstance(each, list)))
    if envelope.board is None:
        missing |= played.squares() - set().union(*(piece.squares() for piece in pieces))
    for side in sides if missing else ():
        if side is not None and side.envelope.play == envelope.play:
            missing -= lacking(side.envelope, side.pieces)
    return missing


def _has_entries(side: Document | None, pieces: tuple[Piece, ...]) -> bool:
    """Whether a document has the entries of these pieces and no others, in whatever order."""
    theirs = pieces_of(side)
    if len(theirs) != len(pieces):
        return False
    return all(same_entries(piece, theirs.get(piece.identifier)) for piece in pieces)


def same_entries(one: Piece | None, other: Piece | None) -> bool:
    """Whether two pieces have the same entries, in whatever order; no piece has none."""
    return one is other or _content(one) == _content(other)


def _content(piece: Piece | None) -> dict[str, dict[str, Possibilities]]:
    return {square: entries_of(source) for square, source in sources_of(piece).items()}


def _value_data(value: MergeValue) -> Any:
    return [possibility_data(each) for each in value] if isinstance(value, tuple) else value
