"""What is derived of pieces, in plain Python on the decoded JSON: squares by label, possibilities one by one."""

from __future__ import annotations

import math
import operator
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.oracles import analyses, reference
from tests.oracles.reference import HAND, Json

Point = tuple[int, ...]
KINDS = ("displacing", "elsewhere", "by_another", "either")


def effects(piece: str, destination: str, possibility: Json) -> dict[str, str | None]:
    """What stands where afterwards; where nothing is told, the piece stands on its destination."""
    if "perform" in possibility:
        found: dict[str, str | None] = possibility["perform"]
        return found
    if "diff" in possibility:
        board: dict[str, str | None] = possibility["diff"].get("board", {})
        return board
    return {} if destination == HAND else {destination: piece}


def is_own(piece: str, state: str | None) -> bool:
    return state not in (None, "empty", "enemy") and reference.side_of(piece) == reference.side_of(str(state))


def is_foreign(piece: str, state: str | None) -> bool:
    return state not in (None, "empty", "enemy") and not is_own(piece, state)


def capture(piece: str, source: str, destination: str, possibility: Json) -> str | None:
    """How a possibility captures; the first of KINDS that is true of a square."""
    must, deny = reference.conditions(possibility)
    found = set()
    changed = effects(piece, destination, possibility)
    goes = source in changed and changed[source] != piece
    for square, becomes in changed.items():
        if is_foreign(piece, becomes) and not (goes and square == destination):
            continue
        if must.get(square) == "enemy" or is_foreign(piece, must.get(square)):
            found.add("displacing" if square == destination else "by_another" if becomes else "elsewhere")
        elif square not in must and square != source and deny.get(square) != "enemy":
            found.add("either")
    return next((kind for kind in KINDS if kind in found), None)


def promotes(piece: str, destination: str, possibility: Json) -> bool:
    """Whether the piece becomes one of another letter or style, or gets a +."""
    becomes = effects(piece, destination, possibility).get(destination)
    if becomes is None or becomes == piece or not is_own(piece, becomes):
        return False

    def plain(name: str) -> str:
        return name.replace("+", "").replace("-", "").replace("^", "")

    return plain(becomes) != plain(piece) or ("+" in becomes and "+" not in piece)


def castles(piece: str, source: str, destination: str, possibility: Json) -> bool:
    """Whether an own piece no longer stands where it had to, and one stands where none had to and the mover does not.

    What makes room for the mover leaves, too; what becomes another own piece on its square stays. The mover goes to the
    destination, unless it stands elsewhere and another own piece there.
    """
    must, _ = reference.conditions(possibility)
    after = effects(piece, destination, possibility)
    before = {square for square, state in must.items() if is_own(piece, state)}
    others = {square for square, state in after.items() if is_own(piece, state)}
    left = {
        square
        for square in before & after.keys()
        if square not in others or square == destination or (after[square] == piece and must[square] != piece)
    }
    movers = set() if piece in after.values() and after.get(destination) != piece else {destination}
    return bool(left - {source}) and bool(others - before - movers)


