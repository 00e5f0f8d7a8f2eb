"""What is known of an expression's value before there is any position, and complaints about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ggn_store.errors import did_you_mean, offer, quote
from ggn_store.gdl.complaints import PlacedComplaints
from ggn_store.gdl.language import ANY, BOOL, INT, NULL, TEXT
from ggn_store.gdl.specification import Clause, SpecValue

KIND_OF: Final = {str: TEXT, bool: BOOL, int: INT, type(None): NULL}


@dataclass(frozen=True, slots=True)
class Typed:
    """The kind of an expression's value; `values` are all that it can be, and `noun` says what they are.

    `schemas` are the types that an entity may be of.
    """

    kind: str
    values: tuple[SpecValue, ...] | None = None
    noun: str | None = None
    schemas: tuple[str, ...] = ()


# Where nothing can be said, or something is wrong that has been said.
UNKNOWN: Final = Typed(ANY)


# Such as `("state", name)`, `("player", name)`, `("entity", type, name)`.
Slots: TypeAlias = set[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class NamesUsed:
    """What expressions read, and which state variables they write."""

    reads: Slots = field(default_factory=set)
    writes: Slots = field(default_factory=set)


def common(kinds: set[str]) -> Typed:
    """What values of several kinds have in common; null goes with every kind."""
    known = kinds - {NULL}
    return Typed(known.pop()) if len(known) == 1 else UNKNOWN


class Remarks:
    """Complains about the expression at hand; `at` is the character of it that is wrong, from 0.

    Every method raises TooManyError where its complaint is one too many.
    """

    def __init__(self, complaints: PlacedComplaints) -> None:
        self._complaints = complaints
        self._clause: Clause

    def about(self, clause: Clause) -> None:
        """What is said from now on is about this expression."""
        self._clause = clause

    def wrong(self, message: str, at: int, allowed: str | None = None, code: str = "invalid") -> None:
        """Something cannot be; `allowed` says what could stand there."""
        self._complaints.complain_of(
            self._clause.place.path, self._clause.text, at, message, allowed=allowed, code=code
        )

    def refuse(self, construct: str, reason: str, at: int) -> None:
        """Something is no mistake, but no move database can hold it."""
        self.wrong(f"{construct}: {reason}", at, code="refused")

    def unknown(self, what: str, name: str, at: int, known: Iterable[str], quoted: bool = False) -> None:
        """A name is none of those that are known."""
        names = [*known]
        shown = quote if quoted else str
        hint = did_you_mean(name, names, shown)
        self.wrong(f"{what} {shown(name)}{hint}", at, offer([*map(shown, names)]) or None)

    def unknown_text(self, typed: Typed, text: str, at: int) -> None:
        """The same for a text, where it is none of those that a value can be."""
        if typed.values is not None and text not in typed.values:
            self.unknown(f"there is no {typed.noun}", text, at, [str(each) for each in typed.values], quoted=True)
