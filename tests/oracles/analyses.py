"""The analyses in plain Python, by trying positions out on the decoded JSON: what the SQL is held to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from tests.oracles import reference
from tests.oracles.reference import HAND, Json

Standing = tuple[str, str]
# No document names them, so each stands for all pieces of its side that a document does not name.
STRANGERS = ("ZZZ:Z", "zzz:z")


def named(document: Json) -> set[str]:
    """The piece identifiers that a document mentions, and a stranger of each side."""
    found = set(STRANGERS)
    for piece, _, _, _, possibility in reference.possibilities(document):
        must, deny = reference.conditions(possibility)
        board = possibility.get("perform") or possibility.get("diff", {}).get("board", {})
        hands = possibility.get("diff", {}).get("hands", {})
        mentioned = {piece, *must.values(), *deny.values(), *board.values(), *hands}
        found |= {each for each in mentioned if each not in (None, "empty", "enemy")}
    return found


def leaps(document: Json) -> dict[tuple[str, str, str], tuple[bool, bool, int]]:
    """For each piece, source and other square: whether it is quiet, whether it is a capture, how many possibilities."""
    pieces = named(document)
    found: dict[tuple[str, str, str], tuple[bool, bool, int]] = {}
    for piece, source, destination, _, possibility in reference.possibilities(document):
        if destination in (source, HAND):
            continue
        side = reference.side_of(piece)
        alone: dict[str, str | None] = {} if source == HAND else {source: piece}
        enemies = [each for each in pieces if reference.side_of(each) != side]
        quiet, capture, count = found.get((piece, source, destination), (False, False, 0))
        found[piece, source, destination] = (
            quiet or reference.permitted(possibility, alone, side),
            capture or any(reference.permitted(possibility, {**alone, destination: each}, side) for each in enemies),
            count + 1,
        )
    return found


def impossible(document: Json, piece: str, source: str, possibility: Json) -> bool:
    """Whether some square's conditions cannot be met by anything that can stand there."""
    must, deny = reference.conditions(possibility)
    pieces = named(document)
    for square in {*must, *deny}:
        contents: Iterable[str | None] = [piece] if square == source else [None, *pieces]
        here = {
            "must": {square: must[square]} if square in must else {},
            "deny": {square: deny[square]} if square in deny else {},
        }
        if not any(reference.permitted(here, {square: each}, reference.side_of(piece)) for each in contents):
            return True
    return False


def changes(document: Json) -> Iterator[tuple[Standing, Standing]]:
    """What stands, and what it can make stand; `*` is the hand."""
    for piece, source, destination, _, possibility in reference.possibilities(document):
        if impossible(document, piece, source, possibility):
            continue
        if "perform" not in possibility and "diff" not in possibility:
            yield (piece, source), (piece, destination)
        board = possibility.get("perform") or possibility.get("diff", {}).get("board", {})
        for square, becomes in board.items():
            if becomes is not None:
                yield (piece, source), (becomes, square)
        for held, delta in possibility.get("diff", {}).get("hands", {}).items():
            if delta > 0:
                yield (piece, source), (held, HAND)


def reached(document: Json, seeds: Iterable[Standing]) -> set[Standing]:
    """All that can come to stand."""
    steps = [*changes(document)]
    found, size = set(seeds), -1
    while size != len(found):
        size = len(found)
        found |= {after for before, after in steps if before in found}
    return found


def mentions(document: Json, state: str) -> list[tuple[str, str, str, int, str, str | None]]:
    """Every mention of a state, with its role and, for conditions and effects on the board, its square."""
    found: list[tuple[str, str, str, int, str, str | None]] = []
    for piece, source, destination, ordinal, possibility in reference.possibilities(document):
        key = (piece, source, destination, ordinal)
        must, deny = reference.conditions(possibility)
        board = possibility.get("perform") or possibility.get("diff", {}).get("board", {})
        for role, states in (("must", must), ("deny", deny), ("board", board)):
            found += [(*key, role, square) for square, each in states.items() if each == state]
        if piece == state:
            found.append((*key, "rules", None))
        if state in possibility.get("diff", {}).get("hands", {}):
            found.append((*key, "hand", None))
    return found


def contents(piece: str, source: str, square: str, pieces: set[str]) -> list[str | None]:
    """All that can stand on a square while the piece stands on its source."""
    return [piece] if square == source else [None, *pieces]


def is_implied(document: Json, piece: str, source: str, one: Json, other: Json) -> bool:
    """Whether `other` is permitted wherever `one` is, square by square."""
    pieces, side = named(document), reference.side_of(piece)
    squares = {square for each in (one, other) for states in reference.conditions(each) for square in states}
    for square in squares:
        for content in contents(piece, source, square, pieces):
            here = [
                {
                    key: {square: states[square]} if square in states else {}
                    for key, states in zip(("must", "deny"), reference.conditions(each), strict=True)
                }
                for each in (one, other)
            ]
            allowed = [reference.permitted(each, {square: content}, side) for each in here]
            if allowed[0] and not allowed[1]:
                return False
    ours, theirs = one.get("when", {}), other.get("when", {})
    # A guard counts as one even if it lets every value pass.
    return all(name in ours and set(ours[name]) <= set(values) for name, values in theirs.items())


