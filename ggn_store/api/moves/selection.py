"""The chain of Ggn.rb in Python's words: a piece, a source, a destination, and what holds there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ggn_store.api.handle import AnyPosition, as_position
from ggn_store.api.moves.moves import Moves, Query
from ggn_store.errors import UnknownNameError, offer, quote
from ggn_store.model.moves.move import Assumption, Move
from ggn_store.model.moves.position import side_named
from ggn_store.notation.qpi import Side, side_of
from ggn_store.store.moves.reading import Question


@dataclass(frozen=True, slots=True)
class SelectedPiece:
    """The rules of one piece: the first step of `ruleset.select("C:P").from_("e2").to("e4").where(position)`."""

    moves: Moves
    piece: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The squares (or `*`, the hand) that the piece has rules from, in document order."""
        return tuple(source.square for source in self.moves.handle.read_outline(self.piece).sources)

    def from_(self, source: str) -> SelectedSource:
        """The rules from one source; raises UnknownNameError (a KeyError) where there are none."""
        require_source(self.piece, source, self.sources)
        return SelectedSource(self.moves, self.piece, source)


@dataclass(frozen=True, slots=True)
class SelectedSource:
    """The rules of one piece from one source."""

    moves: Moves
    piece: str
    source: str

    @property
    def destinations(self) -> tuple[str, ...]:
        """The squares (or `*`, the hand) that the rules lead to, in document order."""
        sources = self.moves.handle.read_outline(self.piece).sources
        source = next(each for each in sources if each.square == self.source)
        return tuple(destination.square for destination in source.destinations)

    def to(self, destination: str) -> SelectedDestination:
        """The rules to one destination; raises UnknownNameError (a KeyError) where there are none."""
        destinations = self.destinations
        if destination not in destinations:
            raise UnknownNameError(
                f"{self.piece} has no rules from {self.source} to {quote(destination)}; it has {offer(destinations)}"
            )
        return SelectedDestination(self.moves, self.piece, self.source, destination)


@dataclass(frozen=True, slots=True)
class SelectedDestination:
    """The possibilities of one piece from one source to one destination."""

    moves: Moves
    piece: str
    source: str
    destination: str

    def where(
        self,
        position: AnyPosition,
        *,
        side: Side | None = None,
        hands: Mapping[str, int] | None = None,
        assume: Assumption | None = None,
        query: Query = "fast",
    ) -> list[Move]:
        """The possibilities that hold in a position, in document order.

        The active side, which `enemy` is seen from, is `side`, else the piece's own; whose turn it is in the
        position does not matter. `hands` goes with a position that is a plain mapping of squares.
        """
        if side is not None:
            side_named(side)
        asked = as_position(position) if hands is None else replace(as_position(position), hands=hands)
        question = Question(self.piece, self.source, self.destination, side=side or side_of(self.piece), any_side=True)
        return self.moves.one(asked, question, assume, query)


def require_source(piece: str, source: str, sources: Sequence[str]) -> None:
    """Raise UnknownNameError (a KeyError) where a piece has no rules from a source."""
    if source not in sources:
        raise UnknownNameError(f"{piece} has no rules from {quote(source)}; it has {offer(sources)}")
