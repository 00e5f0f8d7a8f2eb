"""What differs between two documents, as a value: by piece, source, destination and possibility."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, get_args

from ggn_store.errors import NotationError, quote
from ggn_store.model.changes.order import Insertion
from ggn_store.model.changes.possibilities import PossibilityChange, compare
from ggn_store.model.documents.document import Envelope, Origin, Possibility
from ggn_store.notation.stn import Transition

ChangeKind = Literal["added", "removed", "changed"]
Possibilities = tuple[Possibility, ...]
FIELDS: Final[tuple[str, ...]] = ("dialect", *Envelope.__slots__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """Another dialect, or another value of the envelope (`FIELDS`); None where there is none."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class EntryChange:
    """Other possibilities at a piece, source and destination; none where the entry is not there."""

    destination: str
    before: Possibilities
    after: Possibilities

    @property
    def key(self) -> str:
        """What the entry is called within its source."""
        return self.destination

    @property
    def kind(self) -> ChangeKind:
        """What happened to the entry."""
        return "added" if not self.before else "changed" if self.after else "removed"

    @functools.cached_property
    def possibilities(self) -> tuple[PossibilityChange, ...]:
        """What happened to each possibility, without those that are as they were."""
        return compare(self.before, self.after)

    def data(self) -> dict[str, Any]:
        """The change as JSON data: both lists in full and, for a changed entry, what happened in it."""
        data: dict[str, Any] = {"destination": self.destination, "change": self.kind}
        if self.before:
            data["before"] = [possibility_data(each) for each in self.before]
        if self.after:
            data["after"] = [possibility_data(each) for each in self.after]
        if self.kind == "changed":
            data["possibilities"] = [each.data() for each in self.possibilities]
        return data


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What differs in a source of a piece; `places` says where added and moved destinations stand.

    A source that was added or removed has all its destinations in `destinations`, in their order, and no places.
    """

    source: str
    kind: ChangeKind
    destinations: tuple[EntryChange, ...]
    places: tuple[Insertion, ...] = ()

    @property
    def key(self) -> str:
        """What the source is called within its piece."""
        return self.source

    def data(self) -> dict[str, Any]:
        """The change as JSON data."""
        children = {"destinations": [each.data() for each in self.destinations]}
        return {"source": self.source, "change": self.kind} | children | _places_data(self.places)


@dataclass(frozen=True, slots=True)
class PieceChange:
    """What differs in a piece; `places` says where added and moved sources stand.

    A piece that was added or removed has all its sources in `sources`, in their order, and no places.
    """

    piece: str
    kind: ChangeKind
    sources: tuple[SourceChange, ...]
    places: tuple[Insertion, ...] = ()

    @property
    def key(self) -> str:
        """What the piece is called within its document."""
        return self.piece

    def data(self) -> dict[str, Any]:
        """The change as JSON data."""
        children = {"sources": [each.data() for each in self.sources]}
        return {"piece": self.piece, "change": self.kind} | children | _places_data(self.places)


Change = EntryChange | SourceChange | PieceChange
K = TypeVar("K", EntryChange, SourceChange, PieceChange, Insertion)


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two documents; false where nothing does.

    `places` says where added and moved pieces stand.
    """

    fields: tuple[FieldChange, ...] = ()
    pieces: tuple[PieceChange, ...] = ()
    places: tuple[Insertion, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.fields or self.pieces or self.places)

    def __str__(self) -> str:
        return _summary(self)

    def entries(self) -> Iterator[tuple[str, str, EntryChange]]:
        """Every entry that was added, removed or changed, with its piece and its source."""
        for piece in self.pieces:
            for source in piece.sources:
                for entry in source.destinations:
                    yield piece.piece, source.source, entry

    def counts(self) -> dict[str, int]:
        """How many fields, pieces, entries and possibilities changed, and how.

        `pieces` and `entries` are all that have a change in them; `moved` counts pieces, sources and destinations
        that stand elsewhere. A possibility that changed is not counted as moved as well.
        """
        counts = dict.fromkeys(_COUNTS, 0)
        counts["fields"], counts["pieces"] = len(self.fields), len(self.pieces)
        counts["moved"] = len(moved(self.places, self.pieces))
        for piece in self.pieces:
            if piece.kind != "changed":
                counts[f"pieces_{piece.kind}"] += 1
            counts["moved"] += len(moved(piece.places, piece.sources))
            counts["moved"] += sum([len(moved(each.places, each.destinations)) for each in piece.sources])
        for _, _, entry in self.entries():
            counts["entries"] += 1
            if entry.kind == "changed":
                for change in entry.possibilities:
                    counts[f"possibilities_{change.kind}"] += 1
            else:
                counts[f"entries_{entry.kind}"] += 1
                counts[f"possibilities_{entry.kind}"] += len(entry.before or entry.after)
        return counts

    def data(self) -> dict[str, Any]:
        """The difference as JSON data: all that `from_data` makes it of, and what the changes come to."""
        fields = [{"name": each.name, "before": each.before, "after": each.after} for each in self.fields]
        pieces = [each.data() for each in self.pieces]
        return {"fields": fields, "pieces": pieces} | _places_data(self.places) | {"counts": self.counts()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Diff:
        """The difference that `data` made; raises NotationError for anything that is not one.

        Squares, pieces and states are taken as they stand: whether they are any is for the reader of a document.
        """
        pieces = _each(data, "pieces", lambda each: PieceChange(*_change_of(each, "piece", "sources", _source_of)))
        return cls(_each(data, "fields", _field_of), _unique(pieces), _places_of(data))


_COUNTS: Final = (
    *("fields", "pieces", "pieces_added", "pieces_removed", "entries", "entries_added", "entries_removed"),
    *("possibilities_added", "possibilities_removed", "possibilities_changed", "possibilities_moved", "moved"),
)


def moved(places: Sequence[Insertion], changes: Iterable[Change]) -> list[Insertion]:
    """Of `places`, those of what was there before."""
    added = {change.key for change in changes if change.kind == "added"}
    return [place for place in places if place.key not in added]


def _summary(difference: Diff) -> str:
    """`2 pieces, 5 entries: 3 possibilities added, 1 removed, 4 changed; title changed`"""
    counts = difference.counts()
    parts = []
    if difference.pieces:
        where = _number(counts["pieces"], "piece", "pieces")
        if counts["entries"]:
            where += f", {_number(counts['entries'], 'entry', 'entries')}"
        parts.append(where)
    done = [(counts[f"possibilities_{kind}"], kind) for kind in ("added", "removed", "changed", "moved")]
    told = [f"{number} {kind}" for number, kind in done if number]
    if told:
        first = next(number for number, _ in done if number)
        told[0] = told[0].replace(" ", " possibility " if first == 1 else " possibilities ", 1)
        parts[-1] += f": {', '.join(told)}"
    if counts["moved"]:
        parts.append("order changed")
    if difference.fields:
        parts.append(f"{', '.join(each.name for each in difference.fields)} changed")
    return "; ".join(parts) or "no changes"


def _number(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


# --- JSON data ---


def possibility_data(possibility: Possibility) -> dict[str, Any]:
    """A possibility as JSON data in the words of no dialect: action, when, must, deny, effects, where there are any."""
    return {"effects" if key == "diff" else key: value for key, value in possibility.data("diff").items()}


def _places_data(places: Iterable[Insertion]) -> dict[str, Any]:
    return {"places": [{"key": place.key, "after": place.after} for place in places]}


def _each(data: Any, key: str, make: Callable[[Any], T], optional: bool = False) -> tuple[T, ...]:
    values = _get(data, key, list, [] if optional else None)
    return tuple(map(make, values))


def _get(data: Any, key: str, kind: Any, default: Any = None) -> Any:
    if not isinstance(data, Mapping):
        raise NotationError(f"{quote(data)} has no place in a difference: an object with {key} is expected")
    value = data.get(key, default)
    if not isinstance(value, kind):
        raise NotationError(f"{quote(value)} is not what a difference has as its {key}")
    return value


_OPTIONAL_TEXT: Final = str | None


def _field_of(data: Any) -> FieldChange:
    name = _get(data, "name", str)
    if name not in FIELDS:
        raise NotationError(f"{quote(name)} is not what a difference can change: {', '.join(FIELDS)}")
    return FieldChange(name, _get(data, "before", _OPTIONAL_TEXT), _get(data, "after", _OPTIONAL_TEXT))


def _change_of(
    data: Any, key: str, children: str, make: Callable[[Any], K]
) -> tuple[str, Any, tuple[K, ...], tuple[Insertion, ...]]:
    kind = _get(data, "change", str)
    if kind not in get_args(ChangeKind):
        raise NotationError(
            f"{quote(kind)} is not what a {key} can be in a difference: {', '.join(get_args(ChangeKind))}"
        )
    return _get(data, key, str), kind, _unique(_each(data, children, make)), _places_of(data)


def _source_of(data: Any) -> SourceChange:
    return SourceChange(*_change_of(data, "source", "destinations", _entry_of))


def _entry_of(data: Any) -> EntryChange:
    before = _each(data, "before", _possibility_of, optional=True)
    after = _each(data, "after", _possibility_of, optional=True)
    if not before and not after:
        raise NotationError(f"{quote(data)} changes nothing: an entry of a difference has before or after")
    return EntryChange(_get(data, "destination", str), before, after)


def _possibility_of(data: Any) -> Possibility:
    must, deny = _states(data, "must", str), _states(data, "deny", str)
    guards = {name: tuple(_texts(values)) for name, values in _states(data, "when", list).items()}
    origin = None
    if (said := data.get("action")) is not None:
        origin = Origin(_get(said, "name", str), _get(said, "step", int), _get(said, "chainable", bool, False))
    if data.get("effects") is None:
        return Possibility(must, deny, None, guards, origin)
    effects = _get(data, "effects", Mapping)
    board, hands = _states(effects, "board", _OPTIONAL_TEXT), _states(effects, "hands", int)
    state = _states(effects, "state", str)
    transition = Transition(board, hands, _get(effects, "toggle", bool, True), state)
    return Possibility(must, deny, transition, guards, origin)


def _texts(values: list[Any]) -> list[str]:
    for value in values:
        if not isinstance(value, str):
            raise NotationError(f"{quote(value)} is not a value of a state variable in a difference: text")
    return values


def _states(data: Any, key: str, kind: Any) -> dict[str, Any]:
    states = _get(data, key, Mapping, {})
    return {square: _get(states, square, kind) for square in states}


def _places_of(data: Any) -> tuple[Insertion, ...]:
    def place(said: Any) -> Insertion:
        return Insertion(_get(said, "key", str), _get(said, "after", _OPTIONAL_TEXT))

    return _unique(_each(data, "places", place, optional=True))


def _unique(values: tuple[K, ...]) -> tuple[K, ...]:
    keys = [value.key for value in values]
    if len(set(keys)) != len(keys):
        raise NotationError(f"{quote(max(keys, key=keys.count))} stands twice in one part of a difference")
    return values
