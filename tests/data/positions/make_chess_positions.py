"""Writes the chess positions beside it: `python -m tests.data.positions.make_chess_positions`.

Random play alone is a weak test of chess rules: a generator without castling may pass a hundred positions. So
most positions are built for one rule each, with White to move, and mirrored for Black. Seeded generators and
sorted moves make the same files each time.
"""

import random
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import chess

from tests.oracles.chess_rules import EVERY_WAY, FILES, SQUARES, Rules, neighbour, rules
from tests.oracles.python_chess import Part, bare, exercised, parts, position_of

Placement = dict[str, str]  # square -> letter of a piece as in a FEN

ABOUT = {
    "castling": "all rights, each set of blocked squares, each square attacked by each piece, rooks captured",
    "en_passant": "every file, neighbours and others; both pawns pinned along every line; checks; marks gone",
    "promotion": "every file; quiet, captures to either side, blocked, and all of them together",
    "double_step": "every file; both squares ahead empty or occupied by either side; pawns passed by",
    "pins_and_checks": "every piece pinned along every line, checks by every piece, double checks",
    "conditions": "not from games: each shows a possibility or a condition that none of the files above shows",
    "random": "seeded random play from several openings, with a bias to the special moves",
}
RANDOM_POSITIONS = 2400
OPENINGS = [
    "",
    "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5",
    "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6",
    "e2e4 e7e5 f2f4 e5f4 g1f3 g7g5",
    "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3",
    "e2e4 e7e6 d2d4 d7d5 e4e5 c7c5",
    "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5",
    "e2e4 g8f6 e4e5 f6d5 d2d4 d7d6 c2c4 d5b6",
    "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7",
    "d2d4 g8f6 c2c4 g7g6 b1c3 f8g7 e2e4 d7d6",
    "c2c4 e7e5 b1c3 g8f6 g2g3 d7d5",
    "g2g4 d7d5 f1g2 c8g4 c2c4",
    "b2b4 e7e5 c1b2 f8b4 b2e5",
]


def main() -> None:
    for name, content in files().items():
        Path(__file__).with_name(name).write_text(content, encoding="ascii")


def files() -> dict[str, str]:
    """The text of each file, by name; no position is in two of them."""
    made: dict[str, list[chess.Board]] = {}
    seen: set[str] = set()

    def add(name: str, boards: Iterable[chess.Board]) -> None:
        made[name] = []
        for board in boards:
            if fen(board) not in seen:
                seen.add(fen(board))
                made[name].append(board)

    for make in (castling, en_passant, promotion, double_step, pins_and_checks):
        add(make.__name__, both_colours(make(random.Random(make.__name__))))
    built = [board for boards in made.values() for board in boards]
    add("conditions", both_colours(conditions(random.Random("conditions"), built)))
    add("random", random_play(random.Random("random")))
    return {
        f"chess_{name}.fen": f"# made by tests/data/positions/make_chess_positions.py\n# {ABOUT[name]}\n"
        + "".join(fen(board) + "\n" for board in boards)
        for name, boards in made.items()
    }


def fen(board: chess.Board) -> str:
    """The FEN, with the en passant square after every double step and with the counters at their start."""
    return " ".join([*board.fen(en_passant="fen").split()[:4], "0", "1"])


def both_colours(boards: Iterable[chess.Board]) -> Iterator[chess.Board]:
    for board in boards:
        yield board
        yield board.mirror()


def board_of(pieces: Placement, castling: str = "", en_passant: str | None = None) -> chess.Board:
    """The position with White to move, be it possible or not."""
    board = chess.Board(None)
    for square, letter in pieces.items():
        board.set_piece_at(chess.parse_square(square), chess.Piece.from_symbol(letter))
    board.set_castling_fen(castling or "-")
    board.ep_square = chess.parse_square(en_passant) if en_passant else None
    return board


def with_kings(rng: random.Random, pieces: Placement, en_passant: str | None = None) -> Iterator[chess.Board]:
    """A position with the kings that `pieces` lacks, none where it finds no valid one."""
    missing = [king for king in "Kk" if king not in pieces.values()]
    free = [square for square in SQUARES if square not in pieces]
    for _ in range(100):
        kings = dict(zip(rng.sample(free, len(missing)), missing, strict=True))
        board = board_of(pieces | kings, en_passant=en_passant)
        if board.is_valid():
            yield board
            return


