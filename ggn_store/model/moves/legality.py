"""Which pseudo-legal moves the duties of a game let pass: joins of possibilities with the position after a move.

Whether a move leaves a royal piece (`^`) attacked is a question about the threats (`model.moves.threats`) on its square
after the move. Checks, pins, captures in passing, screens of cannons and castling all follow.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ggn_store.errors import MoveError, NotationError
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import ENEMY
from ggn_store.model.documents.geometry import Lattice
from ggn_store.model.documents.variables import VariableValues
from ggn_store.model.moves.chain import Chain, captures_first
from ggn_store.model.moves.move import Move, displaced
from ggn_store.model.moves.play import Crossing, Play
from ggn_store.model.moves.position import Position
from ggn_store.model.moves.threats import Contents, Item, Outlooks, Reach, Threat, enters
from ggn_store.notation import cell, qpi
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, is_royal, other_side, side_of
from ggn_store.notation.stn import Transition

StartMoves = tuple[Reach | None, Sequence[Move]]
Attacker = tuple[str, str]


@dataclass(frozen=True, slots=True)
class MoveRules:
    """What legality asks of the rules.

    `reaches` of the pieces of a side among what stands on squares; the pseudo-legal moves of a position in `parts`,
    each with what all possibilities of its start come to, where that is known, and its `chains`; the pieces that have
    rules; the `start` position, if there is one. `code` says what is on a board as the pieces of a side look at it, to
    the `bits` of their reaches.
    """

    reaches: Callable[[Side, Iterable[Item]], Iterable[Reach]]
    code: Callable[[Side, Iterable[Item]], int]
    parts: Callable[[Position], Iterable[StartMoves]]
    chains: Callable[[Position], Sequence[Chain]]
    pieces: tuple[str, ...]
    board: Board
    start: Position | None


@dataclass(slots=True)
class _Seen:
    """A board as the safety of a side's royal pieces is asked of it.

    Of all that enemies threaten, `holding` is what attacks a royal piece. What would only do so after a move that
    changes all that it lacks is `waiting` under one of these squares. Of the `steps` of a single royal piece, those
    onto the `covered` squares leave it attacked. `by_enemy` is filled when it is asked for.
    """

    side: Side
    board: Contents
    state: VariableValues | None
    royals: Sequence[str]
    holding: Sequence[Threat]
    waiting: Mapping[str, Sequence[Threat]]
    is_plain: bool
    steps: Contents
    covered: Collection[str]
    by_enemy: Sequence[Reach] | None = None


class Legality:
    """The duties of a game, asked of positions."""

    def __init__(self, play: Play, asked: MoveRules) -> None:
        self.play = play
        self._asked = asked
        self._duties = {duty.name: duty for duty in play.duties}
        self._is_safe_game = "royal-safety" in self._duties
        self._is_facing_game = "flying-general" in self._duties
        self.blasts = play.blasts
        self._crossing: dict[str, list[Crossing]] = {}
        for crossing in play.crossing:
            self._crossing.setdefault(crossing.source, []).append(crossing)
        self._checked = [rule for name, rule in _RULES.items() if name in self._duties]
        self._facing: dict[Item, Reach] = {}
        self._royal = _Royals()
        self._outlooks = Outlooks(self._reaches, asked.code)
        self._steps: dict[Item, Contents] = {}

    # --- what is legal ---

    def legal(self, position: Position, parts: Iterable[StartMoves] | None = None) -> list[Move]:
        """The moves that the duties let pass, a pass last, of a position that is ready; `parts` are all its moves."""
        if parts is None:
            parts = self._asked.parts(position)
        if "forced-pass" in self._duties:
            found = self._allowed(position, parts)
            return found or self.among(position, self.passes(position))
        return self._allowed(position, [*parts, (None, self.passes(position))])

    def among(self, position: Position, moves: Sequence[Move]) -> list[Move]:
        """Those of some moves of a position that the duties let pass, in their order."""
        return self._allowed(position, [(None, moves)])

    def chains(self, position: Position) -> list[Chain]:
        """The chains that the duties let pass, each as one move of all that it changes."""
        if not self.is_of_all:
            return self._passed_chains(position)
        return list(self._first(position, self._passed(position, self._asked.parts(position)))[1])

    def _allowed(self, position: Position, parts: Iterable[StartMoves]) -> list[Move]:
        """Those of the moves that the duties let pass."""
        found = self._passed(position, parts)
        return self._first(position, found)[0] if self.is_of_all else found

    def _passed(self, position: Position, parts: Iterable[StartMoves]) -> list[Move]:
        """Those of the moves that the duties let pass, whatever others there are."""
        if self._is_safe_game or self._is_facing_game:
            found = self._safe(position, parts)
        else:
            found = [move for _, part in parts for move in part]
        for rule in self._checked:
            found = [move for move in found if rule(self, position, move)]
        return found

    def _passed_chains(self, position: Position) -> list[Chain]:
        chains = self._asked.chains(position)
        made = [
            Move(each.piece, each.source, each.destination, number, {}, {}, each.effects)
            for number, each in enumerate(chains)
        ]
        return [chains[move.ordinal] for move in self._passed(position, [(None, made)])]

    def _first(self, position: Position, moves: list[Move]) -> tuple[list[Move], tuple[Chain, ...]]:
        """Of moves, and of chains, those that come first: drops or captures where they must, and no last actions."""
        if "mandatory-drop" in self._duties and (drops := [move for move in moves if must_drop(self.play, move)]):
            return drops, ()
        chains = tuple(self._passed_chains(position))
        if "mandatory-capture" in self._duties:
            moves, chains = captures_first(position, moves, chains, self.play)
        if "last-actions" in self._duties:
            last = self._duties["last-actions"].pieces
            others = [move for move in moves if move.action not in last]
            going_on = tuple(chain for chain in chains if all(step.action not in last for step in chain.steps))
            if others or going_on:
                return others, going_on
        return moves, chains

    @property
    def is_safe_for_all(self) -> bool:
        """Whether no royal piece may be attacked, however many a side has."""
        return self._is_safe_game and not self.blasts and self._duties.keys().isdisjoint(_OF_SEVERAL)

    @property
    def is_of_all(self) -> bool:
        """Whether a move is legal by what other moves there are."""
        return not self._duties.keys().isdisjoint(("mandatory-drop", *_AMONG_ALL))

    def passes(self, position: Position) -> list[Move]:
        """The move that only passes the turn, where there is one, said of the royal piece, or of the first there is."""
        if "forced-pass" in self._duties:
            other = replace(position, side=other_side(position.side))
            if self._can_move(position) or not self._can_move(self.play.unmarked(other)):
                return []
        elif "pass" not in self._duties:
            return []
        pieces = [piece for piece in self._asked.pieces if side_of(piece) == position.side]
        own = [(str(piece), square) for square, piece in position.board.items() if piece in pieces]
        numbers = self._asked.board.numbers
        own.sort(key=lambda each: (not is_royal(each[0]), pieces.index(each[0]), numbers[each[1]]))
        return [pass_of(piece, square) for piece, square in own[:1]]

    def _can_move(self, position: Position) -> bool:
        """Whether a side may do anything but pass."""
        return bool(self._allowed(position, self._asked.parts(position)) or self.chains(position))

    def in_check(self, position: Position, side: Side) -> bool:
        """Whether the royal pieces of a side are attacked, as far as they must not be."""
        return not self._is_covered(self._see(side, position.board, position.state), {})

    def attackers(self, position: Position, square: str, side: Side) -> list[Attacker]:
        """The pieces of a side that could take what stands on a square, or a royal piece of the other side there."""
        board = position.board
        changes: dict[str, str | None] = {}
        if board.get(square) is None or side_of(str(board[square])) == side:
            others = [piece for piece in self._asked.pieces if side_of(piece) != side]
            if not others:
                return []
            changes[square] = min(others, key=lambda piece: (not is_royal(piece), qpi.parse(piece).state != ""))
        found = list(self._asked.reaches(side, board.items()))
        if is_royal(changes.get(square) or str(board[square])):
            found += self._faced(side, board.items())
        taking = (
            threat
            for of_start in found
            for threat in of_start.threats.get(square, ())
            if self._takes(threat, board, changes, position.state)
        )
        return list(dict.fromkeys((threat.source, threat.piece) for threat in taking))

    # --- royal safety ---

    def _safe(self, position: Position, parts: Iterable[StartMoves]) -> list[Move]:
        """The moves after which the royal pieces of the side to move are as safe as they have to be."""
        seen = self._see(position.side, position.board, position.state)
        found: list[Move] = []
        is_plain = seen.is_plain and not self.blasts
        for start, moves in parts:
            if start is None or not start.is_own or not is_plain:
                found += [move for move in moves if self._is_safe(seen, move)]
            elif not start.is_plain:
                found += [move for move in moves if self._is_safe_step(seen, move)]
            elif not seen.holding and start.changed.isdisjoint(seen.waiting):
                found += moves
            else:
                found += [move for move in moves if self._is_safe_aside(seen, move)]
        return found

    def _see(self, side: Side, board: Contents, state: VariableValues | None) -> _Seen:
        """The royal pieces of a side on a board, and all that could threaten them."""
        royals = self._royals(board, side)
        holding: list[Threat] = []
        waiting: dict[str, list[Threat]] = {}
        steps: Contents = {}
        covered: list[str] = []
        is_plain = len(royals) < 2 or self._duties.keys().isdisjoint(_OF_SEVERAL)
        for square in royals:
            steps = self._steps_of(side, square, board)
            for outlook in self._outlooks.of((square, board[square]), steps, board, state):
                covered += outlook.covered
                holding += outlook.holding
                for lacking, threat in outlook.waiting:
                    waiting.setdefault(lacking, []).append(threat)
                is_plain = is_plain and not outlook.is_guarded
        steps = steps if len(royals) == 1 else {}
        return _Seen(side, board, state, royals, holding, waiting, is_plain, steps, covered)

    def _by_enemy(self, seen: _Seen) -> Sequence[Reach]:
        """All that the other side threatens, which few positions need."""
        if seen.by_enemy is None:
            seen.by_enemy = self._reaches(other_side(seen.side), seen.board.items())
        return seen.by_enemy

    def _steps_of(self, side: Side, source: str, board: Contents) -> Contents:
        """What becomes of a royal piece by the squares that it only steps to, and crosses none."""
        piece = board[source]
        royal = source, piece
        known = self._steps.get(royal)
        if known is None:
            crossing = self._crossing.get(source, ())
            known = self._steps[royal] = {
                square: becomes
                for start in self._asked.reaches(side, [royal])
                for square, becomes in start.steps.items()
                if not any(each.piece == piece and is_made_by(each, {square: becomes}) for each in crossing)
            }
        return known

    def _is_safe_aside(self, seen: _Seen, move: Move) -> bool:
        """Whether royal pieces are safe after a move that moves none and gives the enemy none."""
        changes = _changes(move)
        for square in changes:
            if square in seen.waiting and any(threat.holds(seen.board, changes) for threat in seen.waiting[square]):
                return False
        return not any(threat.holds(seen.board, changes) for threat in seen.holding)

    def _is_safe_step(self, seen: _Seen, move: Move) -> bool:
        """Whether royal pieces are safe after a move that moves or makes one, but no enemies."""
        changes, square = _changes(move), move.destination
        if len(changes) == 2 and square in seen.steps and changes == {move.source: None, square: seen.steps[square]}:
            return square not in seen.covered
        return self._is_safe_among_own(seen, move, changes)

    def _is_safe(self, seen: _Seen, move: Move) -> bool:
        """Whether royal pieces are safe after a move, whatever it changes, and on all squares that it crosses."""
        effects = displaced(move).effects
        changes, enemy = effects.board, other_side(seen.side)
        if self.blasts:
            if self._destroys(seen.board, changes, seen.side):
                return False
            if self._destroys(seen.board, changes, enemy):
                return True
        if effects.state:
            seen = replace(seen, state={**(seen.state or {}), **effects.state})
        if made := [item for item in changes.items() if item[1] is not None and side_of(item[1]) == enemy]:
            seen = replace(seen, by_enemy=[*self._by_enemy(seen), *self._reaches(enemy, made)])
        if enters(move) and not self._is_covered(seen, {**changes, move.destination: None}):
            return False  # what enters by gating is no shield
        return self._is_safe_among_own(seen, move, changes)

    def _is_safe_among_own(self, seen: _Seen, move: Move, changes: Contents) -> bool:
        """Whether royal pieces are safe after a move that makes no enemies, and on all squares that it crosses."""
        if not self._is_covered(seen, changes):
            return False
        crossings = () if self._crossing.keys().isdisjoint(changes) else [*self._crossings(seen.board, changes)]
        if not crossings:
            return True
        attacked = replace(seen, by_enemy=[each for each in self._by_enemy(seen) if not each.is_facing])
        return not any(
            # On the way it is what it becomes: rules of captures may name it, and not where it has not moved.
            self._is_attacked(attacked, {crossing.source: None, square: crossed_by(crossing, square, changes)}, square)
            for crossing in crossings
            for square in crossing.through
        )

    def _crossings(self, board: Contents, changes: Contents) -> Iterator[Crossing]:
        """The crossings that a move with these changes is."""
        for source in self._crossing.keys() & changes.keys():
            for crossing in self._crossing[source]:
                if board.get(source) == crossing.piece and is_made_by(crossing, changes):
                    yield crossing

    def _is_covered(self, seen: _Seen, changes: Contents) -> bool:
        """Whether the royal pieces of a side are as safe as they have to be after changes."""
        royals = self._royals(changes, seen.side)
        royals += [square for square in seen.royals if square not in changes]
        if len(royals) == 1:
            return not self._is_attacked(seen, changes, royals[0])
        if len(royals) > 1:
            if "spare-royal" in self._duties:
                return True
            if "duple-check" in self._duties:
                return not all(self._is_attacked(seen, changes, square) for square in royals)
        return not any(self._is_attacked(seen, changes, square) for square in royals)

    def _is_attacked(self, seen: _Seen, changes: Contents, square: str) -> bool:
        return next(self._attacks(seen, changes, square), None) is not None

    def _attacks(self, seen: _Seen, changes: Contents, square: str) -> Iterator[Threat]:
        """The threats that are attacks on what stands on a square after changes."""
        for threat in [threat for start in self._by_enemy(seen) for threat in start.threats.get(square, ())]:
            if self._takes(threat, seen.board, changes, seen.state):
                yield threat

    def _takes(self, threat: Threat, board: Contents, changes: Contents, state: VariableValues | None) -> bool:
        """Whether a threat is an attack on the board after changes."""
        if not threat.holds(board, changes, state):
            return False
        return not self.blasts or not self._destroys({**board, **changes}, threat.board, threat.side)

    def _destroys(self, board: Contents, changes: Contents, side: Side) -> bool:
        """Whether changes of a board leave a side fewer royal pieces."""
        lost = sum(self._royal[board.get(square)] == side for square in changes)
        return lost > sum(self._royal[piece] == side for piece in changes.values())

    def _royals(self, board: Contents, side: Side) -> list[str]:
        sides = self._royal
        return [square for square, piece in board.items() if sides[piece] == side]

    def _reaches(self, side: Side, items: Iterable[Item]) -> list[Reach]:
        """What the pieces of a side threaten; royal pieces also each other, where they must not face each other."""
        items = list(items)
        found = list(self._asked.reaches(side, items)) if self._is_safe_game or not self._is_facing_game else []
        return found + self._faced(side, items)

    def _faced(self, side: Side, items: Iterable[Item]) -> list[Reach]:
        """What the royal pieces of a side face, where they must not face each other."""
        return [self._faces(item) for item in items if self._is_facing_game and self._royal[item[1]] == side]

    def _faces(self, item: Item) -> Reach:
        """What a royal piece would take if it went along its file."""
        known = self._facing.get(item)
        if known is None:
            known = self._facing[item] = Reach(
                dict(facing(self._asked.board, *item)), frozenset(), False, False, is_facing=True
            )
        return known

    # --- other duties ---

    def _after(self, position: Position, move: Move) -> Position:
        return self.play.unmarked(position.after(displaced(move).effects))

    def _gives_check(self, position: Position, move: Move) -> bool:
        side = other_side(position.side)
        effects = displaced(move).effects
        # Its hands are not asked for: a possibility may take from them what is not there.
        after = self.play.unmarked(replace(replace(position, hands=None).after(effects), side=side))
        seen = self._see(side, after.board, after.state)
        return any(self._is_attacked(seen, {}, square) for square in seen.royals)

    def _may_check(self, position: Position, move: Move) -> bool:
        """no-checks: a move does not attack the other side's royal pieces; others: nor does a drop, or a promotion."""
        return not may_not_check(self.play, move) or not self._gives_check(position, move)

    def _may_flee(self, position: Position, move: Move) -> bool:
        """no-flight: a royal piece that is attacked may only take what attacks it."""
        changes = displaced(move).effects.board
        if not is_royal(move.piece) or not changes:
            return True
        seen = self._see(position.side, position.board, position.state)
        return all(threat.source in changes for threat in self._attacks(seen, {}, move.source))

    def _may_leap(self, position: Position, move: Move) -> bool:
        """no-leap-from-check: far moves that only an unmoved royal piece has, it does not have while it is attacked."""
        if not leaps(self.play, move):
            return True
        return not self._is_attacked(self._see(position.side, position.board, position.state), {}, move.source)

    def _may_promote(self, position: Position, move: Move) -> bool:
        """promotion-limit: no more pieces of a kind than at the start; royal-promotion-limit: of royal pieces only."""
        made = promoted(self.play, move)
        if made is None:
            return True
        there = [kind(piece) for piece in position.board.values() if piece is not None]
        return there.count(made) < self._started[made]

    @functools.cached_property
    def _started(self) -> Counter[str]:
        return started(self._asked.start)

    def _may_mate(self, position: Position, move: Move) -> bool:
        """no-drop-mate: a drop of a pawn does not leave the other side without a legal move in check."""
        if not may_not_mate(self.play, move) or not self._gives_check(position, move):
            return True
        try:
            return self._can_move(self._after(position, move))
        except MoveError:
            return True  # it takes from the hand what is not there: nobody can make it


