"""Positions: what stands where, what is in the hands, and who is to move."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

from ggn_store.errors import UNSTORABLE, MoveError, NotationError, PositionError, printable, quote
from ggn_store.model.documents.board import box
from ggn_store.model.documents.variables import is_word
from ggn_store.model.moves.counters import Counters
from ggn_store.notation import board_text, cell, feen, qpi
from ggn_store.notation.board_text import Paint
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, other_side
from ggn_store.notation.stn import Transition

MAX_HAND_COUNT = feen.MAX_COUNT
SIDES: tuple[Side, ...] = get_args(Side)
_KEYS = ("board", "hands", "side", "state")


@dataclass(frozen=True, slots=True)
class Position:
    """A position.

    `board` maps squares to piece identifiers; a square that is missing, or None, is empty. `hands` maps
    pieces to counts, the case of a piece naming whose hand it is in; None means that nothing is known about
    the hands, and drops are then not checked against them. `side` is the side to move. `shape` and `styles`
    are only needed to write FEEN and come with `from_feen`. `state` maps state variables of the rules to their
    values; one that it does not name has its initial value. `counters` are what FEN and SFEN count; None where nothing
    is known about that, as in FEEN and JSON. Positions that differ in their counters only are equal.

    Raises PositionError for a bad identifier, square, count, side or state.
    """

    board: Mapping[str, str | None]
    hands: Mapping[str, int] | None = None
    side: Side = "first"
    shape: tuple[int, ...] | None = field(default=None, compare=False)
    styles: tuple[str, str] | None = field(default=None, compare=False)
    state: Mapping[str, str] | None = None
    counters: Counters | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.board, Mapping):
            raise PositionError(f"a board is an object of squares and pieces, not {quote(self.board)}")
        for square, piece in self.board.items():
            if not isinstance(square, str) or square in ("", HAND) or UNSTORABLE.search(square):
                raise PositionError(f"{quote(square)} is not a square of a position")
            if piece is not None and not (isinstance(piece, str) and qpi.is_qpi(piece)):
                raise PositionError(f"{quote(piece)} on {quote(square)} is not {qpi.ALLOWED}, nor null")
        object.__setattr__(self, "board", {square: piece for square, piece in self.board.items() if piece is not None})
        if self.hands is not None:
            object.__setattr__(self, "hands", _checked_hands(self.hands))
        side_named(self.side)
        if self.state is not None:
            if not isinstance(self.state, Mapping) or not all(map(is_word, (*self.state, *self.state.values()))):
                raise PositionError(
                    f"a state is an object of variables and their values, both of them text, not {quote(self.state)}"
                )
            object.__setattr__(self, "state", dict(self.state) or None)

    def __str__(self) -> str:
        """A board for people, drawn as far as the position shows how large it is; `repr` is what Python reads."""
        try:
            board = box(self.shape or _shape_around(self.board))
        except NotationError:
            return self.text((), None).rstrip("\n")
        return self.text(board.squares, board.shape).rstrip("\n")

    def text(self, squares: Sequence[str], shape: tuple[int, ...] | None, paint: Paint | None = None) -> str:
        """The position as lines of text, on a board of these squares; see `board_text` for what is drawn."""
        board = {square: piece for square, piece in self.board.items() if piece is not None}
        lines = [*board_text.lines(board, squares, shape, paint)]
        for side in SIDES:
            held = [f"{count} {piece}" for piece, count in (self.hands or {}).items() if qpi.side_of(piece) == side]
            if held:
                lines.append(f"hand of {side}: {', '.join(held)}")
        state = ", ".join(f"{name}={value}" for name, value in (self.state or {}).items())
        lines.append(f"{self.side} to move" + (f"; {printable(state)}" if state else ""))
        return "\n".join(lines) + "\n"

    @classmethod
    def from_feen(cls, text: str) -> Position:
        """The position that a FEEN text writes; raises PositionError, quoting what is wrong."""
        try:
            value = feen.parse(text)
        except NotationError as error:
            raise PositionError(str(error)) from None
        return cls(value.board, value.hands, value.side, value.shape, value.styles)

    @classmethod
    def from_text(cls, text: str) -> Position:
        """The position that FEEN or, where a board is none that FEEN can write, JSON says as `from_data` reads it."""
        if not text.startswith("{"):
            return cls.from_feen(text)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PositionError(f"{quote(text)} is neither FEEN nor JSON: {error}") from None
        return cls.from_data(data)

    @classmethod
    def from_data(cls, data: object) -> Position:
        """The position that JSON data holds: a FEEN text, `{"feen", "state"}` or `{"board", "hands", "side", "state"}`.

        All but `feen` and `board` may be left out.
        """
        if isinstance(data, str):
            return cls.from_feen(data)
        if not isinstance(data, dict):
            raise PositionError(
                f"{quote(data)} is not a position: an object with board, hands and side, or a FEEN text"
            )
        if isinstance(data.get("feen"), str) and data.keys() <= {"feen", "state"}:
            return cls.from_feen(data["feen"]).with_changes(state=data.get("state"))
        if "board" not in data or not data.keys() <= set(_KEYS):
            raise PositionError(
                "a position has the keys board, hands, side and state, or feen and state; "
                f"found {quote(sorted(map(str, data)))}"
            )
        return cls(data["board"], data.get("hands"), data.get("side", "first"), state=data.get("state"))

    def require_shape(self, shape: tuple[int, ...] | None, whose: object) -> None:
        """Raise PositionError where it is written on a board of another shape than that of `whose` rules, if known."""
        if self.shape is not None and shape is not None and self.shape != shape:
            own, other = ("x".join(map(str, each)) for each in (self.shape, shape))
            raise PositionError(f"the position has a board of {own}, and that of {whose} is {other}")

    def to_feen(self, shape: tuple[int, ...] | None = None) -> str:
        """The FEEN text; `shape` is the board's where the position does not bring its own.

        Unknown hands are written as empty ones, FEEN having no way to say that nothing is known, and the state of
        the position is left out. Raises
        PositionError where FEEN cannot write the position.
        """
        shape = self.shape or shape
        if shape is None:
            raise PositionError("FEEN needs the shape of the board, and this position brings none: write JSON instead")
        board = {square: piece for square, piece in self.board.items() if piece is not None}
        styles = self.styles or _styles([*board.values(), *(self.hands or ())])
        try:
            return feen.text(feen.Feen(shape, board, self.hands or {}, self.side, styles))
        except NotationError as error:
            raise PositionError(str(error)) from None

    def with_changes(
        self, hands: Mapping[str, int] | None = None, side: str | None = None, state: Mapping[str, str] | None = None
    ) -> Position:
        """The same position with other hands, another side to move or another state, where they are given."""
        return replace(
            self,
            hands=self.hands if hands is None else hands,
            side=self.side if side is None else cast(Side, side),
            state=self.state if state is None else state,
        )

    def data(self) -> dict[str, Any]:
        """The position as JSON data, as `from_data` reads it; a state that names no variable is left out."""
        return {
            "board": dict(self.board),
            "hands": None if self.hands is None else dict(self.hands),
            "side": self.side,
        } | ({} if self.state is None else {"state": dict(self.state)})

    def after(self, effects: Transition) -> Position:
        """The position after `effects`, applied exactly as written.

        Unknown hands stay unknown, and counters become so: `Ruleset.apply` counts. Raises MoveError where a hand would
        have fewer than no pieces.
        """
        board = dict(self.board)
        for square, piece in effects.board.items():
            if piece is None:
                board.pop(square, None)
            else:
                board[square] = piece
        hands = None if self.hands is None else dict(self.hands)
        if hands is not None:
            for piece, delta in effects.hands.items():
                count = hands.get(piece, 0) + delta
                if count > MAX_HAND_COUNT:
                    raise MoveError(f"the move puts more than {MAX_HAND_COUNT:,} {piece} into a hand")
                if count < 0:
                    raise MoveError(f"the move takes {-delta} {piece} from a hand that holds {hands.get(piece, 0)}")
                hands[piece] = count
        state = {**(self.state or {}), **effects.state} if effects.state else self.state
        side = other_side(self.side) if effects.toggle else self.side
        return replace(self, board=board, hands=hands, side=side, state=state, counters=None)


def side_named(text: str) -> Side:
    """The side of a name; raises PositionError for any other text."""
    for side in SIDES:
        if text == side:
            return side
    raise PositionError(f"{quote(text)} is not a side: first or second")


def _checked_hands(hands: object) -> dict[str, int]:
    if not isinstance(hands, Mapping):
        raise PositionError(f"hands are an object of pieces and counts, not {quote(hands)}")
    for piece, count in hands.items():
        if not isinstance(piece, str) or not qpi.is_qpi(piece):
            raise PositionError(f"{quote(piece)} in a hand is not {qpi.ALLOWED}")
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_HAND_COUNT:
            raise PositionError(f"{quote(count)} is not a count of {piece} in a hand: a whole number from 0")
    return {piece: count for piece, count in hands.items() if count}


def _shape_around(squares: Iterable[str]) -> tuple[int, ...]:
    """The smallest shape from the first corner that has all squares; raises NotationError where there is none."""
    points = [cell.parse(square) for square in squares]
    if len(set(map(len, points))) != 1:
        raise NotationError("the squares do not lie on one board")
    return tuple(max(axis) + 1 for axis in zip(*points, strict=True))


def _styles(identifiers: list[str]) -> tuple[str, str]:
    """The styles of the two players, as the pieces show them."""
    found: dict[Side, set[str]] = {"first": set(), "second": set()}
    for piece in map(qpi.parse, identifiers):
        found[other_side(piece.side) if piece.derived else piece.side].add(piece.style)
    first, second = found["first"] or found["second"], found["second"] or found["first"]
    if len(first) != 1 or len(second) != 1:
        raise PositionError(
            "FEEN names one style a side, and the pieces of this position show "
            f"{'none' if not first else 'several'}: write JSON instead"
        )
    return first.copy().pop(), second.copy().pop()
