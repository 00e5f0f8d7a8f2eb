"""How a described game ends: end conditions -> outcomes, as far as they can be decided on a board.

What is understood asks of a player `p`, or of the other one, whether they have no move, at most so many entities, or
lost their kings: entities of which the type or an attribute says `king`, perhaps with more words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ggn_store.errors import did_you_mean, printable
from ggn_store.gdl import language
from ggn_store.gdl.expressions import Call, Expression, Literal, parts, text_of
from ggn_store.gdl.kinds import Kind
from ggn_store.gdl.specification import EndCondition, Specification
from ggn_store.model.moves.play import Award, Outcome, Play

_OWN: Final = ("p", "player(p)")
_OTHER: Final = tuple(f"{name}({own})" for name in ("opponent_of", "other_player") for own in _OWN)
# What a type of end says of the player that it is for.
_VERDICTS: Final[dict[str, Award]] = {"victory": "win", "defeat": "loss", "draw": "draw"}
_OPPOSITE: Final[dict[Award, Award]] = {"win": "loss", "loss": "win", "draw": "draw"}
_KING: Final = re.compile(r"(?<![a-z])king(?![a-z])", re.IGNORECASE)
_LEFT: Final = "ends"
# What conditions of ends may call.
_CALLED: Final = (*language.FUNCTIONS, *language.REFUSED_FUNCTIONS)


def play(specification: Specification, kinds: Sequence[Kind], identifiers: Sequence[str]) -> Play:
    """What the end conditions say; each kind has the identifier at its place. The rest is left to the host."""
    named = list(zip(kinds, identifiers, strict=True))
    kings = tuple(identifier for kind, identifier in named if _is_king(kind))
    found = [_outcome(each, kings) for each in specification.end_conditions]
    outcomes = tuple(dict.fromkeys(each for each in found if each is not None))
    return Play(outcomes=outcomes, host=(_LEFT,) if None in found else ())


def undecided(specification: Specification, kinds: Sequence[Kind]) -> Iterator[tuple[EndCondition, str]]:
    """The end conditions that no outcome says, each with the reason."""
    kings = tuple(str(kind) for kind in kinds if _is_king(kind))
    for each in specification.end_conditions:
        if _outcome(each, kings) is not None:
            continue
        calls = (part.name for part in parts(each.condition.expression) if isinstance(part, Call))
        unknown = next((name for name in calls if name not in _CALLED), None)
        if each.type not in _VERDICTS:
            hint = did_you_mean(each.type, _VERDICTS)
            yield each, f"the type {printable(each.type)} is none of {', '.join(_VERDICTS)}{hint}"
        elif unknown is not None:
            yield each, f"there is no function {unknown}{did_you_mean(unknown, _CALLED)}"
        else:
            yield each, "a board says whether player(p), or the other one, has no moves, few entities or no king"


def _outcome(condition: EndCondition, kings: tuple[str, ...]) -> Outcome | None:
    """The outcome that a condition says, None for what is not understood; `kings` are the pieces that are such."""
    verdict = _VERDICTS.get(condition.type)
    who = None if condition.beneficiary is None else text_of(condition.beneficiary.expression)
    if verdict is None or (who not in _OWN and not (who is None and verdict == "draw")):
        return None
    match condition.condition.expression:
        case Call("king_captured", (player,)) if kings and (side := _verdict(player, verdict)):
            return Outcome("extinct", side, pieces=kings, count=0)
        case Call(name, (Call("size", (Call(listed, (player,)),)), Literal(int(number)))):
            most = {"eq": 0 if number == 0 else -1, "lte": number, "lt": number - 1}.get(name, -1)
            side = _verdict(player, verdict)
            if side is not None and most == 0 and listed == "get_all_legal_moves_for":
                return Outcome("no-move", side)
            if side is not None and 0 <= most <= 1_000_000 and listed == "entities_of_player":
                return Outcome("extinct", side, count=most)
    return None


def _verdict(player: Expression, verdict: Award) -> Award | None:
    """The verdict of the player that is asked about, None where it is not clear which one that is."""
    asked = text_of(player)
    return verdict if asked in _OWN else _OPPOSITE[verdict] if asked in _OTHER else None


def _is_king(kind: Kind) -> bool:
    return any(isinstance(each, str) and _KING.search(each) for each in (kind.schema, *kind.attributes.values()))
