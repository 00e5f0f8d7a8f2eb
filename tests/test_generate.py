"""Definitions become documents: chess to the byte, other games by what is known of them, each rule on a small board."""

from __future__ import annotations

import functools
import itertools
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ggn_store import GgnStoreError, Position, lint, problems
from ggn_store.games import generate as generating
from ggn_store.games.definition import Definition, read
from ggn_store.games.generate import generate, pieces
from ggn_store.model.document import Document, Envelope, canonical_text
from ggn_store.notation.hand import HAND
from tests import reference

DATA = Path(__file__).parents[1] / "data"
OWN = ("capablanca", "chess", "crazyhouse", "makruk", "minishogi", "shogi", "xiangqi")

KINGS = """
[pieces.K]
betza = "K"
terminal = true
"""


def shipped(name: str) -> str:
    return (DATA / "games" / f"{name}.toml").read_text("utf-8")


def game(text: str, board: str = "8x8", style: str = "C") -> Definition:
    """A definition that leaves its head to this function."""
    head = f'title = "A game"\nboard = "{board}"\nstyle = "{style}"\n'
    return read((head if "board" not in text.split("[")[0] else 'title = "A game"\n') + text)


@functools.cache
def shipped_document(name: str) -> Document:
    return generate(read(shipped(name), f"{name}.toml"))


def document(text: str, board: str = "8x8", style: str = "C") -> Document:
    """The document of a definition, which has to be valid."""
    made = generate(game(text, board, style))
    assert problems(made.canonical(), envelope=made.envelope) == []
    return made


def entries(made: Document, piece: str, source: str, destination: str) -> list[dict[str, Any]]:
    """The possibilities of one entry as JSON data, none where the entry is missing."""
    return [
        possibility.data("diff")
        for each in made.pieces
        if each.identifier == piece
        for at, to, _, possibility in each.entries()
        if (at.square, to.square) == (source, destination)
    ]


def destinations(made: Document, piece: str, source: str) -> list[str]:
    """Where the document has rules for a piece to go, whatever the conditions."""
    return [
        to.square
        for each in made.pieces
        if each.identifier == piece
        for at in each.sources
        if at.square == source
        for to in at.destinations
    ]


def sources(made: Document, piece: str) -> list[str]:
    return [at.square for each in made.pieces if each.identifier == piece for at in each.sources]


def moves(
    made: Document, board: Mapping[str, str | None], hands: Mapping[str, int] | None = None, side: str = "first"
) -> list[tuple[str, str, str, dict[str, Any]]]:
    """What can be done in a position, as tests/reference.py judges conditions."""
    return list(_moves(made, board, hands or {}, side))


def _moves(
    made: Document, board: Mapping[str, str | None], hands: Mapping[str, int], side: str
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for piece in made.pieces:
        if reference.side_of(piece.identifier) != side:
            continue
        for at in piece.sources:
            if not reference.available(piece.identifier, at.square, board, hands):
                continue
            for to in at.destinations:
                for possibility in to.possibilities:
                    data = possibility.data("diff")
                    if reference.permitted(data, board, side):
                        yield piece.identifier, at.square, to.square, data["diff"]


def targets(made: Document, board: Mapping[str, str | None], source: str, side: str = "first") -> list[str]:
    """Where the piece on a square can go, each destination once."""
    return list(dict.fromkeys(to for _, at, to, _ in moves(made, board, {}, side) if at == source))


# --- the games that ship ---


def test_chess_is_reproduced_to_the_byte() -> None:
    assert generate(read(shipped("chess"))).canonical() == (DATA / "chess.json").read_text("utf-8")


LARGE = ("crazyhouse", "shogi")


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


@pytest.mark.parametrize("name", ["minishogi", "xiangqi"])
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
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])},
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


# --- states: castling, first moves, marks ---

CASTLING = """
[pieces.K]
betza = "K"
terminal = true
castling = [
  { from = "f1", to = "i1", with = "j1", with_to = "h1" },
  { from = "f1", to = "c1", with = "a1", with_to = "d1" },
]
[pieces.R]
betza = "R"
"""


