"""What the marks of pictures mean, and mobility, held to python-chess and to known facts."""

from __future__ import annotations

import itertools

import chess
import pytest

from ggn_store import Position, Ruleset, find_game, ruleset
from ggn_store.games import generate as generator
from ggn_store.model.documents.document import Piece
from ggn_store.model.pictures.marks import Mark, Way, marks, marks_of_piece
from ggn_store.model.pictures.picture import Diagram, HeatMap
from ggn_store.notation.qpi import is_promotion
from ggn_store.notation.stn import Transition
from ggn_store.render import legend
from ggn_store.render.picture_text import to_text
from tests.oracles import python_chess

# --- what marks mean ---


def of_square(found: tuple[Mark, ...]) -> dict[str, Mark]:
    by_square = {mark.square: mark for mark in found}
    assert len(by_square) == len(found), "one mark a square"
    return by_square


def shapes(found: tuple[Mark, ...]) -> dict[str, str]:
    return {square: " ".join(legend.shapes(mark)) for square, mark in of_square(found).items()}


def geometric(games: dict[str, Ruleset], game: str, piece: str, source: str) -> tuple[Mark, ...]:
    picture = games[game].pictures.picture(piece=piece, source=source)
    assert isinstance(picture, Diagram)
    return picture.marks


KINDS = {"K^": chess.KING, "Q": chess.QUEEN, "R": chess.ROOK, "B": chess.BISHOP, "N": chess.KNIGHT, "P": chess.PAWN}


@pytest.mark.parametrize("color", [chess.WHITE, chess.BLACK])
@pytest.mark.parametrize("token", KINDS)
def test_the_captures_that_are_marked_are_the_attacks_of_python_chess_from_every_square(
    games: dict[str, Ruleset], token: str, color: chess.Color
) -> None:
    identifier = f"C:{token}" if color == chess.WHITE else f"c:{token.lower()}"
    piece = games["chess"].read_piece(identifier)
    for source in (each.square for each in piece.sources):
        board = chess.Board(None)
        board.set_piece_at(chess.parse_square(source), chess.Piece(KINDS[token], color))
        attacked = {chess.SQUARE_NAMES[square] for square in board.attacks(chess.parse_square(source))}
        found = of_square(marks_of_piece(piece, source))
        assert {square for square, mark in found.items() if mark.capture == "freely"} == attacked
        board.turn = color
        quiet = {chess.SQUARE_NAMES[move.to_square] for move in board.pseudo_legal_moves}
        assert {square for square, mark in found.items() if mark.quiet == "freely"} == quiet
        assert not any(mark.is_over for mark in found.values())


def test_the_marks_in_positions_are_the_moves_of_python_chess(games: dict[str, Ruleset]) -> None:
    checked: dict[str, int] = dict.fromkeys(("quiet", "capture", "elsewhere", "promotes"), 0)
    for path in sorted(python_chess.POSITIONS.glob("chess_*.fen")):
        for board in python_chess.read_positions(path)[::25]:
            squares, side = python_chess.position_of(board)
            position = Position(squares, None, side)
            moves = [*board.pseudo_legal_moves, *python_chess.castlings_through_attack(board)]
            for source in {chess.SQUARE_NAMES[move.from_square] for move in moves}:
                picture = games["chess"].pictures.picture(source=source, position=position)
                assert isinstance(picture, Diagram)
                own = [move for move in moves if chess.SQUARE_NAMES[move.from_square] == source]
                expected = {
                    "quiet": {move.to_square for move in own if not board.is_capture(move)},
                    "capture": {move.to_square for move in own if board.is_capture(move)},
                    "elsewhere": {m.to_square for m in own if board.is_castling(m) or board.is_en_passant(m)},
                    "promotes": {move.to_square for move in own if move.promotion},
                }
                for name, wanted in expected.items():
                    marked = {mark.square for mark in picture.marks if getattr(mark, name) not in (False, "never")}
                    assert marked == {chess.SQUARE_NAMES[square] for square in wanted}, (board.fen(), source, name)
                    checked[name] += len(wanted)
    assert min(checked.values()) > 10, checked


def test_a_pawn_has_a_ring_ahead_and_crosses_at_its_sides(games: dict[str, Ruleset]) -> None:
    assert shapes(geometric(games, "chess", "C:P", "e2")) == {
        "e3": "ring",
        "e4": "ring",
        "d3": "cross",
        "f3": "cross",
    }


def test_a_capture_in_passing_and_castling_have_a_square(games: dict[str, Ruleset]) -> None:
    assert shapes(geometric(games, "chess", "C:P", "e5")) == {
        "e6": "ring",
        "d6": "cross square",
        "f6": "cross square",
    }
    king = shapes(geometric(games, "chess", "C:+K^", "e1"))
    assert {square for square, found in king.items() if found == "ring square"} == {"c1", "g1"}
    assert {square for square, found in king.items() if found == "disc"} == {"d1", "f1", "d2", "e2", "f2"}
    words = of_square(geometric(games, "chess", "C:+K^", "e1"))["g1"].words
    assert words == "moves, does not capture; f1 becomes C:R, h1 is emptied; if h1 is C:+R"


