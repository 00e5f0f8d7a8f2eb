"""Sections of a Fairy-Stockfish variants.ini become games, or are refused with every reason and its line."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ggn_store import DocumentError, GgnStoreError, Store, UnknownNameError, limits
from ggn_store.games import estimate, library, playing
from ggn_store.games.fairy.variants import DEFINED, Variant, built_in_variants, read_variants
from ggn_store.games.fairy.write import write
from ggn_store.model.moves.play import Duty, Outcome, Play
from tests.oracles.fairy_stockfish import FIXTURES, Sample, differences, fixture
from tests.oracles.play import Game
from tests.support.program import Command
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run

BUILT_IN = Path(__file__).parents[2] / "data" / "fairy.ini"


def one(text: str, allow_host_rules: bool = False) -> Variant:
    """What becomes of the last section of a text."""
    return read_variants(text.encode(), "mine.ini", (), allow_host_rules)[-1]


def tables(variant: Variant) -> dict[str, dict[str, object]]:
    """The tables of the pieces of both sides."""
    assert variant.text is not None, variant.refusals
    return dict(tomllib.loads(variant.text).get("pieces", {}))


# --- the built-in variants, against what Fairy-Stockfish says of them ---

KNOWN = [
    name
    for name in re.findall(r"^\[([^:\]]+)", BUILT_IN.read_text("utf-8"), re.MULTILINE)
    if (FIXTURES / f"{name}.txt").exists()
]
# One of each kind; the others are long.
FEW = (
    *(
        "antichess",
        "berolina",
        "chigorin",
        "coregal",
        "isolation7x7",
        "janggi",
        "kyotoshogi",
        "minixiangqi",
        "seirawan",
        "spartan",
    ),
)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in FEW else pytest.mark.long) for name in KNOWN])
def test_a_built_in_variant_moves_as_it_does_in_fairy_stockfish(name: str) -> None:
    [variant] = read_variants(f"[copy:{name}]\n".encode(), "mine.ini", (), allow_host_rules=True)
    assert variant.definition is not None
    game = Game(variant.definition)
    lines = (FIXTURES / f"{name}.txt").read_text("utf-8").splitlines()
    found = [told for line in lines for told in differences(game, Sample.from_line(line))]
    assert [told for told in found if name != "karouk" or ": after " not in told] == []


def test_most_of_the_library_is_built_in() -> None:
    assert len(KNOWN) >= 85
    described = [
        section.name
        for section in read_variants(BUILT_IN.read_bytes(), "fairy.ini", (), allow_host_rules=True)
        if (FIXTURES / f"{section.name}.txt").exists() and section.definition is not None
    ]
    assert described == KNOWN


# --- what options become ---


def test_a_piece_of_one_s_own_joins_an_inherited_army() -> None:
    variant = one(
        "[mine:chess]\ncustomPiece1 = g:C\nmaxFile = 10\n"
        "startFen = g3k4g/pppppppppp/10/10/10/10/PPPPPPPPPP/G3K4G w - - 0 1\n"
    )
    assert variant.refusals == ()
    assert tables(variant)["G"]["betza"] == "C"
    assert set(tables(variant)) == {"K", "G", "Q", "R", "B", "N", "P"}, "a pawn may become what nobody has yet"


def test_an_inherited_promotion_keeps_its_piece_under_a_new_letter() -> None:
    variant = one("[mine:capablanca]\narchbishop = w\nstartFen = 4k5/p9/10/10/10/10/P9/4K5 w - - 0 1\n")
    assert tables(variant)["P"]["promotion"] == {
        "zone": "promotion",
        "to": ["W", "C", "Q", "R", "B", "N"],
        "forced": True,
    }


def test_what_a_blast_spares_keeps_its_type_under_a_new_letter() -> None:
    text = "[a:chess]\nking = -\ncommoner = k\nblastOnCapture = true\nblastImmuneTypes = q\n"
    text += "[mine:a]\nqueen = w\nstartFen = rnbwkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBWKBNR w KQkq - 0 1\n"
    assert tables(one(text))["N"]["blast"] == {"spares": ["W", "P"]}


def test_a_letter_belongs_to_the_piece_that_took_it_last() -> None:
    assert tables(one("[mine:chess]\ncustomPiece1 = n:NN\n"))["N"]["betza"] == "NN"
    assert tables(one("[a:chess]\ncamel = c\n[mine:chess]\nknight = -\ncustomPiece1 = n:C\n"))["N"]["betza"] == "C"


def test_first_moves_are_quiet_and_pawns_pass() -> None:
    pawn = tables(one("[mine:chess]\ncustomPiece1 = p:mfFcfWifnA\npawnTypes = p\n"))["P"]
    assert (pawn["betza"], pawn["initial"], pawn["en_passant"]) == ("mfFcfeWmifnA", "home", True)


def test_what_the_engine_takes_for_nothing_moves_nothing() -> None:
    assert tables(one("[mine:chess]\nqueen = -\ncustomPiece1 = q:WnCmnH\n"))["Q"]["betza"] == "W"


def test_castling_is_from_where_the_start_position_has_the_right_to_it() -> None:
    king = tables(one("[mine:chess]\nstartFen = rnbqkbnr/8/8/8/8/8/8/R3K2R w Q - 0 1\n"))["K"]
    assert king["castling"] == {
        "first": [{"from": "e1", "to": "c1", "with": "a1", "with_to": "d1", "empty": ["c1", "d1", "b1"]}],
        "second": [],
    }


def test_left_and_right_are_the_player_s_own() -> None:
    variant = one(
        "[mine:chess]\ncustomPiece1 = q:lW\nmobilityRegionWhiteCustomPiece1 = d1\n"
        "mobilityRegionBlackCustomPiece1 = e8\n"
        "startFen = rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1\n"
    )
    assert variant.text is not None
    data = tomllib.loads(variant.text)
    assert (data["turned"], data["zones"]["area-q"]) == (True, "d1")


def test_regions_are_squares_ranks_and_files() -> None:
    text = "[mine:chess]\nmobilityRegionWhiteRook = *1 a* e5\nmobilityRegionBlackRook = *8\npromotionPieceTypes = q\n"
    variant = one(text)
    assert variant.text is not None
    zone = tomllib.loads(variant.text)["zones"]["area-r"]
    assert zone == {"first": ["a1:h1", "a2:a8", "e5"], "second": "a8:h8"}


_COMMONER = "[x:chess]\nking = -\ncommoner = k\nextinctionPieceTypes = k\nextinctionPseudoRoyal = true\n"
# What is asked of the engine: the last section of a file, a position, and the legal moves there but for steps of kings.
SETTING = [
    (
        "[x:chess]\npromotionRank = 6\ndoubleStepRank = 3",
        "4k3/8/8/5pP1/1P6/2P5/8/4K3 w - f6 0 1",
        "c3c4 b4b5 c3c5 g5g6q g5g6r g5g6b g5g6n g5f6",
    ),
    (
        "[x:chess]\npromotionRank = 6\ndoubleStepRank = 3",
        "4k3/8/2p5/1p6/5pPp/8/8/4K3 b - g3 0 1",
        "b5b4 c6c5 c6c4 f4f3q f4f3r f4f3b f4f3n h4h3q h4h3r h4h3b h4h3n f4g3 h4g3",
    ),
    ("[x:chess]\ndoubleStepRankMin = 1", "4k3/8/8/8/8/8/1P6/P3K3 w - - 0 1", "a1a2 a1a3 b2b3 b2b4"),
    (
        "[x:chess]\ndoubleStepRank = 3\ndoubleStepRankMin = 3",
        "4k3/8/8/8/8/P7/1P6/4K3 w - - 0 1",
        "b2b3 a3a4 b2b4 a3a5",
    ),
    (
        "[x:chess]\ncastlingRookPiece = n",
        "4k3/p7/8/8/8/8/8/1N2K1N1 w KQ - 0 1",
        "b1d2 b1a3 b1c3 g1e2 g1f3 g1h3 e1g1 e1c1",
    ),
    ("[x:chess]\ncastlingRookPiecesBlack = n", "4k1n1/8/8/8/8/8/8/4K3 b k - 0 1", "g8f6 g8h6 g8e7 e8g8"),
    (
        "[a:chess]\npromotionPieceTypesWhite = r\n[b:a]\npromotionPieceTypes = q",
        "4k3/7P/8/8/8/8/8/4K3 w - - 0 1",
        "h7h8q",
    ),
    (
        "[a:chess]\nbreakthrough = y\npromotionPawnTypes = y\n[b:a]\npawnTypes = p",
        "4k3/7P/8/8/8/8/8/4K3 w - - 0 1",
        "h7h8q h7h8r h7h8b h7h8n",
    ),
    # Pawns promote whatever promotionPawnTypes says.
    (
        "[x:chess]\npromotionPawnTypes = n\npromotionPieceTypes = qrb",
        "4k3/P7/8/8/8/8/8/4K3 w - - 0 1",
        "a7a8q a7a8r a7a8b",
    ),
    # Pawns capture in passing whatever enPassantTypes says, and other pieces by captures that are no quiet moves.
    ("[x:chess]\nenPassantTypes = -", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5e6 e5d6"),
    # Squares of one side alone on which it captures in passing.
    ("[x:chess]\nenPassantRegionBlack = -", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5e6 e5d6"),
    ("[x:chess]\nenPassantRegionWhite = -", "4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1", "e4e3 e4d3"),
    ("[x:chess]\nenPassantRegionWhite = -", "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1", "e5e6"),
    (
        "[x:chess]\nenPassantTypes = a\ncustomPiece1 = a:mWcF\nstartFen = 4k3/p7/8/8/8/8/8/A3K3 w - - 0 1",
        "4k3/8/8/2Ap4/8/8/8/4K3 w - d6 0 1",
        "c5b5 c5c4 c5c6 c5d6",
    ),
    # Double steps are made where the option of double steps says, though triple ones are possible elsewhere.
    ("[x:chess]\ntripleStepRegionWhite = *4", "4k3/8/8/8/2P5/8/P7/4K3 w - - 0 1", "a2a3 c4c5 a2a4 c4c7"),
    # Who has no double steps leaves no squares of them to its heirs.
    ("[a:chess]\ndoubleStep = false\n[b:a]\ndoubleStep = true", "4k3/8/8/8/8/8/P7/4K3 w - - 0 1", "a2a3"),
    # Pawns have to promote, also where they become what promotedPieceType says.
    (
        "[x:chess]\npromotionPieceTypes = -\npromotedPieceType = p:q",
        "4k3/8/8/8/8/8/p7/4K3 b - - 0 1",
        "a2a1+",
    ),
    # Without `gating` nothing is known of what has not moved.
    ("[x:chess]\ncambodianMoves = true", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", ""),
    # Some rules are of the type of kings alone, whatever else is royal.
    # Kings face each other along ranks, too.
    ("[x:chess]\nflyingGeneral = true", "8/8/8/2k5/8/8/8/4K2P w - - 0 1", "h1h2"),
    (f"{_COMMONER}flyingGeneral = true", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", ""),
    (f"{_COMMONER}checking = false", "4k3/8/8/8/8/8/P7/R3K3 w - - 0 1", "a2a3 a2a4 a1b1 a1c1 a1d1"),
    (f"{_COMMONER}checking = false", "r3k3/p7/8/8/8/8/8/3K4 b - - 0 1", "a8b8 a8c8 a8d8 a7a6 a7a5"),
    (
        "[a:crazyhouse]\ndropRegionWhite = *2\n[b:a]\nwhiteDropRegion = *4",
        "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1",
        "N@a4 N@b4 N@c4 N@d4 N@e4 N@f4 N@g4 N@h4",
    ),
]


@pytest.mark.parametrize(("text", "fen", "moves"), SETTING)
def test_options_that_set_others_do_so_as_in_the_engine(text: str, fen: str, moves: str) -> None:
    variant = one(text, allow_host_rules=True)
    assert variant.definition is not None, variant.refusals
    game = Game(variant.definition)
    steps = "e1d1 e1f1 e1d2 e1e2 e1f2" if " w " in fen else "e8d8 e8f8 e8d7 e8e7 e8f7"
    assert set(game.legal(game.parse(fen))) == {*moves.split(), *steps.split()}


SMALL = "[x:chess]\nmaxFile = 5\nmaxRank = 5\ncastling = false\nstartFen = rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("4k/2p2/5/1P3/4K w - - 0 1", "b2b3 b2b4 e1d1 e1d2 e1e2"),
        ("4k/2p2/5/1p3/4K b - - 0 1", "c4c3 b2b1q b2b1r b2b1b b2b1n e5d4 e5e4 e5d5"),
        ("1p2k/2P2/5/1p3/K4 w - - 0 1", "a1b1 a1a2 a1b2"),
    ],
)
def test_on_a_small_board_the_usual_ranks_of_one_side_are_there_and_those_of_the_other_are_not(
    fen: str, moves: str
) -> None:
    """The engine's usual ranks are the second and the seventh for double steps, the eighth and the first to promote."""
    variant = one(SMALL, allow_host_rules=True)
    assert variant.definition is not None, variant.refusals
    game = Game(variant.definition)
    assert set(game.legal(game.parse(fen))) == set(moves.split())


