"""Patterns of movement: legs along vectors, whatever notation they are written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ggn_store.model.documents.geometry import Vector

Track = tuple[Vector, ...]
Hop = Literal["", "p", "g"]


@dataclass(frozen=True, slots=True)
class Leg:
    """One part of a way: leaps along one of `tracks`, or after another leg into one of `turns`.

    A track is a cycle of vectors, of which most have one; vectors are those of the first side, x to the right and y
    forward. `turns` are eighths of a turn clockwise, and each leap is then `scale` king's steps long. `reach` is how
    many leaps there may be, 0 for as many as there is room. `over` is whether it may end on something that stays there.
    """

    tracks: tuple[Track, ...] = ()
    turns: tuple[int, ...] = ()
    scale: int = 0
    reach: int = 1
    quiet: bool = True
    capture: bool = True
    friendly: bool = False
    en_passant: bool = False
    over: bool = False
    hop: Hop = ""
    lame: bool = False
    jump: bool = False


@dataclass(frozen=True, slots=True)
class BetzaPattern:
    """A set of ways to move: one leg, or several one after the other."""

    legs: tuple[Leg, ...]
    initial: bool = False
    cylinder: bool = False