def test_castling_is_a_move_of_the_state_that_has_not_moved() -> None:
    made = document(CASTLING, "10x8")
    assert [piece.identifier for piece in made.pieces[:4]] == ["C:+K^", "C:K^", "C:+R", "C:R"]
    assert entries(made, "C:+K^", "f1", "i1") == [
        {
            "must": {"g1": "empty", "h1": "empty", "i1": "empty", "j1": "C:+R"},
            "diff": {"board": {"f1": None, "h1": "C:R", "i1": "C:K^", "j1": None}},
        }
    ]
    assert entries(made, "c:+k^", "f8", "c8") == [
        {
            "must": {"a8": "c:+r", "b8": "empty", "c8": "empty", "d8": "empty", "e8": "empty"},
            "diff": {"board": {"a8": None, "c8": "c:k^", "d8": "c:r", "f8": None}},
        }
    ]
    assert sources(made, "C:+K^") == ["f1"]
    assert sources(made, "c:+r") == ["a8", "j8"]
    assert destinations(made, "C:+K^", "f1")[-2:] == ["i1", "c1"]
    assert destinations(made, "C:K^", "f1")[-1] != "c1"


def test_castling_can_be_said_for_each_side_and_with_squares_of_its_own() -> None:
    made = document(
        """
[pieces.K]
betza = "K"
terminal = true
rook = "T"
castling = { first = [{ from = "d1", to = "b1", with = "a1", with_to = "c1" }], second = [
  { from = "e8", to = "g8", with = "h8", with_to = "f8", empty = ["g8"] },
] }
[pieces.T]
betza = "R"
"""
    )
    assert entries(made, "C:+K^", "d1", "b1")[0]["must"] == {"a1": "C:+T", "b1": "empty", "c1": "empty"}
    assert entries(made, "c:+k^", "e8", "g8")[0]["must"] == {"g8": "empty", "h8": "c:+t"}
    assert entries(made, "c:+k^", "d8", "b8") == []


def test_a_first_move_can_belong_to_a_state() -> None:
    made = document(
        """
[pieces.K]
betza = "KimfN"
terminal = true
unmoved = { first = "d1", second = "e8" }
"""
    )
    assert sources(made, "C:+K^") == ["d1"]
    assert [to for to in destinations(made, "C:+K^", "d1") if to in ("c3", "e3")] == ["e3", "c3"]
    assert {"c6", "e6"}.isdisjoint(destinations(made, "c:k^", "e8"))
    assert entries(made, "c:+k^", "e8", "d6")[0]["diff"] == {"board": {"d6": "c:k^", "e8": None}}


def test_a_first_move_is_from_where_the_piece_stands_at_the_start() -> None:
    made = document('start = "k^3/p3/4/P3/K^3 / C/c"\n' + KINGS + '[pieces.P]\nbetza = "mWimfnD"', "4x5")
    assert destinations(made, "C:P", "a2") == ["a3", "b2", "a1", "a4"]
    assert destinations(made, "C:P", "b2") == ["b3", "c2", "b1", "a2"]


PAWNS = """
host = ["clear-marks"]
[pieces.P]
betza = "mfWimfnDcefF"
initial = "a2:h2"
en_passant = true
"""


def test_a_double_step_leaves_a_mark_and_a_capture_in_passing_takes_it() -> None:
    made = document(PAWNS)
    assert entries(made, "C:P", "e2", "e4") == [
        {"must": {"e3": "empty", "e4": "empty"}, "diff": {"board": {"e2": None, "e4": "C:-P"}}}
    ]
    assert entries(made, "c:p", "d4", "e3") == [
        {"must": {"e3": "enemy"}, "diff": {"board": {"d4": None, "e3": "c:p"}}},
        {"must": {"e3": "empty", "e4": "C:-P"}, "diff": {"board": {"d4": None, "e3": "c:p", "e4": None}}},
    ]
    assert len(entries(made, "c:p", "d5", "e4")) == 1
    assert sources(made, "C:-P") == [f"{file}4" for file in "abcdefgh"]
    assert entries(made, "C:-P", "e4", "e5")[0]["diff"]["board"]["e5"] == "C:P"


def test_a_piece_can_be_taken_on_each_square_that_a_longer_first_move_passes() -> None:
    text = 'host = ["clear-marks"]\n[pieces.P]\nbetza = "mfWimfnDimfnHcefF"\ninitial = "a2:h2"\nen_passant = true'
    made = document(text, "8x10")
    assert entries(made, "C:P", "e2", "e5")[0]["diff"]["board"] == {"e2": None, "e5": "C:-P"}
    assert entries(made, "c:p", "d4", "e3")[1:] == [
        {"must": {"e3": "empty", "e4": "C:-P"}, "diff": {"board": {"d4": None, "e3": "c:p", "e4": None}}},
        {"must": {"e3": "empty", "e5": "C:-P"}, "diff": {"board": {"d4": None, "e3": "c:p", "e5": None}}},
    ]
    assert [each["must"] for each in entries(made, "c:p", "d5", "e4")] == [
        {"e4": "enemy"},
        {"e4": "empty", "e5": "C:-P"},
    ]