def dead(document: Json) -> dict[reference.Key, tuple[str, int | None]]:
    """Which possibilities never hold, or are needless because of which other one of their array."""
    found: dict[reference.Key, tuple[str, int | None]] = {}
    for piece, source, destination, ordinal, possibility in reference.possibilities(document):
        key = (piece, source, destination, ordinal)
        if impossible(document, piece, source, possibility):
            found[key] = ("never", None)
            continue
        array = document[piece][source][destination]
        for number, other in enumerate(array):
            if number == ordinal or changed(possibility) != changed(other):
                continue
            if not is_implied(document, piece, source, possibility, other):
                continue
            if number > ordinal and is_implied(document, piece, source, other, possibility):
                continue
            is_same = asked(possibility) == asked(other)
            if is_same:
                found[key] = ("duplicate", number)
                break
            found.setdefault(key, ("shadowed", number))
    return found


def asked(possibility: Json) -> object:
    """The conditions and guards of a possibility."""
    guards = {name: sorted(values) for name, values in possibility.get("when", {}).items()}
    return reference.conditions(possibility), guards


def changed(possibility: Json) -> object:
    """The effects of a possibility, and the action that it comes from; None where the dialect gives none."""
    if "perform" in possibility:
        return possibility["perform"]
    if "diff" not in possibility:
        return None
    diff = possibility["diff"]
    action = possibility.get("action", {})
    origin = action.get("name"), action.get("chainable", False)
    return diff.get("board", {}), diff.get("hands", {}), diff.get("toggle", True), diff.get("state", {}), origin


def without_rules_to_stand(
    document: Json, seeds: Iterable[Standing]
) -> tuple[dict[Standing, int], set[tuple[reference.Key, str, str]]]:
    """Sources that nothing comes to, with their possibilities; and what must stand on a square, but never does."""
    standing = reached(document, seeds)
    lost: dict[Standing, int] = {}
    absent: set[tuple[reference.Key, str, str]] = set()
    for piece, source, destination, ordinal, possibility in reference.possibilities(document):
        if (piece, source) not in standing:
            lost[piece, source] = lost.get((piece, source), 0) + 1
            continue
        for square, state in reference.conditions(possibility)[0].items():
            there = [each for each, place in standing if place == square]
            enemies = [each for each in there if reference.side_of(each) != reference.side_of(piece)]
            if not {"empty": True, "enemy": bool(enemies)}.get(state, state in there):
                absent.add(((piece, source, destination, ordinal), square, state))
    return lost, absent


def points(squares: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The coordinates of squares with one or two letters, a number and a letter at most."""
    found = {}
    for square in squares:
        match = re.fullmatch("([a-z]+)([0-9]*)([A-Z]?)", square)
        assert match is not None
        file = 0
        for letter in match[1]:
            file = file * 26 + ord(letter) - 96
        parts = [file, *([int(match[2])] if match[2] else []), *([ord(match[3]) - 64] if match[3] else [])]
        found[square] = tuple(parts)
    return found


def reversal(squares: Iterable[str], axes: Iterable[int]) -> dict[str, str]:
    """What squares become when axes of the box that these are all of are reversed."""
    found = points(squares)
    ends = [(min(axis), max(axis)) for axis in zip(*found.values(), strict=True)]
    named = {point: square for square, point in found.items()}
    return {
        square: named[tuple(sum(ends[i]) - value if i in axes else value for i, value in enumerate(point))]
        for square, point in found.items()
    }


def mirrored(document: Json, squares: Mapping[str, str], swaps: bool = True) -> Json:
    """A document with other squares, and the case of all identifiers changed."""

    def state(each: str | None) -> str | None:
        return each.swapcase() if swaps and each not in (None, "empty", "enemy") else each

    def label(each: str) -> str:
        return squares.get(each, each)

    def changed(possibility: Json) -> Json:
        result = {
            key: found if key in ("action", "when") else {label(square): state(each) for square, each in found.items()}
            for key, found in possibility.items()
            if key != "diff"
        }
        if "diff" in possibility:
            diff = dict(possibility["diff"])
            if "board" in diff:
                diff["board"] = {label(square): state(each) for square, each in diff["board"].items()}
            if "hands" in diff:
                diff["hands"] = {state(piece): delta for piece, delta in diff["hands"].items()}
            result["diff"] = diff
        return result

    return {key: value for key, value in document.items() if key == "$state"} | {
        str(state(piece)): {
            label(source): {label(destination): [changed(each) for each in array] for destination, array in to.items()}
            for source, to in sources.items()
        }
        for piece, sources in document.items()
        if not piece.startswith("$")
    }


def rules(document: Json) -> set[tuple[str, str, str, str]]:
    """All possibilities of a document as text, without their order."""
    found = set()
    for piece, source, destination, _, possibility in reference.possibilities(document):
        told = json.dumps([reference.conditions(possibility), changed(possibility)], sort_keys=True)
        found.add((piece, source, destination, told))
    return found


def without_image(document: Json, squares: Mapping[str, str], swaps: bool = True) -> dict[tuple[str, str, str], int]:
    """How many possibilities of each entry have no counterpart in the mirrored document."""
    counts: dict[tuple[str, str, str], int] = {}
    for piece, source, destination, _ in rules(document) - rules(mirrored(document, squares, swaps)):
        counts[piece, source, destination] = counts.get((piece, source, destination), 0) + 1
    return counts