class _Royals(dict[str | None, Side | None]):
    """Piece -> whose royal piece it is; None for what is none."""

    def __missing__(self, piece: str | None) -> Side | None:
        side = self[piece] = side_of(piece) if piece is not None and is_royal(piece) else None
        return side


def _changes(move: Move) -> Contents:
    """What a move leaves on the squares that it changes."""
    transition = move.transition
    return displaced(move).effects.board if transition is None else transition.board


def crossed_by(crossing: Crossing, square: str, changes: Contents) -> str | None:
    """What stands on a square while a move with these changes crosses it."""
    return crossing.piece if square == crossing.source else changes[crossing.destination]


def is_made_by(crossing: Crossing, changes: Contents) -> bool:
    """Whether changes that begin on the source of a crossing end as it does."""
    becomes = changes.get(crossing.destination)
    if becomes is None or kind(becomes) != kind(crossing.piece):
        return False
    return any(piece is not None for each, piece in changes.items() if each != crossing.destination)


def facing(board: Board, square: str, piece: str | None) -> Iterator[tuple[str, list[Threat]]]:
    """What a royal piece on a square would take if it went along its file or rank: a threat for each place there."""
    lattice = Lattice.of(board)
    if lattice is None or piece is None:
        return
    for place, passed in lattice.ahead(square):
        yield place, [Threat(piece, square, side_of(piece), passed, ((place, ENEMY, None),), {}, {})]