def test_two_ways_to_one_square_leave_different_marks() -> None:
    text = """
host = ["clear-marks"]
[pieces.P]
betza = "mfWimfnDcefF"
also = { from = "a2:h2", betza = "imfnH" }
initial = "a2:h3"
en_passant = true
"""
    made = document(text, "8x10")
    assert entries(made, "C:P", "e3", "e5")[0]["diff"]["board"]["e5"] == "C:-P"
    assert entries(made, "C:P", "e2", "e5")[0]["diff"]["board"]["e5"] == "C:+P"
    # Over e3 only the pawn came that began on e2.
    assert [each["must"] for each in entries(made, "c:p", "d4", "e3")] == [
        {"e3": "enemy"},
        {"e3": "empty", "e4": "C:-P"},
        {"e3": "empty", "e5": "C:+P"},
    ]


def test_a_pawn_that_steps_diagonally_is_marked_by_where_it_came_from() -> None:
    text = 'host = ["clear-marks"]\n[pieces.P]\nbetza = "mfFimfnAcefW"\ninitial = "a2:h2"\nen_passant = true'
    made = document(text)
    assert entries(made, "C:P", "c2", "e4")[0]["diff"]["board"]["e4"] == "C:-P"
    assert entries(made, "C:P", "g2", "e4")[0]["diff"]["board"]["e4"] == "C:+P"
    assert {"d3": "empty", "e4": "C:-P"} in [each["must"] for each in entries(made, "c:p", "d4", "d3")]
    assert {"f3": "empty", "e4": "C:+P"} in [each["must"] for each in entries(made, "c:p", "f4", "f3")]


def test_capture_in_passing_can_be_limited_to_a_zone() -> None:
    made = document(PAWNS.replace("en_passant = true", 'en_passant = "e3"'))
    assert entries(made, "C:P", "d2", "d4")[0]["diff"]["board"]["d4"] == "C:P"
    assert entries(made, "C:P", "e2", "e4")[0]["diff"]["board"]["e4"] == "C:-P"


# --- promotion ---


def becomes(made: Document, piece: str, source: str, destination: str) -> list[str]:
    """What a piece can become by a quiet move."""
    return [
        each["diff"]["board"][destination]
        for each in entries(made, piece, source, destination)
        if each["must"][destination] == "empty"
    ]


PROMOTING = """
[pieces.Q]
betza = "Q"
[pieces.N]
betza = "N"
[pieces.P]
betza = "fWbW"
promotion = {rule}
"""


@pytest.mark.parametrize(
    ("rule", "source", "destination", "expected"),
    [
        ('{ zone = "a8:h8", to = ["Q", "N"], forced = true }', "e7", "e8", ["C:Q", "C:N"]),
        ('{ zone = "a8:h8", to = ["Q", "N"], forced = true }', "e6", "e7", ["C:P"]),
        ('{ zone = "a8:h8", to = ["Q", "N"] }', "e7", "e8", ["C:P", "C:Q", "C:N"]),
        ('{ zone = "a7:h8", to = ["Q"] }', "e7", "e6", ["C:P"]),
        ('{ zone = "a7:h8", to = ["Q"], on = "enter-or-leave" }', "e7", "e6", ["C:P", "C:Q"]),
        ('{ to = ["N"], on = "any", forced = true }', "e3", "e4", ["C:N"]),
        ('{ zone = "a7:h8", to = ["Q"], capturing = true }', "e7", "e8", ["C:P"]),
        ('[{ zone = "e8", to = ["N"], forced = true }, { zone = "a7:h8", to = ["Q"] }]', "e7", "e8", ["C:N"]),
        ('[{ zone = "e8", to = ["N"], forced = true }, { zone = "a7:h8", to = ["Q"] }]', "e6", "e7", ["C:P", "C:Q"]),
        ('{ zone = { first = "a3:h3", second = "a8:h8" }, to = ["Q"], forced = true }', "e2", "e3", ["C:Q"]),
        ('{ zone = { first = "a3:h3", second = "a8:h8" }, to = ["Q"], forced = true }', "e7", "e8", ["C:P"]),
    ],
)
def test_a_promotion_says_when_and_what(rule: str, source: str, destination: str, expected: list[str]) -> None:
    made = document(PROMOTING.replace("{rule}", rule))
    assert becomes(made, "C:P", source, destination) == expected


