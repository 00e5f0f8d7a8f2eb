"""Draughts in plain Python, from the written rules of each game; nothing here uses ggn_store.

A move is the path of squares on which the piece that moves stands, with what it takes: each landing is one of them, so
that a king which could land in several places makes several moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

Square = tuple[int, int]
DIAGONAL = ((1, 1), (-1, 1), (1, -1), (-1, -1))
STRAIGHT = ((0, 1), (1, 0), (-1, 0), (0, -1))


class Piece(NamedTuple):
    side: int  # 1 goes up the board and moves first, -1 goes down
    is_king: bool


Board = dict[Square, Piece]


class Move(NamedTuple):
    path: tuple[Square, ...]
    taken: tuple[tuple[Square, Piece], ...]
    after: tuple[tuple[Square, Piece], ...]


@dataclass(frozen=True)
class Rules:
    """What one game of draughts says otherwise than another."""

    size: int = 8
    rows: tuple[int, ...] = (0, 1, 2)
    colour: int = 0  # of the squares that are used: 0 where the first side's left corner is one of them
    is_straight: bool = False  # along rows and files, on all squares: Turkish draughts
    men_capture_back: bool = True
    flies: bool = True
    lands_behind: bool = False
    removes_at_once: bool = False
    is_crowned_in_passing: bool = False
    men_take_kings: bool = True
    # Which captures are preferred, in this order: `most`, `kings` taken, `king` that takes, `early` kings
    prefers: tuple[str, ...] = ()

    def start(self) -> Board:
        men = {}
        for y in self.rows:
            for x in range(self.size):
                if self.is_straight or (x + y) % 2 == self.colour:
                    men[x, y] = Piece(1, False)
                    men[self.size - 1 - x, self.size - 1 - y] = Piece(-1, False)
        return men

    def is_on(self, square: Square) -> bool:
        return 0 <= square[0] < self.size and 0 <= square[1] < self.size

    def last(self, side: int) -> int:
        return self.size - 1 if side > 0 else 0

    def moves(self, board: Board, side: int) -> list[Move]:
        own = [square for square, piece in board.items() if piece.side == side]
        captures = [move for square in own for move in self.captures(board, square)]
        if not captures:
            return [move for square in own for move in self.steps(board, square)]
        ranks: dict[str, Callable[[Move], tuple[int, ...]]] = {
            "most": lambda move: (len(move.taken),),
            "kings": lambda move: (sum(piece.is_king for _, piece in move.taken),),
            "king": lambda move: (board[move.path[0]].is_king,),
            "early": lambda move: tuple(piece.is_king for _, piece in move.taken),
        }
        for preference in self.prefers:
            best = max(map(ranks[preference], captures))
            captures = [move for move in captures if ranks[preference](move) == best]
        return captures

    # --- without captures ---

    def steps(self, board: Board, start: Square) -> Iterator[Move]:
        piece = board[start]
        for dx, dy in STRAIGHT if self.is_straight else DIAGONAL:
            if not piece.is_king and dy == -piece.side:
                continue
            if piece.is_king or dy == piece.side or self.is_straight:
                at = (start[0] + dx, start[1] + dy)
                while self.is_on(at) and at not in board:
                    after = {square: each for square, each in board.items() if square != start}
                    after[at] = Piece(piece.side, piece.is_king or at[1] == self.last(piece.side))
                    yield Move((start, at), (), tuple(sorted(after.items())))
                    if not (piece.is_king and self.flies):
                        break
                    at = (at[0] + dx, at[1] + dy)

    # --- captures ---

    def captures(self, board: Board, start: Square) -> list[Move]:
        piece = board[start]
        lifted = {square: each for square, each in board.items() if square != start}
        return [self.made(board, start, piece, jumps) for jumps in self.jumps(lifted, start, piece, (), None)]

    def made(self, board: Board, start: Square, piece: Piece, jumps: tuple[Jump, ...]) -> Move:
        taken = tuple((jump.over, board[jump.over]) for jump in jumps)
        gone = {start, *(jump.over for jump in jumps)}
        after = {square: each for square, each in board.items() if square not in gone}
        end = jumps[-1].to
        is_king = piece.is_king or end[1] == self.last(piece.side)
        if self.is_crowned_in_passing:
            is_king = is_king or any(jump.to[1] == self.last(piece.side) for jump in jumps)
        after[end] = Piece(piece.side, is_king)
        return Move((start, *(jump.to for jump in jumps)), taken, tuple(sorted(after.items())))

    def jumps(
        self, board: Board, at: Square, piece: Piece, over: tuple[Square, ...], heading: Square | None
    ) -> Iterator[tuple[Jump, ...]]:
        """All sequences of jumps from a square that cannot be gone on with; `over` has been jumped."""
        for way in STRAIGHT if self.is_straight else DIAGONAL:
            if self.is_straight and piece.is_king and heading == (-way[0], -way[1]):
                continue  # never straight back
            landings = self.landings(board, at, piece, over, way)
            endings = []
            is_gone_on = False
            for jump in landings:
                left = board
                if self.removes_at_once:
                    left = {square: each for square, each in board.items() if square != jump.over}
                now = piece
                if self.is_crowned_in_passing and jump.to[1] == self.last(piece.side):
                    now = Piece(piece.side, True)
                further = list(self.jumps(left, jump.to, now, (*over, jump.over), way))
                if further:
                    is_gone_on = True
                    for rest in further:
                        yield (jump, *rest)
                else:
                    endings.append(jump)
            # Where a capture can be gone on with from some squares behind what was jumped, it is.
            if not is_gone_on:
                for jump in endings:
                    yield (jump,)

    def landings(self, board: Board, at: Square, piece: Piece, over: tuple[Square, ...], way: Square) -> Iterator[Jump]:
        dx, dy = way
        if not piece.is_king and dy == -piece.side and (self.is_straight or not self.men_capture_back):
            return
        x, y = at[0] + dx, at[1] + dy
        while piece.is_king and self.flies and self.is_on((x, y)) and (x, y) not in board:
            x, y = x + dx, y + dy
        enemy = board.get((x, y))
        if enemy is None or enemy.side == piece.side or (x, y) in over:
            return
        if enemy.is_king and not piece.is_king and not self.men_take_kings:
            return
        taken = (x, y)
        x, y = x + dx, y + dy
        while self.is_on((x, y)) and (x, y) not in board:
            yield Jump(taken, (x, y))
            if not (piece.is_king and self.flies) or self.lands_behind:
                return
            x, y = x + dx, y + dy


class Jump(NamedTuple):
    over: Square
    to: Square


# As the federations of each game publish them; of Thai checkers as it is commonly played.
GAMES = {
    "checkers": Rules(men_capture_back=False, flies=False),
    "international-draughts": Rules(10, (0, 1, 2, 3), prefers=("most",)),
    "brazilian-draughts": Rules(prefers=("most",)),
    "russian-draughts": Rules(is_crowned_in_passing=True),
    "pool-checkers": Rules(),
    "czech-draughts": Rules(men_capture_back=False, prefers=("king",)),
    "spanish-draughts": Rules(colour=1, men_capture_back=False, prefers=("most", "kings")),
    "italian-draughts": Rules(
        colour=1,
        men_capture_back=False,
        flies=False,
        men_take_kings=False,
        prefers=("most", "king", "kings", "early"),
    ),
    "thai-checkers": Rules(rows=(0, 1), men_capture_back=False, lands_behind=True, removes_at_once=True),
    "turkish-draughts": Rules(rows=(1, 2), is_straight=True, removes_at_once=True, prefers=("most",)),
}


def perft(rules: Rules, board: Board, side: int, depth: int, drops_duplicates: bool = False) -> list[int]:
    """For each depth how many sequences of moves there are.

    As other programs count them: moves that take the same in another order and end alike are one if that is asked.
    """
    level = Counter({tuple(sorted(board.items())): 1})
    found = []
    for ply in range(depth):
        following: Counter[tuple[tuple[Square, Piece], ...]] = Counter()
        for key, count in level.items():
            moves = rules.moves(dict(key), side if ply % 2 == 0 else -side)
            ends = {move.after for move in moves} if drops_duplicates else [move.after for move in moves]
            for after in ends:
                following[after] += count
        level = following
        found.append(level.total())
    return found


def numbered(number: int, rules: Rules) -> Square:
    """The square of a number: from 1 on, row by row from the second side's, each from the first side's left."""
    row, column = divmod(number - 1, rules.size // 2)
    y = rules.size - 1 - row
    return 2 * column + (y + rules.colour) % 2, y


def pdn(text: str, rules: Rules) -> tuple[Board, int]:
    """A position such as `W:WK31,32:B1,K2`, and the side to move."""
    turn, *sides = text.split(":")
    board = {}
    for listed in sides:
        for each in listed[1:].split(","):
            at = numbered(int(each.removeprefix("K")), rules)
            board[at] = Piece(1 if listed[0] == "W" else -1, each.startswith("K"))
    return board, 1 if turn == "W" else -1
