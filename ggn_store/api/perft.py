"""Perft in the engine that the caller names: moves made by the thousand, and paths of them counted."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from ggn_store.api.chains import Chains
from ggn_store.api.handle import Handle
from ggn_store.errors import MoveError, StoreError, offer, quote
from ggn_store.model.move import Assumption, Move, check_assumption
from ggn_store.model.perft import Perft
from ggn_store.model.position import Position
from ggn_store.store.database import address
from ggn_store.store.database.engine import Database
from ggn_store.store.moves import perft as store_perft
from ggn_store.store.moves.fast import EVERYTHING
from ggn_store.store.moves.perft import Plies
from ggn_store.store.moves.planes import Compiled, compile_rules

Engine = Literal["sqlite", "postgres", "duckdb"]
ENGINES: Final[tuple[Engine, ...]] = ("sqlite", "postgres", "duckdb")


@dataclass(frozen=True, slots=True)
class Asked:
    """How deep to go and how; see `Ruleset.perft`."""

    depth: int
    engine: str | None = None
    divide: bool = False
    assume: Assumption | None = None
    merge: bool = True


def perft(chains: Chains, position: Position, asked: Asked) -> Perft:
    """Count the paths of `depth` moves; what `Ruleset.perft` says."""
    handle, depth = chains.handle, asked.depth
    database = handle.session.database
    name = _engine(database, asked.engine)
    check_assumption(asked.assume)
    _require_depth(depth, least=1 if asked.divide else 0)
    position = handle.on_board(position)
    if not depth:
        return Perft(0, 1, None, name, 0.0, 0.0)
    if handle.variables:
        return _stepwise(chains, _own_engine(handle, asked.engine), position, asked)
    clock = _Clock()
    if not asked.divide:
        with _plies(handle, [position], depth, name, asked.assume) as (_, plies):
            counter = plies.counter(depth, asked.merge)
            clock.compiled()
            [count] = counter()
        return Perft(depth, count, None, name, *clock.times())
    moves = chains.moves.one(position, EVERYTHING, asked.assume, "fast")
    after = [chains.apply(position, move, asked.assume) for move in moves]
    if depth == 1 or not moves:
        clock.compiled()
        return _divided(depth, moves, [1] * len(moves), name, clock)
    with _plies(handle, after, depth - 1, name, asked.assume) as (_, plies):
        counter = plies.counter(depth - 1, asked.merge)
        clock.compiled()
        counts = counter()
    return _divided(depth, moves, counts, name, clock)


def reached(
    chains: Chains, positions: Sequence[Position], depth: int, engine: str | None, assume: Assumption | None
) -> list[list[tuple[Position, int]]]:
    """The different positions after `depth` moves from each of some; what `Ruleset.reached` says."""
    handle = chains.handle
    name = _engine(handle.session.database, engine)
    check_assumption(assume)
    _require_depth(depth, least=0)
    positions = [handle.on_board(each) for each in positions]
    if handle.variables:
        _own_engine(handle, engine)
        return [_go_on(chains, [(each, 1)], depth, merge=True) for each in positions]
    found: list[list[tuple[Position, int]]] = [[] for _ in positions]
    # Hands that are not known are not carried.
    for is_known in (True, False):
        numbers = [number for number, each in enumerate(positions) if (each.hands is not None) == is_known]
        if not numbers:
            continue
        some = [positions[number] for number in numbers]
        with _plies(handle, some, depth, name, assume) as (compiled, plies):
            for root, state, weight in plies.reached(depth):
                found[numbers[root]].append((compiled.position(state, some[root]), weight))
    return found


# --- rules with state variables, which are no part of the planes: each move is asked for, and made here ---


def _own_engine(handle: Handle, engine: str | None) -> str:
    database = handle.session.database
    if engine not in (None, database.name):
        raise StoreError(
            f"{handle.revision} has state variables ({offer(list(handle.variables))}), of which the engine "
            f"{quote(engine)} knows nothing: leave the engine out, and the store itself is asked for every move"
        )
    return database.name


def _stepwise(chains: Chains, name: str, position: Position, asked: Asked) -> Perft:
    clock, depth = _Clock(), asked.depth
    clock.compiled()
    if not asked.divide:
        count = sum(weight for _, weight in _go_on(chains, [(position, 1)], depth, asked.merge))
        return Perft(depth, count, None, name, *clock.times())
    moves = chains.moves.one(position, EVERYTHING, None, "fast")
    after = [_go_on(chains, [(chains.apply(position, move, None), 1)], depth - 1, asked.merge) for move in moves]
    return _divided(depth, moves, [sum(weight for _, weight in each) for each in after], name, clock)


def _go_on(chains: Chains, weighed: list[tuple[Position, int]], depth: int, merge: bool) -> list[tuple[Position, int]]:
    """The positions after `depth` moves from some, with how many paths lead there; equal ones are one with `merge`."""
    for _ in range(depth):
        answers = chains.moves.many([position for position, _ in weighed], EVERYTHING, None, "fast")
        after = [
            (chains.apply(position, move, None), weight)
            for (position, weight), moves in zip(weighed, answers, strict=True)
            for move in moves
        ]
        weighed = _merged(after) if merge else after
    return weighed


def _merged(weighed: list[tuple[Position, int]]) -> list[tuple[Position, int]]:
    found: dict[Hashable, tuple[Position, int]] = {}
    for position, weight in weighed:
        parts = (position.board, position.hands, position.state)
        key = position.side, *(None if each is None else frozenset(each.items()) for each in parts)
        found[key] = position, weight + (found[key][1] if key in found else 0)
    return list(found.values())


class _Clock:
    """Seconds until the rules were compiled, and from then on."""

    def __init__(self) -> None:
        self._began = self._compiled = time.perf_counter()

    def compiled(self) -> None:
        self._compiled = time.perf_counter()

    def times(self) -> tuple[float, float]:
        return self._compiled - self._began, time.perf_counter() - self._compiled


def _divided(depth: int, moves: Sequence[Move], counts: Sequence[int], engine: str, clock: _Clock) -> Perft:
    return Perft(depth, sum(counts), tuple(zip(moves, counts, strict=True)), engine, *clock.times())


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


def _require_depth(depth: int, least: int) -> None:
    if depth < least:
        raise MoveError(f"a depth of {depth} moves: paths have at least {least}")


@contextmanager
def _plies(
    handle: Handle, positions: Sequence[Position], depth: int, engine: str, assume: Assumption | None
) -> Iterator[tuple[Compiled, Plies]]:
    with handle.opened() as opened:
        compiled = compile_rules(opened, positions, depth, assume)
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
