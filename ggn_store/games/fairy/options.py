"""What the options of a variants.ini mean for GGN: pieces, rules, duties of the host, and what cannot be carried.

Source: the comments at the head of Fairy-Stockfish's variants.ini, which list the options and their defaults.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ggn_store.notation.qpi import Side

COLOURS: Final[Mapping[Side, str]] = {"first": "White", "second": "Black"}

# Predefined piece types and how they move, as variants.ini writes pairs; a pawn's moves depend on other options.
_PIECES = """
pawn: knight:N bishop:B rook:R queen:Q fers:F alfil:A fersAlfil:FA silver:FfW aiwok:RNF bers:RF dragon:RF
archbishop:BN chancellor:RN amazon:QN knibis:mNcB biskni:mBcN kniroo:mNcR rookni:mRcN shogiPawn:fW lance:fR
shogiKnight:fN gold:WfF dragonHorse:BW clobber:cW breakthrough:fmWfF immobile: cannon:mRcpR janggiCannon:pR
soldier:fsW horse:nN elephant:nA janggiElephant:nZ banner:RcpRnN wazir:W commoner:K centaur:KN king:K
"""
PIECES: Final[Mapping[str, str]] = {
    **{name: betza for name, _, betza in (pair.partition(":") for pair in _PIECES.split())},
    **{f"customPiece{number}": "" for number in range(1, 27)},
}

# A pawn's moves but for those that other options say, and what these options add to the moves of types: within diagonal
# lines, and as first moves in Cambodian chess.
PAWN: Final = "mfWcfF"
ALONG_LINES: Final = {"king": "F", "wazir": "F", "rook": "B", "janggiCannon": "pB", "soldier": "fF"}
CAMBODIAN: Final = {"king": "imfsN", "fers": "imfD"}

# Options that set those of a side, or of both sides (those without a colour); the engine reads them in this order, and
# what they set after them (but wallingRegion last).
_SETTING = """
whiteFlag:flagRegionWhite blackFlag:flagRegionBlack castlingRookPiece:castlingRookPieces
whiteDropRegion:dropRegionWhite blackDropRegion:dropRegionBlack
pawnTypes:promotionPawnTypes pawnTypes:enPassantTypes pawnTypes:nMoveRuleTypes promotionPawnTypes promotionPieceTypes
enPassantRegion enPassantTypes castlingKingPiece castlingRookPieces wallingRegion pass passOnStalemate nMoveRuleTypes
flagPiece flagRegion
"""
SETTING: Final = tuple((name, what or name) for name, _, what in (part.partition(":") for part in _SETTING.split()))
# Those that give a region by a number: its lowest and its highest rank, where that is not the number.
RANKS: Final = {
    "promotionRank": ("promotionRegion", None, 26),
    "doubleStepRankMin": ("doubleStepRegion", None, 2),
    "doubleStepRank": ("doubleStepRegion", 2, None),
}


def sides(name: str) -> tuple[str, ...]:
    """The options of each side; the name itself, where it is one side's."""
    return (name,) if name.endswith(tuple(COLOURS.values())) else tuple(name + each for each in COLOURS.values())


