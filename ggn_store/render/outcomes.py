"""How a game ends, and its duties, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ggn_store.model.moves.play import DUTIES, OUTCOMES, Duty, Outcome
from ggn_store.render.svg import shortened

_VERBS: Final = {"win": "wins", "loss": "loses"}
_SHOWN: Final = 16  # squares of an outcome
_LONGEST: Final = 200  # characters of what its edges are
_PERPETUAL: Final = "; a side that alone has checked with every move in between loses instead"


def outcome_text(outcome: Outcome, names: Mapping[str, str]) -> tuple[str, str]:
    """The kind of an outcome with its verdict, and what has to hold; `names` has what pieces are called."""
    who = OUTCOMES[outcome.when].who(outcome.side)
    verdict = f"{who} {_VERBS[outcome.verdict]}" if outcome.verdict in _VERBS else "draw"
    if outcome.verdict == "majority":
        verdict = "who has more pieces wins"
    if outcome.side is not None and outcome.verdict not in _VERBS:
        verdict += f" for {outcome.side}"
    return f"{outcome.when}: {verdict}", _condition(outcome, who, _named(outcome.pieces, names))


def duty_text(duty: Duty, names: Mapping[str, str]) -> tuple[str, str]:
    """The name of a duty, and what it asks for."""
    pieces = _named(duty.pieces, names)
    meaning = DUTIES[duty.name]
    if "`pieces`" in meaning:
        if pieces:
            meaning = meaning.replace(", if these are given,", "")
        return duty.name, meaning.replace("`pieces`", pieces or "the pieces that it names")
    return f"{duty.name} ({pieces})" if pieces else duty.name, meaning


def _named(pieces: Iterable[str], names: Mapping[str, str]) -> str:
    """The names of pieces, each once: those of both sides are called the same."""
    return ", ".join(dict.fromkeys(names.get(piece, piece) for piece in pieces))


def _condition(outcome: Outcome, who: str, pieces: str) -> str:
    kind, count, side = OUTCOMES[outcome.when], outcome.count, outcome.side
    number = 1 if count is None else count
    what = f"of {pieces}" if pieces else "piece" if number == 1 else "pieces"
    squares = ", ".join(outcome.squares[:_SHOWN])
    if len(outcome.squares) > _SHOWN:
        squares += f", ... ({len(outcome.squares)} squares)"
    others = f", but for {pieces or 'other pieces'}" if pieces or count is not None else ""
    most = "" if count is None else f", of which there {'is' if count == 1 else 'are'} at most {count} in all"
    edges = shortened("; ".join(outcome.edges), _LONGEST)
    joined = f"that joins {'all' if count is None else count} of these edges: {edges}"
    said = {
        "group": f"one group of {pieces or 'pieces'} {joined}"
        if edges
        else f"all its {pieces or 'pieces'} in one group",
        "ways": ", ".join(f"({way.replace(' ', ', ')})" for way in outcome.ways),
        "check": {None: "", True: " and is in check", False: " and is not in check"}[outcome.in_check],
        "left": f"at most {count} {what}" if count else f"no {pieces or 'pieces'}",
        "other": "" if outcome.other is None else f", and the other side has at least {outcome.other}",
        "but": f"{others}{most}{f', all on {squares}' if squares else ''}",
        "safe": ", where the other side cannot take it" if outcome.safe else "",
        "turn": "" if side is None else f", when {side} is to move",
        "perpetual": _PERPETUAL if outcome.perpetual else "",
        "without": f", and without a move of {pieces}" if pieces else "",
        "one": "",
        "answered": kind.answer if outcome.answered else "",
    }
    return kind.condition.format(who=who, number=number, what=what, squares=squares, **said)