def test_a_royal_piece_that_need_not_be_the_last_one_goes_to_the_hand_as_what_it_was() -> None:
    text = """
[generals]
maxFile = 9
maxRank = 9
commoner = k
horse = n
customPiece1 = g:Q1
pieceDrops = true
capturesToHand = true
extinctionPieceTypes = k
extinctionPseudoRoyal = true
dupleCheck = true
promotedPieceType = g:k
promotionRegionWhite = -
promotionRegionBlack = -
startFen = 9/9/2+g1+g4/4n4/9/4N4/2+G1+G4/9/9[] w - - 0 1
"""
    variant = one(text, allow_host_rules=True)
    assert variant.definition is not None, variant.refusals
    game = Game(variant.definition)
    legal = game.legal(game.parse("9/9/2+g1+g4/9/5N3/9/2+G1+G4/9/9[] w - - 0 1"))
    assert game.fen(legal["f5e7"].after).split()[0] == "9/9/2+g1N4/9/9/9/2+G1+G4/9/9[G]"


def test_older_options_are_refused_under_their_own_names_and_passing_by_one_side_only() -> None:
    [region] = one("[x:chess]\npromotionRank = last").refusals
    assert (region.option, region.value, region.line, "not a square" in region.reason) == (
        "promotionRank",
        "last",
        2,
        True,
    )
    [passing] = one("[x:chess]\npass = false\npassBlack = true", allow_host_rules=True).refusals
    assert (passing.option, passing.line, passing.reason) == ("passBlack", 3, "a duty to pass is both sides'")


