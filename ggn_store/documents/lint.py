"""Lint: what is suspicious in a valid document, as findings; never an error.

A finding is a `Problem` whose `code` names its class. Findings about a piece come once, at the first place that names
it; those about a possibility each time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from ggn_store.documents import conventions, identifiers
from ggn_store.documents.findings import finding
from ggn_store.errors import Problem
from ggn_store.model.changes.possibilities import content
from ggn_store.model.documents import variables
from ggn_store.model.documents.conditions import contents, passing
from ggn_store.model.documents.document import CONDITION_KEYS, Document, Possibility
from ggn_store.model.moves import play_text
from ggn_store.notation import json_text, qpi
from ggn_store.notation.hand import HAND
from ggn_store.notation.json_text import Path, pointer

CODES: Final = (
    "duplicate-possibility",  # the same conditions and effects stand earlier in the same array
    "never-holds",  # no position meets the conditions when the piece's own side is to move
    "redundant-guard",  # a guard that lets every value of its state variable pass
    "unused-variable",  # a state variable that no guard asks for
    "redundant-condition",  # a deny that what is known of its square makes true anyway
    "effect-keeps-piece",  # effects that do not take the piece from its source to its destination
    "no-rules",  # an effect makes a piece that the document has no rules for
    "unknown-state",  # a condition names a piece that has no rules and that nothing makes
    "unreachable-piece",  # rules of a piece that no play from the start position leads to
    "same-rules",  # two states of one piece that make no difference
    "idle-play",  # what is said of how the game is played, and nothing in the document is about
    "convention",  # not what is usual in the well-known game that this looks like, see `conventions`
)

_PARTS = {"action": 0, "when": 0, "require": 1, "must": 1, "prevent": 2, "deny": 2, "perform": 3, "diff": 3}


def lint(document: Document, text: str | None = None, file: str | None = None) -> list[Problem]:
    """The findings about a valid document, in document order.

    `text` is the JSON text that the document was parsed from; without it findings have no line and column.
    `file` is the name that they carry.
    """
    findings = [
        *_possibility_findings(document),
        *_state_findings(document),
        *_play_findings(document),
        *identifiers.findings(document),
        *conventions.findings(document),
    ]
    if not findings:
        return []
    places = json_text.TextPlaces(text, {each.path for each in findings})
    return [places.placed(each, file) for each in _in_order(document, findings)]


def _in_order(document: Document, findings: list[Problem]) -> list[Problem]:
    number: dict[Path, int] = {(): -2} | {("$state", name): -1 for name in variables.parse(document.envelope.variables)}
    for piece in document.pieces:
        number[(piece.identifier,)] = len(number)
        for source in piece.sources:
            number[piece.identifier, source.square] = len(number)
            for destination in source.destinations:
                number[piece.identifier, source.square, destination.square] = len(number)

    def place(found: Problem) -> tuple[int, int, int]:
        path = found.path
        ordinal = path[3] if len(path) > 3 and isinstance(path[3], int) else -1
        return number[path[:3]], ordinal, _PARTS[str(path[4])] if len(path) > 4 else 0

    return sorted(findings, key=place)


# --- one possibility at a time ---


def _possibility_findings(document: Document) -> Iterator[Problem]:
    keys = CONDITION_KEYS[document.dialect]
    effects_key = "perform" if document.dialect == "perform" else "diff"
    for piece in document.pieces:
        for source in piece.sources:
            for destination in source.destinations:
                path = (piece.identifier, source.square, destination.square)
                if len(destination.possibilities) > 1:
                    yield from _duplicates(path, destination.possibilities)
                for ordinal, possibility in enumerate(destination.possibilities):
                    yield from _conditions((*path, ordinal), keys, possibility)
                    if reasons := _staying(*path, possibility):
                        message = f"the effects do not make the move: they {' and '.join(reasons)}"
                        yield finding("effect-keeps-piece", (*path, ordinal, effects_key), message)


def _state_findings(document: Document) -> Iterator[Problem]:
    """Guards that always pass, and variables that no guard asks for."""
    declared = variables.parse(document.envelope.variables)
    asked = set()
    for piece in document.pieces if declared else ():
        for source, destination, ordinal, possibility in piece.entries():
            for name, values in possibility.guards.items():
                asked.add(name)
                if values == declared[name].values:
                    path = (piece.identifier, source.square, destination.square, ordinal, "when", name)
                    yield finding("redundant-guard", path, f"this guard changes nothing: {name} has no other values")
    for name in declared:
        if name not in asked:
            yield finding("unused-variable", ("$state", name), f"no possibility asks for the value of {name}")


def _play_findings(document: Document) -> Iterator[Problem]:
    """Crossings of no rule."""
    played = play_text.parse(document.envelope.play)
    ways = {
        (piece.identifier, source.square, destination.square)
        for piece in (document.pieces if played.crossing else ())
        for source in piece.sources
        for destination in source.destinations
    }
    for each in played.crossing:
        if (each.piece, each.source, each.destination) not in ways:
            way = f"{each.piece} from {each.source} to {each.destination}"
            yield finding("idle-play", (), f"a crossing of [play] is of no rule: there is none of {way}")


def _duplicates(path: Path, possibilities: Iterable[Possibility]) -> Iterator[Problem]:
    seen: dict[Hashable, int] = {}
    for ordinal, possibility in enumerate(possibilities):
        earlier = seen.setdefault(content(possibility), ordinal)
        if earlier != ordinal:
            message = f"the same conditions and effects as {pointer((*path, earlier))}"
            yield finding("duplicate-possibility", (*path, ordinal), message)


def _conditions(path: Path, keys: tuple[str, str], possibility: Possibility) -> Iterator[Problem]:
    """Squares whose conditions nothing can meet, and denials of what is impossible anyway.

    On the source stands the piece; elsewhere, whatever `model.documents.conditions` tells apart.
    """
    must, deny = possibility.must, possibility.deny
    piece, source = str(path[0]), path[1]
    if source not in must and source not in deny and must.keys().isdisjoint(deny):
        return  # one condition a square can always be met and is never idle
    must_key, deny_key = keys
    side = qpi.side_of(piece)
    for square in dict.fromkeys((*must, *deny)):
        wanted, unwanted = must.get(square), deny.get(square)
        if square == source:
            there, known = {piece}, f"{piece} itself stands on {square}"
        else:
            there, known = contents(wanted, unwanted), f"{must_key} asks for {wanted} on {square}"
        if wanted is not None:
            there = passing("must", wanted, side, there)
            if not there:
                message = f"this can never hold: {known}, and {must_key} asks for {wanted} there"
                yield finding("never-holds", (*path, must_key, square), message)
                continue
        if unwanted is not None:
            left = passing("deny", unwanted, side, there)
            if not left:
                message = f"this can never hold: {known}, and {deny_key} forbids {unwanted} there"
                yield finding("never-holds", (*path, deny_key, square), message)
            elif left == there:
                message = f"this condition changes nothing: {known}, so {unwanted} cannot be there"
                yield finding("redundant-condition", (*path, deny_key, square), message)


def _staying(piece: str, source: str, destination: str, possibility: Possibility) -> list[str]:
    """In what way the effects, if there are any, fail to take the piece from source to destination."""
    effects = possibility.effects
    if effects is None:
        return []
    reasons = []
    if source == HAND:
        if effects.hands.get(piece, 0) >= 0:
            reasons.append(f"take no {piece} from the hand")
    elif effects.board.get(source, piece) == piece:
        reasons.append(f"leave {piece} on {source}")
    if destination == HAND:
        if not any(delta > 0 for delta in effects.hands.values()):
            reasons.append("put nothing into a hand")
    else:
        arrived = effects.board.get(destination)
        if arrived is None or qpi.side_of(arrived) != qpi.side_of(piece):
            reasons.append(f"put no piece of its side on {destination}")
    return reasons
