"""Chess in which kings castle from several squares: starts, FEN and moves as python-chess has them."""

from __future__ import annotations

import random

import chess
import pytest

from ggn_store import Position, PositionError, Ruleset, Store
from ggn_store.games.definition import read
from tests.support.games import Games

# A rook comes between a king that stays and its attacker; the king goes one square, or none; there are rooks behind.
POSITIONS = [
    "r1k2R2/8/8/8/8/8/8/R1K5 b Qq - 0 1",
    "4k3/8/8/8/8/8/8/RK3r2 w A - 0 1",
    "4k3/8/8/8/8/8/8/r5KR w H - 0 1",
    "4k3/8/8/8/8/8/8/rRK4R w BH - 0 1",
    "1rk4r/8/8/8/8/8/8/1RK4R w BHbh - 0 1",
    "3rkr2/8/8/8/8/8/8/R4KR1 w AGdf - 0 1",
    "rkr4r/8/8/8/8/8/8/RKR2R1R w CAca - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
]


@pytest.fixture
def rules(games: Games) -> Ruleset:
    """Chess960."""
    return games["chess960"]


def differences(rules: Ruleset, board: chess.Board) -> list[str]:
    """What of a position is not as python-chess has it: both FENs, legal moves in UCI and SAN, what castling leaves."""
    fen = board.fen(en_passant="fen")
    position = rules.position(fen=fen)
    legal = rules.legal_moves(position)
    named = {rules.move_text(move, position, "uci"): move for move in legal}
    wanted = {board.uci(move, chess960=True): move for move in board.legal_moves}
    found = [f"{fen}: {name}" for name in named.keys() ^ wanted.keys()]
    if (rules.fen(position), len(named)) != (fen, len(legal)):
        found.append(f"{fen}: it is {rules.fen(position)}, with {legal}")
    shredder = board.shredder_fen(en_passant="fen")
    if (rules.fen(position, shredder=True), rules.position(fen=shredder)) != (shredder, position):
        found.append(f"{fen}: {shredder}")
    for name in named.keys() & wanted.keys():
        move, other = named[name], wanted[name]
        if rules.move_text(move, position, "san") != board.san(other) or rules.parse_move(name, position) != move:
            found.append(f"{fen}: {name} is {rules.move_text(move, position, 'san')}")
        if board.is_castling(other):
            after = board.copy()
            after.push(other)
            if rules.fen(rules.apply(position, move)) != after.fen(en_passant="fen"):
                found.append(f"{fen}: after {name} it is {rules.fen(rules.apply(position, move))}")
    return found


def played(games: int, seed: int) -> list[chess.Board]:
    """Positions of random games from random starts in which a king castles, may castle, or is in check."""
    chance, found = random.Random(seed), []
    for _ in range(games):
        board = chess.Board.from_chess960_pos(chance.randrange(960))
        for _ in range(chance.randrange(5, 70)):
            moves = [*board.legal_moves]
            if not moves:
                break
            castlings = [move for move in moves if board.is_castling(move)]
            if board.castling_rights and (castlings or board.is_check()) and chance.random() < 0.3:
                found.append(board.copy())
            leaving = [move for move in moves if board.piece_type_at(move.from_square) in (chess.KNIGHT, chess.BISHOP)]
            board.push(chance.choice(leaving if leaving and chance.random() < 0.4 else moves))
    return found


def perft(board: chess.Board, depth: int) -> int:
    """How many paths of legal moves there are."""
    if depth == 1:
        return board.legal_moves.count()
    total = 0
    for move in board.legal_moves:
        board.push(move)
        total += perft(board, depth - 1)
        board.pop()
    return total


def test_starts_have_their_numbers(rules: Ruleset) -> None:
    for number in (0, 12, 518, 711, 959):
        board = chess.Board.from_chess960_pos(number)
        assert rules.fen(rules.position(fen=str(number))) == board.fen()
    assert rules.position(fen="518").board == rules.start.board
    with pytest.raises(PositionError, match="allowed: 0 to 959"):
        rules.position(fen="960")


