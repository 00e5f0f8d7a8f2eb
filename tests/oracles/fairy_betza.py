"""Betza's notation against Fairy-Stockfish: `python -m tests.oracles.fairy_betza`, with pyffish (the extra `oracles`).

Every string is given to both, as a piece on a board of 12 x 10 among pieces that stand at random; the squares that the
piece can go to are compared. Strings that Fairy-Stockfish has no moves of its own for (riders of D and A, lame C, H and
G, hoppers that leap) are not among them. In it left and right are those of the player, so the board is turned.
"""

from __future__ import annotations

import random

from ggn_store.games.betza import BetzaError, parse
from ggn_store.games.routes import routes
from ggn_store.model.documents.board import parse_shape
from ggn_store.model.documents.geometry import Lattice, view
from ggn_store.notation import cell

BOARD = Lattice(parse_shape("12x10"))
DIRECTIONS = (
    *("", "f", "b", "l", "r", "v", "s", "ff", "fb", "fl", "fr", "bl", "br", "lf", "rf", "lb", "rb", "fs", "bs", "lr"),
    *("fh", "bh", "lh", "rh", "hr", "hl", "lv", "rv", "vv", "ss", "fbl", "flr", "frl", "flbr", "rflb", "fsb"),
)
ATOMS = (
    *("W", "F", "D", "N", "A", "H", "L", "C", "J", "Z", "G", "K", "R", "B", "Q", "NN", "WW", "FF", "W2", "F3", "R3"),
    *("B2", "Q2", "N2"),
)


def strings() -> list[str]:
    """What is compared."""
    found = [direction + atom for direction in DIRECTIONS for atom in ATOMS]
    found += [f"n{direction}{atom}" for atom in "NADZ" for direction in ("", "f", "b", "fs", "v")]
    for hop in "pg":
        for atom in ("R", "B", "Q", "W3", "FF") if hop == "p" else ("R", "B", "Q"):
            for direction in ("", "f", "s", "bl"):
                found += [hop + direction + atom, f"c{hop}{direction}{atom}", f"m{direction}Rc{hop}{direction}{atom}"]
    return found + [mode + atom for mode in "mc" for atom in ("N", "R", "fF", "K", "sQ")]


def configuration(found: list[str]) -> str:
    """One variant for each string, with no piece but this one and those in its way."""
    return "".join(
        f"[betza{number}:chess]\nmaxRank = 10\nmaxFile = 12\ncustomPiece1 = a:{betza}\nking = -\ncommoner = k\n"
        f"castling = false\ndoubleStep = false\nstartFen = {'/'.join(['12'] * 10)} w - - 0 1\n"
        for number, betza in enumerate(found)
    )


def fen(board: dict[str, str], side: str) -> str:
    """The FEN of a board of 12 x 10."""
    rows = []
    for y in reversed(range(10)):
        row = "".join(board.get(cell.text((x, y)), ".") for x in range(12))
        rows.append("".join(str(len(part)) if part[0] == "." else part for part in _runs(row)))
    return f"{'/'.join(rows)} {side} - - 0 1"


def _runs(row: str) -> list[str]:
    found: list[str] = []
    for square in row:
        if square == "." and found and found[-1][0] == ".":
            found[-1] += square
        else:
            found.append(square)
    return found


def main() -> None:
    """Compare, and print every difference."""
    import pyffish

    found = strings()
    pyffish.load_variant_config(configuration(found))
    chance = random.Random(3)
    refused = compared = different = 0
    for number, betza in enumerate(found):
        try:
            patterns = parse(betza)
        except BetzaError:
            refused += 1
            continue
        for blockers in (0, 10, 25, 45, 0, 10):
            side = chance.choice("wb")
            source = cell.text((chance.randrange(3, 9), chance.randrange(3, 7)))
            board = {chance.choice(BOARD.board.squares): chance.choice("nN") for _ in range(blockers)}
            board[source] = "A" if side == "w" else "a"
            text = fen(board, side)
            moves = (move for move in pyffish.legal_moves(f"betza{number}", text, []) if move.startswith(source))
            theirs = {move[len(source) :] for move in moves if move[len(source)].isalpha()}
            ours = set()
            seen = view("first" if side == "w" else "second", 2, is_turned=True)
            for route in routes(patterns, source, BOARD, seen):
                passed = not any(each in board for each in route.empty) and all(
                    each in board for each in route.occupied
                )
                target = board.get(route.destination)
                enemy = target is not None and target.isupper() != (side == "w")
                if passed and ((target is None and route.quiet) or (enemy and route.capture)):
                    ours.add(route.destination)
            compared += 1
            if ours != theirs:
                different += 1
                print(f"{betza} on {source} of {text}: no {sorted(theirs - ours)}, also {sorted(ours - theirs)}")
    print(f"{len(found)} strings, {refused} refused, {compared} positions, {different} different")


if __name__ == "__main__":
    main()
