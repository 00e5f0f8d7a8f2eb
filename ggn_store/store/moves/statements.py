"""A position as tables of what is true in it, from which the words of lanes are made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from ggn_store.model.board import Board
from ggn_store.model.conditions import meets
from ggn_store.notation import qpi
from ggn_store.notation.qpi import Side
from ggn_store.store.rulesets.lanes import Statement

_KEPT: Final = 100_000
_FALSE, _TRUE = b"01"
# Tables of this size can be looked up by `bytes.translate`, many places at once.
_TRANSLATED: Final = 256


class Statements:
    """Some statements about each square of a board, as a side sees it.

    The table of a position has a byte for each statement and square, the digit 0 or 1: all squares of the first
    statement, then of the next. Statements may be added: tables from then on are longer. Safe to use from several
    threads.
    """

    def __init__(self, board: Board, side: Side, statements: Iterable[Statement]) -> None:
        self._board = board
        self._side = side
        self._squares = max(1, len(board.squares))
        self._changes = _Changes(board, side, ())
        self.add(statements)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What it says of each square, in order."""
        return self._changes.statements

    def has_room(self, statements: Iterable[Statement]) -> bool:
        """Whether tables are still small with these, too."""
        return len({*self.statements, *statements}) * self._squares <= _TRANSLATED

    def add(self, statements: Iterable[Statement]) -> None:
        """Say these of each square, too."""
        said = tuple(dict.fromkeys((*self.statements, *statements)))
        if said != self.statements:
            self._changes = _Changes(self._board, self._side, said)

    def table(self, items: Iterable[tuple[str, str | None]], state: Mapping[str, str] | None) -> bytes:
        """The table of a position: of what stands where, and of the values of the state variables, if there are any.

        Raises KeyError for what is not a piece identifier on a square of the board.
        """
        changes = self._changes
        code = sum(map(changes.__getitem__, items), changes.empty)
        if changes.variables and state is not None:
            for place, (name, *values) in changes.variables:
                if state[name] in values:
                    code += 1 << 8 * place * self._squares
        return code.to_bytes(changes.size, "little")

    def places(self, statements: Sequence[Statement], facts: Sequence[str]) -> list[list[int]]:
        """Where the facts of a lane with these statements are in a table; of a fact about several squares, all places.

        The first fact is the lowest bit of a word, its last digit.
        """

        def place(fact: str) -> int:
            statement, square = divmod(int(fact), self._squares)
            return self.statements.index(statements[statement]) * self._squares + square

        return [list(map(place, fact.split("+"))) for fact in reversed(facts)]

    def gather(self, places: Sequence[Sequence[int]]) -> Callable[[bytes], bytes]:
        """What makes of a table the digits of a word."""
        if any(len(several) > 1 for several in places):
            return lambda table: bytes([min(map(table.__getitem__, several)) for several in places])
        singles = [place for (place,) in places]
        if self.has_room(()):
            return bytes(singles).translate
        if len(singles) == 1:
            return lambda table: table[singles[0] : singles[0] + 1]
        pick = itemgetter(*singles)
        return lambda table: bytes(pick(table))


class _Changes(dict[tuple[str, "str | None"], int]):
    """What a piece on a square changes in the table of an empty board, which is the integer `empty`.

    A table is the sum of what stands on it. Changes are worked out when they are first asked for.
    """

    def __init__(self, board: Board, side: Side, statements: tuple[Statement, ...]) -> None:
        self._numbers = board.numbers
        self._side = side
        self._squares = squares = max(1, len(board.squares))
        self.statements = statements
        self.variables = [(place, each) for place, each in enumerate(statements) if not isinstance(each, str)]
        self.size = max(_TRANSLATED, squares * len(statements))
        self.empty = int.from_bytes([self._digit(each, None) for each in statements for _ in range(squares)], "little")

    def __missing__(self, item: tuple[Any, Any]) -> int:
        square, piece = item
        number = self._numbers[square]
        if piece is not None and not (isinstance(piece, str) and qpi.is_qpi(piece)):
            raise KeyError(piece)
        change = 0
        for place, statement in enumerate(self.statements):
            digit = self._digit(statement, piece) - self._digit(statement, None)
            change += digit << 8 * (place * self._squares + number)
        if len(self) >= _KEPT:
            self.clear()
        self[item] = change
        return change

    def _digit(self, statement: Statement, piece: str | None) -> int:
        return _TRUE if isinstance(statement, str) and holds(statement, piece, self._side) else _FALSE


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