def test_a_piece_promotes_where_it_could_not_move_on() -> None:
    made = document(
        """
[pieces.N]
betza = "fN"
promotion = { zone = "a7:i9", to = ["+N"], on = "enter-or-leave", forced = "immobile" }
[pieces."+N"]
betza = "WfF"
""",
        "9x9",
        "S",
    )
    assert becomes(made, "S:N", "e5", "f7") == ["S:N", "S:+N"]
    assert becomes(made, "S:N", "e6", "f8") == ["S:+N"]
    assert becomes(made, "s:n", "e4", "f2") == ["s:+n"]
    assert becomes(made, "s:n", "e6", "f4") == ["s:n"]


def test_a_promotion_on_capture_leaves_quiet_moves_as_they_are() -> None:
    made = document(PROMOTING.replace("{rule}", '{ zone = "all", to = ["Q"], capturing = true, forced = true }'))
    found = [(each["must"]["e5"], each["diff"]["board"]["e5"]) for each in entries(made, "C:P", "e4", "e5")]
    assert found == [("empty", "C:P"), ("enemy", "C:Q")]


# --- zones ---


def test_a_confined_piece_neither_leaves_its_zone_nor_is_elsewhere() -> None:
    made = document('[pieces.G]\nbetza = "W"\nconfined = "d1:f3"', "9x10")
    assert set(sources(made, "C:G")) == {file + rank for file in "def" for rank in "123"}
    assert sorted(destinations(made, "C:G", "f3")) == ["e3", "f2"]
    assert set(sources(made, "c:g")) == {f"{file}{rank}" for file in "def" for rank in (8, 9, 10)}


def test_further_moves_are_from_some_squares_only_and_keep_within_their_zone() -> None:
    text = """
[zones]
cross = ["d1", "f1", "e2", "d3", "f3"]
[pieces.R]
betza = "R"
also = [{ from = "cross", betza = "B", within = "cross" }]
"""
    made = document(text, "9x10")
    diagonal = {"e2", "f3"}
    assert diagonal & set(destinations(made, "C:R", "d1")) == diagonal
    assert "g4" not in destinations(made, "C:R", "d1")
    assert "f2" not in destinations(made, "C:R", "e1")
    assert entries(made, "C:R", "d1", "f3")[0]["must"] == {"e2": "empty", "f3": "empty"}


def test_the_second_side_sees_the_mirror_image_or_the_turned_board() -> None:
    text = '[pieces.P]\nbetza = "flF"\nconfined = "a1:c8"\n'
    assert "c8" in sources(document(text), "c:p")
    assert destinations(document(text), "c:p", "b5") == ["a4"]
    turned = document("turned = true\n" + text)
    assert "c8" not in sources(turned, "c:p")
    assert destinations(turned, "c:p", "g5") == ["h4"]
    assert destinations(turned, "C:p".upper(), "b5") == ["a6"]


def test_a_board_can_have_holes() -> None:
    made = generate(
        read('title = "Ring"\nsquares = ["a1:c1", "a2", "c2", "a3:c3"]\nstyle = "C"\n[pieces.R]\nbetza = "R"')
    )
    assert destinations(made, "C:R", "b1") == ["c1", "a1"]
    assert len(sources(made, "C:R")) == 8
    assert made.envelope.board is None
    assert problems(made.canonical(), envelope=made.envelope) == []


def test_files_wrap_round_on_a_cylinder() -> None:
    made = document('cylinder = true\n[pieces.W]\nbetza = "W"')
    assert sorted(destinations(made, "C:W", "a1")) == ["a2", "b1", "h1"]


def test_zones_of_a_board_in_space_are_mirrored_in_layers_too() -> None:
    made = document('[pieces.U]\nbetza = "R"\nconfined = "a1A:e1A"', "5x5x5")
    assert sources(made, "C:U") == ["a1A", "b1A", "c1A", "d1A", "e1A"]
    assert sources(made, "c:u") == ["a5E", "b5E", "c5E", "d5E", "e5E"]


# --- hands ---

HANDS = '[hands]\ncaptures = true\n[pieces.K]\nbetza = "K"\nterminal = true\n'


def test_captures_name_what_comes_into_the_hand() -> None:
    made = document(
        HANDS
        + """
[pieces.S]
betza = "FfW"
promotion = { zone = "a5:e5", to = ["+S"] }
[pieces."+S"]
betza = "WfF"
""",
        "5x5",
        "S",
    )
    found = [(each["must"]["c3"], each["diff"]) for each in entries(made, "S:K^", "c2", "c3")]
    board = {"c2": None, "c3": "S:K^"}
    assert found == [
        ("empty", {"board": board}),
        ("s:k^", {"board": board}),
        ("s:s", {"board": board, "hands": {"S:S": 1}}),
        ("s:+s", {"board": board, "hands": {"S:S": 1}}),
    ]
    assert entries(made, "S:S", HAND, "c3") == [
        {"must": {"c3": "empty"}, "diff": {"board": {"c3": "S:S"}, "hands": {"S:S": -1}}}
    ]
    assert HAND not in sources(made, "S:+S")
    assert HAND not in sources(made, "S:K^")


