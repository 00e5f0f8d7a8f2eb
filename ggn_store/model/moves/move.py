"""Moves: possibilities that hold in a position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args

from ggn_store.errors import MoveError, quote
from ggn_store.model.documents.document import Guards
from ggn_store.notation.hand import HAND
from ggn_store.notation.move_text import MoveText
from ggn_store.notation.qpi import Side, side_of
from ggn_store.notation.stn import Transition

Assumption = Literal["displacement"]
Count = Literal["position", "piece", "destination"]
COUNTS: Final[tuple[Count, ...]] = get_args(Count)
DISPLACEMENT: Final[Assumption] = "displacement"


def check_assumption(assume: str | None) -> None:
    """Raise MoveError unless `assume` is an assumption or None."""
    if assume not in (None, DISPLACEMENT):
        raise MoveError(f"{quote(assume)} is not an assumption; there is {DISPLACEMENT!r} only")


def check_count(by: str) -> None:
    """Raise MoveError unless moves are counted so."""
    if by not in COUNTS:
        raise MoveError(f"moves are counted by {', '.join(COUNTS)}, not by {quote(by)}")


@dataclass(frozen=True, slots=True)
class Move:
    """A possibility that holds in a position.

    `source` and `destination` are squares or `*`; `ordinal` counts from 0 within the document's array for that
    destination. `must` and `deny` map squares to states. `transition` is what the move changes; None where the
    document does not say it (the `must-deny` dialect) and the caller did not ask for assumed effects, which `assumed`
    marks. Whoever expects effects asks for `effects`.

    `guards`, `action`, `step` and `chainable` are as in the document (`Possibility`, `Origin`); `action` is None
    where the rules name none.
    """

    piece: str
    source: str
    destination: str
    ordinal: int
    must: Mapping[str, str]
    deny: Mapping[str, str]
    transition: Transition | None
    assumed: bool = False
    guards: Guards = field(default_factory=dict)
    action: str | None = None
    step: int = 1
    chainable: bool = False

    def __str__(self) -> str:
        """As it can be typed: the piece, where it goes, and what becomes of it there (`C:P e7 e8 C:Q`)."""
        becomes = None if self.transition is None else self.transition.board.get(self.destination)
        last = becomes if becomes != self.piece else None
        return str(MoveText((self.source, self.destination), self.piece, last))

    @property
    def has_effects(self) -> bool:
        """Whether it is known what the move changes."""
        return self.transition is not None

    @property
    def effects(self) -> Transition:
        """What the move changes; raises MoveError where the document does not say it: see `has_effects`."""
        if self.transition is None:
            raise MoveError(
                f"the document does not say what {self.piece} {self.source} {self.destination} changes; to mean plain "
                f"displacement, ask for the moves with assume={DISPLACEMENT!r}"
            )
        return self.transition

    def data(self) -> dict[str, Any]:
        """The move as JSON data; guards and action are left out where there are none."""
        data: dict[str, Any] = {
            "piece": self.piece,
            "source": self.source,
            "destination": self.destination,
            "ordinal": self.ordinal,
            "must": dict(self.must),
            "deny": dict(self.deny),
            "effects": None if self.transition is None else self.transition.data(),
            "assumed": self.assumed,
        }
        if self.guards:
            data["when"] = {name: list(values) for name, values in self.guards.items()}
        if self.action is not None:
            data |= {"action": self.action, "step": self.step, "chainable": self.chainable}
        return data


def no_effects(what: object) -> MoveError:
    """What to say of a must-deny document whose moves are to be made."""
    return MoveError(
        f"{what} is a must-deny document and does not say what a move changes; to mean plain displacement, say "
        f"assume={DISPLACEMENT!r} (--assume {DISPLACEMENT})"
    )


def takes(move: Move, board: Mapping[str, str | None], side: Side) -> bool:
    """Whether a move changes a square on which a board has an enemy of `side`."""
    return bool(taken_by(move, board, side))


def taken_by(move: Move, board: Mapping[str, str | None], side: Side) -> tuple[tuple[str, str], ...]:
    """The squares that a move changes on which a board has an enemy of `side`, each with what stands there."""
    changed = () if move.transition is None else move.transition.board
    standing = ((square, board.get(square)) for square in changed)
    return tuple((square, piece) for square, piece in standing if piece is not None and side_of(piece) != side)


def displaced(move: Move) -> Move:
    """The move with plain displacement for its effects, where its document does not say any."""
    if move.has_effects:
        return move
    return replace(move, transition=displacement(move.piece, move.source, move.destination), assumed=True)


def displacement(piece: str, source: str, destination: str) -> Transition:
    """Plain displacement: the source is emptied, the destination holds the piece, the turn passes.

    What `must-deny` documents leave open, for callers who say that it is what they mean. To and from the
    hand, the piece is counted there.
    """
    board: dict[str, str | None] = {square: None for square in (source,) if square != HAND}
    if destination != HAND:
        board[destination] = piece
    hands = (
        {} if source == destination else {piece: -1} if source == HAND else {piece: 1} if destination == HAND else {}
    )
    return Transition(board, hands)
