"""What conditions on one square mean together: what can stand there, whether they can hold, which follow from others.

For the side of a moving piece, all that conditions can tell apart on a square is: nothing, some piece of its own, some
enemy, and the pieces that conditions name. There is always yet another piece of each side.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.notation.qpi import Side, side_of

# No identifier is without a colon.
_NOTHING, _SOME_OWN, _SOME_ENEMY = "nothing", "own", "some enemy"


def contents(*states: str | None) -> set[str]:
    """All that can be told apart on a square that conditions ask for these states of."""
    named = {each for each in states if each is not None and each not in (EMPTY, ENEMY)}
    return {_NOTHING, _SOME_OWN, _SOME_ENEMY} | named


def passing(polarity: str, state: str, side: Side, found: Iterable[str]) -> set[str]:
    """What is left of the contents of a square by a condition of a piece of `side`."""
    return {each for each in found if _meets(each, state, side) == (polarity == "must")}


def _meets(content: str, state: str, side: Side) -> bool:
    if state == EMPTY:
        return content == _NOTHING
    if state == ENEMY:
        return content == _SOME_ENEMY or (":" in content and side_of(content) != side)
    return content == state


def meets(piece: str | None, state: str, side: Side) -> bool:
    """Whether what stands on a square, None for nothing, is what a piece of `side` means by a state."""
    if state == EMPTY:
        return piece is None
    if state == ENEMY:
        return piece is not None and side_of(piece) != side
    return piece == state


@functools.lru_cache(maxsize=65_536)
def implies(polarity: str, state: str, other_polarity: str, other_state: str, side: Side) -> bool:
    """Whether a condition on a square is met wherever another one, given first, is met there."""
    met = passing(polarity, state, side, contents(state, other_state))
    return passing(other_polarity, other_state, side, met) == met
