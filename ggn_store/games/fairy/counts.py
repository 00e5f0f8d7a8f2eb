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
    """Each square with as many enclosed pieces as there may be in each of eight directions: drops of one piece.

    Of n squares up to n - 1 may be enclosed. Where none is, that is said of the first of them that is no enemy, or of
    the last: n ways.
    """
    lengths = ([sum(1 for _ in lattice.ride(square, step)) for step in RING] for square in squares)
    return sum(math.prod(max(1, 2 * length - 1) for length in each) for each in lengths)


def _walled(definition: Definition, variant: BaseVariant) -> int:
    """Each move with each wall that it may leave; where a wall is a move of its own, the moves and the walls."""
    squares = len(variant.squares)
    # The duck comes from any square; on the edge, or beside a wall on one of four sides.
    walls = squares * {"duck": squares, "edge": 4}.get(variant.s.value("wallingRule").lower(), 1)
    moves = estimate.total(definition)
    return moves + len(SIDES) * walls if variant.s.flag("wallOrMove") else moves * walls


def _blasted(definition: Definition, _: BaseVariant) -> int:
    """Each move with what stands on each of the eight squares around, or that nothing does."""
    return int(estimate.total(definition) * (len(definition.forms) + 1) ** len(RING))


# By an option and its value, "" for any.
_COUNTS: Final[Mapping[tuple[str, str], Callable[[Definition, BaseVariant], int]]] = {
    **dict.fromkeys((("wallingRule", "duck"), ("wallingRule", "edge"), ("wallOrMove", "")), _walled),
    **dict.fromkeys((("blastOnCapture", ""), ("capturesToHand", "")), _blasted),
    # On each square from each edge.
    ("enclosingDrop", "anyside"): lambda _, variant: len(SIDES) * 4 * len(variant.squares),
    ("flipEnclosedPieces", ""): lambda definition, variant: len(SIDES) * enclosed(definition.lattice, variant.squares),
}
