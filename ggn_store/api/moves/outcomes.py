"""How a game stands: a ruleset's declared outcomes, judged in a position and in what was played before it."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from ggn_store.model.moves import result
from ggn_store.model.moves.chain import Chain, path_of
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.play import Outcome, Play, When, most_checks
from ggn_store.model.moves.position import SIDES, Position
from ggn_store.model.moves.result import Result
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side, is_promotion, is_royal, other_side

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition


class Judged(Protocol):
    """What is asked of a ruleset to judge its games."""

    @property
    def play(self) -> Play: ...
    @property
    def definition(self) -> Definition | None: ...
    @property
    def has_start(self) -> bool: ...
    @property
    def start(self) -> Position: ...
    def moves(self, position: Position, *, source: str, destination: str) -> list[Move]: ...
    def legal_moves(self, position: Position) -> list[Move]: ...
    def chains(self, position: Position, *, legal: bool = False) -> tuple[Chain, ...]: ...
    def in_check(self, position: Position, side: Side | None = None) -> bool: ...
    def attackers(self, position: Position, square: str, side: Side | None = None) -> Sequence[tuple[str, str]]: ...
    def apply(self, position: Position, move: Move | Chain) -> Position: ...


class UnjudgedError(Exception):
    """What an outcome asks for is not known."""


@dataclass(frozen=True, slots=True)
class Case:
    """A position with what was played before it, and the ruleset that it is of."""

    asked: Judged
    position: Position
    history: Sequence[Position]
    moves: Callable[[Position], Sequence[Move | Chain]]


def turns(asked: Judged, position: Position) -> list[Move | Chain]:
    """All that may be made in a position: legal moves, and chains of moves."""
    return [*asked.legal_moves(position), *asked.chains(position, legal=True)]


def judge(
    asked: Judged,
    position: Position,
    history: Sequence[Position],
    moves: Callable[[Position], Sequence[Move | Chain]] | None = None,
) -> Result:
    """The first of the declared outcomes that holds; `moves` are what may be made, if not what is legal.

    A side whose royal pieces were to be kept safe and were all taken has lost, whatever moves it has; so has one that
    has none and no move, where it begins with some.
    """
    play = asked.play
    case = Case(asked, position, history, moves or functools.partial(turns, asked))
    unjudged: dict[str, None] = {}
    taken = _taken(case, case.history[:1])
    for outcome in _in_turn(play.outcomes, position.side):
        if taken is not None and outcome.when == "no-move":
            break
        try:
            side = _met(case, outcome)
        except UnjudgedError:
            unjudged[outcome.when] = None
            continue
        if outcome.when == "no-move" and side is not None and asked.has_start:
            taken = _taken(case, [asked.start])
            if taken == side:
                break
        if side is not None:
            return _result(case, outcome, side)
    if taken is not None:
        return Result(other_side(taken), "the royal piece is taken")
    if not any(outcome.when == "no-move" for outcome in play.outcomes):
        unjudged["no-move"] = None
    return Result(unjudged=(*unjudged, *play.host))


def may_end_at_once(play: Play) -> bool:
    """Whether a position by itself may end a game, whatever moves there are, and whatever was played."""
    return any(outcome.when not in _OF_MOVER for outcome in play.outcomes)


def has_ended(asked: Judged, position: Position) -> bool:
    """Whether a position by itself ends the game, so that engines find no move in it."""
    case = Case(asked, position, (), functools.partial(turns, asked))
    for outcome in asked.play.outcomes:
        with contextlib.suppress(UnjudgedError):
            if outcome.when not in _OF_MOVER and _met(case, outcome) is not None:
                return True
    return asked.has_start and _taken(case, [asked.start]) is not None


def counted(asked: Judged, before: Position, after: Position) -> Position:
    """The position after a move with the counters that follow from those before it."""
    counters = before.counters
    if counters is None:
        return after
    has_passed = after.side != before.side
    checked = after.side if has_passed and counters.checks is not None and asked.in_check(after) else None
    counted = counters.after(_is_quiet(asked, before, after), checked)
    return replace(after, counters=counted if has_passed else replace(counted, plies=counters.plies))


def _is_quiet(asked: Judged, before: Position, after: Position) -> bool:
    """Whether the move between two positions is no progress: takes, drops and promotes nothing, and moves no pawn.

    A pawn's move that it could take back is none either.
    """
    side, enemy = before.side, other_side(before.side)
    had, has = result.own(before.board, side), result.own(after.board, side)
    enemies, left = (len(result.own(each.board, enemy)) for each in (before, after))
    # There are fewer pieces in all where what captures turns to a stone of the other side.
    if left < enemies or len(has) + left + _held(after) < len(had) + enemies + _held(before):
        return False
    if len(had) < len(has) and had.items() <= has.items():
        return False
    gone, come = had.items() - has.items(), has.items() - had.items()
    if len(gone) == len(come) == 1 and is_promotion(*(piece for _, piece in (*gone, *come))):
        return False
    pawns = _pawns(asked)
    sources, to = ({square for square in of if of[square] in pawns} for of in (had, has))
    sources, to = sources - to, to - sources
    if len(sources) == len(to) == 1:
        again = replace(after, side=side, counters=None)
        return bool(asked.moves(again, source=min(to), destination=min(sources)))
    return not sources and not to


def _held(position: Position) -> int:
    """How many pieces are in known hands."""
    return 0 if position.hands is None else sum(position.hands.values())


def _pawns(asked: Judged) -> set[str]:
    """The pieces that an outcome names, or where none does, those that must promote; also with marks."""
    quiet = [outcome for outcome in asked.play.outcomes if outcome.when == "quiet"]
    found = {piece for outcome in quiet for piece in outcome.pieces}
    if not quiet and asked.definition is not None:
        forms = asked.definition.forms.items()
        found = {name for name, form in forms if any(each.forced == "yes" for each in form.piece.promotions)}
    return found | {marked for marked, piece in asked.play.reverts.items() if piece in found}


# --- judging ---


def _taken(case: Case, before: Sequence[Position]) -> Side | None:
    """The side that has no royal piece any more, where the other still has one and they are to be kept safe."""
    position = case.position
    if case.asked.play.duty("royal-safety") is None:
        return None
    lacking = [side for side in SIDES if not result.has_royal(position.board, position.hands or {}, side)]
    is_taken = len(lacking) == 1 and any(result.has_royal(each.board, each.hands or {}, lacking[0]) for each in before)
    return lacking[0] if is_taken else None


def _in_turn(outcomes: Sequence[Outcome], to_move: Side) -> Iterator[Outcome]:
    """The outcomes in their order; where some differ only in the side, that of the side that has just moved first."""

    def of_both(outcome: Outcome) -> Outcome:
        return outcome if outcome.side is None else replace(outcome, side=None, pieces=(), squares=())

    for _, same in itertools.groupby(outcomes, of_both):
        yield from sorted(same, key=lambda each: each.side == to_move)


def _sides(outcome: Outcome, to_move: Side) -> Iterator[Side]:
    """The sides that an outcome is asked of: of a board, the side that has just moved comes first."""
    sides = (to_move,) if outcome.when in _OF_MOVER else (other_side(to_move), to_move)
    return (side for side in sides if outcome.side in (None, side))


def _met(case: Case, outcome: Outcome) -> Side | None:
    """The side of which an outcome holds, if any."""
    return next((side for side in _sides(outcome, case.position.side) if _is_met(case, outcome, side)), None)


def _is_met(case: Case, outcome: Outcome, side: Side) -> bool:
    """Whether an outcome holds of a side, and is not still to be answered."""
    if not KINDS[outcome.when](case, outcome, side):
        return False
    is_open = _OPEN.get(outcome.when) if outcome.answered else None
    return is_open is None or not is_open(case, outcome, side)


def _can_be_answered(case: Case, outcome: Outcome, side: Side) -> bool:
    """Whether the other side is to move, and may take what reached the goal, or can undo it or reach the same."""
    board = case.position.board
    if case.position.side == side:
        return False
    if not all(is_royal(str(board[square])) for square in result.reached(board, outcome, side)):
        return True
    after = (replace(case, position=case.asked.apply(case.position, move)) for move in case.moves(case.position))
    return any(not _goal(each, outcome, side) or _has_answered(each, outcome, side) for each in after)


def _is_new(case: Case, outcome: Outcome, side: Side) -> bool:
    """Whether the side to move has still the move to undo it: it was not so in the position before."""
    if not case.history:
        raise UnjudgedError
    return not KINDS[outcome.when](replace(case, position=case.history[-1]), outcome, side)


def _has_answered(case: Case, outcome: Outcome, side: Side) -> bool:
    """Whether the other side has reached the same."""
    other = other_side(side)
    same = [each for each in case.asked.play.outcomes if each.when == outcome.when and each.side in (None, other)]
    return any(KINDS[each.when](case, each, other) for each in same or (outcome,))


def _result(case: Case, outcome: Outcome, side: Side) -> Result:
    won = result.winner(outcome, side, case.position.board)
    if outcome.answered and outcome.when != "facing" and _has_answered(case, outcome, side):
        won = None
    if outcome.perpetual and (checker := _perpetual(case, outcome)) is not None:
        return Result(other_side(checker), "perpetual check", outcome)
    is_mate = outcome.when == "no-move" and case.asked.in_check(case.position, side)
    return Result(won, result.reason(outcome, is_mate), outcome)


def _extinct(case: Case, outcome: Outcome, side: Side) -> bool:
    board, hands, other = case.position.board, case.position.hands or {}, other_side(side)
    if not result.is_extinct(board, hands, outcome, side):
        return False
    # Who is to move may still take one.
    least = (outcome.other or 0) + (outcome.answered and case.position.side == side)
    return result.total(board, hands, outcome.pieces, other) >= least


def _goal(case: Case, outcome: Outcome, side: Side) -> bool:
    reached = result.reached(case.position.board, outcome, side)
    if outcome.safe:
        reached = [square for square in reached if not case.asked.attackers(case.position, square, other_side(side))]
    return len(reached) >= (outcome.count or 1)


def _checks(case: Case, outcome: Outcome, side: Side) -> bool:
    counters, other = case.position.counters, other_side(side)
    left = None if counters is None else counters.left(side)
    if left is not None:
        return most_checks(case.asked.play.outcomes, side) - left >= (outcome.count or 1)
    if not case.history:
        raise UnjudgedError
    given = [each for each in _begun_turns(case) if each.side == other and case.asked.in_check(each)]
    return len(given) >= (outcome.count or 1)


def _has_counted_check(case: Case, since: int) -> bool:
    """Whether a check that is counted was given since a place in the history, so that no position of it comes again."""
    most = {side: most_checks(case.asked.play.outcomes, other_side(side)) for side in SIDES}
    turns = _begun_turns(case, since) if any(most.values()) else ()
    return any(most[each.side] and case.asked.in_check(each) for each in turns)


def _begun_turns(case: Case, since: int = 0) -> list[Position]:
    """The positions since a place in the history that a turn led to, but for those amid a turn of several actions."""
    pairs = itertools.pairwise((*case.history[since:], case.position))
    return [after for before, after in pairs if before.side != after.side]


def _no_move(case: Case, outcome: Outcome, side: Side) -> bool:
    if case.moves(case.position):
        return False
    return outcome.in_check is None or case.asked.in_check(case.position, side) == outcome.in_check


def _repetition(case: Case, outcome: Outcome, side: Side) -> bool:
    if not case.history:
        raise UnjudgedError
    return len(_repeated(case, (outcome.count or 1) - 1)) + 1 >= (outcome.count or 1)


def _repeated(case: Case, least: int) -> list[int]:
    """The places in the history of the same position, if there are so many."""
    asked, now = case.asked, case.position
    same = [number for number, each in enumerate(case.history) if _is_same(asked, each, now)]
    same = [number for number in same if not _has_counted_check(case, number)]
    if len(same) < least or all(case.history[number] == now for number in same):
        return same
    # A marked piece makes a difference where it can be taken in passing.
    moves = _moves(asked, now)
    return [number for number in same if case.history[number] == now or _moves(asked, case.history[number]) == moves]


def _perpetual(case: Case, outcome: Outcome) -> Side | None:
    """The side that alone has checked with every move since the first of so many equal positions."""
    turns = _begun_turns(case, [*_repeated(case, 0), len(case.history)][-(outcome.count or 1)])
    faced = {side: [each for each in turns if each.side == side] for side in SIDES}
    checkers = [other_side(side) for side in SIDES if faced[side] and all(map(case.asked.in_check, faced[side]))]
    return checkers[0] if len(checkers) == 1 else None


def _quiet(case: Case, outcome: Outcome, side: Side) -> bool:
    if case.position.counters is not None:
        quiet = case.position.counters.quiet
    elif case.history:
        pairs = reversed([*itertools.pairwise((*case.history, case.position))])
        quiet = sum(1 for _ in itertools.takewhile(lambda pair: _is_quiet(case.asked, *pair), pairs))
    else:
        raise UnjudgedError
    return quiet >= (outcome.count or 1)


def _moves(asked: Judged, position: Position) -> set[tuple[str, ...]]:
    return {path_of(move) for move in turns(asked, position)}


def _is_same(asked: Judged, one: Position, other: Position) -> bool:
    """Whether two positions are the same but for marks, and for what pieces have done that allows no move any more."""
    if one.side != other.side or len(one.board) != len(other.board):
        return False
    if (one.hands or {}) != (other.hands or {}) or one.state != other.state:
        return False
    reverts, definition = asked.play.reverts, asked.definition
    apart = {
        square
        for square, piece in one.board.items()
        if piece != other.board.get(square) and _plain(piece, reverts) != _plain(other.board.get(square), reverts)
    }
    if not apart or definition is None:
        return not apart
    known = [[definition.forms.get(str(each.board.get(square))) for each in (one, other)] for square in apart]
    from ggn_store.games.past import Past, is_same

    if not all(a is not None and b is not None and is_same(a, b) for a, b in known):
        return False
    past = Past(definition)
    return all(apart.isdisjoint(past.rights(each.board, each.hands)) for each in (one, other))


def _plain(piece: str | None, reverts: Mapping[str, str]) -> str | None:
    return reverts.get(str(piece), piece)


def _measured(position: Position) -> Mapping[str, str | None]:
    """A board whose squares have coordinates."""
    if not all(map(cell.is_cell, position.board)):
        raise UnjudgedError
    return position.board


# Whether an outcome of a kind holds of a side.
KINDS: Final[Mapping[When, Callable[[Case, Outcome, Side], bool]]] = {
    "extinct": _extinct,
    "goal": _goal,
    "checks": _checks,
    "line": lambda case, outcome, side: result.has_line(_measured(case.position), outcome, side),
    "bare": lambda case, _, side: result.is_bare(case.position.board, case.position.hands or {}, side),
    "material": lambda case, outcome, _: result.is_insufficient(
        case.position.board, case.position.hands or {}, outcome
    ),
    "no-move": _no_move,
    "facing": lambda case, *_: result.are_facing(_measured(case.position)),
    "repetition": _repetition,
    "quiet": _quiet,
    "connection": lambda case, outcome, side: result.is_connected(_measured(case.position), outcome, side),
}
# Whether what was reached may still be answered, where an outcome says that it may be; `_extinct` counts for itself.
_OPEN: Final[Mapping[When, Callable[[Case, Outcome, Side], bool]]] = {
    "goal": _can_be_answered,
    # The side that has lost something has still the move to take as much.
    "bare": lambda case, _, side: case.position.side == side,
    "facing": _is_new,
}
_OF_MOVER: Final = ("no-move", "material", "facing", "repetition", "quiet")