# Read by the translation; everything else that may stand in a section is named below.
_RULES = """
maxRank maxFile startFen pawnTypes promotedPieceType piecePromotionOnCapture mandatoryPawnPromotion
mandatoryPiecePromotion pieceDemotion mutuallyImmuneTypes doubleStep castling castlingKingsideFile castlingQueensideFile
castlingRank castlingKingFile castlingRookKingsideFile castlingRookQueensideFile
chess960 pieceDrops dropLoop capturesToHand firstRankPawnDrops promotionZonePawnDrops dropOnTop
sittuyinRookDrop dropPromoted dropNoDoubled
dropNoDoubledCount immobilityIllegal gating seirawanGating cambodianMoves diagonalLines soldierPromotionRank
extinctionPseudoRoyal extinctionPieceTypes extinctionPieceCount dupleCheck promotionLimit
blastOnCapture blastImmuneTypes flipEnclosedPieces enclosingDrop enclosingDropStart castlingDroppedPiece
dropOppositeColoredBishop freeDrops wallingRule petrifyOnCaptureTypes sittuyinPromotion mustDropType
"""
_OF_SIDES = """
promotionRegion promotionPawnTypes promotionPieceTypes doubleStepRegion tripleStepRegion enPassantRegion enPassantTypes
castlingKingPiece castlingRookPieces dropRegion wallingRegion
"""
RULES: Final = frozenset((*_RULES.split(), *(each for name in _OF_SIDES.split() for each in sides(name))))
# Switches that are a duty of the host when they have this value.
DUTIES: Final = {
    "checking": ("false", "no-checks"),
    "dropChecks": ("false", "no-drop-checks"),
    "mustCapture": ("true", "mandatory-capture"),
    "mustDrop": ("true", "mandatory-drop"),
    **dict.fromkeys(("pass", *sides("pass")), ("true", "pass")),
    **dict.fromkeys(("passOnStalemate", *sides("passOnStalemate")), ("true", "forced-pass")),
    "makpongRule": ("true", "no-flight"),
    "flyingGeneral": ("true", "flying-general"),
    "shogiPawnDropMateIllegal": ("true", "no-drop-mate"),
    "moveRepetitionIllegal": ("true", "history"),
    "shatarMateRule": ("true", "history"),
    "cambodianMoves": ("true", "no-leap-from-check"),
    "sittuyinPromotion": ("true", "no-promotion-checks"),
    "dupleCheck": ("true", "duple-check"),
    # Captures go to the hand on the other board.
    "twoBoards": ("true", "side-effects"),
}
# Of these the ones that the engine asks of its own type of kings alone.
OF_KINGS: Final = frozenset(("checking", "dropChecks", "makpongRule", "flyingGeneral"))
_PETRIFIES: Final = "captures turn squares into walls"
_WALLS: Final = "a move places a wall as well"
# Options that GGN cannot carry when they have another value than these: the tier and why.
REFUSED: Final = {
    **dict.fromkeys(("petrifyOnCapture", "petrifyBlastPieces"), ("false", "C", _PETRIFIES)),
    **dict.fromkeys(("duckGating", "staticGating"), ("false", "C", _WALLS)),
    "wallOrMove": ("false", "C", "a move places a wall and moves no piece, which no definition says"),
    "staticGatingRegion": ("-", "C", _WALLS),
    "arrowGating": ("false", "C", f"{_WALLS}, on a square that it then attacks"),
    "pastGating": ("false", "C", "a move places a wall where it began"),
    "oppositeCastling": ("true", "D", "castling depends on the other side's"),
    "castlingForbiddenPlies": ("0", "D", "it counts the moves of the game"),
}
MOBILITY: Final = "mobilityRegion"
# Of what is carried otherwise, by option and perhaps value: when it is not, and why.
BEYOND: Final[Mapping[str, tuple[str, str]]] = {
    "blastOnCapture": (
        "with `capturesToHand`",
        "what a capture destroys goes to a hand, and depends on every square around it",
    ),
    "flipEnclosedPieces": (
        "`reversi` where pieces move, or there are many",
        "a drop turns all pieces that it encloses",
    ),
    "enclosingDrop": ("`reversi` where pieces move or nothing turns", "a drop has to enclose pieces"),
    "enclosingDrop anyside": (
        "`anyside`",
        "a piece slides in from an edge, and the engine has it end elsewhere: with a piece on d4, on d1 and not on d5",
    ),
    "wallingRule duck": (
        "`duck`",
        "a move takes the duck from any square to any other, which a game description says in two, as gdl/duck-chess",
    ),
    "wallingRule edge": ("`edge`", "a wall has to be on the edge or beside another one"),
    "wallingRule": (
        "where a piece is royal",
        "the engine's walls do not shield a royal piece, and what is left here does",
    ),
    MOBILITY: (
        "where such a piece begins outside of it, or a promotion makes it there",
        "a piece begins or is made outside of it, and no definition says how it gets in",
    ),
    "enPassantTypes": (
        "where one side's pieces of a type would capture in passing, and the other's not",
        "both sides' pieces of a type move alike in a definition",
    ),
    "castlingKingPiece": (
        "with another piece than the king, where there is one",
        "the engine lets the king castle, wherever it stands",
    ),
    "extinctionPseudoRoyal": (
        "where there are or can be several royal pieces of several kinds",
        "the last one of each kind is royal, and here the last one of all kinds",
    ),
    "extinctionPieceTypes": (
        "with `extinctionPseudoRoyal`, where a royal piece becomes one that is not",
        "a royal piece that promotes is lost in the engine, and here stays royal",
    ),
    "mutuallyImmuneTypes": (
        "with royal pieces among them",
        "the engine sees an attack where it lets nobody capture",
    ),
    "extinctionPieceCount": (
        "where there are or can be more royal pieces than one beyond it",
        "how many there are says whether they are royal",
    ),
    "promotionPieceTypes king": (
        "with the king, without a limit",
        "a second king is royal, too, and the engine looks after one of them",
    ),
    "promotionPieceTypes": (
        "with what promotes by it",
        "what becomes its own kind does not change, and the engine names a move for it",
    ),
    "promotedPieceType": (
        "where what a piece becomes is promoted in its turn",
        "a piece is promoted once in a definition",
    ),
    "dropLoop": (
        "with `promotedPieceType`",
        "a piece is dropped as what it had become, which promotes no more",
    ),
    "chess960": (
        "with `seirawanGating`",
        "the rights of a position name files of rooks that castle and of what has not moved alike",
    ),
    "immobilityIllegal": (
        "where a piece that promotes could be stuck outside of the region, or with `piecePromotionOnCapture`",
        "a piece that promotes is kept only from where it could not move on and becomes nothing",
    ),
    "diagonalLines": (
        "where a line lacks a square between two",
        "pieces slide over the squares that a line lacks",
    ),
    "promotionLimit": (
        "but for one of a kind, or the numbers of the start",
        "limits other than one of a kind, or the numbers of the start position, are not in any document",
    ),
    **dict.fromkeys(("pass", "passOnStalemate"), ("for one side", "a duty to pass is both sides'")),
    "sittuyinPromotion": (
        "where pawns become several pieces, or with `promotedPieceType`",
        "a pawn moves as the one piece that it becomes, and nothing else promotes",
    ),
    "freeDrops": (
        "with `capturesToHand` or `blastOnCapture`",
        "a hand of as many pieces as there are squares could be used up",
    ),
}
# Ends of the game, repetition and counting (see `ends`), looks and engine: nothing about which moves there are.
_ENDS = """
stalemateValue stalematePieceCount checkmateValue nMoveRule nFoldRule nFoldValue nFoldValueAbsolute chasingRule
extinctionValue extinctionClaim extinctionOpponentPieceCount extinctionAllPieceTypes extinctionMustAppear
flagPieceCount flagPieceBlockedWin
flagMove flagPieceSafe checkCounting connectN connectPieceTypes connectHorizontal connectVertical
connectDiagonal connectRegion1White connectRegion2White connectRegion1Black connectRegion2Black connectNxN
collinearN connectValue materialCounting adjudicateFullBoard countingRule castlingWins
connect3InARow perpetualCheckIllegal bikjangRule
"""
ENDS: Final = frozenset((*_ENDS.split(), *sides("nMoveRuleTypes"), *sides("flagPiece"), *sides("flagRegion")))
_LOOKS = """
variantTemplate pieceToCharTable pocketSize nnueAlias pieceValueMg pieceValueEg endgameEval
shogiStylePromotions fastAttacks fastAttacks2
"""
LOOKS: Final = frozenset(_LOOKS.split())
# Options that have one of these values.
VALUES: Final = {
    "materialCounting": ("janggi", "unweighted", "whitedrawodds", "blackdrawodds", "none"),
    "countingRule": ("makruk", "cambodian", "asean", "none"),
    "chasingRule": ("axf", "none"),
    "wallingRule": ("arrow", "duck", "edge", "past", "static", "none"),
    **dict.fromkeys(
        ("enclosingDrop", "flipEnclosedPieces"), ("reversi", "ataxx", "quadwrangle", "snort", "anyside", "top", "none")
    ),
}
_MOBILITIES: Final = (
    f"{MOBILITY}{colour}{each[0].upper()}{each[1:]}" for colour in COLOURS.values() for each in PIECES
)
# All that may stand in a section, but for what is refused or a duty.
KNOWN: Final = RULES | ENDS | LOOKS | PIECES.keys() | {*_MOBILITIES}
_PATTERN: Final = re.compile(r"([a-z]*)([A-Z])(\2|[0-9]+)?", re.ASCII)


def betza_parts(betza: str) -> list[tuple[str, str, str]] | None:
    """The modifiers, atom and length of each part of a custom piece's moves; None where it has anything else."""
    parts = [(part[0], part[1], part[2]) for part in _PATTERN.findall(betza)]
    return parts if "".join("".join(part) for part in parts) == betza else None


def is_nothing(modifiers: str, atom: str, length: str) -> bool:
    """Whether Fairy-Stockfish knows a pattern and moves nothing by it: leaps that it has no lame form of."""
    return "n" in modifiers and atom in "WFKHCLG" and not length


def is_taken(modifiers: str, atom: str, length: str) -> bool:
    """Whether Fairy-Stockfish takes a pattern as it is meant: it has no other riders, lame leapers and hoppers."""
    return (
        set(modifiers) <= set("mcpgniefbvhrls")
        and (not length or atom in "WFNRBQK")
        and ("n" not in modifiers or atom in "NAZJD")
        and (not {"p", "g"} & set(modifiers) or atom in "WFRBQK")
    )
