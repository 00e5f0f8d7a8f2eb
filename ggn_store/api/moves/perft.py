"""Perft in the engine that the caller names: moves made by the thousand, and paths of them counted."""

from __future__ import annotations

import itertools
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Literal, TypedDict

from ggn_store import limits
from ggn_store.api.handle import Handle
from ggn_store.api.moves import outcomes
from ggn_store.api.moves.legal import Legal
from ggn_store.errors import MoveError, StoreError, offer, quote
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Assumption, Move, check_assumption
from ggn_store.model.moves.perft import Perft
from ggn_store.model.moves.position import Position
from ggn_store.store.database import address
from ggn_store.store.database.engine import Database
from ggn_store.store.moves import perft as store_perft
from ggn_store.store.moves import royals
from ggn_store.store.moves.fast import EVERYTHING
from ggn_store.store.moves.perft import Plies
from ggn_store.store.moves.planes import CompiledRules, PlyRules, compile_rules

PerftEngine = Literal["sqlite", "postgres", "duckdb"]
ENGINES: Final[tuple[PerftEngine, ...]] = ("sqlite", "postgres", "duckdb")


class PerftOptions(TypedDict, total=False):
    """How paths are counted; see `Ruleset.perft`."""

    engine: str | None
    divide: bool
    assume: Assumption | None
    merge: bool
    legal: bool
    stop_at_end: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """How deep to go, and how: `PerftOptions` with their defaults."""

    depth: int
    engine: str | None = None
    divide: bool = False
    assume: Assumption | None = None
    merge: bool = True
    legal: bool = False
    stop_at_end: bool = False


def perft(judged: outcomes.Judged, legal: Legal, position: Position, asked: Wanted) -> Perft:
    """Count the paths of `depth` moves; what `Ruleset.perft` says."""
    handle, depth = legal.handle, asked.depth
    name = _engine(handle.session.database, asked.engine)
    check_assumption(asked.assume)
    require_depth(depth, least=1 if asked.divide else 0)
    position = handle.ready(position)
    if not depth:
        return Perft(0, 1, None, name, 0.0, 0.0)
    step = _Step(legal, asked, judged if asked.stop_at_end and outcomes.may_end_at_once(judged.play) else None)
    clock = _Clock()
    if not asked.divide:
        [count] = _counts(step, [position], depth, name, clock)
        return Perft(depth, count, None, name, *clock.times())
    moves = step.moves([position])[0]
    after = [step.after(position, move) for move in moves]
    counts = _counts(step, after, depth - 1, name, clock) if depth > 1 and moves else [1] * len(moves)
    clock.compiled()
    return Perft(depth, sum(counts), tuple(zip(moves, counts, strict=True)), name, *clock.times())


def _counts(step: _Step, positions: Sequence[Position], depth: int, engine: str, clock: _Clock) -> list[int]:
    """For each position how many paths of `depth` moves, at least one, lead on."""
    handle, asked = step.legal.handle, step.asked
    # Plies know nothing of ends, nor of chains, which only game descriptions have; columns do of chains.
    is_known = step.arbiter is None and not is_beyond_plies(handle)
    if is_known and not (asked.legal and handle.revision.dialect == "gdl"):
        with suppress(royals.NotJudgedError), _plies(handle, positions, depth, engine, asked) as (_, plies):
            counter = plies.counter(depth, asked.merge)
            clock.compiled()
            return counter()
    if step.arbiter is None and asked.legal and engine == "duckdb" and handle.revision.dialect == "gdl":
        from ggn_store.api.moves.columns import Columns

        counts = Columns(handle).paths(positions, depth)
        clock.compiled()
        if counts is not None:
            return counts
    _own_engine(handle, asked.engine)
    clock.compiled()
    return [_total(step, position, depth) for position in positions]


def reached(legal: Legal, positions: Sequence[Position], depth: int, asked: Wanted) -> list[list[tuple[Position, int]]]:
    """The different positions after `depth` moves from each of some; what `Ruleset.reached` says."""
    handle = legal.handle
    name = _engine(handle.session.database, asked.engine)
    check_assumption(asked.assume)
    require_depth(depth, least=0)
    positions = [handle.ready(each) for each in positions]
    if is_beyond_plies(handle):
        _own_engine(handle, asked.engine)
        step = _Step(legal, asked)
        return [_go_on(step, [(each, 1)], depth) for each in positions]
    found: list[list[tuple[Position, int]]] = [[] for _ in positions]
    # Hands that are not known are not carried.
    for is_known in (True, False):
        numbers = [number for number, each in enumerate(positions) if (each.hands is not None) == is_known]
        if not numbers:
            continue
        some = [positions[number] for number in numbers]
        with _plies(handle, some, depth, name, asked) as (compiled, plies):
            for root, state, weight in plies.reached(depth):
                found[numbers[root]].append((compiled.position(state, some[root]), weight))
    return found


# --- what plies know nothing of (state variables, most duties): each move is asked for, and made here ---


def is_beyond_plies(handle: Handle) -> bool:
    """Whether plies know nothing of what a position says, or of what becomes of it."""
    return bool(handle.variables) or handle.play.takes_off or handle.play.duty("forced-pass") is not None


def _own_engine(handle: Handle, engine: str | None) -> None:
    database = handle.session.database
    if engine is not None and engine != database.name:
        raise unknown_to(handle, engine)