def test_the_duty_to_drop_is_about_the_type_that_an_option_names() -> None:
    variant = one("[mine:crazyhouse]\nmustDrop = true\nmustDropType = n\n", allow_host_rules=True)
    assert variant.definition is not None
    assert playing.derive(variant.definition).duty("mandatory-drop") == Duty(
        "mandatory-drop", ("C:-N", "C:N", "c:-n", "c:n")
    )
    assert "mustDropType = n\n" in write(variant.definition, "mine").text
    for told in ("", "mustDropType = *\n"):
        variant = one(f"[mine:crazyhouse]\nmustDrop = true\n{told}", allow_host_rules=True)
        assert variant.definition is not None
        assert playing.derive(variant.definition).duty("mandatory-drop") == Duty("mandatory-drop")


def test_holes_of_the_board_are_no_squares() -> None:
    variant = one("[mine:chess]\nmaxRank = 3\nmaxFile = 3\ncastling = false\nstartFen = k1*/3/K1* w - - 0 1\n")
    assert variant.text is not None
    assert tomllib.loads(variant.text)["squares"] == ["a1:b1", "a2:c2", "a3:b3"]


# --- refusals ---

REFUSED = [
    (
        "blastOnCapture = true\nking = -\ncommoner = k\npieceDrops = true\ncapturesToHand = true",
        *("capturesToHand", "C", "goes to a hand.*: up to [0-9,]{13,} possibilities"),
    ),
    ("wallingRule = past", "wallingRule", "C", "do not shield a royal piece"),
    ("enclosingDropStart = d4", "enclosingDropStart", "C", "drops that enclose and turn"),
    ("enclosingDrop = anyside", "enclosingDrop", "C", "slides in from an edge.*: up to 512 possibilities"),
    # As many as the moves, and on both sides each square of the edge, or beside one of four walls.
    ("wallingRule = edge\nwallOrMove = true", "wallOrMove", "C", "no definition says: up to 26,824 possibilities.*"),
    ("wallingRule = edge\nwallOrMove = true", "wallingRule", "C", "beside another one: up to 26,824 possibilities.*"),
    ("flipEnclosedPieces = reversi", "flipEnclosedPieces", "C", "turns all pieces .*: up to [0-9]{2},[0-9,]{7} poss"),
    ("oppositeCastling = false", "oppositeCastling", "D", "the other side's"),
    ("sittuyinPromotion = true", "sittuyinPromotion", "D", "moves as the one piece"),
    # The engine's pieces may promote on squares that they could not move to, and its last pieces of a kind are royal.
    ("mobilityRegionBlackKnight = *8 *7", "mobilityRegionBlackKnight", "D", "a piece begins or is made outside"),
    (
        "extinctionPseudoRoyal = true\nking = -\ncommoner = k\nextinctionPieceTypes = kr",
        *("extinctionPseudoRoyal", "D", "the last one of each kind is royal"),
    ),
    (
        "enPassantTypesBlack = a\ncustomPiece1 = a:mWcF\npromotionPieceTypes = a",
        *("enPassantTypesBlack", "D", "move alike"),
    ),
    ("doubelStep = false", "doubelStep", "?", "known: did you mean doubleStep"),
    ("mobilityRegionWhiteFoo = e4", "mobilityRegionWhiteFoo", "?", "no such option is known"),
    ("mobilityRegionRook = e4", "mobilityRegionRook", "?", "known: did you mean mobilityRegion.*Rook"),
    ("bareKingValue = loss", "bareKingValue", "?", "no such option is known"),
    ("doubleStep = maybe", "doubleStep", "D", '"maybe" is not true or false'),
    # The engine takes what is not spelled as it spells it for false, or for nothing.
    ("checkCounting = True", "checkCounting", "D", '"True" is not true or false'),
    ("stalemateValue = Loss", "stalemateValue", "D", "a result is win, loss, draw or none"),
    ("materialCounting = foo", "materialCounting", "D", '"foo" is not one of janggi, unweighted'),
    ("countingRule = Makruk", "countingRule", "D", '"Makruk" is not one of makruk'),
    ("flipEnclosedPieces = -", "flipEnclosedPieces", "D", '"-" is not one of reversi'),
    # Of a list of pieces it reads what stands before the first letter that it does not know.
    ("promotionPieceTypes = xnbrq", "promotionPieceTypes", "D", 'no piece of the variant has the letter "x"'),
    ("flagPiece = x", "flagPiece", "D", 'no piece of the variant has the letter "x"'),
    ("nMoveRuleTypesWhite = px", "nMoveRuleTypesWhite", "D", 'no piece of the variant has the letter "x"'),
    (
        "king = -\ncommoner = k\nblastOnCapture = true\nblastImmuneTypes = x",
        "blastImmuneTypes",
        "D",
        'no piece of the variant has the letter "x"',
    ),
    ("promotedPieceType = n:x", "promotedPieceType", "D", 'no piece of the variant has the letter "x"'),
    ("promotionLimit = x:1", "promotionLimit", "D", 'no piece of the variant has the letter "x"'),
    ("maxRank = many", "maxRank", "D", '"many" is not a number'),
    ("maxRank = 99", "maxRank", "D", "99 is not from 1 to 26"),
    ("maxFile = ?", "maxFile", "D", '"?" is not a file'),
    ("castlingKingsideFile = 99", "castlingKingsideFile", "D", '"99" is not a file'),
    ("promotionPieceTypes = q,r", "promotionPieceTypes", "D", '"Q,R" is not a list of pieces'),
    ("promotedPieceType = pg", "promotedPieceType", "D", '"pg" is not a pair'),
    ("promotionRegionWhite = 8th", "promotionRegionWhite", "D", '"8th" is not a square'),
    ("customPiece1 = x", "customPiece1", "D", '"x" is not a letter and how it moves'),
    ("knight = knight", "knight", "D", '"knight" is not a letter'),
    ("customPiece1 = x:Wy", "customPiece1", "D", "is not in the Betza notation of Fairy-Stockfish"),
    ("customPiece1 = x:fsK", "customPiece1", "D", "^"),
    ("customPiece1 = x:DD", "customPiece1", "D", "for something else"),
    ("customPiece1 = x:nR", "customPiece1", "D", "for something else"),
    ("customPiece1 = x:pN", "customPiece1", "D", "for something else"),
    ("customPiece1 = x:zB", "customPiece1", "D", "for something else"),
    ("customPiece1 = x:icW", "customPiece1", "D", "captures only"),
    ("startFen = 8/8 w", "startFen", "D", "the position has 2 ranks, and the board 8"),
    ("startFen = 9/8/8/8/8/8/8/8 w", "startFen", "D", '"9" has 9 squares'),
    ("startFen = x7/8/8/8/8/8/8/8 w", "startFen", "D", 'no piece of the variant has the letter "x"'),
    ("mustCapture = 1", "mustCapture", "D", "a switch is true or false"),
    ("promotionLimit = q:5", "promotionLimit", "D", "limits other than"),
    ("promotionLimit = n:1", "promotionLimit", "D", "limits other than"),
    ("promotionPieceTypes = kq", "promotionPieceTypes", "D", "a second king"),
    ("promotionPieceTypes = qp", "promotionPieceTypes", "D", "becomes its own kind"),
    ("mobilityRegionBlackRook = *1 *3", "mobilityRegionBlackRook", "D", "begins or is made outside"),
    ("mutuallyImmuneTypes = qk", "mutuallyImmuneTypes", "D", "sees an attack"),
    (
        "promotedPieceType = p:g\nimmobilityIllegal = true\npiecePromotionOnCapture = true",
        "immobilityIllegal",
        "D",
        "becomes nothing",
    ),
    (
        "extinctionPieceTypes = n\npromotedPieceType = n:b\nextinctionPseudoRoyal = true",
        "extinctionPieceTypes",
        "D",
        "that promotes is lost",
    ),
    ("diagonalLines = a1 c3", "diagonalLines", "D", "slide over the squares"),
    ("promotedPieceType = n:b b:r", "promotedPieceType", "D", "promoted once"),
    ("promotedPieceType = n:b\ndropLoop = true", "dropLoop", "D", "promotes no more"),
    ("promotedPieceType = n:b\nsittuyinPromotion = true", "sittuyinPromotion", "D", "nothing else promotes"),
    ("immobilityIllegal = true\npromotionRegionWhite = *4", "immobilityIllegal", "D", "could not move on"),
    ("chess960 = true\nseirawanGating = true", "chess960", "D", "has not moved alike"),
    ("castlingKingPiece = q", "castlingKingPiece", "D", "lets the king castle"),
    (
        "extinctionPseudoRoyal = true\nextinctionPieceTypes = n\nextinctionValue = loss",
        "extinctionPseudoRoyal",
        "D",
        "the last one of each kind",
    ),
]