def pass_of(piece: str, square: str) -> Move:
    """The move that only passes the turn, said of a piece."""
    return Move(piece, square, square, 0, {}, {}, Transition())


def leaps(play: Play, move: Move) -> bool:
    """Whether it is one of the far moves that no-leap-from-check is about."""
    duty = play.duty("no-leap-from-check")
    if duty is None or move.piece not in duty.pieces or move.source == HAND:
        return False
    try:
        ways = zip(cell.parse(move.source), cell.parse(move.destination), strict=True)
        return max(abs(a - b) for a, b in ways) > 1
    except (NotationError, ValueError):
        return False


def promoted(play: Play, move: Move) -> str | None:
    """The kind of what a move makes, where a game limits how many there are of it."""
    becomes = _made(move)
    if becomes is None:
        return None
    limit = "royal-promotion-limit" if is_royal(becomes) else "promotion-limit"
    return kind(becomes) if play.duty("promotion-limit") or play.duty(limit) else None


def _made(move: Move) -> str | None:
    """What a move promotes its piece to."""
    becomes = displaced(move).effects.board.get(move.destination)
    return None if becomes is None or move.source == HAND or kind(becomes) == kind(move.piece) else becomes


def started(start: Position | None) -> Counter[str]:
    """How many pieces of each kind the start position has, on the board and in hands."""
    if start is None:
        return Counter()
    found = Counter(kind(piece) for piece in start.board.values() if piece is not None)
    for piece, count in (start.hands or {}).items():
        found[kind(piece)] += count
    return found


