"""What a move or a drop asks of the squares around where it ends, and what it does to them."""

from __future__ import annotations

import itertools
import random

import pytest

from ggn_store import Position
from ggn_store.games import estimate, spares
from ggn_store.games.definition import DefinitionError, read
from ggn_store.games.generate import generate
from ggn_store.model.documents import variables
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND
from tests.oracles.play import Choice, Game

HEAD = 'title = "T"\nboard = "3x3"\nstyle = "C"\nstart = "3/3/3 9P/9p C/c"\n'


def moves(text: str, board: dict[str, str | None], hands: dict[str, int] | None = None) -> list[Choice]:
    """The moves of the first side."""
    return list(Game(HEAD + text).moves(Position(board, hands, "first")))


def test_a_capture_that_blasts_empties_everything_around_and_itself() -> None:
    board: dict[str, str | None] = {"a1": "C:R", "b1": "C:R", "c1": "c:p", "b2": "c:p", "c2": "C:R", "a3": "c:p"}
    text = '[pieces.R]\nbetza = "R"\nblast = "K"\n[pieces.P]\nbetza = ""\ndrop = true\n'
    [capture] = [each for each in moves(text, board) if (each.source, each.destination) == ("b1", "c1")]
    assert {square for square, piece in capture.after.board.items() if piece} == {"a1", "a3"}
    [quiet] = [each for each in moves(text, board) if (each.source, each.destination) == ("a1", "a2")]
    assert quiet.after.board["b2"] == "c:p"


SPARING = """
[pieces.R]
betza = "R"
blast = { spares = ["P"] }
[pieces.P]
betza = "fmWfcF"
promotion = { zone = "a3:c3", to = ["R"], forced = true }
blast = { spares = ["P"] }
"""
BLASTED = 'title = "T"\nboard = "3x3"\nstyle = "C"\nstart = "rpr/3/RPR / C/c"\n' + SPARING


def after_blasts(board: dict[str, str], source: str, target: str) -> dict[str, str]:
    """The board after a capture, by the words of the guide."""
    to_x, to_y = cell.parse(target)
    gone = {source, target}
    for square, piece in board.items():
        file, rank = cell.parse(square)
        if max(abs(file - to_x), abs(rank - to_y)) < 2 and piece[-1] not in "Pp":
            gone.add(square)
    return {square: piece for square, piece in board.items() if square not in gone}


def test_a_capture_spares_pawns_around_it_in_every_position() -> None:
    game = Game(BLASTED.replace("rpr/3/RPR", "ppp/3/PPP"))
    chance = random.Random(1)
    squares = [f"{file}{rank}" for file in "abc" for rank in (1, 2, 3)]
    captures = 0
    for _ in range(300):
        placed = {square: chance.choice([None, "C:R", "c:r", "C:P", "c:p"]) for square in squares}
        # A pawn of the first side is never on the last rank, one of the second side never on the first.
        board = {
            square: piece
            for square, piece in placed.items()
            if piece is not None and (square[1], piece) not in (("3", "C:P"), ("1", "c:p"))
        }
        for side in ("first", "second"):
            found = list(game.moves(Position(board, side=side)))
            assert len({(each.source, each.destination, str(each.after.board)) for each in found}) == len(found)
            for each in found:
                if each.destination in board:
                    captures += 1
                    kept = {square: piece for square, piece in each.after.board.items() if piece}
                    assert kept == after_blasts(board, each.source, each.destination)
            told = variables.complete(game.about, None, "T", board)
            for each in found:  # what a move says of the variables is what its board does
                kept = {square: str(piece) for square, piece in each.after.board.items() if piece}
                assert {**told, **(each.after.state or {})} == variables.complete(game.about, None, "T", kept)
            ways = [(each.source, each.destination) for each in found if each.destination in board]
            assert len(set(ways)) == len(ways)
    assert captures > 1000


def test_only_squares_that_spared_pieces_reach_have_variables() -> None:
    definition = read(BLASTED)
    document = generate(definition)
    assert document.dialect == "gdl"
    names = {square: name for each in spares.spared(definition).values() for square, name in each.names.items()}
    assert names == {square: f"P on {square}" for square in ("a2", "b1", "b2", "b3", "c2")}
    line = read(BLASTED.replace("fmWfcF", "fmW"))
    assert {each.square for each in spares.variables(line)} == {"b1", "b2", "b3"}
    assert {each.square: each.initial for each in spares.variables(line)} == {"b1": "yes", "b2": "no", "b3": "yes"}