def way(source: str, destination: str, points: dict[str, Point] | None) -> tuple[Point, int] | None:
    """The direction of a move as its shortest vector, and how many of it the move is."""
    if points is None or HAND in (source, destination) or source == destination:
        return None
    vector = tuple(map(operator.sub, points[destination], points[source]))
    whole = math.gcd(*vector)
    return tuple(each // whole for each in vector), whole


def on_way(source: str, destination: str, points: dict[str, Point] | None) -> list[str]:
    """The squares of a straight way, without its ends, from the first; holes of the board are left out."""
    found = way(source, destination, points)
    if found is None or points is None:
        return []
    there = {point: square for square, point in points.items()}
    steps = (tuple(a + b * k for a, b in zip(points[source], found[0], strict=True)) for k in range(1, found[1]))
    return [there[point] for point in steps if point in there]


def off_path(source: str, destination: str, possibility: Json, points: dict[str, Point] | None) -> int:
    """How many squares with conditions are neither source nor destination nor between."""
    must, deny = reference.conditions(possibility)
    return len({*must, *deny} - {source, destination, *on_way(source, destination, points)})


def counts(document: Json, points: dict[str, Point] | None) -> dict[str, Counter[str]]:
    """For each piece, how many possibilities do what; and how many conditions are off the path."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for piece, source, destination, _, possibility in reference.possibilities(document):
        kind = capture(piece, source, destination, possibility)
        found[piece].update([kind] if kind else [])
        found[piece]["promoting"] += promotes(piece, destination, possibility)
        found[piece]["castling"] += castles(piece, source, destination, possibility)
        found[piece]["off_path"] += off_path(source, destination, possibility, points)
    return found


def is_hurdle(asked: tuple[str | None, str | None]) -> bool:
    """Whether a piece must stand on a square, by what must and must not."""
    state, never = asked
    return state not in (None, "empty") or never == "empty"


def moves_of(document: Json, points: dict[str, Point]) -> Iterator[tuple[str, str, Point, int, bool]]:
    """Each possibility that does not castle: whether it hops, its direction, its steps, whether over empty squares."""
    for piece, source, destination, _, possibility in reference.possibilities(document):
        found = way(source, destination, points)
        if found is None:
            continue
        unit, whole = found
        must, deny = reference.conditions(possibility)
        squares = on_way(source, destination, points)
        at = {
            k: square
            for k in range(1, whole)
            for square in squares
            if tuple(a + b * k for a, b in zip(points[source], unit, strict=True)) == points[square]
        }
        asked = {k: (must.get(square), deny.get(square)) for k, square in at.items() if square in {*must, *deny}}
        if castles(piece, source, destination, possibility):
            continue
        beside = {*must, *deny} - {source, destination, *squares}
        elsewhere = [(must.get(square), deny.get(square)) for square in beside]
        if any(map(is_hurdle, asked.values())) and not any(map(is_hurdle, elsewhere)):
            yield piece, "hops", unit, 0, False
            continue
        if beside or not asked:
            yield piece, "goes", tuple(each * whole for each in unit), 1, False
            continue
        step = math.gcd(whole, *asked)
        is_empty = all(asked.get(k) == ("empty", None) for k in range(step, whole, step))
        yield piece, "goes", tuple(each * step for each in unit), whole // step, is_empty


def ways(document: Json, points: dict[str, Point]) -> dict[str, tuple[bool, bool, bool]]:
    """Whether each piece rides, leaps and hops."""
    lengths: dict[str, dict[Point, set[int]]] = defaultdict(lambda: defaultdict(set))
    goes: dict[str, set[Point]] = defaultdict(set)
    hops = set()
    for piece, what, direction, length, is_empty in moves_of(document, points):
        if what == "hops":
            hops.add(piece)
            continue
        goes[piece].add(direction)
        if is_empty:
            lengths[piece][direction].add(length)
    pieces = {piece for piece, *_ in reference.possibilities(document)}
    riding = {piece: {at for at, each in lengths[piece].items() if len(each) > 1} for piece in pieces}
    return {piece: (bool(riding[piece]), bool(goes[piece] - riding[piece]), piece in hops) for piece in pieces}


def mobility(document: Json, points: dict[str, Point] | None) -> dict[str, tuple[Any, ...]]:
    """Squares; total, least and most of all destinations, of quiet ones, of captures; reach; colours."""
    graphs: dict[str, dict[str, tuple[set[str], set[str]]]] = defaultdict(dict)
    for (piece, source, destination), (quiet, takes, _) in analyses.leaps(document).items():
        graph = graphs[piece]
        if source != HAND:
            to = graph.setdefault(source, (set(), set()))
            to[0].update([destination] if quiet else [])
            to[1].update([destination] if takes else [])
    found: dict[str, tuple[Any, ...]] = {}
    for piece, graph in graphs.items():
        every = {source: quiet | takes for source, (quiet, takes) in graph.items()}
        numbers: list[int] = []
        for each in (every, *({source: both[at] for source, both in graph.items()} for at in (0, 1))):
            sizes = [*map(len, each.values())]
            numbers += [sum(sizes), min(sizes, default=0), max(sizes, default=0)]
        reach = max((len(walked(every, source)) for source in every), default=0)
        found[piece] = (len(every), *numbers, reach, _colours(every, points))
    return found


def walked(graph: dict[str, set[str]], source: str) -> set[str]:
    """The nodes that one of a graph leads to, with it."""
    found, ahead = {source}, [source]
    while ahead:
        for square in graph.get(ahead.pop(), set()) - found:
            found.add(square)
            ahead.append(square)
    return found


def _colours(graph: dict[str, set[str]], points: dict[str, Point] | None) -> str | None:
    if points is None:
        return None
    changes = {(sum(points[a]) + sum(points[b])) % 2 for a, to in graph.items() for b in to}
    return {frozenset(): None, frozenset({0}): "bound", frozenset({1}): "alternating"}.get(frozenset(changes), "free")
