"""The letters that FEN and SFEN write the pieces of a game with, and what these formats leave to its definition.

A piece is written as its table is called (`K`, `+P`) or as its key `fen` says (`Q~`, `*`), lower case for the second
side.
The states that say what a piece's past allows have no letter: FEN has fields of their own for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ggn_store.errors import PositionError
from ggn_store.games.past import Past
from ggn_store.games.rules import SIDES, Definition, Form
from ggn_store.model.documents.geometry import Lattice
from ggn_store.notation import feen


@dataclass(frozen=True)
class Letters(Past):
    """How positions of a game are written; raises PositionError where its board or its letters cannot be."""

    def __post_init__(self) -> None:
        dimensions = self.definition.lattice.dimensions
        if dimensions != 2:
            raise PositionError(
                f"FEN and SFEN are for boards of two dimensions, and this game's has {dimensions}: write FEEN"
            )
        if twice := list(conflicts(self.definition)):
            raise PositionError(f"FEN and SFEN cannot write this game: {twice[0]}")

    @cached_property
    def pieces(self) -> Mapping[str, Form]:
        """The piece without a past that each token writes."""
        return {
            token_of(form): form for form in self.definition.forms.values() if form.kind == "plain" and not form.derived
        }

    @cached_property
    def has_hands(self) -> bool:
        """Whether anything ever is in a hand."""
        return self.definition.captures or any(form.can_be_held for form in self.definition.forms.values())

    @cached_property
    def held(self) -> frozenset[str]:
        """The tokens of the pieces that come from a hand, or go to one when something is captured."""
        every, definition = self.definition.forms.values(), self.definition
        taken = {each.piece.hand for each in every if each.piece.hand is not None and definition.captures}
        return frozenset({each.piece.token for each in every if each.can_be_held} | taken)

    @cached_property
    def free(self) -> Mapping[str, int]:
        """What is in the hands at the start and never runs out: as many of a piece as there are squares."""
        start = self.definition.start
        hands = {} if start is None else feen.parse(start).hands
        return {piece: count for piece, count in hands.items() if count >= len(self.definition.board.numbers)}

    @cached_property
    def rows(self) -> tuple[tuple[str | None, ...], ...]:
        """The squares in the order of the text, the highest rank first; None where the board has a hole."""
        lattice = Lattice(self.definition.board)  # of labels, wherever hexagons lie
        files, ranks = (range(low, low + size) for low, size in zip(lattice.low, lattice.size, strict=True))
        return tuple(tuple(lattice.at((file, rank)) for file in files) for rank in reversed(ranks))


def token_of(form: Form) -> str:
    """What FEN writes for a piece, whatever its past."""
    token = form.piece.fen or form.piece.token
    return token.upper() if form.side == "first" else token.lower()


def conflicts(definition: Definition) -> Iterator[str]:
    """What two pieces of one side that are written alike are called, for each such pair."""
    for side in SIDES:
        known: dict[str, str] = {}
        for piece in definition.pieces:
            if side in piece.sides:
                token = piece.fen or piece.token
                if known.setdefault(token, piece.token) != piece.token:
                    yield f"{known[token]} and {piece.token} would both be written {token}"
