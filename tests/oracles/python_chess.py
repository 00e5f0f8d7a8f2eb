"""Chess as python-chess knows it, in the words of the chess document: what the store's answers are held to.

Nothing here uses ggn_store. Pieces of a position are named as in tests/oracles/chess_rules.py.
"""

import functools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

import chess

from tests.oracles.chess_rules import Rules

POSITIONS = Path(__file__).parents[1] / "data" / "positions"

Side = Literal["first", "second"]
FIRST: Final = "first"
SECOND: Final = "second"

KINDS = {letter: number for number, letter in enumerate("PNBRQK")}
MASKS = dict(zip(chess.SQUARE_NAMES, chess.BB_SQUARES, strict=True))

# Where pieces can have the states that say what they have, or have not, done.
HOMES = {
    "C:+K^": ("e1",),
    "c:+k^": ("e8",),
    "C:+R": ("a1", "h1"),
    "c:+r": ("a8", "h8"),
    "C:-P": tuple(file + "4" for file in chess.FILE_NAMES),
    "c:-p": tuple(file + "5" for file in chess.FILE_NAMES),
}


class MoveKey(NamedTuple):
    """What makes two moves the same; `promotion` is the piece that a pawn becomes, or None."""

    piece: str
    source: str
    destination: str
    promotion: str | None


class State(NamedTuple):
    """What two positions must share to be the same in chess, as python-chess keeps it: masks of squares.

    `pieces` holds the pawns, knights, bishops, rooks, queens, kings, and all that is white; `castling` the rooks
    that may still castle; `passed` the pawn that can be captured en passant.
    """

    pieces: tuple[int, ...]
    castling: int
    passed: int
    side: Side


class Part(NamedTuple):
    """A possibility that holds (`failing` is "") or one that only the condition on the square `failing` stops.

    Without the possibility, or without that condition, the position would have other moves.
    """

    piece: str
    source: str
    destination: str
    ordinal: int
    failing: str


def read_positions(path: Path) -> list[chess.Board]:
    """The positions of a file: a FEN a line, lines that start with # being comments."""
    lines = path.read_text(encoding="ascii").splitlines()
    return [chess.Board(line) for line in lines if not line.startswith("#")]


def position_of(board: chess.Board) -> tuple[dict[str, str], Side]:
    """The squares with their identifiers, and the side to move.

    A king is unmoved (`+K^`) where its side has any castling right, a rook (`+R`) where the right is with it.
    """
    squares = {chess.SQUARE_NAMES[square]: identifier(piece) for square, piece in board.piece_map().items()}
    rights = board.clean_castling_rights()
    for color, king, rooks in ((chess.WHITE, "e1", ("a1", "h1")), (chess.BLACK, "e8", ("a8", "h8"))):
        unmoved = [rook for rook in rooks if rights & chess.BB_SQUARES[chess.parse_square(rook)]]
        for rook in unmoved:
            squares[rook] = identifier(chess.Piece(chess.ROOK, color), "+")
        if unmoved:
            squares[king] = identifier(chess.Piece(chess.KING, color), "+")
    passed = passed_pawn(board)
    if passed is not None:
        squares[passed] = identifier(chess.Piece(chess.PAWN, not board.turn), "-")
    return squares, side_of(board.turn)


def identifier(piece: chess.Piece, state: str = "") -> str:
    """The identifier of a piece: `C:+K^`, `c:p`."""
    style = "C" if piece.color == chess.WHITE else "c"
    return f"{style}:{state}{piece.symbol()}{'^' if piece.piece_type == chess.KING else ''}"


def passed_pawn(board: chess.Board) -> str | None:
    """The square of the pawn that has just made a double step, whether or not anything can capture it."""
    if board.ep_square is None:
        return None
    return chess.SQUARE_NAMES[board.ep_square + (-8 if board.turn == chess.WHITE else 8)]


def side_of(color: chess.Color) -> Side:
    return FIRST if color == chess.WHITE else SECOND


def expected_moves(board: chess.Board) -> set[MoveKey]:
    """The moves that the document must give in a position.

    Those are python-chess's pseudo-legal moves and the castlings that it leaves out because of an attack, which
    GGN cannot say: the only difference between the two.
    """
    squares, _ = position_of(board)
    moves = [*board.pseudo_legal_moves, *castlings_through_attack(board)]
    return {key_of(squares, move) for move in moves}


