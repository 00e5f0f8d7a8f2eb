"""What legality asks of a revision, as tables of columns: threats on royal pieces (`model.moves.legality`), trials.

What the other duties ask is in the tables at the end.

    threat    sight, aim (square), royal (class), source (square), needs (mask): the piece of the sight on `source` can
              take a royal piece of the class on `aim` if all these bits of the sight's word are true
    lack      sight, bit (mask), place: what each bit of the word of a sight is about
    about     sight, place, content (class), touched, holding (masks): which bits are about a place, and which of these
              are true when such a content is there
    change    trial, place, content (class), gives: what a trial leaves on a place, and how many bits all of it can make
              true; the trial of a possibility has its number
    entering  possibility, trial: the same, if what enters were no shield (gating)
    aim       possibility, trial, aim, royal, gives: a square on which a royal piece stands in a trial because of the
              possibility, which castling crosses, or which a move must not be made from while it is attacked
    made      trial, made: how many royal pieces a possibility leaves on squares that it changes, of its own trials only
    promotion possibility, kind, most: what a promotion makes, and how many of this there may be before it
    dropped   possibility: a drop that comes before anything else
    takes     possibility, place: a capture if an enemy stands there
    ahead     possibility, mates: it must not give check, or, if it `mates`, must not mate
    chained   possibility: a step of chains

A *sight* is up to 63 facts that threats of a piece on a source ask for, as the other side sees them. A place is a
square's number or, behind these, a state variable's. Contents that no threat tells apart are a class, and so are royal
pieces.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.columnar.compile import Compiled, rows_table
from ggn_store.columnar.lanes import NOTHING, PIECES, UNKNOWN, passing
from ggn_store.columnar.sql import AHEAD, CAPTURES, LIMITS, SAFE
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.model.moves import legality
from ggn_store.model.moves.legality import crossed_by, facing, is_made_by
from ggn_store.model.moves.move import Move, displaced
from ggn_store.model.moves.play import PREFERENCES, Play
from ggn_store.model.moves.position import Position
from ggn_store.model.moves.threats import Threat, enters, reach
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import is_royal, side_of
from ggn_store.store.moves.royals import NotJudgedError

# Duties that ask for attacks.
_OF_SOURCE: Final = frozenset(("no-flight", "no-leap-from-check"))
_ATTACKS: Final = SAFE | AHEAD | _OF_SOURCE
_OF_MOVES: Final = ("pass", "mandatory-drop", CAPTURES)
_OF_CHAINS: Final = tuple(map(frozenset, ((), ("mandatory-drop",), (CAPTURES,))))
# The number of a royal piece that the ruleset does not know.
ROYAL: Final = -2
_WORD: Final = 63
# What a trial leaves on a place where it only counts that no attacker is there: no fact changes.
_TAKEN: Final = -1
# A place, and the codes there that a fact is true of, as bits.
FactNumbers = tuple[int, int]
_Row = tuple[int, ...]
_Changes = Mapping[str, str | None]
# An aim, the threats on what stands there, and whether these are how royal pieces must not face each other.
_Threatened = tuple[str, Sequence[Threat], bool]

_COLUMNS: Final = {
    "threat": "sight aim royal source needs:mask",
    "lack": "sight bit:mask place",
    "about": "sight place content touched:mask holding:mask",
    "change": "trial place content gives",
    "entering": "possibility trial",
    "aim": "possibility trial aim royal gives",
    "made": "trial made",
    "promotion": "possibility kind most",
    "dropped": "possibility",
    "takes": "possibility place",
    "ahead": "possibility mates",
    "chained": "possibility",
}
TABLES: Final = tuple(_COLUMNS)


@dataclass(frozen=True, slots=True)
class ThreatTables:
    """What is compiled for legality: the tables, and what encoding positions takes.

    `pieces` have the numbers of the compiled ruleset, those that marked pieces become behind them. `sights` are piece,
    square and facts of each sight, together where these are of one start. `royals` are the classes of royal pieces by
    number, `unknown` that of one which the ruleset does not know. No trial makes more than `gives` bits true (None:
    there are no trials). `ways` are the squares that matter while a royal piece stands on a square, None where others
    do, too.

    `duties` are the names of all. `passes` are possibilities behind those of the rules, from the number `first_pass`
    on: for each piece, which has its rank in `passing`, the passes on each square. `kinds` are the pieces that
    promotions are limited of, by number; `steps` what possibilities change, those in `ahead`, and where any is in
    `chained`, all.
    """

    pieces: tuple[str, ...]
    reverts: Mapping[int, int]
    sights: Sequence[tuple[int, int, Sequence[FactNumbers]]]
    royals: Mapping[int, int]
    unknown: int
    gives: int | None
    ways: Mapping[int, frozenset[int]] | None
    tables: Mapping[str, Any]
    duties: frozenset[str]
    passes: Sequence[Move]
    first_pass: int
    passing: Mapping[int, int]
    kinds: Mapping[int, int]
    steps: Mapping[int, StepChanges]

    @property
    def is_idle(self) -> bool:
        """Whether they forbid nothing."""
        return self.gives is None and self.duties.isdisjoint((*AHEAD, *LIMITS, *_OF_MOVES))

    @property
    def goes_on(self) -> bool:
        """Whether captures are mandatory, and one piece may go on capturing."""
        return CAPTURES in self.duties and self.has_chains

    @property
    def has_chains(self) -> bool:
        """Whether one piece may go on."""
        return bool(self.tables["chained"].num_rows)


@dataclass(frozen=True, slots=True)
class StepChanges:
    """What a possibility changes: codes by place, hands by the number of a piece, and whether the turn passes.

    A code is that of a square, twice the piece's number and 1 for the first side's (None: nothing), or of a variable.
    It ends on a square, by its number, or with -1 in the hand.
    """

    squares: Mapping[int, int | None]
    state: Mapping[int, int]
    hands: Mapping[int, int]
    toggle: bool
    end: int


def can_judge(play: Play) -> bool:
    """Whether tables can hold the duties of a game; whether they can hold what its moves do is seen of these."""
    return not (play.takes_off or play.blasts or any(play.duty(name) for name in (*PREFERENCES, "forced-pass")))


def compile_threats(
    compiled: Compiled, moves: Sequence[Move], play: Play, board: Board, rules: tuple[Sequence[str], Position | None]
) -> ThreatTables:
    """What legality asks of a revision whose possibilities are these moves, with its pieces and start position.

    Raises NotJudgedError where tables cannot say what a possibility does to royal pieces, which captures are preferred,
    that nothing else can be done than to pass, what leaves the board with its mark, or what a chain leaves attacked.
    """
    if not can_judge(play):
        raise NotJudgedError
    has_chains = any(move.chainable for move in moves)
    if has_chains and {duty.name for duty in play.duties} - {"clear-marks", "pass"} not in _OF_CHAINS:
        raise NotJudgedError
    listed = compiled.tables["piece"]["identifier"].to_pylist()
    pieces = dict.fromkeys([*listed, *play.reverts, *play.reverts.values()])
    own, start = rules
    passing = sorted(own, key=lambda piece: not is_royal(piece)) if play.duty("pass") else []
    passes = [legality.pass_of(piece, square) for piece in passing for square in board.squares]
    everything = [*moves, *passes]
    builder = _Builder(compiled, tuple(pieces), play, board, len(everything))
    builder.has_chains = has_chains
    builder.see(moves)
    limits = legality.started(start)
    for number, move in enumerate(everything):
        if builder.is_tried:
            builder.try_out(number, move)
        builder.limit(number, move, limits)
    return builder.threats(passes, passing)


class _Classes(dict[int, int]):
    """Code -> the number of its class: codes of which the same facts are true are in one."""

    def __init__(self, truths: Iterable[int]) -> None:
        super().__init__()
        self._truths = [*dict.fromkeys(truths)]
        self._known: dict[tuple[int, ...], int] = {}

    def __missing__(self, code: int) -> int:
        holds = tuple(truth >> code & 1 for truth in self._truths)
        number = self[code] = self._known.setdefault(holds, len(self._known))
        return number


class _Builder:
    """The rows, threat by threat and trial by trial."""

    def __init__(self, compiled: Compiled, pieces: tuple[str, ...], play: Play, board: Board, first: int) -> None:
        """Of a game whose trials beside those of possibilities are numbered from `first` on."""
        self._trials = first
        self._play, self._board = play, board
        self._pieces = pieces
        self._numbers = {each: number for number, each in enumerate(pieces)}
        # What castling brings over a square has its code and so many more: no facing piece threatens it there.
        self._codes = PIECES + 2 * len(pieces)
        self._variables = compiled.metadata["variables"]
        self._state = {name: len(board.numbers) + number for number, name in enumerate(self._variables)}
        self.sights: list[tuple[int, int, dict[FactNumbers, int]]] = []
        self._rows: dict[str, list[_Row]] = {name: [] for name in TABLES}
        # Sight, aim, what has to be true of the royal piece, source, needs.
        self._threats: dict[tuple[int, int, int, int, int], None] = {}
        self._changes: list[tuple[int, list[tuple[int, int]]]] = []
        self._aims: list[tuple[int, int, int, int]] = []
        self._ways: dict[int, set[int]] | None = {number: {number} for number in board.numbers.values()}
        self._names = frozenset(duty.name for duty in play.duties)
        self._is_safe = not self._names.isdisjoint(SAFE)
        self._rules = compiled.tables["possibility"].num_rows
        self._kinds: dict[str, int] = {}
        self._steps: dict[int, StepChanges] = {}
        self.has_chains = False

    # --- threats ---

    def see(self, moves: Sequence[Move]) -> None:
        """Add the threats of all starts."""
        found: dict[tuple[int, str], list[_Threatened]] = {}
        if self._names.isdisjoint(_ATTACKS):
            return
        if "flying-general" not in self._names or "royal-safety" in self._names:
            for (piece, source), of_start in itertools.groupby(moves, lambda move: (move.piece, move.source)):
                threats = [(aim, of_aim, False) for aim, of_aim in reach(of_start).threats.items()]
                found.setdefault((self._numbers[piece], source), []).extend(threats)
        if "flying-general" in self._names:
            royals = [number for number, piece in enumerate(self._pieces) if is_royal(piece)]
            for number, square in itertools.product([*royals, ROYAL], self._board.squares):
                # Which one it is makes no difference to what it faces.
                threats = [(aim, of_aim, True) for aim, of_aim in facing(self._board, square, "X:X^")]
                found.setdefault((number, square), []).extend(threats)
        for start, of_piece in found.items():
            self._add(*start, of_piece)

    @property
    def is_tried(self) -> bool:
        """Whether anything is asked of attacks after moves."""
        return bool(self.sights) and not self._names.isdisjoint(SAFE | _OF_SOURCE)

    def _add(self, piece: int, source: str, threats: Iterable[_Threatened]) -> None:
        """Add the threats of a start, in as few sights as their facts take."""
        sight: dict[FactNumbers, int] = {}
        for aim, found, is_facing in threats:
            for threat in found:
                facts, on_aim = self._facts(threat, aim)
                if not is_facing:
                    on_aim |= on_aim << self._codes
                if len(facts) > _WORD:
                    raise NotJudgedError
                if not self.sights or self.sights[-1][2] is not sight or len(sight.keys() | set(facts)) > _WORD:
                    sight = {}
                    self.sights.append((piece, self._board.numbers[source], sight))
                needs = 0
                for fact in facts:
                    needs |= sight.setdefault(fact, 1 << len(sight))
                at = self._board.numbers[aim], on_aim, self._board.numbers[source]
                self._threats[len(self.sights) - 1, *at, needs] = None

    def _facts(self, threat: Threat, aim: str) -> tuple[list[FactNumbers], int]:
        """What a threat asks for beside its aim, and the codes that may stand there."""
        asked = dict.fromkeys(threat.empty, EMPTY)
        for square, must, deny in threat.facts:
            asked[square] = (must or "") + (f"!{deny}" if deny else "")
        on_aim = passing(asked.pop(aim, ""), self._numbers, self._codes)
        facts = [
            (self._board.numbers[square], passing(asked[square], self._numbers, self._codes))
            for square in sorted(asked)
        ]
        for name, values in threat.guards.items():
            known = self._variables[name]["values"]
            facts.append((self._state[name], sum(1 << known.index(value) for value in values)))
        return facts, on_aim

    # --- trials ---

    def try_out(self, number: int, move: Move) -> None:
        """Add the trials of a possibility."""
        effects = displaced(move).effects
        changes = effects.board
        side = side_of(move.piece)
        aims = len(self._aims)
        state = [self._value(*item) for item in effects.state.items()]
        if self._is_safe:
            if any(piece is not None and side_of(piece) != side for piece in changes.values()):
                raise NotJudgedError
            self._try(number, number, changes, state)
            if enters(move):
                trial = self._next()
                self._rows["entering"].append((number, trial))
                self._try(number, trial, {**changes, move.destination: None}, state)
            self._cross(number, move, state)
        self._stay(number, move)
        self._note_ways(move, {aim for _, _, aim, _ in self._aims[aims:]})

    def _stay(self, number: int, move: Move) -> None:
        """Add the trials of a move that an attack on its source forbids."""
        if move.source == HAND:
            return
        aim = self._board.numbers[move.source]
        if legality.leaps(self._play, move):
            trial = self._next()
            self._changes.append((trial, []))
            self._aims.append((number, trial, aim, self._code(move.piece)))
        taken = displaced(move).effects.board.keys() - {move.source}
        if "no-flight" in self._names and is_royal(move.piece) and taken:
            trial = self._next()
            self._changes.append((trial, []))
            self._rows["change"] += [(trial, self._board.numbers[square], _TAKEN, 0) for square in taken]
            self._aims.append((number, trial, aim, self._code(move.piece)))

    def _cross(self, number: int, move: Move, state: Sequence[tuple[int, int]]) -> None:
        """Add the trials of the squares that a castling crosses: what is there is attacked, and faces nobody."""
        changes = displaced(move).effects.board
        for crossing in self._crossings(move, changes):
            for square in crossing.through:
                if square != crossing.source and move.must.get(square) is None:
                    raise NotJudgedError
                crosses = {crossing.source: None, square: crossed_by(crossing, square, changes)}
                self._try(number, self._next(), crosses, state, square)

    def _note_ways(self, move: Move, aims: set[int]) -> None:
        """Note from where a possibility brings royal pieces onto squares."""
        if not aims or self._ways is None:
            return
        standing = {**move.must, move.source: move.piece}
        standing.pop(HAND, None)
        side = side_of(move.piece)
        royal = [
            square
            for square, state in standing.items()
            if state not in (EMPTY, ENEMY) and is_royal(state) and side_of(state) == side
        ]
        if royal:
            for square in royal:
                self._ways[self._board.numbers[square]] |= aims
        else:
            self._ways = None

    def _crossings(self, move: Move, changes: _Changes) -> Iterator[Any]:
        for crossing in self._play.crossing:
            if crossing.source in changes and is_made_by(crossing, changes):
                here = move.piece if crossing.source == move.source else move.must.get(crossing.source)
                if here is None:
                    raise NotJudgedError
                if here == crossing.piece:
                    yield crossing

    def _next(self) -> int:
        self._trials += 1
        return self._trials - 1

    def _try(
        self, number: int, trial: int, changes: _Changes, state: Sequence[tuple[int, int]], only: str | None = None
    ) -> None:
        coded = [(self._board.numbers[square], self._code(piece)) for square, piece in changes.items()]
        self._changes.append((trial, [*coded, *state]))
        royals = 0
        for square, piece in changes.items():
            if piece is not None and (square == only or (only is None and is_royal(piece))):
                code = self._code(piece) + (self._codes if square == only else 0)
                self._aims.append((number, trial, self._board.numbers[square], code))
                royals += 1
        if only is None:
            self._rows["made"].append((trial, royals))

    def _code(self, piece: str | None) -> int:
        return NOTHING if piece is None else PIECES + 2 * self._numbers[piece]

    def _value(self, name: str, value: str) -> tuple[int, int]:
        return self._state[name], self._variables[name]["values"].index(value)

    # --- other duties ---

    def limit(self, number: int, move: Move, most: Mapping[str, int]) -> None:
        """Add what other duties ask of a possibility; so many there may be of each kind."""
        rows, play = self._rows, self._play
        if kind := legality.promoted(play, move):
            rows["promotion"].append((number, self._kinds.setdefault(kind, len(self._kinds)), most.get(kind, 0)))
        if legality.must_drop(play, move):
            rows["dropped"].append((number,))
        if CAPTURES in self._names and move.transition is not None:
            rows["takes"] += [(number, self._board.numbers[square]) for square in move.transition.board]
        may_not_check = legality.may_not_check(play, move)
        is_ahead = may_not_check or legality.may_not_mate(play, move)
        if is_ahead:
            rows["ahead"].append((number, int(not may_not_check)))
        if move.chainable:
            rows["chained"].append((number,))
        if is_ahead or self.has_chains:
            effects = displaced(move).effects
            self._steps[number] = StepChanges(
                {self._board.numbers[square]: self._piece(piece) for square, piece in effects.board.items()},
                dict(self._value(*item) for item in effects.state.items()),
                {self._numbers[piece]: delta for piece, delta in effects.hands.items()},
                effects.toggle,
                self._board.numbers.get(move.destination, -1),
            )

    def _piece(self, piece: str | None) -> int | None:
        return None if piece is None else 2 * self._numbers[piece] + (side_of(piece) == "first")

    # --- tables ---

    def threats(self, passes: Sequence[Move], passing: Sequence[str]) -> ThreatTables:
        """What has been added, as tables."""
        squares = len(self._board.numbers)
        on_squares = {truth for *_, facts in self.sights for place, truth in facts if place < squares}
        contents, royals = _Classes(sorted(on_squares)), _Classes(sorted({key[2] for key in self._threats}))

        def content(place: int, code: int) -> int:
            return contents[code] if place < squares else code

        codes = {(place, code) for _, changed in self._changes for place, code in changed}
        rows = self._rows
        rows["about"] = list(self._about(codes, content))
        rows["lack"] = [
            (sight, bit, place) for sight, (*_, facts) in enumerate(self.sights) for (place, _), bit in facts.items()
        ]
        helpful = {(place, number) for _, place, number, _, holding in rows["about"] if holding}
        most = max((each.bit_count() for _, _, _, each, _ in rows["about"]), default=0)
        gives = {}
        for trial, changed in self._changes:
            changes = [(place, content(place, code)) for place, code in changed]
            gives[trial] = most * len(helpful.intersection(changes))
            rows["change"] += [(trial, *each, gives[trial]) for each in changes]
        rows["aim"] = [(number, trial, aim, royals[code], gives[trial]) for number, trial, aim, code in self._aims]
        of_royals = {number: royals[PIECES + 2 * number] for number, each in enumerate(self._pieces) if is_royal(each)}
        unknown = royals[UNKNOWN]
        classes = {royals[code]: code for code in [*royals]}
        rows["threat"] = [
            (sight, aim, royal, source, needs)
            for sight, aim, truth, source, needs in self._threats
            for royal, code in classes.items()
            if truth >> code & 1
        ]
        return ThreatTables(
            self._pieces,
            {self._numbers[marked]: self._numbers[plain] for marked, plain in self._play.reverts.items()},
            [(piece, square, tuple(facts)) for piece, square, facts in self.sights],
            of_royals,
            unknown,
            max(gives.values(), default=0) if self.is_tried else None,
            None if self._ways is None else {square: frozenset(aims) for square, aims in self._ways.items()},
            {name: rows_table(described, rows[name]) for name, described in _COLUMNS.items()},
            self._names,
            passes,
            self._rules,
            {self._numbers[piece]: rank for rank, piece in enumerate(passing)},
            {
                number: self._kinds[kind]
                for number, piece in enumerate(self._pieces)
                if (kind := legality.kind(piece)) in self._kinds
            },
            self._steps,
        )

    def _about(self, codes: Iterable[tuple[int, int]], content: Any) -> Iterator[_Row]:
        """What each content that a trial leaves on a place does to the facts of sights."""
        left: dict[int, dict[int, int]] = {}
        for place, code in codes:
            left.setdefault(place, {})[content(place, code)] = code
        for sight, (*_, facts) in enumerate(self.sights):
            places: dict[int, list[tuple[int, int]]] = {}
            for (place, truth), bit in facts.items():
                places.setdefault(place, []).append((truth, bit))
            for place, found in places.items():
                touched = sum(bit for _, bit in found)
                for number, code in left.get(place, {}).items():
                    yield sight, place, number, touched, sum(bit for truth, bit in found if truth >> code & 1)
