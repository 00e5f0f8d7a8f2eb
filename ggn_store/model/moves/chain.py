"""Chains: several moves of one piece that are made together, such as the jumps of a man in checkers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ggn_store import limits
from ggn_store.errors import MoveError
from ggn_store.model.moves.move import Move, displaced, taken_by
from ggn_store.model.moves.play import Duty, Play
from ggn_store.model.moves.position import Position
from ggn_store.model.record import Record
from ggn_store.notation.stn import Transition

_PLAIN: Final = Play()


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
    position: Position, moves: Iterable[Move], chains: Iterable[Chain] = (), play: Play = _PLAIN
) -> tuple[list[Move], tuple[Chain, ...]]:
    """The moves and chains that take an enemy piece and that no further capture can continue; all, if none takes any.

    That who can capture must capture is a duty of a game, or a rule of its host: no document can say it. `moves` and
    `chains` are all that the position allows. A capture is an effect on a square that holds an enemy. Of captures the
    duties of `play` may prefer some.
    """
    moves, chains = list(moves), tuple(chains)
    boards: dict[_Key, Mapping[str, str | None]] = {(): position.board}
    known: dict[_Key, _Taken] = {(): ()}

    def taken_by_steps(steps: Sequence[Move]) -> _Taken:
        key = _key(steps)
        if key not in known:
            earlier, last = taken_by_steps(steps[:-1]), steps[-1]
            known[key] = (*earlier, taken_by(last, boards[key[:-1]], position.side))
            boards[key] = {**boards[key[:-1]], **displaced(last).effects.board}
        return known[key]

    # What a path begins with need not be among the moves and chains that are asked about.
    taken = {_key(steps): taken_by_steps(steps) for steps in (*([move] for move in moves), *(c.steps for c in chains))}
    continued = {key[:-1] for key, each in taken.items() if len(key) > 1 and each[-1]}
    taking = {key: each for key, each in taken.items() if any(each)}
    if not taking:
        return moves, chains
    wanted = _preferred(taking, continued, play)
    return (
        [move for move in moves if _key([move]) in wanted],
        tuple(chain for chain in chains if _key(chain.steps) in wanted),
    )


_Key = tuple[tuple[str, str, str, int], ...]
# Of each step of a path what it takes: squares and the pieces there.
_Taken = tuple[Sequence[tuple[str, str]], ...]


def _preferred(taking: Mapping[_Key, _Taken], continued: Collection[_Key], play: Play) -> Collection[_Key]:
    """The paths that are at their end, and that the duties of a game prefer."""
    wanted = {key: taken for key, taken in taking.items() if key not in continued}
    if play.duty("capture-on"):
        going_on = {(key[:-1], key[-1][:2], *taking[key]) for key in continued if key in taking}
        wanted = {key: taken for key, taken in wanted.items() if (key[:-1], key[-1][:2], *taken) not in going_on}
    for name, rank in _RANKS.items():
        duty = play.duty(name)
        if duty is not None:
            ranks = {key: rank(key, taken, duty) for key, taken in wanted.items()}
            most = max(ranks.values())
            wanted = {key: taken for key, taken in wanted.items() if ranks[key] == most}
    return wanted


def _most(_: _Key, taken: _Taken, duty: Duty) -> tuple[int, ...]:
    pieces = [piece for step in taken for _, piece in step]
    return len(pieces), sum(piece in duty.pieces for piece in pieces)


def _with(key: _Key, _: _Taken, duty: Duty) -> tuple[int, ...]:
    return (int(key[0][0] in duty.pieces),)


def _soon(_: _Key, taken: _Taken, duty: Duty) -> tuple[int, ...]:
    return tuple(sum(piece in duty.pieces for _, piece in step) for step in taken)


# Which captures a duty prefers: those of the highest rank.
_RANKS: Final[Mapping[str, Callable[[_Key, _Taken, Duty], tuple[int, ...]]]] = {
    "most-captures": _most,
    "capture-with": _with,
    "capture-soon": _soon,
}


def _key(steps: Sequence[Move]) -> _Key:
    return tuple((step.piece, step.source, step.destination, step.ordinal) for step in steps)
