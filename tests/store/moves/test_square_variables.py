"""State variables that are worked out from the board: every query, and every way to give a position, takes them so."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterable
from typing import Any

import pytest

from ggn_store import Move, MoveError, Position, Ruleset, Store, StoreError, parse
from ggn_store.api.moves.moves import QUERIES
from ggn_store.games.definition import read
from tests.oracles.play import Game

ROOKS = {"values": ["no", "yes"], "initial": "no", "square": "b1", "pieces": ["C:R", "c:r"]}
AWAY, STAYS = {"a1": None, "c1": "C:K"}, {"a1": None, "c1": "C:K", "b1": None}
# A king that jumps over b1, where it takes whatever is no rook; a rook that steps on b1, and so changes the variable.
GAME: dict[str, Any] = {
    "$state": {"rook": ROOKS, "turn": {"values": ["0", "1"], "initial": "0"}},
    "C:K": {
        "a1": {
            "c1": [
                {"when": {"rook": ["yes"]}, "diff": {"board": AWAY}},
                {"when": {"rook": ["no"]}, "must": {"c1": "empty"}, "diff": {"board": STAYS}},
            ]
        }
    },
    "c:r": {
        "c1": {
            "b1": [{"when": {"rook": ["no"]}, "diff": {"board": {"c1": None, "b1": "c:r"}, "state": {"rook": "yes"}}}]
        }
    },
}
PIECES = (None, "C:R", "c:r", "c:p", "C:P", "x:q")
POSITIONS = [
    Position({"a1": "C:K", "b1": b1, "c1": c1}, side=side, state=state)
    for b1, c1 in itertools.product(PIECES, PIECES)
    for side in ("first", "second")
    for state in (None, {"rook": "yes"}, {"rook": "no", "turn": "1"})  # what it says of the rook counts for nothing
]


def expected(position: Position) -> list[tuple[str, int]]:
    """The moves by the words of the document."""
    board = position.board
    rook = board.get("b1") in ("C:R", "c:r")
    if position.side == "second":
        return [("c:r", 0)] if board.get("c1") == "c:r" and not rook else []
    return [("C:K", 0)] if rook else [("C:K", 1)] if board.get("c1") is None else []


@pytest.fixture
def rules(store: Store) -> Ruleset:
    store.load(parse(GAME), "game")
    return store.ruleset("game")


# Of the positions, which batches take all of, one by one a part that has each side with each state.
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("query", ["fast", "reading"])
def test_a_variable_about_a_square_is_what_the_board_says(rules: Ruleset, query: Any, step: int) -> None:
    for position in POSITIONS[::step]:
        assert [(move.piece, move.ordinal) for move in rules.moves(position, query=query)] == expected(position)


@pytest.mark.parametrize("query", ["fast", "columns", "reading"])
def test_batches_work_it_out_for_each_position(rules: Ruleset, query: Any) -> None:
    found = rules.moves_batch(POSITIONS, query=query)
    assert [[(move.piece, move.ordinal) for move in moves] for moves in found] == list(map(expected, POSITIONS))


def test_a_position_after_a_move_says_only_what_its_board_does_not(rules: Ruleset) -> None:
    position = Position({"a1": "C:K", "c1": "c:r"}, side="second")
    after = rules.apply(position, rules.moves(position)[0])
    assert (after.board["b1"], after.state) == ("c:r", {"turn": "0"})
    assert rules.stated(after).state == {"rook": "yes", "turn": "0"}
    assert [move.ordinal for move in rules.moves(after)] == [0]
    assert [perft.count for perft in (rules.perft(position, 1), rules.perft(position, 2))] == [1, 1]


def test_it_comes_back_as_it_was_loaded(rules: Ruleset) -> None:
    assert rules.document().data() == parse(GAME).data()


# --- blasts that spare pawns, on a small board ---

ATOMIC = """
title = "Small atomic chess"
board = "4x5"
style = "C"
start = "rk^qr/pppp/4/PPPP/RK^QR / C/c"
[play]
duties = ["royal-safety", "blast-safety"]
outcome = [{ when = "extinct", verdict = "loss", pieces = ["K"] }]
[pieces.K]
betza = "mK"
terminal = true
[pieces.Q]
betza = "Q"
blast = { spares = ["P"] }
[pieces.R]
betza = "R"
blast = { spares = ["P"] }
[pieces.P]
betza = "mfWcfF"
promotion = { zone = "a5:d5", to = ["Q", "R"], forced = true }
blast = { spares = ["P"] }
"""


@pytest.fixture(scope="module")
def atomic(module_store: Store) -> Ruleset:
    module_store.load(read(ATOMIC), "atomic")
    return module_store.ruleset("atomic")


def positions(count: int) -> list[Position]:
    """Positions of a king on each side, or seldom none, and of other pieces where they can be."""
    chance = random.Random(2)
    squares = [f"{file}{rank}" for file in "abcd" for rank in range(1, 6)]
    found = []
    for number in range(count):
        free = chance.sample(squares, 14)
        board = dict(zip(free, ["C:K^", "c:k^"][number % 16 == 1 :], strict=False))
        for square in free[2:]:
            piece = chance.choice([None, None, "C:Q", "c:q", "C:R", "c:r", "C:P", "c:p"])
            if piece is not None and (square[1], piece) not in (("1", "c:p"), ("1", "C:P"), ("5", "c:p"), ("5", "C:P")):
                board[square] = piece
        found.append(Position(board, side=chance.choice(["first", "second"])))
    return found


def after(moves: Iterable[Move], position: Position) -> list[tuple[str, str, str]]:
    """Moves with the board after them, sorted."""
    return sorted(
        (each.source, each.destination, str(sorted(position.after(each.effects).board.items()))) for each in moves
    )


SMALL_ATOMIC = Game(ATOMIC)


@functools.cache
def moves_of(count: int) -> list[list[tuple[str, str, str]]]:
    """The moves in each of so many positions with the board after them, sorted, as plain Python says."""
    return [
        sorted(
            (each.source, each.destination, str(sorted((k, v) for k, v in each.after.board.items() if v)))
            for each in SMALL_ATOMIC.moves(position)
        )
        for position in positions(count)
    ]


@functools.cache
def legal_in(count: int) -> list[list[tuple[str, str, bool]]]:
    """Source and destination of each legal move in so many positions, and whether a king explodes, sorted."""
    return [
        sorted(
            (each.source, each.destination, "c:k^" not in each.after.board.values())
            for each in SMALL_ATOMIC.legal(position).values()
        )
        for position in positions(count)
    ]


@pytest.mark.parametrize("count", [20, pytest.param(40, marks=pytest.mark.long)])
def test_every_query_has_the_captures_of_plain_python(atomic: Ruleset, count: int) -> None:
    asked, expected = positions(count), moves_of(count)
    assert sum(map(len, expected)) > 300
    for query in ("fast", "columns", "reading"):
        found = atomic.moves_batch(asked, query=query)
        assert list(map(after, found, asked)) == expected
    for position in asked[: 3 if count == 40 else 1]:
        total = sum(len(list(SMALL_ATOMIC.moves(each.after))) for each in SMALL_ATOMIC.moves(position))
        assert atomic.perft(position, 2).count == total


def test_kings_are_safe_as_they_are_in_plain_python(atomic: Ruleset) -> None:
    exploded = kept = 0
    found_in = zip(positions(50), legal_in(50), moves_of(50), strict=True)
    for number, (position, legal, moves) in enumerate(found_in):
        expected = [(source, destination) for source, destination, _ in legal]
        for query in QUERIES[: 1 if number % 3 else 2]:
            found = atomic.legal_moves(position, query=query)
            # A promotion is two moves, and so it is there.
            assert sorted((each.source, each.destination) for each in found) == expected
        exploded += sum(explodes for *_, explodes in legal)
        kept += len(moves) - len(legal)
    assert exploded > 12
    assert kept > 60


def test_a_capture_beside_a_king_ends_the_game(atomic: Ruleset) -> None:
    position = atomic.position(fen="1k1r/pp1p/4/2Q1/RK2 w - - 0 1")
    assert not atomic.in_check(position, "second")
    [capture] = [move for move in atomic.legal_moves(position, source="c2") if move.destination == "a4"]
    blasted = atomic.apply(position, capture)
    assert sorted(blasted.board) == ["a1", "b1", "b4", "d4", "d5"]
    assert atomic.outcome(blasted).winner == "first"
    with pytest.raises(StoreError, match="columns cannot judge its duties"):
        atomic.columns.moves([position], legal=True)


def test_uci_writes_one_promotion_of_a_pawn_that_its_capture_destroys_and_reads_all(atomic: Ruleset) -> None:
    position = atomic.position(fen="k2r/2P1/4/4/K3 w - - 0 1")
    [capture] = [move for move in atomic.legal_moves(position) if move.destination == "d5"]
    assert atomic.move_text(capture, position, "uci") == "c4d5q"
    assert [atomic.parse_move(text, position, "uci") for text in ("c4d5q", "c4d5r")] == [capture] * 2
    for text in ("c4d5", "c4d5n"):
        with pytest.raises(MoveError):
            atomic.parse_move(text, position, "uci")


BACK = """
title = "A knight that may go back after a capture, and blasts where it ends"
board = "3x4"
style = "C"
[play]
duties = ["royal-safety", "blast-safety"]
[pieces.K]
betza = "W"
terminal = true
[pieces.N]
betza = "NcabN"
blast = { stays = true }
"""


def test_a_capture_that_would_destroy_an_own_king_is_an_attack_where_it_may_end_elsewhere(store: Store) -> None:
    store.load(read(BACK), "back")
    rules = store.ruleset("back")
    beside = Position({"b1": "C:N", "a3": "c:k^", "b4": "C:K^"}, side="second")
    assert rules.in_check(beside)
    assert rules.attackers(beside, "a3", "first") == [("b1", "C:N")]
    for query in ("fast", "reading"):
        found = rules.legal_moves(beside, query=query)
        assert {(move.source, move.destination) for move in found} == {("a3", "a2")}