@pytest.mark.parametrize(("option", "name", "tier", "reason"), REFUSED)
def test_what_cannot_be_carried_is_told_with_its_line(option: str, name: str, tier: str, reason: str) -> None:
    extra = "startFen = x3k3/8/8/8/8/8/8/4K3 w\n" if option.startswith("customPiece1 = x:") else ""
    variant = one(f"# mine\n[mine:chess]\n\n{option}\n{extra}", allow_host_rules=True)
    assert variant.definition is None
    found = [refusal for refusal in variant.refusals if refusal.option == name]
    line = 4 + [each.split(" ")[0] for each in option.split("\n")].index(name)
    assert [(refusal.line, refusal.tier) for refusal in found] == [(line, tier)]
    assert re.search(reason if ".*" in reason else re.escape(reason), found[0].reason), found[0].reason


@pytest.mark.parametrize(
    ("name", "options"),
    [("flipello", ["flipEnclosedPieces"]), ("flipersi", ["enclosingDropStart", "flipEnclosedPieces"])],
)
def test_what_a_limit_refuses_names_it_and_can_be_allowed(name: str, options: list[str]) -> None:
    most = "at most 2,000,000 (--limit piece-possibilities=N allows more)"
    refusals = one(f"[mine:{name}]\n", allow_host_rules=True).refusals
    assert [refusal.option for refusal in refusals] == options
    assert all(each.reason.endswith(f"up to 7,779,352 possibilities of a piece; allowed: {most}") for each in refusals)
    six = f"[mine:flipello]\nmaxRank = 6\nmaxFile = 6\nstartFen = 6/6/2pP2/2Pp2/6/6[{'P' * 18}{'p' * 18}] w - - 0 1\n"
    assert one(six, allow_host_rules=True).definition is not None
    with limits.allow({"piece-possibilities": 10}):
        assert one(six, allow_host_rules=True).refusals[0].option == "flipEnclosedPieces"
    with limits.allow({"piece-possibilities": 8_000_000, "piece-conditions": 300_000_000}):
        allowed = one("[mine:flipello]\n", allow_host_rules=True).definition
    assert allowed is not None
    assert estimate.counts(allowed)[0][1].possibilities == 7_779_352


