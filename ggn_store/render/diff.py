"""Differences and merges as text: signs in the first column as in `git diff`, possibilities as `moves` writes them.

~ title: "Chess" -> "Chess without castling"
~ C:P
~   e2
+     e4 must e3=empty e4=empty
-     e5
~     d3 must d3=enemy
-       deny d4=C:K

Texts of several lines, such as definitions, are unified diffs.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from ggn_store.errors import printable
from ggn_store.model.changes.changes import Change, Diff, EntryChange, FieldChange, moved
from ggn_store.model.changes.merge import Conflict, Merge
from ggn_store.model.changes.order import Insertion
from ggn_store.model.changes.possibilities import ABSENT, Detail, DetailValue, PossibilityChange
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import Possibility
from ggn_store.model.documents.variables import Variable
from ggn_store.model.moves import play_text
from ggn_store.notation.hand import HAND
from ggn_store.render.moves import effects_text, place_text

# Sign, depth and text.
DiffLine = tuple[str, int, str]

_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~", "moved": "~"}
_COLORS: Final = {"+": "\x1b[32m", "-": "\x1b[31m", "!": "\x1b[31m"}
_PLAIN: Final = "\x1b[0m"
# Of a text that changed: lines compared, lines shown.
_MAX_COMPARED: Final = 5_000
_MAX_LINES: Final = 1_000
# Of a value in conflict, characters; of each side's possibilities, lines: no conflict takes more than ten.
_MAX_SHOWN: Final = 400
_MAX_VALUES: Final = 3


def diff_text(difference: Diff, color: bool = False) -> Iterator[str]:
    """What differs, line by line: by piece, source and destination; with `color`, green and red for a terminal."""
    return _text(_difference(difference), color)


def merge_text(merge: Merge, color: bool = False) -> Iterator[str]:
    """What each side changed since the base, piece by piece, and then the conflicts with all three values."""
    return _text(_merge(merge), color)


def conflicts_text(conflicts: Iterable[Conflict], color: bool = False) -> Iterator[str]:
    """Conflicts with what base, ours and theirs have."""
    return _text((line for conflict in conflicts for line in _conflict(conflict)), color)


def possibility_text(piece: str, source: str, destination: str, possibility: Possibility) -> str:
    """`e4 must e3=empty e4=empty`, `e8=C:Q deny e8=C:K`: where it goes, what it changes beyond that, its conditions.

    Guards and the action that it comes from follow. Different possibilities of an entry have different texts: what is
    usual and left out by `moves` is said here where it is missing, such as `(e2 as it was)` for effects that do not
    empty the source.
    """
    text = place_text(destination)
    effects = possibility.effects
    if effects is not None:
        text += effects_text(piece, source, destination, effects)
        unusual = [
            f"{place_text(square)} as it was"
            for square in dict.fromkeys((source, destination))
            if square not in effects.board and square != HAND
        ]
        if source == HAND and piece not in effects.hands:
            unusual.append("hand as it was")
        stays = effects.board.get(source)
        if stays is not None and source != destination:
            unusual.append(f"{place_text(source)}={stays}")
        text += f" ({', '.join(unusual)})" if unusual else ""
    for name, states in (("must", possibility.must), ("deny", possibility.deny)):
        if states:
            text += f" {name} " + " ".join(f"{place_text(square)}={state}" for square, state in sorted(states.items()))
    if possibility.guards:
        guards = sorted(possibility.guards.items())
        text += " when " + " ".join(f"{name}={'|'.join(values)}" for name, values in guards)
    origin = possibility.origin
    if origin is not None:
        step = f" {origin.step}" if origin.step > 1 else ""
        text += f" ({origin.action}{step}{'...' if origin.chainable else ''})"
    return text


def _text(lines: Iterable[DiffLine], color: bool) -> Iterator[str]:
    for sign, depth, text in lines:
        line = f"{sign}{'  ' * depth} {printable(text)}".rstrip()
        before = _COLORS.get(sign) if color else None
        yield f"{before}{line}{_PLAIN}\n" if before else f"{line}\n"


# --- differences ---


def _difference(difference: Diff) -> Iterator[DiffLine]:
    for field in difference.fields:
        yield from _field(field)
    for piece in difference.pieces:
        yield _SIGNS[piece.kind], 0, piece.piece
        for source in piece.sources:
            yield _SIGNS[source.kind], 1, place_text(source.source)
            for entry in source.destinations:
                yield from _entry(piece.piece, source.source, entry)
            yield from _moved(source.places, source.destinations, 2)
        yield from _moved(piece.places, piece.sources, 1)
    yield from _moved(difference.places, difference.pieces, 0)


def _field(field: FieldChange) -> Iterator[DiffLine]:
    if field.name == "variables":
        yield from _variables(field)
    elif field.name == "play":
        yield from _play(field)
    elif "\n" in (field.before or "") + (field.after or ""):
        yield from _long_field(field.name, (field.before or "").splitlines(), (field.after or "").splitlines())
    elif field.before is None:
        yield "+", 0, f"{field.name}: {_quoted(field.after)}"
    elif field.after is None:
        yield "-", 0, f"{field.name}: {_quoted(field.before)}"
    else:
        yield "~", 0, f"{field.name}: {_quoted(field.before)} -> {_quoted(field.after)}"


def _variables(field: FieldChange) -> Iterator[DiffLine]:
    """A line for each state variable that is declared otherwise: its values, and the one that it begins with."""
    before, after = variables.parse(field.before), variables.parse(field.after)
    for name in sorted({*before, *after}):
        old, new = (None if each is None else _declared(each) for each in (before.get(name), after.get(name)))
        if old != new:
            sign = "+" if old is None else "-" if new is None else "~"
            yield sign, 0, f"variable {name}: {' -> '.join(each for each in (old, new) if each is not None)}"


def _play(field: FieldChange) -> Iterator[DiffLine]:
    """A line for each thing that is declared otherwise of how the game is played."""
    before, after = (list(_entries(play_text.parse(each).data())) for each in (field.before, field.after))
    for sign, entries, others in (("-", before, after), ("+", after, before)):
        yield from ((sign, 0, f"play {entry}") for entry in entries if entry not in others)
    if before != after and sorted(before) == sorted(after):
        yield "~", 0, "play outcome: in another order"


def _entries(data: dict[str, Any]) -> Iterator[str]:
    for key, said in data.items():
        for each in said.items() if isinstance(said, dict) else said:
            text = each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
            yield f"{key}: {' -> '.join(each) if isinstance(each, tuple) else text}"


def _declared(variable: Variable) -> str:
    return f"{'|'.join(variable.values)}, at first {variable.initial}"


def _long_field(name: str, before: Sequence[str], after: Sequence[str]) -> Iterator[DiffLine]:
    sign = "+" if not before else "~" if after else "-"
    yield sign, 0, f"{name}: {_lines(before)} -> {_lines(after)}"
    if len(before) + len(after) <= _MAX_COMPARED:
        found = islice(difflib.unified_diff(before, after, lineterm=""), 2, None)
        for line in islice(found, _MAX_LINES):
            yield line[0] if line[0] in "+-" else " ", 1, line if line[0] == "@" else line[1:]
        if more := sum(1 for _ in found):
            yield " ", 1, f"... and {more:,} more lines"


def _lines(lines: Sequence[str]) -> str:
    return f"{len(lines)} line{'s' if len(lines) != 1 else ''}"


def _quoted(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)


def _entry(piece: str, source: str, entry: EntryChange) -> Iterator[DiffLine]:
    if entry.kind == "changed":
        for change in entry.possibilities:
            yield from _possibility(piece, source, entry.destination, change)
        return
    for possibility in entry.before or entry.after:
        yield _SIGNS[entry.kind], 2, possibility_text(piece, source, entry.destination, possibility)


def _possibility(piece: str, source: str, destination: str, change: PossibilityChange) -> Iterator[DiffLine]:
    possibility = change.before if change.after is None else change.after
    text = "" if possibility is None else possibility_text(piece, source, destination, possibility)
    if change.moved:
        text += f" (now possibility {change.to_ordinal}, was {change.from_ordinal})"
    yield _SIGNS[change.kind], 2, text
    for detail in change.details:
        if detail.before is not ABSENT:
            yield "-", 3, _detail(detail, detail.before)
        if detail.after is not ABSENT:
            yield "+", 3, _detail(detail, detail.after)


def _detail(detail: Detail, value: DetailValue) -> str:
    if detail.part == "action":
        return f"action {detail.name}: {json.dumps(value, ensure_ascii=False)}"
    if detail.part == "when":
        return f"when {detail.name}={'|'.join(json.loads(str(value)))}"
    if detail.part == "state":
        return f"effect: {detail.name}:={value}"
    if detail.part == "toggle":
        return "effect: the turn passes" if value else "effect: moves again"
    if detail.part == "hands":
        return f"effect: {value:+} {detail.name}"
    name = "effect:" if detail.part == "board" else detail.part
    return f"{name} {place_text(detail.name)}={value or ''}"


def _moved(places: Sequence[Insertion], changes: Iterable[Change], depth: int) -> Iterator[DiffLine]:
    for place in moved(places, changes):
        where = "first" if place.after is None else f"after {place_text(place.after)}"
        yield "~", depth, f"{place_text(place.key)} now stands {where}"


# --- merges ---


def _merge(merge: Merge) -> Iterator[DiffLine]:
    for name, difference in merge.sides():
        yield " ", 0, f"{name}: {difference}"
        for sign, depth, text in _difference(difference):
            yield sign, depth + 1, text
    number = len(merge.conflicts)
    yield " ", 0, "no conflicts" if not number else f"{number} conflict{'s' if number > 1 else ''}:"
    for conflict in merge.conflicts:
        yield from _conflict(conflict)


def _conflict(conflict: Conflict) -> Iterator[DiffLine]:
    where = " ".join(map(place_text, conflict.path)) or "the document"
    yield "!", 0, where + (f": {conflict.reason}" if conflict.reason else "")
    if not conflict.path:
        return
    for name, value in (("base", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs)):
        if isinstance(value, tuple):
            piece, source, destination = conflict.path
            texts = [possibility_text(piece, source, destination, each) for each in value]
        elif value is None:
            texts = ["(nothing)"]
        elif len(conflict.path) == 2:
            texts = [value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}..."]
        elif "\n" in value:
            texts = [_lines(value.splitlines())]
        else:
            texts = [_quoted(value)]
        label = f"{name}:"
        if len(texts) > _MAX_VALUES:
            texts[_MAX_VALUES - 1 :] = [f"... and {len(texts) - _MAX_VALUES + 1} more possibilities"]
        for text in texts:
            yield " ", 1, f"{label:7} {text}"
            label = ""
