"""Definitions become documents: chess to the byte, other games by what is known of them, pieces by their moves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ggn_store import GgnStoreError, Position, limits, lint, problems
from ggn_store.games.definition import Definition, read
from ggn_store.games.generate import generate, pieces
from ggn_store.model.documents.document import Document, Envelope, canonical_text
from tests.support.definitions import (
    DATA,
    destinations,
    document,
    game,
    moves,
    shipped,
    shipped_document,
    sources,
    targets,
)

OWN = ("capablanca", "chess", "crazyhouse", "makruk", "minishogi", "shogi", "xiangqi")


# --- the games that ship ---


def test_chess_is_reproduced_to_the_byte() -> None:
    assert generate(read(shipped("chess"))).canonical() == (DATA / "chess.json").read_text("utf-8")


LARGE = ("capablanca", "crazyhouse", "shogi")


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=pytest.mark.long if name in LARGE else ()) for name in OWN]
)
def own(request: pytest.FixtureRequest) -> tuple[str, Definition, Document]:
    definition = read(shipped(request.param), f"{request.param}.toml")
    return request.param, definition, shipped_document(request.param)


def test_a_shipped_game_is_a_valid_document_without_findings(own: tuple[str, Definition, Document]) -> None:
    _, _, made = own
    text = made.canonical()
    assert problems(text, envelope=made.envelope) == []
    assert [str(finding) for finding in lint(made)] == []


# How many moves each side has at the start, as the literature and every program counts them.
OPENING_MOVES = {
    "capablanca": 28,
    "chess": 20,
    "crazyhouse": 20,
    "makruk": 23,
    "minishogi": 14,
    "shogi": 30,
    "xiangqi": 44,
}


def test_a_shipped_game_has_its_number_of_first_moves(own: tuple[str, Definition, Document]) -> None:
    name, definition, made = own
    assert definition.start is not None
    start = Position.from_feen(definition.start)
    for side in ("first", "second"):
        assert len(moves(made, start.board, start.hands, side)) == OPENING_MOVES[name]


# The sizes of the documents: a change here is a change of what the games say.
POSSIBILITIES = {
    "capablanca": 33_072,
    "chess": 15_292,
    "crazyhouse": 157_372,
    "makruk": 8_532,
    "minishogi": 32_998,
    "shogi": 286_422,
    "xiangqi": 19_924,
}


def test_a_shipped_game_has_its_number_of_possibilities(own: tuple[str, Definition, Document]) -> None:
    name, _, made = own
    assert made.possibilities == POSSIBILITIES[name]


def test_pieces_come_one_at_a_time() -> None:
    definition = read(shipped("shogi"))
    first = next(pieces(definition))
    assert first.identifier == "S:K^"
    parts = canonical_text("diff", None, pieces(read(shipped("makruk"))))
    assert "".join(parts) == shipped_document("makruk").canonical()


@pytest.mark.parametrize("name", ["dobutsu", "minixiangqi"])
def test_a_document_is_the_same_to_the_byte_in_every_process(name: str) -> None:
    program = (
        "import sys; from ggn_store.games.definition import read; from ggn_store.games.generate import generate;"
        "sys.stdout.write(generate(read(sys.stdin.read())).digest)"
    )
    digests = [
        subprocess.run(
            [sys.executable, "-c", program],
            input=shipped(name),
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        ).stdout
        for seed in ("1", "2")
    ]
    assert digests == [shipped_document(name).digest] * 2


def test_the_envelope_says_what_the_definition_says() -> None:
    definition = read(shipped("minishogi"))
    assert generate(definition).envelope == Envelope(
        title="Minishogi",
        source=definition.source,
        start=definition.start,
        board="5x5",
        definition=shipped("minishogi"),
        play='{"duties":[{"name":"no-drop-mate","pieces":["S:P","s:p"]},"royal-safety"],"outcome":['
        '{"when":"no-move","verdict":"loss"},'
        '{"when":"repetition","verdict":"loss","side":"first","count":4,"perpetual":true},'
        '{"when":"repetition","verdict":"win","side":"second","count":4,"perpetual":true}]}',
    )


# --- how many moves a piece has, over all squares of an empty board: numbers that are known or counted by hand ---

EMPTY_BOARD_MOVES = [
    # On 8x8: the sums that every chess book has.
    ("K", "8x8", 420),
    ("Q", "8x8", 1456),
    ("R", "8x8", 896),
    ("B", "8x8", 560),
    ("N", "8x8", 336),
    ("F", "8x8", 2 * 7 * 7 * 2),
    ("A", "8x8", 2 * 6 * 6 * 2),
    ("D", "8x8", 2 * 8 * 6 * 2),
    ("W", "8x8", 2 * 8 * 7 * 2),
    # On 9x9: four to the side of W, three forwards of F and W.
    ("WfF", "9x9", 4 * 9 * 8 + 2 * 8 * 8),
    ("FfW", "9x9", 4 * 8 * 8 + 9 * 8),
    ("fN", "9x9", 2 * 8 * 7),
    ("fW", "9x9", 9 * 8),
    ("fR", "9x9", 9 * 36),
    ("R", "9x9", 81 * 16),
    # On 9x10: the horse's leg is no hindrance on an empty board; a chariot sees 17 squares from everywhere.
    ("nN", "9x10", 2 * (8 * 8 + 7 * 9) * 2),
    ("nA", "9x10", 4 * 7 * 8),
    ("R", "9x10", 90 * 17),
    # On a board of one rank.
    ("R", "5x1", 20),
]


@pytest.mark.parametrize(("betza", "board", "count"), EMPTY_BOARD_MOVES)
def test_a_piece_has_as_many_moves_on_an_empty_board_as_is_known(betza: str, board: str, count: int) -> None:
    made = document(f'[pieces.X]\nbetza = "{betza}"', board)
    for piece in ("C:X", "c:x"):
        assert sum(len(destinations(made, piece, source)) for source in sources(made, piece)) == count


def test_a_cannon_jumps_for_captures_only() -> None:
    made = document('[pieces.C]\nbetza = "mRcpR"', "9x10")
    board = {"b3": "C:C", "b5": "C:C", "b10": "c:c", "e3": "c:c", "h3": "c:c", "i3": "c:c"}
    found = targets(made, board, "b3")
    assert sorted(found) == ["a3", "b1", "b10", "b2", "b4", "c3", "d3", "h3"]


# --- limits ---


def test_a_document_that_no_store_takes_is_refused_on_the_way() -> None:
    made = pieces(game('[pieces.K]\nbetza = "K"\n[pieces.Q]\nbetza = "Q"'))
    with limits.allow({"possibilities": 1000}):
        assert next(made).identifier == "C:K"
        with pytest.raises(GgnStoreError, match="A game would have more than 1,000 possibilities"):
            next(made)


def test_a_piece_that_can_never_move_is_not_in_the_document() -> None:
    made = document('[pieces.K]\nbetza = "K"\n[pieces.O]\nbetza = ""')
    assert [piece.identifier for piece in made.pieces] == ["C:K", "c:k"]
