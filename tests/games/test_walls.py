"""Walls and arrows: what a move leaves on another square, where that may be, and who it stands in the way of."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from ggn_store import DocumentError, Position, Store
from ggn_store.games import estimate
from ggn_store.games.definition import read
from ggn_store.games.fairy.variants import Variant, read_variants
from ggn_store.games.fairy.write import write
from ggn_store.games.generate import generate
from ggn_store.model.documents.document import Document
from tests.oracles.fairy_stockfish import differences, fixture, of_store, samples
from tests.oracles.play import Game
from tests.support.definitions import document, entries, game, moves, targets
from tests.support.games import Games

WALL = """
[first.W]
betza = ""
immune = true
fen = "*"
"""


def left(made: Document, board: dict[str, str | None], side: str = "first") -> set[tuple[str, str, str]]:
    """Where pieces can go from and to, with each square that then has a wall."""
    return {
        (source, to, square)
        for _, source, to, diff in moves(made, board, {}, side)
        for square, piece in diff["board"].items()
        if piece == "C:W"
    }


def squares(made: Document, board: dict[str, str | None], source: str, to: str) -> set[str]:
    return {square for at, there, square in left(made, board) if (at, there) == (source, to)}


def test_an_arrow_flies_over_empty_squares_and_over_the_one_that_was_left() -> None:
    made = document(f'[pieces.A]\nbetza = "mR"\nwall = {{ piece = "W", betza = "mR" }}{WALL}', "4x1")
    assert squares(made, {"b1": "C:A"}, "b1", "c1") == {"a1", "b1", "d1"}
    assert squares(made, {"b1": "C:A", "a1": "c:a"}, "b1", "d1") == {"b1", "c1"}
    assert entries(made, "C:A", "b1", "c1")[0] == {
        "must": {"c1": "empty", "d1": "empty"},
        "diff": {"board": {"b1": None, "c1": "C:A", "d1": "C:W"}},
    }
    assert left(made, {"b1": "C:A", "d1": "C:W"}) == {
        ("b1", "a1", "b1"), ("b1", "a1", "c1"), ("b1", "c1", "a1"), ("b1", "c1", "b1")
    }  # fmt: skip


@pytest.mark.parametrize(("way", "ends"), [('betza = "mR"', [{"b1"}, {"c1"}, {"d1"}]), ("past = true", [set()])])
def test_what_is_dropped_leaves_something_ahead_and_nothing_behind(way: str, ends: list[set[str]]) -> None:
    made = document(f'[pieces.A]\nbetza = "mR"\ndrop = true\nwall = {{ piece = "W", {way} }}{WALL}', "4x1")
    drops = [each["diff"]["board"] for each in entries(made, "C:A", "*", "a1")]
    assert [set(each) - {"a1"} for each in drops] == ends


def test_a_wall_is_left_where_it_may_be() -> None:
    text = '[pieces.A]\nbetza = "K"\nwall = {{ piece = "W"{} }}'
    board: dict[str, str | None] = {"b1": "C:A", "c1": "c:a"}
    anywhere = document(text.format("") + WALL, "3x2")
    assert squares(anywhere, board, "b1", "c1") == {"a1", "b1", "a2", "b2", "c2"}, "what is taken leaves no room"
    zone = document(text.format(', zone = "a2:b2"') + WALL, "3x2")
    assert squares(zone, board, "b1", "c1") == {"a2", "b2"}
    assert {square for *_, square in left(zone, board, "second")} == {"a1"}, "the second side's zone is the image"
    past = document(text.format(", past = true") + WALL, "3x2")
    assert left(past, board) == {("b1", to, "b1") for to in ("a1", "a2", "b2", "c1", "c2")}
    assert left(past, board, "second") == {("c1", to, "c1") for to in ("b1", "b2", "c2")}


def test_a_wall_is_nobody_s_to_take_and_everybody_s_to_pass() -> None:
    made = document(f'[pieces.R]\nbetza = "RpR"\nwall = {{ piece = "W", past = true }}{WALL}', "5x1")
    walled: dict[str, str | None] = {"a1": "C:R", "b1": "C:W", "c1": "c:r", "e1": "c:r"}
    assert targets(made, walled, "a1") == ["c1"]
    assert targets(made, walled, "c1", "second") == ["d1", "a1"]
    mutant = document(f'[pieces.R]\nbetza = "RpR"{WALL.replace("immune = true", "")}', "5x1")
    assert "b1" in targets(mutant, walled, "c1", "second")


def test_what_is_left_may_be_a_stone_of_each_side() -> None:
    made = document('[pieces.A]\nbetza = "W"\nwall = { piece = "S", past = true }\n[pieces.S]\nbetza = ""', "2x1")
    assert entries(made, "c:a", "a1", "b1")[0]["diff"] == {"board": {"a1": "c:s", "b1": "c:a"}}


CHESS = f"""
[play]
duties = ["clear-marks"]
[pieces.K]
betza = "K"
castling = [{{ from = "e1", to = "g1", with = "h1", with_to = "f1" }}]
wall = {{ piece = "W", zone = "e1:h3" }}
[pieces.R]
betza = "R"
[pieces.P]
betza = "mfWimfnDcefF"
initial = "a2:h2"
en_passant = true
promotion = {{ zone = "a8:h8", to = ["R", "K"], forced = true }}
wall = {{ piece = "W", zone = ["d5", "e8"] }}
{WALL}"""


def test_castling_promotions_and_captures_in_passing_leave_walls() -> None:
    made = document(CHESS)
    castled = {square for at, to, square in left(made, {"e1": "C:+K", "h1": "C:+R"}) if (at, to) == ("e1", "g1")}
    assert castled == {"e1", "h1", *(f"{file}{rank}" for file in "efgh" for rank in "23")}
    passing = squares(made, {"e5": "C:P", "d5": "c:-p"}, "e5", "d6")
    assert passing == {"d5", "e8"}, "what is captured in passing makes room"
    results = [diff["board"] for _, _, to, diff in moves(made, {"d7": "C:P"}) if to == "d8"]
    assert results == [{"d7": None, "d8": piece, square: "C:W"} for piece in ("C:R", "C:K") for square in ("d5", "e8")]


def test_nothing_enters_where_something_was_left() -> None:
    text = f"""
