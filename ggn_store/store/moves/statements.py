"""A position as the facts that are true in it, from which the words of lanes are made."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.conditions import meets
from ggn_store.model.documents.lane import Statement
from ggn_store.notation import qpi
from ggn_store.notation.qpi import Side

_KEPT: Final = 100_000
# The bits of a code that every position has, at most: it is made anew for each.
_BITS: Final = 4_096


class Statements:
    """Some statements about each square of a board, as a side sees it.

    The code of a position has a bit for each statement and square, which says whether it is true there: all squares of
    the first statement, then of the next; a statement about a variable has one bit. Statements may be added: codes from
    then on have more bits, above the others. Safe to use from several threads.
    """

    def __init__(self, board: Board, side: Side, statements: Iterable[Statement]) -> None:
        self._board = board
        self._side = side
        self._squares = max(1, len(board.squares))
        self._changes = _Changes(board, side, ())
        self._adding = threading.Lock()
        self.add(statements)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What it says of each square, in order."""
        return self._changes.statements

    def has_room(self, statements: Iterable[Statement]) -> bool:
        """Whether codes are still short with these, too."""
        return self._changes.size + sum(map(self._changes.bits, self._fresh(statements))) <= _BITS

    def _fresh(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        """Those that it does not say yet."""
        return tuple(dict.fromkeys(each for each in statements if each not in self._changes.places))

    def add(self, statements: Iterable[Statement]) -> None:
        """Say these of each square, too."""
        with self._adding:  # or what another thread adds would be lost, and its bits said of something else
            if fresh := self._fresh(statements):
                self._changes = _Changes(self._board, self._side, (*self.statements, *fresh))

    def code(self, items: Iterable[tuple[str, str | None]], state: Mapping[str, str] | None) -> int:
        """The code of a position: of what stands where, and of the values of the state variables, if there are any.

        Raises KeyError for what is not a piece identifier on a square of the board.
        """
        changes = self._changes
        code = sum(map(changes.__getitem__, items), changes.empty)
        if changes.variables and state is not None:
            for place, (name, *values) in changes.variables:
                if state[name] in values:
                    code += 1 << place
        return code

    def about(self, squares: Iterable[str]) -> int:
        """The bits of a code that say something about these squares."""
        changes = self._changes
        numbers = [self._board.numbers[square] for square in squares]
        places = [place for each, place in changes.places.items() if isinstance(each, str)]
        return sum({1 << place + number for place in places for number in numbers})

    def digits(self, code: int) -> str:
        """The digits of a code, from the lowest bit."""
        return f"{code:0{self._changes.size}b}"[::-1]

    def places(self, statements: Sequence[Statement], facts: Sequence[str]) -> list[list[int]]:
        """Where the facts of a lane with these statements are in a code; a fact about several squares has several."""

        places = self._changes.places

        def place(fact: str) -> int:
            statement, square = divmod(int(fact), self._squares)
            return places[statements[statement]] + square

        return [list(map(place, fact.split("+"))) for fact in facts]


class _Changes(dict[tuple[str, "str | None"], int]):
    """What a piece on a square changes in the code of an empty board, which is `empty`.

    A code is the sum of what stands on the board. Changes are worked out when they are first asked for.
    """

    def __init__(self, board: Board, side: Side, statements: tuple[Statement, ...]) -> None:
        self._numbers = board.numbers
        self._side = side
        self._squares = squares = max(1, len(board.squares))
        self.statements = statements
        self.places: dict[Statement, int] = {}
        self.size = 0
        for each in statements:
            self.places[each] = self.size
            self.size += self.bits(each)
        self.variables = [(place, each) for each, place in self.places.items() if not isinstance(each, str)]
        every = (1 << squares) - 1
        self.empty = sum(self._is_true(each, None) * every << place for each, place in self.places.items())

    def bits(self, statement: Statement) -> int:
        """How many bits a statement has."""
        return self._squares if isinstance(statement, str) else 1

    def __missing__(self, item: tuple[Any, Any]) -> int:
        square, piece = item
        number = self._numbers[square]
        if piece is not None and not (isinstance(piece, str) and qpi.is_qpi(piece)):
            raise KeyError(piece)
        change = 0
        for statement, place in self.places.items():
            bit = self._is_true(statement, piece) - self._is_true(statement, None)
            change += bit << place + number
        if len(self) >= _KEPT:
            self.clear()
        self[item] = change
        return change

    def _is_true(self, statement: Statement, piece: str | None) -> bool:
        return isinstance(statement, str) and holds(statement, piece, self._side)


def read_statements(statements: str) -> tuple[Statement, ...]:
    """The statements of a lane, as they are stored."""
    return tuple(each if isinstance(each, str) else tuple(each) for each in json.loads(statements))


def holds(statement: str, piece: str | None, side: Side) -> bool:
    """Whether a statement is true of a square where `piece` stands, as a side sees it."""
    for alternative in statement.split("|"):
        must, *deny = alternative.split("!")
        if (not must or meets(piece, must, side)) and not any(meets(piece, state, side) for state in deny):
            return True
    return False
