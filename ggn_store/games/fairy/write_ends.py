"""How a game ends: the outcomes of a definition -> options of a variants.ini, as `ends` reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from ggn_store.games.fairy.options import COLOURS
from ggn_store.games.fairy.write_pieces import PieceWriter
from ggn_store.games.rules import SIDES, End, Zone
from ggn_store.model.moves.play import Outcome

_ALL: Final = "*"
_NONE: Final = "-"
_MAJORITY: Final = "majority"


def write(writer: PieceWriter) -> None:
    """Set the options of all outcomes, and note those that no option says."""
    ends = [(end, f"play.outcome.{number}") for number, end in enumerate(writer.definition.said.ends)]
    for end, where in _without_odds(writer, ends):
        _KINDS.get(end.outcome.when, _untold)(writer, end, where)
    said = {(end.outcome.when, end.outcome.in_check) for end, _ in ends}
    for name, of in _NO_MOVE.items():
        if ("no-move", of) not in said and ("no-move", None) not in said and (of is False or writer.has_royal):
            writer.leave("play.outcome", f"{name}: the engine ends a game in which there is no move")
    for name in ("nMoveRule", "nFoldRule"):
        writer.options.setdefault(name, "0")


def _without_odds(writer: PieceWriter, ends: list[tuple[End, str]]) -> Iterable[tuple[End, str]]:
    """The outcomes, those of both sides in which one of them wins what would be a draw as that draw."""
    odds: set[str] = set()
    found: list[tuple[End, str]] = []
    for end, where in ends:
        last = found[-1][0].outcome if found else None
        outcome = end.outcome
        pair = {(each.side, each.verdict) for each in (last, outcome) if each is not None}
        name = next((name for name, of in _ODDS.items() if of == pair), None)
        same = last is not None and replace(last, side=None, verdict="draw") == _drawn(outcome)
        if same and name is not None and outcome.when != "repetition":
            odds.add(name)
            found[-1] = (End(_drawn(outcome), end.zone), where)
        else:
            found.append((end, where))
    if odds:
        # Then who wins repetitions is said by this, too.
        folded: dict[End, str] = {}
        for end, where in found:
            is_told = end.outcome.when == "repetition" and end.outcome.side is not None
            folded.setdefault(End(_drawn(end.outcome), end.zone) if is_told else end, where)
        found = [*folded.items()]
        drawn = len(odds) == 1
        writer.put("materialCounting", odds.pop(), "play.outcome")
        if not drawn:
            writer.leave("play.outcome", "one side wins all that would be drawn")
    return found


def _drawn(outcome: Outcome) -> Outcome:
    return replace(outcome, side=None, verdict="draw")


def _no_move(writer: PieceWriter, end: End, where: str) -> None:
    outcome = end.outcome
    if outcome.side is not None:
        writer.leave(where, "an end without a move is the same for both sides")
        return
    if outcome.verdict == _MAJORITY and outcome.in_check is not True:
        writer.put("materialCounting", "unweighted", where, moves=False)
        writer.put("stalemateValue", "loss", where, moves=False)
        writer.put("stalematePieceCount", "true", where, moves=False)
        return
    for name, of in _NO_MOVE.items():
        if outcome.in_check in (None, of) and (writer.has_royal or of is False):
            writer.put(name, outcome.verdict, where, moves=False)


def _extinct(writer: PieceWriter, end: End, where: str) -> None:
    outcome = end.outcome
    letters = writer.letters_of(outcome.pieces)
    if len(letters) > 1 or outcome.side is not None or "extinctionPseudoRoyal" in writer.options:
        writer.leave(where, "extinctionPieceTypes are each for itself, for both sides, and no royal pieces")
        return
    settings = {
        "extinctionValue": outcome.verdict,
        "extinctionPieceCount": str(outcome.count or 0),
        "extinctionOpponentPieceCount": str(outcome.other or 0),
        "extinctionClaim": str(outcome.answered).lower(),
    }
    if any(writer.options.get(name, value) != value for name, value in settings.items()):
        writer.leave(where, "the extinction options say another outcome already")
        return
    writer.options |= settings
    known = writer.options.get("extinctionPieceTypes", "")
    writer.options["extinctionPieceTypes"] = _ALL if not letters or known == _ALL else known + letters


def _goal(writer: PieceWriter, end: End, where: str) -> None:
    outcome = end.outcome
    zone = end.zone or Zone(frozenset(), frozenset())
    letters = writer.letters_of(outcome.pieces)
    if len(letters) > 1 or outcome.verdict != "win":
        writer.leave(where, "a flag is one type of pieces, or all, and its goal wins")
        return
    for side in SIDES if outcome.side is None else (outcome.side,):
        writer.put(f"flagRegion{COLOURS[side]}", writer.region(zone.of(side)), where, moves=False)
        writer.put(f"flagPiece{COLOURS[side]}", letters or _ALL, where, moves=False)
    writer.put("flagPieceCount", str(outcome.count or 1), where, moves=False)
    writer.put("flagPieceSafe", str(outcome.safe).lower(), where, moves=False)
    if outcome.answered:
        writer.put("flagMove", "true", where, moves=False)


def _checks(writer: PieceWriter, end: End, where: str) -> None:
    if end.outcome.side is not None or end.outcome.verdict != "win":
        writer.leave(where, "who has given all checks wins, on both sides")
    else:
        writer.put("checkCounting", "true", where, moves=False)


def _line(writer: PieceWriter, end: End, where: str) -> None:
    if end.outcome.side is not None:
        writer.leave(where, "a line is the same for both sides")
        return
    writer.put("connectN", str(end.outcome.count), where, moves=False)
    writer.put("connectValue", end.outcome.verdict, where, moves=False)
    writer.put("connectPieceTypes", writer.letters_of(end.outcome.pieces) or _ALL, where, moves=False)


def _facing(writer: PieceWriter, end: End, where: str) -> None:
    if end.outcome.verdict != "draw" or not end.outcome.answered:
        writer.leave(where, "bikjangRule draws after one more move")
    else:
        writer.put("bikjangRule", "true", where, moves=False)


def _quiet(writer: PieceWriter, end: End, where: str) -> None:
    outcome = end.outcome
    if outcome.verdict != "draw" or outcome.side is not None or (outcome.count or 0) % 2:
        writer.leave(where, "nMoveRule counts moves of both sides, and draws")
        return
    writer.put("nMoveRule", str((outcome.count or 0) // 2), where, moves=False)
    writer.put("nMoveRuleTypes", writer.letters_of(outcome.pieces) or _NONE, where, moves=False)


def _repeated(writer: PieceWriter, end: End, where: str) -> None:
    outcome = end.outcome
    writer.put("nFoldRule", str(outcome.count), where, moves=False)
    if outcome.verdict == _MAJORITY:
        writer.put("materialCounting", "unweighted", where, moves=False)
        writer.put("nFoldValue", "draw", where, moves=False)
    elif outcome.side != "second":
        writer.put("nFoldValue", outcome.verdict, where, moves=False)
    if outcome.side is not None:
        writer.put("nFoldValueAbsolute", "true", where, moves=False)
    writer.put("perpetualCheckIllegal", str(outcome.perpetual).lower(), where, moves=False)


def _untold(writer: PieceWriter, end: End, where: str) -> None:
    writer.leave(where, f"no option ends a game for this reason: {end.outcome.when}")


_NO_MOVE: Final[Mapping[str, bool]] = {"checkmateValue": True, "stalemateValue": False}
_ODDS: Final[Mapping[str, set[tuple[str | None, str]]]] = {
    "whitedrawodds": {("first", "win"), ("second", "loss")},
    "blackdrawodds": {("first", "loss"), ("second", "win")},
}
_KINDS: Final[Mapping[str, Callable[[PieceWriter, End, str], None]]] = {
    "no-move": _no_move,
    "extinct": _extinct,
    "goal": _goal,
    "line": _line,
    "checks": _checks,
    "facing": _facing,
    "repetition": _repeated,
    "quiet": _quiet,
}