def test_captures_blast_but_for_pawns_and_what_is_immune() -> None:
    text = one("[mine:atomar]\n", allow_host_rules=True).text
    assert text is not None
    pieces = tomllib.loads(text)["pieces"]
    assert pieces["K"]["blast"] == {"spares": ["K", "P"], "stays": True}
    assert pieces["P"]["blast"] == pieces["Q"]["blast"] == {"spares": ["K", "P"]}
    royal = one("[mine:atomic]\n", allow_host_rules=True).definition
    assert royal is not None
    assert "blast-safety" in royal.host
    assert royal.said.ends[0].outcome.when == "extinct"
    assert royal.first.plain("K") is not None
    assert not any(leg.capture for each in royal.pieces[0].moves.patterns for leg in each.legs)


def test_a_blast_and_a_king_of_the_engine_s_do_not_go_together() -> None:
    [refusal] = one("[mine:chess]\nblastOnCapture = true\n", allow_host_rules=True).refusals
    assert (refusal.option, refusal.tier) == ("king", "C")


def test_every_reason_is_told_and_the_worst_tier() -> None:
    variant = one("[mine:chess]\nmustCapture = true\nwallingRule = duck\noppositeCastling = false\n")
    assert [(each.option, each.line) for each in variant.refusals] == [
        ("mustCapture", 2),
        ("wallingRule", 3),
        ("oppositeCastling", 4),
    ]
    assert variant.tier == "D"


def test_duties_of_the_host_are_accepted_when_asked_for_and_recorded() -> None:
    text = "[mine:chess]\nmustCapture = true\nflyingGeneral = true\n"
    refused = one(text)
    assert refused.definition is None
    assert [refusal.duty for refusal in refused.refusals] == ["mandatory-capture", "flying-general"]
    accepted = one(text, allow_host_rules=True)
    assert accepted.definition is not None
    assert set(accepted.definition.host) == {"royal-safety", "mandatory-capture", "flying-general", "clear-marks"}


def test_ends_of_the_game_are_named_and_left_out() -> None:
    variant = one("[mine:chess]\nstalemateValue = loss\nflagPiece = k\n")
    assert variant.definition is not None
    assert variant.ends == ("stalemateValue", "flagPiece")


PLACED = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
DEFAULT = (
    Outcome("no-move", "loss", in_check=True),
    Outcome("no-move", "draw", in_check=False),
    Outcome("quiet", "draw", pieces=("C:-P", "C:P", "c:-p", "c:p"), count=100),
    Outcome("repetition", "draw", count=3),
)
MATE, STALE, QUIET, THREE = DEFAULT
KINGS = ("C:+K^", "C:K^", "c:+k^", "c:k^")


