"""Pictures of what a change does to the moves of pieces: boards before and after, a file each."""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from ggn_store.api.handle import Handle
from ggn_store.api.moves.pictures import board_of, moves_from
from ggn_store.api.moves.styles import style_of
from ggn_store.errors import printable
from ggn_store.model.changes.changes import Diff, PieceChange, SourceChange
from ggn_store.model.moves.position import Position
from ggn_store.model.pictures.picture import ChangedMoves, Diagram
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND
from ggn_store.output import new_directory
from ggn_store.render.diagrams import to_svg

_MOST: Final = 60
_SOURCES: Final = 2  # of a piece
_ROOM: Final = "name a new directory, or an empty one"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.-]+")


def changed(before: Handle | None, after: Handle, difference: Diff, *, alone: bool = False) -> Iterator[ChangedMoves]:
    """A picture for each piece that changed, from the source where most did, near the middle of those where it did.

    There is a second one where that shows more.

    If the difference is of some sources only, these are read `alone`, too.
    """
    for piece in difference.pieces:
        chosen = _telling(piece)
        for number, source in enumerate(chosen):
            left = len(piece.sources) - len(chosen)
            is_last = number == len(chosen) - 1
            note = (
                f"{left:,} other sources change, too" if left > 1 else "1 other source changes, too" if left else None
            )
            sides = [_diagram(handle, piece.piece, source.source, alone) for handle in (before, after)]
            marks = {each.destination: each.kind for each in source.destinations}
            where = "from the hand" if source.source == HAND else f"from {source.source}"
            base = "nothing" if before is None else before.revision
            title = f"{piece.piece} {where}: {base} to {after.revision}"
            yield ChangedMoves(title, sides[0], sides[1], marks, note if is_last else None)


def write(directory: str | os.PathLike[str], before: Handle | None, after: Handle, difference: Diff) -> int:
    """Write the pictures into a new directory, with a page that lists them; how many there are."""
    names: list[tuple[str, str]] = []
    left_out = 0
    with new_directory(directory, _ROOM) as part:
        for picture in changed(before, after, difference):
            if len(names) == _MOST:
                left_out += 1
                continue
            words = _UNSAFE.sub("_", picture.title.partition(": ")[0])[:60]
            name = f"{len(names) + 1:03}-{words}.svg"
            (part / name).write_text(to_svg(picture), encoding="utf-8")
            names.append((name, picture.title))
        said = [f"{left_out:,} more pictures are left out"] if left_out else []
        said += [] if names else ["no moves changed"]
        (part / "index.html").write_text(_page(str(after.revision), names, said), encoding="utf-8")
    return len(names)


def _page(title: str, names: list[tuple[str, str]], notes: list[str]) -> str:
    shown = html.escape(printable(title))
    pictures = (
        f'<p><img src="{name}" alt="{html.escape(printable(about))}" style="max-width: 100%"></p>'
        for name, about in names
    )
    return "\n".join(
        [
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{shown}</title></head><body>',
            f"<h1>{shown}</h1>",
            *pictures,
            *(f"<p>{note}</p>" for note in notes),
            "</body></html>\n",
        ]
    )


def _telling(piece: PieceChange) -> list[SourceChange]:
    """The source with most changes of different kinds, and others while they show what those before do not."""
    sources = sorted((source for source in piece.sources if source.destinations), key=_from_middle(piece))
    waiting = {source.source: _kinds(source) for source in sources}
    by_name = {source.source: source for source in piece.sources}
    chosen: list[SourceChange] = []
    shown: set[tuple[object, ...]] = set()
    while waiting and len(chosen) < _SOURCES:
        best = max(waiting, key=lambda name: len(waiting[name] - shown))
        if not waiting[best] - shown:
            break
        chosen.append(by_name[best])
        shown |= waiting.pop(best)
    return chosen


def _from_middle(piece: PieceChange) -> Callable[[SourceChange], float]:
    """How far a source is from the middle of all that have coordinates; others are farther."""
    places = {each.source: cell.parse(each.source) for each in piece.sources if cell.is_cell(each.source)}
    middle = [sum(each) / len(places) for each in zip(*places.values(), strict=False)]

    def distance(source: SourceChange) -> float:
        place = places.get(source.source)
        return math.inf if place is None else math.dist(place[: len(middle)], middle)

    return distance


def _kinds(source: SourceChange) -> set[tuple[object, ...]]:
    """What changes, as seen from the source: the same step from another square is no news."""
    found: set[tuple[object, ...]] = set()
    for each in source.destinations:
        place: object = each.destination
        if cell.is_cell(source.source) and cell.is_cell(each.destination):
            here, there = cell.parse(source.source), cell.parse(each.destination)
            place = tuple(b - a for a, b in zip(here, there, strict=False))
        found.add((each.kind, place))
    return found


def _diagram(handle: Handle | None, identifier: str, source: str, alone: bool) -> Diagram | None:
    """The moves from a source in one of the rulesets; the bare square where the piece has none from there."""
    if handle is None:
        return None
    board = board_of(handle)
    if source != HAND and source not in board.numbers:
        return None
    name = str(handle.revision)
    if identifier not in handle.pieces:
        return Diagram(name, board, Position({}, None), name, identifier, source, style=style_of(handle))
    shown = moves_from(handle, handle.read_source(identifier, source, alone=alone), source, board)
    return replace(shown, caption=name, style=style_of(handle))