def test_a_promoted_piece_of_crazyhouse_is_a_pawn_in_the_hand() -> None:
    made = shipped_document("crazyhouse")
    assert {each["diff"]["board"]["a8"] for each in entries(made, "C:P", "a7", "a8")} == {
        "C:-Q",
        "C:-R",
        "C:-B",
        "C:-N",
    }
    gains = {each["must"]["c3"]: each["diff"].get("hands") for each in entries(made, "C:N", "b1", "c3")}
    assert gains == {
        "empty": None,
        "c:k^": None,
        "c:q": {"C:Q": 1},
        "c:-q": {"C:P": 1},
        "c:r": {"C:R": 1},
        "c:-r": {"C:P": 1},
        "c:b": {"C:B": 1},
        "c:-b": {"C:P": 1},
        "c:n": {"C:N": 1},
        "c:-n": {"C:P": 1},
        "c:p": {"C:P": 1},
    }
    in_passing = [each for each in entries(made, "C:P", "e5", "d6") if each["must"].get("d5") == "c:-p"]
    assert [each["diff"]["hands"] for each in in_passing] == [{"C:P": 1}]


def test_drops_keep_to_their_zone_the_file_limit_and_squares_with_moves() -> None:
    text = '[pieces.P]\nbetza = "fW"\ndrop = { zone = "a1:c4", nifu = true, immobile = false }'
    made = document(text, "3x4", "S")
    assert destinations(made, "S:P", HAND) == ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]
    assert destinations(made, "s:p", HAND) == ["a2", "b2", "c2", "a3", "b3", "c3", "a4", "b4", "c4"]
    assert entries(made, "S:P", HAND, "b2") == [
        {
            "must": {"b2": "empty"},
            "deny": {"b1": "S:P", "b3": "S:P", "b4": "S:P"},
            "diff": {"board": {"b2": "S:P"}, "hands": {"S:P": -1}},
        }
    ]


def test_a_file_may_hold_two_of_a_piece() -> None:
    made = document('[pieces.S]\nbetza = "fW"\ndrop = { nifu = 2 }', "3x4", "S")
    squares = ["b1", "b3", "b4"]
    for count in range(4):
        for chosen in itertools.combinations(squares, count):
            found = moves(made, dict.fromkeys(chosen, "S:S"), {"S:S": 1})
            assert len([to for _, at, to, _ in found if (at, to) == (HAND, "b2")]) == (1 if count < 2 else 0)


def test_a_drop_can_ask_for_something_below_and_offer_both_faces() -> None:
    made = document('[pieces.P]\nbetza = ""\ndrop = { on_top = true }', "3x3")
    assert "deny" not in entries(made, "C:P", HAND, "a1")[0]
    assert entries(made, "C:P", HAND, "a2")[0]["deny"] == {"a1": "empty"}
    faces = document('[pieces.P]\nbetza = "W"\ndrop = { as = ["P", "+P"] }\n[pieces."+P"]\nbetza = "F"', "3x3", "S")
    assert [each["diff"] for each in entries(faces, "S:P", HAND, "a1")] == [
        {"board": {"a1": "S:P"}, "hands": {"S:P": -1}},
        {"board": {"a1": "S:+P"}, "hands": {"S:P": -1}},
    ]


GATING = """
style = "C"
board = "5x4"
start = "k^4/5/5/2+K^1+R Q/ C/c"
[pieces.K]
betza = "K"
terminal = true
castling = { from = "c1", to = "d1", with = "e1", with_to = "c1" }
[pieces.R]
betza = "W"
[pieces.Q]
betza = "Q"
gating = true
"""