@pytest.mark.parametrize(
    ("options", "outcomes", "left"),
    [
        ("", DEFAULT, ()),
        ("stalemateValue = loss", (Outcome("no-move", "loss"), QUIET, THREE), ()),
        ("checkmateValue = win\nnMoveRule = 0", (Outcome("no-move", "win", in_check=True), STALE, THREE), ()),
        ("nMoveRule = 20\nnMoveRuleTypes = -\nnFoldRule = 0", (MATE, STALE, Outcome("quiet", "draw", count=40)), ()),
        (
            "perpetualCheckIllegal = true\nnFoldValue = win",
            (MATE, STALE, QUIET, Outcome("repetition", "win", count=3, perpetual=True)),
            (),
        ),
        (
            "nFoldValue = loss\nnFoldValueAbsolute = true",
            (
                *DEFAULT[:3],
                Outcome("repetition", "loss", "first", count=3),
                Outcome("repetition", "win", "second", count=3),
            ),
            (),
        ),
        (
            "extinctionValue = loss\nextinctionPieceTypes = qn\nextinctionPieceCount = 1",
            (
                Outcome("extinct", "loss", pieces=("C:Q", "c:q"), count=1),
                Outcome("extinct", "loss", pieces=("C:N", "c:n"), count=1),
                *DEFAULT,
            ),
            (),
        ),
        (
            "extinctionValue = draw\nextinctionPieceTypes = *\nextinctionOpponentPieceCount = 2\n"
            "extinctionClaim = true",
            (Outcome("extinct", "draw", count=0, other=2, answered=True), *DEFAULT),
            (),
        ),
        (
            "extinctionValue = loss\nextinctionPieceTypes = q\nextinctionPseudoRoyal = true\nextinctionPieceCount = 64",
            DEFAULT,
            (),
        ),
        (
            "flagPiece = k\nflagRegion = *8\nflagMove = true",
            (
                Outcome("goal", "win", "first", KINGS[:2], tuple(f"{file}8" for file in "abcdefgh"), answered=True),
                Outcome("goal", "win", "second", KINGS[2:], tuple(f"{file}8" for file in "abcdefgh")),
                *DEFAULT,
            ),
            (),
        ),
        (
            "flagPieceWhite = n\nflagRegionWhite = e8 d8\nflagPieceSafe = true\nflagPieceCount = 2",
            (Outcome("goal", "win", "first", ("C:N",), ("d8", "e8"), 2, safe=True), *DEFAULT),
            (),
        ),
        ("checkCounting = true", (Outcome("checks", "win", count=1), *DEFAULT), ()),
        *(
            (
                f"checkCounting = true\nstartFen = {PLACED} w {fields}",
                (Outcome("checks", "win", count=7), *DEFAULT),
                (),
            )
            for fields in ("KQkq - 7+7 0 1", "7+7 0 1")
        ),
        # As Lichess writes them: those that were given, of three.
        (
            f"checkCounting = true\nstartFen = {PLACED} w KQkq - 0 1 +1+1",
            (Outcome("checks", "win", count=2), *DEFAULT),
            (),
        ),
        ("extinctionMustAppear = q", DEFAULT, ("ends",)),
        ("connectN = 4", (Outcome("line", "win", count=4), *DEFAULT), ()),
        ("materialCounting = janggi", (MATE,), ("points",)),
        ("materialCounting = janggi\nbikjangRule = true", (MATE,), ("bikjang", "points")),
        ("bikjangRule = true", (Outcome("facing", "draw", answered=True), *DEFAULT), ()),
        (
            "materialCounting = blackdrawodds\nnMoveRule = 0\nnFoldRule = 0",
            (
                MATE,
                Outcome("no-move", "loss", "first", in_check=False),
                Outcome("no-move", "win", "second", in_check=False),
            ),
            (),
        ),
        ("stalematePieceCount = true", (MATE, QUIET, THREE), ("points",)),
        ("chasingRule = axf\ncountingRule = asean", (MATE, STALE), ("chasing", "counting")),
        ("castlingWins = KQkq\nconnectDiagonal = false", DEFAULT, ("ends",)),
    ],
)
def test_how_a_game_ends_becomes_outcomes(options: str, outcomes: tuple[Outcome, ...], left: tuple[str, ...]) -> None:
    variant = one(f"[mine:chess]\n{options}\n")
    assert variant.definition is not None, variant.refusals
    found = playing.derive(variant.definition)
    assert (found.outcomes, found.host) == (outcomes, left)


@pytest.mark.parametrize("checks", ["- 3+2 0 1", "- 0 1 +0+1", "- 0 1 +3+3"])
def test_a_start_in_which_one_side_has_given_check_is_refused(checks: str) -> None:
    [refusal] = one(f"[mine:chess]\ncheckCounting = true\nstartFen = {PLACED} w KQkq {checks}\n").refusals
    assert (refusal.option, refusal.line) == ("startFen", 3)
    assert "does not leave both sides equally many checks" in refusal.reason


def test_royal_pieces_of_which_some_may_be_lost_are_royal_as_long_as_there_are_no_more() -> None:
    royal = "extinctionValue = loss\nextinctionPieceTypes = n\nextinctionPseudoRoyal = true\nextinctionPieceCount = "
    two, one_only = (one(f"[mine:chess]\npromotionPieceTypes = q\n{royal}{count}\n") for count in (1, 0))
    assert two.definition is not None
    assert two.definition.host == ("royal-safety", "clear-marks")
    assert tables(two)["N"]["terminal"] is True
    assert [refusal.duty for refusal in one_only.refusals] == [None, "spare-royal"], "the king is never spare"
    queens = "extinctionPieceTypes = q\nextinctionPseudoRoyal = true\nextinctionPieceCount = "
    assert tables(one(f"[mine:chess]\n{queens}64\n"))["Q"]["terminal"] is True, "however many there are"
    assert one(f"[mine:chess]\n{queens}0\n", allow_host_rules=True).definition is None, "a pawn makes another one"
    for option in ("promotionPieceTypes = n", "startFen = nnn1k3/8/8/8/8/8/8/NNN1K3 w - - 0 1"):
        refusals = one(f"[mine:chess]\n{royal}1\n{option}\n", allow_host_rules=True).refusals
        assert [each.option for each in refusals] == ["extinctionPseudoRoyal", "extinctionPieceCount"]


