"""Chains: several moves of one piece that are made together, such as the jumps of a man in checkers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ggn_store import limits
from ggn_store.errors import MoveError
from ggn_store.model.moves.move import Move, takes
from ggn_store.model.moves.position import Position
from ggn_store.model.record import Record
from ggn_store.notation.stn import Transition


@dataclass(frozen=True, slots=True)
class Chain(Record):
    """Two or more chainable moves, each from where the one before it ended and in the position that it left.

    `effects` is what they change together, the turn passing once if the last of them says so; squares, hands and
    variables that end as they were are not in it. `after` is the position after the whole chain.
    """

    steps: tuple[Move, ...]
    effects: Transition
    after: Position
    DATA: ClassVar = "piece path effects steps"

    @property
    def piece(self) -> str:
        """What moves, as it is before the first step."""
        return self.steps[0].piece

    @property
    def source(self) -> str:
        """Where the first step begins."""
        return self.steps[0].source

    @property
    def destination(self) -> str:
        """Where the last step ends."""
        return self.steps[-1].destination

    @property
    def path(self) -> tuple[str, ...]:
        """The squares from the first to the last, `*` for the hand."""
        return (self.source, *[step.destination for step in self.steps])


def require_bounded(ruleset: object, longest: int, count: int) -> None:
    """Raise MoveError for a chain of more steps than the limits allow, and for more chains of a position."""
    steps, most = limits.CHAIN_STEPS, limits.CHAINS
    if longest > steps.most:
        raise MoveError(
            f"{ruleset}: a chain of this position has more than {steps.most} steps, and may have no end{steps.more}"
        )
    if count > most.most:
        raise MoveError(
            f"{ruleset}: this position has more than {most.most:,} chains{most.more}: ask for those of one piece or "
            "source"
        )


def path_of(move: Move | Chain) -> tuple[str, ...]:
    """The path of a move from its source to its destination."""
    return move.path if isinstance(move, Chain) else (move.source, move.destination)


def path_data(move: Move) -> dict[str, Any]:
    """A single move as JSON data of the same keys as a chain's."""
    effects = None if move.transition is None else move.transition.data()
    return {"piece": move.piece, "path": [*path_of(move)], "effects": effects, "steps": [move.data()]}


def captures_first(
    position: Position, moves: Iterable[Move], chains: Iterable[Chain] = ()
) -> tuple[list[Move], tuple[Chain, ...]]:
    """The moves and chains that take an enemy piece and that no further capture can continue; all, if none takes any.

    That who can capture must capture is a duty of a game, or a rule of its host: no document can say it. `moves` and
    `chains` are all that the position allows. A capture is an effect on a square that holds an enemy.
    """
    moves, chains = list(moves), tuple(chains)
    boards = {_key(chain.steps): chain.after.board for chain in chains}
    taking = {_key([move]) for move in moves if takes(move, position.board, position.side)}
    continued: set[_Key] = set()
    for chain in chains:  # those that a chain continues come before it
        before, last = chain.steps[:-1], chain.steps[-1]
        key = _key(before)
        if key not in boards and before[0].has_effects:
            boards[key] = position.after(before[0].effects).board
        if is_capture := takes(last, boards[key], position.side):
            continued.add(key)
        if is_capture or key in taking:
            taking.add(_key(chain.steps))
    if not taking:
        return moves, chains
    wanted = taking - continued
    return (
        [move for move in moves if _key([move]) in wanted],
        tuple(chain for chain in chains if _key(chain.steps) in wanted),
    )


_Key = tuple[tuple[str, str, str, int], ...]


def _key(steps: Sequence[Move]) -> _Key:
    return tuple((step.piece, step.source, step.destination, step.ordinal) for step in steps)