def test_words_tell_what_all_ways_ask_of_other_squares(games: dict[str, Ruleset]) -> None:
    one = Way("e4", {"d5": "c:-p", "e4": "empty", "e3": "empty"}, {"a1": "empty", "b1": "enemy"}, None)
    other = Way("e4", {"d5": "c:-p", "e4": "enemy"}, {"a1": "empty", "c1": "C:R"}, None)
    [mark] = marks("C:P", "e2", [one])
    assert mark.words == "moves, does not capture; if d5 is c:-p, a1 is taken, b1 is no enemy"
    [mark] = marks("C:P", "e2", [one, other])
    assert mark.words == "moves or captures; if d5 is c:-p, a1 is taken"
    [mark] = marks("C:P", "e2", [one], {"e2": "C:P"})
    assert mark.words == "moves"
    many = Way("e4", {}, {f"a{rank}": "S:P" for rank in range(1, 8)}, None)
    assert marks("C:P", "e2", [many])[0].words.endswith(
        "; if a1 is not S:P, a2 is not S:P, a3 is not S:P, a4 is not S:P and more"
    )
    passing = of_square(geometric(games, "chess", "C:P", "e5"))["d6"]
    assert passing.words == "captures only; in some ways, d5 is emptied"


def test_a_promotion_has_a_plus_and_its_words_name_the_pieces(games: dict[str, Ruleset]) -> None:
    found = of_square(geometric(games, "chess", "C:P", "d7"))
    assert shapes(tuple(found.values())) == {"d8": "ring plus", "c8": "cross plus", "e8": "cross plus"}
    assert found["d8"].words == "moves, does not capture; becomes C:Q, C:R, C:B or C:N"


def test_a_knight_has_eight_discs_and_a_bishop_thirteen(games: dict[str, Ruleset]) -> None:
    assert sorted(shapes(geometric(games, "chess", "C:N", "d4")).values()) == ["disc"] * 8
    assert sorted(shapes(geometric(games, "chess", "C:B", "d4")).values()) == ["disc"] * 13


def test_a_cannon_moves_freely_and_captures_over_a_piece(games: dict[str, Ruleset]) -> None:
    expected = {}
    for x, y in itertools.product(range(9), range(10)):
        if (x == 4) != (y == 4):
            is_near = abs(x - 4) + abs(y - 4) == 1
            expected["abcdefghi"[x] + str(y + 1)] = "ring" if is_near else "ring cross-over"
    assert shapes(geometric(games, "xiangqi", "X:C", "e5")) == expected


def rules_of(game: str, identifier: str) -> Piece:
    return next(piece for piece in generator.pieces(find_game(game)) if piece.identifier == identifier)


def test_a_knight_of_shogi_goes_to_two_squares_and_promotes_on_the_last_ranks() -> None:
    knight = rules_of("shogi", "S:N")
    assert shapes(marks_of_piece(knight, "e3")) == {"d5": "disc", "f5": "disc"}
    assert shapes(marks_of_piece(knight, "e5")) == {"d7": "disc plus", "f7": "disc plus"}
    words = {source: marks_of_piece(knight, source)[0].words for source in ("e5", "e7")}
    assert words == {
        "e5": "moves or captures; may become S:+N",
        "e7": "moves or captures; becomes S:+N",
    }


def test_a_pawn_of_shogi_is_dropped_on_all_ranks_but_the_last() -> None:
    found = marks_of_piece(rules_of("minishogi", "S:P"), "*")
    assert set(shapes(found).values()) == {"ring"}
    assert {mark.square for mark in found} == {f"{file}{rank}" for file in "abcde" for rank in range(1, 5)}
    assert all(mark.words.startswith("drops, does not capture; if ") for mark in found)


def test_a_cannon_of_janggi_also_moves_over_a_piece_only() -> None:
    found = shapes(marks_of_piece(rules_of("janggi", "J:C"), "e5"))
    assert set(found.values()) == {"disc-over"}
    assert "e6" not in found
    assert "e7" in found


def test_a_unicorn_goes_along_the_four_diagonals_of_space(games: dict[str, Ruleset]) -> None:
    corners = {f"{x}{y}{z}" for x in "bd" for y in "24" for z in "BD"} | {
        f"{x}{y}{z}" for x in "ae" for y in "15" for z in "AE"
    }
    assert shapes(geometric(games, "raumschach", "C:U", "c3C")) == dict.fromkeys(corners, "disc")