def test_a_result_that_is_none_is_refused() -> None:
    [refusal] = one("[mine:chess]\nstalemateValue = glory\n").refusals
    assert (refusal.option, refusal.reason) == ("stalemateValue", "a result is win, loss, draw or none")


def test_the_built_in_variants_end_as_the_games_of_the_library_do() -> None:
    """What is shipped was read off the same options: an edit of one of the two is seen."""
    for name in ("racingkings", "3check", "minishogi", "losers", "janggicasual", "armageddon", "dobutsu", "xiangqi"):
        variant = one(f"[mine:{name}]\n", allow_host_rules=True)
        assert variant.definition is not None, (name, variant.refusals)

        def told(found: Play) -> list[Any]:
            listed = found.outcomes
            return [(each.when, each.verdict, each.side, each.count, each.squares, each.in_check) for each in listed]

        shipped, imported = (playing.derive(each) for each in (library.read_game(name), variant.definition))
        assert (told(imported), imported.host) == (told(shipped), shipped.host), name


def test_variants_that_the_library_defines_are_there_by_name_and_as_bases() -> None:
    whole = {name for name in DEFINED if name not in ("koedem", "supply", "wolf")}
    found = read_variants("".join(f"[mine-{name}:{name}]\n" for name in DEFINED).encode(), allow_host_rules=True)
    assert {each.name for each in found if each.definition is not None} == {f"mine-{name}" for name in whole}
    for variant in found:
        name = variant.name.removeprefix("mine-")
        if variant.definition is None:
            [refusal] = variant.refusals
            assert refusal.reason.endswith(f"which no options say whole: `import --fairy {name}` has its definition")
        else:
            game = Game(variant.definition)
            assert [line for sample in fixture(name)[:4] for line in differences(game, sample)] == [], name
    named = {each.name: each for each in built_in_variants(DEFINED)}
    assert {name for name, each in named.items() if each.definition is None} == {"koedem", "supply"}
    assert named["koedem"].refusals[0].duty == "side-effects"
    allowed = built_in_variants(("koedem", "wolf"), allow_host_rules=True)
    assert [each.definition for each in allowed] == [library.read_game("koedem"), library.read_game("wolf")]


def test_every_variant_that_the_engine_has_is_carried_or_refused_with_its_reason() -> None:
    found = {each.name: each for each in built_in_variants((), allow_host_rules=True)}
    refused = {name for name, each in found.items() if each.definition is None}
    assert (len(found), len(refused)) == (121, 4)
    assert all(refusal.option and refusal.reason for name in refused for refusal in found[name].refusals)
    pytest.importorskip("pyffish")
    # In a process of its own: other tests here teach the engine variants.
    asked = subprocess.run(
        [sys.executable, "-c", "import pyffish; print(*pyffish.variants())"], capture_output=True, text=True, check=True
    )
    assert found.keys() == {*asked.stdout.split()}


def test_what_is_built_in_has_no_line() -> None:
    [refusal] = one("[mine:duck]\n", allow_host_rules=True).refusals
    assert (refusal.option, refusal.line) == ("wallingRule", None)


# --- files that are none ---

BROKEN = [
    (b"", "the file has no section"),
    (b"\xff[a]", "the file is not text in UTF-8"),
    (b"maxRank = 8\n", "mine.ini:1:1: an option stands before the first section"),
    (b"[a]\nmaxRank\n", 'mine.ini:2:1: neither a section nor an option; found "maxRank"'),
    (b"[a\n", 'mine.ini:1:1: not the head of a section; found "[a"'),
    (b"[a b]\n", 'mine.ini:1:1: not the name of a variant; found "a b"'),
    (b"[../up]\n", "mine.ini:1:1: not the name of a variant"),
    (b"[a]\n[a]\n", "mine.ini:2:1: the variant a is there already, in line 1"),
]


@pytest.mark.parametrize(("data", "message"), BROKEN)
def test_a_broken_file_is_refused_with_the_line(data: bytes, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_variants(data, "mine.ini")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("[a:a]", 1, "it inherits from itself: "),
        ("[a:b]\n[b]", 1, "it inherits from [b], which comes later: put it before"),
        ("[a:ches]", 1, "it inherits from [ches], which is not known: .*; near: chess"),
        ("[b:none]\n[a:b]", 2, "it inherits from [b], which is refused for its own base"),
    ],
)
def test_a_section_without_a_base_is_refused_by_itself(text: str, line: int, reason: str) -> None:
    found = {each.name: each for each in read_variants(f"{text}\n[other:chess]\n".encode(), "mine.ini")}
    [refusal] = found["a"].refusals
    assert (found["a"].line, refusal.line) == (line, line)
    assert re.match(re.escape(reason).replace(r"\.\*", ".*"), refusal.reason)
    assert found["other"].definition is not None


def test_an_unknown_section_is_told_with_those_that_are_there() -> None:
    with pytest.raises(UnknownNameError, match=r'mine\.ini has no section "b"; it has a'):
        read_variants(b"[a:chess]\n", "mine.ini", ["b"])


