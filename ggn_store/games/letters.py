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
from ggn_store.games.rules import SIDES, Definition, Form
from ggn_store.model.documents.geometry import Lattice
from ggn_store.notation import cell, feen
from ggn_store.notation.qpi import Side


@dataclass(frozen=True)
class Letters:
    """How positions of a game are written; raises PositionError where its board or its letters cannot be."""

    definition: Definition

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

    def unmoved(self, side: Side) -> list[tuple[str, Form]]:
        """The squares on which pieces of a side may be unmoved, each with such a piece."""
        forms = self.definition.army(side).forms
        return [(square, form) for form in forms if form.kind == "unmoved" for square in sorted(form.squares or ())]

    def castlings(self, side: Side, board: Mapping[str, Form]) -> dict[str, tuple[tuple[str, Form], tuple[str, Form]]]:
        """The king and the rook of the castlings of a side by their letter, K towards the last file and Q to the first.

        Where kings castle from several squares these are castlings of what stands on the board: by the files of rooks,
        and with the outermost ones as K and Q.
        """
        found: dict[str, tuple[tuple[str, Form], tuple[str, Form]]] = {}
        unmoved = {(square, form.piece.token): form for square, form in self.unmoved(side)}
        for king, form in self.unmoved(side):
            for castling in form.piece.castling:
                if (castling.side, castling.source) != (side, king):
                    continue
                rook = castling.rook_source
                ends = (king, form), (rook, unmoved[rook, castling.rook])
                east = cell.parse(rook)[0] > cell.parse(king)[0]
                letter = "K" if east else "Q"
                if not self.definition.castles_anywhere:
                    found.setdefault(letter, ends)
                elif all(square in board and is_same(board[square], each) for square, each in ends):
                    found[rook[0].upper()] = ends
                    if letter not in found or (rook > found[letter][1][0]) == east:
                        found[letter] = ends
        return found

    def remembers(self, form: Form, hands: Mapping[str, int] | None = None) -> bool:
        """Whether it matters of an unmoved piece alone that it has not moved, apart from castling.

        Where pieces enter by gating it does as long as there is one to enter, in `hands` or by later captures.
        """
        patterns = (pattern for also in form.piece.ways for pattern in also.moves.patterns)
        if form.piece.initial is None and any(pattern.initial for pattern in patterns):
            return True
        gates = [each.identifier for each in self.definition.army(form.side).forms if each.piece.gating]
        return bool(gates) and (self.definition.captures or hands is None or any(hands.get(each) for each in gates))


def is_same(one: Form, other: Form) -> bool:
    """Whether two are the same piece of a side, whatever their past."""
    return (one.piece.token, one.side) == (other.piece.token, other.side)


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
