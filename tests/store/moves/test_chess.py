"""Chess: the shipped document, asked through the store, against python-chess.

Both must give the same moves and the same boards after them, for every pseudo-legal move. The one exemption is
castling through an attacked square, which GGN cannot forbid: tests/oracles/python_chess.py adds exactly those.
"""

import functools
import itertools
import random
import runpy
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import chess as python_chess
import pytest

import ggn_store
from ggn_store import Move, Position, Ruleset, Store
from tests.oracles import chess_rules
from tests.oracles import python_chess as oracle

DATA = Path(__file__).parents[3] / "data"
TARGETED = ["castling", "en_passant", "promotion", "double_step", "pins_and_checks", "conditions"]
CHUNK = 500


@pytest.fixture(scope="module")
def chess(module_store: Store) -> Ruleset:
    module_store.load(DATA / "chess.json", name="chess")
    return module_store.ruleset("chess")


@functools.cache
def boards_of(name: str) -> list[python_chess.Board]:
    return oracle.read_positions(oracle.POSITIONS / f"chess_{name}.fen")


def to_position(board: python_chess.Board) -> Position:
    squares, side = oracle.position_of(board)
    return Position(squares, side=side)


def key_of(move: Move) -> oracle.MoveKey:
    becomes = move.effects.board[move.destination]
    return oracle.key_of_ours(move.piece, move.source, move.destination, becomes)


def after_move(ruleset: Ruleset, position: Position, move: Move) -> tuple[dict[str, str], oracle.Side]:
    """The squares and the side to move after a move and after the host's duty."""
    after = ruleset.apply(position, move)
    return oracle.clear_stale_marks(pieces_of(after), after.side), after.side


def play(ruleset: Ruleset, position: Position, move: Move) -> Position:
    squares, side = after_move(ruleset, position, move)
    return Position(squares, side=side)


def pieces_of(position: Position) -> dict[str, str]:
    return {square: piece for square, piece in position.board.items() if piece is not None}


def moves_of_each(ruleset: Ruleset, positions: list[Position]) -> Iterator[list[Move]]:
    for start in range(0, len(positions), CHUNK):
        yield from ruleset.moves_batch(positions[start : start + CHUNK])


def differences(ruleset: Ruleset, boards: list[python_chess.Board]) -> Iterator[str]:
    """What the ruleset says otherwise than python-chess: moves, how often, and boards after them."""
    positions = list(map(to_position, boards))
    for board, position, moves in zip(boards, positions, moves_of_each(ruleset, positions), strict=True):
        keys = [key_of(move) for move in moves]
        expected = oracle.expected_moves(board)
        for key in sorted(set(keys) ^ expected, key=str):
            yield f"{board.fen()}: {key} is {'missing' if key in expected else 'too much'}"
        for key in sorted({key for key in keys if keys.count(key) > 1}, key=str):
            yield f"{board.fen()}: {key} is there more than once"
        for key, move in zip(keys, moves, strict=True):
            if key in expected:
                ours = after_move(ruleset, position, move)
                if oracle.state_of_ours(*ours) != oracle.state_after(board, oracle.move_of(key)):
                    yield f"{board.fen()}: {key} leads to {ours}"


# The document


def test_the_shipped_document_is_what_the_generator_writes() -> None:
    assert (DATA / "chess.json").read_bytes() == chess_rules.text(chess_rules.rules()).encode()


def test_the_shipped_document_is_valid_and_canonical() -> None:
    text = (DATA / "chess.json").read_text(encoding="utf-8")
    assert ggn_store.problems(text) == []
    document = ggn_store.parse(text)
    assert document.dialect == "diff"
    assert document.canonical() == text


def test_the_start_position_is_that_of_python_chess() -> None:
    about = tomllib.loads((DATA / "chess.toml").read_text(encoding="utf-8"))
    start = Position.from_feen(about["start"])
    assert (pieces_of(start), start.side) == oracle.position_of(python_chess.Board())


# Moves of each piece from all its squares on an empty board; the figures of Q, R, B, N and K are well known.
# Pawns: 40 steps, 8 double steps, 2 x 35 captures; 8 steps and 2 x 7 captures on the last rank, each four ways;
# 14 captures en passant, from and to the squares of ordinary ones.
COUNTS = [
    # piece, pairs of squares, possibilities
    ("K^", 420, 2 * 420),
    ("Q", 1456, 2 * 1456),
    ("R", 896, 2 * 896),
    ("B", 560, 2 * 560),
    ("N", 336, 2 * 336),
    ("+K^", 5 + 2, 2 * 5 + 2),
    ("+R", 28, 2 * 28),
    ("P", 40 + 8 + 70 + 8 + 14, 40 + 8 + 70 + 4 * (8 + 14) + 14),
    ("-P", 8 + 14, 8 + 14),
]


@pytest.mark.parametrize("side", [chess_rules.WHITE, chess_rules.BLACK], ids=["white", "black"])
@pytest.mark.parametrize(("name", "pairs", "possibilities"), COUNTS)
def test_the_document_has_the_known_number_of_moves(
    side: chess_rules.Side, name: str, pairs: int, possibilities: int
) -> None:
    sources = chess_rules.rules()[side.piece(name)]
    assert sum(len(destinations) for destinations in sources.values()) == pairs
    assert sum(len(array) for each in sources.values() for array in each.values()) == possibilities


