"""Pieces of any games that move alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ggn_store.model.documents.geometry import hexagonal_symmetries, symmetries
from ggn_store.model.record import Record
from ggn_store.movement.facts import NamedMovement


@dataclass(frozen=True, slots=True)
class Mover(Record):
    """A piece of a revision; `relation` says how its movement comes from that of the first one of its group.

    It is `equal`, `mirrored left to right`, `turned by 90 degrees` and so on; of a piece of the second side, as that
    side sees the board.
    """

    ruleset: str
    revision: int
    piece: str
    relation: str

    def __str__(self) -> str:
        return f"{self.ruleset} {self.piece}"


@dataclass(frozen=True, slots=True)
class Movers:
    """Pieces with equal or mirrored movement, which `fingerprint` stands for, and their `moves` in words.

    The words are of the first one, and tell of moves only.
    """

    fingerprint: str
    moves: tuple[str, ...]
    movers: tuple[Mover, ...]

    def data(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "fingerprint": self.fingerprint,
            "pieces": len(self.movers),
            "rulesets": len({mover.ruleset for mover in self.movers}),
            "moves": "; ".join(self.moves),
            "movers": [str(mover) for mover in self.movers],
        }

    def records(self) -> list[dict[str, Any]]:
        """As a JSON object for each piece."""
        return [{"fingerprint": self.fingerprint} | mover.data() for mover in self.movers]


@dataclass(frozen=True, slots=True)
class SameMovers:
    """Groups of pieces that move alike, the largest first; and rulesets left out, whose squares have no coordinates."""

    groups: tuple[Movers, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Where a piece is found; `is_wanted`: it was asked for, and comes first."""

    ruleset: str
    revision: int
    piece: str
    is_wanted: bool = False


def group(found: Iterable[tuple[Candidate, NamedMovement]], *, mirrored: bool, wanted_only: bool) -> tuple[Movers, ...]:
    """The groups of two or more; with `wanted_only` those with a piece that was asked for, alone as it may be."""
    groups: dict[str, list[tuple[Candidate, Sequence[str], str]]] = {}
    for place, (fingerprint, forms, words) in found:
        if fingerprint is not None and forms is not None and words is not None:
            seen = forms.split(" ")
            groups.setdefault(fingerprint if mirrored else seen[0], []).append((place, seen, words))
    wanted = [
        (key, each)
        for key, each in groups.items()
        if (any(place.is_wanted for place, *_ in each) if wanted_only else len(each) > 1)
    ]
    wanted.sort(key=lambda item: (-len(item[1]), item[0]))
    return tuple(_movers(*each) for each in wanted)


def _movers(key: str, found: Collection[tuple[Candidate, Sequence[str], str]]) -> Movers:
    ordered = sorted(found, key=lambda each: not each[0].is_wanted)
    _, first, words = ordered[0]
    groups = *map(symmetries, (1, 2, 3)), hexagonal_symmetries()
    seen = next(each for each in groups if len(each) == len(first))
    movers = [
        Mover(place.ruleset, place.revision, place.piece, seen[first.index(forms[0])].name)
        for place, forms, _ in ordered
    ]
    return Movers(key, tuple(filter(None, words.split("; "))), tuple(movers))
