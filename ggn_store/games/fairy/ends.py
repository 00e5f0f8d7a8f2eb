"""How a variant ends: its options -> the outcomes of a definition, and what of them is left to the host.

Fairy-Stockfish looks at a position in this order: lost pieces, goals, checks, lines; then at a side without a move;
then at what repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ggn_store.games.fairy import toml
from ggn_store.games.fairy.base import BaseVariant
from ggn_store.games.fairy.options import COLOURS, PIECES, betza_parts
from ggn_store.games.rules import SIDES
from ggn_store.notation.qpi import Side

_VERDICTS: Final = ("win", "loss", "draw")
_OPPOSITE: Final = {"win": "loss", "loss": "win", "draw": "draw"}
# Who wins what would be a draw: a side, or the one with more pieces.
_ODDS: Final[Mapping[str, Side]] = {"whitedrawodds": "first", "blackdrawodds": "second"}
_MAJORITY: Final = "unweighted"
# Options that have no words here when they have another value than these, and what is then left to the host.
LEFT: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "materialCounting": (("none", _MAJORITY, *_ODDS), "points"),
    "stalematePieceCount": (("false",), "points"),
    "countingRule": (("none",), "counting"),
    "chasingRule": (("none",), "chasing"),
    **dict.fromkeys(("adjudicateFullBoard", "flagPieceBlockedWin", "connect3InARow"), (("false",), "ends")),
    **dict.fromkeys(("connectHorizontal", "connectVertical", "connectDiagonal"), (("true",), "ends")),
    **dict.fromkeys(
        (
            *("connectRegion1White", "connectRegion1Black", "castlingWins"),
            *("extinctionAllPieceTypes", "extinctionMustAppear"),
        ),
        (("",), "ends"),
    ),
    **dict.fromkeys(("connectNxN", "collinearN"), (("0",), "ends")),
}

EndLine = dict[str, Any]


def ends(variant: BaseVariant) -> tuple[list[EndLine], list[str]]:
    """The outcomes of a variant as the tables of a definition, and what is left to the host."""
    s = variant.s
    told = {name for name, is_told in TOLD.items() if is_told[1](variant)}
    left = [
        duty
        for name, (usual, duty) in LEFT.items()
        if name not in told and s.value(name, usual[0]).lower() not in usual
    ]
    if s.flag("bikjangRule") and _is_counted(variant):
        left.append("bikjang")
    if s.flag("passWhite"):
        left.append("two-passes")
    kinds = (_extinct, _goals, _checks, _lines, _facing, _no_move, _quiet, _repeated)
    odds = _ODDS.get(s.value("materialCounting").lower())
    found = [line for kind in kinds for each in kind(variant) for line in _decided(each, odds)]
    return found, list(dict.fromkeys(left))


def _decided(line: EndLine, odds: Side | None) -> list[EndLine]:
    """A line, or two for the sides where one of them wins what would be a draw."""
    if odds is None or line["verdict"] != "draw":
        return [line]
    return [line | {"verdict": "win" if side == odds else "loss", "side": side} for side in SIDES]


def text(lines: list[EndLine]) -> list[str]:
    """The lines of `outcome` in a definition."""
    return (
        ["outcome = [", *(f"  {{ {', '.join(map(_member, each.items()))} }}," for each in lines), "]"] if lines else []
    )


def _member(pair: tuple[str, Any]) -> str:
    key, value = pair
    return f"{key} = {value if key == 'squares' else toml.value(value)}"


def _verdict(variant: BaseVariant, name: str, default: str) -> str | None:
    """What an option gives; None where it gives nothing."""
    value = variant.s.value(name, default)
    if value in _VERDICTS:
        return value
    if value not in ("none", ""):
        variant.s.refuse(name, "a result is win, loss, draw or none")
    return None


def tokens_of(variant: BaseVariant, letters: str) -> list[str]:
    """Pieces with these letters as the definition calls them, those that remember that they were pawns among them."""
    remembers = variant.captures and not variant.s.flag("dropLoop")
    remembered = set(variant.targets["first"] + variant.targets["second"]) if remembers else set()
    there = variant.letters()
    found = [
        token
        for letter in letters
        if letter in there
        for token in (letter, *([f"-{letter}"] if letter in remembered else []))
    ]
    promoted = [variant.promoted_token(each) for each, target in variant.promoted.items() if target in letters]
    return found + [token for token in promoted if token[-1] in there]


def _extinct(variant: BaseVariant) -> Iterator[EndLine]:
    s = variant.s
    verdict = _verdict(variant, "extinctionValue", "none")
    if verdict is None or (s.flag("extinctionPseudoRoyal") and not variant.s.flag("blastOnCapture")):
        return  # else nobody takes the last one
    count, other = s.number("extinctionPieceCount", 0), s.number("extinctionOpponentPieceCount", 0)
    line = {"when": "extinct", "verdict": verdict, "count": count} | ({"other": other} if other else {})
    line |= {"answered": True} if s.flag("extinctionClaim") else {}
    if s.value("extinctionPieceTypes").strip() == "*":
        yield line
        return
    for letter in s.letters("extinctionPieceTypes"):
        if pieces := tokens_of(variant, letter):
            yield line | {"pieces": pieces}


def _goals(variant: BaseVariant) -> Iterator[EndLine]:
    s = variant.s
    regions: dict[Side, frozenset[str]] = {}
    pieces: dict[Side, str] = {}
    for side in SIDES:
        colour = COLOURS[side]
        regions[side] = s.region(f"flagRegion{colour}") & frozenset(variant.squares)
        pieces[side] = s.value(f"flagPiece{colour}", "*").strip().upper()
    line: EndLine = {"when": "goal", "verdict": "win"}
    count = s.number("flagPieceCount", 1)
    line |= {"count": count} if count != 1 else {}
    line |= {"safe": True} if s.flag("flagPieceSafe") else {}
    waits = s.flag("flagMove")
    king = s.letter("king")
    # With a king for a flag it is only the second side that may still move.
    same = pieces["first"] == pieces["second"] and not (waits and pieces["first"] == king) and all(regions.values())
    for side in SIDES:
        if not regions[side]:
            continue
        of_side = line | ({} if same else {"side": side})
        if pieces[side] not in ("*", ""):
            of_side["pieces"] = tokens_of(variant, pieces[side])
        if waits and (pieces[side] != king or side == "first"):
            of_side["answered"] = True
        own = regions[side] if side == "first" else map(variant.image, regions[side])
        of_side["squares"] = toml.zone(regions.values(), variant.image) if same else toml.area(own)
        yield of_side
        if same:
            return


def _checks(variant: BaseVariant) -> Iterator[EndLine]:
    if variant.s.flag("checkCounting"):
        yield {"when": "checks", "verdict": "win", "count": variant.start.checks}


def _lines(variant: BaseVariant) -> Iterator[EndLine]:
    count = variant.s.number("connectN", 0)
    verdict = _verdict(variant, "connectValue", "win")
    if count and verdict is not None:
        line: EndLine = {"when": "line", "verdict": verdict, "count": count}
        named = variant.s.value("connectPieceTypes", "*").strip()
        yield line | ({} if named in ("*", "") else {"pieces": tokens_of(variant, named.upper())})


def _facing(variant: BaseVariant) -> Iterator[EndLine]:
    if variant.s.flag("bikjangRule") and not _is_counted(variant):
        yield {"when": "facing", "verdict": "draw", "answered": True}


def _no_move(variant: BaseVariant) -> Iterator[EndLine]:
    s = variant.s
    mate, stale = _verdict(variant, "checkmateValue", "loss"), _verdict(variant, "stalemateValue", "draw")
    counted = s.flag("stalematePieceCount") or (stale == "draw" and _is_counted(variant))
    if TOLD["stalematePieceCount"][1](variant):
        counted, stale = False, "majority"
    if not variant.terminal:
        if stale is not None and not counted:
            yield {"when": "no-move", "verdict": stale}
        return
    if mate is not None and not s.flag("shatarMateRule"):
        if mate == stale and not counted:
            yield {"when": "no-move", "verdict": mate}
            return
        yield {"when": "no-move", "in_check": True, "verdict": mate}
    if stale is not None and not counted:
        yield {"when": "no-move", "in_check": False, "verdict": stale}


def _is_counted(variant: BaseVariant) -> bool:
    """Whether draws are decided by counting what pieces are worth."""
    return variant.s.value("materialCounting", "none").lower() not in ("", *LEFT["materialCounting"][0])


def _draw(variant: BaseVariant) -> str:
    """The verdict of what would be a draw."""
    return "majority" if variant.s.value("materialCounting").lower() == _MAJORITY else "draw"


def _is_counted_in_stalemate(variant: BaseVariant) -> bool:
    return variant.s.flag("stalematePieceCount") and variant.s.value("stalemateValue").lower() == "loss"


def _is_stalemate_when_full(variant: BaseVariant) -> bool:
    kinds = {variant.s.letter_types[letter] for letter in variant.letters()}
    parts = [part for kind in kinds for part in betza_parts(variant.s.types[kind][1] or PIECES[kind]) or ()]
    is_quiet = "pawn" not in kinds and all("m" in modifiers and "c" not in modifiers for modifiers, *_ in parts)
    return is_quiet and _is_counted_in_stalemate(variant) and _draw(variant) == "majority"


# Of these, when outcomes say it all the same: in words, and whether it is so.
TOLD: Final[Mapping[str, tuple[str, Callable[[BaseVariant], bool]]]] = {
    "stalematePieceCount": ("`stalemateValue` is `loss`", _is_counted_in_stalemate),
    "adjudicateFullBoard": ("nothing captures and pieces are counted in stalemate, too", _is_stalemate_when_full),
}


def _quiet(variant: BaseVariant) -> Iterator[EndLine]:
    s = variant.s
    moves = s.number("nMoveRule", 50)
    if not moves or _is_counted(variant) or s.value("chasingRule", "none").lower() not in ("none", ""):
        return
    letters = "".join(s.value(f"nMoveRuleTypes{COLOURS[side]}", s.letter("pawn")) for side in SIDES).upper()
    known = "".join(dict.fromkeys(letter for letter in letters if letter in s.letter_types))
    line: EndLine = {"when": "quiet", "verdict": _draw(variant), "count": 2 * moves}
    yield line | ({"pieces": known_tokens} if (known_tokens := tokens_of(variant, known)) else {})


def _repeated(variant: BaseVariant) -> Iterator[EndLine]:
    s = variant.s
    times = s.number("nFoldRule", 3)
    verdict = _verdict(variant, "nFoldValue", "draw")
    if not times or verdict is None or s.value("chasingRule", "none").lower() not in ("none", ""):
        return
    if (verdict == "draw" and _is_counted(variant)) or s.flag("moveRepetitionIllegal"):
        return
    line: EndLine = {"when": "repetition", "verdict": _draw(variant) if verdict == "draw" else verdict, "count": times}
    line |= {"perpetual": True} if s.flag("perpetualCheckIllegal") else {}
    if s.flag("nFoldValueAbsolute") and verdict != "draw":
        yield line | {"side": "first"}
        yield line | {"side": "second", "verdict": _OPPOSITE[verdict]}
        return
    yield line