@pytest.mark.parametrize("piece", ["C:K^", "C:Q", "C:R", "C:B", "C:N", "c:k^", "c:q", "c:r", "c:b", "c:n"])
def test_a_lone_piece_has_the_known_number_of_moves_from_all_squares(chess: Ruleset, piece: str) -> None:
    side: oracle.Side = "first" if piece[0] == "C" else "second"
    positions = [Position({square: piece}, side=side) for square in chess_rules.SQUARES]
    known = {name.lower(): pairs for name, pairs, _ in COUNTS}
    assert sum(map(len, chess.moves_batch(positions))) == known[piece[2:].lower()]


# Positions


def test_there_are_enough_positions_and_all_differ() -> None:
    fens = {name: [board.fen() for board in boards_of(name)] for name in [*TARGETED, "random"]}
    assert sum(len(fens[name]) for name in TARGETED) >= 3000
    everything = [fen for each in fens.values() for fen in each]
    assert len(everything) == len(set(everything)) >= 5000
    assert sorted(oracle.POSITIONS.glob("chess_*.fen")) == sorted(
        oracle.POSITIONS / f"chess_{name}.fen" for name in fens
    )


@pytest.mark.long
def test_the_position_files_are_what_their_script_writes() -> None:
    script = runpy.run_path(str(oracle.POSITIONS / "make_chess_positions.py"))
    for name, text in script["files"]().items():
        assert (oracle.POSITIONS / name).read_text(encoding="ascii") == text, name


def test_every_possibility_and_every_condition_decides_some_targeted_position() -> None:
    document = chess_rules.rules()
    unshown = oracle.parts(document)
    for name in TARGETED:
        for board in boards_of(name):
            squares, side = oracle.position_of(board)
            for each in (squares, *oracle.with_stale_states(squares, side)):
                unshown.difference_update(oracle.exercised(document, each, side))
    assert not unshown


@pytest.mark.parametrize(
    ("fen", "exempt"),
    [
        ("4k3/8/8/8/8/5r2/8/R3K2R w KQ - 0 1", ["e1g1"]),  # f1, which the king passes
        ("4k3/8/8/8/8/6r1/8/R3K2R w KQ - 0 1", ["e1g1"]),  # g1, where it goes
        ("4k3/8/8/8/8/2r5/8/R3K2R w KQ - 0 1", ["e1c1"]),
        ("r3k2r/8/8/8/8/8/4R3/4K3 b kq - 0 1", ["e8g8", "e8c8"]),  # the king itself
        ("4k3/8/8/8/8/1r5r/8/R3K2R w KQ - 0 1", []),  # b1 and h1, which only the rooks pass or leave
        ("4k3/8/8/8/8/5r2/8/R3KN1R w KQ - 0 1", []),  # blocked
        ("4k3/8/8/8/8/5r2/8/R3K2R w Q - 0 1", []),  # no right
        ("4k3/8/8/8/8/5R2/8/R3K2R w KQ - 0 1", []),  # defended, not attacked
    ],
)
def test_only_castling_through_an_attack_is_exempt(fen: str, exempt: list[str]) -> None:
    board = python_chess.Board(fen)
    assert [move.uci() for move in oracle.castlings_through_attack(board)] == exempt
    assert not set(exempt) & {move.uci() for move in board.pseudo_legal_moves}