def test_no_change_of_a_file_makes_it_crash() -> None:
    chance = random.Random(5)
    lines = BUILT_IN.read_text("utf-8").splitlines()
    values = ["", "-", "true", "9", "*", "p", "x:WfF", "*8", "k:", "q:1", "e4 e5", "é", "p:g s:g", "a" * 300]
    for _ in range(150):
        mutant = [line for line in lines if chance.random() > 0.02]
        for _ in range(3):
            at = chance.randrange(len(mutant))
            key = chance.choice(lines).partition("=")[0].strip()
            mutant[at] = chance.choice([f"{key} = {chance.choice(values)}", mutant[at][1:], chance.choice(lines)])
        name = f"[last:{chance.choice(KNOWN)}]\n" + "\n".join(chance.sample(mutant, 12)).replace("[", "#")
        try:
            found = read_variants(name.encode(), "mutant.ini", (), allow_host_rules=True)
        except GgnStoreError:
            continue
        assert all(variant.definition is not None or variant.refusals for variant in found)


# --- the command ---

MINE = """
[leaper:chess]
customPiece1 = g:C
startFen = g3k2g/pppppppp/8/8/8/8/PPPPPPPP/G3K2G w - - 0 1
promotionPieceTypes = g

[eager:leaper]
mustCapture = true

[boom:duck]
"""


def test_a_file_of_variants_is_loaded_and_what_is_not_is_told(ggn: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.ini"
    file.write_text(MINE, "utf-8")
    done = ggn("import", str(file))
    assert done.code == 1
    assert done.out.startswith("leaper@1: loaded, tier B\n")
    assert f"{file}:7: [eager] is refused, tier B" in done.err
    assert "line 8, tier B: mustCapture = true: it is left to the host: mandatory-capture" in done.err
    assert "with --allow-host-rules these are recorded" in done.err
    assert "built in, tier C: wallingRule = duck:" in done.err
    assert "3 sections: 1 in the store, 2 refused" in done.err
    done = ggn("import", str(file), "--variant", "eager", "--allow-host-rules")
    assert (done.code, done.err) == (0, "")
    assert "mandatory-capture" in ggn("show", "eager").out
    fen = "g3k2g/pppppppp/8/8/8/8/PPPPPPPP/G3K2G w - - 0 1"
    assert ggn("moves", "leaper", "--fen", fen, "--source", "a1").out.count("\n") == 1


def test_a_section_with_another_s_base_does_not_keep_the_rest_out(ggn: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.ini"
    file.write_text("[a:none]\n[b:chess]\n", "utf-8")
    done = ggn("import", str(file))
    assert (done.code, done.out) == (1, "b@1: loaded, tier B\n")
    assert f"{file}:1: [a] is refused\n  line 1: it inherits from [none], which is not known" in done.err


def test_variants_of_the_engine_are_loaded_by_name(ggn: Command) -> None:
    done = ggn("import", "--fairy", "5check", "duck")
    assert (done.code, done.out) == (1, "5check@1: loaded, tier B\n")
    assert done.err.startswith("Fairy-Stockfish: [duck] is refused, tier C\n  built in, tier C: wallingRule = duck")
    for words, code, said in (
        (("--fairy", "5chek"), 1, 'Fairy-Stockfish has no variant of its own "5chek"; it has 5check'),
        ((), 2, "name one file, or variants with --fairy"),
        (("--list", "chess"), 2, "give it no file and no name"),
        (("--fairy", "--variant", "chess"), 2, "with --fairy give the names alone"),
        (("--fairy", "--format", "json", "chess"), 2, "--format is for --list"),
    ):
        done = ggn("import", *words)
        assert (done.code, done.out) == (code, "")
        assert said in done.err


def test_the_engine_s_variants_are_listed_with_what_stands_in_the_way(ggn: Command) -> None:
    listed = {each["name"]: each for each in ggn("import", "--list").records()}
    assert len(listed) > 90
    assert listed["duck"] == {"name": "duck", "tier": "C", "board": None, "host": [], "refused": ["wallingRule"]}
    assert listed["makruk"] == {"name": "makruk", "tier": "A", "board": "8x8", "host": ["counting"], "refused": []}


def test_definitions_are_written_for_editing(ggn: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.ini"
    file.write_text(MINE, "utf-8")
    done = ggn("import", str(file), "--variant", "leaper", "-o", str(tmp_path / "games"))
    assert done.code == 0
    written = tmp_path / "games" / "leaper.toml"
    assert done.out == f"{written}\n"
    assert ggn("load", str(written)).code == 0


def test_a_file_that_is_not_there_or_broken_is_one_message(ggn: Command, tmp_path: Path) -> None:
    assert ggn("import", str(tmp_path / "none.ini")).code == 2
    broken = tmp_path / "broken.ini"
    broken.write_text("[a:chess]\nmaxRank\n", "utf-8")
    done = ggn("import", str(broken))
    assert done.code == 1
    assert f"{broken}:2:1: neither a section nor an option" in done.err
    assert ggn("import", str(broken), "--variant", "b").code == 1


def test_imported_games_are_stored_on_both_databases(store: Store) -> None:
    variant = one(MINE.replace("[boom:duck]", "[last:leaper]"))
    assert variant.definition is not None
    store.load(variant.definition, "last")
    position = store.ruleset("last").position(fen="4k3/8/8/8/8/8/8/G3K3 w - - 0 1")
    assert {move.destination for move in store.ruleset("last").moves(position, source="a1")} == {"b4", "d2"}


# --- a file of the user's own ---


@pytest.mark.long
def test_every_section_of_a_user_s_file_is_imported_or_refused() -> None:
    path = os.environ.get("GGN_VARIANTS_INI", str(BUILT_IN))
    found = read_variants(Path(path).read_bytes(), path, (), allow_host_rules=True)
    for variant in found:
        assert variant.definition is not None or variant.refusals, variant.name
        if variant.definition is not None:
            assert Game(variant.definition).definition.board.squares