def test_a_piece_in_hand_enters_where_an_unmoved_piece_leaves() -> None:
    made = document(GATING)
    assert destinations(made, "C:Q", HAND) == ["c1", "e1"]
    step = {
        "diff": {"board": {"c1": "C:Q", "c2": "C:K^"}, "hands": {"C:Q": -1}},
        "must": {"c1": "C:+K^", "c2": "empty"},
    }
    assert step in entries(made, "C:Q", HAND, "c1")
    castled = {
        "must": {"c1": "C:+K^", "d1": "empty", "e1": "C:+R"},
        "diff": {"board": {"c1": "C:R", "d1": "C:K^", "e1": "C:Q"}, "hands": {"C:Q": -1}},
    }
    assert castled in entries(made, "C:Q", HAND, "e1")
    assert all(each["must"]["c1"] == "C:+K^" for each in entries(made, "C:Q", HAND, "c1"))
    board = {"c1": "C:+K^", "e1": "C:+R", "d1": "C:R"}
    held = [(to, diff["board"]) for _, at, to, diff in moves(made, board, {"C:Q": 1}) if at == HAND]
    assert ("e1", {"c1": "C:R", "d1": "C:K^", "e1": "C:Q"}) not in held, "something stands between king and rook"
    assert ("e1", {"e1": "C:Q", "e2": "C:R"}) in held
    assert not [at for _, at, *_ in moves(made, board, {}) if at == HAND]


def test_a_piece_can_capture_its_own_but_the_terminal_one() -> None:
    made = document(KINGS + '[pieces.C]\nbetza = "mdW"')
    board = {"b2": "C:C", "b3": "C:C", "a2": "C:K^", "c2": "c:c"}
    assert targets(made, board, "b2") == ["b3", "b1"]
    assert entries(made, "C:C", "b2", "b3")[1] == {"must": {"b3": "C:C"}, "diff": {"board": {"b2": None, "b3": "C:C"}}}


def test_a_game_can_be_all_drops() -> None:
    connect_four = shipped_document("connect-four")
    column = {"d1": "D:D", "d2": "d:d"}
    assert targets(connect_four, column | {"a7": None}, HAND) == []
    found = [to for _, at, to, _ in moves(connect_four, column, {"D:D": 1})]
    assert sorted(found) == ["a1", "b1", "c1", "d3", "e1", "f1", "g1"]
    # Both sides' discs fall to the same end.
    found = [to for _, at, to, _ in moves(connect_four, column, {"d:d": 1}, "second")]
    assert sorted(found) == ["a1", "b1", "c1", "d3", "e1", "f1", "g1"]
    gomoku = shipped_document("gomoku")
    assert len(moves(gomoku, {"k10": "g:s"}, {"G:S": 1})) == 19 * 19 - 1


# Moves from the middle of the empty board: 26 neighbours, 24 leaps of the knight, and rays of two to each side.
SPACE = [("K^", "c3C", 26), ("N", "c3C", 24), ("R", "c3C", 12), ("B", "c3C", 24), ("U", "c3C", 16), ("Q", "c3C", 52)]


@pytest.mark.parametrize(("letter", "square", "count"), SPACE)
def test_pieces_of_raumschach_have_their_moves_in_space(letter: str, square: str, count: int) -> None:
    for piece in (f"C:{letter}", f"c:{letter.lower()}"):
        assert len(destinations(shipped_document("raumschach"), piece, square)) == count


def test_pawns_of_raumschach_go_forward_and_up_and_the_other_side_back_and_down() -> None:
    made = shipped_document("raumschach")
    assert destinations(made, "C:P", "c2B") == ["c3B", "c2C", "b3B", "d3B", "c3C", "b2C", "d2C"]
    assert sorted(destinations(made, "c:p", "c4D")) == sorted(["c3D", "c4C", "b3D", "d3D", "c3C", "b4C", "d4C"])
    promoted = [each["diff"]["board"]["c5E"] for each in entries(made, "C:P", "c4E", "c5E")]
    assert promoted == ["C:Q", "C:R", "C:B", "C:U", "C:N"]


# --- armies ---


def test_two_styles_play_each_other() -> None:
    made = document(
        """
styles = { first = "C", second = "X" }
board = "9x10"
[first.K]
betza = "K"
terminal = true
[first.R]
betza = "R"
[second.G]
betza = "W"
terminal = true
confined = "d1:f3"
[second.R]
betza = "R"
""",
    )
    assert [piece.identifier for piece in made.pieces] == ["C:K^", "C:R", "x:g^", "x:r"]
    assert set(sources(made, "x:g^")) == {f"{file}{rank}" for file in "def" for rank in (8, 9, 10)}


def test_a_captured_piece_of_another_style_is_of_derived_style_and_comes_back() -> None:
    made = document(
        """
styles = { first = "C", second = "S" }
board = "3x3"
hands = { captures = true }
[first.N]
betza = "W"
[second.L]
betza = "fW"
drop = { immobile = false }
"""
    )
    assert [piece.identifier for piece in made.pieces] == ["C:N", "S:L'", "s:l", "c:n'"]
    assert {each["must"]["a2"]: each["diff"].get("hands") for each in entries(made, "C:N", "a1", "a2")} == {
        "empty": None,
        "s:l": {"S:L'": 1},
        "c:n'": {"C:N": 1},
    }
    assert destinations(made, "S:L'", HAND) == ["a1", "b1", "c1", "a2", "b2", "c2"]
    assert destinations(made, "S:L'", "a1") == ["a2"]


