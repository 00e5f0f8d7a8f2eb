"""Sections of random options move as they do in Fairy-Stockfish, or are refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from ggn_store.games.fairy.variants import read_variants
from tests.oracles.fairy_stockfish import differences, samples
from tests.oracles.play import Game

pyffish: Any = pytest.importorskip("pyffish", exc_type=ImportError)

SMALL = {"dobutsu": 4, "gardner": 5, "judkins": 6, "losalamos": 6, "minishogi": 5, "minixiangqi": 7}
BASES = (*SMALL, "chess", "crazyhouse", "makruk", "shatranj", "torpedo")
BETZA = ("W", "F", "N", "R", "B", "nN", "KN", "mRcB", "fmWcfF", "gQ", "pR", "mRcpR", "D", "R3", "mNcK", "NN", "CZ")
ROYAL = "extinctionPseudoRoyal = true\nextinctionPieceTypes = k\nking = -\ncommoner = k"
# What is written in braces is drawn: a switch, ranks, letters, a letter, a number, moves, a type, squares.
OPTIONS = f"""
customPiece1 = {{other}}:{{moves}}; promotionRegionWhite = {{ranks}}
promotionRegionBlack = {{ranks}}; promotionPieceTypes = {{letters}}; promotionPawnTypes = {{letters}}
mandatoryPawnPromotion = {{switch}}; mandatoryPiecePromotion = {{switch}}; pieceDemotion = {{switch}}
piecePromotionOnCapture = {{switch}}; promotedPieceType = {{letter}}:{{letter}}; promotionLimit = {{letter}}:{{number}}
doubleStep = {{switch}}; doubleStepRegionWhite = {{ranks}}; doubleStepRegionBlack = {{ranks}}
enPassantRegion = {{ranks}}; enPassantRegionBlack = {{ranks}}; enPassantTypes = {{letters}}
pieceDrops = true|capturesToHand = true; dropLoop = true; dropPromoted = true; dropRegionWhite = {{ranks}}
dropNoDoubled = {{letter}}; dropNoDoubledCount = {{number}}; firstRankPawnDrops = {{switch}}
promotionZonePawnDrops = {{switch}}; immobilityIllegal = true; mustCapture = true; mustDrop = true; checking = false
mustDrop = true|mustDropType = {{letter}}; dropChecks = false; pass = true; passOnStalemate = true
flyingGeneral = true; makpongRule = true; mutuallyImmuneTypes = {{letters}}; petrifyOnCaptureTypes = {{letters}}
mobilityRegionWhite{{type}} = {{ranks}} {{ranks}}; mobilityRegionBlack{{type}} = {{ranks}}; castling = {{switch}}
castlingRookPieces = {{letters}}; diagonalLines = {{squares}}; cambodianMoves = true; pawnTypes = {{letters}}
extinctionPieceTypes = {{letter}}|extinctionPseudoRoyal = true|extinctionValue = loss; {ROYAL.replace(chr(10), "|")}
""".replace("\n", "; ").strip("; ")


def section(number: int, base: str, chance: random.Random) -> str:
    """A section of up to three random options."""
    ranks = range(1, SMALL.get(base, 8) + 1)
    drawn: dict[str, Callable[[], str]] = {
        "switch": lambda: chance.choice(("true", "false")),
        "ranks": lambda: " ".join(f"*{rank}" for rank in sorted(chance.sample(ranks, chance.randint(1, 2)))),
        "letters": lambda: "".join(chance.sample("pnbrqk", chance.randint(1, 3))),
        "other": lambda: chance.choice("nbrqa"),
        "letter": lambda: chance.choice("pnbrqk"),
        "number": lambda: str(chance.randint(1, 3)),
        "moves": lambda: chance.choice(BETZA),
        "type": lambda: chance.choice(("Knight", "Bishop", "Rook", "Pawn", "King")),
        "squares": lambda: " ".join(chance.sample(("a1", "b2", "c3", "d4", "b1", "c2"), 3)),
    }
    lines = [f"[random{number}:{base}]"]
    for option in chance.sample(OPTIONS.split("; "), chance.randint(1, 3)):
        lines += option.format_map({name: draw() for name, draw in drawn.items()}).split("|")
    return "\n".join(lines) + "\n"


@pytest.mark.long
@pytest.mark.parametrize("base", BASES)
def test_a_section_of_random_options_moves_as_in_the_engine_or_is_refused(base: str) -> None:
    chance = random.Random(base)
    compared, wrong = 0, []
    for number in range(60):
        text = section(number, f"{base}", chance).replace("random", f"random{base}")
        [variant] = read_variants(text.encode(), "mine.ini", (), allow_host_rules=True)
        pyffish.load_variant_config(text)
        name = f"random{base}{number}"
        if variant.definition is None or pyffish.validate_fen(pyffish.start_fen(name), name) != pyffish.FEN_OK:
            continue
        game = Game(variant.definition)
        wrong += [(text, each) for one in samples(name, game, 8) for each in differences(game, one)]
        compared += 1
    assert compared >= 20
    assert wrong == []
