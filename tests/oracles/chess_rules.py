"""The rules of chess, both sides, as one GGN document in the `diff` dialect.

`python -m tests.oracles.chess_rules` prints it, and data/chess.json is that output. The rules are those of the FIDE
Laws of Chess, articles 3.1 to 3.8, without what GGN leaves to the host: nothing here knows check, and castling
does not ask whether a square is attacked.

A piece's state says what its past allows:

- `+K^`  a king that has not moved (it stands on e1 or e8), `K^` one that has;
- `+R`   a rook that has not moved (it stands in its corner), `R` one that has;
- `-P`   a pawn that has just made its double step: it can be captured en passant. The host makes it `P` again
         when its side is next to move. A mark that stays does the pawn no harm: it moves as `P` does.

Pieces are in the order +K^ K^ Q +R R B N P -P, white then black; sources a1, b1, ... h1, a2, ... h8.
Destinations, north being towards the eighth rank for both sides: kings, queens, rooks and bishops ray by ray,
clockwise from the north, nearest square first; knights clockwise from north-north-east; castling last, the
king's side first; pawns one step, double step, capture towards the a-file, capture towards the h-file.
Possibilities: quiet, capture, en passant; promotions queen, rook, bishop, knight.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Possibility = dict[str, dict[str, Any]]
Destinations = dict[str, list[Possibility]]
Rules = dict[str, dict[str, Destinations]]

FILES = "abcdefgh"
RANKS = "12345678"
SQUARES = [file + rank for rank in RANKS for file in FILES]

STRAIGHT = [(0, 1), (1, 0), (0, -1), (-1, 0)]
DIAGONAL = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
EVERY_WAY = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
KNIGHT_JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


@dataclass(frozen=True)
class Side:
    """What differs between the sides: the case of their pieces and the ranks that their rules name."""

    upper: bool
    forward: int
    home: str
    pawns: str
    after_double_step: str
    en_passant: str
    last: str

    def piece(self, name: str) -> str:
        """The identifier of a piece of this side: `+R` is `C:+R` or `c:+r`."""
        return f"C:{name}" if self.upper else f"c:{name.lower()}"


WHITE = Side(True, 1, home="1", pawns="2", after_double_step="4", en_passant="5", last="8")
BLACK = Side(False, -1, home="8", pawns="7", after_double_step="5", en_passant="4", last="1")


def rules() -> Rules:
    """The whole document: piece, source, destination, list of possibilities."""
    document: Rules = {}
    for side, other in ((WHITE, BLACK), (BLACK, WHITE)):
        king_home = "e" + side.home
        rook_homes = ["a" + side.home, "h" + side.home]
        unmoved_king = rides(side, "K^", [king_home], EVERY_WAY, longest=1)
        unmoved_king[king_home] |= castling(side)
        behind_last = [square for square in SQUARES if square[1] not in (side.home, side.last)]
        marked = [square for square in SQUARES if square[1] == side.after_double_step]
        document |= {
            side.piece("+K^"): unmoved_king,
            side.piece("K^"): rides(side, "K^", SQUARES, EVERY_WAY, longest=1),
            side.piece("Q"): rides(side, "Q", SQUARES, EVERY_WAY),
            side.piece("+R"): rides(side, "R", rook_homes, STRAIGHT),
            side.piece("R"): rides(side, "R", SQUARES, STRAIGHT),
            side.piece("B"): rides(side, "B", SQUARES, DIAGONAL),
            side.piece("N"): rides(side, "N", SQUARES, KNIGHT_JUMPS, longest=1),
            side.piece("P"): {source: pawn(side, other, source) for source in behind_last},
            side.piece("-P"): {source: pawn(side, other, source) for source in marked},
        }
    return document


def rides(
    side: Side, becomes: str, sources: list[str], directions: list[tuple[int, int]], longest: int = 7
) -> dict[str, Destinations]:
    """Moves in straight lines over empty squares; one step is as far as kings and knights go."""
    return {
        source: {
            path[-1]: [
                possibility(
                    dict.fromkeys(path[:-1], "empty") | {path[-1]: found},
                    {source: None, path[-1]: side.piece(becomes)},
                )
                for found in ("empty", "enemy")
            ]
            for direction in directions
            for path in paths(source, direction, longest)
        }
        for source in sources
    }


def castling(side: Side) -> Destinations:
    """King and rook change places past each other; every square between them is empty (3.8.2)."""
    destinations = {}
    for rook_file, between, king_to, rook_to in (("h", "fg", "g", "f"), ("a", "bcd", "c", "d")):
        rook_home = rook_file + side.home
        destinations[king_to + side.home] = [
            possibility(
                {file + side.home: "empty" for file in between} | {rook_home: side.piece("+R")},
                {
                    "e" + side.home: None,
                    rook_home: None,
                    king_to + side.home: side.piece("K^"),
                    rook_to + side.home: side.piece("R"),
                },
            )
        ]
    return destinations


def pawn(side: Side, other: Side, source: str) -> Destinations:
    """Everything that a pawn can do from one square (3.7)."""
    destinations: Destinations = {}
    ahead = neighbour(source, 0, side.forward)
    assert ahead is not None, "a pawn has no rules on its last rank"
    becomes = ["Q", "R", "B", "N"] if ahead[1] == side.last else ["P"]
    destinations[ahead] = [possibility({ahead: "empty"}, {source: None, ahead: side.piece(name)}) for name in becomes]

    two_ahead = neighbour(source, 0, 2 * side.forward)
    if source[1] == side.pawns and two_ahead is not None:
        destinations[two_ahead] = [
            possibility({ahead: "empty", two_ahead: "empty"}, {source: None, two_ahead: side.piece("-P")})
        ]

    for sideways in (-1, 1):
        target, beside = neighbour(source, sideways, side.forward), neighbour(source, sideways, 0)
        if target is None or beside is None:
            continue
        destinations[target] = [
            possibility({target: "enemy"}, {source: None, target: side.piece(name)}) for name in becomes
        ]
        if source[1] == side.en_passant:
            destinations[target].append(
                possibility(
                    {target: "empty", beside: other.piece("-P")},
                    {source: None, beside: None, target: side.piece("P")},
                )
            )
    return destinations


def possibility(must: dict[str, str], board: dict[str, str | None]) -> Possibility:
    """One object of a destination's array, its maps in the order of the square names."""
    return {"must": dict(sorted(must.items())), "diff": {"board": dict(sorted(board.items()))}}