def test_a_piece_may_stay_where_it_blasts() -> None:
    text = BLASTED.replace('betza = "R"\nblast = {', 'betza = "R"\nblast = { stays = true,')
    board = {"a1": "C:R", "a3": "c:r", "b2": "c:p", "b3": "c:r"}
    [capture] = [each for each in Game(text).moves(Position(board)) if each.destination == "a3"]
    assert {square: piece for square, piece in capture.after.board.items() if piece} == {"a3": "C:R", "b2": "c:p"}


def test_enemies_around_a_drop_and_a_move_are_turned() -> None:
    text = '[pieces.P]\nbetza = "mD"\nturns = "K"\ndrop = { near = "K" }\n'
    board: dict[str, str | None] = {"a1": "C:P", "b2": "c:p", "c3": "c:p"}
    found = moves(text, board, {"C:P": 1})
    after = {(each.source, each.destination): each.after.board for each in found}
    assert sorted(after) == [("*", "a2"), ("*", "b1"), ("a1", "a3"), ("a1", "c1")]
    assert after["*", "a2"] == {"a1": "C:P", "a2": "C:P", "b2": "C:P", "c3": "c:p"}
    assert {square: piece for square, piece in after["a1", "c1"].items() if piece} == {
        "c1": "C:P",
        "b2": "C:P",
        "c3": "c:p",
    }


