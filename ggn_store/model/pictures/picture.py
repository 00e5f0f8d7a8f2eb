"""What can be drawn: diagrams of positions and moves, heat maps of mobility, posters of pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ggn_store.model.changes.changes import ChangeKind
from ggn_store.model.documents.board import Board
from ggn_store.model.moves.position import Position
from ggn_store.model.pictures.marks import Mark
from ggn_store.model.pictures.style import PLAIN, Style


class Link(NamedTuple):
    """Where a click on a place of a picture leads, and what it is called for those who do not see it."""

    address: str
    words: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """A board with what stands on it, and with marks of the moves of `piece` from `source` where these are given.

    `caption` is shown above the board, if it is not empty; `title` says what the picture is to those who cannot see it.
    `links` are of squares, `hand_links` of pieces in the hands; `last` are squares that a last move has changed,
    `checked` those of royal pieces in check. What `is_flipped` is seen by the second side. `others` are the same of
    each source of the piece, of which a page shows one in place of this as its address says (`anchor`).
    """

    title: str
    board: Board
    position: Position
    caption: str = ""
    piece: str | None = None
    source: str | None = None
    marks: tuple[Mark, ...] = ()
    links: Mapping[str, Link] = field(default_factory=dict)
    hand_links: Mapping[str, Link] = field(default_factory=dict)
    last: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    is_flipped: bool = False
    style: Style = PLAIN
    others: tuple[Diagram, ...] = ()

    def anchor(self, source: str) -> str:
        """What the address of a page ends with that shows what the piece does from this square."""
        return f"from-{self.board.numbers[source]}"

    @property
    def is_of_moves(self) -> bool:
        """Whether it shows moves, of which there may be none."""
        return self.source is not None


@dataclass(frozen=True, slots=True)
class HeatMap:
    """How many squares a piece reaches in one move from each square of an empty board."""

    title: str
    board: Board
    piece: str
    counts: Mapping[str, int]
    style: Style = PLAIN


@dataclass(frozen=True, slots=True)
class Poster:
    """Diagrams of all pieces of a game on one page; `notes` stand below them."""

    title: str
    subtitle: str
    cards: tuple[Diagram, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedMoves:
    """The moves of a piece from a source before and after a change; None where it has none, or there is no such board.

    `marks` says of each destination that differs what became of it. `note` says what is left out.
    """

    title: str
    before: Diagram | None
    after: Diagram | None
    marks: Mapping[str, ChangeKind]
    note: str | None = None


Picture = Diagram | HeatMap | Poster | ChangedMoves


def styled(picture: Picture, change: Callable[[Style], Style]) -> Picture:
    """The picture with another style, made of its own; pictures of changes stay as they are."""
    match picture:
        case Poster():
            return replace(picture, cards=tuple(replace(card, style=change(card.style)) for card in picture.cards))
        case ChangedMoves():
            return picture
        case _:
            return replace(picture, style=change(picture.style))