def test_each_side_can_have_pieces_of_its_own() -> None:
    made = document('[first.P]\nbetza = "fW"\n[second.Q]\nbetza = "Q"')
    assert [piece.identifier for piece in made.pieces] == ["C:P", "c:q"]


# --- who may take what, and jump over what ---


def test_some_pieces_are_not_taken() -> None:
    text = '[pieces.A]\nbetza = "W"\ncaptures_except = {letters}\n[pieces.B]\nbetza = "W"\n[pieces.C]\nbetza = "W"\n'
    one = document(text.replace("{letters}", '["B"]'))
    assert [(each["must"]["a2"], each.get("deny")) for each in entries(one, "C:A", "a1", "a2")] == [
        ("empty", None),
        ("enemy", {"a2": "c:b"}),
    ]
    two = document(text.replace("{letters}", '["B", "A"]'))
    assert [each["must"]["a2"] for each in entries(two, "C:A", "a1", "a2")] == ["empty", "c:c"]
    iron = document('[pieces.A]\nbetza = "W"\n[pieces.B]\nbetza = "W"\nimmune = true')
    assert entries(iron, "C:A", "a1", "a2")[1]["deny"] == {"a2": "c:b"}


def test_a_cannon_may_not_jump_over_cannons_nor_take_them() -> None:
    made = document(
        """
[pieces.C]
betza = "pR"
hurdles_except = ["C"]
captures_except = ["C"]
[pieces.N]
betza = "N"
""",
        "1x5",
        "J",
    )
    for hurdle, target, expected in [
        ("J:N", None, True),
        ("j:n", None, True),
        ("J:N", "j:n", True),
        ("J:C", None, False),
        ("j:c", None, False),
        ("j:n", "j:c", False),
        ("j:n", "J:N", False),
        (None, "j:n", False),
    ]:
        found = targets(made, {"a1": "J:C", "a2": hurdle, "a3": target}, "a1")
        assert ("a3" in found) == expected, (hurdle, target)


# --- limits ---


def test_a_document_that_no_store_takes_is_refused_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generating, "MAX_POSSIBILITIES", 1000)
    made = pieces(game('[pieces.K]\nbetza = "K"\n[pieces.Q]\nbetza = "Q"'))
    assert next(made).identifier == "C:K"
    with pytest.raises(GgnStoreError, match="A game would have more than 1,000 possibilities"):
        next(made)


def test_a_piece_that_can_never_move_is_not_in_the_document() -> None:
    made = document('[pieces.K]\nbetza = "K"\n[pieces.O]\nbetza = ""')
    assert [piece.identifier for piece in made.pieces] == ["C:K", "c:k"]


# --- mutants: without its rule a game is another game, and these positions show it ---


def castled(made: Document) -> bool:
    board = {"e1": "C:+K^", "h1": "C:+R"}
    return "g1" in targets(made, board, "e1") and "g1" not in targets(made, {**board, "f1": "C:B"}, "e1")


def passed(made: Document) -> bool:
    return "d6" in targets(made, {"e5": "C:P", "d5": "c:-p"}, "e5")


def stepped_twice(made: Document) -> bool:
    board = {"e2": "C:P"}
    return "e4" in targets(made, board, "e2") and "e4" not in targets(made, {**board, "e3": "c:n"}, "e2")


def promoted(made: Document) -> bool:
    return {diff["board"]["a8"] for _, _, to, diff in moves(made, {"a7": "C:P"}) if to == "a8"} == {
        "C:Q",
        "C:R",
        "C:B",
        "C:N",
    }


def one_pawn_a_file(made: Document) -> bool:
    squares = [to for _, at, to, _ in moves(made, {"e3": "S:P"}, {"S:P": 1}) if at == HAND]
    return len(squares) == 4 * 4


def no_idle_drop(made: Document) -> bool:
    squares = [to for _, at, to, _ in moves(made, {}, {"S:P": 1}) if at == HAND]
    return len(squares) == 5 * 4


def promoted_in_the_camp(made: Document) -> bool:
    results = [diff["board"][to] for _, _, to, diff in moves(made, {"b5": "S:S"}) if to == "c4"]
    return results == ["S:S", "S:+S"]


