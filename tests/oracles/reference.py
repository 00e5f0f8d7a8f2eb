"""A plain-Python evaluator of GGN documents, on the decoded JSON itself: the oracle that the SQL is held to.

It shares no code with the package. A board is a dict square -> identifier or None, hands are None (unknown)
or a dict identifier -> count, a side is "first" or "second".
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]
Board = Mapping[str, str | None]
Hands = Mapping[str, int] | None
Key = tuple[str, str, str, int]
Plain = tuple[dict[str, str], dict[str, int] | None, str]

HAND = "*"
IDENTIFIER = re.compile(r"[A-Z][A-Z0-9]*:[-+]?[A-Z]\^?'?|[a-z][a-z0-9]*:[-+]?[a-z]\^?'?")


def side_of(identifier: str) -> str:
    return "first" if identifier[0].isupper() else "second"


def other(side: str) -> str:
    return "second" if side == "first" else "first"


def detect(document: Json) -> str:
    """The dialect of a valid document: "perform", "must-deny", "diff" or "gdl"."""
    keys = {key for *_, possibility in possibilities(document) for key in possibility}
    if "$state" in document or keys & {"action", "when"}:
        return "gdl"
    return "perform" if "perform" in keys else "diff" if "diff" in keys else "must-deny"


def possibilities(document: Json) -> Iterator[tuple[str, str, str, int, Json]]:
    for piece, sources in document.items():
        if not piece.startswith("$"):
            for source, destinations in sources.items():
                for destination, array in destinations.items():
                    for ordinal, possibility in enumerate(array):
                        yield piece, source, destination, ordinal, possibility


def conditions(possibility: Json) -> tuple[dict[str, str], dict[str, str]]:
    """What must hold and what must not, whichever dialect names it."""
    must: dict[str, str] = possibility.get("must") or possibility.get("require") or {}
    deny: dict[str, str] = possibility.get("deny") or possibility.get("prevent") or {}
    return must, deny


def occupant(board: Board, square: str) -> str | None:
    return board.get(square)


def available(piece: str, source: str, board: Board, hands: Hands) -> bool:
    if source == HAND:
        return hands is None or hands.get(piece, 0) >= 1
    return occupant(board, source) == piece


def satisfied(state: str, square: str, board: Board, side: str) -> bool:
    found = occupant(board, square)
    if state == "empty":
        return found is None
    if state == "enemy":
        return found is not None and side_of(found) != side
    return found == state


def permitted(possibility: Json, board: Board, side: str) -> bool:
    must, deny = conditions(possibility)
    return all(satisfied(state, square, board, side) for square, state in must.items()) and not any(
        satisfied(state, square, board, side) for square, state in deny.items()
    )


def guarded(possibility: Json, document: Json) -> bool:
    """Whether every state variable that is asked for has one of the values; it has what `$state` begins with."""
    return all(document["$state"][name]["initial"] in values for name, values in possibility.get("when", {}).items())


def in_state(document: Json, state: Mapping[str, str]) -> Json:
    """The document with other values of its state variables to begin with."""
    if "$state" not in document:
        return document
    declared = {
        name: {**each, "initial": state.get(name, each["initial"])} for name, each in document["$state"].items()
    }
    return {**document, "$state": declared}


def state_after(document: Json, piece: str, source: str, destination: str, ordinal: int) -> dict[str, str]:
    """The value of every state variable after a move."""
    before: dict[str, str] = {name: each["initial"] for name, each in document.get("$state", {}).items()}
    return {**before, **document[piece][source][destination][ordinal].get("diff", {}).get("state", {})}


def holds(
    document: Json, piece: str, source: str, destination: str, board: Board, hands: Hands, side: str
) -> list[int]:
    """The ordinals that hold for one entry, whosever turn the caller says it is."""
    for identifier in [*board.values(), *(hands or {})]:
        if identifier is not None and not IDENTIFIER.fullmatch(identifier):
            raise ValueError(f"{identifier!r} is not a piece identifier")
    array = document[piece][source][destination]
    if not available(piece, source, board, hands):
        return []
    return [
        ordinal
        for ordinal, possibility in enumerate(array)
        if permitted(possibility, board, side) and guarded(possibility, document)
    ]


def moves(document: Json, board: Board, hands: Hands, side: str) -> list[Key]:
    """Everything that the pieces of the active side can do, in document order."""
    return [
        (piece, source, destination, ordinal)
        for piece, source, destination in dict.fromkeys(found[:3] for found in possibilities(document))
        if side_of(piece) == side
        for ordinal in holds(document, piece, source, destination, board, hands, side)
    ]


def effects(
    document: Json, piece: str, source: str, destination: str, ordinal: int, assume: str | None = None
) -> tuple[dict[str, str | None], dict[str, int], bool]:
    """Board changes, hand changes and whether the turn passes; must-deny has only what a caller assumes."""
    possibility = document[piece][source][destination][ordinal]
    if "perform" in possibility:
        return possibility["perform"], {}, True
    if "diff" in possibility:
        diff = possibility["diff"]
        return diff.get("board", {}), diff.get("hands", {}), diff.get("toggle", True)
    if assume != "displacement":
        raise ValueError("a must-deny document has no effects; displacement has to be assumed")
    board = {square: becomes for square, becomes in ((source, None), (destination, piece)) if square != HAND}
    return board, {piece: -1} if source == HAND else {piece: 1} if destination == HAND else {}, True


def apply(
    document: Json,
    piece: str,
    source: str,
    destination: str,
    ordinal: int,
    board: Board,
    hands: Hands,
    side: str,
    assume: str | None = None,
) -> Plain:
    """The position after a move: nothing in it is empty or zero, and unknown hands stay unknown."""
    becomes, deltas, toggle = effects(document, piece, source, destination, ordinal, assume)
    after = {square: found for square, found in {**board, **becomes}.items() if found is not None}
    if hands is None:
        return after, None, other(side) if toggle else side
    counts = dict(hands)
    for identifier, delta in deltas.items():
        counts[identifier] = counts.get(identifier, 0) + delta
        if counts[identifier] < 0:
            raise ValueError(f"the hand would hold {counts[identifier]} of {identifier}")
    counts = {identifier: count for identifier, count in counts.items() if count}
    return after, counts, other(side) if toggle else side


def canonical(document: Json) -> Json:
    """The document as it is exported: order kept, maps sorted, what is empty or default left out."""
    result: Json = {"$schema": document["$schema"]} if "$schema" in document else {}
    if detect(document) == "gdl":
        declared = sorted(document.get("$state", {}).items())
        result["$state"] = {
            name: {"values": sorted(each["values"]), "initial": each["initial"]} for name, each in declared
        }
    for piece, source, destination, _, possibility in possibilities(document):
        array = result.setdefault(piece, {}).setdefault(source, {}).setdefault(destination, [])
        normal: Json = {}
        if "action" in possibility:
            action = possibility["action"]
            normal["action"] = {"name": action["name"], "step": int(action.get("step", 1))}
            if action.get("chainable"):
                normal["action"]["chainable"] = True
        if possibility.get("when"):
            normal["when"] = {name: sorted(values) for name, values in sorted(possibility["when"].items())}
        for key in ("require", "prevent", "must", "deny", "perform"):
            if possibility.get(key):
                normal[key] = dict(sorted(possibility[key].items()))
        if "diff" in possibility:
            diff = possibility["diff"]
            maps = {key: dict(sorted(diff[key].items())) for key in ("board", "hands") if diff.get(key)}
            normal["diff"] = maps if diff.get("toggle", True) else {**maps, "toggle": False}
            if diff.get("state"):
                normal["diff"]["state"] = dict(sorted(diff["state"].items()))
        array.append(normal)
    return result


def canonical_text(document: Json) -> str:
    """The canonical document in its text layout: one possibility a line, indented by level."""

    def dumps(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def layout(value: Any, depth: int) -> str:
        if depth == 4 or isinstance(value, str):
            return dumps(value)
        pad, end = "\n" + " " * (depth + 1), "\n" + " " * depth
        if isinstance(value, list):
            return "[" + ",".join(pad + layout(item, 4) for item in value) + end + "]"
        items = (
            f"{pad}{dumps(key)}:{layout(item, 4 if key == '$state' and not depth else depth + 1)}"
            for key, item in value.items()
        )
        return "{" + ",".join(items) + end + "}"

    return layout(canonical(document), 0) + "\n"