def may_not_check(play: Play, move: Move) -> bool:
    """Whether a move is forbidden if it attacks a royal piece of the other side."""
    return (
        play.duty("no-checks") is not None
        or (move.source == HAND and play.duty("no-drop-checks") is not None)
        or (play.duty("no-promotion-checks") is not None and _made(move) is not None)
    )


def may_not_mate(play: Play, move: Move) -> bool:
    """Whether a move is forbidden if it mates."""
    duty = play.duty("no-drop-mate")
    return duty is not None and move.source == HAND and move.piece in duty.pieces


def must_drop(play: Play, move: Move) -> bool:
    """Whether a move is a drop that comes before anything else."""
    duty = play.duty("mandatory-drop")
    return duty is not None and move.source == HAND and (not duty.pieces or move.piece in duty.pieces)


def kind(piece: str) -> str:
    """A piece without its state and its mark: which letter of which side."""
    identifier = qpi.parse(piece)
    return f"{identifier.side} {identifier.letter}"


_OF_SEVERAL: Final = ("spare-royal", "duple-check")
_AMONG_ALL: Final = ("mandatory-capture", "last-actions")
# Rules that ask of a move whether it may be made; the one that looks further ahead is asked last.
_RULES: Final[Mapping[str, Callable[[Legality, Position, Move], bool]]] = {
    "no-checks": Legality._may_check,
    "no-drop-checks": Legality._may_check,
    "no-promotion-checks": Legality._may_check,
    "no-flight": Legality._may_flee,
    "no-leap-from-check": Legality._may_leap,
    "promotion-limit": Legality._may_promote,
    "royal-promotion-limit": Legality._may_promote,
    "no-drop-mate": Legality._may_mate,
}
