"""The game descriptions in data/gdl, and positions of chess in the words of its description."""

from __future__ import annotations

import functools
from pathlib import Path

import chess as python_chess

from tests.oracles import python_chess as oracle
from tests.oracles.gdl_interpreter import Game, Kind, Position

GDL = Path(__file__).parents[2] / "data" / "gdl"
# These are held to the interpreter in many positions; the others to oracles of their own.
SPECIFICATIONS = ("checkers", "chess", "contraband", "hexguard")
DRAUGHTS = (
    *("brazilian-draughts", "czech-draughts", "international-draughts", "italian-draughts", "pool-checkers"),
    *("russian-draughts", "spanish-draughts", "thai-checkers", "turkish-draughts"),
)
BOARDS = (
    *("adugo", "alquerque", "ard-ri", "asalto", "bagh-chal", "brandubh", "catch-the-hare", "chinese-checkers"),
    *("dash-guti", "dodgem", "felli", "five-mens-morris", "four-field-kono", "fox-and-geese", "halma"),
    *("hare-and-hounds", "hex", "hex13", "jungle", "kaooa", "kolowis-awithlaknannai", "konane", "lau-kata-kati"),
    *("len-choa", "lines-of-action", "mu-torere", "nine-mens-morris", "peralikatuma", "pong-hau-ki"),
    *("scrambled-eggs", "seega", "shisima", "six-mens-morris", "sixteen-soldiers", "sua-ghin-gnua", "tablut"),
    *("tsoro-yematatu", "twelve-mens-morris"),
)
# Whose oracles are files of their own.
OTHERS = ("duck-chess", "fanorona")
TARGETED = ["castling", "en_passant", "promotion", "double_step", "pins_and_checks", "conditions"]
RANKS = {
    "P": "pawn",
    "N": "knight",
    "B": "bishop",
    "R": "rook",
    "+R": "unmoved_rook",
    "Q": "queen",
    "K^": "king",
    "+K^": "unmoved_king",
}
CHESS_KINDS: dict[str, Kind] = {
    f"{style}:{name if style == 'C' else name.lower()}": (owner, "Piece", {"rank": rank})
    for style, owner in (("C", "White"), ("c", "Black"))
    for name, rank in RANKS.items()
}


@functools.cache
def game(name: str) -> Game:
    return Game.read(GDL / f"{name}.json")


def of_chess(board: python_chess.Board) -> Position:
    """A position of python-chess in the words of the specification."""
    squares, side = oracle.position_of(board)
    plain = {square: piece.replace(":-", ":") for square, piece in squares.items()}
    ep = -1 if board.ep_square is None else python_chess.square_file(board.ep_square)
    player = "White" if side == "first" else "Black"
    return game("chess").from_identifiers(plain, {"ep": str(ep)}, player, CHESS_KINDS)


def boards_of(name: str, every: int) -> list[python_chess.Board]:
    return oracle.read_positions(oracle.POSITIONS / f"chess_{name}.fen")[::every]