def paths(source: str, direction: tuple[int, int], longest: int) -> Iterator[list[str]]:
    """The squares passed on the way to each destination on a ray, the destination itself last."""
    path: list[str] = []
    for distance in range(1, longest + 1):
        square = neighbour(source, direction[0] * distance, direction[1] * distance)
        if square is None:
            return
        path.append(square)
        yield list(path)


def neighbour(square: str, files: int, ranks: int) -> str | None:
    """The square so many files to the right and ranks up, or None past the edge."""
    file, rank = FILES.index(square[0]) + files, RANKS.index(square[1]) + ranks
    return FILES[file] + RANKS[rank] if 0 <= file < 8 and 0 <= rank < 8 else None


def text(document: Rules) -> str:
    """The canonical text: one possibility a line. Its levels have the same brackets as the document's."""

    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def level(values: dict[str, str], indent: str, brackets: str) -> str:
        lines = [
            f"{indent}{compact(name)}:{brackets[0]}\n{value}\n{indent}{brackets[1]}" for name, value in values.items()
        ]
        return ",\n".join(lines)

    pieces = {}
    for piece, sources in document.items():
        of_piece = {}
        for source, destinations in sources.items():
            of_source = {
                destination: ",\n".join("    " + compact(one) for one in possibilities)
                for destination, possibilities in destinations.items()
            }
            of_piece[source] = level(of_source, "   ", "[]")
        pieces[piece] = level(of_piece, "  ", "{}")
    return "{\n" + level(pieces, " ", "{}") + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(text(rules()))