def test_each_position_has_one_way_to_drop_near_and_to_turn() -> None:
    text = '[pieces.P]\nbetza = "mD"\nturns = "K"\ndrop = { near = "K" }\n'
    squares = [f"{file}{rank}" for file in "abc" for rank in (1, 2, 3)]
    game = Game(HEAD + text)
    for number in range(0, 3**8, 37):
        digits = [number // 3**place % 3 for place in range(8)]
        around = [square for square in squares if square != "b2"]
        board = {square: (None, "C:P", "c:p")[digit] for square, digit in zip(around, digits, strict=True)}
        found = game.moves(Position(board, {"C:P": 1}, "first"))
        middle = [each for each in found if each.source == "*" and each.destination == "b2"]
        assert len(middle) == (1 in digits)
        assert all("c:p" not in each.after.board.values() for each in middle)


def test_a_lone_drop_turns_nothing() -> None:
    text = '[pieces.P]\nbetza = ""\nturns = "K"\ndrop = { near = "K", lone = true }\n'
    found = moves(text, {"a1": "C:P", "b1": "c:p", "c2": "c:p"}, {"C:P": 1})
    turned = {each.destination: sum(piece == "c:p" for piece in each.after.board.values()) for each in found}
    assert turned == {"c1": 2, "a2": 1, "b2": 0, "a3": 2, "b3": 2, "c3": 2}


def enclosed(board: dict[str, str | None], square: str) -> set[str]:
    """What a drop of the first side encloses: enemies in a row from its square on, with an own piece behind them."""
    found: set[str] = set()
    x, y = cell.parse(square)
    for dx, dy in itertools.product((-1, 0, 1), repeat=2):
        line: list[str] = []
        at = cell.text((x + dx, y + dy)) if min(x + dx, y + dy) >= 0 else ""
        while (dx or dy) and str(board.get(at)).startswith("c:"):
            line.append(at)
            place = (x + (len(line) + 1) * dx, y + (len(line) + 1) * dy)
            at = cell.text(place) if min(place) >= 0 else ""
        if str(board.get(at)).startswith("C:"):
            found |= {*line}
    return found


@pytest.mark.parametrize("kinds", [["P"], ["P", "Q"]])
def test_a_drop_turns_what_it_encloses_in_one_way(kinds: list[str]) -> None:
    text = HEAD.replace("3x3", "4x4").replace("3/3/3 9P/9p", "4/4/4/4 9P/9p")
    game = Game(text + "".join(f'[pieces.{kind}]\nbetza = ""\ndrop = {{ encloses = "K" }}\n' for kind in kinds))
    squares, chance = [f"{file}{rank}" for file in "abcd" for rank in (1, 2, 3, 4)], random.Random(5)
    pieces = [None, *(f"C:{kind}" for kind in kinds), *(f"c:{kind.lower()}" for kind in kinds)]
    turned = 0
    for _ in range(60):
        board = {square: chance.choice(pieces) for square in squares}
        wanted = {square: lost for square in squares if board[square] is None and (lost := enclosed(board, square))}
        found = [each for each in game.moves(Position(board, {"C:P": 1}, "first")) if each.piece == "C:P"]
        assert sorted(each.destination for each in found) == sorted(wanted)
        for each in found:
            own = {square: str(board[square]).upper() for square in wanted[each.destination]}
            after = {**board, **own, each.destination: "C:P"}
            assert {**board, **each.after.board} == after
            turned += len(own)
    assert turned > 60


def test_drops_keep_apart_and_to_the_other_colour() -> None:
    text = '[pieces.P]\nbetza = ""\ndrop = { apart = "W" }\n'
    assert {each.destination for each in moves(text, {"a1": "c:p"}, {"C:P": 1})} == {"c1", "b2", "a3", "b3", "c2", "c3"}
    text = '[pieces.P]\nbetza = ""\ndrop = { other_colour = true }\n'
    assert {each.destination for each in moves(text, {"a1": "C:P"}, {"C:P": 1})} == {"b1", "a2", "c2", "b3"}


def test_a_promotion_may_make_the_only_one_of_its_kind() -> None:
    text = (
        '[zones]\nlast = "a3:c3"\n[pieces.P]\nbetza = "mfW"\ndrop = true\n'
        'promotion = { zone = "last", to = ["Q"], unique = true }\n[pieces.Q]\nbetza = "Q"\n'
    )
    one: dict[str, str | None] = {"a2": "C:P", "c2": "c:q"}
    assert sorted(str(each.after.board["a3"]) for each in moves(text, one) if each.source == "a2") == ["C:P", "C:Q"]
    assert [str(each.after.board["a3"]) for each in moves(text, one | {"b1": "C:Q"}) if each.source == "a2"] == ["C:P"]


def test_a_dropped_king_and_rook_have_not_moved_where_such_begin() -> None:
    text = """[pieces.K]
betza = "K"
castling = [{ from = "b1", to = "a1", with = "c1", with_to = "b1" }]
drop = { unmoved = true }
[pieces.R]
betza = "R"
drop = { unmoved = true }
[pieces.P]
betza = ""
drop = true
"""
    found = moves(text, {}, {"C:K": 1, "C:R": 1})
    placed = {(each.piece, each.destination): each.after.board[each.destination] for each in found}
    assert (placed["C:K", "b1"], placed["C:R", "c1"]) == ("C:+K", "C:+R")
    assert (placed["C:K", "a1"], placed["C:R", "b2"]) == ("C:K", "C:R")


@pytest.mark.parametrize("text", ['turns = "R"', 'blast = "cK"', 'drop = { near = "nA" }', 'drop = { apart = "afW" }'])
def test_squares_around_one_are_leaps(text: str) -> None:
    with pytest.raises(DefinitionError, match="squares around one are leaps without modes"):
        read(f'{HEAD}[pieces.P]\nbetza = ""\n{text}\n')


def others(letters: str, keys: str = "") -> str:
    """More pieces, which never move."""
    return "".join(f'\n[pieces.{letter}]\nbetza = ""\n{keys}' for letter in letters)


@pytest.mark.parametrize(
    "text",
    [
        'betza = "mDNA"\nturns = "K"\ndrop = { near = "K" }',
        'betza = "K"\nblast = "K"\ndrop = { apart = "W", other_colour = true }',
        'betza = "K"\nblast = { spares = ["P"] }\ndrop = true',
        'betza = "KN"\nblast = { betza = "W", spares = ["P"], stays = true }\ndrop = true',
        'betza = "Q"\ncaptures_except = ["P"]\nunmoved = "a1"\ndrop = true\n[pieces.R]\nbetza = "R"',
        'betza = "mD"\nturns = "W"\ndrop = true',
        'betza = ""\ndrop = { near = "K" }',
        'betza = ""\nturns = "K"\ndrop = { near = "K", lone = true }',
        'betza = ""\ndrop = { encloses = "K" }',
        'betza = ""\ndrop = { encloses = "W" }\n[pieces.Q]\nbetza = ""\ndrop = { encloses = "N" }',
        f'betza = ""\ndrop = {{ nifu = true, on_top = true, apart = "K" }}{others("AB")}',
        f'betza = "R"\ndrop = true{others("CD")}{others("AB", "immune = true")}',
        f'betza = "mpR"\ndrop = true\nhurdles_except = ["A", "B"]{others("ABCDEF")}',
        f'betza = "mpR"\ndrop = true\npromotion = {{ on = "any", to = ["A"], unique = true }}{others("AB")}',
    ],
)
def test_there_are_never_more_possibilities_than_were_estimated(text: str) -> None:
    definition = read(f"{HEAD}[pieces.P]\n{text}\n")
    made = sum(
        len(destination.possibilities)
        for piece in generate(definition).pieces
        for source in piece.sources
        for destination in source.destinations
    )
    assert 0 < made <= estimate.total(definition)


NOTHING_TWICE = '[pieces.N]\nbetza = "W"\n[pieces.P]\nbetza = ""\n'


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        # What is dropped on b2, by what stands on b1: nothing, an enemy, a piece like it, another own piece.
        ("drop = { nifu = true, on_top = true }", [False, True, False, True]),
        ('drop = { nifu = true, apart = "W" }', [True, False, False, True]),
        ('drop = { on_top = true, apart = "W" }', [False, False, True, True]),
        ('drop = { nifu = true }\nturns = "W"', [True, True, False, True]),
    ],
)
def test_a_drop_keeps_to_all_that_is_said_of_one_square(rule: str, expected: list[bool]) -> None:
    found = [
        any(each.destination == "b2" for each in moves(NOTHING_TWICE + rule, {"b1": below}, {"C:P": 1}))
        for below in (None, "c:n", "C:P", "C:N")
    ]
    assert found == expected


