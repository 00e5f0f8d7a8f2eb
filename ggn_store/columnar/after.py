"""Positions after possibilities, as arrays: what duties that look ahead, and chains, are asked of."""

from __future__ import annotations

from typing import Any, Final

from ggn_store.columnar.batch import PositionArrays, Turn
from ggn_store.columnar.threats import ThreatTables
from ggn_store.model.moves.position import MAX_HAND_COUNT
from ggn_store.notation.qpi import side_of

# What no code of a piece is.
_NONE: Final = -9


class After:
    """Makes the positions after possibilities of a ruleset with so many squares, by what state variables begin as."""

    def __init__(self, np: Any, threats: ThreatTables, squares: int, initial: list[int]) -> None:
        self._np = np
        self._squares = squares
        self._pieces = len(threats.pieces)
        self._initial = np.array(initial, np.int64)
        self._sides = np.array([side_of(piece) == "first" for piece in threats.pieces], bool)
        steps = threats.steps
        size = max(steps, default=-1) + 1
        self._squares_of = _Listed(
            np,
            size,
            {n: [(p, _NONE if c is None else c) for p, c in step.squares.items()] for n, step in steps.items()},
        )
        self._states_of = _Listed(
            np, size, {n: [(place - squares, v) for place, v in step.state.items()] for n, step in steps.items()}
        )
        self._hands_of = _Listed(np, size, {n: list(step.hands.items()) for n, step in steps.items()})
        self._toggles = np.ones(size, bool)
        self._ends = np.full(size, -1, np.int32)
        for number, step in steps.items():
            self._toggles[number], self._ends[number] = step.toggle, step.end

    def of(
        self, columns: PositionArrays, row: Any, possibility: Any, turn: Turn
    ) -> tuple[PositionArrays, Any, Any, Any]:
        """The positions after possibilities in rows of some, and the rest of `MadePositions`."""
        np, count = self._np, len(columns.first)
        board = np.full((count, self._squares), _NONE, np.int32)
        board[columns.position, columns.square] = columns.piece
        state = np.tile(self._initial, (count, 1))
        state[columns.state[0], columns.state[1]] = columns.state[2]
        held = np.zeros((count, self._pieces), np.int64)
        owner, piece, number = columns.held
        # Nothing is known of what a piece that the rules do not name does in a hand.
        known = piece >= 0
        np.add.at(held, (owner[known], piece[known] >> 1), number[known])
        parts = [each[row] for each in (board, held, state)]
        left = np.concatenate(parts, axis=1)
        board, held, state = parts
        board[self._squares_of.rows(possibility)] = self._squares_of.values(possibility)
        state[self._states_of.rows(possibility)] = self._states_of.values(possibility)
        held[self._hands_of.rows(possibility)] += self._hands_of.values(possibility)
        hands_known = columns.hands_known[row]
        can_be = ~(hands_known & ((held < 0) | (held > MAX_HAND_COUNT)).any(axis=1))
        held[~hands_known] = 0
        turns = self._toggles[possibility] if turn == "stated" else turn == "other"
        after = self._columns(board, held, state, columns.first[row] ^ turns, hands_known)
        return after, can_be, left, np.concatenate(parts, axis=1)

    def ends(self, possibility: Any) -> Any:
        """The squares on which possibilities leave what they move; -1 for the hand."""
        return self._ends[possibility]

    def _columns(self, board: Any, held: Any, state: Any, first: Any, hands_known: Any) -> PositionArrays:
        np = self._np
        position, square = np.nonzero(board != _NONE)
        owner, piece = np.nonzero(held > 0)
        at, variable = np.nonzero(state != self._initial)
        return PositionArrays(
            position.astype(np.int32),
            square.astype(np.int32),
            board[position, square],
            (owner.astype(np.int32), (2 * piece + self._sides[piece]).astype(np.int32), held[owner, piece]),
            first,
            hands_known,
            (at, variable, state[at, variable]),
        )


class _Listed:
    """Pairs of a key and a value for each number below `size`, without any for most."""

    def __init__(self, np: Any, size: int, pairs: dict[int, list[tuple[int, int]]]) -> None:
        self._np = np
        self._ends = np.cumsum([0, *(len(pairs.get(number, ())) for number in range(size))])
        flat = [pair for number in sorted(pairs) for pair in pairs[number]]
        self._keys, self._values = np.array(flat, np.int64).reshape(-1, 2).T

    def rows(self, numbers: Any) -> tuple[Any, Any]:
        """The place in `numbers` and the key of each pair of these."""
        counts = self._ends[numbers + 1] - self._ends[numbers]
        return self._np.repeat(self._np.arange(len(numbers)), counts), self._keys[self._flat(numbers, counts)]

    def values(self, numbers: Any) -> Any:
        return self._values[self._flat(numbers, self._ends[numbers + 1] - self._ends[numbers])]

    def _flat(self, numbers: Any, counts: Any) -> Any:
        np = self._np
        begins = np.repeat(self._ends[numbers] - np.cumsum(counts) + counts, counts)
        return begins + np.arange(int(counts.sum()))