def unknown_to(handle: Handle, engine: str) -> StoreError:
    """What to say where an engine knows nothing of what the rules have."""
    whose = f"state variables ({offer(list(handle.variables))})" if handle.variables else "duties, chains or ends"
    return StoreError(
        f"{handle.revision} has {whose}, of which the engine {quote(engine)} knows nothing: leave the engine out, "
        "and the store itself is asked for every move"
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """How moves are found and made, one position at a time."""

    legal: Legal
    asked: Wanted
    arbiter: outcomes.Judged | None = None
    """Whose outcomes end paths, if any do."""

    def moves(self, positions: Sequence[Position]) -> list[list[Move | Chain]]:
        """For each position its moves, of legal ones also chains, each of which is one; none where a game has ended."""
        legal, assume = self.legal, self.asked.assume
        going_on = [self.arbiter is None or not outcomes.has_ended(self.arbiter, each) for each in positions]
        left = [*itertools.compress(positions, going_on)]
        if self.asked.legal:
            made: Iterator[list[Move | Chain]] = (
                [*legal.moves(each, EVERYTHING, assume), *legal.chains(each)] for each in left
            )
        else:
            found = legal.chains_of.moves.many(left, EVERYTHING, assume, "fast")
            made = ([*moves, *legal.duties.passes(each)] for each, moves in zip(left, found, strict=True))
        return [next(made) if goes_on else [] for goes_on in going_on]

    def after(self, position: Position, move: Move | Chain) -> Position:
        made = self.legal.chains_of.apply(position, move, self.asked.assume)
        return made if self.arbiter is None else outcomes.counted(self.arbiter, position, made)


def _total(step: _Step, position: Position, depth: int) -> int:
    before = _go_on(step, [(position, 1)], depth - 1)
    total = 0
    for (last, weight), moves in zip(before, step.moves([each for each, _ in before]), strict=True):
        for move in moves:
            if _draws(move):
                step.after(last, move)  # or it is no move
        total += weight * len(moves)
    return total


def _draws(move: Move | Chain) -> bool:
    """Whether a move takes a piece from a hand."""
    steps = move.steps if isinstance(move, Chain) else (move,)
    return any(delta < 0 for each in steps if each.has_effects for delta in each.effects.hands.values())


def _go_on(step: _Step, weighed: list[tuple[Position, int]], depth: int) -> list[tuple[Position, int]]:
    """The positions after `depth` moves from some, with how many paths lead there."""
    for _ in range(depth):
        answers = step.moves([position for position, _ in weighed])
        after = [
            (step.after(position, move), weight)
            for (position, weight), moves in zip(weighed, answers, strict=True)
            for move in moves
        ]
        weighed = _merged(after) if step.asked.merge else after
    return weighed


def _merged(weighed: list[tuple[Position, int]]) -> list[tuple[Position, int]]:
    found: dict[Hashable, tuple[Position, int]] = {}
    for position, weight in weighed:
        parts = (position.board, position.hands, position.state)
        checks = position.counters and position.counters.checks
        key = position.side, checks, *(None if each is None else frozenset(each.items()) for each in parts)
        found[key] = position, weight + (found[key][1] if key in found else 0)
    return list(found.values())


class _Clock:
    """Seconds until the rules were compiled, and from then on."""

    def __init__(self) -> None:
        self._began = self._compiled = time.perf_counter()

    def compiled(self) -> None:
        if self._compiled == self._began:
            self._compiled = time.perf_counter()

    def times(self) -> tuple[float, float]:
        return self._compiled - self._began, time.perf_counter() - self._compiled


def _engine(database: Database, engine: str | None) -> str:
    """The name of the engine that is meant: if none is named the store's own, or SQLite where that makes no tables."""
    own = database.name
    if engine is not None and engine not in ENGINES:
        raise StoreError(f"{quote(engine)} is not an engine: {offer(ENGINES)}")
    if engine == "postgres" and own != engine:
        raise StoreError(f"{database} is not a Postgres store: leave the engine out to count in it")
    if database.sender is None:
        return engine or own
    if engine == own:
        raise StoreError(
            f"{database}: moves cannot be made in this database, which lets you make no temporary tables: leave the "
            "engine out, and they are made in SQLite, in this process"
        )
    return engine or "sqlite"


def require_depth(depth: int, least: int) -> None:
    """Raise MoveError for a depth of fewer moves, or beyond the limit: counts would be too long to write."""
    if not isinstance(depth, int):
        raise MoveError(f"a depth is a number of moves, not {quote(depth)}")
    if depth < least:
        raise MoveError(f"a depth of {depth} moves: paths have at least {least}")
    if depth > limits.PERFT_DEPTH.most:
        raise MoveError(f"the depth is too large: paths have at most {limits.PERFT_DEPTH.most:,} moves")


@contextmanager
def _plies(
    handle: Handle, positions: Sequence[Position], depth: int, engine: str, asked: Wanted
) -> Iterator[tuple[CompiledRules, Plies]]:
    way = PlyRules(asked.assume, handle.play, asked.legal, handle.pieces)
    with handle.opened() as opened:
        compiled = compile_rules(opened, positions, depth, way)
        if engine == opened.database.name:
            yield compiled, store_perft.StorePlies(opened.database, opened.connection, compiled)
            return
    if engine == "duckdb":
        from ggn_store.columnar import perft as columnar

        with columnar.plies(compiled) as plies:
            yield compiled, plies
        return
    # SQLite needs nothing but the compiled rules, wherever they come from.
    other = address.connect("sqlite://")
    try:
        with other.reading() as connection:
            yield compiled, store_perft.StorePlies(other, connection, compiled)
    finally:
        other.close()