@pytest.mark.long
def test_all_starts_have_their_numbers(rules: Ruleset) -> None:
    for number in range(960):
        assert rules.fen(rules.position(fen=str(number))) == chess.Board.from_chess960_pos(number).fen()


@pytest.mark.parametrize("fen", POSITIONS)
def test_castling_is_that_of_python_chess(rules: Ruleset, fen: str) -> None:
    board = chess.Board(fen, chess960=True)
    assert differences(rules, board) == []
    position = rules.position(fen=fen)
    for query in ("reading", "fast", "columns"):
        [moves] = rules.moves_batch([position], query=query, legal=True)
        assert {rules.move_text(move, position, "uci") for move in moves} == {
            board.uci(move, chess960=True) for move in board.legal_moves
        }, query


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize("fen", [POSITIONS[number] for number in (0, 4, 5)])
def test_paths_are_counted_as_python_chess_does(rules: Ruleset, fen: str, engine: str) -> None:
    assert rules.perft(rules.position(fen=fen), 2, legal=True, engine=engine).count == perft(
        chess.Board(fen, chess960=True), 2
    )


@pytest.mark.parametrize("count", [20, pytest.param(500, marks=pytest.mark.long)])
def test_games_from_any_start_are_those_of_python_chess(rules: Ruleset, count: int) -> None:
    boards = played(count, seed=count)
    assert len(boards) > 2 * count
    assert any(board.castling_xfen() not in ("KQkq", "KQ", "kq", "K", "Q", "k", "q") for board in boards)
    assert [told for board in boards for told in differences(rules, board)] == []


def test_a_right_that_no_king_and_rook_have_is_no_fen(rules: Ruleset) -> None:
    with pytest.raises(PositionError, match=r'"C" .* is of no king and rook .* the files of rooks'):
        rules.position(fen="4k3/8/8/8/8/8/8/R3K2R w C - 0 1")


def test_only_a_castling_is_asked_what_it_crosses(store: Store) -> None:
    """As in wildebeest chess, a king may castle by one square, to which it may also step, out of check."""
    castling = '[{ from = "e1", to = "f1", with = "h1", with_to = "e1" }]'
    start = "4+k^2+r/8/8/8/8/8/8/4+K^2+R / C/c"
    store.load(
        read(f'like = "chess"\ntitle = "Short"\nstart = "{start}"\n[pieces]\nK.castling = {castling}\n'), "short"
    )
    rules, position = store.ruleset("short"), Position({"e1": "C:+K^", "h1": "C:+R", "e7": "c:r", "h8": "c:k^"})
    for query in ("reading", "fast", "columns"):
        [moves] = rules.moves_batch([position], query=query, legal=True)
        assert {move.destination for move in moves if move.source == "e1"} == {"d1", "d2", "f1", "f2"}, query
    assert rules.perft(position, 1, legal=True).count == len(moves)


LEAPS = """
title = "Leaping kings"
like = "chess"
[pieces.K]
betza = "KmDcA"
"""


# The moves of a king as Fairy-Stockfish has them with `king = k:KmDcA`.
LEAPING = {
    "4k3/8/8/8/8/5r2/8/R3K2R w KQ - 0 1": "e1a1 e1c1 e1d1 e1d2 e1e2 e1g1",
    "4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1": "e1c1 e1d1 e1d2 e1f1 e1f2 e1g1",
    "3rk3/8/8/8/8/8/8/R3K2R w KQ - 0 1": "e1c1 e1e2 e1e3 e1f1 e1f2 e1g1 e1h1",
}


@pytest.mark.both
def test_a_leap_to_where_a_king_castles_crosses_nothing(store: Store) -> None:
    store.load(read(LEAPS), "leaps")
    rules = store.ruleset("leaps")
    for fen, moves in LEAPING.items():
        position = rules.position(fen=fen)
        for query in ("reading", "fast", "columns"):
            [found] = rules.moves_batch([position], query=query, legal=True)
            names = [rules.move_text(move, position, "uci") for move in found if move.source == "e1"]
            assert sorted(names) == moves.split(), (query, fen)
        assert rules.perft(position, 1, legal=True).count == len(found)
