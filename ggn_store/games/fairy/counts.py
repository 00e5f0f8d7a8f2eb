"""How many possibilities it would be to say what a definition refuses to: a number for the reason of a refusal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from ggn_store.errors import DocumentError
from ggn_store.games import definition as definitions
from ggn_store.games import estimate
from ggn_store.games.fairy.base import BaseVariant
from ggn_store.games.fairy.settings import Refusal
from ggn_store.games.rules import SIDES, Definition
from ggn_store.model.documents.geometry import RING, Lattice


def counted(refusal: Refusal, variant: BaseVariant, text: str) -> Refusal:
    """A refusal with the number of possibilities in its reason, where the rest of the variant, `text`, is a game."""
    count = _COUNTS.get((refusal.option, refusal.value.lower())) or _COUNTS.get((refusal.option, ""))
    if count is None:
        return refusal
    try:
        found = count(definitions.read(text), variant)
    except DocumentError:
        return refusal
    return replace(refusal, reason=f"{refusal.reason}: up to {found:,} possibilities")


def enclosed(lattice: Lattice, squares: Iterable[str]) -> int:
    """Each square with as many enclosed pieces as there may be in each of eight directions.

    Of n squares up to n - 1 may be enclosed. Where none is, that is said of the first of them that is no enemy, or of
    the last: n ways.
    """
    total = 0
    for square in squares:
        ways = []
        for step in RING:
            at, length = lattice.step(square, step), 0
            while at is not None:
                at, length = lattice.step(at, step), length + 1
            ways.append(max(1, 2 * length - 1))
        total += math.prod(ways)
    return len(SIDES) * total


# By an option and its value, "" for any.
_COUNTS: Final[Mapping[tuple[str, str], Callable[[Definition, BaseVariant], int]]] = {
    # Each move with each square that the duck can come from, and go to.
    ("wallingRule", "duck"): lambda definition, variant: estimate.total(definition) * len(variant.squares) ** 2,
    # Each move with each square of the wall: on the edge, or beside a wall on one of four sides.
    ("wallingRule", "edge"): lambda definition, variant: estimate.total(definition) * 4 * len(variant.squares),
    # Each move with what stands on each of the eight squares around, or that nothing does.
    ("blastOnCapture", ""): lambda definition, _: int(
        estimate.total(definition) * (len(definition.forms) + 1) ** len(RING)
    ),
    ("flipEnclosedPieces", ""): lambda definition, variant: enclosed(definition.lattice, variant.squares),
}
