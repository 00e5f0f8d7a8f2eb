"""Several moves made together: the chains of a position, and paths of squares that are typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ggn_store.errors import MoveError, UnknownNameError, printable, quote
from ggn_store.model.chain import MAX_STEPS, Chain
from ggn_store.model.move import Assumption, Move
from ggn_store.model.position import Position
from ggn_store.notation.hand import HAND
from ggn_store.store import chains as stored
from ggn_store.store import engine
from ggn_store.store.chains import Chained

if TYPE_CHECKING:
    from ggn_store.api.ruleset import Ruleset


def chains(
    ruleset: Ruleset,
    database: engine.Database,
    position: Position,
    piece: str | None,
    source: str | None,
    destination: str | None,
) -> tuple[Chain, ...]:
    """The chains of a position: `Ruleset.chains`."""
    return tuple(_found(ruleset, database, position, _asked(ruleset, piece, source, destination)))


def explain(
    ruleset: Ruleset,
    database: engine.Database,
    position: Position,
    piece: str | None,
    source: str | None,
    destination: str | None,
) -> tuple[str, list[str]]:
    """The SQL that `chains` asks: `Ruleset.explain_chains`."""
    asked = _asked(ruleset, piece, source, destination)
    board, position = ruleset.board, ruleset.on_board(position)
    with database.reading() as connection:
        return stored.explain(database, connection, ruleset.revision, board, position, asked)


def along(
    ruleset: Ruleset,
    database: engine.Database,
    position: Position,
    path: Sequence[str],
    piece: str | None,
    assume: Assumption | None,
) -> tuple[Move, ...] | tuple[Chain, ...]:
    """The moves or chains along a path: `Ruleset.along`."""
    path = _checked(ruleset, path)
    position = ruleset.on_board(position)
    single = ruleset.moves(position, piece=piece, source=path[0], destination=path[1], assume=assume)
    if len(path) == 2:
        if not single:
            raise MoveError(f"{_written(path)}: the position does not allow this move to {position.side}")
        return tuple(single)
    begun = _found(ruleset, database, position, Chained(piece=piece, path=path))
    found = tuple(chain for chain in begun if chain.path == path)
    if not found:
        raise MoveError(f"{_written(path)}: {_why_not(ruleset, position, path, single, begun)}")
    return found


def apply(
    ruleset: Ruleset,
    database: engine.Database,
    position: Position,
    move: Chain | Sequence[str],
    assume: Assumption | None,
) -> Position:
    """The position after all steps of a chain or a path: `Ruleset.apply`."""
    if isinstance(move, Chain):
        found = along(ruleset, database, position, move.path, move.piece, assume)
        chosen = [each for each in found if isinstance(each, Chain) and each.steps == move.steps]
        if not chosen:
            raise MoveError(f"{_written(move.path)}: this position allows other steps along this path")
        return chosen[0].after
    found = along(ruleset, database, position, move, None, assume)
    if len(found) > 1:
        raise MoveError(f"{_written(move)}: {len(found)} possibilities hold: choose one of `along`")
    return found[0].after if isinstance(found[0], Chain) else ruleset.apply(position, found[0], assume=assume)


def _asked(ruleset: Ruleset, piece: str | None, source: str | None, destination: str | None) -> Chained:
    if piece is not None:
        ruleset.select(piece)
    for square in (source, destination):
        ruleset.require_square(square)
    return Chained(piece, source, destination)


def _found(ruleset: Ruleset, database: engine.Database, position: Position, asked: Chained) -> list[Chain]:
    if ruleset.dialect != "gdl":
        return []  # no other names the actions of its possibilities
    board, position = ruleset.board, ruleset.on_board(position)
    with database.reading() as connection:
        return stored.chains(database, connection, ruleset.revision, board, position, asked)


def _checked(ruleset: Ruleset, path: Sequence[str]) -> tuple[str, ...]:
    if isinstance(path, str) or not all(isinstance(square, str) for square in path):
        raise MoveError(f"{quote(path)} is no path: a list of squares")
    if not 2 <= len(path) <= MAX_STEPS + 1:
        raise MoveError(f"a path has from 2 to {MAX_STEPS + 1} squares, not {len(path)}")
    for number, square in enumerate(path):
        try:
            ruleset.require_square(square)
        except UnknownNameError as error:
            raise MoveError(f"{_written(path)}: step {max(number, 1)}: {error}") from None
    return tuple(path)


def _why_not(
    ruleset: Ruleset, position: Position, path: tuple[str, ...], single: Sequence[Move], begun: Sequence[Chain]
) -> str:
    """What is wrong with the first step of a path that is not possible."""
    reached = max((len(chain.steps) for chain in begun), default=0)
    said = f"step {reached + 1}, {_written(path[reached : reached + 2])}, is not possible"
    if reached == 0:
        there = single
    else:
        left = next(chain.after for chain in begun if len(chain.steps) == reached)
        left = replace(left, side=position.side)
        if path[reached] == HAND:
            return f"{said}: what is in the hand goes no further"
        there = ruleset.moves(left, source=path[reached], destination=path[reached + 1])
    if any(move.chainable for move in there):
        return f"{said}: the position before it has been there already, and such a path goes no further"
    if there:
        names = " and ".join(sorted({quote(move.action) for move in there if move.action is not None}))
        return f"{said} in a path of several steps: {names or 'it'} cannot be chained"
    return said


def _written(path: Sequence[str]) -> str:
    return printable(" ".join(path))