def castlings_through_attack(board: chess.Board) -> list[chess.Move]:
    """The castlings for which only 3.8.2.2.1 is missing: the king's square, path or destination is attacked."""
    moves = []
    home = chess.square_rank(chess.E1 if board.turn == chess.WHITE else chess.E8)
    for allowed, between, path, destination in (
        (board.has_kingside_castling_rights(board.turn), "fg", "efg", "g"),
        (board.has_queenside_castling_rights(board.turn), "bcd", "edc", "c"),
    ):
        blocked = any(board.piece_at(on_rank(file, home)) for file in between)
        attacked = any(board.is_attacked_by(not board.turn, on_rank(file, home)) for file in path)
        if allowed and not blocked and attacked:
            moves.append(chess.Move(on_rank("e", home), on_rank(destination, home)))
    return moves


def on_rank(file: str, rank: int) -> chess.Square:
    return chess.square(chess.FILE_NAMES.index(file), rank)


def key_of(squares: dict[str, str], move: chess.Move) -> MoveKey:
    """The key of a python-chess move in a position that `position_of` gave."""
    source, destination = chess.SQUARE_NAMES[move.from_square], chess.SQUARE_NAMES[move.to_square]
    promotion = None if move.promotion is None else chess.piece_symbol(move.promotion).upper()
    return MoveKey(squares[source], source, destination, promotion)


def key_of_ours(piece: str, source: str, destination: str, becomes: str | None) -> MoveKey:
    """The key of one of our moves; `becomes` is what it puts on its destination."""
    promoted = bare(piece) in "Pp" and becomes is not None and bare(becomes) not in "Pp"
    return MoveKey(piece, source, destination, bare(becomes).upper() if promoted and becomes else None)


def move_of(key: MoveKey) -> chess.Move:
    """The python-chess move with this key."""
    return chess.Move.from_uci(key.source + key.destination + (key.promotion or "").lower())


@functools.cache
def bare(piece: str) -> str:
    """The letter of an identifier, without style and state: `C:+K^` is `K`."""
    return piece[2:].strip("+-^")


def without_state(key: MoveKey) -> MoveKey:
    """The key with the bare letter for the piece: for games in which states may be stale."""
    return key._replace(piece=bare(key.piece))


def clear_stale_marks(squares: dict[str, str], side: Side) -> dict[str, str]:
    """The host's duty after each move: the en passant marks of `side`, which is next to move, are cleared."""
    mark, pawn = ("C:-P", "C:P") if side == FIRST else ("c:-p", "c:p")
    return {square: pawn if piece == mark else piece for square, piece in squares.items()}


def state_of(board: chess.Board) -> State:
    """The state of a python-chess board."""
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    passed = passed_pawn(board)
    return State(
        (*kinds, board.occupied_co[chess.WHITE]),
        board.clean_castling_rights(),
        MASKS[passed] if passed else 0,
        side_of(board.turn),
    )


def state_after(board: chess.Board, move: chess.Move) -> State:
    """The state after a move, whatever becomes of the king."""
    board.push(move)
    state = state_of(board)
    board.pop()
    return state


def state_of_ours(squares: dict[str, str], side: Side) -> State:
    """The state of one of our positions whose stale marks are cleared.

    A castling right is there where both king and rook are unmoved: either may be gone or have moved alone. A
    piece in a state that it cannot have on its square counts as missing, so that no chess board is equal.
    """
    pieces = [0, 0, 0, 0, 0, 0, 0]
    castling = passed = 0
    for square, piece in squares.items():
        if piece in HOMES and square not in HOMES[piece]:
            continue
        mask, letter = MASKS[square], bare(piece)
        pieces[KINDS[letter.upper()]] |= mask
        if letter.isupper():
            pieces[-1] |= mask
        if piece in ("C:-P", "c:-p"):
            passed |= mask
        elif (piece == "C:+R" and squares.get("e1") == "C:+K^") or (piece == "c:+r" and squares.get("e8") == "c:+k^"):
            castling |= mask
    return State(tuple(pieces), castling, passed, side)