def castling(rng: random.Random) -> Iterator[chess.Board]:
    home = {"e1": "K", "a1": "R", "h1": "R", "e8": "k", "a8": "r", "h8": "r"}
    pawns = {"a2": "P", "h2": "P", "a7": "p", "h7": "p"}
    ours, theirs = ["KQ", "K", "Q", ""], ["kq", "k", "q", ""]
    boards = []
    for rights in map("".join, product(ours, theirs)):
        boards += [board_of(home, rights), board_of(home | pawns, rights)]
        for corner, attacker in product(["a8", "h8"], "RBNQP"):
            for square in rng.sample(attackers(attacker, corner, home), 1):
                boards.append(board_of(home | {square: attacker}, rights))
    for file, rank in product("ah", "234567"):  # rooks that may still castle go up their files
        boards.append(board_of(home | {file + rank: "n"}, "KQkq"))
    for rights in ours:
        for blocked in product([False, True], repeat=5):
            between = [file + "1" for file, there in zip("bcdfg", blocked, strict=True) if there]
            pieces = home | pawns | {square: rng.choice("NBnb") for square in between}
            boards.append(board_of(pieces, rights + rng.choice(theirs)))
        for file, attacker in product(FILES, "rbnqp"):
            for square in rng.sample(attackers(attacker, file + "1", home), 1):
                boards.append(board_of(home | {square: attacker}, rights + rng.choice(theirs)))
        for king in ("a2", "b2", "c2", "g2", "h2"):
            boards.append(board_of({"e1": "K", "a1": "R", "h1": "R", king: "k"}, rights))
    yield from (board for board in boards if board.is_valid())


def en_passant(rng: random.Random) -> Iterator[chess.Board]:
    for passed in FILES:
        pawn, target, came_from = passed + "5", passed + "6", passed + "7"
        beside = [square for sideways in (-1, 1) if (square := neighbour(pawn, sideways, 0))]
        for file in FILES:
            if file != passed:
                yield from with_kings(rng, {pawn: "p", file + "5": "P"}, target)
        yield from with_kings(rng, {pawn: "p"} | dict.fromkeys(beside, "P"), target)
        for square in beside:
            pieces = {pawn: "p", square: "P"}
            yield from with_kings(rng, pieces)  # the same pawns, but the double step is longer ago
            yield from with_kings(rng, pieces | {target: rng.choice("nbrq")})
            yield from with_kings(rng, {pawn: "p", square: rng.choice("NBRQ")}, target)
            for king in attackers("K", pawn, pieces):
                yield from with_kings(rng, pieces | {king: "K"}, target)
            for pinned, way in product((pawn, square), EVERY_WAY):
                for king, pinner in line(rng, pinned, way, [*pieces, target, came_from]):
                    pin = {king: "K", pinner: rng.choice(sliders(way))}
                    yield from with_kings(rng, pieces | pin, target)


def promotion(rng: random.Random) -> Iterator[chess.Board]:
    kinds = ["", "NBRQ", "nbrq"]
    for file in FILES:
        pawn = file + "7"
        for around in product(kinds, repeat=3):
            pieces = {pawn: "P"}
            for sideways, kind in zip((-1, 0, 1), around, strict=True):
                square = neighbour(pawn, sideways, 1)
                if square and kind:
                    pieces[square] = rng.choice(kind)
            yield from with_kings(rng, pieces)
        for _ in range(4):
            last_rank = {square: rng.choice("nbrqN") for square in rng.sample(SQUARES[56:], 5)}
            yield from with_kings(rng, {pawn: "P"} | dict.fromkeys(rng.sample(SQUARES[48:56], 3), "P") | last_rank)


def double_step(rng: random.Random) -> Iterator[chess.Board]:
    kinds = ["", "NBRQP", "nbrqp"]
    for file, near, far in product(FILES, kinds, kinds):
        ahead = {file + rank: rng.choice(kind) for rank, kind in (("3", near), ("4", far)) if kind}
        yield from with_kings(rng, {file + "2": "P"} | ahead)
        for sideways in (-1, 1):
            if passed_by := neighbour(file + "4", sideways, 0):
                yield from with_kings(rng, {file + "2": "P", passed_by: "p"} | ahead)


def pins_and_checks(rng: random.Random) -> Iterator[chess.Board]:
    for way, pinned, square in product(EVERY_WAY, "QRBNP", ["b2", "d3", "e5", "g6"]):
        for king, pinner in line(rng, square, way, [square]):
            pieces = {square: pinned, king: "K", pinner: rng.choice(sliders(way))}
            yield from with_kings(rng, crowd(rng) | pieces)
    for king, checking in product(["a1", "d1", "h4", "e4", "c6", "f6"], "rbnqp"):
        for square in rng.sample(attackers(checking, king, {}), 1):
            yield from with_kings(rng, crowd(rng) | {king: "K", square: checking})
            for way in EVERY_WAY:
                for _, slider in line(rng, king, way, [king, square]):
                    yield from with_kings(rng, {king: "K", square: checking, slider: rng.choice(sliders(way))})


def attackers(letter: str, target: str, pieces: Placement) -> list[str]:
    """The free squares from which a piece, put there, attacks the target; a pawn stays off the edge ranks."""
    free = [square for square in SQUARES if not (square in pieces or (letter in "Pp" and square[1] in "18"))]
    boards = {square: board_of(pieces | {square: letter}) for square in free}
    return [
        square
        for square, board in boards.items()
        if chess.parse_square(target) in board.attacks(chess.parse_square(square))
    ]


