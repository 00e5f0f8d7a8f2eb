"""What is known of an expression's value before there is any position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ggn_store.gdl.language import ANY, BOOL, INT, NULL, TEXT
from ggn_store.gdl.specification import Value

KIND_OF: Final = {str: TEXT, bool: BOOL, int: INT, type(None): NULL}


@dataclass(frozen=True, slots=True)
class Typed:
    """The kind of an expression's value; `values` are all that it can be, and `noun` says what they are.

    `schemas` are the types that an entity may be of.
    """

    kind: str
    values: tuple[Value, ...] | None = None
    noun: str | None = None
    schemas: tuple[str, ...] = ()


# Where nothing can be said, or something is wrong that has been said.
UNKNOWN: Final = Typed(ANY)


@dataclass(slots=True)
class Uses:
    """What expressions read and write: `("state", name)`, `("player", name)`, `("entity", type, name)`."""

    reads: set[tuple[str, ...]] = field(default_factory=set)
    writes: set[tuple[str, ...]] = field(default_factory=set)


def common(kinds: set[str]) -> Typed:
    """What values of several kinds have in common; null goes with every kind."""
    known = kinds - {NULL}
    return Typed(known.pop()) if len(known) == 1 else UNKNOWN