@pytest.mark.parametrize("step", [15, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", [*TARGETED, "random"])
def test_moves_and_boards_after_them_are_those_of_python_chess(chess: Ruleset, name: str, step: int) -> None:
    assert list(itertools.islice(differences(chess, boards_of(name)[::step]), 5)) == []


def test_a_state_that_the_past_has_left_behind_neither_freezes_nor_frees_a_piece(chess: Ruleset) -> None:
    plain, stale = [], []
    for name in TARGETED:
        for board in boards_of(name):
            squares, side = oracle.position_of(board)
            for changed in oracle.with_stale_states(squares, side):
                plain.append(Position(squares, side=side))
                stale.append(Position(changed, side=side))
    assert len(stale) > 500
    for position, ours, others in zip(stale, moves_of_each(chess, stale), moves_of_each(chess, plain), strict=True):
        assert what_they_do(ours) == what_they_do(others), position


def what_they_do(moves: list[Move]) -> list[tuple[str, str, str]]:
    return sorted((move.source, move.destination, str(move.transition)) for move in moves)


def test_games_that_only_apply_has_carried_on_stay_with_python_chess(chess: Ruleset) -> None:
    rng = random.Random(8)
    games = [(python_chess.Board(), to_position(python_chess.Board())) for _ in range(12)]
    castled = passed = promoted = 0
    for _ in range(70):
        going_on = []
        batch = chess.moves_batch([position for _, position in games])
        for (board, position), moves in zip(games, batch, strict=True):
            keys = [key_of(move) for move in moves]
            expected = oracle.expected_moves(board)
            ours, others = map(oracle.without_state, keys), map(oracle.without_state, expected)
            assert Counter(ours) == Counter(others), board.fen()
            legal = [
                (move, theirs)
                for key, move in zip(keys, moves, strict=True)
                if (theirs := oracle.move_of(key)) in board.legal_moves
            ]
            if not legal:
                continue
            special = [each for each in legal if board.is_castling(each[1]) or board.is_en_passant(each[1])]
            move, theirs = rng.choice(special or legal)
            castled += board.is_castling(theirs)
            passed += board.is_en_passant(theirs)
            promoted += theirs.promotion is not None
            position = play(chess, position, move)
            board.push(theirs)
            assert oracle.state_of_ours(pieces_of(position), position.side) == oracle.state_of(board), board.fen()
            going_on.append((board, position))
        games = going_on
    assert min(castled, passed, promoted) > 0


# Documents with one rule changed, by the name of the change: the piece and the source whose rule it is, and the
# change of that source's destinations. The targeted positions must tell each from chess.
Change = Callable[[chess_rules.Destinations], object]
MUTANTS: dict[str, tuple[str, str, Change]] = {
    "white cannot castle on the queen's side": ("C:+K^", "e1", lambda to: to.pop("c1")),
    "castling asks nothing of b8": ("c:+k^", "e8", lambda to: to["c8"][0]["must"].pop("b8")),
    "castling asks nothing of the rook": ("C:+K^", "e1", lambda to: to["g1"][0]["must"].pop("h1")),
    "castling leaves the rook": ("C:+K^", "e1", lambda to: to["g1"][0]["diff"]["board"].pop("h1")),
    "a king stays unmoved": ("c:+k^", "e8", lambda to: to["e7"][0]["diff"]["board"].update(e7="c:+k^")),
    "no capture en passant": ("C:P", "e5", lambda to: to["d6"].pop()),
    "capture en passant of any pawn": ("c:p", "g4", lambda to: to["f3"][1]["must"].update(f4="enemy")),
    "capture en passant takes nothing": ("c:p", "a4", lambda to: to["b3"][1]["diff"]["board"].pop("b4")),
    "no double step": ("C:P", "h2", lambda to: to.pop("h4")),
    "double step over a piece": ("c:p", "c7", lambda to: to["c5"][0]["must"].pop("c6")),
    "double step leaves no mark": ("C:P", "d2", lambda to: to["d4"][0]["diff"]["board"].update(d4="C:P")),
    "no promotion to a knight": ("C:P", "b7", lambda to: to["b8"].pop()),
    "no promotion to a queen by capture": ("c:p", "h2", lambda to: to["g1"].pop(0)),
    "a rook jumps": ("C:R", "a1", lambda to: to["a8"][0]["must"].pop("a4")),
    "a queen jumps and captures": ("c:q", "d4", lambda to: to["g7"][1]["must"].pop("f6")),
    "a bishop needs an enemy on its way": ("C:B", "c1", lambda to: to["h6"][0]["must"].update(e3="enemy")),
}


# What is asked of squares, what a move changes, and how many ways there are to make it.
TELLING = ("castling asks nothing of b8", "capture en passant takes nothing", "no promotion to a knight")


@pytest.mark.parametrize(
    ("piece", "source", "change"),
    [
        pytest.param(*mutant, id=name, marks=[pytest.mark.long] * (name not in TELLING))
        for name, mutant in MUTANTS.items()
    ],
)
def test_targeted_positions_show_a_changed_rule(piece: str, source: str, change: Change) -> None:
    # The other side is never to move here, and its rules would only take time.
    mutant = {name: rules for name, rules in chess_rules.rules().items() if name[0] == piece[0]}
    change(mutant[piece][source])
    boards = [
        board
        for board in itertools.chain(*map(boards_of, TARGETED))
        if board.turn == piece.startswith("C:") and oracle.position_of(board)[0].get(source) == piece
    ]
    found = next(differences(ggn_store.ruleset(mutant), boards), "nothing")
    assert f"piece='{piece}', source='{source}'" in found


# Numbers of paths through pseudo-legal moves. Kings may be left under attack: at depth 4 there are 197,742 of them,
# and 197,281 legal ones.


def pseudo_legal_perft(board: python_chess.Board, depth: int) -> int:
    moves = list(board.pseudo_legal_moves)
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        board.push(move)
        total += pseudo_legal_perft(board, depth - 1)
        board.pop()
    return total


def perft(ruleset: Ruleset, depth: int) -> int:
    positions = [to_position(python_chess.Board())]
    for _ in range(depth - 1):
        positions = [
            play(ruleset, position, move)
            for position, moves in zip(positions, moves_of_each(ruleset, positions), strict=True)
            for move in moves
        ]
    return sum(map(len, moves_of_each(ruleset, positions)))


@pytest.mark.parametrize("depth", [3, pytest.param(4, marks=pytest.mark.long)])
def test_perft_from_the_start_is_that_of_python_chess(chess: Ruleset, depth: int) -> None:
    assert perft(chess, depth) == pseudo_legal_perft(python_chess.Board(), depth)