def test_a_promotion_that_is_limited_to_one_still_asks_for_its_hurdle() -> None:
    text = '[pieces.P]\nbetza = "mpvR"\npromotion = { on = "any", to = ["N"], forced = true, unique = true }\n'
    text += "drop = true\n"
    text += '[pieces.N]\nbetza = ""\n[pieces.W]\nbetza = ""\n'
    for hurdle, expected in ((None, []), ("C:W", ["a3"]), ("c:n", ["a3"]), ("C:N", [])):
        found = moves(text, {"a1": "C:P", "a2": hurdle})
        assert [each.destination for each in found] == expected


@pytest.mark.parametrize("rule", ['turns = "W"\ndrop = true', 'drop = { encloses = "W" }'])
def test_a_drop_that_turns_what_is_around_leaves_a_wall_too(rule: str) -> None:
    text = f'[pieces.P]\nbetza = ""\n{rule}\nwall = {{ piece = "W", betza = "mfW" }}\n[first.W]\nbetza = ""\n'
    found = [each for each in moves(text, {"a1": "C:P", "b1": "c:p"}, {"C:P": 1}) if each.destination == "c1"]
    boards = [{square: piece for square, piece in each.after.board.items() if piece} for each in found]
    assert boards == [{"a1": "C:P", "b1": "C:P", "c1": "C:P", "c2": "C:W"}]


def test_a_drop_that_encloses_turns_what_its_piece_turns_as_well() -> None:
    text = '[pieces.P]\nbetza = ""\nturns = "W"\ndrop = { encloses = "F" }\n'
    board: dict[str, str | None] = {"a1": "C:P", "b2": "c:p", "b3": "c:p", "c2": "c:p"}
    [after] = [each.after.board for each in moves(text, board, {"C:P": 1}) if each.destination == "c3"]
    assert after == {"a1": "C:P", "b2": "C:P", "b3": "C:P", "c2": "C:P", "c3": "C:P"}


@pytest.mark.parametrize(("keys", "enemy"), [('unmoved = "b3"', "c:+p"), ('initial = "b1"\nen_passant = true', "c:-p")])
@pytest.mark.parametrize(
    ("turning", "source", "to"),
    [
        ('turns = "F"\ndrop = true', "a1", "a2"),
        ('turns = "W"\ndrop = true', HAND, "c1"),
        ('drop = { encloses = "W" }', HAND, "c1"),
    ],
)
def test_what_is_turned_or_enclosed_loses_its_state(keys: str, enemy: str, turning: str, source: str, to: str) -> None:
    pawn = f'[pieces.P]\nbetza = "imfnD"\ndrop = true\n{keys}\n'
    text = f'host = ["clear-marks"]\n{pawn}[pieces.Q]\nbetza = "W"\n{turning}\n'
    found = moves(text, {"a1": "C:Q", "b1": enemy}, {"C:Q": 1})
    assert [each.after.board["b1"] for each in found if (each.source, each.destination) == (source, to)] == ["C:P"]


def test_leaps_around_a_square_are_no_first_moves() -> None:
    with pytest.raises(DefinitionError, match="squares around one are leaps without modes"):
        read(HEAD + '[pieces.P]\nbetza = ""\nturns = "iK"\ndrop = true\n')
