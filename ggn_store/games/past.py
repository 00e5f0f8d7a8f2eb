"""What pieces have done before, as far as it allows a move: castling, first moves, and others that enter by gating."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ggn_store.games.rules import SIDES, Definition, Form
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side


@dataclass(frozen=True)
class Past:
    """What the unmoved pieces of a game may still do."""

    definition: Definition

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

    def unmoved_on(self, side: Side, board: Mapping[str, Form]) -> dict[str, Form]:
        """The pieces of a side on a board that have not moved, by their squares."""
        return {square: form for square, form in self.unmoved(side) if board.get(square) is form}

    def rights(self, board: Mapping[str, str | None], hands: Mapping[str, int] | None) -> frozenset[str]:
        """The squares of pieces that have not moved, where that still allows a move."""
        known = self.definition.forms
        forms = {square: known[piece] for square, piece in board.items() if piece is not None and piece in known}
        found: set[str] = set()
        for side in SIDES:
            here = self.unmoved_on(side, forms)
            found.update(square for square, form in here.items() if self.remembers(form, hands))
            for ends in self.castlings(side, forms).values():
                squares = [square for square, _ in ends]
                found.update(squares if here.keys() >= {*squares} else ())
        return frozenset(found)


def is_same(one: Form, other: Form) -> bool:
    """Whether two are the same piece of a side, whatever their past."""
    return (one.piece.token, one.side) == (other.piece.token, other.side)
