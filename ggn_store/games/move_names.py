"""What the moves of a game are called: its definition says which state is another piece, and what castles."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ggn_store.games.rules import Definition
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.move_names import Castled, Names, changes
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import other_side, side_of


class DefinedNames(Names):
    """The names of the moves of a definition, as Fairy-Stockfish gives them."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition

    @functools.cached_property
    def _castlings(self) -> Mapping[frozenset[str], tuple[tuple[str, Castled], ...]]:
        """Each castling with the side that castles, by the squares that it changes."""
        found: dict[frozenset[str], tuple[tuple[str, Castled], ...]] = {}
        for form in self._definition.forms.values():
            for each in form.piece.castling if form.kind == "unmoved" else ():
                if each.side == form.side:
                    ends = (each.source, each.destination, each.rook_source, each.rook_destination)
                    ways = self._definition.army(form.side).ways(form, each.source)
                    goes = any(way.quiet and way.destination == each.destination for way in ways)
                    castled = Castled(*ends, goes or self._definition.castles_anywhere)
                    squares = frozenset(ends)
                    found[squares] = (*found.get(squares, ()), (form.side, castled))
        return found

    def token(self, piece: str) -> str:
        form = self._definition.forms.get(piece)
        return super().token(piece) if form is None else form.piece.token

    def mark(self, before: str, after: str) -> str:
        old, new = self.token(before), self.token(after)
        form = self._definition.forms.get(after)
        if old == new or (form is not None and form.piece.is_wall):  # to stone is no choice
            return ""
        if old.strip("+-") == new.strip("+-") or new == "+P":
            shown = new if form is None or form.piece.fen is None else form.piece.fen
            return "+" if shown[0] == "+" else "-"
        return new.strip("+-").lower()

    def lost(self, move: Move) -> tuple[str, ...]:
        forms = self._definition.forms
        form, becomes = forms.get(move.piece), changes(move).get(move.destination, move.piece)
        if form is None or move.source == HAND or (becomes in forms and not forms[str(becomes)].piece.is_wall):
            return ()
        army = self._definition.army(form.side)
        for rule in form.piece.promotions:
            made = [each for each in map(army.plain, rule.to) if each is not None and not each.piece.is_wall]
            if made and rule.applies(form.side, move.source, move.destination, True):
                stays = () if rule.forced == "yes" else (move.piece,)
                return (*stays, *(each.identifier for each in made))
        return ()

    def left(self, move: Move) -> str:
        form = self._definition.forms.get(move.piece)
        if form is None or form.piece.wall is None:
            return ""
        armies = [self._definition.army(side) for side in (form.side, other_side(form.side))]
        placed = next(filter(None, (army.plain(form.piece.wall.piece) for army in armies))).identifier
        board = changes(move)
        return next((each for each, piece in board.items() if piece == placed and each != move.destination), "")

    def castling(self, move: Move) -> Castled | None:
        squares = frozenset(changes(move)) - {self.left(move)}
        for side, castled in self._castlings.get(squares, ()) if self._castlings else ():
            # A step of the king may change the same squares, and so may castlings with two rooks.
            has_rook = move.must.get(castled.rook_source, EMPTY) not in (EMPTY, ENEMY)
            if side == side_of(move.piece) and move.source in (castled.source, HAND) and has_rook:
                return castled
        return None
