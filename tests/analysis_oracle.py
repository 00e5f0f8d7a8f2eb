"""The analyses in plain Python, by trying positions out on the decoded JSON: what the SQL is held to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests import reference
from tests.reference import HAND, Json

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