EMPTIED = {"e2": None, "e4": "C:P"}
WAYS: list[tuple[str, Way, str]] = [
    ("says nothing", Way("e4", {}, {}, None), "disc"),
    ("must be empty", Way("e4", {"e4": "empty"}, {}, None), "ring"),
    ("must be an enemy", Way("e4", {"e4": "enemy"}, {}, None), "cross"),
    ("must be an enemy's piece", Way("e4", {"e4": "c:p"}, {}, None), "cross"),
    ("must be an own piece that is lost", Way("e4", {"e4": "C:R"}, {}, Transition(EMPTIED)), "cross"),
    ("must be an own piece that stays", Way("e4", {"e4": "C:R"}, {}, Transition({"e2": "C:R", "e4": "C:P"})), "ring"),
    ("must not be empty", Way("e4", {}, {"e4": "empty"}, None), "cross"),
    ("must not be an enemy", Way("e4", {}, {"e4": "enemy"}, None), "ring"),
    ("must not be an own piece", Way("e4", {}, {"e4": "C:R"}, None), "disc"),
    ("over an enemy", Way("e4", {"e3": "enemy"}, {}, None), "disc-over"),
    ("over anything", Way("e4", {"e4": "enemy"}, {"e3": "empty"}, None), "cross-over"),
    ("an empty square between", Way("e4", {"e3": "empty"}, {}, None), "disc"),
    ("a piece beside", Way("e4", {"d3": "enemy"}, {}, None), "disc"),
    ("a piece beyond", Way("e4", {"e5": "enemy"}, {}, None), "disc"),
    ("a piece behind", Way("e4", {"e1": "enemy"}, {}, None), "disc"),
    (
        "jumped over and taken",
        Way("e4", {"e3": "enemy", "e4": "empty"}, {}, Transition({**EMPTIED, "e3": None})),
        "cross square",
    ),
    ("stays where it is", Way("e2", {"d3": "enemy"}, {}, Transition({"e2": "C:P"})), "ring"),
    ("shoots from where it is", Way("e2", {"d3": "enemy"}, {}, Transition({"d3": None})), "cross square"),
    ("goes to the hand", Way("*", {}, {}, Transition({"e2": None}, {"C:P": 1})), "ring"),
    ("becomes another", Way("e4", {}, {}, Transition({"e2": None, "e4": "C:Q"})), "disc plus"),
    ("vanishes", Way("e4", {}, {}, Transition({"e2": None, "e4": None})), "disc"),
]


@pytest.mark.parametrize(("way", "shape"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_a_mark_is_read_from_the_conditions(way: Way, shape: str) -> None:
    [mark] = marks("C:P", "e2", [way])
    assert " ".join(legend.shapes(mark)) == shape


def test_a_free_way_counts_more_than_one_over_a_piece() -> None:
    ways = [Way("e4", {"e3": "enemy", "e4": "empty"}, {}, None), Way("e4", {"e4": "empty"}, {}, None)]
    for order in (ways, ways[::-1]):
        [mark] = marks("C:P", "e2", order)
        assert (mark.quiet, mark.capture) == ("freely", "never")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("C:P", "C:Q", True),
        ("S:P", "S:+P", True),
        ("C:-P", "C:+P", True),
        ("C:+K^", "C:K^", False),
        ("C:P", "C:-P", False),
        ("C:-P", "C:P", False),
        ("C:P", "X:P", True),
        ("C:P", "c:p", False),
    ],
)
def test_a_promotion_is_another_piece_or_the_state_plus(before: str, after: str, expected: bool) -> None:
    assert is_promotion(before, after) is expected


def test_labels_without_coordinates_have_no_between_so_that_any_piece_is_a_hurdle() -> None:
    [mark] = marks("C:P", "Sea", [Way("Pad", {"Hill": "enemy"}, {}, None)])
    assert legend.shapes(mark) == ["disc-over"]


# --- mobility ---

TOTALS = {"C:N": 336, "C:B": 560, "C:R": 896, "C:Q": 1456, "C:K^": 420}


@pytest.mark.parametrize(("piece", "total"), TOTALS.items())
def test_mobility_on_an_empty_board_sums_to_what_is_known(games: dict[str, Ruleset], piece: str, total: int) -> None:
    picture = games["chess"].pictures.picture(piece=piece, mobility=True)
    assert isinstance(picture, HeatMap)
    assert sum(picture.counts.values()) == total
    assert f"sum {total}" in to_text(picture)


def test_a_pawn_reaches_nothing_by_captures_on_an_empty_board(games: dict[str, Ruleset]) -> None:
    picture = games["chess"].pictures.picture(piece="C:P", mobility=True)
    assert isinstance(picture, HeatMap)
    assert [picture.counts.get(f"e{rank}", 0) for rank in range(1, 9)] == [0, 2, 1, 1, 1, 1, 1, 0]


def test_mobility_counts_squares_that_are_reached_and_each_once() -> None:
    effects = {"board": {"a1": None}, "hands": {"C:P": 1}}
    possibilities = {
        "a1": [{"diff": {"board": {"a1": "C:Q"}}}],
        "*": [{"diff": effects}],
        "a2": [{"diff": {"board": {"a1": None, "a2": piece}}} for piece in ("C:Q", "C:R")],
        "a3": [{"must": {"a3": "enemy"}, "diff": {"board": {"a1": None, "a3": "C:P"}}}],
    }
    picture = ruleset({"C:P": {"a1": possibilities}}).pictures.picture(piece="C:P", mobility=True)
    assert isinstance(picture, HeatMap)
    assert picture.counts == {"a1": 1}
