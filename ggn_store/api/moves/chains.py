"""Several moves made together: the chains of a position, paths of squares that are typed, and the board after them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ggn_store import limits
from ggn_store.api.handle import AnyPosition, as_position
from ggn_store.api.moves.moves import Moves, Narrowed
from ggn_store.errors import MoveError, UnknownNameError, printable, quote
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import DISPLACEMENT, Assumption, Move, displacement, no_effects
from ggn_store.model.moves.position import Position
from ggn_store.notation.hand import HAND
from ggn_store.notation.move_text import MoveText, OwnNotation, is_named
from ggn_store.store.moves import chains as stored
from ggn_store.store.moves.chains import Chained
from ggn_store.store.moves.fast import EVERYTHING


class Chains:
    """Moves and chains of moves, made in a position: what `Ruleset` says of `chains`, `along` and `apply`."""

    def __init__(self, moves: Moves) -> None:
        self.handle = moves.handle
        self.moves = moves

    def asked(self, narrowed: Narrowed) -> Chained:
        """What is asked: all chains, or those of one piece, source, destination, which must be there."""
        question = self.moves.asked(narrowed)
        return Chained(question.piece, question.source, question.destination)

    def of(self, position: Position, asked: Chained) -> list[Chain]:
        handle = self.handle
        if handle.revision.dialect != "gdl":
            return []  # no other names the actions of its possibilities
        position = handle.on_board(position)
        if asked == Chained() and not self._may_begin(position):
            return []
        with handle.opened() as opened:
            return stored.chains(opened, position, asked)

    def _may_begin(self, position: Position) -> bool:
        """Whether there is a first step, which is known at once, and in most positions there is none."""
        return any(move.chainable for move in self.moves.one(position, EVERYTHING, None, "fast"))

    def explain(self, position: Position, asked: Chained) -> tuple[str, list[str]]:
        placed = self.handle.on_board(position)
        with self.handle.opened() as opened:
            return stored.explain(opened, placed, asked)

    def along(
        self, position: AnyPosition, path: str | Sequence[str], piece: str | None, assume: Assumption | None
    ) -> tuple[Move, ...] | tuple[Chain, ...]:
        position = self.handle.ready(position)
        if not isinstance(path, str):
            path = self._path(path)
            return self._along(position, path, _written(path), piece, assume)
        return self.meant(position, self.parsed(path), printable(path), piece, assume)

    def meant(
        self, position: Position, read: MoveText, written: str, piece: str | None, assume: Assumption | None
    ) -> tuple[Move, ...] | tuple[Chain, ...]:
        """What a text that was read can mean on a board; raises MoveError where the position does not allow it."""
        along: Sequence[Move | Chain] = self._along(position, self._path(read.places), written, piece, assume)
        found = [
            each
            for number, each in enumerate(along, 1)
            if read.number in (None, number) and read.means(each.piece, _becomes(position, each))
        ]
        if not found:
            if read.number is None:
                raise MoveError(f"{written}: the position does not allow this move to {position.side}")
            raise MoveError(f"{written}: there is no possibility {read.number}; {len(along)} hold")
        return cast(tuple[Move, ...] | tuple[Chain, ...], tuple(found))

    def apply(self, position: AnyPosition, move: Move | Chain, assume: Assumption | None) -> Position:
        position = self.handle.stated(as_position(position))
        if isinstance(move, Move):
            return self._after(position, move, assume)
        along = self.along(position, move.path, move.piece, assume)
        chosen = [each for each in along if isinstance(each, Chain) and each.steps == move.steps]
        if not chosen:
            raise MoveError(f"{_written(move.path)}: this position allows other steps along this path")
        return self.handle.play.unmarked(chosen[0].after)

    def _along(
        self, position: Position, path: tuple[str, ...], written: str, piece: str | None, assume: Assumption | None
    ) -> tuple[Move, ...] | tuple[Chain, ...]:
        single = self._single(position, piece, path[0], path[1], assume)
        if len(path) == 2:
            if not single:
                raise MoveError(f"{written}: the position does not allow this move to {position.side}")
            return tuple(single)
        begun = self.of(position, Chained(piece=piece, path=path))
        found = tuple(chain for chain in begun if chain.path == path)
        if not found:
            raise MoveError(f"{written}: {self._why_not(position, path, single, begun)}")
        return found

    def _single(
        self, position: Position, piece: str | None, source: str, destination: str, assume: Assumption | None
    ) -> list[Move]:
        return self.moves.one(position, self.moves.question(piece, source, destination), assume, "fast")

    @functools.cached_property
    def notation(self) -> OwnNotation:
        """How moves on this board are written by their places."""
        return OwnNotation(self.handle.board.squares)

    def parsed(self, text: str) -> MoveText:
        """A move as text; what it names is of this ruleset."""
        try:
            read = self.notation.parse(text)
        except MoveError:
            words = text.split()
            if len(words) == 3 and ":" in words[0]:
                self.handle.require_piece(words[0])
                for square in words[1:]:
                    self.handle.require_square(square)
            raise
        if (
            read.piece is not None
            and ":" in read.piece
            and not any(is_named(read.piece, own) for own in self.handle.pieces)
        ):
            self.handle.require_piece(read.piece)
        return read

    def _after(self, position: Position, move: Move, assume: Assumption | None) -> Position:
        effects = move.transition
        if effects is None:
            if assume != DISPLACEMENT:
                raise no_effects(self.handle.revision)
            effects = displacement(move.piece, move.source, move.destination)
        play = self.handle.play
        before = play.unmarked(position)
        if move.source != HAND and move.piece not in (before.board.get(move.source), position.board.get(move.source)):
            raise MoveError(f"there is no {move.piece} on {move.source} in this position")
        if move.source == HAND and position.hands is not None and not position.hands.get(move.piece):
            raise MoveError(f"there is no {move.piece} in the hand in this position")
        return play.unmarked(before.after(effects))

    def _path(self, path: Sequence[str]) -> tuple[str, ...]:
        if not isinstance(path, Sequence) or not all(isinstance(square, str) for square in path):
            raise MoveError(f"{quote(path)} is no path: a list of squares")
        most = limits.CHAIN_STEPS.most + 1
        if not 2 <= len(path) <= most:
            raise MoveError(f"a path has from 2 to {most} squares, not {len(path)}")
        for number, square in enumerate(path):
            try:
                self.handle.require_square(square)
            except UnknownNameError as error:
                raise MoveError(f"{_written(path)}: step {max(number, 1)}: {error}") from None
        return tuple(path)

    def _why_not(
        self, position: Position, path: tuple[str, ...], single: Sequence[Move], begun: Sequence[Chain]
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
            there = self._single(left, None, path[reached], path[reached + 1], None)
        if any(move.chainable for move in there):
            return f"{said}: the position before it has been there already, and such a path goes no further"
        if there:
            names = " and ".join(sorted({quote(move.action) for move in there if move.action is not None}))
            return f"{said} in a path of several steps: {names or 'it'} cannot be chained"
        return said


def _becomes(position: Position, move: Move | Chain) -> str | None:
    """What stands on the last square after a move; of one without effects, what was moved."""
    if isinstance(move, Chain):
        return move.after.board.get(move.destination)
    return position.after(move.effects).board.get(move.destination) if move.has_effects else move.piece


def _written(path: Sequence[str]) -> str:
    return printable(" ".join(path))