def with_stale_states(squares: dict[str, str], side: Side) -> list[dict[str, str]]:
    """The same position with states of the side to move that the past has left behind, and no move more or less.

    Rooks in their corners that have not moved, though the king has; a king that has not moved, though the rooks
    have; pawns whose mark the host has not cleared.
    """
    king, rook, pawn = ("C:K^", "C:R", "C:P") if side == FIRST else ("c:k^", "c:r", "c:p")
    stale = []
    if with_state(king, "+") not in squares.values():
        for which in ((king,), (rook, pawn)):
            changed = {}
            for square, piece in squares.items():
                other = with_state(piece, "-" if piece == pawn else "+")
                changed[square] = other if piece in which and square in HOMES[other] else piece
            stale.append(changed)
    return [changed for changed in stale if changed != squares]


def with_state(piece: str, state: str) -> str:
    return piece[:2] + state + piece[2:]


def exercised(document: Rules, squares: dict[str, str], side: Side) -> Iterator[Part]:
    """The parts of the document on which the moves of a position rest."""
    for source, piece in squares.items():
        if piece[0].isupper() != (side == FIRST):
            continue
        for destination, possibilities in document.get(piece, {}).get(source, {}).items():
            for ordinal, possibility in enumerate(possibilities):
                failing = [
                    square
                    for square, state in possibility["must"].items()
                    if not holds(state, squares.get(square), side)
                ]
                if len(failing) < 2:
                    yield Part(piece, source, destination, ordinal, "".join(failing))


def holds(state: str, occupant: str | None, side: Side) -> bool:
    if state == "empty":
        return occupant is None
    if state == "enemy":
        return occupant is not None and occupant[0].isupper() != (side == FIRST)
    return occupant == state


def parts(document: Rules) -> set[Part]:
    """Every part that `exercised` can name."""
    return {
        Part(piece, source, destination, ordinal, square)
        for piece, sources in document.items()
        for source, destinations in sources.items()
        for destination, possibilities in destinations.items()
        for ordinal, possibility in enumerate(possibilities)
        for square in ("", *possibility["must"])
    }


# Where a rule of legality decides: pins along all lines, en passant that uncovers a rook on the rank, castling out of,
# through and into check on either side, double checks, kings that step back along a line, corners.
DECIDED = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/8/8/K2pP2r/8/8/8/7k w - d6 0 1",
    "8/8/8/8/k2Pp2R/8/8/7K b - d3 0 1",
    "8/6bb/8/8/R1pP2k1/4P3/P7/K7 b - d3 0 1",
    "4k3/8/8/4r3/4pP2/8/8/4K3 b - f3 0 1",
    "r3k2r/8/8/8/8/8/4r3/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/5r2/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/6r1/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/1r6/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/2r5/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/3r4/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/5N2/8/8/8/8/R3K2R b KQkq - 0 1",
    "4k3/8/8/8/1b6/8/3N4/4K2R w K - 0 1",
    "4k3/8/8/8/8/2n5/4r3/4K3 w - - 0 1",
    "7k/8/8/8/8/8/r7/7K w - - 0 1",
    "7k/5Q2/8/8/8/8/8/K7 b - - 0 1",
    "6kr/8/6Q1/8/8/8/8/K5R1 b - - 0 1",
    "k7/8/8/8/8/8/1q6/K7 w - - 0 1",
    "rnb1kbnr/pppp1ppp/8/4p3/5PPq/8/PPPPP2P/RNBQKBNR w KQkq - 1 3",
    "4k3/4r3/8/8/4N3/8/8/4K3 w - - 0 1",
    "4k3/P7/8/8/8/8/8/r3K3 w - - 0 1",
    "1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1",
]


def games_of_chess(count: int, seed: int = 7) -> Iterator[chess.Board]:
    """Positions of games in which checks are preferred."""
    chance = random.Random(seed)
    for _ in range(count):
        board = chess.Board()
        while not board.is_game_over() and board.ply() < 160:
            yield board.copy(stack=False)
            moves = list(board.legal_moves)
            checks = [move for move in moves if board.gives_check(move)]
            board.push(chance.choice(checks if checks and chance.random() < 0.4 else moves))
