"""How a game is played above its pseudo-legal moves: duties, marks that revert, squares crossed, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ggn_store.notation.qpi import Side

# What an outcome is decided by; `Outcome` says what each means.
When = Literal["no-move", "extinct", "goal", "line", "checks", "bare", "facing", "repetition", "quiet"]
Verdict = Literal["win", "loss", "draw"]


@dataclass(frozen=True, slots=True)
class Duty:
    """A duty by its name, and the pieces (identifiers) that it is about, where it is about some only."""

    name: str
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Crossing:
    """A move of a piece that crosses squares which must not be attacked: castling, with its source and destination."""

    piece: str
    source: str
    destination: str
    through: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A way in which a game ends. `verdict` is that of the side which `when` is about.

    no-move      the side to move has no legal move; `in_check` says whether it has to be in check or must not be
    extinct      a side has at most `count` pieces (of `pieces`, if they are given) left on its board and in its hand
    bare         a side has its royal pieces only
    goal         a side has `count` of `pieces` (or of any) on `squares`; if `safe`, where the other cannot take them
    line         a side has `count` pieces (of `pieces`) in a row
    checks       a side has given `count` checks
    facing       two royal pieces face each other with nothing between them; the verdict is the side's to move
    repetition   a position, with its side to move, stands for the `count`th time; the verdict is the side's to move
    quiet        `count` plies without a capture, and without a move of `pieces`; the verdict is the side's to move

    `side` limits it to one side. `answered`: the other side may still move once, and the game is drawn if it then has
    reached the same.
    """

    when: When
    verdict: Verdict
    side: Side | None = None
    pieces: tuple[str, ...] = ()
    squares: tuple[str, ...] = ()
    count: int | None = None
    in_check: bool | None = None
    safe: bool = False
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Play:
    """How a revision is played; nothing in it where nothing is declared. `reverts` maps marked pieces to plain ones."""

    duties: tuple[Duty, ...] = ()
    reverts: Mapping[str, str] = field(default_factory=dict)
    crossing: tuple[Crossing, ...] = ()
    outcomes: tuple[Outcome, ...] = ()

    def duty(self, name: str) -> Duty | None:
        """The duty of this name, None where it is not one of the game's."""
        return next((duty for duty in self.duties if duty.name == name), None)