[pieces.R]
betza = "R"
unmoved = "a1"
wall = {{ piece = "W", zone = "a1:b1" }}
[pieces.H]
betza = "N"
gating = true
{WALL}"""
    made = document(text, "3x1")
    entering = [diff for _, at, to, diff in moves(made, {"a1": "C:+R"}, {"C:H": 1}) if (at, to) == ("*", "a1")]
    assert [each["board"] for each in entering if None not in each["board"].values() and len(each["board"]) == 3] == [
        {"a1": "C:H", "c1": "C:R", "b1": "C:W"}
    ]


STONE = 'promotion = { on = "any", capturing = true, to = ["W"], forced = true }'


def test_what_captures_may_turn_to_stone() -> None:
    made = document(f'[pieces.K]\nbetza = "mW"\nterminal = true\n[pieces.R]\nbetza = "R"\n{STONE}{WALL}', "3x1")
    assert entries(made, "c:r", "a1", "b1") == [
        {"must": {"b1": "empty"}, "diff": {"board": {"a1": None, "b1": "c:r"}}},
        {"must": {"b1": "enemy"}, "deny": {"b1": "C:W"}, "diff": {"board": {"a1": None, "b1": "C:W"}}},
    ]
    with pytest.raises(DocumentError, match="the second side has no such piece"):
        game(f'[pieces.R]\nbetza = "R"\n{STONE}{WALL.replace("immune = true", "")}')


WRONG = [
    ('wall = { betza = "mQ" }', "pieces.A.wall.piece", "a wall names the piece that is left"),
    ('wall = { piece = "X" }', "pieces.A.wall.piece", "a wall names the piece that is left"),
    ("wall = true", "pieces.A.wall", "wall is a table"),
    ('wall = { piece = "W", to = "a1" }', "pieces.A.wall.to", "a wall has no such key"),
    ('wall = { piece = "W", zone = "z9" }', "pieces.A.wall.zone", "not on the board"),
    ('wall = { piece = "W", past = true, betza = "mW" }', "pieces.A.wall", "left behind or goes ahead"),
    ('wall = { piece = "W", betza = "" }', "pieces.A.wall.betza", "goes over empty squares"),
    *(
        (f'wall = {{ piece = "W", betza = "{betza}" }}', "pieces.A.wall.betza", "goes over empty squares")
        for betza in ("Q", "cR", "mpR", "mgQ", "imW", "mWmafF", "mjR", "mWdF")
    ),
    ('wall = { piece = "W", betza = "mX" }', "pieces.A.wall.betza", "means nothing"),
    ('fen = "*"', "pieces.A.fen", "* has no side"),
]


@pytest.mark.parametrize(("line", "path", "message"), WRONG)
def test_a_wall_that_cannot_be_is_told(line: str, path: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        game(f'[pieces.A]\nbetza = "W"\n{line}\n{WALL}')
    [problem] = caught.value.problems
    assert (problem.pointer, message in problem.message) == (path, True), problem.message


def test_what_would_be_too_much_is_told_before_it_is_made() -> None:
    with pytest.raises(DocumentError, match="the piece may have too many possibilities"):
        game(f'[pieces.A]\nbetza = "Q"\nwall = {{ piece = "W" }}{WALL}', "16x16")
    made = game(f'[pieces.A]\nbetza = "Q"\nwall = {{ piece = "W", betza = "mQ3" }}{WALL}', "16x16")
    assert estimate.total(made) < 1_300_000


ARROWS = ("mQ", "mW", "mfR", "mvR2", "mN", "mNN", "mnA", "mqNN", "mzB", "mfrF", "moR", "m(1,3)")
PLACES = ["", ", past = true", ', zone = "b1:c3"', *(f', betza = "{each}"' for each in ARROWS)]


LONG = [pytest.param(each, marks=pytest.mark.long) for each in ("mQ", "RcpR", "mWcyafF")]


@pytest.mark.parametrize("betza", ["KimfnD", *LONG])
def test_no_wall_makes_more_than_was_estimated(betza: str) -> None:
    for wall, (head, board) in itertools.product(PLACES, (("", "5x4"), ("cylinder = true\n", "3x5"))):
        text = f'{head}[pieces.A]\nbetza = "{betza}"\ninitial = "a1:c2"\nwall = {{ piece = "W"{wall} }}{WALL}'
        counts = {piece.token: count for piece, count in estimate.counts(game(text, board))}
        for piece in generate(game(text, board)).pieces:
            most = counts[piece.identifier[2].upper()]
            assert piece.possibilities <= most.possibilities, (wall, board)
            assert piece.conditions <= most.conditions, (wall, board)


@pytest.mark.parametrize("name", ["petrified", "snailtrail"])
def test_a_store_tells_the_legal_moves_around_walls(games: Games, name: str) -> None:
    assert [line for sample in fixture(name)[:10] for line in of_store(games[name], sample)] == []


# --- variants of Fairy-Stockfish ---

SECTIONS = {
    "arrow": "customPiece1 = n:mN\nstartFen = 2n1n2/7/n5n/7/N5N/7/2N1N2 w - - 0 1\nmaxRank = 7\nmaxFile = g\n",
    "past": "customPiece1 = p:K\nstartFen = p5P/7/7/3p*P1/7/7/p5P w - - 0 1\nmaxRank = 7\nmaxFile = g\n",
    "static": "wazir = w\nstartFen = 2w2/5/5/5/2W2 w - - 0 1\nmaxRank = 5\nmaxFile = e\n"
    "wallingRegionWhite = *2 *3\nwallingRegionBlack = c3 b4 a*\n",
}
PLAIN = "doubleStep = false\ncastling = false\nstalemateValue = loss\n"
# With captures, promotions, captures in passing and castling.
ROYAL = "extinctionValue = loss\nextinctionPieceTypes = k\nextinctionPseudoRoyal = true\n"
COMMON = "king = -\ncommoner = k\ncastlingKingPiece = k\n"


def sections() -> Iterator[tuple[str, str]]:
    for rule, options in SECTIONS.items():
        yield f"walls-{rule}", f"[walls-{rule}]\nwallingRule = {rule}\n{PLAIN}{options}"
    for rule, options in (("past", ""), ("static", "wallingRegionWhite = *4\nwallingRegionBlack = e4 d5\n")):
        yield f"walls-chess-{rule}", f"[walls-chess-{rule}:chess]\nwallingRule = {rule}\n{COMMON}{options}"
    yield "petrified-xiangqi", "[petrified-xiangqi:xiangqi]\npetrifyOnCaptureTypes = rpc\n"
    yield "petrified-royal", f"[petrified-royal:chess]\n{COMMON}{ROYAL}petrifyOnCaptureTypes = rbnk\n"
    yield "petrified-pawns", f"[petrified-pawns:chess]\n{COMMON}petrifyOnCaptureTypes = pnbrq\n"


def one(text: str) -> Variant:
    return read_variants(text.encode(), "mine.ini", (), allow_host_rules=True)[-1]


@pytest.mark.parametrize("count", [8, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "text"), [*sections()])
def test_walls_are_left_as_in_fairy_stockfish(name: str, text: str, count: int) -> None:
    engine = pytest.importorskip("pyffish")
    engine.load_variant_config(text)
    variant = one(text)
    assert variant.definition is not None, variant.refusals
    played = Game(variant.definition)
    found = samples(name, played, count)
    assert len(found) > count // 2
    assert [line for sample in found for line in differences(played, sample)] == []
    again = one(write(variant.definition, name).text)
    assert again.definition is not None, again.refusals
    assert [line for sample in found[:4] for line in differences(Game(again.definition), sample)] == []


REFUSED = [
    ("chess", "petrifyOnCaptureTypes = k", "a king that captures is no more"),
    ("chess", "petrifyOnCaptureTypes = pn", "a pawn that captures and becomes what is not petrified is no more"),
    ("crazyhouse", "petrifyOnCaptureTypes = n", "what is petrified goes to a hand, too"),
    ("chess", "wallingRule = past", "the engine's walls do not shield a royal piece"),
    ("isolation", "wallingRule = edge", "on the edge or beside another one: up to 116,736 possibilities"),
    ("isolation", "wallingRule = bricks", '"bricks" is not one of arrow, duck, edge, past, static, none'),
    ("isolation", "pieceDrops = true", "where the engine leaves a wall after a drop"),
    ("amazons", "customPiece1 = q:mQpR", "an arrow cannot go as mQpR goes"),
    ("amazons", "customPiece1 = q:cQ", "an arrow cannot go as cQ goes"),
    ("duck", "maxRank = 8", "as gdl/duck-chess: up to 107,773,952 possibilities"),
]


@pytest.mark.parametrize(("base", "option", "reason"), REFUSED)
def test_walls_that_a_definition_cannot_say_are_refused(base: str, option: str, reason: str) -> None:
    variant = one(f"[mine:{base}]\n{option}\n")
    assert variant.definition is None
    found = [each.reason for each in variant.refusals if each.option in ("wallingRule", "petrifyOnCaptureTypes")]
    assert any(reason in each for each in found), found


SAID = [
    ('[pieces.A]\nbetza = "mW"\nwall = { piece = "W", betza = "mF" }', "an arrow goes as its piece does"),
    (f'[pieces.A]\nbetza = "W"\n{STONE.replace("forced = true", "forced = false")}', "turns to stone with each"),
    ('[pieces.A]\nbetza = "W"\nwall = { piece = "A" }', "only a wall can be left: A is none"),
    (
        '[pieces.A]\nbetza = "W"\nwall = { piece = "W", past = true }\n[pieces.B]\nbetza = "F"',
        "each move of every piece leaves a wall, or none",
    ),
    (
        '[pieces.A]\nbetza = "W"\nwall = { piece = "W", past = true }\n[pieces.B]\nbetza = "F"\nwall = { piece = "W" }',
        "the option wallingRule says past already",
    ),
]


@pytest.mark.parametrize(("text", "reason"), SAID)
def test_walls_that_no_option_says_are_named(text: str, reason: str) -> None:
    section = write(game(text + WALL, "5x5"), "mine")
    assert any(each.moves and reason in each.reason for each in section.left_out), section.left_out


def test_a_captured_piece_of_the_other_style_leaves_what_a_side_has(store: Store) -> None:
    text = f"""title = "Styles"
board = "3x1"
styles = {{ first = "C", second = "X" }}
hands = {{ captures = true }}
[pieces.A]
betza = "W"
promotion = {{ to = ["W"], on = "any", capturing = true }}
wall = {{ piece = "W", past = true }}
{WALL}hand = false
"""
    store.load(read(text), "styles")
    rules = store.ruleset("styles")
    position = Position({"a1": "X:A'"}, {}, "first")
    [move] = rules.moves(position)
    assert rules.apply(position, move).board == {"a1": "C:W", "b1": "X:A'"}