def sliders(way: tuple[int, int]) -> str:
    """The enemy's pieces that move this way."""
    return "rq" if 0 in way else "bq"


def line(rng: random.Random, middle: str, way: tuple[int, int], taken: list[str]) -> Iterator[tuple[str, str]]:
    """Two squares on opposite sides of `middle`, nothing taken on the way from it, or none.

    A taken neighbour of `middle` is passed: of two pawns side by side, both leave the line en passant.
    """
    ends = []
    for sign in (-1, 1):
        squares = []
        for distance in range(1, 8):
            square = neighbour(middle, sign * distance * way[0], sign * distance * way[1])
            if square is None or (square in taken and distance > 1):
                break
            if square not in taken:
                squares.append(square)
        ends.append(squares)
    if all(ends):
        yield rng.choice(ends[0]), rng.choice(ends[1])


def crowd(rng: random.Random) -> Placement:
    """Some bystanders."""
    return {square: rng.choice("QRBNPPqrbnpp") for square in rng.sample(SQUARES[8:56], 5)}


def conditions(rng: random.Random, shown: Iterable[chess.Board]) -> Iterator[chess.Board]:
    """Positions that show the parts of the document that `shown` leaves out, many parts in each.

    White's parts only: Black's are the same upside down. States are no matter of placement and are left out, but
    for a passing square that is occupied, which no double step leaves behind.
    """
    for passed, sideways in product(FILES, (-1, 1)):
        if square := neighbour(passed + "5", sideways, 0):
            for blocker in "Nn":
                yield board_of({passed + "5": "p", square: "P", passed + "6": blocker}, en_passant=passed + "6")

    document = rules()
    wanted = {part: ways for part in sorted(parts(document)) if (ways := ways_to_show(document, part))}
    for board in shown:
        for part in exercised(document, *position_of(board)):
            wanted.pop(part, None)
    while wanted:
        squares: Placement = {}
        for ways in rng.sample(list(wanted.values()), min(len(wanted), 1500)):
            for way in rng.sample(ways, len(ways)):
                squares = together(squares, way) or squares
        board = board_of(filled(rng, squares))
        for part in exercised(document, *position_of(board)):
            wanted.pop(part, None)
        yield board


def ways_to_show(document: Rules, part: Part) -> list[Placement]:
    """Placements that each show a part of White's, with the words empty, own and enemy; none where states count."""
    must = document[part.piece][part.source][part.destination][part.ordinal]["must"]
    if part.piece[:2] != "C:" or part.piece[2] in "+-" or not {"empty", "enemy"}.issuperset(must.values()):
        return []
    placement = {part.source: bare(part.piece)} | must
    if not part.failing:
        return [placement]
    return [placement | {part.failing: it} for it in ("empty", "enemy", "own") if it != must[part.failing]]


def together(placement: Placement, other: Placement) -> Placement | None:
    """Both placements on one board, or None: they contradict each other, or kings have no place or no use."""
    both = dict(placement)
    for square, it in other.items():
        there = both.setdefault(square, it)
        if there == "own" and it.isupper():
            both[square] = it
        elif there != it and not (it == "own" and there.isupper()):
            return None
    room_for_kings = len(both) <= len(SQUARES) - 2
    return both if room_for_kings and list(both.values()).count("K") < 2 else None


def filled(rng: random.Random, placement: Placement) -> Placement:
    """The placement with pieces for its words, and with one king a side."""
    places = {"own": "NBRQ", "enemy": "nbrq"}
    pieces = {square: rng.choice(places.get(it, it)) for square, it in placement.items() if it != "empty"}
    missing = [king for king in "Kk" if king not in pieces.values()]
    free = [square for square in SQUARES if square not in placement]
    return pieces | dict(zip(rng.sample(free, len(missing)), missing, strict=True))


def random_play(rng: random.Random) -> Iterator[chess.Board]:
    """A position every few plies of games in which special moves, then captures, are taken more often."""
    found = 0
    while found < RANDOM_POSITIONS:
        board = chess.Board()
        for move in rng.choice(OPENINGS).split():
            board.push_uci(move)
        while found < RANDOM_POSITIONS and board.ply() < 160 and not board.is_game_over():
            moves = sorted(board.legal_moves, key=chess.Move.uci)
            board.push(*rng.choices(moves, [appeal(board, move) for move in moves]))
            if rng.random() < 0.25:
                found += 1
                yield board.copy(stack=False)


def appeal(board: chess.Board, move: chess.Move) -> int:
    """The weight of a move in random play."""
    if board.is_castling(move) or board.is_en_passant(move) or move.promotion:
        return 12
    if board.is_capture(move):
        return 4
    return 3 if board.piece_type_at(move.from_square) == chess.PAWN else 1


if __name__ == "__main__":
    main()
