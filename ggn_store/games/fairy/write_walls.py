"""What the pieces of a definition leave on the board -> the rule of walls of a variants.ini."""

from __future__ import annotations

from typing import Final

from ggn_store.games.fairy.write_pieces import PieceWriter, quiet, ways
from ggn_store.games.rules import PieceRule, Promotion, Wall, Zone

_ARROW: Final = "an arrow goes as its piece does in Fairy-Stockfish"


def write(writer: PieceWriter) -> None:
    """The options of walls: one rule for all moves of all pieces."""
    walled = [piece for piece in writer.plain if piece.wall is not None]
    for piece in writer.plain:
        if piece.wall is not None:
            _rule(writer, piece, piece.wall, writer.where(piece, "wall"))
        elif walled and any(also.moves.patterns for also in piece.ways):
            writer.leave(writer.where(piece, "wall"), "each move of every piece leaves a wall, or none", moves=True)
    if walled and writer.has_royal:
        writer.leave("play.duties", "walls shield no royal piece in Fairy-Stockfish", moves=True)


def petrify(writer: PieceWriter, piece: PieceRule, rule: Promotion, where: str) -> None:
    """The option of a piece that is a wall once it has captured."""
    if not (rule.on == "any" and rule.capturing and rule.forced == "yes") or piece.state:
        writer.leave(where, "a piece turns to stone with each of its captures, and no other way", moves=True)
    before = writer.options.get("petrifyOnCaptureTypes", "")
    writer.options["petrifyOnCaptureTypes"] = before + piece.letter.lower()


def _rule(writer: PieceWriter, piece: PieceRule, wall: Wall, where: str) -> None:
    if wall.piece not in writer.walls:
        writer.leave(where, f"only a wall can be left: {wall.piece} is none (betza, immune, fen)", moves=True)
        return
    rule = "past" if wall.past else "arrow" if wall.moves.patterns else "static"
    if rule == "arrow" and ways(wall.moves.patterns) != quiet(piece.moves.patterns):
        writer.leave(where, _ARROW, moves=True)
    writer.put("wallingRule", rule, where)
    writer.zones("wallingRegion", wall.zone or Zone(writer.squares, writer.squares), where, piece.sides)