def promoted_at_the_end(made: Document) -> bool:
    return [diff["board"]["a5"] for _, _, to, diff in moves(made, {"a4": "S:P"}) if to == "a5"] == ["S:+P"]


def stayed_in_the_palace(made: Document) -> bool:
    return sorted(targets(made, {"f3": "X:K^"}, "f3")) == ["e3", "f2"]


def stayed_at_home(made: Document) -> bool:
    return sorted(targets(made, {"c5": "X:B"}, "c5")) == ["a3", "e3"]


def stumbled(made: Document) -> bool:
    return sorted(targets(made, {"e5": "X:N", "e6": "x:p"}, "e5")) == ["c4", "c6", "d3", "f3", "g4", "g6"]


def jumped(made: Document) -> bool:
    board = {"a1": "X:C", "a4": "x:p", "a7": "x:r"}
    return [to for to in targets(made, board, "a1") if to[0] == "a"] == ["a2", "a3", "a7"]


def crossed_the_river(made: Document) -> bool:
    return (sorted(targets(made, {"e6": "X:P"}, "e6")), targets(made, {"e5": "X:P"}, "e5")) == (
        ["d6", "e7", "f6"],
        ["e6"],
    )


def kept_what_it_took(made: Document) -> bool:
    return [diff.get("hands") for _, _, to, diff in moves(made, {"a1": "S:R", "a3": "s:+p"}) if to == "a3"] == [
        {"S:P": 1}
    ]


CHESS_CASTLING = """castling = [
  { from = "e1", to = "g1", with = "h1", with_to = "f1" },
  { from = "e1", to = "c1", with = "a1", with_to = "d1" },
]
"""

MUTANTS = [
    ("chess", castled, CHESS_CASTLING, ""),
    ("chess", castled, 'with = "h1", with_to = "f1" }', 'with = "h1", with_to = "f1", empty = ["g1"] }'),
    ("chess", passed, "ceflFcefrF", "cflFcfrF"),
    ("chess", passed, "en_passant = true", "en_passant = false"),
    (
        "chess",
        stepped_twice,
        'imfnDceflFcefrF"\nconfined = "pawns"\ninitial = "home"\nen_passant = true',
        'ceflFcefrF"',
    ),
    ("chess", stepped_twice, 'imfnDceflFcefrF"\nconfined = "pawns"\ninitial = "home"\nen_passant = true', 'imfDcF"'),
    ("chess", promoted, ', "B", "N"]', ', "N"]'),
    ("chess", promoted, "forced = true", "forced = false"),
    ("chess", promoted, 'last = "a8:h8"', 'last = "a7:h7"'),
    ("minishogi", one_pawn_a_file, "nifu = true", "nifu = false"),
    ("minishogi", one_pawn_a_file, "nifu = true", "nifu = 2"),
    ("minishogi", no_idle_drop, "immobile = false, ", ""),
    ("minishogi", promoted_in_the_camp, '"+S"], on = "enter-or-leave"', '"+S"]'),
    ("minishogi", promoted_at_the_end, '"+P"], on = "enter-or-leave", forced = "immobile"', '"+P"]'),
    ("minishogi", kept_what_it_took, "captures = true", "captures = false"),
    (
        "xiangqi",
        stayed_in_the_palace,
        'betza = "W"\nterminal = true\nconfined = "palace"',
        'betza = "W"\nterminal = true',
    ),
    ("xiangqi", stayed_in_the_palace, 'palace = "d1:f3"', 'palace = "d1:g3"'),
    ("xiangqi", stayed_at_home, 'homeland = "a1:i5"', 'homeland = "all"'),
    ("xiangqi", stumbled, 'betza = "nN"', 'betza = "N"'),
    ("xiangqi", jumped, 'betza = "mRcpR"', 'betza = "mRcR"'),
    ("xiangqi", jumped, 'betza = "mRcpR"', 'betza = "pR"'),
    ("xiangqi", crossed_the_river, 'from = "abroad", ', ""),
    ("xiangqi", crossed_the_river, 'also = [{ from = "abroad", betza = "sW" }]', ""),
]


@pytest.mark.parametrize(("name", "rule", "old", "new"), MUTANTS)
def test_a_game_without_one_of_its_rules_fails_where_the_game_passes(name: str, rule: Any, old: str, new: str) -> None:
    text = shipped(name)
    assert text.count(old) >= 1
    mutant = text.replace(old, new, 1)
    if old == CHESS_CASTLING:
        mutant = mutant.replace("+k^", "k^").replace("+K^", "K^").replace("+r", "r").replace("+R", "R")
    assert rule(shipped_document(name))
    assert not rule(generate(read(mutant)))
