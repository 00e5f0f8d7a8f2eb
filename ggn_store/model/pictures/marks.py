"""What a diagram marks on the squares that a piece can go to, worked out from possibilities or from moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ggn_store.model.documents.document import EMPTY, ENEMY, Piece
from ggn_store.model.moves.move import Move
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, is_promotion, other_side, side_of
from ggn_store.notation.stn import Transition

Manner = Literal["never", "over", "freely"]
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Way:
    """One way to a destination: a possibility without its place, or a move without its ordinal."""

    destination: str
    must: Mapping[str, str]
    deny: Mapping[str, str]
    effects: Transition | None


@dataclass(frozen=True, slots=True)
class Mark:
    """What a piece can do on one square (or, for `*`, with its hand).

    `quiet` and `capture` say whether it can go there without and with a capture: never, only over a piece in between,
    or freely. `elsewhere`: some way changes another square than source and destination. `promotes`: some way makes
    another piece of it. `words` says all this as a sentence without its end.
    """

    square: str
    quiet: Manner
    capture: Manner
    elsewhere: bool
    promotes: bool
    words: str

    @property
    def is_over(self) -> bool:
        """Whether something is possible only over a piece in between."""
        return "over" in (self.quiet, self.capture)


def marks(
    piece: str, source: str, ways: Iterable[Way], board: Mapping[str, str | None] | None = None
) -> tuple[Mark, ...]:
    """The marks of a piece's ways from `source`, a square each, in their order.

    `board` is what stands where, for moves in a position. Without it the conditions tell what would be captured.
    """
    by_square: dict[str, list[Way]] = {}
    for way in ways:
        by_square.setdefault(way.destination, []).append(way)
    return tuple(_mark(piece, source, square, each, board) for square, each in by_square.items())


def marks_of_piece(piece: Piece, source: str) -> tuple[Mark, ...]:
    """The marks of everything that a piece may ever do from `source`, whatever stands on the board."""
    ways = (
        Way(destination.square, possibility.must, possibility.deny, possibility.effects)
        for each in piece.sources
        if each.square == source
        for destination in each.destinations
        for possibility in destination.possibilities
    )
    return marks(piece.identifier, source, ways)


def marks_of_moves(moves: Iterable[Move], board: Mapping[str, str | None]) -> tuple[Mark, ...]:
    """The marks of moves of one piece from one source in a position."""
    moves = list(moves)
    if not moves:
        return ()
    ways = (Way(move.destination, move.must, move.deny, move.transition) for move in moves)
    return marks(moves[0].piece, moves[0].source, ways, board)


def _mark(piece: str, source: str, square: str, ways: list[Way], board: Mapping[str, str | None] | None) -> Mark:
    quiet: Manner = "never"
    capture: Manner = "never"
    becomes: dict[str, None] = {}
    changes: dict[str, None] = {}
    stays = False
    is_always_so = True
    for way in ways:
        manner: Manner = "over" if _needs_hurdle(source, way) else "freely"
        moves, captures = _quiet_and_captures(side_of(piece), source, way, board)
        if moves and quiet != "freely":
            quiet = manner
        if captures and capture != "freely":
            capture = manner
        after = piece if way.effects is None else way.effects.board.get(square, piece)
        if after is not None and is_promotion(piece, after):
            becomes[after] = None
        else:
            stays = True
        elsewhere = _changes_elsewhere(source, way)
        is_always_so = is_always_so and bool(elsewhere)
        changes |= dict.fromkeys(elsewhere)
    words = [_going(quiet, capture, source == HAND, square == HAND, is_certain=board is not None)]
    if becomes:
        named = list(becomes)
        listed = " or ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
        words.append(f"{'may become' if stays else 'becomes'} {listed}")
    if changes:
        words.append(("" if is_always_so else "in some ways, ") + _listed(list(changes)))
    conditions = [] if board is not None else _conditions(ways)
    if conditions:
        words.append(f"if {_listed(conditions)}")
    return Mark(square, quiet, capture, bool(changes), bool(becomes), "; ".join(words))


def _quiet_and_captures(side: Side, source: str, way: Way, board: Mapping[str, str | None] | None) -> tuple[bool, bool]:
    """Whether the way can be gone without a capture, and with one."""
    destination = way.destination
    taken = any(
        _is_other(side, way.must.get(square) if board is None else board.get(square))
        for square in (() if way.effects is None else way.effects.board)
        if square not in (source, destination)
    )
    if destination in (source, HAND):
        return not taken, taken
    stands = way.must.get(destination) if board is None else board.get(destination)
    if stands == EMPTY or (board is not None and stands is None):
        return not taken, taken
    if stands is not None:
        kept = not _is_other(side, stands) and way.effects is not None and stands in way.effects.board.values()
        return kept and not taken, taken or not kept
    match way.deny.get(destination):
        case "empty":
            return False, True
        case "enemy":
            return not taken, taken
        case _:
            return not taken, True


def _is_other(side: Side, state: str | None) -> bool:
    if state is None or state == EMPTY:
        return False
    return state == ENEMY or side_of(state) == other_side(side)


def _needs_hurdle(source: str, way: Way) -> bool:
    """Whether a piece has to stand between source and destination, and stays there.

    Labels that are not CELL do not tell what lies between: there, any square counts.
    """
    changed = () if way.effects is None else way.effects.board
    occupied = [square for square, state in way.must.items() if state != EMPTY]
    occupied += [square for square, state in way.deny.items() if state == EMPTY]
    return any(
        square not in (source, way.destination)
        and square not in changed
        and _is_between(source, square, way.destination)
        for square in occupied
    )


def _is_between(source: str, square: str, destination: str) -> bool:
    labels = (source, square, destination)
    if not all(map(cell.is_cell, labels)):
        return HAND not in labels
    start, middle, end = map(cell.parse, labels)
    if not len(start) == len(middle) == len(end):
        return False
    near = [m - s for m, s in zip(middle, start, strict=True)]
    far = [e - s for e, s in zip(end, start, strict=True)]
    pairs = list(zip(near, far, strict=True))
    is_on_line = all(a * d == c * b for a, b in pairs for c, d in pairs)
    return is_on_line and all(0 <= a * b <= b * b for a, b in pairs) and any(far)


def _changes_elsewhere(source: str, way: Way) -> list[str]:
    board = {} if way.effects is None else way.effects.board
    return [
        f"{square} is emptied" if becomes is None else f"{square} becomes {becomes}"
        for square, becomes in sorted(board.items())
        if square not in (source, way.destination)
    ]


def _conditions(ways: list[Way]) -> list[str]:
    """What all ways ask of squares other than their destination, but for squares that have to be empty."""
    shared: dict[str, None] | None = None
    for way in ways:
        told = [
            f"{square} is {'an enemy' if state == ENEMY else state}"
            for square, state in sorted(way.must.items())
            if square != way.destination and state != EMPTY
        ]
        told += [
            f"{square} is {'taken' if state == EMPTY else 'no enemy' if state == ENEMY else f'not {state}'}"
            for square, state in sorted(way.deny.items())
            if square != way.destination
        ]
        shared = dict.fromkeys(told if shared is None else [each for each in told if each in shared])
    return list(shared or ())


def _listed(parts: list[str]) -> str:
    shown = parts[:_SHOWN]
    return ", ".join(shown) + (" and more" if len(parts) > len(shown) else "")


def _going(quiet: Manner, capture: Manner, is_drop: bool, is_to_hand: bool, *, is_certain: bool) -> str:
    """How a piece goes; what it does on a board that is known is certain, and what else it may do is not said."""
    verb = "drops" if is_drop else "goes to the hand" if is_to_hand else "moves"
    if quiet == capture == "never":
        return verb
    if quiet == capture:
        return f"{verb} or captures" + _MANNERS[quiet]
    parts = [text + _MANNERS[manner] for text, manner in ((verb, quiet), ("captures", capture)) if manner != "never"]
    if is_certain:
        return ", ".join(parts)
    if capture == "never":
        return f"{parts[0]}, does not capture"
    if quiet == "never":
        return f"{parts[0]} only" if capture == "freely" else parts[0]
    return ", ".join(parts)


_MANNERS: dict[Manner, str] = {"never": "", "freely": "", "over": " over a piece in between"}
