"""What FEN and SFEN count besides the position itself: quiet plies, the number of the move, checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Self

from ggn_store.errors import PositionError, quote
from ggn_store.model.record import Record
from ggn_store.notation.qpi import Side

_MOST: Final = 10**10


@dataclass(frozen=True, slots=True)
class Counters(Record):
    """The counters of a position.

    `quiet` are the plies since the last capture, promotion or move of a pawn, `plies` all since the game began.
    `checks` are those that the first and the second side have still to give; None where the game counts none.
    """

    quiet: int = 0
    plies: int = 0
    checks: tuple[int, int] | None = None

    @classmethod
    def of_fen(cls, quiet: int, number: int, side: Side, checks: tuple[int, int] | None = None) -> Self:
        """The counters of a FEN, whose number goes up after the second side's moves; 0 is read as 1."""
        return cls(quiet, 2 * (max(number, 1) - 1) + (side == "second"), checks)

    @classmethod
    def from_data(cls, data: object) -> Self:
        """The counters that JSON data hold, as `data` gives them; raises PositionError for anything else."""
        if isinstance(data, dict) and data.keys() <= {"quiet", "plies", "checks"}:
            quiet, plies, checks = data.get("quiet", 0), data.get("plies", 0), data.get("checks")
            is_pair = isinstance(checks, list) and len(checks) == 2
            if (checks is None or is_pair) and all(map(_is_count, (quiet, plies, *(checks or ())))):
                return cls(quiet, plies, None if checks is None else (checks[0], checks[1]))
        raise PositionError(f"{quote(data)} are no counters: numbers for quiet and plies, and two for checks")

    @property
    def number(self) -> int:
        """The number of the move, as FEN counts them."""
        return self.plies // 2 + 1

    def left(self, side: Side) -> int | None:
        """The checks that a side has still to give; None where the game counts none."""
        return None if self.checks is None else self.checks[side == "second"]

    def after(self, is_quiet: bool, checked: Side | None = None) -> Counters:
        """The counters one ply later, which may have given `checked` a check."""
        checks = self.checks
        if checks is not None and checked is not None:
            first, second = checks
            checks = (max(first - 1, 0), second) if checked == "second" else (first, max(second - 1, 0))
        return replace(self, quiet=self.quiet + 1 if is_quiet else 0, plies=self.plies + 1, checks=checks)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST
